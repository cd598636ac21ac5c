/* unparse.c: expressions back to text (unparse.h).
 *
 * Invariants
 *  1. The result is CPython 3.11's, byte for byte: which parts get parentheses (levels), the
 * spaces, the quotes.
 *  2. Left spines are written in a loop: first the parentheses that open before the leftmost part,
 *     then the nodes from there up (ast.h, invariant 2). */
#include "lang/unparse.h"

#include "core/dtoa.h"
#include "lang/chars.h"
#include "lang/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How tight an expression must bind to stand without parentheses. */
enum {
    LEVEL_TUPLE,
    LEVEL_TEST,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_BIT_OR,
    LEVEL_BIT_XOR,
    LEVEL_BIT_AND,
    LEVEL_SHIFT,
    LEVEL_SUM,
    LEVEL_TERM,
    LEVEL_FACTOR,
    LEVEL_POWER,
    LEVEL_AWAIT,
    LEVEL_ATOM,
    LEVEL_EXPR = LEVEL_BIT_OR /* behind a star */
};

typedef struct writer {
    dv_front *front;
    dv_escape_buffer out;
    bool inner; /* in a function inside the annotation: yield and := are allowed */
} writer;

static bool write_expr(writer *w, dv_expr *root, int level);
static bool write_joined(writer *w, const dv_expr *expr, bool spec);

static bool put(writer *w, const char *text) {
    return dv_escape_append(w->front, &w->out, text, (uint32_t)strlen(text));
}

static bool put_text(writer *w, dv_text text) {
    return dv_escape_append(w->front, &w->out, text.data, text.size);
}

static bool put_if(writer *w, bool condition, const char *text) {
    return !condition || put(w, text);
}

/* ---- Constants ---- */

static bool put_escaped(writer *w, uint32_t point, const char *raw, size_t size, bool bytes) {
    char text[12];
    if (point == '\n') return put(w, "\\n");
    if (point == '\r') return put(w, "\\r");
    if (point == '\t') return put(w, "\\t");
    bool plain =
        bytes ? point >= ' ' && point < 0x7F : point == ' ' || dv_chars_is_printable(point);
    if (plain) return dv_escape_append(w->front, &w->out, raw, (uint32_t)size);
    const char *format = point < 0x100     ? "\\x%02" PRIx32
                         : point < 0x10000 ? "\\u%04" PRIx32
                                           : "\\U%08" PRIx32;
    snprintf(text, sizeof text, format, point);
    return put(w, text);
}

/* The size of the character at `at`; lone surrogates are three bytes (code.h). */
static size_t next_point(const char *at, const char *end, bool bytes, uint32_t *point) {
    *point = (unsigned char)*at;
    if (bytes) return 1;
    size_t size = dv_chars_decode(at, end, point);
    if (size > 0) return size;
    *point = ((uint32_t)(at[0] & 0x0F) << 12) | ((uint32_t)(at[1] & 0x3F) << 6) |
             (uint32_t)(at[2] & 0x3F);
    return 3;
}

/* repr() of a str or of bytes */
static bool write_quoted(writer *w, dv_text text, bool bytes) {
    bool single = text.size > 0 && memchr(text.data, '\'', text.size) != NULL;
    bool twice = text.size > 0 && memchr(text.data, '"', text.size) != NULL;
    const char *quote = single && !twice ? "\"" : "'";
    if (!put_if(w, bytes, "b") || !put(w, quote)) return false;
    const char *at = text.data, *end = text.data + text.size;
    while (at < end) {
        uint32_t point;
        size_t size = next_point(at, end, bytes, &point);
        if ((point == '\\' || point == (unsigned char)*quote) && !put(w, "\\")) return false;
        if (!put_escaped(w, point, at, size, bytes)) return false;
        at += size;
    }
    return put(w, quote);
}

