/*
 * gate.c: see gate.h. Everything that may refuse a vote is checked before anything is put.
 */
#include "server/domain/guidelines/gate.h"

#include "server/domain/artifacts/artifacts.h"
#include "server/domain/artifacts/life.h"
#include "server/domain/guidelines/conflict_check.h"
#include "server/domain/settings/settings.h"

#include <event_apply.h>

/* Guidelines that a refusal for capacity names as the weakest. */
#define WEAKEST_NAMED 3
/* Maximum guidelines that end with an approval: those that it replaces, and one more. */
#define ENDED_MAX (PROPOSAL_REPLACES_MAX + 1)

/* A vote that is being decided. */
struct deciding {
    const struct proposal_vote_request *request;
    struct proposal proposal;
    struct slice agents[PROPOSAL_AGENTS_MAX];
    size_t agent_count;
    struct uuid replaced_ids[PROPOSAL_REPLACES_MAX];
    size_t replaced_count;
    struct slice votes_run; /* votes so far, as messages of ProposalVoted */
    uint32_t vote_count;
    bool has_voted;
    uint32_t needed;
    bool completes;
    struct proposal ended[ENDED_MAX]; /* guidelines that end with it */
    size_t ended_count;
    struct found_conflicts conflicts;
};

/* --- rights --- */

static enum err check_voter(struct ctx *ctx, const struct proposal_vote_request *request)
{
    struct slice named = request->approver_id;
    struct slice user = request->caller.user_id;

    if (user.size == 0) {
        return fault_say(ctx->fault, ERR_DENIED,
                         "the token has no user, so it cannot vote; expected a token of a "
                         "reviewer, such as `errata token create --role REVIEWER --user NAME` "
                         "makes");
    }
    if (named.size > 0 && !slice_equal(named, user)) {
        named = fault_shorten(ctx->fault, named);
        return fault_say(ctx->fault, ERR_DENIED,
                         "approver_id: '%.*s' is not the token's user; expected the token's user, "
                         "or no value",
                         (int)named.size, (const char *)named.data);
    }
    return OK;
}

static enum err find(struct ctx *ctx, struct store_txn *txn, struct deciding *deciding)
{
    const struct proposal_vote_request *request = deciding->request;
    enum err err = proposal_find(txn, request->org, request->proposal_id, &deciding->proposal);

    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, err,
                         "proposal_id: not found in this organisation; expected the id of a "
                         "proposal");
    }
    if (err == OK && !proposal_is_pending(&deciding->proposal.record)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "proposal_id: the proposal was decided; expected a pending one");
    }
    return err;
}

/* The proposer of a rule, and the only reviewer who requested it, may not approve it. */
static enum err check_separation(struct ctx *ctx, const struct deciding *deciding)
{
    if (slice_equal(deciding->proposal.view.proposed_by, deciding->request->caller.user_id)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "proposal_id: the token's user proposed it; expected the vote of another "
                         "user");
    }
    if (deciding->proposal.view.sole_author.size > 0 &&
        slice_equal(deciding->proposal.view.sole_author, deciding->request->caller.user_id)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "proposal_id: all its decisions are by the token's user; expected the "
                         "vote of another user");
    }
    return OK;
}

/* --- reading --- */

static enum err read_lists(struct deciding *deciding)
{
    const struct proposal_view *view = &deciding->proposal.view;
    struct slice run = view->affected_agents.run;
    struct slice text = {NULL, 0};

    while (view_next(&run, &text)) {
        if (deciding->agent_count == PROPOSAL_AGENTS_MAX) {
            return ERR_CORRUPT;
        }
        deciding->agents[deciding->agent_count++] = text;
    }
    run = view->replaces_guideline_ids.run;
    while (view_next(&run, &text)) {
        if (deciding->replaced_count == PROPOSAL_REPLACES_MAX ||
            !uuid_parse(text, &deciding->replaced_ids[deciding->replaced_count])) {
            return ERR_CORRUPT;
        }
        deciding->replaced_count++;
    }
    return OK;
}

/* Reads the votes so far; the caller's own is left out if it is retracted. */
static enum err read_votes(struct ctx *ctx, struct store_txn *txn, struct deciding *deciding)
{
    const struct proposal_vote_request *request = deciding->request;
    struct proposal_voted_view last = {.votes_needed = 0};
    struct slice message = {NULL, 0};
    struct buffer run;
    struct event event;
    enum err err = OK;

