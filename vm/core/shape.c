/* shape.c: hidden classes, and instances that have them (shape.h). */
#include "core/shape.h"

#include "core/mro.h"
#include "core/vm.h"

_Static_assert(sizeof(dv_attributes) == DV_HEAP_PREFIX_SIZE, "an object stands behind them");

#define SLOTS_UNKNOWN 4u /* inline slots of an instance if nothing is known */
#define SLOTS_MAX     DV_INSTANCE_SLOTS
#define INDEX_FROM    8u /* attributes from which on a shape may get an index */
#define INDEX_LOOKUPS 32u
#define SLOT_LIMIT    32000u
#define SERIAL        0x00FFFFFFu

/* Classes ---------------------------------------------------------------------------------------
 */

/* As CPython inherits the flags: the first class of the order that has one counts. */
static uint8_t collection_of(const dv_class *class_) {
    for (uint32_t i = 1; i < class_->mro_count; i++)
        if (class_->mro[i]->collection) return class_->mro[i]->collection;
    switch (class_->type) {
    case DV_T_TUPLE:
    case DV_T_LIST:
    case DV_T_RANGE:
    case DV_T_ARRAY:
    case DV_T_MEMORYVIEW:
    case DV_T_DEQUE: return DV_COLLECTION_SEQUENCE;
    case DV_T_DICT:
    case DV_T_MAPPING_PROXY: return DV_COLLECTION_MAPPING;
    default: return DV_COLLECTION_NONE;
    }
}

dv_class *dv_class_new_of(dv_vm *vm, dv_value name, dv_class *const *bases, uint32_t count,
                          dv_class *base, dv_type_id type) {
    dv_class *class_ = dv_container_new(vm, sizeof *class_, DV_T_CLASS);
    if (!class_) return NULL;
    dv_object header = class_->header;
    *class_ = (dv_class){
        .header = header, .type = (uint16_t)type, .base = base, .number = vm->classes_made++};
    dv_class_expect(class_, 0);
    class_->name = dv_retain(name);
    class_->qualname = class_->registered = class_->answers = DV_EMPTY;
    dv_namespace_init(&class_->attributes);
    if (dv_mro_link(vm, class_, bases, count)) {
        class_->collection = collection_of(class_);
        class_->weak = base && base->weak;
        return class_;
    }
    dv_release_object(vm, &class_->header);
    return NULL;
}

dv_class *dv_class_new(dv_vm *vm, dv_value name, dv_class *base, dv_type_id type) {
    return dv_class_new_of(vm, name, &base, base ? 1 : 0, base, type);
}

void dv_class_expect(dv_class *class_, uint32_t count) {
    uint32_t inherited = class_->base ? class_->base->inline_slots : 0;
    if (count == 0) count = inherited > SLOTS_UNKNOWN ? inherited : SLOTS_UNKNOWN;
    class_->inline_slots = class_->least_slots = (uint16_t)(count < SLOTS_MAX ? count : SLOTS_MAX);
}

static void free_shape(dv_vm *vm, dv_shape *shape) {
    vm->shapes[shape->number & (DV_SHAPE_LIMIT - 1)] = NULL;
    dv_release(vm, shape->name);
    if (shape->index)
        dv_heap_free(&vm->heap, shape->index, shape->index_capacity * sizeof *shape->index);
    dv_heap_free(&vm->heap, shape, sizeof *shape);
}

/* Frees a tree of shapes without recursion: always the first leaf. */
static void free_shapes(dv_vm *vm, dv_shape *shape) {
    while (shape) {
        if (shape->children) {
            shape = shape->children;
            continue;
        }
        dv_shape *parent = shape->parent;
        if (parent) parent->children = shape->sibling;
        free_shape(vm, shape);
        shape = parent;
    }
}