/* repr() of a float that is not negative; what is infinite is written so that it reads back. */
static bool write_real(writer *w, double value, bool imaginary) {
    char digits[24], text[64]; /* no shortest form has more than 17 digits */
    if (value > 1.7976931348623157e308) return put(w, imaginary ? "1e309j" : "1e309");
    int point;
    size_t size = dv_dtoa_digits(value, 'r', 0, digits, sizeof digits - 1, &point);
    digits[size] = '\0';
    int count = (int)size, exponent = point - 1;
    bool whole = false;
    if (exponent < -4 || exponent >= 16) {
        const char *dot = count > 1 ? "." : "";
        snprintf(text, sizeof text, "%c%s%se%c%02d", digits[0], dot, digits + 1,
                 exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
    } else if (point <= 0) {
        snprintf(text, sizeof text, "0.%.*s%s", -point, "0000", digits);
    } else if (point >= count) {
        snprintf(text, sizeof text, "%s%.*s", digits, point - count, "0000000000000000");
        whole = true;
    } else {
        snprintf(text, sizeof text, "%.*s.%s", point, digits, digits + point);
    }
    return put(w, text) && put_if(w, whole && !imaginary, ".0") && put_if(w, imaginary, "j");
}

/* Decimal digits of hexadecimal ones: nine at a time, by multiplication and addition. */
static bool write_big(writer *w, dv_text hex) {
    enum { BASE = 1000000000 };
    size_t capacity = hex.size / 7 + 2, count = 1;
    uint32_t *limbs = dv_front_scratch(w->front, capacity * sizeof *limbs);
    if (limbs == NULL) return false;
    for (uint32_t i = 0; i < hex.size; i++) {
        uint64_t carry = dv_chars_digit(hex.data[i]);
        for (size_t k = 0; k < count; k++) {
            carry += (uint64_t)limbs[k] * 16;
            limbs[k] = (uint32_t)(carry % BASE);
            carry /= BASE;
        }
        if (carry > 0) limbs[count++] = (uint32_t)carry;
    }
    char text[12];
    for (size_t k = count; k-- > 0;) {
        snprintf(text, sizeof text, k + 1 == count ? "%" PRIu32 : "%09" PRIu32, limbs[k]);
        if (!put(w, text)) return false;
    }
    return true;
}

static bool write_constant(writer *w, const dv_literal *literal) {
    char text[24];
    switch (literal->kind) {
    case DV_CONST_NONE: return put(w, "None");
    case DV_CONST_FALSE: return put(w, "False");
    case DV_CONST_TRUE: return put(w, "True");
    case DV_CONST_ELLIPSIS: return put(w, "...");
    case DV_CONST_INT: snprintf(text, sizeof text, "%" PRId64, literal->as.integer); break;
    case DV_CONST_BIGINT: return write_big(w, literal->as.text);
    case DV_CONST_FLOAT: return write_real(w, literal->as.real, false);
    case DV_CONST_COMPLEX: return write_real(w, literal->as.real, true);
    case DV_CONST_STR: return write_quoted(w, literal->as.text, false);
    case DV_CONST_BYTES: return write_quoted(w, literal->as.text, true);
    default: return true; /* made by later passes only */
    }
    return put(w, text);
}

/* ---- f-strings ---- */

/* Braces are doubled. */
static bool write_fstring_text(writer *w, dv_text text) {
    for (uint32_t i = 0; i < text.size; i++) {
        dv_text one = {text.data + i, 1};
        bool brace = text.data[i] == '{' || text.data[i] == '}';
        if (!put_text(w, one) || (brace && !put_text(w, one))) return false;
    }
    return true;
}

/* `{value!r:spec}`; a value that begins with a brace gets a space before it. */
static bool write_replacement(writer *w, const dv_expr *expr) {
    writer value = {.front = w->front, .inner = w->inner};
    if (!write_expr(&value, expr->as.format.value, LEVEL_TEST + 1)) return false;
    bool brace = value.out.size > 0 && value.out.data[0] == '{';
    const char conversion[] = {'!', expr->as.format.conversion, '\0'};
    if (!put(w, brace ? "{ " : "{") || !put_text(w, (dv_text){value.out.data, value.out.size}))
        return false;
    if (!put_if(w, expr->as.format.conversion != 0, conversion)) return false;
    const dv_expr *spec = expr->as.format.spec;
    if (spec != NULL && (!put(w, ":") || !write_joined(w, spec, true))) return false;
    return put(w, "}");
}

static bool write_joined_part(writer *w, const dv_expr *part) {
    if (part->kind == DV_EXPR_CONSTANT) return write_fstring_text(w, part->as.constant.as.text);
    return part->kind == DV_EXPR_FSTRING ? write_joined(w, part, true) : write_replacement(w, part);
}

static bool write_joined_parts(writer *w, const dv_expr *expr) {
    if (expr->kind != DV_EXPR_FSTRING) return write_joined_part(w, expr);
    for (uint32_t i = 0; i < expr->as.list.count; i++)
        if (!write_joined_part(w, expr->as.list.items[i])) return false;
    return true;
}

/* The body is put together first and quoted as a whole. */
static bool write_joined(writer *w, const dv_expr *expr, bool spec) {
    if (spec) return write_joined_parts(w, expr);
    writer body = {.front = w->front, .inner = w->inner};
    if (!write_joined_parts(&body, expr)) return false;
    return put(w, "f") && write_quoted(w, (dv_text){body.out.data, body.out.size}, false);
}

/* ---- Lists of parts ---- */

static bool write_list(writer *w, const dv_exprs *items, int level) {
    for (uint32_t i = 0; i < items->count; i++)
        if (!put_if(w, i > 0, ", ") || !write_expr(w, items->items[i], level)) return false;
    return true;
}

static bool write_tuple(writer *w, const dv_exprs *items, int level) {
    if (items->count == 0) return put(w, "()");
    bool paren = level > LEVEL_TUPLE;
    return put_if(w, paren, "(") && write_list(w, items, LEVEL_TEST) &&
           put_if(w, items->count == 1, ",") && put_if(w, paren, ")");
}

static bool write_dict(writer *w, const dv_expr *expr) {
    if (!put(w, "{")) return false;
    for (uint32_t i = 0; i < expr->as.dict.keys.count; i++) {
        dv_expr *key = expr->as.dict.keys.items[i], *value = expr->as.dict.values.items[i];
        if (!put_if(w, i > 0, ", ")) return false;
        if (key == NULL ? !put(w, "**") : !write_expr(w, key, LEVEL_TEST) || !put(w, ": "))
            return false;
        if (!write_expr(w, value, key == NULL ? LEVEL_EXPR : LEVEL_TEST)) return false;
    }
    return put(w, "}");
}

static bool write_operands(writer *w, const dv_expr *expr, int own, int level) {
    bool paren = level > own;
    const char *op = expr->kind == DV_EXPR_AND ? " and " : " or ";
    if (!put_if(w, paren, "(")) return false;
    for (uint32_t i = 0; i < expr->as.list.count; i++)
        if (!put_if(w, i > 0, op) || !write_expr(w, expr->as.list.items[i], own + 1)) return false;
    return put_if(w, paren, ")");
}

static bool write_compare(writer *w, const dv_expr *expr, int level) {
    static const char *const ops[] = {
        " < ", " <= ", " > ", " >= ", " == ", " != ", " is ", " is not ", " in ", " not in "};
    bool paren = level > LEVEL_COMPARE;
    if (!put_if(w, paren, "(")) return false;
    if (!write_expr(w, expr->as.compare.left, LEVEL_COMPARE + 1)) return false;
    for (uint32_t i = 0; i < expr->as.compare.rights.count; i++)
        if (!put(w, ops[expr->as.compare.ops[i]]) ||
            !write_expr(w, expr->as.compare.rights.items[i], LEVEL_COMPARE + 1))
            return false;
    return put_if(w, paren, ")");
}

static bool write_clause(writer *w, const dv_clause *clause) {
    if (!put(w, " for ") || !write_expr(w, clause->target, LEVEL_TUPLE)) return false;
    if (!put(w, " in ") || !write_expr(w, clause->iterable, LEVEL_TEST + 1)) return false;
    for (uint32_t i = 0; i < clause->conditions.count; i++)
        if (!put(w, " if ") || !write_expr(w, clause->conditions.items[i], LEVEL_TEST + 1))
            return false;
    return true;
}

static bool write_comprehension(writer *w, const dv_expr *expr) {
    static const char *const brackets[][2] = {{"[", "]"}, {"{", "}"}, {"{", "}"}, {"(", ")"}};
    const char *const *bracket = brackets[expr->op];
    if (!put(w, bracket[0]) || !write_expr(w, expr->as.comprehension.element, LEVEL_TEST))
        return false;
    dv_expr *value = expr->as.comprehension.value;
    if (value != NULL && (!put(w, ": ") || !write_expr(w, value, LEVEL_TEST))) return false;
    for (uint32_t i = 0; i < expr->as.comprehension.clause_count; i++)
        if (!write_clause(w, &expr->as.comprehension.clauses[i])) return false;
    return put(w, bracket[1]);
}

/* ---- Functions and calls ---- */

static bool write_parameter(writer *w, const dv_parameter *parameters, uint32_t i, bool starred) {
    const dv_parameter *parameter = &parameters[i];
    dv_parameter_kind before = i > 0 ? parameters[i - 1].kind : parameter->kind;
    bool slash = before == DV_PARAMETER_POSITIONAL_ONLY && parameter->kind != before;
    bool star = parameter->kind == DV_PARAMETER_KEYWORD_ONLY && !starred;
    if (!put_if(w, slash, ", /") || !put_if(w, i > 0, ", ") || !put_if(w, star, "*, "))
        return false;
    if (!put_if(w, parameter->kind == DV_PARAMETER_VARARGS, "*") ||
        !put_if(w, parameter->kind == DV_PARAMETER_VARKEYWORDS, "**") ||
        !put_text(w, parameter->name->text))
        return false;
    return parameter->standard == NULL ||
           (put(w, "=") && write_expr(w, parameter->standard, LEVEL_TEST));
}

static bool write_parameters(writer *w, const dv_function *function) {
    bool starred = false;
    uint32_t count = function->parameter_count;
    for (uint32_t i = 0; i < count; i++) {
        dv_parameter_kind kind = function->parameters[i].kind;
        if (!write_parameter(w, function->parameters, i, starred)) return false;
        starred = starred || kind == DV_PARAMETER_VARARGS || kind == DV_PARAMETER_KEYWORD_ONLY;
    }
    bool slash = count > 0 && function->parameters[count - 1].kind == DV_PARAMETER_POSITIONAL_ONLY;
    return put_if(w, slash, ", /");
}

static bool write_lambda(writer *w, const dv_function *function, int level) {
    bool paren = level > LEVEL_TEST, inner = w->inner;
    bool positional =
        function->parameter_count > 0 && function->parameters[0].kind <= DV_PARAMETER_POSITIONAL;
    if (!put_if(w, paren, "(") || !put(w, positional ? "lambda " : "lambda")) return false;
    if (!write_parameters(w, function) || !put(w, ": ")) return false;
    w->inner = true;
    if (!write_expr(w, function->body.items[0]->as.expr, LEVEL_TEST)) return false;
    w->inner = inner;
    return put_if(w, paren, ")");
}

/* What stands behind the callee. */
static bool write_arguments(writer *w, const dv_expr *call) {
    const dv_exprs *positional = &call->as.call.arguments;
    const dv_expr *only = positional->count == 1 ? positional->items[0] : NULL;
    if (only != NULL && call->as.call.keyword_count == 0 && only->kind == DV_EXPR_COMPREHENSION &&
        only->op == DV_COMPREHENSION_GENERATOR)
        return write_expr(w, positional->items[0], LEVEL_TEST);
    if (!put(w, "(") || !write_list(w, positional, LEVEL_TEST)) return false;
    for (uint32_t i = 0; i < call->as.call.keyword_count; i++) {
        const dv_keyword *keyword = &call->as.call.keywords[i];
        if (!put_if(w, i > 0 || positional->count > 0, ", ")) return false;
        if (keyword->name == NULL ? !put(w, "**")
                                  : !put_text(w, keyword->name->text) || !put(w, "="))
            return false;
        if (!write_expr(w, keyword->value, LEVEL_TEST)) return false;
    }
    return put(w, ")");
}

/* ---- Left spines ---- */

typedef struct binary_form {
    const char *text;
    int level;
} binary_form;

static binary_form form_of(const dv_expr *binary) {
    static const binary_form forms[] = {
        {" + ", LEVEL_SUM},    {" - ", LEVEL_SUM},    {" * ", LEVEL_TERM},    {" / ", LEVEL_TERM},
        {" // ", LEVEL_TERM},  {" % ", LEVEL_TERM},   {" ** ", LEVEL_POWER},  {" @ ", LEVEL_TERM},
        {" << ", LEVEL_SHIFT}, {" >> ", LEVEL_SHIFT}, {" & ", LEVEL_BIT_AND}, {" | ", LEVEL_BIT_OR},
        {" ^ ", LEVEL_BIT_XOR}};
    return forms[binary->op];
}

/* The level that a node demands of its left child. */
static int left_level(const dv_expr *expr) {
    if (expr->kind != DV_EXPR_BINARY) return LEVEL_ATOM;
    return form_of(expr).level + (expr->op == DV_OPERATOR_POW);
}

static bool needs_paren(const dv_expr *expr, const dv_expr *root, int level) {
    int wanted = expr == root ? level : left_level(expr->up);
    return expr->kind == DV_EXPR_BINARY && wanted > form_of(expr).level;
}

static bool is_integer(const dv_expr *expr) {
    return expr->kind == DV_EXPR_CONSTANT &&
           (expr->as.constant.kind == DV_CONST_INT || expr->as.constant.kind == DV_CONST_BIGINT);
}

/* What stands behind the left child of a node. */
static bool write_rest(writer *w, const dv_expr *expr) {
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_CALL: return write_arguments(w, expr);
    case DV_EXPR_SUBSCRIPT:
        return put(w, "[") && write_expr(w, expr->as.subscript.index, LEVEL_TUPLE) && put(w, "]");
    case DV_EXPR_ATTRIBUTE:
        return put(w, is_integer(expr->as.attribute.object) ? " ." : ".") &&
               put_text(w, expr->as.attribute.name->text);
    default: break;
    }
    binary_form form = form_of(expr);
    int level = form.level + (expr->op != DV_OPERATOR_POW);
    return put(w, form.text) && write_expr(w, expr->as.binary.right, level);
}

