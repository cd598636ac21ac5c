/* file.c: compiled files (file.h). */
#include "code/file.h"

#include <string.h>

#include "dv_code_format.h"

/* As PNG's: a byte that is not UTF-8, both ends of lines, and Ctrl-Z, which ends a DOS text. */
static const uint8_t magic[8] = {0x89, 'd', 'l', 'c', '\r', '\n', 0x1A, '\n'};

enum { FORMAT = 8, CHECKSUM = 16, SIZE = 24, SOURCE_SIZE = 32, SOURCE_CHECKSUM = 40 };

static uint64_t read_number(const uint8_t *at) {
    uint64_t number = 0;
    for (int i = 7; i >= 0; i--) number = number << 8 | at[i];
    return number;
}

static void write_number(uint8_t *at, uint64_t number) {
    for (int i = 0; i < 8; i++, number >>= 8) at[i] = (uint8_t)number;
}

/* Each step is reversible, so that what differs in 8 bytes alone differs in the end. */
static uint64_t add(uint64_t sum, uint64_t number) {
    sum = (sum ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ sum >> 32;
}

uint64_t dv_code_checksum(uint64_t sum, const uint8_t *data, size_t size) {
    size_t i = 0;
    for (; size - i >= 8; i += 8) sum = add(sum, read_number(data + i));
    uint8_t rest[8] = {0};
    if (size > i) memcpy(rest, data + i, size - i);
    return add(add(sum, read_number(rest)), size);
}

static uint64_t checksum_of(const uint8_t *header, const dv_code_file *file) {
    const uint64_t sum = dv_code_checksum(0, header + SIZE, DV_CODE_FILE_HEADER - SIZE);
    return dv_code_checksum(sum, file->unit, file->unit_size);
}

bool dv_code_file_is(const uint8_t *data, size_t size) {
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

dv_code_file_status dv_code_file_check(const uint8_t *data, size_t size, dv_code_file *file) {
    if (!dv_code_file_is(data, size)) return DV_CODE_FILE_NONE;
    if (size < DV_CODE_FILE_HEADER) return DV_CODE_FILE_CORRUPT;
    if (read_number(data + FORMAT) != DV_CODE_FORMAT) return DV_CODE_FILE_OTHER;
    *file = (dv_code_file){.unit = data + DV_CODE_FILE_HEADER,
                           .unit_size = size - DV_CODE_FILE_HEADER,
                           .source_size = read_number(data + SOURCE_SIZE),
                           .source_checksum = read_number(data + SOURCE_CHECKSUM)};
    const bool good = read_number(data + SIZE) == file->unit_size &&
                      read_number(data + CHECKSUM) == checksum_of(data, file);
    return good ? DV_CODE_FILE_OK : DV_CODE_FILE_CORRUPT;
}

void dv_code_file_begin(const dv_code_file *file, uint8_t header[DV_CODE_FILE_HEADER]) {
    memcpy(header, magic, sizeof magic);
    write_number(header + FORMAT, DV_CODE_FORMAT);
    write_number(header + SIZE, file->unit_size);
    write_number(header + SOURCE_SIZE, file->source_size);
    write_number(header + SOURCE_CHECKSUM, file->source_checksum);
    write_number(header + CHECKSUM, checksum_of(header, file));
}
