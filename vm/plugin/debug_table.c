/* debug_table.c: the functions of the debug table that keep accounts themselves: references,
 * memory, nesting, and the one with variable arguments (debug.h).
 *
 * Invariant 1: behind each block stand GUARD bytes that nobody writes. */
#include "plugin/debug_handle.h"
#include "plugin/table.h"

#include <stdio.h>

#include "types/text/str.h"

enum { GUARD = 16, GUARD_BYTE = 0xD9 };

/* ---- References ---- */

dv_value dv_debug_retain(dv_vm *vm, dv_value v) {
    dv_debug_call call = dv_debug_called(vm, "retain");
    dv_value value = dv_debug_use(&call, v, false);
    if (!dv_debug_allowed(&call, false)) return DV_EMPTY;
    value = vm->extensions.plugins->checked->retain(vm, value);
    if (!dv_debug_is_handle(v)) return dv_debug_made(&call, value);
    dv_debug_record *record = dv_debug_open(vm, v);
    if (!record->references++) record->made = dv_debug_site_here(vm, "retain");
    return v;
}

static void report_borrowed(dv_vm *vm, const dv_debug_record *record) {
    dv_watch_line line;
    dv_debug_report(vm, &line);
    dv_watch_put(&line, "released what it only borrowed");
    if (record) {
        dv_watch_put(&line, ": ");
        dv_debug_put_record(&line, record);
    }
    dv_debug_write(vm, &line);
}

void dv_debug_release(dv_vm *vm, dv_value v) {
    if (!dv_debug_is_handle(v)) {
        if (dv_is_object(v))
            report_borrowed(vm, NULL);
        else
            vm->extensions.plugins->checked->release(vm, v);
        return;
    }
    dv_debug_record *record = dv_debug_open(vm, v);
    if (!record) {
        dv_debug_report_closed(vm, v, "released");
    } else if (!record->references) {
        report_borrowed(vm, record);
    } else {
        dv_value value = record->value;
        if (!--record->references && !record->lent) dv_debug_close(vm, record, "release");
        vm->extensions.plugins->checked->release(vm, value);
    }
}

/* ---- Errors ---- */

/* A format that is being filled in piece by piece, as its values have to be looked up. */
typedef struct filling {
    dv_debug_call call;
    dv_value text; /* so far; EMPTY: raised */
} filling;

static void append(filling *f, dv_value piece) {
    dv_vm *vm = f->call.vm;
    dv_value whole =
        dv_is_empty(piece) || dv_is_empty(f->text) ? DV_EMPTY : dv_str_concat(vm, f->text, piece);
    dv_release(vm, f->text);
    dv_release(vm, piece);
    f->text = whole;
}

static dv_value number_piece(dv_vm *vm, const char *one, va_list *arguments) {
    if (strstr(one, "ll")) return dv_str_printf(vm, one, va_arg(*arguments, long long));
    if (strchr(one, 'l')) return dv_str_printf(vm, one, va_arg(*arguments, long));
    if (strchr(one, 'z')) return dv_str_printf(vm, one, va_arg(*arguments, size_t));
    return dv_str_printf(vm, one, va_arg(*arguments, int));
}

/* What a directive becomes with its argument. */
static dv_value piece(filling *f, const char *one, char letter, va_list *arguments) {
    dv_vm *vm = f->call.vm;
    if (letter == '%') return dv_str_printf(vm, "%%");
    if (letter == 's') return dv_str_printf(vm, one, va_arg(*arguments, const char *));
    if (letter == 'p') return dv_str_printf(vm, one, va_arg(*arguments, void *));
    if (!strchr("VST", letter)) return number_piece(vm, one, arguments);
    dv_value v = dv_debug_use(&f->call, va_arg(*arguments, dv_value), false);
    return dv_debug_allowed(&f->call, false) ? dv_str_printf(vm, one, v) : DV_EMPTY;
}

