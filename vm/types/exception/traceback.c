/* traceback.c: traceback and frame objects (traceback.h). */
#include "types/exception/traceback.h"

#include <string.h>

#include "code/code.h"
#include "core/upcall.h"
#include "types/text/str.h"

typedef struct frame {
    dv_object header;
    dv_object *code; /* dv_thread, counted */
    dv_value caller; /* a frame, None, or EMPTY: not made yet, or of an entry of a traceback */
    dv_outer_frames *outer; /* of which the caller is made; NULL: it is known, or will never be */
    uint32_t pc;
} frame;

static frame *as_frame(dv_value v) { return (frame *)dv_as_object(v); }

uint32_t dv_traceback_line(const dv_object *thread, uint32_t pc) {
    const dv_code *code = dv_code_source(thread);
    const dv_position *position = pc == DV_NO_PC ? NULL : dv_code_position(code, pc);
    return position && position->line ? position->line : code->first_line;
}

static uint32_t line_of(const frame *self) { return dv_traceback_line(self->code, self->pc); }

/* Frames ----------------------------------------------------------------------------------------
 */

static size_t outer_size(uint32_t count) {
    return sizeof(dv_outer_frames) + count * sizeof(dv_outer_frame);
}

bool dv_outer_frames_add(dv_vm *vm, dv_outer_frames **frames, dv_object *code, uint32_t pc) {
    enum { FIRST = 14 };
    dv_outer_frames *old = *frames;
    const uint32_t count = old ? old->count : 0;
    if (!old || count == old->size) {
        const uint32_t size = old ? 2 * count : FIRST;
        dv_outer_frames *made = dv_heap_alloc(&vm->heap, outer_size(size));
        if (!made) return dv_raise_memory(vm), false;
        if (old) memcpy(made, old, outer_size(count));
        if (old) dv_heap_free(&vm->heap, old, outer_size(old->size));
        made->next = 0;
        made->size = size;
        *frames = made;
    }
    code->references++;
    (*frames)->at[count] = (dv_outer_frame){code, pc};
    (*frames)->count = count + 1;
    return true;
}

void dv_outer_frames_free(dv_vm *vm, dv_outer_frames *frames) {
    if (!frames) return;
    for (uint32_t i = frames->next; i < frames->count; i++)
        dv_release_object(vm, frames->at[i].code);
    dv_heap_free(&vm->heap, frames, outer_size(frames->size));
}

dv_value dv_frame_shown(dv_vm *vm, dv_object *code, uint32_t pc) {
    frame *self = dv_container_new(vm, sizeof *self, DV_T_FRAME);
    if (!self) return DV_EMPTY;
    code->references++;
    self->code = code;
    self->caller = DV_EMPTY;
    self->outer = NULL;
    self->pc = pc;
    return dv_object_value(self);
}

void dv_frame_set_outer(dv_vm *vm, dv_value v, dv_outer_frames *outer) {
    const bool some = outer && outer->next < outer->count;
    as_frame(v)->outer = some ? outer : NULL;
    if (some) return;
    as_frame(v)->caller = DV_NONE;
    dv_outer_frames_free(vm, outer);
}

/* The caller's frame is made, and has those outside of it from now on. */
static bool make_caller(dv_vm *vm, frame *self) {
    dv_outer_frames *outer = self->outer;
    const dv_outer_frame next = outer->at[outer->next];
    dv_value caller = dv_frame_shown(vm, next.code, next.pc);
    if (dv_is_empty(caller)) return false;
    outer->next++;
    dv_release_object(vm, next.code);
    self->caller = caller;
    self->outer = NULL;
    dv_frame_set_outer(vm, caller, outer);
    return true;
}

static void frame_release(dv_vm *vm, dv_object *object) {
    frame *self = (frame *)object;
    dv_object *code = self->code;
    dv_value caller = self->caller;
    dv_outer_frames *outer = self->outer;
    dv_container_free(vm, object, sizeof(frame));
    dv_release(vm, caller);
    dv_outer_frames_free(vm, outer);
    dv_release_object(vm, code);
}

static void frame_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const frame *self = (const frame *)object;
    visit(vm, dv_object_value(self->code), context);
    visit(vm, self->caller, context);
    if (!self->outer) return;
    for (uint32_t i = self->outer->next; i < self->outer->count; i++)
        visit(vm, dv_object_value(self->outer->at[i].code), context);
}

static dv_value frame_repr(dv_vm *vm, dv_value self) {
    const dv_code *code = dv_code_source(as_frame(self)->code);
    const dv_text *file = &code->unit->filename;
    return dv_str_printf(vm, "<frame at 0x%llx, file '%.*s', line %u, code %.*s>",
                         dv_identity(vm, self), (int)file->size, file->data,
                         line_of(as_frame(self)), (int)code->name.size, code->name.data);
}

