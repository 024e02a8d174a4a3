/*
 * log_test.c: numbers, times, chain and search of events; a replay of them makes the same rows.
 */
#include "tests/unit/store/store_tests.h"

#include "store/log.h"
#include "store/log_engine.h"
#include "store/memory/memory.h"
#include "store/records.h"
#include "tests/support/store/store_fixture.h"

/* Kinds of subjects, which only the domain defines. */
#define KIND_ONE 1
#define KIND_TWO 2

static struct store_txn *begin(struct store_backend *backend, enum store_access access)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(backend, access, &txn), OK);
    return txn;
}

/* A live feedback event about the layout `acme` with the content given. */
static struct event append(struct store_fixture *fixture, struct store_txn *txn, uint8_t org,
                           const char *content)
{
    struct event_draft draft = {
        .org = store_fixture_org(org),
        .kind = EVENT_FEEDBACK,
        .annotator = ANNOTATOR_HUMAN,
        .source = SOURCE_LIVE,
        .actor_user_id = SLICE("anna"),
        .subjects = {{KIND_ONE, SLICE("acme")}, {KIND_TWO, SLICE("doc-1")}},
        .subject_count = 2,
        .facts = SLICE("facts"),
        .content = slice_text(content),
    };
    struct event event;

    assert_int_equal(log_next_stamp(&fixture->ctx, txn, draft.org, &draft.stamp), OK);
    draft.created_at_us = draft.stamp.created_at_us;
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), OK);
    return event;
}

/* Commits `count` events of one organisation, a millisecond apart. */
static void fill(struct store_fixture *fixture, uint8_t org, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct store_txn *txn = begin(fixture->backend, STORE_WRITE);

        log_begin_write(txn, NULL);
        (void)append(fixture, txn, org, "content");
        assert_int_equal(store_commit(txn), OK);
        clock_manual_advance(&fixture->clock, 1000);
    }
}

/* Goal: a head counts the bytes of its organisation's facts and contents, and not those of removed
 * ones. Method: events of two organisations, and a content that is removed twice. */
static void test_head_counts_stored_bytes(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = NULL;
    struct log_head head;

    fill(fixture, 1, 3);
    fill(fixture, 2, 1);
    txn = begin(fixture->backend, STORE_WRITE);
    assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
    assert_true(head.stored_bytes == 3 * strlen("factscontent"));
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(log_remove_content(&fixture->ctx, txn, store_fixture_org(1), 2), OK);
        assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
        assert_true(head.stored_bytes == 3 * strlen("factscontent") - strlen("content"));
        assert_int_equal(head.last_seq, 3);
    }
    assert_int_equal(log_read_head(txn, store_fixture_org(2), &head), OK);
    assert_true(head.stored_bytes == strlen("factscontent"));
    log_begin_write(txn, NULL);
    (void)append(fixture, txn, 1, "");
    assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
    assert_true(head.stored_bytes == 4 * strlen("factscontent") - 2 * strlen("content"));
    store_abort(txn);
}

/* Goal: a read transaction has the head of its snapshot, until it is renewed. Method: two
 * organisations, queried in turn while another transaction appends, before and after a renewal. */
static void test_reader_keeps_the_head_of_its_snapshot(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = NULL;
    struct log_head head = {.last_seq = 99};

    fill(fixture, 1, 2);
    txn = begin(fixture->backend, STORE_READ);
    assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
    assert_int_equal(head.last_seq, 2);
    fill(fixture, 1, 1);
    assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
    assert_int_equal(head.last_seq, 2);
    assert_int_equal(log_read_head(txn, store_fixture_org(2), &head), OK);
    assert_int_equal(head.last_seq, 0);
    assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
    assert_int_equal(head.last_seq, 2);
    store_reset(txn);
    assert_int_equal(store_renew(txn), OK);
    assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
    assert_int_equal(head.last_seq, 3);
    store_abort(txn);
}

/* Goal: an appended event is read back. Method: one event with every field, from the append's view
 * and from the table, by number and by id. */
