/* io.c: the module io: names for the types of files (types/file/file.h), and files in memory
 * (io_memory.c). */
#include "modules/system/io_parts.h"

#include <unistd.h>

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/class/class.h"
#include "types/class/class_build.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/sequence/tuple.h"

/* class UnsupportedOperation(OSError, ValueError) */
static dv_value unsupported_operation(dv_vm *vm) {
    dv_value parents[] = {dv_object_value(dv_exception_class(vm, DV_E_OS_ERROR)),
                          dv_object_value(dv_exception_class(vm, DV_E_VALUE_ERROR))};
    dv_value name = dv_str_z(vm, "UnsupportedOperation"), module = dv_str_z(vm, "io");
    dv_value names = dv_dict_new(vm), bases = dv_tuple_new(vm, parents, 2), class_ = DV_EMPTY;
    if (dv_is_empty(vm->error) && dv_dict_set(vm, names, vm->known.module, module))
        class_ = dv_class_build(vm, name, bases, DV_EMPTY, names);
    dv_release(vm, name);
    dv_release(vm, module);
    dv_release(vm, names);
    dv_release(vm, bases);
    return class_;
}

/* __getattr__ of the module: the abstract classes are dl code, in the library module _io_bases, and
 * BufferedRWPair in _io_layers; what CPython has and dl has not is refused by name. */
static dv_value io_getattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    enum { PAIR = 4, LENT };
    static const char *const names[] = {"IOBase",
                                        "RawIOBase",
                                        "BufferedIOBase",
                                        "TextIOBase",
                                        "BufferedRWPair",
                                        "open_code",
                                        "IncrementalNewlineDecoder",
                                        "text_encoding",
                                        NULL};
    (void)count;
    for (int i = 0; names[i]; i++) {
        if (!dv_is_str(args[0]) || !dv_str_is(args[0], names[i])) continue;
        if (i < LENT)
            return dv_module_borrow(vm, "io", i < PAIR ? "_io_bases" : "_io_layers", args[0]);
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "io.%s is not part of dl", names[i]);
    }
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "module 'io' has no attribute '%S'", args[0]);
}

static const dv_cfunction_def functions[] = {
    {.name = "__getattr__", .entry = io_getattr, .min = 1, .max = 1}, {.name = NULL}};

/* io.open is the builtin itself. */
static bool add_open(dv_vm *vm, dv_module *module) {
    dv_value name = dv_str_intern(vm, "open", 4);
    if (dv_is_empty(name)) return false;
    const dv_global_cell *cell = dv_namespace_find(&vm->builtins, name);
    dv_release(vm, name);
    return dv_module_add(vm, module, "open", dv_retain(cell->value));
}

static const char *const all_names[] = {"BlockingIOError",
                                        "open",
                                        "FileIO",
                                        "BytesIO",
                                        "StringIO",
                                        "BufferedReader",
                                        "BufferedWriter",
                                        "BufferedRandom",
                                        "TextIOWrapper",
                                        "UnsupportedOperation",
                                        "SEEK_SET",
                                        "SEEK_CUR",
                                        "SEEK_END",
                                        "IOBase",
                                        "RawIOBase",
                                        "BufferedIOBase",
                                        "TextIOBase",
                                        "BufferedRWPair",
                                        NULL};

bool dv_io_fill(dv_vm *vm, dv_module *module) {
    module->frozen = true;
    static const dv_type *const types[] = {&dv_stream_type,          &dv_buffered_reader_type,
                                           &dv_buffered_writer_type, &dv_buffered_random_type,
                                           &dv_file_io_type,         &dv_string_io_type,
                                           &dv_bytes_io_type};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!dv_module_add_type(vm, module, types[i])) return false;
    if (!dv_module_know_type(vm, &dv_bytes_io_loan_type)) return false;
    dv_value blocking = dv_object_value(dv_exception_class(vm, DV_E_BLOCKING_IO_ERROR));
    return dv_module_add_functions(vm, module, functions) && add_open(vm, module) &&
           dv_module_add(vm, module, "__all__", dv_names(vm, all_names)) &&
           dv_module_add(vm, module, "UnsupportedOperation", unsupported_operation(vm)) &&
           dv_module_add(vm, module, "BlockingIOError", dv_retain(blocking)) &&
           dv_module_add(vm, module, "DEFAULT_BUFFER_SIZE", dv_int(DV_FILE_CHUNK)) &&
           dv_module_add(vm, module, "SEEK_SET", dv_int(SEEK_SET)) &&
           dv_module_add(vm, module, "SEEK_CUR", dv_int(SEEK_CUR)) &&
           dv_module_add(vm, module, "SEEK_END", dv_int(SEEK_END));
}
