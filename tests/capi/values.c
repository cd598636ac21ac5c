/* values.c: handles: making, reading and using values, scopes, failures, errors as objects. */
#include "check.h"

#include <math.h>

static dynvm_vm *create(void) {
    dynvm_vm *vm = dynvm_create(NULL);
    CHECK(vm);
    return vm;
}

/* The text that str() gives of a value, which is compared. */
static int reads(dynvm_vm *vm, dynvm_value v, const char *expected) {
    const char *text = dynvm_text(vm, dynvm_str(vm, v), NULL);
    if (text && strcmp(text, expected) == 0) return 1;
    printf("reads '%s', not '%s'\n", text ? text : "(failed)", expected);
    return 0;
}

/* The last failure: its class and message. */
static int failed_with(dynvm_vm *vm, const char *type, const char *message) {
    dynvm_error *error = dynvm_take_error(vm);
    int good = strcmp(dynvm_error_type(error), type) == 0 &&
               strcmp(dynvm_error_message(error), message) == 0;
    if (!good) printf("%s: %s\n", dynvm_error_type(error), dynvm_error_message(error));
    dynvm_error_free(error);
    return good;
}

static void test_numbers(void) {
    dynvm_vm *vm = create();
    const int64_t ints[] = {0, 1, -1, 1 << 20, INT64_C(1) << 47, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        int64_t back = 5;
        dynvm_value v = dynvm_make_int(vm, ints[i]);
        CHECK(dynvm_kind_of(vm, v) == DYNVM_KIND_INT);
        CHECK(dynvm_read_int(vm, v, &back) == DYNVM_OK && back == ints[i]);
    }
    const double floats[] = {0.0, -1.5, 1e300, HUGE_VAL};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        double back = 5;
        dynvm_value v = dynvm_make_float(vm, floats[i]);
        CHECK(dynvm_kind_of(vm, v) == DYNVM_KIND_FLOAT);
        CHECK(dynvm_read_float(vm, v, &back) == DYNVM_OK && back == floats[i]);
    }
    double d = 0;
    CHECK(dynvm_read_float(vm, dynvm_make_int(vm, 3), &d) == DYNVM_OK && d == 3);
    CHECK(dynvm_read_float(vm, dynvm_make_float(vm, NAN), &d) == DYNVM_OK && isnan(d));
    dynvm_value large =
        dynvm_make_int_text(vm, "123456789012345678901234567890", DYNVM_TO_ZERO, 10);
    CHECK(dynvm_kind_of(vm, large) == DYNVM_KIND_INT);
    CHECK(reads(vm, large, "123456789012345678901234567890"));
    CHECK(reads(vm, dynvm_make_int_text(vm, "ffzz", 2, 16), "255"));
    int64_t i;
    CHECK(dynvm_read_int(vm, large, &i) == DYNVM_ERROR);
    CHECK(failed_with(vm, "OverflowError", "Python int too large to convert to C long"));
    CHECK(dynvm_failed(dynvm_make_int_text(vm, "12x", DYNVM_TO_ZERO, 10)));
    CHECK(failed_with(vm, "ValueError", "invalid literal for int() with base 10: '12x'"));
    CHECK(dynvm_read_int(vm, dynvm_make_float(vm, 1.5), &i) == DYNVM_ERROR);
    CHECK(failed_with(vm, "TypeError", "'float' object cannot be interpreted as an integer"));
    CHECK(dynvm_kind_of(vm, dynvm_make_none(vm)) == DYNVM_KIND_NONE);
    CHECK(dynvm_kind_of(vm, dynvm_make_bool(vm, 2)) == DYNVM_KIND_BOOL);
    CHECK(dynvm_read_int(vm, dynvm_make_bool(vm, 2), &i) == DYNVM_OK && i == 1);
    CHECK(dynvm_truth(vm, dynvm_make_int(vm, 0)) == 0);
    dynvm_destroy(vm);
}

