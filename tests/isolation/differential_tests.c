/*
 * differential_tests.c: what one organisation is answered does not depend on another one, by a byte.
 * Time and randomness of each call are given, so that answers can be compared whole: ids, times,
 * hashes, page tokens, messages and their details.
 */
#include "tests/isolation/isolation.h"
#include "tests/isolation/measured_rules.h"

#include "tests/isolation/asker.h"
#include "tests/isolation/dead_letters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Requests until one of them lists the rules of an organisation. */
#define LIST_ATTEMPTS 20
/* Dead letters of an organisation, each of which is retried once. */
#define DEAD_LETTERS 8
#define STEPS 1700
#define FAMILIES 7 /* layouts of documents: enough for merges */
#define SEEDS_MIN 6
#define SEEDS_MAX 20 /* until each method has been answered with OK in both organisations */
#define HAMMERING_MAX 3
#define STEP_US 10000
#define ARENA_BYTES (256u << 20)

/* Actions of the other organisation during the comparison. */
enum other {
    OTHER_ABSENT,
    OTHER_STRANGE, /* the same in other words */
    OTHER_SAME /* uses the same names, ids, keys and page tokens as the first one */
};

/* Methods that earlier seeds did not answer with OK. */
struct missing {
    const struct method_info *methods[ASKER_METHODS_MAX];
    size_t count;
};

struct plan {
    enum other other;
    bool together; /* in the same turn, batch and snapshot; otherwise between the calls */
    uint64_t seed;
    const struct missing *missing; /* drawn more often */
};

struct run {
    struct plan plan;
    struct fixture fixture;
    struct arena arena;
    struct request_maker maker;
    struct request_maker
        hammer; /* requests of the other organisation, including texts of the first one */
    struct asker mine;
    struct asker theirs;
    bool asks_own; /* the other one asks only for what it learned by such questions */
    struct exchange watch; /* all events that the first organisation records */
    struct answer answers[STEPS];
    struct slice watched[STEPS];
};

/* A call's time and randomness do not depend on earlier calls. */
static void begin_step(struct run *run, size_t step)
{
    run->fixture.clock.wall_us = FIXTURE_START_US + 1000000 + (int64_t)(step + 1) * STEP_US;
    run->fixture.clock.monotonic_us = run->fixture.clock.wall_us;
    random_seeded_init(&run->fixture.random, run->plan.seed * 1000003 + step);
    run->maker.now_us = run->fixture.clock.wall_us;
    run->hammer.now_us = run->maker.now_us;
    /* Several layout families. */
    fake_documents_set_sketch(&run->fixture.documents, 100 * (uint32_t)(step % FAMILIES));
}

/* Learns ids by a list; some of its requests name what is not known yet. */
static void learn(struct run *run, struct asker *asker, const char *path, const struct pool *pool)
{
    struct request_maker maker = run->maker;
    struct question question;
    struct exchange exchange;

    maker.pools = &asker->pools;
    for (unsigned i = 0; i < LIST_ATTEMPTS && pool_size(pool) == 0; i++) {
        question = asker_make_question(&maker, contract_find_method(slice_text(path)));
        asker_send(asker, &question, &exchange);
        fixture_run(&run->fixture);
        (void)asker_take(asker, &question, &exchange);
    }
    assert_true(pool_size(pool) > 0);
}

/* Measures rules, and learns their ids first, so that requests name them often: a weight is applied only to such rules. */
static void measure_rules(struct run *run, struct asker *asker)
{
    make_measured_rules(&run->fixture, asker->token);
    learn(run, asker, "/errata.v1.VerdictService/ListSuggestedWeights", &asker->pools.rule_ids);
}

/* Makes dead letters, and learns their ids. */
static void make_letters(struct run *run, struct asker *asker)
{
    make_dead_letters(&run->fixture, asker, DEAD_LETTERS);
    learn(run, asker, "/errata.v1.DecisionService/ListDeadLetters", &asker->pools.dead_letter_ids);
}

