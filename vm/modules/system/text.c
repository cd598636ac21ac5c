/* text.c: the module _text: how library modules in dl run text that they have made (dataclasses) or
 * that a program has given them (timeit, doctest).
 *
 * Invariants
 *  1. run_text serves library modules alone: for a program it would be exec().
 *  2. What comes from a program in a text that a library module makes are identifiers, which the
 *     module has checked, or the whole text is the program's. */
#include <assert.h>
#include <string.h>

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/text/str.h"

static dv_value new_module(dv_vm *vm, dv_value name) {
    dv_value module = dv_module_named(vm, name);
    if (dv_is_empty(module)) return DV_EMPTY;
    if (dv_module_set_plain(vm, dv_as_module(module), dv_retain(vm->known.empty_str)))
        return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

static bool run_in(dv_vm *vm, dv_value module, dv_value text, const char *filename, unsigned how) {
    size_t size;
    char *utf8 = dv_str_utf8(vm, text, &size);
    if (!utf8) return false;
    dv_value result = dv_module_run(vm, module, utf8, size, filename, how);
    dv_heap_free(&vm->heap, utf8, size + 1);
    dv_release(vm, result);
    return !dv_is_empty(result);
}

/* False: raised.  `given`: the text is the program's. */
static bool may_run(dv_vm *vm, bool given) {
    if (!dv_calling_library(vm))
        dv_raise(vm, DV_E_RUNTIME_ERROR, "running text is not part of dl");
    else if (given && vm->sandboxed)
        dv_raise(vm, DV_E_RUNTIME_ERROR, "running text is not allowed in a sandbox");
    return dv_is_empty(vm->error);
}

/* run_text(text, module, filename="<string>", how=0): the module, in which the text has been run. A
 * name makes a new module, which nobody can import.  `how` has the bits of dv_compile_how. */
static dv_value text_run_text(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!may_run(vm, count > 2)) return DV_EMPTY;
    assert(dv_is_str(args[0]) && (dv_is_str(args[1]) || dv_is_module(args[1])));
    size_t size = 0;
    char *filename = count > 2 ? dv_str_utf8(vm, args[2], &size) : NULL;
    if (count > 2 && !filename) return DV_EMPTY;
    dv_value module = dv_is_str(args[1]) ? new_module(vm, args[1]) : dv_retain(args[1]);
    bool good =
        !dv_is_empty(module) && run_in(vm, module, args[0], filename ? filename : "<string>",
                                       count > 3 ? (unsigned)dv_as_int(args[3]) : 0);
    if (filename) dv_heap_free(&vm->heap, filename, size + 1);
    if (good) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

/* check_text(text, filename): SyntaxError where the text cannot be run. */
static dv_value text_check_text(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!may_run(vm, true)) return DV_EMPTY;
    assert(dv_is_str(args[0]) && dv_is_str(args[1]));
    size_t size, name_size;
    char *text = dv_str_utf8(vm, args[0], &size);
    char *filename = text ? dv_str_utf8(vm, args[1], &name_size) : NULL;
    dv_unit *unit = filename ? vm->hooks.import.compile_text(vm, text, size, filename, 0) : NULL;
    if (unit) unit->release_arena(unit->context, unit->arena);
    if (filename) dv_heap_free(&vm->heap, filename, name_size + 1);
    if (text) dv_heap_free(&vm->heap, text, size + 1);
    return unit ? DV_NONE : DV_EMPTY;
}

/* evaluate_literal(text): for ast.literal_eval, also in a sandbox. */
static dv_value text_evaluate_literal(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_evaluate_literal(vm, args[0]);
}

static const dv_cfunction_def functions[] = {
    {.name = "check_text", .entry = text_check_text, .min = 2, .max = 2},
    {.name = "evaluate_literal", .entry = text_evaluate_literal, .min = 1, .max = 1},
    {.name = "run_text", .entry = text_run_text, .min = 2, .max = 4},
    {.name = NULL}};

bool dv_text_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
