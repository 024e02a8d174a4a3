/*
 * key_test.c: keys sort in the order of their tables, and their parts can be read back.
 * format_test.c pins their bytes.
 */
#include "tests/unit/rows/rows_tests.h"

#include "server/domain/admin/keys.h"
#include "server/domain/artifacts/keys.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/counters/keys.h"
#include "server/domain/dead_letters/keys.h"
#include "server/domain/decisions/keys.h"
#include "server/domain/events/feedback.h"
#include "server/domain/events/retraction.h"
#include "server/domain/experiment/records.h"
#include "server/domain/exposures/keys.h"
#include "server/domain/extractions/rows/keys.h"
#include "server/domain/guidelines/keys.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/mappings/keys.h"
#include "server/domain/prompts/keys.h"
#include "server/domain/reviews/keys.h"
#include "server/domain/turns/keys.h"
#include "server/domain/verdicts/keys.h"
#include "store/keys.h"
#include "tests/support/store/store_fixture.h"

static int compare(struct key a, struct key b)
{
    return slice_compare(key_slice(&a), key_slice(&b));
}

/* Goal: keys sort newest first by created_at, then seq, before 1970, too. Method: neighbours of a
 * list in the expected order, for each of the three kinds of key. */
static void test_keys_sort_newest_first(void **state)
{
    static const struct {
        int64_t created_at_us;
        uint64_t seq;
    } order[] = {
        {INT64_MAX, 1},
        {STORE_FIXTURE_START_US, UINT64_MAX},
        {STORE_FIXTURE_START_US, 300},
        {STORE_FIXTURE_START_US, 2},
        {1, 7},
        {0, 8},
        {-1, 9},
        {INT64_MIN, 1},
    };
    struct org_id org = store_fixture_org(1);
    struct key_fingerprint fingerprint = key_fingerprint_of(SLICE("layout"));

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(order) / sizeof(order[0]); i++) {
        int64_t a = order[i].created_at_us;
        int64_t b = order[i + 1].created_at_us;
        uint64_t a_seq = order[i].seq;
        uint64_t b_seq = order[i + 1].seq;
        struct key example = key_example(org, &fingerprint, a, a_seq);
        int64_t read_us = 0;
        uint64_t read_seq = 0;

        assert_true(compare(example, key_example(org, &fingerprint, b, b_seq)) > 0);
        assert_int_equal(key_read_example(key_slice(&example), &read_us, &read_seq), OK);
        assert_true(read_us == a && read_seq == a_seq);
        example.size--;
        assert_int_equal(key_read_example(key_slice(&example), &read_us, &read_seq), ERR_CORRUPT);
        assert_true(compare(key_backfill(org, a, a_seq), key_backfill(org, b, b_seq)) < 0);
        assert_true(compare(key_subject(org, SUBJECT_LAYOUT, SLICE("x"), a, a_seq),
                            key_subject(org, SUBJECT_LAYOUT, SLICE("x"), b, b_seq)) < 0);
    }
}

/* Goal: profiles are in both orders, ties by fingerprint, and their keys contain the fingerprint.
 * Method: neighbours of a list in the expected order. */
static void test_profiles_sort_in_both_orders(void **state)
{
    static const struct {
        uint64_t number;
        uint8_t digest;
    } order[] = {{UINT64_MAX / 2, 9}, {300, 1}, {300, 2}, {2, 0x80}, {1, 0}};
    struct org_id org = store_fixture_org(1);

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(order) / sizeof(order[0]); i++) {
        struct sha256_digest a = {{order[i].digest}};
        struct sha256_digest b = {{order[i + 1].digest}};
        struct sha256_digest read = {{0}};
        struct key key = key_profile_most_seen(org, order[i].number, &a);

        assert_true(compare(key, key_profile_most_seen(org, order[i + 1].number, &b)) < 0);
        assert_true(compare(key_profile_last_seen(org, (int64_t)order[i].number, &a),
                            key_profile_last_seen(org, (int64_t)order[i + 1].number, &b)) < 0);
        assert_int_equal(key_read_profile_order(key_slice(&key), &read), OK);
        assert_memory_equal(read.bytes, a.bytes, sizeof(a.bytes));
        key.size--;
        assert_int_equal(key_read_profile_order(key_slice(&key), &read), ERR_CORRUPT);
    }
}

