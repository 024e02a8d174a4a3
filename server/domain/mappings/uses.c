/*
 * uses.c: see uses.h and uses_apply.h.
 */
#include "server/domain/mappings/uses.h"

#include "server/domain/counters/counters.h"
#include "server/domain/mappings/apply.h"
#include "server/domain/mappings/rows.h"
#include "server/domain/mappings/uses_apply.h"
#include "store/base/wire.h"

/* What the outcome is kept under: `draft_order/ID`, without a draft order `document/ID`, in the arena;
 * empty for neither. */
static enum err write_subject(struct arena *arena, struct slice draft_order_id,
                              struct slice document_id, struct slice *ret_subject)
{
    bool draft_order = draft_order_id.size > 0;
    struct slice id = draft_order ? draft_order_id : document_id;

    *ret_subject = slice_of(NULL, 0);
    if (id.size == 0) {
        return OK;
    }
    *ret_subject = arena_printf(arena, "%s/%.*s", draft_order ? "draft_order" : "document",
                                (int)id.size, (const char *)id.data);
    return ret_subject->size > 0 ? OK : ERR_MEMORY;
}

static void put_applied(struct buffer *facts, const struct exposed_artifact *artifact)
{
    wire_put_header(facts, MAPPING_APPLIED_MAPPINGS_FIELD,
                    2 + wire_varint_bytes(artifact->seq) + wire_varint_bytes(artifact->line_count));
    wire_put_varint(facts, APPLIED_MAPPING_SEQ_FIELD, artifact->seq);
    wire_put_varint(facts, APPLIED_MAPPING_LINE_COUNT_FIELD, artifact->line_count);
}

/* Before the first put: what a reference of ours names is there. */
static enum err encode_facts(struct ctx *ctx, struct store_txn *txn,
                             const struct mapping_citation *citation, struct slice *ret_facts)
{
    const struct exposure *exposure = &citation->cited->exposure;
    struct buffer facts = {0};

    buffer_init(&facts, ctx->arena, 256);
    wire_put_varint(&facts, MAPPING_APPLIED_EXPOSURE_SEQ_FIELD, citation->cited->seq);
    wire_put_bytes_given(&facts, MAPPING_APPLIED_DRAFT_ORDER_ID_FIELD, citation->draft_order_id);
    for (size_t i = 0; exposure->is_listed && i < exposure->artifact_count; i++) {
        const struct exposed_artifact *artifact = &exposure->artifacts[i];
        struct mapping_row row;
        enum err err = mapping_row_read(txn, citation->org, artifact->seq, &row);

        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        put_applied(&facts, artifact);
    }
    if (citation->draft_order_id.size == 0) {
        wire_put_bytes_given(&facts, MAPPING_APPLIED_DOCUMENT_ID_FIELD, citation->document_id);
    }
    *ret_facts = buffer_slice(&facts);
    return buffer_ok(&facts) ? OK : ERR_MEMORY;
}

/* The draft order, or the document, where one is named; always the exposure, by the id of its event. */
static enum err add_subjects(struct ctx *ctx, struct store_txn *txn,
                             const struct mapping_citation *citation, struct event_draft *draft)
{
    struct slice draft_order_id = citation->draft_order_id;
    char text[UUID_TEXT_BYTES];
    struct slice id = {NULL, 0};
    struct event recorded;
    enum err err = log_read(txn, citation->org, citation->cited->seq, &recorded);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    uuid_format(recorded.id, text);
    if (!arena_copy(ctx->arena, slice_of(text, sizeof(text)), &id)) {
        return ERR_MEMORY;
    }
    if (draft_order_id.size > 0) {
        draft->subjects[draft->subject_count++] =
            (struct event_subject){SUBJECT_DRAFT_ORDER, draft_order_id};
    } else if (citation->document_id.size > 0) {
        draft->subjects[draft->subject_count++] =
            (struct event_subject){SUBJECT_DOCUMENT, citation->document_id};
    }
    draft->subjects[draft->subject_count++] = (struct event_subject){SUBJECT_EXPOSURE, id};
    return OK;
}

