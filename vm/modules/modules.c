/* modules.c: the table of built-in modules (modules.h). */
#include "modules/modules.h"

#include "code/pack.h"
#include "code/squeezed.h"
#include "core/unit.h"
#include "core/upcall.h"
#include "modules/frozen.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/callable/function.h"
#include "types/exception/warning.h"
#include "types/sequence/list.h"
#include "types/text/str.h"

typedef struct builtin_module {
    const char *name;
    bool (*fill)(dv_vm *vm, dv_module *module);
} builtin_module;

static bool fill_library(dv_vm *vm, dv_module *module);

/* The names of builtins as they are at the import. */
static bool fill_builtins(dv_vm *vm, dv_module *module) {
    if (!dv_site_complete(vm)) return false;
    for (uint32_t i = 0; i < vm->builtins.count; i++) {
        const dv_global_cell *from = vm->builtins.cells[i];
        if (dv_is_empty(from->value)) continue;
        dv_global_cell *to = dv_namespace_cell(vm, &module->names, from->name);
        if (!to) return false;
        dv_cell_store(vm, to, dv_retain(from->value));
    }
    module->builtins = true;
    return true;
}

/* Warnings are reports (vm/report). */
static bool fill_warnings(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, dv_warning_functions);
}

static const builtin_module builtin_modules[] = {
    {"_abc", dv_abc_fill},
    {"_calendar", dv_calendar_fill},
    {"_json", dv_json_fill},
    {"_re", dv_re_fill},
    {"_text", dv_text_fill},
    {"_traceback", dv_traceback_fill},
    {"_unicode", dv_unicode_fill},
    {"_warnings", fill_warnings},
    {"_weakref", dv_weakref_fill},
    {"array", dv_array_fill},
    {"bisect", dv_bisect_fill},
    {"builtins", fill_builtins},
    {"cmath", dv_cmath_fill},
    {"_collections", dv_collections_fill},
    {"_copy", dv_copy_fill},
    {"errno", dv_errno_fill},
    {"functools", dv_functools_fill},
    {"gc", dv_gc_fill},
    {"heapq", dv_heapq_fill},
    {"io", dv_io_fill},
    {"_library", fill_library},
    {"itertools", dv_itertools_fill},
    {"math", dv_math_fill},
    {"_names", dv_names_fill},
    {"operator", dv_operator_fill},
    {"posix", dv_posix_fill},
    {"random", dv_random_fill},
    {"_entropy", dv_entropy_fill},
    {"struct", dv_struct_fill},
    {"sys", dv_sys_fill},
    {"time", dv_time_fill},
    {NULL, NULL},
};

bool dv_module_add(dv_vm *vm, dv_module *module, const char *name, dv_value value) {
    return !dv_is_empty(value) && dv_namespace_set(vm, &module->names, name, value);
}

bool dv_module_add_functions(dv_vm *vm, dv_module *module, const dv_cfunction_def *functions) {
    for (const dv_cfunction_def *def = functions; def->name; def++) {
        dv_value function = dv_cfunction_new(vm, def, DV_EMPTY, dv_object_value(module));
        if (!dv_module_add(vm, module, def->name, function)) return false;
    }
    return true;
}

dv_value dv_names(dv_vm *vm, const char *const *names) {
    dv_value list = dv_list_new(vm, NULL, 0);
    for (; *names && !dv_is_empty(list); names++) {
        dv_value name = dv_str_z(vm, *names);
        if (!dv_is_empty(name) && dv_list_push(vm, list, name)) continue;
        dv_release(vm, list);
        return DV_EMPTY;
    }
    return list;
}

bool dv_module_add_functions_of(dv_vm *vm, dv_module *module, const char *owner,
                                const dv_cfunction_def *functions) {
    dv_value other = dv_module_new(vm, owner);
    bool good = !dv_is_empty(other);
    for (const dv_cfunction_def *def = functions; good && def->name; def++)
        good = dv_module_add(vm, module, def->name, dv_cfunction_new(vm, def, DV_EMPTY, other));
    dv_release(vm, other);
    return good;
}

/* "count" of "itertools.count". */
static const char *short_name(const dv_type *type) {
    const char *dot = strrchr(type->name, '.');
    return dot ? dot + 1 : type->name;
}

bool dv_module_know_type(dv_vm *vm, const dv_type *type) { return dv_class_know(vm, type); }

bool dv_module_add_type(dv_vm *vm, dv_module *module, const dv_type *type) {
    return dv_module_know_type(vm, type) &&
           dv_module_add(vm, module, short_name(type),
                         dv_retain(dv_object_value(vm->classes[type->id])));
}

static dv_value import_z(dv_vm *vm, const char *name, dv_value (*import)(dv_vm *, dv_value)) {
    dv_value text = dv_str_intern(vm, name, strlen(name));
    dv_value module = dv_is_empty(text) ? DV_EMPTY : import(vm, text);
    dv_release(vm, text);
    return module;
}

