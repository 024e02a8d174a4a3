/*
 * document_jobs.h: how methods that take a PDF have it measured, without knowing how that is done:
 * the app gives the services these functions (implemented by server/jobs/pdf), tests give their own.
 *
 * A job is one document on its way: its bytes are appended (held once, in memory that is bounded for
 * the whole server and for each organisation), then it is submitted, waits for its turn, and `work`
 * runs on a thread of the pool, where it may call `measure`, once. Owned by the call that opened it,
 * until close.
 */
#ifndef ERRATA_SERVER_PIPELINE_DOCUMENT_JOBS_H
#define ERRATA_SERVER_PIPELINE_DOCUMENT_JOBS_H

#include "server/jobs/pdf/answer/pdf_answer.h"
#include "store/base/sha256.h"
#include "store/key.h"

struct document_job; /* the implementor's */

/* What to measure with. */
struct document_request {
    struct slice password; /* or empty */
    bool with_text; /* of all pages: answer.pages */
};

/* The result of measuring. Slices live in the arena that measure was given. */
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
    /* Takes room for `size` more bytes, ahead of append. On the loop, before submit.
     * ERR_TOO_LARGE over PDF_DOCUMENT_BYTES_MAX, ERR_BUSY when there is no room for them now. */
    enum err (*reserve)(struct document_job *job, size_t size);
    /* Keeps the next bytes, for which room was taken. On the loop before submit, or in `work` before
     * measure. ERR_MEMORY, ERR_INTERNAL. */
    enum err (*append)(struct document_job *job, struct slice bytes);
    /* Queues it: `work` runs on the pool in its turn, then `done` on the loop, never inside this
     * call. `work` did not run where `done` reports ERR_CANCELLED (cancel came first), ERR_UNAVAILABLE
     * (no worker was there, or soon would be) or ERR_MEMORY. ERR_BUSY when the queue is full: neither
     * runs. */
    enum err (*submit)(struct document_job *job, void (*work)(void *user),
                       void (*done)(void *user, enum err result), void *user);
    /* Within `work`: blocks until the worker has answered or is stopped. ERR_CANCELLED after cancel;
     * ERR_UNAVAILABLE where it was not measured for a reason that is not the document's; ERR_MEMORY.
     * Every fault of the document's own is OK with a reason in the answer. */
    enum err (*measure)(struct document_job *job, const struct document_request *request,
                        struct arena *arena, struct document_measured *ret_measured);
    /* On the loop, at any time: it ends soon. Twice is once. */
    void (*cancel)(struct document_job *job);
    /* Closes the job; call it on the loop, but not between submit and done. */
    void (*close)(struct document_job *job);
};

#endif
