/*
 * settings_tests.c: the settings of an organisation: their defaults, the change of each member, and
 * the row that an event writes.
 */
#include "server/domain/events/subject.h"
#include "server/domain/settings/decision_settings.h"
#include "server/domain/settings/redacted_members.h"
#include "server/domain/settings/retention_settings.h"
#include "server/domain/settings/settings_cache.h"
#include "server/domain/settings/turn_settings.h"
#include "store/base/wire.h"
#include "tests/support/store/store_fixture.h"

#include <event_apply.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errata/v1/admin_service.fields.h>
#include <errata/v1/event.fields.h>

static struct store_txn *begin(struct store_fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    log_begin_write(txn, NULL);
    return txn;
}

/* Appends the first event of the organisation, which creates it. */
static void make_org(struct store_fixture *fixture, struct store_txn *txn, struct org_id org)
{
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_ORGANIZATION_CREATED,
        .annotator = ANNOTATOR_HUMAN,
        .source = SOURCE_LIVE,
        .subjects = {{SUBJECT_ORGANIZATION, SLICE("org")}},
        .subject_count = 1,
        .facts = SLICE("facts"),
    };
    struct event event;

    assert_int_equal(log_next_stamp(&fixture->ctx, txn, org, &draft.stamp), OK);
    draft.created_at_us = draft.stamp.created_at_us;
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), OK);
}

static void expect(struct store_txn *txn, struct org_id org, uint32_t holdout_percent,
                   enum match_mode match_mode)
{
    struct settings settings;

    assert_int_equal(settings_read(txn, org, &settings), OK);
    assert_int_equal(settings.holdout_percent, holdout_percent);
    assert_int_equal(settings.match_mode, match_mode);
}

/* Goal: a change affects only the named members, and no other organisation's. Method: one member,
 * then the other, then nothing new; each is an event with its actor. */
static void test_change_affects_only_named_members(void **state)
{
    struct store_fixture *fixture = *state;
    struct org_id org = store_fixture_org(1);
    struct org_id other = store_fixture_org(2);
    struct store_txn *txn = begin(fixture);
    struct settings_change change = {.has_holdout_percent = true, .holdout_percent = 20};
    struct event event;
    uint64_t seq = 0;

    make_org(fixture, txn, org);
    make_org(fixture, txn, other);
    expect(txn, org, 0, MATCH_MODE_EXACT);
    assert_int_equal(settings_update(&fixture->ctx, txn, org, SLICE("anna"), &change, &seq), OK);
    assert_int_equal(seq, 2);
    expect(txn, org, 20, MATCH_MODE_EXACT);

    change = (struct settings_change){
        .by_program = true, .has_match_mode = true, .match_mode = MATCH_MODE_EXACT};
    assert_int_equal(settings_update(&fixture->ctx, txn, org, SLICE("token:1"), &change, &seq), OK);
    assert_int_equal(seq, 3);
    expect(txn, org, 20, MATCH_MODE_EXACT);
    assert_int_equal(settings_update(&fixture->ctx, txn, org, SLICE("token:1"), &change, &seq), OK);
    assert_int_equal(seq, 4);
    expect(txn, org, 20, MATCH_MODE_EXACT);
    expect(txn, other, 0, MATCH_MODE_EXACT);

    assert_int_equal(log_read(txn, org, 2, &event), OK);
    assert_int_equal(event.kind, EVENT_SETTINGS_UPDATED);
    assert_int_equal(event.annotator, ANNOTATOR_HUMAN);
    assert_true(slice_equal(event.actor_user_id, SLICE("anna")));
    assert_int_equal(event.subjects[0].kind, SUBJECT_ORGANIZATION);
    assert_int_equal(event.content.size, 0);
    assert_int_equal(log_read(txn, org, 3, &event), OK);
    assert_int_equal(event.annotator, ANNOTATOR_CODE);
    store_abort(txn);
}

/* Goal: an unknown organisation has no settings to change. Method: one without an event. */
static void test_unknown_organisation_has_no_settings(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct settings_change change = {.has_holdout_percent = true, .holdout_percent = 1};
    uint64_t seq = 0;

    assert_int_equal(
        settings_update(&fixture->ctx, txn, store_fixture_org(1), SLICE("anna"), &change, &seq),
        ERR_NOT_FOUND);
    assert_int_equal(seq, 0);
    store_abort(txn);
}

/* Goal: the row and the response depend only on the event. Method: applies an event to an
 * organisation that never saw it, and reads the settings back. */
