/* explain_error.c: messages and places of syntax errors (explain_error.h). */
#include "lang/complain/explain_error.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- Recording ---- */

/* Where CPython puts an error without a place of its own: at the last token that it has read.  What
 * has no text is where the lexer is: in front of the next token, but nowhere behind the text. */
static dv_range last_read(const dv_explanation *x) {
    const dv_token *token = &x->tokens->items[x->furthest - 1];
    dv_range at = token->at;
    if (token->kind == DV_TOKEN_INDENT) at.end_column = DV_NO_COLUMN;
    if (token->kind == DV_TOKEN_INDENT || token->kind == DV_TOKEN_DEDENT)
        at.column = at.column > 0 ? at.column - 1 : DV_NO_COLUMN;
    while (token->kind == DV_TOKEN_DEDENT) token++;
    if (token->kind == DV_TOKEN_END) at.column = DV_NO_COLUMN;
    return at;
}

/* The search stops at the first error, so there is none before. */
static void record(dv_explanation *x, const char *type, dv_range at, const char *message) {
    assert(!x->done);
    x->done = true;
    x->problem = (dv_problem){.type = type, .at = at};
    snprintf(x->problem.message, sizeof x->problem.message, "%s%.240s",
             x->fstring ? "f-string: " : "", message);
}

void dv_explain_lexer(dv_explanation *x) {
    assert(!x->done);
    x->done = x->from_lexer = true;
    x->problem = x->tokens->problem;
}

void dv_explain_expected(dv_explanation *x, uint32_t position, uint16_t kind) {
    record(x, "SyntaxError", x->tokens->items[position].at,
           kind == DV_TOKEN_COLON ? "expected ':'" : "expected '('");
}

/* ---- Words ---- */

static bool is_fstring(const dv_explanation *x, const dv_node *node) {
    for (const dv_token *token = &x->tokens->items[node->first]; token->kind == DV_TOKEN_STRING;
         token++)
        for (const char *c = x->front->source.data + token->begin; *c != '"' && *c != '\''; c++)
            if ((*c | 0x20) == 'f') return true;
    return false;
}

/* As CPython's _PyPegen_get_expr_name; but no rule asks for what a name is, and `await` is refused.
 */
static const char *describe(const dv_explanation *x, const dv_node *node) {
    switch (node->kind) {
    case DV_KIND_TUPLE: return "tuple";
    case DV_KIND_CONDITIONAL: return "conditional expression";
    case DV_KIND_YIELD: return "yield expression";
    case DV_KIND_STARRED: return "starred";
    case DV_KIND_NAMED: return "named expression";
    case DV_KIND_COMPARE: return "comparison";
    case DV_KIND_ATTRIBUTE: return "attribute";
    case DV_KIND_CALL: return "function call";
    case DV_KIND_SUBSCRIPT: return "subscript";
    case DV_KIND_TRUE: return "True";
    case DV_KIND_FALSE: return "False";
    case DV_KIND_NONE: return "None";
    case DV_KIND_LITERAL: return "literal";
    case DV_KIND_ELLIPSIS: return "ellipsis";
    case DV_KIND_STRINGS: return is_fstring(x, node) ? "f-string expression" : "literal";
    case DV_KIND_LIST: return "list";
    case DV_KIND_SET: return "set display";
    case DV_KIND_DICT: return "dict literal";
    case DV_KIND_LAMBDA: return "lambda";
    case DV_KIND_LIST_COMPREHENSION: return "list comprehension";
    case DV_KIND_SET_COMPREHENSION: return "set comprehension";
    case DV_KIND_DICT_COMPREHENSION: return "dict comprehension";
    case DV_KIND_GENERATOR: return "generator expression";
    default: return "expression";
    }
}

/* The message with %s, %t and %l filled in. */
static void fill_in(const dv_explanation *x, const char *message, const dv_node *a, char out[256]) {
    const char *mark = strchr(message, '%');
    if (mark == NULL) {
        snprintf(out, 256, "%s", message);
        return;
    }
    char word[64];
    const dv_token *token = &x->tokens->items[a->first];
    if (mark[1] == 's')
        snprintf(word, sizeof word, "%s", describe(x, a));
    else if (mark[1] == 't')
        snprintf(word, sizeof word, "%.*s", (int)(token->end - token->begin),
                 x->front->source.data + token->begin);
    else
        snprintf(word, sizeof word, "%u", a->at.line);
    snprintf(out, 256, "%.*s%s%s", (int)(mark - message), message, word, mark + 2);
}

