/*
 * reference_tests.c: the text of a reference: written references are read back; any changed bit,
 * shorter or longer text, other organisation or other server is refused.
 */
#include "tests/unit/exposures/exposures_tests.h"

#include "store/base/base64.h"
#include "store/base/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARENA_BYTES (64u << 20)
/* The characters that a reference to 20 artifacts may have. */
#define CHARACTERS_OF_20_MAX 312

struct bench {
    struct arena arena;
    struct exposure_key key;
    struct org_id org;
};

static void bench_init(struct bench *bench)
{
    uint8_t bytes[EXPOSURE_KEY_BYTES];

    memset(bytes, 'k', sizeof(bytes));
    arena_init(&bench->arena, ARENA_BYTES);
    exposure_key_init(&bench->key, bytes);
    memset(bench->org.uuid.bytes, 'o', UUID_BYTES);
}

static struct exposure exposure_of(enum exposure_kind kind,
                                   const struct exposed_artifact *artifacts, size_t count)
{
    struct exposure exposure = {
        .kind = kind,
        .served_at_us = INT64_C(1770000000123456),
        .as_of_seq = 10000000,
        .arm = EXPERIMENT_ARM_TREATMENT,
        .artifacts = artifacts,
        .artifact_count = count,
        .is_listed = true,
    };

    memcpy(exposure.text_hash, "0123456789abcdef", sizeof(exposure.text_hash));
    return exposure;
}

static struct slice write_text(struct bench *bench, const struct exposure *exposure)
{
    struct wire_reader reader;
    struct wire_field field = {0};
    struct buffer body;

    buffer_init(&body, &bench->arena, 0);
    exposure_write(&bench->key, bench->org, exposure, 7, &body);
    assert_true(buffer_ok(&body));
    reader = wire_reader_of(buffer_slice(&body));
    assert_int_equal(wire_next(&reader, &field), OK);
    assert_int_equal(field.number, 7);
    assert_int_equal(reader.rest.size, 0);
    return field.bytes;
}

static enum err read_text(struct bench *bench, struct slice text, struct exposure *ret_exposure)
{
    return exposure_read(&bench->arena, &bench->key, bench->org, text, ret_exposure);
}

static void expect_same_rule(const struct exposed_rule *read, const struct exposed_rule *written)
{
    assert_int_equal(read->count, written->count);
    assert_int_equal(read->accuracy, written->accuracy);
    assert_int_equal(read->suppressed_by, written->suppressed_by);
    assert_int_equal(read->reduced, written->reduced);
    assert_int_equal(read->shadow, written->shadow);
    assert_int_equal(read->raises, written->raises);
}

static void expect_same(const struct exposure *read, const struct exposure *written)
{
    assert_int_equal(read->kind, written->kind);
    assert_int_equal(read->arm, written->arm);
    assert_int_equal(read->served_at_us, written->served_at_us);
    assert_int_equal(read->as_of_seq, written->as_of_seq);
    assert_int_equal(read->artifact_count, written->artifact_count);
    assert_memory_equal(read->text_hash, written->text_hash, EXPOSURE_TEXT_HASH_BYTES);
    assert_int_equal(read->verdicts.base, written->verdicts.base);
    assert_int_equal(read->verdicts.live, written->verdicts.live);
    assert_int_equal(read->verdicts.shadow, written->verdicts.shadow);
    assert_int_equal(read->placeholders.signals, written->placeholders.signals);
    assert_true(slice_equal(read->placeholders.subcategory, written->placeholders.subcategory));
    assert_int_equal(read->documents.is_used, written->documents.is_used);
    assert_int_equal(read->documents.include_superseded, written->documents.include_superseded);
    assert_int_equal(read->documents.annotator_kinds, written->documents.annotator_kinds);
    for (size_t i = 0; read->is_listed && i < read->artifact_count; i++) {
        assert_int_equal(read->artifacts[i].seq, written->artifacts[i].seq);
        assert_int_equal(read->artifacts[i].version, written->artifacts[i].version);
        assert_int_equal(read->artifacts[i].line_count, written->artifacts[i].line_count);
        assert_int_equal(read->artifacts[i].shadow, written->artifacts[i].shadow);
        expect_same_rule(&read->artifacts[i].rule, &written->artifacts[i].rule);
    }
}

static void expect_round_trip(struct bench *bench, const struct exposure *written, bool listed)
{
    struct exposure read = {0};
    struct slice text = write_text(bench, written);

    assert_true(text.size <= EXPOSURE_REFERENCE_CHARACTERS_MAX);
    assert_int_equal(read_text(bench, text, &read), OK);
    assert_int_equal(read.is_listed, listed);
    expect_same(&read, written);
}

