/*
 * family_part_plan.c: the documents that a split moves, and the counts and times of the families after it (family_part.h).
 */
#include "server/domain/layouts/family_part_internal.h"

#include "server/domain/events/feedback.h"
#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/family_rows.h"
#include "store/base/bytes.h"
#include "store/scan.h"

#include <stdlib.h>

static int compare_seqs(const void *left, const void *right)
{
    const struct family_part_document *a = left;
    const struct family_part_document *b = right;

    return (a->seq > b->seq) - (a->seq < b->seq);
}

static int compare_layouts(const void *left, const void *right)
{
    const struct family_part_document *a = left;
    const struct family_part_document *b = right;

    return memcmp(&a->fingerprint, &b->fingerprint, sizeof(a->fingerprint));
}

static int compare_members(const void *left, const void *right)
{
    const struct family_part_document *a = left;
    const struct family_part_document *b = right;
    int order = (a->member_seq > b->member_seq) - (a->member_seq < b->member_seq);

    return order != 0 ? order : compare_layouts(left, right);
}

bool family_part_moves(const struct family_part *part, uint64_t seq)
{
    const struct family_part_document wanted = {.seq = seq};

    return bsearch(&wanted, part->documents, part->count, sizeof(wanted), compare_seqs) != NULL;
}

/* Reads one of the documents. */
static enum err read_document(struct ctx *ctx, struct store_txn *txn,
                              const struct family_part *part, struct slice document_id,
                              struct family_part_document *document)
{
    struct document_record row;
    enum err err = document_row_read(txn, part->org, document_id, &row);

    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, err,
                         "document_ids[%zu]: not found in this organisation; expected the "
                         "document_id of an ingested document",
                         document->index);
    }
    if (err == OK && !family_members_have(&part->members, row.family_seq)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "document_ids[%zu]: not a document of this layout family; expected "
                         "documents of the family",
                         document->index);
    }
    if (err == OK && !sha256_parse(row.layout_fingerprint, &document->measured)) {
        err = ERR_CORRUPT; /* a document of a family was measured */
    }
    if (err != OK) {
        return err;
    }
    document->document_id = document_id;
    document->seq = row.seq;
    document->member_seq = row.family_seq;
    document->created_at_us = row.created_at_us;
    document->fingerprint = key_fingerprint_of(row.layout_fingerprint);
    return OK;
}

/* Counts the feedback events of a document, of which there may be `left` more. */
static enum err count_events(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             struct slice document_id, uint32_t *left)
{
    const struct scan_range range = {
        .table = TABLE_FEEDBACK_SUBJECT,
        .prefix = key_feedback_subject_prefix(org, SUBJECT_DOCUMENT, document_id),
        .rows_max = *left + 1,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    scan_deinit(&scan);
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    if (scan.row_count > *left) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "document_ids: the documents have more than %d feedback events; expected "
                         "fewer documents",
                         FAMILY_PART_EVENTS_MAX);
    }
    *left -= scan.row_count;
    return OK;
}

static enum err read_documents(struct ctx *ctx, struct store_txn *txn,
                               const struct slice *document_ids, struct family_part *part)
{
    uint32_t events_left = FAMILY_PART_EVENTS_MAX;
    enum err err = OK;

    for (size_t i = 0; i < part->count && err == OK; i++) {
        part->documents[i].index = i;
        err = read_document(ctx, txn, part, document_ids[i], &part->documents[i]);
        if (err == OK) {
            err = count_events(ctx, txn, part->org, document_ids[i], &events_left);
        }
    }
    if (err != OK) {
        return err;
    }
    qsort(part->documents, part->count, sizeof(part->documents[0]), compare_seqs);
    for (size_t i = 1; i < part->count; i++) {
        if (part->documents[i].seq == part->documents[i - 1].seq) {
            struct slice field =
                arena_printf(ctx->arena, "document_ids[%zu]", part->documents[i].index);

            fault_add(ctx->fault, field, "given twice; expected each document once");
            return ERR_INVALID;
        }
    }
    return OK;
}

