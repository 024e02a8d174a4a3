/*
 * answer_samples.c: see answer_samples.h.
 */
#include "tests/unit/pdf_answer/answer_samples.h"

static const struct pdf_page_size pages[] = {{612, 792}, {595.276, 841.89}, {0, 14400}};

static const struct pdf_box rulings[] = {{10, 20, 500.5F, 20}, {10, 20, 10, 700}};

static const struct pdf_table tables[] = {
    {.kind = PDF_TABLE_LATTICE,
     .box = {10, 20, 500.5F, 700},
     .rows = 7,
     .cells = 28,
     .counted = true},
    {.kind = PDF_TABLE_TEXT, .box = {-1, 30, 90, 60}, .rows = 5, .cells = 15},
};

static const struct pdf_table_bytes tables_bytes[] = {
    {PDF_TABLE_LATTICE, {10, 20, 500.5F, 700}, 7, 28, 1},
    {PDF_TABLE_TEXT, {-1, 30, 90, 60}, 5, 15, 0},
};

/* The start of a picture of 1,414 by 2,000 dots. */
static const uint8_t picture[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0,    13,
                                  'I',  'H', 'D', 'R', 0,    0,    5,    0x86, 0, 0, 0x07, 0xd0};

static const uint8_t sketch_bytes[] = {
    0, 0, 0, 0,  0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 16,
    0, 0, 0, 24, 0, 0, 1, 0, 0, 1, 0, 2, 1, 0, 0, 4,
};

const struct pdf_text *sample_text(void)
{
    static const struct pdf_text text = {
        .page_count = 3,
        .pages = pages,
        .pages_read = 2,
        .text_chars = 900,
        .page_one_chars = 400,
        .snippet = {(const uint8_t *)"Rechnung \xe2\x82\xac 12\n", 16},
        .covered_cells = 51234,
        .page_cells = 612 * 792,
        .damaged = true,
        .page_too_large = false,
        .cmaps_unavailable = true,
        .poppler_version = {(const uint8_t *)"22.12.0", 7},
    };

    return &text;
}

const struct pdf_explanation *sample_explanation(void)
{
    static const struct pdf_explanation explanation = {
        .glyphs = 2000,
        .words = 300,
        .path_operations = 77,
        .rulings_ignored = 4,
        .rulings = rulings,
        .ruling_count = 2,
        .tables = tables,
        .table_count = 2,
    };

    return &explanation;
}

struct slice sample_picture(void)
{
    return slice_of(picture, sizeof(picture));
}

struct pdf_tables sample_tables(void)
{
    return (struct pdf_tables){
        .table_count = 1,
        .sketch = {.count = 8, .features = {0, 8, 9, 16, 24, 0x100, 0x10002, 0x1000004}}};
}

void sample_refusal_frame(struct sample_frame *ret_frame)
{
    memset(ret_frame, 0, sizeof(*ret_frame));
    ret_frame->has_refusal = true;
    ret_frame->refusal.reason = PDF_ENCRYPTED;
}

void sample_text_frame(struct sample_frame *ret_frame)
{
    const struct pdf_text *text = sample_text();

    memset(ret_frame, 0, sizeof(*ret_frame));
    ret_frame->has_text = true;
    ret_frame->text.page_count = text->page_count;
    ret_frame->text.pages = slice_of(pages, sizeof(pages));
    ret_frame->text.pages_read = text->pages_read;
    ret_frame->text.text_chars = text->text_chars;
    ret_frame->text.page_one_chars = text->page_one_chars;
    ret_frame->text.snippet = text->snippet;
    ret_frame->text.covered_cells = text->covered_cells;
    ret_frame->text.page_cells = text->page_cells;
    ret_frame->text.poppler_version = text->poppler_version;
}

void sample_tables_frame(struct sample_frame *ret_frame)
{
    memset(ret_frame, 0, sizeof(*ret_frame));
    ret_frame->has_tables = true;
    ret_frame->tables.table_count = 1;
    ret_frame->tables.sketch = slice_of(sketch_bytes, sizeof(sketch_bytes));
}

void sample_explanation_frame(struct sample_frame *ret_frame)
{
    memset(ret_frame, 0, sizeof(*ret_frame));
    ret_frame->has_explanation = true;
    ret_frame->explanation.glyphs = 2000;
    ret_frame->explanation.rulings = slice_of(rulings, sizeof(rulings));
    ret_frame->explanation.tables = slice_of(tables_bytes, sizeof(tables_bytes));
}

void sample_picture_frame(struct sample_frame *ret_frame)
{
    memset(ret_frame, 0, sizeof(*ret_frame));
    ret_frame->has_picture = true;
    ret_frame->picture.png = sample_picture();
}

void sample_pages_frame(struct sample_frame *ret_frame)
{
    memset(ret_frame, 0, sizeof(*ret_frame));
    ret_frame->has_pages = true;
    ret_frame->pages.text = SLICE("Rechnung \xe2\x82\xac 12\n, page 2\n");
    ret_frame->pages.count = 2;
}

static void encode_parts(struct frame_view *frame, struct arena *arena,
                         const struct sample_frame *from)
{
    frame->has_refusal = from->has_refusal;
    frame->has_text = from->has_text;
    frame->has_tables = from->has_tables;
    frame->has_explanation = from->has_explanation;
    frame->has_picture = from->has_picture;
    frame->has_pages = from->has_pages;
    assert_true(view_encode(&refusal_view_type, &from->refusal, arena, &frame->refusal));
    assert_true(view_encode(&text_view_type, &from->text, arena, &frame->text));
    assert_true(view_encode(&tables_view_type, &from->tables, arena, &frame->tables));
    assert_true(
        view_encode(&explanation_view_type, &from->explanation, arena, &frame->explanation));
    assert_true(view_encode(&picture_view_type, &from->picture, arena, &frame->picture));
    assert_true(view_encode(&pages_view_type, &from->pages, arena, &frame->pages));
}

void put_any_frame(struct buffer *buffer, const struct sample_frame *from)
{
    struct frame_view frame;
    struct slice bytes = {NULL, 0};

    encode_parts(&frame, buffer->arena, from);
    assert_true(view_encode(&frame_view_type, &frame, buffer->arena, &bytes));
    for (unsigned i = 0; i < PDF_FRAME_HEADER_BYTES; i++) {
        buffer_append_byte(buffer, (uint8_t)(bytes.size >> (8 * i)));
    }
    buffer_append(buffer, bytes);
    assert_true(buffer_ok(buffer));
}
