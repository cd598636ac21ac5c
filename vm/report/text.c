/* text.c: tracebacks as text (text.h). */
#include "report/text.h"

#include <stdio.h>

#include "core/work.h"
#include "report/caret.h"
#include "report/suggest.h"
#include "run/thread.h"
#include "types/class/class.h"
#include "types/exception/exception.h"
#include "types/number/int.h"
#include "types/number/int_arith.h"
#include "types/sequence/list.h"
#include "types/text/str.h"
#include "types/exception/traceback.h"
#include "types/sequence/tuple.h"

#define REPEAT_LIMIT 3    /* equal lines of a traceback that are printed */
#define ENTRY_LIMIT  1000 /* innermost entries that are printed */

bool dv_source_line(dv_text source, uint32_t line, dv_text *out) {
    const char *at = source.data, *end = source.data + source.size;
    for (; line > 1; line--) {
        while (at < end && *at != '\n' && *at != '\r') at++;
        if (at == end) return false;
        at += *at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : 1;
    }
    if (at == end) return false;
    out->data = at;
    while (at < end && *at != '\n' && *at != '\r') at++;
    out->size = (uint32_t)(at - out->data);
    return true;
}

/* Code points in text[0 .. bytes-1]; bytes beyond the text count as the text. */
static size_t count_characters(dv_text text, size_t bytes) {
    size_t count = 0;
    for (size_t i = 0; i < bytes && i < text.size; i++) count += (text.data[i] & 0xC0) != 0x80;
    return count;
}

static uint32_t indentation(dv_text line) {
    uint32_t i = 0;
    while (i < line.size && (line.data[i] == ' ' || line.data[i] == '\t' || line.data[i] == '\f'))
        i++;
    return i;
}

static void repeat(dv_builder *b, char c, size_t from, size_t to) {
    if (to > from) dv_builder_repeat(b, (uint8_t)c, (int64_t)(to - from));
}

/* The line of carets below a source line; offsets in characters of the whole line. */
static void write_carets(dv_vm *vm, dv_builder *b, dv_text line, const dv_position *position) {
    uint32_t indent = indentation(line);
    size_t start = count_characters(line, position->column);
    size_t length = count_characters(line, line.size);
    size_t end, left = 0, right = 0;
    bool anchored = false;
    if (position->line == position->end_line) {
        end = count_characters(line, position->end_column);
        size_t from = position->column < line.size ? position->column : line.size;
        size_t to = position->end_column < line.size ? position->end_column : line.size;
        if (to > from) anchored = dv_caret_anchors(vm, line.data + from, to - from, &left, &right);
        left = count_characters(line, from + left);
        right = count_characters(line, from + right);
    } else {
        /* CPython looks for the last character by the number of a byte. */
        end = length;
        while (end > 0 && strchr(" \t\f", line.data[end - 1])) end--;
    }
    if (end - start == length - indent && !anchored) return;
    dv_builder_z(b, "    ");
    repeat(b, ' ', indent, start);
    if (anchored) {
        repeat(b, '~', start, left);
        repeat(b, '^', left, right);
        repeat(b, '~', right, end);
    } else {
        repeat(b, '^', start, end);
    }
    dv_builder_char(b, '\n');
}

static void write_entry(dv_vm *vm, dv_builder *b, dv_trace_entry entry, uint32_t line) {
    const dv_code *code = dv_thread_code(entry.code);
    char number[32];
    dv_builder_z(b, "  File \"");
    dv_builder_text(b, code->unit->filename.data, code->unit->filename.size);
    snprintf(number, sizeof number, "\", line %u, in ", line);
    dv_builder_z(b, number);
    const dv_text name = dv_code_name_at(code, entry.pc);
    dv_builder_text(b, name.data, name.size);
    dv_builder_char(b, '\n');
    dv_text source;
    if (code->unit->source.size == 0 || !dv_source_line(code->unit->source, line, &source)) return;
    uint32_t indent = indentation(source);
    dv_builder_z(b, "    ");
    dv_builder_text(b, source.data + indent, source.size - indent);
    dv_builder_char(b, '\n');
    const dv_position *position = dv_code_position(code, entry.pc);
    bool has_range = position && position->line == line &&
                     (position->end_line > line || position->end_column > position->column);
    if (has_range) write_carets(vm, b, source, position);
}

static void write_repeated(dv_builder *b, uint32_t count) {
    char text[64];
    if (count <= REPEAT_LIMIT) return;
    count -= REPEAT_LIMIT;
    snprintf(text, sizeof text, "  [Previous line repeated %u more time%s]\n", count,
             count > 1 ? "s" : "");
    dv_builder_z(b, text);
}

