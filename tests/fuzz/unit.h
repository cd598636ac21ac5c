/* unit.h: what the fuzzers of code objects share: memory of a unit, and what the verifier promises.
 */
#ifndef DV_TESTS_FUZZ_UNIT_H
#define DV_TESTS_FUZZ_UNIT_H

#include <stdio.h>
#include <stdlib.h>

#include "code/code.h"

typedef struct block {
    struct block *next;
    max_align_t data[];
} block;

/* All that was allocated for a unit. */
typedef struct memory {
    block *blocks;
    size_t size;
} memory;

static inline void *allocate(void *arena, size_t size) {
    memory *m = (memory *)arena;
    block *made = (block *)malloc(sizeof *made + size);
    if (!made) return NULL;
    made->next = m->blocks;
    m->blocks = made;
    m->size += size;
    return made->data;
}

static inline void release(memory *m) {
    while (m->blocks) {
        block *next = m->blocks->next;
        free(m->blocks);
        m->blocks = next;
    }
}

static inline void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Each instruction that can be reached has a state whose depth is at most max_stack, and the states
 * form a tree. */
static inline void check_states(const dv_code *code) {
    for (uint32_t i = 1; i < code->state_count; i++)
        if (code->states[i].below >= code->state_count || code->states[i].depth > code->max_stack)
            fail("a state is wrong");
    for (uint32_t pc = 0; pc < code->word_count; pc++)
        if (code->state_at[pc] != DV_NO_STATE && code->state_at[pc] >= code->state_count)
            fail("an instruction has no state");
}

#endif
