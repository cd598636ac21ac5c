/* execute.c: the long parts of generic instructions (execute.h). */
#include "run/execute.h"

#include "run/call.h"
#include "run/operate.h"
#include "run/site.h"
#include "types/class/class.h"
#include "types/class/descriptor.h"
#include "types/mapping/dict.h"
#include "types/class/directory.h"
#include "types/exception/exception.h"
#include "types/text/format.h"
#include "types/callable/generator.h"
#include "types/sequence/list.h"
#include "types/class/lookup.h"
#include "types/file/module.h"
#include "types/mapping/set.h"
#include "types/text/str.h"
#include "types/file/stream.h"
#include "types/class/super.h"
#include "types/sequence/tuple.h"
#include "types/callable/variable.h"

/* NameError; of builtin functions that dl leaves out it says so (lang/LANGUAGE.md). */
static dv_value raise_undefined(dv_vm *vm, dv_value name) {
    static const char *const left_out[] = {"__build_class__", "aiter", "anext", "breakpoint"};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (dv_str_is(name, left_out[i]))
            return dv_raise(vm, DV_E_NAME_ERROR, "name '%S' is not part of dl", name);
    return dv_raise(vm, DV_E_NAME_ERROR, "name '%S' is not defined", name);
}

/* The names that globals in a dict say are built in: EMPTY: it is not there. */
static dv_value find_builtin(dv_vm *vm, dv_value globals, dv_value name) {
    const dv_value builtins = dv_dict_get(vm, globals, vm->known.builtins);
    if (!dv_is_empty(builtins) && dv_is_dict(builtins)) return dv_dict_get(vm, builtins, name);
    if (dv_same(name, vm->known.name) && dv_is_module(builtins))
        return dv_as_module(builtins)->name;
    const dv_global_cell *cell = dv_namespace_find(&vm->builtins, name);
    return cell && !dv_is_empty(cell->value) ? cell->value : dv_site_find(vm, name);
}

/* What the interactive names of _site are, or `__builtins__`: the module.  (In modules but __main__
 * it is its dict in CPython, which calls that a detail.)  No cell has it, for `builtins` itself has
 * no such name. */
static __attribute__((noinline)) dv_value load_missing(dv_vm *vm, dv_value name) {
    const dv_value found = dv_site_find(vm, name);
    if (!dv_is_empty(found) || !dv_is_empty(vm->error)) return dv_retain(found);
    if (!dv_same(name, vm->known.builtins)) return raise_undefined(vm, name);
    const dv_value text = dv_str_intern(vm, "builtins", 8);
    const dv_value builtins = dv_is_empty(text) ? DV_EMPTY : dv_import(vm, text);
    dv_release(vm, text);
    return builtins;
}

static __attribute__((noinline)) dv_value load_from_dict(dv_vm *vm, dv_value globals,
                                                         dv_value name) {
    dv_value v = dv_dict_get(vm, globals, name);
    if (dv_is_empty(v) && dv_is_empty(vm->error)) v = find_builtin(vm, globals, name);
    if (!dv_is_empty(v)) return dv_retain(v);
    return dv_is_empty(vm->error) ? raise_undefined(vm, name) : DV_EMPTY;
}

static __attribute__((noinline)) bool store_in_dict(dv_vm *vm, dv_value globals, dv_value name,
                                                    dv_value value) {
    if (!dv_is_empty(value)) {
        const bool done = dv_dict_set(vm, globals, name, value);
        dv_release(vm, value);
        return done;
    }
    const int done = dv_dict_delete(vm, globals, name);
    if (done == 0) raise_undefined(vm, name);
    return done == 1;
}

dv_value dv_load_global(dv_vm *vm, const dv_value *fp, dv_value name) {
    const dv_value globals = dv_frame_thread(fp)->module->dict;
    if (DV_UNLIKELY(!dv_is_empty(globals))) return load_from_dict(vm, globals, name);
    const dv_global_cell *cell = dv_namespace_find(&dv_frame_thread(fp)->module->names, name);
    if (!cell || dv_is_empty(cell->value)) cell = dv_namespace_find(&vm->builtins, name);
    if (cell && !dv_is_empty(cell->value)) return dv_retain(cell->value);
    return load_missing(vm, name);
}

