/*
 * replay_events.c: events are read from the source one by one, checked, copied into the target and
 * applied there, in batches of one organisation. An invalid event ends the replay of its
 * organisation: later events cannot be trusted.
 */
#include "server/domain/replay/replay_internal.h"
#include "server/domain/retention/retention.h"
#include "store/log_deletion.h"
#include "store/work.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Returns whether an error is the store's or the caller's, not a defect of the event. */
static bool is_outside(enum err err)
{
    return err == ERR_MEMORY || err == ERR_DISK_FULL || err == ERR_IO || err == ERR_UNAVAILABLE ||
           err == ERR_CANCELLED;
}

/* Records the defect of an event. */
static enum err break_at(struct org_walk *walk, uint64_t seq, enum replay_break broken_by)
{
    walk->broken_seq = seq;
    walk->broken_by = broken_by;
    return ERR_CORRUPT;
}

enum err replay_put_key(struct replay *replay, struct store_txn *target,
                        const struct org_walk *walk)
{
    return walk->key.present ? idempotency_keep_at(&replay->ctx, target, &walk->key, &walk->write,
                                                   walk->written_at_us)
                             : OK;
}

enum err replay_keep_key(struct replay *replay, struct store_txn *target, struct org_walk *walk)
{
    enum err err = replay_put_key(replay, target, walk);

    walk->key.present = false;
    return err;
}

enum err replay_resume_write(struct replay *replay, struct store_txn *target, struct org_walk *walk)
{
    struct event event;
    uint64_t first_seq = 0;
    enum err err = OK;

    if (walk->last_seq == 0) {
        return OK;
    }
    err = log_read_copy(replay->ctx.arena, target, walk->org, walk->last_seq, &event);
    if (err == OK && event.write_index >= walk->last_seq) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        first_seq = walk->last_seq - event.write_index;
        err = log_read_copy(replay->ctx.arena, target, walk->org, first_seq, &event);
    }
    if (err == OK && event.idempotency.present &&
        event_written_at_us(&event) >= walk->keys_from_us) {
        walk->key = event.idempotency;
        walk->write = (struct work_result){.org = walk->org,
                                           .first_seq = first_seq,
                                           .count = (uint32_t)(walk->last_seq - first_seq + 1)};
        walk->written_at_us = event_written_at_us(&event);
    }
    arena_reset(&replay->arena);
    return err;
}

/* Returns whether the caller of a write exists after the replay: of a deleted organisation nothing is made again, although
 * its tokens with the server flag have written to other logs. */
static enum err has_caller(const struct org_walk *walk, const struct event *event, bool *ret_has)
{
    struct store_txn *source = walk->cursor.txn;
    uint64_t last_seq = 0;
    bool is_marked = false;
    enum err err = OK;

    *ret_has = uuid_equal(event->idempotency.org.uuid, walk->org.uuid);
    if (*ret_has) {
        return OK;
    }
    err = log_deletion_is_marked(source, event->idempotency.org, &is_marked);
    if (err != OK || is_marked) {
        return err;
    }
    err = replay_last_seq(source, event->idempotency.org.uuid, &last_seq);
    *ret_has = err != ERR_NOT_FOUND;
    return err == ERR_NOT_FOUND || err == ERR_CORRUPT ? OK : err;
}

/* Records to which write an event belongs. */
static enum err follow_write(struct replay *replay, struct store_txn *target, struct org_walk *walk,
                             const struct event *event)
{
    bool has = false;
    enum err err = OK;

    if (event->write_index > 0) {
        walk->write.count++;
        return OK;
    }
    err = replay_keep_key(replay, target, walk);
    if (err == OK && replay->keeps_keys && event->idempotency.present &&
        event_written_at_us(event) >= walk->keys_from_us) {
        has = replay->restores; /* there is no source to look at */
        err = has ? OK : has_caller(walk, event, &has);
    }
    if (err == OK && has) {
        walk->key = event->idempotency;
        walk->write = (struct work_result){.org = event->org, .first_seq = event->seq, .count = 1};
        walk->written_at_us = event_written_at_us(event);
    }
    return err;
}

