/* fuzz_verify.c: libFuzzer's target for the verifier: random code objects, which it accepts or
 * rejects without a crash.
 *
 * The bytes are read as: 8 bytes of head (locals, parameters, flags, exception entries), 4 bytes
 * for each exception entry, then instructions: an opcode and, for each operand, a byte.  Operands
 * are brought near their range, so that most code is well formed, but not into it.
 *
 * Invariants
 *  1. The same bytes make the same code object.
 *  2. What the verifier accepts keeps its promises (unit.h). */
#include "code/verify.h"
#include "dv_ops.h"
#include "unit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_WORDS = 600, MOST_EXCEPTIONS = 4, NAMES = 4, LOCALS = 12 };

typedef struct input {
    const uint8_t *at, *end;
} input;

static uint32_t next(input *in) { return in->at < in->end ? *in->at++ : 0; }

/* Mostly below the limit, sometimes just outside. */
static uint32_t below(input *in, uint32_t limit) { return next(in) % (limit + limit / 16 + 1); }

static uint32_t operand(input *in, const dv_code *code, uint32_t kind, uint32_t words) {
    switch (kind) {
    case DV_OPERAND_CONST:
    case DV_OPERAND_CODE: return below(in, code->constant_count);
    case DV_OPERAND_LOCAL: return below(in, code->local_count);
    case DV_OPERAND_NAME: return below(in, code->name_count);
    case DV_OPERAND_JUMP: return (next(in) | next(in) << 8) % (words + 1);
    case DV_OPERAND_OWN: return next(in) & 7;
    default: return next(in) & 0x80 ? next(in) << 4 : next(in) & 7;
    }
}

static uint32_t read_words(input *in, const dv_code *code, uint32_t *words) {
    uint32_t most = (uint32_t)(in->end - in->at), count = 0;
    while (in->at < in->end && count < MOST_WORDS - 4) {
        uint32_t op = next(in) % (DV_OP_GENERIC_COUNT + 1);
        const dv_op_info *info = &dv_op_infos[op];
        uint32_t start = count++;
        words[start] = op;
        for (uint32_t i = 0; i < info->operand_count; i++) {
            uint32_t value = operand(in, code, info->operands[i], most);
            if (i == 0)
                words[start] |= value << 8;
            else
                words[count++] = value;
        }
    }
    return count;
}

static uint32_t read_exceptions(input *in, dv_exception_entry *entries) {
    uint32_t count = next(in) % (MOST_EXCEPTIONS + 1);
    for (uint32_t i = 0; i < count; i++) {
        entries[i].begin = next(in);
        entries[i].end = next(in);
        entries[i].handler = next(in);
        entries[i].depth = next(in) & 7;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const dv_text names[NAMES] = {{"x", 1}, {"print", 5}, {"append", 6}, {"__init__", 8}};
    static const dv_text locals[LOCALS] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1},
                                           {"e", 1}, {"f", 1}, {"g", 1}, {"h", 1},
                                           {"i", 1}, {"j", 1}, {"k", 1}, {"l", 1}};
    static const uint32_t items[2] = {0, 1}, free_from[2] = {0, 1};
    if (size < 8) return 0;
    input in = {data, data + size};
    memory used = {NULL, 0};
    dv_unit unit = {.filename = {"fuzz", 4}, .references = 1, .arena = &used, .allocate = allocate};
    const uint32_t inner_words[2] = {DV_OP_LOAD_CONST, DV_OP_RETURN};
    const uint32_t closure_words[3] = {DV_OP_COPY_FREE, DV_OP_LOAD_CONST, DV_OP_RETURN};
    const dv_const none = {.kind = DV_CONST_NONE};
    dv_code inner = {.unit = &unit,
                     .name = names[0],
                     .qualname = names[0],
                     .words = inner_words,
                     .word_count = 2,
                     .constants = &none,
                     .constant_count = 1};
    dv_code closure = inner;
    closure.words = closure_words, closure.word_count = 3;
    closure.free_from = free_from, closure.free_count = 1 + next(&in) % 2;
    closure.local_count = closure.free_count, closure.local_names = locals;
    const dv_const constants[] = {
        {.kind = DV_CONST_INT, .as.integer = 7},
        {.kind = DV_CONST_STR, .as.text = {"s", 1}},
        {.kind = DV_CONST_TUPLE, .as.tuple = {items, 2}},
        {.kind = DV_CONST_FLOAT, .as.real = 0.5},
        {.kind = DV_CONST_CODE, .as.code = &inner},
        {.kind = DV_CONST_CODE, .as.code = &closure},
    };
    dv_exception_entry exceptions[MOST_EXCEPTIONS];
    uint32_t words[MOST_WORDS];
    dv_code code = {.unit = &unit,
                    .name = names[0],
                    .qualname = names[0],
                    .first_line = 1,
                    .constants = constants,
                    .names = names,
                    .name_count = NAMES,
                    .local_names = locals,
                    .free_from = free_from};
    code.constant_count = sizeof constants / sizeof *constants;
    code.local_count = next(&in) % LOCALS;
    code.positional_count = next(&in) % 4;
    code.keyword_only_count = next(&in) % 2;
    code.flags = next(&in) & (DV_CODE_VARARGS | DV_CODE_VARKEYWORDS);
    code.free_count = next(&in) % 3 ? 0 : next(&in) % 3;
    code.exception_count = read_exceptions(&in, exceptions);
    code.exceptions = exceptions;
    code.word_count = read_words(&in, &code, words);
    code.words = words;
    unit.code = &code;
    char message[256];
    if (dv_code_verify(&unit, message, sizeof message)) check_states(&code);
    release(&used);
    return 0;
}
