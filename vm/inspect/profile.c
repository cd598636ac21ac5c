/* profile.c: counting (profile.h). */
#include "inspect/profile.h"

#include "inspect/trace.h"
#include "inspect/window/steps.h"
#include "run/frame.h"
#include "types/class/class.h"
#include "types/callable/function.h"
#include "types/sequence/iterator.h"

/* ---- Functions ---- */

static uint32_t words_of(const dv_code *code, uint32_t pc) {
    uint32_t operands = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return operands > 1 ? operands : 1;
}

static size_t size_of(const dv_code *code) {
    return sizeof(dv_function_counts) + code->word_count * sizeof(dv_site_counts);
}

static dv_function_counts *new_function(dv_vm *vm, dv_profile *profile, dv_thread *thread) {
    const dv_code *code = thread->code;
    dv_function_counts *function = dv_heap_alloc(&vm->heap, size_of(code));
    uint32_t *pcs = dv_heap_alloc(&vm->heap, thread->cell_count * sizeof *pcs);
    if (!function || !pcs) {
        if (function) dv_heap_free(&vm->heap, function, size_of(code));
        if (pcs) dv_heap_free(&vm->heap, pcs, thread->cell_count * sizeof *pcs);
        profile->incomplete = true;
        return NULL;
    }
    memset(function, 0, size_of(code));
    for (uint32_t i = 0; i < thread->cell_count; i++) pcs[i] = DV_NO_PC;
    for (uint32_t pc = 0; pc < code->word_count; pc += words_of(code, pc)) {
        pcs[thread->cell_at[pc]] = pc;
        function->sites[pc].form = code->words[pc] & 0xFF;
    }
    function->code = code;
    function->pc_of_cell = pcs;
    function->cell_count = thread->cell_count;
    code->unit->references++;
    *profile->end = function;
    profile->end = &function->next;
    thread->counts = function;
    return function;
}

static void free_function(dv_vm *vm, dv_function_counts *function) {
    dv_unit *unit = function->code->unit;
    for (uint32_t pc = 0; pc < function->code->word_count; pc++) {
        dv_types_seen *types = function->sites[pc].types;
        if (types) dv_heap_free(&vm->heap, types, sizeof *types);
    }
    while (function->loops) {
        dv_loop_counts *next = function->loops->next;
        dv_heap_free(&vm->heap, function->loops, sizeof *next);
        function->loops = next;
    }
    dv_heap_free(&vm->heap, function->pc_of_cell, function->cell_count * sizeof(uint32_t));
    dv_heap_free(&vm->heap, function, size_of(function->code));
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
}

static dv_function_counts *function_of(dv_vm *vm, dv_profile *profile, dv_thread *thread) {
    return thread->counts ? thread->counts : new_function(vm, profile, thread);
}

/* ---- Types of operands ---- */

static dv_operand_key key_of(unsigned kind, uint64_t rest) {
    return (uint64_t)kind << DV_KEY_SHIFT | rest;
}

static dv_operand_key key_of_value(const dv_vm *vm, dv_value v) {
    if (!dv_is_object(v)) return dv_is_empty(v) ? 0 : key_of(DV_KEY_TYPE, dv_type_of(vm, v));
    uint32_t shape = dv_as_object(v)->shape;
    return shape == DV_T_INT ? key_of(DV_KEY_LONG, 0) : key_of(DV_KEY_TYPE, shape);
}

/* An iterator by index is what it walks over. */
static dv_operand_key key_of_iterator(const dv_vm *vm, dv_value v) {
    bool walks = dv_is_shape(v, DV_T_ITERATOR);
    return key_of_value(vm, walks ? ((const dv_iterator *)dv_as_object(v))->sequence : v);
}

static dv_operand_key key_of_callee(const dv_vm *vm, dv_value v) {
    if (dv_is_function(v))
        return key_of(DV_KEY_CODE, (uintptr_t)dv_thread_code(dv_as_function(v)->code));
    if (dv_is_shape(v, DV_T_CFUNCTION))
        return key_of(DV_KEY_C, (uintptr_t)((const dv_cfunction *)dv_as_object(v))->def);
    if (!dv_is_class(v)) return key_of_value(vm, v);
    const dv_class *class_ = dv_as_class(v);
    if (class_->root) return key_of(DV_KEY_CLASS, class_->root->number);
    /* A class of dl that has no instance yet has no number. */
    return class_->descriptor ? key_of(DV_KEY_BUILTIN, class_->type) : 0;
}

