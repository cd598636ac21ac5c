/* letters.c: Python's options (letters.h).
 *
 * Invariant 1: an option of CPython's either does what it does there, as far as dl has a meaning
 * for it, or is refused with the reason; those that would change nothing here are accepted. */
#include "letters.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(const char *what, const char *value) {
    fprintf(stderr, "dynvm: %s '%s'; try --help\n", what, value);
    return false;
}

static bool is_one_of(const char *text, size_t size, const char *const *words) {
    while (*words && (strlen(*words) != size || memcmp(*words, text, size) != 0)) words++;
    return *words != NULL;
}

static bool add(const char **list, const char *text, const char *what) {
    int count = 0;
    while (list[count]) count++;
    if (count == CLI_MOST_TEXTS) return refuse("too many options", what);
    list[count] = text;
    return true;
}

/* ---- -W ---------------------------------------------------------------------------------------*/

static bool is_action(const char *text, size_t size) {
    static const char *const names[] = {"default", "ignore", "error", "always",
                                        "module",  "once",   "all",   NULL};
    for (const char *const *name = names; *name; name++) {
        bool whole = strcmp(*name, "all") == 0; /* of the others a beginning is enough */
        if (strncmp(*name, text, size) == 0 && (!whole || size == 3)) return true;
    }
    return false;
}

/* A name with dots may be of a module that is not there yet. */
static bool is_category(const char *text, size_t size) {
    static const char *const names[] = {"Warning",
                                        "UserWarning",
                                        "DeprecationWarning",
                                        "SyntaxWarning",
                                        "RuntimeWarning",
                                        "FutureWarning",
                                        "PendingDeprecationWarning",
                                        "ImportWarning",
                                        "UnicodeWarning",
                                        "BytesWarning",
                                        "ResourceWarning",
                                        "EncodingWarning",
                                        NULL};
    return size == 0 || memchr(text, '.', size) || is_one_of(text, size, names);
}

static void complain(const char *what, const char *text, size_t size, const char *quote) {
    fprintf(stderr, "Invalid -W option ignored: %s%s%.*s%s\n", what, quote, (int)size, text, quote);
}

/* As CPython does, says what is wrong with a filter, which then changes nothing. */
static void check_filter(const char *filter) {
    enum { ACTION, MESSAGE, CATEGORY, MODULE, LINE, FIELDS };
    const char *fields[FIELDS] = {"", "", "", "", ""}, *at = filter;
    size_t sizes[FIELDS] = {0};
    for (int i = 0;; i++) {
        if (i == FIELDS) {
            complain("too many fields (max 5): ", filter, strlen(filter), "'");
            return;
        }
        fields[i] = at + strspn(at, " ");
        at += strcspn(at, ":");
        sizes[i] = at > fields[i] ? (size_t)(at - fields[i]) : 0;
        while (sizes[i] && fields[i][sizes[i] - 1] == ' ') sizes[i]--;
        if (!*at++) break;
    }
    size_t digits = strspn(fields[LINE], "0123456789");
    if (!is_action(fields[ACTION], sizes[ACTION]))
        complain("invalid action: ", fields[ACTION], sizes[ACTION], "'");
    else if (!is_category(fields[CATEGORY], sizes[CATEGORY]))
        complain("unknown warning category: ", fields[CATEGORY], sizes[CATEGORY], "'");
    else if (digits < sizes[LINE])
        complain("invalid lineno ", fields[LINE], sizes[LINE], *fields[LINE] == '-' ? "" : "'");
}

static bool take_filter(const char *filter, cli_options *options) {
    check_filter(filter);
    return add(options->warn_options, filter, "-W");
}

/* ---- -X ---------------------------------------------------------------------------------------*/

static bool check_digits(const char *text) {
    char *end;
    long most = strtol(text, &end, 10);
    if (end != text && !*end && (most == 0 || (most >= 640 && most <= INT_MAX))) return true;
    fputs("dynvm: -X int_max_str_digits: invalid limit; must be >= 640 or 0 for unlimited.\n",
          stderr);
    return false;
}

