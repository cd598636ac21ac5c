/* type.c: making types of extensions, and their objects (type.h). */
#include "plugin/type.h"

#include "plugin/debug.h"
#include "plugin/table.h"
#include "types/class/class.h"
#include "types/callable/function.h"
#include "types/file/module.h"
#include "types/text/str.h"

/* ---- Describing ---- */

static bool is_well_formed(const dvx_type *type) {
    if (!type->name || type->payload > PTRDIFF_MAX / 2) return false;
    if (!type->traverse != !type->clear) return false;
    if ((type->method_count && !type->methods) || (type->attribute_count && !type->attributes))
        return false;
    if (type->buffer_axes) {
        size_t size = offsetof(dvx_buffer, axes) + type->buffer_axes * sizeof(dvx_axis);
        if (type->buffer_axes > DVX_MOST_AXES || type->buffer % 8 || type->buffer > type->payload ||
            type->payload - type->buffer < size || type->payload > UINT32_MAX / 2)
            return false;
    }
    if (type->traits & DVX_BUFFER_ITEMS && !type->buffer_axes) return false;
    for (uint32_t i = 0; i < type->attribute_count; i++) {
        const dvx_attribute *a = type->attributes[i];
        if (!a || a->size < DV_SIZE_UP_TO(dvx_attribute, set) || !a->name || !a->get) return false;
    }
    return true;
}

static bool raise_malformed(dv_vm *vm, const dv_extension *extension) {
    dv_raise(vm, DV_E_SYSTEM_ERROR, "malformed type of extension %s", extension->described.name);
    return false;
}

static size_t size_of(const dv_extension_type *type) {
    return sizeof *type + type->described.attribute_count * sizeof *type->attributes;
}

/* "module.Type", in a block of the heap. */
static char *join_name(dv_vm *vm, dv_value module, const char *name) {
    size_t size;
    char *first = dv_str_utf8(vm, dv_as_module(module)->name, &size);
    if (!first) return NULL;
    size_t whole = size + 1 + strlen(name) + 1;
    char *joined = dv_heap_alloc(&vm->heap, whole);
    if (joined) {
        memcpy(joined, first, size);
        joined[size] = '.';
        memcpy(joined + size + 1, name, whole - size - 1);
    } else {
        dv_raise_memory(vm);
    }
    dv_heap_free(&vm->heap, first, size + 1);
    return joined;
}

static bool take_attributes(dv_vm *vm, dv_extension_type *type) {
    for (uint32_t i = 0; i < type->described.attribute_count; i++) {
        dv_extension_attribute *own = &type->attributes[i];
        const dvx_attribute *given = type->described.attributes[i];
        if (!dv_extension_copy(&own->described, sizeof own->described, given, sizeof given->size))
            return false;
        own->name = dv_str_intern(vm, given->name, strlen(given->name));
        if (dv_is_empty(own->name)) return false;
        own->getter = (dv_cfunction_def){.name = given->name, .flags = DV_CFUNCTION_GETTER};
    }
    return true;
}

/* A type with this number; it belongs to the extension, whatever becomes of it.  NULL: raised. */
static dv_extension_type *describe(dv_vm *vm, dv_extension *extension, dv_value module,
                                   const dvx_type *given, dv_type_id id) {
    dvx_type copy;
    dvx_parameters parameters, call_parameters;
    if (!dv_extension_copy(&copy, sizeof copy, given, DV_SIZE_UP_TO(dvx_type, set_attribute)) ||
        !is_well_formed(&copy) || !dv_extension_copy_parameters(&parameters, copy.parameters) ||
        !dv_extension_copy_parameters(&call_parameters, copy.call_parameters)) {
        raise_malformed(vm, extension);
        return NULL;
    }
    size_t size = sizeof(dv_extension_type) + copy.attribute_count * sizeof(dv_extension_attribute);
    dv_extension_type *type = dv_heap_alloc(&vm->heap, size);
    if (!type) {
        dv_raise_memory(vm);
        return NULL;
    }
    memset(type, 0, size);
    type->descriptor = given;
    type->described = copy;
    type->parameters = parameters;
    type->call_parameters = call_parameters;
    for (uint32_t i = 0; i < copy.attribute_count; i++) type->attributes[i].name = DV_EMPTY;
    type->next = extension->types;
    extension->types = type;
    type->name = join_name(vm, module, copy.name);
    if (!type->name || !take_attributes(vm, type)) return NULL;
    type->type =
        (dv_type){.name = type->name,
                  .id = id,
                  .buffer_axes = copy.buffer_axes,
                  .buffer = (uint32_t)(offsetof(dv_extension_object, payload) + copy.buffer)};
    if (copy.traits & DVX_BUFFER_ITEMS) type->type.items = type->type.buffer;
    type->type.num_items = copy.traits & DVX_NUMBER_ITEMS;
    type->type.filled_by_new = copy.initialise && copy.traits & DVX_FILLED_BY_NEW;
    if (vm->extensions.plugins->debug) dv_debug_wrap(type);
    dv_extension_fill_slots(type);
    return type;
}

