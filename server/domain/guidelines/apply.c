/*
 * apply.c: applies the events of guidelines: the row of a proposal, its position among pending
 * ones, and the list of guidelines in effect of each of its agents. A guideline that ends leaves
 * those lists.
 */
#include "server/domain/artifacts/life.h"
#include "server/domain/guidelines/keys.h"
#include "server/domain/guidelines/proposals.h"
#include "store/base/assert.h"

#include <event_apply.h>

/* Writes the row of a proposal, and the change of its life. `before` is NULL for a new one. */
static enum err put_row(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                        const struct artifact_life_record *before,
                        const struct proposal_record *record)
{
    struct key key = key_proposal(org, seq);
    struct slice value = {NULL, 0};
    enum err err = record_encode_proposal(ctx->arena, record, &value);

    if (err == OK) {
        err = store_put(txn, TABLE_PROPOSAL, key_slice(&key), value);
    }
    if (err == OK && (before == NULL || !artifact_life_is_same(before, &record->life))) {
        err = artifact_life_put(ctx->arena, txn, org, seq, before, &record->life);
    }
    return err;
}

static enum err apply_created(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct proposal_record record = {.life =
                                         artifact_life_begin(ARTIFACT_STATE_PROPOSED, event->seq)};
    struct proposal_view view;
    struct key key;
    enum err err = proposal_view_read(event->facts, &view);

    if (err != OK) {
        return err;
    }
    record.expedited = view.expedited;
    record.evidence_count = view.created_from_feedback_ids.count;
    err = put_row(ctx, txn, event->org, event->seq, NULL, &record);
    if (err == OK && view.cluster_seq != 0) {
        key = key_proposal_cluster(event->org, view.cluster_seq);
        err = log_put_id_row(txn, TABLE_PROPOSAL_CLUSTER, &key, event->seq);
    }
    key = key_proposal_pending(event->org, record.expedited, record.evidence_count, event->seq);
    return err != OK ? err : log_put_id_row(txn, TABLE_PROPOSAL_PENDING, &key, event->seq);
}

/* Changes the lists of each agent of a guideline that an event begins or ends. */
static enum err change_agents(struct store_txn *txn, const struct event *event,
                              const struct proposal *proposal, uint64_t activated_seq, bool begins)
{
    struct slice run = proposal->view.affected_agents.run;
    struct slice agent = {NULL, 0};
    enum err err = OK;

    while (err == OK && view_next(&run, &agent)) {
        struct key key = key_guideline_agent(event->org, agent, (uint8_t)proposal->view.rule_type,
                                             activated_seq, proposal->seq);
        struct key version = key_guideline_version(event->org, agent);

        err = begins ? log_put_id_row(txn, TABLE_GUIDELINE_AGENT, &key, proposal->seq)
                     : store_del(txn, TABLE_GUIDELINE_AGENT, key_slice(&key));
        if (err == OK) {
            err = log_put_id_row(txn, TABLE_GUIDELINE_VERSION, &version, event->seq);
        }
    }
    return err;
}

/* Puts a proposal into the lists in SHADOW of its agents, or takes it out. */
static enum err change_shadows(struct store_txn *txn, const struct event *event,
                               const struct proposal *proposal, bool begins)
{
    struct slice run = proposal->view.affected_agents.run;
    struct slice agent = {NULL, 0};
    enum err err = OK;

    while (err == OK && view_next(&run, &agent)) {
        struct key key = key_guideline_shadow(event->org, agent, (uint8_t)proposal->view.rule_type,
                                              proposal->seq);

        err = begins ? log_put_id_row(txn, TABLE_GUIDELINE_AGENT, &key, proposal->seq)
                     : store_del(txn, TABLE_GUIDELINE_AGENT, key_slice(&key));
    }
    return err;
}

