/* sandbox.c: a sandboxed VM touches no file, whatever a program tries; it still has the library and
 * the embedder's streams. */
#include "check.h"

#include <pthread.h>
#include <time.h>

/* Each line is an expression that would touch a file. */
static const char *const tries[] = {
    "open('/dev/null')",
    "open('/dev/null', 'wb')",
    "open(0)",
    "os.listdir('/')",
    "os.stat('/')",
    "os.mkdir('/tmp/dl-sandbox')",
    "os.rmdir('/tmp/dl-sandbox')",
    "os.remove('/tmp/dl-sandbox')",
    "os.rename('/tmp/dl-sandbox', '/tmp/dl-sandbox-2')",
    "os.readlink('/proc/self/exe')",
    "os.chmod('/tmp/dl-sandbox', 0o777)",
    "io.open('/dev/null', 'wb')",
    "os.listdir()",
    "os.listdir(0)",
    "os.stat(0)",
    "os.lstat('/')",
    "os.replace('/tmp/dl-sandbox', '/tmp/dl-sandbox-2')",
    "os.getcwd()",
    "os.chdir('/')",
};

static dynvm_vm *create_sandboxed(text *t) {
    dynvm_config config = DYNVM_CONFIG;
    config.sandboxed = 1;
    config.output = config.error_output = collect;
    config.output_context = t;
    t->size = 0;
    return dynvm_create(&config);
}