/* The entries of an exception's traceback, outermost first. */
typedef struct trace_walk {
    const dv_trace_entry *pairs;
    uint32_t left; /* pairs[left - 1] is next; then: */
    dv_value chain;
} trace_walk;

static bool next_entry(trace_walk *walk, dv_trace_entry *entry) {
    if (walk->left > 0) {
        *entry = walk->pairs[--walk->left];
        return true;
    }
    if (dv_is_empty(walk->chain)) return false;
    const dv_traceback *traceback = dv_as_traceback(walk->chain);
    *entry = (dv_trace_entry){traceback->code, traceback->pc};
    walk->chain = traceback->next;
    return true;
}

/* How many entries are shown: sys.tracebacklimit, if it is an int. */
static int64_t entry_limit(dv_vm *vm) {
    dv_value limit = dv_sys_get(vm, "tracebacklimit");
    int64_t number = ENTRY_LIMIT;
    if (dv_is_empty(limit) || !dv_is_integral(limit)) return number;
    dv_int_view view;
    dv_int_look(limit, &view);
    if (!dv_int_to_int64(limit, &number)) number = view.negative ? 0 : INT64_MAX;
    return number;
}

/* Skips what is further out than the `limit` innermost entries. */
static trace_walk walk_trace(const dv_exception *exception, int64_t limit) {
    trace_walk walk = {exception->trace, exception->trace_count, exception->traceback};
    trace_walk ahead = walk;
    dv_trace_entry entry;
    for (int64_t count = 0; next_entry(&ahead, &entry); count++)
        if (count >= limit) next_entry(&walk, &entry);
    return walk;
}

static void write_trace(dv_vm *vm, dv_builder *b, const dv_exception *exception) {
    int64_t limit = entry_limit(vm);
    if (!dv_exception_has_trace(exception) || limit <= 0) return;
    dv_builder_z(b, "Traceback (most recent call last):\n");
    const dv_code *last_code = NULL;
    dv_text last_name = {0};
    uint32_t last_line = 0, count = 0;
    trace_walk walk = walk_trace(exception, limit);
    for (dv_trace_entry entry; next_entry(&walk, &entry);) {
        const dv_code *code = dv_thread_code(entry.code);
        uint32_t line = dv_traceback_line(entry.code, entry.pc);
        const dv_text name = dv_code_name_at(code, entry.pc);
        bool same = last_code && line == last_line && code->unit == last_code->unit &&
                    dv_text_is_same(name, last_name);
        if (!same) {
            write_repeated(b, count);
            count = 0;
        }
        last_code = code;
        last_name = name;
        last_line = line;
        if (++count <= REPEAT_LIMIT) write_entry(vm, b, entry, line);
    }
    write_repeated(b, count);
}

dv_value dv_traceback_text(dv_vm *vm, dv_value value) {
    const dv_traceback *traceback = dv_as_traceback(value);
    dv_trace_entry entry = {traceback->code, traceback->pc};
    dv_builder b;
    dv_builder_init(&b, vm);
    write_entry(vm, &b, entry, dv_traceback_line(entry.code, entry.pc));
    return dv_builder_finish(&b);
}

dv_value dv_traceback_source(dv_vm *vm, dv_value value) {
    const dv_traceback *traceback = dv_as_traceback(value);
    const dv_unit *unit = dv_thread_code(traceback->code)->unit;
    uint32_t line = dv_traceback_line(traceback->code, traceback->pc);
    dv_text source;
    if (unit->source.size == 0 || !dv_source_line(unit->source, line, &source))
        return dv_str_empty(vm);
    uint32_t indent = indentation(source);
    return dv_str_new(vm, source.data + indent, source.size - indent);
}

dv_value dv_traceback_name(dv_vm *vm, dv_value value) {
    const dv_traceback *traceback = dv_as_traceback(value);
    const dv_text name = dv_code_name_at(dv_thread_code(traceback->code), traceback->pc);
    return dv_str_new(vm, name.data, name.size);
}

/* Syntax errors ---------------------------------------------------------------------------------
 */

/* Columns of an error in a line, counted from 1 in characters; 0: none. */
typedef struct error_range {
    int64_t first, end;
    bool further; /* it ends in a later line */
} error_range;

