/* compile.c: code objects of modules, functions and classes (compile.h). */
#include "lang/compile/compile.h"

#include "lang/compile/assign.h"
#include "lang/compile/compile_expression.h"
#include "lang/compile/compile_statement.h"

#include <string.h>

static const dv_range no_range = {0, 0, 0, 0};

/* ---- Qualified names ---- */

static dv_text join(dv_front *front, dv_text left, const char *middle, dv_text right) {
    size_t size = left.size + strlen(middle) + right.size;
    char *text = dv_front_keep(front, size);
    if (text == NULL) return (dv_text){"", 0};
    memcpy(text, left.data, left.size);
    memcpy(text + left.size, middle, strlen(middle));
    memcpy(text + left.size + strlen(middle), right.data, right.size);
    return (dv_text){text, (uint32_t)size};
}

/* C.f for a method, f.<locals>.g for a function in a function (but for one in a comprehension,
 * which has a name only behind the function around it: f.<locals>.<listcomp>.<lambda>); a name
 * declared global in the scope around is qualified by nothing. */
dv_text dv_compile_qualname(const dv_compiler *outer, dv_text name) {
    dv_name *bound = dv_name_intern(outer->front, name);
    const dv_symbol *symbol = bound == NULL ? NULL : dv_scope_find(outer->scope, bound);
    bool global = symbol != NULL && symbol->flags & DV_SYMBOL_GLOBAL;
    if (outer->scope->kind == DV_SCOPE_MODULE || global) return name;
    const bool plain = outer->scope->kind == DV_SCOPE_CLASS || outer->in_comprehension;
    const char *middle = plain ? "." : ".<locals>.";
    return join(outer->front, outer->qualname, middle, name);
}

/* ---- Code objects ---- */

bool dv_compile_begin(dv_compiler *c, dv_compiler *outer, const dv_scope *scope, dv_text name) {
    *c = (dv_compiler){.front = outer->front, .unit = outer->unit, .scope = scope, .outer = outer};
    c->qualname = dv_compile_qualname(outer, name);
    c->in_comprehension = scope->is_comprehension;
    dv_emit_begin(&c->emit, outer->front);
    return c->front->status == DV_LANG_OK;
}

/* Where locals that are shared with other functions become cells. */
void dv_compile_prologue(dv_compiler *c) {
    const dv_scope *scope = c->scope;
    for (uint32_t i = 0; i < scope->symbol_count; i++) {
        const dv_symbol *symbol = scope->symbols[i];
        if (symbol->access == DV_ACCESS_CELL &&
            symbol->index < scope->local_count - scope->free_count)
            dv_emit_a(&c->emit, DV_OP_MAKE_CELL, symbol->index, no_range);
    }
    if (scope->free_count > 0) dv_emit(&c->emit, DV_OP_COPY_FREE, no_range);
}

/* The call of a generator function ends here, with the generator; what is sent first is dropped. */
void dv_compile_generator(dv_compiler *c, uint32_t line) {
    const dv_range start = {line, 0, line, 0};
    if (!c->scope->is_generator) return;
    dv_emit(&c->emit, DV_OP_MAKE_GENERATOR, start);
    dv_emit(&c->emit, DV_OP_POP_TOP, start);
}

