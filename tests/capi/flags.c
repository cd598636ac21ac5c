/* flags.c: what Python's options set, for an embedder: flags, filters of warnings, options of -X; a
 * directory as the program; listings of a text. */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

static dynvm_config collecting(text *t) {
    dynvm_config config = DYNVM_CONFIG;
    config.output = config.error_output = collect;
    config.output_context = t;
    t->size = 0;
    t->data[0] = 0;
    return config;
}

static void test_optimize(void) {
    const char *source = "'''doc'''\nassert not __debug__\nassert False\nimport sys\n"
                         "print(sys.flags.optimize, sys.flags.quiet, __doc__)\n";
    for (unsigned char level = 0; level <= 2; level++) {
        text t;
        dynvm_config config = collecting(&t);
        config.flags[DYNVM_FLAG_OPTIMIZE] = level;
        config.flags[DYNVM_FLAG_QUIET] = 7;
        dynvm_vm *vm = dynvm_create(&config);
        CHECK(run(vm, source) == (level ? DYNVM_OK : DYNVM_ERROR));
        CHECK(strcmp(t.data, level == 0 ? "" : level == 1 ? "1 7 doc\n" : "2 7 None\n") == 0);
        dynvm_destroy(vm);
    }
}

static void test_site(void) {
    text t;
    dynvm_config config = collecting(&t);
    config.flags[DYNVM_FLAG_NO_SITE] = 1;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(run(vm, "quit()\n") == DYNVM_ERROR);
    dynvm_destroy(vm);
    vm = create_collecting(&t);
    CHECK(run(vm, "quit(5)\n") == DYNVM_EXIT);
    CHECK(dynvm_exit_status(vm) == 5);
    CHECK(run(vm, "print(help, len.__doc__)\n") == DYNVM_OK);
    CHECK(strstr(t.data, "Type help() for") && strstr(t.data, "number of items"));
    dynvm_destroy(vm);
}

static const char *const filters[] = {"ignore", "error::SyntaxWarning:<test>:2", NULL};
static const char *const options[] = {"int_max_str_digits=640", "own=text", "bare", NULL};

static void test_texts(void) {
    text t;
    dynvm_config config = collecting(&t);
    config.warn_options = filters;
    config.x_options = options;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(run(vm, "1 is 1\n") == DYNVM_OK);
    CHECK(t.size == 0);
    CHECK(run(vm, "\n1 is 1\n") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "SyntaxError") == 0);
    dynvm_error_free(error);
    CHECK(run(vm, "import sys\nprint(sys._xoptions, sys.warnoptions[0])\nstr(10 ** 640)\n") ==
          DYNVM_ERROR);
    CHECK(strcmp(t.data, "{'int_max_str_digits': '640', 'own': 'text', 'bare': True} ignore\n") ==
          0);
    dynvm_destroy(vm);
}

/* Creating a VM with options fails at each of its allocations, and leaks nothing. */
static long allocations_left, block_count;

static void *failing_resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    if (!new_size) {
        block_count -= block != NULL;
        free(block);
        return NULL;
    }
    if (allocations_left-- <= 0) return NULL;
    void *moved = realloc(block, new_size);
    block_count += moved && !block;
    return moved;
}

static void test_no_memory(void) {
    for (long n = 0;; n++) {
        dynvm_config config = DYNVM_CONFIG;
        config.resize = failing_resize;
        config.warn_options = filters;
        config.x_options = options;
        allocations_left = n;
        dynvm_vm *vm = dynvm_create(&config);
        dynvm_destroy(vm);
        CHECK(block_count == 0);
        if (vm) return;
    }
}

static void write_file(const char *path, const char *content) {
    FILE *file = fopen(path, "w");
    CHECK(file);
    fputs(content, file);
    fclose(file);
}

static void test_directory(void) {
    char directory[] = "/tmp/dynvm-flags-XXXXXX", path[64];
    CHECK(mkdtemp(directory));
    text t;
    dynvm_config config = collecting(&t);
    config.flags[DYNVM_FLAG_SAFE_PATH] = 1;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(dynvm_run_file(vm, directory) == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strncmp(dynvm_error_message(error), "can't find '__main__' module in", 31) == 0);
    dynvm_error_free(error);
    snprintf(path, sizeof path, "%s/__main__.dl", directory);
    write_file(path, "import sys\nprint(sys.path[0] == __file__[:-12], repr(__package__))\n");
    CHECK(dynvm_run_file(vm, directory) == DYNVM_OK);
    CHECK(strcmp(t.data, "True ''\n") == 0);
    dynvm_destroy(vm);
    unlink(path);
    rmdir(directory);
}

static void test_listing(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    dynvm_report report = DYNVM_REPORT;
    report.text = "x = 5\n";
    report.text_size = 6;
    CHECK(dynvm_disassemble(vm, "<some>", 0, &report, collect, &t) == DYNVM_OK);
    CHECK(strncmp(t.data, "<module>  <some>:1\n", 19) == 0);
    dynvm_destroy(vm);
}

int main(void) {
    test_optimize();
    test_site();
    test_texts();
    test_no_memory();
    test_directory();
    test_listing();
    return 0;
}
