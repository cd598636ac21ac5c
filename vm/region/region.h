/* region.h: loops and functions as operand-mode instructions over unboxed values (the
 * tour is vm/region/README.md).
 *
 * Invariants
 *  1. While control is in a region, a local or stack entry with a raw value has it in its shadow
 * slot (or in r or d between two instructions), and its home slot holds no counted reference.
 *  2. Objects stay counted in their home slots; aliases of them are covered by these.
 *  3. Every point where control can leave has an exit: what to box, which constants and aliases to
 * put on the stack, which inlined frames to build.  After an exit the frame is what INCA code
 * expects at the exit's pc; nothing is executed twice.
 *  4. A local that is dead (code/liveness.h) may have any value at home that is not counted, and if
 * its kind is raw, in its shadow slot: exits leave it alone, but for DV_FADED, which no INCA code
 * finds.
 *  5. A region that nobody is in (`active` is 0) and that is retired is freed.
 *  6. A region owns no object.  What its cells and exits name is kept by a global variable, an
 * attribute of a class or the like whose assumption is broken before it gives the object up, or by
 * something that is kept in this way: a code object by its function, an item by its tuple.  When
 * an assumption breaks, frames that are in the region *pin* what their exits name, which is what
 * the operand stack of INCA code would hold (pin.c). */
#ifndef DV_REGION_REGION_H
#define DV_REGION_REGION_H

#include "core/assumption.h"
#include "region/run/entry.h"
#include "region/run/function.h"
#include "region/analyse/lattice.h"

/* What an exit does for one slot; `to` and `from` are slot numbers from fp. */
typedef enum dv_exit_action {
    DV_EXIT_INT, /* box raw int of slot `from` */
    DV_EXIT_FLOAT,
    DV_EXIT_BOOL,
    DV_EXIT_CHAR,
    DV_EXIT_INT_R,   /* box register r */
    DV_EXIT_FLOAT_D, /* box register d */
    DV_EXIT_BOOL_R,
    DV_EXIT_CHAR_R,
    DV_EXIT_COMPLEX, /* of the raw parts in slot `from` and the one behind it */
    DV_EXIT_VALUE,   /* constant `value`, retained */
    DV_EXIT_VALUE_B, /* the same, borrowed */
    DV_EXIT_COPY,    /* home slot `from`, retained */
    DV_EXIT_COPY_B,
    DV_EXIT_COPY_FADED, /* the same as COPY if slot `to` has DV_FADED, else nothing */
    DV_EXIT_FUNCTION,   /* of the bound method in home slot `from`, retained */
    DV_EXIT_RANGE,    /* range iterator with raw state in slots from .. from+2: write back, or make
                         it */
    DV_EXIT_WALK,     /* the iterator of the list or tuple in slot `to`, with the raw index in slot
                         `from` */
    DV_EXIT_HANDLED,  /* what was handled: the exception of the dv_source in slot `from` is now */
    DV_EXIT_RAISED,   /* that exception, which is not handled yet */
    DV_EXIT_CAUGHT,   /* what is handled now, retained */
    DV_EXIT_OTHER,    /* an attribute: number `from` of the instances that are made together */
    DV_EXIT_INSTANCE, /* a new instance of the shape whose number is `value`, or, where that is
                         negative, what is built (dv_built_value); its attributes, by slot number,
                         or items are the next items, whose `to` is -1.  Of the next `from` ones
                         those behind them are more instances, made together with it; `to` is -1
                         where only others have them */
    DV_EXIT_FADED     /* the same if slot `to` has DV_FADED, else nothing */
} dv_exit_action;

enum {
    DV_EXIT_INSTANCES = 32, /* that are made together */
    DV_BUILT_ITEMS = 12     /* of a tuple, or a list, among them */
};

/* In the home slot of a local, in regions only: its instance has not been made (virtual.h). */
#define DV_FADED ((dv_value){DV_TAG_SPECIAL | 6})

typedef struct dv_exit_item {
    int16_t to, from;
    uint8_t action;
    bool nests;     /* an instance: others, or what is built, are made together with it */
    dv_value value; /* of an instance the number of its shape */
} dv_exit_item;

/* `value` of what is built and not made, no instance, which is negative.  The items of a dict are
 * its keys, constants, and values in turn; those of a function its code, a constant, and its cells.
 */
