/* expression.c: finding expressions, and their instruction (expression.h).
 *
 * Invariant 1: the handler is in trampoline form, like those of operate.c. */
#include "plugin/expression.h"

#include "dv_ops.h"
#include "plugin/handlers.h"
#include "plugin/origin.h"
#include "plugin/specialise.h"
#include "quicken/site.h"
#include "types/number/range.h"
#include "types/sequence/tuple.h"

/* ---- Finding ---- */

enum { MOST_INSTRUCTIONS = 96 }; /* that are looked at in front of a site */

/* What an instruction, or several that are taken together, is in an expression. */
typedef enum role {
    AS_ELSE,
    AS_SITE,
    AS_NUMBER, /* an operation on two numbers */
    AS_BUILT,  /* a slice or tuple of what is loaded */
    AS_LOAD,   /* of a constant, local or global */
    AS_GROUP,  /* what makes a tuple or slice of constants */
    AS_KEY,    /* that, or the load of a constant: the key of a subscript, which has dropped it */
    AS_CALLEE, /* LOAD_GLOBAL_CALLEE: a callee, and the two reserved entries of its call */
    AS_METHOD, /* LOAD_GLOBAL of a module and LOAD_METHOD: likewise, and no self */
    AS_SELF    /* LOAD_METHOD, of no module: below self, what is reserved for the call */
} role;
enum { CALL_ENTRIES = 3, METHOD_ENTRIES = 4 }; /* of a call, below its arguments */

typedef struct instruction {
    uint32_t pc; /* where it begins */
    role role;
    const dv_drop *group;
} instruction;

typedef struct search {
    dv_vm *vm;
    dv_thread *thread;
    const dv_extension *extension;
    const dv_value *values;        /* operands of the last site */
    const dv_extension_site *made; /* ... which has this derivative */
    uint32_t last, count;          /* where it is; how many of all */
    uint32_t straight;             /* dv_origin_straight */
    instruction all[MOST_INSTRUCTIONS];
    const char *reason;
} search;

static uint32_t op_at(const search *s, uint32_t pc) { return s->thread->code->words[pc] & 0xFF; }

static dv_cell *cell_at(const search *s, uint32_t pc) {
    return s->thread->cells + s->thread->cell_at[pc];
}

static bool is_call(uint32_t op) {
    return op == DV_OP_CALL || op == DV_OP_CALL_METHOD || dv_operate_is_named(op);
}

/* The derivative of the extension at an inner site; NULL: it is something else.  (Of calls those of
 * objects, and those that say so, without keywords.) */
static const dv_extension_site *site_of(const search *s, uint32_t pc) {
    const dv_extension_site *o = dv_specialise_at(s->vm, s->thread, pc);
    if (!o || o->family == DV_OP_LOAD_METHOD || o->kind == DVX_SITE_SET_ITEM ||
        dv_operate_is_named(o->family))
        return NULL;
    const bool inner = o->kind == DVX_SITE_CALL && !o->seen.callee;
    if (o->kind > DVX_SITE_ATTRIBUTE && !inner && !o->derivative.inner) return NULL;
    for (const dv_extension_type *t = s->extension->types; t; t = t->next)
        if (t == o->type) return o;
    return NULL;
}

/* The drop of the group that begins at the cell, by the site whose operand it makes. */
static const dv_drop *drop_of(const dv_extension_site *o, const dv_cell *cell) {
    for (uint32_t i = 0; o && i < DV_MOST_OPERANDS; i++)
        if (o->drops[i].load == cell && o->drops[i].cells) return &o->drops[i];
    return NULL;
}

/* The group that begins at *pc, which becomes that of its last instruction; NULL: none does. */
static const dv_drop *group_at(const search *s, uint32_t *pc) {
    const dv_cell *cell = cell_at(s, *pc);
    uint32_t op = op_at(s, *pc), end = *pc, behind;
    if (op != DV_OP_LOAD_CONST && op != DV_OP_LOAD_CONST_B) return NULL;
    bool dropped = dv_extension_handler_is(cell->h) >= DV_X_dropped_group_5;
    const dv_drop *group = drop_of(s->made, cell);
    if (!group && (!dropped || dv_op_of(s->vm, cell->h) < DV_OP_COUNT)) return NULL;
    for (behind = end; behind <= s->last;
         end = behind, behind = dv_origin_next(s->thread->code, end)) {
        if (!group) group = drop_of(site_of(s, behind), cell);
        if (group && cell_at(s, behind) == cell + group->cells) return *pc = end, group;
    }
    return NULL;
}

/* What a LOAD_METHOD of a module finds; NULL: it is something else. */
static dv_global_cell *member_of(const search *s, uint32_t pc) {
    const dv_cell *load = cell_at(s, pc);
    uint32_t op = dv_op_of(s->vm, load->h);
    if (op >= DV_OP_COUNT || dv_op_infos[op].saw != DV_SAW_MEMBER) return NULL;
    return (dv_global_cell *)load[dv_op_infos[op].cache_cell + 1].p;
}

static bool is_subscript(uint32_t op) {
    return op == DV_OP_LOAD_SUBSCR || op == DV_OP_STORE_SUBSCR;
}

