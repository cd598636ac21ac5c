/* vm.h: the virtual machine as a value: everything that one VM knows.
 *
 * Invariants
 *  1. There is no other state: no globals, nothing thread-local; two VMs share only constant data.
 *  2. ip, sp and fp here are valid whenever C code runs that may raise or call dl code: handlers
 *     publish them first (PUBLISH in run/engine.h).
 *  3. vm->error is EMPTY unless a function has just reported failure.
 *  4. The stack is reserved address space that is never moved, so pointers to arguments stay valid.
 */
#ifndef DV_CORE_VM_H
#define DV_CORE_VM_H

#include "base/hash.h"
#include "code/code.h"
#include "core/cell.h"
#include "core/collect.h"
#include "core/heap.h"
#include "core/hooks.h"
#include "core/object.h"
#include "core/shape.h"
#include "core/upcall.h"
#include "core/weak.h"

typedef enum dv_level { DV_LEVEL_GENERIC, DV_LEVEL_INCA, DV_LEVEL_NAMA } dv_level;

/* How far the analysis of regions reaches: to objects that are never made, into callees, over
 * loops, or over straight code alone. */
typedef enum dv_nama { DV_NAMA_VIRTUAL, DV_NAMA_INLINE, DV_NAMA_LOOP, DV_NAMA_SEQUENCE } dv_nama;
typedef enum dv_form { DV_FORM_TAIL, DV_FORM_TRAMPOLINE, DV_FORM_MIXED } dv_form;

/* What a cell with the handler of an extension is, for listings. */
typedef struct dv_foreign_form {
    const char *name;
    const char *tier;  /* "native" or "portable"; NULL where there is one way alone */
    uint32_t length;   /* cells; 0: that of the instruction it stands for */
    uint32_t covers;   /* cells of all instructions that it does the work of; 0: its own */
    const char *where; /* file:line of its definition, if the extension says so; or NULL */
    bool load;         /* a load that leaves an operand out, or does not stop in front of its use */
    bool expression;   /* it goes on behind other sites (plugin/expression.h): cannot be copied */
    uint32_t result;   /* dv_result: int, float or bool, which it promises to push; 0: anything */
    const struct dv_cfunction_def *callee; /* the function that it calls as it is; or NULL */
} dv_foreign_form;

/* An expression of several sites that is one instruction (plugin/expression.h), for regions. */
enum { DV_FOREIGN_NODES = 32, DV_FOREIGN_LOCALS = 60 };
typedef struct dv_foreign_expression {
    void *site;                         /* what the hook `run` takes */
    uint32_t below;                     /* so many entries of the operand stack it takes */
    bool stores;                        /* it leaves nothing there, else one */
    uint32_t cells;                     /* of all its instructions */
    uint32_t node_count;                /* its sites, */
    uint16_t nodes[DV_FOREIGN_NODES];   /* in cells behind the first one */
    uint32_t local_count;               /* those that it reads where they are, */
    uint16_t locals[DV_FOREIGN_LOCALS]; /* one perhaps more than once */
} dv_foreign_expression;
/* NOT: nothing has happened, and its instructions are to be executed one by one. */
typedef enum dv_foreign_outcome {
    DV_FOREIGN_DONE,
    DV_FOREIGN_NOT,
    DV_FOREIGN_RAISED
} dv_foreign_outcome;

/* What became of a site that extensions were asked about, for reports. */
enum { DV_MOST_NOTES = 6 };
typedef struct dv_notes {
    struct {
        const char *why; /* NULL: this one and those behind are free */
        uint64_t count;
    } all[DV_MOST_NOTES];
} dv_notes;
/* (Of more reasons than there is room for, the last entry counts them all.) */
void dv_notes_add(dv_notes *notes, const char *why, uint64_t count);
typedef struct dv_foreign_report {
    uint32_t times;      /* how many derivatives it has had */
    const char *fused;   /* the derivative of the expression that ends here */
    const char *unfused; /* ... or why there is none; NULL: it ends no expression */
    dv_notes notes;      /* why derivatives missed, or went a slow way */
    dv_notes counts;     /* what else they tell a VM that counts */
} dv_foreign_report;

