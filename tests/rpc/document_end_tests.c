/*
 * document_end_tests.c: documents whose calls end early: the peer disconnects, the deadline passes,
 * the token is revoked, the server drains, in each state of the call. In all cases each job is
 * closed once, and not while it is on the pool.
 */
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CONTENT SLICE("%PDF-1.4 one")
#define TIMEOUT_US 100000

/* Progress of a call at its end. */
enum point {
    POINT_RECEIVING,
    POINT_QUEUED,
    POINT_MEASURING,
    POINT_WRITING
};

/* The cause of the end. */
enum cause {
    CAUSE_PEER,
    CAUSE_DEADLINE
};

struct scene {
    struct fixture fixture;
    struct exchange exchange;
    enum cause cause;
};

static void end_call(void *user)
{
    struct scene *scene = user;
    struct fixture *fixture = &scene->fixture;

    if (scene->cause == CAUSE_PEER) {
        exchange_close(&scene->exchange);
        return;
    }
    clock_manual_advance(&fixture->clock, 2 * TIMEOUT_US);
    call_server_tick(fixture->calls, clock_monotonic_us(fixture->ctx.clock));
    assert_true(scene->exchange.ended);
    assert_int_equal(scene->exchange.code, STATUS_DEADLINE_EXCEEDED);
    exchange_close(&scene->exchange);
}

/* Sends a document up to the point, and ends the call there. */
static void play(struct scene *scene, const char *path, enum point point)
{
    struct fixture *fixture = &scene->fixture;
    const struct exchange_start start = {
        .path = path, .authorization = fixture->admin, .timeout_us = TIMEOUT_US};
    bool streamed = slice_equal(slice_text(path), slice_text(INGEST_STREAM));

    exchange_open(&scene->exchange, fixture, &start);
    if (streamed) {
        ingest_send_part(&scene->exchange, "document", CONTENT);
    }
    if (point == POINT_RECEIVING) {
        end_call(scene);
        return;
    }
    if (streamed) {
        exchange_send_end(&scene->exchange);
    } else {
        ingest_send(&scene->exchange, "document", CONTENT);
    }
    assert_int_equal(fixture->documents.queued, 1);
    if (point == POINT_MEASURING) {
        fixture->documents.while_measuring = end_call;
        fixture->documents.while_measuring_user = scene;
    }
    if (point != POINT_QUEUED) {
        (void)fake_documents_run(&fixture->documents);
    }
    if (point == POINT_WRITING) {
        assert_int_equal(fixture->documents.closed, 1); /* the bytes are freed before the write */
    }
    if (point != POINT_MEASURING) {
        end_call(scene);
    }
}

/* Goal: an early end cancels the document in every state, stores nothing, and leaves no job; a job
 * on the pool is cancelled and closed only after its completion. Method: both methods, both causes,
 * each state; the fake ends the test at a close out of order. */
static void test_early_end_cancels_the_document(void **state)
{
    static const char *const paths[] = {INGEST_UNARY, INGEST_STREAM};

    (void)state;
    for (unsigned at = 0; at < 16; at++) {
        enum point point = (enum point)(at / 4);
        bool on_pool = point == POINT_QUEUED || point == POINT_MEASURING;
        bool streamed = at % 2 == 1;
        struct scene scene = {.cause = at / 2 % 2 == 0 ? CAUSE_PEER : CAUSE_DEADLINE};

        fixture_init(&scene.fixture);
        play(&scene, paths[at % 2], point);
        if (point == POINT_QUEUED) { /* it is still on the pool */
            assert_int_equal(pipeline_live_count(scene.fixture.pipeline), 1);
            assert_int_equal(scene.fixture.documents.closed, 0);
        }
        fixture_run(&scene.fixture);
        assert_int_equal(pipeline_live_count(scene.fixture.pipeline), 0);
        assert_int_equal(scene.fixture.documents.opened, streamed || point != POINT_RECEIVING);
        assert_int_equal(scene.fixture.documents.cancelled, on_pool);
        assert_int_equal(scene.fixture.documents.measured, point == POINT_WRITING);
        scene.fixture.documents.while_measuring = NULL;
        assert_int_equal(ingest_count(&scene.fixture), 0);
        fixture_deinit(&scene.fixture);
    }
}

