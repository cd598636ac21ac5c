/* scope.c: builds the scopes of a module (scope.h); what their names mean is resolve.c's. */
#include "lang/compile/scope.h"

#include "lang/compile/resolve.h"
#include "lang/compile/unparse.h"

#include <string.h>

typedef struct scoper {
    dv_front *front;
    dv_scope *current;
    dv_scope *first, **end;  /* the list of all scopes */
    bool at_beginning;       /* nothing but a docstring and __future__ imports so far */
    uint32_t comprehensions; /* around the current place */
    bool iterated;           /* in the target of a comprehension's for */
    bool annotations_text;   /* from __future__ import annotations: they are kept as text */
} scoper;

static bool visit_expr(scoper *s, dv_expr *root);
static bool visit_target(scoper *s, dv_expr *target);
static bool visit_block(scoper *s, const dv_block *block);
static bool visit_exprs(scoper *s, const dv_exprs *exprs);
static bool visit_items(scoper *s, const dv_exprs *items);

/* ---- Names ---- */

dv_name *dv_scope_mangle(dv_front *front, const dv_name *class_name, dv_name *name) {
    dv_text text = name->text;
    if (class_name == NULL || text.size < 3 || text.data[0] != '_' || text.data[1] != '_')
        return name;
    bool dunder = text.data[text.size - 1] == '_' && text.data[text.size - 2] == '_';
    if (dunder || memchr(text.data, '.', text.size) != NULL) return name;
    dv_text owner = class_name->text;
    while (owner.size > 0 && owner.data[0] == '_') owner.data++, owner.size--;
    if (owner.size == 0) return name;
    char *mangled = dv_front_keep(front, (size_t)1 + owner.size + text.size);
    if (mangled == NULL) return NULL;
    mangled[0] = '_';
    memcpy(mangled + 1, owner.data, owner.size);
    memcpy(mangled + 1 + owner.size, text.data, text.size);
    return dv_name_intern(front, (dv_text){mangled, 1 + owner.size + text.size});
}

static bool mangle(scoper *s, dv_name **name) {
    *name = dv_scope_mangle(s->front, s->current->class_name, *name);
    return *name != NULL;
}

dv_symbol *dv_scope_find(const dv_scope *scope, const dv_name *name) {
    uint32_t index = dv_index_map_get(&scope->map, name);
    return index == DV_NO_INDEX ? NULL : scope->symbols[index];
}

static dv_symbol *add_symbol(dv_front *front, dv_scope *scope, dv_name *name) {
    void *items = scope->symbols;
    if (!dv_front_reserve(front, &items, scope->symbol_count, &scope->symbol_capacity,
                          sizeof(dv_symbol *)))
        return NULL;
    scope->symbols = items;
    dv_symbol *symbol = dv_front_scratch(front, sizeof *symbol);
    if (symbol == NULL) return NULL;
    if (!dv_index_map_put(front, &scope->map, name, scope->symbol_count)) return NULL;
    symbol->name = name;
    scope->symbols[scope->symbol_count++] = symbol;
    return symbol;
}

dv_symbol *dv_scope_note(dv_front *front, dv_scope *scope, dv_name *name, uint32_t flags) {
    dv_symbol *symbol = dv_scope_find(scope, name);
    if (symbol == NULL) symbol = add_symbol(front, scope, name);
    if (symbol == NULL) return NULL;
    symbol->flags |= flags;
    return symbol;
}

/* Later passes use much of the C stack for a comprehension. */
enum { MAX_COMPREHENSIONS = 30, MAX_BEFORE_STAR = 255 };

static dv_symbol *note(scoper *s, dv_name *name, uint32_t flags) {
    return dv_scope_note(s->front, s->current, name, flags);
}

/* The same where code uses or binds the name. */
static dv_symbol *note_occurrence(scoper *s, dv_name *name, uint32_t flags) {
    dv_scope *scope = s->current;
    dv_symbol *symbol = note(s, name, flags);
    if (symbol == NULL || scope->kind != DV_SCOPE_FUNCTION || scope->is_comprehension)
        return symbol;
    void *items = scope->occurrences;
    if (!dv_front_reserve(s->front, &items, scope->occurrence_count, &scope->occurrence_capacity,
                          sizeof(dv_symbol *)))
        return NULL;
    scope->occurrences = items;
    scope->occurrences[scope->occurrence_count++] = symbol;
    return symbol;
}

/* `super` and `__class__` in a function make the innermost class around share its cell. */
static bool note_class_cell(scoper *s, const dv_name *name) {
    if (s->current->kind != DV_SCOPE_FUNCTION) return true;
    bool super = dv_name_is(name, "super");
    if (!super && !dv_name_is(name, "__class__")) return true;
    dv_scope *outer = s->current->parent;
    while (outer->kind == DV_SCOPE_FUNCTION) outer = outer->parent;
    if (outer->kind != DV_SCOPE_CLASS) return true;
    outer->class_cell = true;
    dv_name *cell = dv_name_intern(s->front, (dv_text){"__class__", 9});
    return cell != NULL && (!super || note(s, cell, DV_SYMBOL_USED) != NULL);
}

