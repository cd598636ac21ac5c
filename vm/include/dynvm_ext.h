/* dynvm_ext.h: what extensions of dynvm are written against.
 *
 * An extension is a shared object NAME.so with one exported descriptor, made by DVX_EXTENSION.
 * `import NAME` loads it, makes a module, and calls the descriptor's `init`.  Everything else goes
 * through the table `vm->api`; an extension links nothing of the VM.  ext/README.md is the guide,
 * ext/template/ an extension to copy.
 *
 * Rules
 *  1. Arguments are borrowed, results are new: whoever receives a result releases it or hands it
 * on.
 *  2. A function that makes a value returns DVX_FAILED when it failed, the others false; the error
 *     has then been raised, and the caller returns failure in turn.  What a function raises is said
 *     at its place; each that makes an object can raise MemoryError.
 *  3. A vm is used by the thread that runs it; values belong to one vm.
 *  4. Text is UTF-8.  Pointers in descriptors stay valid for as long as the extension is loaded.
 *  5. The table, the structs and the enumerations grow at their ends only.  A change of anything
 *     else is a new DVX_ABI_MAJOR; VM and extension must agree on it, and the VM's DVX_ABI_MINOR
 *     must not be smaller than the extension's.  Structs are made with designated initialisers (in
 *     C11, or in C++20, where they stand in the order of the declaration).
 *  6. DVX_FAILED as an argument is an error (SystemError) wherever it is not said to mean
 *     something, and passes a pending error on: the results of calls can be used unchecked as long
 *     as the last one is checked.
 *  7. While an error is pending, an extension calls nothing but release, fetch_error, clear_error
 *     and error_matches.
 *
 * With DVX_NATIVE defined as <plugin/native.h> before this header is included, an extension may
 * also bring *native handlers* (second half of that header): instructions of its own, compiled
 * against the layout of one build of the VM and ignored by every other. */
#ifndef DYNVM_EXT_H
#define DYNVM_EXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is left out of a designated initialiser is zero (rule 5): that is meant, but compilers warn
 * of it in C++. */
#if defined __cplusplus && defined __GNUC__
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif

#define DVX_ABI_MAJOR 1
#define DVX_ABI_MINOR 3

/* This line of the source, as "file:line": of a derivative, for `dynvm dis --where`. */
#define DVX_HERE                  DVX_HERE_OF(__FILE__, __LINE__)
#define DVX_HERE_OF(file, line)   DVX_HERE_TEXT(file, line)
#define DVX_HERE_TEXT(file, line) file ":" #line

#ifdef DVX_NATIVE
#include DVX_NATIVE
#else
#define DVX_FINGERPRINT 0
/* Any dl value.  Only `api` knows what the bits mean. */
typedef struct dvx_value {
    uint64_t bits;
} dvx_value;
/* The virtual machine; what follows these members is its own, and so is the second (dvx_work). */
typedef struct dvx_vm {
    const struct dvx_api *api;
    int64_t work_left;
} dvx_vm;
typedef void (*dvx_handler)(void);
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a function that failed; not a value.  (Its bits are part of the ABI.) */
#ifdef __cplusplus
#define DVX_FAILED (dvx_value{0xFFFD000000000000u})
#else
#define DVX_FAILED ((dvx_value){0xFFFD000000000000u})
#endif
static inline bool dvx_failed(dvx_value v) { return v.bits == 0xFFFD000000000000u; }

typedef enum dvx_kind {
    DVX_ANY, /* as a result: not known; of a value: none of the others */
    DVX_NONE,
    DVX_BOOL,
    DVX_INT,
    DVX_FLOAT, /* exactly; the others but bool are also of instances of subclasses */
    DVX_STR,
    /* Since 1.1.  A kind that an extension does not know counts as DVX_ANY. */
    DVX_COMPLEX,
    DVX_BYTES,
    DVX_BYTEARRAY,
    DVX_LIST,
    DVX_TUPLE,
    DVX_DICT,
    DVX_SET,
    DVX_FROZENSET,
    DVX_SLICE,
    DVX_CLASS,
    DVX_ELLIPSIS,
    DVX_NOT_IMPLEMENTED
} dvx_kind;

typedef enum dvx_error {
    DVX_TYPE_ERROR,
    DVX_VALUE_ERROR,
    DVX_INDEX_ERROR,
    DVX_KEY_ERROR,
    DVX_ZERO_DIVISION_ERROR,
    DVX_OVERFLOW_ERROR,
    DVX_RUNTIME_ERROR,
    DVX_OS_ERROR,
    /* Since 1.1.  `builtin` finds the others. */
    DVX_ATTRIBUTE_ERROR,
    DVX_NAME_ERROR,
    DVX_LOOKUP_ERROR,
    DVX_ARITHMETIC_ERROR,
    DVX_ASSERTION_ERROR,
    DVX_BUFFER_ERROR,
    DVX_EOF_ERROR,
    DVX_IMPORT_ERROR,
    DVX_MEMORY_ERROR,
    DVX_NOT_IMPLEMENTED_ERROR,
    DVX_STOP_ITERATION,
    DVX_SYSTEM_ERROR,
    DVX_UNICODE_ERROR
} dvx_error;

/* Operators; the order is part of the ABI. */
typedef enum dvx_binary {
    DVX_ADD,
    DVX_SUB,
    DVX_MUL,
    DVX_TRUEDIV,
    DVX_FLOORDIV,
    DVX_MOD,
    DVX_POW,
    DVX_MATMUL,
    DVX_LSHIFT,
    DVX_RSHIFT,
    DVX_AND,
    DVX_OR,
    DVX_XOR,
    DVX_DIVMOD /* never in place */
} dvx_binary;
typedef enum dvx_unary { DVX_NEG, DVX_POS, DVX_INVERT } dvx_unary;
typedef enum dvx_compare { DVX_LT, DVX_LE, DVX_GT, DVX_GE, DVX_EQ, DVX_NE } dvx_compare;

