/* sys.c: the module sys. */
#include "modules/modules.h"

#include <unistd.h>

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/callable/generator.h"
#include "types/exception/hook.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"
#include "types/sequence/list.h"
#include "types/text/str.h"
#include "types/file/stream.h"
#include "types/sequence/tuple.h"

#define RECURSION_MOST INT32_MAX

static dv_value sys_exit(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 0 || dv_is_none(args[0])) return dv_raise(vm, DV_E_SYSTEM_EXIT, "");
    if (!dv_is_tuple(args[0])) return dv_raise_value(vm, DV_E_SYSTEM_EXIT, args[0]);
    dv_value exit = dv_exception_new(vm, dv_exception_class(vm, DV_E_SYSTEM_EXIT), args[0]);
    if (!dv_is_empty(exit)) dv_exception_raise(vm, exit, DV_EMPTY);
    dv_release(vm, exit);
    return DV_EMPTY;
}

static dv_value sys_getframe(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t depth = 0;
    if (count && !dv_size_argument(vm, args[0], &depth)) return DV_EMPTY;
    dv_value shown = dv_frame_show(vm, depth > 0 ? depth : 0);
    return dv_is_none(shown) ? dv_raise(vm, DV_E_VALUE_ERROR, "call stack is not deep enough")
                             : shown;
}

static dv_value sys_getrecursionlimit(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_int(vm->recursion_limit);
}

static dv_value sys_setrecursionlimit(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value whole = dv_int_index(vm, args[0]);
    if (dv_is_empty(whole)) return DV_EMPTY;
    int64_t limit;
    bool fits = dv_int_to_int64(whole, &limit) && limit >= INT32_MIN && limit <= RECURSION_MOST;
    dv_release(vm, whole);
    if (!fits) return dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C int");
    if (limit < 1)
        return dv_raise(vm, DV_E_VALUE_ERROR, "recursion limit must be greater or equal than 1");
    int64_t depth = vm->recursion_limit - vm->calls_left + 1; /* with this call */
    if (depth >= limit)
        return dv_raise(vm, DV_E_RECURSION_ERROR,
                        "cannot set the recursion limit to %lld at the recursion depth %lld: the "
                        "limit is too low",
                        (long long)limit, (long long)depth);
    vm->recursion_limit = limit;
    vm->calls_left = limit - depth + 1;
    return DV_NONE;
}

static dv_value sys_intern(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "intern() argument must be str, not %T", args[0]);
    if (!dv_is_shape(args[0], DV_T_STR))
        return dv_raise(vm, DV_E_TYPE_ERROR, "can't intern %T", args[0]);
    return dv_str_intern_value(vm, args[0]);
}

static dv_value sys_exc_info(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    dv_value info[3] = {DV_NONE, DV_NONE, DV_NONE};
    dv_value handled = dv_handled_exception(vm);
    if (dv_is_exception(handled)) {
        info[0] = dv_object_value(dv_class_of(vm, handled));
        info[1] = handled;
        info[2] = dv_exception_traceback(vm, handled);
        if (dv_is_empty(info[2])) return DV_EMPTY;
    }
    dv_value result = dv_tuple_new(vm, info, 3);
    dv_release(vm, info[2]);
    return result;
}

/* sys.exception(): the exception being handled, or None. */
static dv_value sys_exception(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    dv_value handled = dv_handled_exception(vm);
    return dv_is_exception(handled) ? dv_retain(handled) : DV_NONE;
}

static dv_value sys_displayhook(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_stream_display(vm, args[0]) ? DV_NONE : DV_EMPTY;
}

static dv_value sys_get_int_max_str_digits(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_int(vm->sys.most_digits);
}

static dv_value sys_set_int_max_str_digits(dv_vm *vm, const dv_value *args, uint32_t count,
                                           dv_value keywords) {
    static const char *const names[] = {"maxdigits"};
    static const dv_parameters parameters = {"set_int_max_str_digits", names, 1, 1, 1};
    dv_value given;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &given)) return DV_EMPTY;
    dv_value whole = dv_int_index(vm, given);
    if (dv_is_empty(whole)) return DV_EMPTY;
    int64_t most;
    bool fits = dv_int_to_int64(whole, &most) && most >= INT32_MIN && most <= INT32_MAX;
    dv_release(vm, whole);
    if (!fits) return dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C int");
    if (most != 0 && most < DV_LEAST_MOST_DIGITS)
        return dv_raise(vm, DV_E_VALUE_ERROR, "maxdigits must be 0 or larger than %d",
                        DV_LEAST_MOST_DIGITS);
    vm->sys.most_digits = most;
    return DV_NONE;
}

