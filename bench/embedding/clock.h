/* clock.h: the least processor time of a statement, in nanoseconds a call. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <time.h>

static double used_seconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

#define keep_least(least, calls, statement)                             \
    do {                                                                \
        const double start_ = used_seconds();                           \
        statement;                                                      \
        const double took_ = (used_seconds() - start_) * 1e9 / (calls); \
        if (took_ < *(least)) *(least) = took_;                         \
    } while (0)

#endif
