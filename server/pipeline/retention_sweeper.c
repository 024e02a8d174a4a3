/*
 * retention_sweeper.c: see retention_sweeper.h. Whether something is due is read on the loop; the step itself is a write. If
 * either fails, the pass goes on with the next organisation.
 */
#include "server/pipeline/retention_sweeper.h"

#include "store/base/assert.h"
#include "store/base/logger.h"
#include "store/log_deletion.h"
#include "store/log_import.h"

/* Memory of a step: its list of events, and the event that it appends. Each listed event is decoded in memory of its own. */
#define STEP_BYTES_MAX (256u << 20)
/* Cost of a step in the writer's queue. */
#define STEP_QUEUE_BYTES 1000

static int64_t wall_ahead_us(const struct clock *clock)
{
    return clock_wall_us(clock) - clock_monotonic_us(clock);
}

/* May run several times: it starts over each time. */
static enum err run_step(struct work_request *work, struct store_txn *txn)
{
    struct retention_sweeper *sweeper = (struct retention_sweeper *)work;
    int64_t began_us = clock_monotonic_us(work->ctx->clock);
    enum err err = retention_sweep(work->ctx, txn, &sweeper->step, &sweeper->done);

    work->written.first_seq = sweeper->done.seq;
    work->written.count = err == OK && sweeper->done.seq != 0 ? 1 : 0;
    sweeper->took_us = clock_monotonic_us(work->ctx->clock) - began_us;
    return err;
}

/* Adapts the number of events of the next step to the time that the last one took. */
static void adapt(struct retention_sweeper *sweeper)
{
    if (sweeper->took_us > RETENTION_STEP_US && sweeper->removed_max > 1) {
        sweeper->removed_max /= 2;
    } else if (sweeper->took_us < RETENTION_STEP_US / 2 &&
               sweeper->done.removed_count == sweeper->removed_max &&
               sweeper->removed_max < RETENTION_REMOVED_MAX) {
        sweeper->removed_max *= 2;
    }
}

static void wait_interval(struct retention_sweeper *sweeper)
{
    sweeper->next_us = clock_monotonic_us(sweeper->ctx.clock) + RETENTION_INTERVAL_US;
}

static void end_pass(struct retention_sweeper *sweeper)
{
    sweeper->in_pass = false;
    sweeper->pass_count++;
    wait_interval(sweeper);
}

static void go_to_org(struct retention_sweeper *sweeper, struct uuid org)
{
    sweeper->position = (struct retention_position){{org}, CONTENT_CLASS_UNSPECIFIED};
    sweeper->in_pass = true;
}

static void report_org(struct org_id org, enum err err)
{
    char text[UUID_TEXT_BYTES];

    uuid_format(org.uuid, text);
    logger_printf(LOGGER_WARNING,
                  "content of old events of the organisation %.*s was not removed (%s)",
                  UUID_TEXT_BYTES, text, err_name(err));
}

static void step_done(struct work_request *work, enum err result)
{
    struct retention_sweeper *sweeper = (struct retention_sweeper *)work;

    ASSERT(sweeper->running);
    sweeper->running = false;
    if (result != OK) {
        report_org(work->org, result);
        sweeper->position.class = CONTENT_CLASS_REVIEWS; /* the last one */
        return;
    }
    sweeper->removed_count += sweeper->done.removed_count;
    adapt(sweeper);
    if (sweeper->done.has_ended) {
        sweeper->position.class = sweeper->step.class;
    }
}

/* Returns whether a class of the organisation of the position is due. */
static bool find_class(struct retention_sweeper *sweeper, struct store_txn *txn, int64_t from_us)
{
    const struct retention_position *position = &sweeper->position;
    bool is_closed = false;
    enum err err = log_deletion_is_marked(txn, position->org, &is_closed);

    if (err == OK && !is_closed) {
        err = log_import_is_marked(txn, position->org, &is_closed);
    }
    if (err == OK && is_closed) {
        return false;
    }
    if (err == OK) {
        err = retention_find_due(txn, position->org, from_us, position->class, &sweeper->step);
    }
    if (err != OK) {
        report_org(position->org, err);
    }
    return err == OK && sweeper->step.class != CONTENT_CLASS_UNSPECIFIED;
}

/* Finds what is due next, in the organisation of the position or in one after it; false if the tick has looked at enough of
 * them. ERR_NOT_FOUND after the last one. */
