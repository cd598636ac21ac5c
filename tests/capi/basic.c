/* basic.c: creating VMs, running programs, their output, errors, exit statuses and arguments. */
#include "check.h"

#include <errno.h>
#include <unistd.h>

static void test_output(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(vm);
    CHECK(run(vm, "print('hello', 6 * 7)\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "hello 42\n") == 0);
    CHECK(dynvm_exit_status(vm) == 0);
    CHECK(dynvm_take_error(vm) == NULL);
    dynvm_destroy(vm);
}

static void test_names_stay(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(run(vm, "x = 5\ndef f(n):\n    return n * x\n") == DYNVM_OK);
    CHECK(run(vm, "x = 7\nprint(f(3))\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "21\n") == 0);
    dynvm_destroy(vm);
}

static void test_error(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(run(vm, "def f():\n    raise ValueError('bad')\nf()\n") == DYNVM_ERROR);
    CHECK(dynvm_exit_status(vm) == 1);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(error);
    CHECK(dynvm_take_error(vm) == NULL);
    CHECK(strcmp(dynvm_error_type(error), "ValueError") == 0);
    CHECK(strcmp(dynvm_error_message(error), "bad") == 0);
    const char *expected = "Traceback (most recent call last):\n"
                           "  File \"<test>\", line 3, in <module>\n"
                           "  File \"<test>\", line 2, in f\n"
                           "ValueError: bad\n";
    CHECK(strcmp(dynvm_error_traceback(error), expected) == 0);
    CHECK(dynvm_error_traceback_size(error) == strlen(expected));
    CHECK(t.size == 0);
    /* The VM goes on working, and an error outlives it. */
    CHECK(run(vm, "print('still here')\n") == DYNVM_OK);
    CHECK(dynvm_exit_status(vm) == 0);
    dynvm_destroy(vm);
    CHECK(strcmp(dynvm_error_message(error), "bad") == 0);
    dynvm_error_free(error);
}

static void test_quoted_source(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    const char *source = "x = 1 / 0\n";
    CHECK(dynvm_run_text(vm, source, strlen(source), "calc.dl") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_traceback(error), "Traceback (most recent call last):\n"
                                               "  File \"calc.dl\", line 1, in <module>\n"
                                               "    x = 1 / 0\n"
                                               "        ~~^~~\n"
                                               "ZeroDivisionError: division by zero\n") == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

static void test_syntax_error(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(run(vm, "print(1)\nx = (\n") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "SyntaxError") == 0);
    CHECK(strcmp(dynvm_error_message(error), "'(' was never closed (<test>, line 2)") == 0);
    CHECK(strcmp(dynvm_error_traceback(error), "  File \"<test>\", line 2\n"
                                               "    x = (\n"
                                               "        ^\n"
                                               "SyntaxError: '(' was never closed\n") == 0);
    CHECK(t.size == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

static void test_exit(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(run(vm, "import sys\nsys.exit(7)\n") == DYNVM_EXIT);
    CHECK(dynvm_exit_status(vm) == 7);
    CHECK(run(vm, "sys.exit('sorry')\n") == DYNVM_EXIT);
    CHECK(dynvm_exit_status(vm) == 1);
    CHECK(strcmp(t.data, "sorry\n") == 0);
    CHECK(run(vm, "sys.exit()\n") == DYNVM_EXIT);
    CHECK(dynvm_exit_status(vm) == 0);
    dynvm_destroy(vm);
}

static void test_arguments(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    const char *const arguments[] = {"program", "one", "zw\xC3\xB6lf"};
    CHECK(dynvm_set_arguments(vm, 3, arguments) == DYNVM_OK);
    CHECK(run(vm, "import sys\nprint(sys.argv, len(sys.argv[2]))\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "['program', 'one', 'zw\xC3\xB6lf'] 5\n") == 0);
    dynvm_destroy(vm);
}

static void test_missing_file(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(dynvm_run_file(vm, "/no/such/file.dl") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "FileNotFoundError") == 0);
    CHECK(strcmp(dynvm_error_message(error),
                 "[Errno 2] No such file or directory: '/no/such/file.dl'") == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

static size_t read_line(void *context, char *buffer, size_t size) {
    const char **rest = (const char **)context;
    size_t length = strcspn(*rest, "\n");
    if ((*rest)[length] == '\n') length++;
    if (length > size) length = size;
    memcpy(buffer, *rest, length);
    *rest += length;
    return length;
}

static void test_input(void) {
    text t = {.size = 0};
    const char *lines = "first\nsecond";
    dynvm_config config = DYNVM_CONFIG;
    config.output = collect;
    config.output_context = &t;
    config.input = read_line;
    config.input_context = &lines;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(run(vm, "print([input('> '), input()])\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "> ['first', 'second']\n") == 0);
    CHECK(run(vm, "input()\n") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "EOFError") == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

/* Takes ten bytes. */
static int fill(void *context, const char *data, size_t size) {
    if (((text *)context)->size + size > 10) return ENOSPC;
    return collect(context, data, size);
}

/* An output that refuses text raises in the program. */
static void test_full_output(void) {
    text t = {.size = 0};
    dynvm_config config = DYNVM_CONFIG;
    config.output = fill;
    config.output_context = &t;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(run(vm, "n = 0\ntry:\n    while True:\n        print(n)\n        n += 1\n"
                  "except OSError as e:\n    error = e\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "0\n1\n2\n3\n4\n") == 0);
    CHECK(run(vm, "assert (n, error.errno) == (5, 28)\n") == DYNVM_OK);
    CHECK(run(vm, "import sys\nsys.stdout.write('x')\n") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_message(error), "[Errno 28] No space left on device") == 0);
    dynvm_error_free(error);
    CHECK(run(vm, "print(flush=True, end='')\n") == DYNVM_OK);
    dynvm_destroy(vm);
}

static int interrupt_itself(void *context, const char *data, size_t size) {
    (void)data, (void)size;
    dynvm_interrupt(*(dynvm_vm **)context);
    return EINTR;
}

/* EINTR of an output that was interrupted is KeyboardInterrupt, otherwise as any error. */
static void test_interrupted_output(void) {
    dynvm_vm *vm;
    dynvm_config config = DYNVM_CONFIG;
    config.output = interrupt_itself;
    config.output_context = &vm;
    config.closed = DYNVM_CLOSED_INPUT | DYNVM_CLOSED_ERROR_OUTPUT;
    vm = dynvm_create(&config);
    CHECK(run(vm, "print(1)\n") == DYNVM_ERROR);
    CHECK(!dynvm_interrupted(vm));
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "KeyboardInterrupt") == 0);
    dynvm_error_free(error);
    CHECK(run(vm, "import sys\nassert sys.stdin is None and sys.stderr is None\n"
                  "assert sys.stdout is not None\n") == DYNVM_OK);
    dynvm_destroy(vm);
}

static int interrupt_nothing(void *context, const char *data, size_t size) {
    (void)context, (void)data, (void)size;
    return EINTR;
}

static void test_output_without_interrupt(void) {
    dynvm_config config = DYNVM_CONFIG;
    config.output = interrupt_nothing;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(run(vm, "print(1)\n") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "InterruptedError") == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

/* Without streams output is lost and input at its end. */
static void test_no_streams(void) {
    dynvm_vm *vm = dynvm_create(NULL);
    CHECK(run(vm, "import sys\nprint(1, flush=True)\nassert sys.stdin.read() == ''\n"
                  "assert sys.stderr.write('text') == 4\nsys.stdout.flush()\nsys.stdin.flush()\n"
                  "assert list(sys.stdin) == [] and sys.stdin.readline() == ''\n") == DYNVM_OK);
    CHECK(run(vm, "try:\n    input()\nexcept EOFError as e:\n    pass\n") == DYNVM_OK);
    CHECK(run(vm, "sys.stdout.close()\nsys.stdin.close()\nassert sys.stdin.closed\n") == DYNVM_OK);
    CHECK(run(vm, "print(2)\n") == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_message(error), "I/O operation on closed file.") == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

/* A line may be longer than what is asked of the embedder at a time. */
static void test_long_input(void) {
    char lines[2100];
    memset(lines, 'x', sizeof lines);
    lines[511] = lines[1023] = lines[2098] = '\n'; /* 511, 511 and 1074 characters */
    lines[2099] = 0;
    const char *rest = lines;
    dynvm_config config = DYNVM_CONFIG;
    config.input = read_line;
    config.input_context = &rest;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(run(vm, "assert [len(input()) for i in range(3)] == [511, 511, 1074]\n") == DYNVM_OK);
    dynvm_destroy(vm);
}

/* Every level gives the same; 0 bytes of configuration are all defaults; NULL is allowed. */
static void test_configurations(void) {
    const dynvm_level levels[] = {DYNVM_LEVEL_DEFAULT, DYNVM_LEVEL_GENERIC, DYNVM_LEVEL_INCA,
                                  DYNVM_LEVEL_NAMA};
    const char *source = "s = 0\nfor i in range(5000):\n    s += i % 7\nprint(s)\n";
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        text t = {.size = 0};
        dynvm_config config = DYNVM_CONFIG;
        config.level = levels[i];
        config.output = collect;
        config.output_context = &t;
        dynvm_vm *vm = dynvm_create(&config);
        CHECK(run(vm, source) == DYNVM_OK);
        CHECK(strcmp(t.data, "14995\n") == 0);
        dynvm_destroy(vm);
    }
    dynvm_config empty = {.size = 0};
    dynvm_vm *vm = dynvm_create(&empty);
    CHECK(vm && run(vm, "print(1)\n") == DYNVM_OK);
    dynvm_destroy(vm);
    vm = dynvm_create(NULL);
    CHECK(vm && run(vm, "1 / 0\n") == DYNVM_ERROR); /* the error is never taken */
    dynvm_destroy(vm);
    dynvm_destroy(NULL);
    dynvm_error_free(NULL);
    CHECK(strcmp(dynvm_error_type(NULL), "") == 0);
}

/* What the program's hook has shown is not shown again. */
static void test_hook(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(run(vm, "import sys\nsys.excepthook = lambda t, v, tb: print('hook', v)\n1 / 0\n") ==
          DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_traceback(error), "") == 0);
    CHECK(strcmp(dynvm_error_message(error), "division by zero") == 0);
    dynvm_error_free(error);
    CHECK(strcmp(t.data, "hook division by zero\n") == 0);
    CHECK(run(vm, "sys.excepthook = lambda *a: sys.exit(3)\n1 / 0\n") == DYNVM_EXIT);
    CHECK(dynvm_exit_status(vm) == 3);
    dynvm_destroy(vm);
}

static int count_word(void *context, const char *word) {
    text *t = (text *)context;
    collect(t, word, strlen(word));
    collect(t, "|", 1);
    return t->size > 100;
}

static void test_typing(void) {
    text t, words = {.size = 0};
    char first[8], next[8];
    dynvm_vm *vm = create_collecting(&t);
    CHECK(run(vm, "import sys\nprint(hasattr(sys, 'ps1'))\n") == DYNVM_OK);
    dynvm_prompts(vm, first, next, sizeof first);
    CHECK(strcmp(first, ">>> ") == 0 && strcmp(next, "... ") == 0);
    CHECK(run(vm, "sys.ps1 = 'abcdef\\u20ac'\nsys.ps2 = 12345678\n") == DYNVM_OK);
    dynvm_prompts(vm, first, next, sizeof first);
    CHECK(strcmp(first, "abcdef") == 0 && strcmp(next, "1234567") == 0);
    CHECK(dynvm_complete(vm, "sys.ps", count_word, &words) == DYNVM_OK);
    CHECK(strcmp(words.data, "sys.ps1|sys.ps2|") == 0);
    CHECK(run(vm, "class C:\n    def __dir__(self): sys.exit(5)\nc = C()\n") == DYNVM_OK);
    CHECK(dynvm_complete(vm, "c.a", count_word, &words) == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "SystemExit") == 0);
    dynvm_error_free(error);
    words.size = 0;
    CHECK(dynvm_complete(vm, "", count_word, &words) == DYNVM_OK);
    CHECK(strcmp(words.data, "\t|") == 0);
    CHECK(strcmp(t.data, "False\n") == 0);
    dynvm_destroy(vm);
}

/* Only a machine that was made to count has something to report, in whatever form was asked for. */
static void test_counting(void) {
    text printed, report = {.size = 0};
    dynvm_vm *vm = create_collecting(&printed);
    CHECK(dynvm_stats(vm, NULL, collect, &report) == DYNVM_ERROR && report.size == 0);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_message(error), "this machine does not count what it executes") == 0);
    dynvm_error_free(error);
    CHECK(dynvm_view(vm, "<text>", NULL, collect, &report) == DYNVM_ERROR && report.size == 0);
    dynvm_destroy(vm);
    dynvm_config config = DYNVM_CONFIG;
    config.counting = 1;
    config.form = DYNVM_FORM_TAIL;
    vm = dynvm_create(&config);
    CHECK(vm && run(vm, "def f(a, b): return a + b\nfor i in range(9): f(i, i)\n") == DYNVM_OK);
    CHECK(dynvm_stats(vm, NULL, collect, &report) == DYNVM_OK);
    CHECK(strstr(report.data, " instructions were executed at level nama, in "));
    CHECK(strstr(report.data, "\n             9 ") && strstr(report.data, "  ADD\n"));
    dynvm_report wanted = DYNVM_REPORT;
    wanted.function = "f";
    wanted.json = wanted.coloured = 1;
    report.size = 0;
    CHECK(dynvm_stats(vm, &wanted, collect, &report) == DYNVM_OK);
    CHECK(strncmp(report.data, "{\"tool\":\"stats\",\"schema\":1,", 27) == 0);
    CHECK(!strstr(report.data, "<module>") && !strchr(report.data, '\033'));
    wanted.json = 0;
    report.size = 0;
    CHECK(dynvm_stats(vm, &wanted, collect, &report) == DYNVM_OK);
    CHECK(strstr(report.data, "\033[0m"));
    report.size = 0;
    CHECK(dynvm_explain(vm, NULL, collect, &report) == DYNVM_OK);
    CHECK(strcmp(report.data, "every hot site has a derivative that fits\n") == 0);
    report.size = 0;
    CHECK(dynvm_trace(vm, NULL, collect, &report) == DYNVM_OK);
    CHECK(strstr(report.data, "quickened"));
    report.size = 0;
    wanted = (dynvm_report)DYNVM_REPORT;
    wanted.text = "g = 1 / 0";
    wanted.text_size = strlen(wanted.text);
    CHECK(dynvm_view(vm, "<text>", &wanted, collect, &report) == DYNVM_ERROR);
    CHECK(strncmp(report.data, "<!doctype html>", 15) == 0 && strstr(report.data, "</html>"));
    CHECK(strstr(report.data, "\"source\":\"g = 1 / 0\"") && strstr(report.data, "\\u003ctext>"));
    error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "ZeroDivisionError") == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

static void write_file(const char *path, const char *data, size_t size) {
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size);
    if (file) fclose(file);
}

/* Code as text, and back; errors name the line. */
static void test_assembly(void) {
    char script[64], assembly[80];
    snprintf(script, sizeof script, "/tmp/dynvm-capi-%ld.dl", (long)getpid());
    snprintf(assembly, sizeof assembly, "%sa", script);
    text printed, written = {.size = 0};
    write_file(script, "print(6 * 7)\n", 13);
    dynvm_vm *vm = create_collecting(&printed);
    CHECK(dynvm_assembly(vm, script, collect, &written) == DYNVM_OK && printed.size == 0);
    CHECK(strstr(written.data, "LOAD_CONST 42\n") &&
          strstr(written.data, "\nsource\nprint(6 * 7)\n"));
    write_file(assembly, written.data, written.size);
    CHECK(dynvm_run_assembly(vm, assembly) == DYNVM_OK && strcmp(printed.data, "42\n") == 0);
    write_file(assembly, "code @m \"m\"\n  RETURN\n", 21);
    CHECK(dynvm_run_assembly(vm, assembly) == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(
        strstr(dynvm_error_message(error), ":2: the verifier refuses it: m: pc 0: operand stack"));
    dynvm_error_free(error);
    CHECK(dynvm_run_assembly(vm, "/nothing") == DYNVM_ERROR);
    CHECK(dynvm_assembly(vm, "/nothing", collect, &written) == DYNVM_ERROR);
    dynvm_destroy(vm);
    remove(script);
    remove(assembly);
}

static void test_version(void) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.", DYNVM_VERSION_MAJOR, DYNVM_VERSION_MINOR);
    CHECK(strncmp(dynvm_version(), version, strlen(version)) == 0);
}

int main(void) {
    test_output();
    test_names_stay();
    test_error();
    test_quoted_source();
    test_syntax_error();
    test_exit();
    test_arguments();
    test_missing_file();
    test_input();
    test_full_output();
    test_interrupted_output();
    test_output_without_interrupt();
    test_no_streams();
    test_long_input();
    test_configurations();
    test_hook();
    test_typing();
    test_counting();
    test_assembly();
    test_version();
    return 0;
}
