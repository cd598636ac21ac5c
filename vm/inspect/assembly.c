/* assembly.c: writing code objects as text (assembly.h). */
#include "inspect/assembly.h"

#include <stdarg.h>
#include <stdio.h>

#include "dv_ops.h"
#include "inspect/dis.h"
#include "inspect/region_text.h"
#include "types/number/float.h"

typedef struct writer {
    dv_output out;
    void *context;
    dv_vm *vm;         /* NULL: regions are left out */
    uint32_t numbered; /* code objects that have a number so far */
} writer;

const char *const dv_assembly_comprehensions[DV_COMPREHENSION_GENERATOR + 1] = {
    "listcomp", "setcomp", "dictcomp", "genexpr"};

const char *const dv_assembly_flags[DV_ASSEMBLY_FLAGS] = {"module",      "class",     "varargs",
                                                          "varkeywords", "generator", "loop"};

bool dv_assembly_is_bare(dv_text name) {
    for (uint32_t i = 0; i < name.size; i++) {
        const unsigned char c = (unsigned char)name.data[i];
        const bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        const bool digit = (c >= '0' && c <= '9') || c == '.';
        if (!letter && c != '_' && c < 0x80 && !(digit && (i > 0 || c == '.'))) return false;
    }
    return name.size > 0;
}

/* ---- Pieces ---- */

static void put_bytes(const writer *w, const char *data, size_t size) {
    if (size) w->out(w->context, data, size);
}

