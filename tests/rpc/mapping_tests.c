/*
 * mapping_tests.c: statements of matchers and people about mappings, through calls: suggestions,
 * confirmations and rejections, their feedback events, permissions, and backdated judgements. Each
 * test ends with a replay of its log.
 */
#include "tests/rpc/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define DAY_US (INT64_C(86400) * 1000000)

/* Goal: a suggestion creates a mapping, or updates the confidence of one; one that changes nothing
 * stores nothing. Method: the same SKUs in several spellings. */
static void test_suggestion_creates_or_updates_a_mapping(void **state)
{
    struct fixture fixture;
    const struct named first = {"c1", " Ab-1 ", "SKU-1", NULL};
    const struct named same = {"c1", "aB-1", "sku-1\xe3\x80\x80", NULL};
    struct caller caller = {.fixture = &fixture};
    Errata__V1__SkuMapping *made = NULL;
    Errata__V1__SkuMapping *again = NULL;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    assert_int_equal(mappings_suggest(&caller, &first, 0.5, &made), STATUS_OK);
    assert_int_equal(made->status, SUGGESTED);
    assert_string_equal(made->customer_sku, " Ab-1 ");
    assert_true(made->confidence == 0.5);
    assert_int_equal(made->support_count, 0);
    assert_null(made->last_used_at);
    seq = mappings_last_seq(&caller);
    assert_int_equal(mappings_suggest(&caller, &same, 0.5, &again), STATUS_OK);
    assert_int_equal(mappings_last_seq(&caller), seq);
    assert_string_equal(again->id, made->id);
    assert_int_equal(mappings_suggest(&caller, &same, 0.25, &again), STATUS_OK);
    assert_int_equal(mappings_last_seq(&caller), seq + 1);
    assert_string_equal(again->id, made->id);
    assert_string_equal(again->internal_sku, "SKU-1");
    assert_true(again->confidence == 0.25);
    assert_int_equal(mappings_get(&caller, made->id, &again), STATUS_OK);
    assert_true(again->confidence == 0.25);
    assert_int_equal(again->status, SUGGESTED);
    fixture_deinit(&fixture);
}

/* Goal: a confirmation sets status, confidence, support and use, and is a feedback event with the
 * suggested values and the candidates. Method: two suggestions, one of them confirmed by its id. */
static void test_confirmation_updates_the_mapping_and_is_feedback(void **state)
{
    struct fixture fixture;
    const struct named first = {"c1", "A-1", "X", NULL};
    const struct named second = {"c1", "a-1", "Y", NULL};
    struct named by_id = {NULL, NULL, NULL, NULL};
    struct caller caller = {.fixture = &fixture};
    Errata__V1__SkuMapping *made = NULL;
    Errata__V1__FeedbackEvent *event = NULL;
    struct judged judged;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    assert_int_equal(mappings_suggest(&caller, &first, 0.5, NULL), STATUS_OK);
    assert_int_equal(mappings_suggest(&caller, &second, 0.75, &made), STATUS_OK);
    by_id.id = made->id;
    clock_manual_advance(&fixture.clock, 1000000);
    assert_int_equal(mappings_confirm(&caller, &by_id, NULL, &judged), STATUS_OK);
    assert_string_equal(judged.mapping->id, made->id);
    assert_int_equal(judged.mapping->status, CONFIRMED);
    assert_true(judged.mapping->confidence == 1);
    assert_int_equal(judged.mapping->support_count, 1);
    assert_non_null(judged.mapping->last_used_at);
    assert_int_equal(judged.mapping->use_count, 0);
    event = mappings_event(&caller, judged.event_id);
    assert_int_equal(event->event_type,
                     ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED);
    assert_string_equal(event->entity_type, "sku_mapping");
    assert_string_equal(event->entity_id, made->id);
    assert_string_equal(event->before_json,
                        "{\"status\":\"SUGGESTED\",\"confidence\":0.75,\"support_count\":0,"
                        "\"suggestions\":[{\"internal_sku\":\"Y\",\"confidence\":0.75},"
                        "{\"internal_sku\":\"X\",\"confidence\":0.5}]}");
    assert_string_equal(event->after_json,
                        "{\"status\":\"CONFIRMED\",\"confidence\":1.0,\"internal_sku\":\"Y\"}");
    assert_int_equal(event->n_mapping_changes, 1);
    assert_true(event->n_fields_changed > 0);
    fixture_deinit(&fixture);
}

