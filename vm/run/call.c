/* call.c: calls from C, calls that are not simple, and the binding of arguments (call.h). */
#include "run/call.h"

#include "core/native.h"
#include "run/frame.h"
#include "types/class.h"
#include "types/exception.h"
#include "types/str.h"
#include "types/tuple.h"

dv_value dv_function_make(dv_vm *vm, dv_thread *thread, dv_value defaults) {
    const dv_code *code = thread->code;
    dv_function *function = dv_object_new(vm, sizeof *function, DV_T_FUNCTION);
    if (!function) return DV_EMPTY;
    function->code = &thread->header;
    thread->header.references++;
    function->globals = dv_retain(dv_object_value(thread->module));
    function->defaults = dv_retain(defaults);
    function->closure = DV_EMPTY;
    function->attributes = DV_EMPTY;
    function->qualname = DV_EMPTY;
    function->name = dv_str_intern(vm, code->name.data, code->name.size);
    if (!dv_is_empty(function->name))
        function->qualname = dv_str_intern(vm, code->qualname.data, code->qualname.size);
    if (dv_is_empty(function->qualname)) {
        dv_release_object(vm, &function->header);
        return DV_EMPTY;
    }
    return dv_object_value(function);
}

/* Binding
 * -----------------------------------------------------------------------------------------------
 */

static dv_value parameter_name(dv_vm *vm, const dv_code *code, uint32_t i) {
    return dv_str_intern(vm, code->local_names[i].data, code->local_names[i].size);
}

static bool raise_too_many(dv_vm *vm, const dv_function *function, uint32_t given) {
    const dv_code *code = dv_function_thread(function)->code;
    uint32_t most = code->positional_count;
    uint32_t defaults =
        dv_is_empty(function->defaults) ? 0 : (uint32_t)dv_as_tuple(function->defaults)->count;
    if (defaults)
        dv_raise(vm, DV_E_TYPE_ERROR,
                 "%S() takes from %d to %d positional arguments but %d %s given",
                 function->qualname, (int)(most - defaults), (int)most, (int)given,
                 given == 1 ? "was" : "were");
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "%S() takes %d positional argument%s but %d %s given",
                 function->qualname, (int)most, most == 1 ? "" : "s", (int)given,
                 given == 1 ? "was" : "were");
    return false;
}

/* "f() missing 2 required positional arguments: 'a' and 'b'" */
static bool raise_missing(dv_vm *vm, const dv_function *function, const dv_value *values,
                          uint32_t required) {
    const dv_code *code = dv_function_thread(function)->code;
    uint32_t missing = 0, seen = 0;
    for (uint32_t i = 0; i < required; i++) missing += dv_is_empty(values[i]);
    dv_builder names;
    dv_builder_init(&names, vm);
    for (uint32_t i = 0; i < required; i++) {
        if (!dv_is_empty(values[i])) continue;
        if (seen)
            dv_builder_z(&names, missing == 2 ? " and " : seen + 1 == missing ? ", and " : ", ");
        dv_builder_char(&names, '\'');
        dv_builder_text(&names, code->local_names[i].data, code->local_names[i].size);
        dv_builder_char(&names, '\'');
        seen++;
    }
    dv_value text = dv_builder_finish(&names);
    if (dv_is_empty(text)) return false;
    dv_raise(vm, DV_E_TYPE_ERROR, "%S() missing %d required positional argument%s: %S",
             function->qualname, (int)missing, missing == 1 ? "" : "s", text);
    dv_release(vm, text);
    return false;
}

/* The parameter that a keyword names; -1: there is none; -2: raised. */
static int64_t find_parameter(dv_vm *vm, const dv_code *code, dv_value keyword) {
    for (uint32_t i = 0; i < code->positional_count; i++) {
        dv_value name = parameter_name(vm, code, i);
        if (dv_is_empty(name)) return -2;
        bool same = dv_str_equal(name, keyword);
        dv_release(vm, name);
        if (same) return i;
    }
    return -1;
}

/* Moves the named arguments to their parameters.  `values` has the positional ones first, then
 * EMPTY. */
static bool bind_keywords(dv_vm *vm, const dv_function *function, dv_value *values,
                          const dv_value *named, dv_value keywords) {
    const dv_code *code = dv_function_thread(function)->code;
    const dv_tuple *names = dv_as_tuple(keywords);
    for (int64_t i = 0; i < names->count; i++) {
        int64_t at = find_parameter(vm, code, names->items[i]);
        if (at == -2) return false;
        if (at == -1) {
            dv_raise(vm, DV_E_TYPE_ERROR, "%S() got an unexpected keyword argument '%S'",
                     function->qualname, names->items[i]);
            return false;
        }
        if (!dv_is_empty(values[at])) {
            dv_raise(vm, DV_E_TYPE_ERROR, "%S() got multiple values for argument '%S'",
                     function->qualname, names->items[i]);
            return false;
        }
        values[at] = named[i];
    }
    return true;
}

