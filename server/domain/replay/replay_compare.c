/*
 * replay_compare.c: compares the stored rows with those of the replay, organisation by organisation
 * and table by table, with two cursors. Equal rows need no memory.
 */
#include "server/domain/admin/organization_deletion.h"
#include "server/domain/replay/replay_internal.h"

/* One of the two cursors over a table. */
struct side {
    struct store_cursor cursor;
    struct slice key;
    struct slice value;
    bool has; /* key and value contain a row */
};

static enum err side_next(struct side *side)
{
    enum err err = store_cursor_next(&side->cursor, &side->key, &side->value);

    side->has = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err side_init(struct side *side, struct store_txn *txn, enum store_table table,
                          struct uuid org)
{
    struct key prefix = replay_prefix(org);
    enum err err = OK;

    memset(side, 0, sizeof(*side));
    err = store_cursor_init(&side->cursor, txn, table, key_slice(&prefix), slice_of(NULL, 0),
                            STORE_ASCENDING);
    return err != OK ? err : side_next(side);
}

static void note_difference(struct replay *replay, enum replay_difference_kind kind,
                            enum store_table table, struct slice key)
{
    struct replay_report *report = replay->report;

    if (report->difference_count < REPLAY_DIFFERENCES_MAX) {
        struct replay_difference *difference = &report->differences[report->difference_count];

        difference->kind = kind;
        difference->table = table;
        difference->key_bytes =
            key.size < sizeof(difference->key) ? key.size : sizeof(difference->key);
        memcpy(difference->key, key.data, difference->key_bytes);
    }
    report->difference_count++;
}

/* Returns whether a stored row without an organisation belongs to one that is being deleted, whose log is not replayed. */
static bool is_of_deleted(const struct side *stored, enum store_table table)
{
    struct org_id owner;
    bool is_marked = false;

    return admin_row_owner(table, stored->key, stored->value, &owner.uuid) &&
           log_deletion_is_marked(stored->cursor.txn, owner, &is_marked) == OK && is_marked;
}

static void note_extra(struct replay *replay, enum store_table table, const struct side *stored)
{
    if (!is_of_deleted(stored, table)) {
        note_difference(replay, REPLAY_ROW_EXTRA, table, stored->key);
    }
}

/* Compares the current rows of both cursors, and advances the cursors of compared rows. */
static enum err compare_row(struct replay *replay, enum store_table table, struct side *stored,
                            struct side *made)
{
    int order = !stored->has ? 1 : !made->has ? -1 : slice_compare(stored->key, made->key);
    enum err err = OK;

    if (order < 0) {
        note_extra(replay, table, stored);
    } else if (order > 0) {
        note_difference(replay, REPLAY_ROW_MISSING, table, made->key);
    } else if (!slice_equal(stored->value, made->value)) {
        note_difference(replay, REPLAY_ROW_OTHER, table, stored->key);
    }
    if (order <= 0) {
        err = side_next(stored);
    }
    if (err == OK && order >= 0) {
        err = side_next(made);
    }
    return err;
}

static enum err compare_rows(struct replay *replay, enum store_table table, struct side *stored,
                             struct side *made)
{
    enum err err = OK;

    while (err == OK && (stored->has || made->has)) {
        err = compare_row(replay, table, stored, made);
        replay->report->rows++;
        replay->progress.rows = replay->report->rows;
        if (err == OK && replay->report->rows % REPLAY_PROGRESS_ROWS == 0) {
            err = replay_report_progress(replay);
        }
    }
    return err;
}

static enum err compare_table(struct replay *replay, struct store_txn *source,
                              struct store_txn *target, struct uuid org, enum store_table table)
{
    struct side stored;
    struct side made = {.has = false};
    enum err err = side_init(&stored, source, table, org);

    if (err == OK) {
        err = side_init(&made, target, table, org);
    }
    if (err == OK) {
        err = compare_rows(replay, table, &stored, &made);
    }
    store_cursor_deinit(&made.cursor);
    store_cursor_deinit(&stored.cursor);
    return err;
}

/* Returns whether the rows of an organisation can be compared: its whole log was replayed. Rows
 * without an organisation depend on all logs. */
static enum err is_whole(struct replay *replay, struct store_txn *source, struct store_txn *target,
                         struct uuid org, bool *ret_whole)
{
    struct org_id owner = {org};
    struct log_head head;
    uint64_t last_seq = 0;
    enum err err = OK;

    if (replay_is_no_org(org) || replay->report->broken_count == 0) {
        *ret_whole = replay->report->broken_count == 0;
        return OK;
    }
    err = replay_last_seq(source, org, &last_seq);
    if (err == OK || err == ERR_NOT_FOUND) {
        err = log_read_head(target, owner, &head);
        *ret_whole = err == OK && head.last_seq == last_seq;
        return err;
    }
    *ret_whole = false;
    return err == ERR_CORRUPT ? OK : err;
}

static enum err compare_org(struct replay *replay, struct store_txn *source,
                            struct store_txn *target, struct uuid org)
{
    bool is_marked = false;
    bool whole = false;
    enum err err = log_deletion_is_marked(source, (struct org_id){.uuid = org}, &is_marked);

    if (err == OK && !is_marked) {
        err = is_whole(replay, source, target, org, &whole);
    }

    for (size_t i = 0; i < TABLE_COUNT && err == OK && whole; i++) {
        if (store_table_class((enum store_table)i) == STORE_PROJECTION) {
            err = compare_table(replay, source, target, org, (enum store_table)i);
        }
    }
    return err;
}

/* Finds the next organisation in `txn`, and keeps it if it precedes the one found so far. */
static enum err choose_next(struct store_txn *txn, enum store_table table, const struct uuid *after,
                            bool *has, struct uuid *next)
{
    struct uuid org;
    enum err err = store_next_org(txn, table, after, &org);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    if (!*has || memcmp(org.bytes, next->bytes, UUID_BYTES) < 0) {
        *has = true;
        *next = org;
    }
    return OK;
}

/* Finds the next organisation of which either side has a row. ERR_NOT_FOUND after the last one. */
static enum err next_org(struct store_txn *source, struct store_txn *target,
                         const struct uuid *after, struct uuid *ret_org)
{
    bool has = false;
    struct uuid next = {{0}};

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        enum err err = OK;

        if (store_table_class((enum store_table)i) != STORE_PROJECTION) {
            continue;
        }
        err = choose_next(source, (enum store_table)i, after, &has, &next);
        if (err == OK) {
            err = choose_next(target, (enum store_table)i, after, &has, &next);
        }
        if (err != OK) {
            return err;
        }
    }
    if (!has) {
        return ERR_NOT_FOUND;
    }
    *ret_org = next;
    return OK;
}

static enum err compare_all(struct replay *replay, struct store_txn *source,
                            struct store_txn *target)
{
    struct uuid org;
    enum err err = next_org(source, target, NULL, &org);

    while (err == OK) {
        err = compare_org(replay, source, target, org);
        if (err == OK) {
            err = next_org(source, target, &org, &org);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err replay_compare(struct replay *replay, struct store_txn *source)
{
    struct store_txn *target = NULL;
    enum err err = store_begin(replay->config->target, STORE_READ, &target);

    if (err != OK) {
        return err;
    }
    replay->progress.step = "compare";
    err = compare_all(replay, source, target);
    store_abort(target);
    return err != OK ? err : replay_report_progress(replay);
}
