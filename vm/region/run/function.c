/* function.c: regions of functions: when one is made, how it is called and left at run time, and
 * the transfer function of calls and returns (function.h). */
#include "region/run/function.h"

#include "code/verify.h"
#include "region/run/memory.h"
#include "region/analyse/promise.h"
#include "region/step/step.h"
#include "region/step/virtual.h"
#include "types/number/int.h"

enum {
    HOT_CALLS = 250, /* calls of a warm function until a region is tried, doubled for each ... */
    GIVEN_UP = 5,    /* ... that was given up, so often at most */
    REFUSED = 3,     /* what a refusal counts among these */
    FAILURES = 8,    /* entries refused by the types of arguments until the region is given up */
    MOST_LOCALS = 64 /* of a function with a region */
};

_Static_assert((int)DV_MUCH_CODE == (int)DV_INLINE_WORDS, "what cannot go inline is entered");

/* What regions know of a function that they are to enter. */
struct dv_callable {
    dv_gate *gates;         /* at most one is open */
    const dv_gate *latest;  /* that was open; while it is closed, calls leave their regions */
    dv_assumption unopened; /* broken when it gets a region: for those that call it boxed */
    dv_assumption lasting; /* broken when the latest gate will not open again, or the code ends: for
                              its callers */
    dv_thread *wanted;     /* the next one that the region under construction had rather entered */
    bool is_wanted;
    uint8_t tries;
    bool counting;
};

/* NULL: there is no memory. */
static dv_callable *known_of(dv_vm *vm, dv_thread *thread) {
    if (!thread->callable) {
        thread->callable = dv_heap_alloc(&vm->heap, sizeof *thread->callable);
        if (thread->callable) *thread->callable = (dv_callable){.gates = NULL};
    }
    return thread->callable;
}

/* The same; NULL as well if calls are counted, which those from regions would not be. */
static dv_callable *callable_of(dv_vm *vm, dv_thread *thread) {
    return vm->work.counts_calls ? NULL : known_of(vm, thread);
}

static size_t size_of_gate(const dv_gate *gate) { return sizeof *gate + gate->count; }

void dv_function_free(dv_vm *vm, dv_thread *thread) {
    dv_callable *callable = thread->callable;
    if (!callable) return;
    while (callable->gates) {
        dv_gate *gate = callable->gates;
        callable->gates = gate->next;
        dv_heap_free(&vm->heap, gate, size_of_gate(gate));
    }
    dv_assumption_break(vm, &callable->unopened); /* callers that are left forget it */
    dv_assumption_break(vm, &callable->lasting);
    dv_heap_free(&vm->heap, callable, sizeof *callable);
    thread->callable = NULL;
}

/* Which functions
 * ---------------------------------------------------------------------------------------------- */

/* Those whose frames have shadow slots, and hold their arguments as a caller leaves them. */
static bool may_have_region(const dv_thread *thread) {
    const dv_code *code = thread->code;
    return !(code->flags & (DV_CODE_MODULE | DV_CODE_CLASS | DV_CODE_GENERATOR)) &&
           !code->free_count && code->local_count <= MOST_LOCALS &&
           thread->stack_base > thread->local_count && thread->exact_arguments >= 0;
}

/* Calls go on behind ENTER. */
static void skip_entry(const dv_vm *vm, dv_thread *thread) {
    dv_thread_enter_at(vm, thread, thread->cells + dv_op_infos[DV_OP_ENTER].length);
}

static void count_calls(dv_vm *vm, dv_thread *thread, dv_callable *callable, uint32_t wait) {
    dv_cell *enter = thread->cells;
    enter->h = dv_handler_of(vm, enter, DV_OP_ENTER_COUNT);
    enter[1].site = (dv_site){.wait = (uint16_t)(vm->stress.quicken_at_once ? 2 : wait)};
    dv_thread_enter_at(vm, thread, enter);
    callable->counting = true;
}

