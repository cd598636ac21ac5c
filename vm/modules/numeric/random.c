/* random.c: the module random: the class Random, seeding, state, bits and ints.  The numbers are
 * CPython's to the last bit.
 *
 * Invariants
 *  1. The functions of the module are methods bound to one Random, `_inst`.
 *  2. Every method takes as many words from the twister as CPython's does, in the same order. */
#include "modules/numeric/random.h"

#include "core/upcall.h"
#include "core/work.h"
#include "modules/modules.h"
#include "base/sha512.h"
#include "types/binary/bytes.h"
#include "types/class/class.h"
#include "types/callable/function.h"
#include "types/class/instance.h"
#include "types/file/host.h"
#include "types/number/int_arith.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

#define STATE_VERSION 3

uint64_t dv_random_below(dv_random *r, uint64_t n) {
    int bits = 64 - __builtin_clzll(n);
    uint64_t x;
    do {
        if (bits <= 32) {
            x = dv_twister_word(&r->twister) >> (32 - bits);
        } else {
            x = dv_twister_word(&r->twister);
            x |= (uint64_t)(dv_twister_word(&r->twister) >> (64 - bits)) << 32;
        }
    } while (x >= n);
    return x;
}

/* ---- Seeding ----------------------------------------------------------------------------------*/

static void seed_limbs(dv_random *r, const uint64_t *limbs, int64_t count) {
    static const uint32_t zero = 0;
    const uint32_t *words = (const uint32_t *)(const void *)limbs;
    size_t size = (size_t)count * 2;
    if (size && words[size - 1] == 0) size--;
    if (size == 0)
        dv_twister_seed(&r->twister, &zero, 1);
    else
        dv_twister_seed(&r->twister, words, size);
}

static bool seed_from_system(dv_vm *vm, dv_random *r) {
    uint32_t key[DV_TWISTER_WORDS];
    if (!dv_host_random(key, sizeof key))
        return dv_raise(vm, DV_E_OS_ERROR, "no random numbers from the system"), false;
    dv_twister_seed(&r->twister, key, DV_TWISTER_WORDS);
    return true;
}

/* The bytes and their SHA-512, read as one big-endian int. */
static bool seed_from_bytes(dv_vm *vm, dv_random *r, const dv_str *bytes) {
    size_t size = (size_t)bytes->length + 64, room = (size + 7) / 8 * 8;
    uint8_t *text = dv_heap_alloc(&vm->heap, 2 * room), *limbs = text + room;
    if (!text) return dv_raise_memory(vm), false;
    memcpy(text, bytes->data, (size_t)bytes->length);
    dv_sha512(text, (size_t)bytes->length, text + bytes->length);
    memset(limbs, 0, room);
    for (size_t i = 0; i < size; i++) limbs[i] = text[size - 1 - i];
    int64_t count = (int64_t)(room / 8);
    const uint64_t *number = (const uint64_t *)(const void *)limbs;
    while (count && number[count - 1] == 0) count--;
    seed_limbs(r, number, count);
    dv_heap_free(&vm->heap, text, 2 * room);
    return true;
}

/* seed(text, version=1): a hash of the code points. */
static void seed_by_old_rule(dv_random *r, dv_value text) {
    const dv_str *s = dv_is_str(text) ? dv_as_str(text) : dv_as_bytes(text);
    uint64_t x = s->length ? (uint64_t)dv_str_at(s, 0) << 7 : 0;
    for (int64_t i = 0; i < s->length; i++) x = (1000003 * x) ^ dv_str_at(s, i);
    x ^= (uint64_t)s->length;
    seed_limbs(r, &x, x != 0);
}

static bool seed_from_text(dv_vm *vm, dv_random *r, dv_value v) {
    dv_value bytes =
        dv_is_str(v) ? dv_encode(vm, v, DV_EMPTY, DV_EMPTY) : dv_retain(dv_bytes_of(v));
    if (dv_is_empty(bytes)) return false;
    bool good = seed_from_bytes(vm, r, dv_as_str(bytes));
    dv_release(vm, bytes);
    return good;
}

