/*
 * families.c: see families.h.
 */
#include "server/domain/layouts/families.h"

#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/family_rows.h"
#include "server/domain/layouts/family_walk.h"
#include "server/domain/layouts/keys.h"

#include <errata/v1/warning.views.h>

enum err family_find(struct store_txn *txn, struct org_id org, struct uuid id,
                     uint64_t *ret_family_seq, struct family_record *ret_family)
{
    uint64_t seq = 0;
    enum err err = log_find(txn, org, id, &seq);

    return err != OK ? err : family_resolve(txn, org, seq, ret_family_seq, ret_family);
}

/* The run of `merged_family_ids`. */
static enum err put_merged(struct arena *arena, struct store_txn *txn, struct org_id org,
                           const struct family_record *family, struct slice *ret_run)
{
    struct family_record alias;
    struct buffer run;
    char text[UUID_TEXT_BYTES];

    buffer_init(&run, arena, family->alias_count * (UUID_TEXT_BYTES + 2) + 1);
    for (size_t i = 0; i < family->alias_count; i++) {
        enum err err = family_row_read(txn, org, family->alias_seqs[i], &alias);

        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        uuid_format(alias.id, text);
        layout_family_view_add_merged_family_ids(&run, slice_of(text, sizeof(text)));
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

enum err family_view_make(struct arena *arena, struct store_txn *txn, struct org_id org,
                          const struct family_record *family, struct layout_family_view *ret_view)
{
    struct family_record total;
    enum err err = family_total(txn, org, family, &total);

    if (err != OK) {
        return err;
    }
    *ret_view = (struct layout_family_view){
        .id = family->id,
        .document_count = total.document_count,
        .fingerprint_count = total.fingerprint_count,
        .first_seen_at_us = total.first_seen_at_us,
        .has_first_seen_at = total.document_count > 0,
        .last_seen_at_us = total.last_seen_at_us,
        .has_last_seen_at = total.document_count > 0,
    };
    return put_merged(arena, txn, org, family, &ret_view->merged_family_ids.run);
}

/* Adds the fingerprint of a row of FAMILY_LAYOUT. */
static enum err add_fingerprint(struct slice value, struct buffer *run)
{
    struct sha256_digest measured;
    char text[2 * SHA256_BYTES];

    if (value.size != SHA256_BYTES) {
        return ERR_CORRUPT;
    }
    memcpy(measured.bytes, value.data, SHA256_BYTES);
    sha256_format(&measured, text);
    layout_family_view_add_layout_fingerprints(run, slice_of(text, sizeof(text)));
    return OK;
}

/* Adds the fingerprints of a walk, up to FAMILY_FINGERPRINTS_MAX, without the repetitions of several members.
 * `ret_all`: the walk reached its end. */
static enum err add_fingerprints(struct family_walk *walk, struct buffer *run, uint64_t *ret_count,
                                 bool *ret_all)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct slice before = {NULL, 0};
    enum err err = OK;

    *ret_count = 0;
    while (err == OK) {
        err = family_walk_next(walk, &key, &value);
        if (err != OK || slice_equal(value, before)) {
            continue;
        }
        if (*ret_count == FAMILY_FINGERPRINTS_MAX) {
            *ret_all = false;
            return OK;
        }
        before = value;
        err = add_fingerprint(value, run);
        *ret_count += 1;
    }
    *ret_all = true;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err family_view_add_fingerprints(struct arena *arena, struct store_txn *txn, struct org_id org,
                                      const struct family_members *members,
                                      struct layout_family_view *view)
{
    const struct family_range range = {
        .table = TABLE_FAMILY_LAYOUT, .org = org, .members = members};
    struct family_walk walk;
    struct buffer run;
    uint64_t count = 0;
    bool all = false;
    enum err err = family_walk_init(&walk, arena, txn, &range);

    buffer_init(&run, arena, 256);
    if (err == OK) {
        err = add_fingerprints(&walk, &run, &count, &all);
    }
    family_walk_deinit(&walk);
    view->layout_fingerprints.run = buffer_slice(&run);
    view->fingerprint_count = all ? count : view->fingerprint_count;
    return err != OK || buffer_ok(&run) ? err : ERR_MEMORY;
}

enum err family_view_add_examples(struct store_txn *txn, struct org_id org,
                                  const struct family_members *members,
                                  struct layout_family_view *view)
{
    view->has_example_count = true;
    return family_examples_count(txn, org, members, &view->example_count);
}

enum err family_put_merged_warning(struct arena *arena, struct uuid alias, struct uuid id,
                                   uint32_t field, struct buffer *body)
{
    struct warning_view warning = {.code = WARNING_CODE_FAMILY_MERGED};
    char alias_text[UUID_TEXT_BYTES];
    char text[UUID_TEXT_BYTES];

    uuid_format(alias, alias_text);
    uuid_format(id, text);
    warning.message = arena_printf(arena, "the layout family %.*s was merged into %.*s",
                                   UUID_TEXT_BYTES, alias_text, UUID_TEXT_BYTES, text);
    if (warning.message.size == 0) {
        return ERR_MEMORY;
    }
    warning_view_put(&warning, field, body);
    return OK;
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

enum err family_list_next(struct page *page, uint64_t *ret_family_seq,
                          struct family_record *ret_family)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct family_record family = {.alias_of_seq = 0};
    enum err err = OK;

    do {
        err = page_next(page, &key, &value);
        if (err == OK) {
            err = record_decode_family(value, &family);
        }
    } while (err == OK && family.alias_of_seq != 0);
    if (err == OK) {
        *ret_family = family;
        err = key_read_family_change(key, ret_family_seq);
    }
    return err;
}

enum err family_document_read(struct store_txn *txn, struct org_id org, struct slice document_id,
                              struct family_document *ret_document)
{
    struct document_record row;
    struct document_facts facts;
    struct family_record family;
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
    ret_document->family_seq = 0;
    if (row.family_seq != 0) {
        err = family_resolve(txn, org, row.family_seq, &ret_document->family_seq, &family);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return family_sketch_decode(facts.internal.sketch, &ret_document->sketch);
}