void dv_replace_global(dv_vm *vm, dv_global_cell *cell, dv_value value) {
    /* What is stored outlives what dies of it, which may store here, too. */
    const dv_value held = dv_ends_loudly(vm, cell->value) ? dv_retain(value) : DV_EMPTY;
    dv_cell_store(vm, cell, value);
    dv_release(vm, held);
}

bool dv_store_global(dv_vm *vm, const dv_value *fp, dv_value name, dv_value value) {
    const dv_value globals = dv_frame_thread(fp)->module->dict;
    if (DV_UNLIKELY(!dv_is_empty(globals))) return store_in_dict(vm, globals, name, value);
    dv_namespace *names = &dv_frame_thread(fp)->module->names;
    dv_global_cell *cell =
        dv_is_empty(value) ? dv_namespace_find(names, name) : dv_namespace_cell(vm, names, name);
    if (dv_is_empty(value) && (!cell || dv_is_empty(cell->value))) {
        raise_undefined(vm, name);
        return false;
    }
    if (!cell) return false;
    dv_replace_global(vm, cell, value);
    return true;
}

/* A namespace is a dict, what a metaclass has prepared, a mapping that eval or exec got, or None:
 * the names are globals. */
dv_value dv_load_name(dv_vm *vm, const dv_value *fp, dv_value name) {
    const dv_value space = fp[0];
    if (dv_is_none(space)) return dv_load_global(vm, fp, name);
    dv_value v;
    if (dv_is_shape(space, DV_T_DICT)) {
        v = dv_retain(dv_dict_get(vm, space, name));
    } else {
        v = dv_get_item(vm, space, name);
        if (dv_is_empty(v) && dv_error_is(vm, DV_E_KEY_ERROR)) dv_error_clear(vm);
    }
    if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    return dv_load_global(vm, fp, name);
}

bool dv_store_name(dv_vm *vm, const dv_value *fp, dv_value name, dv_value value) {
    const dv_value space = fp[0];
    if (dv_is_none(space)) return dv_store_global(vm, fp, name, dv_retain(value));
    if (dv_is_shape(space, DV_T_DICT)) return dv_dict_set(vm, space, name, value);
    return dv_set_item(vm, space, name, value);
}

bool dv_delete_name(dv_vm *vm, const dv_value *fp, dv_value name) {
    const dv_value space = fp[0];
    if (dv_is_none(space)) return dv_store_global(vm, fp, name, DV_EMPTY);
    if (!dv_is_shape(space, DV_T_DICT)) {
        if (dv_set_item(vm, space, name, DV_EMPTY)) return true;
        if (!dv_error_is(vm, DV_E_KEY_ERROR)) return false;
        dv_error_clear(vm);
        raise_undefined(vm, name);
        return false;
    }
    const int done = dv_dict_delete(vm, space, name);
    if (done == 0) raise_undefined(vm, name);
    return done == 1;
}

dv_value dv_raise_unassociated(dv_vm *vm, const dv_value *fp, uint32_t local) {
    const dv_text *name = &dv_frame_thread(fp)->code->local_names[local];
    return dv_raise(vm, DV_E_NAME_ERROR,
                    "cannot access free variable '%.*s' where it is not associated with a "
                    "value in enclosing scope",
                    (int)name->size, name->data);
}

/* Is it a variable of the function around the comprehension that is at work? */
static bool is_free_there(const dv_vm *vm, const dv_value *fp, uint32_t local) {
    const dv_thread *thread = dv_frame_thread(fp);
    const uint32_t pc = dv_thread_pc(thread, vm->ip);
    const dv_inlined_code *in =
        thread->code->inlined_count ? dv_code_inlined(thread->code, pc) : NULL;
    return in && !dv_inlined_takes(in, pc) && local - in->first_local >= in->local_count;
}

dv_value dv_raise_unbound(dv_vm *vm, const dv_value *fp, uint32_t local) {
    const dv_text *name = &dv_frame_thread(fp)->code->local_names[local];
    const dv_code *code = dv_frame_thread(fp)->code;
    if (local >= code->local_count - code->free_count || is_free_there(vm, fp, local))
        return dv_raise_unassociated(vm, fp, local);
    return dv_raise(vm, DV_E_UNBOUND_LOCAL_ERROR,
                    "cannot access local variable '%.*s' where it is not associated with a value",
                    (int)name->size, name->data);
}

