/* hostile.c: an extension that misbehaves, in each of the ways that the interface can detect.
 *
 * What stands under "always" is detected without the debug table (hostile_use.dl); what stands
 * under "debug table" destroys the VM without it (hostile_debug.dl).  Slots is a type that calls dl
 * code in each slot (hostile_slots.dl). */
#include <dynvm_ext.h>

#include <string.h>

#define ENTRY(name) static dvx_value name(dvx_vm *vm, const dvx_value *args, uint32_t count)

static dvx_value none(dvx_vm *vm) { return vm->api->make_none(vm); }

/* ---- Always ---- */

ENTRY(failed_silently) {
    (void)vm, (void)args, (void)count;
    return DVX_FAILED;
}
ENTRY(result_and_error) {
    (void)args, (void)count;
    vm->api->raise(vm, DVX_VALUE_ERROR, "overlooked");
    return none(vm);
}
ENTRY(append_failed) {
    (void)count;
    vm->api->append(vm, args[0], DVX_FAILED);
    return DVX_FAILED;
}
ENTRY(bad_operator) {
    (void)count;
    return vm->api->binary(vm, (dvx_binary)99, args[0], args[0]);
}
ENTRY(bad_format) {
    (void)count;
    return vm->api->raise_format(vm, args[0], "%n");
}
ENTRY(bad_text) {
    (void)args, (void)count;
    return vm->api->make_str(vm, "\xff\xfe", 2);
}
ENTRY(bad_size) {
    (void)args, (void)count;
    return vm->api->make_bytes(vm, "x", SIZE_MAX);
}
ENTRY(foreign_payload) {
    static const dvx_type unknown = {.size = sizeof(dvx_type), .name = "Unknown"};
    void *payload;
    (void)count;
    if (vm->api->payload(vm, args[0], &unknown)) return none(vm);
    return vm->api->make_object(vm, &unknown, &payload);
}
static dvx_value added_late(dvx_vm *vm, const dvx_value *args, uint32_t count);
static const dvx_function late = {.size = sizeof late, .name = "late", .entry = added_late};
ENTRY(added_late) {
    (void)count;
    return vm->api->add_function(vm, args[0], &late) ? none(vm) : DVX_FAILED;
}

/* ---- Debug table ---- */

static dvx_value new_list(dvx_vm *vm) { return vm->api->make_list(vm, NULL, 0); }

ENTRY(leak) {
    (void)args, (void)count;
    new_list(vm);
    return none(vm);
}
ENTRY(leak_argument) {
    (void)count;
    vm->api->retain(vm, args[0]);
    vm->api->retain(vm, args[0]);
    return none(vm);
}
ENTRY(use_released) {
    (void)args, (void)count;
    dvx_value list = new_list(vm);
    vm->api->release(vm, list);
    int64_t length = vm->api->length(vm, list);
    return length < 0 ? DVX_FAILED : vm->api->make_int(vm, length);
}
/* The same, where something else of its type has taken the place. */
ENTRY(use_replaced) {
    (void)args, (void)count;
    dvx_value list = new_list(vm), other;
    vm->api->release(vm, list);
    other = new_list(vm);
    bool done = vm->api->append(vm, list, other);
    vm->api->release(vm, other);
    return done ? none(vm) : DVX_FAILED;
}
ENTRY(call_with_released) {
    (void)count;
    dvx_value both[] = {new_list(vm), new_list(vm)};
    vm->api->release(vm, both[1]);
    dvx_value result = vm->api->call(vm, args[0], both, 2);
    vm->api->release(vm, both[0]);
    return result;
}
ENTRY(release_twice) {
    (void)args, (void)count;
    dvx_value list = new_list(vm);
    vm->api->release(vm, list);
    vm->api->release(vm, list);
    return none(vm);
}
ENTRY(release_argument) {
    (void)count;
    vm->api->release(vm, args[0]);
    return none(vm);
}
ENTRY(return_argument) {
    (void)vm, (void)count;
    return args[0];
}
ENTRY(return_released) {
    (void)args, (void)count;
    dvx_value list = new_list(vm);
    vm->api->release(vm, list);
    return list;
}
ENTRY(work_while_pending) {
    (void)args, (void)count;
    vm->api->raise(vm, DVX_KEY_ERROR, "overlooked");
    vm->api->release(vm, new_list(vm));
    return DVX_FAILED;
}
ENTRY(wrong_size) {
    (void)args, (void)count;
    void *block = vm->api->allocate(vm, 48);
    if (block) block = vm->api->resize(vm, block, 32, 64);
    vm->api->deallocate(vm, block, 8);
    return none(vm);
}
ENTRY(free_twice) {
    (void)args, (void)count;
    void *block = vm->api->allocate(vm, 48);
    vm->api->deallocate(vm, block, 48);
    vm->api->deallocate(vm, block, 48);
    return vm->api->resize(vm, block, 48, 64) ? none(vm) : DVX_FAILED;
}
ENTRY(write_behind) {
    (void)args, (void)count;
    char *block = vm->api->allocate(vm, 40);
    if (!block) return DVX_FAILED;
    block[40] = 1;
    vm->api->deallocate(vm, block, 40);
    return none(vm);
}
ENTRY(lose_block) {
    (void)args, (void)count;
    return vm->api->allocate(vm, 24) ? none(vm) : DVX_FAILED;
}
ENTRY(stay_inside) {
    (void)args, (void)count;
    return vm->api->enter(vm) ? none(vm) : DVX_FAILED;
}
ENTRY(leave_only) {
    (void)args, (void)count;
    vm->api->leave(vm);
    return none(vm);
}

