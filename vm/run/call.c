/* call.c: calls from C, and calls that are not simple (call.h). */
#include "run/call.h"

#include <string.h>

#include "core/native.h"
#include "core/work.h"
#include "run/bind.h"
#include "run/frame.h"
#include "run/operate.h"
#include "types/class/class.h"
#include "types/class/descriptor.h"
#include "types/exception/exception.h"
#include "types/class/subclass.h"

dv_value dv_function_make(dv_vm *vm, dv_thread *thread, dv_value defaults) {
    if (!dv_thread_know_name(vm, thread)) return DV_EMPTY;
    dv_function *function = dv_container_new(vm, sizeof *function, DV_T_FUNCTION);
    if (!function) return DV_EMPTY;
    function->code = &thread->header;
    thread->header.references++;
    function->globals = dv_retain(dv_object_value(thread->module));
    function->defaults = dv_retain(defaults);
    function->closure = function->keyword_defaults = function->annotations = DV_EMPTY;
    function->attributes = DV_EMPTY;
    function->name = dv_retain(thread->name);
    function->qualname = dv_retain(thread->qualname);
    return dv_object_value(function);
}

/* Calls of classes ------------------------------------------------------------------------------
 *
 * A call of a plain class, or of an exception class, that has an __init__ of dl enters its frame,
 * without C recursion:
 *
 *     class R R args...   becomes   self | caller's next ip | __init__ R R self args...
 *
 * `self` takes the place of the callee, so that the state of the call's pc says that it is owned,
 * and what comes next is reserved there: the unwinder needs to know nothing else.  The frame
 * returns to CONSTRUCTED (gen/ops/call.mako). */

/* The __init__ of an exception class of dl whose calls leave the rest to BaseException; NULL: there
 * is none. */
static const dv_global_cell *exception_init(dv_vm *vm, const dv_class *class_) {
    const uint16_t special = DV_CLASS_READY | DV_CLASS_NEW | DV_CLASS_ABSTRACT;
    if (class_->type != DV_T_EXCEPTION || class_->descriptor || class_->metaclass ||
        (class_->flags & special) != DV_CLASS_READY)
        return NULL;
    return dv_class_special_again(vm, class_, vm->known.init);
}

/* The same for a class that derives from another built-in type. */
static bool is_derived(const dv_class *class_) {
    const uint16_t special = DV_CLASS_READY | DV_CLASS_NEW | DV_CLASS_ABSTRACT;
    return class_->type != DV_T_OBJECT && class_->type != DV_T_EXCEPTION &&
           class_->type != DV_T_CLASS && class_->type < DV_T_COUNT && !class_->descriptor &&
           !class_->metaclass && (class_->flags & special) == DV_CLASS_READY;
}

static const dv_global_cell *init_cell(dv_vm *vm, dv_class *class_) {
    const dv_global_cell *cell = dv_class_constructor(vm, class_);
    if (DV_LIKELY(cell != NULL)) return cell;
    return is_derived(class_) ? dv_class_special_again(vm, class_, vm->known.init)
                              : exception_init(vm, class_);
}

/* The new instance for which __init__ is called. */
static dv_value make_self(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                          dv_value keywords) {
    if (class_->type == DV_T_OBJECT) return dv_instance_new(vm, class_);
    if (class_->type == DV_T_EXCEPTION) return dv_exception_make(vm, class_, args, count, keywords);
    return dv_subclass_new(vm, class_, args, count, keywords);
}

/* The __init__ that a call of the class would enter; EMPTY: it is to be called another way. */
static dv_value constructor_of(dv_vm *vm, dv_value callee, const dv_value *frame) {
    const dv_global_cell *cell = init_cell(vm, (dv_class *)dv_as_object(callee));
    if (!cell || !dv_is_function(cell->value)) return DV_EMPTY;
    const dv_thread *thread = dv_function_thread(dv_as_function(cell->value));
    bool enters =
        !(thread->code->flags & DV_CODE_GENERATOR) && dv_frame_fits(vm, thread, frame + 2);
    return enters ? cell->value : DV_EMPTY;
}

/* A call fails whose arguments are still there, and may be more than the state of its pc tells the
 * unwinder (open_method, call_star.c): they are released here. */
static const dv_cell *fail_call(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                dv_value *frame) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY; /* releases may run dl code */
    while (sp > frame) {
        vm->sp = --sp;
        dv_release(vm, *sp);
    }
    vm->error = error;
    return dv_slow_raise(link - 1, sp, fp, vm, 0, 0);
}