/* Those of the numbers of sys.flags, in its order, that mean something to the machine. */
enum {
    DV_FLAG_OPTIMIZE = 3,
    DV_FLAG_DONT_WRITE_BYTECODE = 4,
    DV_FLAG_NO_SITE = 6,
    DV_FLAG_IGNORE_ENVIRONMENT = 7,
    DV_FLAG_VERBOSE = 8,
    DV_FLAG_HASH_RANDOMIZATION = 11,
    DV_FLAG_SAFE_PATH = 16,
    DV_FLAGS = 24 /* with room for more */
};

/* Stress modes (tests/README.md, "Variants"): each makes a rare event common, or
 * leaves out an optimisation that an experiment measures. */
typedef struct dv_stress {
    bool quicken_at_once;
    bool break_assumptions;
    bool no_maps, no_versions; /* sites remember no attributes of objects; of classes */
    uint32_t fail_guard;       /* every n-th guard fails; 0: off */
    uint32_t take_exit;        /* every n-th region entry/back edge exits; 0: off */
    uint64_t guards, exits;    /* left until the next one does; never comes to 0 where it is off */
} dv_stress;

/* What regions take of the memory, and may (region/run/memory.h). */
typedef struct dv_region_use {
    size_t bytes, most; /* of all regions now, and at most so far */
    size_t limit;
    uint32_t count; /* regions that there are */
    uint64_t made, evicted;
} dv_region_use;

/* How a text is compiled: as a typed statement, which prints its value; tracebacks show its lines.
 */
enum dv_compile_how { DV_COMPILE_INTERACTIVE = 1, DV_COMPILE_QUOTED = 2 };

/* 0, or an errno (dynvm.h: dynvm_output). */
typedef int (*dv_output)(void *context, const char *text, size_t size);

/* What the host wants to be asked (dynvm.h has them with comments); NULL: it does not. */
struct dynvm_module;
enum { DV_CLOCK_TIME, DV_CLOCK_MONOTONIC, DV_CLOCK_PROCESS };
typedef struct dv_host_hooks {
    int (*load_module)(void *context, const char *name, struct dynvm_module *module);
    int (*allow_import)(void *context, const char *name);
    void *import_context;
    int (*open_file)(void *context, const char *path, int flags, int *descriptor);
    void *file_context;
    double (*clock)(void *context, int which);
    int (*sleep)(void *context, double seconds);
    void *clock_context;
} dv_host_hooks;

/* A module of the host: its code, with a reference; EMPTY without a file. */
typedef struct dv_host_module {
    dv_unit *unit;
    dv_value file;
    bool package;
} dv_host_module;

#define DV_BINARY_OPS (DV_BINARY_DIVMOD + 1)

/* What the VM executes, counted in units of core/work.h.  INT64_MAX: there is no bound. */
typedef struct dv_workload {
    bool counts_calls;   /* every function begins with dv_count_cell (run/thread.h) */
    bool exceeded;       /* the program has been told to end: what it does now is its grace */
    bool told;           /* ... by the host, which stops its next runs as well */
    uint32_t interrupts; /* KeyboardInterrupts that it has got from the host */
    int64_t interval;    /* vm->countdown was set to one less */
    uint64_t done;       /* before that */
    int64_t rounds;      /* before that; of these ... */
    int64_t unsampled;   /* ... since vm->hooks.region.sampled was called */
    int64_t slice;       /* left until the program is to pause */
    int64_t limit;       /* left until the program is told to end */
    int64_t deadline;    /* the same in ns of the monotonic clock */
    int64_t run_limit, run_time; /* what of both each run gets */
    const char *why;             /* it is to end */
} dv_workload;

/* The program that the host runs bit by bit (run/program.h). */
typedef enum dv_program_state {
    DV_PROGRAM_NONE,
    DV_PROGRAM_BEGUN, /* `function` is to be called */
    DV_PROGRAM_RUNNING,
    DV_PROGRAM_PAUSED
} dv_program_state;
typedef struct dv_program {
    dv_program_state state;
    dv_value function; /* of its module's code; EMPTY once it runs */
    dv_value *base;    /* of its outermost frame */
    /* Paused: the registers, and what else is the program's and not the VM's. */
    const dv_cell *ip;
    dv_value *sp, *fp;
    int64_t depth; /* calls */
    dv_value handled;
    struct dv_generator *generator;
} dv_program;

