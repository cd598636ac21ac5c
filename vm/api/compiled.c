/* compiled.c: units from compiled files and back (compiled.h). */
#include "api/compiled.h"

#include <stdio.h>
#include <sys/stat.h>

#include "api/compile.h"
#include "code/file.h"
#include "code/pack.h"
#include "code/verify.h"
#include "core/unit.h"
#include "core/upcall.h"

#define ENDING ".dlc"

static bool is_named_so(const char *path) {
    const size_t size = strlen(path), ending = sizeof ENDING - 1;
    return size >= ending && memcmp(path + size - ending, ENDING, ending) == 0;
}

bool dv_compiled_is(const char *path, const char *data, size_t size) {
    return is_named_so(path) || dv_code_file_is((const uint8_t *)data, size);
}

/* ---- The source -------------------------------------------------------------------------------*/

/* The text at the path, if it is what was compiled, in memory of the unit. */
static bool find_text(dv_unit *unit, const char *path, const dv_code_file *file) {
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= 0 ||
        (uint64_t)about.st_size != file->source_size || file->source_size > UINT32_MAX)
        return false;
    const size_t size = (size_t)about.st_size;
    FILE *stream = fopen(path, "rb");
    if (!stream) return false;
    char *text = unit->allocate(unit->arena, size);
    const bool same = text && fread(text, 1, size, stream) == size &&
                      dv_code_checksum(0, (const uint8_t *)text, size) == file->source_checksum;
    fclose(stream);
    if (!same) return false;
    const uint32_t mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    unit->source = (dv_text){text + mark, (uint32_t)size - mark};
    return true;
}

/* The source is where it was when it was compiled, or beside the compiled file. */
static void find_source(dv_unit *unit, const char *path, const dv_code_file *file) {
    char buffer[DV_LONGEST_PATH];
    const dv_text name = unit->filename;
    if (name.size == 0 || name.size >= sizeof buffer || memchr(name.data, 0, name.size)) return;
    memcpy(buffer, name.data, name.size);
    buffer[name.size] = 0;
    if (buffer[0] == '/' && find_text(unit, buffer, file)) return;
    const char *own = strrchr(path, '/'), *last = strrchr(buffer, '/');
    const size_t before = own ? (size_t)(own + 1 - path) : 0;
    const size_t from = last ? (size_t)(last + 1 - buffer) : 0, size = name.size - from;
    if (path[0] == '<' || before + size >= sizeof buffer) return;
    memmove(buffer + before, buffer + from, size + 1);
    memcpy(buffer, path, before);
    (void)find_text(unit, buffer, file);
}

/* ---- Reading ----------------------------------------------------------------------------------*/

static bool refuse(dv_vm *vm, dv_code_file_status status, const char *path) {
    dv_value name = dv_host_text(vm, path);
    if (dv_is_empty(name)) return false;
    if (status == DV_CODE_FILE_NONE)
        dv_raise(vm, DV_E_IMPORT_ERROR, "bad magic number in %V: it is no compiled dl file", name);
    else if (status == DV_CODE_FILE_OTHER)
        dv_raise(vm, DV_E_IMPORT_ERROR,
                 "bad magic number in %V: another build of dynvm has compiled it; compile its "
                 "source again",
                 name);
    else
        dv_raise(vm, DV_E_IMPORT_ERROR,
                 "%V is damaged: its checksum or its size is wrong; compile its source again",
                 name);
    dv_release(vm, name);
    return false;
}

static bool refuse_code(dv_vm *vm, const char *path, char *why) {
    dv_value name = dv_host_text(vm, path);
    if (dv_is_empty(name)) return false;
    for (char *c = why; *c; c++) /* a name in it may be cut off */
        if ((unsigned char)*c >= 0x80) *c = '?';
    dv_raise(vm, DV_E_IMPORT_ERROR, "the code in %V is invalid: %s", name, why);
    dv_release(vm, name);
    return false;
}

