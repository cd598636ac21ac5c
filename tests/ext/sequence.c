/* sequence.c: an extension with a type that has a length and items and nothing else, so that the
 * VM iterates over it: Deck, ints in memory that grows from nothing.  It is C11 and C++20. */
#include <dynvm_ext.h>

typedef struct deck {
    int64_t *cards; /* NULL as long as there are none */
    int64_t count;
    int64_t room;
    int64_t spoilt; /* index of a card whose reading fails, + 1; 0: none does */
} deck;

extern const dvx_type deck_type;

static deck *deck_of(dvx_vm *vm, dvx_value self) {
    return (deck *)vm->api->payload(vm, self, &deck_type);
}

/* Deck.push(card) */
static dvx_value push(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    deck *d = deck_of(vm, args[0]);
    int64_t card;
    (void)count;
    if (!vm->api->read_int(vm, args[1], &card)) return DVX_FAILED;
    if (d->count == d->room) {
        const int64_t room = d->room ? 2 * d->room : 4;
        void *moved = vm->api->resize(vm, d->cards, (size_t)d->room * sizeof *d->cards,
                                      (size_t)room * sizeof *d->cards);
        if (!moved) return DVX_FAILED;
        d->cards = (int64_t *)moved;
        d->room = room;
    }
    d->cards[d->count++] = card;
    return vm->api->make_none(vm);
}

/* Deck.pop(): the last card goes. */
static dvx_value pop(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    deck *d = deck_of(vm, args[0]);
    (void)count;
    if (d->count == 0) return vm->api->raise(vm, DVX_INDEX_ERROR, "pop from an empty deck");
    return vm->api->make_int(vm, d->cards[--d->count]);
}

/* Deck.spoil(index) */
static dvx_value spoil(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t index;
    (void)count;
    if (!vm->api->read_int(vm, args[1], &index)) return DVX_FAILED;
    deck_of(vm, args[0])->spoilt = index + 1;
    return vm->api->make_none(vm);
}

static int64_t length(dvx_vm *vm, dvx_value self) { return deck_of(vm, self)->count; }

static dvx_value get_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    const deck *d = deck_of(vm, self);
    int64_t index;
    if (!vm->api->read_index(vm, key, &index)) return DVX_FAILED;
    if (index < 0) index += d->count;
    if (index < 0 || index >= d->count)
        return vm->api->raise(vm, DVX_INDEX_ERROR, "deck index out of range");
    if (index + 1 == d->spoilt) return vm->api->raise(vm, DVX_VALUE_ERROR, "a spoilt card");
    return vm->api->make_int(vm, d->cards[index]);
}

static bool initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)vm, (void)self, (void)args, (void)count;
    return true;
}

static void release(dvx_vm *vm, void *payload) {
    deck *d = (deck *)payload;
    vm->api->deallocate(vm, d->cards, (size_t)d->room * sizeof *d->cards);
}

static const dvx_function push_method = {
    .size = sizeof(dvx_function), .name = "push", .entry = push, .min = 2, .max = 2};
static const dvx_function pop_method = {
    .size = sizeof(dvx_function), .name = "pop", .entry = pop, .min = 1, .max = 1};
static const dvx_function spoil_method = {
    .size = sizeof(dvx_function), .name = "spoil", .entry = spoil, .min = 2, .max = 2};
static const dvx_function *const methods[] = {&push_method, &pop_method, &spoil_method};

const dvx_type deck_type = {
    .size = sizeof(dvx_type),
    .name = "Deck",
    .payload = sizeof(deck),
    .base = true,
    .initialise = initialise,
    .release = release,
    .length = length,
    .get_item = get_item,
    .method_count = sizeof methods / sizeof *methods,
    .methods = methods,
};

static bool init(dvx_vm *vm, dvx_value module) { return vm->api->add_type(vm, module, &deck_type); }

DVX_EXTENSION("sequence", init);
