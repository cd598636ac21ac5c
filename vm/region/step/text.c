/* text.c: the transfer function of comparisons of strs and characters, of `in`, ord(), chr() and
 * questions such as c.isdigit(); and of strs that grow by characters.
 *
 * Invariants
 *  1. A character beside a constant is compared as ints are, by number: that is the order of strs.
 *  2. What is said of a str that is not known to be one is guarded, where INCA saw one. */
#include "region/step/text.h"

#include "region/step/operator.h"
#include "types/text/str.h"
#include "types/text/str_unicode.h"

/* As an int; false: it is no character that is known. */
static bool char_operand(const dv_known_value *e, dv_operand *x) {
    const bool constant = e->kind == DV_K_CONSTANT && e->where == DV_AT_VALUE &&
                          dv_is_shape(e->value, DV_T_STR) && dv_as_str(e->value)->length == 1;
    if (e->kind == DV_K_CHAR) *x = dv_raw_operand(e);
    if (constant) *x = (dv_operand){.mode = 'K', .k.i = dv_str_at(dv_as_str(e->value), 0)};
    return constant || e->kind == DV_K_CHAR;
}

static bool is_text(const dv_known_value *e) {
    return e->kind == DV_K_STR ||
           (e->kind == DV_K_CONSTANT && e->where == DV_AT_VALUE && dv_is_shape(e->value, DV_T_STR));
}

/* Is entry q a str at home, or did INCA see one there? */
static bool may_be_text(const dv_build *b, int32_t q, uint32_t input) {
    const dv_known_value *e = &b->e[q];
    const dv_op_info *info = dv_step_evidence(b);
    if (e->where != DV_AT_HOME && e->where != DV_AT_ALIAS) return false;
    return e->kind == DV_K_STR ||
           (e->kind == DV_K_ANY && info && info->kind == DV_KIND_DERIVATIVE &&
            info->types[input] == DV_RESULT_STR);
}

static int32_t home_of(const dv_build *b, int32_t q) {
    return dv_home(b, b->e[q].where == DV_AT_ALIAS ? b->e[q].slot : q);
}

/* The truth in r takes the place of the two topmost entries, those at home which the operand stack
 * owns are released. */
static uint32_t finish_truth(dv_build *b, uint32_t next_pc) {
    int32_t owned[2], count = 0;
    for (int32_t q = b->top - 2; q < b->top; q++)
        if (b->e[q].where == DV_AT_HOME && dv_owned(b, b->context, b->pc, q))
            owned[count++] = dv_home(b, q);
    next_pc = dv_finish_raw(b, DV_NO_CELL, 2, DV_K_BOOL, -1, next_pc);
    for (int32_t i = 0; i < count; i++) dv_region_emit(b, DV_OP_R_RELEASE, owned[i], 0, 0);
    if (count) dv_step_point_after(b, next_pc);
    return next_pc;
}

/* A character and a str at home, which is entry q. */
static void compare_char(dv_build *b, dv_compare_op op, int32_t q) {
    dv_load_register(b, q == b->top - 1 ? q - 1 : q + 1);
    dv_region_emit_guard(b, op == DV_EQ ? DV_OP_RS_EQ_CHAR : DV_OP_RS_NE_CHAR, home_of(b, q), 0, 0);
    dv_step_count(b, true);
}

/* Two strs, the first one at home.  It costs what it costs in INCA code. */
static bool compare_strs(dv_build *b, dv_compare_op op) {
    const dv_known_value *y = dv_top(b, 1);
    const bool constant = is_text(y) && y->where == DV_AT_VALUE;
    if (!may_be_text(b, b->top - 2, 0) || (!constant && !may_be_text(b, b->top - 1, 1)))
        return false;
    dv_spill(b, false, b->top - 2);
    const uint32_t of_constant = op == DV_EQ ? DV_OP_RS_EQ_SK : DV_OP_RS_NE_SK,
                   of_home = op == DV_EQ ? DV_OP_RS_EQ_SS : DV_OP_RS_NE_SS;
    const uint32_t at =
        dv_region_emit_guard(b, constant ? of_constant : of_home, home_of(b, b->top - 2),
                             constant ? 0 : home_of(b, b->top - 1), 0);
    if (constant) dv_region_emit_constant(b, at, (dv_cell){.v = y->value});
    dv_step_count(b, false);
    return true;
}