/* ---- Optimisation: call derivatives ---- */

typedef enum dvx_outcome {
    DVX_DONE,       /* *result is new */
    DVX_DEOPTIMISE, /* the operands do not fit after all, and nothing has happened: the instruction
                       is executed in the ordinary way, which counts as a miss of the site */
    DVX_ERROR       /* raised */
} dvx_outcome;

/* What a hot call of one of the extension's functions may become: a faster way to do exactly what
 * the function does, for some kinds of arguments.  A derivative must never give another result or
 * another error than the function, and it must deoptimise before it has any effect. */
typedef struct dvx_derivative {
    size_t size;      /* sizeof(dvx_derivative) */
    const char *name; /* for listings */
    /* May a site that sees these arguments become this derivative?  Must not raise. */
    bool (*guard)(dvx_vm *vm, const dvx_value *args, uint32_t count);
    /* The portable twin: checks its arguments and does the work. */
    dvx_outcome (*run)(dvx_vm *vm, const dvx_value *args, uint32_t count, dvx_value *result);
    dvx_kind result; /* what `run` makes, for the analysis of loops */
    /* The native twin, for calls `f(...)` and `module.f(...)`: NULL, or made by DVX_HANDLERS
     * (plugin/native.h) for exactly `native_count` arguments. */
    dvx_handler native_call, native_call_method;
    uint32_t native_count;
    const char *where; /* since 1.2: where it is defined, for listings: DVX_HERE; or NULL */
} dvx_derivative;

/* ---- Optimisation: calls with raw numbers (since 1.1) ---- */

typedef union dvx_number {
    int64_t i; /* also of a bool */
    double d;
} dvx_number;

/* A C function that loops whose types are known call without boxing: with numbers as C has them. It
 * does what the function that it belongs to does for such arguments. */
typedef struct dvx_raw {
    /* The result and the arguments: "d(dd)".  d double, q int64_t, i int32_t; as result also b bool
     * and v void (None).  Of a method, the first argument is p: void *, the payload of self, and
     * others can be p: those of objects of the same type; what is no such object never gets here.
     * NULL ends a list.  What the VM has no instruction for is called boxed.
     * An int also fits the d of a function with a single signature: it must do what its double
     * does. */
    const char *signature;
    void (*entry)(void); /* a pointer to such a function */
    /* No effects, calls nothing of the VM.  Only a pure one has a `defined`: where that says no for
     * arguments and result, the function is called again with values, and raises.  It is not asked
     * about a finite double. */
    bool pure;
    bool (*defined)(const dvx_number *arguments, dvx_number result);
    /* errno is set to this before each call and kept here behind it; NULL: errno is not looked at.
     */
    int *error_number;
} dvx_raw;

/* ---- Functions and modules ---- */

/* The parameters of a function that takes keyword arguments.  Its entry gets exactly `count`
 * arguments in this order, DVX_FAILED for each that the call does not give. */
typedef struct dvx_parameters {
    size_t size;              /* sizeof(dvx_parameters) */
    const char *const *names; /* those that may be given by position first */
    uint32_t count;           /* at most DVX_MOST_PARAMETERS */
    uint32_t positional;      /* so many may be given by position */
    uint32_t required;        /* the first so many must be given */
} dvx_parameters;
enum { DVX_MOST_PARAMETERS = 32 };

typedef enum dvx_binding { DVX_METHOD, DVX_CLASS_METHOD, DVX_STATIC_METHOD } dvx_binding;

/* A function of a module.  The VM checks the number of arguments. */
typedef struct dvx_function {
    size_t size; /* sizeof(dvx_function) */
    const char *name;
    dvx_value (*entry)(dvx_vm *vm, const dvx_value *args, uint32_t count);
    uint32_t min, max; /* max UINT32_MAX: any number */
    uint32_t derivative_count;
    const dvx_derivative *const *derivatives; /* tried in this order */
    /* Since 1.1.  NULL: positional arguments alone; else min and max count for nothing. */
    const dvx_parameters *parameters;
    /* Of a method in a dvx_type.  args[0] is self, which counts in min, max and count, but is none
     * of the parameters; of a class method it is the class, a static one has none. */
    dvx_binding binding;
    /* Since 1.1.  A list that stays, or NULL: calls with raw numbers. */
    const dvx_raw *raw;
    /* Since 1.3.  Hot calls are shown to `specialise` of its first argument's type, too
     * (dvx_site.method), as those of functions with a method's `entry` are. */
    bool shown;
} dvx_function;

/* ---- Optimisation: sites (since 1.1) ---- */

struct dvx_type;
typedef struct dvx_assumption dvx_assumption;

/* Instructions that a type's `specialise` is asked about, and what their operands are. */
typedef enum dvx_family {
    DVX_SITE_BINARY,    /* a, b */
    DVX_SITE_INPLACE,   /* a, b */
    DVX_SITE_UNARY,     /* a */
    DVX_SITE_COMPARE,   /* a, b */
    DVX_SITE_GET_ITEM,  /* container, key */
    DVX_SITE_SET_ITEM,  /* value, container, key */
    DVX_SITE_ATTRIBUTE, /* object */
    DVX_SITE_CALL,      /* the callee (an object, class, or function: `method`), arguments */
    DVX_SITE_METHOD     /* self, arguments */
} dvx_family;
enum { DVX_MOST_OPERANDS = 20 }; /* of sites and expressions that are asked about */

/* Where an operand comes from, by the flow of values through the code. */
typedef enum dvx_origin {
    DVX_FROM_ELSEWHERE, /* not known, or from several places */
    DVX_FROM_CONSTANT,
    DVX_FROM_LOCAL,
    DVX_FROM_GLOBAL, /* a global or builtin that still is what it was when it was first loaded */
    DVX_FROM_SITE    /* the result of another instruction */
} dvx_origin;

