/* struct.c: the module struct: the class Struct, and the functions, which keep the formats that
 * they were given.
 *
 * Invariants
 *  1. vm->struct_formats has at most FORMATS_MAX formats; it is emptied when it would have more.
 *  2. Packing may run dl code, which may change a buffer: what is packed is complete before the
 *     buffer is looked at. */
#include <string.h>

#include "core/upcall.h"
#include "modules/modules.h"
#include "modules/format/struct_parts.h"
#include "types/callable/arguments.h"
#include "types/binary/array.h"
#include "types/binary/bytes.h"
#include "types/binary/memoryview.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

#define FORMATS_MAX 100
#define FEW_BYTES   256

static dv_value raise(dv_vm *vm, const char *message) {
    return dv_raise(vm, DV_E_STRUCT_ERROR, "%s", message);
}

/* ---- Formats ----------------------------------------------------------------------------------*/

/* The Struct of a format, a str or bytes. */
static dv_value struct_of(dv_vm *vm, dv_value format) {
    if (!dv_is_str(format) && !dv_is_bytes(format))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "Struct() argument 1 must be a str or bytes object, not %T", format);
    dv_value ascii = dv_str_z(vm, "ascii"), text = DV_EMPTY, result = DV_EMPTY;
    if (!dv_is_empty(ascii))
        text = dv_is_str(format) ? dv_encode(vm, format, ascii, DV_EMPTY) : dv_retain(format);
    dv_release(vm, ascii);
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_value name = dv_str_points(vm, dv_as_str(text)->data, 1, dv_as_str(text)->length);
    if (!dv_is_empty(name)) result = dv_struct_parse(vm, name);
    dv_release(vm, name);
    dv_release(vm, text);
    return result;
}

static dv_value remember(dv_vm *vm, dv_value format) {
    dv_value made = struct_of(vm, format);
    if (dv_is_empty(made)) return DV_EMPTY;
    if (dv_as_dict(vm->struct_formats)->count >= FORMATS_MAX) dv_dict_clear(vm, vm->struct_formats);
    if (dv_dict_set(vm, vm->struct_formats, format, made)) return made;
    dv_release(vm, made);
    return DV_EMPTY;
}

/* The same from the formats that are known; new. */
static dv_value known_struct(dv_vm *vm, dv_value format) {
    if (!dv_is_shape(format, DV_T_STR) && !dv_is_shape(format, DV_T_BYTES))
        return struct_of(vm, format);
    dv_value found = dv_dict_get(vm, vm->struct_formats, format);
    if (DV_LIKELY(!dv_is_empty(found))) return dv_retain(found);
    return dv_is_empty(vm->error) ? remember(vm, format) : DV_EMPTY;
}

/* ---- Buffers ----------------------------------------------------------------------------------*/

typedef struct view {
    const char *data;
    int64_t length;
    dv_value owner; /* retained */
} view;

static bool look(dv_vm *vm, dv_value buffer, view *out) {
    if (dv_is_bytes_like(buffer)) {
        const dv_str *bytes = dv_as_bytes(buffer);
        *out = (view){bytes->data, bytes->length, dv_retain(dv_bytes_of(buffer))};
        return true;
    }
    if (dv_is_array(buffer)) {
        const dv_array *array = dv_as_array(buffer);
        *out = (view){array->data, array->count * array->kind->size, dv_retain(buffer)};
        return true;
    }
    if (dv_is_memoryview(buffer)) {
        const dv_memoryview *m = dv_as_memoryview(buffer);
        *out = (view){m->view.buffer.data, dv_memoryview_size(m), dv_retain(buffer)};
        if (dv_memoryview_is_whole(vm, m)) return true;
        dv_release(vm, buffer);
        return false;
    }
    dv_raise(vm, DV_E_TYPE_ERROR, "a bytes-like object is required, not '%T'", buffer);
    return false;
}

/* Can it be written to? */
static bool is_writable(dv_value buffer) {
    if (!dv_is_memoryview(buffer)) return dv_is_bytearray(buffer) || dv_is_array(buffer);
    const dv_buffer *b = &dv_as_memoryview(buffer)->view.buffer;
    return !b->read_only && dv_buffer_is_whole(b, false);
}

