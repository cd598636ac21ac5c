/* compile.c: `dynvm compile` (compile.h). */
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

/* The script's name with .dlc in place of its ending, or behind it; NULL: no memory. */
static char *usual_name(const char *script) {
    const size_t size = strlen(script);
    const char *ending = size > 3 ? script + size - 3 : "";
    const bool known = strcmp(ending, ".dl") == 0 || strcmp(ending, ".py") == 0;
    char *name = malloc(size + sizeof ".dlc");
    if (name) sprintf(name, "%.*s.dlc", (int)(known ? size - 3 : size), script);
    return name;
}

static dynvm_status compile_to(dynvm_vm *vm, const cli_options *options, const char *path,
                               bool *unwritten) {
    target t = {.path = path};
    if (is_same_file(options->program, path)) {
        fprintf(stderr, "dynvm: '%s' is the script itself\n", path);
        *unwritten = true;
        return DYNVM_OK;
    }
    dynvm_status status = dynvm_compile_file(vm, options->program, write_part, &t);
    if (close_target(&t)) return status;
    remove_half(&t);
    fprintf(stderr, "dynvm: can't write '%s': %s\n", path, strerror(t.error));
    *unwritten = true;
    return DYNVM_OK;
}

dynvm_status cli_compile(dynvm_vm *vm, const cli_options *options, bool *unwritten) {
    if (options->compiled) return compile_to(vm, options, options->compiled, unwritten);
    char *path = usual_name(options->program);
    if (!path) return DYNVM_NO_MEMORY;
    dynvm_status status = compile_to(vm, options, path, unwritten);
    free(path);
    return status;
}
