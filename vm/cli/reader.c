/* reader.c: lines that are typed (reader.h).
 *
 * Invariant 1: libedit is called while a line is read and at the beginning and end of a session;
 * when a statement runs, the terminal is as it was before. */
#include "reader.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HISTORY_LINES = 1000 };

/* Neither a signal handler nor libedit's callbacks have another way to say what came, or to know
 * for which VM they are called. */
static volatile sig_atomic_t interrupted;
static struct typed {
    char *line; /* NULL: the end */
    bool done;
    void (*remove)(void);
    dynvm_vm *volatile vm; /* code of the program runs, to find completions; else NULL */
    dynvm_vm *asked;       /* for completions */
} typed;

/* ---- Completion -------------------------------------------------------------------------------*/

/* What libedit gets: the part that all words have in common, the words, NULL; all from malloc. */
typedef struct words {
    char **items;
    size_t count;
} words;

static void free_words(words *w) {
    for (size_t i = 0; i < w->count; i++) free(w->items[i]);
    free(w->items);
    *w = (words){NULL, 0};
}

/* dynvm_found.  Without memory there are no words. */
static int add_word(void *context, const char *word) {
    words *w = context;
    char **items = realloc(w->items, (w->count + 2) * sizeof *items);
    char *copy = items ? strdup(word) : NULL;
    if (items) w->items = items;
    if (!copy) {
        free_words(w);
        return 1;
    }
    items[w->count++] = copy;
    items[w->count] = NULL;
    return 0;
}

/* The first item becomes what all the others begin with. */
static void shorten_first(words *w) {
    char *common = w->items[0];
    for (size_t i = 1; i < w->count; i++) {
        size_t same = 0;
        while (common[same] && common[same] == w->items[i][same]) same++;
        while (((unsigned char)common[same] & 0xC0) == 0x80) same--; /* whole code points */
        common[same] = 0;
    }
}

/* rl_attempted_completion_function */
static char **complete(const char *text, int start, int end) {
    words w = {NULL, 0};
    (void)start, (void)end;
    if (add_word(&w, "")) return NULL;
    typed.vm = typed.asked;
    dynvm_status status = dynvm_complete(typed.asked, text, add_word, &w);
    typed.vm = NULL;
    if (status != DYNVM_OK || w.count < 2) {
        free_words(&w);
        return NULL;
    }
    free(w.items[0]);
    w.items[0] = strdup(w.items[1]);
    if (w.items[0]) {
        shorten_first(&w);
        return w.items;
    }
    memmove(w.items, w.items + 1, w.count-- * sizeof *w.items);
    free_words(&w);
    return NULL;
}

/* rl_completion_entry_function: without completions there is none, not names of files. */
static char *no_file(const char *text, int state) {
    (void)text, (void)state;
    return NULL;
}

/* ---- Opening and closing ----------------------------------------------------------------------*/

/* What cannot be in a dotted name; those of CPython's readline. */
static char delimiters[] = " \t\n`~!@#$%^&*()-=+[{]}\\|;:'\",<>/?";

/* Words end at what cannot be in a dotted name, and nothing is put behind them. */
static void offer_completion(void *library) {
    void *function = dlsym(library, "rl_attempted_completion_function");
    int *append = dlsym(library, "rl_completion_append_character");
    char **ends = dlsym(library, "rl_basic_word_break_characters");
    char **completer_ends = dlsym(library, "rl_completer_word_break_characters");
    void *entry = dlsym(library, "rl_completion_entry_function");
    if (!function || !append || !ends || !completer_ends || !entry) return;
    *(char **(**)(const char *, int, int))function = complete;
    *(char *(**)(const char *, int))entry = no_file;
    *append = 0;
    *ends = *completer_ends = delimiters;
}

/* ~/.dynvm_history, from malloc; NULL: there is no home. */
static char *history_path(void) {
    static const char name[] = "/.dynvm_history";
    const char *home = getenv("HOME");
    if (!home || home[0] != '/') return NULL;
    char *path = malloc(strlen(home) + sizeof name);
    if (path) strcat(strcpy(path, home), name);
    return path;
}

