/* abstract.c: abstract classes (abstract.h). */
#include "types/class/abstract.h"

#include <string.h>

#include "core/native.h"
#include "core/upcall.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/sequence/list.h"
#include "types/mapping/set.h"
#include "types/text/str.h"

/* Answers ---------------------------------------------------------------------------------------
 */

int dv_abstract_answer(dv_vm *vm, const dv_class *class_, dv_value abstract) {
    if (dv_is_empty(class_->answers) || class_->answers_time != vm->registrations) return -1;
    dv_value known = dv_dict_get(vm, class_->answers, abstract);
    if (dv_is_empty(known)) {
        dv_error_clear(vm);
        return -1;
    }
    return dv_same(known, DV_TRUE);
}

/* Keeps an answer, unless something was registered while it was found. */
static bool keep_answer(dv_vm *vm, dv_class *class_, dv_value abstract, bool answer,
                        uint32_t time) {
    if (time != vm->registrations) return true;
    if (dv_is_empty(class_->answers) || class_->answers_time != time) {
        dv_value fresh = dv_dict_new(vm), old = class_->answers;
        if (dv_is_empty(fresh)) return false;
        class_->answers = fresh;
        class_->answers_time = time;
        dv_release(vm, old);
    }
    return dv_dict_set(vm, class_->answers, abstract, dv_bool(answer));
}

/* What __subclasshook__ says: 1, 0, -1 raised, 2 nothing. */
static int ask_hook(dv_vm *vm, dv_value class_, dv_value abstract) {
    dv_value hook = dv_get_attribute(vm, abstract, vm->known.subclasshook);
    if (dv_is_empty(hook)) return -1;
    dv_value v = dv_call(vm, hook, &class_, 1, DV_EMPTY);
    dv_release(vm, hook);
    if (dv_is_empty(v)) return -1;
    int answer = dv_is_bool(v) ? dv_same(v, DV_TRUE) : 2;
    if (answer == 2 && !dv_same(v, DV_NOTIMPLEMENTED)) {
        dv_raise(vm, DV_E_ASSERTION_ERROR,
                 "__subclasshook__ must return either False, True, or NotImplemented");
        answer = -1;
    }
    dv_release(vm, v);
    return answer;
}

/* Is it a subclass of one of the classes in a list?  The list may grow meanwhile. */
static int ask_each(dv_vm *vm, dv_value class_, dv_value list) {
    int answer = 0;
    for (int64_t i = 0; answer == 0 && i < dv_as_list(list)->count; i++) {
        dv_value one = dv_retain(dv_as_list(list)->items[i]);
        answer = dv_is_subclass_of(vm, class_, one);
        dv_release(vm, one);
    }
    return answer;
}

static dv_value subclasses_of(dv_vm *vm, dv_value abstract) {
    static const char name[] = "__subclasses__";
    dv_value text = dv_str_intern(vm, name, sizeof name - 1);
    dv_value method = dv_is_empty(text) ? DV_EMPTY : dv_get_attribute(vm, abstract, text);
    dv_release(vm, text);
    dv_value list = dv_is_empty(method) ? DV_EMPTY : dv_call(vm, method, NULL, 0, DV_EMPTY);
    dv_release(vm, method);
    if (dv_is_empty(list) || dv_is_list(list)) return list;
    dv_release(vm, list);
    return dv_raise(vm, DV_E_TYPE_ERROR, "__subclasses__() must return a list");
}

static int find_answer(dv_vm *vm, dv_value class_, dv_value abstract) {
    int answer = ask_hook(vm, class_, abstract);
    if (answer != 2) return answer;
    if (dv_class_is_subclass(dv_as_class(class_), dv_as_class(abstract))) return 1;
    dv_value registered = dv_as_class(abstract)->registered;
    if (!dv_is_empty(registered)) {
        dv_retain(registered);
        answer = ask_each(vm, class_, registered);
        dv_release(vm, registered);
        if (answer != 0) return answer;
    }
    dv_value below = subclasses_of(vm, abstract);
    if (dv_is_empty(below)) return -1;
    answer = ask_each(vm, class_, below);
    dv_release(vm, below);
    return answer;
}

int dv_abstract_check(dv_vm *vm, dv_value class_, dv_value abstract) {
    int answer = dv_abstract_answer(vm, dv_as_class(class_), abstract);
    if (answer >= 0) return answer;
    if (!dv_enter_native(vm)) return -1;
    uint32_t time = vm->registrations;
    answer = find_answer(vm, class_, abstract);
    dv_leave_native(vm);
    if (answer >= 0 && !keep_answer(vm, dv_as_class(class_), abstract, answer, time)) return -1;
    return answer;
}

/* The class and those below it become what the abstract class is to patterns; built-in ones stay
 * what they are. */
