/* hooks.c: what a VM asks its host: modules, their names, files, the clock; what else a host does
 * with a VM: a pointer of its own, collecting, counting. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

static void expect_error(dynvm_vm *vm, const char *source, const char *type, const char *message) {
    CHECK(run(vm, source) == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    const bool good =
        strcmp(dynvm_error_type(error), type) == 0 && strstr(dynvm_error_traceback(error), message);
    if (!good) fprintf(stderr, "%s\n", dynvm_error_traceback(error));
    CHECK(good);
    dynvm_error_free(error);
}

static void expect_output(dynvm_vm *vm, text *t, const char *source, const char *output) {
    t->size = 0;
    t->data[0] = 0;
    const dynvm_status status = run(vm, source);
    if (status != DYNVM_OK) {
        dynvm_error *error = dynvm_take_error(vm);
        fprintf(stderr, "%s\n", dynvm_error_traceback(error));
        dynvm_error_free(error);
    }
    CHECK(status == DYNVM_OK);
    if (strcmp(t->data, output) != 0) fprintf(stderr, "%s", t->data);
    CHECK(strcmp(t->data, output) == 0);
}

static dynvm_config collecting(text *t) {
    dynvm_config config = DYNVM_CONFIG;
    config.output = config.error_output = collect;
    config.output_context = t;
    *t = (text){.size = 0};
    return config;
}

/* ---- Modules ---- */

typedef struct store {
    int asked, released;
    char names[256];
} store;

static const struct {
    const char *name, *code, *filename;
    int is_package;
} modules[] = {
    {"plain", "import sys\nx = 42\nname = __name__\n", NULL, 0},
    {"package", "from . import part\nfrom .part import y\n", "package/__init__.dl", 1},
    {"package.part", "from package import __path__\ny = len(__path__)\n", "package/part.dl", 0},
    {"fails", "\n\nraise ValueError('mine')\n", NULL, 0},
    {"wrong", "x = = 1\n", "wrong.dl", 0},
    {"textwrap", "x = 'the host is asked before the library'\n", NULL, 0},
    {"sys", "x = 'never'\n", NULL, 0},
};

static void release_module(void *context, dynvm_module *module) {
    ((store *)context)->released++;
    free(module->data);
}

static int load_module(void *context, const char *name, dynvm_module *module) {
    store *s = (store *)context;
    s->asked++;
    CHECK(module->size == sizeof *module && !module->code && !module->release);
    if (strcmp(name, "broken") == 0) return -1;
    if (strcmp(name, "strange") == 0) {
        module->kind = (dynvm_module_kind)77;
        module->code = "";
        return 1;
    }
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (strcmp(name, modules[i].name) != 0) continue;
        module->code_size = strlen(modules[i].code);
        char *copy = malloc(module->code_size + 1);
        CHECK(copy);
        memcpy(copy, modules[i].code, module->code_size + 1);
        module->code = module->data = copy;
        module->filename = modules[i].filename;
        module->is_package = modules[i].is_package;
        module->release = release_module;
        return 1;
    }
    return 0;
}

