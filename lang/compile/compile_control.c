/* compile_control.c: control flow (compile_control.h).
 *
 * Loops, in the form a student reads:
 *
 *     head:  <test>; JUMP_IF_FALSE otherwise          head:  FOR_ITER otherwise; <store>
 *            <body>                                          <body>
 *     again: JUMP_BACK head                           again: JUMP_BACK head
 *     otherwise: <else>                               otherwise: <else>
 *     end:                                            end:
 *
 * try/except, with what is on the operand stack above the try statement's depth:
 *
 *            <body>  (exceptions go to `handler`); <else>; JUMP end
 *     handler: [exception]  ENTER_HANDLER  [previous exception]
 *            <type>; MATCH_EXCEPTION; JUMP_IF_FALSE next; store or POP_TOP  [previous]
 *            <clause>  (exceptions go to `cleanup`); LEAVE_HANDLER; JUMP end
 *     next:  ... [previous exception]
 *     cleanup: [previous exception]  SWAP 2; LEAVE_HANDLER; RERAISE
 *
 * with, likewise:
 *
 *            <context>; BEFORE_WITH  [exit, entered]  store or POP_TOP  [exit]
 *            <body>  (exceptions go to `handler`); exit(None, None, None); JUMP end
 *     handler: [exit, exception]  ENTER_HANDLER; WITH_EXCEPTION  [exit, previous, exception,
 * result] JUMP_IF_TRUE suppress cleanup: [exit, previous exception]  SWAP 2; LEAVE_HANDLER; RERAISE
 *     suppress: POP_TOP; LEAVE_HANDLER; POP_TOP
 *
 * A finally body is compiled once for every way into it: after the body, for each return, break or
 * continue that leaves the try statement, and for exceptions, as CPython does. */
#include "lang/compile/compile_control.h"

#include "lang/compile/compile_expression.h"
#include "lang/compile/compile_statement.h"

enum { MAX_REGIONS = 20 }; /* as CPython's CO_MAXBLOCKS */

static const dv_range no_range = {0, 0, 0, 0};

static bool ok(const dv_compiler *c) { return c->front->status == DV_LANG_OK; }

/* ---- Regions ---- */

/* Enters a region that keeps `height` entries on the operand stack. */
static bool enter(dv_compiler *c, dv_region *region, dv_region_kind kind, uint32_t height,
                  dv_range at) {
    *region = (dv_region){.kind = kind, .outer = c->region, .at = at};
    region->outer_handler = c->emit.handler;
    region->outer_depth = c->depth;
    if (++c->region_count > MAX_REGIONS) {
        dv_front_error(c->front, at, "too many statically nested blocks");
        return false;
    }
    c->region = region;
    c->depth += height;
    return true;
}

static void leave(dv_compiler *c) {
    c->emit.handler = c->region->outer_handler;
    c->depth = c->region->outer_depth;
    c->region = c->region->outer;
    c->region_count--;
}

/* e = None; del e, at the end of `except ... as e` */
static void forget_name(dv_compiler *c, const dv_expr *name) {
    if (name == NULL) return;
    dv_emit_a(&c->emit, DV_OP_LOAD_CONST, dv_emit_none(&c->emit), no_range);
    dv_compile_store_name(c, name->as.name.symbol, no_range);
    dv_compile_delete_name(c, name->as.name.symbol, no_range);
}

/* Brings what lies under the value to the top, if there is a value. */
static void bury(dv_compiler *c, bool value, dv_range at) {
    if (value) dv_emit_a(&c->emit, DV_OP_SWAP, 2, at);
}

/* exit(None, None, None): [exit] is consumed. */
static void call_exit(dv_compiler *c, dv_range at) {
    dv_emitter *e = &c->emit;
    dv_emit(e, DV_OP_PREPARE_CALL, at);
    for (int i = 0; i < 3; i++) dv_emit_a(e, DV_OP_LOAD_CONST, dv_emit_none(e), at);
    dv_emit_a(e, DV_OP_CALL, 3, at);
    dv_emit(e, DV_OP_POP_TOP, at);
}

