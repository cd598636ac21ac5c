/* source.c: sources of random bits, as objects (source.h).
 *
 * Invariants
 *  1. A source whose `bits.mt` is missing draws as PCG64 does, so that none is without a state. */
#include "functions/source.h"

#include <stdio.h>
#include <time.h>

#include "array/array.h"
#include "array/methods.h"

source *source_of(dvx_vm *vm, dvx_value v) {
    void *found = vm->api->payload(vm, v, &pcg64_type);
    return found ? found : vm->api->payload(vm, v, &mt19937_type);
}

void source_surprise(uint32_t words[4]) {
    FILE *source = fopen("/dev/urandom", "rb");
    struct timespec now;
    if (!source || fread(words, sizeof *words, 4, source) != 4) {
        clock_gettime(CLOCK_REALTIME, &now);
        words[0] = (uint32_t)now.tv_nsec;
        words[1] = (uint32_t)now.tv_sec;
        words[2] = words[3] = (uint32_t)clock();
    }
    if (source) fclose(source);
}

int source_attribute(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out) {
    char text[32];
    const dvx_value args[2] = {self, name};
    *out = DVX_FAILED;
    nd_word(vm, name, text);
    if (!strncmp(text, "__", 2) && strcmp(text, "__deepcopy__") && strcmp(text, "__copy__"))
        return 0;
    *out = nd_call_library(vm, SOURCE_LIBRARY, "find", args, 2);
    if (dvx_failed(*out)) return -1;
    if (vm->api->kind(vm, *out) != DVX_NOT_IMPLEMENTED) return 1;
    vm->api->release(vm, *out);
    *out = DVX_FAILED;
    return 0;
}

static void seed_keep(dvx_vm *vm, source *s, dvx_value seed) {
    if (s->has_seed) vm->api->release(vm, s->seed);
    s->seed = seed;
    s->has_seed = true;
}

bool source_has_room(dvx_vm *vm, source *s) {
    if (s->bits.mt) return true;
    s->bits.mt = vm->api->allocate(vm, sizeof(nd_mt19937));
    if (s->bits.mt) memset(s->bits.mt, 0, sizeof(nd_mt19937));
    return s->bits.mt;
}

bool source_seed(dvx_vm *vm, source *s, dvx_value seed, bool *known) {
    uint32_t words[4];
    uint64_t small;
    size_t used = 4;
    *known = true;
    if (nd_is_given(vm, seed)) {
        *known = vm->api->kind(vm, seed) == DVX_INT && vm->api->read_uint(vm, seed, &small);
        if (!*known) {
            vm->api->clear_error(vm);
            return true;
        }
        words[0] = (uint32_t)small;
        words[1] = (uint32_t)(small >> 32);
        used = words[1] ? 2 : 1;
        seed = vm->api->retain(vm, seed);
    } else {
        source_surprise(words);
        seed = vm->api->make_bytes(vm, words, sizeof words);
        if (dvx_failed(seed)) return false;
    }
    bits_pcg_seed(&s->bits, words, used);
    seed_keep(vm, s, seed);
    return true;
}

bool source_fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    source *s = source_of(vm, self);
    bool known = false;
    (void)count;
    if (vm->api->payload(vm, self, &mt19937_type)) {
        if (!source_has_room(vm, s)) return false;
    } else if (!source_seed(vm, s, args[0], &known)) {
        return false;
    }
    if (known) return true;
    const dvx_value both[2] = {self, dvx_failed(args[0]) ? nd_none(vm) : args[0]};
    dvx_value done = nd_call_library(vm, SOURCE_LIBRARY, "seed_source", both, 2);
    vm->api->release(vm, done);
    return !dvx_failed(done);
}

static void release_source(dvx_vm *vm, void *payload) {
    source *s = payload;
    if (s->has_seed) vm->api->release(vm, s->seed);
    if (s->bits.mt) vm->api->deallocate(vm, s->bits.mt, sizeof(nd_mt19937));
}

/* The state as bytes: of MT19937 624 words and the position, of PCG64 two ints of 128 bits and the
 * half of a word. */
enum { MT_SIZE = offsetof(nd_mt19937, tempered) };
static size_t words_of(source *s, void **at) {
    *at = s->bits.mt ? (void *)s->bits.mt : &s->bits.state;
    return s->bits.mt ? (size_t)MT_SIZE
                      : offsetof(nd_bits, has_half) + sizeof(uint32_t) - offsetof(nd_bits, state);
}
static dvx_value get_words(dvx_vm *vm, dvx_value self) {
    void *at;
    size_t size = words_of(source_of(vm, self), &at);
    return vm->api->make_bytes(vm, at, size);
}
static bool set_words(dvx_vm *vm, dvx_value self, dvx_value v) {
    source *s = source_of(vm, self);
    void *at;
    char room[MT_SIZE];
    size_t size = words_of(s, &at), given;
    if (!vm->api->read_bytes(vm, v, room, sizeof room, &given)) return false;
    if (given != size) return nd_fail(vm, DVX_VALUE_ERROR, "a state has %zu bytes", size);
    memcpy(at, room, size);
    if (s->bits.mt) {
        if (s->bits.mt->position > ND_MT_WORDS) s->bits.mt->position = ND_MT_WORDS;
        bits_mt_temper(s->bits.mt);
    }
    return true;
}
static dvx_value get_seed(dvx_vm *vm, dvx_value self) {
    const source *s = source_of(vm, self);
    return s->has_seed ? vm->api->retain(vm, s->seed) : nd_none(vm);
}
static bool set_seed(dvx_vm *vm, dvx_value self, dvx_value v) {
    seed_keep(vm, source_of(vm, self), vm->api->retain(vm, v));
    return true;
}
static const dvx_attribute words_attribute = {sizeof(dvx_attribute), "_words", get_words,
                                              set_words};