typedef struct dvx_operand {
    dvx_value value;             /* what it is this time */
    const struct dvx_type *type; /* of which it is an object, exactly, if of an extension's */
    dvx_origin origin;
    uint32_t where; /* FROM_LOCAL: its number; else that of the instruction (dvx_site.where) */
    bool temporary; /* the instruction drops it, and where is_unique says so, it dies */
    bool pure;      /* nothing that made it has a side effect */
    /* FROM_SITE: the derivative of an extension that makes it, or NULL. */
    const struct dvx_specialisation *maker;
} dvx_operand;

/* What `specialise` is asked about. */
typedef struct dvx_site {
    size_t size;
    dvx_family family;
    uint32_t operation;                /* dvx_binary (also in place), dvx_unary or dvx_compare */
    dvx_value name;                    /* of the attribute; else DVX_FAILED */
    const struct dvx_function *method; /* METHOD; CALL of a function with its `entry`, or `shown` */
    uint32_t where;                    /* which instruction of its function it is */
    uint32_t times;                    /* how often it has been specialised before */
    uint32_t count;
    const dvx_operand *operands;
    /* CALL, METHOD: the tuple with the names of the last operands, which are keyword arguments;
     * else DVX_FAILED. */
    dvx_value keywords;
} dvx_site;

/* An expression of several sites that all belong to the extension, as `a * s + b`: instructions
 * that follow each other, all sites or loads of constants, locals and globals; tuples and slices of
 * constants count as loads where their site has dropped them.  Other keys that are made of loaded
 * numbers, `a[1:n, i - 1]`, are operands without a value here.  The VM keeps one object for each
 * and sets its parts before `run`, which reads it before it does anything else, and does not retain
 * it.  The last one may be a SET_ITEM, as in `v[1:3] = a * s + b`, or in place, or a METHOD with
 * one argument or none, or the CALL of a function that is one. */
typedef struct dvx_node {
    /* BINARY to ATTRIBUTE, CALL of an object; SET_ITEM, INPLACE, METHOD: the last one */
    dvx_family family;
    uint32_t operation;
    /* Of the ATTRIBUTE; CALL: the callee, always the same; GET_ITEM, SET_ITEM: the key, if it is a
     * constant that the site has dropped; else DVX_FAILED. */
    dvx_value name;
    uint32_t count;    /* of inputs: without what is in `name` */
    int32_t inputs[3]; /* operand i, or the result of node ~i; of SET_ITEM the first two */
    /* What the site is by itself. */
    const struct dvx_specialisation *derivative;
} dvx_node;

typedef struct dvx_expression {
    size_t size;
    uint32_t
        node_count; /* in the order of execution: the last one is the site that was asked about */
    uint32_t operand_count;
    const dvx_node *nodes;
    const dvx_operand *operands; /* from left to right; a value that is gone by now is DVX_FAILED */
    /* SET_ITEM: its key, as an input, where it is in no `name`; a CALL of three arguments: the last
     * of them; else -1. */
    int32_t key;
} dvx_expression;

/* What a site may become: a faster way to do exactly what its instruction does.  The VM looks
 * before each execution whether each operand is of exactly the type that it had when the site was
 * specialised (whether the callee is the same, if it is a class or a method), so that `run` sees no
 * others. */
typedef struct dvx_specialisation {
    size_t size;      /* sizeof(dvx_specialisation) */
    const char *name; /* for listings */
    dvx_family family;
    uint32_t count; /* of operands */
    /* Does the work.  It deoptimises before it has any effect.  SET_ITEM leaves *result alone. */
    dvx_outcome (*run)(dvx_vm *vm, const dvx_value *operands, void *cache, dvx_value *result);

    /* The others may be 0. */
    size_t cache_size; /* of memory that each site with the derivative has, aligned to 16 bytes */
    /* Releases what the cache refers to: when the code of the site goes, or the VM ends. */
    void (*release)(dvx_vm *vm, void *cache);
    /* What must hold beside the types.  Must not raise. */
    bool (*guard)(dvx_vm *vm, const dvx_value *operands, const void *cache);
    uint32_t any; /* bit i: operand i may be of any type: `run` looks itself */
    /* Bit i: operand i, of a type with a `meta`, must have that flag. */
    uint32_t meta;
    /* Facts for the analysis of loops.  The VM holds `run` to its result: DVX_ANY promises nothing.
     */
    dvx_kind result;
    const struct dvx_type *result_type; /* result DVX_ANY: always an object of exactly that type */
    bool fresh;                         /* the result is a new object */
    bool pure;                          /* no side effects, and it does not raise */
    dvx_handler native; /* the native twin, made by DVX_OPERATOR and its like (plugin/native.h) */
    /* CALL: the same for module.f(...); DVX_CALL makes both. */
    dvx_handler native_method;
    bool
        keywords; /* CALL, METHOD: the last operands may be keyword arguments (dvx_site.keywords) */
    /* Since 1.3.  CALL of a function, METHOD: may be a node of an expression, not only the last. */
    bool inner;
    const char *where; /* since 1.2: where it is defined, for listings: DVX_HERE; or NULL */
} dvx_specialisation;

/* ---- Types (since 1.1) ---- */

/* What `traverse` does with each value that a payload holds. */
typedef void (*dvx_visit)(dvx_vm *vm, dvx_value v, void *context);

/* An attribute that a type computes; `set` NULL: it is read-only. */
typedef struct dvx_attribute {
    size_t size; /* sizeof(dvx_attribute) */
    const char *name;
    dvx_value (*get)(dvx_vm *vm, dvx_value self);
    bool (*set)(dvx_vm *vm, dvx_value self, dvx_value value);
} dvx_attribute;