static void fill(filling *f, const char *format, va_list *arguments) {
    char one[32];
    while (*format && !dv_is_empty(f->text)) {
        size_t plain = strcspn(format, "%");
        if (plain) append(f, dv_api_make_str(f->call.vm, format, plain));
        format += plain;
        if (!*format || dv_is_empty(f->text)) return;
        size_t size = 1 + strspn(format + 1, "0123456789-+ #.lz") + 1;
        if (size >= sizeof one) size = sizeof one - 1;
        memcpy(one, format, size);
        one[size] = '\0';
        append(f, piece(f, one, one[size - 1], arguments));
        format += size;
    }
}

dv_value dv_debug_raise_format(dv_vm *vm, dv_value class_, const char *format, ...) {
    filling f = {dv_debug_called(vm, "raise_format"), DV_EMPTY};
    class_ = dv_debug_use(&f.call, class_, false);
    if (!dv_debug_allowed(&f.call, false)) return DV_EMPTY;
    if (!dv_api_is_format(format) || dv_is_empty(class_))
        return vm->extensions.plugins->checked->raise_format(vm, class_, format);
    va_list arguments;
    va_start(arguments, format);
    f.text = dv_api_make_str(vm, "", 0);
    fill(&f, format, &arguments);
    va_end(arguments);
    if (!dv_is_empty(f.text)) dv_api_raise_message(vm, class_, f.text);
    dv_debug_done(&f.call);
    return DV_EMPTY;
}

/* ---- Memory ---- */

static dv_debug_block **list_of(dv_vm *vm, const void *memory) {
    return &vm->extensions.plugins->debug->blocks[((uintptr_t)memory >> 4) % DV_DEBUG_BLOCK_LISTS];
}

/* Where the block is linked; NULL: there is none at that address. */
static dv_debug_block **find(dv_vm *vm, const void *memory) {
    for (dv_debug_block **at = list_of(vm, memory); *at; at = &(*at)->next)
        if ((*at)->memory == memory) return at;
    return NULL;
}

static void note(dv_vm *vm, dv_debug_block *block, void *memory, size_t size, const char *call) {
    dv_debug_block **list = list_of(vm, memory);
    *block = (dv_debug_block){*list, memory, size, dv_debug_site_here(vm, call)};
    memset((char *)memory + size, GUARD_BYTE, GUARD);
    *list = block;
}

static void *allocate(dv_vm *vm, size_t size, const char *name) {
    dv_debug_call call = dv_debug_called(vm, name);
    if (!dv_debug_allowed(&call, false)) return NULL;
    dv_debug_block *block = dv_heap_alloc(&vm->heap, sizeof *block);
    void *memory = block && size <= SIZE_MAX - GUARD
                       ? vm->extensions.plugins->checked->allocate(vm, size + GUARD)
                       : NULL;
    if (memory) {
        note(vm, block, memory, size, call.name);
        return memory;
    }
    if (block) dv_heap_free(&vm->heap, block, sizeof *block);
    if (dv_is_empty(vm->error)) dv_raise_memory(vm);
    dv_debug_done(&call);
    return NULL;
}

void *dv_debug_allocate(dv_vm *vm, size_t size) { return allocate(vm, size, "allocate"); }

static void report_memory(dv_vm *vm, const char *call, const char *what,
                          const dv_debug_block *block) {
    dv_watch_line line;
    dv_debug_report(vm, &line);
    dv_watch_put(&line, call);
    dv_watch_put(&line, what);
    if (block) {
        dv_watch_put_format(&line, "%zu bytes from ", block->size);
        dv_debug_put_site(&line, &block->made);
    }
    dv_debug_write(vm, &line);
}

static void check_block(dv_vm *vm, const char *call, const dv_debug_block *block, size_t size) {
    if (block->size != size) {
        char what[64];
        snprintf(what, sizeof what, " with size %zu of ", size);
        report_memory(vm, call, what, block);
    }
    const unsigned char *guard = (const unsigned char *)block->memory + block->size;
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != GUARD_BYTE) {
            report_memory(vm, call, " of a block that was written behind its end: ", block);
            return;
        }
}

