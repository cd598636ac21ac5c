/* parser_display.c: atoms and primaries (parser_display.h). */
#include "lang/front/parser_display.h"

#include "lang/front/number.h"
#include "lang/front/parser_expression.h"
#include "lang/front/parser_fstring.h"
#include "lang/front/parser_target.h"

/* ---- Comprehensions ---- */

static bool at_comprehension(const dv_parser *p) {
    return dv_parser_at(p, DV_TOKEN_FOR) ||
           (dv_parser_at(p, DV_TOKEN_ASYNC) && dv_parser_peek(p) == DV_TOKEN_FOR);
}

static bool parse_clause(dv_parser *p, dv_clause *clause) {
    if (dv_parser_at(p, DV_TOKEN_ASYNC))
        return dv_parser_refuse(p, p->token->at, DV_REFUSE_ASYNC_FOR) != NULL;
    dv_parser_advance(p);
    clause->target = dv_parser_for_target(p);
    if (clause->target == NULL || !dv_parser_expect(p, DV_TOKEN_IN)) return false;
    clause->iterable = dv_parser_disjunction(p);
    if (clause->iterable == NULL) return false;
    dv_expr_builder conditions = {0};
    while (dv_parser_accept(p, DV_TOKEN_IF)) {
        dv_expr *condition = dv_parser_disjunction(p);
        if (condition == NULL || !dv_expr_push(p->front, &conditions, condition)) return false;
    }
    clause->conditions = conditions.list;
    return true;
}

/* From the first `for` on; the caller skips the closing bracket and sets the range. */
static dv_expr *parse_comprehension(dv_parser *p, dv_comprehension op, dv_range start,
                                    dv_expr *element, dv_expr *value) {
    if (element->kind == DV_EXPR_STARRED) return dv_parser_invalid(p);
    dv_clause *clauses = NULL;
    uint32_t count = 0, capacity = 0;
    while (at_comprehension(p)) {
        void *grown = clauses;
        if (!dv_front_reserve(p->front, &grown, count, &capacity, sizeof *clauses)) return NULL;
        clauses = grown;
        if (!parse_clause(p, &clauses[count])) return NULL;
        count++;
    }
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_COMPREHENSION, start);
    if (expr == NULL) return NULL;
    expr->op = (uint8_t)op;
    expr->as.comprehension.element = element;
    expr->as.comprehension.value = value;
    expr->as.comprehension.clauses = clauses;
    expr->as.comprehension.clause_count = count;
    return expr;
}

static dv_expr *close_display(dv_parser *p, dv_expr *expr, dv_token_kind closing, dv_range start) {
    if (expr == NULL || !dv_parser_expect(p, closing)) return NULL;
    expr->at = dv_parser_range(p, start);
    return expr;
}

/* ---- Parentheses ---- */

static dv_expr *parse_rest_of_sequence(dv_parser *p, dv_expr_kind kind, dv_expr *first,
                                       dv_token_kind closing, dv_range start) {
    dv_expr_builder builder = {0};
    if (first != NULL && !dv_expr_push(p->front, &builder, first)) return NULL;
    while (dv_parser_accept(p, DV_TOKEN_COMMA)) {
        if (dv_parser_at(p, closing)) break;
        dv_expr *next = dv_parser_star_named(p);
        if (next == NULL || !dv_expr_push(p->front, &builder, next)) return NULL;
    }
    dv_expr *expr = dv_parser_list(p, kind, start, builder.list);
    if (expr != NULL) expr->parenthesized = closing == DV_TOKEN_RIGHT_PAREN;
    return close_display(p, expr, closing, start);
}

/* The expression in parentheses keeps its own range, as in CPython. */
static dv_expr *close_group(dv_parser *p, dv_expr *expr, dv_token_kind closing) {
    if (expr == NULL) return NULL;
    if (expr->kind == DV_EXPR_STARRED) return dv_parser_invalid(p);
    if (!dv_parser_expect(p, closing)) return NULL;
    expr->parenthesized = true;
    return expr;
}

