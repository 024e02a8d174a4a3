/*
 * fill_in.c: see fill_in.h. The text becomes the first member of meta_json; the other members are unchanged.
 */
#include "server/domain/corrections/fill_in.h"

#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/json/members.h"
#include "server/domain/layouts/documents.h"

/* Returns the object's text with one more member at its start. An empty object may contain white space. */
static enum err add_snippet(struct arena *arena, struct slice meta_json, struct slice snippet,
                            struct slice *ret_meta)
{
    struct json_value object = members_value_of(meta_json);
    struct json_walk walk = json_walk_start(object);
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct buffer buffer = {0};

    buffer_init(&buffer, arena, object.text.size + snippet.size + 32 + JSON_STRING_ROOM_BYTES);
    buffer_append(&buffer, SLICE("{\"input_snippet\":"));
    json_write_string(&buffer, snippet, false);
    if (json_walk_next(&walk, &key, &value)) {
        buffer_append_byte(&buffer, ',');
    }
    buffer_append(&buffer, slice_after(object.text, 1));
    *ret_meta = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

/* Sets the layout that the newest extraction of a document named, if the document was not ingested. */
static enum err fill_in_extracted(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  struct slice document_id, struct capture_event *event)
{
    struct slice fingerprint = {NULL, 0};
    enum err err =
        extraction_rows_layout_of_document(txn, org, document_id, UINT64_MAX, &fingerprint);

    if (err != OK) {
        return err;
    }
    event->document_unknown = fingerprint.size == 0 && event->input.document_id.size > 0;
    return arena_copy(arena, fingerprint, &event->input.layout_fingerprint) ? OK : ERR_MEMORY;
}

enum err fill_in_event(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       struct capture_event *event)
{
    struct slice document_id = event->input.document_id;
    struct document_known known;
    enum err err = OK;

    if (document_id.size == 0) {
        err = extraction_rows_document_of_draft(ctx->arena, txn, org, event->input.draft_order_id,
                                                &document_id);
    }
    if (err != OK || document_id.size == 0) {
        return err;
    }
    err = document_find(txn, org, document_id, &known);
    if (err == ERR_NOT_FOUND) {
        return event->input.layout_fingerprint.size > 0
                   ? OK
                   : fill_in_extracted(ctx->arena, txn, org, document_id, event);
    }
    if (err != OK) {
        return err;
    }
    event->has_layout_family_id = known.has_family;
    event->layout_family_id = known.family_id;
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
