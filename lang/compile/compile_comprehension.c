/* compile_comprehension.c: comprehensions and generator expressions (compile_comprehension.h).
 *
 * Invariants
 *  1. What belongs to the frame of an inlined one lies between `begin` and `end` of its place
 * (code/code.h) without its taking, which is the work of the function around.
 *  2. However the loop ends, the iterators are gone and the variables unassigned behind it. */
#include "lang/compile/compile_comprehension.h"

#include "lang/compile/assign.h"
#include "lang/compile/compile_expression.h"
#include "lang/compile/resolve.h"

/* What is being compiled: the expression and, if it is inlined, its place and what takes its items.
 */
typedef struct loop {
    const dv_expr *expr;
    dv_consumer consumer; /* of one that is inlined */
    dv_inlined_code place;
    dv_range at;             /* of the taking: the call's */
    dv_label found;          /* ANY, ALL: where an item decides */
    const dv_literal *start; /* SUM: of the sum, or NULL */
} loop;

/* ---- Loops ---- */

static bool done(const dv_compiler *c) { return c->front->status == DV_LANG_OK; }

static bool has_host(const dv_expr *expr) { return expr->as.comprehension.scope->host != NULL; }

static void emit_constant(dv_compiler *c, const dv_literal *literal, dv_range at) {
    dv_emit_a(&c->emit, DV_OP_LOAD_CONST, dv_emit_constant(&c->emit, literal), at);
}

static void emit_truth(dv_compiler *c, bool truth, dv_range at) {
    const dv_literal literal = {.kind = truth ? DV_CONST_TRUE : DV_CONST_FALSE};
    emit_constant(c, &literal, at);
}

/* The local that holds what the consumer has: behind the variables of the expression. */
static uint32_t total_of(const dv_scope *scope) {
    return scope->first_local + scope->local_count - 1;
}

/* An item decides a search; that is the builtin's work, and so is what is done by the next ones. */
static bool compile_search_item(dv_compiler *c, loop *l) {
    dv_emitter *e = &c->emit;
    dv_expr *element = l->expr->as.comprehension.element;
    const bool when = l->consumer == DV_CONSUMER_ANY;
    bool owned;
    /* `not` asks for the truth in the expression's own frame; its result is a bool. */
    const bool negated = element->kind == DV_EXPR_UNARY && element->op == DV_UNARY_NOT;
    if (negated || (element->kind == DV_EXPR_COMPARE && element->as.compare.rights.count == 1 &&
                    dv_compile_is_negated(element, 0)))
        return dv_compile_jump(c, element, element->at, when, l->found);
    if (!dv_compile_operand(c, element, false, &owned)) return false;
    l->place.taking = e->count;
    dv_emit_branch(e, when ? DV_OP_JUMP_IF_TRUE : DV_OP_JUMP_IF_FALSE, l->found, owned, l->at);
    l->place.taken = e->count;
    return done(c);
}

static bool compile_first_item(dv_compiler *c, loop *l) {
    if (!dv_compile_owned(c, l->expr->as.comprehension.element)) return false;
    dv_emit_a(&c->emit, DV_OP_STORE_LOCAL, total_of(l->expr->as.comprehension.scope), l->at);
    dv_emit_jump(&c->emit, DV_OP_JUMP, l->found, l->at);
    return done(c);
}

static bool compile_sum_item(dv_compiler *c, loop *l) {
    dv_emitter *e = &c->emit;
    const uint32_t total = total_of(l->expr->as.comprehension.scope);
    bool owned;
    dv_emit_a(e, DV_OP_LOAD_LOCAL_B, total, l->at);
    if (!dv_compile_operand(c, l->expr->as.comprehension.element, false, &owned)) return false;
    l->place.taking = e->count;
    dv_emit_a(e, DV_OP_ADD, (uint32_t)owned << 1, l->at);
    l->place.taken = e->count;
    dv_emit_a(e, DV_OP_STORE_LOCAL, total, l->at);
    return done(c);
}

