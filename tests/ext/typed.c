/* typed.c: functions with signatures for raw numbers, as functions of a module and as objects that
 * attributes of another object give.  It counts the calls of both kinds, and keeps errno. */
#include <dynvm_ext.h>
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* C functions with raw arguments know no VM, so these belong to the process. */
static atomic_llong raw_calls, boxed_calls, total;
static _Thread_local int kept;

static double half(double x) {
    raw_calls++;
    return x / 2;
}
static double root(double x) {
    raw_calls++;
    return sqrt(x);
}
static bool root_defined(const dvx_number *arguments, dvx_number result) {
    return !isnan(result.d) || isnan(arguments[0].d);
}
static double ratio(double x, double y) {
    raw_calls++;
    return x / y;
}
static bool ratio_defined(const dvx_number *arguments, dvx_number result) {
    (void)result;
    return arguments[1].d != 0;
}
static int64_t add(int64_t n) {
    raw_calls++;
    return atomic_fetch_add(&total, n) + n;
}
static int32_t narrow(int32_t a, int32_t b) {
    raw_calls++;
    return a ^ b;
}
static double scale(double x, int32_t by) {
    raw_calls++;
    return x * by;
}
static double sum3(double x, double y, double z) {
    raw_calls++;
    return x + y * 10 + z * 100;
}
static bool is_even(int64_t n) {
    raw_calls++;
    return n % 2 == 0;
}
static void forget(double x) {
    raw_calls++;
    total -= (long long)x;
}
static double answer(void) {
    raw_calls++;
    return 42.5;
}
static int32_t fails(int32_t n) {
    raw_calls++;
    int old = errno;
    errno = n;
    return old;
}

#define ENTRY(function, type, ...) (void (*)(void))(type(*)(__VA_ARGS__)) function
static const struct {
    const char *name;
    dvx_raw raw[2];
} functions[] = {
    {"half", {{"d(d)", ENTRY(half, double, double), true, NULL, NULL}}},
    {"root", {{"d(d)", ENTRY(root, double, double), true, root_defined, NULL}}},
    {"add", {{"q(q)", ENTRY(add, int64_t, int64_t), false, NULL, NULL}}},
    {"narrow", {{"i(ii)", ENTRY(narrow, int32_t, int32_t, int32_t), false, NULL, NULL}}},
    {"scale", {{"d(di)", ENTRY(scale, double, double, int32_t), true, NULL, NULL}}},
    {"sum3", {{"d(ddd)", ENTRY(sum3, double, double, double, double), true, NULL, NULL}}},
    {"is_even", {{"b(q)", ENTRY(is_even, bool, int64_t), true, NULL, NULL}}},
    {"forget", {{"v(d)", ENTRY(forget, void, double), false, NULL, NULL}}},
    {"answer", {{"d()", ENTRY(answer, double, void), false, NULL, NULL}}},
    {"fails", {{"i(i)", ENTRY(fails, int32_t, int32_t), false, NULL, NULL}}},
    {"ratio", {{"d(dd)", ENTRY(ratio, double, double, double), true, ratio_defined, NULL}}},
};
enum { COUNT = sizeof functions / sizeof *functions };

/* ---- The boxed way: one call for all of them ---- */

static bool read(dvx_vm *vm, char type, dvx_value v, dvx_number *out) {
    if (type == 'd') return vm->api->read_float(vm, v, &out->d);
    if (!vm->api->read_int(vm, v, &out->i)) return false;
    if (type == 'q' || (out->i >= INT32_MIN && out->i <= INT32_MAX)) return true;
    vm->api->raise(vm, DVX_OVERFLOW_ERROR, "beyond 32 bits");
    return false;
}