void dv_class_release(dv_vm *vm, dv_object *object) {
    dv_class *class_ = (dv_class *)object;
    dv_assumption_break(vm, &class_->layout);
    dv_namespace_release(vm, &class_->attributes);
    if (class_->root) free_shapes(vm, class_->root);
    if (class_->metaclass) dv_release_object(vm, &class_->metaclass->header);
    dv_mro_unlink(vm, class_);
    vm->names_changed++;
    dv_release(vm, class_->name);
    dv_release(vm, class_->qualname);
    dv_release(vm, class_->registered);
    dv_release(vm, class_->answers);
    dv_container_free(vm, class_, sizeof *class_);
}

void dv_class_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_class *class_ = (const dv_class *)object;
    dv_namespace_traverse(vm, &class_->attributes, visit, context);
    for (uint32_t i = 0; i < class_->base_count; i++)
        visit(vm, dv_object_value(class_->bases[i]), context);
    if (class_->metaclass) visit(vm, dv_object_value(class_->metaclass), context);
    visit(vm, class_->registered, context);
    visit(vm, class_->answers, context);
}

void dv_class_clear(dv_vm *vm, dv_object *object) {
    dv_class *class_ = (dv_class *)object;
    dv_assumption_break(vm, &class_->layout);
    dv_namespace_clear(vm, &class_->attributes);
    dv_value registered = class_->registered, answers = class_->answers;
    class_->registered = class_->answers = DV_EMPTY;
    dv_release(vm, registered);
    dv_release(vm, answers);
}

dv_global_cell *dv_class_find_behind(dv_vm *vm, dv_class *class_, uint32_t from, dv_value name) {
    for (uint32_t i = from; i < class_->mro_count; i++) {
        dv_class *c = class_->mro[i];
        if (c->descriptor && c->filled != DV_FILLED_ALL && !dv_class_fill(vm, c, name)) return NULL;
        dv_global_cell *cell = dv_namespace_find(&c->attributes, name);
        if (cell && !dv_is_empty(cell->value)) return cell;
    }
    return NULL;
}

dv_global_cell *dv_class_find(dv_vm *vm, dv_class *class_, dv_value name) {
    uint64_t hash = ((uintptr_t)class_ * 3 ^ name.bits) * 0x9E3779B97F4A7C15u;
    dv_found *known = &vm->found[hash >> (64 - DV_FOUND_BITS)];
    bool hit = known->class_ == class_ && dv_same(known->name, name) &&
               known->names_changed == vm->names_changed;
    if (DV_LIKELY(hit)) return known->cell;
    dv_global_cell *cell = dv_class_find_behind(vm, class_, 0, name);
    if (cell || dv_is_empty(vm->error)) *known = (dv_found){class_, name, cell, vm->names_changed};
    return cell;
}

/* A built-in type of the order, but for `object`, hides what comes behind it. */
static bool hides(const dv_class *class_, dv_value name) {
    return dv_namespace_find(&class_->attributes, name) != NULL;
}

dv_global_cell *dv_class_special(const dv_class *class_, dv_value name) {
    for (uint32_t i = 0; i + 1 < class_->mro_count; i++) {
        const dv_class *c = class_->mro[i];
        if (c->descriptor && !dv_is_extension_type(c->type)) {
            if (hides(c, name)) return NULL;
            continue;
        }
        dv_global_cell *cell = dv_namespace_find(&c->attributes, name);
        if (cell && !dv_is_empty(cell->value)) return cell;
    }
    return NULL;
}

/* Looks the method up and remembers it. */
static __attribute__((noinline)) dv_global_cell *find_special(dv_vm *vm, const dv_class *class_,
                                                              dv_value name) {
    dv_global_cell *cell = dv_class_special(class_, name);
    dv_special *place = &vm->specials[dv_special_at(vm, class_, name) - vm->specials];
    dv_value old = place->name;
    *place = (dv_special){class_, dv_retain(name), vm->names_changed, cell};
    if (dv_is_object(old)) dv_release(vm, old);
    return cell;
}

