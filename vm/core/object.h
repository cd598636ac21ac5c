/* object.h: the header that every heap object starts with, type numbers, and the table of C
 * functions that a built-in type consists of.
 *
 * Invariants
 *  1. `shape` is below DV_T_COUNT for an object of a built-in type, and is then its type number;
 * other numbers are hidden classes of instances (core/shape.h): layout and class in one number, so
 * that one load and one compare guard both.  An instance of a dl class that derives from a
 * built-in type is laid out as that type's objects are, and has the type's number in the bits from
 * DV_LAYOUT_SHIFT on; they are 0 for instances of other dl classes.
 *  2. A dv_type is constant C data shared by all VMs; what a VM adds (its class object) is in the
 * VM.  Those of extensions belong to one VM, which has made their numbers (DV_T_EXTENSION on).
 *  3. An object dies when its count becomes 0, at once; its `release` frees what it refers to
 * through dv_release, which queues deep structures instead of recursing (core/release.c). */
#ifndef DV_CORE_OBJECT_H
#define DV_CORE_OBJECT_H

#include <stddef.h>
#include "core/value.h"

/* Type numbers.  The first few are of values that are no objects. */
typedef enum dv_type_id {
    DV_T_NONE,
    DV_T_BOOL,
    DV_T_ELLIPSIS,
    DV_T_NOTIMPLEMENTED,
    DV_T_FLOAT,
    DV_T_INT, /* immediate, or a heap object beyond 48 bits */
    DV_T_STR,
    DV_T_TUPLE,
    DV_T_LIST,
    DV_T_DICT,
    DV_T_RANGE,
    DV_T_SLICE,
    DV_T_CODE,      /* a threaded code object (run/thread.h) */
    DV_T_FUNCTION,  /* dl function */
    DV_T_CFUNCTION, /* C function, or method of a built-in type */
    DV_T_METHOD,    /* bound method */
    DV_T_CELL,      /* variable that functions share (types/callable/variable.h) */
    DV_T_CLASS,
    DV_T_OBJECT, /* instance of exactly `object` */
    DV_T_MODULE,
    DV_T_EXCEPTION, /* instances of all exception classes */
    DV_T_TRACEBACK, /* types/exception/traceback.h */
    DV_T_FRAME,
    DV_T_ITERATOR, /* list, tuple, str, ... by index (types/sequence/iterator.h) */
    DV_T_RANGE_ITERATOR,
    DV_T_DICT_ITERATOR,
    DV_T_DICT_VIEW, /* keys, values, items */
    DV_T_ENUMERATE,
    DV_T_ZIP, /* builtins/iterators.c */
    DV_T_MAP,
    DV_T_FILTER,
    DV_T_REVERSED,
    DV_T_CALL_ITERATOR, /* iter(callable, sentinel) */
    DV_T_STREAM,        /* text files and sys.stdout, sys.stderr, sys.stdin (types/file/file.h) */
    DV_T_SET,
    DV_T_FROZENSET,
    DV_T_SET_ITERATOR,
    DV_T_BYTES,
    DV_T_BYTEARRAY,
    DV_T_MEMORYVIEW,
    DV_T_COMPLEX,
    DV_T_ARRAY, /* array.array (types/binary/array.c); its class is made with the module array */
    DV_T_HEAPQ_MERGE, /* modules/data/heapq_select.c */
    DV_T_RANDOM,      /* modules/numeric/random.c */
    /* Types of modules, whose classes are made when their module is imported. */
    DV_T_COUNTER, /* modules/data/itertools.c: itertools.count, ... */
    DV_T_CYCLE,
    DV_T_REPEAT,
    DV_T_ACCUMULATE,
    DV_T_CHAIN,
    DV_T_COMPRESS,
    DV_T_DROPWHILE,
    DV_T_FILTERFALSE,
    DV_T_ISLICE,
    DV_T_PAIRWISE,
    DV_T_STARMAP,
    DV_T_TAKEWHILE,
    DV_T_GROUPBY, /* modules/data/itertools_group.c */
    DV_T_GROUPER,
    DV_T_TEE,
    DV_T_TEE_BLOCK,
    DV_T_PRODUCT, /* modules/data/itertools_combine.c */
    DV_T_PERMUTATIONS,
    DV_T_COMBINATIONS,
    DV_T_COMBINATIONS_REPEATING,
    DV_T_ZIP_LONGEST,
    DV_T_ATTRGETTER, /* modules/data/operator_getter.c */
    DV_T_ITEMGETTER,
    DV_T_METHODCALLER,
    DV_T_PARTIAL, /* modules/data/functools.c */
    DV_T_KEY_WRAPPER,
    DV_T_CACHE, /* modules/data/functools_cache.c */
    DV_T_CACHE_LINK,
    DV_T_WEAK, /* modules/data/weakref.c: references, and proxies */
    DV_T_WEAK_PROXY,
    DV_T_WEAK_CALLABLE_PROXY,
    DV_T_DEQUE, /* modules/data/collections_deque.c */
    DV_T_DEQUE_ITERATOR,
    DV_T_DEQUE_REVERSED,
    DV_T_STRUCT, /* modules/format/struct.c */
    DV_T_STRUCT_ITERATOR,
    DV_T_PATTERN, /* modules/regex */
    DV_T_MATCH,
    DV_T_REGEX_SCANNER,
    DV_T_BUFFERED_READER, /* binary files: types/file/file_binary.c */
    DV_T_BUFFERED_WRITER,
    DV_T_BUFFERED_RANDOM,
    DV_T_FILE_IO,
    DV_T_STRING_IO, /* modules/system/io_memory.c */
    DV_T_BYTES_IO,
    DV_T_BYTES_IO_LOAN,
    DV_T_PROPERTY, /* types/class/descriptor.h */
    DV_T_STATICMETHOD,
    DV_T_CLASSMETHOD,
    DV_T_SUPER,
    DV_T_MEMBER,        /* of __slots__: types/class/slots.h */
    DV_T_TUPLE_GETTER,  /* of named tuples: types/sequence/tuple_getter.h */
    DV_T_MAPPING_PROXY, /* read-only view of a dict: types/mapping/mapping_proxy.h */
    DV_T_GENERATOR,     /* types/callable/generator.h */
    DV_T_LONG_RANGE,    /* range beyond int64, and its iterator (types/number/range_long.c) */
    DV_T_LONG_RANGE_ITERATOR,
    /* Faces: classes as whose instances objects of one shape show themselves (dv_type.face). */
    DV_T_LIST_ITERATOR,
    DV_T_TUPLE_ITERATOR,
    DV_T_STR_ITERATOR,
    DV_T_STR_ASCII_ITERATOR,
    DV_T_BYTES_ITERATOR,
    DV_T_BYTEARRAY_ITERATOR,
    DV_T_MEMORY_ITERATOR,
    DV_T_ARRAY_ITERATOR,
    DV_T_DICT_KEYS, /* in the order of dv_dict_part */
    DV_T_DICT_VALUES,
    DV_T_DICT_ITEMS,
    DV_T_DICT_KEY_ITERATOR,
    DV_T_DICT_VALUE_ITERATOR,
    DV_T_DICT_ITEM_ITERATOR,
    DV_T_DICT_REVERSE_KEY_ITERATOR,
    DV_T_DICT_REVERSE_VALUE_ITERATOR,
    DV_T_DICT_REVERSE_ITEM_ITERATOR,
    DV_T_LIST_REVERSE_ITERATOR,
    DV_T_WRAPPER_DESCRIPTOR, /* of DV_T_CFUNCTION: in the order of dv_cfunction_faces */
    DV_T_METHOD_WRAPPER,
    DV_T_METHOD_DESCRIPTOR,
    DV_T_GETSET_DESCRIPTOR,
    /* Numbers that a VM gives to the types of its extensions (plugin/type.h), as they come. */
    DV_T_EXTENSION,
    DV_T_COUNT = DV_T_EXTENSION + 64
} dv_type_id;
_Static_assert(DV_T_COUNT <= 256, "type numbers fit into the layout of a shape");

