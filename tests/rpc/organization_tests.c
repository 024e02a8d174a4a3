/*
 * organization_tests.c: suspended organisations: the end of their calls and streams, permissions, and data that is
 * kept; deleted ones: permissions, no rows at the end, and consistent tables before it.
 */
#include "tests/rpc/fixture.h"

#include "server/domain/admin/keys.h"
#include "server/domain/admin/organization_deletion.h"
#include "server/domain/admin/organization_state.h"
#include "server/domain/admin/records.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rpc/ingest.h"

#define SUSPEND "errata.v1.AdminService/SuspendOrganization"
#define RESUME "errata.v1.AdminService/ResumeOrganization"
#define DELETE "errata.v1.AdminService/DeleteOrganization"

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

/* Goal: a watch for suspensions gets those of its organisation and nothing else. Method: an organisation suspended and
 * resumed, a watch from its first event. */
static void test_suspensions_are_watched_by_kind(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    struct exchange exchange;
    struct exchange_start start = {.path = "errata.v1.EventService/WatchEvents"};
    Errata__V1__EventKind kind = ERRATA__V1__EVENT_KIND__EVENT_KIND_ORGANIZATION_STATE_SET;
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;
    const Errata__V1__WatchEventsResponse *response = NULL;

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    assert_int_equal(resume(&fixture, fixture.admin, org_id).code, STATUS_OK);
    request.from_seq = 1;
    request.kinds = &kind;
    request.n_kinds = 1;
    start.authorization = admin;
    exchange_open(&exchange, &fixture, &start);
    exchange_send(&exchange, &request.base);
    fixture_run(&fixture);
    for (int i = 0; i < 2; i++) {
        response = exchange_read(&exchange, &errata__v1__watch_events_response__descriptor);
        assert_non_null(response);
        assert_int_equal(response->event->kind, kind);
    }
    assert_null(exchange_read(&exchange, &errata__v1__watch_events_response__descriptor));
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: a stream of a suspended organisation ends, although its peer reads nothing. Method: a watcher with more events
 * than it takes, and the periodic check; a watcher of another organisation continues. */
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

/* An ADMIN token with the server flag, of another organisation than the server's own. */
static void make_server_token(struct fixture *fixture, const char *org_id,
                              char server[FIXTURE_TOKEN_BYTES])
{
    Errata__V1__CreateTokenRequest request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
    Errata__V1__CreateTokenResponse *response = NULL;
    Errata__V1__Token token = ERRATA__V1__TOKEN__INIT;
    const struct exchange_start start = {.path = "errata.v1.AdminService/CreateToken",
                                         .authorization = fixture->admin};

    token.role = (Errata__V1__Role)ROLE_ADMIN;
    token.server = true;
    request.org_id = (char *)(uintptr_t)org_id;
    request.token = &token;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(snprintf(server, FIXTURE_TOKEN_BYTES, "Bearer %s", response->secret),
                     FIXTURE_TOKEN_BYTES - 1);
}

/* Goal: only server tokens suspend, neither the server's own organisation nor that of their own token, and no unknown one.
 * Method: one refusal after another. */
static void test_only_server_tokens_suspend_other_organisations(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    char server[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    struct exchange exchange;
    Errata__V1__RevokeTokenRequest revoke = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.AdminService/RevokeToken"};
    char key_id[9];

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_int_equal(suspend(&fixture, admin, org_id).code, STATUS_PERMISSION_DENIED);
    make_server_token(&fixture, org_id, server);
    exchange = suspend(&fixture, server, org_id);
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    assert_true(slice_has(exchange.message, "the organisation of the caller's own token"));
    exchange = suspend(&fixture, fixture.admin, "00000000-0000-7000-8000-000000000001");
    assert_int_equal(exchange.code, STATUS_NOT_FOUND);

    /* A token of a suspended organisation administers nothing: the other one cannot be revoked. */
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    fixture_key_id_of(fixture.admin, key_id);
    revoke.key_id = key_id;
    start.authorization = fixture.admin;
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

static struct exchange delete (struct fixture *fixture, const char *org_id, const char *name)
{
    Errata__V1__DeleteOrganizationRequest request = ERRATA__V1__DELETE_ORGANIZATION_REQUEST__INIT;
    const struct exchange_start start = {.path = DELETE, .authorization = fixture->admin};

    request.org_id = (char *)(uintptr_t)org_id;
    request.confirm_name = (char *)(uintptr_t)name;
    request.reason = (char *)(uintptr_t) "request 17";
    return fixture_call_whole(fixture, &start, &request.base);
}

/* Makes a step of the deletion, like its component; returns the number of deleted rows. */
static size_t take_step(struct fixture *fixture, struct org_id org, size_t rows_max,
                        struct organization_deletion_position *position)
{
    struct store_txn *txn = NULL;
    size_t count = 0;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    log_begin_write(txn, NULL);
    assert_int_equal(
        organization_deletion_step(&fixture->ctx, txn, org, rows_max, position, &count), OK);
    assert_int_equal(store_commit(txn), OK);
    return count;
}

static void end_deletion(struct fixture *fixture, struct org_id org, enum err expected)
{
    struct work_result result;
    struct store_txn *txn = NULL;
    enum err err = store_begin(fixture->backend, STORE_WRITE, &txn);

    assert_int_equal(err, OK);
    log_begin_write(txn, NULL);
    assert_int_equal(organization_deletion_end(&fixture->ctx, txn, org, &result), expected);
    if (expected == OK) {
        assert_int_equal(store_commit(txn), OK);
    } else {
        store_abort(txn);
    }
}

/* Suspends and deletes an organisation while calls wait, and runs nothing else. */
static void delete_meanwhile(struct fixture *fixture, const char *org_id)
{
    const struct admin_actor actor = {SLICE("anna"), ANNOTATOR_HUMAN, SOURCE_LIVE, true};
    struct organization_state_change change = {.suspend = true, .reason = SLICE("r")};
    struct organization_deletion_request request = {.confirm_name = SLICE("second")};
    struct organization_deletion_position position = {.has_no_tokens = false};
    struct work_result result;
    struct store_txn *txn = NULL;

    assert_true(uuid_parse(slice_text(org_id), &request.org.uuid));
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    log_begin_write(txn, NULL);
    assert_int_equal(organization_state_find_server(txn, &request.caller_org), OK);
    change.caller_org = request.caller_org;
    change.org = request.org;
    assert_int_equal(organization_state_set(&fixture->ctx, txn, &actor, &change, &result), OK);
    assert_int_equal(organization_deletion_begin(&fixture->ctx, txn, &actor, &request, &result),
                     OK);
    assert_int_equal(store_commit(txn), OK);
    while (take_step(fixture, request.org, 100, &position) > 0) {
        continue;
    }
    end_deletion(fixture, request.org, OK);
}

/* Returns whether the check finds a row, with a transaction for each of its parts; counts those of tokens. */
static bool check_rows(struct fixture *fixture, struct org_id org, uint32_t tokens_max,
                       size_t *ret_parts)
{
    struct organization_deletion_check check = {.table = 0};
    size_t parts = 0;

    while (!check.has_ended) {
        struct store_txn *txn = NULL;

        parts += check.table == TABLE_COUNT;
        assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
        assert_int_equal(organization_deletion_check(txn, org, tokens_max, &check), OK);
        store_abort(txn);
    }
    if (ret_parts != NULL) {
        *ret_parts = parts;
    }
    return check.has_rows;
}

/* Returns whether the store has nothing of an organisation in any table. */
static bool is_gone(struct fixture *fixture, struct org_id org)
{
    struct organization_record record;
    struct store_txn *txn = NULL;
    bool has_rows = check_rows(fixture, org, 1000, NULL);
    enum err err = OK;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    err = admin_read_organization(txn, org.uuid, &record);
    store_abort(txn);
    return !has_rows && err == ERR_NOT_FOUND;
}

/* The only organisation that is listed beside `default`; NULL: there is none. */
static Errata__V1__Organization *list_other(struct fixture *fixture)
{
    Errata__V1__ListOrganizationsRequest list = ERRATA__V1__LIST_ORGANIZATIONS_REQUEST__INIT;
    Errata__V1__ListOrganizationsResponse *listed = NULL;
    const struct exchange_start start = {.path = "errata.v1.AdminService/ListOrganizations",
                                         .authorization = fixture->admin};

    assert_int_equal(fixture_call(fixture, &start, &list.base, &listed), STATUS_OK);
    assert_in_range(listed->n_organizations, 1, 2);
    return listed->n_organizations == 2 ? listed->organizations[1] : NULL;
}

/* Goal: a change that found nothing to change is answered the same when it is repeated under its key, in any later
 * state. Method: suspensions and deletions of organisations that are suspended or being deleted already, each under a
 * key, repeated at the end. */
static void test_repeats_of_what_changed_nothing_are_answered_alike(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    struct org_id org;
    struct organization_deletion_position position = {.has_no_tokens = false};
    Errata__V1__SuspendOrganizationRequest stop = ERRATA__V1__SUSPEND_ORGANIZATION_REQUEST__INIT;
    Errata__V1__SuspendOrganizationResponse *stopped[2] = {NULL, NULL};
    Errata__V1__DeleteOrganizationRequest remove = ERRATA__V1__DELETE_ORGANIZATION_REQUEST__INIT;
    Errata__V1__DeleteOrganizationResponse *removed[2] = {NULL, NULL};
    struct exchange_start start = {.idempotency_key = "again"};
    const char *org_id = NULL;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_true(uuid_parse(slice_text(org_id), &org.uuid));
    stop.org_id = remove.org_id = (char *)(uintptr_t)org_id;
    stop.reason = remove.reason = (char *)(uintptr_t) "contract ended";
    remove.confirm_name = (char *)(uintptr_t) "second";
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    for (size_t i = 0; i < 2; i++) {
        start.path = SUSPEND;
        assert_int_equal(fixture_call(&fixture, &start, &stop.base, &stopped[i]), STATUS_OK);
        assert_int_equal(stopped[i]->organization->state, (int)ORGANIZATION_STATE_SUSPENDED);
        assert_non_null(stopped[i]->organization->suspended_at);
    }
    assert_int_equal(delete (&fixture, org_id, "second").code, STATUS_OK);
    for (size_t i = 0; i < 2; i++) {
        start.path = DELETE;
        assert_int_equal(fixture_call(&fixture, &start, &remove.base, &removed[i]), STATUS_OK);
        assert_int_equal(removed[i]->organization->state, (int)ORGANIZATION_STATE_DELETING);
        assert_string_equal(removed[i]->organization->name, "second");
        while (take_step(&fixture, org, 100, &position) > 0) {
            continue;
        }
    }
    end_deletion(&fixture, org, OK);
    assert_int_equal(fixture_call(&fixture, &start, &remove.base, &removed[1]), STATUS_OK);
    assert_string_equal(removed[1]->organization->id, org_id);
    fixture_deinit(&fixture);
}

/* Goal: only a suspended organisation is deleted, and only by its name; all other requests for a deleted organisation
 * are refused. Method: one refusal after another, and a repeat. */
static void test_only_suspended_organisations_are_deleted(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    const Errata__V1__Organization *listed = NULL;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    exchange = delete (&fixture, org_id, "second");
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    assert_true(slice_has(exchange.message, "is active; expected a suspended one"));
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    exchange = delete (&fixture, org_id, "first");
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.message, "confirm_name"));
    assert_int_equal(delete (&fixture, org_id, "second").code, STATUS_OK);
    assert_int_equal(delete (&fixture, org_id, "second").code, STATUS_OK);
    listed = list_other(&fixture);
    assert_int_equal(listed->state, (int)ORGANIZATION_STATE_DELETING);
    assert_int_equal(listed->deletion->event_count, 3); /* created, its token, suspended */
    assert_int_equal(resume(&fixture, fixture.admin, org_id).code, STATUS_FAILED_PRECONDITION);
    assert_int_equal(read_settings(&fixture, fixture.admin, org_id).code,
                     STATUS_FAILED_PRECONDITION);
    assert_int_equal(read_settings(&fixture, admin, NULL).code, STATUS_PERMISSION_DENIED);
    fixture_deinit(&fixture);
}

/* Goal: nothing of a deleted organisation is left; before that, verify finds no difference, and no other data changes.
 * Method: an organisation with corrections and tokens, deleted in steps of few rows, with a replay after each; then an
 * organisation with the same name. */
static void test_deletion_leaves_nothing(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    char viewer[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    const char *next_id = NULL;
    struct org_id org;
    struct organization_deletion_position position = {.has_no_tokens = false};
    size_t steps = 0;

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_true(uuid_parse(slice_text(org_id), &org.uuid));
    fixture_make_token(&fixture, admin, ROLE_VIEWER, viewer);
    for (size_t i = 0; i < 5; i++) {
        (void)fixture_capture(&fixture, admin, i == 0 ? "key" : NULL, "layout");
        (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    }
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    assert_int_equal(delete (&fixture, org_id, "second").code, STATUS_OK);
    fixture_check_replay(&fixture);
    end_deletion(&fixture, org, ERR_PRECONDITION); /* rows are left */
    while (take_step(&fixture, org, 7, &position) > 0) {
        fixture_check_replay(&fixture);
        steps++;
    }
    assert_true(steps >= 3);
    assert_false(is_gone(&fixture, org));
    assert_non_null(list_other(&fixture));
    end_deletion(&fixture, org, OK);
    assert_true(is_gone(&fixture, org));
    assert_null(list_other(&fixture));
    assert_int_equal(delete (&fixture, org_id, "second").code, STATUS_NOT_FOUND);
    assert_int_equal(read_settings(&fixture, admin, NULL).code, STATUS_UNAUTHENTICATED);

    next_id = fixture_make_org(&fixture, "second", admin);
    assert_string_not_equal(next_id, org_id);
    (void)fixture_capture(&fixture, admin, NULL, "layout");
    fixture_deinit(&fixture);
}

/* Goal: a rebuild in the middle of a deletion leaves nothing of the organisation except its mark, with which the
 * deletion ends; an organisation that got the name meanwhile keeps it. Method: one step, a rebuild, the name again, the
 * end. */
static void test_rebuild_during_a_deletion(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    const char *next_id = NULL;
    struct org_id org;
    struct organization_deletion_position position = {.has_no_tokens = false};

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_true(uuid_parse(slice_text(org_id), &org.uuid));
    (void)fixture_capture(&fixture, admin, NULL, "layout");
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    assert_int_equal(delete (&fixture, org_id, "second").code, STATUS_OK);
    assert_int_equal(take_step(&fixture, org, 4, &position), 2); /* its token's rows */
    fixture_rebuild(&fixture);
    assert_true(is_gone(&fixture, org));
    next_id = fixture_make_org(&fixture, "second", admin);
    position = (struct organization_deletion_position){.has_no_tokens = false};
    assert_int_equal(take_step(&fixture, org, 4, &position), 0);
    end_deletion(&fixture, org, OK);
    assert_string_equal(list_other(&fixture)->id, next_id);
    (void)fixture_capture(&fixture, admin, NULL, "layout");
    fixture_deinit(&fixture);
}

/* Goal: a call that was admitted before an organisation was deleted stores nothing after it. Method: a PDF that the pool
 * reads, and a new organisation by a server token of the deleted one, which waits for the writer. */
static void test_late_write_of_a_deleted_organisation(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    char server[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    struct org_id org;
    struct exchange document;
    struct exchange creation;
    Errata__V1__Organization third = ERRATA__V1__ORGANIZATION__INIT;
    Errata__V1__CreateOrganizationRequest create = ERRATA__V1__CREATE_ORGANIZATION_REQUEST__INIT;
    struct exchange_start start = {.path = INGEST_UNARY, .authorization = admin};

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_true(uuid_parse(slice_text(org_id), &org.uuid));
    make_server_token(&fixture, org_id, server);
    exchange_open(&document, &fixture, &start);
    ingest_send(&document, "document", SLICE("%PDF-1.7"));
    start = (struct exchange_start){.path = "errata.v1.AdminService/CreateOrganization",
                                    .authorization = server};
    third.name = (char *)(uintptr_t) "third";
    create.organization = &third;
    exchange_open(&creation, &fixture, &start);
    exchange_send(&creation, &create.base);
    assert_false(document.ended || creation.ended);
    delete_meanwhile(&fixture, org_id);
    fixture_run(&fixture);
    assert_int_equal(document.code, STATUS_PERMISSION_DENIED);
    assert_true(slice_has(document.message, "is deleted or being deleted"));
    assert_true(slice_has(document.details, "ORGANIZATION_DELETED"));
    assert_int_equal(creation.code, STATUS_PERMISSION_DENIED);
    exchange_close(&document);
    exchange_close(&creation);
    assert_true(is_gone(&fixture, org));
    assert_null(list_other(&fixture));
    fixture_deinit(&fixture);
}

/* Goal: a rebuild makes nothing of a deleted organisation again, although one of its tokens has written to other logs. Method:
 * a server token of it that creates an organisation under a key. */
static void test_rebuild_keeps_no_keys_of_a_deleted_organisation(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    char server[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    struct org_id org;
    Errata__V1__Organization third = ERRATA__V1__ORGANIZATION__INIT;
    Errata__V1__CreateOrganizationRequest create = ERRATA__V1__CREATE_ORGANIZATION_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.AdminService/CreateOrganization",
                                         .authorization = server,
                                         .idempotency_key = "once"};

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_true(uuid_parse(slice_text(org_id), &org.uuid));
    make_server_token(&fixture, org_id, server);
    third.name = (char *)(uintptr_t) "third";
    create.organization = &third;
    assert_int_equal(fixture_call(&fixture, &start, &create.base, NULL), STATUS_OK);
    delete_meanwhile(&fixture, org_id);
    assert_true(is_gone(&fixture, org));
    fixture_rebuild(&fixture);
    assert_true(is_gone(&fixture, org));
    fixture_deinit(&fixture);
}

/* Returns whether a text is in the memory of the token cache. */
static bool has_text(const struct auth *auth, struct slice text)
{
    const uint8_t *bytes = (const uint8_t *)auth;
    size_t size = malloc_usable_size((void *)(uintptr_t)auth);

    for (size_t i = 0; i + text.size <= size; i++) {
        if (memcmp(bytes + i, text.data, text.size) == 0) {
            return true;
        }
    }
    return false;
}

/* Goal: texts and users of tokens of a deleted organisation do not stay in memory; those of others do. Method: two cached
 * identities, before and after the deletion is reported. */
static void test_cached_tokens_of_a_deleted_organisation_are_erased(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    struct org_id org;
    const char *org_id = NULL;
    struct slice tokens[2];

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_true(uuid_parse(slice_text(org_id), &org.uuid));
    tokens[0] = slice_after(slice_text(admin), strlen("Bearer "));
    tokens[1] = slice_after(slice_text(fixture.admin), strlen("Bearer "));
    assert_int_equal(read_settings(&fixture, admin, NULL).code, STATUS_OK);
    delete_meanwhile(&fixture, org_id);
    assert_true(has_text(fixture.auth, tokens[0]));
    auth_forget(fixture.auth, org);
    assert_false(has_text(fixture.auth, tokens[0]));
    assert_true(has_text(fixture.auth, tokens[1]));
    fixture_deinit(&fixture);
}

/* Puts or removes the row of a token that is not in the list of its organisation, so that no step deletes it. */
static void put_token(struct fixture *fixture, struct org_id org, uint32_t key_id, bool is_there)
{
    const struct token_record token = {
        .org = org.uuid, .role = ROLE_VIEWER, .secret_sha256 = {{1}}};
    struct key key = key_token_global(key_id);
    struct slice bytes = {NULL, 0};
    struct store_txn *txn = NULL;

    assert_int_equal(record_encode_token(&fixture->arena, &token, &bytes), OK);
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    assert_int_equal(is_there ? store_put(txn, TABLE_TOKEN, key_slice(&key), bytes)
                              : store_del(txn, TABLE_TOKEN, key_slice(&key)),
                     OK);
    assert_int_equal(store_commit(txn), OK);
}

/* Goal: the check reads the tokens of all organisations, in parts, until it finds one of the organisation. Method: six tokens
 * of another, in parts of each size, then with one before or after them. */
static void test_check_reads_tokens_in_parts(void **state)
{
    struct fixture fixture;
    char viewer[FIXTURE_TOKEN_BYTES];
    const struct org_id org = {.uuid = {.bytes = {7}}};
    const size_t tokens = 6;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 1; i < tokens; i++) {
        fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    }
    for (uint32_t most = 1; most <= tokens + 1; most++) {
        size_t parts = 0;

        assert_false(check_rows(&fixture, org, most, &parts));
        assert_int_equal(parts, (tokens + most - 1) / most);
        put_token(&fixture, org, 0, true);
        assert_true(check_rows(&fixture, org, most, &parts));
        assert_int_equal(parts, 1);
        put_token(&fixture, org, 0, false);
        put_token(&fixture, org, UINT32_MAX, true);
        assert_true(check_rows(&fixture, org, most, &parts));
        assert_int_equal(parts, (tokens + most) / most);
        put_token(&fixture, org, UINT32_MAX, false);
    }
    fixture_deinit(&fixture);
}

/* Goal: the log of the server's own organisation has the actor, the organisation and the number of rows of
 * a deletion. Method: the audit. */
static void test_deletion_is_audited(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org_id = NULL;
    struct org_id org;
    struct organization_deletion_position position = {.has_no_tokens = false};
    Errata__V1__ListAuditRequest audit = ERRATA__V1__LIST_AUDIT_REQUEST__INIT;
    Errata__V1__ListAuditResponse *audited = NULL;
    struct exchange_start start = {.path = "errata.v1.AdminService/ListAudit"};
    size_t count = 0;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    org_id = fixture_make_org(&fixture, "second", admin);
    assert_true(uuid_parse(slice_text(org_id), &org.uuid));
    assert_int_equal(suspend(&fixture, fixture.admin, org_id).code, STATUS_OK);
    assert_int_equal(delete (&fixture, org_id, "second").code, STATUS_OK);
    for (size_t step = take_step(&fixture, org, 100, &position); step > 0;
         step = take_step(&fixture, org, 100, &position)) {
        count += step;
    }
    end_deletion(&fixture, org, OK);
    assert_int_equal(fixture_call(&fixture, &start, &audit.base, &audited), STATUS_OK);
    assert_true(audited->n_events > 2);
    assert_string_equal(audited->events[1]->organization_deleted->reason, "request 17");
    assert_false(audited->events[1]->organization_deleted->completed);
    assert_true(audited->events[0]->organization_deleted->completed);
    assert_string_equal(audited->events[0]->organization_deleted->org_id, org_id);
    assert_string_equal(audited->events[0]->organization_deleted->name, "second");
    assert_int_equal(audited->events[0]->organization_deleted->event_count, 3);
    assert_int_equal(audited->events[0]->organization_deleted->deleted_row_count, count);
    assert_int_equal(audited->events[0]->organization_deleted->started_seq,
                     audited->events[1]->seq);
    assert_string_equal(audited->events[0]->actor_user_id, audited->events[1]->actor_user_id);
    fixture_deinit(&fixture);
}

int run_organization_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suspended_organisation_is_refused),
        cmocka_unit_test(test_suspensions_are_watched_by_kind),
        cmocka_unit_test(test_streams_of_a_suspended_organisation_end),
        cmocka_unit_test(test_only_server_tokens_suspend_other_organisations),
        cmocka_unit_test(test_own_organisation_of_the_server_stays),
        cmocka_unit_test(test_repeats_change_nothing),
        cmocka_unit_test(test_repeats_of_what_changed_nothing_are_answered_alike),
        cmocka_unit_test(test_only_suspended_organisations_are_deleted),
        cmocka_unit_test(test_deletion_leaves_nothing),
        cmocka_unit_test(test_rebuild_during_a_deletion),
        cmocka_unit_test(test_late_write_of_a_deleted_organisation),
        cmocka_unit_test(test_rebuild_keeps_no_keys_of_a_deleted_organisation),
        cmocka_unit_test(test_cached_tokens_of_a_deleted_organisation_are_erased),
        cmocka_unit_test(test_check_reads_tokens_in_parts),
        cmocka_unit_test(test_deletion_is_audited),
    };

    return cmocka_run_group_tests_name("suspended and deleted organisations", tests, NULL, NULL);
}
