/* directory.c: which attributes values have (directory.h).  Names are collected as the keys of a
 * dict. */
#include "types/class/directory.h"

#include "core/upcall.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/class/instance.h"
#include "types/class/instance_dict.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/class/slots.h"
#include "types/text/str.h"

static bool add(dv_vm *vm, dv_value names, const char *text) {
    dv_value name = dv_str_intern(vm, text, strlen(text));
    bool done = !dv_is_empty(name) && dv_dict_set(vm, names, name, DV_NONE);
    dv_release(vm, name);
    return done;
}

bool dv_directory_add(dv_vm *vm, dv_value names, const dv_namespace *space) {
    for (uint32_t i = 0; i < space->count; i++) {
        const dv_global_cell *cell = space->cells[i];
        if (!dv_is_empty(cell->value) && !dv_dict_set(vm, names, cell->name, DV_NONE)) return false;
    }
    return true;
}

/* Attributes of instances that are computed elsewhere, and are no attributes of the class.
 * Exceptions share a type: theirs go by the name of the class. */
static const struct {
    dv_type_id type;
    const char *class_, *names[9];
} computed[] = {
    {DV_T_FUNCTION, NULL, {"__module__"}},
    {DV_T_CFUNCTION, NULL, {"__module__"}},
    {DV_T_STATICMETHOD,
     NULL,
     {"__annotations__", "__dict__", "__isabstractmethod__", "__module__", "__name__",
      "__qualname__"}},
    {DV_T_CLASSMETHOD,
     NULL,
     {"__annotations__", "__dict__", "__isabstractmethod__", "__module__", "__name__",
      "__qualname__"}},
    {DV_T_PROPERTY, NULL, {"__isabstractmethod__"}},
    {DV_T_PARTIAL, NULL, {"__dict__", "args", "func", "keywords"}},
    {DV_T_STREAM,
     NULL,
     {"buffer", "closed", "encoding", "errors", "line_buffering", "mode", "name", "newlines"}},
    {DV_T_EXCEPTION, "AttributeError", {"name", "obj"}},
    {DV_T_EXCEPTION, "ImportError", {"msg", "name", "path"}},
    {DV_T_EXCEPTION, "NameError", {"name"}},
    {DV_T_EXCEPTION, "OSError", {"errno", "filename", "filename2", "strerror"}},
    {DV_T_EXCEPTION, "StopIteration", {"value"}},
    {DV_T_EXCEPTION,
     "SyntaxError",
     {"end_lineno", "end_offset", "filename", "lineno", "msg", "offset", "text"}},
    {DV_T_EXCEPTION, "SystemExit", {"code"}},
    {DV_T_EXCEPTION, "UnicodeDecodeError", {"encoding", "end", "object", "reason", "start"}},
    {DV_T_EXCEPTION, "UnicodeEncodeError", {"encoding", "end", "object", "reason", "start"}},
    {DV_T_EXCEPTION, "UnicodeTranslateError", {"encoding", "end", "object", "reason", "start"}},
};

static bool add_computed(dv_vm *vm, dv_value names, const dv_class *class_) {
    for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
        bool meant = computed[i].type == class_->type &&
                     (!computed[i].class_ || dv_str_is(class_->name, computed[i].class_));
        for (const char *const *name = computed[i].names; meant && *name; name++)
            if (!add(vm, names, *name)) return false;
    }
    return true;
}

/* What a class has without keeping it in its namespace. */
static bool add_implied(dv_vm *vm, dv_value names, const dv_class *class_) {
    if (class_->descriptor) {
        bool dictionary = class_->type == DV_T_FUNCTION || class_->type == DV_T_MODULE ||
                          class_->type == DV_T_EXCEPTION;
        return add(vm, names, "__doc__") && add_computed(vm, names, class_) &&
               (class_->type != DV_T_OBJECT || add(vm, names, "__class__")) &&
               (!dictionary || add(vm, names, "__dict__"));
    }
    return (class_->flags & DV_CLASS_NO_DICT || add(vm, names, "__dict__")) &&
           (!class_->weak || class_->base->weak || add(vm, names, "__weakref__"));
}

static bool add_class(dv_vm *vm, dv_value names, const dv_class *class_) {
    for (uint32_t i = 0; i < class_->mro_count; i++) {
        dv_class *c = class_->mro[i];
        if (c->descriptor && !dv_class_fill(vm, c, DV_EMPTY)) return false;
        if (!dv_directory_add(vm, names, &c->attributes) || !add_implied(vm, names, c))
            return false;
    }
    return true;
}

static bool add_keys(dv_vm *vm, dv_value names, dv_value dict) {
    int64_t position = 0;
    dv_value key, value;
    while (dv_dict_walk(dict, &position, &key, &value))
        if (!dv_dict_set(vm, names, key, DV_NONE)) return false;
    return true;
}