dv_global_cell *dv_class_special_again(dv_vm *vm, const dv_class *class_, dv_value name) {
    const dv_special *known = dv_special_at(vm, class_, name);
    bool fits = known->class_ == class_ && dv_same(known->name, name) &&
                known->names_changed == vm->names_changed;
    /* The cells of a class that is being torn down are empty. */
    if (DV_LIKELY(fits && !(known->cell && dv_is_empty(known->cell->value)))) return known->cell;
    return find_special(vm, class_, name);
}

const dv_global_cell dv_no_constructor = {.value = {DV_TAG_SPECIAL}, .name = {DV_TAG_SPECIAL}};

const dv_global_cell dv_exception_constructor = {.value = {DV_TAG_SPECIAL},
                                                 .name = {DV_TAG_SPECIAL}};

/* Those that are left out look at their arguments. */
static const dv_global_cell *exception_constructor(dv_vm *vm, dv_class *class_) {
    static const dv_error_class others[] = {DV_E_OS_ERROR, DV_E_UNICODE_ERROR, DV_E_SYNTAX_ERROR};
    if (class_->flags & (DV_CLASS_NEW | DV_CLASS_ABSTRACT) || class_->metaclass ||
        !(class_->descriptor || class_->flags & DV_CLASS_READY) ||
        dv_class_special(class_, vm->known.init))
        return NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (dv_class_is_subclass(class_, vm->error_classes[others[i]])) return NULL;
    return class_->constructor = &dv_exception_constructor;
}

const dv_global_cell *dv_class_constructor(dv_vm *vm, dv_class *class_) {
    if (class_->constructor) return class_->constructor;
    if (class_->type == DV_T_EXCEPTION) return exception_constructor(vm, class_);
    const uint16_t special = DV_CLASS_READY | DV_CLASS_NEW | DV_CLASS_ABSTRACT;
    bool plain = class_->type == DV_T_OBJECT && !class_->descriptor &&
                 (class_->flags & special) == DV_CLASS_READY &&
                 !(class_->metaclass && dv_class_special(class_->metaclass, vm->known.call));
    if (!plain) return NULL;
    const dv_global_cell *init = dv_class_special(class_, vm->known.init);
    class_->constructor = init ? init : &dv_no_constructor;
    return class_->constructor;
}

bool dv_class_truthful(dv_vm *vm, dv_class *class_) {
    if (class_->truthful) return true;
    class_->truthful = class_->type == DV_T_OBJECT && !class_->descriptor &&
                       class_->flags & DV_CLASS_READY &&
                       !dv_class_special_again(vm, class_, vm->known.bool_) &&
                       !dv_class_special_again(vm, class_, vm->known.len);
    return class_->truthful;
}

bool dv_class_textual(dv_vm *vm, dv_class *class_) {
    if (class_->textual) return true;
    class_->textual = class_->type == DV_T_STR && !class_->descriptor &&
                      class_->flags & DV_CLASS_READY &&
                      !dv_class_special_again(vm, class_, vm->known.hash) &&
                      !dv_class_special_again(vm, class_, vm->known.eq) &&
                      !dv_class_special_again(vm, class_, vm->known.ne);
    return class_->textual;
}

bool dv_class_unequal(dv_vm *vm, dv_class *class_) {
    if (class_->unequal) return true;
    class_->unequal = class_->type == DV_T_OBJECT && !class_->descriptor && !vm->address_key &&
                      class_->flags & DV_CLASS_READY &&
                      !dv_class_special_again(vm, class_, vm->known.hash) &&
                      !dv_class_special_again(vm, class_, vm->known.eq) &&
                      !dv_class_special_again(vm, class_, vm->known.ne);
    return class_->unequal;
}

/* Which flags an attribute of this name gives a class. */
static uint16_t flags_of(dv_vm *vm, dv_value name, dv_value value) {
    const dv_known *known = &vm->known;
    if (dv_same(name, known->getattribute)) return DV_CLASS_GETATTRIBUTE;
    if (dv_same(name, known->setattr) || dv_same(name, known->delattr)) return DV_CLASS_SETATTR;
    if (dv_same(name, known->new_)) return DV_CLASS_NEW;
    if (dv_same(name, known->get)) return DV_CLASS_DESCRIPTOR;
    if (dv_same(name, known->set) || dv_same(name, known->delete_)) return DV_CLASS_SETTER;
    uint16_t claims = dv_same(name, known->class_) ? DV_CLASS_CLAIMS : 0;
    return claims | (dv_is_data_descriptor(vm, value) ? DV_CLASS_DATA : 0);
}

