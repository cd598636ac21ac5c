/* api.c: creating VMs and running programs in them (dynvm.h). */
#include "dynvm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/compile.h"
#include "api/compiled.h"
#include "api/error.h"
#include "api/handle.h"
#include "api/hooks.h"
#include "api/path.h"
#include "api/setup.h"
#include "api/typed.h"
#include "core/native.h"
#include "core/upcall.h"
#include "core/work.h"
#include "inspect/assembly.h"
#include "inspect/dis.h"
#include "inspect/explain.h"
#include "inspect/observe.h"
#include "inspect/profile.h"
#include "inspect/stats.h"
#include "inspect/trace.h"
#include "inspect/window/steps.h"
#include "inspect/window/window.h"
#include "inspect/where.h"
#include "run/call.h"
#include "import/import.h"
#include "run/program.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/exception/hook.h"
#include "types/file/host.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

#define DEFAULT_RECURSION_LIMIT 1000

/* Creating --------------------------------------------------------------------------------------
 */

/* The caller's configuration may be an older, shorter or a newer, longer one. */
static dynvm_config read_config(const dynvm_config *config) {
    dynvm_config known = DYNVM_CONFIG;
    if (config) {
        size_t size = config->size < sizeof known ? config->size : sizeof known;
        memcpy(&known, config, size);
    }
    return known;
}

static bool choose_form(dynvm_form wanted, dv_form *form) {
    switch (wanted) {
    case DYNVM_FORM_DEFAULT: *form = DV_HAVE_TAIL ? DV_FORM_TAIL : DV_FORM_TRAMPOLINE; return true;
    case DYNVM_FORM_TAIL: *form = DV_FORM_TAIL; return DV_HAVE_TAIL;
    case DYNVM_FORM_TRAMPOLINE: *form = DV_FORM_TRAMPOLINE; return DV_HAVE_TRAMPOLINE;
    case DYNVM_FORM_MIXED: *form = DV_FORM_MIXED; return DV_HAVE_TAIL && DV_HAVE_TRAMPOLINE;
    }
    return false;
}

static dv_level choose_level(dynvm_level wanted) {
    switch (wanted) {
    case DYNVM_LEVEL_GENERIC: return DV_LEVEL_GENERIC;
    case DYNVM_LEVEL_INCA: return DV_LEVEL_INCA;
    default: return DV_LEVEL_NAMA;
    }
}

static void *c_library_resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

/* -X name=text, or name alone. */
static bool take_x_option(dv_vm *vm, const char *option) {
    static const char digits[] = "int_max_str_digits=";
    const char *sign = strchr(option, '=');
    if (strncmp(option, digits, sizeof digits - 1) == 0) vm->sys.most_digits = atoi(sign + 1);
    dv_value name = dv_str_new(vm, option, sign ? (size_t)(sign - option) : strlen(option));
    dv_value text = sign ? dv_host_text(vm, sign + 1) : DV_TRUE;
    bool good =
        !dv_is_empty(name) && !dv_is_empty(text) && dv_dict_set(vm, vm->sys.x_options, name, text);
    dv_release(vm, name);
    dv_release(vm, text);
    return good;
}

static bool take_options(dv_vm *vm, const dynvm_config *config) {
    if (config->warn_options) vm->sys.warn_options = dv_list_new(vm, NULL, 0);
    for (const char *const *at = config->warn_options; at && *at; at++) {
        dv_value text = dv_is_empty(vm->error) ? dv_host_text(vm, *at) : DV_EMPTY;
        if (!dv_is_empty(text)) (void)!dv_list_append(vm, vm->sys.warn_options, text);
        dv_release(vm, text);
    }
    if (config->x_options) vm->sys.x_options = dv_dict_new(vm);
    for (const char *const *at = config->x_options; at && *at && dv_is_empty(vm->error); at++)
        if (!take_x_option(vm, *at)) return false;
    return dv_is_empty(vm->error);
}

/* Limits as the machine has them. */
static int64_t units_of(uint64_t instructions) {
    return instructions && instructions < INT64_MAX ? (int64_t)instructions : INT64_MAX;
}

static int64_t nanoseconds_of(double seconds) {
    const double most = 1e9; /* some thirty years */
    return seconds > 0 && seconds < most ? (int64_t)(seconds * 1e9) : INT64_MAX;
}

