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
 *  5. Behind a with statement control may come from anywhere in it, for an exit may suppress an
 * exception.
 *  4. The verifier proves every LOAD_LOCAL again on the code: this pass may only be weaker. */
#include "lang/assign.h"

#include <string.h>

typedef struct loop {
    struct loop *outer;
    uint64_t *at_break; /* join of the states at its break statements */
    uint64_t *deleted;  /* by what a break has to leave: finally bodies, named except clauses */
} loop;

typedef struct flow {
    dv_front *front;
    uint32_t words; /* of a set */
    uint64_t *now;  /* the state at the current point */
    loop *loop;     /* the innermost one */
} flow;

static bool flow_block(flow *f, const dv_block *block);
static bool flow_expr(flow *f, dv_expr *root);

/* ---- Sets ---- */

static uint64_t *new_set(flow *f) {
    return dv_front_scratch(f->front, f->words * sizeof(uint64_t));
}

static uint64_t *copy_set(flow *f, const uint64_t *set) {
    uint64_t *copy = new_set(f);
    if (copy != NULL) memcpy(copy, set, f->words * sizeof *copy);
    return copy;
}

static void fill_set(const flow *f, uint64_t *set) { memset(set, 0xFF, f->words * sizeof *set); }

static uint64_t *new_full_set(flow *f) {
    uint64_t *set = new_set(f);
    if (set != NULL) fill_set(f, set);
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
    memcpy(to, from, f->words * sizeof *to);
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
    default: break;
    }
}

static void collect_block(uint64_t *set, const dv_block *block) {
    for (uint32_t i = 0; i < block->count; i++) collect_stmt(set, block->items[i]);
}

/* ---- Expressions ---- */

static bool flow_exprs(flow *f, const dv_exprs *exprs) {
    for (uint32_t i = 0; i < exprs->count; i++)
        if (!flow_expr(f, exprs->items[i])) return false;
    return true;
}

static bool flow_optional(flow *f, dv_expr *expr) { return expr == NULL || flow_expr(f, expr); }

/* Expressions that may or may not be evaluated: what they assign does not count afterwards. */
static bool flow_uncertain(flow *f, dv_expr **items, uint32_t count) {
    uint64_t *before = copy_set(f, f->now);
    if (before == NULL) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!flow_expr(f, items[i])) return false;
    set_assign(f, f->now, before);
    return true;
}

static bool flow_conditional(flow *f, const dv_expr *expr) {
    if (!flow_expr(f, expr->as.conditional.test)) return false;
    uint64_t *before = copy_set(f, f->now);
    if (before == NULL || !flow_expr(f, expr->as.conditional.body)) return false;
    uint64_t *after_body = copy_set(f, f->now);
    if (after_body == NULL) return false;
    set_assign(f, f->now, before);
    if (!flow_expr(f, expr->as.conditional.otherwise)) return false;
    set_intersect(f, f->now, after_body);
    return true;
}

static bool flow_defaults(flow *f, const dv_function *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (!flow_optional(f, function->parameters[i].standard)) return false;
    return true;
}

static bool flow_call(flow *f, const dv_expr *expr) {
    if (!flow_exprs(f, &expr->as.call.arguments)) return false;
    for (uint32_t i = 0; i < expr->as.call.keyword_count; i++)
        if (!flow_expr(f, expr->as.call.keywords[i].value)) return false;
    return true;
}

static bool flow_dict(flow *f, const dv_expr *expr) {
    for (uint32_t i = 0; i < expr->as.dict.keys.count; i++)
        if (!flow_optional(f, expr->as.dict.keys.items[i]) ||
            !flow_expr(f, expr->as.dict.values.items[i]))
            return false;
    return true;
}

static bool flow_compare(flow *f, const dv_expr *expr) {
    const dv_exprs *rights = &expr->as.compare.rights;
    return flow_expr(f, expr->as.compare.left) && flow_expr(f, rights->items[0]) &&
           flow_uncertain(f, rights->items + 1, rights->count - 1);
}

