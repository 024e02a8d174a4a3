/*
 * citations.c: see citations.h.
 */
#include "server/domain/turns/citations.h"

#include "server/domain/exposures/citations.h"

enum err turn_citations_read(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct turn_references *references,
                             struct turn_citations *ret_citations)
{
    const struct exposure_references cited = {
        .org = org,
        .key = references->key,
        .items = references->items,
        .count = references->count,
        .kind = EXPOSURE_KIND_STRATEGIES,
        .field = "exposure_refs",
        .method = "SearchStrategies",
    };

    return exposures_cite(ctx, txn, &cited, ret_citations->items, &ret_citations->count);
}

/* --- apply --- */

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
            err = exposure_count_outcome(ctx, txn, org, exposure_seq, &change);
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
        err = exposure_count_outcome(ctx, txn, org, exposure_seq, &change);
    }
    while (err == OK && view_next_number(&marking, &exposure_seq)) {
        if (!has_number(own, exposure_seq)) {
            err = exposure_count_outcome(ctx, txn, org, exposure_seq, &change);
        }
    }
    return err;
}
