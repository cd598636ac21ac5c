/* debug_call.c: calling functions, derivatives and slots of extensions that are watched: their
 * arguments become handles, their results values again (debug.h). */
#include "plugin/debug_handle.h"

#include "core/upcall.h"
#include "plugin/occurrence.h"

/* ---- Functions ---- */

enum { FEW = 8 };

/* Handles for all arguments, in `few` or a block; NULL: raised, and the frame is `failed`. */
static dv_value *lend_all(dv_vm *vm, dv_debug_frame *frame, const dv_value *args, uint32_t count,
                          dv_value *few) {
    dv_value *all = count <= FEW ? few : dv_heap_alloc(&vm->heap, count * sizeof *all);
    for (uint32_t i = 0; all && i < count; i++) all[i] = dv_debug_lend(vm, frame, args[i]);
    if (all && !frame->failed) return all;
    if (all && all != few) dv_heap_free(&vm->heap, all, count * sizeof *all);
    if (!all) dv_raise_memory(vm);
    frame->failed = true;
    return NULL;
}

static void free_lent(dv_vm *vm, dv_value *all, uint32_t count) {
    if (all && count > FEW) dv_heap_free(&vm->heap, all, count * sizeof *all);
}

dv_value dv_debug_enter(dv_vm *vm, const dv_extension_function *function, const dv_value *args,
                        uint32_t count) {
    dv_debug_frame frame;
    dv_value few[FEW], result = DV_EMPTY;
    dv_debug_begin(vm, &frame, function->owner, function->def.name);
    dv_value *lent = lend_all(vm, &frame, args, count, few);
    if (lent) result = function->described.entry(vm, lent, count);
    free_lent(vm, lent, count);
    return dv_debug_end(vm, &frame, result);
}

static const char *owner_of(const dv_extension_case *taken) {
    return ((const dv_extension_function *)(const void *)taken->def)->owner;
}

bool dv_debug_guard(dv_vm *vm, const dv_extension_case *taken, const dv_value *args,
                    uint32_t count) {
    dv_debug_frame frame;
    dv_value few[FEW];
    dv_debug_begin(vm, &frame, owner_of(taken), taken->derivative->name);
    dv_value *lent = lend_all(vm, &frame, args, count, few);
    bool fits = lent && taken->derivative->guard(vm, lent, count);
    free_lent(vm, lent, count);
    dv_debug_end_quiet(vm, &frame);
    return fits;
}

dvx_outcome dv_debug_run(dv_vm *vm, const dv_extension_case *taken, const dv_value *args,
                         uint32_t count, dv_value *result) {
    dv_debug_frame frame;
    dv_value few[FEW];
    dvx_outcome outcome = DVX_ERROR;
    dv_debug_begin(vm, &frame, owner_of(taken), taken->derivative->name);
    dv_value *lent = lend_all(vm, &frame, args, count, few);
    if (lent) outcome = taken->derivative->run(vm, lent, count, result);
    free_lent(vm, lent, count);
    if (outcome == DVX_DEOPTIMISE)
        dv_debug_end_quiet(vm, &frame);
    else
        *result = dv_debug_end(vm, &frame, outcome == DVX_DONE ? *result : DV_EMPTY);
    return outcome == DVX_DONE && dv_is_empty(*result) ? DVX_ERROR : outcome;
}

/* ---- Sites ---- */

void dv_debug_specialise(dv_vm *vm, const dv_extension_type *type, dvx_site *site) {
    dv_debug_frame frame;
    dvx_operand lent[DV_MOST_OPERANDS];
    const dvx_operand *operands = site->operands;
    dv_value name = site->name, keywords = site->keywords;
    dv_debug_begin(vm, &frame, type->name, "specialise");
    for (uint32_t i = 0; i < site->count; i++) {
        lent[i] = operands[i];
        lent[i].value = dv_debug_lend(vm, &frame, operands[i].value);
    }
    site->name = dv_debug_lend(vm, &frame, name);
    site->keywords = dv_debug_lend(vm, &frame, keywords);
    site->operands = lent;
    if (!frame.failed) type->described.specialise(vm, site);
    site->operands = operands;
    site->name = name;
    site->keywords = keywords;
    dv_debug_end_quiet(vm, &frame);
}

bool dv_debug_site_guard(dv_vm *vm, const dv_extension_site *o, const dv_value *operands) {
    dv_debug_frame frame;
    dv_value few[FEW];
    dv_debug_begin(vm, &frame, o->type->name, o->derivative.name);
    dv_value *lent = lend_all(vm, &frame, operands, o->seen.count, few);
    bool fits = lent && o->derivative.guard(vm, lent, o->seen.cache);
    dv_debug_end_quiet(vm, &frame);
    return fits;
}

dvx_outcome dv_debug_site_run(dv_vm *vm, const dv_extension_site *o, const dv_value *operands,
                              dv_value *result) {
    dv_debug_frame frame;
    dv_value few[FEW];
    dvx_outcome outcome = DVX_ERROR;
    dv_debug_begin(vm, &frame, o->type->name, o->derivative.name);
    dv_value *lent = lend_all(vm, &frame, operands, o->seen.count, few);
    if (lent) outcome = o->derivative.run(vm, lent, o->seen.cache, result);
    *result = dv_debug_take(vm, *result);
    if (outcome == DVX_DONE || outcome == DVX_ERROR)
        dv_debug_end_done(vm, &frame, outcome == DVX_DONE);
    else
        dv_debug_end_quiet(vm, &frame);
    return outcome;
}