static void record_about(dv_explanation *x, dv_range at, const char *message, const dv_node *a) {
    char text[256];
    fill_in(x, message, a, text);
    record(x, "SyntaxError", at, text);
}

/* ---- Targets ---- */

/* The first part that cannot be a target; NULL if all can.  Brackets nest at most DV_MAX_BRACKETS
 * deep, and so does this. */
static const dv_node *find_invalid(const dv_node *node, uint8_t place) {
    const dv_node *invalid = NULL;
    switch (node->kind) {
    case DV_KIND_TUPLE:
    case DV_KIND_LIST:
        for (uint32_t i = 0; i < node->count && invalid == NULL; i++)
            invalid = find_invalid(node->parts[i], place);
        return invalid;
    case DV_KIND_STARRED:
        return place == DV_PLACE_DELETED_TARGET ? node : find_invalid(node->parts[0], place);
    case DV_KIND_COMPARE:
        if (place != DV_PLACE_FOR_TARGET) return node;
        if (node->parts[1]->kind != DV_KIND_IN_PAIR) return NULL;
        return find_invalid(node->parts[0], place);
    case DV_KIND_NAME:
    case DV_KIND_ATTRIBUTE:
    case DV_KIND_SUBSCRIPT: return NULL;
    default: return node;
    }
}

static void record_target(dv_explanation *x, const dv_node *a, uint8_t place) {
    const dv_node *invalid = find_invalid(a, place);
    if (invalid == NULL) return;
    const char *message =
        place == DV_PLACE_DELETED_TARGET ? "cannot delete %s" : "cannot assign to %s";
    record_about(x, invalid->at, message, invalid);
}

/* ---- Generator expressions ---- */

static const dv_node *last_part(const dv_node *node) { return node->parts[node->count - 1]; }

static const dv_node *last_clause(const dv_node *node) {
    return node->kind == DV_KIND_CLAUSE ? node : last_part(node);
}

static void record_generator(dv_explanation *x, const dv_node *from, const dv_node *to) {
    record(x, "SyntaxError", dv_range_join(from->at, to->at),
           "Generator expression must be parenthesized");
}

/* `f(a, b for b in c)`, but not `f(b for b in c)`. */
static void record_generator_among(dv_explanation *x, const dv_node *a, const dv_node *b) {
    const dv_node *last = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->parts[i]->kind == DV_KIND_KEYWORD || a->parts[i]->kind == DV_KIND_UNPACKING)
            continue;
        last = a->parts[i];
        count++;
    }
    if (count > 1) record_generator(x, last, last_part(last_clause(b)));
}

static void record_misplaced(dv_explanation *x, const dv_node *a) {
    bool unpacking = false;
    for (uint32_t i = 0; i < a->count; i++)
        unpacking = unpacking || a->parts[i]->kind == DV_KIND_UNPACKING;
    record(x, "SyntaxError", last_read(x),
           unpacking ? "positional argument follows keyword argument unpacking"
                     : "positional argument follows keyword argument");
}

/* ---- Errors ---- */

/* `print x` and `exec x`, which were statements once */
static bool is_legacy(const dv_explanation *x, const dv_node *a) {
    const dv_token *token = &x->tokens->items[a->first];
    if (token->kind != DV_TOKEN_NAME || a->at.end_line != token->at.end_line ||
        a->at.end_column != token->at.end_column)
        return false;
    return dv_name_is(token->name, "print") || dv_name_is(token->name, "exec");
}

static void record_legacy(dv_explanation *x, const dv_node *a, const dv_node *b) {
    if (!is_legacy(x, a)) return;
    const dv_name *name = x->tokens->items[a->first].name;
    char text[128];
    snprintf(text, sizeof text, "Missing parentheses in call to '%.*s'. Did you mean %.*s(...)?",
             DV_NAME_ARGS(name), DV_NAME_ARGS(name));
    record(x, "SyntaxError", dv_range_join(a->at, b->at), text);
}

static void record_missing_comma(dv_explanation *x, const dv_node *a, const dv_node *b,
                                 uint32_t end) {
    if (is_legacy(x, a) || x->tokens->items[end - 1].brackets == 0) return;
    record(x, "SyntaxError", dv_range_join(a->at, b->at),
           "invalid syntax. Perhaps you forgot a comma?");
}

static void record_dictionary_key(dv_explanation *x, const dv_node *a) {
    dv_range at = {a->at.line, a->at.end_column - 1, a->at.end_line, DV_NO_COLUMN};
    record(x, "SyntaxError", at, "':' expected after dictionary key");
}

