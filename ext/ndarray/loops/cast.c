/* cast.c: which casts this machine runs, and copies (cast.h). */
#include "loops/cast.h"

#include "loops/loops.h"

/* memcpy, whose `rep movsb` of the C library is 16 times slower on some processors where the copy
 * lies a few bytes behind the original, but for whole pages (glibc bug 30994): that is where a[1:]
 * is copied to or from.  What has just been stored then looks to them like what is loaded next; so
 * the end is copied first, in pieces that are loaded as a whole.  Very long copies, and short ones,
 * are made by other instructions. */
void cast_copy(char *to, const char *from, size_t size) {
    enum { PIECE = 256, LONG = 1 << 21, PAGE = 4096, LINE = 64 };
    const size_t behind = ((uintptr_t)to - (uintptr_t)from) % PAGE;
    if (behind > 0 && behind < LINE && size < LONG)
        for (size_t piece = PIECE; size > PIECE; size -= PIECE) {
            __asm__("" : "+r"(piece)); /* by the library, not in smaller parts */
            memcpy(to + size - PIECE, from + size - PIECE, piece);
        }
    memcpy(to, from, size);
}

/* The hot type whose elements have the same bits. */
static int bits_of(int type) {
    return type == ND_INT8     ? ND_HOT_UINT8
           : type == ND_UINT32 ? ND_HOT_INT32
           : type == ND_UINT64 ? ND_HOT_INT64
                               : ND_DTYPE(type)->hot;
}

/* (Set before anything runs, and the same for all VMs.) */
static nd_cast casts[ND_TYPES][ND_TYPES];
__attribute__((constructor)) static void choose(void) {
    const nd_cast(*best)[ND_HOT_TYPES] = loops_casts();
    for (int i = 0; i < ND_TYPES; i++)
        for (int j = 0; j < ND_TYPES; j++)
            casts[i][j] =
                loops_rare_casts[i][j] ? loops_rare_casts[i][j] : best[bits_of(i)][bits_of(j)];
}

nd_cast cast_between(const nd_dtype *from, const nd_dtype *to) { return casts[from->num][to->num]; }
