/* rogue.c: an extension that misbehaves in every way that the optimisation interface can detect,
 * and re-enters the VM from every slot.
 *
 * misbehave(name) says how: the names below, of what the hook does (HOOK) and what `run` does
 * (RUN);
 * "" is an honest derivative.  faults() is how often a `run` has misbehaved since: so often
 * something must have been raised.  callback(f): each slot and each `run` calls f() first. */
#include <dynvm_ext.h>

#include <stdint.h>
#include <string.h>

typedef struct bad {
    int64_t n;
} bad;

typedef struct state {
    char how[32];
    int64_t faults;
    dvx_value callback; /* or DVX_FAILED */
    dvx_site *kept;     /* a site that was asked about, and is not any more */
    dvx_assumption *assumption;
} state;

extern const dvx_type bad_type;

static state *state_of(dvx_vm *vm) { return vm->api->state(vm, &dvx_extension); }
static bool is(dvx_vm *vm, const char *how) { return strcmp(state_of(vm)->how, how) == 0; }

/* Runs dl code; false: it raised. */
static bool reenter(dvx_vm *vm) {
    state *s = state_of(vm);
    if (dvx_failed(s->callback)) return true;
    dvx_value f = vm->api->retain(vm, s->callback), result = vm->api->call(vm, f, NULL, 0);
    bool done = !dvx_failed(result);
    vm->api->release(vm, result);
    vm->api->release(vm, f);
    return done;
}

/* ---- Slots ---- */

static dvx_value one(dvx_vm *vm) { return reenter(vm) ? vm->api->make_int(vm, 1) : DVX_FAILED; }

static dvx_value binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    (void)op, (void)a, (void)b;
    return one(vm);
}
static dvx_value unary(dvx_vm *vm, dvx_unary op, dvx_value self) {
    (void)op, (void)self;
    return one(vm);
}
static dvx_value compare(dvx_vm *vm, dvx_compare op, dvx_value a, dvx_value b) {
    (void)op, (void)a, (void)b;
    return one(vm);
}
static dvx_value get_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    (void)self, (void)key;
    return one(vm);
}
static bool set_item(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value value) {
    (void)self, (void)key, (void)value;
    return reenter(vm);
}
static dvx_value get(dvx_vm *vm, dvx_value self) {
    (void)self;
    return one(vm);
}
static dvx_value call(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)self, (void)args, (void)count;
    return one(vm);
}
static dvx_value method(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)args, (void)count;
    return one(vm);
}
static dvx_value show(dvx_vm *vm, dvx_value self) {
    (void)self;
    return reenter(vm) ? vm->api->make_str(vm, "Bad", 3) : DVX_FAILED;
}
static bool hash(dvx_vm *vm, dvx_value self, int64_t *out) {
    (void)self;
    *out = 5;
    return reenter(vm);
}
static int64_t length(dvx_vm *vm, dvx_value self) {
    (void)self;
    return reenter(vm) ? 1 : -1;
}
static int contains(dvx_vm *vm, dvx_value self, dvx_value item) {
    (void)self, (void)item;
    return reenter(vm) ? 1 : -1;
}
static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)self, (void)args, (void)count;
    return reenter(vm);
}

/* ---- Derivatives ---- */

/* Counts as a fault: the VM must raise something. */
static dvx_outcome fault(dvx_vm *vm, dvx_outcome outcome) {
    state_of(vm)->faults++;
    return outcome;
}

static dvx_outcome misbehave(dvx_vm *vm, const dvx_value *v, dvx_value *result) {
    if (is(vm, "RUN deoptimises with a result")) {
        *result = vm->api->make_list(vm, NULL, 0);
        return fault(vm, DVX_DEOPTIMISE);
    }
    if (is(vm, "RUN deoptimises and raises")) {
        vm->api->raise(vm, DVX_KEY_ERROR, "hidden");
        return fault(vm, DVX_DEOPTIMISE);
    }
    if (is(vm, "RUN deoptimises late")) {
        dvx_value list = vm->api->make_list(vm, NULL, 0);
        (void)vm->api->append(vm, list, v[0]);
        vm->api->release(vm, list);
        return fault(vm, DVX_DEOPTIMISE);
    }
    if (is(vm, "RUN gives another type")) {
        *result = vm->api->make_float(vm, 1.5);
        return fault(vm, DVX_DONE);
    }
    if (is(vm, "RUN fails silently")) return fault(vm, DVX_ERROR);
    if (is(vm, "RUN gives nothing")) return fault(vm, DVX_DONE);
    if (is(vm, "RUN gives and raises")) {
        *result = vm->api->make_int(vm, 1);
        vm->api->raise(vm, DVX_KEY_ERROR, "hidden");
        return fault(vm, DVX_DONE);
    }
    if (is(vm, "RUN is no outcome")) return fault(vm, (dvx_outcome)42);
    if (is(vm, "RUN breaks")) vm->api->break_assumption(vm, state_of(vm)->assumption);
    if (is(vm, "RUN breaks and deoptimises")) {
        vm->api->break_assumption(vm, state_of(vm)->assumption);
        return DVX_DEOPTIMISE;
    }
    *result = vm->api->make_int(vm, 1);
    return DVX_DONE;
}