/* Goal: the time and seq of a key can be read back. Method: both readers over edges; other shapes
 * refused. */
static void test_key_has_its_time_and_seq(void **state)
{
    static const int64_t times[] = {INT64_MIN, -1, 0, 1, STORE_FIXTURE_START_US, INT64_MAX};
    struct org_id org = store_fixture_org(1);
    int64_t time_us = 0;
    uint64_t seq = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct key key = key_backfill(org, times[i], i * 1000 + 1);

        assert_int_equal(key_read_newest_first(key_slice(&key), &time_us, &seq), OK);
        assert_true(time_us == times[i]);
        assert_int_equal(seq, i * 1000 + 1);
        key = key_event(org, UINT64_MAX - i);
        assert_int_equal(key_read_event(key_slice(&key), &seq), OK);
        assert_true(seq == UINT64_MAX - i);
        assert_int_equal(key_read_newest_first(key_slice(&key), &time_us, &seq), ERR_CORRUPT);
        key.size++;
        assert_int_equal(key_read_event(key_slice(&key), &seq), ERR_CORRUPT);
    }
}

/* Goal: rows that have only an inverted seq sort newest first, and the seq can be read. Method: edges; other sizes are
 * refused. */
static void test_inverted_seqs_are_read_back(void **state)
{
    static const uint64_t seqs[] = {UINT64_MAX, 256, 255, 1};
    struct org_id org = store_fixture_org(1);
    uint64_t seq = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(seqs) / sizeof(seqs[0]); i++) {
        struct key judged = key_turn_judged(org, seqs[i]);
        struct key approval = key_fragment_approval(org, seqs[i]);

        assert_true(i == 0 || compare(key_turn_judged(org, seqs[i - 1]), judged) < 0);
        assert_true(i == 0 || compare(key_fragment_approval(org, seqs[i - 1]), approval) < 0);
        assert_int_equal(key_read_org_newest_seq(key_slice(&judged), &seq), OK);
        assert_true(seq == seqs[i]);
        assert_int_equal(key_read_org_newest_seq(key_slice(&approval), &seq), OK);
        assert_true(seq == seqs[i]);
        judged.size--;
        assert_int_equal(key_read_org_newest_seq(key_slice(&judged), &seq), ERR_CORRUPT);
        approval.size++;
        assert_int_equal(key_read_org_newest_seq(key_slice(&approval), &seq), ERR_CORRUPT);
    }
}

/* Goal: the head row sorts after every example of its layout, and before all else. Method: compare
 * with the newest possible example, and with the prefix. */
static void test_head_row_sorts_after_all_examples(void **state)
{
    struct org_id org = store_fixture_org(1);
    struct key_fingerprint fingerprint = key_fingerprint_of(SLICE("layout"));
    struct key prefix = key_layout_prefix(org, &fingerprint);
    struct key head = key_layout_head(org, &fingerprint);
    struct key newest = key_example(org, &fingerprint, INT64_MAX, UINT64_MAX - 1);

    (void)state;
    assert_int_equal(head.size, newest.size);
    assert_true(compare(head, newest) > 0);
    assert_true(slice_starts_with(key_slice(&head), key_slice(&prefix)));
    assert_true(slice_starts_with(key_slice(&newest), key_slice(&prefix)));
}

/* Goal: keys of different organisations never mix. Method: each builder's key begins with its
 * organisation, the global ones' with zeros. */
