/*
 * pdf_answer_encode.c: the worker's side: encodes frames. A value out of its range is a bug of the
 * worker: nothing is written then.
 */
#include "server/jobs/pdf/answer/pdf_answer_internal.h"

#include "store/base/assert.h"

#include <pb_encode.h>

/* Appends the length and the message. */
static enum err put_frame(struct buffer *buffer, const errata_worker_Frame *frame)
{
    pb_ostream_t stream;
    size_t size = 0;

    if (UNEXPECTED(!pb_get_encoded_size(&size, errata_worker_Frame_fields, frame)) ||
        UNEXPECTED(size > PDF_ANSWER_EXPLAINED_BYTES_MAX)) {
        return ERR_INTERNAL;
    }
    if (!buffer_reserve(buffer, PDF_FRAME_HEADER_BYTES + size)) {
        return ERR_MEMORY;
    }
    stream = pb_ostream_from_buffer(buffer->data + buffer->size + PDF_FRAME_HEADER_BYTES, size);
    if (UNEXPECTED(!pb_encode(&stream, errata_worker_Frame_fields, frame))) {
        return ERR_INTERNAL;
    }
    for (unsigned i = 0; i < PDF_FRAME_HEADER_BYTES; i++) {
        buffer_append_byte(buffer, (uint8_t)(size >> (8 * i)));
    }
    buffer->size += size;
    return OK;
}

enum err pdf_answer_put_refusal(struct buffer *buffer, enum pdf_reason reason)
{
    errata_worker_Frame frame;

    if (UNEXPECTED(!pdf_reason_is_refusal(reason))) {
        return ERR_INTERNAL;
    }
    memset(&frame, 0, sizeof(frame));
    frame.has_refusal = true;
    frame.refusal.reason = reason;
    return put_frame(buffer, &frame);
}

enum err pdf_answer_put_text(struct buffer *buffer, const struct pdf_text *text)
{
    errata_worker_Frame frame;

    if (UNEXPECTED(!pdf_text_is_right(text))) {
        return ERR_INTERNAL;
    }
    memset(&frame, 0, sizeof(frame));
    frame.has_text = true;
    frame.text = (errata_worker_Text){
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
    return put_frame(buffer, &frame);
}

enum err pdf_answer_put_tables(struct buffer *buffer, enum pdf_cut cut,
                               const struct pdf_tables *tables)
{
    errata_worker_Frame frame;
    uint8_t sketch[FAMILY_SKETCH_BYTES_MAX];

    if (UNEXPECTED(!pdf_cut_is_known(cut)) ||
        UNEXPECTED(cut == PDF_CUT_NONE && !pdf_tables_are_right(cut, tables))) {
        return ERR_INTERNAL;
    }
    memset(&frame, 0, sizeof(frame));
    frame.has_tables = true;
    frame.tables.cut = cut;
    if (cut == PDF_CUT_NONE) {
        frame.tables.table_count = tables->table_count;
        frame.tables.sketch = slice_of(sketch, family_sketch_encode(&tables->sketch, sketch));
    }
    return put_frame(buffer, &frame);
}

enum err pdf_answer_put_pages(struct buffer *buffer, const struct pdf_pages *piece)
{
    errata_worker_Frame frame;

    if (UNEXPECTED(!pdf_pages_piece_is_right(piece))) {
        return ERR_INTERNAL;
    }
    memset(&frame, 0, sizeof(frame));
    frame.has_pages = true;
    frame.pages =
        (errata_worker_Pages){.text = piece->text, .count = piece->count, .end = piece->end};
    return put_frame(buffer, &frame);
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
    errata_worker_Frame frame;
    struct pdf_table_bytes *tables = NULL;

    if (UNEXPECTED(!pdf_explanation_is_right(explanation))) {
        return ERR_INTERNAL;
    }
    tables = pack_tables(buffer->arena, explanation);
    if (tables == NULL) {
        return ERR_MEMORY;
    }
    memset(&frame, 0, sizeof(frame));
    frame.has_explanation = true;
    frame.explanation = (errata_worker_Explanation){
        .glyphs = explanation->glyphs,
        .words = explanation->words,
        .path_operations = explanation->path_operations,
        .rulings_ignored = explanation->rulings_ignored,
        .rulings = slice_of(explanation->rulings,
                            explanation->ruling_count * sizeof(*explanation->rulings)),
        .tables = slice_of(tables, explanation->table_count * sizeof(*tables)),
    };
    return put_frame(buffer, &frame);
}

enum err pdf_answer_put_picture(struct buffer *buffer, struct slice png)
{
    errata_worker_Frame frame;

    if (UNEXPECTED(!pdf_picture_is_right(png))) {
        return ERR_INTERNAL;
    }
    memset(&frame, 0, sizeof(frame));
    frame.has_picture = true;
    frame.picture.png = png;
    return put_frame(buffer, &frame);
}