/* Enters the method of the object in the callee's place; `back` is where its frame returns to. */
static const dv_cell *enter_for(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                uint32_t count, dv_value keywords, dv_value method,
                                const dv_cell *back) {
    dv_value *frame = sp - count;
    memmove(frame + 3, frame, count * sizeof *frame);
    frame[-2] = dv_raw_pointer(link);
    frame[-1] = dv_retain(method);
    frame[2] = dv_retain(frame[-3]);
    frame += 2;
    vm->sp = frame + 1 + count;
    if (dv_bind_in_place(vm, dv_as_function(method), frame, count + 1, keywords)) {
        const dv_thread *thread = dv_function_thread(dv_as_function(frame[-3]));
        vm->sp = dv_frame_push(vm, thread, frame, fp, back);
        vm->fp = frame;
        return thread->entry;
    }
    vm->calls_left += back == dv_instance_cell;
    frame[-2] = frame[-1] = DV_EMPTY; /* where arguments have been */
    return fail_call(vm, link, frame + 1 + count, fp, frame - 3);
}

static const dv_cell *construct(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                uint32_t count, dv_value keywords, dv_value init) {
    dv_value *frame = sp - count, callee = frame[-3];
    dv_class *class_ = (dv_class *)dv_as_object(callee);
    dv_value self = make_self(vm, class_, frame, count, keywords);
    if (dv_is_empty(self)) return fail_call(vm, link, sp, fp, frame);
    frame[-3] = self;
    dv_release(vm, callee); /* not the last reference: self has one */
    return enter_for(vm, link, sp, fp, count, keywords, init, dv_construct_cell);
}

/* Calls of instances ----------------------------------------------------------------------------
 *
 * The frame of a __call__ of dl is entered likewise; it returns to CALLED. Such a call counts as
 * two, as in CPython, where C stands between the caller and the frame. */

/* The __call__ that a call of the callee would enter; EMPTY: it is to be called another way. */
static dv_value instance_call_of(dv_vm *vm, dv_value callee, const dv_value *frame) {
    const dv_class *class_ = vm->shapes[dv_as_object(callee)->shape]->class_;
    const dv_global_cell *cell = dv_class_special_again(vm, class_, vm->known.call);
    if (!cell || !dv_is_function(cell->value) || vm->calls_left < 2) return DV_EMPTY;
    bool enters = dv_frame_fits(vm, dv_function_thread(dv_as_function(cell->value)), frame + 2);
    return enters ? cell->value : DV_EMPTY;
}

static const dv_cell *call_instance(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                    uint32_t count, dv_value keywords, dv_value method) {
    vm->calls_left--;
    return enter_for(vm, link, sp, fp, count, keywords, method, dv_instance_cell);
}

bool dv_call_is_of_object(dv_vm *vm, dv_value callee) {
    if (dv_is_shape(callee, DV_T_CLASS)) { /* see dv_class_constructor */
        const dv_class *class_ = dv_as_class(callee), *meta = class_->metaclass;
        if (class_->descriptor || class_->type == DV_T_TUPLE) return false;
        return class_->flags & DV_CLASS_NEW ||
               (meta && dv_class_special_again(vm, meta, vm->known.call));
    }
    const dv_type *type = dv_operate_type(vm, callee);
    return type && type->call && type->id != DV_T_CFUNCTION && type->id != DV_T_METHOD;
}

/* Out of line: is there room for the frame, once what was waiting for a call is done?  False:
 * raised. */
static bool make_room(dv_vm *vm, const dv_thread *thread, const dv_value *frame) {
    if (dv_frame_fits(vm, thread, frame)) return true;
    if (!dv_poll_calls(vm)) return false;
    if (dv_frame_has_room(vm, thread, frame)) return true;
    dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
    return false;
}

bool dv_call_may_nest(dv_vm *vm) {
    if (!dv_poll_calls(vm)) return false;
    if (vm->calls_left > 0) return true;
    dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
    return false;
}

static const dv_cell *enter_function(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                     uint32_t count, dv_value keywords) {
    dv_value *frame = sp - count;
    dv_function *function = dv_as_function(frame[-3]);
    const dv_thread *thread = dv_function_thread(function);
    vm->ip = link, vm->sp = sp, vm->fp = fp;
    if (!make_room(vm, thread, frame) || !dv_bind_in_place(vm, function, frame, count, keywords))
        return fail_call(vm, link, sp, fp, frame);
    vm->sp = dv_frame_push(vm, thread, frame, fp, link);
    vm->fp = frame;
    return thread->entry;
}

