/* fuzz_compiled.c: libFuzzer's target for compiled files: bytes behind a header whose checksum is
 * right, which the reader and the verifier accept or reject.
 *
 * Invariants
 *  1. Nothing behind the bytes is read, and nothing is left.
 *  2. The reader takes no more than MOST_MEMORY bytes for each that it reads.
 *  3. What the verifier accepts keeps its promises (unit.h), and can be printed as assembly. */
#include "code/file.h"
#include "code/pack.h"
#include "code/verify.h"
#include "inspect/assembly.h"
#include "unit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_MEMORY = 64, LEAST_MEMORY = 4096 };

static int drop(void *context, const char *text, size_t size) {
    (void)text;
    *(size_t *)context += size;
    return 0;
}

static void check_codes(const dv_code *code) {
    check_states(code);
    for (uint32_t i = 0; i < code->constant_count; i++)
        if (code->constants[i].kind == DV_CONST_CODE) check_codes(code->constants[i].as.code);
}

static void look(dv_unit *unit) {
    char message[256];
    size_t printed = 0;
    if (!dv_code_verify(unit, message, sizeof message)) return;
    check_codes(unit->code);
    dv_assembly_write(NULL, unit, drop, &printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dv_code_file file;
    (void)dv_code_file_check(data, size, &file);
    memory used = {NULL, 0};
    dv_unit unit = {.references = 1, .arena = &used, .allocate = allocate};
    const dv_unpack_status status = dv_unit_unpack(&unit, false, data, size);
    if (used.size > LEAST_MEMORY + MOST_MEMORY * size) fail("too much memory");
    if (status == DV_UNPACK_OK) look(&unit);
    release(&used);
    return 0;
}