/* The local in front of the total says whether there is one. */
static bool compile_extreme_item(dv_compiler *c, loop *l) {
    dv_emitter *e = &c->emit;
    const uint32_t total = total_of(l->expr->as.comprehension.scope);
    const uint8_t better = l->consumer == DV_CONSUMER_MIN ? DV_OP_LT : DV_OP_GT;
    dv_label first = dv_emit_new_label(e), worse = dv_emit_new_label(e);
    dv_label next = dv_emit_new_label(e);
    if (!dv_compile_owned(c, l->expr->as.comprehension.element)) return false;
    l->place.taking = e->count;
    dv_emit_a(e, DV_OP_LOAD_LOCAL_B, total - 1, l->at);
    dv_emit_branch(e, DV_OP_JUMP_IF_FALSE, first, 0, l->at);
    dv_emit_a(e, DV_OP_COPY, 1, l->at);
    dv_emit_a(e, DV_OP_LOAD_LOCAL_B, total, l->at);
    dv_emit_a(e, better, 1, l->at);
    dv_emit_branch(e, DV_OP_JUMP_IF_FALSE, worse, 1, l->at);
    l->place.taken = e->count;
    dv_emit_a(e, DV_OP_STORE_LOCAL, total, l->at);
    dv_emit_jump(e, DV_OP_JUMP, next, l->at);
    dv_emit_place(e, first);
    dv_emit_a(e, DV_OP_STORE_LOCAL, total, l->at);
    emit_truth(c, true, l->at);
    dv_emit_a(e, DV_OP_STORE_LOCAL, total - 1, l->at);
    dv_emit_jump(e, DV_OP_JUMP, next, l->at);
    dv_emit_place(e, worse);
    dv_emit(e, DV_OP_POP_TOP, l->at);
    dv_emit_place(e, next);
    return done(c);
}

/* What is built lies below `i` iterators. */
static bool compile_added_item(dv_compiler *c, loop *l, uint32_t i) {
    static const uint8_t ops[] = {DV_OP_LIST_APPEND, DV_OP_SET_ADD, DV_OP_DICT_ADD};
    dv_expr *key = l->expr->as.comprehension.element, *value = l->expr->as.comprehension.value;
    uint8_t op = ops[l->expr->op % DV_COMPREHENSION_GENERATOR];
    if (l->consumer == DV_CONSUMER_SET) op = DV_OP_SET_ADD;
    if (l->consumer == DV_CONSUMER_DICT) {
        op = DV_OP_DICT_ADD;
        value = key->as.list.items[1];
        key = key->as.list.items[0];
    }
    if (!dv_compile_owned(c, key) || (value != NULL && !dv_compile_owned(c, value))) return false;
    const bool taken = l->consumer != DV_CONSUMER_NONE;
    if (taken) l->place.taking = c->emit.count;
    dv_emit_a(&c->emit, op, i + 1, taken ? l->at : l->expr->at);
    l->place.taken = c->emit.count;
    return done(c);
}

/* What becomes of an item: it is added to what lies below `i` iterators, taken, or yielded. */
static bool compile_item(dv_compiler *c, loop *l, uint32_t i) {
    const dv_expr *expr = l->expr;
    if (expr->op != DV_COMPREHENSION_GENERATOR || has_host(expr)) {
        switch (l->consumer) {
        case DV_CONSUMER_ANY:
        case DV_CONSUMER_ALL: return compile_search_item(c, l);
        case DV_CONSUMER_NEXT: return compile_first_item(c, l);
        case DV_CONSUMER_SUM: return compile_sum_item(c, l);
        case DV_CONSUMER_MIN:
        case DV_CONSUMER_MAX: return compile_extreme_item(c, l);
        default: return compile_added_item(c, l, i);
        }
    }
    if (!dv_compile_owned(c, expr->as.comprehension.element)) return false;
    dv_emit(&c->emit, DV_OP_YIELD, expr->at);
    dv_emit(&c->emit, DV_OP_POP_TOP, expr->at);
    return done(c);
}