/* ---- Before a step ---- */

/* What must be known of a step before it is made: afterwards the cells may say something else, or
 * be gone. */
typedef struct step_plan {
    dv_function_counts *function; /* NULL: not an instruction of a code object */
    const dv_cell *first;         /* the cell of the step ... */
    const dv_cell *site;          /* ... and of the instruction that its form is one of */
    uint32_t first_pc, pc;        /* of these */
    uint32_t op;                  /* in `first` */
    /* Forms that do the work of the instruction behind as well: where control is when they have
     * done so. */
    const dv_cell *after, *target;
    dv_operands operands; /* all 0: not looked at */
    const char *foreign;  /* name of an extension's instruction; else NULL */
    const dv_cell *end;   /* where control is when it has done the work of those behind, too */
    uint8_t reason;       /* dv_reason: why the site has no derivative */
} step_plan;

static const dv_op_info *generic_of(const step_plan *plan) {
    return &dv_op_infos[plan->function->code->words[plan->pc] & 0xFF];
}

static bool is_derivative(uint32_t op) {
    return op >= DV_OP_COUNT || dv_op_infos[op].kind == DV_KIND_DERIVATIVE;
}

static bool is_fusion(uint32_t op) {
    return op < DV_OP_COUNT && dv_op_infos[op].kind == DV_KIND_FUSION;
}

/* Of each load that a fusion stands for. */
static uint32_t load_length(void) { return dv_op_infos[DV_OP_LOAD_LOCAL_B].length; }

/* The inputs of a fusion: those on the stack, then those that it loads itself. */
static void fused_inputs(const dv_vm *vm, const step_plan *plan, dv_value *inputs) {
    const dv_op_info *fusion = &dv_op_infos[plan->op];
    uint32_t loads = fusion->load_count, pushed = fusion->inputs - loads;
    for (uint32_t i = 0; i < pushed; i++) inputs[i] = vm->sp[(int64_t)i - (int64_t)pushed];
    for (uint32_t i = 0; i < loads; i++) {
        const dv_cell *operand = &plan->first[i * load_length() + 1];
        bool local = fusion->loads[loads - 1 - i] != DV_OP_LOAD_CONST_B;
        inputs[pushed + i] = local ? vm->fp[operand->i / (int64_t)sizeof(dv_value)] : operand->v;
    }
}

static void look_at_inputs(const dv_vm *vm, step_plan *plan, uint32_t count) {
    dv_value inputs[DV_PROFILE_OPERANDS];
    const dv_op_info *info = generic_of(plan);
    if (is_fusion(plan->op))
        fused_inputs(vm, plan, inputs);
    else
        for (uint32_t i = 0; i < count; i++) inputs[i] = vm->sp[(int64_t)i - (int64_t)count];
    /* Of what is stored any type will do. */
    bool stores = info->effect == DV_EFFECT_FIXED && info->outputs == 0 && count > 1;
    uint32_t skipped = stores && info->family != DV_OP_DELETE_SUBSCR;
    for (uint32_t i = skipped; i < count; i++)
        plan->operands.keys[i - skipped] = key_of_value(vm, inputs[i]);
}

static void look_at_operands(const dv_vm *vm, step_plan *plan) {
    const dv_op_info *info = generic_of(plan);
    switch (info->effect) {
    case DV_EFFECT_CALL:
    case DV_EFFECT_CALL_METHOD: {
        int64_t arguments = plan->site[info->operand_cells[0]].i;
        int64_t callee = arguments + (info->effect == DV_EFFECT_CALL ? 3 : 4);
        plan->operands.keys[0] = key_of_callee(vm, vm->sp[-callee]);
        break;
    }
    case DV_EFFECT_FOR_ITER: plan->operands.keys[0] = key_of_iterator(vm, vm->sp[-1]); break;
    case DV_EFFECT_FIXED: look_at_inputs(vm, plan, info->inputs); break;
    default:
        if (info->family == DV_OP_BUILD_SLICE)
            look_at_inputs(vm, plan, (uint32_t)plan->site[info->operand_cells[0]].i);
        else
            look_at_inputs(vm, plan, 1);
        break;
    }
}

