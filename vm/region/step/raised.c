/* raised.c: the transfer function of what is raised and caught in the region, and of handlers. */
#include "region/step/raised.h"

#include "region/step/maker.h"
#include "region/step/virtual.h"
#include "types/class/class.h"
#include "types/exception/exception.h"
#include "types/sequence/tuple.h"
#include "types/text/str.h"

/* What can look whether an instruction whose guard has failed raises. */
typedef enum test { TEST_NOTHING, TEST_ZERO, TEST_LIST, TEST_TUPLE, TEST_CALL } test;

struct dv_raising {
    dv_class *class_;
    const char *text;      /* its only argument, with another one as its %V, or NULL */
    int32_t first, count;  /* else entries that are its arguments, ... */
    const dv_maker *maker; /* ... of which this makes others, and attributes; or NULL */
    uint32_t pc;           /* of what raises, in the innermost frame */
    test test;
    int16_t home;  /* of what is indexed */
    uint32_t exit; /* where nothing was raised */
};

/* Where it is caught
 * ------------------------------------------------------------------------------------------------
 */

/* A handler, and the function in which it is. */
typedef struct catcher {
    dv_context *context; /* NULL: there is none in the region */
    uint32_t pc;
    int32_t floor; /* entries that stay */
    bool enters;   /* it begins with ENTER_HANDLER */
} catcher;

static catcher catcher_at(dv_context *at, const dv_exception_entry *entry) {
    dv_context *context = dv_context_at(at, entry->handler);
    const int32_t locals = (int32_t)at->thread->code->local_count;
    catcher c = {context, entry->handler, at->base + locals + (int32_t)entry->depth, false};
    if (dv_snapshot_at(context, c.pc) == NULL) return (catcher){0};
    c.enters = dv_step_op_in(context, c.pc) == DV_OP_ENTER_HANDLER;
    if (c.enters && dv_step_op_in(context, c.pc + 1) == DV_OP_WITH_EXCEPTION) return (catcher){0};
    return c;
}

/* The handler of what the instruction at b->pc raises. */
static catcher find_catcher(const dv_build *b) {
    dv_context *at = b->context;
    uint32_t pc = b->pc;
    if (b->vm->nama != DV_NAMA_VIRTUAL || b->producer.context || b->charged) return (catcher){0};
    for (;; pc = at->call_pc, at = at->parent) {
        const dv_code *code = at->thread->code;
        if (code->inlined_count && dv_code_inlined(code, pc)) break;
        const dv_exception_entry *entry = dv_code_handler(code, pc);
        if (entry) return catcher_at(at, entry);
        if (!at->parent || at->entering != DV_ENTERS_CALL) break;
    }
    return (catcher){0};
}

/* Is the entry released on the way to the handler? */
static bool is_counted(dv_build *b, int32_t q) {
    return b->e[q].kind == DV_K_RANGE ||
           (b->e[q].where == DV_AT_HOME && b->e[q].kind != DV_K_NOTHING &&
            dv_owned(b, b->context, b->pc, q));
}

/* Goes the entry without that anybody can notice? */
static bool goes_silently(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (dv_has_record(e)) return false;
    if (e->where != DV_AT_HOME || e->kind == DV_K_NOTHING) return true;
    return e->kind == DV_K_STR || e->kind == DV_K_BYTES ||
           (e->kind != DV_K_UNSET && !dv_owned(b, b->context, b->pc, q));
}

bool dv_raised_is_caught(dv_build *b, int32_t n) {
    const catcher c = find_catcher(b);
    for (int32_t q = 0; c.enters && q < b->top - n; q++)
        if (dv_is_raised(&b->e[q]) || (q >= c.floor && !goes_silently(b, q))) return false;
    return c.enters;
}

/* The number of the handler, which is one where branches have copies of it; -1: there is no memory.
 */
static int32_t note_handler(dv_build *b, const catcher *c) {
    const dv_context *context = c->context;
    while (context->joins) context = context->joins;
    for (int32_t i = 0; i < (int32_t)b->handlers.count; i++)
        if (b->handlers.data[i].pc == c->pc && b->handlers.data[i].context == context) return i;
    const int32_t number = (int32_t)b->handlers.count;
    return DV_PUSH(b, handlers, (dv_caught){.context = context, .pc = c->pc}) ? number : -1;
}

/* Are both of the same class, with as many arguments and the same attributes? */
static bool is_akin(const dv_source *a, const dv_source *c) {
    bool same = a->class_ == c->class_ && a->text == c->text && a->count == c->count &&
                a->attribute_count == c->attribute_count;
    for (uint32_t i = 0; i < a->attribute_count && same; i++)
        same = dv_same(a->names[i], c->names[i]);
    return same;
}

static bool has_same_place(const dv_source *a, const dv_source *c) {
    bool same = a->frame_count == c->frame_count;
    for (uint32_t i = 0; i < a->frame_count && same; i++)
        same = a->frames[i].thread == c->frames[i].thread && a->frames[i].pc == c->frames[i].pc;
    return same;
}

