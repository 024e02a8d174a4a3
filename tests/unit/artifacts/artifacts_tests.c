/*
 * artifacts_tests.c: the functions that artifacts of all kinds share: the states that a person may set, the artifacts
 * in effect as of an event, and the events that an artifact was learned from.
 */
#include "server/domain/artifacts/evidence.h"
#include "server/domain/artifacts/keys.h"
#include "server/domain/artifacts/life.h"
#include "server/domain/artifacts/state.h"
#include "tests/support/store/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define STATES 7
#define NONE ARTIFACT_STATE_UNSPECIFIED
#define SHADOW ARTIFACT_STATE_SHADOW
#define ACTIVE ARTIFACT_STATE_ACTIVE
#define SUNSET ARTIFACT_STATE_SUNSET_PROPOSED
#define RETIRED ARTIFACT_STATE_RETIRED
#define REJECTED ARTIFACT_STATE_REJECTED
#define PROPOSED ARTIFACT_STATE_PROPOSED

/* Goal: exactly the table of state.h. Method: every pair of states, with and without votes. */
static void test_person_sets_the_states_of_the_table(void **state)
{
    struct store_fixture *fixture = *state;
    static const struct {
        enum artifact_state from;
        enum artifact_state retired; /* the result of the request RETIRED */
        bool is_by_votes; /* ACTIVE */
    } rows[] = {{PROPOSED, REJECTED, true}, {SHADOW, RETIRED, true},  {ACTIVE, RETIRED, false},
                {SUNSET, RETIRED, false},   {RETIRED, RETIRED, true}, {REJECTED, REJECTED, true}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int wanted = 0; wanted < STATES; wanted++) {
            for (int votes = 0; votes < 2; votes++) {
                enum artifact_state found = NONE;
                enum err err = artifact_state_decide(&fixture->ctx, votes == 1, rows[i].from,
                                                     (enum artifact_state)wanted, &found);

                fault_init(fixture->ctx.fault, &fixture->arena);
                if (wanted != SHADOW && wanted != ACTIVE && wanted != RETIRED) {
                    assert_int_equal(err, ERR_INVALID);
                } else if (wanted == ACTIVE && votes == 1 && rows[i].is_by_votes) {
                    assert_int_equal(err, ERR_PRECONDITION);
                } else {
                    assert_int_equal(err, OK);
                    assert_int_equal(found, wanted == RETIRED ? (int)rows[i].retired : wanted);
                }
            }
        }
    }
}

static struct artifact_life_record life_at(struct store_txn *txn, uint64_t as_of_seq)
{
    struct artifact_life_record life = {.state = 0};
    enum err err = artifact_life_read_as_of(txn, store_fixture_org(1), 10, as_of_seq, &life);

    assert_true(err == OK || (err == ERR_NOT_FOUND && as_of_seq < 10));
    return life;
}

/* Goal: a read as of any event finds the state, hold and version after that event, and until when they held. Method: one artifact
 * through all changes, beside another one. */
static void test_life_is_found_as_of_every_event(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = store_fixture_begin(fixture);
    struct artifact_life_record life = artifact_life_begin(PROPOSED, 10);
    struct artifact_life_record lives[5];
    struct artifact_life_record other = artifact_life_begin(ACTIVE, 11);

    assert_int_equal(
        artifact_life_put(&fixture->arena, txn, store_fixture_org(1), 11, NULL, &other), OK);
    assert_int_equal(artifact_life_put(&fixture->arena, txn, store_fixture_org(1), 10, NULL, &life),
                     OK);
    for (size_t i = 0; i < 5; i++) {
        struct artifact_life_record before = life;
        uint64_t seq = 20 + 10 * i;

        lives[i] = before;
        lives[i].valid_to_seq = seq;
        if (i == 0) {
            artifact_life_decide(&life, ACTIVE, seq);
        } else if (i == 1) {
            artifact_life_hold(&life, true, seq);
        } else if (i == 2) {
            artifact_life_renew(&life, seq);
        } else if (i == 3) {
            artifact_life_hold(&life, false, seq);
        } else {
            artifact_life_derive(&life, RETIRED, seq);
        }
        assert_int_equal(
            artifact_life_put(&fixture->arena, txn, store_fixture_org(1), 10, &before, &life), OK);
    }
    assert_int_equal(life_at(txn, 9).version, 0);
    for (uint64_t seq = 10; seq < 60; seq++) {
        struct artifact_life_record found = life_at(txn, seq);
        const struct artifact_life_record *expected = &lives[(seq - 10) / 10];

        assert_int_equal(found.state, expected->state);
        assert_int_equal(found.held_back, expected->held_back);
        assert_int_equal(found.set_by_person, expected->set_by_person);
        assert_int_equal(found.version, expected->version);
        assert_int_equal(found.content_seq, expected->content_seq);
        assert_int_equal(found.valid_from_seq, expected->valid_from_seq);
        assert_int_equal(found.valid_to_seq, expected->valid_to_seq);
        assert_int_equal(artifact_life_is_live(&found), seq >= 20 && seq < 30 ? 1 : seq >= 50);
    }
    assert_int_equal(life_at(txn, 60).state, RETIRED);
    assert_false(life_at(txn, 60).set_by_person);
    assert_int_equal(life_at(txn, UINT64_MAX).valid_to_seq, 0);
    store_abort(txn);
}

/* Goal: the newest events are listed, including retracted ones, and no event of another artifact. Method: more than a
 * list has. */
static void test_evidence_is_listed_newest_first(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = store_fixture_begin(fixture);
    struct artifact_evidence evidence;

    for (uint64_t seq = 1; seq <= ARTIFACT_EVIDENCE_MAX; seq++) {
        assert_int_equal(artifact_evidence_add(txn, store_fixture_org(1), 7, seq), OK);
    }
    assert_int_equal(artifact_evidence_add(txn, store_fixture_org(1), 8, 99), OK);
    assert_int_equal(artifact_evidence_list(txn, store_fixture_org(1), 7, UINT64_MAX, &evidence),
                     OK);
    assert_int_equal(evidence.count, ARTIFACT_EVIDENCE_MAX);
    assert_false(evidence.is_incomplete);
    assert_int_equal(artifact_evidence_add(txn, store_fixture_org(1), 7, 50), OK);
    assert_int_equal(artifact_evidence_retract(txn, store_fixture_org(1), 7, 20, 51), OK);
    assert_int_equal(artifact_evidence_retract(txn, store_fixture_org(1), 7, 60, 61), ERR_CORRUPT);
    assert_int_equal(artifact_evidence_list(txn, store_fixture_org(1), 7, UINT64_MAX, &evidence),
                     OK);
    assert_int_equal(evidence.count, ARTIFACT_EVIDENCE_MAX);
    assert_true(evidence.is_incomplete);
    assert_int_equal(evidence.items[0].event_seq, 50);
    assert_int_equal(evidence.items[0].retraction_seq, 0);
    assert_int_equal(evidence.items[1].event_seq, 20);
    assert_int_equal(evidence.items[1].retraction_seq, 51);
    assert_int_equal(evidence.items[ARTIFACT_EVIDENCE_MAX - 1].event_seq, 2);
    assert_int_equal(artifact_evidence_list(txn, store_fixture_org(2), 7, UINT64_MAX, &evidence),
                     OK);
    assert_int_equal(evidence.count, 0);
    store_abort(txn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_person_sets_the_states_of_the_table,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_life_is_found_as_of_every_event, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_evidence_is_listed_newest_first, store_fixture_set_up,
                                        store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("artifacts", tests, NULL, NULL);
}
