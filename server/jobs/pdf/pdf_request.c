/*
 * pdf_request.c: measures one document: sends a job to the fork server, reads its answer from a
 * pipe, and its end from the job's socket. Blocks; runs on a separate thread. The child is hostile
 * from the first byte it reads; the fork server is trusted and reads no document, but may hang or
 * die.
 */
#include "server/jobs/pdf/pdf_worker.h"

#include "store/base/assert.h"
#include "store/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes of one read: most answers fit. */
#define READ_BYTES ((size_t)16 << 10)
/* A child that was killed by its own abort with this much resident memory reached the limit of its
 * address space, part of which is never resident. */
#define MEMORY_NEAR_BYTES (PDF_MEMORY_BYTES / 2)

struct exchange {
    const struct pdf_request *request;
    int answer; /* read end of the pipe, non-blocking; -1 after its end */
    int socket; /* this side of the job's socket */
    int64_t deadline_us;
    size_t bytes_max;
    struct buffer bytes; /* the answer, so far */
    bool flooded; /* the answer exceeds the limit */
    struct pdf_control_end end; /* type 0: not received */
};

/* The answer if nothing arrived. */
static const struct pdf_answer nothing = {.reason = PDF_CRASHED, .cut = PDF_CUT_LIMIT};

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

/* Waits for `entries`, the last of which is the cancel flag's descriptor. ERR_INTERNAL at the
 * deadline, by which the fork server should have answered. */
static enum err wait_for(const struct exchange *exchange, struct pollfd *entries, nfds_t count)
{
    struct pdf_cancel *cancel = exchange->request->cancel;
    int64_t left_us = exchange->deadline_us - clock_monotonic_us(clock_system());

    entries[count - 1] = (struct pollfd){.fd = cancel != NULL ? cancel->fd : -1, .events = POLLIN};
    if (left_us <= 0) {
        return ERR_INTERNAL;
    }
    if (poll(entries, count, (int)((left_us + 999) / 1000)) < 0) {
        for (nfds_t i = 0; i < count; i++) {
            entries[i].revents = 0;
        }
        return errno == EINTR ? OK : ERR_UNAVAILABLE;
    }
    return entries[count - 1].revents != 0 ? ERR_CANCELLED : OK;
}

/* Sends the job with its descriptors; the control socket may be full briefly. */
static enum err send_message(const struct exchange *exchange, const struct msghdr *message)
{
    int control = exchange->request->control;
    enum err err = OK;

    while (err == OK) {
        struct pollfd entries[2] = {{.fd = control, .events = POLLOUT}};

        if (sendmsg(control, message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
            return OK;
        }
        if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) {
            return ERR_INTERNAL;
        }
        if (errno != EAGAIN && errno != EINTR) {
            return ERR_UNAVAILABLE;
        }
        err = wait_for(exchange, entries, 2);
    }
    return err;
}

static enum err send_job(const struct exchange *exchange, int answer, int socket)
{
    const struct pdf_request *request = exchange->request;
    const int fds[PDF_JOB_FDS] = {[PDF_JOB_DOCUMENT] = request->bytes->fd,
                                  [PDF_JOB_ANSWER] = answer,
                                  [PDF_JOB_SOCKET] = socket};
    struct pdf_control_job job = {.type = PDF_CONTROL_JOB,
                                  .version = PDF_CONTROL_VERSION,
                                  .flags = request->flags,
                                  .password_bytes = (uint32_t)request->password.size};
    struct iovec part = {.iov_base = &job, .iov_len = sizeof(job)};
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(fds))];
    } control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    enum err err = OK;

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(fds));
    memcpy(CMSG_DATA(header), fds, sizeof(fds));
    if (request->password.size > 0) {
        memcpy(job.password, request->password.data, request->password.size);
    }
    err = send_message(exchange, &message);
    explicit_bzero(&job, sizeof(job));
    return err;
}

/* Opens the pipe and the job's socket, sends the job with their other ends, and closes those here,
 * so that an end of file is noticed. */
static enum err open_exchange(struct exchange *exchange)
{
    int answer[2] = {-1, -1};
    int sockets[2] = {-1, -1};
    enum err err = ERR_UNAVAILABLE;