static bool has_same_values(const dv_source *a, const dv_source *c) {
    for (uint32_t i = 0; i < a->count + a->attribute_count; i++)
        if (a->kinds[i] != c->kinds[i] || a->slots[i] != c->slots[i] ||
            (a->kinds[i] == DV_K_CONSTANT && !dv_same(a->values[i], c->values[i])))
            return false;
    return true;
}

/* The number of the form in which the handler knows what is raised; -1: it has too many, or there
 * is no memory.  What has been found there does not hold where it is a new one. */
static int32_t note_form(dv_build *b, dv_caught *handler, const dv_source *source) {
    uint32_t i = 0;
    while (i < handler->count &&
           !(is_akin(handler->forms[i], source) &&
             (has_same_place(handler->forms[i], source) ||
              (!(handler->vague >> i & 1) && has_same_values(handler->forms[i], source)))))
        i++;
    if (i < handler->count &&
        (handler->vague >> i & 1 || has_same_values(handler->forms[i], source)))
        return (int32_t)i;
    if (i == DV_CAUGHT_FORMS) return -1;
    if (i < handler->count) { /* it has other arguments in a later round */
        handler->vague |= 1u << i;
    } else {
        dv_source *form = dv_build_get(b, sizeof *form);
        if (!form) return -1;
        *form = *source;
        handler->forms[handler->count++] = form;
    }
    b->again |= handler->entered;
    if (b->emitting) dv_build_fail(b, DV_REFUSED_MEETING);
    return (int32_t)i;
}

/* Raising
 * ------------------------------------------------------------------------------------------------
 */

static bool is_constant(const dv_known_value *e) { return e->where == DV_AT_VALUE; }

static bool is_object(const dv_known_value *e) {
    return !is_constant(e) && !dv_is_raw_number(e) && e->kind != DV_K_BOOL;
}

/* The entry that the value is, an argument or an attribute of the exception; -1: a constant. */
static int32_t entry_of(const dv_raising *raising, uint32_t value) {
    if (!raising->maker) return raising->first + (int32_t)value;
    const int32_t argument = raising->maker->kept[value].argument;
    return argument < 0 ? -1 : raising->first + argument;
}

static uint32_t value_count(const dv_raising *raising) {
    return raising->maker ? raising->maker->count + raising->maker->attribute_count
                          : (uint32_t)raising->count;
}

static bool is_kept(const dv_raising *raising, int32_t q) {
    for (uint32_t i = 0; i < value_count(raising); i++)
        if (entry_of(raising, i) == q) return true;
    return false;
}

/* Do the arguments fit a source?  (They come into slots, or are constants.) */
static bool are_arguments(dv_build *b, const dv_raising *raising) {
    int32_t moved = 0;
    for (int32_t q = raising->first; q < raising->first + raising->count; q++) {
        if (b->e[q].kind >= DV_K_UNSET || b->e[q].kind == DV_K_NOTHING) return false;
        const bool kept = is_kept(raising, q);
        if (!kept && !goes_silently(b, q)) return false;
        moved += kept && !is_constant(&b->e[q]);
    }
    return raising->count <= DV_SOURCE_ARGUMENTS && moved <= DV_SOURCE_SLOTS;
}

/* An argument to the slot, with a count of its own if it is an object. */
static void move_argument(dv_build *b, int32_t q, int16_t slot) {
    const dv_known_value *e = &b->e[q];
    if (e->where == DV_AT_REGISTER)
        dv_store_register(b, q, slot);
    else if (e->where == DV_AT_SLOT)
        dv_region_emit(b, DV_OP_R_MOVE, e->slot, slot, 0);
    else if (e->where == DV_AT_ALIAS)
        dv_region_emit(b, DV_OP_R_COPY, dv_home(b, e->slot), slot, 0);
    else
        dv_region_emit(b, dv_owned(b, b->context, b->pc, q) ? DV_OP_R_BORROW : DV_OP_R_COPY,
                       dv_home(b, q), slot, 0);
}

/* What the exception keeps, to slots behind `slot`, each once. */
static void take_values(dv_build *b, const dv_raising *raising, int16_t slot, dv_source *source,
                        dv_caught *handler) {
    uint8_t slots[DV_SOURCE_ARGUMENTS] = {0}, moved = 0;
    for (uint32_t i = 0; i < value_count(raising); i++) {
        const int32_t q = entry_of(raising, i);
        source->kinds[i] = DV_K_CONSTANT;
        if (q < 0 || is_constant(&b->e[q])) {
            source->values[i] = q < 0 ? raising->maker->kept[i].value : b->e[q].value;
            continue;
        }
        const bool object = is_object(&b->e[q]);
        uint8_t *place = &slots[q - raising->first];
        if (object && !handler->objects) handler->objects = b->again = true;
        if (!*place) move_argument(b, q, (int16_t)(slot + (*place = ++moved)));
        source->kinds[i] = object ? DV_K_ANY : b->e[q].kind;
        source->slots[i] = *place;
        if (object) source->objects |= (uint8_t)(1u << *place);
    }
}

