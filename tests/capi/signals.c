/* signals.c: calls of the operating system that a signal interrupts are made again; where the
 * signal's handler has interrupted the VM, the program gets a KeyboardInterrupt.  A timer
 * interrupts what waits for the other end of a fifo, which is a second process that takes its time.
 */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK = 5, WAIT = 60 }; /* milliseconds */

static char directory[] = "/tmp/dl-signals-XXXXXX", fifo[64];
static dynvm_vm *interrupted_vm; /* NULL: signals are only a nuisance */
static volatile sig_atomic_t ticks;

static void on_tick(int number) {
    (void)number;
    ticks++;
    if (interrupted_vm) dynvm_interrupt(interrupted_vm);
}

static void set_timer(int milliseconds) {
    struct itimerval timer = {.it_interval.tv_usec = milliseconds * 1000,
                              .it_value.tv_usec = milliseconds * 1000};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void wait_a_while(void) {
    struct timespec time = {0, WAIT * 1000000};
    nanosleep(&time, NULL);
}

static void slow_writer(void) {
    wait_a_while();
    int fd = open(fifo, O_WRONLY);
    wait_a_while();
    _exit(write(fd, "text\n", 5) != 5);
}

static void slow_reader(void) {
    char buffer[4096];
    int fd = open(fifo, O_RDONLY);
    wait_a_while();
    while (read(fd, buffer, sizeof buffer) > 0) continue;
    _exit(0);
}

/* Opens the fifo, and writes nothing for long. */
static void silent_writer(void) {
    int fd = open(fifo, O_WRONLY);
    for (int i = 0; i < 20; i++) wait_a_while();
    _exit(fd < 0);
}

static void nobody(void) {
    for (int i = 0; i < 20; i++) wait_a_while();
    _exit(0);
}

/* Runs the source, in which PATH is the fifo, against the other end; what it printed is `out`. */
static void run_against(void (*other_end)(void), bool interrupts, const char *source,
                        const char *out) {
    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(vm);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) other_end();
    char whole[1024];
    snprintf(whole, sizeof whole, "PATH = '%s'\n%s", fifo, source);
    interrupted_vm = interrupts ? vm : NULL;
    ticks = 0;
    set_timer(interrupts ? WAIT : TICK);
    dynvm_status status = run(vm, whole);
    set_timer(0);
    if (status != DYNVM_OK || strcmp(t.data, out) != 0) fprintf(stderr, "%s\n", t.data);
    CHECK(status == DYNVM_OK && strcmp(t.data, out) == 0);
    CHECK(ticks > 0);
    dynvm_destroy(vm);
    if (interrupts) kill(child, SIGKILL);
    int ended;
    CHECK(waitpid(child, &ended, 0) == child && (interrupts || ended == 0));
}

int main(void) {
    struct sigaction action = {.sa_handler = on_tick}; /* without SA_RESTART */
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && mkdtemp(directory));
    snprintf(fifo, sizeof fifo, "%s/fifo", directory);
    CHECK(mkfifo(fifo, 0600) == 0);
    run_against(slow_writer, false, "print(open(PATH).read(), end='')\n", "text\n");
    run_against(slow_reader, false,
                "f = open(PATH, 'wb')\nprint(f.write(b'x' * 200000))\nf.close()\n", "200000\n");
    /* What a file that nobody closed still has is written at its end. */
    run_against(slow_reader, false,
                "f, g = open(PATH, 'wb'), open(PATH, 'wb', 0)\n"
                "print(g.write(b'x' * 65536), f.write(b'y' * 8000))\n"
                "f = None\n",
                "65536 8000\n");
    static const char stopped[] =
        "try:\n    open(PATH).read()\n"
        "except KeyboardInterrupt as e:\n    print('interrupted', e.args)\n";
    run_against(silent_writer, true, stopped, "interrupted ()\n");
    run_against(nobody, true, stopped, "interrupted ()\n");
    CHECK(unlink(fifo) == 0 && rmdir(directory) == 0);
    return 0;
}