/* Goal: of one customer SKU one mapping is confirmed; a second confirmation supersedes it, and a
 * third restores it, each in one event. Method: X, Y, X; then with other letter cases. */
static void test_confirmation_supersedes_the_earlier_one(void **state)
{
    struct fixture fixture;
    const struct named x = {"c1", "A-1", "X", NULL};
    const struct named y = {"c1", "A-1", "Y", NULL};
    struct caller caller = {.fixture = &fixture};
    Errata__V1__SkuMapping *mapping = NULL;
    Errata__V1__FeedbackEvent *event = NULL;
    struct judged of_x;
    struct judged of_y;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    assert_int_equal(mappings_confirm(&caller, &x, NULL, &of_x), STATUS_OK);
    assert_string_equal(of_x.mapping->id, of_x.event_id);
    event = mappings_event(&caller, of_x.event_id);
    assert_string_equal(event->before_json, "{\"suggestions\":[]}");
    assert_int_equal(mappings_confirm(&caller, &y, "{\"suggestions\":[\"Y\",7]}", &of_y),
                     STATUS_OK);
    event = mappings_event(&caller, of_y.event_id);
    assert_string_equal(event->before_json, "{\"suggestions\":[\"Y\",7]}");
    assert_int_equal(event->n_mapping_changes, 2);
    assert_string_equal(event->mapping_changes[1]->mapping->id, of_x.mapping->id);
    assert_int_equal(mappings_get(&caller, of_x.mapping->id, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, SUPERSEDED);
    assert_true(mapping->confidence == 1);
    assert_int_equal(mapping->support_count, 1);
    assert_string_equal(mappings_match_one(&caller, "c1", "a-1")->internal_sku, "Y");

    assert_int_equal(mappings_confirm(&caller, &x, NULL, &of_x), STATUS_OK);
    assert_int_equal(of_x.mapping->status, CONFIRMED);
    assert_int_equal(of_x.mapping->support_count, 2);
    assert_int_equal(mappings_get(&caller, of_y.mapping->id, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, SUPERSEDED);
    assert_string_equal(mappings_match_one(&caller, "c1", "a-1")->internal_sku, "X");
    /* A suggestion neither revives nor lowers. */
    assert_int_equal(mappings_suggest(&caller, &y, 0.9, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, SUPERSEDED);
    assert_int_equal(mappings_suggest(&caller, &x, 0.9, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, CONFIRMED);
    assert_true(mapping->confidence == 1);
    fixture_deinit(&fixture);
}

/* Goal: a rejection takes precedence over suggestions, reports the old values, keeps the support,
 * and takes a confirmed mapping out of use; a confirmation restores it. Method: the whole history
 * of one mapping. */
static void test_rejection_outranks_suggestions(void **state)
{
    struct fixture fixture;
    const struct named x = {"c1", "A-1", "X", NULL};
    struct named by_id = {NULL, NULL, NULL, NULL};
    struct caller caller = {.fixture = &fixture};
    Errata__V1__SkuMapping *mapping = NULL;
    Errata__V1__FeedbackEvent *event = NULL;
    struct judged judged;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    assert_int_equal(mappings_reject(&caller, &x, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, REJECTED);
    assert_true(judged.mapping->confidence == 0);
    assert_int_equal(judged.mapping->_confidence_case,
                     ERRATA__V1__SKU_MAPPING___CONFIDENCE_CONFIDENCE);
    event = mappings_event(&caller, judged.event_id);
    assert_int_equal(event->event_type,
                     ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_MAPPING_REJECTED);
    assert_string_equal(event->meta_json, "{\"internal_sku\":\"X\"}");
    assert_string_equal(event->before_json, "{}");
    seq = mappings_last_seq(&caller);
    assert_int_equal(mappings_suggest(&caller, &x, 0.9, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, REJECTED);
    assert_int_equal(mappings_last_seq(&caller), seq);
    assert_int_equal(mappings_match_one(&caller, "c1", "A-1")->match_method, MATCH_NONE);

    assert_int_equal(mappings_confirm(&caller, &x, NULL, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, CONFIRMED);
    by_id.id = judged.mapping->id;
    assert_int_equal(mappings_reject(&caller, &by_id, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->support_count, 1);
    event = mappings_event(&caller, judged.event_id);
    assert_string_equal(event->before_json,
                        "{\"status\":\"CONFIRMED\",\"confidence\":1.0,\"support_count\":1}");
    assert_string_equal(event->after_json,
                        "{\"status\":\"REJECTED\",\"confidence\":0.0,\"internal_sku\":\"X\"}");
    assert_int_equal(mappings_match_one(&caller, "c1", "A-1")->match_method, MATCH_NONE);
    fixture_deinit(&fixture);
}

/* Goal: a mapping belongs to its customer and its organisation. Method: the same SKU for another
 * customer, and the mapping's id with a token of another organisation, and the id of an event that
 * created no mapping. */
static void test_mapping_belongs_to_customer_and_organisation(void **state)
{
    struct fixture fixture;
    char owner[FIXTURE_TOKEN_BYTES];
    char stranger[FIXTURE_TOKEN_BYTES];
    const struct named x = {"c1", "A-1", "X", NULL};
    const struct named other = {"c2", "A-1", "Y", NULL};
    struct named by_id = {NULL, NULL, NULL, NULL};
    struct caller caller = {.fixture = &fixture};
    struct caller foreign = {.fixture = &fixture};
    struct judged judged;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "owner", owner);
    (void)fixture_make_org(&fixture, "stranger", stranger);
    caller.token = owner;
    foreign.token = stranger;
    assert_int_equal(mappings_confirm(&caller, &x, NULL, &judged), STATUS_OK);
    assert_int_equal(mappings_match_one(&caller, "c2", "A-1")->match_method, MATCH_NONE);
    assert_int_equal(mappings_match_one(&caller, "C1", "A-1")->match_method, MATCH_NONE);
    assert_int_equal(mappings_confirm(&caller, &other, NULL, NULL), STATUS_OK);
    assert_string_equal(mappings_match_one(&caller, "c1", "A-1")->internal_sku, "X");
    assert_string_equal(mappings_match_one(&caller, "c2", "A-1")->internal_sku, "Y");

    by_id.id = judged.mapping->id;
    assert_int_equal(mappings_match_one(&foreign, "c1", "A-1")->match_method, MATCH_NONE);
    assert_int_equal(mappings_get(&foreign, by_id.id, NULL), STATUS_NOT_FOUND);
    assert_int_equal(mappings_confirm(&foreign, &by_id, NULL, NULL), STATUS_NOT_FOUND);
    assert_int_equal(mappings_reject(&foreign, &by_id, NULL), STATUS_NOT_FOUND);
    by_id.id = fixture_capture(&fixture, owner, NULL, "layout")->id;
    assert_int_equal(mappings_get(&caller, by_id.id, NULL), STATUS_NOT_FOUND);
    assert_int_equal(mappings_confirm(&caller, &by_id, NULL, NULL), STATUS_NOT_FOUND);
    fixture_deinit(&fixture);
}

/* Goal: an id with another customer SKU confirms that SKU for the internal SKU of the id's mapping, and does not
 * change that mapping; the mapping's own SKU in another spelling selects the mapping itself. Method: both, also if
 * the other SKU has a confirmed mapping to another SKU; a rejection does not accept another SKU. */
static void test_another_sku_is_confirmed_by_id(void **state)
{
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    const struct named first = {"c1", "A-1", "X", NULL};
    const struct named other = {"c1", "A-2", "Y", NULL};
    struct named moved = {NULL, " a-2", NULL, NULL};
    struct judged judged = {NULL, NULL};
    struct judged again = {NULL, NULL};
    Errata__V1__SkuMapping *mapping = NULL;
    const char *other_id = NULL;
    const char *first_id = NULL;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    assert_int_equal(mappings_confirm(&caller, &other, NULL, &judged), STATUS_OK);
    other_id = judged.mapping->id;
    assert_int_equal(mappings_confirm(&caller, &first, NULL, &judged), STATUS_OK);
    first_id = judged.mapping->id;
    moved.id = first_id;
    assert_int_equal(mappings_confirm(&caller, &moved, NULL, &judged), STATUS_OK);
    assert_string_not_equal(judged.mapping->id, first_id);
    assert_string_equal(judged.mapping->customer_id, "c1");
    assert_string_equal(judged.mapping->customer_sku, " a-2");
    assert_string_equal(judged.mapping->internal_sku, "X");
    assert_int_equal(judged.mapping->status, CONFIRMED);
    assert_int_equal(judged.mapping->support_count, 1);
    assert_int_equal(mappings_get(&caller, other_id, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, SUPERSEDED);
    assert_int_equal(mappings_get(&caller, first_id, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, CONFIRMED);
    assert_int_equal(mapping->support_count, 1);
    assert_int_equal(mappings_confirm(&caller, &moved, NULL, &again), STATUS_OK);
    assert_string_equal(again.mapping->id, judged.mapping->id);
    assert_int_equal(again.mapping->support_count, 2);
    moved.customer_sku = "a-1 ";
    assert_int_equal(mappings_confirm(&caller, &moved, NULL, &judged), STATUS_OK);
    assert_string_equal(judged.mapping->id, first_id);
    assert_int_equal(judged.mapping->support_count, 2);
    assert_int_equal(mappings_reject(&caller, &moved, NULL), STATUS_INVALID_ARGUMENT);
    moved.customer_sku = " ";
    assert_int_equal(mappings_confirm(&caller, &moved, NULL, NULL), STATUS_INVALID_ARGUMENT);
    moved.customer_sku = "A-3";
    moved.id = judged.event_id;
    assert_int_equal(mappings_confirm(&caller, &moved, NULL, NULL), STATUS_NOT_FOUND);
    fixture_deinit(&fixture);
}

/* Goal: an invalid mapping is refused by field, and stores nothing. Method: each mistake once. */
static void test_invalid_mapping_is_refused_by_field(void **state)
{
    static const struct named bad[] = {
        {"", "A", "X", NULL},     {"c", "", "X", NULL},      {"c", " \xc2\xa0", "X", NULL},
        {"c", "A\tB", "X", NULL}, {"c", "A", "X\x7f", NULL}, {"c", "A", "\xe2\x80\x83", NULL},
    };
    static const struct named neither = {NULL, NULL, NULL, NULL};
    static const struct named part = {"c", "A", NULL, NULL};
    static const struct named both = {"c", "A", "X", "01890000-0000-7000-8000-000000000000"};
    static const struct named good = {"c", "A", "X", NULL};
    struct fixture fixture;
    char operator_token[FIXTURE_TOKEN_BYTES];
    struct caller caller = {.fixture = &fixture};
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    fixture_make_token(&fixture, fixture.admin, ROLE_OPERATOR, operator_token);
    seq = mappings_last_seq(&caller);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(mappings_suggest(&caller, &bad[i], 0.5, NULL), STATUS_INVALID_ARGUMENT);
        assert_int_equal(mappings_confirm(&caller, &bad[i], NULL, NULL), STATUS_INVALID_ARGUMENT);
        assert_int_equal(mappings_reject(&caller, &bad[i], NULL), STATUS_INVALID_ARGUMENT);
    }
    assert_int_equal(mappings_suggest(&caller, &good, -1, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_suggest(&caller, &good, 1.5, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_confirm(&caller, &neither, NULL, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_confirm(&caller, &part, NULL, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_confirm(&caller, &both, NULL, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_confirm(&caller, &good, "{\"suggestion\":[]}", NULL),
                     STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_confirm(&caller, &good, "{\"suggestions\":{}}", NULL),
                     STATUS_INVALID_ARGUMENT);
    caller.token = operator_token;
    caller.created_at_us = FIXTURE_START_US - DAY_US;
    assert_int_equal(mappings_suggest(&caller, &good, 0.5, NULL), STATUS_PERMISSION_DENIED);
    assert_int_equal(mappings_confirm(&caller, &good, NULL, NULL), STATUS_PERMISSION_DENIED);
    assert_int_equal(mappings_reject(&caller, &good, NULL), STATUS_PERMISSION_DENIED);
    caller.token = fixture.admin;
    caller.created_at_us = FIXTURE_START_US + DAY_US;
    assert_int_equal(mappings_suggest(&caller, &good, 0.5, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_confirm(&caller, &good, NULL, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_last_seq(&caller), seq);
    fixture_deinit(&fixture);
}

/* Goal: a backdated judgement changes no status that was decided at a later time, but counts as
 * support. Method: judgements of four days, recorded in another order. */
static void test_backdated_judgement_counts_only_as_support(void **state)
{
    struct fixture fixture;
    const struct named x = {"c1", "A-1", "X", NULL};
    const struct named y = {"c1", "A-1", "Y", NULL};
    const struct named z = {"c1", "A-1", "Z", NULL};
    struct caller live = {.fixture = &fixture};
    struct caller early = {.fixture = &fixture, .created_at_us = FIXTURE_START_US - 9 * DAY_US};
    struct caller later = {.fixture = &fixture, .created_at_us = FIXTURE_START_US - 5 * DAY_US};
    Errata__V1__SkuMapping *mapping = NULL;
    struct judged judged;

    (void)state;
    fixture_init(&fixture);
    live.token = fixture.admin;
    early.token = fixture.admin;
    later.token = fixture.admin;
    assert_int_equal(mappings_confirm(&later, &x, NULL, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->created_at->seconds, later.created_at_us / 1000000);
    assert_int_equal(mappings_confirm(&early, &y, NULL, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, SUPERSEDED);
    assert_int_equal(judged.mapping->support_count, 1);
    assert_string_equal(mappings_match_one(&live, "c1", "a-1")->internal_sku, "X");
    /* A rejection dated before the confirmation. */
    assert_int_equal(mappings_reject(&early, &x, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, CONFIRMED);
    /* A confirmation dated before the rejection. */
    assert_int_equal(mappings_reject(&live, &x, &judged), STATUS_OK);
    assert_int_equal(mappings_confirm(&later, &x, NULL, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, REJECTED);
    assert_int_equal(judged.mapping->support_count, 2);
    assert_int_equal(mappings_match_one(&live, "c1", "a-1")->match_method, MATCH_SUPERSEDED);
    /* A judgement takes precedence over a suggestion, and a newer suggestion over an older one. */
    assert_int_equal(mappings_suggest(&live, &z, 0.5, NULL), STATUS_OK);
    assert_int_equal(mappings_suggest(&early, &z, 0.9, &mapping), STATUS_OK);
    assert_true(mapping->confidence == 0.5);
    /* A later confirmation remains the end of an earlier one, even if it was rejected since. */
    assert_int_equal(mappings_confirm(&early, &z, NULL, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, SUPERSEDED);
    assert_true(judged.mapping->confidence == 1);
    assert_int_equal(mappings_match_one(&live, "c1", "a-1")->match_method, MATCH_SUPERSEDED);
    fixture_deinit(&fixture);
}

/* Goal: a judgement is ordered by its time among other judgements but not among suggestions.
 * Method: a suggestion of today, and two earlier judgements, recorded in both orders. */
static void test_judgement_outranks_later_suggestions(void **state)
{
    const struct named x = {"c1", "A-1", "X", NULL};
    const struct named y = {"c1", "B-1", "Y", NULL};
    struct fixture fixture;
    struct caller live = {.fixture = &fixture};
    struct caller early = {.fixture = &fixture, .created_at_us = FIXTURE_START_US - 9 * DAY_US};
    struct caller later = {.fixture = &fixture, .created_at_us = FIXTURE_START_US - 5 * DAY_US};
    struct judged judged;

    (void)state;
    fixture_init(&fixture);
    live.token = fixture.admin;
    early.token = fixture.admin;
    later.token = fixture.admin;
    assert_int_equal(mappings_suggest(&live, &x, 0.5, NULL), STATUS_OK);
    assert_int_equal(mappings_reject(&early, &x, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, REJECTED);
    assert_int_equal(mappings_confirm(&later, &x, NULL, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, CONFIRMED);
    assert_int_equal(mappings_suggest(&live, &y, 0.5, NULL), STATUS_OK);
    assert_int_equal(mappings_confirm(&later, &y, NULL, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, CONFIRMED);
    assert_int_equal(mappings_reject(&early, &y, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, CONFIRMED);
    fixture_deinit(&fixture);
}

/* Goal: a VIEWER only reads, an INTEGRATOR only backfills, a user's token records judgements only
 * of that user. Method: each role's token, and the actor of the event. */
static void test_roles_limit_who_may_judge(void **state)
{
    struct fixture fixture;
    const struct named x = {"c1", "A-1", "X", NULL};
    char token[FIXTURE_TOKEN_BYTES];
    struct caller caller = {.fixture = &fixture, .token = token};
    struct judged judged;

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, token);
    assert_int_equal(mappings_suggest(&caller, &x, 0.5, NULL), STATUS_PERMISSION_DENIED);
    assert_int_equal(mappings_confirm(&caller, &x, NULL, NULL), STATUS_PERMISSION_DENIED);
    assert_int_equal(mappings_reject(&caller, &x, NULL), STATUS_PERMISSION_DENIED);
    assert_int_equal(mappings_record(&caller, "AAAA", NULL, NULL), STATUS_PERMISSION_DENIED);
    fixture_make_token(&fixture, fixture.admin, ROLE_INTEGRATOR, token);
    assert_int_equal(mappings_suggest(&caller, &x, 0.5, NULL), STATUS_PERMISSION_DENIED);
    assert_int_equal(mappings_confirm(&caller, &x, NULL, NULL), STATUS_PERMISSION_DENIED);
    caller.created_at_us = FIXTURE_START_US - DAY_US;
    assert_int_equal(mappings_suggest(&caller, &x, 0.5, NULL), STATUS_OK);
    assert_int_equal(mappings_confirm(&caller, &x, NULL, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->last_used_at->seconds, caller.created_at_us / 1000000);
    assert_null(mappings_event(&caller, judged.event_id)->actor_user_id);
    caller.created_at_us = 0;
    fixture_make_token(&fixture, fixture.admin, ROLE_OPERATOR, token);
    assert_int_equal(mappings_confirm(&caller, &x, NULL, &judged), STATUS_OK);
    assert_non_null(mappings_event(&caller, judged.event_id)->actor_user_id);
    assert_int_equal(mappings_get(&caller, judged.mapping->id, NULL), STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: long suggestions are cut to fit into the event. Method: suggestions of 50 KB. */
static void test_long_suggestions_are_cut(void **state)
{
    static char json[50000];
    struct fixture fixture;
    const struct named x = {"c1", "A-1", "X", NULL};
    struct caller caller = {.fixture = &fixture};
    Errata__V1__FeedbackEvent *event = NULL;
    struct judged judged;
    size_t size = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    size = (size_t)snprintf(json, sizeof(json), "{\"suggestions\":[0");
    while (size + 100 < sizeof(json)) {
        size += (size_t)snprintf(json + size, sizeof(json) - size,
                                 ",{\"internal_sku\":\"SKU-%zu\",\"confidence\":0.5}", size);
    }
    (void)snprintf(json + size, sizeof(json) - size, "]}");
    assert_int_equal(mappings_confirm(&caller, &x, json, &judged), STATUS_OK);
    event = mappings_event(&caller, judged.event_id);
    assert_true(event->reduced);
    assert_true(strlen(event->before_json) <= 10240);
    assert_string_equal(event->after_json,
                        "{\"status\":\"CONFIRMED\",\"confidence\":1.0,\"internal_sku\":\"X\"}");
    fixture_deinit(&fixture);
}

/* Goal: a repeat under its key gets the first answer and has no further effect. Method: each write
 * twice, with a change of the mapping in between. */
static void test_repeat_under_a_key_has_no_effect(void **state)
{
    struct fixture fixture;
    const struct named x = {"c1", "A-1", "X", NULL};
    const struct named y = {"c1", "A-1", "Y", NULL};
    struct caller plain = {.fixture = &fixture};
    struct caller keyed = {.fixture = &fixture, .key = "key"};
    Errata__V1__SkuMapping *mapping = NULL;
    struct judged first;
    struct judged again;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    plain.token = fixture.admin;
    keyed.token = fixture.admin;
    assert_int_equal(mappings_suggest(&keyed, &x, 0.5, NULL), STATUS_OK);
    assert_int_equal(mappings_confirm(&keyed, &x, NULL, &first), STATUS_OK);
    assert_int_equal(mappings_confirm(&plain, &y, NULL, NULL), STATUS_OK);
    seq = mappings_last_seq(&plain);
    assert_int_equal(mappings_suggest(&keyed, &x, 0.5, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, SUGGESTED);
    assert_int_equal(mappings_confirm(&keyed, &x, NULL, &again), STATUS_OK);
    assert_string_equal(again.event_id, first.event_id);
    assert_int_equal(again.mapping->status, CONFIRMED);
    assert_int_equal(mappings_confirm(&keyed, &y, NULL, NULL), STATUS_ALREADY_EXISTS);
    assert_int_equal(mappings_last_seq(&plain), seq);
    assert_int_equal(mappings_reject(&keyed, &y, &first), STATUS_OK);
    assert_int_equal(mappings_reject(&keyed, &y, &again), STATUS_OK);
    assert_string_equal(again.event_id, first.event_id);
    assert_int_equal(mappings_last_seq(&plain), seq + 1);
    fixture_deinit(&fixture);
}

/* Goal: a repeat whose event is lost reports that the store is damaged, not that the request is
 * wrong. Method: a confirmation under a key, its event's row deleted. */
static void test_repeat_of_a_lost_event_is_corrupt(void **state)
{
    const struct named x = {"c1", "A-1", "X", NULL};
    struct fixture fixture;
    struct caller keyed = {.fixture = &fixture, .key = "key"};
    struct org_id org;
    struct store_txn *txn = NULL;
    struct key key;
    char admin[FIXTURE_TOKEN_BYTES];

    (void)state;
    fixture_init(&fixture);
    assert_true(uuid_parse(slice_text(fixture_make_org(&fixture, "one", admin)), &org.uuid));
    keyed.token = admin;
    assert_int_equal(mappings_confirm(&keyed, &x, NULL, NULL), STATUS_OK);
    key = key_event(org, mappings_last_seq(&keyed));
    assert_int_equal(store_begin(fixture.backend, STORE_WRITE, &txn), OK);
    assert_int_equal(store_del(txn, TABLE_EVENT, key_slice(&key)), OK);
    assert_int_equal(store_commit(txn), OK);
    assert_int_equal(mappings_confirm(&keyed, &x, NULL, NULL), STATUS_INTERNAL);
    fixture.is_damaged = true;
    fixture_deinit(&fixture);
}

int run_mapping_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suggestion_creates_or_updates_a_mapping),
        cmocka_unit_test(test_confirmation_updates_the_mapping_and_is_feedback),
        cmocka_unit_test(test_confirmation_supersedes_the_earlier_one),
        cmocka_unit_test(test_rejection_outranks_suggestions),
        cmocka_unit_test(test_mapping_belongs_to_customer_and_organisation),
        cmocka_unit_test(test_invalid_mapping_is_refused_by_field),
        cmocka_unit_test(test_another_sku_is_confirmed_by_id),
        cmocka_unit_test(test_backdated_judgement_counts_only_as_support),
        cmocka_unit_test(test_judgement_outranks_later_suggestions),
        cmocka_unit_test(test_repeat_under_a_key_has_no_effect),
        cmocka_unit_test(test_repeat_of_a_lost_event_is_corrupt),
        cmocka_unit_test(test_roles_limit_who_may_judge),
        cmocka_unit_test(test_long_suggestions_are_cut),
    };

    return cmocka_run_group_tests_name("mappings", tests, NULL, NULL);
}