/* Those from what raises at pc to the one that catches it. */
static void note_frames(const dv_build *b, uint32_t pc, const dv_context *last, dv_source *source) {
    for (const dv_context *at = b->context;; pc = at->call_pc, at = at->parent) {
        source->frames[source->frame_count].thread = (dv_thread *)at->thread;
        source->frames[source->frame_count++].pc = pc;
        if (at->base == last->base) return;
    }
}

/* Control goes to the handler; what is above its entries is released, but for the arguments. */
static void go(dv_build *b, const dv_raising *raising) {
    const catcher c = find_catcher(b);
    const int32_t number = note_handler(b, &c);
    if (number < 0) return;
    dv_caught *handler = &b->handlers.data[number];
    const int16_t slot = dv_triple(b, c.floor);
    if (b->failed) return;
    const dv_maker *maker = raising->maker;
    dv_source source = {.class_ = raising->class_,
                        .text = raising->text,
                        .count = (uint8_t)(maker ? maker->count : (uint32_t)raising->count),
                        .attribute_count = (uint8_t)(maker ? maker->attribute_count : 0)};
    for (uint32_t i = 0; i < source.attribute_count; i++) source.names[i] = maker->names[i];
    take_values(b, raising, slot, &source, handler);
    note_frames(b, raising->pc, c.context, &source);
    const int32_t form = note_form(b, handler, &source);
    if (form < 0) dv_build_fail(b, DV_REFUSED_SIZE);
    source.number = (uint8_t)form;
    for (int32_t q = b->top - 1; q >= c.floor; q--) {
        if (!is_kept(raising, q) && is_counted(b, q))
            dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, q), 0, 0);
    }
    dv_region_emit_constant(b, dv_region_emit(b, DV_OP_R_RAISE, slot, 0, 0),
                            (dv_cell){.i = (int64_t)b->sources.count});
    if (b->emitting) DV_PUSH(b, sources, source);
    b->top = c.floor;
    dv_push_known(b, DV_K_RAISED, DV_AT_NOWHERE, slot, dv_int(number));
    dv_build_flow(b, c.context, c.pc);
}

/* What is an object
 * ------------------------------------------------------------------------------------------------
 */

static bool is_unset(const dv_known_value *e) {
    return e->kind == DV_K_UNSET && e->where == DV_AT_HOME;
}

/* Do the entries that go on the way, but for the n topmost ones, do so silently?  What is not made
 * will be, and locals that may be unassigned will have nothing. */
static bool is_silent(dv_build *b, const catcher *c, int32_t n) {
    for (int32_t q = c->floor; q < b->top - n; q++)
        if (!dv_is_raised(&b->e[q]) && !is_unset(&b->e[q]) && !goes_silently(b, q)) return false;
    return true;
}

/* To the handler, or to where one that is left ends. */
static void go_with_object(dv_build *b, const catcher *c, int32_t count) {
    const int16_t slot = dv_triple(b, c->floor);
    const int32_t number = note_handler(b, c);
    if (number < 0) return;
    dv_caught *handler = &b->handlers.data[number];
    dv_source source = {.count = 1, .kinds = {DV_K_ANY}, .slots = {1}, .objects = 1u << 1};
    note_frames(b, b->pc, c->context, &source);
    const int32_t form = note_form(b, handler, &source);
    if (form < 0) dv_build_fail(b, DV_REFUSED_SIZE);
    source.number = (uint8_t)form;
    if (!handler->objects) handler->objects = b->again = true;
    dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false, false);
    dv_region_emit_constant(b, dv_region_emit(b, DV_OP_R_RAISE_OBJECT, slot, count, 0),
                            (dv_cell){.i = (int64_t)b->sources.count});
    if (b->emitting) DV_PUSH(b, sources, source);
    for (int32_t q = b->top - 1; q >= c->floor; q--)
        if (is_counted(b, q)) dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, q), 0, 0);
    b->top = c->floor;
    if (c->enters) {
        dv_push_known(b, DV_K_RAISED, DV_AT_NOWHERE, slot, dv_int(number));
    } else {
        dv_region_emit(b, DV_OP_R_BORROW, slot + 1, dv_home(b, b->top), 0);
        dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    }
    dv_build_flow(b, c->context, c->pc);
}

/* RAISE with so many operands, or RERAISE. */
static uint32_t raise_object(dv_build *b, int32_t count) {
    const int32_t inputs = count == DV_RAISES_AGAIN ? 1 : count;
    const catcher c = find_catcher(b);
    const bool fits =
        inputs == 0 || (dv_top(b, inputs)->kind == DV_K_ANY && dv_top(b, 1)->kind < DV_K_UNSET);
    if (!c.context || !fits || !is_silent(b, &c, inputs)) return dv_step_leave(b);
    dv_raised_show_all(b); /* the context */
    if (b->ended) return b->pc;
    for (int32_t q = b->top - inputs; q < b->top; q++) dv_materialize(b, q);
    dv_spill(b, false, b->top);
    dv_spill(b, true, b->top);
    dv_step_count(b, false);
    for (int32_t q = c.floor; q < b->top; q++) {
        if (!is_unset(&b->e[q])) continue;
        dv_region_emit_guard(b, DV_OP_R_GUARD_UNSET, dv_home(b, q), 0, 0);
        b->e[q].where = DV_AT_VALUE;
        b->version++;
    }
    go_with_object(b, &c, count);
    return b->pc;
}

