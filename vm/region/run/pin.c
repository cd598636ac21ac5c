/* pin.c: what frames hold that are in a region when one of its assumptions breaks (region.h,
 * invariant 6).
 *
 * The constants of a region are borrowed.  Where INCA code would have one on the operand stack, a
 * frame in the region relies on who keeps it; when that is about to give it up, the frame must hold
 * it itself, exactly until INCA code would let it go: it leaves the region at its next resume
 * point, or because of an exception, and the exit there puts on the stack what belongs there.  So
 * the objects that these exits name are what it pins, and it lets go of them behind the exit.
 *
 * Invariant
 *  1. Frames in a region are pinned once: none is entered any more. */
#include "region/region.h"
#include "run/frame.h"

/* Nobody can be told that there is no memory for the note: then the object stays for good. */
static void pin_value(dv_vm *vm, dv_region *region, const dv_value *fp, dv_value v) {
    if (!dv_is_object(v)) return;
    dv_retain(v);
    if (region->pin_count == region->pin_capacity) {
        const uint32_t capacity = region->pin_capacity ? 2 * region->pin_capacity : 4;
        dv_pin *pins =
            dv_heap_resize(&vm->heap, region->pins, region->pin_capacity * sizeof *region->pins,
                           capacity * sizeof *region->pins);
        if (!pins) return;
        region->pins = pins;
        region->pin_capacity = capacity;
    }
    region->pins[region->pin_count++] = (dv_pin){fp, v};
}

static void pin_exit(dv_vm *vm, dv_region *region, const dv_value *fp, const dv_point *point) {
    if (!point) return;
    const dv_exit *exit = &region->exits[point->exit];
    for (uint32_t i = 0; i < exit->item_count; i++) {
        const dv_exit_item *item = &region->items[exit->first_item + i];
        if (item->action == DV_EXIT_VALUE || item->action == DV_EXIT_VALUE_B)
            pin_value(vm, region, fp, item->value);
        if (item->action >= DV_EXIT_INSTANCE && dv_as_int(item->value) >= 0)
            pin_value(vm, region, fp,
                      dv_object_value(dv_shape_at(vm, (uint32_t)dv_as_int(item->value))->class_));
    }
}

/* The frame executes the instruction that `at` lies in.  The point in front of that is one of its
 * own, or that behind the instruction before it. */
static void pin_frame(dv_vm *vm, dv_region *region, const dv_value *fp, const dv_cell *at) {
    const uint32_t cell = (uint32_t)(at - region->cells);
    const dv_point *before = NULL, *point = region->points, *end = point + region->point_count;
    for (; point < end && point->cell <= cell; point++)
        before = point->raises || point->cell == cell ? point : NULL;
    while (point < end && !point->resumes) point++;
    pin_exit(vm, region, fp, before);
    pin_exit(vm, region, fp, point < end ? point : NULL);
}

/* The frames from fp on, which executes the instruction that `at` lies in. */
static void pin_frames(dv_vm *vm, dv_region *region, const dv_value *fp, const dv_cell *at) {
    while (fp != vm->stack) {
        if (at >= region->cells && at < region->cells + region->cell_count)
            pin_frame(vm, region, fp, at);
        at = dv_frame_caller_at(fp);
        fp = dv_frame_caller(fp);
    }
}

void dv_region_pin(dv_vm *vm, dv_region *region) {
    if (region->pinned) return;
    region->pinned = true;
    pin_frames(vm, region, vm->fp, vm->ip);
    if (vm->program.state == DV_PROGRAM_PAUSED)
        pin_frames(vm, region, vm->program.fp, vm->program.ip);
}

void dv_region_unpin_slow(dv_vm *vm, dv_region *region, const dv_value *fp) {
    for (uint32_t i = region->pin_count; i-- > 0;) {
        const dv_pin pin = region->pins[i];
        if (pin.fp != fp) continue;
        region->pins[i] = region->pins[--region->pin_count];
        dv_release(vm, pin.value); /* may run dl code, which pins nothing more */
    }
}