static bool use_name(scoper *s, dv_expr *expr) {
    if (!mangle(s, &expr->as.name.name)) return false;
    if (!note_class_cell(s, expr->as.name.name)) return false;
    expr->as.name.symbol = note_occurrence(s, expr->as.name.name, DV_SYMBOL_USED);
    return expr->as.name.symbol != NULL;
}

static bool check_debug(scoper *s, const dv_name *name, dv_range at, const char *verb) {
    if (!dv_name_is(name, "__debug__")) return true;
    dv_front_error(s->front, at, "cannot %s __debug__", verb);
    return false;
}

/* `at` is what CPython's compiler blames. */
static bool bind_name(scoper *s, dv_expr *expr, uint32_t flags, dv_range at) {
    if (!check_debug(s, expr->as.name.name, at, "assign to")) return false;
    if (!mangle(s, &expr->as.name.name)) return false;
    if (s->iterated) {
        const dv_symbol *known = dv_scope_find(s->current, expr->as.name.name);
        if (known != NULL && known->flags & (DV_SYMBOL_GLOBAL | DV_SYMBOL_NONLOCAL)) {
            dv_front_error(s->front, expr->at,
                           "comprehension inner loop cannot rebind assignment expression target "
                           "'%.*s'",
                           DV_NAME_ARGS(expr->as.name.name));
            return false;
        }
        flags |= DV_SYMBOL_ITERATED;
    }
    expr->as.name.symbol = note_occurrence(s, expr->as.name.name, flags);
    return expr->as.name.symbol != NULL;
}

/* A walrus in a comprehension binds the variable of the function or module around. */
static bool bind_outside(scoper *s, dv_expr *target) {
    if (!check_debug(s, target->as.name.name, target->at, "assign to") ||
        !mangle(s, &target->as.name.name))
        return false;
    dv_name *name = target->as.name.name;
    dv_scope *inner = s->current, *outer = inner;
    for (; outer->is_comprehension; outer = outer->parent) {
        const dv_symbol *known = dv_scope_find(outer, name);
        if (known == NULL || !(known->flags & DV_SYMBOL_ITERATED)) continue;
        dv_front_error(
            s->front, target->at,
            "assignment expression cannot rebind comprehension iteration variable '%.*s'",
            DV_NAME_ARGS(name));
        return false;
    }
    if (outer->kind == DV_SCOPE_CLASS) {
        dv_front_error(
            s->front, target->at,
            "assignment expression within a comprehension cannot be used in a class body");
        return false;
    }
    s->current = outer;
    const dv_symbol *bound = note(s, name, DV_SYMBOL_ASSIGNED);
    s->current = inner;
    if (bound == NULL) return false;
    bool global = outer->kind == DV_SCOPE_MODULE || bound->flags & DV_SYMBOL_GLOBAL;
    target->as.name.symbol =
        note(s, name, DV_SYMBOL_ASSIGNED | (global ? DV_SYMBOL_GLOBAL : DV_SYMBOL_NONLOCAL));
    return target->as.name.symbol != NULL;
}

static bool visit_walrus(scoper *s, dv_expr *expr) {
    if (s->current->iterables > 0) {
        dv_front_error(
            s->front, expr->at,
            "assignment expression cannot be used in a comprehension iterable expression");
        return false;
    }
    if (s->current->is_comprehension)
        return bind_outside(s, expr->as.named.target) && visit_expr(s, expr->as.named.value);
    return visit_expr(s, expr->as.named.value) && visit_target(s, expr->as.named.target);
}

/* ---- Targets ---- */

static bool visit_targets(scoper *s, const dv_expr *sequence) {
    uint32_t stars = 0;
    for (uint32_t i = 0; i < sequence->as.list.count; i++)
        stars += sequence->as.list.items[i]->kind == DV_EXPR_STARRED;
    if (stars > 1) {
        dv_front_error(s->front, sequence->at, "multiple starred expressions in assignment");
        return false;
    }
    for (uint32_t i = 0; i < sequence->as.list.count; i++) {
        dv_expr *item = sequence->as.list.items[i];
        bool star = item->kind == DV_EXPR_STARRED;
        if (star && i > MAX_BEFORE_STAR) {
            dv_front_error(s->front, sequence->at,
                           "too many expressions in star-unpacking assignment");
            return false;
        }
        if (!visit_target(s, star ? item->as.child : item)) return false;
    }
    return true;
}

