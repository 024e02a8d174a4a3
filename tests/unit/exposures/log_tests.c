/*
 * log_tests.c: exposures in the log: one event for the first citation, found again by the same
 * reference; outcomes kept once a subject; and the main of this folder's tests.
 */
#include "tests/unit/exposures/exposures_tests.h"

#include "server/domain/events/payload.h"
#include "server/domain/exposures/citations.h"
#include "store/base/wire.h"
#include "tests/support/store/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errata/v1/event.views.h>

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

static const struct exposed_artifact artifacts[] = {{.seq = 9, .version = 1, .line_count = 2},
                                                    {.seq = 4, .version = 3, .line_count = 1}};

static struct slice write_reference(struct fixture *fixture, bool long_list)
{
    static struct exposed_artifact many[EXPOSURE_ARTIFACTS_MAX + 1];
    const struct exposure exposure = {
        .kind = EXPOSURE_KIND_MATCHES,
        .served_at_us = STORE_FIXTURE_START_US - 5,
        .as_of_seq = 11,
        .arm = EXPERIMENT_ARM_NONE,
        .artifacts = long_list ? many : artifacts,
        .artifact_count = long_list ? EXPOSURE_ARTIFACTS_MAX + 1 : 2,
        .text_hash = {1, 2, 3},
    };
    struct wire_reader reader;
    struct wire_field field = {0};
    struct buffer body;

    buffer_init(&body, &fixture->stored.arena, 0);
    exposure_write(&fixture->key, fixture->org, &exposure, 1, &body);
    reader = wire_reader_of(buffer_slice(&body));
    assert_int_equal(wire_next(&reader, &field), OK);
    return field.bytes;
}

static struct cited_exposure find(struct fixture *fixture, struct slice reference)
{
    struct cited_exposure cited = {.seq = 99};

    assert_int_equal(exposure_find(&fixture->stored.ctx, fixture->txn, &fixture->key, fixture->org,
                                   reference, &cited),
                     OK);
    return cited;
}

static const struct exposure_citer citer = {{(const uint8_t *)"erna", 4}, {false, 0}};

/* Goal: the first citation appends the exposure's event, with all facts of the reference; later
 * ones find it. Method: record twice; read the facts. */
static void test_first_citation_records_the_exposure(void **state)
{
    struct slice reference;
    struct cited_exposure cited;
    struct wire_reader reader;
    struct wire_field field = {0};
    struct event event;
    struct exposure_recorded_internal_view internal = {.reference_hash = {NULL, 0}};
    size_t artifact_count = 0;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    reference = write_reference(&fixture, false);
    cited = find(&fixture, reference);
    assert_int_equal(cited.seq, 0);
    assert_int_equal(exposure_record(&fixture.stored.ctx, fixture.txn, fixture.org, &citer, &cited),
                     OK);
    assert_int_equal(cited.seq, 1);
    assert_int_equal(exposure_record(&fixture.stored.ctx, fixture.txn, fixture.org, &citer, &cited),
                     OK);
    assert_int_equal(log_read(fixture.txn, fixture.org, 2, &event), ERR_NOT_FOUND);
    assert_int_equal(find(&fixture, reference).seq, 1);

    assert_int_equal(log_read(fixture.txn, fixture.org, 1, &event), OK);
    assert_int_equal(event.kind, EVENT_EXPOSURE_RECORDED);
    assert_true(slice_equal(event.actor_user_id, SLICE("erna")));
    assert_int_equal(event.subjects[0].kind, SUBJECT_EXPOSURE);
    assert_int_equal(event.subjects[0].id.size, 32);
    reader = wire_reader_of(event.facts);
    while (wire_next(&reader, &field) == OK) {
        if (field.number == EXPOSURE_RECORDED_ARTIFACTS_FIELD) {
            struct wire_reader inner = wire_reader_of(field.bytes);
            struct wire_field member = {0};

            assert_int_equal(wire_next(&inner, &member), OK);
            assert_int_equal(member.value, artifacts[artifact_count].seq);
            assert_int_equal(wire_next(&inner, &member), OK);
            assert_int_equal(member.value, artifacts[artifact_count].version);
            assert_int_equal(wire_next(&inner, &member), OK);
            assert_int_equal(member.value, artifacts[artifact_count].line_count);
            artifact_count++;
        } else if (field.number == EXPOSURE_RECORDED_AS_OF_SEQ_FIELD) {
            assert_int_equal(field.value, 11);
        } else if (field.number == EXPOSURE_RECORDED_INTERNAL_FIELD) {
            assert_int_equal(exposure_recorded_internal_view_read(field.bytes, &internal), OK);
        }
    }
    assert_int_equal(artifact_count, 2);
    assert_int_equal(internal.reference_hash.size, sizeof(cited.reference_hash));
    assert_memory_equal(internal.reference_hash.data, cited.reference_hash,
                        internal.reference_hash.size);
    fixture_deinit(&fixture);
}