void dv_function_warmed(dv_vm *vm, dv_object *code) {
    dv_thread *thread = (dv_thread *)code;
    if (vm->nama > DV_NAMA_INLINE || !may_have_region(thread)) return;
    if (!(thread->code->flags & DV_CODE_HOT_CALLS)) return;
    dv_callable *callable = callable_of(vm, thread);
    /* The analysis of a long one, with methods in it, costs what hundreds of calls do. */
    const bool is_long = thread->code->word_count > DV_INLINE_WORDS;
    if (callable) count_calls(vm, thread, callable, is_long ? 4 * HOT_CALLS : HOT_CALLS);
}

bool dv_function_is_callable(const dv_thread *thread) {
    const bool given_up = thread->callable && thread->callable->tries >= GIVEN_UP;
    return thread->warm && may_have_region(thread) && !given_up;
}

bool dv_function_lasts(dv_build *b, dv_thread *thread) {
    dv_callable *callable = known_of(b->vm, thread);
    return callable && dv_build_depends(b, &callable->lasting);
}

/* A region calls it, and had rather entered it: if it is made, calls are counted. */
static void want(dv_build *b, dv_thread *thread) {
    if (!dv_function_is_callable(thread)) return;
    dv_callable *callable = callable_of(b->vm, thread);
    if (!callable) return;
    if (!dv_build_depends(b, &callable->unopened)) return;
    b->region->hopes = true;
    if (callable->is_wanted) return;
    callable->is_wanted = true;
    callable->wanted = b->wanted;
    b->wanted = thread;
}

void dv_function_wanted(dv_vm *vm, dv_thread *wanted, bool made) {
    while (wanted) {
        dv_thread *thread = wanted;
        dv_callable *callable = thread->callable;
        wanted = callable->wanted;
        callable->wanted = NULL;
        callable->is_wanted = false;
        if (made && !callable->counting) count_calls(vm, thread, callable, HOT_CALLS);
    }
}

static void try_later(dv_vm *vm, dv_thread *thread, dv_callable *callable, uint32_t counts) {
    callable->tries += counts;
    callable->counting = false;
    skip_entry(vm, thread);
    if (callable->tries < GIVEN_UP)
        count_calls(vm, thread, callable, (uint32_t)HOT_CALLS << callable->tries);
    else
        dv_assumption_break(vm, &callable->lasting);
}

void dv_function_retire(dv_vm *vm, dv_region *region) {
    dv_thread *thread = region->thread;
    region->gate->entry = NULL;
    region->gate->extent = INT64_MAX;
    if (thread->cells[1].p == region->gate) try_later(vm, thread, thread->callable, 1);
}

static void tell(dv_vm *vm, dv_thread *thread, const dv_loop_event *event) {
    if (DV_UNLIKELY(vm->hooks.inspect.looped != NULL)) vm->hooks.inspect.looped(vm, thread, event);
}

/* Entering and leaving
 * ---------------------------------------------------------------------------------------------- */

static const dv_cell *behind(const dv_cell *enter) {
    return enter + dv_op_infos[DV_OP_ENTER].length;
}

const dv_cell *dv_function_refuse(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    dv_region *region = ((const dv_gate *)ip[1].p)->region;
    if (++region->refused >= FAILURES) dv_region_give_up(vm, region, DV_REFUSED_TYPES);
    return behind(ip);
}

/* From now on it is entered by all calls. */
static void open_gate(dv_vm *vm, dv_region *region) {
    dv_gate *gate = region->gate;
    dv_callable *callable = region->thread->callable;
    dv_cell *enter = region->thread->cells;
    gate->region = region;
    gate->active = &region->active;
    gate->inlined = region->inlined;
    gate->extent = region->extent * (int64_t)sizeof(dv_value);
    gate->entry = region->cells + region->begins;
    enter->h = dv_handler_of(vm, enter, DV_OP_ENTER_REGION);
    enter[1].p = gate;
    dv_thread_enter_at(vm, region->thread, enter);
    dv_assumption_break(vm, &callable->unopened);
    if (callable->latest != gate) dv_assumption_break(vm, &callable->lasting);
    callable->latest = gate;
}

