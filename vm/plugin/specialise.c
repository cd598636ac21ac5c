/* specialise.c: asking types of extensions about hot sites, and what they answer with
 * (specialise.h; dynvm_ext.h: dvx_site).
 *
 * Invariants
 *  1. A type is asked only about sites that have an object of exactly this type among their
 * operands: what dl classes that derive from it have redefined is never left out.
 *  2. Whatever a hook does, the site is what it was, or has the derivative: nothing is installed
 *     before the hook has returned, without an error, and the cell still is what it was. */
#include "plugin/specialise.h"

#include "dv_ops.h"
#include "core/upcall.h"
#include "plugin/debug.h"
#include "plugin/expression.h"
#include "plugin/handlers.h"
#include "plugin/origin.h"
#include "quicken/site.h"
#include "types/class/class.h"

typedef struct dv_asking {
    dvx_site site; /* first: what the hook knows it by */
    dvx_operand operands[DV_MOST_OPERANDS];
    dv_vm *vm;
    dv_cell *ip;
    dv_thread *thread; /* NULL: a copy of the site in a region */
    dv_value *values;
    const dv_extension_site *former; /* whose drops a new one must have, too; or NULL */
    uint32_t family;
    bool method;
    uint64_t callee;
    uint8_t own;
    const dv_extension *extension; /* whose hook is running */
    const dv_extension_type *type;
    dv_drop drops[DV_MOST_OPERANDS];
    dv_extension_site *made;
    dv_expression *expression; /* that ends in the site; or NULL */
    dv_extension_site *fused;  /* ... and its derivative */
    const char *reason;
    const char *whole, *unfused; /* what becomes of the expression (occurrence.h) */
} asking;

static void refuse(asking *a, const char *reason) { a->reason = reason; }

/* ---- Families ---- */

void dv_specialise_family(uint32_t op, uint32_t own, dvx_family *family, uint32_t *operation) {
    *operation = 0;
    if (dv_op_among(op, DV_OP_ADD, DV_OP_XOR)) {
        *family = own & DV_OWN_INPLACE ? DVX_SITE_INPLACE : DVX_SITE_BINARY;
        *operation = op - DV_OP_ADD;
    } else if (dv_op_among(op, DV_OP_NEG, DV_OP_INVERT))
        *family = DVX_SITE_UNARY, *operation = op - DV_OP_NEG;
    else if (dv_op_among(op, DV_OP_LT, DV_OP_NE))
        *family = DVX_SITE_COMPARE, *operation = op - DV_OP_LT;
    else if (op == DV_OP_LOAD_SUBSCR)
        *family = DVX_SITE_GET_ITEM;
    else if (op == DV_OP_STORE_SUBSCR)
        *family = DVX_SITE_SET_ITEM;
    else
        *family = DVX_SITE_ATTRIBUTE;
}

static void describe_family(asking *a) {
    dv_specialise_family(a->family, a->ip[1].extended.own, &a->site.family, &a->site.operation);
    if (a->site.family == DVX_SITE_ATTRIBUTE) a->site.name = a->ip[2].v;
}

/* ---- Origins ---- */

static dv_cell *cell_at(const asking *a, uint32_t pc) {
    return a->thread->cells + a->thread->cell_at[pc];
}

const dv_extension_site *dv_specialise_at(dv_vm *vm, const dv_thread *thread, uint32_t pc) {
    const dv_cell *cell = thread->cells + thread->cell_at[pc];
    if (dv_op_of(vm, cell->h) < DV_OP_COUNT) return NULL;
    const dv_extension_site *o = dv_occurrence_if_any(vm, cell);
    if (!o || cell->h != o->handler) return NULL;
    if (o->under) o = o->under;
    return !o->broken && o->derivative.name ? o : NULL;
}

static const dv_extension_site *derived_at(const asking *a, uint32_t pc) {
    return dv_specialise_at(a->vm, a->thread, pc);
}

