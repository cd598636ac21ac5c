/* unparse.c: expressions back to text (unparse.h).
 *
 * Invariants
 *  1. The result is CPython 3.11's, byte for byte: which parts get parentheses (levels), the
 * spaces, the quotes.
 *  2. Left spines are written in a loop: first the parentheses that open before the leftmost part,
 *     then the nodes from there up (ast.h, invariant 2).
 *  3. Nothing here tells whether it succeeded: what fails sets front->status, and the writing goes
 * on; dv_unparse looks at the status when all is done.
 *  4. A tree that no pass has visited has only constants that stand in a source. */
#include "lang/compile/unparse.h"

#include "base/dtoa.h"
#include "lang/front/chars.h"
#include "lang/front/escape.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
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

static void write_expr(writer *w, dv_expr *root, int level);
static void write_joined_parts(writer *w, const dv_expr *expr);

static void put_bytes(writer *w, const char *bytes, size_t size) {
    (void)dv_escape_append(w->front, &w->out, bytes, (uint32_t)size);
}

static void put(writer *w, const char *text) { put_bytes(w, text, strlen(text)); }

static void put_text(writer *w, dv_text text) { put_bytes(w, text.data, text.size); }

static void put_if(writer *w, bool condition, const char *text) {
    if (condition) put(w, text);
}

/* ---- Constants ---- */

static void put_escaped(writer *w, uint32_t point, const char *raw, size_t size, bool bytes) {
    bool plain =
        bytes ? point >= ' ' && point < 0x7F : point == ' ' || dv_chars_is_printable(point);
    const char *format = point == '\n'     ? "\\n"
                         : point == '\r'   ? "\\r"
                         : point == '\t'   ? "\\t"
                         : point < 0x100   ? "\\x%02" PRIx32
                         : point < 0x10000 ? "\\u%04" PRIx32
                                           : "\\U%08" PRIx32;
    char text[12];
    snprintf(text, sizeof text, format, point);
    put_bytes(w, plain ? raw : text, plain ? size : strlen(text));
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
static void write_quoted(writer *w, dv_text text, bool bytes) {
    bool single = text.size > 0 && memchr(text.data, '\'', text.size) != NULL;
    bool twice = text.size > 0 && memchr(text.data, '"', text.size) != NULL;
    const char *quote = single && !twice ? "\"" : "'";
    put_if(w, bytes, "b");
    put(w, quote);
    for (size_t done = 0, size; done < text.size; done += size) { /* text.data may be NULL */
        uint32_t point;
        const char *at = text.data + done;
        size = next_point(at, text.data + text.size, bytes, &point);
        put_if(w, point == '\\' || point == (unsigned char)*quote, "\\");
        put_escaped(w, point, at, size, bytes);
    }
    put(w, quote);
}

/* repr() of a float that is not negative; what is infinite is written so that it reads back. */
static void write_real(writer *w, double value, bool imaginary) {
    char digits[24], text[64]; /* no shortest form has more than 17 digits */
    if (signbit(value)) {      /* a key of a pattern, which is folded */
        put(w, "-");
        value = -value;
    }
    if (value > 1.7976931348623157e308) {
        put(w, imaginary ? "1e309j" : "1e309");
        return;
    }
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
    put(w, text);
    put_if(w, whole && !imaginary, ".0");
    put_if(w, imaginary, "j");
}

/* Decimal digits of hexadecimal ones: nine at a time, by multiplication and addition. */
static void write_big(writer *w, dv_text hex) {
    enum { BASE = 1000000000 };
    size_t capacity = hex.size / 7 + 2, count = 1;
    uint32_t *limbs = dv_front_scratch(w->front, capacity * sizeof *limbs);
    if (limbs == NULL) return;
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
        put(w, text);
    }
}

static void write_int(writer *w, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put(w, text);
}

