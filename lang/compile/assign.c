/* assign.c: definite assignment as a forward data-flow over the tree (assign.h).
 *
 * A state is the set of locals that are assigned on every path to a point; an unreachable point has
 * all of them, so that joining is intersecting.
 *
 * Invariants
 *  1. Within a loop only `del` (and the end of `except ... as`) can take a variable away: the state
 * at a loop's head is the state before it without what the body deletes; no iteration is needed.
 *  2. An exception can leave a try body anywhere: its handlers begin with the state before the try
 *     without what the body deletes.
 *  3. A finally body is compiled several times but analysed once, from the weakest of its entry
 * states, the exceptional one.
 *  4. Behind a with statement control may come from anywhere in it, for an exit may suppress an
 * exception.
 *  5. The verifier proves every LOAD_LOCAL again on the code: this pass may only be weaker.
 *  6. Nothing here tells whether it succeeded: where memory runs out, all sets that are made are
 * one
 *     (`spare`), and what becomes of it does not matter; the status is looked at when all is done.
 */
#include "lang/compile/assign.h"

#include <string.h>

typedef struct loop {
    struct loop *outer;
    uint64_t *at_break; /* join of the states at its break statements */
    uint64_t *deleted;  /* by what a break has to leave: finally bodies, named except clauses */
} loop;

typedef struct flow {
    dv_front *front;
    uint32_t words;  /* of a set */
    uint64_t *now;   /* the state at the current point */
    uint64_t *spare; /* invariant 6 */
    loop *loop;      /* the innermost one */
} flow;

static void flow_block(flow *f, const dv_block *block);
static void flow_expr(flow *f, dv_expr *root);
static void flow_comprehension(flow *f, dv_expr *expr);

/* ---- Sets ---- */

static uint64_t *new_set(flow *f) {
    uint64_t *set = dv_front_scratch(f->front, f->words * sizeof *set);
    return set != NULL ? set : f->spare;
}

static uint64_t *copy_set(flow *f, const uint64_t *set) {
    uint64_t *copy = new_set(f);
    memmove(copy, set, f->words * sizeof *copy); /* both may be the spare one */
    return copy;
}

static void fill_set(const flow *f, uint64_t *set) { memset(set, 0xFF, f->words * sizeof *set); }

static uint64_t *new_full_set(flow *f) {
    uint64_t *set = new_set(f);
    fill_set(f, set);
    return set;
}

static void set_intersect(const flow *f, uint64_t *into, const uint64_t *other) {
    for (uint32_t i = 0; i < f->words; i++) into[i] &= other[i];
}

static void set_subtract(const flow *f, uint64_t *from, const uint64_t *other) {
    for (uint32_t i = 0; i < f->words; i++) from[i] &= ~other[i];
}

static void set_unite(const flow *f, uint64_t *into, const uint64_t *other) {
    for (uint32_t i = 0; i < f->words; i++) into[i] |= other[i];
}

static void set_assign(const flow *f, uint64_t *to, const uint64_t *from) {
    memmove(to, from, f->words * sizeof *to);
}

static void add(uint64_t *set, const dv_symbol *symbol) {
    if (symbol->access == DV_ACCESS_LOCAL)
        set[symbol->index / 64] |= (uint64_t)1 << symbol->index % 64;
}

static void take_away(uint64_t *set, const dv_symbol *symbol) {
    if (symbol->access == DV_ACCESS_LOCAL)
        set[symbol->index / 64] &= ~((uint64_t)1 << symbol->index % 64);
}

static bool contains(const uint64_t *set, const dv_symbol *symbol) {
    if (symbol->access != DV_ACCESS_LOCAL) return false;
    return set[symbol->index / 64] >> symbol->index % 64 & 1;
}

/* ---- What a block deletes ---- */

static void collect_block(uint64_t *set, const dv_block *block);

static void collect_target(uint64_t *set, const dv_expr *target) {
    if (target->kind == DV_EXPR_NAME) add(set, target->as.name.symbol);
    if (target->kind != DV_EXPR_TUPLE && target->kind != DV_EXPR_LIST) return;
    for (uint32_t i = 0; i < target->as.list.count; i++)
        collect_target(set, target->as.list.items[i]);
}

