/* resume.c: programs that run in slices: scripts of tests/ come to the same as in one go, wherever
 * they pause; what the host may do meanwhile; what it must not.
 *
 *     capi_resume [PATTERN]     only scripts whose path contains PATTERN, and says which */
#include "check.h"

#include <glob.h>
#include <stdbool.h>
#include <time.h>

static dynvm_vm *create(text *t, dynvm_level level, dynvm_form form, unsigned stress) {
    dynvm_config config = DYNVM_CONFIG;
    config.output = config.error_output = collect;
    config.output_context = t;
    config.level = level;
    config.form = form;
    config.stress = stress;
    config.stress_guards = config.stress_exits = stress & DYNVM_STRESS_ASSUME ? 5 : 0;
    config.resumable = 1;
    *t = (text){.size = 0};
    return dynvm_create(&config);
}

static dynvm_vm *create_default(text *t) {
    return create(t, DYNVM_LEVEL_DEFAULT, DYNVM_FORM_DEFAULT, 0);
}

static dynvm_status begin(dynvm_vm *vm, const char *source) {
    return dynvm_begin_text(vm, source, strlen(source), "<test>");
}

/* The error of the last call, whose class is `type`, says `message`. */
static void expect(dynvm_vm *vm, const char *type, const char *message) {
    dynvm_error *error = dynvm_take_error(vm);
    if (!strstr(dynvm_error_message(error), message))
        fprintf(stderr, "%s\n", dynvm_error_traceback(error));
    CHECK(strcmp(dynvm_error_type(error), type) == 0);
    CHECK(strstr(dynvm_error_message(error), message));
    dynvm_error_free(error);
}

/* ---- Scripts ---- */

/* Between 1 and `most`, always the same ones. */
static uint64_t random_budget(uint64_t *state, uint64_t most) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % most + 1;
}

/* Addresses differ: of each 0x... only that is left. */
static void mask_addresses(text *t) {
    char *to = t->data;
    for (const char *from = t->data; *from;) {
        const bool address = from[0] == '0' && from[1] == 'x';
        *to++ = *from++;
        if (!address) continue;
        *to++ = *from++;
        from += strspn(from, "0123456789abcdef");
    }
    *to = 0;
}

/* How a run has ended, behind its output. */
static void note_end(dynvm_vm *vm, dynvm_status status, text *t) {
    dynvm_error *error = dynvm_take_error(vm);
    char line[64];
    int size = snprintf(line, sizeof line, "%d %d\n", (int)status, dynvm_exit_status(vm));
    collect(t, line, (size_t)size);
    collect(t, dynvm_error_traceback(error), dynvm_error_traceback_size(error));
    dynvm_error_free(error);
    mask_addresses(t);
}

/* Some ways to be: each script is run in one of them, another one for each script. */
static const struct {
    dynvm_level level;
    dynvm_form form;
    unsigned stress;
} ways[] = {
    {DYNVM_LEVEL_NAMA, DYNVM_FORM_DEFAULT, 0},
    {DYNVM_LEVEL_NAMA, DYNVM_FORM_DEFAULT, DYNVM_STRESS_QUICKEN},
    {DYNVM_LEVEL_INCA, DYNVM_FORM_TRAMPOLINE, 0},
    {DYNVM_LEVEL_NAMA, DYNVM_FORM_TRAMPOLINE, DYNVM_STRESS_QUICKEN},
    {DYNVM_LEVEL_GENERIC, DYNVM_FORM_DEFAULT, 0},
    {DYNVM_LEVEL_NAMA, DYNVM_FORM_MIXED, DYNVM_STRESS_QUICKEN | DYNVM_STRESS_ASSUME},
};
enum { WAYS = sizeof ways / sizeof *ways };

static dynvm_vm *create_way(text *t, size_t way) {
    dynvm_vm *vm = create(t, ways[way].level, ways[way].form, ways[way].stress);
    /* Not every form is built everywhere. */
    return vm ? vm : create(t, ways[way].level, DYNVM_FORM_DEFAULT, ways[way].stress);
}