/* The left child has been done. */
static bool flow_node(flow *f, dv_expr *expr) {
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_NAME: expr->assigned = contains(f->now, expr->as.name.symbol); return true;
    case DV_EXPR_FSTRING:
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST:
    case DV_EXPR_SET: return flow_exprs(f, &expr->as.list);
    case DV_EXPR_FORMAT:
        return flow_expr(f, expr->as.format.value) && flow_optional(f, expr->as.format.spec);
    case DV_EXPR_AND:
    case DV_EXPR_OR:
        return flow_expr(f, expr->as.list.items[0]) &&
               flow_uncertain(f, expr->as.list.items + 1, expr->as.list.count - 1);
    case DV_EXPR_DICT: return flow_dict(f, expr);
    case DV_EXPR_BINARY: return flow_expr(f, expr->as.binary.right);
    case DV_EXPR_UNARY:
    case DV_EXPR_STARRED: return flow_expr(f, expr->as.child);
    case DV_EXPR_YIELD:
    case DV_EXPR_YIELD_FROM: return flow_optional(f, expr->as.child);
    case DV_EXPR_COMPARE: return flow_compare(f, expr);
    case DV_EXPR_CONDITIONAL: return flow_conditional(f, expr);
    case DV_EXPR_LAMBDA: return flow_defaults(f, expr->as.function);
    case DV_EXPR_CALL: return flow_call(f, expr);
    case DV_EXPR_SUBSCRIPT: return flow_expr(f, expr->as.subscript.index);
    case DV_EXPR_SLICE:
        return flow_optional(f, expr->as.slice.start) && flow_optional(f, expr->as.slice.stop) &&
               flow_optional(f, expr->as.slice.step);
    case DV_EXPR_COMPREHENSION: return flow_expr(f, expr->as.comprehension.clauses[0].iterable);
    case DV_EXPR_NAMED:
        if (!flow_expr(f, expr->as.named.value)) return false;
        add(f->now, expr->as.named.target->as.name.symbol);
        return true;
    default: return true;
    }
}

static bool flow_expr(flow *f, dv_expr *root) {
    dv_expr *expr = dv_expr_leftmost(root);
    while (flow_node(f, expr)) {
        if (expr == root) return true;
        expr = expr->up;
    }
    return false;
}

/* ---- Statements ---- */

static bool flow_target(flow *f, dv_expr *target) {
    switch (target->kind) {
    case DV_EXPR_NAME: add(f->now, target->as.name.symbol); return true;
    case DV_EXPR_STARRED: return flow_target(f, target->as.child);
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST:
        for (uint32_t i = 0; i < target->as.list.count; i++)
            if (!flow_target(f, target->as.list.items[i])) return false;
        return true;
    default: return flow_expr(f, target);
    }
}

static bool flow_deleted(flow *f, dv_expr *target) {
    switch (target->kind) {
    case DV_EXPR_NAME: take_away(f->now, target->as.name.symbol); return true;
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST:
        for (uint32_t i = 0; i < target->as.list.count; i++)
            if (!flow_deleted(f, target->as.list.items[i])) return false;
        return true;
    default: return flow_expr(f, target);
    }
}

static bool flow_if(flow *f, const dv_stmt *stmt) {
    uint64_t *joined = new_full_set(f);
    if (joined == NULL) return false;
    for (uint32_t i = 0; i < stmt->as.branch.count; i++) {
        const dv_branch *branch = &stmt->as.branch.branches[i];
        if (!flow_expr(f, branch->test)) return false;
        int truth = dv_expr_truth(branch->test);
        uint64_t *otherwise = truth == 1 ? new_full_set(f) : copy_set(f, f->now);
        if (otherwise == NULL) return false;
        if (truth == 0) fill_set(f, f->now);
        if (!flow_block(f, &branch->body)) return false;
        set_intersect(f, joined, f->now);
        set_assign(f, f->now, otherwise);
    }
    if (!flow_block(f, &stmt->as.branch.otherwise)) return false;
    set_intersect(f, f->now, joined);
    return true;
}

