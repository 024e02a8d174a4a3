/*
 * model_tests.c: random sequences of proposals, votes, rejections, votes taken back, retirements, merges, proposals put
 * in SHADOW, changed settings, tokens that have lost their user, and crashes, beside a model that counts approvers by
 * itself. No guideline becomes active without as many different approvers as the setting demands at that moment, none
 * of them its proposer, and no agent has more than 20, nor more than 20 in SHADOW. After each sequence the tables are
 * rebuilt from the log, and compared byte for byte.
 */
#include "server/domain/learning/state.h"
#include "server/domain/settings/settings.h"
#include "store/scan.h"
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
/* Guidelines that a proposal merges. */
#define MERGED 2
/* A sequence in this many begins with 20 guidelines of an agent. */
#define FULL_ONE_IN 4

struct modelled {
    struct uuid id;
    size_t proposer;
    size_t agent;
    bool approved_by[USERS];
    size_t merged[MERGED]; /* places of the guidelines that it replaces */
    size_t merged_count;
    enum artifact_state state;
};

struct model {
    struct store_fixture *fixture;
    struct store_txn *txn;
    struct modelled proposals[PROPOSALS_MAX];
    size_t count;
    size_t active[AGENTS];
    size_t shadows[AGENTS];
    uint32_t needed;
};

/* Durable state: the model at the last commit. */
static struct model saved;
static uint64_t drawn_seed;
static size_t drawn_sequences;
static size_t drawn_steps;

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