static void write_constant(writer *w, const dv_literal *literal) {
    switch (literal->kind) {
    case DV_CONST_NONE: put(w, "None"); break;
    case DV_CONST_FALSE: put(w, "False"); break;
    case DV_CONST_TRUE: put(w, "True"); break;
    case DV_CONST_ELLIPSIS: put(w, "..."); break;
    case DV_CONST_INT: write_int(w, literal->as.integer); break;
    case DV_CONST_BIGINT: write_big(w, literal->as.text); break;
    case DV_CONST_FLOAT: write_real(w, literal->as.real, false); break;
    case DV_CONST_COMPLEX: write_real(w, literal->as.real, true); break;
    case DV_CONST_STR: write_quoted(w, literal->as.text, false); break;
    default:
        assert(literal->kind == DV_CONST_BYTES); /* invariant 4 */
        write_quoted(w, literal->as.text, true);
        break;
    }
}

/* ---- f-strings ---- */

/* Braces are doubled. */
static void write_fstring_text(writer *w, dv_text text) {
    for (uint32_t i = 0; i < text.size; i++) {
        bool brace = text.data[i] == '{' || text.data[i] == '}';
        if (brace) put_bytes(w, text.data + i, 1);
        put_bytes(w, text.data + i, 1);
    }
}

/* `{value!r:spec}`; a value that begins with a brace gets a space before it. */
static void write_replacement(writer *w, const dv_expr *expr) {
    writer value = {.front = w->front, .inner = w->inner};
    write_expr(&value, expr->as.format.value, LEVEL_TEST + 1);
    bool brace = value.out.size > 0 && value.out.data[0] == '{';
    const char conversion[] = {'!', expr->as.format.conversion, '\0'};
    put(w, brace ? "{ " : "{");
    put_bytes(w, value.out.data, value.out.size);
    put_if(w, expr->as.format.conversion != 0, conversion);
    if (expr->as.format.spec != NULL) {
        put(w, ":");
        write_joined_parts(w, expr->as.format.spec);
    }
    put(w, "}");
}

static void write_joined_parts(writer *w, const dv_expr *expr) {
    for (uint32_t i = 0; i < expr->as.list.count; i++) {
        const dv_expr *part = expr->as.list.items[i];
        if (part->kind == DV_EXPR_CONSTANT)
            write_fstring_text(w, part->as.constant.as.text);
        else
            write_replacement(w, part);
    }
}

/* The body is put together first and quoted as a whole. */
static void write_joined(writer *w, const dv_expr *expr) {
    writer body = {.front = w->front, .inner = w->inner};
    write_joined_parts(&body, expr);
    put(w, "f");
    write_quoted(w, (dv_text){body.out.data, body.out.size}, false);
}

/* ---- Lists of parts ---- */

static void write_list(writer *w, const dv_exprs *items, int level) {
    for (uint32_t i = 0; i < items->count; i++) {
        put_if(w, i > 0, ", ");
        write_expr(w, items->items[i], level);
    }
}

static void write_bracketed(writer *w, const char *open, const dv_exprs *items, const char *close) {
    put(w, open);
    write_list(w, items, LEVEL_TEST);
    put(w, close);
}

static void write_tuple(writer *w, const dv_exprs *items, int level) {
    bool paren = level > LEVEL_TUPLE || items->count == 0;
    put_if(w, paren, "(");
    write_list(w, items, LEVEL_TEST);
    put_if(w, items->count == 1, ",");
    put_if(w, paren, ")");
}

static void write_dict(writer *w, const dv_expr *expr) {
    put(w, "{");
    for (uint32_t i = 0; i < expr->as.dict.keys.count; i++) {
        dv_expr *key = expr->as.dict.keys.items[i], *value = expr->as.dict.values.items[i];
        put_if(w, i > 0, ", ");
        if (key != NULL) write_expr(w, key, LEVEL_TEST);
        put(w, key == NULL ? "**" : ": ");
        write_expr(w, value, key == NULL ? LEVEL_EXPR : LEVEL_TEST);
    }
    put(w, "}");
}