const dv_cell *dv_function_hot(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    dv_thread *thread = dv_frame_thread(fp);
    const uint32_t last = thread->code->word_count - 1;
    const dv_promise promise = dv_region_promise(vm, thread, 0, last, NULL);
    /* (What calls gain is not among what it promises.) */
    const bool promising = 2 * promise.typed >= promise.boxed || vm->stress.quicken_at_once;
    dv_loop_event event = {
        .back = 0, .why = DV_REFUSED_BOXED, .in = thread->code, .pc = promise.pc};
    dv_region *region = promising ? dv_region_build_function(vm, thread, fp, &event) : NULL;
    if (region && !dv_region_admit(vm, region)) {
        dv_region_free(vm, region);
        region = NULL, event.why = DV_REFUSED_ROOM;
    }
    if (!region) {
        tell(vm, thread, &event);
        try_later(vm, thread, thread->callable, REFUSED);
        return behind(ip);
    }
    tell(vm, thread, &(dv_loop_event){.removed = region->removed});
    dv_region_install(vm, region, 0);
    open_gate(vm, region);
    return ip;
}

/* EMPTY: raised. */
static dv_value box_result(dv_vm *vm, const dv_gate *gate, const dv_value *home, int64_t r,
                           double d) {
    switch ((dv_kind)gate->result) {
    case DV_K_INT: return dv_fits_int(r) ? dv_int(r) : dv_int_from_int64(vm, r);
    case DV_K_FLOAT: return dv_float(d);
    case DV_K_BOOL: return dv_bool(r != 0);
    default: return *home;
    }
}

const dv_cell *dv_function_return(DV_HANDLER_PARAMETERS) {
    (void)sp;
    dv_region *region = ip[2].p;
    const dv_gate *gate = region->gate;
    const dv_cell *to = dv_frame_link(fp), *raw = NULL;
    if (dv_kind_is_raw((dv_kind)gate->result)) raw = (const dv_cell *)(uintptr_t)fp[ip[1].o.a].bits;
    vm->ip = ip, vm->sp = fp + ip[1].o.d, vm->fp = fp, vm->r = r, vm->d = d;
    const dv_value result = raw ? DV_NONE : box_result(vm, gate, &fp[ip[1].o.a], r, d);
    if (dv_is_empty(result)) return dv_slow_raise(ip, vm->sp, fp, vm, r, d);
    const dv_value function = fp[-3];
    fp[-3] = result;
    vm->calls_left++;
    vm->ip = to - 1, vm->sp = fp - 2, vm->fp = dv_frame_caller(fp);
    dv_region_left(vm, region, fp);
    dv_release(vm, function);
    vm->r = r, vm->d = d;
    return raw ? raw : to;
}

/* Analysis
 * ---------------------------------------------------------------------------------------------- */

bool dv_function_prepare(dv_build *b) {
    b->parameters = dv_build_get(b, b->root->thread->argument_count + 1);
    return b->parameters != NULL;
}

dv_kind dv_function_begins(dv_build *b, uint32_t local, dv_kind kind) {
    if (local >= b->root->thread->argument_count) return kind;
    if (b->parameters[local] == DV_K_NOTHING)
        b->parameters[local] = kind == DV_K_COMPLEX || kind == DV_K_CHAR || kind == DV_K_STR ||
                                       kind == DV_K_NOTHING || kind == DV_K_UNSET
                                   ? DV_K_ANY
                                   : kind;
    return (dv_kind)b->parameters[local];
}

