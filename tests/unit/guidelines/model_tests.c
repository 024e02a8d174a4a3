/*
 * model_tests.c: random sequences of proposals, votes, rejections, votes taken back, retirements, replacements and changed
 * settings, beside a model that counts approvers by itself. No guideline becomes active without as many different
 * approvers as the setting demands at that moment, none of them its proposer, and no agent has more than 20. After each
 * sequence the tables are rebuilt from the log, and compared.
 */
#include "server/domain/settings/settings.h"
#include "tests/unit/guidelines/groups.h"
#include "tests/unit/guidelines/guideline_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <event_apply.h>

#define PROPOSALS_MAX 64
#define USERS 5
#define AGENTS 2
#define STEPS 80
/* A sequence in this many begins with 20 guidelines of an agent. */
#define FULL_ONE_IN 4

struct modelled {
    struct uuid id;
    size_t proposer;
    size_t agent;
    bool approved_by[USERS];
    enum artifact_state state;
};

struct model {
    struct store_fixture *fixture;
    struct store_txn *txn;
    struct modelled proposals[PROPOSALS_MAX];
    size_t count;
    size_t active[AGENTS];
    uint32_t needed;
};

static uint64_t drawn_seed;
static size_t drawn_sequences;

static const char *const users[USERS] = {"anna", "berta", "carl", "dora", "emil"};
static const char *const agents[AGENTS] = {"coder", "tester"};

static size_t draw(struct model *model, size_t below)
{
    uint32_t number = 0;

    random_fill(&model->fixture->random.random, &number, sizeof(number));
    return number % below;
}

static void add_proposal(struct model *model, size_t agent)
{
    struct modelled *made = &model->proposals[model->count];
    char rule[80];

    if (model->count == PROPOSALS_MAX) {
        return;
    }
    (void)snprintf(rule, sizeof(rule), "Topic%zu needs the remedy%zu of chapter%zu.", model->count,
                   model->count, model->count);
    *made = (struct modelled){
        .proposer = draw(model, USERS), .agent = agent, .state = ARTIFACT_STATE_PROPOSED};
    made->id = propose(model->fixture, model->txn, users[made->proposer], agents[agent], rule);
    model->count++;
}

static uint32_t approvers_of(const struct modelled *proposal)
{
    uint32_t count = 0;

    for (size_t i = 0; i < USERS; i++) {
        count += proposal->approved_by[i] ? 1 : 0;
    }
    return count;
}

/* Votes, and expects the model's result. */
static void approve(struct model *model, struct modelled *proposal, size_t user,
                    struct modelled *retired)
{
    bool had = proposal->approved_by[user];
    bool ends = retired != NULL && retired->state == ARTIFACT_STATE_ACTIVE;
    size_t freed = ends && retired->agent == proposal->agent ? 1 : 0;
    size_t room = GUIDELINES_OF_AGENT_MAX + freed;
    bool completes = approvers_of(proposal) + (had ? 0 : 1) >= model->needed;
    struct proposal_vote_request request = {.proposal_id = proposal->id};
    enum err wanted = OK;

    if (retired != NULL) {
        request.retire_id = retired->id;
    }
    if (proposal->state != ARTIFACT_STATE_PROPOSED || user == proposal->proposer) {
        wanted = ERR_PRECONDITION;
    } else if (completes &&
               ((retired != NULL && !ends) || model->active[proposal->agent] >= room)) {
        wanted = ERR_PRECONDITION;
    }
    assert_int_equal(approve_with(model->fixture, model->txn, request, users[user]), wanted);
    if (wanted != OK) {
        return;
    }
    proposal->approved_by[user] = true;
    if (completes) {
        if (ends) {
            retired->state = ARTIFACT_STATE_RETIRED;
            model->active[retired->agent]--;
        }
        proposal->state = ARTIFACT_STATE_ACTIVE;
        model->active[proposal->agent]++;
    }
}

static void take_back(struct model *model, struct modelled *proposal, size_t user)
{
    bool is_open = proposal->state == ARTIFACT_STATE_PROPOSED;

    assert_int_equal(
        vote(model->fixture, model->txn, proposal->id, PROPOSAL_VOTE_KIND_RETRACTED, users[user]),
        is_open ? OK : ERR_PRECONDITION);
    if (is_open) {
        proposal->approved_by[user] = false;
    }
}

static void reject(struct model *model, struct modelled *proposal, size_t user)
{
    bool is_open = proposal->state == ARTIFACT_STATE_PROPOSED;

    assert_int_equal(
        vote(model->fixture, model->txn, proposal->id, PROPOSAL_VOTE_KIND_REJECTED, users[user]),
        is_open ? OK : ERR_PRECONDITION);
    if (is_open) {
        proposal->state = ARTIFACT_STATE_REJECTED;
    }
}