static void test_modules(int sandboxed) {
    static text t;
    store s = {.asked = 0};
    dynvm_config config = collecting(&t);
    config.load_module = load_module;
    config.import_context = &s;
    config.sandboxed = sandboxed;
    dynvm_vm *vm = dynvm_create(&config);
    expect_output(vm, &t, "import plain\nprint(plain.x, plain.name, hasattr(plain, '__file__'))\n",
                  "42 plain False\n");
    CHECK(s.asked == 1 && s.released == 1);
    expect_output(vm, &t, "import plain, math, json\nprint(plain.x)\n", "42\n");
    expect_output(vm, &t,
                  "import package.part\nprint(package.y, package.__file__, package.__path__, "
                  "package.part.__package__)\n",
                  "0 package/__init__.dl [] package\n");
    expect_output(vm, &t, "import textwrap\nprint(textwrap.x)\n",
                  "the host is asked before the library\n");
    expect_output(vm, &t, "import sys\nprint(hasattr(sys, 'x'))\n", "False\n");
    expect_error(vm, "import fails\n", "ValueError", "File \"<fails>\", line 3, in <module>");
    expect_error(vm, "import fails\n", "ValueError", "mine");
    expect_error(vm, "import wrong\n", "SyntaxError", "File \"wrong.dl\", line 1");
    expect_error(vm, "import broken\n", "ImportError", "the host cannot load module 'broken'");
    expect_error(vm, "import strange\n", "ImportError", "form that is not known");
    expect_error(vm, "import nothing\n", "ModuleNotFoundError", "No module named 'nothing'");
    expect_error(vm, "import package.nothing\n", "ModuleNotFoundError", "'package.nothing'");
    expect_error(vm, "import plain.nothing\n", "ModuleNotFoundError", "'plain' is not a package");
    CHECK(s.released == 7);
    dynvm_destroy(vm);
}

/* ---- Compiled modules ---- */

static int take_bytes(void *context, const char *bytes, size_t size) {
    text *t = (text *)context;
    if (t->size + size > sizeof t->data) return ENOSPC;
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
    return 0;
}

static int load_compiled(void *context, const char *name, dynvm_module *module) {
    const text *bytes = (const text *)context;
    module->kind = DYNVM_MODULE_COMPILED;
    module->code = bytes->data;
    module->code_size = bytes->size - (strcmp(name, "cut") == 0);
    return 1;
}

static void test_compiled_modules(void) {
    static text t, bytes;
    dynvm_config config = collecting(&t);
    config.load_module = load_compiled;
    config.import_context = &bytes;
    static const char source[] = "def f():\n    return __name__\ndef g():\n    1 / 0\n";
    for (int sandboxed = 0; sandboxed < 2; sandboxed++) {
        config.sandboxed = sandboxed;
        dynvm_vm *vm = dynvm_create(&config);
        bytes.size = 0;
        CHECK(dynvm_compile_text(vm, source, sizeof source - 1, "given.dl", take_bytes, &bytes) ==
              DYNVM_OK);
        if (sandboxed) {
            expect_error(vm, "import given\n", "PermissionError", "runs no compiled code");
        } else {
            expect_output(vm, &t, "import given\nprint(given.f())\n", "given\n");
            expect_error(vm, "given.g()\n", "ZeroDivisionError", "File \"given.dl\", line 4, in g");
            expect_output(vm, &t,
                          "try:\n    import cut\nexcept ImportError as e:\n    print(e.name, e)\n",
                          "cut '<cut>' is damaged: its checksum or its size is wrong; compile its "
                          "source again\n");
        }
        dynvm_destroy(vm);
    }
}

static int allow_import(void *context, const char *name) {
    store *s = (store *)context;
    strncat(s->names, name, sizeof s->names - strlen(s->names) - 2);
    strcat(s->names, " ");
    return strcmp(name, "os") != 0 && strcmp(name, "package.part") != 0;
}

static void test_filter(void) {
    static text t;
    store s = {.asked = 0};
    dynvm_config config = collecting(&t);
    config.load_module = load_module;
    config.allow_import = allow_import;
    config.import_context = &s;
    dynvm_vm *vm = dynvm_create(&config);
    /* What the library imports for itself is not asked for. */
    expect_output(vm, &t, "import statistics, collections.abc\n", "");
    CHECK(strcmp(s.names, "statistics collections.abc collections collections ") == 0);
    expect_error(vm, "import os\n", "ImportError", "the host does not allow the import of 'os'");
    expect_output(vm, &t,
                  "try:\n    from os import path\nexcept ImportError as e:\n"
                  "    print(type(e).__name__, e.name)\n",
                  "ImportError os\n");
    expect_error(vm, "__import__('os.path')\n", "ImportError", "import of 'os'");
    expect_error(vm, "import package\n", "ImportError", "import of 'package.part'");
    expect_output(vm, &t, "import plain\nprint(plain.x)\n", "42\n");
    dynvm_destroy(vm);
}