static dv_expr *parse_parentheses(dv_parser *p) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    if (dv_parser_at(p, DV_TOKEN_RIGHT_PAREN))
        return parse_rest_of_sequence(p, DV_EXPR_TUPLE, NULL, DV_TOKEN_RIGHT_PAREN, start);
    if (dv_parser_at(p, DV_TOKEN_YIELD))
        return close_group(p, dv_parser_yield(p), DV_TOKEN_RIGHT_PAREN);
    dv_expr *first = dv_parser_star_named(p);
    if (first == NULL) return NULL;
    if (dv_parser_at(p, DV_TOKEN_COMMA))
        return parse_rest_of_sequence(p, DV_EXPR_TUPLE, first, DV_TOKEN_RIGHT_PAREN, start);
    if (at_comprehension(p))
        return close_display(p,
                             parse_comprehension(p, DV_COMPREHENSION_GENERATOR, start, first, NULL),
                             DV_TOKEN_RIGHT_PAREN, start);
    return close_group(p, first, DV_TOKEN_RIGHT_PAREN);
}

dv_expr *dv_parser_bare_group(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *first = dv_parser_at(p, DV_TOKEN_YIELD) ? dv_parser_yield(p) : dv_parser_star_named(p);
    if (first == NULL) return NULL;
    if (dv_parser_at(p, DV_TOKEN_COMMA))
        return parse_rest_of_sequence(p, DV_EXPR_TUPLE, first, DV_TOKEN_END, start);
    if (at_comprehension(p))
        return close_display(p,
                             parse_comprehension(p, DV_COMPREHENSION_GENERATOR, start, first, NULL),
                             DV_TOKEN_END, start);
    return close_group(p, first, DV_TOKEN_END);
}

static dv_expr *parse_brackets(dv_parser *p) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    if (dv_parser_at(p, DV_TOKEN_RIGHT_BRACKET))
        return parse_rest_of_sequence(p, DV_EXPR_LIST, NULL, DV_TOKEN_RIGHT_BRACKET, start);
    dv_expr *first = dv_parser_star_named(p);
    if (first == NULL) return NULL;
    if (at_comprehension(p))
        return close_display(p, parse_comprehension(p, DV_COMPREHENSION_LIST, start, first, NULL),
                             DV_TOKEN_RIGHT_BRACKET, start);
    return parse_rest_of_sequence(p, DV_EXPR_LIST, first, DV_TOKEN_RIGHT_BRACKET, start);
}

/* ---- Braces ---- */

/* `: value` of a dict display; `key` was just read */
static dv_expr *parse_dict_value(dv_parser *p) {
    if (!dv_parser_expect(p, DV_TOKEN_COLON)) return NULL;
    return dv_parser_expression(p);
}

/* `**mapping`: a value with a NULL key */
static bool parse_dict_item(dv_parser *p, dv_expr *first_key, dv_expr_builder *keys,
                            dv_expr_builder *values) {
    dv_expr *key = first_key, *value;
    if (key == NULL && dv_parser_accept(p, DV_TOKEN_DOUBLE_STAR)) {
        value = dv_parser_bitwise_or(p);
    } else {
        if (key == NULL) key = dv_parser_expression(p);
        value = key == NULL ? NULL : parse_dict_value(p);
    }
    if (value == NULL) return false;
    return dv_expr_push(p->front, keys, key) && dv_expr_push(p->front, values, value);
}

