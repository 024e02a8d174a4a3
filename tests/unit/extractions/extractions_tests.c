/*
 * extractions_tests.c: extractions without a server: their facts, what is appended and in which order,
 * which examples are credited, and what apply refuses. Calls are tested in tests/rpc.
 */
#include "server/domain/corrections/capture.h"
#include "server/domain/extractions/facts.h"
#include "store/base/wire.h"
#include "tests/support/store/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errata/v1/event.fields.h>

/* A store with one write under way. */
struct fixture {
    struct store_fixture stored;
    struct store_txn *txn;
    struct exposure_key key;
    struct org_id org;
};

static void fixture_init(struct fixture *fixture)
{
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {1};

    store_fixture_init(&fixture->stored);
    fixture->org = store_fixture_org(7);
    exposure_key_init(&fixture->key, bytes);
    assert_int_equal(store_begin(fixture->stored.backend, STORE_WRITE, &fixture->txn), OK);
    log_begin_write(fixture->txn, NULL);
}

static void fixture_deinit(struct fixture *fixture)
{
    store_abort(fixture->txn);
    store_fixture_deinit(&fixture->stored);
}

static uint64_t capture(struct fixture *fixture, enum feedback_event_type event_type,
                        struct slice layout)
{
    const struct event_caller caller = {ROLE_ADMIN, {NULL, 0}, 1, false};
    const struct capture_input input = {
        .event_type = event_type,
        .layout_fingerprint = layout,
        .before_json = SLICE("{\"qty\":1}"),
        .after_json = SLICE("{\"qty\":2}"),
    };
    struct capture_event event;
    uint64_t seq = 0;

    assert_int_equal(capture_prepare(&fixture->stored.ctx, &caller, &input, SLICE("event"), &event),
                     OK);
    assert_int_equal(
        capture_store(&fixture->stored.ctx, fixture->txn, fixture->org, &event, 1, &seq), OK);
    return seq;
}

static struct slice refer(struct fixture *fixture, enum exposure_kind kind, enum experiment_arm arm,
                          const struct exposed_artifact *artifacts, size_t count)
{
    const struct exposure exposure = {.kind = kind,
                                      .served_at_us = STORE_FIXTURE_START_US,
                                      .arm = arm,
                                      .artifacts = artifacts,
                                      .artifact_count = count};
    struct wire_reader reader;
    struct wire_field field = {0};
    struct buffer body;

    buffer_init(&body, &fixture->stored.arena, 0);
    exposure_write(&fixture->key, fixture->org, &exposure, 1, &body);
    reader = wire_reader_of(buffer_slice(&body));
    assert_int_equal(wire_next(&reader, &field), OK);
    return field.bytes;
}

static enum err store(struct fixture *fixture, const struct extraction_input *input,
                      struct extraction_stored *ret_stored)
{
    const struct extraction_request request = {
        .org = fixture->org,
        .caller = {ROLE_ADMIN, {NULL, 0}, 1, false},
        .key = &fixture->key,
        .input = input,
    };

    return extraction_store(&fixture->stored.ctx, fixture->txn, &request, ret_stored);
}

static struct extraction_facts read_facts(struct fixture *fixture, uint64_t seq)
{
    struct extraction_facts facts;
    struct event event;

    assert_int_equal(log_read(fixture->txn, fixture->org, seq, &event), OK);
    assert_int_equal(event.kind, EVENT_EXTRACTION_RECORDED);
    assert_int_equal(extraction_facts_read(&fixture->stored.arena, event.facts, &facts), OK);
    return facts;
}

/* Goal: of all artifacts in references, the examples of the extraction's own layout are credited,
 * each once. Method: artifacts that are an example of it, twice; of another layout; no example; no
 * event. */