typedef struct dv_class dv_class;
struct dv_assumption;
struct dv_cfunction_def;
struct dv_type;

struct dv_object {
    uint32_t references;
    uint32_t shape;
};

/* What a str begins with (types/text/str.h): the core asks names for their hashes. */
typedef struct dv_hashed {
    dv_object header;
    int64_t hash; /* -1: not computed; those of interned strs are */
} dv_hashed;

typedef enum dv_binary_op {
    DV_BINARY_ADD,
    DV_BINARY_SUB,
    DV_BINARY_MUL,
    DV_BINARY_TRUEDIV,
    DV_BINARY_FLOORDIV,
    DV_BINARY_MOD,
    DV_BINARY_POW,
    DV_BINARY_MATMUL,
    DV_BINARY_LSHIFT,
    DV_BINARY_RSHIFT,
    DV_BINARY_AND,
    DV_BINARY_OR,
    DV_BINARY_XOR,
    DV_BINARY_DIVMOD /* has no instruction, and is never in place */
} dv_binary_op;

typedef enum dv_unary_op { DV_UNARY_NEG, DV_UNARY_POS, DV_UNARY_INVERT } dv_unary_op;

typedef enum dv_compare_op { DV_LT, DV_LE, DV_GT, DV_GE, DV_EQ, DV_NE } dv_compare_op;

