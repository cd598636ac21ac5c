/* region_text.h: regions as text: written from those of a VM, read into what their loop becomes
 * when it is hot (region/emit/written.h).  ASSEMBLY.md, "Regions by hand", says what the text looks
 * like.
 *
 * Invariants
 *  1. What dv_region_text_write has written, dv_region_text_read makes into the same cells, exits,
 * points and entries.
 *  2. What dv_region_text_read gives away has been checked (region_check.c): whatever the loop's
 * frame holds, no instruction finds another kind of value than it trusts to find, and counts are
 * right when the region is left. */
#ifndef DV_INSPECT_REGION_TEXT_H
#define DV_INSPECT_REGION_TEXT_H

#include "dv_ops.h"
#include "region/emit/written.h"

typedef struct dv_region_line {
    const char *at, *end;
    uint32_t number; /* in the text */
} dv_region_line;

/* Reading the regions of a code object. */
typedef struct dv_region_reader {
    dv_vm *vm;
    const dv_code *code; /* verified; what is read goes to its unit's arena */
    bool (*find_label)(void *context, dv_text name, uint32_t *pc);
    void *context;
    bool failed, no_memory;
    uint32_t failed_line;
    char message[200];
} dv_region_reader;

/* The first of the lines is the one that says `region`, without that word.  NULL: it failed. */
dv_written_region *dv_region_text_read(dv_region_reader *reader, const dv_region_line *lines,
                                       uint32_t count);

void dv_region_fail(dv_region_reader *reader, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *dv_region_get(dv_region_reader *reader, size_t size); /* zeroed, of the arena */

/* region_check.c.  `lines` are those of the instructions, exits and entries. */
typedef struct dv_region_lines {
    const uint32_t *ops, *exits, *entries;
} dv_region_lines;
void dv_region_check(dv_region_reader *reader, const dv_written_region *region,
                     const dv_region_lines *lines);

/* What exits do, by dv_exit_action; NULL: no text says it. */
extern const char *const dv_region_action_names[DV_EXIT_FADED + 1];
/* The slot operands of an instruction are listed in this order. */
extern const uint8_t dv_region_slot_order[4];

static inline const dv_region_facts *dv_region_facts_for(uint32_t op) {
    return &dv_region_facts_of[op - DV_OP_FIRST_REGION];
}
static inline bool dv_region_uses_slot(const dv_region_facts *facts, uint32_t n) {
    return facts->reads[n] != DV_PLACE_NOTHING || facts->puts[n] != DV_PLACE_NOTHING;
}

/* Writing: why there is no text for a region; NULL: there is. */
const char *dv_region_text_refusal(dv_vm *vm, const dv_region *region);
void dv_region_text_write(dv_vm *vm, const dv_region *region, dv_output out, void *context);
/* Does the text of the region name this pc? */
bool dv_region_text_names(const dv_region *region, uint32_t pc);

#endif
