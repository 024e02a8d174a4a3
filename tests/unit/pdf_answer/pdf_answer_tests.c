/*
 * pdf_answer_tests.c: round trips of the PDF worker's answers, and every invalid form of them.
 */
#include "tests/unit/pdf_answer/answer_samples.h"

#include "store/base/wire.h"

#include <math.h>

#define ARENA_BYTES ((size_t)64 << 20)

struct fixture {
    struct arena arena;
    struct buffer bytes;
};

static int set_up(void **state)
{
    static struct fixture fixture;

    arena_init(&fixture.arena, ARENA_BYTES);
    buffer_init(&fixture.bytes, &fixture.arena, 0);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    arena_deinit(&fixture->arena);
    return 0;
}

/* Decodes a copy of exactly its size, so that a sanitizer detects a read past its end. */
static enum err decode(struct fixture *fixture, struct slice bytes, struct pdf_answer *ret_answer)
{
    struct slice copy;

    memset(ret_answer, 0xa5, sizeof(*ret_answer));
    assert_true(arena_copy(&fixture->arena, bytes, &copy));
    return pdf_answer_decode(&fixture->arena, copy, ret_answer);
}

static enum err decode_all(struct fixture *fixture, struct pdf_answer *ret_answer)
{
    return decode(fixture, buffer_slice(&fixture->bytes), ret_answer);
}

static void put_sample(struct buffer *bytes)
{
    const struct pdf_tables tables = sample_tables();

    assert_int_equal(pdf_answer_put_text(bytes, sample_text()), OK);
    assert_int_equal(pdf_answer_put_tables(bytes, PDF_CUT_NONE, &tables), OK);
    assert_int_equal(pdf_answer_put_explanation(bytes, sample_explanation()), OK);
    assert_int_equal(pdf_answer_put_picture(bytes, sample_picture()), OK);
}

static void assert_text_equal(const struct pdf_text *a, const struct pdf_text *b)
{
    assert_int_equal(a->page_count, b->page_count);
    assert_memory_equal(a->pages, b->pages, a->page_count * sizeof(*a->pages));
    assert_int_equal(a->pages_read, b->pages_read);
    assert_int_equal(a->text_chars, b->text_chars);
    assert_int_equal(a->page_one_chars, b->page_one_chars);
    assert_true(slice_equal(a->snippet, b->snippet));
    assert_int_equal(a->covered_cells, b->covered_cells);
    assert_int_equal(a->page_cells, b->page_cells);
    assert_int_equal(a->damaged, b->damaged);
    assert_int_equal(a->page_too_large, b->page_too_large);
    assert_int_equal(a->cmaps_unavailable, b->cmaps_unavailable);
    assert_true(slice_equal(a->poppler_version, b->poppler_version));
}

static void assert_explanation_equal(const struct pdf_explanation *a,
                                     const struct pdf_explanation *b)
{
    assert_int_equal(a->glyphs, b->glyphs);
    assert_int_equal(a->words, b->words);
    assert_int_equal(a->path_operations, b->path_operations);
    assert_int_equal(a->rulings_ignored, b->rulings_ignored);
    assert_int_equal(a->ruling_count, b->ruling_count);
    assert_memory_equal(a->rulings, b->rulings, a->ruling_count * sizeof(*a->rulings));
    assert_int_equal(a->table_count, b->table_count);
    for (uint32_t i = 0; i < a->table_count; i++) {
        assert_int_equal(a->tables[i].kind, b->tables[i].kind);
        assert_memory_equal(&a->tables[i].box, &b->tables[i].box, sizeof(struct pdf_box));
        assert_int_equal(a->tables[i].rows, b->tables[i].rows);
        assert_int_equal(a->tables[i].cells, b->tables[i].cells);
        assert_int_equal(a->tables[i].counted, b->tables[i].counted);
    }
}