bool dv_text_compare(dv_build *b, dv_compare_op op, uint32_t *next_pc) {
    const dv_known_value *x = dv_top(b, 2), *y = dv_top(b, 1);
    const bool equality = op == DV_EQ || op == DV_NE;
    const bool left = x->kind == DV_K_CHAR, right = y->kind == DV_K_CHAR;
    dv_operand first, second;
    if ((left || right) && char_operand(x, &first) && char_operand(y, &second)) {
        *next_pc = dv_compare_raw(b, op, first, second, false, *next_pc);
        return true;
    }
    if (!equality || dv_step_is_cold(b)) return false;
    if ((left || right) && is_text(left ? y : x) && (left ? y : x)->where == DV_AT_VALUE) {
        *next_pc =
            dv_step_answer(b, 2, dv_bool(op == DV_NE), *next_pc); /* it is longer, or empty */
        return true;
    }
    const int32_t q = left ? b->top - 1 : b->top - 2;
    if (left || right) {
        if (!may_be_text(b, q, left)) return false;
        compare_char(b, op, q);
    } else if (!compare_strs(b, op)) {
        return false;
    }
    *next_pc = finish_truth(b, *next_pc);
    return true;
}

/* The local that the sum of the two topmost entries goes to, if the first of them is what it has
 * now and no other entry is: nobody sees it grow.  -1: there is none. */
static int32_t grows(dv_build *b, uint32_t next_pc) {
    const int32_t x = b->top - 2, q = b->e[x].slot;
    if (b->e[x].where != DV_AT_ALIAS || !may_be_text(b, x, 0) ||
        !dv_step_follows(b, next_pc, DV_OP_STORE_LOCAL) ||
        q != b->context->base + (int32_t)dv_word_operand(b, next_pc, 0))
        return -1;
    for (int32_t i = 0; i < x; i++)
        if (b->e[i].where == DV_AT_ALIAS && b->e[i].slot == q) return -1;
    return q;
}

bool dv_text_append(dv_build *b, uint32_t *next_pc) {
    const int32_t y = b->top - 1, q = grows(b, *next_pc);
    const bool constant = is_text(&b->e[y]) && b->e[y].where == DV_AT_VALUE;
    if (q < 0 || (!constant && b->e[y].kind != DV_K_CHAR) || dv_step_is_cold(b)) return false;
    if (!constant) dv_to_slot(b, y);
    dv_spill(b, false, y); /* what is in registers is lost if there is no memory */
    dv_spill(b, true, y);
    dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false, false);
    const uint32_t at = dv_region_emit_guard(b, constant ? DV_OP_RS_APPEND_K : DV_OP_RS_APPEND_S,
                                             dv_home(b, q), constant ? 0 : b->e[y].slot, 0);
    if (constant) dv_region_emit_constant(b, at, (dv_cell){.v = b->e[y].value});
    dv_step_count(b, true);
    dv_pop(b, 2);
    b->e[q].kind = DV_K_STR;
    b->version++;
    if (q < b->locals) b->quiet = NULL;
    *next_pc += dv_step_length(b, *next_pc);
    return true;
}

/* Is it a constant tuple of characters of Latin-1? */
static bool has_chars(const dv_known_value *e) {
    if (e->kind != DV_K_CONSTANT || e->where != DV_AT_VALUE || !dv_is_shape(e->value, DV_T_TUPLE))
        return false;
    const dv_tuple *items = dv_as_tuple(e->value);
    for (int64_t i = 0; i < items->count; i++) {
        if (!dv_is_shape(items->items[i], DV_T_STR)) return false;
        const dv_str *s = dv_as_str(items->items[i]);
        if (s->length != 1 || s->kind != 1) return false;
    }
    return true;
}

/* A character in a str, or in a tuple of such; all else stays as it is. */
uint32_t dv_step_contains(dv_build *b, uint32_t next_pc) {
    const dv_known_value *y = dv_top(b, 1);
    const bool items = has_chars(y), constant = items || (is_text(y) && y->where == DV_AT_VALUE);
    if (dv_top(b, 2)->kind != DV_K_CHAR || dv_step_is_cold(b) ||
        (!constant && !may_be_text(b, b->top - 1, 1)) || dv_build_is_wide(b, b->top - 1))
        return dv_step_embed(b, 2, 1, next_pc);
    dv_load_register(b, b->top - 2);
    uint32_t at;
    if (items)
        at = dv_region_emit(b, DV_OP_RS_IN_ITEMS, 0, 0, 0);
    else
        at = dv_region_emit_guard(b, constant ? DV_OP_RS_IN_K : DV_OP_RS_IN_S,
                                  constant ? 0 : home_of(b, b->top - 1), 0, 0);
    if (constant) dv_region_emit_constant(b, at, (dv_cell){.v = y->value});
    dv_step_count(b, true);
    return finish_truth(b, next_pc);
}

