/* parser_expression.h: operators, conditional expressions, lists of expressions. */
#ifndef DV_LANG_PARSER_EXPRESSION_H
#define DV_LANG_PARSER_EXPRESSION_H

#include "lang/front/parser.h"

/* expression: a conditional expression, a lambda, or anything that binds tighter */
dv_expr *dv_parser_expression(dv_parser *p);

/* an expression without `if` and lambda: what may stand behind `in` or `if` of a comprehension */
dv_expr *dv_parser_disjunction(dv_parser *p);

/* an operand of `|`: what may stand behind a star, or left of `in` in a for statement */
dv_expr *dv_parser_bitwise_or(dv_parser *p);

/* expression or `name := expression` */
dv_expr *dv_parser_named(dv_parser *p);

/* The same, but also `*operand`. */
dv_expr *dv_parser_star_named(dv_parser *p);

/* expression or `*operand` */
dv_expr *dv_parser_star_expression(dv_parser *p);

/* One or more expressions, starred ones too; commas make them a tuple. */
dv_expr *dv_parser_star_expressions(dv_parser *p);

/* What may stand right of an assignment: star expressions or a yield. */
dv_expr *dv_parser_value(dv_parser *p);

/* The current token is `yield`. */
dv_expr *dv_parser_yield(dv_parser *p);

#endif