/* Goal: the worker's values arrive unchanged. Method: each reason, and an answer with all parts. */
static void test_answer_round_trips(void **state)
{
    struct fixture *fixture = *state;
    struct pdf_answer answer;

    put_sample(&fixture->bytes);
    assert_int_equal(decode_all(fixture, &answer), OK);
    assert_int_equal(answer.reason, PDF_READ);
    assert_text_equal(&answer.text, sample_text());
    assert_int_equal(answer.cut, PDF_CUT_NONE);
    assert_int_equal(answer.tables.table_count, 1);
    assert_true(answer.explained);
    assert_explanation_equal(&answer.explanation, sample_explanation());
    assert_true(slice_equal(answer.picture, sample_picture()));
    assert_int_equal(answer.cpu_us, 0);
    assert_int_equal(answer.memory_bytes, 0);
    for (int reason = PDF_READ + 1; reason <= PDF_REASON_MAX; reason++) {
        fixture->bytes.size = 0;
        assert_int_equal(pdf_answer_put_refusal(&fixture->bytes, (enum pdf_reason)reason), OK);
        assert_int_equal(decode_all(fixture, &answer), OK);
        assert_int_equal(answer.reason, reason);
    }
    for (int cut = PDF_CUT_NONE; cut <= PDF_CUT_LIMIT; cut++) {
        fixture->bytes.size = 0;
        assert_int_equal(pdf_answer_put_text(&fixture->bytes, sample_text()), OK);
        assert_int_equal(pdf_answer_put_tables(&fixture->bytes, (enum pdf_cut)cut,
                                               &(struct pdf_tables){.table_count = 3}),
                         OK);
        assert_int_equal(decode_all(fixture, &answer), OK);
        assert_int_equal(answer.cut, cut);
        assert_int_equal(answer.tables.table_count, cut == PDF_CUT_NONE ? 3 : 0);
        assert_false(answer.explained);
    }
}

/* Goal: the largest documents that are measured fit into the caps. Method: as many pages, characters,
 * rulings and tables as there may be. */
static void test_largest_answer_fits(void **state)
{
    struct fixture *fixture = *state;
    struct pdf_page_size *pages = arena_calloc(&fixture->arena, PDF_PAGES_MAX, sizeof(*pages));
    struct pdf_box *rulings = arena_calloc(&fixture->arena, PDF_RULINGS_MAX, sizeof(*rulings));
    struct pdf_table *tables = arena_calloc(&fixture->arena, PDF_TABLES_MAX, sizeof(*tables));
    struct pdf_text text = *sample_text();
    struct pdf_explanation explanation = *sample_explanation();
    struct pdf_tables counted = {.table_count = PDF_TABLES_MAX,
                                 .sketch = {.count = FAMILY_SKETCH_FEATURES_MAX}};
    struct pdf_answer answer;
    struct buffer snippet;

    buffer_init(&snippet, &fixture->arena, 0);
    for (int i = 0; i < PDF_SNIPPET_CHARACTERS_MAX; i++) {
        buffer_append(&snippet, SLICE("\xf4\x8f\xbf\xbf"));
    }
    for (size_t i = 0; i < PDF_TABLES_MAX; i++) {
        tables[i].kind = PDF_TABLE_RULES;
        tables[i].counted = true;
    }
    for (uint32_t i = 0; i < FAMILY_SKETCH_FEATURES_MAX; i++) {
        counted.sketch.features[i] = 8 * i;
    }
    text.page_count = PDF_PAGES_MAX;
    text.pages = pages;
    text.pages_read = PDF_PAGES_MAX;
    text.snippet = buffer_slice(&snippet);
    text.page_cells = PDF_PAGE_CELLS_MAX;
    text.covered_cells = PDF_PAGE_CELLS_MAX;
    explanation.rulings = rulings;
    explanation.ruling_count = PDF_RULINGS_MAX;
    explanation.tables = tables;
    explanation.table_count = PDF_TABLES_MAX;
    assert_int_equal(pdf_answer_put_text(&fixture->bytes, &text), OK);
    assert_int_equal(pdf_answer_put_tables(&fixture->bytes, PDF_CUT_NONE, &counted), OK);
    assert_true(fixture->bytes.size <= PDF_ANSWER_BYTES_MAX);
    assert_int_equal(pdf_answer_put_explanation(&fixture->bytes, &explanation), OK);
    assert_true(fixture->bytes.size <= PDF_ANSWER_EXPLAINED_BYTES_MAX / 4);
    assert_int_equal(decode_all(fixture, &answer), OK);
    assert_text_equal(&answer.text, &text);
    assert_explanation_equal(&answer.explanation, &explanation);
}