void *dv_debug_resize(dv_vm *vm, void *memory, size_t old_size, size_t new_size) {
    if (!memory && !old_size) return allocate(vm, new_size, "resize");
    dv_debug_call call = dv_debug_called(vm, "resize");
    if (!dv_debug_allowed(&call, false)) return NULL;
    dv_debug_block **at = find(vm, memory), *block = at ? *at : NULL;
    if (!block) {
        report_memory(vm, "resize", " of a block that it does not have", NULL);
        dv_raise(vm, DV_E_SYSTEM_ERROR, "an extension resized a block that it does not have");
        dv_debug_done(&call);
        return NULL;
    }
    check_block(vm, "resize", block, old_size);
    void *moved = new_size > SIZE_MAX - GUARD
                      ? (dv_raise_memory(vm), NULL)
                      : vm->extensions.plugins->checked->resize(vm, memory, block->size + GUARD,
                                                                new_size + GUARD);
    dv_debug_done(&call);
    if (!moved) return NULL;
    *at = block->next;
    note(vm, block, moved, new_size, call.name);
    return moved;
}

void dv_debug_deallocate(dv_vm *vm, void *memory, size_t size) {
    if (!memory) return;
    dv_debug_block **at = find(vm, memory), *block = at ? *at : NULL;
    if (!block) {
        report_memory(vm, "deallocate", " of a block that it does not have", NULL);
        return;
    }
    check_block(vm, "deallocate", block, size);
    *at = block->next;
    vm->extensions.plugins->checked->deallocate(vm, memory, block->size + GUARD);
    dv_heap_free(&vm->heap, block, sizeof *block);
}

/* ---- Buffers: the view's owner is a handle, so that it counts as what the extension has. ---- */

bool dv_debug_buffer_get(dv_vm *vm, dv_value v, bool writable, dvx_view *view) {
    dv_debug_call call = dv_debug_called(vm, "buffer_get");
    v = dv_debug_use(&call, v, false);
    view->owner = DV_EMPTY;
    if (!dv_debug_allowed(&call, false)) return false;
    if (!vm->extensions.plugins->checked->buffer_get(vm, v, writable, view)) {
        dv_debug_done(&call);
        return false;
    }
    dv_value owner = dv_debug_made(&call, dv_retain(v));
    if (dv_is_empty(owner)) {
        vm->extensions.plugins->checked->buffer_release(vm, view);
        return false;
    }
    dv_release(vm, v); /* the handle has the view's reference */
    view->owner = owner;
    return true;
}

void dv_debug_buffer_release(dv_vm *vm, dvx_view *view) {
    if (dv_debug_is_handle(view->owner)) {
        dv_debug_record *record = dv_debug_open(vm, view->owner);
        if (!record) {
            dv_debug_report_closed(vm, view->owner, "released the view of");
            view->owner = DV_EMPTY;
            return;
        }
        view->owner = record->value;
        if (!--record->references) dv_debug_close(vm, record, "buffer_release");
    }
    vm->extensions.plugins->checked->buffer_release(vm, view);
}

/* ---- Nesting ---- */

bool dv_debug_enter_native(dv_vm *vm) {
    dv_debug_call call = dv_debug_called(vm, "enter");
    bool entered = dv_debug_allowed(&call, false) && vm->extensions.plugins->checked->enter(vm);
    if (entered && vm->extensions.plugins->debug->frame)
        vm->extensions.plugins->debug->frame->entered++;
    dv_debug_done(&call);
    return entered;
}

void dv_debug_leave_native(dv_vm *vm) {
    dv_debug_frame *frame = vm->extensions.plugins->debug->frame;
    if (frame && !frame->entered) {
        dv_watch_line line;
        dv_debug_report(vm, &line);
        dv_watch_put(&line, "leave without enter");
        dv_debug_write(vm, &line);
        return;
    }
    if (frame) frame->entered--;
    vm->extensions.plugins->checked->leave(vm);
}
