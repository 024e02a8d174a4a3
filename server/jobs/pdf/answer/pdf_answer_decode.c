/*
 * pdf_answer_decode.c: the server's side: decodes frames. The bytes are hostile: one broken rule
 * makes the whole answer ERR_MALFORMED, since nothing else from such a worker can be trusted. An
 * answer that only ends early is accepted as far as it goes.
 */
#include "server/jobs/pdf/answer/pdf_answer_internal.h"

/* The last frame; frames come in this order, each at most once. Pieces of the text of all pages also
 * come after the text, and change no step there. */
enum step {
    STEP_START,
    STEP_REFUSED,
    STEP_TEXT,
    STEP_TABLES,
    STEP_EXPLANATION,
    STEP_PICTURE,
    STEP_PAGES
};

struct decoder {
    struct arena *arena;
    enum step step;
    struct pdf_answer answer;
    struct buffer pages; /* the text of all pages, so far; in `arena` */
};

/* Takes the next frame off the front; ERR_NOT_FOUND if none is complete. */
static enum err take_frame(struct slice *rest, struct slice *ret_frame)
{
    size_t size = 0;

    if (rest->size < PDF_FRAME_HEADER_BYTES) {
        return ERR_NOT_FOUND;
    }
    for (unsigned i = 0; i < PDF_FRAME_HEADER_BYTES; i++) {
        size |= (size_t)rest->data[i] << (8 * i);
    }
    if (size == 0 || size > PDF_ANSWER_EXPLAINED_BYTES_MAX) {
        return ERR_MALFORMED;
    }
    if (size > rest->size - PDF_FRAME_HEADER_BYTES) {
        return ERR_NOT_FOUND;
    }
    *ret_frame = slice_of(rest->data + PDF_FRAME_HEADER_BYTES, size);
    *rest = slice_after(*rest, PDF_FRAME_HEADER_BYTES + size);
    return OK;
}

/* Returns a copy with the alignment of its type; NULL for no bytes, or if the arena is full. */
static void *copy_list(struct arena *arena, struct slice bytes)
{
    void *copy = bytes.size > 0 ? arena_alloc(arena, bytes.size) : NULL;

    if (copy != NULL) {
        memcpy(copy, bytes.data, bytes.size);
    }
    return copy;
}

static enum err take_refusal(struct decoder *decoder, struct slice message)
{
    struct refusal_view refusal;

    if (refusal_view_read(message, &refusal) != OK || decoder->step != STEP_START ||
        !pdf_reason_is_refusal(refusal.reason)) {
        return ERR_MALFORMED;
    }
    decoder->answer.reason = (enum pdf_reason)refusal.reason;
    decoder->step = STEP_REFUSED;
    return OK;
}

static enum err take_text(struct decoder *decoder, struct slice message)
{
    struct text_view text;
    struct pdf_text *ret = &decoder->answer.text;

    if (text_view_read(message, &text) != OK || decoder->step != STEP_START) {
        return ERR_MALFORMED;
    }
    if (text.page_count < 1 || text.page_count > PDF_PAGES_MAX ||
        text.pages.size != text.page_count * sizeof(*ret->pages)) {
        return ERR_MALFORMED;
    }
    *ret = (struct pdf_text){
        .page_count = text.page_count,
        .pages = copy_list(decoder->arena, text.pages),
        .pages_read = text.pages_read,
        .text_chars = text.text_chars,
        .page_one_chars = text.page_one_chars,
        .snippet = text.snippet,
        .covered_cells = text.covered_cells,
        .page_cells = text.page_cells,
        .damaged = text.damaged,
        .page_too_large = text.page_too_large,
        .cmaps_unavailable = text.cmaps_unavailable,
        .poppler_version = text.poppler_version,
    };
    if (ret->pages == NULL) {
        return ERR_MEMORY;
    }
    if (!pdf_text_is_right(ret)) {
        return ERR_MALFORMED;
    }
    decoder->answer.reason = PDF_READ;
    decoder->step = STEP_TEXT;
    return OK;
}