/* Names and constants that C code looks up often; filled by dv_setup (api/setup.c). */
typedef struct dv_known {
    dv_value empty_str, init, name, doc, annotations, module, qualname, dict, class_, add, len, str,
        repr, eq, call, getitem, setitem, contains, iter, next, bool_, lt, le, gt, ge, ne, hash,
        main;
    dv_value default_factory, del, delattr, delitem, dir, enter, exit, file, format, getattr, index,
        invert, length_hint, missing, neg, obj, pos, reversed, setattr;
    dv_value abs, bytes_, ceil, complex_, float_, floor, int_, trunc;
    dv_value abstractmethods, instancecheck, match_args, prepare, subclasscheck, subclasshook;
    dv_value base, bases, builtins, class_cell, class_getitem, delete_, get, getattribute,
        init_subclass, mro, new_, set, set_name, slots;
    dv_value binary[DV_BINARY_OPS], reflected[DV_BINARY_OPS], inplace[DV_BINARY_OPS];
    dv_value empty_tuple;
    dv_value consumers[DV_CONSUMERS]; /* the builtins (code/code.h) */
} dv_known;

enum { DV_MOST_DIGITS = 4300, DV_LEAST_MOST_DIGITS = 640 }; /* of ints as text, as in CPython */

/* Containers whose repr is being made, innermost first, so that one that contains itself is
 * printed as "[...]". */
struct dv_repr_guard {
    struct dv_repr_guard *next;
    dv_object *object;
};

/* What dv_class_special has found lately, by class and name. */
enum { DV_SPECIAL_BITS = 9 };
typedef struct dv_special {
    const dv_class *class_;
    dv_value name;          /* counted, so that no other string takes its address */
    uint64_t names_changed; /* vm->names_changed of then: what is older counts for nothing */
    dv_global_cell *cell;   /* NULL: there is no such method */
} dv_special;

/* What super objects have found lately behind `start` in the order of a class, by the two and the
 * name.  It holds as long as a dv_found does. */
enum { DV_SUPER_BITS = 6 };
typedef struct dv_super_found {
    const dv_class *class_, *start;
    dv_value name; /* borrowed */
    dv_global_cell *cell;
    uint64_t names_changed;
    bool
        fixed; /* a method of a built-in type that takes instances of the class: it never changes */
} dv_super_found;

/* What the module `sys` shows and sets (modules/system/sys.c). */
typedef struct dv_sys {
    dv_value module;             /* once it is imported; EMPTY before */
    dv_value arguments;          /* list of str: sys.argv */
    dv_value path;               /* list: sys.path, until the program puts another there */
    dv_value warn_options;       /* list of the texts of -W; EMPTY: none */
    dv_value x_options;          /* dict of those of -X; EMPTY: none */
    dv_global_cell *path_cell;   /* sys.path once sys is imported; NULL before */
    dv_global_cell *stdin_cell;  /* sys.stdin, likewise */
    dv_global_cell *stdout_cell; /* sys.stdout, likewise */
    uint8_t flags[DV_FLAGS];     /* sys.flags */
    unsigned closed;             /* bit n: standard stream n is None in sys */
    int64_t most_digits;         /* of an int as text: sys.set_int_max_str_digits; 0: any number */
} dv_sys;

/* Where the host takes what is written, and what is read. */
typedef struct dv_streams {
    dv_output output, error_output; /* size 0: flush */
    dv_output output_bytes;         /* of sys.stdout.buffer; NULL: output */
    dv_output error_bytes;          /* of sys.stderr.buffer; NULL: error_output */
    dv_output extension_output;     /* what watching tables write; NULL: error_output */
    void *output_context;
    /* Reads one line of input with its newline into buffer; 0: end; NULL: no input. */
    size_t (*input)(void *context, char *buffer, size_t size);
    void *input_context;
} dv_streams;