static void test_row_and_response_depend_only_on_the_event(void **state)
{
    struct store_fixture *fixture = *state;
    struct org_id org = store_fixture_org(1);
    struct store_txn *txn = begin(fixture);
    const struct settings_change change = {.has_holdout_percent = true,
                                           .holdout_percent = 100,
                                           .has_match_mode = true,
                                           .match_mode = MATCH_MODE_EXACT,
                                           .grouping = EXAMPLE_GROUPING_DOCUMENT,
                                           .annotator_kinds =
                                               ANNOTATOR_KINDS_HUMAN | 1u << ANNOTATOR_KIND_LLM,
                                           .stacking = SCORE_STACKING_MAX,
                                           .has_suspicious_at = true,
                                           .suspicious_at = 0.25,
                                           .has_fake_at = true,
                                           .fake_at = 0.5,
                                           .reviews_needed = 2,
                                           .has_redacted_members = true,
                                           .redacted_members = SLICE("\x0a\x03pin\x0a\x02"
                                                                     "id"),
                                           .votes_needed = 1,
                                           .has_evaluator_id = true,
                                           .evaluator_id = SLICE("j"),
                                           .has_gate_agents = true,
                                           .gate_agents = SLICE("\x0a\x06\x0a\x01g\x12\x01"
                                                                "a"),
                                           .has_extra_cues = true,
                                           .extra_cues = SLICE("\x0a\x06\x0a\x01N\x12\x01"
                                                               "x"),
                                           .topic_change = TOPIC_CHANGE_NEUTRAL,
                                           .has_content_retention = true,
                                           .content_retention = SLICE("\x18\x1e")};
    /* Doubles: 0.25 is 0x3fd0..., 0.5 is 0x3fe0... */
    const uint8_t whole[] = {0x08, 100,
                             0x10, MATCH_MODE_EXACT,
                             0x1a, 2,
                             1,    3,
                             0x20, EXAMPLE_GROUPING_DOCUMENT,
                             0x28, SCORE_STACKING_MAX,
                             0x31, 0,
                             0,    0,
                             0,    0,
                             0,    0xd0,
                             0x3f, 0x39,
                             0,    0,
                             0,    0,
                             0,    0,
                             0xe0, 0x3f,
                             0x40, 2,
                             0x4a, 9,
                             0x0a, 3,
                             'p',  'i',
                             'n',  0x0a,
                             2,    'i',
                             'd',  0x78,
                             1,    0x82,
                             1,    1,
                             'j',  0x8a,
                             1,    8,
                             0x0a, 6,
                             0x0a, 1,
                             'g',  0x12,
                             1,    'a',
                             0xc2, 1,
                             8,    0x0a,
                             6,    0x0a,
                             1,    'N',
                             0x12, 1,
                             'x',  0xc8,
                             1,    TOPIC_CHANGE_NEUTRAL,
                             0xc2, 2,
                             7,    0x08,
                             0xed, 2,
                             0x10, 0,
                             0x18, 30};
    struct slice members = {NULL, 0};
    struct slice after = {NULL, 0};
    struct slice agent = {NULL, 0};
    struct decision_settings decisions;
    struct turn_settings turns;
    struct content_retention_view retention;
    struct settings settings;
    struct event event;
    uint64_t seq = 0;

    make_org(fixture, txn, org);
    assert_int_equal(settings_update(&fixture->ctx, txn, org, SLICE("anna"), &change, &seq), OK);
    assert_int_equal(log_read(txn, org, seq, &event), OK);
    assert_int_equal(settings_after_event(&event, &after), OK);
    assert_true(slice_equal(after, slice_of(whole, sizeof(whole))));
    assert_int_equal(redacted_members_read(txn, org, UINT64_MAX, &members), OK);
    assert_true(slice_equal(members, change.redacted_members));
    assert_int_equal(redacted_members_read(txn, org, seq - 1, &members), OK);
    assert_true(slice_equal(members, redacted_members_default()));
    assert_int_equal(decision_settings_read(txn, org, &decisions), OK);
    assert_true(slice_equal(decisions.evaluator_id, SLICE("j")));
    assert_int_equal(decision_settings_agent(&decisions, SLICE("g"), &agent), OK);
    assert_true(slice_equal(agent, SLICE("a")));
    assert_int_equal(decision_settings_agent(&decisions, SLICE("h"), &agent), OK);
    assert_int_equal(agent.size, 0);
    assert_int_equal(turn_settings_read(txn, org, &turns), OK);
    assert_true(slice_equal(turns.extra_cues, change.extra_cues));
    assert_int_equal(turns.topic_change, TOPIC_CHANGE_NEUTRAL);
    assert_int_equal(retention_settings_read(txn, org, &retention), OK);
    assert_int_equal(content_retention_days(&retention, CONTENT_CLASS_CORRECTIONS),
                     RETENTION_CORRECTIONS_DAYS_DEFAULT);
    assert_int_equal(content_retention_days(&retention, CONTENT_CLASS_VERDICTS), 0);
    assert_int_equal(content_retention_days(&retention, CONTENT_CLASS_REVIEWS), 30);

    event.org = store_fixture_org(2);
    assert_int_equal(settings_apply(&fixture->ctx, txn, &event), OK);
    expect(txn, event.org, 100, MATCH_MODE_EXACT);
    assert_int_equal(settings_read(txn, event.org, &settings), OK);
    assert_int_equal(settings.annotator_kinds, change.annotator_kinds);
    assert_int_equal(settings.grouping, EXAMPLE_GROUPING_DOCUMENT);
    assert_int_equal(settings.stacking, SCORE_STACKING_MAX);
    assert_int_equal(settings.suspicious_at, 250000000);
    assert_int_equal(settings.fake_at, 500000000);
    assert_int_equal(settings.reviews_needed, 2);
    assert_int_equal(settings.votes_needed, 1);
    store_abort(txn);
}