/* Reads an event from its row, and checks all that can be checked without the one before it. */
static enum err read_event(struct arena *arena, struct org_walk *walk, struct slice key,
                           struct slice value, struct event *ret_event)
{
    uint64_t seq = 0;
    enum err err = key_read_event(key, &seq);

    if (err != OK) {
        return break_at(walk, walk->last_seq + 1, REPLAY_BYTES);
    }
    if (seq != walk->last_seq + 1) {
        return break_at(walk, walk->last_seq + 1, REPLAY_GAP);
    }
    err = log_decode(arena, walk->org, seq, value, ret_event);
    if (err == ERR_MEMORY) {
        return err;
    }
    if (err != OK ||
        (ret_event->idempotency.present && replay_is_no_org(ret_event->idempotency.org.uuid))) {
        return break_at(walk, seq, REPLAY_BYTES);
    }
    return log_event_holds(ret_event) ? OK : break_at(walk, seq, REPLAY_HASH);
}

/* Checks that the log begins with the organisation: one that was deleted must have none. */
static enum err check_first(const struct replay *replay, struct org_walk *walk,
                            const struct event *event)
{
    bool is_wrong = event->seq == 1 && event->kind != EVENT_ORGANIZATION_CREATED;

    return is_wrong && replay->needs_organizations
               ? break_at(walk, event->seq, REPLAY_NO_ORGANIZATION)
               : OK;
}

/* Does what the writer of the event did to rows of other events: content was removed, or a deletion began. */
static enum err apply_removals(struct replay *replay, struct store_txn *target,
                               const struct event *event)
{
    struct organization_deleted_view facts;
    struct log_deletion deletion = {.audit_org = event->org, .audit_seq = event->seq};
    enum err err = retention_remove_imported(&replay->ctx, target, event);

    if (err != OK || event->kind != EVENT_ORGANIZATION_DELETED) {
        return err;
    }
    err = organization_deleted_view_read(event->facts, &facts);
    if (err != OK || facts.completed) {
        return err;
    }
    deletion.org.uuid = facts.org_id;
    return log_deletion_put(&replay->ctx, target, &deletion);
}

enum err replay_event(struct replay *replay, struct store_txn *target, struct org_walk *walk,
                      struct slice key, struct slice value)
{
    struct event event;
    enum err err = read_event(&replay->arena, walk, key, value, &event);

    if (err == OK) {
        err = check_first(replay, walk, &event);
    }
    if (err != OK) {
        return err;
    }
    err = store_append(target, TABLE_EVENT, key, value);
    if (err != OK) {
        return err;
    }
    err = log_apply_envelope(&replay->ctx, target, &event);
    if (err != OK) {
        return is_outside(err) ? err : break_at(walk, event.seq, REPLAY_CHAIN);
    }
    err = replay->restores ? apply_removals(replay, target, &event) : OK;
    if (err == OK) {
        err = domain_apply(&replay->ctx, target, &event);
    }
    if (err != OK) {
        return is_outside(err) ? err : break_at(walk, event.seq, REPLAY_APPLY);
    }
    err = follow_write(replay, target, walk, &event);
    if (err == OK) {
        walk->last_seq = event.seq;
    }
    return err;
}

/* Replays the events of one transaction. */
static enum err fill_batch(struct replay *replay, struct store_txn *target, struct org_walk *walk)
{
    size_t bytes = 0;

    for (size_t i = 0; i < REPLAY_BATCH_EVENTS && bytes < REPLAY_BATCH_BYTES; i++) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        enum err err = store_cursor_next(&walk->cursor, &key, &value);

        if (err == ERR_NOT_FOUND) {
            walk->done = true;
            return replay_keep_key(replay, target, walk);
        }
        if (err == OK) {
            err = replay_event(replay, target, walk, key, value);
        }
        arena_reset(&replay->arena);
        if (err != OK) {
            return err;
        }
        bytes += value.size;
    }
    return OK;
}

static enum err replay_batch(struct replay *replay, struct org_walk *walk)
{
    struct store_txn *target = NULL;
    enum err err = store_begin(replay->config->target, STORE_WRITE, &target);

    if (err != OK) {
        return err;
    }
    err = fill_batch(replay, target, walk);
    if (err != OK) {
        store_abort(target);
        return err;
    }
    return store_commit(target);
}