static bool visit_target(scoper *s, dv_expr *target) {
    switch (target->kind) {
    case DV_EXPR_NAME: return bind_name(s, target, DV_SYMBOL_ASSIGNED, target->at);
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST: return visit_targets(s, target);
    case DV_EXPR_STARRED:
        dv_front_error(s->front, target->at,
                       "starred assignment target must be in a list or tuple");
        return false;
    case DV_EXPR_ATTRIBUTE:
        if (!check_debug(s, target->as.attribute.name, target->at, "assign to")) return false;
        return visit_expr(s, target);
    default: return visit_expr(s, target);
    }
}

static bool visit_deleted(scoper *s, dv_expr *target) {
    if (target->kind == DV_EXPR_NAME) {
        return check_debug(s, target->as.name.name, target->at, "delete") &&
               bind_name(s, target, DV_SYMBOL_ASSIGNED, target->at);
    }
    if (target->kind != DV_EXPR_TUPLE && target->kind != DV_EXPR_LIST) return visit_expr(s, target);
    for (uint32_t i = 0; i < target->as.list.count; i++)
        if (!visit_deleted(s, target->as.list.items[i])) return false;
    return true;
}

/* ---- Functions and classes ---- */

static dv_scope *enter_scope(scoper *s, dv_scope_kind kind, dv_name *name) {
    dv_scope *scope = dv_front_scratch(s->front, sizeof *scope);
    if (scope == NULL) return NULL;
    scope->parent = s->current;
    scope->kind = kind;
    scope->name = name;
    if (kind == DV_SCOPE_CLASS)
        scope->class_name = name;
    else if (s->current != NULL)
        scope->class_name = s->current->class_name;
    if (s->current != NULL) scope->iterables = s->current->iterables;
    *s->end = scope;
    s->end = &scope->next;
    s->current = scope;
    return scope;
}

static void leave_scope(scoper *s) { s->current = s->current->parent; }

static bool declare_kind(scoper *s, dv_function *function, dv_parameter_kind kind) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        dv_parameter *parameter = &function->parameters[i];
        if (parameter->kind != kind) continue;
        if (!check_debug(s, parameter->name, function->at, "assign to")) return false;
        if (!mangle(s, &parameter->name)) return false;
        if (dv_scope_find(s->current, parameter->name) != NULL) {
            dv_front_error(s->front, parameter->at,
                           "duplicate argument '%.*s' in function definition",
                           DV_NAME_ARGS(parameter->name));
            return false;
        }
        if (note(s, parameter->name, DV_SYMBOL_PARAMETER) == NULL) return false;
    }
    return true;
}

/* In the order of the locals (code.h). */
static bool declare_parameters(scoper *s, dv_function *function) {
    return declare_kind(s, function, DV_PARAMETER_POSITIONAL_ONLY) &&
           declare_kind(s, function, DV_PARAMETER_POSITIONAL) &&
           declare_kind(s, function, DV_PARAMETER_KEYWORD_ONLY) &&
           declare_kind(s, function, DV_PARAMETER_VARARGS) &&
           declare_kind(s, function, DV_PARAMETER_VARKEYWORDS);
}

/* An annotation that is kept: evaluated in the scope around, or else its text. */
static bool visit_annotation(scoper *s, dv_expr *annotation) {
    if (annotation == NULL) return true;
    return s->annotations_text ? dv_unparse(s->front, annotation) : visit_expr(s, annotation);
}

static bool visit_annotations(scoper *s, const dv_function *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (!visit_annotation(s, function->parameters[i].annotation)) return false;
    return visit_annotation(s, function->returns);
}

/* Defaults and annotations belong to the scope around. */
static bool visit_function(scoper *s, dv_function *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        dv_expr *standard = function->parameters[i].standard;
        if (standard != NULL && !visit_expr(s, standard)) return false;
    }
    if (!visit_annotations(s, function)) return false;
    function->scope = enter_scope(s, DV_SCOPE_FUNCTION, function->name);
    if (function->scope == NULL) return false;
    function->scope->body = &function->body;
    if (!declare_parameters(s, function) || !visit_block(s, &function->body)) return false;
    leave_scope(s);
    return true;
}

static bool visit_function_statement(scoper *s, dv_stmt *stmt) {
    dv_function *function = stmt->as.function;
    if (!visit_exprs(s, &function->decorators)) return false;
    if (!check_debug(s, function->name, stmt->at, "assign to")) return false;
    dv_name *bound = dv_scope_mangle(s->front, s->current->class_name, function->name);
    if (bound == NULL || note_occurrence(s, bound, DV_SYMBOL_ASSIGNED) == NULL) return false;
    stmt->middle = s->current->occurrence_count;
    return visit_function(s, function);
}

static bool check_repeated(scoper *s, const dv_keyword *keyword, const dv_keyword *end) {
    for (const dv_keyword *other = keyword + 1; other < end; other++) {
        if (other->name != keyword->name) continue;
        dv_front_error(s->front, other->at, "keyword argument repeated: %.*s",
                       DV_NAME_ARGS(keyword->name));
        return false;
    }
    return true;
}

