/*
 * document_prepare.c: what was measured as the bytes of an event: rounded, fingerprinted, with what a
 * person should know about it. All that floats is decided here, outside of any transaction.
 */
#include "server/domain/fingerprint/fingerprint.h"
#include "server/domain/layouts/document_event.h"
#include "store/base/wire.h"

static void put_double(struct buffer *buffer, uint32_t field, double number)
{
    if (number != 0) {
        wire_put_double(buffer, field, number);
    }
}

static void put_digest(struct buffer *buffer, uint32_t field, const struct sha256_digest *digest)
{
    char text[2 * SHA256_BYTES];

    sha256_format(digest, text);
    wire_put_bytes(buffer, field, slice_of(text, sizeof(text)));
}

/* One size: two doubles of a tag and 8 bytes, or none for 0. */
static void put_page(struct buffer *buffer, const struct document_page *page)
{
    double width = fingerprint_round(page->width);
    double height = fingerprint_round(page->height);

    wire_put_header(buffer, DOCUMENT_PAGE_DIMENSIONS_FIELD,
                    (width != 0 ? 9u : 0u) + (height != 0 ? 9u : 0u));
    put_double(buffer, PAGE_SIZE_WIDTH_FIELD, width);
    put_double(buffer, PAGE_SIZE_HEIGHT_FIELD, height);
}

static void put_warnings(struct buffer *buffer, const struct document_measures *measures)
{
    struct slice warnings[DOCUMENT_WARNINGS_MAX];
    size_t count = document_warnings(measures, warnings);

    for (size_t i = 0; i < count; i++) {
        wire_put_bytes(buffer, DOCUMENT_WARNINGS_FIELD, warnings[i]);
    }
}

/* Sizes of pages stand last: see document_facts.h. */
static enum err encode_facts(struct arena *arena, struct document_event *event)
{
    const struct document_measures *measures = event->measures;
    struct buffer buffer = {0};

    buffer_init(&buffer, arena, 1024 + (size_t)measures->page_count * 20);
    wire_put_bytes(&buffer, DOCUMENT_DOCUMENT_ID_FIELD, measures->document_id);
    wire_put_bytes_given(&buffer, DOCUMENT_LAYOUT_FINGERPRINT_FIELD, event->layout_fingerprint);
    wire_put_varint(&buffer, DOCUMENT_PAGE_COUNT_FIELD, measures->page_count);
    if (measures->has_table_count) {
        wire_put_varint(&buffer, DOCUMENT_TABLE_COUNT_FIELD, measures->table_count);
    }
    put_double(&buffer, DOCUMENT_TEXT_COVERAGE_RATIO_FIELD, fingerprint_coverage(measures));
    wire_put_varint_given(&buffer, DOCUMENT_TEXT_CHARS_FIELD, measures->text_chars);
    wire_put_varint_given(&buffer, DOCUMENT_PAGES_READ_FIELD, measures->pages_read);
    put_digest(&buffer, DOCUMENT_SHA256_FIELD, &measures->sha256);
    wire_put_varint_given(&buffer, DOCUMENT_SIZE_BYTES_FIELD, measures->size_bytes);
    put_warnings(&buffer, measures);
    wire_put_bytes_given(&buffer, DOCUMENT_FP_VERSION_FIELD, measures->fp_version);
    for (uint32_t i = 0; i < measures->page_count; i++) {
        put_page(&buffer, &measures->pages[i]);
    }
    event->facts = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

/* The ends of pages and lines alone are no text. */
static bool is_white(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != ' ' && (text.data[i] < '\t' || text.data[i] > '\r')) {
            return false;
        }
    }
    return true;
}

/* A scan has no snippet, though each of its pages ends with a line feed. */
static enum err encode_content(struct arena *arena, struct document_event *event)
{
    struct slice snippet = event->measures->input_snippet;
    struct buffer buffer = {0};

    buffer_init(&buffer, arena, snippet.size + 8);
    wire_put_bytes_given(&buffer, DOCUMENT_INPUT_SNIPPET_FIELD,
                         is_white(snippet) ? slice_of(NULL, 0) : snippet);
    event->content = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

static enum err take_fingerprint(struct arena *arena, struct document_event *event)
{
    struct layout_fingerprint fingerprint;
    enum err err = fingerprint_of_measures(arena, event->measures, &fingerprint);

    if (err != OK) {
        return err;
    }
    event->measured = sha256(fingerprint.canonical_json);
    return arena_copy(arena, slice_of(fingerprint.text, sizeof(fingerprint.text)),
                      &event->layout_fingerprint)
               ? OK
               : ERR_MEMORY;
}

enum err document_prepare(struct ctx *ctx, const struct document_measures *measures,
                          struct slice actor_user_id, struct document_event **ret_event)
{
    struct document_event *event = arena_calloc(ctx->arena, 1, sizeof(*event));
    uint32_t chars = measures->page_one_chars;
    enum err err = OK;

    if (event == NULL) {
        return ERR_MEMORY;
    }
    event->measures = measures;
    event->actor_user_id = actor_user_id;
    event->scan = chars == 0;
    event->text_coverage_hundredths = (uint32_t)(fingerprint_coverage(measures) * 100 + 0.5);
    chars = chars < DOCUMENT_DENSE_CHARACTERS ? chars : DOCUMENT_DENSE_CHARACTERS;
    event->text_density_ten_thousandths = chars * (10000 / DOCUMENT_DENSE_CHARACTERS);
    if (measures->has_table_count) {
        err = take_fingerprint(ctx->arena, event);
    }
    if (err == OK) {
        err = encode_facts(ctx->arena, event);
    }
    if (err == OK) {
        err = encode_content(ctx->arena, event);
    }
    if (err == OK) {
        *ret_event = event;
    }
    return err;
}
