/* loops.c: which of the generated sets of loops this machine runs (loops.h).  CMakeLists.txt says
 * which were compiled. */
#include "loops/loops.h"

#include <stdlib.h>
#include <string.h>

typedef struct set {
    const nd_kernels *kernels;
    const nd_tiles *tiles;
    const nd_cast (*casts)[ND_HOT_TYPES];
} set;

#define SET(name)                                                          \
    extern const nd_kernels loops_##name[ND_UFUNCS];                       \
    extern const nd_tiles loops_##name##_tiles;                            \
    extern const nd_cast loops_##name##_casts[ND_HOT_TYPES][ND_HOT_TYPES]; \
    static const set name = {loops_##name, &loops_##name##_tiles, loops_##name##_casts};
SET(baseline)
#ifdef ND_AVX
SET(avx2)
#endif
#ifdef ND_AVX512
SET(avx512)
#endif

static const set *best(void) {
#ifdef ND_AVX
    const char *most = getenv("DYNVM_NDARRAY_MACHINE"); /* for tests */
    __builtin_cpu_init();
    if (most && !strcmp(most, "baseline")) return &baseline;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return &baseline;
    if (most && !strcmp(most, "avx2")) return &avx2;
#ifdef ND_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return &avx512;
#endif
    return &avx2;
#else
    return &baseline;
#endif
}

const nd_kernels *loops_best(void) { return best()->kernels; }
const nd_cast (*loops_casts(void))[ND_HOT_TYPES] { return best()->casts; }
const nd_tiles *loops_tiles(void) { return best()->tiles; }