/* Extensions of the VM, and what they may do. */
typedef struct dv_extension_use {
    struct dv_plugins *plugins; /* plugin/plugin.h */
    bool foreign;               /* they may let programs call C functions (plugin/table.c) */
    bool no_native;             /* native handlers are ignored: their portable twins run */
    bool plain;                 /* no site is specialised for them */
    unsigned watch;             /* DV_WATCH_... of plugin/watch.h */
    dv_value
        number_attributes; /* find(number, name) of attributes that their classes lack; EMPTY */
} dv_extension_use;

struct dynvm_vm;

struct dv_vm {
    /* The stable table of extensions, and what C functions may do until they look whether they are
     * to end (core/work.h): the members that extensions know (dvx_vm, include/dynvm_ext.h). */
    const struct dvx_api *api;
    int64_t work_left;
    /* Run-time registers, saved when control leaves tail-form code (run/engine.h). */
    const dv_cell *ip;
    dv_value *sp, *fp;
    int64_t r;
    double d;
    /* Hot limits. */
    int64_t calls_left; /* recursion limit minus depth of dl calls */
    /* The highest address at which a frame may end; lower while something is to be done at the next
     * call (dv_poll_calls).  Written by other threads, too: atomically. */
    dv_value *stack_limit;
    int64_t countdown; /* one counter for safepoints: back edges; below 0 the slow path polls */
    dv_value error;    /* the exception that is being raised, or EMPTY */
    dv_value keywords; /* of a call on its way to a slow path: tuple of names (borrowed) */
    /* The exception that the innermost generator, or all code if none runs, is handling, or None:
     * see dv_handled_exception. */
    dv_value handled;
    struct dv_generator
        *generator; /* the innermost one that runs (types/callable/generator.h), or NULL */
    dv_heap heap;

    dv_shape **shapes; /* by number; entries below DV_T_COUNT are NULL */
    uint32_t shape_count, shape_capacity;
    dv_class *first_class, *last_class; /* all classes (core/mro.h) */
    uint32_t classes_made;
    dv_assumption class_sites;     /* "what sites remember of classes holds" */
    dv_class *classes[DV_T_COUNT]; /* class objects of the built-in types */
    const dv_type *types[DV_T_COUNT];
    dv_known known;
    /* Interned strings: open addressing set of str objects (borrowed: dying strings remove
     * themselves). */
    dv_object **interned;
    uint32_t interned_count, interned_capacity;

    dv_namespace builtins;
    uint64_t names_changed; /* counts what makes `found` invalid (core/shape.h) */
    dv_found found[DV_FOUND_COUNT];
    dv_special specials[1 << DV_SPECIAL_BITS];
    dv_super_found supers[1 << DV_SUPER_BITS];
    dv_value modules;       /* dict: name -> module */
    dv_value helpers;       /* dict: the same for _modules of the library, which it alone imports */
    dv_value main;          /* module __main__ */
    struct dv_regex *regex; /* PCRE2, once _re has been imported (modules/regex) */
    dv_value struct_formats; /* dict: format -> struct.Struct, of the functions of struct */

    /* Release queue (core/release.c): objects whose count is 0, waiting while another is released.
     */
    dv_object *release_queue;
    uint32_t release_depth;
    bool finalisers;        /* some class has, or had, a __del__ */
    uint32_t registrations; /* of classes with abstract ones (types/class/abstract.h), so far */
    dv_collector collector;
    dv_weak_table weak;
    dv_value at_exit; /* called when the program ends, before anything is finalised; or EMPTY */
    dv_value memory_error; /* preallocated */
    struct dv_repr_guard *repr_guard;
    dv_class *error_classes[DV_E_COUNT];

    dv_value *stack;     /* reserved */
    size_t stack_size;   /* values */
    dv_value *stack_end; /* what stack_limit is when nothing has lowered it */
    int64_t recursion_limit;
    char *c_stack_limit;          /* lowest address the C stack may reach (stack grows down) */
    unsigned long c_stack_thread; /* pthread_self() of the thread that it was found for; 0: none */
    size_t c_stack_size;          /* use at most so much of a thread's stack */
    volatile int interrupt;       /* DV_INTERRUPTED, ...: set from other threads, atomically; polled
                                   * at safepoints */
    dv_workload work;
    dv_program program;

