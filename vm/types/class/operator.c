/* operator.c: the binary operators where an operand is an instance of a dl class (operator.h).
 *
 * CPython has two tables that operators are looked up in: that of numbers, which both operands are
 * asked for, and that of sequences, which has + and * alone and comes last.  Which of the two a
 * class fills decides who is asked in which order, and programs can see it.
 *
 * Invariants
 *  1. A class that defines __op__ or __rop__ is a number for op, whatever its base is; its base's +
 *     and * of sequences are then found through the names of the methods alone, and refuse what
 *     they cannot take instead of leaving it to the other operand.
 *  2. Methods may change classes: they are looked up when they are called, and whatever was learnt
 *     of the operands before serves only to choose the order.
 */
#include "types/class/operator.h"

#include "core/shape.h"
#include "core/upcall.h"
#include "types/binary/bytes.h"
#include "types/class/class.h"
#include "types/number/float.h"
#include "types/class/instance.h"
#include "types/text/str.h"

typedef enum number_slot {
    NUMBER_NONE,   /* the operator is not among those of numbers */
    NUMBER_TYPE,   /* it is that of a built-in type */
    NUMBER_METHODS /* it calls __op__ and __rop__ */
} number_slot;

typedef struct operand {
    dv_value v;
    dv_class *class_;
    const dv_type *type; /* the built-in type of it or of its class; NULL: none but `object` */
    dv_value forward, reflected; /* what dl classes define (borrowed); EMPTY: nothing */
    number_slot number;
} operand;

static bool is_text(const dv_type *type) {
    return type->id == DV_T_STR || type->id == DV_T_BYTES || type->id == DV_T_BYTEARRAY;
}

/* Is the type's own operator one of sequences? */
static bool is_sequence_operator(const dv_type *type, dv_binary_op op) {
    if (op != DV_BINARY_ADD && op != DV_BINARY_MUL) return false;
    return type->id == DV_T_LIST || type->id == DV_T_TUPLE || type->id == DV_T_DEQUE ||
           type->id == DV_T_ARRAY || is_text(type);
}

static dv_value method_of(dv_vm *vm, const dv_class *class_, dv_value name) {
    const dv_global_cell *cell = dv_class_special_again(vm, class_, name);
    return cell ? cell->value : DV_EMPTY;
}

static operand look_at(dv_vm *vm, dv_binary_op op, dv_value v) {
    operand x = {v, dv_class_of(vm, v), NULL, DV_EMPTY, DV_EMPTY, NUMBER_NONE};
    if (dv_has_methods(v)) {
        if (!dv_is_plain_instance(v)) x.type = vm->types[dv_type_of(vm, v)];
        x.forward = method_of(vm, x.class_, vm->known.binary[op]);
        x.reflected = method_of(vm, x.class_, vm->known.reflected[op]);
    } else {
        x.type = dv_behaviour_of(vm, v);
    }
    if (!dv_is_empty(x.forward) || !dv_is_empty(x.reflected))
        x.number = NUMBER_METHODS;
    else if (x.type && x.type->binary && !is_sequence_operator(x.type, op))
        x.number = NUMBER_TYPE;
    return x;
}

static bool is_view(const dv_type *type) {
    return type->id == DV_T_DICT_KEYS || type->id == DV_T_DICT_ITEMS;
}

/* Asks a built-in type.  Numbers do not care what kind of float it is; messages do. */
static dv_value ask_type(dv_vm *vm, const dv_type *type, dv_binary_op op, dv_value a, dv_value b) {
    bool formats = op == DV_BINARY_MOD && (dv_is_str(a) || dv_is_bytes_like(a));
    if (formats || is_text(type) || is_view(type)) return type->binary(vm, op, a, b);
    return type->binary(vm, op, dv_number_of(a), dv_number_of(b));
}

/* The special method that a class has from its built-in base, called by its name. */
static dv_value call_inherited(dv_vm *vm, const operand *self, dv_value name, dv_value other) {
    const dv_global_cell *cell = dv_class_find(vm, self->class_, name);
    if (!cell) return dv_is_empty(vm->error) ? DV_NOTIMPLEMENTED : DV_EMPTY;
    dv_value function = dv_retain(cell->value);
    dv_value result = dv_call_with_self(vm, function, self->v, &other, 1, DV_EMPTY);
    dv_release(vm, function);
    return result;
}

/* self.__op__(other), or self.__rop__(other), of a class with methods. */
static dv_value call_method(dv_vm *vm, dv_binary_op op, const operand *self, dv_value other,
                            bool reflected) {
    dv_value name = reflected ? vm->known.reflected[op] : vm->known.binary[op];
    bool found;
    dv_value result = dv_special_call(vm, self->v, name, &other, 1, &found);
    if (found) return result;
    if (!self->type || !self->type->binary) return DV_NOTIMPLEMENTED;
    if (is_sequence_operator(self->type, op)) return call_inherited(vm, self, name, other);
    return reflected ? ask_type(vm, self->type, op, other, self->v)
                     : ask_type(vm, self->type, op, self->v, other);
}

/* Has b's class another reflected method than a's? */
static bool overloads(const operand *a, const operand *b) {
    if (dv_is_empty(b->reflected)) return b->type && b->type != a->type;
    return !dv_same(a->reflected, b->reflected);
}