static void collect_try(uint64_t *set, const dv_stmt *stmt) {
    collect_block(set, &stmt->as.attempt.body);
    for (uint32_t i = 0; i < stmt->as.attempt.handler_count; i++) {
        const dv_handler *handler = &stmt->as.attempt.handlers[i];
        if (handler->name != NULL) add(set, handler->name->as.name.symbol);
        collect_block(set, &handler->body);
    }
    collect_block(set, &stmt->as.attempt.otherwise);
    collect_block(set, &stmt->as.attempt.finally);
}

static void collect_stmt(uint64_t *set, const dv_stmt *stmt) {
    switch (stmt->kind) {
    case DV_STMT_DELETE:
        for (uint32_t i = 0; i < stmt->as.targets.count; i++)
            collect_target(set, stmt->as.targets.items[i]);
        break;
    case DV_STMT_IF:
        for (uint32_t i = 0; i < stmt->as.branch.count; i++)
            collect_block(set, &stmt->as.branch.branches[i].body);
        collect_block(set, &stmt->as.branch.otherwise);
        break;
    case DV_STMT_WHILE:
        collect_block(set, &stmt->as.loop.body);
        collect_block(set, &stmt->as.loop.otherwise);
        break;
    case DV_STMT_FOR:
        collect_block(set, &stmt->as.each.body);
        collect_block(set, &stmt->as.each.otherwise);
        break;
    case DV_STMT_TRY: collect_try(set, stmt); break;
    case DV_STMT_WITH: collect_block(set, &stmt->as.with.body); break;
    case DV_STMT_MATCH:
        for (uint32_t i = 0; i < stmt->as.match.count; i++)
            collect_block(set, &stmt->as.match.cases[i].body);
        break;
    default: break;
    }
}

static void collect_block(uint64_t *set, const dv_block *block) {
    for (uint32_t i = 0; i < block->count; i++) collect_stmt(set, block->items[i]);
}

/* ---- Expressions ---- */

static void flow_exprs(flow *f, const dv_exprs *exprs) {
    for (uint32_t i = 0; i < exprs->count; i++) flow_expr(f, exprs->items[i]);
}

static void flow_optional(flow *f, dv_expr *expr) {
    if (expr != NULL) flow_expr(f, expr);
}

/* Expressions that may or may not be evaluated: what they assign does not count afterwards. */
static void flow_uncertain(flow *f, dv_expr **items, uint32_t count) {
    const uint64_t *before = copy_set(f, f->now);
    for (uint32_t i = 0; i < count; i++) flow_expr(f, items[i]);
    set_assign(f, f->now, before);
}

static void flow_conditional(flow *f, const dv_expr *expr) {
    flow_expr(f, expr->as.conditional.test);
    const uint64_t *before = copy_set(f, f->now);
    flow_expr(f, expr->as.conditional.body);
    const uint64_t *after_body = copy_set(f, f->now);
    set_assign(f, f->now, before);
    flow_expr(f, expr->as.conditional.otherwise);
    set_intersect(f, f->now, after_body);
}

static void flow_defaults(flow *f, const dv_function *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++)
        flow_optional(f, function->parameters[i].standard);
}

static void flow_call(flow *f, const dv_expr *expr) {
    flow_exprs(f, &expr->as.call.arguments);
    for (uint32_t i = 0; i < expr->as.call.keyword_count; i++)
        flow_expr(f, expr->as.call.keywords[i].value);
}

static void flow_dict(flow *f, const dv_expr *expr) {
    for (uint32_t i = 0; i < expr->as.dict.keys.count; i++) {
        flow_optional(f, expr->as.dict.keys.items[i]);
        flow_expr(f, expr->as.dict.values.items[i]);
    }
}

static void flow_compare(flow *f, const dv_expr *expr) {
    const dv_exprs *rights = &expr->as.compare.rights;
    flow_expr(f, expr->as.compare.left);
    flow_expr(f, rights->items[0]);
    flow_uncertain(f, rights->items + 1, rights->count - 1);
}

