/* words.c: instructions in words (words.h).
 *
 * Invariant 1: a cache holds no references, so what it points to may be gone; before a pointer is
 * followed, something that is alive must lead to the same object. */
#include "inspect/words.h"

#include <stddef.h>
#include <stdio.h>

#include "quicken/polymorphic.h"
#include "core/upcall.h"
#include "quicken/site.h"
#include "types/dict.h"
#include "types/float.h"
#include "types/int.h"
#include "types/module.h"
#include "types/str.h"

enum { LONGEST_CONSTANT = 48 }; /* bytes of its repr that are shown */

/* ---- Texts ---- */

static bool continues(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

static void put_text(dv_line *line, dv_text text) { dv_line_text(line, text.data, text.size); }

/* As much of a constant's repr as is shown. */
static void put_clipped(dv_line *line, const char *utf8, size_t size) {
    size_t shown = size;
    if (shown > LONGEST_CONSTANT) {
        shown = LONGEST_CONSTANT;
        while (shown > 0 && continues(utf8[shown])) shown--;
    }
    dv_line_text(line, utf8, shown);
    if (shown < size) dv_line_put(line, "...");
}

/* A str, which is released; EMPTY (a failure, which is forgotten) becomes a question mark. */
static void put_str(dv_vm *vm, dv_line *line, dv_value text) {
    size_t size = 0;
    char *utf8 = dv_is_empty(text) ? NULL : dv_str_utf8(vm, text, &size);
    dv_release(vm, text);
    if (!utf8) {
        dv_error_clear(vm);
        dv_line_put(line, "?");
        return;
    }
    put_clipped(line, utf8, size);
    dv_heap_free(&vm->heap, utf8, size + 1);
}

static void put_name(dv_vm *vm, dv_line *line, dv_value name) {
    put_str(vm, line, dv_is_str(name) ? dv_retain(name) : DV_EMPTY);
}

/* ---- Constants ---- */

static void put_bigint(dv_vm *vm, dv_line *line, dv_text hex) {
    dv_value value = dv_int_from_hex(vm, hex.data, hex.size);
    dv_value text = dv_is_empty(value) ? DV_EMPTY : dv_repr(vm, value);
    dv_release(vm, value);
    put_str(vm, line, text);
}

static void put_string(dv_vm *vm, dv_line *line, dv_text utf8) {
    dv_value value = dv_str_new(vm, utf8.data, utf8.size);
    dv_value text = dv_is_empty(value) ? DV_EMPTY : dv_str_repr(vm, value);
    dv_release(vm, value);
    put_str(vm, line, text);
}

static void put_bytes(dv_line *line, dv_text bytes) {
    char text[LONGEST_CONSTANT + 8];
    size_t size = 0;
    text[size++] = 'b';
    text[size++] = '\'';
    for (uint32_t i = 0; i < bytes.size && size <= LONGEST_CONSTANT; i++) {
        unsigned char c = (unsigned char)bytes.data[i];
        bool plain = c >= ' ' && c < 127 && c != '\'' && c != '\\';
        size += (size_t)snprintf(text + size, sizeof text - size, plain ? "%c" : "\\x%02x", c);
    }
    text[size++] = '\'';
    put_clipped(line, text, size);
}

static void put_float(dv_line *line, double d) {
    char text[32];
    dv_line_text(line, text, dv_float_repr(d, text));
}

static void put_constant(dv_vm *vm, dv_line *line, const dv_code *code, uint32_t index) {
    const dv_const *c = &code->constants[index];
    switch (c->kind) {
    case DV_CONST_NONE: dv_line_put(line, "None"); break;
    case DV_CONST_FALSE: dv_line_put(line, "False"); break;
    case DV_CONST_TRUE: dv_line_put(line, "True"); break;
    case DV_CONST_ELLIPSIS: dv_line_put(line, "Ellipsis"); break;
    case DV_CONST_INT: dv_line_put(line, "%lld", (long long)c->as.integer); break;
    case DV_CONST_BIGINT: put_bigint(vm, line, c->as.text); break;
    case DV_CONST_FLOAT: put_float(line, c->as.real); break;
    case DV_CONST_COMPLEX:
        put_float(line, c->as.real);
        dv_line_put(line, "j");
        break;
    case DV_CONST_STR: put_string(vm, line, c->as.text); break;
    case DV_CONST_BYTES: put_bytes(line, c->as.text); break;
    case DV_CONST_FROZENSET: dv_line_put(line, "frozenset"); /* fall through */
    case DV_CONST_TUPLE:
        dv_line_put(line, "(");
        for (uint32_t i = 0; i < c->as.tuple.count; i++) {
            if (i) dv_line_put(line, ", ");
            put_constant(vm, line, code, c->as.tuple.items[i]);
        }
        dv_line_put(line, c->as.tuple.count == 1 ? ",)" : ")");
        break;
    case DV_CONST_CODE:
        dv_line_put(line, "<code ");
        put_text(line, c->as.code->name);
        dv_line_put(line, ">");
        break;
    }
}

/* ---- Operands ---- */

/* `own=ac`: the first and the third input are owned; nothing if none is. */
static void put_own(dv_line *line, uint32_t mask, const char *space) {
    if (!mask) return;
    dv_line_put(line, "%sown=", space);
    for (uint32_t i = 0; i < 8; i++)
        if (mask >> i & 1) dv_line_put(line, "%c", (char)('a' + i));
}

void dv_words_operands(dv_vm *vm, dv_line *line, const dv_code *code, uint32_t pc) {
    const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
    for (uint32_t i = 0; i < info->operand_count; i++) {
        uint32_t operand = i ? code->words[pc + i] : code->words[pc] >> 8;
        const char *space = i ? " " : "";
        if (info->operands[i] == DV_OPERAND_OWN) {
            put_own(line, operand, space);
            continue;
        }
        dv_line_put(line, "%s", space);
        switch (info->operands[i]) {
        case DV_OPERAND_CONST:
        case DV_OPERAND_CODE: put_constant(vm, line, code, operand); break;
        case DV_OPERAND_LOCAL: put_text(line, code->local_names[operand]); break;
        case DV_OPERAND_NAME: put_text(line, code->names[operand]); break;
        case DV_OPERAND_JUMP: dv_line_put(line, "to %u", operand); break;
        default: dv_line_put(line, "%u", operand); break;
        }
    }
}

/* ---- Caches ---- */

static void put_thread(dv_vm *vm, dv_line *line, const void *wanted) {
    const dv_thread *thread = vm->codes;
    while (thread && (const void *)thread != wanted) thread = thread->next;
    if (!thread) {
        dv_line_put(line, " (a function that is gone)");
        return;
    }
    dv_line_put(line, " ");
    put_text(line, thread->code->qualname);
}

/* The name of a module that is in the dict; false: it is not. */
static bool put_module_of(dv_vm *vm, dv_line *line, dv_value modules, int64_t serial) {
    int64_t at = 0;
    dv_value key, module;
    while (dv_is_dict(modules) && dv_dict_walk(modules, &at, &key, &module)) {
        if (!dv_is_module(module) || (int64_t)dv_as_module(module)->serial != serial) continue;
        dv_line_put(line, " module=");
        put_name(vm, line, dv_as_module(module)->name);
        return true;
    }
    return false;
}

static void put_module(dv_vm *vm, dv_line *line, int64_t serial) {
    if (!put_module_of(vm, line, vm->modules, serial)) put_module_of(vm, line, vm->helpers, serial);
}

void dv_words_shape(dv_vm *vm, dv_line *line, uint32_t shape) {
    if (shape < DV_T_COUNT) {
        dv_line_put(line, "%s", vm->types[shape] ? vm->types[shape]->name : "?");
        return;
    }
    const dv_shape *found = dv_shape_at(vm, shape);
    if (!found) { /* numbers are not used again */
        dv_line_put(line, "(a class that is gone)");
        return;
    }
    put_name(vm, line, found->class_->name);
    dv_line_put(line, "+%u", found->count);
}

/* `shape=C+2`: instances of C with two attributes; a built-in type by its name. */
static void put_shape(dv_vm *vm, dv_line *line, int32_t number) {
    dv_line_put(line, " shape=");
    dv_words_shape(vm, line, (uint32_t)number);
}

static void put_entries(dv_vm *vm, dv_line *line, const dv_poly *poly) {
    for (int i = 0; i < DV_POLY_ENTRIES && poly->entries[i].shape; i++)
        put_shape(vm, line, (int32_t)poly->entries[i].shape);
}

static void put_cache(dv_vm *vm, dv_line *line, uint32_t op, const dv_cell *cache) {
    switch (op) {
    case DV_OP_CALL_DL:
    case DV_OP_CALL_METHOD_DL: put_thread(vm, line, cache->p); break;
    case DV_OP_CALL_C:
    case DV_OP_CALL_METHOD_C:
        dv_line_put(line, " %s", ((const dv_cfunction_def *)cache->p)->name);
        break;
    case DV_OP_LOAD_ATTR_SLOT:
    case DV_OP_STORE_ATTR_SLOT:
        put_shape(vm, line, cache->s.a);
        dv_line_put(line, " slot %d",
                    (cache->s.b - (int)offsetof(dv_instance, slots)) / (int)sizeof(dv_value));
        break;
    case DV_OP_LOAD_ATTR_FAR:
    case DV_OP_STORE_ATTR_FAR:
        put_shape(vm, line, cache->s.a);
        dv_line_put(line, " slot %d", cache->s.b);
        break;
    case DV_OP_STORE_ATTR_ADD:
        put_shape(vm, line, cache->s.a);
        dv_line_put(line, " to");
        put_shape(vm, line, cache->s.b);
        break;
    case DV_OP_LOAD_ATTR_POLY:
    case DV_OP_STORE_ATTR_POLY:
    case DV_OP_LOAD_METHOD_POLY: put_entries(vm, line, cache->p); break;
    case DV_OP_LOAD_ATTR_CLASS:
    case DV_OP_LOAD_ATTR_FIELD:
    case DV_OP_LOAD_METHOD_SHAPE: put_shape(vm, line, cache->s.a); break;
    case DV_OP_LOAD_ATTR_MODULE:
    case DV_OP_LOAD_METHOD_MODULE: put_module(vm, line, cache->i); break;
    default: break;
    }
}

/* A function that was called, but never ran (its arguments did not fit), may be gone. */
static void put_code(const dv_vm *vm, dv_line *line, const dv_code *code) {
    const dv_function_counts *f = dv_profile_of(vm)->functions;
    while (f && f->code != code) f = f->next;
    dv_line_put(line, "function ");
    if (f)
        put_text(line, code->qualname);
    else
        dv_line_put(line, "that never ran");
}

void dv_words_key(dv_vm *vm, dv_line *line, dv_operand_key key) {
    uint64_t rest = dv_key_rest(key);
    switch (dv_key_kind(key)) {
    case DV_KEY_TYPE: dv_words_shape(vm, line, (uint32_t)rest); break;
    case DV_KEY_LONG: dv_line_put(line, "int beyond 48 bits"); break;
    case DV_KEY_CODE: put_code(vm, line, (const dv_code *)(uintptr_t)rest); break;
    case DV_KEY_C:
        dv_line_put(line, "C function %s", ((const dv_cfunction_def *)(uintptr_t)rest)->name);
        break;
    case DV_KEY_CLASS:
        dv_line_put(line, "class ");
        if (dv_shape_at(vm, (uint32_t)rest))
            put_name(vm, line, dv_shape_at(vm, (uint32_t)rest)->class_->name);
        break;
    case DV_KEY_BUILTIN:
        dv_line_put(line, "class ");
        dv_words_shape(vm, line, (uint32_t)rest);
        break;
    default: dv_line_put(line, "nothing"); break;
    }
}

void dv_words_operand_types(dv_vm *vm, dv_line *line, const dv_operands *operands) {
    for (int i = 0; i < DV_PROFILE_OPERANDS && operands->keys[i]; i++) {
        if (i) dv_line_put(line, ", ");
        dv_words_key(vm, line, operands->keys[i]);
    }
}

/* Caches of globals hold cells of the name that the generic operand already says. */
static void put_global(dv_line *line, uint32_t family, const dv_code *code, uint32_t pc) {
    if (family != DV_OP_LOAD_GLOBAL && family != DV_OP_LOAD_GLOBAL_CALLEE) return;
    dv_line_put(line, " ");
    put_text(line, code->names[code->words[pc] >> 8]);
}

static void put_seen(dv_line *line, uint32_t seen) {
    static const char *const names[] = {"int", "float", "bool",  "None",
                                        "str", "list",  "tuple", "other"};
    const char *before = "  saw ";
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(seen >> i & 1)) continue;
        dv_line_put(line, "%s%s", before, names[i]);
        before = "|";
    }
}

