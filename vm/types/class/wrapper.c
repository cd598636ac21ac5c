/* wrapper.c: special methods made from the slots of built-in types (wrapper.h). */
#include "types/class/wrapper.h"

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/number/complex.h"
#include "types/number/float.h"
#include "types/callable/function.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/text/str.h"
#include "types/class/wrapper_number.h"

/* Operators -------------------------------------------------------------------------------------
 */

#define BIT(number) (1ull << (number))

static const uint64_t sequences = BIT(DV_T_STR) | BIT(DV_T_TUPLE) | BIT(DV_T_LIST) |
                                  BIT(DV_T_BYTES) | BIT(DV_T_BYTEARRAY) | BIT(DV_T_ARRAY);

/* Some type numbers do not fit; nothing is said of those. */
static bool is_among(const dv_type *type, uint64_t types) {
    return type->id < 64 && types >> type->id & 1;
}

static bool is_sequence(const dv_type *type) {
    return is_among(type, sequences) || type->id == DV_T_DEQUE;
}

/* Sequences have no NotImplemented: they say what does not fit. */
static dv_value sequence_result(dv_vm *vm, dv_binary_op op, const dv_type *type, dv_value result,
                                const dv_value *args) {
    if (!dv_same(result, DV_NOTIMPLEMENTED) || op != DV_BINARY_ADD || !is_sequence(type))
        return result;
    return dv_raise(vm, DV_E_TYPE_ERROR, "can only concatenate %s (not \"%T\") to %s", type->name,
                    args[1], type->name);
}

/* How often a sequence is repeated: an index, where the operator would leave that to the other
 * operand. */
static dv_value repeat(dv_vm *vm, const dv_type *type, const dv_value *args, bool inplace) {
    dv_value times = dv_int_index(vm, args[1]);
    if (dv_is_empty(times)) return DV_EMPTY;
    dv_value result = inplace ? type->inplace(vm, DV_BINARY_MUL, args[0], times)
                              : type->binary(vm, DV_BINARY_MUL, args[0], times);
    dv_release(vm, times);
    return result;
}

static dv_value slot_binary(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                            const dv_value *args, uint32_t count) {
    dv_binary_op op = (dv_binary_op)def->operation;
    (void)count;
    if (op == DV_BINARY_MUL && is_sequence(type)) return repeat(vm, type, args, false);
    if (!is_sequence(type))
        return type->binary(vm, op, dv_number_of(args[0]), dv_number_of(args[1]));
    return sequence_result(vm, op, type, type->binary(vm, op, args[0], args[1]), args);
}

static dv_value slot_reflected(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                               const dv_value *args, uint32_t count) {
    dv_binary_op op = (dv_binary_op)def->operation;
    (void)count;
    if (op == DV_BINARY_MUL && is_sequence(type)) return repeat(vm, type, args, false);
    return type->binary(vm, op, dv_number_of(args[1]), dv_number_of(args[0]));
}

static dv_value slot_inplace(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                             const dv_value *args, uint32_t count) {
    dv_binary_op op = (dv_binary_op)def->operation;
    (void)count;
    if (op == DV_BINARY_MUL && is_sequence(type)) return repeat(vm, type, args, true);
    return sequence_result(vm, op, type, type->inplace(vm, op, args[0], args[1]), args);
}

/* With a modulus only ints fit; each type says so in its own way. */
static dv_value power(dv_vm *vm, const dv_type *type, dv_value a, dv_value b, dv_value modulus) {
    a = dv_number_of(a);
    b = dv_number_of(b);
    if (dv_is_none(modulus)) return type->binary(vm, DV_BINARY_POW, a, b);
    if (type->id == DV_T_FLOAT)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "pow() 3rd argument not allowed unless all arguments are integers");
    if (type->id == DV_T_INT)
        return dv_is_integral(a) && dv_is_integral(b) && dv_is_integral(modulus)
                   ? dv_power(vm, a, b, modulus)
                   : DV_NOTIMPLEMENTED;
    if (!dv_is_plain_number(a) || !dv_is_plain_number(b)) return DV_NOTIMPLEMENTED;
    return dv_raise(vm, DV_E_VALUE_ERROR, "complex modulo");
}