static dvx_value call(dvx_vm *vm, const dvx_raw *raw, const dvx_value *args, uint32_t count) {
    const char *types = strchr(raw->signature, '(') + 1;
    dvx_number n[3];
    if (count != strlen(types) - 1)
        return vm->api->raise(vm, DVX_TYPE_ERROR, "wrong number of arguments");
    for (uint32_t i = 0; i < count; i++)
        if (!read(vm, types[i], args[i], &n[i])) return DVX_FAILED;
    boxed_calls++;
    raw_calls--; /* they count themselves */
    const char *s = raw->signature;
    void (*f)(void) = raw->entry;
    if (!strcmp(s, "d(d)") || !strcmp(s, "d(dd)")) {
        double y = count == 1 ? ((double (*)(double))f)(n[0].d)
                              : ((double (*)(double, double))f)(n[0].d, n[1].d);
        if (!raw->defined || raw->defined(n, (dvx_number){.d = y}))
            return vm->api->make_float(vm, y);
        dvx_value error = vm->api->error_class(vm, DVX_VALUE_ERROR);
        if (count == 1) vm->api->raise_format(vm, error, "no real root of %V", args[0]);
        if (count == 2) vm->api->raise_format(vm, error, "no ratio of %V, %V", args[0], args[1]);
        vm->api->release(vm, error);
        return DVX_FAILED;
    }
    if (!strcmp(s, "q(q)")) return vm->api->make_int(vm, ((int64_t(*)(int64_t))f)(n[0].i));
    if (!strcmp(s, "i(ii)"))
        return vm->api->make_int(
            vm, ((int32_t(*)(int32_t, int32_t))f)((int32_t)n[0].i, (int32_t)n[1].i));
    if (!strcmp(s, "d(di)"))
        return vm->api->make_float(vm, ((double (*)(double, int32_t))f)(n[0].d, (int32_t)n[1].i));
    if (!strcmp(s, "d(ddd)"))
        return vm->api->make_float(vm,
                                   ((double (*)(double, double, double))f)(n[0].d, n[1].d, n[2].d));
    if (!strcmp(s, "b(q)")) return vm->api->make_bool(vm, ((bool (*)(int64_t))f)(n[0].i));
    if (!strcmp(s, "d()")) return vm->api->make_float(vm, ((double (*)(void))f)());
    if (!strcmp(s, "i(i)")) {
        errno = kept;
        int32_t y = ((int32_t(*)(int32_t))f)((int32_t)n[0].i);
        kept = errno;
        return vm->api->make_int(vm, y);
    }
    ((void (*)(double))f)(n[0].d);
    return vm->api->make_none(vm);
}

/* ---- Objects that are called, and the library that has them as attributes ---- */

typedef struct function {
    const char *name;
    dvx_raw raw[2];
} function;

static dvx_value call_object(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count);
static const dvx_raw *raw_of(dvx_vm *vm, dvx_value self);
static dvx_value repr(dvx_vm *vm, dvx_value self);
static const char *const one_name[] = {"a", "b", "c"};
static const dvx_parameters up_to_three = {sizeof(dvx_parameters), one_name, 3, 3, 0};
static const dvx_type function_type = {
    .size = sizeof(dvx_type),
    .name = "Function",
    .payload = sizeof(function),
    .call = call_object,
    .call_parameters = &up_to_three,
    .repr = repr,
    .raw = raw_of,
};

static dvx_value repr(dvx_vm *vm, dvx_value self) {
    const function *f = vm->api->payload(vm, self, &function_type);
    return vm->api->make_str(vm, f->name, strlen(f->name));
}

static dvx_value call_object(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    const function *f = vm->api->payload(vm, self, &function_type);
    uint32_t given = 0;
    while (given < count && args[given].bits != DVX_FAILED.bits) given++;
    return call(vm, f->raw, args, given);
}

static const dvx_raw *raw_of(dvx_vm *vm, dvx_value self) {
    return ((const function *)vm->api->payload(vm, self, &function_type))->raw;
}

typedef struct library {
    dvx_value found[COUNT]; /* DVX_FAILED: not asked for yet */
    bool filled, closed;
    dvx_assumption *open; /* broken by `close` */
} library;

static int find(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out);
static void release(dvx_vm *vm, void *payload) {
    library *l = payload;
    for (int i = 0; l->filled && i < COUNT; i++) vm->api->release(vm, l->found[i]);
}
static bool lasting(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out,
                    dvx_assumption **until);