static dvx_origin origin_of(const asking *a, uint32_t pc) {
    switch (a->thread->code->words[pc] & 0xFF) {
    case DV_OP_LOAD_CONST:
    case DV_OP_LOAD_CONST_B: return DVX_FROM_CONSTANT;
    case DV_OP_LOAD_LOCAL:
    case DV_OP_LOAD_LOCAL_B:
    case DV_OP_LOAD_LOCAL_CHECK:
    case DV_OP_LOAD_OUTER_CHECK: return DVX_FROM_LOCAL;
    case DV_OP_LOAD_GLOBAL:
    case DV_OP_LOAD_GLOBAL_CALLEE: {
        uint32_t op = dv_op_of(a->vm, cell_at(a, pc)->h);
        bool kept = op < DV_OP_COUNT && dv_op_infos[op].kind == DV_KIND_DERIVATIVE;
        return kept ? DVX_FROM_GLOBAL : DVX_FROM_ELSEWHERE;
    }
    default: return DVX_FROM_SITE;
    }
}

/* Without side effects in itself, and how many operands it has; -1: it is not known to be. */
static int pure_inputs(const asking *a, uint32_t pc) {
    const dv_code *code = a->thread->code;
    uint32_t generic = code->words[pc] & 0xFF, op = dv_op_of(a->vm, cell_at(a, pc)->h);
    const dv_extension_site *derived = derived_at(a, pc);
    if (derived) return derived->derivative.pure ? (int)derived->derivative.count : -1;
    if (generic == DV_OP_BUILD_TUPLE || generic == DV_OP_BUILD_KEY || generic == DV_OP_BUILD_SLICE)
        return (int)(code->words[pc] >> 8);
    if (op >= DV_OP_COUNT || dv_op_infos[op].kind != DV_KIND_DERIVATIVE) return -1;
    const dv_op_info *info = &dv_op_infos[op];
    for (int i = 0; i < info->inputs; i++)
        if (info->types[i] != DV_RESULT_INT && info->types[i] != DV_RESULT_FLOAT) return -1;
    return info->outputs == 1 && info->inputs > 0 && info->covers == DV_OP_NOP ? info->inputs : -1;
}

/* Is what the instruction pushes made without side effects, through and through? */
static bool is_pure(const asking *a, uint32_t pc) {
    enum { MOST = 32 }; /* instructions that are looked at */
    uint32_t found[MOST], count = 1;
    found[0] = pc;
    for (uint32_t i = 0; i < count; i++) {
        if (found[i] == DV_NO_PC) return false;
        if (origin_of(a, found[i]) == DVX_FROM_ELSEWHERE) return false;
        if (origin_of(a, found[i]) != DVX_FROM_SITE) continue;
        int inputs = pure_inputs(a, found[i]);
        if (inputs < 0 || count + (uint32_t)inputs > MOST) return false;
        if (!dv_origin_find(a->vm, a->thread, found[i], (uint32_t)inputs, found + count))
            return false;
        count += (uint32_t)inputs;
    }
    return true;
}

static void describe_origin(const asking *a, dvx_operand *operand, uint32_t maker) {
    if (maker == DV_NO_PC) return;
    operand->origin = origin_of(a, maker);
    operand->where = operand->origin == DVX_FROM_LOCAL ? a->thread->code->words[maker] >> 8 : maker;
    operand->pure = is_pure(a, maker);
    if (operand->origin != DVX_FROM_SITE) return;
    operand->temporary = a->own >> (operand - a->operands) & 1;
    const dv_extension_site *derived = derived_at(a, maker);
    if (derived) operand->maker = derived->descriptor;
}

/* Entries of a call: the callee is not directly below the arguments. */
static bool find_makers(const asking *a, uint32_t *makers) {
    uint32_t pc = a->site.where, n = a->site.count, all[DV_MOST_OPERANDS + 3];
    if (a->site.family != DVX_SITE_CALL) return dv_origin_find(a->vm, a->thread, pc, n, makers);
    uint32_t below = n + 2 + a->method;
    if (!dv_origin_find(a->vm, a->thread, pc, below, all)) return false;
    makers[0] = all[0];
    memcpy(makers + 1, all + below - (n - 1), (n - 1) * sizeof *makers);
    return true;
}

static void describe_operands(asking *a) {
    uint32_t makers[DV_MOST_OPERANDS];
    bool known = a->thread && find_makers(a, makers);
    for (uint32_t i = 0; i < a->site.count; i++) {
        dv_value v = a->values[i];
        a->operands[i] = (dvx_operand){.value = v};
        if (dv_is_foreign(v)) a->operands[i].type = dv_extension_type_of(a->vm, v)->descriptor;
        if (known) describe_origin(a, &a->operands[i], makers[i]);
    }
    a->site.operands = a->operands;
}

