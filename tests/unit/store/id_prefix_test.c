/*
 * id_prefix_test.c: prefixes of ids are read; other text is refused. Matching has the result of a
 * comparison of the texts, for every length.
 */
#include "tests/unit/store/store_tests.h"

#include "store/id_prefix.h"

static const char ID[] = "0192f0c0-1111-7222-8333-44445555aBcD";

static void test_each_prefix_of_a_uuid_matches(void **state)
{
    struct id_prefix prefix;
    struct uuid id;

    (void)state;
    assert_true(uuid_parse(slice_text(ID), &id));
    for (size_t size = 0; size <= UUID_TEXT_BYTES; size++) {
        struct key key = {.size = 0};

        assert_true(id_prefix_parse_uuid(slice_of(ID, size), &prefix));
        assert_true(id_prefix_matches(&prefix, slice_of(id.bytes, UUID_BYTES)));
        id_prefix_put(&prefix, &key);
        assert_int_equal(key.size, prefix.digit_count / 2);
        assert_memory_equal(key.bytes, id.bytes, key.size);
    }
}

static void test_another_digit_does_not_match(void **state)
{
    struct id_prefix prefix;
    struct uuid id;

    (void)state;
    for (size_t at = 0; at < UUID_TEXT_BYTES; at++) {
        char text[UUID_TEXT_BYTES];

        memcpy(text, ID, sizeof(text));
        assert_true(uuid_parse(slice_of(text, sizeof(text)), &id));
        text[at] = text[at] == '9' ? '8' : '9';
        if (ID[at] == '-') {
            assert_false(id_prefix_parse_uuid(slice_of(text, at + 1), &prefix));
            continue;
        }
        assert_true(id_prefix_parse_uuid(slice_of(text, at + 1), &prefix));
        assert_false(id_prefix_matches(&prefix, slice_of(id.bytes, UUID_BYTES)));
    }
}

static void test_other_text_is_refused(void **state)
{
    static const char *const wrong[] = {"x", "0192f0c01", "0192f0c0 ", "-",
                                        "0192f0c0-1111-7222-8333-44445555abcd0"};
    struct id_prefix prefix;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(id_prefix_parse_uuid(slice_text(wrong[i]), &prefix));
    }
    assert_true(id_prefix_parse_hex(slice_text("0aF"), 4, &prefix));
    assert_int_equal(prefix.digit_count, 3);
    assert_false(id_prefix_parse_hex(slice_text("123456789"), 4, &prefix));
    assert_false(id_prefix_parse_hex(slice_text("12-"), 4, &prefix));
}

static void test_an_id_shorter_than_the_prefix_does_not_match(void **state)
{
    static const uint8_t id[] = {0x12, 0x34};
    struct id_prefix prefix;

    (void)state;
    assert_true(id_prefix_parse_hex(slice_text("12345"), 4, &prefix));
    assert_false(id_prefix_matches(&prefix, slice_of(id, sizeof(id))));
}

int run_id_prefix_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_prefix_of_a_uuid_matches),
        cmocka_unit_test(test_another_digit_does_not_match),
        cmocka_unit_test(test_other_text_is_refused),
        cmocka_unit_test(test_an_id_shorter_than_the_prefix_does_not_match),
    };

    return cmocka_run_group_tests_name("id_prefix", tests, NULL, NULL);
}