/* Every allocation fails once: the host gets back what it has given, and nothing is left. */
static void test_without_memory(void) {
    bool succeeded = false;
    for (uint64_t n = 1; !succeeded; n++) {
        store s = {.asked = 0};
        blocks b = {.fail_from = n};
        dynvm_config config = DYNVM_CONFIG;
        config.resize = counting_resize;
        config.resize_context = &b;
        config.load_module = load_module;
        config.import_context = &s;
        dynvm_vm *vm = dynvm_create(&config);
        if (vm) {
            succeeded =
                run(vm, "import plain, package\nassert package.y == 0\n") == DYNVM_OK && b.made < n;
            CHECK(!succeeded || s.released == 3);
            dynvm_destroy(vm);
        }
        CHECK(b.count == 0);
    }
}

/* The host itself imports where no code of the program is running. */
static void test_without_frame(void) {
    static text t;
    store s = {.asked = 0};
    dynvm_config config = collecting(&t);
    config.allow_import = allow_import;
    config.import_context = &s;
    dynvm_vm *vm = dynvm_create(&config);
    static const char *const names[] = {"_nothing.part", "nothing.part", "os.path"};
    for (size_t i = 0; i < 3; i++) {
        CHECK(dynvm_run_module(vm, names[i]) == DYNVM_ERROR);
        dynvm_error_free(dynvm_take_error(vm));
    }
    CHECK(strcmp(s.names, "_nothing nothing os ") == 0);
    dynvm_destroy(vm);
}

/* ---- Files ---- */

static int open_file(void *context, const char *path, int flags, int *descriptor) {
    CHECK(*descriptor == -1);
    *(int *)context = flags;
    if (strcmp(path, "/dev/null") == 0) return 0;
    if (strcmp(path, "pipe") != 0) return ENOENT;
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], "from the host\n", 14) == 14);
    CHECK(close(ends[1]) == 0);
    *descriptor = ends[0];
    return 0;
}

static void test_files(int sandboxed) {
    static text t;
    int flags = -1;
    dynvm_config config = collecting(&t);
    config.open_file = open_file;
    config.file_context = &flags;
    config.sandboxed = sandboxed;
    dynvm_vm *vm = dynvm_create(&config);
    expect_output(vm, &t,
                  "with open('pipe') as f:\n    print(f.read(), end='')\n    n = f.fileno()\n",
                  "from the host\n");
    CHECK(flags == O_RDONLY);
    expect_output(vm, &t, "f = open('/dev/null', 'w')\nprint(f.write('gone'))\nf.close()\n", "4\n");
    CHECK(flags == (O_WRONLY | O_CREAT | O_TRUNC));
    expect_error(vm, "open('/etc/passwd', 'rb')\n", "FileNotFoundError",
                 "[Errno 2] No such file or directory: '/etc/passwd'");
    if (sandboxed)
        expect_error(vm, "import os\nos.listdir('/')\n", "PermissionError", "Operation not");
    if (sandboxed) expect_error(vm, "open(0)\n", "PermissionError", "Operation not permitted");
    dynvm_destroy(vm);
}

/* ---- The clock ---- */

typedef struct calm {
    double now;
    int fails;
} calm;

static double clock_hook(void *context, int which) {
    return ((calm *)context)->now + (which == DYNVM_CLOCK_TIME ? 1e9 : which * 0.5);
}

static int sleep_hook(void *context, double seconds) {
    calm *c = (calm *)context;
    if (c->fails) return c->fails;
    c->now += seconds;
    return 0;
}

