/* table_buffer.c: the stable table: typed buffers (table.h, types/binary/buffer.h).
 *
 * Invariant 1: the structs of the ABI have the layout of the machine's. */
#include "plugin/table.h"

#include "types/binary/buffer.h"

_Static_assert(offsetof(dvx_buffer, data) == offsetof(dv_buffer, data) &&
                   offsetof(dvx_buffer, element) == offsetof(dv_buffer, element) &&
                   offsetof(dvx_buffer, dimensions) == offsetof(dv_buffer, dimensions) &&
                   offsetof(dvx_buffer, read_only) == offsetof(dv_buffer, read_only) &&
                   offsetof(dvx_buffer, exports) == offsetof(dv_buffer, exports) &&
                   offsetof(dvx_buffer, axes) == offsetof(dv_buffer, axes) &&
                   sizeof(dvx_buffer) == sizeof(dv_buffer) && sizeof(dvx_axis) == sizeof(dv_axis) &&
                   offsetof(dvx_axis, stride) == offsetof(dv_axis, stride),
               "a buffer of an extension is one of the machine");
_Static_assert(offsetof(dvx_view, owner) == offsetof(dv_view, owner) &&
                   sizeof(dvx_view) == sizeof(dv_view),
               "a view of an extension is one of the machine");
_Static_assert((int)DVX_MOST_AXES == (int)DV_MOST_AXES && (int)DVX_FLOAT64 == (int)DV_FLOAT64 &&
                   (int)DVX_INT32 == (int)DV_INT32 && (int)DVX_OTHER_ITEMS == (int)DV_OTHER_ITEMS,
               "elements are numbered alike");

bool dv_api_buffer_get(dvx_vm *vm, dvx_value v, bool writable, dvx_view *view) {
    view->owner = DV_EMPTY;
    return dv_api_given(vm, v) && dv_view_get(vm, v, writable, (dv_view *)(void *)view);
}

void dv_api_buffer_release(dvx_vm *vm, dvx_view *view) {
    dv_view_release(vm, (dv_view *)(void *)view);
}
