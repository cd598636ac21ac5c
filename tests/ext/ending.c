/* ending.c: objects that hold what only their `release` can give back, and says so on the C
 * library's stdout, to see what becomes of them when the VM ends. */
#include <dynvm_ext.h>

#include <stdio.h>

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

static state *own_state(dvx_vm *vm) { return vm->api->state(vm, &dvx_extension); }

static thing *payload_of(dvx_vm *vm, dvx_value v) {
    thing *t = vm->api->payload(vm, v, &plain_type);
    return t ? t : vm->api->payload(vm, v, &pair_type);
}

/* Plain(number), Pair(number, next) */
static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    thing *t = payload_of(vm, self);
    if (t->number) return true;
    if (!vm->api->read_int(vm, args[0], &t->number)) return false;
    t->next = count > 1 ? vm->api->retain(vm, args[1]) : vm->api->make_none(vm);
    own_state(vm)->alive++;
    return true;
}

static void drop(dvx_vm *vm, void *payload) {
    thing *t = payload;
    if (!t->number) return;
    state *s = own_state(vm);
    s->alive--;
    s->released++;
    vm->api->release(vm, t->next);
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
    vm->api->release(vm, old);
}

static dvx_value keep(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    state *s = own_state(vm);
    (void)count;
    s->kept = vm->api->retain(vm, args[0]);
    s->has_kept = true;
    return vm->api->make_none(vm);
}

static dvx_value counts(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const state *s = own_state(vm);
    (void)args, (void)count;
    dvx_value both[] = {vm->api->make_int(vm, s->alive), vm->api->make_int(vm, s->released)};
    return vm->api->make_tuple(vm, both, 2);
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
    return vm->api->add_function(vm, module, &functions[0]) &&
           vm->api->add_function(vm, module, &functions[1]) &&
           vm->api->add_type(vm, module, &plain_type) && vm->api->add_type(vm, module, &pair_type);
}

static void finish(dvx_vm *vm, void *memory) {
    state *s = memory;
    if (s->has_kept) vm->api->release(vm, s->kept);
    printf("at the end: %lld alive, %lld released\n", (long long)s->alive, (long long)s->released);
    fflush(stdout);
}

DVX_EXTENSION_WITH_STATE("ending", init, sizeof(state), finish);
