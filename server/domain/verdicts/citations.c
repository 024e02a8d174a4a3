/*
 * citations.c: see citations.h.
 */
#include "server/domain/verdicts/citations.h"

#include "server/domain/exposures/citations.h"

/* Bytes of a measured score besides its rules, and of a rule: numbers. */
#define SCORE_BYTES (8 * WIRE_OVERHEAD_BYTES)
#define RULE_BYTES (5 * WIRE_OVERHEAD_BYTES)

/* Returns ERR_INVALID for an exposure with rules that this log does not have. */
static enum err check_rules(struct store_txn *txn, struct org_id org,
                            const struct exposure *exposure)
{
    struct learned_rule_row row;
    enum err err = OK;

    for (size_t i = 0; exposure->is_listed && i < exposure->artifact_count && err == OK; i++) {
        err = learned_rule_read(txn, org, exposure->artifacts[i].seq, &row);
        if (err == ERR_NOT_FOUND ||
            (err == OK && row.record.life.version < exposure->artifacts[i].version)) {
            err = ERR_INVALID;
        }
    }
    return err;
}

static enum err read_one(struct ctx *ctx, struct store_txn *txn,
                         const struct exposure_references *references, size_t place,
                         struct cited_exposure *ret_cited)
{
    enum err err = exposure_cite(ctx, txn, references, place, ret_cited);

    if (err != OK) {
        return err;
    }
    err = check_rules(txn, references->org, &ret_cited->exposure);
    return err == ERR_INVALID ? exposure_refuse(ctx, references, place) : err;
}

/* Decides whether the exposure is measured: it lists its rules, and no submission cited it for the receipt before. */
static enum err decide_measured(struct store_txn *txn, const struct verdict_request *request,
                                const struct cited_exposure *cited, bool *ret_is_measured)
{
    uint64_t seq = 0;
    enum err err = cited->seq == 0 ? ERR_NOT_FOUND
                                   : exposure_find_outcome(txn, request->org, cited->seq,
                                                           EVENT_VERDICT_SUBMITTED,
                                                           request->input->receipt_id, &seq);

    *ret_is_measured = err == ERR_NOT_FOUND && cited->exposure.is_listed;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err verdict_citations_read(struct ctx *ctx, struct store_txn *txn,
                                const struct verdict_request *request,
                                struct verdict_citations *citations)
{
    const struct exposure_references references = {
        .org = request->org,
        .key = request->key,
        .items = request->input->exposure_refs,
        .count = request->input->exposure_ref_count,
        .kind = EXPOSURE_KIND_SCORE,
        .field = "submission.exposure_refs",
        .method = "ScoreDocument",
    };
    enum err err = OK;

    citations->count = 0;
    for (size_t i = 0; i < references.count && err == OK; i++) {
        struct cited_exposure *cited = &citations->items[citations->count];

        err = read_one(ctx, txn, &references, i, cited);
        if (err == OK) {
            err = decide_measured(txn, request, cited, &citations->is_measured[citations->count]);
            citations->count +=
                err == OK && !exposure_is_among(cited, citations->items, citations->count);
        }
        err = err == ERR_INVALID ? OK : err;
    }
    return err;
}

enum err verdict_citations_record(struct ctx *ctx, struct store_txn *txn,
                                  const struct verdict_request *request,
                                  const struct exposure_citer *citer,
                                  struct verdict_citations *citations, uint32_t *count)
{
    for (size_t i = 0; i < citations->count; i++) {
        *count += citations->items[i].seq == 0;
    }
    return exposures_record(ctx, txn, request->org, citer, citations->items, citations->count);
}

static void put_fired(const struct exposure *exposure, struct buffer *run)
{
    for (size_t i = 0; i < exposure->artifact_count; i++) {
        const struct exposed_artifact *artifact = &exposure->artifacts[i];
        const struct measured_rule_view view = {
            .seq = artifact->seq,
            .version = artifact->version,
            .raises = artifact->rule.raises,
            .shadow = artifact->rule.shadow,
        };

        if (artifact->rule.suppressed_by == SCORE_GATE_UNSPECIFIED) {
            measured_rule_view_put(&view, MEASURED_SCORE_FIRED_FIELD, run);
        }
    }
}

static enum err put_score(struct arena *arena, const struct cited_exposure *cited,
                          struct buffer *run)
{
    const struct exposure *exposure = &cited->exposure;
    struct measured_score_view view = {
        .exposure_seq = cited->seq,
        .as_of_seq = exposure->as_of_seq,
        .base_verdict = exposure->verdicts.base,
        .verdict = exposure->verdicts.live,
        .shadow_verdict = exposure->verdicts.shadow,
    };
    struct buffer fired;

    buffer_init(&fired, arena, exposure->artifact_count * RULE_BYTES);
    put_fired(exposure, &fired);
    view.fired.run = buffer_slice(&fired);
    measured_score_view_put(&view, VERDICT_SUBMISSION_MEASURED_SCORES_FIELD, run);
    return buffer_ok(&fired) ? OK : ERR_MEMORY;
}

enum err verdict_citations_encode(struct arena *arena, const struct verdict_citations *citations,
                                  struct verdict_submission_view *view)
{
    struct buffer scores;
    struct buffer seqs;
    enum err err = OK;

    buffer_init(&scores, arena, citations->count * SCORE_BYTES);
    buffer_init(&seqs, arena, citations->count * WIRE_OVERHEAD_BYTES);
    for (size_t i = 0; i < citations->count && err == OK; i++) {
        verdict_submission_view_add_exposure_seqs(&seqs, citations->items[i].seq);
        if (citations->is_measured[i]) {
            err = put_score(arena, &citations->items[i], &scores);
        }
    }
    view->exposure_seqs.run = buffer_slice(&seqs);
    view->measured_scores.run = buffer_slice(&scores);
    return err == OK && !(buffer_ok(&scores) && buffer_ok(&seqs)) ? ERR_MEMORY : err;
}
