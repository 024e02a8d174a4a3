/*
 * hpack_test.c: Goal: for any size of the peer's table, and however often it changes, blocks decode
 * to the given fields; unchanged fields take a byte each in the indexed way. Method: libnghttp2's
 * decoder with the same limits reads every block.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tools/bench/load/hpack.h"

#include <stdio.h>

#define TOKEN "Bearer 0123456789abcdef0123456789abcdef0123456789abcdef"

static struct hpack_field field(const char *name, const char *value, bool varies)
{
    return (struct hpack_field){slice_text(name), slice_text(value), varies};
}

/* Decodes a block and compares it with the fields. */
static void expect_fields(nghttp2_hd_inflater *inflater, const uint8_t *block, size_t size,
                          const struct hpack_field *fields, size_t count)
{
    size_t found = 0;

    for (;;) {
        nghttp2_nv pair;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(inflater, &pair, &flags, block, size, 1);

        assert_true(used >= 0);
        block += used;
        size -= (size_t)used;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
            if (found == count) {
                fail_msg("more fields than were given");
                return;
            }
            assert_true(slice_equal(slice_of(pair.name, pair.namelen), fields[found].name));
            assert_true(slice_equal(slice_of(pair.value, pair.valuelen), fields[found].value));
            found++;
        }
        if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
            nghttp2_hd_inflate_end_headers(inflater);
            break;
        }
    }
    assert_int_equal(found, count);
}

struct pair {
    struct hpack hpack;
    nghttp2_hd_inflater *inflater;
};

static void pair_open(struct pair *pair, enum hpack_way way)
{
    assert_int_equal(hpack_init(&pair->hpack, way), OK);
    assert_int_equal(nghttp2_hd_inflate_new(&pair->inflater), 0);
}

static void pair_limit(struct pair *pair, uint32_t limit)
{
    assert_int_equal(nghttp2_hd_inflate_change_table_size(pair->inflater, limit), 0);
    assert_int_equal(hpack_set_limit(&pair->hpack, limit), OK);
}

static size_t pair_send(struct pair *pair, const struct hpack_field *fields, size_t count)
{
    uint8_t block[HPACK_BLOCK_BYTES_MAX];
    size_t size = 0;

    assert_true(hpack_fit(fields, count));
    assert_int_equal(hpack_encode(&pair->hpack, fields, count, block, &size), OK);
    expect_fields(pair->inflater, block, size, fields, count);
    return size;
}

static void pair_close(struct pair *pair)
{
    hpack_deinit(&pair->hpack);
    nghttp2_hd_inflate_del(pair->inflater);
}

static size_t make_fields(struct hpack_field *fields, const char *path, const char *key)
{
    const struct hpack_field all[] = {field(":method", "POST", false),
                                      field(":scheme", "http", false),
                                      field(":path", path, false),
                                      field(":authority", "127.0.0.1:7443", false),
                                      field("content-type", "application/grpc", false),
                                      field("te", "trailers", false),
                                      field("authorization", TOKEN, false),
                                      field("idempotency-key", key, true)};

    memcpy(fields, all, sizeof(all));
    return COUNT(all);
}

/* Three paths in turn: after each was sent once, a request is a few bytes and its key. */
static void test_repeated_fields_are_sent_by_index(void **state)
{
    static const char *const paths[] = {"/a.B/One", "/a.B/Two", "/a.B/Three"};
    struct hpack_field fields[HPACK_FIELDS_MAX] = {{.varies = false}};
    struct pair pair;

    (void)state;
    pair_open(&pair, HPACK_INDEXED);
    for (size_t i = 0; i < 12; i++) {
        char key[16];
        size_t count = 0;
        size_t size = 0;
        uint32_t generation = pair.hpack.generation;

        (void)snprintf(key, sizeof(key), "key-%02zu", i);
        count = make_fields(fields, paths[i % 3], key);
        size = pair_send(&pair, fields, count);
        if (i >= 3) {
            assert_int_equal(size, 7 + 1 + 1 + strlen("idempotency-key") + 1 + strlen(key));
            assert_int_equal(pair.hpack.generation, generation);
            assert_true(hpack_is_repeatable(&pair.hpack));
        }
    }
    pair_close(&pair);
}