/* Keeps an argument that it has not retained. */
typedef struct state {
    dvx_value kept;
} state;

static state *own_state(dvx_vm *vm) { return vm->api->state(vm, &dvx_extension); }

ENTRY(keep) {
    (void)count;
    own_state(vm)->kept = args[0];
    return none(vm);
}
ENTRY(use_kept) {
    (void)args, (void)count;
    return vm->api->repr(vm, own_state(vm)->kept);
}

/* Takes any arguments, as a derivative that does not look at them. */
static bool takes_all(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)vm, (void)args, (void)count;
    return true;
}
static dvx_outcome run_wrong(dvx_vm *vm, const dvx_value *args, uint32_t count, dvx_value *result) {
    (void)vm, (void)count;
    *result = args[0];
    return DVX_DONE;
}
static const dvx_derivative derivative = {
    .size = sizeof derivative, .name = "CALL_HOT", .guard = takes_all, .run = run_wrong};
static const dvx_derivative *const derivatives[] = {&derivative};
ENTRY(hot) {
    (void)count;
    return vm->api->retain(vm, args[0]);
}

/* ---- Slots ---- */

/* An object that calls a dl function with the name of each slot that is asked. */
typedef struct slots {
    dvx_value callback; /* DVX_FAILED: none; zero bits are the float 0.0 */
} slots;

static const dvx_type slots_type;

/* Calls back; the payload is read again each time. */
static bool tell(dvx_vm *vm, dvx_value self, const char *slot) {
    const slots *s = vm->api->payload(vm, self, &slots_type);
    if (!s) return true;
    dvx_value args[] = {vm->api->retain(vm, self), vm->api->make_str(vm, slot, strlen(slot))};
    dvx_value callback = vm->api->retain(vm, s->callback);
    dvx_value result = vm->api->call(vm, callback, args, 2);
    bool good = !dvx_failed(result);
    vm->api->release(vm, result);
    vm->api->release(vm, callback);
    vm->api->release(vm, args[1]);
    vm->api->release(vm, args[0]);
    return good;
}

static bool slots_initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    slots *s = vm->api->payload(vm, self, &slots_type);
    dvx_value old = s->callback;
    (void)count;
    s->callback = vm->api->retain(vm, args[0]);
    vm->api->release(vm, old);
    return tell(vm, self, "initialise");
}
static void slots_release(dvx_vm *vm, void *payload) {
    vm->api->release(vm, ((slots *)payload)->callback);
}
static void slots_traverse(dvx_vm *vm, void *payload, dvx_visit visit, void *context) {
    visit(vm, ((slots *)payload)->callback, context);
}
static void slots_clear(dvx_vm *vm, void *payload) {
    slots *s = payload;
    dvx_value old = s->callback;
    s->callback = none(vm);
    vm->api->release(vm, old);
}
#define SLOT(name, result, ...) \
    static result slots_##name(dvx_vm *vm, dvx_value self, ##__VA_ARGS__)
#define IGNORE(v) (void)(v)