/* Why an adaptive site has no derivative, and how long it waits until it looks again. */
static void put_waiting(dv_line *line, const dv_site *site) {
    static const char *const reasons[] = {
        [DV_REASON_NONE] = NULL,
        [DV_REASON_TYPES] = "no derivative for these types",
        [DV_REASON_CALLEE] = "no derivative for this callee",
        [DV_REASON_NAME] = "the name is not bound",
    };
    if (site->reason < sizeof reasons / sizeof *reasons && reasons[site->reason])
        dv_line_put(line, "  %s", reasons[site->reason]);
    if (site->wait) dv_line_put(line, "  waits %u", site->wait);
    if (site->backoff) dv_line_put(line, "  back-off %u", site->backoff);
}

static void put_counters(dv_line *line, const dv_site *site) {
    if (site->misses < DV_SITE_MISSES)
        dv_line_put(line, "  %d of %d misses", DV_SITE_MISSES - site->misses, DV_SITE_MISSES);
    if (site->backoff) dv_line_put(line, "  back-off %u", site->backoff);
}

/* Back edges count iterations in their site, not misses. */
static void put_back_edge(dv_line *line, uint32_t op, const dv_site *site) {
    if (op == DV_OP_JUMP_BACK_COUNT) dv_line_put(line, "  %u iterations left", site->wait);
}