/* Attributes of an instance of a dl class, without giving it a dict. */
static bool add_instance(dv_vm *vm, dv_value names, dv_value self) {
    const dv_shape *shape = dv_shape_at(vm, dv_as_object(self)->shape);
    if (shape->dictionary) {
        dv_value dict = dv_instance_dict(vm, self);
        return !dv_is_empty(dict) && add_keys(vm, names, dict);
    }
    for (; shape->parent; shape = shape->parent)
        if (!dv_slot_is_hidden(shape->name) && !dv_dict_set(vm, names, shape->name, DV_NONE))
            return false;
    return true;
}

static bool add_own(dv_vm *vm, dv_value names, dv_value self) {
    if (dv_is_instance(self)) return add_instance(vm, names, self);
    dv_value dict = dv_find_attribute(vm, self, vm->known.dict);
    if (dv_is_empty(dict)) return dv_is_empty(vm->error);
    bool done = !dv_is_dict(dict) || add_keys(vm, names, dict);
    dv_release(vm, dict);
    return done;
}

/* The keys as a list; takes names.  EMPTY names: raised. */
static dv_value listed(dv_vm *vm, dv_value names, bool good) {
    dv_value list = good ? dv_list_new(vm, NULL, 0) : DV_EMPTY;
    if (!dv_is_empty(list) && !dv_list_extend(vm, list, names)) {
        dv_release(vm, list);
        list = DV_EMPTY;
    }
    dv_release(vm, names);
    return list;
}

dv_value dv_object_dir(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value names = dv_dict_new(vm);
    return listed(vm, names,
                  !dv_is_empty(names) && add_own(vm, names, args[0]) &&
                      add_class(vm, names, dv_class_of(vm, args[0])));
}

dv_value dv_class_dir(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value names = dv_dict_new(vm);
    return listed(vm, names, !dv_is_empty(names) && add_class(vm, names, dv_as_class(args[0])));
}

dv_value dv_module_late(dv_vm *vm, dv_value v) {
    dv_module *module = dv_as_module(v);
    const dv_global_cell *asked = dv_namespace_find(&module->names, vm->known.getattr);
    dv_value name = dv_str_intern(vm, "__file__", 8);
    if (dv_is_empty(name)) return DV_EMPTY;
    const dv_global_cell *file = dv_namespace_find(&module->names, name);
    dv_release(vm, name);
    if (!asked || file || module->made || dv_same(v, vm->main)) return DV_EMPTY;
    dv_value list = dv_find_named(vm, v, "__all__");
    if (dv_is_empty(list) && dv_is_empty(vm->error)) list = dv_find_named(vm, v, "__late__");
    return list;
}

static bool add_late(dv_vm *vm, dv_value names, dv_value module) {
    dv_value list = dv_module_late(vm, module);
    bool good = dv_is_empty(vm->error);
    for (int64_t i = 0; good && dv_is_list(list) && i < dv_as_list(list)->count; i++)
        good = dv_dict_set(vm, names, dv_as_list(list)->items[i], DV_NONE);
    dv_release(vm, list);
    return good;
}

dv_value dv_module_dir(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_module *module = dv_as_module(args[0]);
    const dv_global_cell *own = dv_namespace_find(&module->names, vm->known.dir);
    if (own && !dv_is_empty(own->value)) {
        dv_value function = dv_retain(own->value);
        dv_value result = dv_call(vm, function, NULL, 0, DV_EMPTY);
        dv_release(vm, function);
        return result;
    }
    dv_value names = dv_dict_new(vm);
    return listed(vm, names,
                  !dv_is_empty(names) && dv_directory_add(vm, names, &module->names) &&
                      add_late(vm, names, args[0]));
}

/* A sorted list of the items; takes them. */
static dv_value sorted(dv_vm *vm, dv_value items) {
    if (dv_is_empty(items)) return DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0);
    bool done = !dv_is_empty(list) && dv_list_extend(vm, list, items) &&
                dv_list_sort(vm, list, DV_EMPTY, false);
    dv_release(vm, items);
    if (done) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

dv_value dv_directory(dv_vm *vm, dv_value v) {
    bool found;
    dv_value names = dv_special_call(vm, v, vm->known.dir, NULL, 0, &found);
    if (!found)
        names = dv_is_class(v)    ? dv_class_dir(vm, &v, 1)
                : dv_is_module(v) ? dv_module_dir(vm, &v, 1)
                                  : dv_object_dir(vm, &v, 1);
    return sorted(vm, names);
}

dv_value dv_directory_here(dv_vm *vm) {
    dv_value names = dv_dict_new(vm);
    return sorted(vm, listed(vm, names, !dv_is_empty(names) && dv_calling_names(vm, names)));
}
