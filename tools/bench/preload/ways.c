/*
 * ways.c: see ways.h. Both create all organisations first, one per transaction, then write the events of
 * one organisation after the other. Ids of organisations ascend with the time of their making, so that
 * the bulk way writes each table from its first key to its last.
 */
#include "tools/bench/preload/ways.h"

#include "store/memory/memory.h"
#include "tools/bench/preload/stage.h"

/* Events a commit where each goes into the store. */
#define PLAIN_EVENTS_A_COMMIT 10000

static enum err make_orgs(struct script *script, struct store_backend *backend)
{
    enum err err = OK;

    for (uint32_t org = 0; org < script->options->org_count && err == OK; org++) {
        struct store_txn *txn = NULL;

        err = store_begin(backend, STORE_WRITE, &txn);
        if (err != OK) {
            return err;
        }
        err = script_make_org(script, txn, org);
        if (err != OK) {
            store_abort(txn);
            return err;
        }
        err = store_commit(txn);
    }
    return err;
}

/* Writes the events of one commit. */
static enum err write_some(struct script *script, struct store_backend *store, uint64_t count)
{
    struct store_txn *txn = NULL;
    enum err err = store_begin(store, STORE_WRITE, &txn);

    if (err != OK) {
        return err;
    }
    for (uint64_t i = 0; i < count && err == OK; i++) {
        err = script_step(script, txn);
    }
    if (err != OK) {
        store_abort(txn);
        return err;
    }
    return store_commit(txn);
}

enum err ways_load_plain(struct script *script, struct store_backend *store,
                         struct progress *progress)
{
    enum err err = make_orgs(script, store);

    for (uint32_t org = 0; org < script->options->org_count && err == OK; org++) {
        uint64_t left = script_event_count(script->options, org);

        script_start_org(script, org);
        while (left > 0 && err == OK) {
            uint64_t count = left < PLAIN_EVENTS_A_COMMIT ? left : PLAIN_EVENTS_A_COMMIT;

            err = write_some(script, store, count);
            progress_add(progress, count);
            left -= count;
        }
    }
    return err;
}

/* The destination of copied rows: a stage, or directly the store. */
struct copy {
    struct store_txn *from;
    struct store_txn *to; /* transaction of a stage; NULL: the rows go to the feed */
    struct feed *feed;
    struct key prefix;
};

static enum err copy_row(const struct copy *copy, enum store_table table, struct slice key,
                         struct slice value)
{
    if (copy->to == NULL) {
        return feed_put(copy->feed, table, key, value);
    }
    return stage_passes(table) ? store_append(copy->to, table, key, value)
                               : store_put(copy->to, table, key, value);
}

static enum err copy_table(const struct copy *copy, enum store_table table)
{
    const struct slice from_start = {NULL, 0};
    struct store_cursor cursor = {0};
    enum err err = store_cursor_init(&cursor, copy->from, table, key_slice(&copy->prefix),
                                     from_start, STORE_ASCENDING);

    while (err == OK) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK) {
            err = copy_row(copy, table, key, value);
        }
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err copy_rows(const struct copy *copy)
{
    enum err err = OK;

    for (size_t i = 0; i < TABLE_COUNT && err == OK; i++) {
        err = copy_table(copy, (enum store_table)i);
    }
    return err;
}

struct bulk {
    struct script *script;
    struct progress *progress;
    struct feed *feed;
    struct store_txn *made; /* read transaction with the rows of the created organisations */
};

/* Writes all events of an organisation on a stage that contains the rows of its creation, and
 * copies the resulting rows. */
static enum err write_on_stage(struct bulk *bulk, struct store_txn *txn, uint32_t org)
{
    struct script *script = bulk->script;
    const struct copy copy = {.from = bulk->made, .to = txn, .prefix = key_org(script->orgs[org])};
    uint64_t count = script_event_count(script->options, org);
    enum err err = copy_rows(&copy);

    script_start_org(script, org);
    for (uint64_t i = 0; i < count && err == OK; i++) {
        err = script_step(script, txn);
        progress_add(bulk->progress, 1);
    }
    return err;
}

static enum err load_org(struct bulk *bulk, uint32_t org)
{
    struct stage *stage = NULL;
    struct store_txn *txn = NULL;
    enum err err = stage_open(bulk->feed, &stage);

    if (err == OK) {
        err = store_begin(stage_backend(stage), STORE_WRITE, &txn);
    }
    if (err == OK) {
        err = write_on_stage(bulk, txn, org);
    }
    if (err == OK) {
        err = stage_drain(stage, txn, bulk->script->orgs[org]);
    }
    store_abort(txn);
    stage_close(stage);
    return err;
}

static enum err load_orgs(struct bulk *bulk)
{
    const struct copy copy = {
        .from = bulk->made, .feed = bulk->feed, .prefix = key_global_prefix()};
    enum err err = copy_rows(&copy);

    for (uint32_t org = 0; org < bulk->script->options->org_count && err == OK; org++) {
        err = load_org(bulk, org);
    }
    return err;
}

/* Feeds everything into the store; `made` is a memory back end with the organisations in it. */
static enum err load_from(struct bulk *bulk, struct store_backend *made,
                          struct store_backend *store)
{
    enum err err = store_begin(made, STORE_READ, &bulk->made);
    enum err closed = OK;

    if (err == OK) {
        err = feed_open(store, &bulk->feed);
    }
    if (err == OK) {
        err = load_orgs(bulk);
    }
    closed = feed_close(bulk->feed);
    store_abort(bulk->made);
    return err != OK ? err : closed;
}

enum err ways_load_bulk(struct script *script, struct store_backend *store,
                        struct progress *progress)
{
    struct bulk bulk = {.script = script, .progress = progress};
    struct store_backend *made = NULL;
    enum err err = store_memory_open(&made);

    if (err == OK) {
        err = make_orgs(script, made);
    }
    if (err == OK) {
        err = load_from(&bulk, made, store);
    }
    store_memory_close(made);
    return err;
}