static void test_files_are_refused(void) {
    text t;
    dynvm_vm *vm = create_sandboxed(&t);
    CHECK(run(vm, "import io, os\n") == DYNVM_OK);
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        char source[256];
        snprintf(
            source, sizeof source,
            "try:\n    %s\n    print('done')\nexcept PermissionError as e:\n    print(e.errno)\n",
            tries[i]);
        t.size = 0;
        CHECK(run(vm, source) == DYNVM_OK);
        CHECK(strcmp(t.data, "1\n") == 0);
    }
    t.size = 0;
    CHECK(run(vm, "print(os.access('/', os.R_OK), os.path.exists('/'))\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "False False\n") == 0);
    dynvm_destroy(vm);
}

/* A host can switch off what makes code of text; a sandbox has it off. */
static void test_text_is_not_evaluated(void) {
    static const char source[] = "for f in (lambda: eval('1')), (lambda: exec('')), "
                                 "(lambda: compile('', '', 'exec')):\n"
                                 "    try:\n        print(f())\n"
                                 "    except PermissionError as e:\n        print(e)\n"
                                 "print(len(locals()) == len(globals()))\n";
    static const char refused[] = "eval() is switched off in this VM\n"
                                  "exec() is switched off in this VM\n"
                                  "compile() is switched off in this VM\nTrue\n";
    text t;
    dynvm_vm *vm = create_sandboxed(&t);
    CHECK(run(vm, source) == DYNVM_OK);
    CHECK(strcmp(t.data, refused) == 0);
    dynvm_destroy(vm);
    dynvm_config config = DYNVM_CONFIG;
    config.evaluates_nothing = 1;
    config.output = collect;
    config.output_context = &t;
    t.size = 0;
    vm = dynvm_create(&config);
    CHECK(run(vm, source) == DYNVM_OK);
    CHECK(strcmp(t.data, refused) == 0);
    dynvm_destroy(vm);
}

/* What it would do is not proved to be harmless. */
static void test_assembly_is_refused(void) {
    text t;
    dynvm_vm *vm = create_sandboxed(&t);
    CHECK(dynvm_run_assembly(vm, "/dev/null") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "PermissionError") == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

static void test_streams_stay(void) {
    text t;
    dynvm_vm *vm = create_sandboxed(&t);
    CHECK(run(vm, "import sys\nprint(sys.stdout.isatty(), sys.stdin.isatty())\n") == DYNVM_OK);
    CHECK(run(vm, "import json\nprint(json.dumps([1]), end='')\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "False False\n[1]") == 0);
    dynvm_destroy(vm);
}

/* No environment, and no modules but the library's. */
static void test_nothing_is_seen(void) {
    text t;
    dynvm_vm *vm = create_sandboxed(&t);
    CHECK(run(vm, "import os\nprint(len(os.environ))\n") == DYNVM_OK);
    CHECK(run(vm, "try:\n    import never\nexcept ImportError as e:\n    print(e)\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "0\nNo module named 'never'\n") == 0);
    dynvm_destroy(vm);
}

/* Expressions that tell nothing of where and as whom the program runs. */
static const char *const told[][2] = {
    {"attempt(os.getpid)", "PermissionError"},
    {"attempt(os.getppid)", "PermissionError"},
    {"attempt(os.getuid)", "PermissionError"},
    {"attempt(os.get_terminal_size)", "PermissionError"},
    {"os.cpu_count()", "None"},
    {"sys.executable == '' and '/' not in ''.join(sys.path)", "True"},
    {"time.tzname, time.timezone, time.localtime().tm_zone", "('GMT', 'GMT') 0 GMT"},
    {"time.mktime(time.gmtime(86400))", "86400.0"},
    {"time.localtime(3600) == time.gmtime(3600)", "True"},
};

static void test_host_is_hidden(void) {
    text t;
    setenv("TZ", "XYZ-5", 1);
    setenv("DYNVM_PATH", "/secret/of/the/host", 1);
    dynvm_vm *vm = create_sandboxed(&t);
    CHECK(run(vm, "import os, sys, time\n"
                  "def attempt(f):\n"
                  "    try:\n        return f()\n"
                  "    except OSError as e:\n        return type(e).__name__\n") == DYNVM_OK);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        char source[256], expected[256];
        snprintf(source, sizeof source, "print(%s)\n", told[i][0]);
        snprintf(expected, sizeof expected, "%s\n", told[i][1]);
        t.size = 0;
        CHECK(run(vm, source) == DYNVM_OK);
        if (strcmp(t.data, expected) != 0) fprintf(stderr, "%s: %s", told[i][0], t.data);
        CHECK(strcmp(t.data, expected) == 0);
    }
    dynvm_destroy(vm);
    unsetenv("TZ");
    unsetenv("DYNVM_PATH");
}

/* Its file is named as the host has named it, not by where that is. */
static void test_paths_are_as_given(void) {
    static const char name[] = "sandboxed-program.dl";
    FILE *file = fopen(name, "w");
    CHECK(file && fputs("print(__file__)\n1 / 0\n", file) >= 0 && fclose(file) == 0);
    text t;
    dynvm_vm *vm = create_sandboxed(&t);
    CHECK(dynvm_run_file(vm, name) == DYNVM_ERROR);
    CHECK(strcmp(t.data, "sandboxed-program.dl\n") == 0);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strstr(dynvm_error_traceback(error), "File \"sandboxed-program.dl\", line 2"));
    dynvm_error_free(error);
    dynvm_destroy(vm);
    remove(name);
}

/* The numbers of objects are no addresses, but are as good: different ones have different numbers,
 * which stay, and what is shown and hashed agrees with them. */
static void test_addresses_are_hidden(void) {
    static const char source[] =
        "import array\n"
        "class C:\n    def f(self): pass\n"
        "def g(): yield\n"
        "many = [C() for i in range(20000)]\n"
        "before = [id(c) for c in many]\n"
        "assert len(set(before)) == 20000 and before == [id(c) for c in many]\n"
        "assert not any(n % 16 for n in before)\n"
        "c = C()\n"
        "assert repr(c) == '<__main__.C object at %s>' % hex(id(c)), repr(c)\n"
        "for v in c, g, g(), object(), len, c.f, [].append, iter([]), C, map(str, []), "
        "c.__repr__:\n"
        "    numbers.append(id(v))\n    numbers.append(hash(v) & (1 << 60) - 1)\n"
        "    if ' at ' in repr(v): numbers.append(int(repr(v).split(' at "
        "')[1].rstrip('>').split('>')[0], 16))\n"
        "numbers.append(array.array('i', [1]).buffer_info()[0])\n"
        /* Neighbours are not near each other. */
        "near = sum([abs(a - b) < 1 << 32 for a, b in zip(before, before[1:])])\n"
        "print(near < 20)\n";
    text t, other;
    dynvm_vm *vm = create_sandboxed(&t), *twin = create_sandboxed(&other);
    CHECK(run(vm, "numbers = []\n") == DYNVM_OK && run(twin, "numbers = []\n") == DYNVM_OK);
    CHECK(run(vm, source) == DYNVM_OK && run(twin, source) == DYNVM_OK);
    CHECK(strcmp(t.data, "True\n") == 0 && strcmp(other.data, "True\n") == 0);
    /* None of them is within 4 GB of anything that this process has. */
    char here[128];
    const uintptr_t known[] = {(uintptr_t)vm, (uintptr_t)&t, (uintptr_t)source, (uintptr_t)&strlen};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        snprintf(here, sizeof here, "near = [n for n in numbers if abs(n - %llu) < 1 << 30]\n",
                 (unsigned long long)known[i]);
        CHECK(run(vm, here) == DYNVM_OK);
        t.size = 0;
        CHECK(run(vm, "print(len(near))\n") == DYNVM_OK);
        CHECK(strcmp(t.data, "0\n") == 0);
    }
    dynvm_destroy(vm);
    dynvm_destroy(twin);
}

/* ---- Limits: memory, work, time, output ---- */

/* What ends the program, in a sandbox with these limits; its output goes to t.  message NULL: any.
 */
static void expect_end(text *t, const dynvm_config *limits, const char *source, const char *type,
                       const char *message) {
    dynvm_config config = *limits;
    config.sandboxed = 1;
    config.error_output = collect;
    if (!config.output) config.output = collect;
    config.output_context = t;
    t->size = 0;
    t->data[0] = 0;
    for (int level = DYNVM_LEVEL_GENERIC; level <= DYNVM_LEVEL_NAMA; level++) {
        config.level = (dynvm_level)level;
        dynvm_vm *vm = dynvm_create(&config);
        CHECK(run(vm, source) == DYNVM_ERROR);
        dynvm_error *error = dynvm_take_error(vm);
        CHECK(strcmp(dynvm_error_type(error), type) == 0);
        CHECK(!message || strcmp(dynvm_error_message(error), message) == 0);
        dynvm_error_free(error);
        dynvm_destroy(vm);
    }
}

/* Programs that do not want to end. */
static const char *const stubborn[] = {
    "while True:\n    try:\n        while True:\n            pass\n    except:\n        pass\n",
    "def f(n):\n    while True:\n        try:\n            f(n + 1)\n        except:\n"
    "            pass\nf(0)\n",
    "def f(n):\n    try:\n        return f(n + 1)\n    finally:\n        return 1\n"
    "while True: f(0)\n",
    "class C:\n    def __enter__(self):\n        return self\n    def __exit__(self, *args):\n"
    "        return True\nwhile True:\n    with C():\n        sum(x for x in range(10 ** 9))\n",
    "def g():\n    while True:\n        try:\n            yield 1\n        except:\n            "
    "pass\n"
    "for x in g():\n    try:\n        sorted([3, 1, 2], key=lambda k: 1 / 0)\n    except:\n        "
    "pass\n",
    "class C:\n    def __del__(self):\n        C()\nwhile True:\n    C()\n",
};

static void test_work(void) {
    static text t;
    dynvm_config limits = DYNVM_CONFIG;
    limits.instruction_limit = 200000;
    expect_end(&t, &limits, "while True: pass\n", "RuntimeError", "instruction limit exceeded");
    for (size_t i = 0; i < sizeof stubborn / sizeof *stubborn; i++)
        expect_end(&t, &limits, stubborn[i], "RuntimeError",
                   i ? NULL : "instruction limit exceeded");
}

static void test_memory(void) {
    static text t;
    dynvm_config limits = DYNVM_CONFIG;
    limits.memory_limit = 8 << 20;
    expect_end(&t, &limits, "x = []\nwhile True: x.append('x' * 1000)\n", "MemoryError", "");
}

/* A host's output stops where it has had enough. */
static int little(void *context, const char *data, size_t size) {
    text *t = context;
    if (t->size + size > 100) return 28; /* ENOSPC */
    return collect(context, data, size);
}

static void test_output(void) {
    static text t;
    dynvm_config limits = DYNVM_CONFIG;
    limits.output = little;
    expect_end(&t, &limits, "while True: print('x' * 9)\n", "OSError",
               "[Errno 28] No space left on device");
    CHECK(t.size <= 100);
}

/* A deadline: another thread stops the program, whatever it catches. */
static void *stop_soon(void *context) {
    struct timespec some = {.tv_nsec = 20000000};
    nanosleep(&some, NULL);
    dynvm_stop(context, 1);
    return NULL;
}

static void test_deadline(void) {
    text t;
    for (size_t i = 0; i < sizeof stubborn / sizeof *stubborn; i++) {
        dynvm_vm *vm = create_sandboxed(&t);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, stop_soon, vm) == 0);
        CHECK(run(vm, stubborn[i]) == DYNVM_ERROR);
        CHECK(pthread_join(thread, NULL) == 0);
        dynvm_error *error = dynvm_take_error(vm);
        CHECK(strcmp(dynvm_error_message(error), "stopped by the host") == 0);
        dynvm_error_free(error);
        /* It stays stopped until the host says otherwise. */
        CHECK(run(vm, "for i in range(10 ** 6): pass\n") == DYNVM_ERROR);
        dynvm_error_free(dynvm_take_error(vm));
        dynvm_stop(vm, 0);
        CHECK(run(vm, "for i in range(10 ** 6): pass\n") == DYNVM_OK);
        dynvm_destroy(vm);
    }
}

int main(void) {
    test_work();
    test_memory();
    test_output();
    test_deadline();
    test_files_are_refused();
    test_nothing_is_seen();
    test_host_is_hidden();
    test_paths_are_as_given();
    test_addresses_are_hidden();
    test_text_is_not_evaluated();
    test_assembly_is_refused();
    test_streams_stay();
    return 0;
}
