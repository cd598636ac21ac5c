/* debug.c: handles, and the frames and calls in which they are used (debug.h, debug_handle.h). */
#include "plugin/debug_handle.h"

#include "core/upcall.h"

enum { INDEX_BITS = 24, LEAST_WAITING = 4096 };
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

/* ---- Sites ---- */

/* A copy of the name of a file, which lives as long as the VM; NULL: none, or no memory. */
static const char *keep_file(dv_vm *vm, dv_text name) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    if (!name.data) return NULL;
    for (dv_debug_file *f = debug->files; f; f = f->next)
        if (f->size == name.size && memcmp(f->text, name.data, name.size) == 0) return f->text;
    dv_debug_file *file = dv_heap_alloc(&vm->heap, sizeof *file + name.size);
    if (!file) return NULL;
    *file = (dv_debug_file){.next = debug->files, .size = name.size};
    memcpy(file->text, name.data, name.size);
    debug->files = file;
    return file->text;
}

dv_debug_site dv_debug_site_here(dv_vm *vm, const char *call) {
    dv_watch_place place = dv_watch_here(vm);
    const dv_debug_frame *frame = vm->extensions.plugins->debug->frame;
    return (dv_debug_site){.call = call,
                           .owner = frame ? frame->owner : NULL,
                           .name = frame ? frame->name : NULL,
                           .file = keep_file(vm, place.file),
                           .file_size = place.file.size,
                           .line = place.line};
}

static void put_function(dv_watch_line *line, const char *owner, const char *name) {
    dv_watch_put(line, owner ? owner : "an extension");
    if (owner && name) dv_watch_put(line, "."), dv_watch_put(line, name);
}

static void put_place(dv_watch_line *line, const char *file, uint32_t size, uint32_t number) {
    if (!file) return;
    dv_watch_put(line, " (");
    dv_watch_put_some(line, file, size);
    dv_watch_put_format(line, ":%u)", (unsigned)number);
}

void dv_debug_put_site(dv_watch_line *line, const dv_debug_site *site) {
    if (site->call) dv_watch_put(line, site->call), dv_watch_put(line, " in ");
    put_function(line, site->owner, site->name);
    put_place(line, site->file, site->file_size, site->line);
}

void dv_debug_report(dv_vm *vm, dv_watch_line *line) {
    dv_debug_site here = dv_debug_site_here(vm, NULL);
    line->size = 0;
    dv_watch_put(line, "ext-debug: ");
    dv_debug_put_site(line, &here);
    dv_watch_put(line, ": ");
}

/* Says how often the last report came again. */
static void write_repeated(dv_vm *vm) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    dv_watch_line line = {.size = 0};
    if (debug->repeated) {
        dv_watch_put_format(&line, "ext-debug: (the last report %u times more)", debug->repeated);
        dv_watch_write(vm, &line);
    }
    debug->repeated = 0;
}

void dv_debug_write(dv_vm *vm, dv_watch_line *line) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    dv_watch_line *last = &debug->last;
    if (last->size == line->size && memcmp(last->text, line->text, line->size) == 0) {
        debug->repeated++;
        return;
    }
    write_repeated(vm);
    last->size = 0;
    dv_watch_put_some(last, line->text, line->size);
    dv_watch_write(vm, line);
}

void dv_debug_put_record(dv_watch_line *line, const dv_debug_record *record) {
    dv_watch_put(line, record->type);
    dv_watch_put(line, record->made.call ? " from " : " lent to ");
    dv_debug_put_site(line, &record->made);
}

void dv_debug_report_closed(dv_vm *vm, dv_value handle, const char *what) {
    dv_watch_line line;
    const dv_debug_record *record = dv_debug_history(vm, handle);
    dv_debug_report(vm, &line);
    dv_watch_put(&line, what);
    dv_watch_put(&line, " a value that it does not have any more: ");
    if (record) {
        dv_debug_put_record(&line, record);
        dv_watch_put(&line, ", ended by ");
        dv_debug_put_site(&line, &record->ended);
    } else {
        dv_watch_put(&line, "ended long ago");
    }
    dv_debug_write(vm, &line);
}

/* ---- Handles ---- */

dv_debug_record *dv_debug_history(dv_vm *vm, dv_value handle) {
    const struct dv_debug *debug = vm->extensions.plugins->debug;
    uint32_t index = (uint32_t)handle.bits & INDEX_MASK;
    uint32_t generation = (uint32_t)(handle.bits >> INDEX_BITS) & INDEX_MASK;
    if (index == DV_DEBUG_NONE || index >= debug->count) return NULL;
    dv_debug_record *record = &debug->records[index];
    return (record->generation & INDEX_MASK) == generation ? record : NULL;
}