/* Goal: of an answer that ends early, the whole frames are kept, and no byte beyond is read.
 * Method: the answer cut off at every byte; the frames' ends are found by their lengths. */
static void test_truncated_answer_keeps_its_whole_frames(void **state)
{
    struct fixture *fixture = *state;
    size_t ends[4];
    size_t at = 0;
    struct slice whole;

    put_sample(&fixture->bytes);
    whole = buffer_slice(&fixture->bytes);
    for (size_t i = 0; i < 4; i++) {
        at += PDF_FRAME_HEADER_BYTES + whole.data[at] + 256u * whole.data[at + 1];
        ends[i] = at;
    }
    assert_int_equal(at, whole.size);
    for (size_t size = 0; size <= whole.size; size++) {
        struct pdf_answer answer;

        assert_int_equal(decode(fixture, slice_of(whole.data, size), &answer), OK);
        assert_int_equal(answer.reason, size >= ends[0] ? PDF_READ : PDF_CRASHED);
        assert_int_equal(answer.cut, size >= ends[1] ? PDF_CUT_NONE : PDF_CUT_LIMIT);
        assert_int_equal(answer.explained, size >= ends[2]);
        assert_int_equal(answer.picture.size != 0, size >= ends[3]);
    }
}

/* Functions that make one frame invalid. */
static void page_count_0(struct sample_frame *frame)
{
    frame->text.page_count = 0;
    frame->text.pages = slice_of(NULL, 0);
}

static void page_count_5001(struct sample_frame *frame)
{
    static const struct pdf_page_size pages[PDF_PAGES_MAX + 1];

    frame->text.page_count = PDF_PAGES_MAX + 1;
    frame->text.pages = slice_of(pages, sizeof(pages));
}

static void pages_fewer(struct sample_frame *frame)
{
    frame->text.pages.size -= sizeof(struct pdf_page_size);
}

static void pages_partial(struct sample_frame *frame)
{
    frame->text.pages.size -= 1;
}

static void page_with(struct sample_frame *frame, double side, bool is_height)
{
    static struct pdf_page_size pages[3];

    memcpy(pages, frame->text.pages.data, sizeof(pages));
    *(is_height ? &pages[1].height : &pages[2].width) = side;
    frame->text.pages = slice_of(pages, sizeof(pages));
}

static void page_negative(struct sample_frame *frame)
{
    page_with(frame, -0.001, false);
}

static void page_nan(struct sample_frame *frame)
{
    page_with(frame, (double)NAN, true);
}

static void page_infinite(struct sample_frame *frame)
{
    page_with(frame, (double)INFINITY, true);
}

static void pages_read_0(struct sample_frame *frame)
{
    frame->text.pages_read = 0;
}

static void pages_read_many(struct sample_frame *frame)
{
    frame->text.pages_read = 4;
}

static void page_one_chars_many(struct sample_frame *frame)
{
    frame->text.page_one_chars = frame->text.text_chars + 1;
}

static void snippet_nul(struct sample_frame *frame)
{
    frame->text.snippet = slice_of("a\0b", 3);
}

static void snippet_not_utf8(struct sample_frame *frame)
{
    frame->text.snippet = SLICE("caf\xe9 ");
}

static void snippet_surrogate(struct sample_frame *frame)
{
    frame->text.snippet = SLICE("\xed\xa0\x80");
}

static void snippet_long(struct sample_frame *frame)
{
    static uint8_t text[PDF_SNIPPET_CHARACTERS_MAX + 1];

    memset(text, 'a', sizeof(text));
    frame->text.snippet = slice_of(text, sizeof(text));
}

static void covered_cells_many(struct sample_frame *frame)
{
    frame->text.covered_cells = frame->text.page_cells + 1;
}

static void page_cells_many(struct sample_frame *frame)
{
    frame->text.page_cells = PDF_PAGE_CELLS_MAX + 1;
}

static void version_empty(struct sample_frame *frame)
{
    frame->text.poppler_version = slice_of(NULL, 0);
}

static void version_long(struct sample_frame *frame)
{
    frame->text.poppler_version = SLICE("22.12.0-22.12.0-22.12.0-22.12.0-");
}

static void version_control(struct sample_frame *frame)
{
    frame->text.poppler_version = SLICE("22.12\n0");
}

static void reason_0(struct sample_frame *frame)
{
    frame->refusal.reason = PDF_READ;
}

