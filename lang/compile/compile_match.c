/* compile_match.c: code for match statements (compile_match.h).
 *
 *            <subject>                              [subject]
 *            <first pattern>  (mismatches go to `next`); store what it binds
 *            <guard>; JUMP_IF_FALSE next
 *            POP_TOP; <body>; JUMP end
 *     next:  [subject] <next pattern> ...
 *     end:
 *
 * The last case takes the subject; a `case _` behind it finds nothing on the stack, as in CPython.
 * A subject that is a local is not on the stack at all, nor are those items of a tuple as it is
 * written down, which is not made where all patterns take it apart. */
#include "lang/compile/compile_match.h"

#include "lang/compile/compile_expression.h"
#include "lang/compile/compile_pattern.h"
#include "lang/compile/compile_statement.h"

enum { MOST_ITEMS = 16 };

static bool ok(const dv_compiler *c) { return c->front->status == DV_LANG_OK; }

/* ---- The subject ---- */

static bool binds(const dv_pattern *pattern, const dv_symbol *symbol) {
    if (pattern->name != NULL && pattern->name->as.name.symbol == symbol) return true;
    for (uint32_t i = 0; i < pattern->count; i++)
        if (binds(pattern->items[i], symbol)) return true;
    return false;
}

/* Is it a local that nothing in the statement binds before a body runs? */
static bool is_kept_local(const dv_stmt *stmt, const dv_expr *subject) {
    if (subject->kind != DV_EXPR_NAME || !subject->assigned ||
        subject->as.name.symbol->access != DV_ACCESS_LOCAL)
        return false;
    for (uint32_t i = 0; i < stmt->as.match.count; i++) {
        const dv_case *one = &stmt->as.match.cases[i];
        if (one->guard != NULL && one->guard->stores) return false;
        if (binds(one->pattern, subject->as.name.symbol)) return false;
    }
    return true;
}

/* Does the pattern look at the items of a tuple only, not at the tuple? */
static bool looks_at_items(const dv_pattern *pattern) {
    if (pattern->kind == DV_PATTERN_CAPTURE) return pattern->name == NULL;
    if (pattern->kind != DV_PATTERN_OR) return pattern->kind == DV_PATTERN_SEQUENCE;
    for (uint32_t i = 0; i < pattern->count; i++)
        if (!looks_at_items(pattern->items[i])) return false;
    return true;
}

static bool is_unmade_tuple(const dv_stmt *stmt) {
    const dv_expr *subject = stmt->as.match.subject;
    if (subject->kind != DV_EXPR_TUPLE || subject->as.list.count > MOST_ITEMS) return false;
    for (uint32_t i = 0; i < subject->as.list.count; i++)
        if (subject->as.list.items[i]->kind == DV_EXPR_STARRED) return false;
    for (uint32_t i = 0; i < stmt->as.match.count; i++)
        if (!looks_at_items(stmt->as.match.cases[i].pattern)) return false;
    return true;
}

/* Evaluates the expression, unless it is a local that can be read when it is needed. */
static bool compile_value(dv_matcher *m, const dv_stmt *stmt, dv_expr *expr, bool lasting,
                          dv_subject *subject) {
    if (!lasting && is_kept_local(stmt, expr)) {
        *subject = (dv_subject){.kind = DV_SUBJECT_LOCAL, .name = expr};
        return true;
    }
    *subject = (dv_subject){.kind = DV_SUBJECT_ENTRY, .entry = m->height++};
    return dv_compile_owned(m->c, expr);
}

static bool compile_subject(dv_matcher *m, const dv_stmt *stmt, dv_subject *subject) {
    dv_expr *expr = stmt->as.match.subject;
    if (!is_unmade_tuple(stmt)) return compile_value(m, stmt, expr, false, subject);
    uint32_t count = expr->as.list.count;
    dv_subject *items = dv_front_scratch(m->c->front, count * sizeof *items);
    if (items == NULL) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!compile_value(m, stmt, expr->as.list.items[i], expr->stores, &items[i])) return false;
    *subject = (dv_subject){.kind = DV_SUBJECT_ITEMS, .count = count, .items = items};
    return true;
}