/* The count of a row of LAYOUT_FAMILY. */
static enum err read_layout_count(struct store_txn *txn, struct org_id org,
                                  const struct family_part_document *document, uint64_t *ret_count)
{
    struct key key = key_layout_family(org, &document->fingerprint, document->member_seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_LAYOUT_FAMILY, key_slice(&key), &value);

    if (err == OK && value.size >= sizeof(uint64_t)) {
        *ret_count = bytes_get_be64(value.data);
        return OK;
    }
    return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* The member of the first of some documents, which is the last one of `changed` or a new one. */
static enum err find_member(struct store_txn *txn, struct family_part *part, uint64_t seq,
                            struct family_part_member **ret_member)
{
    struct family_part_member *member = NULL;

    if (part->changed_count > 0 && part->changed[part->changed_count - 1].seq == seq) {
        *ret_member = &part->changed[part->changed_count - 1];
        return OK;
    }
    member = &part->changed[part->changed_count++];
    member->seq = seq;
    *ret_member = member;
    return family_row_read(txn, part->org, seq, &member->record);
}

/* Subtracts the documents from their members. Leaves them sorted by members and layouts. */
static enum err subtract_counts(struct store_txn *txn, struct family_part *part)
{
    struct family_part_member *member = NULL;
    enum err err = OK;
    size_t end = 0;

    qsort(part->documents, part->count, sizeof(part->documents[0]), compare_members);
    for (size_t first = 0; first < part->count && err == OK; first = end) {
        const struct family_part_document *document = &part->documents[first];
        uint64_t of_layout = 0;

        for (end = first;
             end < part->count && compare_members(document, &part->documents[end]) == 0; end++) {
        }
        err = find_member(txn, part, document->member_seq, &member);
        if (err == OK) {
            err = read_layout_count(txn, part->org, document, &of_layout);
        }
        if (err == OK && (of_layout < end - first || member->record.document_count < end - first)) {
            err = ERR_CORRUPT;
        }
        if (err == OK) {
            member->record.document_count -= end - first;
            member->record.fingerprint_count -= of_layout == end - first ? 1 : 0;
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Counts and times of the new family. Leaves the documents sorted by layouts. */
static void count_new_family(struct family_part *part)
{
    struct family_record *family = &part->family;

    qsort(part->documents, part->count, sizeof(part->documents[0]), compare_layouts);
    family->document_count = part->count;
    family->first_seen_at_us = INT64_MAX;
    family->last_seen_at_us = INT64_MIN;
    for (size_t i = 0; i < part->count; i++) {
        const struct family_part_document *document = &part->documents[i];

        family->fingerprint_count += i == 0 || compare_layouts(document, document - 1) != 0;
        if (family->first_seen_at_us > document->created_at_us) {
            family->first_seen_at_us = document->created_at_us;
        }
        if (family->last_seen_at_us < document->created_at_us) {
            family->last_seen_at_us = document->created_at_us;
        }
    }
}

/* The time of the first remaining document of a member in an order; nothing changes if none remains. */
static enum err find_time(struct store_txn *txn, const struct family_part *part,
                          uint64_t member_seq, enum store_order order, int64_t *created_at_us)
{
    const struct scan_range range = {
        .table = TABLE_FAMILY_DOCUMENT,
        .prefix = key_family_prefix(part->org, member_seq),
        .order = order,
        .rows_max = FAMILY_PART_DOCUMENTS_MAX + 1,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t found_us = 0;
    uint64_t seq = 0;
    bool moves = true;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK && moves) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &found_us, &seq);
            moves = family_part_moves(part, seq);
        }
    }
    scan_deinit(&scan);
    if (err == OK) {
        *created_at_us = found_us;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* The times of the members after the split. Sorts the documents by seq. */
static enum err find_times(struct store_txn *txn, struct family_part *part)
{
    enum err err = OK;

    qsort(part->documents, part->count, sizeof(part->documents[0]), compare_seqs);
    for (size_t i = 0; i < part->changed_count && err == OK; i++) {
        struct family_part_member *member = &part->changed[i];

        err = find_time(txn, part, member->seq, STORE_DESCENDING, &member->record.first_seen_at_us);
        if (err == OK) {
            err =
                find_time(txn, part, member->seq, STORE_ASCENDING, &member->record.last_seen_at_us);
        }
    }
    return err;
}

/* At least one document remains in the family. */
static enum err check_remaining(struct ctx *ctx, struct store_txn *txn,
                                const struct family_part *part)
{
    struct family_record family;
    struct family_record total;
    enum err err = family_row_read(txn, part->org, part->from_seq, &family);

    if (err == OK) {
        err = family_total(txn, part->org, &family, &total);
    }
    if (err == OK && total.document_count <= part->count) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "document_ids: all documents of the layout family; expected at least one "
                         "to remain");
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err family_part_plan(struct ctx *ctx, struct store_txn *txn, const struct slice *document_ids,
                          size_t count, struct family_part *part)
{
    enum err err = family_members(txn, part->org, part->from_seq, &part->members);

    part->count = count;
    part->documents = arena_calloc(ctx->arena, count, sizeof(part->documents[0]));
    part->changed = arena_calloc(ctx->arena, part->members.count, sizeof(part->changed[0]));
    if (err == OK && (part->documents == NULL || part->changed == NULL)) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        err = read_documents(ctx, txn, document_ids, part);
    }
    if (err == OK) {
        err = check_remaining(ctx, txn, part);
    }
    if (err == OK) {
        err = subtract_counts(txn, part);
    }
    if (err == OK) {
        count_new_family(part);
        err = find_times(txn, part);
    }
    return err;
}
