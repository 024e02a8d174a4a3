/*
 * export_recorder.h: records exports of organisations before anything of them is sent: the method of the export streams and
 * reads, and has no write of its own. A component of the loop. Each export has a slot from start to release; a stream that
 * ends earlier releases it at once, and its write still completes.
 *   FREE --start--> WRITING --> WRITTEN --release--> FREE
 *                   WRITING --release--> (its write completes) --> FREE
 */
#ifndef ERRATA_SERVER_PIPELINE_EXPORT_RECORDER_H
#define ERRATA_SERVER_PIPELINE_EXPORT_RECORDER_H

#include "server/domain/admin/admin.h"
#include "store/work.h"

/* Exports that are being recorded at the same time; a write takes milliseconds. */
#define EXPORT_RECORDER_SLOTS 16

struct export_recorder;

struct export_recorder_config {
    struct writer *writer;
    const struct clock *clock;
    struct random *random;
    /* A write has ended; `org` is that of the stream, or that of the log that was written to. Never inside a call of this
     * header. */
    void (*on_news)(void *user, struct org_id org);
    void (*on_idle)(void *user); /* nothing is running any more */
    void *user;
};

/* What to record. Everything is borrowed for the duration of export_recorder_start. */
struct export_recorder_request {
    struct org_id caller_org;
    struct org_id org; /* the exported organisation */
    struct admin_actor actor;
    struct slice reason;
};

/* The only error is ERR_MEMORY. */
MUST_CHECK enum err export_recorder_new(struct arena *arena,
                                        const struct export_recorder_config *config,
                                        struct export_recorder **ret_recorder);
/* Call it, like all functions here, on the loop. ERR_BUSY without a free slot, or if the writer refuses; ERR_MEMORY. */
MUST_CHECK enum err export_recorder_start(struct export_recorder *recorder,
                                          const struct export_recorder_request *request,
                                          size_t *ret_slot);
/* Returns whether the write of a slot has ended, with its result and the number of its event. */
bool export_recorder_has_ended(const struct export_recorder *recorder, size_t slot,
                               enum err *ret_result, uint64_t *ret_seq);
/* Call it once for each successful start. */
void export_recorder_release(struct export_recorder *recorder, size_t slot);
bool export_recorder_is_idle(const struct export_recorder *recorder);

#endif
