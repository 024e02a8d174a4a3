/*
 * words_tests.c: texts as words, quotations and titles, abbreviations and typing errors, hostile texts.
 */
#include "server/domain/cues/masks.h"
#include "tests/unit/cues/cues_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

/* Time limit of a long message under sanitizers on a busy machine; a quadratic algorithm takes
 * minutes. */
#define HOSTILE_SECONDS_MAX 5

static struct cue_words split(const char *text)
{
    struct cue_words words;

    arena_reset(&cues_arena);
    assert_int_equal(words_of(&cues_arena, slice_text(text), &words), OK);
    return words;
}

/* Expects the words of a text, joined by spaces. */
static void expect_words(const char *text, const char *expected, bool is_entered)
{
    struct cue_words words = split(text);
    uint8_t joined[512];
    size_t size = 0;

    if (is_entered) {
        assert_int_equal(cue_lexicon_enter(cues_lexicon, &cues_arena, &words), OK);
    }
    for (size_t i = 0; i < words.count; i++) {
        size_t gap = i > 0;

        assert_true(size + gap + words.items[i].text.size < sizeof(joined));
        joined[size] = ' ';
        memcpy(joined + size + gap, words.items[i].text.data, words.items[i].text.size);
        size += gap + words.items[i].text.size;
    }
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(joined, expected, size);
}

/* Goal: case, accents, apostrophes of any kind and punctuation do not count; numbers stay whole. */
static void test_text_is_folded(void **state)
{
    (void)state;
    expect_words("That's WRONG!", "thats wrong", false);
    expect_words("That\xE2\x80\x99s wrong", "thats wrong", false);
    expect_words("Olv\xC3\xAD"
                 "dalo, por favor",
                 "olvidalo por favor", false);
    expect_words("costs 1,000.50 at 10:30.", "costs 1000.50 at 10:30", false);
    expect_words("\xEF\xBC\xAE\xEF\xBC\xAF", "no", false); /* full-width NO */
    expect_words("...!?", "", false);
    expect_words("", "", false);
}

/* Goal: abbreviations are expanded. */
static void test_abbreviations_are_expanded(void **state)
{
    (void)state;
    expect_words("nvm, thats ok", "never mind that is ok", true);
    expect_words("nope idk", "no i do not know", true);
}

/* Goal: sentences, clauses and questions begin and end at the right places. */
static void test_sentences_are_found(void **state)
{
    struct cue_words words = split("No, it broke. Why is that? Fix it");

    (void)state;
    assert_int_equal(words.count, 8);
    assert_true(words.items[0].begins_sentence);
    assert_false(words.items[1].begins_sentence);
    assert_true(words.items[1].begins_clause);
    assert_true(words.items[3].begins_sentence && words.items[3].is_asked);
    assert_true(words.items[5].is_asked);
    assert_false(words.items[2].is_asked || words.items[6].is_asked);
}

/* Goal: words within any quotation marks are quoted; an apostrophe does not quote, nor does a mark that never ends. */
static void test_quotations_are_found(void **state)
{
    static const char *const quoted[] = {"say \"it broke\" now", "say 'it broke' now",
                                         "say \xE2\x80\x9C"
                                         "it broke\xE2\x80\x9D now",
                                         "say \xC2\xAB"
                                         "it broke\xC2\xBB now"};
    struct cue_words words;

    (void)state;
    for (size_t i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++) {
        words = split(quoted[i]);
        assert_int_equal(words.count, 4);
        assert_true(words.items[1].is_quoted && words.items[2].is_quoted);
        assert_false(words.items[0].is_quoted || words.items[3].is_quoted);
    }
    words = split("the users' file is \"gone");
    for (size_t i = 0; i < words.count; i++) {
        assert_false(words.items[i].is_quoted);
    }
}

/* Goal: one letter that is missing, added, wrong or swapped is mended in words of five letters and more; common words
 * and names are not. */
static void test_typing_errors_are_mended(void **state)
{
    static const char *const typed[] = {"wrnog", "wron", "wrongg", "wromg"};

    (void)state;
    for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++) {
        uint16_t entry = cue_lexicon_find_typo(cues_lexicon, slice_text(typed[i]));

        assert_true(slice_equal(cues_lexicon->entries[entry].text, SLICE("wrong")));
    }
    assert_int_equal(cue_lexicon_find_typo(cues_lexicon, SLICE("zzzzz")), 0);
    assert_int_equal(cue_lexicon_find_typo(cues_lexicon, SLICE("nto")), 0);
    assert_true(cue_lexicon_find(cues_lexicon, SLICE("think")) != 0); /* not a `thank` */
}

/* Goal: texts that an application inserted are removed at any place. */
static void test_injected_spans_are_removed(void **state)
{
    const struct slice spans[] = {SLICE("[tool: that is wrong]"), SLICE("absent"), SLICE("")};
    struct slice message = {NULL, 0};

    (void)state;
    arena_reset(&cues_arena);
    assert_int_equal(masks_remove_spans(&cues_arena,
                                        SLICE("[tool: that is wrong]thanks[tool: that is wrong]"),
                                        spans, 3, &message),
                     OK);
    assert_true(slice_equal(message, SLICE("\nthanks\n")));
}

/* Goal: a hostile text costs bounded time and memory. Method: megabytes of one character, of combining marks, of
 * apostrophes, of quotation marks, of words of cues, of right-to-left overrides. */
static void test_hostile_texts_are_bounded(void **state)
{
    static const char *const units[] = {"a",
                                        "\xCC\x81",
                                        "'",
                                        "\"a\" ",
                                        "no ",
                                        "not not ",
                                        "?",
                                        "\xE2\x80\xAE",
                                        "\xEF\xB7\xBA",
                                        "it is the wrong "};
    static uint8_t text[(size_t)1 << 20];
    struct timespec begun;
    struct timespec ended;

    (void)state;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t unit = strlen(units[i]);
        size_t size = sizeof(text) / unit * unit;
        struct reading_input input = {.message = slice_of(text, size)};
        struct reading reading;

        for (size_t at = 0; at < size; at += unit) {
            memcpy(text + at, units[i], unit);
        }
        input.previous_query = input.message;
        input.previous_response = input.message;
        arena_reset(&cues_arena);
        assert_int_equal(reading_of(&cues_arena, cues_lexicon, &input, &reading), OK);
        assert_true(reading.message.count <= CUE_WORDS_MAX);
        assert_true(reading.hits.count <= CUE_HITS_MAX);
    }
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    assert_true(ended.tv_sec - begun.tv_sec <= HOSTILE_SECONDS_MAX);
}

int run_words_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_folded),
        cmocka_unit_test(test_abbreviations_are_expanded),
        cmocka_unit_test(test_sentences_are_found),
        cmocka_unit_test(test_quotations_are_found),
        cmocka_unit_test(test_typing_errors_are_mended),
        cmocka_unit_test(test_injected_spans_are_removed),
        cmocka_unit_test(test_hostile_texts_are_bounded),
    };

    return cmocka_run_group_tests(tests, cues_setup, cues_teardown);
}