SLOT(repr, dvx_value) {
    return tell(vm, self, "repr") ? vm->api->make_str(vm, "slots", 5) : DVX_FAILED;
}
SLOT(str, dvx_value) { return tell(vm, self, "str") ? vm->api->make_int(vm, 3) : DVX_FAILED; }
SLOT(format, dvx_value, dvx_value spec) {
    return tell(vm, self, "format") ? vm->api->retain(vm, spec) : DVX_FAILED;
}
SLOT(hash, bool, int64_t *out) {
    *out = -1;
    return tell(vm, self, "hash");
}
static dvx_value slots_compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    IGNORE(op), IGNORE(other);
    return tell(vm, self, "compare") ? vm->api->make_not_implemented(vm) : DVX_FAILED;
}
static dvx_value slots_binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    IGNORE(op);
    return tell(vm, a, "binary") && tell(vm, b, "binary") ? vm->api->make_int(vm, 1) : DVX_FAILED;
}
static dvx_value slots_inplace(dvx_vm *vm, dvx_binary op, dvx_value self, dvx_value b) {
    IGNORE(op), IGNORE(b);
    return tell(vm, self, "inplace") ? vm->api->retain(vm, self) : DVX_FAILED;
}
static dvx_value slots_unary(dvx_vm *vm, dvx_unary op, dvx_value self) {
    IGNORE(op);
    return tell(vm, self, "unary") ? vm->api->make_int(vm, 2) : DVX_FAILED;
}
SLOT(length, int64_t) { return tell(vm, self, "length") ? 7 : -1; }
SLOT(get_item, dvx_value, dvx_value key) {
    return tell(vm, self, "get_item") ? vm->api->retain(vm, key) : DVX_FAILED;
}
SLOT(set_item, bool, dvx_value key, dvx_value value) {
    IGNORE(key), IGNORE(value);
    return tell(vm, self, "set_item");
}
SLOT(delete_item, bool, dvx_value key) {
    IGNORE(key);
    return tell(vm, self, "delete_item");
}
SLOT(contains, int, dvx_value item) {
    IGNORE(item);
    return tell(vm, self, "contains") ? 5 : -9; /* others than 1, 0 and -1 */
}
SLOT(iterate, dvx_value) {
    return tell(vm, self, "iterate") ? vm->api->retain(vm, self) : DVX_FAILED;
}
SLOT(next, int, dvx_value *out) {
    if (!tell(vm, self, "next")) return -1;
    *out = vm->api->make_int(vm, 4); /* which nobody gets */
    return 0;
}
SLOT(call, dvx_value, const dvx_value *args, uint32_t count) {
    IGNORE(args), IGNORE(count);
    return tell(vm, self, "call") ? vm->api->retain(vm, self) : DVX_FAILED;
}
SLOT(find_attribute, int, dvx_value name, dvx_value *out) {
    IGNORE(name), IGNORE(out);
    return tell(vm, self, "find_attribute") ? 0 : -1;
}
SLOT(set_attribute, int, dvx_value name, dvx_value value) {
    IGNORE(name), IGNORE(value);
    return tell(vm, self, "set_attribute") ? 0 : -1;
}
SLOT(get_colour, dvx_value) {
    return tell(vm, self, "get") ? vm->api->make_int(vm, 5) : DVX_FAILED;
}
SLOT(set_colour, bool, dvx_value value) {
    IGNORE(value);
    return tell(vm, self, "set");
}

static const dvx_attribute colour = {sizeof colour, "colour", slots_get_colour, slots_set_colour};
static const dvx_attribute *const slots_attributes[] = {&colour};
static const char *const slots_names[] = {"callback"};
static const dvx_parameters slots_parameters = {sizeof slots_parameters, slots_names, 1, 1, 1};
enum { ALL_OPERATORS = DVX_BIT(DVX_DIVMOD + 1) - 1 };

static const dvx_type slots_type = {
    .size = sizeof(dvx_type),
    .name = "Slots",
    .payload = sizeof(slots),
    .base = true,
    .initialise = slots_initialise,
    .parameters = &slots_parameters,
    .release = slots_release,
    .traverse = slots_traverse,
    .clear = slots_clear,
    .repr = slots_repr,
    .str = slots_str,
    .format = slots_format,
    .hash = slots_hash,
    .compare = slots_compare,
    .binary = slots_binary,
    .inplace = slots_inplace,
    .unary = slots_unary,
    .binary_operators = ALL_OPERATORS,
    .inplace_operators = ALL_OPERATORS,
    .unary_operators = ALL_OPERATORS,
    .length = slots_length,
    .get_item = slots_get_item,
    .set_item = slots_set_item,
    .delete_item = slots_delete_item,
    .contains = slots_contains,
    .iterate = slots_iterate,
    .next = slots_next,
    .call = slots_call,
    .attribute_count = 1,
    .attributes = slots_attributes,
    .find_attribute = slots_find_attribute,
    .set_attribute = slots_set_attribute,
};

/* ---- Descriptors that must be refused ---- */

