/*
 * document_end_tests.c: documents whose calls end early: the peer goes away, the deadline passes,
 * the token is revoked, the server drains, in each state of the call. In all cases each job is
 * closed once, and not while the pool has it.
 */
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CONTENT SLICE("%PDF-1.4 one")
#define TIMEOUT_US 100000

/* Progress of a call when it is ended. */
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
    struct world world;
    struct exchange exchange;
    enum cause cause;
};

static void end_call(void *user)
{
    struct scene *scene = user;
    struct world *world = &scene->world;

    if (scene->cause == CAUSE_PEER) {
        exchange_close(&scene->exchange);
        return;
    }
    clock_manual_advance(&world->clock, 2 * TIMEOUT_US);
    call_server_tick(world->calls, clock_monotonic_us(world->ctx.clock));
    assert_true(scene->exchange.ended);
    assert_int_equal(scene->exchange.code, STATUS_DEADLINE_EXCEEDED);
    exchange_close(&scene->exchange);
}

/* Sends a document up to the point, and ends the call there. */
static void play(struct scene *scene, const char *path, enum point point)
{
    struct world *world = &scene->world;
    const struct exchange_start start = {
        .path = path, .authorization = world->admin, .timeout_us = TIMEOUT_US};
    bool streamed = slice_equal(slice_text(path), slice_text(INGEST_STREAM));

    exchange_open(&scene->exchange, world, &start);
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
    assert_int_equal(world->documents.queued, 1);
    if (point == POINT_MEASURING) {
        world->documents.while_measuring = end_call;
        world->documents.while_measuring_user = scene;
    }
    if (point != POINT_QUEUED) {
        (void)fake_documents_run(&world->documents);
    }
    if (point == POINT_WRITING) {
        assert_int_equal(world->documents.closed, 1); /* the bytes are freed before the write */
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

        world_init(&scene.world);
        play(&scene, paths[at % 2], point);
        if (point == POINT_QUEUED) { /* the pool still has it */
            assert_int_equal(pipeline_live_count(scene.world.pipeline), 1);
            assert_int_equal(scene.world.documents.closed, 0);
        }
        world_run(&scene.world);
        assert_int_equal(pipeline_live_count(scene.world.pipeline), 0);
        assert_int_equal(scene.world.documents.opened, streamed || point != POINT_RECEIVING);
        assert_int_equal(scene.world.documents.cancelled, on_pool);
        assert_int_equal(scene.world.documents.measured, point == POINT_WRITING);
        scene.world.documents.while_measuring = NULL;
        assert_int_equal(ingest_count(&scene.world), 0);
        world_deinit(&scene.world);
    }
}

static void revoke(struct world *world, const char *token)
{
    Errata__V1__RevokeTokenRequest request = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.AdminService/RevokeToken",
                                         .authorization = world->admin};
    char key_id[9];

    world_key_id_of(token, key_id);
    request.key_id = key_id;
    assert_int_equal(world_call(world, &start, &request.base, NULL), STATUS_OK);
}

/* Goal: a token that is revoked while a document arrives admits no further piece, and no end. Method:
 * revoked before a piece, and before the end. */
static void test_revoked_token_admits_no_further_piece(void **state)
{
    struct world world;

    (void)state;
    world_init(&world);
    for (int i = 0; i < 2; i++) {
        struct exchange exchange;
        char token[WORLD_TOKEN_BYTES];
        const struct exchange_start start = {.path = INGEST_STREAM, .authorization = token};

        world_make_token(&world, world.admin, ROLE_SERVICE, token);
        exchange_open(&exchange, &world, &start);
        ingest_send_part(&exchange, "document", CONTENT);
        assert_false(exchange.ended);
        revoke(&world, token);
        if (i == 0) {
            ingest_send_part(&exchange, NULL, CONTENT);
        } else {
            exchange_send_end(&exchange);
        }
        assert_true(exchange.ended);
        assert_int_equal(exchange.code, STATUS_UNAUTHENTICATED);
        exchange_close(&exchange);
    }
    assert_int_equal(world.documents.closed, 2);
    assert_int_equal(world.documents.submitted, 0);
    world_deinit(&world);
}

/* Goal: documents that are under way when the server drains are accepted, others are not. Method: a
 * streamed one half sent, a whole one queued, and two that arrive later. */
static void test_documents_under_way_are_stored_while_draining(void **state)
{
    struct world world;
    struct exchange streamed;
    struct exchange queued;
    struct exchange late;

    (void)state;
    world_init(&world);
    ingest_open(&streamed, &world, INGEST_STREAM);
    ingest_send_part(&streamed, "streamed", CONTENT);
    ingest_open(&queued, &world, INGEST_UNARY);
    ingest_send(&queued, "queued", CONTENT);
    pipeline_drain(world.pipeline);
    assert_int_equal(world.env.health[HEALTH_PART_PDF], HEALTH_NOT_SERVING);
    assert_false(streamed.ended);
    ingest_send_part(&streamed, NULL, CONTENT);
    exchange_send_end(&streamed);
    ingest_open(&late, &world, INGEST_STREAM);
    assert_int_equal(late.code, STATUS_UNAVAILABLE);
    exchange_close(&late);
    ingest_open(&late, &world, INGEST_UNARY);
    assert_int_equal(late.code, STATUS_UNAVAILABLE);
    exchange_close(&late);
    world_run(&world);
    assert_int_equal(streamed.code, STATUS_OK);
    assert_int_equal(queued.code, STATUS_OK);
    assert_int_equal(ingest_read(&streamed)->size_bytes, 2 * CONTENT.size);
    exchange_close(&streamed);
    exchange_close(&queued);
    assert_int_equal(world.documents.opened, 2);
    world_deinit(&world);
}

/* Goal: a job belongs to its caller's organisation, whose queue it waits in. Method: a document of
 * another organisation. */
static void test_job_waits_in_its_organisations_queue(void **state)
{
    struct world world;
    char admin[WORLD_TOKEN_BYTES];
    const char *org = NULL;
    struct org_id id;
    const struct exchange_start start = {.path = INGEST_UNARY, .authorization = admin};

    (void)state;
    world_init(&world);
    org = world_make_org(&world, "second", admin);
    assert_true(uuid_parse(slice_text(org), &id.uuid));
    assert_int_equal(ingest(&world, &start, "document", CONTENT, NULL), STATUS_OK);
    assert_true(uuid_equal(world.documents.org.uuid, id.uuid));
    assert_int_equal(ingest_count(&world), 0); /* the default organisation has none */
    world_deinit(&world);
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
