/* compile_statement.c: code for statements without control flow of their own, and the choice
 * (compile_statement.h). */
#include "lang/compile/compile_statement.h"

#include "lang/compile/compile_control.h"
#include "lang/compile/compile_expression.h"
#include "lang/compile/compile_match.h"
#include "lang/complain/warn.h"

#include <string.h>

static bool ok(const dv_compiler *c) { return c->front->status == DV_LANG_OK; }

static bool compile_expression_statement(dv_compiler *c, const dv_stmt *stmt) {
    if (c->interactive) {
        if (!dv_compile_owned(c, stmt->as.expr)) return false;
        dv_emit(&c->emit, DV_OP_PRINT_EXPR, stmt->at);
        return ok(c);
    }
    if (dv_expr_is_constant(stmt->as.expr)) return true;
    if (!dv_compile_owned(c, stmt->as.expr)) return false;
    dv_emit(&c->emit, DV_OP_POP_TOP, stmt->at);
    return ok(c);
}

/* a = b = value: every target but the last gets a copy */
static bool compile_assignment(dv_compiler *c, const dv_stmt *stmt) {
    const dv_exprs *targets = &stmt->as.assign.targets;
    if (targets->count == 1) return dv_compile_assign(c, targets->items[0], stmt->as.assign.value);
    if (!dv_compile_owned(c, stmt->as.assign.value)) return false;
    for (uint32_t i = 0; i < targets->count; i++) {
        if (i + 1 < targets->count) dv_emit_a(&c->emit, DV_OP_COPY, 1, stmt->at);
        if (!dv_compile_store(c, targets->items[i])) return false;
    }
    return true;
}

/* Without a value, only the parts of the target are evaluated. */
static bool compile_annotated_target(dv_compiler *c, const dv_stmt *stmt) {
    dv_expr *target = stmt->as.annotate.target;
    if (stmt->as.annotate.value != NULL)
        return dv_compile_assign(c, target, stmt->as.annotate.value);
    if (target->kind == DV_EXPR_NAME) return true;
    bool subscript = target->kind == DV_EXPR_SUBSCRIPT;
    dv_expr *object = subscript ? target->as.subscript.container : target->as.attribute.object;
    if (!dv_compile_owned(c, object)) return false;
    dv_emit(&c->emit, DV_OP_POP_TOP, stmt->at);
    if (!subscript) return ok(c);
    if (!dv_compile_owned(c, target->as.subscript.index)) return false;
    dv_emit(&c->emit, DV_OP_POP_TOP, stmt->at);
    return ok(c);
}

/* The annotation is evaluated last; that of a plain name is kept: __annotations__['name'] = ... */
static bool compile_annotated(dv_compiler *c, const dv_stmt *stmt) {
    dv_emitter *e = &c->emit;
    const dv_expr *target = stmt->as.annotate.target;
    dv_expr *annotation = stmt->as.annotate.annotation;
    if (!compile_annotated_target(c, stmt)) return false;
    if (annotation == NULL) return true;
    if (!dv_compile_owned(c, annotation)) return false;
    if (target->kind != DV_EXPR_NAME || target->parenthesized) {
        dv_emit(e, DV_OP_POP_TOP, stmt->at);
        return ok(c);
    }
    const dv_name *name = dv_name_intern(c->front, (dv_text){"__annotations__", 15});
    if (name == NULL) return false;
    bool global = c->scope->kind == DV_SCOPE_MODULE && !c->front->evaluated;
    uint8_t load = global ? DV_OP_LOAD_GLOBAL : DV_OP_LOAD_NAME;
    if (e->reachable) dv_emit_a(e, load, dv_emit_name(e, name), stmt->at);
    dv_emit_a(e, DV_OP_LOAD_CONST, dv_emit_text(e, target->as.name.name->text), stmt->at);
    dv_emit_a(e, DV_OP_STORE_SUBSCR, 7, stmt->at);
    return ok(c);
}

static bool compile_delete_statement(dv_compiler *c, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.targets.count; i++)
        if (!dv_compile_delete(c, stmt->as.targets.items[i])) return false;
    return true;
}

