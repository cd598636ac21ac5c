/* lexer.c: source text to tokens (lexer.h).
 *
 * Invariants
 *  1. The source ends in a newline (diag.h), so looking one byte ahead of a byte that is not the
 * last newline is always allowed; at the end of the text `peek` yields 0.
 *  2. Indentation is measured twice, with tabs of 8 columns and of 1: where the two orders
 * disagree, the meaning depends on the width of a tab, which is a TabError. */
#include "lang/front/lexer.h"

#include "lang/front/chars.h"
#include "lang/front/normal.h"
#include "lang/complain/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct bracket {
    char open;
    dv_range at;
} bracket;

typedef struct lexer {
    dv_front *front;
    dv_tokens *tokens;
    uint32_t capacity;
    const char *text;
    uint32_t position, end;
    uint32_t line, line_start; /* line_start may be "negative" modulo 2^32 inside f-strings */
    uint32_t comment;          /* where a comment of the current line begins; 0: none */
    bool inside;               /* an expression of an f-string */
    uint32_t indents[DV_MAX_INDENTS], tab_indents[DV_MAX_INDENTS], indent_count;
    bracket brackets[DV_MAX_BRACKETS];
    uint32_t bracket_count;
} lexer;

/* ---- Helpers ---- */

static char peek_at(const lexer *lx, uint32_t ahead) {
    return lx->end - lx->position > ahead ? lx->text[lx->position + ahead] : '\0';
}

static char peek(const lexer *lx) { return peek_at(lx, 0); }

static uint32_t column(const lexer *lx, uint32_t position) { return position - lx->line_start; }

static dv_range point_at(const lexer *lx, uint32_t position) {
    uint32_t at = column(lx, position);
    return (dv_range){lx->line, at, lx->line, at};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name_byte(char c) {
    return (unsigned char)c >= 0x80 || dv_chars_is_identifier_part((unsigned char)c);
}

static dv_token *push_token(lexer *lx, dv_token_kind kind, uint32_t begin, dv_range at) {
    void *items = lx->tokens->items;
    if (!dv_front_reserve(lx->front, &items, lx->tokens->count, &lx->capacity, sizeof(dv_token)))
        return NULL;
    lx->tokens->items = items;
    dv_token *token = &lx->tokens->items[lx->tokens->count++];
    *token = (dv_token){(uint8_t)kind, (uint8_t)lx->bracket_count, begin, lx->position, at, NULL};
    return token;
}

/* A token from `begin`, on the current line, to the current position. */
static bool push_simple(lexer *lx, dv_token_kind kind, uint32_t begin) {
    uint32_t from = column(lx, begin), to = column(lx, lx->position);
    return push_token(lx, kind, begin, (dv_range){lx->line, from, lx->line, to}) != NULL;
}

/* Ends the tokens with an error; returns false, as "stop" (the status tells errors of memory). */
__attribute__((format(printf, 5, 6))) static bool
fail(lexer *lx, dv_lexer_rank rank, const char *type, dv_range at, const char *format, ...) {
    dv_tokens *tokens = lx->tokens;
    tokens->rank = rank;
    tokens->problem.type = type;
    tokens->problem.at = at;
    tokens->problem.points = rank == DV_LEXER_ALWAYS;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tokens->problem.message, sizeof tokens->problem.message, format, arguments);
    va_end(arguments);
    push_token(lx, DV_TOKEN_ERROR, lx->position, at);
    return false;
}

static bool fail_syntax(lexer *lx, dv_range at, const char *message) {
    return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", at, "%s", message);
}

static void next_line(lexer *lx) {
    lx->line++;
    lx->line_start = lx->position;
}

/* ---- Indentation ---- */

/* A backslash at the end of a line joins it with the next one. */
static bool skip_continuation(lexer *lx) {
    uint32_t backslash = lx->position++;
    if (peek(lx) != '\n' || lx->position >= lx->end)
        return fail(lx, DV_LEXER_WHEN_REACHED, "SyntaxError",
                    (dv_range){lx->line, column(lx, backslash) + 1, lx->line, DV_NO_COLUMN},
                    "unexpected character after line continuation character");
    lx->position++;
    if (lx->position >= lx->end)
        return fail(lx, DV_LEXER_WHEN_REACHED, "SyntaxError", point_at(lx, backslash + 1),
                    "unexpected EOF while parsing");
    next_line(lx);
    return true;
}

