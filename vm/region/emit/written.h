/* written.h: regions that somebody has written by hand (inspect/region_text.h), until their loop is
 * hot and cells are made of them.
 *
 * They belong to the arena of their code's unit, and hold nothing of any VM.
 *
 * Invariants
 *  1. Whoever sets `written` of a code object has checked that what the instructions find in slots
 * is what they trust to find (inspect/region_check.c): nobody looks again.
 *  2. Code that has some gets no others: a loop without one stays INCA code. */
#ifndef DV_REGION_WRITTEN_H
#define DV_REGION_WRITTEN_H

#include "region/region.h"

#define DV_NO_EXIT UINT32_MAX

typedef struct dv_written_op {
    uint32_t op;
    int16_t slots[4]; /* a, b, c, d */
    dv_cell constant;
    uint32_t targets[2]; /* of cells 3 and 4: numbers of instructions */
    uint32_t exit;       /* of an R_EXIT, or of the point here; DV_NO_EXIT: there is none */
    bool is_new;         /* an R_EXIT for a way that had not been gone, not for a guard */
} dv_written_op;

typedef struct dv_written_exit {
    uint32_t pc, first_item, item_count;
    bool counts;
} dv_written_exit;

typedef struct dv_written_entry {
    uint32_t back; /* pc of the JUMP_BACK that enters here */
    uint32_t op;   /* number of the first instruction */
    uint32_t first_item, item_count;
} dv_written_entry;

typedef struct dv_written_region {
    const struct dv_written_region *next;
    uint32_t head, back; /* pcs of the loop's first instruction and of its JUMP_BACK */
    uint32_t removed;
    const dv_written_op *ops;
    const dv_written_exit *exits;
    const dv_written_entry *entries;
    const dv_exit_item *items; /* of exits; constants are no objects */
    const dv_entry_item *entry_items;
    uint32_t op_count, exit_count, entry_count, item_count, entry_item_count;
} dv_written_region;

/* The region of the loop that ends in the JUMP_BACK at the pc; NULL: nobody has written one, or
 * there is no memory (nothing is raised). */
dv_region *dv_region_from_text(dv_vm *vm, dv_thread *thread, uint32_t back);

#endif