static dv_expr *parse_dict(dv_parser *p, dv_expr *first_key, dv_range start) {
    dv_expr_builder keys = {0}, values = {0};
    bool more = !dv_parser_at(p, DV_TOKEN_RIGHT_BRACE);
    while (more) {
        if (!parse_dict_item(p, first_key, &keys, &values)) return NULL;
        first_key = NULL;
        if (at_comprehension(p) && keys.list.count == 1) {
            if (keys.list.items[0] == NULL) return dv_parser_invalid(p);
            return close_display(p,
                                 parse_comprehension(p, DV_COMPREHENSION_DICT, start,
                                                     keys.list.items[0], values.list.items[0]),
                                 DV_TOKEN_RIGHT_BRACE, start);
        }
        more = dv_parser_accept(p, DV_TOKEN_COMMA) && !dv_parser_at(p, DV_TOKEN_RIGHT_BRACE);
    }
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_DICT, start);
    if (expr == NULL) return NULL;
    expr->as.dict.keys = keys.list;
    expr->as.dict.values = values.list;
    return close_display(p, expr, DV_TOKEN_RIGHT_BRACE, start);
}

static dv_expr *parse_braces(dv_parser *p) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    if (dv_parser_at(p, DV_TOKEN_RIGHT_BRACE) || dv_parser_at(p, DV_TOKEN_DOUBLE_STAR))
        return parse_dict(p, NULL, start);
    dv_expr *first = dv_parser_star_named(p);
    if (first == NULL) return NULL;
    if (dv_parser_at(p, DV_TOKEN_COLON) && first->kind != DV_EXPR_STARRED)
        return parse_dict(p, first, start);
    if (at_comprehension(p))
        return close_display(p, parse_comprehension(p, DV_COMPREHENSION_SET, start, first, NULL),
                             DV_TOKEN_RIGHT_BRACE, start);
    return parse_rest_of_sequence(p, DV_EXPR_SET, first, DV_TOKEN_RIGHT_BRACE, start);
}

/* ---- Atoms ---- */

static dv_expr *parse_constant(dv_parser *p, dv_const_kind kind) {
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_CONSTANT, p->token->at);
    if (expr == NULL) return NULL;
    expr->as.constant.kind = kind;
    dv_parser_advance(p);
    return expr;
}

static dv_expr *parse_number(dv_parser *p) {
    const dv_token *token = p->token;
    dv_text text = {p->front->source.data + token->begin, token->end - token->begin};
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_CONSTANT, token->at);
    if (expr == NULL || !dv_number_read(p->front, text, token->at, &expr->as.constant)) return NULL;
    dv_parser_advance(p);
    return expr;
}

static dv_expr *parse_name(dv_parser *p) {
    dv_expr *expr = dv_parser_name(p, p->token->name, p->token->at);
    dv_parser_advance(p);
    return expr;
}

dv_expr *dv_parser_atom(dv_parser *p) {
    switch (p->token->kind) {
    case DV_TOKEN_NAME: return parse_name(p);
    case DV_TOKEN_NUMBER: return parse_number(p);
    case DV_TOKEN_STRING: return dv_parser_strings(p);
    case DV_TOKEN_LEFT_PAREN: return parse_parentheses(p);
    case DV_TOKEN_LEFT_BRACKET: return parse_brackets(p);
    case DV_TOKEN_LEFT_BRACE: return parse_braces(p);
    case DV_TOKEN_NONE: return parse_constant(p, DV_CONST_NONE);
    case DV_TOKEN_TRUE: return parse_constant(p, DV_CONST_TRUE);
    case DV_TOKEN_FALSE: return parse_constant(p, DV_CONST_FALSE);
    case DV_TOKEN_ELLIPSIS: return parse_constant(p, DV_CONST_ELLIPSIS);
    default: return dv_parser_invalid(p);
    }
}

/* ---- Arguments ---- */

typedef struct argument_list {
    dv_arguments *out;
    dv_expr_builder positional;
    uint32_t keyword_capacity;
    bool after_keyword, after_unpacking;
} argument_list;

static bool push_keyword(dv_parser *p, argument_list *list, dv_name *name, dv_range start,
                         dv_expr *value) {
    void *items = list->out->keywords;
    if (!dv_front_reserve(p->front, &items, list->out->keyword_count, &list->keyword_capacity,
                          sizeof(dv_keyword)))
        return false;
    list->out->keywords = items;
    dv_range at = dv_parser_range(p, start);
    list->out->keywords[list->out->keyword_count++] = (dv_keyword){name, at, value};
    return true;
}

