/* caret.c: a scanner for one expression that finds its outermost operation (caret.h).
 *
 * CPython parses the text of the failing instruction again.  Here it is enough to see its tokens
 * outside all brackets: a bracketed group is one token. */
#include "report/caret.h"

typedef enum token_kind {
    TOKEN_ATOM,     /* name, number, string */
    TOKEN_PAREN,    /* ( ... ) */
    TOKEN_SQUARE,   /* [ ... ] */
    TOKEN_BRACE,    /* { ... } */
    TOKEN_DOT,      /* attribute access */
    TOKEN_OPERATOR, /* of `level` as a binary operator; + - ~ * may stand in front */
    TOKEN_FOR,      /* makes a parenthesised group a generator expression */
    TOKEN_COMMA,
    TOKEN_OTHER /* whatever makes the expression something else: keywords, comparisons, ... */
} token_kind;

typedef struct token {
    size_t start, end;
    token_kind kind;
    int level; /* of binary operators: 1 for | up to 6 for *, 8 for ** */
} token;

enum { LEVEL_UNARY_ONLY = 0, LEVEL_POWER = 8 };

typedef struct scanner {
    const char *text;
    size_t size, at;
} scanner;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           (c & 0x80);
}

static void skip_string(scanner *s) {
    char quote = s->text[s->at];
    bool triple = s->at + 2 < s->size && s->text[s->at + 1] == quote && s->text[s->at + 2] == quote;
    s->at += triple ? 3 : 1;
    while (s->at < s->size) {
        if (s->text[s->at] == '\\') {
            s->at += 2;
        } else if (s->text[s->at] != quote) {
            s->at++;
        } else if (!triple) {
            s->at++;
            return;
        } else if (s->at + 2 < s->size && s->text[s->at + 1] == quote &&
                   s->text[s->at + 2] == quote) {
            s->at += 3;
            return;
        } else {
            s->at++;
        }
    }
    s->at = s->size;
}

static void skip_number(scanner *s) {
    bool hex = s->text[s->at] == '0' && s->at + 1 < s->size && (s->text[s->at + 1] | 32) == 'x';
    while (s->at < s->size) {
        char c = s->text[s->at];
        bool exponent = !hex && (c | 32) == 'e' && s->at + 1 < s->size &&
                        (s->text[s->at + 1] == '+' || s->text[s->at + 1] == '-');
        if (exponent)
            s->at += 2;
        else if (is_name_char(c) || c == '.')
            s->at++;
        else
            return;
    }
}

static bool is_word(const char *word, size_t size, const char *list) {
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, " ");
        if (length == size && memcmp(at, word, size) == 0) return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

static token_kind name_kind(const char *word, size_t size) {
    if (is_word(word, size, "for")) return TOKEN_FOR;
    bool keyword = is_word(word, size,
                           "and or not in is if else lambda await async yield from import return "
                           "raise del assert pass break continue global nonlocal while with try "
                           "except finally class def elif as");
    return keyword ? TOKEN_OTHER : TOKEN_ATOM;
}

/* To the end of a bracketed group; false: it has none. */
static bool skip_group(scanner *s) {
    int depth = 0;
    while (s->at < s->size) {
        char c = s->text[s->at];
        if (c == '"' || c == '\'') {
            skip_string(s);
            continue;
        }
        s->at++;
        if (c == '(' || c == '[' || c == '{') depth++;
        if ((c == ')' || c == ']' || c == '}') && --depth == 0) return true;
    }
    return false;
}

static int operator_level(char c) {
    switch (c) {
    case '|': return 1;
    case '^': return 2;
    case '&': return 3;
    case '+':
    case '-': return 5;
    case '*':
    case '/':
    case '%':
    case '@': return 6;
    default: return LEVEL_UNARY_ONLY;
    }
}

static void scan_operator(scanner *s, token *t) {
    char c = s->text[s->at], next = s->at + 1 < s->size ? s->text[s->at + 1] : 0;
    s->at++;
    t->kind = TOKEN_OPERATOR;
    t->level = operator_level(c);
    if (c == ',') {
        t->kind = TOKEN_COMMA;
    } else if (c == '.') {
        t->kind = TOKEN_DOT;
    } else if ((c == '<' || c == '>') && next == c) {
        s->at++;
        t->level = 4;
    } else if ((c == '*' || c == '/') && next == c) {
        s->at++;
        if (c == '*') t->level = LEVEL_POWER;
    } else if (t->level == LEVEL_UNARY_ONLY && c != '~') {
        t->kind = TOKEN_OTHER;
    }
    if (s->at < s->size && s->text[s->at] == '=' && t->kind == TOKEN_OPERATOR)
        t->kind = TOKEN_OTHER;
}