static void write_operands(writer *w, const dv_expr *expr, int own, int level) {
    bool paren = level > own;
    const char *op = expr->kind == DV_EXPR_AND ? " and " : " or ";
    put_if(w, paren, "(");
    for (uint32_t i = 0; i < expr->as.list.count; i++) {
        put_if(w, i > 0, op);
        write_expr(w, expr->as.list.items[i], own + 1);
    }
    put_if(w, paren, ")");
}

static void write_compare(writer *w, const dv_expr *expr, int level) {
    static const char *const ops[] = {
        " < ", " <= ", " > ", " >= ", " == ", " != ", " is ", " is not ", " in ", " not in "};
    bool paren = level > LEVEL_COMPARE;
    put_if(w, paren, "(");
    write_expr(w, expr->as.compare.left, LEVEL_COMPARE + 1);
    for (uint32_t i = 0; i < expr->as.compare.rights.count; i++) {
        put(w, ops[expr->as.compare.ops[i]]);
        write_expr(w, expr->as.compare.rights.items[i], LEVEL_COMPARE + 1);
    }
    put_if(w, paren, ")");
}

static void write_clause(writer *w, const dv_clause *clause) {
    put(w, " for ");
    write_expr(w, clause->target, LEVEL_TUPLE);
    put(w, " in ");
    write_expr(w, clause->iterable, LEVEL_TEST + 1);
    for (uint32_t i = 0; i < clause->conditions.count; i++) {
        put(w, " if ");
        write_expr(w, clause->conditions.items[i], LEVEL_TEST + 1);
    }
}

static void write_comprehension(writer *w, const dv_expr *expr) {
    static const char *const brackets[][2] = {{"[", "]"}, {"{", "}"}, {"{", "}"}, {"(", ")"}};
    const char *const *bracket = brackets[expr->op];
    put(w, bracket[0]);
    write_expr(w, expr->as.comprehension.element, LEVEL_TEST);
    if (expr->as.comprehension.value != NULL) {
        put(w, ": ");
        write_expr(w, expr->as.comprehension.value, LEVEL_TEST);
    }
    for (uint32_t i = 0; i < expr->as.comprehension.clause_count; i++)
        write_clause(w, &expr->as.comprehension.clauses[i]);
    put(w, bracket[1]);
}

/* ---- Functions and calls ---- */

static void write_parameter(writer *w, const dv_parameter *parameters, uint32_t i, bool starred) {
    const dv_parameter *parameter = &parameters[i];
    dv_parameter_kind before = i > 0 ? parameters[i - 1].kind : parameter->kind;
    put_if(w, before == DV_PARAMETER_POSITIONAL_ONLY && parameter->kind != before, ", /");
    put_if(w, i > 0, ", ");
    put_if(w, parameter->kind == DV_PARAMETER_KEYWORD_ONLY && !starred, "*, ");
    put_if(w, parameter->kind == DV_PARAMETER_VARARGS, "*");
    put_if(w, parameter->kind == DV_PARAMETER_VARKEYWORDS, "**");
    put_text(w, parameter->name->text);
    if (parameter->standard == NULL) return;
    put(w, "=");
    write_expr(w, parameter->standard, LEVEL_TEST);
}

static void write_parameters(writer *w, const dv_function *function) {
    bool starred = false;
    uint32_t count = function->parameter_count;
    for (uint32_t i = 0; i < count; i++) {
        dv_parameter_kind kind = function->parameters[i].kind;
        write_parameter(w, function->parameters, i, starred);
        starred = starred || kind == DV_PARAMETER_VARARGS || kind == DV_PARAMETER_KEYWORD_ONLY;
    }
    bool slash = count > 0 && function->parameters[count - 1].kind == DV_PARAMETER_POSITIONAL_ONLY;
    put_if(w, slash, ", /");
}