/* The instruction behind the site's. */
static void look_behind(step_plan *plan) {
    const dv_code *code = plan->function->code;
    uint32_t behind = plan->pc + words_of(code, plan->pc);
    if (behind >= code->word_count) return;
    const dv_op_info *info = &dv_op_infos[code->words[behind] & 0xFF];
    const dv_cell *cell = plan->site + generic_of(plan)->length;
    plan->after = cell + info->length;
    for (uint32_t i = 0; i < info->operand_count; i++)
        if (info->operands[i] == DV_OPERAND_JUMP)
            plan->target = cell[info->operand_cells[i]].target;
}

static bool includes_behind(uint32_t op) {
    if (op >= DV_OP_COUNT) return false;
    const dv_op_info *info = &dv_op_infos[op];
    if (info->kind == DV_KIND_FUSION)
        return info->stores || dv_op_infos[info->family].covers != DV_OP_NOP;
    return info->covers != DV_OP_NOP;
}

/* An extension's instruction may do the work of those behind: of an expression, or of a key that is
 * not made. */
static void look_at_foreign(dv_vm *vm, step_plan *plan) {
    dv_foreign_form form = {0};
    const bool known = vm->hooks.plugin.form(vm, plan->site, &form);
    plan->foreign = known ? form.name : "extension";
    if (form.covers) plan->end = plan->site + form.covers;
}

static void plan_step(dv_vm *vm, dv_profile *profile, dv_thread *thread, step_plan *plan) {
    dv_function_counts *function = function_of(vm, profile, thread);
    if (!function) return;
    plan->first_pc = function->pc_of_cell[plan->first - thread->cells];
    if (plan->first_pc == DV_NO_PC) { /* ENTER */
        profile->entered++;
        return;
    }
    plan->function = function;
    plan->pc = plan->first_pc;
    if (is_fusion(plan->op)) {
        plan->site += dv_op_infos[plan->op].load_count * load_length();
        plan->pc = function->pc_of_cell[plan->site - thread->cells];
    }
    if (includes_behind(plan->op)) look_behind(plan);
    if (plan->op >= DV_OP_COUNT) look_at_foreign(vm, plan);
    if (!dv_profile_quickens(function->code->words[plan->pc] & 0xFF)) return;
    look_at_operands(vm, plan);
    if (plan->op < DV_OP_COUNT) plan->reason = plan->site[1].site.reason;
}

/* ---- After a step ---- */

static bool has_operands(const dv_operands *operands) { return operands->keys[0] != 0; }

