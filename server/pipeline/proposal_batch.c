/*
 * proposal_batch.c: see proposal_batch.h. Organisations that have general clusters or guidelines, and are not suspended, are taken one after the other; a step
 * that fails ends the batch, and the next one begins again.
 */
#include "server/pipeline/proposal_batch.h"

#include "server/domain/admin/organization_state.h"
#include "store/base/assert.h"
#include "store/base/logger.h"

/* Memory of a step: a cluster's members with their diffs, and the rules with which its rule is compared. */
#define STEP_BYTES_MAX (256u << 20)
/* Size of a step in the writer's queue. */
#define STEP_QUEUE_BYTES 1000

static void submit(struct proposal_batch *batch);

/* Finds the next organisation that has general clusters, or guidelines. */
static enum err read_next_owner(struct store_txn *txn, const struct uuid *after,
                                struct uuid *ret_org)
{
    struct uuid org = {.bytes = {0}};
    enum err err = store_next_org(txn, TABLE_DECISION_HIGH, after, ret_org);
    enum err other = store_next_org(txn, TABLE_GUIDELINE, after, &org);

    if (other == OK && (err == ERR_NOT_FOUND ||
                        (err == OK && memcmp(org.bytes, ret_org->bytes, UUID_BYTES) < 0))) {
        *ret_org = org;
        return OK;
    }
    return other != OK && other != ERR_NOT_FOUND ? other : err;
}

/* Finds the next of these that is not suspended. */
static enum err read_next_org(struct store_txn *txn, const struct uuid *after, struct uuid *ret_org)
{
    const struct uuid *before = after;
    bool is_suspended = true;
    enum err err = OK;

    while (err == OK && is_suspended) {
        err = read_next_owner(txn, before, ret_org);
        if (err == OK) {
            err = organization_state_is_suspended(txn, (struct org_id){.uuid = *ret_org},
                                                  &is_suspended);
        }
        before = ret_org;
    }
    return err;
}

/* Moves to the next organisation; false after the last. */
static bool find_next_org(struct proposal_batch *batch, const struct uuid *after)
{
    struct generation_batch position = {.before_seq = 0};
    struct store_txn *txn = NULL;
    enum err err = store_begin(batch->backend, STORE_READ, &txn);

    if (err == OK) {
        err = read_next_org(txn, after, &position.org.uuid);
        store_abort(txn);
    }
    batch->position = position;
    return err == OK;
}

/* This may run several times, and starts from the position each time. */
static enum err run_step(struct work_request *work, struct store_txn *txn)
{
    struct proposal_batch *batch = (struct proposal_batch *)work;
    uint64_t seq = 0;
    enum err err = OK;

    batch->next = batch->position;
    err = generation_step(work->ctx, txn, &batch->next, &seq);
    work->written.first_seq = seq;
    work->written.count = err == OK && seq != 0 ? 1 : 0;
    return err;
}

static void step_done(struct work_request *work, enum err result)
{
    struct proposal_batch *batch = (struct proposal_batch *)work;
    struct uuid org = batch->position.org.uuid;
    bool goes_on = false;

    ASSERT(batch->running);
    if (result == OK) {
        batch->drafted += batch->position.has_clusters_ended ? 0 : work->written.count;
        batch->position = batch->next;
        goes_on = !batch->next.has_ended || find_next_org(batch, &org);
    } else {
        logger_printf(LOGGER_WARNING, "proposals were not generated (%s)", err_name(result));
    }
    batch->running = false;
    if (goes_on) {
        submit(batch);
    }
}

static void submit(struct proposal_batch *batch)
{
    batch->work = (struct work_request){
        .org = batch->position.org,
        .bytes = STEP_QUEUE_BYTES,
        .deadline_us = INT64_MAX,
        .ctx = &batch->ctx,
        .run = run_step,
        .done = step_done,
    };
    batch->running =
        writer_submit(batch->writer, &batch->work) == OK; /* otherwise the next timer does */
}

void proposal_batch_init(struct proposal_batch *batch, struct store_backend *backend,
                         struct writer *writer, const struct clock *clock, struct random *random)
{
    *batch = (struct proposal_batch){.backend = backend, .writer = writer};
    arena_init(&batch->arena, STEP_BYTES_MAX);
    fault_init(&batch->fault, &batch->arena);
    batch->ctx = (struct ctx){&batch->arena, clock, random, &batch->fault};
}

void proposal_batch_start(struct proposal_batch *batch)
{
    if (!batch->running && find_next_org(batch, NULL)) {
        submit(batch);
    }
}

void proposal_batch_deinit(struct proposal_batch *batch)
{
    if (batch->backend == NULL) {
        return;
    }
    ASSERT(!batch->running);
    arena_deinit(&batch->arena);
    batch->backend = NULL;
}
