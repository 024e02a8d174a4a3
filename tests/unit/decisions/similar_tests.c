/*
 * similar_tests.c: FindSimilar beside an exact scan of the stored themes: after random decisions, retractions and erasures of two
 * organisations, in several spaces, by an index that follows the log, by one that is made from the tables, and in
 * transactions that are older than the index. Then many decisions with equal vectors, a cancelled search, and retractions of
 * other events.
 */
#include "server/domain/decisions/keys.h"
#include "server/domain/decisions/similar.h"
#include "server/domain/retention/erasure.h"
#include "server/domain/retractions/retractions.h"
#include "store/scan.h"
#include "tests/support/store/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errata/v1/event.views.h>

#define ORGS 2
#define SPACES 3
#define AGENTS 2
#define DIRECTIONS 12
#define WRITES 144
#define WRITES_BETWEEN 12
#define EQUAL (SIMILAR_EXACT_ROWS + 60)

struct history {
    struct store_fixture *fixture;
    struct vector_index *follower; /* reads the log */
    struct vector_index *filler; /* is made from the tables for each search */
    atomic_bool cancelled;
    size_t recorded;
    size_t compared; /* matches that were expected */
};

static const char *const spaces[SPACES] = {"one:2", "other:2", "third:2"};
static const char *const agents[AGENTS] = {"coder", "tester"};

static uint32_t draw(struct history *history, uint32_t below)
{
    uint32_t number = 0;

    random_fill(history->fixture->ctx.random, &number, sizeof(number));
    return number % below;
}

static struct theme make_theme(struct history *history, uint32_t direction)
{
    static const float directions[DIRECTIONS][2] = {
        {1, 0}, {0.999F, 0.045F}, {0.96F, 0.28F}, {0.8F, 0.6F}, {0.6F, 0.8F}, {0.28F, 0.96F},
        {0, 1}, {-0.28F, 0.96F},  {-0.6F, 0.8F},  {-1, 0},      {0, -1},      {0.98F, -0.2F}};
    struct theme theme;

    assert_int_equal(theme_make(&history->fixture->arena, directions[direction], 2, NULL, &theme),
                     OK);
    return theme;
}

static void record(struct history *history, struct store_txn *txn, struct org_id org,
                   uint32_t space, uint32_t direction)
{
    struct arena *arena = &history->fixture->arena;
    struct decision_input input = {
        .view = {.decision_id = arena_printf(arena, "decision-%zu", history->recorded++),
                 .gate_id = SLICE("HITL-1"),
                 .epic_id = SLICE("epic"),
                 .agent_name = slice_text(agents[draw(history, AGENTS)]),
                 .decision = DECISION_OUTCOME_REJECTED,
                 .reviewer_comment = SLICE("Set a timeout on each remote call.")},
        .kind = THEME_OF_CALLER,
        .space = slice_text(spaces[space]),
        .theme = make_theme(history, direction)};
    const struct decision_request request = {org, {ROLE_ADMIN, {NULL, 0}, 1, false}, &input};
    struct decision_stored stored;

    assert_int_equal(decision_read_signals(arena, &input), OK);
    assert_int_equal(decision_record(&history->fixture->ctx, txn, &request, &stored), OK);
}

/* Retracts one of the last events, if it is a decision. */
static void retract(struct history *history, struct store_txn *txn, struct org_id org)
{
    struct retraction_request request = {
        .org = org, .caller = {ROLE_ADMIN, SLICE("anna"), 1, false}, .reason = SLICE("a slip")};
    struct log_head head;
    struct event event;
    uint64_t seq = 0;

    assert_int_equal(log_read_head(txn, org, &head), OK);
    if (head.last_seq == 0) {
        return;
    }
    seq = head.last_seq - draw(history, head.last_seq < 30 ? (uint32_t)head.last_seq : 30);
    assert_int_equal(log_read(txn, org, seq, &event), OK);
    request.event_id = event.id;
    if (event.kind == EVENT_DECISION_RECORDED) {
        assert_int_equal(retraction_store(&history->fixture->ctx, txn, &request, &seq), OK);
    }
}

