/* limits.c: limits on memory, recursion, instructions and the C stack; a host without memory;
 * interrupts; what a VM costs. */
#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* An allocator that counts, and fails from a certain allocation on. */
typedef struct host {
    size_t used, blocks;
    uint64_t allocations, fail_from; /* 0: never */
} host;

static void *host_resize(void *context, void *block, size_t old_size, size_t new_size) {
    host *h = (host *)context;
    if (new_size == 0) {
        if (block) h->blocks--;
        free(block);
        return NULL;
    }
    h->allocations++;
    if (h->fail_from && h->allocations >= h->fail_from) return NULL;
    void *result = realloc(block, new_size);
    if (!result) return NULL;
    if (!block) h->blocks++;
    h->used += new_size - old_size;
    return result;
}

static void expect_error(dynvm_vm *vm, const char *source, const char *type) {
    CHECK(run(vm, source) == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    if (strcmp(dynvm_error_type(error), type) != 0)
        fprintf(stderr, "%s\n", dynvm_error_traceback(error));
    CHECK(strcmp(dynvm_error_type(error), type) == 0);
    dynvm_error_free(error);
}

static void test_memory_limit(void) {
    text t = {.size = 0};
    dynvm_config config = DYNVM_CONFIG;
    config.memory_limit = (size_t)8 << 20;
    config.output = collect;
    config.output_context = &t;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(vm);
    expect_error(vm, "x = [0] * 10**12\n", "MemoryError");
    expect_error(vm, "x = 'a' * 10**10\n", "MemoryError");
    expect_error(vm, "x = []\nwhile True:\n    x.append((1, 2, 3))\n", "MemoryError");
    expect_error(vm, "x = 1\nwhile True:\n    x = x * x + 1\n", "MemoryError");
    CHECK(dynvm_memory_peak(vm) <= config.memory_limit);
    /* Programs may catch it and go on. */
    const char *source = "x = None\n"
                         "try:\n"
                         "    x = [0] * 10**9\n"
                         "except MemoryError as e:\n"
                         "    print('caught', repr(e))\n";
    CHECK(run(vm, source) == DYNVM_OK);
    CHECK(strcmp(t.data, "caught MemoryError()\n") == 0);
    CHECK(dynvm_memory_used(vm) < config.memory_limit);
    dynvm_destroy(vm);
}

/* Every allocation of a host fails once: an error or the right result, and nothing leaks. */
static void test_failing_host(void) {
    const char *source = "d = {}\n"
                         "class C:\n"
                         "    def __init__(self, v):\n"
                         "        self.v = v\n"
                         "for i in range(300):\n"
                         "    d[str(i)] = [C(i), i * 10**20, (i, 'x' * i)]\n"
                         "s = sorted(d, key=len)\n"
                         "try:\n"
                         "    [][1]\n"
                         "except IndexError as e:\n"
                         "    s.append(f'{e!r}')\n"
                         "print(len(s))\n";
    bool succeeded = false;
    for (uint64_t n = 1; !succeeded; n++) {
        host h = {.fail_from = n};
        text t = {.size = 0};
        dynvm_config config = DYNVM_CONFIG;
        config.resize = host_resize;
        config.resize_context = &h;
        config.output = collect;
        config.output_context = &t;
        dynvm_vm *vm = dynvm_create(&config);
        if (vm) {
            dynvm_status status = run(vm, source);
            succeeded = status == DYNVM_OK && h.allocations < n;
            if (status == DYNVM_OK) CHECK(strcmp(t.data, "301\n") == 0);
            dynvm_destroy(vm);
        }
        CHECK(h.blocks == 0);
        CHECK(n < 100000);
    }
}

static void test_recursion(void) {
    dynvm_config config = DYNVM_CONFIG;
    config.recursion_limit = 50;
    dynvm_vm *vm = dynvm_create(&config);
    expect_error(vm, "def f(n):\n    return f(n + 1)\nf(0)\n", "RecursionError");
    CHECK(run(vm, "def g(n):\n    return 0 if n == 0 else 1 + g(n - 1)\ng(40)\n") == DYNVM_OK);
    dynvm_destroy(vm);
}

static void test_instruction_limit(void) {
    dynvm_config config = DYNVM_CONFIG;
    config.instruction_limit = 10000000;
    dynvm_vm *vm = dynvm_create(&config);
    expect_error(vm, "while True:\n    pass\n", "RuntimeError");
    dynvm_destroy(vm);
    /* Calls count where there is no loop; each run has the same limit. */
    config.instruction_limit = 100000;
    vm = dynvm_create(&config);
    expect_error(vm, "def f(n):\n    return f(n - 1) + f(n - 1) if n else 1\nf(60)\n",
                 "RuntimeError");
    expect_error(vm, "f(17)\n", "RuntimeError");
    CHECK(run(vm, "f(14)\n") == DYNVM_OK);
    expect_error(vm, "f(16)\n", "RuntimeError");
    dynvm_destroy(vm);
    vm = dynvm_create(&config);
    CHECK(run(vm, "def f(n):\n    return f(n - 1) + f(n - 1) if n else 1\nf(14)\n") == DYNVM_OK);
    expect_error(vm,
                 "class C:\n    def __init__(self, n):\n        n and (C(n - 1), C(n - 1))\n"
                 "C(60)\n",
                 "RuntimeError");
    dynvm_destroy(vm);
}

/* ThreadSanitizer keeps much of its own on every thread's stack. */
#ifdef __SANITIZE_THREAD__
#define SMALL_STACK ((size_t)2 << 20)
#else
#define SMALL_STACK ((size_t)256 << 10)
#endif

/* C recursion on a thread with a small stack. */
static void *run_on_small_stack(void *context) {
    dynvm_vm *vm = (dynvm_vm *)context;
    expect_error(vm,
                 "import sys\n"
                 "sys.setrecursionlimit(1000000)\n"
                 "class A:\n"
                 "    def __repr__(self):\n"
                 "        return repr(self)\n"
                 "repr(A())\n",
                 "RecursionError");
    expect_error(vm, "x = []\nfor i in range(100000):\n    x = [x]\nrepr(x)\n", "RecursionError");
    expect_error(vm, "y = []\nfor i in range(100000):\n    y = [y]\nx == y\n", "RecursionError");
    CHECK(run(vm, "x = y = None\n") == DYNVM_OK);
    /* dl calls need no C stack at all. */
    CHECK(run(vm, "def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\nf(200000)\n") == DYNVM_OK);
    return NULL;
}

static void test_small_stack(void) {
    dynvm_vm *vm = dynvm_create(NULL);
    CHECK(run(vm, "x = 1\n") == DYNVM_OK);
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, SMALL_STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, run_on_small_stack, vm) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
    CHECK(run(vm, "x = 2\n") == DYNVM_OK);
    dynvm_destroy(vm);
}