static void test_examples_of_the_own_layout_are_credited_once(void **state)
{
    struct fixture fixture;
    struct extraction_input input = {
        .layout_fingerprint = SLICE("layout"), .has_confidence = true, .confidence = 0.1234567};
    struct extraction_stored stored = {.first_seq = 0};
    struct exposed_artifact artifacts[6] = {{.version = 1}};
    struct slice exposures;
    uint64_t exposure_seq = 0;
    struct extraction_facts facts;

    (void)state;
    fixture_init(&fixture);
    artifacts[0].seq =
        capture(&fixture, FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED, SLICE("layout"));
    artifacts[1].seq =
        capture(&fixture, FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED, SLICE("other"));
    artifacts[2].seq = capture(&fixture, FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED, SLICE("layout"));
    artifacts[3].seq =
        capture(&fixture, FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED, SLICE("layout"));
    artifacts[4].seq = artifacts[0].seq;
    artifacts[5].seq = 1000;
    input.exposure_refs[0] =
        refer(&fixture, EXPOSURE_KIND_PROMPT, EXPERIMENT_ARM_TREATMENT, artifacts, 6);
    input.exposure_refs[1] =
        refer(&fixture, EXPOSURE_KIND_EXAMPLES, EXPERIMENT_ARM_TREATMENT, artifacts, 1);
    input.exposure_ref_count = 2;
    assert_int_equal(store(&fixture, &input, &stored), OK);
    assert_int_equal(stored.first_seq, 5);
    assert_int_equal(stored.count, 3); /* both exposures, then the extraction */
    facts = read_facts(&fixture, 7);
    assert_int_equal(facts.example_count, 2);
    assert_int_equal(facts.example_seqs[0], artifacts[0].seq);
    assert_int_equal(facts.example_seqs[1], artifacts[3].seq);
    exposures = facts.recorded.exposure_seqs.run;
    assert_true(view_next_number(&exposures, &exposure_seq) && exposure_seq == 5);
    assert_true(view_next_number(&exposures, &exposure_seq) && exposure_seq == 6);
    assert_false(view_next_number(&exposures, &exposure_seq));
    assert_int_equal(facts.internal.confidence_millionths, 123457);
    assert_int_equal(facts.extraction.arm, EXPERIMENT_ARM_NONE); /* no document is given */
    assert_false(facts.internal.layout_ready);
    fixture_deinit(&fixture);
}

/* Goal: an extraction without an example of its layout is without_examples, regardless of credits.
 * Method: none; one; one beside the mappings of MatchLines. */
static void test_extraction_without_own_examples_counts_as_without_examples(void **state)
{
    struct fixture fixture;
    struct extraction_input input = {.document_id = SLICE("document"),
                                     .layout_fingerprint = SLICE("layout"),
                                     .has_confidence = true,
                                     .confidence = 1};
    struct extraction_stored stored = {.first_seq = 0};
    struct exposed_artifact artifact = {.version = 1};

    (void)state;
    fixture_init(&fixture);
    artifact.seq =
        capture(&fixture, FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED, SLICE("layout"));
    assert_int_equal(store(&fixture, &input, &stored), OK);
    assert_true(read_facts(&fixture, stored.first_seq).internal.bare);
    input.exposure_refs[0] =
        refer(&fixture, EXPOSURE_KIND_EXAMPLES, EXPERIMENT_ARM_NONE, &artifact, 1);
    input.exposure_ref_count = 1;
    assert_int_equal(store(&fixture, &input, &stored), OK);
    assert_false(read_facts(&fixture, stored.first_seq + 1).internal.bare);
    assert_int_equal(read_facts(&fixture, stored.first_seq + 1).example_count, 1);
    /* The replacement cites the same reference; the uses of mappings are counted before it. */
    input.exposure_refs[1] = refer(&fixture, EXPOSURE_KIND_MATCHES, EXPERIMENT_ARM_NONE, NULL, 0);
    input.exposure_ref_count = 2;
    assert_int_equal(store(&fixture, &input, &stored), OK);
    assert_int_equal(stored.count, 3);
    assert_false(read_facts(&fixture, stored.first_seq + 2).internal.bare);
    assert_int_equal(read_facts(&fixture, stored.first_seq + 2).example_count, 1);
    assert_int_equal(read_facts(&fixture, stored.first_seq + 2).applied_count, 1);
    assert_int_equal(read_facts(&fixture, stored.first_seq + 2).applied_seqs[0],
                     stored.first_seq + 1);
    fixture_deinit(&fixture);
}

/* Goal: a layout is ready from its third example on. Method: an extraction before and after it. */
static void test_layout_is_ready_from_its_third_example(void **state)
{
    struct fixture fixture;
    const struct extraction_input input = {
        .layout_fingerprint = SLICE("layout"), .has_confidence = true, .confidence = 1};
    struct extraction_stored stored = {.first_seq = 0};

    (void)state;
    fixture_init(&fixture);
    (void)capture(&fixture, FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED, SLICE("layout"));
    (void)capture(&fixture, FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED, SLICE("layout"));
    (void)capture(&fixture, FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED, SLICE("layout"));
    assert_int_equal(store(&fixture, &input, &stored), OK);
    assert_false(read_facts(&fixture, stored.first_seq).internal.layout_ready);
    (void)capture(&fixture, FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED, SLICE("layout"));
    assert_int_equal(store(&fixture, &input, &stored), OK);
    assert_true(read_facts(&fixture, stored.first_seq).internal.layout_ready);
    assert_int_equal(read_facts(&fixture, stored.first_seq).internal.confidence_millionths,
                     1000000);
    fixture_deinit(&fixture);
}

