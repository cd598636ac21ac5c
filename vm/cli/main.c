/* main.c: the program `dynvm`.  It knows the machine through dynvm.h alone. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "about.h"
#include "compile.h"
#include "dynvm.h"
#include "lockstep.h"
#include "options.h"
#include "output.h"
#include "repl.h"
#include "serve.h"

enum { STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_UNWRITTEN = 120 };

/* The VM that SIGINT interrupts: a signal handler has no other way to know it. */
static dynvm_vm *volatile interruptible;

/* Ctrl-C again, a second after one that the program has still not got, ends the process: the VM is
 * in a function in C that does not listen. */
static void on_interrupt(int number) {
    static volatile sig_atomic_t asked; /* second of the last one that it was not busy with */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interruptible) return;
    if (!dynvm_interrupted(interruptible)) {
        asked = (sig_atomic_t)now.tv_sec;
    } else if (now.tv_sec > asked + 1) {
        signal(number, SIG_DFL);
        raise(number);
    }
    dynvm_interrupt(interruptible);
}

static void watch_signals(dynvm_vm *vm) {
    interruptible = vm;
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write (output.c) */
}

/* The VM is about to end: from now on Ctrl-C ends the process. */
static void unwatch_signals(void) {
    signal(SIGINT, SIG_DFL);
    interruptible = NULL;
}

/* The rest of stdin in memory of malloc; NULL: no memory. */
static char *read_stdin(size_t *size) {
    size_t room = 0;
    char *text = NULL;
    *size = 0;
    for (;;) {
        if (*size == room) {
            room = room ? room * 2 : 16384;
            char *moved = realloc(text, room);
            if (!moved) {
                free(text);
                return NULL;
            }
            text = moved;
        }
        size_t got = fread(text + *size, 1, room - *size, stdin);
        if (got == 0) return text;
        *size += got;
    }
}

static dynvm_status run_stdin(dynvm_vm *vm) {
    size_t size;
    char *text = read_stdin(&size);
    if (!text) return DYNVM_NO_MEMORY;
    dynvm_status status = dynvm_run_text(vm, text, size, "<stdin>");
    free(text);
    return status;
}

/* Of a file, of the code behind -c, or of what stdin says: a listing, or a page. */
static dynvm_status show(dynvm_vm *vm, const cli_options *options, void *output, bool *unwritten) {
    dynvm_report report = options->report;
    const char *name = options->program;
    char *text = NULL;
    if (options->action == CLI_RUN_STDIN) {
        name = "<stdin>";
        report.text = text = read_stdin(&report.text_size);
        if (!text) return DYNVM_NO_MEMORY;
    } else if (options->action == CLI_RUN_CODE) {
        name = "<string>";
        report.text = options->program;
        report.text_size = strlen(options->program);
    }
    dynvm_status status =
        options->tool == CLI_VIEW
            ? cli_view(vm, options, name, &report, unwritten)
            : dynvm_disassemble(vm, name, options->after_run, &report, cli_write, output);
    free(text);
    return status;
}

/* A tool takes assembly for what it is, by its name. */
static dynvm_status run_file(dynvm_vm *vm, const cli_options *options) {
    const char *suffix = strrchr(options->program, '.');
    return options->tool != CLI_NO_TOOL && suffix && strcmp(suffix, ".dla") == 0
               ? dynvm_run_assembly(vm, options->program)
               : dynvm_run_file(vm, options->program);
}

static dynvm_status act(dynvm_vm *vm, const cli_options *options, void *output) {
    if (options->tool == CLI_DISASSEMBLE) return show(vm, options, output, NULL);
    if (options->tool == CLI_ASSEMBLE)
        return options->print ? dynvm_assembly(vm, options->program, cli_write, output)
                              : dynvm_run_assembly(vm, options->program);
    switch (options->action) {
    case CLI_RUN_CODE:
        return dynvm_run_text(vm, options->program, strlen(options->program), "<string>");
    case CLI_RUN_MODULE: return dynvm_run_module(vm, options->program);
    case CLI_INTERACTIVE: return DYNVM_OK;
    case CLI_RUN_STDIN: return run_stdin(vm);
    default: return run_file(vm, options);
    }
}

/* Is an error about the command line rather than the program: -m with what is no module, a
 * directory without a main program? */
static bool is_missing_program(const cli_options *options, const char *text) {
    static const char beginning[] =
        "ImportError: "; /* one that the program raises has a traceback */
    return (options->action == CLI_RUN_MODULE || options->action == CLI_RUN_FILE) &&
           strncmp(text, beginning, sizeof beginning - 1) == 0;
}

