/* Generated from ext/ndarray/loops/places.mako by kernels.py: a part of the loops for one instruction set
 * (loops.mako): places of elements by their values, of those that are not 0, and of extremes; where(). */
<%!
from kernels import C_TYPES, HOT, NUMBERS, PLACED
%>\

/* ---- Places of elements ---- */

## (Bools are bytes.)
% for letter in HOT[1:]:
<%
    T, name = C_TYPES[letter], NUMBERS[letter]
    same = ("(x.real == y.real) & (x.imag == y.imag)" if letter == "D" else "x == y")
    nan = {"D": "complex_nan(x)", "f": "x != x", "d": "x != x"}.get(letter)
%>\
% for what, test in ([("same", same)] + ([("nan", nan)] if nan else [])):
static int64_t find_${what}_${name.lower()}(const ${T} *at, int64_t count, ${T} y) {
    int64_t i = 0;
    (void)y;
<%
    BY_MASKS = {"f": ("__mmask16", "ps"), "d": ("__mmask8", "pd"), "i": ("__mmask16", "epi32"), "l": ("__mmask8", "epi64")}
    mask, parts = BY_MASKS.get(letter, ("", ""))
    sought = "next, _CMP_UNORD_Q" if what == "nan" else "all, _CMP_EQ_OQ" if letter in "fd" else "all, _MM_CMPINT_EQ"
%>\
% if mask:
#if ND_WIDTH == 64 && defined(ND_LIBMVEC)
    enum { WIDE = 64 / sizeof(${T}) };
    const __auto_type all = _mm512_set1_${parts}(y);
    (void)all;
    /* Four vectors at a time, as far as there is none. */
    for (; i + 4 * WIDE <= count; i += 4 * WIDE) {
        ${mask} any = 0;
% for j in range(4):
        {
            const __auto_type next = _mm512_loadu_${parts if letter in "fd" else "si512"}(at + i + ${j} * WIDE);
            any |= _mm512_cmp_${parts}_mask(next, ${sought});
        }
% endfor
        if (any) break;
    }
    for (; i < count; i += WIDE) {
        const ${mask} here = (${mask})((1u << (count - i < WIDE ? count - i : WIDE)) - 1);
        const __auto_type next = _mm512_maskz_loadu_${parts}(here, at + i);
        const unsigned same = _mm512_mask_cmp_${parts}_mask(here, next, ${sought});
        if (same) return i + __builtin_ctz(same);
    }
    return -1;
#endif
% endif
% if letter != "D":
    /* Four vectors at a time, as far as there is none. */
    typedef ${T} V __attribute__((vector_size(ND_WIDTH)));
    enum { LANES = ND_WIDTH / sizeof(${T}), STEP = 4 * LANES };
    for (; i + STEP <= count; i += STEP) {
        V next[4];
        int64_t found[ND_WIDTH / sizeof(int64_t)], all = 0;
        memcpy(next, at + i, sizeof next);
% if what == "nan":
        const __auto_type same = (next[0] != next[0]) | (next[1] != next[1]) | (next[2] != next[2]) | (next[3] != next[3]);
% else:
        const __auto_type same = (next[0] == y) | (next[1] == y) | (next[2] == y) | (next[3] == y);
% endif
        memcpy(found, &same, sizeof found);
        for (size_t k = 0; k < sizeof found / sizeof *found; k++) all |= found[k];
        if (all) break;
    }
% endif
    for (; i < count; i++) {
        const ${T} x = at[i];
        if (${test}) return i;
    }
    return -1;
}
% endfor
static int64_t find_${name.lower()}(const void *sought, const char *at, int64_t count) {
    const ${T} *row = (const void *)at, x = *(const ${T} *)sought;
% if nan:
    if (${nan}) return find_nan_${name.lower()}(row, count, x);
% endif
    return find_same_${name.lower()}(row, count, x);
}
% endfor

/* ---- Elements that are not 0 ---- */