static char *data_of(dv_value buffer) {
    return dv_is_array(buffer) ? dv_as_array(buffer)->data
                               : dv_as_memoryview(buffer)->view.buffer.data;
}

/* Writes to a bytearray, an array or a memoryview, where there is room. */
static bool write_to(dv_vm *vm, dv_value buffer, int64_t offset, const char *data, int64_t size) {
    if (dv_is_bytearray(buffer)) return dv_bytearray_write(vm, buffer, offset, data, size);
    if (size) memcpy(data_of(buffer) + offset, data, (size_t)size);
    return true;
}

static int64_t buffer_length(dv_value buffer) {
    if (dv_is_bytearray(buffer)) return dv_as_bytes(buffer)->length;
    if (dv_is_memoryview(buffer)) return dv_memoryview_size(dv_as_memoryview(buffer));
    return dv_as_array(buffer)->count * dv_as_array(buffer)->kind->size;
}

/* An offset as it was given, made to count from the beginning; struct.error where the items do not
 * fit. */
static bool place(dv_vm *vm, const dv_struct *s, int64_t length, bool packing, int64_t *offset) {
    int64_t given = *offset;
    if (given < 0) {
        if (given + s->size > 0) {
            dv_raise(vm, DV_E_STRUCT_ERROR,
                     packing ? "no space to pack %lld bytes at offset %lld"
                             : "not enough data to unpack %lld bytes at offset %lld",
                     (long long)s->size, (long long)given);
            return false;
        }
        if (given + length < 0) {
            dv_raise(vm, DV_E_STRUCT_ERROR, "offset %lld out of range for %lld-byte buffer",
                     (long long)given, (long long)length);
            return false;
        }
        *offset = given + length;
    }
    if (length - *offset >= s->size) return true;
    dv_raise(vm, DV_E_STRUCT_ERROR,
             packing
                 ? "pack_into requires a buffer of at least %llu bytes for packing %lld bytes at "
                   "offset %lld (actual buffer size is %lld)"
                 : "unpack_from requires a buffer of at least %llu bytes for unpacking %lld "
                   "bytes at offset %lld (actual buffer size is %lld)",
             (unsigned long long)s->size + (unsigned long long)*offset, (long long)s->size,
             (long long)*offset, (long long)length);
    return false;
}

/* ---- Packing and unpacking --------------------------------------------------------------------*/

static bool check_count(dv_vm *vm, const dv_struct *s, const char *function, uint32_t count) {
    if ((int64_t)count == s->count) return true;
    dv_raise(vm, DV_E_STRUCT_ERROR, "%s expected %lld items for packing (got %d)", function,
             (long long)s->count, (int)count);
    return false;
}

static dv_value pack(dv_vm *vm, const dv_struct *s, const dv_value *args, uint32_t count) {
    if (!check_count(vm, s, "pack", count)) return DV_EMPTY;
    if (s->size > DV_STR_LENGTH_MAX) return dv_raise_memory(vm);
    dv_str *bytes = dv_bytes_alloc(vm, s->size);
    if (!bytes) return DV_EMPTY;
    if (dv_struct_pack(vm, s, args, bytes->data)) return dv_object_value(bytes);
    dv_release_object(vm, &bytes->header);
    return DV_EMPTY;
}

/* args: buffer, offset, items */
static bool pack_at(dv_vm *vm, const dv_struct *s, const dv_value *args, int64_t offset,
                    char *packed) {
    if (!place(vm, s, buffer_length(args[0]), true, &offset) ||
        !dv_struct_pack(vm, s, args + 2, packed))
        return false;
    if (buffer_length(args[0]) - offset >= s->size)
        return write_to(vm, args[0], offset, packed, s->size);
    dv_raise(vm, DV_E_BUFFER_ERROR,
             "Existing exports of data: object cannot be re-sized"); /* it was, meanwhile */
    return false;
}

