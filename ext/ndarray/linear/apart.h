/* apart.h: a call into a library that takes seconds and asks nobody, in a process of its own.
 *
 * A decomposition of LAPACK cannot be ended from within: it calls nothing of ours.  So a long one
 * is done by a child of this process, which begins with all its memory (fork copies none of it
 * until it is written to), sends the results through a pipe, and can be killed.
 *
 * Invariants
 *  1. The child runs `call`, writes the results, and ends: it touches neither the VM nor a file,
 *     and no signal is handled there.
 *  2. The child inherits locks as they are, also one that another thread holds: it would wait for
 *     ever.  Who waits stands still, so the parent looks at the child's clock.
 *  3. Where there can be no child, or it stands still, the call is made here: the results are the
 *     same, and only an interrupt has to wait. */
#ifndef ND_APART_H
#define ND_APART_H

#include "base.h"

enum { APART_RESULTS = 4 };
typedef struct nd_apart {
    void (*call)(void *context);
    void *context;
    struct nd_apart_result { /* what the call writes and its caller reads; size 0: nothing */
        void *at;
        size_t size;
    } results[APART_RESULTS];
} nd_apart;

/* Makes a call of about so many ns, which are counted as work.  False: raised, and there are no
 * results: interrupted, a limit, or the child was killed by somebody else. */
bool apart_call(dvx_vm *vm, double ns, const nd_apart *p);

#endif
