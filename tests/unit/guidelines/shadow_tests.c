/*
 * shadow_tests.c: proposals in SHADOW: no prompt and no list of guidelines has them, an exposure names them, and votes
 * and rejections end the state; the permitted proposals and their number.
 */
#include "server/domain/guidelines/agent_prompt.h"
#include "server/domain/learning/state.h"
#include "store/page.h"
#include "tests/unit/guidelines/groups.h"
#include "tests/unit/guidelines/guideline_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static enum err set_state(struct store_fixture *f, struct store_txn *txn, struct uuid id,
                          enum artifact_state state)
{
    const struct artifact_decision decision = {.org = store_fixture_org(1),
                                               .caller = {ROLE_REVIEWER, SLICE("anna"), 1, false},
                                               .artifact_id = id,
                                               .state = state,
                                               .reason = SLICE("measure it first")};
    uint64_t seq = 0;
    enum err err = artifact_set_state(&f->ctx, txn, &decision, &seq);

    fault_init(&f->fault, &f->arena);
    return err;
}

static bool never(const void *user)
{
    (void)user;
    return false;
}

/* Builds the prompt of "coder" on "A", and the exposure of it. */
static struct exposure expose(struct store_fixture *f, struct store_txn *txn,
                              struct agent_prompt *prompt)
{
    const struct agent_prompt_query query = {.org = store_fixture_org(1),
                                             .agent = SLICE("coder"),
                                             .base = SLICE("A"),
                                             .is_cancelled = never};
    struct exposure exposure;

    assert_int_equal(agent_prompt_build(&f->arena, txn, &query, prompt), OK);
    assert_int_equal(agent_prompt_expose(&f->arena, prompt, &exposure), OK);
    return exposure;
}

/* Goal: a proposal in SHADOW changes neither a prompt nor its version; the exposure names it last. Once approved, it is in
 * the prompt, and not in SHADOW any more. */
static void test_only_the_exposure_names_it(void **state)
{
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 1);
    struct uuid active = propose(f, txn, "paul", "coder", "Sort imports alphabetically.");
    struct uuid tried = propose(f, txn, "paul", "coder", "Pin dependency versions.");
    struct agent_prompt before;
    struct agent_prompt prompt;
    struct exposure exposure;
    struct slice again = {NULL, 0};
    struct proposal proposal;

    assert_int_equal(vote(f, txn, active, PROPOSAL_VOTE_KIND_APPROVED, "anna"), OK);
    (void)expose(f, txn, &before);
    assert_int_equal(set_state(f, txn, tried, ARTIFACT_STATE_SHADOW), OK);
    assert_int_equal(set_state(f, txn, tried, ARTIFACT_STATE_SHADOW), OK);
    assert_int_equal(proposal_find(txn, store_fixture_org(1), tried, &proposal), OK);
    exposure = expose(f, txn, &prompt);
    assert_true(slice_equal(prompt.text, before.text) && prompt.version == before.version);
    assert_int_equal(prompt.count, 1);
    assert_int_equal(exposure.artifact_count, 2);
    assert_false(exposure.artifacts[0].shadow);
    assert_true(exposure.artifacts[1].shadow && exposure.artifacts[1].seq == proposal.seq);
    assert_int_equal(agent_prompt_build_again(&f->arena, txn, store_fixture_org(1), &exposure,
                                              SLICE("A"), &again),
                     OK);
    assert_true(slice_equal(again, before.text));
    assert_int_equal(active_count(txn, "coder"), 1);
    assert_int_equal(vote(f, txn, tried, PROPOSAL_VOTE_KIND_APPROVED, "anna"), OK);
    assert_int_equal(shadow_count(txn, "coder"), 0);
    exposure = expose(f, txn, &prompt);
    assert_true(exposure.artifact_count == 2 && !exposure.artifacts[1].shadow);
    assert_int_equal(prompt.count, 2);
    store_abort(txn);
}

/* Goal: only a pending proposal can be put in SHADOW, and votes of that time count. A rejection ends it. */
static void test_only_pending_proposals_are_put_in_shadow(void **state)
{
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 2);
    struct uuid id = propose(f, txn, "paul", "coder", "Sort imports alphabetically.");

    assert_int_equal(vote(f, txn, id, PROPOSAL_VOTE_KIND_APPROVED, "anna"), OK);
    assert_int_equal(set_state(f, txn, id, ARTIFACT_STATE_ACTIVE), ERR_PRECONDITION);
    assert_int_equal(set_state(f, txn, id, ARTIFACT_STATE_RETIRED), ERR_PRECONDITION);
    assert_int_equal(set_state(f, txn, id, ARTIFACT_STATE_SHADOW), OK);
    assert_int_equal(set_state(f, txn, id, ARTIFACT_STATE_ACTIVE), ERR_PRECONDITION);
    assert_int_equal(set_state(f, txn, id, ARTIFACT_STATE_RETIRED), ERR_PRECONDITION);
    assert_int_equal(vote(f, txn, id, PROPOSAL_VOTE_KIND_APPROVED, "paul"), ERR_PRECONDITION);
    assert_int_equal(vote(f, txn, id, PROPOSAL_VOTE_KIND_RETRACTED, "anna"), OK);
    assert_int_equal(vote(f, txn, id, PROPOSAL_VOTE_KIND_APPROVED, "anna"), OK);
    assert_int_equal(state_of(txn, id), ARTIFACT_STATE_SHADOW);
    assert_int_equal(vote(f, txn, id, PROPOSAL_VOTE_KIND_APPROVED, "berta"), OK);
    assert_int_equal(state_of(txn, id), ARTIFACT_STATE_ACTIVE);
    assert_int_equal(set_state(f, txn, id, ARTIFACT_STATE_SHADOW), ERR_PRECONDITION);
    id = propose(f, txn, "paul", "coder", "Pin dependency versions.");
    assert_int_equal(set_state(f, txn, id, ARTIFACT_STATE_SHADOW), OK);
    assert_int_equal(vote(f, txn, id, PROPOSAL_VOTE_KIND_REJECTED, "anna"), OK);
    assert_int_equal(shadow_count(txn, "coder"), 0);
    assert_int_equal(set_state(f, txn, id, ARTIFACT_STATE_SHADOW), ERR_PRECONDITION);
    store_abort(txn);
}