static const dvx_type library_type = {
    .size = sizeof(dvx_type),
    .name = "Library",
    .payload = sizeof(library),
    .release = release,
    .find_attribute = find,
    .lasting_attribute = lasting,
};

static int find(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out) {
    library *l = vm->api->payload(vm, self, &library_type);
    char text[16];
    size_t size;
    if (!vm->api->read_str(vm, name, text, sizeof text, &size)) return -1;
    if (l->closed) return vm->api->raise(vm, DVX_VALUE_ERROR, "the library is closed"), -1;
    if (size >= sizeof text) return 0;
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(functions[i].name, text)) continue;
        if (l->found[i].bits == DVX_FAILED.bits) {
            void *payload;
            l->found[i] = vm->api->make_object(vm, &function_type, &payload);
            if (!payload) return -1;
            function *f = payload;
            f->name = functions[i].name;
            memcpy(f->raw, functions[i].raw, sizeof f->raw);
            if (!strcmp(text, "fails")) f->raw[0].error_number = &kept;
        }
        *out = vm->api->retain(vm, l->found[i]);
        return 1;
    }
    return 0;
}

static bool lasting(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out,
                    dvx_assumption **until) {
    *until = ((library *)vm->api->payload(vm, self, &library_type))->open;
    if (find(vm, self, name, out) > 0) return true;
    vm->api->clear_error(vm);
    return false;
}

/* ---- The module ---- */

static dvx_value open_library(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)args, (void)count;
    void *payload;
    dvx_value v = vm->api->make_object(vm, &library_type, &payload);
    library *l = payload;
    for (int i = 0; l && i < COUNT; i++) l->found[i] = DVX_FAILED;
    if (!l) return v;
    l->filled = true;
    l->open = vm->api->make_assumption(vm);
    if (l->open) return v;
    vm->api->release(vm, v);
    return DVX_FAILED;
}

static dvx_value close_library(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    library *l = vm->api->check_payload(vm, args[0], &library_type);
    if (!l) return DVX_FAILED;
    l->closed = true;
    vm->api->break_assumption(vm, l->open);
    return vm->api->make_none(vm);
}

static dvx_value half_boxed(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return call(vm, functions[0].raw, args, count);
}
static dvx_value root_boxed(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return call(vm, functions[1].raw, args, count);
}
static dvx_value add_boxed(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return call(vm, functions[2].raw, args, count);
}

/* calls(): (raw, boxed) so far. */
static dvx_value calls(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)args, (void)count;
    dvx_value both[] = {vm->api->make_int(vm, raw_calls), vm->api->make_int(vm, boxed_calls)};
    dvx_value r = vm->api->make_tuple(vm, both, 2);
    vm->api->release(vm, both[0]);
    vm->api->release(vm, both[1]);
    return r;
}

static dvx_value reset(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)args, (void)count;
    raw_calls = boxed_calls = total = 0;
    kept = 0;
    return vm->api->make_none(vm);
}

static const dvx_function module_functions[] = {
    {.size = sizeof(dvx_function),
     .name = "half",
     .entry = half_boxed,
     .min = 1,
     .max = 1,
     .raw = functions[0].raw},
    {.size = sizeof(dvx_function),
     .name = "root",
     .entry = root_boxed,
     .min = 1,
     .max = 1,
     .raw = functions[1].raw},
    {.size = sizeof(dvx_function),
     .name = "add",
     .entry = add_boxed,
     .min = 1,
     .max = 1,
     .raw = functions[2].raw},
    {.size = sizeof(dvx_function), .name = "open", .entry = open_library},
    {.size = sizeof(dvx_function), .name = "close", .entry = close_library, .min = 1, .max = 1},
    {.size = sizeof(dvx_function), .name = "calls", .entry = calls},
    {.size = sizeof(dvx_function), .name = "reset", .entry = reset},
};

static bool init(dvx_vm *vm, dvx_value module) {
    for (size_t i = 0; i < sizeof module_functions / sizeof *module_functions; i++)
        if (!vm->api->add_function(vm, module, &module_functions[i])) return false;
    return vm->api->add_type(vm, module, &function_type) &&
           vm->api->add_type(vm, module, &library_type);
}

DVX_EXTENSION("typed", init);
