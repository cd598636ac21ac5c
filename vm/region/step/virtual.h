/* virtual.h: instances that are not made (internal to region/).
 *
 * A call of a class whose __init__ is analysed inline makes a *virtual* instance: its attributes
 * are values that the builder knows where to find, and every entry that holds it names its record.
 * Whatever needs the object itself makes it first, at once for all entries that hold it
 * (dv_virtual_make); exits make it from their table (DV_EXIT_INSTANCE).
 *
 * Invariants
 *  1. A record never changes: a store to an attribute makes another one, which all entries take
 * over that had the first.  So entries that are kept (edges) still name what they held.
 *  2. Attributes are raw values in slots (dv_build.attribute_slots), constants, or objects, each in
 *     such a slot too (AT_HOME), where it is counted.  Self of a bound method may be an alias of a
 *     local that the region does not change.  A slot is in use as long as an entry, or the
 *     record of one, names it; only raw values share one.
 *  3. Entries with the same record hold the same object.  The lowest of them owns it where INCA
 * code would: it is a local, or a result on the operand stack.
 *  4. Where ways meet (virtual_join.c) an instance stays virtual if it is on all of them, in the
 * same entries; an attribute whose kinds differ becomes an object on each (dv_virtual_box).  At the
 * head of a loop that is only so in a local that holds it alone, or with dead ones, and if all
 * attributes are raw and of the same kinds: then the loop *carries* it.
 * What is virtual on some ways only is made there, or *fades* if a local alone holds it: a dead
 * one, or one that has it to *wait* for the first load of it. What one on a way has as attributes
 * goes with it, wherever it goes.
 *  5. No virtual instance has a finaliser.  It dies with the last entry that holds it, and releases
 *     its attributes there (dv_virtual_drop).
 *  6. A local in which an instance has faded has DV_FADED at home, or it has an object there, as on
 * another way, and then the slots for the record's objects have nothing counted.  Who reads the
 * local before it is stored to asks which of them it is (dv_virtual_resolve): where it has DV_FADED
 * it is virtual from there on.  A store releases what both have.  Exits make the instance (its
 * class may have got a finaliser), and no frame has DV_FADED in INCA code.
 *  7. A local that carries an instance (dv_is_carried) has at home DV_FADED, or the object that it
 * had where the region was entered, to which nobody else refers, and whose attributes are those of
 * the record: neither changes.  Exits make the instance in the first case alone.  Where the
 * attributes are to change, or what is no local holds it for longer, it is made.  Another local may
 * have it, which carries it once the first one is stored to.  Dead ones may have faded with its
 * record: if they have DV_FADED, exits put into them what the carrier has.
 *  8. A tuple is a record, too, whose attributes are its items, also one of a class of dl, whose
 * shape has the number of the class's; and so is a list, whose items change as attributes do, and a
 * bound method: self and the function, which is a constant.  A dict has keys, which are constants,
 * and values in turn; a function its code and its cells, a cell its value (closure.c).  Loops carry
 * tuples alone.  They are built at once if they would be made anywhere but at exits: then they gain
 * nothing.
 *  9. An attribute may be a virtual instance, whose record's number it is.  A record that changes
 * changes those that name it.  What is linked is made at once.  Where locals in which linked ones
 * have faded meet again, either none has been made or all.  None of a circle reaches objects:
 * nobody would know when these die. */
#ifndef DV_REGION_VIRTUAL_H
#define DV_REGION_VIRTUAL_H

#include "region/step/step.h"

/* Attributes that a virtual instance may have, and instances that are virtual at one time. */
enum { DV_VIRTUAL_ATTRIBUTES = DV_BUILT_ITEMS, DV_VIRTUAL_INSTANCES = 32 };
_Static_assert((int)DV_VIRTUAL_INSTANCES <= (int)DV_EXIT_INSTANCES, "an exit can make them all");

/* The `value` of an attribute, an object in general, that is an int on one way and a float on
 * another one. */
#define DV_MIXED_NUMBER DV_NONE

