/* specifier.c: the words before a declarator, with the bodies of structs, unions and enums
 * (parse.h). */
#include "parse/parse.h"

#include <stdio.h>

enum { LONGEST_NAME = 250 };

static bool check_name(parser *p, uint32_t size) {
    return size <= LONGEST_NAME ||
           parse_refuse(p, "names of more than %d characters are not part of dl", LONGEST_NAME);
}

/* ---- Names of types ---- */

static const char *const type_words[] = {"void",   "char",   "short",  "int",      "long",
                                         "float",  "double", "signed", "unsigned", "_Bool",
                                         "struct", "union",  "enum",   "_Complex"};
static const char *const other_words[] = {"const",  "volatile", "restrict", "typedef",
                                          "extern", "static",   "inline",   "register"};

static bool is_among(const token *t, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (token_is_word(t, words[i])) return true;
    return false;
}

/* The type of a typedef, of a name that is always known, or NULL. */
static ctype *find_named(parser *p, const token *t) {
    const declaration *d = scope_find(p->scope, DECLARED_TYPEDEF, t->text, t->size);
    if (d) return d->type;
    const char *common = ctype_common_name(t->text, t->size);
    if (common) return ctype_primitive(p->state, common, strlen(common));
    if (t->size > 2 && memcmp(t->text + t->size - 2, "_t", 2) == 0)
        return ctype_primitive(p->state, t->text, t->size);
    return token_is_word(t, "FILE") ? p->state->file_type : NULL;
}

bool parse_at_type(parser *p) {
    const token *t = parse_token(p);
    if (t->kind != TOKEN_WORD) return false;
    return is_among(t, type_words, LENGTH_OF(type_words)) ||
           is_among(t, other_words, LENGTH_OF(other_words)) || find_named(p, t) != NULL;
}

/* ---- Enums ---- */

static bool enumerator(parser *p, ctype_enumerator *e, scope_integer *next) {
    token t = *parse_token(p);
    if (t.kind == TOKEN_DOTS)
        return parse_error(p, ":%u: '...' in an enum needs a C compiler and is not part of dl",
                           t.line);
    if (t.kind != TOKEN_WORD) return parse_fail(p);
    if (!check_name(p, t.size)) return false;
    parse_next(p);
    if (parse_take(p, '=') && !parse_constant(p, next)) return false;
    if (!parse_add_constant(p, t.text, t.size, *next)) return false;
    dvx_vm *vm = p->vm;
    e->name = vm->api->allocate(vm, t.size + 1);
    if (!e->name) return false;
    memcpy(e->name, t.text, t.size);
    e->name[t.size] = 0;
    e->value = (int64_t)*next;
    ++*next;
    return true;
}

static bool enum_body(parser *p, ctype *type) {
    dvx_vm *vm = p->vm;
    ctype_enumerator *list = NULL;
    uint32_t count = 0, capacity = 0;
    scope_integer next = 0;
    bool good = !parse_at(p, '}') || parse_fail(p);
    while (good && !parse_at(p, '}')) {
        good = ffi_grow(vm, (void **)&list, count, &capacity, sizeof *list) &&
               enumerator(p, &list[count], &next);
        count += good;
        if (good && !parse_take(p, ',')) break;
    }
    good = good && parse_expect(p, '}');
    if (count && good && count < capacity)
        list = vm->api->resize(vm, list, capacity * sizeof *list, count * sizeof *list),
        capacity = count;
    if (good && list) return ctype_complete_enum(vm, type, list, count);
    for (uint32_t i = 0; i < count; i++)
        vm->api->deallocate(vm, list[i].name, strlen(list[i].name) + 1);
    vm->api->deallocate(vm, list, capacity * sizeof *list);
    return false;
}

/* ---- Members ---- */

static bool add_member(parser *p, ctype *type, const declarator *d, ctype *member, int bits) {
    dvx_vm *vm = p->vm;
    if (!check_name(p, d->size) || !ffi_grow(vm, (void **)&type->declared, type->declared_count,
                                             &type->declared_capacity, sizeof *type->declared))
        return false;
    char *name = vm->api->allocate(vm, d->size + 1);
    if (!name) return false;
    if (d->size) memcpy(name, d->name, d->size);
    name[d->size] = 0;
    type->declared[type->declared_count++] =
        (ctype_field){.name = name, .type = member, .bit_shift = -1, .bit_size = (int16_t)bits};
    return true;
}