static bool start(dynvm_vm *self, const dynvm_config *config, dv_form form) {
    dv_vm_config internal = {
        .resize = self->resize,
        .resize_context = self->resize_context,
        .memory_limit = config->memory_limit ? config->memory_limit : SIZE_MAX,
        .region_limit = config->region_limit,
        .c_stack_size = config->c_stack_size,
        .recursion_limit =
            config->recursion_limit ? config->recursion_limit : DEFAULT_RECURSION_LIMIT,
        .level = choose_level(config->level),
        .nama = config->nama == DYNVM_NAMA_SEQUENCE ? DV_NAMA_SEQUENCE
                : config->nama == DYNVM_NAMA_LOOP   ? DV_NAMA_LOOP
                : config->nama == DYNVM_NAMA_INLINE ? DV_NAMA_INLINE
                                                    : DV_NAMA_VIRTUAL,
        .form = form,
        .stress = {.quicken_at_once = config->stress & DYNVM_STRESS_QUICKEN,
                   .break_assumptions = config->stress & DYNVM_STRESS_ASSUME,
                   .no_maps = config->stress & DYNVM_STRESS_NO_MAPS,
                   .no_versions = config->stress & DYNVM_STRESS_NO_VERSIONS,
                   .fail_guard = config->stress_guards,
                   .take_exit = config->stress_exits},
        .no_native = (config->stress & DYNVM_STRESS_PORTABLE) || config->counting,
        .plain_extensions = config->extensions & DYNVM_EXTENSIONS_PLAIN,
        .output = config->output,
        .error_output = config->error_output,
        .output_bytes = config->output_bytes,
        .error_bytes = config->error_bytes,
        .extension_output = config->extension_output,
        .watch_extensions = config->extensions,
        .output_context = config->output_context,
        .hash_seed = config->hash_seed,
    };
    self->vm = dv_vm_new(&internal);
    if (!self->vm) return false;
    self->vm->host = self;
    self->check_handles = config->check_handles;
    dv_native_attach(self->vm);
    self->vm->sandboxed = config->sandboxed != 0;
    if (self->vm->sandboxed &&
        !dv_host_random(&self->vm->address_key, sizeof self->vm->address_key))
        return false;
    self->vm->extensions.foreign = config->foreign != 0;
    self->vm->evaluates_nothing = config->evaluates_nothing != 0;
    self->vm->sys.closed = config->closed;
    memcpy(self->vm->sys.flags, config->flags, sizeof self->vm->sys.flags);
    self->vm->sys.flags[DV_FLAG_HASH_RANDOMIZATION] = config->hash_seed != 0;
    self->vm->streams.input = config->input;
    self->vm->streams.input_context = config->input_context;
    dv_hooks_set(self->vm, config);
    self->vm->work.counts_calls =
        config->resumable || config->instruction_limit || config->time_limit != 0;
    self->resumable = config->resumable != 0;
    if (config->counting && !dv_profile_start(self->vm)) return false;
    if (!dv_setup(self->vm)) return false;
    if (dv_path_setup(self->vm, config->extension_path) && take_options(self->vm, config)) {
        dv_work_set_limits(self->vm, units_of(config->instruction_limit),
                           nanoseconds_of(config->time_limit));
        return true;
    }
    dv_teardown(self->vm);
    return false;
}

dynvm_vm *dynvm_create(const dynvm_config *given) {
    dynvm_config config = read_config(given);
    dv_form form;
    /* Stress of guards and exits is compiled into this form alone (run/engine.h). */
    const bool fails = config.stress_guards || config.stress_exits;
    if (config.counting || (fails && DV_HAVE_TRAMPOLINE && config.form == DYNVM_FORM_DEFAULT))
        config.form = DYNVM_FORM_TRAMPOLINE;
    if (!choose_form(config.form, &form)) return NULL;
    dynvm_resize resize = config.resize ? config.resize : c_library_resize;
    dynvm_vm *self = resize(config.resize_context, NULL, 0, sizeof *self);
    if (!self) return NULL;
    *self =
        (dynvm_vm){.resize = resize, .resize_context = config.resize_context, .failure = DV_EMPTY};
    dv_handles_begin(self);
    if (start(self, &config, form)) return self;
    if (self->vm) dv_profile_free(self->vm);
    if (self->vm) dv_vm_free(self->vm);
    resize(config.resize_context, self, sizeof *self, 0);
    return NULL;
}

