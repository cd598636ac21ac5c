/* options.c: the command line (options.h). */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "letters.h"
#include "serve.h"

static const char help[] =
    "usage: dynvm [options] SCRIPT [arguments]\n"
    "       dynvm [options] DIRECTORY [arguments]    run its __main__.dl or __main__.py\n"
    "       dynvm [options] -c CODE [arguments]\n"
    "       dynvm [options] -m MODULE [arguments]\n"
    "       dynvm [options]                      statements are typed\n"
    "       dynvm [options] - [arguments]        run what is read from stdin\n"
    "       dynvm dis [options] SCRIPT           list the script's code (also: -c CODE, -)\n"
    "       dynvm stats [options] SCRIPT [arguments]\n"
    "                                            run, and count what is executed\n"
    "       dynvm explain [options] SCRIPT [arguments]\n"
    "                                            run, and say why what stayed slow\n"
    "       dynvm trace [options] SCRIPT [arguments]\n"
    "                                            run, and list what sites and loops became, and "
    "when\n"
    "       dynvm view [options] [-o FILE.html] SCRIPT [arguments]\n"
    "                                            run, and write a page that shows all of this\n"
    "       dynvm view --serve [options] [SCRIPT]\n"
    "                                            a playground for a browser on this machine\n"
    "       dynvm compile SCRIPT [-o FILE.dlc]   compile, to be run without the script\n"
    "       dynvm asm [options] FILE.dla [arguments]\n"
    "                                            assemble, verify and run\n"
    "       dynvm asm --print SCRIPT             print the script's code as assembly\n"
    "\n"
    "as Python's, also bundled (-uO):\n"
    "  -B                          accepted: dynvm writes no bytecode\n"
    "  -E                          ignore the variables DYNVM_...\n"
    "  -I                          isolated: -E -P -s\n"
    "  -i                          read statements from stdin when the program has ended\n"
    "  -O                          without assertions, __debug__ is False; -OO: also without\n"
    "                              docstrings\n"
    "  -P                          sys.path does not begin with the program's directory\n"
    "  -q                          no banner before statements that are typed\n"
    "  -S                          without exit, quit, help, copyright, credits, license\n"
    "  -s                          accepted: there is no user site directory\n"
    "  -u                          what is printed is not buffered\n"
    "  -v                          say on stderr what is imported\n"
    "  -W FILTER                   of warnings: action:message:category:module:line\n"
    "  -X OPTION                   dev, int_max_str_digits=N, utf8\n"
    "  -V, --version               print the version; before --verbose, also what was found\n"
    "  -h, --help                  print this\n"
    "\n"
    "dynvm's own:\n"
    "  --list-modules              print which modules there are, and which dl leaves out\n"
    "  --level=generic|inca|nama   highest level of execution (default: nama)\n"
    "  --nama=sequence|loop|inline|virtual\n"
    "                              how far the analysis of level nama reaches (default: virtual)\n"
    "  --form=tail|trampoline|mixed\n"
    "                              how instructions follow one another\n"
    "  --memory-limit=BYTES[K|M|G] programs that want more get MemoryError\n"
    "  --instruction-limit=N[K|M|G]\n"
    "                              programs that do more work get RuntimeError, and are then "
    "ended\n"
    "  --time-limit=SECONDS        the same for programs that take longer\n"
    "  --hash-seed=N|random        hashes of strs, bytes and numbers that nobody foretells\n"
    "  --sandbox                   programs reach no files, and import the library alone\n"
    "  --region-limit=BYTES[K|M|G] regions of level nama take no more; the coldest make room\n"
    "  --stress=LIST               make rare events common: quicken, assume, guard:N, exit:N;\n"
    "                              or leave out: no-maps, no-versions\n"
    "  --lockstep[=LEVEL]          compare with a level (default: generic), or a reach of nama,\n"
    "                              at every loop iteration\n"
    "  --no-native-extensions      extensions run in their portable form\n"
    "  --no-extension-quickening   nothing is specialised for extensions\n"
    "  --ext-debug                 check what extensions do: leaks, use after release and more\n"
    "  --ext-trace                 print every call that extensions make\n"
    "\n"
    "of dis, stats, explain, trace and view:\n"
    "  --after-run                 dis: run the script first, and list what its code became\n"
    "  --asm                       dis: as assembly; what the script prints goes to stderr\n"
    "  --facts                     dis: what the analysis knew in regions, after the run\n"
    "  --where                     dis: where dynvm's sources define each instruction, and who\n"
    "                              chooses it; without a script: of all there are\n"
    "  --function=NAME             only this function\n"
    "  --top=N                     at most so many rows in a table (default: 20)\n"
    "  --step=FUNCTION[:N]         view: go through the function step by step; of each phase of "
    "its\n"
    "                              life the first N steps (default: 100)\n"
    "  --serve                     view: a playground at 127.0.0.1: edit, run with limits (5 "
    "seconds\n"
    "                              and 256 MB, or what is given), compare; sandboxed\n"
    "  --port=N                    view --serve: the port (default: 8000; 0: any that is free)\n"
    "  --json                      one line of JSON (trace: one for each event); what the script\n"
    "                              prints goes to stderr\n";