static void test_appended_event_is_read_back(void **state)
{
    struct store_fixture *fixture = *state;
    struct org_id org = store_fixture_org(1);
    struct event_idempotency key = {.present = true, .org = org, .key_hash = {1, 2, 3}};
    struct store_txn *txn = begin(fixture->backend, STORE_WRITE);
    struct event appended;
    struct event second;
    struct event read;
    uint64_t seq = 0;

    log_begin_write(txn, &key);
    appended = append(fixture, txn, 1, "content");
    second = append(fixture, txn, 1, "");
    assert_int_equal(store_commit(txn), OK);
    txn = begin(fixture->backend, STORE_READ);
    assert_int_equal(log_read(txn, org, 1, &read), OK);
    assert_int_equal(read.seq, 1);
    assert_true(uuid_equal(read.id, appended.id));
    assert_int_equal(read.recorded_at_us, STORE_FIXTURE_START_US);
    assert_int_equal(read.created_at_us, STORE_FIXTURE_START_US);
    assert_true(slice_equal(read.actor_user_id, SLICE("anna")));
    assert_int_equal(read.subject_count, 2);
    assert_int_equal(read.subjects[1].kind, KIND_TWO);
    assert_true(slice_equal(read.subjects[1].id, SLICE("doc-1")));
    assert_true(slice_equal(read.facts, SLICE("facts")));
    assert_true(slice_equal(read.content, SLICE("content")));
    assert_int_equal(read.salt.size, EVENT_SALT_BYTES);
    assert_true(slice_equal(read.envelope, appended.envelope));
    assert_int_equal(read.write_index, 0);
    assert_true(read.idempotency.present);
    assert_memory_equal(read.idempotency.key_hash, key.key_hash, sizeof(key.key_hash));
    assert_int_equal(second.write_index, 1);
    assert_false(second.idempotency.present);
    assert_int_equal(second.salt.size, 0);
    assert_int_equal(log_find(txn, org, second.id, &seq), OK);
    assert_int_equal(seq, 2);
    assert_int_equal(log_read(txn, org, 3, &read), ERR_NOT_FOUND);
    assert_int_equal(log_read(txn, store_fixture_org(2), 1, &read), ERR_NOT_FOUND);
    assert_int_equal(log_find(txn, store_fixture_org(2), second.id, &seq), ERR_NOT_FOUND);
    store_abort(txn);
}

/* Goal: recorded_at is the later of the clock and the last event's, created_at the clock's, and ids
 * grow, for any clock. Method: a clock that stops, goes back and continues. */
static void test_recorded_at_never_decreases(void **state)
{
    static const int64_t steps_us[] = {0, 0, -5000000, 3, 6000000};
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture->backend, STORE_WRITE);
    struct event before = append(fixture, txn, 1, "content");

    for (size_t i = 0; i < sizeof(steps_us) / sizeof(steps_us[0]); i++) {
        struct event event;

        fixture->clock.wall_us += steps_us[i];
        event = append(fixture, txn, 1, "content");
        assert_int_equal(event.seq, before.seq + 1);
        assert_int_equal(event.created_at_us, fixture->clock.wall_us);
        assert_int_equal(event.recorded_at_us, fixture->clock.wall_us > before.recorded_at_us
                                                   ? fixture->clock.wall_us
                                                   : before.recorded_at_us);
        assert_true(memcmp(event.id.bytes, before.id.bytes, UUID_BYTES) > 0);
        before = event;
    }
    assert_int_equal(before.recorded_at_us, fixture->clock.wall_us);
    store_abort(txn);
}

/* The next event of the backfill table's order; 0 at its end. */
static uint64_t next_seq(struct store_cursor *cursor)
{
    struct slice row = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = store_cursor_next(cursor, &row, &value);

    if (err == ERR_NOT_FOUND) {
        return 0;
    }
    assert_int_equal(err, OK);
    assert_int_equal(key_read_newest_first(row, &created_at_us, &seq), OK);
    return seq;
}

/* Goal: a live event whose place in the log does not follow from its date has a row by date: each
 * one with the recorded_at of the event before it, and no other. Method: a clock ahead, set back,
 * at the exact microsecond of the log's end, and after it. */