static bool seed_with(dv_vm *vm, dv_random *r, dv_value v, int64_t version) {
    r->has_gauss = false;
    if (dv_is_empty(v) || dv_is_none(v)) return seed_from_system(vm, r);
    if (dv_is_integral(v)) {
        dv_int_view view;
        dv_int_look(v, &view);
        seed_limbs(r, view.limbs, view.count);
        return true;
    }
    bool text = dv_is_str(v) || dv_is_bytes_like(v);
    if (text && version == 2) return seed_from_text(vm, r, v);
    if (text && version == 1 && !dv_is_bytearray(v)) return seed_by_old_rule(r, v), true;
    if (!text && !dv_is_float(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR,
                 "The only supported seed types are: None,\nint, float, str, bytes, and "
                 "bytearray.");
        return false;
    }
    int64_t hash;
    if (!dv_hash(vm, v, &hash)) return false;
    uint64_t limb = (uint64_t)hash;
    seed_limbs(r, &limb, limb != 0);
    return true;
}

static dv_value method_seed(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("seed", 1, 3, "a", "version");
    int64_t version = 2;
    if (!dv_is_empty(given[2]) && !dv_int_to_int64(given[2], &version)) version = 0;
    return seed_with(vm, dv_as_random(given[0]), given[1], version) ? DV_NONE : DV_EMPTY;
}

/* ---- The state --------------------------------------------------------------------------------*/

static dv_value method_getstate(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_random *r = dv_as_random(args[0]);
    dv_tuple *words = dv_tuple_alloc(vm, DV_TWISTER_WORDS + 1);
    if (!words) return DV_EMPTY;
    for (int i = 0; i < DV_TWISTER_WORDS; i++) words->items[i] = dv_int(r->twister.state[i]);
    words->items[DV_TWISTER_WORDS] = dv_int(r->twister.next);
    dv_value parts[3] = {dv_int(STATE_VERSION), dv_object_value(words),
                         r->has_gauss ? dv_float(r->gauss_next) : DV_NONE};
    return dv_tuple_take(vm, parts, 3);
}

static bool take_word(dv_vm *vm, dv_value v, uint32_t *word) {
    int64_t i;
    if (!dv_is_integral(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "an integer is required");
        return false;
    }
    bool fits = dv_int_to_int64(v, &i);
    if (!fits || i < 0) {
        bool large = !fits && dv_int_sign(v) > 0;
        dv_raise(vm, DV_E_OVERFLOW_ERROR,
                 large ? "Python int too large to convert to C unsigned long"
                       : "can't convert negative value to unsigned int");
        return false;
    }
    *word = (uint32_t)i;
    return true;
}

static bool set_words(dv_vm *vm, dv_random *r, dv_value words) {
    dv_twister twister;
    if (!dv_is_tuple(words)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "state vector must be a tuple");
        return false;
    }
    if (dv_as_tuple(words)->count != DV_TWISTER_WORDS + 1) {
        dv_raise(vm, DV_E_VALUE_ERROR, "state vector is the wrong size");
        return false;
    }
    const dv_value *items = dv_as_tuple(words)->items;
    for (int i = 0; i < DV_TWISTER_WORDS; i++)
        if (!take_word(vm, items[i], &twister.state[i])) return false;
    int64_t next;
    dv_value index = dv_int_index(vm, items[DV_TWISTER_WORDS]);
    if (dv_is_empty(index)) return false;
    bool fits = dv_int_to_int64(index, &next);
    dv_release(vm, index);
    if (!fits) {
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C long");
        return false;
    }
    twister.next = (uint32_t)next;
    if (next < 0 || next > DV_TWISTER_WORDS) {
        dv_raise(vm, DV_E_VALUE_ERROR, "invalid state");
        return false;
    }
    twister.refill = r->twister.refill;
    r->twister = twister;
    return true;
}

/* For copy: a new Random of the class, and the state that __setstate__ gets. */
static dv_value method_reduce(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value state = method_getstate(vm, args, count);
    if (dv_is_empty(state)) return DV_EMPTY;
    dv_value class_ = dv_retain(dv_object_value(dv_class_of(vm, args[0])));
    dv_value none = dv_tuple_new(vm, NULL, 0);
    dv_value parts[3] = {class_, none, state};
    return dv_tuple_take(vm, parts, 3);
}