static bool fail_indentation(lexer *lx, const char *type, uint32_t at_column, const char *message) {
    dv_range at = {lx->line, at_column, lx->line, DV_NO_COLUMN};
    return fail(lx, DV_LEXER_WHEN_REACHED, type, at, "%s", message);
}

static bool fail_tabs(lexer *lx) {
    return fail_indentation(lx, "TabError", 0,
                            "inconsistent use of tabs and spaces in indentation");
}

/* Skips the white space at the start of a line and measures it; blank lines are skipped as well. */
static bool measure_indentation(lexer *lx, uint32_t *width, uint32_t *tab_width) {
    uint32_t first_width = 0, wide = 0, narrow = 0;
    for (;;) {
        switch (peek(lx)) {
        case ' ': wide++, narrow++; break;
        case '\t':
            wide = (wide / 8 + 1) * 8;
            narrow++;
            break;
        case '\f': wide = narrow = first_width = 0; break;
        case '\\':
            if (first_width == 0) first_width = wide;
            if (!skip_continuation(lx)) return false;
            continue;
        case '#':
            while (peek(lx) != '\n') lx->position++;
            continue;
        case '\n':
            lx->position++;
            next_line(lx);
            first_width = wide = narrow = 0;
            continue;
        default:
            *width = first_width != 0 ? first_width : wide;
            *tab_width = first_width != 0 ? first_width : narrow;
            return true;
        }
        lx->position++;
    }
}

static bool push_indent(lexer *lx, uint32_t width, uint32_t tab_width) {
    if (lx->indent_count + 1 >= DV_MAX_INDENTS)
        return fail_indentation(lx, "IndentationError", 0, "too many levels of indentation");
    if (tab_width <= lx->tab_indents[lx->indent_count]) return fail_tabs(lx);
    lx->indents[++lx->indent_count] = width;
    lx->tab_indents[lx->indent_count] = tab_width;
    return push_simple(lx, DV_TOKEN_INDENT, lx->position);
}

static bool pop_indents(lexer *lx, uint32_t width, uint32_t tab_width) {
    while (lx->indent_count > 0 && width < lx->indents[lx->indent_count]) {
        lx->indent_count--;
        if (width > lx->indents[lx->indent_count]) {
            while (peek(lx) != '\n') lx->position++;
            return fail_indentation(lx, "IndentationError", column(lx, lx->position),
                                    "unindent does not match any outer indentation level");
        }
        if (!push_simple(lx, DV_TOKEN_DEDENT, lx->position)) return false;
    }
    return tab_width == lx->tab_indents[lx->indent_count] ? true : fail_tabs(lx);
}

static bool lex_line_start(lexer *lx) {
    uint32_t width, tab_width;
    if (!measure_indentation(lx, &width, &tab_width)) return false;
    if (lx->position >= lx->end) return true;
    uint32_t current = lx->indents[lx->indent_count];
    if (width > current) return push_indent(lx, width, tab_width);
    if (width < current) return pop_indents(lx, width, tab_width);
    return tab_width == lx->tab_indents[lx->indent_count] ? true : fail_tabs(lx);
}

/* ---- Names ---- */

typedef struct keyword {
    const char *text;
    uint8_t kind;
} keyword;

static dv_token_kind keyword_kind(const char *text, uint32_t size) {
    static const char *const keywords[] = {
        "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
        "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
        "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
        "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
    if (size < 2 || size > 8) return DV_TOKEN_NAME;
    uint32_t low = 0, high = sizeof keywords / sizeof *keywords;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = strncmp(text, keywords[middle], size);
        if (order == 0 && keywords[middle][size] != '\0') order = -1;
        if (order == 0) return (dv_token_kind)(DV_TOKEN_FALSE + middle);
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return DV_TOKEN_NAME;
}

static bool fail_character(lexer *lx, uint32_t position, uint32_t point, size_t size) {
    dv_range at = point_at(lx, position);
    if (!dv_chars_is_printable(point))
        return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", at,
                    "invalid non-printable character U+%04X", point);
    return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", at, "invalid character '%.*s' (U+%04X)",
                (int)size, lx->text + position, point);
}

