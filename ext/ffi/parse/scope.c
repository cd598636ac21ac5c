/* scope.c: declarations by name (scope.h). */
#include "parse/scope.h"

scope *scope_new(dvx_vm *vm) {
    scope *s = ffi_new(vm, sizeof *s);
    if (s) s->references = 1;
    return s;
}

void scope_release(dvx_vm *vm, scope *s) {
    if (!s || --s->references) return;
    for (uint32_t i = 0; i < s->count; i++)
        vm->api->deallocate(vm, s->declarations[i].name, s->declarations[i].size + 1);
    vm->api->deallocate(vm, s->declarations, s->capacity * sizeof *s->declarations);
    vm->api->deallocate(vm, s->table, s->table_size * sizeof *s->table);
    vm->api->deallocate(vm, s, sizeof *s);
}

static uint32_t hash_name(declaration_kind kind, const char *name, size_t size) {
    uint32_t hash = 2166136261u ^ (uint32_t)kind;
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash ^ hash >> 15;
}

declaration *scope_find(const scope *s, declaration_kind kind, const char *name, size_t size) {
    if (!s->table_size) return NULL;
    uint32_t mask = s->table_size - 1;
    for (uint32_t at = hash_name(kind, name, size) & mask; s->table[at]; at = (at + 1) & mask) {
        declaration *d = &s->declarations[s->table[at] - 1];
        if (d->kind == kind && d->size == size && memcmp(d->name, name, size) == 0) return d;
    }
    return NULL;
}

static void enter(scope *s, uint32_t index) {
    const declaration *d = &s->declarations[index];
    uint32_t mask = s->table_size - 1, at = hash_name(d->kind, d->name, d->size) & mask;
    while (s->table[at]) at = (at + 1) & mask;
    s->table[at] = index + 1;
}

/* At most half of the table is used. */
static bool reserve(dvx_vm *vm, scope *s) {
    if (s->count * 2 < s->table_size) return true;
    uint32_t size = s->table_size ? s->table_size * 2 : 64;
    uint32_t *table = ffi_new(vm, size * sizeof *table);
    if (!table) return false;
    vm->api->deallocate(vm, s->table, s->table_size * sizeof *table);
    s->table = table;
    s->table_size = size;
    for (uint32_t i = 0; i < s->count; i++) enter(s, i);
    return true;
}

declaration *scope_add(dvx_vm *vm, scope *s, declaration_kind kind, const char *name, size_t size,
                       ctype *type) {
    if (!reserve(vm, s) ||
        !ffi_grow(vm, (void **)&s->declarations, s->count, &s->capacity, sizeof *s->declarations))
        return NULL;
    char *copy = vm->api->allocate(vm, size + 1);
    if (!copy) return NULL;
    memcpy(copy, name, size);
    copy[size] = 0;
    s->declarations[s->count] = (declaration){kind, copy, size, type, 0};
    enter(s, s->count);
    return &s->declarations[s->count++];
}

void scope_cut(dvx_vm *vm, scope *s, uint32_t count) {
    while (s->count > count) {
        const declaration *last = &s->declarations[--s->count];
        vm->api->deallocate(vm, last->name, last->size + 1);
    }
    if (!s->table_size) return;
    memset(s->table, 0, s->table_size * sizeof *s->table);
    for (uint32_t i = 0; i < s->count; i++) enter(s, i);
}