void dynvm_destroy(dynvm_vm *self) {
    if (!self) return;
    dv_native_attach(self->vm);
    dv_program_drop(self->vm);
    dv_handles_end(self);
    dv_teardown(self->vm);
    dv_handles_free(self);
    dv_profile_free(self->vm);
    dv_vm_free(self->vm);
    dynvm_error_free(self->error);
    self->resize(self->resize_context, self, sizeof *self, 0);
}

void dynvm_set_user(dynvm_vm *self, void *user) { self->user = user; }
void *dynvm_user(const dynvm_vm *self) { return self->user; }

/* Running ---------------------------------------------------------------------------------------
 */

/* What SystemExit's code means: None 0, an int itself, anything else is printed and means 1. */
static int exit_status_of(dv_vm *vm, dv_value code) {
    int64_t status;
    if (dv_is_none(code)) return 0;
    if (dv_is_integral(code)) return dv_int_to_int64(code, &status) ? (int)status : -1;
    dv_value text = dv_to_str(vm, code);
    dv_error_clear(vm);
    dv_value line = dv_is_empty(text) ? dv_str_char(vm, '\n') : dv_str_printf(vm, "%S\n", text);
    if (!dv_is_empty(line)) dv_hook_write(vm, line);
    dv_error_clear(vm);
    dv_release(vm, text);
    dv_release(vm, line);
    return 1;
}

/* vm->error is a SystemExit. */
static dynvm_status take_exit(dynvm_vm *self) {
    dv_vm *vm = self->vm;
    dv_value exception = vm->error;
    vm->error = DV_EMPTY;
    dv_value name = dv_str_intern(vm, "code", 4);
    dv_value code = dv_is_empty(name) ? DV_NONE : dv_get_attribute(vm, exception, name);
    if (dv_is_empty(code)) dv_error_clear(vm);
    self->exit_status = dv_is_empty(code) ? 1 : exit_status_of(vm, code);
    dv_release(vm, name);
    dv_release(vm, code);
    dv_release(vm, exception);
    return DYNVM_EXIT;
}

/* What vm->error means for the caller. */
static dynvm_status finish(dynvm_vm *self) {
    dv_vm *vm = self->vm;
    if (dv_is_empty(vm->error)) return DYNVM_OK;
    dv_error_tell_stop(vm);
    if (dv_error_is(vm, DV_E_SYSTEM_EXIT)) return take_exit(self);
    dv_value shown = dv_hook_uncaught(vm);
    if (dv_error_is(vm, DV_E_SYSTEM_EXIT)) return take_exit(self);
    self->exit_status = 1;
    self->error = dv_error_take(vm, shown);
    return self->error ? DYNVM_ERROR : DYNVM_NO_MEMORY;
}

static void begin(dynvm_vm *self) {
    dv_native_attach(self->vm);
    dv_work_begin_run(self->vm);
    dynvm_error_free(self->error);
    self->error = NULL;
    dv_value failure = self->failure;
    self->failure = DV_EMPTY;
    dv_release(self->vm, failure);
    self->exit_status = 0;
}

/* The same where a program has ended: what came too late for it is not lost. */
static dynvm_status finish_program(dynvm_vm *self) {
    dv_vm *vm = self->vm;
    if (dv_is_empty(vm->error) && vm->fp == vm->stack && dv_poll_interrupt(vm)) return DYNVM_OK;
    return finish(self);
}

static dynvm_status run_unit(dynvm_vm *self, dv_unit *unit) {
    if (unit) dv_release(self->vm, dv_run_unit(self->vm, unit, self->vm->main));
    return finish_program(self);
}

/* Runs the main script of a directory, as Python does. */
static dynvm_status run_directory(dynvm_vm *self, const char *path) {
    char script[DV_LONGEST_PATH];
    if (!dv_path_main(path, script)) {
        dv_raise(self->vm, DV_E_IMPORT_ERROR, "can't find '__main__' module in '%s'", path);
        return finish(self);
    }
    bool ready = dv_path_begin_directory(self->vm, path, script);
    return run_unit(self, ready ? dv_compile_file(self->vm, script) : NULL);
}