static bool compile_raise(dv_compiler *c, const dv_stmt *stmt) {
    uint32_t count = 0;
    if (stmt->as.raise.exception != NULL) {
        if (!dv_compile_owned(c, stmt->as.raise.exception)) return false;
        count++;
    }
    if (stmt->as.raise.cause != NULL) {
        if (!dv_compile_owned(c, stmt->as.raise.cause)) return false;
        count++;
    }
    dv_emit_a(&c->emit, DV_OP_RAISE, count, stmt->at);
    return ok(c);
}

/* The comparison that decides last in a condition, if there is one: CPython shows it as the place
 * of a failed assertion. */
static const dv_expr *last_comparison(const dv_expr *test) {
    while (test->kind == DV_EXPR_UNARY && test->op == DV_UNARY_NOT) test = test->as.child;
    if (test->kind == DV_EXPR_COMPARE) return test;
    if (test->kind != DV_EXPR_AND && test->kind != DV_EXPR_OR) return NULL;
    const dv_expr *found = NULL;
    for (uint32_t i = test->as.list.count; i-- > 0 && found == NULL;)
        found = last_comparison(test->as.list.items[i]);
    return found;
}

static bool compile_assert(dv_compiler *c, const dv_stmt *stmt) {
    dv_emitter *e = &c->emit;
    dv_warn_assert(c->front, stmt);
    if (c->front->optimize) return true;
    dv_label end = dv_emit_new_label(e);
    const dv_expr *comparison = last_comparison(stmt->as.assertion.test);
    dv_range at = comparison == NULL ? stmt->at : comparison->at;
    if (!dv_compile_jump(c, stmt->as.assertion.test, stmt->at, true, end)) return false;
    if (e->reachable) {
        dv_emit(e, DV_OP_LOAD_ASSERTION_ERROR, at);
        if (stmt->as.assertion.message != NULL) {
            dv_emit(e, DV_OP_PREPARE_CALL, at);
            if (!dv_compile_owned(c, stmt->as.assertion.message)) return false;
            dv_emit_a(e, DV_OP_CALL, 1, at);
        }
        dv_emit_a(e, DV_OP_RAISE, 1, at);
    }
    dv_emit_place(e, end);
    return ok(c);
}

/* ---- Definitions and imports ---- */

static bool store_definition(dv_compiler *c, dv_name *name, dv_range at) {
    dv_name *bound = dv_scope_mangle(c->front, c->scope->class_name, name);
    if (bound == NULL) return false;
    dv_compile_store_name(c, dv_scope_find(c->scope, bound), at);
    return ok(c);
}

static bool prepare_decorators(dv_compiler *c, const dv_exprs *decorators) {
    for (uint32_t i = 0; i < decorators->count; i++) {
        if (!dv_compile_owned(c, decorators->items[i])) return false;
        dv_emit(&c->emit, DV_OP_PREPARE_CALL, decorators->items[i]->at);
    }
    return true;
}

/* What is defined is on the stack, above the decorators. */
static void call_decorators(dv_compiler *c, const dv_exprs *decorators) {
    for (uint32_t i = decorators->count; i-- > 0;)
        dv_emit_a(&c->emit, DV_OP_CALL, 1, decorators->items[i]->at);
}

static bool compile_definition(dv_compiler *c, const dv_stmt *stmt) {
    const dv_function *function = stmt->as.function;
    if (!prepare_decorators(c, &function->decorators) ||
        !dv_compile_function(c, function, stmt->at))
        return false;
    call_decorators(c, &function->decorators);
    return store_definition(c, function->name, stmt->at);
}

static bool compile_class_statement(dv_compiler *c, const dv_stmt *stmt) {
    const dv_class *klass = stmt->as.klass;
    if (!prepare_decorators(c, &klass->decorators) || !dv_compile_class(c, klass, stmt->at))
        return false;
    call_decorators(c, &klass->decorators);
    return store_definition(c, klass->name, stmt->at);
}

static uint32_t text_operand(dv_compiler *c, dv_text text) {
    dv_name *name = dv_name_intern(c->front, text);
    return name == NULL || !c->emit.reachable ? 0 : dv_emit_name(&c->emit, name);
}

static bool compile_import(dv_compiler *c, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.import.count; i++) {
        const dv_alias *alias = &stmt->as.import.aliases[i];
        uint32_t op = alias->renamed ? DV_OP_IMPORT_AS : DV_OP_IMPORT_NAME;
        dv_emit_a(&c->emit, op, text_operand(c, alias->path), stmt->at);
        dv_compile_store_name(c, alias->target->as.name.symbol, stmt->at);
    }
    return ok(c);
}