static bool are_same(const dv_operands *a, const dv_operands *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static void note_types(dv_vm *vm, dv_profile *profile, dv_site_counts *site,
                       const dv_operands *operands) {
    if (!site->types) {
        site->types = dv_heap_alloc(&vm->heap, sizeof *site->types);
        if (!site->types) {
            profile->incomplete = true;
            return;
        }
        *site->types = (dv_types_seen){0};
    }
    dv_types_seen *types = site->types;
    site->typed++;
    site->same += are_same(&types->last, operands);
    types->last = *operands;
    for (int i = 0; i < DV_PROFILE_TYPES; i++) {
        if (types->entries[i].executions && !are_same(&types->entries[i].operands, operands))
            continue;
        types->entries[i].operands = *operands;
        types->entries[i].executions++;
        return;
    }
    types->others++;
}

/* An execution that is nothing but the instruction as the compiler made it. */
static void count_plain(dv_function_counts *function, uint32_t pc) {
    function->sites[pc].executions++;
    function->sites[pc].generic++;
}

/* An execution inside of the plan's form, which stands for neighbours, too: a hit if the
 * instruction by itself could have a derivative. */
static void count_inside(const step_plan *plan, uint32_t pc) {
    dv_function_counts *function = plan->function;
    dv_site_counts *site = &function->sites[pc];
    uint32_t op = function->code->words[pc] & 0xFF;
    site->executions++;
    site->inside++;
    if (dv_op_infos[op].adaptive == op) {
        site->generic++;
    } else {
        site->hits++;
        site->unguarded++;
        site->form = (uint16_t)plan->op;
        site->foreign = plan->foreign;
    }
}

/* The objects that an extension's instruction does without: parts of keys. */
static void count_removed(dv_objects *objects, uint32_t word) {
    const uint32_t op = word & 0xFF, operand = word >> 8;
    objects->removed[DV_MADE_SLICE] += op == DV_OP_BUILD_SLICE;
    objects->removed[DV_MADE_TUPLE] +=
        (op == DV_OP_BUILD_KEY || op == DV_OP_BUILD_TUPLE) && operand;
}

/* What is behind the first of the instructions that an extension's form stands for.  Where one of
 * them has raised an exception (its place is vm->ip), those behind it were not executed. */
static void count_covered(dv_vm *vm, dv_profile *profile, const step_plan *plan,
                          const dv_cell *next) {
    const uint32_t *words = plan->function->code->words;
    const dv_cell *cell = plan->site + generic_of(plan)->length;
    const dv_cell *end = next == plan->end ? next : vm->ip + 1;
    if (end > plan->end) return; /* elsewhere */
    for (uint32_t pc = plan->pc; cell < end; cell += dv_op_infos[words[pc] & 0xFF].length) {
        pc += words_of(plan->function->code, pc);
        count_inside(plan, pc);
        count_removed(&profile->objects, words[pc]);
    }
}

static void note_miss(dv_vm *vm, const step_plan *plan, uint64_t misses) {
    dv_moment *moment = dv_trace_add(vm, DV_HAPPENED_MISSED, plan->function, plan->pc, misses);
    if (moment) moment->operands = plan->operands;
}

static void count_site(dv_vm *vm, dv_profile *profile, const step_plan *plan) {
    dv_site_counts *site = &plan->function->sites[plan->pc];
    uint32_t form = is_fusion(plan->op) ? dv_op_infos[plan->op].family : plan->op;
    /* (A load that leaves its value out looks at nothing.) */
    bool derived = is_derivative(form) && dv_profile_quickens(generic_of(plan)->family);
    site->executions++;
    site->form = (uint16_t)form;
    site->foreign = plan->foreign;
    if (derived) {
        if (profile->missed)
            note_miss(vm, plan, ++site->misses);
        else
            site->hits++;
    } else {
        site->generic++;
        site->reason = plan->reason;
    }
    if (has_operands(&plan->operands)) note_types(vm, profile, site, &plan->operands);
}

static void count_step(dv_vm *vm, dv_profile *profile, const step_plan *plan, const dv_cell *next) {
    dv_function_counts *function = plan->function;
    if (next == plan->first) {
        profile->repeated++;
        return;
    }
    if (is_fusion(plan->op)) {
        if (next == plan->first + load_length()) { /* its guard failed: it was the load alone */
            count_plain(function, plan->first_pc);
            return;
        }
        for (uint32_t pc = plan->first_pc; pc != plan->pc; pc += words_of(function->code, pc))
            count_inside(plan, pc);
    }
    count_site(vm, profile, plan);
    bool behind = plan->after && (next == plan->after || next == plan->target);
    if (behind && !profile->missed)
        count_inside(plan, plan->pc + words_of(function->code, plan->pc));
    if (plan->end && !profile->missed) count_covered(vm, profile, plan, next);
}

/* ---- Steps ---- */

/* ---- Loops ---- */

static const dv_region *region_at(const dv_thread *thread, const dv_cell *ip) {
    for (const dv_region *region = thread->regions; region; region = region->next)
        if (ip >= region->cells && ip < region->cells + region->cell_count) return region;
    return NULL;
}

/* The pc by which the region goes: of its outermost JUMP_BACK, or 0 if it is its function's. */
static uint32_t key_of_region(const dv_region *region) {
    return region->gate ? 0 : region->end - 1;
}

static dv_loop_counts *find_loop(const dv_function_counts *function, uint32_t back) {
    dv_loop_counts *loop = function->loops;
    while (loop && loop->back != back) loop = loop->next;
    return loop;
}

const dv_loop_counts *dv_profile_loop(const dv_function_counts *function, uint32_t pc) {
    return find_loop(function, pc);
}

/* NULL: no memory. */
static dv_loop_counts *loop_of(dv_vm *vm, dv_profile *profile, dv_function_counts *function,
                               uint32_t back) {
    dv_loop_counts *loop = find_loop(function, back);
    if (loop) return loop;
    loop = dv_heap_alloc(&vm->heap, sizeof *loop);
    if (!loop) {
        profile->incomplete = true;
        return NULL;
    }
    *loop = (dv_loop_counts){.next = function->loops, .back = back, .region = DV_NO_PC};
    function->loops = loop;
    return loop;
}

/* Before it is counted. */
static void note_loop(dv_vm *vm, const dv_function_counts *function, const dv_loop_counts *loop,
                      const dv_loop_event *event) {
    const bool had = loop->region != DV_NO_PC;
    const dv_happened kind = !event->why ? DV_HAPPENED_MADE
                             : had       ? DV_HAPPENED_RETIRED
                                         : DV_HAPPENED_REFUSED;
    const uint64_t before = !event->why ? loop->made : had ? loop->lost : loop->refused;
    dv_moment *moment = dv_trace_add(vm, kind, function, event->back, before + 1);
    if (!moment) return;
    moment->why = (uint8_t)event->why;
    moment->other = event->region;
}

/* Hook of regions. */
static void looped(dv_vm *vm, dv_thread *thread, const dv_loop_event *event) {
    dv_profile *profile = vm->profile;
    dv_function_counts *function = function_of(vm, profile, thread);
    dv_loop_counts *loop = function ? loop_of(vm, profile, function, event->back) : NULL;
    if (!loop) return;
    bool had = loop->region != DV_NO_PC;
    note_loop(vm, function, loop, event);
    loop->why = event->why;
    loop->region = event->why ? DV_NO_PC : event->region;
    loop->removed = event->removed;
    loop->lost += had && event->why;
    loop->refused += !had && event->why;
    loop->made += !event->why;
    /* Only of code that is kept. */
    loop->in = event->in && event->in->unit == thread->code->unit ? event->in : NULL;
    loop->pc = event->pc;
}

static void note_exit(dv_loop_counts *loop, const dv_unit *kept, const dv_exit *exit, bool failed) {
    const dv_code *in = exit->thread->code;
    loop->guards += failed;
    for (int i = 0; in->unit == kept && i < DV_PROFILE_EXITS; i++) {
        if (loop->left[i].exits && (loop->left[i].in != in || loop->left[i].pc != exit->pc ||
                                    loop->left[i].failed != failed))
            continue;
        loop->left[i].in = in, loop->left[i].pc = exit->pc, loop->left[i].failed = failed;
        loop->left[i].exits++;
        return;
    }
}

static bool is_machine(const dv_cell *ip) {
    return dv_is_halt(ip) || ip == dv_expand_cell || ip == dv_construct_cell ||
           ip == dv_operate_cell || ip == dv_instance_cell || ip == dv_consume_cell ||
           ip == dv_count_cell;
}

/* Cells of an instruction, or of all that are in a pair. */
static uint32_t length_of(uint32_t op) {
    if (op >= DV_OP_COUNT) return 1;
    const dv_op_info *info = &dv_op_infos[op];
    if (info->kind != DV_KIND_PAIR) return info->length;
    return length_of(info->family) + length_of(info->adaptive);
}

/* The step, and the instructions whose work begins in it. */
static void count_cells(dv_vm *vm, dv_profile *profile, const dv_region *region,
                        const step_plan *plan) {
    const uint32_t cell = (uint32_t)(plan->first - region->cells);
    const uint32_t behind = cell + length_of(plan->op);
    region->steps[cell]++;
    uint32_t low = 0, high = region->origin_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (region->origins[middle].cell < cell)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < region->origin_count && region->origins[low].cell < behind; low++) {
        const dv_origin *origin = &region->origins[low];
        dv_function_counts *function = function_of(vm, profile, origin->thread);
        if (function) function->sites[origin->pc].in_regions++;
    }
}

