/*
 * isolation_tests.c: nothing of one organisation is visible from another: its ids get the responses
 * to unknown ids, its examples, events and tokens do not appear.
 */
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Two organisations, one with a secret correction. */
struct pair {
    struct fixture fixture;
    char owner[FIXTURE_TOKEN_BYTES];
    char stranger[FIXTURE_TOKEN_BYTES];
    const char *owner_org;
    char event_id[UUID_TEXT_BYTES + 1];
};

static void pair_init(struct pair *pair)
{
    fixture_init(&pair->fixture);
    pair->owner_org = fixture_make_org(&pair->fixture, "owner", pair->owner);
    (void)fixture_make_org(&pair->fixture, "stranger", pair->stranger);
    (void)snprintf(pair->event_id, sizeof(pair->event_id), "%s",
                   fixture_capture(&pair->fixture, pair->owner, NULL, "shared layout")->id);
}

/* Checks that two responses are equal, except for the ids that they repeat. */
static void assert_same_refusal(const struct exchange *a, const struct exchange *b)
{
    assert_int_equal(a->code, STATUS_NOT_FOUND);
    assert_int_equal(b->code, STATUS_NOT_FOUND);
    assert_int_equal(a->message.size, b->message.size);
    assert_int_equal(a->details.size, b->details.size);
}

/* Goal: another organisation's event id gets the same response as a made-up one. Method: both
 * methods that take one, with the token of another organisation. */
static void test_foreign_event_id_is_unknown(void **state)
{
    static char made_up[] = "01890000-0000-7000-8000-000000000000";
    static struct pair pair;
    Errata__V1__GetEventRequest event = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    Errata__V1__GetFeedbackEventRequest feedback = ERRATA__V1__GET_FEEDBACK_EVENT_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.EventService/GetEvent"};
    struct exchange foreign;
    struct exchange unknown;

    (void)state;
    pair_init(&pair);
    start.authorization = pair.owner;
    event.key_case = ERRATA__V1__GET_EVENT_REQUEST__KEY_ID;
    event.id = pair.event_id;
    assert_int_equal(fixture_call(&pair.fixture, &start, &event.base, NULL), STATUS_OK);
    start.authorization = pair.stranger;
    foreign = fixture_call_whole(&pair.fixture, &start, &event.base);
    event.id = made_up;
    unknown = fixture_call_whole(&pair.fixture, &start, &event.base);
    assert_same_refusal(&foreign, &unknown);

    start.path = "errata.v1.FeedbackService/GetFeedbackEvent";
    feedback.id = pair.event_id;
    foreign = fixture_call_whole(&pair.fixture, &start, &feedback.base);
    feedback.id = made_up;
    unknown = fixture_call_whole(&pair.fixture, &start, &feedback.base);
    assert_same_refusal(&foreign, &unknown);
    fixture_deinit(&pair.fixture);
}

/* Goal: a seq that no log can have is INVALID_ARGUMENT rather than NOT_FOUND. Method: seq 0, no
 * key, and the first seq beyond the log. */
static void test_impossible_seq_is_invalid(void **state)
{
    static struct pair pair;
    Errata__V1__GetEventRequest event = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.EventService/GetEvent"};
    struct exchange refused;

    (void)state;
    pair_init(&pair);
    start.authorization = pair.owner;
    refused = fixture_call_whole(&pair.fixture, &start, &event.base);
    assert_int_equal(refused.code, STATUS_INVALID_ARGUMENT);
    event.key_case = ERRATA__V1__GET_EVENT_REQUEST__KEY_SEQ;
    event.seq = 0;
    refused = fixture_call_whole(&pair.fixture, &start, &event.base);
    assert_int_equal(refused.code, STATUS_INVALID_ARGUMENT);
    event.seq = 1;
    assert_int_equal(fixture_call(&pair.fixture, &start, &event.base, NULL), STATUS_OK);
    event.seq = 1000;
    refused = fixture_call_whole(&pair.fixture, &start, &event.base);
    assert_int_equal(refused.code, STATUS_NOT_FOUND);
    fixture_deinit(&pair.fixture);
}