bool dv_bind_arguments(dv_vm *vm, dv_function *function, dv_value *args, uint32_t count,
                       dv_value keywords) {
    const dv_code *code = dv_function_thread(function)->code;
    uint32_t parameters = code->positional_count;
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    uint32_t positional = count - named;
    const dv_tuple *defaults =
        dv_is_empty(function->defaults) ? NULL : dv_as_tuple(function->defaults);
    uint32_t default_count = defaults ? (uint32_t)defaults->count : 0;
    if (positional > parameters) return raise_too_many(vm, function, positional);
    /* Binding works on a copy, so that a failure leaves the arguments as they were. */
    dv_value few[16], *values = few;
    size_t size = (parameters + 1) * sizeof *values;
    if (parameters > 16 && !(values = dv_heap_alloc(&vm->heap, size)))
        return dv_raise_memory(vm), false;
    for (uint32_t i = 0; i < parameters; i++) values[i] = i < positional ? args[i] : DV_EMPTY;
    bool bound = !named || bind_keywords(vm, function, values, args + positional, keywords);
    for (uint32_t i = 0; bound && i + default_count < parameters; i++)
        if (dv_is_empty(values[i]))
            bound = raise_missing(vm, function, values, parameters - default_count);
    if (bound) {
        for (uint32_t i = parameters - default_count; i < parameters; i++)
            if (dv_is_empty(values[i]))
                values[i] = dv_retain(defaults->items[i - (parameters - default_count)]);
        memcpy(args, values, parameters * sizeof *values);
    }
    if (values != few) dv_heap_free(&vm->heap, values, size);
    return bound;
}

/* Slow calls
 * -------------------------------------------------------------------------------------------- */

static const dv_cell *enter_function(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                     uint32_t count, dv_value keywords) {
    dv_value *frame = sp - count;
    dv_function *function = dv_as_function(frame[-3]);
    const dv_thread *thread = dv_function_thread(function);
    vm->ip = link, vm->sp = sp, vm->fp = fp;
    if (!dv_frame_fits(vm, thread, frame)) return dv_slow_limit(link, sp, fp, vm, 0, 0);
    if ((thread->argument_count != count || !dv_is_empty(keywords)) &&
        !dv_bind_arguments(vm, function, frame, count, keywords))
        return dv_slow_raise(link - 1, sp, fp, vm, 0, 0);
    vm->sp = dv_frame_push(vm, thread, frame, fp, link);
    vm->fp = frame;
    return thread->entry;
}

/* callee R R args -- result: any callee that is not a dl function. */
static const dv_cell *call_object(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                  uint32_t count, dv_value keywords) {
    vm->ip = link - 1, vm->sp = sp, vm->fp = fp;
    dv_value callee = sp[-(int64_t)count - 3];
    dv_value result = dv_call(vm, callee, sp - count, count, keywords);
    if (dv_is_empty(result)) return dv_slow_raise(link - 1, sp, fp, vm, 0, 0);
    for (uint32_t i = 1; i <= count; i++) dv_release(vm, sp[-(int64_t)i]);
    sp -= count + 2;
    sp[-1] = result;
    dv_release(vm, callee);
    vm->sp = sp;
    return link;
}

/* A bound method of a dl function becomes a call with self in front, without C recursion. */
static bool open_method(dv_vm *vm, dv_value **sp, uint32_t *count) {
    dv_value *frame = *sp - *count;
    const dv_method *method = (const dv_method *)dv_as_object(frame[-3]);
    if (!dv_is_function(method->function) || *sp + 1 > vm->stack_limit) return false;
    dv_value callee = frame[-3];
    memmove(frame + 1, frame, *count * sizeof *frame);
    frame[0] = dv_retain(method->self);
    frame[-3] = dv_retain(method->function);
    dv_release(vm, callee);
    (*sp)++;
    (*count)++;
    return true;
}

static const dv_cell *call_any(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                               uint32_t count, dv_value keywords) {
    dv_value callee = sp[-(int64_t)count - 3];
    vm->ip = link - 1, vm->sp = sp, vm->fp = fp;
    if (dv_is_shape(callee, DV_T_METHOD) && open_method(vm, &sp, &count))
        callee = sp[-(int64_t)count - 3];
    if (dv_is_function(callee)) return enter_function(vm, link, sp, fp, count, keywords);
    return call_object(vm, link, sp, fp, count, keywords);
}

/* ip is already behind the call. */
const dv_cell *dv_slow_call(DV_HANDLER_PARAMETERS) {
    (void)d;
    return call_any(vm, ip, sp, fp, (uint32_t)r, DV_EMPTY);
}

const dv_cell *dv_slow_call_keywords(DV_HANDLER_PARAMETERS) {
    (void)d;
    return call_any(vm, ip, sp, fp, (uint32_t)r, vm->keywords);
}

