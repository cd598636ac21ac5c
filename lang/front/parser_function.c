/* parser_function.c: parameter lists and definitions (parser_function.h). */
#include "lang/front/parser_function.h"

#include "lang/front/parser_display.h"
#include "lang/front/parser_expression.h"
#include "lang/front/parser_statement.h"

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
    if (annotated)
        parameter->annotation =
            kind == DV_PARAMETER_VARARGS ? dv_parser_star_expression(p) : dv_parser_expression(p);
    if (annotated && parameter->annotation == NULL) return NULL;
    parameter->at = dv_parser_range(p, parameter->at);
    return parameter;
}

static bool parse_default(dv_parser *p, parameter_list *list, dv_parameter *parameter) {
    if (!dv_parser_accept(p, DV_TOKEN_ASSIGN)) {
        bool required = parameter->kind == DV_PARAMETER_POSITIONAL && list->seen_default;
        return !required || dv_parser_invalid(p) != NULL;
    }
    list->seen_default = list->seen_default || parameter->kind == DV_PARAMETER_POSITIONAL;
    parameter->standard = dv_parser_expression(p);
    return parameter->standard != NULL;
}

static bool parse_slash(dv_parser *p, parameter_list *list) {
    if (list->seen_slash || list->seen_star || list->function->parameter_count == 0)
        return dv_parser_invalid(p) != NULL;
    for (uint32_t i = 0; i < list->function->parameter_count; i++)
        list->function->parameters[i].kind = DV_PARAMETER_POSITIONAL_ONLY;
    list->seen_slash = true;
    dv_parser_advance(p);
    return true;
}

static bool parse_star(dv_parser *p, parameter_list *list) {
    if (list->seen_star) return dv_parser_invalid(p) != NULL;
    list->seen_star = true;
    dv_parser_advance(p);
    if (dv_parser_at(p, DV_TOKEN_COMMA))
        return dv_parser_peek(p) == DV_TOKEN_NAME || dv_parser_invalid(p) != NULL;
    return parse_parameter_name(p, list, DV_PARAMETER_VARARGS) != NULL;
}

/* Nothing may stand behind it but a comma. */
static bool parse_double_star(dv_parser *p, parameter_list *list) {
    dv_parser_advance(p);
    if (parse_parameter_name(p, list, DV_PARAMETER_VARKEYWORDS) == NULL) return false;
    if (!dv_parser_accept(p, DV_TOKEN_COMMA)) return true;
    return dv_parser_at(p, list->closing) || dv_parser_invalid(p) != NULL;
}

static bool parse_parameter(dv_parser *p, parameter_list *list) {
    switch (p->token->kind) {
    case DV_TOKEN_SLASH: return parse_slash(p, list);
    case DV_TOKEN_STAR: return parse_star(p, list);
    case DV_TOKEN_DOUBLE_STAR: return parse_double_star(p, list);
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
    if (!dv_parser_expect(p, DV_TOKEN_LEFT_PAREN)) return NULL;
    if (!parse_parameters(p, function, DV_TOKEN_RIGHT_PAREN)) return NULL;
    dv_parser_advance(p);
    bool annotated = dv_parser_accept(p, DV_TOKEN_ARROW);
    if (annotated) function->returns = dv_parser_expression(p);
    if (annotated && function->returns == NULL) return NULL;
    if (!dv_parser_block(p, &function->body)) return NULL;
    stmt->at = function->at = dv_parser_range(p, start);
    stmt->as.function = function;
    return stmt;
}

/* ---- class ---- */

/* `class C(a for a in b)`: the brackets of a call make a generator expression, those of a class do
 * not. */
static bool is_bare_generator(const dv_exprs *bases) {
    const dv_expr *base = bases->count == 1 ? bases->items[0] : NULL;
    return base != NULL && !base->parenthesized && base->kind == DV_EXPR_COMPREHENSION &&
           base->op == DV_COMPREHENSION_GENERATOR;
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
        if (is_bare_generator(&arguments.positional)) return dv_parser_invalid(p);
        klass->bases = arguments.positional;
        klass->keywords = arguments.keywords;
        klass->keyword_count = arguments.keyword_count;
    }
    if (!dv_parser_block(p, &klass->body)) return NULL;
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
