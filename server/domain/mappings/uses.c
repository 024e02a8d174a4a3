/*
 * uses.c: see uses.h.
 */
#include "server/domain/mappings/uses.h"

#include "server/domain/artifacts/artifacts.h"
#include "server/domain/counters/counters.h"
#include "server/domain/counters/keys.h"
#include "server/domain/mappings/rows.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Writes the subject of the outcome into the arena: `draft_order/ID`, or without a draft order
 * `document/ID`; empty if there is neither. */
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

/* Reads the mappings that a reference names, before the first put; they must exist. */
static enum err put_applied(struct store_txn *txn, const struct mapping_citation *citation,
                            struct buffer *run)
{
    const struct exposure *exposure = &citation->cited->exposure;

    for (size_t i = 0; exposure->is_listed && i < exposure->artifact_count; i++) {
        const struct exposed_artifact *artifact = &exposure->artifacts[i];
        const struct applied_mapping_view applied = {
            .seq = artifact->seq,
            .line_count = artifact->line_count,
        };
        struct mapping_row row;
        enum err err = mapping_row_read(txn, citation->org, artifact->seq, &row);

        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        applied_mapping_view_put(&applied, MAPPING_APPLIED_MAPPINGS_FIELD, run);
    }
    return buffer_ok(run) ? OK : ERR_MEMORY;
}

static enum err encode_facts(struct ctx *ctx, struct store_txn *txn,
                             const struct mapping_citation *citation, struct slice *ret_facts)
{
    bool has_draft_order = citation->draft_order_id.size > 0;
    struct mapping_applied_view facts = {
        .exposure_seq = citation->cited->seq,
        .draft_order_id = citation->draft_order_id,
        .has_draft_order_id = has_draft_order,
        .document_id = citation->document_id,
        .has_document_id = !has_draft_order && citation->document_id.size > 0,
    };
    struct buffer mappings;
    enum err err = OK;

    buffer_init(&mappings, ctx->arena, 256);
    err = put_applied(txn, citation, &mappings);
    if (err != OK) {
        return err;
    }
    facts.mappings.run = buffer_slice(&mappings);
    return view_encode(&mapping_applied_view_type, &facts, ctx->arena, ret_facts) ? OK : ERR_MEMORY;
}

/* Adds the subjects: the draft order or the document, if one is named, and the exposure, by the id
 * of its event. */
static enum err add_subjects(struct ctx *ctx, struct store_txn *txn,
                             const struct mapping_citation *citation, struct event_draft *draft)
{
    struct slice draft_order_id = citation->draft_order_id;
    struct event recorded;
    enum err err = log_read(txn, citation->org, citation->cited->seq, &recorded);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (draft_order_id.size > 0) {
        event_draft_add_subject(draft, SUBJECT_DRAFT_ORDER, draft_order_id);
    } else {
        event_draft_add_subject(draft, SUBJECT_DOCUMENT, citation->document_id);
    }
    return event_draft_add_id(ctx->arena, draft, SUBJECT_EXPOSURE, recorded.id);
}

enum err mapping_uses_store(struct ctx *ctx, struct store_txn *txn,
                            const struct mapping_citation *citation, uint64_t *ret_seq)
{
    const struct exposure_citer *citer = citation->citer;
    struct event_draft draft = {
        .org = citation->org,
        .kind = EVENT_MAPPING_APPLIED,
        .annotator = ANNOTATOR_CODE,
        .actor_user_id = citer->actor_user_id,
    };
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
        err = event_draft_stamp(ctx, txn, &citer->time, &draft);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, mappings_apply, ret_seq);
}

/* Reads the cited response of MatchLines. */
static enum err find_cited(struct ctx *ctx, struct store_txn *txn,
                           const struct matches_outcome *outcome, struct cited_exposure *ret_cited)
{
    enum err err =
        exposure_find(ctx, txn, outcome->key, outcome->org, outcome->exposure_ref, ret_cited);

    if (err == ERR_INVALID) {
        fault_add(ctx->fault, SLICE("exposure_ref"),
                  "unknown, incomplete or changed; expected the exposure_ref of a MatchLines "
                  "response of this organisation");
    } else if (err == OK && ret_cited->exposure.kind != EXPOSURE_KIND_MATCHES) {
        fault_add(ctx->fault, SLICE("exposure_ref"),
                  "issued by another method; expected the exposure_ref of a MatchLines response");
        err = ERR_INVALID;
    }
    return err;
}

enum err mapping_record_matches(struct ctx *ctx, struct store_txn *txn,
                                const struct matches_outcome *outcome,
                                struct work_result *ret_result)
{
    const struct slice request = {NULL, 0};
    struct exposure_citer citer = {.time = outcome->time};
    struct cited_exposure cited;
    const struct mapping_citation citation = {
        .org = outcome->org,
        .citer = &citer,
        .cited = &cited,
        .draft_order_id = outcome->draft_order_id,
    };
    uint64_t seq = 0;
    bool is_known = false;
    enum err err = actor_resolve(ctx, outcome->caller, request, outcome->actor_user_id,
                                 outcome->time.is_given, &citer.actor_user_id);

    if (err == OK) {
        err = event_time_check_now(ctx, txn, outcome->org, &outcome->time, request);
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    if (err == OK) {
        err = find_cited(ctx, txn, outcome, &cited);
    }
    if (err != OK) {
        return err;
    }
    is_known = cited.seq != 0;
    err = exposure_record(ctx, txn, outcome->org, &citer, &cited);
    if (err == OK) {
        err = mapping_uses_store(ctx, txn, &citation, &seq);
    }
    if (err != OK) {
        return err;
    }
    ret_result->first_seq = is_known ? seq : cited.seq;
    ret_result->count = is_known ? 1 : 2;
    return OK;
}

enum err mapping_uses_count(const struct event *event, uint32_t *ret_count)
{
    struct mapping_applied_view facts;
    enum err err = event->kind == EVENT_MAPPING_APPLIED
                       ? mapping_applied_view_read(event->facts, &facts)
                       : ERR_CORRUPT;

