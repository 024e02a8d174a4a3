/*
 * proposal_output.c: proposals and guidelines as messages; see proposals.h. Later changes are in
 * the last vote, and in the event that ended a guideline.
 */
#include "server/domain/guidelines/proposals.h"

#include <errata/v1/event.views.h>

static enum err read_vote(struct store_txn *txn, struct org_id org, uint64_t seq,
                          struct event *ret_event, struct proposal_voted_view *ret_vote)
{
    enum err err = log_read(txn, org, seq, ret_event);

    if (err == OK && ret_event->kind != EVENT_PROPOSAL_VOTED) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = view_read_parts(&proposal_voted_view_type, ret_event->facts, ret_event->content,
                              ret_vote);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Rewrites a list of messages under the field number of another message. */
static enum err renumber(struct arena *arena, struct slice run, uint32_t field,
                         struct slice *ret_run)
{
    struct slice message = {NULL, 0};
    struct buffer copy;

    buffer_init(&copy, arena, run.size + run.size / 4);
    while (view_next(&run, &message)) {
        wire_put_bytes(&copy, field, message);
    }
    *ret_run = buffer_slice(&copy);
    return buffer_ok(&copy) ? OK : ERR_MEMORY;
}

/* Adds the changes of a vote. */
static enum err add_vote(struct arena *arena, const struct event *event,
                         const struct proposal_voted_view *vote, struct proposal_view *view)
{
    bool is_rejection = vote->vote_kind == PROPOSAL_VOTE_KIND_REJECTED;
    enum err err = renumber(arena, vote->votes.run, PROPOSAL_VOTES_FIELD, &view->votes.run);

    if (err == OK && vote->vote_kind == PROPOSAL_VOTE_KIND_APPROVED) {
        err = renumber(arena, vote->conflicts.run, PROPOSAL_CONFLICTS_FIELD, &view->conflicts.run);
    }
    view->votes_needed = vote->votes_needed;
    if (vote->completed || is_rejection) {
        view->status = is_rejection ? PROPOSAL_STATUS_REJECTED : PROPOSAL_STATUS_APPROVED;
        view->decided_at_us = event->created_at_us;
        view->has_decided_at = true;
    }
    if (is_rejection) {
        view->rejected_by = event->actor_user_id;
        view->has_rejected_by = true;
        view->rejection_reason = vote->reason;
    }
    return err;
}

/* Adds that all evidence was retracted, if that ended the proposal. */
static enum err add_retraction(struct store_txn *txn, const struct proposal *proposal,
                               struct proposal_view *view)
{
    struct event event;
    enum err err = OK;

