/* operator.c: the module operator: the operators as functions.  The callable types of the module
 * are in operator_getter.c.
 *
 * Invariant 1: the functions belong to a module `_operator`, as messages and __module__ say. */
#include "modules/data/operator_parts.h"

#include <math.h>

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/binary/bytes.h"
#include "types/callable/function.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

static dv_value truth(int value) { return value < 0 ? DV_EMPTY : dv_bool(value); }

/* Operators --------------------------------------------------------------------------------------
 */

#define FUNCTION(name) \
    static dv_value operator_##name(dv_vm *vm, const dv_value *args, uint32_t count)

#define BINARY(name, inplace_name, op)               \
    FUNCTION(name) {                                 \
        (void)count;                                 \
        return dv_binary(vm, op, args[0], args[1]);  \
    }                                                \
    FUNCTION(inplace_name) {                         \
        (void)count;                                 \
        return dv_inplace(vm, op, args[0], args[1]); \
    }

#define COMPARISON(name, op)                         \
    FUNCTION(name) {                                 \
        (void)count;                                 \
        return dv_compare(vm, op, args[0], args[1]); \
    }

#define UNARY(name, op)                   \
    FUNCTION(name) {                      \
        (void)count;                      \
        return dv_unary(vm, op, args[0]); \
    }

BINARY(add, iadd, DV_BINARY_ADD)
BINARY(sub, isub, DV_BINARY_SUB)
BINARY(mul, imul, DV_BINARY_MUL)
BINARY(truediv, itruediv, DV_BINARY_TRUEDIV)
BINARY(floordiv, ifloordiv, DV_BINARY_FLOORDIV)
BINARY(mod, imod, DV_BINARY_MOD)
BINARY(pow, ipow, DV_BINARY_POW)
BINARY(matmul, imatmul, DV_BINARY_MATMUL)
BINARY(lshift, ilshift, DV_BINARY_LSHIFT)
BINARY(rshift, irshift, DV_BINARY_RSHIFT)
BINARY(and_, iand, DV_BINARY_AND)
BINARY(or_, ior, DV_BINARY_OR)
BINARY(xor, ixor, DV_BINARY_XOR)
COMPARISON(lt, DV_LT)
COMPARISON(le, DV_LE)
COMPARISON(eq, DV_EQ)
COMPARISON(ne, DV_NE)
COMPARISON(ge, DV_GE)
COMPARISON(gt, DV_GT)
UNARY(neg, DV_UNARY_NEG)
UNARY(pos, DV_UNARY_POS)
UNARY(invert, DV_UNARY_INVERT)

FUNCTION(not_) {
    (void)count;
    int value = dv_truth(vm, args[0]);
    return value < 0 ? DV_EMPTY : dv_bool(!value);
}

FUNCTION(truth) {
    (void)count;
    return truth(dv_truth(vm, args[0]));
}

FUNCTION(is_) {
    (void)vm, (void)count;
    return dv_bool(dv_same(args[0], args[1]));
}

FUNCTION(is_not) {
    (void)vm, (void)count;
    return dv_bool(!dv_same(args[0], args[1]));
}

FUNCTION(abs) {
    (void)count;
    dv_value v = args[0];
    if (dv_is_float(v)) return dv_float(fabs(dv_as_float(v)));
    if (dv_is_integral(v)) return dv_unary(vm, dv_int_sign(v) < 0 ? DV_UNARY_NEG : DV_UNARY_POS, v);
    bool found;
    dv_value result = dv_number_special(vm, v, vm->known.abs, &found);
    return found ? result : dv_raise(vm, DV_E_TYPE_ERROR, "bad operand type for abs(): '%T'", v);
}

FUNCTION(index) {
    (void)count;
    return dv_int_index(vm, args[0]);
}

/* Sequences --------------------------------------------------------------------------------------
 */

/* Can it be concatenated: a sequence, or what looks like one? */
static bool is_sequence(dv_vm *vm, dv_value v) {
    if (dv_is_instance(v)) return dv_has_special(vm, v, vm->known.getitem);
    return dv_is_str(v) || dv_is_list(v) || dv_is_tuple(v) || dv_is_bytes_like(v);
}

static dv_value concat(dv_vm *vm, const dv_value *args, bool inplace) {
    dv_value a = args[0], b = args[1];
    if (!is_sequence(vm, a) || (dv_is_instance(a) && !is_sequence(vm, b)))
        return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object can't be concatenated", a);
    return inplace ? dv_inplace(vm, DV_BINARY_ADD, a, b) : dv_binary(vm, DV_BINARY_ADD, a, b);
}

FUNCTION(concat) {
    (void)count;
    return concat(vm, args, false);
}

FUNCTION(iconcat) {
    (void)count;
    return concat(vm, args, true);
}

FUNCTION(contains) {
    (void)count;
    return truth(dv_contains(vm, args[0], args[1]));
}

/* Walks args[0] for items that equal args[1]: how many there are, or where the first is; -1: there
 * is none; -2: raised. */
static int64_t search(dv_vm *vm, const dv_value *args, bool first) {
    if (!dv_is_iterable(vm, args[0])) {
        if (dv_is_empty(vm->error))
            dv_raise(vm, DV_E_TYPE_ERROR, "argument of type '%T' is not iterable", args[0]);
        return -2;
    }
    dv_value iterator = dv_iterate_searched(vm, args[0]);
    if (dv_is_empty(iterator)) return -2;
    int64_t found = 0, at = -1;
    for (int64_t i = 0; at < 0; i++) {
        dv_value item = dv_next(vm, iterator);
        if (dv_is_empty(item)) break;
        int equal = dv_equal(vm, item, args[1]);
        dv_release(vm, item);
        if (equal < 0) break;
        found += equal;
        if (equal && first) at = i;
    }
    dv_release(vm, iterator);
    if (!dv_is_empty(vm->error)) return -2;
    return first ? at : found;
}