/* The number of slices. */
static uint64_t compare_script(const char *path, size_t way) {
    static text whole, sliced;
    dynvm_vm *vm = create_way(&whole, way);
    note_end(vm, dynvm_run_file(vm, path), &whole);
    dynvm_destroy(vm);
    vm = create_way(&sliced, way);
    uint64_t state = strlen(path), slices = 0;
    dynvm_status status = dynvm_begin_file(vm, path);
    for (; status == DYNVM_PAUSED; slices++) {
        const char *other = "[i for i in range(3)]\nint.__name__\n";
        if (slices % 64 == 1) CHECK(run(vm, other) == DYNVM_OK);
        status = dynvm_resume(vm, random_budget(&state, slices < 500    ? 5
                                                        : slices < 2500 ? 300
                                                                        : 100000));
    }
    note_end(vm, status, &sliced);
    dynvm_destroy(vm);
    if (strcmp(whole.data, sliced.data) != 0)
        fprintf(stderr, "%s (way %d), %llu slices:\n%s\n---- instead of ----\n%s", path, (int)way,
                (unsigned long long)slices, sliced.data, whole.data);
    CHECK(strcmp(whole.data, sliced.data) == 0);
    return slices;
}

static void test_scripts(const char *only) {
    static const char *const rooms[] = {"tests/levels/*/*.dl", "tests/generators/*.dl",
                                        "tests/lang/*/*.dl", "tests/gc/*.dl", "tests/objects/*.dl"};
    uint64_t slices = 0, scripts = 0;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        glob_t found;
        CHECK(glob(rooms[i], 0, NULL, &found) == 0);
        for (size_t j = 0; j < found.gl_pathc; j++) {
            const char *path = found.gl_pathv[j];
            if (only && !strstr(path, only)) continue;
            const clock_t start = clock();
            const uint64_t n = compare_script(path, scripts % WAYS);
            slices += n;
            scripts++;
            if (only)
                fprintf(stderr, "%s: %llu slices, %.2f s\n", path, (unsigned long long)n,
                        (double)(clock() - start) / CLOCKS_PER_SEC);
        }
        globfree(&found);
    }
    if (!only) CHECK(scripts > 200 && slices > 20000);
}

/* ---- Slices ---- */

/* Runs what was begun to its end; the number of slices. */
static uint64_t resume_all(dynvm_vm *vm, uint64_t budget, dynvm_status end) {
    uint64_t slices = 1;
    dynvm_status status;
    while ((status = dynvm_resume(vm, budget)) == DYNVM_PAUSED) slices++;
    CHECK(status == end);
    return slices;
}

static void test_basics(void) {
    static text t;
    dynvm_vm *vm = create_default(&t);
    CHECK(begin(vm, "print('a')\nfor i in range(10):\n    n = i\nprint('b', n)\n") == DYNVM_PAUSED);
    CHECK(dynvm_resume(vm, 0) == DYNVM_PAUSED && t.size == 0);
    CHECK(dynvm_resume(vm, 5) == DYNVM_PAUSED && strcmp(t.data, "a\n") == 0);
    CHECK(run(vm, "print('n', n)\n") == DYNVM_OK);
    CHECK(dynvm_resume(vm, UINT64_MAX) == DYNVM_OK);
    CHECK(strcmp(t.data, "a\nn 4\nb 9\n") == 0);
    CHECK(begin(vm, "pass\n") == DYNVM_PAUSED && dynvm_resume(vm, 1) == DYNVM_OK);
    dynvm_destroy(vm);
}

/* Every level pauses after so much work, wherever that is done.  What g(400) yields comes through
 * so many generators in all; each counts two units, as do calls of fib and C, whose code is longer.
 */