static void test_keys_begin_with_their_org(void **state)
{
    struct org_id org = store_fixture_org(7);
    struct key_fingerprint fingerprint = key_fingerprint_of(SLICE("layout"));
    struct sha256_digest measured = {{0xff}};
    uint8_t hash[16] = {1};
    struct review_run_hash run = review_run_hash_of(SLICE("run"));
    struct turn_hash turn = turn_hash_of(SLICE("session"), SLICE("turn"));
    struct key prefix = key_org(org);
    struct key zero = key_global_prefix();
    struct key own[] = {
        key_event(org, 1),
        key_event_id(org, org.uuid),
        key_subject_prefix(org, SUBJECT_TOKEN, SLICE("x")),
        key_subject(org, SUBJECT_TOKEN, SLICE("x"), 1, 1),
        key_backfill(org, 1, 1),
        key_layout_prefix(org, &fingerprint),
        key_layout_head(org, &fingerprint),
        key_example(org, &fingerprint, 1, 1),
        key_example_mark(org, 1),
        key_example_freed_prefix(org, 1),
        key_example_freed(org, 1, 1),
        key_entity_past(org, SLICE("a"), SLICE("b"), 1, 1),
        key_retracted(org, 1),
        key_extraction_kept_prefix(org, 1),
        key_extraction_kept(org, 1, 1),
        key_entity_prefix(org, SLICE("a"), SLICE("b")),
        key_entity(org, SLICE("a"), SLICE("b"), 1),
        key_feedback_subject_prefix(org, SUBJECT_DOCUMENT, SLICE("x")),
        key_feedback_subject(org, SUBJECT_DOCUMENT, SLICE("x"), 1, 1),
        key_document(org, SLICE("x")),
        key_document_time(org, 1, 1),
        key_document_layout(org, &fingerprint, 1, 1),
        key_family(org, 1),
        key_family_sketch(org, 1),
        key_family_layout(org, 1, &fingerprint),
        key_layout_family(org, &fingerprint, 1),
        key_family_document(org, 1, 1, 1),
        key_family_example(org, 1, 1, 1),
        key_document_moved(org, SLICE("x"), 1),
        key_layout_family_past(org, &fingerprint, 1, 1),
        key_family_change(org, 1),
        key_profile(org, &fingerprint),
        key_profile_last_seen(org, 1, &measured),
        key_profile_most_seen(org, 1, &measured),
        key_counter(org, 1, COUNTER_LINE_FIELD, SLICE("qty")),
        key_counter_day_prefix(org, 1),
        key_artifact(org, 1),
        key_artifact_life(org, 1, 2),
        key_artifact_evidence(org, 1, 2),
        key_layout_stats(org, &fingerprint),
        key_extraction(org, 1),
        key_extraction_subject_prefix(org, SUBJECT_DOCUMENT, SLICE("x")),
        key_extraction_subject(org, SUBJECT_DOCUMENT, SLICE("x"), 1, 1),
        key_extraction_key(org, EXTRACTION_KEY_DOCUMENT, SLICE("x")),
        key_exposure(org, hash),
        key_outcome(org, 1, 7, SLICE("x")),
        key_mapping(org, 1),
        key_mapping_customer_prefix(org, SLICE("x")),
        key_mapping_sku_prefix(org, SLICE("x"), SLICE("y")),
        key_mapping_sku(org, SLICE("x"), SLICE("y"), 1),
        key_mapping_internal_prefix(org, SLICE("x"), SLICE("y")),
        key_mapping_internal(org, SLICE("x"), SLICE("y"), 1),
        key_mapping_all_prefix(org, SLICE("y")),
        key_mapping_all(org, SLICE("y"), 1),
        key_mapping_pair(org, SLICE("x"), SLICE("y"), SLICE("z")),
        key_mapping_confirmed(org, SLICE("x"), SLICE("y")),
        key_mapping_similar(org, SLICE("x"), 1),
        key_prompt_template_prefix(org, SLICE("x")),
        key_prompt_template(org, SLICE("x"), 1),
        key_learned_rule(org, 1),
        key_learned_rule_pattern_prefix(org, SLICE("x")),
        key_learned_rule_pattern(org, SLICE("x"), 1),
        key_verdict(org, 1, 1),
        key_review_prefix(org, &run),
        key_review(org, &run, 1, 1),
        key_review_run(org, &run),
        key_review_time(org, 1, 1),
        key_review_subcategory_prefix(org, SLICE("x")),
        key_review_subcategory(org, SLICE("x"), 1, 1),
        key_review_thresholds(org, SLICE("x")),
        key_fragment_set(org, 1),
        key_fragment_approval(org, 1),
        key_decision(org, SLICE("x")),
        key_decision_time(org, 1, 1),
        key_decision_agent_prefix(org, SLICE("x")),
        key_decision_agent(org, SLICE("x"), 1, 1),
        key_decision_cluster_prefix(org, SLICE("x"), SLICE("y")),
        key_decision_cluster(org, SLICE("x"), SLICE("y"), 1),
        key_decision_member_prefix(org, 1),
        key_decision_member(org, 1, 1),
        key_decision_high(org, 1),
        key_decision_theme_prefix(org, SLICE("x")),
        key_decision_theme(org, SLICE("x"), 1),
        key_decision_evaluation_prefix(org, 1),
        key_decision_evaluation(org, 1, SLICE("x")),
        key_decision_override(org, 1),
        key_evaluator(org, SLICE("x")),
        key_dead_letter(org, 1),
        key_dead_letter_entry(org, SLICE("x"), SLICE("1-0"), SLICE("digest")),
        key_dead_letter_retry(org, 1),
        key_proposal(org, 1),
        key_proposal_cluster(org, 1),
        key_proposal_pending(org, true, 1, 1),
        key_guideline(org, 1),
        key_guideline_agent_prefix(org, SLICE("x")),
        key_guideline_agent(org, SLICE("x"), 1, 1, 1),
        key_guideline_shadow(org, SLICE("x"), 1, 1),
        key_guideline_version(org, SLICE("x")),
        key_review_item(org, &run, 1),
        key_review_example(org, SLICE("x"), 1),
        key_turn(org, &turn),
        key_turn_time(org, 1, 1),
        key_turn_session_prefix(org, &turn),
        key_turn_session(org, &turn, 1, 1),
        key_turn_status_prefix(org, 1),
        key_turn_status(org, 1, 1, 1),
        key_turn_judged(org, 1),
        key_rule_measure(org, 1, 1),
        key_measured_verdict_level(org, 1, 1),
        key_measured_verdict(org, 1, 1, 1),
        key_token_by_org(org, 1),
        key_idempotency(org, 1, hash),
    };
    struct key global[] = {
        key_organization_global(org.uuid),
        key_organization_name_global(SLICE("name")),
        key_token_global(1),
        key_meta_global(SLICE("format")),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        assert_true(slice_starts_with(key_slice(&own[i]), key_slice(&prefix)));
    }
    for (size_t i = 0; i < sizeof(global) / sizeof(global[0]); i++) {
        assert_true(slice_starts_with(key_slice(&global[i]), key_slice(&zero)));
    }
}