static bool parse_keyword(dv_parser *p, argument_list *list) {
    dv_range start = p->token->at;
    dv_name *name = p->token->name;
    dv_parser_advance(p);
    dv_parser_advance(p);
    dv_expr *value = dv_parser_expression(p);
    if (value == NULL) return false;
    list->after_keyword = true;
    return push_keyword(p, list, name, start, value);
}

static bool parse_unpacking(dv_parser *p, argument_list *list) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    dv_expr *value = dv_parser_expression(p);
    if (value == NULL) return false;
    list->after_keyword = list->after_unpacking = true;
    return push_keyword(p, list, NULL, start, value);
}

static dv_expr *parse_positional(dv_parser *p) {
    if (dv_parser_at(p, DV_TOKEN_STAR)) {
        dv_range start = p->token->at;
        dv_parser_advance(p);
        dv_expr *value = dv_parser_expression(p);
        if (value == NULL) return NULL;
        dv_expr *expr = dv_parser_expr(p, DV_EXPR_STARRED, dv_parser_range(p, start));
        if (expr != NULL) expr->as.child = value;
        return expr;
    }
    if (dv_parser_at(p, DV_TOKEN_NAME) && dv_parser_peek(p) == DV_TOKEN_WALRUS)
        return dv_parser_named(p);
    return dv_parser_expression(p);
}

/* `f(x for x in y)`: the parentheses of the call are the generator expression's own */
static bool parse_generator_argument(dv_parser *p, argument_list *list, dv_expr *element,
                                     dv_range open) {
    dv_range start = element->at;
    dv_expr *expr = parse_comprehension(p, DV_COMPREHENSION_GENERATOR, start, element, NULL);
    if (expr == NULL) return false;
    bool alone = list->positional.list.count == 0 && list->out->keyword_count == 0 &&
                 dv_parser_at(p, DV_TOKEN_RIGHT_PAREN);
    if (!alone) return dv_parser_invalid(p) != NULL;
    expr->at = dv_range_join(open, p->token->at);
    return dv_expr_push(p->front, &list->positional, expr);
}

static bool parse_argument(dv_parser *p, argument_list *list, dv_range open) {
    if (dv_parser_at(p, DV_TOKEN_DOUBLE_STAR)) return parse_unpacking(p, list);
    if (dv_parser_at(p, DV_TOKEN_NAME) && dv_parser_peek(p) == DV_TOKEN_ASSIGN)
        return parse_keyword(p, list);
    dv_expr *expr = parse_positional(p);
    if (expr == NULL) return false;
    if (at_comprehension(p)) return parse_generator_argument(p, list, expr, open);
    bool misplaced = expr->kind == DV_EXPR_STARRED ? list->after_unpacking : list->after_keyword;
    if (misplaced) return dv_parser_invalid(p) != NULL;
    return dv_expr_push(p->front, &list->positional, expr);
}

bool dv_parser_arguments(dv_parser *p, dv_range open, dv_arguments *out) {
    argument_list list = {0};
    list.out = out;
    while (!dv_parser_at(p, DV_TOKEN_RIGHT_PAREN)) {
        if (!parse_argument(p, &list, open)) return false;
        if (!dv_parser_accept(p, DV_TOKEN_COMMA)) break;
    }
    out->positional = list.positional.list;
    return dv_parser_expect(p, DV_TOKEN_RIGHT_PAREN);
}

/* ---- Primaries ---- */

static dv_expr *parse_call(dv_parser *p, dv_expr *callee, dv_range start) {
    dv_range open = p->token->at;
    dv_parser_advance(p);
    dv_arguments arguments = {0};
    if (!dv_parser_arguments(p, open, &arguments)) return NULL;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_CALL, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->as.call.callee = callee;
    expr->as.call.arguments = arguments.positional;
    expr->as.call.keywords = arguments.keywords;
    expr->as.call.keyword_count = arguments.keyword_count;
    return expr;
}