static bool member(parser *p, ctype *type, const specifiers *s) {
    declarator d;
    ctype *made = parse_declarator(p, s->type, &d);
    scope_integer bits = -1;
    if (!made) return false;
    if (parse_take(p, ':')) {
        if (!parse_constant(p, &bits)) return false;
        if (bits < 0 || bits > 1024) bits = 1024;
    } else if (!d.name && !(d.is_plain && ctype_is_record(made))) {
        return parse_fail(p);
    }
    return add_member(p, type, &d, made, (int)bits);
}

static bool members(parser *p, ctype *type) {
    while (!parse_take(p, '}')) {
        specifiers s;
        if (parse_token(p)->kind == TOKEN_DOTS)
            return parse_error(p, ":%u: '...' in a struct needs a C compiler and is not part of dl",
                               parse_token(p)->line);
        if (!parse_at_type(p)) return parse_fail(p);
        if (!parse_specifiers(p, &s)) return false;
        do
            if (!member(p, type, &s)) return false;
        while (parse_take(p, ','));
        if (!parse_expect(p, ';')) return false;
    }
    return true;
}

/* Members belong to the type even after an error, as it frees them; it stays without a layout. */
static bool record_body(parser *p, ctype *type, const token *tag) {
    if (type->has_members || type->declared_count)
        return parse_refuse(p, "duplicate declaration of struct %.*s", (int)tag->size, tag->text);
    type->pack = p->options.pack;
    if (!parse_enter(p)) return false;
    bool good = members(p, type);
    parse_leave(p);
    type->has_members = good;
    return good;
}

/* ---- struct, union, enum ---- */

/* The name that a typedef gives to the anonymous body that begins here: in `{...} name;`. */
static bool name_behind(const parser *p, token *name) {
    parser ahead = *p;
    uint32_t depth = 0;
    do {
        if (parse_at(&ahead, '{')) depth++;
        if (parse_at(&ahead, '}')) depth--;
        if (parse_token(&ahead)->kind == TOKEN_END) return false;
        parse_next(&ahead);
    } while (depth > 0);
    *name = *parse_token(&ahead);
    parse_next(&ahead);
    return name->kind == TOKEN_WORD && (parse_at(&ahead, ';') || parse_at(&ahead, ','));
}

static ctype *make_anonymous(parser *p, ctype_kind kind, const char *word, bool is_typedef) {
    char text[LONGEST_NAME + 32];
    token name;
    if (is_typedef && name_behind(p, &name)) {
        if (!check_name(p, name.size)) return NULL;
        snprintf(text, sizeof text, "%.*s", (int)name.size, name.text);
    } else {
        snprintf(text, sizeof text, "%s $%u", word, ++p->scope->anonymous);
    }
    return ctype_tagged(p->vm, kind, text);
}

static ctype *find_tagged(parser *p, ctype_kind kind, declaration_kind declared, const char *word,
                          const token *tag) {
    const declaration *d = scope_find(p->scope, declared, tag->text, tag->size);
    if (d) return d->type;
    char text[LONGEST_NAME + 32];
    if (!check_name(p, tag->size)) return NULL;
    snprintf(text, sizeof text, "%s %.*s", word, (int)tag->size, tag->text);
    ctype *type = ctype_tagged(p->vm, kind, text);
    if (!type || !scope_add(p->vm, p->scope, declared, tag->text, tag->size, type)) return NULL;
    return type;
}

static bool tagged(parser *p, specifiers *s, ctype_kind kind, const char *word) {
    declaration_kind declared = kind == CTYPE_STRUCT  ? DECLARED_STRUCT
                                : kind == CTYPE_UNION ? DECLARED_UNION
                                                      : DECLARED_ENUM;
    parse_next(p);
    token tag = *parse_token(p);
    bool named = tag.kind == TOKEN_WORD;
    if (named) parse_next(p);
    if (!named && !parse_at(p, '{')) return parse_fail(p);
    s->is_tagged = true;
    s->type = named ? find_tagged(p, kind, declared, word, &tag)
                    : make_anonymous(p, kind, word, s->is_typedef);
    if (!s->type || !parse_take(p, '{')) return s->type != NULL;
    if (kind != CTYPE_ENUM) return record_body(p, s->type, &tag);
    if (s->type->enumerators)
        return ffi_fail(p->vm, DVX_NOT_IMPLEMENTED_ERROR,
                        "enum %.*s: the '{}' declaration should appear on the first time the enum "
                        "is mentioned, not later",
                        (int)tag.size, tag.text);
    return enum_body(p, s->type);
}