static bool enter_loop(flow *f, loop *it, const dv_block *body) {
    uint64_t *deleted = new_set(f);
    *it = (loop){f->loop, new_full_set(f), new_set(f)};
    if (deleted == NULL || it->at_break == NULL || it->deleted == NULL) return false;
    collect_block(deleted, body);
    set_subtract(f, f->now, deleted);
    f->loop = it;
    return true;
}

/* `exit` is the state where the loop ends by itself. */
static bool leave_loop(flow *f, const loop *it, const uint64_t *exit, const dv_block *otherwise) {
    f->loop = it->outer;
    set_assign(f, f->now, exit);
    if (!flow_block(f, otherwise)) return false;
    set_intersect(f, f->now, it->at_break);
    return true;
}

static bool flow_while(flow *f, const dv_stmt *stmt) {
    loop it;
    if (!enter_loop(f, &it, &stmt->as.loop.body)) return false;
    if (!flow_expr(f, stmt->as.loop.test)) return false;
    int truth = dv_expr_truth(stmt->as.loop.test);
    uint64_t *exit = truth == 1 ? new_full_set(f) : copy_set(f, f->now);
    if (exit == NULL) return false;
    if (truth == 0) fill_set(f, f->now);
    if (!flow_block(f, &stmt->as.loop.body)) return false;
    return leave_loop(f, &it, exit, &stmt->as.loop.otherwise);
}

static bool flow_for(flow *f, const dv_stmt *stmt) {
    loop it;
    if (!flow_expr(f, stmt->as.each.iterable)) return false;
    if (!enter_loop(f, &it, &stmt->as.each.body)) return false;
    uint64_t *exit = copy_set(f, f->now);
    if (exit == NULL) return false;
    if (!flow_target(f, stmt->as.each.target)) return false;
    if (!flow_block(f, &stmt->as.each.body)) return false;
    return leave_loop(f, &it, exit, &stmt->as.each.otherwise);
}

static void flow_break(flow *f) {
    if (f->loop != NULL) {
        for (uint32_t i = 0; i < f->words; i++)
            f->loop->at_break[i] &= f->now[i] & ~f->loop->deleted[i];
    }
    fill_set(f, f->now);
}

/* An except clause.  Whatever leaves it, a break too, deletes its name. */
static bool flow_handler(flow *f, const dv_handler *handler) {
    if (!flow_optional(f, handler->type)) return false;
    if (handler->name == NULL) return flow_block(f, &handler->body);
    const dv_symbol *symbol = handler->name->as.name.symbol;
    bool crosses = f->loop != NULL && !contains(f->loop->deleted, symbol);
    if (crosses) add(f->loop->deleted, symbol);
    add(f->now, symbol);
    if (!flow_block(f, &handler->body)) return false;
    take_away(f->now, symbol);
    if (crosses) take_away(f->loop->deleted, symbol);
    return true;
}

static bool flow_handlers(flow *f, const dv_stmt *stmt, const uint64_t *before) {
    uint64_t *begin = copy_set(f, before), *deleted = new_set(f), *joined = copy_set(f, f->now);
    if (begin == NULL || deleted == NULL || joined == NULL) return false;
    collect_block(deleted, &stmt->as.attempt.body);
    set_subtract(f, begin, deleted);
    for (uint32_t i = 0; i < stmt->as.attempt.handler_count; i++) {
        set_assign(f, f->now, begin);
        if (!flow_handler(f, &stmt->as.attempt.handlers[i])) return false;
        set_intersect(f, joined, f->now);
    }
    set_assign(f, f->now, joined);
    return true;
}

static bool flow_try_except(flow *f, const dv_stmt *stmt) {
    uint64_t *before = copy_set(f, f->now);
    if (before == NULL || !flow_block(f, &stmt->as.attempt.body)) return false;
    if (!flow_block(f, &stmt->as.attempt.otherwise)) return false;
    return stmt->as.attempt.handler_count == 0 || flow_handlers(f, stmt, before);
}

