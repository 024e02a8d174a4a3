/*
 * pdf_worker.h: the server's side of the worker program: starts its fork server, and has documents
 * measured by it, blocking, from any thread. Knows no libuv: pdf_jobs.h puts it on the loop and the
 * pool, and `errata layouts explain` uses it as it is. Whatever the worker answers is checked; whatever
 * it does not do in time costs its own job alone.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_WORKER_H
#define ERRATA_SERVER_JOBS_PDF_PDF_WORKER_H

#include "server/jobs/pdf/answer/pdf_answer.h"
#include "server/jobs/pdf/pdf_control.h"
#include "store/base/fault.h"
#include "store/base/sha256.h"

#include <stdatomic.h>
#include <sys/types.h>

/* The worker program's name; it is beside the program that starts it, unless told otherwise. */
#define PDF_WORKER_PROGRAM "errata-pdf-worker"
/* A fork server is ready by then or counts as failed: a cold machine builds its font cache first. */
#define PDF_READY_MS 15000
/* A fork server that was told to end, and first ends its children, has so long before it is killed. */
#define PDF_STOP_MS 2000
/* Beyond PDF_WALL_MS, the fork server has so long to say that it stopped a child. */
#define PDF_WALL_GRACE_MS 2000
/* Children run when the machine has nothing else to do. One that was stopped at PDF_WALL_MS after
 * it had was in line for a processor so long was stopped by others' work: without the waiting, the
 * limit of processor time alone would have decided. Such an answer is marked (`starved`): the
 * document may be measured later. */
#define PDF_STARVED_WAITED_US ((uint64_t)(PDF_WALL_MS / 1000 - PDF_CPU_SECONDS) * 1000000)
/* Where the system does not tell who waited: one that was stopped before the text with less of the
 * processor than this. */
#define PDF_STARVED_CPU_US 1000000

/* A document's bytes, written once: a memfd that is sealed before the worker sees it. Not for two
 * threads at once. */
struct pdf_bytes {
    int fd; /* -1: none */
    uint64_t size;
};

MUST_CHECK enum err pdf_bytes_open(struct pdf_bytes *bytes);
MUST_CHECK enum err pdf_bytes_append(struct pdf_bytes *bytes, struct slice more);
/* No more bytes: from here on they cannot be changed. May take up to 3 s, on the pool's thread.
 * ERR_UNAVAILABLE if the kernel holds pages of them for that long. */
MUST_CHECK enum err pdf_bytes_seal(struct pdf_bytes *bytes);
/* Reads them all, once they are sealed. */
MUST_CHECK enum err pdf_bytes_hash(const struct pdf_bytes *bytes, struct sha256_digest *ret_sha256);
/* Takes bytes whose fd is -1. */
void pdf_bytes_close(struct pdf_bytes *bytes);

/* Stops a job from another thread. */
struct pdf_cancel {
    atomic_bool cancelled;
    int fd; /* an eventfd, readable once cancelled; -1: none */
};

MUST_CHECK enum err pdf_cancel_open(struct pdf_cancel *cancel);
/* From any thread; twice is once. */
void pdf_cancel_set(struct pdf_cancel *cancel);
void pdf_cancel_close(struct pdf_cancel *cancel);

/* A fork server. */
struct pdf_worker {
    pid_t pid; /* 0: none */
    int control; /* its control socket, close-on-exec, non-blocking for READY; -1: none */
    /* As READY told. */
    enum pdf_cage cage;
    char poppler_version[32]; /* with a NUL; printable */
    /* Once it was stopped: how it ended, as waitpid tells, and whether it had to be killed. */
    int status;
    bool killed;
};

/* Where the worker program is unless told otherwise: beside the running program. False if that is
 * not known, or is too long for `size` bytes with a NUL. */
bool pdf_worker_find_program(char *ret_path, size_t size);
/* Starts `program` with no descriptor but its own and standard error, in a process group
 * of its own (a terminal's Ctrl-C is for us alone). Does not wait for READY. ERR_UNAVAILABLE with a
 * message where it can't be started. */
MUST_CHECK enum err pdf_worker_start(const char *program, struct fault *fault,
                                     struct pdf_worker *ret_worker);
/* Reads READY where it has come (the control socket is readable): OK; ERR_NOT_FOUND if it has not;
 * ERR_UNAVAILABLE if it is to be stopped: with a message where it says something else or is of
 * another version, without one where it has ended (pdf_worker_end_text will say how). */
MUST_CHECK enum err pdf_worker_read_ready(struct pdf_worker *worker, struct fault *fault);
/* The two together, for those who can wait: up to `timeout_ms`. Where it fails nothing is left. */
MUST_CHECK enum err pdf_worker_start_ready(const char *program, unsigned timeout_ms,
                                           struct fault *fault, struct pdf_worker *ret_worker);
/* Ends it and its children, and waits for it, killing it after PDF_STOP_MS; a worker of pid 0 is
 * fine. */
void pdf_worker_stop(struct pdf_worker *worker);
/* The same with another time before it is killed. */
void pdf_worker_stop_within(struct pdf_worker *worker, unsigned grace_ms);
/* Says how a worker that was stopped had ended, such as "it ended with status 127". */
struct slice pdf_worker_end_text(const struct pdf_worker *worker, struct arena *arena);

struct pdf_request {
    int control; /* the fork server's; stays open during the job (the caller's to see to) */
    const struct pdf_bytes *bytes; /* sealed */
    struct slice password; /* at most PDF_PASSWORD_BYTES_MAX */
    uint32_t flags; /* PDF_JOB_EXPLAIN, PDF_JOB_PICTURE */
    uint32_t timeout_ms; /* 0: PDF_WALL_MS and PDF_WALL_GRACE_MS */
    struct pdf_cancel *cancel; /* or NULL */
};

/* Has a document measured; returns within the request's timeout, whatever the worker does. OK with
 * an answer in the arena: also a reason for refusal, and what there is of a document that was
 * starved, which is marked; ERR_CANCELLED; ERR_UNAVAILABLE if it could not be measured now, for a
 * reason that is not the document's (no process could be started for it, or the machine had no
 * memory for it): it may be sent again; ERR_INTERNAL if the fork server itself fails (it hangs, has
 * ended, or breaks the protocol) and is to be stopped; ERR_MEMORY. */
MUST_CHECK enum err pdf_worker_measure(const struct pdf_request *request, struct arena *arena,
                                       struct pdf_answer *ret_answer);

#endif
