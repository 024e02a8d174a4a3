/*
 * replay.c: the two operations of replay.h, and the functions that their steps share.
 */
#include "server/domain/replay/replay.h"

#include "server/domain/replay/replay_internal.h"

/* Memory limit for encoding the generic rows of one event, with a large margin; apply uses separate
 * memory. */
#define REPLAY_ARENA_BYTES (16u << 20)

struct key replay_prefix(struct uuid org)
{
    struct org_id owner = {org};

    return replay_is_no_org(org) ? key_global_prefix() : key_org(owner);
}

bool replay_is_no_org(struct uuid org)
{
    static const struct uuid zero;

    return uuid_equal(org, zero);
}

enum err replay_last_seq(struct store_txn *txn, struct uuid org, uint64_t *ret_seq)
{
    struct key prefix = replay_prefix(org);
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, txn, TABLE_EVENT, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_DESCENDING);

    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK) {
        err = key_read_event(key, ret_seq);
    }
    store_cursor_deinit(&cursor);
    return err;
}

enum err replay_report_progress(struct replay *replay)
{
    const struct replay_config *config = replay->config;

    if (config->on_progress != NULL && !config->on_progress(config->user, &replay->progress)) {
        return ERR_CANCELLED;
    }
    return OK;
}

static void init(struct replay *replay, const struct replay_config *config,
                 struct replay_report *report)
{
    memset(replay, 0, sizeof(*replay));
    memset(report, 0, sizeof(*report));
    replay->config = config;
    replay->report = report;
    arena_init(&replay->arena, REPLAY_ARENA_BYTES);
    replay->ctx = (struct ctx){&replay->arena, config->clock, config->random, NULL};
}

/* Replays the log; with `compare`, compares the rows with it as well. */
static enum err run(const struct replay_config *config, bool compare,
                    struct replay_report *ret_report)
{
    struct store_txn *source = NULL;
    struct replay replay;
    enum err err = store_begin(config->source, STORE_READ, &source);

    if (err != OK) {
        return err;
    }
    init(&replay, config, ret_report);
    replay.keeps_keys = !compare;
    replay.stops = !compare;
    replay.needs_organizations = compare;
    err = replay_events(&replay, source);
    if (err == OK && compare) {
        err = replay_compare(&replay, source);
    }
    arena_deinit(&replay.arena);
    store_abort(source);
    return err;
}

enum err replay_log(const struct replay_config *config, struct replay_report *ret_report)
{
    return run(config, false, ret_report);
}

enum err replay_verify(const struct replay_config *config, struct replay_report *ret_report)
{
    return run(config, true, ret_report);
}

bool replay_is_clean(const struct replay_report *report)
{
    return report->broken_count == 0 && report->difference_count == 0;
}

const char *replay_break_text(enum replay_break broken_by)
{
    switch (broken_by) {
    case REPLAY_WHOLE:
        return "holds";
    case REPLAY_GAP:
        return "is missing, although later events exist";
    case REPLAY_BYTES:
        return "does not decode";
    case REPLAY_HASH:
        return "does not have the hashes of its facts and content";
    case REPLAY_CHAIN:
        return "does not continue the previous event: the chain of hashes is broken";
    case REPLAY_APPLY:
        return "can't be applied";
    case REPLAY_NO_ORGANIZATION:
        return "is the first of its log, but does not create the organisation, so the log belongs "
               "to none";
    }
    return "does not hold";
}
