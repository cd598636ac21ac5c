/* twins.c: the scripts of this room with native handlers and without, in every form, quickened at
 * once and with failing guards: always the output that their comments promise.  And that each twin
 * is really the one that runs.  Sees the inside of the library. */
#include "api/path.h"
#include "api/setup.h"
#include "code/verify.h"
#include "inspect/dis.h"
#include "lang/lang.h"
#include "plugin/watch.h"
#include "run/call.h"

#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 1 << 18 };

typedef struct text {
    char data[LARGEST];
    size_t size;
} text;

static int collect(void *context, const char *data, size_t size) {
    text *all = context;
    if (size > sizeof all->data - 1 - all->size) size = sizeof all->data - 1 - all->size;
    memcpy(all->data + all->size, data, size);
    all->size += size;
    all->data[all->size] = '\0';
    return 0;
}

static int drop(void *context, const char *data, size_t size) {
    (void)context, (void)data, (void)size;
    return 0;
}

static void *resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

static bool read_file(const char *path, text *file) {
    FILE *stream = fopen(path, "rb");
    if (!stream) return false;
    file->size = fread(file->data, 1, sizeof file->data - 1, stream);
    file->data[file->size] = '\0';
    return fclose(stream) == 0 && file->size < sizeof file->data - 1;
}

/* The lines behind "# expect: ". */
static void read_expectation(const text *source, text *expected) {
    static const char mark[] = "# expect: ";
    expected->size = 0;
    expected->data[0] = '\0';
    for (const char *at = source->data; *at;) {
        size_t length = strcspn(at, "\n");
        if (strncmp(at, mark, sizeof mark - 1) == 0)
            collect(expected, at + sizeof mark - 1, length + 1 - (sizeof mark - 1));
        at += length + (at[length] == '\n');
    }
}

static dv_unit *compile(const char *path, const text *source) {
    dv_lang_request request = {.filename = {path, (uint32_t)strlen(path)},
                               .source = {source->data, (uint32_t)source->size},
                               .quote_source = true,
                               .mode = "module",
                               .allocator = {resize, NULL}};
    dv_lang_error error;
    dv_unit *unit;
    char message[256];
    if (dv_lang_compile(&request, &unit, &error) != DV_LANG_OK) return NULL;
    return dv_code_verify(unit, message, sizeof message) ? unit : NULL;
}

/* Runs a script in a VM of its own and lists what became of it. */
static bool run(const dv_vm_config *config, const char *path, const text *source, text *listing) {
    dv_vm *vm = dv_vm_new(config);
    if (!vm || !dv_setup(vm) || !dv_path_setup(vm, "")) return false;
    dv_unit *unit = compile(path, source);
    if (!unit) return false;
    unit->references++;
    dv_object *top = NULL;
    dv_value result = dv_path_begin(vm, path) ? dv_inspect_run(vm, unit, vm->main, &top) : DV_EMPTY;
    bool done = !dv_is_empty(result);
    listing->size = 0;
    const dv_page page = {.out = collect, .context = listing};
    dv_inspect_dis(vm, unit, true, &page);
    dv_error_clear(vm);
    if (top) dv_release_object(vm, top);
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    dv_teardown(vm);
    dv_vm_free(vm);
    return done;
}

static text source, expected, output, listing;

/* Are the names of the line "# derivatives: " in the listing, of this tier or without one? */
static bool has_derivatives(bool native) {
    static const char mark[] = "# derivatives: ";
    const char *at = strstr(source.data, mark);
    for (at = at ? at + sizeof mark - 1 : "\n"; *at != '\n'; at += strspn(at, " ")) {
        char name[64];
        size_t length = strcspn(at, " \n");
        if (length >= sizeof name) return false;
        memcpy(name, at, length);
        name[length] = '\0';
        at += length;
        if (strstr(listing.data, name)) continue;
        printf("no %s\n", name);
        return false;
    }
    return native || !strstr(listing.data, "(native)");
}

static bool try_script(const char *path, dv_vm_config config, const char *what) {
    config.memory_limit = SIZE_MAX;
    config.recursion_limit = 1000;
    config.output = config.error_output = collect;
    config.extension_output = drop;
    config.output_context = &output;
    output.size = 0;
    bool good = run(&config, path, &source, &listing) && output.size == expected.size &&
                memcmp(output.data, expected.data, output.size) == 0;
    const char *other = config.no_native ? "(native)" : "(portable)";
    bool is_clamp = strstr(path, "clamp.dl") != NULL;
    bool right = !is_clamp || config.stress.fail_guard || config.level == DV_LEVEL_GENERIC ||
                 (strstr(listing.data, "CALL_CLAMP_FLOAT") && !strstr(listing.data, other));
    if (config.level != DV_LEVEL_GENERIC && !config.stress.fail_guard)
        right = has_derivatives(!config.no_native) && right;
    if (!good || !right)
        printf("%s, %s, level %d, form %d, guards %u%s: %s\n%.*s", path, what, config.level,
               config.form, config.stress.fail_guard,
               config.stress.quicken_at_once ? ", quick" : "",
               good ? "the wrong twin" : "wrong output", (int)output.size, output.data);
    return good && right;
}

/* What a script's options ask for, which are those of the program. */
static unsigned wanted_tables(const text *script) {
    unsigned wanted = 0;
    if (strstr(script->data, "# options: --ext-debug")) wanted |= DV_WATCH_DEBUG;
    if (strstr(script->data, "# options: --ext-trace")) wanted |= DV_WATCH_TRACE;
    return wanted;
}

static bool try_forms(const char *path, dv_vm_config config, const char *what) {
    bool good = true;
    for (int form = DV_HAVE_TAIL ? DV_FORM_TAIL : DV_FORM_TRAMPOLINE;
         form <= (DV_HAVE_TAIL && DV_HAVE_TRAMPOLINE ? DV_FORM_MIXED
                  : DV_HAVE_TRAMPOLINE               ? DV_FORM_TRAMPOLINE
                                                     : DV_FORM_TAIL);
         form++) {
        config.form = (dv_form)form;
        good = try_script(path, config, what) && good;
    }
    return good;
}

int main(int argc, char **argv) {
    bool good = true;
    for (int i = 1; i < argc; i++) {
        if (!read_file(argv[i], &source)) return EXIT_FAILURE;
        read_expectation(&source, &expected);
        for (int variant = 0; variant < 3 * 2 * 2 * 3; variant++) {
            static const uint32_t guards[] = {0, 1, 3};
            dv_vm_config config = {
                .level = (dv_level)(variant % 3),
                .no_native = variant / 3 % 2,
                .watch_extensions = wanted_tables(&source),
                .stress = {.quicken_at_once = variant / 6 % 2, .fail_guard = guards[variant / 12]}};
            good = try_forms(argv[i], config, config.no_native ? "portable" : "native") && good;
        }
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