/* Goal: damaged facts are reported as corrupt, wherever they are truncated or changed, and never
 * crash. Method: every truncation and every bit of real ones. */
static void test_damaged_facts_are_corrupt(void **state)
{
    struct fixture fixture;
    struct extraction_input input = {.document_id = SLICE("document"),
                                     .layout_fingerprint = SLICE("layout"),
                                     .has_confidence = true,
                                     .confidence = 0.5,
                                     .field_count = 7};
    struct extraction_stored stored = {.first_seq = 0};
    struct exposed_artifact artifact = {.version = 1};
    struct extraction_facts facts;
    struct slice whole;
    struct event event;
    uint8_t bytes[512];

    (void)state;
    fixture_init(&fixture);
    artifact.seq =
        capture(&fixture, FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED, SLICE("layout"));
    input.exposure_refs[0] =
        refer(&fixture, EXPOSURE_KIND_EXAMPLES, EXPERIMENT_ARM_CONTROL, &artifact, 1);
    input.exposure_ref_count = 1;
    assert_int_equal(store(&fixture, &input, &stored), OK);
    assert_int_equal(log_read(fixture.txn, fixture.org, stored.first_seq + 1, &event), OK);
    whole = event.facts;
    assert_true(whole.size < sizeof(bytes));
    memcpy(bytes, whole.data, whole.size);
    for (size_t size = 0; size < whole.size; size++) {
        enum err err = extraction_facts_read(&fixture.stored.arena, slice_of(bytes, size), &facts);

        assert_true(err == OK || err == ERR_CORRUPT);
        assert_true(err == OK || size < whole.size);
    }
    for (size_t bit = 0; bit < 8 * whole.size; bit++) {
        enum err err = OK;

        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        err = extraction_facts_read(&fixture.stored.arena, slice_of(bytes, whole.size), &facts);
        assert_true(err == OK || err == ERR_CORRUPT);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(extraction_facts_read(&fixture.stored.arena, whole, &facts), OK);
    assert_int_equal(facts.extraction.field_count, 7);
    assert_int_equal(facts.extraction.arm, EXPERIMENT_ARM_CONTROL);
    assert_true(slice_equal(facts.extraction.document_id, SLICE("document")));
    fixture_deinit(&fixture);
}

/* Goal: all errors are reported at once, by path, and nothing is appended. Method: every error. */
static void test_all_errors_are_reported_at_once(void **state)
{
    static const char *const fields[] = {
        "extraction.layout_fingerprint", "extraction.confidence",     "extraction.created_at",
        "extraction.exposure_refs[0]",   "extraction.example_ids[0]",
    };
    struct fixture fixture;
    struct extraction_input input = {
        .confidence = 0.5,
        .exposure_refs = {SLICE("AAAA")},
        .exposure_ref_count = 1,
        .example_ids = {SLICE("01994000-0000-7000-8000-000000000001")},
        .example_id_count = 1,
        .time = {true, STORE_FIXTURE_START_US + 60000000},
    };
    struct extraction_stored stored = {.first_seq = 0};
    struct log_head head;

    (void)state;
    fixture_init(&fixture);
    assert_int_equal(store(&fixture, &input, &stored), ERR_INVALID);
    assert_int_equal(fixture.stored.fault.count, sizeof(fields) / sizeof(fields[0]));
    for (size_t i = 0; i < fixture.stored.fault.count; i++) {
        assert_true(slice_equal(fixture.stored.fault.entries[i].field, slice_text(fields[i])));
    }
    assert_int_equal(log_read_head(fixture.txn, fixture.org, &head), OK);
    assert_int_equal(head.last_seq, 0);
    fixture_deinit(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_of_the_own_layout_are_credited_once),
        cmocka_unit_test(test_extraction_without_own_examples_counts_as_without_examples),
        cmocka_unit_test(test_layout_is_ready_from_its_third_example),
        cmocka_unit_test(test_damaged_facts_are_corrupt),
        cmocka_unit_test(test_all_errors_are_reported_at_once),
    };

    return cmocka_run_group_tests_name("extractions", tests, NULL, NULL);
}