/* Goal: pairs of entity texts with the same concatenation have different keys, and a key has its seq. Method:
 * pairs split at another place; a key is read. */
static void test_entity_pairs_do_not_collide(void **state)
{
    struct org_id org = store_fixture_org(1);
    struct key key = {.size = 0};
    uint64_t seq = 0;

    (void)state;
    assert_int_not_equal(compare(key_entity_prefix(org, SLICE("ab"), SLICE("c")),
                                 key_entity_prefix(org, SLICE("a"), SLICE("bc"))),
                         0);
    key = key_entity(org, SLICE("a"), SLICE("b"), 9);
    assert_int_equal(key_read_entity(key_slice(&key), &seq), OK);
    assert_int_equal(seq, 9);
    key.size--;
    assert_int_equal(key_read_entity(key_slice(&key), &seq), ERR_CORRUPT);
    assert_true(compare(key_entity(org, SLICE("a"), SLICE("b"), 9),
                        key_entity(org, SLICE("a"), SLICE("b"), 8)) < 0);
}

/* Goal: a document's events have other keys than those of a draft order with the same id, and the newest is
 * first. Method: compare keys. */
static void test_feedback_subjects_sort_newest_first(void **state)
{
    struct org_id org = store_fixture_org(1);
    struct key prefix = key_feedback_subject_prefix(org, SUBJECT_DOCUMENT, SLICE("a"));
    struct key newer = key_feedback_subject(org, SUBJECT_DOCUMENT, SLICE("a"), 6, 1);
    struct key older = key_feedback_subject(org, SUBJECT_DOCUMENT, SLICE("a"), 5, 9);
    int64_t created_at_us = 0;
    uint64_t seq = 0;

    (void)state;
    assert_int_not_equal(
        compare(prefix, key_feedback_subject_prefix(org, SUBJECT_DRAFT_ORDER, SLICE("a"))), 0);
    assert_true(slice_starts_with(key_slice(&newer), key_slice(&prefix)));
    assert_true(compare(newer, older) < 0);
    assert_int_equal(key_read_newest_first(key_slice(&older), &created_at_us, &seq), OK);
    assert_int_equal(created_at_us, 5);
    assert_int_equal(seq, 9);
}