static bool lex_name(lexer *lx, uint32_t begin) {
    bool ascii = true;
    while (is_name_byte(peek(lx))) {
        ascii = ascii && (unsigned char)peek(lx) < 0x80;
        lx->position++;
    }
    for (uint32_t at = begin; !ascii && at < lx->position;) {
        uint32_t point;
        size_t size = dv_chars_decode(lx->text + at, lx->text + lx->end, &point);
        bool valid =
            at == begin ? dv_chars_is_identifier_start(point) : dv_chars_is_identifier_part(point);
        if (!valid) return fail_character(lx, at, point, size);
        at += (uint32_t)size;
    }
    dv_text text = {lx->text + begin, lx->position - begin};
    dv_token_kind kind = keyword_kind(text.data, text.size);
    if (!ascii && !dv_normalise(lx->front, &text)) return false;
    dv_name *name = kind == DV_TOKEN_NAME ? dv_name_intern(lx->front, text) : NULL;
    if (kind == DV_TOKEN_NAME && name == NULL) return false;
    if (!push_simple(lx, kind, begin)) return false;
    lx->tokens->items[lx->tokens->count - 1].name = name;
    return true;
}

/* ---- Numbers ---- */

/* CPython points at the last character of the number that it read. */
static bool fail_number(lexer *lx, const char *kind) {
    return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", point_at(lx, lx->position - 1),
                "invalid %s literal", kind);
}

/* What may follow a number directly: an operator, or a keyword as in `1if x else y`. */
static bool check_number_end(lexer *lx, const char *kind) {
    static const char *const followers[] = {"and", "else", "for", "if", "in", "is", "or", "not"};
    char c = peek(lx);
    if (!is_name_byte(c)) return true;
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++) {
        size_t size = strlen(followers[i]);
        bool prefix = c == 'i'; /* CPython reads no further than `if`, `in` and `is` */
        if (lx->end - lx->position >= size &&
            memcmp(lx->text + lx->position, followers[i], size) == 0 &&
            (prefix || !is_name_byte(peek_at(lx, (uint32_t)size)))) {
            dv_warn(lx->front, point_at(lx, lx->position - 1), "invalid %s literal", kind);
            return true;
        }
    }
    return fail_number(lx, kind);
}

/* digits with single underscores between them; the first digit is the next character */
static bool skip_decimal(lexer *lx) {
    for (;;) {
        while (is_digit(peek(lx))) lx->position++;
        if (peek(lx) != '_') return true;
        lx->position++;
        if (!is_digit(peek(lx))) return fail_number(lx, "decimal");
    }
}

static bool lex_based_number(lexer *lx, uint32_t begin, unsigned base, const char *kind) {
    lx->position += 2;
    do {
        if (peek(lx) == '_') lx->position++;
        unsigned digit = dv_chars_digit(peek(lx));
        if (digit >= base) {
            if (digit < 10) {
                dv_range at = point_at(lx, lx->position);
                return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", at,
                            "invalid digit '%c' in %s literal", peek(lx), kind);
            }
            return fail_number(lx, kind);
        }
        while (dv_chars_digit(peek(lx)) < base) lx->position++;
    } while (peek(lx) == '_');
    if (is_digit(peek(lx)))
        return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", point_at(lx, lx->position),
                    "invalid digit '%c' in %s literal", peek(lx), kind);
    return check_number_end(lx, kind) && push_simple(lx, DV_TOKEN_NUMBER, begin);
}

/* The exponent, if one follows; *found says so.  `1else` has none. */
static bool skip_exponent(lexer *lx, bool *found) {
    *found = false;
    if ((peek(lx) | 0x20) != 'e') return true;
    char next = peek_at(lx, 1);
    if (next == '+' || next == '-') {
        if (!is_digit(peek_at(lx, 2))) {
            lx->position += 2;
            return fail_number(lx, "decimal");
        }
        lx->position += 2;
    } else if (is_digit(next)) {
        lx->position++;
    } else {
        return true;
    }
    *found = true;
    return skip_decimal(lx);
}

static bool fail_leading_zeros(lexer *lx, uint32_t begin, uint32_t zeros_end) {
    uint32_t from = column(lx, begin), to = column(lx, zeros_end);
    dv_range at = {lx->line, from, lx->line, to};
    lx->tokens->problem.bytes = true;
    return fail_syntax(lx, at,
                       "leading zeros in decimal integer literals are not permitted; "
                       "use an 0o prefix for octal integers");
}

