/*
 * pipeline.h: the layer between calls and methods. Provides the handlers to which the protocols
 * deliver calls (server/call/call.h), and performs for each call, by the tables generated from the
 * contract: authorisation, decoding, preparation, its transaction, and its status. No sockets and
 * no libuv: it uses the pool and the loop through callbacks. Used on the loop's thread; rpc.h
 * states what runs on other threads.
 */
#ifndef ERRATA_SERVER_PIPELINE_PIPELINE_H
#define ERRATA_SERVER_PIPELINE_PIPELINE_H

#include "server/auth/auth.h"
#include "server/call/call.h"
#include "server/call/plain.h"
#include "server/pipeline/backup_jobs.h"
#include "server/pipeline/document_jobs.h"
#include "server/pipeline/env.h"
#include "server/pipeline/eraser.h"
#include "server/pipeline/export_recorder.h"
#include "server/pipeline/verify_jobs.h"

/* Bodies above this are checked, decoded and prepared on the pool: a bare scan of 10 MB takes 16 ms. */
#define PIPELINE_INLINE_BYTES_MAX (128 * 1024)
/* Memory limit for decoding and preparing one request: protobuf-c can expand a small message
 * considerably. */
#define PIPELINE_STAGE_BYTES_MAX (192u << 20)
/* Memory limit of one write on the writer thread, including its response. */
#define PIPELINE_WRITE_BYTES_MAX (64u << 20)
/* Memory limit of one turn of a stream, whose messages are already in the connection's buffers. */
#define PIPELINE_TURN_BYTES_MAX (8u << 20)
/* Memory limit of one read on the pool, including its response. */
#define PIPELINE_READ_BYTES_MAX (64u << 20)
/* Maximum concurrent reads on the pool. Each has a reserved thread and holds a snapshot: one of the
 * store's slots for readers, and pages that cannot be reused meanwhile. */
#define PIPELINE_POOL_READS_MAX 2
/* Maximum reads that wait for the pool, at most half of them of one organisation: at a few
 * milliseconds each, the work of two threads in a second. */
#define PIPELINE_POOL_READS_WAITING_MAX 256
/* Maximum arenas kept for reuse: about as many as a batch has requests. */
#define PIPELINE_ARENAS_MAX 256
/* Maximum concurrent streams of all organisations; each occupies a connection's stream for long. */
#define PIPELINE_STREAMS_MAX 4096
/* Maximum streams served in one turn of the loop, and messages of each: 1,000 watchers that wake at
 * once take about 60 turns, between which lookups are answered. */
#define PIPELINE_TURN_STREAMS_MAX 16
#define PIPELINE_TURN_MESSAGES_MAX 32
/* A call that takes longer than this is logged. */
#define PIPELINE_SLOW_US 1000000

struct pipeline;

struct pipeline_config {
    struct store_backend *backend;
    struct writer *writer;
    struct auth *auth;
    struct service_env *env;
    const struct clock *clock;
    struct random *random; /* may be used on any thread */
    const struct document_jobs *documents; /* NULL: no PDF worker is configured */
    const struct verify_jobs *verify; /* NULL: this server verifies nothing */
    const struct backup_jobs *backup; /* NULL: this server makes no backups */
    struct eraser *eraser; /* NULL: this server erases nothing */
    struct export_recorder *exports; /* NULL: this server exports nothing */
    /* Runs `work` on the pool, then `done` on the loop; ERR_BUSY if the pool's queue is full. */
    enum err (*run_on_pool)(void *user, void (*work)(void *job), void (*done)(void *job, enum err),
                            void *job);
    /* Does the same in a slot of the pool that is reserved for reads, where it begins at once. At
     * most PIPELINE_POOL_READS_MAX run at a time. */
    enum err (*run_read)(void *user, void (*work)(void *job), void (*done)(void *job, enum err),
                         void *job);
    /* Requests a call of pipeline_turn at the next turn of the loop. */
    void (*want_turn)(void *user);
    void *user;
};

/* Memory comes from `arena`, which outlives the services. */
MUST_CHECK enum err pipeline_new(struct arena *arena, const struct pipeline_config *config,
                                 struct pipeline **ret_pipeline);
/* Frees the pipeline, which must not have live calls. NULL is allowed. */
void pipeline_free(struct pipeline *pipeline);
/* Returns the handlers to which the protocols deliver calls. */
const struct call_handlers *pipeline_handlers(struct pipeline *pipeline);
/* Serves streams that have something to send; returns whether more are left for the next turn. */
bool pipeline_turn(struct pipeline *pipeline);
/* Wakes the waiting streams of an organisation, after a commit to its log or another event that
 * they wait for. */
void pipeline_wake(struct pipeline *pipeline, struct org_id org);
/* Wakes only the stream of the verification, since its state changes many times per second. */
void pipeline_wake_verify(struct pipeline *pipeline, struct org_id org);
/* Wakes only the stream of the backup. */
void pipeline_wake_backup(struct pipeline *pipeline, struct org_id org);
/* Reports that the backup has failed: its stream gets a turn even if its peer does not read. */
void pipeline_end_backup(struct pipeline *pipeline);
/* Releases the snapshot that the reads of this turn shared; call it before the loop waits. */
void pipeline_end_turn(struct pipeline *pipeline);
/* Sets a part's health, and notifies its watchers. */
void pipeline_set_health(struct pipeline *pipeline, enum health_part part,
                         enum health_status status);
/* Compares the event log with the clock: sets the health of "errata.clock", and logs changes. Call
 * it periodically. */
void pipeline_check_clock(struct pipeline *pipeline);
/* Ends the streams of tokens that expired or were revoked, or whose organisation was suspended, even
 * if their peers read nothing; call it periodically. */
void pipeline_end_expired(struct pipeline *pipeline);
/* Refuses new calls and ends streamed responses once they have caught up; unary calls and streamed
 * requests continue. */
void pipeline_drain(struct pipeline *pipeline);
/* Checks that a plain request has a token with the `server` flag. ERR_UNAUTHENTICATED, which is
 * counted as for calls, or ERR_DENIED, with a message in `fault`. */
MUST_CHECK enum err pipeline_admit_server(struct pipeline *pipeline,
                                          const struct plain_request *request, struct fault *fault);
/* Returns the role of a plain request's token. ERR_UNAUTHENTICATED, which is counted as for calls,
 * with a message in `fault`. */
MUST_CHECK enum err pipeline_find_role(struct pipeline *pipeline,
                                       const struct plain_request *request, struct fault *fault,
                                       uint32_t *ret_role);
/* Returns the number of calls that have not ended. */
size_t pipeline_live_count(const struct pipeline *pipeline);

#endif
