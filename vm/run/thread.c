/* thread.c: expanding code objects to cells (thread.h). */
#include "run/thread.h"

#include "dv_ops.h"
#include "code/liveness.h"
#include "code/pack.h"
#include "code/verify.h"
#include "run/frame.h"
#include "types/number/complex.h"
#include "types/binary/bytes.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/mapping/set.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

enum {
    WARM_CALLS = 8,     /* calls until a function is warm, ... */
    WARM_ITERATIONS = 8 /* ... or iterations of one of its loops */
};

static const dv_cell *halt(DV_HANDLER_PARAMETERS) {
    (void)ip, (void)r, (void)d;
    vm->sp = sp;
    vm->fp = fp;
    return NULL;
}

static const dv_cell *halt_and_poll(DV_HANDLER_PARAMETERS) {
    dv_poll_at_back_edge(vm);
    return halt(ip, sp, fp, vm, r, d);
}

/* The frame is already in place, as for every call; expansion happens in it. */
static const dv_cell *expand(DV_HANDLER_PARAMETERS) {
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    dv_thread *thread = dv_frame_thread(fp);
    if (!thread->cells && !dv_thread_expand(vm, thread)) return dv_slow_raise(ip, sp, fp, vm, r, d);
    return thread->counted;
}

const dv_cell *dv_slow_warm(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    bool entering = dv_op_of(vm, ip->h) == DV_OP_ENTER;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    if (vm->hooks.quicken.warm) vm->hooks.quicken.warm(vm, dv_as_function(fp[-3])->code);
    return entering ? ip + dv_op_infos[DV_OP_ENTER].length : ip[2].target;
}

/* The frame is in place, and its function has not begun.  It comes back here if it polls.  A call
 * of a long function counts as several rounds.  Observers want back edges alone. */
static const dv_cell *count(DV_HANDLER_PARAMETERS) {
    vm->sp = sp, vm->fp = fp;
    const dv_thread *thread = dv_frame_thread(fp);
    if (vm->hooks.inspect.observe) return thread->counted;
    if (DV_UNLIKELY(--vm->countdown < 0)) return dv_slow_safepoint(ip, sp, fp, vm, r, d);
    vm->countdown -= thread->cell_count / DV_CELLS_OF_UNIT; /* below 0: the next one polls */
    return thread->counted;
}

const dv_cell dv_halt_cell[] = {{.h = halt}, {.h = halt_and_poll}};
const dv_cell dv_expand_cell[] = {{.h = expand}};
const dv_cell dv_count_cell[] = {{.h = count}};

const dv_code *dv_thread_code(const dv_object *thread) { return ((const dv_thread *)thread)->code; }

dv_handler dv_handler_of(const dv_vm *vm, const dv_cell *at, uint32_t op) {
    dv_form form = vm->form;
    if (form == DV_FORM_MIXED) form = (uintptr_t)at >> 3 & 1 ? DV_FORM_TAIL : DV_FORM_TRAMPOLINE;
#if !DV_HAVE_TAIL
    form = DV_FORM_TRAMPOLINE;
#elif !DV_HAVE_TRAMPOLINE
    form = DV_FORM_TAIL;
#endif
    return (form == DV_FORM_TAIL ? dv_handlers_tail : dv_handlers_trampoline)[op];
}

/* A hash table with open addressing of opcodes by handler, made when first asked for. */
enum { OP_INDEX_BITS = 14, OP_INDEX_SIZE = 1 << OP_INDEX_BITS };
_Static_assert(DV_OP_COUNT * 2 < OP_INDEX_SIZE / 4 * 3, "the index has room for both forms");

static uint32_t spot_of(dv_handler handler) {
    return (uint32_t)((uintptr_t)handler >> 4) * 2654435769u >> (32 - OP_INDEX_BITS);
}

static bool is_op(uint32_t op, dv_handler handler) {
    bool found = false;
#if DV_HAVE_TAIL
    found = dv_handlers_tail[op] == handler;
#endif
#if DV_HAVE_TRAMPOLINE
    found = found || dv_handlers_trampoline[op] == handler;
#endif
    return found;
}

static void index_ops(uint16_t *index, const dv_handler *handlers) {
    for (uint32_t op = 0; op < DV_OP_COUNT; op++) {
        uint32_t spot = spot_of(handlers[op]);
        while (index[spot]) spot = (spot + 1) % OP_INDEX_SIZE;
        index[spot] = (uint16_t)(op + 1);
    }
}