/* Removes the rows that a proposal has only while it is pending, as which it still is in `proposal`. */
static enum err leave_pending(struct store_txn *txn, const struct event *event,
                              const struct proposal *proposal)
{
    struct key key = key_proposal_pending(event->org, proposal->record.expedited,
                                          proposal->record.evidence_count, proposal->seq);
    enum err err = store_del(txn, TABLE_PROPOSAL_PENDING, key_slice(&key));

    return err != OK || proposal->record.life.state != ARTIFACT_STATE_SHADOW
               ? err
               : change_shadows(txn, event, proposal, false);
}

/* Ends a guideline in effect. */
static enum err end(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                    uint64_t proposal_seq)
{
    struct key key = key_guideline(event->org, proposal_seq);
    struct artifact_life_record before;
    struct proposal proposal;
    enum err err = proposal_read(txn, event->org, proposal_seq, &proposal);

    if (err == OK && !artifact_life_is_live(&proposal.record.life)) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    before = proposal.record.life;
    proposal.record.ended_seq = event->seq;
    artifact_life_decide(&proposal.record.life, ARTIFACT_STATE_RETIRED, event->seq);
    err = change_agents(txn, event, &proposal, proposal.record.activated_seq, false);
    if (err == OK) {
        err = store_del(txn, TABLE_GUIDELINE, key_slice(&key));
    }
    return err != OK ? err : put_row(ctx, txn, event->org, proposal_seq, &before, &proposal.record);
}

/* Makes a proposal a guideline, after those that it replaces have ended. */
static enum err activate(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                         const struct proposal_voted_view *vote, struct proposal *proposal)
{
    struct key key = key_guideline(event->org, proposal->seq);
    struct slice run = vote->retired_seqs.run;
    uint64_t retired = 0;
    enum err err = OK;

    while (err == OK && view_next_number(&run, &retired)) {
        err = end(ctx, txn, event, retired);
    }
    if (err == OK) {
        err = change_agents(txn, event, proposal, event->seq, true);
    }
    if (err == OK) {
        err = log_put_id_row(txn, TABLE_GUIDELINE, &key, event->seq);
    }
    proposal->record.activated_seq = event->seq;
    artifact_life_decide(&proposal->record.life, ARTIFACT_STATE_ACTIVE, event->seq);
    return err;
}

static enum err apply_voted(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct artifact_life_record before;
    struct proposal_voted_view vote;
    struct proposal proposal;
    enum err err = proposal_voted_view_read(event->facts, &vote);

    if (err == OK) {
        err = proposal_read(txn, event->org, vote.proposal_seq, &proposal);
    }
    if (err == OK && !proposal_is_pending(&proposal.record)) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    before = proposal.record.life;
    proposal.record.vote_seq = event->seq;
    if (vote.completed || vote.vote_kind == PROPOSAL_VOTE_KIND_REJECTED) {
        err = leave_pending(txn, event, &proposal);
    }
    if (err == OK && vote.completed) {
        err = activate(ctx, txn, event, &vote, &proposal);
    } else if (err == OK && vote.vote_kind == PROPOSAL_VOTE_KIND_REJECTED) {
        proposal.record.ended_seq = event->seq;
        artifact_life_decide(&proposal.record.life, ARTIFACT_STATE_REJECTED, event->seq);
    }
    return err != OK ? err : put_row(ctx, txn, event->org, proposal.seq, &before, &proposal.record);
}

/* The server's proposal to end a guideline, a person's decision to keep it, or to put a proposal in SHADOW. */
static enum err change_state(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                             uint64_t proposal_seq, enum artifact_state state)
{
    bool is_shadow = state == ARTIFACT_STATE_SHADOW;
    struct artifact_life_record before;
    struct proposal proposal;
    enum err err = proposal_read(txn, event->org, proposal_seq, &proposal);

