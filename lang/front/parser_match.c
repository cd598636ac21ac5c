/* parser_match.c: the match statement (parser_match.h).
 *
 * Invariants
 *  1. The parser accepts what CPython's grammar accepts, and nothing that only CPython's compiler
 *     refuses is looked at here (compile/compile_pattern.c does that).
 *  2. Ranges are CPython's: parentheses around a pattern do not belong to it. */
#include "lang/front/parser_match.h"

#include "lang/front/parser_display.h"
#include "lang/front/parser_expression.h"
#include "lang/front/parser_statement.h"

static dv_pattern *parse_pattern(dv_parser *p);

/* ---- Nodes ---- */

static dv_pattern *new_pattern(dv_parser *p, dv_pattern_kind kind, dv_range at) {
    dv_pattern *pattern = dv_front_scratch(p->front, sizeof *pattern);
    if (pattern == NULL) return NULL;
    pattern->kind = kind;
    pattern->at = at;
    return pattern;
}

static bool push_item(dv_parser *p, dv_pattern *pattern, uint32_t *capacity, dv_pattern *item) {
    if (item == NULL) return false;
    void *items = pattern->items;
    if (!dv_front_reserve(p->front, &items, pattern->count, capacity, sizeof(dv_pattern *)))
        return false;
    pattern->items = items;
    pattern->items[pattern->count++] = item;
    return true;
}

static dv_pattern *close_pattern(dv_parser *p, dv_pattern *pattern, dv_token_kind closing) {
    dv_range start = pattern->at;
    if (!dv_parser_expect(p, closing)) return NULL;
    pattern->at = dv_parser_range(p, start);
    return pattern;
}

static bool is_named(const dv_parser *p, const char *text) {
    return dv_parser_at(p, DV_TOKEN_NAME) && dv_name_is(p->token->name, text);
}

/* ---- Values ---- */

/* Does a number or a minus stand here? */
static bool at_number(const dv_parser *p) {
    return dv_parser_at(p, DV_TOKEN_NUMBER) || dv_parser_at(p, DV_TOKEN_MINUS);
}

static dv_expr *parse_signed(dv_parser *p) {
    dv_range start = p->token->at;
    bool minus = dv_parser_accept(p, DV_TOKEN_MINUS);
    if (!dv_parser_at(p, DV_TOKEN_NUMBER)) return dv_parser_invalid(p);
    dv_expr *number = dv_parser_atom(p);
    if (number == NULL || !minus) return number;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_UNARY, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->op = DV_UNARY_NEG;
    expr->as.child = number;
    return expr;
}

static bool is_imaginary(const dv_expr *number) {
    if (number->kind == DV_EXPR_UNARY) number = number->as.child;
    return number->as.constant.kind == DV_CONST_COMPLEX;
}

/* A number, or a real and an imaginary one as in 1 + 2j. */
static dv_expr *parse_number(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *left = parse_signed(p);
    bool plus = dv_parser_at(p, DV_TOKEN_PLUS);
    if (left == NULL || (!plus && !dv_parser_at(p, DV_TOKEN_MINUS))) return left;
    dv_parser_advance(p);
    if (is_imaginary(left) || !dv_parser_at(p, DV_TOKEN_NUMBER)) return dv_parser_invalid(p);
    dv_expr *right = dv_parser_atom(p);
    if (right == NULL) return NULL;
    if (!is_imaginary(right)) return dv_parser_invalid(p);
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_BINARY, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->op = plus ? DV_OPERATOR_ADD : DV_OPERATOR_SUB;
    expr->as.binary.left = left;
    expr->as.binary.right = right;
    left->up = expr;
    return expr;
}

/* name, or name.name... */
static dv_expr *parse_dotted(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *expr = dv_parser_atom(p);
    while (expr != NULL && dv_parser_accept(p, DV_TOKEN_DOT)) {
        dv_name *name = p->token->name;
        if (!dv_parser_expect(p, DV_TOKEN_NAME)) return NULL;
        dv_expr *attribute = dv_parser_expr(p, DV_EXPR_ATTRIBUTE, dv_parser_range(p, start));
        if (attribute == NULL) return NULL;
        attribute->as.attribute.object = expr;
        attribute->as.attribute.name = name;
        expr->up = attribute;
        expr = attribute;
    }
    return expr;
}

static bool at_singleton(const dv_parser *p) {
    return dv_parser_at(p, DV_TOKEN_NONE) || dv_parser_at(p, DV_TOKEN_TRUE) ||
           dv_parser_at(p, DV_TOKEN_FALSE);
}

