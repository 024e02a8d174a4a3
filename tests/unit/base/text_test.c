/*
 * text_test.c: UTF-8, and hex digits. The tables are those of RFC 3629 and of the Unicode
 * standard's table 3-7; each bad sequence is also tried after and before runs of ASCII, which take
 * the fast path.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/hex.h"
#include "store/base/text.h"

static const struct slice good_texts[] = {
    {NULL, 0},
    {(const uint8_t *)"a", 1},
    {(const uint8_t *)"\0", 1},
    {(const uint8_t *)"\x7f", 1},
    {(const uint8_t *)"\xc2\x80", 2},
    {(const uint8_t *)"\xdf\xbf", 2},
    {(const uint8_t *)"\xe0\xa0\x80", 3},
    {(const uint8_t *)"\xed\x9f\xbf", 3}, /* U+D7FF */
    {(const uint8_t *)"\xee\x80\x80", 3}, /* U+E000 */
    {(const uint8_t *)"\xef\xbf\xbf", 3}, /* U+FFFF */
    {(const uint8_t *)"\xef\xbb\xbf", 3}, /* a byte order mark is text */
    {(const uint8_t *)"\xf0\x90\x80\x80", 4},
    {(const uint8_t *)"\xf4\x8f\xbf\xbf", 4}, /* U+10FFFF */
};

static const struct slice bad_texts[] = {
    {(const uint8_t *)"\x80", 1}, /* only a continuation byte */
    {(const uint8_t *)"\xbf", 1},
    {(const uint8_t *)"\xc0\x80", 2}, /* overlong */
    {(const uint8_t *)"\xc1\xbf", 2},
    {(const uint8_t *)"\xc2", 1}, /* truncated */
    {(const uint8_t *)"\xc2\x41", 2},
    {(const uint8_t *)"\xc2\xc2", 2},
    {(const uint8_t *)"\xe0\x80\x80", 3}, /* overlong */
    {(const uint8_t *)"\xe0\x9f\xbf", 3},
    {(const uint8_t *)"\xe1\x80", 2},
    {(const uint8_t *)"\xe1\x80\x41", 3},
    {(const uint8_t *)"\xe1\x41\x80", 3},
    {(const uint8_t *)"\xed\xa0\x80", 3}, /* U+D800 */
    {(const uint8_t *)"\xed\xbf\xbf", 3}, /* U+DFFF */
    {(const uint8_t *)"\xf0\x80\x80\x80", 4}, /* overlong */
    {(const uint8_t *)"\xf0\x8f\xbf\xbf", 4},
    {(const uint8_t *)"\xf0\x90\x80", 3},
    {(const uint8_t *)"\xf0\x90\x80\x41", 4},
    {(const uint8_t *)"\xf0\x90\x41\x80", 4},
    {(const uint8_t *)"\xf4\x90\x80\x80", 4}, /* U+110000 */
    {(const uint8_t *)"\xf5\x80\x80\x80", 4},
    {(const uint8_t *)"\xf8\x88\x80\x80\x80", 5},
    {(const uint8_t *)"\xfe", 1},
    {(const uint8_t *)"\xff", 1},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* `piece` between runs of ASCII of every length around the fast path's eight bytes. */
static void check_between(struct slice piece, bool expected)
{
    uint8_t text[64];

    for (size_t before = 0; before < 20; before++) {
        for (size_t after = 0; after < 20; after++) {
            memset(text, 'x', sizeof(text));
            if (piece.size > 0) {
                memcpy(text + before, piece.data, piece.size);
            }
            assert_int_equal(text_is_utf8(slice_of(text, before + piece.size + after)), expected);
        }
    }
}

/* Goal: valid and invalid sequences are distinguished in any place. Method: the tables. */
static void test_invalid_utf8_is_found_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good_texts); i++) {
        check_between(good_texts[i], true);
        assert_int_equal(text_sequence_bytes(good_texts[i]), good_texts[i].size);
    }
    for (size_t i = 0; i < COUNT(bad_texts); i++) {
        check_between(bad_texts[i], false);
        assert_int_equal(text_sequence_bytes(bad_texts[i]), 0);
    }
}

/* Goal: every code point survives encoding and reading. Method: all 1,112,064 of them. */
static void test_every_code_point_round_trips(void **state)
{
    (void)state;
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        uint8_t bytes[4];
        size_t at = 0;
        size_t size = 0;

        if (point == 0xd800) {
            point = 0xe000;
        }
        size = text_encode(point, bytes);
        if (!text_is_utf8(slice_of(bytes, size)) ||
            text_next(slice_of(bytes, size), &at) != point || at != size) {
            fail_msg("U+%04X", point);
        }
    }
}

/* Goal: control characters are found, others are not. Method: all below U+0100, at each place of
 * texts of up to three words. */
static void test_control_characters_are_found(void **state)
{
    uint8_t bytes[32];

    (void)state;
    for (uint32_t point = 0; point < 0x100; point++) {
        bool expected = point < 0x20 || (point >= 0x7f && point < 0xa0);

        for (size_t at = 0; at < 24; at++) {
            size_t size = 0;

            memset(bytes, 'z', sizeof(bytes));
            size = text_encode(point, bytes + at);
            assert_int_equal(text_has_control(slice_of(bytes, sizeof(bytes))), expected);
            assert_int_equal(text_has_control(slice_of(bytes, at + size)), expected);
        }
    }
    assert_false(text_has_control(SLICE("\xe2\x82\xac"))); /* the continuation bytes resemble C1 */
    assert_false(text_has_control(slice_of(NULL, 0)));
}

/* Goal: texts are cut between code points. Method: a mixed text of 40 characters. */
static void test_text_is_cut_between_characters(void **state)
{
    uint8_t text[160];
    size_t ends[41] = {0};
    size_t size = 0;
    static const uint32_t points[] = {'a', 0xe9, 0x20ac, 0x1f600};

    (void)state;
    for (size_t i = 0; i < 40; i++) {
        size += text_encode(points[i % 4], text + size);
        ends[i + 1] = size;
    }
    for (size_t i = 0; i <= 40; i++) {
        struct slice whole = slice_of(text, size);

        assert_int_equal(text_first_characters(whole, i).size, ends[i]);
    }
    assert_int_equal(text_first_characters(slice_of(text, size), 41).size, size);
    for (size_t bytes = 0; bytes <= size + 3; bytes++) {
        struct slice cut = text_first_bytes(slice_of(text, size), bytes);

        assert_true(cut.size <= bytes && bytes - cut.size < 4 + (bytes > size ? 3u : 0u));
        assert_true(text_is_utf8(cut));
    }
    assert_int_equal(text_first_bytes(slice_of(NULL, 0), 5).size, 0);
}

/* Goal: a hex digit is read in either case, and no other byte is one. Method: every byte. */
static void test_only_hex_digits_are_read(void **state)
{
    static const char lower[] = "0123456789abcdef";
    static const char upper[] = "0123456789ABCDEF";

    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        int wanted = -1;

        for (int value = 0; value < 16; value++) {
            wanted = byte == lower[value] || byte == upper[value] ? value : wanted;
        }
        assert_int_equal(hex_value((uint8_t)byte), wanted);
    }
    for (uint32_t value = 0; value < 64; value++) {
        assert_int_equal(hex_digit(value), lower[value % 16]);
    }
}

int run_text_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invalid_utf8_is_found_anywhere),
        cmocka_unit_test(test_every_code_point_round_trips),
        cmocka_unit_test(test_control_characters_are_found),
        cmocka_unit_test(test_text_is_cut_between_characters),
        cmocka_unit_test(test_only_hex_digits_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
