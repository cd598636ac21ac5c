/* time.c: the module time. */
#include "modules/modules.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/number/float.h"
#include "types/file/host.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"

#define LONGEST 9223372036.0 /* seconds that are an int64 of nanoseconds */
#define SLICE   0.005        /* seconds that a sleep may outlast an interrupt */

static int64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The same as the host has it, if it has a clock.  What is no time is 0. */
static int64_t clock_of(const dv_vm *vm, int which, clockid_t clock) {
    if (DV_LIKELY(!vm->asks.clock)) return nanoseconds(clock);
    const double seconds = vm->asks.clock(vm->asks.clock_context, which);
    return fabs(seconds) <= LONGEST ? (int64_t)nearbyint(seconds * 1e9) : 0;
}

int64_t dv_time_now(const dv_vm *vm) { return clock_of(vm, DV_CLOCK_TIME, CLOCK_REALTIME); }

static dv_value as_seconds(int64_t ns) { return dv_float((double)ns / 1e9); }

#define CLOCK(name, which, clock)                                                       \
    static dv_value time_##name(dv_vm *vm, const dv_value *args, uint32_t count) {      \
        (void)args, (void)count;                                                        \
        return as_seconds(clock_of(vm, which, clock));                                  \
    }                                                                                   \
    static dv_value time_##name##_ns(dv_vm *vm, const dv_value *args, uint32_t count) { \
        (void)args, (void)count;                                                        \
        return dv_int_from_int64(vm, clock_of(vm, which, clock));                       \
    }

CLOCK(time, DV_CLOCK_TIME, CLOCK_REALTIME)
CLOCK(monotonic, DV_CLOCK_MONOTONIC, CLOCK_MONOTONIC)
CLOCK(perf_counter, DV_CLOCK_MONOTONIC, CLOCK_MONOTONIC)
CLOCK(process_time, DV_CLOCK_PROCESS, CLOCK_PROCESS_CPUTIME_ID)
CLOCK(thread_time, DV_CLOCK_PROCESS, CLOCK_THREAD_CPUTIME_ID)

/* Seconds; false: raised. */
static bool length_argument(dv_vm *vm, dv_value v, double *seconds) {
    int64_t whole = 0;
    bool big = dv_is_any_int(v) && !dv_int_to_int64(v, &whole);
    if (dv_is_float(v))
        *seconds = dv_as_float(v);
    else if (!big && !dv_size_argument(vm, v, &whole))
        return false;
    else
        *seconds = (double)whole;
    if (*seconds != *seconds)
        dv_raise(vm, DV_E_VALUE_ERROR, "Invalid value NaN (not a number)");
    else if (big || fabs(*seconds) > LONGEST)
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "timestamp too large to convert to C _PyTime_t");
    return dv_is_empty(vm->error);
}

/* Sleeps in slices, so that an interrupt from another thread is noticed. */
static dv_value time_sleep(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double seconds;
    if (!length_argument(vm, args[0], &seconds)) return DV_EMPTY;
    if (seconds < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "sleep length must be non-negative");
    if (vm->asks.sleep) {
        const int failed = vm->asks.sleep(vm->asks.clock_context, seconds);
        if (!dv_work_poll(vm)) return DV_EMPTY;
        return failed ? dv_host_raise(vm, failed, DV_EMPTY) : DV_NONE;
    }
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    for (;;) {
        double left = seconds - (double)(nanoseconds(CLOCK_MONOTONIC) - start) * 1e-9;
        if (!dv_work_poll(vm)) return DV_EMPTY;
        if (left <= 0) return DV_NONE;
        double slice = fmin(left, SLICE);
        struct timespec wait = {0, (long)(slice * 1e9)};
        nanosleep(&wait, NULL);
    }
}

/* __getattr__ of the module: the calendar, which is in the library module _time. */
static dv_value time_getattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    static const char *const names[] = {"altzone",        "asctime",  "ctime",       "daylight",
                                        "get_clock_info", "gmtime",   "localtime",   "mktime",
                                        "strftime",       "strptime", "struct_time", "timezone",
                                        "tzname",         "tzset",    NULL};
    (void)count;
    if (dv_str_is(args[0], "__late__")) return dv_names(vm, names);
    const char *const *name = names;
    while (*name && !(dv_is_str(args[0]) && dv_str_is(args[0], *name))) name++;
    if (*name) return dv_module_borrow(vm, "time", "_time", args[0]);
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "module 'time' has no attribute '%S'", args[0]);
}

static const dv_cfunction_def functions[] = {
    {.name = "__getattr__", .entry = time_getattr, .min = 1, .max = 1},
    {.name = "time", .entry = time_time, .min = 0, .max = 0},
    {.name = "time_ns", .entry = time_time_ns, .min = 0, .max = 0},
    {.name = "monotonic", .entry = time_monotonic, .min = 0, .max = 0},
    {.name = "monotonic_ns", .entry = time_monotonic_ns, .min = 0, .max = 0},
    {.name = "perf_counter", .entry = time_perf_counter, .min = 0, .max = 0},
    {.name = "perf_counter_ns", .entry = time_perf_counter_ns, .min = 0, .max = 0},
    {.name = "process_time", .entry = time_process_time, .min = 0, .max = 0},
    {.name = "process_time_ns", .entry = time_process_time_ns, .min = 0, .max = 0},
    {.name = "thread_time", .entry = time_thread_time, .min = 0, .max = 0},
    {.name = "thread_time_ns", .entry = time_thread_time_ns, .min = 0, .max = 0},
    {.name = "sleep", .entry = time_sleep, .min = 1, .max = 1},
    {.name = NULL}};

bool dv_time_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
