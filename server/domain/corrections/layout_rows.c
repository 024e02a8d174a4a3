/*
 * layout_rows.c: see layout_rows.h. The head holds the marks of the newest RECORD_MARKS_MAX examples in the
 * order of the examples. A mark that no longer fits gets a row of its own, unless all its values are zero.
 */
#include "server/domain/corrections/layout_rows_internal.h"

#include "server/domain/corrections/example_make.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/corrections/records.h"
#include "server/domain/events/retraction.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/records.h"

enum err layout_mark_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                           const struct layout_mark *mark)
{
    const struct example_mark_record record = {.superseded_by_seq = mark->superseded_by_seq,
                                               .carried_count = mark->carried_count,
                                               .carried_sum = mark->carried_sum};
    struct key key = key_example_mark(org, mark->seq);
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (record.superseded_by_seq == 0 && record.carried_count == 0) {
        /* A mark without values has no row. */
        return store_del_if_present(txn, TABLE_EXAMPLE_MARK, key_slice(&key));
    }
    err = record_encode_example_mark(ctx->arena, &record, &value);
    return err != OK ? err : store_put(txn, TABLE_EXAMPLE_MARK, key_slice(&key), value);
}

enum err layout_mark_read(struct store_txn *txn, struct org_id org, struct layout_mark *mark)
{
    struct example_mark_record record = {0};
    struct key key = key_example_mark(org, mark->seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXAMPLE_MARK, key_slice(&key), &value);

    if (err == OK) {
        err = record_decode_example_mark(value, &record);
    }
    mark->superseded_by_seq = record.superseded_by_seq;
    mark->carried_count = record.carried_count;
    mark->carried_sum = record.carried_sum;
    return err == ERR_NOT_FOUND ? OK : err;
}

struct layout_mark *layout_mark_find(struct layout_head_record *head, uint64_t seq)
{
    for (size_t i = 0; i < head->mark_count; i++) {
        if (head->marks[i].seq == seq) {
            return &head->marks[i];
        }
    }
    return NULL;
}

static bool is_newer(const struct layout_mark *a, const struct layout_mark *b)
{
    return a->created_at_us != b->created_at_us ? a->created_at_us > b->created_at_us
                                                : a->seq > b->seq;
}

/* Inserts a mark in its position; if the head is full, the oldest mark moves to a row of its own. */
static enum err insert_mark(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                            struct layout_head_record *head, const struct layout_mark *mark)
{
    size_t place = head->mark_count;
    enum err err = OK;

    while (place > 0 && is_newer(mark, &head->marks[place - 1])) {
        place--;
    }
    if (place == RECORD_MARKS_MAX) {
        return layout_mark_write(ctx, txn, org, mark);
    }
    if (head->mark_count == RECORD_MARKS_MAX) {
        err = layout_mark_write(ctx, txn, org, &head->marks[RECORD_MARKS_MAX - 1]);
        head->mark_count--;
    }
    memmove(&head->marks[place + 1], &head->marks[place],
            (head->mark_count - place) * sizeof(head->marks[0]));
    head->marks[place] = *mark;
    head->mark_count++;
    return err;
}

static enum err write_example(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct feedback_event_view *view,
                              const struct key_fingerprint *fingerprint)
{
    bool partial = view->corrected_output_json.size == 0;
    struct key key = key_example(event->org, fingerprint, event->created_at_us, event->seq);
    struct example_record record = {.id = example_id_shorten(&event->id, event->created_at_us),
                                    .annotator_kind = event->annotator};
    struct sha256_digest document = sha256(view->document_id);
    struct example_text text = {
        .output = members_value_of(partial ? view->after_json : view->corrected_output_json),
        .partial = partial || view->output_reduced,
        .reduced = view->output_reduced};
    struct slice value = {NULL, 0};
    enum err err = example_read_snippet(ctx->arena, view->meta_json, &text.snippet);

    if (view->document_id.size > 0) {
        record.document_hash = slice_of(document.bytes, EXAMPLE_DOCUMENT_HASH_BYTES);
    }
    if (err == OK) {
        err = example_make(ctx->arena, &text, &record);
    }
    if (err == OK) {
        err = record_encode_example(ctx->arena, &record, &value);
    }
    return err != OK ? err : store_put(txn, TABLE_EXAMPLE, key_slice(&key), value);
}

/* Writes the rows of an example in its layout and in its family. */
static enum err add_example(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                            const struct feedback_event_view *view,
                            const struct key_fingerprint *fingerprint)
{
    const struct family_example example = {
        .fingerprint = *fingerprint,
        .annotator_kind = event->annotator,
        .created_at_us = event->created_at_us,
        .seq = event->seq,
    };
    uint64_t family_seq = 0;
    enum err err = write_example(ctx, txn, event, view, fingerprint);

    if (err == OK) {
        err = family_example_family(txn, event->org, view, &family_seq);
    }
    return err != OK ? err : family_example_put(txn, event->org, family_seq, &example);
}