/* a op b; an order that is known (-1, 0, 1) is compared with 0. */
static inline bool dv_int64s_compare(dv_compare_op op, int64_t a, int64_t b) {
    switch (op) {
    case DV_LT: return a < b;
    case DV_LE: return a <= b;
    case DV_GT: return a > b;
    case DV_GE: return a >= b;
    case DV_EQ: return a == b;
    default: return a != b;
    }
}

static inline bool dv_doubles_compare(dv_compare_op op, double a, double b) {
    switch (op) {
    case DV_LT: return a < b;
    case DV_LE: return a <= b;
    case DV_GT: return a > b;
    case DV_GE: return a >= b;
    case DV_EQ: return a == b;
    default: return a != b;
    }
}

/* C functions that dl code calls.  `args` are borrowed; the result is new, or DV_EMPTY with
 * vm->error. With keywords: the last values of args are theirs, `keywords` is a tuple of their
 * names (or EMPTY), and `count` includes them. */
typedef dv_value (*dv_cfunction_entry)(dv_vm *vm, const dv_value *args, uint32_t count);
typedef dv_value (*dv_cfunction_keyword_entry)(dv_vm *vm, const dv_value *args, uint32_t count,
                                               dv_value keywords);

/* What a special method of a built-in type does with the type's own slot (types/class/wrapper.h).
 */
typedef dv_value (*dv_slot_entry)(dv_vm *vm, const struct dv_cfunction_def *def,
                                  const struct dv_type *type, const dv_value *args, uint32_t count);

/* A function that needs to know which one it is: those of extensions. */
typedef dv_value (*dv_foreign_entry)(dv_vm *vm, const struct dv_cfunction_def *def,
                                     const dv_value *args, uint32_t count, dv_value keywords);

typedef enum dv_inlined {
    DV_INLINED_NOT,
    DV_INLINED_LEN,
    DV_INLINED_APPEND,
    DV_INLINED_MIN,
    DV_INLINED_MAX,
    DV_INLINED_ISINSTANCE,
    DV_INLINED_ORD,
    DV_INLINED_CHR,
    DV_INLINED_GET, /* of a dict */
    DV_INLINED_ADD, /* to a set */
    DV_INLINED_SUM, /* these of what a generator yields (run/consume.h) */
    DV_INLINED_ALL,
    DV_INLINED_ANY,
    DV_INLINED_FRAME, /* it may read the locals of its caller: regions are left in front of it */
    DV_INLINED_SORTED,
    DV_INLINED_JOIN
} dv_inlined;

/* A C function, or a method of a built-in type (args[0] is self and is counted in min and max). The
 * caller checks the count, so that entries need not; `max` UINT32_MAX: any number. */
typedef struct dv_cfunction_def {
    const char *name;
    dv_cfunction_entry entry; /* three of the four are NULL */
    dv_cfunction_keyword_entry keyword_entry;
    dv_slot_entry slot_entry;
    uint32_t operation; /* for slot_entry: which dv_binary_op, dv_unary_op or dv_compare_op */
    uint32_t min, max;
    uint32_t flags;
    const struct dv_raw
        *raw; /* signatures for regions (core/raw.h), ended by one without a text; or NULL */
    /* What sites of calls do themselves instead of calling entry. */
    dv_inlined inlined;
    dv_foreign_entry foreign_entry;
    const struct dv_declared *raises; /* what it says that it raises (core/upcall.h), or NULL */
} dv_cfunction_def;