/* The path by which a program knows its file: in a sandboxed VM as the host gave it. */
static const char *program_path(const dynvm_vm *self, const char *path,
                                char buffer[DV_LONGEST_PATH]) {
    return self->vm->sandboxed ? path : dv_absolute_path(path, buffer);
}

dynvm_status dynvm_run_file(dynvm_vm *self, const char *path) {
    begin(self);
    char absolute[DV_LONGEST_PATH];
    path = program_path(self, path, absolute);
    if (dv_path_is_directory(path)) return run_directory(self, path);
    bool ready = dv_path_begin(self->vm, path);
    return run_unit(self, ready ? dv_compile_file(self->vm, path) : NULL);
}

dynvm_status dynvm_run_text(dynvm_vm *self, const char *text, size_t size, const char *filename) {
    begin(self);
    bool ready = dv_path_begin(self->vm, NULL);
    return run_unit(self, ready ? dv_compile(self->vm, text, size, filename) : NULL);
}

dynvm_status dynvm_run_compiled(dynvm_vm *self, const void *bytes, size_t size) {
    begin(self);
    bool ready = dv_path_begin(self->vm, NULL);
    return run_unit(self, ready ? dv_compiled_read(self->vm, bytes, size, "<bytes>") : NULL);
}

dynvm_status dynvm_compile_file(dynvm_vm *self, const char *path, dynvm_output output,
                                void *context) {
    begin(self);
    char absolute[DV_LONGEST_PATH];
    path = dv_absolute_path(path, absolute); /* as tracebacks name it */
    if (!dv_compiled_write_file(self->vm, path, output, context)) return finish(self);
    return DYNVM_OK;
}

dynvm_status dynvm_compile_text(dynvm_vm *self, const char *text, size_t size, const char *filename,
                                dynvm_output output, void *context) {
    begin(self);
    if (!dv_compiled_write(self->vm, text, size, filename, output, context)) return finish(self);
    return DYNVM_OK;
}

dynvm_status dynvm_run_interactive(dynvm_vm *self, const char *text, size_t size) {
    begin(self);
    bool ready = dv_path_begin(self->vm, NULL);
    return run_unit(self, ready ? dv_compile_interactive(self->vm, text, size) : NULL);
}

/* Running in slices ----------------------------------------------------------------------------
 */

static dynvm_status begin_unit(dynvm_vm *self, dv_unit *unit) {
    if (unit && dv_program_begin(self->vm, unit, self->vm->main)) return DYNVM_PAUSED;
    return finish(self);
}

/* Before a program is begun: with its file's directory in sys.path, or NULL.  False: raised. */
static bool may_begin(dynvm_vm *self, const char *path) {
    begin(self);
    if (self->resumable) return dv_path_begin(self->vm, path);
    dv_raise(self->vm, DV_E_RUNTIME_ERROR, "this machine was not made resumable");
    return false;
}

dynvm_status dynvm_begin_file(dynvm_vm *self, const char *path) {
    char absolute[DV_LONGEST_PATH];
    path = program_path(self, path, absolute);
    return begin_unit(self, may_begin(self, path) ? dv_compile_file(self->vm, path) : NULL);
}

dynvm_status dynvm_begin_text(dynvm_vm *self, const char *text, size_t size, const char *filename) {
    bool ready = may_begin(self, NULL);
    return begin_unit(self, ready ? dv_compile(self->vm, text, size, filename) : NULL);
}

dynvm_status dynvm_resume(dynvm_vm *self, uint64_t budget) {
    begin(self);
    const int64_t work = budget < INT64_MAX ? (int64_t)budget : INT64_MAX;
    return dv_program_resume(self->vm, work) > 0 ? DYNVM_PAUSED : finish_program(self);
}

dynvm_status dynvm_abandon(dynvm_vm *self) {
    begin(self);
    if (dv_program_may_change(self->vm)) dv_program_drop(self->vm);
    return finish(self);
}

uint64_t dynvm_instructions(const dynvm_vm *self) { return dv_work_done(self->vm); }

void dynvm_prompts(dynvm_vm *self, char *first, char *next, size_t size) {
    begin(self);
    if (!self->typed) self->typed = dv_typed_begin(self->vm);
    if (!self->typed) dv_error_clear(self->vm);
    dv_typed_prompts(self->vm, first, next, size);
}