/* NULL: out of memory. */
static const uint16_t *op_index(dv_vm *vm) {
    if (vm->op_index) return vm->op_index;
    size_t size = OP_INDEX_SIZE * sizeof *vm->op_index;
    vm->op_index = dv_heap_alloc(&vm->heap, size);
    if (!vm->op_index) return NULL;
    memset(vm->op_index, 0, size);
#if DV_HAVE_TAIL
    if (!DV_HAVE_TRAMPOLINE || vm->form != DV_FORM_TRAMPOLINE)
        index_ops(vm->op_index, dv_handlers_tail);
#endif
#if DV_HAVE_TRAMPOLINE
    if (!DV_HAVE_TAIL || vm->form != DV_FORM_TAIL) index_ops(vm->op_index, dv_handlers_trampoline);
#endif
    return vm->op_index;
}

static uint32_t words_of(uint32_t op) {
    uint32_t operands = dv_op_infos[op].operand_count;
    return operands > 1 ? operands : 1;
}

uint32_t dv_thread_next(const dv_thread *thread, uint32_t pc) {
    return pc + words_of(thread->code->words[pc] & 0xFF);
}

static bool is_behind(const dv_thread *thread, uint32_t pc, const dv_variant *variant) {
    const dv_code *code = thread->code;
    for (uint32_t i = 0; i < variant->behind_count; i++) {
        pc = dv_thread_next(thread, pc);
        if (pc >= code->word_count || (code->words[pc] & 0xFF) != variant->behind[i]) return false;
        const int operand = variant->behind_arguments[i];
        if (operand >= 0 && code->words[pc] >> 8 != (uint32_t)operand) return false;
    }
    return true;
}

static bool may_stand(const dv_vm *vm, const dv_thread *thread, uint32_t pc, const dv_cell *at,
                      const dv_variant *variant) {
    if (variant->locals >= 0 && (!thread || thread->local_count != (uint32_t)variant->locals))
        return false;
    if (variant->arguments >= 0 && at[2].i != variant->arguments) return false;
    if (variant->immediate && dv_is_object(at[1].v)) return false;
    if (variant->of_function && at[dv_op_infos[variant->op].cache_cell].s.b != DV_T_FUNCTION)
        return false;
    if (!variant->behind_count) return true;
    return thread && !vm->hooks.inspect.step && is_behind(thread, pc, variant);
}

uint32_t dv_op_variant(const dv_vm *vm, const dv_thread *thread, uint32_t pc, const dv_cell *at,
                       uint32_t op) {
    const dv_op_info *info = &dv_op_infos[op];
    const dv_variant *variants = &dv_variants[info->first_variant];
    for (uint32_t i = 0; i < info->variant_count; i++)
        if (may_stand(vm, thread, pc, at, &variants[i])) return variants[i].op;
    return op;
}

uint32_t dv_op_of(dv_vm *vm, dv_handler handler) {
    const uint16_t *index = op_index(vm);
    if (!index) {
        uint32_t op = 0;
        while (op < DV_OP_COUNT && !is_op(op, handler)) op++;
        return op < DV_OP_COUNT ? dv_op_infos[op].plain : op;
    }
    uint32_t spot = spot_of(handler);
    for (; index[spot]; spot = (spot + 1) % OP_INDEX_SIZE)
        if (is_op(index[spot] - 1u, handler)) return dv_op_infos[index[spot] - 1u].plain;
    return DV_OP_COUNT;
}

uint32_t dv_thread_pc(const dv_thread *thread, const dv_cell *cell) {
    if (!dv_thread_owns(thread, cell)) return DV_NO_PC;
    uint32_t at = (uint32_t)(cell - thread->cells), low = 0, count = thread->code->word_count;
    if (count == 0 || at < thread->cell_at[0]) return DV_NO_PC;
    while (count > 1) { /* without a branch on what is compared: none could be foretold */
        uint32_t half = count / 2;
        low += thread->cell_at[low + half] <= at ? half : 0;
        count -= half;
    }
    /* Operand words have the cell of their instruction: find its first word. */
    while (low > 0 && thread->cell_at[low - 1] == thread->cell_at[low]) low--;
    return low;
}

