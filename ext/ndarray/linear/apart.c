/* apart.c: long calls in a process of their own (apart.h). */
#define _GNU_SOURCE /* pipe2 */
#include "linear/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "linear/blas.h"

enum {
    SHORT = 200000000, /* ns: what takes no longer is done here */
    WAIT = 5,          /* ms between two looks at interrupts */
    TURN = 5000000,    /* ns that are counted for a wait */
    STILL = 400        /* waits in which a child that works has had some time */
};

/* ---- The child ---- */

static bool send_all(int to, const struct nd_apart_result *result) {
    for (size_t done = 0; done < result->size;) {
        const ssize_t sent = write(to, (const char *)result->at + done, result->size - done);
        if (sent < 0) return false;
        done += (size_t)sent;
    }
    return true;
}

static _Noreturn void be_child(int to, const nd_apart *p) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left to read it */
    p->call(p->context);
    bool good = true;
    for (int i = 0; good && i < APART_RESULTS; i++) good = send_all(to, &p->results[i]);
    _exit(!good);
}

/* The child's number, and where its results come from; -1: there can be none. */
static pid_t start(const nd_apart *p, int *from) {
    int ends[2];
    sigset_t all, before;
    if (pipe2(ends, O_CLOEXEC)) return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = blas_fork();
    if (!child) be_child(ends[1], p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    *from = ends[0];
    if (child < 0) close(ends[0]);
    return child;
}

/* ---- The parent ---- */

typedef enum outcome { DONE, RAISED, LOST, STANDS_STILL } outcome;

/* A child that is waited for. */
typedef struct watch {
    pid_t child;
    int waits;          /* since its clock was read */
    int64_t used, left; /* ns by its clock; ns that have not been counted */
} watch;

/* ns; -1: there is no such process any more. */
static int64_t time_of(pid_t child) {
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(child, &clock) || clock_gettime(clock, &t)) return -1;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static outcome look(dvx_vm *vm, watch *w) {
    w->left -= TURN;
    if (!nd_work(vm, TURN)) return RAISED;
    if (++w->waits < STILL) return DONE;
    const int64_t before = w->used;
    w->waits = 0;
    w->used = time_of(w->child);
    return w->used < 0 ? LOST : w->used == before ? STANDS_STILL : DONE;
}

static outcome receive(dvx_vm *vm, watch *w, int from, const struct nd_apart_result *result) {
    for (size_t done = 0; done < result->size;) {
        struct pollfd reading = {.fd = from, .events = POLLIN};
        const int ready = poll(&reading, 1, WAIT);
        if (ready <= 0) {
            const outcome seen = look(vm, w);
            if (seen != DONE) return seen;
            continue;
        }
        const ssize_t got = read(from, (char *)result->at + done, result->size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return LOST;
        done += (size_t)got;
        if (!nd_quick_work(vm, got)) return RAISED;
    }
    return DONE;
}

static bool count(dvx_vm *vm, int64_t ns) {
    for (; ns > TURN; ns -= TURN)
        if (!nd_work(vm, TURN)) return false;
    return ns <= 0 || nd_work(vm, ns);
}

bool apart_call(dvx_vm *vm, double ns, const nd_apart *p) {
    const int64_t all = ns < 1e18 ? (int64_t)ns : INT64_MAX / 8;
    int from = -1;
    watch w = {.child = all > SHORT ? start(p, &from) : -1, .left = all};
    outcome seen = w.child < 0 ? STANDS_STILL : DONE;
    for (int i = 0; seen == DONE && i < APART_RESULTS; i++)
        seen = receive(vm, &w, from, &p->results[i]);
    if (w.child >= 0) {
        close(from);
        if (seen == RAISED || seen == STANDS_STILL) kill(w.child, SIGKILL);
        while (waitpid(w.child, NULL, 0) < 0 && errno == EINTR) {}
    }
    if (seen == DONE) return count(vm, w.left);
    if (seen == LOST) nd_raise(vm, DVX_MEMORY_ERROR, "the process that computed this was killed");
    if (seen != STANDS_STILL) return false;
    /* Counted in one go before it begins, as nobody can end it (dvx_work). */
    if (!nd_work(vm, all)) return false;
    p->call(p->context);
    return true;
}