struct dv_virtual {
    dv_shape *shape;    /* with the attributes that it has so far */
    dv_context *call;   /* that of the __init__ */
    dv_snapshot *built; /* of a tuple, or a list: the instruction that builds it; else NULL */
    dv_known_value values[DV_VIRTUAL_ATTRIBUTES]; /* by slot number */
};

/* Numbers of records, each once. */
typedef struct dv_reached {
    int16_t numbers[DV_VIRTUAL_INSTANCES];
    int32_t count;
    bool full; /* there were more */
} dv_reached;

/* Adds the number, and those of the instances that this one has, directly or not. */
void dv_virtual_reach(const dv_virtual *records, int32_t number, dv_reached *reached);
static inline bool dv_is_reached(const dv_reached *reached, int32_t number) {
    for (int32_t i = 0; i < reached->count; i++)
        if (reached->numbers[i] == number) return true;
    return false;
}
/* What all entries hold, or what has faded in them. */
dv_reached dv_virtual_live(dv_build *b);
/* The instance, what it has, and what has these, in turn. */
dv_reached dv_virtual_linked(dv_build *b, int32_t number);

/* construct.c: the call of the class, a constant, with n arguments that the site at b->pc is: into
 * its __init__, or what the class makes of the arguments by itself; false: it is called.  `bare`:
 * below the arguments is the place of a self that there is not. */
bool dv_virtual_construct(dv_build *b, dv_class *class_, int32_t n, bool bare, uint32_t *next_pc);
/* Is it the __new__ of object, or of a named tuple?  The call of it with n arguments above so many
 * entries, if the first one is a class that makes nothing else of them; false: it is called. */
bool dv_virtual_is_maker(dv_value v);
bool dv_virtual_make_of(dv_build *b, dv_value maker, int32_t n, int32_t below, uint32_t *next_pc);
/* LOAD_METHOD of __class__ of the topmost entry, if it is virtual: what is called is its class;
 * false: it is none. */
bool dv_virtual_load_class(dv_build *b, uint32_t next_pc);
/* RETURN of such an __init__: the instance is the result. */
uint32_t dv_virtual_constructed(dv_build *b);

/* The number of a new record; -1: b->failed. */
int32_t dv_virtual_add(dv_build *b, dv_virtual record);
/* May there be one more? */
bool dv_virtual_has_room(dv_build *b);
/* Do instances of the class have nothing but attributes, and die in silence?  Its own __setattr__
 * makes them where they are stored to. */
bool dv_virtual_is_plain(const dv_build *b, const dv_class *class_);
/* Likewise tuples of the class, which have the items of a tuple, and nothing else says which. */
bool dv_virtual_is_sequence(const dv_build *b, const dv_class *class_);
/* Raw entry q, in a register or a slot, into a slot of attributes; false: none is free. */
bool dv_virtual_to_slot(dv_build *b, int32_t q);
/* A faded instance in the local that the new one, the result of the instruction at b->pc, goes to
 * gives its slots away already, but for objects, if nothing can leave before that. */
void dv_virtual_begin_quiet(dv_build *b, uint32_t next_pc);
/* What tuples with so many items have as their shape that are instances of the class; NULL: they
 * are too many, or the class has none. */
dv_shape *dv_virtual_shape_of(dv_build *b, dv_class *class_, int32_t n);

/* The n topmost entries become a virtual tuple or list; false: it is built. */
bool dv_virtual_build(dv_build *b, dv_type_id type, int32_t n, uint32_t next_pc);
/* The first n items of a thing of this shape are the topmost entries, in their order. */
bool dv_virtual_build_as(dv_build *b, dv_shape *shape, int32_t n, uint32_t next_pc);
/* n pairs of key and value become a virtual dict, if the keys are constants; false: it is built. */
bool dv_virtual_build_dict(dv_build *b, int32_t n, uint32_t next_pc);
/* A method of the topmost entry, the function bound to it, becomes a virtual one, whose items are
 * these two, self first; may it?  False: it is built. */
bool dv_virtual_may_bind(dv_build *b);
bool dv_virtual_bind(dv_build *b, dv_value function, uint32_t next_pc);
/* Is entry q such a method?  The call of it with n arguments is one with self and these; what is
 * left of the method dies. */