static bool raise_count(dv_vm *vm, uint32_t wanted, int64_t got) {
    if (got > wanted)
        dv_raise(vm, DV_E_VALUE_ERROR, "too many values to unpack (expected %d)", (int)wanted);
    else
        dv_raise(vm, DV_E_VALUE_ERROR, "not enough values to unpack (expected %d, got %d)",
                 (int)wanted, (int)got);
    return false;
}

static bool unpack_items(dv_vm *vm, const dv_value *items, int64_t got, uint32_t count,
                         dv_value *out) {
    if (got != count) return raise_count(vm, count, got);
    for (uint32_t i = 0; i < count; i++) out[count - 1 - i] = dv_retain(items[i]);
    return true;
}

static bool unpack_iterator(dv_vm *vm, dv_value iterator, uint32_t count, dv_value *out) {
    uint32_t got = 0;
    bool done = false;
    while (got < count) {
        dv_value item = dv_next(vm, iterator);
        if (dv_is_empty(item)) break;
        out[count - 1 - got++] = item;
    }
    if (dv_is_empty(vm->error) && got == count) {
        dv_value more = dv_next(vm, iterator);
        done = dv_is_empty(more) && dv_is_empty(vm->error);
        if (!dv_is_empty(more)) raise_count(vm, count, (int64_t)count + 1);
        dv_release(vm, more);
    } else if (dv_is_empty(vm->error)) {
        raise_count(vm, count, got);
    }
    if (!done)
        while (got > 0) dv_release(vm, out[count - got--]);
    return done;
}

bool dv_unpack(dv_vm *vm, dv_value sequence, uint32_t count, dv_value *out) {
    if (dv_is_shape(sequence, DV_T_TUPLE))
        return unpack_items(vm, dv_as_tuple(sequence)->items, dv_as_tuple(sequence)->count, count,
                            out);
    if (dv_is_shape(sequence, DV_T_LIST))
        return unpack_items(vm, dv_as_list(sequence)->items, dv_as_list(sequence)->count, count,
                            out);
    if (dv_is_tuple(sequence) && dv_operate_base(vm, sequence, vm->known.iter)) /* a named one */
        return unpack_items(vm, dv_as_tuple(sequence)->items, dv_as_tuple(sequence)->count, count,
                            out);
    dv_value iterator = dv_iterate(vm, sequence);
    if (dv_is_empty(iterator)) {
        if (dv_error_is(vm, DV_E_TYPE_ERROR) && !dv_is_iterable(vm, sequence)) {
            dv_error_clear(vm);
            dv_raise(vm, DV_E_TYPE_ERROR, "cannot unpack non-iterable %T object", sequence);
        }
        return false;
    }
    /* Iterating may run dl code, which uses the stack from vm->sp on: the items wait elsewhere. */
    dv_value few[16], *items = few;
    size_t size = count * sizeof *items;
    bool done = false;
    if (count > 16 && !(items = dv_heap_alloc(&vm->heap, size)))
        dv_raise_memory(vm);
    else
        done = unpack_iterator(vm, iterator, count, items);
    if (done) memcpy(out, items, size);
    if (items && items != few) dv_heap_free(&vm->heap, items, size);
    dv_release(vm, iterator);
    return done;
}

/* The cell of __class__ among the free variables of the running function; NULL: there is none. */
static const dv_variable *class_cell(const dv_value *fp) {
    const dv_code *code = dv_frame_thread(fp)->code;
    for (uint32_t i = code->local_count - code->free_count; i < code->local_count; i++) {
        const dv_text *name = &code->local_names[i];
        if (name->size == 9 && memcmp(name->data, "__class__", 9) == 0)
            return dv_as_variable(fp[i]);
    }
    return NULL;
}

/* Is there a running frame?  The host may have called. */
static bool runs_code(const dv_vm *vm) { return vm->fp != vm->stack; }

