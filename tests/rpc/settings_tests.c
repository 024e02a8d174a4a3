/*
 * settings_tests.c: an organisation's settings through calls: defaults, one member at a time,
 * refusals, isolation, and a repeat under a key.
 */
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/match_mode.fields.h>

#define GET "errata.v1.AdminService/GetSettings"
#define UPDATE "errata.v1.AdminService/UpdateSettings"

/* Members of a change; -1 omits a member. */
struct change {
    int32_t holdout_percent;
    int32_t match_mode;
};

static struct exchange update(struct fixture *fixture, const struct exchange_start *start,
                              const char *org_id, struct change change)
{
    Errata__V1__OrganizationSettings settings = ERRATA__V1__ORGANIZATION_SETTINGS__INIT;
    Errata__V1__UpdateSettingsRequest request = ERRATA__V1__UPDATE_SETTINGS_REQUEST__INIT;

    if (change.holdout_percent >= 0) {
        settings._holdout_percent_case =
            ERRATA__V1__ORGANIZATION_SETTINGS___HOLDOUT_PERCENT_HOLDOUT_PERCENT;
        settings.holdout_percent = (uint32_t)change.holdout_percent;
    }
    if (change.match_mode >= 0) {
        settings._match_mode_case = ERRATA__V1__ORGANIZATION_SETTINGS___MATCH_MODE_MATCH_MODE;
        settings.match_mode = (Errata__V1__MatchMode)change.match_mode;
    }
    request.org_id = (char *)(uintptr_t)org_id;
    request.settings = &settings;
    return fixture_call_whole(fixture, start, &request.base);
}

/* Returns the settings of GetSettings, and checks that every member is set. */
static void expect(struct fixture *fixture, const char *token, const char *org_id,
                   struct change expected)
{
    Errata__V1__GetSettingsRequest request = ERRATA__V1__GET_SETTINGS_REQUEST__INIT;
    Errata__V1__GetSettingsResponse *response = NULL;
    const struct exchange_start start = {.path = GET, .authorization = token};

    request.org_id = (char *)(uintptr_t)org_id;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_not_equal(response->settings->_holdout_percent_case, 0);
    assert_int_not_equal(response->settings->_match_mode_case, 0);
    assert_int_equal(response->settings->holdout_percent, expected.holdout_percent);
    assert_int_equal(response->settings->match_mode, expected.match_mode);
}

/* Goal: unset members have their defaults, members that are not named are kept. Method: one member
 * at a time. */
static void test_unset_members_have_defaults(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = UPDATE};

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    expect(&fixture, fixture.admin, "", (struct change){0, MATCH_MODE_EXACT});
    assert_int_equal(update(&fixture, &start, "", (struct change){25, -1}).code, STATUS_OK);
    expect(&fixture, fixture.admin, "", (struct change){25, MATCH_MODE_EXACT});
    assert_int_equal(update(&fixture, &start, "", (struct change){-1, MATCH_MODE_EXACT}).code,
                     STATUS_OK);
    expect(&fixture, fixture.admin, "", (struct change){25, MATCH_MODE_EXACT});
    assert_int_equal(update(&fixture, &start, "", (struct change){-1, MATCH_MODE_FAMILY}).code,
                     STATUS_OK);
    expect(&fixture, fixture.admin, "", (struct change){25, MATCH_MODE_FAMILY});
    assert_int_equal(update(&fixture, &start, "", (struct change){0, -1}).code, STATUS_OK);
    expect(&fixture, fixture.admin, "", (struct change){0, MATCH_MODE_FAMILY});
    fixture_deinit(&fixture);
}

/* Goal: all invalid values are reported at once, and nothing is stored. Method: each invalid value,
 * and both. */
static void test_invalid_values_are_all_reported(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = UPDATE};
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    exchange = update(&fixture, &start, "", (struct change){-1, -1});
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(
        slice_has(exchange.message,
                  "holdout_percent, match_mode, annotator_kinds, grouping, stacking, "
                  "suspicious_at, fake_at, reviews_needed, redacted_members, votes_needed, "
                  "evaluator_id, gate_agents, extra_cues, topic_change and content_retention"));
    exchange = update(&fixture, &start, "", (struct change){101, -1});
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.details, "settings.holdout_percent"));
    exchange = update(&fixture, &start, "", (struct change){-1, MATCH_MODE_UNSPECIFIED});
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.details, "settings.match_mode"));
    exchange = update(&fixture, &start, "", (struct change){50, 77});
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.details, "settings.match_mode"));
    expect(&fixture, fixture.admin, "", (struct change){0, MATCH_MODE_EXACT});
    fixture_deinit(&fixture);
}

