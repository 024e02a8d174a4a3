/*
 * fixture.c: see fixture.h; and the main of this folder's tests.
 */
#include "tests/unit/corrections/fixture.h"

#include "server/domain/retractions/retractions.h"
#include "store/memory/memory.h"

#include <event_apply.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARENA_BYTES (512u << 20)

void fixture_init(struct fixture *fixture, uint64_t seed)
{
    memset(fixture, 0, sizeof(*fixture));
    arena_init(&fixture->arena, ARENA_BYTES);
    clock_manual_init(&fixture->clock, FIXTURE_START_US);
    random_seeded_init(&fixture->random, seed);
    fault_init(&fixture->fault, &fixture->arena);
    fixture->ctx = (struct ctx){&fixture->arena, &fixture->clock.clock, &fixture->random.random,
                                &fixture->fault};
    fixture->org.uuid = uuid_v7(FIXTURE_START_US, &fixture->random.random);
    assert_int_equal(store_memory_open(&fixture->backend), OK);
}

void fixture_deinit(struct fixture *fixture)
{
    store_memory_close(fixture->backend);
    arena_deinit(&fixture->arena);
}

void fixture_forget(struct fixture *fixture)
{
    arena_reset(&fixture->arena);
    fault_init(&fixture->fault, &fixture->arena);
}

struct store_txn *fixture_begin(struct fixture *fixture, enum store_access access)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, access, &txn), OK);
    return txn;
}

struct event_caller fixture_admin(void)
{
    return (struct event_caller){ROLE_ADMIN, {NULL, 0}, 0xabcd, false};
}

uint64_t fixture_capture(struct fixture *fixture, const struct capture_input *inputs, size_t count)
{
    const struct event_caller caller = fixture_admin();
    struct capture_event *events = arena_calloc(&fixture->arena, count, sizeof(*events));
    struct store_txn *txn = fixture_begin(fixture, STORE_WRITE);
    uint64_t seq = 0;

    assert_non_null(events);
    for (size_t i = 0; i < count; i++) {
        struct capture_input input = inputs[i];

        if (input.annotator_kind == ANNOTATOR_KIND_UNSPECIFIED) {
            input.annotator_kind = ANNOTATOR_KIND_HUMAN;
        }
        assert_int_equal(
            capture_prepare(&fixture->ctx, &caller, &input, SLICE("event"), &events[i]), OK);
    }
    log_begin_write(txn, NULL);
    assert_int_equal(capture_store(&fixture->ctx, txn, fixture->org, events, count, &seq), OK);
    assert_int_equal(store_commit(txn), OK);
    return seq;
}

uint64_t fixture_retract(struct fixture *fixture, uint64_t event_seq)
{
    struct store_txn *txn = fixture_begin(fixture, STORE_WRITE);
    struct retraction_request request = {
        .org = fixture->org, .caller = fixture_admin(), .reason = SLICE("wrong document")};
    struct event event;
    uint64_t seq = 0;

    assert_int_equal(log_read(txn, fixture->org, event_seq, &event), OK);
    request.event_id = event.id;
    log_begin_write(txn, NULL);
    assert_int_equal(retraction_store(&fixture->ctx, txn, &request, &seq), OK);
    assert_int_equal(store_commit(txn), OK);
    return seq;
}

size_t fixture_count_rows(struct fixture *fixture, struct store_txn *txn, enum store_table table)
{
    struct key prefix = key_org(fixture->org);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t count = 0;

    assert_int_equal(store_cursor_init(&cursor, txn, table, key_slice(&prefix), slice_of(NULL, 0),
                                       STORE_ASCENDING),
                     OK);
    while (store_cursor_next(&cursor, &key, &value) == OK) {
        count++;
    }
    store_cursor_deinit(&cursor);
    return count;
}

static void check_table(struct fixture *fixture, struct store_txn *a, struct store_txn *b,
                        enum store_table table)
{
    struct key prefix = key_org(fixture->org);
    struct store_cursor left = {0};
    struct store_cursor right = {0};
    enum err err = OK;

