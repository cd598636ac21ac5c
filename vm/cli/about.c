/* about.c: `dynvm --version`, the list of modules, and what there is besides the language
 * (about.h).
 *
 * What is loaded when it is needed is looked for in the same way: by loading it. */
#include "about.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "dynvm.h"
#include "reader.h"

/* An extension says itself whether it can be imported. */
static const char program[] =
    "import sys\n"
    "blas, editing = sys.argv\n"
    "print('extensions:', sys.path[-1] or 'none')\n"
    "try:\n"
    "    import ndarray\n"
    "    print('ndarray: yes,', blas)\n"
    "except ImportError as e:\n"
    "    print(f'ndarray: no ({e})')\n"
    "try:\n"
    "    import ffi\n"
    "    print('ffi: yes')\n"
    "except ImportError as e:\n"
    "    print(f'ffi: no ({e}; to build it: libffi-dev and pkg-config of Debian)')\n"
    "try:\n"
    "    import re\n"
    "    print('re: yes (PCRE2)')\n"
    "except ImportError as e:\n"
    "    print(f're: no ({e})')\n"
    "print('line editing:', editing)\n";

static int print(void *context, const char *text, size_t size) {
    (void)context;
    return fwrite(text, 1, size, stdout) != size;
}

static bool is_library(const char *name) { return dlopen(name, RTLD_LAZY | RTLD_LOCAL) != NULL; }

/* Runs text that prints; the exit status. */
static int run(const char *text, const char *const *arguments, int count) {
    dynvm_config config = DYNVM_CONFIG;
    config.foreign = 1;
    config.output = print;
    dynvm_vm *vm = dynvm_create(&config);
    bool good = vm && dynvm_set_arguments(vm, count, arguments) == DYNVM_OK &&
                dynvm_run_text(vm, text, strlen(text), "<about>") == DYNVM_OK;
    dynvm_destroy(vm);
    return good ? 0 : 1;
}

int cli_show_version(bool verbose) {
    printf("dynvm %s\n", dynvm_version());
    if (!verbose) return 0;
    const char *found[] = {is_library("libopenblas.so.0")
                               ? "with OpenBLAS"
                               : "but without OpenBLAS no np.linalg (libopenblas0 of Debian)",
                           cli_reader_library() ? "yes" : "no (libedit2 of Debian)"};
    return run(program, found, 2);
}

int cli_list_modules(void) {
    const char *name = "";
    return run("help('modules')\n", &name, 1);
}