static void reason_unknown(struct sample_frame *frame)
{
    frame->refusal.reason = PDF_REASON_MAX + 1;
}

static void reason_huge(struct sample_frame *frame)
{
    frame->refusal.reason = UINT32_MAX;
}

static void cut_unknown(struct sample_frame *frame)
{
    frame->tables = (struct tables_view){.cut = PDF_CUT_LIMIT + 1};
}

static void tables_with_cut(struct sample_frame *frame)
{
    frame->tables.cut = PDF_CUT_PATHS;
    frame->tables.sketch = (struct slice){NULL, 0};
}

static void tables_many(struct sample_frame *frame)
{
    frame->tables.table_count = PDF_TABLES_MAX + 1;
}

static void rulings_partial(struct sample_frame *frame)
{
    frame->explanation.rulings.size -= 4;
}

static void rulings_many(struct sample_frame *frame)
{
    static const struct pdf_box boxes[PDF_RULINGS_MAX + 1];

    frame->explanation.rulings = slice_of(boxes, sizeof(boxes));
}

static void ruling_with(struct sample_frame *frame, struct pdf_box box)
{
    static struct pdf_box boxes[1];

    boxes[0] = box;
    frame->explanation.rulings = slice_of(boxes, sizeof(boxes));
}

static void ruling_nan(struct sample_frame *frame)
{
    ruling_with(frame, (struct pdf_box){1, NAN, 2, 3});
}

static void ruling_infinite(struct sample_frame *frame)
{
    ruling_with(frame, (struct pdf_box){1, 2, INFINITY, 3});
}

static void ruling_turned(struct sample_frame *frame)
{
    ruling_with(frame, (struct pdf_box){5, 2, 4, 2});
}

static void tables_partial(struct sample_frame *frame)
{
    frame->explanation.tables.size -= 1;
}

static void listed_tables_many(struct sample_frame *frame)
{
    static struct pdf_table_bytes tables[PDF_TABLES_MAX + 1];

    for (size_t i = 0; i <= PDF_TABLES_MAX; i++) {
        tables[i] = (struct pdf_table_bytes){.kind = PDF_TABLE_TEXT, .counted = i == 0};
    }
    frame->explanation.tables = slice_of(tables, sizeof(tables));
}

static void table_with(struct sample_frame *frame, uint32_t kind, struct pdf_box box,
                       uint32_t counted)
{
    static struct pdf_table_bytes tables[2];

    memcpy(tables, frame->explanation.tables.data, sizeof(tables));
    tables[0] = (struct pdf_table_bytes){.kind = kind, .box = box, .counted = counted};
    frame->explanation.tables = slice_of(tables, sizeof(tables));
}

static void table_kind_0(struct sample_frame *frame)
{
    table_with(frame, 0, (struct pdf_box){1, 2, 3, 4}, 1);
}

static void table_kind_unknown(struct sample_frame *frame)
{
    table_with(frame, PDF_TABLE_TEXT + 1, (struct pdf_box){1, 2, 3, 4}, 1);
}

static void table_box_turned(struct sample_frame *frame)
{
    table_with(frame, PDF_TABLE_TEXT, (struct pdf_box){1, 5, 3, 4}, 1);
}

static void table_counted_2(struct sample_frame *frame)
{
    table_with(frame, PDF_TABLE_TEXT, (struct pdf_box){1, 2, 3, 4}, 2);
}

static void table_uncounted(struct sample_frame *frame)
{
    table_with(frame, PDF_TABLE_TEXT, (struct pdf_box){1, 2, 3, 4}, 0);
}

static void picture_with(struct sample_frame *frame, size_t at, uint8_t byte)
{
    static uint8_t bytes[24];

    memcpy(bytes, frame->picture.png.data, sizeof(bytes));
    bytes[at] = byte;
    frame->picture.png = slice_of(bytes, sizeof(bytes));
}

static void picture_no_png(struct sample_frame *frame)
{
    picture_with(frame, 1, 'M');
}

static void picture_no_header(struct sample_frame *frame)
{
    picture_with(frame, 15, 'X');
}

static void picture_wide(struct sample_frame *frame)
{
    picture_with(frame, 16, 1);
}

static void picture_high(struct sample_frame *frame)
{
    picture_with(frame, 23, 0xd1);
}