/* A finally body on the way out; the value of a return stays below it. */
static bool run_finally(dv_compiler *c, const dv_region *region, bool value) {
    dv_region holder;
    if (!value) return dv_compile_block(c, region->finally);
    if (!enter(c, &holder, DV_REGION_VALUE, 1, region->at)) return false;
    bool done = dv_compile_block(c, region->finally);
    leave(c);
    return done;
}

/* Undoes one region, with the value of a return on top if `value`; afterwards the compiler's state
 * is that of the code around it. */
static bool unwind_one(dv_compiler *c, bool value, dv_range at) {
    const dv_region *region = c->region;
    dv_emitter *e = &c->emit;
    if (region->kind == DV_REGION_FOR || region->kind == DV_REGION_VALUE ||
        region->kind == DV_REGION_FINALLY_RAISED) {
        bury(c, value, at);
        dv_emit(e, DV_OP_POP_TOP, at);
    }
    leave(c);
    switch (region->kind) {
    case DV_REGION_FINALLY: return run_finally(c, region, value);
    case DV_REGION_EXCEPT:
    case DV_REGION_FINALLY_RAISED:
        bury(c, value, at);
        dv_emit(e, DV_OP_LEAVE_HANDLER, at);
        forget_name(c, region->name);
        break;
    case DV_REGION_WITH:
        bury(c, value, region->at);
        call_exit(c, region->at);
        break;
    default: break;
    }
    return ok(c);
}

/* The compiler's state, to go on with after code that leaves. */
typedef struct place {
    dv_region *region;
    uint32_t region_count, depth, handler;
} place;

static place remember(const dv_compiler *c) {
    return (place){c->region, c->region_count, c->depth, c->emit.handler};
}

static void restore(dv_compiler *c, const place *at) {
    c->region = at->region;
    c->region_count = at->region_count;
    c->depth = at->depth;
    c->emit.handler = at->handler;
}

/* ---- if ---- */

bool dv_compile_if(dv_compiler *c, const dv_stmt *stmt) {
    dv_emitter *e = &c->emit;
    dv_label end = dv_emit_new_label(e);
    for (uint32_t i = 0; i < stmt->as.branch.count; i++) {
        const dv_branch *branch = &stmt->as.branch.branches[i];
        bool last = i + 1 == stmt->as.branch.count && stmt->as.branch.otherwise.count == 0;
        dv_label next = last ? end : dv_emit_new_label(e);
        if (!dv_compile_jump(c, branch->test, branch->at, false, next)) return false;
        if (!dv_compile_block(c, &branch->body)) return false;
        if (last) break;
        dv_emit_jump(e, DV_OP_JUMP, end, dv_emit_last_range(e, branch->at));
        dv_emit_place(e, next);
    }
    if (!dv_compile_block(c, &stmt->as.branch.otherwise)) return false;
    dv_emit_place(e, end);
    return ok(c);
}

/* ---- Loops ---- */

static bool is_loop(const dv_region *region) {
    return region->kind == DV_REGION_WHILE || region->kind == DV_REGION_FOR;
}

/* The body, from the loop's head on, and the jump back; leaves the loop's region. */
static bool compile_loop_body(dv_compiler *c, const dv_block *body, dv_label head, dv_range at) {
    dv_emitter *e = &c->emit;
    if (!dv_compile_block(c, body)) return false;
    dv_emit_place(e, c->region->at_continue);
    dv_emit_jump(e, DV_OP_JUMP_BACK, head, dv_emit_last_range(e, at));
    leave(c);
    return ok(c);
}

static bool enter_loop(dv_compiler *c, dv_region *region, dv_region_kind kind, dv_range at) {
    if (!enter(c, region, kind, kind == DV_REGION_FOR ? 1 : 0, at)) return false;
    region->at_break = dv_emit_new_label(&c->emit);
    region->at_continue = dv_emit_new_label(&c->emit);
    return ok(c);
}

bool dv_compile_while(dv_compiler *c, const dv_stmt *stmt) {
    dv_emitter *e = &c->emit;
    dv_region loop;
    if (!enter_loop(c, &loop, DV_REGION_WHILE, stmt->at)) return false;
    dv_label head = dv_emit_head(e), otherwise = dv_emit_new_label(e);
    if (!dv_compile_jump(c, stmt->as.loop.test, stmt->at, false, otherwise)) return false;
    if (!compile_loop_body(c, &stmt->as.loop.body, head, stmt->at)) return false;
    dv_emit_place(e, otherwise);
    if (!dv_compile_block(c, &stmt->as.loop.otherwise)) return false;
    dv_emit_place(e, loop.at_break);
    return ok(c);
}

