/* expression.c: finding expressions, and their instruction (expression.h).
 *
 * Invariant 1: the handler is in trampoline form, like those of operate.c. */
#include "plugin/expression.h"

#include "plugin/handlers.h"
#include "plugin/origin.h"
#include "plugin/specialise.h"
#include "quicken/site.h"

/* ---- Finding ---- */

enum { MOST_INSTRUCTIONS = 48 }; /* that are looked at in front of a site */

typedef struct search {
    dv_vm *vm;
    dv_thread *thread;
    const dv_extension *extension;
    const dv_value *values;        /* operands of the last site */
    const dv_extension_site *made; /* ... which has this derivative */
    uint32_t pcs[MOST_INSTRUCTIONS], count;
    const dv_drop *groups[MOST_INSTRUCTIONS]; /* at these pcs; NULL: a site, or another load */
    const char *reason;
} search;

static bool is_load(const search *s, uint32_t pc) {
    uint32_t op = s->thread->code->words[pc] & 0xFF;
    return op == DV_OP_LOAD_CONST || op == DV_OP_LOAD_CONST_B || op == DV_OP_LOAD_LOCAL ||
           op == DV_OP_LOAD_LOCAL_B || op == DV_OP_LOAD_GLOBAL;
}

/* The derivative of the extension at an inner site; NULL: it is something else. */
static const dv_extension_site *site_of(const search *s, uint32_t pc) {
    const dv_extension_site *o = dv_specialise_at(s->vm, s->thread, pc);
    bool simple = o && o->kind <= DVX_SITE_ATTRIBUTE && o->kind != DVX_SITE_SET_ITEM;
    if (!simple || o->family == DV_OP_LOAD_METHOD) return NULL;
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
static const dv_drop *group_at(const search *s, uint32_t *pc, uint32_t last) {
    const dv_thread *thread = s->thread;
    const dv_cell *cell = thread->cells + thread->cell_at[*pc];
    uint32_t op = thread->code->words[*pc] & 0xFF, end = *pc, behind;
    if (op != DV_OP_LOAD_CONST && op != DV_OP_LOAD_CONST_B) return NULL;
    bool dropped = dv_extension_handler_is(cell->h) >= DV_X_dropped_group_5;
    const dv_drop *group = drop_of(s->made, cell);
    if (!group && (!dropped || dv_op_of(s->vm, cell->h) < DV_OP_COUNT)) return NULL;
    for (behind = end; behind < last; end = behind, behind = dv_origin_next(thread->code, end)) {
        if (!group) group = drop_of(site_of(s, behind), cell);
        if (group && thread->cells + thread->cell_at[behind] == cell + group->cells)
            return *pc = end, group;
    }
    return group && behind == last ? (*pc = end, group) : NULL;
}

static void add_instruction(search *s, uint32_t pc, const dv_drop *group) {
    if (s->count == MOST_INSTRUCTIONS) {
        s->count--;
        memmove(s->pcs, s->pcs + 1, s->count * sizeof *s->pcs);
        memmove(s->groups, s->groups + 1, s->count * sizeof *s->groups);
    }
    s->pcs[s->count] = pc;
    s->groups[s->count++] = group;
}

/* The instructions in front of the last site that may belong to it, and itself. */
static void collect(search *s, uint32_t last) {
    const dv_code *code = s->thread->code;
    for (uint32_t pc = 0; pc <= last; pc = dv_origin_next(code, pc)) {
        uint32_t first = pc;
        const dv_drop *group = group_at(s, &pc, last);
        if (group || pc == last || is_load(s, pc) || site_of(s, pc))
            add_instruction(s, first, group);
        else
            s->count = 0;
    }
}

/* Instruction number i pushes a value, and does nothing else. */
static bool pushes(const search *s, uint32_t i) { return s->groups[i] || is_load(s, s->pcs[i]); }

static uint32_t inputs_of(const search *s, uint32_t pc) {
    return (uint32_t)dv_op_infos[s->thread->code->words[pc] & 0xFF].inputs;
}

/* Do the instructions from number `start` on leave one value, or store one?  How many they take
 * from the stack. */
static bool count_below(const search *s, uint32_t start, uint32_t *below) {
    int32_t depth = 0, least = 0, left = s->made->kind != DVX_SITE_SET_ITEM;
    for (uint32_t i = start; i < s->count; i++) {
        if (!pushes(s, i)) depth -= (int32_t)inputs_of(s, s->pcs[i]);
        if (depth < least) least = depth;
        depth += i + 1 < s->count ? 1 : left;
    }
    *below = (uint32_t)-least;
    return depth - least == left;
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

static bool add_load(search *s, dv_expression *x, uint32_t number) {
    uint32_t pc = s->pcs[number], op = s->thread->code->words[pc] & 0xFF;
    uint32_t i = x->told.operand_count;
    if (i == DV_MOST_OPERANDS) return s->reason = "the expression has too many operands", false;
    if (s->groups[number]) {
        x->told.operand_count++;
        x->operands[i].where = pc;
        return add_group(s, x, i, s->groups[number]), true;
    }
    if (!dv_drop_prepare(s->vm, s->thread, pc, s->pcs[s->count - 1], DV_EMPTY, &x->sources[i],
                         &s->reason))
        return false;
    x->told.operand_count++;
    bool local = op == DV_OP_LOAD_LOCAL || op == DV_OP_LOAD_LOCAL_B;
    x->operands[i].origin = local                     ? DVX_FROM_LOCAL
                            : op == DV_OP_LOAD_GLOBAL ? DVX_FROM_GLOBAL
                                                      : DVX_FROM_CONSTANT;
    x->operands[i].where = local ? s->thread->code->words[pc] >> 8 : pc;
    x->operands[i].pure = true;
    describe_value(s, x, i, value_of(&x->sources[i], s->vm->fp));
    return true;
}

/* An operand that lies on the stack is input `at` of a site: what is known of it there. */
static bool describe_below(search *s, dv_expression *x, uint32_t i, const dv_cell *cell,
                           const dv_extension_site *o, uint32_t at) {
    bool owned = cell[1].extended.own >> at & 1;
    x->owned |= (uint8_t)(owned << i);
    x->operands[i].temporary = owned;
    if (!o) return describe_value(s, x, i, s->values[at]), true;
    if (o->drops[at].load) { /* its load pushes EMPTY, or what it loads */
        x->sources[i] = o->drops[at];
        x->sources[i].original = dv_retain(o->drops[at].original);
        x->operands[i].temporary = false;
        describe_value(s, x, i, value_of(&x->sources[i], s->vm->fp));
        return true;
    }
    x->keys[i] = o->seen.keys[at];
    x->masks[i] = o->seen.masks[at];
    bool foreign = x->masks[i] && x->keys[i] >= DV_T_EXTENSION && x->keys[i] < DV_T_COUNT;
    const dv_type *type = foreign ? s->vm->types[x->keys[i]] : NULL;
    if (type) x->operands[i].type = ((const dv_extension_type *)(const void *)type)->descriptor;
    return true;
}

static bool add_site(search *s, dv_expression *x, uint32_t pc, int32_t *stack, uint32_t *depth) {
    const dv_code *code = s->thread->code;
    const dv_cell *cell = s->thread->cells + s->thread->cell_at[pc];
    uint32_t count = inputs_of(s, pc), op = code->words[pc] & 0xFF;
    const dv_extension_site *o = pc == s->pcs[s->count - 1] ? NULL : site_of(s, pc);
    if (x->told.node_count == DV_MOST_NODES)
        return s->reason = "the expression is too large", false;
    x->places[x->told.node_count] = (uint16_t)(cell - x->first);
    dvx_node *node = &x->nodes[x->told.node_count++];
    *node = (dvx_node){.count = count, .name = DV_EMPTY};
    dv_specialise_family(op, &node->family, &node->operation);
    if (node->family == DVX_SITE_ATTRIBUTE) node->name = cell[2].v;
    if (o) node->derivative = o->descriptor;
    *depth -= count;
    for (uint32_t j = 0; j < count; j++) {
        int32_t input = stack[*depth + j];
        *(j < 2 ? &node->inputs[j] : &x->told.key) = input;
        if (input >= 0 && (uint32_t)input < x->below &&
            !describe_below(s, x, (uint32_t)input, cell, o, j))
            return false;
    }
    stack[(*depth)++] = ~(int32_t)(x->told.node_count - 1);
    return true;
}

/* The expression of the instructions from number `start` on. */
static bool build(search *s, uint32_t start, dv_expression *x) {
    int32_t stack[MOST_INSTRUCTIONS + DV_MOST_OPERANDS];
    uint32_t depth = 0;
    dv_thread *thread = s->thread;
    if (x->below > DV_MOST_OPERANDS)
        return s->reason = "the expression has too many operands", false;
    for (; depth < x->below; depth++) stack[depth] = (int32_t)depth;
    x->first = thread->cells + thread->cell_at[s->pcs[start]];
    x->told.operand_count = x->below;
    for (uint32_t i = start; i < s->count; i++) {
        if (!pushes(s, i)) {
            if (!add_site(s, x, s->pcs[i], stack, &depth)) return false;
            continue;
        }
        stack[depth++] = (int32_t)x->told.operand_count;
        if (!add_load(s, x, i)) return false;
    }
    uint32_t last = s->pcs[s->count - 1];
    x->under = site_of(s, s->pcs[start]);
    x->stores = s->made->kind == DVX_SITE_SET_ITEM;
    x->behind = thread->cells + thread->cell_at[dv_origin_next(thread->code, last)];
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
    search s = {.vm = vm, .thread = thread, .extension = extension, .values = values, .made = made};
    *reason = "no operand is the result of a site of the extension";
    collect(&s, pc);
    for (; start + 1 < s.count; start++) {
        begin(x);
        if (pushes(&s, start) || !count_below(&s, start, &x->below)) continue;
        *reason = "the code branches into the expression";
        if (!dv_origin_is_straight(thread->code, s.pcs[start], pc)) continue;
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
}

/* ---- Its occurrence ---- */

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
    o->stores = x->stores;
    memcpy(o->nodes, x->places, sizeof o->nodes);
    o->seen.count = own->count;
    o->seen.length = (uint32_t)(x->behind - x->first);
    o->seen.meta = own->meta;
    for (uint32_t i = 0; i < own->count; i++) {
        o->drops[i] = x->sources[i];
        x->sources[i].original = DV_EMPTY;
        o->seen.keys[i] = x->keys[i];
        o->seen.masks[i] = own->any >> i & 1 ? 0 : x->masks[i];
        if (own->meta >> i & 1)
            o->seen.flags[i] =
                (uint32_t)(offsetof(dv_extension_object, payload) + x->operands[i].type->meta);
        dv_global_cell *global = o->drops[i].global;
        if (global && !dv_assumption_depend(vm, &global->constant, &o->dependent)) o->broken = true;
    }
    return o;
}

/* ---- Its instruction ---- */

static const dv_cell *run_expression(DV_HANDLER_PARAMETERS) {
    dv_extension_site *o = dv_occurrence_at(ip);
    dv_value operands[DV_MOST_OPERANDS], result = DV_DEOPTIMISED;
    uint32_t below = o->below;
    r = (int64_t)(intptr_t)o;
    for (uint32_t i = 0; i < o->seen.count; i++)
        operands[i] = o->drops[i].load ? value_of(&o->drops[i], fp) : sp[(int64_t)i - below];
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    if (dv_occurrence_fits(&o->seen, operands, o->seen.count) && !GUARD_FAILS())
        result = dv_operate_run(vm, o, operands);
    if (dv_is_empty(result)) return dv_slow_raise(vm->ip, sp, fp, vm, 0, 0); /* at_node */
    if (dv_operate_is_rare(result)) return dv_operate_miss(ip, sp, fp, vm, r, d);
    for (uint32_t i = 0; i < below; i++)
        if (o->owned >> i & 1) dv_release(vm, sp[(int64_t)i - below]);
    vm->sp = sp - below + !o->stores;
    if (!o->stores) vm->sp[-1] = result;
    return ip + o->seen.length;
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