static void test_text(void) {
    dynvm_vm *vm = create();
    const char *const texts[] = {"", "a", "zw\xC3\xB6lf", "\xF0\x9F\x90\x8D"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = 99;
        dynvm_value v = dynvm_make_str(vm, texts[i], DYNVM_TO_ZERO);
        const char *back = dynvm_text(vm, v, &size);
        CHECK(dynvm_kind_of(vm, v) == DYNVM_KIND_STR);
        CHECK(back && size == strlen(texts[i]) && strcmp(back, texts[i]) == 0);
    }
    CHECK(dynvm_length(vm, dynvm_make_str(vm, texts[2], DYNVM_TO_ZERO)) == 5);
    size_t size;
    const char *bytes = dynvm_text(vm, dynvm_make_bytes(vm, "a\0b", 3), &size);
    CHECK(bytes && size == 3 && memcmp(bytes, "a\0b", 4) == 0);
    CHECK(dynvm_failed(dynvm_make_str(vm, "\xFF", 1)));
    CHECK(failed_with(vm, "ValueError", "the text is not UTF-8"));
    CHECK(!dynvm_text(vm, dynvm_make_int(vm, 1), &size));
    CHECK(failed_with(vm, "TypeError", "a str or bytes is required, not int"));
    dynvm_value surrogate =
        dynvm_call(vm, dynvm_builtin(vm, "chr"), (dynvm_value[]){dynvm_make_int(vm, 0xD800)}, 1);
    CHECK(!dynvm_failed(surrogate) && !dynvm_text(vm, surrogate, &size));
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_type(error), "UnicodeEncodeError") == 0);
    dynvm_error_free(error);
    CHECK(reads(vm, dynvm_repr(vm, dynvm_make_str(vm, "it's", DYNVM_TO_ZERO)), "\"it's\""));
    dynvm_destroy(vm);
}

static void test_containers(void) {
    dynvm_vm *vm = create();
    dynvm_value items[20];
    for (int i = 0; i < 20; i++) items[i] = dynvm_make_int(vm, i);
    dynvm_value list = dynvm_make_list(vm, items, 3), tuple = dynvm_make_tuple(vm, items, 20);
    CHECK(dynvm_kind_of(vm, list) == DYNVM_KIND_LIST &&
          dynvm_kind_of(vm, tuple) == DYNVM_KIND_TUPLE);
    CHECK(dynvm_append(vm, list, tuple) == DYNVM_OK && dynvm_length(vm, list) == 4);
    CHECK(reads(vm, dynvm_get_index(vm, dynvm_get_index(vm, list, -1), 19), "19"));
    CHECK(dynvm_set_item(vm, list, dynvm_make_int(vm, 0), dynvm_make_none(vm)) == DYNVM_OK);
    CHECK(dynvm_delete_item(vm, list, dynvm_make_int(vm, 3)) == DYNVM_OK);
    CHECK(reads(vm, list, "[None, 1, 2]"));
    CHECK(reads(vm, dynvm_make_tuple(vm, NULL, 0), "()") &&
          reads(vm, dynvm_make_list(vm, NULL, 0), "[]"));
    dynvm_value dict = dynvm_make_dict(vm), key = dynvm_make_str(vm, "k", 1);
    CHECK(dynvm_kind_of(vm, dict) == DYNVM_KIND_DICT);
    CHECK(dynvm_set_item(vm, dict, key, list) == DYNVM_OK);
    CHECK(dynvm_contains(vm, dict, key) == 1 && dynvm_contains(vm, dict, list) == -1);
    CHECK(failed_with(vm, "TypeError", "unhashable type: 'list'"));
    CHECK(reads(vm, dict, "{'k': [None, 1, 2]}"));
    CHECK(dynvm_failed(dynvm_get_item(vm, dict, dynvm_make_int(vm, 1))));
    CHECK(failed_with(vm, "KeyError", "1"));
    CHECK(dynvm_append(vm, tuple, key) == DYNVM_ERROR && dynvm_length(vm, items[0]) == -1);
    CHECK(failed_with(vm, "TypeError", "object of type 'int' has no len()"));
    int64_t sum = 0, i;
    int more;
    dynvm_value iterator = dynvm_iterate(vm, tuple), item;
    while ((more = dynvm_next(vm, iterator, &item)) > 0) {
        CHECK(dynvm_read_int(vm, item, &i) == DYNVM_OK);
        sum += i;
        dynvm_drop(vm, item);
    }
    CHECK(more == 0 && dynvm_failed(item) && sum == 190);
    CHECK(dynvm_equal(vm, dynvm_make_float(vm, 1), items[1]) == 1);
    CHECK(dynvm_same(vm, list, list) == 1 && dynvm_less(vm, items[1], items[2]) == 1);
    CHECK(dynvm_less(vm, items[1], list) == -1);
    CHECK(failed_with(vm, "TypeError", "'<' not supported between instances of 'int' and 'list'"));
    CHECK(dynvm_is_instance(vm, list, dynvm_builtin(vm, "list")) == 1);
    CHECK(dynvm_same(vm, dynvm_class_of(vm, dict), dynvm_builtin(vm, "dict")) == 1);
    dynvm_destroy(vm);
}

