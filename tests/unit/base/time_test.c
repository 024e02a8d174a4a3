/*
 * time_test.c: clocks, times as text, randomness, ids and digests.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/bytes.h"
#include "store/base/clock.h"
#include "store/base/hmac.h"
#include "store/base/random.h"
#include "store/base/sha256.h"
#include "store/base/timestamp.h"
#include "store/base/uuid.h"

#include <pthread.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Goal: a manual clock is only moved explicitly, the system's never decreases. Method: both are
 * read. */
static void test_manual_clock_moves_only_by_hand(void **state)
{
    struct clock_manual manual;
    const struct clock *machine = clock_system();
    int64_t before_us = clock_monotonic_us(machine);
    int64_t coarse_us = clock_monotonic_coarse_us(machine);

    (void)state;
    clock_manual_init(&manual, 1000);
    assert_int_equal(clock_wall_us(&manual.clock), 1000);
    assert_int_equal(clock_monotonic_us(&manual.clock), 0);
    clock_manual_advance(&manual, 5);
    assert_int_equal(clock_wall_us(&manual.clock), 1005);
    assert_int_equal(clock_monotonic_us(&manual.clock), 5);
    assert_int_equal(clock_monotonic_coarse_us(&manual.clock), 5);
    assert_true(clock_wall_us(machine) > INT64_C(1700000000000000));
    for (int i = 0; i < 1000; i++) {
        int64_t now_us = clock_monotonic_us(machine);

        assert_true(now_us >= before_us);
        before_us = now_us;
    }
    /* The coarse clock is the same clock with a small delay. */
    assert_true(coarse_us <= before_us);
    coarse_us = clock_monotonic_coarse_us(machine);
    before_us = clock_monotonic_us(machine);
    assert_in_range(before_us - coarse_us, 0, 10 * 1000000);
}

/* Goal: text and time are converted both ways. Method: known pairs. */
static void test_timestamp_text_round_trips(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
        int32_t nanos;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0, 0},
        {"1969-12-31T23:59:59.999999999Z", -1, 999999999},
        {"0001-01-01T00:00:00Z", TIMESTAMP_SECONDS_MIN, 0},
        {"9999-12-31T23:59:59.999999999Z", TIMESTAMP_SECONDS_MAX, 999999999},
        {"2000-02-29T12:00:00.100Z", 951825600, 100000000},
        {"2024-02-29T23:59:59.000001Z", 1709251199, 1000},
        {"1900-03-01T00:00:00.000000001Z", -2203891200, 1},
        {"2026-11-21T08:30:15.120Z", 1795249815, 120000000},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[TIMESTAMP_TEXT_BYTES_MAX];
        int64_t seconds = 0;
        int32_t nanos = 0;
        size_t size = timestamp_format(rows[i].seconds, rows[i].nanos, text);

        assert_true(slice_equal(slice_of(text, size), slice_text(rows[i].text)));
        assert_true(timestamp_parse(slice_text(rows[i].text), &seconds, &nanos));
        assert_true(seconds == rows[i].seconds);
        assert_int_equal(nanos, rows[i].nanos);
    }
}

/* Goal: every day round trips. Method: all days of the years 1 to 9999, formatted and read. */
static void test_every_day_round_trips(void **state)
{
    (void)state;
    for (int64_t at = TIMESTAMP_SECONDS_MIN; at <= TIMESTAMP_SECONDS_MAX; at += 86400) {
        char text[TIMESTAMP_TEXT_BYTES_MAX];
        int64_t seconds = 0;
        int32_t nanos = 0;
        size_t size = timestamp_format(at, 0, text);

        if (!timestamp_parse(slice_of(text, size), &seconds, &nanos) || seconds != at) {
            fail_msg("%.*s", (int)size, text);
        }
    }
}

/* Goal: all forms that RFC 3339 allows are read. Method: offsets and short fractions. */
static void test_forms_of_rfc_3339_are_read(void **state)
{
    int64_t seconds = 0;
    int32_t nanos = 0;

    (void)state;
    assert_true(timestamp_parse(SLICE("1970-01-01T01:30:00.5+01:30"), &seconds, &nanos));
    assert_int_equal(seconds, 0);
    assert_int_equal(nanos, 500000000);
    assert_true(timestamp_parse(SLICE("1969-12-31T16:00:00-08:00"), &seconds, &nanos));
    assert_int_equal(seconds, 0);
    assert_true(timestamp_parse(SLICE("0001-01-01T01:00:00+01:00"), &seconds, &nanos));
}

