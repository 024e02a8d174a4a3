/*
 * pdf_answer_encode.c: the worker's side: encodes frames. A value out of its range is a bug of the
 * worker: nothing is written then.
 */
#include "server/jobs/pdf/answer/pdf_answer_internal.h"

#include "store/base/assert.h"

/* Appends the length and a frame, whose only field is `number`. */
static enum err put_frame(struct buffer *buffer, uint32_t number, const struct view_type *type,
                          const void *view)
{
    size_t message_bytes = view_bytes(type, view);
    size_t size = wire_header_bytes(number, message_bytes) + message_bytes;

    if (UNEXPECTED(size > PDF_ANSWER_EXPLAINED_BYTES_MAX)) {
        return ERR_INTERNAL;
    }
    for (unsigned i = 0; i < PDF_FRAME_HEADER_BYTES; i++) {
        buffer_append_byte(buffer, (uint8_t)(size >> (8 * i)));
    }
    view_put(type, view, number, buffer);
    return buffer_ok(buffer) ? OK : ERR_MEMORY;
}

enum err pdf_answer_put_refusal(struct buffer *buffer, enum pdf_reason reason)
{
    const struct refusal_view view = {.reason = reason};

    if (UNEXPECTED(!pdf_reason_is_refusal(reason))) {
        return ERR_INTERNAL;
    }
    return put_frame(buffer, FRAME_REFUSAL_FIELD, &refusal_view_type, &view);
}

enum err pdf_answer_put_text(struct buffer *buffer, const struct pdf_text *text)
{
    struct text_view view;

    if (UNEXPECTED(!pdf_text_is_right(text))) {
        return ERR_INTERNAL;
    }
    view = (struct text_view){
        .page_count = text->page_count,
        .pages = slice_of(text->pages, text->page_count * sizeof(*text->pages)),
        .pages_read = text->pages_read,
        .text_chars = text->text_chars,
        .page_one_chars = text->page_one_chars,
        .snippet = text->snippet,
        .covered_cells = text->covered_cells,
        .page_cells = text->page_cells,
        .damaged = text->damaged,
        .page_too_large = text->page_too_large,
        .cmaps_unavailable = text->cmaps_unavailable,
        .poppler_version = text->poppler_version,
    };
    return put_frame(buffer, FRAME_TEXT_FIELD, &text_view_type, &view);
}

enum err pdf_answer_put_tables(struct buffer *buffer, enum pdf_cut cut,
                               const struct pdf_tables *tables)
{
    struct tables_view view = {.cut = cut};
    uint8_t sketch[FAMILY_SKETCH_BYTES_MAX];

    if (UNEXPECTED(!pdf_cut_is_known(cut)) ||
        UNEXPECTED(cut == PDF_CUT_NONE && !pdf_tables_are_right(cut, tables))) {
        return ERR_INTERNAL;
    }
    if (cut == PDF_CUT_NONE) {
        view.table_count = tables->table_count;
        view.sketch = slice_of(sketch, family_sketch_encode(&tables->sketch, sketch));
    }
    return put_frame(buffer, FRAME_TABLES_FIELD, &tables_view_type, &view);
}

enum err pdf_answer_put_pages(struct buffer *buffer, const struct pdf_pages *piece)
{
    const struct pages_view view = {.text = piece->text, .count = piece->count, .end = piece->end};

    if (UNEXPECTED(!pdf_pages_piece_is_right(piece))) {
        return ERR_INTERNAL;
    }
    return put_frame(buffer, FRAME_PAGES_FIELD, &pages_view_type, &view);
}

/* Returns the tables in their packed form; NULL if the arena is full. */
static struct pdf_table_bytes *pack_tables(struct arena *arena,
                                           const struct pdf_explanation *explanation)
{
    size_t count = explanation->table_count;
    struct pdf_table_bytes *packed =
        arena_alloc(arena, (count > 0 ? count : 1) * sizeof(struct pdf_table_bytes));

    for (size_t i = 0; packed != NULL && i < count; i++) {
        const struct pdf_table *table = &explanation->tables[i];

        packed[i] = (struct pdf_table_bytes){.kind = table->kind,
                                             .box = table->box,
                                             .rows = table->rows,
                                             .cells = table->cells,
                                             .counted = table->counted};
    }
    return packed;
}

enum err pdf_answer_put_explanation(struct buffer *buffer,
                                    const struct pdf_explanation *explanation)
{
    struct explanation_view view;
    struct pdf_table_bytes *tables = NULL;

    if (UNEXPECTED(!pdf_explanation_is_right(explanation))) {
        return ERR_INTERNAL;
    }
    tables = pack_tables(buffer->arena, explanation);
    if (tables == NULL) {
        return ERR_MEMORY;
    }
    view = (struct explanation_view){
        .glyphs = explanation->glyphs,
        .words = explanation->words,
        .path_operations = explanation->path_operations,
        .rulings_ignored = explanation->rulings_ignored,
        .rulings = slice_of(explanation->rulings,
                            explanation->ruling_count * sizeof(*explanation->rulings)),
        .tables = slice_of(tables, explanation->table_count * sizeof(*tables)),
    };
    return put_frame(buffer, FRAME_EXPLANATION_FIELD, &explanation_view_type, &view);
}

enum err pdf_answer_put_picture(struct buffer *buffer, struct slice png)
{
    const struct picture_view view = {.png = png};

    if (UNEXPECTED(!pdf_picture_is_right(png))) {
        return ERR_INTERNAL;
    }
    return put_frame(buffer, FRAME_PICTURE_FIELD, &picture_view_type, &view);
}