static enum err find_due(struct retention_sweeper *sweeper, struct store_txn *txn, int64_t from_us,
                         bool *ret_is_due)
{
    enum err err = OK;

    *ret_is_due = false;
    for (size_t i = 0; i < RETENTION_TICK_ORGS && err == OK && !*ret_is_due; i++) {
        struct uuid org;

        *ret_is_due = find_class(sweeper, txn, from_us);
        if (!*ret_is_due) {
            err = store_next_org(txn, TABLE_EVENT, &sweeper->position.org.uuid, &org);
        }
        if (!*ret_is_due && err == OK) {
            go_to_org(sweeper, org);
        }
    }
    return err;
}

/* Begins a pass at the first organisation. */
static enum err begin_pass(struct retention_sweeper *sweeper, struct store_txn *txn)
{
    struct uuid org;
    enum err err = store_next_org(txn, TABLE_EVENT, NULL, &org);

    if (err == OK) {
        go_to_org(sweeper, org);
    }
    return err;
}

static enum err find_next(struct retention_sweeper *sweeper, int64_t from_us, bool *ret_is_due)
{
    struct store_txn *txn = NULL;
    enum err err = store_begin(sweeper->backend, STORE_READ, &txn);

    *ret_is_due = false;
    if (err != OK) {
        return err;
    }
    if (!sweeper->in_pass) {
        err = begin_pass(sweeper, txn);
    }
    if (err == OK) {
        err = find_due(sweeper, txn, from_us, ret_is_due);
    }
    store_abort(txn);
    return err;
}

static void submit(struct retention_sweeper *sweeper)
{
    sweeper->step.removed_max = sweeper->removed_max;
    sweeper->work = (struct work_request){
        .org = sweeper->step.org,
        .bytes = STEP_QUEUE_BYTES,
        .deadline_us = INT64_MAX,
        .ctx = &sweeper->ctx,
        .run = run_step,
        .done = step_done,
    };
    /* If it is refused, the next tick finds the same. */
    sweeper->running = writer_submit(sweeper->writer, &sweeper->work) == OK;
}

/* Stops for good if the clock went ahead by more than it may. */
static bool clock_jumped(struct retention_sweeper *sweeper)
{
    int64_t ahead_us = wall_ahead_us(sweeper->ctx.clock);

    if (!sweeper->stopped && ahead_us - sweeper->wall_ahead_us > RETENTION_JUMP_US) {
        sweeper->stopped = true;
        logger_printf(
            LOGGER_WARNING,
            "the clock went ahead by more than a day: content of old events is not removed "
            "until the server is restarted");
    }
    if (ahead_us < sweeper->wall_ahead_us) {
        sweeper->wall_ahead_us = ahead_us;
    }
    return sweeper->stopped;
}

void retention_sweeper_tick(struct retention_sweeper *sweeper)
{
    const struct clock *clock = sweeper->ctx.clock;
    struct writer_stats stats;
    int64_t now_us = clock_wall_us(clock);
    bool is_due = false;
    enum err err = OK;

    if (sweeper->running || clock_jumped(sweeper) || clock_monotonic_us(clock) < sweeper->next_us) {
        return;
    }
    stats = writer_read_stats(sweeper->writer);
    if (stats.queue_requests > RETENTION_QUEUE_MAX || !stats.writable) {
        return;
    }
    /* A clock that is ahead of all events removes nothing too early. */
    if (stats.newest_recorded_at_us < now_us) {
        now_us = stats.newest_recorded_at_us;
    }
    err = find_next(sweeper, now_us, &is_due);
    if (err == OK && is_due) {
        submit(sweeper);
    } else if (err == ERR_NOT_FOUND) {
        end_pass(sweeper); /* after the last organisation */
    } else if (err != OK) {
        logger_printf(LOGGER_WARNING, "content of old events is not removed for an hour (%s)",
                      err_name(err));
        wait_interval(sweeper);
    }
}

void retention_sweeper_init(struct retention_sweeper *sweeper, struct store_backend *backend,
                            struct writer *writer, const struct clock *clock, struct random *random)
{
    *sweeper = (struct retention_sweeper){.backend = backend,
                                          .writer = writer,
                                          .removed_max = RETENTION_REMOVED_FIRST,
                                          .wall_ahead_us = wall_ahead_us(clock)};
    arena_init(&sweeper->arena, STEP_BYTES_MAX);
    fault_init(&sweeper->fault, &sweeper->arena);
    sweeper->ctx = (struct ctx){&sweeper->arena, clock, random, &sweeper->fault};
}

void retention_sweeper_deinit(struct retention_sweeper *sweeper)
{
    if (sweeper->backend == NULL) {
        return;
    }
    ASSERT(!sweeper->running);
    arena_deinit(&sweeper->arena);
    sweeper->backend = NULL;
}
