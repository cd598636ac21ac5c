/* stops.c: limits of runs that the host reads, changes and refills; programs that are told to end,
 * and then are ended; interrupts that come too late for the program. */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

static dynvm_vm *create(text *t, uint64_t instructions, double seconds) {
    dynvm_config config = DYNVM_CONFIG;
    config.output = config.error_output = collect;
    config.output_context = t;
    config.instruction_limit = instructions;
    config.time_limit = seconds;
    *t = (text){.size = 0};
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(vm);
    return vm;
}

/* The run ends with a RuntimeError that says `message`. */
static void expect_end(dynvm_vm *vm, const char *source, const char *message) {
    CHECK(run(vm, source) == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "RuntimeError") == 0);
    if (strcmp(dynvm_error_message(error), message) != 0)
        fprintf(stderr, "%s\n", dynvm_error_traceback(error));
    CHECK(strcmp(dynvm_error_message(error), message) == 0);
    dynvm_error_free(error);
}

static double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static const char caught_once[] = "try:\n    while True: pass\nexcept RuntimeError as e:\n"
                                  "    print(e)\nfor i in range(2 * 10 ** 8): pass\n";

/* Who catches the error of a limit does not run free, and neither does the next run. */
static void test_rearm(void) {
    static text t;
    dynvm_vm *vm = create(&t, 1000000, 0);
    for (int i = 0; i < 3; i++) {
        t.size = 0;
        expect_end(vm, caught_once, "instruction limit exceeded");
        CHECK(strcmp(t.data, "instruction limit exceeded\n") == 0);
        CHECK(run(vm, "for i in range(900000): pass\n") == DYNVM_OK);
        CHECK(dynvm_instructions_left(vm) < 110000);
    }
    dynvm_destroy(vm);
    vm = create(&t, 0, 0.05);
    for (int i = 0; i < 3; i++) {
        const double before = clock_now();
        t.size = 0;
        expect_end(vm, caught_once, "time limit exceeded");
        CHECK(strcmp(t.data, "time limit exceeded\n") == 0);
        CHECK(clock_now() - before > 0.05 && clock_now() - before < 2);
        CHECK(run(vm, "for i in range(1000): pass\n") == DYNVM_OK);
    }
    dynvm_destroy(vm);
}

/* Calls of the host are runs; so are those of values. */
static void test_calls(void) {
    static text t;
    dynvm_vm *vm = create(&t, 100000, 0);
    CHECK(run(vm, "def f(n):\n    for i in range(n): pass\n") == DYNVM_OK);
    dynvm_scope scope = dynvm_open_scope(vm);
    for (int i = 0; i < 10; i++) {
        dynvm_value few = dynvm_make_int(vm, 90000), many = dynvm_make_int(vm, 1000000);
        CHECK(!dynvm_failed(dynvm_call(vm, dynvm_get_global(vm, "f"), &few, 1)));
        CHECK(dynvm_failed(dynvm_call(vm, dynvm_get_global(vm, "f"), &many, 1)));
        dynvm_error *error = dynvm_take_error(vm);
        CHECK(strcmp(dynvm_error_message(error), "instruction limit exceeded") == 0);
        dynvm_error_free(error);
    }
    dynvm_close_scope(vm, scope);
    dynvm_destroy(vm);
}

/* ---- Limits that change ---- */

static int refills; /* how often the host gives the program its limits anew */

static int refill(void *context, const char *data, size_t size) {
    dynvm_vm *vm = *(dynvm_vm **)context;
    if (size == 0 || *data == '\n' || refills-- <= 0) return 0;
    CHECK(dynvm_instructions_left(vm) <= 4000000);
    CHECK(dynvm_set_limits(vm, 4000000, 0) == DYNVM_OK);
    CHECK(dynvm_instructions_left(vm) > 3990000);
    return 0;
}

static void test_change(void) {
    static text t;
    dynvm_vm *vm = create(&t, UINT64_MAX, 0);
    CHECK(dynvm_instructions_left(vm) == UINT64_MAX && isinf(dynvm_seconds_left(vm)));
    CHECK(run(vm, "for i in range(3000000): pass\n") == DYNVM_OK);
    CHECK(dynvm_set_limits(vm, 1000000, 10) == DYNVM_OK);
    CHECK(dynvm_instructions_left(vm) == 1000000);
    CHECK(dynvm_seconds_left(vm) > 9 && dynvm_seconds_left(vm) <= 10);
    expect_end(vm, "for i in range(3000000): pass\n", "instruction limit exceeded");
    CHECK(dynvm_set_limits(vm, 0, 0.02) == DYNVM_OK);
    expect_end(vm, "while True: pass\n", "time limit exceeded");
    CHECK(dynvm_set_limits(vm, 0, 0) == DYNVM_OK);
    CHECK(run(vm, "for i in range(3000000): pass\n") == DYNVM_OK);
    CHECK(dynvm_set_limits(vm, 0, -1) == DYNVM_ERROR);
    dynvm_error_free(dynvm_take_error(vm));
    dynvm_destroy(vm);
    /* One that counts no calls could not keep them. */
    vm = create(&t, 0, 0);
    CHECK(dynvm_set_limits(vm, 1000, 0) == DYNVM_ERROR);
    dynvm_error_free(dynvm_take_error(vm));
    dynvm_destroy(vm);
    /* While a program runs. */
    dynvm_config config = DYNVM_CONFIG;
    config.output = refill;
    config.output_context = &vm;
    config.instruction_limit = 4000000;
    vm = dynvm_create(&config);
    refills = 6;
    CHECK(run(vm, "for i in range(5000000):\n    if i % 900000 == 0: print(i)\n") == DYNVM_OK);
    refills = 1;
    expect_end(vm, "for i in range(5000000):\n    if i % 900000 == 0: print(i)\n",
               "instruction limit exceeded");
    dynvm_destroy(vm);
}

