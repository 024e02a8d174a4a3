/*
 * document_jobs.h: the functions by which methods have a PDF measured: the app provides them
 * (implemented by server/jobs/pdf), tests provide their own.
 *
 * A job is the processing of one document: its bytes are appended (stored once, in memory that is
 * limited for the whole server and for each organisation), then it is submitted and waits, and
 * `work` runs on a thread of the pool, where it may call `measure` once. Owned by the call that
 * opened it, until close.
 */
#ifndef ERRATA_SERVER_PIPELINE_DOCUMENT_JOBS_H
#define ERRATA_SERVER_PIPELINE_DOCUMENT_JOBS_H

#include "server/jobs/pdf/answer/pdf_answer.h"
#include "store/base/sha256.h"
#include "store/key.h"

struct document_job; /* data of the implementor */

/* The parameters of a measurement. */
struct document_request {
    struct slice password; /* or empty */
    bool with_text; /* of all pages: answer.pages */
};

/* The result of measuring. Slices are in the arena that measure was given. */
struct document_measured {
    struct sha256_digest sha256; /* hash of the bytes */
    uint64_t size_bytes;
    struct pdf_answer answer;
};

struct document_jobs {
    void *user;
    /* Opens a job; call it on the loop. ERR_UNAVAILABLE if no worker is running or about to run,
     * ERR_BUSY if the limit of the organisation or of the server is reached, ERR_MEMORY. */
    enum err (*open)(void *user, struct org_id org, struct document_job **ret_job);
    /* Reserves room for `size` more bytes, before append. On the loop, before submit. ERR_TOO_LARGE
     * above PDF_DOCUMENT_BYTES_MAX, ERR_BUSY if there is no room for them now. */
    enum err (*reserve)(struct document_job *job, size_t size);
    /* Appends the next bytes, for which room was reserved. On the loop before submit, or in `work`
     * before measure. ERR_MEMORY, ERR_INTERNAL. */
    enum err (*append)(struct document_job *job, struct slice bytes);
    /* Queues the job: `work` runs on the pool when it is the job's turn, then `done` on the loop,
     * never inside this call. `work` did not run if `done` reports ERR_CANCELLED (it was cancelled
     * before), ERR_UNAVAILABLE (no worker was running or about to run) or ERR_MEMORY. ERR_BUSY if
     * the queue is full; then neither runs. */
    enum err (*submit)(struct document_job *job, void (*work)(void *user),
                       void (*done)(void *user, enum err result), void *user);
    /* Call within `work`: blocks until the worker has answered or is stopped. ERR_CANCELLED after
     * cancel; ERR_UNAVAILABLE if it was not measured for a reason outside of the document;
     * ERR_MEMORY. For a defect of the document returns OK, with a reason in the answer. */
    enum err (*measure)(struct document_job *job, const struct document_request *request,
                        struct arena *arena, struct document_measured *ret_measured);
    /* Makes the job end soon. On the loop, at any time; may be called twice. */
    void (*cancel)(struct document_job *job);
    /* Closes the job; call it on the loop, but not between submit and done. */
    void (*close)(struct document_job *job);
};

#endif
