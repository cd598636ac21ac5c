/* promise.c: what a loop promises: the derivatives in its INCA code say which of its work could be
 * done without boxes.
 *
 * Invariants
 *  1. This costs a twentieth of an analysis, and decides only when a loop is analysed: sites that
 *     never ran count for nothing.  What is counted is what the analysis counts (step.c); where it
 *     depends on more than the site what becomes of an instruction, that counts for nothing. */
#include "region/analyse/promise.h"

#include "core/raw.h"
#include "quicken/polymorphic.h"
#include "region/run/function.h"
#include "region/step/operator.h"
#include "region/step/step.h"
#include "region/step/text.h"
#include "types/callable/function.h"
#include "types/class/descriptor.h"

typedef enum verdict { UNKNOWN, TYPED, BOXED } verdict;

enum {
    MOST_LOOPS = 16, /* that are looked at */
    HEAVIEST = 512,  /* the weight of an instruction in loops of loops, at most */
    MOST_CALLS = 2   /* callees in callees that are looked into */
};

/* The loops within the loop, and itself. */
typedef struct loops {
    uint32_t head[MOST_LOOPS], back[MOST_LOOPS];
    uint32_t count;
} loops;

static uint32_t words_at(const dv_code *code, uint32_t pc) {
    uint32_t n = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return n > 1 ? n : 1;
}

static loops find_loops(const dv_code *code, uint32_t begin, uint32_t end) {
    loops found;
    found.count = 0;
    if (!(code->flags & DV_CODE_HAS_LOOP)) return found;
    for (uint32_t pc = begin; pc < end && found.count < MOST_LOOPS; pc += words_at(code, pc))
        if ((code->words[pc] & 0xFF) == DV_OP_JUMP_BACK) {
            found.head[found.count] = code->words[pc] >> 8;
            found.back[found.count++] = pc;
        }
    return found;
}

static uint32_t weight_at(const loops *in, uint32_t pc) {
    uint32_t weight = 1;
    for (uint32_t i = 0; i < in->count && weight < HEAVIEST; i++)
        if (in->head[i] <= pc && pc <= in->back[i]) weight *= 8;
    return weight;
}

/* A number beside what is none is raw in its branch alone. */
static verdict judge_seen(const dv_site *site) {
    const uint16_t numbers = DV_SEEN_INT | DV_SEEN_FLOAT;
    if (!(site->seen & numbers)) return BOXED;
    return site->seen & ~numbers ? UNKNOWN : TYPED;
}

/* Nothing may have been seen: constants need no evidence. */
static verdict judge_stored(const dv_site *site) {
    return site->seen & ~(DV_SEEN_INT | DV_SEEN_FLOAT) ? BOXED : TYPED;
}

/* A C function that takes raw arguments, or asks about a character, or a built-in class that
 * regions make raw. */
static verdict judge_callee(const dv_vm *vm, const dv_cell *cell, const dv_op_info *info) {
    const dv_cell *cache = cell + info->cache_cell;
    const dv_cfunction_def *def = cache->p;
    const bool raw =
        info->cached[0] == DV_CACHED_CLASS
            ? cache->p == vm->classes[DV_T_COMPLEX] || dv_step_class_raws(vm, cache->p) != NULL
            : def->raw || dv_text_question((dv_text){def->name, (uint32_t)strlen(def->name)});
    return raw ? UNKNOWN : BOXED;
}

static verdict judge_derivative(const dv_vm *vm, const dv_cell *cell, const dv_op_info *info) {
    switch ((dv_promises)info->promises) {
    case DV_PROMISES_NOTHING: break;
    case DV_PROMISES_TYPED: return TYPED;
    case DV_PROMISES_BOXED: return BOXED;
    case DV_PROMISES_SEEN: return judge_seen(&cell[1].site);
    case DV_PROMISES_MIXED: return TYPED; /* in branches by kind */
    case DV_PROMISES_STORED: return judge_stored(&cell[1].site);
    case DV_PROMISES_CALLEE: return judge_callee(vm, cell, info);
    }
    return UNKNOWN;
}

static verdict judge(dv_vm *vm, const dv_cell *cell, uint32_t generic, uint32_t op) {
    if (op >= DV_OP_COUNT) return UNKNOWN; /* an extension's */
    const dv_site *site = &cell[1].site;
    if (dv_operator_is_entered(op)) return UNKNOWN;
    if (dv_op_infos[op].kind == DV_KIND_DERIVATIVE)
        return judge_derivative(vm, cell, &dv_op_infos[op]);
    if (op == generic) return BOXED;
    /* What extensions' objects have, constants and functions with raw arguments, has no
     * derivatives. */
    bool foreign = generic == DV_OP_LOAD_METHOD || generic == DV_OP_LOAD_ATTR ||
                   generic == DV_OP_CALL || generic == DV_OP_CALL_METHOD ||
                   generic == DV_OP_BUILD_KEY;
    bool found_nothing = site->reason != DV_REASON_COVERED && site->backoff > 0;
    return found_nothing && !foreign ? BOXED : UNKNOWN;
}

