/*
 * record_test.c: records round trip, no bytes cause a crash, and the handwritten decoders agree with
 * the views. format_test.c pins the bytes.
 */
#include "tests/unit/rows/rows_tests.h"

#include "server/domain/corrections/records.h"
#include "server/domain/counters/records.h"
#include "server/domain/experiment/records.h"
#include "server/domain/extractions/rows/records.h"
#include "server/domain/layouts/records.h"
#include "store/base/random.h"
#include "store/base/wire.h"
#include "store/record_row.h"
#include "store/records.h"
#include "tests/unit/rows/kinds.h"
#include "tests/unit/rows/samples.h"

#include <record/corrections.views.h>
#include <record/layouts.views.h>
#include <record/store.views.h>
#include <stdlib.h>

#define MUTATIONS 3000

/* Goal: encoded records decode to the same values. Method: each kind's sample, read and written
 * again. */
static void test_records_round_trip(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < RECORD_KIND_COUNT; i++) {
        struct slice bytes = {NULL, 0};
        struct slice again = {NULL, 0};

        assert_int_equal(record_kinds[i].sample(&arena, &bytes), OK);
        assert_int_equal(record_kinds[i].again(&arena, bytes, &again), OK);
        assert_true(slice_equal(bytes, again));
    }
    arena_deinit(&arena);
}

/* Goal: no bytes make a decoder read out of bounds or return an invalid record. Method: every
 * prefix of each sample in a separate block (the sanitizer checks its end), and seeded changes; a
 * result must encode and decode to the same. */
static void test_hostile_bytes_make_no_invalid_record(void **state)
{
    struct random_seeded random;
    struct arena arena;
    unsigned corrupt = 0;

    (void)state;
    random_seeded_init(&random, 7);
    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < RECORD_KIND_COUNT; i++) {
        struct slice sample = {NULL, 0};

        assert_int_equal(record_kinds[i].sample(&arena, &sample), OK);
        for (size_t turn = 0; turn < sample.size + MUTATIONS; turn++) {
            size_t size = turn < sample.size ? turn : sample.size;
            uint8_t *block = arena_alloc(&arena, size > 0 ? size : 1);
            struct slice first = {NULL, 0};
            struct slice second = {NULL, 0};
            enum err err = OK;

            assert_non_null(block);
            memcpy(block, sample.data, size);
            if (size == sample.size) {
                uint8_t change[2];

                random_fill(&random.random, change, sizeof(change));
                block[change[0] % size] = change[1];
            }
            err = record_kinds[i].again(&arena, slice_of(block, size), &first);
            if (err == OK) {
                assert_int_equal(record_kinds[i].again(&arena, first, &second), OK);
                assert_true(slice_equal(first, second));
            } else {
                assert_int_equal(err, ERR_CORRUPT);
                corrupt++;
            }
        }
        arena_reset(&arena);
    }
    assert_true(corrupt > 1000);
    arena_deinit(&arena);
}

/* Goal: a field of another wire type is damage. Method: a number
 * instead of bytes, in each record that has bytes as its field 1 or 2. */
static void test_number_in_place_of_bytes_is_refused(void **state)
{
    struct event_record event;
    struct counter_record counter;
    struct example_record example;
    struct layout_head_record head;
    struct buffer buffer;
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    buffer_init(&buffer, &arena, 64);
    wire_put_varint(&buffer, 1, 77);
    assert_int_equal(record_decode_event(&arena, sample_uuid(0x11), buffer_slice(&buffer), &event),
                     ERR_CORRUPT);
    assert_int_equal(record_decode_layout_head(buffer_slice(&buffer), &head), ERR_CORRUPT);
    wire_put_varint(&buffer, 2, 77);
    assert_int_equal(record_decode_counter(buffer_slice(&buffer), &counter), ERR_CORRUPT);
    wire_put_varint(&buffer, 13, 77);
    assert_int_equal(record_decode_example(buffer_slice(&buffer), &example), ERR_CORRUPT);
    arena_deinit(&arena);
}

/* The number at a place of a list of fixed64; 0 if the list is left out. */
static uint64_t number_of(const struct view_list *list, size_t place)
{
    struct slice run = list->run;
    uint64_t number = 0;

    for (size_t i = 0; i <= place && view_next_fixed(&run, &number); i++) {
    }
    return list->run.size > 0 ? number : 0;
}

