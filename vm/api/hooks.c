/* hooks.c: what a VM asks its host (hooks.h): modules and their names.  Files are in
 * types/file/host.c, the clock in modules/system/time.c. */
#include "api/hooks.h"

#include "api/compile.h"
#include "api/compiled.h"
#include "types/exception/exception.h"
#include "types/text/str.h"

/* Modules ---------------------------------------------------------------------------------------
 */

/* The name is in the VM's memory, as the host gets it; false: raised. */
typedef struct host_name {
    char *text;
    size_t size;
} host_name;

static bool name_of(dv_vm *vm, dv_value name, host_name *out) {
    out->text = dv_str_utf8(vm, name, &out->size);
    return out->text != NULL;
}

static void free_name(dv_vm *vm, host_name *name) {
    dv_heap_free(&vm->heap, name->text, name->size + 1);
}

/* The ImportError that was raised gets the module's name. */
static void add_name(dv_vm *vm, dv_value name) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    if (!dv_exception_set(vm, error, "name", name)) dv_error_clear(vm);
    vm->error = error;
}

static bool refuse(dv_vm *vm, const char *format, dv_value name) {
    dv_raise(vm, DV_E_IMPORT_ERROR, format, name);
    add_name(vm, name);
    return false;
}

static bool may_import(dv_vm *vm, dv_value name) {
    host_name text;
    if (!name_of(vm, name, &text)) return false;
    const bool allowed = vm->asks.allow_import(vm->asks.import_context, text.text);
    free_name(vm, &text);
    return allowed || refuse(vm, "the host does not allow the import of %V", name);
}

/* The code of what the host has given, whose errors name it `filename`; NULL: raised. */
static dv_unit *unit_of(dv_vm *vm, const dynvm_module *given, const char *filename, dv_value name) {
    if (given->kind == DYNVM_MODULE_TEXT)
        return dv_compile(vm, given->code, given->code_size, filename);
    dv_unit *unit = dv_compiled_read(vm, given->code, given->code_size, filename);
    if (!unit && dv_error_is(vm, DV_E_IMPORT_ERROR)) add_name(vm, name);
    return unit;
}

/* False: raised. */
static bool take(dv_vm *vm, const dynvm_module *given, const host_name *name, dv_value shown,
                 dv_host_module *out) {
    const bool known = given->kind == DYNVM_MODULE_TEXT || given->kind == DYNVM_MODULE_COMPILED;
    if (!known || !given->code)
        return refuse(vm, "the host has given module %V in a form that is not known", shown);
    const char *filename = given->filename ? given->filename : name->text;
    out->file = given->filename ? dv_host_text(vm, filename) : DV_EMPTY;
    if (!dv_is_empty(vm->error)) return false;
    out->package = given->is_package != 0;
    dv_value called = given->filename ? DV_EMPTY : dv_str_printf(vm, "<%S>", shown);
    host_name bracketed = {NULL, 0};
    if (!dv_is_empty(called) && name_of(vm, called, &bracketed)) filename = bracketed.text;
    dv_release(vm, called);
    out->unit = dv_is_empty(vm->error) ? unit_of(vm, given, filename, shown) : NULL;
    if (bracketed.text) free_name(vm, &bracketed);
    if (out->unit) return true;
    dv_release(vm, out->file);
    return false;
}

static int ask_module(dv_vm *vm, dv_value name, dv_host_module *out) {
    dynvm_module given = {.size = sizeof given};
    host_name text;
    if (!name_of(vm, name, &text)) return -1;
    const int found = vm->asks.load_module(vm->asks.import_context, text.text, &given);
    int result = found < 0 ? -1 : found > 0;
    if (found < 0) refuse(vm, "the host cannot load module %V", name);
    if (found > 0 && !take(vm, &given, &text, name, out)) result = -1;
    if (found > 0 && given.release) given.release(vm->asks.import_context, &given);
    free_name(vm, &text);
    return result;
}

/* Configuring -----------------------------------------------------------------------------------
 */

_Static_assert((int)DYNVM_CLOCK_TIME == DV_CLOCK_TIME &&
                   (int)DYNVM_CLOCK_MONOTONIC == DV_CLOCK_MONOTONIC &&
                   (int)DYNVM_CLOCK_PROCESS == DV_CLOCK_PROCESS,
               "clocks have the same numbers inside");

void dv_hooks_set(dv_vm *vm, const dynvm_config *config) {
    vm->asks = (dv_host_hooks){
        .load_module = config->load_module,
        .allow_import = config->allow_import,
        .import_context = config->import_context,
        .open_file = config->open_file,
        .file_context = config->file_context,
        .clock = config->clock,
        .sleep = config->sleep,
        .clock_context = config->clock_context,
    };
    if (config->load_module) vm->hooks.import.ask_module = ask_module;
    if (config->allow_import) vm->hooks.import.may_import = may_import;
}