/* The loops from clause i on, and the item in the innermost; the first iterator is the function's
 * argument, or on the stack already. */
static bool compile_clauses(dv_compiler *c, loop *l, uint32_t i) {
    dv_emitter *e = &c->emit;
    const dv_expr *expr = l->expr;
    bool owned = true;
    if (i == expr->as.comprehension.clause_count) return compile_item(c, l, i);
    const dv_clause *clause = &expr->as.comprehension.clauses[i];
    if (i == 0) {
        if (!has_host(expr)) dv_emit_a(e, DV_OP_LOAD_LOCAL, 0, expr->at);
    } else {
        if (!dv_compile_operand(c, clause->iterable, false, &owned)) return false;
        dv_emit_a(e, DV_OP_GET_ITER, owned, expr->at);
    }
    dv_label head = dv_emit_head(e), again = dv_emit_new_label(e), end = dv_emit_new_label(e);
    dv_emit_jump(e, DV_OP_FOR_ITER, end, expr->at);
    if (!dv_compile_store(c, clause->target)) return false;
    for (uint32_t k = 0; k < clause->conditions.count; k++) {
        dv_expr *condition = clause->conditions.items[k];
        if (!dv_compile_jump(c, condition, condition->at, false, again)) return false;
    }
    if (!compile_clauses(c, l, i + 1)) return false;
    dv_emit_place(e, again);
    dv_emit_jump(e, DV_OP_JUMP_BACK, head, expr->at);
    dv_emit_place(e, end);
    return done(c);
}

/* ---- Functions ---- */

static dv_code *compile_function_of(dv_compiler *outer, const dv_expr *expr) {
    static const uint8_t builds[] = {DV_OP_BUILD_LIST, DV_OP_BUILD_SET, DV_OP_BUILD_DICT};
    const dv_text name = dv_comprehension_name((dv_comprehension)expr->op);
    const dv_scope *scope = expr->as.comprehension.scope;
    dv_compiler *c = dv_front_scratch(outer->front, sizeof *c);
    if (c == NULL || !dv_compile_begin(c, outer, scope, name)) return NULL;
    if (!dv_assign_comprehension(c->front, expr)) return NULL;
    dv_compile_prologue(c);
    dv_compile_generator(c, expr->at.line);
    const bool generator = expr->op == DV_COMPREHENSION_GENERATOR;
    loop l = {.expr = expr};
    if (!generator) dv_emit_a(&c->emit, builds[expr->op], 0, expr->at);
    if (!compile_clauses(c, &l, 0)) return NULL;
    if (generator) dv_emit_a(&c->emit, DV_OP_LOAD_CONST, dv_emit_none(&c->emit), expr->at);
    dv_compile_leave(c, expr->at);
    dv_code *code = dv_compile_finish(c, name, expr->at.line);
    if (code == NULL) return NULL;
    code->positional_count = 1;
    return dv_compile_locals(c->front, scope, code) ? code : NULL;
}

static bool compile_first_iterator(dv_compiler *c, const dv_expr *expr) {
    bool owned;
    if (!dv_compile_operand(c, expr->as.comprehension.clauses[0].iterable, false, &owned))
        return false;
    dv_emit_a(&c->emit, DV_OP_GET_ITER, owned, expr->at);
    return true;
}

/* ---- In place ---- */

static void emit_leave(dv_compiler *c, const loop *l) {
    const dv_scope *scope = l->expr->as.comprehension.scope;
    const uint32_t last = scope->first_local + scope->local_count - 1;
    for (uint32_t local = scope->first_local; local < last; local++)
        dv_emit_a(&c->emit, DV_OP_CLEAR_LOCAL, local, l->at);
    dv_emit_a(&c->emit, DV_OP_LEAVE_COMPREHENSION, last, l->at);
}

