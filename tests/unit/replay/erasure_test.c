/*
 * erasure_test.c: a store after erasures equals a replay of its log, whose events lack the erased content: for each
 * subject, also between sweeps and later writes, and after an interruption.
 */
#include "server/domain/decisions/decisions.h"
#include "server/domain/decisions/keys.h"
#include "server/domain/events/removal_past.h"
#include "server/domain/events/subject.h"
#include "server/domain/retention/erasure.h"
#include "server/domain/turns/vector_row.h"
#include "tests/unit/replay/fixture.h"

#include <inttypes.h>

#define WRITES 500
#define ROUNDS 6
#define REASON SLICE("request 17")
/* Decisions of one step with diffs at their limit: together larger than the step's memory. */
#define LARGE_DECISIONS 10
#define DIFF_BYTES ((size_t)1 << 20)
#define STEP_BYTES ((size_t)4 << 20)

/* An erasure of all content about a subject. */
static struct erasure_target target_of(struct fixture *fixture, enum erasure_subject subject,
                                       struct slice id)
{
    return (struct erasure_target){.org = fixture->orgs[0], .subject = subject, .id = id};
}

/* Finds the events of the next step; false if there are none. */
static bool find(struct fixture *fixture, const struct erasure_target *target,
                 struct erasure_search *search)
{
    while (search->examined_seq < search->until_seq) {
        struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
        enum err err = erasure_find(&fixture->ctx, txn, target, search);

        store_abort(txn);
        assert_int_equal(err, OK);
        if (search->seq_count > 0) {
            return true;
        }
    }
    return false;
}

static uint64_t last_seq(struct fixture *fixture)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
    struct log_head head;

    assert_int_equal(log_read_head(txn, fixture->orgs[0], &head), OK);
    store_abort(txn);
    return head.last_seq;
}

static struct erasure_search begin(struct fixture *fixture, const struct erasure_target *target)
{
    return (struct erasure_search){.until_seq = target->subject == ERASURE_OF_EVENTS
                                                    ? target->seqs[target->seq_count - 1]
                                                    : last_seq(fixture)};
}

/* Makes one step, and commits it if `is_kept`. */
static void step(struct fixture *fixture, const struct erasure_target *target,
                 const struct erasure_search *search, bool is_kept)
{
    const struct erasure_step step = {target, search->seqs, search->seq_count, SLICE("ada"),
                                      REASON};
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);
    uint64_t seq = 0;

    log_begin_write(txn, NULL);
    assert_int_equal(erasure_remove_content(&fixture->ctx, txn, &step, &seq), OK);
    assert_true(seq > search->seqs[search->seq_count - 1]);
    if (is_kept) {
        assert_int_equal(store_commit(txn), OK);
    } else {
        store_abort(txn);
    }
}

/* Erases all content about a target; returns the number of steps. */
static size_t erase(struct fixture *fixture, const struct erasure_target *target,
                    struct erasure_search *search)
{
    size_t steps = 0;

    *search = begin(fixture, target);
    while (find(fixture, target, search)) {
        step(fixture, target, search, true);
        steps++;
    }
    return steps;
}

static uint64_t sum_erased(const struct erasure_search *search)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < ERASURE_KINDS; i++) {
        sum += search->kinds[i].erased;
    }
    return sum;
}

/* Erases a random document or draws events. */
static uint64_t erase_some(struct fixture *fixture)
{
    struct erasure_target target =
        target_of(fixture, ERASURE_OF_DOCUMENT,
                  arena_printf(&fixture->arena, "document-%u", fixture_draw(fixture, 8)));
    struct erasure_search search;
    uint64_t end_seq = last_seq(fixture);
    uint64_t seqs[40];

    if (fixture_draw(fixture, 2) == 0) {
        target = target_of(fixture, ERASURE_OF_EVENTS, slice_of(NULL, 0));
        target.seqs = seqs;
        for (uint64_t seq = 1 + fixture_draw(fixture, 5); seq <= end_seq;
             seq += 1 + fixture_draw(fixture, 20)) {
            if (target.seq_count < sizeof(seqs) / sizeof(seqs[0])) {
                seqs[target.seq_count] = seq;
                target.seq_count++;
            }
        }
    }
    (void)erase(fixture, &target, &search);
    return sum_erased(&search);
}

