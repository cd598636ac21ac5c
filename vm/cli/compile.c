/* compile.c: `dynvm compile` and `dynvm view` (compile.h). */
#include "compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The file is opened when there is something to write: a script with an error leaves it alone. */
typedef struct target {
    const char *path;
    FILE *file;
    int error; /* an errno */
} target;

static int write_part(void *context, const char *bytes, size_t size) {
    target *t = context;
    errno = 0;
    if (!t->file) t->file = fopen(t->path, "wb");
    if (t->file && fwrite(bytes, 1, size, t->file) == size) return 0;
    return t->error = errno ? errno : EIO;
}

static bool close_target(target *t) {
    if (t->file && fclose(t->file) != 0 && !t->error) t->error = errno ? errno : EIO;
    return t->error == 0;
}

/* Half a file is nobody's; a device stays. */
static void remove_half(const target *t) {
    struct stat about;
    if (t->file && stat(t->path, &about) == 0 && S_ISREG(about.st_mode)) remove(t->path);
}

static bool is_same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* The script's name with this ending in place of its own, or behind it; NULL: no memory. */
static char *usual_name(const char *script, const char *ending) {
    const size_t size = strlen(script), more = strlen(ending);
    const char *last = size > 3 ? script + size - 3 : "";
    const bool known = strcmp(last, ".dl") == 0 || strcmp(last, ".py") == 0;
    const size_t kept = known ? size - 3 : size;
    char *name = malloc(kept + more + 1);
    if (!name) return NULL;
    memcpy(name, script, kept);
    memcpy(name + kept, ending, more + 1);
    return name;
}

/* What is written, for the status of the program. */
typedef dynvm_status (*writer)(dynvm_vm *vm, const void *what, dynvm_output output, void *context);

static dynvm_status write_to(dynvm_vm *vm, const cli_options *options, const char *path,
                             writer write, const void *what, bool *unwritten) {
    target t = {.path = path};
    if (options->action == CLI_RUN_FILE && is_same_file(options->program, path)) {
        fprintf(stderr, "dynvm: '%s' is the script itself\n", path);
        *unwritten = true;
        return DYNVM_OK;
    }
    dynvm_status status = write(vm, what, write_part, &t);
    if (close_target(&t)) {
        if (t.file && options->tool == CLI_VIEW)
            fprintf(stderr, "dynvm: open %s in a browser\n", path);
        return status;
    }
    remove_half(&t);
    fprintf(stderr, "dynvm: can't write '%s': %s\n", path, strerror(t.error));
    *unwritten = true;
    return DYNVM_OK;
}

static dynvm_status write_file(dynvm_vm *vm, const cli_options *options, const char *ending,
                               writer write, const void *what, bool *unwritten) {
    if (options->written) return write_to(vm, options, options->written, write, what, unwritten);
    const char *script = options->action == CLI_RUN_FILE ? options->program : "view";
    char *path = usual_name(script, ending);
    if (!path) return DYNVM_NO_MEMORY;
    dynvm_status status = write_to(vm, options, path, write, what, unwritten);
    free(path);
    return status;
}

static dynvm_status compile(dynvm_vm *vm, const void *what, dynvm_output output, void *context) {
    return dynvm_compile_file(vm, what, output, context);
}

dynvm_status cli_compile(dynvm_vm *vm, const cli_options *options, bool *unwritten) {
    return write_file(vm, options, ".dlc", compile, options->program, unwritten);
}

typedef struct viewed {
    const char *name;
    const dynvm_report *report;
} viewed;

static dynvm_status view(dynvm_vm *vm, const void *what, dynvm_output output, void *context) {
    const viewed *v = what;
    return dynvm_view(vm, v->name, v->report, output, context);
}

dynvm_status cli_view(dynvm_vm *vm, const cli_options *options, const char *name,
                      const dynvm_report *report, bool *unwritten) {
    return write_file(vm, options, ".html", view, &(viewed){name, report}, unwritten);
}