dv_debug_record *dv_debug_open(dv_vm *vm, dv_value handle) {
    dv_debug_record *record = dv_debug_history(vm, handle);
    return record && (record->lent || record->references) ? record : NULL;
}

void dv_debug_close(dv_vm *vm, dv_debug_record *record, const char *call) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    uint32_t index = (uint32_t)(record - debug->records);
    record->value = DV_EMPTY;
    record->lent = false;
    record->references = 0;
    record->ended = dv_debug_site_here(vm, call);
    record->next = DV_DEBUG_NONE;
    if (debug->waiting)
        debug->records[debug->last_waiting].next = index;
    else
        debug->first_waiting = index;
    debug->last_waiting = index;
    debug->waiting++;
}

/* Room for one more record; false: no memory, or too many are open. */
static bool grow(dv_vm *vm) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    if (debug->count < debug->capacity) return true;
    uint32_t capacity = debug->capacity * 2;
    if (capacity > INDEX_MASK) return false;
    dv_debug_record *larger = dv_heap_resize(
        &vm->heap, debug->records, debug->capacity * sizeof *larger, capacity * sizeof *larger);
    if (!larger) return false;
    debug->records = larger;
    debug->capacity = capacity;
    return true;
}

/* The number of a record that may be used; DV_DEBUG_NONE: no memory. */
static uint32_t new_record(dv_vm *vm) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    if (debug->waiting > LEAST_WAITING) {
        uint32_t index = debug->first_waiting;
        debug->first_waiting = debug->records[index].next;
        debug->waiting--;
        debug->records[index].generation++;
        return index;
    }
    if (!grow(vm)) return DV_DEBUG_NONE;
    debug->records[debug->count].generation = 0;
    return debug->count++;
}

static void name_type(dv_vm *vm, char *out, size_t size, dv_value v) {
    dv_watch_line line = {.size = 0};
    dv_watch_put_type(vm, &line, v);
    size_t length = line.size < size - 1 ? line.size : size - 1;
    memcpy(out, line.text, length);
    out[length] = '\0';
}

/* An open handle for an object, lent or with the caller's reference; EMPTY: no memory. */
static dv_value make_handle(dv_vm *vm, dv_value v, const char *call) {
    uint32_t index = new_record(vm);
    if (index == DV_DEBUG_NONE) return DV_EMPTY;
    dv_debug_record *record = &vm->extensions.plugins->debug->records[index];
    uint64_t generation = record->generation & INDEX_MASK;
    record->value = v;
    record->references = call ? 1 : 0;
    record->lent = !call;
    record->made = dv_debug_site_here(vm, call);
    name_type(vm, record->type, sizeof record->type, v);
    return (dv_value){DV_TAG_HANDLE | generation << INDEX_BITS | index};
}

/* ---- Frames ---- */

void dv_debug_begin(dv_vm *vm, dv_debug_frame *frame, const char *owner, const char *name) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    *frame = (dv_debug_frame){
        .outer = debug->frame, .owner = owner, .name = name, .lent = debug->lent_count};
    debug->frame = frame;
}

static bool note_lent(dv_vm *vm, dv_value handle) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    if (debug->lent_count == debug->lent_capacity) {
        size_t size = debug->lent_capacity * sizeof *debug->lent;
        uint32_t *larger = dv_heap_resize(&vm->heap, debug->lent, size, 2 * size);
        if (!larger) return false;
        debug->lent = larger;
        debug->lent_capacity *= 2;
    }
    debug->lent[debug->lent_count++] = (uint32_t)handle.bits & INDEX_MASK;
    return true;
}

dv_value dv_debug_lend(dv_vm *vm, dv_debug_frame *frame, dv_value v) {
    if (!dv_is_object(v) || frame->failed) return v;
    dv_value handle = make_handle(vm, v, NULL);
    if (!dv_is_empty(handle) && note_lent(vm, handle)) return handle;
    if (!dv_is_empty(handle)) dv_debug_close(vm, dv_debug_open(vm, handle), NULL);
    frame->failed = true;
    dv_raise_memory(vm);
    return DV_EMPTY;
}

