/* suggest.c: names that are near to a missing one (suggest.h), by CPython 3.11's measure. */
#include "report/suggest.h"

#include "run/site.h"
#include "run/thread.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/file/module.h"
#include "types/class/slots.h"
#include "types/text/str.h"
#include "types/exception/traceback.h"

#define MOVE_COST  2
#define CASE_COST  1
#define LENGTH_MAX 40
#define NAMES_MAX  750

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static size_t substitution_cost(char a, char b) {
    if ((a & 31) != (b & 31)) return MOVE_COST;
    if (a == b) return 0;
    if (a >= 'A' && a <= 'Z') a += 'a' - 'A';
    if (b >= 'A' && b <= 'Z') b += 'a' - 'A';
    return a == b ? CASE_COST : MOVE_COST;
}

/* Levenshtein distance of two short texts that differ at both ends, a being the shorter. */
static size_t row_distance(const char *a, size_t a_size, const char *b, size_t b_size,
                           size_t max_cost) {
    size_t row[LENGTH_MAX], result = 0;
    for (size_t i = 0; i < a_size; i++) row[i] = (i + 1) * MOVE_COST;
    for (size_t j = 0; j < b_size; j++) {
        size_t distance = result = j * MOVE_COST, minimum = SIZE_MAX;
        for (size_t i = 0; i < a_size; i++) {
            size_t substitute = distance + substitution_cost(b[j], a[i]);
            distance = row[i];
            result = smaller(smaller(result, distance) + MOVE_COST, substitute);
            row[i] = result;
            minimum = smaller(minimum, result);
        }
        if (minimum > max_cost) return max_cost + 1;
    }
    return result;
}

static size_t distance_of(const char *a, size_t a_size, const char *b, size_t b_size,
                          size_t max_cost) {
    while (a_size && b_size && *a == *b) a++, a_size--, b++, b_size--;
    while (a_size && b_size && a[a_size - 1] == b[b_size - 1]) a_size--, b_size--;
    if (!a_size || !b_size) return (a_size + b_size) * MOVE_COST;
    if (a_size > LENGTH_MAX || b_size > LENGTH_MAX) return max_cost + 1;
    if (b_size < a_size) return distance_of(b, b_size, a, a_size, max_cost);
    if ((b_size - a_size) * MOVE_COST > max_cost) return max_cost + 1;
    return row_distance(a, a_size, b, b_size, max_cost);
}

/* The search so far.  Texts are UTF-8 on the heap; `best` belongs to the search. */
typedef struct search {
    dv_vm *vm;
    const char *name;
    size_t name_size;
    char *best;
    size_t best_size;
    int64_t best_distance;
    bool sorted; /* of equally near names the first in order of code points counts */
    uint32_t seen;
} search;

