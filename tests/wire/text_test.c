/*
 * text_test.c: codings of header fields, and gzip.
 */
#include "server/call/gzip.h"
#include "server/grpc/grpc_text.h"
#include "tests/wire/wire.h"

#include <stdlib.h>

static void assert_text(struct slice got, const char *wanted)
{
    assert_int_equal(got.size, strlen(wanted));
    assert_memory_equal(got.data, wanted, got.size);
}

/* Goal: base64 round trips, padded or not, and is refused if invalid. Method: the vectors of RFC
 * 4648, 10, and damaged ones. */
static void test_base64_round_trips_and_refuses_invalid_text(void **state)
{
    static const char *const vectors[][3] = {
        {"", "", ""},
        {"f", "Zg", "Zg=="},
        {"fo", "Zm8", "Zm8="},
        {"foo", "Zm9v", "Zm9v"},
        {"foob", "Zm9vYg", "Zm9vYg=="},
        {"fooba", "Zm9vYmE", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    };
    static const char *const bad[] = {"Z", "Zg===", "Z*==", "Zm9v\n", "Zm9vY", "=", "Zg=g"};
    struct arena arena;
    struct slice got;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        assert_int_equal(grpc_base64_encode(&arena, slice_text(vectors[i][0]), &got), OK);
        assert_text(got, vectors[i][1]);
        assert_int_equal(grpc_base64_decode(&arena, slice_text(vectors[i][1]), &got), OK);
        assert_text(got, vectors[i][0]);
        assert_int_equal(grpc_base64_decode(&arena, slice_text(vectors[i][2]), &got), OK);
        assert_text(got, vectors[i][0]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (grpc_base64_decode(&arena, slice_text(bad[i]), &got) != ERR_INVALID) {
            fail_msg("'%s' was decoded", bad[i]);
        }
    }
    arena_deinit(&arena);
}

/* Goal: messages survive a header field. Method: plain text is passed unchanged, the rest
 * escaped. */
static void test_percent_encoding_escapes_all_but_plain_text(void **state)
{
    struct arena arena;
    struct slice got;

    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(grpc_percent_encode(&arena, SLICE("plain ~text"), &got), OK);
    assert_text(got, "plain ~text");
    assert_int_equal(grpc_percent_encode(&arena, SLICE("100%\r\n\xc3\xa9\x7f"), &got), OK);
    assert_text(got, "100%25%0D%0A%C3%A9%7F");
    arena_deinit(&arena);
}

/* Goal: timeouts are parsed by the protocol's rules and never overflow. Method: each unit, the
 * largest numbers, and invalid texts. */
static void test_timeout_is_parsed_without_overflow(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } good[] = {
        {"1H", INT64_C(3600000000)},
        {"2M", 120000000},
        {"3S", 3000000},
        {"4m", 4000},
        {"5u", 5},
        {"1n", 0},
        {"1999n", 1},
        {"0S", 0},
        {"99999999H", CALL_TIMEOUT_US_MAX},
        {"99999999S", CALL_TIMEOUT_US_MAX},
        {"99999999u", 99999999},
    };
    static const char *const bad[] = {"",    "1",   "S",    "1s",   "-1S",        "+1S",
                                      " 1S", "1S ", "1.5S", "0x1S", "123456789S", "1SS"};
    int64_t us = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(grpc_timeout_parse(slice_text(good[i].text), &us), OK);
        assert_int_equal(us, good[i].us);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (grpc_timeout_parse(slice_text(bad[i]), &us) != ERR_INVALID) {
            fail_msg("'%s' was read", bad[i]);
        }
    }
}

/* Goal: an encoding is found in a list only as a whole word. Method: words at each place, and
 * parts. */
static void test_encoding_is_found_as_a_whole_word(void **state)
{
    (void)state;
    assert_true(grpc_list_has(SLICE("gzip"), SLICE("gzip")));
    assert_true(grpc_list_has(SLICE("identity,deflate, gzip"), SLICE("gzip")));
    assert_true(grpc_list_has(SLICE("gzip ,identity"), SLICE("gzip")));
    assert_false(grpc_list_has(SLICE("identity,x-gzip,gzipped"), SLICE("gzip")));
    assert_false(grpc_list_has(SLICE(""), SLICE("gzip")));
    assert_false(grpc_list_has(SLICE(",,"), SLICE("gzip")));
    assert_text(grpc_first_of_list(SLICE(" a , b")), "a");
    assert_true(grpc_name_is_binary(SLICE("x-bin")));
    assert_false(grpc_name_is_binary(SLICE("bin")));
    assert_false(grpc_name_is_binary(SLICE("x-bin2")));
}

/* Goal: gzip round trips, and every truncation or change of it is refused. Method: 20,000 bytes;
 * each prefix of the packed form; one byte more; each of its first bytes changed. */
