/*
 * pdf_worker.h: the server's side of the worker program: starts its fork server, and has documents
 * measured by it; blocking, from any thread. No libuv: pdf_jobs.h uses it on the loop and the pool,
 * and `errata layouts explain` directly. All answers of the worker are checked; a worker that is
 * late fails only its own job.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_WORKER_H
#define ERRATA_SERVER_JOBS_PDF_PDF_WORKER_H

#include "server/jobs/pdf/answer/pdf_answer.h"
#include "server/jobs/pdf/pdf_control.h"
#include "store/base/fault.h"
#include "store/base/sha256.h"

#include <stdatomic.h>
#include <sys/types.h>

/* The worker program's name; by default it is in the folder of the program that starts it. */
#define PDF_WORKER_PROGRAM "errata-pdf-worker"
/* Time for a fork server to become ready: a cold machine builds its font cache first. */
#define PDF_READY_MS 15000
/* Time for a fork server to end itself and its children before it is killed. */
#define PDF_STOP_MS 2000
/* Time beyond PDF_WALL_MS for the fork server to report that it stopped a child. */
#define PDF_WALL_GRACE_MS 2000
/* Children run in the idle class. One that was stopped at PDF_WALL_MS after waiting for a processor
 * this long was starved by other processes: without the waiting, only the limit of processor time
 * would have applied. Its answer is marked `starved`: the document may be measured later. */
#define PDF_STARVED_WAITED_US ((uint64_t)(PDF_WALL_MS / 1000 - PDF_CPU_SECONDS) * 1000000)
/* If the system does not report waiting times: a child that was stopped before its text is
 * complete, and used less CPU time than this, counts as starved. */
#define PDF_STARVED_CPU_US 1000000

/* A document's bytes, written once: a memfd that is sealed before the worker sees it. Not
 * thread-safe. */
struct pdf_bytes {
    int fd; /* -1: none */
    uint64_t size;
};

MUST_CHECK enum err pdf_bytes_open(struct pdf_bytes *bytes);
MUST_CHECK enum err pdf_bytes_append(struct pdf_bytes *bytes, struct slice more);
/* Ends writing: the bytes cannot be changed afterwards. May take up to 3 s, on the pool's thread.
 * Returns ERR_UNAVAILABLE if the kernel holds pages of them longer. */
MUST_CHECK enum err pdf_bytes_seal(struct pdf_bytes *bytes);
/* Hashes all bytes, after sealing. */
MUST_CHECK enum err pdf_bytes_hash(const struct pdf_bytes *bytes, struct sha256_digest *ret_sha256);
/* Accepts a struct whose fd is -1. */
void pdf_bytes_close(struct pdf_bytes *bytes);

/* Stops a job from another thread. */
struct pdf_cancel {
    atomic_bool cancelled;
    int fd; /* an eventfd, readable once cancelled; -1: none */
};

MUST_CHECK enum err pdf_cancel_open(struct pdf_cancel *cancel);
/* Sets the flag. May be called from any thread, and more than once. */
void pdf_cancel_set(struct pdf_cancel *cancel);
void pdf_cancel_close(struct pdf_cancel *cancel);

/* A fork server. */
struct pdf_worker {
    pid_t pid; /* process id; 0: none */
    int control; /* control socket, close-on-exec, non-blocking until READY; -1: none */
    /* Members set by READY. */
    enum pdf_sandbox sandbox;
    char poppler_version[32]; /* printable; terminated by NUL */
    /* Set when it was stopped: its status as of waitpid, and whether it had to be killed. */
    int status;
    bool killed;
};

/* Returns the worker program's default path: in the folder of the running program. False if that is
 * unknown, or longer than `size` bytes with a NUL. */
bool pdf_worker_find_program(char *ret_path, size_t size);
/* Starts `program`, which inherits only its control socket and standard error, in a separate
 * process group (so that a terminal's Ctrl-C does not reach it). Does not wait for READY.
 * ERR_UNAVAILABLE with a message if it cannot be started. */
MUST_CHECK enum err pdf_worker_start(const char *program, struct fault *fault,
                                     struct pdf_worker *ret_worker);
/* Reads READY if it has arrived (the control socket is readable): OK; ERR_NOT_FOUND if not;
 * ERR_UNAVAILABLE if the worker must be stopped: with a message if it sent something else or has
 * another version, without one if it has ended (see pdf_worker_end_text). */
MUST_CHECK enum err pdf_worker_read_ready(struct pdf_worker *worker, struct fault *fault);
/* Does both, waiting up to `timeout_ms`. On failure nothing remains. */
MUST_CHECK enum err pdf_worker_start_ready(const char *program, unsigned timeout_ms,
                                           struct fault *fault, struct pdf_worker *ret_worker);
/* Ends the worker and its children, and waits for it; kills it after PDF_STOP_MS. A worker of pid 0
 * is allowed. */
void pdf_worker_stop(struct pdf_worker *worker);
/* Does the same with another time before it is killed. */
void pdf_worker_stop_within(struct pdf_worker *worker, unsigned grace_ms);
/* Returns how a stopped worker had ended, such as "it exited with status 127". */
struct slice pdf_worker_end_text(const struct pdf_worker *worker, struct arena *arena);

struct pdf_request {
    int control; /* control socket of the fork server; the caller keeps it open during the job */
    const struct pdf_bytes *bytes; /* sealed */
    struct slice password; /* at most PDF_PASSWORD_BYTES_MAX */
    uint32_t flags; /* PDF_JOB_EXPLAIN, PDF_JOB_PICTURE, PDF_JOB_TEXT */
    uint32_t timeout_ms; /* 0: PDF_WALL_MS and PDF_WALL_GRACE_MS */
    struct pdf_cancel *cancel; /* flag for cancelling; or NULL */
};

/* Measures a document; returns within the request's timeout. OK: an answer is allocated in the
 * arena, which may be a refusal, or the partial answer about a starved document, which is marked.
 * ERR_CANCELLED. ERR_UNAVAILABLE: not measured for a reason outside of the document (no process or
 * no memory); the document may be sent again. ERR_INTERNAL: the fork server failed (it hangs, has
 * ended, or violates the protocol) and must be stopped. ERR_MEMORY. */
MUST_CHECK enum err pdf_worker_measure(const struct pdf_request *request, struct arena *arena,
                                       struct pdf_answer *ret_answer);

#endif