static void test_event_is_found_by_its_date(void **state)
{
    static const int64_t steps_us[] = {0, 5000000, -5000000, 1000, 4999000, 1};
    static const uint64_t apart[] = {5, 4, 3}; /* sorted by created_at, newest first */
    struct store_fixture *fixture = *state;
    struct key whole = key_org(store_fixture_org(1));
    struct store_txn *txn = begin(fixture->backend, STORE_WRITE);
    struct store_cursor cursor;

    for (size_t i = 0; i < sizeof(steps_us) / sizeof(steps_us[0]); i++) {
        fixture->clock.wall_us += steps_us[i];
        (void)append(fixture, txn, 1, "content");
    }
    assert_int_equal(store_cursor_init(&cursor, txn, TABLE_BACKFILL, key_slice(&whole),
                                       slice_of(NULL, 0), STORE_ASCENDING),
                     OK);
    for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
        assert_int_equal(next_seq(&cursor), apart[i]);
    }
    assert_int_equal(next_seq(&cursor), 0);
    store_cursor_deinit(&cursor);
    store_abort(txn);
}

/* Goal: an event is found by its main subject, newest first, and a backfilled one by its time, too.
 * Method: live and backfilled events, the rows walked. */
static void test_event_is_found_by_subject_and_time(void **state)
{
    struct store_fixture *fixture = *state;
    struct org_id org = store_fixture_org(1);
    struct key prefix = key_subject_prefix(org, KIND_ONE, SLICE("acme"));
    struct key whole = key_org(org);
    struct store_txn *txn = begin(fixture->backend, STORE_WRITE);
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_FEEDBACK,
        .annotator = ANNOTATOR_HUMAN,
        .source = SOURCE_BACKFILL,
        .created_at_us = STORE_FIXTURE_START_US - 10,
        .subjects = {{KIND_ONE, SLICE("acme")}},
        .subject_count = 1,
    };
    struct store_cursor cursor;
    struct slice row = {NULL, 0};
    struct slice value = {NULL, 0};
    struct event event;
    int64_t created_at_us = 0;
    uint64_t seq = 0;

    (void)append(fixture, txn, 1, "content");
    assert_int_equal(log_next_stamp(&fixture->ctx, txn, org, &draft.stamp), OK);
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), OK);
    assert_int_equal(store_cursor_init(&cursor, txn, TABLE_SUBJECT, key_slice(&prefix),
                                       slice_of(NULL, 0), STORE_ASCENDING),
                     OK);
    assert_int_equal(store_cursor_next(&cursor, &row, &value), OK);
    assert_int_equal(key_read_newest_first(row, &created_at_us, &seq), OK);
    assert_int_equal(seq, 1);
    assert_int_equal(store_cursor_next(&cursor, &row, &value), OK);
    assert_int_equal(key_read_newest_first(row, &created_at_us, &seq), OK);
    assert_int_equal(seq, 2);
    assert_int_equal(created_at_us, draft.created_at_us);
    assert_int_equal(store_cursor_next(&cursor, &row, &value), ERR_NOT_FOUND);
    store_cursor_deinit(&cursor);
    assert_int_equal(store_cursor_init(&cursor, txn, TABLE_BACKFILL, key_slice(&whole),
                                       slice_of(NULL, 0), STORE_ASCENDING),
                     OK);
    assert_int_equal(store_cursor_next(&cursor, &row, &value), OK);
    assert_int_equal(key_read_newest_first(row, &created_at_us, &seq), OK);
    assert_int_equal(seq, 2);
    assert_int_equal(store_cursor_next(&cursor, &row, &value), ERR_NOT_FOUND);
    store_cursor_deinit(&cursor);
    store_abort(txn);
}

/* Goal: a draft that is not the next event, or has a wrong time, is refused. Method: one of
 * each. */
static void test_invalid_draft_is_refused(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture->backend, STORE_WRITE);
    struct event_draft draft = {
        .org = store_fixture_org(1),
        .kind = EVENT_FEEDBACK,
        .annotator = ANNOTATOR_HUMAN,
        .source = SOURCE_LIVE,
        .subjects = {{KIND_ONE, SLICE("acme")}},
        .subject_count = 1,
    };
    struct event event;

    assert_int_equal(log_next_stamp(&fixture->ctx, txn, draft.org, &draft.stamp), OK);
    draft.created_at_us = draft.stamp.created_at_us - 1;
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), ERR_INTERNAL);
    draft.created_at_us = draft.stamp.created_at_us;
    draft.stamp.seq = 2;
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), ERR_INTERNAL);
    draft.stamp.seq = 1;
    draft.subject_count = 0;
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), ERR_INTERNAL);
    draft.subject_count = 1;
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), OK);
    store_abort(txn);
}