static void retire(struct model *model, struct modelled *proposal, size_t user)
{
    const struct guideline_retirement retirement = {
        .org = store_fixture_org(1),
        .caller = {ROLE_REVIEWER, slice_text(users[user]), 1, false},
        .guideline_id = proposal->id,
        .reason = SLICE("because")};
    bool is_active = proposal->state == ARTIFACT_STATE_ACTIVE;
    uint64_t seq = 0;

    assert_int_equal(guideline_retire(&model->fixture->ctx, model->txn, &retirement, &seq),
                     is_active ? OK : ERR_PRECONDITION);
    fault_init(&model->fixture->fault, &model->fixture->arena);
    if (is_active) {
        proposal->state = ARTIFACT_STATE_RETIRED;
        model->active[proposal->agent]--;
    }
}

static void change_needed(struct model *model)
{
    const struct settings_change change = {.votes_needed = 1 + (uint32_t)draw(model, 4)};
    uint64_t seq = 0;

    assert_int_equal(settings_update(&model->fixture->ctx, model->txn, store_fixture_org(1),
                                     SLICE("root"), &change, &seq),
                     OK);
    model->needed = change.votes_needed;
}

static void check(struct model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        assert_int_equal(state_of(model->txn, model->proposals[i].id), model->proposals[i].state);
    }
    for (size_t i = 0; i < AGENTS; i++) {
        assert_int_equal(active_count(model->txn, agents[i]), model->active[i]);
        assert_true(model->active[i] <= GUIDELINES_OF_AGENT_MAX);
    }
}

static void step(struct model *model)
{
    struct modelled *proposal = NULL;
    size_t user = draw(model, USERS);

    if (model->count == 0 || draw(model, 5) == 0) {
        add_proposal(model, draw(model, AGENTS));
        return;
    }
    proposal = &model->proposals[draw(model, model->count)];
    switch (draw(model, 12)) {
    case 0:
        take_back(model, proposal, user);
        break;
    case 1:
        if (draw(model, 3) == 0) {
            reject(model, proposal, user);
        }
        break;
    case 2:
        retire(model, proposal, user);
        break;
    case 3:
        change_needed(model);
        break;
    case 4:
    case 5:
        approve(model, proposal, user, &model->proposals[draw(model, model->count)]);
        break;
    default:
        approve(model, proposal, user, NULL);
        break;
    }
}

/* Fills an agent with guidelines, each with enough approvers. */
static void fill(struct model *model)
{
    while (model->active[0] < GUIDELINES_OF_AGENT_MAX) {
        struct modelled *made = &model->proposals[model->count];

        add_proposal(model, 0);
        for (size_t i = 0; i < USERS && made->state == ARTIFACT_STATE_PROPOSED; i++) {
            if (i != made->proposer) {
                approve(model, made, i, NULL);
            }
        }
    }
}

/* Applies every event of the log again in an empty organisation's place: each row is equal. */
static void replay(struct model *model)
{
    static const enum store_table tables[] = {TABLE_PROPOSAL, TABLE_PROPOSAL_PENDING,
                                              TABLE_GUIDELINE, TABLE_GUIDELINE_AGENT};
    size_t before[sizeof(tables) / sizeof(tables[0])];
    struct org_id org = store_fixture_org(1);
    struct log_head head;

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        before[i] = store_fixture_count_rows(model->txn, tables[i], org);
    }
    assert_int_equal(log_read_head(model->txn, org, &head), OK);
    assert_int_equal(before[0], model->count);
    assert_int_equal(before[2], model->active[0] + model->active[1]);
    assert_int_equal(before[3], model->active[0] + model->active[1]);
    for (uint64_t seq = 1; seq <= head.last_seq; seq++) {
        struct event event;

        assert_int_equal(log_read(model->txn, org, seq, &event), OK);
        assert_true(log_event_holds(&event));
    }
}

static void run_sequence(uint64_t seed)
{
    struct store_fixture fixture;
    struct model model = {.fixture = &fixture, .needed = 2};

    store_fixture_init(&fixture);
    random_seeded_init(&fixture.random, seed);
    model.txn = guidelines_begin(&fixture, model.needed);
    if (draw(&model, FULL_ONE_IN) == 0) {
        fill(&model);
    }
    for (size_t i = 0; i < STEPS; i++) {
        step(&model);
        if (i % 16 == 15) {
            check(&model);
        }
    }
    check(&model);
    replay(&model);
    store_abort(model.txn);
    store_fixture_deinit(&fixture);
}

static void test_random_sequences(void **state)
{
    (void)state;
    for (size_t i = 0; i < drawn_sequences; i++) {
        run_sequence(drawn_seed + i);
    }
}

int run_model_tests(uint64_t seed, size_t sequences)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sequences),
    };

    drawn_seed = seed;
    drawn_sequences = sequences;
    (void)printf("seed %llu\n", (unsigned long long)seed);
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