void dv_extension_free_types(dv_vm *vm, dv_extension_type *type) {
    while (type) {
        dv_extension_type *next = type->next;
        for (uint32_t i = 0; i < type->described.attribute_count; i++)
            dv_release(vm, type->attributes[i].name);
        if (type->name) dv_heap_free(&vm->heap, type->name, strlen(type->name) + 1);
        dv_heap_free(&vm->heap, type, size_of(type));
        type = next;
    }
}

/* ---- The end ---- */

/* What is alive when the VM ends, as an array. */
typedef struct survivors {
    dv_object **objects; /* NULL: they are only counted */
    size_t count;
} survivors;

static void find_in_part(dv_vm *vm, dv_heap_part_id part, survivors *found) {
    dv_heap_walk walk = dv_heap_walk_part(&vm->heap, part);
    dv_object *object;
    while ((object = dv_heap_next_object(&walk))) {
        if (!dv_is_extension_type(dv_type_of(vm, dv_object_value(object)))) continue;
        if (found->objects) found->objects[found->count] = object, object->references++;
        found->count++;
    }
}

static void find_survivors(dv_vm *vm, survivors *found) {
    found->count = 0;
    find_in_part(vm, DV_HEAP_OBJECTS, found);
    find_in_part(vm, DV_HEAP_KEPT, found);
}

/* They get a reference that is never released, so that none can go again when another lets go of
 * it; a payload of zeros is valid, if somebody still looks. */
void dv_extension_release_all(dv_vm *vm) {
    survivors found = {.objects = NULL};
    find_survivors(vm, &found);
    size_t size = found.count * sizeof *found.objects;
    if (!size || !(found.objects = dv_heap_alloc(&vm->heap, size))) return;
    find_survivors(vm, &found);
    for (size_t i = 0; i < found.count; i++) {
        dv_extension_object *object = (dv_extension_object *)found.objects[i];
        const dvx_type *slots = &object->type->described;
        if (slots->release) slots->release(vm, object->payload);
        memset(object->payload, 0, slots->payload);
        dv_error_clear(vm);
    }
    dv_heap_free(&vm->heap, found.objects, size);
}

/* ---- The class ---- */

static bool add(dv_vm *vm, dv_class *class_, const dv_cfunction_def *def) {
    dv_value function = dv_cfunction_new(vm, def, DV_EMPTY, dv_object_value(class_));
    return !dv_is_empty(function) && dv_namespace_set(vm, &class_->attributes, def->name, function);
}

static bool add_methods(dv_vm *vm, dv_extension *extension, const dv_extension_type *type) {
    for (uint32_t i = 0; i < type->described.method_count; i++) {
        const dvx_function *given = type->described.methods[i];
        if (!given) return raise_malformed(vm, extension);
        dv_extension_function *made = dv_extension_describe(vm, extension, given, true);
        if (!made) return false;
        made->owner = type->name;
        if (!add(vm, type->class_, &made->def)) return false;
    }
    return true;
}

static bool add_doc(dv_vm *vm, const dv_extension_type *type) {
    if (!type->described.doc) return true;
    dv_value doc = dv_api_make_str(vm, type->described.doc, strlen(type->described.doc));
    return !dv_is_empty(doc) && dv_namespace_set(vm, &type->class_->attributes, "__doc__", doc);
}