static bool take_x_option(const char *option, cli_options *options) {
    static const char *const not_here[] = {
        "faulthandler",          "importtime", "no_debug_ranges", "perf", "tracemalloc",
        "warn_default_encoding", NULL};
    static const char *const digits[] = {"int_max_str_digits", NULL}, *const dev[] = {"dev", NULL},
                             *const utf8[] = {"utf8", NULL};
    size_t size = strcspn(option, "=");
    const char *value = option[size] ? option + size + 1 : NULL;
    if (is_one_of(option, size, not_here)) {
        fprintf(stderr, "dynvm: -X %.*s is not part of dl\n", (int)size, option);
        return false;
    }
    if (is_one_of(option, size, digits) && !check_digits(value ? value : "")) return false;
    if (is_one_of(option, size, utf8))
        options->config.flags[DYNVM_FLAG_UTF8_MODE] = !value || strcmp(value, "0") != 0;
    if (is_one_of(option, size, dev) && !options->config.flags[DYNVM_FLAG_DEV_MODE]) {
        options->config.flags[DYNVM_FLAG_DEV_MODE] = 1;
        memmove(options->warn_options + 1, options->warn_options,
                (CLI_MOST_TEXTS - 1) * sizeof *options->warn_options);
        options->warn_options[0] = "default"; /* what -W says decides before it */
    }
    return add(options->x_options, option, "-X");
}

/* ---- Letters ----------------------------------------------------------------------------------*/

/* An option that only sets a flag, or counts up to 255. */
static bool take_flag(char letter, cli_options *options) {
    static const struct {
        char letter;
        unsigned char flag;
    } plain[] = {{'B', DYNVM_FLAG_DONT_WRITE_BYTECODE},
                 {'d', DYNVM_FLAG_DEBUG},
                 {'E', DYNVM_FLAG_IGNORE_ENVIRONMENT},
                 {'I', DYNVM_FLAG_ISOLATED},
                 {'I', DYNVM_FLAG_IGNORE_ENVIRONMENT},
                 {'I', DYNVM_FLAG_NO_USER_SITE},
                 {'I', DYNVM_FLAG_SAFE_PATH},
                 {'i', DYNVM_FLAG_INSPECT},
                 {'i', DYNVM_FLAG_INTERACTIVE},
                 {'O', DYNVM_FLAG_OPTIMIZE},
                 {'P', DYNVM_FLAG_SAFE_PATH},
                 {'q', DYNVM_FLAG_QUIET},
                 {'S', DYNVM_FLAG_NO_SITE},
                 {'s', DYNVM_FLAG_NO_USER_SITE},
                 {'v', DYNVM_FLAG_VERBOSE}};
    bool found = false, counts = strchr("dOqv", letter) != NULL;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (plain[i].letter != letter) continue;
        unsigned char *flag = &options->config.flags[plain[i].flag];
        *flag = counts && *flag < UCHAR_MAX ? *flag + 1 : *flag ? *flag : 1;
        found = true;
    }
    return found;
}

static bool take_letter(char letter, cli_options *options) {
    const char text[] = {'-', letter, 0};
    if (letter == 'b') return refuse("dl has no BytesWarning:", text);
    if (letter == 'x') return refuse("dl reads every line of a script:", text);
    options->inspect |= letter == 'i';
    options->unbuffered |= letter == 'u';
    if (letter == 'h' || letter == '?') options->action = CLI_HELP;
    if (letter == 'V') options->action = CLI_VERSION;
    return strchr("h?Vu", letter) || take_flag(letter, options) || refuse("unknown option", text);
}

/* -c, -m, -W and -X, with what stands behind them. */
static bool take_text(char letter, const char *text, cli_options *options) {
    if (letter == 'W') return take_filter(text, options);
    if (letter == 'X') return take_x_option(text, options);
    options->action = letter == 'm' ? CLI_RUN_MODULE : CLI_RUN_CODE;
    options->program = text;
    return true;
}

bool cli_parse_letters(int argc, char **argv, int *at, cli_options *options) {
    static char names[][3] = {"-c", "-m"};
    for (const char *letter = argv[*at] + 1; *letter; letter++) {
        if (!strchr("cmWX", *letter)) {
            if (!take_letter(*letter, options)) return false;
            continue;
        }
        const char option[] = {'-', *letter, 0}, *text = letter + 1;
        if (!*text && ++*at == argc) return refuse("no argument behind", option);
        if (!*text) text = argv[*at];
        /* sys.argv is ["-c", ...] or ["-m", ...]: the text itself makes room for it. */
        if (*letter == 'c' || *letter == 'm') argv[*at] = names[*letter == 'm'];
        return take_text(*letter, text, options);
    }
    return true;
}