static void make_pcs(dv_vm *vm, dv_thread *thread) {
    const dv_code *code = thread->code;
    thread->pc_of = dv_heap_alloc(&vm->heap, thread->cell_count * sizeof *thread->pc_of);
    if (!thread->pc_of) return;
    uint32_t cell = 0, before = DV_NO_PC;
    for (uint32_t pc = 0; pc < code->word_count; pc += words_of(code->words[pc] & 0xFF)) {
        while (cell < thread->cell_at[pc]) thread->pc_of[cell++] = before;
        before = pc;
    }
    while (cell < thread->cell_count) thread->pc_of[cell++] = before;
}

uint32_t dv_thread_find_pc(dv_vm *vm, dv_thread *thread, const dv_cell *cell) {
    if (!dv_thread_owns(thread, cell)) return DV_NO_PC;
    if (DV_UNLIKELY(!thread->pc_of)) {
        if (thread->warm) make_pcs(vm, thread);
        if (!thread->pc_of) return dv_thread_pc(thread, cell);
    }
    return thread->pc_of[cell - thread->cells];
}

static dv_value make_tuple(dv_vm *vm, dv_thread *thread, const dv_const *c) {
    if (c->as.tuple.count == 0) return dv_tuple_new(vm, NULL, 0);
    size_t size = c->as.tuple.count * sizeof(dv_value);
    dv_value *items = dv_heap_alloc(&vm->heap, size);
    if (!items) return dv_raise_memory(vm);
    for (uint32_t i = 0; i < c->as.tuple.count; i++)
        items[i] = thread->constants[c->as.tuple.items[i]];
    dv_value tuple = dv_tuple_new(vm, items, c->as.tuple.count);
    dv_heap_free(&vm->heap, items, size);
    return tuple;
}

/* CPython's compiler makes each frozenset twice, the second of the first one's items, and the order
 * of iteration shows it. */
static dv_value make_frozenset(dv_vm *vm, dv_thread *thread, const dv_const *c) {
    dv_value tuple = make_tuple(vm, thread, c);
    if (dv_is_empty(tuple)) return DV_EMPTY;
    dv_value first = dv_set_from(vm, DV_T_FROZENSET, tuple);
    dv_release(vm, tuple);
    if (dv_is_empty(first)) return DV_EMPTY;
    dv_value items = dv_tuple_from(vm, first);
    dv_release(vm, first);
    if (dv_is_empty(items)) return DV_EMPTY;
    dv_value set = dv_set_from(vm, DV_T_FROZENSET, items);
    dv_release(vm, items);
    return set;
}

/* A constant of the code object as a value; tuples refer to constants made before them. */
static dv_value make_constant(dv_vm *vm, dv_thread *thread, const dv_const *c) {
    switch (c->kind) {
    case DV_CONST_NONE: return DV_NONE;
    case DV_CONST_FALSE: return DV_FALSE;
    case DV_CONST_TRUE: return DV_TRUE;
    case DV_CONST_ELLIPSIS: return DV_ELLIPSIS;
    case DV_CONST_INT: return dv_int_from_int64(vm, c->as.integer);
    case DV_CONST_BIGINT: return dv_int_from_hex(vm, c->as.text.data, c->as.text.size);
    case DV_CONST_FLOAT: return dv_float_foreign(c->as.real);
    case DV_CONST_STR: return dv_str_intern(vm, c->as.text.data, c->as.text.size);
    case DV_CONST_TUPLE: return make_tuple(vm, thread, c);
    case DV_CONST_FROZENSET: return make_frozenset(vm, thread, c);
    case DV_CONST_CODE: {
        dv_thread *inner = dv_thread_new(vm, c->as.code, thread->module);
        return inner ? dv_object_value(inner) : DV_EMPTY;
    }
    case DV_CONST_BYTES: return dv_bytes_new(vm, c->as.text.data, (int64_t)c->as.text.size);
    case DV_CONST_COMPLEX: return dv_complex_new(vm, 0.0, c->as.real);
    }
    return dv_raise(vm, DV_E_SYSTEM_ERROR, "constant of an unsupported kind");
}

