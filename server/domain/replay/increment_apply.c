/*
 * increment_apply.c: applies a checked increment. Logs advance in batches, one after another; a mark in the first
 * batch says that the store is of no moment that ever was, until the last batch removes it.
 */
#include "server/domain/replay/increment_internal.h"

#include "server/domain/admin/organization_deletion.h"
#include "server/domain/admin/token_use.h"
#include "store/log_deletion.h"
#include "store/log_import.h"
#include "store/meta.h"

#define ARENA_BYTES (64u << 20)
#define EVENT_ARENA_BYTES (16u << 20)

struct applying {
    const struct increment_source *source;
    const struct increment_target *target;
    struct increment_reader reader;
    struct replay replay;
    struct replay_config config;
    struct replay_report report; /* for `replay` */
    struct org_walk walk; /* progress of the log that is being applied */
    struct increment_log log;
    bool in_log;
    bool in_meta; /* values of the server are read */
    struct store_txn *txn; /* the batch; NULL: none is open */
    size_t batch_events;
    size_t batch_bytes;
};

/* --- the mark --- */

static enum err put_mark(struct applying *applying)
{
    struct key key = key_meta_global(SLICE(KEY_META_RESTORE));
    const struct meta_record record = {.number = 1};

    return meta_put(&applying->replay.arena, applying->txn, &key, &record);
}

enum err increment_is_unfinished(struct store_txn *txn, bool *ret_is_unfinished)
{
    struct key key = key_meta_global(SLICE(KEY_META_RESTORE));

    return meta_exists(txn, &key, ret_is_unfinished);
}

/* --- batches --- */

/* Opens a batch, if none is open. */
static enum err need_batch(struct applying *applying)
{
    if (applying->txn != NULL) {
        return OK;
    }
    applying->batch_events = 0;
    applying->batch_bytes = 0;
    return store_begin(applying->target->backend, STORE_WRITE, &applying->txn);
}

static enum err end_batch(struct applying *applying)
{
    struct store_txn *txn = applying->txn;

    applying->txn = NULL;
    return txn == NULL ? OK : store_commit(txn);
}

static enum err end_full_batch(struct applying *applying)
{
    const struct increment_target *target = applying->target;
    enum err err = OK;

    if (applying->batch_events < REPLAY_BATCH_EVENTS &&
        applying->batch_bytes < REPLAY_BATCH_BYTES) {
        return OK;
    }
    err = replay_put_key(&applying->replay, applying->txn, &applying->walk);
    if (err == OK) {
        err = end_batch(applying);
    }
    if (err == OK && target->on_progress != NULL) {
        target->on_progress(target->user, true, applying->reader.at, applying->source->end);
    }
    return err;
}

/* --- logs --- */

/* Ends a log: it must end as that of the file's store. */
static enum err end_log(struct applying *applying)
{
    struct log_head head;
    enum err err = applying->in_log ? need_batch(applying) : ERR_NOT_FOUND;

    if (err == OK) {
        err = replay_keep_key(&applying->replay, applying->txn, &applying->walk);
    }
    if (err == OK) {
        err = log_read_head(applying->txn, applying->log.org, &head);
    }
    if (err == OK && (head.last_seq != applying->log.last_seq ||
                      memcmp(head.last_envelope_sha256.bytes,
                             applying->log.last_envelope_sha256.bytes, SHA256_BYTES) != 0)) {
        err = increment_say_malformed(applying->source, applying->target->fault,
                                      "has a log that does not end with its last event");
    }
    applying->in_log = false;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err begin_log(struct applying *applying, struct slice payload)
{
    struct log_head head;
    enum err err = end_log(applying);

    if (err == OK) {
        err = need_batch(applying);
    }
    if (err == OK) {
        applying->log = increment_read_log(payload);
        err = log_read_head(applying->txn, applying->log.org, &head);
    }
    if (err != OK) {
        return err;
    }
    applying->walk =
        (struct org_walk){.org = applying->log.org,
                          .last_seq = head.last_seq,
                          .keys_from_us = applying->source->created_at_us - REPLAY_KEYS_US};
    applying->in_log = true;
    return replay_resume_write(&applying->replay, applying->txn, &applying->walk);
}

static enum err apply_event(struct applying *applying, struct slice payload)
{
    uint64_t seq = increment_read_seq(payload);
    struct key key = key_event(applying->walk.org, seq);
    struct slice row = slice_after(payload, sizeof(uint64_t));
    enum err err = OK;