/* 2 or 3, the first item of a state; -1: raised. */
static int version_of(dv_vm *vm, dv_value state) {
    dv_value version = dv_get_item(vm, state, dv_int(0));
    if (dv_is_empty(version)) return -1;
    int known = 0, number = STATE_VERSION;
    for (; known == 0 && number >= STATE_VERSION - 1; number--)
        known = dv_equal(vm, version, dv_int(number));
    dv_value text = known == 0 ? dv_to_str(vm, version) : DV_EMPTY;
    if (!dv_is_empty(text))
        dv_raise(vm, DV_E_VALUE_ERROR,
                 "state with version %S passed to Random.setstate() of version 3", text);
    dv_release(vm, text);
    dv_release(vm, version);
    return known > 0 ? number + 1 : -1;
}

/* The words of version 2, which were written as signed numbers: x % 2 ** 32 of each. */
static dv_value unsigned_words(dv_vm *vm, dv_value words) {
    dv_value iterator = dv_iterate(vm, words), list = DV_EMPTY;
    if (dv_is_empty(iterator)) return DV_EMPTY;
    list = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(list);
    while (good) {
        dv_value x = dv_next(vm, iterator);
        if (dv_is_empty(x)) break;
        dv_value word = dv_binary(vm, DV_BINARY_MOD, x, dv_int(1LL << 32));
        dv_release(vm, x);
        good = !dv_is_empty(word) && dv_list_push(vm, list, word);
    }
    dv_release(vm, iterator);
    dv_value result = good && dv_is_empty(vm->error) ? dv_tuple_from(vm, list) : DV_EMPTY;
    dv_release(vm, list);
    return result;
}

static dv_value method_setstate(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_random *r = dv_as_random(args[0]);
    int version = version_of(vm, args[1]);
    if (version < 0) return DV_EMPTY;
    dv_value state = dv_tuple_from(vm, args[1]);
    if (dv_is_empty(state)) return DV_EMPTY;
    int64_t parts = dv_as_tuple(state)->count;
    bool good = false;
    if (parts == 3) {
        dv_value gauss = dv_as_tuple(state)->items[2];
        r->has_gauss = dv_is_float(gauss);
        if (r->has_gauss) r->gauss_next = dv_as_float(gauss);
        dv_value words = dv_as_tuple(state)->items[1];
        words = version == STATE_VERSION ? dv_retain(words) : unsigned_words(vm, words);
        good = !dv_is_empty(words) && set_words(vm, r, words);
        dv_release(vm, words);
    } else if (parts < 3) {
        dv_raise(vm, DV_E_VALUE_ERROR, "not enough values to unpack (expected 3, got %lld)",
                 (long long)parts);
    } else {
        dv_raise(vm, DV_E_VALUE_ERROR, "too many values to unpack (expected 3)");
    }
    dv_release(vm, state);
    return good ? DV_NONE : DV_EMPTY;
}

/* ---- Bits -------------------------------------------------------------------------------------*/

static dv_value method_random(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    return dv_float(dv_twister_double(&dv_as_random(args[0])->twister));
}

/* So many random bits, the first words being the least significant. */
static void fill_bits(dv_random *r, uint32_t *words, int64_t bits) {
    for (; bits > 0; bits -= 32) {
        uint32_t word = dv_twister_word(&r->twister);
        *words++ = bits < 32 ? word >> (32 - bits) : word;
    }
}

static dv_value random_bits(dv_vm *vm, dv_random *r, int64_t bits) {
    if (bits <= 32) return dv_int(bits ? dv_twister_word(&r->twister) >> (32 - bits) : 0);
    dv_bigint *big = dv_bigint_new(vm, (bits - 1) / 64 + 1);
    if (!big) return DV_EMPTY;
    int64_t limbs = (bits - 1) / 64 + 1;
    big->limbs[limbs - 1] = 0;
    dv_work_owe(vm, bits / 64);
    fill_bits(r, (uint32_t *)big->limbs, bits);
    return dv_bigint_finish(vm, big, limbs, false);
}

