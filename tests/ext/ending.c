/* ending.c: objects that hold what only their `release` can give back, and says so on the C
 * library's stdout, to see what becomes of them when the VM ends. */
#include <dynvm_ext.h>

#include <stdio.h>

#define API(function, ...) vm->api->function(vm, __VA_ARGS__)

typedef struct thing {
    int64_t number; /* 0: none, as the payload's zeros */
    dvx_value next; /* with number */
} thing;

typedef struct state {
    int64_t alive, released;
    dvx_value kept; /* counted, where has_kept */
    bool has_kept;
} state;

static const dvx_type plain_type, pair_type;

static state *own_state(dvx_vm *vm) { return API(state, &dvx_extension); }

static thing *payload_of(dvx_vm *vm, dvx_value v) {
    thing *t = API(payload, v, &plain_type);
    return t ? t : API(payload, v, &pair_type);
}

/* Plain(number), Pair(number, next) */
static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    thing *t = payload_of(vm, self);
    if (t->number) return true;
    if (!API(read_int, args[0], &t->number)) return false;
    t->next = count > 1 ? API(retain, args[1]) : vm->api->make_none(vm);
    own_state(vm)->alive++;
    return true;
}

static void drop(dvx_vm *vm, void *payload) {
    thing *t = payload;
    if (!t->number) return;
    state *s = own_state(vm);
    s->alive--;
    s->released++;
    API(release, t->next);
}

static void traverse(dvx_vm *vm, void *payload, dvx_visit visit, void *context) {
    thing *t = payload;
    if (t->number) visit(vm, t->next, context);
}

static void clear(dvx_vm *vm, void *payload) {
    thing *t = payload;
    dvx_value old = t->next;
    if (!t->number) return;
    t->next = vm->api->make_none(vm);
    API(release, old);
}

static dvx_value keep(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    state *s = own_state(vm);
    (void)count;
    s->kept = API(retain, args[0]);
    s->has_kept = true;
    return vm->api->make_none(vm);
}

static dvx_value counts(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const state *s = own_state(vm);
    (void)args, (void)count;
    dvx_value both[] = {API(make_int, s->alive), API(make_int, s->released)};
    return API(make_tuple, both, 2);
}

static const char *const names[] = {"number", "next"};
static const dvx_parameters one = {sizeof one, names, 1, 1, 1}, two = {sizeof two, names, 2, 2, 2};
static const dvx_type plain_type = {.size = sizeof(dvx_type),
                                    .name = "Plain",
                                    .payload = sizeof(thing),
                                    .base = true,
                                    .initialise = fill,
                                    .parameters = &one,
                                    .release = drop};
static const dvx_type pair_type = {.size = sizeof(dvx_type),
                                   .name = "Pair",
                                   .payload = sizeof(thing),
                                   .base = true,
                                   .initialise = fill,
                                   .parameters = &two,
                                   .release = drop,
                                   .traverse = traverse,
                                   .clear = clear};
static const dvx_function functions[] = {
    {.size = sizeof(dvx_function), .name = "keep", .entry = keep, .min = 1, .max = 1},
    {.size = sizeof(dvx_function), .name = "counts", .entry = counts},
};

static bool init(dvx_vm *vm, dvx_value module) {
    return API(add_function, module, &functions[0]) && API(add_function, module, &functions[1]) &&
           API(add_type, module, &plain_type) && API(add_type, module, &pair_type);
}

static void finish(dvx_vm *vm, void *memory) {
    state *s = memory;
    if (s->has_kept) API(release, s->kept);
    printf("at the end: %lld alive, %lld released\n", (long long)s->alive, (long long)s->released);
    fflush(stdout);
}

DVX_EXTENSION_WITH_STATE("ending", init, sizeof(state), finish);