/* Does any name occur twice?  One walk, whereas finding the first that does takes one for each. */
static bool has_repeated(const dv_keyword *keywords, uint32_t count) {
    bool repeated = false;
    for (uint32_t i = 0; i < count && !repeated; i++) {
        if (!keywords[i].name) continue;
        repeated = keywords[i].name->mark == keywords;
        keywords[i].name->mark = keywords;
    }
    return repeated;
}

/* Keyword arguments of a call, or of a class, that is at `at`. */
static bool check_keywords(scoper *s, const dv_keyword *keywords, uint32_t count, dv_range at) {
    const bool repeated = has_repeated(keywords, count);
    for (uint32_t i = 0; i < count; i++) {
        const dv_name *name = keywords[i].name;
        if (name != NULL && (!check_debug(s, name, at, "assign to") ||
                             (repeated && !check_repeated(s, &keywords[i], keywords + count))))
            return false;
    }
    return true;
}

static bool visit_class(scoper *s, dv_stmt *stmt) {
    dv_class *klass = stmt->as.klass;
    if (!visit_exprs(s, &klass->decorators)) return false;
    if (!check_keywords(s, klass->keywords, klass->keyword_count, stmt->at)) return false;
    if (!visit_items(s, &klass->bases)) return false;
    for (uint32_t i = 0; i < klass->keyword_count; i++)
        if (!visit_expr(s, klass->keywords[i].value)) return false;
    if (!check_debug(s, klass->name, stmt->at, "assign to")) return false;
    dv_name *bound = dv_scope_mangle(s->front, s->current->class_name, klass->name);
    if (bound == NULL || note_occurrence(s, bound, DV_SYMBOL_ASSIGNED) == NULL) return false;
    stmt->middle = s->current->occurrence_count;
    klass->scope = enter_scope(s, DV_SCOPE_CLASS, klass->name);
    if (klass->scope == NULL || !visit_block(s, &klass->body)) return false;
    leave_scope(s);
    return true;
}

/* ---- Expressions ---- */

static bool visit_exprs(scoper *s, const dv_exprs *exprs) {
    for (uint32_t i = 0; i < exprs->count; i++)
        if (!visit_expr(s, exprs->items[i])) return false;
    return true;
}

static bool visit_optional(scoper *s, dv_expr *expr) { return expr == NULL || visit_expr(s, expr); }

/* Items of a display, or arguments, some of which may be starred. */
static bool visit_items(scoper *s, const dv_exprs *items) {
    for (uint32_t i = 0; i < items->count; i++) {
        dv_expr *item = items->items[i];
        if (!visit_expr(s, item->kind == DV_EXPR_STARRED ? item->as.child : item)) return false;
    }
    return true;
}

static bool visit_dict(scoper *s, const dv_expr *expr) {
    for (uint32_t i = 0; i < expr->as.dict.keys.count; i++) {
        dv_expr *key = expr->as.dict.keys.items[i], *value = expr->as.dict.values.items[i];
        if (!visit_optional(s, key) || !visit_expr(s, value)) return false;
    }
    return true;
}

/* `sum(..., 0.5)` may be in place, too. */
static bool is_number(const dv_expr *expr) {
    return dv_expr_is_constant(expr) &&
           (expr->as.constant.kind == DV_CONST_INT || expr->as.constant.kind == DV_CONST_FLOAT);
}

static bool is_pair(const dv_expr *expr) {
    return expr->kind == DV_EXPR_TUPLE && expr->as.list.count == 2 &&
           expr->as.list.items[0]->kind != DV_EXPR_STARRED &&
           expr->as.list.items[1]->kind != DV_EXPR_STARRED;
}

/* The builtin that takes the items of the only argument, a generator expression, by the text. */
static dv_consumer find_consumer(const dv_expr *call) {
    const dv_expr *callee = call->as.call.callee, *argument = call->as.call.arguments.items[0];
    if (callee->kind == DV_EXPR_ATTRIBUTE) {
        const dv_expr *object = callee->as.attribute.object;
        const bool joins = dv_name_is(callee->as.attribute.name, "join") &&
                           dv_expr_is_constant(object) && object->as.constant.kind == DV_CONST_STR;
        return joins ? DV_CONSUMER_JOIN : DV_CONSUMER_NONE;
    }
    if (callee->kind != DV_EXPR_NAME) return DV_CONSUMER_NONE;
    for (int i = DV_CONSUMER_NONE + 1; i < DV_CONSUMERS; i++) {
        if (!dv_name_is(callee->as.name.name, dv_consumer_names[i])) continue;
        const bool fits = i != DV_CONSUMER_DICT || is_pair(argument->as.comprehension.element);
        return fits ? (dv_consumer)i : DV_CONSUMER_NONE;
    }
    return DV_CONSUMER_NONE;
}