dynvm_status dynvm_complete(dynvm_vm *self, const char *text, dynvm_found found, void *context) {
    begin(self);
    if (dv_typed_complete(self->vm, text, found, context)) return DYNVM_OK;
    self->error = dv_error_take(self->vm, DV_EMPTY); /* also an exit: only the completion ends */
    return self->error ? DYNVM_ERROR : DYNVM_NO_MEMORY;
}

/* sys.argv[0] of a module that runs as the main program. */
static bool set_program(dv_vm *vm, dv_value file) {
    dv_list *arguments = dv_as_list(vm->sys.arguments);
    if (arguments->count == 0) return dv_list_append(vm, vm->sys.arguments, file);
    dv_value old = arguments->items[0];
    arguments->items[0] = dv_retain(file);
    dv_release(vm, old);
    return true;
}

/* Imports a library module in dl and calls its _main(), if it has one. */
static dynvm_status run_library(dynvm_vm *self, const char *name) {
    char text[160];
    int size = snprintf(text, sizeof text, "import %s\nif hasattr(%s, '_main'): %s._main()\n", name,
                        name, name);
    return run_unit(self, dv_compile(self->vm, text, (size_t)size, "<string>"));
}

dynvm_status dynvm_run_module(dynvm_vm *self, const char *name) {
    begin(self);
    dv_vm *vm = self->vm;
    dv_value text = dv_path_begin(vm, NULL) ? dv_host_text(vm, name) : DV_EMPTY;
    dv_value file = dv_is_empty(text) ? DV_EMPTY : dv_import_main(vm, text);
    dv_release(vm, text);
    if (dv_is_none(file)) return run_library(self, name);
    size_t size = 0;
    char *path = dv_is_empty(file) || !set_program(vm, file) ? NULL : dv_str_utf8(vm, file, &size);
    dv_release(vm, file);
    dynvm_status status = run_unit(self, path ? dv_compile_file(vm, path) : NULL);
    if (path) dv_heap_free(&vm->heap, path, size + 1);
    return status;
}

dynvm_status dynvm_set_arguments(dynvm_vm *self, int count, const char *const *arguments) {
    begin(self);
    dv_vm *vm = self->vm;
    dv_list *list = dv_as_list(vm->sys.arguments);
    while (list->count > 0) dv_release(vm, list->items[--list->count]);
    for (int i = 0; i < count; i++) {
        dv_value text = dv_host_text(vm, arguments[i]);
        bool added = !dv_is_empty(text) && dv_list_append(vm, vm->sys.arguments, text);
        dv_release(vm, text);
        if (!added) break;
    }
    return finish(self);
}

/* Inspecting ------------------------------------------------------------------------------------
 */

/* The caller's report may be shorter or longer, as its configuration. */
static dynvm_report read_report(const dynvm_report *report) {
    dynvm_report known = DYNVM_REPORT;
    if (report) memcpy(&known, report, report->size < sizeof known ? report->size : sizeof known);
    return known;
}

static dv_page page_of(const dynvm_report *report, dynvm_output output, void *context) {
    enum { DEFAULT_TOP = 20 };
    const dynvm_report known = read_report(report);
    return (dv_page){.out = output,
                     .context = context,
                     .function = known.function,
                     .text = {known.text, (uint32_t)known.text_size},
                     .top = known.top ? known.top : DEFAULT_TOP,
                     .json = known.json,
                     .coloured = known.coloured && !known.json,
                     .assembly = known.assembly,
                     .where = known.where};
}

static bool list(dv_vm *vm, const dv_unit *unit, const dv_page *page) {
    return dv_inspect_dis(vm, unit, true, page);
}

/* Runs the unit, whose own output goes where it always goes, and reports on what became of it. */
static bool report_after_run(dv_vm *vm, dv_unit *unit, const dv_page *page,
                             bool (*report)(dv_vm *, const dv_unit *, const dv_page *)) {
    dv_object *top = NULL;
    unit->references++;
    dv_release(vm, dv_inspect_run(vm, unit, vm->main, &top));
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    bool found = report(vm, unit, page);
    if (dv_is_empty(error))
        error = vm->error;
    else
        dv_error_clear(vm);
    vm->error = DV_EMPTY;
    if (top) dv_release_object(vm, top);
    vm->error = error;
    return found;
}

