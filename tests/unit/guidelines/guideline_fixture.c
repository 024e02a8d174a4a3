/*
 * guideline_fixture.c: see guideline_fixture.h.
 */
#include "tests/unit/guidelines/guideline_fixture.h"

#include "server/domain/settings/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <event_apply.h>

static struct event_caller caller_of(const char *user)
{
    return (struct event_caller){ROLE_REVIEWER, slice_text(user), 1, false};
}

static void make_org(struct store_fixture *fixture, struct store_txn *txn)
{
    struct event_draft draft = {.org = store_fixture_org(1),
                                .kind = EVENT_ORGANIZATION_CREATED,
                                .annotator = ANNOTATOR_HUMAN,
                                .source = SOURCE_SYSTEM,
                                .actor_user_id = SLICE("root")};
    struct event event;

    assert_int_equal(log_next_stamp(&fixture->ctx, txn, draft.org, &draft.stamp), OK);
    draft.created_at_us = draft.stamp.created_at_us;
    assert_int_equal(
        event_draft_add_id(&fixture->arena, &draft, SUBJECT_ORGANIZATION, draft.org.uuid), OK);
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), OK);
}

struct store_txn *guidelines_begin(struct store_fixture *fixture, uint32_t votes_needed)
{
    const struct settings_change change = {.votes_needed = votes_needed};
    struct store_txn *txn = store_fixture_begin(fixture);
    uint64_t seq = 0;

    make_org(fixture, txn);
    assert_int_equal(
        settings_update(&fixture->ctx, txn, store_fixture_org(1), SLICE("root"), &change, &seq),
        OK);
    return txn;
}

/* Stores a proposal that replaces some guidelines. */
static struct uuid store_proposal(struct store_fixture *fixture, struct store_txn *txn,
                                  struct proposal_input *input, const char *user, const char *agent)
{
    const struct slice agents[] = {slice_text(agent)};
    struct proposal proposal;
    uint64_t seq = 0;

    input->org = store_fixture_org(1);
    input->caller = caller_of(user);
    input->rule_type = RULE_TYPE_GUIDELINE;
    input->agents = agents;
    input->agent_count = 1;
    assert_int_equal(proposal_create(&fixture->ctx, txn, input, &seq), OK);
    assert_int_equal(proposal_read(txn, input->org, seq, &proposal), OK);
    return proposal.view.id;
}

struct uuid propose(struct store_fixture *fixture, struct store_txn *txn, const char *user,
                    const char *agent, const char *rule)
{
    struct proposal_input input = {.rule_content = slice_text(rule)};

    return store_proposal(fixture, txn, &input, user, agent);
}

struct uuid propose_merge(struct store_fixture *fixture, struct store_txn *txn, const char *user,
                          const char *agent, const char *rule, const struct uuid ids[2])
{
    struct proposal_input input = {
        .rule_content = slice_text(rule), .replaces = ids, .replaces_count = 2};

    return store_proposal(fixture, txn, &input, user, agent);
}

enum err approve_with(struct store_fixture *fixture, struct store_txn *txn,
                      struct proposal_vote_request request, const char *user)
{
    uint64_t seq = 0;
    enum err err = OK;

    request.org = store_fixture_org(1);
    request.caller = caller_of(user);
    if (request.kind == PROPOSAL_VOTE_KIND_UNSPECIFIED) {
        request.kind = PROPOSAL_VOTE_KIND_APPROVED;
    }
    err = guideline_gate(&fixture->ctx, txn, &request, &seq);
    fault_init(&fixture->fault, &fixture->arena);
    return err;
}

enum err vote(struct store_fixture *fixture, struct store_txn *txn, struct uuid id,
              enum proposal_vote_kind kind, const char *user)
{
    return approve_with(
        fixture, txn,
        (struct proposal_vote_request){.proposal_id = id, .kind = kind, .reason = SLICE("because")},
        user);
}

enum artifact_state state_of(struct store_txn *txn, struct uuid id)
{
    struct proposal proposal;

    assert_int_equal(proposal_find(txn, store_fixture_org(1), id, &proposal), OK);
    return (enum artifact_state)proposal.record.life.state;
}

size_t active_count(struct store_txn *txn, const char *agent)
{
    struct agent_guidelines list;

    assert_int_equal(agent_guidelines_read(txn, store_fixture_org(1), slice_text(agent), &list),
                     OK);
    return list.count;
}

size_t shadow_count(struct store_txn *txn, const char *agent)
{
    struct agent_guidelines list;

    assert_int_equal(agent_guidelines_read(txn, store_fixture_org(1), slice_text(agent), &list),
                     OK);
    return list.shadow_count;
}
