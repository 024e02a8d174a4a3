/*
 * fake_worker.c: a fork server that speaks pdf_control.h and follows commands: at its start by the
 * name it is run under, with each job by the document's text. Forks a child per job like the real
 * one, but reads no PDF and has no sandbox.
 * A document is words: what the fork server does (`server-dies`, `server-closes`, `server-lies`,
 * `server-hangs`, `server-not-forked`, or one of `walls`), `memory` for a large resident size, then
 * what the child does, one after the other: `text`, `tables`, `cut`, `refuse`, `password`, `asked`,
 * `unasked`, `lie`, `half`, `flood`, `slowly`, `hang`, `exit=N`, `signal=N`. It ends with status 0.
 */
#include "server/jobs/pdf/answer/pdf_answer.h"
#include "server/jobs/pdf/pdf_control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_BYTES_MAX 256
#define CHILDREN_MAX 8
#define LARGE_BYTES ((uint64_t)400 << 20)
#define ARENA_BYTES ((size_t)16 << 20)

struct job {
    struct pdf_control_job control;
    int fds[PDF_JOB_FDS];
    char text[TEXT_BYTES_MAX + 1];
};

/* A child that was killed at the wall limit, after all the words of its answer: its CPU time, and
 * how long it waited for a processor. */
static const struct wall {
    const char *word;
    uint64_t cpu_us;
    uint64_t waited_us;
} walls[] = {
    {"server-wall", 100000, 2999999},
    {"server-starved", 4000000, 3000000},
    {"server-wall-untold", 1000000, PDF_WAITED_UNKNOWN},
    {"server-starved-untold", 999999, PDF_WAITED_UNKNOWN},
};

struct child {
    pid_t pid; /* 0: none */
    int end; /* readable after its end */
    int socket;
    uint64_t memory_bytes;
};

static bool has_word(const char *text, const char *word)
{
    size_t size = strlen(word);
    const char *at = strstr(text, word);

    while (at != NULL && ((at > text && at[-1] != ' ') || (at[size] != ' ' && at[size] != '\0'))) {
        at = strstr(at + 1, word);
    }
    return at != NULL;
}

static void write_all(int fd, struct slice bytes)
{
    while (bytes.size > 0) {
        ssize_t written = write(fd, bytes.data, bytes.size);

        if (written <= 0) {
            _exit(PDF_EXIT_FAILED);
        }
        bytes = slice_after(bytes, (size_t)written);
    }
}

static enum err put_text(struct buffer *buffer)
{
    static const struct pdf_page_size pages[] = {{595.28, 841.89}};
    const struct pdf_text text = {.page_count = 1,
                                  .pages = pages,
                                  .pages_read = 1,
                                  .text_chars = 20,
                                  .page_one_chars = 18,
                                  .snippet = SLICE("Invoice 2024-0001\n"),
                                  .covered_cells = 100,
                                  .page_cells = 596 * 842,
                                  .poppler_version = SLICE("0.0.0")};

    return pdf_answer_put_text(buffer, &text);
}

/* A table, an explanation where `explain` is set, a picture where `draw` is. */
static enum err put_rest(struct buffer *buffer, bool explain, bool draw)
{
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13,
                                  'I',  'H', 'D', 'R', 0,    0,    0,    1,    0, 0, 0, 1};
    static const struct pdf_table table = {
        .kind = PDF_TABLE_RULES, .box = {1, 2, 3, 4}, .rows = 3, .cells = 9, .counted = true};
    const struct pdf_explanation explanation = {.tables = &table, .table_count = 1};
    const struct pdf_tables tables = {.table_count = 1};
    enum err err = pdf_answer_put_tables(buffer, PDF_CUT_NONE, &tables);

    if (err == OK && explain) {
        err = pdf_answer_put_explanation(buffer, &explanation);
    }
    if (err == OK && draw) {
        err = pdf_answer_put_picture(buffer, slice_of(png, sizeof(png)));
    }
    return err;
}