static dynvm_status refuse_counts(dynvm_vm *self) {
    dv_raise(self->vm, DV_E_RUNTIME_ERROR, "this machine does not count what it executes");
    return finish(self);
}

/* The program's modules are found beside the file that the text says it comes from. */
static bool begin_assembled(dv_vm *vm, const dv_unit *unit) {
    char path[DV_LONGEST_PATH];
    const dv_text name = unit->filename;
    if (name.size >= sizeof path) return dv_path_begin(vm, NULL);
    memcpy(path, name.data, name.size);
    path[name.size] = 0;
    return dv_path_begin(vm, path);
}

/* The unit of a text, a script or assembly; NULL: raised. */
static dv_unit *unit_of(dv_vm *vm, const char *path, const dynvm_report *report) {
    const size_t size = strlen(path);
    if (report->text)
        return dv_path_begin(vm, NULL) ? dv_compile(vm, report->text, report->text_size, path)
                                       : NULL;
    if (size < 4 || strcmp(path + size - 4, ".dla") != 0 || vm->sandboxed)
        return dv_path_begin(vm, path) ? dv_compile_file(vm, path) : NULL;
    dv_unit *unit = dv_assemble_file(vm, path);
    if (!unit || begin_assembled(vm, unit)) return unit;
    unit->release_arena(unit->context, unit->arena);
    return NULL;
}

dynvm_status dynvm_disassemble(dynvm_vm *self, const char *path, int after_run,
                               const dynvm_report *report, dynvm_output output, void *context) {
    begin(self);
    dv_vm *vm = self->vm;
    dv_page page = page_of(report, output, context);
    const dynvm_report known = read_report(report);
    if (!path && known.where) {
        dv_where_all(&page);
        return finish(self);
    }
    dv_unit *unit = unit_of(vm, path, &known);
    if (!unit) return finish(self);
    vm->keeps_facts |= known.facts != 0;
    bool found = after_run ? report_after_run(vm, unit, &page, list)
                           : dv_inspect_dis(vm, unit, false, &page);
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    if (!found && dv_is_empty(vm->error))
        dv_raise(vm, DV_E_LOOKUP_ERROR, "there is no function '%s'",
                 page.function ? page.function : "");
    return finish(self);
}

dynvm_status dynvm_view(dynvm_vm *self, const char *path, const dynvm_report *report,
                        dynvm_output output, void *context) {
    begin(self);
    dv_vm *vm = self->vm;
    dv_page page = page_of(report, output, context);
    const dynvm_report known = read_report(report);
    if (!dv_profile_of(vm)) return refuse_counts(self);
    dv_unit *unit = unit_of(vm, path, &known);
    if (!unit) return finish(self);
    const uint32_t each = known.steps ? known.steps : DV_STEPS_USUAL;
    if (known.step && !dv_steps_begin(vm, unit, known.step, each))
        dv_raise_memory(vm);
    else if (!report_after_run(vm, unit, &page, dv_inspect_window) && dv_is_empty(vm->error))
        dv_raise_memory(vm);
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    return finish(self);
}

dynvm_status dynvm_assembly(dynvm_vm *self, const char *path, dynvm_output output, void *context) {
    begin(self);
    char absolute[DV_LONGEST_PATH];
    path = dv_absolute_path(path, absolute); /* tracebacks are to be the same */
    dv_unit *unit = dv_path_begin(self->vm, path) ? dv_compile_file(self->vm, path) : NULL;
    if (!unit) return finish(self);
    dv_assembly_write(NULL, unit, output, context);
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    return finish(self);
}

dynvm_status dynvm_run_assembly(dynvm_vm *self, const char *path) {
    begin(self);
    if (self->vm->sandboxed) {
        dv_raise(self->vm, DV_E_PERMISSION_ERROR, "a sandboxed machine runs no assembly");
        return finish(self);
    }
    dv_unit *unit = dv_assemble_file(self->vm, path);
    if (unit && !begin_assembled(self->vm, unit)) {
        unit->release_arena(unit->context, unit->arena);
        unit = NULL;
    }
    return run_unit(self, unit);
}

/* A report on what was counted; what it returns is seen in vm->error. */
typedef bool (*counted_report)(dv_vm *vm, const dv_page *page);