static void count_region_step(dv_vm *vm, dv_profile *profile, dv_thread *thread,
                              const step_plan *plan) {
    dv_function_counts *function = function_of(vm, profile, thread);
    profile->region++;
    if (function) function->region_steps++;
    const dv_region *region = region_at(thread, plan->first);
    if (!region) return;
    dv_objects_passed(vm, region, plan->first, &profile->objects);
    count_cells(vm, profile, region, plan);
}

static dv_exited reason_of_exit(const dv_vm *vm, const dv_exit *exit, dv_leaving how) {
    if (how == DV_LEAVES_RAISING) return DV_EXITED_RAISING;
    if (how == DV_LEAVES_AT_SAFEPOINT)
        return exit->region->retired ? DV_EXITED_RETIRED : DV_EXITED_AT_SAFEPOINT;
    if (!exit->counts) return DV_EXITED_AT_END;
    return vm->ip[1].o.a ? DV_EXITED_TO_NEW : DV_EXITED_BY_GUARD; /* of the R_EXIT */
}

/* Before it is counted.  `exit` NULL: the function returned. */
static void note_left(dv_vm *vm, const dv_function_counts *function, const dv_loop_counts *loop,
                      dv_exited reason, const dv_exit *exit) {
    dv_moment *moment = dv_trace_add(vm, DV_HAPPENED_LEFT, function, loop->back, loop->exits + 1);
    if (!moment) return;
    moment->why = (uint8_t)reason;
    if (!exit || exit->thread->code->unit != function->code->unit) return;
    moment->in = exit->thread->code;
    moment->other = exit->pc;
}

