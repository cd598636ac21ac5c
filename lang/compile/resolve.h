/* resolve.h: what the names of a module's scopes mean, and where comprehensions run. */
#ifndef DV_LANG_RESOLVE_H
#define DV_LANG_RESOLVE_H

#include "lang/compile/scope.h"

/* Gives all symbols their access and index; `first` heads the list of the module's scopes.  False:
 * a problem is recorded, or memory ran out. */
bool dv_scope_resolve(dv_front *front, dv_scope *first);

/* What a generator expression with a host was before dv_scope_outline. */
typedef struct dv_outline dv_outline;

/* Gives the generator expression, and what is in place in it, the meaning of the function that it
 * is without a host: its free variables begin with cells or values of the host's locals.  NULL: out
 * of memory.  dv_scope_restore takes it back. */
dv_outline *dv_scope_outline(dv_front *front, dv_scope *scope);
void dv_scope_restore(const dv_outline *outline);

#endif