static bool flow_try(flow *f, const dv_stmt *stmt) {
    if (!stmt->as.attempt.has_finally) return flow_try_except(f, stmt);
    uint64_t *weakest = copy_set(f, f->now), *lost = new_set(f), *deleted = new_set(f);
    uint64_t *crossed = f->loop == NULL ? deleted : copy_set(f, f->loop->deleted);
    if (weakest == NULL || lost == NULL || deleted == NULL || crossed == NULL) return false;
    collect_try(lost, stmt);
    set_subtract(f, weakest, lost);
    collect_block(deleted, &stmt->as.attempt.finally);
    if (f->loop != NULL) set_unite(f, f->loop->deleted, deleted);
    if (!flow_try_except(f, stmt)) return false;
    if (f->loop != NULL) set_assign(f, f->loop->deleted, crossed);
    uint64_t *normal = copy_set(f, f->now);
    if (normal == NULL) return false;
    set_assign(f, f->now, weakest);
    if (!flow_block(f, &stmt->as.attempt.finally)) return false;
    set_subtract(f, normal, deleted);
    set_unite(f, f->now, normal);
    return true;
}

static bool flow_with(flow *f, const dv_stmt *stmt) {
    uint64_t *weakest = NULL, *deleted = new_set(f);
    for (uint32_t i = 0; i < stmt->as.with.count; i++) {
        const dv_with_item *item = &stmt->as.with.items[i];
        if (!flow_expr(f, item->context)) return false;
        if (i == 0 && (weakest = copy_set(f, f->now)) == NULL) return false;
        if (item->target != NULL && !flow_target(f, item->target)) return false;
    }
    if (deleted == NULL || !flow_block(f, &stmt->as.with.body)) return false;
    collect_block(deleted, &stmt->as.with.body);
    set_subtract(f, weakest, deleted);
    set_intersect(f, f->now, weakest);
    return true;
}

static bool flow_assign(flow *f, const dv_stmt *stmt) {
    if (!flow_expr(f, stmt->as.assign.value)) return false;
    for (uint32_t i = 0; i < stmt->as.assign.targets.count; i++)
        if (!flow_target(f, stmt->as.assign.targets.items[i])) return false;
    return true;
}

static bool flow_end(flow *f, dv_expr *first, dv_expr *second) {
    if (!flow_optional(f, first) || !flow_optional(f, second)) return false;
    fill_set(f, f->now);
    return true;
}

static bool flow_assert(flow *f, const dv_stmt *stmt) {
    if (!flow_expr(f, stmt->as.assertion.test)) return false;
    dv_expr *message = stmt->as.assertion.message;
    return message == NULL || flow_uncertain(f, &message, 1);
}

/* A function, class or module is bound to a name of the current scope. */
static void flow_bound(flow *f, const dv_scope *scope, dv_name *name) {
    dv_name *mangled = dv_scope_mangle(f->front, scope->class_name, name);
    if (mangled != NULL) add(f->now, dv_scope_find(scope, mangled));
}

static bool flow_aliases(flow *f, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.import.count && stmt->as.import.aliases[i].target; i++)
        add(f->now, stmt->as.import.aliases[i].target->as.name.symbol);
    return true;
}

static bool flow_class(flow *f, const dv_class *klass) {
    if (!flow_exprs(f, &klass->decorators) || !flow_exprs(f, &klass->bases)) return false;
    for (uint32_t i = 0; i < klass->keyword_count; i++)
        if (!flow_expr(f, klass->keywords[i].value)) return false;
    flow_bound(f, klass->scope->parent, klass->name);
    return f->front->status == DV_LANG_OK;
}

static bool flow_annotations(flow *f, const dv_function *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (!flow_optional(f, function->parameters[i].annotation)) return false;
    return flow_optional(f, function->returns);
}