static bool make_values(dv_vm *vm, dv_thread *thread) {
    const dv_code *code = thread->code;
    for (uint32_t i = 0; i < code->constant_count; i++) {
        thread->constants[i] = make_constant(vm, thread, &code->constants[i]);
        if (dv_is_empty(thread->constants[i])) return false;
    }
    for (uint32_t i = 0; i < code->name_count; i++) {
        thread->names[i] = dv_str_intern_name(vm, code->names[i].data, code->names[i].size);
        if (dv_is_empty(thread->names[i])) return false;
    }
    return true;
}

static void fill_operand(dv_thread *thread, dv_cell *cell, uint32_t kind, uint32_t operand) {
    switch (kind) {
    case DV_OPERAND_OWN: cell->site.own = (uint8_t)operand; break;
    case DV_OPERAND_CONST:
    case DV_OPERAND_CODE: cell->v = thread->constants[operand]; break;
    case DV_OPERAND_LOCAL: cell->i = (int64_t)operand * (int64_t)sizeof(dv_value); break;
    case DV_OPERAND_NAME: cell->v = thread->names[operand]; break;
    case DV_OPERAND_JUMP: cell->target = thread->cells + thread->cell_at[operand]; break;
    default: cell->i = operand; break;
    }
}

static void fill_cells(dv_vm *vm, dv_thread *thread) {
    const dv_code *code = thread->code;
    dv_cell *cell = thread->cells;
    memset(cell, 0, thread->cell_count * sizeof *cell);
    cell[0].h = dv_handler_of(vm, cell, DV_OP_ENTER);
    cell[1].site.wait = WARM_CALLS;
    for (uint32_t pc = 0; pc < code->word_count;) {
        uint32_t op = code->words[pc] & 0xFF;
        const dv_op_info *info = &dv_op_infos[op];
        cell = thread->cells + thread->cell_at[pc];
        if (op == DV_OP_JUMP_BACK) cell[1].site.wait = WARM_ITERATIONS;
        for (uint32_t i = 0; i < info->operand_count; i++) {
            uint32_t operand = i == 0 ? code->words[pc] >> 8 : code->words[pc + i];
            fill_operand(thread, cell + info->operand_cells[i], info->operands[i], operand);
        }
        if (info->variant_count) op = dv_op_variant(vm, thread, pc, cell, op);
        cell->h = dv_handler_of(vm, cell, op);
        pc = dv_thread_next(thread, pc);
    }
}

bool dv_thread_expand(dv_vm *vm, dv_thread *thread) {
    const dv_code *code = thread->code;
    if (!dv_code_complete(code)) return dv_raise_memory(vm), false;
    uint32_t count = dv_op_infos[DV_OP_ENTER].length;
    size_t map_size = code->word_count * sizeof(uint32_t);
    thread->cell_at = dv_heap_alloc(&vm->heap, map_size);
    if (!thread->cell_at) return dv_raise_memory(vm), false;
    for (uint32_t pc = 0; pc < code->word_count;) {
        uint32_t op = code->words[pc] & 0xFF;
        for (uint32_t i = 0; i < words_of(op); i++) thread->cell_at[pc + i] = count;
        count += dv_op_infos[op].length;
        pc += words_of(op);
    }
    thread->cells = dv_heap_alloc(&vm->heap, count * sizeof(dv_cell));
    if (!thread->cells) {
        dv_heap_free(&vm->heap, thread->cell_at, map_size);
        thread->cell_at = NULL;
        return dv_raise_memory(vm), false;
    }
    thread->cell_count = count;
    if (!make_values(vm, thread)) {
        dv_heap_free(&vm->heap, thread->cells, count * sizeof(dv_cell));
        dv_heap_free(&vm->heap, thread->cell_at, map_size);
        thread->cells = NULL;
        return false;
    }
    fill_cells(vm, thread);
    dv_thread_enter_at(vm, thread, thread->cells);
    if (vm->stress.quicken_at_once && vm->hooks.quicken.warm)
        vm->hooks.quicken.warm(vm, &thread->header);
    return true;
}

void dv_thread_hasten(dv_thread *thread) {
    if (thread->warm || thread->hastened || !thread->cells) return;
    const dv_code *code = thread->code;
    thread->hastened = true;
    thread->cells[1].site.wait = 1;
    for (uint32_t pc = 0; pc < code->word_count; pc += words_of(code->words[pc] & 0xFF))
        if ((code->words[pc] & 0xFF) == DV_OP_JUMP_BACK)
            thread->cells[thread->cell_at[pc] + 1].site.wait = 1;
}