static bool fill(dv_vm *vm, dv_unit *unit, const dv_code_file *file, const char *path) {
    char message[256] = "it is malformed";
    uint8_t *own = unit->allocate(unit->arena, file->unit_size + 1);
    if (!own) return dv_raise_memory(vm), false;
    memcpy(own, file->unit, file->unit_size);
    switch (dv_unit_unpack(unit, false, own, file->unit_size)) {
    case DV_UNPACK_OK: break;
    case DV_UNPACK_MALFORMED: return refuse_code(vm, path, message);
    case DV_UNPACK_NO_MEMORY: return dv_raise_memory(vm), false;
    }
    if (dv_code_verify(unit, message, sizeof message)) {
        find_source(unit, path, file);
        return true;
    }
    if (strcmp(message, "out of memory") == 0) return dv_raise_memory(vm), false;
    return refuse_code(vm, path, message);
}

dv_unit *dv_compiled_read(dv_vm *vm, const char *data, size_t size, const char *path) {
    if (vm->sandboxed) {
        dv_raise(vm, DV_E_PERMISSION_ERROR, "a sandboxed machine runs no compiled code");
        return NULL;
    }
    dv_code_file file;
    const dv_code_file_status status = dv_code_file_check((const uint8_t *)data, size, &file);
    if (status != DV_CODE_FILE_OK) return refuse(vm, status, path), NULL;
    dv_unit *unit = dv_unit_new(&vm->heap);
    if (!unit) return dv_raise_memory(vm), NULL;
    if (fill(vm, unit, &file, path)) return unit;
    dv_unit_release(unit);
    return NULL;
}

/* ---- Writing ----------------------------------------------------------------------------------*/

/* What is packed: counted only, as long as there is no block. */
typedef struct target {
    uint8_t *block;
    size_t size;
} target;

static void take(void *context, uint8_t byte) {
    target *t = context;
    if (t->block) t->block[t->size] = byte;
    t->size++;
}

static bool write_all(dv_vm *vm, const dv_code_file *file, dynvm_output output, void *context) {
    uint8_t header[DV_CODE_FILE_HEADER];
    dv_code_file_begin(file, header);
    int number = output(context, (const char *)header, sizeof header);
    if (number == 0) number = output(context, (const char *)file->unit, file->unit_size);
    if (number != 0) dv_raise_os_error(vm, number, NULL);
    return number == 0;
}

static bool write_unit(dv_vm *vm, const dv_unit *unit, dv_code_file *file, dynvm_output output,
                       void *context) {
    target count = {NULL, 0};
    dv_unit_pack(unit, take, &count, NULL);
    target packed = {dv_heap_alloc(&vm->heap, count.size), 0};
    if (!packed.block) return dv_raise_memory(vm), false;
    dv_unit_pack(unit, take, &packed, NULL);
    file->unit = packed.block;
    file->unit_size = packed.size;
    const bool good = write_all(vm, file, output, context);
    dv_heap_free(&vm->heap, packed.block, packed.size);
    return good;
}

bool dv_compiled_write(dv_vm *vm, const char *text, size_t size, const char *filename,
                       dynvm_output output, void *context) {
    dv_unit *unit = dv_compile(vm, text, size, filename);
    if (!unit) return false;
    dv_code_file file = {.source_size = size,
                         .source_checksum = dv_code_checksum(0, (const uint8_t *)text, size)};
    const bool good = write_unit(vm, unit, &file, output, context);
    dv_unit_release(unit);
    return good;
}

bool dv_compiled_write_file(dv_vm *vm, const char *path, dynvm_output output, void *context) {
    size_t size, room;
    char *text = dv_read_file(vm, path, &size, &room);
    if (!text) return false;
    bool good = false;
    if (dv_compiled_is(path, text, size)) {
        dv_value name = dv_host_text(vm, path);
        if (!dv_is_empty(name)) dv_raise(vm, DV_E_VALUE_ERROR, "%V is compiled already", name);
        dv_release(vm, name);
    } else {
        good = dv_compiled_write(vm, text, size, path, output, context);
    }
    dv_heap_free(&vm->heap, text, room);
    return good;
}