/* Hook of regions. */
static void left(dv_vm *vm, const dv_exit *exit, const dv_value *fp, int how) {
    dv_profile *profile = vm->profile;
    const dv_exited reason = reason_of_exit(vm, exit, (dv_leaving)how);
    profile->exits[reason]++;
    dv_objects_left(exit, fp, &profile->objects);
    dv_function_counts *function = function_of(vm, profile, exit->region->thread);
    if (!function) return;
    function->region_exits++;
    dv_loop_counts *loop = find_loop(function, key_of_region(exit->region));
    if (!loop) return;
    note_left(vm, function, loop, reason, exit);
    loop->exits++;
    loop->raised += reason == DV_EXITED_RAISING;
    note_exit(loop, function->code->unit, exit,
              reason == DV_EXITED_BY_GUARD || reason == DV_EXITED_TO_NEW);
}

/* What a step in a region may fail at, in the order of execution; looked at before, since the
 * region may be gone behind it. */
typedef struct guards {
    bool derived; /* a derivative that is in it as it is */
    uint32_t count;
    const dv_cell *targets[16];
    bool ways[16]; /* that lead on: a jump, no guard */
} guards;

static void add_guard(dv_vm *vm, guards *g, const dv_cell *target) {
    g->ways[g->count] = dv_op_of(vm, target->h) != DV_OP_R_EXIT ||
                        !((const dv_exit *)target[2].p)->counts || target[1].o.a; /* a way out */
    g->targets[g->count++] = target;
}

static void add_guards(dv_vm *vm, guards *g, const dv_cell *cell, uint32_t op) {
    enum { HAS_TARGET = 1 << 6 }; /* in `slots` (gen/isa/isa.py) */
    if (dv_op_infos[op].slots & HAS_TARGET) add_guard(vm, g, cell[3].target);
    if (dv_region_facts_of[op - DV_OP_FIRST_REGION].exits & DV_CELL_4)
        add_guard(vm, g, cell[4].target);
}

/* Those of the instructions of a pair; the cell behind them. */
static const dv_cell *add_pair(dv_vm *vm, guards *g, const dv_cell *cell, uint32_t op) {
    const dv_op_info *info = &dv_op_infos[op];
    if (info->kind == DV_KIND_PAIR) {
        cell = add_pair(vm, g, cell, info->family);
        op = info->adaptive;
    }
    add_guards(vm, g, cell, op);
    return cell + dv_op_infos[op].length;
}

static guards guards_before(dv_vm *vm, const step_plan *plan) {
    guards g = {.count = 0};
    if (plan->op >= DV_OP_COUNT) return g;
    const dv_op_info *info = &dv_op_infos[plan->op];
    g.derived = info->kind == DV_KIND_DERIVATIVE;
    if (info->kind == DV_KIND_REGION) add_guards(vm, &g, plan->first, plan->op);
    if (info->kind == DV_KIND_PAIR) add_pair(vm, &g, plan->first, plan->op);
    return g;
}

/* Where several have one exit, the last of them has failed. */
static void count_guards(dv_profile *profile, const guards *g, const dv_cell *next) {
    uint32_t executed = g->count;
    while (executed > 0 && g->targets[executed - 1] != next) executed--;
    const bool left = executed > 0, failed = left && !g->ways[executed - 1];
    profile->guards += g->derived;
    for (uint32_t i = 0; i < (left ? executed : g->count); i++) profile->guards += !g->ways[i];
    profile->guards_failed += failed || (g->derived && profile->missed);
}