    dv_level level;
    dv_nama nama;
    dv_form form;
    /* Regions keep what they know in front of each instruction, to be shown. */
    bool keeps_facts;
    dv_region_use regions;
    /* Through which a region was left last where a guard failed (region/region.h), or NULL. */
    struct dv_exit *failed_exit;
    uint16_t *op_index; /* run/thread.c, dv_op_of */
    dv_stress stress;
    uint64_t module_count;  /* made so far (types/file/module.h, invariant 1) */
    uint64_t thread_count;  /* threaded code objects made so far (run/thread.h) */
    bool sandboxed;         /* the program reaches no files (types/file/host.h) */
    bool evaluates_nothing; /* eval, exec and compile are switched off */
    dv_hash_key hash_key;
    uint64_t address_key; /* of dv_identity; 0: programs may see addresses */

    /* Configured by the embedder. */
    dv_sys sys;
    dv_streams streams;
    dv_extension_use extensions;
    dv_host_hooks asks;
    void *codes; /* list of threaded code objects, for inspection */

    dv_hooks hooks;
    bool (*observer)(void *context, const struct dv_event *event); /* inspect/observe.h */
    void *observer_context;
    bool observer_failed;
    struct dv_profile *profile; /* inspect/profile.h; NULL: nothing is counted */
    struct dynvm_vm *host;      /* what the embedder knows the VM as (api/machine.h) */
    /* Of a region's call that may leave out what it raises: the R_QUIET in front of it. */
    struct {
        const struct dv_declared *declared; /* NULL: nothing may be left out */
        const dv_cell *at;
        bool left_out; /* and this is raised now, instead of an error */
    } quiet;
};

typedef struct dv_vm_config {
    dv_host_resize resize; /* NULL: the C library's */
    void *resize_context;
    size_t memory_limit; /* bytes; SIZE_MAX: none */
    size_t region_limit; /* bytes of them for regions; 0: the default (region/run/memory.h) */
    size_t c_stack_size; /* 0: 8 MB */
    int64_t recursion_limit;
    dv_level level;
    dv_nama nama;
    dv_form form;
    dv_stress stress;
    bool no_native;
    bool plain_extensions;
    dv_output output, error_output; /* NULL: text is dropped */
    dv_output output_bytes;         /* NULL: output */
    dv_output error_bytes;          /* NULL: error_output */
    dv_output extension_output;     /* NULL: error_output */
    void *output_context;
    unsigned watch_extensions;
    uint64_t hash_seed; /* base/hash.h */
} dv_vm_config;

/* The bare machine: heap, stack, limits.  Types, builtins and modules are put in by dv_setup
 * (api/setup.c).  NULL: out of memory. */
dv_vm *dv_vm_new(const dv_vm_config *config);
/* Frees everything that the VM has; no value of it may be used any more. */
void dv_vm_free(dv_vm *vm);

/* Memory for an object of `size` bytes with one reference and the given shape; NULL: MemoryError is
 * raised. */
static inline void *dv_object_new(dv_vm *vm, size_t size, uint32_t shape);
/* The same for objects that may be part of cycles: their types have `traverse`.  Whoever can run dl
 * code while such an object is being made fills it with EMPTY first. */
static inline void *dv_container_new(dv_vm *vm, size_t size, uint32_t shape);
static inline void dv_container_free(dv_vm *vm, void *container, size_t size);

dv_value dv_raise_memory(dv_vm *vm); /* raises MemoryError; returns EMPTY */
/* What other threads want (core/work.h): see dynvm_interrupt and dynvm_stop. */
enum {
    DV_INTERRUPTED = 1,
    DV_STOPPED = 2,
    DV_ENDING = 4,
    DV_EXHAUSTED = 8 /* not wanted by others: the program is over its limits and its grace */
};
/* Raises KeyboardInterrupt if there was an interrupt that the program has not yet got, and
 * RuntimeError if it is to end, again and again while it is stopped: safepoints do, and functions
 * that wait. */