/* The path of the running program; empty where a sandboxed program asks. */
static dv_value executable(dv_vm *vm) {
    char path[4096];
    ssize_t size = vm->sandboxed ? 0 : readlink("/proc/self/exe", path, sizeof path);
    return dv_str_new(vm, path, size > 0 ? (size_t)size : 0);
}

static bool is_among(dv_value name, const char *const *names) {
    while (*names && !(dv_is_str(name) && dv_str_is(name, *names))) names++;
    return *names != NULL;
}

/* What sys.flags is made of. */
static dv_value flag_numbers(dv_vm *vm) {
    dv_value items[DV_FLAG_SAFE_PATH + 1];
    for (int i = 0; i <= DV_FLAG_SAFE_PATH; i++) items[i] = dv_int(vm->sys.flags[i]);
    return dv_tuple_new(vm, items, DV_FLAG_SAFE_PATH + 1);
}

/* __getattr__ of the module: what is made when it is asked for, by the library module _sys. */
static dv_value sys_getattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    static const char *const names[] = {"api_version",
                                        "base_exec_prefix",
                                        "base_prefix",
                                        "builtin_module_names",
                                        "copyright",
                                        "exec_prefix",
                                        "flags",
                                        "float_info",
                                        "getdefaultencoding",
                                        "getfilesystemencodeerrors",
                                        "getfilesystemencoding",
                                        "getsizeof",
                                        "getswitchinterval",
                                        "hash_info",
                                        "implementation",
                                        "int_info",
                                        "is_finalizing",
                                        "orig_argv",
                                        "platlibdir",
                                        "prefix",
                                        "setswitchinterval",
                                        "stdlib_module_names",
                                        "thread_info",
                                        "version_info",
                                        NULL};
    static const char *const refused[] = {"_current_exceptions",
                                          "_current_frames",
                                          "addaudithook",
                                          "audit",
                                          "breakpointhook",
                                          "call_tracing",
                                          "getallocatedblocks",
                                          "getprofile",
                                          "getrefcount",
                                          "gettrace",
                                          "meta_path",
                                          "path_hooks",
                                          "setprofile",
                                          "path_importer_cache",
                                          "settrace",
                                          NULL};
    (void)count;
    if (dv_str_is(args[0], "__late__")) return dv_names(vm, names);
    if (dv_str_is(args[0], "_flags") && dv_calling_library(vm)) return flag_numbers(vm);
    if (is_among(args[0], refused))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "sys.%S is not part of dl", args[0]);
    if (!is_among(args[0], names))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "module 'sys' has no attribute '%S'", args[0]);
    return dv_module_borrow(vm, "sys", "_sys", args[0]);
}

static const dv_cfunction_def functions[] = {
    {.name = "__getattr__", .entry = sys_getattr, .min = 1, .max = 1},
    {.name = "displayhook", .entry = sys_displayhook, .min = 1, .max = 1},
    {.name = "get_int_max_str_digits", .entry = sys_get_int_max_str_digits, .min = 0, .max = 0},
    {.name = "set_int_max_str_digits",
     .keyword_entry = sys_set_int_max_str_digits,
     .min = 0,
     .max = UINT32_MAX},
    {.name = "exit", .entry = sys_exit, .min = 0, .max = 1},
    {.name = "_getframe", .entry = sys_getframe, .min = 0, .max = 1},
    {.name = "getrecursionlimit", .entry = sys_getrecursionlimit, .min = 0, .max = 0},
    {.name = "setrecursionlimit", .entry = sys_setrecursionlimit, .min = 1, .max = 1},
    {.name = "intern", .entry = sys_intern, .min = 1, .max = 1},
    {.name = "exception", .entry = sys_exception, .min = 0, .max = 0},
    {.name = "exc_info", .entry = sys_exc_info, .min = 0, .max = 0},
    {.name = NULL}};

