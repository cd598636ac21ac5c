/* work.c: counting work, and ending who does too much of it (work.h). */
#include "core/work.h"

#include <time.h>

enum {
    LOOK = 100000,           /* units that C functions do between two looks at the clock */
    GRACE = 100000,          /* units that a program has to end in order, ... */
    GRACE_TIME = 10000000,   /* ... and ns, if it is in time that it has to end */
    NANOSECONDS = 1000000000 /* in a second */
};

/* ---- Counting ----
 *
 * A safepoint comes back to its cell, which counts down again: so an interval of n is n - 1 back
 * edges and calls, and the shortest one 2.  A slice that is used up while the program cannot pause
 * counts no longer. */

void dv_work_init(dv_vm *vm) {
    vm->work_left = LOOK;
    vm->work = (dv_workload){.interval = 1,
                             .slice = INT64_MAX,
                             .limit = INT64_MAX,
                             .deadline = INT64_MAX,
                             .run_limit = INT64_MAX,
                             .run_time = INT64_MAX};
}

/* What C functions did since the last look.  (Who counts without a bound does not overflow.) */
static int64_t units_of_look(const dv_vm *vm) {
    const int64_t most = INT64_MAX / 4, left = vm->work_left;
    return left < -most ? most : LOOK - left;
}

uint64_t dv_work_done(const dv_vm *vm) {
    return vm->work.done + (uint64_t)(dv_work_rounds_of_interval(vm) + units_of_look(vm));
}

static void charge_one(int64_t *budget, int64_t spent) {
    if (*budget != INT64_MAX) *budget = spent < *budget ? *budget - spent : 0;
}

static void charge(dv_vm *vm, int64_t spent) {
    vm->work.done += (uint64_t)spent;
    charge_one(&vm->work.limit, spent);
    charge_one(&vm->work.slice, spent);
}

static void settle_look(dv_vm *vm) {
    const int64_t spent = units_of_look(vm);
    vm->work_left = LOOK;
    charge(vm, spent);
}

int64_t dv_work_settle(dv_vm *vm, int64_t units) {
    const int64_t rounds = dv_work_rounds_of_interval(vm);
    vm->work.interval = 1;
    vm->collector.rest = 0;
    vm->work.rounds += rounds;
    charge(vm, rounds * units);
    settle_look(vm);
    return rounds;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

void dv_work_renew(dv_vm *vm, int64_t longest) {
    dv_workload *work = &vm->work;
    int64_t rounds = least(longest - 1, work->limit);
    if (work->slice > 0) rounds = least(rounds, work->slice);
    work->interval = rounds > 1 ? rounds + 1 : 2;
    vm->countdown = work->interval - 1;
}

/* ---- Limits ---- */

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NANOSECONDS + t.tv_nsec;
}

static int64_t deadline_in(int64_t time) {
    const int64_t at = now();
    return time < INT64_MAX - at ? at + time : INT64_MAX;
}

static void no_more(dv_vm *vm, int asked) {
    __atomic_fetch_and(&vm->interrupt, ~asked, __ATOMIC_SEQ_CST);
}

static void fill(dv_vm *vm) {
    dv_workload *work = &vm->work;
    dv_work_settle(vm, 1);
    work->limit = work->run_limit;
    work->deadline = work->run_time == INT64_MAX ? INT64_MAX : deadline_in(work->run_time);
    work->exceeded = false;
    no_more(vm, DV_EXHAUSTED);
    dv_work_renew(vm, DV_SAFEPOINT_INTERVAL);
}

void dv_work_refill(dv_vm *vm) {
    no_more(vm, DV_STOPPED | DV_ENDING);
    vm->work.told = false;
    fill(vm);
}

void dv_work_set_limits(dv_vm *vm, int64_t units, int64_t nanoseconds) {
    vm->work.run_limit = units;
    vm->work.run_time = nanoseconds;
    fill(vm);
}

void dv_work_begin_run(dv_vm *vm) {
    const dv_workload *work = &vm->work;
    const bool bounded =
        work->run_limit != INT64_MAX || work->run_time != INT64_MAX || work->exceeded;
    if (DV_LIKELY(!bounded) || vm->fp != vm->stack || vm->program.state != DV_PROGRAM_NONE) return;
    fill(vm);
    if (work->told) dv_stop(vm, DV_STOPPED);
}

