/* int_text.c: ints to text and back.
 *
 * Invariants
 *  1. Conversions whose time is quadratic (bases that are no powers of two) are limited to
 *     vm->sys.most_digits decimal digits (0: any number), as in CPython.
 *  2. Digits are made and read by GMP where a number has more than one limb. */
#include "types/number/int_arith.h"

#include <gmp.h>

#include "base/dtoa.h"
#include "core/upcall.h"
#include "core/work.h"
#include "types/text/str.h"
#include "types/text/str_text.h"
#include "types/text/str_unicode.h"

#define LIMIT_HINT "use sys.set_int_max_str_digits() to increase the limit"

static const char digit_characters[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static bool is_power_of_two(int base) { return (base & (base - 1)) == 0; }

/* ---- To text ----------------------------------------------------------------------------------*/

/* Digits of a machine word in base 2, 8, 10 or 16; `end` is behind the buffer, the result where
 * they begin. */
static char *word_digits(uint64_t n, int base, char *end) {
    if (base == 10) {
        char digits[20];
        size_t size = dv_dtoa_decimal(n, digits);
        return memcpy(end - size, digits, size);
    }
    int shift = __builtin_ctz((unsigned)base);
    do *--end = digit_characters[n & (uint64_t)(base - 1)];
    while (n >>= shift);
    return end;
}

static void raise_too_long(dv_vm *vm) {
    dv_raise(vm, DV_E_VALUE_ERROR,
             "Exceeds the limit (%d digits) for integer string conversion; " LIMIT_HINT,
             (int)vm->sys.most_digits);
}

static char *word_block(dv_vm *vm, uint64_t word, int base, size_t *size, size_t *capacity) {
    char buffer[64], *begin = word_digits(word, base, buffer + sizeof buffer);
    *size = *capacity = (size_t)(buffer + sizeof buffer - begin);
    char *digits = dv_heap_alloc(&vm->heap, *capacity);
    if (digits)
        memcpy(digits, begin, *size);
    else
        dv_raise_memory(vm);
    return digits;
}

/* GMP's digits are numbers, maybe with a zero in front; makes them characters. */
static size_t name_digits(char *digits, size_t size) {
    size_t zeros = 0;
    while (zeros + 1 < size && digits[zeros] == 0) zeros++;
    for (size_t i = zeros; i < size; i++)
        digits[i - zeros] = digit_characters[(unsigned char)digits[i]];
    return size - zeros;
}

/* ---- Long texts ----
 *
 * GMP converts numbers of few limbs; longer ones are split in two by powers of the base. */

enum { FEW_LIMBS = 2048, MOST_LEVELS = 24 };

typedef struct powers {
    int base;
    int64_t digits; /* of what GMP converts */
    int levels;
    dv_value power[MOST_LEVELS]; /* number i: base ** (digits << i) */
} powers;

static void powers_drop(dv_vm *vm, powers *p) {
    while (p->levels > 0) dv_release(vm, p->power[--p->levels]);
}

/* As many as numbers of so many digits need. */
static bool powers_make(dv_vm *vm, powers *p, int base, int64_t digits) {
    *p = (powers){.base = base, .digits = FEW_LIMBS * 64 / (32 - __builtin_clz((unsigned)base))};
    while (p->digits << p->levels < digits) {
        const dv_value before = p->levels ? p->power[p->levels - 1] : DV_EMPTY;
        dv_value next = p->levels ? dv_int_binary(vm, DV_BINARY_MUL, before, before)
                                  : dv_int_power(vm, dv_int(base), dv_int(p->digits));
        if (dv_is_empty(next)) {
            powers_drop(vm, p);
            return false;
        }
        p->power[p->levels++] = next;
    }
    return true;
}

/* GMP's digits of v, exactly `width`, which is enough. */
static bool put_few_digits(dv_vm *vm, dv_value v, int base, char *to, int64_t width) {
    dv_int_view view;
    dv_int_look(v, &view);
    memset(to, 0, (size_t)width);
    if (view.count == 0) return true;
    if (!dv_work(vm, view.count * 64)) return false;
    /* mpn_get_str destroys its operand, and may write a zero in front. */
    const size_t room = (size_t)width + 1;
    dv_bigint *copy = dv_bigint_new(vm, view.count + 1);
    char *digits = copy ? dv_heap_alloc(&vm->heap, room + 1) : NULL;
    if (digits) {
        mpn_copyi((mp_limb_t *)copy->limbs, (const mp_limb_t *)view.limbs, view.count);
        const size_t size =
            mpn_get_str((unsigned char *)digits, base, (mp_limb_t *)copy->limbs, view.count);
        const size_t zeros = size > (size_t)width ? size - (size_t)width : 0;
        memcpy(to + (size_t)width - (size - zeros), digits + zeros, size - zeros);
        dv_heap_free(&vm->heap, digits, room + 1);
    } else if (copy) {
        dv_raise_memory(vm);
    }
    if (copy) dv_bigint_free(vm, copy);
    return digits != NULL;
}

static bool put_digits(dv_vm *vm, const powers *p, dv_value v, char *to, int64_t width, int level) {
    if (level == 0) return put_few_digits(vm, v, p->base, to, width);
    const int64_t low = p->digits << (level - 1);
    if (width <= low) return put_digits(vm, p, v, to, width, level - 1);
    dv_value q, r;
    if (!dv_int_divmod(vm, v, p->power[level - 1], &q, &r)) return false;
    bool good = put_digits(vm, p, q, to, width - low, level - 1) &&
                put_digits(vm, p, r, to + width - low, low, level - 1);
    dv_release(vm, q);
    dv_release(vm, r);
    return good;
}

/* The value of GMP's digits. */
static dv_value take_digits(dv_vm *vm, const powers *p, const unsigned char *digits, int64_t count,
                            int level) {
    const int64_t low = level ? p->digits << (level - 1) : 0;
    if (level && count <= low) return take_digits(vm, p, digits, count, level - 1);
    if (level == 0) {
        const int64_t limbs = count / 64 * (32 - __builtin_clz((unsigned)p->base - 1)) + 66;
        while (count > 1 && *digits == 0) digits++, count--;
        dv_bigint *b = dv_work(vm, limbs * 32) ? dv_bigint_new(vm, limbs) : NULL;
        if (!b) return DV_EMPTY;
        return dv_bigint_finish(
            vm, b, mpn_set_str((mp_limb_t *)b->limbs, digits, (size_t)count, p->base), false);
    }
    dv_value high = take_digits(vm, p, digits, count - low, level - 1);
    if (dv_is_empty(high)) return high;
    dv_value shifted = dv_int_binary(vm, DV_BINARY_MUL, high, p->power[level - 1]);
    dv_release(vm, high);
    if (dv_is_empty(shifted)) return shifted;
    dv_value rest = take_digits(vm, p, digits + count - low, low, level - 1), sum = DV_EMPTY;
    if (!dv_is_empty(rest)) sum = dv_int_binary(vm, DV_BINARY_ADD, shifted, rest);
    dv_release(vm, shifted);
    dv_release(vm, rest);
    return sum;
}

/* |v| in at most `capacity` digits. */
static bool put_all_digits(dv_vm *vm, dv_value v, int base, char *digits, size_t capacity) {
    powers p;
    dv_value plain = dv_int_sign(v) < 0 ? dv_int_unary(vm, DV_UNARY_NEG, v) : dv_retain(v);
    if (dv_is_empty(plain)) return false;
    bool good = powers_make(vm, &p, base, (int64_t)capacity);
    if (good) {
        good = put_digits(vm, &p, plain, digits, (int64_t)capacity, p.levels);
        powers_drop(vm, &p);
    }
    dv_release(vm, plain);
    return good;
}

/* Numbers of so many limbs take GMP too long, unless a digit is so many bits. */
static bool is_long(int64_t limbs, int base) { return limbs > FEW_LIMBS && !is_power_of_two(base); }

char *dv_int_digits(dv_vm *vm, dv_value v, int base, size_t *size, size_t *capacity) {
    dv_int_view view;
    dv_int_look(v, &view);
    if (view.count <= 1)
        return word_block(vm, view.count ? view.limbs[0] : 0, base, size, capacity);
    bool limited = vm->sys.most_digits && base == 10;
    if (limited && view.count > vm->sys.most_digits * 6 / 64 + 1) {
        raise_too_long(vm);
        return NULL;
    }
    *capacity = mpn_sizeinbase((const mp_limb_t *)view.limbs, view.count, base) + 1;
    char *digits = dv_heap_alloc(&vm->heap, *capacity);
    if (!digits) {
        dv_raise_memory(vm);
        return NULL;
    }
    if (is_long(view.count, base) || !dv_work(vm, view.count * 4)) {
        bool good = dv_is_empty(vm->error) && put_all_digits(vm, v, base, digits, *capacity);
        if (good) *size = name_digits(digits, *capacity);
        if (good && limited && (int64_t)*size > vm->sys.most_digits) {
            raise_too_long(vm);
            good = false;
        }
        if (good) return digits;
        dv_heap_free(&vm->heap, digits, *capacity);
        return NULL;
    }
    /* mpn_get_str destroys its operand. */
    dv_bigint *copy = dv_bigint_new(vm, view.count + 1);
    dv_int_reserve reserve;
    bool ok = copy && dv_int_reserve_take(vm, &reserve, view.count);
    if (ok) {
        mpn_copyi((mp_limb_t *)copy->limbs, (const mp_limb_t *)view.limbs, view.count);
        *size = name_digits(digits, mpn_get_str((unsigned char *)digits, base,
                                                (mp_limb_t *)copy->limbs, view.count));
        dv_int_reserve_drop(vm, &reserve);
        ok = !limited || (int64_t)*size <= vm->sys.most_digits;
        if (!ok) raise_too_long(vm);
    }
    if (copy) dv_bigint_free(vm, copy);
    if (ok) return digits;
    dv_heap_free(&vm->heap, digits, *capacity);
    return NULL;
}

static const char *prefix_of(int base) {
    return base == 16 ? "0x" : base == 8 ? "0o" : base == 2 ? "0b" : "";
}

static dv_value small_to_str(dv_vm *vm, int64_t i, int base, bool prefix) {
    char buffer[80], *end = buffer + sizeof buffer, *begin;
    uint64_t magnitude = i < 0 ? -(uint64_t)i : (uint64_t)i;
    if (base == 10) {
        size_t size = dv_dtoa_decimal(magnitude, buffer + 1);
        buffer[0] = '-';
        return dv_str_new(vm, buffer + (i >= 0), size + (i < 0));
    }
    begin = word_digits(magnitude, base, end);
    if (prefix) {
        const char *p = prefix_of(base);
        size_t n = strlen(p);
        begin -= n;
        memcpy(begin, p, n);
    }
    if (i < 0) *--begin = '-';
    return dv_str_new(vm, begin, (size_t)(end - begin));
}

dv_value dv_int_to_str(dv_vm *vm, dv_value v, int base, bool prefix) {
    int64_t i;
    if (dv_int_to_int64(v, &i)) return small_to_str(vm, i, base, prefix);
    size_t size, capacity;
    char *digits = dv_int_digits(vm, v, base, &size, &capacity);
    if (!digits) return DV_EMPTY;
    dv_builder b;
    dv_builder_init(&b, vm);
    if (dv_int_sign(v) < 0) dv_builder_char(&b, '-');
    if (prefix) dv_builder_z(&b, prefix_of(base));
    dv_builder_text(&b, digits, size);
    dv_heap_free(&vm->heap, digits, capacity);
    return dv_builder_finish(&b);
}

/* ---- From text --------------------------------------------------------------------------------*/

static bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void strip(dv_numeric_text *t) {
    while (t->size && is_ascii_space(t->text[0])) {
        t->text++;
        t->size--;
    }
    while (t->size && is_ascii_space(t->text[t->size - 1])) t->size--;
}

static char ascii_of(uint32_t c) {
    if (c < 128) return (char)c;
    const dv_unicode_record *record = dv_unicode_find(c);
    if (record->flags & DV_UNICODE_SPACE) return ' ';
    return record->decimal >= 0 ? (char)('0' + record->decimal) : '?';
}

bool dv_numeric_text_take(dv_vm *vm, const char *utf8, size_t size, dv_numeric_text *out) {
    *out = (dv_numeric_text){utf8, size, NULL, 0};
    size_t at = 0;
    while (at < size && (unsigned char)utf8[at] < 128) at++;
    if (at < size) {
        out->capacity = size;
        out->block = dv_heap_alloc(&vm->heap, size);
        if (!out->block) {
            dv_raise_memory(vm);
            return false;
        }
        out->size = 0;
        for (at = 0; at < size;) out->block[out->size++] = ascii_of(dv_utf8_next(utf8, size, &at));
        out->text = out->block;
    }
    strip(out);
    return true;
}

void dv_numeric_text_drop(dv_vm *vm, dv_numeric_text *text) {
    if (text->block) dv_heap_free(&vm->heap, text->block, text->capacity);
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    char lower = (char)(c | 32);
    return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

/* Counts the digits of text; -1 if something else is in it or an underscore is out of place. */
static int64_t count_digits(const char *text, size_t size, int base) {
    int64_t count = 0;
    char previous = '_';
    for (size_t i = 0; i < size; previous = text[i++]) {
        if (text[i] == '_') {
            if (previous == '_') return -1;
            continue;
        }
        if (digit_value(text[i]) >= base) return -1;
        count++;
    }
    return previous == '_' ? -1 : count;
}

static int bits_per_digit(int base) { return 32 - __builtin_clz((unsigned)(base - 1)); }

/* So many digits always fit in 64 bits. */
static int word_capacity(int base) { return base == 10 ? 19 : 64 / bits_per_digit(base); }

static dv_value long_from_digits(dv_vm *vm, const unsigned char *digits, int64_t count, int base,
                                 bool negative) {
    powers p;
    if (!powers_make(vm, &p, base, count)) return DV_EMPTY;
    dv_value v = take_digits(vm, &p, digits, count, p.levels);
    powers_drop(vm, &p);
    if (dv_is_empty(v) || !negative) return v;
    dv_value result = dv_int_unary(vm, DV_UNARY_NEG, v);
    dv_release(vm, v);
    return result;
}

static dv_value large_from_digits(dv_vm *vm, const char *text, size_t size, int base, int64_t count,
                                  bool negative) {
    size_t capacity = (size_t)count;
    unsigned char *digits = dv_heap_alloc(&vm->heap, capacity);
    if (!digits) return dv_raise_memory(vm);
    int64_t used = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] != '_') digits[used++] = (unsigned char)digit_value(text[i]);
    int64_t limbs = count / 64 * bits_per_digit(base) + bits_per_digit(base) + 2;
    dv_value result = DV_EMPTY;
    if (is_long(limbs, base) || !dv_work(vm, count / 16)) {
        result =
            dv_is_empty(vm->error) ? long_from_digits(vm, digits, count, base, negative) : DV_EMPTY;
        dv_heap_free(&vm->heap, digits, capacity);
        return result;
    }
    dv_bigint *b = dv_bigint_new(vm, limbs);
    dv_int_reserve reserve;
    if (b && dv_int_reserve_take(vm, &reserve, limbs)) {
        int64_t zeros = 0;
        while (zeros + 1 < count && digits[zeros] == 0) zeros++;
        int64_t n =
            mpn_set_str((mp_limb_t *)b->limbs, digits + zeros, (size_t)(count - zeros), base);
        dv_int_reserve_drop(vm, &reserve);
        result = dv_bigint_finish(vm, b, n, negative);
    } else if (b) {
        dv_bigint_free(vm, b);
    }
    dv_heap_free(&vm->heap, digits, capacity);
    return result;
}

