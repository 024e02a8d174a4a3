/*
 * citations.c: see citations.h.
 */
#include "server/domain/turns/citations.h"

#include "server/domain/artifacts/artifacts.h"

static const char not_ours[] = "unknown, incomplete or changed; expected the exposure_ref of a "
                               "SearchStrategies response of this organisation";

static enum err read_one(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         const struct turn_references *references, size_t place,
                         struct cited_exposure *ret_cited)
{
    enum err err =
        exposure_find(ctx, txn, references->key, org, references->items[place], ret_cited);

    if (err == OK) {
        err = exposure_check_kind(txn, org, &ret_cited->exposure, EXPOSURE_KIND_STRATEGIES);
    }
    if (err == ERR_INVALID) {
        fault_add(ctx->fault, arena_printf(ctx->arena, "exposure_refs[%zu]", place), "%s",
                  not_ours);
    }
    return err;
}

enum err turn_citations_read(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct turn_references *references,
                             struct turn_citations *ret_citations)
{
    enum err err = OK;

    ret_citations->count = 0;
    for (size_t i = 0; i < references->count && err == OK; i++) {
        struct cited_exposure *cited = &ret_citations->items[ret_citations->count];

        err = read_one(ctx, txn, org, references, i, cited);
        ret_citations->count +=
            err == OK && !exposure_is_among(cited, ret_citations->items, ret_citations->count);
        err = err == ERR_INVALID ? OK : err;
    }
    return err;
}

enum err turn_citations_record(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                               const struct exposure_citer *citer, struct turn_citations *citations)
{
    enum err err = OK;

    for (size_t i = 0; i < citations->count && err == OK; i++) {
        err = exposure_record(ctx, txn, org, citer, &citations->items[i]);
    }
    return err;
}

/* --- apply --- */

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

enum err turn_citations_count(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              const struct turn_hash *hash, uint64_t turn_seq, struct slice run)
{
    const struct artifact_change change = {.outcomes = 1, .outcome_seq = turn_seq};
    struct slice subject = turn_hash_slice(hash);
    uint64_t exposure_seq = 0;
    enum err err = OK;

    while (err == OK && view_next_number(&run, &exposure_seq)) {
        uint64_t outcome_seq = 0;

        err = exposure_find_outcome(txn, org, exposure_seq, EVENT_TURN_RECORDED, subject,
                                    &outcome_seq);
        if (err != ERR_NOT_FOUND) {
            continue;
        }
        err = exposure_keep_outcome(txn, org, exposure_seq, EVENT_TURN_RECORDED, subject, turn_seq);
        if (err == OK) {
            err = count_artifacts(ctx, txn, org, exposure_seq, change);
        }
    }
    return err;
}

static bool has_number(struct slice run, uint64_t wanted)
{
    uint64_t number = 0;
    bool is_found = false;

    while (!is_found && view_next_number(&run, &number)) {
        is_found = number == wanted;
    }
    return is_found;
}

/* Reads the numbers of the exposures that are cited by the turn and by the message that marked it. */
static enum err read_runs(struct store_txn *txn, struct org_id org,
                          const struct turn_record *record, struct slice *ret_own,
                          struct slice *ret_marking)
{
    struct feedback_detected_view detected = {.exposure_seqs = {.count = 0}};
    struct turn_view turn;
    struct event event;
    enum err err = log_read(txn, org, record->seq, &event);

    if (err == OK) {
        err = turn_view_read(event.facts, &turn);
    }
    if (err == OK && record->marked_seq != 0) {
        err = log_read(txn, org, record->marked_seq, &event);
        if (err == OK) {
            err = feedback_detected_view_read(event.facts, &detected);
        }
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *ret_own = turn.exposure_seqs.run;
    *ret_marking = detected.exposure_seqs.run;
    return OK;
}

enum err turn_citations_turn_bad(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                 const struct turn_record *record, int sign)
{
    const struct artifact_change change = {.bad = sign};
    struct slice own = {NULL, 0};
    struct slice rest = {NULL, 0};
    struct slice marking = {NULL, 0};
    uint64_t exposure_seq = 0;
    enum err err = read_runs(txn, org, record, &own, &marking);

    rest = own;
    while (err == OK && view_next_number(&rest, &exposure_seq)) {
        err = count_artifacts(ctx, txn, org, exposure_seq, change);
    }
    while (err == OK && view_next_number(&marking, &exposure_seq)) {
        if (!has_number(own, exposure_seq)) {
            err = count_artifacts(ctx, txn, org, exposure_seq, change);
        }
    }
    return err;
}
