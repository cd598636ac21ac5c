/* format_percent.c: `format % args` for strings, as printf. */
#include <limits.h>

#include "core/native.h"
#include "core/upcall.h"
#include "types/binary/buffer.h"
#include "types/class/class.h"
#include "types/class/metaclass.h"
#include "types/binary/bytes.h"
#include "types/number/float.h"
#include "types/text/format.h"
#include "types/text/format_number.h"
#include "types/class/instance.h"
#include "types/number/int_arith.h"
#include "types/text/str.h"
#include "types/text/str_unicode.h"
#include "types/sequence/tuple.h"

typedef struct percent {
    dv_vm *vm;
    dv_value source; /* the format */
    bool bytes;      /* it is a bytes object, and so is the result */
    int64_t next;    /* position in it */
    dv_builder out;
    dv_value whole; /* see dv_format_whole */
    /* Arguments: those of a tuple, or one value which is taken once. */
    const dv_value *args;
    int64_t count, taken;
    dv_value mapping;  /* EMPTY if args is none */
    dv_value selected; /* what %(key) has chosen; owned, or EMPTY */
} percent;

/* One conversion. */
typedef struct conversion {
    uint32_t type;
    bool left, plus, blank, alternate, zero;
    int64_t width, precision; /* -1: not given */
} conversion;

static bool raise_value(percent *p, const char *message) {
    dv_raise(p->vm, DV_E_VALUE_ERROR, "%s", message);
    return false;
}

static bool more(const percent *p) { return p->next < dv_as_str(p->source)->length; }
static uint32_t peek(const percent *p) { return dv_str_at(dv_as_str(p->source), p->next); }

static bool next_argument(percent *p, dv_value *out) {
    if (p->taken < p->count) {
        *out = p->args[p->taken++];
        return true;
    }
    dv_raise(p->vm, DV_E_TYPE_ERROR, "not enough arguments for format string");
    return false;
}

/* ---- Reading a conversion ---------------------------------------------------------------------*/

/* %(key): the value under this key becomes the only argument. */
static bool read_key(percent *p) {
    if (dv_is_empty(p->mapping)) {
        dv_raise(p->vm, DV_E_TYPE_ERROR, "format requires a mapping");
        return false;
    }
    int64_t start = ++p->next, depth = 1;
    while (depth > 0) {
        if (!more(p)) return raise_value(p, "incomplete format key");
        uint32_t c = peek(p);
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        p->next++;
    }
    dv_value key = p->bytes ? dv_bytes_slice(p->vm, p->source, start, p->next - 1)
                            : dv_str_slice(p->vm, p->source, start, p->next - 1);
    if (dv_is_empty(key)) return false;
    dv_value v = dv_get_item(p->vm, p->mapping, key);
    dv_release(p->vm, key);
    if (dv_is_empty(v)) return false;
    dv_release(p->vm, p->selected);
    p->selected = v;
    p->args = &p->selected;
    p->count = 1;
    p->taken = 0;
    return true;
}

static void read_flags(percent *p, conversion *c) {
    for (; more(p); p->next++) {
        switch (peek(p)) {
        case '-': c->left = true; break;
        case '+': c->plus = true; break;
        case ' ': c->blank = true; break;
        case '#': c->alternate = true; break;
        case '0': c->zero = true; break;
        default: return;
        }
    }
}

/* A `*`: the next argument, which must be an int. */
static bool read_star(percent *p, int64_t most, const char *overflow, int64_t *out) {
    dv_value v;
    p->next++;
    if (!next_argument(p, &v)) return false;
    if (!dv_is_integral(v)) {
        dv_raise(p->vm, DV_E_TYPE_ERROR, "* wants int");
        return false;
    }
    if (dv_int_to_int64(v, out) && *out <= most && *out >= -most) return true;
    dv_raise(p->vm, DV_E_OVERFLOW_ERROR, "%s", overflow);
    return false;
}

