/* parser_function.c: parameter lists and definitions (parser_function.h). */
#include "lang/parser_function.h"

#include "lang/parser_display.h"
#include "lang/parser_expression.h"
#include "lang/parser_statement.h"

/* ---- Parameters ---- */

typedef struct parameter_list {
    dv_function *function;
    uint32_t capacity;
    dv_token_kind closing; /* a parenthesis, or the colon of a lambda */
    bool seen_star, seen_slash, seen_default;
} parameter_list;

static dv_parameter *push_parameter(dv_parser *p, parameter_list *list, dv_parameter_kind kind) {
    dv_function *function = list->function;
    void *items = function->parameters;
    if (!dv_front_reserve(p->front, &items, function->parameter_count, &list->capacity,
                          sizeof(dv_parameter)))
        return NULL;
    function->parameters = items;
    dv_parameter *parameter = &function->parameters[function->parameter_count++];
    *parameter = (dv_parameter){kind, p->token->name, p->token->at, NULL, NULL};
    return parameter;
}

/* The name and annotation of a parameter. */
static dv_parameter *parse_parameter_name(dv_parser *p, parameter_list *list,
                                          dv_parameter_kind kind) {
    if (!dv_parser_at(p, DV_TOKEN_NAME)) return dv_parser_invalid(p);
    dv_parameter *parameter = push_parameter(p, list, kind);
    if (parameter == NULL) return NULL;
    dv_parser_advance(p);
    bool annotated = list->closing == DV_TOKEN_RIGHT_PAREN && dv_parser_accept(p, DV_TOKEN_COLON);
    if (annotated) parameter->annotation = dv_parser_expression(p);
    if (annotated && parameter->annotation == NULL) return NULL;
    parameter->at = dv_parser_range(p, parameter->at);
    return parameter;
}

static bool parse_default(dv_parser *p, parameter_list *list, dv_parameter *parameter) {
    dv_range equals = p->token->at;
    if (!dv_parser_accept(p, DV_TOKEN_ASSIGN)) {
        bool required = parameter->kind == DV_PARAMETER_POSITIONAL && list->seen_default;
        if (!required) return true;
        return dv_parser_fail(p, parameter->at, "non-default argument follows default argument") !=
               NULL;
    }
    if (dv_parser_at(p, DV_TOKEN_COMMA) || dv_parser_at(p, DV_TOKEN_RIGHT_PAREN))
        return dv_parser_fail(p, equals, "expected default value expression") != NULL;
    list->seen_default = list->seen_default || parameter->kind == DV_PARAMETER_POSITIONAL;
    parameter->standard = dv_parser_expression(p);
    return parameter->standard != NULL;
}

static bool parse_slash(dv_parser *p, parameter_list *list) {
    dv_range at = p->token->at;
    if (list->seen_slash) return dv_parser_fail(p, at, "/ may appear only once") != NULL;
    if (list->seen_star) return dv_parser_fail(p, at, "/ must be ahead of *") != NULL;
    if (list->function->parameter_count == 0) {
        if (dv_parser_peek(p) != DV_TOKEN_COMMA) return dv_parser_invalid(p) != NULL;
        return dv_parser_fail(p, at, "at least one argument must precede /") != NULL;
    }
    for (uint32_t i = 0; i < list->function->parameter_count; i++)
        list->function->parameters[i].kind = DV_PARAMETER_POSITIONAL_ONLY;
    list->seen_slash = true;
    dv_parser_advance(p);
    return true;
}

/* A star without a name and without a keyword-only parameter behind it; in a lambda CPython points
 * at what stands there instead. */
static bool fail_bare_star(dv_parser *p, const parameter_list *list, dv_range star) {
    bool comma = dv_parser_at(p, DV_TOKEN_COMMA);
    const dv_token *next = p->token + comma;
    if (next->kind == DV_TOKEN_STAR)
        return dv_parser_fail(p, next->at, "* argument may appear only once") != NULL;
    if (next->kind != list->closing && next->kind != DV_TOKEN_DOUBLE_STAR) {
        dv_parser_advance(p);
        return dv_parser_invalid(p) != NULL;
    }
    dv_range at = list->closing == DV_TOKEN_COLON ? p->token[comma].at : star;
    return dv_parser_fail(p, at, "named arguments must follow bare *") != NULL;
}

/* A second star; in front of nothing it is not one for CPython. */
static bool fail_second_star(dv_parser *p, const parameter_list *list, const dv_token *star) {
    if (star[1].kind == list->closing) return dv_parser_invalid(p) != NULL;
    return dv_parser_fail(p, star->at, "* argument may appear only once") != NULL;
}