static enum err take_tables(struct decoder *decoder, struct slice message)
{
    struct tables_view tables;
    struct pdf_tables values = {.table_count = 0};

    if (tables_view_read(message, &tables) != OK) {
        return ERR_MALFORMED;
    }
    values.table_count = tables.table_count;
    if (decoder->step != STEP_TEXT || !pdf_cut_is_known(tables.cut) ||
        family_sketch_decode(tables.sketch, &values.sketch) != OK ||
        !pdf_tables_are_right((enum pdf_cut)tables.cut, &values)) {
        return ERR_MALFORMED;
    }
    decoder->answer.cut = (enum pdf_cut)tables.cut;
    decoder->answer.tables = values;
    decoder->step = STEP_TABLES;
    return OK;
}

/* Reads the tables of an explanation, and counts the `counted` ones. */
static enum err unpack_tables(struct decoder *decoder, struct slice bytes, uint32_t *ret_counted)
{
    struct pdf_explanation *ret = &decoder->answer.explanation;
    size_t count = bytes.size / sizeof(struct pdf_table_bytes);
    struct pdf_table *tables = NULL;
    uint32_t counted = 0;

    if (count > 0) {
        tables = arena_alloc(decoder->arena, count * sizeof(*tables));
        if (tables == NULL) {
            return ERR_MEMORY;
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct pdf_table_bytes table;

        memcpy(&table, bytes.data + i * sizeof(table), sizeof(table));
        if (!pdf_table_kind_is_known(table.kind) || table.counted > 1) {
            return ERR_MALFORMED;
        }
        tables[i] = (struct pdf_table){.kind = (enum pdf_table_kind)table.kind,
                                       .box = table.box,
                                       .rows = table.rows,
                                       .cells = table.cells,
                                       .counted = table.counted == 1};
        counted += table.counted;
    }
    ret->tables = tables;
    ret->table_count = (uint32_t)count;
    *ret_counted = counted;
    return OK;
}

static enum err take_explanation(struct decoder *decoder, struct slice message)
{
    struct explanation_view explanation;
    struct pdf_explanation *ret = &decoder->answer.explanation;
    struct slice rulings = {NULL, 0};
    struct slice tables = {NULL, 0};
    uint32_t counted = 0;
    enum err err = OK;

    if (explanation_view_read(message, &explanation) != OK || decoder->step != STEP_TABLES ||
        decoder->answer.cut != PDF_CUT_NONE) {
        return ERR_MALFORMED;
    }
    rulings = explanation.rulings;
    tables = explanation.tables;
    if (rulings.size % sizeof(struct pdf_box) != 0 ||
        rulings.size > PDF_RULINGS_MAX * sizeof(struct pdf_box) ||
        tables.size % sizeof(struct pdf_table_bytes) != 0 ||
        tables.size > PDF_TABLES_MAX * sizeof(struct pdf_table_bytes)) {
        return ERR_MALFORMED;
    }
    *ret = (struct pdf_explanation){
        .glyphs = explanation.glyphs,
        .words = explanation.words,
        .path_operations = explanation.path_operations,
        .rulings_ignored = explanation.rulings_ignored,
        .rulings = copy_list(decoder->arena, rulings),
        .ruling_count = (uint32_t)(rulings.size / sizeof(struct pdf_box)),
    };
    if (ret->ruling_count > 0 && ret->rulings == NULL) {
        return ERR_MEMORY;
    }
    err = unpack_tables(decoder, tables, &counted);
    if (err != OK) {
        return err;
    }
    if (counted != decoder->answer.tables.table_count || !pdf_explanation_is_right(ret)) {
        return ERR_MALFORMED;
    }
    decoder->answer.explained = true;
    decoder->step = STEP_EXPLANATION;
    return OK;
}

static enum err take_picture(struct decoder *decoder, struct slice message)
{
    struct picture_view picture;

