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
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Lines ------------------------------------------------------------------------------------*/

typedef enum answer { LINE, END, INTERRUPTED, NO_MEMORY } answer;

/* libedit's functions, with those of readline's interface that return while nothing is typed;
 * install NULL: without it. */
typedef struct reader {
    void (*install)(const char *prompt, void (*handler)(char *line));
    void (*read_char)(void);
    void (*remove)(void);
    int (*remember)(const char *line);
} reader;

/* Neither a signal handler nor libedit's handler of lines has another way to say what came. */
static volatile sig_atomic_t interrupted;
static struct typed {
    char *line; /* NULL: the end */
    bool done;
    void (*remove)(void);
} typed;

static reader open_reader(void) {
    reader r = {NULL, NULL, NULL, NULL};
#ifdef DYNVM_LIBEDIT
    void *library = NULL;
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        library = dlopen(DYNVM_LIBEDIT, RTLD_NOW | RTLD_LOCAL);
    if (!library) return r;
    void *install = dlsym(library, "rl_callback_handler_install");
    r.read_char = (void (*)(void))dlsym(library, "rl_callback_read_char");
    r.remove = (void (*)(void))dlsym(library, "rl_callback_handler_remove");
    r.remember = (int (*)(const char *))dlsym(library, "add_history");
    int *catches_signals = dlsym(library, "rl_catch_signals");
    if (!install || !r.read_char || !r.remove || !r.remember || !catches_signals) return r;
    *catches_signals = 0; /* Ctrl-C is ours */
    r.install = (void (*)(const char *, void (*)(char *)))install;
#endif
    return r;
}

static void on_line(char *line) {
    typed.line = line;
    typed.done = true;
    typed.remove(); /* the terminal is as before while the statement runs */
}

static answer read_edited(const reader *r, const char *prompt, char **line) {
    typed = (struct typed){NULL, false, r->remove};
    r->install(prompt, on_line);
    while (!typed.done && !interrupted) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        if (poll(&input, 1, -1) > 0) r->read_char();
    }
    if (!typed.done) {
        r->remove();
        return INTERRUPTED;
    }
    if (!typed.line) return END;
    if (*typed.line) r->remember(typed.line);
    size_t size = strlen(typed.line);
    *line = realloc(typed.line, size + 2);
    if (!*line) {
        free(typed.line);
        return NO_MEMORY;
    }
    memcpy(*line + size, "\n", 2);
    return LINE;
}

static answer read_plain(const char *prompt, char **line) {
    size_t room = 0;
    fputs(prompt, stderr);
    for (;;) {
        if (getline(line, &room, stdin) > 0) return LINE;
        if (!ferror(stdin) || errno != EINTR) break;
        clearerr(stdin);
        if (interrupted) break;
    }
    free(*line);
    *line = NULL;
    return interrupted ? INTERRUPTED : END;
}

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

/* A line with its newline, from malloc, to *line; else NULL. */
static answer read_line(const reader *r, const char *prompt, char **line) {
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    interrupted = 0;
    *line = NULL;
    sigaction(SIGINT, &action, &before);
    answer a = r->install ? read_edited(r, prompt, line) : read_plain(prompt, line);
    sigaction(SIGINT, &before, NULL);
    return a;
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
static answer read_statement(const reader *r, char **text) {
    char *line;
    answer a = read_line(r, ">>> ", text);
    if (a != LINE || is_blank(*text)) return a;
    size_t size = strlen(*text), last = 0;
    while (goes_on(*text, *text + last)) {
        a = read_line(r, "... ", &line);
        if (a == END) {
            fputs("\n", stderr);
            break;
        }
        last = size;
        if (a == LINE && append(text, &size, line)) continue;
        free(*text);
        *text = NULL;
        return a == LINE ? NO_MEMORY : a;
    }
    return LINE;
}

static void show_error(dynvm_vm *vm, cli_output *output) {
    dynvm_error *error = dynvm_take_error(vm);
    cli_show_error(output, dynvm_error_traceback(error), dynvm_error_traceback_size(error));
    dynvm_error_free(error);
}

int cli_repl(dynvm_vm *vm, cli_output *output) {
    reader r = open_reader();
    for (;;) {
        char *text;
        dynvm_status status = DYNVM_OK;
        answer a = read_statement(&r, &text);
        if (a == END) break;
        if (a == INTERRUPTED) fputs("\nKeyboardInterrupt\n", stderr);
        if (a == NO_MEMORY) status = DYNVM_NO_MEMORY;
        if (a == LINE && !is_blank(text)) status = dynvm_run_interactive(vm, text, strlen(text));
        free(text);
        if (status == DYNVM_EXIT) return dynvm_exit_status(vm);
        if (status == DYNVM_ERROR) show_error(vm, output);
        if (status == DYNVM_NO_MEMORY) fputs("dynvm: out of memory\n", stderr);
        (void)cli_output_flush(output);
    }
    fputs("\n", stderr);
    return 0;
}