/* ---- Everything ---- */

static bool refuse(writer *w, const dv_expr *expr, const char *what) {
    dv_front_error(w->front, expr->at, "'%s' can not be used within an annotation", what);
    return false;
}

static bool write_unary(writer *w, const dv_expr *expr, int level) {
    static const char *const ops[] = {"-", "+", "~", "not "};
    int own = expr->op == DV_UNARY_NOT ? LEVEL_NOT : LEVEL_FACTOR;
    return put_if(w, level > own, "(") && put(w, ops[expr->op]) &&
           write_expr(w, expr->as.child, own) && put_if(w, level > own, ")");
}

static bool write_conditional(writer *w, const dv_expr *expr, int level) {
    bool paren = level > LEVEL_TEST;
    return put_if(w, paren, "(") && write_expr(w, expr->as.conditional.body, LEVEL_TEST + 1) &&
           put(w, " if ") && write_expr(w, expr->as.conditional.test, LEVEL_TEST + 1) &&
           put(w, " else ") && write_expr(w, expr->as.conditional.otherwise, LEVEL_TEST) &&
           put_if(w, paren, ")");
}

static bool write_named(writer *w, const dv_expr *expr, int level) {
    if (!w->inner) return refuse(w, expr, "named expression");
    return put_if(w, level > LEVEL_TUPLE, "(") &&
           write_expr(w, expr->as.named.target, LEVEL_ATOM) && put(w, " := ") &&
           write_expr(w, expr->as.named.value, LEVEL_ATOM) && put_if(w, level > LEVEL_TUPLE, ")");
}