/* Goal: invalid times are refused. Method: a table. */
static void test_invalid_timestamps_are_refused(void **state)
{
    static const char *const rows[] = {
        "",
        "2024-01-01",
        "2024-01-01T00:00:00",
        "2024-01-01 00:00:00Z",
        "2024-01-01t00:00:00Z",
        "2024-01-01T00:00:00z",
        "2024-1-01T00:00:00Z",
        "2024-00-01T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-01-00T00:00:00Z",
        "2024-01-32T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2024-04-31T00:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:60Z",
        "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00.1234567890Z",
        "2024-01-01T00:00:00,5Z",
        "2024-01-01T00:00:00Z ",
        " 2024-01-01T00:00:00Z",
        "2024-01-01T00:00:00+0100",
        "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00+01:60",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "10000-01-01T00:00:00Z",
        "-001-01-01T00:00:00Z",
        "2024-01-01T00:00:00ZZ",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t seconds = 0;
        int32_t nanos = 0;

        if (timestamp_parse(slice_text(rows[i]), &seconds, &nanos)) {
            fail_msg("%s", rows[i]);
        }
    }
}

/* Goal: a seed gives the same bytes each time. Method: the known start of SplitMix64 from 0. */
static void test_seed_repeats_the_same_bytes(void **state)
{
    struct random_seeded seeded;
    uint64_t words[2] = {0};
    uint8_t odd[3] = {0};

    (void)state;
    random_seeded_init(&seeded, 0);
    random_fill(&seeded.random, words, sizeof(words));
    assert_true(words[0] == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(words[1] == UINT64_C(0x6e789e6aa1b965f4));
    random_seeded_init(&seeded, 0);
    random_fill(&seeded.random, odd, sizeof(odd));
    assert_memory_equal(odd, words, 3);
}

/* Goal: the kernel's bytes never repeat across fills, sizes and threads. Method: 8-byte pieces by
 * fills of many sizes, on two threads, all different. */
static void *fill_pieces(void *pieces)
{
    uint64_t *words = pieces;

    for (size_t i = 0; i < 1000; i++) {
        random_fill(random_system(), &words[i], sizeof(words[i]));
    }
    return NULL;
}

static void test_system_random_never_repeats_across_threads(void **state)
{
    static uint64_t words[2000];
    uint8_t large[1000] = {0};
    size_t zeros = 0;
    pthread_t thread = 0;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, fill_pieces, words), 0);
    fill_pieces(words + 1000);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (size_t i = 0; i < 2000; i++) {
        for (size_t j = i + 1; j < 2000; j++) {
            assert_true(words[i] != words[j]);
        }
    }
    random_fill(random_system(), large, sizeof(large));
    for (size_t i = 0; i < sizeof(large); i++) {
        zeros += large[i] == 0;
    }
    assert_true(zeros < 50);
    random_fill(random_system(), large, 0);
}

/* Goal: ids have time, version and variant, and sort by time to the resolution of 12 bits. Method:
 * the fields of one id, then ids one microsecond apart. */
static void test_uuids_have_their_fields_and_sort_by_time(void **state)
{
    struct random_seeded seeded;
    struct uuid last = {{0}};

    (void)state;
    random_seeded_init(&seeded, 7);
    for (int64_t us = 1700000000000000; us < 1700000000005000; us++) {
        struct uuid uuid = uuid_v7(us, &seeded.random);
        uint64_t high = bytes_get_be64(uuid.bytes);

        assert_true(high >> 16 == (uint64_t)us / 1000);
        assert_int_equal(high >> 12 & 15, 7);
        assert_int_equal(high & 0xfff, (uint64_t)us % 1000 * 4096 / 1000);
        assert_int_equal(uuid.bytes[8] >> 6, 2);
        assert_true(memcmp(uuid.bytes, last.bytes, 8) > 0);
        last = uuid;
    }
    assert_int_equal(bytes_get_be64(uuid_v7(-5, &seeded.random).bytes) >> 16, 0);
    assert_false(uuid_equal(uuid_v7(1, &seeded.random), uuid_v7(1, &seeded.random)));
}

/* Goal: ids that follow another at the same time are above it, keep version, variant and time, and are below
 * those of the next microsecond, also if they carry. Method: many steps from a random id, from the last one
 * below the carry, and from the last fraction of a millisecond. */