/* Goal: events of logs below format 4 are read. Method: a payload with the server's part inline. */
static void test_inline_part_of_old_logs_is_read(void **state)
{
    static const uint8_t inline_bytes[] = {0x08, 0x01, 0x42, 0x02, 0xab, 0xcd};
    struct slice payload = slice_of(inline_bytes, sizeof(inline_bytes));
    struct slice part = slice_after(payload, 2);
    struct exposure_recorded_view facts;
    struct exposure_recorded_internal_view internal;

    (void)state;
    assert_int_equal(exposure_recorded_view_read(payload, &facts), OK);
    assert_int_equal(facts.internal.size, 0);
    assert_int_equal(
        exposure_recorded_internal_view_read(payload_internal(facts.internal, payload), &internal),
        OK);
    assert_true(slice_equal(internal.reference_hash, slice_after(payload, 4)));
    assert_ptr_equal(payload_internal(part, payload).data, part.data);
}

/* Goal: a list that is not part of its reference is in the event as a count. Method: a long one. */
static void test_unlisted_artifacts_are_a_count(void **state)
{
    struct cited_exposure cited;
    struct wire_reader reader;
    struct wire_field field = {0};
    struct event event;
    uint64_t count = 0;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    cited = find(&fixture, write_reference(&fixture, true));
    assert_int_equal(exposure_record(&fixture.stored.ctx, fixture.txn, fixture.org, &citer, &cited),
                     OK);
    assert_int_equal(log_read(fixture.txn, fixture.org, 1, &event), OK);
    reader = wire_reader_of(event.facts);
    while (wire_next(&reader, &field) == OK) {
        assert_int_not_equal(field.number, EXPOSURE_RECORDED_ARTIFACTS_FIELD);
        count = field.number == EXPOSURE_RECORDED_ARTIFACT_COUNT_FIELD ? field.value : count;
    }
    assert_int_equal(count, EXPOSURE_ARTIFACTS_MAX + 1);
    fixture_deinit(&fixture);
}

/* Goal: a damaged reference changes nothing and fails. Method: one character less. */
static void test_damaged_reference_is_not_found(void **state)
{
    struct cited_exposure cited = {.seq = 99};
    struct slice reference;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    reference = write_reference(&fixture, false);
    reference.size--;
    assert_int_equal(exposure_find(&fixture.stored.ctx, fixture.txn, &fixture.key, fixture.org,
                                   reference, &cited),
                     ERR_INVALID);
    assert_int_equal(cited.seq, 99);
    assert_int_equal(fixture.stored.fault.total_count, 0);
    fixture_deinit(&fixture);
}

/* Goal: an outcome is found by its exposure, kind and subject, and the first one is kept. Method:
 * store some; look up each, and others. */
static void test_first_outcome_is_kept(void **state)
{
    const struct slice none = {NULL, 0};
    struct fixture fixture;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    assert_int_equal(exposure_keep_outcome(fixture.txn, fixture.org, 5, EVENT_EXTRACTION_RECORDED,
                                           SLICE("d1"), 10),
                     OK);
    assert_int_equal(exposure_keep_outcome(fixture.txn, fixture.org, 5, EVENT_EXTRACTION_RECORDED,
                                           SLICE("d1"), 11),
                     OK);
    assert_int_equal(
        exposure_keep_outcome(fixture.txn, fixture.org, 5, EVENT_MAPPING_APPLIED, none, 12), OK);
    assert_int_equal(exposure_find_outcome(fixture.txn, fixture.org, 5, EVENT_EXTRACTION_RECORDED,
                                           SLICE("d1"), &seq),
                     OK);
    assert_int_equal(seq, 10);
    assert_int_equal(
        exposure_find_outcome(fixture.txn, fixture.org, 5, EVENT_MAPPING_APPLIED, none, &seq), OK);
    assert_int_equal(seq, 12);
    assert_int_equal(exposure_find_outcome(fixture.txn, fixture.org, 5, EVENT_EXTRACTION_RECORDED,
                                           SLICE("d2"), &seq),
                     ERR_NOT_FOUND);
    assert_int_equal(exposure_find_outcome(fixture.txn, fixture.org, 6, EVENT_EXTRACTION_RECORDED,
                                           SLICE("d1"), &seq),
                     ERR_NOT_FOUND);
    assert_int_equal(exposure_find_outcome(fixture.txn, fixture.org, 5, EVENT_MAPPING_APPLIED,
                                           SLICE("d1"), &seq),
                     ERR_NOT_FOUND);
    fixture_deinit(&fixture);
}