bool dv_compile_for(dv_compiler *c, const dv_stmt *stmt) {
    dv_emitter *e = &c->emit;
    dv_region loop;
    bool owned;
    if (!dv_compile_operand(c, stmt->as.each.iterable, false, &owned)) return false;
    dv_range at = stmt->at;
    dv_emit_a(e, DV_OP_GET_ITER, owned, at);
    if (!enter_loop(c, &loop, DV_REGION_FOR, stmt->at)) return false;
    dv_label head = dv_emit_head(e), otherwise = dv_emit_new_label(e);
    dv_emit_jump(e, DV_OP_FOR_ITER, otherwise, at);
    if (!dv_compile_store(c, stmt->as.each.target)) return false;
    if (!compile_loop_body(c, &stmt->as.each.body, head, at)) return false;
    dv_emit_place(e, otherwise);
    if (!dv_compile_block(c, &stmt->as.each.otherwise)) return false;
    dv_emit_place(e, loop.at_break);
    return ok(c);
}

static const dv_region *innermost_loop(const dv_compiler *c) {
    const dv_region *region = c->region;
    while (region != NULL && !is_loop(region)) region = region->outer;
    return region;
}

bool dv_compile_break(dv_compiler *c, const dv_stmt *stmt) {
    const dv_region *loop = innermost_loop(c);
    if (loop == NULL) {
        dv_front_error(c->front, stmt->at, "'break' outside loop");
        return false;
    }
    place here = remember(c);
    while (c->region != loop)
        if (!unwind_one(c, false, stmt->at)) return false;
    if (!unwind_one(c, false, stmt->at)) return false;
    dv_emit_jump(&c->emit, DV_OP_JUMP, loop->at_break, stmt->at);
    restore(c, &here);
    return ok(c);
}

bool dv_compile_continue(dv_compiler *c, const dv_stmt *stmt) {
    const dv_region *loop = innermost_loop(c);
    if (loop == NULL) {
        dv_front_error(c->front, stmt->at, "'continue' not properly in loop");
        return false;
    }
    place here = remember(c);
    while (c->region != loop)
        if (!unwind_one(c, false, stmt->at)) return false;
    dv_emit_jump(&c->emit, DV_OP_JUMP, loop->at_continue, stmt->at);
    restore(c, &here);
    return ok(c);
}

/* ---- return ---- */

/* A constant is loaded after everything is undone, any other value before. */
bool dv_compile_return(dv_compiler *c, const dv_stmt *stmt) {
    dv_emitter *e = &c->emit;
    if (c->scope->kind != DV_SCOPE_FUNCTION) {
        dv_front_error(c->front, stmt->at, "'return' outside function");
        return false;
    }
    dv_expr *result = stmt->as.expr;
    bool value = result != NULL && !dv_expr_is_constant(result);
    place here = remember(c);
    if (value && !dv_compile_owned(c, result)) return false;
    while (c->region != NULL)
        if (!unwind_one(c, value, stmt->at)) return false;
    if (result == NULL)
        dv_emit_a(e, DV_OP_LOAD_CONST, dv_emit_none(e), stmt->at);
    else if (!value && !dv_compile_owned(c, result))
        return false;
    dv_compile_leave(c, stmt->at);
    restore(c, &here);
    return ok(c);
}

/* ---- try ---- */

/* cleanup: [previous exception]; the code around handles what is raised again */
static void emit_cleanup(dv_compiler *c, uint32_t cleanup) {
    dv_emit_place_handler(&c->emit, cleanup);
    dv_emit_a(&c->emit, DV_OP_SWAP, 2, no_range);
    dv_emit(&c->emit, DV_OP_LEAVE_HANDLER, no_range);
    dv_emit(&c->emit, DV_OP_RERAISE, no_range);
}