/* Goal: the search by time finds the last event recorded until that time. Method: times before, at and between
 * events. */
static void test_time_finds_the_last_event_by_then(void **state)
{
    struct store_fixture *fixture = *state;
    struct org_id org = store_fixture_org(1);
    struct store_txn *txn = NULL;
    uint64_t seq = 99;

    fill(fixture, 1, 20);
    txn = begin(fixture->backend, STORE_READ);
    assert_int_equal(log_seq_at(txn, org, STORE_FIXTURE_START_US - 1, &seq), OK);
    assert_int_equal(seq, 0);
    for (uint64_t i = 1; i <= 20; i++) {
        int64_t time_us = STORE_FIXTURE_START_US + (int64_t)(i - 1) * 1000;

        assert_int_equal(log_seq_at(txn, org, time_us, &seq), OK);
        assert_int_equal(seq, i);
        assert_int_equal(log_seq_at(txn, org, time_us + 999, &seq), OK);
        assert_int_equal(seq, i);
    }
    assert_int_equal(log_seq_at(txn, org, INT64_MAX, &seq), OK);
    assert_int_equal(seq, 20);
    assert_int_equal(log_seq_at(txn, store_fixture_org(2), INT64_MAX, &seq), OK);
    assert_int_equal(seq, 0);
    store_abort(txn);
}

/* Goal: a walk returns every event in order, from any place. Method: upwards and downwards. */
static void test_walk_returns_events_in_order(void **state)
{
    struct store_fixture *fixture = *state;
    struct org_id org = store_fixture_org(1);
    struct store_txn *txn = NULL;
    struct log_walk walk;
    struct event event;

    fill(fixture, 1, 5);
    fill(fixture, 2, 2);
    txn = begin(fixture->backend, STORE_READ);
    assert_int_equal(log_walk_init(&walk, txn, org, 2, STORE_ASCENDING), OK);
    for (uint64_t seq = 2; seq <= 5; seq++) {
        assert_int_equal(log_walk_next(&walk, &event), OK);
        assert_int_equal(event.seq, seq);
    }
    assert_int_equal(log_walk_next(&walk, &event), ERR_NOT_FOUND);
    log_walk_deinit(&walk);
    assert_int_equal(log_walk_init(&walk, txn, org, 0, STORE_DESCENDING), OK);
    for (uint64_t seq = 5; seq >= 1; seq--) {
        assert_int_equal(log_walk_next(&walk, &event), OK);
        assert_int_equal(event.seq, seq);
    }
    assert_int_equal(log_walk_next(&walk, &event), ERR_NOT_FOUND);
    log_walk_deinit(&walk);
    store_abort(txn);
}

/* Flips one byte of the stored event, at `at` from its end. */
static void tamper(struct store_fixture *fixture, uint64_t seq, size_t at)
{
    struct key key = key_event(store_fixture_org(1), seq);
    struct store_txn *txn = begin(fixture->backend, STORE_WRITE);
    struct slice value = {NULL, 0};
    uint8_t bytes[1024];

    assert_int_equal(store_get(txn, TABLE_EVENT, key_slice(&key), &value), OK);
    assert_true(value.size <= sizeof(bytes));
    memcpy(bytes, value.data, value.size);
    bytes[value.size - 1 - at] ^= 1;
    assert_int_equal(store_put(txn, TABLE_EVENT, key_slice(&key), slice_of(bytes, value.size)), OK);
    assert_int_equal(store_commit(txn), OK);
}

static enum err verify(struct store_fixture *fixture, uint64_t limit, struct log_check *check)
{
    struct store_txn *txn = begin(fixture->backend, STORE_READ);
    enum err err = log_verify_chain(txn, store_fixture_org(1), limit, check);

    store_abort(txn);
    return err;
}

/* Goal: the chain is valid only for the written events, also if verified in pieces. Method: change
 * each byte of a stored event in turn; drop an event; forge the head's neighbour. */
