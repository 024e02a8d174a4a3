/*
 * strategies_tests.c: a search in a transaction that is older than the index, such as after a newer transaction of
 * another thread, finds the rows of its transaction.
 */
#include "server/domain/turns/strategies.h"
#include "server/domain/turns/turns.h"
#include "tests/support/store/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WRITES 400
#define TURNS 40 /* number of names of turns in the only session */
#define DIRECTIONS 8
#define STRATEGIES 6
#define OPEN 5 /* transactions that stay open while later ones are searched */
#define WRITES_BETWEEN 20

/* A transaction, and its search result when it was the newest. */
struct snapshot {
    struct store_txn *txn;
    struct strategies expected;
};

struct history {
    struct store_fixture *fixture;
    struct vector_index *index;
    struct org_id org;
    float values[2];
    atomic_bool cancelled;
};

static uint32_t draw(struct history *history, uint32_t below)
{
    uint32_t number = 0;

    random_fill(history->fixture->ctx.random, &number, sizeof(number));
    return number % below;
}

/* A unit vector in one of some directions. */
static struct turn_vector draw_vector(struct history *history)
{
    static const float directions[DIRECTIONS][2] = {{1, 0},       {0.96F, 0.28F}, {0.8F, 0.6F},
                                                    {0.6F, 0.8F}, {0, 1},         {-0.6F, 0.8F},
                                                    {-1, 0},      {0, -1}};
    uint32_t chosen = draw(history, DIRECTIONS);

    history->values[0] = directions[chosen][0];
    history->values[1] = directions[chosen][1];
    return (struct turn_vector){SLICE("caller:2"), 2, history->values, true, EMBEDDER_NGRAMS};
}

static struct slice draw_name(struct history *history, const char *kind, uint32_t count)
{
    return arena_printf(&history->fixture->arena, "%s-%u", kind, draw(history, count));
}

static enum err record(struct history *history, struct store_txn *txn)
{
    const struct turn_strategy_view strategy = {.tool = SLICE("answer"),
                                                .text = draw_name(history, "way", STRATEGIES)};
    struct turn_input input = {.caller = {ROLE_ADMIN, {NULL, 0}, 1, false},
                               .session_id = SLICE("session"),
                               .turn_id = draw_name(history, "turn", TURNS),
                               .outcome = VALIDATION_OUTCOME_APPROVE,
                               .quality = 0.1 * draw(history, 10),
                               .query = SLICE("a query"),
                               .vector = draw_vector(history)};
    struct buffer run = {0};
    uint64_t seq = 0;

    buffer_init(&run, &history->fixture->arena, 64);
    turn_strategy_view_write(&strategy, &run);
    input.strategy = buffer_slice(&run);
    return turn_record(&history->fixture->ctx, txn, history->org, &input, &seq);
}

static enum err judge(struct history *history, struct store_txn *txn)
{
    const struct judge_input input = {
        .caller = {ROLE_ADMIN, {NULL, 0}, 1, false},
        .session_id = SLICE("session"),
        .turn_id = draw_name(history, "turn", TURNS),
        .actor_user_id = SLICE("anna"),
        .status = (enum turn_status)(TURN_STATUS_REJECTED + draw(history, 3))};
    uint64_t seq = 0;

    return turn_judge(&history->fixture->ctx, txn, history->org, &input, &seq);
}

/* Records or judges a turn. Names repeat, so some calls are refused. */
static void write_one(struct history *history)
{
    struct store_txn *txn = store_fixture_begin(history->fixture);
    enum err err = draw(history, 3) == 0 ? record(history, txn) : judge(history, txn);

    history->fixture->clock.wall_us += 1000000;
    if (err == OK) {
        assert_int_equal(store_commit(txn), OK);
    } else {
        assert_true(err == ERR_EXISTS || err == ERR_NOT_FOUND);
        store_abort(txn);
        fault_init(&history->fixture->fault, &history->fixture->arena);
    }
}

/* Searches for the first direction. The result is in the arena. */
static struct strategies search(struct history *history, struct vector_index *index,
                                struct store_txn *txn)
{
    static const float values[2] = {1, 0};
    const struct strategy_query query = {
        .org = history->org,
        .vector = {SLICE("caller:2"), 2, values, true, EMBEDDER_NGRAMS},
        .similarity_min = 0,
        .limit = TURNS,
        .cancelled = &history->cancelled};
    struct strategies found;

    assert_int_equal(strategies_search(&history->fixture->arena, txn, index, &query, &found), OK);
    return found;
}

/* Searches with an index made only from the transaction. */
static struct strategies search_alone(struct history *history, struct store_txn *txn)
{
    struct vector_index *index = NULL;
    struct strategies found;

    assert_int_equal(vector_index_new(&history->fixture->arena, &strategy_source, &index), OK);
    found = search(history, index, txn);
    vector_index_deinit(index);
    return found;
}

static void expect_same_matches(const struct strategy_match *found,
                                const struct strategy_match *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].seq, expected[i].seq);
        assert_int_equal(found[i].status, expected[i].status);
        assert_int_equal(found[i].mark, expected[i].mark);
        assert_int_equal(found[i].accepted, expected[i].accepted);
        assert_int_equal(found[i].rejected, expected[i].rejected);
    }
}

static void expect_same(const struct strategies *found, const struct strategies *expected)
{
    assert_int_equal(found->count, expected->count);
    assert_int_equal(found->avoid_count, expected->avoid_count);
    assert_int_equal(found->searched, expected->searched);
    assert_int_equal(found->incomparable, expected->incomparable);
    expect_same_matches(found->items, expected->items, found->count);
    expect_same_matches(found->avoid, expected->avoid, found->avoid_count);
}

/* Goal: an index that newer transactions have updated returns only the turns and statuses of the search's own
 * transaction. Method: random turns and judgements; some transactions stay open, and each is searched by the index
 * again after later writes. The expected result is that of an index that has seen no later transaction. */
static void test_newer_index_shows_only_the_transaction(void **state)
{
    struct history history = {.fixture = *state, .org = store_fixture_org(1)};
    struct snapshot open[OPEN] = {{.txn = NULL}};
    size_t newer = 0;

    assert_int_equal(vector_index_new(&history.fixture->arena, &strategy_source, &history.index),
                     OK);
    for (size_t i = 0; i < WRITES; i++) {
        struct snapshot *snapshot = &open[i / WRITES_BETWEEN % OPEN];

        write_one(&history);
        if (i % WRITES_BETWEEN != 0) {
            continue;
        }
        if (snapshot->txn != NULL) {
            store_abort(snapshot->txn);
        }
        assert_int_equal(store_begin(history.fixture->backend, STORE_READ, &snapshot->txn), OK);
        snapshot->expected = search_alone(&history, snapshot->txn);
        for (size_t j = 0; j < OPEN && open[j].txn != NULL; j++) {
            struct strategies found = search(&history, history.index, open[j].txn);

            expect_same(&found, &open[j].expected);
            newer += &open[j] != snapshot && found.count > 0;
        }
    }
    assert_true(newer > WRITES / WRITES_BETWEEN);
    for (size_t j = 0; j < OPEN; j++) {
        store_abort(open[j].txn);
    }
    vector_index_deinit(history.index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_newer_index_shows_only_the_transaction,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("strategies", tests, NULL, NULL);
}