static bool lex_number(lexer *lx, uint32_t begin) {
    bool zero = peek(lx) == '0';
    if (zero) {
        switch (peek_at(lx, 1) | 0x20) {
        case 'x': return lex_based_number(lx, begin, 16, "hexadecimal");
        case 'o': return lex_based_number(lx, begin, 8, "octal");
        case 'b': return lex_based_number(lx, begin, 2, "binary");
        default: break;
        }
    }
    const char *kind = "decimal";
    uint32_t zeros_end = begin;
    bool nonzero = false, real = false, exponent;
    if (peek(lx) != '.') {
        if (!skip_decimal(lx)) return false;
        for (uint32_t i = begin; i < lx->position; i++) {
            nonzero = nonzero || (lx->text[i] != '0' && lx->text[i] != '_');
            if (!nonzero) zeros_end = i + 1;
        }
    }
    if (peek(lx) == '.') {
        real = true;
        lx->position++;
        if (is_digit(peek(lx)) && !skip_decimal(lx)) return false;
    }
    if (!skip_exponent(lx, &exponent)) return false;
    if ((peek(lx) | 0x20) == 'j') {
        real = true;
        kind = "imaginary";
        lx->position++;
    }
    if (zero && nonzero && !real && !exponent) return fail_leading_zeros(lx, begin, zeros_end);
    return check_number_end(lx, kind) && push_simple(lx, DV_TOKEN_NUMBER, begin);
}

/* ---- Strings ---- */

/* The size of a string prefix (r, b, u, f and their combinations) in front of a quote; 99 if what
 * follows is not a string. */
static uint32_t string_prefix(const lexer *lx) {
    bool bytes = false, raw = false, unicode = false, format = false;
    for (uint32_t i = 0;; i++) {
        char c = peek_at(lx, i);
        if (c == '"' || c == '\'') return i;
        c |= 0x20;
        if (c == 'b' && !(bytes || unicode || format))
            bytes = true;
        else if (c == 'u' && !(bytes || unicode || raw || format))
            unicode = true;
        else if (c == 'r' && !(raw || unicode))
            raw = true;
        else if (c == 'f' && !(format || bytes || unicode))
            format = true;
        else
            return 99;
    }
}

static bool fail_string(lexer *lx, dv_range start, bool triple) {
    /* CPython counts the line of the end of file, which the closing newline begins, as the last. */
    uint32_t line = lx->line;
    if (lx->position == lx->line_start && line > start.line) line--;
    return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", start,
                triple ? "unterminated triple-quoted string literal (detected at line %u)"
                       : "unterminated string literal (detected at line %u)",
                line);
}

static bool lex_string(lexer *lx, uint32_t begin, uint32_t prefix) {
    dv_range start = point_at(lx, begin);
    lx->position += prefix;
    char quote = peek(lx);
    bool triple = peek_at(lx, 1) == quote && peek_at(lx, 2) == quote;
    uint32_t quotes = triple ? 3 : 1, closing = 0;
    if (!triple && peek_at(lx, 1) == quote) {
        lx->position += 2;
        return push_simple(lx, DV_TOKEN_STRING, begin);
    }
    lx->position += quotes;
    while (closing < quotes) {
        if (lx->position >= lx->end) return fail_string(lx, start, triple);
        char c = lx->text[lx->position];
        if (c == '\n' && !triple) return fail_string(lx, start, false);
        if (c == '\\' && lx->position + 1 < lx->end) {
            lx->position++;
            c = lx->text[lx->position];
            closing = 0;
        } else {
            closing = c == quote ? closing + 1 : 0;
        }
        lx->position++;
        if (c == '\n') next_line(lx);
    }
    dv_range at = {start.line, start.column, lx->line, column(lx, lx->position)};
    return push_token(lx, DV_TOKEN_STRING, begin, at) != NULL;
}

/* ---- Operators ---- */

typedef struct spelling {
    char text[4];
    uint8_t kind;
} spelling;

