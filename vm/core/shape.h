/* shape.h: hidden classes (maps) of instances, and the classes themselves.
 *
 * Invariants
 *  1. Shape numbers below DV_T_COUNT are the built-in types and have no dv_shape; for the others
 * see dv_shape_at.  A shape is never freed before its class.
 *  2. The shapes of one class form a tree: the root has no attributes; each child adds one name,
 * which has slot number `count - 1`.
 *  3. An instance with a shape of `count` attributes has slots 0 .. count-1 filled; the first
 *     `inline_slots` live in the object, the others in `overflow`.
 *  4. An instance of a dl class that derives from a built-in type keeps its attributes outside: a
 *     dv_attributes stands in its block in front of the object.  Only dv_subclass_alloc makes such
 *     blocks, only dv_object_free gives them back.
 *  5. No program makes a class have any number of shapes: once one of its shapes has
 *     DV_SHAPE_CHILDREN children, or the class DV_CLASS_SHAPES, an instance that would need a new
 * one keeps its attributes in a dict from then on (types/class/instance_dict.c). */
#ifndef DV_CORE_SHAPE_H
#define DV_CORE_SHAPE_H

#include "core/cell.h"

typedef struct dv_shape dv_shape;

struct dv_shape_entry {
    dv_value name; /* borrowed; EMPTY: free */
    int32_t slot;
};

struct dv_shape {
    uint32_t number;     /* what objects have as their shape: index and layout */
    uint32_t count;      /* attributes */
    uint32_t dictionary; /* 1 + the slot of the instance's __dict__, once it has one; else 0 */
    uint32_t child_count;
    dv_class *class_;
    dv_shape *parent;
    dv_value name; /* the attribute that this shape adds; interned; EMPTY at the root */
    dv_shape *children, *sibling;
    uint32_t lookups; /* in this shape, counted until it gets an index */
    uint32_t index_capacity;
    struct dv_shape_entry *index; /* of a shape with many attributes and lookups: open addressing
                                     over the address of the name */
};

#define DV_SHAPE_LIMIT (1u << 21) /* numbers below this one: see core/release.c */
enum { DV_SHAPE_CHILDREN = 64, DV_CLASS_SHAPES = 1024 };

/* What lookups must know of a class; those of INHERITED also hold below it, and never taken back.
 */
enum {
    DV_CLASS_GETATTRIBUTE = 1, /* has a __getattribute__ of dl */
    DV_CLASS_SETATTR = 2,      /* has a __setattr__ or __delattr__ of dl */
    DV_CLASS_DATA = 4,         /* has a data descriptor (property, __set__) among its attributes */
    DV_CLASS_DESCRIPTOR = 8,   /* its instances may be descriptors: it has a __get__ */
    DV_CLASS_SETTER = 16,      /* ... data descriptors: it has a __set__ or __delete__ */
    DV_CLASS_NEW = 32,         /* has a __new__ of dl */
    DV_CLASS_SLOTS = 64,       /* has names in __slots__ */
    DV_CLASS_CLAIMS = 8192,    /* has a __class__ of dl: what it says of its instances may differ */
    DV_CLASS_FULL_NAME = 16384, /* messages name it with its module, as a type of C in CPython */
    DV_CLASS_ORDERED = 32768,   /* collections.OrderedDict or a subclass of it */
    DV_CLASS_INHERITED = 127 | DV_CLASS_CLAIMS | DV_CLASS_ORDERED,
    DV_CLASS_READY = 128,     /* its statement is done: changes from now on are late ones */
    DV_CLASS_CACHED = 256,    /* sites may remember what lookups in it found */
    DV_CLASS_NO_DICT = 512,   /* its instances have what __slots__ name, and no __dict__ */
    DV_CLASS_SOLID = 1024,    /* its own __slots__ decide the layout of instances */
    DV_CLASS_ABSTRACT = 2048, /* __abstractmethods__ has names: there are no instances */
    DV_CLASS_CROWDED = 4096   /* has so many shapes that it should get no more (invariant 5) */
};

/* What of a built-in type's methods has become attributes of its class. */
enum { DV_FILLED_NOT, DV_FILLED_METHODS, DV_FILLED_ALL };

/* What patterns of a match statement take instances of a class for. */
enum { DV_COLLECTION_NONE, DV_COLLECTION_SEQUENCE, DV_COLLECTION_MAPPING };

/* Methods that a class may leave to the built-in type that it derives from. */
enum { DV_LEFT_GETITEM = 1, DV_LEFT_CONTAINS = 2, DV_LEFT_TRUTH = 4 };