static void note_consumer(const dv_expr *call) {
    const dv_exprs *arguments = &call->as.call.arguments;
    if (arguments->count == 0 || arguments->count > 2 || call->as.call.keyword_count > 0) return;
    const dv_expr *first = arguments->items[0];
    if (first->kind != DV_EXPR_COMPREHENSION || first->op != DV_COMPREHENSION_GENERATOR) return;
    const dv_consumer consumer = find_consumer(call);
    const bool start = consumer == DV_CONSUMER_SUM && arguments->count == 2;
    if (start && !is_number(arguments->items[1])) return;
    const bool standard = consumer == DV_CONSUMER_NEXT;
    if (standard && (arguments->count == 1 || !dv_expr_is_constant(arguments->items[1]))) return;
    if (arguments->count == 2 && !start && !standard) return;
    first->as.comprehension.scope->consumer = (uint8_t)consumer;
}

static bool visit_arguments(scoper *s, dv_expr *call) {
    dv_keyword *keywords = call->as.call.keywords;
    const uint32_t count = call->as.call.keyword_count;
    if (!check_keywords(s, keywords, count, call->at)) return false;
    if (!visit_items(s, &call->as.call.arguments)) return false;
    note_consumer(call);
    for (uint32_t i = 0; i < count; i++) {
        if (keywords[i].name != NULL && !mangle(s, &keywords[i].name)) return false;
        if (!visit_expr(s, keywords[i].value)) return false;
    }
    return true;
}

static bool visit_iterable(scoper *s, dv_expr *iterable) {
    s->current->iterables++;
    if (!visit_expr(s, iterable)) return false;
    s->current->iterables--;
    return true;
}

static bool visit_clause(scoper *s, const dv_clause *clause, bool first) {
    s->iterated = true;
    if (!visit_target(s, clause->target)) return false;
    s->iterated = false;
    return (first || visit_iterable(s, clause->iterable)) && visit_exprs(s, &clause->conditions);
}

/* A function of one parameter, the iterator of the first clause, which belongs to the scope
 * around. */
static bool visit_comprehension(scoper *s, dv_expr *expr) {
    static const dv_text parameter = {".0", 2};
    if (++s->comprehensions > MAX_COMPREHENSIONS) {
        dv_front_error(s->front, expr->at, "too many nested expressions");
        return false;
    }
    bool iterated = s->iterated;
    s->iterated = false;
    if (!visit_iterable(s, expr->as.comprehension.clauses[0].iterable)) return false;
    dv_scope *scope = enter_scope(s, DV_SCOPE_FUNCTION, NULL);
    dv_name *name = scope == NULL ? NULL : dv_name_intern(s->front, parameter);
    if (name == NULL || note(s, name, DV_SYMBOL_PARAMETER) == NULL) return false;
    expr->as.comprehension.scope = scope;
    scope->is_comprehension = true;
    scope->comprehension = expr->op;
    scope->is_generator = expr->op == DV_COMPREHENSION_GENERATOR;
    for (uint32_t i = 0; i < expr->as.comprehension.clause_count; i++)
        if (!visit_clause(s, &expr->as.comprehension.clauses[i], i == 0)) return false;
    if (!visit_optional(s, expr->as.comprehension.value) ||
        !visit_expr(s, expr->as.comprehension.element))
        return false;
    leave_scope(s);
    s->iterated = iterated;
    s->comprehensions--;
    return true;
}

static bool visit_yield(scoper *s, const dv_expr *expr) {
    static const char *const names[] = {"list comprehension", "set comprehension",
                                        "dict comprehension", "generator expression"};
    dv_scope *scope = s->current;
    if (scope->kind != DV_SCOPE_FUNCTION)
        dv_front_error(s->front, expr->at, "'yield' outside function");
    else if (scope->is_comprehension)
        dv_front_error(s->front, expr->at, "'yield' inside %s", names[scope->comprehension]);
    else
        scope->is_generator = true;
    return s->front->status == DV_LANG_OK && visit_optional(s, expr->as.child);
}

/* Visits what belongs to the node itself and all children but the left one. */
static bool visit_node(scoper *s, dv_expr *expr) {
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_NAME: return use_name(s, expr);
    case DV_EXPR_CONSTANT: return true;
    case DV_EXPR_FSTRING:
    case DV_EXPR_AND:
    case DV_EXPR_OR: return visit_exprs(s, &expr->as.list);
    case DV_EXPR_FORMAT:
        return visit_expr(s, expr->as.format.value) && visit_optional(s, expr->as.format.spec);
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST:
    case DV_EXPR_SET: return visit_items(s, &expr->as.list);
    case DV_EXPR_DICT: return visit_dict(s, expr);
    case DV_EXPR_BINARY: return visit_expr(s, expr->as.binary.right);
    case DV_EXPR_UNARY: return visit_expr(s, expr->as.child);
    case DV_EXPR_COMPARE:
        return visit_expr(s, expr->as.compare.left) && visit_exprs(s, &expr->as.compare.rights);
    case DV_EXPR_CONDITIONAL:
        return visit_expr(s, expr->as.conditional.test) &&
               visit_expr(s, expr->as.conditional.body) &&
               visit_expr(s, expr->as.conditional.otherwise);
    case DV_EXPR_LAMBDA: return visit_function(s, expr->as.function);
    case DV_EXPR_CALL: return visit_arguments(s, expr);
    case DV_EXPR_ATTRIBUTE: return mangle(s, &expr->as.attribute.name);
    case DV_EXPR_SUBSCRIPT: return visit_expr(s, expr->as.subscript.index);
    case DV_EXPR_SLICE:
        return visit_optional(s, expr->as.slice.start) && visit_optional(s, expr->as.slice.stop) &&
               visit_optional(s, expr->as.slice.step);
    case DV_EXPR_STARRED: return visit_expr(s, expr->as.child);
    case DV_EXPR_NAMED: return visit_walrus(s, expr);
    case DV_EXPR_COMPREHENSION: return visit_comprehension(s, expr);
    case DV_EXPR_YIELD:
    case DV_EXPR_YIELD_FROM: return visit_yield(s, expr);
    }
    return true;
}