/* How the subscript at pc has dropped its key, if that is a constant; NULL: it has not. */
static const dv_drop *key_of(const search *s, uint32_t pc) {
    const dv_extension_site *o = pc == s->last ? s->made : site_of(s, pc);
    if (!is_subscript(op_at(s, pc)) || !o) return NULL;
    const dv_drop *key = &o->drops[o->kind == DVX_SITE_SET_ITEM ? 2 : 1];
    return key->load && !key->global && !dv_is_empty(key->original) ? key : NULL;
}

/* Is what begins at `first` and ends at pc the key of the subscript behind it? */
static bool is_key(const search *s, uint32_t first, uint32_t pc) {
    uint32_t next = dv_origin_next(s->thread->code, pc);
    const dv_drop *key = next <= s->last ? key_of(s, next) : NULL;
    return key && key->load == cell_at(s, first);
}

/* What the instruction at *pc is, which becomes the pc of the last one that belongs to it. */
static instruction classify(const search *s, uint32_t *pc) {
    instruction x = {.pc = *pc, .role = AS_ELSE};
    uint32_t op = op_at(s, *pc), next = dv_origin_next(s->thread->code, *pc);
    if (*pc == s->last) {
        x.role = AS_SITE;
    } else if ((x.group = group_at(s, pc)) != NULL) {
        x.role = AS_GROUP;
    } else if (op == DV_OP_LOAD_GLOBAL && next < s->last && op_at(s, next) == DV_OP_LOAD_METHOD &&
               member_of(s, next)) {
        x.role = AS_METHOD;
        *pc = next;
    } else if (op == DV_OP_LOAD_METHOD) {
        x.role = AS_SELF;
    } else if (op == DV_OP_LOAD_CONST || op == DV_OP_LOAD_CONST_B || op == DV_OP_LOAD_LOCAL ||
               op == DV_OP_LOAD_LOCAL_B || op == DV_OP_LOAD_GLOBAL) {
        x.role = AS_LOAD;
    } else if (op == DV_OP_LOAD_GLOBAL_CALLEE) {
        x.role = AS_CALLEE;
    } else if (site_of(s, *pc)) {
        x.role = AS_SITE;
    } else if (dv_op_among(op, DV_OP_ADD, DV_OP_POW)) {
        x.role = AS_NUMBER;
    } else if (op == DV_OP_BUILD_SLICE || op == DV_OP_BUILD_KEY || op == DV_OP_BUILD_TUPLE) {
        x.role = AS_BUILT;
    }
    if ((x.role == AS_GROUP || x.role == AS_LOAD) && is_key(s, x.pc, *pc)) x.role = AS_KEY;
    return x;
}

/* The instructions in front of the last site that may belong to it, and itself. */
static void collect(search *s) {
    const dv_code *code = s->thread->code;
    for (uint32_t pc = 0; pc <= s->last; pc = dv_origin_next(code, pc)) {
        instruction x = classify(s, &pc);
        if (x.role == AS_ELSE) {
            s->count = 0;
            continue;
        }
        if (s->count == MOST_INSTRUCTIONS) memmove(s->all, s->all + 1, --s->count * sizeof *s->all);
        s->all[s->count++] = x;
    }
}

/* Of how many parts a number, tuple or slice is made. */
static uint32_t parts_of(const search *s, uint32_t pc) {
    return dv_op_among(op_at(s, pc), DV_OP_ADD, DV_OP_POW) ? 2 : s->thread->code->words[pc] >> 8;
}

/* How many entries of the stack a site takes; of a call *entries of them below self and arguments.
 */
static uint32_t taken(const search *s, uint32_t pc, uint32_t *entries) {
    uint32_t op = op_at(s, pc), arguments = s->thread->code->words[pc] >> 8;
    const dv_extension_site *o = pc == s->last ? s->made : site_of(s, pc);
    *entries = 0;
    if (!is_call(op)) return (uint32_t)dv_op_infos[op].inputs;
    *entries = op == DV_OP_CALL || op == DV_OP_CALL_KW ? CALL_ENTRIES : METHOD_ENTRIES;
    const uint32_t all = arguments + *entries;
    if (o->kind == DVX_SITE_METHOD) *entries = CALL_ENTRIES;
    return all;
}

/* ... and how many an instruction leaves. */
static int32_t left(const search *s, const instruction *x) {
    if (x->role == AS_CALLEE) return CALL_ENTRIES;
    if (x->role == AS_METHOD || x->role == AS_SELF) return METHOD_ENTRIES;
    return x->pc != s->last || s->made->kind != DVX_SITE_SET_ITEM;
}

/* Do the instructions from number `start` on leave one value, or store one?  How many entries they
 * take from the stack, and which of these belong to calls. */