static inline dv_value dv_built_value(uint32_t type, uint32_t count) {
    return dv_int(-(int64_t)(count << 8 | type));
}
static inline bool dv_is_built(const dv_exit_item *item) { return dv_as_int(item->value) < 0; }
static inline uint32_t dv_built_type(const dv_exit_item *item) {
    return (uint32_t)-dv_as_int(item->value) & 0xFF;
}
static inline uint32_t dv_built_count(const dv_exit_item *item) {
    return (uint32_t)-dv_as_int(item->value) >> 8;
}

/* The same of a tuple of a class of dl, whose `value` has the class's shape in the low half. */
static inline dv_value dv_named_value(uint32_t shape, uint32_t count) {
    return dv_int((int64_t)count << 32 | shape);
}
static inline uint32_t dv_named_count(const dv_exit_item *item) {
    return (uint32_t)(dv_as_int(item->value) >> 32);
}

/* An inlined frame that an exit builds: its header around slots whose contents items provide. */
typedef struct dv_exit_frame {
    int16_t base;  /* slot number of its local 0, behind the exit */
    uint8_t calls; /* that it counts as */
    bool produces; /* it is that of the generator that the loop walks */
    const dv_cell *link;
    const dv_thread *caller;
    uint32_t pc; /* of the call there */
} dv_exit_frame;

typedef struct dv_exit {
    uint32_t pc;             /* where execution goes on, in the innermost frame */
    const dv_thread *thread; /* of the innermost frame */
    dv_region *region;       /* that it belongs to */
    uint32_t first_item, item_count;
    uint32_t first_frame, frame_count;
    int16_t top; /* slot number behind the operand stack */
    /* So many slots above the generator that the loop walks are not there any more in INCA code:
     * its frame, which goes back to where it waits; 0: there is none. */
    int16_t folds;
    uint32_t
        learns;  /* pc of the instruction that has put a value of a new kind on top, or DV_NO_PC */
    bool counts; /* a guard failed or a cold path was taken: many of these retire the region */
    uint16_t taken;
} dv_exit;

/* How a region is left, for the hook `left` (core/vm.h). */
typedef enum dv_leaving {
    DV_LEAVES_AT_EXIT,      /* through an R_EXIT */
    DV_LEAVES_AT_SAFEPOINT, /* at a back edge or resume point: it is retired, or may not go on */
    DV_LEAVES_RAISING
} dv_leaving;

/* Objects that regions, and derivatives, do without: inspect/objects.h counts them. */
typedef enum dv_made {
    DV_MADE_TUPLE,
    DV_MADE_LIST,
    DV_MADE_RANGE,
    DV_MADE_ITERATOR,
    DV_MADE_SLICE,
    DV_MADE_METHOD,
    DV_MADE_INSTANCE,
    DV_MADE_DICT,
    DV_MADE_FUNCTION,
    DV_MADE_CELL,
    DV_MADE_KINDS
} dv_made;

/* Which of them objects of a type are that regions build. */
static inline dv_made dv_built_kind(uint32_t type) {
    switch (type) {
    case DV_T_LIST: return DV_MADE_LIST;
    case DV_T_METHOD: return DV_MADE_METHOD;
    case DV_T_DICT: return DV_MADE_DICT;
    case DV_T_FUNCTION: return DV_MADE_FUNCTION;
    case DV_T_CELL: return DV_MADE_CELL;
    default: return DV_MADE_TUPLE;
    }
}

/* When control comes to the cell, an object has not been made that generic code would have made.
 * In VMs that count alone. */
typedef struct dv_mark {
    uint32_t cell;
    dv_made kind;
} dv_mark;

/* The instruction that the cells from this one on stand for.  In VMs that count or keep facts. */
typedef struct dv_origin {
    uint32_t cell, pc;
    dv_thread *thread;
    int16_t base;                      /* entry of its local 0 */
    uint32_t first_known, known_count; /* what is known in front of it; 0: nothing is kept */
} dv_origin;

typedef enum dv_where {
    DV_AT_HOME,
    DV_AT_SLOT,
    DV_AT_REGISTER,
    DV_AT_VALUE,
    DV_AT_ALIAS,
    DV_AT_NOWHERE
} dv_where;

/* Where a local or an entry of the operand stack is.  In VMs that keep facts alone. */
typedef struct dv_placed {
    int16_t home, slot; /* AT_SLOT: the raw value; AT_ALIAS: whose home has it; RANGE: its triple */
    uint8_t kind;       /* dv_kind */
    uint8_t where;      /* dv_where */
    bool dead;          /* nobody reads it before it is stored to */
    dv_value value;     /* AT_VALUE; it is alive while the region is not retired */
} dv_placed;