static bool visit_expr(scoper *s, dv_expr *root) {
    dv_expr *expr = dv_expr_leftmost(root);
    while (visit_node(s, expr)) {
        if (expr == root) return true;
        expr = expr->up;
    }
    return false;
}

/* ---- Statements ---- */

/* A declaration behind a use of the name; `what` is "global" or "nonlocal". */
static bool fail_declaration(scoper *s, const dv_stmt *stmt, const dv_name *name, uint32_t flags,
                             const char *what) {
    if (flags & DV_SYMBOL_PARAMETER)
        dv_front_error(s->front, stmt->at, "name '%.*s' is parameter and %s", DV_NAME_ARGS(name),
                       what);
    else if (flags & DV_SYMBOL_USED)
        dv_front_error(s->front, stmt->at, "name '%.*s' is used prior to %s declaration",
                       DV_NAME_ARGS(name), what);
    else if (flags & DV_SYMBOL_ANNOTATED)
        dv_front_error(s->front, stmt->at, "annotated name '%.*s' can't be %s", DV_NAME_ARGS(name),
                       what);
    else
        dv_front_error(s->front, stmt->at, "name '%.*s' is assigned to before %s declaration",
                       DV_NAME_ARGS(name), what);
    return false;
}

/* global and nonlocal */
static bool visit_declaration(scoper *s, dv_stmt *stmt) {
    const uint32_t conflicts =
        DV_SYMBOL_PARAMETER | DV_SYMBOL_ASSIGNED | DV_SYMBOL_USED | DV_SYMBOL_ANNOTATED;
    bool global = stmt->kind == DV_STMT_GLOBAL;
    if (!global && s->current->kind == DV_SCOPE_MODULE) {
        dv_front_error(s->front, stmt->at, "nonlocal declaration not allowed at module level");
        return false;
    }
    for (uint32_t i = 0; i < stmt->as.names.count; i++) {
        dv_name *name = stmt->as.names.items[i];
        if (!mangle(s, &name)) return false;
        const dv_symbol *known = dv_scope_find(s->current, name);
        if (known != NULL && known->flags & conflicts)
            return fail_declaration(s, stmt, name, known->flags, global ? "global" : "nonlocal");
        dv_symbol *symbol = note(s, name, global ? DV_SYMBOL_GLOBAL : DV_SYMBOL_NONLOCAL);
        if (symbol == NULL) return false;
        if (known == NULL) symbol->declared_at = stmt->at;
    }
    return true;
}

/* Annotations are evaluated in modules and classes only; as text, only those of names are kept. */
static bool visit_annotation_and_value(scoper *s, dv_stmt *stmt) {
    const dv_expr *target = stmt->as.annotate.target;
    bool simple = target->kind == DV_EXPR_NAME && !target->parenthesized;
    if (s->current->kind == DV_SCOPE_FUNCTION || (s->annotations_text && !simple))
        stmt->as.annotate.annotation = NULL;
    if (s->current->kind != DV_SCOPE_FUNCTION) s->current->annotates = true;
    return visit_annotation(s, stmt->as.annotate.annotation) &&
           visit_optional(s, stmt->as.annotate.value);
}