static bool count_below(const search *s, uint32_t start, dv_expression *x) {
    int32_t depth = 0, least = 0;
    uint32_t reserved = 0; /* bit i: the entry i + 1 below the start */
    for (uint32_t i = start; i < s->count; i++) {
        uint32_t entries = 0;
        uint32_t pc = s->all[i].pc;
        if (s->all[i].role == AS_SITE) depth -= (int32_t)taken(s, pc, &entries);
        depth -= s->all[i].role == AS_SELF;
        if ((s->all[i].role == AS_NUMBER || s->all[i].role == AS_BUILT) &&
            (depth -= (int32_t)parts_of(s, pc)) < least)
            return false;
        int32_t key = depth + (op_at(s, pc) == DV_OP_STORE_SUBSCR ? 2 : 1);
        if (key < least && key >= -DV_MOST_BELOW && s->all[i].role == AS_SITE && key_of(s, pc))
            reserved |= 1u << (-key - 1);
        for (int32_t k = depth; k < least && entries; k++, entries--)
            if (k >= -DV_MOST_BELOW) reserved |= 1u << (-k - 1);
        if (depth < least) least = depth;
        depth += left(s, &s->all[i]);
    }
    x->below = (uint32_t)-least;
    for (uint32_t k = 0; k < x->below && k < DV_MOST_BELOW; k++)
        x->reserved |= (reserved >> (x->below - k - 1) & 1) << k;
    return depth - least == left(s, &s->all[s->count - 1]);
}

static dv_value value_of(const dv_drop *source, const dv_value *fp) {
    if (!dv_is_empty(source->original)) return source->original;
    return *(const dv_value *)(const void *)((const char *)fp + source->local);
}

static void describe_value(const search *s, dv_expression *x, uint32_t i, dv_value v) {
    x->operands[i].value = v;
    x->operands[i].type = dv_is_foreign(v) ? dv_extension_type_of(s->vm, v)->descriptor : NULL;
    x->keys[i] = dv_operand_key_of(v);
    x->masks[i] = UINT32_MAX;
}

/* A tuple or slice of constants. */
static void add_group(search *s, dv_expression *x, uint32_t i, const dv_drop *group) {
    x->sources[i] = *group;
    x->sources[i].original = dv_retain(group->original);
    x->operands[i].origin = DVX_FROM_CONSTANT;
    x->operands[i].pure = true;
    describe_value(s, x, i, group->original);
}

static bool add_load(search *s, dv_expression *x, const instruction *load) {
    uint32_t i = x->told.operand_count, op = op_at(s, load->pc);
    if (i == DV_MOST_OPERANDS) return s->reason = "the expression has too many operands", false;
    if (load->role == AS_GROUP) {
        x->told.operand_count++;
        x->operands[i].where = load->pc;
        return add_group(s, x, i, load->group), true;
    }
    if (!dv_drop_prepare(s->vm, s->thread, load->pc, s->last, s->straight, DV_EMPTY, &x->sources[i],
                         &s->reason))
        return false;
    x->told.operand_count++;
    bool local = op == DV_OP_LOAD_LOCAL || op == DV_OP_LOAD_LOCAL_B;
    x->operands[i].origin = local                     ? DVX_FROM_LOCAL
                            : op == DV_OP_LOAD_GLOBAL ? DVX_FROM_GLOBAL
                                                      : DVX_FROM_CONSTANT;
    x->operands[i].where = local ? s->thread->code->words[load->pc] >> 8 : load->pc;
    x->operands[i].pure = true;
    describe_value(s, x, i, value_of(&x->sources[i], s->vm->fp));
    return true;
}

/* An operand that lies on the stack is operand `at` of a site (NULL: the last one): what is known
 * of it there. */
static void describe_below(const search *s, dv_expression *x, uint32_t i, bool owned,
                           const dv_extension_site *o, uint32_t at) {
    const dv_drop *drop = o ? &o->drops[at] : &s->made->drops[at];
    x->owned |= (uint32_t)owned << x->slots[i];
    x->operands[i].temporary = owned;
    if (drop->load) { /* its load pushes EMPTY, or what it loads */
        x->sources[i] = *drop;
        x->sources[i].original = dv_retain(drop->original);
        x->operands[i].temporary = false;
        x->operands[i].origin =
            !dv_is_empty(drop->original) && !drop->global ? DVX_FROM_CONSTANT : DVX_FROM_ELSEWHERE;
        describe_value(s, x, i, value_of(&x->sources[i], s->vm->fp));
        return;
    }
    if (!o) {
        describe_value(s, x, i, s->values[at]);
        return;
    }
    x->keys[i] = o->seen.keys[at];
    x->masks[i] = o->seen.masks[at];
    bool foreign = x->masks[i] && x->keys[i] >= DV_T_EXTENSION && x->keys[i] < DV_T_COUNT;
    const dv_type *type = foreign ? s->vm->types[x->keys[i]] : NULL;
    if (type) x->operands[i].type = ((const dv_extension_type *)(const void *)type)->descriptor;
}

static bool add_constant(dv_expression *x, dv_global_cell *cell) {
    if (!cell || x->constant_count == DV_MOST_CONSTANTS) return false;
    x->constants[x->constant_count++] = cell;
    return true;
}

/* ---- Numbers ---- */

static bool is_number(dv_value v) { return dv_is_float(v) || dv_is_int(v); }

/* ... or else what is a part of keys, and not counted? */
static bool is_part(dv_value v) { return is_number(v) || dv_is_none(v) || dv_same(v, DV_ELLIPSIS); }