    assert_int_equal(
        store_cursor_init(&left, a, table, key_slice(&prefix), slice_of(NULL, 0), STORE_ASCENDING),
        OK);
    assert_int_equal(
        store_cursor_init(&right, b, table, key_slice(&prefix), slice_of(NULL, 0), STORE_ASCENDING),
        OK);
    while (err == OK) {
        struct slice keys[2] = {{NULL, 0}, {NULL, 0}};
        struct slice values[2] = {{NULL, 0}, {NULL, 0}};

        err = store_cursor_next(&left, &keys[0], &values[0]);
        assert_int_equal(store_cursor_next(&right, &keys[1], &values[1]), err);
        if (err == OK) {
            assert_true(slice_equal(keys[0], keys[1]));
            assert_true(slice_equal(values[0], values[1]));
        }
    }
    assert_int_equal(err, ERR_NOT_FOUND);
    store_cursor_deinit(&left);
    store_cursor_deinit(&right);
}

size_t fixture_check_replay(struct fixture *fixture, uint64_t last_seq)
{
    struct store_backend *replayed = NULL;
    struct store_txn *from = fixture_begin(fixture, STORE_READ);
    struct store_txn *to = NULL;
    size_t rows = 0;

    assert_int_equal(store_memory_open(&replayed), OK);
    assert_int_equal(store_begin(replayed, STORE_WRITE, &to), OK);
    clock_manual_advance(&fixture->clock, INT64_C(77) * 86400 * 1000000);
    for (uint64_t seq = 1; seq <= last_seq; seq++) {
        struct key key = key_event(fixture->org, seq);
        struct slice row = {NULL, 0};
        struct event event;

        assert_int_equal(store_get(from, TABLE_EVENT, key_slice(&key), &row), OK);
        assert_int_equal(store_append(to, TABLE_EVENT, key_slice(&key), row), OK);
        assert_int_equal(log_read(from, fixture->org, seq, &event), OK);
        assert_int_equal(log_apply_envelope(&fixture->ctx, to, &event), OK);
        if (corrections_applies(event.kind)) {
            assert_int_equal(corrections_apply(&fixture->ctx, to, &event), OK);
        }
        if (retractions_applies(event.kind)) {
            assert_int_equal(retractions_apply(&fixture->ctx, to, &event), OK);
        }
        if (layouts_applies(event.kind)) {
            assert_int_equal(layouts_apply(&fixture->ctx, to, &event), OK);
        }
    }
    for (int table = 0; table < TABLE_COUNT; table++) {
        if (store_table_class((enum store_table)table) == STORE_PROJECTION) {
            check_table(fixture, from, to, (enum store_table)table);
            rows += fixture_count_rows(fixture, to, (enum store_table)table);
        }
    }
    store_abort(from);
    store_abort(to);
    store_memory_close(replayed);
    return rows;
}

bool fixture_has(struct slice whole, const char *part)
{
    return whole.size > 0 && memmem(whole.data, whole.size, part, strlen(part)) != NULL;
}

int main(void)
{
    int failed = run_reduce_tests();

    failed += run_capture_tests();
    failed += run_findings_tests();
    failed += run_model_tests();
    failed += run_documents_tests();
    failed += run_family_tests();
    failed += run_family_answer_tests();
    failed += run_grouping_tests();
    failed += run_family_lookup_tests();
    failed += run_extraction_tests();
    failed += run_retraction_tests();
    return failed;
}

void fixture_begin_list(struct fixture *fixture, struct store_txn *txn, const struct pages *pages,
                        const struct list_filter *filter, struct page *page,
                        struct feedback_list *list)
{
    page_init(page, pages->size, pages->after, NULL);
    *list = (struct feedback_list){.filter = filter, .org = fixture->org, .page = page};
    assert_int_equal(feedback_list_begin(txn, list), OK);
}

void fixture_end_page(struct fixture *fixture, struct page *page, struct pages *pages)
{
    page_deinit(page);
    pages->more = page->more;
    assert_true(arena_copy(&fixture->arena, key_slice(&page->last), &pages->after));
}