static dv_value from_digits(dv_vm *vm, const char *text, size_t size, int base, int64_t count,
                            bool negative) {
    if (count > word_capacity(base))
        return large_from_digits(vm, text, size, base, count, negative);
    uint64_t n = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] != '_') n = n * (uint64_t)base + (uint64_t)digit_value(text[i]);
    return dv_int_from_int128(vm, negative ? -(__int128)n : (__int128)n);
}

const dv_declared dv_int_raises = {DV_E_VALUE_ERROR, 1,
                                   "invalid literal for int() with base 10: %V"};

dv_value dv_int_raise_invalid(dv_vm *vm, dv_value shown, int base) {
    if (base == 10 && vm->quiet.declared == &dv_int_raises && dv_leaves_unmade(vm, shown))
        return DV_EMPTY;
    dv_value repr = dv_repr(vm, shown);
    if (dv_is_empty(repr)) return dv_raise_bare(vm, DV_E_VALUE_ERROR);
    if (dv_as_str(repr)->length > 200) {
        dv_value cut = dv_str_slice(vm, repr, 0, 200);
        dv_release(vm, repr);
        if (dv_is_empty(cut)) return cut;
        repr = cut;
    }
    dv_raise(vm, DV_E_VALUE_ERROR, "invalid literal for int() with base %d: %S", base, repr);
    dv_release(vm, repr);
    return DV_EMPTY;
}

