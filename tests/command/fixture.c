/*
 * fixture.c: see fixture.h; and the main of this folder's tests.
 */
#include "tests/command/fixture.h"

#include "server/auth/first_token.h"
#include "server/auth/token.h"
#include "server/domain/replay/replay.h"
#include "store/memory/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ARENA_BYTES (64u << 20)

/* Called on the writer's thread. */
static void wake(void *user)
{
    struct fixture *fixture = user;

    assert_int_equal(uv_async_send(&fixture->wake), 0);
}

static void on_wake(uv_async_t *handle)
{
    const struct fixture *fixture = handle->data;

    writer_complete(fixture->writer);
    pipeline_end_turn(fixture->pipeline);
}

/* A job of the pool. */
struct fixture_job {
    uv_work_t work;
    void (*run)(void *job);
    void (*done)(void *job, enum err result);
    void *job;
};

static void on_work(uv_work_t *work)
{
    struct fixture_job *pooled = (struct fixture_job *)work;

    pooled->run(pooled->job);
}

static void on_worked(uv_work_t *work, int status)
{
    struct fixture_job *pooled = (struct fixture_job *)work;

    assert_int_equal(status, 0);
    pooled->done(pooled->job, OK);
    free(pooled);
}

enum err fixture_run_on_pool(void *user, void (*work)(void *job),
                             void (*done)(void *job, enum err result), void *job)
{
    struct fixture *fixture = user;
    struct fixture_job *pooled = calloc(1, sizeof(*pooled));

    assert_non_null(pooled);
    *pooled = (struct fixture_job){.run = work, .done = done, .job = job};
    assert_int_equal(uv_queue_work(&fixture->loop, &pooled->work, on_work, on_worked), 0);
    return OK;
}

static void want_turn(void *user)
{
    (void)user; /* no test uses streams */
}

static enum err keep_token(void *user, struct slice text)
{
    struct fixture *fixture = user;
    char key_id[9];

    (void)snprintf(fixture->admin, sizeof(fixture->admin), "Bearer %.*s", (int)text.size,
                   (const char *)text.data);
    memcpy(key_id, text.data + sizeof("errata_") - 1, sizeof(key_id) - 1);
    key_id[8] = '\0';
    fixture->key_id = (uint32_t)strtoul(key_id, NULL, 16);
    return OK;
}

static void make_services(struct fixture *fixture)
{
    const struct writer_config writer = {
        .backend = fixture->backend, .clock = fixture->ctx.clock, .wake = wake, .user = fixture};
    struct pipeline_config pipeline = {.backend = fixture->backend,
                                       .env = &fixture->env,
                                       .clock = fixture->ctx.clock,
                                       .random = fixture->ctx.random,
                                       .run_on_pool = fixture_run_on_pool,
                                       .run_read = fixture_run_on_pool,
                                       .want_turn = want_turn,
                                       .user = fixture};
    struct call_config calls;

    assert_int_equal(writer_new(&writer, &fixture->writer), OK);
    assert_int_equal(auth_new(&fixture->auth), OK);
    pipeline.writer = fixture->writer;
    pipeline.auth = fixture->auth;
    fixture->env.writer = fixture->writer;
    fixture->env.log_engine = LOG_ENGINE_KIND_LMDB;
    assert_int_equal(pipeline_new(&fixture->arena, &pipeline, &fixture->pipeline), OK);
    calls = call_config_default(pipeline_handlers(fixture->pipeline));
    assert_int_equal(call_server_new(&calls, 0, &fixture->calls), OK);
}

static void find_org(struct fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(store_next_org(txn, TABLE_EVENT, NULL, &fixture->org.uuid), OK);
    store_abort(txn);
}