/* Goal: an agent has 20 guidelines and 20 proposals in SHADOW at once; a reference names all of them, and a vote for the 21st
 * guideline is refused as it is without SHADOW. */
static void test_agent_has_20_guidelines_and_20_in_shadow(void **state)
{
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {7};
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 1);
    struct uuid ids[2 * GUIDELINES_OF_AGENT_MAX + 1];
    struct agent_prompt prompt;
    struct exposure exposure;
    struct exposure read;
    struct exposure_key key;
    struct slice reference = {NULL, 0};

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        char rule[64];

        (void)snprintf(rule, sizeof(rule), "Topic%zu needs the remedy%zu of chapter%zu.", i, i, i);
        ids[i] = propose(f, txn, "paul", "coder", rule);
        assert_int_equal(i < GUIDELINES_OF_AGENT_MAX
                             ? vote(f, txn, ids[i], PROPOSAL_VOTE_KIND_APPROVED, "anna")
                             : set_state(f, txn, ids[i], ARTIFACT_STATE_SHADOW),
                         i < 2 * GUIDELINES_OF_AGENT_MAX ? OK : ERR_PRECONDITION);
    }
    exposure = expose(f, txn, &prompt);
    exposure_key_init(&key, bytes);
    assert_int_equal(
        exposure_reference(&f->arena, &key, store_fixture_org(1), &exposure, &reference), OK);
    assert_int_equal(exposure_read(&f->arena, &key, store_fixture_org(1), reference, &read), OK);
    assert_true(read.is_listed && read.artifact_count == 2 * GUIDELINES_OF_AGENT_MAX);
    for (size_t i = 0; i < read.artifact_count; i++) {
        assert_int_equal(read.artifacts[i].seq, exposure.artifacts[i].seq);
        assert_int_equal(read.artifacts[i].shadow, i >= GUIDELINES_OF_AGENT_MAX);
    }
    assert_int_equal(
        vote(f, txn, ids[GUIDELINES_OF_AGENT_MAX], PROPOSAL_VOTE_KIND_APPROVED, "anna"),
        ERR_PRECONDITION);
    assert_int_equal(
        vote(f, txn, ids[2 * GUIDELINES_OF_AGENT_MAX - 1], PROPOSAL_VOTE_KIND_REJECTED, "anna"),
        OK);
    assert_int_equal(set_state(f, txn, ids[2 * GUIDELINES_OF_AGENT_MAX], ARTIFACT_STATE_SHADOW),
                     OK);
    store_abort(txn);
}

/* Lists the guidelines in effect of "coder", one per page, after a position. Returns whether there was one. */
static bool list_one(struct store_fixture *f, struct store_txn *txn, struct slice after,
                     struct page *page)
{
    struct proposal_list list = {
        .org = store_fixture_org(1), .agent = SLICE("coder"), .page = page};
    struct buffer body;
    struct proposal proposal;
    enum err err = OK;

    buffer_init(&body, &f->arena, 16);
    page_init(page, 1, after, &body);
    err = guideline_list_begin(txn, &list);
    while (err == OK) {
        err = guideline_list_next(txn, &list, &proposal);
        if (err == OK) {
            assert_int_equal(proposal.record.life.state, ARTIFACT_STATE_ACTIVE);
            buffer_append_byte(&body, '.');
        }
    }
    assert_int_equal(err, ERR_NOT_FOUND);
    page_deinit(page);
    return page->count == 1;
}

/* Goal: no page follows the one with the last guideline of an agent, though proposals in SHADOW are stored after it. */
static void test_pages_end_before_it(void **state)
{
    struct store_fixture *f = *state;
    struct store_txn *txn = guidelines_begin(f, 1);
    struct uuid first = propose(f, txn, "paul", "coder", "Sort imports alphabetically.");
    struct uuid second = propose(f, txn, "paul", "coder", "Pin dependency versions.");
    struct uuid tried = propose(f, txn, "paul", "coder", "Name the unit of each timeout.");
    struct key position;
    struct page page;

    assert_int_equal(set_state(f, txn, tried, ARTIFACT_STATE_SHADOW), OK);
    assert_false(list_one(f, txn, slice_of(NULL, 0), &page));
    assert_false(page.more);
    assert_int_equal(vote(f, txn, first, PROPOSAL_VOTE_KIND_APPROVED, "anna"), OK);
    assert_true(list_one(f, txn, slice_of(NULL, 0), &page));
    assert_false(page.more);
    assert_int_equal(vote(f, txn, second, PROPOSAL_VOTE_KIND_APPROVED, "anna"), OK);
    assert_true(list_one(f, txn, slice_of(NULL, 0), &page));
    assert_true(page.more);
    position = page.last;
    assert_true(list_one(f, txn, key_slice(&position), &page));
    assert_false(page.more);
    store_abort(txn);
}

int run_shadow_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_the_exposure_names_it, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_only_pending_proposals_are_put_in_shadow,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_pages_end_before_it, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_agent_has_20_guidelines_and_20_in_shadow,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("shadow", tests, NULL, NULL);
}
