/*
 * family_lookup_tests.c: the number of rows of a layout family that a lookup of its examples reads.
 */
#include "server/domain/corrections/examples.h"
#include "server/domain/fingerprint/fingerprint.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/keys.h"
#include "tests/unit/corrections/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LAYOUTS 1000
#define LIMIT 3
#define SKETCH_FEATURES 40

/* Ingests a document of the only family, whose fingerprint is that of its number of tables. */
static struct key_fingerprint ingest(struct fixture *fixture, struct slice document_id,
                                     uint32_t tables)
{
    static const struct document_page page = {595.28, 841.89};
    struct document_measures measures = {
        .document_id = document_id,
        .sha256 = sha256(document_id),
        .size_bytes = 1000,
        .pages = &page,
        .page_count = 1,
        .pages_read = 1,
        .text_chars = 10,
        .page_one_chars = 10,
        .page_cells = 100,
        .covered_cells = 50,
        .input_snippet = SLICE("Pos 1"),
        .has_table_count = true,
        .table_count = tables,
        .fp_version = SLICE("1/22.12.0"),
        .sketch = {.count = SKETCH_FEATURES},
    };
    struct store_txn *txn = fixture_begin(fixture, STORE_WRITE);
    struct document_event *event = NULL;
    struct layout_fingerprint found;
    uint64_t seq = 0;

    for (uint32_t i = 0; i < SKETCH_FEATURES; i++) {
        measures.sketch.features[i] = 8 * i + (uint32_t)FAMILY_FEATURE_WORD;
    }
    log_begin_write(txn, NULL);
    assert_int_equal(document_prepare(&fixture->ctx, &measures, SLICE("anna"), &event), OK);
    assert_int_equal(document_store(&fixture->ctx, txn, fixture->org, event, &seq), OK);
    assert_int_equal(store_commit(txn), OK);
    assert_int_equal(fingerprint_of_measures(&fixture->arena, &measures, &found), OK);
    return key_fingerprint_of(slice_of(found.text, sizeof(found.text)));
}

static struct capture_input correction_of(struct fixture *fixture, unsigned number)
{
    return (struct capture_input){
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .document_id = arena_printf(&fixture->arena, "document-%u", number),
        .entity_type = SLICE("line"),
        .entity_id = arena_printf(&fixture->arena, "line-%u", number),
        .actor_user_id = SLICE("anna"),
        .before_json = SLICE("{\"qty\":0}"),
        .after_json = arena_printf(&fixture->arena, "{\"qty\":%u}", 1 + number),
    };
}

static void capture(struct fixture *fixture, const struct capture_input *input)
{
    clock_manual_advance(&fixture->clock, 1000);
    (void)fixture_capture(fixture, input, 1);
}

/* Makes the rows of a layout's cluster unreadable. */
static void damage(struct fixture *fixture, struct store_txn *txn,
                   const struct key_fingerprint *fingerprint)
{
    struct key prefix = key_layout_prefix(fixture->org, fingerprint);
    struct slice from = {NULL, 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct store_cursor cursor;
    struct key keys[8];
    size_t count = 0;

    assert_int_equal(
        store_cursor_init(&cursor, txn, TABLE_EXAMPLE, key_slice(&prefix), from, STORE_ASCENDING),
        OK);
    while (count < 8 && store_cursor_next(&cursor, &key, &value) == OK) {
        keys[count].size = 0;
        key_put_bytes(&keys[count], key.data, key.size);
        count++;
    }
    store_cursor_deinit(&cursor);
    assert_true(count > 1 && count < 8);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(store_put(txn, TABLE_EXAMPLE, key_slice(&keys[i]), SLICE("\xff")), OK);
    }
}

static enum err find(struct fixture *fixture, uint32_t limit, struct examples_found *found)
{
    const struct examples_query query = {
        .org = fixture->org,
        .layout_fingerprint = SLICE("a layout without documents"),
        .document_id = SLICE("asking"),
        .limit = limit,
        .view = EXAMPLE_VIEW_BOTH,
        .match_mode = MATCH_MODE_FAMILY,
        .arena = &fixture->arena,
    };
    struct store_txn *txn = fixture_begin(fixture, STORE_READ);
    enum err err = examples_find(&fixture->arena, txn, &query, found);

    store_abort(txn);
    return err;
}

/* Goal: of a family with 1,000 fingerprints a lookup opens as many clusters as it may serve examples, also if these
 * have none that may be served; it opens none for examples of annotators that are not wanted. Method: all but the newest
 * clusters are made unreadable, so that opening one more fails; then examples are added by programs, and the newest
 * are superseded. */
static void test_opens_only_served_clusters(void **state)
{
    struct key_fingerprint fingerprints[LAYOUTS];
    struct examples_found found;
    struct store_txn *txn = NULL;
    struct capture_input input;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    (void)ingest(&fixture, SLICE("asking"), LAYOUTS);
    for (unsigned i = 0; i < LAYOUTS; i++) {
        input = correction_of(&fixture, i);
        fingerprints[i] = ingest(&fixture, input.document_id, i);
        capture(&fixture, &input);
        fixture_forget(&fixture);
    }
    txn = fixture_begin(&fixture, STORE_WRITE);
    for (unsigned i = 0; i < LAYOUTS - LIMIT; i++) {
        damage(&fixture, txn, &fingerprints[i]);
    }
    assert_int_equal(store_commit(txn), OK);
    assert_int_equal(find(&fixture, LIMIT, &found), OK);
    assert_int_equal(found.count, LIMIT);
    assert_int_equal(found.match_level, MATCH_LEVEL_FAMILY);
    assert_false(found.incomplete);
    assert_int_equal(find(&fixture, LIMIT + 1, &found), ERR_CORRUPT);
    for (unsigned i = 0; i < LIMIT; i++) {
        input = correction_of(&fixture, LAYOUTS + i);
        (void)ingest(&fixture, input.document_id, LAYOUTS + 1 + i);
        input.annotator_kind = ANNOTATOR_KIND_CODE;
        input.actor_user_id = slice_of(NULL, 0);
        capture(&fixture, &input);
    }
    assert_int_equal(find(&fixture, LIMIT, &found), OK);
    assert_int_equal(found.count, LIMIT);
    for (unsigned i = LAYOUTS - LIMIT; i < LAYOUTS; i++) {
        input = correction_of(&fixture, i);
        input.document_id =
            slice_of(NULL, 0); /* without a layout it supersedes, but is not an example */
        capture(&fixture, &input);
    }
    assert_int_equal(find(&fixture, LIMIT, &found), OK);
    assert_int_equal(found.count, 0);
    assert_true(found.incomplete);
    fixture_deinit(&fixture);
}

int run_family_lookup_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens_only_served_clusters),
    };

    return cmocka_run_group_tests_name("lookups of families", tests, NULL, NULL);
}
