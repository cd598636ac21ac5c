/* compile_match.h: code for match statements. */
#ifndef DV_LANG_COMPILE_MATCH_H
#define DV_LANG_COMPILE_MATCH_H

#include "lang/compile/compile.h"

bool dv_compile_match(dv_compiler *c, const dv_stmt *stmt);

#endif