% for letter in "Bilfd":
<% T, M = C_TYPES[letter], {"B": "uint8_t", "i": "uint32_t", "f": "uint32_t"}.get(letter, "uint64_t") %>\
static int64_t count_${NUMBERS[letter].lower()}(const char *from, int64_t count) {
    typedef ${T} V __attribute__((vector_size(ND_WIDTH)));
    typedef ${M} counts __attribute__((vector_size(ND_WIDTH)));
    /* So many vectors that no count overflows, which are as wide as the elements. */
    enum { LANES = ND_WIDTH / sizeof(${T}), MOST = 255 };
    const ${T} *row = (const void *)from;
    int64_t all = 0;
    while (count >= LANES) {
        const int64_t vectors = count / LANES < MOST ? count / LANES : MOST;
        counts found = {0};
        for (int64_t i = 0; i < vectors; i++, row += LANES) {
            V next;
            memcpy(&next, row, sizeof next);
            found -= (counts)(next != 0);
        }
        for (int j = 0; j < LANES; j++) all += (int64_t)found[j];
        count -= vectors * LANES;
    }
    for (int64_t i = 0; i < count; i++) all += row[i] != 0;
    return all;
}
% endfor

/* ---- Places of extremes ---- */

/* Each lane keeps the best element that it has seen, which is its first nan if there is one, and at
 * which step that was. */
% for letter, M, parts, R, K, whole in PLACED:
<% T, name, is_float = C_TYPES[letter], NUMBERS[letter].lower(), letter in "fd" %>\
typedef ${T} ${name}_lanes __attribute__((vector_size(ND_WIDTH)));
typedef ${M} ${name}_steps __attribute__((vector_size(ND_WIDTH)));
/* (What is behind the last one may be no memory of ours.) */
static inline void next_${name}(${name}_lanes *v, const char *from, bool other) {
    memcpy(v, from, sizeof *v);
    if (!other) return;
    ${name}_lanes last;
    memcpy(&last, from + sizeof *v - sizeof(${T}), sizeof last);
% for width in 64, 32, 16:
<% lanes = width // (4 if letter in "if" else 8) %>\
#if ND_WIDTH == ${width}
    *v = __builtin_shufflevector(*v, last, ${", ".join(str(i) for i in range(0, lanes, 2))}, ${", ".join(str(lanes + i) for i in range(1, lanes, 2))});
#endif
% endfor
}
% for extreme, sign, refuted, than in (("maximum", ">", "_CMP_NLE_UQ", "NLE"), ("minimum", "<", "_CMP_NGE_UQ", "LT")):
static inline void take_${extreme}_${name}(${name}_lanes *best, ${name}_steps *when, const ${name}_lanes *next,
                                           const ${name}_steps *step) {
#if ND_WIDTH == 64 && defined(ND_LIBMVEC)
% if is_float:
    const ${K} ordered = _mm512_cmp_${parts}_mask((${R})*best, (${R})*best, _CMP_ORD_Q);
    const ${K} better = _mm512_mask_cmp_${parts}_mask(ordered, (${R})*next, (${R})*best, ${refuted});
% else:
    const ${K} better = _mm512_cmp_${parts}_mask((__m512i)*next, (__m512i)*best, _MM_CMPINT_${than});
% endif
    *best = (${name}_lanes)_mm512_mask_mov_${parts}((${R})*best, better, (${R})*next);
    *when = (${name}_steps)_mm512_mask_mov_${whole}((__m512i)*when, better, (__m512i)*step);
#else
% if is_float:
    const ${name}_steps better = ~(*next ${sign.translate(str.maketrans('<>', '><'))}= *best) & (*best == *best);
% else:
    const ${name}_steps better = *next ${sign} *best;
% endif
    *best = (${name}_lanes)(((${name}_steps)*next & better) | ((${name}_steps)*best & ~better));
    *when = (*step & better) | (*when & ~better);
#endif
}
/* ND_NEIGHBOURS bytes of neighbours, or (`other`) of every second one: of each the place in its line, whose elements
 * are `stride` apart. */