FUNCTION(countOf) {
    (void)count;
    int64_t found = search(vm, args, false);
    return found == -2 ? DV_EMPTY : dv_int_from_int64(vm, found);
}

FUNCTION(indexOf) {
    (void)count;
    int64_t at = search(vm, args, true);
    if (at == -2) return DV_EMPTY;
    if (at < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "sequence.index(x): x not in sequence");
    return dv_int_from_int64(vm, at);
}

FUNCTION(getitem) {
    (void)count;
    return dv_get_item(vm, args[0], args[1]);
}

FUNCTION(setitem) {
    (void)count;
    return dv_set_item(vm, args[0], args[1], args[2]) ? DV_NONE : DV_EMPTY;
}

FUNCTION(delitem) {
    (void)count;
    return dv_set_item(vm, args[0], args[1], DV_EMPTY) ? DV_NONE : DV_EMPTY;
}

FUNCTION(length_hint) {
    int64_t otherwise = 0;
    if (count == 2 && !dv_size_argument(vm, args[1], &otherwise)) return DV_EMPTY;
    int64_t hint = dv_length_hint(vm, args[0], otherwise);
    return dv_is_empty(vm->error) ? dv_int_from_int64(vm, hint) : DV_EMPTY;
}

static dv_value operator_call(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (count == named)
        return dv_raise(vm, DV_E_TYPE_ERROR, "call expected at least 1 argument, got 0");
    return dv_call(vm, args[0], args + 1, count - 1, keywords);
}

/* The module -------------------------------------------------------------------------------------
 */

#define ROW(function, number) \
    { .name = #function, .entry = operator_##function, .min = number, .max = number }

/* Those without a second name "__...__". */
static const dv_cfunction_def plain_functions[] = {
    ROW(truth, 1),   ROW(is_, 2),
    ROW(is_not, 2),  ROW(countOf, 2),
    ROW(indexOf, 2), {.name = "length_hint", .entry = operator_length_hint, .min = 1, .max = 2},
    {.name = NULL}};

static const dv_cfunction_def functions[] = {
    ROW(add, 2),
    ROW(iadd, 2),
    ROW(sub, 2),
    ROW(isub, 2),
    ROW(mul, 2),
    ROW(imul, 2),
    ROW(truediv, 2),
    ROW(itruediv, 2),
    ROW(floordiv, 2),
    ROW(ifloordiv, 2),
    ROW(mod, 2),
    ROW(imod, 2),
    ROW(pow, 2),
    ROW(ipow, 2),
    ROW(matmul, 2),
    ROW(imatmul, 2),
    ROW(lshift, 2),
    ROW(ilshift, 2),
    ROW(rshift, 2),
    ROW(irshift, 2),
    ROW(and_, 2),
    ROW(iand, 2),
    ROW(or_, 2),
    ROW(ior, 2),
    ROW(xor, 2),
    ROW(ixor, 2),
    ROW(lt, 2),
    ROW(le, 2),
    ROW(eq, 2),
    ROW(ne, 2),
    ROW(ge, 2),
    ROW(gt, 2),
    ROW(neg, 1),
    ROW(pos, 1),
    ROW(invert, 1),
    ROW(not_, 1),
    ROW(abs, 1),
    ROW(index, 1),
    ROW(concat, 2),
    ROW(iconcat, 2),
    ROW(contains, 2),
    ROW(getitem, 2),
    ROW(setitem, 3),
    ROW(delitem, 2),
    {.name = "inv", .entry = operator_invert, .min = 1, .max = 1},
    {.name = "call", .keyword_entry = operator_call, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};

/* Adds a function under its name and, if `special`, as "__add__" for "add" or "and_". */
static bool add_function(dv_vm *vm, dv_module *module, dv_value owner, const dv_cfunction_def *def,
                         bool special) {
    dv_value function = dv_cfunction_new(vm, def, DV_EMPTY, owner);
    if (!dv_module_add(vm, module, def->name, function)) return false;
    if (!special) return true;
    char name[24] = "__";
    size_t size = strlen(def->name);
    if (def->name[size - 1] == '_') size--;
    memcpy(name + 2, def->name, size);
    memcpy(name + 2 + size, "__", 3);
    return dv_module_add(vm, module, name, dv_retain(function));
}

/* __all__: what is public, sorted, as in CPython. */
static dv_value all_names(dv_vm *vm, const dv_module *module) {
    dv_value list = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(list);
    for (uint32_t i = 0; good && i < module->names.count; i++) {
        dv_value name = module->names.cells[i]->name;
        if (dv_str_at(dv_as_str(name), 0) != '_') good = dv_list_append(vm, list, name);
    }
    if (good && dv_list_sort(vm, list, DV_EMPTY, false)) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

bool dv_operator_fill(dv_vm *vm, dv_module *module) {
    dv_value owner = dv_module_new(vm, "_operator");
    bool good = !dv_is_empty(owner);
    for (const dv_cfunction_def *def = plain_functions; good && def->name; def++)
        good = add_function(vm, module, owner, def, false);
    for (const dv_cfunction_def *def = functions; good && def->name; def++)
        good = add_function(vm, module, owner, def, true);
    dv_release(vm, owner);
    return good && dv_module_add_type(vm, module, &dv_attrgetter_type) &&
           dv_module_add_type(vm, module, &dv_itemgetter_type) &&
           dv_module_add_type(vm, module, &dv_methodcaller_type) &&
           dv_module_add(vm, module, "__all__", all_names(vm, module));
}
