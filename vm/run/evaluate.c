/* evaluate.c: eval, exec, compile, globals, locals, and vars without an argument.
 *
 * Text becomes code whose top level is a function of one argument, the namespace in which it binds
 * names: a mapping, or None for the names of its module.  Globals that are a dict become a module
 * of their own, whose names are in that dict (dv_module.dict): functions that are defined go on
 * seeing it.
 *
 * Invariants
 *  1. What reads the locals of a function runs only where the function's text names locals, vars,
 *     eval or exec (DV_CODE_SEES_FRAME): no local dies early there, and no region keeps one.
 *     Elsewhere it raises, for its name is another one there.
 *  2. locals() in a function is the same dict each time, as in CPython: the compiler has left a
 *     local for it (lang/compile/resolve.c).
 *  3. Functions are not inlined around these (vm/region/step/call.c): the frame is the caller's. */
#include <string.h>

#include "core/upcall.h"
#include "run/call.h"
#include "run/site.h"
#include "types/binary/bytes.h"
#include "types/callable/arguments.h"
#include "types/callable/variable.h"
#include "types/mapping/dict.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"

/* ---- Where the code runs that calls ---- */

static bool runs_code(const dv_vm *vm) { return vm->fp != vm->stack; }

/* The module whose names are the globals of what calls. */
static dv_module *calling_module(const dv_vm *vm) {
    return runs_code(vm) ? dv_frame_thread(vm->fp)->module : dv_as_module(vm->main);
}

dv_value dv_module_globals(dv_vm *vm, dv_value of) {
    dv_module *module = dv_as_module(of);
    if (!dv_is_empty(module->dict)) return dv_retain(module->dict);
    if (dv_is_empty(module->view))
        module->view = dv_library_call(vm, "_globals", "Globals", &of, 1);
    return dv_is_empty(module->view) ? DV_EMPTY : dv_retain(module->view);
}

dv_value dv_code_globals(dv_vm *vm, const dv_object *thread) {
    return dv_module_globals(vm, dv_object_value(((const dv_thread *)thread)->module));
}

/* The module that globals() was asked of; NULL: v is something else. */
static dv_module *module_of_view(dv_vm *vm, dv_value v) {
    if (!dv_is_subclass_instance(v)) return NULL;
    dv_value module = dv_find_named(vm, v, "_module");
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    dv_release(vm, module); /* the view holds it */
    const bool is_view = dv_is_module(module) && dv_same(dv_as_module(module)->view, v);
    return is_view ? dv_as_module(module) : NULL;
}

/* The local that is kept for the dict of locals(), in code that has one. */
static uint32_t local_for_dict(const dv_code *code) {
    static const dv_text name = {".locals", 7};
    uint32_t i = 0;
    while (!dv_text_is_same(code->local_names[i], name)) i++;
    return i;
}

/* Brings the dict up to what the locals of the frame are now. */
static bool read_locals(dv_vm *vm, const dv_code *code, const dv_value *fp, dv_value dict) {
    bool good = true;
    for (uint32_t i = 0; good && i < code->local_count; i++) {
        const dv_text text = code->local_names[i];
        if (text.size > 0 && text.data[0] == '.') continue;
        dv_value v = dv_is_shape(fp[i], DV_T_CELL) ? dv_as_variable(fp[i])->value : fp[i];
        dv_value name = dv_str_intern(vm, text.data, (size_t)text.size);
        if (dv_is_empty(name)) return false;
        good =
            dv_is_empty(v) ? dv_dict_delete(vm, dict, name) >= 0 : dv_dict_set(vm, dict, name, v);
        dv_release(vm, name);
    }
    return good;
}

static dv_value function_locals(dv_vm *vm, const char *function) {
    const dv_code *code = dv_frame_thread(vm->fp)->code;
    if (!(code->flags & DV_CODE_SEES_FRAME))
        return dv_raise(vm, DV_E_RUNTIME_ERROR,
                        "%s() needs the locals of a function that does not name it, where dl does "
                        "not keep them: call it by its name there",
                        function);
    dv_value *kept = &vm->fp[local_for_dict(code)];
    if (dv_is_empty(*kept)) *kept = dv_dict_new(vm);
    if (dv_is_empty(*kept) || !read_locals(vm, code, vm->fp, *kept)) return DV_EMPTY;
    return dv_retain(*kept);
}

/* The namespace in which the calling code binds names: None where those are globals. */
static dv_value calling_namespace(dv_vm *vm, const char *function) {
    if (!runs_code(vm)) return DV_NONE;
    const uint32_t flags = dv_frame_thread(vm->fp)->code->flags;
    if (flags & DV_CODE_MODULE) return DV_NONE;
    return flags & DV_CODE_CLASS ? dv_retain(vm->fp[0]) : function_locals(vm, function);
}