uint32_t dv_step_reraise(dv_build *b, uint32_t next_pc) {
    (void)next_pc;
    return raise_object(b, DV_RAISES_AGAIN);
}

/* Objects of the class die in silence, and what a call with the arguments makes of them is known:
 * they are nothing but exceptions, or the maker says what they keep. */
static bool is_plain(dv_build *b, dv_class *class_, int32_t n, dv_raising *raising,
                     dv_maker *maker) {
    if (class_->type != DV_T_EXCEPTION || dv_class_special(class_, b->vm->known.del) ||
        !(class_->descriptor || dv_build_depends(b, &class_->layout)))
        return false;
    if (dv_class_constructor(b->vm, class_) == &dv_exception_constructor) return true;
    const int32_t calls = dv_inlined_calls(b->context);
    if (!dv_maker_find(b, class_, n, maker)) return false;
    if (calls + maker->depth > b->region->inlined)
        b->region->inlined = (int16_t)(calls + maker->depth);
    raising->maker = maker;
    return true;
}

bool dv_raised_call(dv_build *b, dv_class *class_, int32_t n, uint32_t next_pc) {
    dv_maker maker;
    dv_raising raising = {.class_ = class_, .first = b->top - n, .count = n, .pc = next_pc};
    if (!dv_step_follows(b, next_pc, DV_OP_RAISE) || dv_word_operand(b, next_pc, 0) != 1)
        return false;
    if (!dv_raised_is_caught(b, n + 3) || !is_plain(b, class_, n, &raising, &maker) ||
        !are_arguments(b, &raising))
        return false;
    for (int32_t q = raising.first; q < b->top; q++)
        if (b->e[q].kind == DV_K_CHAR || b->e[q].kind == DV_K_COMPLEX ||
            b->e[q].kind == DV_K_VIRTUAL)
            dv_materialize(b, q);
    dv_step_count(b, true);
    go(b, &raising);
    return true;
}

uint32_t dv_step_raise(dv_build *b, uint32_t next_pc) {
    const dv_known_value *e = dv_top(b, 1);
    dv_raising raising = {.first = b->top, .pc = b->pc};
    dv_maker maker;
    (void)next_pc;
    if (dv_word_operand(b, b->pc, 0) != 1 || !is_constant(e) || !dv_is_class(e->value) ||
        !dv_raised_is_caught(b, 1) || !is_plain(b, dv_as_class(e->value), 0, &raising, &maker))
        return raise_object(b, (int32_t)dv_word_operand(b, b->pc, 0));
    raising.class_ = dv_as_class(e->value);
    dv_step_count(b, true);
    go(b, &raising);
    return b->pc;
}

/* Behind guards
 * ------------------------------------------------------------------------------------------------
 */

/* The exception is raised where the jump in the cell leads, with the entries as they are. */
static void raise_from(dv_build *b, uint32_t cell, dv_raising *raising) {
    dv_known_value *copy = dv_build_get(b, (size_t)(b->top + 1) * sizeof *copy);
    if (!copy) return;
    memcpy(copy, b->e, (size_t)b->top * sizeof *copy);
    if (b->emitting) {
        dv_raising *kept = dv_build_get(b, sizeof *kept);
        if (!kept) return;
        *kept = *raising;
        DV_PUSH(b, edges, (dv_edge){cell, b->context, b->pc, copy, b->top, false, -1, kept});
        return;
    }
    const int32_t top = b->top;
    go(b, raising);
    memcpy(b->e, copy, (size_t)top * sizeof *copy);
    b->top = top;
    b->ended = b->failed;
}

/* The same, where the guard at `at` leaves: a test is in front of its exit. */
static void raise_behind(dv_build *b, uint32_t at, dv_raising *raising) {
    if (b->emitting) {
        const uint32_t uses = b->exit_uses.count; /* a branch by kind may be in its place */
        if (b->failed || uses == 0 || b->exit_uses.data[uses - 1] != at + 3) return;
        b->exit_uses.count--;
        raising->exit = (uint32_t)b->cells.data[at + 3].i;
    }
    raise_from(b, at + 3, raising);
}

static dv_raising raising_of(dv_build *b, dv_error_class error, const char *text, test test) {
    return (dv_raising){.class_ = dv_exception_class(b->vm, error),
                        .text = text,
                        .pc = b->pc,
                        .first = b->top,
                        .test = test};
}

void dv_raised_divides(dv_build *b, uint32_t at, const char *text) {
    dv_raising raising = raising_of(b, DV_E_ZERO_DIVISION_ERROR, text, TEST_ZERO);
    if (!is_constant(dv_top(b, 1)) && dv_raised_is_caught(b, 0)) raise_behind(b, at, &raising);
}