bool dv_function_differs(dv_build *b) {
    const dv_snapshot *head = dv_snapshot_at(b->root, 0);
    bool differs = b->result_changed && b->result_used;
    for (uint32_t i = 0; i < b->root->thread->argument_count; i++) {
        if (b->parameters[i] == head->entries[i].kind) continue;
        b->parameters[i] = head->entries[i].kind;
        differs = true;
    }
    if (!differs && b->result == DV_K_NOTHING) dv_build_fail(b, DV_REFUSED_ENTRY);
    return differs && !b->failed;
}

static bool promises_the_same(const dv_build *b, const dv_gate *gate, uint32_t count) {
    return gate->result == b->result && gate->return_slot == b->return_slot &&
           gate->count == count && !memcmp(gate->parameters, b->parameters, count);
}

static dv_gate *new_gate(dv_build *b, uint32_t count) {
    const dv_thread *thread = b->root->thread;
    dv_gate *gate = dv_heap_alloc(&b->vm->heap, sizeof *gate + count);
    if (!gate) return NULL;
    *gate = (dv_gate){.extent = INT64_MAX,
                      .first_vacant = b->scratch,
                      .raw = dv_shadow(b, 0),
                      .return_slot = b->return_slot,
                      .result = b->result,
                      .count = (uint8_t)count};
    memcpy(gate->parameters, b->parameters, count);
    for (uint32_t i = 0; i < count; i++) {
        const dv_kind kind = (dv_kind)b->parameters[i];
        if (kind == DV_K_ANY) continue;
        uint64_t *mask = kind == DV_K_INT     ? &gate->ints
                         : kind == DV_K_FLOAT ? &gate->floats
                                              : &gate->others;
        *mask |= UINT64_C(1) << i;
    }
    for (uint32_t i = thread->local_count; i-- > 0;) {
        if (i < count && !dv_kind_is_raw((dv_kind)b->parameters[i])) continue;
        const int32_t further = gate->first_vacant - (int32_t)i;
        if (gate->first_vacant < b->scratch)
            gate->vacant = gate->vacant << further | UINT64_C(1) << (further - 1);
        gate->first_vacant = (int16_t)i;
    }
    return gate;
}

void dv_function_open(dv_build *b) {
    dv_callable *callable = callable_of(b->vm, b->root->thread);
    const uint32_t count = b->root->thread->argument_count;
    for (dv_gate *gate = callable ? callable->gates : NULL; gate; gate = gate->next)
        if (!gate->entry && promises_the_same(b, gate, count)) b->gate = gate;
    if (b->gate) return;
    b->gate = callable ? new_gate(b, count) : NULL;
    if (!b->gate) {
        dv_build_fail(b, DV_REFUSED_MEMORY);
        return;
    }
    b->gate->next = callable->gates;
    callable->gates = b->gate;
}

/* Returns
 * ---------------------------------------------------------------------------------------------- */

static void note_result(dv_build *b, dv_kind kind) {
    const dv_kind before = (dv_kind)b->result;
    if (b->emitting || before == kind) return;
    b->result = before == DV_K_NOTHING ? (uint8_t)kind : DV_K_ANY;
    b->result_changed |= b->result != before;
}

static void drop_locals(dv_build *b) {
    for (int32_t q = 0; q < b->locals; q++)
        if (b->e[q].kind != DV_K_NOTHING) (void)dv_step_drop_local(b, q);
}

uint32_t dv_function_leave(dv_build *b) {
    const int32_t q = b->top - 1;
    if (b->e[q].kind == DV_K_CHAR) dv_materialize(b, q);
    const bool is_raw = dv_kind_is_raw((dv_kind)b->e[q].kind);
    note_result(b, is_raw ? (dv_kind)b->e[q].kind : DV_K_ANY);
    const dv_kind result = (dv_kind)b->result;
    uint32_t op = DV_OP_R_RETURN_V;
    if (dv_kind_is_raw(result)) {
        dv_load_register(b, q);
        op = result == DV_K_FLOAT ? DV_OP_R_RETURN_D
             : result == DV_K_INT ? DV_OP_R_RETURN_I
                                  : DV_OP_R_RETURN_B;
    } else {
        dv_materialize(b, q);
    }
    drop_locals(b);
    if (result == DV_K_INT) /* without memory for a box */
        dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false,
                     false);
    int32_t slot = dv_kind_is_raw(result) ? b->return_slot : dv_home(b, q);
    uint32_t at = dv_region_emit(b, op, slot, 0, 0);
    dv_region_emit_constant(b, at, (dv_cell){.p = b->region});
    dv_step_count(b, true);
    b->ended = true;
    return b->pc;
}