/* The test of an except clause: jumps to `next` if the exception does not match. */
static bool compile_match(dv_compiler *c, const dv_handler *handler, dv_label next) {
    dv_emitter *e = &c->emit;
    if (handler->type == NULL) return true;
    if (!dv_compile_owned(c, handler->type)) return false;
    dv_emit(e, DV_OP_MATCH_EXCEPTION, handler->at);
    dv_emit_branch(e, DV_OP_JUMP_IF_FALSE, next, 1, handler->at);
    return ok(c);
}

/* The clause's body; the exception is on top of the previous one.  In a named clause an exception
 * passes through code that forgets the name. */
static bool compile_clause(dv_compiler *c, const dv_handler *handler, uint32_t cleanup,
                           uint32_t outer, dv_label end) {
    dv_emitter *e = &c->emit;
    dv_region region;
    bool named = handler->name != NULL;
    if (named)
        dv_compile_store_name(c, handler->name->as.name.symbol, handler->at);
    else
        dv_emit(e, DV_OP_POP_TOP, handler->at);
    if (!enter(c, &region, DV_REGION_EXCEPT, 1, handler->at)) return false;
    region.outer_handler = outer;
    region.name = handler->name;
    uint32_t forget = named ? dv_emit_new_handler(e, c->depth) : cleanup;
    e->handler = forget;
    if (!ok(c) || !dv_compile_block(c, &handler->body)) return false;
    leave(c);
    if (e->reachable) {
        dv_range at = dv_emit_last_range(e, handler->at);
        dv_emit(e, DV_OP_LEAVE_HANDLER, at);
        forget_name(c, handler->name);
        dv_emit_jump(e, DV_OP_JUMP, end, at);
    }
    if (named) {
        dv_emit_place_handler(e, forget);
        e->handler = cleanup;
        forget_name(c, handler->name);
        dv_emit_jump(e, DV_OP_JUMP, dv_emit_handler_label(e, cleanup), no_range);
    }
    e->handler = outer;
    return ok(c);
}

static bool compile_clauses(dv_compiler *c, const dv_stmt *stmt, uint32_t cleanup, dv_label end) {
    dv_emitter *e = &c->emit;
    uint32_t outer = e->handler;
    for (uint32_t i = 0; i < stmt->as.attempt.handler_count; i++) {
        const dv_handler *handler = &stmt->as.attempt.handlers[i];
        if (handler->type == NULL && i + 1 < stmt->as.attempt.handler_count) {
            dv_front_error(c->front, handler->at, "default 'except:' must be last");
            return false;
        }
        dv_label next = dv_emit_new_label(e);
        e->handler = cleanup;
        if (!compile_match(c, handler, next)) return false;
        if (!compile_clause(c, handler, cleanup, outer, end)) return false;
        dv_emit_place(e, next);
    }
    return true;
}

static bool compile_try_except(dv_compiler *c, const dv_stmt *stmt) {
    dv_emitter *e = &c->emit;
    dv_region body;
    uint32_t handler = dv_emit_new_handler(e, c->depth);
    dv_label end = dv_emit_new_label(e);
    if (!ok(c) || !enter(c, &body, DV_REGION_TRY, 0, stmt->at)) return false;
    e->handler = handler;
    if (!dv_compile_block(c, &stmt->as.attempt.body)) return false;
    leave(c);
    if (!dv_compile_block(c, &stmt->as.attempt.otherwise)) return false;
    dv_emit_jump(e, DV_OP_JUMP, end, dv_emit_last_range(e, stmt->at));
    dv_emit_place_handler(e, handler);
    dv_emit(e, DV_OP_ENTER_HANDLER, no_range);
    uint32_t cleanup = dv_emit_new_handler(e, c->depth + 1);
    if (!ok(c) || !compile_clauses(c, stmt, cleanup, end)) return false;
    emit_cleanup(c, cleanup);
    dv_emit_place(e, end);
    return ok(c);
}