/* A number of bits, or of units of so many bits. */
static bool take_bits(dv_vm *vm, dv_value v, int64_t unit, int64_t *bits) {
    dv_value whole = dv_int_index(vm, v);
    if (dv_is_empty(whole)) return false;
    bool fits = dv_int_to_int64(whole, bits) && *bits <= INT32_MAX / unit;
    bool negative = dv_int_sign(whole) < 0;
    dv_release(vm, whole);
    if (negative && fits && *bits >= INT32_MIN / unit) {
        dv_raise(vm, DV_E_VALUE_ERROR, "number of bits must be non-negative");
        return false;
    }
    if (!fits) {
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C int");
        return false;
    }
    *bits *= unit;
    return true;
}

static dv_value method_getrandbits(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t bits;
    if (!take_bits(vm, args[1], 1, &bits)) return DV_EMPTY;
    return random_bits(vm, dv_as_random(args[0]), bits);
}

static dv_value method_randbytes(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    DV_RANDOM_BIND("randbytes", 2, 2, "n");
    int64_t bits;
    if (!take_bits(vm, given[1], 8, &bits)) return DV_EMPTY;
    dv_random *r = dv_as_random(given[0]);
    dv_str *bytes = dv_bytes_alloc(vm, bits / 8);
    if (!bytes) return DV_EMPTY;
    dv_work_owe(vm, bits / 64);
    for (int64_t i = 0; i < bits / 8; i += 4) {
        uint32_t word;
        int64_t left = bits - i * 8;
        fill_bits(r, &word, left < 32 ? left : 32);
        memcpy(bytes->data + i, &word, (size_t)(left < 32 ? left / 8 : 4));
    }
    return dv_object_value(bytes);
}

/* ---- randrange and randint --------------------------------------------------------------------*/

/* Uniform below an int n > 0 of any size. */
static dv_value below(dv_vm *vm, dv_random *r, dv_value n) {
    int64_t small;
    if (dv_int_to_int64(n, &small)) {
        uint64_t x = dv_random_below(r, (uint64_t)small);
        return dv_int_from_int64(vm, (int64_t)x);
    }
    int64_t bits = (int64_t)dv_int_bit_length(n);
    for (;;) {
        dv_value x = random_bits(vm, r, bits);
        if (dv_is_empty(x)) return x;
        if (dv_same(dv_int_compare(vm, DV_LT, x, n), DV_TRUE)) return x;
        dv_release(vm, x);
    }
}

/* An argument as an int; floats that are whole still count. */
static dv_value whole_argument(dv_vm *vm, dv_value v, const char *what) {
    if (dv_is_integral(v)) return dv_int_index(vm, v);
    bool found;
    dv_value whole = dv_number_special(vm, v, vm->known.index, &found);
    if (found) return whole;
    whole = dv_call(vm, dv_object_value(vm->classes[DV_T_INT]), &v, 1, DV_EMPTY);
    if (dv_is_empty(whole)) return DV_EMPTY;
    int equal = dv_equal(vm, whole, v);
    if (equal > 0) return whole;
    dv_release(vm, whole);
    if (equal < 0) return DV_EMPTY;
    return dv_raise(vm, DV_E_VALUE_ERROR, "non-integer %s for randrange()", what);
}

/* a op b, taking a. */
static dv_value then(dv_vm *vm, dv_value a, dv_binary_op op, dv_value b) {
    if (dv_is_empty(a) || dv_is_empty(b)) {
        dv_release(vm, a);
        return DV_EMPTY;
    }
    dv_value r = dv_int_binary(vm, op, a, b);
    dv_release(vm, a);
    return r;
}

/* How many steps lie between start and stop; step is not 0. */
static dv_value steps_between(dv_vm *vm, dv_value start, dv_value stop, dv_value step) {
    dv_value width = dv_int_binary(vm, DV_BINARY_SUB, stop, start);
    if (dv_same(step, dv_int(1))) return width;
    dv_value sum = then(vm, width, DV_BINARY_ADD, step);
    sum = then(vm, sum, DV_BINARY_ADD, dv_int(dv_int_sign(step) > 0 ? -1 : 1));
    return then(vm, sum, DV_BINARY_FLOORDIV, step);
}