/* a op b, of two numbers, if that is one, too, which needs no memory; else EMPTY. */
static inline dv_value compute(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (!is_number(a) || !is_number(b)) return DV_EMPTY;
    if (dv_is_float(a) && dv_is_float(b)) {
        if (op == DV_BINARY_MUL) return dv_float(dv_as_float(a) * dv_as_float(b));
        if (op == DV_BINARY_ADD) return dv_float(dv_as_float(a) + dv_as_float(b));
        if (op == DV_BINARY_SUB) return dv_float(dv_as_float(a) - dv_as_float(b));
    }
    if (dv_is_int(a) && dv_is_int(b) && (op == DV_BINARY_ADD || op == DV_BINARY_SUB)) {
        int64_t sum = dv_as_int(a) + (op == DV_BINARY_ADD ? dv_as_int(b) : -dv_as_int(b));
        if (dv_fits_int(sum)) return dv_int(sum);
    }
    dv_value result = dv_binary(vm, op, a, b);
    if (dv_is_empty(result)) return dv_error_clear(vm), result;
    if (is_number(result)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

/* Which number is computed like this, an old one or a new one; false: there are too many. */
static bool find_number(dv_expression *x, dv_expression_number made, uint8_t *number) {
    uint32_t i = 0;
    for (; i < x->number_count; i++)
        if (!memcmp(&x->numbers[i], &made, sizeof made)) break;
    if (i == DV_MOST_NUMBERS) return false;
    if (i == x->number_count) x->numbers[x->number_count++] = made;
    *number = (uint8_t)i;
    return true;
}

/* The last operand becomes a number, if it is not one yet; which one. */
static bool make_number(dv_expression *x, uint8_t *number) {
    uint32_t i = x->told.operand_count - 1;
    dv_drop *source = &x->sources[i];
    if (x->computed[i]) {
        *number = (uint8_t)(x->computed[i] - 1);
    } else {
        if (!is_part(x->operands[i].value) || source->cells) return false;
        if (source->global && !add_constant(x, source->global)) return false;
        dv_expression_number leaf = {.is = DV_NUMBER_CONSTANT, .from.constant = source->original};
        if (dv_is_empty(source->original))
            leaf = (dv_expression_number){.is = DV_NUMBER_LOCAL, .from.local = source->local};
        if (!find_number(x, leaf, number)) return false;
    }
    x->computed[i] = 0;
    x->told.operand_count--;
    *source = (dv_drop){.original = DV_EMPTY};
    return true;
}

/* The last operands, which must follow each other, become what the instruction makes of them. */
static bool add_number(search *s, dv_expression *x, uint32_t pc, int32_t *stack, uint32_t *depth) {
    const uint32_t op = op_at(s, pc), count = parts_of(s, pc);
    const int32_t first = (int32_t)(x->told.operand_count - count);
    const bool computes = dv_op_among(op, DV_OP_ADD, DV_OP_POW);
    dv_expression_number made = {.is = computes                  ? DV_NUMBER_RESULT
                                       : op == DV_OP_BUILD_SLICE ? DV_NUMBER_SLICE
                                                                 : DV_NUMBER_TUPLE,
                                 .operation = (uint8_t)(computes ? op - DV_OP_ADD : count)};
    uint8_t number;
    s->reason = "an operation in the expression is neither a site's nor one on two numbers";
    if (count > DV_KEY_PARTS || first < (int32_t)x->stacked) return false;
    for (uint32_t i = count; i-- > 0;)
        if (stack[*depth - count + i] != first + (int32_t)i) return false;
    dvx_operand result = {.origin = DVX_FROM_ELSEWHERE, .pure = true, .value = DV_EMPTY};
    if (computes)
        result.value = compute(s->vm, (dv_binary_op)made.operation, x->operands[first].value,
                               x->operands[first + 1].value);
    for (uint32_t i = count; i-- > 0;)
        if (!make_number(x, &made.parts[i])) return false;
    if ((computes && dv_is_empty(result.value)) || !find_number(x, made, &number)) return false;
    x->computed[first] = (uint8_t)(number + 1);
    x->told.operand_count++;
    *depth -= count - 1;
    stack[*depth - 1] = first;
    x->operands[first] = result;
    x->masks[first] = 0;
    if (computes) describe_value(s, x, (uint32_t)first, result.value);
    return true;
}

/* The parts of a key. */
static dv_value *parts_in(dv_value key) {
    if (dv_is_tuple(key)) return dv_as_tuple(key)->items;
    return &((dv_slice *)(void *)dv_as_object(key))->start;
}

/* Makes the keys, in which slices are parts of tuples.  False: out of memory. */
static bool make_keys(dv_vm *vm, dv_extension_site *o) {
    bool good = true;
    for (uint32_t i = 0; i < o->number_count; i++) {
        dv_expression_number *n = &o->numbers[i];
        dv_value parts[DV_KEY_PARTS];
        if (n->is < DV_NUMBER_SLICE) continue;
        for (uint32_t k = 0; k < n->operation; k++) {
            const dv_expression_number *part = &o->numbers[n->parts[k]];
            parts[k] = part->is < DV_NUMBER_SLICE ? DV_NONE : part->from.constant;
        }
        if (!good)
            n->from.constant = DV_EMPTY;
        else if (n->is == DV_NUMBER_SLICE)
            n->from.constant = dv_slice_new(vm, DV_NONE, DV_NONE, DV_NONE);
        else
            n->from.constant = dv_tuple_new(vm, parts, n->operation);
        good = !dv_is_empty(n->from.constant);
    }
    if (!good) dv_error_clear(vm);
    return good;
}

/* Computes the numbers of an expression; false: see invariant 6 of expression.h. */
static DV_OUT_OF_LINE bool compute_numbers(dv_vm *vm, const dv_extension_site *o,
                                           const dv_value *fp, dv_value *numbers) {
    for (uint32_t i = 0; i < o->number_count; i++) {
        const dv_expression_number *n = &o->numbers[i];
        dv_value v = n->from.constant, *parts;
        switch ((dv_number_is)n->is) {
        case DV_NUMBER_CONSTANT: break;
        case DV_NUMBER_LOCAL:
            v = *(const dv_value *)(const void *)((const char *)fp + n->from.local);
            if (!is_part(v)) return false;
            break;
        case DV_NUMBER_RESULT:
            v = compute(vm, (dv_binary_op)n->operation, numbers[n->parts[0]], numbers[n->parts[1]]);
            if (dv_is_empty(v)) return false;
            break;
        case DV_NUMBER_SLICE:
        case DV_NUMBER_TUPLE:
            parts = parts_in(v);
            for (uint32_t k = 0; k < n->operation; k++) parts[k] = numbers[n->parts[k]];
            break;
        }
        numbers[i] = v;
    }
    return true;
}

/* ---- Callees ---- */

/* On the simulated stack: entries of calls, and keys, that lie there; those that are pushed within
 * the expression; what instruction i has loaded as a callee is
 * FIRST_CALLEE + i. */
enum { RESERVED = INT32_MIN, WITHIN, FIRST_CALLEE = INT32_MIN / 2 };

/* What the load at pc, of a callee or a LOAD_METHOD, pushes for the site; EMPTY: it is not known.
 */
static dv_value callee_at(const search *s, uint32_t pc, const dv_extension_site *o,
                          dv_global_cell **cell) {
    const dv_drop *drop = &o->drops[0];
    *cell = NULL;
    if (drop->load == cell_at(s, pc) && drop->global) return *cell = drop->global, drop->original;
    *cell = op_at(s, pc) == DV_OP_LOAD_METHOD ? member_of(s, pc)
                                              : dv_drop_global(s->vm, cell_at(s, pc));
    return *cell && !(*cell)->constant.broken ? (*cell)->value : DV_EMPTY;
}

/* The callee is loaded within the expression: it is what it is as long as no global changes. */
static dv_value callee_within(search *s, dv_expression *x, const instruction *load,
                              const dv_extension_site *o) {
    dv_global_cell *cell, *module = NULL;
    uint32_t pc = load->pc;
    if (load->role == AS_METHOD) {
        module = dv_drop_global(s->vm, cell_at(s, pc));
        if (!module || module->constant.broken || !add_constant(x, module)) return DV_EMPTY;
        pc = dv_origin_next(s->thread->code, pc);
    }
    dv_value callee = callee_at(s, pc, o, &cell);
    return !dv_is_empty(callee) && add_constant(x, cell) ? callee : DV_EMPTY;
}

/* The callee lies on the stack, entry `slot` of those below, and is looked at each time. */
static dv_value callee_below(search *s, dv_expression *x, uint32_t pc, uint32_t slot,
                             uint32_t count, const dv_extension_site *o) {
    uint32_t makers[DV_MOST_OPERANDS + METHOD_ENTRIES];
    dv_global_cell *cell;
    dv_value callee = pc == s->last ? s->values[0] : DV_EMPTY;
    if (dv_is_empty(callee) && count <= DV_MOST_OPERANDS + METHOD_ENTRIES &&
        dv_origin_find(s->vm, s->thread, pc, count, makers) && makers[0] != DV_NO_PC &&
        (op_at(s, makers[0]) == DV_OP_LOAD_METHOD ||
         op_at(s, makers[0]) == DV_OP_LOAD_GLOBAL_CALLEE))
        callee = callee_at(s, makers[0], o, &cell);
    if (dv_is_empty(callee) || x->callee_count == DV_MOST_CALLEES) return DV_EMPTY;
    x->owned |= 1u << slot;
    x->callees[x->callee_count++] = (dv_expression_callee){
        .slot = (uint8_t)slot, .method = o->method, .value = dv_retain(callee)};
    return callee;
}

/* What a call has; EMPTY: it is not always the same, or another one than the site's (a function).
 */
static dv_value callee_of(search *s, dv_expression *x, uint32_t pc, uint32_t slot, uint32_t count,
                          int32_t callee, const dv_extension_site *o) {
    dv_value found = callee == RESERVED ? callee_below(s, x, pc, slot, count, o)
                     : callee >= FIRST_CALLEE
                         ? callee_within(s, x, &s->all[callee - FIRST_CALLEE], o)
                         : DV_EMPTY;
    if (dv_is_empty(found) || !o->seen.callee || !dv_is_shape(found, DV_T_CFUNCTION)) return found;
    return dvx_is_method(&o->seen, found) ? found : DV_EMPTY;
}

/* ---- Building ---- */

static bool add_site(search *s, dv_expression *x, uint32_t pc, int32_t *stack, uint32_t *depth) {
    const dv_cell *cell = cell_at(s, pc);
    uint32_t entries, count = taken(s, pc, &entries), inputs = count - entries;
    const dv_extension_site *o = pc == s->last ? NULL : site_of(s, pc);
    const dv_extension_site *site = o ? o : s->made;
    const bool call = entries > 0, method = site->kind == DVX_SITE_METHOD;
    if (x->told.node_count == DV_MOST_NODES)
        return s->reason = "the expression is too large", false;
    if (call && inputs > (o && !o->derivative.inner ? 2 : 3))
        return s->reason = "a call in the expression has too many arguments", false;
    x->places[x->told.node_count] = (uint16_t)(cell - x->first);
    dvx_node *node = &x->nodes[x->told.node_count++];
    *node = (dvx_node){.count = inputs, .name = DV_EMPTY};
    *depth -= count;
    if (method) { /* (of a type of the extension: it stays) */
        node->family = DVX_SITE_METHOD;
        if (stack[*depth] == RESERVED) x->owned |= 1u << *depth;
    } else if (call) {
        node->family = DVX_SITE_CALL;
        node->name = callee_of(s, x, pc, *depth, count, stack[*depth], site);
        if (dv_is_empty(node->name))
            return s->reason = "a callee in the expression may change", false;
    } else {
        dv_specialise_family(op_at(s, pc), cell[1].extended.own, &node->family, &node->operation);
    }
    const dv_drop *key = key_of(s, pc);
    if (node->family == DVX_SITE_ATTRIBUTE) node->name = cell[2].v;
    if (key) node->name = key->original, node->count--;
    node->derivative = site->descriptor;
    for (uint32_t j = 0; j < inputs; j++) {
        uint32_t at = *depth + entries + j;
        int32_t input = stack[at];
        bool owned = call || cell[1].extended.own >> j & 1;
        if (call && input < FIRST_CALLEE + MOST_INSTRUCTIONS)
            return s->reason = "what a call takes is not made by sites", false;
        if (key && j + 1 == inputs) { /* it is no input */
            if (input == RESERVED) x->owned |= (uint32_t)owned << at;
            continue;
        }
        node->inputs[j] = input;
        if (j == 2 && !o) x->told.key = input;
        if (input >= 0 && (uint32_t)input < x->stacked)
            describe_below(s, x, (uint32_t)input, owned, o, j + (call && !method));
    }
    stack[(*depth)++] = ~(int32_t)(x->told.node_count - 1);
    return true;
}

/* What lies on the stack at the start: operands from left to right, and entries of calls. */
static bool add_below(search *s, dv_expression *x, int32_t *stack) {
    for (uint32_t k = 0; k < x->below; k++) {
        stack[k] = RESERVED;
        if (x->reserved >> k & 1) continue;
        if (x->told.operand_count == DV_MOST_OPERANDS)
            return s->reason = "the expression has too many operands", false;
        x->slots[x->told.operand_count] = (uint8_t)k;
        stack[k] = (int32_t)x->told.operand_count++;
    }
    x->stacked = x->told.operand_count;
    return true;
}

/* The expression of the instructions from number `start` on. */
static bool build(search *s, uint32_t start, dv_expression *x) {
    int32_t stack[METHOD_ENTRIES * MOST_INSTRUCTIONS + DV_MOST_BELOW];
    uint32_t depth = x->below;
    dv_thread *thread = s->thread;
    if (x->below > DV_MOST_BELOW || !add_below(s, x, stack))
        return s->reason = "the expression has too many operands", false;
    x->first = cell_at(s, s->all[start].pc);
    for (uint32_t i = start; i < s->count; i++) {
        const instruction *in = &s->all[i];
        if (in->role == AS_SITE) {
            if (!add_site(s, x, in->pc, stack, &depth)) return false;
            continue;
        }
        if (in->role == AS_NUMBER || in->role == AS_BUILT) {
            if (!add_number(s, x, in->pc, stack, &depth)) return false;
            continue;
        }
        if (in->role == AS_SELF) {
            const int32_t self = stack[depth - 1];
            for (int32_t k = 1; k < METHOD_ENTRIES; k++) stack[depth - 2 + (uint32_t)k] = WITHIN;
            depth += METHOD_ENTRIES - 1;
            stack[depth - 1] = self;
            continue;
        }
        const bool callee = in->role == AS_CALLEE || in->role == AS_METHOD;
        stack[depth++] = callee               ? FIRST_CALLEE + (int32_t)i
                         : in->role == AS_KEY ? WITHIN
                                              : (int32_t)x->told.operand_count;
        if (!callee && in->role != AS_KEY && !add_load(s, x, in)) return false;
        for (int32_t k = 1; k < left(s, in); k++) stack[depth++] = WITHIN;
    }
    x->under = site_of(s, s->all[start].pc);
    x->stores = s->made->kind == DVX_SITE_SET_ITEM;
    x->behind = thread->cells + thread->cell_at[dv_origin_next(thread->code, s->last)];
    return true;
}

static void begin(dv_expression *x) {
    memset(x, 0, sizeof *x);
    x->told.key = -1;
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++)
        x->operands[i].value = x->sources[i].original = DV_EMPTY;
}

bool dv_expression_find(dv_vm *vm, dv_thread *thread, uint32_t pc, const dv_extension_site *made,
                        const dv_extension *extension, const dv_value *values, uint32_t start,
                        dv_expression *x, const char **reason) {
    search s = {.vm = vm,
                .thread = thread,
                .extension = extension,
                .values = values,
                .made = made,
                .last = pc,
                .straight = dv_origin_straight(thread->code, pc)};
    *reason = NULL;
    collect(&s);
    for (; start + 1 < s.count; start++) {
        begin(x);
        if (s.all[start].role != AS_SITE || !count_below(&s, start, x)) continue;
        *reason = "the code branches into the expression";
        if (s.all[start].pc < s.straight) continue;
        if (build(&s, start, x)) {
            x->start = start;
            x->told.size = sizeof x->told;
            x->told.nodes = x->nodes;
            x->told.operands = x->operands;
            return true;
        }
        dv_expression_forget(vm, x);
        *reason = s.reason;
    }
    begin(x);
    return false;
}

void dv_expression_forget(dv_vm *vm, dv_expression *x) {
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) {
        dv_value original = x->sources[i].original;
        x->sources[i].original = DV_EMPTY;
        dv_release(vm, original);
    }
    while (x->callee_count) dv_release(vm, x->callees[--x->callee_count].value);
}