/* Appends the answer for one word. */
static enum err put_word(struct buffer *buffer, const char *word, const struct job *job)
{
    if (strcmp(word, "text") == 0) {
        return put_text(buffer);
    }
    if (strcmp(word, "tables") == 0) {
        return put_rest(buffer, false, false);
    }
    if (strcmp(word, "asked") == 0) {
        return put_rest(buffer, (job->control.flags & PDF_JOB_EXPLAIN) != 0,
                        (job->control.flags & PDF_JOB_PICTURE) != 0);
    }
    if (strcmp(word, "unasked") == 0) {
        return put_rest(buffer, true, true);
    }
    if (strcmp(word, "cut") == 0) {
        return pdf_answer_put_tables(buffer, PDF_CUT_RULINGS, NULL);
    }
    if (strcmp(word, "pages") == 0) {
        const struct pdf_pages pages = {
            .text = SLICE("Invoice 2024-0001\n"), .count = 1, .end = PDF_PAGES_WHOLE};

        return pdf_answer_put_pages(buffer, &pages);
    }
    if (strcmp(word, "refuse") == 0) {
        return pdf_answer_put_refusal(buffer, PDF_NO_PAGES);
    }
    if (strcmp(word, "password") == 0 &&
        (job->control.password_bytes != 6 || memcmp(job->control.password, "secret", 6) != 0)) {
        return pdf_answer_put_refusal(buffer, PDF_ENCRYPTED);
    }
    if (strcmp(word, "password") == 0) {
        return put_text(buffer);
    }
    return ERR_NOT_FOUND;
}

/* Executes the side effect of one word. */
static void do_word(int answer, const char *word)
{
    static const uint8_t zeros[4096];

    if (strcmp(word, "lie") == 0) {
        write_all(answer, SLICE("\x04\x00\x00\x00liar"));
    } else if (strcmp(word, "half") == 0) {
        write_all(answer, SLICE("\x40\x00\x00\x00half"));
    } else if (strcmp(word, "hang") == 0) {
        (void)poll(NULL, 0, -1);
    } else if (strncmp(word, "exit=", 5) == 0) {
        _exit((int)strtol(word + 5, NULL, 10));
    } else if (strncmp(word, "signal=", 7) == 0) {
        (void)signal((int)strtol(word + 7, NULL, 10), SIG_DFL);
        (void)kill(getpid(), (int)strtol(word + 7, NULL, 10));
        _exit(99);
    }
    /* Sends the length of a frame, then endless content. */
    if (strcmp(word, "flood") == 0) {
        write_all(answer, SLICE("\x00\x00\x80\x00"));
    }
    while (strcmp(word, "flood") == 0) {
        write_all(answer, slice_of(zeros, sizeof(zeros)));
    }
}

static void answer_words(struct job *job)
{
    int answer = job->fds[PDF_JOB_ANSWER];
    size_t piece = has_word(job->text, "slowly") ? 1 : SIZE_MAX;
    char *rest = job->text;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    for (char *word = strsep(&rest, " "); word != NULL; word = strsep(&rest, " ")) {
        struct buffer buffer;
        struct slice bytes;

        buffer_init(&buffer, &arena, 0);
        if (put_word(&buffer, word, job) == ERR_NOT_FOUND) {
            do_word(answer, word);
        }
        bytes = buffer_slice(&buffer);
        while (bytes.size > 0) {
            size_t size = bytes.size < piece ? bytes.size : piece;

            write_all(answer, slice_of(bytes.data, size));
            bytes = slice_after(bytes, size);
        }
    }
    arena_deinit(&arena);
}

static NORETURN void run_child(struct job *job)
{
    (void)signal(SIGPIPE, SIG_IGN);
    answer_words(job);
    _exit(PDF_EXIT_ANSWERED);
}