/* What the consumer has before the first item, where that is in locals. */
static void emit_beginning(dv_compiler *c, const loop *l) {
    const uint32_t total = total_of(l->expr->as.comprehension.scope);
    const bool extreme = l->consumer == DV_CONSUMER_MIN || l->consumer == DV_CONSUMER_MAX;
    dv_literal first = {.kind = extreme ? DV_CONST_NONE : DV_CONST_INT};
    if (l->start != NULL) first = *l->start;
    if (!extreme && l->consumer != DV_CONSUMER_SUM) return;
    emit_constant(c, &first, l->at);
    dv_emit_a(&c->emit, DV_OP_STORE_LOCAL, total, l->at);
    if (!extreme) return;
    emit_truth(c, false, l->at);
    dv_emit_a(&c->emit, DV_OP_STORE_LOCAL, total - 1, l->at);
}

/* The loop as part of this function, up to where the first iterator is exhausted. */
static bool compile_inlined_loop(dv_compiler *c, loop *l) {
    const dv_expr *expr = l->expr;
    const dv_scope *scope = expr->as.comprehension.scope;
    const dv_text qualname = c->qualname;
    const bool inside = c->in_comprehension;
    dv_emitter *e = &c->emit;
    if (!compile_first_iterator(c, expr)) return false;
    dv_emit(e, DV_OP_ENTER_COMPREHENSION, l->at);
    l->place = (dv_inlined_code){.begin = e->count,
                                 .call = e->count - 1,
                                 .taking = DV_NO_TAKING,
                                 .kind = expr->op,
                                 .first_local = scope->first_local,
                                 .local_count = scope->local_count};
    emit_beginning(c, l);
    c->qualname = dv_compile_qualname(c, dv_comprehension_name((dv_comprehension)expr->op));
    c->in_comprehension = true;
    if (!compile_clauses(c, l, 0)) return false;
    c->qualname = qualname;
    c->in_comprehension = inside;
    return done(c);
}

/* A display, or the list, tuple, set, dict or sum of all items. */
static bool compile_inlined(dv_compiler *c, loop *l) {
    static const uint8_t builds[] = {DV_OP_BUILD_LIST, DV_OP_BUILD_SET, DV_OP_BUILD_DICT};
    dv_emitter *e = &c->emit;
    uint8_t build = builds[l->expr->op % DV_COMPREHENSION_GENERATOR];
    if (l->consumer == DV_CONSUMER_SET) build = DV_OP_BUILD_SET;
    if (l->consumer == DV_CONSUMER_DICT) build = DV_OP_BUILD_DICT;
    const bool sum = l->consumer == DV_CONSUMER_SUM;
    if (!sum) dv_emit_a(e, build, 0, l->expr->at);
    if (!compile_inlined_loop(c, l)) return false;
    if (sum) dv_emit_a(e, DV_OP_LOAD_LOCAL, total_of(l->expr->as.comprehension.scope), l->at);
    emit_leave(c, l);
    dv_emit_inlined(e, &l->place);
    if (l->consumer == DV_CONSUMER_TUPLE) dv_emit(e, DV_OP_LIST_TO_TUPLE, l->at);
    return done(c);
}

/* any, all, next: goes to `found` if an item decides, and to `missed` if none does. */
static bool compile_inlined_search(dv_compiler *c, loop *l, dv_label found, dv_label missed) {
    const uint32_t count = l->expr->as.comprehension.clause_count;
    dv_emitter *e = &c->emit;
    l->found = dv_emit_new_label(e);
    if (!compile_inlined_loop(c, l)) return false;
    emit_leave(c, l);
    dv_emit_jump(e, DV_OP_JUMP, missed, l->at);
    dv_emit_place(e, l->found);
    for (uint32_t i = 0; i < count; i++) dv_emit(e, DV_OP_POP_TOP, l->at);
    if (l->consumer == DV_CONSUMER_NEXT)
        dv_emit_a(e, DV_OP_LOAD_LOCAL, total_of(l->expr->as.comprehension.scope), l->at);
    emit_leave(c, l);
    dv_emit_inlined(e, &l->place);
    dv_emit_jump(e, DV_OP_JUMP, found, l->at);
    return done(c);
}