static bool parse_star(dv_parser *p, parameter_list *list) {
    dv_range at = p->token->at;
    if (list->seen_star) return fail_second_star(p, list, p->token);
    list->seen_star = true;
    dv_parser_advance(p);
    if (dv_parser_at(p, DV_TOKEN_COMMA)) {
        if (dv_parser_peek(p) == DV_TOKEN_STAR) return fail_second_star(p, list, p->token + 1);
        return dv_parser_peek(p) == DV_TOKEN_NAME || fail_bare_star(p, list, at);
    }
    if (dv_parser_at(p, list->closing)) return fail_bare_star(p, list, at);
    if (parse_parameter_name(p, list, DV_PARAMETER_VARARGS) == NULL) return false;
    if (!dv_parser_at(p, DV_TOKEN_ASSIGN)) return true;
    return dv_parser_fail(p, p->token->at, "var-positional argument cannot have default value") !=
           NULL;
}

static bool parse_double_star(dv_parser *p, parameter_list *list) {
    dv_parser_advance(p);
    if (parse_parameter_name(p, list, DV_PARAMETER_VARKEYWORDS) == NULL) return false;
    if (dv_parser_at(p, DV_TOKEN_ASSIGN))
        return dv_parser_fail(p, p->token->at, "var-keyword argument cannot have default value") !=
               NULL;
    if (!dv_parser_accept(p, DV_TOKEN_COMMA) || dv_parser_at(p, list->closing)) return true;
    return dv_parser_fail(p, p->token->at, "arguments cannot follow var-keyword argument") != NULL;
}

/* `(a, b)` where a name is expected */
static bool fail_parenthesized(dv_parser *p, const parameter_list *list) {
    const dv_token *open = p->token, *at = open + 1;
    while (at->kind == DV_TOKEN_NAME || at->kind == DV_TOKEN_COMMA) at++;
    if (at->kind != DV_TOKEN_RIGHT_PAREN) return dv_parser_invalid(p) != NULL;
    const char *what =
        list->closing == DV_TOKEN_COLON ? "Lambda expression parameters" : "Function parameters";
    return dv_parser_fail(p, dv_range_join(open->at, at->at), "%s cannot be parenthesized", what) !=
           NULL;
}

static bool parse_parameter(dv_parser *p, parameter_list *list) {
    switch (p->token->kind) {
    case DV_TOKEN_SLASH: return parse_slash(p, list);
    case DV_TOKEN_STAR: return parse_star(p, list);
    case DV_TOKEN_DOUBLE_STAR: return parse_double_star(p, list);
    case DV_TOKEN_LEFT_PAREN: return fail_parenthesized(p, list);
    default: break;
    }
    dv_parameter_kind kind = list->seen_star ? DV_PARAMETER_KEYWORD_ONLY : DV_PARAMETER_POSITIONAL;
    dv_parameter *parameter = parse_parameter_name(p, list, kind);
    return parameter != NULL && parse_default(p, list, parameter);
}

/* Up to the closing token, which is left. */
static bool parse_parameters(dv_parser *p, dv_function *function, dv_token_kind closing) {
    parameter_list list = {function, 0, closing, false, false, false};
    while (!dv_parser_at(p, closing)) {
        if (!parse_parameter(p, &list)) return false;
        if (!dv_parser_accept(p, DV_TOKEN_COMMA)) break;
    }
    return dv_parser_at(p, closing) || dv_parser_invalid(p) != NULL;
}

/* ---- Lambda ---- */

/* Later passes use more of the C stack for a function than for an operator. */
enum { LAMBDA_DEPTH = 5 };

static bool set_lambda_body(dv_parser *p, dv_function *function, dv_expr *value) {
    dv_stmt *result = dv_parser_stmt(p, DV_STMT_RETURN, value->at);
    if (result == NULL) return false;
    result->as.expr = value;
    dv_block_builder body = {0};
    if (!dv_block_push(p->front, &body, result)) return false;
    function->body = body.list;
    return true;
}

dv_expr *dv_parser_lambda(dv_parser *p) {
    dv_range start = p->token->at;
    dv_function *function = dv_front_scratch(p->front, sizeof *function);
    if (function == NULL) return NULL;
    p->depth += LAMBDA_DEPTH;
    dv_parser_advance(p);
    if (!parse_parameters(p, function, DV_TOKEN_COLON)) return NULL;
    dv_parser_advance(p);
    dv_expr *value = dv_parser_expression(p);
    p->depth -= LAMBDA_DEPTH;
    if (value == NULL || !set_lambda_body(p, function, value)) return NULL;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_LAMBDA, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    function->at = expr->at;
    expr->as.function = function;
    return expr;
}