/* ---- Arithmetic types ---- */

typedef struct words {
    uint32_t longs, shorts, unsigneds, signeds, count;
    token base; /* int, char, float, double, void, _Bool */
    bool has_base, is_complex;
} words;

static bool read_word(words *w, const token *t) {
    if (token_is_word(t, "long"))
        w->longs++;
    else if (token_is_word(t, "short"))
        w->shorts++;
    else if (token_is_word(t, "unsigned"))
        w->unsigneds++;
    else if (token_is_word(t, "signed"))
        w->signeds++;
    else if (token_is_word(t, "_Complex"))
        w->is_complex = true;
    else if (!w->has_base)
        w->base = *t, w->has_base = true;
    else
        return false;
    w->count++;
    return true;
}

/* The words in cffi's order, without what is implied. */
static ctype *arithmetic(parser *p, const words *w) {
    char text[64] = "";
    bool is_int = !w->has_base || token_is_word(&w->base, "int");
    bool is_char = w->has_base && token_is_word(&w->base, "char");
    size_t at = 0;
    if (w->unsigneds) at += (size_t)snprintf(text, sizeof text, "unsigned ");
    if (w->signeds && is_char) at += (size_t)snprintf(text + at, sizeof text - at, "signed ");
    for (uint32_t i = 0; i < w->shorts && at < 30; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "short ");
    for (uint32_t i = 0; i < w->longs && at < 40; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "long ");
    if (!is_int)
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%.*s ", (int)w->base.size, w->base.text);
    else if (!w->shorts && !w->longs)
        at += (size_t)snprintf(text + at, sizeof text - at, "int ");
    if (w->is_complex) at += (size_t)snprintf(text + at, sizeof text - at, "_Complex ");
    ctype *type = at > 0 ? ctype_primitive(p->state, text, at - 1) : NULL;
    if (type) return type;
    parse_error(p,
                "Unsupported type: '%.*s'.  Please look at "
                "http://cffi.readthedocs.io/en/latest/cdef.html#ffi-cdef-limitations and file an "
                "issue if you think this type should really be supported.",
                (int)(at ? at - 1 : 0), text);
    return NULL;
}

/* ---- All of them ---- */

/* Storage and qualifiers; false: the token is none. */
static bool other_word(parser *p, specifiers *s) {
    const token *t = parse_token(p);
    if (!is_among(t, other_words, LENGTH_OF(other_words))) return false;
    s->is_typedef |= token_is_word(t, "typedef");
    s->has_storage |= token_is_word(t, "extern") || token_is_word(t, "static");
    s->is_const |= token_is_word(t, "const");
    parse_next(p);
    return true;
}

bool parse_specifiers(parser *p, specifiers *s) {
    words w = {0};
    *s = (specifiers){0};
    for (;;) {
        const token *t = parse_token(p);
        if (other_word(p, s)) continue;
        bool open = !s->type && !w.count;
        if (open && parse_at_word(p, "struct")) {
            if (!tagged(p, s, CTYPE_STRUCT, "struct")) return false;
        } else if (open && parse_at_word(p, "union")) {
            if (!tagged(p, s, CTYPE_UNION, "union")) return false;
        } else if (open && parse_at_word(p, "enum")) {
            if (!tagged(p, s, CTYPE_ENUM, "enum")) return false;
        } else if (!s->type && is_among(t, type_words, LENGTH_OF(type_words))) {
            if (!read_word(&w, t)) return parse_fail(p);
            parse_next(p);
        } else if (open && t->kind == TOKEN_WORD && find_named(p, t)) {
            s->type = find_named(p, t);
            parse_next(p);
        } else {
            break;
        }
    }
    if (!s->type && w.count)
        s->type = arithmetic(p, &w);
    else if (!s->type)
        return parse_fail(p);
    return s->type != NULL;
}