bool dv_compile_joined(dv_compiler *c, const dv_expr *expr, dv_range at) {
    loop l = {.expr = expr, .at = at};
    return compile_inlined(c, &l);
}

bool dv_compile_comprehension(dv_compiler *c, const dv_expr *expr) {
    loop l = {.expr = expr, .at = expr->at};
    if (has_host(expr)) return compile_inlined(c, &l);
    dv_code *code = compile_function_of(c, expr);
    if (code == NULL) return false;
    dv_compile_make(c, code, 0, expr->at);
    dv_emit(&c->emit, DV_OP_PREPARE_CALL, expr->at);
    if (!compile_first_iterator(c, expr)) return false;
    dv_emit_a(&c->emit, DV_OP_CALL, 1, expr->at);
    return done(c);
}

/* ---- Consumed generator expressions ---- */

static dv_consumer consumer_of(const dv_expr *call) {
    if (call->kind != DV_EXPR_CALL || call->as.call.arguments.count == 0) return DV_CONSUMER_NONE;
    const dv_expr *argument = call->as.call.arguments.items[0];
    if (argument->kind != DV_EXPR_COMPREHENSION || !has_host(argument)) return DV_CONSUMER_NONE;
    return (dv_consumer)argument->as.comprehension.scope->consumer;
}

bool dv_compile_is_consumed(const dv_expr *call) {
    const dv_consumer consumer = consumer_of(call);
    return consumer != DV_CONSUMER_NONE && consumer != DV_CONSUMER_JOIN;
}

bool dv_compile_is_joined(const dv_expr *call) { return consumer_of(call) == DV_CONSUMER_JOIN; }

bool dv_compile_is_search(const dv_expr *call) {
    const dv_consumer consumer = consumer_of(call);
    return consumer == DV_CONSUMER_ANY || consumer == DV_CONSUMER_ALL;
}

/* The call as it is without any of this: of a name that no longer means the builtin. */
static bool compile_plain_call(dv_compiler *c, dv_expr *call) {
    dv_front *front = c->front;
    dv_expr *argument = call->as.call.arguments.items[0];
    dv_outline *outline = dv_scope_outline(front, argument->as.comprehension.scope);
    if (outline == NULL) return false;
    bool (*warn)(void *, uint32_t, const char *) = front->warn;
    front->warn = NULL; /* what there is to say is said of the loop */
    const bool compiled = dv_compile_owned(c, call);
    front->warn = warn;
    dv_scope_restore(outline);
    return compiled;
}

/* Goes to `inlined` if the callee is the builtin; else calls it, and goes on with the result. */
static bool compile_question(dv_compiler *c, dv_expr *call, dv_label inlined) {
    if (!dv_compile_owned(c, call->as.call.callee)) return false;
    dv_emit_branch(&c->emit, DV_OP_JUMP_IF_BUILTIN, inlined, consumer_of(call), call->at);
    return compile_plain_call(c, call);
}

static loop loop_of(const dv_expr *call) {
    const dv_exprs *arguments = &call->as.call.arguments;
    loop l = {.expr = arguments->items[0], .consumer = consumer_of(call), .at = call->at};
    if (arguments->count == 2) l.start = &arguments->items[1]->as.constant;
    return l;
}

static bool compile_search(dv_compiler *c, loop *l) {
    dv_emitter *e = &c->emit;
    dv_label found = dv_emit_new_label(e), missed = dv_emit_new_label(e);
    dv_label end = dv_emit_new_label(e);
    const bool first = l->consumer == DV_CONSUMER_NEXT;
    if (!compile_inlined_search(c, l, first ? end : found, missed)) return false;
    if (!first) {
        dv_emit_place(e, found);
        emit_truth(c, l->consumer == DV_CONSUMER_ANY, l->at);
        dv_emit_jump(e, DV_OP_JUMP, end, l->at);
    }
    dv_emit_place(e, missed);
    if (first)
        emit_constant(c, l->start, l->at);
    else
        emit_truth(c, l->consumer == DV_CONSUMER_ALL, l->at);
    dv_emit_place(e, end);
    return done(c);
}