static void pass_collection(const dv_class *abstract, dv_class *class_) {
    if (abstract->collection == DV_COLLECTION_NONE) return;
    for (dv_class *below = class_; below; below = below->next)
        if (!below->descriptor && dv_class_is_subclass(below, class_))
            below->collection = abstract->collection;
}

bool dv_abstract_register(dv_vm *vm, dv_value abstract, dv_value class_) {
    int known = dv_is_subclass_of(vm, class_, abstract);
    if (known) return known > 0;
    int cycle = dv_is_subclass_of(vm, abstract, class_);
    if (cycle > 0) dv_raise(vm, DV_E_RUNTIME_ERROR, "Refusing to create an inheritance cycle");
    if (cycle) return false;
    dv_class *to = dv_as_class(abstract);
    if (dv_is_empty(to->registered)) {
        to->registered = dv_list_new(vm, NULL, 0);
        if (dv_is_empty(to->registered)) return false;
    }
    vm->registrations++;
    pass_collection(to, dv_as_class(class_));
    return dv_list_append(vm, to->registered, class_);
}

/* Abstract methods ------------------------------------------------------------------------------
 */

/* value.__isabstractmethod__: 1, 0, -1 raised. */
static int is_abstract(dv_vm *vm, dv_value value) {
    static const char mark[] = "__isabstractmethod__";
    if (!dv_is_object(value) || dv_is_shape(value, DV_T_STR)) return 0;
    dv_value name = dv_str_intern(vm, mark, sizeof mark - 1);
    if (dv_is_empty(name)) return -1;
    dv_value v = dv_find_attribute(vm, value, name);
    dv_release(vm, name);
    if (dv_is_empty(v)) return dv_is_empty(vm->error) ? 0 : -1;
    int truth = dv_truth(vm, v);
    dv_release(vm, v);
    return truth;
}

static bool add_if_abstract(dv_vm *vm, dv_value set, dv_value name, dv_value value) {
    int abstract = is_abstract(vm, value);
    return abstract == 0 || (abstract > 0 && dv_set_add(vm, set, name));
}

static bool collect_own(dv_vm *vm, dv_value set, const dv_class *class_) {
    for (uint32_t i = 0; i < class_->attributes.count; i++) {
        const dv_global_cell *cell = class_->attributes.cells[i];
        if (dv_is_empty(cell->value)) continue;
        dv_value name = dv_retain(cell->name), value = dv_retain(cell->value);
        bool good = add_if_abstract(vm, set, name, value);
        dv_release(vm, name);
        dv_release(vm, value);
        if (!good) return false;
    }
    return true;
}

/* One of a base that the class still does not define. */
static bool collect_name(dv_vm *vm, dv_value set, dv_value class_, dv_value name) {
    dv_value value = dv_find_attribute(vm, class_, name);
    if (dv_is_empty(value)) return dv_is_empty(vm->error);
    bool good = add_if_abstract(vm, set, name, value);
    dv_release(vm, value);
    return good;
}

static dv_value attribute_name(dv_vm *vm, dv_value name) {
    if (dv_is_str(name)) return dv_str_intern_value(vm, name);
    return dv_raise(vm, DV_E_TYPE_ERROR, "attribute name must be string, not '%T'", name);
}

static bool collect_inherited(dv_vm *vm, dv_value set, dv_value class_, const dv_class *base) {
    const dv_global_cell *cell = dv_namespace_find(&base->attributes, vm->known.abstractmethods);
    if (!cell || dv_is_empty(cell->value)) return true;
    dv_value iterator = dv_iterate(vm, cell->value);
    if (dv_is_empty(iterator)) return false;
    bool good = true;
    while (good) {
        dv_value name = dv_next(vm, iterator);
        if (dv_is_empty(name)) break;
        dv_value known = attribute_name(vm, name);
        good = !dv_is_empty(known) && collect_name(vm, set, class_, known);
        dv_release(vm, known);
        dv_release(vm, name);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

bool dv_abstract_collect(dv_vm *vm, dv_value class_) {
    dv_value set = dv_set_new(vm);
    if (dv_is_empty(set)) return false;
    const dv_class *c = dv_as_class(class_);
    bool good = collect_own(vm, set, c);
    for (uint32_t i = 0; good && i < c->base_count; i++)
        good = collect_inherited(vm, set, class_, c->bases[i]);
    dv_value names = good ? dv_set_from(vm, DV_T_FROZENSET, set) : DV_EMPTY;
    dv_release(vm, set);
    good = !dv_is_empty(names) && dv_set_attribute(vm, class_, vm->known.abstractmethods, names);
    dv_release(vm, names);
    return good;
}

/* Special methods -------------------------------------------------------------------------------
 */

int dv_abstract_has(dv_vm *vm, dv_class *class_, dv_value name) {
    const dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (!cell) return dv_is_empty(vm->error) ? 0 : -1;
    return !dv_is_none(cell->value);
}
