/* resolve.h: what the names of a module's scopes mean, and where comprehensions run. */
#ifndef DV_LANG_RESOLVE_H
#define DV_LANG_RESOLVE_H

#include "lang/scope.h"

/* Gives all symbols their access and index; `first` heads the list of the module's scopes.  False:
 * a problem is recorded, or memory ran out. */
bool dv_scope_resolve(dv_front *front, dv_scope *first);

#endif
