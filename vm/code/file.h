/* file.h: compiled files (`dynvm compile`): a header and a unit as bytes (pack.h).
 *
 *     0   magic number: 8 bytes that no text begins with
 *     8   DV_CODE_FORMAT of the build that wrote it: its instructions and the order of the bytes
 *     16  checksum of all that follows
 *     24  how many bytes follow the header
 *     32  size of the source, by which tracebacks recognise it
 *     40  checksum of the source
 *     48  the unit
 *
 * Numbers are 8 bytes, the lowest first.
 *
 * Invariants
 *  1. dv_code_file_check looks at no byte behind `size`, and lets no file pass of which a single
 * byte was changed, or that was cut off.
 *  2. The checksum finds accidents.  Who wants to can make a file that passes: what is behind the
 * header is still unknown (pack.h, 2). */
#ifndef DV_CODE_FILE_H
#define DV_CODE_FILE_H

#include "code/code.h"

enum { DV_CODE_FILE_HEADER = 48 };

typedef enum dv_code_file_status {
    DV_CODE_FILE_OK,
    DV_CODE_FILE_NONE,   /* no compiled file */
    DV_CODE_FILE_OTHER,  /* one of another build */
    DV_CODE_FILE_CORRUPT /* cut off or changed */
} dv_code_file_status;

/* Where the unit is in a compiled file, and what its source was. */
typedef struct dv_code_file {
    const uint8_t *unit;
    size_t unit_size;
    uint64_t source_size, source_checksum;
} dv_code_file;

/* Does it begin as compiled files do? */
bool dv_code_file_is(const uint8_t *data, size_t size);

dv_code_file_status dv_code_file_check(const uint8_t *data, size_t size, dv_code_file *file);

/* Writes the header of a file whose source and unit are as `file` says. */
void dv_code_file_begin(const dv_code_file *file, uint8_t header[DV_CODE_FILE_HEADER]);

uint64_t dv_code_checksum(uint64_t start, const uint8_t *data, size_t size);

#endif