/* ---- def ---- */

static dv_stmt *parse_function(dv_parser *p, const dv_exprs *decorators) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_FUNCTION, start);
    dv_function *function = dv_front_scratch(p->front, sizeof *function);
    if (stmt == NULL || function == NULL) return NULL;
    dv_parser_advance(p);
    function->name = p->token->name;
    function->decorators = *decorators;
    if (!dv_parser_expect(p, DV_TOKEN_NAME)) return NULL;
    if (!dv_parser_force(p, DV_TOKEN_LEFT_PAREN, "(")) return NULL;
    if (!parse_parameters(p, function, DV_TOKEN_RIGHT_PAREN)) return NULL;
    dv_parser_advance(p);
    dv_range arrow = p->token->at;
    bool annotated = dv_parser_accept(p, DV_TOKEN_ARROW);
    if (annotated && !dv_parser_at_expression(p)) return dv_parser_fail(p, arrow, "expected ':'");
    if (annotated) function->returns = dv_parser_expression(p);
    if (annotated && function->returns == NULL) return NULL;
    if (!dv_parser_force(p, DV_TOKEN_COLON, ":")) return NULL;
    if (!dv_parser_block(p, "function definition", start.line, &function->body)) return NULL;
    stmt->at = function->at = dv_parser_range(p, start);
    stmt->as.function = function;
    return stmt;
}

/* ---- class ---- */

/* `class C(a for a in b)`: the brackets of a call make a generator expression, those of a class do
 * not; CPython points at the `for`. */
static bool fail_generator_base(dv_parser *p, const dv_exprs *bases) {
    const dv_expr *base = bases->count == 1 ? bases->items[0] : NULL;
    if (base == NULL || base->parenthesized || base->kind != DV_EXPR_COMPREHENSION ||
        base->op != DV_COMPREHENSION_GENERATOR)
        return false;
    const dv_range element = base->as.comprehension.element->at;
    const dv_token *at = p->token;
    while (at->at.line > element.end_line ||
           (at->at.line == element.end_line && at->at.column >= element.end_column))
        at--;
    while (at->kind != DV_TOKEN_FOR) at++;
    p->token = at;
    return dv_parser_invalid(p) == NULL;
}

static dv_stmt *parse_class(dv_parser *p, const dv_exprs *decorators) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_CLASS, start);
    dv_class *klass = dv_front_scratch(p->front, sizeof *klass);
    if (stmt == NULL || klass == NULL) return NULL;
    dv_parser_advance(p);
    klass->name = p->token->name;
    klass->decorators = *decorators;
    if (!dv_parser_expect(p, DV_TOKEN_NAME)) return NULL;
    dv_range open = p->token->at;
    if (dv_parser_accept(p, DV_TOKEN_LEFT_PAREN)) {
        dv_arguments arguments = {0};
        if (!dv_parser_arguments(p, open, &arguments)) return NULL;
        if (fail_generator_base(p, &arguments.positional)) return NULL;
        klass->bases = arguments.positional;
        klass->keywords = arguments.keywords;
        klass->keyword_count = arguments.keyword_count;
    }
    if (!dv_parser_header_end(p)) return NULL;
    if (!dv_parser_block(p, "class definition", start.line, &klass->body)) return NULL;
    stmt->at = dv_parser_range(p, start);
    stmt->as.klass = klass;
    return stmt;
}

dv_stmt *dv_parser_definition(dv_parser *p) {
    dv_expr_builder decorators = {0};
    while (dv_parser_accept(p, DV_TOKEN_AT)) {
        dv_expr *decorator = dv_parser_named(p);
        if (decorator == NULL || !dv_expr_push(p->front, &decorators, decorator)) return NULL;
        if (!dv_parser_expect(p, DV_TOKEN_NEWLINE)) return NULL;
    }
    switch (p->token->kind) {
    case DV_TOKEN_DEF: return parse_function(p, &decorators.list);
    case DV_TOKEN_CLASS: return parse_class(p, &decorators.list);
    case DV_TOKEN_ASYNC: return dv_parser_refuse(p, p->token->at, DV_REFUSE_ASYNC_DEF);
    default: return dv_parser_invalid(p);
    }
}