/* The argument of a call, the topmost of four entries, is its result, but for the kind. */
static void answer_argument(dv_build *b, dv_kind kind) {
    const int32_t q = b->top - 1, to = b->top - 4;
    if (b->e[q].where == DV_AT_SLOT && b->e[q].slot > dv_shadow(b, to)) dv_load_register(b, q);
    const dv_known_value e = b->e[q];
    dv_pop(b, 4);
    dv_push_known(b, kind, (dv_where)e.where, e.slot, DV_EMPTY);
    if (b->last_entry == q) b->last_entry = to;
    dv_step_count(b, true);
}

bool dv_text_ord(dv_build *b, uint32_t *next_pc) {
    const dv_known_value *e = dv_top(b, 1);
    if (e->kind == DV_K_CHAR) {
        answer_argument(b, DV_K_INT);
        return true;
    }
    if (e->where != DV_AT_ALIAS || (e->kind != DV_K_STR && e->kind != DV_K_ANY) ||
        dv_step_is_cold(b))
        return false;
    dv_spill(b, false, b->top - 4);
    dv_region_emit_guard(b, DV_OP_RS_ORD, home_of(b, b->top - 1), 0, 0);
    dv_step_count(b, true);
    *next_pc = dv_finish_raw(b, DV_NO_CELL, 4, DV_K_INT, -1, *next_pc);
    return true;
}

/* Methods without arguments that ask about a character, and which of its properties make it so. */
static const struct {
    const char *name;
    int64_t flags;
} questions[] = {
    {"isalpha", DV_UNICODE_ALPHA},
    {"isalnum", DV_UNICODE_ALPHA | DV_UNICODE_DECIMAL | DV_UNICODE_DIGIT | DV_UNICODE_NUMERIC},
    {"isdigit", DV_UNICODE_DIGIT},
    {"isspace", DV_UNICODE_SPACE},
    {"islower", DV_UNICODE_LOWER},
    {"isupper", DV_UNICODE_UPPER},
};

int64_t dv_text_question(dv_text name) {
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (name.size == strlen(questions[i].name) &&
            memcmp(name.data, questions[i].name, name.size) == 0)
            return questions[i].flags;
    return 0;
}

bool dv_text_ask(dv_build *b, uint32_t *next_pc) {
    if (dv_top(b, 1)->kind != DV_K_CHAR || !dv_step_follows(b, *next_pc, DV_OP_CALL_METHOD) ||
        dv_word_operand(b, *next_pc, 0) != 0)
        return false;
    const dv_str *name = dv_as_str(dv_site_cell(b, b->pc)[2].v);
    const int64_t flags = dv_text_question((dv_text){name->data, (uint32_t)name->length});
    if (!flags) return false;
    dv_load_register(b, b->top - 1);
    const uint32_t at = dv_region_emit(b, DV_OP_RS_KIND, 0, 0, 0);
    dv_region_emit_constant(b, at, (dv_cell){.i = flags});
    dv_step_count(b, true);
    *next_pc += dv_step_length(b, *next_pc);
    *next_pc = dv_finish_raw(b, DV_NO_CELL, 1, DV_K_BOOL, -1, *next_pc);
    return true;
}

bool dv_text_chr(dv_build *b, uint32_t *next_pc) {
    const dv_op_info *seen = dv_step_evidence(b);
    if (dv_top(b, 1)->kind != DV_K_INT || !seen || seen->kind != DV_KIND_DERIVATIVE ||
        seen->result != DV_RESULT_STR)
        return false;
    dv_load_register(b, b->top - 1);
    dv_region_emit_guard(b, DV_OP_RS_CHR, 0, 0, 0);
    dv_step_count(b, true);
    *next_pc = dv_finish_raw(b, DV_NO_CELL, 4, DV_K_CHAR, -1, *next_pc);
    return true;
}
