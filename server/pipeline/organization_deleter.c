/*
 * organization_deleter.c: see organization_deleter.h.
 */
#include "server/pipeline/organization_deleter.h"

#include "store/base/assert.h"
#include "store/base/logger.h"

#include <inttypes.h>

/* Memory of a step: the keys of its rows. */
#define STEP_BYTES_MAX (4u << 20)
/* Tokens that a transaction of the check reads. */
#define CHECK_TOKENS_MAX 2000
/* Cost of a step in the writer's queue. */
#define STEP_QUEUE_BYTES 1000

enum deleter_phase {
    DELETER_IDLE,
    DELETER_DELETING,
    DELETER_CHECKING,
    DELETER_SETTLING,
    DELETER_ENDING
};

struct organization_deleter {
    struct work_request work; /* first; the writer's while DELETING and ENDING */
    struct organization_deleter_config config;
    enum deleter_phase phase;
    bool stopped;
    bool has_failed; /* `org` waits for the others that have a mark */
    int64_t next_us; /* monotonic; nothing is done before */
    struct org_id org; /* zeros: none; kept while IDLE between two steps */
    struct organization_deletion_position position; /* after the last step that was committed */
    struct organization_deletion_position
        next; /* after the running one; the writer's while DELETING */
    size_t rows_max; /* of the next step */
    size_t deleted_count; /* by the last step; the writer's while DELETING */
    int64_t took_us; /* likewise */
    bool is_complete; /* the pool's while CHECKING */
    enum err found; /* result of the pool */
    struct arena arena; /* of a step */
    struct fault fault;
    struct ctx ctx;
};

static void report(const struct organization_deleter *deleter, enum logger_level level,
                   const char *what, enum err err)
{
    char org_id[UUID_TEXT_BYTES];

    uuid_format(deleter->org.uuid, org_id);
    logger_printf(level, "the organisation %.*s %s%s%s%s", (int)sizeof(org_id), org_id, what,
                  err != OK ? " (" : "", err != OK ? err_name(err) : "", err != OK ? ")" : "");
}

static void become_idle(struct organization_deleter *deleter, int64_t pause_us)
{
    deleter->phase = DELETER_IDLE;
    deleter->next_us = clock_monotonic_us(deleter->config.clock) + pause_us;
    deleter->config.on_idle(deleter->config.user);
}

static void fail(struct organization_deleter *deleter, enum err err)
{
    deleter->has_failed = true;
    if (err != ERR_DRAINING) {
        report(deleter, LOGGER_WARNING, "is not deleted yet; trying again", err);
    }
    become_idle(deleter, DELETER_RETRY_US);
}

static void take_step(struct organization_deleter *deleter);

/* --- the end: the writer --- */

static enum err run_end(struct work_request *work, struct store_txn *txn)
{
    struct organization_deleter *deleter = (struct organization_deleter *)work;

    return organization_deletion_end(work->ctx, txn, deleter->org, &work->written);
}

static void end_done(struct work_request *work, enum err result)
{
    struct organization_deleter *deleter = (struct organization_deleter *)work;

    if (result != OK) {
        fail(deleter, result);
        return;
    }
    report(deleter, LOGGER_INFO, "is deleted", OK);
    deleter->config.on_deleted(deleter->config.user, deleter->org);
    deleter->config.on_news(deleter->config.user, work->written.org);
    deleter->org = (struct org_id){.uuid = {.bytes = {0}}};
    become_idle(deleter, 0);
}

/* Hands a write to the writer, in the share of the queue of no organisation. */
static void submit(struct organization_deleter *deleter, enum deleter_phase phase, work_run_fn *run,
                   work_done_fn *done)
{
    enum err err = OK;

    deleter->phase = phase;
    deleter->work = (struct work_request){
        .bytes = STEP_QUEUE_BYTES,
        .deadline_us = INT64_MAX,
        .ctx = &deleter->ctx,
        .run = run,
        .done = done,
    };
    err = writer_submit(deleter->config.writer, &deleter->work);
    if (err != OK) {
        fail(deleter, err);
    }
}

