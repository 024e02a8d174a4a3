/*
 * extraction_credits.c: counts an extraction for the artifacts of the exposures that it cites: one outcome for
 * each artifact, a bad one if the extraction was corrected. The artifacts follow from the extraction's event,
 * so that a removal subtracts exactly what was added.
 */
#include "server/domain/artifacts/artifacts.h"
#include "server/domain/events/payload.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/extractions/rows/extraction_rows_internal.h"

#include <errata/v1/event.views.h>

/* An artifact and the arm of the experiment in which it was served. */
struct credit {
    uint64_t seq;
    enum experiment_arm arm;
};

struct credits {
    struct credit *items; /* in the arena */
    size_t count;
};

/* Adds an artifact; an artifact of several references counts once. If the references disagree about the arm, it
 * has none; if one of them served it, it was served. */
static void list_artifact(struct credits *credits, uint64_t seq, enum experiment_arm arm)
{
    _Static_assert(EXPERIMENT_ARM_NONE < EXPERIMENT_ARM_TREATMENT &&
                       EXPERIMENT_ARM_TREATMENT < EXPERIMENT_ARM_CONTROL,
                   "the lowest arm counts");

    for (size_t i = 0; i < credits->count; i++) {
        struct credit *credit = &credits->items[i];

        if (credit->seq == seq) {
            credit->arm = arm < credit->arm ? arm : credit->arm;
            return;
        }
    }
    credits->items[credits->count] = (struct credit){seq, arm};
    credits->count++;
}

/* Adds the artifacts of one exposure. */
static enum err list_artifacts(struct arena *arena, const struct exposure *exposure,
                               struct credits *credits)
{
    size_t capacity = credits->count + exposure->artifact_count + exposure->event_count;
    struct credit *items = arena_calloc(arena, capacity + 1, sizeof(*items));

    if (items == NULL) {
        return ERR_MEMORY;
    }
    if (credits->count > 0) {
        memcpy(items, credits->items, credits->count * sizeof(*items));
    }
    credits->items = items;
    for (size_t i = 0; i < exposure->artifact_count; i++) {
        list_artifact(credits, exposure->artifacts[i].seq, exposure->arm);
    }
    for (size_t i = 0; i < exposure->event_count; i++) {
        list_artifact(credits, exposure->event_seqs[i], exposure->arm);
    }
    return OK;
}

/* Returns whether an extraction without a key is the outcome of an exposure: the first one is. Extractions with
 * a key have their own subject. */
static enum err is_outcome(struct store_txn *txn, const struct event *event, uint64_t exposure_seq,
                           bool *ret_is)
{
    const struct slice none = {NULL, 0};
    uint64_t seq = 0;
    enum err err =
        exposure_find_outcome(txn, event->org, exposure_seq, EVENT_EXTRACTION_RECORDED, none, &seq);

    *ret_is = err == OK && seq == event->seq;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err list_exposure(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              uint64_t exposure_seq, struct credits *credits)
{
    struct exposure exposure;
    enum err err = exposure_read_recorded(ctx->arena, txn, org, exposure_seq, &exposure);

    if (err != OK) {
        return err;
    }
    return exposure.is_listed && exposure.kind != EXPOSURE_KIND_MATCHES
               ? list_artifacts(ctx->arena, &exposure, credits)
               : OK;
}

/* Lists the artifacts that the extraction of an event cites. */
static enum err list_cited(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                           struct credits *credits)
{
    struct extraction_recorded_view recorded;
    struct extraction_recorded_internal_view internal;
    struct event event;
    uint64_t exposure_seq = 0;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK) {
        err = extraction_recorded_view_read(event.facts, &recorded);
    }
    if (err == OK) {
        err = extraction_recorded_internal_view_read(
            payload_internal(recorded.internal, event.facts), &internal);
    }
    while (err == OK && view_next_number(&recorded.exposure_seqs.run, &exposure_seq)) {
        bool is_counted = true;

        if (internal.key_kind == EXTRACTION_KEY_NONE) {
            err = is_outcome(txn, &event, exposure_seq, &is_counted);
        }
        if (err == OK && is_counted) {
            err = list_exposure(ctx, txn, org, exposure_seq, credits);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err extraction_credits_change(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                   uint64_t seq, const struct extraction_credit_change *change)
{
    struct credits credits = {.count = 0};
    enum err err = list_cited(ctx, txn, org, seq, &credits);

    for (size_t i = 0; i < credits.count && err == OK; i++) {
        const struct artifact_change counted = {
            .arm = credits.items[i].arm,
            .outcomes = change->outcomes,
            .bad = change->bad,
            .outcome_seq = seq,
        };

        err = artifact_count(ctx, txn, org, credits.items[i].seq, &counted);
    }
    return err;
}

enum err extraction_change_corrected(struct ctx *ctx, struct store_txn *txn,
                                     const struct extraction_record *record,
                                     const struct counted_extraction *counted,
                                     const struct corrections_change *corrections)
{
    const struct extraction_credit_change change = {.bad = (int)corrections->after.is_corrected -
                                                           (int)corrections->before.is_corrected};
    enum err err =
        sums_change_corrected(ctx, txn, counted, &corrections->before, &corrections->after);

    return err != OK || change.bad == 0 || !record->cites_exposures
               ? err
               : extraction_credits_change(ctx, txn, counted->org, record->seq, &change);
}
