/* compile_expression.c: code for expressions (compile_expression.h). */
#include "lang/compile/compile_expression.h"

#include "lang/compile/compile_comprehension.h"
#include "lang/complain/warn.h"

#include <string.h>

/* Opcodes are computed from operators: the lists must have one order. */
_Static_assert(DV_OP_XOR - DV_OP_ADD == (int)DV_OPERATOR_XOR, "binary operators");
_Static_assert(DV_OP_NOT - DV_OP_NEG == (int)DV_UNARY_NOT, "unary operators");
_Static_assert(DV_OP_NE - DV_OP_LT == (int)DV_COMPARISON_NE, "comparisons");

/* The operand stack is limited (code/verify.c). */
enum { PIECE = 4096, MAX_ARGUMENTS = 32767, MOST_INDICES = 8 };

static bool ok(const dv_compiler *c) { return c->front->status == DV_LANG_OK; }

/* The range of an instruction that gets, sets or deletes an attribute: if the object's expression
 * spans lines, only the line of the attribute's name counts, as in CPython. */
static dv_range attribute_range(const dv_expr *attribute, dv_range at) {
    dv_range name = attribute->at;
    if (at.line == name.end_line) return at;
    at.line = name.end_line;
    uint32_t size = attribute->as.attribute.name->text.size;
    at.column = size <= name.end_column ? name.end_column - size : 0;
    return at;
}

/* ---- Names and constants ---- */

static uint8_t by_access(dv_access access, uint8_t local, uint8_t cell, uint8_t global,
                         uint8_t namespace) {
    switch (access) {
    case DV_ACCESS_LOCAL: return local;
    case DV_ACCESS_CELL: return cell;
    case DV_ACCESS_GLOBAL: return global;
    case DV_ACCESS_NAMESPACE: break;
    }
    return namespace;
}

static uint32_t name_operand(dv_compiler *c, const dv_symbol *symbol) {
    if (symbol->access == DV_ACCESS_LOCAL || symbol->access == DV_ACCESS_CELL) return symbol->index;
    return c->emit.reachable ? dv_emit_name(&c->emit, symbol->name) : 0;
}

static void load_name(dv_compiler *c, const dv_expr *expr) {
    const dv_symbol *symbol = expr->as.name.symbol;
    uint8_t check = dv_scope_binds(symbol) ? DV_OP_LOAD_LOCAL_CHECK : DV_OP_LOAD_OUTER_CHECK;
    uint8_t local = expr->assigned ? DV_OP_LOAD_LOCAL : check;
    uint8_t op =
        by_access(symbol->access, local, DV_OP_LOAD_CELL, DV_OP_LOAD_GLOBAL, DV_OP_LOAD_NAME);
    dv_emit_a(&c->emit, op, name_operand(c, symbol), expr->at);
}

void dv_compile_store_name(dv_compiler *c, const dv_symbol *symbol, dv_range at) {
    uint8_t op = by_access(symbol->access, DV_OP_STORE_LOCAL, DV_OP_STORE_CELL, DV_OP_STORE_GLOBAL,
                           DV_OP_STORE_NAME);
    dv_emit_a(&c->emit, op, name_operand(c, symbol), at);
}

void dv_compile_delete_name(dv_compiler *c, const dv_symbol *symbol, dv_range at) {
    uint8_t op = by_access(symbol->access, DV_OP_DELETE_LOCAL, DV_OP_DELETE_CELL,
                           DV_OP_DELETE_GLOBAL, DV_OP_DELETE_NAME);
    dv_emit_a(&c->emit, op, name_operand(c, symbol), at);
}

static void load_constant(dv_compiler *c, const dv_expr *expr, uint8_t op) {
    dv_emit_a(&c->emit, op, dv_emit_constant(&c->emit, &expr->as.constant), expr->at);
}

static bool is_assigned_local(const dv_expr *expr) {
    return expr->kind == DV_EXPR_NAME && expr->assigned &&
           expr->as.name.symbol->access == DV_ACCESS_LOCAL;
}

/* Can the expression be evaluated again without anybody noticing? */
static bool is_repeatable(const dv_expr *expr) {
    return dv_expr_is_constant(expr) || is_assigned_local(expr);
}

/* True, with a borrowed load emitted, if the expression is one that can be borrowed. */
static bool borrow(dv_compiler *c, const dv_expr *expr, bool lasting) {
    if (dv_expr_is_constant(expr)) {
        load_constant(c, expr, DV_OP_LOAD_CONST_B);
        return true;
    }
    if (lasting || !is_assigned_local(expr)) return false;
    dv_emit_a(&c->emit, DV_OP_LOAD_LOCAL_B, expr->as.name.symbol->index, expr->at);
    return true;
}

/* ---- Calls ---- */

static bool compile_arguments(dv_compiler *c, const dv_expr *call) {
    const dv_exprs *arguments = &call->as.call.arguments;
    for (uint32_t i = 0; i < arguments->count; i++)
        if (!dv_compile_owned(c, arguments->items[i])) return false;
    for (uint32_t i = 0; i < call->as.call.keyword_count; i++)
        if (!dv_compile_owned(c, call->as.call.keywords[i].value)) return false;
    return true;
}

/* The names of the keyword arguments, a constant tuple. */
static uint32_t keyword_names(dv_compiler *c, const dv_expr *call) {
    uint32_t count = call->as.call.keyword_count;
    dv_literal *items = dv_front_scratch(c->front, count * sizeof *items);
    if (items == NULL) return 0;
    for (uint32_t i = 0; i < count; i++) {
        items[i].kind = DV_CONST_STR;
        items[i].as.text = call->as.call.keywords[i].name->text;
    }
    dv_literal tuple = {.kind = DV_CONST_TUPLE};
    tuple.as.tuple.items = items;
    tuple.as.tuple.count = count;
    return dv_emit_constant(&c->emit, &tuple);
}

static bool has_star(const dv_exprs *items) {
    for (uint32_t i = 0; i < items->count; i++)
        if (items->items[i]->kind == DV_EXPR_STARRED) return true;
    return false;
}

static bool is_starred_call(const dv_expr *call) {
    for (uint32_t i = 0; i < call->as.call.keyword_count; i++)
        if (call->as.call.keywords[i].name == NULL) return true;
    return has_star(&call->as.call.arguments);
}