/* ip is already behind the call. */
const dv_cell *dv_slow_enter_keywords(DV_HANDLER_PARAMETERS) {
    (void)d;
    return enter_function(vm, ip, sp, fp, (uint32_t)r, vm->keywords);
}

/* callee R R args -- result: any callee that is not a dl function. */
static const dv_cell *call_object(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                  uint32_t count, dv_value keywords) {
    vm->ip = link - 1, vm->sp = sp, vm->fp = fp;
    dv_value callee = sp[-(int64_t)count - 3];
    dv_value result = dv_call(vm, callee, sp - count, count, keywords);
    if (dv_is_empty(result)) return fail_call(vm, link, sp, fp, sp - count);
    for (uint32_t i = 1; i <= count; i++) dv_release(vm, sp[-(int64_t)i]);
    sp -= count + 2;
    sp[-1] = result;
    dv_release(vm, callee);
    vm->sp = sp;
    return link;
}

/* The class of a named tuple takes a value for each field: they become its items. */
static const dv_cell *make_fields(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                  uint32_t count) {
    dv_value *frame = sp - count, callee = frame[-3];
    dv_value self = dv_tuple_take_for(vm, dv_as_class(callee), frame, count);
    if (dv_is_empty(self)) return fail_call(vm, link, sp, fp, frame);
    frame[-3] = self;
    vm->sp = frame - 2;
    dv_release(vm, callee);
    return link;
}

dv_value dv_call_new_of(dv_vm *vm, dv_value callee) {
    if (!dv_is_shape(callee, DV_T_CLASS)) return DV_EMPTY;
    const dv_class *class_ = dv_as_class(callee);
    const uint32_t needed = DV_CLASS_NEW | DV_CLASS_READY;
    if (class_->descriptor || class_->metaclass || (class_->flags & needed) != needed ||
        (class_->type != DV_T_OBJECT && class_->type != DV_T_TUPLE))
        return DV_EMPTY;
    const dv_global_cell *cell = dv_class_special_again(vm, class_, vm->known.new_);
    if (!cell || dv_is_function(cell->value)) return cell ? cell->value : DV_EMPTY;
    return dv_is_shape(cell->value, DV_T_STATICMETHOD) ? dv_method_unbound(cell->value) : DV_EMPTY;
}

/* A bound method of a dl function becomes a call with self in front, without C recursion. */
static bool open_method(dv_vm *vm, dv_value **sp, uint32_t *count) {
    dv_value *frame = *sp - *count;
    const dv_method *method = (const dv_method *)dv_as_object(frame[-3]);
    if (!dv_is_function(method->function) || *sp + 1 > vm->stack_end) return false;
    dv_value callee = frame[-3];
    memmove(frame + 1, frame, *count * sizeof *frame);
    frame[0] = dv_retain(method->self);
    frame[-3] = dv_retain(method->function);
    dv_release(vm, callee);
    (*sp)++;
    (*count)++;
    return true;
}

const dv_cell *dv_call_entries(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                               uint32_t count, dv_value keywords) {
    dv_value callee = sp[-(int64_t)count - 3];
    vm->ip = link - 1, vm->sp = sp, vm->fp = fp;
    if (dv_is_shape(callee, DV_T_METHOD) && open_method(vm, &sp, &count))
        callee = sp[-(int64_t)count - 3];
    if (dv_is_function(callee)) return enter_function(vm, link, sp, fp, count, keywords);
    if (dv_is_shape(callee, DV_T_CLASS)) {
        if (dv_as_class(callee)->type == DV_T_TUPLE && dv_is_empty(keywords) &&
            vm->calls_left > 0 && dv_class_takes_fields(vm, dv_as_class(callee), count))
            return make_fields(vm, link, sp, fp, count);
        dv_value init = constructor_of(vm, callee, sp - count);
        if (!dv_is_empty(init)) return construct(vm, link, sp, fp, count, keywords, init);
    } else if (dv_is_plain_instance(callee)) {
        dv_value method = instance_call_of(vm, callee, sp - count);
        if (!dv_is_empty(method)) return call_instance(vm, link, sp, fp, count, keywords, method);
    }
    return call_object(vm, link, sp, fp, count, keywords);
}

