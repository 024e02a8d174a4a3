/*
 * eraser.c: see eraser.h.
 */
#include "server/pipeline/eraser.h"

#include "server/auth/auth.h"
#include "store/base/assert.h"
#include "store/base/logger.h"

#include <inttypes.h>
#include <stdio.h>

/* Memory of a request's texts and ids, and of a fault. */
#define REQUEST_BYTES_MAX (1u << 20)
/* Memory of a step: its list of events, and the event that it appends. Each listed event is decoded in memory of its own. */
#define STEP_BYTES_MAX (64u << 20)
/* Cost of a step in the writer's queue. */
#define STEP_QUEUE_BYTES 1000

enum eraser_phase {
    ERASER_IDLE,
    ERASER_FINDING,
    ERASER_WRITING,
    ERASER_ENDING,
    ERASER_ENDED
};

struct eraser {
    struct work_request work; /* first; the writer's while WRITING */
    struct eraser_config config;
    enum eraser_phase phase;
    bool owned; /* a stream owns it, between start and cancel */
    struct arena arena; /* of the request */
    struct fault fault;
    struct ctx ctx; /* with that arena; the pool's while FINDING */
    struct arena step_arena; /* emptied before each step */
    struct fault step_fault;
    struct ctx step_ctx;
    struct eraser_request request; /* its texts and ids are in the arena */
    struct erasure_target target; /* the pool's while FINDING */
    struct erasure_search search; /* likewise */
    bool has_target; /* likewise; organisation, ids and end of the log are found */
    enum err found; /* result of the pool */
    struct eraser_state state;
};

/* --- the pool --- */

/* Finds organisation, ids and end of the log. */
static enum err find_target(struct eraser *eraser, struct store_txn *txn)
{
    const struct eraser_request *request = &eraser->request;
    struct erasure_target *target = &eraser->target;
    struct log_head head;
    size_t index = 0;
    enum err err = auth_resolve_org(&eraser->ctx, txn, request->caller_org, request->is_server,
                                    request->org_id, &target->org);

    if (err == OK) {
        err = log_read_head(txn, target->org, &head);
    }
    if (err != OK) {
        return err;
    }
    eraser->has_target = true;
    eraser->search.until_seq = head.last_seq;
    if (target->subject != ERASURE_OF_EVENTS) {
        return OK;
    }
    err = erasure_find_ids(&eraser->arena, txn, target, request->event_ids, request->event_id_count,
                           &index);
    if (err == OK) {
        eraser->search.until_seq = target->seqs[target->seq_count - 1];
    }
    return err != ERR_NOT_FOUND
               ? err
               : fault_say(&eraser->fault, ERR_NOT_FOUND,
                           "event_ids[%zu]: not found in this organisation; expected the id of a "
                           "stored event",
                           index);
}

static void find_work(void *job)
{
    struct eraser *eraser = (struct eraser *)job;
    struct store_txn *txn = NULL;
    enum err err = store_begin(eraser->config.backend, STORE_READ, &txn);

    if (err == OK && !eraser->has_target) {
        err = find_target(eraser, txn);
    }
    if (err == OK) {
        err = erasure_find(&eraser->ctx, txn, &eraser->target, &eraser->search);
    }
    store_abort(txn);
    eraser->found = err;
}

static void settle_work(void *job)
{
    struct eraser *eraser = (struct eraser *)job;

    eraser->found = eraser->config.settle(eraser->config.user);
}

/* --- the loop --- */

static void become_idle(struct eraser *eraser)
{
    eraser->phase = ERASER_IDLE;
    arena_deinit(&eraser->arena);
    arena_deinit(&eraser->step_arena);
    eraser->config.on_idle(eraser->config.user);
}

/* Reports a change to the stream. */
static void report(struct eraser *eraser)
{
    eraser->state.version++;
    eraser->config.on_news(eraser->config.user, eraser->request.caller_org);
}

/* Ends the erasure: its stream is given the result. */
static void end(struct eraser *eraser, enum err err)
{
    struct eraser_state *state = &eraser->state;
    struct slice why = eraser->fault.message;

    eraser->phase = ERASER_ENDED;
    state->ended = true;
    state->err = err;
    if (err != OK) {
        (void)snprintf(state->why, sizeof(state->why), "%.*s", (int)why.size,
                       (const char *)why.data);
    }
    logger_printf(LOGGER_INFO, "erasure ended (%s): %" PRIu64 " events have lost their content",
                  err_name(err), state->erased_count);
    report(eraser);
}

static void find_next(struct eraser *eraser);

/* Runs after each part. Returns whether the erasure goes on. */
static bool goes_on(struct eraser *eraser, enum err result)
{
    if (!eraser->owned) {
        become_idle(eraser);
        return false;
    }
    if (result != OK) {
        end(eraser, result);
        return false;
    }
    return true;
}

static void settle_done(void *job, enum err result)
{
    struct eraser *eraser = (struct eraser *)job;
    enum err err = result != OK ? result : eraser->found;

    if (goes_on(eraser, err)) {
        end(eraser, OK);
    }
}

/* Nothing is left to erase: the journal may still have it. */
static void settle(struct eraser *eraser)
{
    enum err err = OK;

    if (eraser->config.settle == NULL || eraser->request.dry_run) {
        end(eraser, OK);
        return;
    }
    eraser->phase = ERASER_ENDING;
    eraser->state.in_journal = true;
    err = eraser->config.run_on_pool(eraser->config.user, settle_work, settle_done, eraser);
    if (err != OK) {
        end(eraser, err);
        return;
    }
    report(eraser);
}

