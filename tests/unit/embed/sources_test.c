/*
 * sources_test.c: sources of words and antonyms in the forms of their packages: small ones that the tests make, and
 * damaged ones.
 */
#include "store/base/buffer.h"
#include "tests/unit/embed/embed_fixture.h"
#include "tools/mkmodel/pack/antonyms.h"
#include "tools/mkmodel/pack/glove.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <zlib.h>

#define PACKED_BYTES 65536

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

static struct slice pack(struct slice text)
{
    uint8_t *packed = (uint8_t *)arena_alloc(&arena, PACKED_BYTES);
    z_stream stream = {0};

    assert_non_null(packed);
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)text.data;
    stream.avail_in = (uInt)text.size;
    stream.next_out = packed;
    stream.avail_out = PACKED_BYTES;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return slice_of(packed, stream.total_out);
}

/* Appends `"key":[...]` with one number that is 1 and the rank. */
static void put_entry(struct buffer *json, const char *key, size_t one, unsigned rank)
{
    char number[32];

    buffer_append(json, slice_text(key));
    buffer_append(json, SLICE(":["));
    for (size_t i = 0; i < MODEL_WORD_WIDTH; i++) {
        buffer_append(json, i == one ? SLICE("1,") : SLICE("0,"));
    }
    (void)snprintf(number, sizeof(number), "1.5,%u]", rank);
    buffer_append(json, slice_text(number));
}

/* Goal: the frequent words of letters are read, in order, with smaller weights for more frequent ones. Method: keys with
 * escapes, brackets and marks, a rare one, in another order than their ranks. */
static void test_word_vectors_are_read(void **state)
{
    struct make_words words;
    struct buffer json;

    (void)state;
    buffer_init(&json, &arena, PACKED_BYTES);
    buffer_append(&json, SLICE("tar {\"words\":[\"the\"],\"vectors\":{"));
    put_entry(&json, "\"2000\"", 7, 900);
    buffer_append(&json, SLICE(","));
    put_entry(&json, "\"the\"", 3, 0);
    buffer_append(&json, SLICE(","));
    put_entry(&json, "\"\\\\\"", 3, 1);
    buffer_append(&json, SLICE(","));
    put_entry(&json, "\"\\\"\"", 3, 2);
    buffer_append(&json, SLICE(","));
    put_entry(&json, "\"]\"", 3, 3);
    buffer_append(&json, SLICE(","));
    put_entry(&json, "\"well-known\"", 3, 4);
    buffer_append(&json, SLICE(","));
    put_entry(&json, "\"rare\"", 3, MODEL_WORDS_MAX);
    buffer_append(&json, SLICE(","));
    put_entry(&json, "\"cat\"", 9, 5000);
    buffer_append(&json, SLICE("},\"unkVector\":[0]}"));
    assert_true(buffer_ok(&json));
    assert_int_equal(glove_read(&arena, pack(buffer_slice(&json)), &words, &fault), OK);
    assert_int_equal(words.count, 3);
    assert_true(slice_equal(words.words[0], SLICE("2000")));
    assert_true(slice_equal(words.words[1], SLICE("cat")));
    assert_true(slice_equal(words.words[2], SLICE("the")));
    assert_true(words.vectors[MODEL_WORD_WIDTH + 9] > words.vectors[7]);
    assert_true(words.vectors[7] > 10 * fabsf(words.vectors[2 * MODEL_WORD_WIDTH + 3]));
}

/* Goal: damaged packages are refused. Method: not gzip, no member, a truncated entry, without numbers, too
 * long. */
static void test_damaged_vectors_are_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "{\"vectors\":[]}",
                                        "{\"vectors\":{\"the\":[1,2",
                                        "{\"vectors\":{\"the\":[1,2,0]}}",
                                        "{\"vectors\":{]}}",
                                        "{\"vectors\":{\"the\":[a,b,c]}}"};
    char *longest = (char *)arena_alloc(&arena, 16384);
    struct make_words words;

    (void)state;
    assert_int_equal(glove_read(&arena, SLICE("no gzip"), &words, &fault), ERR_INVALID);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(glove_read(&arena, pack(slice_text(wrong[i])), &words, &fault),
                         ERR_INVALID);
    }
    assert_non_null(longest);
    memset(longest, 'a', 16384);
    memcpy(longest, "\"vectors\":{\"", 12);
    assert_int_equal(glove_read(&arena, pack(slice_of(longest, 16384)), &words, &fault),
                     ERR_INVALID);
}

/* Each synset begins at the offset of its line. */
#define ADJECTIVES                                                                                 \
    "  1 a licence  \n"                                                                            \
    "00000016 00 a 02 High 0 tall(p) 1 002 ! 00000104 a 0101 & 00000104 a 0000 | of height  \n"    \
    "00000104 00 a 02 low 0 not_high 2 002 ! 00000016 a 0101 ! 00000016 a 0202 | near  \n"
#define NOUNS "00000000 00 n 01 day 0 001 ! 00000048 n 0101 | \n00000048 00 n 01 night 0 000 | \n"

/* Goal: each pair of single words is read once, in both directions. Method: a pointer and its counterpart, a phrase, a
 * pointer of another kind, capital letters, a marker after a word. */
static void test_antonyms_are_read(void **state)
{
    const struct slice files[WORDNET_FILES] = {SLICE(ADJECTIVES), SLICE(""), SLICE(NOUNS),
                                               SLICE("")};
    static const char *const expected[] = {"day", "high", "low", "night"};
    struct make_antonyms antonyms;

    (void)state;
    assert_int_equal(wordnet_read(&arena, files, &antonyms, &fault), OK);
    assert_int_equal(antonyms.word_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(slice_equal(antonyms.words[i], slice_text(expected[i])));
    }
    assert_int_equal(antonyms.pair_count, 4);
    assert_int_equal(antonyms.pairs[0].word, 0);
    assert_int_equal(antonyms.pairs[0].other, 3);
    assert_int_equal(antonyms.pairs[1].word, 1);
    assert_int_equal(antonyms.pairs[1].other, 2);
    assert_int_equal(antonyms.pairs[3].other, 0);
}

/* Goal: pointers that lead nowhere are not followed, and other files than WordNet's are refused. Method: offsets and
 * words beyond the end, truncated lines. */
static void test_damaged_antonyms_are_ignored(void **state)
{
    static const char *const wrong[] = {"00000000 00 a 01 high 0 001 ! 99999999 a 0101 | \n",
                                        "00000000 00 a 01 high 0 001 ! 00000000 a 0109 | \n",
                                        "00000000 00 a 01 high 0 001 ! 00000000 x 0101 | \n",
                                        "00000000 00 a ff high 0",
                                        "00000000 00 a 01 high 0 900 ! ",
                                        "00000000",
                                        "\n\n"};
    struct make_antonyms antonyms;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct slice files[WORDNET_FILES] = {slice_text(wrong[i]), SLICE(""), SLICE(""),
                                                   SLICE("")};

        assert_int_equal(wordnet_check(files, &fault), ERR_INVALID);
        assert_int_equal(wordnet_read(&arena, files, &antonyms, &fault), OK);
        assert_int_equal(antonyms.pair_count, 0);
    }
}

int sources_test_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_word_vectors_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_vectors_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_antonyms_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_antonyms_are_ignored, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
