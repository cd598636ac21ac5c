/* serve.c: the playground's server (serve.h). */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_CHILDREN = 8,
    MOST_HEAD = 16 << 10,    /* of a request: its lines */
    MOST_PROGRAM = 1 << 20,  /* ... and what is behind them */
    MOST_OUTPUT = 256 << 10, /* of what a program prints */
    MOST_PAGE = 64 << 20,
    MOST_SECONDS = 1000000,
    SECONDS_TO_ASK = 10, /* until the request is there */
    SECONDS_TO_TELL = 15 /* after the time limit, until the answer is gone */
};
#define USUAL_TIME   5.0
#define USUAL_MEMORY ((size_t)256 << 20)

static volatile sig_atomic_t stopped;

static void on_stop(int number) {
    (void)number;
    stopped = 1;
}

/* ---- Texts that grow ---- */

typedef struct buffer {
    char *data;
    size_t size, room, most;
    bool cut; /* there was more */
} buffer;

static int put(void *context, const char *text, size_t size) {
    buffer *b = context;
    if (size > b->most - b->size) size = b->most - b->size, b->cut = true;
    if (size > b->room - b->size) {
        size_t room = b->room ? b->room * 2 : 4096;
        while (room < b->size + size) room *= 2;
        char *moved = realloc(b->data, room);
        if (!moved) {
            b->cut = true;
            return 0;
        }
        b->data = moved;
        b->room = room;
    }
    if (size) memcpy(b->data + b->size, text, size);
    b->size += size;
    return 0;
}

static void say_cut(buffer *b) {
    static const char more[] = "\n... and more, which is not shown\n";
    if (!b->cut) return;
    b->most += sizeof more;
    put(b, more, sizeof more - 1);
}

/* ---- Requests ---- */

typedef struct request {
    int socket;
    int port;
    char head[MOST_HEAD + 1]; /* its lines end in zeroes, once they are read */
    size_t head_size;         /* with the empty line; the body begins behind it */
    size_t got;               /* bytes in `head` */
    char *method, *path, *query;
    const char *fields; /* behind the first line */
    char *body;
    size_t body_size;
} request;

static void send_all(int socket, const char *data, size_t size) {
    while (size > 0) {
        ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return;
        data += sent;
        size -= (size_t)sent;
    }
}

static void answer_head(int socket, const char *status, const char *type, size_t size) {
    char text[640];
    int length = snprintf(
        text, sizeof text,
        "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n"
        "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n"
        "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; "
        "style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'\r\n\r\n",
        status, type, size);
    send_all(socket, text, (size_t)length);
}

static void answer(int socket, const char *status, const char *type, const char *text) {
    answer_head(socket, status, type, strlen(text));
    send_all(socket, text, strlen(text));
}

/* What was sent is read to its end before the socket is closed: else the answer may be lost. */
static void refuse(const request *r, const char *status) {
    char rest[4096];
    answer(r->socket, status, "text/plain", status);
    shutdown(r->socket, SHUT_WR);
    for (int i = 0; i < 1024 && recv(r->socket, rest, sizeof rest, 0) > 0; i++) continue;
}

static bool read_head(request *r) {
    for (;;) {
        ssize_t got = recv(r->socket, r->head + r->got, MOST_HEAD - r->got, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        r->got += (size_t)got;
        r->head[r->got] = 0;
        if (strlen(r->head) != r->got && !strstr(r->head, "\r\n\r\n")) return false; /* a zero */
        const char *end = strstr(r->head, "\r\n\r\n");
        if (end) {
            r->head_size = (size_t)(end - r->head) + 4;
            return true;
        }
        if (r->got == MOST_HEAD) return false;
    }
}

/* The value of a field; NULL: there is none.  Two of one name are the same as a wrong one. */
static const char *field(const request *r, const char *name) {
    static const char twice[] = "?";
    const char *found = NULL;
    const size_t size = strlen(name);
    for (const char *line = r->fields; line < r->head + r->head_size; line += strlen(line) + 1) {
        if (strncasecmp(line, name, size) != 0 || line[size] != ':') continue;
        if (found) return twice;
        found = line + size + 1;
        while (*found == ' ' || *found == '\t') found++;
    }
    return found;
}

/* METHOD PATH?QUERY HTTP/1.x */
static bool split_head(request *r) {
    for (size_t i = 0; i < r->head_size; i++)
        if (r->head[i] == '\r' || r->head[i] == '\n') r->head[i] = 0;
    r->method = r->head;
    char *path = strchr(r->head, ' ');
    if (!path) return false;
    *path++ = 0;
    char *version = strchr(path, ' ');
    if (!version || strncmp(version + 1, "HTTP/1.", 7) != 0) return false;
    *version = 0;
    r->path = path;
    r->query = strchr(path, '?');
    if (r->query) *r->query++ = 0;
    r->fields = version + 1 + strlen(version + 1);
    return true;
}

/* Is it this server's name, with `before` in front of it? */
static bool is_us(const request *r, const char *text, const char *before) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char own[64], port[8] = "";
    if (r->port != 80) snprintf(port, sizeof port, ":%d", r->port); /* which browsers leave out */
    for (int i = 0; i < 2; i++) {
        snprintf(own, sizeof own, "%s%s%s", before, names[i], port);
        if (text && strcmp(text, own) == 0) return true;
    }
    return false;
}

