/*
 * citations.c: see citations.h.
 */
#include "server/domain/decisions/citations.h"

#include "server/domain/exposures/citations.h"

enum err decision_citations_read(struct ctx *ctx, struct store_txn *txn,
                                 const struct decision_request *request,
                                 struct decision_citations *ret_citations)
{
    const struct exposure_references references = {
        .org = request->org,
        .key = request->input->key,
        .items = request->input->exposure_refs,
        .count = request->input->exposure_ref_count,
        .kind = EXPOSURE_KIND_AGENT_PROMPT,
        .field = "exposure_refs",
        .method = "BuildAgentPrompt",
    };

    return exposures_cite(ctx, txn, &references, ret_citations->items, &ret_citations->count);
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
            err = exposure_count_outcome(ctx, txn, event->org, exposure_seq, &change);
        }
    }
    return err;
}