    if (deciding->proposal.record.vote_seq != 0) {
        err = log_read(txn, request->org, deciding->proposal.record.vote_seq, &event);
        if (err == OK) {
            err = proposal_voted_view_read(event.facts, &last);
        }
    }
    buffer_init(&run, ctx->arena, last.votes.run.size);
    while (err == OK && view_next(&last.votes.run, &message)) {
        struct proposal_vote_view vote;
        bool is_own = false;

        err = proposal_vote_view_read(message, &vote);
        is_own = err == OK && slice_equal(vote.approver_id, request->caller.user_id);
        deciding->has_voted = deciding->has_voted || is_own;
        if (err == OK && !(is_own && request->kind == PROPOSAL_VOTE_KIND_RETRACTED)) {
            proposal_vote_view_put(&vote, PROPOSAL_VOTED_VOTES_FIELD, &run);
            deciding->vote_count++;
        }
    }
    deciding->votes_run = buffer_slice(&run);
    if (err == OK && !buffer_ok(&run)) {
        err = ERR_MEMORY;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* --- conflicts --- */

static bool is_acknowledged(const struct proposal_vote_request *request, struct uuid id)
{
    for (size_t i = 0; i < request->acknowledged_count; i++) {
        if (uuid_equal(request->acknowledged[i], id)) {
            return true;
        }
    }
    return false;
}

static enum err check_conflicts(struct ctx *ctx, struct store_txn *txn, struct deciding *deciding)
{
    const struct conflict_query query = {
        .org = deciding->request->org,
        .rule = deciding->proposal.view.rule_content,
        .agents = deciding->agents,
        .agent_count = deciding->agent_count,
        .except_seq = deciding->proposal.seq,
        .except_ids = deciding->replaced_ids,
        .except_count = deciding->replaced_count,
    };
    struct found_conflicts *found = &deciding->conflicts;
    struct buffer open;
    enum err err = conflicts_find(ctx->arena, txn, &query, found);

    buffer_init(&open, ctx->arena, 0);
    for (size_t i = 0; i < found->count && err == OK; i++) {
        char id[UUID_TEXT_BYTES + 1] = "";

        if (found->items[i].kind == RULE_CONFLICT_KIND_CONTRADICTION &&
            !is_acknowledged(deciding->request, found->items[i].id)) {
            uuid_format(found->items[i].id, id);
            buffer_printf(&open, "%s%s (%.*s)", open.size > 0 ? ", " : "", id,
                          (int)found->items[i].reason.size,
                          (const char *)found->items[i].reason.data);
        }
    }
    if (err == OK && open.size > 0) {
        return fault_say(
            ctx->fault, ERR_PRECONDITION,
            "acknowledged_guideline_ids: the rule contradicts %.*s; expected their ids",
            (int)open.size, (const char *)open.data);
    }
    return err;
}

/* --- capacity --- */

static bool is_ended(const struct deciding *deciding, uint64_t seq)
{
    for (size_t i = 0; i < deciding->ended_count; i++) {
        if (deciding->ended[i].seq == seq) {
            return true;
        }
    }
    return false;
}

/* Adds a guideline that ends with the approval; it must be in effect. */
static enum err add_ended(struct ctx *ctx, struct store_txn *txn, struct uuid id, const char *field,
                          struct deciding *deciding)
{
    struct proposal *ended = &deciding->ended[deciding->ended_count];
    enum err err = proposal_find(txn, deciding->request->org, id, ended);

    if (err == ERR_NOT_FOUND || (err == OK && !artifact_life_is_live(&ended->record.life))) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "%s: the guideline is not in effect; expected an active one", field);
    }
    if (err == OK && !is_ended(deciding, ended->seq)) {
        deciding->ended_count++;
    }
    return err;
}

static enum err read_ended(struct ctx *ctx, struct store_txn *txn, struct deciding *deciding)
{
    const struct uuid nil = {{0}};
    struct uuid retire_id = deciding->request->retire_id;
    enum err err = OK;

    for (size_t i = 0; i < deciding->replaced_count && err == OK; i++) {
        err = add_ended(ctx, txn, deciding->replaced_ids[i], "replaces_guideline_ids", deciding);
    }
    if (err == OK && !uuid_equal(retire_id, nil)) {
        err = add_ended(ctx, txn, retire_id, "retire_guideline_id", deciding);
    }
    return err;
}