static dv_value slot_power(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                           const dv_value *args, uint32_t count) {
    (void)def;
    return power(vm, type, args[0], args[1], count > 2 ? args[2] : DV_NONE);
}

static dv_value slot_reflected_power(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                                     const dv_value *args, uint32_t count) {
    (void)def;
    return power(vm, type, args[1], args[0], count > 2 ? args[2] : DV_NONE);
}

static dv_value slot_unary(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                           const dv_value *args, uint32_t count) {
    (void)count;
    return type->unary(vm, (dv_unary_op)def->operation, dv_number_of(args[0]));
}

static dv_value slot_compare(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                             const dv_value *args, uint32_t count) {
    (void)count;
    return type->compare(vm, (dv_compare_op)def->operation, dv_number_of(args[0]),
                         dv_number_of(args[1]));
}

/* Text, hash, truth -----------------------------------------------------------------------------
 */

static dv_value slot_repr(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                          const dv_value *args, uint32_t count) {
    (void)def, (void)count;
    return type->repr(vm, dv_number_of(args[0]));
}

static dv_value slot_str(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                         const dv_value *args, uint32_t count) {
    (void)def, (void)count;
    return type->str(vm, dv_number_of(args[0]));
}

static dv_value slot_format(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                            const dv_value *args, uint32_t count) {
    (void)def, (void)count;
    if (!dv_is_str(args[1]))
        return dv_arguments_refuse(vm, "__format__() argument", "str", args[1]);
    if (dv_as_str(args[1])->length == 0) return dv_to_str(vm, args[0]);
    return type->format(vm, dv_number_of(args[0]), args[1]);
}

static dv_value slot_hash(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                          const dv_value *args, uint32_t count) {
    int64_t hash;
    (void)def, (void)count;
    if (!type->hash(vm, dv_number_of(args[0]), &hash)) return DV_EMPTY;
    return dv_int_from_int64(vm, hash);
}

static dv_value slot_truth(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                           const dv_value *args, uint32_t count) {
    (void)vm, (void)def, (void)count;
    return dv_bool(type->truth(dv_number_of(args[0])));
}

/* Containers, iterators, calls ------------------------------------------------------------------
 */

static dv_value slot_length(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                            const dv_value *args, uint32_t count) {
    (void)def, (void)count;
    int64_t length = type->length(vm, args[0]);
    return length < 0 ? DV_EMPTY : dv_int_from_int64(vm, length);
}

static dv_value slot_get_item(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                              const dv_value *args, uint32_t count) {
    (void)def, (void)count;
    return type->get_item(vm, args[0], args[1]);
}

/* __setitem__ and __delitem__ */
static dv_value slot_set_item(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                              const dv_value *args, uint32_t count) {
    (void)def;
    return type->set_item(vm, args[0], args[1], count > 2 ? args[2] : DV_EMPTY) ? DV_NONE
                                                                                : DV_EMPTY;
}

static dv_value slot_contains(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                              const dv_value *args, uint32_t count) {
    (void)def, (void)count;
    int found = type->contains(vm, args[0], args[1]);
    return found < 0 ? DV_EMPTY : dv_bool(found);
}

static dv_value slot_iterate(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                             const dv_value *args, uint32_t count) {
    (void)def, (void)count;
    return type->iterate(vm, args[0]);
}

static dv_value slot_next(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                          const dv_value *args, uint32_t count) {
    (void)def, (void)count;
    dv_value result = type->next(vm, args[0]);
    if (!dv_is_empty(result) || !dv_is_empty(vm->error)) return result;
    return dv_raise_stop(vm, DV_NONE);
}

/* How dl functions are called is the machine's, not their type's. */
static dv_value call(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    const dv_type *type = vm->types[dv_type_of(vm, args[0])];
    return type->call ? type->call(vm, args[0], args + 1, count - 1, keywords)
                      : dv_call(vm, args[0], args + 1, count - 1, keywords);
}

