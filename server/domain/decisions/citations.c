/*
 * citations.c: see citations.h.
 */
#include "server/domain/decisions/citations.h"

#include "server/domain/artifacts/artifacts.h"

static const char not_ours[] = "unknown, incomplete or changed; expected the exposure_ref of a "
                               "BuildAgentPrompt response of this organisation";

static enum err read_one(struct ctx *ctx, struct store_txn *txn,
                         const struct decision_request *request, size_t place,
                         struct cited_exposure *ret_cited)
{
    const struct decision_input *input = request->input;
    enum err err =
        exposure_find(ctx, txn, input->key, request->org, input->exposure_refs[place], ret_cited);

    if (err == OK) {
        err = exposure_check_kind(txn, request->org, &ret_cited->exposure,
                                  EXPOSURE_KIND_AGENT_PROMPT);
    }
    if (err == ERR_INVALID) {
        fault_add(ctx->fault, arena_printf(ctx->arena, "exposure_refs[%zu]", place), "%s",
                  not_ours);
    }
    return err;
}

enum err decision_citations_read(struct ctx *ctx, struct store_txn *txn,
                                 const struct decision_request *request,
                                 struct decision_citations *ret_citations)
{
    enum err err = OK;

    ret_citations->count = 0;
    for (size_t i = 0; i < request->input->exposure_ref_count && err == OK; i++) {
        struct cited_exposure *cited = &ret_citations->items[ret_citations->count];

        err = read_one(ctx, txn, request, i, cited);
        ret_citations->count +=
            err == OK && !exposure_is_among(cited, ret_citations->items, ret_citations->count);
        err = err == ERR_INVALID ? OK : err;
    }
    return err;
}

enum err decision_citations_record(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                   const struct exposure_citer *citer,
                                   struct decision_citations *citations)
{
    enum err err = OK;

    for (size_t i = 0; i < citations->count && err == OK; i++) {
        err = exposure_record(ctx, txn, org, citer, &citations->items[i]);
    }
    return err;
}

enum err decision_citations_encode(struct arena *arena, const struct decision_citations *citations,
                                   struct decision_view *view)
{
    struct buffer run;

    buffer_init(&run, arena, citations->count * WIRE_OVERHEAD_BYTES);
    for (size_t i = 0; i < citations->count; i++) {
        decision_view_add_exposure_seqs(&run, citations->items[i].seq);
    }
    view->exposure_seqs.run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* Changes the counts of the artifacts of an exposure. */
static enum err count_artifacts(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                uint64_t exposure_seq, struct artifact_change change)
{
    struct exposure exposure;
    enum err err = exposure_read_recorded(ctx->arena, txn, org, exposure_seq, &exposure);

    if (err != OK) {
        return err;
    }
    change.arm = exposure.arm;
    for (size_t i = 0; exposure.is_listed && i < exposure.artifact_count && err == OK; i++) {
        err = artifact_count(ctx, txn, org, exposure.artifacts[i].seq, &change);
    }
    return err;
}

enum err decision_citations_count(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                  const struct decision_view *view, int sign)
{
    const struct artifact_change change = {
        .outcomes = sign,
        .bad = view->decision != DECISION_OUTCOME_APPROVED ? sign : 0,
        .outcome_seq = event->seq,
    };
    struct slice run = view->exposure_seqs.run;
    uint64_t exposure_seq = 0;
    enum err err = OK;

    while (err == OK && view_next_number(&run, &exposure_seq)) {
        err = sign > 0
                  ? exposure_keep_outcome(txn, event->org, exposure_seq, EVENT_DECISION_RECORDED,
                                          view->decision_id, event->seq)
                  : exposure_forget_outcome(txn, event->org, exposure_seq, EVENT_DECISION_RECORDED,
                                            view->decision_id, event->seq);
        if (err == OK) {
            err = count_artifacts(ctx, txn, event->org, exposure_seq, change);
        }
    }
    return err;
}