/* Goal: an erasure leaves the bytes that a replay makes. Method: random writes of every kind, erasures of documents and of
 * random events between them, with and without sweeps, compared each time, over both back ends. */
static void test_live_erasure_equals_replay(void **state)
{
    struct fixture fixture;

    (void)state;
    for (int kind = FIXTURE_MEMORY; kind <= FIXTURE_LMDB; kind++) {
        uint64_t erased = 0;

        fixture_init(&fixture, (enum fixture_backend)kind, 300 + (uint64_t)kind);
        for (size_t i = 0; i < ROUNDS; i++) {
            fixture.sweeps = i % 2 == 1;
            fixture_write_many(&fixture, WRITES / ROUNDS);
            erased += erase_some(&fixture);
            fixture_write_many(&fixture, WRITES / ROUNDS);
            erased += erase_some(&fixture);
            fixture_expect_clean(&fixture);
        }
        assert_true(erased > WRITES / 20);
        fixture_deinit(&fixture);
    }
}

/* Checks that no event of the target has content, except kinds whose content is kept. */
static void check_erased(struct fixture *fixture, struct slice user_id)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
    struct log_walk walk;
    struct event event;

    assert_int_equal(log_walk_init(&walk, txn, fixture->orgs[0], 0, STORE_ASCENDING), OK);
    while (log_walk_next(&walk, &event) == OK) {
        bool is_of_user = slice_equal(event.actor_user_id, user_id);

        assert_true(log_event_holds(&event));
        assert_true(!is_of_user || event.kind != EVENT_FEEDBACK || event.content.size == 0);
        assert_true(!is_of_user || event.kind != EVENT_DECISION_RECORDED ||
                    event.content.size == 0);
        assert_true(is_of_user || !event.content_removed);
    }
    log_walk_deinit(&walk);
    store_abort(txn);
}

/* Goal: an erasure that ends early is completed by the next one, and nothing is half erased. Method: it ends before the
 * first step, within it, after it, within the second one and so on; the store is compared each time. */
static void test_second_erasure_completes_the_first(void **state)
{
    struct fixture fixture;
    struct erasure_target target;
    struct erasure_search search;
    size_t steps = 2;

    (void)state;
    for (size_t end = 0; end < steps; end++) {
        uint64_t erased = 0;
        size_t made = 0;

        fixture_init(&fixture, FIXTURE_MEMORY, 77);
        fixture_write_many(&fixture, WRITES);
        target = target_of(&fixture, ERASURE_OF_USER, SLICE("anna"));
        search = begin(&fixture, &target);
        while (made < end && find(&fixture, &target, &search)) {
            step(&fixture, &target, &search, true);
            erased += search.seq_count;
            made++;
        }
        if (find(&fixture, &target, &search)) {
            step(&fixture, &target, &search, false);
        }
        fixture_expect_clean(&fixture);
        steps = made + erase(&fixture, &target, &search);
        assert_true(steps > 1);
        assert_int_equal(search.kinds[EVENT_FEEDBACK].removed_before +
                                 search.kinds[EVENT_DECISION_RECORDED].removed_before +
                                 search.kinds[EVENT_VERDICT_SUBMITTED].removed_before >
                             0,
                         erased > 0);
        check_erased(&fixture, target.id);
        assert_int_equal(erase(&fixture, &target, &search), 0);
        fixture_expect_clean(&fixture);
        fixture_deinit(&fixture);
    }
}

/* Returns the number of rows of the first organisation in a table. */
static size_t count_rows(struct fixture *fixture, enum store_table table)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t count = 0;

    while (fixture_find_row(fixture, table, fixture->orgs[0].uuid, count, &key, &value)) {
        count++;
    }
    return count;
}

/* Lists the events of a kind, as a target. */
static void list_kind(struct fixture *fixture, enum event_kind_number kind,
                      struct erasure_target *target)
{
    uint64_t *seqs = arena_calloc(&fixture->arena, ERASURE_IDS_MAX, sizeof(*seqs));
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
    struct log_walk walk;
    struct event event;