/* The tables ------------------------------------------------------------------------------------
 */

typedef struct row {
    dv_cfunction_def def;
    size_t slot;    /* offset in dv_type of the slot that a type must have */
    uint64_t types; /* those that have the method at all; 0: all */
} row;

#define WRAPPER(name_, entry_, arguments, field, types_)  \
    {                                                     \
        .def = {.name = name_,                            \
                .slot_entry = entry_,                     \
                .min = 1 + (arguments),                   \
                .max = 1 + (arguments),                   \
                .flags = DV_CFUNCTION_WRAPPER},           \
        .slot = offsetof(dv_type, field), .types = types_ \
    }
/* The few that CPython writes as ordinary methods. */
#define METHOD(name_, entry_, arguments, field, types_)   \
    {                                                     \
        .def = {.name = name_,                            \
                .slot_entry = entry_,                     \
                .min = 1 + (arguments),                   \
                .max = 1 + (arguments)},                  \
        .slot = offsetof(dv_type, field), .types = types_ \
    }
#define OPERATION(name_, entry_, arguments, field, op) \
    {                                                  \
        .def = {.name = name_,                         \
                .slot_entry = entry_,                  \
                .operation = op,                       \
                .min = 1 + (arguments),                \
                .max = 1 + (arguments),                \
                .flags = DV_CFUNCTION_WRAPPER},        \
        .slot = offsetof(dv_type, field)               \
    }

/* The first of a name that fits counts. */
static const row rows[] = {
    WRAPPER("__repr__", slot_repr, 0, repr, 0),
    WRAPPER("__str__", slot_str, 0, str, 0),
    WRAPPER("__hash__", slot_hash, 0, hash, 0),
    METHOD("__format__", slot_format, 1, format, 0),
    WRAPPER("__bool__", slot_truth, 0, truth, 0),
    WRAPPER("__len__", slot_length, 0, length, 0),
    METHOD("__getitem__", slot_get_item, 1, get_item, BIT(DV_T_LIST) | BIT(DV_T_DICT)),
    WRAPPER("__getitem__", slot_get_item, 1, get_item, 0),
    WRAPPER("__setitem__", slot_set_item, 2, set_item, 0),
    WRAPPER("__delitem__", slot_set_item, 1, set_item, 0),
    METHOD("__contains__", slot_contains, 1, contains,
           BIT(DV_T_DICT) | BIT(DV_T_SET) | BIT(DV_T_FROZENSET)),
    WRAPPER("__contains__", slot_contains, 1, contains, 0),
    WRAPPER("__iter__", slot_iterate, 0, iterate, 0),
    WRAPPER("__next__", slot_next, 0, next, 0),
    OPERATION("__lt__", slot_compare, 1, compare, DV_LT),
    OPERATION("__le__", slot_compare, 1, compare, DV_LE),
    OPERATION("__gt__", slot_compare, 1, compare, DV_GT),
    OPERATION("__ge__", slot_compare, 1, compare, DV_GE),
    OPERATION("__eq__", slot_compare, 1, compare, DV_EQ),
    OPERATION("__ne__", slot_compare, 1, compare, DV_NE),
    OPERATION("__neg__", slot_unary, 0, unary, DV_UNARY_NEG),
    OPERATION("__pos__", slot_unary, 0, unary, DV_UNARY_POS),
    {.def = {.name = "__invert__",
             .slot_entry = slot_unary,
             .operation = DV_UNARY_INVERT,
             .min = 1,
             .max = 1,
             .flags = DV_CFUNCTION_WRAPPER},
     .slot = offsetof(dv_type, unary),
     .types = BIT(DV_T_INT)},
    WRAPPER("__abs__", dv_slot_abs, 0, unary, BIT(DV_T_INT) | BIT(DV_T_FLOAT) | BIT(DV_T_COMPLEX)),
    WRAPPER("__int__", dv_slot_int, 0, unary, BIT(DV_T_INT) | BIT(DV_T_FLOAT)),
    WRAPPER("__index__", dv_slot_int, 0, unary, BIT(DV_T_INT)),
    WRAPPER("__float__", dv_slot_float, 0, unary, BIT(DV_T_INT) | BIT(DV_T_FLOAT)),
    METHOD("__trunc__", dv_slot_int, 0, unary, BIT(DV_T_INT) | BIT(DV_T_FLOAT)),
    {.def = {.name = "__round__", .slot_entry = dv_slot_round, .min = 1, .max = 2},
     .slot = offsetof(dv_type, unary),
     .types = BIT(DV_T_INT) | BIT(DV_T_FLOAT)},
    METHOD("__getnewargs__", dv_slot_getnewargs, 0, repr,
           BIT(DV_T_INT) | BIT(DV_T_FLOAT) | BIT(DV_T_COMPLEX) | BIT(DV_T_STR) | BIT(DV_T_BYTES) |
               BIT(DV_T_TUPLE)),
    METHOD("__complex__", dv_slot_plain, 0, unary, BIT(DV_T_COMPLEX)),
    METHOD("__bytes__", dv_slot_plain, 0, repr, BIT(DV_T_BYTES)),
    METHOD("__floor__", dv_slot_floor, 0, unary, BIT(DV_T_INT) | BIT(DV_T_FLOAT)),
    METHOD("__ceil__", dv_slot_ceil, 0, unary, BIT(DV_T_INT) | BIT(DV_T_FLOAT)),
};