const uint64_t *dv_thread_live(dv_vm *vm, dv_thread *thread) {
    if (thread->live) return thread->live;
    thread->live = dv_heap_alloc(&vm->heap, thread->code->word_count * sizeof *thread->live);
    if (thread->live) dv_code_liveness(thread->code, thread->live);
    return thread->live;
}

bool dv_thread_know_name(dv_vm *vm, dv_thread *thread) {
    const dv_code *code = thread->code;
    if (dv_is_empty(thread->name))
        thread->name = dv_str_intern(vm, code->name.data, code->name.size);
    if (dv_is_empty(thread->qualname) && !dv_is_empty(thread->name))
        thread->qualname = dv_str_intern(vm, code->qualname.data, code->qualname.size);
    return !dv_is_empty(thread->qualname);
}

bool dv_thread_know_parameters(dv_vm *vm, dv_thread *thread) {
    const dv_code *code = thread->code;
    if (thread->parameters || !thread->argument_count) return true;
    size_t size = thread->argument_count * sizeof(dv_value);
    dv_value *names = dv_heap_alloc(&vm->heap, size);
    if (!names) return dv_raise_memory(vm), false;
    for (uint32_t i = 0; i < thread->argument_count; i++) {
        names[i] = dv_str_intern(vm, code->local_names[i].data, code->local_names[i].size);
        if (!dv_is_empty(names[i])) continue;
        while (i-- > 0) dv_release(vm, names[i]);
        dv_heap_free(&vm->heap, names, size);
        return false;
    }
    thread->parameters = names;
    return true;
}

const dv_code *dv_code_source(const dv_object *code) { return ((const dv_thread *)code)->code; }

dv_value dv_code_doc(dv_vm *vm, const dv_object *code) {
    dv_text doc = dv_thread_code(code)->doc;
    return doc.data ? dv_str_new(vm, doc.data, doc.size) : DV_NONE;
}

static uint32_t parameter_count(const dv_code *code) {
    return code->positional_count + code->keyword_only_count +
           (code->flags & DV_CODE_VARARGS ? 1 : 0) + (code->flags & DV_CODE_VARKEYWORDS ? 1 : 0);
}

uint32_t dv_code_shadow(const dv_code *code) {
    if (code->flags & DV_CODE_HAS_LOOP) return DV_SHADOW_EXTRA;
    if (!(code->flags & DV_CODE_HOT_CALLS)) return 0;
    return code->word_count > DV_MUCH_CODE ? DV_SHADOW_EXTRA : DV_SHADOW_CALLS;
}

uint32_t dv_code_stack_base(const dv_code *code) {
    const uint32_t extra = dv_code_shadow(code);
    const uint32_t shadow = extra ? code->local_count + code->max_stack + extra : 0;
    return code->local_count + shadow;
}

dv_thread *dv_thread_new(dv_vm *vm, const dv_code *code, dv_module *module) {
    dv_thread *thread = dv_container_new(vm, sizeof *thread, DV_T_CODE);
    if (!thread) return NULL;
    dv_object header = thread->header;
    memset(thread, 0, sizeof *thread);
    thread->header = header;
    thread->serial = ++vm->thread_count;
    size_t values = code->constant_count + code->name_count;
    if (values) {
        thread->constants = dv_heap_alloc(&vm->heap, values * sizeof(dv_value));
        if (!thread->constants) {
            dv_container_free(vm, thread, sizeof *thread);
            dv_raise_memory(vm);
            return NULL;
        }
        for (size_t i = 0; i < values; i++) thread->constants[i] = DV_EMPTY;
    }
    thread->names = thread->constants + code->constant_count;
    thread->name = thread->qualname = DV_EMPTY;
    dv_thread_enter_at(vm, thread, dv_expand_cell);
    thread->argument_count = parameter_count(code);
    thread->local_count = code->local_count;
    bool simple =
        !(code->flags & (DV_CODE_VARARGS | DV_CODE_VARKEYWORDS)) && !code->keyword_only_count;
    thread->exact_arguments = simple ? (int64_t)code->positional_count : -1;
    /* What a generator returns is none of None. */
    thread->init_arguments = code->flags & DV_CODE_GENERATOR || !simple || !code->positional_count
                                 ? -1
                                 : thread->exact_arguments - 1;
    thread->stack_base = dv_code_stack_base(code);
    thread->frame_size = thread->stack_base + code->max_stack + 8;
    thread->code = code;
    code->unit->references++;
    thread->module = module;
    module->header.references++;
    thread->next = vm->codes;
    thread->previous = (dv_thread **)&vm->codes;
    if (thread->next) thread->next->previous = &thread->next;
    vm->codes = thread;
    return thread;
}

