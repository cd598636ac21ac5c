/* seen.c: the frames that a program sees (seen.h). */
#include "run/seen.h"

#include "core/upcall.h"
#include "core/work.h"
#include "run/frame.h"
#include "types/exception/traceback.h"
#include "types/sequence/tuple.h"
#include "types/text/str.h"

/* The frame of the thread, and those of the inlined comprehensions that pc is in. */
static bool see_here(const dv_thread *thread, uint32_t pc, dv_see see, void *context) {
    dv_seen_frame frame = {thread, pc};
    const bool some = thread->code->inlined_count > 0 && pc != DV_NO_PC;
    const dv_inlined_code *inlined = some ? dv_code_inlined(thread->code, pc) : NULL;
    for (; inlined; inlined = dv_code_inlined(thread->code, frame.pc)) {
        if (!dv_inlined_takes(inlined, frame.pc) && see(context, &frame)) return true;
        frame.pc = inlined->call;
    }
    return see(context, &frame);
}

/* The same for a frame whose code is at a cell of a region, and those that the region did not
 * make. */
static bool see_in_region(const dv_vm *vm, const dv_thread *outer, const dv_cell *at, dv_see see,
                          void *context) {
    for (uint32_t i = 0;; i++) {
        const dv_thread *thread = outer;
        const uint32_t pc =
            vm->hooks.region.inlined ? vm->hooks.region.inlined(&thread, at, i) : DV_NO_PC;
        if (pc == DV_NO_PC) return i == 0 && see_here(outer, pc, see, context);
        if (see_here(thread, pc, see, context)) return true;
    }
}

bool dv_frames_see(dv_vm *vm, dv_see see, void *context) {
    const dv_cell *at = vm->ip;
    for (const dv_value *fp = vm->fp; fp != vm->stack; fp = dv_frame_caller(fp)) {
        const dv_thread *thread = dv_frame_thread(fp);
        const bool owns = !at || dv_thread_owns(thread, at);
        const uint32_t pc = at && owns ? dv_thread_pc(thread, at) : DV_NO_PC;
        if (owns ? see_here(thread, pc, see, context) : see_in_region(vm, thread, at, see, context))
            return true;
        at = dv_frame_caller_at(fp);
    }
    return false;
}

typedef struct search {
    int64_t left; /* frames before the one that is looked for */
    dv_seen_frame *found;
} search;

static bool is_sought(void *context, const dv_seen_frame *frame) {
    search *s = context;
    if (s->left-- > 0) return false;
    *s->found = *frame;
    return true;
}

bool dv_frame_seen(dv_vm *vm, int64_t level, dv_seen_frame *frame) {
    return dv_frames_see(vm, is_sought, &(search){level, frame});
}

uint32_t dv_seen_line(const dv_seen_frame *frame) {
    const dv_thread *thread = frame->thread;
    return frame->pc == DV_NO_PC ? thread->code->first_line
                                 : dv_traceback_line(&thread->header, frame->pc);
}

/* ---- As objects ---- */

typedef struct shown {
    dv_vm *vm;
    int64_t left;   /* frames before the first that is shown */
    dv_value first; /* None: none yet; EMPTY: raised */
    dv_outer_frames *outer;
} shown;

static bool show(void *context, const dv_seen_frame *frame) {
    enum { FIRST_UNITS = 8 };
    shown *s = context;
    dv_object *code = (dv_object *)&frame->thread->header;
    if (s->left-- > 0) return false;
    if (dv_is_none(s->first)) {
        dv_work_owe(s->vm, FIRST_UNITS);
        s->first = dv_frame_shown(s->vm, code, frame->pc);
        return dv_is_empty(s->first);
    }
    dv_work_owe(s->vm, 1);
    if (dv_outer_frames_add(s->vm, &s->outer, code, frame->pc)) return false;
    dv_release(s->vm, s->first);
    s->first = DV_EMPTY;
    return true;
}

dv_value dv_frame_show(dv_vm *vm, int64_t level) {
    shown s = {vm, level, DV_NONE, NULL};
    dv_frames_see(vm, show, &s);
    if (dv_is_empty(s.first) || dv_is_none(s.first))
        dv_outer_frames_free(vm, s.outer);
    else
        dv_frame_set_outer(vm, s.first, s.outer);
    return s.first;
}

typedef struct caller_search {
    const dv_unit *unit; /* whose frames are passed over */
    int64_t left;
    dv_seen_frame found;
} caller_search;

static bool is_caller(void *context, const dv_seen_frame *frame) {
    caller_search *s = context;
    s->found = *frame;
    return frame->thread->code->unit != s->unit && --s->left <= 0;
}

dv_value dv_frame_caller_place(dv_vm *vm, int64_t level) {
    if (vm->fp == vm->stack) return DV_NONE;
    caller_search s = {dv_frame_thread(vm->fp)->code->unit, level, {NULL, DV_NO_PC}};
    dv_frames_see(vm, is_caller, &s);
    const dv_code *code = s.found.thread->code;
    const dv_text *file = &code->unit->filename;
    dv_value items[3] = {dv_str_new(vm, file->data, file->size), dv_int(dv_seen_line(&s.found)),
                         DV_EMPTY};
    if (!dv_is_empty(items[0])) items[2] = dv_str_new(vm, code->name.data, code->name.size);
    dv_value made = dv_is_empty(items[2]) ? DV_EMPTY : dv_tuple_new(vm, items, 3);
    dv_release(vm, items[0]);
    dv_release(vm, items[2]);
    return made;
}