/* NULL: it is all there, or the status of the refusal. */
static const char *read_request(request *r) {
    if (!read_head(r) || !split_head(r)) return "400 Bad Request";
    if (!is_us(r, field(r, "Host"), "")) return "403 Forbidden";
    const char *origin = field(r, "Origin"), *length = field(r, "Content-Length");
    if (origin && !is_us(r, origin, "http://")) return "403 Forbidden";
    if (strcmp(r->method, "POST") != 0) return NULL;
    if (!length || field(r, "Transfer-Encoding")) return "411 Length Required";
    char *end;
    errno = 0;
    const unsigned long size = strtoul(length, &end, 10);
    if (*end || end == length || length[0] == '-' || length[0] == '+') return "400 Bad Request";
    if (errno || size > MOST_PROGRAM) return "413 Content Too Large";
    r->body = malloc(size + 1);
    if (!r->body) return "503 Service Unavailable";
    r->body_size = r->got - r->head_size;
    if (r->body_size > size) r->body_size = size;
    memcpy(r->body, r->head + r->head_size, r->body_size);
    while (r->body_size < size) {
        ssize_t got = recv(r->socket, r->body + r->body_size, size - r->body_size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return "400 Bad Request";
        r->body_size += (size_t)got;
    }
    return NULL;
}

static int digit(char c) {
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* Where the value of a parameter begins; NULL: there is none. */
static char *parameter(char *query, const char *name) {
    const size_t size = strlen(name);
    while (query && !(strncmp(query, name, size) == 0 && query[size] == '=')) {
        query = strchr(query, '&');
        if (query) query++;
    }
    return query ? query + size + 1 : NULL;
}

/* The value, in its place; what follows it is lost. */
static void decode(char *value) {
    if (!value) return;
    char *to = value;
    for (const char *from = value; *from && *from != '&'; to++) {
        const int high = *from == '%' ? digit(from[1]) : -1, low = high >= 0 ? digit(from[2]) : -1;
        *to = low >= 0 ? (char)(high * 16 + low) : *from;
        from += low >= 0 ? 3 : 1;
    }
    *to = 0;
}

/* ---- Running ---- */

/* What the system does where the VM's own limits do not reach. */
static void limit_process(double seconds) {
    const rlim_t time = (rlim_t)(seconds < MOST_SECONDS ? seconds : MOST_SECONDS) + SECONDS_TO_TELL;
    setrlimit(RLIMIT_CPU, &(struct rlimit){time, time});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    alarm((unsigned)time);
}

static bool set_level(dynvm_config *config, const char *level) {
    static const struct {
        const char *name;
        dynvm_level level;
    } levels[] = {
        {"generic", DYNVM_LEVEL_GENERIC}, {"inca", DYNVM_LEVEL_INCA}, {"nama", DYNVM_LEVEL_NAMA}};
    for (size_t i = 0; level && i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(level, levels[i].name) != 0) continue;
        config->level = levels[i].level;
        return true;
    }
    return !level;
}

/* The answer: "STATUS OUTPUT ERRORS PAGE\n", the last three being sizes, and then these texts. */
static void answer_run(const request *r, int status, const buffer *texts) {
    char head[128];
    const int size = snprintf(head, sizeof head, "%d %zu %zu %zu\n", status, texts[0].size,
                              texts[1].size, texts[2].size);
    answer_head(r->socket, "200 OK", "text/plain",
                (size_t)size + texts[0].size + texts[1].size + texts[2].size);
    send_all(r->socket, head, (size_t)size);
    for (int i = 0; i < 3; i++) send_all(r->socket, texts[i].data, texts[i].size);
}

static int run_program(dynvm_config *config, const dynvm_report *report, buffer *texts) {
    dynvm_vm *vm = dynvm_create(config);
    if (!vm) {
        put(&texts[1], "there is no memory for a machine\n", 33);
        return 1;
    }
    static const char *const arguments[] = {"program.dl"};
    dynvm_status status = dynvm_set_arguments(vm, 1, arguments);
    if (status == DYNVM_OK) status = dynvm_view(vm, arguments[0], report, put, &texts[2]);
    dynvm_error *error = dynvm_take_error(vm);
    if (error) put(&texts[1], dynvm_error_traceback(error), dynvm_error_traceback_size(error));
    if (!error && status == DYNVM_NO_MEMORY) put(&texts[1], "out of memory\n", 14);
    /* The process ends with the VM. */
    return status == DYNVM_ERROR || status == DYNVM_NO_MEMORY ? 1 : dynvm_exit_status(vm);
}

static int put_error(void *context, const char *text, size_t size) {
    return put((buffer *)context + 1, text, size);
}

static void run_request(const request *r, const cli_options *options) {
    buffer texts[3] = {{.most = MOST_OUTPUT}, {.most = MOST_OUTPUT}, {.most = MOST_PAGE}};
    dynvm_config config = options->config;
    dynvm_report report = options->report;
    char *const level = parameter(r->query, "level"), *const step = parameter(r->query, "step");
    decode(level);
    decode(step);
    if (!set_level(&config, level)) {
        refuse(r, "400 Bad Request");
        return;
    }
    report.step = step && *step ? step : NULL;
    report.text = r->body;
    report.text_size = r->body_size;
    config.sandboxed = 1;
    config.foreign = 0;
    config.counting = 1;
    config.output = config.output_bytes = put;
    config.error_output = config.error_bytes = put_error;
    config.output_context = texts;
    if (!(config.time_limit > 0)) config.time_limit = USUAL_TIME;
    if (!config.memory_limit) config.memory_limit = USUAL_MEMORY;
    limit_process(config.time_limit);
    const int status = run_program(&config, &report, texts);
    say_cut(&texts[0]);
    say_cut(&texts[1]);
    if (texts[2].cut) texts[2].size = 0; /* half a page is none */
    answer_run(r, status, texts);
}

/* The program that is in the editor at first. */
static void answer_script(const request *r, const cli_options *options) {
    buffer text = {.most = MOST_PROGRAM};
    FILE *file = options->program ? fopen(options->program, "rb") : NULL;
    char part[4096];
    for (size_t got; file && (got = fread(part, 1, sizeof part, file)) > 0;) put(&text, part, got);
    if (file) fclose(file);
    answer_head(r->socket, "200 OK", "text/plain", text.size);
    send_all(r->socket, text.data, text.size);
}

/* In a process of its own. */
static void serve_one(int socket, int port, const cli_options *options) {
    static request r; /* the process has one */
    r.socket = socket;
    r.port = port;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    alarm(SECONDS_TO_ASK);
    const char *refusal = read_request(&r);
    const bool gets = !refusal && strcmp(r.method, "GET") == 0;
    const bool posts = !refusal && strcmp(r.method, "POST") == 0;
    if (refusal)
        refuse(&r, refusal);
    else if (posts && strcmp(r.path, "/run") == 0)
        run_request(&r, options);
    else if (gets && strcmp(r.path, "/") == 0)
        answer(socket, "200 OK", "text/html", cli_playground);
    else if (gets && strcmp(r.path, "/program") == 0)
        answer_script(&r, options);
    else
        refuse(&r, gets || posts ? "404 Not Found" : "405 Method Not Allowed");
    shutdown(socket, SHUT_WR);
}

/* ---- The server ---- */

/* A socket at the port, which is found if it is 0; -1: errno says why there is none. */
static int listen_at(int *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const int one = 1, server = socket(AF_INET, SOCK_STREAM, 0);
    if (server < 0) return -1;
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(server, (struct sockaddr *)&address, size) != 0 || listen(server, 16) != 0 ||
        getsockname(server, (struct sockaddr *)&address, &size) != 0) {
        const int why = errno;
        close(server);
        errno = why;
        return -1;
    }
    *port = ntohs(address.sin_port);
    return server;
}