/* Calls
 * ---------------------------------------------------------------------------------------------- */

/* The open gate of the function; NULL: there is none. */
static const dv_gate *gate_of(const dv_thread *thread) {
    const dv_gate *gate = thread->callable ? thread->callable->gates : NULL;
    while (gate && !gate->entry) gate = gate->next;
    return gate;
}

/* What may be an object at home, or an immediate. */
static bool is_boxed(const dv_known_value *e) {
    return e->kind == DV_K_ANY && (e->where == DV_AT_HOME || e->where == DV_AT_ALIAS);
}

static bool argument_fits(const dv_known_value *e, dv_kind kind) {
    if (e->kind > DV_K_ANY || (e->where == DV_AT_VALUE && dv_is_empty(e->value))) return false;
    if (dv_kind_is_raw(kind)) return e->kind == kind || is_boxed(e);
    if (kind == DV_K_LIST || kind == DV_K_TUPLE) return e->kind == kind || is_boxed(e);
    return kind == DV_K_ANY || e->kind == kind;
}

/* Looks at what is to be raw, or a container, and puts objects where they belong. */
static void prepare_argument(dv_build *b, int32_t q, dv_kind kind) {
    const dv_known_value *e = &b->e[q];
    if (dv_kind_is_raw(kind)) {
        if (e->kind != kind) dv_unbox(b, q, kind);
        return;
    }
    if (e->kind != kind && kind != DV_K_ANY) {
        int16_t home = e->where == DV_AT_ALIAS ? dv_home(b, e->slot) : dv_home(b, q);
        dv_region_emit_guard(b, kind == DV_K_LIST ? DV_OP_R_GUARD_LIST : DV_OP_R_GUARD_TUPLE, home,
                             0, 0);
    }
    dv_materialize(b, q);
}

/* Where the region leaves in front of the call nobody knows of it: so it is not counted. */
static bool default_fits(dv_value v, dv_kind kind) {
    if (dv_kind_is_raw(kind))
        return kind == DV_K_INT     ? dv_is_int(v)
               : kind == DV_K_FLOAT ? dv_is_float(v)
                                    : dv_is_bool(v);
    return kind == DV_K_ANY && !dv_is_object(v);
}

/* As an argument behind those that are prepared. */
static void push_default(dv_build *b, dv_value v, dv_kind kind) {
    dv_push_constant(b, v);
    if (dv_kind_is_raw(kind)) return;
    const uint32_t at = dv_region_emit(b, DV_OP_R_VALUE_B, dv_home(b, b->top - 1), 0, 0);
    dv_region_emit_constant(b, at, (dv_cell){.v = v});
    *dv_top(b, 1) = (dv_known_value){DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY};
}

/* Raw entry q into a slot of the callee's frame. */
static void place_argument(dv_build *b, int32_t q, int16_t slot) {
    const dv_operand o = dv_raw_operand(&b->e[q]);
    if (o.mode == 'R')
        dv_store_register(b, q, slot);
    else if (o.mode == 'S')
        dv_region_emit(b, DV_OP_R_MOVE, o.slot, slot, 0);
    else
        dv_region_emit_constant(b, dv_region_emit(b, DV_OP_R_CONST, slot, 0, 0), o.k);
    b->e[q].where = DV_AT_SLOT, b->e[q].slot = slot;
    b->version++;
}

