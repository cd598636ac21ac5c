/* hostile.c: an extension that misbehaves, in each of the ways that the interface can detect.
 *
 * What stands under "always" is detected without the debug table (hostile_use.dl); what stands
 * under "debug table" destroys the VM without it (hostile_debug.dl).  Slots is a type that calls dl
 * code in each slot (hostile_slots.dl). */
#include <dynvm_ext.h>

#include <string.h>

#define API(function, ...) vm->api->function(vm, __VA_ARGS__)
#define ENTRY(name)        static dvx_value name(dvx_vm *vm, const dvx_value *args, uint32_t count)

static dvx_value none(dvx_vm *vm) { return vm->api->make_none(vm); }

/* ---- Always ---- */

ENTRY(failed_silently) {
    (void)vm, (void)args, (void)count;
    return DVX_FAILED;
}
ENTRY(result_and_error) {
    (void)args, (void)count;
    API(raise, DVX_VALUE_ERROR, "overlooked");
    return none(vm);
}
ENTRY(append_failed) {
    (void)count;
    API(append, args[0], DVX_FAILED);
    return DVX_FAILED;
}
ENTRY(bad_operator) {
    (void)count;
    return API(binary, (dvx_binary)99, args[0], args[0]);
}
ENTRY(bad_format) {
    (void)count;
    return API(raise_format, args[0], "%n");
}
ENTRY(bad_text) {
    (void)args, (void)count;
    return API(make_str, "\xff\xfe", 2);
}
ENTRY(bad_size) {
    (void)args, (void)count;
    return API(make_bytes, "x", SIZE_MAX);
}
ENTRY(foreign_payload) {
    static const dvx_type unknown = {.size = sizeof(dvx_type), .name = "Unknown"};
    void *payload;
    (void)count;
    if (API(payload, args[0], &unknown)) return none(vm);
    return API(make_object, &unknown, &payload);
}
static dvx_value added_late(dvx_vm *vm, const dvx_value *args, uint32_t count);
static const dvx_function late = {.size = sizeof late, .name = "late", .entry = added_late};
ENTRY(added_late) {
    (void)count;
    return API(add_function, args[0], &late) ? none(vm) : DVX_FAILED;
}

/* ---- Debug table ---- */

static dvx_value new_list(dvx_vm *vm) { return API(make_list, NULL, 0); }

ENTRY(leak) {
    (void)args, (void)count;
    new_list(vm);
    return none(vm);
}
ENTRY(leak_argument) {
    (void)count;
    API(retain, args[0]);
    API(retain, args[0]);
    return none(vm);
}
ENTRY(use_released) {
    (void)args, (void)count;
    dvx_value list = new_list(vm);
    API(release, list);
    int64_t length = API(length, list);
    return length < 0 ? DVX_FAILED : API(make_int, length);
}
/* The same, where something else of its type has taken the place. */
ENTRY(use_replaced) {
    (void)args, (void)count;
    dvx_value list = new_list(vm), other;
    API(release, list);
    other = new_list(vm);
    bool done = API(append, list, other);
    API(release, other);
    return done ? none(vm) : DVX_FAILED;
}
ENTRY(call_with_released) {
    (void)count;
    dvx_value both[] = {new_list(vm), new_list(vm)};
    API(release, both[1]);
    dvx_value result = API(call, args[0], both, 2);
    API(release, both[0]);
    return result;
}
ENTRY(release_twice) {
    (void)args, (void)count;
    dvx_value list = new_list(vm);
    API(release, list);
    API(release, list);
    return none(vm);
}
ENTRY(release_argument) {
    (void)count;
    API(release, args[0]);
    return none(vm);
}
ENTRY(return_argument) {
    (void)vm, (void)count;
    return args[0];
}
ENTRY(return_released) {
    (void)args, (void)count;
    dvx_value list = new_list(vm);
    API(release, list);
    return list;
}
ENTRY(work_while_pending) {
    (void)args, (void)count;
    API(raise, DVX_KEY_ERROR, "overlooked");
    API(release, new_list(vm));
    return DVX_FAILED;
}
ENTRY(wrong_size) {
    (void)args, (void)count;
    void *block = API(allocate, 48);
    if (block) block = API(resize, block, 32, 64);
    API(deallocate, block, 8);
    return none(vm);
}
ENTRY(free_twice) {
    (void)args, (void)count;
    void *block = API(allocate, 48);
    API(deallocate, block, 48);
    API(deallocate, block, 48);
    return API(resize, block, 48, 64) ? none(vm) : DVX_FAILED;
}
ENTRY(write_behind) {
    (void)args, (void)count;
    char *block = API(allocate, 40);
    if (!block) return DVX_FAILED;
    block[40] = 1;
    API(deallocate, block, 40);
    return none(vm);
}
ENTRY(lose_block) {
    (void)args, (void)count;
    return API(allocate, 24) ? none(vm) : DVX_FAILED;
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

static state *own_state(dvx_vm *vm) { return API(state, &dvx_extension); }

ENTRY(keep) {
    (void)count;
    own_state(vm)->kept = args[0];
    return none(vm);
}
ENTRY(use_kept) {
    (void)args, (void)count;
    return API(repr, own_state(vm)->kept);
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
    return API(retain, args[0]);
}

/* ---- Slots ---- */

/* An object that calls a dl function with the name of each slot that is asked. */
typedef struct slots {
    dvx_value callback; /* DVX_FAILED: none; zero bits are the float 0.0 */
} slots;

static const dvx_type slots_type;

/* Calls back; the payload is read again each time. */
static bool tell(dvx_vm *vm, dvx_value self, const char *slot) {
    const slots *s = API(payload, self, &slots_type);
    if (!s) return true;
    dvx_value args[] = {API(retain, self), API(make_str, slot, strlen(slot))};
    dvx_value callback = API(retain, s->callback);
    dvx_value result = API(call, callback, args, 2);
    bool good = !dvx_failed(result);
    API(release, result);
    API(release, callback);
    API(release, args[1]);
    API(release, args[0]);
    return good;
}

static bool slots_initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    slots *s = API(payload, self, &slots_type);
    dvx_value old = s->callback;
    (void)count;
    s->callback = API(retain, args[0]);
    API(release, old);
    return tell(vm, self, "initialise");
}
static void slots_release(dvx_vm *vm, void *payload) { API(release, ((slots *)payload)->callback); }
static void slots_traverse(dvx_vm *vm, void *payload, dvx_visit visit, void *context) {
    visit(vm, ((slots *)payload)->callback, context);
}
static void slots_clear(dvx_vm *vm, void *payload) {
    slots *s = payload;
    dvx_value old = s->callback;
    s->callback = none(vm);
    API(release, old);
}
#define SLOT(name, result, ...) \
    static result slots_##name(dvx_vm *vm, dvx_value self, ##__VA_ARGS__)