bool dv_super_arguments(dv_vm *vm, dv_value *class_, dv_value *self) {
    const char *problem = NULL;
    const bool running = runs_code(vm);
    const dv_variable *cell = running ? class_cell(vm->fp) : NULL;
    const dv_code *code = running ? dv_frame_thread(vm->fp)->code : NULL;
    /* The one argument of a class body, and of evaluated text, is no argument of the program. */
    if (!running || code->positional_count == 0 || code->flags & DV_CODE_CLASS)
        problem = "super(): no arguments";
    else if (!cell)
        problem = "super(): __class__ cell not found";
    else if (dv_is_empty(cell->value))
        problem = "super(): empty __class__ cell";
    if (!problem) {
        *class_ = cell->value;
        *self = vm->fp[0];
        if (dv_is_shape(*self, DV_T_CELL)) *self = dv_as_variable(*self)->value;
        if (!dv_is_empty(*self)) return true;
        problem = "super(): arg[0] deleted";
    }
    dv_raise(vm, DV_E_RUNTIME_ERROR, "%s", problem);
    return false;
}

dv_value dv_calling_module(dv_vm *vm) {
    return runs_code(vm) ? dv_retain(dv_frame_thread(vm->fp)->module->name)
                         : dv_str_z(vm, "builtins");
}

/* The variables of a function that have a value; in `fp` cells hold those that others share. */
static bool add_locals(dv_vm *vm, dv_value names, const dv_code *code, const dv_value *fp) {
    for (uint32_t i = 0; i < code->local_count; i++) {
        dv_value v = dv_is_shape(fp[i], DV_T_CELL) ? dv_as_variable(fp[i])->value : fp[i];
        if (dv_is_empty(v) || code->local_names[i].data[0] == '.') continue;
        dv_value name =
            dv_str_intern(vm, code->local_names[i].data, (size_t)code->local_names[i].size);
        bool done = !dv_is_empty(name) && dv_dict_set(vm, names, name, DV_NONE);
        dv_release(vm, name);
        if (!done) return false;
    }
    return true;
}

bool dv_calling_names(dv_vm *vm, dv_value names) {
    if (!runs_code(vm)) return true;
    const dv_thread *thread = dv_frame_thread(vm->fp);
    const bool space = thread->code->flags & DV_CODE_CLASS && !dv_is_none(vm->fp[0]);
    if (!space && thread->code->flags & (DV_CODE_MODULE | DV_CODE_CLASS))
        return dv_directory_add(vm, names, &thread->module->names);
    if (space && !dv_is_dict(vm->fp[0])) return dv_dict_merge(vm, names, vm->fp[0]) > 0;
    if (!(thread->code->flags & DV_CODE_CLASS)) return add_locals(vm, names, thread->code, vm->fp);
    int64_t position = 0;
    dv_value key, value;
    while (dv_dict_walk(vm->fp[0], &position, &key, &value))
        if (!dv_dict_set(vm, names, key, DV_NONE)) return false;
    return true;
}

bool dv_calling_library(const dv_vm *vm) {
    static const char start[] = "<frozen ";
    if (!runs_code(vm)) return false;
    const dv_text name = dv_frame_thread(vm->fp)->code->unit->filename;
    return name.size >= sizeof start - 1 && memcmp(name.data, start, sizeof start - 1) == 0;
}

/* super().name(...) needs neither a bound method nor the super object any more. */
static bool prepare_super(dv_vm *vm, dv_value *sp, dv_value name) {
    dv_value object = sp[-1], self;
    dv_value callee = dv_super_method(vm, object, name, &self);
    if (dv_is_empty(callee)) return false;
    sp[-1] = callee;
    dv_release(vm, object); /* this may run code, on the stack above sp */
    sp[2] = self;
    return true;
}

bool dv_prepare_method(dv_vm *vm, dv_value *sp, dv_value name) {
    dv_value object = sp[-1];
    if (dv_is_super(object)) {
        if (prepare_super(vm, sp, name)) return true;
        if (!dv_is_empty(vm->error)) return false;
    }
    bool is_method;
    dv_value callee = dv_load_method(vm, object, name, &is_method);
    if (dv_is_empty(callee)) return false;
    sp[-1] = callee;
    if (!is_method) dv_release(vm, object); /* this may run code, on the stack above sp */
    sp[2] = is_method ? object : DV_EMPTY;
    return true;
}

