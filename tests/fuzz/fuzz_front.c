/* fuzz_front.c: libFuzzer's target for the front end: whatever the bytes say, dv_lang_compile makes
 * code that the verifier accepts, or refuses the text, and gives back all memory.
 *
 * Invariants
 *  1. The same bytes do the same: every fourth input (by a hash) also runs out of memory, at an
 * allocation that the hash names.
 *  2. A code object that the verifier rejects is a crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/verify.h"
#include "lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct memory {
    uint32_t left; /* allocations until there is no more memory; 0: no limit */
    size_t held;
} memory;

static void *resize(void *context, void *block, size_t old_size, size_t new_size) {
    memory *m = context;
    if (new_size == 0) {
        free(block);
        m->held -= old_size;
        return NULL;
    }
    if (m->left && --m->left == 0) {
        m->left = 1; /* and never again */
        return NULL;
    }
    void *moved = realloc(block, new_size);
    if (moved) m->held += new_size - old_size;
    return moved;
}

static void fail(const char *what, const char *detail) {
    fprintf(stderr, "%s: %s\n", what, detail);
    abort();
}

static uint32_t hash(const uint8_t *data, size_t size) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++) h = (h ^ data[i]) * 16777619u;
    return h;
}

static void compile(const uint8_t *data, size_t size, const char *mode, uint32_t left) {
    memory m = {.left = left};
    dv_lang_request request = {
        .filename = {"fuzz.dl", 7},
        .source = {(const char *)data, (uint32_t)size},
        .quote_source = true,
        .mode = mode,
        .allocator = {resize, &m},
    };
    dv_unit *unit = NULL;
    dv_lang_error error;
    dv_lang_status status = dv_lang_compile(&request, &unit, &error);
    if (status == DV_LANG_NO_MEMORY && !left) fail("no memory", "though there was");
    if (status == DV_LANG_OK) {
        char message[256];
        if (!dv_code_verify(unit, message, sizeof message) &&
            !(left && strcmp(message, "out of memory") == 0))
            fail("the compiler made invalid code", message);
        unit->release_arena(unit->context, unit->arena);
    }
    if (m.held) fail("memory", "was not given back");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t h = hash(data, size);
    compile(data, size, "module", 0);
    if (h % 4 == 0) compile(data, size, "module", 1 + (h >> 2) % 300);
    if (h % 4 == 1) compile(data, size, "interactive", 0);
    return 0;
}