/* ---- Answers ---- */

/* Is this the site that is being asked about? */
static asking *given(dv_vm *vm, dvx_site *site) {
    asking *a = (asking *)(void *)site;
    return vm->extensions.plugins->asking == a ? a : NULL;
}

static const char *fault_of(const asking *a, const dvx_specialisation *d) {
    if (d->size < DV_SIZE_UP_TO(dvx_specialisation, run) || !d->name || !d->run)
        return "the extension's derivative is malformed";
    if (d->family != a->site.family || d->count != a->site.count)
        return "the extension's derivative is for another family, or number of operands";
    if (!dv_is_empty(a->site.keywords) &&
        (d->size < DV_SIZE_UP_TO(dvx_specialisation, keywords) || !d->keywords))
        return "the extension's derivative is for calls without keywords";
    return NULL;
}

/* Facts about operands that cannot hold. */
static const char *fault_of_facts(const asking *a, const dvx_specialisation *d) {
    if ((d->any | d->meta) >> d->count)
        return "the extension's derivative names operands beyond its own";
    if (d->cache_size > PTRDIFF_MAX / 2) return "the extension's derivative is malformed";
    for (uint32_t i = 0; i < d->count; i++) {
        if (!(d->meta >> i & 1)) continue;
        if (!dv_is_foreign(a->values[i]) || d->any >> i & 1 || a->drops[i].load ||
            !dv_extension_type_of(a->vm, a->values[i])->described.has_meta)
            return "the extension's derivative asks for a flag that the operand has not";
    }
    return NULL;
}

void *dv_api_specialise(dvx_vm *vm, dvx_site *site, const dvx_specialisation *derivative) {
    asking *a = given(vm, site);
    if (!a) return NULL;
    if (a->made) return refuse(a, "the extension specialised the site twice"), NULL;
    const char *fault = fault_of(a, derivative);
    dvx_specialisation own;
    if (fault || !dv_extension_copy(&own, sizeof own, derivative, sizeof derivative->size))
        return refuse(a, fault), NULL;
    fault = fault_of_facts(a, &own);
    if (fault) return refuse(a, fault), NULL;
    dv_extension_site *o = dv_occurrence_new(vm, a->ip, a->family, own.cache_size, a->thread);
    if (!o) return refuse(a, "the site was specialised too often, or memory is short"), NULL;
    o->derivative = own;
    o->descriptor = derivative;
    o->type = a->type;
    o->careful = own.meta || own.guard || vm->extensions.plugins->debug;
    o->kind = site->family;
    o->stores = site->family == DVX_SITE_SET_ITEM;
    o->method = a->method;
    o->seen.callee = a->callee;
    memcpy(o->drops, a->drops, sizeof o->drops);
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) a->drops[i].original = DV_EMPTY;
    dv_occurrence_expect(vm, o, a->values);
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++)
        if (o->drops[i].global &&
            !dv_assumption_depend(vm, &o->drops[i].global->constant, &o->dependent))
            o->broken = true;
    a->made = o;
    return o->cache;
}

bool dv_api_drop_operand(dvx_vm *vm, dvx_site *site, uint32_t i) {
    asking *a = given(vm, site);
    if (!a || i >= a->site.count || a->made) return false;
    const char *reason = "an operand to be dropped comes from several places";
    uint32_t makers[DV_MOST_OPERANDS];
    bool known = a->thread && find_makers(a, makers) && makers[i] != DV_NO_PC;
    if (known && a->drops[i].load) return true;
    if (known && dv_drop_prepare(vm, a->thread, makers[i], a->site.where,
                                 dv_origin_straight(a->thread->code, a->site.where), a->values[i],
                                 &a->drops[i], &reason))
        return true;
    a->drops[i] = (dv_drop){.original = DV_EMPTY};
    refuse(a, reason);
    return false;
}

/* The largest expression that begins at `start` or behind it. */
static const dvx_expression *find_expression(asking *a, uint32_t start) {
    dv_vm *vm = a->vm;
    dv_expression *x = a->expression;
    dvx_family family = a->site.family;
    /* Copies of sites in regions have none of their own; the debug table lends the operands of the
     * site alone. */
    if (!a->thread || !a->made || vm->extensions.plugins->debug) return NULL;
    const char *reason;
    if (a->family == DV_OP_LOAD_METHOD) return NULL;
    const uint32_t self = family == DVX_SITE_CALL; /* of a function that is a method, too */
    if (a->site.method ? a->site.count > self + 3 : a->callee != 0) return NULL;
    bool found = dv_expression_find(vm, a->thread, a->site.where, a->made, a->extension, a->values,
                                    start, x, &reason);
    if (!found && !a->unfused) a->unfused = reason;
    return found ? &x->told : NULL;
}