static void test_budgets(void) {
    enum { CHAINED = 2 * 10666600 };
    static const struct {
        const char *source;
        uint64_t work;
    } programs[] = {
        {"s = 0.0\nfor i in range(300000):\n    s = s * 0.5 + i\n", 300000},
        {"def f():\n    i = 0\n    while i < 100000:\n        i += 1\nf()\nf()\nf()\n", 300000},
        {"def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(23)\n", 2 * 92735},
        {"class C:\n    def __init__(self, n):\n        n and (C(n - 1), C(n - 1))\nC(15)\n",
         2 * 65536},
        {"class C:\n    def __init__(self):\n        for i in range(100000):\n            "
         "pass\nC()\n",
         100000},
        {"def g():\n    for i in range(100000):\n        yield i\nfor x in g(): pass\n", 200000},
        {"def g(n):\n    for i in range(n):\n        yield i\n    if n: yield from g(n - 1)\n"
         "for x in g(400): pass\n",
         160800 + CHAINED},
        {"class A:\n    def __add__(self, n):\n        while n: n -= 1\n"
         "a = A()\nfor k in range(400): a + 400\n",
         160800},
        {"with open('/dev/null') as f:\n    for i in range(100000): pass\n", 100000},
        {"a = [j * j for j in range(150000)]\n", 150000},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (size_t way = 0; way < WAYS; way++) {
            static text t;
            dynvm_vm *vm = create_way(&t, way);
            const uint64_t before = dynvm_instructions(vm);
            CHECK(begin(vm, programs[i].source) == DYNVM_PAUSED);
            const uint64_t slices = resume_all(vm, 1000, DYNVM_OK);
            const uint64_t work = dynvm_instructions(vm) - before, wanted = programs[i].work;
            /* Memory counts, too, and a class: of the list that grows, of code and its regions,
             * which are made again and again where guards fail by force. */
            const uint64_t memory =
                (programs[i].source[0] == 'a' ? 38000 : 0) + (ways[way].stress ? 10000 : 5000);
            const uint64_t most = wanted + wanted / 50 + memory;
            if (work < wanted - wanted / 50 || work > most)
                fprintf(stderr, "program %d, way %d: work %d\n", (int)i, (int)way, (int)work);
            CHECK(work >= wanted - wanted / 50 && work <= most);
            /* (What chains count is looked at with the next back edge.) */
            const uint64_t looked = wanted > CHAINED ? work - CHAINED : work;
            if (slices < looked / 1500 || slices > work / 1000 + work / 25000 + 1)
                fprintf(stderr, "program %d, way %d: slices %d\n", (int)i, (int)way, (int)slices);
            CHECK(slices >= looked / 1500); /* level generic calls methods of operators from C */
            CHECK(slices <= work / 1000 + work / 25000 + 1);
            dynvm_destroy(vm);
        }
}

/* It does not pause below C; behind that it does at once. */
static void test_below_c(void) {
    static text t;
    dynvm_vm *vm = create_default(&t);
    CHECK(begin(vm, "def key(x):\n    for i in range(1000): pass\n    return -x\n"
                    "a = sorted(range(50), key=key)\nb = 1\n"
                    "for i in range(100): b += 1\nprint(a[0], b)\n") == DYNVM_PAUSED);
    CHECK(dynvm_resume(vm, 200) == DYNVM_PAUSED);
    CHECK(run(vm, "print(a[0], b)\n") == DYNVM_OK && strcmp(t.data, "49 2\n") == 0);
    CHECK(dynvm_resume(vm, 200) == DYNVM_OK && strcmp(t.data, "49 2\n49 101\n") == 0);
    dynvm_destroy(vm);
}

static void test_exceptions(void) {
    static text t;
    dynvm_vm *vm = create_default(&t);
    CHECK(begin(vm,
                "import sys\n"
                "def spin(): \n    for i in range(50): pass\n"
                "def f():\n    try:\n        spin()\n        raise ValueError('v')\n"
                "    except ValueError as e:\n        spin()\n        print(sys.exc_info()[1])\n"
                "        raise KeyError(1)\n    finally:\n        spin()\n        print('end')\n"
                "try:\n    f()\nexcept KeyError as e:\n    spin()\n"
                "    print(repr(e.__context__))\n"
                "spin()\nraise LookupError('last')\n") == DYNVM_PAUSED);
    while (dynvm_resume(vm, 7) == DYNVM_PAUSED)
        CHECK(run(vm, "assert __import__('sys').exc_info()[1] is None\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "v\nend\nValueError('v')\n") == 0);
    expect(vm, "LookupError", "last");
    CHECK(begin(vm, "for i in range(10): pass\nsys.exit(3)\n") == DYNVM_PAUSED);
    CHECK(resume_all(vm, 3, DYNVM_EXIT) > 2 && dynvm_exit_status(vm) == 3);
    dynvm_destroy(vm);
}

/* An interrupt comes when the program goes on; so does a collection. */
static void test_interrupt(void) {
    static text t;
    dynvm_vm *vm = create_default(&t);
    CHECK(begin(vm, "try:\n    while True: pass\nexcept KeyboardInterrupt:\n    print('caught')\n"
                    "def f(): f()\n"
                    "try:\n    while True:\n        try: f()\n        except RecursionError: pass\n"
                    "except KeyboardInterrupt:\n    print('again')\n") == DYNVM_PAUSED);
    CHECK(dynvm_resume(vm, 100000) == DYNVM_PAUSED);
    dynvm_interrupt(vm);
    CHECK(dynvm_resume(vm, 100) == DYNVM_PAUSED && strcmp(t.data, "caught\n") == 0);
    CHECK(dynvm_resume(vm, 100000) == DYNVM_PAUSED);
    dynvm_interrupt(vm);
    CHECK(dynvm_resume(vm, 100000) == DYNVM_OK && strcmp(t.data, "caught\nagain\n") == 0);
    dynvm_destroy(vm);
}

/* While it is paused, others have the whole depth of recursion, and collect what is not its own. */
static void test_meanwhile(void) {
    static text t;
    dynvm_vm *vm = create_default(&t);
    CHECK(begin(vm, "def deep(n):\n    if n: return deep(n - 1)\n    box = [1, 2]\n"
                    "    for i in range(1000): box = [box[0], i]\n    return box\n"
                    "print(deep(900))\n") == DYNVM_PAUSED);
    CHECK(dynvm_resume(vm, 1000) == DYNVM_PAUSED);
    uint64_t slices = 0;
    do {
        slices++;
        CHECK(run(vm, "import gc\ndef other(n): return n and other(n - 1)\nother(900)\n"
                      "x = []\nx.append(x)\ndel x\ngc.collect()\n"
                      "def h(): h()\ntry:\n    h()\nexcept RecursionError: pass\n") == DYNVM_OK);
    } while (dynvm_resume(vm, 100) == DYNVM_PAUSED);
    CHECK(slices > 5 && strcmp(t.data, "[1, 999]\n") == 0);
    dynvm_destroy(vm);
}

/* ---- Ends ---- */

static const char *const unfinished =
    "class Named:\n    def __init__(self, name):\n        self.name = name\n"
    "    def __del__(self):\n        print('gone', self.name)\n"
    "def g():\n    held = Named('generator')\n    try:\n"
    "        for i in range(10000): yield i\n    finally:\n        print('closed')\n"
    "def f(a):\n    held = Named('function')\n    with open('/dev/null') as file:\n        try:\n"
    "            s = 0.0\n            for x in g():\n"
    "                s += sum([x * 0.5 + k for k in range(100)])\n"
    "        finally:\n            print('never')\n"
    "f([Named('argument')])\n";

/* Whatever is paused is released, in a VM that ends and in one that goes on.  A generator that is
 * suspended is closed, as always. */
static void test_unfinished(void) {
    for (uint64_t budget = 1; budget < 20000; budget = budget * 3 + 1)
        for (int abandons = 0; abandons < 2; abandons++) {
            static text t;
            t = (text){.size = 0};
            blocks b = {.count = 0};
            dynvm_config config = DYNVM_CONFIG;
            config.output = config.error_output = collect;
            config.output_context = &t;
            config.resize = counting_resize;
            config.resize_context = &b;
            config.resumable = 1;
            dynvm_vm *vm = dynvm_create(&config);
            CHECK(begin(vm, unfinished) == DYNVM_PAUSED);
            CHECK(dynvm_resume(vm, budget) == DYNVM_PAUSED);
            if (abandons) {
                CHECK(dynvm_abandon(vm) == DYNVM_OK);
                CHECK(begin(vm, "print(1)\n") == DYNVM_PAUSED);
                CHECK(dynvm_resume(vm, 1000) == DYNVM_OK && strstr(t.data, "1\n"));
            }
            dynvm_destroy(vm);
            CHECK(!strstr(t.data, "never") && b.count == 0);
            if (budget > 100)
                CHECK(strstr(t.data, "gone generator") && strstr(t.data, "gone function") &&
                      strstr(t.data, "gone argument"));
        }
}

/* Every allocation fails once. */
static void test_without_memory(void) {
    bool succeeded = false;
    for (uint64_t n = 1; !succeeded; n++) {
        blocks b = {.fail_from = n};
        dynvm_config config = DYNVM_CONFIG;
        config.resize = counting_resize;
        config.resize_context = &b;
        config.resumable = 1;
        dynvm_vm *vm = dynvm_create(&config);
        if (vm) {
            dynvm_status status = begin(vm, "def g():\n    for i in range(30): yield [i]\n"
                                            "print(sum([len(x) for x in g()]))\n");
            while (status == DYNVM_PAUSED) status = dynvm_resume(vm, 7);
            succeeded = status == DYNVM_OK && b.made < n;
            dynvm_destroy(vm);
        }
        CHECK(b.count == 0);
    }
}

static void test_two(void) {
    static text first, second;
    dynvm_vm *a = create_default(&first), *b = create_default(&second);
    CHECK(begin(a, "for i in range(5000):\n    if i % 1000 == 0: print(i)\n") == DYNVM_PAUSED);
    CHECK(begin(b, "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(15))\n") ==
          DYNVM_PAUSED);
    dynvm_status of_a = DYNVM_PAUSED, of_b = DYNVM_PAUSED;
    while (of_a == DYNVM_PAUSED || of_b == DYNVM_PAUSED) {
        if (of_a == DYNVM_PAUSED) of_a = dynvm_resume(a, 100);
        if (of_b == DYNVM_PAUSED) of_b = dynvm_resume(b, 100);
    }
    CHECK(of_a == DYNVM_OK && strcmp(first.data, "0\n1000\n2000\n3000\n4000\n") == 0);
    CHECK(of_b == DYNVM_OK && strcmp(second.data, "610\n") == 0);
    dynvm_destroy(a);
    dynvm_destroy(b);
}

static void test_limit(void) {
    dynvm_config config = DYNVM_CONFIG;
    config.resumable = 1;
    config.instruction_limit = 10000;
    dynvm_vm *vm = dynvm_create(&config);
    const uint64_t before = dynvm_instructions(vm);
    CHECK(begin(vm, "while True: pass\n") == DYNVM_PAUSED);
    const uint64_t slices = resume_all(vm, 300, DYNVM_ERROR);
    const uint64_t work = dynvm_instructions(vm) - before;
    CHECK(work >= 10000 && work <= 10700);
    /* Compiling takes some, and so does the memory of the region, in the first slices. */
    CHECK(slices >= 7500 / 300 && slices <= 10000 / 300 + 1);
    expect(vm, "RuntimeError", "instruction limit exceeded");
    dynvm_destroy(vm);
}

/* A VM that counts instructions makes its steps one by one. */
static void test_counting(void) {
    static text t;
    t = (text){.size = 0};
    dynvm_config config = DYNVM_CONFIG;
    config.output = collect;
    config.output_context = &t;
    config.resumable = config.counting = 1;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(begin(vm, "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\n"
                    "s = 0\nfor i in range(20000): s += i\nprint(s, f(12))\n") == DYNVM_PAUSED);
    CHECK(resume_all(vm, 100, DYNVM_OK) > 200 && strcmp(t.data, "199990000 144\n") == 0);
    CHECK(dynvm_stats(vm, NULL, collect, &t) == DYNVM_OK);
    dynvm_destroy(vm);
}

/* ---- What must not be ---- */

static int resume_again(void *context, const char *data, size_t size) {
    dynvm_vm *vm = *(dynvm_vm **)context;
    (void)data;
    if (size == 0) return 0;
    CHECK(dynvm_resume(vm, 1) == DYNVM_ERROR);
    expect(vm, "RuntimeError", "running already");
    CHECK(dynvm_abandon(vm) == DYNVM_ERROR);
    CHECK(begin(vm, "pass\n") == DYNVM_ERROR);
    expect(vm, "RuntimeError", "there is a program already");
    return 0;
}

static void test_errors(void) {
    static text t;
    dynvm_vm *vm = create_default(&t);
    CHECK(dynvm_resume(vm, 1) == DYNVM_ERROR);
    expect(vm, "RuntimeError", "no program to resume");
    CHECK(dynvm_abandon(vm) == DYNVM_OK);
    CHECK(begin(vm, "1 +\n") == DYNVM_ERROR);
    expect(vm, "SyntaxError", "invalid syntax");
    CHECK(dynvm_begin_file(vm, "/no/such.dl") == DYNVM_ERROR);
    expect(vm, "FileNotFoundError", "/no/such.dl");
    CHECK(dynvm_resume(vm, 1) == DYNVM_ERROR);
    CHECK(begin(vm, "pass\n") == DYNVM_PAUSED && begin(vm, "pass\n") == DYNVM_ERROR);
    expect(vm, "RuntimeError", "there is a program already");
    CHECK(dynvm_resume(vm, 1) == DYNVM_OK);
    dynvm_destroy(vm);

    dynvm_config config = DYNVM_CONFIG;
    vm = dynvm_create(&config);
    CHECK(begin(vm, "pass\n") == DYNVM_ERROR);
    expect(vm, "RuntimeError", "not made resumable");
    dynvm_destroy(vm);

    dynvm_vm *other = NULL;
    config.resumable = 1;
    config.output = resume_again;
    config.output_context = &other;
    other = dynvm_create(&config);
    CHECK(begin(other, "print(1)\nfor i in range(9): pass\n") == DYNVM_PAUSED);
    CHECK(dynvm_resume(other, 2) == DYNVM_PAUSED);
    CHECK(run(other, "print(1)\n") == DYNVM_OK); /* now it is paused, but something else runs */
    CHECK(dynvm_resume(other, 100) == DYNVM_OK);
    dynvm_destroy(other);
}

int main(int count, char **arguments) {
    if (count > 1) {
        test_scripts(arguments[1]);
        return 0;
    }
    test_basics();
    test_budgets();
    test_below_c();
    test_exceptions();
    test_interrupt();
    test_meanwhile();
    test_unfinished();
    test_without_memory();
    test_two();
    test_limit();
    test_counting();
    test_errors();
    test_scripts(NULL);
    return 0;
}