/* Appends the next n items; fewer, and no error, where there are not so many. */
static bool take_items(dv_vm *vm, dv_value iterator, int64_t n, dv_value list) {
    for (int64_t i = 0; i < n; i++) {
        dv_value item = dv_next(vm, iterator);
        if (dv_is_empty(item)) return dv_is_empty(vm->error);
        if (!dv_list_push(vm, list, item)) return false;
    }
    return true;
}

/* A list of all items, by iteration.  How many there are is asked when the first `before` have been
 * taken. */
static dv_value all_of(dv_vm *vm, dv_value sequence, int64_t before) {
    dv_value source = dv_iterate(vm, sequence);
    dv_value all = dv_is_empty(source) ? DV_EMPTY : dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(all) && take_items(vm, source, before, all);
    if (good && dv_as_list(all)->count == before) good = dv_list_extend(vm, all, source);
    dv_release(vm, source);
    if (good) return all;
    dv_release(vm, all);
    return DV_EMPTY;
}

/* Of `count` items: the last ones, a list of those between, and the first ones, as UNPACK_EX wants
 * them. */
static bool unpack_around(dv_vm *vm, const dv_value *items, int64_t count, int64_t before,
                          int64_t after, dv_value *out) {
    if (count < before + after) {
        dv_raise(vm, DV_E_VALUE_ERROR, "not enough values to unpack (expected at least %d, got %d)",
                 (int)(before + after), (int)count);
        return false;
    }
    const dv_value middle = dv_list_new(vm, items + before, count - before - after);
    if (dv_is_empty(middle)) return false;
    for (int64_t i = 0; i < after; i++) *out++ = dv_retain(items[count - 1 - i]);
    *out++ = middle;
    for (int64_t i = before; i-- > 0;) *out++ = dv_retain(items[i]);
    return true;
}

bool dv_unpack_star(dv_vm *vm, dv_value sequence, int64_t before, int64_t after, dv_value *out) {
    if (dv_is_shape(sequence, DV_T_LIST)) {
        const dv_list *list = dv_as_list(sequence);
        return unpack_around(vm, list->items, list->count, before, after, out);
    }
    if (dv_is_shape(sequence, DV_T_TUPLE)) {
        const dv_tuple *tuple = dv_as_tuple(sequence);
        return unpack_around(vm, tuple->items, tuple->count, before, after, out);
    }
    dv_value all = DV_EMPTY;
    if (!dv_is_iterable(vm, sequence))
        dv_raise(vm, DV_E_TYPE_ERROR, "cannot unpack non-iterable %T object", sequence);
    else
        all = all_of(vm, sequence, before);
    if (dv_is_empty(all)) return false;
    const dv_list *list = dv_as_list(all);
    const bool good = unpack_around(vm, list->items, list->count, before, after, out);
    dv_release(vm, all);
    return good;
}

dv_value dv_build_dict(dv_vm *vm, const dv_value *pairs, uint32_t count) {
    dv_value dict = dv_dict_new(vm);
    for (uint32_t i = 0; i < count && !dv_is_empty(dict); i++) {
        if (dv_dict_set(vm, dict, pairs[2 * i], pairs[2 * i + 1])) continue;
        dv_release(vm, dict);
        dict = DV_EMPTY;
    }
    return dict;
}

bool dv_extend_display(dv_vm *vm, dv_value list, dv_value iterable) {
    if (!dv_is_list(list)) {
        dv_raise(vm, DV_E_SYSTEM_ERROR, "a list under construction is none");
        return false;
    }
    if (dv_list_extend(vm, list, iterable)) return true;
    if (!dv_error_is(vm, DV_E_TYPE_ERROR) || dv_is_iterable(vm, iterable)) return false;
    dv_error_clear(vm);
    dv_raise(vm, DV_E_TYPE_ERROR, "Value after * must be an iterable, not %T", iterable);
    return false;
}

/* In case of failure the item stays the caller's. */
bool dv_append_display(dv_vm *vm, dv_value list, dv_value item) {
    if (!dv_is_list(list)) {
        dv_raise(vm, DV_E_SYSTEM_ERROR, "a list under construction is none");
        return false;
    }
    if (!dv_list_append(vm, list, item)) return false;
    dv_release(vm, item);
    return true;
}