void dv_raised_indexes(dv_build *b, uint32_t at, bool is_list, int32_t home) {
    dv_raising raising = raising_of(
        b, DV_E_INDEX_ERROR, is_list ? "list index out of range" : "tuple index out of range",
        is_list ? TEST_LIST : TEST_TUPLE);
    raising.home = (int16_t)home;
    if (dv_raised_is_caught(b, 0)) raise_behind(b, at, &raising);
}

void dv_raised_lookup(dv_build *b, uint32_t at) {
    dv_raising raising = raising_of(b, DV_E_KEY_ERROR, NULL, TEST_NOTHING);
    raising.first = b->top - 1, raising.count = 1;
    raise_from(b, at + 4, &raising);
}

/* What the function declares that the site of the call has seen; NULL: nothing. */
static const dv_declared *declared_at(const dv_build *b) {
    enum { CACHE = 3 /* where the cache of a call begins */ };
    const uint32_t op = dv_step_op(b, b->pc);
    const dv_op_info *info = dv_step_evidence(b);
    const dv_cell *cache = dv_site_cell(b, b->pc) + CACHE;
    if (op != DV_OP_CALL && op != DV_OP_CALL_METHOD) return NULL; /* with names */
    if (!info || info->kind != DV_KIND_DERIVATIVE) return NULL;
    if (info->cached[0] == DV_CACHED_FUNCTION) return ((const dv_cfunction_def *)cache->p)->raises;
    return info->cached[0] == DV_CACHED_CLASS ? dv_as_class(cache->v)->descriptor->raises : NULL;
}

/* The entries that are released on the way to the handler, as a set of home slots from that of the
 * first one on; false: some cannot be released there, or are too far away. */
static bool find_released(dv_build *b, int32_t first, uint64_t *set) {
    *set = 0;
    for (int32_t q = 0; q < b->top; q++) {
        const int32_t at = dv_home(b, q) - dv_home(b, first);
        if (dv_is_raised(&b->e[q])) return false;
        if (q < first || !is_counted(b, q)) continue;
        if (dv_has_record(&b->e[q]) || b->e[q].kind == DV_K_RANGE || at < 0 || at > 63)
            return false;
        *set |= (uint64_t)1 << at;
    }
    return true;
}

/* Has the handler ever run?  (What follows ENTER_HANDLER knows, most often.) */
static bool has_caught(const dv_build *b, const catcher *c) {
    const dv_thread *thread = c->context->thread;
    const uint32_t pc = c->pc + dv_op_infos[DV_OP_ENTER_HANDLER].length;
    const dv_cell *cell = thread->cells + thread->cell_at[pc];
    const uint32_t op = dv_op_of(b->vm, cell->h);
    return op >= DV_OP_COUNT || dv_op_infos[op].kind != DV_KIND_ADAPTIVE || cell[1].site.backoff;
}

void dv_raised_quietly(dv_build *b) {
    enum { WORTH = 4 /* typed instructions: what making an exception takes */ };
    const dv_declared *declared = declared_at(b);
    const catcher c = declared ? find_catcher(b) : (catcher){0};
    uint64_t set;
    if (!c.enters || !has_caught(b, &c) || !find_released(b, c.floor, &set)) return;
    dv_raising raising = raising_of(b, declared->error, declared->text, TEST_CALL);
    const bool self = dv_step_op(b, b->pc) == DV_OP_CALL_METHOD;
    if (declared->argument) {
        raising.first -= (int32_t)dv_word_operand(b, b->pc, 0) + self - declared->argument + 1;
        raising.count = 1;
    }
    if (raising.first < c.floor || !are_arguments(b, &raising)) return;
    const uint32_t at =
        dv_region_emit(b, DV_OP_R_QUIET, dv_home(b, c.floor), dv_home(b, raising.first), 0);
    dv_region_emit_constant(b, at, (dv_cell){.p = (void *)(uintptr_t)declared});
    if (b->emitting && !b->failed) b->cells.data[at + 4].i = (int64_t)set;
    raise_from(b, at + 3, &raising);
    for (int32_t i = 0; i < WORTH; i++) dv_step_count(b, true);
}

/* The cell with the target of a jump if the instruction does not raise. */
static uint32_t emit_test(dv_build *b, const dv_raising *raising) {
    const dv_known_value *e = dv_top(b, 1);
    const dv_operand x = dv_raw_operand(e);
    const uint32_t mode = x.mode == 'S' ? 0 : x.mode == 'K' ? 1 : 2;
    if (raising->test == TEST_ZERO) return dv_step_unless_zero(b, b->top - 1) + 3;
    const uint32_t base = raising->test == TEST_LIST ? DV_OP_RL_INSIDE_S : DV_OP_RT_INSIDE_S;
    const uint32_t at = dv_region_emit(b, base + mode, raising->home, x.slot, 0);
    if (x.mode == 'K') dv_region_emit_constant(b, at, x.k);
    return at + 3;
}

void dv_raised_stub(dv_build *b, const dv_raising *raising) {
    if (raising->test == TEST_CALL) {
        dv_charge(b, false);
    } else if (raising->test) {
        const uint32_t use = emit_test(b, raising);
        if (b->failed) return;
        b->cells.data[use].i = raising->exit;
        DV_PUSH(b, exit_uses, use);
    }
    go(b, raising);
}