enum {
    DV_CFUNCTION_STATIC = 1,
    DV_CFUNCTION_CLASS = 2,
    DV_CFUNCTION_WRAPPER = 4, /* shows itself as a slot wrapper, as in CPython */
    DV_CFUNCTION_GETTER = 8,  /* no function: an attribute that the type's get_attribute knows */
    DV_CFUNCTION_FIELD = 16,  /* a getter that shows itself as a member of a struct */
    DV_CFUNCTION_NEW = 32,    /* __new__ of a built-in type: takes the class of the instance */
    DV_CFUNCTION_NAMED = 64,  /* its foreign_entry takes keywords */
    DV_CFUNCTION_FIELDS = 128 /* __new__ of a named tuple: item 1 of what it is bound to is the
                               * tuple of the fields' names */
};

/* What traversing an object does with each value that it holds a reference to. */
typedef void (*dv_visit)(dv_vm *vm, dv_value value, void *context);

typedef struct dv_type {
    const char *name;
    dv_type_id id;
    /* NULL, or the type as whose instance an object shows itself to programs, where CPython has
     * several types for what is one here. */
    dv_type_id (*face)(dv_value self);
    /* Of containers (made by dv_container_new): visits each counted reference exactly once, changes
     * nothing.  NULL: what the objects refer to is invisible to the cycle collector and stays. */
    void (*traverse)(dv_vm *vm, dv_object *object, dv_visit visit, void *context);
    /* Drops references such that no cycle is left; NULL where each cycle has another object that
     * can.  The object is unreachable, and stays valid. */
    void (*clear)(dv_vm *vm, dv_object *object);
    void (*release)(dv_vm *vm, dv_object *object); /* releases what it holds and frees the object */
    dv_value (*repr)(dv_vm *vm, dv_value self);
    dv_value (*str)(dv_vm *vm, dv_value self);             /* NULL: repr */
    bool (*hash)(dv_vm *vm, dv_value self, int64_t *hash); /* NULL: by address */
    /* True, False, NotImplemented or EMPTY.  NULL: identity for EQ and NE, else NotImplemented. */
    dv_value (*compare)(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b);
    /* NotImplemented where a or b (one of them is of this type) do not fit. */
    dv_value (*binary)(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b);
    dv_value (*inplace)(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b); /* NULL: binary */
    dv_value (*unary)(dv_vm *vm, dv_unary_op op, dv_value a);
    int64_t (*length)(dv_vm *vm, dv_value self); /* -1: failed */
    bool (*truth)(dv_value self);                /* NULL: length != 0, else true; cannot fail */
    int (*decide)(dv_vm *vm, dv_value self);     /* truth that can: 1, 0, -1; NULL: there is none */
    dv_value (*get_item)(dv_vm *vm, dv_value self, dv_value key);
    bool (*set_item)(dv_vm *vm, dv_value self, dv_value key, dv_value value); /* EMPTY deletes */
    int (*contains)(dv_vm *vm, dv_value self, dv_value item);                 /* -1: failed */
    dv_value (*iterate)(dv_vm *vm, dv_value self);
    dv_value (*next)(dv_vm *vm, dv_value self); /* EMPTY without vm->error: exhausted */
    /* next() of an iterator whose items may be pairs that it makes for the purpose: puts what would
     * be in the pair into out, new.  1: done; 0: as `next` with EMPTY; -1: its items are not that,
     * and nothing has happened. */
    int (*next_pair)(dv_vm *vm, dv_value self, dv_value *out);
    /* Regions: signatures of an object that is called (core/raw.h); an attribute that stays what it
     * is until *until is broken (NULL: for good; new; EMPTY: none, and nothing was raised). */
    const struct dv_raw *(*raw)(dv_vm *vm, dv_value self);
    dv_value (*lasting_attribute)(dv_vm *vm, dv_value self, dv_value name,
                                  struct dv_assumption **until);
    dv_value (*get_attribute)(dv_vm *vm, dv_value self,
                              dv_value name); /* NULL: methods of the class only */
    bool (*set_attribute)(dv_vm *vm, dv_value self, dv_value name,
                          dv_value value); /* EMPTY deletes */
    dv_value (*call)(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                     dv_value keywords);
    /* format(self, spec); NULL: str(self) when spec is empty, else TypeError */
    dv_value (*format)(dv_vm *vm, dv_value self, dv_value spec);
    /* The class called as a constructor, without the class itself in args; NULL: cannot create
     * instances */
    dv_cfunction_keyword_entry construct;
    const struct dv_declared *raises; /* what that says that it raises (core/upcall.h), or NULL */
    /* A new instance of a dl class that derives from this type, with the contents of a value of
     * exactly this type; NULL: the type is not an acceptable base. */
    dv_value (*adopt)(dv_vm *vm, dv_class *class_, dv_value exact);
    /* In place of both, where one function serves several types: a new instance of the type's class
     * or of one that derives from it, for `initialise` to fill. */
    dv_value (*make)(dv_vm *vm, dv_class *class_);
    /* __init__ of a mutable type: its instances are made empty.  NULL: construct has done all. */
    bool (*initialise)(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                       dv_value keywords);
    bool filled_by_new; /* with `make`: `initialise` is called by __new__, and __init__ is empty */
    const dv_cfunction_def *methods; /* up to an entry without a name */
    /* Keywords are for the __init__ of a dl class (or its __new__, if the type has `initialise`);
     * where it has none, they are refused. */
    bool ignores_keywords;
    bool weakly; /* its objects can have weak references (core/weak.h) */
    /* Of an extension's type: which operators `binary`, `inplace` and `unary` know, as bits. */
    uint16_t binary_operators, inplace_operators, unary_operators;
    /* Of an extension's type with a typed buffer (types/binary/buffer.h): where that is in its
     * objects, and the most axes that it may have; 0: there is none. */
    uint32_t buffer, buffer_axes;
    uint32_t items; /* `buffer` again, if its elements are what subscripts give; or 0 */
    bool num_items; /* where they are not, items are objects like numbers (DVX_NUMBER_ITEMS) */
} dv_type;