    if (proposal->record.life.state != ARTIFACT_STATE_REJECTED ||
        proposal->record.ended_seq == proposal->record.vote_seq) {
        return OK;
    }
    err = log_read(txn, proposal->event.org, proposal->record.ended_seq, &event);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view->status = PROPOSAL_STATUS_REJECTED;
    view->decided_at_us = event.created_at_us;
    view->has_decided_at = true;
    view->rejected_by = event.actor_user_id;
    view->has_rejected_by = event.actor_user_id.size > 0;
    view->rejection_reason = SLICE("evidence retracted");
    return OK;
}

enum err proposal_put(struct arena *arena, struct store_txn *txn, const struct proposal *proposal,
                      uint32_t field, struct buffer *body)
{
    struct proposal_view view = proposal->view;
    struct proposal_voted_view vote;
    struct event event;
    enum err err = OK;

    if (proposal->record.vote_seq != 0) {
        err = read_vote(txn, proposal->event.org, proposal->record.vote_seq, &event, &vote);
        if (err == OK) {
            err = add_vote(arena, &event, &vote, &view);
        }
    }
    if (err == OK) {
        err = add_retraction(txn, proposal, &view);
    }
    view.in_shadow = proposal->record.life.state == ARTIFACT_STATE_SHADOW;
    if (err == OK) {
        proposal_view_put(&view, field, body);
    }
    return err;
}

enum err proposal_put_event(struct arena *arena, struct store_txn *txn, const struct event *event,
                            uint32_t field, struct buffer *body)
{
    struct proposal_view view;
    struct proposal_voted_view vote;
    struct event again;
    struct event created = *event;
    bool is_vote = event->kind == EVENT_PROPOSAL_VOTED;
    enum err err = is_vote ? read_vote(txn, event->org, event->seq, &again, &vote) : OK;

    if (err == OK && is_vote) {
        err = log_read(txn, event->org, vote.proposal_seq, &created);
    }
    if (err == OK && created.kind != EVENT_PROPOSAL_CREATED) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = view_read_parts(&proposal_view_type, created.facts, created.content, &view);
    }
    if (err == OK && is_vote) {
        err = add_vote(arena, event, &vote, &view);
    }
    if (err == OK) {
        proposal_view_put(&view, field, body);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Adds who ended a guideline, and the reason. */
static enum err add_end(struct store_txn *txn, const struct proposal *proposal,
                        struct guideline_view *view)
{
    struct guideline_retired_view retired;
    struct event event;
    enum err err = log_read(txn, proposal->event.org, proposal->record.ended_seq, &event);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view->retired_at_us = event.created_at_us;
    view->has_retired_at = true;
    view->retired_by = event.actor_user_id;
    view->has_retired_by = event.actor_user_id.size > 0;
    if (event.kind != EVENT_GUIDELINE_RETIRED) {
        view->retirement_reason = SLICE("replaced");
        return OK;
    }
    err = view_read_parts(&guideline_retired_view_type, event.facts, event.content, &retired);
    view->retirement_reason = retired.reason;
    return err;
}

/* Sets the members of a guideline that its proposal determines. */
static void set_rule(const struct proposal *proposal, struct guideline_view *view)
{
    const struct proposal_view *from = &proposal->view;

    *view = (struct guideline_view){
        .id = from->id,
        .rule_type = from->rule_type,
        .affected_agents = from->affected_agents,
        .insertion_point =
            from->has_insertion_point ? from->insertion_point : SLICE(RULE_INSERTION_POINT_DEFAULT),
        .rule_content = from->rule_content,
    };
}

/* Sets the members of a guideline, except how it ended; its votes are in the arena. */
static enum err set_guideline(struct arena *arena, struct store_txn *txn,
                              const struct proposal *proposal, struct guideline_view *view)
{
    struct proposal_voted_view vote;
    struct event event;
    enum err err =
        proposal->record.activated_seq != 0
            ? read_vote(txn, proposal->event.org, proposal->record.activated_seq, &event, &vote)
            : ERR_CORRUPT;

    if (err != OK) {
        return err;
    }
    set_rule(proposal, view);
    view->activated_at_us = event.created_at_us;
    view->has_activated_at = true;
    return renumber(arena, vote.votes.run, GUIDELINE_VOTES_FIELD, &view->votes.run);
}

enum err guideline_encode_active(struct arena *arena, struct store_txn *txn,
                                 const struct proposal *proposal, struct slice *ret_guideline)
{
    struct guideline_view view;
    enum err err = set_guideline(arena, txn, proposal, &view);

    if (err != OK) {
        return err;
    }
    return view_encode(&guideline_view_type, &view, arena, ret_guideline) ? OK : ERR_MEMORY;
}

enum err guideline_encode_shadow(struct arena *arena, const struct proposal *proposal,
                                 struct slice *ret_guideline)
{
    struct guideline_view view;

    set_rule(proposal, &view);
    return view_encode(&guideline_view_type, &view, arena, ret_guideline) ? OK : ERR_MEMORY;
}

/* Sets the members of a guideline as it is now. */
static enum err set_now(struct arena *arena, struct store_txn *txn, const struct proposal *proposal,
                        struct guideline_view *view)
{
    enum err err = set_guideline(arena, txn, proposal, view);

    if (err == OK && proposal->record.ended_seq != 0) {
        err = add_end(txn, proposal, view);
    }
    view->retracted_evidence_count =
        proposal->view.created_from_feedback_ids.count - proposal->record.evidence_count;
    view->sunset_proposed = proposal->record.life.state == ARTIFACT_STATE_SUNSET_PROPOSED;
    return err;
}

enum err guideline_encode(struct arena *arena, struct store_txn *txn,
                          const struct proposal *proposal, struct slice *ret_guideline)
{
    struct guideline_view view;
    enum err err = set_now(arena, txn, proposal, &view);

    if (err != OK) {
        return err;
    }
    return view_encode(&guideline_view_type, &view, arena, ret_guideline) ? OK : ERR_MEMORY;
}

enum err guideline_put(struct store_txn *txn, const struct proposal *proposal, uint32_t field,
                       struct buffer *body)
{
    struct guideline_view view;
    enum err err = set_now(body->arena, txn, proposal, &view);

    if (err == OK) {
        guideline_view_put(&view, field, body);
    }
    return err;
}