/* The base that a prefix says, 0: none. */
static int prefix_base(const char *text, size_t size) {
    if (size < 2 || text[0] != '0') return 0;
    switch (text[1] | 32) {
    case 'x': return 16;
    case 'o': return 8;
    case 'b': return 2;
    default: return 0;
    }
}

/* The stripped text; *valid tells whether it is a number at all. */
static dv_value parse(dv_vm *vm, const char *text, size_t size, int base, bool *valid) {
    bool negative = false, zero_only = false;
    *valid = false;
    if (size && (*text == '+' || *text == '-')) {
        negative = *text++ == '-';
        size--;
    }
    int prefix = prefix_base(text, size);
    if (base == 0) {
        zero_only = !prefix && size && text[0] == '0';
        base = prefix ? prefix : 10;
    }
    if (prefix && prefix == base) {
        text += 2;
        size -= 2;
        if (size && *text == '_') {
            text++;
            size--;
        }
    }
    int64_t count = count_digits(text, size, base);
    if (count < 0) return DV_EMPTY;
    if (vm->sys.most_digits && !is_power_of_two(base) && count > vm->sys.most_digits) {
        *valid = true;
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "Exceeds the limit (%d digits) for integer string conversion: value has "
                        "%lld digits; " LIMIT_HINT,
                        (int)vm->sys.most_digits, (long long)count);
    }
    dv_value v = from_digits(vm, text, size, base, count, negative);
    *valid = dv_is_empty(v) || !zero_only || dv_int_sign(v) == 0;
    if (*valid) return v;
    dv_release(vm, v);
    return DV_EMPTY;
}

