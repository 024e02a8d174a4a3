/*
 * gate_tests.c: who may vote, how many are needed, what a vote must acknowledge, and how many guidelines an agent has.
 */
#include "server/domain/artifacts/life.h"
#include "server/domain/guidelines/conflict_check.h"
#include "server/domain/learning/state.h"
#include "server/domain/settings/settings.h"
#include "tests/unit/guidelines/groups.h"
#include "tests/unit/guidelines/guideline_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define APPROVED PROPOSAL_VOTE_KIND_APPROVED
#define REJECTED PROPOSAL_VOTE_KIND_REJECTED
#define RETRACTED PROPOSAL_VOTE_KIND_RETRACTED

/* Goal: as many different approvers as the setting says, none of them the proposer. Method: votes in turn, with a second
 * one of the same user, one of the proposer, and one that is taken back. */
static void test_approval_needs_as_many_users_as_the_setting(void **state)
{
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 2);
    struct uuid id = propose(f, txn, "paul", "coder", "Set a timeout on each remote call.");

    assert_int_equal(vote(f, txn, id, APPROVED, "paul"), ERR_PRECONDITION);
    assert_int_equal(vote(f, txn, id, APPROVED, ""), ERR_DENIED);
    assert_int_equal(vote(f, txn, id, APPROVED, "anna"), OK);
    assert_int_equal(vote(f, txn, id, APPROVED, "anna"), OK);
    assert_int_equal(state_of(txn, id), ARTIFACT_STATE_PROPOSED);
    assert_int_equal(vote(f, txn, id, RETRACTED, "anna"), OK);
    assert_int_equal(vote(f, txn, id, RETRACTED, "anna"), OK);
    assert_int_equal(vote(f, txn, id, APPROVED, "berta"), OK);
    assert_int_equal(state_of(txn, id), ARTIFACT_STATE_PROPOSED);
    assert_int_equal(active_count(txn, "coder"), 0);
    assert_int_equal(vote(f, txn, id, APPROVED, "anna"), OK);
    assert_int_equal(state_of(txn, id), ARTIFACT_STATE_ACTIVE);
    assert_int_equal(active_count(txn, "coder"), 1);
    assert_int_equal(vote(f, txn, id, RETRACTED, "anna"), ERR_PRECONDITION);
    assert_int_equal(vote(f, txn, id, APPROVED, "carl"), ERR_PRECONDITION);
    store_abort(txn);
}

/* Goal: a vote belongs to the token's user. */
static void test_vote_belongs_to_the_tokens_user(void **state)
{
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 1);
    struct uuid id = propose(f, txn, "paul", "coder", "Set a timeout on each remote call.");

    assert_int_equal(approve_with(f, txn,
                                  (struct proposal_vote_request){.proposal_id = id,
                                                                 .approver_id = SLICE("berta")},
                                  "anna"),
                     ERR_DENIED);
    assert_int_equal(approve_with(f, txn,
                                  (struct proposal_vote_request){.proposal_id = id,
                                                                 .approver_id = SLICE("anna")},
                                  "anna"),
                     OK);
    assert_int_equal(state_of(txn, id), ARTIFACT_STATE_ACTIVE);
    store_abort(txn);
}

/* Goal: a rejected proposal is decided, and the number of votes is that of the time of the vote. */
static void test_rejected_proposal_is_decided(void **state)
{
    const struct settings_change one = {.votes_needed = 1};
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 3);
    struct uuid id = propose(f, txn, "paul", "coder", "Set a timeout on each remote call.");
    struct uuid other = propose(f, txn, "paul", "coder", "Sort imports in each module.");
    uint64_t seq = 0;

    assert_int_equal(vote(f, txn, id, REJECTED, "anna"), OK);
    assert_int_equal(state_of(txn, id), ARTIFACT_STATE_REJECTED);
    assert_int_equal(vote(f, txn, id, APPROVED, "berta"), ERR_PRECONDITION);
    assert_int_equal(vote(f, txn, other, APPROVED, "anna"), OK);
    assert_int_equal(state_of(txn, other), ARTIFACT_STATE_PROPOSED);
    assert_int_equal(settings_update(&f->ctx, txn, store_fixture_org(1), SLICE("root"), &one, &seq),
                     OK);
    assert_int_equal(vote(f, txn, other, APPROVED, "anna"), OK);
    assert_int_equal(state_of(txn, other), ARTIFACT_STATE_ACTIVE);
    store_abort(txn);
}