static const char program[] = "class Point:\n"
                              "    def __init__(self, x, y=0):\n"
                              "        self.x, self.y = x, y\n"
                              "    def moved(self, *, dx=0, dy=0):\n"
                              "        return Point(self.x + dx, self.y + dy)\n"
                              "    def __repr__(self):\n"
                              "        return f'({self.x}, {self.y})'\n"
                              "def fail(n):\n"
                              "    try:\n"
                              "        raise KeyError(n)\n"
                              "    except KeyError as e:\n"
                              "        raise ValueError('no ' + str(n)) from e\n"
                              "def counter(n):\n"
                              "    got = []\n"
                              "    for i in range(n):\n"
                              "        got.append((yield i))\n"
                              "    return got\n";

static void test_calls(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(run(vm, program) == DYNVM_OK);
    dynvm_scope scope = dynvm_open_scope(vm);
    dynvm_value args[] = {dynvm_make_int(vm, 3), dynvm_make_int(vm, 4), dynvm_make_int(vm, 5)};
    dynvm_value point = dynvm_call(vm, dynvm_get_global(vm, "Point"), args, 2);
    CHECK(reads(vm, point, "(3, 4)"));
    const char *const dy[] = {"dy"};
    dynvm_value moved =
        dynvm_call_keywords(vm, dynvm_get_attribute(vm, point, "moved"), args + 2, 1, dy, 1);
    CHECK(reads(vm, moved, "(3, 9)"));
    CHECK(dynvm_set_attribute(vm, moved, "x", args[2]) == DYNVM_OK);
    CHECK(reads(vm, dynvm_call_method(vm, moved, "moved", NULL, 0), "(5, 9)"));
    dynvm_value found;
    CHECK(dynvm_find_attribute(vm, moved, "y", &found) == 1 && reads(vm, found, "9"));
    CHECK(dynvm_find_attribute(vm, moved, "z", &found) == 0 && dynvm_failed(found));
    CHECK(dynvm_delete_attribute(vm, moved, "y") == DYNVM_OK);
    CHECK(dynvm_failed(dynvm_get_attribute(vm, moved, "y")));
    CHECK(failed_with(vm, "AttributeError", "'Point' object has no attribute 'y'"));
    CHECK(dynvm_failed(dynvm_call_keywords(vm, dynvm_get_global(vm, "Point"), args, 1,
                                           (const char *const[]){"z"}, 1)));
    CHECK(failed_with(vm, "TypeError", "Point.__init__() got an unexpected keyword argument 'z'"));
    CHECK(dynvm_set_global(vm, "p", moved) == DYNVM_OK && run(vm, "print(p.x)\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "5\n") == 0);
    dynvm_value root =
        dynvm_call(vm, dynvm_get_attribute(vm, dynvm_import(vm, "math"), "sqrt"), args + 1, 1);
    CHECK(reads(vm, root, "2.0"));
    CHECK(reads(vm, dynvm_get_attribute(vm, dynvm_import(vm, "os.path"), "sep"), "/"));
    CHECK(dynvm_failed(dynvm_import(vm, "no_such_module")));
    CHECK(failed_with(vm, "ModuleNotFoundError", "No module named 'no_such_module'"));
    CHECK(dynvm_failed(dynvm_import(vm, "_no_such_helper")));
    CHECK(failed_with(vm, "ModuleNotFoundError", "No module named '_no_such_helper'"));
    dynvm_value numbers[20];
    for (int i = 0; i < 20; i++) numbers[i] = dynvm_make_int(vm, i);
    CHECK(reads(vm, dynvm_call(vm, dynvm_builtin(vm, "max"), numbers, 20), "19"));
    dynvm_close_scope(vm, scope);
    dynvm_destroy(vm);
}

static void test_compile(void) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    dynvm_value code = dynvm_load_text(vm, "n = n + 1\nprint(n)\n", DYNVM_TO_ZERO, "<again>");
    CHECK(dynvm_set_global(vm, "n", dynvm_make_int(vm, 40)) == DYNVM_OK);
    for (int i = 0; i < 2; i++)
        CHECK(dynvm_kind_of(vm, dynvm_call(vm, code, NULL, 0)) == DYNVM_KIND_NONE);
    CHECK(strcmp(t.data, "41\n42\n") == 0);
    CHECK(dynvm_failed(dynvm_load_text(vm, "n =", DYNVM_TO_ZERO, "<bad>")));
    CHECK(failed_with(vm, "SyntaxError", "invalid syntax (<bad>, line 1)"));
    dynvm_destroy(vm);
}

static void test_generators(void) {
    dynvm_vm *vm = create();
    CHECK(run(vm, program) == DYNVM_OK);
    dynvm_value three = dynvm_make_int(vm, 3), out;
    dynvm_value counter = dynvm_call(vm, dynvm_get_global(vm, "counter"), &three, 1);
    CHECK(dynvm_send(vm, counter, dynvm_make_none(vm), &out) == 1 && reads(vm, out, "0"));
    CHECK(dynvm_send(vm, counter, dynvm_make_str(vm, "a", 1), &out) == 1 && reads(vm, out, "1"));
    CHECK(dynvm_next(vm, counter, &out) == 1 && reads(vm, out, "2"));
    CHECK(dynvm_send(vm, counter, three, &out) == 0 && reads(vm, out, "['a', None, 3]"));
    CHECK(dynvm_next(vm, counter, &out) == 0);
    CHECK(dynvm_send(vm, three, three, &out) == -1);
    CHECK(failed_with(vm, "AttributeError", "'int' object has no attribute 'send'"));
    dynvm_destroy(vm);
}

/* What failed first is kept through a chain; the next failure of its own replaces it. */
static void test_failures(void) {
    dynvm_vm *vm = create();
    CHECK(run(vm, program) == DYNVM_OK);
    dynvm_value seven = dynvm_make_int(vm, 7), none = {0};
    dynvm_value lost = dynvm_get_global(vm, "nothing");
    dynvm_value called = dynvm_call(vm, lost, &seven, 1);
    CHECK(dynvm_failed(called) && dynvm_failed(dynvm_get_attribute(vm, called, "x")));
    CHECK(dynvm_append(vm, called, dynvm_make_int(vm, 1)) == DYNVM_ERROR);
    CHECK(failed_with(vm, "NameError", "name 'nothing' is not defined"));
    CHECK(!dynvm_take_error(vm));
    CHECK(dynvm_truth(vm, none) == -1);
    CHECK(failed_with(vm, "SystemError", "the host uses the handle of a failed call"));
    CHECK(dynvm_failed(dynvm_call(vm, dynvm_get_global(vm, "fail"), &seven, 1)));
    dynvm_value exception = dynvm_take_exception(vm);
    CHECK(!dynvm_take_error(vm) && dynvm_failed(dynvm_take_exception(vm)));
    CHECK(dynvm_is_instance(vm, exception, dynvm_builtin(vm, "ValueError")) == 1);
    CHECK(reads(vm, dynvm_get_attribute(vm, exception, "__cause__"), "7"));
    CHECK(reads(
        vm,
        dynvm_get_attribute(vm, dynvm_get_attribute(vm, exception, "__traceback__"), "tb_lineno"),
        "12"));
    dynvm_error *error = dynvm_describe_exception(vm, exception);
    CHECK(strcmp(dynvm_error_type(error), "ValueError") == 0);
    CHECK(strstr(dynvm_error_traceback(error), "KeyError: 7"));
    CHECK(strstr(dynvm_error_traceback(error), "direct cause of the following"));
    dynvm_error_free(error);
    CHECK(!dynvm_describe_exception(vm, seven));
    /* A run forgets it. */
    CHECK(dynvm_failed(dynvm_get_global(vm, "nothing")) && run(vm, "pass\n") == DYNVM_OK);
    CHECK(!dynvm_take_error(vm));
    /* An exit is an exception like others. */
    dynvm_value leave = dynvm_get_attribute(vm, dynvm_import(vm, "sys"), "exit");
    CHECK(dynvm_failed(dynvm_call(vm, leave, &seven, 1)) && failed_with(vm, "SystemExit", "7"));
    CHECK(reads(vm, seven, "7"));
    dynvm_destroy(vm);
}

static void test_scopes(void) {
    dynvm_vm *vm = create();
    CHECK(run(vm, "died = []\n"
                  "class Mortal:\n"
                  "    def __init__(self, name): self.name = name\n"
                  "    def __del__(self): died.append(self.name)\n") == DYNVM_OK);
    dynvm_value class = dynvm_get_global(vm, "Mortal"), died = dynvm_get_global(vm, "died");
    dynvm_scope outer = dynvm_open_scope(vm);
    dynvm_value names[3];
    for (int i = 0; i < 3; i++) names[i] = dynvm_make_int(vm, i);
    dynvm_value a = dynvm_call(vm, class, names, 1);
    dynvm_scope inner = dynvm_open_scope(vm);
    dynvm_value b = dynvm_call(vm, class, names + 1, 1);
    CHECK(!dynvm_failed(dynvm_call(vm, class, names + 2, 1)));
    b = dynvm_close_scope_with(vm, inner, b);
    CHECK(reads(vm, died, "[2]") && !dynvm_failed(b));
    dynvm_value kept = dynvm_keep(vm, a);
    dynvm_close_scope(vm, outer);
    CHECK(reads(vm, died, "[2, 1]"));
    CHECK(dynvm_failed(dynvm_str(vm, b)));
    CHECK(failed_with(vm, "SystemError",
                      "the host uses a handle that has ended, or is another VM's"));
    CHECK(reads(vm, dynvm_get_attribute(vm, kept, "name"), "0"));
    dynvm_drop(vm, kept);
    dynvm_drop(vm, kept);
    dynvm_drop(vm, (dynvm_value){0});
    CHECK(reads(vm, died, "[2, 1, 0]"));
    dynvm_close_scope(vm, inner); /* has ended with the outer one */
    CHECK(reads(vm, died, "[2, 1, 0]"));
    /* Handles of another VM are found out. */
    dynvm_vm *other = create();
    dynvm_value foreign[40];
    for (int i = 0; i < 40; i++) foreign[i] = dynvm_make_int(other, i);
    CHECK(dynvm_failed(dynvm_str(vm, foreign[39])) && dynvm_failed(dynvm_str(vm, foreign[0])));
    dynvm_destroy(other);
    /* Making and dropping takes no more and more memory. */
    size_t before = dynvm_memory_used(vm);
    for (int i = 0; i < 100000; i++) dynvm_drop(vm, dynvm_make_int(vm, i));
    for (int i = 0; i < 100000; i++) dynvm_drop(vm, dynvm_keep(vm, died));
    CHECK(dynvm_memory_used(vm) <= before + 4096);
    dynvm_destroy(vm);
}

/* Whoever forgets handles is told where they were made. */
#define DYNVM_PLACES_HERE(vm) dynvm_at((vm), "host.c", 42)

static void test_leaks(void) {
    text t = {.size = 0};
    dynvm_config config = DYNVM_CONFIG;
    config.extension_output = collect;
    config.output_context = &t;
    config.check_handles = 1;
    dynvm_vm *vm = dynvm_create(&config);
    dynvm_scope scope = dynvm_open_scope(vm);
    dynvm_value in_scope = dynvm_make_int(DYNVM_PLACES_HERE(vm), 6);
    CHECK(!dynvm_failed(dynvm_keep(DYNVM_PLACES_HERE(vm), in_scope)));
    dynvm_close_scope(vm, scope);
    CHECK(!dynvm_failed(dynvm_make_none(vm)));
    dynvm_destroy(vm);
    CHECK(strcmp(t.data, "handles: never ended by a scope: None\n"
                         "handles: never dropped: 6, made at host.c:42\n") == 0);
}

/* Every allocation that can fail does so once: an error, no leak, no crash. */
static size_t failing_after, allocations;
static void *failing_resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    if (!new_size) {
        free(block);
        return NULL;
    }
    if (new_size > old_size && ++allocations == failing_after) return NULL;
    return realloc(block, new_size);
}

