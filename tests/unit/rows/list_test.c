/*
 * list_test.c: lists of rows have at most as many elements as their record has room for, also in damaged bytes; and
 * the envelope of a first event, which has no hash of an earlier one.
 */
#include "tests/unit/rows/rows_tests.h"

#include "server/domain/corrections/records.h"
#include "server/domain/experiment/records.h"
#include "server/domain/extractions/rows/records.h"
#include "server/domain/layouts/family_records.h"
#include "store/record_row.h"
#include "store/records.h"
#include "tests/unit/rows/samples.h"

#include <record/artifacts.views.h>
#include <record/corrections.fields.h>
#include <record/corrections.views.h>
#include <record/experiment.views.h>
#include <record/extractions.views.h>
#include <record/layouts.views.h>
#include <record/store.fields.h>
#include <record/store.views.h>

#define NUMBERS_MAX 300

static int set_up(void **state)
{
    static struct arena arena;

    arena_init(&arena, SIZE_MAX);
    *state = &arena;
    return 0;
}

static int tear_down(void **state)
{
    arena_deinit(*state);
    return 0;
}

/* A list of the numbers count, count - 1 ... 1. */
static struct view_list list_of(struct arena *arena, size_t count, bool is_fixed)
{
    uint64_t numbers[NUMBERS_MAX];
    struct view_list list;

    assert_true(count <= NUMBERS_MAX);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = count - i;
    }
    assert_int_equal(record_list(arena, numbers, count, is_fixed, &list), OK);
    return list;
}

static struct slice encode(struct arena *arena, const struct view_type *type, const void *view)
{
    struct slice bytes = {NULL, 0};

    assert_true(view_encode(type, view, arena, &bytes));
    return bytes;
}

static enum err decode_family(struct arena *arena, size_t sketches, size_t aliases)
{
    const struct family_row_view view = {.id = {1},
                                         .sketch_seq = list_of(arena, sketches, true),
                                         .alias_seq = list_of(arena, aliases, false)};
    struct family_record record;

    return record_decode_family(encode(arena, &family_row_view_type, &view), &record);
}

static enum err decode_extraction(struct arena *arena, size_t fields, size_t corrections)
{
    const struct extraction_row_view view = {.seq = 1,
                                             .layout_fingerprint = SLICE("acme"),
                                             .corrected_by_seq = 2,
                                             .corrected_field = list_of(arena, fields, true),
                                             .correction_seq = list_of(arena, corrections, false)};
    struct extraction_record record;

    return record_decode_extraction(encode(arena, &extraction_row_view_type, &view), &record);
}

static enum err decode_artifact(struct arena *arena, size_t outcomes)
{
    const struct artifact_counts_view counts = {.outcome_count = NUMBERS_MAX};
    const struct artifact_row_view view = {.has_none = true,
                                           .none =
                                               encode(arena, &artifact_counts_view_type, &counts),
                                           .outcome_seq = list_of(arena, outcomes, false)};
    struct artifact_record record;

    return record_decode_artifact(encode(arena, &artifact_row_view_type, &view), &record);
}

static enum err decode_layout_stats(struct arena *arena, size_t exclusions)
{
    const struct layout_stats_row_view view = {.layout_fingerprint = SLICE("acme"),
                                               .excluded_count = list_of(arena, exclusions, false)};
    struct layout_stats_record record;

    return record_decode_layout_stats(encode(arena, &layout_stats_row_view_type, &view), &record);
}

static enum err decode_entity(struct arena *arena, size_t names)
{
    const struct name_view name = {.text = SLICE("name")};
    struct entity_row_view view = {.remaining = {.count = 0}};
    struct entity_record record;
    struct buffer run;

    buffer_init(&run, arena, 0);
    for (size_t i = 0; i < names; i++) {
        name_view_put(&name, ENTITY_ROW_REMAINING_FIELD, &run);
    }
    view.remaining.run = buffer_slice(&run);
    return record_decode_entity(encode(arena, &entity_row_view_type, &view), &record);
}