dv_value dv_build_set(dv_vm *vm, const dv_value *items, int64_t count) {
    dv_value set = dv_set_new(vm);
    for (int64_t i = 0; i < count && !dv_is_empty(set); i++) {
        if (dv_set_add(vm, set, items[i])) continue;
        dv_release(vm, set);
        set = DV_EMPTY;
    }
    return set;
}

static bool check_set(dv_vm *vm, dv_value set) {
    if (dv_is_set(set)) return true;
    dv_raise(vm, DV_E_SYSTEM_ERROR, "a set under construction is none");
    return false;
}

bool dv_update_set_display(dv_vm *vm, dv_value set, dv_value iterable) {
    return check_set(vm, set) && dv_set_update(vm, set, iterable);
}

bool dv_add_set_display(dv_vm *vm, dv_value set, dv_value item) {
    return check_set(vm, set) && dv_set_add(vm, set, item);
}

bool dv_add_display(dv_vm *vm, dv_value dict, dv_value key, dv_value value) {
    if (dv_is_dict(dict)) return dv_dict_set(vm, dict, key, value);
    dv_raise(vm, DV_E_SYSTEM_ERROR, "a dict under construction is none");
    return false;
}

/* A mapping is what has a method keys. */
static int is_mapping(dv_vm *vm, dv_value v) {
    if (dv_is_dict(v)) return 1;
    if (!dv_may_have_keys(v)) return 0;
    dv_value name = dv_str_intern(vm, "keys", 4);
    if (dv_is_empty(name)) return -1;
    dv_value method = dv_find_attribute(vm, v, name);
    dv_release(vm, name);
    if (dv_is_empty(method)) return dv_is_empty(vm->error) ? 0 : -1;
    dv_release(vm, method);
    return 1;
}

bool dv_update_display(dv_vm *vm, dv_value dict, dv_value mapping) {
    int fits = dv_is_dict(dict) ? is_mapping(vm, mapping) : -1;
    if (fits == 0) dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not a mapping", mapping);
    return fits == 1 && dv_dict_update(vm, dict, mapping);
}

dv_value dv_callee_name(dv_vm *vm, dv_value callee) {
    dv_value name = dv_find_attribute(vm, callee, vm->known.qualname);
    if (dv_is_empty(name)) return dv_is_empty(vm->error) ? dv_to_str(vm, callee) : DV_EMPTY;
    dv_value module = dv_find_attribute(vm, callee, vm->known.module), text = DV_EMPTY;
    if (dv_is_empty(module) && !dv_is_empty(vm->error)) {
        dv_release(vm, name);
        return DV_EMPTY;
    }
    if (dv_is_empty(module) || !dv_is_str(module) || dv_str_is(module, "builtins"))
        text = dv_str_printf(vm, "%S()", name);
    else
        text = dv_str_printf(vm, "%S.%S()", module, name);
    dv_release(vm, module);
    dv_release(vm, name);
    return text;
}

static bool raise_callee(dv_vm *vm, dv_value callee, const char *format, dv_value what) {
    dv_value name =
        dv_is_empty(callee) ? dv_str_z(vm, "__build_class__()") : dv_callee_name(vm, callee);
    if (!dv_is_empty(name)) dv_raise(vm, DV_E_TYPE_ERROR, format, name, what);
    dv_release(vm, name);
    return false;
}

/* CPython takes any KeyError that comes straight from C for a key that is there twice, unless it is
 * an object already, as it is where an exception is being handled. */
static bool refuse_mapping(dv_vm *vm, dv_value callee) {
    if (!dv_error_is(vm, DV_E_KEY_ERROR)) return false;
    const dv_exception *error = dv_as_exception(vm->error);
    const dv_tuple *args = dv_as_tuple(error->args);
    if (error->trace_count || dv_is_exception(error->context) || args->count != 1) return false;
    dv_value key = dv_retain(args->items[0]);
    dv_error_clear(vm);
    raise_callee(vm, callee, "%S got multiple values for keyword argument '%S'", key);
    dv_release(vm, key);
    return false;
}

bool dv_merge_keywords(dv_vm *vm, dv_value callee, dv_value dict, dv_value mapping) {
    int done = dv_is_dict(dict) ? dv_dict_merge(vm, dict, mapping) : -1;
    if (done == 0)
        return raise_callee(vm, callee, "%S argument after ** must be a mapping, not %T", mapping);
    return done > 0 || refuse_mapping(vm, callee);
}