static dv_value range_of_ints(dv_vm *vm, dv_random *r, dv_value start, dv_value stop,
                              dv_value step) {
    if (dv_int_sign(step) == 0) return dv_raise(vm, DV_E_VALUE_ERROR, "zero step for randrange()");
    dv_value n = steps_between(vm, start, stop, step);
    if (dv_is_empty(n)) return n;
    dv_value result = DV_EMPTY;
    if (dv_int_sign(n) > 0) {
        dv_value x = below(vm, r, n);
        result = then(vm, then(vm, x, DV_BINARY_MUL, step), DV_BINARY_ADD, start);
    } else if (dv_same(step, dv_int(1))) {
        dv_raise(vm, DV_E_VALUE_ERROR, "empty range for randrange() (%S, %S, %S)", start, stop, n);
    } else {
        dv_raise(vm, DV_E_VALUE_ERROR, "empty range for randrange()");
    }
    dv_release(vm, n);
    return result;
}

static dv_value range_of_any(dv_vm *vm, dv_random *r, dv_value start, dv_value stop,
                             dv_value step) {
    dv_value a = whole_argument(vm, start, "arg 1"), b = DV_EMPTY, c = DV_EMPTY;
    dv_value result = DV_EMPTY;
    if (!dv_is_empty(a)) b = whole_argument(vm, stop, "stop");
    if (!dv_is_empty(b)) c = dv_is_empty(step) ? dv_int(1) : whole_argument(vm, step, "step");
    if (!dv_is_empty(c)) result = range_of_ints(vm, r, a, b, c);
    dv_release(vm, a);
    dv_release(vm, b);
    dv_release(vm, c);
    return result;
}

/* randrange(stop) */
static dv_value range_from_zero(dv_vm *vm, dv_random *r, dv_value stop, dv_value step) {
    dv_value n = whole_argument(vm, stop, "arg 1");
    if (dv_is_empty(n)) return n;
    dv_value result = DV_EMPTY;
    if (!dv_is_empty(step) && !dv_same(step, dv_int(1)))
        dv_raise(vm, DV_E_TYPE_ERROR, "Missing a non-None stop argument");
    else if (dv_int_sign(n) <= 0)
        dv_raise(vm, DV_E_VALUE_ERROR, "empty range for randrange()");
    else
        result = below(vm, r, n);
    dv_release(vm, n);
    return result;
}

static dv_value method_randrange(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    DV_RANDOM_BIND("randrange", 2, 4, "start", "stop", "step");
    dv_random *r = dv_as_random(given[0]);
    if (dv_is_empty(given[2]) || dv_is_none(given[2]))
        return range_from_zero(vm, r, given[1], given[3]);
    return range_of_any(vm, r, given[1], given[2], given[3]);
}

static dv_value method_randint(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("randint", 3, 3, "a", "b");
    dv_random *r = dv_as_random(given[0]);
    dv_value a = given[1], b = given[2];
    if (DV_LIKELY(dv_are_ints(a, b) && dv_as_int(a) <= dv_as_int(b))) {
        uint64_t n = (uint64_t)(dv_as_int(b) - dv_as_int(a)) + 1;
        return dv_int(dv_as_int(a) + (int64_t)dv_random_below(r, n));
    }
    dv_value stop = dv_binary(vm, DV_BINARY_ADD, b, dv_int(1));
    if (dv_is_empty(stop)) return DV_EMPTY;
    dv_value result = range_of_any(vm, r, a, stop, DV_EMPTY);
    dv_release(vm, stop);
    return result;
}

/* ---- The class and the module -----------------------------------------------------------------*/

static void random_release(dv_vm *vm, dv_object *object) {
    dv_object_free(vm, object, sizeof(dv_random));
}

static dv_value random_new(dv_vm *vm, dv_value seed) {
    dv_random *r = dv_object_new(vm, sizeof *r, DV_T_RANDOM);
    if (!r) return DV_EMPTY;
    r->gauss_next = 0.0;
    r->twister.refill = NULL;
    if (seed_with(vm, r, seed, 2)) return dv_object_value(r);
    dv_release_object(vm, &r->header);
    return DV_EMPTY;
}