/* Appends the events as of which a reference was issued: exposures of other references. */
static void append_events(struct fixture *fixture, struct slice reference)
{
    struct cited_exposure first = find(fixture, reference);

    for (uint64_t i = 1; i <= first.exposure.as_of_seq; i++) {
        struct cited_exposure other = first;

        other.reference_hash[0] ^= (uint8_t)i;
        assert_int_equal(
            exposure_record(&fixture->stored.ctx, fixture->txn, fixture->org, &citer, &other), OK);
        assert_int_equal(other.seq, i);
    }
}

/* Goal: of the references that a request cites, each valid one is found once, and each invalid one is named. Method:
 * one that is damaged, one twice, and all of them for another kind. */
static void test_valid_references_are_found_once_and_others_named(void **state)
{
    struct cited_exposure cited[3];
    struct slice items[3];
    struct fixture fixture;
    struct exposure_references references;
    const struct fault *fault = &fixture.stored.fault;
    size_t count = 99;

    (void)state;
    fixture_init(&fixture);
    items[1] = write_reference(&fixture, false);
    items[0] = slice_of(items[1].data, items[1].size - 1);
    items[2] = items[1];
    references = (struct exposure_references){.org = fixture.org,
                                              .key = &fixture.key,
                                              .items = items,
                                              .count = 3,
                                              .kind = EXPOSURE_KIND_MATCHES,
                                              .field = "cited.refs",
                                              .method = "MatchLines"};
    /* A reference to an event that the log does not have is invalid. */
    assert_int_equal(exposures_cite(&fixture.stored.ctx, fixture.txn, &references, cited, &count),
                     OK);
    assert_int_equal(count, 0);
    assert_int_equal(fault->total_count, 3);
    append_events(&fixture, items[1]);
    assert_int_equal(exposures_cite(&fixture.stored.ctx, fixture.txn, &references, cited, &count),
                     OK);
    assert_int_equal(count, 1);
    assert_int_equal(fault->total_count, 4);
    assert_true(slice_equal(fault->entries[3].field, SLICE("cited.refs[0]")));
    assert_true(slice_equal(fault->entries[3].description,
                            SLICE("unknown, incomplete or changed; expected the exposure_ref of a "
                                  "MatchLines response of this organisation")));
    references.kind = EXPOSURE_KIND_SCORE;
    assert_int_equal(exposures_cite(&fixture.stored.ctx, fixture.txn, &references, cited, &count),
                     OK);
    assert_int_equal(count, 0);
    assert_int_equal(fault->total_count, 7);
    fixture_deinit(&fixture);
}

/* Goal: an outcome is counted, and subtracted, for each artifact of an exposure in its arm. Method: a recorded exposure with
 * two artifacts. */
static void test_outcome_is_counted_for_each_artifact(void **state)
{
    const struct artifact_change more = {.outcomes = 1, .bad = 1, .outcome_seq = 20};
    const struct artifact_change less = {.outcomes = -1, .bad = -1, .outcome_seq = 20};
    struct artifact_record record;
    struct cited_exposure cited;
    struct fixture fixture;
    struct ctx *ctx = &fixture.stored.ctx;

    (void)state;
    fixture_init(&fixture);
    cited = find(&fixture, write_reference(&fixture, false));
    assert_int_equal(exposures_record(ctx, fixture.txn, fixture.org, &citer, &cited, 1), OK);
    assert_int_equal(exposure_count_outcome(ctx, fixture.txn, fixture.org, cited.seq, &more), OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(artifact_read(fixture.txn, fixture.org, artifacts[i].seq, &record), OK);
        assert_int_equal(record.none.exposure_count, 1);
        assert_int_equal(record.none.outcome_count, 1);
        assert_int_equal(record.none.bad_count, 1);
        assert_int_equal(record.treatment.outcome_count, 0);
    }
    assert_int_equal(exposure_count_outcome(ctx, fixture.txn, fixture.org, cited.seq, &less), OK);
    assert_int_equal(artifact_read(fixture.txn, fixture.org, artifacts[1].seq, &record), OK);
    assert_int_equal(record.none.outcome_count, 0);
    assert_int_equal(record.none.bad_count, 0);
    fixture_deinit(&fixture);
}

int run_log_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_citation_records_the_exposure),
        cmocka_unit_test(test_inline_part_of_old_logs_is_read),
        cmocka_unit_test(test_unlisted_artifacts_are_a_count),
        cmocka_unit_test(test_damaged_reference_is_not_found),
        cmocka_unit_test(test_first_outcome_is_kept),
        cmocka_unit_test(test_valid_references_are_found_once_and_others_named),
        cmocka_unit_test(test_outcome_is_counted_for_each_artifact),
    };

    return cmocka_run_group_tests_name("exposures in the log", tests, NULL, NULL);
}

int main(void)
{
    int failed = run_reference_tests();

    failed += run_log_tests();
    return failed;
}