static inline bool dv_is_shape(dv_value v, uint32_t shape) {
    return dv_is_object(v) && dv_as_object(v)->shape == shape;
}

#define DV_LAYOUT_SHIFT 24

static inline bool dv_is_extension_type(uint32_t type) {
    return type >= DV_T_EXTENSION && type < DV_T_COUNT;
}

/* Is v an object of exactly a type of an extension? */
static inline bool dv_is_foreign(dv_value v) {
    return dv_is_object(v) && dv_is_extension_type(dv_as_object(v)->shape);
}

/* Is v of this built-in type, or of a dl class that derives from it? */
static inline bool dv_has_layout(dv_value v, uint32_t type) {
    if (!dv_is_object(v)) return false;
    uint32_t shape = dv_as_object(v)->shape;
    return shape == type || shape >> DV_LAYOUT_SHIFT == type;
}

/* The end of an object that something refers to which may be ending, too: of what release functions
 * let go of.  (Handlers: dv_object_end in core/vm.h.) */
void dv_object_dispose(dv_vm *vm, dv_object *object);

static inline dv_value dv_retain(dv_value v) {
    if (dv_is_object(v)) dv_as_object(v)->references++;
    return v;
}

/* Lets go of v; true: that was the last reference, and the caller is to dispose of the object. */
static inline bool dv_lets_go(dv_value v) {
    return dv_is_object(v) && --dv_as_object(v)->references == 0;
}

/* Has what v refers to fetched into the cache, to be written.  Objects that lie anywhere are worked
 * off in the time that memory takes for one of them, if each was asked for DV_AHEAD ones before. */
#define DV_AHEAD 8
static inline void dv_prefetch(dv_value v) {
    if (dv_is_object(v)) __builtin_prefetch(dv_as_object(v), 1);
}

static inline void dv_release_object(dv_vm *vm, dv_object *object) {
    if (--object->references == 0) dv_object_dispose(vm, object);
}

static inline void dv_release(dv_vm *vm, dv_value v) {
    if (dv_is_object(v)) dv_release_object(vm, dv_as_object(v));
}

#endif