static dv_value pack_into(dv_vm *vm, const dv_struct *s, const dv_value *args, uint32_t count) {
    int64_t offset;
    if (count == 0) return raise(vm, "pack_into expected buffer argument");
    if (count == 1) return raise(vm, "pack_into expected offset argument");
    if (!check_count(vm, s, "pack_into", count - 2)) return DV_EMPTY;
    if (dv_is_memoryview(args[0]) && dv_is_empty(dv_as_memoryview(args[0])->view.owner))
        return dv_memoryview_refuse(vm);
    if (!is_writable(args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "argument must be read-write bytes-like object, not %T", args[0]);
    if (!dv_as_index(vm, args[1], &offset)) return DV_EMPTY;
    if (s->size > DV_STR_LENGTH_MAX) return dv_raise_memory(vm);
    char few[FEW_BYTES], *packed = few;
    if (s->size > FEW_BYTES && !(packed = dv_heap_alloc(&vm->heap, (size_t)s->size)))
        return dv_raise_memory(vm);
    bool good = pack_at(vm, s, args, offset, packed);
    if (packed != few) dv_heap_free(&vm->heap, packed, (size_t)s->size);
    return good ? DV_NONE : DV_EMPTY;
}

static dv_value unpack(dv_vm *vm, const dv_struct *s, dv_value buffer) {
    view v;
    if (!look(vm, buffer, &v)) return DV_EMPTY;
    dv_value result = v.length == s->size
                          ? dv_struct_unpack(vm, s, v.data)
                          : dv_raise(vm, DV_E_STRUCT_ERROR,
                                     "unpack requires a buffer of %lld bytes", (long long)s->size);
    dv_release(vm, v.owner);
    return result;
}

static dv_value unpack_from(dv_vm *vm, const dv_struct *s, dv_value buffer, dv_value start) {
    view v;
    int64_t offset = 0;
    if (!dv_is_empty(start) && !dv_size_argument(vm, start, &offset)) return DV_EMPTY;
    if (!look(vm, buffer, &v)) return DV_EMPTY;
    dv_value result = place(vm, s, v.length, false, &offset)
                          ? dv_struct_unpack(vm, s, v.data + offset)
                          : DV_EMPTY;
    dv_release(vm, v.owner);
    return result;
}

/* ---- Unpacking one after the other ------------------------------------------------------------*/

typedef struct unpacker {
    dv_object header;
    dv_value format, buffer; /* buffer is EMPTY once all is unpacked */
    int64_t offset;
} unpacker;

static dv_value iter_unpack(dv_vm *vm, dv_value format, dv_value buffer) {
    const dv_struct *s = dv_as_struct(format);
    view v;
    if (s->size == 0) return raise(vm, "cannot iteratively unpack with a struct of length 0");
    if (!look(vm, buffer, &v)) return DV_EMPTY;
    bool whole = v.length % s->size == 0;
    dv_release(vm, v.owner);
    if (!whole)
        return dv_raise(vm, DV_E_STRUCT_ERROR,
                        "iterative unpacking requires a buffer of a multiple of %lld bytes",
                        (long long)s->size);
    unpacker *u = dv_object_new(vm, sizeof *u, DV_T_STRUCT_ITERATOR);
    if (!u) return DV_EMPTY;
    u->format = dv_retain(format);
    u->buffer = dv_retain(buffer);
    u->offset = 0;
    return dv_object_value(u);
}

static void unpacker_release(dv_vm *vm, dv_object *object) {
    unpacker *u = (unpacker *)object;
    dv_release(vm, u->format);
    dv_release(vm, u->buffer);
    dv_heap_free(&vm->heap, u, sizeof *u);
}

static dv_value unpacker_next(dv_vm *vm, dv_value self) {
    unpacker *u = (unpacker *)dv_as_object(self);
    const dv_struct *s = dv_as_struct(u->format);
    view v;
    if (dv_is_empty(u->buffer) || !look(vm, u->buffer, &v)) return DV_EMPTY;
    dv_value result = DV_EMPTY;
    if (u->offset + s->size <= v.length) {
        result = dv_struct_unpack(vm, s, v.data + u->offset);
        u->offset += s->size;
    } else {
        dv_release(vm, u->buffer);
        u->buffer = DV_EMPTY;
    }
    dv_release(vm, v.owner);
    return result;
}

static dv_value unpacker_iterate(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

static dv_value unpacker_hint(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const unpacker *u = (const unpacker *)dv_as_object(args[0]);
    view v;
    if (dv_is_empty(u->buffer)) return dv_int(0);
    if (!look(vm, u->buffer, &v)) return DV_EMPTY;
    dv_release(vm, v.owner);
    return dv_int((v.length - u->offset) / dv_as_struct(u->format)->size);
}

static dv_value address_repr(dv_vm *vm, dv_value self) {
    return dv_str_printf(vm, "<%s object at 0x%llx>", vm->types[dv_type_of(vm, self)]->name,
                         dv_identity(vm, self));
}

static const dv_cfunction_def unpacker_methods[] = {
    {.name = "__length_hint__", .entry = unpacker_hint, .min = 1, .max = 1}, {.name = NULL}};

const dv_type dv_struct_iterator_type = {
    .name = "_struct.unpack_iterator",
    .id = DV_T_STRUCT_ITERATOR,
    .release = unpacker_release,
    .repr = address_repr,
    .iterate = unpacker_iterate,
    .next = unpacker_next,
    .methods = unpacker_methods,
};

/* ---- Struct -----------------------------------------------------------------------------------*/

static void struct_release(dv_vm *vm, dv_object *object) {
    dv_struct *s = (dv_struct *)object;
    dv_release(vm, s->format);
    dv_heap_free(&vm->heap, s, sizeof *s + (size_t)s->code_count * sizeof *s->codes);
}

static dv_value struct_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    static const char *const names[] = {"format"};
    static const dv_parameters parameters = {"Struct", names, 1, 1, 1};
    dv_value format;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &format)) return DV_EMPTY;
    return struct_of(vm, format);
}

