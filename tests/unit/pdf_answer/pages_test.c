/*
 * pages_test.c: the text of all pages in an answer: joined from its pieces, and every invalid form
 * of it.
 */
#include "tests/unit/pdf_answer/answer_samples.h"

#define ARENA_BYTES ((size_t)64 << 20)

/* Decodes a copy of exactly its size, so that a sanitizer detects a read past its end. */
static enum err decode(const struct buffer *bytes, struct pdf_answer *ret_answer)
{
    struct slice copy;

    memset(ret_answer, 0xa5, sizeof(*ret_answer));
    assert_true(arena_copy(bytes->arena, buffer_slice(bytes), &copy));
    return pdf_answer_decode(bytes->arena, copy, ret_answer);
}

static void pages_other_start(struct sample_frame *frame)
{
    frame->pages.text = SLICE("Another text, longer than the snippet\n");
}

static void pages_short(struct sample_frame *frame)
{
    frame->pages.text.size = sample_text()->snippet.size - 1;
}

static void pages_nul(struct sample_frame *frame)
{
    frame->pages.text = slice_of("Rechnung \xe2\x82\xac 12\n\0", 17);
}

static void pages_not_utf8(struct sample_frame *frame)
{
    frame->pages.text = SLICE("Rechnung \xe2\x82\xac 12\n\xe2\x82");
}

static void pages_large(struct sample_frame *frame)
{
    static uint8_t text[PDF_PAGES_TEXT_BYTES_MAX + 1];

    memset(text, 'a', sizeof(text));
    memcpy(text, frame->pages.text.data, frame->pages.text.size);
    frame->pages.text = slice_of(text, sizeof(text));
}

static void pages_empty(struct sample_frame *frame)
{
    frame->pages.text.size = 0;
}

static void pages_count_0(struct sample_frame *frame)
{
    frame->pages.count = 0;
}

static void pages_count_many(struct sample_frame *frame)
{
    frame->pages.count = 4;
}

static void pages_whole_early(struct sample_frame *frame)
{
    frame->pages.end = PDF_PAGES_WHOLE;
}

static void pages_end_unknown(struct sample_frame *frame)
{
    frame->pages.end = PDF_PAGES_FULL + 1;
}

/* Goal: each rule of a piece is checked. Method: a piece after the text, accepted as it is and refused
 * with one error. */
void test_pages_break_no_rule(void **state)
{
    static void (*const reports[])(struct sample_frame * frame) = {NULL,
                                                                   pages_other_start,
                                                                   pages_short,
                                                                   pages_nul,
                                                                   pages_not_utf8,
                                                                   pages_large,
                                                                   pages_empty,
                                                                   pages_count_0,
                                                                   pages_count_many,
                                                                   pages_whole_early,
                                                                   pages_end_unknown};
    struct arena arena;
    struct buffer bytes;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
        struct sample_frame frame;
        struct pdf_answer answer;

        buffer_init(&bytes, &arena, 0);
        assert_int_equal(pdf_answer_put_text(&bytes, sample_text()), OK);
        sample_pages_frame(&frame);
        if (reports[i] != NULL) {
            reports[i](&frame);
        }
        put_any_frame(&bytes, &frame);
        if (decode(&bytes, &answer) != (i == 0 ? OK : ERR_MALFORMED)) {
            fail_msg("lie %zu was believed", i);
        }
    }
    arena_deinit(&arena);
}

/* Goal: the text of all pages is joined from its pieces, before and after the tables, up to its end;
 * no piece is repeated, follows the end, or exceeds the total limit. Method: three pieces, then each
 * invalid piece after the first two. */
void test_pages_are_joined(void **state)
{
    static uint8_t large[PDF_PAGES_TEXT_BYTES_MAX];
    const struct pdf_tables tables = sample_tables();
    const struct pdf_pages first = {.text = sample_text()->snippet, .count = 1};
    const struct pdf_pages second = {.text = SLICE("two\n"), .count = 2};
    const struct pdf_pages last = {.text = SLICE("three\n"), .count = 3, .end = PDF_PAGES_WHOLE};
    const struct pdf_pages wrong[] = {
        second,
        {.text = slice_of(large, sizeof(large)), .count = 3, .end = PDF_PAGES_FULL},
        {.text = SLICE("four\n"), .count = 4},
    };
    struct pdf_answer answer;
    struct arena arena;
    struct buffer bytes;
    size_t before = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    buffer_init(&bytes, &arena, 0);

    memset(large, 'a', sizeof(large));
    assert_int_equal(pdf_answer_put_text(&bytes, sample_text()), OK);
    assert_int_equal(pdf_answer_put_pages(&bytes, &first), OK);
    assert_int_equal(decode(&bytes, &answer), OK);
    assert_int_equal(answer.pages.end, PDF_PAGES_STOPPED);
    assert_int_equal(answer.cut, PDF_CUT_LIMIT);
    assert_int_equal(pdf_answer_put_tables(&bytes, PDF_CUT_NONE, &tables), OK);
    assert_int_equal(pdf_answer_put_pages(&bytes, &second), OK);
    before = bytes.size;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(pdf_answer_put_pages(&bytes, &wrong[i]), OK);
        assert_int_equal(decode(&bytes, &answer), ERR_MALFORMED);
        bytes.size = before;
    }
    assert_int_equal(pdf_answer_put_pages(&bytes, &last), OK);
    assert_int_equal(decode(&bytes, &answer), OK);
    assert_int_equal(answer.cut, PDF_CUT_NONE);
    assert_int_equal(answer.pages.count, 3);
    assert_int_equal(answer.pages.end, PDF_PAGES_WHOLE);
    assert_true(slice_equal(answer.pages.text, SLICE("Rechnung \xe2\x82\xac 12\ntwo\nthree\n")));
    assert_int_equal(pdf_answer_put_pages(&bytes, &last), OK);
    assert_int_equal(decode(&bytes, &answer), ERR_MALFORMED);
    arena_deinit(&arena);
}