static const dv_cfunction_def call_def = {.name = "__call__",
                                          .keyword_entry = call,
                                          .min = 1,
                                          .max = UINT32_MAX,
                                          .flags = DV_CFUNCTION_WRAPPER};

#define OPERATOR(text, entry_, op)                                        \
    {                                                                     \
        .name = text, .slot_entry = entry_, .operation = op, .min = 2,    \
        .max = 2 + ((op) == DV_BINARY_POW), .flags = DV_CFUNCTION_WRAPPER \
    }
#define THREE(text, op)                                                                           \
    {                                                                                             \
        OPERATOR("__" text "__", slot_binary, op), OPERATOR("__r" text "__", slot_reflected, op), \
            OPERATOR("__i" text "__", slot_inplace, op)                                           \
    }

/* By operator: ordinary, reflected, in place. */
static const dv_cfunction_def operators[DV_BINARY_OPS][3] = {
    THREE("add", DV_BINARY_ADD),
    THREE("sub", DV_BINARY_SUB),
    THREE("mul", DV_BINARY_MUL),
    THREE("truediv", DV_BINARY_TRUEDIV),
    THREE("floordiv", DV_BINARY_FLOORDIV),
    THREE("mod", DV_BINARY_MOD),
    {OPERATOR("__pow__", slot_power, DV_BINARY_POW),
     OPERATOR("__rpow__", slot_reflected_power, DV_BINARY_POW),
     OPERATOR("__ipow__", slot_inplace, DV_BINARY_POW)},
    THREE("matmul", DV_BINARY_MATMUL),
    THREE("lshift", DV_BINARY_LSHIFT),
    THREE("rshift", DV_BINARY_RSHIFT),
    THREE("and", DV_BINARY_AND),
    THREE("or", DV_BINARY_OR),
    THREE("xor", DV_BINARY_XOR),
    THREE("divmod", DV_BINARY_DIVMOD),
};

enum {
    CONCAT = 1 << DV_BINARY_ADD,
    REPEAT = 1 << DV_BINARY_MUL,
    PERCENT = 1 << DV_BINARY_MOD,
    UNITE = 1 << DV_BINARY_OR,
    LOGIC = 1 << DV_BINARY_AND | 1 << DV_BINARY_OR | 1 << DV_BINARY_XOR,
    ALGEBRA = LOGIC | 1 << DV_BINARY_SUB,
    FIELD = CONCAT | 1 << DV_BINARY_SUB | REPEAT | 1 << DV_BINARY_TRUEDIV | 1 << DV_BINARY_POW,
    REALS = FIELD | 1 << DV_BINARY_FLOORDIV | PERCENT | 1 << DV_BINARY_DIVMOD,
    INTS = REALS | LOGIC | 1 << DV_BINARY_LSHIFT | 1 << DV_BINARY_RSHIFT
};