/* Erases the content of one or two of the first events. */
static void erase(struct history *history, struct store_txn *txn, struct org_id org)
{
    const uint64_t first = 1 + draw(history, 10);
    const uint64_t seqs[] = {first, first + 1 + draw(history, 10)};
    const struct erasure_target target = {
        .org = org, .subject = ERASURE_OF_EVENTS, .seqs = seqs, .seq_count = 2};
    const struct erasure_step step = {&target, seqs, 2, SLICE("ada"), SLICE("a request")};
    struct log_head head;
    uint64_t seq = 0;

    assert_int_equal(log_read_head(txn, org, &head), OK);
    if (head.last_seq >= seqs[1]) {
        assert_int_equal(erasure_remove_content(&history->fixture->ctx, txn, &step, &seq), OK);
    }
}

static void write_one(struct history *history)
{
    struct store_txn *txn = store_fixture_begin(history->fixture);
    struct org_id org = store_fixture_org((uint8_t)(1 + draw(history, ORGS)));

    if (draw(history, 4) == 0) {
        retract(history, txn, org);
    } else if (draw(history, 10) == 0) {
        erase(history, txn, org);
    } else {
        record(history, txn, org, draw(history, SPACES), draw(history, DIRECTIONS));
    }
    history->fixture->clock.wall_us += 1000000;
    assert_int_equal(store_commit(txn), OK);
}

/* Asks for decisions that are similar to a direction. */
static struct similar_query query_of(struct history *history, struct org_id org, uint32_t space,
                                     uint32_t direction)
{
    struct theme theme = make_theme(history, direction);
    uint8_t *bytes = arena_calloc(&history->fixture->arena, theme.width, 2);

    for (size_t i = 0; i < theme.width; i++) {
        bytes[2 * i] = (uint8_t)((uint16_t)theme.numbers[i] >> 8);
        bytes[2 * i + 1] = (uint8_t)theme.numbers[i];
    }
    return (struct similar_query){
        .org = org,
        .theme = {THEME_OF_CALLER, slice_text(spaces[space]), slice_of(bytes, theme.width * 2)},
        .threshold = 0.5,
        .limit = 7,
        .cancelled = &history->cancelled,
    };
}

/* Scans all stored themes of the space, newest first. */
static void scan_exactly(struct store_txn *txn, const struct similar_query *query,
                         struct similar_matches *matches)
{
    const struct scan_range range = {.table = TABLE_DECISION_THEME,
                                     .prefix =
                                         key_decision_theme_prefix(query->org, query->theme.space),
                                     .order = STORE_ASCENDING,
                                     .rows_max = UINT32_MAX};
    struct key agent = {.size = 0};
    struct scan scan;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    matches->count = 0;
    key_put_hash(&agent, query->agent);
    assert_int_equal(scan_init(&scan, txn, &range), OK);
    while (scan_next(&scan, &key, &value) == OK) {
        struct slice numbers = slice_after(value, KEY_HASH_BYTES);
        struct similar_match match = {.cosine = 0};
        double product = 0;
        size_t place = matches->count;

        assert_int_equal(key_read_decision_seq(key, &match.seq), OK);
        for (size_t i = 0; i < numbers.size / 2; i++) {
            product += (double)decision_theme_number(numbers, i) *
                       decision_theme_number(query->theme.numbers, i);
        }
        match.cosine = product / THEME_SCALE / THEME_SCALE;
        match.shown = theme_show(query->theme.kind, match.cosine);
        while (place > 0 && matches->items[place - 1].shown < match.shown) {
            place--;
        }
        if (place >= query->limit || match.shown < query->threshold ||
            (query->agent.size > 0 && memcmp(value.data, agent.bytes, KEY_HASH_BYTES) != 0)) {
            continue;
        }
        matches->count += matches->count < query->limit;
        memmove(matches->items + place + 1, matches->items + place,
                (matches->count - place - 1) * sizeof(match));
        matches->items[place] = match;
    }
    scan_deinit(&scan);
}

static void expect_same(struct history *history, struct store_txn *txn, struct vector_index *index,
                        const struct similar_query *query)
{
    struct similar_matches expected;
    struct similar_matches found;

    scan_exactly(txn, query, &expected);
    assert_int_equal(decision_find_similar(&history->fixture->arena, txn, index, query, &found),
                     OK);
    assert_int_equal(found.count, expected.count);
    assert_false(found.is_cut);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(found.items[i].seq, expected.items[i].seq);
        assert_true(found.items[i].shown == expected.items[i].shown);
    }
    history->compared += found.count;
}

