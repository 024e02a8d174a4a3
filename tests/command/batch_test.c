/*
 * batch_test.c: the batch of proposals, which no call asks for. Goal: each general cluster of each organisation gets one
 * pending proposal, and nothing becomes a guideline. Method: decisions are put by commands of the domain; the batch runs on
 * the fixture's writer, twice.
 */
#include "server/domain/decisions/decisions.h"
#include "server/domain/generation/generation.h"
#include "server/pipeline/proposal_batch.h"
#include "tests/command/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Clusters for which decisions are put: more than one step examines is too slow here. */
#define CLUSTERS 3
#define MEMBERS 4

/* Puts one of the decisions of a cluster, by one of two reviewers. */
static void put_decision(struct fixture *fixture, struct store_txn *txn, unsigned cluster,
                         unsigned member)
{
    static const char *const comments[CLUSTERS] = {"Set a timeout on each remote call.",
                                                   "Sort the imports of each module.",
                                                   "Name each table in lower case."};
    float direction[CLUSTERS] = {0};
    struct arena *arena = &fixture->arena;
    struct decision_input input = {
        .view = {.decision_id = arena_printf(arena, "d-%u-%u", cluster, member),
                 .gate_id = SLICE("HITL-1"),
                 .epic_id = SLICE("epic"),
                 .task_id = arena_printf(arena, "task-%u", member),
                 .has_task_id = true,
                 .agent_name = SLICE("coder"),
                 .reviewer_id = member % 2 == 0 ? SLICE("anna") : SLICE("berta"),
                 .has_reviewer_id = true,
                 .decision = DECISION_OUTCOME_REJECTED,
                 .reviewer_comment = slice_text(comments[cluster])},
        .kind = THEME_OF_CALLER,
        .space = SLICE("model:3")};
    const struct decision_request request = {
        fixture->org, {.role = ROLE_ADMIN, .key_id = fixture->key_id}, &input};
    struct decision_stored stored;

    direction[cluster] = 1;
    assert_int_equal(decision_read_signals(arena, &input), OK);
    assert_int_equal(theme_make(arena, direction, CLUSTERS, NULL, &input.theme), OK);
    assert_int_equal(decision_record(&fixture->ctx, txn, &request, &stored), OK);
    assert_false(stored.is_repeat);
}

static void put_decisions(struct fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    for (unsigned cluster = 0; cluster < CLUSTERS; cluster++) {
        /* The last cluster is not general: it has two members. */
        for (unsigned member = 0; member < (cluster == CLUSTERS - 1 ? 2 : MEMBERS); member++) {
            put_decision(fixture, txn, cluster, member);
        }
    }
    assert_int_equal(store_commit(txn), OK);
}

static void run_batch(struct fixture *fixture, struct proposal_batch *batch)
{
    proposal_batch_start(batch);
    while (batch->running) {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    }
}

static void test_batch_drafts_each_general_cluster_once(void **state)
{
    struct fixture fixture;
    struct proposal_batch batch;
    struct agent_guidelines active;
    struct store_txn *txn = NULL;
    uint64_t decided = 0;

    (void)state;
    fixture_init(&fixture);
    put_decisions(&fixture);
    decided = fixture_last_seq(&fixture);
    proposal_batch_init(&batch, fixture.backend, fixture.writer, fixture.ctx.clock,
                        fixture.ctx.random);
    run_batch(&fixture, &batch);
    assert_int_equal(batch.drafted, CLUSTERS - 1);
    run_batch(&fixture, &batch);
    assert_int_equal(batch.drafted, CLUSTERS - 1);
    assert_int_equal(fixture_last_seq(&fixture), decided + CLUSTERS - 1);

    assert_int_equal(store_begin(fixture.backend, STORE_READ, &txn), OK);
    for (uint64_t seq = decided + 1; seq < decided + CLUSTERS; seq++) {
        struct proposal proposal;

        assert_int_equal(proposal_read(txn, fixture.org, seq, &proposal), OK);
        assert_int_equal(proposal.record.life.state, ARTIFACT_STATE_PROPOSED);
        assert_int_equal(proposal.record.evidence_count, MEMBERS);
        assert_true(slice_equal(proposal.view.proposed_by, SLICE(GENERATION_PROPOSER)));
        assert_int_equal(proposal.view.rule_type, RULE_TYPE_NEGATIVE_EXAMPLE);
        assert_int_equal(proposal.view.sole_author.size, 0);
    }
    assert_int_equal(agent_guidelines_read(txn, fixture.org, SLICE("coder"), &active), OK);
    assert_int_equal(active.count, 0);
    store_abort(txn);
    proposal_batch_deinit(&batch);
    fixture_deinit(&fixture);
}

int run_batch_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_drafts_each_general_cluster_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