static dv_value builtin_globals(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_module_globals(vm, dv_object_value(calling_module(vm)));
}

dv_value dv_calling_locals(dv_vm *vm, const char *function) {
    dv_value space = calling_namespace(vm, function);
    return dv_is_none(space) ? dv_module_globals(vm, dv_object_value(calling_module(vm))) : space;
}

static dv_value builtin_locals(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_calling_locals(vm, "locals");
}

/* ---- Text ---- */

/* As `optimize`: for eval and exec, which optimize as the VM does. */
enum { EVALUATES = -2 };

static bool may_evaluate(dv_vm *vm, const char *function) {
    if (!vm->sandboxed && !vm->evaluates_nothing) return true;
    dv_raise(vm, DV_E_PERMISSION_ERROR, "%s() is switched off in this VM", function);
    return false;
}

/* The text of a str or of bytes, on the heap with a zero behind it; NULL: raised, `wrong` with the
 * function's name or the type of what is no text. */
static char *text_of(dv_vm *vm, const char *wrong, const char *function, dv_value source,
                     size_t *size) {
    char *text = NULL;
    if (dv_is_str(source)) {
        text = dv_str_utf8(vm, source, size);
    } else if (dv_is_bytes_like(source)) {
        *size = (size_t)dv_as_bytes(source)->length;
        text = dv_heap_alloc(&vm->heap, *size + 1);
        if (!text) {
            dv_raise_memory(vm);
            return NULL;
        }
        memcpy(text, dv_as_bytes(source)->data, *size);
        text[*size] = 0;
    } else if (function) {
        dv_raise(vm, DV_E_TYPE_ERROR, wrong, function);
    } else {
        dv_raise(vm, DV_E_TYPE_ERROR, wrong, source);
    }
    if (!text || !memchr(text, 0, *size)) return text;
    dv_heap_free(&vm->heap, text, *size + 1);
    dv_raise(vm, DV_E_VALUE_ERROR, "source code string cannot contain null bytes");
    return NULL;
}

/* A code object (new) of the text, whose globals do not matter yet. */
static dv_value code_of(dv_vm *vm, const char *function, dv_value source, const char *filename,
                        const char *mode, int optimize) {
    size_t size, from = 0;
    char *text = text_of(vm,
                         optimize == EVALUATES ? "%s() arg 1 must be a string, bytes or code object"
                                               : "%s() arg 1 must be a string, bytes or AST object",
                         function, source, &size);
    if (!text) return DV_EMPTY;
    if (strcmp(mode, "exec") != 0 && strcmp(mode, "single") != 0)
        while (text[from] == ' ' || text[from] == '\t') from++;
    dv_unit *unit = vm->hooks.import.evaluate_text(vm, text + from, size - from, filename, mode,
                                                   optimize, dv_is_str(source));
    dv_heap_free(&vm->heap, text, size + 1);
    if (!unit) return DV_EMPTY;
    dv_thread *thread = dv_thread_new(vm, unit->code, calling_module(vm));
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    return thread ? dv_object_value(thread) : DV_EMPTY;
}

/* ---- Running ---- */

static dv_value run(dv_vm *vm, dv_value code, dv_module *module, dv_value space) {
    const dv_code *what = dv_thread_code(dv_as_object(code));
    dv_thread *thread = dv_thread_new(vm, what, module);
    if (!thread) return DV_EMPTY;
    dv_value function = dv_function_make(vm, thread, DV_EMPTY);
    dv_release_object(vm, &thread->header);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value result = dv_call(vm, function, &space, what->flags & DV_CODE_CLASS ? 1 : 0, DV_EMPTY);
    dv_release(vm, function);
    return result;
}

/* As CPython sees to it: the globals say where builtins are. */
static bool add_builtins(dv_vm *vm, dv_value dict) {
    const dv_value name = vm->known.builtins;
    if (!dv_is_empty(dv_dict_get(vm, dict, name))) return true;
    if (!dv_is_empty(vm->error)) return false;
    dv_value text = dv_str_intern(vm, "builtins", 8);
    dv_value module = dv_is_empty(text) ? DV_EMPTY : dv_import(vm, text);
    const bool good = !dv_is_empty(module) && dv_dict_set(vm, dict, name, module);
    dv_release(vm, module);
    dv_release(vm, text);
    return good;
}