void cli_print_help(void) { fputs(help, stdout); }

static bool refuse(const char *what, const char *value) {
    fprintf(stderr, "dynvm: %s '%s'; try --help\n", what, value);
    return false;
}

/* The text behind "--name=", or NULL. */
static const char *value_of(const char *argument, const char *name) {
    size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1
                                                                           : NULL;
}

static bool find_level(const char *text, dynvm_level *level) {
    if (strcmp(text, "generic") == 0)
        *level = DYNVM_LEVEL_GENERIC;
    else if (strcmp(text, "inca") == 0)
        *level = DYNVM_LEVEL_INCA;
    else if (strcmp(text, "nama") == 0)
        *level = DYNVM_LEVEL_NAMA;
    else
        return false;
    return true;
}

static bool parse_level(const char *text, cli_options *options) {
    return find_level(text, &options->config.level) || refuse("unknown level", text);
}

static bool find_nama(const char *text, dynvm_nama *nama) {
    if (strcmp(text, "sequence") == 0)
        *nama = DYNVM_NAMA_SEQUENCE;
    else if (strcmp(text, "loop") == 0)
        *nama = DYNVM_NAMA_LOOP;
    else if (strcmp(text, "inline") == 0)
        *nama = DYNVM_NAMA_INLINE;
    else if (strcmp(text, "virtual") == 0)
        *nama = DYNVM_NAMA_VIRTUAL;
    else
        return refuse("unknown reach of the analysis", text);
    return true;
}

static bool parse_nama(const char *text, cli_options *options) {
    return find_nama(text, &options->config.nama);
}

/* A level, or a reach of the analysis of level nama. */
static bool parse_lockstep(const char *text, cli_options *options) {
    if (!text) text = "generic";
    options->lockstep = true;
    options->lockstep_name = text;
    if (find_level(text, &options->lockstep_level)) return true;
    options->lockstep_level = DYNVM_LEVEL_NAMA;
    return find_nama(text, &options->lockstep_nama);
}

static bool parse_form(const char *text, cli_options *options) {
    dynvm_form *form = &options->config.form;
    if (strcmp(text, "tail") == 0)
        *form = DYNVM_FORM_TAIL;
    else if (strcmp(text, "trampoline") == 0)
        *form = DYNVM_FORM_TRAMPOLINE;
    else if (strcmp(text, "mixed") == 0)
        *form = DYNVM_FORM_MIXED;
    else
        return refuse("unknown form", text);
    return true;
}

/* A number with a letter behind it, or none; `thousand` is what K stands for. */
static bool parse_number(const char *text, uint64_t thousand, const char *what, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const uint64_t unit = *end == 'K'   ? thousand
                          : *end == 'M' ? thousand * thousand
                          : *end == 'G' ? thousand * thousand * thousand
                                        : 1;
    if (unit > 1) end++;
    bool good = end != text && errno == 0 && !*end && text[0] != '-' && number > 0 &&
                number <= SIZE_MAX / unit;
    *out = number * unit;
    return good || refuse(what, text);
}

static bool parse_size(const char *text, size_t *size) {
    uint64_t number;
    if (!parse_number(text, 1024, "not a number of bytes:", &number)) return false;
    *size = (size_t)number;
    return true;
}

static bool parse_memory_limit(const char *text, cli_options *options) {
    return parse_size(text, &options->config.memory_limit);
}

static bool parse_region_limit(const char *text, cli_options *options) {
    return parse_size(text, &options->config.region_limit);
}

static bool parse_instruction_limit(const char *text, cli_options *options) {
    return parse_number(text, 1000,
                        "not a number of instructions:", &options->config.instruction_limit);
}

