/* Generated from ext/ndarray/loops/networks.mako by kernels.py: a part of the loops for one instruction
 * set (loops.mako): lines of a few elements are sorted by networks of comparisons (Batcher, "Sorting
 * networks and their applications", 1968), as many lines at once as a vector has lanes. */
<%!
from kernels import C_TYPES, NUMBERS

GREATEST = {"i": "INT32_MAX", "l": "INT64_MAX", "f": "INFINITY", "d": "INFINITY"}
SIZES = 8, 16, 32

def network(size):
    """The pairs that are compared in turn: parts that are sorted are merged, two and two."""
    pairs, part = [], 1
    while part < size:
        step = part
        while step:
            for first in range(step % part, size - step, 2 * step):
                pairs += [(i, i + step) for i in range(first, first + step)
                          if i + step < size and i // (2 * part) == (i + step) // (2 * part)]
            step //= 2
        part *= 2
    return pairs

UNROLLED = 16 # above this registers do not hold the line, and code for each comparison is not faster than one loop
%>\
<%def name="compared(size)">\
% if size <= UNROLLED:
% for a, b in network(size):
    {
        enum { A = ${a}, B = ${b} };
${caller.body()}\
    }
% endfor
% else:
    for (size_t i = 0; i < sizeof network_${size} / sizeof *network_${size}; i++) {
        const uint8_t A = network_${size}[i][0], B = network_${size}[i][1];
${caller.body()}\
    }
% endif
</%def>\
#if ND_WIDTH >= 32
% for size in [size for size in SIZES if size > UNROLLED]:
static const uint8_t network_${size}[][2] = {${", ".join(f"{{{a}, {b}}}" for a, b in network(size))}};
% endfor
% for letter in "ilfd":
<% T, name, M, vector = C_TYPES[letter], NUMBERS[letter].lower(), "int32_t" if letter in "if" else "int64_t", "float" if letter in "if" else "double" %>\
typedef ${T} ${name}_line __attribute__((vector_size(ND_WIDTH)));

/* Of each line one element more in each vector; behind its last ones the greatest. */
static inline void read_lines_${name}(const ${T} *at, int64_t count, int64_t size, void *to) {
    enum { LANES = ND_WIDTH / sizeof(${T}) };
    ${T}(*x)[LANES] = to;
    for (int64_t k = 0; k < LANES; k++)
        for (int64_t i = 0; i < count; i++) x[i][k] = at[k * count + i];
    for (int64_t i = count; i < size; i++)
        for (int64_t k = 0; k < LANES; k++) x[i][k] = ${GREATEST[letter]};
}

% for size in SIZES:
/* False: there is -0.0, which stays before or behind 0.0 as it was, or a nan. */
static bool sort_block_${size}_${name}(${T} *at, int64_t count) {
    enum { LANES = ND_WIDTH / sizeof(${T}) };
    typedef ${name}_line V;
    typedef ${vector}_m M;
    _Alignas(ND_WIDTH) ${T} x[${size}][LANES];
    V v[${size}];
    read_lines_${name}(at, count, ${size}, x);
    memcpy(v, x, sizeof v);
% if letter in "fd":
    const M odd = ${" | ".join(f"(v[{i}] != v[{i}]) | ((M)v[{i}] == INT{8 * (4 if letter == 'f' else 8)}_MIN)" for i in range(size))};
    if (any_${vector}(odd)) return false;
% endif
<%self:compared size="${size}">\
        const V a = v[A], b = v[B];
        const M swap = b < a;
        v[A] = (V)(((M)b & swap) | ((M)a & ~swap));
        v[B] = (V)(((M)a & swap) | ((M)b & ~swap));
</%self:compared>\
    memcpy(x, v, sizeof v);
    for (int64_t k = 0; k < LANES; k++)
        for (int64_t i = 0; i < count; i++) at[k * count + i] = x[i][k];
    return true;
}

/* False: there is a nan.  Of equal elements the first one comes first. */
static bool place_block_${size}_${name}(const ${T} *at, int64_t *places, int64_t count) {
    enum { LANES = ND_WIDTH / sizeof(${T}) };
    typedef ${name}_line V;
    typedef ${vector}_m M;
    _Alignas(ND_WIDTH) ${T} x[${size}][LANES];
    _Alignas(ND_WIDTH) ${M} place[${size}][LANES];
    V v[${size}];
    M p[${size}];
    read_lines_${name}(at, count, ${size}, x);
    memcpy(v, x, sizeof v);
% if letter in "fd":
    const M odd = ${" | ".join(f"(v[{i}] != v[{i}])" for i in range(size))};
    if (any_${vector}(odd)) return false;
% endif
% for i in range(size):
    p[${i}] = (M){0} + ${i};
% endfor
<%self:compared size="${size}">\
        const V a = v[A], b = v[B];
        const M pa = p[A], pb = p[B];
        const M swap = (b < a) | ((b == a) & (pb < pa));
        v[A] = (V)(((M)b & swap) | ((M)a & ~swap));
        v[B] = (V)(((M)a & swap) | ((M)b & ~swap));
        p[A] = (pb & swap) | (pa & ~swap);
        p[B] = (pa & swap) | (pb & ~swap);
</%self:compared>\
    memcpy(place, p, sizeof p);
    for (int64_t k = 0; k < LANES; k++)
        for (int64_t i = 0; i < count; i++) places[k * count + i] = place[i][k];
    return true;
}

% endfor
static int64_t sort_lines_${name}(void *data, int64_t count, int64_t lines) {
    enum { LANES = ND_WIDTH / sizeof(${T}) };
    ${T} *at = data;
    bool (*const sort)(${T} *, int64_t) = ${"".join(f"count <= {size} ? sort_block_{size}_{name} : " for size in SIZES[:-1])}sort_block_${SIZES[-1]}_${name};
    int64_t done = 0;
    while (done + LANES <= lines && sort(at + done * count, count)) done += LANES;
    return done;
}
static int64_t place_lines_${name}(const void *data, int64_t *places, int64_t count, int64_t lines) {
    enum { LANES = ND_WIDTH / sizeof(${T}) };
    const ${T} *at = data;
    bool (*const place)(const ${T} *, int64_t *, int64_t) = ${"".join(f"count <= {size} ? place_block_{size}_{name} : " for size in SIZES[:-1])}place_block_${SIZES[-1]}_${name};
    int64_t done = 0;
    while (done + LANES <= lines && place(at + done * count, places + done * count, count)) done += LANES;
    return done;
}
% endfor
#endif
