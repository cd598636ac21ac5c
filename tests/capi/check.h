/* check.h: what the C tests of dynvm.h share: a check that says where it failed, and a VM whose
 * output is collected. */
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

#endif
