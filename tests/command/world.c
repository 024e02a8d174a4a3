/*
 * world.c: see world.h; and the main of this folder's tests.
 */
#include "tests/command/world.h"

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
    struct world *world = user;

    assert_int_equal(uv_async_send(&world->wake), 0);
}

static void on_wake(uv_async_t *handle)
{
    const struct world *world = handle->data;

    writer_complete(world->writer);
    pipeline_end_turn(world->pipeline);
}

static enum err run_on_pool(void *user, void (*work)(void *job),
                            void (*done)(void *job, enum err result), void *job)
{
    (void)user;
    (void)work;
    (void)done;
    (void)job;
    return ERR_BUSY;
}

static void want_turn(void *user)
{
    (void)user; /* no test uses streams */
}

static enum err keep_token(void *user, struct slice text)
{
    struct world *world = user;
    char key_id[9];

    (void)snprintf(world->admin, sizeof(world->admin), "Bearer %.*s", (int)text.size,
                   (const char *)text.data);
    memcpy(key_id, text.data + sizeof("errata_") - 1, sizeof(key_id) - 1);
    key_id[8] = '\0';
    world->key_id = (uint32_t)strtoul(key_id, NULL, 16);
    return OK;
}

static void make_services(struct world *world)
{
    const struct writer_config writer = {
        .backend = world->backend, .clock = world->ctx.clock, .wake = wake, .user = world};
    struct pipeline_config pipeline = {.backend = world->backend,
                                       .env = &world->env,
                                       .clock = world->ctx.clock,
                                       .random = world->ctx.random,
                                       .run_on_pool = run_on_pool,
                                       .run_read = run_on_pool,
                                       .want_turn = want_turn,
                                       .user = world};
    struct call_config calls;

    assert_int_equal(writer_new(&writer, &world->writer), OK);
    assert_int_equal(auth_new(&world->auth), OK);
    pipeline.writer = world->writer;
    pipeline.auth = world->auth;
    world->env.writer = world->writer;
    world->env.log_engine = LOG_ENGINE_KIND_LMDB;
    assert_int_equal(pipeline_new(&world->arena, &pipeline, &world->pipeline), OK);
    calls = call_config_default(pipeline_handlers(world->pipeline));
    assert_int_equal(call_server_new(&calls, 0, &world->calls), OK);
}

static void find_org(struct world *world)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(world->backend, STORE_READ, &txn), OK);
    assert_int_equal(store_next_org(txn, TABLE_EVENT, NULL, &world->org.uuid), OK);
    store_abort(txn);
}

void world_init(struct world *world)
{
    bool made = false;

    *world = (struct world){.org = {.uuid = {.bytes = {0}}}};
    arena_init(&world->arena, ARENA_BYTES);
    fault_init(&world->fault, &world->arena);
    clock_manual_init(&world->clock, WORLD_START_US);
    world->ctx = (struct ctx){&world->arena, &world->clock.clock, random_system(), &world->fault};
    assert_int_equal(uv_loop_init(&world->loop), 0);
    assert_int_equal(uv_async_init(&world->loop, &world->wake, on_wake), 0);
    world->wake.data = world;
    assert_int_equal(store_memory_open(&world->backend), OK);
    assert_int_equal(first_token_make(&world->ctx, world->backend, keep_token, world, &made), OK);
    assert_true(made);
    assert_int_equal(env_init(&world->env, &world->arena, &world->ctx, world->backend), OK);
    find_org(world);
    make_services(world);
}

static void check_replay(struct world *world)
{
    struct replay_report *report = arena_calloc(&world->arena, 1, sizeof(*report));
    struct replay_config config = {.source = world->backend,
                                   .clock = &world->clock.clock,
                                   .random = world->ctx.random,
                                   .now_us = WORLD_START_US};

    assert_non_null(report);
    assert_int_equal(store_memory_open(&config.target), OK);
    assert_int_equal(replay_verify(&config, report), OK);
    assert_int_equal(report->broken_count, 0);
    assert_int_equal(report->difference_count, 0);
    store_memory_close(config.target);
}

void world_deinit(struct world *world)
{
    assert_int_equal(pipeline_live_count(world->pipeline), 0);
    call_server_free(world->calls);
    writer_drain(world->writer);
    writer_free(world->writer);
    check_replay(world);
    pipeline_free(world->pipeline);
    auth_free(world->auth);
    uv_close((uv_handle_t *)&world->wake, NULL);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    store_memory_close(world->backend);
    env_deinit(&world->env);
    arena_deinit(&world->arena);
}

void world_run_until(struct world *world, const bool *flag)
{
    while (!*flag) {
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    }
}

void world_call(struct world *world, struct plain_call *plain, const char *head,
                const ProtobufCMessage *request, size_t piece)
{
    size_t size = protobuf_c_message_get_packed_size(request);
    struct slice text = arena_printf(&world->arena, "%s\n%zu\n", head, size);
    uint8_t *packed = arena_alloc(&world->arena, size + 1);
    struct buffer bytes;

    assert_non_null(packed);
    assert_int_equal(protobuf_c_message_pack(request, packed), size);
    buffer_init(&bytes, &world->arena, text.size + size);
    buffer_append(&bytes, text);
    buffer_append(&bytes, slice_of(packed, size));
    assert_true(buffer_ok(&bytes));
    plain_open(plain, world->calls, &world->arena);
    for (size_t at = 0; at < bytes.size; at += piece) {
        size_t step = bytes.size - at < piece ? bytes.size - at : piece;

        plain_feed(plain, slice_of(bytes.data + at, step));
    }
    plain_end(plain);
}

void world_call_whole(struct world *world, struct plain_call *plain, const char *head,
                      const ProtobufCMessage *request, size_t piece)
{
    world_call(world, plain, head, request, piece);
    world_run_until(world, &plain->ended);
    plain_drain(plain);
    plain_close(plain);
}

uint64_t world_last_seq(struct world *world)
{
    struct store_txn *txn = NULL;
    struct log_head head;

    assert_int_equal(store_begin(world->backend, STORE_READ, &txn), OK);
    assert_int_equal(log_read_head(txn, world->org, &head), OK);
    store_abort(txn);
    return head.last_seq;
}

int main(void)
{
    return run_plain_tests() + run_timer_tests();
}