/* The arguments of the innermost frame are its no more. */
static void end_frame(dv_vm *vm, dv_debug_frame *frame) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    while (debug->lent_count > frame->lent) {
        dv_debug_record *record = &debug->records[debug->lent[--debug->lent_count]];
        record->lent = false;
        if (!record->references) dv_debug_close(vm, record, "return");
    }
    if (frame->entered) {
        dv_watch_line line;
        dv_debug_report(vm, &line);
        dv_watch_put(&line, "returned between enter and leave");
        dv_debug_write(vm, &line);
    }
    for (; frame->entered; frame->entered--) vm->extensions.plugins->checked->leave(vm);
    debug->frame = frame->outer;
}

static void report_pending(dv_vm *vm, const char *what) {
    dv_watch_line line;
    dv_debug_report(vm, &line);
    dv_watch_put(&line, what);
    dv_watch_put_type(vm, &line, vm->error);
    if (vm->extensions.plugins->debug->raised.call) {
        dv_watch_put(&line, " raised by ");
        dv_debug_put_site(&line, &vm->extensions.plugins->debug->raised);
    }
    dv_debug_write(vm, &line);
}

/* Does what is said about success agree with vm->error?  (Whoever called sees to the rest.) */
static void check_outcome(dv_vm *vm, bool done) {
    if (done != dv_is_empty(vm->error)) {
        if (done) {
            report_pending(vm, "returned a result, but an error is pending: ");
            return;
        }
        dv_watch_line line;
        dv_debug_report(vm, &line);
        dv_watch_put(&line, "failed, but nothing was raised");
        dv_debug_write(vm, &line);
    }
}

/* A closed handle becomes SystemError. */
static dv_value raise_closed(dv_vm *vm) {
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    return dv_raise(vm, DV_E_SYSTEM_ERROR, "an extension used a value that it had released");
}

dv_value dv_debug_take(dv_vm *vm, dv_value v) {
    if (!dv_debug_is_handle(v)) return v;
    dv_debug_record *record = dv_debug_open(vm, v);
    if (!record) {
        dv_debug_report_closed(vm, v, "returned");
        return raise_closed(vm);
    }
    dv_value value = record->value;
    if (!record->references) {
        dv_watch_line line;
        dv_debug_report(vm, &line);
        dv_watch_put(&line, "returned without retain: ");
        dv_debug_put_record(&line, record);
        dv_debug_write(vm, &line);
        return dv_retain(value);
    }
    if (!--record->references && !record->lent) dv_debug_close(vm, record, "return");
    return value;
}

dv_value dv_debug_end(dv_vm *vm, dv_debug_frame *frame, dv_value result) {
    if (!frame->failed) check_outcome(vm, !dv_is_empty(result));
    result = dv_debug_take(vm, result);
    end_frame(vm, frame);
    return result;
}

void dv_debug_end_done(dv_vm *vm, dv_debug_frame *frame, bool done) {
    if (!frame->failed) check_outcome(vm, done);
    end_frame(vm, frame);
}

void dv_debug_end_quiet(dv_vm *vm, dv_debug_frame *frame) {
    if (!dv_is_empty(vm->error) && !frame->failed)
        report_pending(vm, "left an error pending that nobody will see: ");
    end_frame(vm, frame);
}

/* ---- Calls ---- */

dv_debug_call dv_debug_called(dv_vm *vm, const char *name) {
    return (dv_debug_call){.vm = vm, .name = name, .raised = !dv_is_empty(vm->error)};
}

/* "passed ... to get_item" */
static void report_call(dv_debug_call *call, const char *what) {
    dv_watch_line line;
    dv_debug_report(call->vm, &line);
    dv_watch_put(&line, what);
    dv_watch_put(&line, call->name);
    dv_debug_write(call->vm, &line);
}

dv_value dv_debug_use(dv_debug_call *call, dv_value v, bool may_be_failed) {
    if (dv_is_empty(v)) {
        if (may_be_failed) return v;
        call->failed = true;
        if (!call->raised) report_call(call, "passed DVX_FAILED, which is no value, to ");
        return v;
    }
    if (!dv_debug_is_handle(v)) return v;
    const dv_debug_record *record = dv_debug_open(call->vm, v);
    if (record) return record->value;
    char what[64] = "passed to ";
    strncat(what, call->name, sizeof what - sizeof "passed to ");
    dv_debug_report_closed(call->vm, v, what);
    call->refused = true;
    return DV_EMPTY;
}