static void run_init(struct run *run, struct plan plan)
{
    struct exchange_start watch = {.path = "errata.v1.EventService/WatchEvents"};
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    *run = (struct run){.plan = plan};
    fixture_init(&run->fixture);
    arena_init(&run->arena, ARENA_BYTES);
    random_seeded_init(&run->maker.random, plan.seed);
    run->maker.arena = &run->arena;
    run->maker.pools = &run->mine.pools;
    run->maker.keys[0] = "key-one";
    run->maker.keys[1] = "key-two";
    run->hammer = run->maker;
    if (plan.other == OTHER_STRANGE) {
        run->hammer.keys[0] = "key-six";
        run->hammer.keys[1] = "key-ten";
    }
    run->hammer.strange = plan.other == OTHER_STRANGE;
    random_seeded_init(&run->hammer.random, plan.seed + 1);
    asker_init(&run->mine, &run->fixture, &run->arena, "mine");
    measure_rules(run, &run->mine);
    make_letters(run, &run->mine);
    if (plan.other != OTHER_ABSENT) {
        asker_init(&run->theirs, &run->fixture, &run->arena, "theirs");
        measure_rules(run, &run->theirs);
        make_letters(run, &run->theirs);
    }
    begin_step(run, STEPS);
    watch.authorization = run->mine.token;
    request.from_seq = 1;
    exchange_open(&run->watch, &run->fixture, &watch);
    exchange_send(&run->watch, &request.base);
    fixture_run(&run->fixture);
}

static void run_deinit(struct run *run)
{
    exchange_close(&run->watch);
    fixture_run(&run->fixture);
    fixture_deinit(&run->fixture);
    arena_deinit(&run->arena);
}

/* Methods that need the server's rights, which neither of the two has. */
static bool is_of_the_server(const struct method_info *method)
{
    static const char *const paths[] = {"/errata.v1.AdminService/CreateOrganization",
                                        "/errata.v1.AdminService/SuspendOrganization",
                                        "/errata.v1.AdminService/ResumeOrganization",
                                        "/errata.v1.AdminService/DeleteOrganization",
                                        "/errata.v1.AdminService/ImportOrganization",
                                        "/errata.v1.AdminService/Verify",
                                        "/errata.v1.AdminService/Backup"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (slice_equal(method->path, slice_text(paths[i]))) {
            return true;
        }
    }
    return false;
}

/* Writes about proposals: a vote needs a second user, and what is replaced or retired an approved guideline, which the one
 * user of this test cannot make. Their ids are tested by tests/e2e/isolation.py. */
static bool needs_other_users(const struct method_info *method)
{
    static const char *const paths[] = {"/errata.v1.GuidelineService/ProposeGuideline",
                                        "/errata.v1.GuidelineService/ApproveProposal",
                                        "/errata.v1.GuidelineService/ApproveProposals",
                                        "/errata.v1.GuidelineService/RejectProposal",
                                        "/errata.v1.GuidelineService/RetractVote",
                                        "/errata.v1.GuidelineService/RetireGuideline",
                                        "/errata.v1.GuidelineService/GetProposal"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (slice_equal(method->path, slice_text(paths[i]))) {
            return true;
        }
    }
    return false;
}

/* Whether no request of this test can be answered with OK. */
static bool is_never_answered(const struct method_info *method)
{
    return asker_passes_over(method) || is_of_the_server(method) || needs_other_users(method);
}

/* Draws a method; in one of four draws one that earlier seeds did not answer, if there is one. */
static const struct method_info *draw_method(struct run *run, struct request_maker *maker)
{
    const struct missing *missing = run->plan.missing;
    const struct method_info *method = NULL;

    if (missing->count > 0 && maker_draw(maker, 4) == 0) {
        return missing->methods[maker_draw(maker, missing->count)];
    }
    do {
        method = &contract_methods[maker_draw(maker, contract_method_count)];
    } while (asker_passes_over(method));
    return method;
}

