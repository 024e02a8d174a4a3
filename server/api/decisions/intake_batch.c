/*
 * intake_batch.c: see intake_batch.h.
 */
#include "server/api/decisions/intake_batch.h"

#include "server/api/decisions/decision_intake.h"
#include "server/pipeline/env.h"
#include "store/base/assert.h"

/* Memory of an entry while it is prepared: its JSON, wire bytes, request and words, each of its size. */
#define PREPARE_BYTES_MAX (64u << 20)
/* Memory of a run: the members of its cluster, and the rules with which an expedited proposal is compared. */
#define RUN_BYTES_MAX (256u << 20)
/* Cost of an entry in the writer's queue besides its bytes. */
#define QUEUE_BYTES 1000

enum item_phase {
    ITEM_NEW, /* it waits to be prepared, or is on the pool */
    ITEM_READY, /* it waits to be submitted */
    ITEM_WRITING, /* the writer's */
    ITEM_ENDED
};

struct item {
    struct work_request work; /* first */
    struct intake *intake;
    struct stream_entry entry; /* the fields are borrowed from the caller */
    enum item_phase phase;
    enum intake_outcome outcome; /* of the last run; the writer's while WRITING */
    unsigned attempts; /* failed ones */
    int64_t due_us; /* monotonic; of NEW: it is prepared from then on */
    bool is_on_pool; /* the members below, up to `ctx`, are the pool's meanwhile */
    enum err prepared;
    struct slice reason; /* why it becomes a dead letter; empty: it may be a decision */
    struct decision_intake decision;
    struct arena arena; /* what was prepared */
    struct fault fault;
    struct ctx ctx;
    struct arena run_arena;
    struct fault run_fault;
    struct ctx run_ctx;
};

struct intake {
    struct intake_config config;
    struct intake_counts counts;
    struct org_id org;
    size_t count; /* entries of the batch */
    size_t open_count; /* entries that have not ended */
    bool on_pool;
    _Atomic bool stopping;
    bool is_waiting; /* for `retry_us`, because of `why` */
    enum err why;
    int64_t retry_us; /* monotonic */
    int64_t delay_us; /* of the next wait */
    struct item items[INTAKE_ENTRIES_MAX];
};

static void end_item(struct item *item, enum intake_outcome outcome)
{
    struct intake_counts *counts = &item->intake->counts;

    ASSERT(item->phase != ITEM_ENDED);
    item->phase = ITEM_ENDED;
    item->outcome = outcome;
    item->intake->open_count--;
    counts->stored += outcome == INTAKE_STORED;
    counts->repeated += outcome == INTAKE_REPEATED;
    counts->dead += outcome == INTAKE_DEAD;
    arena_deinit(&item->arena);
    arena_deinit(&item->run_arena);
}

static void wait_for_room(struct intake *intake, enum err why)
{
    if (intake->is_waiting) {
        return;
    }
    intake->is_waiting = true;
    intake->why = why;
    intake->counts.waits++;
    intake->retry_us = clock_monotonic_us(intake->config.clock) + intake->delay_us;
    intake->delay_us =
        intake->delay_us * 2 < INTAKE_RETRY_US_MAX ? intake->delay_us * 2 : INTAKE_RETRY_US_MAX;
}

static bool is_servers_mistake(enum err err)
{
    return err == ERR_MEMORY || err == ERR_INTERNAL || err == ERR_CORRUPT ||
           err == ERR_UNIMPLEMENTED || err == ERR_UNAUTHENTICATED;
}

/* Makes a dead letter of an entry, in its next attempt. */
static void refuse(struct item *item, enum err err, const struct fault *fault)
{
    item->reason = decision_intake_reason(&item->arena, err, fault);
    if (item->reason.size == 0) {
        item->reason = slice_text(err_text(err));
    }
    item->phase = ITEM_READY;
}

/* Handles a failed attempt: the entry becomes a dead letter, or is tried again after a wait. */
static void fail_attempt(struct item *item, enum err err, const struct fault *fault,
                         bool is_refusal)
{
    bool is_last = is_servers_mistake(err) && ++item->attempts >= INTAKE_ATTEMPTS_MAX;

    if (item->reason.size == 0 && (is_refusal || is_last)) {
        refuse(item, err, fault);
    } else {
        wait_for_room(item->intake, err);
    }
}

/* --- the writer's thread --- */

static enum err run_dead_letter(struct item *item, struct store_txn *txn, struct slice reason)
{
    struct work_request *work = &item->work;
    enum err err = dead_letter_store(work->ctx, txn, work->org, &item->entry, reason,
                                     &work->written.first_seq);