    if (!applying->in_log || seq <= applying->walk.last_seq) {
        return OK; /* the store has it already */
    }
    err = need_batch(applying);
    if (err == OK) {
        err = replay_event(&applying->replay, applying->txn, &applying->walk, key_slice(&key), row);
    }
    arena_reset(&applying->replay.arena);
    if (err == ERR_CORRUPT && applying->walk.broken_by != REPLAY_WHOLE) {
        return increment_say_malformed(applying->source, applying->target->fault,
                                       "has an event that does not follow from those before it");
    }
    applying->batch_events++;
    applying->batch_bytes += row.size;
    return err != OK ? err : end_full_batch(applying);
}

/* Puts the vector of a turn whose content is kept. Events that the store had already may have lost theirs here. */
static enum err apply_vector(struct applying *applying, struct slice payload)
{
    uint64_t seq = increment_read_seq(payload);
    struct key key = key_org_seq(applying->log.org, seq);
    bool is_removed = false;
    enum err err = need_batch(applying);

    if (err == OK) {
        err = log_content_is_removed(applying->txn, applying->log.org, seq, &is_removed);
    }
    if (err != OK || is_removed) {
        return err;
    }
    applying->batch_bytes += payload.size;
    err = store_put(applying->txn, TABLE_TURN_VECTOR, key_slice(&key),
                    slice_after(payload, sizeof(uint64_t)));
    return err != OK ? err : end_full_batch(applying);
}

/* --- the end --- */

/* Removes the marks of imports, which the file has as they were. */
static enum err remove_import_marks(struct applying *applying)
{
    struct uuid org;
    enum err err = store_next_org(applying->txn, TABLE_EVENT, NULL, &org);