/* ---- Its occurrence ---- */

/* What value_of reads, and where it is known that an operand is on the stack. */
static dv_expression_read read_of(const dv_extension_site *o, const dv_expression *x, uint32_t i) {
    const dv_drop *drop = &o->drops[i];
    if (x->computed[i])
        return (dv_expression_read){DV_READ_NUMBER,
                                    (x->computed[i] - 1) * (int64_t)sizeof(dv_value)};
    if (!drop->load)
        return (dv_expression_read){DV_READ_ENTRY, o->slots[i] * (int64_t)sizeof(dv_value)};
    if (dv_is_empty(drop->original)) return (dv_expression_read){DV_READ_LOCAL, drop->local};
    return (dv_expression_read){DV_READ_DROP,
                                (const char *)&drop->original - (const char *)o->drops};
}

dv_extension_site *dv_expression_new(dv_vm *vm, dv_expression *x, const dv_thread *thread,
                                     const dvx_specialisation *own) {
    dv_extension_site *o =
        dv_occurrence_new(vm, x->first, x->under->family, own->cache_size, thread);
    if (!o) return NULL;
    o->derivative = *own;
    o->derivative.native = o->derivative.native_method = NULL;
    o->kind = x->under->kind;
    o->under = x->under;
    o->below = x->below;
    o->owned = x->owned;
    memcpy(o->slots, x->slots, sizeof o->slots);
    memcpy(o->callees, x->callees, sizeof o->callees);
    o->callee_count = x->callee_count;
    x->callee_count = 0;
    memcpy(o->numbers, x->numbers, sizeof o->numbers);
    o->number_count = x->number_count;
    if (!make_keys(vm, o)) o->broken = true;
    o->stores = x->stores;
    o->node_count = x->told.node_count;
    memcpy(o->nodes, x->places, sizeof o->nodes);
    o->seen.count = own->count;
    o->seen.length = (uint32_t)(x->behind - x->first);
    o->seen.meta = own->meta;
    for (uint32_t i = 0; i < own->count; i++) {
        o->drops[i] = x->sources[i];
        x->sources[i].original = DV_EMPTY;
        o->reads[i] = read_of(o, x, i);
        o->seen.keys[i] = x->keys[i];
        o->seen.masks[i] = own->any >> i & 1 ? 0 : x->masks[i];
        if (own->meta >> i & 1)
            o->seen.flags[i] =
                (uint32_t)(offsetof(dv_extension_object, payload) + x->operands[i].type->meta);
        dv_global_cell *global = o->drops[i].global;
        if (global && !dv_assumption_depend(vm, &global->constant, &o->dependent)) o->broken = true;
    }
    for (uint32_t i = 0; i < x->constant_count; i++)
        if (!dv_assumption_depend(vm, &x->constants[i]->constant, &o->dependent)) o->broken = true;
    return o;
}