static dv_pattern *new_value(dv_parser *p, dv_pattern_kind kind, dv_expr *value) {
    if (value == NULL) return NULL;
    dv_pattern *pattern = new_pattern(p, kind, value->at);
    if (pattern != NULL) pattern->value = value;
    return pattern;
}

/* ---- Names ---- */

/* The name that a pattern binds, which is not `_`. */
static dv_expr *parse_target(dv_parser *p) {
    dv_name *name = p->token->name;
    dv_range at = p->token->at;
    if (is_named(p, "_") || !dv_parser_expect(p, DV_TOKEN_NAME)) return dv_parser_invalid(p);
    if (dv_parser_at(p, DV_TOKEN_DOT) || dv_parser_at(p, DV_TOKEN_LEFT_PAREN) ||
        dv_parser_at(p, DV_TOKEN_ASSIGN))
        return dv_parser_invalid(p);
    return dv_parser_name(p, name, at);
}

/* A name that is bound, or the wildcard, which binds nothing. */
static dv_pattern *parse_capture(dv_parser *p, dv_pattern_kind kind, dv_range start) {
    dv_expr *name = NULL;
    if (is_named(p, "_"))
        dv_parser_advance(p);
    else if ((name = parse_target(p)) == NULL)
        return NULL;
    dv_pattern *pattern = new_pattern(p, kind, dv_parser_range(p, start));
    if (pattern != NULL) pattern->name = name;
    return pattern;
}

/* ---- Sequences ---- */

static dv_pattern *parse_maybe_star(dv_parser *p) {
    dv_range start = p->token->at;
    if (!dv_parser_accept(p, DV_TOKEN_STAR)) return parse_pattern(p);
    return parse_capture(p, DV_PATTERN_STAR, start);
}

/* The items behind the first, which may be NULL: there is none yet; *comma: there was one. */
static bool parse_items(dv_parser *p, dv_pattern *sequence, dv_pattern *first, dv_token_kind end,
                        bool *comma) {
    uint32_t capacity = 0;
    *comma = false;
    for (dv_pattern *item = first; !dv_parser_at(p, end) || item != NULL; item = NULL) {
        if (item == NULL) item = parse_maybe_star(p);
        if (!push_item(p, sequence, &capacity, item)) return false;
        if (!dv_parser_accept(p, DV_TOKEN_COMMA)) break;
        *comma = true;
    }
    return true;
}

/* [a, b], (a, b); (a) is a itself. */
static dv_pattern *parse_sequence(dv_parser *p, dv_token_kind closing) {
    dv_pattern *sequence = new_pattern(p, DV_PATTERN_SEQUENCE, p->token->at);
    bool comma;
    dv_parser_advance(p);
    if (sequence == NULL || !parse_items(p, sequence, NULL, closing, &comma)) return NULL;
    sequence = close_pattern(p, sequence, closing);
    if (sequence == NULL || closing != DV_TOKEN_RIGHT_PAREN || comma || sequence->count == 0)
        return sequence;
    if (sequence->items[0]->kind == DV_PATTERN_STAR) return dv_parser_invalid(p);
    return sequence->items[0];
}

/* a, b without brackets, up to the guard or the colon. */
static dv_pattern *parse_open_sequence(dv_parser *p) {
    dv_range start = p->token->at;
    dv_pattern *first = parse_maybe_star(p);
    if (first == NULL || !dv_parser_at(p, DV_TOKEN_COMMA))
        return first != NULL && first->kind == DV_PATTERN_STAR ? dv_parser_invalid(p) : first;
    dv_pattern *sequence = new_pattern(p, DV_PATTERN_SEQUENCE, start);
    uint32_t capacity = 0;
    if (sequence == NULL || !push_item(p, sequence, &capacity, first)) return NULL;
    while (dv_parser_accept(p, DV_TOKEN_COMMA)) {
        if (dv_parser_at(p, DV_TOKEN_COLON) || dv_parser_at(p, DV_TOKEN_IF)) break;
        if (!push_item(p, sequence, &capacity, parse_maybe_star(p))) return NULL;
    }
    sequence->at = dv_parser_range(p, start);
    return sequence;
}

/* ---- Mappings ---- */

static dv_expr *parse_key(dv_parser *p) {
    if (at_number(p)) return parse_number(p);
    if (dv_parser_at(p, DV_TOKEN_STRING) || at_singleton(p)) return dv_parser_atom(p);
    if (!dv_parser_at(p, DV_TOKEN_NAME)) return dv_parser_invalid(p);
    dv_expr *key = parse_dotted(p);
    return key == NULL || key->kind == DV_EXPR_ATTRIBUTE ? key : dv_parser_invalid(p);
}