/* In the frame that runs now, which may be a callee's. */
static void count_region_entry(dv_vm *vm, dv_profile *profile, const dv_cell *next) {
    if (!next || is_machine(next)) return;
    dv_thread *thread = dv_frame_thread(vm->fp);
    const dv_region *region = region_at(thread, next);
    dv_function_counts *function = region ? function_of(vm, profile, thread) : NULL;
    if (!function) return;
    profile->entries++;
    function->region_entries++;
    dv_loop_counts *loop = find_loop(function, key_of_region(region));
    if (!loop) return;
    loop->entries++;
    (void)dv_trace_add(vm, DV_HAPPENED_ENTERED, function, loop->back, loop->entries);
}

/* Of a region's pair the last one, or the instruction itself. */
static uint32_t last_of(uint32_t op) {
    while (op < DV_OP_COUNT && dv_op_infos[op].kind == DV_KIND_PAIR) op = dv_op_infos[op].adaptive;
    return op;
}

static bool is_call(uint32_t op) { return last_of(op) == DV_OP_R_CALL; }

static bool is_return(uint32_t op) {
    op = last_of(op);
    return op == DV_OP_R_RETURN_I || op == DV_OP_R_RETURN_D || op == DV_OP_R_RETURN_B ||
           op == DV_OP_R_RETURN_V;
}

/* A function whose region it is has returned. */
static void count_return(dv_vm *vm, dv_profile *profile, dv_thread *thread) {
    dv_function_counts *function = function_of(vm, profile, thread);
    profile->exits[DV_EXITED_AT_END]++;
    if (!function) return;
    function->region_exits++;
    dv_loop_counts *loop = find_loop(function, 0);
    if (!loop) return;
    note_left(vm, function, loop, DV_EXITED_AT_END, NULL);
    loop->exits++;
}

/* The cells to which methods return that an instruction has entered are shared by all VMs, and may
 * be in tail form: they would take a step more. */
static dv_handler handler_at(dv_vm *vm, const dv_cell *ip) {
    if (ip == dv_construct_cell) return dv_handler_of(vm, ip, DV_OP_CONSTRUCTED);
    if (ip == dv_operate_cell) return dv_handler_of(vm, ip, DV_OP_OPERATED);
    if (ip == dv_instance_cell) return dv_handler_of(vm, ip, DV_OP_CALLED);
    if (ip == dv_consume_cell) return dv_handler_of(vm, ip, DV_OP_CONSUMED);
    return ip->h;
}

static bool may_enter(const step_plan *plan) {
    if (plan->op == DV_OP_ENTER_REGION || plan->op == DV_OP_ENTER_COUNT) return true;
    if (!plan->function) return is_call(plan->op);
    return generic_of(plan)->family == DV_OP_JUMP_BACK ||
           (plan->op < DV_OP_COUNT && dv_op_infos[plan->op].saw == DV_SAW_ENTRY);
}

/* Hook of dv_run_cells: makes one step. */
static const dv_cell *step(dv_vm *vm, const dv_cell *ip) {
    dv_profile *profile = vm->profile;
    dv_handler handler = handler_at(vm, ip);
    step_plan plan = {.first = ip, .site = ip, .op = dv_op_of(vm, handler)};
    profile->steps++;
    profile->forms[plan.op]++;
    if (is_machine(ip)) {
        profile->machine++;
        return handler(ip, vm->sp, vm->fp, vm, vm->r, vm->d);
    }
    dv_thread *thread = dv_frame_thread(vm->fp);
    if (dv_thread_owns(thread, ip))
        plan_step(vm, profile, thread, &plan);
    else
        count_region_step(vm, profile, thread, &plan);
    if (profile->recorded && plan.first_pc != DV_NO_PC)
        dv_steps_note(vm, thread, ip, plan.op, plan.first_pc);
    bool outer = profile->missed; /* of the step in which a C function called dl */
    const bool in_region = !dv_thread_owns(thread, ip);
    dv_making making = {.behind = NULL};
    if (in_region || plan.function) making = dv_making_before(vm, plan.site, plan.op);
    const guards guards = guards_before(vm, &plan);
    const dv_value *fp = vm->fp;
    profile->missed = false;
    const dv_cell *next = handler(ip, vm->sp, vm->fp, vm, vm->r, vm->d);
    dv_making_after(vm, &making, next, &profile->objects);
    if (in_region) count_guards(profile, &guards, next);
    if (plan.function) count_step(vm, profile, &plan, next);
    const bool stays = in_region && vm->fp == fp; /* an R_CALL that leaves instead */
    if (may_enter(&plan) && !stays) count_region_entry(vm, profile, next);
    if (in_region && is_return(plan.op) && vm->fp < fp) count_return(vm, profile, thread);
    dv_trace_settle(vm, plan.site, &plan.operands);
    profile->missed = outer;
    return next;
}