/* A list of items of which some are starred: runs of others are extended by the starred ones. */
static bool compile_starred_list(dv_compiler *c, const dv_exprs *items, dv_range at) {
    dv_emitter *e = &c->emit;
    uint32_t run = 0;
    bool begun = false;
    for (uint32_t i = 0; i <= items->count; i++) {
        dv_expr *item = i < items->count ? items->items[i] : NULL;
        bool plain = item != NULL && item->kind != DV_EXPR_STARRED;
        if (!plain || run == PIECE) {
            if (run == 1 && begun) {
                dv_emit_a(e, DV_OP_LIST_APPEND, 1, at);
            } else {
                if (run > 0 || !begun) dv_emit_a(e, DV_OP_BUILD_LIST, run, at);
                if (run > 0 && begun) dv_emit(e, DV_OP_LIST_EXTEND, at);
            }
            begun = true;
            run = 0;
        }
        if (item == NULL) break;
        if (!dv_compile_owned(c, plain ? item : item->as.child)) return false;
        if (plain)
            run++;
        else
            dv_emit(e, DV_OP_LIST_EXTEND, at);
    }
    return ok(c);
}

/* The positional arguments of a starred call as one value: a tuple, a list of their own, or what is
 * unpacked. */
static bool compile_positional(dv_compiler *c, const dv_expr *call) {
    const dv_exprs *items = &call->as.call.arguments;
    if (items->count == 1 && items->items[0]->kind == DV_EXPR_STARRED)
        return dv_compile_owned(c, items->items[0]->as.child);
    if (items->count <= PIECE && !has_star(items)) {
        for (uint32_t i = 0; i < items->count; i++)
            if (!dv_compile_owned(c, items->items[i])) return false;
        dv_emit_a(&c->emit, DV_OP_BUILD_TUPLE, items->count, call->at);
        return ok(c);
    }
    return compile_starred_list(c, items, call->at); /* whose items the call takes over */
}

/* Keyword arguments, some of which may be dicts with `**`, as a dict; `join` adds to it. */
static bool compile_named(dv_compiler *c, const dv_keyword *keywords, uint32_t count, uint8_t join,
                          dv_range at) {
    dv_emitter *e = &c->emit;
    uint32_t run = 0;
    bool begun = false;
    for (uint32_t i = 0; i <= count; i++) {
        const dv_keyword *keyword = i < count ? &keywords[i] : NULL;
        bool named = keyword != NULL && keyword->name != NULL;
        if (!named || run == PIECE) {
            if (run > 0 || !begun) dv_emit_a(e, DV_OP_BUILD_DICT, run, at);
            if (run > 0 && begun) dv_emit(e, join, at);
            begun = true;
            run = 0;
        }
        if (keyword == NULL) break;
        if (named) dv_emit_a(e, DV_OP_LOAD_CONST, dv_emit_text(e, keyword->name->text), at);
        if (!dv_compile_owned(c, keyword->value)) return false;
        if (named)
            run++;
        else
            dv_emit(e, join, at);
    }
    return ok(c);
}

bool dv_compile_class_arguments(dv_compiler *c, const dv_class *klass, dv_range at) {
    if (klass->bases.count <= PIECE && !has_star(&klass->bases)) {
        for (uint32_t i = 0; i < klass->bases.count; i++)
            if (!dv_compile_owned(c, klass->bases.items[i])) return false;
        dv_emit_a(&c->emit, DV_OP_BUILD_TUPLE, klass->bases.count, at);
    } else {
        if (!compile_starred_list(c, &klass->bases, at)) return false;
        dv_emit(&c->emit, DV_OP_LIST_TO_TUPLE, at);
    }
    return klass->keyword_count == 0 ||
           compile_named(c, klass->keywords, klass->keyword_count, DV_OP_CLASS_MERGE, at);
}

static bool finish_starred_call(dv_compiler *c, const dv_expr *call) {
    const dv_keyword *keywords = call->as.call.keywords;
    uint32_t named = call->as.call.keyword_count;
    if (!compile_positional(c, call)) return false;
    if (named == 1 && !keywords->name) { /* CALL_EX takes any mapping */
        if (!dv_compile_owned(c, keywords->value)) return false;
    } else if (named > 0 && !compile_named(c, keywords, named, DV_OP_DICT_MERGE, call->at)) {
        return false;
    }
    dv_emit_a(&c->emit, DV_OP_CALL_EX, named > 0, call->at);
    return ok(c);
}

/* The callee, prepared, is on the stack. */
static bool finish_call(dv_compiler *c, const dv_expr *call) {
    if (is_starred_call(call)) return finish_starred_call(c, call);
    const dv_expr *callee = call->as.call.callee;
    bool method = callee->kind == DV_EXPR_ATTRIBUTE;
    if (call->as.call.arguments.count + call->as.call.keyword_count > MAX_ARGUMENTS) {
        dv_front_error(c->front, call->at, "more than %d arguments in a call", MAX_ARGUMENTS);
        return false;
    }
    dv_range at = method ? attribute_range(callee, call->at) : call->at;
    const bool joined = dv_compile_is_joined(call);
    if (joined && !dv_compile_joined(c, call->as.call.arguments.items[0], at)) return false;
    if (!joined && !compile_arguments(c, call)) return false;
    uint32_t count = call->as.call.arguments.count + call->as.call.keyword_count;
    if (call->as.call.keyword_count == 0)
        dv_emit_a(&c->emit, method ? DV_OP_CALL_METHOD : DV_OP_CALL, count, at);
    else
        dv_emit_ab(&c->emit, method ? DV_OP_CALL_METHOD_KW : DV_OP_CALL_KW, count,
                   keyword_names(c, call), at);
    return ok(c);
}

/* ---- Left spines ---- */

static bool is_called(const dv_expr *expr, const dv_expr *root) {
    return expr != root && expr->up->kind == DV_EXPR_CALL;
}

/* Whether the node is an attribute that LOAD_METHOD prepares for a call. */
static bool is_method(const dv_expr *expr, const dv_expr *root) {
    return expr->kind == DV_EXPR_ATTRIBUTE && is_called(expr, root) && !is_starred_call(expr->up);
}