static bool visit_annotated(scoper *s, dv_stmt *stmt) {
    dv_expr *target = stmt->as.annotate.target;
    bool bare = target->kind == DV_EXPR_ATTRIBUTE && stmt->as.annotate.value == NULL;
    if (bare && !check_debug(s, target->as.attribute.name, stmt->at, "assign to")) return false;
    if (target->kind != DV_EXPR_NAME)
        return visit_target(s, target) && visit_annotation_and_value(s, stmt);
    const dv_symbol *known = dv_scope_find(s->current, target->as.name.name);
    uint32_t elsewhere = known == NULL ? 0 : known->flags & (DV_SYMBOL_GLOBAL | DV_SYMBOL_NONLOCAL);
    if (elsewhere && s->current->kind != DV_SCOPE_MODULE && !target->parenthesized) {
        dv_front_error(s->front, stmt->at, "annotated name '%.*s' can't be %s",
                       DV_NAME_ARGS(target->as.name.name),
                       elsewhere & DV_SYMBOL_GLOBAL ? "global" : "nonlocal");
        return false;
    }
    if (target->parenthesized && stmt->as.annotate.value == NULL) /* binds nothing */
        return check_debug(s, target->as.name.name, stmt->at, "assign to") &&
               visit_annotation_and_value(s, stmt);
    uint32_t flags = DV_SYMBOL_ASSIGNED | (target->parenthesized ? 0 : DV_SYMBOL_ANNOTATED);
    dv_range at = stmt->as.annotate.value == NULL ? stmt->at : target->at;
    if (!bind_name(s, target, flags, at)) return false;
    stmt->middle = s->current->occurrence_count;
    return visit_annotation_and_value(s, stmt);
}

static bool visit_aliases(scoper *s, dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.import.count; i++) {
        dv_alias *alias = &stmt->as.import.aliases[i];
        if (alias->target == NULL) {
            if (s->current->kind == DV_SCOPE_MODULE) return true;
            dv_front_error(s->front, alias->at, "import * only allowed at module level");
            return false;
        }
        if (!bind_name(s, alias->target, DV_SYMBOL_IMPORTED, stmt->at)) return false;
    }
    return true;
}

/* Features are on in dl already, or change what it leaves out; but a wrong one is an error. */
static bool check_feature(scoper *s, const dv_alias *alias, dv_range at) {
    static const char *const features[] = {"nested_scopes",    "generators",     "division",
                                           "absolute_import",  "with_statement", "print_function",
                                           "unicode_literals", "generator_stop", "annotations"};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (strlen(features[i]) == alias->path.size &&
            memcmp(features[i], alias->path.data, alias->path.size) == 0) {
            s->annotations_text = s->annotations_text || strcmp(features[i], "annotations") == 0;
            return true;
        }
    const dv_range start = {at.line, at.column, at.line, DV_NO_COLUMN};
    if (alias->path.size == 6 && memcmp("braces", alias->path.data, 6) == 0) {
        dv_front_error(s->front, start, "not a chance");
        return false;
    }
    dv_front_error(s->front, start, "future feature %.*s is not defined", (int)alias->path.size,
                   alias->path.data);
    return false;
}

static bool is_future_import(const dv_stmt *stmt) {
    dv_text module = stmt->as.import.module;
    return stmt->kind == DV_STMT_FROM && stmt->as.import.level == 0 && module.size == 10 &&
           memcmp(module.data, "__future__", 10) == 0;
}

static bool visit_future_import(scoper *s, const dv_stmt *stmt) {
    if (!s->at_beginning) {
        dv_front_error(s->front, stmt->at,
                       "from __future__ imports must occur at the beginning of the file");
        return false;
    }
    for (uint32_t i = 0; i < stmt->as.import.count; i++)
        if (!check_feature(s, &stmt->as.import.aliases[i], stmt->at)) return false;
    return true;
}

static bool visit_from(scoper *s, dv_stmt *stmt) {
    if (is_future_import(stmt) && !visit_future_import(s, stmt)) return false;
    return visit_aliases(s, stmt);
}

static bool visit_try(scoper *s, const dv_stmt *stmt) {
    if (!visit_block(s, &stmt->as.attempt.body)) return false;
    for (uint32_t i = 0; i < stmt->as.attempt.handler_count; i++) {
        dv_handler *handler = &stmt->as.attempt.handlers[i];
        if (!visit_optional(s, handler->type)) return false;
        if (handler->name != NULL && !bind_name(s, handler->name, DV_SYMBOL_ASSIGNED, handler->at))
            return false;
        if (!visit_block(s, &handler->body)) return false;
    }
    return visit_block(s, &stmt->as.attempt.otherwise) && visit_block(s, &stmt->as.attempt.finally);
}

static bool visit_with(scoper *s, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.with.count; i++) {
        const dv_with_item *item = &stmt->as.with.items[i];
        if (!visit_expr(s, item->context)) return false;
        if (item->target != NULL && !visit_target(s, item->target)) return false;
    }
    return visit_block(s, &stmt->as.with.body);
}

static bool visit_pattern(scoper *s, const dv_pattern *pattern) {
    if (!visit_optional(s, pattern->value) || !visit_exprs(s, &pattern->keys)) return false;
    for (uint32_t i = 0; i < pattern->count; i++)
        if (!visit_pattern(s, pattern->items[i])) return false;
    return pattern->name == NULL || bind_name(s, pattern->name, DV_SYMBOL_ASSIGNED, pattern->at);
}

