/* flip.c: compiles small scripts and gives their bytes to the reader of compiled files and to the
 * verifier: with every bit changed, every byte made 0, 0x7F and 0xFF, cut off everywhere, and with
 * several bytes changed at once, the same ones each time.  `--seeds DIRECTORY` writes them instead,
 * as a corpus for fuzz_compiled. */
#include <string.h>

#include "code/file.h"
#include "code/pack.h"
#include "code/verify.h"
#include "lang/lang.h"
#include "unit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const scripts[] = {
    "x = 1\n",
    "def f(a, /, b=2, *c, d=(1, (2, 'x')), **e):\n"
    "    'doc'\n"
    "    try:\n"
    "        return [y / a for y in c if y] + [b, d, e]\n"
    "    except (ValueError, TypeError) as error:\n"
    "        raise KeyError(10**30, 1.5, 2j, b'\\xff', '\\ud800') from error\n"
    "    finally:\n"
    "        b += 123456789012345678901234567890\n",
    "class C(object):\n"
    "    n = 0\n"
    "    def m(self):\n"
    "        total = 0\n"
    "        def inner():\n"
    "            nonlocal total\n"
    "            total += self.n\n"
    "            yield from range(total)\n"
    "        with open(f'{total!r:>5}') as file:\n"
    "            for line in file:\n"
    "                a, *b = line.split()\n"
    "                assert a in {'x', 'y'}, sum(int(v) for v in b)\n"
    "        return lambda: (inner(), super().m)\n",
};

enum { SCRIPTS = sizeof scripts / sizeof *scripts, ROUNDS = 20000 };

typedef struct bytes {
    uint8_t data[8192];
    size_t size;
} bytes;

static void *resize(void *context, void *old, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    if (new_size) return realloc(old, new_size);
    free(old);
    return NULL;
}

static void add(void *context, uint8_t byte) {
    bytes *b = context;
    if (b->size == sizeof b->data) fail("a script is too long");
    b->data[b->size++] = byte;
}

static void compile(const char *script, bytes *out) {
    dv_lang_request request = {.filename = {"/seed.dl", 8},
                               .source = {script, (uint32_t)strlen(script)},
                               .mode = "module",
                               .allocator = {resize, NULL}};
    dv_unit *unit;
    dv_lang_error error;
    char message[256];
    if (dv_lang_compile(&request, &unit, &error) != DV_LANG_OK) fail(error.message);
    if (!dv_code_verify(unit, message, sizeof message)) fail(message);
    out->size = 0;
    dv_unit_pack(unit, add, out, NULL);
    unit->release_arena(unit->context, unit->arena);
}

/* A copy of exactly this size, so that sanitizers see what is read behind it. */
static void try_bytes(const uint8_t *data, size_t size) {
    uint8_t *own = malloc(size ? size : 1);
    if (!own) fail("out of memory");
    memcpy(own, data, size);
    LLVMFuzzerTestOneInput(own, size);
    free(own);
}

static void try_all(bytes *b) {
    static const uint8_t values[] = {0, 0x7F, 0xFF};
    for (size_t i = 0; i < b->size; i++) {
        const uint8_t right = b->data[i];
        for (int bit = 0; bit < 8; bit++) {
            b->data[i] = (uint8_t)(right ^ 1 << bit);
            try_bytes(b->data, b->size);
        }
        for (size_t k = 0; k < sizeof values; k++) {
            b->data[i] = values[k];
            try_bytes(b->data, b->size);
        }
        b->data[i] = right;
        try_bytes(b->data, i);
    }
}

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void try_several(const bytes *b) {
    uint64_t state = b->size;
    for (int i = 0; i < ROUNDS; i++) {
        bytes changed = *b;
        for (uint32_t k = next(&state) % 4 + 1; k > 0; k--)
            changed.data[next(&state) % b->size] = (uint8_t)next(&state);
        try_bytes(changed.data, changed.size);
    }
}

/* Each byte counts for the header's check. */
static void try_headers(const bytes *b) {
    bytes whole = {.size = b->size + DV_CODE_FILE_HEADER};
    memcpy(whole.data + DV_CODE_FILE_HEADER, b->data, b->size);
    dv_code_file file = {.unit = b->data, .unit_size = b->size, .source_size = 5};
    dv_code_file_begin(&file, whole.data);
    if (dv_code_file_check(whole.data, whole.size, &file) != DV_CODE_FILE_OK)
        fail("a right file is refused");
    for (size_t i = 0; i < whole.size; i++)
        for (int difference = 1; difference < 256; difference++) {
            whole.data[i] ^= (uint8_t)difference;
            if (dv_code_file_check(whole.data, whole.size, &file) == DV_CODE_FILE_OK)
                fail("a wrong byte is not found");
            whole.data[i] ^= (uint8_t)difference;
        }
    for (size_t size = 0; size < whole.size; size++)
        if (dv_code_file_check(whole.data, size, &file) == DV_CODE_FILE_OK)
            fail("a file that is cut off is not found");
}

static void check_right(const bytes *b) {
    memory used = {NULL, 0};
    dv_unit unit = {.references = 1, .arena = &used, .allocate = allocate};
    char message[256] = "what was packed is refused";
    if (dv_unit_unpack(&unit, false, b->data, b->size) != DV_UNPACK_OK ||
        !dv_code_verify(&unit, message, sizeof message))
        fail(message);
    release(&used);
}

static int write_seed(const char *directory, int number, const bytes *b) {
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%d", directory, number);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(b->data, 1, b->size, file) != b->size || fclose(file) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    const bool seeds = argc == 3 && strcmp(argv[1], "--seeds") == 0;
    int failed = 0;
    for (int i = 0; i < SCRIPTS; i++) {
        bytes b;
        compile(scripts[i], &b);
        if (seeds) {
            failed |= write_seed(argv[2], i, &b);
            continue;
        }
        check_right(&b);
        try_all(&b);
        try_several(&b);
        try_headers(&b);
    }
    return failed;
}
