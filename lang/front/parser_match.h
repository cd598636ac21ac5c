/* parser_match.h: the match statement. */
#ifndef DV_LANG_PARSER_MATCH_H
#define DV_LANG_PARSER_MATCH_H

#include "lang/front/parser.h"

/* Does a match statement begin here?  As a name, match is an ordinary one. */
bool dv_parser_at_match(const dv_parser *p);

dv_stmt *dv_parser_match(dv_parser *p);

#endif