/* Runs on the writer thread, perhaps several times. */
static enum err run_step(struct work_request *work, struct store_txn *txn)
{
    struct eraser *eraser = (struct eraser *)work;
    const struct erasure_step step = {
        .target = &eraser->target,
        .seqs = eraser->search.seqs,
        .seq_count = eraser->search.seq_count,
        .actor_user_id = eraser->request.actor_user_id,
        .reason = eraser->request.reason,
    };
    uint64_t seq = 0;
    enum err err = erasure_remove_content(work->ctx, txn, &step, &seq);

    work->written.first_seq = seq;
    work->written.count = seq != 0 ? 1 : 0;
    return err;
}

static void step_done(struct work_request *work, enum err result)
{
    struct eraser *eraser = (struct eraser *)work;

    if (result == OK) {
        eraser->state.erased_count += eraser->search.seq_count;
        eraser->config.on_news(eraser->config.user, eraser->target.org);
    }
    if (goes_on(eraser, result)) {
        find_next(eraser);
    }
}

static void submit_step(struct eraser *eraser)
{
    enum err err = OK;

    eraser->phase = ERASER_WRITING;
    eraser->work = (struct work_request){
        .org = eraser->target.org,
        .bytes = STEP_QUEUE_BYTES,
        .deadline_us = INT64_MAX,
        .ctx = &eraser->step_ctx,
        .run = run_step,
        .done = step_done,
    };
    err = writer_submit(eraser->config.writer, &eraser->work);
    if (err != OK) {
        end(eraser, err);
    }
}

static void find_done(void *job, enum err result)
{
    struct eraser *eraser = (struct eraser *)job;
    struct eraser_state *state = &eraser->state;

    state->examined_seq = eraser->search.examined_seq;
    state->until_seq = eraser->search.until_seq;
    if (!goes_on(eraser, result != OK ? result : eraser->found)) {
        return;
    }
    report(eraser);
    if (eraser->search.seq_count > 0 && !eraser->request.dry_run) {
        submit_step(eraser);
    } else {
        find_next(eraser);
    }
}

/* Finds the next events, unless all were examined. */
static void find_next(struct eraser *eraser)
{
    enum err err = OK;

    if (eraser->search.examined_seq >= eraser->search.until_seq) {
        settle(eraser);
        return;
    }
    eraser->phase = ERASER_FINDING;
    err = eraser->config.run_on_pool(eraser->config.user, find_work, find_done, eraser);
    if (err != OK) {
        end(eraser, err);
    }
}

/* Copies the request into the arena. */
static enum err keep_request(struct eraser *eraser, const struct eraser_request *request)
{
    struct eraser_request *kept = &eraser->request;
    size_t ids_bytes = request->event_id_count * sizeof(*request->event_ids);
    struct uuid *ids = arena_alloc(&eraser->arena, ids_bytes + 1);

    *kept = *request;
    if (ids == NULL || !arena_copy(&eraser->arena, request->org_id, &kept->org_id) ||
        !arena_copy(&eraser->arena, request->id, &kept->id) ||
        !arena_copy(&eraser->arena, request->actor_user_id, &kept->actor_user_id) ||
        !arena_copy(&eraser->arena, request->reason, &kept->reason)) {
        return ERR_MEMORY;
    }
    if (ids_bytes > 0) {
        memcpy(ids, request->event_ids, ids_bytes);
    }
    kept->event_ids = ids;
    return OK;
}

enum err eraser_start(struct eraser *eraser, const struct eraser_request *request,
                      struct fault *fault)
{
    enum err err = OK;

    if (eraser->phase != ERASER_IDLE) {
        return fault_say(
            fault, ERR_PRECONDITION,
            "erasure: another one is running; expected another attempt after it has ended");
    }
    arena_init(&eraser->arena, REQUEST_BYTES_MAX);
    arena_init(&eraser->step_arena, STEP_BYTES_MAX);
    fault_init(&eraser->fault, &eraser->arena);
    fault_init(&eraser->step_fault, &eraser->step_arena);
    err = keep_request(eraser, request);
    eraser->target = (struct erasure_target){.subject = request->subject, .id = eraser->request.id};
    eraser->search = (struct erasure_search){.until_seq = 0};
    eraser->has_target = false;
    eraser->state = (struct eraser_state){.search = &eraser->search, .dry_run = request->dry_run};
    if (err == OK) {
        err = eraser->config.run_on_pool(eraser->config.user, find_work, find_done, eraser);
    }
    if (err != OK) {
        arena_deinit(&eraser->arena);
        arena_deinit(&eraser->step_arena);
        return err;
    }
    eraser->phase = ERASER_FINDING;
    eraser->owned = true;
    return OK;
}

const struct eraser_state *eraser_state(const struct eraser *eraser)
{
    return &eraser->state;
}

void eraser_cancel(struct eraser *eraser)
{
    ASSERT(eraser->owned);
    eraser->owned = false;
    if (eraser->phase == ERASER_ENDED) {
        become_idle(eraser);
    }
}

bool eraser_is_idle(const struct eraser *eraser)
{
    return eraser->phase == ERASER_IDLE;
}

enum err eraser_new(struct arena *arena, const struct eraser_config *config,
                    struct eraser **ret_eraser)
{
    struct eraser *eraser = arena_calloc(arena, 1, sizeof(*eraser));

    if (eraser == NULL) {
        return ERR_MEMORY;
    }
    eraser->config = *config;
    eraser->ctx = (struct ctx){&eraser->arena, config->clock, config->random, &eraser->fault};
    eraser->step_ctx =
        (struct ctx){&eraser->step_arena, config->clock, config->random, &eraser->step_fault};
    *ret_eraser = eraser;
    return OK;
}
