/*
 * admin_tests.c: organisations and tokens: permissions to create them, refusals, and the lists.
 */
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct exchange_start admin_start(const char *method, const char *token)
{
    return (struct exchange_start){.path = method, .authorization = token};
}

static struct exchange create_org(struct fixture *fixture, const char *token, const char *name)
{
    Errata__V1__Organization organization = ERRATA__V1__ORGANIZATION__INIT;
    Errata__V1__CreateOrganizationRequest request = ERRATA__V1__CREATE_ORGANIZATION_REQUEST__INIT;
    const struct exchange_start start =
        admin_start("errata.v1.AdminService/CreateOrganization", token);

    organization.name = (char *)(uintptr_t)name;
    request.organization = &organization;
    return fixture_call_whole(fixture, &start, &request.base);
}

static struct exchange create_token(struct fixture *fixture, const char *by, const char *key,
                                    const char *org_id, Errata__V1__Token *token)
{
    Errata__V1__CreateTokenRequest request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
    struct exchange_start start = admin_start("errata.v1.AdminService/CreateToken", by);

    start.idempotency_key = key;
    request.org_id = (char *)(uintptr_t)org_id;
    request.token = token;
    return fixture_call_whole(fixture, &start, &request.base);
}

/* Goal: only server tokens create organisations, and a name is unique. Method: an administrator
 * with the flag, and one without. */
