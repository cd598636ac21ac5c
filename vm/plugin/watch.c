/* watch.c: lines that say what an extension does (watch.h). */
#include "plugin/watch.h"

#include <stdarg.h>
#include <stdio.h>

#include "run/seen.h"
#include "types/class/class.h"
#include "types/number/float.h"
#include "types/text/str.h"

enum { LONGEST_TEXT = 40 };

dv_watch_place dv_watch_here(dv_vm *vm) {
    dv_seen_frame frame;
    if (!dv_frame_seen(vm, 0, &frame)) return (dv_watch_place){{NULL, 0}, 0};
    return (dv_watch_place){frame.thread->code->unit->filename, dv_seen_line(&frame)};
}

void dv_watch_put_some(dv_watch_line *line, const char *text, size_t size) {
    size_t room = sizeof line->text - 2 - line->size; /* for a newline and a zero */
    if (size > room) size = room;
    if (size) memcpy(line->text + line->size, text, size);
    line->size += size;
}

void dv_watch_put(dv_watch_line *line, const char *text) {
    dv_watch_put_some(line, text, strlen(text));
}

void dv_watch_put_format(dv_watch_line *line, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dv_watch_put(line, text);
}

/* A character roughly as repr would show it: what is not ASCII as an escape. */
static void put_character(dv_watch_line *line, unsigned char c) {
    if (c == '\n')
        dv_watch_put(line, "\\n");
    else if (c == '\'' || c == '\\')
        dv_watch_put_format(line, "\\%c", c);
    else if (c < 0x20 || c >= 0x7F)
        dv_watch_put_format(line, "\\x%02x", c);
    else
        dv_watch_put_some(line, (const char *)&c, 1);
}

void dv_watch_put_text(dv_watch_line *line, const char *text, size_t size) {
    size_t shown = size > LONGEST_TEXT ? LONGEST_TEXT : size;
    dv_watch_put(line, "'");
    for (size_t i = 0; i < shown; i++) put_character(line, (unsigned char)text[i]);
    dv_watch_put(line, shown < size ? "...'" : "'");
}

void dv_watch_put_double(dv_watch_line *line, double d) {
    char text[32];
    dv_watch_put_some(line, text, dv_float_repr(d, text));
}

/* Code points that are not ASCII as escapes, so that lone surrogates do no harm. */
static void put_points(dv_watch_line *line, const dv_str *s, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        uint32_t c = dv_str_at(s, i);
        if (c < 0x80)
            put_character(line, (unsigned char)c);
        else
            dv_watch_put_format(line, c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
    }
}

static void put_str(dv_watch_line *line, const dv_str *s) {
    bool whole = s->length <= LONGEST_TEXT;
    dv_watch_put(line, "'");
    put_points(line, s, whole ? s->length : LONGEST_TEXT);
    dv_watch_put(line, whole ? "'" : "...'");
}

static void put_name(dv_watch_line *line, const dv_class *class_) {
    const dv_str *name = dv_as_str(class_->name);
    put_points(line, name, name->length <= LONGEST_TEXT ? name->length : LONGEST_TEXT);
}

void dv_watch_put_type(dv_vm *vm, dv_watch_line *line, dv_value v) {
    put_name(line, dv_class_of(vm, v));
}

/* 0: it is no constant. */
static const char *constant_name(dv_value v) {
    if (dv_is_empty(v)) return "FAILED";
    if (dv_is_none(v)) return "None";
    if (dv_is_bool(v)) return dv_same(v, DV_TRUE) ? "True" : "False";
    if (dv_same(v, DV_ELLIPSIS)) return "Ellipsis";
    return dv_same(v, DV_NOTIMPLEMENTED) ? "NotImplemented" : NULL;
}

void dv_watch_put_value(dv_vm *vm, dv_watch_line *line, dv_value v) {
    const char *constant = constant_name(v);
    if (constant) {
        dv_watch_put(line, constant);
    } else if (dv_is_int(v)) {
        dv_watch_put_format(line, "%lld", (long long)dv_as_int(v));
    } else if (dv_is_float(v)) {
        dv_watch_put_double(line, dv_as_float(v));
    } else if (dv_is_shape(v, DV_T_STR)) {
        put_str(line, dv_as_str(v));
    } else {
        dv_watch_put(line, "<");
        if (dv_is_class(v))
            dv_watch_put(line, "class "), put_name(line, dv_as_class(v));
        else
            dv_watch_put_type(vm, line, v);
        dv_watch_put(line, ">");
    }
}

void dv_watch_write(dv_vm *vm, dv_watch_line *line) {
    dv_output output =
        vm->streams.extension_output ? vm->streams.extension_output : vm->streams.error_output;
    line->text[line->size++] = '\n';
    if (output) (void)output(vm->streams.output_context, line->text, line->size);
    line->size = 0;
}