/* Goal: an organisation that has set nothing keeps corrections for a year, and the rest for ever; a change keeps the other times.
 * Method: the default, which is the encoded form of its values, then two changes. */
static void test_content_is_kept_for_a_time(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct org_id org = store_fixture_org(1);
    const struct content_retention_view defaults = {
        .corrections_days = RETENTION_CORRECTIONS_DAYS_DEFAULT,
        .has_corrections_days = true,
        .has_verdicts_days = true,
        .has_reviews_days = true,
    };
    struct content_retention_view kept;
    struct settings_change change = {.has_content_retention = true};
    struct settings_texts texts;
    struct slice encoded = {NULL, 0};
    uint64_t seq = 0;

    make_org(fixture, txn, org);
    assert_true(view_encode(&content_retention_view_type, &defaults, fixture->ctx.arena, &encoded));
    assert_int_equal(settings_texts_read(txn, org, &texts), OK);
    assert_true(slice_equal(texts.content_retention, encoded));
    change.content_retention = SLICE("\x08\x02");
    assert_int_equal(settings_update(&fixture->ctx, txn, org, SLICE("anna"), &change, &seq), OK);
    change.content_retention = SLICE("\x10\x03");
    assert_int_equal(settings_update(&fixture->ctx, txn, org, SLICE("anna"), &change, &seq), OK);
    assert_int_equal(retention_settings_read(txn, org, &kept), OK);
    assert_int_equal(kept.corrections_days, 2);
    assert_int_equal(kept.verdicts_days, 3);
    assert_int_equal(kept.reviews_days, 0);
    store_abort(txn);
}

/* Goal: thresholds are in order, rounded to billionths, and the default leaves no trace in the row. Method: each change
 * that is refused or accepted, in turn; the bytes of the row before and after. */
static void test_thresholds_are_in_order(void **state)
{
    static const struct {
        struct settings_change change;
        enum err err;
        uint32_t suspicious_at;
        uint32_t fake_at;
    } steps[] = {
        {{.has_suspicious_at = true, .suspicious_at = 0.61}, ERR_INVALID, 400000000, 600000000},
        {{.has_fake_at = true, .fake_at = 0.3999999999}, OK, 400000000, 400000000},
        {{.has_fake_at = true, .fake_at = 0.399999999}, ERR_INVALID, 400000000, 400000000},
        {{.has_fake_at = true, .fake_at = 1}, OK, 400000000, 1000000000},
        {{.has_suspicious_at = true}, OK, 0, 1000000000},
        {{.has_suspicious_at = true, .suspicious_at = 1}, OK, 1000000000, 1000000000},
        {{.has_suspicious_at = true, .suspicious_at = 0.4, .has_fake_at = true, .fake_at = 0.6},
         OK,
         400000000,
         600000000},
    };
    const struct settings_change first = {.has_holdout_percent = true, .holdout_percent = 7};
    struct store_fixture *fixture = *state;
    struct org_id org = store_fixture_org(1);
    struct store_txn *txn = begin(fixture);
    struct key key = key_org(org);
    struct slice row = {NULL, 0};
    struct settings settings;
    uint64_t seq = 0;
    size_t row_bytes = 0;

    make_org(fixture, txn, org);
    assert_int_equal(settings_update(&fixture->ctx, txn, org, SLICE("anna"), &first, &seq), OK);
    assert_int_equal(store_get(txn, TABLE_SETTINGS, key_slice(&key), &row), OK);
    row_bytes = row.size;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        fault_init(fixture->ctx.fault, &fixture->arena);
        assert_int_equal(
            settings_update(&fixture->ctx, txn, org, SLICE("anna"), &steps[i].change, &seq),
            steps[i].err);
        assert_int_equal(settings_read(txn, org, &settings), OK);
        assert_int_equal(settings.suspicious_at, steps[i].suspicious_at);
        assert_int_equal(settings.fake_at, steps[i].fake_at);
        assert_int_equal(settings_read_as_of(txn, org, UINT64_MAX - 1, &settings), OK);
        assert_int_equal(settings.fake_at, steps[i].fake_at);
    }
    assert_int_equal(settings_read_as_of(txn, org, 3, &settings), OK);
    assert_int_equal(settings.fake_at, 400000000);
    assert_int_equal(store_get(txn, TABLE_SETTINGS, key_slice(&key), &row), OK);
    assert_int_equal(row.size, row_bytes);
    store_abort(txn);
}