/* A cell at which control may be outside (in a callee, in a slow path) or be sent out. */
#define DV_NO_CELL UINT32_MAX

typedef struct dv_point {
    uint32_t cell;
    uint32_t exit;
    bool raises;   /* exit for exceptions raised by the instruction at the cell */
    bool resumes;  /* R_RETIRED is written here when the region is invalidated */
    bool keeps_sp; /* the instruction there keeps vm->sp */
    uint32_t
        pair; /* cell of the instruction that does the one here as well (pair.h), or DV_NO_CELL */
} dv_point;

/* What a loop head expects of the frame when the region is entered there. */
typedef struct dv_entry_item {
    int16_t home, raw;
    uint8_t kind; /* dv_kind */
    bool dead; /* a local that nobody reads before it is stored to: what it holds does not matter */
    bool taken; /* its object goes when the region has been entered */
    bool wide;  /* INT: one beyond 48 bits, which is an object, will do */
    /* VIRTUAL: which attribute of the object at home, to which nobody else refers, of which shape,
     * and its kind; shape 0: the slot is to hold no object. */
    uint8_t attribute, of;
    uint8_t items; /* ... of a tuple: how many it has */
    uint32_t shape;
    /* The kind of numbers that the list or tuple, or that which the iterator walks, should begin
     * with (DV_SEEN_); 0: that does not matter. */
    uint8_t first;
    /* RANGE: a dead local that may have the iterator, too, as the source of a comprehension has;
     * VIRTUAL: one that may have the object; -1: none. */
    int16_t twin;
} dv_entry_item;

typedef struct dv_entry {
    dv_region *region;
    dv_cell *back;         /* the JUMP_BACK cell in INCA code, which has the latest one */
    struct dv_entry *next; /* that of another region of the same loop, for other kinds at entry */
    uint32_t cell;         /* where the region's code for the loop head begins */
    uint32_t first_item, item_count;
    bool takes;              /* one of its items is taken */
    uint16_t above;          /* entries of the operand stack above the loop's iterator */
    uint32_t start_failures; /* how often it was not where the loop was to begin in the region */
    dv_cell *start;    /* the instruction in INCA code that makes the loop's iterator and enters
                          the region with it; NULL: none does */
    uint32_t start_op; /* what it was before */
} dv_entry;

/* Why a loop has no region: none was made, or the one that it had was given up. */
typedef enum dv_refusal {
    DV_REFUSED_NOT,
    DV_REFUSED_MEMORY,
    DV_REFUSED_YIELD,    /* it would be left at yields too often: the frame moves there */
    DV_REFUSED_SIZE,     /* too many instructions, or too many ways through them */
    DV_REFUSED_FRAME,    /* the function names locals, eval or the like */
    DV_REFUSED_SLOTS,    /* more values, or nested ranges, than the frame has shadow slots for */
    DV_REFUSED_MEETING,  /* at a join a value is raw on one way and an object on the other */
    DV_REFUSED_ITERATOR, /* the iterator of a range is used as a value */
    DV_REFUSED_BOXED,    /* too little of it could be typed */
    DV_REFUSED_ENTRY,    /* the loop's head expects what no frame can provide */
    DV_REFUSED_TYPES,    /* given up: locals had other types when it was to be entered */
    DV_REFUSED_GUARDS,   /* given up: too often a guard failed, or a way was taken that was new */
    DV_REFUSED_CHANGED,  /* given up: an assumption broke */
    DV_REFUSED_SHORT,    /* given up: too few rounds each time to pay for entering and leaving */
    DV_REFUSED_ROOM      /* given up or not made: regions have no more memory (memory.h) */
} dv_refusal;

/* What happened to a loop, for the hook `looped` (core/vm.h). */
typedef struct dv_loop_event {
    uint32_t back;     /* pc of the loop's JUMP_BACK, in the thread that the hook is told, or 0 */
    dv_refusal why;    /* NOT: the loop is in a region now */
    uint32_t region;   /* then: pc of the region's outermost JUMP_BACK */
    uint32_t removed;  /* ... and if it is this one, the region's `removed` */
    const dv_code *in; /* the instruction that is to blame; NULL: none in particular */
    uint32_t pc;
} dv_loop_event;

enum {
    DV_SOURCE_SLOTS = 2,     /* values of an exception that is not made, in slots */
    DV_SOURCE_ARGUMENTS = 4, /* with those that are constants ... */
    DV_SOURCE_VALUES = 8,    /* ... and attributes */
    DV_SOURCE_FRAMES = 6     /* from which it comes */
};