bool dv_class_store(dv_vm *vm, dv_class *class_, dv_value name, dv_value value) {
    dv_global_cell *cell = dv_namespace_cell(vm, &class_->attributes, name);
    /* Most stores replace a value that is no slot by another one. */
    bool concerns_slots =
        cell && (dv_is_empty(cell->value) || dv_is_shape(cell->value, DV_T_MEMBER) ||
                 dv_is_shape(value, DV_T_MEMBER));
    bool possible = cell && (!concerns_slots || dv_slots_store(vm, class_, cell, value));
    if (!possible) {
        dv_release(vm, value);
        return false;
    }
    uint16_t flags = dv_is_empty(value) ? 0 : flags_of(vm, name, value);
    bool other_names = dv_is_empty(cell->value) != dv_is_empty(value);
    if (flags & ~class_->flags) dv_class_flag(class_, flags);
    if (class_->flags & DV_CLASS_READY && (other_names || flags)) {
        /* Its instances, which may be attributes of any class, become data descriptors. */
        bool all = flags & DV_CLASS_SETTER;
        if (all) dv_class_flag(vm->classes[DV_T_OBJECT], DV_CLASS_DATA);
        dv_class_touch(vm, all ? vm->classes[DV_T_OBJECT] : class_);
    }
    vm->finalisers |= dv_same(name, vm->known.del);
    dv_cell_store(vm, cell, value);
    return true;
}

bool dv_class_is_subclass(const dv_class *class_, const dv_class *base) {
    if (dv_class_derives_at_once(class_, base)) return true;
    if (class_->linear) return false;
    for (uint32_t i = 1; i < class_->mro_count; i++)
        if (class_->mro[i] == base) return true;
    return false;
}

/* Shapes ----------------------------------------------------------------------------------------
 */

static bool number_shape(dv_vm *vm, dv_shape *shape) {
    if (vm->shape_count == vm->shape_capacity) {
        uint32_t capacity = vm->shape_capacity * 2;
        void *shapes =
            dv_heap_resize(&vm->heap, vm->shapes, vm->shape_capacity * sizeof *vm->shapes,
                           capacity * sizeof *vm->shapes);
        if (!shapes) return false;
        vm->shapes = shapes;
        vm->shape_capacity = capacity;
    }
    if (vm->shape_count >= DV_SHAPE_LIMIT) return false;
    uint32_t layout = shape->class_->type == DV_T_OBJECT ? 0 : shape->class_->type;
    uint32_t index = vm->shape_count++;
    shape->number = index | layout << DV_LAYOUT_SHIFT;
    vm->shapes[index] = shape;
    return true;
}

static dv_shape *new_shape(dv_vm *vm, dv_class *class_, dv_shape *parent, dv_value name) {
    dv_shape *shape = dv_heap_alloc(&vm->heap, sizeof *shape);
    if (shape) {
        *shape = (dv_shape){.count = parent ? parent->count + 1 : 0,
                            .class_ = class_,
                            .parent = parent,
                            .name = dv_retain(name),
                            .sibling = parent ? parent->children : NULL};
        shape->dictionary = parent ? parent->dictionary : 0;
        if (dv_same(name, vm->known.dict)) shape->dictionary = shape->count;
        if (number_shape(vm, shape)) return shape;
        dv_release(vm, name);
        dv_heap_free(&vm->heap, shape, sizeof *shape);
    }
    dv_raise_memory(vm);
    return NULL;
}

dv_shape *dv_shape_root(dv_vm *vm, dv_class *class_) {
    if (!class_->root) class_->root = new_shape(vm, class_, NULL, DV_EMPTY);
    return class_->root;
}