static void open_history(cli_reader *r, void *library) {
    void (*begin)(void) = (void (*)(void))dlsym(library, "using_history");
    void (*limit)(int) = (void (*)(int))dlsym(library, "stifle_history");
    int (*load)(const char *) = (int (*)(const char *))dlsym(library, "read_history");
    r->save = (int (*)(const char *))dlsym(library, "write_history");
    if (!begin || !limit || !load || !r->save) return;
    begin();
    limit(HISTORY_LINES);
    r->history = history_path();
    if (r->history) (void)load(r->history); /* there may be none yet */
}

void *cli_reader_library(void) {
    void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL); /* as Debian calls it */
    return library ? library : dlopen("libedit.so.0", RTLD_NOW | RTLD_LOCAL);
}

static void open_library(cli_reader *r) {
    void *library = NULL;
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) library = cli_reader_library();
    if (!library) return;
    void *install = dlsym(library, "rl_callback_handler_install");
    r->read_char = (void (*)(void))dlsym(library, "rl_callback_read_char");
    r->remove = (void (*)(void))dlsym(library, "rl_callback_handler_remove");
    r->remember = (int (*)(const char *))dlsym(library, "add_history");
    int *catches_signals = dlsym(library, "rl_catch_signals");
    if (!install || !r->read_char || !r->remove || !r->remember || !catches_signals) return;
    setlocale(LC_CTYPE, "C.UTF-8"); /* programs are UTF-8, whatever the terminal is said to be */
    *catches_signals = 0;           /* Ctrl-C is ours */
    r->install = (void (*)(const char *, void (*)(char *)))install;
    offer_completion(library);
    open_history(r, library);
}

void cli_reader_open(cli_reader *r, dynvm_vm *vm) {
    *r = (cli_reader){.vm = vm};
    open_library(r);
}

void cli_reader_close(cli_reader *r) {
    if (r->history) (void)r->save(r->history);
    free(r->history);
    free(r->last);
}

/* ---- Reading ----------------------------------------------------------------------------------*/

static void on_line(char *line) {
    typed.line = line;
    typed.done = true;
    typed.remove();
}

/* Not twice in a row. */
static void remember(cli_reader *r, const char *line) {
    if (!*line || (r->last && strcmp(r->last, line) == 0)) return;
    r->remember(line);
    free(r->last);
    r->last = strdup(line);
}

/* Will no key ever come, as the terminal is gone?  libedit takes that for one that is not there
 * yet. */
static bool is_gone(const struct pollfd *input) {
    int left = 0;
    if (!(input->revents & (POLLHUP | POLLERR | POLLNVAL))) return false;
    return ioctl(input->fd, FIONREAD, &left) != 0 || left == 0;
}

static cli_answer read_edited(cli_reader *r, const char *prompt, char **line) {
    typed = (struct typed){.remove = r->remove, .asked = r->vm};
    r->install(prompt, on_line);
    bool alive = true;
    while (!typed.done && !interrupted && alive) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        int count = poll(&input, 1, -1);
        alive = count < 0 ? errno == EINTR : !is_gone(&input);
        if (count > 0 && alive) r->read_char();
    }
    if (!typed.done) {
        r->remove();
        return alive ? CLI_INTERRUPTED : CLI_END;
    }
    if (!typed.line) return CLI_END;
    remember(r, typed.line);
    size_t size = strlen(typed.line);
    *line = realloc(typed.line, size + 2);
    if (!*line) {
        free(typed.line);
        return CLI_NO_MEMORY;
    }
    memcpy(*line + size, "\n", 2);
    return CLI_LINE;
}

static cli_answer read_plain(const char *prompt, char **line) {
    size_t room = 0;
    fputs(prompt, stderr);
    for (;;) {
        if (getline(line, &room, stdin) > 0) return CLI_LINE;
        if (!ferror(stdin) || errno != EINTR) break;
        clearerr(stdin);
        if (interrupted) break;
    }
    free(*line);
    *line = NULL;
    return interrupted ? CLI_INTERRUPTED : CLI_END;
}

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
    if (typed.vm) dynvm_interrupt(typed.vm);
}

cli_answer cli_read_typed(cli_reader *r, const char *prompt, char **line) {
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    interrupted = 0;
    *line = NULL;
    sigaction(SIGINT, &action, &before);
    cli_answer a = r->install ? read_edited(r, prompt, line) : read_plain(prompt, line);
    sigaction(SIGINT, &before, NULL);
    return a;
}
