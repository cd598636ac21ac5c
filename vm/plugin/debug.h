/* debug.h: the debug table: extensions get handles instead of objects, and whatever they do with
 * them is checked.
 *
 * A handle stands for one argument or one result, and is never used again for another, so that
 * every mistake can be told from a use of something else that lies at the same address.  The
 * mistakes: values that are never released, used after their release, released too often, borrowed
 * ones released or returned without a reference, DVX_FAILED as a value, calls while an error is
 * pending, results that do not agree with it, blocks of memory of another size, given back twice or
 * never, written behind.  Each is one line that says where it happened, and where the value came
 * from. What would have been fatal is not done, and raises SystemError.
 *
 * The table and the wrappers of slots are generated (gen/templates/extension_debug.c.mako,
 * extension_slots.c.mako); functions and derivatives are wrapped in debug_call.c.
 *
 * Invariants
 *  1. A handle has a tag of its own, so that code that was compiled against the VM's values takes
 * it for none of its kinds.  Values without an object are their own handles.
 *  2. A handle has one reference of the VM for each that the extension has; one that is only lent
 *     has none, as the caller has it.
 *  3. Inside the VM there are no handles: they are made where values go to an extension, and
 *     undone where they come back.  Objects that reach an extension all the same are taken as lent.
 *  4. Calls of an extension in progress are a chain on the C stack; debug->frame is the innermost.
 */
#ifndef DV_PLUGIN_DEBUG_H
#define DV_PLUGIN_DEBUG_H

#include "plugin/type.h"
#include "plugin/watch.h"

#define DV_TAG_HANDLE 0xFFFB000000000000u

/* A function of an extension that runs. */
typedef struct dv_debug_frame {
    struct dv_debug_frame *outer;
    const char *owner, *name; /* "module" or "module.Type", and the function; name may be NULL */
    uint32_t lent;            /* number of handles lent by the frames outside */
    uint32_t entered;         /* `enter` without `leave` */
    bool failed;              /* there was no memory for its arguments */
} dv_debug_frame;

/* A call of the table. */
typedef struct dv_debug_call {
    dv_vm *vm;
    const char *name;
    bool refused; /* an argument is not valid any more */
    bool failed;  /* an argument is DVX_FAILED */
    bool raised;  /* an error was pending */
} dv_debug_call;

extern const dvx_api dv_debug_api; /* generated: calls plugins->checked */

/* debug.c: false: out of memory (nothing is raised). */
bool dv_debug_setup(dv_vm *vm) DV_MUST_CHECK;
/* Reports what is left, and gives it back. */
void dv_debug_discard(dv_vm *vm);

/* ---- Calling an extension ---- */

void dv_debug_begin(dv_vm *vm, dv_debug_frame *frame, const char *owner, const char *name);
/* A handle for an argument; EMPTY stays what it is. */
dv_value dv_debug_lend(dv_vm *vm, dv_debug_frame *frame, dv_value v);
/* What the extension returned, as a new value of the VM. */
dv_value dv_debug_end(dv_vm *vm, dv_debug_frame *frame, dv_value result);
/* The same for what says only whether it raised. */
void dv_debug_end_done(dv_vm *vm, dv_debug_frame *frame, bool done);
/* The same for what does not say it. */
void dv_debug_end_quiet(dv_vm *vm, dv_debug_frame *frame);
/* Takes over a value that an extension has written to *out. */
dv_value dv_debug_take(dv_vm *vm, dv_value v);

/* debug_call.c */
dv_value dv_debug_enter(dv_vm *vm, const dv_extension_function *function, const dv_value *args,
                        uint32_t count);
bool dv_debug_guard(dv_vm *vm, const dv_extension_case *taken, const dv_value *args,
                    uint32_t count);
dvx_outcome dv_debug_run(dv_vm *vm, const dv_extension_case *taken, const dv_value *args,
                         uint32_t count, dv_value *result);
/* Sites: what a type's `specialise` is told, and its derivatives. */
void dv_debug_specialise(dv_vm *vm, const dv_extension_type *type, dvx_site *site);
bool dv_debug_site_guard(dv_vm *vm, const struct dv_extension_site *o, const dv_value *operands);
dvx_outcome dv_debug_site_run(dv_vm *vm, const struct dv_extension_site *o,
                              const dv_value *operands, dv_value *result);
void dv_debug_site_release(dv_vm *vm, struct dv_extension_site *o,
                           void (*release)(dvx_vm *, void *));
bool dv_debug_initialise(dv_vm *vm, const dv_extension *extension, dv_value module);
void dv_debug_finish(dv_vm *vm, const dv_extension *extension);
dv_value dv_debug_binary(dv_vm *vm, const dv_extension_type *type, dvx_binary op, dv_value a,
                         dv_value b);
dv_value dv_debug_get(dv_vm *vm, const dv_extension_type *type,
                      const dv_extension_attribute *attribute, dv_value self);
bool dv_debug_set(dv_vm *vm, const dv_extension_type *type, const dv_extension_attribute *attribute,
                  dv_value self, dv_value value);
/* Slots of a type that has just been described are wrapped; those without a self here, the others
 * by dv_debug_wrap_slots, which is generated. */
void dv_debug_wrap(dv_extension_type *type);
void dv_debug_wrap_slots(dvx_type *slots);

/* ---- Calls of the table ---- */

dv_debug_call dv_debug_called(dv_vm *vm, const char *name);
/* The value that an argument stands for. */
dv_value dv_debug_use(dv_debug_call *call, dv_value v, bool may_be_failed);
/* The same of an array; NULL: refused.  Given back by free_all. */
dv_value *dv_debug_use_all(dv_debug_call *call, const dv_value *values, size_t count);
void dv_debug_free_all(dv_debug_call *call, dv_value *values, size_t count);
/* Can the call be made? */
bool dv_debug_allowed(dv_debug_call *call, bool while_raised) DV_MUST_CHECK;
/* The result: a handle. */
dv_value dv_debug_made(dv_debug_call *call, dv_value result);
/* Notes which call has raised. */
void dv_debug_done(dv_debug_call *call);

/* debug_table.c: the functions that keep accounts themselves. */
dv_value dv_debug_retain(dv_vm *vm, dv_value v);
void dv_debug_release(dv_vm *vm, dv_value v);
dv_value dv_debug_raise_format(dv_vm *vm, dv_value class_, const char *format, ...);
void *dv_debug_allocate(dv_vm *vm, size_t size);
void *dv_debug_resize(dv_vm *vm, void *block, size_t old_size, size_t new_size);
void dv_debug_deallocate(dv_vm *vm, void *block, size_t size);
bool dv_debug_buffer_get(dv_vm *vm, dv_value v, bool writable, dvx_view *view);
void dv_debug_buffer_release(dv_vm *vm, dvx_view *view);
bool dv_debug_enter_native(dv_vm *vm);
void dv_debug_leave_native(dv_vm *vm);

#endif
