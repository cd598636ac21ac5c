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
 * A request is the size of its text (uint32_t) with two file descriptors, standard output and
 * error, and the text: "leaks" or nothing, directory and arguments, each ended by a zero byte.  The
 * answer is the copy's process number and, when it has ended, its wait status (int32_t each). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);
static main_function *real_main;

enum { MOST_TEXT = 1 << 20, MOST_ARGUMENTS = 1000, OUTPUTS = 2, STATUS_LEAKS = 23 };

/* False when nobody asks any more. */
static int receive(int from, char *text, uint32_t *size, int outputs[OUTPUTS]) {
    char control[CMSG_SPACE(sizeof(int[OUTPUTS]))];
    struct iovec vector = {size, sizeof *size};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    if (recvmsg(from, &message, MSG_WAITALL) != sizeof *size || *size > MOST_TEXT) return 0;
    const struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (!first) return 0;
    memcpy(outputs, CMSG_DATA(first), sizeof(int[OUTPUTS]));
    return recv(from, text, *size, MSG_WAITALL) == (ssize_t)*size;
}

static int answer(int to, int32_t what) { return send(to, &what, sizeof what, 0) == sizeof what; }

/* True if the sanitizer finds memory that nobody knows any more; it says so.  (What comes with its
 * compiler, <sanitizer/lsan_interface.h>, is not there for every sanitizer.) */
static int leaks(void) {
    int (*check)(void);
    void *found = dlsym(RTLD_DEFAULT, "__lsan_do_recoverable_leak_check");
    if (!found) return 0;
    memcpy(&check, &found, sizeof check);
    return check();
}

static int serve(int argc, char **argv, char **environment) {
    static char text[MOST_TEXT], *arguments[MOST_ARGUMENTS + 1];
    const char *where = getenv("DYNVM_FORKS");
    if (!where) return real_main(argc, argv, environment);
    const int asked = atoi(where);
    int outputs[OUTPUTS];
    uint32_t size;
    unsetenv("DYNVM_FORKS");
    unsetenv("LD_PRELOAD");
    while (receive(asked, text, &size, outputs)) {
        const pid_t copy = fork();
        if (copy < 0) return 2;
        if (copy == 0) {
            int count = 0;
            const int look = *text != 0;
            char *directory = text + strlen(text) + 1;
            arguments[count++] = argv[0];
            for (char *at = directory + strlen(directory) + 1;
                 at < text + size && count < MOST_ARGUMENTS; at += strlen(at) + 1)
                arguments[count++] = at;
            close(asked);
            for (int i = 0; i < OUTPUTS; i++) {
                if (dup2(outputs[i], i + 1) < 0) return 2;
                close(outputs[i]);
            }
            if (chdir(directory) != 0) return 2;
            const int ended = real_main(count, arguments, environ);
            fflush(NULL);
            _exit(look && leaks() ? STATUS_LEAKS : ended);
        }
        for (int i = 0; i < OUTPUTS; i++) close(outputs[i]);
        int status;
        if (!answer(asked, copy) || waitpid(copy, &status, 0) != copy || !answer(asked, status))
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