/* Goal: the head row's decoder and its view agree. Method: heads with 0 to all marks, both ways. */
static void test_head_decoder_agrees_with_its_view(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    for (size_t count = 0; count <= RECORD_MARKS_MAX; count++) {
        struct layout_head_record record = sample_layout_head();
        struct layout_head_record decoded;
        struct layout_marks marks;
        size_t place = 0;
        struct layout_head_view message;
        struct slice bytes = {NULL, 0};

        record.mark_count = count;
        record.first_document_seq = count % 2 == 0 ? 0 : count;
        record.first_text_seq = count % 3 == 0 ? 0 : UINT64_MAX - count;
        record.updated_at_us = count % 5 == 0 ? -5 : SAMPLE_TIME_US;
        record.bare_count = count % 7;
        record.bare_sum = count % 7 == 0 ? 0 : UINT64_C(1) << count;
        for (size_t i = 0; i < count; i++) {
            record.marks[i].seq = UINT64_MAX - i;
            record.marks[i].created_at_us = SAMPLE_TIME_US - (int64_t)i;
            record.marks[i].superseded_by_seq = count % 6 == 0 ? 0 : i % 3;
            record.marks[i].carried_count = count % 4 == 0 ? 0 : i;
            record.marks[i].carried_sum = count % 4 == 0 ? 0 : i * 1000000;
        }
        assert_int_equal(record_encode_layout_head(&arena, &record, &bytes), OK);
        assert_int_equal(layout_head_view_read(bytes, &message), OK);
        assert_int_equal(record_decode_layout_head(bytes, &decoded), OK);
        assert_true(slice_equal(decoded.measured, message.measured));
        assert_int_equal(decoded.feedback_count, message.feedback_count);
        assert_int_equal(decoded.example_count, message.example_count);
        assert_int_equal(decoded.mark_count, count);
        assert_int_equal(record_decode_layout_marks(bytes, &marks), OK);
        assert_int_equal(marks.count, count);
        assert_int_equal(message.mark_seq.run.size / sizeof(uint64_t), count);
        assert_true(decoded.first_document_seq == message.first_document_seq);
        assert_true(decoded.first_text_seq == message.first_text_seq);
        assert_true(decoded.updated_at_us == message.updated_at_us);
        assert_int_equal(message.mark_carried_count.run.size / sizeof(uint64_t),
                         count % 4 == 0 || count == 1 ? 0 : count);
        assert_int_equal(message.mark_carried_sum.run.size / sizeof(uint64_t),
                         message.mark_carried_count.run.size / sizeof(uint64_t));
        assert_int_equal(message.mark_superseded_by_seq.run.size / sizeof(uint64_t),
                         count % 6 == 0 || count == 1 ? 0 : count);
        assert_true(decoded.bare_count == message.bare_count);
        assert_true(decoded.bare_sum == message.bare_sum);
        assert_true(marks.bare_count == message.bare_count);
        assert_true(marks.bare_sum == message.bare_sum);
        assert_true(marks.first_document_seq == message.first_document_seq);
        assert_true(marks.first_text_seq == message.first_text_seq);
        for (size_t i = 0; i < count; i++) {
            uint64_t superseded_by_seq = 0;
            uint64_t carried_count = 0;
            uint64_t carried_sum = 0;

            assert_true(record_find_mark(&marks, number_of(&message.mark_seq, i), &place,
                                         &superseded_by_seq));
            assert_int_equal(place, i + 1);
            assert_true(superseded_by_seq == number_of(&message.mark_superseded_by_seq, i));
            assert_false(record_find_mark(&marks, number_of(&message.mark_seq, i), &place,
                                          &superseded_by_seq));
            assert_true(decoded.marks[i].seq == number_of(&message.mark_seq, i));
            assert_true((uint64_t)decoded.marks[i].created_at_us ==
                        number_of(&message.mark_created_at_us, i));
            assert_true(decoded.marks[i].superseded_by_seq ==
                        number_of(&message.mark_superseded_by_seq, i));
            assert_true(decoded.marks[i].carried_count ==
                        number_of(&message.mark_carried_count, i));
            assert_true(decoded.marks[i].carried_sum == number_of(&message.mark_carried_sum, i));
            record_read_carried(&marks, i, &carried_count, &carried_sum);
            assert_true(carried_count == number_of(&message.mark_carried_count, i));
            assert_true(carried_sum == number_of(&message.mark_carried_sum, i));
        }
    }
    arena_deinit(&arena);
}