/* ---- The end ---- */

typedef struct stopping {
    dynvm_vm *vm;
    int how;
} stopping;

static void *stop_soon(void *context) {
    const struct timespec some = {.tv_nsec = 20000000};
    const stopping *s = context;
    nanosleep(&some, NULL);
    if (s->how < 0)
        dynvm_interrupt(s->vm);
    else
        dynvm_stop(s->vm, s->how);
    return NULL;
}

static const char *const stubborn[] = {
    "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n",
    "def f():\n    try: f()\n    except BaseException: f()\nf()\nwhile True: f()\n",
    "import time\nwhile True:\n    try:\n        while True: pass\n    finally:\n"
    "        print('finally')\n        time.sleep(100)\n",
    "def f():\n    try:\n        f()\n    finally:\n        f()\nwhile True:\n    try: f()\n"
    "    except BaseException: pass\n",
};

/* A program that is told to end does so in order, or soon. */
static void test_end(void) {
    static text t;
    for (size_t i = 0; i < sizeof stubborn / sizeof *stubborn; i++) {
        for (int counted = 0; counted < 2; counted++) {
            dynvm_vm *vm = create(&t, counted ? UINT64_MAX : 0, 0);
            stopping s = {vm, DYNVM_END};
            pthread_t thread;
            CHECK(pthread_create(&thread, NULL, stop_soon, &s) == 0);
            const double before = clock_now();
            expect_end(vm, stubborn[i], "stopped by the host");
            CHECK(clock_now() - before < 2);
            CHECK(pthread_join(thread, NULL) == 0);
            if (i == 2) CHECK(strcmp(t.data, "finally\n") == 0);
            expect_end(vm, "for i in range(10 ** 6): pass\n", "stopped by the host");
            dynvm_stop(vm, DYNVM_GO_ON);
            CHECK(run(vm, "for i in range(10 ** 6): pass\n") == DYNVM_OK);
            dynvm_destroy(vm);
        }
    }
}

/* `finally` gets a budget, and the program ends within it. */
static void test_in_order(void) {
    static text t;
    dynvm_vm *vm = create(&t, 1000000, 0);
    expect_end(vm,
               "try:\n    while True: pass\nfinally:\n"
               "    for i in range(50000): pass\n    print('done', i)\n",
               "instruction limit exceeded");
    CHECK(strcmp(t.data, "done 49999\n") == 0);
    dynvm_destroy(vm);
}

/* ---- Interrupts ---- */

static int interrupt_itself(void *context, const char *data, size_t size) {
    (void)data, (void)size;
    dynvm_interrupt(*(dynvm_vm **)context);
    return 0;
}

/* One that comes while the program does its last thing is told to the host. */
static void test_late(void) {
    dynvm_vm *vm;
    dynvm_config config = DYNVM_CONFIG;
    config.output = interrupt_itself;
    config.output_context = &vm;
    vm = dynvm_create(&config);
    CHECK(run(vm, "print('x')\n") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "KeyboardInterrupt") == 0);
    dynvm_error_free(error);
    CHECK(!dynvm_interrupted(vm));
    CHECK(run(vm, "x = 1\n") == DYNVM_OK);
    dynvm_destroy(vm);
}

/* One that comes while a __del__ runs, which cannot raise it, is raised behind it. */
static void test_in_finaliser(void) {
    dynvm_vm *vm;
    dynvm_config config = DYNVM_CONFIG;
    config.output = interrupt_itself;
    config.output_context = &vm;
    vm = dynvm_create(&config);
    CHECK(run(vm, "class C:\n    def __del__(self):\n        print('dying')\n"
                  "        for i in range(100): pass\n"
                  "for i in range(1000): C()\n") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "KeyboardInterrupt") == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

/* What waits hears of the end, too. */
static void test_sleep(void) {
    static text t;
    dynvm_vm *vm = create(&t, 0, 0.05);
    const double before = clock_now();
    expect_end(vm, "import time\ntime.sleep(100)\n", "time limit exceeded");
    stopping s = {vm, -1};
    pthread_t thread;
    CHECK(dynvm_set_limits(vm, 0, 0) == DYNVM_OK);
    CHECK(pthread_create(&thread, NULL, stop_soon, &s) == 0);
    CHECK(run(vm, "time.sleep(100)\n") == DYNVM_ERROR);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(clock_now() - before < 5);
    dynvm_destroy(vm);
}

int main(void) {
    test_rearm();
    test_calls();
    test_change();
    test_end();
    test_in_order();
    test_late();
    test_in_finaliser();
    test_sleep();
    return 0;
}
