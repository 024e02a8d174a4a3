/*
 * families.c: see families.h.
 */
#include "server/domain/layouts/families.h"

#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/family_rows.h"
#include "server/domain/layouts/keys.h"
#include "store/base/wire.h"

#include <errata/v1/layout_service.fields.h>

enum err family_find(struct store_txn *txn, struct org_id org, struct uuid id,
                     uint64_t *ret_family_seq, struct family_record *ret_family)
{
    uint64_t seq = 0;
    enum err err = log_find(txn, org, id, &seq);

    if (err == OK) {
        err = family_row_read(txn, org, seq, ret_family);
    }
    if (err == OK) {
        *ret_family_seq = seq;
    }
    return err;
}

struct layout_family_view family_view_of(const struct family_record *family)
{
    return (struct layout_family_view){
        .id = family->id,
        .document_count = family->document_count,
        .fingerprint_count = family->fingerprint_count,
        .first_seen_at_us = family->first_seen_at_us,
        .has_first_seen_at = true,
        .last_seen_at_us = family->last_seen_at_us,
        .has_last_seen_at = true,
    };
}

enum err family_put_fingerprints(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                                 struct buffer *run)
{
    const struct scan_range range = {
        .table = TABLE_FAMILY_LAYOUT,
        .prefix = key_family_prefix(org, family_seq),
        .rows_max = FAMILY_FINGERPRINTS_MAX,
    };
    struct scan scan = {.row_count = 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        struct sha256_digest measured;
        char text[2 * SHA256_BYTES];

        err = scan_next(&scan, &key, &value);
        if (err == OK && value.size != SHA256_BYTES) {
            err = ERR_CORRUPT;
        }
        if (err == OK) {
            memcpy(measured.bytes, value.data, SHA256_BYTES);
            sha256_format(&measured, text);
            wire_put_bytes(run, LAYOUT_FAMILY_LAYOUT_FINGERPRINTS_FIELD,
                           slice_of(text, sizeof(text)));
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err family_list_begin(struct store_txn *txn, struct org_id org, struct page *page)
{
    const struct scan_range range = {
        .table = TABLE_FAMILY,
        .prefix = key_org(org),
        .after = page->after,
    };

    return page_open(page, txn, &range);
}

enum err family_list_next(struct page *page, struct family_record *ret_family)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_next(page, &key, &value);

    return err != OK ? err : record_decode_family(value, ret_family);
}

enum err family_document_read(struct store_txn *txn, struct org_id org, struct slice document_id,
                              struct family_document *ret_document)
{
    struct document_record row;
    struct document_facts facts;
    struct event event;
    enum err err = document_row_read(txn, org, document_id, &row);

    if (err == OK) {
        err = document_event_read(txn, org, row.seq, &event);
    }
    if (err == OK) {
        err = document_facts_read(event.facts, &facts);
    }
    if (err != OK) {
        return err;
    }
    ret_document->seq = row.seq;
    ret_document->family_seq = row.family_seq;
    return family_sketch_decode(facts.internal.sketch, &ret_document->sketch);
}