/* CPython ends the range in front of the last character that it has read. */
static void record_from(dv_explanation *x, const dv_node *a, const char *message) {
    dv_range at = dv_range_join(a->at, last_read(x));
    at.end_column--;
    record(x, "SyntaxError", at, message);
}

/* In a complex number of a pattern the first part is real, the second is not. */
static void record_number(dv_explanation *x, const dv_node *a, bool imaginary) {
    const char last = x->front->source.data[x->tokens->items[a->first].end - 1];
    if ((last == 'j' || last == 'J') == imaginary) return;
    record(x, "SyntaxError", a->at,
           imaginary ? "imaginary number required in complex literal"
                     : "real number required in complex literal");
}

static void record_indentation(dv_explanation *x, const char *message, const dv_node *a) {
    char text[256];
    fill_in(x, message, a, text);
    record(x, "IndentationError", last_read(x), text);
}

void dv_explain_error(dv_explanation *x, const dv_grammar_alternative *alternative,
                      const dv_node *a, const dv_node *b, uint32_t end) {
    const char *message = alternative->message;
    const uint8_t place = alternative->place;
    switch ((dv_grammar_place)place) {
    case DV_PLACE_NO_ERROR: break;
    case DV_PLACE_AT: record_about(x, a->at, message, a); break;
    case DV_PLACE_RANGE: record_about(x, dv_range_join(a->at, b->at), message, a); break;
    case DV_PLACE_FROM: record_from(x, a, message); break;
    case DV_PLACE_LAST: record(x, "SyntaxError", last_read(x), message); break;
    case DV_PLACE_INDENTATION: record_indentation(x, message, a); break;
    case DV_PLACE_GENERATOR_ARGUMENT: record_generator(x, a, last_part(last_clause(b))); break;
    case DV_PLACE_GENERATOR_AMONG_ARGUMENTS: record_generator_among(x, a, b); break;
    case DV_PLACE_MISPLACED_ARGUMENT: record_misplaced(x, a); break;
    case DV_PLACE_LEGACY_STATEMENT: record_legacy(x, a, b); break;
    case DV_PLACE_MISSING_COMMA: record_missing_comma(x, a, b, end); break;
    case DV_PLACE_ASSIGNED_TARGET:
    case DV_PLACE_DELETED_TARGET:
    case DV_PLACE_FOR_TARGET: record_target(x, a, place); break;
    case DV_PLACE_COMPREHENSION_TARGET:
        record(x, "SyntaxError",
               dv_range_join(a->at, b->kind == DV_KIND_PARTS ? last_part(b)->at : b->at),
               "did you forget parentheses around the comprehension target?");
        break;
    case DV_PLACE_REAL_NUMBER: record_number(x, a, false); break;
    case DV_PLACE_IMAGINARY_NUMBER: record_number(x, a, true); break;
    case DV_PLACE_DICTIONARY_KEY: record_dictionary_key(x, a); break;
    }
}

/* ---- The verdict ---- */

/* CPython reads on to the end of the text, and prefers what its lexer says on the way. */
static void prefer_lexer(dv_explanation *x) {
    const dv_tokens *tokens = x->tokens;
    bool unclosed = tokens->rank == DV_LEXER_UNCLOSED &&
                    tokens->items[x->furthest - 1].at.line > tokens->bracket_line;
    if (tokens->rank == DV_LEXER_ALWAYS || unclosed) x->problem = tokens->problem;
}

void dv_explain_report(dv_explanation *x, uint32_t last) {
    const dv_token *token = &x->tokens->items[last];
    bool indented = token->kind == DV_TOKEN_INDENT, dedented = token->kind == DV_TOKEN_DEDENT;
    if (!x->done && (indented || dedented)) {
        record(x, "IndentationError", last_read(x),
               indented ? "unexpected indent" : "unexpected unindent");
    } else {
        dv_range at = token->at;
        const bool newline = token->kind == DV_TOKEN_NEWLINE;
        const dv_token *next = token + newline;
        while (next->kind == DV_TOKEN_DEDENT) next++;
        const bool none = newline && x->front->unended && next->kind == DV_TOKEN_END;
        if (newline) at.end_column--; /* CPython's has no width */
        if ((token->kind == DV_TOKEN_END || none) && !x->fstring)
            at.column = at.end_column = DV_NO_COLUMN;
        if (!x->done) record(x, "SyntaxError", at, "invalid syntax");
        if (!x->from_lexer) prefer_lexer(x);
    }
    x->front->problem = x->problem;
}