static bool write_yield(writer *w, const dv_expr *expr) {
    if (!w->inner) return refuse(w, expr, "yield expression");
    if (expr->as.child == NULL) return put(w, "(yield)");
    return put(w, expr->kind == DV_EXPR_YIELD ? "(yield " : "(yield from ") &&
           write_expr(w, expr->as.child, LEVEL_TEST) && put(w, ")");
}

static bool write_slice(writer *w, const dv_expr *expr) {
    dv_expr *start = expr->as.slice.start, *stop = expr->as.slice.stop, *step = expr->as.slice.step;
    return (start == NULL || write_expr(w, start, LEVEL_TEST)) && put(w, ":") &&
           (stop == NULL || write_expr(w, stop, LEVEL_TEST)) &&
           (step == NULL || (put(w, ":") && write_expr(w, step, LEVEL_TEST)));
}

/* A node without a left child. */
static bool write_node(writer *w, dv_expr *expr, int level) {
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_NAME: return put_text(w, expr->as.name.name->text);
    case DV_EXPR_CONSTANT: return write_constant(w, &expr->as.constant);
    case DV_EXPR_FSTRING: return write_joined(w, expr, false);
    case DV_EXPR_FORMAT: return write_replacement(w, expr);
    case DV_EXPR_TUPLE: return write_tuple(w, &expr->as.list, level);
    case DV_EXPR_LIST:
        return put(w, "[") && write_list(w, &expr->as.list, LEVEL_TEST) && put(w, "]");
    case DV_EXPR_SET:
        return put(w, "{") && write_list(w, &expr->as.list, LEVEL_TEST) && put(w, "}");
    case DV_EXPR_DICT: return write_dict(w, expr);
    case DV_EXPR_UNARY: return write_unary(w, expr, level);
    case DV_EXPR_AND: return write_operands(w, expr, LEVEL_AND, level);
    case DV_EXPR_OR: return write_operands(w, expr, LEVEL_OR, level);
    case DV_EXPR_COMPARE: return write_compare(w, expr, level);
    case DV_EXPR_CONDITIONAL: return write_conditional(w, expr, level);
    case DV_EXPR_LAMBDA: return write_lambda(w, expr->as.function, level);
    case DV_EXPR_SLICE: return write_slice(w, expr);
    case DV_EXPR_STARRED: return put(w, "*") && write_expr(w, expr->as.child, LEVEL_EXPR);
    case DV_EXPR_NAMED: return write_named(w, expr, level);
    case DV_EXPR_COMPREHENSION: return write_comprehension(w, expr);
    case DV_EXPR_YIELD:
    case DV_EXPR_YIELD_FROM: return write_yield(w, expr);
    case DV_EXPR_BINARY:
    case DV_EXPR_CALL:
    case DV_EXPR_ATTRIBUTE:
    case DV_EXPR_SUBSCRIPT: break; /* have a left child */
    }
    return true;
}

static bool write_expr(writer *w, dv_expr *root, int level) {
    dv_expr *expr = dv_expr_leftmost(root);
    for (const dv_expr *outer = root; outer != expr; outer = dv_expr_left(outer))
        if (!put_if(w, needs_paren(outer, root, level), "(")) return false;
    if (!write_node(w, expr, expr == root ? level : left_level(expr->up))) return false;
    while (expr != root) {
        expr = expr->up;
        if (!write_rest(w, expr)) return false;
        if (!put_if(w, needs_paren(expr, root, level), ")")) return false;
    }
    return true;
}

bool dv_unparse(dv_front *front, dv_expr *annotation) {
    writer w = {.front = front};
    if (!write_expr(&w, annotation, LEVEL_TEST)) return false;
    char *kept = dv_front_keep(front, w.out.size); /* constants point to it */
    if (kept == NULL) return false;
    memcpy(kept, w.out.data, w.out.size);
    annotation->kind = DV_EXPR_CONSTANT;
    annotation->as.constant.kind = DV_CONST_STR;
    annotation->as.constant.as.text = (dv_text){kept, w.out.size};
    return true;
}
