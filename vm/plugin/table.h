/* table.h: the functions of the stable table since ABI 1.1, dv_api_NAME for the member NAME, whose
 * comments in dynvm_ext.h say what they do.
 *
 * Invariants
 *  1. Each accepts any value of the VM, and DVX_FAILED, which it refuses (dv_api_given).
 *  2. None trusts a pointer or a number more than the header says it may. */
#ifndef DV_PLUGIN_TABLE_H
#define DV_PLUGIN_TABLE_H

#include "plugin/extension.h"

#include <stdarg.h>

#include "core/upcall.h"

/* Is this a value?  If not, there is an error: the pending one, or SystemError. */
bool dv_api_given_slow(dv_vm *vm);
static inline bool dv_api_given(dv_vm *vm, dv_value v) {
    return DV_LIKELY(!dv_is_empty(v)) || dv_api_given_slow(vm);
}
/* The same for all of `count` values. */
bool dv_api_all_given(dv_vm *vm, const dv_value *values, size_t count);

/* The class that an error's number stands for: SystemError where it stands for none. */
dv_error_class dv_extension_error(dvx_error error);

/* table.c: within this room nobody calls through vm->api, which may be a watching table. */
dvx_value dv_api_make_str(dvx_vm *vm, const char *utf8, size_t size);

/* ---- table_value.c ---- */

dvx_value dv_api_make_uint(dvx_vm *vm, uint64_t i);
dvx_value dv_api_make_int_text(dvx_vm *vm, const char *text, size_t size, int base);
dvx_value dv_api_make_int_limbs(dvx_vm *vm, const uint64_t *limbs, int64_t size);
const uint64_t *dv_api_int_limbs(dvx_vm *vm, dvx_value v, uint64_t *word, int64_t *size);
dvx_value dv_api_make_complex(dvx_vm *vm, double real, double imag);
dvx_value dv_api_make_bytes(dvx_vm *vm, const void *data, size_t size);
dvx_value dv_api_make_tuple(dvx_vm *vm, const dvx_value *items, size_t count);
dvx_value dv_api_make_list(dvx_vm *vm, const dvx_value *items, size_t count);
dvx_value dv_api_make_set(dvx_vm *vm, const dvx_value *items, size_t count);
dvx_value dv_api_make_dict(dvx_vm *vm);
dvx_value dv_api_make_ellipsis(dvx_vm *vm);
dvx_value dv_api_make_not_implemented(dvx_vm *vm);
bool dv_api_read_uint(dvx_vm *vm, dvx_value v, uint64_t *out);
bool dv_api_read_index(dvx_vm *vm, dvx_value v, int64_t *out);
bool dv_api_read_complex(dvx_vm *vm, dvx_value v, double *real, double *imag);
bool dv_api_read_bytes(dvx_vm *vm, dvx_value v, void *buffer, size_t capacity, size_t *size);
bool dv_api_read_slice(dvx_vm *vm, dvx_value slice, int64_t length, int64_t *start, int64_t *step,
                       int64_t *count);

/* ---- table_row.c ---- */

int64_t dv_api_read_row(dvx_vm *vm, dvx_value sequence, dvx_kind kind, int64_t first, int64_t count,
                        void *out);
dvx_value dv_api_make_row(dvx_vm *vm, dvx_kind kind, uint32_t element, const void *data,
                          int64_t stride, size_t count);

/* What follows can be seen from outside: no derivative deoptimises any more (operate.c). */
static inline void dv_api_effect(dv_vm *vm) { vm->extensions.plugins->effects++; }

/* ---- table_protocol.c ---- */

dvx_value dv_api_get_attribute(dvx_vm *vm, dvx_value v, const char *name);
bool dv_api_number_attributes(dvx_vm *vm, dvx_value find);
int dv_api_find_attribute(dvx_vm *vm, dvx_value v, const char *name, dvx_value *out);
bool dv_api_set_attribute(dvx_vm *vm, dvx_value v, const char *name, dvx_value value);
bool dv_api_delete_attribute(dvx_vm *vm, dvx_value v, const char *name);
int64_t dv_api_length(dvx_vm *vm, dvx_value v);
dvx_value dv_api_get_item(dvx_vm *vm, dvx_value v, dvx_value key);
bool dv_api_set_item(dvx_vm *vm, dvx_value v, dvx_value key, dvx_value value);
bool dv_api_delete_item(dvx_vm *vm, dvx_value v, dvx_value key);
int dv_api_contains(dvx_vm *vm, dvx_value v, dvx_value item);
bool dv_api_append(dvx_vm *vm, dvx_value list, dvx_value item);
dvx_value dv_api_call(dvx_vm *vm, dvx_value callee, const dvx_value *args, uint32_t count);
dvx_value dv_api_call_keywords(dvx_vm *vm, dvx_value callee, const dvx_value *args, uint32_t count,
                               dvx_value names);