/* The finally body for exceptions: [exception] on the stack. */
static bool compile_finally_raised(dv_compiler *c, const dv_stmt *stmt) {
    dv_emitter *e = &c->emit;
    dv_region region;
    dv_emit(e, DV_OP_ENTER_HANDLER, no_range);
    uint32_t cleanup = dv_emit_new_handler(e, c->depth + 1);
    if (!ok(c) || !enter(c, &region, DV_REGION_FINALLY_RAISED, 2, stmt->at)) return false;
    e->handler = cleanup;
    if (!dv_compile_block(c, &stmt->as.attempt.finally)) return false;
    leave(c);
    emit_cleanup(c, cleanup);
    return ok(c);
}

static bool compile_try_finally(dv_compiler *c, const dv_stmt *stmt) {
    dv_emitter *e = &c->emit;
    dv_region body;
    uint32_t handler = dv_emit_new_handler(e, c->depth);
    dv_label end = dv_emit_new_label(e);
    if (!ok(c) || !enter(c, &body, DV_REGION_FINALLY, 0, stmt->at)) return false;
    body.finally = &stmt->as.attempt.finally;
    e->handler = handler;
    bool except = stmt->as.attempt.handler_count > 0;
    if (except ? !compile_try_except(c, stmt) : !dv_compile_block(c, &stmt->as.attempt.body))
        return false;
    leave(c);
    if (!dv_compile_block(c, &stmt->as.attempt.finally)) return false;
    dv_emit_jump(e, DV_OP_JUMP, end, dv_emit_last_range(e, stmt->at));
    dv_emit_place_handler(e, handler);
    if (!compile_finally_raised(c, stmt)) return false;
    dv_emit_place(e, end);
    return ok(c);
}

bool dv_compile_try(dv_compiler *c, const dv_stmt *stmt) {
    return stmt->as.attempt.has_finally ? compile_try_finally(c, stmt)
                                        : compile_try_except(c, stmt);
}

/* ---- with ---- */

/* The exceptional end: [exit, exception] on the stack. */
static bool compile_exit_raised(dv_compiler *c, dv_range at) {
    dv_emitter *e = &c->emit;
    uint32_t outer = e->handler;
    dv_emit(e, DV_OP_ENTER_HANDLER, no_range);
    uint32_t cleanup = dv_emit_new_handler(e, c->depth + 2);
    dv_label suppress = dv_emit_new_label(e);
    if (!ok(c)) return false;
    e->handler = cleanup;
    dv_emit(e, DV_OP_WITH_EXCEPTION, at);
    dv_emit_branch(e, DV_OP_JUMP_IF_TRUE, suppress, 1, at);
    e->handler = outer;
    emit_cleanup(c, cleanup);
    dv_emit_place(e, suppress);
    dv_emit(e, DV_OP_POP_TOP, no_range);
    dv_emit(e, DV_OP_LEAVE_HANDLER, no_range);
    dv_emit(e, DV_OP_POP_TOP, no_range);
    return ok(c);
}

/* Item i with all that it encloses: the items behind it, or the body. */
static bool compile_with_item(dv_compiler *c, const dv_stmt *stmt, uint32_t i) {
    dv_emitter *e = &c->emit;
    const dv_with_item *item = &stmt->as.with.items[i];
    dv_region region;
    if (!dv_compile_owned(c, item->context)) return false;
    dv_emit(e, DV_OP_BEFORE_WITH, stmt->at);
    uint32_t handler = dv_emit_new_handler(e, c->depth + 1);
    dv_label end = dv_emit_new_label(e);
    if (!ok(c) || !enter(c, &region, DV_REGION_WITH, 1, stmt->at)) return false;
    e->handler = handler;
    if (item->target == NULL)
        dv_emit(e, DV_OP_POP_TOP, stmt->at);
    else if (!dv_compile_store(c, item->target))
        return false;
    bool last = i + 1 == stmt->as.with.count;
    if (last ? !dv_compile_block(c, &stmt->as.with.body) : !compile_with_item(c, stmt, i + 1))
        return false;
    leave(c);
    call_exit(c, stmt->at);
    dv_emit_jump(e, DV_OP_JUMP, end, stmt->at);
    dv_emit_place_handler(e, handler);
    if (!compile_exit_raised(c, stmt->at)) return false;
    dv_emit_place(e, end);
    return ok(c);
}

bool dv_compile_with(dv_compiler *c, const dv_stmt *stmt) { return compile_with_item(c, stmt, 0); }