bool dv_virtual_is_method(const dv_build *b, int32_t q);
void dv_virtual_unbind(dv_build *b, int32_t n);
/* The built-in type whose layout a record of what is built has: a named tuple is a tuple. */
static inline uint32_t dv_virtual_layout(const dv_virtual *record) {
    const uint32_t number = record->shape->number;
    return number < DV_T_COUNT ? number : number >> DV_LAYOUT_SHIFT;
}
/* Is it such a thing of this type, or of a class that derives from it? */
static inline bool dv_virtual_is(const dv_virtual *record, dv_type_id type) {
    return record->built && dv_virtual_layout(record) == (uint32_t)type;
}
static inline bool dv_is_sequence(const dv_virtual *record) {
    return dv_virtual_is(record, DV_T_TUPLE) || dv_virtual_is(record, DV_T_LIST);
}
/* Entry q, a local, becomes a virtual cell with its value; false: there is no room. */
bool dv_virtual_build_cell(dv_build *b, int32_t q);
/* An attribute of the instance that is the lowest of the topmost entries takes their place. */
void dv_virtual_load_value(dv_build *b, int32_t inputs, int32_t slot, uint32_t next_pc);
/* The lowest of the topmost entries becomes an attribute of the instance above it; false: that is
 * not virtual any more. */
bool dv_virtual_store_value(dv_build *b, int32_t inputs, int32_t slot, uint32_t next_pc);
/* LOAD_SUBSCR of one with a constant index or key, STORE_SUBSCR to a list or dict, len(), with the
 * entries that the call has, and UNPACK_SEQUENCE of one with so many items; false: it is none. */
bool dv_virtual_load_item(dv_build *b, uint32_t next_pc);
bool dv_virtual_store_item(dv_build *b, uint32_t next_pc);
bool dv_virtual_length(dv_build *b, int32_t inputs, uint32_t next_pc);
bool dv_virtual_unpack(dv_build *b, uint32_t count);
/* What the record is of is made somewhere else than at exits: what is built is so at once from now
 * on. */
static inline void dv_virtual_need(dv_build *b, const dv_virtual *record) {
    if (!record->built || record->built->needed || b->emitting) return;
    record->built->needed = b->again = true;
}

/* LOAD_ATTR, STORE_ATTR and LOAD_METHOD of the topmost entry, if it is virtual and has such an
 * attribute, or can get it; false: as with any other object. */
bool dv_virtual_load_attribute(dv_build *b, uint32_t next_pc);
bool dv_virtual_store_attribute(dv_build *b, uint32_t next_pc);
/* The call of object.__setattr__ with the three topmost entries, for one whose class may have its
 * own; false: the same. */
bool dv_virtual_set_attribute(dv_build *b, uint32_t next_pc);

/* Where an instance goes that is made: by RA_RENEW to the attribute, RL_RENEW to the item with the
 * index in that slot, of what is in a home slot; by R_MAKE nobody knows. */
typedef struct dv_virtual_place {
    uint32_t op;
    int16_t home, index;
    dv_cell where; /* shape and place of the attribute */
} dv_virtual_place;
/* dv_virtual_make of one that is stored there next. */
void dv_virtual_make_for(dv_build *b, int32_t record, dv_virtual_place place);

/* Nothing is in entry q any more, which was virtual; false: no object was released. */
bool dv_virtual_drop(dv_build *b, int32_t q);
/* If no entry holds the instance with this record any more, its attributes are released, in their
 * order; false: no object was. */
bool dv_virtual_release(dv_build *b, int32_t record);
/* Objects that attributes of the instance, or of those that it has, are. */
uint32_t dv_virtual_objects(const dv_virtual *records, int32_t number);

/* Attribute i of the instance, a number or a constant, becomes an object in a slot of its own. */
void dv_virtual_box(dv_build *b, int32_t number, uint32_t i);

static inline const dv_virtual *dv_virtual_record(const dv_build *b, const dv_known_value *e) {
    return &b->virtuals.data[e->slot];
}

#endif