enum err mapping_uses_store(struct ctx *ctx, struct store_txn *txn,
                            const struct mapping_citation *citation, uint64_t *ret_seq)
{
    const struct exposure_citer *citer = citation->citer;
    struct event_draft draft = {
        .org = citation->org,
        .kind = EVENT_MAPPING_APPLIED,
        .annotator = ANNOTATOR_CODE,
        .source = citer->source,
        .actor_user_id = citer->actor_user_id,
    };
    struct event event = {0};
    struct slice subject = {NULL, 0};
    enum err err =
        write_subject(ctx->arena, citation->draft_order_id, citation->document_id, &subject);

    if (err == OK) {
        err = exposure_find_outcome(txn, citation->org, citation->cited->seq, EVENT_MAPPING_APPLIED,
                                    subject, ret_seq);
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    err = encode_facts(ctx, txn, citation, &draft.facts);
    if (err == OK) {
        err = add_subjects(ctx, txn, citation, &draft);
    }
    if (err == OK) {
        err = log_next_stamp(ctx, txn, citation->org, &draft.stamp);
    }
    draft.created_at_us =
        citer->source == SOURCE_BACKFILL ? citer->created_at_us : draft.stamp.created_at_us;
    if (err == OK) {
        err = log_append(ctx, txn, &draft, &event);
    }
    if (err == OK) {
        err = mappings_apply(ctx, txn, &event);
    }
    if (err == OK) {
        *ret_seq = event.seq;
    }
    return err;
}

enum err mapping_uses_count(const struct event *event, uint32_t *ret_count)
{
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field = {0};
    uint32_t count = 0;
    enum err err = event->kind == EVENT_MAPPING_APPLIED ? OK : ERR_CORRUPT;

    while (err == OK) {
        err = wire_next(&reader, &field);
        count += err == OK && field.number == MAPPING_APPLIED_MAPPINGS_FIELD;
    }
    if (err != ERR_NOT_FOUND) {
        return ERR_CORRUPT;
    }
    *ret_count = count;
    return OK;
}

/* Dates a member of a mapping by its use; a use that happened before what is known moves nothing. */
static void date(const struct event *event, int64_t *time_us)
{
    if (event->source != SOURCE_BACKFILL || *time_us < event->created_at_us) {
        *time_us = event->created_at_us;
    }
}

/* Counts the uses of one mapping. */
static enum err apply_one(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                          struct slice applied, uint64_t *line_count)
{
    struct wire_reader reader = wire_reader_of(applied);
    struct wire_field field = {0};
    struct mapping_row row;
    uint64_t seq = 0;
    uint64_t count = 0;
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == APPLIED_MAPPING_SEQ_FIELD) {
            seq = field.value;
        } else if (field.number == APPLIED_MAPPING_LINE_COUNT_FIELD) {
            count = field.value;
        }
    }
    err = err == ERR_NOT_FOUND ? mapping_row_read(txn, event->org, seq, &row) : ERR_CORRUPT;
    if (err == OK) {
        err = mapping_row_keep(ctx->arena, &row);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    row.record.use_count += count;
    date(event, &row.record.last_used_at_us);
    date(event, &row.record.updated_at_us);
    *line_count += count;
    return mapping_row_write(ctx->arena, txn, event->org, &row);
}

enum err mapping_uses_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    const struct slice all = {NULL, 0};
    const struct counter_day day = counters_day(event->org, event->created_at_us);
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field = {0};
    struct slice draft_order_id = {NULL, 0};
    struct slice document_id = {NULL, 0};
    struct slice subject = {NULL, 0};
    uint64_t exposure_seq = 0;
    uint64_t line_count = 0;
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == MAPPING_APPLIED_EXPOSURE_SEQ_FIELD) {
            exposure_seq = field.value;
        } else if (field.number == MAPPING_APPLIED_DRAFT_ORDER_ID_FIELD) {
            draft_order_id = field.bytes;
        } else if (field.number == MAPPING_APPLIED_DOCUMENT_ID_FIELD) {
            document_id = field.bytes;
        } else if (field.number == MAPPING_APPLIED_MAPPINGS_FIELD) {
            err = apply_one(ctx, txn, event, field.bytes, &line_count);
        }
        if (err != OK) {
            return err;
        }
    }
    if (err != ERR_NOT_FOUND || exposure_seq == 0) {
        return ERR_CORRUPT;
    }
    err = write_subject(ctx->arena, draft_order_id, document_id, &subject);
    if (err == OK) {
        err = counters_add(ctx, txn, &day, COUNTER_MAPPING_APPLIED, all, line_count);
    }
    return err != OK ? err
                     : exposure_keep_outcome(txn, event->org, exposure_seq, EVENT_MAPPING_APPLIED,
                                             subject, event->seq);
}
