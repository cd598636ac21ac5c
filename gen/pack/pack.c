/* pack.c: compiles the library modules in dl while dynvm is built, and those of an extension's
 * package: writes C data from which vm/code/pack.c makes units, and their texts, all squeezed.  It
 * is linked with the machine but for what it writes. */
#include "code/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/squeezed.h"
#include "code/verify.h"
#include "lang/lang.h"
#include "modules/frozen.h"
#include "squeeze.h"

/* So that the machine links; nothing is imported here. */
const dv_frozen dv_frozen_modules[] = {{.name = NULL}};

static void *resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

typedef struct bytes {
    uint8_t *data;
    size_t size, room;
    bool failed;
} bytes;

static void add_byte(void *context, uint8_t byte) {
    bytes *b = context;
    if (b->size == b->room) {
        b->room = 2 * b->room + 4096;
        uint8_t *more = realloc(b->data, b->room);
        b->failed |= !more;
        if (!more)
            b->room = b->size;
        else
            b->data = more;
    }
    if (!b->failed) b->data[b->size++] = byte;
}

/* As text: the compiler reads that in a fifth of the time that a list of numbers takes. */
static bool put_plain(const uint8_t *data, size_t size, const char *name, unsigned number,
                      FILE *file) {
    fprintf(file, "static const uint8_t %s_%u[%zu] =\n\"", name, number, size + DV_SQUEEZED_SLACK);
    for (size_t i = 0; i < size; i++)
        fprintf(file, i == 0 || i % 32 ? "\\%03o" : "\"\n\"\\%03o", data[i]);
    fputs("\";\n\n", file);
    return true;
}

/* What everyday programs import is not squeezed: restoring their texts took 2 % of short programs.
 */
static bool is_squeezed(const char *name) {
    static const char *const plain[] = {
        "_functools_classes", "_generic_alias", "abc",         "collections", "collections.abc",
        "contextlib",         "copy",           "dataclasses", "enum",        "os",
        "posixpath",          "typing"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i]) == 0) return false;
    return true;
}

/* False: they do not come back as they were. */
static bool put_squeezed(const uint8_t *data, size_t size, const char *name, unsigned number,
                         FILE *file) {
    size_t squeezed_size = 0;
    uint8_t *squeezed = squeeze(data, size, &squeezed_size);
    uint8_t *restored = malloc(size + DV_SQUEEZED_SLACK);
    bool good = squeezed && restored;
    if (good) {
        put_plain(squeezed, squeezed_size, name, number, file);
        memset(squeezed + squeezed_size, 0, DV_SQUEEZED_SLACK);
        dv_squeezed_restore(squeezed, restored, size);
        good = memcmp(restored, data, size) == 0;
    }
    free(squeezed);
    free(restored);
    return good;
}

/* What a module is, as C data; false: that cannot be. */
static bool put_module(const dv_library_text *module, const dv_unit *unit, unsigned number,
                       FILE *file) {
    bool (*const put)(const uint8_t *, size_t, const char *, unsigned, FILE *) =
        is_squeezed(module->name) ? put_squeezed : put_plain;
    bytes code = {0}, positions = {0};
    dv_unit_pack(unit, add_byte, &code, &positions);
    const bool good = !code.failed && !positions.failed &&
                      put((const uint8_t *)module->text, module->size, "text", number, file) &&
                      put(code.data, code.size, "unit", number, file) &&
                      put_squeezed(positions.data, positions.size, "positions", number, file);
    fprintf(file, "enum { UNIT_%u = %zu, POSITIONS_%u = %zu };\n\n", number, code.size, number,
            positions.size);
    free(code.data);
    free(positions.data);
    return good;
}