    *target = target_of(fixture, ERASURE_OF_EVENTS, slice_of(NULL, 0));
    assert_non_null(seqs);
    assert_int_equal(log_walk_init(&walk, txn, target->org, 0, STORE_ASCENDING), OK);
    while (log_walk_next(&walk, &event) == OK) {
        if (event.kind == kind) {
            seqs[target->seq_count] = event.seq;
            target->seq_count++;
        }
    }
    log_walk_deinit(&walk);
    store_abort(txn);
    target->seqs = seqs;
}

/* Goal: rows made from the content of decisions and turns are removed with it; decisions that were retracted, and so
 * left their cluster, cause no error. Method: erase all of them in a store that has them. */
static void test_themes_and_vectors_go(void **state)
{
    static const struct {
        enum event_kind_number kind;
        enum store_table table;
    } cases[] = {{EVENT_DECISION_RECORDED, TABLE_DECISION_THEME},
                 {EVENT_DECISION_RECORDED, TABLE_DECISION_CLUSTER},
                 {EVENT_TURN_RECORDED, TABLE_TURN_VECTOR}};
    struct fixture fixture;
    struct erasure_target target;
    struct erasure_search search;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 5);
    fixture_write_many(&fixture, WRITES * 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(count_rows(&fixture, cases[i].table) > 0);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        list_kind(&fixture, cases[i].kind, &target);
        (void)erase(&fixture, &target, &search);
        assert_true(i == 1 || sum_erased(&search) > 1);
        assert_int_equal(count_rows(&fixture, cases[i].table), 0);
    }
    fixture_expect_clean(&fixture);
    fixture_write_many(&fixture, WRITES);
    fixture_expect_clean(&fixture);
    fixture_deinit(&fixture);
}

/* Records a decision with a theme and a diff. */
static void decide(struct fixture *fixture, struct slice diff)
{
    static const float direction[] = {1, 0};
    struct decision_input input = {
        .view = {.decision_id = arena_printf(&fixture->arena, "decision-%" PRIu64, fixture->keys++),
                 .gate_id = SLICE("HITL-1"),
                 .epic_id = SLICE("epic"),
                 .agent_name = SLICE("coder"),
                 .decision = DECISION_OUTCOME_REJECTED,
                 .reviewer_comment = SLICE("Set a timeout on each remote call."),
                 .correction_diff = diff},
        .kind = THEME_OF_CALLER,
        .space = SLICE("model:2")};
    const struct decision_request request = {
        fixture->orgs[0], {ROLE_ADMIN, {NULL, 0}, 1, false}, &input};
    struct decision_stored stored;
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);

    log_begin_write(txn, NULL);
    assert_int_equal(theme_make(&fixture->arena, direction, 2, NULL, &input.theme), OK);
    assert_int_equal(decision_read_signals(&fixture->arena, &input), OK);
    assert_int_equal(decision_record(&fixture->ctx, txn, &request, &stored), OK);
    assert_int_equal(store_commit(txn), OK);
}

/* Goal: a step needs the memory of one event, however large the events are. Method: decisions with long diffs, erased in
 * less memory than they have together. */
static void test_large_decisions_are_erased_one_by_one(void **state)
{
    struct fixture fixture;
    struct erasure_target target;
    struct erasure_search search;
    char *diff = test_malloc(DIFF_BYTES);

    (void)state;
    memset(diff, '+', DIFF_BYTES);
    fixture_init(&fixture, FIXTURE_MEMORY, 9);
    for (size_t i = 0; i < LARGE_DECISIONS; i++) {
        decide(&fixture, slice_of(diff, DIFF_BYTES));
        arena_reset(&fixture.arena);
    }
    test_free(diff);
    fixture.arena.limit_bytes = STEP_BYTES;
    list_kind(&fixture, EVENT_DECISION_RECORDED, &target);
    assert_int_equal(erase(&fixture, &target, &search), 1);
    assert_int_equal(search.kinds[EVENT_DECISION_RECORDED].erased, LARGE_DECISIONS);
    assert_true(search.kinds[EVENT_DECISION_RECORDED].erased_bytes > LARGE_DECISIONS * DIFF_BYTES);
    assert_int_equal(count_rows(&fixture, TABLE_DECISION_THEME), 0);
    assert_int_equal(count_rows(&fixture, TABLE_DECISION_CLUSTER), 0);
    fixture_deinit(&fixture);
}

/* Goal: a search counts each event of its subject once, as erased, removed before, fact or kept. Method: the settings that
 * the fixture's administrator changed and templates that it stored, before and after. */