static void test_no_memory(void) {
    for (failing_after = 1; failing_after < 4000; failing_after += 7) {
        allocations = 0;
        dynvm_config config = DYNVM_CONFIG;
        config.resize = failing_resize;
        dynvm_vm *vm = dynvm_create(&config);
        if (!vm) continue;
        dynvm_scope scope = dynvm_open_scope(vm);
        dynvm_value items[64];
        for (int i = 0; i < 64; i++) items[i] = dynvm_make_str(vm, program, sizeof program - 1);
        dynvm_value list = dynvm_make_list(vm, items, 64);
        dynvm_value copy = dynvm_call_method(vm, list, "copy", NULL, 0);
        dynvm_keep(vm, copy);
        const char *told = dynvm_text(vm, dynvm_str(vm, dynvm_get_index(vm, copy, 63)), NULL);
        if (!told) {
            dynvm_error *error = dynvm_take_error(vm);
            CHECK(error && strcmp(dynvm_error_type(error), "MemoryError") == 0);
            dynvm_error_free(error);
        }
        dynvm_close_scope(vm, scope);
        dynvm_destroy(vm);
    }
}

int main(void) {
    test_numbers();
    test_text();
    test_containers();
    test_calls();
    test_compile();
    test_generators();
    test_failures();
    test_scopes();
    test_leaks();
    test_no_memory();
    return 0;
}