/* The argument of Random.__init__, or EMPTY. */
static bool bind_seed(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords,
                      dv_value *seed) {
    static const char *const names[] = {"self", "x"};
    static const dv_parameters parameters = {"Random.__init__", names, 2, 2, 1};
    dv_value given[2], few[4], *all = few;
    size_t size = ((size_t)count + 1) * sizeof *all;
    if (count > 3 && !(all = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm), false;
    all[0] = DV_NONE; /* self, which is only counted */
    if (count) memcpy(all + 1, args, count * sizeof *all);
    bool good = dv_arguments_bind(vm, &parameters, all, count + 1, keywords, given);
    if (all != few) dv_heap_free(&vm->heap, all, size);
    if (good) *seed = given[1];
    return good;
}

static dv_value random_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    dv_value seed;
    return bind_seed(vm, args, count, keywords, &seed) ? random_new(vm, seed) : DV_EMPTY;
}

/* The methods of a Random call each other here without asking its class, which must not have its
 * own idea of what they are.  False: raised. */
static bool check_overrides(dv_vm *vm, const dv_class *class_) {
    static const char *const names[] = {"random",    "getrandbits",   "_randbelow",
                                        "randrange", "normalvariate", "gammavariate"};
    for (uint32_t i = 0; i < class_->mro_count && !class_->mro[i]->descriptor; i++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            dv_value name = dv_str_intern(vm, names[n], strlen(names[n]));
            if (dv_is_empty(name)) return false;
            const dv_global_cell *cell = dv_namespace_find(&class_->mro[i]->attributes, name);
            dv_release(vm, name);
            if (!cell || dv_is_empty(cell->value)) continue;
            dv_raise(vm, DV_E_TYPE_ERROR,
                     "a subclass of random.Random with its own %s() is not part of dl", names[n]);
            return false;
        }
    return true;
}

static dv_value random_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    if (!check_overrides(vm, class_)) return DV_EMPTY;
    dv_random *r = dv_subclass_alloc(vm, class_, sizeof *r);
    if (!r) return DV_EMPTY;
    r->has_gauss = false;
    r->gauss_next = 0.0;
    r->twister = dv_as_random(exact)->twister;
    return dv_object_value(r);
}

/* Random.__init__: seeds by the method of the object. */
static bool random_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                              dv_value keywords) {
    dv_value seed;
    if (!bind_seed(vm, args, count, keywords, &seed)) return false;
    if (dv_is_shape(self, DV_T_RANDOM)) return seed_with(vm, dv_as_random(self), seed, 2);
    if (dv_is_empty(seed)) seed = DV_NONE;
    dv_value name = dv_str_intern(vm, "seed", 4);
    dv_value method = dv_is_empty(name) ? DV_EMPTY : dv_get_attribute(vm, self, name);
    dv_value done = dv_is_empty(method) ? DV_EMPTY : dv_call(vm, method, &seed, 1, DV_EMPTY);
    dv_release(vm, name);
    dv_release(vm, method);
    dv_release(vm, done);
    return !dv_is_empty(done);
}

static dv_value random_repr(dv_vm *vm, dv_value self) {
    if (dv_is_instance(self)) return dv_default_repr(vm, self);
    return dv_str_printf(vm, "<random.Random object at 0x%llx>", dv_identity(vm, self));
}

