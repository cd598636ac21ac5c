/* compile_control.h: code for statements that direct control: if, loops, try, with, return. */
#ifndef DV_LANG_COMPILE_CONTROL_H
#define DV_LANG_COMPILE_CONTROL_H

#include "lang/compile/compile.h"

bool dv_compile_if(dv_compiler *c, const dv_stmt *stmt);
bool dv_compile_while(dv_compiler *c, const dv_stmt *stmt);
bool dv_compile_for(dv_compiler *c, const dv_stmt *stmt);
bool dv_compile_break(dv_compiler *c, const dv_stmt *stmt);
bool dv_compile_continue(dv_compiler *c, const dv_stmt *stmt);
bool dv_compile_return(dv_compiler *c, const dv_stmt *stmt);
bool dv_compile_with(dv_compiler *c, const dv_stmt *stmt);
bool dv_compile_try(dv_compiler *c, const dv_stmt *stmt);

#endif