static uint32_t hash_of(dv_value name) {
    return (uint32_t)((name.bits >> 4) * 0x9E3779B97F4A7C15u >> 40);
}

int32_t dv_shape_slot(const dv_shape *shape, dv_value name) {
    if (!shape->index) {
        for (; shape->parent; shape = shape->parent)
            if (dv_same(shape->name, name)) return (int32_t)shape->count - 1;
        return -1;
    }
    uint32_t mask = shape->index_capacity - 1;
    for (uint32_t at = hash_of(name) & mask;; at = (at + 1) & mask) {
        if (dv_same(shape->index[at].name, name)) return shape->index[at].slot;
        if (dv_is_empty(shape->index[at].name)) return -1;
    }
}

/* Without memory for it a shape stays without index. */
static void make_index(dv_vm *vm, dv_shape *shape) {
    uint32_t capacity = 4 * INDEX_FROM;
    while (capacity < 2 * shape->count) capacity *= 2;
    struct dv_shape_entry *index = dv_heap_alloc(&vm->heap, capacity * sizeof *index);
    if (!index) return;
    for (uint32_t i = 0; i < capacity; i++) index[i].name = DV_EMPTY;
    for (const dv_shape *from = shape; from->parent; from = from->parent) {
        uint32_t at = hash_of(from->name) & (capacity - 1);
        while (!dv_is_empty(index[at].name)) at = (at + 1) & (capacity - 1);
        index[at] = (struct dv_shape_entry){from->name, (int32_t)from->count - 1};
    }
    shape->index = index;
    shape->index_capacity = capacity;
}

void dv_shape_names(const dv_shape *shape, dv_value *names) {
    for (; shape->parent; shape = shape->parent) names[shape->count - 1] = shape->name;
}

int32_t dv_shape_find(dv_vm *vm, dv_shape *shape, dv_value name) {
    if (shape->count >= INDEX_FROM && !shape->index && ++shape->lookups == INDEX_LOOKUPS)
        make_index(vm, shape);
    return dv_shape_slot(shape, name);
}

dv_shape *dv_shape_child(const dv_shape *shape, dv_value name) {
    dv_shape *child = shape->children;
    while (child && !dv_same(child->name, name)) child = child->sibling;
    return child;
}

dv_shape *dv_shape_add(dv_vm *vm, dv_shape *shape, dv_value name) {
    dv_shape *child = dv_shape_child(shape, name);
    if (child) return child;
    if (shape->count >= SLOT_LIMIT) {
        dv_raise_memory(vm);
        return NULL;
    }
    child = new_shape(vm, shape->class_, shape, name);
    if (!child) return NULL;
    shape->children = child;
    bool crowded = ++shape->class_->shape_count == DV_CLASS_SHAPES;
    if (++shape->child_count == DV_SHAPE_CHILDREN || crowded)
        shape->class_->flags |= DV_CLASS_CROWDED;
    return child;
}

/* Instances -------------------------------------------------------------------------------------
 */

static size_t instance_size(uint32_t inline_slots) {
    return sizeof(dv_instance) + inline_slots * sizeof(dv_value);
}

dv_value dv_instance_new(dv_vm *vm, dv_class *class_) {
    dv_shape *root = class_->root ? class_->root : dv_shape_root(vm, class_);
    if (!root) return DV_EMPTY;
    uint16_t inline_slots = class_->inline_slots;
    dv_instance *instance = dv_container_new(vm, instance_size(inline_slots), root->number);
    if (!instance) return DV_EMPTY;
    instance->overflow = NULL;
    instance->serial = DV_UNLIKELY(vm->finalisers) ? ++vm->collector.serial : 0;
    instance->overflow_capacity = 0;
    instance->inline_slots = (uint8_t)inline_slots;
    instance->ending = 0;
    class_->header.references++;
    return dv_object_value(instance);
}

