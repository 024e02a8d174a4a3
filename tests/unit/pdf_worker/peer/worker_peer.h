/*
 * worker_peer.h: a server's side of the worker program for tests, in the simplest form: it starts the
 * program, sends it documents and descriptors of any kind, and waits for its messages. It shares no
 * code with the server's own driver, so that both are tested against the protocol rather than against
 * each other.
 */
#ifndef ERRATA_TESTS_UNIT_PDF_WORKER_PEER_WORKER_PEER_H
#define ERRATA_TESTS_UNIT_PDF_WORKER_PEER_WORKER_PEER_H

#include "server/jobs/pdf/answer/pdf_answer.h"
#include "server/jobs/pdf/pdf_control.h"

#include <sys/types.h>

/* Time limit of every wait: a loaded machine is slow, and a broken worker sends nothing. */
#define PEER_WAIT_MS 30000

struct peer {
    pid_t pid;
    int control;
    struct pdf_control_ready ready;
};

/* A running job; closed descriptors are -1. */
struct peer_job {
    int socket; /* this side of the job socket */
    int answer; /* the read end of the pipe */
};

/* Starts `program` with the arguments (NULL-terminated, at most 4) and reads READY. */
bool peer_start(struct peer *peer, const char *program, const char *const *arguments);
/* Closes the control socket and waits for the end; returns the wait status, or -1 if the worker
 * does not end. */
int peer_stop(struct peer *peer);

/* Returns a sealed descriptor of these bytes. */
int peer_document(struct slice bytes);
/* Returns a JOB with the password; the rest of the field is zero. */
struct pdf_control_job peer_message(uint32_t flags, const char *password);
/* Sends a datagram with descriptors, which stay open here. */
bool peer_send(const struct peer *peer, struct slice datagram, const int *fds, size_t count);
/* Sends a job over the bytes. */
bool peer_send_job(const struct peer *peer, const struct pdf_control_job *message,
                   struct slice bytes, struct peer_job *ret_job);
/* Reads the answer up to its end, at most `size` bytes; returns their number, or -1 if the answer
 * did not end in time. */
ssize_t peer_read_answer(struct peer_job *job, uint8_t *bytes, size_t size);
/* Reads END; returns false if the socket was closed without it, or if nothing arrived in time. */
bool peer_read_end(struct peer_job *job, struct pdf_control_end *ret_end);
void peer_close_job(struct peer_job *job);
/* Waits until the other end of a pipe or socket is closed; returns false if it is not closed in
 * time. */
bool peer_wait_closed(int fd);
/* Waits until there are bytes to read, or the end; returns false if there are none in time. */
bool peer_wait_readable(int fd, int timeout_ms);
/* Returns whether the kernel counts how long a process waits for a processor. */
bool peer_counts_waiting(void);

#endif
