/* parser_fstring.c: string literals, f-strings included (parser_fstring.h).
 *
 * The expressions of an f-string are lexed and parsed where they stand in the source, so their
 * ranges are true.  Finding where an expression ends follows CPython 3.11's rules: no backslash and
 * no comment inside, brackets and quotes must match. */
#include "lang/front/parser_fstring.h"

#include "lang/front/parser_display.h"
#include "lang/front/escape.h"
#include "lang/complain/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A string token taken apart. */
typedef struct literal {
    const dv_token *token;
    bool raw, bytes, format;
    uint32_t begin, end; /* what stands between the quotes */
} literal;

/* A run of adjacent literals being joined. */
typedef struct joiner {
    dv_parser *p;
    dv_range at; /* of the whole run */
    dv_expr_builder parts;
    dv_escape_buffer text; /* the constant piece under construction */
} joiner;

static literal take_apart(const dv_parser *p, const dv_token *token) {
    literal it = {token, false, false, false, token->begin, token->end};
    const char *text = p->front->source.data;
    for (; text[it.begin] != '"' && text[it.begin] != '\''; it.begin++) {
        char letter = text[it.begin] | 0x20;
        it.raw = it.raw || letter == 'r';
        it.bytes = it.bytes || letter == 'b';
        it.format = it.format || letter == 'f';
    }
    char quote = text[it.begin];
    bool triple =
        it.end - it.begin >= 6 && text[it.begin + 1] == quote && text[it.begin + 2] == quote;
    it.begin += triple ? 3 : 1;
    it.end -= triple ? 3 : 1;
    return it;
}

/* ---- Text ---- */

static bool append_text(joiner *j, const literal *it, uint32_t begin, uint32_t end) {
    dv_parser *p = j->p;
    const char *text = p->front->source.data;
    dv_escape_kind kind = it->raw ? DV_ESCAPE_RAW : it->bytes ? DV_ESCAPE_BYTES : DV_ESCAPE_TEXT;
    char problem[128];
    if (dv_escape_decode(p->front, &j->text, kind, text + begin, text + end, problem)) return true;
    if (problem[0] != '\0') dv_parser_fail_literal(p, "%s", problem);
    return false;
}

static bool keep_text(dv_front *front, const dv_escape_buffer *buffer, dv_text *out) {
    char *data = dv_front_keep(front, buffer->size);
    if (data == NULL) return false;
    if (buffer->size != 0) memcpy(data, buffer->data, buffer->size);
    *out = (dv_text){data, buffer->size};
    return true;
}

/* Makes a constant of the text collected so far, unless there is none. */
static bool flush_text(joiner *j) {
    if (j->text.size == 0) return true;
    dv_expr *expr = dv_parser_expr(j->p, DV_EXPR_CONSTANT, j->at);
    if (expr == NULL) return false;
    expr->as.constant.kind = DV_CONST_STR;
    if (!keep_text(j->p->front, &j->text, &expr->as.constant.as.text)) return false;
    j->text = (dv_escape_buffer){0};
    return dv_expr_push(j->p->front, &j->parts, expr);
}

/* ---- Where an expression ends ---- */