static void picture_short(struct sample_frame *frame)
{
    frame->picture.png.size = 23;
}

static void picture_empty(struct sample_frame *frame)
{
    frame->picture.png = slice_of(NULL, 0);
}

static void two_in_one(struct sample_frame *frame)
{
    frame->has_refusal = true;
    frame->refusal.reason = PDF_DAMAGED;
}

static void none_in_one(struct sample_frame *frame)
{
    memset(frame, 0, sizeof(*frame));
}

/* The frames that precede each one, and the possible defects of it. */
enum kind {
    REFUSAL,
    TEXT,
    TABLES,
    EXPLANATION,
    PICTURE,
    PAGES
};

static void (*const samples[])(struct sample_frame *) = {
    [REFUSAL] = sample_refusal_frame, [TEXT] = sample_text_frame,
    [TABLES] = sample_tables_frame,   [EXPLANATION] = sample_explanation_frame,
    [PICTURE] = sample_picture_frame, [PAGES] = sample_pages_frame,
};

static const struct lie {
    enum kind kind;
    void (*report)(struct sample_frame *frame);
} lies[] = {
    {REFUSAL, reason_0},
    {REFUSAL, reason_unknown},
    {REFUSAL, reason_huge},
    {TEXT, page_count_0},
    {TEXT, page_count_5001},
    {TEXT, pages_fewer},
    {TEXT, pages_partial},
    {TEXT, page_negative},
    {TEXT, page_nan},
    {TEXT, page_infinite},
    {TEXT, pages_read_0},
    {TEXT, pages_read_many},
    {TEXT, page_one_chars_many},
    {TEXT, snippet_nul},
    {TEXT, snippet_not_utf8},
    {TEXT, snippet_surrogate},
    {TEXT, snippet_long},
    {TEXT, covered_cells_many},
    {TEXT, page_cells_many},
    {TEXT, version_empty},
    {TEXT, version_long},
    {TEXT, version_control},
    {TEXT, two_in_one},
    {TABLES, cut_unknown},
    {TABLES, tables_with_cut},
    {TABLES, tables_many},
    {TABLES, none_in_one},
    {EXPLANATION, rulings_partial},
    {EXPLANATION, rulings_many},
    {EXPLANATION, ruling_nan},
    {EXPLANATION, ruling_infinite},
    {EXPLANATION, ruling_turned},
    {EXPLANATION, tables_partial},
    {EXPLANATION, listed_tables_many},
    {EXPLANATION, table_kind_0},
    {EXPLANATION, table_kind_unknown},
    {EXPLANATION, table_box_turned},
    {EXPLANATION, table_counted_2},
    {EXPLANATION, table_uncounted},
    {PICTURE, picture_no_png},
    {PICTURE, picture_no_header},
    {PICTURE, picture_wide},
    {PICTURE, picture_high},
    {PICTURE, picture_short},
    {PICTURE, picture_empty},
};

#define LIE_COUNT (sizeof(lies) / sizeof(lies[0]))

/* Goal: each rule is checked. Method: an answer that is valid up to the frame in question, which is
 * accepted as it is and refused with one error. */
static void test_answer_that_breaks_a_rule_is_refused(void **state)
{
    struct fixture *fixture = *state;

    for (size_t i = 0; i < LIE_COUNT; i++) {
        struct sample_frame frame;
        struct pdf_answer answer;
        size_t before = 0;

        fixture->bytes.size = 0;
        for (enum kind kind = TEXT; kind < lies[i].kind; kind++) {
            samples[kind](&frame);
            put_any_frame(&fixture->bytes, &frame);
        }
        before = fixture->bytes.size;
        samples[lies[i].kind](&frame);
        put_any_frame(&fixture->bytes, &frame);
        assert_int_equal(decode_all(fixture, &answer), OK);
        fixture->bytes.size = before;
        lies[i].report(&frame);
        put_any_frame(&fixture->bytes, &frame);
        if (decode_all(fixture, &answer) != ERR_MALFORMED) {
            fail_msg("lie %zu was believed", i);
        }
    }
}

/* Goal: frames come in order and once; a piece of the text of all pages may also come between text
 * and tables. Method: all runs of up to four frames, and a table of the valid frames after each
 * kind. */