/* Handlers
 * ------------------------------------------------------------------------------------------------
 */

/* The value of an entry: the number of the handler, and above it, where clauses have looked, the
 * set of the forms that it can have; 0: all. */
enum { HANDLER_BITS = 12 };

static int64_t handler_number(const dv_known_value *e) {
    return dv_as_int(e->value) & ((1 << HANDLER_BITS) - 1);
}

static dv_caught *caught_by(const dv_build *b, const dv_known_value *e) {
    return &b->handlers.data[handler_number(e)];
}

static uint32_t forms_of(const dv_build *b, const dv_known_value *e) {
    const uint32_t forms = (uint32_t)(dv_as_int(e->value) >> HANDLER_BITS);
    return forms ? forms : (uint32_t)((UINT64_C(1) << caught_by(b, e)->count) - 1);
}

static void set_forms(dv_known_value *e, uint32_t forms) {
    e->value = dv_int(handler_number(e) | (int64_t)forms << HANDLER_BITS);
}

static dv_caught *caught_at(const dv_build *b, int32_t q) { return caught_by(b, &b->e[q]); }

static bool is_the_same(const dv_known_value *a, const dv_known_value *c) {
    return dv_is_raised(a) && dv_is_raised(c) && a->slot == c->slot;
}

int32_t dv_raised_handled(const dv_build *b, int32_t q) {
    for (int32_t i = b->locals; i < b->top; i++)
        if (b->e[i].kind == DV_K_HANDLED && b->e[i].slot == b->e[q].slot) return i;
    return -1;
}

/* The exception is to be made, by the clause at the latest: all is to be found anew. */
static void show_early(dv_build *b, const dv_known_value *e) {
    dv_caught *handler = caught_by(b, e);
    if (!handler->shown) handler->shown = DV_SHOWN_IN_CLAUSE;
    b->again = b->ended = true;
}

void dv_raised_show(dv_build *b, int32_t q) {
    dv_caught *handler = caught_at(b, q);
    if (!handler->shown) {
        show_early(b, &b->e[q]);
        return;
    }
    if (q > 0 && b->e[q].kind == DV_K_RAISED && is_the_same(&b->e[q - 1], &b->e[q])) q--;
    if (b->e[q].kind != DV_K_HANDLED) {
        dv_build_fail(b, DV_REFUSED_MEETING);
        return;
    }
    const bool both = q + 1 < b->top && b->e[q + 1].kind == DV_K_RAISED;
    dv_spill(b, false, b->top);
    dv_spill(b, true, b->top);
    const uint32_t at =
        dv_region_emit(b, DV_OP_R_HANDLE, b->e[q].slot, dv_home(b, q), dv_home(b, q + both));
    for (int32_t i = q; i <= q + both; i++)
        b->e[i] = (dv_known_value){DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY};
    dv_step_count(b, false);
    b->version++;
    /* Without memory for it: what ends the handling covers only what is behind ENTER_HANDLER. */
    const bool enters = dv_step_op(b, b->pc) == DV_OP_ENTER_HANDLER;
    const uint32_t pc = b->pc + (enters ? dv_step_length(b, b->pc) : 0);
    dv_point_add(b, at, dv_exit_make(b, b->context, pc, false), true, false, false);
}

bool dv_raised_is_shown(const dv_build *b, int32_t q) {
    return q > 0 && b->e[q - 1].kind == DV_K_HANDLED && is_the_same(&b->e[q - 1], &b->e[q]) &&
           caught_at(b, q)->shown;
}

void dv_raised_show_all(dv_build *b) {
    if (b->handlers.count == 0) return;
    for (int32_t q = b->locals; q < b->top; q++)
        if (b->e[q].kind == DV_K_HANDLED) dv_raised_show(b, q);
}

void dv_raised_ask(dv_build *b) {
    if (b->handlers.count == 0) return;
    for (int32_t q = b->locals; q < b->top; q++) {
        if (b->e[q].kind != DV_K_HANDLED) continue;
        caught_at(b, q)->shown++;
        b->again = b->ended = true;
    }
}

uint32_t dv_step_enter_handler(dv_build *b, uint32_t next_pc) {
    const dv_known_value e = *dv_top(b, 1);
    if (e.kind != DV_K_RAISED) return dv_step_leave(b);
    dv_top(b, 1)->kind = DV_K_HANDLED;
    caught_at(b, b->top - 1)->entered = true;
    dv_push_known(b, DV_K_RAISED, DV_AT_NOWHERE, e.slot, e.value);
    if (caught_at(b, b->top - 1)->shown >= DV_SHOWN_AT_ONCE) dv_raised_show(b, b->top - 1);
    return next_pc;
}

uint32_t dv_step_leave_handler(dv_build *b, uint32_t next_pc) {
    const int32_t q = b->top - 1;
    if (b->e[q].kind != DV_K_HANDLED) return dv_step_embed(b, 1, 0, next_pc);
    const dv_known_value e = b->e[q];
    dv_pop(b, 1);
    if (dv_raised_drop(b, &e)) dv_step_point_after(b, next_pc);
    return next_pc;
}