#define NAMED(name_) \
    { .name = #name_, .keyword_entry = method_##name_, .min = 0, .max = UINT32_MAX }

#define ELSEWHERE(name_) \
    {.name = #name_, .keyword_entry = dv_random_##name_, .min = 0, .max = UINT32_MAX},

static const dv_cfunction_def methods[] = {
    {.name = "random", .entry = method_random, .min = 1, .max = 1},
    {.name = "getrandbits", .entry = method_getrandbits, .min = 2, .max = 2},
    {.name = "getstate", .entry = method_getstate, .min = 1, .max = 1},
    {.name = "setstate", .entry = method_setstate, .min = 2, .max = 2},
    {.name = "__getstate__", .entry = method_getstate, .min = 1, .max = 1},
    {.name = "__setstate__", .entry = method_setstate, .min = 2, .max = 2},
    {.name = "__reduce__", .entry = method_reduce, .min = 1, .max = 1},
    NAMED(seed),
    NAMED(randbytes),
    NAMED(randrange),
    NAMED(randint),
    DV_RANDOM_DISTRIBUTIONS(ELSEWHERE) DV_RANDOM_CHOICES(ELSEWHERE){.name = NULL}};

const dv_type dv_random_type = {
    .name = "Random",
    .id = DV_T_RANDOM,
    .weakly = true,
    .release = random_release,
    .repr = random_repr,
    .construct = random_construct,
    .adopt = random_adopt,
    .initialise = random_initialise,
    .methods = methods,
};

/* Functions of the module: the methods, bound to `_inst`. */
static bool add_bound(dv_vm *vm, dv_module *module, dv_value self, const dv_cfunction_def *defs) {
    dv_value class_ = dv_object_value(vm->classes[DV_T_RANDOM]);
    for (; defs->name; defs++)
        if (defs->name[0] != '_' &&
            !dv_module_add(vm, module, defs->name, dv_cfunction_new(vm, defs, self, class_)))
            return false;
    return true;
}

/* ---- SystemRandom, whose class is in dl (_system_random.dl)
 * -------------------------------------*/

/* A system that has given random numbers always gives more (getrandom(2)); were it forbidden
 * meanwhile, waiting is better than numbers that somebody can guess. */
static void refill_from_system(uint32_t *state) {
    while (!dv_host_random(state, DV_TWISTER_WORDS * sizeof *state)) continue;
}

/* From now on all numbers of this Random are the system's. */
static dv_value entropy_use(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_random *r = dv_as_random(args[0]);
    if (!dv_host_random(r->twister.state, sizeof *r->twister.state))
        return dv_raise(vm, DV_E_NOT_IMPLEMENTED_ERROR, "the system gives no random numbers");
    r->twister.refill = refill_from_system;
    r->twister.next = DV_TWISTER_WORDS;
    return DV_NONE;
}

static const dv_cfunction_def entropy_functions[] = {
    {.name = "use", .entry = entropy_use, .min = 1, .max = 1}, {.name = NULL}};

bool dv_entropy_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, entropy_functions);
}

static dv_value random_getattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (dv_is_str(args[0]) && dv_str_is(args[0], "SystemRandom"))
        return dv_module_borrow(vm, "random", "_system_random", args[0]);
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "module 'random' has no attribute '%S'", args[0]);
}

static const dv_cfunction_def functions[] = {
    {.name = "__getattr__", .entry = random_getattr, .min = 1, .max = 1}, {.name = NULL}};

static const char *const all_names[] = {"Random",          "seed",
                                        "random",          "uniform",
                                        "randint",         "choice",
                                        "sample",          "randrange",
                                        "shuffle",         "normalvariate",
                                        "lognormvariate",  "expovariate",
                                        "vonmisesvariate", "gammavariate",
                                        "triangular",      "gauss",
                                        "betavariate",     "paretovariate",
                                        "weibullvariate",  "getstate",
                                        "setstate",        "getrandbits",
                                        "choices",         "SystemRandom",
                                        "randbytes",       NULL};

bool dv_random_fill(dv_vm *vm, dv_module *module) {
    dv_value hidden = random_new(vm, DV_NONE);
    if (dv_is_empty(hidden)) return false;
    bool good =
        dv_class_store(vm, vm->classes[DV_T_RANDOM], vm->known.module, dv_retain(module->name)) &&
        dv_module_add_functions(vm, module, functions) && add_bound(vm, module, hidden, methods) &&
        dv_module_add(vm, module, "__all__", dv_names(vm, all_names)) &&
        dv_module_add(vm, module, "_inst", dv_retain(hidden)) &&
        dv_module_add(vm, module, "Random", dv_retain(dv_object_value(vm->classes[DV_T_RANDOM])));
    dv_release(vm, hidden);
    return good;
}