/* What the debug table finds (sites_debug.dl; without it, it would be memory that is gone). */
static void misuse(dvx_vm *vm, const dvx_value *v, void *cache) {
    dvx_value *kept = cache;
    if (is(vm, "RUN leaks")) (void)vm->api->retain(vm, v[0]);
    if (is(vm, "RUN releases")) vm->api->release(vm, v[0]);
    if (is(vm, "RUN keeps")) {
        if (!dvx_failed(*kept) && vm->api->kind(vm, *kept) == DVX_INT) vm->api->release(vm, *kept);
        vm->api->clear_error(vm);
        *kept = v[0];
    }
}

static dvx_outcome run(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    misuse(vm, v, cache);
    if (!reenter(vm)) return DVX_ERROR;
    return misbehave(vm, v, result);
}

static dvx_outcome run_store(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    (void)v, (void)cache, (void)result;
    return reenter(vm) ? DVX_DONE : DVX_ERROR;
}

static bool guard(dvx_vm *vm, const dvx_value *v, const void *cache) {
    (void)v, (void)cache;
    if (is(vm, "RUN raises in its guard")) vm->api->raise(vm, DVX_KEY_ERROR, "guard");
    return true;
}

static void release(dvx_vm *vm, void *cache) {
    (void)cache;
    vm->api->raise(vm, DVX_KEY_ERROR, "released");
}

enum { FAMILIES = DVX_SITE_METHOD + 1 };
#define HONEST(site, operands, function)                                                      \
    {                                                                                         \
        .size = sizeof(dvx_specialisation), .name = "BAD", .family = site, .count = operands, \
        .run = function, .cache_size = 8, .release = release, .guard = guard,                 \
        .result = site == DVX_SITE_SET_ITEM ? DVX_ANY : DVX_INT                               \
    }
static const dvx_specialisation honest[FAMILIES] = {
    HONEST(DVX_SITE_BINARY, 2, run),    HONEST(DVX_SITE_INPLACE, 2, run),
    HONEST(DVX_SITE_UNARY, 1, run),     HONEST(DVX_SITE_COMPARE, 2, run),
    HONEST(DVX_SITE_GET_ITEM, 2, run),  HONEST(DVX_SITE_SET_ITEM, 3, run_store),
    HONEST(DVX_SITE_ATTRIBUTE, 1, run), HONEST(DVX_SITE_CALL, 1, run),
    HONEST(DVX_SITE_METHOD, 1, run),
};
static const dvx_specialisation
    tiny = {.size = 4},
    nameless = {.size = sizeof tiny, .family = DVX_SITE_BINARY, .count = 2, .run = run},
    other_family = {.size = sizeof tiny, .name = "BAD", .count = 9, .run = run},
    huge = {.size = sizeof tiny,
            .name = "BAD",
            .family = DVX_SITE_BINARY,
            .count = 2,
            .run = run,
            .cache_size = SIZE_MAX},
    large = {.size = sizeof tiny,
             .name = "BAD",
             .family = DVX_SITE_BINARY,
             .count = 2,
             .run = run,
             .cache_size = (size_t)1 << 46},
    beyond = {.size = sizeof tiny,
              .name = "BAD",
              .family = DVX_SITE_BINARY,
              .count = 2,
              .run = run,
              .any = 4},
    no_flag = {.size = sizeof tiny,
               .name = "BAD",
               .family = DVX_SITE_BINARY,
               .count = 2,
               .run = run,
               .meta = 2};

static const struct {
    const char *how;
    const dvx_specialisation *given;
} malformed[] = {{"HOOK tiny", &tiny},           {"HOOK nameless", &nameless},
                 {"HOOK family", &other_family}, {"HOOK huge", &huge},
                 {"HOOK large", &large},         {"HOOK beyond", &beyond},
                 {"HOOK flag", &no_flag}};