/* Half of the pages that follow are requested with the request that they belong to. */
static struct question draw_question(struct run *run, struct request_maker *maker)
{
    const struct method_info *method = draw_method(run, maker);
    struct slice page_token = run->mine.page_token[method->index];
    if (page_token.size > 0 && maker_draw(maker, 2) == 0) {
        return asker_next_page(&run->mine, method, &run->arena,
                               maker->strange ? maker_strange(&run->arena, page_token)
                                              : page_token);
    }
    return asker_make_question(maker, method);
}

/* Draws a request of the other organisation: for data of the first one, the first one's next
 * request, or for its own data. */
static struct question draw_hammering(struct run *run)
{
    struct request_maker maker = run->maker;
    struct pools own = run->theirs.pools;
    struct question question;

    run->asks_own = false;
    switch (maker_draw(&run->hammer, 4)) {
    case 0:
        maker.strange = run->hammer.strange;
        memcpy(maker.keys, run->hammer.keys, sizeof(maker.keys));
        return draw_question(run, &maker);
    case 1:
        maker.random = run->hammer.random;
        own.names.count = ASKER_NAMES; /* fingerprints do not depend on the organisation */
        maker.pools = &own;
        maker.keys[0] = "key-own";
        maker.keys[1] = "key-our";
        question = draw_question(run, &maker);
        run->hammer.random = maker.random;
        run->asks_own = true;
        return question;
    default:
        return draw_question(run, &run->hammer);
    }
}

/* Sends a request for the first organisation's data; the response may depend on the texts in the
 * request. */
static void take_hammering(struct run *run, const struct question *question,
                           struct exchange *exchange)
{
    struct pools known = run->theirs.pools;

    (void)asker_take(&run->theirs, question, exchange);
    if (!run->asks_own) {
        run->theirs.pools = known;
    }
}

static void ask_between(struct run *run, size_t step)
{
    size_t count = 1 + (size_t)maker_draw(&run->hammer, HAMMERING_MAX);
    struct question question;
    struct exchange exchange;

    for (size_t i = 0; i < count && run->plan.other != OTHER_ABSENT; i++) {
        question = draw_hammering(run);
        asker_send(&run->theirs, &question, &exchange);
        fixture_run(&run->fixture);
        take_hammering(run, &question, &exchange);
    }
    begin_step(run, step);
    question = draw_question(run, &run->maker);
    asker_send(&run->mine, &question, &exchange);
    fixture_run(&run->fixture);
    run->answers[step] = asker_take(&run->mine, &question, &exchange);
}

/* Returns whether the result of a write depends on its words, not only on their number: whether a proposal
 * contradicts another one. With other words it may draw another number of ids from the turn's random
 * numbers, and the first organisation's event gets another id. */
static bool is_judged_by_words(const struct method_info *method)
{
    return method->transaction == METHOD_WRITE &&
           slice_starts_with(method->path, SLICE("/errata.v1.GuidelineService/"));
}

/* Sends both requests in the same turn; the other organisation's first in half of the steps. */
static void ask_together(struct run *run, size_t step)
{
    struct question theirs;
    struct question mine;
    struct exchange exchanges[2];
    bool first = step % 2 == 0;
    bool both = false;

    begin_step(run, step);
    theirs = draw_hammering(run);
    mine = draw_question(run, &run->maker);
    both = !is_judged_by_words(theirs.method);
    if (both && first) {
        asker_send(&run->theirs, &theirs, &exchanges[1]);
    }
    asker_send(&run->mine, &mine, &exchanges[0]);
    if (both && !first) {
        asker_send(&run->theirs, &theirs, &exchanges[1]);
    }
    fixture_run(&run->fixture);
    run->answers[step] = asker_take(&run->mine, &mine, &exchanges[0]);
    if (both) {
        take_hammering(run, &theirs, &exchanges[1]);
    }
}