/* Takes one job with its descriptors; false at the end of the control socket. */
static bool take_job(struct job *ret_job)
{
    struct iovec part = {.iov_base = &ret_job->control, .iov_len = sizeof(ret_job->control)};
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(ret_job->fds))];
    } control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t size = recvmsg(PDF_CONTROL_FD, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    if (size != (ssize_t)sizeof(ret_job->control) || header == NULL ||
        header->cmsg_len != CMSG_LEN(sizeof(ret_job->fds)) ||
        ret_job->control.type != PDF_CONTROL_JOB) {
        return false;
    }
    memcpy(ret_job->fds, CMSG_DATA(header), sizeof(ret_job->fds));
    size = pread(ret_job->fds[PDF_JOB_DOCUMENT], ret_job->text, TEXT_BYTES_MAX, 0);
    ret_job->text[size > 0 ? size : 0] = '\0';
    return true;
}

static void say_end(int socket, enum pdf_end end, int code, uint64_t cpu_us, uint64_t memory_bytes)
{
    const struct pdf_control_end message = {.type = PDF_CONTROL_END,
                                            .version = PDF_CONTROL_VERSION,
                                            .end = end,
                                            .code = code,
                                            .cpu_us = cpu_us,
                                            .memory_bytes = memory_bytes};

    (void)send(socket, &message, sizeof(message), MSG_NOSIGNAL);
}

static void say_wall(struct job *job, const struct wall *wall)
{
    const struct pdf_control_end message = {.type = PDF_CONTROL_END,
                                            .version = PDF_CONTROL_VERSION,
                                            .end = PDF_END_WALL,
                                            .code = SIGKILL,
                                            .cpu_us = wall->cpu_us,
                                            .waited_us = wall->waited_us};

    answer_words(job);
    (void)send(job->fds[PDF_JOB_SOCKET], &message, sizeof(message), MSG_NOSIGNAL);
}

/* Handles a job in the fork server; returns false if a child is to be forked. */
static bool serve_itself(struct job *job)
{
    int socket = job->fds[PDF_JOB_SOCKET];

    if (has_word(job->text, "server-dies")) {
        _exit(9);
    }
    if (has_word(job->text, "server-hangs")) {
        (void)poll(NULL, 0, -1);
    }
    for (size_t i = 0; i < sizeof(walls) / sizeof(walls[0]); i++) {
        if (has_word(job->text, walls[i].word)) {
            say_wall(job, &walls[i]);
            return true;
        }
    }
    if (has_word(job->text, "server-not-forked")) {
        say_end(socket, PDF_END_NOT_FORKED, 0, 0, 0);
    } else if (has_word(job->text, "server-lies")) {
        say_end(socket, (enum pdf_end)77, 0, 0, 0);
    } else if (!has_word(job->text, "server-closes")) {
        return false;
    }
    return true;
}

static void close_job(const struct job *job, bool with_socket)
{
    (void)close(job->fds[PDF_JOB_DOCUMENT]);
    (void)close(job->fds[PDF_JOB_ANSWER]);
    if (with_socket) {
        (void)close(job->fds[PDF_JOB_SOCKET]);
    }
}

static void begin(struct child *children)
{
    static struct job job;
    struct child *child = children;

    if (!take_job(&job)) {
        for (size_t i = 0; i < CHILDREN_MAX; i++) {
            if (children[i].pid != 0) {
                (void)kill(children[i].pid, SIGKILL);
            }
        }
        _exit(0);
    }
    if (serve_itself(&job)) {
        close_job(&job, true);
        return;
    }
    while (child->pid != 0) {
        child++;
        if (child == children + CHILDREN_MAX) {
            _exit(10);
        }
    }
    child->pid = fork();
    if (child->pid == 0) {
        (void)close(PDF_CONTROL_FD);
        (void)close(job.fds[PDF_JOB_SOCKET]);
        run_child(&job);
    }
    child->socket = job.fds[PDF_JOB_SOCKET];
    child->end = pidfd_open(child->pid, 0);
    child->memory_bytes = has_word(job.text, "memory") ? LARGE_BYTES : 4096;
    close_job(&job, false);
}

