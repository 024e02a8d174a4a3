/*
 * evidence.c: see evidence.h. Proposals are found before any is changed.
 */
#include "server/domain/guidelines/evidence.h"

#include "server/domain/artifacts/life.h"
#include "server/domain/guidelines/keys.h"

/* Proposals of which a decision is evidence. */
struct affected {
    uint64_t *seqs; /* in the arena */
    size_t count;
};

static bool has_evidence(const struct proposal *proposal, struct uuid decision_id)
{
    struct slice run = proposal->view.created_from_feedback_ids.run;
    struct slice text = {NULL, 0};
    struct uuid id;
    bool found = false;

    while (!found && view_next(&run, &text)) {
        found = uuid_parse(text, &id) && uuid_equal(id, decision_id);
    }
    return found;
}

/* Finds the proposals of a table whose rows end with their number. */
static enum err find(struct store_txn *txn, struct org_id org, enum store_table table,
                     struct uuid decision_id, struct affected *affected)
{
    const struct scan_range range = {.table = table,
                                     .prefix = key_org(org),
                                     .order = STORE_ASCENDING,
                                     .rows_max = GUIDELINE_ROWS_MAX};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        struct proposal proposal;
        uint64_t seq = 0;

        err = scan_next(&scan, &key, &value);
        if (err != OK) {
            break;
        }
        err = proposal_key_seq(key, &seq);
        if (err == OK) {
            err = proposal_read(txn, org, seq, &proposal);
            err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        if (err == OK && has_evidence(&proposal, decision_id)) {
            affected->seqs[affected->count++] = seq;
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err evidence_retract(struct ctx *ctx, struct store_txn *txn, const struct event *retraction,
                          struct uuid decision_id)
{
    struct affected affected = {.count = 0};
    enum err err = OK;

    affected.seqs = arena_calloc(ctx->arena, 2 * GUIDELINE_ROWS_MAX, sizeof(*affected.seqs));
    if (affected.seqs == NULL) {
        return ERR_MEMORY;
    }
    err = find(txn, retraction->org, TABLE_PROPOSAL_PENDING, decision_id, &affected);
    if (err == OK) {
        err = find(txn, retraction->org, TABLE_GUIDELINE, decision_id, &affected);
    }
    for (size_t i = 0; err == OK && i < affected.count; i++) {
        err = proposal_lose_evidence(ctx, txn, retraction, affected.seqs[i]);
    }
    return err;
}
