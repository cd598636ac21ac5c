/* native.c: the limits of the C stack (native.h). */
#define _GNU_SOURCE
#include "core/native.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#define DEFAULT_STACK ((size_t)8 << 20)
#define LARGE_STACK   ((size_t)1 << 20)
#define LARGEST_STACK ((size_t)64 << 20)  /* that is known without asking for mappings */
#define LARGE_MARGIN  ((size_t)192 << 10) /* kept free for C functions that do not ask */

/* The lowest address of this stack if it is the process's own; NULL: it is another one, or not
 * known. It grows down from its top, below which is the program's file name, as far as the resource
 * limit says; the kernel keeps 128 MB free for it even if less was allowed when the program began.
 * (pthread_getattr_np reads the list of all mappings instead, which was a tenth of the start.) */
static char *lowest_of_process(const char *here, size_t wanted) {
    const char *name = (const char *)getauxval(AT_EXECFN);
    struct rlimit limit;
    if (!name || wanted > LARGEST_STACK || getrlimit(RLIMIT_STACK, &limit) != 0) return NULL;
    const size_t size = limit.rlim_cur < LARGEST_STACK ? (size_t)limit.rlim_cur : LARGEST_STACK;
    char *lowest = (char *)name - size;
    return here > lowest && here < name ? lowest : NULL;
}

static void find_limit(dv_vm *vm) {
    char *here = __builtin_frame_address(0);
    size_t wanted = vm->c_stack_size ? vm->c_stack_size : DEFAULT_STACK;
    void *lowest = lowest_of_process(here, wanted);
    size_t size = wanted / 8;
    pthread_attr_t attributes;
    if (!lowest && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &lowest, &size);
        pthread_attr_destroy(&attributes);
    }
    if (!lowest) lowest = here - size;
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