/* What CPython's frames have beyond these. */
static bool is_refused(dv_value name) {
    static const char *const names[] = {"f_back",  "f_builtins",      "f_lasti", "f_locals",
                                        "f_trace", "f_trace_opcodes", "clear",   "f_trace_lines"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dv_str_is(name, names[i])) return true;
    return false;
}

static dv_value frame_get_attribute(dv_vm *vm, dv_value v, dv_value name) {
    frame *self = as_frame(v);
    if (dv_str_is(name, "f_code")) return dv_retain(dv_object_value(self->code));
    if (dv_str_is(name, "f_lineno")) return dv_int(line_of(self));
    if (dv_str_is(name, "f_back")) {
        if (self->outer && !make_caller(vm, self)) return DV_EMPTY;
        if (!dv_is_empty(self->caller)) return dv_retain(self->caller);
    }
    const bool is_module = dv_code_source(self->code)->flags & DV_CODE_MODULE;
    if (dv_str_is(name, "f_globals") || (is_module && dv_str_is(name, "f_locals")))
        return dv_code_globals(vm, self->code);
    if (!is_refused(name)) return DV_EMPTY;
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%S' of a frame is not part of dl", name);
}

const dv_type dv_frame_type = {
    .name = "frame",
    .id = DV_T_FRAME,
    .release = frame_release,
    .traverse = frame_traverse,
    .repr = frame_repr,
    .get_attribute = frame_get_attribute,
};

/* Tracebacks ------------------------------------------------------------------------------------
 */

dv_value dv_traceback_new(dv_vm *vm, dv_object *code, uint32_t pc, dv_value next) {
    dv_traceback *self = dv_container_new(vm, sizeof *self, DV_T_TRACEBACK);
    if (!self) return DV_EMPTY;
    code->references++;
    self->code = code;
    self->next = next;
    self->frame = DV_EMPTY;
    self->pc = pc;
    return dv_object_value(self);
}

static void traceback_release(dv_vm *vm, dv_object *object) {
    dv_traceback *self = (dv_traceback *)object;
    dv_object *code = self->code;
    dv_value next = self->next, shown = self->frame;
    dv_container_free(vm, self, sizeof *self);
    dv_release(vm, next);
    dv_release(vm, shown);
    dv_release_object(vm, code);
}

static void traceback_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_traceback *self = (const dv_traceback *)object;
    visit(vm, dv_object_value(self->code), context);
    visit(vm, self->next, context);
    visit(vm, self->frame, context);
}

static dv_value shown_frame(dv_vm *vm, dv_traceback *self) {
    if (dv_is_empty(self->frame)) self->frame = dv_frame_shown(vm, self->code, self->pc);
    return dv_is_empty(self->frame) ? DV_EMPTY : dv_retain(self->frame);
}

static dv_value traceback_get_attribute(dv_vm *vm, dv_value v, dv_value name) {
    dv_traceback *self = dv_as_traceback(v);
    if (dv_str_is(name, "tb_next"))
        return dv_is_empty(self->next) ? DV_NONE : dv_retain(self->next);
    if (dv_str_is(name, "tb_lineno")) return dv_int(dv_traceback_line(self->code, self->pc));
    if (dv_str_is(name, "tb_frame")) return shown_frame(vm, self);
    if (dv_str_is(name, "tb_lasti"))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'tb_lasti' of a traceback is not part of dl");
    return DV_EMPTY;
}

static bool set_next(dv_vm *vm, dv_value self, dv_value value) {
    if (dv_is_empty(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "can't delete tb_next attribute");
        return false;
    }
    if (!dv_is_none(value) && !dv_is_traceback(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "expected traceback object, got '%T'", value);
        return false;
    }
    for (dv_value at = value; dv_is_traceback(at); at = dv_as_traceback(at)->next) {
        if (!dv_same(at, self)) continue;
        dv_raise(vm, DV_E_VALUE_ERROR, "traceback loop detected");
        return false;
    }
    dv_value old = dv_as_traceback(self)->next;
    dv_as_traceback(self)->next = dv_is_none(value) ? DV_EMPTY : dv_retain(value);
    dv_release(vm, old);
    return true;
}

static bool traceback_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    if (dv_str_is(name, "tb_next")) return set_next(vm, self, value);
    bool known =
        dv_str_is(name, "tb_lineno") || dv_str_is(name, "tb_frame") || dv_str_is(name, "tb_lasti");
    dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
             known ? "readonly attribute" : "'traceback' object has no attribute '%S'", name);
    return false;
}

const dv_type dv_traceback_type = {
    .name = "traceback",
    .id = DV_T_TRACEBACK,
    .release = traceback_release,
    .traverse = traceback_traverse,
    .get_attribute = traceback_get_attribute,
    .set_attribute = traceback_set_attribute,
};