/* False: said why. */
static bool pack_module(const dv_library_text *module, unsigned number, FILE *file) {
    char name[80], message[256] = "out of memory";
    dv_unit *unit;
    dv_lang_error error = {.line = 0};
    snprintf(name, sizeof name, "<frozen %s>", module->name);
    dv_lang_request request = {
        .filename = {name, (uint32_t)strlen(name)},
        .source = {module->text, (uint32_t)module->size},
        .quote_source = true,
        .mode = "module",
        .allocator = {resize, NULL},
    };
    dv_lang_status status = dv_lang_compile(&request, &unit, &error);
    if (status == DV_LANG_ERROR)
        snprintf(message, sizeof message, "line %u: %.200s", error.line, error.message);
    bool good = status == DV_LANG_OK && dv_code_verify(unit, message, sizeof message);
    if (good && (unit->source.size != module->size ||
                 memcmp(unit->source.data, module->text, module->size) != 0)) {
        strcpy(message, "the text has no newline at its end, or another one than '\\n'");
        good = false;
    }
    if (good && !put_module(module, unit, number, file)) {
        strcpy(message, "it cannot be squeezed");
        good = false;
    }
    if (!good) fprintf(stderr, "%s: %s\n", module->name, message);
    if (status == DV_LANG_OK) unit->release_arena(unit->context, unit->arena);
    return good;
}

/* Writes all of a list that ends with an entry without a name, and the table. */
static bool pack_modules(const dv_library_text *modules, const char *table, FILE *file) {
    unsigned count = 0;
    bool good = true;
    for (const dv_library_text *m = modules; m->name; m++)
        good = pack_module(m, count++, file) && good;
    fprintf(file, "%s[] = {\n", table);
    for (unsigned i = 0; i < count; i++)
        fprintf(file,
                "    {\"%s\", text_%u, unit_%u, positions_%u, %zu, UNIT_%u, POSITIONS_%u, %d},\n",
                modules[i].name, i, i, i, modules[i].size, i, i, is_squeezed(modules[i].name));
    fputs("    {.name = NULL},\n};\n", file);
    return good;
}

/* The text of a file, and its name below a package; false: it cannot be read. */
static bool read_module(const char *package, const char *path, dv_library_text *module) {
    enum { ROOM = 1 << 20 };
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    const int length = (int)(strlen(last) - strlen(".dl"));
    const bool whole = strcmp(last, "__init__.dl") == 0;
    char *text = malloc(ROOM), *name = malloc(strlen(package) + strlen(last) + 2);
    *module = (dv_library_text){name, text, ROOM};
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    if (text && name) {
        sprintf(name, whole ? "%s" : "%s.%.*s", package, length, last);
        module->size = fread(text, 1, ROOM, file);
    }
    return fclose(file) == 0 && module->size < ROOM;
}

/* The package of an extension; its modules are sorted by name if the paths are. */
static bool pack_package(const char *package, char **paths, int count, FILE *file) {
    dv_library_text *modules = calloc((size_t)count + 1, sizeof *modules);
    bool good = modules != NULL;
    for (int i = 0; i < count && good; i++) {
        good = read_module(package, paths[i], &modules[i]);
        if (!good) fprintf(stderr, "%s: it cannot be read\n", paths[i]);
    }
    fputs("#include \"dv_code_format.h\"\n\n", file);
    good = good && pack_modules(modules, "static const dv_frozen modules", file);
    fputs("__attribute__((visibility(\"default\"))) extern const dv_packed_library dvx_library;\n"
          "const dv_packed_library dvx_library = {DV_CODE_FORMAT, modules};\n",
          file);
    for (int i = 0; modules && i < count; i++) {
        free((void *)(uintptr_t)modules[i].name);
        free((void *)(uintptr_t)modules[i].text);
    }
    free(modules);
    return good;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 || argc > 3 ? fopen(argv[1], "w") : NULL;
    if (!file) {
        fputs("usage: dynvm_pack FILE [PACKAGE MODULE.dl ...]\n", stderr);
        return 2;
    }
    fputs("/* Generated by gen/pack/pack.c. */\n#include \"modules/frozen.h\"\n\n", file);
    const bool good =
        argc == 2 ? pack_modules(dv_library_texts, "const dv_frozen dv_frozen_modules", file)
                  : pack_package(argv[2], argv + 3, argc - 3, file);
    if (fclose(file) == 0 && good) return 0;
    remove(argv[1]);
    return 1;
}