static void test_only_server_tokens_create_organisations(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "second", admin);
    exchange = create_org(&fixture, admin, "third");
    assert_int_equal(exchange.code, STATUS_PERMISSION_DENIED);
    exchange = create_org(&fixture, fixture.admin, "second");
    assert_int_equal(exchange.code, STATUS_ALREADY_EXISTS);
    assert_true(slice_has(exchange.message, "'second'"));
    exchange = create_org(&fixture, fixture.admin, "");
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    exchange = create_org(&fixture, fixture.admin, "third");
    assert_int_equal(exchange.code, STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: all errors of a token are reported at once. Method: one error after another, then
 * several. */
static void test_all_errors_of_a_token_are_reported(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    struct exchange exchange;
    Google__Protobuf__Timestamp past = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Errata__V1__Token token = ERRATA__V1__TOKEN__INIT;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "second", admin);
    token.role = (Errata__V1__Role)ROLE_OPERATOR;
    exchange = create_token(&fixture, admin, NULL, "", &token);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.message, "token.user_id"));

    token.role = (Errata__V1__Role)77;
    exchange = create_token(&fixture, admin, NULL, "", &token);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.details, "token.role"));

    token.role = (Errata__V1__Role)ROLE_SERVICE;
    past.seconds = FIXTURE_START_US / 1000000 - 1;
    token.expires_at = &past;
    exchange = create_token(&fixture, admin, NULL, "", &token);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.message, "token.expires_at: not in the future"));

    /* The clock decides, even if the log's last time is ahead of it, because the clock was set
     * back. */
    fixture.clock.wall_us += 3650 * 86400ll * 1000000;
    token.expires_at = NULL;
    exchange = create_token(&fixture, admin, NULL, "", &token);
    assert_int_equal(exchange.code, STATUS_OK);
    fixture.clock.wall_us -= 3650 * 86400ll * 1000000;
    past.seconds = FIXTURE_START_US / 1000000 + 3600;
    token.expires_at = &past;
    exchange = create_token(&fixture, admin, NULL, "", &token);
    assert_int_equal(exchange.code, STATUS_OK);

    token.expires_at = NULL;
    token.server = true;
    exchange = create_token(&fixture, admin, NULL, "", &token);
    assert_int_equal(exchange.code, STATUS_PERMISSION_DENIED);
    exchange = create_token(&fixture, fixture.admin, NULL, "", &token);
    assert_int_equal(exchange.code, STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: a repeated CreateToken names the token and never its secret. Method: the same key twice. */
static void test_repeat_of_create_token_omits_the_secret(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    Errata__V1__Token token = ERRATA__V1__TOKEN__INIT;
    Errata__V1__CreateTokenRequest request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
    Errata__V1__CreateTokenResponse *response = NULL;
    struct exchange_start start = admin_start("errata.v1.AdminService/CreateToken", NULL);

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    start.idempotency_key = "again";
    token.role = (Errata__V1__Role)ROLE_SERVICE;
    request.token = &token;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(strlen(response->secret), TOKEN_TEXT_BYTES);
    exchange = create_token(&fixture, fixture.admin, "again", "", &token);
    assert_int_equal(exchange.code, STATUS_ALREADY_EXISTS);
    assert_true(slice_has(exchange.message, response->token->key_id));
    assert_false(slice_has(exchange.message, response->secret + 16));
    fixture_deinit(&fixture);
}

/* Goal: lists go through everything once, page by page, and a foreign page token is refused; the caller's own
 * organisation may be named or not. Method: 7 tokens in pages of 3, the organisation named in the second; tokens of
 * another organisation and another list. */
static void test_lists_return_each_row_once(void **state)
{
    struct fixture fixture;
    char other_admin[FIXTURE_TOKEN_BYTES];
    char token[FIXTURE_TOKEN_BYTES];
    char last[9] = "";
    Errata__V1__ListTokensRequest request = ERRATA__V1__LIST_TOKENS_REQUEST__INIT;
    Errata__V1__ListTokensResponse *response = NULL;
    Errata__V1__ListOrganizationsRequest orgs = ERRATA__V1__LIST_ORGANIZATIONS_REQUEST__INIT;
    Errata__V1__ListOrganizationsResponse *orgs_response = NULL;
    struct exchange_start start = admin_start("errata.v1.AdminService/ListTokens", NULL);
    char empty[] = "";
    size_t count = 0;
    unsigned pages = 0;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "second", other_admin);
    for (int i = 0; i < 6; i++) {
        fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, token);
    }
    start.authorization = fixture.admin;
    request.page_size = 3;
    do {
        assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
        for (size_t i = 0; i < response->n_tokens; i++) {
            assert_true(strcmp(response->tokens[i]->key_id, last) > 0);
            (void)snprintf(last, sizeof(last), "%s", response->tokens[i]->key_id);
            count++;
        }
        pages++;
        if (pages == 1) {
            request.page_token = response->next_page_token;
            start.authorization = other_admin;
            assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL),
                             STATUS_INVALID_ARGUMENT);
            start.authorization = fixture.admin;
            request.org_id = response->tokens[0]->org_id;
        } else {
            request.org_id = empty;
        }
        request.page_token = response->next_page_token;
    } while (request.page_token[0] != '\0');
    assert_int_equal(count, 7);
    assert_int_equal(pages, 3);
    request.page_token = empty;
    request.org_id = empty;

    start.path = "errata.v1.AdminService/ListOrganizations";
    orgs.page_size = 1;
    assert_int_equal(fixture_call(&fixture, &start, &orgs.base, &orgs_response), STATUS_OK);
    assert_int_equal(orgs_response->n_organizations, 1);
    assert_string_equal(orgs_response->organizations[0]->name, "default");
    orgs.page_token = orgs_response->next_page_token;
    assert_int_equal(fixture_call(&fixture, &start, &orgs.base, &orgs_response), STATUS_OK);
    assert_string_equal(orgs_response->organizations[0]->name, "second");
    assert_string_equal(orgs_response->next_page_token, "");
    orgs.page_token = empty;
    start.authorization = other_admin;
    assert_int_equal(fixture_call(&fixture, &start, &orgs.base, &orgs_response), STATUS_OK);
    assert_int_equal(orgs_response->n_organizations, 1);
    assert_string_equal(orgs_response->organizations[0]->name, "second");
    fixture_deinit(&fixture);
}

/* Goal: revoking twice equals revoking once. Method: the log's length before and after. */
static void test_second_revoke_stores_nothing(void **state)
{
    struct fixture fixture;
    char viewer[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    Errata__V1__RevokeTokenRequest request = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    Errata__V1__RevokeTokenResponse *first = NULL;
    Errata__V1__RevokeTokenResponse *second = NULL;
    struct exchange_start start = admin_start("errata.v1.AdminService/RevokeToken", NULL);
    char no_one[] = "00000000";

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    fixture_key_id_of(viewer, key_id);
    request.key_id = key_id;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &first), STATUS_OK);
    clock_manual_advance(&fixture.clock, 5000000);
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &second), STATUS_OK);
    assert_int_equal(first->token->revoked_at->seconds, second->token->revoked_at->seconds);
    request.key_id = no_one;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL), STATUS_NOT_FOUND);
    fixture_deinit(&fixture);
}