dv_value *dv_debug_use_all(dv_debug_call *call, const dv_value *values, size_t count) {
    if (count == 0 || count > SIZE_MAX / sizeof *values) return NULL;
    dv_value *all = dv_heap_alloc(&call->vm->heap, count * sizeof *all);
    if (!all) {
        dv_raise_memory(call->vm);
        call->refused = true;
        return NULL;
    }
    for (size_t i = 0; i < count; i++) all[i] = dv_debug_use(call, values[i], false);
    return all;
}

void dv_debug_free_all(dv_debug_call *call, dv_value *values, size_t count) {
    if (values) dv_heap_free(&call->vm->heap, values, count * sizeof *values);
}

bool dv_debug_allowed(dv_debug_call *call, bool while_raised) {
    if (call->refused) {
        (void)raise_closed(call->vm);
        dv_debug_done(call);
        return false;
    }
    if (call->raised && !call->failed && !while_raised) {
        char what[64] = "called ";
        strncat(what, call->name, sizeof what - sizeof "called , while pending: ");
        strcat(what, ", while pending: ");
        report_pending(call->vm, what);
    }
    return true;
}

void dv_debug_done(dv_debug_call *call) {
    if (!call->raised && !dv_is_empty(call->vm->error))
        call->vm->extensions.plugins->debug->raised = dv_debug_site_here(call->vm, call->name);
}

dv_value dv_debug_made(dv_debug_call *call, dv_value result) {
    dv_debug_done(call);
    if (!dv_is_object(result)) return result;
    dv_value handle = make_handle(call->vm, result, call->name);
    if (!dv_is_empty(handle)) return handle;
    dv_release(call->vm, result);
    return dv_raise_memory(call->vm);
}

/* ---- Beginning and end ---- */

bool dv_debug_setup(dv_vm *vm) {
    enum { FIRST = 64 };
    struct dv_debug *debug = dv_heap_alloc(&vm->heap, sizeof *debug);
    if (!debug) return false;
    memset(debug, 0, sizeof *debug);
    debug->records = dv_heap_alloc(&vm->heap, FIRST * sizeof *debug->records);
    debug->lent = dv_heap_alloc(&vm->heap, FIRST * sizeof *debug->lent);
    debug->capacity = debug->lent_capacity = FIRST;
    debug->count = 1;
    vm->extensions.plugins->debug = debug;
    vm->extensions.no_native = true;
    return debug->records && debug->lent;
}

static void report_leak(dv_vm *vm, const dv_debug_record *record) {
    dv_watch_line line = {.size = 0};
    dv_watch_put(&line, "ext-debug: never released: ");
    dv_debug_put_record(&line, record);
    if (record->references > 1)
        dv_watch_put_format(&line, ", %u references", (unsigned)record->references);
    dv_debug_write(vm, &line);
}

static void drop_values(dv_vm *vm) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    for (uint32_t i = 1; i < debug->count; i++)
        if (debug->records[i].references) report_leak(vm, &debug->records[i]);
    for (uint32_t i = 1; i < debug->count; i++) {
        uint32_t references = debug->records[i].references;
        dv_value value = debug->records[i].value;
        debug->records[i].references = 0;
        while (references--) dv_release(vm, value);
    }
}

static void report_block(dv_vm *vm, const dv_debug_block *block) {
    dv_watch_line line = {.size = 0};
    dv_watch_put_format(&line, "ext-debug: never deallocated: %zu bytes from ", block->size);
    dv_debug_put_site(&line, &block->made);
    dv_debug_write(vm, &line);
}

static void drop_blocks(dv_vm *vm) {
    for (int i = 0; i < DV_DEBUG_BLOCK_LISTS; i++)
        while (vm->extensions.plugins->debug->blocks[i]) {
            dv_debug_block *block = vm->extensions.plugins->debug->blocks[i];
            report_block(vm, block);
            dv_debug_deallocate(vm, block->memory, block->size);
        }
}

void dv_debug_discard(dv_vm *vm) {
    struct dv_debug *debug = vm->extensions.plugins->debug;
    drop_values(vm);
    drop_blocks(vm);
    write_repeated(vm);
    while (debug->files) {
        dv_debug_file *file = debug->files;
        debug->files = file->next;
        dv_heap_free(&vm->heap, file, sizeof *file + file->size);
    }
    dv_heap_free(&vm->heap, debug->records, debug->capacity * sizeof *debug->records);
    dv_heap_free(&vm->heap, debug->lent, debug->lent_capacity * sizeof *debug->lent);
    dv_heap_free(&vm->heap, debug, sizeof *debug);
    vm->extensions.plugins->debug = NULL;
}