void fixture_init(struct fixture *fixture)
{
    bool made = false;

    *fixture = (struct fixture){.org = {.uuid = {.bytes = {0}}}};
    arena_init(&fixture->arena, ARENA_BYTES);
    fault_init(&fixture->fault, &fixture->arena);
    clock_manual_init(&fixture->clock, FIXTURE_START_US);
    fixture->ctx =
        (struct ctx){&fixture->arena, &fixture->clock.clock, random_system(), &fixture->fault};
    assert_int_equal(uv_loop_init(&fixture->loop), 0);
    assert_int_equal(uv_async_init(&fixture->loop, &fixture->wake, on_wake), 0);
    fixture->wake.data = fixture;
    assert_int_equal(store_memory_open(&fixture->backend), OK);
    assert_int_equal(first_token_make(&fixture->ctx, fixture->backend, keep_token, fixture, &made),
                     OK);
    assert_true(made);
    assert_int_equal(env_init(&fixture->env, &fixture->arena, &fixture->ctx, fixture->backend), OK);
    find_org(fixture);
    make_services(fixture);
}

static void check_replay(struct fixture *fixture)
{
    struct replay_report *report = arena_calloc(&fixture->arena, 1, sizeof(*report));
    struct replay_config config = {.source = fixture->backend,
                                   .clock = &fixture->clock.clock,
                                   .random = fixture->ctx.random,
                                   .now_us = FIXTURE_START_US};

    assert_non_null(report);
    assert_int_equal(store_memory_open(&config.target), OK);
    assert_int_equal(replay_verify(&config, report), OK);
    assert_int_equal(report->broken_count, 0);
    assert_int_equal(report->difference_count, 0);
    store_memory_close(config.target);
}

void fixture_deinit(struct fixture *fixture)
{
    assert_int_equal(pipeline_live_count(fixture->pipeline), 0);
    call_server_free(fixture->calls);
    writer_drain(fixture->writer);
    writer_free(fixture->writer);
    check_replay(fixture);
    pipeline_free(fixture->pipeline);
    auth_free(fixture->auth);
    uv_close((uv_handle_t *)&fixture->wake, NULL);
    assert_int_equal(uv_run(&fixture->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    store_memory_close(fixture->backend);
    env_deinit(&fixture->env);
    arena_deinit(&fixture->arena);
}

void fixture_run_until(struct fixture *fixture, const bool *flag)
{
    while (!*flag) {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    }
}

void fixture_call(struct fixture *fixture, struct plain_call *plain, const char *head,
                  const ProtobufCMessage *request, size_t piece)
{
    size_t size = protobuf_c_message_get_packed_size(request);
    struct slice text = arena_printf(&fixture->arena, "%s\n%zu\n", head, size);
    uint8_t *packed = arena_alloc(&fixture->arena, size + 1);
    struct buffer bytes;

    assert_non_null(packed);
    assert_int_equal(protobuf_c_message_pack(request, packed), size);
    buffer_init(&bytes, &fixture->arena, text.size + size);
    buffer_append(&bytes, text);
    buffer_append(&bytes, slice_of(packed, size));
    assert_true(buffer_ok(&bytes));
    plain_open(plain, fixture->calls, &fixture->arena);
    for (size_t at = 0; at < bytes.size; at += piece) {
        size_t step = bytes.size - at < piece ? bytes.size - at : piece;

        plain_feed(plain, slice_of(bytes.data + at, step));
    }
    plain_end(plain);
}

void fixture_call_whole(struct fixture *fixture, struct plain_call *plain, const char *head,
                        const ProtobufCMessage *request, size_t piece)
{
    fixture_call(fixture, plain, head, request, piece);
    fixture_run_until(fixture, &plain->ended);
    plain_drain(plain);
    plain_close(plain);
}

uint64_t fixture_last_seq(struct fixture *fixture)
{
    struct store_txn *txn = NULL;
    struct log_head head;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(log_read_head(txn, fixture->org, &head), OK);
    store_abort(txn);
    return head.last_seq;
}

int main(void)
{
    return run_plain_tests() + run_timer_tests() + run_batch_tests() + run_retention_tests() +
           run_intake_tests() + run_deletion_tests();
}