static void test_frames_out_of_order_are_refused(void **state)
{
    /* Kinds that may follow the start (row 0) and each kind (rows 1 to 5). */
    static const bool follows[6][5] = {
        {true, true, false, false, false},  {false},
        {false, false, true, false, false}, {false, false, false, true, true},
        {false, false, false, false, true}, {false},
    };
    struct fixture *fixture = *state;

    for (unsigned run = 0; run < 7 * 7 * 7 * 7; run++) {
        unsigned rest = run;
        unsigned last = 0;
        bool right = true;
        bool has_pages = false;
        bool ends = false; /* nothing may follow */
        struct pdf_answer answer;

        fixture->bytes.size = 0;
        for (unsigned i = 0; i < 4 && rest > 0; i++, rest /= 7) {
            unsigned kind = rest % 7;
            struct sample_frame frame;

            if (kind == 6) {
                break;
            }
            samples[kind](&frame);
            put_any_frame(&fixture->bytes, &frame);
            if (kind == PAGES) {
                right = right && last > REFUSAL + 1 && !has_pages;
                has_pages = true;
                ends = ends || last > TEXT + 1;
                continue;
            }
            right = right && !ends && follows[last][kind];
            last = kind + 1;
        }
        assert_int_equal(decode_all(fixture, &answer), right ? OK : ERR_MALFORMED);
    }
}

/* Goal: a cut second phase has no explanation, and may have a picture. Method: both after a cut. */
static void test_cut_answer_has_no_second_phase_details(void **state)
{
    struct fixture *fixture = *state;
    struct sample_frame frame;
    struct pdf_answer answer;
    size_t before = 0;

    assert_int_equal(pdf_answer_put_text(&fixture->bytes, sample_text()), OK);
    assert_int_equal(pdf_answer_put_tables(&fixture->bytes, PDF_CUT_WORDS, NULL), OK);
    before = fixture->bytes.size;
    sample_explanation_frame(&frame);
    put_any_frame(&fixture->bytes, &frame);
    assert_int_equal(decode_all(fixture, &answer), ERR_MALFORMED);
    fixture->bytes.size = before;
    sample_picture_frame(&frame);
    put_any_frame(&fixture->bytes, &frame);
    assert_int_equal(decode_all(fixture, &answer), OK);
    assert_int_equal(answer.cut, PDF_CUT_WORDS);
    assert_true(slice_equal(answer.picture, sample_picture()));
}

/* Appends a frame of raw bytes. */
static void put_raw(struct buffer *buffer, struct slice message)
{
    for (unsigned i = 0; i < PDF_FRAME_HEADER_BYTES; i++) {
        buffer_append_byte(buffer, (uint8_t)(message.size >> (8 * i)));
    }
    buffer_append(buffer, message);
}

/* Goal: bytes that are not a message are refused, including a wrong wire type: its slice would
 * point to where it was decoded. Method: a few of each by hand. */