/* Goal: the example row's decoder and its view agree. Method: rows with each field set or not. */
static void test_example_decoder_agrees_with_its_view(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    for (unsigned mask = 0; mask < 32; mask++) {
        struct example_record record = sample_example();
        struct example_record decoded;
        struct example_row_view message;
        struct slice bytes = {NULL, 0};

        record.hint.snippet_bytes = (mask & 1) != 0 ? 300 : 0;
        record.document_hash.size = (mask & 2) != 0 ? EXAMPLE_DOCUMENT_HASH_BYTES : 0;
        record.example.size = (mask & 4) != 0 ? record.example.size : 0;
        record.hint.packed.size = (mask & 8) != 0 ? record.hint.packed.size : 0;
        record.copy_hash = (mask & 16) != 0 ? record.copy_hash : 0;
        assert_int_equal(record_encode_example(&arena, &record, &bytes), OK);
        assert_int_equal(example_row_view_read(bytes, &message), OK);
        assert_int_equal(record_decode_example(bytes, &decoded), OK);
        assert_true(slice_equal(decoded.id, message.id));
        assert_true(slice_equal(decoded.id, record.id));
        assert_int_equal(decoded.hint.snippet_bytes, message.hint_snippet_bytes);
        assert_true(decoded.copy_hash == message.copy_hash);
        assert_true(slice_equal(decoded.document_hash, message.document_hash));
        assert_true(slice_equal(decoded.example, message.example));
        assert_true(slice_equal(decoded.hint.packed, message.packed_hint));
        assert_true(slice_equal(decoded.hint.packed, record.hint.packed));
        assert_memory_equal(decoded.hint_hash, message.hint_hash, KEY_HASH_BYTES);
        assert_memory_equal(decoded.hint_hash, record.hint_hash, KEY_HASH_BYTES);
    }
    arena_deinit(&arena);
}

/* Goal: a row has the whole id of its event, or the part that cannot be computed from the time. Method: ids
 * made at that time, and at others. */
static void test_example_id_round_trips(void **state)
{
    static const int64_t times_us[] = {
        0, 1, 999, 1000, SAMPLE_TIME_US, INT64_C(253402300799999999)};
    struct random_seeded random;

    (void)state;
    random_seeded_init(&random, 5);
    for (size_t i = 0; i < sizeof(times_us) / sizeof(times_us[0]); i++) {
        struct uuid id = uuid_v7(times_us[i], &random.random);
        struct example_record record = {.id = example_id_shorten(&id, times_us[i])};

        assert_int_equal(record.id.size, UUID_BYTES - UUID_TIME_BYTES);
        assert_true(uuid_equal(example_id_restore(&record, times_us[i]), id));
        record.id = example_id_shorten(&id, times_us[i] + 5000);
        assert_int_equal(record.id.size, UUID_BYTES);
        assert_true(uuid_equal(example_id_restore(&record, times_us[i] + 5000), id));
    }
}

/* Checks that the row, and each prefix of it, are read as by its view. */
static void compare_with_its_view(struct slice bytes)
{
    struct example_record decoded;
    struct example_row_view message;
    enum err err = example_row_view_read(bytes, &message);

    if (err != OK || (message.id.size != UUID_BYTES && message.id.size != UUID_TIME_BYTES)) {
        assert_int_equal(record_decode_example(bytes, &decoded), ERR_CORRUPT);
        return;
    }
    assert_int_equal(record_decode_example(bytes, &decoded), OK);
    assert_int_equal(decoded.hint.snippet_bytes, message.hint_snippet_bytes);
    assert_true(slice_equal(decoded.hint.packed, message.packed_hint));
    assert_memory_equal(decoded.hint_hash, message.hint_hash, KEY_HASH_BYTES);
    assert_int_equal(decoded.annotator_kind,
                     message.annotator_kind == 0 ? 1 : message.annotator_kind);
}

/* Goal: numbers of every length are read, in any place. Method: powers of two and their neighbours,
 * as both of a row's numbers, lengths around those where one byte more is needed, near the row's
 * end and far from it; the view's result is the reference. */
