/*
 * family_tests.c: the rows of examples of layout families, against a model. Seeds are fixed.
 */
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/family_rows.h"
#include "tests/unit/corrections/family_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SEEDS 6

/* The family in which an example has a row; 0: none. Examples that were retracted before their document joined a family
 * do not join it. */
static unsigned family_with(const struct family_model *model, const struct family_fact *fact)
{
    uint64_t seq = model->papers[fact->paper].seq;

    if (!fact->example || fact->paper == 0 || seq == 0 ||
        (fact->retracted_by != 0 && fact->retracted_by < seq)) {
        return 0;
    }
    return family_model_member_of(model, fact->paper, UINT64_MAX);
}

/* Checks the row of an example in a family. */
static void check_row(struct family_model *model, struct store_txn *txn, uint64_t seq,
                      unsigned family)
{
    const struct family_fact *fact = &model->facts[seq];
    struct key_fingerprint fingerprint = key_fingerprint_of(model->fingerprints[fact->layout]);
    struct key key = key_family_example(
        model->fixture.org, family_model_seq_of_family(model, family), fact->created_at_us, seq);
    struct family_example example;
    struct slice value = {NULL, 0};

    assert_int_equal(store_get(txn, TABLE_FAMILY_EXAMPLE, key_slice(&key), &value), OK);
    assert_int_equal(family_example_read(key_slice(&key), value, &example), OK);
    assert_memory_equal(example.fingerprint.bytes, fingerprint.bytes, sizeof(fingerprint.bytes));
    assert_int_equal(example.annotator_kind, fact->annotator_kind);
    assert_true(example.created_at_us == fact->created_at_us && example.seq == seq);
    assert_true(example.retracted_by_seq == fact->retracted_by);
}

/* Compares the numbers of examples with the model's: of each member, and of all as if they were one family. */
static void check_counts(struct family_model *model, struct store_txn *txn,
                         const uint64_t expected[MEMBERS + 1])
{
    struct family_members all = {.count = 0};
    uint64_t total = 0;
    uint64_t count = 0;

    for (unsigned i = 1; i <= MEMBERS; i++) {
        const struct family_members members = {
            .seqs = {family_model_seq_of_family(model, i)},
            .count = 1,
        };

        assert_int_equal(family_examples_count(txn, model->fixture.org, &members, &count), OK);
        assert_int_equal(count, expected[i]);
        all.seqs[all.count++] = members.seqs[0];
        total += expected[i];
    }
    assert_int_equal(family_examples_count(txn, model->fixture.org, &all, &count), OK);
    assert_int_equal(count, total);
}

/* Goal: each example of a document with a family has one row in it, and no other rows exist, even if the
 * document is ingested after its corrections, or joins its family only when it is measured again; the row of a
 * retracted example names the retraction, and is not counted; a replay of the log gives the same rows. Method: every row
 * and count against the model. */
static void test_family_rows_equal_model(void **state)
{
    size_t late = 0;
    size_t retracted = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct store_txn *txn = NULL;
        struct family_model model;
        uint64_t counts[MEMBERS + 1] = {0};
        size_t rows = 0;

        family_model_init(&model, seed);
        family_model_fill(&model);
        txn = fixture_begin(&model.fixture, STORE_READ);
        for (uint64_t seq = 1; seq <= model.count; seq++) {
            const struct family_fact *fact = &model.facts[seq];
            unsigned family = family_with(&model, fact);

            if (family == 0) {
                continue;
            }
            rows++;
            late += model.papers[fact->paper].seq > seq;
            retracted += fact->retracted_by != 0;
            counts[family] += fact->retracted_by == 0;
            check_row(&model, txn, seq, family);
        }
        check_counts(&model, txn, counts);
        assert_int_equal(fixture_count_rows(&model.fixture, txn, TABLE_FAMILY_EXAMPLE), rows);
        store_abort(txn);
        assert_true(fixture_check_replay(&model.fixture, model.count) > EVENTS);
        fixture_deinit(&model.fixture);
    }
    assert_true(late > SEEDS * 5 && retracted > SEEDS);
}

/* How many examples of a paper, retracted or not, have rows in its family. */
static size_t count_examples(const struct family_model *model, unsigned paper, bool retracted)
{
    size_t count = 0;

    for (uint64_t seq = 1; seq <= model->count; seq++) {
        const struct family_fact *fact = &model->facts[seq];

        count += fact->paper == paper && (fact->retracted_by != 0) == retracted &&
                 family_with(model, fact) != 0;
    }
    return count;
}

/* Goal: the examples of a document move from one family to another and leave it, and only those that were not retracted. Method:
 * moves those of each document to another family, then to none; counts the rows. */
static void test_examples_move(void **state)
{
    const uint64_t other_seq = EVENTS + 100;
    struct store_txn *txn = NULL;
    struct family_model model;
    size_t moved = 0;
    size_t retracted = 0;
    size_t rows = 0;

    (void)state;
    family_model_init(&model, 1);
    family_model_fill(&model);
    txn = fixture_begin(&model.fixture, STORE_WRITE);
    rows = fixture_count_rows(&model.fixture, txn, TABLE_FAMILY_EXAMPLE);
    for (unsigned paper = 1; paper <= PAPERS; paper++) {
        struct slice name = family_model_name_of(&model.fixture, "document", paper);
        struct org_id org = model.fixture.org;
        size_t count = count_examples(&model, paper, false);

        if (count > 0) {
            uint64_t family_seq = family_model_seq_of_family(
                &model, family_model_member_of(&model, paper, UINT64_MAX));

            assert_int_equal(
                family_examples_move(&model.fixture.ctx, txn, org, name, family_seq, other_seq),
                OK);
            assert_int_equal(fixture_count_rows(&model.fixture, txn, TABLE_FAMILY_EXAMPLE), rows);
            assert_int_equal(family_examples_move(&model.fixture.ctx, txn, org, name, other_seq, 0),
                             OK);
        }
        rows -= count;
        retracted += count_examples(&model, paper, true);
        moved += count > 1;
        assert_int_equal(fixture_count_rows(&model.fixture, txn, TABLE_FAMILY_EXAMPLE), rows);
    }
    assert_int_equal(rows, retracted);
    assert_true(moved > 3);
    store_abort(txn);
    fixture_deinit(&model.fixture);
}

int run_family_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_family_rows_equal_model),
        cmocka_unit_test(test_examples_move),
    };

    return cmocka_run_group_tests_name("examples of families", tests, NULL, NULL);
}
