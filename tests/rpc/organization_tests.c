/*
 * organization_tests.c: suspended organisations: whose calls and streams end, who may suspend which, and what stays.
 */
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define SUSPEND "errata.v1.AdminService/SuspendOrganization"
#define RESUME "errata.v1.AdminService/ResumeOrganization"

static struct exchange suspend(struct fixture *fixture, const char *by, const char *org_id)
{
    Errata__V1__SuspendOrganizationRequest request = ERRATA__V1__SUSPEND_ORGANIZATION_REQUEST__INIT;
    const struct exchange_start start = {.path = SUSPEND, .authorization = by};

    request.org_id = (char *)(uintptr_t)org_id;
    request.reason = (char *)(uintptr_t) "contract ended";
    return fixture_call_whole(fixture, &start, &request.base);
}

static struct exchange resume(struct fixture *fixture, const char *by, const char *org_id)
{
    Errata__V1__ResumeOrganizationRequest request = ERRATA__V1__RESUME_ORGANIZATION_REQUEST__INIT;
    const struct exchange_start start = {.path = RESUME, .authorization = by};

    request.org_id = (char *)(uintptr_t)org_id;
    request.reason = (char *)(uintptr_t) "contract renewed";
    return fixture_call_whole(fixture, &start, &request.base);
}

/* Reads the settings of an organisation (NULL: the token's own). */
static struct exchange read_settings(struct fixture *fixture, const char *token, const char *org_id)
{
    Errata__V1__GetSettingsRequest request = ERRATA__V1__GET_SETTINGS_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.AdminService/GetSettings",
                                         .authorization = token};

    if (org_id != NULL) {
        request.org_id = (char *)(uintptr_t)org_id;
    }
    return fixture_call_whole(fixture, &start, &request.base);
}

/* Goal: a suspended organisation's tokens are refused at once, with the reason, and accepted again after it is resumed;
 * a server token still reads it. Method: a token whose identity is cached, before, while and after. */