bool dv_poll_interrupt(dv_vm *vm) DV_MUST_CHECK;

/* The number by which a program knows an object, or any address: the address, or in a sandboxed VM
 * one that stands for it.  No two addresses have the same, and it is a multiple of 16, as they are.
 * An instance remembers that it was told.
 */
unsigned long long dv_identity_of(const dv_vm *vm, uintptr_t address);
unsigned long long dv_identity(const dv_vm *vm, dv_value v);

/* No handler of an exception is entered, and what runs raises RuntimeError again and again. */
static inline bool dv_is_stopped(const dv_vm *vm) {
    return __atomic_load_n(&vm->interrupt, __ATOMIC_RELAXED) & (DV_STOPPED | DV_EXHAUSTED);
}

/* The next back edge polls.  What is left of the interval does not count as done. */
static inline void dv_poll_at_back_edge(dv_vm *vm) {
    if (vm->countdown <= 0) return;
    vm->collector.rest = vm->countdown;
    vm->countdown = 0;
}

/* Recursion has no back edges.  So whoever wants the VM's attention lowers the limit that every
 * call compares with: the next one takes its slow path, which asks here before it says that there
 * is no room. */
static inline void dv_poll_soon(dv_vm *vm) {
    __atomic_store_n(&vm->stack_limit, vm->stack, __ATOMIC_SEQ_CST);
}
bool dv_poll_calls_slow(dv_vm *vm) DV_MUST_CHECK;
DV_MUST_CHECK static inline bool dv_poll_calls(dv_vm *vm) {
    return DV_LIKELY(__atomic_load_n(&vm->stack_limit, __ATOMIC_RELAXED) == vm->stack_end) ||
           dv_poll_calls_slow(vm);
}

static inline void *dv_object_make(dv_vm *vm, dv_heap_part_id part, size_t size, uint32_t shape) {
    dv_object *object = dv_heap_part_alloc(&vm->heap, part, size);
    if (DV_UNLIKELY(!object)) {
        dv_raise_memory(vm);
        return NULL;
    }
    object->references = 1;
    object->shape = shape;
    return object;
}

static inline void *dv_object_new(dv_vm *vm, size_t size, uint32_t shape) {
    return dv_object_make(vm, DV_HEAP_PLAIN, size, shape);
}

static inline void *dv_container_new(dv_vm *vm, size_t size, uint32_t shape) {
    return dv_object_make(vm, DV_HEAP_OBJECTS, size, shape);
}

static inline void dv_container_free(dv_vm *vm, void *container, size_t size) {
    dv_heap_part_free(&vm->heap, DV_HEAP_OBJECTS, container, size);
}

/* The end of an object, by whoever is no release function (core/release.c).  No collection comes
 * while the object looks like a free block: what runs dl code keeps it until then. */
static inline void dv_object_end(dv_vm *vm, dv_object *object) {
    const uint32_t shape = object->shape;
    if (shape < DV_T_EXTENSION)
        vm->types[shape]->release(vm, object);
    else if (DV_LIKELY(shape >= DV_T_COUNT))
        dv_instance_release(vm, object);
    else
        dv_object_dispose(vm, object); /* what an extension does then may run dl code */
}

/* dv_object_end out of line, and dv_release, for handlers and what they leave to C. */
void dv_object_finish(dv_vm *vm, dv_object *object);
static inline void dv_release_object_outer(dv_vm *vm, dv_object *object) {
    if (--object->references == 0) dv_object_finish(vm, object);
}
static inline void dv_release_outer(dv_vm *vm, dv_value v) {
    if (dv_is_object(v)) dv_release_object_outer(vm, dv_as_object(v));
}

/* Does a value that is about to be overwritten die of it, and may that run code of the program?
 * That may let go of the container, which a store must hold until then. */
static inline bool dv_ends_loudly(const dv_vm *vm, dv_value old) {
    return dv_is_object(old) && dv_as_object(old)->references == 1 &&
           (vm->finalisers || vm->collector.closes);
}

