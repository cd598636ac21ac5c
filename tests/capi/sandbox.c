/* sandbox.c: a sandboxed VM touches no file, whatever a program tries; it still has the library and
 * the embedder's streams. */
#include "check.h"

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

int main(void) {
    test_files_are_refused();
    test_nothing_is_seen();
    test_assembly_is_refused();
    test_streams_stay();
    return 0;
}
