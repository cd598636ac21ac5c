/* loops.c: which of the generated sets of loops this machine runs (loops.h). */
#include "loops/loops.h"

#include <stdlib.h>
#include <string.h>

#define DECLARE(name)                                \
    extern const nd_kernels loops_##name[ND_UFUNCS]; \
    extern const nd_tiles loops_##name##_tiles;      \
    extern const nd_cast loops_##name##_casts[ND_HOT_TYPES][ND_HOT_TYPES];
DECLARE(baseline)
#ifdef __x86_64__
DECLARE(avx2)
DECLARE(avx512)
#endif

typedef enum machine { BASELINE, AVX2, AVX512 } machine;

static machine this_machine(void) {
#ifdef __x86_64__
    const char *most = getenv("DYNVM_NDARRAY_MACHINE"); /* for tests */
    __builtin_cpu_init();
    if (most && !strcmp(most, "baseline")) return BASELINE;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return BASELINE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return most && !strcmp(most, "avx2") ? AVX2 : AVX512;
    return AVX2;
#else
    return BASELINE;
#endif
}

#ifdef __x86_64__
static const nd_kernels *const all_kernels[] = {loops_baseline, loops_avx2, loops_avx512};
static const nd_tiles *const all_tiles[] = {&loops_baseline_tiles, &loops_avx2_tiles,
                                            &loops_avx512_tiles};
static const nd_cast (*const all_casts[])[ND_HOT_TYPES] = {loops_baseline_casts, loops_avx2_casts,
                                                           loops_avx512_casts};
#else
static const nd_kernels *const all_kernels[] = {loops_baseline};
static const nd_tiles *const all_tiles[] = {&loops_baseline_tiles};
static const nd_cast (*const all_casts[])[ND_HOT_TYPES] = {loops_baseline_casts};
#endif

const nd_kernels *loops_best(void) { return all_kernels[this_machine()]; }
const nd_cast (*loops_casts(void))[ND_HOT_TYPES] { return all_casts[this_machine()]; }
const nd_tiles *loops_tiles(void) { return all_tiles[this_machine()]; }