/* The value of what is nothing but a few digits; -1: it is something else, or base is 0.  The
 * letter of a prefix is no digit in the base that it stands for. */
static int64_t few_digits(const char *text, size_t size, int base) {
    enum { MOST = 9 }; /* of base 36 they fit in an immediate */
    int64_t n = 0;
    if (size == 0 || size > MOST) return -1;
    for (size_t i = 0; i < size; i++) {
        int digit = digit_value(text[i]);
        if (digit >= base) return -1;
        n = n * base + digit;
    }
    return n;
}

dv_value dv_int_from_text(dv_vm *vm, const char *text, size_t size, int base, bool *valid) {
    dv_numeric_text ascii;
    int64_t few = few_digits(text, size, base);
    *valid = true;
    if (few >= 0) return dv_int(few);
    if (!dv_numeric_text_take(vm, text, size, &ascii)) return DV_EMPTY;
    dv_value v = parse(vm, ascii.text, ascii.size, base, valid);
    dv_numeric_text_drop(vm, &ascii);
    return v;
}

dv_value dv_int_from_hex(dv_vm *vm, const char *digits, size_t size) {
    bool negative = size && digits[0] == '-';
    return from_digits(vm, digits + negative, size - negative, 16, (int64_t)(size - negative),
                       negative);
}