/* Goal: the cache returns an organisation's settings as they are after its last event. Method: changes of two
 * organisations, which share a slot, each read before and after. */
static void test_cache_returns_current_settings(void **state)
{
    struct store_fixture *fixture = *state;
    struct org_id orgs[] = {store_fixture_org(1), store_fixture_org(1)};
    struct store_txn *txn = begin(fixture);
    struct settings_cache *cache = arena_calloc(&fixture->arena, 1, sizeof(*cache));

    assert_non_null(cache);
    orgs[1].uuid.bytes[0] ^= 1; /* not the byte of the slot */
    make_org(fixture, txn, orgs[0]);
    make_org(fixture, txn, orgs[1]);
    for (uint32_t step = 0; step < 8; step++) {
        const struct settings_change change = {.has_holdout_percent = true,
                                               .holdout_percent = step};
        struct org_id org = orgs[step / 2 % 2];
        uint64_t seq = 0;

        assert_int_equal(settings_update(&fixture->ctx, txn, org, SLICE("anna"), &change, &seq),
                         OK);
        for (size_t i = 0; i < 4; i++) {
            struct log_head head;
            struct settings cached;
            struct settings read;

            assert_int_equal(log_read_head(txn, orgs[i / 2], &head), OK);
            assert_int_equal(settings_cache_read(cache, txn, orgs[i / 2], head.last_seq, &cached),
                             OK);
            assert_int_equal(settings_read(txn, orgs[i / 2], &read), OK);
            assert_int_equal(cached.holdout_percent, read.holdout_percent);
        }
    }
    store_abort(txn);
}

/* Goal: facts that no update can have written are refused. Method: each kind of defect. */
static void test_facts_that_no_update_wrote_are_corrupt(void **state)
{
    static const struct slice bad[] = {
        {(const uint8_t *)"", 0}, /* the following bytes are missing */
        {(const uint8_t *)"\x12\x02\x08\x65", 4}, /* 101 percent */
        {(const uint8_t *)"\x12\x02\x10\x00", 4}, /* an unspecified mode */
        {(const uint8_t *)"\x12\x02\x10\x63", 4}, /* an unknown mode */
        {(const uint8_t *)"\x12\x02\x20\x00", 4}, /* an unspecified grouping */
        {(const uint8_t *)"\x12\x03\x1a\x01\x04", 5}, /* an unknown kind of annotator */
        {(const uint8_t *)"\x12\x02\x28\x00", 4}, /* an unspecified stacking */
        {(const uint8_t *)"\x12\x09\x31\0\0\0\0\0\0\xf0\x3f",
         11}, /* suspicious_at 1 above fake_at */
        {(const uint8_t *)"\x12\x09\x39\0\0\0\0\0\0\xf8\x3f", 11}, /* fake_at 1.5 */
        {(const uint8_t *)"\x12\x02\x40\x00", 4}, /* no reviewer is needed */
        {(const uint8_t *)"\x12\x02\x40\x65", 4}, /* 101 are needed */
        {(const uint8_t *)"\x12\x02\x0a\x00", 4}, /* percent as bytes */
        {(const uint8_t *)"\x12\x05\x08", 3}, /* cut */
        {(const uint8_t *)"\x12\x01\x08", 3}, /* truncated */
    };
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct slice after = {NULL, 0};
    struct event event = {.org = store_fixture_org(1), .seq = 1, .kind = EVENT_SETTINGS_UPDATED};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        event.facts = bad[i];
        assert_int_equal(settings_apply(&fixture->ctx, txn, &event), ERR_CORRUPT);
    }
    event.facts = SLICE("\x12\x02\x08\x64");
    assert_int_equal(settings_apply(&fixture->ctx, txn, &event), OK);
    expect(txn, event.org, 100, MATCH_MODE_EXACT);
    event.kind = EVENT_TOKEN_CREATED;
    assert_int_equal(settings_after_event(&event, &after), ERR_CORRUPT);
    store_abort(txn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_change_affects_only_named_members,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_organisation_has_no_settings,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_row_and_response_depend_only_on_the_event,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_content_is_kept_for_a_time, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_thresholds_are_in_order, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_cache_returns_current_settings, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_facts_that_no_update_wrote_are_corrupt,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
