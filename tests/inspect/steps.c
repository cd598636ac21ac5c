/* steps.c: a profile's numbers against a counter that knows nothing of it.
 *
 * A second counter stands in front of the profile's hook and sees nothing but the cells that run:
 * at level generic, where a cell is one instruction, its own numbers must be the profile's.  Sees
 * the inside of the library. */
#include "api/compile.h"
#include "api/path.h"
#include "api/setup.h"
#include "inspect/profile.h"
#include "run/call.h"

#include <stdio.h>
#include <stdlib.h>

static const dv_cell *(*profiled)(dv_vm *vm, const dv_cell *ip);

/* Of the program that runs. */
static struct {
    uint64_t steps, instructions;
    uint64_t by_op[DV_OP_COUNT];
} seen;

static const dv_cell *count(dv_vm *vm, const dv_cell *ip) {
    uint32_t op = dv_op_of(vm, ip->h);
    const dv_cell *next = profiled(vm, ip);
    seen.steps++;
    /* Back edges that poll come again; the machine's own cells belong to no code object. */
    if (op >= DV_OP_COUNT || op == DV_OP_ENTER || op == DV_OP_CONSTRUCTED || next == ip)
        return next;
    seen.instructions++;
    seen.by_op[op]++;
    return next;
}

static void *resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

static int drop(void *context, const char *text, size_t size) {
    (void)context, (void)text, (void)size;
    return 0;
}

static bool run(dv_vm *vm, const char *path) {
    dv_unit *unit = dv_path_begin(vm, path) ? dv_compile_file(vm, path) : NULL;
    dv_value result = unit ? dv_run_unit(vm, unit, vm->main) : DV_EMPTY;
    dv_release(vm, result);
    return !dv_is_empty(result);
}

static bool is_equal(const char *path, const char *what, uint64_t profile, uint64_t own) {
    if (profile != own)
        printf("%s: %s: the profile says %llu, the counter %llu\n", path, what,
               (unsigned long long)profile, (unsigned long long)own);
    return profile == own;
}

static bool compare(dv_vm *vm, const char *path) {
    const dv_profile *profile = dv_profile_of(vm);
    uint64_t executions = 0, by_op[DV_OP_GENERIC_COUNT] = {0};
    for (const dv_function_counts *f = profile->functions; f; f = f->next)
        for (uint32_t pc = 0; pc < f->code->word_count; pc++) {
            executions += f->sites[pc].executions;
            by_op[f->code->words[pc] & 0xFF] += f->sites[pc].executions;
        }
    bool good = is_equal(path, "steps", profile->steps, seen.steps);
    if (vm->level != DV_LEVEL_GENERIC) return good;
    good = is_equal(path, "instructions", executions, seen.instructions) && good;
    for (uint32_t op = 0; op < DV_OP_GENERIC_COUNT; op++)
        good = is_equal(path, dv_op_name(op), by_op[op], seen.by_op[op]) && good;
    return good;
}

static bool try_level(const char *path, dv_level level) {
    dv_vm_config config = {.resize = resize,
                           .memory_limit = SIZE_MAX,
                           .recursion_limit = 1000,
                           .level = level,
                           .form = DV_FORM_TRAMPOLINE,
                           .output = drop,
                           .error_output = drop};
    memset(&seen, 0, sizeof seen);
    dv_vm *vm = dv_vm_new(&config);
    if (!vm || !dv_profile_start(vm) || !dv_setup(vm) || !dv_path_setup(vm, "")) return false;
    profiled = vm->hooks.inspect.step;
    vm->hooks.inspect.step = count;
    bool good = run(vm, path) && compare(vm, path) && seen.steps > 1000;
    if (!good) printf("%s: failed\n", path);
    dv_error_clear(vm);
    dv_teardown(vm);
    dv_profile_free(vm);
    dv_vm_free(vm);
    return good;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int i = 1; i < argc; i++)
        for (int level = DV_LEVEL_GENERIC; level <= DV_LEVEL_NAMA; level++)
            failed += !try_level(argv[i], (dv_level)level);
    printf("%d scripts, %d failures\n", argc - 1, failed);
    return failed ? 1 : 0;
}