static const dvx_parameters no_names = {sizeof no_names, NULL, 1, 1, 1};
static const dvx_parameters too_many = {sizeof too_many, slots_names, 99, 1, 1};
static const dvx_derivative empty_derivative = {.size = sizeof(dvx_derivative), .name = "EMPTY"};
static const dvx_derivative *const bad_derivatives[] = {&empty_derivative};
static const dvx_function bad_functions[] = {
    {.size = 8, .name = "short", .entry = leak},
    {.size = sizeof(dvx_function), .name = "without entry"},
    {.size = sizeof(dvx_function), .entry = leak},
    {.size = sizeof(dvx_function), .name = "min above max", .entry = leak, .min = 2, .max = 1},
    {.size = sizeof(dvx_function), .name = "no names", .entry = leak, .parameters = &no_names},
    {.size = sizeof(dvx_function), .name = "too many", .entry = leak, .parameters = &too_many},
    {.size = sizeof(dvx_function),
     .name = "derivative",
     .entry = leak,
     .derivative_count = 1,
     .derivatives = bad_derivatives},
};
static const dvx_attribute without_get = {.size = sizeof(dvx_attribute), .name = "blind"};
static const dvx_attribute *const bad_attributes[] = {&without_get};
static const dvx_function *const no_function[] = {NULL};
static const dvx_type bad_types[] = {
    {.size = 16, .name = "Short"},
    {.size = sizeof(dvx_type)},
    {.size = sizeof(dvx_type), .name = "Huge", .payload = SIZE_MAX},
    {.size = sizeof(dvx_type), .name = "Untidy", .traverse = slots_traverse},
    {.size = sizeof(dvx_type), .name = "Blind", .attribute_count = 1, .attributes = bad_attributes},
    {.size = sizeof(dvx_type), .name = "Missing", .attribute_count = 1},
    {.size = sizeof(dvx_type), .name = "NoMethod", .method_count = 1, .methods = no_function},
};

/* How many of these were refused, with SystemError. */
static int64_t count_refused(dvx_vm *vm, dvx_value module) {
    int64_t refused = 0;
    dvx_value class_ = vm->api->error_class(vm, DVX_SYSTEM_ERROR);
    for (size_t i = 0; i < sizeof bad_functions / sizeof *bad_functions; i++) {
        if (!vm->api->add_function(vm, module, &bad_functions[i]))
            refused += vm->api->error_matches(vm, class_);
        vm->api->clear_error(vm);
    }
    for (size_t i = 0; i < sizeof bad_types / sizeof *bad_types; i++) {
        if (!vm->api->add_type(vm, module, &bad_types[i]))
            refused += vm->api->error_matches(vm, class_);
        vm->api->clear_error(vm);
    }
    vm->api->release(vm, class_);
    return refused;
}

#define FUNCTION(name, count) \
    { .size = sizeof(dvx_function), #name, name, count, count, 0, NULL }
static const dvx_function functions[] = {
    FUNCTION(failed_silently, 0),
    FUNCTION(result_and_error, 0),
    FUNCTION(append_failed, 1),
    FUNCTION(bad_operator, 1),
    FUNCTION(bad_format, 1),
    FUNCTION(bad_text, 0),
    FUNCTION(bad_size, 0),
    FUNCTION(foreign_payload, 1),
    FUNCTION(added_late, 1),
    FUNCTION(leak, 0),
    FUNCTION(leak_argument, 1),
    FUNCTION(use_released, 0),
    FUNCTION(use_replaced, 0),
    FUNCTION(call_with_released, 1),
    FUNCTION(release_twice, 0),
    FUNCTION(release_argument, 1),
    FUNCTION(return_argument, 1),
    FUNCTION(return_released, 0),
    FUNCTION(work_while_pending, 0),
    FUNCTION(wrong_size, 0),
    FUNCTION(free_twice, 0),
    FUNCTION(write_behind, 0),
    FUNCTION(lose_block, 0),
    FUNCTION(stay_inside, 0),
    FUNCTION(leave_only, 0),
    FUNCTION(keep, 1),
    FUNCTION(use_kept, 0),
    {.size = sizeof(dvx_function), "hot", hot, 1, 1, 1, derivatives},
};

static bool init(dvx_vm *vm, dvx_value module) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!vm->api->add_function(vm, module, &functions[i])) return false;
    dvx_value refused = vm->api->make_int(vm, count_refused(vm, module));
    return vm->api->add_constant(vm, module, "refused", refused) &&
           vm->api->add_type(vm, module, &slots_type);
}

DVX_EXTENSION_WITH_STATE("hostile", init, sizeof(state), NULL);