/* Goal: settings are their organisation's: another administrator neither sees nor changes them, and
 * one with the server flag may name it. Method: two organisations and a made-up one. */
static void test_settings_belong_to_their_organisation(void **state)
{
    static char made_up[] = "01890000-0000-7000-8000-000000000000";
    struct fixture fixture;
    char owner[FIXTURE_TOKEN_BYTES];
    char stranger[FIXTURE_TOKEN_BYTES];
    char viewer[FIXTURE_TOKEN_BYTES];
    const char *org = NULL;
    struct exchange_start start = {.path = UPDATE};
    struct exchange foreign;
    struct exchange unknown;

    (void)state;
    fixture_init(&fixture);
    org = fixture_make_org(&fixture, "owner", owner);
    (void)fixture_make_org(&fixture, "stranger", stranger);
    fixture_make_token(&fixture, owner, ROLE_VIEWER, viewer);
    start.authorization = stranger;
    foreign = update(&fixture, &start, org, (struct change){10, -1});
    unknown = update(&fixture, &start, made_up, (struct change){10, -1});
    assert_int_equal(foreign.code, STATUS_NOT_FOUND);
    assert_int_equal(unknown.code, STATUS_NOT_FOUND);
    assert_int_equal(foreign.message.size, unknown.message.size); /* equal except for the id */
    start.authorization = viewer;
    assert_int_equal(update(&fixture, &start, "", (struct change){10, -1}).code,
                     STATUS_PERMISSION_DENIED);
    expect(&fixture, owner, "", (struct change){0, MATCH_MODE_EXACT});

    start.authorization = fixture.admin;
    assert_int_equal(update(&fixture, &start, org, (struct change){10, -1}).code, STATUS_OK);
    expect(&fixture, fixture.admin, org, (struct change){10, MATCH_MODE_EXACT});
    expect(&fixture, owner, org, (struct change){10, MATCH_MODE_EXACT});
    expect(&fixture, stranger, "", (struct change){0, MATCH_MODE_EXACT});
    expect(&fixture, fixture.admin, "", (struct change){0, MATCH_MODE_EXACT});
    fixture_deinit(&fixture);
}

/* Goal: a repeat gets the first response, after any other changes, and changes nothing. Method: the
 * same key around another change. */
static void test_repeat_gets_the_first_response(void **state)
{
    struct fixture fixture;
    Errata__V1__OrganizationSettings settings = ERRATA__V1__ORGANIZATION_SETTINGS__INIT;
    Errata__V1__UpdateSettingsRequest request = ERRATA__V1__UPDATE_SETTINGS_REQUEST__INIT;
    Errata__V1__UpdateSettingsResponse *response = NULL;
    struct exchange_start start = {.path = UPDATE, .idempotency_key = "again"};

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    settings._holdout_percent_case =
        ERRATA__V1__ORGANIZATION_SETTINGS___HOLDOUT_PERCENT_HOLDOUT_PERCENT;
    settings.holdout_percent = 30;
    request.settings = &settings;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->settings->holdout_percent, 30);
    assert_int_equal(response->settings->match_mode, MATCH_MODE_EXACT);
    start.idempotency_key = NULL;
    assert_int_equal(update(&fixture, &start, "", (struct change){40, MATCH_MODE_EXACT}).code,
                     STATUS_OK);
    start.idempotency_key = "again";
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->settings->holdout_percent, 30);
    assert_int_equal(response->settings->match_mode, MATCH_MODE_EXACT);
    expect(&fixture, fixture.admin, "", (struct change){40, MATCH_MODE_EXACT});
    settings.holdout_percent = 31;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL), STATUS_ALREADY_EXISTS);
    fixture_deinit(&fixture);
}

int run_settings_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unset_members_have_defaults),
        cmocka_unit_test(test_invalid_values_are_all_reported),
        cmocka_unit_test(test_settings_belong_to_their_organisation),
        cmocka_unit_test(test_repeat_gets_the_first_response),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