/* What the code object says of its locals. */
bool dv_compile_locals(dv_front *front, const dv_scope *scope, dv_code *code) {
    dv_text *names = dv_front_keep(front, scope->local_count * sizeof *names);
    uint32_t *from = dv_front_keep(front, scope->free_count * sizeof *from);
    static const dv_text hidden = {".total", 6}; /* a consumer's, without another name */
    if (names == NULL || from == NULL) return false;
    for (uint32_t i = 0; i < scope->symbol_count; i++) {
        const dv_symbol *symbol = scope->symbols[i];
        if (symbol->access == DV_ACCESS_LOCAL || symbol->access == DV_ACCESS_CELL)
            names[symbol->index] = symbol->name->text;
    }
    for (const dv_scope *block = scope->blocks; block != NULL; block = block->next_block) {
        for (uint32_t i = 0; i < block->local_count; i++) names[block->first_local + i] = hidden;
        for (uint32_t i = 0; i < block->symbol_count; i++)
            if (dv_scope_is_variable(block->symbols[i]))
                names[block->symbols[i]->index] = block->symbols[i]->name->text;
    }
    static const dv_text locals = {".locals", 7};
    if (scope->sees_locals) {
        names[scope->locals_dict] = locals;
        code->flags |= DV_CODE_SEES_FRAME;
    }
    static const dv_text namespace = {".namespace", 10}, class_cell = {"__class__", 9};
    if (scope->kind != DV_SCOPE_FUNCTION) names[0] = namespace;
    if (scope->class_cell) names[1] = class_cell;
    uint32_t first = scope->local_count - scope->free_count;
    for (uint32_t i = 0; i < scope->free_count; i++) {
        names[first + i] = scope->free[i].name->text;
        from[i] = scope->free[i].from;
    }
    code->local_count = scope->local_count;
    code->local_names = names;
    code->free_count = scope->free_count;
    code->free_from = from;
    return true;
}

dv_code *dv_compile_finish(dv_compiler *c, dv_text name, uint32_t first_line) {
    dv_code *code = dv_front_keep(c->front, sizeof *code);
    if (code == NULL) return NULL;
    code->unit = c->unit;
    code->name = name;
    code->qualname = c->qualname;
    code->first_line = first_line;
    if (c->scope->is_generator) code->flags |= DV_CODE_GENERATOR;
    return dv_emit_finish(&c->emit, code) ? code : NULL;
}

void dv_compile_leave(dv_compiler *c, dv_range at) {
    dv_emit(&c->emit, c->scope->is_generator ? DV_OP_RETURN_GENERATOR : DV_OP_RETURN, at);
}

static void emit_return_none(dv_compiler *c) {
    dv_range at = dv_emit_last_range(&c->emit, no_range);
    dv_emit_a(&c->emit, DV_OP_LOAD_CONST, dv_emit_none(&c->emit), at);
    dv_compile_leave(c, at);
}

/* ---- Docstrings ---- */

/* The docstring that a body begins with, or NULL: it has none, or is to have none. */
static const dv_stmt *docstring(const dv_front *front, const dv_block *body) {
    const dv_stmt *first = body->count > 0 && front->optimize < 2 ? body->items[0] : NULL;
    bool found = first && first->kind == DV_STMT_EXPR && dv_expr_is_constant(first->as.expr) &&
                 first->as.expr->as.constant.kind == DV_CONST_STR;
    return found ? first : NULL;
}

/* __doc__ = '...' in a module or class body */
static bool emit_docstring(dv_compiler *c, const dv_block *body, uint8_t store) {
    const dv_stmt *doc = docstring(c->front, body);
    if (doc == NULL) return true;
    const dv_name *name = dv_name_intern(c->front, (dv_text){"__doc__", 7});
    if (name == NULL) return false;
    uint32_t text = dv_emit_text(&c->emit, doc->as.expr->as.constant.as.text);
    dv_emit_a(&c->emit, DV_OP_LOAD_CONST, text, doc->at);
    dv_emit_a(&c->emit, store, dv_emit_name(&c->emit, name), doc->at);
    return c->front->status == DV_LANG_OK;
}

/* __annotations__ = {} in a module or class body that annotates; lines of the REPL share one. */
static bool emit_annotations(dv_compiler *c, uint8_t store, dv_range at) {
    if (!c->scope->annotates || c->interactive) return true;
    const dv_name *name = dv_name_intern(c->front, (dv_text){"__annotations__", 15});
    if (name == NULL) return false;
    dv_emit_a(&c->emit, DV_OP_BUILD_DICT, 0, at);
    dv_emit_a(&c->emit, store, dv_emit_name(&c->emit, name), at);
    return c->front->status == DV_LANG_OK;
}

/* ---- Modules ---- */

