/* raised.c: exceptions that a region has raised without making them are made: somebody may look at
 * them now (region/step/raised.h). */
#include "region/region.h"
#include "types/exception/exception.h"
#include "types/class/lookup.h"
#include "types/number/int.h"
#include "types/text/str.h"

/* New; EMPTY: raised. */
static dv_value value_of(dv_vm *vm, const dv_source *source, uint32_t i, const dv_value *slot) {
    const dv_kind kind = (dv_kind)source->kinds[i];
    const dv_value v = slot[source->slots[i]];
    return kind == DV_K_CONSTANT ? dv_retain(source->values[i])
           : kind == DV_K_INT    ? dv_int_from_int64(vm, (int64_t)v.bits)
           : kind == DV_K_BOOL   ? dv_bool(v.bits != 0)
                                 : dv_retain(v);
}

/* What __init__ has stored (region/step/maker.h). */
static bool set_attributes(dv_vm *vm, dv_value made, const dv_source *source,
                           const dv_value *slot) {
    for (uint32_t i = 0; i < source->attribute_count; i++) {
        const dv_value v = value_of(vm, source, source->count + i, slot);
        const bool done = !dv_is_empty(v) && dv_object_set_attribute(vm, made, source->names[i], v);
        dv_release(vm, v);
        if (!done) return false;
    }
    return true;
}

/* Without its traceback; EMPTY: raised. */
static dv_value make(dv_vm *vm, const dv_value *slot) {
    const dv_source *source = dv_source_at(slot);
    dv_value args[DV_SOURCE_ARGUMENTS];
    uint32_t count = source->count;
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        args[i] = value_of(vm, source, i, slot);
        good &= !dv_is_empty(args[i]);
    }
    if (source->text && good) {
        const dv_value about = count ? args[0] : DV_NONE;
        args[0] = dv_str_printf(vm, source->text, about);
        good = !dv_is_empty(args[0]);
        count = 1;
        dv_release(vm, about);
    }
    source->class_->header.references++; /* of the exception */
    const dv_value made = good ? dv_exception_take(vm, source->class_, args, count) : DV_EMPTY;
    if (dv_is_empty(made)) {
        dv_release(vm, dv_object_value(source->class_));
        for (uint32_t i = 0; i < count; i++)
            if (!dv_is_empty(args[i])) dv_release(vm, args[i]);
    } else if (!set_attributes(vm, made, source, slot)) {
        dv_release(vm, made);
        return DV_EMPTY;
    }
    return made;
}

static bool trace(dv_vm *vm, dv_value exception, const dv_source *source) {
    for (uint32_t i = 0; i < source->frame_count; i++)
        if (!dv_exception_trace(vm, exception, &source->frames[i].thread->header,
                                source->frames[i].pc))
            return false;
    return true;
}

dv_value dv_region_raised(dv_vm *vm, dv_value *slot) {
    const dv_value error = vm->error; /* of an exit that has no memory for a box */
    vm->error = DV_EMPTY;
    const dv_value made = make(vm, slot);
    dv_region_forget(vm, slot);
    if (!dv_is_empty(made)) {
        dv_exception_raise(vm, made, DV_EMPTY); /* has a context now */
        dv_release(vm, made);
        if (!trace(vm, vm->error, dv_source_at(slot))) {
            dv_error_clear(vm);
            dv_raise_memory(vm);
        }
    }
    const dv_value raised = vm->error;
    vm->error = error;
    return raised;
}

void dv_region_forget(dv_vm *vm, dv_value *slot) {
    const dv_source *source = dv_source_at(slot);
    uint32_t released = 0;
    for (uint32_t i = 0; i < source->count + source->attribute_count; i++) {
        if (source->kinds[i] != DV_K_ANY || released >> source->slots[i] & 1) continue;
        released |= 1u << source->slots[i];
        dv_release(vm, slot[source->slots[i]]);
    }
}
