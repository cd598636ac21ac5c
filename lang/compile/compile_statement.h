/* compile_statement.h: code for statements. */
#ifndef DV_LANG_COMPILE_STATEMENT_H
#define DV_LANG_COMPILE_STATEMENT_H

#include "lang/compile/compile.h"

bool dv_compile_block(dv_compiler *c, const dv_block *block);

#endif
