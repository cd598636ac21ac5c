/* dataclasses.c: the module _dataclasses: how lang/lib/dataclasses.dl makes methods from text.
 *
 * Invariants
 *  1. The text is made by the library; what comes from a program in it are identifiers, which
 *     annotations and dataclasses.make_dataclass have checked.
 *  2. run_text serves library modules alone: for a program it would be exec(). */
#include <assert.h>
#include <string.h>

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/text/str.h"

static dv_value run_in(dv_vm *vm, dv_value module, dv_value text) {
    dv_value package = dv_retain(vm->known.empty_str);
    if (!dv_module_set_plain(vm, dv_as_module(module), package)) return DV_EMPTY;
    size_t size;
    char *utf8 = dv_str_utf8(vm, text, &size);
    if (!utf8) return DV_EMPTY;
    dv_value result = dv_module_run(vm, module, utf8, size);
    dv_heap_free(&vm->heap, utf8, size + 1);
    return result;
}

/* run_text(text, name): a new module of this name, in which the text has been run; nobody can
 * import it. */
static dv_value dataclasses_run_text(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_calling_library(vm))
        return dv_raise(vm, DV_E_RUNTIME_ERROR, "running text is not part of dl");
    assert(dv_is_str(args[0]) && dv_is_str(args[1]));
    dv_value module = dv_module_named(vm, args[1]);
    if (dv_is_empty(module)) return DV_EMPTY;
    dv_value result = run_in(vm, module, args[0]);
    if (!dv_is_empty(result)) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

static const dv_cfunction_def functions[] = {
    {.name = "run_text", .entry = dataclasses_run_text, .min = 2, .max = 2}, {.name = NULL}};

bool dv_dataclasses_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
