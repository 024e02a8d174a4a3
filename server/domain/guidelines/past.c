/*
 * past.c: see past.h.
 */
#include "server/domain/guidelines/past.h"

#include "server/domain/guidelines/keys.h"

/* Proposals between two looks at whether the caller is still there. */
#define ROWS_PER_LOOK 512

/* Where a guideline was in the prompt. */
struct past_guideline {
    uint64_t seq;
    uint64_t activated_seq;
    enum rule_type type;
};

/* The guidelines that were found so far, in order. */
struct past_guidelines {
    struct past_guideline items[GUIDELINES_OF_AGENT_MAX];
    size_t count;
    uint64_t version;
};

static bool is_before(const struct past_guideline *a, const struct past_guideline *b)
{
    if (a->type != b->type) {
        return a->type < b->type;
    }
    return a->activated_seq != b->activated_seq ? a->activated_seq < b->activated_seq
                                                : a->seq < b->seq;
}

/* Inserts a guideline at its place. */
static enum err insert(struct past_guidelines *found, const struct past_guideline *guideline)
{
    size_t place = found->count;

    if (found->count == GUIDELINES_OF_AGENT_MAX) {
        return ERR_CORRUPT;
    }
    while (place > 0 && is_before(guideline, &found->items[place - 1])) {
        found->items[place] = found->items[place - 1];
        place--;
    }
    found->items[place] = *guideline;
    found->count++;
    return OK;
}

/* Adds what a proposal was then, if it had become a guideline of the agent. */
static enum err add(struct store_txn *txn, const struct agent_prompt_query *query, uint64_t seq,
                    struct past_guidelines *found)
{
    struct past_guideline guideline = {.seq = seq};
    struct proposal proposal;
    uint64_t changed = 0;
    enum err err = proposal_read(txn, query->org, seq, &proposal);
    bool has_ended = false;

    if (err != OK || !proposal_is_for(&proposal, query->agent)) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    has_ended = proposal.record.ended_seq != 0 && proposal.record.ended_seq <= query->as_of_seq;
    changed = has_ended ? proposal.record.ended_seq : proposal.record.activated_seq;
    found->version = changed > found->version ? changed : found->version;
    if (has_ended) {
        return OK;
    }
    guideline.activated_seq = proposal.record.activated_seq;
    guideline.type = proposal.view.rule_type;
    return insert(found, &guideline);
}

/* Examines the next row. ERR_NOT_FOUND after the last one that existed then. */
static enum err examine(struct scan *scan, struct store_txn *txn,
                        const struct agent_prompt_query *query, struct past_guidelines *found)
{
    struct proposal_record record;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = scan_next(scan, &key, &value);

    if (err == OK) {
        err = proposal_key_seq(key, &seq);
    }
    if (err == OK) {
        err = seq > query->as_of_seq ? ERR_NOT_FOUND : record_decode_proposal(value, &record);
    }
    if (err != OK || record.activated_seq == 0 || record.activated_seq > query->as_of_seq) {
        return err;
    }
    return add(txn, query, seq, found);
}

enum err agent_guidelines_read_past(struct store_txn *txn, const struct agent_prompt_query *query,
                                    struct agent_guidelines *ret_list, uint64_t *ret_version)
{
    const struct scan_range range = {.table = TABLE_PROPOSAL,
                                     .prefix = key_org(query->org),
                                     .order = STORE_ASCENDING,
                                     .rows_max = UINT32_MAX};
    struct past_guidelines found = {.count = 0};
    struct scan scan = {0};
    enum err err = scan_init(&scan, txn, &range);

    for (size_t i = 0; err == OK; i++) {
        if (i % ROWS_PER_LOOK == 0 && query->is_cancelled(query->user)) {
            err = ERR_CANCELLED;
        }
        if (err == OK) {
            err = examine(&scan, txn, query, &found);
        }
    }
    scan_deinit(&scan);
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    ret_list->count = found.count;
    for (size_t i = 0; i < found.count; i++) {
        ret_list->seqs[i] = found.items[i].seq;
    }
    *ret_version = found.version;
    return OK;
}