/* Goal: counters are ordered by day, and day and dimension can be read from a key. Method: edges;
 * other shapes and unknown dimensions are refused. */
static void test_counters_sort_by_day(void **state)
{
    static const uint32_t days[] = {0, 1, 255, 256, 20455, UINT32_MAX};
    struct org_id org = store_fixture_org(1);
    enum counter_dimension dimension = COUNTER_EVENT_TYPE;
    uint32_t day = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
        struct key key = key_counter(org, days[i], COUNTER_MAPPING_APPLIED, SLICE("qty"));
        struct key prefix = key_counter_day_prefix(org, days[i]);

        assert_true(slice_starts_with(key_slice(&key), key_slice(&prefix)));
        assert_true(i == 0 ||
                    compare(key_counter(org, days[i - 1], COUNTER_MAPPING_APPLIED, SLICE("qty")),
                            prefix) < 0);
        assert_int_equal(key_read_counter(key_slice(&key), &day, &dimension), OK);
        assert_true(day == days[i]);
        assert_int_equal(dimension, COUNTER_MAPPING_APPLIED);
        key.bytes[prefix.size] = COUNTER_DIMENSION_MAX + 1;
        assert_int_equal(key_read_counter(key_slice(&key), &day, &dimension), ERR_CORRUPT);
        key.bytes[prefix.size] = 0;
        assert_int_equal(key_read_counter(key_slice(&key), &day, &dimension), ERR_CORRUPT);
        key.bytes[prefix.size] = COUNTER_EVENT_TYPE;
        key.size--;
        assert_int_equal(key_read_counter(key_slice(&key), &day, &dimension), ERR_CORRUPT);
    }
}

/* Goal: a customer's SKUs are in order, are found by a prefix of any length, and contain their
 * mapping. Method: neighbours of a list in the expected order, with each one's prefixes. */