/* The left child has been done. */
static void flow_node(flow *f, dv_expr *expr) {
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_NAME: expr->assigned = contains(f->now, expr->as.name.symbol); break;
    case DV_EXPR_FSTRING:
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST:
    case DV_EXPR_SET: flow_exprs(f, &expr->as.list); break;
    case DV_EXPR_FORMAT:
        flow_expr(f, expr->as.format.value);
        flow_optional(f, expr->as.format.spec);
        break;
    case DV_EXPR_AND:
    case DV_EXPR_OR:
        flow_expr(f, expr->as.list.items[0]);
        flow_uncertain(f, expr->as.list.items + 1, expr->as.list.count - 1);
        break;
    case DV_EXPR_DICT: flow_dict(f, expr); break;
    case DV_EXPR_BINARY: flow_expr(f, expr->as.binary.right); break;
    case DV_EXPR_UNARY:
    case DV_EXPR_STARRED: flow_expr(f, expr->as.child); break;
    case DV_EXPR_YIELD:
    case DV_EXPR_YIELD_FROM: flow_optional(f, expr->as.child); break;
    case DV_EXPR_COMPARE: flow_compare(f, expr); break;
    case DV_EXPR_CONDITIONAL: flow_conditional(f, expr); break;
    case DV_EXPR_LAMBDA: flow_defaults(f, expr->as.function); break;
    case DV_EXPR_CALL: flow_call(f, expr); break;
    case DV_EXPR_SUBSCRIPT: flow_expr(f, expr->as.subscript.index); break;
    case DV_EXPR_SLICE:
        flow_optional(f, expr->as.slice.start);
        flow_optional(f, expr->as.slice.stop);
        flow_optional(f, expr->as.slice.step);
        break;
    case DV_EXPR_COMPREHENSION: flow_comprehension(f, expr); break;
    case DV_EXPR_NAMED:
        flow_expr(f, expr->as.named.value);
        add(f->now, expr->as.named.target->as.name.symbol);
        break;
    case DV_EXPR_CONSTANT:
    case DV_EXPR_ATTRIBUTE: break;
    }
}

static void flow_expr(flow *f, dv_expr *root) {
    dv_expr *expr = dv_expr_leftmost(root);
    flow_node(f, expr);
    while (expr != root) {
        expr = expr->up;
        flow_node(f, expr);
    }
}

/* ---- Statements ---- */

static void flow_target(flow *f, dv_expr *target) {
    switch ((dv_expr_kind)target->kind) {
    case DV_EXPR_NAME: add(f->now, target->as.name.symbol); break;
    case DV_EXPR_STARRED: flow_target(f, target->as.child); break;
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST:
        for (uint32_t i = 0; i < target->as.list.count; i++)
            flow_target(f, target->as.list.items[i]);
        break;
    default: flow_expr(f, target); break;
    }
}

/* Every part of a comprehension is evaluated behind the parts before it; nothing is deleted.  The
 * first iterable belongs to the function around. */
static void flow_clauses(flow *f, const dv_expr *expr) {
    for (uint32_t i = 0; i < expr->as.comprehension.clause_count; i++) {
        const dv_clause *clause = &expr->as.comprehension.clauses[i];
        if (i > 0) flow_expr(f, clause->iterable);
        flow_target(f, clause->target);
        flow_exprs(f, &clause->conditions);
    }
    flow_expr(f, expr->as.comprehension.element);
    flow_optional(f, expr->as.comprehension.value);
}

/* Behind a comprehension in place its variables are unassigned, and what a walrus in it has bound
 * may be: its loop may have had no round. */
static void flow_comprehension(flow *f, dv_expr *expr) {
    flow_expr(f, expr->as.comprehension.clauses[0].iterable);
    if (expr->as.comprehension.scope->host == NULL) return;
    const uint64_t *before = copy_set(f, f->now);
    flow_clauses(f, expr);
    set_assign(f, f->now, before);
}

static void flow_deleted(flow *f, dv_expr *target) {
    switch ((dv_expr_kind)target->kind) {
    case DV_EXPR_NAME: take_away(f->now, target->as.name.symbol); break;
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST:
        for (uint32_t i = 0; i < target->as.list.count; i++)
            flow_deleted(f, target->as.list.items[i]);
        break;
    default: flow_expr(f, target); break;
    }
}