static bool flow_function(flow *f, const dv_function *function) {
    if (!flow_exprs(f, &function->decorators) || !flow_defaults(f, function) ||
        !flow_annotations(f, function))
        return false;
    flow_bound(f, function->scope->parent, function->name);
    return f->front->status == DV_LANG_OK;
}

static bool flow_stmt(flow *f, const dv_stmt *stmt) {
    switch (stmt->kind) {
    case DV_STMT_EXPR: return flow_expr(f, stmt->as.expr);
    case DV_STMT_ASSIGN: return flow_assign(f, stmt);
    case DV_STMT_AUGMENT:
        return flow_expr(f, stmt->as.augment.target) && flow_expr(f, stmt->as.augment.value) &&
               (stmt->as.augment.target->kind != DV_EXPR_NAME ||
                flow_target(f, stmt->as.augment.target));
    case DV_STMT_ANNOTATE:
        if (stmt->as.annotate.value == NULL)
            return stmt->as.annotate.target->kind == DV_EXPR_NAME ||
                   flow_expr(f, stmt->as.annotate.target);
        return flow_expr(f, stmt->as.annotate.value) && flow_target(f, stmt->as.annotate.target);
    case DV_STMT_DELETE:
        for (uint32_t i = 0; i < stmt->as.targets.count; i++)
            if (!flow_deleted(f, stmt->as.targets.items[i])) return false;
        return true;
    case DV_STMT_IF: return flow_if(f, stmt);
    case DV_STMT_WHILE: return flow_while(f, stmt);
    case DV_STMT_FOR: return flow_for(f, stmt);
    case DV_STMT_BREAK: flow_break(f); return true;
    case DV_STMT_CONTINUE: fill_set(f, f->now); return true;
    case DV_STMT_FUNCTION: return flow_function(f, stmt->as.function);
    case DV_STMT_RETURN: return flow_end(f, stmt->as.expr, NULL);
    case DV_STMT_CLASS: return flow_class(f, stmt->as.klass);
    case DV_STMT_TRY: return flow_try(f, stmt);
    case DV_STMT_RAISE: return flow_end(f, stmt->as.raise.exception, stmt->as.raise.cause);
    case DV_STMT_ASSERT: return flow_assert(f, stmt);
    case DV_STMT_IMPORT:
    case DV_STMT_FROM: return flow_aliases(f, stmt);
    case DV_STMT_PASS:
    case DV_STMT_GLOBAL:
    case DV_STMT_NONLOCAL: return true;
    case DV_STMT_WITH: return flow_with(f, stmt);
    }
    return true;
}

static bool flow_block(flow *f, const dv_block *block) {
    for (uint32_t i = 0; i < block->count; i++)
        if (!flow_stmt(f, block->items[i])) return false;
    return true;
}

/* Every part of a comprehension is evaluated behind the parts before it; nothing is deleted. */
bool dv_assign_comprehension(dv_front *front, const dv_expr *expr) {
    const dv_scope *scope = expr->as.comprehension.scope;
    flow f = {front, scope->local_count / 64 + 1, NULL, NULL};
    f.now = new_set(&f);
    if (f.now == NULL) return false;
    for (uint32_t i = 0; i < expr->as.comprehension.clause_count; i++) {
        const dv_clause *clause = &expr->as.comprehension.clauses[i];
        if (i > 0 && !flow_expr(&f, clause->iterable)) return false;
        if (!flow_target(&f, clause->target) || !flow_exprs(&f, &clause->conditions)) return false;
    }
    return flow_expr(&f, expr->as.comprehension.element) &&
           flow_optional(&f, expr->as.comprehension.value);
}

bool dv_assign_run(dv_front *front, const dv_function *function) {
    const dv_scope *scope = function->scope;
    flow f = {front, scope->local_count / 64 + 1, NULL, NULL};
    f.now = new_set(&f);
    if (f.now == NULL) return false;
    for (uint32_t i = 0; i < function->parameter_count; i++)
        add(f.now, dv_scope_find(scope, function->parameters[i].name));
    return flow_block(&f, &function->body);
}