/* Sorts a list of all items: the rest of the call. */
static bool compile_sorted(dv_compiler *c, loop *l, dv_expr *callee) {
    if (!dv_compile_owned(c, callee)) return false;
    dv_emit(&c->emit, DV_OP_PREPARE_CALL, callee->at);
    if (!compile_inlined(c, l)) return false;
    dv_emit_a(&c->emit, DV_OP_CALL, 1, l->at);
    return done(c);
}

/* Of no item the builtin itself says that there is none. */
static bool compile_extreme(dv_compiler *c, loop *l, dv_expr *callee) {
    dv_emitter *e = &c->emit;
    const uint32_t total = total_of(l->expr->as.comprehension.scope);
    dv_label none = dv_emit_new_label(e), end = dv_emit_new_label(e);
    const dv_literal empty = {.kind = DV_CONST_TUPLE};
    if (!compile_inlined_loop(c, l)) return false;
    dv_emit_a(e, DV_OP_LOAD_LOCAL_B, total - 1, l->at);
    dv_emit_branch(e, DV_OP_JUMP_IF_FALSE, none, 0, l->at);
    dv_emit_a(e, DV_OP_LOAD_LOCAL, total, l->at);
    emit_leave(c, l);
    dv_emit_jump(e, DV_OP_JUMP, end, l->at);
    dv_emit_place(e, none);
    emit_leave(c, l);
    dv_emit_inlined(e, &l->place);
    if (!dv_compile_owned(c, callee)) return false;
    dv_emit(e, DV_OP_PREPARE_CALL, callee->at);
    emit_constant(c, &empty, l->at);
    dv_emit_a(e, DV_OP_CALL, 1, l->at);
    dv_emit_place(e, end);
    return done(c);
}

bool dv_compile_consumed(dv_compiler *c, dv_expr *call) {
    dv_emitter *e = &c->emit;
    dv_label inlined = dv_emit_new_label(e), end = dv_emit_new_label(e);
    loop l = loop_of(call);
    bool compiled;
    if (!compile_question(c, call, inlined)) return false;
    dv_emit_jump(e, DV_OP_JUMP, end, call->at);
    dv_emit_place(e, inlined);
    switch (l.consumer) {
    case DV_CONSUMER_ANY:
    case DV_CONSUMER_ALL:
    case DV_CONSUMER_NEXT: compiled = compile_search(c, &l); break;
    case DV_CONSUMER_MIN:
    case DV_CONSUMER_MAX: compiled = compile_extreme(c, &l, call->as.call.callee); break;
    case DV_CONSUMER_SORTED: compiled = compile_sorted(c, &l, call->as.call.callee); break;
    default: compiled = compile_inlined(c, &l); break;
    }
    dv_emit_place(e, end);
    return compiled;
}

bool dv_compile_search_jump(dv_compiler *c, dv_expr *call, bool when, dv_label target) {
    dv_emitter *e = &c->emit;
    dv_label inlined = dv_emit_new_label(e), end = dv_emit_new_label(e);
    loop l = loop_of(call);
    const bool wanted = (l.consumer == DV_CONSUMER_ANY) == when; /* is it if an item decides? */
    if (!compile_question(c, call, inlined)) return false;
    dv_emit_branch(e, when ? DV_OP_JUMP_IF_TRUE : DV_OP_JUMP_IF_FALSE, target, 1, call->at);
    dv_emit_jump(e, DV_OP_JUMP, end, call->at);
    dv_emit_place(e, inlined);
    if (!compile_inlined_search(c, &l, wanted ? target : end, wanted ? end : target)) return false;
    dv_emit_place(e, end);
    return done(c);
}