bool dv_compile_module(dv_front *front, dv_unit *unit, const dv_scope *scope,
                       const dv_block *module, bool interactive) {
    static const dv_text name = {"<module>", 8};
    dv_compiler *c = dv_front_scratch(front, sizeof *c);
    if (c == NULL) return false;
    *c = (dv_compiler){.front = front, .unit = unit, .scope = scope, .interactive = interactive};
    c->qualname = name;
    dv_emit_begin(&c->emit, front);
    const uint8_t store = front->evaluated ? DV_OP_STORE_NAME : DV_OP_STORE_GLOBAL;
    if (!emit_annotations(c, store, no_range)) return false;
    if (front->expression) {
        if (!dv_compile_owned(c, module->items[0]->as.expr)) return false;
        dv_compile_leave(c, module->items[0]->at);
    } else {
        if (!interactive && !emit_docstring(c, module, store)) return false;
        if (!dv_compile_block(c, module)) return false;
        emit_return_none(c);
    }
    dv_code *code = dv_compile_finish(c, name, 1);
    if (code == NULL) return false;
    code->flags |= front->evaluated ? DV_CODE_CLASS : DV_CODE_MODULE;
    code->positional_count = front->evaluated;
    unit->code = code;
    return !front->evaluated || dv_compile_locals(front, scope, code);
}

/* ---- Functions ---- */

static dv_text function_name(const dv_function *function) {
    static const dv_text lambda = {"<lambda>", 8};
    return function->name == NULL ? lambda : function->name->text;
}

/* A definition begins with its decorators. */
static uint32_t first_line(const dv_exprs *decorators, dv_range at) {
    return decorators->count > 0 ? decorators->items[0]->at.line : at.line;
}

static void write_parameters(const dv_function *function, dv_code *code) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        switch (function->parameters[i].kind) {
        case DV_PARAMETER_POSITIONAL_ONLY: code->positional_only_count++; /* fall through */
        case DV_PARAMETER_POSITIONAL: code->positional_count++; break;
        case DV_PARAMETER_KEYWORD_ONLY: code->keyword_only_count++; break;
        case DV_PARAMETER_VARARGS: code->flags |= DV_CODE_VARARGS; break;
        case DV_PARAMETER_VARKEYWORDS: code->flags |= DV_CODE_VARKEYWORDS; break;
        }
    }
}

/* The tree's texts live as long as the compilation only. */
static bool keep_text(dv_front *front, dv_text text, dv_text *kept) {
    char *data = dv_front_keep(front, text.size + 1);
    if (data == NULL) return false;
    if (text.size > 0) memcpy(data, text.data, text.size);
    *kept = (dv_text){data, text.size};
    return true;
}

static dv_code *compile_function_body(dv_compiler *outer, const dv_function *function) {
    dv_compiler *c = dv_front_scratch(outer->front, sizeof *c);
    if (c == NULL) return NULL;
    dv_text name = function_name(function);
    if (!dv_compile_begin(c, outer, function->scope, name)) return NULL;
    if (!dv_assign_run(c->front, function)) return NULL;
    uint32_t line = first_line(&function->decorators, function->at);
    dv_compile_prologue(c);
    dv_compile_generator(c, line);
    if (!dv_compile_block(c, &function->body)) return NULL;
    emit_return_none(c);
    dv_code *code = dv_compile_finish(c, name, line);
    if (code == NULL) return NULL;
    write_parameters(function, code);
    const dv_stmt *doc = docstring(c->front, &function->body);
    if (doc != NULL && !keep_text(c->front, doc->as.expr->as.constant.as.text, &code->doc))
        return NULL;
    return dv_compile_locals(c->front, function->scope, code) ? code : NULL;
}

/* The function of a code object, with its last parameters' default values on the stack. */
void dv_compile_make(dv_compiler *c, const dv_code *code, uint32_t defaults, dv_range at) {
    uint8_t op = code->free_count > 0 ? DV_OP_MAKE_CLOSURE : DV_OP_MAKE_FUNCTION;
    for (uint32_t i = 0; i < code->free_count; i++)
        if (code->free_from[i] & DV_FREE_VALUE) op = DV_OP_MAKE_CLOSURE_BY_VALUE;
    dv_emit_ab(&c->emit, op, dv_emit_code(&c->emit, code), defaults, at);
}