/* Returns the share of bad outcomes of a guideline in millionths; guidelines without outcomes come first. */
static enum err read_weakness(struct store_txn *txn, struct org_id org, uint64_t seq,
                              uint64_t *ret_weakness)
{
    struct artifact_record record;
    enum err err = artifact_read(txn, org, seq, &record);
    uint64_t outcomes = record.none.outcome_count + record.treatment.outcome_count;
    uint64_t bad = record.none.bad_count + record.treatment.bad_count;

    if (err == OK) {
        *ret_weakness = outcomes == 0 ? UINT64_MAX : bad * 1000000 / outcomes;
    }
    return err;
}

/* Lists the weakest guidelines of an agent. */
static enum err name_weakest(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct agent_guidelines *list, struct slice *ret_names)
{
    uint64_t weakness[GUIDELINES_OF_AGENT_MAX] = {0};
    bool is_named[GUIDELINES_OF_AGENT_MAX] = {false};
    struct buffer names;
    enum err err = OK;

    buffer_init(&names, ctx->arena, WEAKEST_NAMED * (UUID_TEXT_BYTES + 2));
    for (size_t i = 0; i < list->count && err == OK; i++) {
        err = read_weakness(txn, org, list->seqs[i], &weakness[i]);
    }
    for (size_t n = 0; n < WEAKEST_NAMED && n < list->count && err == OK; n++) {
        struct proposal proposal;
        size_t best = GUIDELINES_OF_AGENT_MAX;
        char id[UUID_TEXT_BYTES + 1] = "";

        for (size_t i = 0; i < list->count; i++) {
            if (!is_named[i] && (best == GUIDELINES_OF_AGENT_MAX || weakness[i] > weakness[best])) {
                best = i;
            }
        }
        is_named[best] = true;
        err = proposal_read(txn, org, list->seqs[best], &proposal);
        if (err == OK) {
            uuid_format(proposal.view.id, id);
            buffer_printf(&names, "%s%s", n > 0 ? ", " : "", id);
        }
    }
    *ret_names = buffer_slice(&names);
    return err == OK && !buffer_ok(&names) ? ERR_MEMORY : err;
}

/* Explains that an agent has no room, and which guidelines could be merged or retired. */
static enum err refuse_full(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                            struct slice agent, const struct agent_guidelines *list)
{
    struct closest_pair pair;
    struct slice weakest = {NULL, 0};
    char ids[2][UUID_TEXT_BYTES + 1] = {"", ""};
    enum err err = conflicts_find_closest(ctx->arena, txn, org, list, &pair);

    if (err == OK) {
        err = name_weakest(ctx, txn, org, list, &weakest);
    }
    if (err != OK) {
        return err;
    }
    uuid_format(pair.ids[0], ids[0]);
    uuid_format(pair.ids[1], ids[1]);
    agent = fault_shorten(ctx->fault, agent);
    return fault_say(ctx->fault, ERR_PRECONDITION,
                     "proposal_id: agent '%.*s' has %d active guidelines; expected a "
                     "retire_guideline_id, or a proposal that replaces some: the closest to each "
                     "other are %s and %s (%.2f of their words), the weakest %.*s",
                     (int)agent.size, (const char *)agent.data, GUIDELINES_OF_AGENT_MAX, ids[0],
                     ids[1], pair.score, (int)weakest.size, (const char *)weakest.data);
}

static enum err check_room(struct ctx *ctx, struct store_txn *txn, struct deciding *deciding)
{
    struct org_id org = deciding->request->org;
    enum err err = read_ended(ctx, txn, deciding);

    for (size_t i = 0; i < deciding->agent_count && err == OK; i++) {
        struct agent_guidelines list;
        size_t left = 0;

        err = agent_guidelines_read(txn, org, deciding->agents[i], &list);
        for (size_t j = 0; j < list.count && err == OK; j++) {
            left += is_ended(deciding, list.seqs[j]) ? 0 : 1;
        }
        if (err == OK && left >= GUIDELINES_OF_AGENT_MAX) {
            err = refuse_full(ctx, txn, org, deciding->agents[i], &list);
        }
    }
    return err;
}

/* --- deciding --- */

/* Returns whether the vote makes it a guideline. A second vote of one user counts once. */
static enum err decide_approval(struct ctx *ctx, struct store_txn *txn, struct deciding *deciding)
{
    enum err err = check_separation(ctx, deciding);

