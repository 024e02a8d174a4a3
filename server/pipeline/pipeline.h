/*
 * pipeline.h: what is between calls and methods. Makes the handlers that the protocols deliver
 * calls to (server/call/call.h), and takes each call through who may call, decoding, preparing, its
 * transaction, and its status, by the tables that are generated from the contract. No sockets and
 * no libuv: the pool and the turn of the loop are asked for through two callbacks. Belongs to the
 * loop's thread; what runs elsewhere is said in rpc.h.
 */
#ifndef ERRATA_SERVER_PIPELINE_PIPELINE_H
#define ERRATA_SERVER_PIPELINE_PIPELINE_H

#include "server/auth/auth.h"
#include "server/call/call.h"
#include "server/pipeline/backup_jobs.h"
#include "server/pipeline/document_jobs.h"
#include "server/pipeline/env.h"
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
/* Reads on the pool at once: each has a thread that is kept for it, and holds a snapshot: one of the
 * store's places for readers, and pages that can't be used again meanwhile. */
#define PIPELINE_POOL_READS_MAX 2
/* Reads that wait for the pool, of which an organisation has half at most: at a few milliseconds each,
 * what two threads do in a second. */
#define PIPELINE_POOL_READS_WAITING_MAX 256
/* Arenas kept for the next calls: about as many as a batch has requests. */
#define PIPELINE_ARENAS_MAX 256
/* Streams at once, of all organisations: each keeps a connection's stream busy for long. */
#define PIPELINE_STREAMS_MAX 4096
/* Streams served in one turn of the loop, and messages of each: 1,000 watchers that wake at once
 * take some 60 turns, between which lookups are answered. */
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
    /* Runs `work` on the pool, then `done` on the loop; ERR_BUSY when the pool's queue is full. */
    enum err (*run_on_pool)(void *user, void (*work)(void *job), void (*done)(void *job, enum err),
                            void *job);
    /* The same in a place of the pool that is kept for reads: it begins at once. At most
     * PIPELINE_POOL_READS_MAX are under way. */
    enum err (*run_read)(void *user, void (*work)(void *job), void (*done)(void *job, enum err),
                         void *job);
    /* Asks for pipeline_turn at the next turn of the loop. */
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
/* Serves streams that have something to send; true where more are left for the next turn. */
bool pipeline_turn(struct pipeline *pipeline);
/* Wakes the waiting streams of an organisation, after a commit to its log or another event that
 * they wait for. */
void pipeline_wake(struct pipeline *pipeline, struct org_id org);
/* Wakes only the stream of the verification, since its state changes many times per second. */
void pipeline_wake_verify(struct pipeline *pipeline, struct org_id org);
/* The same of the backup. */
void pipeline_wake_backup(struct pipeline *pipeline, struct org_id org);
/* The backup has failed: its stream has its turn even if its peer does not read. */
void pipeline_end_backup(struct pipeline *pipeline);
/* Lets go of the snapshot that the reads of this turn shared; to be called before the loop waits. */
void pipeline_end_turn(struct pipeline *pipeline);
/* Sets a part's health, and notifies those who watch it. */
void pipeline_set_health(struct pipeline *pipeline, enum health_part part,
                         enum health_status status);
/* Compares the event log with the clock: sets the health of "errata.clock", and has the log say what
 * changed. To be called now and then. */
void pipeline_check_clock(struct pipeline *pipeline);
/* Ends the streams of expired tokens; call it from time to time. */
void pipeline_end_expired(struct pipeline *pipeline);
/* Refuses new calls and ends streamed answers once they have caught up; unary calls and streamed
 * requests go on. */
void pipeline_drain(struct pipeline *pipeline);
/* Calls that have not ended. */
size_t pipeline_live_count(const struct pipeline *pipeline);

#endif
