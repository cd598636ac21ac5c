/* bundled.c: where a VM finds the extensions that come with dynvm: where its host says. */
#include "check.h"

#include <stddef.h>

/* What a program prints, or the type of the error that ends it. */
static const char *outcome(const dynvm_config *given, const char *program) {
    static text printed;
    dynvm_config config = *given;
    config.output = collect;
    config.output_context = &printed;
    printed = (text){.size = 0};
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(vm != NULL);
    if (run(vm, program) == DYNVM_ERROR) {
        dynvm_error *error = dynvm_take_error(vm);
        strcpy(printed.data, dynvm_error_type(error));
        dynvm_error_free(error);
    }
    dynvm_destroy(vm);
    return printed.data;
}

int main(void) {
    const char *program = "import sys, template\nprint(template.clamp(9.5, 0.0, 5.0))\n";
    const char *path = "import sys\nprint(sys.path)\n";
    const char *bundled = getenv("DYNVM_BUNDLED");
    CHECK(bundled != NULL);

    /* This program's own directory has none of the layouts. */
    dynvm_config config = DYNVM_CONFIG;
    unsetenv("DYNVM_PATH");
    CHECK(strcmp(outcome(&config, program), "ModuleNotFoundError") == 0);
    CHECK(strcmp(outcome(&config, path), "['']\n") == 0);

    config.extension_path = bundled;
    CHECK(strcmp(outcome(&config, program), "5.0\n") == 0);
    config.extension_path = "";
    CHECK(strcmp(outcome(&config, path), "['']\n") == 0);

    /* It comes last, and the config of an older host ends before it. */
    setenv("DYNVM_PATH", "/first:/second", 1);
    config.extension_path = "/last";
    CHECK(strcmp(outcome(&config, path), "['', '/first', '/second', '/last']\n") == 0);
    config.size = offsetof(dynvm_config, extension_path);
    CHECK(strcmp(outcome(&config, path), "['', '/first', '/second']\n") == 0);

    /* A sandboxed VM does not even know. */
    config = (dynvm_config)DYNVM_CONFIG;
    config.sandboxed = 1;
    config.extension_path = bundled;
    CHECK(strcmp(outcome(&config, program), "ModuleNotFoundError") == 0);
    unsetenv("DYNVM_PATH");
    CHECK(strcmp(outcome(&config, path), "['']\n") == 0);
    return 0;
}
