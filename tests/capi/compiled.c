/* compiled.c: compiled code as bytes: written, run in another VM, refused where it is cut off,
 * changed, or where the VM is sandboxed. */
#include "check.h"

static const char script[] = "import sys\n"
                             "def f(n):\n"
                             "    'doc'\n"
                             "    return [i * n for i in range(3)] if n else 1 / n\n"
                             "print(f(2), f.__doc__, __name__)\n";

static void compile(text *bytes, const char *source, const char *filename) {
    dynvm_vm *vm = dynvm_create(NULL);
    bytes->size = 0;
    CHECK(dynvm_compile_text(vm, source, strlen(source), filename, collect, bytes) == DYNVM_OK);
    CHECK(bytes->size > 48);
    dynvm_destroy(vm);
}

static void expect_error(dynvm_vm *vm, dynvm_status status, const char *type, const char *part) {
    CHECK(status == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    if (strcmp(dynvm_error_type(error), type) != 0 || !strstr(dynvm_error_traceback(error), part))
        fprintf(stderr, "%s\n", dynvm_error_traceback(error));
    CHECK(strcmp(dynvm_error_type(error), type) == 0);
    CHECK(strstr(dynvm_error_traceback(error), part));
    dynvm_error_free(error);
}

static void test_run(void) {
    text bytes, t;
    compile(&bytes, script, "made/up.dl");
    dynvm_vm *vm = create_collecting(&t);
    CHECK(dynvm_run_compiled(vm, bytes.data, bytes.size) == DYNVM_OK);
    memset(bytes.data, 0, bytes.size); /* they were copied */
    CHECK(strcmp(t.data, "[0, 2, 4] doc __main__\n") == 0);
    CHECK(run(vm, "print(f(1))\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "[0, 2, 4] doc __main__\n[0, 1, 2]\n") == 0);
    expect_error(vm, run(vm, "f(0)\n"), "ZeroDivisionError", "File \"made/up.dl\", line 4, in f\n");
    dynvm_destroy(vm);
}

static void test_errors_of_compiling(void) {
    text bytes = {.size = 0};
    dynvm_vm *vm = dynvm_create(NULL);
    expect_error(vm, dynvm_compile_text(vm, "x = (\n", 6, "a.dl", collect, &bytes), "SyntaxError",
                 "File \"a.dl\", line 1");
    expect_error(vm, dynvm_compile_file(vm, "no/such.dl", collect, &bytes), "FileNotFoundError",
                 "no/such.dl");
    CHECK(bytes.size == 0);
    dynvm_destroy(vm);
}

static int refuse(void *context, const char *data, size_t size) {
    (void)context, (void)data, (void)size;
    return 28;
}

static void test_output_fails(void) {
    dynvm_vm *vm = dynvm_create(NULL);
    expect_error(vm, dynvm_compile_text(vm, "x = 1\n", 6, "a.dl", refuse, NULL), "OSError",
                 "[Errno 28]");
    dynvm_destroy(vm);
}

/* Every byte changed, and every length that is too small: an error, and the VM goes on. */
static void test_damage(void) {
    text bytes, t;
    compile(&bytes, script, "a.dl");
    dynvm_vm *vm = create_collecting(&t);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.data[i] ^= 0x10;
        expect_error(vm, dynvm_run_compiled(vm, bytes.data, bytes.size), "ImportError", "<bytes>");
        bytes.data[i] ^= 0x10;
        expect_error(vm, dynvm_run_compiled(vm, bytes.data, i), "ImportError", "<bytes>");
    }
    CHECK(t.size == 0);
    bytes.data[9] ^= 1;
    expect_error(vm, dynvm_run_compiled(vm, bytes.data, bytes.size), "ImportError",
                 "another build of dynvm has compiled it");
    bytes.data[9] ^= 1;
    CHECK(dynvm_run_compiled(vm, bytes.data, bytes.size) == DYNVM_OK);
    dynvm_destroy(vm);
}

static void test_sandbox(void) {
    text bytes;
    compile(&bytes, script, "a.dl");
    dynvm_config config = DYNVM_CONFIG;
    config.sandboxed = 1;
    dynvm_vm *vm = dynvm_create(&config);
    expect_error(vm, dynvm_run_compiled(vm, bytes.data, bytes.size), "PermissionError",
                 "a sandboxed machine runs no compiled code");
    dynvm_destroy(vm);
}

/* An allocator that fails from a certain allocation on. */
typedef struct host {
    size_t allocations, fail_from;
} host;

static void *host_resize(void *context, void *block, size_t old_size, size_t new_size) {
    host *h = (host *)context;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return ++h->allocations >= h->fail_from ? NULL : realloc(block, new_size);
}

/* An error or the right result, whichever allocation fails; sanitizers see leaks. */
static void test_no_memory(void) {
    text bytes;
    static text t;
    compile(&bytes, script, "a.dl");
    for (size_t n = 1, done = 0; !done; n++) {
        host h = {.fail_from = n};
        t.size = 0;
        dynvm_config config = DYNVM_CONFIG;
        config.resize = host_resize;
        config.resize_context = &h;
        config.output = collect;
        config.output_context = &t;
        dynvm_vm *vm = dynvm_create(&config);
        if (!vm) continue;
        done = dynvm_run_compiled(vm, bytes.data, bytes.size) == DYNVM_OK;
        if (done) CHECK(strcmp(t.data, "[0, 2, 4] doc __main__\n") == 0);
        dynvm_destroy(vm);
        CHECK(n < 100000);
    }
}

int main(void) {
    test_run();
    test_errors_of_compiling();
    test_output_fails();
    test_damage();
    test_sandbox();
    test_no_memory();
    return 0;
}
