/* resolve.c: what the names of a module's scopes mean (resolve.h).
 *
 * Invariants
 *  1. Scopes are listed before those inside them.
 *  2. A name that an inlined comprehension does not bind occurs in the scope around it, too, and
 *     means the same there.
 *  3. A local that a function inside uses is a cell; a comprehension with such a variable is not
 *     inlined, so no variable of an inlined one is a cell. */
#include "lang/compile/resolve.h"

#include <stdlib.h>
#include <string.h>

/* The function around the scope that binds the name, or the class whose cell it is, or NULL. */
static dv_scope *binding_scope(const dv_scope *scope, const dv_name *name) {
    for (dv_scope *outer = scope->parent; outer != NULL; outer = outer->parent) {
        if (outer->class_cell && dv_name_is(name, "__class__")) return outer;
        if (outer->kind != DV_SCOPE_FUNCTION) continue;
        const dv_symbol *symbol = dv_scope_find(outer, name);
        if (symbol == NULL || symbol->flags & DV_SYMBOL_NONLOCAL) continue;
        if (symbol->flags & DV_SYMBOL_GLOBAL) return NULL;
        if (symbol->flags & DV_SYMBOL_BOUND) return outer;
    }
    return NULL;
}

/* Marks the variables of functions around that the scope uses. */
static void mark_captured(const dv_scope *scope) {
    if (scope->kind == DV_SCOPE_MODULE) return;
    for (uint32_t i = 0; i < scope->symbol_count; i++) {
        const dv_symbol *symbol = scope->symbols[i];
        bool own = symbol->flags & DV_SYMBOL_BOUND && !(symbol->flags & DV_SYMBOL_NONLOCAL);
        if (own || symbol->flags & DV_SYMBOL_GLOBAL) continue;
        dv_scope *owner = binding_scope(scope, symbol->name);
        if (owner != NULL && owner->kind == DV_SCOPE_FUNCTION)
            dv_scope_find(owner, symbol->name)->flags |= DV_SYMBOL_CAPTURED;
    }
}

