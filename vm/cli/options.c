/* options.c: the command line (options.h). */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: dynvm [options] SCRIPT [arguments]\n"
    "       dynvm [options] -c CODE [arguments]\n"
    "       dynvm [options] -m MODULE [arguments]\n"
    "       dynvm [options]                      statements are typed\n"
    "       dynvm [options] - [arguments]        run what is read from stdin\n"
    "       dynvm dis [options] SCRIPT           list the script's code\n"
    "       dynvm stats [options] SCRIPT [arguments]\n"
    "                                            run, and count what is executed\n"
    "       dynvm explain [options] SCRIPT [arguments]\n"
    "                                            run, and say why what stayed slow\n"
    "       dynvm compile SCRIPT [-o FILE.dlc]   compile, to be run without the script\n"
    "       dynvm asm [options] FILE.dla [arguments]\n"
    "                                            assemble, verify and run\n"
    "       dynvm asm --print SCRIPT             print the script's code as assembly\n"
    "\n"
    "  --level=generic|inca|nama   highest level of execution (default: nama)\n"
    "  --nama=sequence|loop|inline|virtual\n"
    "                              how far the analysis of level nama reaches (default: virtual)\n"
    "  --form=tail|trampoline|mixed\n"
    "                              how instructions follow one another\n"
    "  --memory-limit=BYTES[K|M|G] programs that want more get MemoryError\n"
    "  --region-limit=BYTES[K|M|G] regions of level nama take no more; the coldest make room\n"
    "  --stress=LIST               make rare events common: quicken, assume, guard:N, exit:N\n"
    "  --lockstep[=LEVEL]          compare with a level (default: generic), or a reach of nama,\n"
    "                              at every loop iteration\n"
    "  --no-native-extensions      extensions run in their portable form\n"
    "  --no-extension-quickening   nothing is specialised for extensions\n"
    "  --ext-debug                 check what extensions do: leaks, use after release and more\n"
    "  --ext-trace                 print every call that extensions make\n"
    "  -i                          read statements from stdin when the program has ended\n"
    "  --version                   print the version; before --verbose, also what was found\n"
    "  --help                      print this\n"
    "\n"
    "of dis, stats and explain:\n"
    "  --after-run                 dis: run the script first, and list what its code became\n"
    "  --asm                       dis: as assembly; what the script prints goes to stderr\n"
    "  --function=NAME             only this function\n"
    "  --top=N                     at most so many rows in a table (default: 20)\n"
    "  --json                      one line of JSON; what the script prints goes to stderr\n";

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

static bool parse_level(const char *text, dynvm_level *level) {
    return find_level(text, level) || refuse("unknown level", text);
}