const dvx_expression *dv_api_expression(dvx_vm *vm, dvx_site *site) {
    asking *a = given(vm, site);
    if (!a || !a->expression) return NULL;
    return a->expression->told.size ? &a->expression->told : find_expression(a, 0);
}

const dvx_expression *dv_api_smaller_expression(dvx_vm *vm, dvx_site *site) {
    asking *a = given(vm, site);
    if (!a || !a->expression || !a->expression->told.size || a->fused) return NULL;
    uint32_t start = a->expression->start + 1;
    dv_expression_forget(vm, a->expression);
    return find_expression(a, start);
}

void *dv_api_fuse(dvx_vm *vm, dvx_site *site, const dvx_specialisation *derivative) {
    asking *a = given(vm, site);
    dv_expression *x = a ? a->expression : NULL;
    dvx_specialisation own;
    if (!x || !x->told.size || !a->made || a->fused) return NULL;
    if (!dv_extension_copy(&own, sizeof own, derivative, sizeof derivative->size) ||
        own.size < DV_SIZE_UP_TO(dvx_specialisation, run) || !own.name || !own.run ||
        own.family != site->family || own.count != x->told.operand_count ||
        (own.any | own.meta) >> own.count || own.cache_size > PTRDIFF_MAX / 2)
        return refuse(a, "the extension's derivative of the expression is malformed"), NULL;
    for (uint32_t i = 0; i < own.count; i++)
        if (own.meta >> i & 1 && (own.any >> i & 1 || !x->operands[i].type || x->sources[i].load ||
                                  !x->operands[i].type->has_meta))
            return refuse(a, "the extension's derivative asks for a flag that the operand has not"),
                   NULL;
    a->whole = derivative->name;
    dv_extension_site *o = dv_expression_new(vm, x, a->thread, &own);
    if (!o) return NULL;
    o->descriptor = derivative;
    o->type = a->type;
    o->careful = own.meta || own.guard;
    a->fused = o;
    return o->cache;
}

/* The occurrence that a cache belongs to. */
static dv_extension_site *site_of(const void *cache) {
    return (dv_extension_site *)(uintptr_t)((const char *)cache -
                                            offsetof(dv_extension_site, cache));
}

void dv_api_note(dvx_vm *vm, const void *cache, const char *why) {
    (void)vm;
    dv_notes_add(&site_of(cache)->notes, why, 1);
}

void dv_api_count(dvx_vm *vm, const void *cache, const char *what) {
    if (vm->profile) dv_notes_add(&site_of(cache)->counts, what, 1);
}

void dv_api_at_node(dvx_vm *vm, const void *cache, uint32_t node) {
    const dv_extension_site *o = site_of(cache);
    if (!o->under || node >= o->node_count) return;
    const bool in_region = vm->ip < o->cell || vm->ip >= o->cell + o->seen.length;
    if (!in_region)
        vm->ip = o->cell + o->nodes[node];
    else if (o->running_at)
        vm->ip = node ? o->running_at + dv_op_infos[DV_OP_R_EXPRESSION].length +
                            (node - 1) * dv_op_infos[DV_OP_R_NODE].length
                      : o->running_at;
}

void dv_api_decline(dvx_vm *vm, dvx_site *site, const char *reason) {
    asking *a = given(vm, site);
    if (a && a->made)
        a->unfused = reason;
    else if (a)
        refuse(a, reason);
}

dvx_assumption *dv_api_make_assumption(dvx_vm *vm) {
    dvx_assumption *made = dv_heap_alloc(&vm->heap, sizeof *made);
    if (!made) {
        dv_raise_memory(vm);
        return NULL;
    }
    *made = (dvx_assumption){.next = vm->extensions.plugins->assumptions};
    vm->extensions.plugins->assumptions = made;
    return made;
}