    if (err == OK) {
        item->outcome = INTAKE_DEAD;
        work->written.count = 1;
    }
    return err;
}

static enum err run_decision(struct item *item, struct store_txn *txn)
{
    struct work_request *work = &item->work;
    struct log_head before;
    struct log_head after;
    enum err err = log_read_head(txn, work->org, &before);

    if (err != OK) {
        return err;
    }
    err = decision_intake_write(&item->decision, work->ctx, txn, &work->written);
    if (err == OK) {
        item->outcome = work->written.first_seq > before.last_seq ? INTAKE_STORED : INTAKE_REPEATED;
        return OK;
    }
    /* A refusal comes before the first event; after one, the transaction must not go on. */
    if (!decision_intake_is_refusal(err) || log_read_head(txn, work->org, &after) != OK ||
        after.last_seq != before.last_seq) {
        return decision_intake_is_refusal(err) ? ERR_INTERNAL : err;
    }
    return run_dead_letter(item, txn,
                           decision_intake_reason(work->ctx->arena, err, work->ctx->fault));
}

static enum err run_item(struct work_request *work, struct store_txn *txn)
{
    struct item *item = (struct item *)work;
    uint64_t seq = 0;
    enum err err = dead_letter_find_entry(txn, work->org, &item->entry, &seq);

    work->written.count = 0;
    if (err != ERR_NOT_FOUND) {
        item->outcome = INTAKE_DEAD;
        return err;
    }
    return item->reason.size > 0 ? run_dead_letter(item, txn, item->reason)
                                 : run_decision(item, txn);
}

/* --- the pool --- */

static void prepare_item(struct item *item)
{
    struct intake *intake = item->intake;

    arena_reset(&item->arena);
    fault_init(&item->fault, &item->arena);
    item->entry.sha256 = stream_entry_hash(&item->entry); /* here, and not on the writer's thread */
    item->entry.has_sha256 = true;
    item->prepared = decision_intake_prepare(&item->ctx, intake->config.env, intake->org,
                                             &item->entry, &item->decision);
}

static void prepare_work(void *job)
{
    struct intake *intake = (struct intake *)job;

    for (size_t i = 0; i < intake->count && !atomic_load(&intake->stopping); i++) {
        if (intake->items[i].is_on_pool) {
            prepare_item(&intake->items[i]);
        }
    }
}

/* --- the loop --- */

static void end_if_complete(struct intake *intake)
{
    if (intake->count > 0 && intake->open_count == 0) {
        intake->is_waiting = false;
        intake->count = 0;
        intake->config.on_done(intake->config.user);
    }
}

static void submit_ready(struct intake *intake);

static void item_done(struct work_request *work, enum err result)
{
    struct item *item = (struct item *)work;
    struct intake *intake = item->intake;

    ASSERT(item->phase == ITEM_WRITING);
    item->phase = ITEM_READY;
    if (result == OK) {
        bool has_appended = work->written.count > 0 && item->outcome != INTAKE_REPEATED;

        intake->delay_us = INTAKE_RETRY_US;
        end_item(item, item->outcome);
        if (has_appended) {
            intake->config.on_stored(intake->config.user, intake->org);
        }
    } else {
        /* A refusal of the entry was stored in run_decision: this one is of its organisation. */
        fail_attempt(item, result, result == work->decided ? &item->run_fault : NULL, false);
    }
    if (atomic_load(&intake->stopping) && item->phase == ITEM_READY) {
        end_item(item, INTAKE_LEFT);
    }
    if (!atomic_load(&intake->stopping)) {
        submit_ready(intake); /* as a dead letter, unless it waits */
    }
    end_if_complete(intake);
}

static enum err submit_item(struct item *item)
{
    struct intake *intake = item->intake;
    enum err err = OK;

    fault_init(&item->run_fault, &item->run_arena);
    item->run_ctx = (struct ctx){&item->run_arena, intake->config.clock, intake->config.random,
                                 &item->run_fault};
    item->work = (struct work_request){
        .org = intake->org,
        .bytes = QUEUE_BYTES + stream_entry_bytes(&item->entry),
        .deadline_us = INT64_MAX,
        .ctx = &item->run_ctx,
        .run = run_item,
        .done = item_done,
        .written = {.org = intake->org},
    };
    err = writer_submit(intake->config.env->writer, &item->work);
    if (err == OK) {
        item->phase = ITEM_WRITING;
    }
    return err;
}

static void submit_ready(struct intake *intake)
{
    for (size_t i = 0; i < intake->count && !intake->is_waiting; i++) {
        struct item *item = &intake->items[i];
        enum err err = item->phase == ITEM_READY ? submit_item(item) : OK;

        if (err != OK) {
            wait_for_room(intake, err);
        }
    }
}