dv_value dv_build_string(dv_vm *vm, const dv_value *parts, uint32_t count) {
    int64_t length = 0;
    bool narrow = true; /* one byte for each code point, as nearly always */
    for (uint32_t i = 0; i < count && narrow; i++) {
        narrow = dv_as_str(parts[i])->kind == 1 && dv_as_str(parts[i])->length < INT32_MAX;
        length += dv_as_str(parts[i])->length;
    }
    if (narrow && length > 0) {
        dv_str *s = dv_str_alloc(vm, length, 1);
        if (!s) return DV_EMPTY;
        char *to = s->data;
        for (uint32_t i = 0; i < count; i++) {
            const dv_str *part = dv_as_str(parts[i]);
            memcpy(to, part->data, (size_t)part->length);
            to += part->length;
        }
        return dv_object_value(s);
    }
    return dv_str_join(vm, vm->known.empty_str, parts, count);
}

dv_value dv_format_value(dv_vm *vm, dv_value v, uint32_t conversion, dv_value spec) {
    if (conversion == 0 && (dv_is_int(v) || dv_is_float(v)))
        return dv_is_empty(spec) ? dv_to_str(vm, v) : dv_format(vm, v, spec);
    dv_value converted = conversion == 0   ? dv_retain(v)
                         : conversion == 1 ? dv_to_str(vm, v)
                         : conversion == 2 ? dv_repr(vm, v)
                                           : dv_format_ascii(vm, v);
    if (dv_is_empty(converted)) return DV_EMPTY;
    dv_value result = dv_is_shape(converted, DV_T_STR) && dv_is_empty(spec)
                          ? dv_retain(converted)
                          : dv_format(vm, converted, spec);
    dv_release(vm, converted);
    return result;
}

dv_value dv_make_function(dv_vm *vm, dv_value thread, const dv_value *defaults, uint32_t count) {
    dv_value tuple = count ? dv_tuple_new(vm, defaults, count) : DV_EMPTY;
    if (count && dv_is_empty(tuple)) return DV_EMPTY;
    dv_value function = dv_function_make(vm, (dv_thread *)dv_as_object(thread), tuple);
    dv_release(vm, tuple);
    return function;
}

bool dv_set_defaults(dv_vm *vm, dv_value function, dv_value defaults, dv_value named) {
    if (!dv_is_function(function) || !dv_is_tuple(defaults) || !dv_is_dict(named) ||
        !dv_is_empty(dv_as_function(function)->keyword_defaults)) {
        dv_raise(vm, DV_E_SYSTEM_ERROR, "defaults of what is no new function");
        return false;
    }
    if (dv_as_dict(named)->count > 0)
        dv_as_function(function)->keyword_defaults = named;
    else
        dv_release(vm, named);
    if (dv_as_tuple(defaults)->count > 0)
        dv_as_function(function)->defaults = defaults;
    else
        dv_release(vm, defaults);
    return true;
}

dv_value dv_load_assertion_error(dv_vm *vm) {
    return dv_retain(dv_object_value(dv_exception_class(vm, DV_E_ASSERTION_ERROR)));
}

bool dv_set_annotations(dv_vm *vm, dv_value function, dv_value annotations) {
    if (!dv_is_function(function) || !dv_is_tuple(annotations) ||
        !dv_is_empty(dv_as_function(function)->annotations)) {
        dv_raise(vm, DV_E_SYSTEM_ERROR, "annotations of what is no new function");
        return false;
    }
    dv_as_function(function)->annotations = annotations;
    return true;
}

/* Cells of the frame's locals, and new ones with the values of others, which are the caller's. */
static bool copy_cells(dv_vm *vm, const dv_value *fp, const dv_code *code, dv_value *cells) {
    bool good = true;
    for (uint32_t i = 0; i < code->free_count; i++) {
        const uint32_t from = code->free_from[i];
        const dv_value old = fp[from & ~DV_FREE_VALUE];
        cells[i] = old;
        if (!(from & DV_FREE_VALUE)) continue;
        cells[i] = good ? dv_variable_new(vm, old) : DV_EMPTY;
        good = !dv_is_empty(cells[i]);
        if (good) dv_retain(old);
    }
    return good;
}