/* Longer spellings come before their prefixes. */
static const spelling spellings[] = {
    {"**=", DV_TOKEN_DOUBLE_STAR_ASSIGN},
    {"//=", DV_TOKEN_DOUBLE_SLASH_ASSIGN},
    {"<<=", DV_TOKEN_LEFT_SHIFT_ASSIGN},
    {">>=", DV_TOKEN_RIGHT_SHIFT_ASSIGN},
    {"...", DV_TOKEN_ELLIPSIS},
    {"!=", DV_TOKEN_NE},
    {"%=", DV_TOKEN_PERCENT_ASSIGN},
    {"&=", DV_TOKEN_AMPERSAND_ASSIGN},
    {"**", DV_TOKEN_DOUBLE_STAR},
    {"*=", DV_TOKEN_STAR_ASSIGN},
    {"+=", DV_TOKEN_PLUS_ASSIGN},
    {"-=", DV_TOKEN_MINUS_ASSIGN},
    {"->", DV_TOKEN_ARROW},
    {"//", DV_TOKEN_DOUBLE_SLASH},
    {"/=", DV_TOKEN_SLASH_ASSIGN},
    {":=", DV_TOKEN_WALRUS},
    {"<<", DV_TOKEN_LEFT_SHIFT},
    {"<=", DV_TOKEN_LE},
    {"<>", DV_TOKEN_UNKNOWN},
    {"==", DV_TOKEN_EQ},
    {">=", DV_TOKEN_GE},
    {">>", DV_TOKEN_RIGHT_SHIFT},
    {"@=", DV_TOKEN_AT_ASSIGN},
    {"^=", DV_TOKEN_CARET_ASSIGN},
    {"|=", DV_TOKEN_BAR_ASSIGN},
    {"%", DV_TOKEN_PERCENT},
    {"&", DV_TOKEN_AMPERSAND},
    {"(", DV_TOKEN_LEFT_PAREN},
    {")", DV_TOKEN_RIGHT_PAREN},
    {"*", DV_TOKEN_STAR},
    {"+", DV_TOKEN_PLUS},
    {",", DV_TOKEN_COMMA},
    {"-", DV_TOKEN_MINUS},
    {".", DV_TOKEN_DOT},
    {"/", DV_TOKEN_SLASH},
    {":", DV_TOKEN_COLON},
    {";", DV_TOKEN_SEMICOLON},
    {"<", DV_TOKEN_LT},
    {"=", DV_TOKEN_ASSIGN},
    {">", DV_TOKEN_GT},
    {"@", DV_TOKEN_AT},
    {"[", DV_TOKEN_LEFT_BRACKET},
    {"]", DV_TOKEN_RIGHT_BRACKET},
    {"^", DV_TOKEN_CARET},
    {"{", DV_TOKEN_LEFT_BRACE},
    {"|", DV_TOKEN_BAR},
    {"}", DV_TOKEN_RIGHT_BRACE},
    {"~", DV_TOKEN_TILDE},
};

static bool open_bracket(lexer *lx, char c) {
    dv_range at = point_at(lx, lx->position);
    if (lx->bracket_count >= DV_MAX_BRACKETS)
        return fail_syntax(lx, at, "too many nested parentheses");
    lx->brackets[lx->bracket_count++] = (bracket){c, at};
    return true;
}

static bool close_bracket(lexer *lx, char c) {
    dv_range at = point_at(lx, lx->position);
    if (lx->bracket_count == 0)
        return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", at, "unmatched '%c'", c);
    const bracket *last = &lx->brackets[--lx->bracket_count];
    bool matches = (last->open == '(' && c == ')') || (last->open == '[' && c == ']') ||
                   (last->open == '{' && c == '}');
    if (matches) return true;
    const char *what = "closing parenthesis '%c' does not match opening parenthesis '%c'";
    const char *what_line =
        "closing parenthesis '%c' does not match opening parenthesis '%c' on line %u";
    if (last->at.line == lx->line)
        return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", at, what, c, last->open);
    return fail(lx, DV_LEXER_ALWAYS, "SyntaxError", at, what_line, c, last->open, last->at.line);
}

static bool lex_operator(lexer *lx, uint32_t begin) {
    char c = peek(lx);
    if ((c == '(' || c == '[' || c == '{') && !open_bracket(lx, c)) return false;
    if ((c == ')' || c == ']' || c == '}') && !close_bracket(lx, c)) return false;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        if (spellings[i].text[0] != c) continue;
        uint32_t size = (uint32_t)strlen(spellings[i].text);
        if (lx->end - begin < size || memcmp(lx->text + begin, spellings[i].text, size) != 0)
            continue;
        lx->position += size;
        return push_simple(lx, spellings[i].kind, begin);
    }
    if (!dv_chars_is_printable((unsigned char)c))
        return fail_character(lx, begin, (unsigned char)c, 1);
    lx->position++;
    return push_simple(lx, DV_TOKEN_UNKNOWN, begin);
}