/* Adds those of the forms that come to the handler that the type catches, by their numbers; false:
 * it is no class of exceptions that is known. */
static bool find_caught(const dv_caught *handler, dv_value type, uint32_t *caught) {
    if (!dv_is_class(type) || dv_as_class(type)->type != DV_T_EXCEPTION) return false;
    for (uint32_t k = 0; k < handler->count; k++)
        if (handler->forms[k]->class_ &&
            dv_class_is_subclass(handler->forms[k]->class_, dv_as_class(type)))
            *caught |= UINT32_C(1) << k;
    return true;
}

/* Those of the forms that are objects, whose classes are not known. */
static uint32_t objects_among(const dv_caught *handler, uint32_t forms) {
    for (uint32_t k = 0; k < handler->count; k++)
        if (handler->forms[k]->class_) forms &= ~(UINT32_C(1) << k);
    return forms;
}

/* Whether an except clause with the n types, classes, catches what the entry below its `inputs`
 * ones has; false: it cannot be told. */
static bool answer(dv_build *b, int32_t inputs, const dv_value *types, int64_t n) {
    const int32_t q = b->top - inputs - 1;
    const int16_t slot = b->e[q].slot;
    const dv_caught *handler = caught_at(b, q);
    const uint32_t all = forms_of(b, &b->e[q]), objects = objects_among(handler, all);
    uint32_t caught = 0;
    for (int64_t i = 0; i < n; i++)
        if (!find_caught(handler, types[i], &caught)) return false;
    caught &= all;
    b->clause_catches = caught | objects;
    set_forms(&b->e[q], (all & ~caught) | objects); /* where the next clause looks */
    dv_pop(b, inputs);
    if (!objects && (caught == 0 || caught == all)) {
        dv_push_constant(b, dv_bool(caught != 0));
        return true;
    }
    dv_spill(b, false, b->top);
    for (int64_t i = 0; i < (objects ? n : 1); i++) {
        const uint32_t at =
            dv_region_emit(b, objects ? DV_OP_R_CATCHES_OBJECT : DV_OP_R_CATCHES, slot, i > 0, 0);
        dv_region_emit_constant(b, at, (dv_cell){.i = caught});
        if (objects && b->emitting && !b->failed) b->cells.data[at + 3].p = dv_as_class(types[i]);
    }
    dv_step_count(b, true);
    dv_push_known(b, DV_K_BOOL, DV_AT_REGISTER, 0, DV_EMPTY);
    return true;
}

uint32_t dv_step_match_exception(dv_build *b, uint32_t next_pc) {
    const dv_known_value *type = dv_top(b, 1);
    const int32_t q = b->top - 2;
    const bool tuple = is_constant(type) && dv_is_tuple(type->value);
    const dv_value v = type->value, *types = tuple ? dv_as_tuple(v)->items : &v;
    const int64_t n = tuple ? dv_as_tuple(v)->count : 1;
    if (b->e[q].kind == DV_K_RAISED && is_constant(type) && answer(b, 1, types, n)) return next_pc;
    return dv_step_embed(b, 2, 2, next_pc);
}

bool dv_raised_among(dv_build *b, int32_t n, uint32_t *next_pc) {
    const int32_t q = b->top - n - 1;
    dv_value types[DV_CAUGHT_TYPES];
    if (q < b->locals || b->e[q].kind != DV_K_RAISED || n > DV_CAUGHT_TYPES ||
        !dv_step_follows(b, *next_pc, DV_OP_MATCH_EXCEPTION))
        return false;
    for (int32_t i = 0; i < n; i++) {
        if (!is_constant(&b->e[q + 1 + i])) return false;
        types[i] = b->e[q + 1 + i].value;
    }
    if (!answer(b, n, types, n)) return false;
    *next_pc += dv_step_length(b, *next_pc);
    return true;
}

/* `as e`
 * ------------------------------------------------------------------------------------------------
 */

bool dv_raised_name(dv_build *b, int32_t q) {
    const dv_known_value e = *dv_top(b, 1);
    const dv_kind kind = (dv_kind)b->e[q].kind;
    const bool at_home = b->e[q].where == DV_AT_HOME && kind != DV_K_NOTHING;
    if (caught_by(b, &e)->shown || dv_raised_handled(b, b->top - 1) != b->top - 2 ||
        (at_home && kind != DV_K_UNSET))
        return false;
    if (at_home) dv_region_emit_guard(b, DV_OP_R_GUARD_UNSET, dv_home(b, q), 0, 0);
    dv_pop(b, 1);
    b->e[q] = e;
    set_forms(&b->e[q], b->clause_catches);
    b->version++;
    return true;
}

bool dv_raised_drop(dv_build *b, const dv_known_value *e) {
    for (int32_t q = 0; q < b->top; q++)
        if (is_the_same(&b->e[q], e)) return false;
    if (!caught_by(b, e)->objects) return false;
    dv_region_emit(b, DV_OP_R_FORGET, e->slot, 0, 0);
    return true;
}

