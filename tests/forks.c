/* forks.c: a program that is started once and runs many times.
 *
 *     LD_PRELOAD=forks.so DYNVM_FORKS=FD dynvm
 *
 * Under a sanitizer a program needs a tenth of a second and 9,000 fresh pages until its main()
 * begins.  Preloaded, this library stands in front of main(): it reads requests from the socket FD,
 * and each gets a copy of the process, which goes on as if it had been started so (forks.py), but
 * ends without what exit() does: a sanitizer forgets ten thousand variables there, which takes
 * longer than most scripts. The idea is the fork server's of AFL (Zalewski 2014).
 *
 * One copy makes several runs, each as if it were a process: a fresh VM in memory that is there
 * already starts in a tenth of the time.  When a run ends the whole process, the caller asks again
 * for those after it.
 *
 * A request is the size of its text (uint32_t) with two file descriptors for each run, standard
 * output and error, and the text, each word of it ended by a zero byte: "leaks" or nothing, the
 * directory, and for each run the number of its arguments, and these.  The answer is the copy's
 * process number and, when it has ended, its wait status, how many runs had ended before, and the
 * exit status of each of these (int32_t each). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);
static main_function *real_main;

enum { MOST_TEXT = 1 << 20, MOST_ARGUMENTS = 1000, MOST_RUNS = 16, STATUS_LEAKS = 23, HIGH = 500 };

struct request {
    uint32_t size;
    char text[MOST_TEXT];
    int runs, outputs[2 * MOST_RUNS]; /* file descriptors */
};

/* What the copies tell: memory that they share with the process that waits for them. */
struct ends {
    int32_t count, statuses[MOST_RUNS];
};

/* False when nobody asks any more. */
static int receive(int from, struct request *request) {
    char control[CMSG_SPACE(sizeof request->outputs)];
    uint32_t *size = &request->size;
    struct iovec vector = {size, sizeof *size};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    if (recvmsg(from, &message, MSG_WAITALL) != sizeof *size || *size > MOST_TEXT) return 0;
    const struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (!first) return 0;
    const size_t bytes = first->cmsg_len - CMSG_LEN(0);
    memcpy(request->outputs, CMSG_DATA(first), bytes);
    request->runs = (int)(bytes / sizeof(int[2]));
    return recv(from, request->text, *size, MSG_WAITALL) == (ssize_t)*size;
}

static int answer(int to, const void *what, size_t size) {
    return send(to, what, size, 0) == (ssize_t)size;
}

static const char *word(const char **at) {
    const char *here = *at;
    *at += strlen(here) + 1;
    return here;
}

/* The environment as the process found it: a run may have changed it. */
static void restore(char **variables) {
    clearenv();
    for (; *variables; variables++) putenv(*variables);
    tzset();
}

/* True if the sanitizer finds memory that nobody knows any more; it says so.  (What comes with its
 * compiler, <sanitizer/lsan_interface.h>, is not there for every sanitizer.) */
static int leaks(void) {
    int (*check)(void);
    void *found = dlsym(RTLD_DEFAULT, "__lsan_do_recoverable_leak_check");
    if (!found) return 0;
    memcpy(&check, &found, sizeof check);
    return check();
}

/* The copy: does what is asked, and ends.  Each run finds the descriptors from 3 on free, as a new
 * process does. */
static _Noreturn void run(struct request *request, char *program, char **variables,
                          struct ends *ends) {
    static char *arguments[MOST_ARGUMENTS + 1];
    const char *at = request->text;
    const int look = *word(&at) != 0;
    const char *directory = word(&at);
    for (int i = 0; i < 2 * request->runs; i++)
        request->outputs[i] = fcntl(request->outputs[i], F_DUPFD, HIGH);
    for (int i = 0; i < request->runs; i++) {
        const int *outputs = request->outputs + 2 * i;
        int count = atoi(word(&at)), used = 0;
        arguments[used++] = program;
        while (count-- > 0 && used < MOST_ARGUMENTS) arguments[used++] = (char *)word(&at);
        arguments[used] = NULL;
        restore(variables);
        if (close_range(3, HIGH - 1, 0) != 0 || chdir(directory) != 0 || dup2(outputs[0], 1) < 0 ||
            dup2(outputs[1], 2) < 0)
            _exit(2);
        const int status = real_main(used, arguments, environ) & 0xff;
        fflush(NULL);
        if (i + 1 == request->runs) _exit(look && leaks() ? STATUS_LEAKS : status);
        ends->statuses[ends->count++] = status;
    }
    _exit(2);
}

static int serve(int argc, char **argv, char **environment) {
    static struct request request;
    const char *where = getenv("DYNVM_FORKS");
    if (!where) return real_main(argc, argv, environment);
    const int asked = atoi(where);
    unsetenv("DYNVM_FORKS");
    unsetenv("LD_PRELOAD");
    size_t count = 0;
    while (environ[count]) count++;
    char **variables = calloc(count + 1, sizeof *variables);
    struct ends *ends =
        mmap(NULL, sizeof *ends, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!variables || ends == MAP_FAILED) return 2;
    for (size_t i = 0; i < count; i++) variables[i] = strdup(environ[i]);
    while (receive(asked, &request)) {
        ends->count = 0;
        const pid_t copy = fork();
        if (copy < 0) return 2;
        if (copy == 0) run(&request, argv[0], variables, ends);
        for (int i = 0; i < 2 * request.runs; i++) close(request.outputs[i]);
        int status;
        if (!answer(asked, &copy, sizeof copy) || waitpid(copy, &status, 0) != copy ||
            !answer(asked, &status, sizeof status) ||
            !answer(asked, ends, sizeof(int32_t) * (size_t)(1 + ends->count)))
            return 2;
    }
    _exit(0);
}

/* (What the C library calls first, and gives main() to.) */
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader)(void), void *stack) {
    int (*next)(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void),
                void *);
    void *found = dlsym(RTLD_NEXT, "__libc_start_main");
    memcpy(&next, &found, sizeof next);
    real_main = main;
    return next(serve, argc, argv, init, fini, loader, stack);
}