/* Whether the node's left operand must be owned, since something evaluated after it may store. */
static bool left_lasts(const dv_expr *parent) {
    switch (parent->kind) {
    case DV_EXPR_BINARY: return parent->as.binary.right->stores;
    case DV_EXPR_SUBSCRIPT: return parent->as.subscript.index->stores;
    default: return false;
    }
}

/* Whether the consumer of the node's left operand has no `own` operand. */
static bool left_is_owned(const dv_expr *parent, const dv_expr *root) {
    return parent->kind == DV_EXPR_CALL || is_method(parent, root);
}

static bool compile_binary(dv_compiler *c, const dv_expr *expr, bool left_owned) {
    bool right_owned;
    if (!dv_compile_operand(c, expr->as.binary.right, false, &right_owned)) return false;
    dv_emit_a(&c->emit, (uint8_t)(DV_OP_ADD + expr->op),
              (uint32_t)left_owned | (uint32_t)right_owned << 1, expr->at);
    return true;
}

static bool compile_index(dv_compiler *c, dv_expr *index, bool *owned);

static bool compile_subscript(dv_compiler *c, const dv_expr *expr, bool container_owned) {
    bool index_owned;
    if (!compile_index(c, expr->as.subscript.index, &index_owned)) return false;
    dv_emit_a(&c->emit, DV_OP_LOAD_SUBSCR, (uint32_t)container_owned | (uint32_t)index_owned << 1,
              expr->at);
    return true;
}

static void compile_attribute(dv_compiler *c, const dv_expr *expr, bool object_owned, bool called) {
    uint32_t name = c->emit.reachable ? dv_emit_name(&c->emit, expr->as.attribute.name) : 0;
    dv_range at = attribute_range(expr, expr->at);
    if (called)
        dv_emit_a(&c->emit, DV_OP_LOAD_METHOD, name, at);
    else
        dv_emit_ab(&c->emit, DV_OP_LOAD_ATTR, name, object_owned, at);
}

/* The left operand is on the stack; finishes the node. */
static bool finish_node(dv_compiler *c, const dv_expr *expr, const dv_expr *root, bool left_owned) {
    switch (expr->kind) {
    case DV_EXPR_BINARY: return compile_binary(c, expr, left_owned);
    case DV_EXPR_SUBSCRIPT: return compile_subscript(c, expr, left_owned);
    case DV_EXPR_ATTRIBUTE:
        compile_attribute(c, expr, left_owned, is_method(expr, root));
        return true;
    default: return finish_call(c, expr);
    }
}

/* ---- Operators ---- */

static bool compile_unary(dv_compiler *c, const dv_expr *expr) {
    bool owned;
    if (!dv_compile_operand(c, expr->as.child, false, &owned)) return false;
    dv_emit_a(&c->emit, (uint8_t)(DV_OP_NEG + expr->op), owned, expr->at);
    return true;
}

static bool is_negated(const dv_expr *expr) {
    return expr->kind == DV_EXPR_COMPARE && expr->as.compare.rights.count == 1 &&
           dv_compile_is_negated(expr, 0);
}

/* and, or: each value but the last is the result if it decides.  `a is not b` is made where it
 * decides only. */
static bool compile_boolean(dv_compiler *c, const dv_expr *expr) {
    dv_emitter *e = &c->emit;
    const bool decides = expr->kind == DV_EXPR_OR;
    const uint8_t op = decides ? DV_OP_JUMP_IF_TRUE_OR_POP : DV_OP_JUMP_IF_FALSE_OR_POP;
    const uint32_t last = expr->as.list.count - 1;
    dv_label end = dv_emit_new_label(e), decided = dv_emit_new_label(e);
    bool any = false;
    for (uint32_t i = 0; i < last; i++) {
        dv_expr *item = expr->as.list.items[i];
        if (is_negated(item)) {
            if (!dv_compile_jump(c, item, expr->at, decides, decided)) return false;
            any = true;
            continue;
        }
        if (!dv_compile_owned(c, item)) return false;
        dv_emit_jump(e, op, end, expr->at);
    }
    if (!dv_compile_owned(c, expr->as.list.items[last])) return false;
    if (any) {
        const dv_literal truth = {.kind = decides ? DV_CONST_TRUE : DV_CONST_FALSE};
        dv_emit_jump(e, DV_OP_JUMP, end, expr->at);
        dv_emit_place(e, decided);
        dv_emit_a(e, DV_OP_LOAD_CONST, dv_emit_constant(e, &truth), expr->at);
    }
    dv_emit_place(e, end);
    return ok(c);
}

static bool any_stores(const dv_exprs *exprs, uint32_t from) {
    for (uint32_t i = from; i < exprs->count; i++)
        if (exprs->items[i]->stores) return true;
    return false;
}

bool dv_compile_is_negated(const dv_expr *compare, uint32_t i) {
    const uint8_t op = compare->as.compare.ops[i];
    return op == DV_COMPARISON_IS_NOT || op == DV_COMPARISON_NOT_IN;
}

static uint8_t comparison(const dv_expr *compare, uint32_t i) {
    const uint8_t op = compare->as.compare.ops[i];
    if (op <= DV_COMPARISON_NE) return (uint8_t)(DV_OP_LT + op);
    return op == DV_COMPARISON_IS || op == DV_COMPARISON_IS_NOT ? DV_OP_IS : DV_OP_IN;
}

/* One link of a comparison chain: the left operand is on the stack.  If another link follows, the
 * right operand is kept below the result, as *copied says, unless it can simply be loaded again.
 * Of one that is negated the result is the opposite. */
static bool compile_link(dv_compiler *c, const dv_expr *expr, uint32_t i, bool *left_owned,
                         bool *copied) {
    dv_emitter *e = &c->emit;
    dv_expr *right = expr->as.compare.rights.items[i];
    bool last = i + 1 == expr->as.compare.rights.count, right_owned = true;
    *copied = !last && !is_repeatable(right);
    if (*copied) {
        if (!dv_compile_owned(c, right)) return false;
        dv_emit_a(e, DV_OP_SWAP, 2, expr->at);
        dv_emit_a(e, DV_OP_COPY, 2, expr->at);
    } else if (!dv_compile_operand(c, right, false, &right_owned)) {
        return false;
    }
    dv_emit_a(e, comparison(expr, i), (uint32_t)*left_owned | (uint32_t)right_owned << 1, expr->at);
    *left_owned = true;
    return ok(c);
}