/* The result is on the stack, boxed, where a frame in INCA code returns to the next cell; a raw one
 * comes behind that.  The region leaves in front of the next instruction where it is of another
 * kind. */
static void take_result(dv_build *b, dv_kind kind, uint32_t next_pc) {
    dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    dv_step_point_after(b, next_pc);
    if (!dv_kind_is_raw(kind)) return;
    dv_step_take(b, kind, next_pc);
    dv_step_point_after(b, next_pc);
}

/* Not counted: that there is no room for the frame, or something waits for the next call, is no
 * reason to give the region up. */
static void exit_before(dv_build *b, uint32_t cell) {
    if (!b->emitting || b->failed) return;
    b->cells.data[cell + 3].i = dv_exit_make(b, b->context, b->pc, false);
    DV_PUSH(b, exit_uses, cell + 3);
}

bool dv_function_call(dv_build *b, dv_value function, int32_t n, uint32_t next_pc) {
    dv_thread *thread = dv_function_thread(dv_as_function(function));
    if (b->vm->nama > DV_NAMA_INLINE) return false;
    const dv_function *callee = dv_as_function(function);
    const int32_t missing = dv_step_missing(b, callee, thread->exact_arguments - n);
    if (missing < 0 || b->top + missing >= b->entry_limit) return false;
    const dv_value *values = dv_frame_defaults(callee, missing);
    const bool is_itself = b->parameters && thread == b->root->thread;
    const dv_gate *gate = is_itself ? b->gate : gate_of(thread);
    if (!is_itself && !gate) {
        want(b, thread);
        return false;
    }
    if (!is_itself && !dv_build_depends(b, &thread->callable->lasting)) return true;
    const uint8_t *kinds = is_itself ? b->parameters : gate->parameters;
    const int32_t base = b->top - n;
    for (int32_t i = 0; i < n; i++)
        if (!argument_fits(&b->e[base + i], (dv_kind)kinds[i])) return false;
    for (int32_t i = 0; i < missing; i++)
        if (!default_fits(values[i], (dv_kind)kinds[n + i])) return false;
    const dv_kind result = is_itself ? (dv_kind)b->result : (dv_kind)gate->result;
    b->result_used |= is_itself;
    if (result == DV_K_NOTHING) { /* not before a way that returns has been seen */
        b->ended = true;
        return true;
    }
    for (int32_t i = 0; i < n; i++) prepare_argument(b, base + i, (dv_kind)kinds[i]);
    for (int32_t i = 0; i < missing; i++) push_default(b, values[i], (dv_kind)kinds[n + i]);
    n += missing;
    const int32_t frame = dv_home(b, base), end = frame + (int32_t)thread->local_count + n;
    for (int32_t i = n - 1; i >= 0; i--) /* the last one may still be in a register */
        if (dv_kind_is_raw((dv_kind)kinds[i]))
            place_argument(b, base + i, (int16_t)(frame + (int32_t)thread->local_count + i));
    dv_spill(b, false, base);
    dv_spill(b, true, base);
    if (end > b->extent) b->extent = (int16_t)end;
    dv_charge(b, true);
    const int32_t length = (int32_t)dv_op_infos[DV_OP_R_TAKE_I].length;
    const uint32_t at =
        dv_region_emit(b, DV_OP_R_CALL, frame, dv_kind_is_raw(result) ? length : 0, 0);
    b->top -= missing; /* what the exit knows */
    exit_before(b, at);
    b->top += missing;
    dv_region_emit_constant(b, at, (dv_cell){.p = (void *)(uintptr_t)gate});
    if (b->emitting && !b->failed) b->cells.data[at + 4].v = function;
    dv_step_count(b, true);
    dv_pop(b, n + 3);
    dv_point_add(b, at, dv_exit_make(b, b->context, b->pc, false), true, false, false);
    take_result(b, result, next_pc);
    dv_charge(b, false);
    b->sp = -1;
    b->last_result = DV_NO_CELL;
    return true;
}
