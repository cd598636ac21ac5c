/* mixed.c: handlers in tail form and in trampoline form in one stream: a thousand million
 * instructions, and the C stack never moves.  Sees the inside of the library. */
#define DV_TRAMPOLINE 0 /* of the macros: for probe_tail below */
#include "dv_ops.h"
#include "run/call.h"
#include "run/engine.h"

#include <stdio.h>
#include <stdlib.h>

enum { PROBES = 4, NOPS = 14, LAP = PROBES + NOPS + 2 /* lap, jump */ };
enum { JUMP_CELLS = 4, CELLS = PROBES + NOPS + 1 + JUMP_CELLS };

typedef struct probe {
    const char *lowest, *highest;
    uint64_t count;
} probe;

/* The test's own handlers find it where handlers of functions find their locals. */
static inline void record(dv_value *fp) {
    probe *seen = (probe *)(uintptr_t)fp[0].bits;
    const char *here = __builtin_frame_address(0);
    if (!seen->lowest || here < seen->lowest) seen->lowest = here;
    if (here > seen->highest) seen->highest = here;
    seen->count++;
}

#if DV_HAVE_TAIL
static const dv_cell *probe_tail(DV_HANDLER_PARAMETERS) {
    record(fp);
    ip++;
    GO();
}
#endif

static const dv_cell *return_next(DV_HANDLER_PARAMETERS) {
    vm->sp = sp, vm->fp = fp, vm->r = r, vm->d = d;
    return ip + 1;
}

static const dv_cell *probe_trampoline(DV_HANDLER_PARAMETERS) {
    record(fp);
    return return_next(ip, sp, fp, vm, r, d);
}

/* Ends the run after fp[1] laps. */
static const dv_cell *lap(DV_HANDLER_PARAMETERS) {
    if (--fp[1].bits == 0) return NULL;
    return return_next(ip, sp, fp, vm, r, d);
}

static dv_handler pick(bool tail, dv_handler a, dv_handler b) { return tail ? a : b; }

/* A loop of NOPs and probes whose forms alternate as the bits of `pattern` say. */
static void fill(dv_cell *cells, uint32_t pattern) {
    dv_handler tail_probe = probe_trampoline;
    const dv_handler *tail = dv_handlers_trampoline, *trampoline = dv_handlers_trampoline;
#if DV_HAVE_TAIL
    tail_probe = probe_tail;
    tail = dv_handlers_tail;
#endif
#if !DV_HAVE_TRAMPOLINE
    trampoline = dv_handlers_tail;
#endif
    for (int i = 0; i < PROBES + NOPS; i++) {
        bool is_tail = pattern >> (i % 16) & 1;
        bool is_probe = i % 5 == 0 && i / 5 < PROBES;
        cells[i].h = is_probe ? pick(is_tail, tail_probe, probe_trampoline)
                              : pick(is_tail, tail[DV_OP_NOP], trampoline[DV_OP_NOP]);
    }
    cells[PROBES + NOPS].h = lap;
    dv_cell *jump = cells + PROBES + NOPS + 1;
    jump[0].h = pick(pattern & 1, tail[DV_OP_JUMP_BACK], trampoline[DV_OP_JUMP_BACK]);
    jump[2].target = cells;
}

static bool run(dv_vm *vm, uint32_t pattern, uint64_t instructions) {
    dv_cell cells[CELLS] = {{0}};
    fill(cells, pattern);
    probe seen = {0};
    dv_value stack[16] = {{(uint64_t)(uintptr_t)&seen}, {instructions / LAP}};
    vm->fp = stack;
    vm->sp = stack + 8;
    dv_run_cells(vm, cells);
    long depth = (long)(seen.highest - seen.lowest);
    printf("pattern %04x: %llu probes, C stack moved by %ld bytes\n", pattern,
           (unsigned long long)seen.count, depth);
    return seen.count == instructions / LAP * PROBES && depth <= 256 && vm->sp == stack + 8;
}

int main(void) {
    dv_vm_config config = {.memory_limit = SIZE_MAX, .recursion_limit = 1000};
    config.resize = NULL;
    dv_vm *vm = dv_vm_new(&config);
    if (!vm) return EXIT_FAILURE;
    vm->countdown = 1;
    const uint64_t each = DV_HAVE_TAIL && DV_HAVE_TRAMPOLINE ? 250000000 : 1000000;
    bool good = true;
    static const uint32_t patterns[] = {0xFFFF, 0x0000, 0x5555, 0xF0F3};
    for (int i = 0; i < 4; i++) good = run(vm, patterns[i], each) && good;
    dv_vm_free(vm);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
