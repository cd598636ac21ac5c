/* parser.c: texts of cdef and of types; declarations; errors (parser.h, parse.h). */
#include "parse/parse.h"

#include <stdarg.h>
#include <stdio.h>

#include "ctype/layout.h"

static const char source[] = "<cdef source string>";

/* ---- Errors ---- */

static bool raise_class(parser *p, dvx_value class_, const char *text) {
    p->vm->api->raise_format(p->vm, class_, "%s", text);
    return false;
}

enum { MESSAGE = 1200 };

bool parse_refuse(parser *p, const char *format, ...) {
    char text[MESSAGE];
    size_t at = 0;
    if (p->line) at = (size_t)snprintf(text, sizeof text, "%s:%u: ", source, p->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, sizeof text - at, format, arguments);
    va_end(arguments);
    return raise_class(p, p->state->cdef_error, text);
}

bool parse_error(parser *p, const char *format, ...) {
    char text[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return raise_class(p, p->state->ffi_error, text);
}

/* The text of the line that the current token is in, without white space around it. */
static int current_line(const parser *p, const char **line) {
    const char *start = p->lexer.line_start, *end;
    while (*start == ' ' || *start == '\t') start++;
    for (end = start; *end && *end != '\n';) end++;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
    *line = start;
    return (int)(end - start);
}

bool parse_fail(parser *p) {
    char text[MESSAGE];
    p->no_c = true;
    const token *t = parse_token(p);
    const char *line;
    int size = current_line(p, &line);
    if (t->kind == TOKEN_END)
        snprintf(text, sizeof text, "parse error\n%s: At end of input", source);
    else if (t->kind == TOKEN_DIRECTIVE)
        snprintf(text, sizeof text, "cannot parse \"%.*s\"\n%s:%u:%u: Directives not supported yet",
                 size, line, source, t->line, t->column);
    else
        snprintf(text, sizeof text, "cannot parse \"%.*s\"\n%s:%u:%u: before: %.*s", size, line,
                 source, t->line, t->column, (int)t->size, t->text);
    return raise_class(p, p->state->cdef_error, text);
}

bool parse_enter(parser *p) {
    if (p->depth == PARSE_DEEPEST)
        return parse_refuse(p, "declarations nested more than %d deep are not part of dl",
                            PARSE_DEEPEST);
    if (!p->vm->api->enter(p->vm)) return false;
    p->depth++;
    return true;
}

void parse_leave(parser *p) {
    p->depth--;
    p->vm->api->leave(p->vm);
}

bool parse_take(parser *p, char mark) {
    if (!parse_at(p, mark)) return false;
    parse_next(p);
    return true;
}

bool parse_expect(parser *p, char mark) { return parse_take(p, mark) || parse_fail(p); }

/* ---- Declaring ---- */

static bool declare(parser *p, declaration_kind kind, const char *what, const declarator *d,
                    ctype *type) {
    declaration *old = scope_find(p->scope, kind, d->name, d->size);
    if (!old) return scope_add(p->vm, p->scope, kind, d->name, d->size, type) != NULL;
    if (old->type != type && !p->options.override)
        return parse_error(p,
                           "multiple declarations of %s %.*s (for interactive usage, try cdef(xx, "
                           "override=True))",
                           what, (int)d->size, d->name);
    old->type = type;
    return true;
}

/* A typedef of a tagged type names it, unless another one has before. */
static bool declare_typedef(parser *p, const specifiers *s, const declarator *d, ctype *type) {
    if (s->is_tagged && d->is_plain && !type->forced && type == s->type) {
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)d->size, d->name);
        if (!ctype_rename(p->vm, type, name)) return false;
    }
    return declare(p, DECLARED_TYPEDEF, "typedef", d, type);
}

/* `static const int NAME = 42;` and the like; false: it is none of these, or *failed. */
static bool declare_integer(parser *p, const declarator *d, ctype *type, bool *failed) {
    parser ahead = *p;
    scope_integer value;
    if (!parse_take(&ahead, '=') || !ctype_is_integer(type)) return false;
    bool negative = parse_take(&ahead, '-');
    token t = *parse_token(&ahead);
    parse_next(&ahead);
    if (t.kind != TOKEN_NUMBER || (!parse_at(&ahead, ';') && !parse_at(&ahead, ','))) return false;
    *failed = !parse_number(p, t.text, t.size, &value) ||
              !parse_add_constant(p, d->name, d->size, negative ? -value : value);
    p->lexer = ahead.lexer;
    return !*failed;
}

