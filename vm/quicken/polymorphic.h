/* polymorphic.h: caches of sites that see objects of several shapes.
 *
 * A site of LOAD_ATTR, STORE_ATTR or LOAD_METHOD that has given up a derivative for one shape gets
 * a block with entries for up to DV_POLY_ENTRIES shapes (Hölzle, Chambers, Ungar, "Optimizing
 * Dynamically-Typed Object-Oriented Languages with Polymorphic Inline Caches", 1991).  A site that
 * needs more is megamorphic: it stays generic for good.
 *
 * Invariants
 *  1. A block is in the cache of one site, and in copies of it in regions; it is freed with the
 *     thread whose frame was running when it was made, and never before.
 *  2. Entries are only added, or all forgotten; those beyond the last one have shape 0, which no
 *     instance has. */
#ifndef DV_QUICKEN_POLYMORPHIC_H
#define DV_QUICKEN_POLYMORPHIC_H

#include "run/thread.h"

#define DV_POLY_ENTRIES 4 /* shapes of a site */

typedef struct dv_poly_entry {
    uint32_t shape;
    /* LOAD_ATTR, LOAD_METHOD: of what the class's cell holds; 0: a static or class method.
     * STORE_ATTR: the same of a property, and else the shape after the store. */
    uint32_t other;
    uint32_t slot;
    uint32_t offset; /* of that slot in all such objects; 0: some have it outside, or it is none */
    /* The attribute is the class's, perhaps a property; NULL: it is in the slot. */
    const dv_global_cell *cell;
} dv_poly_entry;

typedef struct dv_poly {
    dv_site_block block;
    dv_poly_entry entries[DV_POLY_ENTRIES];
} dv_poly;

/* NULL: there is no entry for the shape.  (The first four are not left to a loop, which compilers
 * keep: it counts its rounds.) */
static inline const dv_poly_entry *dv_poly_find(const dv_poly *poly, uint32_t shape) {
    const dv_poly_entry *entry = poly->entries;
    if (entry[0].shape == shape) return &entry[0];
    if (DV_POLY_ENTRIES > 1 && entry[1].shape == shape) return &entry[1];
    if (DV_POLY_ENTRIES > 2 && entry[2].shape == shape) return &entry[2];
    if (DV_POLY_ENTRIES > 3 && entry[3].shape == shape) return &entry[3];
    for (int i = 4; i < DV_POLY_ENTRIES; i++)
        if (entry[i].shape == shape) return &entry[i];
    return NULL;
}

/* Where an object of the entry's shape has the slot. */
static inline dv_value *dv_poly_slot(const dv_poly_entry *entry, dv_value object) {
    dv_object *o = dv_as_object(object);
    return DV_LIKELY(entry->offset) ? (dv_value *)(void *)((char *)o + entry->offset)
                                    : dv_instance_slot((dv_instance *)o, entry->slot);
}

/* The value of a class's cell is of the kind that it had when it was looked up. */
static inline bool dv_poly_same_kind(dv_value v, uint32_t kind) {
    return dv_is_object(v) ? dv_as_object(v)->shape == kind : kind == 0 && !dv_is_empty(v);
}

/* The site has given up a derivative: what it is to be tried with now.  True: it will get entries
 * for several shapes, the present one first. */
bool dv_poly_begins(dv_cell *ip, uint32_t op);

/* The entry for a shape, to be filled in, of a site that keeps several; NULL: the site keeps one
 * shape, or (then it has been made generic for good) has no room for more. */
dv_poly_entry *dv_poly_entry_for(dv_vm *vm, dv_cell *ip, dv_cell *cache, uint32_t shape,
                                 bool *several);

/* After the entry is filled in: the site takes the family's polymorphic form. */
void dv_poly_become(dv_vm *vm, dv_cell *ip, uint32_t op);

/* All entries are wrong: they are forgotten. */
void dv_poly_forget(dv_vm *vm, dv_thread *thread, dv_cell *ip, uint32_t op);

bool dv_is_poly(uint32_t op);

#endif
