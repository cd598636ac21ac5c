/* repl.c: programs that are typed (repl.h).
 *
 * On a terminal lines come from libedit, which is loaded when it is needed, if the build knows it;
 * otherwise, and without a terminal, from stdin with prompts on stderr, as CPython does.
 *
 * Invariant 1: what is run is always a complete statement as far as brackets, quotes, backslashes
 * and the empty line behind a block can tell; the compiler has the last word. */
#include "repl.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Lines ------------------------------------------------------------------------------------*/

typedef struct reader {
    char *(*read)(const char *prompt); /* libedit's readline; NULL: without it */
    int (*remember)(const char *line);
} reader;

static reader open_reader(void) {
    reader r = {NULL, NULL};
#ifdef DYNVM_LIBEDIT
    void *library = NULL;
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        library = dlopen(DYNVM_LIBEDIT, RTLD_NOW | RTLD_LOCAL);
    if (library) {
        r.read = (char *(*)(const char *))(void *)dlsym(library, "readline");
        r.remember = (int (*)(const char *))(void *)dlsym(library, "add_history");
    }
    if (!r.remember) r.read = NULL;
#endif
    return r;
}

/* A line with its newline, from malloc; NULL: the end. */
static char *read_line(const reader *r, const char *prompt) {
    size_t room = 0;
    char *line = NULL;
    if (!r->read) {
        fputs(prompt, stderr);
        ssize_t size = getline(&line, &room, stdin);
        if (size > 0) return line;
        free(line);
        return NULL;
    }
    char *text = r->read(prompt);
    if (!text) return NULL;
    if (*text) r->remember(text);
    size_t size = strlen(text);
    line = malloc(size + 2);
    if (line) {
        memcpy(line, text, size);
        memcpy(line + size, "\n", 2);
    }
    free(text);
    return line;
}

/* ---- Is it complete? --------------------------------------------------------------------------*/

/* What is open at the end of a text. */
typedef struct scan {
    int depth;     /* of brackets */
    char quote;    /* of a triple-quoted string; 0: none */
    bool joined;   /* the last line ends with a backslash */
    bool compound; /* it begins with a statement that has a block */
} scan;

static bool is_compound(const char *text) {
    static const char *const words[] = {"if",  "while", "for",   "def",   "class",
                                        "try", "with",  "async", "match", NULL};
    while (*text == ' ' || *text == '\t') text++;
    if (*text == '@') return true;
    for (const char *const *word = words; *word; word++) {
        size_t size = strlen(*word);
        if (strncmp(text, *word, size) == 0 && !isalnum((unsigned char)text[size]) &&
            text[size] != '_')
            return true;
    }
    return false;
}

/* Behind a string that begins at text; its quote is left open if it is triple and does not end. */
static const char *skip_string(const char *text, scan *s) {
    char quote = *text;
    bool triple = text[1] == quote && text[2] == quote;
    for (text += triple ? 3 : 1; *text; text++) {
        if (*text == '\\' && text[1]) {
            text++;
        } else if (triple ? strncmp(text, (char[]){quote, quote, quote, 0}, 3) == 0
                          : *text == quote) {
            return text + (triple ? 3 : 1);
        } else if (*text == '\n' && !triple) {
            return text;
        }
    }
    if (triple) s->quote = quote;
    return text;
}

static scan scan_text(const char *text) {
    scan s = {.compound = is_compound(text)};
    while (*text) {
        s.joined = false;
        if (*text == '"' || *text == '\'') {
            text = skip_string(text, &s);
            continue;
        }
        if (*text == '#') {
            text += strcspn(text, "\n");
            continue;
        }
        if (strchr("([{", *text)) s.depth++;
        if (strchr(")]}", *text)) s.depth--;
        if (*text == '\\' && text[1] == '\n') {
            s.joined = true;
            text++;
        }
        text++;
    }
    return s;
}

static bool is_blank(const char *line) { return line[strspn(line, " \t\r\n\f")] == '\0'; }

/* Does the statement go on behind this line, its last so far? */
static bool goes_on(const char *text, const char *line) {
    scan s = scan_text(text);
    if (s.quote || s.depth > 0 || s.joined) return true;
    return s.compound && !(is_blank(line) && line != text);
}

/* ---- Statements -------------------------------------------------------------------------------*/

/* A whole statement from malloc; NULL: the end. */
static char *read_statement(const reader *r) {
    char *text = read_line(r, ">>> ");
    size_t size = text ? strlen(text) : 0, last = 0;
    if (text && is_blank(text)) return text;
    while (text && goes_on(text, text + last)) {
        char *line = read_line(r, "... ");
        if (!line) {
            fputs("\n", stderr);
            break;
        }
        size_t more = strlen(line);
        char *longer = realloc(text, size + more + 1);
        if (longer) memcpy(longer + size, line, more + 1);
        free(line);
        if (!longer) {
            free(text);
            return NULL;
        }
        text = longer;
        last = size;
        size += more;
    }
    return text;
}

static void show_error(dynvm_vm *vm, cli_output *output) {
    dynvm_error *error = dynvm_take_error(vm);
    cli_show_error(output, dynvm_error_traceback(error), dynvm_error_traceback_size(error));
    dynvm_error_free(error);
}

int cli_repl(dynvm_vm *vm, cli_output *output) {
    reader r = open_reader();
    char *text;
    while ((text = read_statement(&r))) {
        dynvm_status status = DYNVM_OK;
        if (!is_blank(text)) status = dynvm_run_interactive(vm, text, strlen(text));
        free(text);
        if (status == DYNVM_EXIT) return dynvm_exit_status(vm);
        if (status == DYNVM_ERROR) show_error(vm, output);
        if (status == DYNVM_NO_MEMORY) fputs("dynvm: out of memory\n", stderr);
        (void)cli_output_flush(output);
    }
    fputs("\n", stderr);
    return 0;
}
