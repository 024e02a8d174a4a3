/*
 * citations.c: see citations.h.
 */
#include "server/domain/reviews/citations.h"

#include "server/domain/artifacts/artifacts.h"

/* Maximum bytes of a cited exposure: two numbers, and its signals. */
#define CITATION_BYTES ((4 + EXPOSURE_SIGNALS_END) * WIRE_OVERHEAD_BYTES)

static const char not_ours[] = "unknown, incomplete or changed; expected the exposure_ref of a "
                               "ResolvePlaceholders response of "
                               "this organisation";

static enum err read_one(struct ctx *ctx, struct store_txn *txn,
                         const struct review_request *request, size_t place,
                         struct cited_exposure *ret_cited)
{
    enum err err = exposure_find(ctx, txn, request->key, request->org,
                                 request->input->exposure_refs[place], ret_cited);

    if (err == OK) {
        err = exposure_check_kind(txn, request->org, &ret_cited->exposure,
                                  EXPOSURE_KIND_PLACEHOLDERS);
    }
    if (err == ERR_INVALID) {
        fault_add(ctx->fault, arena_printf(ctx->arena, "review.exposure_refs[%zu]", place), "%s",
                  not_ours);
    }
    return err;
}

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
    enum err err = OK;

    citations->count = 0;
    for (size_t i = 0; i < request->input->exposure_ref_count && err == OK; i++) {
        struct cited_exposure *cited = &citations->items[citations->count];

        err = read_one(ctx, txn, request, i, cited);
        if (err == OK) {
            err = decide_measured(txn, request, cited, &citations->is_measured[citations->count]);
            citations->count +=
                err == OK && !exposure_is_among(cited, citations->items, citations->count);
        }
        err = err == ERR_INVALID ? OK : err;
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
    struct artifact_change change = {
        .outcomes = sign,
        .bad = cited->recurred.count > 0 ? sign : 0,
        .outcome_seq = event->seq,
    };
    struct exposure exposure;
    enum err err =
        exposure_read_recorded(ctx->arena, txn, event->org, cited->exposure_seq, &exposure);

    if (err != OK) {
        return err;
    }
    change.arm = exposure.arm;
    for (size_t i = 0;
         exposure.placeholders.signals != 0 && i < exposure.artifact_count && err == OK; i++) {
        err = artifact_count(ctx, txn, event->org, exposure.artifacts[i].seq, &change);
    }
    return err;
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