    if (err == OK) {
        err = check_conflicts(ctx, txn, deciding);
    }
    if (err != OK) {
        return err;
    }
    deciding->completes = deciding->vote_count + (deciding->has_voted ? 0 : 1) >= deciding->needed;
    return deciding->completes ? check_room(ctx, txn, deciding) : OK;
}

static enum err decide(struct ctx *ctx, struct store_txn *txn, struct deciding *deciding)
{
    struct settings settings;
    enum err err = check_voter(ctx, deciding->request);

    if (err == OK) {
        err = find(ctx, txn, deciding);
    }
    if (err == OK) {
        err = read_lists(deciding);
    }
    if (err == OK) {
        err = read_votes(ctx, txn, deciding);
    }
    if (err == OK) {
        err = settings_read(txn, deciding->request->org, &settings);
    }
    if (err != OK) {
        return err;
    }
    deciding->needed = settings.votes_needed;
    return deciding->request->kind == PROPOSAL_VOTE_KIND_APPROVED
               ? decide_approval(ctx, txn, deciding)
               : OK;
}

static void put_ids(const struct proposal_vote_request *request, struct buffer *run)
{
    for (size_t i = 0; i < request->acknowledged_count; i++) {
        char text[UUID_TEXT_BYTES];

        uuid_format(request->acknowledged[i], text);
        proposal_voted_view_add_acknowledged_guideline_ids(run, slice_of(text, UUID_TEXT_BYTES));
    }
}

static enum err encode(struct ctx *ctx, const struct deciding *deciding, struct event_draft *draft)
{
    const struct proposal_vote_request *request = deciding->request;
    const struct proposal_vote_view vote = {.approver_id = draft->actor_user_id,
                                            .voted_at_us = draft->created_at_us,
                                            .has_voted_at = true};
    struct proposal_voted_view facts = {.proposal_id = request->proposal_id,
                                        .proposal_seq = deciding->proposal.seq,
                                        .vote_kind = request->kind,
                                        .completed = deciding->completes,
                                        .votes_needed = deciding->needed,
                                        .reason = request->reason};
    struct buffer votes;
    struct buffer ids;
    struct buffer ended;
    struct buffer conflicts;

    buffer_init(&votes, ctx->arena, deciding->votes_run.size + 256);
    buffer_init(&ids, ctx->arena, 0);
    buffer_init(&ended, ctx->arena, 0);
    buffer_init(&conflicts, ctx->arena, 0);
    buffer_append(&votes, deciding->votes_run);
    if (request->kind == PROPOSAL_VOTE_KIND_APPROVED && !deciding->has_voted) {
        proposal_vote_view_put(&vote, PROPOSAL_VOTED_VOTES_FIELD, &votes);
    }
    put_ids(request, &ids);
    for (size_t i = 0; i < deciding->ended_count; i++) {
        proposal_voted_view_add_retired_seqs(&ended, deciding->ended[i].seq);
    }
    conflicts_put(&deciding->conflicts, PROPOSAL_VOTED_CONFLICTS_FIELD, &conflicts);
    facts.votes.run = buffer_slice(&votes);
    facts.acknowledged_guideline_ids.run = buffer_slice(&ids);
    facts.retired_seqs.run = buffer_slice(&ended);
    facts.conflicts.run = buffer_slice(&conflicts);
    return buffer_ok(&votes) && buffer_ok(&ids) && buffer_ok(&ended) && buffer_ok(&conflicts) &&
                   view_encode_parts(&proposal_voted_view_type, &facts, ctx->arena, &draft->facts,
                                     &draft->content)
               ? OK
               : ERR_MEMORY;
}

enum err guideline_gate(struct ctx *ctx, struct store_txn *txn,
                        const struct proposal_vote_request *request, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    struct deciding *deciding = arena_calloc(ctx->arena, 1, sizeof(*deciding));
    struct event_draft draft = {.org = request->org,
                                .kind = EVENT_PROPOSAL_VOTED,
                                .annotator = ANNOTATOR_HUMAN,
                                .actor_user_id = request->caller.user_id};
    enum err err = deciding != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        deciding->request = request;
        err = decide(ctx, txn, deciding);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err == OK) {
        err = encode(ctx, deciding, &draft);
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_PROPOSAL, request->proposal_id);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, guidelines_apply, ret_seq);
}