static void flow_if(flow *f, const dv_stmt *stmt) {
    uint64_t *joined = new_full_set(f);
    for (uint32_t i = 0; i < stmt->as.branch.count; i++) {
        const dv_branch *branch = &stmt->as.branch.branches[i];
        flow_expr(f, branch->test);
        int truth = dv_expr_truth(branch->test);
        const uint64_t *otherwise = truth == 1 ? new_full_set(f) : copy_set(f, f->now);
        if (truth == 0) fill_set(f, f->now);
        flow_block(f, &branch->body);
        set_intersect(f, joined, f->now);
        set_assign(f, f->now, otherwise);
    }
    flow_block(f, &stmt->as.branch.otherwise);
    set_intersect(f, f->now, joined);
}

static void enter_loop(flow *f, loop *it, const dv_block *body) {
    uint64_t *deleted = new_set(f);
    *it = (loop){f->loop, new_full_set(f), new_set(f)};
    collect_block(deleted, body);
    set_subtract(f, f->now, deleted);
    f->loop = it;
}

/* `exit` is the state where the loop ends by itself. */
static void leave_loop(flow *f, const loop *it, const uint64_t *exit, const dv_block *otherwise) {
    f->loop = it->outer;
    set_assign(f, f->now, exit);
    flow_block(f, otherwise);
    set_intersect(f, f->now, it->at_break);
}

static void flow_while(flow *f, const dv_stmt *stmt) {
    loop it;
    enter_loop(f, &it, &stmt->as.loop.body);
    flow_expr(f, stmt->as.loop.test);
    int truth = dv_expr_truth(stmt->as.loop.test);
    const uint64_t *exit = truth == 1 ? new_full_set(f) : copy_set(f, f->now);
    if (truth == 0) fill_set(f, f->now);
    flow_block(f, &stmt->as.loop.body);
    leave_loop(f, &it, exit, &stmt->as.loop.otherwise);
}

static void flow_for(flow *f, const dv_stmt *stmt) {
    loop it;
    flow_expr(f, stmt->as.each.iterable);
    enter_loop(f, &it, &stmt->as.each.body);
    const uint64_t *exit = copy_set(f, f->now);
    flow_target(f, stmt->as.each.target);
    flow_block(f, &stmt->as.each.body);
    leave_loop(f, &it, exit, &stmt->as.each.otherwise);
}

static void flow_break(flow *f) {
    if (f->loop != NULL) { /* the compiler refuses one outside of loops */
        for (uint32_t i = 0; i < f->words; i++)
            f->loop->at_break[i] &= f->now[i] & ~f->loop->deleted[i];
    }
    fill_set(f, f->now);
}

/* An except clause.  Whatever leaves it, a break too, deletes its name. */
static void flow_handler(flow *f, const dv_handler *handler) {
    flow_optional(f, handler->type);
    if (handler->name == NULL) {
        flow_block(f, &handler->body);
        return;
    }
    const dv_symbol *symbol = handler->name->as.name.symbol;
    bool crosses = f->loop != NULL && !contains(f->loop->deleted, symbol);
    if (crosses) add(f->loop->deleted, symbol);
    add(f->now, symbol);
    flow_block(f, &handler->body);
    take_away(f->now, symbol);
    if (crosses) take_away(f->loop->deleted, symbol);
}

static void flow_handlers(flow *f, const dv_stmt *stmt, const uint64_t *before) {
    uint64_t *begin = copy_set(f, before), *deleted = new_set(f), *joined = copy_set(f, f->now);
    collect_block(deleted, &stmt->as.attempt.body);
    set_subtract(f, begin, deleted);
    for (uint32_t i = 0; i < stmt->as.attempt.handler_count; i++) {
        set_assign(f, f->now, begin);
        flow_handler(f, &stmt->as.attempt.handlers[i]);
        set_intersect(f, joined, f->now);
    }
    set_assign(f, f->now, joined);
}

static void flow_try_except(flow *f, const dv_stmt *stmt) {
    const uint64_t *before = copy_set(f, f->now);
    flow_block(f, &stmt->as.attempt.body);
    flow_block(f, &stmt->as.attempt.otherwise);
    if (stmt->as.attempt.handler_count > 0) flow_handlers(f, stmt, before);
}