/* Goal: another organisation's id gets the same response as a made-up one, and its tokens cannot be
 * revoked; a server token may name it. Method: AdminService's methods with org_id. */
static void test_foreign_organisation_id_is_unknown(void **state)
{
    static char made_up[] = "01890000-0000-7000-8000-000000000000";
    static struct pair pair;
    char key_id[9];
    Errata__V1__ListTokensRequest list = ERRATA__V1__LIST_TOKENS_REQUEST__INIT;
    Errata__V1__RevokeTokenRequest revoke = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.AdminService/ListTokens"};
    struct exchange foreign;
    struct exchange unknown;

    (void)state;
    pair_init(&pair);
    start.authorization = pair.stranger;
    list.org_id = (char *)(uintptr_t)pair.owner_org;
    foreign = fixture_call_whole(&pair.fixture, &start, &list.base);
    list.org_id = made_up;
    unknown = fixture_call_whole(&pair.fixture, &start, &list.base);
    assert_same_refusal(&foreign, &unknown);
    list.org_id = (char *)(uintptr_t)pair.owner_org;
    start.authorization = pair.fixture.admin;
    assert_int_equal(fixture_call(&pair.fixture, &start, &list.base, NULL), STATUS_OK);

    start.path = "errata.v1.AdminService/RevokeToken";
    start.authorization = pair.stranger;
    fixture_key_id_of(pair.owner, key_id);
    revoke.key_id = key_id;
    foreign = fixture_call_whole(&pair.fixture, &start, &revoke.base);
    (void)snprintf(key_id, sizeof(key_id), "%s", "00000000");
    unknown = fixture_call_whole(&pair.fixture, &start, &revoke.base);
    assert_same_refusal(&foreign, &unknown);
    revoke.org_id = (char *)(uintptr_t)pair.owner_org;
    foreign = fixture_call_whole(&pair.fixture, &start, &revoke.base);
    assert_int_equal(foreign.code, STATUS_NOT_FOUND);
    fixture_deinit(&pair.fixture);
}

/* Goal: lists, examples and the log show only the own organisation. Method: the other organisation
 * requests everything, and the owner's layout. */
static void test_lists_show_only_the_own_organisation(void **state)
{
    static struct pair pair;
    char layout[] = "shared layout";
    Errata__V1__GetExamplesRequest examples = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *found = NULL;
    Errata__V1__ListEventsRequest list = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;
    Errata__V1__ListEventsResponse *events = NULL;
    Errata__V1__ListFeedbackEventsRequest feedback = ERRATA__V1__LIST_FEEDBACK_EVENTS_REQUEST__INIT;
    Errata__V1__ListFeedbackEventsResponse *corrections = NULL;
    struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples"};

    (void)state;
    pair_init(&pair);
    examples.layout_fingerprint = layout;
    start.authorization = pair.owner;
    assert_int_equal(fixture_call(&pair.fixture, &start, &examples.base, &found), STATUS_OK);
    assert_int_equal(found->n_examples, 1);
    start.authorization = pair.stranger;
    assert_int_equal(fixture_call(&pair.fixture, &start, &examples.base, &found), STATUS_OK);
    assert_int_equal(found->n_examples, 0);
    assert_string_equal(found->hint_examples_json, "");
    start.path = "errata.v1.EventService/ListEvents";
    assert_int_equal(fixture_call(&pair.fixture, &start, &list.base, &events), STATUS_OK);
    assert_int_equal(events->n_events, 2); /* creation of the organisation and its token */
    start.path = "errata.v1.FeedbackService/ListFeedbackEvents";
    assert_int_equal(fixture_call(&pair.fixture, &start, &feedback.base, &corrections), STATUS_OK);
    assert_int_equal(corrections->n_events, 0);
    fixture_deinit(&pair.fixture);
}

int run_isolation_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign_event_id_is_unknown),
        cmocka_unit_test(test_impossible_seq_is_invalid),
        cmocka_unit_test(test_foreign_organisation_id_is_unknown),
        cmocka_unit_test(test_lists_show_only_the_own_organisation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