static void reap(pid_t *children, bool all) {
    for (int i = 0; i < MOST_CHILDREN; i++) {
        if (children[i] && all) kill(children[i], SIGKILL);
        if (children[i] && waitpid(children[i], NULL, all ? 0 : WNOHANG) != 0) children[i] = 0;
    }
}

static void accept_one(int server, int port, const cli_options *options, pid_t *children) {
    const int client = accept(server, NULL, NULL);
    if (client < 0) return;
    int i = 0;
    while (i < MOST_CHILDREN && children[i]) i++;
    const pid_t child = i < MOST_CHILDREN ? fork() : -1;
    if (child == 0) {
        close(server);
        serve_one(client, port, options);
        _exit(0);
    }
    if (child > 0)
        children[i] = child;
    else
        answer(client, "503 Service Unavailable", "text/plain", "too many at once");
    close(client);
}

int cli_serve(const cli_options *options) {
    enum { MILLISECONDS = 200 };
    int port = options->port;
    const int server = listen_at(&port);
    if (server < 0) {
        fprintf(stderr, "dynvm: can't serve at port %d: %s\n", options->port, strerror(errno));
        return 1;
    }
    fcntl(server, F_SETFL, O_NONBLOCK);
    struct sigaction action = {.sa_handler = on_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    printf("dynvm: open http://127.0.0.1:%d/ in a browser; Ctrl-C ends it\n", port);
    fflush(stdout);
    pid_t children[MOST_CHILDREN] = {0};
    while (!stopped) {
        struct pollfd waiting = {.fd = server, .events = POLLIN};
        const int found = poll(&waiting, 1, MILLISECONDS);
        reap(children, false);
        if (found > 0) accept_one(server, port, options, children);
    }
    reap(children, true);
    close(server);
    return 0;
}