static void test_next_uuid_is_greater_at_the_same_time(void **state)
{
    static const char *const ends[][2] = {
        {"0190aaaa-bbbb-7000-bfff-ffffffffffff", "0190aaaa-bbbb-7001-8"},
        {"0190aaaa-bbbb-7fff-bfff-ffffffffffff", "0190aaaa-bbbc-7000-8"},
        {"0190ffff-ffff-7fff-bfff-ffffffffffff", "01910000-0000-7000-8"},
        {"0190aaaa-bbbb-7123-8fff-fffffffeffff", "0190aaaa-bbbb-7123-8fff-ffffffff"}};
    const int64_t at_us = INT64_C(1700000000123456);
    struct random_seeded random;
    struct uuid uuid;
    struct uuid later;

    (void)state;
    random_seeded_init(&random, 5);
    uuid = uuid_v7(at_us, &random.random);
    later = uuid_v7(at_us + 1, &random.random);
    for (int i = 0; i < 1000; i++) {
        struct uuid next = uuid_v7_next(uuid, &random.random);

        assert_true(memcmp(next.bytes, uuid.bytes, UUID_BYTES) > 0);
        assert_true(memcmp(next.bytes, later.bytes, UUID_BYTES) < 0);
        assert_memory_equal(next.bytes, uuid.bytes, 8);
        uuid = next;
    }
    for (size_t i = 0; i < COUNT(ends); i++) {
        char text[UUID_TEXT_BYTES];

        assert_true(uuid_parse(slice_text(ends[i][0]), &uuid));
        uuid_format(uuid_v7_next(uuid, &random.random), text);
        assert_memory_equal(text, ends[i][1], strlen(ends[i][1]));
    }
}

/* Goal: text and id agree, in either case. Method: one id. */
static void test_uuid_text_round_trips(void **state)
{
    static const char text[] = "018bcfe5-6800-7abc-8def-0123456789ab";
    static const char upper[] = "018BCFE5-6800-7ABC-8DEF-0123456789AB";
    char written[UUID_TEXT_BYTES];
    struct uuid uuid = {{0}};
    struct uuid same = {{0}};

    (void)state;
    assert_true(uuid_parse(slice_text(text), &uuid));
    uuid_format(uuid, written);
    assert_memory_equal(written, text, UUID_TEXT_BYTES);
    assert_true(uuid_parse(slice_text(upper), &same));
    assert_true(uuid_equal(uuid, same));
}

/* Goal: no other text is an id. Method: each character of one changed, and other lengths. */
static void test_invalid_uuid_text_is_refused(void **state)
{
    char text[] = "018bcfe5-6800-7abc-8def-0123456789ab";
    struct uuid uuid = {{0}};

    (void)state;
    for (size_t i = 0; i < UUID_TEXT_BYTES; i++) {
        char kept = text[i];

        text[i] = kept == '-' ? '0' : '-';
        assert_false(uuid_parse(slice_text(text), &uuid));
        text[i] = 'g';
        assert_false(uuid_parse(slice_text(text), &uuid));
        text[i] = kept;
    }
    assert_false(uuid_parse(slice_of(text, UUID_TEXT_BYTES - 1), &uuid));
    assert_false(uuid_parse(SLICE("{018bcfe5-6800-7abc-8def-0123456789ab}"), &uuid));
    assert_false(uuid_parse(slice_of(NULL, 0), &uuid));
}

/* Goal: SHA-256 equals the standard's, in one piece or several. Method: FIPS 180-4's examples. */
static void test_sha256_equals_fips_examples(void **state)
{
    static const struct slice pieces[] = {
        {(const uint8_t *)"a", 1}, {NULL, 0}, {(const uint8_t *)"bc", 2}};
    char text[2 * SHA256_BYTES];
    struct sha256_digest digest = sha256(SLICE("abc"));
    struct sha256_digest same = sha256_pieces(pieces, 3);

    (void)state;
    sha256_format(&digest, text);
    assert_memory_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                        sizeof(text));
    assert_memory_equal(digest.bytes, same.bytes, SHA256_BYTES);
    digest = sha256(slice_of(NULL, 0));
    sha256_format(&digest, text);
    assert_memory_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                        sizeof(text));
}

/* Goal: a digest is read only from the text that is written of it. Method: a round trip, then one
 * error at a time. */