static void places_${extreme}_${name}(const char *from, bool other, int64_t count, int64_t stride, char *to, int64_t to_step) {
    enum { LANES = ND_WIDTH / sizeof(${T}) };
    for (int vectors = ND_NEIGHBOURS / ND_WIDTH; vectors > 0; vectors--) {
        ${name}_lanes best, next;
        ${name}_steps when = {0}, step = {0};
        next_${name}(&best, from, other);
        for (int64_t k = 1; k < count; k++) {
            step += 1;
            next_${name}(&next, from + k * stride, other);
            take_${extreme}_${name}(&best, &when, &next, &step);
        }
        ${M} steps[LANES];
        memcpy(steps, &when, sizeof steps);
        for (int64_t i = 0; i < LANES; i++, to += to_step) AT(int64_t, to) = steps[i];
        from += other ? 2 * ND_WIDTH : ND_WIDTH;
    }
}
% endfor
% endfor
/* In a row: its extreme, a part at a time (which stays in the cache), and the first element of the
 * best part that is it. */
% for letter in "Bilfd":
<% T, name, is_float = C_TYPES[letter], NUMBERS[letter].lower(), letter in "fd" %>\
% for extreme in "maximum", "minimum":
static int64_t place_${extreme}_${name}(const char *from, int64_t count) {
    /* (Of a row that is not long, much would be looked at twice: smaller parts.) */
    enum { LARGE = 1024, SMALL = 128 };
    const int64_t size = count > LARGE ? LARGE : SMALL;
    ${T} best = AT(const ${T}, from);
    int64_t part = 0;
    for (int64_t i = 0; i < count; i += size) {
        ${T} now = best;
        fold_${extreme}_${name}((char *)&now, from + i * (int64_t)sizeof now, count - i < size ? count - i : size, sizeof now);
        if (now == best ${"|| best != best" if is_float else ""}) continue;
        best = now;
        part = i;
    }
    return part + find_${name}(&best, from + part * (int64_t)sizeof best, count - part);
}
% endfor
% endfor

/* Of complex numbers. */
% for extreme in "maximum", "minimum":
<% sign = ">" if extreme == "maximum" else "<" %>\
/* The extreme of a part's real parts (in vectors, whose odd lanes are imaginary ones); 1: none of its
 * elements is a nan. */
static bool fold_${extreme}_real(double *best, const nd_complex *row, int64_t count) {
    enum { LANES = 64 / sizeof(nd_complex) };
    const char *from = (const char *)row, *const last = (const char *)(row + count - LANES);
    double_lanes lanes, next;
    double_nans nans = {0};
    memcpy(&lanes, last, sizeof lanes);
    note_nans_double(&nans, &lanes, &lanes);
    for (; from < last; from += sizeof next) {
        memcpy(&next, from, sizeof next);
        note_nans_double(&nans, &next, &next);
        keep_${extreme}_double(&lanes, &next);
    }
    double each[2 * LANES];
    memcpy(each, &lanes, sizeof each);
    for (int j = 0; j < 2 * LANES; j += 2)
        if (each[j] ${sign} *best) *best = each[j];
    return !any_nan_double(&nans);
}
/* The real part decides, a part of the row at a time; then, among those that have it, the imaginary
 * one. */