enum err layout_rows_add(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                         const struct feedback_event_view *view, uint64_t superseded_by_seq)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(view->layout_fingerprint);
    struct key key = key_layout_head(event->org, &fingerprint);
    const struct layout_mark mark = {.seq = event->seq,
                                     .created_at_us = event->created_at_us,
                                     .superseded_by_seq = superseded_by_seq};
    struct layout_head_record head;
    enum err err = layout_head_read(ctx->arena, txn, &key, &head);

    if (err == OK && head.feedback_count == 0) {
        err = sums_name_layout(ctx, txn, event->org, view->layout_fingerprint);
    }
    if (err != OK) {
        return err;
    }
    head.feedback_count++;
    head.updated_at_us = event_written_at_us(event);
    if (view->is_example) {
        head.example_count++;
    }
    if (view->is_example && !event->content_removed) {
        err = insert_mark(ctx, txn, event->org, &head, &mark);
        if (err == OK) {
            err = add_example(ctx, txn, event, view, &fingerprint);
        }
    }
    return err != OK ? err : layout_head_write(ctx->arena, txn, &key, &head);
}

enum err layout_rows_mark(struct ctx *ctx, struct store_txn *txn, const struct example_place *place,
                          uint64_t superseded_by_seq)
{
    struct key key = key_layout_head(place->org, &place->fingerprint);
    struct layout_mark old_mark = {.seq = place->seq};
    struct layout_mark *mark = NULL;
    struct layout_head_record head;
    enum err err = layout_head_read(ctx->arena, txn, &key, &head);

    if (err != OK) {
        return err;
    }
    mark = layout_mark_find(&head, place->seq);
    if (mark != NULL) {
        mark->superseded_by_seq = superseded_by_seq;
        return layout_head_write(ctx->arena, txn, &key, &head);
    }
    /* An example without mark in the head that is not older than the marks there was removed. */
    if (head.mark_count < RECORD_MARKS_MAX) {
        return OK;
    }
    err = layout_mark_read(txn, place->org, &old_mark);
    old_mark.superseded_by_seq = superseded_by_seq;
    return err != OK ? err : layout_mark_write(ctx, txn, place->org, &old_mark);
}

/* Adds an extraction's confidence to a count and sum, or subtracts it. */
static enum err carry(const struct carrying_extraction *extraction, uint64_t *count, uint64_t *sum)
{
    if (!extraction->is_removed) {
        (*count)++;
        *sum += extraction->confidence_millionths;
        return OK;
    }
    if (*count == 0 || *sum < extraction->confidence_millionths) {
        return ERR_CORRUPT;
    }
    (*count)--;
    *sum -= extraction->confidence_millionths;
    return OK;
}

/* Changes the sums of one example. */
static enum err carry_example(struct ctx *ctx, struct store_txn *txn,
                              const struct carrying_extraction *extraction,
                              struct layout_head_record *head, uint64_t seq)
{
    struct layout_mark old_mark = {.seq = seq};
    struct layout_mark *mark = layout_mark_find(head, seq);
    uint64_t retraction_seq = 0;
    bool is_removed = false;
    enum err err = OK;

    if (mark != NULL) {
        return carry(extraction, &mark->carried_count, &mark->carried_sum);
    }
    if (head->mark_count < RECORD_MARKS_MAX) {
        return OK; /* the example is gone */
    }
    err = retraction_find(txn, extraction->org, seq, &retraction_seq);
    if (err == OK) {
        err = log_content_is_removed(txn, extraction->org, seq, &is_removed);
    }
    if (err != OK || retraction_seq != 0 || is_removed) {
        return err;
    }
    err = layout_mark_read(txn, extraction->org, &old_mark);
    if (err == OK && extraction->is_removed && old_mark.carried_count == 0) {
        return OK; /* the example was removed before the extraction was added */
    }
    if (err == OK) {
        err = carry(extraction, &old_mark.carried_count, &old_mark.carried_sum);
    }
    return err != OK ? err : layout_mark_write(ctx, txn, extraction->org, &old_mark);
}

enum err layout_rows_carry(struct ctx *ctx, struct store_txn *txn,
                           const struct carrying_extraction *extraction)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(extraction->layout_fingerprint);
    struct key key = key_layout_head(extraction->org, &fingerprint);
    struct layout_head_record head;
    enum err err = OK;

    if (!extraction->bare && extraction->example_count == 0) {
        return OK;
    }
    err = layout_head_read(ctx->arena, txn, &key, &head);
    if (err == OK && extraction->bare) {
        err = carry(extraction, &head.bare_count, &head.bare_sum);
    }
    for (size_t i = 0; i < extraction->example_count && err == OK; i++) {
        err = carry_example(ctx, txn, extraction, &head, extraction->example_seqs[i]);
    }
    return err != OK ? err : layout_head_write(ctx->arena, txn, &key, &head);
}