const dv_cell *dv_slow_limit(DV_HANDLER_PARAMETERS) {
    vm->ip = ip - 1, vm->sp = sp, vm->fp = fp;
    dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
    return dv_slow_raise(ip - 1, sp, fp, vm, r, d);
}

/* Safepoints
 * -------------------------------------------------------------------------------------------- */

enum { SAFEPOINT_INTERVAL = 1 << 16, STRESSED_INTERVAL = 3, OBSERVED_INTERVAL = 2 };

/* Comes back to the instruction at ip, which counts down again: hence 2 to poll at every back edge.
 */
const dv_cell *dv_slow_safepoint(DV_HANDLER_PARAMETERS) {
    vm->ip = ip, vm->sp = sp, vm->fp = fp, vm->r = r, vm->d = d;
    vm->countdown = SAFEPOINT_INTERVAL;
    if (vm->hooks.observe) {
        vm->countdown = OBSERVED_INTERVAL;
        vm->hooks.observe(vm, ip, fp);
    }
    if (vm->stress.break_assumptions && vm->hooks.break_assumptions) {
        vm->countdown = STRESSED_INTERVAL;
        vm->hooks.break_assumptions(vm, ip, fp);
    }
    if (vm->instruction_budget != INT64_MAX && (vm->instruction_budget -= SAFEPOINT_INTERVAL) < 0) {
        vm->instruction_budget = INT64_MAX;
        dv_raise(vm, DV_E_RUNTIME_ERROR, "instruction limit exceeded");
        return dv_slow_raise(ip, sp, fp, vm, r, d);
    }
    if (__atomic_load_n(&vm->interrupt, __ATOMIC_RELAXED)) {
        __atomic_store_n(&vm->interrupt, 0, __ATOMIC_RELAXED);
        dv_raise(vm, DV_E_KEYBOARD_INTERRUPT, "");
        return dv_slow_raise(ip, sp, fp, vm, r, d);
    }
    return ip;
}

/* Entering from C
 * --------------------------------------------------------------------------------------- */

static void run(dv_vm *vm, const dv_cell *ip) {
    while (ip) ip = ip->h(ip, vm->sp, vm->fp, vm, vm->r, vm->d);
}

static dv_value call_function(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count,
                              dv_value keywords) {
    const dv_cell *saved_ip = vm->ip;
    dv_value *saved_sp = vm->sp, *saved_fp = vm->fp;
    if (!dv_enter_native(vm)) return DV_EMPTY;
    if (vm->sp + count + 8 > vm->stack_limit) {
        dv_leave_native(vm);
        return dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
    }
    dv_value *sp = vm->sp;
    *sp = dv_retain(callee);
    sp += 3;
    for (uint32_t i = 0; i < count; i++) *sp++ = dv_retain(args[i]);
    const dv_cell *ip = NULL;
    dv_value *frame = sp - count;
    dv_function *function = dv_as_function(callee);
    const dv_thread *thread = dv_function_thread(function);
    if (!dv_frame_fits(vm, thread, frame))
        dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
    else if ((thread->argument_count == count && dv_is_empty(keywords)) ||
             dv_bind_arguments(vm, function, frame, count, keywords)) {
        vm->sp = dv_frame_push(vm, thread, frame, saved_fp, dv_halt_cell);
        vm->fp = frame;
        ip = thread->entry;
    }
    dv_value result = DV_EMPTY;
    if (ip) {
        run(vm, ip);
        if (dv_is_empty(vm->error)) result = vm->sp[-1];
    } else {
        while (sp > frame) dv_release(vm, *--sp);
        dv_release(vm, callee);
    }
    dv_leave_native(vm);
    vm->ip = saved_ip, vm->sp = saved_sp, vm->fp = saved_fp;
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

dv_value dv_call(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count,
                 dv_value keywords) {
    if (dv_is_function(callee)) return call_function(vm, callee, args, count, keywords);
    if (dv_is_shape(callee, DV_T_METHOD))
        return call_bound(vm, (const dv_method *)dv_as_object(callee), args, count, keywords);
    const dv_type *type = vm->types[dv_type_of(vm, callee)];
    if (type && type->call) {
        if (!dv_enter_native(vm)) return DV_EMPTY;
        dv_value result = type->call(vm, callee, args, count, keywords);
        dv_leave_native(vm);
        return result;
    }
    return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not callable", callee);
}

dv_value dv_run_unit(dv_vm *vm, dv_unit *unit, dv_value module) {
    dv_thread *thread = dv_thread_new(vm, unit->code, dv_as_module(module));
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    if (!thread) return DV_EMPTY;
    dv_value function = dv_function_make(vm, thread, DV_EMPTY);
    dv_release_object(vm, &thread->header);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value result = dv_call(vm, function, NULL, 0, DV_EMPTY);
    dv_release(vm, function);
    return result;
}
