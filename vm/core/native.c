/* native.c: the limits of the C stack (native.h). */
#define _GNU_SOURCE
#include "core/native.h"

#include <pthread.h>

#define DEFAULT_STACK ((size_t)8 << 20)
#define LARGE_STACK   ((size_t)1 << 20)
#define LARGE_MARGIN  ((size_t)192 << 10) /* kept free for C functions that do not ask */

static void find_limit(dv_vm *vm) {
    char *here = __builtin_frame_address(0);
    size_t wanted = vm->c_stack_size ? vm->c_stack_size : DEFAULT_STACK;
    void *lowest = here - wanted / 8;
    size_t size = wanted / 8;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &lowest, &size);
        pthread_attr_destroy(&attributes);
    }
    /* From here on: what lies above, the static thread-local storage of the host's libraries too,
     * is no room. */
    size = (size_t)(here - (char *)lowest);
    if (size > wanted) size = wanted;
    size_t margin = size >= LARGE_STACK ? LARGE_MARGIN : size / 4;
    vm->c_stack_limit = here - size + margin;
}

void dv_native_attach_slow(dv_vm *vm, unsigned long thread) {
    vm->c_stack_thread = thread;
    find_limit(vm);
}

bool dv_enter_native_slow(dv_vm *vm, const char *doing) {
    vm->calls_left++;
    dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded%s", doing);
    return false;
}

bool dv_native_room_slow(dv_vm *vm) {
    dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
    return false;
}
