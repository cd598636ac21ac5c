/* repl.c: programs that are typed (repl.h).
 *
 * Invariant 1: what is run is always a complete statement as far as brackets, quotes, backslashes
 * and the empty line behind a block can tell; the compiler has the last word. */
#include "repl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

enum { PROMPT_SIZE = 512 };

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

/* Appends a line, which it frees, to a text of malloc. */
static bool append(char **text, size_t *size, char *line) {
    size_t more = strlen(line);
    char *longer = realloc(*text, *size + more + 1);
    if (longer) {
        memcpy(longer + *size, line, more + 1);
        *text = longer;
        *size += more;
    }
    free(line);
    return longer != NULL;
}

/* A whole statement, from malloc, to *text; else NULL. */
static cli_answer read_statement(cli_reader *r, char **text) {
    char *line, first[PROMPT_SIZE], next[PROMPT_SIZE];
    dynvm_prompts(r->vm, first, next, PROMPT_SIZE);
    cli_answer a = cli_read_typed(r, first, text);
    if (a != CLI_LINE || is_blank(*text)) return a;
    size_t size = strlen(*text), last = 0;
    while (goes_on(*text, *text + last)) {
        a = cli_read_typed(r, next, &line);
        if (a == CLI_END) {
            fputs("\n", stderr);
            break;
        }
        last = size;
        if (a == CLI_LINE && append(text, &size, line)) continue;
        free(*text);
        *text = NULL;
        return a == CLI_LINE ? CLI_NO_MEMORY : a;
    }
    return CLI_LINE;
}

static void show_error(dynvm_vm *vm, cli_output *output) {
    dynvm_error *error = dynvm_take_error(vm);
    cli_show_error(output, dynvm_error_traceback(error), dynvm_error_traceback_size(error));
    dynvm_error_free(error);
}

static int read_and_run(cli_reader *r, cli_output *output) {
    dynvm_vm *vm = r->vm;
    for (;;) {
        char *text;
        dynvm_status status = DYNVM_OK;
        cli_answer a = read_statement(r, &text);
        if (a == CLI_END) break;
        if (a == CLI_INTERRUPTED) fputs("\nKeyboardInterrupt\n", stderr);
        if (a == CLI_NO_MEMORY) status = DYNVM_NO_MEMORY;
        if (a == CLI_LINE && !is_blank(text))
            status = dynvm_run_interactive(vm, text, strlen(text));
        free(text);
        if (status == DYNVM_EXIT) return dynvm_exit_status(vm);
        if (status == DYNVM_ERROR) show_error(vm, output);
        if (status == DYNVM_NO_MEMORY) fputs("dynvm: out of memory\n", stderr);
        (void)cli_output_flush(output);
    }
    fputs("\n", stderr);
    return 0;
}

int cli_repl(dynvm_vm *vm, cli_output *output) {
    cli_reader r;
    cli_reader_open(&r, vm);
    int status = read_and_run(&r, output);
    cli_reader_close(&r);
    return status;
}