/* The cell of a name that the machine itself looks at; NULL: raised. */
static dv_global_cell *cell_of(dv_vm *vm, const dv_module *module, const char *text) {
    dv_value name = dv_str_intern_name(vm, text, strlen(text));
    if (dv_is_empty(name)) return NULL;
    dv_global_cell *cell = dv_namespace_find(&module->names, name);
    dv_release(vm, name);
    return cell;
}

static bool add_streams(dv_vm *vm, dv_module *module) {
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    for (dv_stream_number n = DV_STDIN; n <= DV_STDERR; n++) {
        bool closed = vm->sys.closed >> n & 1;
        if (!dv_module_add(vm, module, names[n], closed ? DV_NONE : dv_stream_new(vm, n)))
            return false;
    }
    vm->sys.stdin_cell = cell_of(vm, module, "stdin");
    vm->sys.stdout_cell = cell_of(vm, module, "stdout");
    vm->sys.path_cell = cell_of(vm, module, "path");
    return vm->sys.stdin_cell && vm->sys.stdout_cell && vm->sys.path_cell;
}

/* __displayhook__ and its like: what programs put back. */
static bool add_originals(dv_vm *vm, dv_module *module) {
    static const char *const names[][2] = {{"__displayhook__", "displayhook"},
                                           {"__excepthook__", "excepthook"},
                                           {"__unraisablehook__", "unraisablehook"},
                                           {"__stdin__", "stdin"},
                                           {"__stdout__", "stdout"},
                                           {"__stderr__", "stderr"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!dv_module_add(vm, module, names[i][0], dv_retain(dv_sys_get(vm, names[i][1]))))
            return false;
    return true;
}

/* What -W and -X have said, as a list and a dict of the program's own. */
static bool add_options(dv_vm *vm, dv_module *module) {
    dv_value list = dv_list_new(vm, NULL, 0);
    if (!dv_is_empty(list) && dv_is_object(vm->sys.warn_options) &&
        !dv_list_extend(vm, list, vm->sys.warn_options)) {
        dv_release(vm, list);
        return false;
    }
    return dv_module_add(vm, module, "warnoptions", list) &&
           dv_module_add(vm, module, "_xoptions",
                         dv_is_object(vm->sys.x_options) ? dv_retain(vm->sys.x_options)
                                                         : dv_dict_new(vm)) &&
           dv_module_add(vm, module, "dont_write_bytecode",
                         vm->sys.flags[DV_FLAG_DONT_WRITE_BYTECODE] ? DV_TRUE : DV_FALSE);
}

static bool fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions) &&
           dv_module_add_functions(vm, module, dv_hook_functions) &&
           dv_module_add(vm, module, "argv", dv_retain(vm->sys.arguments)) &&
           dv_module_add(vm, module, "path", dv_retain(vm->sys.path)) &&
           dv_module_add(vm, module, "modules", dv_retain(vm->modules)) &&
           dv_module_add(vm, module, "maxsize", dv_int_from_int64(vm, INT64_MAX)) &&
           dv_module_add(vm, module, "maxunicode", dv_int(0x10FFFF)) &&
           dv_module_add(vm, module, "byteorder", dv_str_z(vm, "little")) &&
           dv_module_add(vm, module, "platform", dv_str_z(vm, "linux")) &&
           dv_module_add(vm, module, "version", dv_str_z(vm, "3.11 (dynvm)")) &&
           dv_module_add(vm, module, "hexversion", dv_int(0x030B00F0)) &&
           dv_module_add(vm, module, "executable", executable(vm)) &&
           dv_module_add(vm, module, "float_repr_style", dv_str_z(vm, "short")) &&
           add_streams(vm, module) && add_options(vm, module) && add_originals(vm, module);
}

bool dv_sys_fill(dv_vm *vm, dv_module *module) {
    dv_value before = vm->sys.module;
    dv_global_cell *cells[] = {vm->sys.stdin_cell, vm->sys.stdout_cell, vm->sys.path_cell};
    vm->sys.module = dv_retain(dv_object_value(module));
    bool good = fill(vm, module);
    dv_release(vm, good ? before : vm->sys.module);
    if (good) return true;
    vm->sys.module = before;
    vm->sys.stdin_cell = cells[0];
    vm->sys.stdout_cell = cells[1];
    vm->sys.path_cell = cells[2];
    return false;
}
