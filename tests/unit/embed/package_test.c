/*
 * package_test.c: unexpected npm packages, and invalid vocabularies.
 */
#include "tests/unit/embed/embed_fixture.h"
#include "tools/mkmodel/pack/package.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TAR_BYTES 2048

static struct arena arena;
static struct fault fault;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, FIXTURE_ARENA_BYTES);
    fault_init(&fault, &arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

/* Goal: only the bytes with the known hash are read. Method: the hash of "abc" (FIPS 180-4). */
static void test_hash_is_checked(void **state)
{
    struct slice hash = SLICE(
        "3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==");
    struct make_source source = {.piece_count = 0};

    (void)state;
    assert_int_equal(package_check(SLICE("abc"), hash, &fault), OK);
    assert_int_equal(package_check(SLICE("abd"), hash, &fault), ERR_INVALID);
    assert_int_equal(make_read_package(&arena, SLICE("abc"), &source, &fault), ERR_INVALID);
}

/* Goal: damaged gzip files are refused. Method: an empty file, a file that is not gzip, a wrong
 * size. */
static void test_damaged_gzip_is_refused(void **state)
{
    struct slice tar = {NULL, 0};

    (void)state;
    assert_int_equal(package_unpack(&arena, SLICE(""), &tar, &fault), ERR_INVALID);
    assert_int_equal(
        package_unpack(&arena, SLICE("this is not a gzip file\x01\0\0\0"), &tar, &fault),
        ERR_INVALID);
    assert_int_equal(
        package_unpack(&arena, SLICE("this is not a gzip file\xff\xff\xff\xff"), &tar, &fault),
        ERR_INVALID);
}

/* Goal: files of an archive are found, and sizes beyond its end are refused. Method: an archive of
 * two files. */
static void test_files_are_found(void **state)
{
    uint8_t tar[TAR_BYTES] = {0};
    struct slice content = {NULL, 0};

    (void)state;
    memcpy(tar, "one", 3);
    memcpy(tar + 124, "00000000005", 11);
    memcpy(tar + 512, "first", 5);
    memcpy(tar + 1024, "two", 3);
    memcpy(tar + 1024 + 124, "00000000002", 11);
    memcpy(tar + 1536, "zw", 2);
    assert_true(package_find(slice_of(tar, sizeof(tar)), "one", &content));
    assert_true(slice_equal(content, SLICE("first")));
    assert_true(package_find(slice_of(tar, sizeof(tar)), "two", &content));
    assert_true(slice_equal(content, SLICE("zw")));
    assert_false(package_find(slice_of(tar, sizeof(tar)), "three", &content));
    assert_false(package_find(slice_of(tar, 1200), "two", &content));
    memcpy(tar + 124, "77777777777", 11);
    assert_false(package_find(slice_of(tar, sizeof(tar)), "two", &content));
}

/* Goal: a vocabulary is read as the reference reads it. Method: escapes, null as score; and texts
 * that are not a vocabulary. */
static void test_vocabularies_are_read(void **state)
{
    static const char *const wrong[] = {
        "", "{}", "[1]", "[[\"a\"]]", "[[1, 2]]", "[[\"a\", \"b\"]]", "[[\"a\", 1e99]]"};
    struct make_source source;

    (void)state;
    assert_int_equal(make_read_vocabulary(&arena, SLICE("[[\"\\u2581a\", -1.5], [\":\", null]]"),
                                          &source, &fault),
                     OK);
    assert_int_equal(source.piece_count, 2);
    assert_true(slice_equal(source.pieces[0], SLICE("\xe2\x96\x81"
                                                    "a")));
    assert_true(source.scores[0] == -1.5F && source.scores[1] == 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(make_read_vocabulary(&arena, slice_text(wrong[i]), &source, &fault),
                         ERR_INVALID);
    }
}

int package_test_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hash_is_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_gzip_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vocabularies_are_read, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
