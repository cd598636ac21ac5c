/* seen.h: the frames that a program sees, as tracebacks show them.
 *
 * Invariant 1: to look changes nothing: frames that a region has not made, and those of inlined
 * comprehensions, are found in what the compiler and the region know. */
#ifndef DV_RUN_SEEN_H
#define DV_RUN_SEEN_H

#include "run/thread.h"

typedef struct dv_seen_frame {
    const dv_thread *thread;
    uint32_t pc; /* of what it executes, or DV_NO_PC */
} dv_seen_frame;

/* Calls `see` with each frame, from the one that calls C outwards, until it returns true, which is
 * the result then. */
typedef bool (*dv_see)(void *context, const dv_seen_frame *frame);
bool dv_frames_see(dv_vm *vm, dv_see see, void *context);
/* The frame so many calls out from the one that calls C (level 0); false: there are not so many. */
bool dv_frame_seen(dv_vm *vm, int64_t level, dv_seen_frame *frame);
uint32_t dv_seen_line(const dv_seen_frame *frame);

#endif