static void test_clock(void) {
    static text t;
    calm c = {.now = 100};
    dynvm_config config = collecting(&t);
    config.clock = clock_hook;
    config.sleep = sleep_hook;
    config.clock_context = &c;
    dynvm_vm *vm = dynvm_create(&config);
    expect_output(vm, &t,
                  "import time\nprint(time.time(), time.monotonic(), time.perf_counter_ns(), "
                  "time.process_time())\n",
                  "1000000100.0 100.5 100500000000 101.0\n");
    expect_output(vm, &t, "print(time.gmtime()[:6])\n", "(2001, 9, 9, 1, 48, 20)\n");
    expect_output(vm, &t, "time.sleep(3600)\nprint(time.monotonic())\n", "3700.5\n");
    c.fails = EINVAL;
    expect_error(vm, "time.sleep(1)\n", "OSError", "Invalid argument");
    c.now = 1e300; /* no time */
    expect_output(vm, &t, "print(time.time())\n", "0.0\n");
    dynvm_destroy(vm);
}

static int interrupting_sleep(void *context, double seconds) {
    (void)seconds;
    dynvm_interrupt(*(dynvm_vm **)context);
    return EINTR;
}

static void test_interrupted_sleep(void) {
    static text t;
    dynvm_vm *vm = NULL;
    dynvm_config config = collecting(&t);
    config.sleep = interrupting_sleep;
    config.clock_context = &vm;
    vm = dynvm_create(&config);
    expect_error(vm, "import time\ntime.sleep(1)\n", "KeyboardInterrupt", "line 2");
    dynvm_destroy(vm);
}

/* ---- Of the VM ---- */

static void test_user(void) {
    int mine = 0;
    dynvm_vm *vm = dynvm_create(NULL), *other = dynvm_create(NULL);
    CHECK(dynvm_user(vm) == NULL);
    dynvm_set_user(vm, &mine);
    CHECK(dynvm_user(vm) == &mine && dynvm_user(other) == NULL);
    dynvm_destroy(vm);
    dynvm_destroy(other);
}

static void test_collect(void) {
    static text t;
    dynvm_vm *vm = create_collecting(&t);
    (void)dynvm_collect(vm);
    CHECK(run(vm, "import gc\ngc.disable()\nclass C:\n"
                  "    def __del__(self): print('gone')\n"
                  "for i in range(10):\n    c = C()\n    c.me = c\ndel c\n") == DYNVM_OK);
    CHECK(dynvm_collect(vm) >= 10 && t.size == strlen("gone\n") * 10);
    CHECK(dynvm_collect(vm) == 0);
    dynvm_destroy(vm);
}

static void test_instructions(void) {
    dynvm_config config = DYNVM_CONFIG;
    dynvm_vm *vm = dynvm_create(&config);
    const uint64_t before = dynvm_instructions(vm);
    CHECK(run(vm, "for i in range(100000): pass\n") == DYNVM_OK);
    const uint64_t done = dynvm_instructions(vm) - before; /* with what compiling took */
    CHECK(done >= 100000 && done <= 105000);
    dynvm_destroy(vm);
    config.instruction_limit = 100000;
    vm = dynvm_create(&config);
    const uint64_t making = dynvm_instructions(vm); /* the VM: it is not the program's */
    CHECK(dynvm_instructions_left(vm) == 100000);
    CHECK(run(vm, "def f(n): return n and f(n - 1)\nfor i in range(100): f(900)\n") == DYNVM_OK);
    const uint64_t calling = dynvm_instructions(vm) - making;
    CHECK(calling >= 90000 && calling <= 96000);
    dynvm_destroy(vm);
}

int main(void) {
    test_modules(0);
    test_modules(1);
    test_compiled_modules();
    test_filter();
    test_without_memory();
    test_without_frame();
    test_files(0);
    test_files(1);
    test_clock();
    test_interrupted_sleep();
    test_user();
    test_collect();
    test_instructions();
    return 0;
}
