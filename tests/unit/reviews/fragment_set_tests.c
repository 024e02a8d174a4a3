/*
 * fragment_set_tests.c: the fragment set in use, now and after earlier events, and the list of sets.
 */
#include "server/domain/reviews/fragment_sets.h"
#include "tests/unit/reviews/groups.h"
#include "tests/unit/reviews/review_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define STEPS 60

static uint64_t put(struct store_fixture *fixture, struct store_txn *txn, struct slice text)
{
    struct fragment_set_draft draft = {
        .org = store_fixture_org(1),
        .caller = {ROLE_REVIEWER, SLICE("anna"), 1, false},
        .set = *fragment_set_default(),
    };
    uint64_t seq = 0;

    draft.set.fragments[0].text = text;
    assert_int_equal(fragment_set_put(&fixture->ctx, txn, &draft, &seq), OK);
    return seq;
}

static enum err approve(struct store_fixture *fixture, struct store_txn *txn, uint32_t version,
                        uint64_t *ret_seq)
{
    const struct fragment_set_approval approval = {
        .org = store_fixture_org(1),
        .caller = {ROLE_REVIEWER, SLICE("anna"), 1, false},
        .version = version,
    };

    return fragment_set_approve(&fixture->ctx, txn, &approval, ret_seq);
}

static struct fragment_set active(struct store_txn *txn, uint64_t as_of_seq)
{
    struct fragment_set set;

    assert_int_equal(fragment_set_active(txn, store_fixture_org(1), as_of_seq, &set), OK);
    return set;
}

/* Goal: the set in use after each event is that of the last approval up to it. Method: random drafts and approvals; the
 * version in use is noted after each event and read again at the end. */
static void test_set_in_use_is_the_last_approved(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    uint32_t in_use[STEPS + 1] = {0}; /* by event, from `first` on */
    uint32_t newest = 0;
    uint64_t first = put(fixture, txn, SLICE("first"));
    uint64_t last = first;

    newest = 1;
    for (unsigned i = 0; i < STEPS && last - first < STEPS; i++) {
        uint32_t version = (uint32_t)reviews_draw(fixture, newest + 2);
        uint32_t before = in_use[last - first];

        if (reviews_draw(fixture, 3) == 0) {
            last = put(fixture, txn, reviews_name(fixture, "text", newest));
            in_use[last - first] = before;
            newest++;
        } else if (version > newest) {
            assert_int_equal(approve(fixture, txn, version, &last), ERR_NOT_FOUND);
        } else if (version == before) {
            assert_int_equal(approve(fixture, txn, version, &last), ERR_PRECONDITION);
        } else {
            assert_int_equal(approve(fixture, txn, version, &last), OK);
            in_use[last - first] = version;
        }
    }
    assert_true(last > first + 10);
    for (uint64_t seq = first; seq <= last; seq++) {
        assert_int_equal(active(txn, seq).version, in_use[seq - first]);
    }
    assert_int_equal(active(txn, FRAGMENT_SETS_NOW).version, in_use[last - first]);
    assert_int_equal(active(txn, first - 1).version, 0);
    store_abort(txn);
}

/* Goal: texts of a stored set replace all default ones, and a caller without a user approves nothing. */
static void test_stored_set_replaces_the_default(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    const struct fragment_set_approval nameless = {
        .org = store_fixture_org(1), .caller = {ROLE_ADMIN, {NULL, 0}, 1, false}, .version = 1};
    struct fragment_set set;
    uint64_t seq = put(fixture, txn, slice_of(NULL, 0));
    uint64_t approved_seq = 0;

    assert_int_equal(fragment_set_approve(&fixture->ctx, txn, &nameless, &approved_seq),
                     ERR_DENIED);
    assert_int_equal(approve(fixture, txn, 1, &approved_seq), OK);
    set = active(txn, FRAGMENT_SETS_NOW);
    assert_int_equal(set.seq, seq);
    assert_int_equal(set.fragments[0].text.size, 0);
    for (size_t i = 1; i < FRAGMENT_PAIRS; i++) {
        assert_true(slice_equal(set.fragments[i].text, fragment_set_default()->fragments[i].text));
    }
    assert_true(slice_equal(set.label_focus_fields, SLICE(FRAGMENT_LABEL_FOCUS_FIELDS)));
    store_abort(txn);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int run_fragment_set_tests(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_set_in_use_is_the_last_approved),
        TEST(test_stored_set_replaces_the_default),
    };

    return cmocka_run_group_tests_name("fragment sets", tests, NULL, NULL);
}