dv_kind dv_raised_join(dv_build *b, const dv_known_value *a, const dv_known_value *c) {
    const dv_known_value *e = dv_is_raised(a) ? a : c, *other = e == a ? c : a;
    if (is_the_same(a, c) && a->kind == c->kind && dv_same(a->value, c->value)) return e->kind;
    if (dv_is_raised(other)) return DV_K_CONFLICT;
    if (!caught_by(b, e)->shown) show_early(b, e);
    return b->again || other->kind <= DV_K_ANY ? DV_K_ANY : DV_K_CONFLICT;
}

/* What the class has for all its exceptions, no descriptor; false: it has none. */
static bool find_class_value(dv_build *b, dv_class *class_, dv_value name, dv_known_value *found) {
    dv_global_cell *cell = dv_class_find(b->vm, class_, name);
    if (!dv_is_empty(b->vm->error)) dv_error_clear(b->vm);
    if (!cell || (dv_is_object(cell->value) && !dv_is_str(cell->value))) return false;
    const dv_value v = dv_constant_global(b, cell);
    *found = (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, v};
    return !dv_is_empty(v);
}

/* The number of the value; -1: it has none, or it is not known. */
static int32_t value_at(const dv_source *form, dv_value name, int64_t k) {
    if (form->text) return -1;
    if (dv_str_is(name, "args")) {
        if (k < 0) k += form->count;
        return k >= 0 && k < form->count ? (int32_t)k : -1;
    }
    for (int32_t i = 0; i < form->attribute_count; i++)
        if (dv_same(form->names[i], name)) return form->count + i;
    return -1;
}

/* What exceptions of the form, described in the slot, have as item k of `args`, or as an attribute;
 * false: not known. */
static bool find_in_form(dv_build *b, dv_source *form, int16_t slot, dv_value name, int64_t k,
                         dv_known_value *found) {
    const int32_t at = value_at(form, name, k);
    const bool of_args = dv_str_is(name, "args");
    if (!form->class_) return false;
    form->class_->flags |= DV_CLASS_CACHED;
    if (form->class_->flags & DV_CLASS_GETATTRIBUTE || !dv_build_depends(b, &b->vm->class_sites) ||
        (of_args && (at < 0 || dv_class_special(form->class_, name))))
        return false;
    if (at < 0) return find_class_value(b, form->class_, name, found);
    if (form->kinds[at] == DV_K_CONSTANT)
        *found = (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, form->values[at]};
    else
        *found = (dv_known_value){form->kinds[at], DV_AT_SLOT, (int16_t)(slot + form->slots[at]),
                                  DV_EMPTY};
    return true;
}

/* What all that the exception can be has; false: they differ, or it is not known. */
static bool find_value(dv_build *b, const dv_known_value *e, dv_value name, int64_t k,
                       dv_known_value *found) {
    const dv_caught *handler = caught_by(b, e);
    const uint32_t forms = forms_of(b, e);
    bool first = true;
    for (uint32_t i = 0; i < handler->count; i++) {
        dv_known_value v = {0};
        if (!(forms >> i & 1)) continue;
        if (handler->vague >> i & 1 || !find_in_form(b, handler->forms[i], e->slot, name, k, &v))
            return false;
        if (!first &&
            (v.kind != found->kind || v.slot != found->slot || !dv_same(v.value, found->value)))
            return false;
        *found = v, first = false;
    }
    return !first;
}

static void push_value(dv_build *b, const dv_known_value *v) {
    if (v->where == DV_AT_VALUE) {
        dv_push_constant(b, v->value);
    } else if (v->kind != DV_K_ANY) {
        dv_push_known(b, (dv_kind)v->kind, DV_AT_SLOT, v->slot, DV_EMPTY);
    } else {
        dv_region_emit(b, DV_OP_R_COPY, v->slot, dv_home(b, b->top), 0);
        dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    }
    dv_step_count(b, v->kind != DV_K_ANY);
}

/* e.args[k], or another attribute; false: it is something else, or not known. */
static bool load_value(dv_build *b, const dv_known_value *e, uint32_t *pc) {
    const uint32_t index = *pc + dv_step_length(b, *pc), subscript = index + 1;
    const dv_value name = dv_site_cell(b, *pc)[2].v;
    dv_known_value v = {0};
    dv_value k = dv_int(0);
    if (dv_str_is(name, "args")) {
        if (!dv_step_follows(b, index, DV_OP_LOAD_CONST_B) ||
            !dv_step_follows(b, subscript, DV_OP_LOAD_SUBSCR))
            return false;
        k = dv_site_cell(b, index)[1].v;
    }
    if (!dv_is_int(k) || !find_value(b, e, name, dv_as_int(k), &v)) return false;
    push_value(b, &v);
    *pc = dv_str_is(name, "args") ? subscript + dv_step_length(b, subscript) : index;
    return true;
}

uint32_t dv_raised_load(dv_build *b, int32_t q, uint32_t next_pc) {
    const dv_known_value e = b->e[q];
    if (dv_step_follows(b, next_pc, DV_OP_LOAD_ATTR) && load_value(b, &e, &next_pc)) return next_pc;
    dv_raised_show(b, q);
    return b->pc;
}