    if (pipe2(answer, O_CLOEXEC) != 0) {
        return ERR_UNAVAILABLE;
    }
    exchange->answer = answer[0];
    if (fcntl(answer[0], F_SETFL, O_NONBLOCK) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        goto out;
    }
    exchange->socket = sockets[0];
    err = send_job(exchange, answer[1], sockets[1]);
out:
    close_fd(&sockets[1]);
    close_fd(&answer[1]);
    return err;
}

/* Reads from the pipe. ERR_NOT_FOUND if it is empty now. */
static enum err read_answer(struct exchange *exchange)
{
    struct buffer *bytes = &exchange->bytes;
    size_t room = exchange->bytes_max - bytes->size + 1;
    ssize_t got = 0;

    room = room < READ_BYTES ? room : READ_BYTES;
    if (!buffer_reserve(bytes, room)) {
        return ERR_MEMORY;
    }
    got = read(exchange->answer, bytes->data + bytes->size, room);
    if (got < 0) {
        return errno == EAGAIN || errno == EINTR ? ERR_NOT_FOUND : ERR_UNAVAILABLE;
    }
    if (got == 0) {
        close_fd(&exchange->answer);
        return ERR_NOT_FOUND;
    }
    bytes->size += (size_t)got;
    exchange->flooded = bytes->size > exchange->bytes_max;
    return OK;
}

/* Reads END. Any other message is an error of the fork server. */
static enum err read_end(struct exchange *exchange)
{
    struct pdf_control_end end;
    ssize_t size = recv(exchange->socket, &end, sizeof(end), MSG_DONTWAIT | MSG_TRUNC);

    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return OK;
    }
    if (size != (ssize_t)sizeof(end) || end.type != PDF_CONTROL_END ||
        end.version != PDF_CONTROL_VERSION || end.end < PDF_END_EXITED ||
        end.end > PDF_END_NOT_FORKED) {
        return ERR_INTERNAL;
    }
    exchange->end = end;
    return OK;
}

/* Follows the child until it ends, or has written too much. */
static enum err follow_child(struct exchange *exchange)
{
    enum err err = OK;