static void write_lambda(writer *w, const dv_function *function, int level) {
    bool paren = level > LEVEL_TEST, inner = w->inner;
    bool positional =
        function->parameter_count > 0 && function->parameters[0].kind <= DV_PARAMETER_POSITIONAL;
    put_if(w, paren, "(");
    put(w, positional ? "lambda " : "lambda");
    write_parameters(w, function);
    put(w, ": ");
    w->inner = true;
    write_expr(w, function->body.items[0]->as.expr, LEVEL_TEST);
    w->inner = inner;
    put_if(w, paren, ")");
}

static void write_keyword(writer *w, const dv_keyword *keyword) {
    if (keyword->name != NULL) put_text(w, keyword->name->text);
    put(w, keyword->name != NULL ? "=" : "**");
    write_expr(w, keyword->value, LEVEL_TEST);
}

/* What stands behind the callee. */
static void write_arguments(writer *w, const dv_expr *call) {
    const dv_exprs *positional = &call->as.call.arguments;
    bool alone = positional->count == 1 && call->as.call.keyword_count == 0;
    const dv_expr *only = alone ? positional->items[0] : NULL;
    if (alone && only->kind == DV_EXPR_COMPREHENSION && only->op == DV_COMPREHENSION_GENERATOR) {
        write_comprehension(w, only);
        return;
    }
    put(w, "(");
    write_list(w, positional, LEVEL_TEST);
    for (uint32_t i = 0; i < call->as.call.keyword_count; i++) {
        put_if(w, i > 0 || positional->count > 0, ", ");
        write_keyword(w, &call->as.call.keywords[i]);
    }
    put(w, ")");
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

static void write_binary_rest(writer *w, const dv_expr *expr) {
    binary_form form = form_of(expr);
    put(w, form.text);
    write_expr(w, expr->as.binary.right, form.level + (expr->op != DV_OPERATOR_POW));
}

/* What stands behind the left child of a node. */
static void write_rest(writer *w, const dv_expr *expr) {
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_CALL: write_arguments(w, expr); break;
    case DV_EXPR_SUBSCRIPT:
        put(w, "[");
        write_expr(w, expr->as.subscript.index, LEVEL_TUPLE);
        put(w, "]");
        break;
    case DV_EXPR_ATTRIBUTE:
        put(w, is_integer(expr->as.attribute.object) ? " ." : ".");
        put_text(w, expr->as.attribute.name->text);
        break;
    default: write_binary_rest(w, expr); break; /* the only other kind with a left child */
    }
}

/* ---- Everything ---- */

static void refuse(writer *w, const dv_expr *expr, const char *what) {
    dv_front_error(w->front, expr->at, "'%s' can not be used within an annotation", what);
}

static void write_unary(writer *w, const dv_expr *expr, int level) {
    static const char *const ops[] = {"-", "+", "~", "not "};
    int own = expr->op == DV_UNARY_NOT ? LEVEL_NOT : LEVEL_FACTOR;
    put_if(w, level > own, "(");
    put(w, ops[expr->op]);
    write_expr(w, expr->as.child, own);
    put_if(w, level > own, ")");
}

static void write_conditional(writer *w, const dv_expr *expr, int level) {
    bool paren = level > LEVEL_TEST;
    put_if(w, paren, "(");
    write_expr(w, expr->as.conditional.body, LEVEL_TEST + 1);
    put(w, " if ");
    write_expr(w, expr->as.conditional.test, LEVEL_TEST + 1);
    put(w, " else ");
    write_expr(w, expr->as.conditional.otherwise, LEVEL_TEST);
    put_if(w, paren, ")");
}

static void write_named(writer *w, const dv_expr *expr, int level) {
    if (!w->inner) {
        refuse(w, expr, "named expression");
        return;
    }
    put_if(w, level > LEVEL_TUPLE, "(");
    write_expr(w, expr->as.named.target, LEVEL_ATOM);
    put(w, " := ");
    write_expr(w, expr->as.named.value, LEVEL_ATOM);
    put_if(w, level > LEVEL_TUPLE, ")");
}