/* Goal: every member of an exposure round trips. Method: each kind and arm, no artifacts, one,
 * many, numbers at their ends. */
static void test_exposure_round_trips(void **state)
{
    static const struct exposed_artifact artifacts[] = {
        {.seq = 9999999, .version = 1, .line_count = 0},
        {.seq = 10000000, .version = 1, .line_count = 0},
        {.seq = 1, .version = 1, .line_count = 0},
        {.seq = UINT64_C(1) << 62, .version = 1, .line_count = 0}};
    static const struct exposed_artifact mappings[] = {
        {.seq = 7, .version = 3, .line_count = 200},
        {.seq = 6, .version = 1, .line_count = 0},
        {.seq = 8, .version = UINT32_MAX, .line_count = UINT32_MAX},
        {.seq = 8, .version = 1, .line_count = 1}};
    static const struct exposed_artifact rules[] = {
        {.seq = 9999999, .version = 1, .rule = {.count = 1, .accuracy = 500000000, .raises = true}},
        {.seq = 4, .version = 2, .rule = {UINT64_MAX, 1, SCORE_GATE_POS_LAYOUT, true, true, false}},
        {.seq = 3,
         .version = 1,
         .rule = {0, 1000000000, SCORE_GATE_MISSING_ELEMENTS, false, true, true}},
        {.seq = UINT64_C(1) << 62,
         .version = 1,
         .rule = {7, 999999999, SCORE_GATE_UNSPECIFIED, true, false, false}}};
    struct bench bench;

    (void)state;
    bench_init(&bench);
    for (size_t count = 0; count <= 4; count++) {
        struct exposure score = exposure_of(EXPOSURE_KIND_SCORE, rules, count);
        struct exposure examples = exposure_of(EXPOSURE_KIND_EXAMPLES, artifacts, count);
        struct exposure prompt = exposure_of(EXPOSURE_KIND_PROMPT, artifacts, count);
        struct exposure matches = exposure_of(EXPOSURE_KIND_MATCHES, mappings, count);

        prompt.documents =
            (struct exposed_documents){true, count % 2 == 0, (uint32_t)count / 2 * 2 + 2};
        examples.arm = EXPERIMENT_ARM_NONE;
        prompt.arm = EXPERIMENT_ARM_CONTROL;
        matches.as_of_seq = 0;
        matches.served_at_us = 0;
        expect_round_trip(&bench, &examples, true);
        expect_round_trip(&bench, &prompt, true);
        expect_round_trip(&bench, &matches, true);
        for (unsigned verdict = 0; verdict < 27; verdict++) {
            score.verdicts = (struct exposed_verdicts){(enum verdict)(1 + verdict % 3),
                                                       (enum verdict)(1 + verdict / 3 % 3),
                                                       (enum verdict)(1 + verdict / 9)};
            expect_round_trip(&bench, &score, true);
        }
    }
    arena_deinit(&bench.arena);
}

/* Goal: the subcategory and the signals of placeholders round trip. Method: each set of signals; no, a short and the
 * longest subcategory; no artifacts to two. */
static void test_placeholders_round_trip(void **state)
{
    static const struct exposed_artifact artifacts[] = {{.seq = 9999999, .version = 3},
                                                        {.seq = UINT64_C(1) << 62, .version = 1}};
    static const size_t sizes[] = {0, 7, EXPOSURE_SUBCATEGORY_BYTES_MAX};
    char subcategory[EXPOSURE_SUBCATEGORY_BYTES_MAX];
    struct bench bench;

    (void)state;
    bench_init(&bench);
    memset(subcategory, 's', sizeof(subcategory));
    for (uint32_t signals = 0; signals < 1u << EXPOSURE_SIGNALS_END; signals += 2) {
        for (size_t i = 0; i < 3; i++) {
            struct exposure exposure = exposure_of(EXPOSURE_KIND_PLACEHOLDERS, artifacts, i);

            exposure.placeholders =
                (struct exposed_placeholders){slice_of(subcategory, sizes[i]), signals};
            expect_round_trip(&bench, &exposure, true);
        }
    }
    arena_deinit(&bench.arena);
}

/* Goal: strategies and guidelines round trip, as many as a response has. Method: none, one and 100, far apart. */
static void test_strategies_round_trip(void **state)
{
    static const size_t counts[] = {0, 1, 100};
    struct exposed_artifact artifacts[100];
    struct bench bench;

    (void)state;
    bench_init(&bench);
    for (size_t i = 0; i < 100; i++) {
        artifacts[i] = (struct exposed_artifact){
            .seq = i % 2 == 0 ? i + 1 : UINT64_C(1) << 40, .version = 1, .line_count = 0};
    }
    for (size_t i = 0; i < 3; i++) {
        struct exposure exposure = exposure_of(EXPOSURE_KIND_STRATEGIES, artifacts, counts[i]);

        expect_round_trip(&bench, &exposure, true);
        exposure = exposure_of(EXPOSURE_KIND_AGENT_PROMPT, artifacts, counts[i]);
        expect_round_trip(&bench, &exposure, true);
    }
    arena_deinit(&bench.arena);
}

