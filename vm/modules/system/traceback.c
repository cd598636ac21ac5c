/* traceback.c: the module _traceback: what modules of the library cannot see themselves: the
 * text that the machine prints for an entry of a traceback, and where a call came from. */
#include "modules/modules.h"

#include "core/upcall.h"
#include "types/exception/traceback.h"
#include "types/sequence/sequence.h"

static dv_value entry_of(dv_vm *vm, dv_value traceback,
                         dv_value (*what)(dv_vm *vm, dv_value traceback)) {
    if (dv_is_traceback(traceback)) return what(vm, traceback);
    return dv_raise(vm, DV_E_TYPE_ERROR, "expected traceback object, got '%T'", traceback);
}

static dv_value traceback_text(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return entry_of(vm, args[0], dv_traceback_text);
}

static dv_value traceback_source(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return entry_of(vm, args[0], dv_traceback_source);
}

static dv_value traceback_name(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return entry_of(vm, args[0], dv_traceback_name);
}

static dv_value traceback_caller(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t level;
    if (!dv_size_argument(vm, args[0], &level)) return DV_EMPTY;
    return dv_frame_caller_place(vm, level);
}

static const dv_cfunction_def functions[] = {
    {.name = "caller", .entry = traceback_caller, .min = 1, .max = 1},
    {.name = "name", .entry = traceback_name, .min = 1, .max = 1},
    {.name = "text", .entry = traceback_text, .min = 1, .max = 1},
    {.name = "source", .entry = traceback_source, .min = 1, .max = 1},
    {.name = NULL}};

bool dv_traceback_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