static void run_whole(struct run *run, struct plan plan)
{
    run_init(run, plan);
    for (size_t step = 0; step < STEPS; step++) {
        if (plan.together) {
            ask_together(run, step);
        } else {
            ask_between(run, step);
        }
        run->watched[step] = asker_read(&run->mine, &run->watch);
    }
}

static void count_answered(const struct run *run, unsigned *mine, unsigned *theirs)
{
    for (uint32_t i = 0; i < contract_method_count; i++) {
        mine[i] += run->mine.answered[i];
        theirs[i] += run->theirs.answered[i];
    }
}

static void compare(const struct plan *plan, unsigned *mine, unsigned *theirs)
{
    static struct run quiet;
    static struct run hammered;
    char what[64];

    run_whole(&quiet, plan[0]);
    run_whole(&hammered, plan[1]);
    for (size_t step = 0; step < STEPS; step++) {
        (void)snprintf(what, sizeof(what), "at step %zu of seed %llu", step,
                       (unsigned long long)plan->seed);
        assert_same_answer(&quiet.answers[step], &hammered.answers[step], what);
        if (!slice_equal(quiet.watched[step], hammered.watched[step])) {
            fail_msg("the watch saw something else %s", what);
        }
    }
    count_answered(&hammered, mine, theirs);
    run_deinit(&quiet);
    run_deinit(&hammered);
}

/* A method that no request at random satisfies is not tested: its fields need a rule, or the maker a
 * text. */
static void expect_all_answered(const unsigned *answered, const char *whose)
{
    for (uint32_t i = 0; i < contract_method_count; i++) {
        const struct method_info *method = &contract_methods[i];
        if (!is_never_answered(method) && answered[i] == 0) {
            fail_msg("%.*s was never answered with OK (%s): teach request_maker.c its request",
                     (int)method->path.size, (const char *)method->path.data, whose);
        }
    }
}

/* Lists the methods that one of the organisations has not yet answered. */
static struct missing list_missing(const unsigned *mine, const unsigned *theirs)
{
    struct missing missing = {.count = 0};

    for (uint32_t i = 0; i < contract_method_count; i++) {
        if (!is_never_answered(&contract_methods[i]) && (mine[i] == 0 || theirs[i] == 0)) {
            missing.methods[missing.count] = &contract_methods[i];
            missing.count++;
        }
    }
    return missing;
}

static void compare_all(enum other quiet, bool together)
{
    unsigned mine[ASKER_METHODS_MAX] = {0};
    /* Of both tests: within one turn the other one asks only once a step. */
    static unsigned theirs[ASKER_METHODS_MAX];

    struct missing missing = list_missing(mine, theirs);

    for (uint64_t seed = 1; seed <= SEEDS_MIN || (seed <= SEEDS_MAX && missing.count > 0); seed++) {
        const struct plan plans[2] = {{quiet, together, seed, &missing},
                                      {OTHER_SAME, together, seed, &missing}};

        compare(plans, mine, theirs);
        missing = list_missing(mine, theirs);
    }
    expect_all_answered(mine, "the first organisation's");
    expect_all_answered(theirs, "the other's");
}

/* Goal: an organisation gets the replies that it would get as the only one. Method: the same random
 * calls of every method in two fixtures; in one of them another organisation uses all of its names,
 * ids, idempotency keys, key ids and page tokens between its calls, and sends the same requests. */
static void test_replies_equal_without_another_organisation(void **state)
{
    (void)state;
    compare_all(OTHER_ABSENT, false);
}

/* Goal: the same within one turn, in which calls share a snapshot, a commit and the pools. Method:
 * both organisations call at once; in one fixture the other one sends different texts, so that both
 * fixtures do the same amount of work. */
static void test_replies_equal_within_one_turn(void **state)
{
    (void)state;
    compare_all(OTHER_STRANGE, true);
}

int run_differential_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replies_equal_without_another_organisation),
        cmocka_unit_test(test_replies_equal_within_one_turn),
    };

    return cmocka_run_group_tests_name("isolation: with and without another", tests, NULL, NULL);
}
