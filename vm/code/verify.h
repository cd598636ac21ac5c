/* verify.h: the proof that a code object keeps stack and ownership (README.md: what it proves). */
#ifndef DV_CODE_VERIFY_H
#define DV_CODE_VERIFY_H

#include "code/code.h"

/* Checks every code object of the unit and fills in states, state_at and max_stack (code.h).  On
 * failure the result is false and `message` says what is wrong and where; "out of memory" if so. */
bool dv_code_verify(dv_unit *unit, char *message, size_t size);

/* The same, and says where it failed; NULL: memory ran out. */
typedef struct dv_code_fault {
    const dv_code *code;
    uint32_t pc;
} dv_code_fault;
bool dv_code_verify_at(dv_unit *unit, char *message, size_t size, dv_code_fault *fault);

/* Words of code that is too long to go inline into the regions of callers (DV_INLINE_WORDS): if it
 * computes much, its calls may be worth a region. */
enum { DV_MUCH_CODE = 120 };

#endif