/* ---- Buffers ---- */

/* Elements of a C type, in this order; the order is part of the ABI. */
typedef enum dvx_element {
    DVX_UINT8,
    DVX_INT8,
    DVX_UINT16,
    DVX_INT16,
    DVX_UINT32,
    DVX_INT32,
    DVX_UINT64,
    DVX_INT64,
    DVX_FLOAT32,
    DVX_FLOAT64,
    DVX_TRUTH = 254,     /* bools, a byte each: as the next */
    DVX_NO_ELEMENT = 255 /* of another kind: a buffer of these is not lent (BufferError) */
} dvx_element;

enum { DVX_MOST_AXES = 8 };
/* Added to a buffer's number of dimensions: it is lent, but its elements are not the items. */
#define DVX_OTHER_ITEMS 0x40000000u

typedef struct dvx_axis {
    int64_t count;  /* of indices */
    int64_t stride; /* bytes from one to the next, perhaps negative */
} dvx_axis;

/* Where elements are: that with the indices i, j, ... at data + i * axes[0].stride + j *
 * axes[1].stride + ...
 *
 * In the payload of a type that says so (`buffer`, `buffer_axes`) the VM finds it at a fixed place,
 * and with DVX_BUFFER_ITEMS loops load and store elements there without a call.  So its layout is
 * part of the ABI, and
 *  - it begins at a multiple of 8 bytes, and has as many axes as buffer_axes says;
 *  - it is right at all times: each element that indices below the counts lead to can be read, and
 *    written if read_only is 0; data is aligned as its elements are, and NULL if there are none;
 *  - `exports` is the VM's: while it is not 0, somebody works on the elements, and nothing here may
 *    change, nor the memory go.  A type whose objects can be resized raises BufferError then.
 * Zeros are an empty buffer. */
typedef struct dvx_buffer {
    void *data;
    uint32_t element; /* dvx_element */
    uint32_t dimensions;
    uint32_t read_only; /* 0 or 1 */
    uint32_t exports;
    dvx_axis axes[DVX_MOST_AXES];
} dvx_buffer;

/* A buffer that was got from a value. */
typedef struct dvx_view {
    dvx_buffer buffer; /* of these, `exports` means nothing */
    dvx_value owner;   /* the VM's */
} dvx_view;

#define DVX_BIT(op) (1u << (op))

/* What else holds for the objects of a type, as bits of dvx_type.traits. */
typedef enum dvx_trait {
    /* The elements of their buffer are their items: v[i] where it has one axis, v[i, j] where it
     * has two, and so on, with ints that count from the end where they are negative.  The VM loads
     * and stores them, with the conversions and errors of array.array; get_item and set_item are
     * asked for other keys alone, and length, if it is NULL, is that of the first axis. */
    DVX_BUFFER_ITEMS = 1,
    /* With DVX_BUFFER_ITEMS: get_item and set_item are asked for all keys, and do the same for
     * those ints within bounds whose element a number fits as it is: only hot code leaves them out.
     * An object that has other items says so by DVX_OTHER_ITEMS, or, if its buffer is not lent
     * either, by a number of dimensions that no buffer has. */
    DVX_OWN_ITEMS = 2,
    /* With both: what has DVX_OTHER_ITEMS, and elements, has items that are objects like the
     * numbers in it.  They are true, give int() and float(), and compare with an int that an
     * element holds, as those do; a number that an element holds as it is can be stored; a bool, if
     * it is DVX_TRUTH. Hot code does not make them where nothing else is asked of them. */
    DVX_NUMBER_ITEMS = 4,
    /* Since 1.3.  Objects never change: `initialise` fills them with what __new__ is given, as int
     * does, and their __init__ takes anything and does nothing. */
    DVX_FILLED_BY_NEW = 8
} dvx_trait;

/* A type: objects with a payload, a struct of the extension that lies in the object, aligned to 16
 * bytes.  It is zeroed when the object is made, and must be valid so: release, traverse and all
 * slots may see it before `initialise` has run, or after that has failed.
 *
 * Any slot may be NULL: dl then says what it says of a type without it.  `self` is an object of the
 * type or of a dl class that derives from it, unless something else is said. */