static void test_skus_are_found_by_any_prefix(void **state)
{
    static const char *const order[] = {
        "a", "a-1", "ab", "b", "b\xc3\xbc", "c-a sku that is longer than the key keeps"};
    struct org_id org = store_fixture_org(1);
    uint64_t seq = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        struct slice sku = slice_text(order[i]);
        struct key key = key_mapping_sku(org, SLICE("c"), sku, i + 1);
        struct key all;

        for (size_t size = 0; size <= sku.size; size++) {
            struct key prefix = key_mapping_sku_prefix(org, SLICE("c"), slice_of(sku.data, size));

            assert_true(slice_starts_with(key_slice(&key), key_slice(&prefix)));
        }
        assert_true(i == 0 ||
                    compare(key_mapping_sku(org, SLICE("c"), slice_text(order[i - 1]), UINT64_MAX),
                            key) < 0);
        assert_int_equal(key.size, STORE_KEY_BYTES_MAX);
        assert_int_equal(key_read_mapping_order(key_slice(&key), &seq), OK);
        assert_int_equal(seq, i + 1);
        all = key_mapping_all(org, sku, i + 2);
        assert_int_equal(key_read_mapping_order(key_slice(&all), &seq), OK);
        assert_int_equal(seq, i + 2);
        key.size--;
        assert_int_equal(key_read_mapping_order(key_slice(&key), &seq), ERR_CORRUPT);
    }
    assert_true(compare(key_mapping_sku(org, SLICE("c"), SLICE("a"), 2),
                        key_mapping_sku(org, SLICE("c"), SLICE("a"), 3)) < 0);
}

/* Goal: pairs of SKUs with the same concatenation have different keys. Method: pairs split at
 * another place. */
static void test_sku_pairs_do_not_collide(void **state)
{
    struct org_id org = store_fixture_org(1);

    (void)state;
    assert_int_not_equal(compare(key_mapping_pair(org, SLICE("c"), SLICE("ab"), SLICE("c")),
                                 key_mapping_pair(org, SLICE("c"), SLICE("a"), SLICE("bc"))),
                         0);
    assert_int_not_equal(compare(key_mapping_pair(org, SLICE("c"), SLICE("a"), SLICE("b")),
                                 key_mapping_pair(org, SLICE("c"), SLICE("b"), SLICE("a"))),
                         0);
}

/* Goal: a template's versions sort newest first after its name, templates by name, and long names
 * with the same prefix have different keys. Method: neighbours in the expected order. */
static void test_template_versions_sort_newest_first(void **state)
{
    struct org_id org = store_fixture_org(1);
    struct key one = key_prompt_template_prefix(org, SLICE("a name of more than 24 bytes: 1"));
    struct key two = key_prompt_template_prefix(org, SLICE("a name of more than 24 bytes: 2"));
    struct key prefix = key_prompt_template_prefix(org, SLICE("b"));
    struct key newest = key_prompt_template(org, SLICE("b"), UINT32_MAX);

    (void)state;
    assert_int_not_equal(compare(one, two), 0);
    assert_true(compare(one, prefix) < 0);
    assert_true(slice_starts_with(key_slice(&newest), key_slice(&prefix)));
    assert_true(compare(newest, key_prompt_template(org, SLICE("b"), 2)) < 0);
    assert_true(compare(key_prompt_template(org, SLICE("b"), 2),
                        key_prompt_template(org, SLICE("b"), 1)) < 0);
    assert_true(compare(key_prompt_template(org, SLICE("b"), 1),
                        key_prompt_template(org, SLICE("b1"), UINT32_MAX)) < 0);
}

int run_key_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_sort_newest_first),
        cmocka_unit_test(test_key_has_its_time_and_seq),
        cmocka_unit_test(test_inverted_seqs_are_read_back),
        cmocka_unit_test(test_head_row_sorts_after_all_examples),
        cmocka_unit_test(test_keys_begin_with_their_org),
        cmocka_unit_test(test_entity_pairs_do_not_collide),
        cmocka_unit_test(test_feedback_subjects_sort_newest_first),
        cmocka_unit_test(test_profiles_sort_in_both_orders),
        cmocka_unit_test(test_counters_sort_by_day),
        cmocka_unit_test(test_skus_are_found_by_any_prefix),
        cmocka_unit_test(test_sku_pairs_do_not_collide),
        cmocka_unit_test(test_template_versions_sort_newest_first),
    };

    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