/* Of the first `length` characters. */
static int64_t utf8_size(const dv_str *s, int64_t length) {
    int64_t size = 0;
    for (int64_t i = 0; i < length; i++) {
        uint32_t c = dv_str_at(s, i);
        size += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    return size;
}

/* The line with the error and its carets.  CPython compares columns with the line's size in bytes
 * and prints the line up to a zero byte. */
static void write_error_line(dv_builder *b, dv_value text, error_range range) {
    const dv_str *s = dv_as_str(text);
    int64_t size = utf8_size(s, s->length), length = 0, first = 0;
    while (length < s->length && dv_str_at(s, length) != 0 && dv_str_at(s, length) != '\n')
        length++;
    if (range.further) range.end = size;
    if (range.end > size + 1) range.end = size + 1;
    int64_t bytes = utf8_size(s, length);
    int64_t repetitions = range.end > 0 && range.end > range.first ? range.end - range.first : 1;
    while (first < length && (dv_str_at(s, first) == ' ' || dv_str_at(s, first) == '\t' ||
                              dv_str_at(s, first) == '\f'))
        first++;
    int64_t offset = range.first - 1 - first;
    if (offset > bytes - first) offset = bytes - first;
    dv_builder_z(b, "    ");
    dv_builder_slice(b, text, first, length);
    dv_builder_char(b, '\n');
    if (offset < 0) return;
    dv_builder_z(b, "    ");
    dv_builder_repeat(b, ' ', offset);
    dv_builder_repeat(b, '^', repetitions);
    dv_builder_char(b, '\n');
}

static int64_t place_number(const dv_tuple *place, int64_t i) {
    int64_t number = 0;
    return i < place->count && dv_int_to_int64(place->items[i], &number) ? number : 0;
}

/* args of a SyntaxError: (message, (filename, line, offset, text, end line, end offset)). */
static bool write_syntax_place(dv_vm *vm, dv_builder *b, const dv_exception *exception) {
    const dv_tuple *args = dv_as_tuple(exception->args);
    if (args->count != 2 || !dv_is_tuple(args->items[1])) return true;
    const dv_tuple *place = dv_as_tuple(args->items[1]);
    int64_t line;
    if (place->count < 4 || !dv_int_to_int64(place->items[1], &line)) return true;
    dv_builder_z(b, "  File \"");
    if (dv_is_none(place->items[0]))
        dv_builder_z(b, "<string>");
    else if (!dv_builder_to_str(b, place->items[0]))
        return false;
    char number[48];
    snprintf(number, sizeof number, "\", line %lld\n", (long long)line);
    dv_builder_z(b, number);
    if (!dv_is_str(place->items[3])) return true;
    error_range range = {.first = place_number(place, 2)};
    /* Subclasses show where the error is, not how far it goes. */
    if (exception->class_ == vm->error_classes[DV_E_SYNTAX_ERROR]) {
        range.further = place_number(place, 4) > line;
        range.end = place_number(place, 5);
    }
    write_error_line(b, place->items[3], range);
    return true;
}

/* One exception ---------------------------------------------------------------------------------
 */

dv_value dv_exception_type_text(dv_vm *vm, dv_value exception) {
    dv_class *class_ = dv_as_exception(exception)->class_;
    if (class_->descriptor && !dv_namespace_find(&class_->attributes, vm->known.module))
        return dv_retain(class_->name);
    dv_value full = dv_class_qualified_name(vm, class_);
    if (dv_is_empty(full)) return DV_EMPTY;
    const dv_str *s = dv_as_str(full);
    static const char prefix[] = "__main__.";
    int64_t skip = sizeof prefix - 1;
    bool main = s->length > skip;
    for (int64_t i = 0; main && i < skip; i++) main = dv_str_at(s, i) == (uint8_t)prefix[i];
    if (!main) return full;
    dv_value name = dv_str_slice(vm, full, skip, s->length);
    dv_release(vm, full);
    return name;
}

/* What stands behind the type's name. */
static dv_value message_of(dv_vm *vm, dv_value exception, bool syntax) {
    const dv_tuple *args = dv_as_tuple(dv_as_exception(exception)->args);
    dv_value message = syntax && args->count == 2 && dv_is_tuple(args->items[1])
                           ? dv_to_str(vm, args->items[0])
                           : dv_to_str(vm, exception);
    if (!dv_is_empty(message)) return message;
    dv_error_clear(vm);
    return dv_str_z(vm, "<exception str() failed>");
}

static void write_notes(dv_vm *vm, dv_builder *b, dv_value exception) {
    if (b->failed) return;
    dv_value notes = dv_find_named(vm, exception, "__notes__");
    if (dv_is_empty(notes) && !dv_is_empty(vm->error)) dv_error_clear(vm);
    for (int64_t i = 0; dv_is_list(notes) && i < dv_as_list(notes)->count; i++) {
        if (!dv_builder_to_str(b, dv_as_list(notes)->items[i])) {
            dv_error_clear(vm);
            dv_builder_z(b, "<note str() failed>");
        }
        dv_builder_char(b, '\n');
    }
    dv_release(vm, notes);
}

static bool write_exception(dv_vm *vm, dv_builder *b, dv_value value) {
    const dv_exception *exception = dv_as_exception(value);
    bool syntax = dv_class_is_subclass(exception->class_, vm->error_classes[DV_E_SYNTAX_ERROR]);
    write_trace(vm, b, exception);
    if (syntax && !write_syntax_place(vm, b, exception)) return false;
    dv_value type = dv_exception_type_text(vm, value);
    if (dv_is_empty(type)) return false;
    dv_builder_str(b, type);
    dv_release(vm, type);
    dv_value message = message_of(vm, value, syntax);
    if (dv_is_empty(message)) return false;
    if (dv_as_str(message)->length > 0) {
        dv_builder_z(b, ": ");
        dv_builder_str(b, message);
    }
    dv_release(vm, message);
    dv_value suggestion = dv_suggestion(vm, value);
    if (!dv_is_empty(suggestion)) {
        dv_builder_z(b, ". Did you mean: ");
        dv_builder_quoted(b, suggestion);
        dv_builder_char(b, '?');
        dv_release(vm, suggestion);
    }
    dv_builder_char(b, '\n');
    write_notes(vm, b, value);
    return true;
}

dv_value dv_exception_bare_text(dv_vm *vm, dv_value exception) {
    dv_value type = dv_exception_type_text(vm, exception);
    dv_value message = dv_is_empty(type) ? DV_EMPTY : message_of(vm, exception, false);
    dv_builder b;
    dv_builder_init(&b, vm);
    if (!dv_is_empty(message)) {
        write_trace(vm, &b, dv_as_exception(exception));
        dv_builder_str(&b, type);
        dv_builder_z(&b, ": ");
        dv_builder_str(&b, message);
        dv_builder_char(&b, '\n');
    }
    bool good = !dv_is_empty(message);
    dv_release(vm, type);
    dv_release(vm, message);
    if (good) return dv_builder_finish(&b);
    dv_builder_discard(&b);
    return DV_EMPTY;
}

/* Chains ----------------------------------------------------------------------------------------
 */

/* The exception that is printed before this one, or EMPTY; *cause tells which of the two. */
static dv_value predecessor(dv_value value, bool *cause) {
    const dv_exception *exception = dv_as_exception(value);
    *cause = dv_is_exception(exception->cause);
    if (*cause) return exception->cause;
    if (dv_is_exception(exception->context) && !exception->suppress_context)
        return exception->context;
    return DV_EMPTY;
}

/* Of a program that is stopped so many are told. */
enum { MOST_OF_STOPPED = 100 };

/* Forgets what comes again in a chain whose last `period` items are a cycle. */
static void cut_cycle(dv_vm *vm, dv_list *chain, int64_t period) {
    int64_t first = 0;
    while (first + period < chain->count &&
           !dv_same(chain->items[first], chain->items[first + period]))
        first++;
    while (chain->count > first + period) dv_release(vm, chain->items[--chain->count]);
}

/* The exception and its predecessors, each once.  A cycle is found by comparing with an earlier
 * one, each time twice as far away (Brent).  EMPTY: raised. */
static dv_value chain_of(dv_vm *vm, dv_value exception) {
    dv_value list = dv_list_new(vm, &exception, 1);
    if (dv_is_empty(list)) return DV_EMPTY;
    dv_list *chain = dv_as_list(list);
    const int64_t most = dv_is_stopped(vm) ? MOST_OF_STOPPED : INT64_MAX;
    bool cause;
    for (int64_t mark = 0; chain->count < most;) {
        const dv_value at = predecessor(chain->items[chain->count - 1], &cause);
        if (dv_is_empty(at)) break;
        if (dv_same(at, chain->items[mark])) {
            cut_cycle(vm, chain, chain->count - mark);
            break;
        }
        if (!dv_list_append(vm, list, at)) {
            dv_release(vm, list);
            return DV_EMPTY;
        }
        if (chain->count >= 2 * (mark + 1)) mark = chain->count - 1;
    }
    return list;
}

dv_value dv_exception_text(dv_vm *vm, dv_value exception) {
    enum { WORK = 150 }; /* for one */
    dv_value chain = chain_of(vm, exception);
    if (dv_is_empty(chain)) return DV_EMPTY;
    bool cause, good = true;
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = dv_as_list(chain)->count; good && i-- > 0;) {
        dv_value item = dv_as_list(chain)->items[i];
        good = (dv_is_stopped(vm) || dv_work(vm, WORK)) && write_exception(vm, &b, item);
        if (i == 0) break;
        predecessor(dv_as_list(chain)->items[i - 1], &cause);
        dv_builder_z(&b, cause ? "\nThe above exception was the direct cause of the following "
                                 "exception:\n\n"
                               : "\nDuring handling of the above exception, another exception "
                                 "occurred:\n\n");
    }
    dv_release(vm, chain);
    if (good) return dv_builder_finish(&b);
    dv_builder_discard(&b);
    return DV_EMPTY;
}