void *dv_subclass_alloc(dv_vm *vm, dv_class *class_, size_t size) {
    dv_shape *root = dv_shape_root(vm, class_);
    if (!root) return NULL;
    dv_attributes *attributes =
        dv_heap_part_alloc(&vm->heap, DV_HEAP_OBJECTS, sizeof *attributes + size);
    if (!attributes) {
        dv_raise_memory(vm);
        return NULL;
    }
    uint32_t serial = vm->finalisers ? ++vm->collector.serial & SERIAL : 0;
    *attributes = (dv_attributes){.mark = DV_HEAP_PREFIX_MARK | serial};
    dv_object *object = (dv_object *)(void *)(attributes + 1);
    object->references = 1;
    object->shape = root->number;
    class_->header.references++;
    return object;
}

void dv_subclass_free(dv_vm *vm, dv_object *object, size_t size) {
    dv_class *class_ = dv_shape_at(vm, object->shape)->class_;
    dv_attributes *attributes = dv_attributes_of(object);
    if (attributes->values)
        dv_heap_free(&vm->heap, attributes->values, attributes->capacity * sizeof(dv_value));
    dv_container_free(vm, attributes, sizeof *attributes + size);
    dv_release_object(vm, &class_->header);
}

/* The attributes go before the contents, as in CPython. */
static void release_subclass(dv_vm *vm, dv_object *object) {
    if (dv_is_extension_type(object->shape >> DV_LAYOUT_SHIFT) && vm->release_depth == 0) {
        dv_object_dispose(vm, object); /* counts, as dv_object_end says: it comes back here */
        return;
    }
    const dv_shape *shape = dv_shape_at(vm, object->shape);
    dv_attributes *attributes = dv_attributes_of(object);
    if (DV_UNLIKELY(attributes->ending & DV_ENDING_WEAK) && !dv_weak_end(vm, object)) return;
    for (uint32_t i = 0, count = shape->count; i < count; i++)
        dv_release(vm, attributes->values[i]);
    vm->types[object->shape >> DV_LAYOUT_SHIFT]->release(vm, object);
}

/* An instance whose slots below `slot` are let go of already, and dies last, if it is an object. */
static __attribute__((noinline)) void release_rest(dv_vm *vm, dv_instance *instance, uint32_t slot,
                                                   dv_object *dead) {
    const dv_shape *shape = vm->shapes[instance->header.shape];
    dv_class *class_ = shape->class_;
    if (dead) dv_object_dispose(vm, dead);
    for (uint32_t count = shape->count; slot < count; slot++)
        dv_release(vm, *dv_instance_slot(instance, slot));
    if (instance->overflow)
        dv_heap_free(&vm->heap, instance->overflow, instance->overflow_capacity * sizeof(dv_value));
    dv_container_free(vm, instance, instance_size(instance->inline_slots));
    dv_release_object(vm, &class_->header);
}

/* Which has more slots than fit into it, or weak references. */
static __attribute__((noinline)) void release_wide(dv_vm *vm, dv_instance *instance) {
    if (instance->ending & DV_ENDING_WEAK && !dv_weak_end(vm, &instance->header)) return;
    release_rest(vm, instance, 0, NULL);
}

/* Without a call, so that nothing is saved, where nothing dies with the instance. */
static void release_plain(dv_vm *vm, dv_object *object) {
    dv_instance *instance = (dv_instance *)object;
    const dv_shape *shape = vm->shapes[object->shape];
    dv_class *class_ = shape->class_;
    const uint32_t count = shape->count, inline_slots = instance->inline_slots;
    if (DV_UNLIKELY(instance->overflow != NULL || count > inline_slots)) {
        release_wide(vm, instance);
        return;
    }
    const dv_value *slots = dv_instance_slot(instance, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (!dv_lets_go(slots[i])) continue;
        release_rest(vm, instance, i + 1, dv_as_object(slots[i]));
        return;
    }
    dv_container_free(vm, instance, instance_size(inline_slots));
    dv_release_object(vm, &class_->header);
}

