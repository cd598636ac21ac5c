/* singleton.h: the types of None, Ellipsis and NotImplemented. */
#ifndef DV_TYPES_SINGLETON_H
#define DV_TYPES_SINGLETON_H

#include "core/vm.h"

extern const dv_type dv_none_type, dv_ellipsis_type, dv_notimplemented_type;

#endif