/* Goal: a contradiction with an active guideline of the same agent, or with a pending proposal, must be acknowledged. */
static void test_contradictions_must_be_acknowledged(void **state)
{
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 1);
    struct uuid tabs = propose(f, txn, "paul", "coder", "Indent with tabs.");
    struct uuid spaces = propose(f, txn, "paul", "coder", "Indent with spaces.");
    struct uuid writer = propose(f, txn, "paul", "writer", "Indent with spaces.");

    assert_int_equal(vote(f, txn, tabs, APPROVED, "anna"), ERR_PRECONDITION);
    assert_int_equal(approve_with(f, txn,
                                  (struct proposal_vote_request){.proposal_id = tabs,
                                                                 .acknowledged = &spaces,
                                                                 .acknowledged_count = 1},
                                  "anna"),
                     OK);
    assert_int_equal(vote(f, txn, spaces, APPROVED, "anna"), ERR_PRECONDITION);
    assert_int_equal(vote(f, txn, writer, APPROVED, "anna"), OK);
    assert_int_equal(approve_with(f, txn,
                                  (struct proposal_vote_request){.proposal_id = spaces,
                                                                 .acknowledged = &tabs,
                                                                 .acknowledged_count = 1},
                                  "anna"),
                     OK);
    store_abort(txn);
}

/* Different rules, which neither contradict nor repeat each other. */
static void fill(struct store_fixture *f, struct store_txn *txn, struct uuid *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char rule[64];

        (void)snprintf(rule, sizeof(rule), "Topic%zu needs the remedy%zu of chapter%zu.", i, i, i);
        ids[i] = propose(f, txn, "paul", "coder", rule);
        assert_int_equal(vote(f, txn, ids[i], APPROVED, "anna"), OK);
    }
}

/* Goal: an agent has at most 20 guidelines; one that is replaced, or retired by the approval, makes room. */
static void test_agent_has_at_most_20_guidelines(void **state)
{
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 1);
    struct uuid ids[GUIDELINES_OF_AGENT_MAX];
    const struct slice agents[] = {SLICE("coder"), SLICE("tester")};
    struct proposal_input input = {.org = store_fixture_org(1),
                                   .caller = {ROLE_REVIEWER, SLICE("paul"), 1, false},
                                   .rule_type = RULE_TYPE_CONSTRAINT,
                                   .agents = agents,
                                   .agent_count = 2,
                                   .rule_content = SLICE("Pin dependency versions.")};
    struct proposal merged;
    struct uuid more;
    uint64_t seq = 0;

    fill(f, txn, ids, GUIDELINES_OF_AGENT_MAX);
    more = propose(f, txn, "paul", "coder", "Sort imports alphabetically.");
    assert_int_equal(vote(f, txn, more, APPROVED, "anna"), ERR_PRECONDITION);
    assert_int_equal(state_of(txn, more), ARTIFACT_STATE_PROPOSED);
    assert_int_equal(
        approve_with(f, txn,
                     (struct proposal_vote_request){.proposal_id = more, .retire_id = ids[3]},
                     "anna"),
        OK);
    assert_int_equal(state_of(txn, ids[3]), ARTIFACT_STATE_RETIRED);
    assert_int_equal(active_count(txn, "coder"), GUIDELINES_OF_AGENT_MAX);
    input.replaces = ids;
    input.replaces_count = 2;
    assert_int_equal(proposal_create(&f->ctx, txn, &input, &seq), OK);
    assert_int_equal(proposal_read(txn, input.org, seq, &merged), OK);
    assert_int_equal(vote(f, txn, merged.view.id, APPROVED, "anna"), OK);
    assert_int_equal(active_count(txn, "coder"), GUIDELINES_OF_AGENT_MAX - 1);
    assert_int_equal(active_count(txn, "tester"), 1);
    assert_int_equal(state_of(txn, ids[0]), ARTIFACT_STATE_RETIRED);
    assert_int_equal(state_of(txn, ids[1]), ARTIFACT_STATE_RETIRED);
    store_abort(txn);
}

/* Goal: only a guideline in effect is retired, once. */
static void test_guideline_in_effect_is_retired_once(void **state)
{
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 1);
    struct guideline_retirement retirement = {.org = store_fixture_org(1),
                                              .caller = {ROLE_REVIEWER, SLICE("anna"), 1, false},
                                              .reason = SLICE("obsolete")};
    uint64_t seq = 0;

    retirement.guideline_id = propose(f, txn, "paul", "coder", "Sort imports alphabetically.");
    assert_int_equal(guideline_retire(&f->ctx, txn, &retirement, &seq), ERR_PRECONDITION);
    assert_int_equal(vote(f, txn, retirement.guideline_id, APPROVED, "anna"), OK);
    assert_int_equal(guideline_retire(&f->ctx, txn, &retirement, &seq), OK);
    assert_int_equal(active_count(txn, "coder"), 0);
    assert_int_equal(guideline_retire(&f->ctx, txn, &retirement, &seq), ERR_PRECONDITION);
    store_abort(txn);
}

