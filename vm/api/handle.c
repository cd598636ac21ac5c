/* handle.c: the tables of handles (handle.h). */
#include "api/handle.h"

#include "api/error.h"

#include "core/native.h"
#include "core/upcall.h"
#include "core/work.h"
#include "plugin/watch.h"

enum { LEAST_SLOTS = 32 };
#define KEPT_SHIFT 31
#define KEPT       (1u << KEPT_SHIFT)
#define MOST       (KEPT - 1)

/* ---- Slots ---- */

static dynvm_value handle_of(uint32_t index, uint32_t serial) {
    return (dynvm_value){(uint64_t)serial << 32 | index};
}

/* The slot of a handle that is open; NULL: it has ended, or is none of this VM's. */
static inline dv_handle_slot *find(dynvm_vm *self, dynvm_value v) {
    const uint32_t index = (uint32_t)v.handle & ~KEPT, serial = (uint32_t)(v.handle >> 32);
    const dv_handle_table *table = &self->handles.tables[(uint32_t)v.handle >> KEPT_SHIFT];
    if (DV_UNLIKELY(index >= table->count || !serial)) return NULL;
    dv_handle_slot *slot = &table->slots[index];
    return DV_LIKELY(slot->serial == serial) ? slot : NULL;
}

static bool grow(dv_vm *vm, dv_handle_table *table) {
    const size_t size = sizeof *table->slots;
    const uint32_t room = table->capacity ? table->capacity * 2 : LEAST_SLOTS;
    if (room > MOST) return false;
    dv_handle_slot *moved =
        dv_heap_resize(&vm->heap, table->slots, table->capacity * size, room * size);
    if (!moved) return false;
    table->slots = moved;
    table->capacity = room;
    return true;
}

/* Fills a slot that is free; the handle. */
static dynvm_value fill(dynvm_vm *self, dv_handle_slot *slot, uint32_t index, dv_value value) {
    dv_handles *handles = &self->handles;
    if (++handles->serial == 0) handles->serial = 1;
    *slot = (dv_handle_slot){value, handles->serial, handles->line, handles->file};
    handles->file = NULL;
    return handle_of(index, handles->serial);
}

static dynvm_value no_memory(dynvm_vm *self, dv_value value) {
    dv_release(self->vm, value);
    dv_raise_memory(self->vm);
    dv_host_failed(self);
    return DV_NO_HANDLE;
}

/* A handle of the innermost scope; takes the value. */
static dynvm_value push(dynvm_vm *self, dv_value value) {
    dv_handle_table *table = &self->handles.tables[DV_SCOPED];
    if (DV_UNLIKELY(table->count == table->capacity) && !grow(self->vm, table))
        return no_memory(self, value);
    const uint32_t index = table->count++;
    return fill(self, &table->slots[index], index, value);
}

/* A slot for a kept handle; false: out of memory. */
static bool find_free(dynvm_vm *self, uint32_t *index) {
    dv_handles *handles = &self->handles;
    dv_handle_table *table = &handles->tables[DV_KEPT];
    if (handles->free) {
        *index = handles->free - 1;
        handles->free = table->slots[*index].line;
        return true;
    }
    if (table->count == table->capacity && !grow(self->vm, table)) return false;
    *index = table->count++;
    return true;
}

/* Frees the slot of a kept handle; its value, which the caller releases last: that may run code. */
static dv_value free_kept(dv_handles *handles, uint32_t index) {
    dv_handle_slot *slot = &handles->tables[DV_KEPT].slots[index];
    const dv_value value = slot->value;
    *slot = (dv_handle_slot){.value = DV_EMPTY, .line = handles->free};
    handles->free = index + 1;
    return value;
}

/* The same of a handle that belongs to a scope.  A loop that drops what it makes takes no more and
 * more room. */
static dv_value free_scoped(dv_handles *handles, uint32_t index) {
    dv_handle_table *table = &handles->tables[DV_SCOPED];
    const dv_value value = table->slots[index].value;
    table->slots[index] = (dv_handle_slot){.value = DV_EMPTY};
    while (table->count > handles->base && !table->slots[table->count - 1].serial) table->count--;
    return value;
}

/* ---- Scopes ---- */

dynvm_scope dynvm_open_scope(dynvm_vm *self) {
    dv_handles *handles = &self->handles;
    const uint32_t count = handles->tables[DV_SCOPED].count;
    const dynvm_scope scope = {count, handles->base};
    handles->base = count;
    return scope;
}

void dynvm_close_scope(dynvm_vm *self, dynvm_scope scope) {
    dv_handle_table *table = &self->handles.tables[DV_SCOPED];
    dv_native_attach(self->vm);
    while (table->count > scope.first) {
        const dv_value value = table->slots[--table->count].value;
        table->slots[table->count].serial = 0;
        dv_release(self->vm, value);
    }
    if (scope.outer <= table->count) self->handles.base = scope.outer;
}

dynvm_value dynvm_close_scope_with(dynvm_vm *self, dynvm_scope scope, dynvm_value result) {
    dv_value value;
    const bool good = dv_host_take(self, &result, &value, 1);
    dynvm_close_scope(self, scope);
    return good ? push(self, value) : DV_NO_HANDLE;
}

dynvm_value dynvm_keep(dynvm_vm *self, dynvm_value v) {
    dv_value value;
    uint32_t index;
    if (!dv_host_take(self, &v, &value, 1)) return DV_NO_HANDLE;
    if (!find_free(self, &index)) return no_memory(self, value);
    return fill(self, &self->handles.tables[DV_KEPT].slots[index], index | KEPT, value);
}