/* What is known of an exception where the region raises it: enough to make it (raised.h). */
typedef struct dv_source {
    dv_class *class_; /* NULL: it is an object, its only argument */
    const char *text; /* its only argument, with another one as its %V, or NULL */
    uint8_t number;   /* of the form, among those of its handler */
    uint8_t count, attribute_count;
    uint8_t frame_count;
    uint8_t objects; /* set of the slots behind that of the source in which one is counted */
    /* Of the arguments, then of attributes.  CONSTANT: `values` has it, borrowed; else the slot so
     * far behind that of the source: a raw number, or ANY, an object. */
    uint8_t kinds[DV_SOURCE_VALUES], slots[DV_SOURCE_VALUES];
    dv_value values[DV_SOURCE_VALUES];
    dv_value names[DV_SOURCE_VALUES]; /* of the attributes, borrowed */
    struct {
        dv_thread *thread;
        uint32_t pc;
    } frames[DV_SOURCE_FRAMES]; /* of the traceback, innermost first */
} dv_source;

static inline const dv_source *dv_source_at(const dv_value *slot) {
    return (const dv_source *)(uintptr_t)slot->bits;
}

enum { DV_REGION_WINDOW = 64 /* entries in which a region must pay for them */ };

/* An object that the frame at fp holds until it leaves the region. */
typedef struct dv_pin {
    const dv_value *fp;
    dv_value value;
} dv_pin;

/* A global, or a variable that functions share, that the loop stores numbers to.  While somebody is
 * in the region its value is also raw in the frame's slot; each store goes to both, so that whoever
 * reads the variable sees it. */
typedef struct dv_held {
    dv_global_cell *cell; /* of a global, or NULL */
    int16_t local;        /* else the one that has the variable */
    int16_t slot;
    uint8_t kind; /* dv_kind, a raw one; NOTHING: it is not held after all */
} dv_held;

/* The generator that the loop walks, if its code is part of the region (producer.c): while somebody
 * is in that, it has its frame where it has it when it runs, above the loop's iterator, and the
 * operand stack of the loop's body is above that. */
typedef struct dv_producer {
    const dv_thread *thread; /* NULL: there is none */
    const dv_cell *at;       /* the YIELD at which it waits while the loop's body runs */
    const dv_cell *end;      /* where the loop goes on when it has finished */
    int16_t base;            /* slot of its local 0; the generator itself is 4 below */
    int16_t stack;           /* ... of its operand stack, of which it keeps */
    int16_t twin;            /* a local that may have the generator, too; -1: none */
    uint16_t saved;          /* ... so many entries while it waits */
} dv_producer;

struct dv_region {
    dv_dependent dependent;
    dv_region *next; /* of the thread's list */
    dv_thread *thread;
    uint32_t begin, end; /* pcs of the loop, JUMP_BACK included */
    dv_cell *cells;
    uint32_t cell_count;
    dv_exit *exits;
    uint32_t exit_count;
    dv_exit_item *items;
    uint32_t item_count;
    dv_exit_frame *frames;
    uint32_t frame_count;
    dv_point *points; /* sorted by cell */
    uint32_t point_count;
    dv_entry *entries;
    uint32_t entry_count;
    dv_entry_item *entry_items;
    uint32_t entry_item_count;
    dv_held *held;
    uint32_t held_count;
    dv_source *sources;
    uint32_t source_count;
    dv_pin *pins;
    uint32_t pin_count, pin_capacity;
    dv_mark *marks; /* sorted by cell */
    uint32_t mark_count;
    uint64_t *steps;    /* by cell: how often it was executed; NULL: the VM does not count */
    dv_origin *origins; /* sorted by cell */
    uint32_t origin_count;
    dv_placed *known;
    uint32_t known_count;
    int16_t inlined; /* calls that the deepest of the functions analysed inline counts as */
    int16_t extent;  /* slots that the region uses from fp on */
    dv_producer producer;
    uint32_t removed; /* places where INCA code makes an object, and the region does not */
    dv_gate *gate;    /* a function's region: how it is entered (function.h); NULL: a loop's */
    uint32_t begins;  /* ... the cell where, */
    uint32_t refused; /* and how often it was not, because of what INCA code had as arguments */
    bool hopes;       /* a function that it calls boxed may get a region: then it is made anew */
    uint32_t active;
    bool pinned;      /* an assumption broke while somebody was in it */
    uint32_t entered; /* how often, lately: halved whenever regions must make room */
    size_t bytes;     /* charged for it (memory.h) */
    uint32_t
        least_rounds; /* in DV_REGION_WINDOW entries, so that they pay; 0: rounds are not counted */
    uint32_t pays_from; /* what that becomes once exceptions end rounds */
    uint32_t entries_counted;
    int64_t rounds; /* in these entries */
    bool retired;
};