static const dvx_attribute seed_attribute = {sizeof(dvx_attribute), "_seed", get_seed, set_seed};
static const dvx_attribute *const source_attributes[] = {&words_attribute, &seed_attribute};

/* `state` is set in dl. */
static int set_attribute(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value value) {
    char text[32];
    const dvx_value both[2] = {self, value};
    if (strcmp(nd_word(vm, name, text), "state") || dvx_failed(value)) return 0;
    dvx_value done = nd_call_library(vm, SOURCE_LIBRARY, "set_state_of", both, 2);
    vm->api->release(vm, done);
    return dvx_failed(done) ? -1 : 1;
}

/* _next(): 64 bits. */
static dvx_value next_bits(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return vm->api->make_uint(vm, bits_next(&source_of(vm, args[0])->bits));
}

/* _legacy(words): of MT19937, as RandomState is seeded: an int, or bytes. */
static dvx_value seed_legacy(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    source *s = source_of(vm, args[0]);
    int64_t seed;
    size_t size;
    (void)count;
    if (!s->bits.mt) return vm->api->raise(vm, DVX_TYPE_ERROR, "it is not MT19937");
    if (vm->api->kind(vm, args[1]) == DVX_INT) {
        if (!vm->api->read_index(vm, args[1], &seed)) return DVX_FAILED;
        bits_mt_seed(s->bits.mt, (uint32_t)seed);
        return nd_none(vm);
    }
    if (!vm->api->read_bytes(vm, args[1], NULL, 0, &size)) return DVX_FAILED;
    uint32_t *key = vm->api->allocate(vm, size + 1);
    if (!key) return DVX_FAILED;
    if (vm->api->read_bytes(vm, args[1], key, size, &size) && size >= sizeof *key)
        bits_mt_seed_words(s->bits.mt, key, (int64_t)(size / sizeof *key));
    vm->api->deallocate(vm, key, size + 1);
    return nd_work(vm, (int64_t)size) ? nd_none(vm) : DVX_FAILED;
}

/* _seed_words(entropy, size, made): what SeedSequence makes of bytes: the pool, and so many words.
 */
static dvx_value seed_words(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t size, made;
    size_t bytes;
    dvx_value result = DVX_FAILED;
    (void)count;
    if (!vm->api->read_bytes(vm, args[0], NULL, 0, &bytes) ||
        !vm->api->read_index(vm, args[1], &size) || !vm->api->read_index(vm, args[2], &made))
        return DVX_FAILED;
    if (size < 1 || size > ND_POOL_MOST || made < 0)
        return nd_raise(vm, DVX_VALUE_ERROR, "pools have at most %d words", ND_POOL_MOST);
    const int64_t words = (int64_t)(bytes / sizeof(uint32_t));
    if (!nd_work(vm, 2 * size * (size + words) + 2 * made)) return DVX_FAILED;
    uint32_t *room = nd_room(vm, words + size + made, sizeof *room);
    if (!room) return DVX_FAILED;
    if (vm->api->read_bytes(vm, args[0], room, (size_t)words * sizeof *room, &bytes)) {
        bits_pool(room + words, (size_t)size, room, (size_t)words);
        bits_pool_words(room + words, (size_t)size, room + words + size, (size_t)made);
        result = vm->api->make_bytes(vm, room + words, (size_t)(size + made) * sizeof *room);
    }
    nd_give_back(vm, room, words + size + made, sizeof *room);
    return result;
}

ND_PARAMETERS(seed_parameters, 0, "seed");
static const dvx_function source_functions[] = {
    ND_PLAIN("_next", next_bits, 1, 1),
    ND_PLAIN("_legacy", seed_legacy, 2, 2),
};
static const dvx_function module_functions[] = {ND_PLAIN("_seed_words", seed_words, 3, 3)};

static const dvx_function *const source_methods[] = {&source_functions[0], &source_functions[1]};
#define SOURCE(name_)                                                                              \
    .size = sizeof(dvx_type), .name = name_, .payload = sizeof(source), .initialise = source_fill, \
    .parameters = &seed_parameters, .release = release_source,                                     \
    .method_count = LENGTH_OF(source_methods), .methods = source_methods,                          \
    .attribute_count = LENGTH_OF(source_attributes), .attributes = source_attributes,              \
    .find_attribute = source_attribute, .set_attribute = set_attribute
const dvx_type mt19937_type = {SOURCE("MT19937")};
const dvx_type pcg64_type = {SOURCE("PCG64")};

bool source_register(dvx_vm *vm, dvx_value module) {
    return vm->api->add_type(vm, module, &mt19937_type) &&
           vm->api->add_type(vm, module, &pcg64_type) && ND_ADD_ALL(module_functions);
}