typedef struct scan {
    dv_vm *vm;
    const dv_thread *producer; /* the code of the generator that the loop walks, or NULL */
    dv_promise *promise;
    uint64_t heaviest;
    int depth;         /* of calls */
    bool makes;        /* instances */
    bool makes_fields; /* named tuples */
    /* Comparisons without a derivative, and the last one's place.  Those of instances that are not
     * made are answered.  And fields of named tuples, likewise. */
    uint64_t compared;
    uint32_t compared_pc;
    uint64_t fields;
    uint32_t field_pc;
} scan;

static void count(scan *s, bool typed, uint32_t pc, uint64_t weight) {
    *(typed ? &s->promise->typed : &s->promise->boxed) += weight;
    if (!typed && weight > s->heaviest && s->depth == 0) s->heaviest = weight, s->promise->pc = pc;
}

static void scan_code(scan *s, const dv_thread *thread, uint32_t begin, uint32_t end,
                      uint32_t weight);

static bool may_be_inlined(const dv_thread *thread, const dv_thread *caller) {
    const dv_code *code = thread->code;
    return thread != caller && code->word_count <= DV_INLINE_WORDS &&
           !(code->flags & DV_CODE_HAS_LOOP);
}

static bool is_method_of_several(uint32_t op) {
    return dv_is_poly(op) && dv_op_infos[op].family == DV_OP_LOAD_METHOD;
}

static bool is_method(uint32_t op) {
    const dv_saw saw = op < DV_OP_COUNT ? (dv_saw)dv_op_infos[op].saw : DV_SAW_NOTHING;
    return saw == DV_SAW_METHOD || saw == DV_SAW_UNBOUND || saw == DV_SAW_BOUND ||
           is_method_of_several(op);
}

/* Of what the classes have that a site met, the first stands for all. */
static dv_value met_first(const dv_vm *vm, const dv_poly *poly) {
    const dv_poly_entry *entry = poly->entries, *end = entry + DV_POLY_ENTRIES;
    while (entry < end && entry->shape && !dv_shape_lives(vm, entry->shape)) entry++;
    return entry < end && entry->cell ? entry->cell->value : DV_EMPTY;
}

/* The dl function that the site loads to be called, or enters itself; NULL: not known. */
static const dv_thread *known_callee(dv_vm *vm, const dv_cell *cell, uint32_t op) {
    dv_value callee;
    const bool method = is_method(op);
    if (is_method_of_several(op)) {
        callee = met_first(vm, cell[dv_op_infos[op].cache_cell].p);
    } else if (method || (op < DV_OP_COUNT && dv_op_infos[op].saw == DV_SAW_GLOBAL)) {
        const dv_cell *cache = cell + dv_op_infos[op].cache_cell + method;
        if (method && !dv_shape_lives(vm, (uint32_t)cache[-1].s.a)) return NULL;
        callee = ((const dv_global_cell *)cache->p)->value;
        const dv_value unbound = dv_method_unbound(callee);
        if (!dv_is_empty(unbound)) callee = unbound;
    } else {
        callee = dv_operator_met(vm, cell, op);
    }
    if (dv_is_empty(callee) || !dv_is_function(callee)) return NULL;
    return dv_function_thread(dv_as_function(callee));
}

/* What a call executes is part of the loop if it may be inlined; if the function may have a region
 * of its own, that is not asked; else finding a method is an instruction on objects, and so is the
 * call. */
static void scan_callee(scan *s, const dv_cell *cell, uint32_t op, const dv_thread *caller,
                        uint32_t pc, uint32_t weight) {
    const dv_thread *thread = known_callee(s->vm, cell, op);
    if (!thread || !thread->warm || s->depth >= MOST_CALLS) return;
    if (!may_be_inlined(thread, caller)) {
        if (!dv_function_is_callable(thread))
            count(s, false, pc, is_method(op) ? 2 * weight : weight);
        return;
    }
    s->depth++;
    scan_code(s, thread, 0, thread->code->word_count, weight);
    s->depth--;
}

/* What regions assume of the class will not hold for long. */
static bool changes_class(uint32_t generic, const dv_cell *cell) {
    return generic == DV_OP_STORE_ATTR && cell[1].site.reason == DV_REASON_CLASS;
}

/* What instructions weigh that are boxed in all regions, or nearly so: tuples that last. */
static uint32_t weight_of_boxed(const dv_code *code, uint32_t pc) {
    const uint32_t op = code->words[pc] & 0xFF;
    const uint32_t behind = pc + 1 < code->word_count ? code->words[pc + 1] & 0xFF : DV_OP_NOP;
    if (op == DV_OP_BUILD_TUPLE) return behind != DV_OP_UNPACK_SEQUENCE && behind != DV_OP_RETURN;
    const dv_op_info *info = &dv_op_infos[op];
    if (!info->counts) return 0;
    return info->region == DV_REGION_YIELDS   ? DV_YIELD_WEIGHS
           : info->region == DV_REGION_LEAVES ? DV_LEAVING_WEIGHT
                                              : 1;
}