static void *interrupt_soon(void *context) {
    struct timespec wait = {0, 20000000};
    nanosleep(&wait, NULL);
    dynvm_interrupt((dynvm_vm *)context);
    return NULL;
}

static void test_interrupt(void) {
    dynvm_vm *vm = dynvm_create(NULL);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, interrupt_soon, vm) == 0);
    expect_error(vm, "while True:\n    pass\n", "KeyboardInterrupt");
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, interrupt_soon, vm) == 0);
    expect_error(vm, "i = 0\nx = 0.5\nwhile True:\n    i += 1\n    x = x * 0.5\n",
                 "KeyboardInterrupt");
    CHECK(pthread_join(thread, NULL) == 0);
    dynvm_destroy(vm);
}

/* Creating and destroying stays within a megabyte, and nothing stays behind. */
static void test_cost(void) {
    host h = {.used = 0};
    dynvm_config config = DYNVM_CONFIG;
    config.resize = host_resize;
    config.resize_context = &h;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(vm);
    CHECK(dynvm_memory_used(vm) <= (size_t)1 << 20);
    CHECK(h.used <= (size_t)1 << 20);
    dynvm_destroy(vm);
    CHECK(h.blocks == 0);
}

/* Long products and quotients are made in steps: a limit ends them at whichever it is reached. */
static void test_long_numbers(void) {
    static const char *const texts[] = {"a * b\n", "a * a\n", "c * d\n", "c // d\n", "d // b\n"};
    dynvm_config config = DYNVM_CONFIG;
    config.instruction_limit = UINT64_MAX;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(run(vm, "a = (1 << 2_200_000) - 12345\nb = (1 << 2_100_000) - 6789\n"
                  "c = (1 << 6_000_000) - 321\nd = (1 << 4_400_000) // 3\n") == DYNVM_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint64_t steps = 0;
        for (uint64_t limit = 1000;; limit += limit / 8, steps++) {
            CHECK(dynvm_set_limits(vm, limit, 0) == DYNVM_OK);
            if (run(vm, texts[i]) == DYNVM_OK) break;
            dynvm_error *error = dynvm_take_error(vm);
            CHECK(strcmp(dynvm_error_type(error), "RuntimeError") == 0);
            dynvm_error_free(error);
        }
        CHECK(steps > 3);
    }
    dynvm_destroy(vm);
}

int main(void) {
    test_memory_limit();
    test_failing_host();
    test_recursion();
    test_instruction_limit();
    test_small_stack();
    test_interrupt();
    test_long_numbers();
    test_cost();
    return 0;
}