static bool parse_time_limit(const char *text, cli_options *options) {
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0)) return refuse("not a number of seconds:", text);
    options->config.time_limit = seconds;
    return true;
}

static bool parse_hash_seed(const char *text, cli_options *options) {
    uint64_t *seed = &options->config.hash_seed;
    if (strcmp(text, "random") == 0)
        return getrandom(seed, sizeof *seed, 0) == (ssize_t)sizeof *seed ||
               refuse("no random numbers for", "--hash-seed");
    return strcmp(text, "0") == 0 || parse_number(text, 1000, "neither a number nor random:", seed);
}

static bool set_sandbox(const char *text, cli_options *options) {
    (void)text;
    options->config.sandboxed = 1;
    options->config.foreign = 0;
    return true;
}

/* "guard:3": the number behind the colon. */
static bool parse_period(const char *text, size_t size, const char *name, uint32_t *period) {
    size_t length = strlen(name);
    if (size <= length + 1 || strncmp(text, name, length) != 0 || text[length] != ':') return false;
    char *end;
    unsigned long number = strtoul(text + length + 1, &end, 10);
    if (end != text + size || number == 0 || number > UINT32_MAX) return false;
    *period = (uint32_t)number;
    return true;
}

static bool is_word(const char *text, size_t size, const char *word) {
    return strlen(word) == size && strncmp(text, word, size) == 0;
}

static bool parse_stress(const char *text, cli_options *options) {
    dynvm_config *config = &options->config;
    for (const char *at = text; *at;) {
        size_t size = strcspn(at, ",");
        if (is_word(at, size, "quicken"))
            config->stress |= DYNVM_STRESS_QUICKEN;
        else if (is_word(at, size, "assume"))
            config->stress |= DYNVM_STRESS_ASSUME;
        else if (is_word(at, size, "no-maps"))
            config->stress |= DYNVM_STRESS_NO_MAPS;
        else if (is_word(at, size, "no-versions"))
            config->stress |= DYNVM_STRESS_NO_VERSIONS;
        else if (!parse_period(at, size, "guard", &config->stress_guards) &&
                 !parse_period(at, size, "exit", &config->stress_exits))
            return refuse("unknown stress mode in", text);
        at += size + (at[size] == ',');
    }
    return true;
}

static bool parse_top(const char *text, unsigned *top) {
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (end == text || *end || text[0] == '-' || number == 0 || number > UINT32_MAX)
        return refuse("not a number of rows:", text);
    *top = (unsigned)number;
    return true;
}

/* "f:100": the function, and how many steps of each phase.  The text is one of argv, which is cut.
 */
static bool parse_step(const char *text, cli_options *options) {
    char *colon = strrchr(text, ':');
    options->report.step = text;
    if (!colon) return *text || refuse("no function in", "--step=");
    if (!parse_top(colon + 1, &options->report.steps)) return false;
    *colon = 0;
    return *text || refuse("no function in", "--step=");
}

static bool parse_port(const char *text, cli_options *options) {
    char *end;
    const unsigned long port = strtoul(text, &end, 10);
    if (end == text || *end || text[0] == '-' || port > UINT16_MAX)
        return refuse("not a port:", text);
    options->port = (int)port;
    return true;
}

/* Is it an option of the tools?  *good: it is understood. */
static bool parse_report_option(const char *argument, cli_options *options, bool *good) {
    const char *value;
    *good = true;
    if (options->tool == CLI_DISASSEMBLE && strcmp(argument, "--after-run") == 0)
        options->after_run = true;
    else if (options->tool == CLI_DISASSEMBLE && strcmp(argument, "--asm") == 0)
        options->report.assembly = 1;
    else if (options->tool == CLI_DISASSEMBLE && strcmp(argument, "--where") == 0)
        options->report.where = 1;
    else if (options->tool == CLI_DISASSEMBLE && strcmp(argument, "--facts") == 0)
        options->report.facts = options->after_run = true;
    else if (options->tool == CLI_ASSEMBLE)
        return strcmp(argument, "--print") == 0 && (options->print = true);
    else if (options->tool == CLI_VIEW && (value = value_of(argument, "--step")))
        *good = parse_step(value, options);
    else if (options->tool == CLI_VIEW && strcmp(argument, "--serve") == 0)
        options->serve = true;
    else if (options->tool == CLI_VIEW && (value = value_of(argument, "--port")))
        *good = parse_port(value, options);
    else if (strcmp(argument, "--json") == 0)
        options->report.json = 1;
    else if ((value = value_of(argument, "--function")))
        options->report.function = value;
    else if ((value = value_of(argument, "--top")))
        *good = parse_top(value, &options->report.top);
    else
        return false;
    return true;
}