static dynvm_status report_counts(dynvm_vm *self, counted_report write, const dynvm_report *report,
                                  dynvm_output output, void *context) {
    begin(self);
    dv_page page = page_of(report, output, context);
    if (!dv_profile_of(self->vm)) return refuse_counts(self);
    if (!write(self->vm, &page) && dv_is_empty(self->vm->error)) dv_raise_memory(self->vm);
    return finish(self);
}

dynvm_status dynvm_stats(dynvm_vm *self, const dynvm_report *report, dynvm_output output,
                         void *context) {
    return report_counts(self, dv_inspect_stats, report, output, context);
}

dynvm_status dynvm_explain(dynvm_vm *self, const dynvm_report *report, dynvm_output output,
                           void *context) {
    return report_counts(self, dv_inspect_explain, report, output, context);
}

dynvm_status dynvm_trace(dynvm_vm *self, const dynvm_report *report, dynvm_output output,
                         void *context) {
    return report_counts(self, dv_inspect_trace, report, output, context);
}

/* Observing -------------------------------------------------------------------------------------
 */

static bool observe(void *context, const struct dv_event *event) {
    dynvm_vm *self = context;
    return self->observer(self->observer_context, (const dynvm_event *)event) == 0;
}

void dynvm_observe(dynvm_vm *self, dynvm_observer observer, void *context) {
    self->observer = observer;
    self->observer_context = context;
    dv_observe(self->vm, observer ? observe : NULL, self);
}

uint64_t dynvm_event_digest(const dynvm_event *event) {
    return dv_event_digest((const dv_event *)event);
}

uint32_t dynvm_event_line(const dynvm_event *event) {
    return dv_event_line((const dv_event *)event);
}

void dynvm_event_locals(const dynvm_event *event, char *buffer, size_t size) {
    dv_event_locals((const dv_event *)event, buffer, size);
}

/* The rest --------------------------------------------------------------------------------------
 */

int dynvm_exit_status(const dynvm_vm *self) { return self->exit_status; }

void dynvm_interrupt(dynvm_vm *self) { dv_interrupt(self->vm); }

void dynvm_stop(dynvm_vm *self, int how) {
    if (how == DYNVM_GO_ON)
        dv_work_refill(self->vm);
    else
        dv_stop(self->vm, how == DYNVM_END ? DV_ENDING : DV_STOPPED);
}

int dynvm_interrupted(const dynvm_vm *self) {
    return __atomic_load_n(&self->vm->interrupt, __ATOMIC_RELAXED);
}

dynvm_status dynvm_set_limits(dynvm_vm *self, uint64_t instructions, double seconds) {
    dv_vm *vm = self->vm;
    if (vm->work.counts_calls && seconds >= 0) {
        dv_work_set_limits(vm, units_of(instructions), nanoseconds_of(seconds));
        return DYNVM_OK;
    }
    if (vm->work.counts_calls)
        dv_raise(vm, DV_E_VALUE_ERROR, "a time limit must not be negative");
    else
        dv_raise(vm, DV_E_RUNTIME_ERROR, "this machine was made without limits");
    dv_host_failed(self);
    return DYNVM_ERROR;
}

uint64_t dynvm_instructions_left(const dynvm_vm *self) {
    const int64_t left = dv_work_left(self->vm);
    return left == INT64_MAX ? UINT64_MAX : (uint64_t)left;
}

double dynvm_seconds_left(const dynvm_vm *self) {
    const int64_t left = dv_work_time_left(self->vm);
    return left == INT64_MAX ? HUGE_VAL : (double)left * 1e-9;
}

uint64_t dynvm_collect(dynvm_vm *self) {
    dv_native_attach(self->vm);
    return (uint64_t)dv_collect(self->vm);
}

size_t dynvm_memory_used(const dynvm_vm *self) { return self->vm->heap.used; }

size_t dynvm_memory_peak(const dynvm_vm *self) { return self->vm->heap.peak; }

dynvm_error *dynvm_take_error(dynvm_vm *self) {
    if (!dv_is_empty(self->failure)) {
        dynvm_error *failure = dv_error_describe(self->vm, self->failure);
        dv_release(self->vm, self->failure);
        self->failure = DV_EMPTY;
        return failure;
    }
    dynvm_error *error = self->error;
    self->error = NULL;
    return error;
}

const char *dynvm_version(void) { return DYNVM_VERSION; }
