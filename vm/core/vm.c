/* vm.c: the bare machine: heap, stack and limits (vm.h). */
#define _GNU_SOURCE
#include "core/vm.h"

#include <sys/mman.h>

#include "core/work.h"

#define STACK_VALUES     ((size_t)1 << 27) /* 1 GB of address space, committed lazily */
#define STACK_VALUES_MIN ((size_t)1 << 14)
#define STACK_SLACK      64 /* values beyond stack_limit, for calls that are being prepared */
#define FIRST_SHAPES     (DV_T_COUNT + 32u)

/* Reserves address space for the stack; halves the wish where the system does not allow it. */
static bool reserve_stack(dv_vm *vm, size_t memory_limit) {
    size_t values = STACK_VALUES;
    while (values > STACK_VALUES_MIN && values * sizeof(dv_value) > memory_limit) values /= 2;
    for (; values >= STACK_VALUES_MIN; values /= 2) {
        void *memory = mmap(NULL, values * sizeof(dv_value), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) continue;
        vm->stack = memory;
        vm->stack_size = values;
        vm->stack_limit = vm->stack_end = vm->stack + values - STACK_SLACK;
        vm->sp = vm->fp = vm->stack;
        return true;
    }
    return false;
}

static bool make_shape_table(dv_vm *vm) {
    vm->shapes = dv_heap_alloc(&vm->heap, FIRST_SHAPES * sizeof *vm->shapes);
    if (!vm->shapes) return false;
    memset(vm->shapes, 0, FIRST_SHAPES * sizeof *vm->shapes);
    vm->shape_capacity = FIRST_SHAPES;
    vm->shape_count = DV_T_COUNT;
    return true;
}

static void fill_known_with_empty(dv_known *known) {
    dv_value *values = (dv_value *)known;
    for (size_t i = 0; i < sizeof *known / sizeof *values; i++) values[i] = DV_EMPTY;
}

static void configure(dv_vm *vm, const dv_vm_config *config) {
    vm->level = config->level;
    vm->form = config->form;
    vm->stress = config->stress;
    vm->stress.guards = vm->stress.fail_guard;
    vm->stress.exits = vm->stress.take_exit;
    vm->nama = config->nama;
    vm->regions.limit = config->region_limit;
    vm->extensions.no_native = config->no_native;
    vm->extensions.plain = config->plain_extensions;
    vm->streams.output = config->output;
    vm->streams.error_output = config->error_output;
    vm->streams.extension_output = config->extension_output;
    vm->extensions.watch = config->watch_extensions;
    vm->streams.output_bytes = config->output_bytes;
    vm->streams.error_bytes = config->error_bytes;
    vm->streams.output_context = config->output_context;
    vm->recursion_limit = config->recursion_limit;
    vm->sys.most_digits = DV_MOST_DIGITS;
    vm->calls_left = config->recursion_limit;
    vm->c_stack_size = config->c_stack_size;
    vm->hash_key = dv_hash_key_of(config->hash_seed);
    dv_work_init(vm);
    vm->program = (dv_program){.function = DV_EMPTY, .handled = DV_EMPTY};
}

dv_vm *dv_vm_new(const dv_vm_config *config) {
    dv_heap heap;
    dv_heap_init(&heap, config->resize, config->resize_context, config->memory_limit);
    if (sizeof(dv_vm) > config->memory_limit) return NULL;
    dv_vm *vm = heap.resize(heap.context, NULL, 0, sizeof *vm);
    if (!vm) return NULL;
    memset(vm, 0, sizeof *vm);
    vm->heap = heap;
    vm->heap.used = sizeof *vm;
    vm->error = vm->modules = vm->helpers = vm->main = vm->sys.arguments = vm->memory_error =
        vm->keywords = DV_EMPTY;
    vm->struct_formats = vm->at_exit = vm->sys.module = vm->sys.warn_options = vm->sys.x_options =
        DV_EMPTY;
    vm->extensions.number_attributes = DV_EMPTY;
    vm->handled = DV_NONE;
    fill_known_with_empty(&vm->known);
    configure(vm, config);
    dv_collector_init(vm);
    if (!reserve_stack(vm, config->memory_limit) || !make_shape_table(vm)) {
        dv_vm_free(vm);
        return NULL;
    }
    return vm;
}

void dv_vm_free(dv_vm *vm) {
    if (vm->stack) munmap(vm->stack, vm->stack_size * sizeof(dv_value));
    dv_heap heap = vm->heap;
    dv_heap_destroy(&heap);
    heap.resize(heap.context, vm, sizeof *vm, 0);
}

/* A Feistel network of four rounds on the upper 44 of 48 bits: whatever a round computes of one
 * half, the whole can be undone, so that it is a bijection. */
static uint64_t permuted(uint64_t key, uint64_t number) {
    enum { HALF = 22 };
    const uint64_t mask = ((uint64_t)1 << HALF) - 1;
    uint64_t left = number >> HALF & mask, right = number & mask;
    for (uint64_t round = 1; round <= 4; round++) {
        uint64_t mixed = (right + round) * 0x9E3779B97F4A7C15u ^ key;
        mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ mixed >> 32) * (key | 1);
        const uint64_t next = left ^ mixed >> (64 - HALF);
        left = right;
        right = next;
    }
    return left << HALF | right;
}

unsigned long long dv_identity_of(const dv_vm *vm, uintptr_t address) {
    if (!vm->address_key) return address;
    uint64_t number = (uint64_t)address >> 4;
    /* Addresses have 47 bits, and so have what stands for them: each is an int like others. */
    do number = permuted(vm->address_key, number);
    while (number >> 43);
    return number << 4 | ((uint64_t)address & 15);
}

unsigned long long dv_identity(const dv_vm *vm, dv_value v) {
    if (dv_is_plain_instance(v)) ((dv_instance *)dv_as_object(v))->ending |= DV_ENDING_TOLD;
    return dv_identity_of(vm, (uintptr_t)(v.bits & DV_PAYLOAD));
}

void dv_notes_add(dv_notes *notes, const char *why, uint64_t count) {
    int i = 0;
    while (i < DV_MOST_NOTES && notes->all[i].why && notes->all[i].why != why &&
           strcmp(notes->all[i].why, why))
        i++;
    if (i == DV_MOST_NOTES) i--, why = "other reasons";
    notes->all[i].why = why;
    notes->all[i].count += count;
}