__attribute__((format(printf, 2, 3))) static void put(const writer *w, const char *format, ...) {
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_bytes(w, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

/* `ascii`: all bytes above are escaped. */
static void put_quoted(const writer *w, dv_text text, bool ascii) {
    put(w, "\"");
    for (uint32_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        if (c == '\n')
            put(w, "\\n");
        else if (c == '"' || c == '\\')
            put(w, "\\%c", c);
        else if (c < ' ' || c == 127 || (ascii && c > 127))
            put(w, "\\x%02x", c);
        else
            put_bytes(w, text.data + i, 1);
    }
    put(w, "\"");
}

static void put_name(const writer *w, dv_text name) {
    if (dv_assembly_is_bare(name))
        put_bytes(w, name.data, name.size);
    else
        put_quoted(w, name, false);
}

static bool is_equal(dv_text a, dv_text b) {
    return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

/* A local by its name, where that is its alone. */
static void put_local(const writer *w, const dv_code *code, uint32_t local) {
    const dv_text name = code->local_names[local];
    uint32_t same = 0;
    for (uint32_t i = 0; i < code->local_count; i++) same += is_equal(code->local_names[i], name);
    if (same == 1 && dv_assembly_is_bare(name))
        put_bytes(w, name.data, name.size);
    else
        put(w, "$%u", local);
}

/* The number of a code constant: they are counted as they follow one another in the text. */
static uint32_t number_of(const dv_code *code, uint32_t first, uint32_t constant);

static uint32_t count_codes(const dv_code *code) {
    return 1 + number_of(code, 0, code->constant_count);
}

static uint32_t number_of(const dv_code *code, uint32_t first, uint32_t constant) {
    for (uint32_t i = 0; i < constant; i++)
        if (code->constants[i].kind == DV_CONST_CODE)
            first += count_codes(code->constants[i].as.code);
    return first;
}

static void put_float(const writer *w, double d) {
    char text[32];
    put_bytes(w, text, dv_float_repr(d, text));
}

static void put_constant(const writer *w, const dv_code *code, uint32_t number, uint32_t index) {
    const dv_const *c = &code->constants[index];
    switch (c->kind) {
    case DV_CONST_NONE: put(w, "None"); break;
    case DV_CONST_FALSE: put(w, "False"); break;
    case DV_CONST_TRUE: put(w, "True"); break;
    case DV_CONST_ELLIPSIS: put(w, "Ellipsis"); break;
    case DV_CONST_INT: put(w, "%lld", (long long)c->as.integer); break;
    case DV_CONST_BIGINT: {
        const bool negative = c->as.text.data[0] == '-';
        put(w, negative ? "-0x" : "0x");
        put_bytes(w, c->as.text.data + negative, c->as.text.size - negative);
        break;
    }
    case DV_CONST_FLOAT: put_float(w, c->as.real); break;
    case DV_CONST_COMPLEX:
        put_float(w, c->as.real);
        put(w, "j");
        break;
    case DV_CONST_STR: put_quoted(w, c->as.text, false); break;
    case DV_CONST_BYTES:
        put(w, "b");
        put_quoted(w, c->as.text, true);
        break;
    case DV_CONST_FROZENSET:
    case DV_CONST_TUPLE:
        put(w, c->kind == DV_CONST_TUPLE ? "(" : "{");
        for (uint32_t i = 0; i < c->as.tuple.count; i++) {
            if (i) put(w, ", ");
            put_constant(w, code, number, c->as.tuple.items[i]);
        }
        put(w, c->kind == DV_CONST_FROZENSET ? "}" : c->as.tuple.count == 1 ? ",)" : ")");
        break;
    case DV_CONST_CODE: put(w, "@%u", number_of(code, number + 1, index)); break;
    }
}

static void put_own(const writer *w, uint32_t mask, uint32_t inputs) {
    const uint32_t owned = mask & ((1u << inputs) - 1);
    if (owned) put(w, " own=");
    for (uint32_t i = 0; i < inputs; i++)
        if (owned >> i & 1) put(w, "%c", (char)('a' + i));
    if (owned != mask) put(w, " inplace");
}

static void put_operand(const writer *w, const dv_code *code, uint32_t number, uint32_t kind,
                        uint32_t operand) {
    put(w, " ");
    switch (kind) {
    case DV_OPERAND_CONST:
    case DV_OPERAND_CODE: put_constant(w, code, number, operand); break;
    case DV_OPERAND_LOCAL: put_local(w, code, operand); break;
    case DV_OPERAND_NAME: put_name(w, code->names[operand]); break;
    case DV_OPERAND_JUMP: put(w, "L%u", operand); break;
    default: put(w, "%u", operand); break;
    }
}

/* ---- Code objects ---- */

static uint32_t words_of(const dv_code *code, uint32_t pc) {
    const uint32_t operands = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return operands > 1 ? operands : 1;
}

static bool is_target(const writer *w, const dv_code *code, const dv_region *regions,
                      uint32_t target) {
    for (; regions; regions = regions->next)
        if (dv_region_text_names(regions, target) && !dv_region_text_refusal(w->vm, regions))
            return true;
    for (uint32_t pc = 0; pc < code->word_count; pc += words_of(code, pc)) {
        const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
        for (uint32_t i = 0; i < info->operand_count; i++)
            if (info->operands[i] == DV_OPERAND_JUMP &&
                (i ? code->words[pc + i] : code->words[pc] >> 8) == target)
                return true;
    }
    for (uint32_t i = 0; i < code->exception_count; i++) {
        const dv_exception_entry *e = &code->exceptions[i];
        if (e->begin == target || e->end == target || e->handler == target) return true;
    }
    for (uint32_t i = 0; i < code->inlined_count; i++) {
        const dv_inlined_code *e = &code->inlined[i];
        if (e->begin == target || e->end == target || e->call == target || e->taking == target ||
            (e->taking != DV_NO_TAKING && e->taken == target))
            return true;
    }
    return false;
}

static void put_header(const writer *w, const dv_code *code, uint32_t number) {
    put(w, "\ncode @%u ", number);
    put_quoted(w, code->qualname, false);
    put(w, "\n  name ");
    put_quoted(w, code->name, false);
    put(w, "\n  line %u\n", code->first_line);
    if (code->doc.data) {
        put(w, "  doc ");
        put_quoted(w, code->doc, false);
        put(w, "\n");
    }
    if (code->flags) {
        put(w, "  flags");
        for (uint32_t i = 0; i < DV_ASSEMBLY_FLAGS; i++)
            if (code->flags >> i & 1) put(w, " %s", dv_assembly_flags[i]);
        put(w, "\n");
    }
    if (code->positional_count || code->keyword_only_count)
        put(w, "  parameters %u %u %u\n", code->positional_count, code->positional_only_count,
            code->keyword_only_count);
    if (code->local_count) put(w, "  locals");
    for (uint32_t i = 0; i < code->local_count; i++) {
        put(w, " ");
        put_name(w, code->local_names[i]);
    }
    if (code->local_count) put(w, "\n");
    if (code->free_count) put(w, "  free");
    for (uint32_t i = 0; i < code->free_count; i++)
        put(w, code->free_from[i] & DV_FREE_VALUE ? " =%u" : " %u",
            code->free_from[i] & ~DV_FREE_VALUE);
    if (code->free_count) put(w, "\n");
}

static void put_instructions(const writer *w, const dv_code *code, uint32_t number,
                             const dv_region *regions) {
    uint32_t position = 0;
    for (uint32_t pc = 0; pc < code->word_count; pc += words_of(code, pc)) {
        if (is_target(w, code, regions, pc)) put(w, "L%u:\n", pc);
        for (; position < code->position_count && code->positions[position].pc <= pc; position++) {
            const dv_position *p = &code->positions[position];
            put(w, "  at %u:%u-%u:%u\n", p->line, p->column, p->end_line, p->end_column);
        }
        const uint32_t word = code->words[pc];
        const dv_op_info *info = &dv_op_infos[word & 0xFF];
        put(w, "    %s", dv_op_name(word & 0xFF));
        for (uint32_t i = 0; i < info->operand_count; i++) {
            const uint32_t operand = i ? code->words[pc + i] : word >> 8;
            if (info->operands[i] == DV_OPERAND_OWN)
                put_own(w, operand, info->inputs);
            else
                put_operand(w, code, number, info->operands[i], operand);
        }
        put(w, "\n");
    }
    if (is_target(w, code, regions, code->word_count)) put(w, "L%u:\n", code->word_count);
}

static void put_region(const writer *w, const dv_region *region) {
    const char *why = dv_region_text_refusal(w->vm, region);
    if (why)
        put(w, "  # no text for the region of pcs %u to %u: %s\n", region->begin, region->end - 1,
            why);
    else
        dv_region_text_write(w->vm, region, w->out, w->context);
}

static void put_code(writer *w, const dv_code *code) {
    const uint32_t number = w->numbered++;
    const dv_thread *thread = w->vm ? dv_inspect_thread(w->vm, code) : NULL;
    const dv_region *regions = thread ? thread->regions : NULL;
    put_header(w, code, number);
    put_instructions(w, code, number, regions);
    for (uint32_t i = 0; i < code->exception_count; i++) {
        const dv_exception_entry *e = &code->exceptions[i];
        put(w, "  catch L%u L%u to L%u depth %u\n", e->begin, e->end, e->handler, e->depth);
    }
    for (uint32_t i = 0; i < code->inlined_count; i++) {
        const dv_inlined_code *e = &code->inlined[i];
        put(w, "  inlined L%u L%u by L%u %s locals %u %u", e->begin, e->end, e->call,
            dv_assembly_comprehensions[e->kind], e->first_local, e->local_count);
        if (e->taking != DV_NO_TAKING) put(w, " taking L%u L%u", e->taking, e->taken);
        put(w, "\n");
    }
    for (; regions; regions = regions->next) put_region(w, regions);
    for (uint32_t i = 0; i < code->constant_count; i++)
        if (code->constants[i].kind == DV_CONST_CODE) put_code(w, code->constants[i].as.code);
}

void dv_assembly_write(dv_vm *vm, const dv_unit *unit, dv_output out, void *context) {
    writer w = {out, context, vm, 0};
    put(&w, "file ");
    put_quoted(&w, unit->filename, false);
    put(&w, "\n");
    put_code(&w, unit->code);
    if (!unit->source.size) return;
    put(&w, "\nsource\n"); /* up to the end of the text */
    put_bytes(&w, unit->source.data, unit->source.size);
}