bool dv_api_assume(dvx_vm *vm, dvx_site *site, dvx_assumption *assumption) {
    asking *a = given(vm, site);
    if (!a || !a->made) return false;
    bool done = dv_assumption_depend(vm, &assumption->assumption, &a->made->dependent);
    if (!done) a->made->broken = true;
    if (!a->fused) return done;
    if (!dv_assumption_depend(vm, &assumption->assumption, &a->fused->dependent))
        a->fused->broken = true;
    return done;
}

void dv_api_break_assumption(dvx_vm *vm, dvx_assumption *assumption) {
    dv_assumption_break(vm, &assumption->assumption);
}

bool dv_api_is_unique(dvx_vm *vm, dvx_value v) {
    (void)vm;
    return dv_is_object(v) && dv_as_object(v)->references == 1;
}

/* ---- Asking ---- */

static const dv_extension *extension_of(const dv_vm *vm, const dv_extension_type *type) {
    const dv_extension *e = vm->extensions.plugins->extensions;
    for (; e; e = e->next)
        for (const dv_extension_type *t = e->types; t; t = t->next)
            if (t == type) return e;
    return e;
}

/* Nothing of the site has changed while the hook ran. */
static bool is_untouched(const asking *a, dv_handler before) {
    return a->ip->h == before && dv_is_empty(a->vm->error);
}

static void install(asking *a) {
    dv_extension_site *o = a->made;
    bool native = a->extension && a->extension->native && !a->vm->extensions.no_native;
    o->times++;
    o->handler = dv_operate_handler(a->vm, o, native);
    o->seen.length = dv_op_infos[a->family].length;
    o->fused = a->whole;
    o->unfused = a->whole ? NULL : a->unfused;
    if (a->vm->hooks.inspect.changed)
        a->vm->hooks.inspect.changed(a->vm, a->ip, dv_op_of(a->vm, a->ip->h), DV_OP_COUNT);
    a->ip->h = o->handler;
    o->backoff = a->former ? a->former->backoff : a->ip[1].site.backoff;
    dv_occurrence_enter(o, a->ip);
    if (a->thread) dv_drop_install(a->vm, o);
}

/* Asks one type; true: the site has been specialised. */
static bool ask(asking *a, const dv_extension_type *type) {
    dv_vm *vm = a->vm;
    const asking *outer = vm->extensions.plugins->asking;
    dv_handler before = a->ip->h;
    dv_expression expression;
    expression.told.size = 0;
    if (!type->described.specialise) return false;
    a->extension = extension_of(vm, type);
    a->type = type;
    a->expression = &expression;
    a->fused = NULL;
    a->whole = a->unfused = NULL;
    vm->extensions.plugins->asking = a;
    if (vm->extensions.plugins->debug)
        dv_debug_specialise(vm, type, &a->site);
    else
        type->described.specialise(vm, &a->site);
    vm->extensions.plugins->asking = outer;
    a->expression = NULL;
    if (expression.told.size) dv_expression_forget(vm, &expression);
    bool untouched = is_untouched(a, before);
    if (!dv_is_empty(vm->error)) refuse(a, "the extension's hook raised an exception");
    dv_error_clear(vm);
    bool covers = a->made && (!a->former || dv_drop_covers(a->former, a->made));
    if (covers && untouched && !a->made->broken) {
        install(a);
        if (a->fused && !dv_expression_install(vm, a->fused)) dv_occurrence_void(vm, a->fused);
        return true;
    }
    if (a->fused) dv_occurrence_void(vm, a->fused);
    if (a->made && !covers)
        refuse(a, "the derivative needs operands that a former one of the site has dropped");
    if (a->made && !untouched && !a->reason) refuse(a, "the site changed while it was specialised");
    if (a->made) dv_occurrence_void(vm, a->made);
    a->made = NULL;
    return false;
}

static void forget_drops(asking *a) {
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) {
        dv_value original = a->drops[i].original;
        a->drops[i] = (dv_drop){.original = DV_EMPTY};
        dv_release(a->vm, original);
    }
}

/* Every type among the operands once, from the left. */
static bool ask_all(asking *a) {
    bool done = false;
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) a->drops[i].original = DV_EMPTY;
    describe_operands(a);
    for (uint32_t i = 0; i < a->site.count && !done; i++) {
        const dvx_type *type = a->operands[i].type;
        bool asked = !type;
        for (uint32_t j = 0; j < i; j++) asked |= a->operands[j].type == type;
        if (asked) continue;
        done = ask(a, dv_extension_type_of(a->vm, a->values[i]));
        forget_drops(a);
    }
    return done;
}