static void test_example_numbers_of_any_length_are_read(void **state)
{
    static uint8_t text[20000];
    static const size_t sizes[] = {0, 1, 6, 7, 8, 9, 127, 128, 16383, 16384, sizeof(text)};
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < (size_t)32 * 3 * (sizeof(sizes) / sizeof(sizes[0])); i++) {
        uint32_t number = (UINT32_C(1) << (i % 32)) + (uint32_t)(i / 32 % 3) - 1;
        struct example_record record = {.id = SLICE("id-of-sixteen-by"),
                                        .annotator_kind = 1 + (uint32_t)(i % 3),
                                        .hint = {number, slice_of(text, sizes[i / 96])}};
        struct slice bytes = {NULL, 0};

        assert_int_equal(record_encode_example(&arena, &record, &bytes), OK);
        for (size_t cut = 0; cut < 12 && cut < bytes.size; cut++) {
            compare_with_its_view(slice_of(bytes.data, bytes.size - cut));
        }
        arena_reset(&arena);
    }
    arena_deinit(&arena);
}

/* Goal: an example's row is short enough for four on a page, or so long that LMDB gives it separate
 * pages, and padding changes nothing else. Method: rows of every length around the two limits. */
static void test_example_rows_are_padded_to_fit_pages(void **state)
{
    static uint8_t text[2100];
    struct arena arena;
    size_t padded = 0;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    for (size_t size = 800; size < sizeof(text); size++) {
        struct example_record record = sample_example();
        struct example_record decoded;
        struct slice bytes = {NULL, 0};

        record.example = slice_of(text, size);
        assert_int_equal(record_encode_example(&arena, &record, &bytes), OK);
        assert_true(bytes.size <= 944 || bytes.size >= 1984);
        padded += bytes.size > size + 200;
        compare_with_its_view(bytes);
        assert_int_equal(record_decode_example(bytes, &decoded), OK);
        assert_true(slice_equal(decoded.example, record.example));
        assert_true(slice_equal(decoded.hint.packed, record.hint.packed));
        arena_reset(&arena);
    }
    assert_in_range(padded, 700, 1039);
    arena_deinit(&arena);
}

/* Goal: a row is read only as it is written, and fields of a later format are skipped. Method: an example's and a
 * head's fields in order, out of order and twice, and lists of different lengths. */
static void test_rows_out_of_order_are_corrupt(void **state)
{
    static const uint64_t numbers[] = {3, 2, 1};
    const struct slice packed = slice_of(numbers, sizeof(numbers));
    struct example_record example;
    struct layout_head_record head;
    struct layout_marks marks;
    struct buffer buffer;
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    buffer_init(&buffer, &arena, 256);
    wire_put_bytes(&buffer, 11, SLICE("id-of-sixteen-by"));
    wire_put_varint(&buffer, 12, 9);
    wire_put_bytes(&buffer, 14, SLICE("example"));
    wire_put_bytes(&buffer, 15, SLICE("hint"));
    wire_put_bytes(&buffer, 99, SLICE("of a later format"));
    assert_int_equal(record_decode_example(buffer_slice(&buffer), &example), OK);
    assert_true(slice_equal(example.hint.packed, SLICE("hint")));
    assert_true(slice_equal(example.example, SLICE("example")));
    assert_true(slice_equal(example.id, SLICE("id-of-sixteen-by")));
    assert_int_equal(example.hint.snippet_bytes, 9);
    wire_put_bytes(&buffer, 15, SLICE("hint"));
    assert_int_equal(record_decode_example(buffer_slice(&buffer), &example), ERR_CORRUPT);
    buffer_init(&buffer, &arena, 256);
    wire_put_varint(&buffer, 2, 4);
    wire_put_bytes(&buffer, 4, packed);
    wire_put_bytes(&buffer, 5, packed);
    wire_put_bytes(&buffer, 99, SLICE("of a later format"));
    assert_int_equal(record_decode_layout_head(buffer_slice(&buffer), &head), OK);
    assert_int_equal(head.feedback_count, 4);
    assert_int_equal(head.mark_count, 3);
    assert_int_equal(head.marks[2].seq, 1);
    assert_int_equal(record_decode_layout_marks(buffer_slice(&buffer), &marks), OK);
    assert_int_equal(marks.count, 3);
    wire_put_bytes(&buffer, 5, packed);
    assert_int_equal(record_decode_layout_head(buffer_slice(&buffer), &head), ERR_CORRUPT);
    buffer_init(&buffer, &arena, 256);
    wire_put_bytes(&buffer, 4, packed);
    wire_put_bytes(&buffer, 5, slice_of(numbers, 8));
    assert_int_equal(record_decode_layout_head(buffer_slice(&buffer), &head), ERR_CORRUPT);
    assert_int_equal(record_decode_layout_marks(buffer_slice(&buffer), &marks), ERR_CORRUPT);
    arena_deinit(&arena);
}

/* Goal: the maximum that a row may hold fits, one more is refused. Method: entities with all
 * names. */