/* ---- Its instruction ---- */

/* `entries` are those that the expression takes.  Are the callees among them what they were?  (One
 * that is not loaded is.) */
static bool has_callees(const dv_extension_site *o, const dv_value *entries) {
    for (uint32_t i = 0; i < o->callee_count; i++) {
        const dv_value *callee = entries + o->callees[i].slot;
        if (!dv_is_empty(*callee) && callee->bits != o->callees[i].value.bits) return false;
        if (o->callees[i].method && !dv_is_empty(callee[CALL_ENTRIES])) return false;
    }
    return true;
}

static void release_entries(dv_vm *vm, const dv_extension_site *o, const dv_value *entries) {
    for (uint32_t i = 0, left = o->owned; left; i++, left >>= 1)
        if (left & 1) dv_release(vm, entries[i]);
}

static void release_raising(dv_vm *vm, const dv_extension_site *o, const dv_value *entries) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY; /* releases may run code of the program */
    release_entries(vm, o, entries);
    vm->error = error;
}

/* At the place of a node (at_node), where the stack has other entries than here: those that the
 * expression takes go before. */
static const dv_cell *raise(dv_vm *vm, const dv_extension_site *o, const dv_cell *ip, dv_value *sp,
                            dv_value *fp) {
    const dv_cell *at = vm->ip;
    if (at == ip) return dv_slow_raise(ip, sp, fp, vm, 0, 0);
    release_raising(vm, o, sp - o->below);
    return dv_slow_raise(at, sp - o->below, fp, vm, 0, 0);
}