static void search_all(struct history *history, struct store_txn *txn)
{
    for (uint8_t org = 1; org <= ORGS; org++) {
        for (uint32_t space = 0; space < SPACES; space++) {
            struct similar_query query =
                query_of(history, store_fixture_org(org), space, draw(history, DIRECTIONS));

            expect_same(history, txn, history->follower, &query);
            expect_same(history, txn, history->filler, &query);
            query.agent = slice_text(agents[draw(history, AGENTS)]);
            expect_same(history, txn, history->follower, &query);
        }
    }
}

static void begin(struct history *history, struct store_fixture *fixture,
                  const struct vector_source *filling)
{
    *history = (struct history){.fixture = fixture};
    assert_int_equal(vector_index_new(&fixture->arena, &similar_source, &history->follower), OK);
    assert_int_equal(vector_index_new(&fixture->arena, filling, &history->filler), OK);
}

static void end(struct history *history)
{
    vector_index_deinit(history->follower);
    vector_index_deinit(history->filler);
}

/* Goal: every search has the result of an exact scan of the rows of its transaction; nothing of another organisation or
 * space, and nothing that was retracted or erased. */
static void test_equals_an_exact_scan(void **state)
{
    struct vector_source filling = similar_source;
    struct history history;

    filling.gap_max = 0;
    begin(&history, *state, &filling);
    for (size_t i = 1; i <= WRITES; i++) {
        struct store_txn *txn = NULL;

        write_one(&history);
        if (i % WRITES_BETWEEN == 0) {
            assert_int_equal(store_begin(history.fixture->backend, STORE_READ, &txn), OK);
            search_all(&history, txn);
            store_abort(txn);
        }
    }
    assert_true(history.compared > WRITES);
    end(&history);
}

/* Goal: a search in an older transaction finds nothing that is newer than it. Method: no retractions. */
static void test_older_transaction_finds_nothing_newer(void **state)
{
    struct vector_source filling = similar_source;
    struct store_txn *older = NULL;
    struct store_txn *newer = NULL;
    struct history history;

    filling.gap_max = 0;
    begin(&history, *state, &filling);
    for (size_t i = 0; i < 40; i++) {
        struct store_txn *txn = store_fixture_begin(history.fixture);

        record(&history, txn, store_fixture_org((uint8_t)(1 + i % ORGS)), (uint32_t)(i % SPACES),
               0);
        assert_int_equal(store_commit(txn), OK);
        if (i == 20) {
            assert_int_equal(store_begin(history.fixture->backend, STORE_READ, &older), OK);
        }
    }
    assert_int_equal(store_begin(history.fixture->backend, STORE_READ, &newer), OK);
    search_all(&history, newer);
    search_all(&history, older);
    store_abort(newer);
    store_abort(older);
    end(&history);
}

/* Puts a theme into the table, as a recorded decision does. */
static void put_theme(struct history *history, struct store_txn *txn, uint64_t seq,
                      struct slice numbers)
{
    struct key key = key_decision_theme(store_fixture_org(1), slice_text(spaces[0]), seq);
    struct key agent = {.size = 0};
    struct slice value = {NULL, 0};

    key_put_hash(&agent, slice_text(agents[0]));
    value = arena_printf(&history->fixture->arena, "%*s%*s", (int)agent.size, "", (int)numbers.size,
                         "");
    memcpy((uint8_t *)(uintptr_t)value.data, agent.bytes, agent.size);
    memcpy((uint8_t *)(uintptr_t)value.data + agent.size, numbers.data, numbers.size);
    assert_int_equal(store_put(txn, TABLE_DECISION_THEME, key_slice(&key), value), OK);
}

/* Goal: of more equal decisions than are compared exactly, the newest are found. A cancelled search ends while it makes the
 * index. */