static void test_gzip_round_trips_and_refuses_damage(void **state)
{
    struct arena arena;
    struct buffer plain;
    struct buffer packed;
    struct slice got;

    (void)state;
    arena_init(&arena, 64 << 20);
    buffer_init(&plain, &arena, 0);
    for (size_t i = 0; i < 20000; i++) {
        buffer_append_byte(&plain, wire_pattern(i));
    }
    buffer_init(&packed, &arena, 0);
    assert_int_equal(gzip_deflate(buffer_slice(&plain), &packed), OK);
    assert_true(packed.size < plain.size);
    assert_int_equal(gzip_inflate(&arena, buffer_slice(&packed), plain.size, NULL, &got), OK);
    assert_true(slice_equal(got, buffer_slice(&plain)));
    assert_int_equal(gzip_inflate(&arena, buffer_slice(&packed), plain.size - 1, NULL, &got),
                     ERR_TOO_LARGE);
    assert_int_equal(gzip_inflate(&arena, SLICE(""), 100, NULL, &got), ERR_MALFORMED);
    for (size_t cut = 1; cut < packed.size; cut += 7) {
        assert_int_equal(gzip_inflate(&arena, slice_of(packed.data, cut), plain.size, NULL, &got),
                         ERR_MALFORMED);
    }
    /* The last eight bytes are check sum and size. */
    for (size_t at = packed.size - 8; at < packed.size; at++) {
        packed.data[at] ^= 0x20;
        assert_int_equal(gzip_inflate(&arena, buffer_slice(&packed), plain.size, NULL, &got),
                         ERR_MALFORMED);
        packed.data[at] ^= 0x20;
    }
    buffer_append_byte(&packed, 0);
    assert_int_equal(gzip_inflate(&arena, buffer_slice(&packed), plain.size, NULL, &got),
                     ERR_MALFORMED);
    arena_deinit(&arena);
}

/* Goal: a bomb is stopped at the limit, not after it. Method: 32 MiB of zeros in 32 KiB, inflated
 * with a limit of 1 MiB into an arena that holds little more. */
static void test_gzip_bomb_stops_at_the_limit(void **state)
{
    size_t size = 32u << 20;
    uint8_t *zeros = calloc(1, size);
    struct arena arena;
    struct arena small;
    struct buffer packed;
    struct slice got;

    (void)state;
    assert_non_null(zeros);
    arena_init(&arena, 64 << 20);
    arena_init(&small, 4 << 20);
    buffer_init(&packed, &arena, 0);
    assert_int_equal(gzip_deflate(slice_of(zeros, size), &packed), OK);
    assert_int_equal(gzip_inflate(&small, buffer_slice(&packed), 1 << 20, NULL, &got),
                     ERR_TOO_LARGE);
    assert_true(small.used_bytes <= 4 << 20);
    arena_deinit(&small);
    arena_deinit(&arena);
    free(zeros);
}

/* Goal: a caller that no longer needs the bytes stops it before the next step. Method: it is
 * stopped before it starts; then not, by the same flag. */
static void test_gzip_stops_before_its_next_step(void **state)
{
    struct arena arena;
    struct buffer packed;
    struct slice got = {NULL, 0};
    atomic_bool stop = true;

    (void)state;
    arena_init(&arena, 1 << 20);
    buffer_init(&packed, &arena, 0);
    assert_int_equal(gzip_deflate(SLICE("some text"), &packed), OK);
    assert_int_equal(gzip_inflate(&arena, buffer_slice(&packed), 100, &stop, &got), ERR_CANCELLED);
    atomic_store(&stop, false);
    assert_int_equal(gzip_inflate(&arena, buffer_slice(&packed), 100, &stop, &got), OK);
    assert_true(slice_equal(got, SLICE("some text")));
    arena_deinit(&arena);
}

/* Goal: messages of one step, of several, and at the edges between them are returned whole, in no
 * more memory than they have bytes, and state their size. Method: patterned bytes, and noise that
 * does not shrink, so that steps end for want of room and for want of input. */
static void test_gzip_steps_return_whole_messages(void **state)
{
    static const size_t sizes[] = {1,
                                   GZIP_STEP_BYTES - 1,
                                   GZIP_STEP_BYTES,
                                   GZIP_STEP_BYTES + 1,
                                   2 * GZIP_STEP_BYTES,
                                   5 * GZIP_STEP_BYTES + 3};
    uint32_t noise = 1;

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = sizes[i / 2];
        struct arena arena;
        struct arena exact;
        struct buffer plain;
        struct buffer packed;
        struct slice got;

        arena_init(&arena, 16 << 20);
        arena_init(&exact, size + 2 * 4096);
        buffer_init(&plain, &arena, size);
        for (size_t at = 0; at < size; at++) {
            noise = noise * 1664525 + 1013904223;
            buffer_append_byte(&plain, i % 2 == 0 ? wire_pattern(at) : (uint8_t)(noise >> 24));
        }
        buffer_init(&packed, &arena, 0);
        assert_int_equal(gzip_deflate(buffer_slice(&plain), &packed), OK);
        assert_int_equal(gzip_stated_bytes(buffer_slice(&packed)), size);
        assert_int_equal(gzip_inflate(&arena, buffer_slice(&packed), size - 1, NULL, &got),
                         ERR_TOO_LARGE);
        assert_int_equal(gzip_inflate(&exact, buffer_slice(&packed), size, NULL, &got), OK);
        assert_true(slice_equal(got, buffer_slice(&plain)));
        assert_int_equal(
            gzip_inflate(&arena, slice_of(packed.data, packed.size - 1), size, NULL, &got),
            ERR_MALFORMED);
        arena_deinit(&exact);
        arena_deinit(&arena);
    }
    assert_int_equal(gzip_stated_bytes(SLICE("abc")), 0);
    assert_int_equal(gzip_stated_bytes(SLICE("....\1\2\3\200")), 0x80030201u);
}

int run_text_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64_round_trips_and_refuses_invalid_text),
        cmocka_unit_test(test_percent_encoding_escapes_all_but_plain_text),
        cmocka_unit_test(test_timeout_is_parsed_without_overflow),
        cmocka_unit_test(test_encoding_is_found_as_a_whole_word),
        cmocka_unit_test(test_gzip_round_trips_and_refuses_damage),
        cmocka_unit_test(test_gzip_bomb_stops_at_the_limit),
        cmocka_unit_test(test_gzip_stops_before_its_next_step),
        cmocka_unit_test(test_gzip_steps_return_whole_messages),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
