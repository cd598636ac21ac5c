/* warning.c: how warnings get from C to the library module that decides on them
 * (types/exception/warning.h), and where they are: what frames the program has.
 *
 * Invariant 1: an exception that a filter makes of a warning is raised here, so that its traceback
 * shows none of the library's frames, as CPython's does. */
#include "types/exception/warning.h"

#include "core/upcall.h"
#include "report/text.h"
#include "run/seen.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/exception/exception.h"
#include "types/mapping/dict.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"

/* Calls give or give_in, which take so many values: the exception that they return is raised. */
static bool give(dv_vm *vm, const char *function, const dv_value *values, uint32_t count) {
    dv_value outcome = dv_library_call(vm, "_warnings_filter", function, values, count);
    if (dv_is_empty(outcome)) return false;
    const bool good = dv_is_none(outcome);
    if (!good) dv_exception_raise(vm, outcome, DV_EMPTY);
    dv_release(vm, outcome);
    return good;
}

/* ---- The program's line ---- */

/* The line without spaces around it, new; None: the text is not known. */
static dv_value line_of(dv_vm *vm, const dv_seen_frame *frame, uint32_t number) {
    const dv_text source = frame->thread->code->unit->source;
    dv_text line;
    if (!source.size || !dv_source_line(source, number, &line)) return DV_NONE;
    while (line.size && strchr(" \t\f", *line.data)) line.data++, line.size--;
    return dv_str_new(vm, line.data, line.size);
}

/* `source`: the object that the warning is about, or None. */
static bool warn_from(dv_vm *vm, int64_t level, dv_value category, dv_value message,
                      dv_value source) {
    dv_seen_frame frame;
    dv_value values[7] = {category, message, source, DV_NONE, DV_EMPTY, dv_int(1), DV_NONE};
    if (dv_frame_seen(vm, level, &frame)) {
        const dv_text file = frame.thread->code->unit->filename;
        const uint32_t number = dv_seen_line(&frame);
        values[3] = dv_module_globals(vm, dv_object_value(frame.thread->module));
        if (dv_is_empty(values[3])) return false;
        values[4] = dv_str_new(vm, file.data, file.size);
        values[5] = dv_int(number);
        values[6] = line_of(vm, &frame, number);
    } else {
        values[4] = dv_str_z(vm, "sys");
    }
    const bool good =
        !dv_is_empty(values[4]) && !dv_is_empty(values[6]) && give(vm, "give_in", values, 7);
    dv_release(vm, values[3]);
    dv_release(vm, values[4]);
    dv_release(vm, values[6]);
    return good;
}

bool dv_warn_here(dv_vm *vm, dv_value category, const char *message) {
    dv_value text = dv_str_z(vm, message);
    const bool good = !dv_is_empty(text) && warn_from(vm, 0, category, text, DV_NONE);
    dv_release(vm, text);
    return good;
}

bool dv_warn_at(dv_vm *vm, dv_value category, const char *message, dv_text filename, uint32_t line,
                dv_value source) {
    dv_value values[] = {category, dv_str_z(vm, message),
                         dv_str_new(vm, filename.data, filename.size), dv_int(line), source};
    const bool good =
        !dv_is_empty(values[1]) && !dv_is_empty(values[2]) && give(vm, "give_at", values, 5);
    dv_release(vm, values[1]);
    dv_release(vm, values[2]);
    return good;
}

/* ---- The functions of the module _warnings ---- */

static bool is_warning_class(dv_vm *vm, dv_value v) {
    return dv_is_class(v) &&
           dv_class_is_subclass(dv_as_class(v), dv_exception_class(vm, DV_E_WARNING));
}

/* The class of a message that is a warning itself, or else the given one; EMPTY: raised. */
static dv_value category_of(dv_vm *vm, dv_value message, dv_value category) {
    dv_value own = dv_object_value(dv_class_of(vm, message));
    if (is_warning_class(vm, own)) return own;
    if (dv_is_empty(category) || dv_is_none(category))
        return dv_object_value(dv_exception_class(vm, DV_E_USER_WARNING));
    if (is_warning_class(vm, category)) return category;
    return dv_raise(vm, DV_E_TYPE_ERROR, "category must be a Warning subclass, not '%T'", category);
}

static dv_value warnings_warn(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"message", "category", "stacklevel", "source"};
    static const dv_parameters parameters = {"warn", names, 4, 4, 1};
    dv_value given[4];
    int64_t level = 1;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    if (!dv_is_empty(given[2]) && !dv_size_argument(vm, given[2], &level)) return DV_EMPTY;
    dv_value category = category_of(vm, given[0], given[1]);
    if (dv_is_empty(category)) return DV_EMPTY;
    const dv_value source = dv_is_empty(given[3]) ? DV_NONE : given[3];
    return warn_from(vm, level > 0 ? level - 1 : 0, category, given[0], source) ? DV_NONE
                                                                                : DV_EMPTY;
}

static dv_value warnings_warn_explicit(dv_vm *vm, const dv_value *args, uint32_t count,
                                       dv_value keywords) {
    static const char *const names[] = {"message", "category", "filename",       "lineno",
                                        "module",  "registry", "module_globals", "source"};
    static const dv_parameters parameters = {"warn_explicit", names, 8, 8, 4};
    dv_value given[8];
    int64_t line;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    if (!dv_is_str(given[2]))
        return dv_arguments_refuse(vm, "warn_explicit() argument 3", "str", given[2]);
    if (!dv_int_argument(vm, given[3], &line)) return DV_EMPTY;
    if (!dv_is_empty(given[4]) && dv_is_none(given[4])) return DV_NONE;
    if (!dv_is_empty(given[6]) && !dv_is_none(given[6]) && !dv_is_dict(given[6]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "module_globals must be a dict, not '%T'", given[6]);
    const dv_value values[] = {given[1],
                               given[0],
                               given[2],
                               dv_int(line),
                               dv_is_empty(given[4]) ? DV_NONE : given[4],
                               dv_is_empty(given[5]) ? DV_NONE : given[5],
                               dv_is_empty(given[7]) ? DV_NONE : given[7]};
    return give(vm, "give", values, 7) ? DV_NONE : DV_EMPTY;
}

const dv_cfunction_def dv_warning_functions[] = {
    {.name = "warn", .keyword_entry = warnings_warn, .min = 0, .max = UINT32_MAX},
    {.name = "warn_explicit", .keyword_entry = warnings_warn_explicit, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};