static void put_foreign(dv_vm *vm, dv_line *line, const dv_cell *cell) {
    bool native = false;
    const char *name = NULL;
    if (vm->hooks.extension_derivative) name = vm->hooks.extension_derivative(vm, cell, &native);
    dv_line_put(line, "%s (%s)", name ? name : "?", native ? "native" : "portable");
    put_counters(line, &cell[1].site);
}

void dv_words_site(dv_vm *vm, dv_line *line, const dv_thread *thread, uint32_t pc) {
    const dv_code *code = thread->code;
    uint32_t generic = code->words[pc] & 0xFF;
    const dv_op_info *info = &dv_op_infos[generic];
    const dv_cell *cell = thread->cells + thread->cell_at[pc];
    uint32_t op = dv_op_of(vm, cell->h);
    if (op == generic) return;
    if (op == DV_OP_COUNT) {
        put_foreign(vm, line, cell);
        return;
    }
    dv_line_put(line, "%s", dv_op_infos[op].name);
    if (info->family == DV_OP_JUMP_BACK) {
        put_back_edge(line, op, &cell[1].site);
    } else if (dv_op_infos[op].kind == DV_KIND_FUSION) {
        return; /* the derivative behind it shows the rest */
    } else if (dv_op_infos[op].kind == DV_KIND_ADAPTIVE) {
        put_waiting(line, &cell[1].site);
    } else {
        put_global(line, info->family, code, pc);
        put_cache(vm, line, op, cell + info->cache_cell);
        put_seen(line, cell[1].site.seen);
        put_counters(line, &cell[1].site);
    }
}