static bool set_help(const char *text, cli_options *options) {
    (void)text;
    options->action = CLI_HELP;
    return true;
}

static bool set_list_modules(const char *text, cli_options *options) {
    (void)text;
    options->action = CLI_LIST_MODULES;
    return true;
}

static bool set_version(const char *text, cli_options *options) {
    (void)text;
    options->action = CLI_VERSION;
    return true;
}

typedef enum option_value { NO_VALUE, A_VALUE, MAYBE_VALUE } option_value;

/* Options with a name: one without `take` sets `bits` of an unsigned field of cli_options. */
static const struct {
    const char *name;
    option_value value;
    bool (*take)(const char *value, cli_options *options);
    size_t field;
    unsigned bits;
} long_options[] = {
    {"--level", A_VALUE, parse_level, 0, 0},
    {"--nama", A_VALUE, parse_nama, 0, 0},
    {"--form", A_VALUE, parse_form, 0, 0},
    {"--stress", A_VALUE, parse_stress, 0, 0},
    {"--memory-limit", A_VALUE, parse_memory_limit, 0, 0},
    {"--region-limit", A_VALUE, parse_region_limit, 0, 0},
    {"--instruction-limit", A_VALUE, parse_instruction_limit, 0, 0},
    {"--time-limit", A_VALUE, parse_time_limit, 0, 0},
    {"--hash-seed", A_VALUE, parse_hash_seed, 0, 0},
    {"--sandbox", NO_VALUE, set_sandbox, 0, 0},
    {"--lockstep", MAYBE_VALUE, parse_lockstep, 0, 0},
    {"--no-native-extensions", NO_VALUE, NULL, offsetof(cli_options, config.stress),
     DYNVM_STRESS_PORTABLE},
    {"--no-extension-quickening", NO_VALUE, NULL, offsetof(cli_options, config.extensions),
     DYNVM_EXTENSIONS_PLAIN},
    {"--ext-debug", NO_VALUE, NULL, offsetof(cli_options, config.extensions),
     DYNVM_EXTENSIONS_DEBUG},
    {"--ext-trace", NO_VALUE, NULL, offsetof(cli_options, config.extensions),
     DYNVM_EXTENSIONS_TRACE},
    {"--help", NO_VALUE, set_help, 0, 0},
    {"--list-modules", NO_VALUE, set_list_modules, 0, 0},
    {"--version", NO_VALUE, set_version, 0, 0},
};

static bool parse_option(const char *argument, cli_options *options) {
    bool good;
    for (size_t i = 0; i < sizeof long_options / sizeof *long_options; i++) {
        const char *value = value_of(argument, long_options[i].name);
        bool bare = strcmp(argument, long_options[i].name) == 0;
        if (value ? long_options[i].value == NO_VALUE : !bare || long_options[i].value == A_VALUE)
            continue;
        if (long_options[i].take) return long_options[i].take(value, options);
        unsigned *field = (unsigned *)(void *)((char *)options + long_options[i].field);
        *field |= long_options[i].bits;
        return true;
    }
    if (options->tool && parse_report_option(argument, options, &good)) return good;
    return refuse("unknown option", argument);
}

/* What is to be run, at argv[at], and its arguments. */
static void parse_program(int argc, char **argv, int at, cli_options *options) {
    options->arguments = (const char *const *)argv + at;
    options->argument_count = argc - at;
    if (options->action != CLI_RUN_FILE) return; /* -c or -m */
    if (at == argc && (options->inspect || isatty(STDIN_FILENO))) {
        static const char *const none[] = {""};
        options->action = CLI_INTERACTIVE;
        options->arguments = none;
        options->argument_count = 1;
        return;
    }
    if (at == argc || strcmp(argv[at], "-") == 0) {
        options->action = CLI_RUN_STDIN;
        return;
    }
    options->program = argv[at];
}

