/* native.h: the C stack.  C functions that recurse on the data of a program (repr, comparison,
 * calls of dl code from C) ask here first, so that deep data raises RecursionError instead of
 * crashing.
 *
 * Invariant 1: every successful dv_enter_native is followed by one dv_leave_native. */
#ifndef DV_CORE_NATIVE_H
#define DV_CORE_NATIVE_H

#include <pthread.h>

#include "core/vm.h"

/* At each entry from the host: finds the limits of this thread's C stack if the thread is another
 * one than last time. */
void dv_native_attach_slow(dv_vm *vm, unsigned long thread);

static inline void dv_native_attach(dv_vm *vm) {
#if __has_builtin(__builtin_thread_pointer) /* what pthread_self gives, without a call */
    const unsigned long thread = (unsigned long)__builtin_thread_pointer();
#else
    const unsigned long thread = (unsigned long)pthread_self();
#endif
    if (DV_UNLIKELY(thread != vm->c_stack_thread)) dv_native_attach_slow(vm, thread);
}

/* False: raised.  Counts like a dl call, as CPython counts C recursion.  `doing` ends the error's
 * message: "" or " in comparison" and the like, as there. */
bool dv_enter_native_slow(dv_vm *vm, const char *doing) DV_MUST_CHECK;

DV_MUST_CHECK static inline bool dv_enter_native_for(dv_vm *vm, const char *doing) {
    if (DV_UNLIKELY(--vm->calls_left < 0 || (char *)__builtin_frame_address(0) < vm->c_stack_limit))
        return dv_enter_native_slow(vm, doing);
    return true;
}

DV_MUST_CHECK static inline bool dv_enter_native(dv_vm *vm) { return dv_enter_native_for(vm, ""); }

/* For C functions that recurse without counting as calls: only asks whether there is room. */
bool dv_native_room_slow(dv_vm *vm) DV_MUST_CHECK;

DV_MUST_CHECK static inline bool dv_native_room(dv_vm *vm) {
    return DV_LIKELY((char *)__builtin_frame_address(0) >= vm->c_stack_limit) ||
           dv_native_room_slow(vm);
}

static inline void dv_leave_native(dv_vm *vm) { vm->calls_left++; }

#endif