/* Says what went wrong; the exit status.  `interrupted`: it was Ctrl-C. */
static int report(dynvm_vm *vm, dynvm_status status, const cli_options *options, cli_output *output,
                  bool *interrupted) {
    if (status == DYNVM_NO_MEMORY) {
        fputs("dynvm: out of memory\n", stderr);
        return STATUS_FAILED;
    }
    if (status != DYNVM_ERROR) return dynvm_exit_status(vm);
    dynvm_error *error = dynvm_take_error(vm);
    const char *text = dynvm_error_traceback(error);
    *interrupted = strcmp(dynvm_error_type(error), "KeyboardInterrupt") == 0;
    if (is_missing_program(options, text))
        fprintf(stderr, "dynvm: %s\n", dynvm_error_message(error));
    else
        cli_show_error(output, text, dynvm_error_traceback_size(error));
    dynvm_error_free(error);
    return STATUS_FAILED;
}

/* Behind what the program has printed. */
static void show_counts(dynvm_vm *vm, const cli_options *options, cli_output *output) {
    dynvm_status (*const write)(dynvm_vm *, const dynvm_report *, dynvm_output, void *) =
        options->tool == CLI_STATS     ? dynvm_stats
        : options->tool == CLI_EXPLAIN ? dynvm_explain
                                       : dynvm_trace;
    dynvm_status status = write(vm, &options->report, cli_write, output);
    if (status != DYNVM_OK) fputs("dynvm: out of memory\n", stderr);
    dynvm_error_free(dynvm_take_error(vm));
}

/* Before statements that are typed, as CPython's: not if they come from a file, unless -i is given,
 * and not behind a program. */
static void print_banner(const cli_options *options) {
    const unsigned char *flags = options->config.flags;
    if (options->action != CLI_INTERACTIVE || flags[DYNVM_FLAG_QUIET]) return;
    fprintf(stderr, "dynvm %s (dl, a strict subset of Python 3.11)\n", dynvm_version());
    if (!flags[DYNVM_FLAG_NO_SITE])
        fputs("Type \"help\", \"copyright\", \"credits\" or \"license\" for more information.\n",
              stderr);
}

static int run(cli_options *options) {
    cli_output output;
    cli_output_open(&output, options->unbuffered, &options->config);
    if (options->report.json || options->report.assembly)
        options->config.output = options->config.error_output;
    dynvm_vm *vm = dynvm_create(&options->config);
    if (!vm) {
        fputs(
            "dynvm: this machine cannot be made: not enough memory, or a form that was not built\n",
            stderr);
        return STATUS_FAILED;
    }
    output.vm = vm;
    cli_lockstep steps = {0};
    if (options->lockstep) {
        if (!cli_lockstep_record(&steps, options, act)) fputs("dynvm: out of memory\n", stderr);
        cli_lockstep_follow(&steps, vm);
    }
    watch_signals(vm);
    bool unwritten = false; /* the file of compile, or view */
    print_banner(options);
    dynvm_status status = dynvm_set_arguments(vm, options->argument_count, options->arguments);
    if (status == DYNVM_OK)
        status = options->tool == CLI_COMPILE ? cli_compile(vm, options, &unwritten)
                 : options->tool == CLI_VIEW  ? show(vm, options, &output, &unwritten)
                                              : act(vm, options, &output);
    bool interrupted = false;
    int result = steps.diverged || unwritten ? STATUS_FAILED
                                             : report(vm, status, options, &output, &interrupted);
    if (options->config.counting && options->tool != CLI_VIEW) show_counts(vm, options, &output);
    if (options->action == CLI_INTERACTIVE || options->inspect) result = cli_repl(vm, &output);
    bool written = cli_output_finish(&output);
    output.vm = NULL;
    unwatch_signals();
    dynvm_destroy(vm);
    if (options->lockstep && !cli_lockstep_report(&steps, options, act)) result = STATUS_FAILED;
    /* What finalisers have printed: nobody is told when that fails, as in CPython. */
    if (written) (void)cli_output_flush(&output);
    /* As shells expect it of a program that Ctrl-C has ended. */
    if (interrupted && options->action != CLI_INTERACTIVE && !options->inspect) raise(SIGINT);
    return written ? result : STATUS_UNWRITTEN;
}

/* A script that is not there is an error of the command line, which names it by its absolute path.
 * It is not opened: who writes into a named pipe would lose its reader again. */
static bool can_read(const char *path) {
    if (access(path, R_OK) == 0) return true;
    int why = errno;
    char directory[4096];
    bool absolute = path[0] == '/' || !getcwd(directory, sizeof directory);
    fprintf(stderr, "dynvm: can't open file '%s%s%s': [Errno %d] %s\n", absolute ? "" : directory,
            absolute ? "" : "/", path, why, strerror(why));
    return false;
}

int main(int argc, char **argv) {
    cli_options options;
    if (!cli_parse(argc, argv, &options)) return STATUS_USAGE;
    switch (options.action) {
    case CLI_HELP: cli_print_help(); return 0;
    case CLI_LIST_MODULES: return cli_list_modules();
    case CLI_VERSION: return cli_show_version(strcmp(argv[argc - 1], "--verbose") == 0);
    case CLI_RUN_FILE:
        if (options.program && !can_read(options.program)) return STATUS_USAGE;
        break;
    default: break;
    }
    return options.serve ? cli_serve(&options) : run(&options);
}