static void end(struct child *child)
{
    int status = 0;

    (void)waitpid(child->pid, &status, 0);
    say_end(child->socket, WIFSIGNALED(status) ? PDF_END_SIGNALLED : PDF_END_EXITED,
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), 1234,
            child->memory_bytes);
    (void)close(child->socket);
    (void)close(child->end);
    child->pid = 0;
}

static NORETURN void serve(void)
{
    static struct child children[CHILDREN_MAX];

    for (;;) {
        struct pollfd entries[1 + 2 * CHILDREN_MAX] = {{.fd = PDF_CONTROL_FD, .events = POLLIN}};

        for (size_t i = 0; i < CHILDREN_MAX; i++) {
            int socket = children[i].pid != 0 ? children[i].socket : -1;
            int child_end = children[i].pid != 0 ? children[i].end : -1;

            entries[1 + 2 * i] = (struct pollfd){.fd = socket, .events = POLLIN};
            entries[2 + 2 * i] = (struct pollfd){.fd = child_end, .events = POLLIN};
        }
        (void)poll(entries, 1 + 2 * CHILDREN_MAX, -1);
        for (size_t i = 0; i < CHILDREN_MAX; i++) {
            if (entries[1 + 2 * i].revents != 0 && children[i].pid != 0) {
                (void)kill(children[i].pid, SIGKILL);
                end(&children[i]);
            } else if (entries[2 + 2 * i].revents != 0) {
                end(&children[i]);
            }
        }
        if (entries[0].revents != 0) {
            begin(children);
        }
    }
}

/* The name of the file that runs: links to this program have names that state what they do. */
static const char *own_name(void)
{
    static char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *deleted = NULL;

    if (size < 0) {
        _exit(11);
    }
    path[size] = '\0';
    deleted = strstr(path, " (deleted)"); /* the link was removed meanwhile */
    if (deleted != NULL) {
        *deleted = '\0';
    }
    return strrchr(path, '/') + 1;
}

/* Checks the state passed to the fork server: descriptor 3 and the standard ones, LC_ALL, the root
 * folder. */
static bool start_is_clean(char **environment)
{
    char folder[16] = "";

    for (int fd = PDF_CONTROL_FD + 1; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            return false;
        }
    }
    return environment[0] != NULL && strcmp(environment[0], "LC_ALL=C") == 0 &&
           environment[1] == NULL && getcwd(folder, sizeof(folder)) != NULL &&
           strcmp(folder, "/") == 0 && getpgrp() == getpid();
}

int main(int argc, char **argv, char **environment)
{
    struct pdf_control_ready ready = {.type = PDF_CONTROL_READY,
                                      .version = PDF_CONTROL_VERSION,
                                      .sandbox = PDF_SANDBOX_LANDLOCK,
                                      .poppler_version = "0.0.0"};
    const char *name = own_name();

    (void)argc;
    (void)argv;
    if (!start_is_clean(environment)) {
        return 12;
    }
    if (strcmp(name, "dies-at-start") == 0) {
        return 13;
    }
    if (strcmp(name, "never-ready") == 0) {
        (void)poll(NULL, 0, -1);
    }
    if (strcmp(name, "other-version") == 0) {
        ready.version = PDF_CONTROL_VERSION + 1;
    } else if (strcmp(name, "other-type") == 0) {
        ready.type = PDF_CONTROL_END;
    } else if (strcmp(name, "odd-sandbox") == 0) {
        ready.sandbox = 99;
    } else if (strcmp(name, "odd-text") == 0) {
        memset(ready.poppler_version, 'x', sizeof(ready.poppler_version));
    }
    (void)send(PDF_CONTROL_FD, &ready, strcmp(name, "short") == 0 ? 4 : sizeof(ready), 0);
    serve();
}