/* Why the site was left alone: the next execution of `explain` says so. */
static void note(const asking *a) {
    if (!a->thread || !a->reason) return;
    dv_extension_site *o = dv_occurrence_of(a->vm, a->ip);
    if (!o) o = dv_occurrence_new(a->vm, a->ip, a->family, 0, a->thread);
    if (o) o->reason = a->reason;
}

static bool begin(asking *a, dv_vm *vm, dv_cell *ip, uint32_t family) {
    dv_thread *thread = dv_frame_thread(vm->fp);
    if (vm->extensions.plugins->asking) return false; /* not from within a hook */
    if (vm->extensions.plain) return false;
    *a = (asking){.vm = vm, .ip = ip, .family = family, .own = 0xFF};
    a->site = (dvx_site){
        .size = sizeof a->site, .name = DV_EMPTY, .where = DV_NO_PC, .keywords = DV_EMPTY};
    if (dv_thread_owns(thread, ip)) {
        a->thread = thread;
        a->site.where = dv_thread_pc(thread, ip);
        const dv_extension_site *before = dv_occurrence_of(vm, ip);
        if (before) a->site.times = before->times;
    } else if (ip[1].site.backoff > 4) {
        return false; /* each copy has occurrences of its own: not too many of them */
    }
    return true;
}

static bool specialise_operator(dv_vm *vm, dv_cell *ip, uint32_t family,
                                const dv_extension_site *former) {
    asking a;
    if (!begin(&a, vm, ip, family)) return false;
    a.former = former;
    describe_family(&a);
    a.site.count = dv_op_infos[family].inputs;
    a.values = vm->sp - a.site.count;
    a.own = family == DV_OP_LOAD_METHOD ? 1 : ip[1].extended.own;
    if (ask_all(&a)) return true;
    note(&a);
    return false;
}

bool dv_specialise(dv_vm *vm, dv_cell *ip) {
    return specialise_operator(vm, ip, dv_op_infos[dv_op_of(vm, ip->h)].family, NULL);
}

bool dv_specialise_again(dv_vm *vm, dv_cell *ip, const dv_extension_site *former) {
    return specialise_operator(vm, ip, former->family, former);
}

/* An object that is called, or self. */
static bool ask_type(asking *a, const dv_extension_type *type) {
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) a->drops[i].original = DV_EMPTY;
    describe_operands(a);
    bool done = ask(a, type);
    forget_drops(a);
    if (!done) note(a);
    return done;
}

/* The method that a function is by another name; NULL: none. */
static const dvx_function *method_of(const dv_extension_type *type, const dvx_function *function) {
    for (uint32_t i = 0; i < type->described.method_count; i++)
        if (type->described.methods[i]->entry == function->entry) return type->described.methods[i];
    return NULL;
}

/* A function that is a method of its first argument, or shown to it, which is asked as if it were
 * self. */
static bool ask_argument(asking *a, dv_value callee) {
    const dv_cfunction_def *def = ((const dv_cfunction *)dv_as_object(callee))->def;
    if (a->site.count < 2 || !dv_is_foreign(a->values[1])) return false;
    const dv_extension_type *type = dv_extension_type_of(a->vm, a->values[1]);
    a->callee = (uintptr_t)def;
    const dv_extension_function *function = (const dv_extension_function *)(const void *)def;
    a->site.method = method_of(type, function->descriptor);
    if (!a->site.method && function->described.shown) a->site.method = function->descriptor;
    return a->site.method && ask_type(a, type);
}