static int compare_names(const void *a, const void *b) {
    dv_text x = (*(dv_symbol *const *)a)->name->text, y = (*(dv_symbol *const *)b)->name->text;
    int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

/* ---- Comprehensions in place ---- */

bool dv_scope_binds(const dv_symbol *symbol) {
    return symbol->flags & DV_SYMBOL_BOUND &&
           !(symbol->flags & (DV_SYMBOL_GLOBAL | DV_SYMBOL_NONLOCAL));
}

bool dv_scope_is_variable(const dv_symbol *symbol) {
    return dv_scope_binds(symbol) && !(symbol->flags & DV_SYMBOL_PARAMETER);
}

/* Functions that take the locals of the frame that they are called in for a dict. */
static bool sees_locals(const dv_name *name) {
    return dv_name_is(name, "locals") || dv_name_is(name, "vars") || dv_name_is(name, "eval") ||
           dv_name_is(name, "exec");
}

/* Functions that tell something of that frame. */
static bool sees_frame(const dv_name *name) {
    return sees_locals(name) || dv_name_is(name, "super") || dv_name_is(name, "dir");
}

/* Does nothing that the module's text shows give the consumer's name another meaning? */
static bool is_builtin(dv_front *front, const dv_scope *scope) {
    if (scope->consumer == DV_CONSUMER_JOIN) return true;
    const char *text = dv_consumer_names[scope->consumer];
    const dv_name *name = dv_name_intern(front, (dv_text){text, (uint32_t)strlen(text)});
    if (name == NULL) return false;
    for (const dv_scope *outer = scope->parent; outer != NULL; outer = outer->parent) {
        const dv_symbol *symbol = dv_scope_find(outer, name);
        if (symbol != NULL && symbol->flags & DV_SYMBOL_BOUND) return false;
    }
    return true;
}

/* What functions bind as `global` is bound in the module. */
static bool note_globals(dv_front *front, dv_scope *module) {
    for (const dv_scope *scope = module->next; scope != NULL; scope = scope->next)
        for (uint32_t i = 0; i < scope->symbol_count; i++) {
            const dv_symbol *symbol = scope->symbols[i];
            if (symbol->flags & DV_SYMBOL_GLOBAL && symbol->flags & DV_SYMBOL_BOUND &&
                dv_scope_note(front, module, symbol->name, DV_SYMBOL_ASSIGNED) == NULL)
                return false;
        }
    return true;
}

/* The other form of a generator expression holds those of generator expressions in it, of which
 * there are two again: */
enum { MOST_OUTLINES = 3 };

/* A function in it, or a walrus, would share variables with the function around. */
static bool is_consumed(dv_front *front, const dv_scope *scope) {
    if (scope->consumer == DV_CONSUMER_NONE || scope->has_functions) return false;
    for (uint32_t i = 0; i < scope->symbol_count; i++) {
        const uint32_t flags = scope->symbols[i]->flags;
        if (flags & DV_SYMBOL_BOUND && flags & (DV_SYMBOL_GLOBAL | DV_SYMBOL_NONLOCAL))
            return false;
    }
    return scope->outlines < MOST_OUTLINES && is_builtin(front, scope);
}

static bool can_be_inlined(dv_front *front, const dv_scope *scope) {
    if (!scope->is_comprehension || (scope->is_generator && !is_consumed(front, scope)))
        return false;
    if (scope->parent->kind != DV_SCOPE_FUNCTION) return false;
    uint32_t own = 0;
    for (uint32_t i = 0; i < scope->symbol_count; i++) {
        const dv_symbol *symbol = scope->symbols[i];
        if (sees_frame(symbol->name)) return false;
        if (!dv_scope_is_variable(symbol)) continue;
        if (symbol->flags & DV_SYMBOL_CAPTURED) return false;
        own++;
    }
    return own > 0; /* the last of which ends it (LEAVE_COMPREHENSION) */
}

/* What an inlined comprehension takes from outside occurs in the scope around it. */
static bool note_in_parent(dv_front *front, const dv_scope *scope) {
    for (uint32_t i = 0; i < scope->symbol_count; i++) {
        const dv_symbol *symbol = scope->symbols[i];
        if (symbol->flags & DV_SYMBOL_PARAMETER || dv_scope_is_variable(symbol)) continue;
        /* A walrus binds further out: comprehensions between pass it on. */
        uint32_t flags =
            scope->parent->is_comprehension ? symbol->flags : DV_SYMBOL_USED | DV_SYMBOL_SHARED;
        if (dv_scope_note(front, scope->parent, symbol->name,
                          flags & ~(uint32_t)DV_SYMBOL_CAPTURED) == NULL)
            return false;
    }
    return true;
}

/* Decides, from the inside out, which comprehensions are inlined, and marks the variables that
 * functions inside share. */
static bool place_comprehensions(dv_front *front, dv_scope *first) {
    uint32_t count = 0;
    for (dv_scope *scope = first; scope != NULL; scope = scope->next) count++;
    dv_scope **scopes = dv_front_scratch(front, count * sizeof *scopes);
    if (scopes == NULL) return false;
    count = 0;
    for (dv_scope *scope = first; scope != NULL; scope = scope->next) scopes[count++] = scope;
    for (uint32_t i = count; i-- > 0;) {
        dv_scope *parent = scopes[i]->parent;
        if (!can_be_inlined(front, scopes[i])) {
            mark_captured(scopes[i]);
            if (parent != NULL) parent->has_functions = true;
            continue;
        }
        scopes[i]->host = parent;
        scopes[i]->outlines += scopes[i]->is_generator;
        if (parent->outlines < scopes[i]->outlines) parent->outlines = scopes[i]->outlines;
        parent->has_functions = parent->has_functions || scopes[i]->has_functions;
        if (!note_in_parent(front, scopes[i])) return false;
    }
    for (uint32_t i = 0; i < count; i++)
        if (scopes[i]->host != NULL && scopes[i]->host->host != NULL)
            scopes[i]->host = scopes[i]->host->host;
    return true;
}

static dv_symbol *next_own(const dv_scope *scope, uint32_t *i) {
    while (*i < scope->symbol_count) {
        dv_symbol *symbol = scope->symbols[(*i)++];
        if (dv_scope_is_variable(symbol)) return symbol;
    }
    return NULL;
}

/* Locals for what the consumer has so far, behind the variables. */
static uint32_t hidden_locals(const dv_scope *scope) {
    const dv_consumer consumer = scope->is_generator ? scope->consumer : DV_CONSUMER_NONE;
    if (consumer == DV_CONSUMER_MIN || consumer == DV_CONSUMER_MAX) return 2;
    return consumer == DV_CONSUMER_SUM || consumer == DV_CONSUMER_NEXT;
}

/* Can the comprehension have the locals of `other`: variables of the same names, which are not in
 * use around it? */
static bool can_share(const dv_scope *scope, const dv_scope *other) {
    uint32_t i = 0, k = 0;
    if (hidden_locals(scope) != hidden_locals(other)) return false;
    for (;;) {
        const dv_symbol *own = next_own(scope, &i), *its = next_own(other, &k);
        if (own == NULL && its == NULL) break;
        if (own == NULL || its == NULL || own->name != its->name) return false;
    }
    for (const dv_scope *outer = scope->parent; outer->host != NULL; outer = outer->parent)
        if (outer->first_local == other->first_local) return false;
    return true;
}

static void number_inlined(dv_scope *scope) {
    dv_scope *host = scope->host, *block = host->blocks;
    while (block != NULL && !can_share(scope, block)) block = block->next_block;
    scope->first_local = block != NULL ? block->first_local : host->local_count;
    uint32_t i = 0;
    for (dv_symbol *own = next_own(scope, &i); own != NULL; own = next_own(scope, &i)) {
        own->access = DV_ACCESS_LOCAL;
        own->index = scope->first_local + scope->local_count++;
    }
    scope->local_count += hidden_locals(scope);
    if (block != NULL) return;
    host->local_count += scope->local_count;
    scope->next_block = host->blocks;
    host->blocks = scope;
}

/* Other names mean what they mean in the scope around. */
static void resolve_inlined(dv_scope *scope) {
    for (uint32_t i = 0; i < scope->symbol_count; i++) {
        dv_symbol *symbol = scope->symbols[i];
        if (symbol->flags & DV_SYMBOL_PARAMETER || dv_scope_is_variable(symbol)) continue;
        const dv_symbol *outer = dv_scope_find(scope->parent, symbol->name);
        symbol->access = outer->access;
        symbol->index = outer->index;
    }
}

/* ---- Turns ----
 *
 * CPython numbers locals in the order in which its compiler comes to their names: in that of the
 * text, but what a loop iterates over comes before the target, `else` of a try before the handlers,
 * and a finally body where something leaves the try statement for the first time. */

/* A loop or a try statement with `finally` around the code. */
typedef struct around {
    struct around *outer;
    const dv_stmt *attempt; /* NULL: a loop */
    bool taken;             /* its finally body, once is enough */
} around;

typedef struct sequence {
    dv_scope *scope;
    uint32_t turns;
} sequence;

static void take_stmt(sequence *q, dv_stmt *stmt, around *outer);

static void take_range(sequence *q, uint32_t from, uint32_t to) {
    for (; from < to; from++) {
        dv_symbol *symbol = q->scope->occurrences[from];
        if (symbol->turn == 0) symbol->turn = ++q->turns;
    }
}

/* A block and what stands before it, from `at` on; where it ends. */
static uint32_t take_block(sequence *q, const dv_block *block, uint32_t at, around *outer) {
    for (uint32_t i = 0; i < block->count; i++) {
        dv_stmt *stmt = block->items[i];
        take_range(q, at, stmt->first);
        take_stmt(q, stmt, outer);
        at = stmt->end;
    }
    return at;
}

/* Leaves all try statements up to a loop, or all: the finally body of each comes here. */
static void take_finally(sequence *q, around *from, bool to_loop) {
    for (around *a = from; a != NULL && !(a->attempt == NULL && to_loop); a = a->outer) {
        if (a->attempt == NULL || a->taken) continue;
        const dv_block *finally = &a->attempt->as.attempt.finally;
        a->taken = true;
        take_block(q, finally, finally->items[0]->first, a->outer);
    }
}

static uint32_t end_of(const dv_block *block, uint32_t otherwise) {
    return block->count ? block->items[block->count - 1]->end : otherwise;
}

static void take_try(sequence *q, dv_stmt *stmt, around *outer) {
    around inner = {outer, stmt, false}, *here = stmt->as.attempt.has_finally ? &inner : outer;
    const uint32_t count = stmt->as.attempt.handler_count;
    uint32_t at = take_block(q, &stmt->as.attempt.body, stmt->first, here);
    const dv_block *last = count ? &stmt->as.attempt.handlers[count - 1].body : NULL;
    take_block(q, &stmt->as.attempt.otherwise, last ? end_of(last, at) : at, here);
    for (uint32_t i = 0; i < count; i++)
        at = take_block(q, &stmt->as.attempt.handlers[i].body, at, here);
    const dv_block *finally = &stmt->as.attempt.finally;
    if (here == &inner && !inner.taken) take_block(q, finally, finally->items[0]->first, outer);
}

static void take_if(sequence *q, dv_stmt *stmt, around *outer) {
    uint32_t at = stmt->first;
    for (uint32_t i = 0; i < stmt->as.branch.count; i++)
        at = take_block(q, &stmt->as.branch.branches[i].body, at, outer);
    take_block(q, &stmt->as.branch.otherwise, at, outer);
}

static void take_match(sequence *q, dv_stmt *stmt, around *outer) {
    uint32_t at = stmt->first;
    for (uint32_t i = 0; i < stmt->as.match.count; i++)
        at = take_block(q, &stmt->as.match.cases[i].body, at, outer);
}

static void take_loop(sequence *q, dv_stmt *stmt, const dv_block *body, const dv_block *otherwise,
                      around *outer) {
    take_range(q, stmt->middle, body->items[0]->first);
    take_range(q, stmt->first, stmt->middle);
    uint32_t at = take_block(q, body, body->items[0]->first, &(around){outer, NULL, false});
    take_block(q, otherwise, at, outer);
}

static void take_stmt(sequence *q, dv_stmt *stmt, around *outer) {
    const dv_stmt_kind kind = stmt->kind;
    if (kind == DV_STMT_ANNOTATE && stmt->as.annotate.value == NULL &&
        stmt->as.annotate.target->kind == DV_EXPR_NAME)
        return;
    switch (kind) {
    case DV_STMT_IF: take_if(q, stmt, outer); return;
    case DV_STMT_WHILE:
        take_loop(q, stmt, &stmt->as.loop.body, &stmt->as.loop.otherwise, outer);
        return;
    case DV_STMT_FOR:
        take_loop(q, stmt, &stmt->as.each.body, &stmt->as.each.otherwise, outer);
        return;
    case DV_STMT_WITH: take_block(q, &stmt->as.with.body, stmt->first, outer); return;
    case DV_STMT_TRY: take_try(q, stmt, outer); return;
    case DV_STMT_MATCH: take_match(q, stmt, outer); return;
    default: break;
    }
    take_range(q, stmt->middle, stmt->end);
    take_range(q, stmt->first, stmt->middle);
    if (kind == DV_STMT_RETURN) take_finally(q, outer, false);
    if (kind == DV_STMT_BREAK || kind == DV_STMT_CONTINUE) take_finally(q, outer, true);
}

static int compare_turns(const void *a, const void *b) {
    const uint32_t x = (*(dv_symbol *const *)a)->turn, y = (*(dv_symbol *const *)b)->turn;
    return (x > y) - (x < y);
}

/* ---- Numbers ---- */

/* Local variables get their numbers first, since free variables come behind them.  Those that are
 * captured, or would be if no comprehension were compiled in place, and no parameters are the last,
 * by name, as in CPython: locals die in this order. */
static bool number_locals(dv_front *front, dv_scope *scope) {
    if (scope->kind == DV_SCOPE_CLASS) scope->local_count = scope->class_cell ? 2 : 1;
    if (scope->kind == DV_SCOPE_MODULE && front->evaluated) scope->local_count = 1;
    if (scope->host != NULL) {
        number_inlined(scope);
        return true;
    }
    if (scope->kind != DV_SCOPE_FUNCTION || scope->symbol_count == 0) return true;
    sequence q = {.scope = scope};
    if (scope->body != NULL) take_block(&q, scope->body, 0, NULL);
    dv_symbol **others = dv_front_scratch(front, scope->symbol_count * sizeof *others);
    dv_symbol **cells = dv_front_scratch(front, scope->symbol_count * sizeof *cells);
    if (others == NULL || cells == NULL) return false;
    uint32_t other_count = 0, cell_count = 0;
    for (uint32_t i = 0; i < scope->symbol_count; i++) {
        dv_symbol *symbol = scope->symbols[i];
        scope->sees_locals = scope->sees_locals || sees_locals(symbol->name);
        bool elsewhere = symbol->flags & (DV_SYMBOL_GLOBAL | DV_SYMBOL_NONLOCAL);
        if (elsewhere || !(symbol->flags & DV_SYMBOL_BOUND)) continue;
        symbol->access = DV_ACCESS_LOCAL;
        const uint32_t cell = DV_SYMBOL_CAPTURED | DV_SYMBOL_SHARED;
        if (symbol->flags & DV_SYMBOL_PARAMETER)
            symbol->index = scope->local_count++;
        else if (symbol->flags & cell)
            cells[cell_count++] = symbol;
        else
            others[other_count++] = symbol;
        if (symbol->turn == 0) symbol->turn = ++q.turns;
    }
    qsort(others, other_count, sizeof *others, compare_turns);
    for (uint32_t i = 0; i < other_count; i++) others[i]->index = scope->local_count++;
    qsort(cells, cell_count, sizeof *cells, compare_names);
    for (uint32_t i = 0; i < cell_count; i++) cells[i]->index = scope->local_count++;
    if (scope->sees_locals) scope->locals_dict = scope->local_count++;
    return true;
}

static bool add_free(dv_front *front, dv_scope *scope, dv_name *name, uint32_t from) {
    void *items = scope->free;
    if (!dv_front_reserve(front, &items, scope->free_count, &scope->free_capacity,
                          sizeof(dv_free_variable)))
        return false;
    scope->free = items;
    if (!dv_index_map_put(front, &scope->free_map, name, scope->free_count)) return false;
    scope->free[scope->free_count++] = (dv_free_variable){name, from};
    scope->local_count++;
    return true;
}

/* The local of `scope` that holds the cell of a variable of `owner`, which is the scope itself or
 * one around it: all scopes between pass the cell on. */
static bool capture(dv_front *front, dv_scope *scope, dv_scope *owner, dv_name *name,
                    uint32_t *local) {
    if (scope->host != NULL) scope = scope->host;
    if (scope == owner && scope->kind == DV_SCOPE_CLASS) {
        *local = 1;
        return true;
    }
    if (scope == owner) {
        dv_symbol *symbol = dv_scope_find(owner, name);
        symbol->access = DV_ACCESS_CELL;
        *local = symbol->index;
        return true;
    }
    uint32_t known = dv_index_map_get(&scope->free_map, name);
    if (known == DV_NO_INDEX) {
        uint32_t from;
        if (!capture(front, scope->parent, owner, name, &from)) return false;
        known = scope->free_count;
        if (!add_free(front, scope, name, from)) return false;
    }
    *local = scope->local_count - scope->free_count + known;
    return true;
}

/* ---- The other form of a generator expression ---- */

typedef struct saved_symbol {
    dv_access access;
    uint32_t index;
} saved_symbol;

struct dv_outline {
    dv_scope *first;
    dv_scope *scopes; /* as they were */
    uint32_t count;
    saved_symbol *symbols;
};

static bool is_within(const dv_scope *scope, const dv_scope *outer) {
    while (scope != NULL && scope != outer) scope = scope->parent;
    return scope != NULL;
}

static dv_outline *save(dv_front *front, dv_scope *first) {
    uint32_t symbols = 0, n = 0;
    dv_outline *outline = dv_front_scratch(front, sizeof *outline);
    if (outline == NULL) return NULL;
    outline->first = first;
    for (dv_scope *scope = first; is_within(scope, first); scope = scope->next)
        outline->count++, symbols += scope->symbol_count;
    outline->scopes = dv_front_scratch(front, outline->count * sizeof *outline->scopes);
    outline->symbols = dv_front_scratch(front, symbols * sizeof *outline->symbols);
    if (outline->scopes == NULL || outline->symbols == NULL) return NULL;
    dv_scope *scope = first;
    for (uint32_t i = 0; i < outline->count; i++, scope = scope->next) {
        outline->scopes[i] = *scope;
        for (uint32_t k = 0; k < scope->symbol_count; k++)
            outline->symbols[n++] =
                (saved_symbol){scope->symbols[k]->access, scope->symbols[k]->index};
    }
    return outline;
}

void dv_scope_restore(const dv_outline *outline) {
    uint32_t n = 0;
    dv_scope *scope = outline->first;
    for (uint32_t i = 0; i < outline->count; i++, scope = scope->next) {
        *scope = outline->scopes[i];
        for (uint32_t k = 0; k < scope->symbol_count; k++, n++) {
            scope->symbols[k]->access = outline->symbols[n].access;
            scope->symbols[k]->index = outline->symbols[n].index;
        }
    }
}

/* What it takes from around it are its free variables. */
static bool add_outer(dv_front *front, dv_scope *scope) {
    for (uint32_t i = 0; i < scope->symbol_count; i++) {
        dv_symbol *symbol = scope->symbols[i];
        if (symbol->flags & DV_SYMBOL_PARAMETER || dv_scope_is_variable(symbol)) continue;
        const dv_symbol *outer = dv_scope_find(scope->parent, symbol->name);
        if (outer->access != DV_ACCESS_LOCAL && outer->access != DV_ACCESS_CELL) continue;
        const bool value = outer->access == DV_ACCESS_LOCAL;
        symbol->access = DV_ACCESS_CELL;
        symbol->index = scope->local_count;
        if (!add_free(front, scope, symbol->name, outer->index | (value ? DV_FREE_VALUE : 0)))
            return false;
    }
    return true;
}

dv_outline *dv_scope_outline(dv_front *front, dv_scope *first) {
    dv_outline *outline = save(front, first);
    if (outline == NULL) return NULL;
    dv_scope *scope = first;
    for (uint32_t i = 0; i < outline->count; i++, scope = scope->next) {
        scope->host = i == 0 ? NULL : first;
        scope->local_count = scope->free_count = scope->free_capacity = 0;
        scope->free = NULL;
        scope->free_map = (dv_index_map){0};
        scope->blocks = NULL;
        for (uint32_t k = 0; k < scope->symbol_count; k++)
            scope->symbols[k]->access = DV_ACCESS_GLOBAL;
    }
    scope = first;
    for (uint32_t i = 0; i < outline->count; i++, scope = scope->next)
        if (!number_locals(front, scope)) return NULL;
    if (!add_outer(front, first)) return NULL;
    scope = first->next;
    for (uint32_t i = 1; i < outline->count; i++, scope = scope->next) resolve_inlined(scope);
    return outline;
}

static bool fail_nonlocal(dv_front *front, const dv_symbol *symbol) {
    if (symbol->flags & DV_SYMBOL_GLOBAL)
        dv_front_error(front, symbol->declared_at, "name '%.*s' is nonlocal and global",
                       DV_NAME_ARGS(symbol->name));
    else
        dv_front_error(front, symbol->declared_at, "no binding for nonlocal '%.*s' found",
                       DV_NAME_ARGS(symbol->name));
    return false;
}

static bool resolve_symbol(dv_front *front, dv_scope *scope, dv_symbol *symbol) {
    if (symbol->access == DV_ACCESS_LOCAL || symbol->access == DV_ACCESS_CELL) return true;
    bool bound = symbol->flags & DV_SYMBOL_BOUND, nonlocal = symbol->flags & DV_SYMBOL_NONLOCAL;
    if (nonlocal && symbol->flags & DV_SYMBOL_GLOBAL) return fail_nonlocal(front, symbol);
    if (symbol->flags & DV_SYMBOL_GLOBAL) return true;
    if (scope->kind == DV_SCOPE_MODULE) {
        if (front->evaluated) symbol->access = DV_ACCESS_NAMESPACE;
        return true;
    }
    dv_scope *owner = bound && !nonlocal ? NULL : binding_scope(scope, symbol->name);
    if (owner != NULL) {
        symbol->access = DV_ACCESS_CELL;
        return capture(front, scope, owner, symbol->name, &symbol->index);
    }
    if (nonlocal) return fail_nonlocal(front, symbol);
    if (scope->kind == DV_SCOPE_CLASS) symbol->access = DV_ACCESS_NAMESPACE;
    return true;
}

/* Scopes are listed before those inside them. */
bool dv_scope_resolve(dv_front *front, dv_scope *first) {
    if (!note_globals(front, first) || !place_comprehensions(front, first)) return false;
    for (dv_scope *scope = first; scope != NULL; scope = scope->next)
        if (!number_locals(front, scope)) return false;
    for (dv_scope *scope = first; scope != NULL; scope = scope->next)
        for (uint32_t i = 0; scope->host == NULL && i < scope->symbol_count; i++)
            if (!resolve_symbol(front, scope, scope->symbols[i])) return false;
    for (dv_scope *scope = first; scope != NULL; scope = scope->next)
        if (scope->host != NULL) resolve_inlined(scope);
    return true;
}