static enum err decode_envelope(struct arena *arena, size_t subjects)
{
    const struct envelope_record sample = sample_envelope();
    const struct envelope_subject_view subject = {.kind = 1, .id = SLICE("acme")};
    struct envelope_record record;
    struct envelope_view view;
    struct slice bytes = {NULL, 0};
    struct buffer run;

    assert_int_equal(record_encode_envelope(arena, &sample, &bytes), OK);
    assert_int_equal(envelope_view_read(bytes, &view), OK);
    buffer_init(&run, arena, 0);
    for (size_t i = 0; i < subjects; i++) {
        envelope_subject_view_put(&subject, ENVELOPE_SUBJECTS_FIELD, &run);
    }
    view.subjects.run = buffer_slice(&run);
    return record_decode_envelope(encode(arena, &envelope_view_type, &view), &record);
}

/* Goal: a list that is longer than its record allows is damage. Method: each list, at its limit and one
 * above. */
static void test_longer_list_is_corrupt(void **state)
{
    assert_int_equal(decode_family(*state, FAMILY_ROW_SKETCHES_MAX, FAMILY_ALIASES_MAX), OK);
    assert_int_equal(decode_family(*state, FAMILY_ROW_SKETCHES_MAX + 1, 0), ERR_CORRUPT);
    assert_int_equal(decode_family(*state, 0, FAMILY_ALIASES_MAX + 1), ERR_CORRUPT);
    assert_int_equal(decode_extraction(*state, RECORD_CORRECTED_FIELDS_MAX, RECORD_CORRECTIONS_MAX),
                     OK);
    assert_int_equal(decode_extraction(*state, RECORD_CORRECTED_FIELDS_MAX + 1, 1), ERR_CORRUPT);
    assert_int_equal(decode_extraction(*state, 1, RECORD_CORRECTIONS_MAX + 1), ERR_CORRUPT);
    assert_int_equal(decode_artifact(*state, ARTIFACT_OUTCOMES_MAX), OK);
    assert_int_equal(decode_artifact(*state, ARTIFACT_OUTCOMES_MAX + 1), ERR_CORRUPT);
    assert_int_equal(decode_layout_stats(*state, EXCLUSIONS), OK);
    assert_int_equal(decode_layout_stats(*state, EXCLUSIONS + 1), ERR_CORRUPT);
    assert_int_equal(decode_entity(*state, RECORD_NAMES_MAX), OK);
    assert_int_equal(decode_entity(*state, RECORD_NAMES_MAX + 1), ERR_CORRUPT);
    assert_int_equal(decode_envelope(*state, RECORD_SUBJECTS_MAX), OK);
    assert_int_equal(decode_envelope(*state, RECORD_SUBJECTS_MAX + 1), ERR_CORRUPT);
}

/* Goal: the first event's envelope has no earlier hash, and one with 32 zeros, as earlier servers wrote it, means the
 * same. Method: an envelope of seq 1 that ends before the field, and with the field. */
static void test_first_envelope_has_no_earlier_hash(void **state)
{
    static const uint8_t zeros[SHA256_BYTES];
    struct envelope_record record = sample_envelope();
    struct envelope_record decoded;
    struct slice bytes = {NULL, 0};
    struct buffer longer;

    record.seq = 1;
    record.has_idempotency = false;
    memset(&record.previous_sha256, 0, sizeof(record.previous_sha256));
    assert_int_equal(record_encode_envelope(*state, &record, &bytes), OK);
    assert_int_equal(record_decode_envelope(bytes, &decoded), OK);
    assert_memory_equal(decoded.previous_sha256.bytes, zeros, sizeof(zeros));
    buffer_init(&longer, *state, 0);
    buffer_append(&longer, bytes);
    wire_put_bytes(&longer, ENVELOPE_PREVIOUS_SHA256_FIELD, slice_of(zeros, sizeof(zeros)));
    assert_int_equal(longer.size, bytes.size + 2 + sizeof(zeros));
    assert_int_equal(record_decode_envelope(buffer_slice(&longer), &decoded), OK);
    assert_memory_equal(decoded.previous_sha256.bytes, zeros, sizeof(zeros));
}

int run_list_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_longer_list_is_corrupt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_envelope_has_no_earlier_hash, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("lists", tests, NULL, NULL);
}