/* A class object.  Attributes are cells of a namespace, so that code may depend on one of them. */
struct dv_class {
    dv_object header;
    uint16_t type; /* dv_type_id of the layout of its instances; DV_T_OBJECT for plain dl classes */
    uint16_t inline_slots; /* of its instances: as many as they are expected or seen to need */
    uint16_t least_slots;  /* ... that all of them have: less when one comes from another class */
    dv_value name;         /* str */
    dv_value qualname;     /* str, or EMPTY: name */
    dv_class *base;        /* the one of `bases` that decides the layout; NULL only for object */
    dv_class **bases;      /* counted (core/mro.h) */
    dv_class **mro;        /* the classes that lookups ask, itself first */
    uint32_t base_count, mro_count;
    dv_class *next, *previous;         /* all classes of the VM */
    dv_class *metaclass;               /* counted; NULL: type */
    const dv_global_cell *constructor; /* see dv_class_constructor; NULL: not looked for yet */
    uint16_t flags;                    /* DV_CLASS_... */
    bool has_subclasses;               /* or had */
    bool truthful;                     /* see dv_class_truthful; false: not looked for yet */
    bool textual;                      /* see dv_class_textual; likewise */
    bool unequal;                      /* see dv_class_unequal; likewise */
    bool weak;                         /* its instances can have weak references */
    bool linear;     /* neither it nor a class that it derives from has several bases */
    uint32_t fields; /* see dv_class_takes_fields; 0: not looked for yet */
    uint8_t left;    /* DV_LEFT_...: what it was known to leave to the built-in type that it derives
                      * from, when vm->names_changed was left_then; since then it may have changed */
    uint64_t left_then;
    uint8_t collection; /* DV_COLLECTION_...: inherited, or given by abc (types/class/pattern.h) */
    dv_namespace attributes;
    dv_shape *root;       /* NULL for built-in types */
    uint32_t shape_count; /* below the root */
    uint32_t number;      /* of the VM's classes, in the order in which they were made */
    dv_assumption layout; /* "attributes and bases stay as they are" (names added or removed) */
    const dv_type *descriptor; /* built-in types and exception classes; NULL for dl classes */
    uint8_t filled;            /* DV_FILLED_...: what of the descriptor is an attribute */
    /* Of the module abc (types/class/abstract.h), or EMPTY. */
    dv_value registered;   /* list of the classes that are registered with this one */
    dv_value answers;      /* dict: class -> whether this one counts as a subclass of it */
    uint32_t answers_time; /* vm->registrations when `answers` was made */
};

/* What the end of an instance must know: its __del__ has run and does not run again; it has, or
 * had, weak references (core/weak.h), and then it has overflow slots; a program has asked for the
 * address of a plain one (dv_identity). */
enum { DV_ENDING_FINALISED = 1, DV_ENDING_WEAK = 2, DV_ENDING_TOLD = 4 };

typedef struct dv_instance {
    dv_object header;
    dv_value *overflow; /* NULL, or slots from the class's inline_slots at its creation on */
    uint32_t serial;    /* order of creation; 0 before there was a class with __del__ */
    uint16_t overflow_capacity;
    uint8_t inline_slots;
    uint8_t ending; /* DV_ENDING_... */
    dv_value slots[];
} dv_instance;

/* The most inline slots, and what an instance with so many takes: 256 bytes at most. */
#define DV_INSTANCE_SLOTS 28u
#define DV_INSTANCE_MOST  (sizeof(dv_instance) + DV_INSTANCE_SLOTS * sizeof(dv_value))

/* In front of an instance of a subclass of a built-in type. */
typedef struct dv_attributes {
    uint32_t mark; /* DV_HEAP_PREFIX_MARK (core/heap.h), and the serial in the low 24 bits */
    uint32_t capacity : 30;
    uint32_t ending : 2; /* DV_ENDING_... */
    dv_value *values;    /* by slot number; NULL when capacity is 0 */
} dv_attributes;

/* What dv_class_find found last, by class and name; vm->found is a table of these.  It holds while
 * vm->names_changed has the value of then: until somewhere a name gets or loses its value, or a
 * class or an interned str is freed. */
typedef struct dv_found {
    const dv_class *class_;
    dv_value name;        /* borrowed */
    dv_global_cell *cell; /* NULL: there is none */
    uint64_t names_changed;
} dv_found;
enum { DV_FOUND_BITS = 10, DV_FOUND_COUNT = 1 << DV_FOUND_BITS };