/* The left operand of the next link, where it was not kept on the stack. */
static bool reload_link(dv_compiler *c, const dv_expr *expr, uint32_t i, bool *left_owned) {
    bool lasting = any_stores(&expr->as.compare.rights, i + 1);
    return dv_compile_operand(c, expr->as.compare.rights.items[i], lasting, left_owned);
}

/* (a, b) < (c, d): are two tuples compared that are written down, of which nothing else is seen? */
static bool compares_displays(const dv_expr *expr) {
    const dv_exprs *rights = &expr->as.compare.rights;
    const dv_expr *left = expr->as.compare.left, *right = rights->items[0];
    if (rights->count != 1 || expr->as.compare.ops[0] > DV_COMPARISON_NE) return false;
    if (left->kind != DV_EXPR_TUPLE || right->kind != DV_EXPR_TUPLE) return false;
    const uint32_t count = left->as.list.count;
    return count > 0 && count <= PIECE / 2 && count == right->as.list.count &&
           !has_star(&left->as.list) && !has_star(&right->as.list);
}

static bool compile_compare_displays(dv_compiler *c, const dv_expr *expr) {
    const dv_exprs *sides[] = {&expr->as.compare.left->as.list,
                               &expr->as.compare.rights.items[0]->as.list};
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < sides[side]->count; i++)
            if (!dv_compile_owned(c, sides[side]->items[i])) return false;
    dv_emit_ab(&c->emit, DV_OP_COMPARE_ITEMS, 2 * sides[0]->count, expr->as.compare.ops[0],
               expr->at);
    return ok(c);
}

static bool compile_compare(dv_compiler *c, const dv_expr *expr) {
    const dv_exprs *rights = &expr->as.compare.rights;
    dv_emitter *e = &c->emit;
    bool left_owned, copied = false, ever_copied = false;
    dv_warn_compare(c->front, expr);
    if (compares_displays(expr)) return compile_compare_displays(c, expr);
    if (!dv_compile_operand(c, expr->as.compare.left, any_stores(rights, 0), &left_owned))
        return false;
    dv_label end = dv_emit_new_label(e), clean = dv_emit_new_label(e);
    for (uint32_t i = 0; i < rights->count; i++) {
        if (!compile_link(c, expr, i, &left_owned, &copied)) return false;
        if (dv_compile_is_negated(expr, i)) dv_emit_a(e, DV_OP_NOT, 1, expr->at);
        if (i + 1 == rights->count) break;
        ever_copied = ever_copied || copied;
        dv_emit_jump(e, DV_OP_JUMP_IF_FALSE_OR_POP, copied ? clean : end, expr->at);
        if (!copied && !reload_link(c, expr, i, &left_owned)) return false;
    }
    if (ever_copied) {
        dv_emit_jump(e, DV_OP_JUMP, end, expr->at);
        dv_emit_place(e, clean);
        dv_emit_a(e, DV_OP_SWAP, 2, expr->at);
        dv_emit(e, DV_OP_POP_TOP, expr->at);
    }
    dv_emit_place(e, end);
    return ok(c);
}

static bool compile_conditional(dv_compiler *c, const dv_expr *expr) {
    dv_emitter *e = &c->emit;
    dv_label otherwise = dv_emit_new_label(e), end = dv_emit_new_label(e);
    if (!dv_compile_jump(c, expr->as.conditional.test, expr->at, false, otherwise)) return false;
    if (!dv_compile_owned(c, expr->as.conditional.body)) return false;
    dv_emit_jump(e, DV_OP_JUMP, end, expr->at);
    dv_emit_place(e, otherwise);
    if (!dv_compile_owned(c, expr->as.conditional.otherwise)) return false;
    dv_emit_place(e, end);
    return ok(c);
}

static bool compile_walrus(dv_compiler *c, const dv_expr *expr) {
    if (!dv_compile_owned(c, expr->as.named.value)) return false;
    dv_emit_a(&c->emit, DV_OP_COPY, 1, expr->at);
    return dv_compile_store(c, expr->as.named.target);
}

/* ---- Displays ---- */

/* A long display is built in pieces, which `join` puts together, in place. */

static void finish_piece(dv_compiler *c, const dv_expr *expr, uint32_t done, uint32_t total,
                         uint8_t build, uint8_t join) {
    bool full = done % PIECE == 0, last = done == total;
    if (!full && !last) return;
    uint32_t size = full ? (done == 0 ? 0 : PIECE) : done % PIECE;
    dv_emit_a(&c->emit, build, size, expr->at);
    if (done > PIECE) dv_emit_a(&c->emit, join, 3 | DV_OWN_INPLACE, expr->at);
}

static bool compile_display(dv_compiler *c, const dv_expr *expr, uint8_t build, uint8_t join) {
    if (has_star(&expr->as.list)) {
        if (!compile_starred_list(c, &expr->as.list, expr->at)) return false;
        if (expr->kind == DV_EXPR_TUPLE) dv_emit(&c->emit, DV_OP_LIST_TO_TUPLE, expr->at);
        return ok(c);
    }
    uint32_t total = expr->as.list.count;
    if (total == 0) finish_piece(c, expr, 0, 0, build, join);
    for (uint32_t i = 0; i < total; i++) {
        if (!dv_compile_owned(c, expr->as.list.items[i])) return false;
        finish_piece(c, expr, i + 1, total, build, join);
    }
    return ok(c);
}

static bool are_constants(const dv_exprs *items) {
    for (uint32_t i = 0; i < items->count; i++)
        if (!dv_expr_is_constant(items->items[i])) return false;
    return true;
}

/* Three or more constants: an empty set is updated with their frozenset, as in CPython, which
 * decides the order of iteration. */
