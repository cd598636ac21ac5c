/* parser_target.h: what may be assigned to or deleted. */
#ifndef DV_LANG_PARSER_TARGET_H
#define DV_LANG_PARSER_TARGET_H

#include "lang/parser.h"

/* The target of a for loop or comprehension, up to `in`. */
dv_expr *dv_parser_for_target(dv_parser *p);

/* The target behind `as` of a with statement. */
dv_expr *dv_parser_with_target(dv_parser *p);

/* Checks the left side of an assignment, with the current token at `=`; `first` for the first one
 * of the statement. */
bool dv_parser_check_assigned(dv_parser *p, dv_expr *target, bool first);

/* Checks the targets of a del statement. */
bool dv_parser_check_deleted(dv_parser *p, dv_expr *target);

#endif