typedef struct dvx_type {
    size_t size;      /* sizeof(dvx_type) */
    const char *name; /* without that of the module */
    const char *doc;  /* or NULL */
    size_t payload;   /* bytes */
    bool base;        /* may dl classes derive from it? */

    /* The constructor: fills a new object, or one that has been filled before (__init__ may be
     * called again).  It gets self and one argument for each parameter.  NULL: dl code cannot make
     * objects, only make_object can. */
    bool (*initialise)(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count);
    const dvx_parameters *parameters; /* of the constructor; NULL: none */

    /* Releases what the payload holds; the object is on its way out.  Nothing else is called. */
    void (*release)(dvx_vm *vm, void *payload);
    /* Visits each value that the payload has a reference to exactly once, and changes nothing.  A
     * type whose objects can be part of cycles has both. */
    void (*traverse)(dvx_vm *vm, void *payload, dvx_visit visit, void *context);
    /* Drops these references; the payload stays valid. */
    void (*clear)(dvx_vm *vm, void *payload);

    dvx_value (*repr)(dvx_vm *vm, dvx_value self);
    dvx_value (*str)(dvx_vm *vm, dvx_value self); /* NULL: repr */
    dvx_value (*format)(dvx_vm *vm, dvx_value self, dvx_value spec);
    /* NULL: by identity; unhashable where there is a compare. */
    bool (*hash)(dvx_vm *vm, dvx_value self, int64_t *out);
    dvx_value (*compare)(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other);
    /* One of a and b is of the type; NotImplemented for operands that it does not know.  Called for
     * the operators among binary_operators, bits of DVX_BIT, and so on. */
    dvx_value (*binary)(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b);
    dvx_value (*inplace)(dvx_vm *vm, dvx_binary op, dvx_value self, dvx_value b);
    dvx_value (*unary)(dvx_vm *vm, dvx_unary op, dvx_value self);
    uint32_t binary_operators, inplace_operators, unary_operators;

    bool (*truth)(const void *payload);            /* NULL: length is not 0, or true */
    int64_t (*length)(dvx_vm *vm, dvx_value self); /* -1: raised */
    dvx_value (*get_item)(dvx_vm *vm, dvx_value self, dvx_value key);
    bool (*set_item)(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value value);
    bool (*delete_item)(dvx_vm *vm, dvx_value self, dvx_value key);
    int (*contains)(dvx_vm *vm, dvx_value self, dvx_value item); /* NULL: by iteration */
    /* NULL: what has a length and get_item (or DVX_BUFFER_ITEMS) is iterated over by get_item with
     * 0, 1, ... until that raises IndexError.  So it is where this returns self, which has no
     * `next`. Hot loops take elements of a buffer themselves. */
    dvx_value (*iterate)(dvx_vm *vm, dvx_value self);
    /* Makes objects iterators, which iterate over themselves.  1: *out is new; 0: that was all;
     * -1: raised. */
    int (*next)(dvx_vm *vm, dvx_value self, dvx_value *out);
    /* Called as callable(...), with one argument for each of call_parameters (NULL: none). */
    dvx_value (*call)(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count);
    const dvx_parameters *call_parameters;

    /* Special methods without a slot (__abs__, __float__, __enter__, ...) are methods. */
    uint32_t method_count;
    const dvx_function *const *methods;
    uint32_t attribute_count;
    const dvx_attribute *const *attributes;
    /* Attributes that are no method and not in the list.  1: *out is new; 0: there is none; -1. */
    int (*find_attribute)(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out);
    /* Likewise; value DVX_FAILED deletes.  1: done; 0: not that one; -1: raised. */
    int (*set_attribute)(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value value);
    /* Objects have a buffer: the place of its dvx_buffer in the payload, and the most axes that it
     * may have, for which there is room; 0: they have none. */
    size_t buffer;
    uint32_t buffer_axes;

    /* `call` gets the arguments as they come, up to DVX_MOST_PARAMETERS, and none by name;
     * call_parameters counts for nothing. */
    bool call_any;
    /* Since 1.1.  The signatures by which calling this object with raw numbers does the same, as a
     * list that stays as long as the object; NULL: none.  It must not raise or run dl code. */
    const dvx_raw *(*raw)(dvx_vm *vm, dvx_value self);
    /* What find_attribute gives for a name, where that stays what it is until *until is broken
     * (NULL: for good); the object keeps it so long.  True: *out is new.  It neither raises nor
     * runs dl code.  Loops take such attributes of an object that they know for constants. */
    bool (*lasting_attribute)(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out,
                              dvx_assumption **until);
    /* Asked about a hot site one of whose operands is exactly of the type: calls api->specialise,
     * and first perhaps api->drop_operand, or api->decline, or nothing.  It neither raises nor runs
     * dl code. */
    void (*specialise)(dvx_vm *vm, dvx_site *site);
    /* Offset of a bool in the payload: a flag kept up to date by whoever changes the object, that
     * stands for all that derivatives need to know of it; read where has_meta. */
    size_t meta;
    bool has_meta;
    /* Since 1.2.  Bits of dvx_trait. */
    uint64_t traits;
    /* Since 1.2.  Truth that can be refused: 1, 0, -1: raised; NULL: by `truth`, or `length`. */
    int (*decide)(dvx_vm *vm, dvx_value self);
} dvx_type;

struct dvx_extension;

struct dvx_api {
    size_t size; /* of this table: a later VM's is longer */

    /* ---- References ---- */
    dvx_value (*retain)(dvx_vm *vm, dvx_value v); /* v, with one more reference */
    void (*release)(dvx_vm *vm, dvx_value v);     /* DVX_FAILED is ignored */

    /* ---- Making values ---- */
    dvx_value (*make_none)(dvx_vm *vm);
    dvx_value (*make_bool)(dvx_vm *vm, bool b);
    dvx_value (*make_int)(dvx_vm *vm, int64_t i);
    dvx_value (*make_float)(dvx_vm *vm, double d);
    dvx_value (*make_str)(dvx_vm *vm, const char *utf8, size_t size); /* ValueError: not UTF-8 */

    /* ---- Reading values ---- */
    dvx_kind (*kind)(dvx_vm *vm, dvx_value v);
    /* An int or bool within 64 bits: TypeError, OverflowError. */
    bool (*read_int)(dvx_vm *vm, dvx_value v, int64_t *out);
    /* A float, int or bool: TypeError, OverflowError. */
    bool (*read_float)(dvx_vm *vm, dvx_value v, double *out);
    /* The text of a str: TypeError.  *size is its length in bytes; it is written to buffer, with a
     * zero byte behind it, if `capacity` is larger than that. */
    bool (*read_str)(dvx_vm *vm, dvx_value v, char *buffer, size_t capacity, size_t *size);
    /* Truth, as `if v` sees it: 1, 0, or -1 if that raised. */
    int (*truth)(dvx_vm *vm, dvx_value v);
    /* a < b, as dl sees it: 1, 0, or -1 if that raised. */
    int (*less)(dvx_vm *vm, dvx_value a, dvx_value b);

    /* ---- Raising ---- */
    dvx_value (*raise)(dvx_vm *vm, dvx_error error, const char *message); /* DVX_FAILED */

    /* ---- Filling a module ---- */
    bool (*add_function)(dvx_vm *vm, dvx_value module, const dvx_function *function);
    bool (*add_constant)(dvx_vm *vm, dvx_value module, const char *name, dvx_value value);

    /* ======== Since 1.1 ======== */