static void test_chain_detects_any_change(void **state)
{
    struct store_fixture *fixture = *state;
    struct key last = key_event(store_fixture_org(1), 10);
    struct store_txn *txn = NULL;
    struct log_check check = {0};

    fill(fixture, 1, 10);
    assert_int_equal(verify(fixture, 4, &check), OK);
    assert_int_equal(check.last_seq, 4);
    assert_int_equal(verify(fixture, 4, &check), OK);
    assert_int_equal(verify(fixture, 4, &check), OK);
    assert_int_equal(check.last_seq, 10);
    for (size_t at = 0; at < 60; at++) {
        tamper(fixture, 5, at);
        memset(&check, 0, sizeof(check));
        assert_int_equal(verify(fixture, 100, &check), ERR_CORRUPT);
        assert_true(check.last_seq == 4 || check.last_seq == 5);
        tamper(fixture, 5, at);
    }
    memset(&check, 0, sizeof(check));
    assert_int_equal(verify(fixture, 100, &check), OK);
    txn = begin(fixture->backend, STORE_WRITE);
    assert_int_equal(store_del(txn, TABLE_EVENT, key_slice(&last)), OK);
    assert_int_equal(store_commit(txn), OK);
    memset(&check, 0, sizeof(check));
    assert_int_equal(verify(fixture, 100, &check), ERR_CORRUPT);
    assert_int_equal(check.last_seq, 9);
}

static void put_head(struct store_fixture *fixture, const struct org_head_record *head)
{
    struct key key = key_org(store_fixture_org(1));
    struct store_txn *txn = begin(fixture->backend, STORE_WRITE);
    struct slice bytes;

    assert_int_equal(record_encode_org_head(&fixture->arena, head, &bytes), OK);
    assert_int_equal(store_put(txn, TABLE_ORG_HEAD, key_slice(&key), bytes), OK);
    assert_int_equal(store_commit(txn), OK);
}

/* Goal: a damaged head is corrupt if no number or time can follow it, and no event is appended to
 * it. Method: the largest number, and the largest time. */
static void test_impossible_head_is_corrupt(void **state)
{
    const struct org_head_record heads[] = {
        {.last_seq = UINT64_MAX, .last_recorded_at_us = 1, .last_envelope_sha256 = {{1}}},
        {.last_seq = 1, .last_recorded_at_us = INT64_MAX, .last_envelope_sha256 = {{1}}}};
    struct store_fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct store_txn *txn = NULL;
        struct log_stamp stamp;

        put_head(fixture, &heads[i]);
        txn = begin(fixture->backend, STORE_READ);
        assert_int_equal(log_next_stamp(&fixture->ctx, txn, store_fixture_org(1), &stamp),
                         ERR_CORRUPT);
        store_abort(txn);
    }
}

static void expect_same_table(struct store_backend *a, struct store_backend *b,
                              enum store_table table)
{
    struct key prefix = key_org(store_fixture_org(1));
    struct store_txn *txns[] = {begin(a, STORE_READ), begin(b, STORE_READ)};
    struct store_cursor cursors[2];
    enum err err = OK;

    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(store_cursor_init(&cursors[i], txns[i], table, key_slice(&prefix),
                                           slice_of(NULL, 0), STORE_ASCENDING),
                         OK);
    }
    while (err == OK) {
        struct slice keys[2] = {{NULL, 0}, {NULL, 0}};
        struct slice values[2] = {{NULL, 0}, {NULL, 0}};

        err = store_cursor_next(&cursors[0], &keys[0], &values[0]);
        assert_int_equal(store_cursor_next(&cursors[1], &keys[1], &values[1]), err);
        assert_true(slice_equal(keys[0], keys[1]));
        assert_true(slice_equal(values[0], values[1]));
    }
    assert_int_equal(err, ERR_NOT_FOUND);
    for (size_t i = 0; i < 2; i++) {
        store_cursor_deinit(&cursors[i]);
        store_abort(txns[i]);
    }
}

/* Goal: a replay makes the generic rows again, byte for byte, and refuses a gap. Method: walk one
 * store, apply to an empty one, compare; then apply an event twice. */
