/* check.h: what the C tests of dynvm.h share: a check that says where it failed, a VM whose
 * output is collected, and memory that fails. */
#ifndef DV_TESTS_CHECK_H
#define DV_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynvm.h>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

typedef struct text {
    char data[65536];
    size_t size;
} text;

static inline int collect(void *context, const char *data, size_t size) {
    text *t = (text *)context;
    if (size > sizeof t->data - 1 - t->size) size = sizeof t->data - 1 - t->size;
    memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = 0;
    return 0;
}

static inline dynvm_vm *create_collecting(text *t) {
    dynvm_config config = DYNVM_CONFIG;
    config.output = collect;
    config.error_output = collect;
    config.output_context = t;
    t->size = 0;
    t->data[0] = 0;
    return dynvm_create(&config);
}

static inline dynvm_status run(dynvm_vm *vm, const char *source) {
    return dynvm_run_text(vm, source, strlen(source), "<test>");
}

/* Memory of a host that counts its blocks, and fails from the n-th allocation on. */
typedef struct blocks {
    uint64_t count, made, fail_from; /* 0: never */
} blocks;

static inline void *counting_resize(void *context, void *block, size_t old_size, size_t new_size) {
    blocks *b = (blocks *)context;
    (void)old_size;
    if (new_size == 0) {
        b->count -= block != NULL;
        free(block);
        return NULL;
    }
    if (b->fail_from && ++b->made >= b->fail_from) return NULL;
    void *result = realloc(block, new_size);
    b->count += result && !block;
    return result;
}

#endif