static enum err replay_batches(struct replay *replay, struct org_walk *walk)
{
    uint64_t events_before = replay->report->events;
    enum err err = OK;

    while (err == OK && !walk->done) {
        err = replay_batch(replay, walk);
        if (err == OK) {
            replay->report->events = events_before + walk->last_seq;
            replay->progress.events = replay->report->events;
            err = replay_report_progress(replay);
        }
    }
    return err;
}

/* Computes the time from which an organisation's writes may be repeated: relative to its last event
 * or to the wall clock, whichever is earlier, so that a wrong clock of one organisation does not
 * affect others. */
static enum err find_keys_from(const struct replay *replay, struct store_txn *source,
                               struct org_id org, int64_t *ret_from_us)
{
    struct log_walk walk;
    struct event last;
    enum err err = log_walk_init(&walk, source, org, 0, STORE_DESCENDING);

    if (err == OK) {
        err = log_walk_next(&walk, &last);
    }
    log_walk_deinit(&walk);
    if (err == OK) {
        int64_t written_us = event_written_at_us(&last);
        int64_t newest_us =
            written_us < replay->config->now_us ? written_us : replay->config->now_us;

        *ret_from_us = newest_us - REPLAY_KEYS_US;
    }
    return err == ERR_CORRUPT ? OK : err; /* a corrupt event: the replay will reach and report it */
}

static enum err replay_org(struct replay *replay, struct store_txn *source, struct org_walk *walk)
{
    struct key prefix = key_org(walk->org);
    enum err err = find_keys_from(replay, source, walk->org, &walk->keys_from_us);

    if (err != OK) {
        return err;
    }
    err = store_cursor_init(&walk->cursor, source, TABLE_EVENT, key_slice(&prefix),
                            slice_of(NULL, 0), STORE_ASCENDING);
    if (err == OK) {
        err = replay_batches(replay, walk);
    }
    store_cursor_deinit(&walk->cursor);
    return err;
}

/* Reports an organisation whose log is invalid. */
static enum err note_broken(struct replay *replay, const struct org_walk *walk)
{
    struct replay_report *report = replay->report;

    if (report->broken_count == 0) {
        report->broken_org = walk->org;
        report->broken_seq = walk->broken_seq;
        report->broken_by = walk->broken_by;
    }
    report->broken_count++;
    return replay->stops ? ERR_CORRUPT : OK;
}

static enum err replay_or_break(struct replay *replay, struct store_txn *source, struct uuid org)
{
    struct org_walk walk = {.org = {org}};
    enum err err = OK;

    replay->report->organizations++;
    if (replay_is_no_org(org)) {
        (void)break_at(&walk, 1, REPLAY_BYTES); /* events of no organisation */
        return note_broken(replay, &walk);
    }
    err = replay_org(replay, source, &walk);
    return walk.broken_by != REPLAY_WHOLE ? note_broken(replay, &walk) : err;
}

enum err replay_next_log(struct store_txn *source, const struct uuid *after, struct uuid *ret_org)
{
    const struct uuid *before = after;
    bool is_marked = true;
    enum err err = OK;

    while (err == OK && is_marked) {
        err = store_next_org(source, TABLE_EVENT, before, ret_org);
        if (err == OK) {
            err = log_deletion_is_marked(source, (struct org_id){.uuid = *ret_org}, &is_marked);
        }
        before = ret_org;
    }
    return err;
}

/* Counts the events by the last sequence number of each log. */
static enum err count_events(struct replay *replay, struct store_txn *source)
{
    struct uuid org;
    enum err err = replay_next_log(source, NULL, &org);

    while (err == OK) {
        uint64_t last_seq = 0;

        err = replay_last_seq(source, org, &last_seq);
        if (err != OK && err != ERR_CORRUPT) {
            return err;
        }
        replay->progress.events_total += last_seq;
        err = replay_next_log(source, &org, &org);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err replay_events(struct replay *replay, struct store_txn *source)
{
    struct uuid org;
    enum err err = count_events(replay, source);

    replay->progress.step = "replay";
    if (err == OK) {
        err = replay_next_log(source, NULL, &org);
    }
    while (err == OK) {
        err = replay_or_break(replay, source, org);
        if (err == OK) {
            err = replay_next_log(source, &org, &org);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}