/* Reads the operands.  Are they of the types that the expression has seen? */
static inline bool read_operands(const dv_extension_site *o, const dv_value *entries,
                                 const dv_value *fp, const dv_value *numbers, dv_value *operands) {
    const char *const bases[DV_READ_BASES] = {(const char *)entries, (const char *)fp,
                                              (const char *)o->drops, (const char *)numbers};
    const uint32_t count = o->seen.count;
    uint32_t differs = 0;
    for (uint32_t i = 0; i < count; i++) {
        const dv_expression_read *read = &o->reads[i];
        operands[i] = *(const dv_value *)(const void *)(bases[read->base] + read->offset);
        differs |= (dv_operand_key_of(operands[i]) ^ o->seen.keys[i]) & o->seen.masks[i];
    }
    return !differs;
}

static inline dv_value run(dv_vm *vm, dv_extension_site *o, const dv_value *entries,
                           const dv_value *fp) {
    dv_value operands[DV_MOST_OPERANDS], numbers[DV_MOST_NUMBERS];
    if ((o->number_count && !compute_numbers(vm, o, fp, numbers)) ||
        !read_operands(o, entries, fp, numbers, operands) || !has_callees(o, entries))
        return DV_DEOPTIMISED;
    return dv_operate_run(vm, o, operands);
}