/* Proposes to merge two guidelines in effect of an agent into one. */
static void add_merge(struct model *model, size_t agent)
{
    struct modelled *made = &model->proposals[model->count];
    struct uuid ids[MERGED];
    size_t count = 0;
    char rule[120];

    if (model->count == PROPOSALS_MAX || model->active[agent] < MERGED) {
        return;
    }
    *made = (struct modelled){
        .proposer = draw(model, USERS), .agent = agent, .state = ARTIFACT_STATE_PROPOSED};
    for (size_t i = draw(model, model->count); count < MERGED; i = (i + 1) % model->count) {
        if (model->proposals[i].state == ARTIFACT_STATE_ACTIVE &&
            model->proposals[i].agent == agent) {
            ids[count] = model->proposals[i].id;
            made->merged[count++] = i;
        }
    }
    made->merged_count = count;
    (void)snprintf(rule, sizeof(rule), "Merged%zu needs the remedy%zu of part%zu.", model->count,
                   model->count, model->count);
    made->id =
        propose_merge(model->fixture, model->txn, users[made->proposer], agents[agent], rule, ids);
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

static bool is_open(const struct modelled *proposal)
{
    return proposal->state == ARTIFACT_STATE_PROPOSED || proposal->state == ARTIFACT_STATE_SHADOW;
}

/* Changes the state of an open proposal. */
static void decide(struct model *model, struct modelled *proposal, enum artifact_state state)
{
    model->shadows[proposal->agent] -= proposal->state == ARTIFACT_STATE_SHADOW;
    model->shadows[proposal->agent] += state == ARTIFACT_STATE_SHADOW;
    proposal->state = state;
}

/* Ends a guideline, unless it has ended. */
static void end(struct model *model, struct modelled *guideline)
{
    if (guideline->state == ARTIFACT_STATE_ACTIVE) {
        guideline->state = ARTIFACT_STATE_RETIRED;
        model->active[guideline->agent]--;
    }
}

/* Whether all guidelines that a proposal merges are in effect. */
static bool can_merge(const struct model *model, const struct modelled *proposal)
{
    for (size_t i = 0; i < proposal->merged_count; i++) {
        if (model->proposals[proposal->merged[i]].state != ARTIFACT_STATE_ACTIVE) {
            return false;
        }
    }
    return true;
}

/* Counts the guidelines of its agent that end with a proposal, each once. */
static size_t freed_by(const struct model *model, const struct modelled *proposal,
                       const struct modelled *retired)
{
    size_t freed = proposal->merged_count;
    bool is_merged = false;

    for (size_t i = 0; i < proposal->merged_count; i++) {
        is_merged = is_merged || retired == &model->proposals[proposal->merged[i]];
    }
    return freed + (retired != NULL && !is_merged && retired->agent == proposal->agent ? 1 : 0);
}

/* A vote by a token without a user, or in the name of another user, is refused and changes nothing. */
static void vote_without_right(struct model *model, struct modelled *proposal, size_t user)
{
    const struct proposal_vote_request named = {
        .proposal_id = proposal->id, .approver_id = slice_text(users[(user + 1) % USERS])};
    const struct proposal_vote_request unnamed = {.proposal_id = proposal->id};

    assert_int_equal(approve_with(model->fixture, model->txn, named, users[user]), ERR_DENIED);
    assert_int_equal(approve_with(model->fixture, model->txn, unnamed, ""), ERR_DENIED);
}

/* Commits, or loses everything since the last commit, as a crash does. */
static void commit_or_crash(struct model *model)
{
    if (draw(model, 2) == 0) {
        assert_int_equal(store_commit(model->txn), OK);
        model->txn = store_fixture_begin(model->fixture);
        saved = *model;
        return;
    }
    store_abort(model->txn);
    *model = saved;
    model->txn = store_fixture_begin(model->fixture);
}

/* Votes, and expects the model's result. */
static void approve(struct model *model, struct modelled *proposal, size_t user,
                    struct modelled *retired)
{
    bool had = proposal->approved_by[user];
    bool ends = retired != NULL && retired->state == ARTIFACT_STATE_ACTIVE;
    bool is_mergeable = can_merge(model, proposal);
    size_t freed = freed_by(model, proposal, ends ? retired : NULL);
    size_t room = GUIDELINES_OF_AGENT_MAX + freed;
    bool completes = approvers_of(proposal) + (had ? 0 : 1) >= model->needed;
    struct proposal_vote_request request = {.proposal_id = proposal->id};
    enum err wanted = OK;

    if (retired != NULL) {
        request.retire_id = retired->id;
    }
    if (!is_open(proposal) || user == proposal->proposer) {
        wanted = ERR_PRECONDITION;
    } else if (completes && ((retired != NULL && !ends) || !is_mergeable ||
                             model->active[proposal->agent] >= room)) {
        wanted = ERR_PRECONDITION;
    }
    assert_int_equal(approve_with(model->fixture, model->txn, request, users[user]), wanted);
    if (wanted != OK) {
        return;
    }
    proposal->approved_by[user] = true;
    if (completes) {
        if (ends) {
            end(model, retired);
        }
        for (size_t i = 0; i < proposal->merged_count; i++) {
            end(model, &model->proposals[proposal->merged[i]]);
        }
        decide(model, proposal, ARTIFACT_STATE_ACTIVE);
        model->active[proposal->agent]++;
    }
}

static void take_back(struct model *model, struct modelled *proposal, size_t user)
{
    bool was_open = is_open(proposal);

    assert_int_equal(
        vote(model->fixture, model->txn, proposal->id, PROPOSAL_VOTE_KIND_RETRACTED, users[user]),
        was_open ? OK : ERR_PRECONDITION);
    if (was_open) {
        proposal->approved_by[user] = false;
    }
}

static void reject(struct model *model, struct modelled *proposal, size_t user)
{
    bool was_open = is_open(proposal);

    assert_int_equal(
        vote(model->fixture, model->txn, proposal->id, PROPOSAL_VOTE_KIND_REJECTED, users[user]),
        was_open ? OK : ERR_PRECONDITION);
    if (was_open) {
        decide(model, proposal, ARTIFACT_STATE_REJECTED);
    }
}

static void put_in_shadow(struct model *model, struct modelled *proposal, size_t user)
{
    const struct artifact_decision decision = {
        .org = store_fixture_org(1),
        .caller = {ROLE_REVIEWER, slice_text(users[user]), 1, false},
        .artifact_id = proposal->id,
        .state = ARTIFACT_STATE_SHADOW,
        .reason = SLICE("measure it first")};
    bool has_room = proposal->state == ARTIFACT_STATE_SHADOW ||
                    model->shadows[proposal->agent] < SHADOWS_OF_AGENT_MAX;
    bool is_allowed = is_open(proposal) && has_room;
    uint64_t seq = 0;

    assert_int_equal(artifact_set_state(&model->fixture->ctx, model->txn, &decision, &seq),
                     is_allowed ? OK : ERR_PRECONDITION);
    fault_init(&model->fixture->fault, &model->fixture->arena);
    if (is_allowed) {
        decide(model, proposal, ARTIFACT_STATE_SHADOW);
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
        assert_int_equal(shadow_count(model->txn, agents[i]), model->shadows[i]);
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
    if (draw(model, 12) == 0) {
        add_merge(model, draw(model, AGENTS));
        return;
    }
    if (draw(model, 10) == 0) {
        commit_or_crash(model);
        return;
    }
    proposal = &model->proposals[draw(model, model->count)];
    switch (draw(model, 14)) {
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
        vote_without_right(model, proposal, user);
        break;
    case 12:
    case 13:
        put_in_shadow(model, proposal, user);
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

static const enum store_table tables[] = {
    TABLE_PROPOSAL,        TABLE_PROPOSAL_PENDING,  TABLE_PROPOSAL_CLUSTER, TABLE_GUIDELINE,
    TABLE_GUIDELINE_AGENT, TABLE_GUIDELINE_VERSION, TABLE_ARTIFACT_LIFE};

/* Computes the hash of all rows of the tables; removes them if `removes`. */
static struct sha256_digest hash_tables(struct model *model, bool removes)
{
    struct sha256_state state;

    sha256_begin(&state);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const struct scan_range range = {.table = tables[i],
                                         .prefix = key_org(store_fixture_org(1)),
                                         .order = STORE_ASCENDING,
                                         .rows_max = 1};
        struct scan_range all = range;
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        struct scan scan = {0};

        all.rows_max = UINT32_MAX;
        assert_int_equal(scan_init(&scan, model->txn, removes ? &range : &all), OK);
        while (scan_next(&scan, &key, &value) == OK) {
            sha256_add(&state, key);
            sha256_add(&state, value);
            if (removes) {
                assert_int_equal(store_del(model->txn, tables[i], key), OK);
                scan_deinit(&scan);
                assert_int_equal(scan_init(&scan, model->txn, &range), OK);
            }
        }
        scan_deinit(&scan);
    }
    return sha256_read(&state);
}

/* Applies the events of guidelines again to empty tables: each row has the same bytes. */
static void replay(struct model *model)
{
    struct store_fixture *fixture = model->fixture;
    struct org_id org = store_fixture_org(1);
    struct sha256_digest before = hash_tables(model, true);
    struct sha256_digest after;
    struct log_head head;

    assert_int_equal(log_read_head(model->txn, org, &head), OK);
    for (uint64_t seq = 1; seq <= head.last_seq; seq++) {
        struct event event;

        assert_int_equal(log_read(model->txn, org, seq, &event), OK);
        assert_true(log_event_holds(&event));
        if (guidelines_applies(event.kind)) {
            assert_int_equal(guidelines_apply(&fixture->ctx, model->txn, &event), OK);
        }
    }
    after = hash_tables(model, false);
    assert_memory_equal(before.bytes, after.bytes, SHA256_BYTES);
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
    assert_int_equal(store_commit(model.txn), OK);
    model.txn = store_fixture_begin(&fixture);
    saved = model;
    for (size_t i = 0; i < drawn_steps; i++) {
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

static void test_random_sequences_equal_the_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < drawn_sequences; i++) {
        run_sequence(drawn_seed + i);
    }
}

int run_model_tests(uint64_t seed, size_t sequences, size_t steps)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sequences_equal_the_model),
    };

    drawn_seed = seed;
    drawn_sequences = sequences;
    drawn_steps = steps;
    (void)printf("seed %llu\n", (unsigned long long)seed);
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