static void test_record_above_its_limit_is_refused(void **state)
{
    struct entity_record entity;
    struct entity_record decoded;
    struct layout_head_record head = sample_layout_head();
    struct slice bytes = {NULL, 0};
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    sample_entity(&entity);
    for (size_t i = 0; i < RECORD_NAMES_MAX; i++) {
        entity.remaining.items[i] = SLICE("name");
    }
    entity.remaining.count = RECORD_NAMES_MAX;
    assert_int_equal(record_encode_entity(&arena, &entity, &bytes), OK);
    assert_int_equal(record_decode_entity(bytes, &decoded), OK);
    assert_int_equal(decoded.remaining.count, RECORD_NAMES_MAX);
    assert_true(slice_equal(decoded.remaining.items[RECORD_NAMES_MAX - 1], SLICE("name")));
    entity.remaining.count = RECORD_NAMES_MAX + 1;
    assert_int_equal(record_encode_entity(&arena, &entity, &bytes), ERR_INTERNAL);
    head.mark_count = RECORD_MARKS_MAX + 1;
    assert_int_equal(record_encode_layout_head(&arena, &head, &bytes), ERR_INTERNAL);
    arena_deinit(&arena);
    arena_init(&arena, 16);
    assert_int_equal(
        record_encode_layout_head(
            &arena,
            &(struct layout_head_record){.measured = SLICE("a measured digest with 32 bytes."),
                                         .feedback_count = 1},
            &bytes),
        ERR_MEMORY);
    arena_deinit(&arena);
}

/* Goal: an envelope's times are within the contract's range, so that sums with them fit. Method:
 * the first and last valid ones, and their invalid neighbours, in a whole envelope. */
static void test_times_out_of_range_are_corrupt(void **state)
{
    static const int64_t first_us = INT64_C(-62135596800000000);
    static const int64_t last_us = INT64_C(253402300799999999);
    const struct {
        int64_t time_us;
        enum err wanted;
    } rows[] = {{first_us, OK},
                {last_us, OK},
                {first_us - 1, ERR_CORRUPT},
                {last_us + 1, ERR_CORRUPT},
                {INT64_MIN, ERR_CORRUPT},
                {INT64_MAX, ERR_CORRUPT}};
    const struct envelope_record envelope = sample_envelope();
    struct envelope_record decoded;
    struct slice bytes;
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    assert_int_equal(record_encode_envelope(&arena, &envelope, &bytes), OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t place = 0; place < 2; place++) {
            struct envelope_view changed;
            struct slice message = {NULL, 0};

            assert_int_equal(envelope_view_read(bytes, &changed), OK);
            *(place == 0 ? &changed.recorded_at_us : &changed.created_at_us) = rows[i].time_us;
            assert_true(view_encode(&envelope_view_type, &changed, &arena, &message));
            assert_int_equal(record_decode_envelope(message, &decoded), rows[i].wanted);
        }
    }
    arena_deinit(&arena);
}

/* Goal: a subject whose kind is not a number from 1 to 255 is damage. Method: both bounds and their neighbours. */
static void test_invalid_subject_kind_is_corrupt(void **state)
{
    static const struct {
        uint32_t kind;
        enum err wanted;
    } rows[] = {{1, OK}, {UINT8_MAX, OK}, {0, ERR_CORRUPT}, {UINT8_MAX + 1, ERR_CORRUPT}};
    struct envelope_record envelope = sample_envelope();
    struct envelope_record decoded;
    struct slice bytes;
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        envelope.subjects[1].kind = rows[i].kind;
        assert_int_equal(record_encode_envelope(&arena, &envelope, &bytes), OK);
        assert_int_equal(record_decode_envelope(bytes, &decoded), rows[i].wanted);
    }
    arena_deinit(&arena);
}