static dv_value struct_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_str_is(name, "size")) return dv_int_from_int64(vm, dv_as_struct(self)->size);
    if (dv_str_is(name, "format")) return dv_retain(dv_as_struct(self)->format);
    return DV_EMPTY;
}

static bool struct_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    (void)value;
    if (dv_str_is(name, "size") || dv_str_is(name, "format"))
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "attribute '%S' of '%T' objects is not writable", name,
                 self);
    else
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object has no attribute '%S'", self, name);
    return false;
}

static dv_value method_pack(dv_vm *vm, const dv_value *args, uint32_t count) {
    return pack(vm, dv_as_struct(args[0]), args + 1, count - 1);
}

static dv_value method_pack_into(dv_vm *vm, const dv_value *args, uint32_t count) {
    return pack_into(vm, dv_as_struct(args[0]), args + 1, count - 1);
}

static dv_value method_unpack(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return unpack(vm, dv_as_struct(args[0]), args[1]);
}

static dv_value method_unpack_from(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    static const char *const names[] = {"buffer", "offset"};
    static const dv_parameters parameters = {"unpack_from", names, 2, 2, 1};
    dv_value given[2];
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, given)) return DV_EMPTY;
    return unpack_from(vm, dv_as_struct(args[0]), given[0], given[1]);
}

static dv_value method_iter_unpack(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return iter_unpack(vm, args[0], args[1]);
}

static const dv_cfunction_def struct_methods[] = {
    {.name = "pack", .entry = method_pack, .min = 1, .max = UINT32_MAX},
    {.name = "pack_into", .entry = method_pack_into, .min = 1, .max = UINT32_MAX},
    {.name = "unpack", .entry = method_unpack, .min = 2, .max = 2},
    {.name = "unpack_from", .keyword_entry = method_unpack_from, .min = 1, .max = UINT32_MAX},
    {.name = "iter_unpack", .entry = method_iter_unpack, .min = 2, .max = 2},
    {.name = NULL}};

const dv_type dv_struct_type = {
    .name = "_struct.Struct",
    .id = DV_T_STRUCT,
    .weakly = true,
    .release = struct_release,
    .repr = address_repr,
    .get_attribute = struct_get_attribute,
    .set_attribute = struct_set_attribute,
    .construct = struct_construct,
    .methods = struct_methods,
};

/* ---- Functions --------------------------------------------------------------------------------*/

static dv_value function_pack(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 0) return dv_raise(vm, DV_E_TYPE_ERROR, "missing format argument");
    dv_value s = known_struct(vm, args[0]);
    if (dv_is_empty(s)) return DV_EMPTY;
    dv_value result = pack(vm, dv_as_struct(s), args + 1, count - 1);
    dv_release(vm, s);
    return result;
}

