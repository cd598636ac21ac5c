/* raised.c: exceptions that a region has raised without making them are made: somebody may look at
 * them now (region/step/raised.h). */
#include "region/region.h"
#include "types/exception/exception.h"
#include "types/callable/generator.h"
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

/* But for the first frames. */
static bool trace(dv_vm *vm, dv_value exception, const dv_source *source, uint32_t from) {
    for (uint32_t i = from; i < source->frame_count; i++)
        if (!dv_exception_trace(vm, exception, &source->frames[i].thread->header,
                                source->frames[i].pc))
            return false;
    return true;
}

bool dv_region_raise(dv_vm *vm, dv_value *slot, const void *source, int32_t count) {
    const dv_value *top = vm->sp;
    const bool again = count == 0 || count == DV_RAISES_AGAIN;
    dv_value exception = again ? top[-1] : top[-count];
    if (count == 0) exception = dv_handled_exception(vm);
    if (!dv_is_exception(exception)) {
        if (count == 0)
            dv_raise(vm, DV_E_RUNTIME_ERROR, "No active exception to reraise");
        else
            dv_exception_raise(vm, exception, count == 2 ? top[-1] : DV_EMPTY);
        return false;
    }
    if (again)
        vm->error = dv_retain(exception);
    else
        dv_exception_raise(vm, exception, count == 2 ? top[-1] : DV_EMPTY);
    const bool caused = count < 2 || again || dv_is_none(top[-1]) || dv_is_exception(top[-1]);
    const bool traced = again && dv_exception_has_trace(dv_as_exception(exception));
    if (!caused || !dv_same(vm->error, exception) || dv_is_stopped(vm) ||
        !trace(vm, exception, source, traced))
        return false;
    slot[0].bits = (uint64_t)(uintptr_t)source;
    slot[1] = vm->error;
    vm->error = DV_EMPTY;
    return true;
}

dv_value dv_region_raised(dv_vm *vm, dv_value *slot) {
    if (!dv_source_at(slot)->class_) return slot[1];
    const dv_value error = vm->error; /* of an exit that has no memory for a box */
    vm->error = DV_EMPTY;
    const dv_value made = make(vm, slot);
    dv_region_forget(vm, slot);
    if (!dv_is_empty(made)) {
        dv_exception_raise(vm, made, DV_EMPTY); /* has a context now */
        dv_release(vm, made);
        if (!trace(vm, vm->error, dv_source_at(slot), 0)) {
            dv_error_clear(vm);
            dv_raise_memory(vm);
        }
    }
    const dv_value raised = vm->error;
    const bool failed = !dv_same(raised, made);
    vm->error = failed && dv_is_empty(error) ? dv_retain(raised) : error;
    return raised;
}

void dv_region_forget(dv_vm *vm, dv_value *slot) {
    for (uint32_t set = dv_source_at(slot)->objects; set; set &= set - 1)
        dv_release(vm, slot[__builtin_ctz(set)]);
}
