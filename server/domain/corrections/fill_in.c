/*
 * fill_in.c: see fill_in.h. The text becomes the first member of meta_json, whose other members stay as
 * they were written.
 */
#include "server/domain/corrections/fill_in.h"

#include "server/domain/corrections/extraction_rows.h"
#include "server/domain/corrections/members.h"
#include "server/domain/layouts/documents.h"

#include <errata/v1/extraction.views.h>
#include <errata/v1/learning_service.views.h>

/* The object's text with one more member at its front. An empty object may have white space in it. */
static enum err add_snippet(struct arena *arena, struct slice meta_json, struct slice snippet,
                            struct slice *ret_meta)
{
    struct json_value object = members_value_of(meta_json);
    struct json_walk walk = json_walk_start(object);
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct buffer buffer = {0};

    buffer_init(&buffer, arena, object.text.size + snippet.size + 32);
    buffer_append(&buffer, SLICE("{\"input_snippet\":"));
    json_write_string(&buffer, snippet, false);
    if (json_walk_next(&walk, &key, &value)) {
        buffer_append_byte(&buffer, ',');
    }
    buffer_append(&buffer, slice_after(object.text, 1));
    *ret_meta = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

/* The document that an extraction was made of, from its facts; empty: it names none. */
static enum err read_document_id(const struct event *event, struct slice *ret_document_id)
{
    struct extraction_recorded_view recorded;
    struct extraction_view extraction;
    enum err err = ERR_CORRUPT;

    if (event->kind == EVENT_EXTRACTION_RECORDED) {
        err = extraction_recorded_view_read(event->facts, &recorded);
    }
    if (err == OK) {
        err = extraction_view_read(recorded.extraction, &extraction);
    }
    if (err == OK) {
        *ret_document_id = extraction.document_id;
    }
    return err;
}

enum err fill_in_document_of_draft(struct arena *arena, struct store_txn *txn, struct org_id org,
                                   struct slice draft_order_id, struct slice *ret_document_id)
{
    struct slice document_id = {NULL, 0};
    struct event event;
    enum err err = extraction_rows_find_draft(txn, org, draft_order_id, &event);

    if (err == OK) {
        err = read_document_id(&event, &document_id);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    return arena_copy(arena, document_id, ret_document_id) ? OK : ERR_MEMORY;
}

enum err fill_in_event(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       struct capture_event *event)
{
    bool has_all = event->input.layout_fingerprint.size > 0 && event->has_snippet;
    struct slice document_id = event->input.document_id;
    struct document_known known;
    enum err err = OK;

    if (!has_all && document_id.size == 0) {
        err = fill_in_document_of_draft(ctx->arena, txn, org, event->input.draft_order_id,
                                        &document_id);
    }
    if (err != OK || document_id.size == 0 || has_all) {
        return err;
    }
    err = document_find(txn, org, document_id, &known);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    if (event->input.layout_fingerprint.size == 0 &&
        !arena_copy(ctx->arena, known.layout_fingerprint, &event->input.layout_fingerprint)) {
        return ERR_MEMORY;
    }
    if (!event->has_snippet && known.input_snippet.size > 0) {
        err = add_snippet(ctx->arena, event->meta_json, known.input_snippet, &event->meta_json);
        event->has_snippet = true;
    }
    return err;
}
