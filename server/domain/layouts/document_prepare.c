/*
 * document_prepare.c: turns the measured values into views of an event: rounded, with fingerprint and warnings.
 * All floating-point decisions are made here, outside of any transaction.
 */
#include "server/domain/fingerprint/fingerprint.h"
#include "server/domain/layouts/document_event.h"

#include <errata/v1/warning.views.h>

/* Maximum bytes of one page size: its header and two doubles. */
#define PAGE_BYTES 21

/* The runs of page sizes and of warnings. */
static enum err put_lists(struct arena *arena, const struct document_measures *measures,
                          struct document_view *document)
{
    struct document_warning warnings[DOCUMENT_WARNINGS_MAX];
    size_t count = document_warnings(measures, warnings);
    struct buffer warning_run = {0};
    struct buffer pages = {0};

    buffer_init(&warning_run, arena, count * 128);
    for (size_t i = 0; i < count; i++) {
        const struct warning_view warning = {
            .code = warnings[i].code,
            .message = warnings[i].message,
        };

        warning_view_put(&warning, DOCUMENT_WARNINGS_FIELD, &warning_run);
    }
    buffer_init(&pages, arena, (size_t)measures->page_count * PAGE_BYTES);
    for (uint32_t i = 0; i < measures->page_count; i++) {
        const struct page_size_view page = {
            .width = fingerprint_round(measures->pages[i].width),
            .height = fingerprint_round(measures->pages[i].height),
        };

        page_size_view_put(&page, DOCUMENT_PAGE_DIMENSIONS_FIELD, &pages);
    }
    document->warnings.run = buffer_slice(&warning_run);
    document->page_dimensions.run = buffer_slice(&pages);
    return buffer_ok(&warning_run) && buffer_ok(&pages) ? OK : ERR_MEMORY;
}

bool document_text_is_blank(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != ' ' && (text.data[i] < '\t' || text.data[i] > '\r')) {
            return false;
        }
    }
    return true;
}

/* Copies a digest's text into the arena; empty if memory is exhausted. */
static struct slice digest_text(struct arena *arena, const struct sha256_digest *digest)
{
    char text[2 * SHA256_BYTES];
    struct slice copy = {NULL, 0};

    sha256_format(digest, text);
    return arena_copy(arena, slice_of(text, sizeof(text)), &copy) ? copy : slice_of(NULL, 0);
}

/* Sets the measured values. A scan has no snippet, though each of its pages ends with a line feed. */
static enum err fill_document(struct arena *arena, const struct document_measures *measures,
                              struct document_view *document)
{
    document->document_id = measures->document_id;
    document->page_count = measures->page_count;
    document->table_count = measures->table_count;
    document->has_table_count = measures->has_table_count;
    document->text_coverage_ratio = fingerprint_coverage(measures);
    document->text_chars = measures->text_chars;
    document->pages_read = measures->pages_read;
    document->sha256 = digest_text(arena, &measures->sha256);
    document->size_bytes = measures->size_bytes;
    document->fp_version = measures->fp_version;
    if (!document_text_is_blank(measures->input_snippet)) {
        document->input_snippet = measures->input_snippet;
    }
    return document->sha256.size > 0 ? put_lists(arena, measures, document) : ERR_MEMORY;
}

static enum err take_fingerprint(struct arena *arena, struct document_event *event)
{
    struct layout_fingerprint fingerprint;
    enum err err = fingerprint_of_measures(arena, event->measures, &fingerprint);

    if (err != OK) {
        return err;
    }
    event->measured = sha256(fingerprint.canonical_json);
    event->document.has_layout_fingerprint = true;
    return arena_copy(arena, slice_of(fingerprint.text, sizeof(fingerprint.text)),
                      &event->document.layout_fingerprint)
               ? OK
               : ERR_MEMORY;
}

/* Returns the sketch's bytes for the event; empty without a sketch. */
static enum err put_sketch(struct arena *arena, struct document_event *event)
{
    uint8_t bytes[FAMILY_SKETCH_BYTES_MAX];
    size_t size = family_sketch_encode(&event->measures->sketch, bytes);

    return arena_copy(arena, slice_of(bytes, size), &event->internal.sketch) ? OK : ERR_MEMORY;
}

void document_date(struct document_event *event, const struct event_time *time)
{
    event->time = *time;
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
    event->internal.scan = chars == 0;
    event->internal.text_coverage_hundredths =
        (uint32_t)(fingerprint_coverage(measures) * 100 + 0.5);
    chars = chars < DOCUMENT_DENSE_CHARACTERS ? chars : DOCUMENT_DENSE_CHARACTERS;
    event->internal.text_density_ten_thousandths = chars * (10000 / DOCUMENT_DENSE_CHARACTERS);
    if (measures->has_table_count) {
        err = take_fingerprint(ctx->arena, event);
        if (err == OK) {
            err = put_sketch(ctx->arena, event);
        }
    }
    if (err == OK) {
        err = fill_document(ctx->arena, measures, &event->document);
    }
    if (err == OK) {
        *ret_event = event;
    }
    return err;
}