dvx_value dv_api_call_method(dvx_vm *vm, dvx_value v, const char *name, const dvx_value *args,
                             uint32_t count);
dvx_value dv_api_iterate(dvx_vm *vm, dvx_value v);
int dv_api_next(dvx_vm *vm, dvx_value iterator, dvx_value *out);
dvx_value dv_api_binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b);
dvx_value dv_api_inplace(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b);
dvx_value dv_api_unary(dvx_vm *vm, dvx_unary op, dvx_value v);
dvx_value dv_api_compare(dvx_vm *vm, dvx_compare op, dvx_value a, dvx_value b);
int dv_api_equal(dvx_vm *vm, dvx_value a, dvx_value b);
bool dv_api_same(dvx_vm *vm, dvx_value a, dvx_value b);
bool dv_api_hash(dvx_vm *vm, dvx_value v, int64_t *out);
dvx_value dv_api_repr(dvx_vm *vm, dvx_value v);
dvx_value dv_api_str(dvx_vm *vm, dvx_value v);
dvx_value dv_api_format(dvx_vm *vm, dvx_value v, const char *spec);
dvx_value dv_api_class_of(dvx_vm *vm, dvx_value v);
int dv_api_is_instance(dvx_vm *vm, dvx_value v, dvx_value classes);
int dv_api_is_subclass(dvx_vm *vm, dvx_value class_, dvx_value classes);
dvx_value dv_api_import(dvx_vm *vm, const char *name);
dvx_value dv_api_builtin(dvx_vm *vm, const char *name);

/* ---- table_error.c ---- */

dvx_value dv_api_error_class(dvx_vm *vm, dvx_error error);
dvx_value dv_api_raise_format(dvx_vm *vm, dvx_value class_, const char *format, ...);
/* What raise_format is made of.  Does a format have only directives that the table promises?
 * Others would read other arguments than were passed. */
bool dv_api_is_format(const char *format);
dvx_value dv_api_raise_format_list(dvx_vm *vm, dvx_value class_, const char *format,
                                   va_list arguments);
/* Raises class_(message); takes the message. */
void dv_api_raise_message(dv_vm *vm, dv_value class_, dv_value message);
dvx_value dv_api_raise_error(dvx_vm *vm, dvx_value error);
bool dv_api_error_matches(dvx_vm *vm, dvx_value classes);
dvx_value dv_api_fetch_error(dvx_vm *vm);
void dv_api_clear_error(dvx_vm *vm);
void dv_api_report_error(dvx_vm *vm, const char *message);
bool dv_api_warn(dvx_vm *vm, dvx_value class_, const char *message);
void *dv_api_allocate(dvx_vm *vm, size_t size);
void *dv_api_resize(dvx_vm *vm, void *block, size_t old_size, size_t new_size);
void dv_api_deallocate(dvx_vm *vm, void *block, size_t size);
bool dv_api_poll(dvx_vm *vm);
void dv_api_heavy(dvx_vm *vm);
bool dv_api_work(dvx_vm *vm, int64_t units);
bool dv_api_enter(dvx_vm *vm);
void dv_api_leave(dvx_vm *vm);
void *dv_api_state(dvx_vm *vm, const struct dvx_extension *extension);

/* ---- type.c ---- */

bool dv_api_add_type(dvx_vm *vm, dvx_value module, const dvx_type *type);
dvx_value dv_api_type_class(dvx_vm *vm, const dvx_type *type);
dvx_value dv_api_make_object(dvx_vm *vm, const dvx_type *type, void **payload);
void *dv_api_payload(dvx_vm *vm, dvx_value v, const dvx_type *type);
void *dv_api_check_payload(dvx_vm *vm, dvx_value v, const dvx_type *type);

/* ---- table_buffer.c ---- */

bool dv_api_buffer_get(dvx_vm *vm, dvx_value v, bool writable, dvx_view *view);
void dv_api_buffer_release(dvx_vm *vm, dvx_view *view);

#endif