static int64_t place_${extreme}_complex128(const char *from, int64_t count) {
    enum { LANES = 64 / sizeof(nd_complex), PART = 256 };
    const nd_complex *row = (const void *)from;
    double real = row->real, imag = ${"-" if extreme == "maximum" else ""}INFINITY;
    int64_t first = 0, end = count, place = -1;
    for (int64_t i = 0; i < count; i += PART) {
        const int64_t n = count - i < PART ? count - i : PART;
        double now = row[i].real;
        if (n < LANES) {
            for (int64_t k = i; k < count; k++) {
                if (complex_nan(row[k])) return k;
                if (row[k].real ${sign} now) now = row[k].real;
            }
        } else if (!fold_${extreme}_real(&now, row + i, n)) {
            return i + find_nan_complex128(row + i, n, row[i]);
        }
        if (now ${sign} real || !i) real = now, first = i, end = i + n;
        else if (now == real) end = i + n;
    }
    for (int64_t i = first; i < end; i++)
        if (row[i].real == real && (place < 0 || row[i].imag ${sign} imag)) imag = row[i].imag, place = i;
    return place;
}
/* (Of neighbours, one row of them after the other.) */
static void places_${extreme}_complex128(const char *from, bool other, int64_t count, int64_t stride, char *to, int64_t to_step) {
    enum { LANES = ND_NEIGHBOURS / sizeof(nd_complex) };
    const int64_t step = other ? 2 : 1;
    nd_complex best[LANES];
    int64_t places[LANES] = {0};
    for (int j = 0; j < LANES; j++) best[j] = AT(const nd_complex, from + j * step * (int64_t)sizeof(nd_complex));
    for (int64_t k = 1; k < count; k++) {
        const nd_complex *row = (const void *)(from + k * stride);
% for j in range(4):
        {
            const nd_complex x = row[${j} * step];
            if (!stays_${extreme}(best[${j}], x)) best[${j}] = x, places[${j}] = k;
        }
% endfor
    }
    for (int i = 0; i < LANES; i++) AT(int64_t, to + i * to_step) = places[i];
}
% endfor
/* Of bools: the first one of those that are looked for, if there is one. */
% for extreme, sought in ("maximum", 1), ("minimum", 0):
static int64_t place_${extreme}_bool(const char *from, int64_t count) {
    const char *found = memchr(from, ${sought}, (size_t)count);
    return found ? found - from : 0;
}
% endfor
/* Of neighbours: words of which each lane that is looked for sets a bit for the first time.  (Of
 * every second one, the last word comes from one place before, as in next_...) */
% for extreme, sought in ("maximum", 1), ("minimum", 0):
static void places_${extreme}_bool(const char *from, bool other, int64_t count, int64_t stride, char *to, int64_t to_step) {
    enum { WORD = sizeof(uint64_t), MOST = 2 * ND_NEIGHBOURS / WORD };
    const int words = other ? MOST : MOST / 2;
    const uint64_t ones = other ? 0x0001000100010001u : 0x0101010101010101u;
    uint64_t seen[MOST] = {0}, word;
    int64_t places[ND_NEIGHBOURS] = {0};
    for (int64_t k = 0, left = ND_NEIGHBOURS; k < count && left > 0; k++, from += stride) {
        for (int w = 0; w < words; w++) {
            const bool last = other && w == words - 1;
            memcpy(&word, from + w * WORD - last, sizeof word);
            if (last) word >>= 8;
            word = ${"word" if sought else "~word"} & ones & ~seen[w];
            for (seen[w] |= word; word; word &= word - 1, left--)
                places[(w * WORD + __builtin_ctzll(word) / 8) >> other] = k;
        }
    }
    for (int64_t i = 0; i < ND_NEIGHBOURS; i++) AT(int64_t, to + i * to_step) = places[i];
}
% endfor

/* ---- where() ---- */

## By masks, which become vectors, where results and conditions lie in rows, and so do the elements that are chosen, or there is
## one for all.
% for size, T in (1, "uint8_t"), (2, "uint16_t"), (4, "uint32_t"), (8, "uint64_t"), (16, "nd_complex"):
static void choose_${size}(char **args, int64_t count, const int64_t *strides) {
    const char *yes = args[0], *no = args[1], *condition = args[3];
    char *to = args[2];
% for of_yes, of_no in ((size, size), (size, 0), (0, size), (0, 0)) if size in (1, 4, 8) else ():
    if (strides[0] == ${of_yes} && strides[1] == ${of_no} && strides[2] == ${size} && strides[3] == 1) {
        ND_INDEPENDENT
        for (int64_t i = 0; i < count; i++) {
            const ${T} mask = (${T})(0 - (${T})(condition[i] != 0));
            AT(${T}, to + i * ${size}) = (${T})((AT(const ${T}, yes + i * ${of_yes}) & mask) | (AT(const ${T}, no + i * ${of_no}) & (${T})~mask));
        }
        return;
    }
% endfor
    for (int64_t i = 0; i < count; i++)
        AT(${T}, to + i * strides[2]) = AT(const ${T}, condition[i * strides[3]] ? yes + i * strides[0] : no + i * strides[1]);
}
% endfor
