/* traceback.h: traceback objects, and the frame objects that they show.
 *
 * Invariants
 *  1. A traceback is a chain from the outermost call to the innermost, and never a ring.
 *  2. Frames do not outlive their calls: a frame object is the code and the place of one entry of a
 * traceback, made when a program asks for it, and then always the same one; or of a frame as it was
 * when sys._getframe showed it (run/seen.h). */
#ifndef DV_TYPES_TRACEBACK_H
#define DV_TYPES_TRACEBACK_H

#include "core/vm.h"

typedef struct dv_traceback {
    dv_object header;
    dv_object *code; /* dv_thread, counted */
    dv_value next;   /* the traceback of the call within, or EMPTY */
    dv_value frame;  /* EMPTY until it is asked for */
    uint32_t pc;
} dv_traceback;

extern const dv_type dv_traceback_type, dv_frame_type;

static inline bool dv_is_traceback(dv_value v) { return dv_is_shape(v, DV_T_TRACEBACK); }
static inline dv_traceback *dv_as_traceback(dv_value v) { return (dv_traceback *)dv_as_object(v); }

/* Takes next (EMPTY: none), retains code; EMPTY: raised, and next is the caller's still. */
dv_value dv_traceback_new(dv_vm *vm, dv_object *code, uint32_t pc, dv_value next);

/* The frames outside of one that was shown, the next one first. */
typedef struct dv_outer_frame {
    dv_object *code; /* dv_thread, counted */
    uint32_t pc;
} dv_outer_frame;
typedef struct dv_outer_frames {
    uint32_t size, count, next;
    dv_outer_frame at[];
} dv_outer_frames;
/* *frames: NULL at first.  false: raised. */
bool dv_outer_frames_add(dv_vm *vm, dv_outer_frames **frames, dv_object *code,
                         uint32_t pc) DV_MUST_CHECK;
void dv_outer_frames_free(dv_vm *vm, dv_outer_frames *frames);

/* A frame object that does not know its caller, and those outside of it, which are taken (once): of
 * these its caller is made when a program asks for it. */
dv_value dv_frame_shown(dv_vm *vm, dv_object *code, uint32_t pc);
void dv_frame_set_outer(dv_vm *vm, dv_value self, dv_outer_frames *outer);

/* The line that a traceback shows for an instruction; DV_NO_PC: the first one. */
uint32_t dv_traceback_line(const dv_object *code, uint32_t pc);

/* What a traceback prints for its first entry, new (report/text.c). */
dv_value dv_traceback_text(dv_vm *vm, dv_value traceback);
/* The line of source that the first entry quotes, without indentation; empty if there is none. */
dv_value dv_traceback_source(dv_vm *vm, dv_value traceback);
/* The name of the function that the first entry is in: a comprehension's, if it is inlined. */
dv_value dv_traceback_name(dv_vm *vm, dv_value traceback);

#endif
