/* parser_target.h: what may be assigned to or deleted. */
#ifndef DV_LANG_PARSER_TARGET_H
#define DV_LANG_PARSER_TARGET_H

#include "lang/front/parser.h"

/* The target of a for loop or comprehension, up to `in`. */
dv_expr *dv_parser_for_target(dv_parser *p);

/* The target behind `as` of a with statement. */
dv_expr *dv_parser_with_target(dv_parser *p);

/* Check a target of an assignment or of a del statement. */
bool dv_parser_check_assigned(dv_parser *p, const dv_expr *target);
bool dv_parser_check_deleted(dv_parser *p, const dv_expr *target);

#endif