static bool visit_match(scoper *s, const dv_stmt *stmt) {
    if (!visit_expr(s, stmt->as.match.subject)) return false;
    for (uint32_t i = 0; i < stmt->as.match.count; i++) {
        const dv_case *one = &stmt->as.match.cases[i];
        if (!visit_pattern(s, one->pattern) || !visit_optional(s, one->guard) ||
            !visit_block(s, &one->body))
            return false;
    }
    return true;
}

static bool visit_if(scoper *s, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.branch.count; i++) {
        const dv_branch *branch = &stmt->as.branch.branches[i];
        if (!visit_expr(s, branch->test) || !visit_block(s, &branch->body)) return false;
    }
    return visit_block(s, &stmt->as.branch.otherwise);
}

static bool visit_assign(scoper *s, const dv_stmt *stmt) {
    if (!visit_expr(s, stmt->as.assign.value)) return false;
    for (uint32_t i = 0; i < stmt->as.assign.targets.count; i++)
        if (!visit_target(s, stmt->as.assign.targets.items[i])) return false;
    return true;
}

/* CPython lets `x.__debug__ += 1` pass. */
static bool visit_augmented(scoper *s, const dv_stmt *stmt) {
    dv_expr *target = stmt->as.augment.target;
    bool bound = target->kind == DV_EXPR_NAME ? visit_target(s, target) : visit_expr(s, target);
    return bound && visit_expr(s, stmt->as.augment.value);
}

static bool visit_delete(scoper *s, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.targets.count; i++)
        if (!visit_deleted(s, stmt->as.targets.items[i])) return false;
    return true;
}

static bool visit_for(scoper *s, dv_stmt *stmt) {
    if (!visit_target(s, stmt->as.each.target)) return false;
    stmt->middle = s->current->occurrence_count;
    return visit_expr(s, stmt->as.each.iterable) && visit_block(s, &stmt->as.each.body) &&
           visit_block(s, &stmt->as.each.otherwise);
}

static bool visit_kind(scoper *s, dv_stmt *stmt) {
    bool docstring = stmt->kind == DV_STMT_EXPR && dv_expr_is_constant(stmt->as.expr) &&
                     stmt->as.expr->as.constant.kind == DV_CONST_STR;
    if (!docstring && !is_future_import(stmt)) s->at_beginning = false;
    switch (stmt->kind) {
    case DV_STMT_EXPR: return visit_expr(s, stmt->as.expr);
    case DV_STMT_ASSIGN: return visit_assign(s, stmt);
    case DV_STMT_AUGMENT: return visit_augmented(s, stmt);
    case DV_STMT_ANNOTATE: return visit_annotated(s, stmt);
    case DV_STMT_DELETE: return visit_delete(s, stmt);
    case DV_STMT_IF: return visit_if(s, stmt);
    case DV_STMT_WHILE:
        return visit_expr(s, stmt->as.loop.test) && visit_block(s, &stmt->as.loop.body) &&
               visit_block(s, &stmt->as.loop.otherwise);
    case DV_STMT_FOR: return visit_for(s, stmt);
    case DV_STMT_BREAK:
    case DV_STMT_CONTINUE:
    case DV_STMT_PASS: return true;
    case DV_STMT_FUNCTION: return visit_function_statement(s, stmt);
    case DV_STMT_RETURN: return visit_optional(s, stmt->as.expr);
    case DV_STMT_GLOBAL:
    case DV_STMT_NONLOCAL: return visit_declaration(s, stmt);
    case DV_STMT_CLASS: return visit_class(s, stmt);
    case DV_STMT_TRY: return visit_try(s, stmt);
    case DV_STMT_RAISE:
        return visit_optional(s, stmt->as.raise.exception) &&
               visit_optional(s, stmt->as.raise.cause);
    case DV_STMT_WITH: return visit_with(s, stmt);
    case DV_STMT_MATCH: return visit_match(s, stmt);
    case DV_STMT_ASSERT:
        return visit_expr(s, stmt->as.assertion.test) &&
               visit_optional(s, stmt->as.assertion.message);
    case DV_STMT_IMPORT: return visit_aliases(s, stmt);
    case DV_STMT_FROM: return visit_from(s, stmt);
    }
    return true;
}

static bool visit_stmt(scoper *s, dv_stmt *stmt) {
    stmt->first = stmt->middle = s->current->occurrence_count;
    if (!visit_kind(s, stmt)) return false;
    stmt->end = s->current->occurrence_count;
    return true;
}

static bool visit_block(scoper *s, const dv_block *block) {
    for (uint32_t i = 0; i < block->count; i++)
        if (!visit_stmt(s, block->items[i])) return false;
    return true;
}

dv_scope *dv_scope_run(dv_front *front, const dv_block *module) {
    scoper s = {.front = front, .at_beginning = true};
    s.end = &s.first;
    dv_scope *scope = enter_scope(&s, DV_SCOPE_MODULE, NULL);
    if (scope == NULL || !visit_block(&s, module) || !dv_scope_resolve(front, scope)) return NULL;
    return scope;
}