/* The class and the arguments stay where they are (operate.h), and the frame gets its own. */
const dv_cell *dv_slow_enter_new(DV_HANDLER_PARAMETERS) {
    (void)d;
    const dv_cell *link = ip;
    const uint32_t count = (uint32_t)r;
    const dv_value *args = sp - count;
    const dv_value function = dv_call_new_of(vm, args[-3]);
    const dv_thread *thread = dv_function_thread(dv_as_function(function));
    dv_value *frame = sp + 5;
    if (thread->exact_arguments != (int64_t)count + 1 || vm->calls_left < 2 ||
        !dv_frame_fits(vm, thread, frame))
        return dv_call_entries(vm, link, sp, fp, count, DV_EMPTY);
    sp[0] = (dv_value){DV_TAG_INT | DV_OPERATE_HOW(DV_OPERATE_NEW, count, 0)};
    sp[1] = dv_raw_pointer(link);
    sp[2] = dv_retain(function);
    frame[0] = dv_retain(args[-3]);
    for (uint32_t i = 0; i < count; i++) frame[1 + i] = dv_retain(args[i]);
    vm->calls_left--;
    vm->sp = dv_frame_push(vm, thread, frame, fp, dv_operate_cell);
    vm->fp = frame;
    return thread->entry;
}

/* ip is already behind the call. */
const dv_cell *dv_slow_call(DV_HANDLER_PARAMETERS) {
    (void)d;
    return dv_call_entries(vm, ip, sp, fp, (uint32_t)r, DV_EMPTY);
}

const dv_cell *dv_slow_call_keywords(DV_HANDLER_PARAMETERS) {
    (void)d;
    return dv_call_entries(vm, ip, sp, fp, (uint32_t)r, vm->keywords);
}

/* Entering from C
 * --------------------------------------------------------------------------------------- */

/* Its caller needs nothing behind it but what is in volatile variables (engine.h, invariant 6). */
static inline void run_cells(dv_vm *vm, const dv_cell *ip) {
    vm->quiet.declared = NULL; /* anything may happen now */
    if (DV_UNLIKELY(vm->hooks.inspect.step != NULL))
        while (ip) ip = vm->hooks.inspect.step(vm, ip);
    dv_vm *volatile kept = vm;
    while (ip) {
        dv_vm *now = kept;
        ip = ip->h(ip, now->sp, now->fp, now, now->r, now->d);
        DV_REGISTERS_CHANGED();
    }
}

/* What else of its caller is in registers is saved here. */
__attribute__((noinline)) void dv_run_cells(dv_vm *vm, const dv_cell *ip) { run_cells(vm, ip); }

/* Where C was when it entered the machine. */
typedef struct entered {
    dv_vm *vm;
    const dv_cell *ip;
    dv_value *sp, *fp;
} entered;

/* Prepares a frame at the top of the stack for arguments that may have to be bound; NULL: raised.
 */
static __attribute__((noinline)) const dv_cell *
bind_from_c(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count, dv_value keywords) {
    dv_value *frame = dv_frame_from_c(vm), *fp = vm->fp;
    const dv_function *function = dv_as_function(callee);
    const dv_thread *thread = dv_function_thread(function);
    if (vm->sp + count + 9 > vm->stack_end) {
        dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
        return NULL;
    }
    frame[-3] = dv_retain(callee);
    for (uint32_t i = 0; i < count; i++) frame[i] = dv_retain(args[i]);
    vm->sp = frame + count;
    if (make_room(vm, thread, frame) && dv_bind_in_place(vm, function, frame, count, keywords)) {
        vm->sp = dv_frame_push(vm, thread, frame, fp, dv_halt_cell);
        vm->fp = frame;
        return thread->entry;
    }
    while (count > 0) dv_release(vm, frame[--count]);
    dv_release(vm, callee);
    return NULL;
}

static __attribute__((noinline)) dv_value
call_function(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count, dv_value keywords) {
    const volatile entered before = {vm, vm->ip, vm->sp, vm->fp};
    dv_value result = DV_EMPTY;
    if (!dv_native_room(vm)) return DV_EMPTY;
    const dv_thread *thread = dv_function_thread(dv_as_function(callee));
    dv_value *frame = dv_frame_from_c(vm);
    const dv_cell *ip;
    if (DV_LIKELY(thread->exact_arguments == (int64_t)count && dv_is_empty(keywords) &&
                  dv_frame_fits(vm, thread, frame))) {
        dv_as_object(callee)->references++;
        frame[-3] = callee;
        for (uint32_t i = 0; i < count; i++) frame[i] = dv_retain(args[i]);
        vm->sp = dv_frame_push(vm, thread, frame, vm->fp, dv_halt_cell);
        vm->fp = frame;
        ip = thread->entry;
    } else {
        ip = bind_from_c(vm, callee, args, count, keywords);
    }
    if (ip) {
        run_cells(vm, ip);
        vm = before.vm;
        if (dv_is_empty(vm->error)) result = vm->sp[-1];
    }
    vm->ip = before.ip, vm->sp = before.sp, vm->fp = before.fp;
    return result;
}

