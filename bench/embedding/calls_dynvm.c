/* calls_dynvm.c: how long calls between a C host and dl take; calls_lua.c does the same with Lua.
 *
 * Prints a line for each case: its name and nanoseconds a call, the least of several rounds. */
#include <stdio.h>
#include <stdlib.h>

#include <dynvm.h>
#include <dynvm_ext.h>

#include "clock.h"

enum { CALLS = 1000000 };

static const char program[] = "import host\n"
                              "def add(a, b):\n"
                              "    return a + b\n"
                              "def call_dl(n):\n"
                              "    f = add\n"
                              "    for i in range(n):\n"
                              "        f(i, 1)\n"
                              "def call_c(n):\n"
                              "    f = host.add\n"
                              "    for i in range(n):\n"
                              "        f(i, 1)\n"
                              "def call_raw(n):\n"
                              "    f = host.add_raw\n"
                              "    for i in range(n):\n"
                              "        f(i, 1)\n"
                              "def length(points):\n"
                              "    return len(points)\n";

static int64_t plain_add(int64_t a, int64_t b) { return a + b; }

static dvx_value add(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t a, b;
    (void)count;
    if (!vm->api->read_int(vm, args[0], &a) || !vm->api->read_int(vm, args[1], &b))
        return DVX_FAILED;
    return vm->api->make_int(vm, plain_add(a, b));
}

static const dvx_function add_function = {
    .size = sizeof add_function, .name = "add", .entry = add, .min = 2, .max = 2};
static const dvx_raw raws[] = {
    {.signature = "q(qq)", .entry = (void (*)(void))plain_add, .pure = true}, {.signature = NULL}};
static const dvx_function raw_function = {
    .size = sizeof raw_function, .name = "add_raw", .entry = add, .min = 2, .max = 2, .raw = raws};

static bool fill(dvx_vm *vm, dvx_value module) {
    return vm->api->add_function(vm, module, &add_function) &&
           vm->api->add_function(vm, module, &raw_function);
}

static void must(dynvm_vm *vm, int good) {
    if (good) return;
    fputs(dynvm_error_traceback(dynvm_take_error(vm)), stderr);
    exit(1);
}

/* C calls dl: add(i, 1), and reads the result. */
static void c_calls_dl(dynvm_vm *vm, long count) {
    dynvm_value f = dynvm_get_global(vm, "add");
    for (long i = 0; i < count; i++) {
        dynvm_scope scope = dynvm_open_scope(vm);
        dynvm_value args[] = {dynvm_make_int(vm, i), dynvm_make_int(vm, 1)};
        int64_t sum;
        must(vm, dynvm_read_int(vm, dynvm_call(vm, f, args, 2), &sum) == DYNVM_OK && sum == i + 1);
        dynvm_close_scope(vm, scope);
    }
}

static void in_dl(dynvm_vm *vm, const char *name, long count) {
    dynvm_value n = dynvm_make_int(vm, count);
    must(vm, !dynvm_failed(dynvm_call(vm, dynvm_get_global(vm, name), &n, 1)));
}

/* A table of the host's: a list of pairs, made and measured by dl. */
static void c_makes_data(dynvm_vm *vm, long count) {
    dynvm_value f = dynvm_get_global(vm, "length");
    for (long i = 0; i < count; i += 100) {
        dynvm_scope scope = dynvm_open_scope(vm);
        dynvm_value list = dynvm_make_list(vm, NULL, 0);
        for (int k = 0; k < 100; k++) {
            dynvm_scope inner = dynvm_open_scope(vm);
            dynvm_value pair[] = {dynvm_make_int(vm, k), dynvm_make_float(vm, 0.5 * k)};
            must(vm, dynvm_append(vm, list, dynvm_make_tuple(vm, pair, 2)) == DYNVM_OK);
            dynvm_close_scope(vm, inner);
        }
        must(vm, !dynvm_failed(dynvm_call(vm, f, &list, 1)));
        dynvm_close_scope(vm, scope);
    }
}

int main(void) {
    dynvm_vm *vm = dynvm_create(NULL);
    if (!vm) return 1;
    must(vm, dynvm_add_extension(vm, "host", fill) == DYNVM_OK);
    must(vm, dynvm_run_text(vm, program, sizeof program - 1, "<calls>") == DYNVM_OK);
    double least[5];
    for (int k = 0; k < 5; k++) least[k] = 1e9;
    for (int round = 0; round < 7; round++) {
        dynvm_scope scope = dynvm_open_scope(vm);
        keep_least(&least[0], CALLS, c_calls_dl(vm, CALLS));
        keep_least(&least[1], CALLS, in_dl(vm, "call_dl", CALLS));
        keep_least(&least[2], CALLS, in_dl(vm, "call_c", CALLS));
        keep_least(&least[3], CALLS, in_dl(vm, "call_raw", CALLS));
        keep_least(&least[4], CALLS, c_makes_data(vm, CALLS));
        dynvm_close_scope(vm, scope);
    }
    printf("host_to_script %.1f\nscript_to_script %.1f\nscript_to_host %.1f\n", least[0], least[1],
           least[2]);
    printf("script_to_host_raw %.1f\nhost_makes_pairs %.1f\n", least[3], least[4]);
    dynvm_destroy(vm);
    return 0;
}