__attribute__((format(printf, 2, 3))) static bool fail_fstring(dv_parser *p, const char *format,
                                                               ...) {
    char message[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    p->fstring_depth++;
    dv_parser_fail_literal(p, "%s", message);
    p->fstring_depth--;
    return false;
}

typedef struct expression_scan {
    char open[DV_MAX_BRACKETS];
    uint32_t open_count;
    char quote;      /* 0 outside of strings */
    uint32_t quotes; /* 1 or 3 */
} expression_scan;

static bool repeats(const char *text, uint32_t at, uint32_t end, char c, uint32_t times) {
    for (uint32_t i = 0; i < times; i++)
        if (at + i >= end || text[at + i] != c) return false;
    return true;
}

/* Handles a quote or a character inside a string; returns how many characters were used, 0 if it is
 * neither. */
static uint32_t scan_string(expression_scan *scan, const char *text, uint32_t at, uint32_t end) {
    char c = text[at];
    if (scan->quote != 0) {
        if (!repeats(text, at, end, scan->quote, scan->quotes)) return 1;
        scan->quote = 0;
        return scan->quotes;
    }
    if (c != '\'' && c != '"') return 0;
    scan->quote = c;
    scan->quotes = repeats(text, at, end, c, 3) ? 3 : 1;
    return scan->quotes;
}

static bool scan_closing(dv_parser *p, expression_scan *scan, char c) {
    if (scan->open_count == 0) return fail_fstring(p, "unmatched '%c'", c);
    char open = scan->open[--scan->open_count];
    if ((open == '(' && c == ')') || (open == '[' && c == ']') || (open == '{' && c == '}'))
        return true;
    return fail_fstring(p, "closing parenthesis '%c' does not match opening parenthesis '%c'", c,
                        open);
}

/* Outside of brackets: does c end the expression?  *used is how many characters to skip if not. */
static bool ends_expression(const char *text, uint32_t at, uint32_t end, uint32_t *used) {
    char c = text[at], next = at + 1 < end ? text[at + 1] : '\0';
    *used = 1;
    if (next == '=' && (c == '!' || c == '=' || c == '<' || c == '>')) {
        *used = 2;
        return false;
    }
    return c == '!' || c == ':' || c == '}' || c == '=';
}

/* Sets *at to the first character behind the expression. */
static bool find_expression_end(dv_parser *p, uint32_t *at, uint32_t end) {
    const char *text = p->front->source.data;
    expression_scan scan = {{0}, 0, 0, 0};
    uint32_t used;
    for (; *at < end; *at += used) {
        char c = text[*at];
        if (c == '\\') {
            dv_parser_fail_literal(p, "f-string expression part cannot include a backslash");
            return false;
        }
        used = scan_string(&scan, text, *at, end);
        if (used != 0) continue;
        if (c == '#') {
            dv_parser_fail_literal(p, "f-string expression part cannot include '#'");
            return false;
        }
        used = 1;
        if (c == '(' || c == '[' || c == '{') {
            if (scan.open_count >= DV_MAX_BRACKETS)
                return fail_fstring(p, "too many nested parenthesis");
            scan.open[scan.open_count++] = c;
        } else if (scan.open_count == 0 && ends_expression(text, *at, end, &used)) {
            break;
        } else if ((c == ')' || c == ']' || c == '}') && !scan_closing(p, &scan, c)) {
            return false;
        }
    }
    if (scan.quote != 0) return fail_fstring(p, "unterminated string");
    if (scan.open_count > 0)
        return fail_fstring(p, "unmatched '%c'", scan.open[scan.open_count - 1]);
    return *at < end || fail_fstring(p, "expecting '}'");
}

/* ---- Expressions ---- */

/* Line and column of a place inside a token. */
static dv_range place_of(const dv_parser *p, const dv_token *token, uint32_t position) {
    const char *text = p->front->source.data;
    dv_range at = token->at;
    for (uint32_t i = token->begin; i < position; i++) {
        at.column++;
        if (text[i] == '\n') at.line++, at.column = 0;
    }
    return at;
}

static bool check_not_empty(dv_parser *p, uint32_t begin, uint32_t end) {
    const char *text = p->front->source.data;
    for (uint32_t i = begin; i < end; i++)
        if (memchr(" \t\n\f", text[i], 4) == NULL) return true;
    char next = text[end];
    if (next == '!' || next == ':' || next == '=')
        return fail_fstring(p, "expression required before '%c'", next);
    return fail_fstring(p, "empty expression not allowed");
}

/* CPython parses the expression as a text of its own, in parentheses, and shows that. */
static bool show_parentheses(dv_front *front, uint32_t begin, uint32_t end, dv_range where) {
    dv_problem *problem = &front->problem;
    char *text = dv_front_scratch(front, (size_t)(end - begin) + 2);
    if (text == NULL) return false;
    const char *source = front->source.data + begin;
    if (memchr(source, '\n', end - begin) != NULL) return true;
    text[0] = '(';
    memcpy(text + 1, source, end - begin);
    text[end - begin + 1] = ')';
    uint32_t moved = where.column - 1;
    problem->text = (dv_text){text, end - begin + 2};
    if (problem->at.column != DV_NO_COLUMN) problem->at.column -= moved;
    if (problem->at.end_column != DV_NO_COLUMN) problem->at.end_column -= moved;
    return true;
}

/* Explains what is wrong with the tokens of an expression, which get their parentheses first. */
static bool explain_inner(dv_front *front, const dv_tokens *inner, uint32_t begin, uint32_t end,
                          dv_range where) {
    dv_tokens tokens = *inner;
    const dv_token *last = &inner->items[inner->count - 1];
    bool whole = last->kind == DV_TOKEN_END;
    tokens.count += whole ? 2 : 1;
    tokens.items = dv_front_scratch(front, tokens.count * sizeof *tokens.items);
    if (tokens.items == NULL) return false;
    dv_range open = {where.line, where.column - 1, where.line, where.column};
    tokens.items[0] = (dv_token){DV_TOKEN_LEFT_PAREN, 1, begin - 1, begin, open, NULL};
    for (uint32_t i = 0; i < inner->count; i++) {
        tokens.items[i + 1] = inner->items[i];
        tokens.items[i + 1].brackets++;
    }
    if (whole) {
        dv_range close = {last->at.line, last->at.column, last->at.line, last->at.column + 1};
        tokens.items[inner->count] = (dv_token){DV_TOKEN_RIGHT_PAREN, 0, end, end + 1, close, NULL};
        tokens.items[inner->count + 1] = *last;
    }
    dv_explain_run(front, &tokens, 0, true);
    front->problem.vague = false;
    return show_parentheses(front, begin, end, where);
}

static dv_expr *parse_inner(dv_parser *p, const literal *it, uint32_t begin, uint32_t end) {
    if (!check_not_empty(p, begin, end)) return NULL;
    dv_tokens tokens = {0};
    dv_range where = place_of(p, it->token, begin);
    if (!dv_lexer_run_inside(p->front, begin, end, where, &tokens)) return NULL;
    dv_parser inner = {p->front, &tokens, tokens.items, p->depth, p->fstring_depth + 1};
    dv_expr *expr = dv_parser_bare_group(&inner);
    if (expr == NULL && p->front->status == DV_LANG_ERROR && p->front->problem.vague)
        explain_inner(p->front, &tokens, begin, end, where);
    return expr;
}

static bool parse_format_string(joiner *j, const literal *it, uint32_t *at, uint32_t end,
                                unsigned level);

/* `!r`; *at is at the exclamation mark */
static bool parse_conversion(dv_parser *p, uint32_t *at, uint32_t end, char *conversion) {
    const char *text = p->front->source.data;
    (*at)++;
    if (*at >= end) return fail_fstring(p, "expecting '}'");
    *conversion = text[(*at)++];
    if (*conversion == 's' || *conversion == 'r' || *conversion == 'a') return true;
    return fail_fstring(p, "invalid conversion character: expected 's', 'r', or 'a'");
}

/* The format spec, from behind the colon to the closing brace. */
static dv_expr *parse_spec(joiner *j, const literal *it, uint32_t *at, uint32_t end,
                           unsigned level) {
    joiner spec = {j->p, j->at, {{0}, 0}, {0}};
    if (!parse_format_string(&spec, it, at, end, level + 1) || !flush_text(&spec)) return NULL;
    return dv_parser_list(j->p, DV_EXPR_FSTRING, j->at, spec.parts.list);
}

static uint32_t skip_white_space(const char *text, uint32_t at, uint32_t end) {
    while (at < end && memchr(" \t\n\f", text[at], 4) != NULL) at++;
    return at;
}

/* A replacement field; *at is at the opening brace, and behind the closing one afterwards. */
static bool parse_field(joiner *j, const literal *it, uint32_t *at, uint32_t end, unsigned level) {
    dv_parser *p = j->p;
    const char *text = p->front->source.data;
    if (level >= 2) return fail_fstring(p, "expressions nested too deeply");
    uint32_t begin = ++*at;
    if (!find_expression_end(p, at, end)) return false;
    dv_expr *field = dv_parser_expr(p, DV_EXPR_FORMAT, j->at);
    if (field == NULL) return false;
    field->as.format.value = parse_inner(p, it, begin, *at);
    if (field->as.format.value == NULL) return false;
    bool shows_text = text[*at] == '=';
    if (shows_text) {
        *at = skip_white_space(text, *at + 1, end);
        if (!dv_escape_append(p->front, &j->text, text + begin, *at - begin)) return false;
    }
    if (*at < end && text[*at] == '!' &&
        !parse_conversion(p, at, end, &field->as.format.conversion))
        return false;
    if (*at < end && text[*at] == ':') {
        ++*at;
        field->as.format.spec = parse_spec(j, it, at, end, level);
        if (field->as.format.spec == NULL) return false;
    }
    if (*at >= end || text[*at] != '}') return fail_fstring(p, "expecting '}'");
    ++*at;
    if (shows_text && field->as.format.spec == NULL && field->as.format.conversion == 0)
        field->as.format.conversion = 'r';
    return flush_text(j) && dv_expr_push(p->front, &j->parts, field);
}

/* ---- f-strings ---- */

/* The braces of \N{...} begin no field.  What stands there instead is taken too, as in CPython. */
static void skip_name(const char *text, uint32_t *at, uint32_t end) {
    if (*at >= end || text[(*at)++] != '{') return;
    while (*at < end && text[*at] != '}') ++*at;
    *at += *at < end;
}

/* Text up to the next brace that is not doubled.  Doubled braces count only outside of format
 * specs. *at stops at a single brace or at the end. */
static bool parse_format_text(joiner *j, const literal *it, uint32_t *at, uint32_t end,
                              unsigned level) {
    const char *text = j->p->front->source.data;
    uint32_t begin = *at;
    while (*at < end) {
        char c = text[(*at)++];
        if (c == '\\' && !it->raw && *at < end) {
            c = text[(*at)++];
            if (c == 'N') skip_name(text, at, end);
        }
        if (c != '{' && c != '}') continue;
        if (level == 0 && *at < end && text[*at] == c) {
            if (!append_text(j, it, begin, *at)) return false;
            begin = ++*at;
            continue;
        }
        if (level == 0 && c == '}') return fail_fstring(j->p, "single '}' is not allowed");
        --*at;
        break;
    }
    return append_text(j, it, begin, *at);
}

/* Text and fields, up to the end or, in a format spec, to the closing brace of its field. */
static bool parse_format_string(joiner *j, const literal *it, uint32_t *at, uint32_t end,
                                unsigned level) {
    const char *text = j->p->front->source.data;
    for (;;) {
        if (!parse_format_text(j, it, at, end, level)) return false;
        if (*at >= end || text[*at] == '}') return true;
        if (!parse_field(j, it, at, end, level)) return false;
    }
}

/* ---- Runs of literals ---- */

static bool check_ascii(dv_parser *p, const literal *it) {
    const char *text = p->front->source.data;
    for (uint32_t i = it->begin; i < it->end; i++)
        if ((unsigned char)text[i] >= 0x80)
            return dv_parser_fail_literal(p, "bytes can only contain ASCII literal characters") !=
                   NULL;
    return true;
}

static bool join_literal(joiner *j, const literal *it) {
    uint32_t at = it->begin;
    if (it->format) return parse_format_string(j, it, &at, it->end, 0);
    if (it->bytes && !check_ascii(j->p, it)) return false;
    return append_text(j, it, it->begin, it->end);
}

static dv_expr *join_constant(joiner *j, bool bytes) {
    dv_expr *expr = dv_parser_expr(j->p, DV_EXPR_CONSTANT, j->at);
    if (expr == NULL) return NULL;
    expr->as.constant.kind = bytes ? DV_CONST_BYTES : DV_CONST_STR;
    return keep_text(j->p->front, &j->text, &expr->as.constant.as.text) ? expr : NULL;
}

dv_expr *dv_parser_strings(dv_parser *p) {
    const dv_token *first = p->token;
    while (dv_parser_at(p, DV_TOKEN_STRING)) dv_parser_advance(p);
    joiner j = {p, dv_range_join(first->at, p->token[-1].at), {{0}, 0}, {0}};
    bool bytes = take_apart(p, first).bytes, format = false;
    if (!dv_parser_enter(p)) return NULL;
    for (const dv_token *token = first; token < p->token; token++) {
        literal it = take_apart(p, token);
        if (it.bytes != bytes)
            return dv_parser_fail_literal(p, "cannot mix bytes and nonbytes literals");
        format = format || it.format;
        if (!join_literal(&j, &it)) return NULL;
    }
    p->depth--;
    if (!format) return join_constant(&j, bytes);
    if (j.parts.list.count == 0) {
        dv_expr *constant = join_constant(&j, false);
        if (constant == NULL || !dv_expr_push(p->front, &j.parts, constant)) return NULL;
    } else if (!flush_text(&j)) {
        return NULL;
    }
    return dv_parser_list(p, DV_EXPR_FSTRING, j.at, j.parts.list);
}