/* A module (new) whose names are those of the dict. */
static dv_value module_of_dict(dv_vm *vm, dv_value dict) {
    if (!add_builtins(vm, dict)) return DV_EMPTY;
    dv_value name = dv_dict_get(vm, dict, vm->known.name);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    dv_value module = !dv_is_empty(name) && dv_is_str(name) ? dv_module_named(vm, name)
                                                            : dv_module_new(vm, "builtins");
    if (!dv_is_empty(module)) dv_as_module(module)->dict = dv_retain(dict);
    return module;
}

/* Runs the code with what was given, or else what the caller has. */
static dv_value run_in(dv_vm *vm, const char *function, dv_value code, dv_value globals,
                       dv_value locals) {
    const bool given = !dv_is_none(globals);
    dv_module *known = given ? module_of_view(vm, globals) : calling_module(vm);
    dv_value module = known ? dv_retain(dv_object_value(known)) : module_of_dict(vm, globals);
    if (dv_is_empty(module)) return DV_EMPTY;
    dv_value space = DV_NONE;
    if (!dv_is_none(locals))
        space = module_of_view(vm, locals) == dv_as_module(module) ? DV_NONE : dv_retain(locals);
    else if (given)
        space = dv_is_empty(dv_as_module(module)->dict) ? DV_NONE : dv_retain(globals);
    else
        space = calling_namespace(vm, function);
    dv_value result = dv_is_empty(space) ? DV_EMPTY : run(vm, code, dv_as_module(module), space);
    dv_release(vm, space);
    dv_release(vm, module);
    return result;
}

/* The code as that of the module (new): code knows the module whose cells it reads. */
static dv_thread *code_in(dv_vm *vm, dv_thread *own, dv_value module) {
    if (own->module != dv_as_module(module))
        return dv_thread_new(vm, dv_thread_code(&own->header), dv_as_module(module));
    own->header.references++;
    return own;
}

dv_value dv_function_of(dv_vm *vm, dv_value code, dv_value globals) {
    dv_thread *own = (dv_thread *)dv_as_object(code);
    if (own->code->flags & (DV_CODE_MODULE | DV_CODE_CLASS))
        return dv_raise(vm, DV_E_TYPE_ERROR, "a function of text's code is not part of dl");
    dv_module *known = module_of_view(vm, globals);
    if (!known && dv_same(own->module->dict, globals)) known = own->module;
    dv_value module = known ? dv_retain(dv_object_value(known)) : module_of_dict(vm, globals);
    if (dv_is_empty(module)) return DV_EMPTY;
    dv_thread *thread = code_in(vm, own, module);
    dv_value function = thread ? dv_function_make(vm, thread, DV_EMPTY) : DV_EMPTY;
    if (thread) dv_release_object(vm, &thread->header);
    dv_release(vm, module);
    return function;
}

static bool is_mapping(dv_vm *vm, dv_value v) {
    if (dv_is_dict(v) || dv_is_shape(v, DV_T_MAPPING_PROXY)) return true;
    return dv_is_instance(v) && dv_class_special(dv_class_of(vm, v), vm->known.getitem) != NULL;
}

static bool check_eval(dv_vm *vm, dv_value globals, dv_value locals) {
    if (!dv_is_none(locals) && !is_mapping(vm, locals))
        dv_raise(vm, DV_E_TYPE_ERROR, "locals must be a mapping");
    else if (!dv_is_none(globals) && !dv_is_dict(globals))
        dv_raise(vm, DV_E_TYPE_ERROR,
                 is_mapping(vm, globals)
                     ? "globals must be a real dict; try eval(code, {}, mapping)"
                     : "globals must be a dict");
    return dv_is_empty(vm->error);
}

static bool check_exec(dv_vm *vm, dv_value globals, dv_value locals) {
    if (!dv_is_none(globals) && !dv_is_dict(globals))
        dv_raise(vm, DV_E_TYPE_ERROR, "exec() globals must be a dict, not %T", globals);
    else if (!dv_is_none(locals) && !is_mapping(vm, locals))
        dv_raise(vm, DV_E_TYPE_ERROR, "locals must be a mapping or None, not %T", locals);
    return dv_is_empty(vm->error);
}

/* The source's code object, new. */
static dv_value take_code(dv_vm *vm, const char *function, dv_value source) {
    if (!dv_is_shape(source, DV_T_CODE))
        return code_of(vm, function, source, "<string>", function, EVALUATES);
    const uint32_t free_count = dv_thread_code(dv_as_object(source))->free_count;
    if (free_count == 0) return dv_retain(source);
    if (function[1] == 'v')
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "code object passed to eval() may not contain free variables");
    return dv_raise(vm, DV_E_TYPE_ERROR, "code object requires a closure of exactly length %d",
                    (int)free_count);
}