    /* ---- More values ---- */
    dvx_value (*make_uint)(dvx_vm *vm, uint64_t i);
    /* int(text, base): an int of any size.  ValueError. */
    dvx_value (*make_int_text)(dvx_vm *vm, const char *text, size_t size, int base);
    dvx_value (*make_complex)(dvx_vm *vm, double real, double imag);
    dvx_value (*make_bytes)(dvx_vm *vm, const void *data, size_t size);
    dvx_value (*make_tuple)(dvx_vm *vm, const dvx_value *items, size_t count);
    dvx_value (*make_list)(dvx_vm *vm, const dvx_value *items, size_t count);
    dvx_value (*make_set)(dvx_vm *vm, const dvx_value *items, size_t count); /* hashes the items */
    dvx_value (*make_dict)(dvx_vm *vm);
    dvx_value (*make_ellipsis)(dvx_vm *vm);
    /* What operators return for operands that they do not know. */
    dvx_value (*make_not_implemented)(dvx_vm *vm);

    bool (*read_uint)(dvx_vm *vm, dvx_value v, uint64_t *out); /* TypeError, OverflowError */
    /* Like read_int, also for what has __index__. */
    bool (*read_index)(dvx_vm *vm, dvx_value v, int64_t *out);
    /* A complex, or what read_float takes. */
    bool (*read_complex)(dvx_vm *vm, dvx_value v, double *real, double *imag);
    /* A copy of bytes or bytearray, as read_str does it, without a zero byte: written if `capacity`
     * is not smaller than *size. */
    bool (*read_bytes)(dvx_vm *vm, dvx_value v, void *buffer, size_t capacity, size_t *size);
    /* The slice's part of a sequence of this length: first index, step and number of items. */
    bool (*read_slice)(dvx_vm *vm, dvx_value slice, int64_t length, int64_t *start, int64_t *step,
                       int64_t *count);

    /* ---- Attributes and items ---- */
    dvx_value (*get_attribute)(dvx_vm *vm, dvx_value v, const char *name);
    /* 1: *out is new; 0: there is none (*out is DVX_FAILED); -1: raised. */
    int (*find_attribute)(dvx_vm *vm, dvx_value v, const char *name, dvx_value *out);
    bool (*set_attribute)(dvx_vm *vm, dvx_value v, const char *name, dvx_value value);
    bool (*delete_attribute)(dvx_vm *vm, dvx_value v, const char *name);
    int64_t (*length)(dvx_vm *vm, dvx_value v); /* -1: raised */
    dvx_value (*get_item)(dvx_vm *vm, dvx_value v, dvx_value key);
    bool (*set_item)(dvx_vm *vm, dvx_value v, dvx_value key, dvx_value value);
    bool (*delete_item)(dvx_vm *vm, dvx_value v, dvx_value key);
    int (*contains)(dvx_vm *vm, dvx_value v, dvx_value item);   /* 1, 0, -1: raised */
    bool (*append)(dvx_vm *vm, dvx_value list, dvx_value item); /* TypeError: no list */

    /* ---- Calls and iteration ---- */
    dvx_value (*call)(dvx_vm *vm, dvx_value callee, const dvx_value *args, uint32_t count);
    /* The last arguments are named, by a tuple of strs. */
    dvx_value (*call_keywords)(dvx_vm *vm, dvx_value callee, const dvx_value *args, uint32_t count,
                               dvx_value names);
    dvx_value (*call_method)(dvx_vm *vm, dvx_value v, const char *name, const dvx_value *args,
                             uint32_t count);
    dvx_value (*iterate)(dvx_vm *vm, dvx_value v);
    /* 1: *out is new; 0: that was all (*out is DVX_FAILED); -1: raised. */
    int (*next)(dvx_vm *vm, dvx_value iterator, dvx_value *out);

    /* ---- Operators and text ---- */
    dvx_value (*binary)(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b);
    dvx_value (*inplace)(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b);
    dvx_value (*unary)(dvx_vm *vm, dvx_unary op, dvx_value v);
    dvx_value (*compare)(dvx_vm *vm, dvx_compare op, dvx_value a, dvx_value b);
    int (*equal)(dvx_vm *vm, dvx_value a, dvx_value b); /* a is b or a == b: 1, 0, -1: raised */
    bool (*same)(dvx_vm *vm, dvx_value a, dvx_value b); /* a is b */
    bool (*hash)(dvx_vm *vm, dvx_value v, int64_t *out);
    dvx_value (*repr)(dvx_vm *vm, dvx_value v);
    dvx_value (*str)(dvx_vm *vm, dvx_value v);
    dvx_value (*format)(dvx_vm *vm, dvx_value v, const char *spec);

    /* ---- Classes and names ---- */
    dvx_value (*class_of)(dvx_vm *vm, dvx_value v);
    /* As isinstance and issubclass see it: a class or a tuple of classes; 1, 0, -1: raised. */
    int (*is_instance)(dvx_vm *vm, dvx_value v, dvx_value classes);
    int (*is_subclass)(dvx_vm *vm, dvx_value class_, dvx_value classes);
    dvx_value (*import)(dvx_vm *vm, const char *name);  /* a module, by its absolute name */
    dvx_value (*builtin)(dvx_vm *vm, const char *name); /* NameError */

    /* ---- Errors ---- */
    dvx_value (*error_class)(dvx_vm *vm, dvx_error error);
    /* Raises class_(message).  The format knows %s %c %d %i %u %x %X (also with l, ll, z), %p, %%,
     * and of values %V (repr), %S (str) and %T (name of the type). */
    dvx_value (*raise_format)(dvx_vm *vm, dvx_value class_, const char *format, ...);
    dvx_value (*raise_error)(dvx_vm *vm, dvx_value error); /* an exception, or a class */
    /* Is the pending error an instance of the class, or of one of a tuple?  False without one. */
    bool (*error_matches)(dvx_vm *vm, dvx_value classes);
    /* The pending error, which is none any more; DVX_FAILED: there was none. */
    dvx_value (*fetch_error)(dvx_vm *vm);
    void (*clear_error)(dvx_vm *vm);