/* The __del__ of an instance that has not run; NULL: none. */
static const dv_global_cell *finaliser_of(dv_vm *vm, const dv_object *object) {
    const dv_attributes *attributes = (const dv_attributes *)(const void *)object - 1;
    uint32_t ending = object->shape >> DV_LAYOUT_SHIFT ? attributes->ending
                                                       : ((const dv_instance *)object)->ending;
    return ending & DV_ENDING_FINALISED
               ? NULL
               : dv_class_special(dv_shape_at(vm, object->shape)->class_, vm->known.del);
}

bool dv_instance_has_finaliser(dv_vm *vm, const dv_object *object) {
    return finaliser_of(vm, object) != NULL;
}

uint32_t dv_instance_serial(const dv_object *object) {
    const dv_attributes *attributes = (const dv_attributes *)(const void *)object - 1;
    bool subclass = object->shape >> DV_LAYOUT_SHIFT;
    return (subclass ? attributes->mark : ((const dv_instance *)object)->serial) & SERIAL;
}

bool dv_instance_finalise(dv_vm *vm, dv_object *object) {
    const dv_global_cell *cell = finaliser_of(vm, object);
    if (!cell) return true;
    if (object->shape >> DV_LAYOUT_SHIFT)
        dv_attributes_of(object)->ending |= DV_ENDING_FINALISED;
    else
        ((dv_instance *)object)->ending |= DV_ENDING_FINALISED;
    return dv_finalise(vm, object, cell->value);
}

static inline void release_instance(dv_vm *vm, dv_object *object) {
    if (object->shape >> DV_LAYOUT_SHIFT)
        release_subclass(vm, object);
    else
        release_plain(vm, object);
}

static __attribute__((noinline)) void finalise_and_release(dv_vm *vm, dv_object *object) {
    if (vm->collector.ending) dv_collect_gone(vm, object);
    if (dv_instance_finalise(vm, object)) release_instance(vm, object);
}

void dv_instance_release(dv_vm *vm, dv_object *object) {
    if (DV_UNLIKELY(vm->finalisers))
        finalise_and_release(vm, object);
    else
        release_instance(vm, object);
}

void dv_instance_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    dv_instance *instance = (dv_instance *)object;
    const dv_shape *shape = vm->shapes[object->shape];
    for (uint32_t i = 0; i < shape->count; i++) visit(vm, *dv_instance_slot(instance, i), context);
    visit(vm, dv_object_value(shape->class_), context);
}

void dv_subclass_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_shape *shape = dv_shape_at(vm, object->shape);
    const dv_attributes *attributes = dv_attributes_of(object);
    const dv_type *type = vm->types[object->shape >> DV_LAYOUT_SHIFT];
    for (uint32_t i = 0; i < shape->count; i++) visit(vm, attributes->values[i], context);
    if (type->traverse) type->traverse(vm, object, visit, context);
    visit(vm, dv_object_value(shape->class_), context);
}

void dv_instance_clear(dv_vm *vm, dv_object *object) {
    const dv_shape *shape = dv_shape_at(vm, object->shape);
    while (shape->parent) { /* the last attribute first, and the instance is whole in between */
        shape = shape->parent;
        dv_value old = *dv_attribute_slot(object, shape->count);
        object->shape = shape->number;
        dv_release(vm, old);
    }
}

void dv_subclass_clear(dv_vm *vm, dv_object *object) {
    const dv_type *type = vm->types[object->shape >> DV_LAYOUT_SHIFT];
    dv_instance_clear(vm, object);
    if (type->clear) type->clear(vm, object);
}

/* Makes a block of values hold at least `needed`. */
static bool grow_values(dv_vm *vm, dv_value **values, uint32_t *capacity, uint32_t needed) {
    if (needed <= *capacity) return true;
    uint32_t larger = *capacity ? *capacity * 2 : 4;
    void *block =
        dv_heap_resize(&vm->heap, *values, *capacity * sizeof(dv_value), larger * sizeof(dv_value));
    if (!block) return dv_raise_memory(vm), false;
    *values = block;
    *capacity = larger;
    return true;
}