/* Creates a token of the organisation (empty: the caller's own), and returns its text. */
static void make_token(struct fixture *fixture, const char *org_id, Errata__V1__Token *wanted,
                       char token[FIXTURE_TOKEN_BYTES])
{
    Errata__V1__CreateTokenRequest request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
    Errata__V1__CreateTokenResponse *response = NULL;
    const struct exchange_start start =
        admin_start("errata.v1.AdminService/CreateToken", fixture->admin);

    request.org_id = (char *)(uintptr_t)org_id;
    request.token = wanted;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    (void)snprintf(token, FIXTURE_TOKEN_BYTES, "Bearer %s", response->secret);
}

static struct exchange revoke(struct fixture *fixture, const char *by, const char *org_id,
                              const char *token)
{
    Errata__V1__RevokeTokenRequest request = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    const struct exchange_start start = admin_start("errata.v1.AdminService/RevokeToken", by);
    char key_id[9];

    fixture_key_id_of(token, key_id);
    request.org_id = (char *)(uintptr_t)org_id;
    request.key_id = key_id;
    return fixture_call_whole(fixture, &start, &request.base);
}

/* Goal: the last usable ADMIN token with the server flag cannot be revoked, and the message states
 * why and the remedy. Method: beside it, in turn, a token that is not ADMIN, one without the flag,
 * an expired one and a revoked one; then one that is usable, of another organisation. */