static void emit_constant_set(dv_compiler *c, const dv_expr *expr) {
    const dv_exprs *items = &expr->as.list;
    dv_literal *literals = dv_front_scratch(c->front, items->count * sizeof *literals);
    if (literals == NULL) return;
    for (uint32_t i = 0; i < items->count; i++) literals[i] = items->items[i]->as.constant;
    dv_literal set = {.kind = DV_CONST_FROZENSET};
    set.as.tuple.items = literals;
    set.as.tuple.count = items->count;
    dv_emit_a(&c->emit, DV_OP_BUILD_SET, 0, expr->at);
    dv_emit_a(&c->emit, DV_OP_LOAD_CONST, dv_emit_constant(&c->emit, &set), expr->at);
    dv_emit(&c->emit, DV_OP_SET_UPDATE, expr->at);
}

/* The index of a subscript that loads or stores.  A tuple that is made in front of it may be left
 * out. */
static bool compile_index(dv_compiler *c, dv_expr *index, bool *owned) {
    bool is_key = index->kind == DV_EXPR_TUPLE && index->as.list.count > 0 &&
                  index->as.list.count <= MOST_INDICES && !has_star(&index->as.list);
    if (!is_key) return dv_compile_operand(c, index, false, owned);
    *owned = true;
    return compile_display(c, index, DV_OP_BUILD_KEY, DV_OP_ADD);
}

/* The items before the first star, or the first PIECE, make the set, the others are added one by
 * one. */
static bool compile_set(dv_compiler *c, const dv_expr *expr) {
    dv_emitter *e = &c->emit;
    const dv_exprs *items = &expr->as.list;
    bool begun = false;
    if (items->count > 2 && are_constants(items)) {
        emit_constant_set(c, expr);
        return ok(c);
    }
    for (uint32_t i = 0; i < items->count; i++) {
        dv_expr *item = items->items[i];
        bool star = item->kind == DV_EXPR_STARRED;
        if (!begun && (star || i == PIECE)) {
            dv_emit_a(e, DV_OP_BUILD_SET, i, expr->at);
            begun = true;
        }
        if (!dv_compile_owned(c, star ? item->as.child : item)) return false;
        if (star)
            dv_emit(e, DV_OP_SET_UPDATE, expr->at);
        else if (begun)
            dv_emit_a(e, DV_OP_SET_ADD, 1, expr->at);
    }
    if (!begun) dv_emit_a(e, DV_OP_BUILD_SET, items->count, expr->at);
    return ok(c);
}

/* A dict display with `**mapping` items. */
static bool compile_unpacked_dict(dv_compiler *c, const dv_expr *expr) {
    dv_emitter *e = &c->emit;
    uint32_t run = 0, total = expr->as.dict.keys.count;
    bool begun = false;
    for (uint32_t i = 0; i <= total; i++) {
        dv_expr *key = i < total ? expr->as.dict.keys.items[i] : NULL;
        if (key == NULL || run == PIECE) {
            if (run > 0 || !begun) dv_emit_a(e, DV_OP_BUILD_DICT, run, expr->at);
            if (run > 0 && begun) dv_emit(e, DV_OP_DICT_UPDATE, expr->at);
            begun = true;
            run = 0;
        }
        if (i == total) break;
        if (key != NULL && !dv_compile_owned(c, key)) return false;
        if (!dv_compile_owned(c, expr->as.dict.values.items[i])) return false;
        if (key != NULL)
            run++;
        else
            dv_emit(e, DV_OP_DICT_UPDATE, expr->at);
    }
    return ok(c);
}

static bool compile_dict(dv_compiler *c, const dv_expr *expr) {
    uint32_t total = expr->as.dict.keys.count;
    for (uint32_t i = 0; i < total; i++)
        if (expr->as.dict.keys.items[i] == NULL) return compile_unpacked_dict(c, expr);
    if (total == 0) finish_piece(c, expr, 0, 0, DV_OP_BUILD_DICT, DV_OP_OR);
    for (uint32_t i = 0; i < total; i++) {
        if (!dv_compile_owned(c, expr->as.dict.keys.items[i]) ||
            !dv_compile_owned(c, expr->as.dict.values.items[i]))
            return false;
        finish_piece(c, expr, i + 1, total, DV_OP_BUILD_DICT, DV_OP_OR);
    }
    return ok(c);
}

static bool compile_slice_part(dv_compiler *c, dv_expr *part, dv_range at) {
    if (part != NULL) return dv_compile_owned(c, part);
    dv_emit_a(&c->emit, DV_OP_LOAD_CONST, dv_emit_none(&c->emit), at);
    return true;
}

static bool compile_slice(dv_compiler *c, const dv_expr *expr) {
    if (!compile_slice_part(c, expr->as.slice.start, expr->at)) return false;
    if (!compile_slice_part(c, expr->as.slice.stop, expr->at)) return false;
    if (expr->as.slice.step != NULL && !dv_compile_owned(c, expr->as.slice.step)) return false;
    dv_emit_a(&c->emit, DV_OP_BUILD_SLICE, expr->as.slice.step != NULL ? 3 : 2, expr->at);
    return true;
}

static bool compile_format(dv_compiler *c, const dv_expr *expr) {
    if (!dv_compile_owned(c, expr->as.format.value)) return false;
    dv_expr *spec = expr->as.format.spec;
    if (spec != NULL && !dv_compile_owned(c, spec)) return false;
    char conversion = expr->as.format.conversion;
    uint32_t kind = conversion == 's' ? 1 : conversion == 'r' ? 2 : conversion == 'a' ? 3 : 0;
    dv_emit_a(&c->emit, DV_OP_FORMAT_VALUE, kind | (spec != NULL ? 4 : 0), expr->at);
    return true;
}

static bool compile_fstring(dv_compiler *c, const dv_expr *expr) {
    if (expr->as.list.count == 1) return dv_compile_owned(c, expr->as.list.items[0]);
    if (expr->as.list.count == 0) {
        dv_emit_a(&c->emit, DV_OP_LOAD_CONST, dv_emit_text(&c->emit, (dv_text){"", 0}), expr->at);
        return true;
    }
    return compile_display(c, expr, DV_OP_BUILD_STRING, DV_OP_ADD);
}

/* ---- Generators ---- */

static bool compile_yield(dv_compiler *c, const dv_expr *expr) {
    dv_emitter *e = &c->emit;
    if (expr->as.child == NULL)
        dv_emit_a(e, DV_OP_LOAD_CONST, dv_emit_none(e), expr->at);
    else if (!dv_compile_owned(c, expr->as.child))
        return false;
    dv_emit(e, DV_OP_YIELD, expr->at);
    return ok(c);
}