/* Everything is put into the class at once: lookups of special methods ask it as they ask classes
 * of dl. */
static bool fill_class(dv_vm *vm, dv_extension *extension, dv_extension_type *type) {
    type->class_ = vm->classes[type->type.id];
    if (!add_methods(vm, extension, type) || !add_doc(vm, type)) return false;
    for (uint32_t i = 0; i < type->described.attribute_count; i++)
        if (!add(vm, type->class_, &type->attributes[i].getter)) return false;
    bool unhashable = type->described.compare && !type->described.hash;
    if (unhashable && !dv_namespace_set(vm, &type->class_->attributes, "__hash__", DV_NONE))
        return false;
    return dv_class_fill(vm, type->class_, DV_EMPTY);
}

static bool add_type(dv_vm *vm, dv_extension *extension, dv_value module, const dvx_type *given) {
    uint32_t id = DV_T_EXTENSION;
    while (id < DV_T_COUNT && vm->types[id]) id++;
    if (id == DV_T_COUNT) {
        dv_raise(vm, DV_E_RUNTIME_ERROR, "more than %d types of extensions are not part of dl",
                 (int)(DV_T_COUNT - DV_T_EXTENSION));
        return false;
    }
    vm->extensions.plugins->named = NULL;
    dv_extension_type *type = describe(vm, extension, module, given, (dv_type_id)id);
    if (!type || !dv_class_know(vm, &type->type)) return false;
    if (!fill_class(vm, extension, type)) {
        type->class_->filled = DV_FILLED_ALL; /* it never is: its type goes before the class does */
        return false;
    }
    return dv_namespace_set(vm, &dv_as_module(module)->names, type->described.name,
                            dv_retain(dv_object_value(type->class_)));
}

bool dv_api_add_type(dvx_vm *vm, dvx_value module, const dvx_type *type) {
    dv_extension *extension = vm->extensions.plugins->loading;
    if (!extension || !dv_is_module(module)) {
        dv_raise(vm, DV_E_RUNTIME_ERROR, "an extension adds its types while it is imported");
        return false;
    }
    return add_type(vm, extension, module, type);
}

/* ---- Objects ---- */

/* The newest one, as an extension that was imported again has made it again.  Operators make one
 * result after another of one type, so the last one is kept. */
static const dv_extension_type *find(dv_vm *vm, const dvx_type *type) {
    const dv_extension_type *named = vm->extensions.plugins->named;
    if (DV_LIKELY(named && named->descriptor == type)) return named;
    for (const dv_extension *e = vm->extensions.plugins->extensions; e; e = e->next)
        for (const dv_extension_type *t = e->types; t; t = t->next)
            if (t->descriptor == type && t->class_) return vm->extensions.plugins->named = t;
    dv_raise(vm, DV_E_SYSTEM_ERROR, "an extension uses a type that it has not added");
    return NULL;
}

dvx_value dv_api_type_class(dvx_vm *vm, const dvx_type *type) {
    const dv_extension_type *found = find(vm, type);
    return found ? dv_retain(dv_object_value(found->class_)) : DV_EMPTY;
}

dvx_value dv_api_make_object(dvx_vm *vm, const dvx_type *type, void **payload) {
    const dv_extension_type *found = find(vm, type);
    dv_value made = found ? found->type.make(vm, found->class_) : DV_EMPTY;
    *payload = dv_is_empty(made) ? NULL : ((dv_extension_object *)dv_as_object(made))->payload;
    return made;
}

void *dv_api_payload(dvx_vm *vm, dvx_value v, const dvx_type *type) {
    if (!dv_is_object(v) || !dv_is_extension_type(dv_type_of(vm, v))) return NULL;
    dv_extension_object *object = (dv_extension_object *)dv_as_object(v);
    return object->type->descriptor == type ? object->payload : NULL;
}

void *dv_api_check_payload(dvx_vm *vm, dvx_value v, const dvx_type *type) {
    if (!dv_api_given(vm, v)) return NULL;
    void *payload = dv_api_payload(vm, v, type);
    if (!payload) dv_raise(vm, DV_E_TYPE_ERROR, "a %s is required, not %T", type->name, v);
    return payload;
}