/* Room for slot number `slot`, the first free one; tells the class that its instances need so many.
 */
static bool make_room(dv_vm *vm, dv_object *object, dv_class *class_, uint32_t slot) {
    if (object->shape >> DV_LAYOUT_SHIFT) {
        dv_attributes *attributes = dv_attributes_of(object);
        uint32_t capacity = attributes->capacity;
        bool grown = grow_values(vm, &attributes->values, &capacity, slot + 1);
        attributes->capacity = capacity & ((1u << 30) - 1);
        return grown;
    }
    dv_instance *instance = (dv_instance *)object;
    if (slot < instance->inline_slots) return true;
    if (slot >= class_->inline_slots && class_->inline_slots < SLOTS_MAX)
        class_->inline_slots = slot < SLOTS_MAX ? (uint16_t)(slot + 1) : SLOTS_MAX;
    uint32_t capacity = instance->overflow_capacity;
    bool grown = grow_values(vm, &instance->overflow, &capacity, slot - instance->inline_slots + 1);
    instance->overflow_capacity = (uint16_t)capacity;
    return grown;
}

bool dv_instance_watch(dv_vm *vm, dv_object *object) {
    if (object->shape >> DV_LAYOUT_SHIFT) {
        dv_attributes_of(object)->ending |= DV_ENDING_WEAK;
        return true;
    }
    dv_instance *instance = (dv_instance *)object;
    uint32_t capacity = instance->overflow_capacity;
    bool grown = grow_values(vm, &instance->overflow, &capacity, 1);
    instance->overflow_capacity = (uint16_t)capacity;
    if (grown) instance->ending |= DV_ENDING_WEAK;
    return grown;
}

bool dv_instance_room(dv_vm *vm, dv_object *object, uint32_t slot) {
    return make_room(vm, object, dv_shape_at(vm, object->shape)->class_, slot);
}

bool dv_instance_store(dv_vm *vm, dv_object *object, dv_value name, dv_value value) {
    dv_shape *shape = dv_shape_at(vm, object->shape);
    int32_t slot = dv_shape_find(vm, shape, name);
    if (slot >= 0) {
        dv_value *place = dv_attribute_slot(object, (uint32_t)slot), old = *place;
        *place = dv_retain(value);
        dv_release(vm, old);
        return true;
    }
    dv_shape *next = dv_shape_add(vm, shape, name);
    if (!next || !make_room(vm, object, shape->class_, shape->count)) return false;
    *dv_attribute_slot(object, shape->count) = dv_retain(value);
    object->shape = next->number;
    return true;
}

/* The shape with all attributes of `shape` but the one at `slot`. */
static dv_shape *shape_without(dv_vm *vm, dv_shape *shape, uint32_t slot) {
    size_t size = shape->count * sizeof(dv_value);
    dv_value *names = dv_heap_alloc(&vm->heap, size);
    if (!names) {
        dv_raise_memory(vm);
        return NULL;
    }
    dv_shape_names(shape, names);
    dv_shape *result = shape->class_->root;
    for (uint32_t i = 0; i < shape->count && result; i++)
        if (i != slot) result = dv_shape_add(vm, result, names[i]);
    dv_heap_free(&vm->heap, names, size);
    return result;
}

bool dv_instance_delete(dv_vm *vm, dv_object *object, dv_value name, bool *found) {
    dv_shape *shape = dv_shape_at(vm, object->shape);
    int32_t slot = dv_shape_find(vm, shape, name);
    *found = slot >= 0;
    if (!*found) return true;
    dv_shape *without = shape_without(vm, shape, (uint32_t)slot);
    if (!without) return false;
    dv_value old = *dv_attribute_slot(object, (uint32_t)slot);
    for (uint32_t i = (uint32_t)slot + 1; i < shape->count; i++)
        *dv_attribute_slot(object, i - 1) = *dv_attribute_slot(object, i);
    object->shape = without->number;
    dv_release(vm, old);
    return true;
}