/* What the table of numbers has for classes with methods; a or b is of one. */
static dv_value call_methods(dv_vm *vm, dv_binary_op op, const operand *a, const operand *b) {
    bool other = a->class_ != b->class_ && b->number == NUMBER_METHODS;
    if (a->number == NUMBER_METHODS) {
        dv_value result = DV_NOTIMPLEMENTED;
        if (other && dv_class_is_subclass(b->class_, a->class_) && overloads(a, b)) {
            result = call_method(vm, op, b, a->v, true);
            other = false;
        }
        if (dv_same(result, DV_NOTIMPLEMENTED)) result = call_method(vm, op, a, b->v, false);
        if (!dv_same(result, DV_NOTIMPLEMENTED)) return result;
    }
    return other ? call_method(vm, op, b, a->v, true) : DV_NOTIMPLEMENTED;
}

/* The operator as that of numbers: of a first, unless b's class is derived from a's. */
static dv_value binary_of_numbers(dv_vm *vm, dv_binary_op op, const operand *a, const operand *b) {
    bool left = a->number != NUMBER_NONE, right = b->number != NUMBER_NONE;
    if (a->class_ == b->class_) right = false;
    if (left && right && a->number == b->number)
        right = a->number == NUMBER_TYPE && a->type != b->type;
    dv_value result = DV_NOTIMPLEMENTED;
    bool first = left && right && dv_class_is_subclass(b->class_, a->class_);
    for (int turn = 0; turn < 2 && dv_same(result, DV_NOTIMPLEMENTED); turn++) {
        bool of_right = first ? turn == 0 : turn == 1;
        const operand *asked = of_right ? b : a;
        if (!(of_right ? right : left)) continue;
        result = asked->number == NUMBER_METHODS ? call_methods(vm, op, a, b)
                                                 : ask_type(vm, asked->type, op, a->v, b->v);
    }
    return result;
}

/* `a op= b` by what changes a; NotImplemented: go on as for `a op b`. */
static dv_value inplace_of_numbers(dv_vm *vm, dv_binary_op op, const operand *a, dv_value b) {
    bool found;
    dv_value result = dv_special_call(vm, a->v, vm->known.inplace[op], &b, 1, &found);
    if (found) return result;
    if (!a->type || !a->type->inplace) return DV_NOTIMPLEMENTED;
    /* That of sequences comes last, but for += of a derived class, which is in both tables.
     * A str has none, its type only saves a copy. */
    bool late = is_sequence_operator(a->type, op) &&
                (op == DV_BINARY_MUL || !dv_is_instance(a->v) || a->type->id == DV_T_STR);
    return late ? DV_NOTIMPLEMENTED : a->type->inplace(vm, op, a->v, b);
}

/* a + b or a * b, or + of them in place, as a's sequence has it; NotImplemented: it has none. */
static dv_value ask_left_sequence(dv_vm *vm, dv_binary_op op, const operand *a, dv_value b,
                                  bool inplace) {
    bool changes = inplace && a->type->inplace && a->type->id != DV_T_STR &&
                   !dv_defines_special(vm, a->v, vm->known.inplace[op]);
    if (changes) return a->type->inplace(vm, op, a->v, b);
    bool hidden = op == DV_BINARY_ADD ? !dv_is_empty(a->forward) : a->number == NUMBER_METHODS;
    return hidden ? DV_NOTIMPLEMENTED : a->type->binary(vm, op, a->v, b);
}

/* + and * as those of sequences. */
static dv_value binary_of_sequences(dv_vm *vm, dv_binary_op op, const operand *a, const operand *b,
                                    bool inplace) {
    dv_value result = DV_NOTIMPLEMENTED;
    if (a->type && is_sequence_operator(a->type, op))
        result = ask_left_sequence(vm, op, a, b->v, inplace);
    bool asked = op == DV_BINARY_MUL && b->type && is_sequence_operator(b->type, op) &&
                 b->number != NUMBER_METHODS;
    if (!asked || !dv_same(result, DV_NOTIMPLEMENTED)) return result;
    /* n * sequence; not `n *= sequence` where n could be a sequence, as all instances could. */
    if (inplace && (dv_is_instance(a->v) || a->type->contains)) return result;
    return b->type->binary(vm, op, b->v, a->v);
}

dv_value dv_instance_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace) {
    operand left = look_at(vm, op, a), right = look_at(vm, op, b);
    dv_value result = inplace ? inplace_of_numbers(vm, op, &left, b) : DV_NOTIMPLEMENTED;
    if (dv_same(result, DV_NOTIMPLEMENTED)) result = binary_of_numbers(vm, op, &left, &right);
    if (!dv_same(result, DV_NOTIMPLEMENTED)) return result;
    return binary_of_sequences(vm, op, &left, &right, inplace);
}

dv_value dv_instance_binary_rest(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace,
                                 bool asked) {
    operand left = look_at(vm, op, a), right = look_at(vm, op, b);
    dv_value result = DV_NOTIMPLEMENTED;
    if (!asked)
        result = binary_of_numbers(vm, op, &left, &right);
    else if (left.class_ != right.class_ && right.number == NUMBER_TYPE)
        result = ask_type(vm, right.type, op, a, b);
    else if (left.class_ != right.class_ && right.number == NUMBER_METHODS)
        result = call_method(vm, op, &right, a, true);
    if (!dv_same(result, DV_NOTIMPLEMENTED)) return result;
    return binary_of_sequences(vm, op, &left, &right, inplace);
}