static const dv_cell *run_expression(DV_HANDLER_PARAMETERS) {
    dv_extension_site *o = dv_occurrence_at(ip);
    dv_value result = DV_DEOPTIMISED, *entries = sp - o->below;
    r = (int64_t)(intptr_t)o;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    if (!GUARD_FAILS()) result = run(vm, o, entries, fp);
    if (dv_is_empty(result)) return raise(vm, o, ip, sp, fp);
    if (dv_operate_is_rare(result)) return dv_operate_miss(ip, sp, fp, vm, r, d);
    if (o->owned) release_entries(vm, o, entries);
    vm->sp = entries + !o->stores;
    if (!o->stores) *entries = result;
    return ip + o->seen.length;
}

/* ---- In regions ---- */

_Static_assert((int)DV_FOREIGN_NODES >= (int)DV_MOST_NODES, "there is room for all");
_Static_assert((int)DV_FOREIGN_LOCALS >= (int)DV_MOST_OPERANDS + (int)DV_MOST_NUMBERS, "likewise");

bool dv_expression_describe(dv_vm *vm, const dv_cell *cell, dv_foreign_expression *found) {
    (void)vm;
    if (cell->h != run_expression) return false; /* (the last cell of a code has none behind it) */
    dv_extension_site *o = dv_occurrence_at(cell);
    if (o->broken) return false;
    *found = (dv_foreign_expression){.site = o,
                                     .below = o->below,
                                     .stores = o->stores,
                                     .cells = o->seen.length,
                                     .node_count = o->node_count};
    memcpy(found->nodes, o->nodes, sizeof o->nodes);
    for (uint32_t i = 0; i < o->seen.count; i++)
        if (o->reads[i].base == DV_READ_LOCAL)
            found->locals[found->local_count++] =
                (uint16_t)(o->reads[i].offset / (int64_t)sizeof(dv_value));
    for (uint32_t i = 0; i < o->number_count; i++)
        if (o->numbers[i].is == DV_NUMBER_LOCAL)
            found->locals[found->local_count++] =
                (uint16_t)(o->numbers[i].from.local / (int64_t)sizeof(dv_value));
    return true;
}

int dv_expression_run(dv_vm *vm, void *site, const dv_value *frame) {
    dv_extension_site *o = site;
    const dv_cell *ip = vm->ip, *outer = o->running_at;
    dv_value result, *entries = vm->sp - o->below;
    if (o->broken) return DV_FOREIGN_NOT;
    o->running_at = ip;
    result = run(vm, o, entries, frame);
    o->running_at = outer;
    if (dv_is_empty(result)) {
        if (vm->ip != ip) release_raising(vm, o, entries);
        return DV_FOREIGN_RAISED;
    }
    if (dv_operate_is_rare(result)) return DV_FOREIGN_NOT;
    if (o->owned) release_entries(vm, o, entries);
    if (!o->stores) *entries = result;
    return DV_FOREIGN_DONE;
}

static bool stands(const dv_extension_site *o) {
    return o->cell->h == o->handler && dv_occurrence_at(o->cell) == o;
}

bool dv_expression_install(dv_vm *vm, dv_extension_site *o) {
    const dv_extension_site *now = dv_occurrence_if_any(vm, o->cell);
    bool same = now && stands(now) && (now == o->under || now->under == o->under);
    if (!same || o->broken) return false;
    o->handler = run_expression;
    o->times++;
    o->backoff = o->under->backoff;
    o->cell->h = run_expression;
    dv_occurrence_enter(o, o->cell);
    return true;
}

void dv_expression_end(dv_extension_site *o) {
    if (stands(o)) {
        o->cell->h = o->under->handler;
        dv_occurrence_enter(o->under, o->cell);
    }
    o->broken = true;
}