static void test_equal_ones_and_cancelling(void **state)
{
    struct vector_source filling = similar_source;
    struct similar_matches found;
    struct similar_query query;
    struct store_txn *txn = NULL;
    struct history history;

    filling.gap_max = 0;
    begin(&history, *state, &filling);
    txn = store_fixture_begin(history.fixture);
    record(&history, txn, store_fixture_org(1), 0, 0);
    query = query_of(&history, store_fixture_org(1), 0, 0);
    for (uint64_t i = 0; i < EQUAL; i++) {
        put_theme(&history, txn, 100 + i, query.theme.numbers);
    }
    atomic_store(&history.cancelled, true);
    assert_int_equal(
        decision_find_similar(&history.fixture->arena, txn, history.follower, &query, &found),
        ERR_CANCELLED);
    assert_int_equal(
        decision_find_similar(&history.fixture->arena, txn, history.filler, &query, &found),
        ERR_CANCELLED);
    atomic_store(&history.cancelled, false);
    expect_same(&history, txn, history.filler, &query);
    store_abort(txn);
    end(&history);
}

/* Appends the retraction of an event to the log, and applies it to the rows. */
static void apply_retraction(struct history *history, struct store_txn *txn,
                             struct vector_rows *rows, uint64_t seq)
{
    struct event_retracted_view view = {.retracted_seq = seq, .reason = SLICE("a slip")};
    struct store_fixture *fixture = history->fixture;
    struct event_draft draft = {.org = store_fixture_org(1),
                                .kind = EVENT_RETRACTED,
                                .annotator = ANNOTATOR_HUMAN,
                                .source = SOURCE_LIVE,
                                .actor_user_id = SLICE("anna")};
    struct event event;

    assert_int_equal(log_read(txn, draft.org, seq, &event), OK);
    view.retracted_event_id = event.id;
    assert_true(view_encode_parts(&event_retracted_view_type, &view, &fixture->arena, &draft.facts,
                                  &draft.content));
    assert_int_equal(log_next_stamp(&fixture->ctx, txn, draft.org, &draft.stamp), OK);
    draft.created_at_us = draft.stamp.created_at_us;
    assert_int_equal(
        event_draft_add_id(&fixture->arena, &draft, SUBJECT_ORGANIZATION, draft.org.uuid), OK);
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), OK);
    assert_int_equal(similar_source.apply(rows, &fixture->arena, txn, &event), OK);
}

/* Goal: only the retraction of a decision walks the rows, which are up to a million. Method: a row with the number of an event
 * that is not a decision, which a walk would find. */
static void test_only_retracted_decisions_walk_the_rows(void **state)
{
    uint64_t seqs[] = {1, 2};
    uint8_t row_spaces[] = {0, 0};
    int8_t sketches[2 * VECTORS_SKETCH_BYTES] = {0};
    struct vector_rows rows = {
        .count = 2, .seqs = seqs, .spaces = row_spaces, .sketches = sketches};
    struct store_txn *txn = NULL;
    struct history history;

    begin(&history, *state, &similar_source);
    txn = store_fixture_begin(history.fixture);
    record(&history, txn, store_fixture_org(1), 0, 0);
    apply_retraction(&history, txn, &rows, 1);
    assert_int_equal(row_spaces[0], VECTOR_INDEX_NO_SPACE);
    apply_retraction(&history, txn, &rows, 2);
    assert_int_equal(row_spaces[1], 0);
    store_abort(txn);
    end(&history);
}

/* Goal: rows in use while their organisation is deleted are freed after their last use. Method: an organisation that is
 * deleted during a use; its entry, which stays in memory, has no rows at the end. */
static void test_forgotten_rows_go_after_their_use(void **state)
{
    const struct org_id org = store_fixture_org(1);
    const struct vector_rows *rows = NULL;
    struct store_txn *txn = NULL;
    struct history history;

    begin(&history, *state, &similar_source);
    txn = store_fixture_begin(history.fixture);
    record(&history, txn, org, 0, 0);
    for (unsigned use = 0; use < 3; use++) {
        assert_int_equal(vector_index_begin(history.follower, txn, org, &history.cancelled, &rows),
                         OK);
        assert_int_equal(rows->count, 1);
        if (use == 1) {
            vector_index_forget(history.follower, org);
            assert_int_equal(rows->count, 1);
        }
        vector_index_end(history.follower, rows);
        assert_int_equal(rows->count, use == 1 ? 0 : 1);
    }
    store_abort(txn);
    end(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_equals_an_exact_scan, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_older_transaction_finds_nothing_newer,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_equal_ones_and_cancelling, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_only_retracted_decisions_walk_the_rows,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_forgotten_rows_go_after_their_use,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("similar", tests, NULL, NULL);
}
