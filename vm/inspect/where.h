/* where.h: where the repository has what a listing names (`dynvm dis --where`): for each
 * instruction the block of gen/ops that defines it, and the function that chooses it; what a fusion
 * covers.
 *
 * Invariant 1: every opcode has both, at lines that exist (gen/isa/where.py, tests/gen/where.py).
 */
#ifndef DV_INSPECT_WHERE_H
#define DV_INSPECT_WHERE_H

#include "dv_ops.h"
#include "inspect/json.h"
#include "run/thread.h"

typedef struct dv_where_row {
    uint16_t block, block_line;           /* numbers of texts are in dv_where_texts */
    uint16_t chooser, file, chooser_line; /* the name of a function, and where it is */
    uint16_t others;                      /* functions that choose it, too */
} dv_where_row;

/* Generated (dv_where.c). */
extern const char dv_where_texts[][64];
extern const dv_where_row dv_where_rows[];
extern const dv_where_row dv_where_extension; /* has no block: who asks hooks of extensions */
extern const uint16_t dv_where_of[];          /* by opcode: which row of dv_where_rows */

/* What a listing has named so far. */
enum { DV_FOREIGN_NAMES = 16 };
typedef struct dv_named {
    uint8_t ops[DV_OP_COUNT]; /* 1: it has */
    dv_foreign_form foreign[DV_FOREIGN_NAMES];
    uint32_t foreign_count;
} dv_named;

/* Notes what the cell of the instruction at pc is, forms with which nobody else reckons included
 * (run/thread.c, quicken/fuse.c).  *name: such a form's name, or NULL.  Result: how many
 * instructions it does the work of, from this one on. */
uint32_t dv_where_look(dv_vm *vm, const dv_thread *thread, uint32_t pc, dv_named *named,
                       const char **name);

/* Notes an instruction, and one of an extension (region/region.h, dv_region_naming). */
void dv_where_name(void *named, uint32_t op);
void dv_where_name_foreign(void *named, const dv_foreign_form *form);

/* One line for each instruction that was named. */
void dv_where_text(const dv_named *named, const dv_page *page);
/* All instructions there are. */
void dv_where_all(const dv_page *page);
/* The same as a member of the document: an object by name. */
void dv_where_json(const dv_named *named, dv_json *json);

#endif
