/*
 * documents.c: stored documents as others ask for them, and as answers.
 */
#include "server/domain/layouts/documents.h"

#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/page_walk.h"
#include "store/base/wire.h"

enum err document_read(struct store_txn *txn, struct org_id org, struct slice document_id,
                       struct event *ret_event)
{
    struct document_record row;
    enum err err = document_row_read(txn, org, document_id, &row);

    return err != OK ? err : document_event_read(txn, org, row.seq, ret_event);
}

enum err document_read_by_id(struct store_txn *txn, struct org_id org, struct uuid id,
                             struct event *ret_event)
{
    struct document_facts facts;
    struct event event;
    uint64_t seq = 0;
    enum err err = log_find(txn, org, id, &seq);

    if (err == OK) {
        err = log_read(txn, org, seq, &event);
    }
    if (err == OK && event.kind != EVENT_DOCUMENT_INGESTED) {
        err = ERR_NOT_FOUND;
    }
    if (err == OK) {
        err = document_facts_read(event.facts, &facts);
    }
    /* The document may stand in a later event by now. */
    return err != OK ? err : document_read(txn, org, facts.document_id, ret_event);
}

enum err document_find(struct store_txn *txn, struct org_id org, struct slice document_id,
                       struct document_known *ret_known)
{
    struct slice snippet = {NULL, 0};
    struct document_record row;
    struct event event;
    enum err err = document_row_read(txn, org, document_id, &row);

    if (err == OK) {
        err = document_event_read(txn, org, row.seq, &event);
    }
    if (err == OK) {
        err = document_facts_snippet(event.content, &snippet);
    }
    if (err == OK) {
        *ret_known = (struct document_known){row.layout_fingerprint, snippet};
    }
    return err;
}

/* What the document's first event told: its later one came after the time asked for. */
static enum err read_first_scan(struct store_txn *txn, struct org_id org, uint64_t first_seq,
                                bool *ret_scan)
{
    struct document_facts facts;
    struct event event;
    enum err err = document_event_read(txn, org, first_seq, &event);

    if (err == OK) {
        err = document_facts_read(event.facts, &facts);
    }
    if (err == OK) {
        *ret_scan = facts.scan;
    }
    return err;
}

enum err document_is_scan(struct store_txn *txn, struct org_id org, struct slice document_id,
                          uint64_t as_of_seq, bool *ret_scan)
{
    struct document_record row;
    enum err err = document_row_read(txn, org, document_id, &row);

    if (err != OK) {
        return err;
    }
    if (row.first_seq > as_of_seq) {
        return ERR_NOT_FOUND;
    }
    if (row.seq > as_of_seq) {
        return read_first_scan(txn, org, row.first_seq, ret_scan);
    }
    *ret_scan = row.scan;
    return OK;
}

/* A Document: a part of its facts, then its content. */
static void put_document(struct buffer *body, uint32_t field, struct slice facts,
                         struct slice content)
{
    wire_put_header(body, field, facts.size + content.size);
    buffer_append(body, facts);
    buffer_append(body, content);
}

enum err document_append(struct buffer *body, uint32_t field, const struct event *event,
                         struct document_detail detail)
{
    struct document_facts facts;
    struct slice shown = {NULL, 0};
    enum err err = document_facts_read(event->facts, &facts);

    if (err != OK) {
        return err;
    }
    shown = facts.document;
    shown.size = detail.first_page_alone ? facts.first_page_end : shown.size;
    put_document(body, field, shown, detail.content ? event->content : slice_of(NULL, 0));
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err document_append_profile(struct buffer *body, uint32_t field, const struct event *event)
{
    struct document_facts facts;
    enum err err = document_facts_read(event->facts, &facts);

    if (err != OK || facts.profile.size == 0) {
        return err;
    }
    wire_put_bytes(body, field, facts.profile);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err document_append_ingested(struct arena *arena, struct buffer *body, uint32_t field,
                                  const struct event *event, bool with_content)
{
    struct slice content = with_content ? event->content : slice_of(NULL, 0);
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field read = {0};
    struct buffer message = {0};
    enum err err = OK;

    buffer_init(&message, arena, event->facts.size + content.size + 8);
    for (err = wire_next(&reader, &read); err == OK; err = wire_next(&reader, &read)) {
        if (read.number == DOCUMENT_INGESTED_DOCUMENT_FIELD) {
            put_document(&message, read.number, read.bytes, content);
        } else if (read.type == WIRE_BYTES) {
            wire_put_bytes(&message, read.number, read.bytes);
        } else {
            wire_put_raw(&message, read.number, read.type, read.value);
        }
    }
    if (err != ERR_NOT_FOUND) {
        return ERR_CORRUPT;
    }
    wire_put_bytes(body, field, buffer_slice(&message));
    return buffer_ok(&message) && buffer_ok(body) ? OK : ERR_MEMORY;
}

/* The document of a list's row. */
static enum err take_row(struct store_txn *txn, const struct document_list *list, struct slice key,
                         struct buffer *body)
{
    const struct document_detail detail = {.content = list->content, .first_page_alone = true};
    struct event event;
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = key_read_newest_first(key, &created_at_us, &seq);

    if (err == OK) {
        err = document_event_read(txn, list->org, seq, &event);
    }
    return err != OK
               ? err
               : document_append(body, LIST_DOCUMENTS_RESPONSE_DOCUMENTS_FIELD, &event, detail);
}

enum err document_list_write(struct store_txn *txn, struct document_list *list, struct buffer *body,
                             bool *ret_more)
{
    bool by_layout = list->layout_fingerprint.size > 0;
    struct key_fingerprint fingerprint = key_fingerprint_of(list->layout_fingerprint);
    const struct page_request request = {
        .table = by_layout ? TABLE_DOCUMENT_LAYOUT : TABLE_DOCUMENT_TIME,
        .prefix = by_layout ? key_layout_prefix(list->org, &fingerprint) : key_org(list->org),
        .after = list->after,
        .page_size = list->page_size,
    };
    struct page_walk walk;
    struct slice key = {NULL, 0};
    enum err err = page_walk_init(&walk, txn, &request, body);

    while (err == OK) {
        err = page_walk_next(&walk, &key);
        if (err == OK) {
            err = take_row(txn, list, key, body);
        }
    }
    page_walk_deinit(&walk);
    list->last = walk.last;
    *ret_more = walk.more;
    return err == ERR_NOT_FOUND ? OK : err;
}