static void test_undecodable_answer_is_refused(void **state)
{
    static const uint8_t too_long[] = {0x01, 0x00, 0x80, 0x01, 0x00};
    static const uint8_t empty[] = {0, 0, 0, 0};
    struct fixture *fixture = *state;
    struct pdf_answer answer;
    struct buffer inner;
    struct buffer outer;

    assert_int_equal(decode(fixture, slice_of(too_long, sizeof(too_long)), &answer), ERR_MALFORMED);
    assert_int_equal(decode(fixture, slice_of(empty, sizeof(empty)), &answer), ERR_MALFORMED);
    put_raw(&fixture->bytes, SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
    assert_int_equal(decode_all(fixture, &answer), ERR_MALFORMED);
    fixture->bytes.size = 0;
    put_raw(&fixture->bytes, SLICE("\x0a\x05\x08\x01"));
    assert_int_equal(decode_all(fixture, &answer), ERR_MALFORMED);
    for (uint32_t field = 2; field <= 12; field++) {
        buffer_init(&inner, &fixture->arena, 0);
        buffer_init(&outer, &fixture->arena, 0);
        wire_put_varint(&inner, 1, 1);
        wire_put_bytes(&inner, 2, slice_of(sample_text()->pages, sizeof(struct pdf_page_size)));
        wire_put_varint(&inner, 3, 1);
        wire_put_bytes(&inner, 12, SLICE("22.12.0"));
        wire_put_bytes(&outer, 2, buffer_slice(&inner));
        fixture->bytes.size = 0;
        put_raw(&fixture->bytes, buffer_slice(&outer));
        assert_int_equal(decode_all(fixture, &answer), OK);
        /* The same with a field of another wire type. */
        wire_put_raw(&inner, field, WIRE_FIXED64, UINT64_C(0x4141414141414141));
        outer.size = 0;
        wire_put_bytes(&outer, 2, buffer_slice(&inner));
        fixture->bytes.size = 0;
        put_raw(&fixture->bytes, buffer_slice(&outer));
        assert_int_equal(decode_all(fixture, &answer), ERR_MALFORMED);
    }
}

/* Goal: the encoder refuses mistakes of the worker itself. Method: values out of their ranges; the
 * buffer stays as it was. */
static void test_encoder_refuses_values_out_of_range(void **state)
{
    struct fixture *fixture = *state;
    struct buffer *bytes = &fixture->bytes;
    struct pdf_text text = *sample_text();
    struct pdf_explanation explanation = *sample_explanation();
    const struct pdf_tables many = {.table_count = PDF_TABLES_MAX + 1};
    const struct pdf_tables unsorted = {.sketch = {.count = 8, .features = {8, 0}}};
    struct arena small;
    struct buffer narrow;

    assert_int_equal(pdf_answer_put_refusal(bytes, PDF_READ), ERR_INTERNAL);
    text.pages_read = 0;
    assert_int_equal(pdf_answer_put_text(bytes, &text), ERR_INTERNAL);
    assert_int_equal(pdf_answer_put_tables(bytes, PDF_CUT_NONE, &many), ERR_INTERNAL);
    assert_int_equal(pdf_answer_put_tables(bytes, PDF_CUT_NONE, &unsorted), ERR_INTERNAL);
    explanation.ruling_count = PDF_RULINGS_MAX + 1;
    assert_int_equal(pdf_answer_put_explanation(bytes, &explanation), ERR_INTERNAL);
    assert_int_equal(pdf_answer_put_picture(bytes, SLICE("GIF89a")), ERR_INTERNAL);
    assert_int_equal(bytes->size, 0);
    arena_init(&small, 64);
    buffer_init(&narrow, &small, 0);
    assert_int_equal(pdf_answer_put_text(&narrow, sample_text()), ERR_MEMORY);
    assert_int_equal(pdf_answer_put_explanation(&narrow, sample_explanation()), ERR_MEMORY);
    arena_deinit(&small);
}

/* Goal: an answer for which the arena is too small is not reported as malformed. Method: an arena
 * of a few bytes. */
static void test_lack_of_memory_is_not_malformed(void **state)
{
    struct fixture *fixture = *state;
    struct pdf_answer answer;
    struct arena small;

    put_sample(&fixture->bytes);
    arena_init(&small, 16);
    assert_int_equal(pdf_answer_decode(&small, buffer_slice(&fixture->bytes), &answer), ERR_MEMORY);
    arena_deinit(&small);
}

/* Goal: each reason has a distinct code. Method: all pairs. */
static void test_reasons_have_distinct_codes(void **state)
{
    (void)state;
    assert_string_equal(pdf_reason_code(PDF_TOO_MANY_PAGES), "too_many_pages");
    for (int a = PDF_READ; a <= PDF_REASON_MAX; a++) {
        assert_true(strlen(pdf_reason_code((enum pdf_reason)a)) > 0);
        for (int b = PDF_READ; b < a; b++) {
            assert_string_not_equal(pdf_reason_code((enum pdf_reason)a),
                                    pdf_reason_code((enum pdf_reason)b));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answer_round_trips, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_largest_answer_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_truncated_answer_keeps_its_whole_frames, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_answer_that_breaks_a_rule_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_frames_out_of_order_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_answer_has_no_second_phase_details, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_undecodable_answer_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_encoder_refuses_values_out_of_range, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_lack_of_memory_is_not_malformed, set_up, tear_down),
        cmocka_unit_test(test_sketch_round_trips_or_is_refused),
        cmocka_unit_test(test_pages_break_no_rule),
        cmocka_unit_test(test_pages_are_joined),
        cmocka_unit_test(test_reasons_have_distinct_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