/* The hidden class of an instance of a dl class, by what its header says. */
static inline dv_shape *dv_shape_at(const dv_vm *vm, uint32_t shape) {
    return vm->shapes[shape & (DV_SHAPE_LIMIT - 1)];
}

/* Does a class have the shape, so that what a site remembers of it may be read?  (What a class has
 * is freed with it.  Numbers are not used again.) */
static inline bool dv_shape_lives(const dv_vm *vm, uint32_t shape) {
    return shape < DV_T_COUNT || dv_shape_at(vm, shape);
}

/* A str, or an instance of a class that is known to be textual. */
static inline bool dv_is_textual(const dv_vm *vm, dv_value v) {
    if (!dv_is_object(v)) return false;
    const uint32_t shape = dv_as_object(v)->shape;
    return shape == DV_T_STR ||
           (shape >> DV_LAYOUT_SHIFT == DV_T_STR && dv_shape_at(vm, shape)->class_->textual);
}

/* The same where that may not be known yet. */
static inline bool dv_is_textual_asked(dv_vm *vm, dv_value v) {
    return dv_is_textual(vm, v) ||
           (dv_has_layout(v, DV_T_STR) &&
            dv_class_textual(vm, dv_shape_at(vm, dv_as_object(v)->shape)->class_));
}

/* An instance of a class that is known to be unequal (dv_class_unequal). */
static inline bool dv_is_unequal(const dv_vm *vm, dv_value v) {
    return dv_is_plain_instance(v) && dv_shape_at(vm, dv_as_object(v)->shape)->class_->unequal;
}
/* The hash of an object by its address, or by what stands for it (dv_identity_of). */
static inline int64_t dv_hash_address(uint64_t address) {
    return (int64_t)(address >> 4 | address << 60);
}

/* The class of an instance, or of an object of one of the commonest types or one of an extension;
 * NULL: dv_class_of says. */
static inline const dv_class *dv_class_at_once(const dv_vm *vm, dv_value v) {
    if (dv_is_object(v)) {
        const uint32_t shape = dv_as_object(v)->shape;
        if (shape >= DV_T_COUNT) return dv_shape_at(vm, shape)->class_;
        return shape <= DV_T_DICT || shape >= DV_T_EXTENSION ? vm->classes[shape] : NULL;
    }
    return dv_is_int(v) ? vm->classes[DV_T_INT] : dv_is_float(v) ? vm->classes[DV_T_FLOAT] : NULL;
}

/* Where dv_class_special keeps what it finds.  Not by addresses: those that meet in one place drive
 * each other out, and derivatives with them, so that a program would be fast in some runs only. */
static inline const dv_special *dv_special_at(const dv_vm *vm, const dv_class *class_,
                                              dv_value name) {
    const uint64_t hash = (uint64_t)((const dv_hashed *)dv_as_object(name))->hash;
    return &vm->specials[(hash + class_->number * 0x9E3779B97F4A7C15u) >> (64 - DV_SPECIAL_BITS)];
}

/* The type number of any value; of an instance that of its class's layout. */
static inline dv_type_id dv_type_of(const dv_vm *vm, dv_value v) {
    (void)vm;
    if (dv_is_float(v)) return DV_T_FLOAT;
    if (dv_is_int(v)) return DV_T_INT;
    if (dv_is_object(v)) {
        uint32_t shape = dv_as_object(v)->shape, layout = shape >> DV_LAYOUT_SHIFT;
        return (dv_type_id)(shape < DV_T_COUNT ? shape : layout ? layout : DV_T_OBJECT);
    }
    if (dv_is_bool(v)) return DV_T_BOOL;
    if (dv_is_none(v)) return DV_T_NONE;
    return v.bits == DV_ELLIPSIS.bits ? DV_T_ELLIPSIS : DV_T_NOTIMPLEMENTED;
}

/* The table that says what a value does.  Instances of dl classes behave as instances, whatever
 * they derive from: their special methods come first (types/class/instance.c). */
static inline const dv_type *dv_behaviour_of(const dv_vm *vm, dv_value v) {
    return vm->types[dv_is_instance(v) ? DV_T_OBJECT : dv_type_of(vm, v)];
}

#endif
