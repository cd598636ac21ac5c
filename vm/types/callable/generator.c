/* generator.c: generators as values (generator.h).  Running them is in run/generator.c. */
#include "types/callable/generator.h"

#include "core/upcall.h"
#include "types/class/class.h"
#include "types/exception/exception.h"
#include "types/callable/function.h"
#include "types/text/str.h"

dv_generator *dv_generator_new(dv_vm *vm, dv_value function, uint32_t capacity) {
    dv_generator *g = dv_container_new(vm, sizeof *g + capacity * sizeof(dv_value), DV_T_GENERATOR);
    if (!g) return NULL;
    const dv_function *f = dv_as_function(function);
    g->state = DV_GENERATOR_NEW;
    g->resumer = DV_RESUMER_C;
    g->delegates = false;
    g->capacity = capacity;
    g->saved = g->serial = 0;
    g->at = g->next = g->end = NULL;
    g->fp = NULL;
    g->outer = NULL;
    g->handled = g->outer_handled = DV_NONE;
    g->function = function;
    g->name = dv_retain(f->name);
    g->qualname = dv_retain(f->qualname);
    g->code = f->code;
    g->code->references++;
    return g;
}

uint32_t dv_generator_serial(dv_value self) { return dv_as_generator(self)->serial & 0xFFFFFF; }

dv_value dv_handled_exception(const dv_vm *vm) {
    dv_value handled = vm->handled;
    for (const dv_generator *g = vm->generator; g && !dv_is_exception(handled); g = g->outer)
        handled = g->outer_handled;
    return handled;
}

static void generator_release(dv_vm *vm, dv_object *object) {
    dv_generator *g = (dv_generator *)object;
    if (!dv_generator_end(vm, dv_object_value(object))) return; /* its finally clauses kept it */
    dv_release(vm, g->name);
    dv_release(vm, g->qualname);
    dv_release_object(vm, g->code);
    dv_container_free(vm, g, sizeof *g + g->capacity * sizeof(dv_value));
}

/* The values of a running one are on the machine's stack, with the function. */
static void generator_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_generator *g = (const dv_generator *)object;
    visit(vm, g->name, context);
    visit(vm, g->qualname, context);
    visit(vm, dv_object_value(g->code), context);
    visit(vm, g->handled, context);
    visit(vm, g->outer_handled, context);
    dv_generator_traverse(vm, dv_object_value(object), visit, context);
}

static void generator_clear(dv_vm *vm, dv_object *object) {
    dv_generator_clear(vm, dv_object_value(object));
}

static dv_value generator_repr(dv_vm *vm, dv_value self) {
    return dv_str_printf(vm, "<generator object %S at 0x%llx>", dv_as_generator(self)->qualname,
                         dv_identity(vm, self));
}

/* Attributes
 * ---------------------------------------------------------------------------------------------- */

static dv_value frame_of(dv_vm *vm, const dv_generator *g) {
    if (g->state == DV_GENERATOR_FINISHED) return DV_NONE;
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
                    "'gi_frame' of a generator that has not finished is not part of dl");
}

static dv_value generator_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_generator *g = dv_as_generator(self);
    if (dv_same(name, vm->known.name)) return dv_retain(g->name);
    if (dv_same(name, vm->known.qualname)) return dv_retain(g->qualname);
    if (dv_str_is(name, "gi_running")) return dv_bool(g->state == DV_GENERATOR_RUNNING);
    if (dv_str_is(name, "gi_suspended")) return dv_bool(g->state == DV_GENERATOR_SUSPENDED);
    if (dv_str_is(name, "gi_code")) return dv_retain(dv_object_value(g->code));
    if (dv_str_is(name, "gi_frame")) return frame_of(vm, g);
    if (dv_str_is(name, "gi_yieldfrom")) return dv_generator_receiver(self);
    return DV_EMPTY;
}

/* What CPython says of an attribute that cannot be set. */
static const char *refusal(dv_value name) {
    static const char *const names[] = {"gi_running", "gi_suspended", "gi_frame", "gi_yieldfrom"};
    if (dv_str_is(name, "gi_code")) return "readonly attribute";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dv_str_is(name, names[i]))
            return "attribute '%S' of 'generator' objects is not writable";
    return "'generator' object has no attribute '%S'";
}

static bool generator_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_generator *g = dv_as_generator(self);
    bool short_name = dv_same(name, vm->known.name);
    if (!short_name && !dv_same(name, vm->known.qualname)) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, refusal(name), name);
        return false;
    }
    if (dv_is_empty(value) || !dv_is_str(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "%S must be set to a string object", name);
        return false;
    }
    dv_value *place = short_name ? &g->name : &g->qualname, old = *place;
    *place = dv_retain(value);
    dv_release(vm, old);
    return true;
}

/* Methods
 * ------------------------------------------------------------------------------------------------
 */

static dv_value generator_iterate(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

/* The value that it returns is lost here: who wants it calls dv_next_or_stop. */
static dv_value method_next(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_next_or_stop(vm, args[0]);
}

static dv_value method_iter(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    return dv_retain(args[0]);
}

static dv_value method_send(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value result;
    int outcome = dv_generator_send(vm, args[0], args[1], &result);
    return outcome ? (outcome > 0 ? result : DV_EMPTY) : dv_raise_stop(vm, result);
}

static dv_value method_throw(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value given = args[1], value = count > 2 ? args[2] : DV_NONE, result;
    if (count > 3 && !dv_is_none(args[3]) && !dv_is_shape(args[3], DV_T_TRACEBACK))
        return dv_raise(vm, DV_E_TYPE_ERROR, "throw() third argument must be a traceback object");
    dv_value exception = dv_exception_of(vm, given, value);
    if (dv_is_empty(exception)) {
        if (!dv_is_class(given) || dv_as_class(given)->type != DV_T_EXCEPTION) return DV_EMPTY;
        exception = vm->error; /* what making one has raised is thrown in its place */
        vm->error = DV_EMPTY;
    }
    if (count > 3 && !dv_is_none(args[3])) dv_exception_set_traceback(vm, exception, args[3]);
    int outcome = dv_generator_throw(vm, args[0], exception, &result);
    return outcome ? (outcome > 0 ? result : DV_EMPTY) : dv_raise_stop(vm, result);
}

static dv_value method_close(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_generator_close(vm, args[0]) ? DV_NONE : DV_EMPTY;
}

static const dv_cfunction_def methods[] = {
    {.name = "send", .entry = method_send, .min = 2, .max = 2},
    {.name = "throw", .entry = method_throw, .min = 2, .max = 4},
    {.name = "close", .entry = method_close, .min = 1, .max = 1},
    {.name = "__next__", .entry = method_next, .min = 1, .max = 1},
    {.name = "__iter__", .entry = method_iter, .min = 1, .max = 1},
    {.name = NULL},
};

const dv_type dv_generator_type = {
    .name = "generator",
    .id = DV_T_GENERATOR,
    .weakly = true,
    .release = generator_release,
    .traverse = generator_traverse,
    .clear = generator_clear,
    .repr = generator_repr,
    .iterate = generator_iterate,
    .next = dv_generator_next,
    .get_attribute = generator_get_attribute,
    .set_attribute = generator_set_attribute,
    .methods = methods,
};