static void revoke(struct fixture *fixture, const char *token)
{
    Errata__V1__RevokeTokenRequest request = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.AdminService/RevokeToken",
                                         .authorization = fixture->admin};
    char key_id[9];

    fixture_key_id_of(token, key_id);
    request.key_id = key_id;
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
}

/* Goal: a token that is revoked while a document arrives admits no further piece, and no end. Method:
 * revoked before a piece, and before the end. */
static void test_revoked_token_admits_no_further_piece(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    for (int i = 0; i < 2; i++) {
        struct exchange exchange;
        char token[FIXTURE_TOKEN_BYTES];
        const struct exchange_start start = {.path = INGEST_STREAM, .authorization = token};

        fixture_make_token(&fixture, fixture.admin, ROLE_SERVICE, token);
        exchange_open(&exchange, &fixture, &start);
        ingest_send_part(&exchange, "document", CONTENT);
        assert_false(exchange.ended);
        revoke(&fixture, token);
        if (i == 0) {
            ingest_send_part(&exchange, NULL, CONTENT);
        } else {
            exchange_send_end(&exchange);
        }
        assert_true(exchange.ended);
        assert_int_equal(exchange.code, STATUS_UNAUTHENTICATED);
        exchange_close(&exchange);
    }
    assert_int_equal(fixture.documents.closed, 2);
    assert_int_equal(fixture.documents.submitted, 0);
    fixture_deinit(&fixture);
}

/* Goal: documents that are under way when the server drains are accepted, others are not. Method: a
 * streamed one half sent, a whole one queued, and two that arrive later. */
static void test_documents_under_way_are_stored_while_draining(void **state)
{
    struct fixture fixture;
    struct exchange streamed;
    struct exchange queued;
    struct exchange late;

    (void)state;
    fixture_init(&fixture);
    ingest_open(&streamed, &fixture, INGEST_STREAM);
    ingest_send_part(&streamed, "streamed", CONTENT);
    ingest_open(&queued, &fixture, INGEST_UNARY);
    ingest_send(&queued, "queued", CONTENT);
    pipeline_drain(fixture.pipeline);
    assert_int_equal(fixture.env.health[HEALTH_PART_PDF], HEALTH_NOT_SERVING);
    assert_false(streamed.ended);
    ingest_send_part(&streamed, NULL, CONTENT);
    exchange_send_end(&streamed);
    ingest_open(&late, &fixture, INGEST_STREAM);
    assert_int_equal(late.code, STATUS_UNAVAILABLE);
    exchange_close(&late);
    ingest_open(&late, &fixture, INGEST_UNARY);
    assert_int_equal(late.code, STATUS_UNAVAILABLE);
    exchange_close(&late);
    fixture_run(&fixture);
    assert_int_equal(streamed.code, STATUS_OK);
    assert_int_equal(queued.code, STATUS_OK);
    assert_int_equal(ingest_read(&streamed)->size_bytes, 2 * CONTENT.size);
    exchange_close(&streamed);
    exchange_close(&queued);
    assert_int_equal(fixture.documents.opened, 2);
    fixture_deinit(&fixture);
}

/* Goal: a job belongs to its caller's organisation, whose queue it waits in. Method: a document of
 * another organisation. */
static void test_job_waits_in_its_organisations_queue(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org = NULL;
    struct org_id id;
    const struct exchange_start start = {.path = INGEST_UNARY, .authorization = admin};

    (void)state;
    fixture_init(&fixture);
    org = fixture_make_org(&fixture, "second", admin);
    assert_true(uuid_parse(slice_text(org), &id.uuid));
    assert_int_equal(ingest(&fixture, &start, "document", CONTENT, NULL), STATUS_OK);
    assert_true(uuid_equal(fixture.documents.org.uuid, id.uuid));
    assert_int_equal(ingest_count(&fixture), 0); /* the default organisation has none */
    fixture_deinit(&fixture);
}

int run_document_end_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_early_end_cancels_the_document),
        cmocka_unit_test(test_revoked_token_admits_no_further_piece),
        cmocka_unit_test(test_documents_under_way_are_stored_while_draining),
        cmocka_unit_test(test_job_waits_in_its_organisations_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