/* A new class (owned by the caller); base borrowed.  NULL: raised. */
dv_class *dv_class_new(dv_vm *vm, dv_value name, dv_class *base, dv_type_id type);
/* The same with several bases, of which `base` decides the layout of instances. */
dv_class *dv_class_new_of(dv_vm *vm, dv_value name, dv_class *const *bases, uint32_t count,
                          dv_class *base, dv_type_id type);
/* Looks an interned name up in the class and its bases; NULL if there is none, or raised. */
dv_global_cell *dv_class_find(dv_vm *vm, dv_class *class_, dv_value name);
/* The same among the classes of its order from number `from` on (super()). */
dv_global_cell *dv_class_find_behind(dv_vm *vm, dv_class *class_, uint32_t from, dv_value name);
bool dv_class_is_subclass(const dv_class *class_, const dv_class *base);
/* The same for most classes in one step: where each class has one base, a class stands in the
 * orders of all that derive from it as far from the end as it does in its own.  No of a class that
 * is not `linear` means only that the others must be looked at, too. */
static inline bool dv_class_derives_at_once(const dv_class *class_, const dv_class *base) {
    /* First, and a branch of its own: programs ask which of several classes an object is of, and
     * this is known two loads earlier than the rest. */
    if (class_ == base) return true;
    const uint32_t at = class_->mro_count - base->mro_count;
    return at < class_->mro_count && class_->mro[at] == base;
}

/* The class of any value; borrowed. */
dv_class *dv_class_of(dv_vm *vm, dv_value v);

/* Frees a class with its shapes, when its last reference goes. */
void dv_class_release(dv_vm *vm, dv_object *object);
void dv_class_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context);
void dv_class_clear(dv_vm *vm, dv_object *object);
/* A special method (__add__, ...) that a dl class or one of its dl bases defines; NULL: none does,
 * so that the built-in behaviour of the layout counts. */
dv_global_cell *dv_class_special(const dv_class *class_, dv_value name);
/* The same, remembering the answer for operators that ask again and again. */
dv_global_cell *dv_class_special_again(dv_vm *vm, const dv_class *class_, dv_value name);
/* Up-call (types/class/class.c): methods of a built-in type become attributes of its class object,
 * at the first lookup of any name; those that are made from its slots at the first lookup of a name
 * that begins as theirs do, or where `name` is EMPTY. */
bool dv_class_fill(dv_vm *vm, dv_class *class_, dv_value name) DV_MUST_CHECK;
/* Up-call (types/class/descriptor.c): does an attribute of a class with this value come before
 * those of the instance? */
bool dv_is_data_descriptor(dv_vm *vm, dv_value v);
/* Up-call (types/class/slots.c), before `cell` of the class gets another value (EMPTY: none): hides
 * the slots that will not be found any longer; false: raised. */
bool dv_slots_store(dv_vm *vm, dv_class *class_, const dv_global_cell *cell,
                    dv_value value) DV_MUST_CHECK;
/* Sets an attribute (owned value; EMPTY deletes), breaking `layout` where the set of names changes.
 */
bool dv_class_store(dv_vm *vm, dv_class *class_, dv_value name, dv_value value) DV_MUST_CHECK;

/* The __init__ of dl that a call of the class runs on a new plain instance, if that is all that the
 * call does; dv_no_constructor: there is none, and the call takes no arguments; NULL: there is more
 * to it. */
const dv_global_cell *dv_class_constructor(dv_vm *vm, dv_class *class_);
extern const dv_global_cell dv_no_constructor; /* its value is EMPTY */
/* Of exception classes whose call keeps its arguments and does nothing else; its value is EMPTY. */
extern const dv_global_cell dv_exception_constructor;

/* Are all instances of the class true, since it is plain and has neither __bool__ nor __len__? */
bool dv_class_truthful(dv_vm *vm, dv_class *class_);
/* Are its instances hashed and told from others (==, !=) as the strs that they are? */
bool dv_class_textual(dv_vm *vm, dv_class *class_);
/* Is each of its instances, which are plain, equal to nothing else, and hashed by its address? */
bool dv_class_unequal(dv_vm *vm, dv_class *class_);

/* Before the first instance of a class: they are expected to get `count` attributes; 0: unknown. */
void dv_class_expect(dv_class *class_, uint32_t count);