/* Which operators a type's `binary` and `inplace` know. */
static const struct {
    dv_type_id type;
    uint16_t ways[3];
} known_operators[] = {
    {DV_T_INT, {INTS, INTS, 0}},
    {DV_T_BOOL, {LOGIC, LOGIC, 0}},
    {DV_T_FLOAT, {REALS, REALS, 0}},
    {DV_T_COMPLEX, {FIELD, FIELD, 0}},
    {DV_T_STR, {CONCAT | REPEAT | PERCENT, REPEAT | PERCENT, 0}},
    {DV_T_BYTES, {CONCAT | REPEAT | PERCENT, REPEAT | PERCENT, 0}},
    {DV_T_BYTEARRAY, {CONCAT | REPEAT | PERCENT, REPEAT | PERCENT, CONCAT | REPEAT}},
    {DV_T_TUPLE, {CONCAT | REPEAT, REPEAT, 0}},
    {DV_T_LIST, {CONCAT | REPEAT, REPEAT, CONCAT | REPEAT}},
    {DV_T_ARRAY, {CONCAT | REPEAT, REPEAT, CONCAT | REPEAT}},
    {DV_T_DEQUE, {CONCAT | REPEAT, REPEAT, CONCAT | REPEAT}},
    {DV_T_DICT, {UNITE, UNITE, UNITE}},
    {DV_T_MAPPING_PROXY, {UNITE, UNITE, UNITE}},
    {DV_T_SET, {ALGEBRA, ALGEBRA, ALGEBRA}},
    {DV_T_FROZENSET, {ALGEBRA, ALGEBRA, 0}},
    {DV_T_DICT_KEYS, {ALGEBRA, ALGEBRA, 0}},
    {DV_T_DICT_ITEMS, {ALGEBRA, ALGEBRA, 0}},
    {DV_T_CLASS, {UNITE, UNITE, 0}},
};

/* Making them -----------------------------------------------------------------------------------
 */

/* Unless the class has the name. */
static bool add(dv_vm *vm, dv_class *class_, const dv_cfunction_def *def) {
    dv_value name = dv_str_intern(vm, def->name, strlen(def->name));
    dv_global_cell *cell =
        dv_is_empty(name) ? NULL : dv_namespace_cell(vm, &class_->attributes, name);
    dv_release(vm, name);
    if (!cell) return false;
    if (!dv_is_empty(cell->value)) return true;
    dv_value method = dv_cfunction_new(vm, def, DV_EMPTY, dv_object_value(class_));
    dv_cell_store(vm, cell, method);
    return !dv_is_empty(method);
}

static const void *slot_at(const dv_type *type, size_t offset) {
    const void *slot;
    memcpy(&slot, (const char *)type + offset, sizeof slot);
    return slot;
}

/* Has the type this slot for itself? */
static bool has_slot(const dv_type *type, const dv_type *base, size_t offset) {
    const void *slot = slot_at(type, offset);
    if (base->id != DV_T_OBJECT && slot_at(base, offset) == slot) return false;
    return slot != NULL;
}

/* Slots that are there for the sake of speed, and no method in CPython. */
static bool is_shortcut(const dv_type *type, const row *r) {
    /* len(C), C[key], ... are asked of the metaclass. */
    if (type->id == DV_T_CLASS)
        return r->slot != offsetof(dv_type, call) && r->slot != offsetof(dv_type, repr) &&
               r->slot != offsetof(dv_type, binary);
    if (r->slot == offsetof(dv_type, truth) && !dv_is_extension_type(type->id))
        return type->length && type->id != DV_T_RANGE;
    return r->slot == offsetof(dv_type, contains) && type->id == DV_T_DICT_VALUES;
}