void dynvm_drop(dynvm_vm *self, dynvm_value v) {
    if (!find(self, v)) return;
    const uint32_t index = (uint32_t)v.handle;
    dv_native_attach(self->vm);
    dv_release(self->vm, index & KEPT ? free_kept(&self->handles, index & ~KEPT)
                                      : free_scoped(&self->handles, index));
}

dynvm_vm *dynvm_at(dynvm_vm *self, const char *file, int line) {
    self->handles.file = file;
    self->handles.line = (uint32_t)line;
    return self;
}

/* ---- Failures ---- */

void dv_host_failed(dynvm_vm *self) {
    dv_vm *vm = self->vm;
    if (dv_is_empty(vm->error)) return;
    dv_error_tell_stop(vm);
    dv_value before = self->failure;
    self->failure = vm->error;
    vm->error = DV_EMPTY;
    dv_release(vm, before);
}

void dv_host_refuse(dynvm_vm *self, const char *what) {
    dv_raise(self->vm, DV_E_SYSTEM_ERROR, "%s", what);
    dv_host_failed(self);
}

/* ---- Using handles ---- */

bool dv_host_begin(dynvm_vm *self) {
    dv_native_attach(self->vm);
    dv_work_begin_run(self->vm);
    if (DV_LIKELY(dv_is_empty(self->vm->error))) return true;
    dv_host_failed(self); /* a function of the host goes on where it should have returned */
    return false;
}

static bool refuse(dynvm_vm *self, dynvm_value v) {
    if (v.handle)
        dv_host_refuse(self, "the host uses a handle that has ended, or is another VM's");
    else if (dv_is_empty(self->failure) && !self->error)
        dv_host_refuse(self, "the host uses the handle of a failed call");
    return false;
}

bool dv_host_look(dynvm_vm *self, const dynvm_value *given, dv_value *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const dv_handle_slot *slot = find(self, given[i]);
        if (DV_UNLIKELY(!slot)) {
            dv_host_give_back(self, values, i);
            return refuse(self, given[i]);
        }
        values[i] = dv_retain(slot->value);
    }
    return true;
}

bool dv_host_take(dynvm_vm *self, const dynvm_value *given, dv_value *values, size_t count) {
    return dv_host_begin(self) && dv_host_look(self, given, values, count);
}

dv_value dv_host_see(dynvm_vm *self, dynvm_value v) {
    if (!dv_host_begin(self)) return DV_EMPTY;
    const dv_handle_slot *slot = find(self, v);
    if (DV_LIKELY(slot != NULL)) return slot->value;
    (void)refuse(self, v);
    return DV_EMPTY;
}

void dv_host_give_back(dynvm_vm *self, const dv_value *values, size_t count) {
    for (size_t i = 0; i < count; i++) dv_release(self->vm, values[i]);
}

dynvm_value dv_host_made(dynvm_vm *self, dv_value result) {
    if (DV_LIKELY(!dv_is_empty(result))) return push(self, result);
    dv_host_failed(self);
    return DV_NO_HANDLE;
}

/* ---- Beginning and end ---- */

void dv_handles_begin(dynvm_vm *self) {
    const uint32_t spread = 2654435761u; /* 2^32 by the golden ratio */
    self->handles.serial = (uint32_t)((uintptr_t)self >> 4) * spread;
}

static void report(dynvm_vm *self, const dv_handle_table *table, const char *what) {
    for (uint32_t i = 0; i < table->count; i++) {
        const dv_handle_slot *slot = &table->slots[i];
        if (!slot->serial) continue;
        dv_watch_line line = {.size = 0};
        dv_watch_put(&line, "handles: never ");
        dv_watch_put(&line, what);
        dv_watch_put(&line, ": ");
        dv_watch_put_value(self->vm, &line, slot->value);
        if (slot->file) {
            dv_watch_put(&line, ", made at ");
            dv_watch_put(&line, slot->file);
            dv_watch_put_format(&line, ":%u", slot->line);
        }
        dv_watch_write(self->vm, &line);
    }
}

static void end_all(dynvm_vm *self) {
    dv_handles *handles = &self->handles;
    dynvm_close_scope(self, (dynvm_scope){0, 0});
    for (uint32_t i = 0; i < handles->tables[DV_KEPT].count; i++)
        if (handles->tables[DV_KEPT].slots[i].serial) dv_release(self->vm, free_kept(handles, i));
    const dv_value failure = self->failure;
    self->failure = DV_EMPTY;
    dv_release(self->vm, failure);
}

/* What dies may make new handles, but not for ever: those of the last round are given up with the
 * heap. */
void dv_handles_end(dynvm_vm *self) {
    enum { ROUNDS = 4 };
    if (self->check_handles) {
        report(self, &self->handles.tables[DV_SCOPED], "ended by a scope");
        report(self, &self->handles.tables[DV_KEPT], "dropped");
    }
    for (int i = 0; i < ROUNDS; i++) end_all(self);
}

void dv_handles_free(dynvm_vm *self) {
    dv_handle_table *const tables[] = {&self->handles.tables[DV_SCOPED],
                                       &self->handles.tables[DV_KEPT]};
    for (int i = 0; i < 2; i++)
        if (tables[i]->slots)
            dv_heap_free(&self->vm->heap, tables[i]->slots,
                         tables[i]->capacity * sizeof(dv_handle_slot));
}