    if (err == OK) {
        *ret_count = facts.mappings.count;
    }
    return err;
}

/* Sets a time of a mapping to that of its use, unless a later one is known. */
static void date(const struct event *event, int64_t *time_us)
{
    if (event->source != SOURCE_BACKFILL || *time_us < event->created_at_us) {
        *time_us = event->created_at_us;
    }
}

/* The counts of one event. */
struct counting {
    struct artifact_change change; /* change for each mapping */
    uint64_t line_count; /* number of lines so far */
};

/* Finds the last event that was stored when the exposure was issued. */
static enum err find_as_of(struct store_txn *txn, struct org_id org, uint64_t exposure_seq,
                           struct counting *counting)
{
    struct exposure_recorded_view exposure;
    struct event event;
    enum err err = log_read(txn, org, exposure_seq, &event);

    if (err == OK) {
        err = event.kind == EVENT_EXPOSURE_RECORDED
                  ? exposure_recorded_view_read(event.facts, &exposure)
                  : ERR_CORRUPT;
    }
    if (err == OK) {
        counting->change.as_of_seq = exposure.as_of_seq;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Counts the uses of one mapping. */
static enum err apply_one(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                          struct slice message, struct counting *counting)
{
    struct applied_mapping_view applied;
    struct mapping_row row;
    enum err err = applied_mapping_view_read(message, &applied);

    if (err == OK) {
        err = mapping_row_read(txn, event->org, applied.seq, &row);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    row.record.use_count += applied.line_count;
    date(event, &row.record.last_used_at_us);
    date(event, &row.record.updated_at_us);
    counting->line_count += applied.line_count;
    err = mapping_row_write(ctx->arena, txn, event->org, &row);
    return err != OK ? err : artifact_count(ctx, txn, event->org, applied.seq, &counting->change);
}

enum err mapping_uses_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    const struct slice all = {NULL, 0};
    const struct counter_day day = counters_day(event->org, event->created_at_us);
    struct mapping_applied_view facts;
    struct slice subject = {NULL, 0};
    struct slice applied = {NULL, 0};
    struct counting counting = {
        .change = {.outcomes = 1, .is_use = true, .outcome_seq = event->seq}};
    enum err err = mapping_applied_view_read(event->facts, &facts);

    ASSERT(event->kind == EVENT_MAPPING_APPLIED);
    if (err == OK) {
        err = find_as_of(txn, event->org, facts.exposure_seq, &counting);
    }
    while (err == OK && view_next(&facts.mappings.run, &applied)) {
        err = apply_one(ctx, txn, event, applied, &counting);
    }
    if (err == OK) {
        err = write_subject(ctx->arena, facts.draft_order_id, facts.document_id, &subject);
    }
    if (err == OK) {
        err = counters_add(ctx, txn, &day, COUNTER_MAPPING_APPLIED, all, counting.line_count);
    }
    return err != OK ? err
                     : exposure_keep_outcome(txn, event->org, facts.exposure_seq,
                                             EVENT_MAPPING_APPLIED, subject, event->seq);
}

/* Subtracts the uses of one mapping. */
static enum err undo_one(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         struct slice message, struct counting *counting)
{
    struct applied_mapping_view applied;
    struct mapping_row row;
    enum err err = applied_mapping_view_read(message, &applied);

    if (err == OK) {
        err = mapping_row_read(txn, org, applied.seq, &row);
    }
    if (err != OK || row.record.use_count < applied.line_count) {
        return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    row.record.use_count -= applied.line_count;
    row.record.last_used_at_us = row.record.use_count > 0 ? row.record.last_used_at_us : 0;
    counting->line_count += applied.line_count;
    err = mapping_row_write(ctx->arena, txn, org, &row);
    return err != OK ? err : artifact_count(ctx, txn, org, applied.seq, &counting->change);
}

enum err mapping_uses_undo(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq)
{
    const struct slice all = {NULL, 0};
    struct mapping_applied_view facts;
    struct counter_day day;
    struct slice subject = {NULL, 0};
    struct slice applied = {NULL, 0};
    struct slice bytes = {NULL, 0};
    struct counting counting = {.change = {.outcomes = -1, .is_use = true, .outcome_seq = seq}};
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    /* Copied, since puts invalidate borrowed slices. */
    if (err == OK && !arena_copy(ctx->arena, event.facts, &bytes)) {
        return ERR_MEMORY;
    }
    if (err == OK) {
        err = event.kind == EVENT_MAPPING_APPLIED ? mapping_applied_view_read(bytes, &facts)
                                                  : ERR_CORRUPT;
    }
    if (err == OK) {
        err = write_subject(ctx->arena, facts.draft_order_id, facts.document_id, &subject);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    day = counters_day(org, event.created_at_us);
    err = find_as_of(txn, org, facts.exposure_seq, &counting);
    if (err == OK) {
        err = exposure_forget_outcome(txn, org, facts.exposure_seq, EVENT_MAPPING_APPLIED, subject,
                                      seq);
    }
    while (err == OK && view_next(&facts.mappings.run, &applied)) {
        err = undo_one(ctx, txn, org, applied, &counting);
    }
    return err != OK ? err
                     : counters_subtract(ctx, txn, &day, COUNTER_MAPPING_APPLIED, all,
                                         counting.line_count);
}