/* `callee` stands below the reserved entries; self, if it has one, in front of the arguments. */
bool dv_specialise_call(dv_vm *vm, dv_cell *ip, const dv_value *callee, uint32_t count,
                        bool method) {
    asking a;
    dv_value values[DV_MOST_OPERANDS];
    bool has_self = method && !dv_is_empty(callee[3]);
    uint32_t family = dv_site_family(vm, ip);
    if (count + 1 > DV_MOST_OPERANDS || !begin(&a, vm, ip, family)) return false;
    a.method = method;
    a.values = values;
    a.site.count = count + 1;
    a.site.family = has_self ? DVX_SITE_METHOD : DVX_SITE_CALL;
    if (dv_operate_is_named(family)) a.site.keywords = ip[3].v;
    memcpy(values + 1, callee + 3 + method, count * sizeof *values);
    values[0] = has_self ? callee[3] : *callee;
    if (has_self) {
        const dv_cfunction_def *def = ((const dv_cfunction *)dv_as_object(*callee))->def;
        if (!dv_is_foreign(values[0])) return false;
        a.callee = (uintptr_t)def;
        a.site.method = ((const dv_extension_function *)(const void *)def)->descriptor;
        return ask_type(&a, dv_extension_type_of(vm, values[0]));
    }
    if (dv_is_foreign(*callee)) return ask_type(&a, dv_extension_type_of(vm, *callee));
    if (dv_is_shape(*callee, DV_T_CFUNCTION)) return ask_argument(&a, *callee);
    if (!dv_is_class(*callee)) return false;
    a.callee = callee->bits;
    return ask_type(&a,
                    (const dv_extension_type *)(const void *)vm->types[dv_as_class(*callee)->type]);
}

/* ---- Listings ---- */

uint32_t dv_extension_result(dvx_kind kind) {
    return kind == DVX_INT     ? (uint32_t)DV_RESULT_INT
           : kind == DVX_FLOAT ? (uint32_t)DV_RESULT_FLOAT
           : kind == DVX_BOOL  ? (uint32_t)DV_RESULT_BOOL
                               : (uint32_t)DV_RESULT_NONE_KNOWN;
}

bool dv_specialise_form(dv_vm *vm, const dv_cell *ip, dv_foreign_form *form) {
    dv_extension_handler which = dv_extension_handler_is(ip->h);
    if (which >= DV_X_dropped_1 && which < DV_X_COUNT) {
        static const char *const names[] = {"DROPPED", "DROPPED 2", "DROPPED 3", "DROPPED",
                                            "DROPPED"};
        bool group = which >= DV_X_dropped_group_5;
        bool global = !group && which >= DV_X_dropped_global;
        uint32_t covers = 0; /* cells */
        if (group) covers = (uint32_t)which - DV_X_dropped_group_5 + DV_LEAST_GROUP;
        if (which == DV_X_dropped_2 || which == DV_X_dropped_3)
            covers = DV_DROP_LENGTH * ((uint32_t)which - DV_X_dropped_1 + 1);
        *form = (dv_foreign_form){.name = group ? "DROPPED" : names[which - DV_X_dropped_1],
                                  .length = global ? DV_DROP_GLOBAL_LENGTH : DV_DROP_LENGTH,
                                  .covers = covers,
                                  .where = "vm/plugin/drop.c:1",
                                  .load = true};
        return true;
    }
    const dv_extension_site *o = dv_occurrence_if_any(vm, ip);
    if (!o) return false;
    bool refills = ip->h == dv_operate_refill;
    if (ip->h != o->handler && !refills) return false;
    *form = (dv_foreign_form){
        .name = refills ? "(refills)" : o->derivative.name,
        .tier = refills ? NULL
                : o->handler == o->derivative.native || o->handler == o->derivative.native_method
                    ? "native"
                    : "portable",
        .length = dv_op_infos[o->family].length,
        .covers = o->under ? o->seen.length : 0,
        .where = o->derivative.where,
        .expression = o->under != NULL,
        .result = refills || o->under ? 0 : dv_extension_result(o->derivative.result)};
    return true;
}

const char *dv_specialise_reason(dv_vm *vm, const dv_cell *ip) {
    const dv_extension_site *o = dv_occurrence_of(vm, ip);
    return o ? o->reason : NULL;
}

static void add_notes(dv_notes *sum, const dv_notes *notes) {
    for (int i = 0; i < DV_MOST_NOTES && notes->all[i].why; i++)
        dv_notes_add(sum, notes->all[i].why, notes->all[i].count);
}

bool dv_specialise_report(dv_vm *vm, const dv_cell *ip, dv_foreign_report *report) {
    const dv_extension_site *o = dv_occurrence_of(vm, ip), *newest = o;
    *report = (dv_foreign_report){.times = o ? o->times : 0};
    for (; o; o = o->next) {
        if (o->cell != ip) continue;
        add_notes(&report->notes, &o->notes);
        add_notes(&report->counts, &o->counts);
    }
    if (newest) report->fused = newest->fused, report->unfused = newest->unfused;
    return newest != NULL;
}