/* Goal: a decision to keep a guideline in effect is a change of its state: each row ends where the next one begins, and
 * a read as of any event finds the row that began last. */
static void test_each_row_ends_where_the_next_begins(void **state)
{
    static const enum artifact_state states[] = {ARTIFACT_STATE_RETIRED, ARTIFACT_STATE_ACTIVE,
                                                 ARTIFACT_STATE_ACTIVE, ARTIFACT_STATE_PROPOSED};
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 1);
    struct uuid id = propose(f, txn, "paul", "coder", "Sort imports alphabetically.");
    const struct artifact_decision keep = {.org = store_fixture_org(1),
                                           .caller = {ROLE_REVIEWER, SLICE("anna"), 1, false},
                                           .artifact_id = id,
                                           .state = ARTIFACT_STATE_ACTIVE,
                                           .reason = SLICE("needed")};
    const struct guideline_retirement retirement = {
        .org = keep.org, .caller = keep.caller, .guideline_id = id, .reason = SLICE("obsolete")};
    struct artifact_life_record life = {.version = 0};
    struct artifact_life_record found = {.version = 0};
    struct proposal proposal;
    struct scan scan = {0};
    uint64_t kept_seq = 0;
    uint64_t end_seq = 0;
    uint64_t seq = 0;

    assert_int_equal(vote(f, txn, id, APPROVED, "anna"), OK);
    assert_int_equal(artifact_set_state(&f->ctx, txn, &keep, &kept_seq), OK);
    assert_int_equal(guideline_retire(&f->ctx, txn, &retirement, &seq), OK);
    assert_int_equal(proposal_find(txn, keep.org, id, &proposal), OK);
    assert_int_equal(artifact_life_scan(&scan, txn, keep.org, proposal.seq), OK);
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        assert_int_equal(artifact_life_next(&scan, &life), OK);
        assert_int_equal(life.state, states[i]);
        assert_int_equal(life.valid_to_seq, end_seq);
        end_seq = life.valid_from_seq;
    }
    assert_int_equal(artifact_life_next(&scan, &life), ERR_NOT_FOUND);
    scan_deinit(&scan);
    assert_int_equal(artifact_life_read_as_of(txn, keep.org, proposal.seq, kept_seq, &found), OK);
    assert_int_equal(found.valid_from_seq, kept_seq);
    store_abort(txn);
}

/* Goal: every invalid field of a proposal is named at once, and nothing is stored. */
static void test_invalid_proposal_names_all_fields_and_stores_nothing(void **state)
{
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 1);
    const struct slice agents[] = {SLICE("coder"), SLICE("coder")};
    const struct uuid unknown = {{7}};
    const struct proposal_input input = {.org = store_fixture_org(1),
                                         .caller = {ROLE_REVIEWER, SLICE("paul"), 1, false},
                                         .rule_type = RULE_TYPE_GUIDELINE,
                                         .agents = agents,
                                         .agent_count = 2,
                                         .insertion_point = SLICE("no name"),
                                         .replaces = &unknown,
                                         .replaces_count = 1,
                                         .rule_content = SLICE("{{{{}}}}")};
    uint64_t seq = 0;

    assert_int_equal(proposal_create(&f->ctx, txn, &input, &seq), ERR_INVALID);
    assert_int_equal(f->fault.count, 4);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_PROPOSAL, input.org), 0);
    store_abort(txn);
}

int run_gate_tests(void)
{
    const struct CMUnitTest tests[] = {
#define GATE_TEST(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, store_fixture_set_up, store_fixture_tear_down)
        GATE_TEST(test_approval_needs_as_many_users_as_the_setting),
        GATE_TEST(test_vote_belongs_to_the_tokens_user),
        GATE_TEST(test_rejected_proposal_is_decided),
        GATE_TEST(test_contradictions_must_be_acknowledged),
        GATE_TEST(test_agent_has_at_most_20_guidelines),
        GATE_TEST(test_guideline_in_effect_is_retired_once),
        GATE_TEST(test_each_row_ends_where_the_next_begins),
        GATE_TEST(test_invalid_proposal_names_all_fields_and_stores_nothing),
    };

    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