/* The next token; false: the end, or what cannot be understood (*bad). */
static bool next_token(scanner *s, token *t, bool *bad) {
    while (s->at < s->size && is_blank(s->text[s->at])) s->at++;
    if (s->at >= s->size) return false;
    char c = s->text[s->at];
    t->start = s->at;
    t->level = LEVEL_UNARY_ONLY;
    t->kind = TOKEN_ATOM;
    if (c == '"' || c == '\'') {
        skip_string(s);
    } else if (is_digit(c) || (c == '.' && s->at + 1 < s->size && is_digit(s->text[s->at + 1]))) {
        skip_number(s);
    } else if (is_name_char(c)) {
        while (s->at < s->size && is_name_char(s->text[s->at])) s->at++;
        size_t length = s->at - t->start;
        bool prefix = s->at < s->size && (s->text[s->at] == '"' || s->text[s->at] == '\'');
        if (prefix && length <= 2)
            skip_string(s);
        else
            t->kind = name_kind(s->text + t->start, length);
    } else if (c == '(' || c == '[' || c == '{') {
        t->kind = c == '(' ? TOKEN_PAREN : c == '[' ? TOKEN_SQUARE : TOKEN_BRACE;
        if (!skip_group(s)) *bad = true;
    } else {
        scan_operator(s, t);
    }
    if (s->at > s->size) *bad = true;
    t->end = s->at;
    return !*bad;
}

typedef struct tokens {
    token *list;
    size_t count, capacity;
} tokens;

/* The tokens of text[start .. end-1], with offsets in text; false: nothing sensible. */
static bool tokenize(dv_vm *vm, const char *text, size_t start, size_t end, tokens *out) {
    scanner s = {text, end, start};
    bool bad = false;
    token t;
    out->capacity = end - start + 1;
    out->count = 0;
    out->list = dv_heap_alloc(&vm->heap, out->capacity * sizeof *out->list);
    if (!out->list) return false;
    while (next_token(&s, &t, &bad)) out->list[out->count++] = t;
    return !bad && out->count > 0;
}

static void discard(dv_vm *vm, tokens *t) {
    if (t->list) dv_heap_free(&vm->heap, t->list, t->capacity * sizeof *t->list);
}

static bool ends_operand(const token *t) { return t->kind <= TOKEN_BRACE; }

/* Where the syntax tree says that an operand starts and ends: a parenthesised expression is what
 * is in the parentheses, unless they make it a tuple or a generator. */
static void operand_range(dv_vm *vm, const char *text, const token *first, const token *last,
                          size_t *start, size_t *end) {
    *start = first->start;
    *end = last->end;
    for (token group = *first; first == last && group.kind == TOKEN_PAREN;) {
        tokens inner;
        bool plain = tokenize(vm, text, group.start + 1, group.end - 1, &inner);
        for (size_t i = 0; plain && i < inner.count; i++)
            plain = inner.list[i].kind != TOKEN_COMMA && inner.list[i].kind != TOKEN_FOR;
        if (plain) {
            *start = inner.list[0].start;
            *end = inner.list[inner.count - 1].end;
        }
        bool deeper = plain && inner.count == 1;
        if (deeper) group = inner.list[0];
        discard(vm, &inner);
        if (!deeper) return;
    }
}

/* Number of the token that is the outermost binary operator, or 0. */
static size_t find_operator(const tokens *t) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < t->count; i++) {
        const token *at = &t->list[i];
        if (at->kind != TOKEN_OPERATOR || at->level == LEVEL_UNARY_ONLY ||
            !ends_operand(&t->list[i - 1]))
            continue;
        /* Operators of one level associate to the left, powers to the right. */
        bool later = best && at->level == t->list[best].level && at->level != LEVEL_POWER;
        if (!best || later || at->level < t->list[best].level) best = i;
    }
    bool negated = t->list[0].kind == TOKEN_OPERATOR;
    return best && t->list[best].level == LEVEL_POWER && negated ? 0 : best;
}

static bool binary_anchors(dv_vm *vm, const char *text, const tokens *t, size_t at, size_t *left,
                           size_t *right) {
    size_t start, end, unused;
    operand_range(vm, text, &t->list[0], &t->list[at - 1], &unused, &end);
    operand_range(vm, text, &t->list[at + 1], &t->list[t->count - 1], &start, &unused);
    for (size_t i = end; i < start; i++) {
        if (is_blank(text[i])) continue;
        *left = i;
        *right = i + 1;
        if (i + 1 < start && !is_blank(text[i + 1])) ++*right;
        return true;
    }
    return false;
}

static bool subscript_anchors(dv_vm *vm, const char *text, const tokens *t, size_t *left,
                              size_t *right) {
    const token *brackets = &t->list[t->count - 1];
    size_t unused;
    operand_range(vm, text, &t->list[0], brackets - 1, &unused, left);
    tokens inner;
    bool good = tokenize(vm, text, brackets->start + 1, brackets->end - 1, &inner);
    if (good) {
        operand_range(vm, text, &inner.list[0], &inner.list[inner.count - 1], &unused, right);
        ++*right;
    }
    discard(vm, &inner);
    return good;
}

bool dv_caret_anchors(dv_vm *vm, const char *segment, size_t size, size_t *left, size_t *right) {
    tokens t;
    bool found = tokenize(vm, segment, 0, size, &t);
    for (size_t i = 0; found && i < t.count; i++) found = t.list[i].kind < TOKEN_FOR;
    if (found) {
        size_t at = find_operator(&t);
        const token *last = &t.list[t.count - 1];
        if (at)
            found = binary_anchors(vm, segment, &t, at, left, right);
        else if (t.count > 1 && last->kind == TOKEN_SQUARE && ends_operand(last - 1) &&
                 t.list[0].kind != TOKEN_OPERATOR)
            found = subscript_anchors(vm, segment, &t, left, right);
        else
            found = false;
    }
    discard(vm, &t);
    return found;
}
