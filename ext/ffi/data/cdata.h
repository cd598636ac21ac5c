/* cdata.h: C values as objects of dl.
 *
 * Invariants
 *  1. A primitive cdata holds its bytes itself; of all others `data` is the pointer's value, or
 * where the array, struct or union lies.  cdata_bytes is where the C value's bytes are.
 *  2. Memory that a cdata may use beyond its own life is a block, which counts the cdatas that hold
 *     it: those of ffi.new and ffi.from_buffer and all that were made from them (fields, slices,
 *     sums).
 *  3. `first` and `second` are values exactly in the roles that say so. */
#ifndef FFI_CDATA_H
#define FFI_CDATA_H

#include "ctype/types.h"

#include <stdint.h>

typedef struct cdata_block {
    uint32_t references;
    bool lent;   /* an object of dl has the data, and the block has a dvx_view of it */
    size_t size; /* of data */
    char *data;
    _Alignas(16) char own[]; /* the data, or the view */
} cdata_block;

typedef enum cdata_role {
    CDATA_PLAIN,
    CDATA_OWNING,   /* of ffi.new, or a struct that a function returned */
    CDATA_GC,       /* first: the destructor, second: what it gets */
    CDATA_CALLBACK, /* first: the function, second: onerror or None */
    CDATA_HANDLE,   /* first: the object */
    CDATA_BUFFER,   /* first: whose memory was copied */
    CDATA_LENT      /* first: whose memory it is (lend.h) */
} cdata_role;

typedef struct cdata {
    ctype *type;
    char *data;
    int64_t length; /* of an open array; -1: the type has it */
    cdata_block *block;
    cdata_role role;
    bool ended; /* ffi.release has ended it */
    dvx_value first, second;
    union {
        _Alignas(16) char bytes[16];
        struct callback *callback; /* callback.h */
        struct cdata *chained;     /* the next handle with the same hash (handle.c) */
        struct call_raw *raw; /* PLAIN function pointers: for regions (call.h); NULL: not made */
    };
} cdata;

extern const dvx_type cdata_type;

static inline cdata *cdata_of(dvx_vm *vm, dvx_value v) {
    return vm->api->payload(vm, v, &cdata_type);
}
static inline char *cdata_bytes(cdata *c) {
    return ctype_is_primitive(c->type) ? c->bytes
           : ctype_is_pointer(c->type) ? (char *)&c->data
                                       : c->data;
}
static inline int64_t cdata_length(const cdata *c) {
    return c->type->length >= 0 ? c->type->length : c->length;
}

/* The cdata of a value; TypeError "expected a 'cdata' object" style messages name `what`. */
cdata *cdata_argument(dvx_vm *vm, dvx_value v, const char *what);

/* A zeroed block; NULL: raised. */
cdata_block *cdata_new_block(dvx_vm *vm, size_t size);
static inline cdata_block *cdata_share(cdata_block *block) {
    if (block) block->references++;
    return block;
}
/* One of the view's data, which then belongs to it; NULL: raised. */
cdata_block *cdata_lent_block(dvx_vm *vm, const dvx_view *view, size_t size);
void cdata_drop_block(dvx_vm *vm, cdata_block *block);

/* A new cdata that shares the block (NULL: none). */
dvx_value cdata_make(dvx_vm *vm, ctype *type, char *data, cdata_block *block);
/* ... with access to what was made. */
dvx_value cdata_make_at(dvx_vm *vm, ctype *type, char *data, cdata_block *block, cdata **made);
/* A primitive cdata with a copy of these bytes. */
dvx_value cdata_make_primitive(dvx_vm *vm, ctype *type, const void *bytes);

/* Where item i of an array or pointer is; NULL: raised. */
char *cdata_item(dvx_vm *vm, cdata *c, int64_t i);
/* The bytes that ffi.sizeof sees. */
int64_t cdata_size(const cdata *c);
/* The type of pointers to what an array or pointer points to. */
static inline ctype *cdata_pointer_type(const ctype *type) {
    return type->kind == CTYPE_ARRAY ? type->item->pointer : (ctype *)type;
}

/* Ends what a cdata does at its end: the destructor of ffi.gc is called.  ValueError: there is
 * nothing to end. */
bool cdata_end(dvx_vm *vm, cdata *c);
/* RuntimeError: its memory was that of an object of dl, and ffi.release has given it back. */
bool cdata_check_memory(dvx_vm *vm, const cdata *c);

/* handle.c: the objects behind ffi.new_handle's pointers. */
dvx_value handle_new(dvx_vm *vm, dvx_value object);
dvx_value handle_find(dvx_vm *vm, const cdata *c);
void handle_forget(dvx_vm *vm, cdata *c);

/* Tells sys.unraisablehook of the pending error, with this message; `about` is shown behind it
 * unless it is DVX_FAILED. */
void cdata_unraisable(dvx_vm *vm, const char *message, dvx_value about, const char *after);

bool cdata_setup(dvx_vm *vm, dvx_value module);

#endif