static dv_pattern *parse_mapping(dv_parser *p) {
    dv_pattern *mapping = new_pattern(p, DV_PATTERN_MAPPING, p->token->at);
    dv_expr_builder keys = {0};
    uint32_t capacity = 0;
    if (mapping == NULL) return NULL;
    dv_parser_advance(p);
    while (!dv_parser_at(p, DV_TOKEN_RIGHT_BRACE)) {
        if (dv_parser_accept(p, DV_TOKEN_DOUBLE_STAR)) {
            if ((mapping->name = parse_target(p)) == NULL) return NULL;
            dv_parser_accept(p, DV_TOKEN_COMMA);
            break;
        }
        dv_expr *key = parse_key(p);
        if (key == NULL || !dv_expr_push(p->front, &keys, key) ||
            !dv_parser_expect(p, DV_TOKEN_COLON) ||
            !push_item(p, mapping, &capacity, parse_pattern(p)))
            return NULL;
        if (!dv_parser_accept(p, DV_TOKEN_COMMA)) break;
    }
    mapping->keys = keys.list;
    return close_pattern(p, mapping, DV_TOKEN_RIGHT_BRACE);
}

/* ---- Classes ---- */

static bool push_keyword(dv_parser *p, dv_pattern *pattern, uint32_t *capacity, dv_name *name) {
    void *names = pattern->keywords;
    if (!dv_front_reserve(p->front, &names, pattern->keyword_count, capacity, sizeof(dv_name *)))
        return false;
    pattern->keywords = names;
    pattern->keywords[pattern->keyword_count++] = name;
    return true;
}

static dv_pattern *parse_class(dv_parser *p, dv_expr *class_) {
    dv_pattern *pattern = new_value(p, DV_PATTERN_CLASS, class_);
    uint32_t item_capacity = 0, name_capacity = 0;
    if (pattern == NULL) return NULL;
    dv_parser_advance(p);
    while (!dv_parser_at(p, DV_TOKEN_RIGHT_PAREN)) {
        if (dv_parser_at(p, DV_TOKEN_NAME) && dv_parser_peek(p) == DV_TOKEN_ASSIGN) {
            /* CPython's grammar takes `_` behind a positional pattern for another one. */
            bool wildcard = is_named(p, "_") && pattern->count > 0 && pattern->keyword_count == 0;
            if (wildcard) dv_parser_advance(p);
            if (wildcard || !push_keyword(p, pattern, &name_capacity, p->token->name))
                return wildcard ? dv_parser_invalid(p) : NULL;
            dv_parser_advance(p);
            dv_parser_advance(p);
        } else if (pattern->keyword_count > 0) {
            return dv_parser_invalid(p);
        }
        if (!push_item(p, pattern, &item_capacity, parse_pattern(p))) return NULL;
        if (!dv_parser_accept(p, DV_TOKEN_COMMA)) break;
    }
    return close_pattern(p, pattern, DV_TOKEN_RIGHT_PAREN);
}

/* ---- Patterns ---- */

/* A capture, a wildcard, a dotted name or a class. */
static dv_pattern *parse_name(dv_parser *p) {
    dv_token_kind next = dv_parser_peek(p);
    if (is_named(p, "_") || (next != DV_TOKEN_DOT && next != DV_TOKEN_LEFT_PAREN))
        return parse_capture(p, DV_PATTERN_CAPTURE, p->token->at);
    dv_expr *name = parse_dotted(p);
    if (name == NULL) return NULL;
    if (dv_parser_at(p, DV_TOKEN_LEFT_PAREN)) return parse_class(p, name);
    if (dv_parser_at(p, DV_TOKEN_ASSIGN)) return dv_parser_invalid(p);
    return new_value(p, DV_PATTERN_VALUE, name);
}

static dv_pattern *parse_closed(dv_parser *p) {
    if (at_number(p)) return new_value(p, DV_PATTERN_VALUE, parse_number(p));
    if (at_singleton(p)) return new_value(p, DV_PATTERN_SINGLETON, dv_parser_atom(p));
    switch (p->token->kind) {
    case DV_TOKEN_STRING: return new_value(p, DV_PATTERN_VALUE, dv_parser_atom(p));
    case DV_TOKEN_NAME: return parse_name(p);
    case DV_TOKEN_LEFT_BRACKET: return parse_sequence(p, DV_TOKEN_RIGHT_BRACKET);
    case DV_TOKEN_LEFT_PAREN: return parse_sequence(p, DV_TOKEN_RIGHT_PAREN);
    case DV_TOKEN_LEFT_BRACE: return parse_mapping(p);
    default: return dv_parser_invalid(p);
    }
}