dv_value dv_module_borrow(dv_vm *vm, const char *to, const char *from, dv_value name) {
    dv_value lender = import_z(vm, from, dv_import_helper);
    dv_value v = dv_is_empty(lender) ? DV_EMPTY : dv_get_attribute(vm, lender, name);
    dv_release(vm, lender);
    dv_value borrower = dv_is_empty(v) ? DV_EMPTY : import_z(vm, to, dv_import);
    bool good = !dv_is_empty(borrower) && dv_set_attribute(vm, borrower, name, v);
    dv_release(vm, borrower);
    if (good) return v;
    dv_release(vm, v);
    return DV_EMPTY;
}

static const builtin_module *find_builtin(dv_value name) {
    for (const builtin_module *m = builtin_modules; m->name; m++)
        if (dv_str_is(name, m->name)) return m;
    return NULL;
}

static bool is_among(dv_value name, const char *const *names) {
    while (*names && !dv_str_is(name, *names)) names++;
    return *names != NULL;
}

/* A file of the same name does not hide these in CPython either: they are in its binary, or have
 * been imported before the program begins. */
static bool is_early(dv_value name) {
    static const char *const names[] = {"abc",     "array", "builtins",  "cmath", "codecs", "errno",
                                        "gc",      "io",    "itertools", "math",  "os",     "sys",
                                        "os.path", "posix", "posixpath", "stat",  "time",   NULL};
    return is_among(name, names);
}