/* What comes in is sent on, and what comes out of that yielded, until the iterator returns. */
static bool compile_yield_from(dv_compiler *c, const dv_expr *expr) {
    dv_emitter *e = &c->emit;
    if (!dv_compile_owned(c, expr->as.child)) return false;
    dv_emit(e, DV_OP_GET_YIELD_FROM, expr->at);
    dv_emit_a(e, DV_OP_LOAD_CONST, dv_emit_none(e), expr->at);
    dv_label again = dv_emit_head(e), end = dv_emit_new_label(e);
    dv_emit_jump(e, DV_OP_SEND, end, expr->at);
    dv_emit_jump(e, DV_OP_YIELD_FROM, again, expr->at);
    dv_emit_place(e, end);
    return ok(c);
}

/* ---- Expressions ---- */

/* Nodes without a left child. */
static bool compile_leaf(dv_compiler *c, dv_expr *expr) {
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_NAME: load_name(c, expr); return true;
    case DV_EXPR_CONSTANT: load_constant(c, expr, DV_OP_LOAD_CONST); return true;
    case DV_EXPR_FSTRING: return compile_fstring(c, expr);
    case DV_EXPR_FORMAT: return compile_format(c, expr);
    case DV_EXPR_TUPLE: return compile_display(c, expr, DV_OP_BUILD_TUPLE, DV_OP_ADD);
    case DV_EXPR_LIST: return compile_display(c, expr, DV_OP_BUILD_LIST, DV_OP_ADD);
    case DV_EXPR_SET: return compile_set(c, expr);
    case DV_EXPR_DICT: return compile_dict(c, expr);
    case DV_EXPR_UNARY: return compile_unary(c, expr);
    case DV_EXPR_AND:
    case DV_EXPR_OR: return compile_boolean(c, expr);
    case DV_EXPR_COMPARE: return compile_compare(c, expr);
    case DV_EXPR_CONDITIONAL: return compile_conditional(c, expr);
    case DV_EXPR_LAMBDA: return dv_compile_function(c, expr->as.function, expr->at);
    case DV_EXPR_SLICE: return compile_slice(c, expr);
    case DV_EXPR_NAMED: return compile_walrus(c, expr);
    case DV_EXPR_COMPREHENSION: return dv_compile_comprehension(c, expr);
    case DV_EXPR_YIELD: return compile_yield(c, expr);
    case DV_EXPR_YIELD_FROM: return compile_yield_from(c, expr);
    case DV_EXPR_STARRED:
        dv_front_error(c->front, expr->at, "can't use starred expression here");
        return false;
    default: return true; /* has a left child */
    }
}

/* Compiles the leftmost node as an operand of its parent; *owned says what came out. */
static bool compile_leftmost(dv_compiler *c, dv_expr *expr, const dv_expr *root, bool *owned) {
    const dv_expr *parent = expr->up;
    *owned = true;
    if (parent->kind == DV_EXPR_CALL) {
        bool global =
            expr->kind == DV_EXPR_NAME && expr->as.name.symbol->access == DV_ACCESS_GLOBAL;
        if (global) {
            uint32_t name = name_operand(c, expr->as.name.symbol);
            dv_emit_a(&c->emit, DV_OP_LOAD_GLOBAL_CALLEE, name, expr->at);
            return true;
        }
        if (!compile_leaf(c, expr)) return false;
        dv_emit(&c->emit, DV_OP_PREPARE_CALL, expr->at);
        return true;
    }
    if (!left_is_owned(parent, root) && borrow(c, expr, left_lasts(parent))) {
        *owned = false;
        return true;
    }
    return compile_leaf(c, expr);
}

/* A node in the middle of a spine that is called must be prepared, unless LOAD_METHOD did. */
static void prepare_callee(dv_compiler *c, const dv_expr *expr, const dv_expr *root) {
    if (is_called(expr, root) && !is_method(expr, root))
        dv_emit(&c->emit, DV_OP_PREPARE_CALL, expr->at);
}

static bool compile_spine(dv_compiler *c, dv_expr *root) {
    dv_expr *expr = dv_expr_leftmost(root);
    bool owned;
    dv_warn_primary(c->front, expr->up);
    if (dv_compile_is_consumed(expr->up)) {
        expr = expr->up;
        if (!dv_compile_consumed(c, expr)) return false;
        prepare_callee(c, expr, root);
        owned = true;
    } else if (!compile_leftmost(c, expr, root, &owned)) {
        return false;
    }
    while (expr != root) {
        expr = expr->up;
        bool constant = expr->kind == DV_EXPR_BINARY || expr->kind == DV_EXPR_SUBSCRIPT;
        if (expr != root && constant) dv_warn_primary(c->front, expr->up);
        if (!finish_node(c, expr, root, owned)) return false;
        prepare_callee(c, expr, root);
        owned = true;
    }
    return ok(c);
}

bool dv_compile_owned(dv_compiler *c, dv_expr *expr) {
    return dv_expr_left(expr) == NULL ? compile_leaf(c, expr) && ok(c) : compile_spine(c, expr);
}

bool dv_compile_operand(dv_compiler *c, dv_expr *expr, bool lasting, bool *owned) {
    *owned = !borrow(c, expr, lasting);
    return *owned ? dv_compile_owned(c, expr) : ok(c);
}

/* ---- Conditions ---- */

/* a and b, a or b: jumps as soon as an operand decides */
static bool jump_boolean(dv_compiler *c, const dv_expr *expr, dv_range at, bool when,
                         dv_label target) {
    bool decides = expr->kind == DV_EXPR_OR; /* the truth that ends the evaluation */
    uint32_t count = expr->as.list.count;
    dv_label end = decides == when ? target : dv_emit_new_label(&c->emit);
    for (uint32_t i = 0; i + 1 < count; i++)
        if (!dv_compile_jump(c, expr->as.list.items[i], at, decides, end)) return false;
    if (!dv_compile_jump(c, expr->as.list.items[count - 1], at, when, target)) return false;
    if (decides != when) dv_emit_place(&c->emit, end);
    return ok(c);
}