static void test_last_server_token_can_not_be_revoked(void **state)
{
    struct fixture fixture;
    char other_admin[FIXTURE_TOKEN_BYTES];
    char token[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    struct exchange exchange;
    Google__Protobuf__Timestamp end = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Errata__V1__Token wanted = ERRATA__V1__TOKEN__INIT;
    const char *org_id = NULL;

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", other_admin);
    wanted.role = (Errata__V1__Role)ROLE_SERVICE;
    wanted.server = true;
    make_token(&fixture, "", &wanted, token);
    wanted.role = (Errata__V1__Role)ROLE_ADMIN;
    end.seconds = FIXTURE_START_US / 1000000 + 3600;
    wanted.expires_at = &end;
    make_token(&fixture, "", &wanted, token);
    clock_manual_advance(&fixture.clock, 3601 * INT64_C(1000000));
    wanted.expires_at = NULL;
    make_token(&fixture, "", &wanted, token);
    exchange = revoke(&fixture, fixture.admin, "", token);
    assert_int_equal(exchange.code, STATUS_OK);

    exchange = revoke(&fixture, fixture.admin, "", fixture.admin);
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    fixture_key_id_of(fixture.admin, key_id);
    assert_true(slice_has(exchange.message, key_id));
    assert_true(slice_has(exchange.message, "last usable ADMIN token with the server flag"));
    assert_true(slice_has(exchange.message, "expected another such token"));

    make_token(&fixture, org_id, &wanted, token);
    exchange = revoke(&fixture, fixture.admin, "", fixture.admin);
    assert_int_equal(exchange.code, STATUS_OK);
    exchange = revoke(&fixture, other_admin, org_id, token);
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    exchange = revoke(&fixture, token, org_id, other_admin); /* a token of another organisation */
    assert_int_equal(exchange.code, STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: two such tokens that are revoked at once leave one. Method: both requests in one batch. */
static void test_one_of_the_last_two_server_tokens_stays(void **state)
{
    struct fixture fixture;
    char tokens[2][FIXTURE_TOKEN_BYTES];
    struct exchange exchanges[2];
    Errata__V1__Token wanted = ERRATA__V1__TOKEN__INIT;
    const struct exchange_start start =
        admin_start("errata.v1.AdminService/RevokeToken", tokens[0]);

    (void)state;
    fixture_init(&fixture);
    wanted.role = (Errata__V1__Role)ROLE_ADMIN;
    wanted.server = true;
    memcpy(tokens[0], fixture.admin, sizeof(tokens[0]));
    make_token(&fixture, "", &wanted, tokens[1]);
    for (unsigned i = 0; i < 2; i++) {
        Errata__V1__RevokeTokenRequest request = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
        char key_id[9];

        fixture_key_id_of(tokens[i], key_id);
        request.key_id = key_id;
        exchange_open(&exchanges[i], &fixture, &start);
        exchange_send(&exchanges[i], &request.base);
    }
    fixture_run(&fixture);
    assert_int_equal(exchanges[0].code, STATUS_OK);
    assert_int_equal(exchanges[1].code, STATUS_FAILED_PRECONDITION);
    exchange_close(&exchanges[0]);
    exchange_close(&exchanges[1]);
    fixture_deinit(&fixture);
}

/* Goal: an expired token is not protected: it can be revoked. Method: an administrator without the
 * flag, once the only token with it has expired. */
static void test_expired_server_token_can_be_revoked(void **state)
{
    struct fixture fixture;
    char plain[FIXTURE_TOKEN_BYTES];
    char ending[FIXTURE_TOKEN_BYTES];
    Google__Protobuf__Timestamp end = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Errata__V1__Token wanted = ERRATA__V1__TOKEN__INIT;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    wanted.role = (Errata__V1__Role)ROLE_ADMIN;
    make_token(&fixture, "", &wanted, plain);
    wanted.server = true;
    end.seconds = FIXTURE_START_US / 1000000 + 3600;
    wanted.expires_at = &end;
    make_token(&fixture, "", &wanted, ending);
    exchange = revoke(&fixture, plain, "", fixture.admin); /* the token that ends is still usable */
    assert_int_equal(exchange.code, STATUS_OK);
    exchange = revoke(&fixture, plain, "", ending);
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    clock_manual_advance(&fixture.clock, 3601 * INT64_C(1000000));
    exchange = revoke(&fixture, plain, "", ending);
    assert_int_equal(exchange.code, STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: the server's counters are only for server tokens. Method: both kinds of administrator. */
static void test_server_info_needs_the_server_flag(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    Errata__V1__GetServerInfoRequest request = ERRATA__V1__GET_SERVER_INFO_REQUEST__INIT;
    Errata__V1__GetServerInfoResponse *response = NULL;
    struct exchange_start start = admin_start("errata.v1.AdminService/GetServerInfo", NULL);
    bool found = false;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "second", admin);
    start.authorization = admin;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_string_equal(response->version, ERRATA_VERSION);
    assert_int_equal(response->log_engine, LOG_ENGINE_KIND_LMDB);
    assert_int_equal(response->n_methods, 0);
    assert_int_equal(response->n_counters, 0);
    start.authorization = fixture.admin;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->started_at->seconds, FIXTURE_START_US / 1000000);
    for (size_t i = 0; i < response->n_methods; i++) {
        if (strcmp(response->methods[i]->method, "errata.v1.AdminService/CreateToken") == 0) {
            assert_int_equal(response->methods[i]->code, STATUS_OK);
            assert_int_equal(response->methods[i]->count, 1);
            found = true;
        }
    }
    assert_true(found);
    assert_true(response->n_counters > 5);
    fixture_deinit(&fixture);
}

static unsigned rotate(struct fixture *fixture, const char *by, const char *token, int overlap,
                       Errata__V1__RotateTokenResponse **ret_response)
{
    Errata__V1__RotateTokenRequest request = ERRATA__V1__ROTATE_TOKEN_REQUEST__INIT;
    const struct exchange_start start = admin_start("errata.v1.AdminService/RotateToken", by);
    char key_id[9];

    fixture_key_id_of(token, key_id);
    request.key_id = key_id;
    if (overlap >= 0) {
        request._overlap_seconds_case =
            ERRATA__V1__ROTATE_TOKEN_REQUEST___OVERLAP_SECONDS_OVERLAP_SECONDS;
        request.overlap_seconds = (uint32_t)overlap;
    }
    return fixture_call(fixture, &start, &request.base, ret_response);
}

/* Returns the status of a call with the token. */
static unsigned use(struct fixture *fixture, const char *token)
{
    Errata__V1__ListTokensRequest request = ERRATA__V1__LIST_TOKENS_REQUEST__INIT;
    const struct exchange_start start = admin_start("errata.v1.AdminService/ListTokens", token);

    return fixture_call(fixture, &start, &request.base, NULL);
}

/* Goal: a rotated token works until the end of its overlap, its successor longer, and invalid rotations are refused.
 * Method: a token that ends after 10 days is rotated after 4 days, with an hour of overlap; then the clock moves. */
static void test_rotated_token_overlaps_its_successor(void **state)
{
    struct fixture fixture;
    char old[FIXTURE_TOKEN_BYTES];
    char new[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    Google__Protobuf__Timestamp end = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Errata__V1__Token wanted = ERRATA__V1__TOKEN__INIT;
    Errata__V1__RotateTokenResponse *response = NULL;
    int64_t now = FIXTURE_START_US / 1000000 + 4 * 86400;

    (void)state;
    fixture_init(&fixture);
    wanted.role = (Errata__V1__Role)ROLE_ADMIN;
    end.seconds = FIXTURE_START_US / 1000000 + 10 * 86400;
    wanted.expires_at = &end;
    make_token(&fixture, "", &wanted, old);
    clock_manual_advance(&fixture.clock, 4 * INT64_C(86400) * 1000000);
    assert_int_equal(rotate(&fixture, fixture.admin, old, 3600, &response), STATUS_OK);
    fixture_key_id_of(old, key_id);
    assert_string_equal(response->replaced->key_id, key_id);
    assert_string_equal(response->replaced->replaced_by, response->token->key_id);
    assert_in_range(response->replaced->expires_at->seconds, now + 3600, now + 3601);
    assert_in_range(response->token->expires_at->seconds, now + 10 * 86400 - 1,
                    now + 10 * 86400 + 1);
    (void)snprintf(new, sizeof(new), "Bearer %s", response->secret);
    assert_int_equal(use(&fixture, old), STATUS_OK);
    assert_int_equal(use(&fixture, new), STATUS_OK);
    assert_int_equal(rotate(&fixture, fixture.admin, old, 3600, NULL), STATUS_FAILED_PRECONDITION);

    clock_manual_advance(&fixture.clock, 3602 * INT64_C(1000000));
    assert_int_equal(use(&fixture, old), STATUS_UNAUTHENTICATED);
    assert_int_equal(use(&fixture, new), STATUS_OK);
    assert_int_equal(rotate(&fixture, fixture.admin, old, 3600, NULL), STATUS_FAILED_PRECONDITION);
    assert_int_equal(rotate(&fixture, fixture.admin, new, 0, NULL), STATUS_OK);
    assert_int_equal(use(&fixture, new), STATUS_UNAUTHENTICATED);
    fixture_deinit(&fixture);
}

/* Goal: the server flag survives a rotation, only a token with the flag may rotate such a token, and one of another
 * organisation does not exist. Method: the first token, rotated by itself at once; an administrator of another
 * organisation, and one without the flag. */
static void test_rotation_keeps_the_server_flag(void **state)
{
    struct fixture fixture;
    char other_admin[FIXTURE_TOKEN_BYTES];
    char plain[FIXTURE_TOKEN_BYTES];
    char new[FIXTURE_TOKEN_BYTES];
    Errata__V1__Token wanted = ERRATA__V1__TOKEN__INIT;
    Errata__V1__RotateTokenResponse *response = NULL;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "second", other_admin);
    wanted.role = (Errata__V1__Role)ROLE_ADMIN;
    make_token(&fixture, "", &wanted, plain);
    assert_int_equal(rotate(&fixture, other_admin, fixture.admin, -1, NULL), STATUS_NOT_FOUND);
    assert_int_equal(rotate(&fixture, plain, fixture.admin, -1, NULL), STATUS_PERMISSION_DENIED);
    assert_int_equal(rotate(&fixture, fixture.admin, fixture.admin, 0, &response), STATUS_OK);
    assert_true(response->token->server);
    assert_null(response->token->expires_at);
    (void)snprintf(new, sizeof(new), "Bearer %s", response->secret);
    assert_int_equal(use(&fixture, fixture.admin), STATUS_UNAUTHENTICATED);
    assert_int_equal(create_org(&fixture, new, "third").code, STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: the audit has only administrative acts, newest first, with their actors, and of one organisation.
 * Method: tokens, settings and corrections in two organisations; filtered by kind and by actor; another organisation
 * without the flag. */
static void test_audit_lists_administrative_acts(void **state)
{
    struct fixture fixture;
    char other_admin[FIXTURE_TOKEN_BYTES];
    char token[FIXTURE_TOKEN_BYTES];
    char actor[] = "token:00000000";
    char empty[] = "";
    char other_org[64];
    char own_org[64];
    Errata__V1__OrganizationSettings settings = ERRATA__V1__ORGANIZATION_SETTINGS__INIT;
    Errata__V1__UpdateSettingsRequest change = ERRATA__V1__UPDATE_SETTINGS_REQUEST__INIT;
    Errata__V1__ListAuditRequest request = ERRATA__V1__LIST_AUDIT_REQUEST__INIT;
    Errata__V1__ListAuditResponse *response = NULL;
    struct exchange_start start = admin_start("errata.v1.AdminService/UpdateSettings", NULL);

    (void)state;
    fixture_init(&fixture);
    (void)snprintf(other_org, sizeof(other_org), "%s",
                   fixture_make_org(&fixture, "second", other_admin));
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, token);
    settings._holdout_percent_case =
        ERRATA__V1__ORGANIZATION_SETTINGS___HOLDOUT_PERCENT_HOLDOUT_PERCENT;
    settings.holdout_percent = 7;
    change.settings = &settings;
    start.authorization = fixture.admin;
    assert_int_equal(fixture_call(&fixture, &start, &change.base, NULL), STATUS_OK);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "acme");

    start.path = "errata.v1.AdminService/ListAudit";
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_events, 4);
    assert_int_equal(response->events[0]->kind, EVENT_SETTINGS_UPDATED);
    assert_int_equal(response->events[0]->settings_updated->before->holdout_percent, 0);
    assert_int_equal(response->events[0]->settings_updated->after->holdout_percent, 7);
    assert_int_equal(response->events[1]->kind, EVENT_TOKEN_CREATED);
    assert_int_equal(response->events[3]->kind, EVENT_ORGANIZATION_CREATED);
    (void)snprintf(own_org, sizeof(own_org), "%s",
                   response->events[3]->organization_created->org_id);
    request.kind = ERRATA__V1__EVENT_KIND__EVENT_KIND_TOKEN_CREATED;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_events, 2);
    assert_int_equal(response->events[1]->kind, EVENT_TOKEN_CREATED);
    request.kind = ERRATA__V1__EVENT_KIND__EVENT_KIND_FEEDBACK; /* not in the audit */
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_events, 0);
    request.kind = ERRATA__V1__EVENT_KIND__EVENT_KIND_UNSPECIFIED;

    (void)memcpy(actor + 6, fixture.admin + sizeof("Bearer errata_") - 1, 8);
    request.actor_user_id = actor;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_events, 2); /* not those by `system` */

    request.org_id = other_org;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_events, 2);
    start.authorization = other_admin;
    request.actor_user_id = empty;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_events, 2);
    request.org_id = own_org;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL), STATUS_NOT_FOUND);
    fixture_deinit(&fixture);
}

int run_admin_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_server_tokens_create_organisations),
        cmocka_unit_test(test_all_errors_of_a_token_are_reported),
        cmocka_unit_test(test_repeat_of_create_token_omits_the_secret),
        cmocka_unit_test(test_lists_return_each_row_once),
        cmocka_unit_test(test_second_revoke_stores_nothing),
        cmocka_unit_test(test_server_info_needs_the_server_flag),
        cmocka_unit_test(test_last_server_token_can_not_be_revoked),
        cmocka_unit_test(test_one_of_the_last_two_server_tokens_stays),
        cmocka_unit_test(test_expired_server_token_can_be_revoked),
        cmocka_unit_test(test_rotated_token_overlaps_its_successor),
        cmocka_unit_test(test_rotation_keeps_the_server_flag),
        cmocka_unit_test(test_audit_lists_administrative_acts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