/* The default values of keyword-only, or of all other parameters; *count says how many. */
static bool compile_defaults(dv_compiler *c, const dv_function *function, bool keyword_only,
                             dv_range at, uint32_t *count) {
    *count = 0;
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const dv_parameter *parameter = &function->parameters[i];
        if (parameter->standard == NULL) continue;
        if ((parameter->kind == DV_PARAMETER_KEYWORD_ONLY) != keyword_only) continue;
        if (keyword_only)
            dv_emit_a(&c->emit, DV_OP_LOAD_CONST, dv_emit_text(&c->emit, parameter->name->text),
                      at);
        if (!dv_compile_owned(c, parameter->standard)) return false;
        (*count)++;
    }
    return true;
}

static bool has_keyword_defaults(const dv_function *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (function->parameters[i].kind == DV_PARAMETER_KEYWORD_ONLY &&
            function->parameters[i].standard != NULL)
            return true;
    return false;
}

static bool has_annotations(const dv_function *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (function->parameters[i].annotation != NULL) return true;
    return function->returns != NULL;
}

static bool compile_annotation(dv_compiler *c, dv_text name, dv_expr *annotation, dv_range at,
                               uint32_t *count) {
    if (annotation == NULL) return true;
    dv_emit_a(&c->emit, DV_OP_LOAD_CONST, dv_emit_text(&c->emit, name), at);
    *count += 2;
    bool starred = annotation->kind == DV_EXPR_STARRED;
    if (!dv_compile_owned(c, starred ? annotation->as.child : annotation)) return false;
    if (starred) dv_emit_a(&c->emit, DV_OP_UNPACK_SEQUENCE, 1, at);
    return true;
}

static bool compile_parameter_annotations(dv_compiler *c, const dv_function *function,
                                          dv_parameter_kind kind, dv_range at, uint32_t *count) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const dv_parameter *parameter = &function->parameters[i];
        if (parameter->kind == kind &&
            !compile_annotation(c, parameter->name->text, parameter->annotation, at, count))
            return false;
    }
    return true;
}

/* Names and annotations one after the other in a tuple, in CPython's order of evaluation; the dict
 * is made when it is asked for.  *any says whether there are any. */
static bool compile_annotations(dv_compiler *c, const dv_function *function, dv_range at,
                                bool *any) {
    static const dv_parameter_kind order[] = {DV_PARAMETER_POSITIONAL, DV_PARAMETER_POSITIONAL_ONLY,
                                              DV_PARAMETER_VARARGS, DV_PARAMETER_KEYWORD_ONLY,
                                              DV_PARAMETER_VARKEYWORDS};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (!compile_parameter_annotations(c, function, order[i], at, &count)) return false;
    static const dv_text result = {"return", 6};
    if (!compile_annotation(c, result, function->returns, at, &count)) return false;
    *any = count > 0;
    if (*any) dv_emit_a(&c->emit, DV_OP_BUILD_TUPLE, count, at);
    return true;
}

bool dv_compile_function(dv_compiler *c, const dv_function *function, dv_range at) {
    dv_emitter *e = &c->emit;
    bool annotated;
    uint32_t defaults, keyword_defaults;
    if (!compile_defaults(c, function, false, at, &defaults)) return false;
    /* What is evaluated behind the defaults must not be on top of them for MAKE_FUNCTION. */
    bool keyword_only =
        has_keyword_defaults(function) || (defaults > 0 && has_annotations(function));
    if (keyword_only) {
        dv_emit_a(e, DV_OP_BUILD_TUPLE, defaults, at);
        if (!compile_defaults(c, function, true, at, &keyword_defaults)) return false;
        dv_emit_a(e, DV_OP_BUILD_DICT, keyword_defaults, at);
        defaults = 0;
    }
    if (!compile_annotations(c, function, at, &annotated)) return false;
    dv_code *code = compile_function_body(c, function);
    if (code == NULL) return false;
    dv_compile_make(c, code, defaults, at);
    if (annotated) dv_emit(e, DV_OP_SET_ANNOTATIONS, at);
    if (keyword_only) dv_emit(e, DV_OP_SET_DEFAULTS, at);
    return c->front->status == DV_LANG_OK;
}