static bool skip_initializer(parser *p) {
    scope_integer ignored;
    return !parse_take(p, '=') || parse_constant(p, &ignored);
}

static bool declare_object(parser *p, const specifiers *s, const declarator *d, ctype *type) {
    bool failed = false;
    if (declare_integer(p, d, type, &failed)) return true;
    if (failed || !skip_initializer(p)) return false;
    bool is_const = ctype_is_pointer(type) ? d->is_const : s->is_const;
    if (is_const && type->kind != CTYPE_ARRAY)
        return declare(p, DECLARED_CONSTANT, "constant", d, type);
    return declare(p, DECLARED_VARIABLE, "variable", d, type);
}

static bool declare_one(parser *p, const specifiers *s) {
    declarator d;
    ctype *type = parse_declarator(p, s->type, &d);
    if (!type) return false;
    if (!d.name) return parse_fail(p);
    if (s->is_typedef) return declare_typedef(p, s, &d, type);
    if (type->kind != CTYPE_FUNCTION) return declare_object(p, s, &d, type);
    if (parse_at(p, '{'))
        return parse_refuse(p, "unexpected <FuncDef>: this construct is valid C but not valid in "
                               "cdef()");
    return declare(p, DECLARED_FUNCTION, "function", &d, type);
}

/* `typedef ... name;` and `typedef ... *name;` */
static bool declare_opaque(parser *p) {
    declarator d;
    char name[256];
    parse_next(p);
    bool points = parse_take(p, '*');
    const token *t = parse_token(p);
    if (t->kind != TOKEN_WORD || t->size > 250) return parse_fail(p);
    d = (declarator){.name = t->text, .size = t->size};
    snprintf(name, sizeof name, "%s%.*s", points ? "$$" : "", (int)t->size, t->text);
    parse_next(p);
    ctype *type = ctype_tagged(p->vm, CTYPE_STRUCT, name);
    if (type) type->forced = true;
    if (type && points) type = ctype_pointer_to(p->vm, type);
    return type && declare(p, DECLARED_TYPEDEF, "typedef", &d, type);
}

static bool is_opaque(parser *p) {
    parser ahead = *p;
    if (!parse_at_word(&ahead, "typedef")) return false;
    parse_next(&ahead);
    if (parse_token(&ahead)->kind != TOKEN_DOTS) return false;
    p->lexer = ahead.lexer;
    return true;
}

/* An unknown word at the beginning is to C the name of what is declared. */
static bool fail_at_word(parser *p) {
    if (parse_token(p)->kind == TOKEN_WORD) parse_next(p);
    return parse_fail(p);
}

static bool is_extern_language(parser *p) {
    parser ahead = *p;
    if (!parse_at_word(p, "extern")) return false;
    parse_next(&ahead);
    return parse_token(&ahead)->kind == TOKEN_STRING;
}

static bool external_declaration(parser *p) {
    specifiers s;
    p->line = parse_token(p)->line;
    if (parse_take(p, ';')) return true;
    if (is_opaque(p)) return declare_opaque(p) && parse_expect(p, ';');
    if (is_extern_language(p)) return parse_refuse(p, "'extern \"...\"' is not part of dl");
    if (!parse_at_type(p)) return fail_at_word(p);
    if (!parse_specifiers(p, &s)) return false;
    if (s.is_tagged && !s.is_typedef && parse_take(p, ';')) return true;
    if (parse_at(p, ';'))
        return parse_refuse(p, s.is_typedef ? "typedef does not declare any name"
                                            : "construct does not declare any variable");
    do
        if (!declare_one(p, &s)) return false;
    while (parse_take(p, ','));
    return parse_expect(p, ';');
}

/* ---- #define ---- */

static bool is_integer_text(const lexer_macro *m) {
    uint32_t at = m->value_size && *m->value == '-';
    if (at == m->value_size) return false;
    for (; at < m->value_size; at++)
        if (!strchr("0123456789abcdefxABCDEFXuUlL", m->value[at])) return false;
    const char *first = m->value + (*m->value == '-');
    return *first >= '0' && *first <= '9';
}

