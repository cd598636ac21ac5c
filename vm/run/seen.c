/* seen.c: the frames that a program sees (seen.h). */
#include "run/seen.h"

#include "run/frame.h"
#include "types/exception/traceback.h"

/* Is the frame of the thread, or one of the inlined comprehensions that pc is in, the one that is
 * looked for?  If not, `left` is so many less. */
static bool is_here(const dv_thread *thread, uint32_t pc, int64_t *left, dv_seen_frame *frame) {
    *frame = (dv_seen_frame){thread, pc};
    const bool some = thread->code->inlined_count > 0 && pc != DV_NO_PC;
    const dv_inlined_code *inlined = some ? dv_code_inlined(thread->code, pc) : NULL;
    for (; inlined; inlined = dv_code_inlined(thread->code, frame->pc)) {
        if (!dv_inlined_takes(inlined, frame->pc) && (*left)-- == 0) return true;
        frame->pc = inlined->call;
    }
    return (*left)-- == 0;
}

/* The same for a frame whose code is at a cell of a region, and those that the region did not
 * make. */
static bool is_in_region(const dv_vm *vm, const dv_thread *outer, const dv_cell *at, int64_t *left,
                         dv_seen_frame *frame) {
    for (uint32_t i = 0;; i++) {
        const dv_thread *thread = outer;
        const uint32_t pc =
            vm->hooks.region.inlined ? vm->hooks.region.inlined(&thread, at, i) : DV_NO_PC;
        if (pc == DV_NO_PC) return i == 0 && is_here(outer, pc, left, frame);
        if (is_here(thread, pc, left, frame)) return true;
    }
}

bool dv_frame_seen(dv_vm *vm, int64_t level, dv_seen_frame *frame) {
    const dv_cell *at = vm->ip;
    for (const dv_value *fp = vm->fp; fp != vm->stack; fp = dv_frame_caller(fp)) {
        const dv_thread *thread = dv_frame_thread(fp);
        const bool owns = !at || dv_thread_owns(thread, at);
        const uint32_t pc = at && owns ? dv_thread_pc(thread, at) : DV_NO_PC;
        if (owns ? is_here(thread, pc, &level, frame) : is_in_region(vm, thread, at, &level, frame))
            return true;
        at = dv_frame_caller_at(fp);
    }
    return false;
}

uint32_t dv_seen_line(const dv_seen_frame *frame) {
    const dv_thread *thread = frame->thread;
    return frame->pc == DV_NO_PC ? thread->code->first_line
                                 : dv_traceback_line(&thread->header, frame->pc);
}