/* Tries to make a region of the loop that ends in the JUMP_BACK at pc `back`; NULL: not possible or
 * not worth it, and the event's `why`, `in` and `pc` say why. */
dv_region *dv_region_build(dv_vm *vm, dv_thread *thread, const dv_value *fp, uint32_t head,
                           uint32_t back, uint32_t now, dv_loop_event *event);

/* The same of a whole function, with what its frame holds where it begins. */
dv_region *dv_region_build_function(dv_vm *vm, dv_thread *thread, const dv_value *fp,
                                    dv_loop_event *event);

/* Its loops enter the region, which has been admitted (memory.h).  `back`: of its outermost loop,
 * or 0: a function's. */
void dv_region_install(dv_vm *vm, dv_region *region, uint32_t back);
/* The frame at fp has left it: an activation of it has ended. */
void dv_region_left(dv_vm *vm, dv_region *region, const dv_value *fp);

/* pin.c: who is in the region holds from now on what it needs to leave. */
void dv_region_pin(dv_vm *vm, dv_region *region);
/* The frame at fp leaves it, and vm->ip, vm->sp and vm->fp are as they are then. */
void dv_region_unpin_slow(dv_vm *vm, dv_region *region, const dv_value *fp);
static inline void dv_region_unpin(dv_vm *vm, dv_region *region, const dv_value *fp) {
    if (DV_UNLIKELY(region->pin_count > 0)) dv_region_unpin_slow(vm, region, fp);
}

/* Takes the region out of use: its entries become INCA code again, activations leave at their next
 * back edge or resume point. */
void dv_region_retire(dv_vm *vm, dv_region *region, dv_refusal why);
/* The same, and frees it if nobody is in it. */
void dv_region_give_up(dv_vm *vm, dv_region *region, dv_refusal why);
void dv_region_free(dv_vm *vm, dv_region *region);
void dv_region_invalidate(dv_vm *vm, dv_dependent *dependent); /* an assumption broke */

/* What a slot of the frame holds while control is at a point of a region (inspect/observe.c). */
typedef struct dv_peek {
    bool is_raw_int, is_raw_char, is_raw_complex;
    const dv_exit_item *made; /* what makes the instance or tuple, which is not there; else NULL */
    int64_t integer;          /* or the character */
    double real, imag;
    dv_value value; /* borrowed */
} dv_peek;
dv_peek dv_region_peek(const dv_thread *thread, const dv_cell *ip, const dv_value *fp,
                       uint32_t slot);
/* The pc that a point of a region stands for, in *thread, which was that of the frame, and the slot
 * where the locals of that begin; DV_NO_PC: ip is no such point. */
uint32_t dv_region_pc(dv_thread **thread, const dv_cell *ip, uint32_t *base);
/* Which instruction of which function a cell of a region, which calls out, stands for: its pc in
 * *thread, which was that of the frame; `out`: so many inlined calls further out.  DV_NO_PC: the
 * cell is in no region of that, or there are not so many. */
uint32_t dv_region_inlined(const dv_thread **thread, const dv_cell *ip, uint32_t out);

/* Sets the hooks of run/ (api calls it for --level=nama). */
void dv_region_setup(dv_vm *vm);

extern const char *const dv_kind_names[]; /* by dv_kind */

/* The listing of a thread's regions, for `dynvm dis`, with the facts that are kept. */
/* `naming`: is told of each instruction that is named, and brackets show what one handler does; may
 * be NULL. */
typedef struct dv_region_naming {
    void (*op)(void *context, uint32_t op);
    void (*foreign)(void *context, const dv_foreign_form *form);
    void *context;
} dv_region_naming;
void dv_region_print(dv_vm *vm, const dv_thread *thread, const dv_region_naming *naming,
                     dv_output out, void *context);
void dv_region_print_one(dv_vm *vm, const dv_region *region, const dv_region_naming *naming,
                         dv_output out, void *context);
/* What the handler at a cell does: its instruction, or all those of a pair with `;` between. */
void dv_region_print_step(dv_vm *vm, const dv_region *region, uint32_t cell, dv_output out,
                          void *context);

#endif
