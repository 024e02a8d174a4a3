/*
 * citations.c: see citations.h.
 */
#include "server/domain/reviews/citations.h"

#include "server/domain/exposures/citations.h"

/* Maximum bytes of a cited exposure: two numbers, and its signals. */
#define CITATION_BYTES ((4 + EXPOSURE_SIGNALS_END) * WIRE_OVERHEAD_BYTES)

/* Decides whether the exposure is measured: no review of the run cited it before. */
static enum err decide_measured(struct store_txn *txn, const struct review_request *request,
                                const struct cited_exposure *cited, bool *ret_is_measured)
{
    uint64_t seq = 0;
    enum err err = cited->seq == 0 ? ERR_NOT_FOUND
                                   : exposure_find_outcome(txn, request->org, cited->seq,
                                                           EVENT_REVIEW_SUBMITTED,
                                                           request->input->run_id, &seq);

    *ret_is_measured = err == ERR_NOT_FOUND;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err review_citations_read(struct ctx *ctx, struct store_txn *txn,
                               const struct review_request *request,
                               struct review_citations *citations)
{
    const struct exposure_references references = {
        .org = request->org,
        .key = request->key,
        .items = request->input->exposure_refs,
        .count = request->input->exposure_ref_count,
        .kind = EXPOSURE_KIND_PLACEHOLDERS,
        .field = "review.exposure_refs",
        .method = "ResolvePlaceholders",
    };
    enum err err = exposures_cite(ctx, txn, &references, citations->items, &citations->count);

    for (size_t i = 0; err == OK && i < citations->count; i++) {
        err = decide_measured(txn, request, &citations->items[i], &citations->is_measured[i]);
    }
    return err;
}

/* Returns whether a review gives a signal for which there was guidance. */
static bool gives(const struct review_view *view, int32_t signal)
{
    switch ((enum review_signal)signal) {
    case REVIEW_SIGNAL_INFORMATION_PRESENT_LOW:
        return view->has_information_present && !view->information_present;
    case REVIEW_SIGNAL_MISSING_SPEC:
        return view->missing_spec.run.size > 0;
    case REVIEW_SIGNAL_BAD_FORMAT:
        return view->bad_format;
    case REVIEW_SIGNAL_WRONG_INFORMATION:
        return view->wrong_information;
    case REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS:
        return view->wrong_physical_dimensions;
    case REVIEW_SIGNAL_INFORMATION_PRESENT: /* this signal says what is right */
    case REVIEW_SIGNAL_NOTES:
    case REVIEW_SIGNAL_EXAMPLE_ITEM:
    case REVIEW_SIGNAL_UNSPECIFIED:
        break;
    }
    return false;
}

enum err review_citations_encode(struct arena *arena, const struct review_citations *citations,
                                 struct review_view *view)
{
    struct buffer run;
    bool is_whole = true;

    buffer_init(&run, arena, citations->count * CITATION_BYTES);
    for (size_t i = 0; i < citations->count; i++) {
        struct reviewed_exposure_view cited = {
            .exposure_seq = citations->items[i].seq,
            .measured = citations->is_measured[i],
        };
        uint32_t signals = citations->items[i].exposure.placeholders.signals;
        struct buffer recurred;

        buffer_init(&recurred, arena, EXPOSURE_SIGNALS_END * WIRE_OVERHEAD_BYTES);
        for (int32_t j = 1; j < EXPOSURE_SIGNALS_END; j++) {
            if ((signals >> j & 1u) != 0 && gives(view, j)) {
                reviewed_exposure_view_add_recurred(&recurred, (enum review_signal)j);
            }
        }
        cited.recurred.run = buffer_slice(&recurred);
        reviewed_exposure_view_put(&cited, REVIEW_EXPOSURES_FIELD, &run);
        is_whole = is_whole && buffer_ok(&recurred);
    }
    view->exposures.run = buffer_slice(&run);
    return is_whole && buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* Changes the counts of the artifacts of one exposure. Prompts without guidance are not counted. */
static enum err count_artifacts(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                const struct reviewed_exposure_view *cited, int sign)
{
    const struct artifact_change change = {
        .outcomes = sign,
        .bad = cited->recurred.count > 0 ? sign : 0,
        .outcome_seq = event->seq,
    };
    struct exposure exposure;
    enum err err =
        exposure_read_recorded(ctx->arena, txn, event->org, cited->exposure_seq, &exposure);

    if (err != OK || exposure.placeholders.signals == 0) {
        return err;
    }
    return exposure_count_artifacts(ctx, txn, event->org, &exposure, &change);
}

enum err review_citations_count(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                const struct review_view *view, int sign)
{
    struct slice run = view->exposures.run;
    struct slice message = {NULL, 0};
    enum err err = OK;

    while (err == OK && view_next(&run, &message)) {
        struct reviewed_exposure_view cited;

        err = reviewed_exposure_view_read(message, &cited);
        if (err == OK && cited.measured) {
            err = count_artifacts(ctx, txn, event, &cited, sign);
        }
        if (err == OK) {
            err = sign > 0
                      ? exposure_keep_outcome(txn, event->org, cited.exposure_seq,
                                              EVENT_REVIEW_SUBMITTED, view->run_id, event->seq)
                      : exposure_forget_outcome(txn, event->org, cited.exposure_seq,
                                                EVENT_REVIEW_SUBMITTED, view->run_id, event->seq);
        }
    }
    return err;
}