static void test_replay_makes_the_same_rows(void **state)
{
    struct store_fixture *fixture = *state;
    struct org_id org = store_fixture_org(1);
    struct store_backend *copy = NULL;
    struct store_txn *from = NULL;
    struct store_txn *to = NULL;
    struct log_walk walk;
    struct event event;

    fill(fixture, 1, 50);
    assert_int_equal(store_memory_open(&copy), OK);
    from = begin(fixture->backend, STORE_READ);
    to = begin(copy, STORE_WRITE);
    assert_int_equal(log_walk_init(&walk, from, org, 0, STORE_ASCENDING), OK);
    while (log_walk_next(&walk, &event) == OK) {
        assert_int_equal(log_apply_envelope(&fixture->ctx, to, &event), OK);
    }
    log_walk_deinit(&walk);
    assert_int_equal(log_read(from, org, 50, &event), OK);
    assert_int_equal(log_apply_envelope(&fixture->ctx, to, &event), ERR_CORRUPT);
    assert_int_equal(store_commit(to), OK);
    store_abort(from);
    expect_same_table(fixture->backend, copy, TABLE_ORG_HEAD);
    expect_same_table(fixture->backend, copy, TABLE_EVENT_ID);
    expect_same_table(fixture->backend, copy, TABLE_SUBJECT);
    expect_same_table(fixture->backend, copy, TABLE_BACKFILL);
    store_memory_close(copy);
}

/* An engine that records the events that it is to make durable. */
struct noting_engine {
    struct log_engine engine; /* must be the first member: the log engine */
    struct log_range ranges[4];
    size_t count;
};

static enum err note_append(const struct log_engine *engine, struct store_txn *txn,
                            const struct log_range *ranges, size_t count)
{
    struct noting_engine *noting = (struct noting_engine *)(uintptr_t)engine;

    (void)txn;
    assert_true(count <= sizeof(noting->ranges) / sizeof(noting->ranges[0]));
    memcpy(noting->ranges, ranges, count * sizeof(ranges[0]));
    noting->count = count;
    return ERR_EXISTS;
}

/* Goal: an engine gets all events of a batch, by organisation, and its refusal is passed on; the
 * default engine stores only them. Method: three events of two organisations. */
static void test_engine_gets_all_events_of_a_batch(void **state)
{
    static const struct log_engine_ops ops = {.append = note_append};
    const struct log_engine *in_tables = log_engine_in_tables();
    struct store_fixture *fixture = *state;
    struct noting_engine noting = {.engine = {&ops}};
    struct store_txn *txn = begin(fixture->backend, STORE_WRITE);
    struct log_range more;
    struct event event;

    log_begin_write(txn, NULL);
    (void)append(fixture, txn, 1, "content");
    (void)append(fixture, txn, 1, "content");
    (void)append(fixture, txn, 2, "content");
    assert_int_equal(log_engine_append(&noting.engine, txn), ERR_EXISTS);
    assert_int_equal(noting.count, 2);
    for (uint8_t i = 0; i < 2; i++) {
        assert_true(
            uuid_equal(noting.ranges[i].org.uuid, store_fixture_org((uint8_t)(i + 1)).uuid));
        assert_int_equal(noting.ranges[i].first_seq, 1);
        assert_int_equal(noting.ranges[i].count, 2 - i);
    }
    assert_int_equal(log_engine_append(in_tables, txn), OK);
    assert_int_equal(store_commit(txn), OK);
    txn = begin(fixture->backend, STORE_READ);
    assert_int_equal(log_engine_read(in_tables, txn, store_fixture_org(1), 2, &event), OK);
    assert_int_equal(event.seq, 2);
    assert_int_equal(log_engine_read(in_tables, txn, store_fixture_org(1), 3, &event),
                     ERR_NOT_FOUND);
    assert_int_equal(log_engine_follow(in_tables, txn, &more), ERR_NOT_FOUND);
    store_abort(txn);
}

int run_log_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_appended_event_is_read_back, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_event_is_found_by_its_date, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_recorded_at_never_decreases, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_event_is_found_by_subject_and_time,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_invalid_draft_is_refused, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_time_finds_the_last_event_by_then,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_walk_returns_events_in_order, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_chain_detects_any_change, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_head_counts_stored_bytes, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_reader_keeps_the_head_of_its_snapshot,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_impossible_head_is_corrupt, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_replay_makes_the_same_rows, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_engine_gets_all_events_of_a_batch,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