int64_t dv_work_left(const dv_vm *vm) {
    if (vm->work.limit == INT64_MAX) return INT64_MAX;
    const int64_t spent = dv_work_rounds_of_interval(vm) + units_of_look(vm);
    return spent < vm->work.limit ? vm->work.limit - spent : 0;
}

int64_t dv_work_time_left(const dv_vm *vm) {
    if (vm->work.deadline == INT64_MAX) return INT64_MAX;
    const int64_t left = vm->work.deadline - now();
    return left > 0 ? left : 0;
}

/* ---- Ending ---- */

static void ask(dv_vm *vm, int what) {
    __atomic_fetch_or(&vm->interrupt, what, __ATOMIC_SEQ_CST);
    dv_poll_soon(vm);
}

void dv_interrupt(dv_vm *vm) { ask(vm, DV_INTERRUPTED); }

void dv_stop(dv_vm *vm, int how) { ask(vm, how); }

static const char by_host[] = "stopped by the host";

const char *dv_work_stop_message(const dv_vm *vm) {
    const bool exhausted = __atomic_load_n(&vm->interrupt, __ATOMIC_RELAXED) & DV_EXHAUSTED;
    return exhausted ? vm->work.why : by_host;
}

/* Who is stopped is so again at the next call and back edge, whatever became of the exception. */
static bool raise_stop(dv_vm *vm) {
    dv_poll_soon(vm);
    dv_poll_at_back_edge(vm);
    dv_raise(vm, DV_E_RUNTIME_ERROR, "%s", dv_work_stop_message(vm));
    return false;
}

/* The program is to end.  If nobody counts its calls, they poll from now on. */
static bool tell(dv_vm *vm, const char *why, bool in_time) {
    dv_workload *work = &vm->work;
    work->exceeded = true;
    work->why = why;
    work->limit = dv_work_rounds_of_interval(vm) + GRACE;
    if (in_time) work->deadline = deadline_in(GRACE_TIME);
    dv_poll_soon(vm);
    dv_raise(vm, DV_E_RUNTIME_ERROR, "%s", why);
    return false;
}

bool dv_work_within_limits(dv_vm *vm) {
    const dv_workload *work = &vm->work;
    const bool by_work = work->limit <= dv_work_rounds_of_interval(vm);
    const bool by_time = DV_UNLIKELY(work->deadline != INT64_MAX) && now() >= work->deadline;
    if (DV_LIKELY(!by_work && !by_time) || dv_is_stopped(vm)) return true;
    if (!work->exceeded)
        return tell(vm, by_work ? "instruction limit exceeded" : "time limit exceeded", by_time);
    ask(vm, DV_EXHAUSTED);
    return raise_stop(vm);
}

bool dv_poll_interrupt(dv_vm *vm) {
    const int asked = __atomic_load_n(&vm->interrupt, __ATOMIC_RELAXED);
    if (DV_LIKELY(!asked)) return true;
    if (dv_is_stopped(vm)) return raise_stop(vm);
    if (asked & DV_ENDING) {
        no_more(vm, DV_ENDING);
        vm->work.told = true;
        if (!vm->work.exceeded) return tell(vm, by_host, true);
    }
    if (!(asked & DV_INTERRUPTED)) return true;
    no_more(vm, DV_INTERRUPTED);
    vm->work.interrupts++;
    dv_raise(vm, DV_E_KEYBOARD_INTERRUPT, "");
    return false;
}

bool dv_work_poll(dv_vm *vm) { return dv_work_within_limits(vm) && dv_poll_interrupt(vm); }

/* The limit first: an interrupt that comes after it has been looked for lowers it again. */
bool dv_poll_calls_slow(dv_vm *vm) {
    __atomic_store_n(&vm->stack_limit, vm->stack_end, __ATOMIC_SEQ_CST);
    if (vm->work.exceeded && !vm->work.counts_calls) {
        charge(vm, 1);
        dv_poll_soon(vm);
    }
    if (vm->work_left < 0) settle_look(vm);
    if (vm->collector.wanted) dv_collect_wanted(vm);
    return dv_work_poll(vm);
}

bool dv_work_slow(dv_vm *vm) {
    settle_look(vm);
    if (vm->work.slice <= dv_work_rounds_of_interval(vm)) dv_poll_at_back_edge(vm);
    return dv_work_poll(vm);
}

/* What is owed is settled by whoever looks first: in a loop without back edges the next dv_work. */
void dv_work_owe_slow(dv_vm *vm) {
    dv_poll_soon(vm);
    dv_poll_at_back_edge(vm);
}