/* False: raised `message`, too many digits. */
static bool read_digits(percent *p, int64_t most, const char *message, int64_t *out) {
    int64_t n = 0;
    for (; more(p) && peek(p) >= '0' && peek(p) <= '9'; p->next++) {
        int64_t digit = (int64_t)peek(p) - '0';
        if (n > (most - digit) / 10) return raise_value(p, message);
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

static bool read_width(percent *p, conversion *c) {
    if (!more(p)) return true;
    if (peek(p) == '*') {
        if (!read_star(p, INT64_MAX, "Python int too large to convert to C ssize_t", &c->width))
            return false;
        if (c->width < 0) {
            c->left = true;
            c->width = -c->width;
        }
        return true;
    }
    if (peek(p) < '0' || peek(p) > '9') return true;
    return read_digits(p, INT64_MAX, "width too big", &c->width);
}

static bool read_precision(percent *p, conversion *c) {
    if (!more(p) || peek(p) != '.') return true;
    p->next++;
    c->precision = 0;
    if (more(p) && peek(p) == '*') {
        if (!read_star(p, INT_MAX, "Python int too large to convert to C int", &c->precision))
            return false;
        if (c->precision < 0) c->precision = 0;
        return true;
    }
    return read_digits(p, INT_MAX, "precision too big", &c->precision);
}

/* Everything behind the percent sign. */
static bool read_conversion(percent *p, conversion *c) {
    *c = (conversion){.width = -1, .precision = -1};
    if (more(p) && peek(p) == '(' && !read_key(p)) return false;
    read_flags(p, c);
    if (!read_width(p, c) || !read_precision(p, c)) return false;
    if (more(p) && (peek(p) == 'h' || peek(p) == 'l' || peek(p) == 'L')) p->next++;
    if (!more(p)) return raise_value(p, "incomplete format");
    c->type = peek(p);
    p->next++;
    return true;
}

/* ---- Writing ----------------------------------------------------------------------------------*/

/* Text with its sign, prefix ("0x") and body apart, padded to the width. */
static void write_padded(percent *p, const conversion *c, char sign, const char *prefix,
                         int64_t zeros, const char *body, int64_t size) {
    int64_t prefix_size = (int64_t)strlen(prefix);
    int64_t padding = c->width - ((sign != 0) + prefix_size + zeros + size);
    if (padding < 0) padding = 0;
    dv_builder *b = &p->out;
    if (!c->left && !c->zero) dv_builder_repeat(b, ' ', padding);
    if (sign) dv_builder_char(b, (uint32_t)sign);
    dv_builder_text(b, prefix, (size_t)prefix_size);
    if (!c->left && c->zero) dv_builder_repeat(b, '0', padding);
    dv_builder_repeat(b, '0', zeros);
    dv_builder_text(b, body, (size_t)size);
    if (c->left) dv_builder_repeat(b, ' ', padding);
}

static char sign_of(const conversion *c, bool negative) {
    return negative ? '-' : c->plus ? '+' : c->blank ? ' ' : 0;
}

static bool raise_type(percent *p, const conversion *c, dv_value v) {
    dv_error_clear(p->vm);
    bool integer = c->type == 'o' || c->type == 'x' || c->type == 'X';
    int type = p->bytes && c->type == 'i' ? 'd' : (int)c->type;
    dv_raise(p->vm, DV_E_TYPE_ERROR, "%%%c format: %s is required, not %T", type,
             integer ? "an integer" : "a real number", v);
    return false;
}

/* The int that an integer conversion shows; EMPTY: raised. */
static dv_value integer_of(percent *p, const conversion *c, dv_value v) {
    bool index = c->type == 'o' || c->type == 'x' || c->type == 'X';
    /* An int is what it is, whatever its class's __int__ says. */
    if (dv_is_integral(v)) return dv_int_index(p->vm, v);
    int number = dv_is_number(p->vm, v);
    dv_value r = DV_EMPTY;
    if (number > 0) r = index ? dv_int_index(p->vm, v) : dv_int_of(p->vm, v);
    if (number == 0 || (dv_is_empty(r) && dv_error_is(p->vm, DV_E_TYPE_ERROR))) raise_type(p, c, v);
    return r;
}

static bool write_integer(percent *p, const conversion *c, dv_value v) {
    dv_value i = integer_of(p, c, v);
    if (dv_is_empty(i)) return false;
    if (c->precision > INT_MAX - 3) {
        dv_release(p->vm, i);
        dv_raise(p->vm, DV_E_OVERFLOW_ERROR, "precision too large");
        return false;
    }
    int base = c->type == 'o' ? 8 : c->type == 'x' || c->type == 'X' ? 16 : 10;
    size_t size, capacity;
    char *digits = dv_int_digits(p->vm, i, base, &size, &capacity);
    bool negative = dv_int_sign(i) < 0;
    dv_release(p->vm, i);
    if (!digits) return false;
    if (c->type == 'X')
        for (size_t k = 0; k < size; k++)
            if (digits[k] >= 'a') digits[k] = (char)(digits[k] - 32);
    char prefix[3] = {'0', (char)c->type, 0};
    int64_t zeros = c->precision > (int64_t)size ? c->precision - (int64_t)size : 0;
    write_padded(p, c, sign_of(c, negative), base != 10 && c->alternate ? prefix : "", zeros,
                 digits, (int64_t)size);
    dv_heap_free(&p->vm->heap, digits, capacity);
    return true;
}

static bool write_double(percent *p, const conversion *c, dv_value v) {
    double d;
    dv_number_text text;
    if (!dv_as_double(p->vm, v, &d)) {
        if (!p->bytes || !dv_error_is(p->vm, DV_E_TYPE_ERROR)) return false;
        dv_error_clear(p->vm);
        dv_raise(p->vm, DV_E_TYPE_ERROR, "float argument required, not %T", v);
        return false;
    }
    int precision = c->precision < 0 ? 6 : (int)c->precision;
    if (!dv_number_text_double(p->vm, &text, d, (char)c->type, precision,
                               c->alternate ? DV_DOUBLE_ALTERNATE : 0))
        return false;
    bool negative = text.data[0] == '-';
    write_padded(p, c, sign_of(c, negative), "", 0, text.data + negative,
                 (int64_t)text.size - negative);
    dv_number_text_drop(p->vm, &text);
    return true;
}

/* A str, cut to the precision and padded with spaces. */
static void write_text(percent *p, const conversion *c, dv_value text) {
    int64_t length = dv_as_str(text)->length;
    if (c->precision >= 0 && c->precision < length) length = c->precision;
    int64_t padding = c->width > length ? c->width - length : 0;
    if (!c->left) dv_builder_repeat(&p->out, ' ', padding);
    if (!more(p) && !p->bytes && !c->plus && !c->blank)
        dv_format_whole(&p->out, text, length, &p->whole);
    dv_builder_slice(&p->out, text, 0, length);
    if (c->left) dv_builder_repeat(&p->out, ' ', padding);
}

static bool raise_character(percent *p) {
    dv_error_clear(p->vm);
    dv_raise(p->vm, DV_E_TYPE_ERROR, "%%c requires int or char");
    return false;
}

/* The byte that %c shows in bytes. */
static bool byte_of(percent *p, dv_value v, uint32_t *out) {
    int64_t n = -1;
    if (dv_is_bytes_like(v) && dv_as_bytes(v)->length == 1) {
        *out = (uint8_t)dv_as_bytes(v)->data[0];
        return true;
    }
    dv_value i = dv_int_index(p->vm, v);
    if (dv_is_empty(i)) {
        if (!dv_error_is(p->vm, DV_E_TYPE_ERROR)) return false;
        dv_error_clear(p->vm);
        dv_raise(p->vm, DV_E_TYPE_ERROR, "%%c requires an integer in range(256) or a single byte");
        return false;
    }
    bool fits = dv_int_to_int64(i, &n) && n >= 0 && n <= 255;
    dv_release(p->vm, i);
    if (!fits) dv_raise(p->vm, DV_E_OVERFLOW_ERROR, "%%c arg not in range(256)");
    *out = (uint32_t)n;
    return fits;
}

/* The code point that %c shows. */
static bool character_of(percent *p, dv_value v, uint32_t *out) {
    if (dv_is_str(v)) {
        if (dv_as_str(v)->length != 1) return raise_character(p);
        *out = dv_str_at(dv_as_str(v), 0);
        return true;
    }
    dv_value i = dv_int_index(p->vm, v);
    if (dv_is_empty(i)) return dv_error_is(p->vm, DV_E_TYPE_ERROR) ? raise_character(p) : false;
    int64_t n;
    bool fits = dv_int_to_int64(i, &n) && n >= 0 && n <= (int64_t)DV_UNICODE_MAX;
    dv_release(p->vm, i);
    if (!fits) {
        dv_raise(p->vm, DV_E_OVERFLOW_ERROR, "%%c arg not in range(0x110000)");
        return false;
    }
    *out = (uint32_t)n;
    return true;
}

static bool write_character(percent *p, const conversion *c, dv_value v) {
    uint32_t point;
    if (!(p->bytes ? byte_of(p, v, &point) : character_of(p, v, &point))) return false;
    int64_t padding = c->width > 1 ? c->width - 1 : 0;
    if (!c->left) dv_builder_repeat(&p->out, ' ', padding);
    dv_builder_char(&p->out, point);
    if (c->left) dv_builder_repeat(&p->out, ' ', padding);
    return true;
}

/* What %s and %b show in bytes. */
static dv_value contents_of(percent *p, dv_value v) {
    if (dv_is_bytes_like(v)) return dv_retain(dv_bytes_of(v));
    if (dv_is_instance(v)) {
        bool found;
        dv_value made = dv_number_special(p->vm, v, p->vm->known.bytes_, &found);
        if (found && (dv_is_empty(made) || dv_is_bytes(made))) return made;
        if (found) {
            dv_raise(p->vm, DV_E_TYPE_ERROR, "__bytes__ returned non-bytes (type %T)", made);
            dv_release(p->vm, made);
            return DV_EMPTY;
        }
    }
    if (dv_lends(p->vm, v)) return dv_bytes_contents(p->vm, v);
    return dv_raise(p->vm, DV_E_TYPE_ERROR,
                    "%%b requires a bytes-like object, or an object that implements __bytes__, "
                    "not '%T'",
                    v);
}

static bool write_object(percent *p, const conversion *c, dv_value v) {
    if (p->bytes && (c->type == 's' || c->type == 'b')) {
        dv_value bytes = contents_of(p, v);
        if (dv_is_empty(bytes)) return false;
        write_text(p, c, bytes);
        dv_release(p->vm, bytes);
        return true;
    }
    dv_value text = c->type == 's'                ? dv_to_str(p->vm, v)
                    : c->type == 'r' && !p->bytes ? dv_repr(p->vm, v)
                                                  : dv_format_ascii(p->vm, v);
    if (dv_is_empty(text)) return false;
    write_text(p, c, text);
    dv_release(p->vm, text);
    return true;
}

static bool raise_unsupported(percent *p, const conversion *c) {
    dv_raise(p->vm, DV_E_VALUE_ERROR, "unsupported format character '%c' (0x%x) at index %lld",
             c->type >= 31 && c->type < 126 ? (int)c->type : '?', (unsigned)c->type,
             (long long)p->next - 1);
    return false;
}

static bool write_conversion(percent *p) {
    conversion c;
    dv_value v;
    if (more(p) && peek(p) == '%') {
        dv_builder_char(&p->out, '%');
        p->next++;
        return true;
    }
    if (!read_conversion(p, &c) || !next_argument(p, &v)) return false;
    switch (c.type) {
    case 'b':
        if (!p->bytes) return raise_unsupported(p, &c);
        return write_object(p, &c, v);
    case 's':
    case 'r':
    case 'a': return write_object(p, &c, v);
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': return write_integer(p, &c, v);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': return write_double(p, &c, v);
    case 'c': return write_character(p, &c, v);
    default: return raise_unsupported(p, &c);
    }
}

static bool write_all(percent *p) {
    const dv_str *s = dv_as_str(p->source);
    while (p->next < s->length) {
        int64_t start = p->next;
        while (p->next < s->length && dv_str_at(s, p->next) != '%') p->next++;
        if (p->next == s->length && !p->bytes)
            dv_format_whole(&p->out, p->source, p->next - start, &p->whole);
        dv_builder_slice(&p->out, p->source, start, p->next);
        if (p->next == s->length) break;
        p->next++;
        if (!write_conversion(p)) return false;
    }
    if (p->taken >= p->count || !dv_is_empty(p->mapping)) return true;
    dv_raise(p->vm, DV_E_TYPE_ERROR, "not all arguments converted during %s formatting",
             p->bytes ? "bytes" : "string");
    return false;
}

/* What CPython's PyMapping_Check accepts (no deque), but for tuples and strings. */
static bool is_mapping(dv_vm *vm, dv_value v, bool bytes) {
    dv_type_id type = dv_type_of(vm, v);
    if (type == DV_T_STR || type == DV_T_TUPLE || type == DV_T_DEQUE) return false;
    if (bytes && (type == DV_T_BYTES || type == DV_T_BYTEARRAY)) return false;
    if (!dv_is_object(v)) return false;
    if (dv_is_class(v)) return dv_metaclass_special(dv_as_class(v), vm->known.getitem) != NULL;
    /* The items of a deque are those of a sequence alone. */
    if (type == DV_T_DEQUE && !dv_defines_special(vm, v, vm->known.getitem)) return false;
    if (!dv_is_plain_instance(v) && vm->types[type]->get_item) return true;
    if (!dv_is_instance(v)) return false;
    dv_global_cell *cell = dv_class_find(vm, dv_class_of(vm, v), vm->known.getitem);
    return cell && !dv_is_empty(cell->value);
}

dv_value dv_format_percent(dv_vm *vm, dv_value format, dv_value args) {
    percent p = {.vm = vm,
                 .source = format,
                 .bytes = dv_is_bytes(format),
                 .whole = DV_EMPTY,
                 .args = &args,
                 .count = 1,
                 .mapping = is_mapping(vm, args, dv_is_bytes(format)) ? args : DV_EMPTY,
                 .selected = DV_EMPTY};
    if (dv_is_tuple(args)) {
        const dv_tuple *tuple = (const dv_tuple *)dv_as_object(args);
        p.args = tuple->items;
        p.count = tuple->count;
    }
    if (!dv_enter_native(vm)) return DV_EMPTY;
    dv_builder_init(&p.out, vm);
    bool ok = write_all(&p);
    dv_leave_native(vm);
    dv_release(vm, p.selected);
    if (ok && dv_is_empty(p.whole))
        return p.bytes ? dv_bytes_finish(&p.out) : dv_builder_finish(&p.out);
    dv_builder_discard(&p.out);
    if (ok) return p.whole;
    dv_release(vm, p.whole);
    return DV_EMPTY;
}