/* ---- Everything ---- */

static bool skip_space(lexer *lx) {
    for (;;) {
        switch (peek(lx)) {
        case ' ':
        case '\t':
        case '\f': lx->position++; break;
        case '#':
            lx->comment = lx->position;
            while (lx->position < lx->end && peek(lx) != '\n') lx->position++;
            break;
        case '\\':
            if (!skip_continuation(lx)) return false;
            break;
        case '\n':
            if (lx->position >= lx->end || (lx->bracket_count == 0 && !lx->inside)) return true;
            lx->position++;
            next_line(lx);
            break;
        default: return true;
        }
    }
}

static bool lex_token(lexer *lx) {
    uint32_t begin = lx->position;
    char c = peek(lx);
    uint32_t prefix = string_prefix(lx);
    if (prefix < 99) return lex_string(lx, begin, prefix);
    if (is_digit(c) || (c == '.' && is_digit(peek_at(lx, 1)))) return lex_number(lx, begin);
    if (is_name_byte(c)) return lex_name(lx, begin);
    if (c != '\n') return lex_operator(lx, begin);
    lx->position++;
    if (lx->comment > lx->line_start) begin = lx->comment;
    if (!push_simple(lx, DV_TOKEN_NEWLINE, begin)) return false;
    next_line(lx);
    return lex_line_start(lx);
}

static bool fail_unclosed(lexer *lx) {
    const bracket *last = &lx->brackets[lx->bracket_count - 1];
    lx->tokens->bracket_line = last->at.line;
    dv_range at = last->at;
    at.end_column = DV_NO_COLUMN;
    return fail(lx, DV_LEXER_UNCLOSED, "SyntaxError", at, "'%c' was never closed", last->open);
}

/* What is missing at the end of the source is reported at the end of its last line. */
static dv_range end_range(const lexer *lx) {
    dv_range at = {lx->line, column(lx, lx->position), lx->line, DV_NO_COLUMN};
    if (lx->inside || lx->line == 1 || at.column > 0) return at;
    uint32_t start = lx->line_start - 1;
    while (start > 0 && lx->text[start - 1] != '\n') start--;
    return (dv_range){lx->line - 1, lx->line_start - 1 - start, lx->line - 1, DV_NO_COLUMN};
}

static bool lex_end(lexer *lx) {
    if (lx->bracket_count > 0) return fail_unclosed(lx);
    dv_range at = end_range(lx);
    for (uint32_t i = 0; i < lx->indent_count; i++)
        if (push_token(lx, DV_TOKEN_DEDENT, lx->position, at) == NULL) return false;
    return push_token(lx, DV_TOKEN_END, lx->position, at) != NULL;
}

static bool lex_all(lexer *lx) {
    if (!lx->inside && !lex_line_start(lx)) return false;
    for (;;) {
        if (!skip_space(lx)) return false;
        if (lx->position >= lx->end) return lex_end(lx);
        if (!lex_token(lx)) return false;
    }
}

static bool run(dv_front *front, lexer *lx, dv_tokens *tokens) {
    lx->front = front;
    lx->tokens = tokens;
    lx->text = front->source.data;
    lex_all(lx);
    return front->status == DV_LANG_OK;
}

/* One lexer serves all: each run ends before the next begins. */
static lexer *take_lexer(dv_front *front) {
    if (front->lexer == NULL)
        front->lexer = dv_front_scratch(front, sizeof(lexer));
    else
        memset(front->lexer, 0, sizeof(lexer));
    return front->lexer;
}

bool dv_lexer_run(dv_front *front, dv_tokens *tokens) {
    lexer *lx = take_lexer(front);
    if (lx == NULL) return false;
    lx->end = front->source.size;
    lx->line = 1;
    return run(front, lx, tokens);
}

bool dv_lexer_run_inside(dv_front *front, uint32_t begin, uint32_t end, dv_range where,
                         dv_tokens *tokens) {
    lexer *lx = take_lexer(front);
    if (lx == NULL) return false;
    lx->position = begin;
    lx->end = end;
    lx->line = where.line;
    lx->line_start = begin - where.column;
    lx->inside = true;
    return run(front, lx, tokens);
}