static dv_value function_pack_into(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 0) return dv_raise(vm, DV_E_TYPE_ERROR, "missing format argument");
    dv_value s = known_struct(vm, args[0]);
    if (dv_is_empty(s)) return DV_EMPTY;
    dv_value result = pack_into(vm, dv_as_struct(s), args + 1, count - 1);
    dv_release(vm, s);
    return result;
}

static dv_value function_unpack(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value s = known_struct(vm, args[0]);
    if (dv_is_empty(s)) return DV_EMPTY;
    dv_value result = unpack(vm, dv_as_struct(s), args[1]);
    dv_release(vm, s);
    return result;
}

static dv_value function_unpack_from(dv_vm *vm, const dv_value *args, uint32_t count,
                                     dv_value keywords) {
    static const char *const names[] = {"format", "buffer", "offset"};
    static const dv_parameters parameters = {"unpack_from", names, 3, 3, 2};
    dv_value given[3];
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (count == named)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "unpack_from() takes at least 1 positional argument (0 given)");
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    dv_value s = known_struct(vm, given[0]);
    if (dv_is_empty(s)) return DV_EMPTY;
    dv_value result = unpack_from(vm, dv_as_struct(s), given[1], given[2]);
    dv_release(vm, s);
    return result;
}

static dv_value function_iter_unpack(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value s = known_struct(vm, args[0]);
    if (dv_is_empty(s)) return DV_EMPTY;
    dv_value result = iter_unpack(vm, s, args[1]);
    dv_release(vm, s);
    return result;
}

static dv_value function_calcsize(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count != 1)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "_struct.calcsize() takes exactly one argument (%d given)", (int)count);
    dv_value s = known_struct(vm, args[0]);
    if (dv_is_empty(s)) return DV_EMPTY;
    dv_value size = dv_int_from_int64(vm, dv_as_struct(s)->size);
    dv_release(vm, s);
    return size;
}

static const dv_cfunction_def functions[] = {
    {.name = "pack", .entry = function_pack, .min = 0, .max = UINT32_MAX},
    {.name = "pack_into", .entry = function_pack_into, .min = 0, .max = UINT32_MAX},
    {.name = "unpack", .entry = function_unpack, .min = 2, .max = 2},
    {.name = "unpack_from", .keyword_entry = function_unpack_from, .min = 0, .max = UINT32_MAX},
    {.name = "iter_unpack", .entry = function_iter_unpack, .min = 2, .max = 2},
    {.name = "calcsize", .entry = function_calcsize, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};

/* ---- The module -------------------------------------------------------------------------------*/

/* The class struct.error, of which the VM keeps one. */
static bool make_error(dv_vm *vm) {
    if (vm->error_classes[DV_E_STRUCT_ERROR]) return true;
    dv_value name = dv_str_intern(vm, "error", 5), module = dv_str_z(vm, "struct");
    dv_class *class_ = NULL;
    if (!dv_is_empty(name) && !dv_is_empty(module))
        class_ = dv_class_new(vm, name, vm->error_classes[DV_E_EXCEPTION], DV_T_EXCEPTION);
    dv_release(vm, name);
    if (!class_) {
        dv_release(vm, module);
        return false;
    }
    class_->descriptor = &dv_exception_type;
    vm->error_classes[DV_E_STRUCT_ERROR] = class_;
    return dv_class_store(vm, class_, vm->known.module, module);
}

static const char *const all_names[] = {"calcsize", "pack",        "pack_into",
                                        "unpack",   "unpack_from", "iter_unpack",
                                        "Struct",   "error",       NULL};

bool dv_struct_fill(dv_vm *vm, dv_module *module) {
    if (dv_is_empty(vm->struct_formats)) vm->struct_formats = dv_dict_new(vm);
    if (dv_is_empty(vm->struct_formats) || !make_error(vm)) return false;
    dv_value error = dv_object_value(vm->error_classes[DV_E_STRUCT_ERROR]);
    return dv_module_add_functions_of(vm, module, "_struct", functions) &&
           dv_module_add_type(vm, module, &dv_struct_type) &&
           dv_module_know_type(vm, &dv_struct_iterator_type) &&
           dv_module_add(vm, module, "error", dv_retain(error)) &&
           dv_module_add(vm, module, "__all__", dv_names(vm, all_names));
}