dv_value dv_call_pair(dv_vm *vm, dv_value function, dv_value a, dv_value b) {
    const dv_thread *thread = dv_function_thread(dv_as_function(function));
    dv_value *frame = dv_frame_from_c(vm);
    if (DV_UNLIKELY(thread->exact_arguments != 2 || !dv_frame_fits(vm, thread, frame))) {
        const dv_value args[2] = {a, b};
        return call_function(vm, function, args, 2, DV_EMPTY);
    }
    if (!dv_native_room(vm)) return DV_EMPTY;
    const volatile entered before = {vm, vm->ip, vm->sp, vm->fp};
    frame[-3] = dv_retain(function);
    frame[0] = dv_retain(a);
    frame[1] = dv_retain(b);
    vm->sp = dv_frame_push(vm, thread, frame, vm->fp, dv_halt_cell);
    vm->fp = frame;
    run_cells(vm, thread->entry);
    vm = before.vm;
    const dv_value result = dv_is_empty(vm->error) ? vm->sp[-1] : DV_EMPTY;
    vm->ip = before.ip, vm->sp = before.sp, vm->fp = before.fp;
    return result;
}

static dv_value call_bound(dv_vm *vm, const dv_method *method, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    dv_value few[8], *all = few;
    size_t size = (count + 1) * sizeof *all;
    if (count + 1 > 8 && !(all = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm);
    all[0] = method->self;
    if (count > 0) memcpy(all + 1, args, count * sizeof *all);
    dv_value function = dv_retain(method->function);
    dv_retain(all[0]);
    dv_value result = dv_call(vm, function, all, count + 1, keywords);
    dv_release(vm, all[0]);
    dv_release(vm, function);
    if (all != few) dv_heap_free(&vm->heap, all, size);
    return result;
}

/* How the message ends if there is no call left; a class whose __init__ would have been entered by
 * a frame has none. */
static const char *doing_at_limit(dv_vm *vm, dv_value callee) {
    if (vm->calls_left > 0 || !dv_is_class(callee)) return " while calling a Python object";
    const dv_global_cell *init = init_cell(vm, dv_as_class(callee));
    bool framed = init && !dv_is_empty(init->value);
    return framed ? "" : " while calling a Python object";
}

static __attribute__((noinline)) dv_value
call_other(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count, dv_value keywords) {
    if (dv_is_shape(callee, DV_T_METHOD))
        return call_bound(vm, (const dv_method *)dv_as_object(callee), args, count, keywords);
    const dv_type *type = dv_behaviour_of(vm, callee);
    vm->quiet.declared = NULL; /* C code may look at what the callee raises */
    if (type && type->call) {
        /* What is built in does not count: levels that call it without dv_call would go deeper. */
        bool counts = type->id != DV_T_CFUNCTION && type->id != DV_T_PARTIAL &&
                      !(dv_is_class(callee) && dv_as_class(callee)->descriptor);
        if (counts ? !dv_enter_native_for(vm, doing_at_limit(vm, callee)) : !dv_native_room(vm))
            return DV_EMPTY;
        dv_work_call(vm, DV_WORK_INNER_CALL);
        dv_value result = type->call(vm, callee, args, count, keywords);
        if (counts) dv_leave_native(vm);
        return result;
    }
    return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not callable", callee);
}

dv_value dv_call(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count,
                 dv_value keywords) {
    return dv_is_function(callee) ? call_function(vm, callee, args, count, keywords)
                                  : call_other(vm, callee, args, count, keywords);
}

dv_value dv_unit_function(dv_vm *vm, dv_unit *unit, dv_value module) {
    dv_thread *thread = dv_thread_new(vm, unit->code, dv_as_module(module));
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    if (!thread) return DV_EMPTY;
    dv_value function = dv_function_make(vm, thread, DV_EMPTY);
    dv_release_object(vm, &thread->header);
    return function;
}

dv_value dv_run_unit(dv_vm *vm, dv_unit *unit, dv_value module) {
    dv_value function = dv_unit_function(vm, unit, module);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value result = dv_call(vm, function, NULL, 0, DV_EMPTY);
    dv_release(vm, function);
    return result;
}