dv_value dv_make_closure(dv_vm *vm, const dv_value *fp, dv_value thread, const dv_value *defaults,
                         uint32_t count) {
    const dv_code *code = dv_thread_code(dv_as_object(thread));
    dv_value function = dv_make_function(vm, thread, defaults, count);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value few[16], *cells = few;
    size_t size = code->free_count * sizeof *cells;
    if (code->free_count > 16 && !(cells = dv_heap_alloc(&vm->heap, size))) {
        dv_release(vm, function);
        return dv_raise_memory(vm);
    }
    dv_value closure = DV_EMPTY;
    if (copy_cells(vm, fp, code, cells)) closure = dv_tuple_new(vm, cells, code->free_count);
    for (uint32_t i = 0; i < code->free_count; i++)
        if (code->free_from[i] & DV_FREE_VALUE) dv_release(vm, cells[i]);
    if (cells != few) dv_heap_free(&vm->heap, cells, size);
    if (dv_is_empty(closure)) {
        dv_release(vm, function);
        return DV_EMPTY;
    }
    dv_as_function(function)->closure = closure;
    return function;
}

/* A method of the manager's class; EMPTY without an exception if there is none. */
static dv_value find_method(dv_vm *vm, dv_value self, dv_value name) {
    const dv_global_cell *cell = dv_class_find(vm, dv_class_of(vm, self), name);
    return cell ? dv_retain(cell->value) : DV_EMPTY;
}

/* What it is as an attribute of the manager; takes the method, and passes EMPTY on. */
static dv_value bind_method(dv_vm *vm, dv_value self, dv_value method) {
    if (dv_is_empty(method)) return DV_EMPTY;
    dv_value bound = dv_bind(vm, method, self, dv_class_of(vm, self));
    dv_release(vm, method);
    return bound;
}

bool dv_with_methods(dv_vm *vm, dv_value manager, dv_value *out) {
    static const char *const lacks[] = {"", " (missed __exit__ method)"};
    dv_value enter = find_method(vm, manager, vm->known.enter), exit = DV_EMPTY;
    if (!dv_is_empty(enter))
        exit = bind_method(vm, manager, find_method(vm, manager, vm->known.exit));
    if (!dv_is_empty(exit)) {
        out[0] = exit;
        out[1] = enter;
        return true;
    }
    if (dv_is_empty(vm->error))
        dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object does not support the context manager protocol%s",
                 manager, lacks[!dv_is_empty(enter)]);
    dv_release(vm, enter);
    return false;
}

bool dv_enter_with(dv_vm *vm, dv_value manager, dv_value *methods) {
    dv_value exit = methods[0], enter = bind_method(vm, manager, methods[1]);
    dv_value entered = dv_is_empty(enter) ? DV_EMPTY : dv_call(vm, enter, NULL, 0, DV_EMPTY);
    dv_release(vm, enter);
    if (dv_is_empty(entered)) {
        dv_release(vm, exit);
        return false;
    }
    methods[-1] = exit;
    methods[0] = entered;
    return true;
}

dv_value dv_exit_with(dv_vm *vm, dv_value exit, dv_value exception) {
    dv_value trace = dv_exception_traceback(vm, exception);
    if (dv_is_empty(trace)) return DV_EMPTY;
    dv_value args[] = {dv_object_value(dv_class_of(vm, exception)), exception, trace};
    dv_value result = dv_call(vm, exit, args, 3, DV_EMPTY);
    dv_release(vm, trace);
    return result;
}

bool dv_print_expression(dv_vm *vm, dv_value v) {
    if (dv_is_empty(vm->sys.module)) return dv_stream_display(vm, v);
    dv_value hook = dv_retain(dv_sys_get(vm, "displayhook"));
    if (dv_is_empty(hook)) {
        dv_raise(vm, DV_E_RUNTIME_ERROR, "lost sys.displayhook");
        return false;
    }
    dv_value result = dv_call(vm, hook, &v, 1, DV_EMPTY);
    dv_release(vm, hook);
    dv_release(vm, result);
    return !dv_is_empty(result);
}