/* Does an extension's type know the unary operator that the row is? */
static bool knows(const dv_type *type, const row *r) {
    if (!dv_is_extension_type(type->id) || r->slot != offsetof(dv_type, unary)) return true;
    return r->def.slot_entry == slot_unary && type->unary_operators >> r->def.operation & 1;
}

static bool add_rows(dv_vm *vm, dv_class *class_, const dv_type *type, const dv_type *base) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        bool invert = r->def.slot_entry == slot_unary && dv_is_extension_type(type->id);
        if (!has_slot(type, base, r->slot) || (r->types && !invert && !is_among(type, r->types)))
            continue;
        if (!is_shortcut(type, r) && knows(type, r) && !add(vm, class_, &r->def)) return false;
    }
    return true;
}

/* Those that an extension's type says it knows. */
static bool add_foreign_operators(dv_vm *vm, dv_class *class_, const dv_type *type) {
    const uint16_t ways[3] = {type->binary_operators, type->binary_operators,
                              type->inplace_operators};
    for (int op = 0; op < DV_BINARY_OPS; op++)
        for (int way = 0; way < 3; way++)
            if (ways[way] >> op & 1 && !add(vm, class_, &operators[op][way])) return false;
    return true;
}

static bool add_operators(dv_vm *vm, dv_class *class_, const dv_type *type) {
    if (dv_is_extension_type(type->id)) return add_foreign_operators(vm, class_, type);
    for (size_t i = 0; i < sizeof known_operators / sizeof *known_operators; i++) {
        if (known_operators[i].type != type->id) continue;
        for (int op = 0; op < DV_BINARY_OPS; op++)
            for (int way = 0; way < 3; way++)
                if (known_operators[i].ways[way] >> op & 1 && !add(vm, class_, &operators[op][way]))
                    return false;
    }
    return true;
}

/* Types with __eq__ and without hash say so. */
static bool add_unhashable(dv_vm *vm, dv_class *class_, const dv_type *type) {
    bool unhashable = is_among(type, BIT(DV_T_LIST) | BIT(DV_T_DICT) | BIT(DV_T_SET) |
                                         BIT(DV_T_BYTEARRAY) | BIT(DV_T_SLICE) | BIT(DV_T_ARRAY)) ||
                      type->id == DV_T_DEQUE || type->id == DV_T_DICT_KEYS ||
                      type->id == DV_T_DICT_ITEMS || type->id == DV_T_MAPPING_PROXY ||
                      type->id == DV_T_WEAK_PROXY || type->id == DV_T_WEAK_CALLABLE_PROXY;
    return !unhashable || dv_namespace_set(vm, &class_->attributes, "__hash__", DV_NONE);
}

/* Types that have subclasses say themselves how attributes are found, before what other bases of a
 * subclass say; exceptions also how they are stored. */
static bool add_attribute_hooks(dv_vm *vm, dv_class *class_, const dv_type *type) {
    int count = type->id == DV_T_EXCEPTION ? 3 : type->adopt && type->id != DV_T_BOOL ? 1 : 0;
    for (int i = 0; i < count; i++)
        if (!add(vm, class_, &dv_object_attribute_hooks[i])) return false;
    return true;
}

bool dv_wrappers_add(dv_vm *vm, dv_class *class_) {
    const dv_type *type = class_->descriptor;
    const dv_class *parent = class_->base;
    if (!parent || parent->descriptor == type) return true; /* object; exception classes */
    const dv_type *base = parent->descriptor;
    bool called = (type->call && type->id != DV_T_GETSET_DESCRIPTOR) || type->id == DV_T_FUNCTION ||
                  type->id == DV_T_METHOD;
    return add_rows(vm, class_, type, base) && add_operators(vm, class_, type) &&
           add_unhashable(vm, class_, type) && add_attribute_hooks(vm, class_, type) &&
           (!called || add(vm, class_, &call_def));
}