static dv_value load_builtin(dv_vm *vm, dv_value name, bool early) {
    const builtin_module *builtin = find_builtin(name);
    if (!builtin || is_early(name) != early) return DV_EMPTY;
    dv_value module = dv_module_new(vm, builtin->name);
    if (dv_is_empty(module)) return DV_EMPTY;
    dv_value package = dv_retain(vm->known.empty_str);
    if (dv_module_set_plain(vm, dv_as_module(module), package) &&
        builtin->fill(vm, dv_as_module(module)))
        return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

static const dv_frozen *find_frozen(dv_value name, bool early) {
    return is_early(name) == early ? dv_frozen_find(dv_frozen_modules, name) : NULL;
}

/* NULL: no memory. */
static const uint8_t *restore(dv_unit *unit, const dv_frozen *frozen, const uint8_t *squeezed,
                              size_t size) {
    if (!frozen->squeezed) return squeezed;
    uint8_t *room = unit->allocate(unit->arena, size + DV_SQUEEZED_SLACK);
    if (room) dv_squeezed_restore(squeezed, room, size);
    return room;
}

static bool read_frozen(dv_unit *unit, const dv_frozen *frozen) {
    const uint8_t *text = restore(unit, frozen, frozen->text, frozen->text_size);
    const uint8_t *code = restore(unit, frozen, frozen->code, frozen->code_size);
    unit->source = (dv_text){(const char *)text, frozen->text_size};
    unit->squeezed_positions = frozen->positions;
    unit->positions_size = frozen->positions_size;
    return text && code && dv_unit_unpack(unit, true, code, frozen->code_size) == DV_UNPACK_OK;
}

static dv_unit *unpack_frozen(dv_vm *vm, const dv_frozen *frozen) {
    dv_unit *unit = dv_unit_new(&vm->heap);
    if (unit) {
        if (read_frozen(unit, frozen)) return unit;
        dv_unit_release(unit);
    }
    dv_raise_memory(vm); /* these bytes are right */
    return NULL;
}

/* What Python's library has and dl has not: a program may ask for it and never gets it. */
static const char *const left_out[] = {
    // clang-format off
    "_abc", "_aix_support", "_ast", "_asyncio", "_bisect", "_blake2", "_bootsubprocess", "_bz2",
    "_codecs", "_codecs_cn", "_codecs_hk", "_codecs_iso2022", "_codecs_jp", "_codecs_kr",
    "_codecs_tw", "_collections", "_collections_abc", "_compat_pickle", "_compression",
    "_contextvars", "_crypt", "_csv", "_ctypes", "_curses", "_curses_panel", "_datetime",
    "_decimal", "_dbm", "_elementtree", "_frozen_importlib", "_frozen_importlib_external",
    "_functools", "_gdbm", "_hashlib", "_heapq", "_imp", "_io", "_json", "_locale", "_lsprof",
    "_lzma", "_markupbase", "_md5", "_msi", "_multibytecodec", "_multiprocessing", "_opcode",
    "_operator", "_osx_support", "_overlapped", "_pickle", "_posixshmem", "_posixsubprocess",
    "_py_abc", "_pydecimal", "_pyio", "_queue", "_random", "_scproxy", "_sha1", "_sha256",
    "_sha3", "_sha512", "_signal", "_sitebuiltins", "_socket", "_sqlite3", "_sre", "_ssl",
    "_stat", "_statistics", "_string", "_strptime", "_struct", "_symtable", "_thread",
    "_threading_local", "_tkinter", "_tokenize", "_tracemalloc", "_typing", "_uuid",
    "_warnings", "_weakref", "_weakrefset", "_winapi", "_zoneinfo", "aifc", "antigravity",
    "asynchat", "asyncio", "asyncore", "audioop", "bdb", "bz2", "cProfile",
    "cgi", "cgitb", "chunk", "code", "codeop", "compileall", "concurrent",
    "configparser", "crypt", "ctypes", "curses", "dbm", "dis", "distutils", "email",
    "encodings", "ensurepip", "faulthandler", "fcntl", "filecmp", "ftplib",
    "genericpath", "gettext", "grp", "gzip", "html.entities", "html.parser", "http",
    "idlelib", "imaplib", "imghdr", "imp", "importlib.abc",
    "importlib.machinery", "importlib.metadata", "importlib.resources", "ipaddress",
    "json.scanner", "json.tool", "lib2to3", "locale",
    "lzma", "mailbox", "mailcap", "marshal", "mimetypes",
    "mmap", "modulefinder", "msilib", "msvcrt", "multiprocessing", "netrc", "nis", "nntplib",
    "nt", "ntpath", "nturl2path", "opcode", "optparse", "ossaudiodev", "pdb",
    "pickletools", "pipes", "pkgutil", "plistlib", "poplib", "profile", "pstats",
    "pty", "pwd", "py_compile", "pyclbr", "pydoc", "pydoc_data", "pyexpat", "quopri",
    "readline", "resource", "rlcompleter", "runpy", "select", "selectors", "shelve", "signal",
    "site", "smtpd", "smtplib", "sndhdr", "socket", "socketserver", "spwd", "sqlite3",
    "sre_compile", "sre_constants", "sre_parse", "ssl", "stringprep", "subprocess", "sunau",
    "symtable", "sysconfig", "syslog", "tabnanny", "tarfile", "telnetlib", "termios", "test",
    "this", "threading", "tkinter", "token", "tokenize", "tomllib", "trace", "tracemalloc",
    "tty", "turtle", "turtledemo", "unittest.async_case",
    "unittest.signals", "urllib", "uu", "venv", "wave", "webbrowser",
    "winreg", "winsound", "wsgiref", "xdrlib", "xml", "xmlrpc", "zipapp", "zipfile",
    "zipimport", "zlib", NULL
    // clang-format on
};

/* Well-known modules of others, in whose place dl has one of its own. */
static const struct {
    const char *name, *message;
} replaced[] = {
    {"tqdm", "No module named %V: dl has progress ('from progress import progress')"},
};

static bool add_name(dv_vm *vm, dv_value list, const char *text) {
    dv_value name = dv_str_z(vm, text);
    return !dv_is_empty(name) && dv_list_push(vm, list, name);
}

/* _library: the names of all modules of Python's library, for sys and help(). */
static bool fill_library(dv_vm *vm, dv_module *module) {
    dv_value present = dv_list_new(vm, NULL, 0);
    if (!dv_module_add(vm, module, "present", present)) return false;
    for (const builtin_module *m = builtin_modules; m->name; m++)
        if (!add_name(vm, present, m->name)) return false;
    for (const dv_frozen *f = dv_frozen_modules; f->name; f++)
        if (!add_name(vm, present, f->name)) return false;
    return dv_module_add(vm, module, "left_out", dv_names(vm, left_out));
}

static const char *why_absent(dv_value name) {
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (dv_str_is(name, replaced[i].name)) return replaced[i].message;
    return is_among(name, left_out) ? "module %V is not part of dl" : NULL;
}

/* The main module has them from the beginning. */
static bool has_annotations(dv_vm *vm, dv_module *main) {
    dv_value dict = dv_dict_new(vm);
    return !dv_is_empty(dict) && dv_namespace_set(vm, &main->names, "__annotations__", dict);
}

bool dv_modules_setup(dv_vm *vm) {
    vm->modules = dv_dict_new(vm);
    if (dv_is_empty(vm->modules)) return false;
    vm->helpers = dv_dict_new(vm);
    if (dv_is_empty(vm->helpers)) return false;
    vm->sys.arguments = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(vm->sys.arguments)) return false;
    vm->sys.path = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(vm->sys.path)) return false;
    vm->hooks.import.load_builtin = load_builtin;
    vm->hooks.import.find_frozen = find_frozen;
    vm->hooks.import.unpack_frozen = unpack_frozen;
    vm->hooks.import.why_absent = why_absent;
    vm->main = dv_module_new(vm, "__main__");
    return !dv_is_empty(vm->main) && dv_module_set_plain(vm, dv_as_module(vm->main), DV_NONE) &&
           has_annotations(vm, dv_as_module(vm->main)) &&
           dv_dict_set(vm, vm->modules, vm->known.main, vm->main);
}