#define IGNORE(v) (void)(v)

SLOT(repr, dvx_value) { return tell(vm, self, "repr") ? API(make_str, "slots", 5) : DVX_FAILED; }
SLOT(str, dvx_value) { return tell(vm, self, "str") ? API(make_int, 3) : DVX_FAILED; }
SLOT(format, dvx_value, dvx_value spec) {
    return tell(vm, self, "format") ? API(retain, spec) : DVX_FAILED;
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
    return tell(vm, a, "binary") && tell(vm, b, "binary") ? API(make_int, 1) : DVX_FAILED;
}
static dvx_value slots_inplace(dvx_vm *vm, dvx_binary op, dvx_value self, dvx_value b) {
    IGNORE(op), IGNORE(b);
    return tell(vm, self, "inplace") ? API(retain, self) : DVX_FAILED;
}
static dvx_value slots_unary(dvx_vm *vm, dvx_unary op, dvx_value self) {
    IGNORE(op);
    return tell(vm, self, "unary") ? API(make_int, 2) : DVX_FAILED;
}
SLOT(length, int64_t) { return tell(vm, self, "length") ? 7 : -1; }
SLOT(get_item, dvx_value, dvx_value key) {
    return tell(vm, self, "get_item") ? API(retain, key) : DVX_FAILED;
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
SLOT(iterate, dvx_value) { return tell(vm, self, "iterate") ? API(retain, self) : DVX_FAILED; }
SLOT(next, int, dvx_value *out) {
    if (!tell(vm, self, "next")) return -1;
    *out = API(make_int, 4); /* which nobody gets */
    return 0;
}
SLOT(call, dvx_value, const dvx_value *args, uint32_t count) {
    IGNORE(args), IGNORE(count);
    return tell(vm, self, "call") ? API(retain, self) : DVX_FAILED;
}
SLOT(find_attribute, int, dvx_value name, dvx_value *out) {
    IGNORE(name), IGNORE(out);
    return tell(vm, self, "find_attribute") ? 0 : -1;
}
SLOT(set_attribute, int, dvx_value name, dvx_value value) {
    IGNORE(name), IGNORE(value);
    return tell(vm, self, "set_attribute") ? 0 : -1;
}
SLOT(get_colour, dvx_value) { return tell(vm, self, "get") ? API(make_int, 5) : DVX_FAILED; }
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
    dvx_value class_ = API(error_class, DVX_SYSTEM_ERROR);
    for (size_t i = 0; i < sizeof bad_functions / sizeof *bad_functions; i++) {
        if (!API(add_function, module, &bad_functions[i])) refused += API(error_matches, class_);
        vm->api->clear_error(vm);
    }
    for (size_t i = 0; i < sizeof bad_types / sizeof *bad_types; i++) {
        if (!API(add_type, module, &bad_types[i])) refused += API(error_matches, class_);
        vm->api->clear_error(vm);
    }
    API(release, class_);
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
        if (!API(add_function, module, &functions[i])) return false;
    dvx_value refused = API(make_int, count_refused(vm, module));
    return API(add_constant, module, "refused", refused) && API(add_type, module, &slots_type);
}

DVX_EXTENSION_WITH_STATE("hostile", init, sizeof(state), NULL);