/* ---- Classes ---- */

static dv_name *intern(dv_compiler *c, const char *text) {
    return dv_name_intern(c->front, (dv_text){text, (uint32_t)strlen(text)});
}

/* __module__ = __name__; __qualname__ = '...'.  A namespace that is prepared may know __name__. */
static bool emit_class_header(dv_compiler *c, bool prepared, dv_range at) {
    const dv_name *name = intern(c, "__name__"), *module = intern(c, "__module__");
    const dv_name *qualname = intern(c, "__qualname__");
    if (name == NULL || module == NULL || qualname == NULL) return false;
    dv_emitter *e = &c->emit;
    dv_emit_a(e, prepared ? DV_OP_LOAD_NAME : DV_OP_LOAD_GLOBAL, dv_emit_name(e, name), at);
    dv_emit_a(e, DV_OP_STORE_NAME, dv_emit_name(e, module), at);
    dv_emit_a(e, DV_OP_LOAD_CONST, dv_emit_text(e, c->qualname), at);
    dv_emit_a(e, DV_OP_STORE_NAME, dv_emit_name(e, qualname), at);
    return c->front->status == DV_LANG_OK;
}

/* The body is a function of one parameter, the namespace, which it returns. */
static dv_code *compile_class_body(dv_compiler *outer, const dv_class *klass, dv_range at) {
    dv_compiler *c = dv_front_scratch(outer->front, sizeof *c);
    if (c == NULL || !dv_compile_begin(c, outer, klass->scope, klass->name->text)) return NULL;
    uint32_t line = first_line(&klass->decorators, at);
    dv_range start = {line, 0, line, 0};
    if (klass->scope->class_cell) dv_emit_a(&c->emit, DV_OP_MAKE_CELL, 1, no_range);
    dv_compile_prologue(c);
    if (!emit_class_header(c, klass->keyword_count || klass->bases.count, start) ||
        !emit_annotations(c, DV_OP_STORE_NAME, start) ||
        !emit_docstring(c, &klass->body, DV_OP_STORE_NAME) || !dv_compile_block(c, &klass->body))
        return NULL;
    dv_range end = dv_emit_last_range(&c->emit, start);
    if (klass->scope->class_cell) dv_emit_a(&c->emit, DV_OP_STORE_CLASS_CELL, 1, end);
    dv_emit_a(&c->emit, DV_OP_LOAD_LOCAL, 0, end);
    dv_emit(&c->emit, DV_OP_RETURN, end);
    dv_code *code = dv_compile_finish(c, klass->name->text, first_line(&klass->decorators, at));
    if (code == NULL || !dv_compile_locals(c->front, klass->scope, code)) return NULL;
    code->flags |= DV_CODE_CLASS;
    code->positional_count = 1;
    return code;
}

bool dv_compile_class(dv_compiler *c, const dv_class *klass, dv_range at) {
    dv_emitter *e = &c->emit;
    if (!dv_compile_class_arguments(c, klass, at)) return false;
    bool named = klass->keyword_count > 0, prepared = named || klass->bases.count > 0;
    uint32_t name = dv_emit_name(e, klass->name);
    if (prepared) dv_emit_a(e, named ? DV_OP_PREPARE_CLASS_KW : DV_OP_PREPARE_CLASS, name, at);
    dv_code *code = compile_class_body(c, klass, at);
    if (code == NULL) return false;
    dv_compile_make(c, code, 0, at);
    dv_emit(e, DV_OP_PREPARE_CALL, at);
    /* Only bases and keyword arguments can bring a metaclass; its namespace is below the callee. */
    dv_emit_a(e, prepared ? DV_OP_COPY : DV_OP_BUILD_DICT, prepared ? 4 : 0, at);
    dv_emit_a(e, DV_OP_CALL, 1, at);
    if (prepared) dv_emit(e, DV_OP_POP_TOP, at);
    dv_emit_a(e, named ? DV_OP_BUILD_CLASS_KW : DV_OP_BUILD_CLASS, name, at);
    return c->front->status == DV_LANG_OK;
}