/* The module's name, with a dot in front for each level. */
static uint32_t module_operand(dv_compiler *c, const dv_stmt *stmt) {
    dv_text module = stmt->as.import.module;
    uint32_t level = stmt->as.import.level;
    if (level == 0) return text_operand(c, module);
    char *text = dv_front_keep(c->front, level + module.size);
    if (text == NULL) return 0;
    memset(text, '.', level);
    if (module.size > 0) memcpy(text + level, module.data, module.size);
    return text_operand(c, (dv_text){text, level + module.size});
}

/* What a from-import wants, a constant tuple. */
static uint32_t imported_names(dv_compiler *c, const dv_stmt *stmt) {
    uint32_t count = stmt->as.import.count;
    dv_literal *items = dv_front_scratch(c->front, count * sizeof *items);
    if (items == NULL || !c->emit.reachable) return 0;
    for (uint32_t i = 0; i < count; i++) {
        items[i].kind = DV_CONST_STR;
        items[i].as.text = stmt->as.import.aliases[i].path;
    }
    dv_literal tuple = {.kind = DV_CONST_TUPLE};
    tuple.as.tuple.items = items;
    tuple.as.tuple.count = count;
    return dv_emit_constant(&c->emit, &tuple);
}

static bool compile_from(dv_compiler *c, const dv_stmt *stmt) {
    uint32_t module = module_operand(c, stmt);
    dv_emit_ab(&c->emit, DV_OP_IMPORT_MODULE, module, imported_names(c, stmt), stmt->at);
    if (stmt->as.import.aliases[0].target == NULL) {
        dv_emit(&c->emit, DV_OP_IMPORT_STAR, stmt->at);
        return ok(c);
    }
    for (uint32_t i = 0; i < stmt->as.import.count; i++) {
        const dv_alias *alias = &stmt->as.import.aliases[i];
        dv_emit_a(&c->emit, DV_OP_IMPORT_FROM, text_operand(c, alias->path), stmt->at);
        dv_compile_store_name(c, alias->target->as.name.symbol, stmt->at);
    }
    dv_emit(&c->emit, DV_OP_POP_TOP, stmt->at);
    return ok(c);
}

/* ---- Everything ---- */

static bool compile_statement(dv_compiler *c, const dv_stmt *stmt) {
    switch (stmt->kind) {
    case DV_STMT_EXPR: return compile_expression_statement(c, stmt);
    case DV_STMT_ASSIGN: return compile_assignment(c, stmt);
    case DV_STMT_AUGMENT: return dv_compile_augment(c, stmt);
    case DV_STMT_ANNOTATE: return compile_annotated(c, stmt);
    case DV_STMT_DELETE: return compile_delete_statement(c, stmt);
    case DV_STMT_IF: return dv_compile_if(c, stmt);
    case DV_STMT_WHILE: return dv_compile_while(c, stmt);
    case DV_STMT_FOR: return dv_compile_for(c, stmt);
    case DV_STMT_BREAK: return dv_compile_break(c, stmt);
    case DV_STMT_CONTINUE: return dv_compile_continue(c, stmt);
    case DV_STMT_FUNCTION: return compile_definition(c, stmt);
    case DV_STMT_RETURN: return dv_compile_return(c, stmt);
    case DV_STMT_CLASS: return compile_class_statement(c, stmt);
    case DV_STMT_TRY: return dv_compile_try(c, stmt);
    case DV_STMT_RAISE: return compile_raise(c, stmt);
    case DV_STMT_ASSERT: return compile_assert(c, stmt);
    case DV_STMT_IMPORT: return compile_import(c, stmt);
    case DV_STMT_FROM: return compile_from(c, stmt);
    case DV_STMT_PASS:
    case DV_STMT_GLOBAL:
    case DV_STMT_NONLOCAL: return true;
    case DV_STMT_WITH: return dv_compile_with(c, stmt);
    case DV_STMT_MATCH: return dv_compile_match(c, stmt);
    }
    return true;
}

bool dv_compile_block(dv_compiler *c, const dv_block *block) {
    for (uint32_t i = 0; i < block->count; i++)
        if (!compile_statement(c, block->items[i])) return false;
    return true;
}
