/* words.c: things in words (words.h). */
#include "inspect/words.h"

#include <stdio.h>

#include "core/upcall.h"
#include "types/number/float.h"
#include "types/number/int.h"
#include "types/text/str.h"

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

void dv_words_name(dv_vm *vm, dv_line *line, dv_value name) {
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

/* `own=ac`: the first and the third input are owned; nothing if none is.  `inplace`: of a op= b. */
static void put_own(dv_line *line, uint32_t mask, uint32_t inputs, const char *space) {
    const uint32_t owned = mask & ((1u << inputs) - 1);
    if (owned) dv_line_put(line, "%sown=", space);
    for (uint32_t i = 0; i < inputs; i++)
        if (owned >> i & 1) dv_line_put(line, "%c", (char)('a' + i));
    if (owned != mask) dv_line_put(line, "%sinplace", owned ? " " : space);
}

void dv_words_operands(dv_vm *vm, dv_line *line, const dv_code *code, uint32_t pc) {
    const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
    for (uint32_t i = 0; i < info->operand_count; i++) {
        uint32_t operand = i ? code->words[pc + i] : code->words[pc] >> 8;
        const char *space = i ? " " : "";
        if (info->operands[i] == DV_OPERAND_OWN) {
            put_own(line, operand, info->inputs, space);
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

void dv_words_instruction(dv_vm *vm, dv_line *line, const dv_code *code, uint32_t pc) {
    dv_line_put(line, "%s", dv_op_name(code->words[pc] & 0xFF));
    dv_line operands = {0};
    dv_words_operands(vm, &operands, code, pc);
    if (operands.size) {
        dv_line_put(line, " ");
        dv_line_text(line, operands.text, operands.size);
    }
    dv_line_put(line, " at %u", pc);
}

/* ---- Types ---- */

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
    dv_words_name(vm, line, found->class_->name);
    dv_line_put(line, " with %u attribute%s", found->count, found->count == 1 ? "" : "s");
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
            dv_words_name(vm, line, dv_shape_at(vm, (uint32_t)rest)->class_->name);
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

void dv_words_types_seen(dv_vm *vm, dv_line *line, const dv_types_seen *types) {
    for (int i = 0; i < DV_PROFILE_TYPES && types->entries[i].executions; i++) {
        if (i) dv_line_put(line, "; ");
        dv_words_operand_types(vm, line, &types->entries[i].operands);
    }
    if (types->others) dv_line_put(line, "; and others");
}

/* ---- Source ---- */

const char *dv_words_level(const dv_vm *vm) {
    static const char *const names[] = {"generic", "inca", "nama"};
    return names[vm->level];
}

dv_text dv_words_source_line(const dv_unit *unit, uint32_t number) {
    const char *at = unit->source.data, *end = at + unit->source.size;
    for (uint32_t line = 1; at && at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if (line == number) {
            if (stop > at && stop[-1] == '\r') stop--;
            return (dv_text){at, (uint32_t)(stop - at)};
        }
        at = newline ? newline + 1 : end;
    }
    return (dv_text){"", 0};
}