/* Goal: 20 artifacts with any numbers fit into 312 characters. Method: far apart, with versions and
 * lines. */
static void test_twenty_artifacts_fit_into_312_characters(void **state)
{
    struct exposed_artifact artifacts[20];
    struct exposure exposure;
    struct bench bench;

    (void)state;
    bench_init(&bench);
    for (size_t i = 0; i < 20; i++) {
        artifacts[i] = (struct exposed_artifact){
            .seq = i % 2 == 0 ? 1 : UINT64_C(1) << 40, .version = 100, .line_count = 100};
    }
    exposure = exposure_of(EXPOSURE_KIND_MATCHES, artifacts, 20);
    exposure.as_of_seq = UINT64_C(1) << 40;
    assert_true(write_text(&bench, &exposure).size <= CHARACTERS_OF_20_MAX);
    expect_round_trip(&bench, &exposure, true);
    arena_deinit(&bench.arena);
}

/* Goal: a list of any length makes a reference of at most 4 KiB; one that is too long is stored as
 * its length and a hash of all artifacts. Method: lengths around each limit. */
static void test_a_long_list_is_stored_as_its_hash(void **state)
{
    static struct exposed_artifact artifacts[EXPOSURE_ARTIFACTS_MAX + 500];
    struct exposure exposure;
    struct exposure read = {0};
    struct slice text;
    struct bench bench;
    bool listed_before = true;

    (void)state;
    bench_init(&bench);
    for (size_t i = 0; i < EXPOSURE_ARTIFACTS_MAX + 500; i++) {
        artifacts[i] = (struct exposed_artifact){.seq = i * 1000, .version = 2, .line_count = 1};
    }
    for (size_t count = 500; count <= EXPOSURE_ARTIFACTS_MAX + 500; count += 100) {
        exposure = exposure_of(EXPOSURE_KIND_MATCHES, artifacts, count);
        text = write_text(&bench, &exposure);
        assert_true(text.size <= EXPOSURE_REFERENCE_CHARACTERS_MAX);
        assert_int_equal(read_text(&bench, text, &read), OK);
        assert_true(listed_before || !read.is_listed);
        listed_before = read.is_listed;
        expect_same(&read, &exposure);
    }
    assert_false(listed_before);
    artifacts[1234].line_count = 3;
    assert_false(slice_equal(write_text(&bench, &exposure), text));

    /* Numbers close together: the maximum number of artifacts is listed. */
    for (size_t i = 0; i < EXPOSURE_ARTIFACTS_MAX; i++) {
        artifacts[i] =
            (struct exposed_artifact){.seq = exposure.as_of_seq + i, .version = 1, .line_count = 1};
    }
    exposure = exposure_of(EXPOSURE_KIND_MATCHES, artifacts, EXPOSURE_ARTIFACTS_MAX - 50);
    expect_round_trip(&bench, &exposure, true);
    exposure.artifact_count = EXPOSURE_ARTIFACTS_MAX + 1;
    expect_round_trip(&bench, &exposure, false);
    arena_deinit(&bench.arena);
}

static struct slice sample(struct bench *bench)
{
    static const struct exposed_artifact artifacts[] = {
        {.seq = 9000000, .version = 1, .line_count = 0},
        {.seq = 8000000, .version = 1, .line_count = 0},
        {.seq = 5, .version = 1, .line_count = 0}};
    struct exposure exposure = exposure_of(EXPOSURE_KIND_EXAMPLES, artifacts, 3);

    return write_text(bench, &exposure);
}

/* Goal: a changed reference is refused, wherever it was changed. Method: every bit of the bytes,
 * and each character of the text replaced by each other one. */
static void test_changed_reference_is_refused(void **state)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ ";
    struct exposure read = {0};
    struct bench bench;
    uint8_t bytes[512];
    uint8_t text[512];
    struct slice good;
    size_t size = 0;

    (void)state;
    bench_init(&bench);
    good = sample(&bench);
    assert_true(base64_read(good, BASE64_URL | BASE64_EXACT, bytes, &size));
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(
            read_text(&bench, slice_of(text, base64_write(slice_of(bytes, size), BASE64_URL, text)),
                      &read),
            ERR_INVALID);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    memcpy(text, good.data, good.size);
    for (size_t at = 0; at < good.size; at++) {
        for (size_t digit = 0; digit < sizeof(digits); digit++) {
            bool same = (uint8_t)digits[digit] == good.data[at];

            text[at] = (uint8_t)digits[digit];
            assert_int_equal(read_text(&bench, slice_of(text, good.size), &read),
                             same ? OK : ERR_INVALID);
        }
        text[at] = good.data[at];
    }
    arena_deinit(&bench.arena);
}