/* The tool that the first argument names. */
static cli_tool tool_of(int argc, char **argv) {
    if (argc < 2) return CLI_NO_TOOL;
    if (strcmp(argv[1], "dis") == 0) return CLI_DISASSEMBLE;
    if (strcmp(argv[1], "stats") == 0) return CLI_STATS;
    if (strcmp(argv[1], "trace") == 0) return CLI_TRACE;
    if (strcmp(argv[1], "view") == 0) return CLI_VIEW;
    if (strcmp(argv[1], "asm") == 0) return CLI_ASSEMBLE;
    if (strcmp(argv[1], "compile") == 0) return CLI_COMPILE;
    return strcmp(argv[1], "explain") == 0 ? CLI_EXPLAIN : CLI_NO_TOOL;
}

/* compile: a script, with -o FILE before or behind it. */
static bool parse_compile(int argc, char **argv, cli_options *options) {
    for (int at = 2; at < argc; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            options->action = CLI_HELP;
            return true;
        }
        if (strcmp(argv[at], "-o") == 0) {
            if (++at == argc) return refuse("no file behind", "-o");
            options->written = argv[at];
        } else if (argv[at][0] == '-') {
            return refuse("unknown option of compile", argv[at]);
        } else if (options->program) {
            return refuse("compile takes one script, not also", argv[at]);
        } else {
            options->program = argv[at];
        }
    }
    return options->program || refuse("no script behind", argv[1]);
}

/* Text on a terminal is coloured, unless its owner has said otherwise (no-color.org). */
static bool may_colour(void) {
    const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(none && *none) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

/* DYNVM_EXT, as --ext-debug and --ext-trace: a list of both words. */
static bool parse_environment(dynvm_config *config) {
    const char *text = getenv("DYNVM_EXT");
    for (const char *at = text; at && *at;) {
        size_t size = strcspn(at, ",");
        if (is_word(at, size, "debug"))
            config->extensions |= DYNVM_EXTENSIONS_DEBUG;
        else if (is_word(at, size, "trace"))
            config->extensions |= DYNVM_EXTENSIONS_TRACE;
        else
            return refuse("unknown word in DYNVM_EXT", text);
        at += size + (at[size] == ',');
    }
    return true;
}

bool cli_parse(int argc, char **argv, cli_options *options) {
    *options =
        (cli_options){.action = CLI_RUN_FILE, .config = DYNVM_CONFIG, .report = DYNVM_REPORT};
    options->config.foreign = 1; /* a program of its own may do what its user may */
    options->tool = tool_of(argc, argv);
    options->port = CLI_USUAL_PORT;
    options->report.coloured = may_colour();
    options->config.counting = options->tool == CLI_STATS || options->tool == CLI_EXPLAIN ||
                               options->tool == CLI_TRACE || options->tool == CLI_VIEW;
    if (options->tool == CLI_COMPILE)
        return parse_environment(&options->config) && parse_compile(argc, argv, options);
    int at = options->tool ? 2 : 1;
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
        bool named = argv[at][1] == '-';
        if (options->tool == CLI_VIEW && strcmp(argv[at], "-o") == 0) {
            if (++at == argc) return refuse("no file behind", "-o");
            options->written = argv[at];
            continue;
        }
        if (named && !argv[at][2]) {
            at++;
            break;
        }
        if (!(named ? parse_option(argv[at], options)
                    : cli_parse_letters(argc, argv, &at, options)))
            return false;
        if (options->action == CLI_HELP || options->action == CLI_VERSION) return true;
        if (options->action != CLI_RUN_FILE) break; /* -c and -m end the options */
    }
    if (options->warn_options[0]) options->config.warn_options = options->warn_options;
    if (options->x_options[0]) options->config.x_options = options->x_options;
    if (!options->config.flags[DYNVM_FLAG_IGNORE_ENVIRONMENT] &&
        !parse_environment(&options->config))
        return false;
    if (options->report.where && at == argc) return true;
    if (options->serve) {
        options->program = at < argc ? argv[at] : NULL;
        return (options->action == CLI_RUN_FILE && argc - at <= 1) ||
               refuse("--serve takes one script, or none, not", argv[at]);
    }
    if (options->tool && at == argc) return refuse("no script behind", argv[1]);
    parse_program(argc, argv, at, options);
    if ((options->tool == CLI_DISASSEMBLE || options->tool == CLI_VIEW) &&
        options->action == CLI_RUN_MODULE)
        return refuse(options->tool == CLI_VIEW ? "view shows files and text, not"
                                                : "dis lists files and text, not",
                      argv[at]);
    if (options->tool == CLI_ASSEMBLE && options->action != CLI_RUN_FILE)
        return refuse("asm takes a file, not", argv[at]);
    return true;
}
