/*
 * documents.c: reads stored documents, for other modules and for responses.
 */
#include "server/domain/layouts/documents.h"

#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/family_past.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/records.h"

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
    /* The document may have a later event by now. */
    return err != OK ? err : document_read(txn, org, facts.document.document_id, ret_event);
}

/* Reads the layout family of a document, if it has one. */
static enum err find_family(struct store_txn *txn, struct org_id org,
                            const struct document_record *row, struct document_known *known)
{
    struct family_record family;
    uint64_t seq = 0;
    enum err err = OK;

    if (row->family_seq == 0) {
        return OK;
    }
    err = family_resolve(txn, org, row->family_seq, &seq, &family);
    if (err == OK) {
        known->has_family = true;
        known->family_id = family.id;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err document_find(struct store_txn *txn, struct org_id org, struct slice document_id,
                       struct document_known *ret_known)
{
    struct document_known known = {.has_family = false};
    struct document_record row;
    struct event event;
    enum err err = document_row_read(txn, org, document_id, &row);

    if (err == OK) {
        err = document_event_read(txn, org, row.seq, &event);
    }
    if (err == OK) {
        err = document_facts_snippet(event.content, &known.input_snippet);
    }
    if (err == OK) {
        known.layout_fingerprint = row.layout_fingerprint;
        known.created_at_us = row.created_at_us;
        err = find_family(txn, org, &row, &known);
    }
    if (err == OK) {
        *ret_known = known;
    }
    return err;
}

/* Sets the state at the document's first event, which had neither fingerprint nor family, since the later event
 * is after the requested time. */
static enum err read_first_state(struct store_txn *txn, struct org_id org, uint64_t first_seq,
                                 struct document_state *ret_state)
{
    struct document_facts facts;
    struct event event;
    enum err err = document_event_read(txn, org, first_seq, &event);

    if (err == OK) {
        err = document_facts_read(event.facts, &facts);
    }
    if (err == OK) {
        *ret_state = (struct document_state){.is_scan = facts.internal.scan};
    }
    return err;
}

enum err document_read_state(struct store_txn *txn, struct org_id org, struct slice document_id,
                             uint64_t as_of_seq, struct document_state *ret_state)
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
        return read_first_state(txn, org, row.first_seq, ret_state);
    }
    ret_state->is_scan = row.scan;
    ret_state->is_measured = true;
    ret_state->layout_fingerprint = row.layout_fingerprint;
    return family_past_document(txn, org, document_id, row.family_seq, as_of_seq,
                                &ret_state->family_seq);
}

enum err document_of_event(const struct event *event, struct document_detail detail,
                           struct document_view *ret_document)
{
    struct document_facts facts;
    struct slice rest = {NULL, 0};
    struct slice page = {NULL, 0};
    enum err err = document_facts_read(event->facts, &facts);

    if (err == OK) {
        err = document_facts_snippet(event->content, &facts.document.input_snippet);
    }
    if (err != OK) {
        return err;
    }
    facts.document.page_dimensions.run = facts.pages;
    rest = facts.pages;
    if (detail.first_page_alone && view_next(&rest, &page)) {
        facts.document.page_dimensions.run.size -= rest.size;
    }
    *ret_document = facts.document;
    return OK;
}

enum err document_profile_of_event(const struct event *event, struct slice *ret_profile)
{
    struct document_facts facts;
    enum err err = document_facts_read(event->facts, &facts);

    if (err == OK) {
        *ret_profile = facts.ingested.profile;
    }
    return err;
}

enum err document_ingested_of_event(struct arena *arena, const struct event *event,
                                    struct document_ingested_view *ret_ingested)
{
    struct document_ingested_view ingested;
    struct buffer document = {0};
    enum err err = document_ingested_view_read(event->facts, &ingested);

    if (err != OK) {
        return err;
    }
    buffer_init(&document, arena, ingested.document.size + event->content.size);
    buffer_append(&document, ingested.document);
    buffer_append(&document, event->content);
    ingested.document = buffer_slice(&document);
    *ret_ingested = ingested;
    return buffer_ok(&document) ? OK : ERR_MEMORY;
}

enum err document_set_family(struct store_txn *txn, struct org_id org,
                             struct document_view *document)
{
    struct document_known known = {.has_family = false};
    struct document_record row;
    enum err err = OK;

    if (!document->has_layout_family_id) {
        return OK; /* the document has no sketch, so it never had a family */
    }
    err = document_row_read(txn, org, document->document_id, &row);
    if (err == OK) {
        err = find_family(txn, org, &row, &known);
    }
    if (err == OK) {
        document->has_layout_family_id = known.has_family;
        document->layout_family_id = known.family_id;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err document_list_begin(struct arena *arena, struct store_txn *txn, struct document_list *list)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(list->layout_fingerprint);
    struct scan_range range = {
        .table = TABLE_DOCUMENT_TIME,
        .prefix = key_org(list->org),
        .after = list->page->after,
    };

    if (list->family != NULL) {
        const struct family_range members = {
            .table = TABLE_FAMILY_DOCUMENT,
            .org = list->org,
            .members = list->family,
            .after = list->page->after,
        };

        return family_walk_init(&list->walk, arena, txn, &members);
    }
    if (list->layout_fingerprint.size > 0) {
        range.table = TABLE_DOCUMENT_LAYOUT;
        range.prefix = key_layout_prefix(list->org, &fingerprint);
    }
    return page_open(list->page, txn, &range);
}

/* Reads the next row of the page. */
static enum err next_row(struct document_list *list, struct slice *ret_key)
{
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (list->family == NULL) {
        return page_next(list->page, ret_key, &value);
    }
    if (!page_keep(list->page)) {
        return ERR_NOT_FOUND;
    }
    err = family_walk_next(&list->walk, ret_key, &value);
    if (err == OK && !(page_look(list->page) && page_begin(list->page, *ret_key))) {
        err = ERR_NOT_FOUND;
    }
    return err;
}

enum err document_list_next(struct store_txn *txn, struct document_list *list,
                            struct document_view *ret_document)
{
    const struct document_detail detail = {.first_page_alone = true};
    struct slice key = {NULL, 0};
    struct event event;
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = next_row(list, &key);

    if (err != OK) {
        return err;
    }
    err = key_read_newest_first(key, &created_at_us, &seq);
    if (err == OK) {
        err = document_event_read(txn, list->org, seq, &event);
    }
    if (err == OK) {
        err = document_of_event(&event, detail, ret_document);
    }
    if (err == OK) {
        err = document_set_family(txn, list->org, ret_document);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

void document_list_end(struct document_list *list)
{
    family_walk_deinit(&list->walk);
}
