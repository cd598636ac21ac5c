/* pack.h: units as bytes.  *Frozen* ones are the library modules in dl, which are compiled when
 * dynvm is built (gen/pack/pack.c) and read from the binary when a program imports them; the others
 * are in files (code/file.h).
 *
 * Numbers are written in groups of 7 bits, the lowest first, the others marked by bit 7; signed
 * ones as 2n or -2n-1.  A text is its size * 2, + 1 if its bytes follow, otherwise where it begins
 * in the source.  The order of everything is that of the functions in pack.c, which are alike in
 * both directions.
 *
 * Invariants
 *  1. A frozen unit has what the verifier found with it and is not verified again; any other one
 * must be.
 *  2. The reader trusts nothing: whatever the bytes are, it reads no others, takes memory in
 * proportion to their number, ends, and makes a unit that may be given to the verifier or says that
 * it is malformed.
 *  3. The bytes (and the source of a frozen unit) outlive the unit, which points into them.
 *  4. What is in a frozen module is read in two parts: of its functions, what making them needs at
 * once, and their tables when they are first called.  Most functions of a library module never are.
 * Positions come last, when one is asked for.
 */
#ifndef DV_CODE_PACK_H
#define DV_CODE_PACK_H

#include "code/code.h"

/* Gets the bytes one by one. */
typedef void (*dv_pack_sink)(void *context, uint8_t byte);

/* `positions`: the context for the bytes of positions, which are not among the others in a frozen
 * unit; NULL: it is none. */
void dv_unit_pack(const dv_unit *unit, dv_pack_sink sink, void *context, void *positions);

typedef enum dv_unpack_status {
    DV_UNPACK_OK,
    DV_UNPACK_MALFORMED,
    DV_UNPACK_NO_MEMORY
} dv_unpack_status;

/* Fills in the name and the code of a unit that can allocate; of a frozen one its source and the
 * squeezed positions must be there already. */
dv_unpack_status dv_unit_unpack(dv_unit *unit, bool frozen, const uint8_t *data, size_t size);

/* Makes sure that the tables of a code object are there; false: no memory.  Who reads them need not
 * ask where the code has been threaded (run/thread.h). */
bool dv_code_complete(const dv_code *code);

/* The same for positions; false: no memory, or it has none.  The rest must be there already. */
bool dv_code_find_positions(const dv_code *code);

#endif
