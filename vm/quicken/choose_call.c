/* choose_call.c: choosing derivatives of calls (choose_call.h). */
#include "quicken/choose_call.h"

#include <string.h>

#include "dv_ops.h"
#include "run/bind.h"
#include "run/call.h"
#include "run/consume.h"
#include "run/operate.h"
#include "run/plan.h"
#include "types/class/class.h"

/* A call about to get a derivative. */
typedef struct call_site {
    dv_vm *vm;
    dv_cell *ip, *cache;
    dv_value callee;
    dv_value keywords; /* tuple of names, or EMPTY */
    dv_value last;     /* the topmost entry: the last argument, if there is one */
    int64_t count;     /* of arguments, self included */
    bool method;       /* CALL_METHOD..., */
    bool has_self;     /* which found a method: self is the first argument */
} call_site;

/* C functions and built-in types ---------------------------------------------------------------
 */

/* A C function that a derivative may call directly.  A method of a type (its owner is a class)
 * counts only with the self that LOAD_METHOD found it on: its entry does not check the type again.
 */
static bool is_plain_c(const call_site *c) {
    if (!dv_is_shape(c->callee, DV_T_CFUNCTION)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(c->callee);
    const dv_cfunction_def *def = function->def;
    bool plain = def->entry || (def->keyword_entry && def->flags == 0);
    return plain && dv_is_empty(function->self) && (c->has_self || !dv_is_class(function->owner)) &&
           c->count >= def->min && (uint64_t)c->count <= def->max;
}

/* A bound method of C that a derivative may call directly: its self was looked at when it was
 * bound.
 */
static bool is_bound_c(const call_site *c) {
    if (c->method || !dv_is_shape(c->callee, DV_T_CFUNCTION)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(c->callee);
    const dv_cfunction_def *def = function->def;
    return def->entry && !(def->flags & DV_CFUNCTION_WRAPPER) && !dv_is_empty(function->self) &&
           c->count + 1 >= def->min && (uint64_t)c->count + 1 <= def->max;
}

/* A method of a built-in class that looks at its arguments itself. */
static bool is_of_type(const call_site *c) {
    if (!c->method || !dv_is_shape(c->callee, DV_T_CFUNCTION)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(c->callee);
    return dv_is_empty(function->self) && dv_is_class(function->owner) &&
           !(function->def->flags & ~(uint32_t)DV_CFUNCTION_WRAPPER);
}

/* Is the call's only argument but self a generator? */
static bool takes_generator(const call_site *c) {
    return c->count - c->has_self == 1 && dv_is_generator(c->last);
}

/* The derivative that does the function's work itself, or one that calls it. */
static uint32_t form_of_c(const call_site *c, const dv_cfunction_def *def) {
    dv_cell *behind = c->ip + dv_op_infos[DV_OP_CALL_METHOD].length;
    bool drops = dv_op_of(c->vm, behind->h) == DV_OP_POP_TOP;
    if (takes_generator(c) && dv_consume_function(def) != DV_CONSUME_NOT) {
        bool joins = dv_consume_function(def) == DV_CONSUME_JOIN;
        if (joins ? c->has_self : !c->method)
            return joins ? DV_OP_CALL_METHOD_CONSUME : DV_OP_CALL_CONSUME;
    }
    switch (def->inlined) {
    case DV_INLINED_LEN:
        if (!c->method) return DV_OP_CALL_LEN;
        break;
    case DV_INLINED_APPEND:
        if (c->method && drops) return DV_OP_CALL_METHOD_APPEND;
        break;
    case DV_INLINED_ADD:
        if (c->has_self && drops && c->count == 2) return DV_OP_CALL_METHOD_ADD;
        break;
    case DV_INLINED_GET:
        if (c->has_self && c->count == 2) return DV_OP_CALL_METHOD_GET_2;
        if (c->has_self && c->count == 3) return DV_OP_CALL_METHOD_GET_3;
        break;
    case DV_INLINED_MIN:
        if (!c->method && c->count == 2) return DV_OP_CALL_MIN;
        break;
    case DV_INLINED_MAX:
        if (!c->method && c->count == 2) return DV_OP_CALL_MAX;
        break;
    case DV_INLINED_ISINSTANCE:
        if (!c->method) return DV_OP_CALL_ISINSTANCE;
        break;
    case DV_INLINED_ORD:
        if (!c->method) return DV_OP_CALL_ORD;
        break;
    case DV_INLINED_CHR:
        if (!c->method) return DV_OP_CALL_CHR;
        break;
    default: break;
    }
    static const uint32_t methods[] = {DV_OP_CALL_METHOD_C_1, DV_OP_CALL_METHOD_C_2,
                                       DV_OP_CALL_METHOD_C_3};
    if (def->entry && c->has_self && c->count <= 3) return methods[c->count - 1];
    static const uint32_t functions[2][2] = {
        {DV_OP_CALL_C_1, DV_OP_CALL_C_2}, {DV_OP_CALL_METHOD_C_BARE_1, DV_OP_CALL_METHOD_C_BARE_2}};
    if (def->entry && !c->has_self && (c->count == 1 || c->count == 2))
        return functions[c->method][c->count - 1];
    if (def->entry) return c->method ? DV_OP_CALL_METHOD_C : DV_OP_CALL_C;
    return c->method ? DV_OP_CALL_METHOD_C_NAMED : DV_OP_CALL_C_NAMED;
}

/* A built-in class whose call is its type's construct and nothing else (dv_class_construct), or
 * type itself with one argument. */
static bool is_plain_type(const call_site *c) {
    if (c->method || !dv_is_shape(c->callee, DV_T_CLASS)) return false;
    const dv_class *class_ = (const dv_class *)dv_as_object(c->callee);
    if (class_ == c->vm->classes[DV_T_CLASS]) return c->count == 1;
    return class_ == c->vm->classes[class_->type] && class_->type != DV_T_EXCEPTION &&
           class_->type != DV_T_CLASS && !class_->metaclass && class_->descriptor &&
           class_->descriptor->construct;
}

/* The derivative for a plain type. */
static uint32_t form_of_type(const call_site *c) {
    dv_vm *vm = c->vm;
    if (dv_as_class(c->callee) == vm->classes[DV_T_CLASS]) return DV_OP_CALL_TYPE_OF;
    if (takes_generator(c) && dv_consume_class(vm, dv_as_class(c->callee)) != DV_CONSUME_NOT)
        return DV_OP_CALL_TYPE_CONSUME;
    dv_cell *behind = c->ip + dv_op_infos[DV_OP_CALL].length;
    bool loops = dv_site_family(vm, behind) == DV_OP_GET_ITER;
    bool range =
        dv_as_class(c->callee) == vm->classes[DV_T_RANGE] && (c->count == 1 || c->count == 2);
    if (!loops || !range) return c->count == 1 ? DV_OP_CALL_TYPE_1 : DV_OP_CALL_TYPE;
    dv_site_covered(vm, behind);
    return DV_OP_CALL_RANGE;
}

/* The local with the cell of __class__ in the running function; -1: there is none. */
static int64_t local_of_class(const dv_vm *vm) {
    static const char name[] = "__class__";
    const dv_code *code = dv_frame_thread(vm->fp)->code;
    for (uint32_t i = code->local_count - code->free_count; i < code->local_count; i++) {
        const dv_text *text = &code->local_names[i];
        if (text->size == sizeof name - 1 && !memcmp(text->data, name, sizeof name - 1)) return i;
    }
    return -1;
}

/* The derivative for super().name(...) and super(class, self).name(...), with its cache filled in;
 * DV_OP_COUNT: none. */
static uint32_t form_of_super(const call_site *c) {
    dv_vm *vm = c->vm;
    if (c->method || !dv_same(c->callee, dv_object_value(vm->classes[DV_T_SUPER])))
        return DV_OP_COUNT;
    uint32_t behind = dv_op_of(vm, c->ip[dv_op_infos[DV_OP_CALL].length].h);
    if (behind >= DV_OP_COUNT || dv_op_infos[behind].family != DV_OP_LOAD_METHOD)
        return DV_OP_COUNT;
    if (c->count == 2) return DV_OP_CALL_SUPER_OF;
    int64_t local = local_of_class(vm);
    if (c->count || local < 0 || !dv_frame_thread(vm->fp)->code->positional_count)
        return DV_OP_COUNT;
    c->cache[0].i = local;
    return DV_OP_CALL_SUPER;
}

/* Functions and classes of dl ------------------------------------------------------------------
 */

/* Can a call with so many arguments enter the function's frame with defaults for the others? */
static bool has_defaults(const dv_function *function, int64_t parameters, int64_t count) {
    return parameters > count && dv_frame_defaults(function, parameters - count);
}

/* The derivative for a dl function whose positional parameters the arguments and defaults are;
 * DV_OP_COUNT: none. */
static uint32_t form_of_function(const call_site *c) {
    static const uint32_t exact[] = {DV_OP_CALL_DL, DV_OP_CALL_METHOD_BARE, DV_OP_CALL_METHOD_DL};
    static const uint32_t few[] = {DV_OP_CALL_DL_DEFAULTS, DV_OP_COUNT,
                                   DV_OP_CALL_METHOD_DL_DEFAULTS};
    int which = c->method + c->has_self;
    int64_t parameters = dv_function_thread(dv_as_function(c->callee))->exact_arguments;
    if (parameters == c->count) return exact[which];
    return has_defaults(dv_as_function(c->callee), parameters, c->count) ? few[which] : DV_OP_COUNT;
}

/* The __init__ of dl that a call of the class enters; EMPTY: there is none. */
static dv_value init_of(const call_site *c) {
    const dv_global_cell *cell = dv_class_constructor(c->vm, dv_as_class(c->callee));
    return cell && dv_is_function(cell->value) ? cell->value : DV_EMPTY;
}

/* The same for a class. */
static uint32_t form_of_class(const call_site *c, dv_value init) {
    if (c->method) return DV_OP_COUNT;
    int64_t parameters = dv_function_thread(dv_as_function(init))->init_arguments;
    if (parameters == c->count) return DV_OP_CALL_CLASS;
    return has_defaults(dv_as_function(init), parameters, c->count) ? DV_OP_CALL_CLASS_DEFAULTS
                                                                    : DV_OP_COUNT;
}

static uint32_t form_of_bound(const call_site *c) {
    dv_value function = ((const dv_method *)dv_as_object(c->callee))->function;
    bool exact = !c->method && dv_is_function(function) &&
                 dv_function_thread(dv_as_function(function))->exact_arguments == c->count + 1;
    return exact ? DV_OP_CALL_BOUND : DV_OP_COUNT;
}

/* The derivative for an instance with a __call__ of dl. */
static uint32_t form_of_instance(const call_site *c) {
    const dv_special *known = dv_operate_known(c->vm, c->callee, c->vm->known.call);
    if (c->method || !known || !known->cell || !dv_is_function(known->cell->value))
        return DV_OP_COUNT;
    const dv_thread *thread = dv_function_thread(dv_as_function(known->cell->value));
    return thread->exact_arguments == c->count + 1 ? DV_OP_CALL_INSTANCE : DV_OP_COUNT;
}

/* The derivative for what C calls, or a class with a __new__ of dl; DV_OP_COUNT: none. */
static uint32_t form_of_object(const call_site *c) {
    const dv_value made_by = c->method ? DV_EMPTY : dv_call_new_of(c->vm, c->callee);
    if (!dv_is_empty(made_by) && c->count < DV_OPERATE_ARGUMENTS &&
        dv_function_thread(dv_as_function(made_by))->exact_arguments == c->count + 1)
        return DV_OP_CALL_CLASS_NEW;
    return !c->method && dv_call_is_of_object(c->vm, c->callee) ? DV_OP_CALL_OBJECT : DV_OP_COUNT;
}

/* The derivative for a callable of dl without keywords; DV_OP_COUNT: none. */
static uint32_t form_of_callable(const call_site *c) {
    if (dv_is_function(c->callee)) return form_of_function(c);
    if (dv_is_class(c->callee)) {
        dv_class *class_ = (dv_class *)dv_as_object(c->callee);
        if (!c->method && class_->type == DV_T_TUPLE &&
            dv_class_takes_fields(c->vm, class_, (uint32_t)c->count))
            return DV_OP_CALL_FIELDS;
        const dv_global_cell *known = dv_class_constructor(c->vm, dv_as_class(c->callee));
        if (known == &dv_no_constructor && !c->count && !c->method) return DV_OP_CALL_CLASS_BARE;
        if (known == &dv_exception_constructor && !c->method) return DV_OP_CALL_EXCEPTION;
        dv_value init = init_of(c);
        return dv_is_empty(init) ? DV_OP_COUNT : form_of_class(c, init);
    }
    if (dv_is_plain_instance(c->callee)) return form_of_instance(c);
    return dv_is_shape(c->callee, DV_T_METHOD) ? form_of_bound(c) : DV_OP_COUNT;
}

/* The derivative of calls by plans, with the plan in the cache; DV_OP_COUNT: there is none. */
static uint32_t form_with_plan(const call_site *c) {
    static const uint32_t functions[2][3] = {
        {DV_OP_CALL_DL_PLAN, DV_OP_CALL_METHOD_BARE_PLAN, DV_OP_CALL_METHOD_DL_PLAN},
        {DV_OP_CALL_KW_DL, DV_OP_CALL_METHOD_KW_BARE, DV_OP_CALL_METHOD_KW_DL}};
    static const uint32_t classes[2][2] = {{DV_OP_CALL_CLASS_PLAN, DV_OP_CALL_METHOD_CLASS},
                                           {DV_OP_CALL_KW_CLASS, DV_OP_CALL_METHOD_KW_CLASS}};
    bool named = !dv_is_empty(c->keywords), of_class = dv_is_class(c->callee);
    if (of_class && c->has_self) return DV_OP_COUNT;
    /* Several functions in turn: they are bound at each call. */
    if (named && dv_is_function(c->callee) && c->ip[1].site.backoff >= 2) return DV_OP_COUNT;
    dv_value function = of_class ? init_of(c) : c->callee;
    if (!dv_is_function(function)) return DV_OP_COUNT;
    const dv_code *code = dv_function_thread(dv_as_function(function))->code;
    /* What a generator returns is none of None. */
    if (of_class && (code->flags & DV_CODE_GENERATOR || !code->positional_count))
        return DV_OP_COUNT;
    bool bare = c->method && !c->has_self;
    const dv_plan_call call = {(uint32_t)c->count, c->keywords, of_class ? bare - 2 : bare,
                               of_class};
    const dv_plan *plan = dv_plan_make(c->vm, c->ip, dv_as_function(function), &call);
    if (!plan) return DV_OP_COUNT;
    c->cache[0].p = (void *)(uintptr_t)plan;
    return of_class ? classes[named][c->method] : functions[named][c->method + c->has_self];
}

/* A dl function with a `*` or `**` parameter, without names? */
static bool gathers(const call_site *c) {
    if (!dv_is_function(c->callee) || c->method != c->has_self) return false;
    const dv_function *function = dv_as_function(c->callee);
    return dv_function_thread(function)->code->flags & (DV_CODE_VARARGS | DV_CODE_VARKEYWORDS) &&
           dv_bind_is_plain(function, (uint32_t)c->count);
}

/* The derivative for a call with names that no plan does. */
static uint32_t form_with_names(const call_site *c) {
    if (dv_is_function(c->callee))
        return c->method ? DV_OP_CALL_METHOD_KW_BOUND : DV_OP_CALL_KW_BOUND;
    if (is_plain_type(c)) {
        c->cache[0].v = c->callee;
        return DV_OP_CALL_KW_TYPE;
    }
    if (!dv_is_shape(c->callee, DV_T_CFUNCTION)) return DV_OP_COUNT;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(c->callee);
    if (!function->def->keyword_entry || function->def->flags || !dv_is_empty(function->self) ||
        (!c->has_self && dv_is_class(function->owner)))
        return DV_OP_COUNT;
    c->cache[0].p = (void *)(uintptr_t)function->def;
    return c->method ? DV_OP_CALL_METHOD_KW_C : DV_OP_CALL_KW_C;
}

/* The derivative, with its cache filled in; DV_OP_COUNT: there is none. */
static uint32_t form_of(const call_site *c) {
    bool named = !dv_is_empty(c->keywords);
    uint32_t op = named ? DV_OP_COUNT : form_of_callable(c);
    if (op != DV_OP_COUNT) {
        if (dv_is_function(c->callee)) c->cache[0].p = dv_as_function(c->callee)->code;
        return op;
    }
    op = form_with_plan(c);
    if (op != DV_OP_COUNT) return op;
    if (named) return form_with_names(c);
    if (gathers(c)) return c->method ? DV_OP_CALL_METHOD_GATHER : DV_OP_CALL_GATHER;
    op = form_of_object(c);
    if (op != DV_OP_COUNT) return op;
    bool bound = is_bound_c(c);
    if (bound || is_plain_c(c)) {
        const dv_cfunction_def *def = ((const dv_cfunction *)dv_as_object(c->callee))->def;
        c->cache[0].p = (void *)(uintptr_t)def;
        return bound ? DV_OP_CALL_C_BOUND : form_of_c(c, def);
    }
    if (is_of_type(c)) {
        c->cache[0].p = (void *)(uintptr_t)((const dv_cfunction *)dv_as_object(c->callee))->def;
        return DV_OP_CALL_METHOD_C_OF_TYPE;
    }
    op = form_of_super(c);
    if (op != DV_OP_COUNT || !is_plain_type(c)) return op;
    c->cache[0].v = c->callee;
    return form_of_type(c);
}

static void choose(const call_site *c) {
    uint32_t op = form_of(c);
    if (op != DV_OP_COUNT)
        dv_site_become(c->vm, c->ip, op);
    else
        dv_site_refuse(c->vm, c->ip, DV_REASON_CALLEE);
}

/* A function, an object or (without keywords) the class of a type of an extension. */
static bool is_extensions(const dv_vm *vm, dv_value callee, bool named) {
    if (dv_is_shape(callee, DV_T_CFUNCTION))
        return ((const dv_cfunction *)dv_as_object(callee))->def->foreign_entry != NULL;
    if (!dv_is_class(callee) || named) return dv_is_foreign(callee);
    const dv_class *class_ = dv_as_class(callee);
    return dv_is_extension_type(class_->type) && class_ == vm->classes[class_->type];
}

/* An extension's function may bring a derivative of its own (plugin/oint.c). */
static bool choose_extension(const call_site *c, const dv_value *callee) {
    return is_extensions(c->vm, c->callee, !dv_is_empty(c->keywords)) &&
           c->vm->hooks.plugin.call(c->vm, c->ip, callee, (uint32_t)(c->count - c->has_self),
                                    c->method);
}

void dv_choose_call(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    int64_t count = ip[2].i;
    bool named = dv_site_family(vm, ip) == DV_OP_CALL_KW;
    const call_site c = {.vm = vm,
                         .ip = ip,
                         .cache = dv_site_cache(vm, ip),
                         .callee = sp[-count - 3],
                         .keywords = named ? ip[3].v : DV_EMPTY,
                         .last = sp[-1],
                         .count = count};
    if (!choose_extension(&c, sp - count - 3)) choose(&c);
}

void dv_choose_call_ex(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    const dv_value *given = sp - 1 - ip[2].i;
    if (dv_is_function(given[-3]))
        dv_site_become(vm, ip, DV_OP_CALL_EX_DL);
    else if (dv_is_shape(*given, DV_T_TUPLE) || dv_is_shape(*given, DV_T_LIST))
        dv_site_become(vm, ip, DV_OP_CALL_EX_OBJECT);
    else
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
}

void dv_choose_call_method(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    const dv_value *self = sp - ip[2].i - 1;
    bool has_self = !dv_is_empty(*self), named = dv_site_family(vm, ip) == DV_OP_CALL_METHOD_KW;
    const call_site c = {.vm = vm,
                         .ip = ip,
                         .cache = dv_site_cache(vm, ip),
                         .callee = self[-3],
                         .keywords = named ? ip[3].v : DV_EMPTY,
                         .last = sp[-1],
                         .count = ip[2].i + has_self,
                         .method = true,
                         .has_self = has_self};
    if (!choose_extension(&c, self - 3)) choose(&c);
}
