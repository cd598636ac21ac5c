/* clock.h: the least user time of a statement, in nanoseconds a call. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <sys/resource.h>

static double used_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

#define keep_least(least, calls, statement)                             \
    do {                                                                \
        const double start_ = used_seconds();                           \
        statement;                                                      \
        const double took_ = (used_seconds() - start_) * 1e9 / (calls); \
        if (took_ < *(least)) *(least) = took_;                         \
    } while (0)

#endif