/* Either scheme is a byte, its index in the static table. */
static void test_schemes_are_sent_by_index(void **state)
{
    static const char *const schemes[] = {"http", "https"};
    struct pair pair;

    (void)state;
    pair_open(&pair, HPACK_INDEXED);
    for (size_t i = 0; i < COUNT(schemes); i++) {
        struct hpack_field scheme = field(":scheme", schemes[i], false);

        assert_int_equal(pair_send(&pair, &scheme, 1), 1);
    }
    pair_close(&pair);
}

/* Limits that shrink to nothing, grow, and are too small for some fields. */
static void test_table_follows_its_limits(void **state)
{
    static const uint32_t limits[] = {4096, 0, 65536, 100, 0, 150, 4096, 1, 300};
    static const enum hpack_way ways[] = {HPACK_INDEXED, HPACK_LITERAL};

    (void)state;
    for (size_t w = 0; w < COUNT(ways); w++) {
        struct hpack_field fields[HPACK_FIELDS_MAX] = {{.varies = false}};
        struct pair pair;

        pair_open(&pair, ways[w]);
        for (size_t i = 0; i < COUNT(limits); i++) {
            pair_limit(&pair, limits[i]);
            for (size_t k = 0; k < 4; k++) {
                size_t count = make_fields(fields, k % 2 == 0 ? "/a.B/One" : "/a.B/Two", "k");

                (void)pair_send(&pair, fields, count);
            }
            assert_true(pair.hpack.used_bytes <= limits[i]);
        }
        pair_close(&pair);
    }
}

/* The limit is known before the first request; a table of size 0 stores nothing. */
static void test_table_of_size_zero_stores_nothing(void **state)
{
    struct hpack_field fields[HPACK_FIELDS_MAX] = {{.varies = false}};
    struct pair pair;
    size_t sizes[3];

    (void)state;
    pair_open(&pair, HPACK_INDEXED);
    pair_limit(&pair, 0);
    for (size_t i = 0; i < 3; i++) {
        size_t count = make_fields(fields, "/a.B/One", "k");

        sizes[i] = pair_send(&pair, fields, count);
    }
    assert_int_equal(pair.hpack.count, 0);
    assert_int_equal(sizes[0], sizes[1] + 1); /* the change of size, once */
    assert_int_equal(sizes[1], sizes[2]);
    pair_close(&pair);
}

/* More fields than the table holds: the rest is written out, each time. */
static void test_fields_beyond_the_table_are_literal(void **state)
{
    char values[40][200];
    struct hpack_field fields[40];
    struct pair pair;
    size_t first = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++) {
        (void)snprintf(values[i], sizeof(values[i]), "%0150zu", i);
        fields[i] = field("x-field", values[i], false);
    }
    pair_open(&pair, HPACK_INDEXED);
    first = pair_send(&pair, fields, COUNT(fields));
    assert_true(pair.hpack.used_bytes <= HPACK_TABLE_BYTES_MAX);
    assert_in_range(pair.hpack.count, 20, 22);
    assert_true(pair_send(&pair, fields, COUNT(fields)) < first - 20 * 150);
    assert_true(pair_send(&pair, fields, COUNT(fields)) < first - 20 * 150);
    pair_close(&pair);
}

/* Lengths around those at which HPACK's integers need one more byte. */
static void test_long_values_round_trip(void **state)
{
    static const size_t lengths[] = {0, 1, 30, 31, 126, 127, 128, 254, 255, 300, 5000, 15000};
    static char value[15001];
    struct pair pair;

    (void)state;
    memset(value, 'v', sizeof(value) - 1);
    pair_open(&pair, HPACK_INDEXED);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        const struct hpack_field one = {SLICE("x-long"), slice_of(value, lengths[i]), false};

        (void)pair_send(&pair, &one, 1);
        (void)pair_send(&pair, &one, 1);
    }
    pair_close(&pair);
    assert_false(hpack_fit(&(struct hpack_field){SLICE("x"), slice_of(value, 16384), false}, 1));
}

int run_hpack_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_repeated_fields_are_sent_by_index),
                                       cmocka_unit_test(test_schemes_are_sent_by_index),
                                       cmocka_unit_test(test_table_follows_its_limits),
                                       cmocka_unit_test(test_table_of_size_zero_stores_nothing),
                                       cmocka_unit_test(test_fields_beyond_the_table_are_literal),
                                       cmocka_unit_test(test_long_values_round_trip)};

    return cmocka_run_group_tests_name("hpack", tests, NULL, NULL);
}
