/*
 * base64_test.c: base64 in each form: encoding, decoding, and refusal of invalid text.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/base64.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void assert_written(struct slice bytes, unsigned form, const char *wanted)
{
    uint8_t text[64];
    size_t size = base64_write(bytes, form, text);

    assert_int_equal(size, strlen(wanted));
    assert_memory_equal(text, wanted, size);
}

static void assert_read(const char *text, unsigned form, struct slice wanted)
{
    uint8_t bytes[64];
    size_t size = 0;

    if (!base64_read(slice_text(text), form, bytes, &size)) {
        fail_msg("'%s' is refused by form %u", text, form);
    }
    assert_int_equal(size, wanted.size);
    assert_memory_equal(bytes, wanted.data, size);
}

/* Goal: each form writes and reads the vectors of RFC 4648. Method: the vectors of its section 10,
 * and bytes whose digits differ between the alphabets. */
static void test_vectors_of_rfc_4648_round_trip(void **state)
{
    static const struct {
        struct slice bytes;
        const char *plain;
        const char *padded;
        const char *url;
    } rows[] = {
        {SLICE(""), "", "", ""},
        {SLICE("f"), "Zg", "Zg==", "Zg"},
        {SLICE("fo"), "Zm8", "Zm8=", "Zm8"},
        {SLICE("foo"), "Zm9v", "Zm9v", "Zm9v"},
        {SLICE("foob"), "Zm9vYg", "Zm9vYg==", "Zm9vYg"},
        {SLICE("fooba"), "Zm9vYmE", "Zm9vYmE=", "Zm9vYmE"},
        {SLICE("foobar"), "Zm9vYmFy", "Zm9vYmFy", "Zm9vYmFy"},
        {SLICE("\xff\xfe\x00"), "//4A", "//4A", "__4A"},
        {SLICE("\xfb\xff\xbe\xfe"), "+/++/g", "+/++/g==", "-_--_g"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_written(rows[i].bytes, BASE64_STANDARD, rows[i].plain);
        assert_written(rows[i].bytes, BASE64_STANDARD | BASE64_PADDED, rows[i].padded);
        assert_written(rows[i].bytes, BASE64_URL, rows[i].url);
        assert_read(rows[i].plain, BASE64_STANDARD, rows[i].bytes);
        assert_read(rows[i].plain, BASE64_STANDARD | BASE64_PADDED, rows[i].bytes);
        assert_read(rows[i].padded, BASE64_STANDARD | BASE64_PADDED, rows[i].bytes);
        assert_read(rows[i].url, BASE64_URL | BASE64_EXACT, rows[i].bytes);
        assert_read(rows[i].url, BASE64_URL | BASE64_STANDARD, rows[i].bytes);
        assert_read(rows[i].padded, BASE64_URL | BASE64_STANDARD | BASE64_PADDED, rows[i].bytes);
    }
    assert_read("Zh", BASE64_STANDARD,
                SLICE("f")); /* without BASE64_EXACT, left-over bits are dropped */
}

/* Goal: text that is not base64 of a form is refused, and the size is unchanged. Method: one table
 * of texts and the forms that refuse them. */
static void test_text_of_another_form_is_refused(void **state)
{
    enum {
        PLAIN = BASE64_STANDARD,
        PADDED = BASE64_STANDARD | BASE64_PADDED,
        EITHER = BASE64_STANDARD | BASE64_URL | BASE64_PADDED,
        EXACT = BASE64_URL | BASE64_EXACT
    };
    static const struct {
        const char *text;
        unsigned form;
    } rows[] = {
        {"Z", PLAIN},     {"Z", EXACT},         {"Zm9vY", EITHER},  {"=", PADDED},
        {"==", PADDED},   {"====", PADDED},     {"Zg=", PADDED},    {"Zg===", PADDED},
        {"Z===", PADDED}, {"Zg=g", PADDED},     {"Zg==", PLAIN},    {"Zg==", EXACT},
        {"Zm8=", EXACT},  {"Z*==", EITHER},     {"Zm9v\n", EITHER}, {"Zm 9v", EITHER},
        {"__4A", PADDED}, {"//4A", EXACT},      {"-_--", PLAIN},    {"Zh", EXACT},
        {"Zm9", EXACT},   {"\xc3\xa4", EITHER},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[16];
        size_t size = 99;

        if (base64_read(slice_text(rows[i].text), rows[i].form, bytes, &size)) {
            fail_msg("'%s' is taken by form %u", rows[i].text, rows[i].form);
        }
        assert_int_equal(size, 99);
    }
    {
        uint8_t bytes[4];
        size_t size = 99;

        assert_false(base64_read(slice_of("Zm\0v", 4), EITHER, bytes, &size));
    }
}

/* Goal: bytes of every length round trip, in any form. Method: lengths 0 to 50. */
static void test_bytes_of_every_length_round_trip(void **state)
{
    static const unsigned forms[] = {BASE64_STANDARD, BASE64_STANDARD | BASE64_PADDED,
                                     BASE64_URL | BASE64_EXACT,
                                     BASE64_URL | BASE64_PADDED | BASE64_EXACT};

    (void)state;
    for (size_t size = 0; size <= 50; size++) {
        uint8_t bytes[50];

        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)(255 - i * 7);
        }
        for (size_t i = 0; i < COUNT(forms); i++) {
            uint8_t text[BASE64_PADDED_BYTES(50)];
            uint8_t back[BASE64_PADDED_BYTES(50)];
            size_t text_size = base64_write(slice_of(bytes, size), forms[i], text);
            size_t back_size = 99;

            assert_int_equal(text_size, (forms[i] & BASE64_PADDED) != 0 ? BASE64_PADDED_BYTES(size)
                                                                        : BASE64_DIGITS(size));
            assert_true(base64_read(slice_of(text, text_size), forms[i], back, &back_size));
            assert_int_equal(back_size, size);
            assert_memory_equal(back, bytes, size);
        }
    }
}

int run_base64_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_of_rfc_4648_round_trip),
        cmocka_unit_test(test_text_of_another_form_is_refused),
        cmocka_unit_test(test_bytes_of_every_length_round_trip),
    };

    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
