/* parser_function.h: parameter lists, lambdas, function and class definitions. */
#ifndef DV_LANG_PARSER_FUNCTION_H
#define DV_LANG_PARSER_FUNCTION_H

#include "lang/front/parser.h"

/* The current token is `lambda`. */
dv_expr *dv_parser_lambda(dv_parser *p);

/* The current token is `def`, `class`, or `@` of a decorator. */
dv_stmt *dv_parser_definition(dv_parser *p);

#endif