/* Hook of the sites: a guard failed. */
static void missed(dv_vm *vm) { vm->profile->missed = true; }

const dv_thread *dv_profile_owner(const dv_vm *vm, const dv_cell *cell) {
    const dv_thread *thread = vm->codes;
    while (thread && !(thread->cells && dv_thread_owns(thread, cell))) thread = thread->next;
    return thread;
}

/* Hook of the sites: the one at `cell` takes another form. */
static void changed(dv_vm *vm, const dv_cell *cell, uint32_t from, uint32_t to) {
    dv_thread *thread = (dv_thread *)dv_profile_owner(vm, cell);
    dv_function_counts *function = thread ? function_of(vm, vm->profile, thread) : NULL;
    if (!function) return;
    const uint32_t pc = function->pc_of_cell[cell - thread->cells];
    dv_site_counts *site = &function->sites[pc];
    const bool derived = is_derivative(to);
    const bool waits = !derived && dv_op_infos[to].kind == DV_KIND_ADAPTIVE;
    if (is_derivative(from) && !derived) site->deoptimisations++;
    site->quickened += derived;
    site->backed += waits;
    dv_moment *moment = dv_trace_add(vm,
                                     derived ? DV_HAPPENED_QUICKENED
                                     : waits ? DV_HAPPENED_BACKED
                                             : DV_HAPPENED_GENERIC,
                                     function, pc,
                                     derived ? site->quickened
                                     : waits ? site->backed
                                             : 1);
    if (!moment) return;
    moment->cell = cell;
    moment->from = (uint16_t)from;
    moment->to = (uint16_t)to;
}

/* Hook of quickening. */
static void warmed(dv_vm *vm, dv_thread *thread) {
    dv_function_counts *function = function_of(vm, vm->profile, thread);
    if (function) (void)dv_trace_add(vm, DV_HAPPENED_WARM, function, 0, 1);
}

/* ---- Profiles ---- */

bool dv_profile_start(dv_vm *vm) {
    dv_profile *profile = dv_heap_alloc(&vm->heap, sizeof *profile);
    dv_trace *trace = dv_heap_alloc(&vm->heap, sizeof *trace);
    if (!profile || !trace) {
        if (profile) dv_heap_free(&vm->heap, profile, sizeof *profile);
        if (trace) dv_heap_free(&vm->heap, trace, sizeof *trace);
        return false;
    }
    memset(profile, 0, sizeof *profile);
    *trace = (dv_trace){0};
    profile->trace = trace;
    profile->end = &profile->functions;
    vm->profile = profile;
    vm->hooks.inspect.step = step;
    vm->hooks.inspect.missed = missed;
    vm->hooks.inspect.changed = changed;
    vm->hooks.inspect.warmed = warmed;
    vm->hooks.inspect.looped = looped;
    vm->hooks.inspect.left = left;
    return true;
}

const dv_profile *dv_profile_of(const dv_vm *vm) { return vm->profile; }

void dv_profile_free(dv_vm *vm) {
    dv_profile *profile = vm->profile;
    if (!profile) return;
    vm->hooks.inspect.step = NULL;
    vm->hooks.inspect.missed = NULL;
    vm->hooks.inspect.changed = NULL;
    vm->hooks.inspect.warmed = NULL;
    vm->hooks.inspect.looped = NULL;
    vm->hooks.inspect.left = NULL;
    vm->profile = NULL;
    for (dv_function_counts *function = profile->functions; function;) {
        dv_function_counts *next = function->next;
        free_function(vm, function);
        function = next;
    }
    dv_trace_free(vm, profile->trace);
    dv_steps_free(vm, profile->recorded);
    dv_heap_free(&vm->heap, profile, sizeof *profile);
}

void dv_totals_add(dv_totals *totals, const dv_site_counts *site) {
    totals->executions += site->executions;
    totals->hits += site->hits;
    totals->misses += site->misses;
    totals->generic += site->generic;
    totals->inside += site->inside;
    totals->unguarded += site->unguarded;
    totals->deoptimisations += site->deoptimisations;
    totals->typed += site->typed;
    totals->same += site->same;
    totals->firsts += site->typed > 0;
}