    while (err == OK && exchange->end.type == 0 && !exchange->flooded) {
        struct pollfd entries[3] = {{.fd = exchange->answer, .events = POLLIN},
                                    {.fd = exchange->socket, .events = POLLIN}};

        err = wait_for(exchange, entries, 3);
        if (err == OK && entries[1].revents != 0) {
            err = read_end(exchange);
        }
        if (err == OK && entries[0].revents != 0) {
            err = read_answer(exchange);
            err = err == ERR_NOT_FOUND ? OK : err;
        }
    }
    /* Everything that a child wrote before its end is in the pipe. */
    while (err == OK && exchange->answer >= 0 && !exchange->flooded) {
        err = read_answer(exchange);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns whether the child ended at a limit, not by an error. */
static bool met_limit(const struct pdf_control_end *end)
{
    switch ((enum pdf_end)end->end) {
    case PDF_END_EXITED:
        return end->code == PDF_EXIT_MEMORY;
    case PDF_END_SIGNALLED:
        /* SIGKILL: the hard limit of CPU, for a child that ignored the soft one. Abort and trap:
         * the C++ and GLib allocators out of memory. */
        return end->code == SIGXCPU || end->code == SIGKILL ||
               ((end->code == SIGABRT || end->code == SIGTRAP) &&
                end->memory_bytes >= MEMORY_NEAR_BYTES);
    case PDF_END_WALL:
        return true;
    case PDF_END_NOT_FORKED:
        return false;
    }
    return false;
}

/* Returns whether the child never started to read the document. */
static bool never_began(const struct pdf_control_end *end)
{
    return end->end == PDF_END_NOT_FORKED ||
           (end->end == PDF_END_EXITED && end->code == PDF_EXIT_SANDBOX);
}

/* Returns whether a part is missing because the child was stopped, rather than cut by a counter. */
static bool was_stopped_short(const struct pdf_answer *answer)
{
    return answer->reason == PDF_CRASHED ||
           (answer->reason == PDF_READ && answer->cut == PDF_CUT_LIMIT);
}

static bool was_starved(const struct pdf_control_end *end, const struct pdf_answer *answer)
{
    if (end->end != PDF_END_WALL || !was_stopped_short(answer)) {
        return false;
    }
    if (end->waited_us == PDF_WAITED_UNKNOWN) {
        return answer->reason == PDF_CRASHED && end->cpu_us < PDF_STARVED_CPU_US;
    }
    return end->waited_us >= PDF_STARVED_WAITED_US;
}

/* Returns whether it was killed neither by a limit nor by the fork server: by a machine out of
 * memory, or by hand. The same bytes may succeed another time. */
static bool was_killed_from_outside(const struct pdf_control_end *end,
                                    const struct pdf_answer *answer)
{
    return end->end == PDF_END_SIGNALLED && end->code == SIGKILL &&
           end->cpu_us < (uint64_t)PDF_CPU_SECONDS * 1000000 && was_stopped_short(answer);
}

/* Checks the answer, and combines it with how the child ended. */
static enum err conclude_exchange(const struct exchange *exchange, struct arena *arena,
                                  struct pdf_answer *ret_answer)
{
    const struct pdf_control_end *end = &exchange->end;
    uint32_t flags = exchange->request->flags;
    struct pdf_answer answer = nothing;
    enum err err = ERR_MALFORMED;

    if (never_began(end)) {
        return ERR_UNAVAILABLE;
    }
    if (!exchange->flooded) {
        err = pdf_answer_decode(arena, buffer_slice(&exchange->bytes), &answer);
    }
    if (err != OK && err != ERR_MALFORMED) {
        return err;
    }
    if (err == OK && was_killed_from_outside(end, &answer)) {
        return ERR_UNAVAILABLE;
    }
    if (err != OK || (answer.explained && (flags & PDF_JOB_EXPLAIN) == 0) ||
        (answer.picture.size > 0 && (flags & PDF_JOB_PICTURE) == 0) ||
        (answer.pages.count > 0 && (flags & PDF_JOB_TEXT) == 0)) {
        answer = nothing;
    } else if (was_starved(end, &answer)) {
        answer.starved = true;
        answer.reason = answer.reason == PDF_CRASHED ? PDF_WALL_LIMIT : answer.reason;
    } else if (answer.reason == PDF_CRASHED && met_limit(end)) {
        answer.reason = PDF_TEXT_LIMIT;
    }
    answer.cpu_us = end->cpu_us;
    answer.memory_bytes = end->memory_bytes;
    *ret_answer = answer;
    return OK;
}

static size_t answer_bytes_max(uint32_t flags)
{
    size_t bytes_max = (flags & (PDF_JOB_EXPLAIN | PDF_JOB_PICTURE)) != 0
                           ? PDF_ANSWER_EXPLAINED_BYTES_MAX
                           : PDF_ANSWER_BYTES_MAX;

    return bytes_max + ((flags & PDF_JOB_TEXT) != 0 ? PDF_ANSWER_TEXT_BYTES_MAX : 0);
}

enum err pdf_worker_measure(const struct pdf_request *request, struct arena *arena,
                            struct pdf_answer *ret_answer)
{
    int64_t timeout_ms =
        request->timeout_ms != 0 ? request->timeout_ms : PDF_WALL_MS + PDF_WALL_GRACE_MS;
    struct exchange exchange = {
        .request = request,
        .answer = -1,
        .socket = -1,
        .deadline_us = clock_monotonic_us(clock_system()) + timeout_ms * 1000,
        .bytes_max = answer_bytes_max(request->flags),
    };
    enum err err = OK;

    if (UNEXPECTED(request->password.size > PDF_PASSWORD_BYTES_MAX)) {
        return ERR_INVALID;
    }
    buffer_init(&exchange.bytes, arena, 0);
    err = open_exchange(&exchange);
    if (err == OK) {
        err = follow_child(&exchange);
    }
    /* Closing it kills a child that still runs. */
    close_fd(&exchange.socket);
    close_fd(&exchange.answer);
    return err == OK ? conclude_exchange(&exchange, arena, ret_answer) : err;
}
