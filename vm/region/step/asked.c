/* asked.c: the transfer function of questions that need no object: isinstance(), issubclass(),
 * type(), hasattr() and getattr() of what is not made (virtual.h), or of raw values.
 *
 * Invariant
 *  1. What is answered lasts: the class is the record's own, and who changes what it has, or its
 * bases, breaks vm->class_sites. */
#include "region/step/virtual.h"
#include "types/class/class.h"
#include "types/text/str.h"

/* The class of the entry; NULL: not known. */
static dv_class *class_of(const dv_build *b, const dv_known_value *e) {
    switch ((dv_kind)e->kind) {
    case DV_K_VIRTUAL: return dv_virtual_record(b, e)->shape->class_;
    case DV_K_INT: return b->vm->classes[DV_T_INT];
    case DV_K_FLOAT: return b->vm->classes[DV_T_FLOAT];
    case DV_K_BOOL: return b->vm->classes[DV_T_BOOL];
    case DV_K_CHAR:
    case DV_K_STR: return b->vm->classes[DV_T_STR];
    default: return NULL;
    }
}

static bool is_class(const dv_known_value *e) {
    return e->where == DV_AT_VALUE && dv_is_class(e->value);
}

/* Is the class one of those that are asked for, a class or a tuple of such?  -1: not known. */
static int is_among(const dv_build *b, const dv_class *class_, const dv_known_value *asked) {
    if (is_class(asked))
        return dv_as_class(asked->value)->metaclass
                   ? -1
                   : dv_class_is_subclass(class_, dv_as_class(asked->value));
    if (asked->kind != DV_K_VIRTUAL) return -1;
    const dv_virtual *record = dv_virtual_record(b, asked);
    if (!dv_virtual_is(record, DV_T_TUPLE)) return -1;
    int found = 0;
    for (uint32_t i = 0; i < record->shape->count && found >= 0; i++) {
        const int is = is_class(&record->values[i]) ? is_among(b, class_, &record->values[i]) : -1;
        found = is < 0 ? -1 : found | is;
    }
    return found;
}

/* isinstance(x, classes), or issubclass(). */
static bool ask_class(dv_build *b, const dv_class *class_, uint32_t *next_pc) {
    const int among = class_ ? is_among(b, class_, dv_top(b, 1)) : -1;
    if (among < 0 || !dv_build_depends(b, &b->vm->class_sites)) return false;
    *next_pc = dv_step_answer(b, 5, dv_bool(among), *next_pc);
    return true;
}

static bool ask_type(dv_build *b, uint32_t *next_pc) {
    dv_class *class_ = class_of(b, dv_top(b, 1));
    if (!class_ || !dv_build_depends(b, &b->vm->class_sites)) return false;
    *next_pc = dv_step_answer(b, 4, dv_object_value(class_), *next_pc);
    return true;
}

/* Is it a name that no object has by itself? */
static bool is_ordinary(dv_value name) {
    return dv_is_str(name) && dv_as_str(name)->length > 0 && dv_str_at(dv_as_str(name), 0) != '_';
}

/* Has the instance, or its class, such an attribute, which is there without any code; -1: not
 * known. */
static int has_attribute(dv_build *b, const dv_virtual *record, dv_value name) {
    dv_class *class_ = record->shape->class_;
    if (record->built || !is_ordinary(name)) return -1;
    if (dv_shape_slot(record->shape, name) >= 0) return 1;
    const dv_global_cell *cell = dv_class_find(b->vm, class_, name);
    const bool failed = !dv_is_empty(b->vm->error);
    if (failed) dv_error_clear(b->vm);
    if (failed || dv_class_special(class_, b->vm->known.getattr)) return -1;
    if (cell && !dv_is_function(cell->value)) return -1;
    class_->flags |= DV_CLASS_CACHED;
    return dv_build_depends(b, &b->vm->class_sites) ? cell != NULL : -1;
}

static bool ask_attribute(dv_build *b, uint32_t *next_pc) {
    const dv_known_value *name = dv_top(b, 1), *object = dv_top(b, 2);
    if (object->kind != DV_K_VIRTUAL || name->where != DV_AT_VALUE) return false;
    const int has = has_attribute(b, dv_virtual_record(b, object), name->value);
    if (has >= 0) *next_pc = dv_step_answer(b, 5, dv_bool(has), *next_pc);
    return has >= 0;
}

/* getattr(x, name), or with a default: a raw attribute, or none. */
static bool get_attribute(dv_build *b, int32_t n, uint32_t *next_pc) {
    const dv_known_value *name = dv_top(b, n - 1), *object = dv_top(b, n);
    if (object->kind != DV_K_VIRTUAL || name->where != DV_AT_VALUE) return false;
    const dv_virtual *record = dv_virtual_record(b, object);
    const int has = has_attribute(b, record, name->value);
    const int32_t slot = has > 0 ? dv_shape_slot(record->shape, name->value) : -1;
    if (has < 0 || (has && slot < 0) || (!has && n == 2)) return false;
    const dv_known_value v = has ? record->values[slot] : *dv_top(b, 1);
    if (v.where != DV_AT_SLOT && v.where != DV_AT_VALUE) return false;
    *next_pc = dv_step_replace(b, n + 3, &v, *next_pc);
    return true;
}

bool dv_step_ask(dv_build *b, dv_value callee, int32_t n, uint32_t *next_pc) {
    if (n == 1 && dv_same(callee, dv_object_value(b->vm->classes[DV_T_CLASS])))
        return ask_type(b, next_pc);
    if (n == 2 && dv_step_is_builtin(b, callee, "isinstance"))
        return ask_class(b, class_of(b, dv_top(b, 2)), next_pc);
    if (n == 2 && dv_step_is_builtin(b, callee, "issubclass"))
        return is_class(dv_top(b, 2)) && ask_class(b, dv_as_class(dv_top(b, 2)->value), next_pc);
    if (n == 2 && dv_step_is_builtin(b, callee, "hasattr")) return ask_attribute(b, next_pc);
    if ((n == 2 || n == 3) && dv_step_is_builtin(b, callee, "getattr"))
        return get_attribute(b, n, next_pc);
    return false;
}