/* Goal: a truncated or extended reference is refused. Method: every truncation, at both ends, and
 * appended text. */
static void test_truncated_or_extended_reference_is_refused(void **state)
{
    struct exposure read = {0};
    struct bench bench;
    uint8_t text[8192];
    struct slice good;

    (void)state;
    bench_init(&bench);
    good = sample(&bench);
    for (size_t size = 0; size < good.size; size++) {
        assert_int_equal(read_text(&bench, slice_of(good.data, size), &read), ERR_INVALID);
        assert_int_equal(read_text(&bench, slice_after(good, good.size - size), &read),
                         ERR_INVALID);
    }
    memset(text, 'A', sizeof(text));
    memcpy(text, good.data, good.size);
    for (size_t size = good.size + 1; size < sizeof(text); size += size < 300 ? 1 : 97) {
        assert_int_equal(read_text(&bench, slice_of(text, size), &read), ERR_INVALID);
    }
    text[good.size] = '=';
    assert_int_equal(read_text(&bench, slice_of(text, good.size + 1), &read), ERR_INVALID);
    arena_deinit(&bench.arena);
}

/* Goal: a reference belongs to one organisation of one server. Method: each bit of the organisation's
 * id, and another key. */
static void test_foreign_reference_is_refused(void **state)
{
    uint8_t other[EXPOSURE_KEY_BYTES] = {0};
    struct exposure read = {0};
    struct bench bench;
    struct slice good;

    (void)state;
    bench_init(&bench);
    good = sample(&bench);
    for (size_t bit = 0; bit < 8 * UUID_BYTES; bit++) {
        bench.org.uuid.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(read_text(&bench, good, &read), ERR_INVALID);
        bench.org.uuid.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(read_text(&bench, good, &read), OK);
    exposure_key_init(&bench.key, other);
    assert_int_equal(read_text(&bench, good, &read), ERR_INVALID);
    arena_deinit(&bench.arena);
}

/* Goal: a reference with a valid tag in an unknown form is refused, not misread. Method: bytes
 * tagged by the key itself. */
static void test_reference_of_a_newer_version_is_refused(void **state)
{
    static const uint8_t bodies[][12] = {
        {2, 0x18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /* another version */
        {1, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /* another kind */
        {1, 0x18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}, /* a list that is not there */
        {1, 0x19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}, /* its hash is missing */
    };
    struct exposure read = {0};
    struct bench bench;

    (void)state;
    bench_init(&bench);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        uint8_t bytes[sizeof(bodies[0]) + EXPOSURE_TEXT_HASH_BYTES + 16] = {0};
        uint8_t text[BASE64_DIGITS(sizeof(bytes)) + 1];
        size_t signed_size = sizeof(bodies[0]) + EXPOSURE_TEXT_HASH_BYTES;
        struct slice pieces[] = {slice_of(bench.org.uuid.bytes, UUID_BYTES),
                                 slice_of(bytes, signed_size)};
        struct sha256_digest tag;

        memcpy(bytes, bodies[i], sizeof(bodies[i]));
        memset(bytes + sizeof(bodies[i]), 0xff, EXPOSURE_TEXT_HASH_BYTES);
        tag = hmac_sha256(&bench.key.mac, pieces, 2);
        memcpy(bytes + signed_size, tag.bytes, 16);
        assert_int_equal(read_text(&bench,
                                   slice_of(text, base64_write(slice_of(bytes, sizeof(bytes)),
                                                               BASE64_URL, text)),
                                   &read),
                         ERR_INVALID);
    }
    arena_deinit(&bench.arena);
}

int run_reference_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exposure_round_trips),
        cmocka_unit_test(test_placeholders_round_trip),
        cmocka_unit_test(test_strategies_round_trip),
        cmocka_unit_test(test_twenty_artifacts_fit_into_312_characters),
        cmocka_unit_test(test_a_long_list_is_stored_as_its_hash),
        cmocka_unit_test(test_changed_reference_is_refused),
        cmocka_unit_test(test_truncated_or_extended_reference_is_refused),
        cmocka_unit_test(test_foreign_reference_is_refused),
        cmocka_unit_test(test_reference_of_a_newer_version_is_refused),
    };

    return cmocka_run_group_tests_name("references", tests, NULL, NULL);
}