static int order_of(const char *a, size_t a_size, const char *b, size_t b_size) {
    int order = memcmp(a, b, smaller(a_size, b_size));
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static void consider(search *s, const char *text, size_t size) {
    s->seen++;
    if (size == s->name_size && memcmp(text, s->name, size) == 0) return;
    int64_t max_cost = (int64_t)((s->name_size + size + 3) * MOVE_COST / 6);
    bool replaces = s->sorted && s->best && order_of(text, size, s->best, s->best_size) < 0;
    int64_t beaten = replaces ? s->best_distance : s->best_distance - 1;
    if (max_cost > beaten) max_cost = beaten;
    if (max_cost < 0) return;
    int64_t distance = (int64_t)distance_of(s->name, s->name_size, text, size, (size_t)max_cost);
    if (distance > max_cost) return;
    char *copy = dv_heap_alloc(&s->vm->heap, size + 1);
    if (!copy) return;
    memcpy(copy, text, size);
    if (s->best) dv_heap_free(&s->vm->heap, s->best, s->best_size + 1);
    s->best = copy;
    s->best_size = size;
    s->best_distance = distance;
}

static void consider_value(search *s, dv_value name) {
    size_t size;
    char *text = dv_str_utf8(s->vm, name, &size);
    if (!text) {
        dv_error_clear(s->vm);
        return;
    }
    consider(s, text, size);
    dv_heap_free(&s->vm->heap, text, size + 1);
}

static void consider_namespace(search *s, const dv_namespace *space) {
    for (uint32_t i = 0; i < space->count; i++)
        if (!dv_is_empty(space->cells[i]->value)) consider_value(s, space->cells[i]->name);
}

/* Ends a search; keeps nothing of it but the suggestion. */
static dv_value finish(search *s) {
    if (!s->best) return DV_EMPTY;
    dv_value result = s->seen >= NAMES_MAX ? DV_EMPTY : dv_str_new(s->vm, s->best, s->best_size);
    dv_heap_free(&s->vm->heap, s->best, s->best_size + 1);
    s->best = NULL;
    s->best_distance = INT64_MAX;
    s->seen = 0;
    return result;
}

/* Locals of the innermost frame, then globals, then builtins. */
static dv_value suggest_name(search *s, const dv_exception *exception) {
    const dv_object *innermost = exception->trace_count ? exception->trace[0].code : NULL;
    for (dv_value at = exception->traceback; !dv_is_empty(at); at = dv_as_traceback(at)->next)
        innermost = dv_as_traceback(at)->code;
    if (!innermost) return DV_EMPTY;
    const dv_thread *thread = (const dv_thread *)innermost;
    const dv_code *code = thread->code;
    for (uint32_t i = 0; i < code->local_count; i++)
        if (code->local_names[i].size && code->local_names[i].data[0] != '.')
            consider(s, code->local_names[i].data, code->local_names[i].size);
    dv_value result = finish(s);
    if (!dv_is_empty(result)) return result;
    consider_namespace(s, &thread->module->names);
    result = finish(s);
    if (!dv_is_empty(result)) return result;
    consider_namespace(s, &s->vm->builtins);
    for (const dv_cfunction_def *def = dv_evaluate_functions; def->name; def++)
        consider(s, def->name, strlen(def->name));
    for (const char *const *name = dv_site_names; *name && !s->vm->sys.flags[DV_FLAG_NO_SITE];
         name++)
        consider(s, *name, strlen(*name));
    return finish(s);
}

static void consider_class(search *s, const dv_class *class_) {
    for (uint32_t i = 0; i < class_->mro_count; i++) {
        dv_class *c = class_->mro[i];
        if (c->descriptor && !dv_class_fill(s->vm, c, DV_EMPTY)) dv_error_clear(s->vm);
        consider_namespace(s, &c->attributes);
    }
}

/* Attributes that types compute, so that no namespace lists them. */
static const struct {
    dv_type_id type; /* DV_T_COUNT: all */
    const char *names;
} computed[] = {
    {DV_T_COUNT, "__class__ __doc__"},
    {DV_T_INT, "denominator imag numerator real"},
    {DV_T_BOOL, "denominator imag numerator real"},
    {DV_T_FLOAT, "imag real"},
    {DV_T_COMPLEX, "imag real"},
    {DV_T_RANGE, "start step stop"},
    {DV_T_SLICE, "start step stop"},
    {DV_T_FUNCTION,
     "__closure__ __code__ __defaults__ __kwdefaults__ __module__ __name__ __qualname__"},
    {DV_T_CFUNCTION, "__module__ __name__ __qualname__ __self__"},
    {DV_T_METHOD, "__func__ __self__"},
    {DV_T_CELL, "cell_contents"},
    {DV_T_CLASS,
     "__base__ __bases__ __dict__ __module__ __mro__ __name__ __qualname__ __subclasses__ mro"},
    {DV_T_GENERATOR, "__name__ __qualname__ gi_code gi_frame gi_running gi_suspended gi_yieldfrom"},
    {DV_T_TRACEBACK, "tb_frame tb_lineno tb_next"},
    {DV_T_FRAME, "f_back f_code f_globals f_lineno f_locals"},
    {DV_T_EXCEPTION, "__cause__ __context__ __suppress_context__ __traceback__ args"},
    {DV_T_STREAM, "closed encoding errors line_buffering mode name newlines"},
    {DV_T_STRING_IO, "closed line_buffering newlines"},
    {DV_T_BYTES_IO, "closed"},
};

static void consider_computed(search *s, dv_type_id type) {
    for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
        if (computed[i].type != DV_T_COUNT && computed[i].type != type) continue;
        for (const char *at = computed[i].names; *at;) {
            size_t size = strcspn(at, " ");
            consider(s, at, size);
            at += size + (at[size] == ' ');
        }
    }
}

static void consider_instance(search *s, dv_value object) {
    const dv_shape *shape = dv_shape_at(s->vm, dv_as_object(object)->shape);
    int64_t position = 0;
    dv_value key, value;
    if (shape->dictionary) {
        dv_value dict = *dv_attribute_slot(dv_as_object(object), shape->dictionary - 1);
        while (dv_dict_walk(dict, &position, &key, &value))
            if (dv_is_str(key)) consider_value(s, key);
    }
    for (; shape->parent; shape = shape->parent)
        if (!dv_slot_is_hidden(shape->name)) consider_value(s, shape->name);
}

static dv_value suggest_attribute(search *s, dv_value object) {
    s->sorted = true;
    if (dv_is_module(object)) {
        consider_namespace(s, &dv_as_module(object)->names);
        return finish(s);
    }
    if (dv_is_instance(object)) consider_instance(s, object);
    consider_computed(s, dv_type_of(s->vm, object));
    consider_class(s, dv_is_class(object) ? dv_as_class(object) : dv_class_of(s->vm, object));
    return finish(s);
}

dv_value dv_suggestion(dv_vm *vm, dv_value value) {
    const dv_exception *exception = dv_as_exception(value);
    bool of_name = exception->class_ == vm->error_classes[DV_E_NAME_ERROR];
    bool of_attribute = exception->class_ == vm->error_classes[DV_E_ATTRIBUTE_ERROR];
    dv_value name = of_name || of_attribute ? dv_exception_get(value, "name") : DV_EMPTY;
    if (dv_is_empty(name) || !dv_is_str(name)) return DV_EMPTY;
    search s = {.vm = vm, .best_distance = INT64_MAX};
    char *text = dv_str_utf8(vm, name, &s.name_size);
    dv_value result = DV_EMPTY;
    if (text) {
        s.name = text;
        dv_value object = of_attribute ? dv_exception_get(value, "obj") : DV_EMPTY;
        if (of_name)
            result = suggest_name(&s, exception);
        else if (!dv_is_empty(object))
            result = suggest_attribute(&s, object);
        dv_heap_free(&vm->heap, text, s.name_size + 1);
    }
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    return result;
}