static void test_kept_content_is_counted(void **state)
{
    struct fixture fixture;
    struct erasure_target target;
    struct erasure_search search;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 6);
    fixture_write_many(&fixture, WRITES);
    list_kind(&fixture, EVENT_PROMPT_TEMPLATE_PUT, &target);
    assert_true(target.seq_count > 0);
    assert_int_equal(erase(&fixture, &target, &search), 0);
    assert_int_equal(search.kinds[EVENT_PROMPT_TEMPLATE_PUT].kept_artifact, target.seq_count);
    list_kind(&fixture, EVENT_SETTINGS_UPDATED, &target);
    assert_true(target.seq_count > 0);
    assert_int_equal(erase(&fixture, &target, &search), 0);
    assert_int_equal(search.kinds[EVENT_SETTINGS_UPDATED].facts, target.seq_count);
    list_kind(&fixture, EVENT_REVIEW_SUBMITTED, &target);
    assert_true(erase(&fixture, &target, &search) > 0);
    assert_int_equal(search.kinds[EVENT_REVIEW_SUBMITTED].erased, target.seq_count);
    assert_true(search.kinds[EVENT_REVIEW_SUBMITTED].erased_bytes > target.seq_count);
    assert_int_equal(erase(&fixture, &target, &search), 0);
    assert_int_equal(search.kinds[EVENT_REVIEW_SUBMITTED].removed_before, target.seq_count);
    fixture_expect_clean(&fixture);
    fixture_deinit(&fixture);
}

/* Puts more rows of events about the organisation than a read of the past examines: all are of its first event, older
 * than those of the fixture, and not removals. */
static void put_old_rows(struct fixture *fixture)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);
    char id[UUID_TEXT_BYTES];

    uuid_format(fixture->orgs[0].uuid, id);
    for (int64_t i = 0; i <= REMOVAL_PAST_ROWS_MAX; i++) {
        struct key key = key_subject(fixture->orgs[0], SUBJECT_ORGANIZATION,
                                     slice_of(id, sizeof(id)), FIXTURE_START_US - i, 1);

        assert_int_equal(store_put(txn, TABLE_SUBJECT, key_slice(&key), slice_of(NULL, 0)), OK);
    }
    assert_int_equal(store_commit(txn), OK);
}

/* Returns the number of examples that were removed after an event. */
static uint64_t count_removed_since(struct fixture *fixture, uint64_t seq)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
    struct removal_past past;

    assert_int_equal(
        removal_past_read(txn, fixture->orgs[0], CONTENT_CLASS_CORRECTIONS, seq, &past), OK);
    store_abort(txn);
    assert_int_equal(past.seq, seq);
    assert_int_equal(past.floor_seq, 0);
    return past.example_count;
}

/* Goal: a read of the past reports no missing examples if none were removed, or none since, however many events are
 * about the organisation. Method: more of them than are examined, before and after an erasure, which is the last
 * event. */
static void test_past_misses_only_what_was_erased_since(void **state)
{
    struct fixture fixture;
    struct erasure_target target;
    struct erasure_search search;
    uint64_t before_seq = 0;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 10);
    fixture_write_many(&fixture, WRITES);
    put_old_rows(&fixture);
    target = target_of(&fixture, ERASURE_OF_USER, SLICE("anna"));
    before_seq = last_seq(&fixture);
    assert_int_equal(count_removed_since(&fixture, 1), 0);
    assert_int_equal(count_removed_since(&fixture, before_seq), 0);
    assert_true(erase(&fixture, &target, &search) > 0);
    assert_true(count_removed_since(&fixture, before_seq) > 1);
    assert_int_equal(count_removed_since(&fixture, last_seq(&fixture)), 0);
    fixture_deinit(&fixture);
}

int run_erasure_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_themes_and_vectors_go),
        cmocka_unit_test(test_large_decisions_are_erased_one_by_one),
        cmocka_unit_test(test_past_misses_only_what_was_erased_since),
        cmocka_unit_test(test_kept_content_is_counted),
        cmocka_unit_test(test_second_erasure_completes_the_first),
        cmocka_unit_test(test_live_erasure_equals_replay),
    };

    return cmocka_run_group_tests_name("replay erasure", tests, NULL, NULL);
}