/* The shape of instances without attributes; NULL: out of memory (raised). */
dv_shape *dv_shape_root(dv_vm *vm, dv_class *class_);
/* Slot of an attribute in a shape, or -1. */
int32_t dv_shape_slot(const dv_shape *shape, dv_value name);
/* The same, for lookups that happen often: gives shapes with many attributes an index. */
int32_t dv_shape_find(dv_vm *vm, dv_shape *shape, dv_value name);
/* Fills in the names of all its attributes, by slot number; borrowed. */
void dv_shape_names(const dv_shape *shape, dv_value *names);
/* The shape after adding `name`; NULL: out of memory (raised). */
dv_shape *dv_shape_add(dv_vm *vm, dv_shape *shape, dv_value name);
/* The same if it is there; else NULL. */
dv_shape *dv_shape_child(const dv_shape *shape, dv_value name);

dv_value dv_instance_new(dv_vm *vm, dv_class *class_);
/* Adds or overwrites an attribute of any instance of a dl class; value is borrowed. */
bool dv_instance_store(dv_vm *vm, dv_object *object, dv_value name, dv_value value) DV_MUST_CHECK;
/* Makes room for slot number `slot`, which is the first free one or below. */
bool dv_instance_room(dv_vm *vm, dv_object *object, uint32_t slot) DV_MUST_CHECK;
bool dv_instance_delete(dv_vm *vm, dv_object *object, dv_value name, bool *found) DV_MUST_CHECK;

/* Runs __del__ of an instance that has one, unless that has happened before.  False: somebody has a
 * reference to it (still or again). */
bool dv_instance_finalise(dv_vm *vm, dv_object *object);
/* Is there a __del__ that dv_instance_finalise would run? */
bool dv_instance_has_finaliser(dv_vm *vm, const dv_object *object);
/* From now on the end of the instance leads to dv_weak_end (core/weak.h); false: raised. */
bool dv_instance_watch(dv_vm *vm, dv_object *object) DV_MUST_CHECK;
/* Instances of classes with __del__ in the order in which they were made: a number that grows, and
 * begins anew after 2^24 of them. */
uint32_t dv_instance_serial(const dv_object *object);
/* Releases an instance of a dl class, whatever its layout. */
void dv_instance_release(dv_vm *vm, dv_object *object);
void dv_instance_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context);
void dv_instance_clear(dv_vm *vm, dv_object *object);
/* The same for instances of subclasses of built-in types. */
void dv_subclass_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context);
void dv_subclass_clear(dv_vm *vm, dv_object *object);

/* Memory for an instance of a dl class that derives from a built-in type, without attributes;
 * `size` is that of the type's objects.  NULL: raised. */
void *dv_subclass_alloc(dv_vm *vm, dv_class *class_, size_t size);
/* Frees the block of an object whose attributes are gone, and lets go of its class. */
void dv_subclass_free(dv_vm *vm, dv_object *object, size_t size);

/* The end of `release` of a type that can be a base: gives the object's memory back. */
#define dv_object_free(vm, object, size)                                    \
    ((object)->shape < DV_T_COUNT ? dv_heap_free(&(vm)->heap, object, size) \
                                  : dv_subclass_free(vm, object, size))

/* The same where the type's own objects are containers. */
#define dv_base_free(vm, object, size)                                  \
    ((object)->shape < DV_T_COUNT ? dv_container_free(vm, object, size) \
                                  : dv_subclass_free(vm, object, size))

/* An instance of a dl class of any layout, or of one that derives from no built-in type. */
static inline bool dv_is_instance(dv_value v) {
    return dv_is_object(v) && dv_as_object(v)->shape >= DV_T_COUNT;
}
/* Does a class of dl say what operators do with it: its own, or its metaclass? */
static inline bool dv_has_methods(dv_value v) {
    return dv_is_instance(v) ||
           (dv_is_shape(v, DV_T_CLASS) && ((const dv_class *)dv_as_object(v))->metaclass);
}
static inline bool dv_is_plain_instance(dv_value v) {
    return dv_is_instance(v) && dv_as_object(v)->shape >> DV_LAYOUT_SHIFT == 0;
}
static inline bool dv_is_subclass_instance(dv_value v) {
    return dv_is_object(v) && dv_as_object(v)->shape >> DV_LAYOUT_SHIFT != 0;
}

static inline dv_attributes *dv_attributes_of(dv_object *object) {
    return (dv_attributes *)(void *)object - 1;
}

static inline dv_value *dv_instance_slot(dv_instance *instance, uint32_t slot) {
    return slot < instance->inline_slots ? &instance->slots[slot]
                                         : &instance->overflow[slot - instance->inline_slots];
}

/* The same for an instance of any layout. */
static inline dv_value *dv_attribute_slot(dv_object *object, uint32_t slot) {
    if (object->shape >> DV_LAYOUT_SHIFT) return &dv_attributes_of(object)->values[slot];
    return dv_instance_slot((dv_instance *)object, slot);
}

#endif