/* ---- Cases ---- */

/* Does a later capture take the same entry? */
static bool is_shared(const dv_captures *captures, uint32_t i) {
    uint32_t entry = captures->items[i].from.entry;
    for (uint32_t k = i + 1; k < captures->count; k++)
        if (captures->items[k].from.kind == DV_SUBJECT_ENTRY &&
            captures->items[k].from.entry == entry)
            return true;
    return false;
}

static void store(dv_matcher *m, const dv_expr *name) {
    dv_compile_store_name(m->c, name->as.name.symbol, m->at);
    m->height--;
}

/* Binds what was captured and pops everything down to `height`: what stands above it is stored from
 * where it is, the rest from copies. */
static void bind(dv_matcher *m, uint32_t height) {
    const dv_captures *captures = &m->captures;
    for (uint32_t i = 0; i < captures->count; i++) {
        dv_subject from = captures->items[i].from;
        if (from.kind == DV_SUBJECT_ENTRY && from.entry >= height && !is_shared(captures, i))
            continue;
        dv_matcher_load(m, from);
        store(m, captures->items[i].name);
    }
    while (m->height > height) {
        const dv_expr *name = NULL;
        for (uint32_t i = 0; i < captures->count; i++)
            if (captures->items[i].from.kind == DV_SUBJECT_ENTRY &&
                captures->items[i].from.entry == m->height - 1)
                name = captures->items[i].name;
        if (name != NULL)
            store(m, name);
        else
            dv_matcher_pop(m, m->height - 1);
    }
}

/* One case; the last one that has a pattern to test takes the subject. */
static bool compile_case(dv_matcher *m, const dv_case *one, dv_subject subject, bool last,
                         dv_label end) {
    dv_emitter *e = &m->c->emit;
    uint32_t below = m->height, kept = last ? 0 : below;
    dv_mismatch next = {.base = kept};
    m->mismatch = &next;
    m->captures = (dv_captures){0};
    subject.dies = last && subject.kind == DV_SUBJECT_ENTRY;
    if (!dv_compile_pattern(m, one->pattern, subject)) return false;
    bind(m, kept);
    if (one->guard != NULL &&
        !dv_compile_jump(m->c, one->guard, one->guard->at, false, dv_matcher_label(m)))
        return false;
    dv_matcher_pop(m, 0);
    if (!dv_compile_block(m->c, &one->body)) return false;
    dv_emit_jump(e, DV_OP_JUMP, end, dv_emit_last_range(e, one->pattern->at));
    m->at = one->pattern->at;
    dv_matcher_place(m, &next);
    return ok(m->c);
}

bool dv_compile_match(dv_compiler *c, const dv_stmt *stmt) {
    dv_matcher m = {.c = c, .at = stmt->as.match.subject->at};
    dv_label end = dv_emit_new_label(&c->emit);
    uint32_t count = stmt->as.match.count;
    const dv_case *final = &stmt->as.match.cases[count - 1];
    bool has_default =
        count > 1 && final->pattern->kind == DV_PATTERN_CAPTURE && final->pattern->name == NULL;
    dv_subject subject;
    if (!compile_subject(&m, stmt, &subject)) return false;
    for (uint32_t i = 0; i < count - has_default; i++) {
        const dv_case *one = &stmt->as.match.cases[i];
        m.irrefutable = one->guard != NULL || i + 1 == count;
        if (!compile_case(&m, one, subject, i + 1 == count - has_default, end)) return false;
    }
    if (has_default) {
        if (final->guard != NULL && !dv_compile_jump(c, final->guard, final->guard->at, false, end))
            return false;
        if (!dv_compile_block(c, &final->body)) return false;
    }
    dv_emit_place(&c->emit, end);
    return ok(c);
}
