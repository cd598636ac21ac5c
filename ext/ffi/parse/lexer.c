/* lexer.c: comments, #defines and tokens of C (lexer.h). */
#include "parse/lexer.h"

#include <stdlib.h>

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

/* ---- Cleaning ---- */

/* The end of a comment that begins at p; NULL: none does. */
static const char *comment_end(const char *p) {
    if (p[0] != '/') return NULL;
    if (p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : NULL;
    }
    if (p[1] != '/') return NULL;
    for (p += 2; *p && *p != '\n'; p++)
        if (*p == '\\' && p[1]) p++;
    return p;
}

/* A comment becomes a space and its newlines. */
static void remove_comments(char *text) {
    char *to = text;
    for (const char *p = text; *p;) {
        const char *end = comment_end(p);
        if (!end) {
            *to++ = *p++;
            continue;
        }
        *to++ = ' ';
        for (; p < end; p++)
            if (*p == '\n') *to++ = '\n';
    }
    *to = 0;
}

static const char *skip_blank(const char *p) {
    while (is_space(*p)) p++;
    return p;
}

/* The end of a line, which backslashes may continue. */
static const char *line_end(const char *p) {
    for (; *p && *p != '\n'; p++)
        if (*p == '\\' && p[1]) p++;
    return p;
}

/* Is there a #define at the beginning of this line? */
static bool read_define(const char *line, lexer_macro *macro, const char **end) {
    const char *p = skip_blank(line);
    if (*p++ != '#') return false;
    p = skip_blank(p);
    if (strncmp(p, "define", 6) != 0 || !is_space(p[6])) return false;
    p = skip_blank(p + 6);
    if (!is_word(*p) || is_digit(*p)) return false;
    macro->name = p;
    while (is_word(*p)) p++;
    macro->name_size = (uint32_t)(p - macro->name);
    *end = line_end(p);
    while (p < *end && is_space(*p)) p++;
    const char *last = *end;
    while (last > p && is_space(last[-1])) last--;
    macro->value = p;
    macro->value_size = (uint32_t)(last - p);
    return true;
}

bool lexer_clean(dvx_vm *vm, char *text, bool (*define)(void *context, const lexer_macro *macro),
                 void *context) {
    (void)vm;
    remove_comments(text);
    char *to = text;
    const char *p = text;
    while (*p) {
        lexer_macro macro;
        const char *end;
        if (read_define(p, &macro, &end)) {
            if (!define(context, &macro)) return false;
            p = end;
            continue;
        }
        do *to++ = *p++;
        while (*p && p[-1] != '\n');
    }
    *to = 0;
    return true;
}

/* ---- Tokens ---- */

lexer lexer_start(const char *text) {
    lexer l = {.text = text, .at = text, .line_start = text, .line = 1};
    lexer_next(&l);
    return l;
}

/* `# 1 "file"`, `#line` and `#pragma` lines are skipped. */
static bool is_skipped_line(const char *p) {
    p++;
    while (*p == ' ' || *p == '\t') p++;
    return is_digit(*p) || strncmp(p, "line", 4) == 0 || strncmp(p, "pragma", 6) == 0;
}

static void skip(lexer *l) {
    for (;; l->at++) {
        if (*l->at == '#' && is_skipped_line(l->at))
            while (l->at[1] && l->at[1] != '\n') l->at++;
        else if (!is_space(*l->at))
            return;
        if (*l->at != '\n') continue;
        l->line++;
        l->line_start = l->at + 1;
    }
}

/* The end of 'x' or "text"; behind the first character if it does not end in its line. */
static const char *quoted_end(const char *p) {
    char quote = *p;
    for (const char *q = p + 1; *q && *q != '\n'; q++) {
        if (*q == quote) return q + 1;
        if (*q == '\\' && q[1]) q++;
    }
    return p + 1;
}

static token_kind scan(const char **at) {
    const char *p = *at;
    token_kind kind = TOKEN_MARK;
    if (!*p) return TOKEN_END;
    if (is_word(*p)) {
        kind = is_digit(*p) ? TOKEN_NUMBER : TOKEN_WORD;
        while (is_word(*p)) p++;
    } else if (*p == '\'' || *p == '"') {
        kind = *p == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
        p = quoted_end(p);
    } else if (strncmp(p, "...", 3) == 0) {
        kind = TOKEN_DOTS, p += 3;
    } else if (strncmp(p, "<<", 2) == 0 || strncmp(p, ">>", 2) == 0) {
        kind = *p == '<' ? TOKEN_LEFT : TOKEN_RIGHT, p += 2;
    } else {
        if (*p == '#') kind = TOKEN_DIRECTIVE;
        p++;
    }
    *at = p;
    return kind;
}

/* Words that say how a function is called on other systems. */
static bool is_ignored(const token *t) {
    return token_is_word(t, "__cdecl") || token_is_word(t, "__stdcall") ||
           token_is_word(t, "WINAPI") || token_is_word(t, "__extension__");
}

void lexer_next(lexer *l) {
    do {
        skip(l);
        const char *start = l->at;
        token_kind kind = scan(&l->at);
        l->token = (token){kind, start, (uint32_t)(l->at - start), l->line,
                           (uint32_t)(start - l->line_start) + 1};
    } while (is_ignored(&l->token));
}