static void flow_try(flow *f, const dv_stmt *stmt) {
    if (!stmt->as.attempt.has_finally) {
        flow_try_except(f, stmt);
        return;
    }
    uint64_t *weakest = copy_set(f, f->now), *lost = new_set(f), *deleted = new_set(f);
    const uint64_t *crossed = f->loop == NULL ? deleted : copy_set(f, f->loop->deleted);
    collect_try(lost, stmt);
    set_subtract(f, weakest, lost);
    collect_block(deleted, &stmt->as.attempt.finally);
    if (f->loop != NULL) set_unite(f, f->loop->deleted, deleted);
    flow_try_except(f, stmt);
    if (f->loop != NULL) set_assign(f, f->loop->deleted, crossed);
    uint64_t *normal = copy_set(f, f->now);
    set_assign(f, f->now, weakest);
    flow_block(f, &stmt->as.attempt.finally);
    set_subtract(f, normal, deleted);
    set_unite(f, f->now, normal);
}

static void flow_with(flow *f, const dv_stmt *stmt) {
    uint64_t *weakest = NULL, *deleted = new_set(f);
    for (uint32_t i = 0; i < stmt->as.with.count; i++) {
        const dv_with_item *item = &stmt->as.with.items[i];
        flow_expr(f, item->context);
        if (i == 0) weakest = copy_set(f, f->now);
        if (item->target != NULL) flow_target(f, item->target);
    }
    flow_block(f, &stmt->as.with.body);
    collect_block(deleted, &stmt->as.with.body);
    set_subtract(f, weakest, deleted);
    set_intersect(f, f->now, weakest);
}

static void flow_values(flow *f, const dv_pattern *pattern) {
    flow_optional(f, pattern->value);
    flow_exprs(f, &pattern->keys);
    for (uint32_t i = 0; i < pattern->count; i++) flow_values(f, pattern->items[i]);
}

static void flow_captures(flow *f, const dv_pattern *pattern) {
    if (pattern->name != NULL) add(f->now, pattern->name->as.name.symbol);
    for (uint32_t i = 0; i < pattern->count; i++) flow_captures(f, pattern->items[i]);
}

/* A pattern binds its names when all of it has matched; alternatives bind the same ones.  The next
 * case begins as this one did: what a guard may have bound does not count. */
static void flow_match(flow *f, const dv_stmt *stmt) {
    uint64_t *joined = new_full_set(f);
    flow_expr(f, stmt->as.match.subject);
    const uint64_t *before = copy_set(f, f->now);
    bool exhausted = false;
    for (uint32_t i = 0; i < stmt->as.match.count; i++) {
        const dv_case *one = &stmt->as.match.cases[i];
        flow_values(f, one->pattern);
        flow_captures(f, one->pattern);
        flow_optional(f, one->guard);
        flow_block(f, &one->body);
        set_intersect(f, joined, f->now);
        set_assign(f, f->now, before);
        exhausted = one->guard == NULL && dv_pattern_is_irrefutable(one->pattern);
    }
    if (exhausted) fill_set(f, f->now);
    set_intersect(f, f->now, joined);
}

static void flow_assign(flow *f, const dv_stmt *stmt) {
    flow_expr(f, stmt->as.assign.value);
    for (uint32_t i = 0; i < stmt->as.assign.targets.count; i++)
        flow_target(f, stmt->as.assign.targets.items[i]);
}

static void flow_augment(flow *f, const dv_stmt *stmt) {
    flow_expr(f, stmt->as.augment.target);
    flow_expr(f, stmt->as.augment.value);
    if (stmt->as.augment.target->kind == DV_EXPR_NAME) flow_target(f, stmt->as.augment.target);
}

static void flow_annotate(flow *f, const dv_stmt *stmt) {
    dv_expr *target = stmt->as.annotate.target;
    flow_optional(f, stmt->as.annotate.value);
    if (stmt->as.annotate.value != NULL)
        flow_target(f, target);
    else if (target->kind != DV_EXPR_NAME)
        flow_expr(f, target);
}

static void flow_end(flow *f, dv_expr *first, dv_expr *second) {
    flow_optional(f, first);
    flow_optional(f, second);
    fill_set(f, f->now);
}

static void flow_assert(flow *f, const dv_stmt *stmt) {
    if (f->front->optimize) return;
    dv_expr *message = stmt->as.assertion.message;
    flow_expr(f, stmt->as.assertion.test);
    if (message != NULL) flow_uncertain(f, &message, 1);
}