/* --- the check and the journal: the pool --- */

static void settle_work(void *job)
{
    struct organization_deleter *deleter = (struct organization_deleter *)job;

    deleter->found = deleter->config.settle(deleter->config.user);
}

static void settle_done(void *job, enum err result)
{
    struct organization_deleter *deleter = (struct organization_deleter *)job;
    enum err err = result != OK ? result : deleter->found;

    if (err != OK || deleter->stopped) {
        fail(deleter, err != OK ? err : ERR_DRAINING);
        return;
    }
    submit(deleter, DELETER_ENDING, run_end, end_done);
}

static void settle(struct organization_deleter *deleter)
{
    enum err err = OK;

    if (deleter->config.settle == NULL) {
        submit(deleter, DELETER_ENDING, run_end, end_done);
        return;
    }
    deleter->phase = DELETER_SETTLING;
    err = deleter->config.run_on_pool(deleter->config.user, settle_work, settle_done, deleter);
    if (err != OK) {
        fail(deleter, err);
    }
}

static void check_work(void *job)
{
    struct organization_deleter *deleter = (struct organization_deleter *)job;
    struct organization_deletion_check check = {.table = 0};
    enum err err = OK;

    /* A transaction for each part: one for all would keep the store's freed pages from being used again meanwhile. */
    while (err == OK && !check.has_ended) {
        struct store_txn *txn = NULL;

        err = store_begin(deleter->config.backend, STORE_READ, &txn);
        if (err == OK) {
            err = organization_deletion_check(txn, deleter->org, CHECK_TOKENS_MAX, &check);
        }
        store_abort(txn);
    }
    deleter->is_complete = !check.has_rows;
    deleter->found = err;
}

static void check_done(void *job, enum err result)
{
    struct organization_deleter *deleter = (struct organization_deleter *)job;
    enum err err = result != OK ? result : deleter->found;

    if (err != OK || deleter->stopped) {
        fail(deleter, err != OK ? err : ERR_DRAINING);
        return;
    }
    if (!deleter->is_complete) {
        deleter->position = (struct organization_deletion_position){.has_no_tokens = false};
        fail(deleter, ERR_CORRUPT); /* a row that no step has found */
        return;
    }
    settle(deleter);
}

static void check(struct organization_deleter *deleter)
{
    enum err err = OK;

    deleter->phase = DELETER_CHECKING;
    err = deleter->config.run_on_pool(deleter->config.user, check_work, check_done, deleter);
    if (err != OK) {
        fail(deleter, err);
    }
}

/* --- the steps: the writer --- */

/* May run several times: it starts over each time. */
static enum err run_step(struct work_request *work, struct store_txn *txn)
{
    struct organization_deleter *deleter = (struct organization_deleter *)work;
    int64_t began_us = clock_monotonic_us(work->ctx->clock);
    enum err err = OK;

    deleter->next = deleter->position;
    err = organization_deletion_step(work->ctx, txn, deleter->org, deleter->rows_max,
                                     &deleter->next, &deleter->deleted_count);
    deleter->took_us = clock_monotonic_us(work->ctx->clock) - began_us;
    return err;
}

/* Adapts the number of rows of the next step to the time that the last one took. */
static void adapt(struct organization_deleter *deleter)
{
    if (deleter->took_us > DELETER_STEP_US && deleter->rows_max > 1) {
        deleter->rows_max /= 2;
    } else if (deleter->took_us < DELETER_STEP_US / 2 &&
               deleter->rows_max <= LOG_DELETION_ROWS_MAX / 2) {
        deleter->rows_max *= 2;
    }
}

/* Returns whether other writes, or the rows that only a journal has, need the disk more. */
static bool is_busy(const struct organization_deleter *deleter)
{
    struct writer_stats writer = writer_read_stats(deleter->config.writer);
    struct store_stats store = {.journal_memory_bytes = 0};

    return writer.queue_requests > DELETER_QUEUE_MAX || !writer.writable ||
           store_stats(deleter->config.backend, &store) != OK ||
           store.journal_memory_bytes > DELETER_JOURNAL_BYTES_MAX;
}