static dv_pattern *parse_alternatives(dv_parser *p) {
    dv_range start = p->token->at;
    dv_pattern *first = parse_closed(p);
    if (first == NULL || !dv_parser_at(p, DV_TOKEN_BAR)) return first;
    dv_pattern *alternatives = new_pattern(p, DV_PATTERN_OR, start);
    uint32_t capacity = 0;
    if (alternatives == NULL || !push_item(p, alternatives, &capacity, first)) return NULL;
    while (dv_parser_accept(p, DV_TOKEN_BAR))
        if (!push_item(p, alternatives, &capacity, parse_closed(p))) return NULL;
    alternatives->at = dv_parser_range(p, start);
    return alternatives;
}

static dv_pattern *parse_as(dv_parser *p) {
    dv_range start = p->token->at;
    dv_pattern *pattern = parse_alternatives(p);
    if (pattern == NULL || !dv_parser_accept(p, DV_TOKEN_AS)) return pattern;
    dv_expr *name = parse_target(p);
    dv_pattern *as = name == NULL ? NULL : new_pattern(p, DV_PATTERN_AS, dv_parser_range(p, start));
    uint32_t capacity = 0;
    if (as == NULL || !push_item(p, as, &capacity, pattern)) return NULL;
    as->name = name;
    return as;
}

static dv_pattern *parse_pattern(dv_parser *p) {
    if (!dv_parser_enter(p)) return NULL;
    dv_pattern *pattern = parse_as(p);
    p->depth--;
    return pattern;
}

/* ---- The statement ---- */

static bool parse_case(dv_parser *p, dv_case *one) {
    dv_parser_advance(p);
    one->pattern = parse_open_sequence(p);
    if (one->pattern == NULL) return false;
    if (dv_parser_accept(p, DV_TOKEN_IF) && (one->guard = dv_parser_named(p)) == NULL) return false;
    return dv_parser_block(p, &one->body);
}

/* One value, or several, which are a tuple. */
static dv_expr *parse_subject(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *first = dv_parser_star_named(p);
    if (first == NULL || !dv_parser_at(p, DV_TOKEN_COMMA))
        return first != NULL && first->kind == DV_EXPR_STARRED ? dv_parser_invalid(p) : first;
    dv_expr_builder items = {0};
    if (!dv_expr_push(p->front, &items, first)) return NULL;
    while (dv_parser_accept(p, DV_TOKEN_COMMA)) {
        if (dv_parser_at(p, DV_TOKEN_COLON)) break;
        dv_expr *item = dv_parser_star_named(p);
        if (item == NULL || !dv_expr_push(p->front, &items, item)) return NULL;
    }
    return dv_parser_list(p, DV_EXPR_TUPLE, dv_parser_range(p, start), items.list);
}

bool dv_parser_at_match(const dv_parser *p) {
    if (!is_named(p, "match")) return false;
    const dv_token *token = p->token;
    while (token->kind != DV_TOKEN_NEWLINE && token->kind != DV_TOKEN_ERROR) token++;
    if (token->kind == DV_TOKEN_ERROR || token[-1].kind != DV_TOKEN_COLON) return false;
    return token[1].kind == DV_TOKEN_INDENT && token[2].kind == DV_TOKEN_NAME &&
           dv_name_is(token[2].name, "case");
}

static bool parse_cases(dv_parser *p, dv_stmt *stmt) {
    uint32_t capacity = 0;
    while (!dv_parser_accept(p, DV_TOKEN_DEDENT)) {
        void *cases = stmt->as.match.cases;
        uint32_t count = stmt->as.match.count;
        if (!is_named(p, "case")) return dv_parser_invalid(p) != NULL;
        if (!dv_front_reserve(p->front, &cases, count, &capacity, sizeof(dv_case))) return false;
        stmt->as.match.cases = cases;
        stmt->as.match.cases[count] = (dv_case){0};
        if (!parse_case(p, &stmt->as.match.cases[count])) return false;
        stmt->as.match.count++;
    }
    return true;
}

dv_stmt *dv_parser_match(dv_parser *p) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_MATCH, start);
    if (stmt == NULL) return NULL;
    dv_parser_advance(p);
    stmt->as.match.subject = parse_subject(p);
    if (stmt->as.match.subject == NULL || !dv_parser_expect(p, DV_TOKEN_COLON) ||
        !dv_parser_expect(p, DV_TOKEN_NEWLINE) || !dv_parser_expect(p, DV_TOKEN_INDENT) ||
        !dv_parser_enter(p) || !parse_cases(p, stmt))
        return NULL;
    p->depth--;
    stmt->at = dv_parser_range(p, start);
    return stmt;
}