/* A function, class or module is bound to a name of the current scope. */
static void flow_bound(flow *f, const dv_scope *scope, dv_name *name) {
    dv_name *mangled = dv_scope_mangle(f->front, scope->class_name, name);
    if (mangled != NULL) add(f->now, dv_scope_find(scope, mangled));
}

/* There is no `import *` in functions: scope.c refuses it. */
static void flow_aliases(flow *f, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.import.count; i++)
        add(f->now, stmt->as.import.aliases[i].target->as.name.symbol);
}

static void flow_class(flow *f, const dv_class *klass) {
    flow_exprs(f, &klass->decorators);
    flow_exprs(f, &klass->bases);
    for (uint32_t i = 0; i < klass->keyword_count; i++) flow_expr(f, klass->keywords[i].value);
    flow_bound(f, klass->scope->parent, klass->name);
}

static void flow_function(flow *f, const dv_function *function) {
    flow_exprs(f, &function->decorators);
    flow_defaults(f, function);
    for (uint32_t i = 0; i < function->parameter_count; i++)
        flow_optional(f, function->parameters[i].annotation);
    flow_optional(f, function->returns);
    flow_bound(f, function->scope->parent, function->name);
}

static void flow_stmt(flow *f, const dv_stmt *stmt) {
    switch (stmt->kind) {
    case DV_STMT_EXPR: flow_expr(f, stmt->as.expr); break;
    case DV_STMT_ASSIGN: flow_assign(f, stmt); break;
    case DV_STMT_AUGMENT: flow_augment(f, stmt); break;
    case DV_STMT_ANNOTATE: flow_annotate(f, stmt); break;
    case DV_STMT_DELETE:
        for (uint32_t i = 0; i < stmt->as.targets.count; i++)
            flow_deleted(f, stmt->as.targets.items[i]);
        break;
    case DV_STMT_IF: flow_if(f, stmt); break;
    case DV_STMT_WHILE: flow_while(f, stmt); break;
    case DV_STMT_FOR: flow_for(f, stmt); break;
    case DV_STMT_BREAK: flow_break(f); break;
    case DV_STMT_CONTINUE: fill_set(f, f->now); break;
    case DV_STMT_FUNCTION: flow_function(f, stmt->as.function); break;
    case DV_STMT_RETURN: flow_end(f, stmt->as.expr, NULL); break;
    case DV_STMT_CLASS: flow_class(f, stmt->as.klass); break;
    case DV_STMT_TRY: flow_try(f, stmt); break;
    case DV_STMT_RAISE: flow_end(f, stmt->as.raise.exception, stmt->as.raise.cause); break;
    case DV_STMT_ASSERT: flow_assert(f, stmt); break;
    case DV_STMT_IMPORT:
    case DV_STMT_FROM: flow_aliases(f, stmt); break;
    case DV_STMT_PASS:
    case DV_STMT_GLOBAL:
    case DV_STMT_NONLOCAL: break;
    case DV_STMT_WITH: flow_with(f, stmt); break;
    case DV_STMT_MATCH: flow_match(f, stmt); break;
    }
}

static void flow_block(flow *f, const dv_block *block) {
    for (uint32_t i = 0; i < block->count; i++) flow_stmt(f, block->items[i]);
}

/* ---- Functions ---- */

static bool begin(flow *f, dv_front *front, const dv_scope *scope) {
    *f = (flow){.front = front, .words = scope->local_count / 64 + 1};
    f->spare = new_set(f);
    f->now = new_set(f);
    return f->spare != NULL;
}

bool dv_assign_comprehension(dv_front *front, const dv_expr *expr) {
    flow f;
    if (!begin(&f, front, expr->as.comprehension.scope)) return false;
    flow_clauses(&f, expr);
    return front->status == DV_LANG_OK;
}

bool dv_assign_run(dv_front *front, const dv_function *function) {
    flow f;
    if (!begin(&f, front, function->scope)) return false;
    for (uint32_t i = 0; i < function->parameter_count; i++)
        add(f.now, dv_scope_find(function->scope, function->parameters[i].name));
    flow_block(&f, &function->body);
    return front->status == DV_LANG_OK;
}