static void release_thread(dv_vm *vm, dv_object *object) {
    if (vm->release_depth == 0) {
        /* Extensions release what their sites keep, and may run dl code then: it counts, as
         * dv_object_end says, and comes back here. */
        dv_object_dispose(vm, object);
        return;
    }
    dv_thread *thread = (dv_thread *)object;
    const dv_code *code = thread->code;
    if (vm->hooks.region.release_code) vm->hooks.region.release_code(vm, object);
    *thread->previous = thread->next;
    if (thread->next) thread->next->previous = thread->previous;
    size_t values = code->constant_count + code->name_count;
    for (size_t i = 0; i < values; i++) dv_release(vm, thread->constants[i]);
    dv_release(vm, thread->name);
    dv_release(vm, thread->qualname);
    for (uint32_t i = 0; thread->parameters && i < thread->argument_count; i++)
        dv_release(vm, thread->parameters[i]);
    if (thread->parameters)
        dv_heap_free(&vm->heap, thread->parameters, thread->argument_count * sizeof(dv_value));
    if (values) dv_heap_free(&vm->heap, thread->constants, values * sizeof(dv_value));
    if (thread->cells) {
        dv_heap_free(&vm->heap, thread->cells, thread->cell_count * sizeof(dv_cell));
        dv_heap_free(&vm->heap, thread->cell_at, code->word_count * sizeof(uint32_t));
        if (thread->live)
            dv_heap_free(&vm->heap, thread->live, code->word_count * sizeof *thread->live);
        if (thread->pc_of)
            dv_heap_free(&vm->heap, thread->pc_of, thread->cell_count * sizeof *thread->pc_of);
    }
    for (dv_site_block *block = thread->blocks; block;) {
        dv_site_block *next = block->next;
        if (block->release) block->release(vm, block);
        dv_heap_free(&vm->heap, block, block->size);
        block = next;
    }
    dv_release_object(vm, &thread->module->header);
    dv_unit *unit = code->unit;
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    dv_container_free(vm, thread, sizeof *thread);
}

static void traverse_thread(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_thread *thread = (const dv_thread *)object;
    size_t values = thread->code->constant_count + thread->code->name_count;
    for (size_t i = 0; i < values; i++) visit(vm, thread->constants[i], context);
    visit(vm, dv_object_value(thread->module), context);
}

static dv_value repr_thread(dv_vm *vm, dv_value self) {
    const dv_code *code = dv_thread_code(dv_as_object(self));
    return dv_str_printf(vm, "<code object %.*s, file \"%.*s\", line %d>", (int)code->name.size,
                         code->name.data, (int)code->unit->filename.size, code->unit->filename.data,
                         (int)code->first_line);
}

/* Which locals are cells from the first instruction on. */
static bool is_cell(const dv_code *code, uint32_t local) {
    for (uint32_t pc = 0; (code->words[pc] & 0xFF) == DV_OP_MAKE_CELL; pc++)
        if (code->words[pc] >> 8 == local) return true;
    return false;
}

typedef enum local_kind { VARIABLES, CELLS, FREE } local_kind;

/* Is it a local of the function only because a comprehension is inlined, or for locals()? */
static bool is_hidden(const dv_code *code, uint32_t local) {
    static const dv_text dict = {".locals", 7};
    if (code->flags & DV_CODE_SEES_FRAME && dv_text_is_same(code->local_names[local], dict))
        return true;
    for (uint32_t i = 0; i < code->inlined_count; i++)
        if (local - code->inlined[i].first_local < code->inlined[i].local_count) return true;
    return false;
}

/* Parameters are variables even where functions share them. */
static bool is_of_kind(const dv_code *code, uint32_t local, local_kind kind) {
    if (is_hidden(code, local)) return false;
    bool free = local >= code->local_count - code->free_count;
    if (kind == FREE || free) return kind == FREE && free;
    if (kind == CELLS) return is_cell(code, local);
    return local < parameter_count(code) || !is_cell(code, local);
}