static void test_suspended_organisation_is_refused(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_int_equal(read_settings(&fixture, admin, NULL).code, STATUS_OK);
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    exchange = read_settings(&fixture, admin, NULL);
    assert_int_equal(exchange.code, STATUS_PERMISSION_DENIED);
    assert_true(slice_has(exchange.message, org_id));
    assert_true(slice_has(exchange.message, "is suspended; expected the operator of this server"));
    assert_true(slice_has(exchange.details, "ORGANIZATION_SUSPENDED"));
    assert_int_equal(read_settings(&fixture, fixture.admin, org_id).code, STATUS_OK);
    fixture_rebuild(&fixture); /* the state is in the log */
    assert_int_equal(read_settings(&fixture, admin, NULL).code, STATUS_PERMISSION_DENIED);
    assert_int_equal(resume(&fixture, fixture.admin, org_id).code, STATUS_OK);
    assert_int_equal(read_settings(&fixture, admin, NULL).code, STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: a stream of a suspended organisation ends, although its peer reads nothing. Method: a watcher with more events than
 * it takes, and the periodic check; a watcher of another organisation goes on. */
static void test_streams_of_a_suspended_organisation_end(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    struct exchange ours;
    struct exchange other;
    struct exchange_start start = {.path = "errata.v1.EventService/WatchEvents"};
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    request.from_seq = 1;
    start.authorization = admin;
    exchange_open(&ours, &fixture, &start);
    exchange_send(&ours, &request.base);
    start.authorization = fixture.admin;
    exchange_open(&other, &fixture, &start);
    exchange_send(&other, &request.base);
    fixture_run(&fixture);
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    pipeline_end_expired(fixture.pipeline);
    fixture_run(&fixture);
    assert_true(ours.ended);
    assert_int_equal(ours.code, STATUS_PERMISSION_DENIED);
    assert_false(other.ended);
    exchange_close(&ours);
    exchange_close(&other);
    fixture_run(&fixture);
    fixture_deinit(&fixture);
}

/* Goal: only server tokens suspend, neither the server's own organisation nor that of their own token, and no unknown one.
 * Method: one refusal after another. */
static void test_who_may_suspend_which(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    char server[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    struct exchange exchange;
    Errata__V1__CreateTokenRequest request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
    Errata__V1__CreateTokenResponse *response = NULL;
    Errata__V1__Token token = ERRATA__V1__TOKEN__INIT;
    Errata__V1__RevokeTokenRequest revoke = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.AdminService/CreateToken"};
    char key_id[9];

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_int_equal(suspend(&fixture, admin, org_id).code, STATUS_PERMISSION_DENIED);
    token.role = (Errata__V1__Role)ROLE_ADMIN;
    token.server = true;
    request.org_id = (char *)(uintptr_t)org_id;
    request.token = &token;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(snprintf(server, sizeof(server), "Bearer %s", response->secret),
                     sizeof(server) - 1);
    exchange = suspend(&fixture, server, org_id);
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    assert_true(slice_has(exchange.message, "the organisation of the caller's own token"));
    exchange = suspend(&fixture, fixture.admin, "00000000-0000-7000-8000-000000000001");
    assert_int_equal(exchange.code, STATUS_NOT_FOUND);

    /* A token of a suspended organisation administers nothing: the other one cannot be revoked. */
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    fixture_key_id_of(fixture.admin, key_id);
    revoke.key_id = key_id;
    start.path = "errata.v1.AdminService/RevokeToken";
    exchange = fixture_call_whole(&fixture, &start, &revoke.base);
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    assert_int_equal(resume(&fixture, server, org_id).code, STATUS_PERMISSION_DENIED);
    fixture_deinit(&fixture);
}

/* Goal: the server's own organisation is never suspended. Method: a server token of another one. */
static void test_own_organisation_of_the_server_stays(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    Errata__V1__ListOrganizationsRequest list = ERRATA__V1__LIST_ORGANIZATIONS_REQUEST__INIT;
    Errata__V1__ListOrganizationsResponse *listed = NULL;
    struct exchange_start start = {.path = "errata.v1.AdminService/ListOrganizations"};
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    (void)fixture_make_org(&fixture, "second", admin);
    assert_int_equal(fixture_call(&fixture, &start, &list.base, &listed), STATUS_OK);
    assert_string_equal(listed->organizations[0]->name, "default");
    exchange = suspend(&fixture, fixture.admin, listed->organizations[0]->id);
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    assert_true(slice_has(exchange.message, "'default' is the server's own"));
    fixture_deinit(&fixture);
}

/* Goal: suspending twice changes nothing, and a repeat under a key gets the first answer again. Method:
 * a suspension under a key, again without, resumed, then the same key; the list has the state. */
static void test_repeats_change_nothing(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    Errata__V1__SuspendOrganizationRequest request = ERRATA__V1__SUSPEND_ORGANIZATION_REQUEST__INIT;
    Errata__V1__SuspendOrganizationResponse *first = NULL;
    Errata__V1__SuspendOrganizationResponse *again = NULL;
    Errata__V1__ListAuditRequest audit = ERRATA__V1__LIST_AUDIT_REQUEST__INIT;
    Errata__V1__ListAuditResponse *audited = NULL;
    struct exchange_start start = {.path = SUSPEND};

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    start.idempotency_key = "once";
    org_id = fixture_make_org(&fixture, "second", admin);
    request.org_id = (char *)(uintptr_t)org_id;
    request.reason = (char *)(uintptr_t) "contract ended";
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &first), STATUS_OK);
    assert_int_equal(first->organization->state, (int)ORGANIZATION_STATE_SUSPENDED);
    assert_non_null(first->organization->suspended_at);
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    assert_int_equal(resume(&fixture, fixture.admin, org_id).code, STATUS_OK);
    assert_int_equal(resume(&fixture, fixture.admin, org_id).code, STATUS_OK);
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &again), STATUS_OK);
    assert_int_equal(again->organization->state, (int)ORGANIZATION_STATE_SUSPENDED);
    assert_int_equal(again->organization->suspended_at->seconds,
                     first->organization->suspended_at->seconds);

    start = (struct exchange_start){.path = "errata.v1.AdminService/ListAudit",
                                    .authorization = fixture.admin};
    audit.org_id = (char *)(uintptr_t)org_id;
    assert_int_equal(fixture_call(&fixture, &start, &audit.base, &audited), STATUS_OK);
    assert_int_equal(audited->n_events, 4); /* created, its token, suspended, resumed */
    assert_string_equal(audited->events[0]->organization_state_set->reason, "contract renewed");
    assert_int_equal(audited->events[1]->organization_state_set->state,
                     (int)ORGANIZATION_STATE_SUSPENDED);
    fixture_deinit(&fixture);
}

int run_organization_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suspended_organisation_is_refused),
        cmocka_unit_test(test_streams_of_a_suspended_organisation_end),
        cmocka_unit_test(test_who_may_suspend_which),
        cmocka_unit_test(test_own_organisation_of_the_server_stays),
        cmocka_unit_test(test_repeats_change_nothing),
    };

    return cmocka_run_group_tests_name("suspended organisations", tests, NULL, NULL);
}