    while (err == OK) {
        err = log_import_end(applying->txn, (struct org_id){org});
        if (err == OK) {
            err = store_next_org(applying->txn, TABLE_EVENT, &org, &org);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err put_meta(struct applying *applying, struct slice payload)
{
    size_t key_bytes = payload.data[0];
    struct slice key = slice_of(payload.data + 1, key_bytes);
    bool is_stale = false;
    enum err err = token_use_is_stale(applying->txn, key, &is_stale);

    if (err != OK || is_stale || !increment_has_meta(key)) {
        return err;
    }
    return store_put(applying->txn, TABLE_META, key, slice_after(payload, 1 + key_bytes));
}

/* Puts a value of the server; before the first one the last log ends. */
static enum err apply_meta(struct applying *applying, struct slice payload)
{
    enum err err = end_log(applying);

    if (err == OK) {
        err = need_batch(applying);
    }
    if (err == OK && !applying->in_meta) {
        err = remove_import_marks(applying);
    }
    applying->in_meta = true;
    return err != OK ? err : put_meta(applying, payload);
}

static enum err apply_record(struct applying *applying, const struct increment_record *record)
{
    switch (record->type) {
    case INCREMENT_ORGANIZATION:
        return begin_log(applying, record->payload);
    case INCREMENT_EVENT:
        return apply_event(applying, record->payload);
    case INCREMENT_TURN_VECTOR:
        return apply_vector(applying, record->payload);
    case INCREMENT_META:
        return apply_meta(applying, record->payload);
    case INCREMENT_DELETING:
        break; /* increment_check has read it */
    }
    return OK;
}

static enum err apply_records(struct applying *applying)
{
    enum err err = OK;

    while (err == OK) {
        struct increment_record record;

        err = increment_reader_next(&applying->reader, &record);
        if (err == OK) {
            err = apply_record(applying, &record);
        }
    }
    return err == ERR_NOT_FOUND ? end_log(applying) : err;
}

/* Deletes what is left of an organisation that the file does not have any more, if it is marked. */
static enum err delete_rest(struct applying *applying, struct org_id org)
{
    struct organization_deletion_position position = {.has_no_tokens = false};
    size_t count = 1;
    enum err err = OK;

    while (err == OK && count > 0) {
        err = need_batch(applying);
        if (err == OK) {
            err = organization_deletion_step(&applying->replay.ctx, applying->txn, org,
                                             LOG_DELETION_ROWS_MAX, &position, &count);
        }
        arena_reset(&applying->replay.arena);
        if (err == OK) {
            err = end_batch(applying);
        }
    }
    if (err == OK) {
        err = need_batch(applying);
    }
    if (err == OK) {
        err = organization_deletion_finish(&applying->replay.ctx, applying->txn, org);
    }
    arena_reset(&applying->replay.arena);
    return err;
}

/* Deletes the organisations that are marked here, and whose deletion has ended in the store that the file is from. */
static enum err delete_gone(struct applying *applying, const struct increment_findings *findings,
                            struct increment_report *report)
{
    struct log_deletion deletion;
    const struct uuid *after = NULL;
    struct uuid last;
    enum err err = OK;

    while (err == OK) {
        err = need_batch(applying);
        if (err == OK) {
            err = log_deletion_next(applying->txn, after, &deletion);
        }
        if (err == OK && !increment_has_id(&findings->deleting, deletion.org.uuid)) {
            err = delete_rest(applying, deletion.org);
            report->deleted++;
        }
        if (err == OK) {
            last = deletion.org.uuid;
            after = &last;
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err remove_mark(struct applying *applying)
{
    struct key key = key_meta_global(SLICE(KEY_META_RESTORE));
    enum err err = need_batch(applying);

    return err != OK ? err : store_del_if_present(applying->txn, TABLE_META, key_slice(&key));
}

static enum err apply_all(struct applying *applying, const struct increment_findings *findings,
                          struct increment_report *report)
{
    enum err err = need_batch(applying);

    if (err == OK) {
        err = put_mark(applying);
    }
    if (err == OK) {
        err = apply_records(applying);
    }
    if (err == OK) {
        err = delete_gone(applying, findings, report);
    }
    if (err == OK) {
        err = remove_mark(applying);
    }
    if (err == OK) {
        err = end_batch(applying);
    }
    store_abort(applying->txn);
    return err;
}

static enum err apply_checked(const struct increment_source *source,
                              const struct increment_target *target,
                              const struct increment_findings *findings, struct arena *arena,
                              struct increment_report *report)
{
    struct applying applying = {.source = source, .target = target};
    enum err err = increment_reader_init(&applying.reader, source, arena, target->fault);

    if (err != OK) {
        return err;
    }
    applying.config = (struct replay_config){.clock = clock_system(), .random = random_system()};
    applying.replay = (struct replay){.config = &applying.config,
                                      .report = &applying.report,
                                      .keeps_keys = true,
                                      .stops = true,
                                      .restores = true};
    arena_init(&applying.replay.arena, EVENT_ARENA_BYTES);
    applying.replay.ctx =
        (struct ctx){&applying.replay.arena, applying.config.clock, applying.config.random, NULL};
    err = apply_all(&applying, findings, report);
    arena_deinit(&applying.replay.arena);
    return err;
}

enum err increment_apply(const struct increment_source *source,
                         const struct increment_target *target, struct increment_report *ret_report)
{
    struct increment_findings findings;
    struct increment_report report = {.organizations = 0};
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, ARENA_BYTES);
    err = increment_check(source, target, &arena, &findings);
    if (err == OK) {
        report.organizations = findings.organizations;
        report.events = findings.events;
        err = apply_checked(source, target, &findings, &arena, &report);
    }
    arena_deinit(&arena);
    if (err == OK) {
        *ret_report = report;
    }
    return err;
}