static dv_value evaluate(dv_vm *vm, const char *function, const dv_value *args, uint32_t count) {
    const dv_value globals = count > 1 ? args[1] : DV_NONE, locals = count > 2 ? args[2] : DV_NONE;
    const bool is_eval = function[1] == 'v';
    if (!may_evaluate(vm, function)) return DV_EMPTY;
    if (!(is_eval ? check_eval(vm, globals, locals) : check_exec(vm, globals, locals)))
        return DV_EMPTY;
    dv_value code = take_code(vm, function, args[0]);
    if (dv_is_empty(code)) return DV_EMPTY;
    dv_value result = run_in(vm, function, code, globals, locals);
    dv_release(vm, code);
    if (is_eval || dv_is_empty(result)) return result;
    dv_release(vm, result);
    return DV_NONE;
}

dv_value dv_evaluate_literal(dv_vm *vm, dv_value text) {
    dv_value code = code_of(vm, "literal_eval", text, "<unknown>", "literal", -1);
    if (dv_is_empty(code)) return DV_EMPTY;
    dv_value result = run(vm, code, calling_module(vm), DV_NONE);
    dv_release(vm, code);
    return result;
}

static dv_value builtin_eval(dv_vm *vm, const dv_value *args, uint32_t count) {
    return evaluate(vm, "eval", args, count);
}

static dv_value builtin_exec(dv_vm *vm, const dv_value *args, uint32_t count) {
    return evaluate(vm, "exec", args, count);
}

/* ---- compile ---- */

/* The mode in C; NULL: raised. */
static const char *mode_of(dv_vm *vm, dv_value mode) {
    static const char *const modes[] = {"exec", "eval", "single"};
    if (!dv_is_str(mode)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "compile() argument 'mode' must be str, not %T", mode);
        return NULL;
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (dv_str_is(mode, modes[i])) return modes[i];
    dv_raise(vm, DV_E_VALUE_ERROR, "compile() mode must be 'exec', 'eval' or 'single'");
    return NULL;
}

static bool check_flags(dv_vm *vm, dv_value flags) {
    int64_t number = 0;
    if (!dv_is_empty(flags) && !dv_int_argument(vm, flags, &number)) return false;
    if (number & 0x400)
        dv_raise(vm, DV_E_VALUE_ERROR, "compile() to a syntax tree is not part of dl");
    else if (number & ~0x1FE0210)
        dv_raise(vm, DV_E_VALUE_ERROR, "compile(): unrecognised flags");
    return dv_is_empty(vm->error);
}

static bool check_optimize(dv_vm *vm, dv_value optimize, int *level) {
    int64_t number = -1;
    if (!dv_is_empty(optimize) && !dv_int_argument(vm, optimize, &number)) return false;
    *level = (int)number;
    if (number >= -1 && number <= 2) return true;
    dv_raise(vm, DV_E_VALUE_ERROR, "compile(): invalid optimize value");
    return false;
}

static dv_value builtin_compile(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    static const char *const names[] = {"source", "filename",     "mode",
                                        "flags",  "dont_inherit", "optimize"};
    static const dv_parameters parameters = {"compile", names, 6, 6, 3};
    dv_value given[6];
    int optimize;
    if (!may_evaluate(vm, "compile") ||
        !dv_arguments_sort(vm, &parameters, args, count, keywords, given))
        return DV_EMPTY;
    const char *mode = NULL;
    if (!check_flags(vm, given[3]) || !check_optimize(vm, given[5], &optimize) ||
        !(mode = mode_of(vm, given[2])))
        return DV_EMPTY;
    size_t size;
    char *filename =
        text_of(vm, "expected str, bytes or os.PathLike object, not %T", NULL, given[1], &size);
    if (!filename) return DV_EMPTY;
    dv_value code = dv_is_shape(given[0], DV_T_CODE)
                        ? dv_retain(given[0])
                        : code_of(vm, "compile", given[0], filename, mode, optimize);
    dv_heap_free(&vm->heap, filename, size + 1);
    return code;
}

const dv_cfunction_def dv_evaluate_functions[] = {
    {.name = "eval", .entry = builtin_eval, .min = 1, .max = 3, .inlined = DV_INLINED_FRAME},
    {.name = "exec", .entry = builtin_exec, .min = 1, .max = 3, .inlined = DV_INLINED_FRAME},
    {.name = "compile", .keyword_entry = builtin_compile, .min = 0, .max = UINT32_MAX},
    {.name = "globals", .entry = builtin_globals, .min = 0, .max = 0},
    {.name = "locals", .entry = builtin_locals, .min = 0, .max = 0, .inlined = DV_INLINED_FRAME},
    {.name = NULL}};