    /* ---- Memory, time, stack, state ---- */
    /* Memory that counts for the VM's limit; NULL: MemoryError.  `size` is not 0. */
    void *(*allocate)(dvx_vm *vm, size_t size);
    /* As realloc, and new_size is not 0: block NULL, of size 0, allocates.  NULL: MemoryError, and
     * the block is as it was. */
    void *(*resize)(dvx_vm *vm, void *block, size_t old_size, size_t new_size);
    void (*deallocate)(dvx_vm *vm, void *block, size_t size); /* the size that it has; or NULL */
    /* For what waits, now and then: false: interrupted (KeyboardInterrupt).  Loops count (`work`).
     */
    bool (*poll)(dvx_vm *vm);
    /* Around recursion on data in C: false: RecursionError, and no `leave`. */
    bool (*enter)(dvx_vm *vm);
    void (*leave)(dvx_vm *vm);
    /* The extension's state in this VM (DVX_EXTENSION_WITH_STATE): state(vm, &dvx_extension). */
    void *(*state)(dvx_vm *vm, const struct dvx_extension *extension);

    /* ---- Types ---- */
    /* Makes the type's class, an attribute of the module; while it is imported. */
    bool (*add_type)(dvx_vm *vm, dvx_value module, const dvx_type *type);
    dvx_value (*type_class)(dvx_vm *vm, const dvx_type *type);
    /* A new object; *payload is its payload, zeroed. */
    dvx_value (*make_object)(dvx_vm *vm, const dvx_type *type, void **payload);
    /* The payload of an object of the type or of a dl class that derives from it; NULL: v is none
     * (nothing is raised). */
    void *(*payload)(dvx_vm *vm, dvx_value v, const dvx_type *type);
    /* The same, but TypeError. */
    void *(*check_payload)(dvx_vm *vm, dvx_value v, const dvx_type *type);

    /* ---- Buffers ---- */
    /* The elements of bytes, a bytearray, an array.array or an object of a type with a buffer, to
     * work on until buffer_release: its owner lives as long, and does not change their place or
     * number.  TypeError; BufferError: they cannot be written to, and `writable` is true. */
    bool (*buffer_get)(dvx_vm *vm, dvx_value v, bool writable, dvx_view *view);
    void (*buffer_release)(dvx_vm *vm, dvx_view *view); /* once; or a view of zeros */

    /* ---- The host ---- */
    /* May programs call C functions and reach memory as they like (`foreign` of dynvm.h)?  An
     * extension that lets them asks when it is imported. */
    bool (*allows_foreign)(dvx_vm *vm);
    /* Tells sys.unraisablehook of the pending error, where nobody can catch it, and clears it; the
     * message is what is said before the traceback.  Nothing without an error. */
    void (*report_error)(dvx_vm *vm, const char *message);
    /* ---- Optimisation ---- */
    /* The site becomes the derivative.  The result is its cache, zeroed, for the hook to fill (not
     * NULL even if it has no size); NULL: it did not (the reason is on record; nothing is raised).
     * `site` is the one that the running `specialise` was given. */
    void *(*specialise)(dvx_vm *vm, dvx_site *site, const dvx_specialisation *derivative);
    /* Before `specialise`: operand i is no longer needed: `run` sees DVX_FAILED in its place, and
     * if possible it is not even loaded.  False, with the reason on record: it is no constant, nor
     * a tuple or slice of constants that is made directly, no local that nothing stores to in
     * between, and no global or builtin that still has its value, or the code branches in between.
     */
    bool (*drop_operand)(dvx_vm *vm, dvx_site *site, uint32_t i);
    /* Why the hook leaves the site alone, for `explain`: a constant of the extension.  Behind
     * `specialise`: why it does not take the expression that ends in the site. */
    void (*decline)(dvx_vm *vm, dvx_site *site, const char *reason);
    /* An assumption lives as long as the VM.  NULL: MemoryError. */
    dvx_assumption *(*make_assumption)(dvx_vm *vm);
    /* The derivative of the site holds only until the assumption is broken.  Behind `specialise`;
     * false: out of memory, and the site does not become it (nothing is raised). */
    bool (*assume)(dvx_vm *vm, dvx_site *site, dvx_assumption *assumption);
    /* All sites that were specialised under it forget their derivatives; it can be used again. */
    void (*break_assumption)(dvx_vm *vm, dvx_assumption *assumption);
    /* Does nothing but the caller's operand refer to the object?  Of an operand that is
     * `temporary`, `run` may then use the object for its result (retained, like every result). */
    bool (*is_unique)(dvx_vm *vm, dvx_value v);
    /* Since 1.2.  The largest expression that ends in the site; NULL: it is by itself (nothing is
     * raised). */
    const dvx_expression *(*expression)(dvx_vm *vm, dvx_site *site);
    /* Behind `specialise`, which says what the site is by itself: the whole expression becomes the
     * derivative, whose operands are those of the expression and whose family is the site's.  The
     * result is its cache.  Where `run` deoptimises, or operands are of other types, the sites are
     * executed one by one; what one of them would raise it leaves to them.  `assume` then holds for
     * both.  NULL: it did not (nothing is raised). */
    void *(*fuse)(dvx_vm *vm, dvx_site *site, const dvx_specialisation *derivative);

    /* ---- Warnings ---- */
    /* Warns of what the running line of the program does, as PyErr_WarnEx of CPython: filters and
     * functions of the module `warnings` decide whether it is shown, and where.  May run dl code.
     * False: raised. */
    bool (*warn)(dvx_vm *vm, dvx_value class_, const char *message);