void dv_debug_site_release(dv_vm *vm, dv_extension_site *o, void (*release)(dvx_vm *, void *)) {
    dv_debug_frame frame;
    dv_debug_begin(vm, &frame, o->type->name, o->derivative.name);
    release(vm, o->cache);
    dv_debug_end_quiet(vm, &frame);
}

bool dv_debug_initialise(dv_vm *vm, const dv_extension *extension, dv_value module) {
    dv_debug_frame frame;
    dv_debug_begin(vm, &frame, extension->described.name, "init");
    dv_value lent = dv_debug_lend(vm, &frame, module);
    bool done = !frame.failed && extension->described.init(vm, lent);
    dv_debug_end_done(vm, &frame, done);
    return done;
}

void dv_debug_finish(dv_vm *vm, const dv_extension *extension) {
    dv_debug_frame frame;
    dv_debug_begin(vm, &frame, extension->described.name, "finish");
    extension->described.finish(vm, extension->state);
    dv_debug_end_quiet(vm, &frame);
}

/* ---- Slots that do not tell which type or attribute they are of ---- */

dv_value dv_debug_binary(dv_vm *vm, const dv_extension_type *type, dvx_binary op, dv_value a,
                         dv_value b) {
    dv_debug_frame frame;
    dv_value result = DV_EMPTY;
    dv_debug_begin(vm, &frame, type->name, "binary");
    dv_value lent[] = {dv_debug_lend(vm, &frame, a), dv_debug_lend(vm, &frame, b)};
    if (!frame.failed) result = type->described.binary(vm, op, lent[0], lent[1]);
    return dv_debug_end(vm, &frame, result);
}

dv_value dv_debug_get(dv_vm *vm, const dv_extension_type *type,
                      const dv_extension_attribute *attribute, dv_value self) {
    dv_debug_frame frame;
    dv_value result = DV_EMPTY;
    dv_debug_begin(vm, &frame, type->name, attribute->described.name);
    dv_value lent = dv_debug_lend(vm, &frame, self);
    if (!frame.failed) result = attribute->described.get(vm, lent);
    return dv_debug_end(vm, &frame, result);
}

bool dv_debug_set(dv_vm *vm, const dv_extension_type *type, const dv_extension_attribute *attribute,
                  dv_value self, dv_value value) {
    dv_debug_frame frame;
    dv_debug_begin(vm, &frame, type->name, attribute->described.name);
    dv_value lent[] = {dv_debug_lend(vm, &frame, self), dv_debug_lend(vm, &frame, value)};
    bool done = !frame.failed && attribute->described.set(vm, lent[0], lent[1]);
    dv_debug_end_done(vm, &frame, done);
    return done;
}

/* ---- Slots that see payloads ---- */

static const dv_extension_type *type_of(const void *payload) {
    const char *object = (const char *)payload - offsetof(dv_extension_object, payload);
    return ((const dv_extension_object *)(const void *)object)->type;
}

static void watched_release(dvx_vm *vm, void *payload) {
    dv_debug_frame frame;
    const dv_extension_type *type = type_of(payload);
    dv_debug_begin(vm, &frame, type->name, "release");
    type->descriptor->release(vm, payload);
    dv_debug_end_quiet(vm, &frame);
}

static void watched_clear(dvx_vm *vm, void *payload) {
    dv_debug_frame frame;
    const dv_extension_type *type = type_of(payload);
    dv_debug_begin(vm, &frame, type->name, "clear");
    type->descriptor->clear(vm, payload);
    dv_debug_end_quiet(vm, &frame);
}

/* The collector's visit, behind one that looks handles up. */
typedef struct looking_visit {
    dvx_visit visit;
    void *context;
} looking_visit;

static void visit(dvx_vm *vm, dvx_value v, void *context) {
    const looking_visit *wanted = context;
    if (!dv_debug_is_handle(v)) {
        wanted->visit(vm, v, wanted->context);
        return;
    }
    const dv_debug_record *record = dv_debug_open(vm, v);
    if (record && record->references)
        wanted->visit(vm, record->value, wanted->context);
    else
        dv_debug_report_closed(vm, v, "visited");
}

static void watched_traverse(dvx_vm *vm, void *payload, dvx_visit given, void *context) {
    dv_debug_frame frame;
    const dv_extension_type *type = type_of(payload);
    looking_visit wanted = {given, context};
    dv_debug_begin(vm, &frame, type->name, "traverse");
    type->descriptor->traverse(vm, payload, visit, &wanted);
    dv_debug_end_quiet(vm, &frame);
}

void dv_debug_wrap(dv_extension_type *type) {
    dvx_type *slots = &type->described;
    if (slots->release) slots->release = watched_release;
    if (slots->clear) slots->clear = watched_clear;
    if (slots->traverse) slots->traverse = watched_traverse;
    dv_debug_wrap_slots(slots);
}