static void step_done(struct work_request *work, enum err result)
{
    struct organization_deleter *deleter = (struct organization_deleter *)work;

    if (result != OK) {
        fail(deleter, result);
        return;
    }
    deleter->position = deleter->next;
    adapt(deleter);
    if (deleter->stopped) {
        fail(deleter, ERR_DRAINING);
    } else if (deleter->deleted_count == 0) {
        check(deleter);
    } else if (is_busy(deleter)) {
        become_idle(deleter, 0);
    } else {
        take_step(deleter);
    }
}

static void take_step(struct organization_deleter *deleter)
{
    submit(deleter, DELETER_DELETING, run_step, step_done);
}

/* Finds the next organisation with a mark: after one that has failed, in a round over all. */
static enum err find_mark(const struct organization_deleter *deleter, struct store_txn *txn,
                          struct org_id *ret_org)
{
    struct log_deletion deletion;
    enum err err =
        deleter->has_failed ? log_deletion_next(txn, &deleter->org.uuid, &deletion) : ERR_NOT_FOUND;

    if (err == ERR_NOT_FOUND) {
        err = log_deletion_next(txn, NULL, &deletion);
    }
    if (err == OK) {
        *ret_org = deletion.org;
    }
    return err;
}

/* Finds the organisation to go on with: the same one as long as it has a mark, and has not failed. */
static enum err find_next(struct organization_deleter *deleter)
{
    struct store_txn *txn = NULL;
    struct org_id org = deleter->org;
    bool is_marked = false;
    enum err err = store_begin(deleter->config.backend, STORE_READ, &txn);

    if (err == OK) {
        err = log_deletion_is_marked(txn, deleter->org, &is_marked);
    }
    if (err == OK && (!is_marked || deleter->has_failed)) {
        err = find_mark(deleter, txn, &org);
    }
    store_abort(txn);
    if (err != OK) {
        return err;
    }
    deleter->has_failed = false;
    if (!uuid_equal(org.uuid, deleter->org.uuid)) {
        deleter->org = org;
        deleter->position = (struct organization_deletion_position){.has_no_tokens = false};
        report(deleter, LOGGER_INFO, "is being deleted", OK);
    }
    return OK;
}

void organization_deleter_tick(struct organization_deleter *deleter)
{
    enum err err = OK;

    if (deleter->phase != DELETER_IDLE || deleter->stopped ||
        clock_monotonic_us(deleter->config.clock) < deleter->next_us || is_busy(deleter)) {
        return;
    }
    err = find_next(deleter);
    if (err == OK) {
        take_step(deleter);
    } else if (err != ERR_NOT_FOUND) {
        logger_printf(LOGGER_WARNING, "cannot read which organisations are to be deleted (%s)",
                      err_name(err));
        deleter->next_us = clock_monotonic_us(deleter->config.clock) + DELETER_RETRY_US;
    }
}

void organization_deleter_stop(struct organization_deleter *deleter)
{
    deleter->stopped = true;
}

bool organization_deleter_is_idle(const struct organization_deleter *deleter)
{
    return deleter->phase == DELETER_IDLE;
}

enum err organization_deleter_new(struct arena *arena,
                                  const struct organization_deleter_config *config,
                                  struct organization_deleter **ret_deleter)
{
    struct organization_deleter *deleter = arena_calloc(arena, 1, sizeof(*deleter));

    if (deleter == NULL) {
        return ERR_MEMORY;
    }
    deleter->config = *config;
    deleter->rows_max = DELETER_ROWS_FIRST;
    arena_init(&deleter->arena, STEP_BYTES_MAX);
    fault_init(&deleter->fault, &deleter->arena);
    deleter->ctx = (struct ctx){&deleter->arena, config->clock, config->random, &deleter->fault};
    *ret_deleter = deleter;
    return OK;
}

void organization_deleter_deinit(struct organization_deleter *deleter)
{
    if (deleter != NULL) {
        ASSERT(deleter->phase == DELETER_IDLE);
        arena_deinit(&deleter->arena);
    }
}