/* Methods of built-in types: it found the method as well. */
static uint64_t factor_of(uint32_t generic, uint32_t op) {
    if (generic == DV_OP_CALL_METHOD) return 2;
    return op < DV_OP_COUNT && dv_op_infos[op].saw == DV_SAW_GENERATOR ? DV_RESUMING_WEIGHS : 1;
}

/* Does the code build dicts?  What is there at a constant key may be known of them. */
static bool builds_dict(const dv_code *code, uint32_t begin, uint32_t end) {
    for (uint32_t pc = begin; pc < end; pc += words_at(code, pc))
        if ((code->words[pc] & 0xFF) == DV_OP_BUILD_DICT) return true;
    return false;
}

static bool is_item(const dv_code *code, uint32_t before, uint32_t pc) {
    const uint32_t key = code->words[before] & 0xFF, op = code->words[pc] & 0xFF;
    return (key == DV_OP_LOAD_CONST || key == DV_OP_LOAD_CONST_B) &&
           (op == DV_OP_LOAD_SUBSCR || op == DV_OP_STORE_SUBSCR);
}

static void note_made(scan *s, uint32_t op) {
    const dv_saw saw = op < DV_OP_COUNT ? (dv_saw)dv_op_infos[op].saw : DV_SAW_NOTHING;
    s->makes |= saw == DV_SAW_INIT || saw == DV_SAW_FIELDS || saw == DV_SAW_NEW;
    s->makes_fields |= saw == DV_SAW_FIELDS || saw == DV_SAW_NEW;
}

static void scan_code(scan *s, const dv_thread *thread, uint32_t begin, uint32_t end,
                      uint32_t weight) {
    const dv_code *code = thread->code;
    const loops within = find_loops(code, begin, end);
    const bool dicts = builds_dict(code, begin, end);
    for (uint32_t pc = begin, before = begin, next; pc < end; before = pc, pc = next) {
        uint32_t generic = code->words[pc] & 0xFF;
        next = pc + words_at(code, pc);
        if (generic == DV_OP_JUMP_IF_BUILTIN) next = code->words[pc] >> 8; /* as it always does */
        if (dv_op_infos[generic].adaptive == generic) {
            uint32_t boxed = weight_of_boxed(code, pc);
            const bool hands = thread == s->producer && dv_op_yields(generic);
            if (hands) count(s, true, pc, (uint64_t)weight * weight_at(&within, pc));
            if (boxed && !hands)
                count(s, false, pc, (uint64_t)boxed * weight * weight_at(&within, pc));
            continue;
        }
        const dv_cell *cell = thread->cells + thread->cell_at[pc];
        uint32_t op = dv_op_of(s->vm, cell->h), weighs = weight * weight_at(&within, pc);
        dv_foreign_expression x;
        if (op >= DV_OP_COUNT && s->vm->hooks.plugin.expression(s->vm, cell, &x))
            next = dv_thread_pc(thread, cell + x.cells); /* all of it is one instruction */
        verdict v = judge(s->vm, cell, generic, op);
        note_made(s, op);
        if (op < DV_OP_COUNT && dv_op_infos[op].saw == DV_SAW_FIELD) {
            s->fields += weighs;
            if (!s->depth) s->field_pc = pc;
            continue;
        }
        if (v == BOXED && (generic == DV_OP_EQ || generic == DV_OP_NE)) {
            s->compared += weighs;
            if (!s->depth) s->compared_pc = pc;
            continue;
        }
        if (v == BOXED && dicts && is_item(code, before, pc)) continue;
        const bool resumes = s->producer && s->producer != thread && !s->depth && pc == begin;
        if (resumes)
            count(s, true, pc, weighs);
        else if (changes_class(generic, cell))
            count(s, false, pc, (uint64_t)DV_LEAVING_WEIGHT * weighs);
        else if (v == UNKNOWN)
            scan_callee(s, cell, op, thread, pc, weighs);
        else
            count(s, v == TYPED, pc, factor_of(generic, op) * weighs);
    }
}

dv_promise dv_region_promise(dv_vm *vm, const dv_thread *thread, uint32_t head, uint32_t back,
                             const dv_thread *producer) {
    dv_promise promise = {.pc = back};
    scan s = {
        .vm = vm, .producer = producer, .promise = &promise, .compared_pc = back, .field_pc = back};
    scan_code(&s, thread, head, back + 1, 1);
    if (producer) scan_code(&s, producer, 0, producer->code->word_count, 1);
    if (s.compared && !s.makes) count(&s, false, s.compared_pc, s.compared);
    if (s.fields && !s.makes_fields) count(&s, false, s.field_pc, s.fields);
    return promise;
}