static bool define(void *context, const lexer_macro *m) {
    parser *p = context;
    scope_integer value;
    if (m->value_size == 3 && memcmp(m->value, "...", 3) == 0)
        return parse_refuse(p, "'#define %.*s ...' needs a C compiler and is not part of dl",
                            (int)m->name_size, m->name);
    if (!is_integer_text(m)) {
        int size = (int)m->name_size;
        return parse_refuse(p,
                            "only supports one of the following syntax:\n"
                            "  #define %.*s ...     (literally dot-dot-dot)\n"
                            "  #define %.*s NUMBER  (with NUMBER an integer constant, "
                            "decimal/hex/octal)\n"
                            "got:\n"
                            "  #define %.*s %.*s",
                            size, m->name, size, m->name, size, m->name, (int)m->value_size,
                            m->value);
    }
    bool negative = *m->value == '-';
    return parse_number(p, m->value + negative, m->value_size - negative, &value) &&
           parse_add_constant(p, m->name, m->name_size, negative ? -value : value);
}

/* ---- The entries ---- */

/* Lays out what can be; what cannot is said where it is used. */
static void lay_out_all(dvx_vm *vm, scope *s) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->declarations[i].type && !layout_of(vm, s->declarations[i].type))
            vm->api->clear_error(vm);
}

static bool declare_all(parser *p, char *text) {
    dvx_vm *vm = p->vm;
    if (!lexer_clean(vm, text, define, p)) return false;
    p->lexer = lexer_start(text);
    while (parse_token(p)->kind != TOKEN_END)
        if (!external_declaration(p)) return false;
    lay_out_all(vm, p->scope);
    return true;
}

bool parser_declare(dvx_vm *vm, scope *s, const char *text, size_t size,
                    const parser_options *options) {
    char *copy = vm->api->allocate(vm, size + 1);
    if (!copy) return false;
    memcpy(copy, text, size + 1);
    parser p = {.vm = vm, .scope = s, .state = ffi_state_of(vm), .options = *options};
    uint32_t before = s->count;
    bool good = declare_all(&p, copy);
    if (p.no_c) scope_cut(vm, s, before);
    vm->api->deallocate(vm, copy, size + 1);
    return good;
}

/* The text stands in "void __dummy(\n...\n);", for the positions in messages. */
static ctype *read_type(parser *p) {
    specifiers s;
    declarator d;
    for (int i = 0; i < 3; i++) parse_next(p);
    token t = *parse_token(p);
    if (t.kind == TOKEN_WORD && !parse_at_type(p)) {
        parse_next(p);
        if (!parse_at(p, ')')) return parse_fail(p), NULL;
        return parse_refuse(p, "unknown identifier '%.*s'", (int)t.size, t.text), NULL;
    }
    ctype *type = parse_specifiers(p, &s) ? parse_declarator(p, s.type, &d) : NULL;
    if (!type || !parse_expect(p, ')') || !parse_expect(p, ';')) return NULL;
    return layout_of(p->vm, type) ? type : NULL;
}

static ctype *parse_text(dvx_vm *vm, scope *s, const char *text, size_t size) {
    static const char before[] = "void __dummy(\n", after[] = "\n);";
    size_t whole = sizeof before - 1 + size + sizeof after;
    char *copy = vm->api->allocate(vm, whole);
    if (!copy) return NULL;
    memcpy(copy, before, sizeof before - 1);
    memcpy(copy + sizeof before - 1, text, size);
    memcpy(copy + sizeof before - 1 + size, after, sizeof after);
    parser p = {.vm = vm, .scope = s, .state = ffi_state_of(vm)};
    p.lexer = lexer_start(copy);
    ctype *type = read_type(&p);
    vm->api->deallocate(vm, copy, whole);
    return type;
}

ctype *parser_type(dvx_vm *vm, scope *s, const char *text, size_t size, bool functions) {
    const declaration *known = scope_find(s, DECLARED_TEXT, text, size);
    ctype *type = known ? known->type : parse_text(vm, s, text, size);
    if (!type || (!known && !scope_add(vm, s, DECLARED_TEXT, text, size, type))) return NULL;
    if (type->kind != CTYPE_FUNCTION) return layout_of(vm, type) ? type : NULL;
    if (functions) return ctype_pointer_to(vm, type);
    vm->api->raise_format(vm, ffi_state_of(vm)->cdef_error,
                          "the type '%s' is a function type, not a pointer-to-function type", text);
    return NULL;
}