static void test_sha256_text_round_trips(void **state)
{
    const struct sha256_digest digest = sha256(SLICE("abc"));
    struct sha256_digest read = {{0}};
    char text[2 * SHA256_BYTES + 1] = {0};

    (void)state;
    sha256_format(&digest, text);
    assert_true(sha256_parse(slice_of(text, 2 * SHA256_BYTES), &read));
    assert_memory_equal(read.bytes, digest.bytes, SHA256_BYTES);
    assert_false(sha256_parse(slice_of(text, 2 * SHA256_BYTES - 1), &read));
    assert_false(sha256_parse(slice_of(text, 2 * SHA256_BYTES + 1), &read));
    assert_false(sha256_parse(slice_of(NULL, 0), &read));
    text[0] = 'B';
    assert_false(sha256_parse(slice_of(text, 2 * SHA256_BYTES), &read));
    text[0] = 'g';
    assert_false(sha256_parse(slice_of(text, 2 * SHA256_BYTES), &read));
    assert_memory_equal(read.bytes, digest.bytes, SHA256_BYTES);
}

static void expect_hmac(struct slice secret, struct slice message, const char *expected)
{
    struct hmac_key key;
    const struct slice halves[] = {slice_of(message.data, message.size / 2),
                                   slice_after(message, message.size / 2)};
    struct sha256_digest whole;
    struct sha256_digest pieces;
    char text[2 * SHA256_BYTES];

    hmac_key_init(&key, secret);
    whole = hmac_sha256(&key, &message, 1);
    pieces = hmac_sha256(&key, halves, 2);
    sha256_format(&whole, text);
    assert_memory_equal(text, expected, sizeof(text));
    assert_true(hmac_equal(whole.bytes, pieces.bytes, SHA256_BYTES));
    pieces.bytes[SHA256_BYTES - 1] ^= 1;
    assert_false(hmac_equal(whole.bytes, pieces.bytes, SHA256_BYTES));
    assert_true(hmac_equal(whole.bytes, pieces.bytes, SHA256_BYTES - 1));
}

/* Goal: HMAC-SHA256 equals the standard's, in one piece or several. Method: RFC 4231's examples 1
 * to 3, and the empty message under the empty key. */
static void test_hmac_equals_rfc_4231_examples(void **state)
{
    uint8_t secret[20];
    uint8_t message[50];

    (void)state;
    memset(secret, 0x0b, sizeof(secret));
    expect_hmac(slice_of(secret, sizeof(secret)), SLICE("Hi There"),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    expect_hmac(SLICE("Jefe"), SLICE("what do ya want for nothing?"),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(secret, 0xaa, sizeof(secret));
    memset(message, 0xdd, sizeof(message));
    expect_hmac(slice_of(secret, sizeof(secret)), slice_of(message, sizeof(message)),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    expect_hmac(slice_of(NULL, 0), slice_of(NULL, 0),
                "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

/* Goal: big-endian integers sort as bytes. Method: a round trip with known bytes. */
static void test_big_endian_integers_sort_as_bytes(void **state)
{
    uint8_t bytes[8];

    (void)state;
    bytes_put_be32(bytes, 0x01020304);
    assert_memory_equal(bytes, "\1\2\3\4", 4);
    assert_int_equal(bytes_get_be32(bytes), 0x01020304);
    bytes_put_be64(bytes, UINT64_C(0x0102030405060708));
    assert_memory_equal(bytes, "\1\2\3\4\5\6\7\10", 8);
    assert_true(bytes_get_be64(bytes) == UINT64_C(0x0102030405060708));
}

int run_time_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manual_clock_moves_only_by_hand),
        cmocka_unit_test(test_timestamp_text_round_trips),
        cmocka_unit_test(test_every_day_round_trips),
        cmocka_unit_test(test_forms_of_rfc_3339_are_read),
        cmocka_unit_test(test_invalid_timestamps_are_refused),
        cmocka_unit_test(test_seed_repeats_the_same_bytes),
        cmocka_unit_test(test_system_random_never_repeats_across_threads),
        cmocka_unit_test(test_uuids_have_their_fields_and_sort_by_time),
        cmocka_unit_test(test_uuid_text_round_trips),
        cmocka_unit_test(test_invalid_uuid_text_is_refused),
        cmocka_unit_test(test_next_uuid_is_greater_at_the_same_time),
        cmocka_unit_test(test_sha256_equals_fips_examples),
        cmocka_unit_test(test_sha256_text_round_trips),
        cmocka_unit_test(test_hmac_equals_rfc_4231_examples),
        cmocka_unit_test(test_big_endian_integers_sort_as_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