    /* ---- Whole expressions ---- */
    /* Behind `expression`, for a hook that does not take all of it: the next smaller one that ends
     * in the site; what the left-out sites make is then among its operands.  `fuse` is about the
     * last one that was shown, which is gone when the next is.  NULL: there is none, and no other
     * any more. */
    const dvx_expression *(*smaller_expression)(dvx_vm *vm, dvx_site *site);
    /* In `run` of what `fuse` has made, whose cache this is: what is raised, or warned of, from now
     * on is so at the place of this node.  For derivatives that cannot leave it to the sites, as
     * they have had an effect. */
    void (*at_node)(dvx_vm *vm, const void *cache, uint32_t node);

    /* ---- What `stats` tells ---- */
    /* In `run` of a site's derivative, whose cache this is: counts why it did not go its fast way
     * this time (it deoptimises, or does something slower); `why` is a constant of the extension.
     */
    void (*note)(dvx_vm *vm, const void *cache, const char *why);

    /* ---- Rows of numbers ---- */
    /* Copies items of a list or tuple (none of a subclass), from `first` on, to `out`, as long as
     * they are of the kind, and at most `count`: DVX_FLOAT, floats and what DVX_INT takes, as
     * doubles; DVX_INT, ints within 64 bits and bools, as int64_t; DVX_BOOL, bools, as bytes;
     * DVX_ANY, all, which are only counted.  How many there were; 0 in other objects.  Runs no dl
     * code. */
    int64_t (*read_row)(dvx_vm *vm, dvx_value sequence, dvx_kind kind, int64_t first, int64_t count,
                        void *out);
    /* A new list of floats, ints, bools or complex numbers: so says the kind; of `count` elements
     * (dvx_element; of bools DVX_UINT8, of complex numbers two DVX_FLOAT64), each `stride` bytes
     * behind the one before. */
    dvx_value (*make_row)(dvx_vm *vm, dvx_kind kind, uint32_t element, const void *data,
                          int64_t stride, size_t count);

    /* ---- Warm-up ---- */
    /* A hint: what the running instruction does takes longer than to quicken a function, some 10
     * us.  So the function's next call, or its loop's next iteration, makes it warm ("warm-up" in
     * vm/quicken/README.md), not only the eighth. */
    void (*heavy)(dvx_vm *vm);

    /* ---- Stops ---- */
    /* Counts work done in C: `units` of 10 ns.  Whatever takes longer than a microsecond counts
     * what it does, and what takes longer than a millisecond does so meanwhile, with its references
     * and data in order: false: interrupted, stopped, a limit or the deadline exceeded.  A call
     * that nothing ends is counted before it is made, all at once: then a deadline that comes
     * sooner, or a limit that is smaller, ends the program instead. */
    bool (*work)(dvx_vm *vm, int64_t units);

    /* ---- Numbers ---- */
    /* Gives numbers of dl (bool, int, float, complex) attributes that their classes do not have:
     * where a lookup has found nothing, find(number, name) is called, and what it returns is the
     * attribute; NotImplemented: there is none.  Of names that begin with two underscores it is
     * asked for one, `__getitem__`, for number[key].  RuntimeError: there is one already. */
    bool (*number_attributes)(dvx_vm *vm, dvx_value find);

    /* ---- What `stats` tells of what happens often ---- */
    /* As `note`, in a VM that counts what it executes; elsewhere nothing happens. */
    void (*count)(dvx_vm *vm, const void *cache, const char *what);

    /* ---- Ints of any size ---- */
    /* The magnitude of an int or bool: |*size| limbs of 64 bits, the least significant first, the
     * last one not 0; *size is negative where the int is.  They are the int's own, as long as that
     * lives, or lie in *word.  NULL: TypeError. */
    const uint64_t *(*int_limbs)(dvx_vm *vm, dvx_value v, uint64_t *word, int64_t *size);
    /* The int with these limbs, |size| of them (the last may be 0); size < 0: it is negative. */
    dvx_value (*make_int_limbs)(dvx_vm *vm, const uint64_t *limbs, int64_t size);
};
typedef struct dvx_api dvx_api;

/* The same as `work`, without a call while there is nothing to look for. */
static inline bool dvx_work(dvx_vm *vm, int64_t units) {
    return (vm->work_left -= units) >= 0 || vm->api->work(vm, 0);
}

/* The descriptor.  Its first three members never change, so that any VM can tell whether it may
 * look at the others. */
struct dvx_extension {
    uint32_t size; /* sizeof(struct dvx_extension) */
    uint16_t abi_major, abi_minor;
    const char *name;
    uint64_t fingerprint; /* of the build that native handlers were compiled against; 0: none */
    bool (*init)(dvx_vm *vm, dvx_value module); /* false: raised */
    /* Since 1.1.  Each VM that imports the extension gives it this much zeroed memory before
     * `init`, and takes it back after `finish` (or NULL), when it ends: no dl code runs any more.
     */
    size_t state_size;
    void (*finish)(dvx_vm *vm, void *state);
};

/* What an extension exports, and all that it exports. */
extern __attribute__((visibility("default"))) const struct dvx_extension dvx_extension;

/* Defines the descriptor of extension `name`, a string that is also the file's name. */
#define DVX_EXTENSION_WITH_STATE(name, init, state_size, finish)              \
    const struct dvx_extension dvx_extension = {sizeof(struct dvx_extension), \
                                                DVX_ABI_MAJOR,                \
                                                DVX_ABI_MINOR,                \
                                                (name),                       \
                                                DVX_FINGERPRINT,              \
                                                (init),                       \
                                                (state_size),                 \
                                                (finish)}
#define DVX_EXTENSION(name, init) DVX_EXTENSION_WITH_STATE(name, init, 0, NULL)

#ifdef __cplusplus
}
#endif
#endif