    if (picture_view_read(message, &picture) != OK ||
        (decoder->step != STEP_TABLES && decoder->step != STEP_EXPLANATION) ||
        !pdf_picture_is_right(picture.png)) {
        return ERR_MALFORMED;
    }
    decoder->answer.picture = picture.png;
    decoder->step = STEP_PICTURE;
    return OK;
}

/* Checks a piece of the text of all pages against those before it. The first one starts with the
 * snippet, and only the last one has an end. */
static bool piece_follows(const struct decoder *decoder, const struct pdf_pages *piece)
{
    const struct pdf_answer *answer = &decoder->answer;
    const struct slice snippet = answer->text.snippet;

    if (decoder->step == STEP_START || decoder->step == STEP_REFUSED ||
        answer->pages.end != PDF_PAGES_STOPPED || !pdf_pages_piece_is_right(piece) ||
        piece->count > answer->text.page_count || piece->count <= answer->pages.count ||
        piece->text.size > PDF_PAGES_TEXT_BYTES_MAX - decoder->pages.size) {
        return false;
    }
    if (answer->pages.count == 0 &&
        (piece->text.size < snippet.size ||
         !slice_equal(slice_of(piece->text.data, snippet.size), snippet))) {
        return false;
    }
    return piece->end != PDF_PAGES_WHOLE || piece->count == answer->text.page_count;
}

static enum err take_pages(struct decoder *decoder, struct slice message)
{
    struct pages_view pages;
    struct pdf_pages piece;

    if (pages_view_read(message, &pages) != OK || pages.end > PDF_PAGES_FULL) {
        return ERR_MALFORMED;
    }
    piece = (struct pdf_pages){
        .text = pages.text, .count = pages.count, .end = (enum pdf_pages_end)pages.end};
    if (!piece_follows(decoder, &piece)) {
        return ERR_MALFORMED;
    }
    if (decoder->answer.pages.count == 0) {
        buffer_init(&decoder->pages, decoder->arena, 0);
    }
    buffer_append(&decoder->pages, piece.text);
    if (!buffer_ok(&decoder->pages)) {
        return ERR_MEMORY;
    }
    piece.text = buffer_slice(&decoder->pages);
    decoder->answer.pages = piece;
    decoder->step = decoder->step == STEP_TEXT ? STEP_TEXT : STEP_PAGES;
    return OK;
}

static enum err take_message(struct decoder *decoder, struct slice bytes)
{
    struct frame_view frame;

    if (frame_view_read(bytes, &frame) != OK) {
        return ERR_MALFORMED;
    }
    if (frame.has_refusal + frame.has_text + frame.has_tables + frame.has_explanation +
            frame.has_picture + frame.has_pages !=
        1) {
        return ERR_MALFORMED;
    }
    if (frame.has_refusal) {
        return take_refusal(decoder, frame.refusal);
    }
    if (frame.has_text) {
        return take_text(decoder, frame.text);
    }
    if (frame.has_tables) {
        return take_tables(decoder, frame.tables);
    }
    if (frame.has_pages) {
        return take_pages(decoder, frame.pages);
    }
    return frame.has_explanation ? take_explanation(decoder, frame.explanation)
                                 : take_picture(decoder, frame.picture);
}

enum err pdf_answer_decode(struct arena *arena, struct slice bytes, struct pdf_answer *ret_answer)
{
    /* The answer if no frame arrives. */
    struct decoder decoder = {.arena = arena,
                              .answer = {.reason = PDF_CRASHED, .cut = PDF_CUT_LIMIT}};
    struct slice rest = bytes;
    struct slice frame;
    enum err err = take_frame(&rest, &frame);

    while (err == OK) {
        err = take_message(&decoder, frame);
        if (err == OK) {
            err = take_frame(&rest, &frame);
        }
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_answer = decoder.answer;
    return OK;
}