static dv_value names_of_kind(dv_vm *vm, const dv_code *code, local_kind kind) {
    if (!dv_code_complete(code)) return dv_raise_memory(vm);
    dv_value list = dv_list_new(vm, NULL, 0);
    bool done = !dv_is_empty(list);
    for (uint32_t i = 0; i < code->local_count && done; i++) {
        if (!is_of_kind(code, i, kind)) continue;
        dv_value name = dv_str_new(vm, code->local_names[i].data, code->local_names[i].size);
        done = !dv_is_empty(name) && dv_list_append(vm, list, name);
        dv_release(vm, name);
    }
    if (done && kind != VARIABLES) done = dv_list_sort(vm, list, DV_EMPTY, false);
    dv_value tuple =
        done ? dv_tuple_new(vm, dv_as_list(list)->items, dv_as_list(list)->count) : DV_EMPTY;
    dv_release(vm, list);
    return tuple;
}

/* CPython's flags, of which only those of functions are the same here. */
static int64_t flags_of(const dv_code *code) {
    enum {
        OPTIMIZED = 1,
        NEW_LOCALS = 2,
        VARARGS = 4,
        VARKEYWORDS = 8,
        NESTED = 16,
        GENERATOR = 32
    };
    if (code->flags & (DV_CODE_MODULE | DV_CODE_CLASS)) return 0;
    bool nested = code->qualname.size > code->name.size + 9 &&
                  memcmp(code->qualname.data + code->qualname.size - code->name.size - 9,
                         "<locals>.", 9) == 0;
    return OPTIMIZED | NEW_LOCALS | (code->flags & DV_CODE_VARARGS ? VARARGS : 0) |
           (code->flags & DV_CODE_VARKEYWORDS ? VARKEYWORDS : 0) | (nested ? NESTED : 0) |
           (code->flags & DV_CODE_GENERATOR ? GENERATOR : 0);
}

/* What CPython's code objects say of CPython's instructions. */
static bool is_refused(dv_value name) {
    static const char *const names[] = {"co_code",      "co_consts",    "co_exceptiontable",
                                        "co_linetable", "co_lines",     "co_lnotab",
                                        "co_names",     "co_positions", "co_stacksize"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dv_str_is(name, names[i])) return true;
    return false;
}

static dv_value code_locals(dv_vm *vm, const dv_code *code, dv_value name) {
    if (dv_str_is(name, "co_varnames")) return names_of_kind(vm, code, VARIABLES);
    if (dv_str_is(name, "co_cellvars")) return names_of_kind(vm, code, CELLS);
    if (dv_str_is(name, "co_freevars")) return names_of_kind(vm, code, FREE);
    if (!dv_str_is(name, "co_nlocals")) return DV_EMPTY;
    dv_value names = names_of_kind(vm, code, VARIABLES);
    if (dv_is_empty(names)) return DV_EMPTY;
    int64_t count = dv_as_tuple(names)->count;
    dv_release(vm, names);
    return dv_int(count);
}

/* What programs ask of code objects, but for what is another machine's. */
static dv_value code_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_code *code = dv_thread_code(dv_as_object(self));
    const dv_text *file = &code->unit->filename;
    if (dv_str_is(name, "co_name")) return dv_str_new(vm, code->name.data, code->name.size);
    if (dv_str_is(name, "co_qualname"))
        return dv_str_new(vm, code->qualname.data, code->qualname.size);
    if (dv_str_is(name, "co_filename")) return dv_str_new(vm, file->data, file->size);
    if (dv_str_is(name, "co_firstlineno")) return dv_int(code->first_line);
    if (dv_str_is(name, "co_argcount")) return dv_int(code->positional_count);
    if (dv_str_is(name, "co_posonlyargcount")) return dv_int(code->positional_only_count);
    if (dv_str_is(name, "co_kwonlyargcount")) return dv_int(code->keyword_only_count);
    if (dv_str_is(name, "co_flags")) return dv_int(flags_of(code));
    if (is_refused(name))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%S' of a code object is not part of dl", name);
    return code_locals(vm, code, name);
}

const dv_type dv_code_type = {.name = "code",
                              .id = DV_T_CODE,
                              .weakly = true,
                              .release = release_thread,
                              .traverse = traverse_thread,
                              .repr = repr_thread,
                              .get_attribute = code_get_attribute};
