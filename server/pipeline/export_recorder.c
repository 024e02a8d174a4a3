/*
 * export_recorder.c: see export_recorder.h.
 */
#include "server/pipeline/export_recorder.h"

#include "server/domain/admin/organization_transfer.h"
#include "store/base/assert.h"

/* Memory of a request's texts, and of the event. */
#define REQUEST_BYTES_MAX (64u << 10)
#define EVENT_BYTES_MAX (1u << 20)
/* What a write counts in the writer's queue. */
#define QUEUE_BYTES 2000

enum slot_phase {
    SLOT_FREE,
    SLOT_WRITING,
    SLOT_WRITTEN
};

struct slot {
    struct work_request work; /* first; the writer's while WRITING */
    struct export_recorder *recorder;
    enum slot_phase phase;
    bool owned; /* by a stream, between start and release */
    struct arena arena; /* of the request */
    struct export_recorder_request request; /* its texts are in the arena */
    struct arena event_arena; /* emptied before each run */
    struct fault fault;
    struct ctx ctx; /* with that arena */
    enum err result;
};

struct export_recorder {
    struct export_recorder_config config;
    struct slot slots[EXPORT_RECORDER_SLOTS];
};

static void free_slot(struct slot *slot)
{
    slot->phase = SLOT_FREE;
    arena_deinit(&slot->arena);
    arena_deinit(&slot->event_arena);
}

/* Runs on the writer thread, perhaps several times. */
static enum err run(struct work_request *work, struct store_txn *txn)
{
    struct slot *slot = (struct slot *)work;

    return organization_export_begin(work->ctx, txn, &slot->request.actor, slot->request.org,
                                     slot->request.reason, &work->written);
}

static void run_done(struct work_request *work, enum err result)
{
    struct slot *slot = (struct slot *)work;
    struct export_recorder_config config = slot->recorder->config;
    struct org_id caller_org = slot->request.caller_org;
    struct org_id org = slot->request.org;

    slot->result = result;
    slot->phase = SLOT_WRITTEN;
    if (!slot->owned) {
        free_slot(slot);
    }
    config.on_news(config.user, caller_org);
    if (result == OK && !uuid_equal(org.uuid, caller_org.uuid)) {
        config.on_news(config.user, org);
    }
    if (export_recorder_is_idle(slot->recorder)) {
        config.on_idle(config.user);
    }
}

/* Copies the request into the arena. */
static enum err keep_request(struct slot *slot, const struct export_recorder_request *request)
{
    slot->request = *request;
    return arena_copy(&slot->arena, request->actor.user_id, &slot->request.actor.user_id) &&
                   arena_copy(&slot->arena, request->reason, &slot->request.reason)
               ? OK
               : ERR_MEMORY;
}

static enum err start(struct slot *slot, const struct export_recorder_request *request)
{
    enum err err = OK;

    arena_init(&slot->arena, REQUEST_BYTES_MAX);
    arena_init(&slot->event_arena, EVENT_BYTES_MAX);
    fault_init(&slot->fault, &slot->event_arena);
    err = keep_request(slot, request);
    if (err == OK) {
        slot->work = (struct work_request){
            .org = request->org,
            .bytes = QUEUE_BYTES,
            .deadline_us = INT64_MAX,
            .ctx = &slot->ctx,
            .run = run,
            .done = run_done,
        };
        err = writer_submit(slot->recorder->config.writer, &slot->work);
    }
    if (err != OK) {
        free_slot(slot);
        return err;
    }
    slot->phase = SLOT_WRITING;
    slot->owned = true;
    return OK;
}

enum err export_recorder_start(struct export_recorder *recorder,
                               const struct export_recorder_request *request, size_t *ret_slot)
{
    for (size_t i = 0; i < EXPORT_RECORDER_SLOTS; i++) {
        if (recorder->slots[i].phase == SLOT_FREE) {
            *ret_slot = i;
            return start(&recorder->slots[i], request);
        }
    }
    return ERR_BUSY;
}

bool export_recorder_has_ended(const struct export_recorder *recorder, size_t slot,
                               enum err *ret_result, uint64_t *ret_seq)
{
    const struct slot *used = &recorder->slots[slot];

    ASSERT(slot < EXPORT_RECORDER_SLOTS);
    ASSERT(used->owned);
    if (used->phase != SLOT_WRITTEN) {
        return false;
    }
    *ret_result = used->result;
    *ret_seq = used->result == OK ? used->work.written.first_seq : 0;
    return true;
}

void export_recorder_release(struct export_recorder *recorder, size_t slot)
{
    struct slot *used = &recorder->slots[slot];

    ASSERT(slot < EXPORT_RECORDER_SLOTS);
    ASSERT(used->owned);
    used->owned = false;
    if (used->phase == SLOT_WRITTEN) {
        free_slot(used);
    }
}

bool export_recorder_is_idle(const struct export_recorder *recorder)
{
    for (size_t i = 0; i < EXPORT_RECORDER_SLOTS; i++) {
        if (recorder->slots[i].phase == SLOT_WRITING) {
            return false;
        }
    }
    return true;
}

enum err export_recorder_new(struct arena *arena, const struct export_recorder_config *config,
                             struct export_recorder **ret_recorder)
{
    struct export_recorder *recorder = arena_calloc(arena, 1, sizeof(*recorder));

    if (recorder == NULL) {
        return ERR_MEMORY;
    }
    recorder->config = *config;
    for (size_t i = 0; i < EXPORT_RECORDER_SLOTS; i++) {
        struct slot *slot = &recorder->slots[i];

        slot->recorder = recorder;
        slot->ctx = (struct ctx){&slot->event_arena, config->clock, config->random, &slot->fault};
    }
    *ret_recorder = recorder;
    return OK;
}