static void leave_open(struct intake *intake)
{
    for (size_t i = 0; i < intake->count; i++) {
        struct item *item = &intake->items[i];

        if (item->phase == ITEM_READY || (item->phase == ITEM_NEW && !intake->on_pool)) {
            end_item(item, INTAKE_LEFT);
        }
    }
}

/* Leaves open entries if the server ends, or if their organisation was suspended, filled or deleted meanwhile. */
static void leave_if_ended(struct intake *intake)
{
    if (atomic_load(&intake->stopping) ||
        !intake->config.may_store(intake->config.user, intake->org)) {
        leave_open(intake);
    }
}

static void prepare_done(void *job, enum err result)
{
    struct intake *intake = (struct intake *)job;

    intake->on_pool = false;
    for (size_t i = 0; i < intake->count && !atomic_load(&intake->stopping); i++) {
        struct item *item = &intake->items[i];
        enum err err = result != OK ? result : item->prepared;

        if (!item->is_on_pool) {
            continue;
        }
        item->is_on_pool = false;
        if (err == OK) {
            item->phase = ITEM_READY;
        } else if (result == OK && item->decision.ahead_us > 0) {
            item->due_us = clock_monotonic_us(intake->config.clock) + item->decision.ahead_us;
        } else {
            fail_attempt(item, err, &item->fault, decision_intake_is_refusal(err));
        }
    }
    leave_if_ended(intake);
    submit_ready(intake);
    end_if_complete(intake);
}

/* Marks the entries that are due to be prepared for the pool; false if there are none. */
static bool mark_new(struct intake *intake)
{
    int64_t now_us = clock_monotonic_us(intake->config.clock);
    bool is_any = false;

    for (size_t i = 0; i < intake->count; i++) {
        struct item *item = &intake->items[i];

        item->is_on_pool = item->phase == ITEM_NEW && item->due_us <= now_us;
        is_any = is_any || item->is_on_pool;
    }
    return is_any;
}

/* Submits what waits: to the pool, or to the writer. */
static void go_on(struct intake *intake)
{
    if (!intake->on_pool && mark_new(intake)) {
        enum err err =
            intake->config.run_on_pool(intake->config.user, prepare_work, prepare_done, intake);

        intake->on_pool = err == OK;
        if (err != OK) {
            wait_for_room(intake, err);
        }
    }
    submit_ready(intake);
}

enum err intake_new(struct arena *arena, const struct intake_config *config,
                    struct intake **ret_intake)
{
    struct intake *intake = (struct intake *)arena_calloc(arena, 1, sizeof(*intake));

    if (intake == NULL) {
        return ERR_MEMORY;
    }
    intake->config = *config;
    intake->delay_us = INTAKE_RETRY_US;
    *ret_intake = intake;
    return OK;
}

void intake_start(struct intake *intake, struct org_id org, const struct stream_entry *entries,
                  size_t count)
{
    ASSERT(intake_is_idle(intake) && count > 0 && count <= INTAKE_ENTRIES_MAX);
    intake->org = org;
    intake->count = count;
    intake->open_count = count;
    for (size_t i = 0; i < count; i++) {
        struct item *item = &intake->items[i];

        *item = (struct item){.intake = intake, .entry = entries[i]};
        arena_init(&item->arena, PREPARE_BYTES_MAX);
        arena_init(&item->run_arena, RUN_BYTES_MAX);
        item->ctx =
            (struct ctx){&item->arena, intake->config.clock, intake->config.random, &item->fault};
    }
    go_on(intake);
}

void intake_tick(struct intake *intake)
{
    if (atomic_load(&intake->stopping)) {
        leave_open(intake);
        end_if_complete(intake);
        return;
    }
    if (intake->is_waiting && clock_monotonic_us(intake->config.clock) >= intake->retry_us) {
        intake->is_waiting = false;
        leave_if_ended(intake);
    }
    if (!intake->is_waiting) {
        go_on(intake);
        end_if_complete(intake);
    }
}

void intake_stop(struct intake *intake)
{
    atomic_store(&intake->stopping, true);
}

bool intake_is_idle(const struct intake *intake)
{
    return intake->count == 0;
}

enum intake_outcome intake_outcome_of(const struct intake *intake, size_t index)
{
    return intake->items[index].outcome;
}

bool intake_is_waiting(const struct intake *intake, enum err *ret_why)
{
    *ret_why = intake->why;
    return intake->is_waiting;
}

struct intake_counts intake_read_counts(const struct intake *intake)
{
    return intake->counts;
}