static void specialise(dvx_vm *vm, dvx_site *site) {
    state *s = state_of(vm);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        if (is(vm, malformed[i].how)) (void)vm->api->specialise(vm, site, malformed[i].given);
    if (strncmp(s->how, "RUN", 3) != 0 && s->how[0] && !is(vm, "HOOK twice") &&
        !is(vm, "HOOK raises") && !is(vm, "HOOK runs") && !is(vm, "HOOK leaks"))
        return;
    if (is(vm, "HOOK runs") && !reenter(vm)) return;
    for (uint32_t i = 0; i < site->count + 3; i++)
        if (is(vm, "HOOK drops")) (void)vm->api->drop_operand(vm, site, i);
    (void)vm->api->assume(vm, site, s->assumption); /* too early */
    if (site->count != honest[site->family].count ||
        !site->operands[site->family == DVX_SITE_SET_ITEM].type)
        return; /* among others, calls of the class */
    if (s->kept && s->kept != site && is(vm, "HOOK twice"))
        (void)vm->api->specialise(vm, s->kept, &honest[site->family]);
    s->kept = site;
    dvx_value *kept = vm->api->specialise(vm, site, &honest[site->family]);
    if (kept)
        *kept = is(vm, "HOOK leaks") ? vm->api->retain(vm, site->operands[0].value) : DVX_FAILED;
    if (kept) (void)vm->api->assume(vm, site, s->assumption);
    if (is(vm, "HOOK twice")) (void)vm->api->specialise(vm, site, &honest[site->family]);
    if (is(vm, "HOOK raises")) vm->api->raise(vm, DVX_KEY_ERROR, "from the hook");
}

/* ---- The module ---- */

static dvx_value set_how(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    state *s = state_of(vm);
    size_t size;
    (void)count;
    s->faults = 0;
    if (!vm->api->read_str(vm, args[0], s->how, sizeof s->how, &size)) return DVX_FAILED;
    vm->api->break_assumption(vm, s->assumption);
    return vm->api->make_none(vm);
}

static dvx_value get_faults(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)args, (void)count;
    return vm->api->make_int(vm, state_of(vm)->faults);
}

static dvx_value set_callback(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    state *s = state_of(vm);
    dvx_value old = s->callback;
    (void)count;
    s->callback =
        vm->api->kind(vm, args[0]) == DVX_NONE ? DVX_FAILED : vm->api->retain(vm, args[0]);
    vm->api->release(vm, old);
    return vm->api->make_none(vm);
}

#define FUNCTION(title, function, arguments)                                              \
    &(const dvx_function) {                                                               \
        .size = sizeof(dvx_function), .name = title, .entry = function, .min = arguments, \
        .max = arguments                                                                  \
    }
static const dvx_function *const methods[] = {FUNCTION("method", method, 1)};
static const dvx_attribute *const attributes[] = {
    &(const dvx_attribute){sizeof(dvx_attribute), "n", get, NULL},
};
static const dvx_parameters none = {.size = sizeof none};

const dvx_type bad_type = {
    .size = sizeof(dvx_type),
    .name = "Bad",
    .payload = sizeof(bad),
    .base = true,
    .initialise = fill,
    .parameters = &none,
    .repr = show,
    .hash = hash,
    .compare = compare,
    .binary = binary,
    .inplace = binary,
    .unary = unary,
    .binary_operators = DVX_BIT(DVX_ADD),
    .inplace_operators = DVX_BIT(DVX_ADD),
    .unary_operators = DVX_BIT(DVX_NEG),
    .length = length,
    .get_item = get_item,
    .set_item = set_item,
    .contains = contains,
    .call = call,
    .call_parameters = &none,
    .method_count = 1,
    .methods = methods,
    .attribute_count = 1,
    .attributes = attributes,
    .specialise = specialise,
};

static bool init(dvx_vm *vm, dvx_value module) {
    state *s = state_of(vm);
    s->callback = DVX_FAILED;
    s->assumption = vm->api->make_assumption(vm);
    return s->assumption && vm->api->add_type(vm, module, &bad_type) &&
           vm->api->add_function(vm, module, FUNCTION("misbehave", set_how, 1)) &&
           vm->api->add_function(vm, module, FUNCTION("faults", get_faults, 0)) &&
           vm->api->add_function(vm, module, FUNCTION("callback", set_callback, 1));
}

static void finish(dvx_vm *vm, void *given) {
    state *s = given;
    vm->api->release(vm, s->callback);
}

DVX_EXTENSION_WITH_STATE("rogue", init, sizeof(state), finish);