static void write_yield(writer *w, const dv_expr *expr) {
    if (!w->inner) {
        refuse(w, expr, "yield expression");
        return;
    }
    if (expr->as.child == NULL) {
        put(w, "(yield)");
        return;
    }
    put(w, expr->kind == DV_EXPR_YIELD ? "(yield " : "(yield from ");
    write_expr(w, expr->as.child, LEVEL_TEST);
    put(w, ")");
}

static void write_slice(writer *w, const dv_expr *expr) {
    dv_expr *start = expr->as.slice.start, *stop = expr->as.slice.stop, *step = expr->as.slice.step;
    if (start != NULL) write_expr(w, start, LEVEL_TEST);
    put(w, ":");
    if (stop != NULL) write_expr(w, stop, LEVEL_TEST);
    if (step == NULL) return;
    put(w, ":");
    write_expr(w, step, LEVEL_TEST);
}

static void write_starred(writer *w, const dv_expr *expr) {
    put(w, "*");
    write_expr(w, expr->as.child, LEVEL_EXPR);
}

/* A node without a left child. */
static void write_node(writer *w, dv_expr *expr, int level) {
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_NAME: put_text(w, expr->as.name.name->text); break;
    case DV_EXPR_CONSTANT: write_constant(w, &expr->as.constant); break;
    case DV_EXPR_FSTRING: write_joined(w, expr); break;
    case DV_EXPR_TUPLE: write_tuple(w, &expr->as.list, level); break;
    case DV_EXPR_LIST: write_bracketed(w, "[", &expr->as.list, "]"); break;
    case DV_EXPR_SET: write_bracketed(w, "{", &expr->as.list, "}"); break;
    case DV_EXPR_DICT: write_dict(w, expr); break;
    case DV_EXPR_UNARY: write_unary(w, expr, level); break;
    case DV_EXPR_AND: write_operands(w, expr, LEVEL_AND, level); break;
    case DV_EXPR_OR: write_operands(w, expr, LEVEL_OR, level); break;
    case DV_EXPR_COMPARE: write_compare(w, expr, level); break;
    case DV_EXPR_CONDITIONAL: write_conditional(w, expr, level); break;
    case DV_EXPR_LAMBDA: write_lambda(w, expr->as.function, level); break;
    case DV_EXPR_SLICE: write_slice(w, expr); break;
    case DV_EXPR_STARRED: write_starred(w, expr); break;
    case DV_EXPR_NAMED: write_named(w, expr, level); break;
    case DV_EXPR_COMPREHENSION: write_comprehension(w, expr); break;
    default:
        assert(expr->kind == DV_EXPR_YIELD || expr->kind == DV_EXPR_YIELD_FROM);
        write_yield(w, expr);
        break;
    }
}

static void write_expr(writer *w, dv_expr *root, int level) {
    dv_expr *expr = dv_expr_leftmost(root);
    for (const dv_expr *outer = root; outer != expr; outer = dv_expr_left(outer))
        put_if(w, needs_paren(outer, root, level), "(");
    write_node(w, expr, expr == root ? level : left_level(expr->up));
    while (expr != root) {
        expr = expr->up;
        write_rest(w, expr);
        put_if(w, needs_paren(expr, root, level), ")");
    }
}

bool dv_unparse(dv_front *front, dv_expr *annotation) {
    writer w = {.front = front};
    write_expr(&w, annotation, LEVEL_TEST);
    char *kept = dv_front_keep(front, w.out.size); /* constants point to it */
    if (front->status != DV_LANG_OK) return false;
    memcpy(kept, w.out.data, w.out.size);
    annotation->kind = DV_EXPR_CONSTANT;
    annotation->as.constant.kind = DV_CONST_STR;
    annotation->as.constant.as.text = (dv_text){kept, w.out.size};
    return true;
}