/* A chain of comparisons whose inner operands can all be loaded again. */
static bool is_simple_chain(const dv_expr *expr) {
    const dv_exprs *rights = &expr->as.compare.rights;
    for (uint32_t i = 0; i + 1 < rights->count; i++)
        if (!is_repeatable(rights->items[i])) return false;
    return true;
}

/* a < b < c as a condition: every link jumps where it is false */
static bool jump_chain(dv_compiler *c, const dv_expr *expr, bool when, dv_label target) {
    const dv_exprs *rights = &expr->as.compare.rights;
    dv_emitter *e = &c->emit;
    dv_label end = when ? dv_emit_new_label(e) : target;
    bool left_owned, copied;
    dv_warn_compare(c->front, expr);
    if (!dv_compile_operand(c, expr->as.compare.left, any_stores(rights, 0), &left_owned))
        return false;
    for (uint32_t i = 0; i < rights->count; i++) {
        bool last = i + 1 == rights->count;
        if (!compile_link(c, expr, i, &left_owned, &copied)) return false;
        bool positive = (last && when) != dv_compile_is_negated(expr, i);
        dv_emit_branch(e, positive ? DV_OP_JUMP_IF_TRUE : DV_OP_JUMP_IF_FALSE, last ? target : end,
                       1, expr->at);
        if (!last && !reload_link(c, expr, i, &left_owned)) return false;
    }
    if (when) dv_emit_place(e, end);
    return ok(c);
}

static bool jump_conditional(dv_compiler *c, const dv_expr *expr, bool when, dv_label target) {
    dv_label otherwise = dv_emit_new_label(&c->emit), end = dv_emit_new_label(&c->emit);
    if (!dv_compile_jump(c, expr->as.conditional.test, expr->at, false, otherwise)) return false;
    if (!dv_compile_jump(c, expr->as.conditional.body, expr->at, when, target)) return false;
    dv_emit_jump(&c->emit, DV_OP_JUMP, end, expr->at);
    dv_emit_place(&c->emit, otherwise);
    if (!dv_compile_jump(c, expr->as.conditional.otherwise, expr->at, when, target)) return false;
    dv_emit_place(&c->emit, end);
    return ok(c);
}

bool dv_compile_jump(dv_compiler *c, dv_expr *expr, dv_range at, bool when, dv_label target) {
    while (expr->kind == DV_EXPR_UNARY && expr->op == DV_UNARY_NOT) {
        expr = expr->as.child;
        when = !when;
    }
    int truth = dv_expr_truth(expr);
    if (truth >= 0) {
        if ((truth == 1) == when) dv_emit_jump(&c->emit, DV_OP_JUMP, target, expr->at);
        return ok(c);
    }
    switch (expr->kind) {
    case DV_EXPR_AND:
    case DV_EXPR_OR: return jump_boolean(c, expr, at, when, target);
    case DV_EXPR_CONDITIONAL: return jump_conditional(c, expr, when, target);
    case DV_EXPR_COMPARE:
        if (expr->as.compare.rights.count > 1 ? is_simple_chain(expr)
                                              : dv_compile_is_negated(expr, 0))
            return jump_chain(c, expr, when, target);
        break;
    case DV_EXPR_CALL:
        if (dv_compile_is_search(expr)) return dv_compile_search_jump(c, expr, when, target);
        break;
    default: break;
    }
    bool owned;
    if (!dv_compile_operand(c, expr, false, &owned)) return false;
    uint8_t op = when ? DV_OP_JUMP_IF_TRUE : DV_OP_JUMP_IF_FALSE;
    dv_emit_branch(&c->emit, op, target, owned, expr->kind == DV_EXPR_COMPARE ? expr->at : at);
    return ok(c);
}

/* ---- Targets ---- */

/* The value is on the stack. */
static bool store_subscript(dv_compiler *c, const dv_expr *target, bool value_owned) {
    bool container_owned, index_owned;
    dv_expr *index = target->as.subscript.index;
    if (!dv_compile_operand(c, target->as.subscript.container, index->stores, &container_owned) ||
        !compile_index(c, index, &index_owned))
        return false;
    uint32_t own =
        (uint32_t)value_owned | (uint32_t)container_owned << 1 | (uint32_t)index_owned << 2;
    dv_emit_a(&c->emit, DV_OP_STORE_SUBSCR, own, target->at);
    return ok(c);
}

static void emit_store_attribute(dv_compiler *c, const dv_expr *target, uint32_t own) {
    uint32_t name = c->emit.reachable ? dv_emit_name(&c->emit, target->as.attribute.name) : 0;
    dv_emit_ab(&c->emit, DV_OP_STORE_ATTR, name, own, attribute_range(target, target->at));
}

static bool store_attribute(dv_compiler *c, const dv_expr *target, bool value_owned) {
    bool object_owned;
    if (!dv_compile_operand(c, target->as.attribute.object, false, &object_owned)) return false;
    emit_store_attribute(c, target, (uint32_t)value_owned | (uint32_t)object_owned << 1);
    return ok(c);
}

static bool store_sequence(dv_compiler *c, const dv_expr *target) {
    const dv_exprs *items = &target->as.list;
    uint32_t star = 0;
    while (star < items->count && items->items[star]->kind != DV_EXPR_STARRED) star++;
    if (star == items->count)
        dv_emit_a(&c->emit, DV_OP_UNPACK_SEQUENCE, items->count, target->at);
    else
        dv_emit_ab(&c->emit, DV_OP_UNPACK_EX, star, items->count - 1 - star, target->at);
    for (uint32_t i = 0; i < items->count; i++)
        if (!dv_compile_store(c, i == star ? items->items[i]->as.child : items->items[i]))
            return false;
    return true;
}

bool dv_compile_store(dv_compiler *c, dv_expr *target) {
    switch (target->kind) {
    case DV_EXPR_NAME: dv_compile_store_name(c, target->as.name.symbol, target->at); return ok(c);
    case DV_EXPR_SUBSCRIPT: return store_subscript(c, target, true);
    case DV_EXPR_ATTRIBUTE: return store_attribute(c, target, true);
    default: return store_sequence(c, target);
    }
}