/* Checks one rule of a record: a violation is neither encoded nor decoded. */
#define BROKEN(kind, change)                                                                       \
    do {                                                                                           \
        struct kind##_record record = sample_##kind();                                             \
                                                                                                   \
        change;                                                                                    \
        assert_int_equal(record_encode_##kind(&arena, &record, &bytes), ERR_INTERNAL);             \
    } while (0)

/* Goal: an invalid record is never written. Method: each rule broken separately. */
static void test_invalid_record_is_not_written(void **state)
{
    struct slice bytes = {NULL, 0};
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    BROKEN(artifact, record.none.bad_count = 201);
    BROKEN(artifact, record.treatment.bad_count = 42);
    BROKEN(artifact, record.control.bad_count = 10);
    BROKEN(artifact, record.shadow.bad_count = 3);
    BROKEN(artifact, record = (struct artifact_record){0});
    BROKEN(artifact, record.outcome_seqs[0] = 200);
    BROKEN(artifact, record.outcome_seqs[2] = 0);
    BROKEN(artifact, record.outcome_seq_count = ARTIFACT_OUTCOMES_MAX + 1);
    BROKEN(artifact_life, record.state = 0);
    BROKEN(artifact_life, record.state = 7);
    BROKEN(artifact_life, record.version = 0);
    BROKEN(artifact_life, record.content_seq = 0);
    BROKEN(artifact_life, record.content_seq = 301);
    BROKEN(artifact_life, record.valid_to_seq = 300);
    BROKEN(layout_stats, record.corrected_count = record.extraction_count + 1);
    BROKEN(layout_stats, record.treatment.corrected_count = 201);
    BROKEN(layout_stats, record.control.corrected_count = 41);
    BROKEN(layout_stats, record.control.extraction_count = 101);
    BROKEN(layout_stats, record.control = (struct arm_sums){.field_count = 1});
    BROKEN(layout_stats, record = (struct layout_stats_record){0});
    BROKEN(extraction, record.seq = 0);
    BROKEN(extraction, record.layout_fingerprint.size = 0);
    BROKEN(extraction, record.corrected_by_seq = 0);
    BROKEN(extraction, record.correction_count = 0);
    BROKEN(extraction, record.correction_count = RECORD_CORRECTIONS_MAX + 1);
    BROKEN(retracted_example, record.retracted_by_seq = 0);
    BROKEN(retracted_example, record.row = slice_of(NULL, 0));
    BROKEN(extraction, record.corrected_field_count = RECORD_CORRECTED_FIELDS_MAX + 1);
    BROKEN(extraction_key, record.seq = 0);
    BROKEN(mapping, memset(record.id.bytes, 0, UUID_BYTES));
    BROKEN(mapping, record.customer_id.size = 0);
    BROKEN(mapping, record.customer_sku.size = 0);
    BROKEN(mapping, record.internal_sku.size = 0);
    BROKEN(mapping, record.status = 0);
    BROKEN(mapping, record.confidence = 1.0000001);
    BROKEN(mapping, record.confidence = -0.1);
    BROKEN(mapping, record.confidence = strtod("nan", NULL));
    BROKEN(mapping, record.last_seq = 0);
    BROKEN(mapping, record.version = 0);
    BROKEN(mapping_confirmed, record.seq = 0);
    BROKEN(mapping_confirmed, record.version = 0);
    BROKEN(mapping_confirmed, memset(record.id.bytes, 0, UUID_BYTES));
    BROKEN(mapping_confirmed, record.internal_sku.size = 0);
    BROKEN(prompt_template, record.seq = 0);
    BROKEN(prompt_template, record.version = 0);
    BROKEN(prompt_template, record.name.size = 0);
    BROKEN(learned_rule, memset(record.id.bytes, 0, UUID_BYTES));
    BROKEN(learned_rule, record.rule_type = 0);
    BROKEN(learned_rule, record.rule_type = 256);
    BROKEN(learned_rule, record.pattern.size = 0);
    BROKEN(learned_rule, record.action = 0);
    BROKEN(learned_rule, record.adjustment = -VERDICT_UNIT - 1);
    BROKEN(learned_rule, record.adjustment = VERDICT_UNIT + 1);
    BROKEN(learned_rule, record.life.state = 0);
    BROKEN(learned_rule, record.reinforcement_count = record.count + 1);
    BROKEN(learned_rule, record.accuracy = (uint64_t)VERDICT_UNIT + 1);
    BROKEN(verdict, record.original_verdict = 0);
    BROKEN(verdict, record.correct_verdict = 0);
    BROKEN(verdict, record.missed = SLICE("\x52\5font"));
    BROKEN(verdict, record.missed = SLICE("\x4a\4font"));
    BROKEN(review, record.decision = 0);
    BROKEN(review, record.subcategory.size = 0);
    BROKEN(review, record.reviews_needed = 0);
    BROKEN(review, record.missing_spec = SLICE("\x52\5font"));
    BROKEN(review, record.missing_spec = SLICE("\x4a\4font"));
    BROKEN(review_run, record.run_id.size = 0);
    BROKEN(review_run, record.subcategory.size = 0);
    BROKEN(review_run, record.newest_seq = 0);
    BROKEN(review_thresholds, record.seq = 0);
    BROKEN(review_thresholds, record.values[THRESHOLD_MISSING_SPEC] = 11);
    BROKEN(review_thresholds, record.reviews_needed = 101);
    BROKEN(fragment_set, record.seq = 0);
    BROKEN(fragment_set, record.approved_seq = 9);
    BROKEN(evaluator, record.evaluator_id.size = 0);
    BROKEN(evaluator, record.judged = 301);
    BROKEN(evaluator, record.overridden = 21);
    BROKEN(proposal, record.life.state = ARTIFACT_STATE_SHADOW);
    BROKEN(proposal, record.life.state = ARTIFACT_STATE_ACTIVE);
    BROKEN(proposal, record.life.state = ARTIFACT_STATE_REJECTED);
    BROKEN(proposal, record.ended_seq = 301);
    BROKEN(proposal, record.activated_seq = 0);
    BROKEN(turn, record.seq = 0);
    BROKEN(turn, record.status = 0);
    BROKEN(turn, record.status = 4);
    BROKEN(quota, record = (struct quota_record){0});
    BROKEN(settings, record.seq = 0);
    BROKEN(settings, record.holdout_percent = 101);
    BROKEN(settings, record.suspicious_at = 1000000002);
    BROKEN(settings, record.fake_at = 1000000002);
    BROKEN(settings, record.reviews_needed = 1);
    BROKEN(settings, record.reviews_needed = 101);
    BROKEN(settings, record.votes_needed = 2);
    BROKEN(settings, record.votes_needed = 101);
    arena_deinit(&arena);
}

/* Checks that the sample does not decode with another field after it, which replaces the earlier
 * value. */
#define CORRUPT(kind, put)                                                                         \
    do {                                                                                           \
        struct kind##_record record = sample_##kind();                                             \
        struct buffer buffer;                                                                      \
        struct slice bytes = {NULL, 0};                                                            \
                                                                                                   \
        assert_int_equal(record_encode_##kind(&arena, &record, &bytes), OK);                       \
        buffer_init(&buffer, &arena, 0);                                                           \
        buffer_append(&buffer, bytes);                                                             \
        put;                                                                                       \
        assert_int_equal(record_decode_##kind(buffer_slice(&buffer), &record), ERR_CORRUPT);       \
    } while (0)

/* Goal: rows with impossible values are reported as corrupt. Method: each sample with a later field
 * that breaks one rule. */
static void test_invalid_row_is_corrupt(void **state)
{
    static const uint8_t zeros[UUID_BYTES];
    const struct slice no_id = slice_of(zeros, sizeof(zeros));
    uint64_t two = 0;
    double number = 2;
    struct arena arena;

    (void)state;
    memcpy(&two, &number, sizeof(two));
    arena_init(&arena, SIZE_MAX);
    CORRUPT(artifact, wire_put_bytes(&buffer, 1, SLICE("\x18\x7f\x10\x7e")));
    CORRUPT(artifact, wire_put_bytes(&buffer, 3, SLICE("\x18\x0a")));
    CORRUPT(artifact, wire_put_bytes(&buffer, 6, SLICE("\x18\x03")));
    CORRUPT(artifact_life, wire_put_varint(&buffer, 1, 7));
    CORRUPT(artifact_life, wire_put_varint(&buffer, 4, 0));
    CORRUPT(artifact_life, wire_put_varint(&buffer, 6, 301));
    CORRUPT(artifact_life, wire_put_varint(&buffer, 7, 300));
    CORRUPT(layout_stats, wire_put_varint(&buffer, 2, 30));
    CORRUPT(layout_stats, wire_put_varint(&buffer, 3, 301));
    CORRUPT(layout_stats, wire_put_bytes(&buffer, 5, SLICE("\x08\x65")));
    CORRUPT(layout_stats, wire_put_bytes(&buffer, 5, SLICE("\x10\x29")));
    CORRUPT(extraction, wire_put_varint(&buffer, 1, 0));
    CORRUPT(extraction, wire_put_varint(&buffer, 7, 0));
    CORRUPT(extraction, wire_put_varint(&buffer, 3, 1));
    CORRUPT(extraction_key, wire_put_varint(&buffer, 1, 0));
    CORRUPT(mapping, wire_put_bytes(&buffer, 1, no_id));
    CORRUPT(mapping, wire_put_varint(&buffer, 2, 1));
    CORRUPT(mapping, wire_put_varint(&buffer, 5, 0));
    CORRUPT(mapping, wire_put_raw(&buffer, 6, WIRE_FIXED64, two));
    CORRUPT(mapping, wire_put_varint(&buffer, 12, 0));
    CORRUPT(mapping, wire_put_varint(&buffer, 13, 0));
    CORRUPT(mapping_confirmed, wire_put_varint(&buffer, 1, 0));
    CORRUPT(mapping_confirmed, wire_put_varint(&buffer, 2, 0));
    CORRUPT(mapping_confirmed, wire_put_bytes(&buffer, 3, no_id));
    CORRUPT(prompt_template, wire_put_varint(&buffer, 1, 0));
    CORRUPT(prompt_template, wire_put_varint(&buffer, 2, 0));
    CORRUPT(learned_rule, wire_put_bytes(&buffer, 1, no_id));
    CORRUPT(learned_rule, wire_put_varint(&buffer, 2, 0));
    CORRUPT(learned_rule, wire_put_varint(&buffer, 4, 0));
    CORRUPT(learned_rule, wire_put_bytes(&buffer, 9, SLICE("\x08\x07")));
    CORRUPT(learned_rule, wire_put_bytes(&buffer, 13, no_id));
    CORRUPT(learned_rule, wire_put_bytes(&buffer, 13, SLICE("short")));
    CORRUPT(learned_rule, wire_put_varint(&buffer, 5, 2 * (uint64_t)VERDICT_UNIT + 2));
    CORRUPT(learned_rule, wire_put_varint(&buffer, 6, 0));
    CORRUPT(learned_rule, wire_put_varint(&buffer, 8, (uint64_t)VERDICT_UNIT + 1));
    CORRUPT(verdict, wire_put_varint(&buffer, 1, 0));
    CORRUPT(verdict, wire_put_varint(&buffer, 2, 0));
    CORRUPT(verdict, wire_put_bytes(&buffer, 3, SLICE("\x52\5font")));
    CORRUPT(review, wire_put_varint(&buffer, 1, 0));
    CORRUPT(review, wire_put_varint(&buffer, 3, 3)); /* an answer of no kind */
    CORRUPT(review, wire_put_varint(&buffer, 3, 256)); /* a fifth flag */
    CORRUPT(review, wire_put_bytes(&buffer, 4, SLICE("\x52\5font")));
    CORRUPT(review, wire_put_varint(&buffer, 6, 0));
    CORRUPT(review_run, wire_put_varint(&buffer, 3, 0));
    CORRUPT(review_thresholds, wire_put_varint(&buffer, 1, 0));
    CORRUPT(review_thresholds, wire_put_varint(&buffer, 2, 11));
    CORRUPT(review_thresholds, wire_put_varint(&buffer, 7, 101));
    CORRUPT(fragment_set, wire_put_varint(&buffer, 1, 0));
    CORRUPT(evaluator, wire_put_varint(&buffer, 2, 19));
    CORRUPT(proposal, wire_put_bytes(&buffer, 1, SLICE("\x08\x07")));
    CORRUPT(proposal, wire_put_varint(&buffer, 6, 0));
    CORRUPT(turn, wire_put_varint(&buffer, 1, 0));
    CORRUPT(turn, wire_put_varint(&buffer, 3, 4));
    CORRUPT(settings, wire_put_varint(&buffer, 1, 0));
    CORRUPT(settings, wire_put_varint(&buffer, 2, 101));
    arena_deinit(&arena);
}

int run_record_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_round_trip),
        cmocka_unit_test(test_hostile_bytes_make_no_invalid_record),
        cmocka_unit_test(test_number_in_place_of_bytes_is_refused),
        cmocka_unit_test(test_head_decoder_agrees_with_its_view),
        cmocka_unit_test(test_example_decoder_agrees_with_its_view),
        cmocka_unit_test(test_example_id_round_trips),
        cmocka_unit_test(test_example_numbers_of_any_length_are_read),
        cmocka_unit_test(test_example_rows_are_padded_to_fit_pages),
        cmocka_unit_test(test_rows_out_of_order_are_corrupt),
        cmocka_unit_test(test_record_above_its_limit_is_refused),
        cmocka_unit_test(test_times_out_of_range_are_corrupt),
        cmocka_unit_test(test_invalid_subject_kind_is_corrupt),
        cmocka_unit_test(test_invalid_record_is_not_written),
        cmocka_unit_test(test_invalid_row_is_corrupt),
    };

    return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