static bool parse_nama(const char *text, dynvm_nama *nama) {
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

/* A level, or a reach of the analysis of level nama. */
static bool parse_lockstep(const char *text, cli_options *options) {
    options->lockstep = true;
    options->lockstep_name = text;
    if (find_level(text, &options->lockstep_level)) return true;
    options->lockstep_level = DYNVM_LEVEL_NAMA;
    return parse_nama(text, &options->lockstep_nama);
}

static bool parse_form(const char *text, dynvm_form *form) {
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

static bool parse_size(const char *text, size_t *size) {
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift) end++;
    bool good = end != text && !*end && text[0] != '-' && number > 0 && number <= SIZE_MAX >> shift;
    if (!good) return refuse("not a number of bytes:", text);
    *size = (size_t)number << shift;
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

static bool parse_stress(const char *text, dynvm_config *config) {
    for (const char *at = text; *at;) {
        size_t size = strcspn(at, ",");
        if (is_word(at, size, "quicken"))
            config->stress |= DYNVM_STRESS_QUICKEN;
        else if (is_word(at, size, "assume"))
            config->stress |= DYNVM_STRESS_ASSUME;
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

/* Is it an option of the tools?  *good: it is understood. */
static bool parse_report_option(const char *argument, cli_options *options, bool *good) {
    const char *value;
    *good = true;
    if (options->tool == CLI_DISASSEMBLE && strcmp(argument, "--after-run") == 0)
        options->after_run = true;
    else if (options->tool == CLI_DISASSEMBLE && strcmp(argument, "--asm") == 0)
        options->report.assembly = 1;
    else if (options->tool == CLI_ASSEMBLE)
        return strcmp(argument, "--print") == 0 && (options->print = true);
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

static bool parse_option(const char *argument, cli_options *options) {
    const char *value;
    bool good;
    if ((value = value_of(argument, "--level"))) return parse_level(value, &options->config.level);
    if ((value = value_of(argument, "--nama"))) return parse_nama(value, &options->config.nama);
    if ((value = value_of(argument, "--form"))) return parse_form(value, &options->config.form);
    if ((value = value_of(argument, "--stress"))) return parse_stress(value, &options->config);
    if ((value = value_of(argument, "--memory-limit")))
        return parse_size(value, &options->config.memory_limit);
    if ((value = value_of(argument, "--region-limit")))
        return parse_size(value, &options->config.region_limit);
    if (strcmp(argument, "-i") == 0) return options->inspect = true;
    if (strcmp(argument, "--lockstep") == 0) return parse_lockstep("generic", options);
    if ((value = value_of(argument, "--lockstep"))) return parse_lockstep(value, options);
    if (strcmp(argument, "--no-native-extensions") == 0) {
        options->config.stress |= DYNVM_STRESS_PORTABLE;
        return true;
    }
    if (strcmp(argument, "--no-extension-quickening") == 0) {
        options->config.extensions |= DYNVM_EXTENSIONS_PLAIN;
        return true;
    }
    if (strcmp(argument, "--ext-debug") == 0) {
        options->config.extensions |= DYNVM_EXTENSIONS_DEBUG;
        return true;
    }
    if (strcmp(argument, "--ext-trace") == 0) {
        options->config.extensions |= DYNVM_EXTENSIONS_TRACE;
        return true;
    }
    if (options->tool && parse_report_option(argument, options, &good)) return good;
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
        options->action = CLI_HELP;
    else if (strcmp(argument, "--version") == 0 || strcmp(argument, "-V") == 0)
        options->action = CLI_VERSION;
    else
        return refuse("unknown option", argument);
    return true;
}

/* -c and -m end the options. */
static bool is_program_option(const char *argument) {
    return strcmp(argument, "-c") == 0 || strcmp(argument, "-m") == 0;
}

/* What is to be run, at argv[at], and its arguments. */
static bool parse_program(int argc, char **argv, int at, cli_options *options) {
    options->arguments = (const char *const *)argv + at;
    options->argument_count = argc - at;
    if (at == argc && (options->inspect || isatty(STDIN_FILENO))) {
        static const char *const none[] = {""};
        options->action = CLI_INTERACTIVE;
        options->arguments = none;
        options->argument_count = 1;
        return true;
    }
    if (at == argc || strcmp(argv[at], "-") == 0) {
        options->action = CLI_RUN_STDIN;
        return true;
    }
    options->program = argv[at];
    if (!is_program_option(argv[at])) return true;
    bool module = argv[at][1] == 'm';
    if (at + 1 == argc) return refuse(module ? "no module behind" : "no code behind", argv[at]);
    options->action = module ? CLI_RUN_MODULE : CLI_RUN_CODE;
    options->program = argv[at + 1];
    /* sys.argv is ["-c", ...] or ["-m", ...]: the code itself makes room for it. */
    argv[at + 1] = argv[at];
    options->arguments++;
    options->argument_count--;
    return true;
}

/* The tool that the first argument names. */
static cli_tool tool_of(int argc, char **argv) {
    if (argc < 2) return CLI_NO_TOOL;
    if (strcmp(argv[1], "dis") == 0) return CLI_DISASSEMBLE;
    if (strcmp(argv[1], "stats") == 0) return CLI_STATS;
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
            options->compiled = argv[at];
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
    options->report.coloured = may_colour();
    options->config.counting = options->tool == CLI_STATS || options->tool == CLI_EXPLAIN;
    if (!parse_environment(&options->config)) return false;
    if (options->tool == CLI_COMPILE) return parse_compile(argc, argv, options);
    int at = options->tool ? 2 : 1;
    for (; at < argc && argv[at][0] == '-' && argv[at][1] && !is_program_option(argv[at]); at++) {
        if (!parse_option(argv[at], options)) return false;
        if (options->action != CLI_RUN_FILE) return true;
    }
    if (options->tool && at == argc) return refuse("no script behind", argv[1]);
    if (!parse_program(argc, argv, at, options)) return false;
    if (options->tool == CLI_DISASSEMBLE && options->action != CLI_RUN_FILE)
        return refuse("dis lists files, not", argv[at]);
    if (options->tool == CLI_ASSEMBLE && options->action != CLI_RUN_FILE)
        return refuse("asm takes a file, not", argv[at]);
    return true;
}