bool dv_compile_delete(dv_compiler *c, dv_expr *target) {
    bool object_owned, index_owned;
    switch (target->kind) {
    case DV_EXPR_NAME: dv_compile_delete_name(c, target->as.name.symbol, target->at); return ok(c);
    case DV_EXPR_SUBSCRIPT: {
        dv_expr *index = target->as.subscript.index;
        if (!dv_compile_operand(c, target->as.subscript.container, index->stores, &object_owned) ||
            !dv_compile_operand(c, index, false, &index_owned))
            return false;
        dv_emit_a(&c->emit, DV_OP_DELETE_SUBSCR,
                  (uint32_t)object_owned | (uint32_t)index_owned << 1, target->at);
        return ok(c);
    }
    case DV_EXPR_ATTRIBUTE: {
        if (!dv_compile_operand(c, target->as.attribute.object, false, &object_owned)) return false;
        uint32_t name = c->emit.reachable ? dv_emit_name(&c->emit, target->as.attribute.name) : 0;
        dv_emit_ab(&c->emit, DV_OP_DELETE_ATTR, name, object_owned,
                   attribute_range(target, target->at));
        return ok(c);
    }
    default:
        for (uint32_t i = 0; i < target->as.list.count; i++)
            if (!dv_compile_delete(c, target->as.list.items[i])) return false;
        return true;
    }
}

/* ---- Assignments ---- */

/* a, b = b, a: two or three values are swapped on the stack instead of packed, as CPython does */
static bool is_swap(const dv_expr *target, const dv_expr *value) {
    bool sequence = target->kind == DV_EXPR_TUPLE || target->kind == DV_EXPR_LIST;
    return sequence && value->kind == DV_EXPR_TUPLE &&
           target->as.list.count == value->as.list.count &&
           (target->as.list.count == 2 || target->as.list.count == 3) &&
           !has_star(&target->as.list) && !has_star(&value->as.list);
}

static bool compile_swap(dv_compiler *c, const dv_expr *target, const dv_expr *value) {
    uint32_t count = value->as.list.count;
    for (uint32_t i = 0; i < count; i++)
        if (!dv_compile_owned(c, value->as.list.items[i])) return false;
    dv_emit_a(&c->emit, DV_OP_SWAP, count, target->at);
    for (uint32_t i = 0; i < count; i++)
        if (!dv_compile_store(c, target->as.list.items[i])) return false;
    return true;
}

bool dv_compile_assign(dv_compiler *c, dv_expr *target, dv_expr *value) {
    bool owned;
    if (is_swap(target, value)) return compile_swap(c, target, value);
    if (target->kind == DV_EXPR_SUBSCRIPT)
        return dv_compile_operand(c, value, target->stores, &owned) &&
               store_subscript(c, target, owned);
    if (target->kind == DV_EXPR_ATTRIBUTE)
        return dv_compile_operand(c, value, target->stores, &owned) &&
               store_attribute(c, target, owned);
    return dv_compile_owned(c, value) && dv_compile_store(c, target);
}

/* The right side and the operation; the old value is on the stack. */
static bool operate(dv_compiler *c, const dv_stmt *stmt, bool left_owned) {
    bool right_owned;
    if (!dv_compile_operand(c, stmt->as.augment.value, false, &right_owned)) return false;
    dv_emit_a(&c->emit, (uint8_t)(DV_OP_ADD + stmt->as.augment.op),
              (uint32_t)left_owned | (uint32_t)right_owned << 1 | DV_OWN_INPLACE, stmt->at);
    return ok(c);
}

static bool augment_name(dv_compiler *c, const dv_stmt *stmt) {
    dv_expr *target = stmt->as.augment.target;
    bool owned;
    return dv_compile_operand(c, target, stmt->as.augment.value->stores, &owned) &&
           operate(c, stmt, owned) && dv_compile_store(c, target);
}

/* o.a += v: the object is evaluated once; a repeatable one is simply loaded again */
static bool augment_attribute(dv_compiler *c, const dv_stmt *stmt) {
    const dv_expr *target = stmt->as.augment.target;
    dv_expr *object = target->as.attribute.object;
    dv_emitter *e = &c->emit;
    bool again = is_repeatable(object) && !stmt->as.augment.value->stores, owned = true;
    if (again ? !dv_compile_operand(c, object, false, &owned) : !dv_compile_owned(c, object))
        return false;
    if (!again) dv_emit_a(e, DV_OP_COPY, 1, target->at);
    compile_attribute(c, target, owned, false);
    if (!operate(c, stmt, true)) return false;
    if (again) return store_attribute(c, target, true);
    dv_emit_a(e, DV_OP_SWAP, 2, target->at);
    emit_store_attribute(c, target, 3);
    return ok(c);
}

/* s[i] += v: likewise */
static bool augment_subscript(dv_compiler *c, const dv_stmt *stmt) {
    const dv_expr *target = stmt->as.augment.target;
    dv_expr *container = target->as.subscript.container, *index = target->as.subscript.index;
    dv_emitter *e = &c->emit;
    bool again =
        is_repeatable(container) && is_repeatable(index) && !stmt->as.augment.value->stores;
    if (again) {
        bool container_owned;
        if (!dv_compile_operand(c, container, false, &container_owned)) return false;
        return compile_subscript(c, target, container_owned) && operate(c, stmt, true) &&
               store_subscript(c, target, true);
    }
    if (!dv_compile_owned(c, container) || !dv_compile_owned(c, index)) return false;
    dv_emit_a(e, DV_OP_COPY, 2, target->at);
    dv_emit_a(e, DV_OP_COPY, 2, target->at);
    dv_emit_a(e, DV_OP_LOAD_SUBSCR, 3, target->at);
    if (!operate(c, stmt, true)) return false;
    dv_emit_a(e, DV_OP_SWAP, 3, target->at);
    dv_emit_a(e, DV_OP_SWAP, 2, target->at);
    dv_emit_a(e, DV_OP_STORE_SUBSCR, 7, target->at);
    return ok(c);
}

bool dv_compile_augment(dv_compiler *c, const dv_stmt *stmt) {
    switch (stmt->as.augment.target->kind) {
    case DV_EXPR_NAME: return augment_name(c, stmt);
    case DV_EXPR_ATTRIBUTE: return augment_attribute(c, stmt);
    default: return augment_subscript(c, stmt);
    }
}