    if (err == OK && !(is_shadow ? proposal_is_pending(&proposal.record)
                                 : artifact_life_is_live(&proposal.record.life))) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    before = proposal.record.life;
    if (state == ARTIFACT_STATE_SUNSET_PROPOSED) {
        artifact_life_derive(&proposal.record.life, state, event->seq);
    } else {
        proposal.record.kept_seq = is_shadow ? proposal.record.kept_seq : event->seq;
        artifact_life_decide(&proposal.record.life, state, event->seq);
    }
    err = is_shadow ? change_shadows(txn, event, &proposal, true) : OK;
    return err != OK ? err : put_row(ctx, txn, event->org, proposal_seq, &before, &proposal.record);
}

static enum err apply_sunset(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct guideline_sunset_proposed_view facts;
    enum err err = guideline_sunset_proposed_view_read(event->facts, &facts);

    return err != OK
               ? err
               : change_state(ctx, txn, event, facts.proposal_seq, ARTIFACT_STATE_SUNSET_PROPOSED);
}

/* Applies the state of a guideline; other artifacts have their own capability. */
static enum err apply_state_set(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct artifact_state_set_view facts;
    enum err err = artifact_state_set_view_read(event->facts, &facts);

    if (err != OK || facts.artifact_kind != ARTIFACT_KIND_GUIDELINE) {
        return err;
    }
    if (facts.state != ARTIFACT_STATE_SHADOW && facts.state != ARTIFACT_STATE_ACTIVE) {
        return ERR_CORRUPT;
    }
    return change_state(ctx, txn, event, facts.artifact_seq, facts.state);
}

static enum err apply_retired(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct guideline_retired_view retired;
    enum err err = guideline_retired_view_read(event->facts, &retired);

    return err != OK ? err : end(ctx, txn, event, retired.proposal_seq);
}

/* Moves a pending proposal to the place of one piece of evidence less; one without evidence is rejected. */
static enum err move_pending(struct store_txn *txn, const struct event *retraction,
                             struct proposal *proposal)
{
    struct proposal_record *record = &proposal->record;
    struct key before = key_proposal_pending(retraction->org, record->expedited,
                                             record->evidence_count, proposal->seq);
    struct key after = key_proposal_pending(retraction->org, record->expedited,
                                            record->evidence_count - 1, proposal->seq);
    enum err err = OK;

    if (record->evidence_count == 1) {
        err = leave_pending(txn, retraction, proposal);
        record->ended_seq = retraction->seq;
        artifact_life_derive(&record->life, ARTIFACT_STATE_REJECTED, retraction->seq);
        return err;
    }
    err = store_del(txn, TABLE_PROPOSAL_PENDING, key_slice(&before));
    return err != OK ? err : log_put_id_row(txn, TABLE_PROPOSAL_PENDING, &after, proposal->seq);
}

enum err proposal_lose_evidence(struct ctx *ctx, struct store_txn *txn,
                                const struct event *retraction, uint64_t proposal_seq)
{
    struct artifact_life_record before;
    struct proposal proposal;
    enum err err = proposal_read(txn, retraction->org, proposal_seq, &proposal);

    if (err == OK && proposal.record.evidence_count == 0) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    before = proposal.record.life;
    if (proposal_is_pending(&proposal.record)) {
        err = move_pending(txn, retraction, &proposal);
    }
    proposal.record.evidence_count--;
    return err != OK ? err
                     : put_row(ctx, txn, retraction->org, proposal_seq, &before, &proposal.record);
}

enum err guidelines_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    ASSERT(guidelines_applies(event->kind));
    if (event->kind == EVENT_PROPOSAL_CREATED) {
        return apply_created(ctx, txn, event);
    }
    if (event->kind == EVENT_GUIDELINE_SUNSET_PROPOSED) {
        return apply_sunset(ctx, txn, event);
    }
    if (event->kind == EVENT_ARTIFACT_STATE_SET) {
        return apply_state_set(ctx, txn, event);
    }
    return event->kind == EVENT_PROPOSAL_VOTED ? apply_voted(ctx, txn, event)
                                               : apply_retired(ctx, txn, event);
}