static dv_expr *parse_attribute(dv_parser *p, dv_expr *object, dv_range start) {
    dv_parser_advance(p);
    dv_name *name = p->token->name;
    if (!dv_parser_expect(p, DV_TOKEN_NAME)) return NULL;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_ATTRIBUTE, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->as.attribute.object = object;
    expr->as.attribute.name = name;
    return expr;
}

static bool at_slice_end(const dv_parser *p) {
    return dv_parser_at(p, DV_TOKEN_COLON) || dv_parser_at(p, DV_TOKEN_COMMA) ||
           dv_parser_at(p, DV_TOKEN_RIGHT_BRACKET);
}

/* An optional part of a slice; *part stays NULL where it is absent. */
static bool parse_slice_part(dv_parser *p, dv_expr **part) {
    if (at_slice_end(p)) return true;
    *part = dv_parser_expression(p);
    return *part != NULL;
}

static dv_expr *parse_slice(dv_parser *p) {
    dv_range begin = p->token->at;
    dv_expr *start = NULL, *stop = NULL, *step = NULL;
    if (!dv_parser_at(p, DV_TOKEN_COLON)) {
        start = dv_parser_star_named(p);
        if (start == NULL || !dv_parser_at(p, DV_TOKEN_COLON)) return start;
    }
    dv_parser_advance(p);
    if (!parse_slice_part(p, &stop)) return NULL;
    if (dv_parser_accept(p, DV_TOKEN_COLON) && !parse_slice_part(p, &step)) return NULL;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_SLICE, dv_parser_range(p, begin));
    if (expr == NULL) return NULL;
    expr->as.slice.start = start;
    expr->as.slice.stop = stop;
    expr->as.slice.step = step;
    return expr;
}

static dv_expr *parse_slices(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *first = parse_slice(p);
    if (first == NULL) return NULL;
    if (!dv_parser_at(p, DV_TOKEN_COMMA) && first->kind != DV_EXPR_STARRED) return first;
    dv_expr_builder builder = {0};
    if (!dv_expr_push(p->front, &builder, first)) return NULL;
    while (dv_parser_accept(p, DV_TOKEN_COMMA)) {
        if (dv_parser_at(p, DV_TOKEN_RIGHT_BRACKET)) break;
        dv_expr *next = parse_slice(p);
        if (next == NULL || !dv_expr_push(p->front, &builder, next)) return NULL;
    }
    return dv_parser_list(p, DV_EXPR_TUPLE, dv_parser_range(p, start), builder.list);
}

static dv_expr *parse_subscript(dv_parser *p, dv_expr *container, dv_range start) {
    dv_parser_advance(p);
    dv_expr *index = parse_slices(p);
    if (index == NULL || !dv_parser_expect(p, DV_TOKEN_RIGHT_BRACKET)) return NULL;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_SUBSCRIPT, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->as.subscript.container = container;
    expr->as.subscript.index = index;
    return expr;
}

static dv_expr *parse_trailer(dv_parser *p, dv_expr *expr, dv_range start) {
    switch (p->token->kind) {
    case DV_TOKEN_DOT: return parse_attribute(p, expr, start);
    case DV_TOKEN_LEFT_PAREN: return parse_call(p, expr, start);
    default: return parse_subscript(p, expr, start);
    }
}

dv_expr *dv_parser_primary(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *expr = dv_parser_atom(p);
    while (expr != NULL && (dv_parser_at(p, DV_TOKEN_DOT) || dv_parser_at(p, DV_TOKEN_LEFT_PAREN) ||
                            dv_parser_at(p, DV_TOKEN_LEFT_BRACKET))) {
        dv_expr *inner = expr;
        expr = parse_trailer(p, inner, start);
        if (expr != NULL) inner->up = expr;
    }
    return expr;
}
