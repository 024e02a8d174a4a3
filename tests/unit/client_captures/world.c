/*
 * world.c: see world.h.
 */
#include "tests/unit/client_captures/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t tag_of(const void *bytes)
{
    uint32_t tag = 0;

    memcpy(&tag, bytes, sizeof(tag));
    assert_true(tag < WORLD_TAGS_MAX);
    return tag;
}

/* The first call of a tag says its key; each later one says the same, and no other tag does. */
static void check_key(struct world *world, uint32_t tag, const char *key)
{
    if (world->keys[tag][0] != '\0') {
        assert_string_equal(world->keys[tag], key);
        return;
    }
    for (uint32_t other = 0; other < WORLD_TAGS_MAX; other++) {
        assert_string_not_equal(world->keys[other], key);
    }
    assert_true(strlen(key) < sizeof(world->keys[tag]));
    memcpy(world->keys[tag], key, strlen(key) + 1);
}

static enum errata_result start(void *user, struct capture *capture, const char *key,
                                int64_t timeout_ms, struct errata_call **ret_call)
{
    struct world *world = user;
    uint32_t tag = tag_of(capture->bytes);

    assert_null(world_find(world, tag));
    assert_true(timeout_ms > 0 && timeout_ms <= CAPTURES_CALL_TIMEOUT_MS);
    if (world->start_result != ERRATA_OK) {
        return world->start_result;
    }
    check_key(world, tag, key);
    for (size_t i = 0; i < WORLD_CALLS_MAX; i++) {
        struct world_call *call = &world->calls[i];

        if (call->capture == NULL) {
            *call = (struct world_call){.capture = capture,
                                        .tag = tag,
                                        .number = ++world->call_count,
                                        .timeout_ms = timeout_ms};
            *ret_call = (struct errata_call *)call;
            return ERRATA_OK;
        }
    }
    fail_msg("over %d calls are under way", WORLD_CALLS_MAX);
    return ERRATA_BUSY;
}

static void cancel(void *user, struct errata_call *call)
{
    struct world_call *cancelled = (struct world_call *)call;

    (void)user;
    assert_non_null(cancelled->capture);
    assert_false(cancelled->cancelled);
    cancelled->cancelled = true;
}

static const char *unreachable(void *user)
{
    return ((struct world *)user)->unreachable;
}

static void on_drop(void *user, enum errata_drop why, struct errata_bytes request,
                    const struct errata_status *status)
{
    struct world *world = user;
    struct world_drop *drop = &world->drops[world->drop_count++];

    assert_true(world->drop_count <= WORLD_TAGS_MAX);
    *drop =
        (struct world_drop){.tag = tag_of(request.data), .why = why, .has_status = status != NULL};
    if (status != NULL) {
        drop->code = status->code;
        drop->attempts = status->attempts;
        (void)snprintf(drop->message, sizeof(drop->message), "%s", status->message);
    }
    world_check(world);
    if (world->on_drop != NULL) {
        world->on_drop(world, drop);
    }
}

static void wake(void *user)
{
    struct world *world = user;

    world->wakes++;
}

struct world *world_new(const struct world_limits *limits, uint64_t seed)
{
    struct world *world = calloc(1, sizeof(*world));
    struct captures_intake_config intake = {.events_max = 100, .bytes_max = 1 << 20, .wake = wake};
    struct captures_queue_config queue = {
        .sender = {.start = start, .cancel = cancel, .unreachable = unreachable},
        .in_flight_max = limits->in_flight_max != 0 ? limits->in_flight_max : 4,
        .age_ms_max = limits->age_ms_max != 0 ? limits->age_ms_max : 600000,
        .on_drop = on_drop};

    assert_non_null(world);
    world->now_ms = 1000;
    random_seeded_init(&world->random, seed);
    intake.user = world;
    intake.events_max = limits->events_max != 0 ? limits->events_max : intake.events_max;
    intake.bytes_max = limits->bytes_max != 0 ? limits->bytes_max : intake.bytes_max;
    assert_int_equal(captures_intake_init(&world->intake, &intake), ERRATA_OK);
    queue.intake = &world->intake;
    queue.sender.user = world;
    queue.user = world;
    queue.random = &world->random.random;
    random_fill(queue.random, queue.key_seed, sizeof(queue.key_seed));
    captures_queue_init(&world->queue, &queue);
    return world;
}

void world_free(struct world *world)
{
    world_close(world, 0);
    world_step(world);
    for (size_t i = 0; i < WORLD_CALLS_MAX; i++) {
        if (world->calls[i].capture != NULL) {
            assert_true(world->calls[i].cancelled);
            world_end(world, world->calls[i].tag, ERRATA_CODE_CANCELLED);
        }
    }
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DONE);
    captures_queue_deinit(&world->queue);
    captures_intake_deinit(&world->intake);
    free(world);
}

enum errata_result world_add_bytes(struct world *world, uint32_t tag, size_t size)
{
    struct capture *capture = capture_new(size);
    enum errata_result result = ERRATA_OK;

    assert_non_null(capture);
    assert_true(size >= sizeof(tag));
    memset(capture->bytes, 0, size);
    memcpy(capture->bytes, &tag, sizeof(tag));
    result = captures_intake_add(&world->intake, capture);
    if (result != ERRATA_OK) {
        free(capture);
    }
    world_check(world);
    return result;
}

enum errata_result world_add(struct world *world, uint32_t tag)
{
    return world_add_bytes(world, tag, WORLD_BYTES);
}

void world_step(struct world *world)
{
    world->due_ms = captures_queue_step(&world->queue, world->now_ms);
    world_check(world);
}

void world_pass(struct world *world, int64_t ms)
{
    int64_t end_ms = world->now_ms + ms;

    while (world->due_ms != 0 && world->due_ms <= end_ms) {
        assert_true(world->due_ms > world->now_ms); /* otherwise the loop would spin */
        world->now_ms = world->due_ms;
        world_step(world);
    }
    world->now_ms = end_ms;
    world_step(world);
}

void world_close(struct world *world, int64_t drain_ms)
{
    captures_queue_close(&world->queue, drain_ms, world->now_ms);
}

struct world_call *world_find(struct world *world, uint32_t tag)
{
    for (size_t i = 0; i < WORLD_CALLS_MAX; i++) {
        if (world->calls[i].capture != NULL && world->calls[i].tag == tag) {
            return &world->calls[i];
        }
    }
    return NULL;
}

unsigned world_count_under_way(const struct world *world)
{
    unsigned count = 0;

    for (size_t i = 0; i < WORLD_CALLS_MAX; i++) {
        count += world->calls[i].capture != NULL;
    }
    return count;
}

void world_end_with(struct world *world, uint32_t tag, const struct errata_status *status)
{
    struct world_call *call = world_find(world, tag);
    struct capture *capture = NULL;

    assert_non_null(call);
    capture = call->capture;
    call->capture = NULL;
    world->attempts_ended += status->attempts;
    captures_queue_end(capture, status, world->now_ms);
    world_check(world);
}

void world_end(struct world *world, uint32_t tag, enum errata_code code)
{
    struct errata_status status = {.code = code,
                                   .message = errata_code_name(code),
                                   .from_server = code != ERRATA_CODE_CANCELLED,
                                   .attempts = 1};

    world_end_with(world, tag, &status);
    world_step(world);
}

/* google.rpc.Status{details: [Any{RetryInfo{retry_delay: ...}}]} in wire bytes; the size. */
static size_t write_retry_info(uint8_t bytes[80], int64_t retry_ms)
{
    static const char type[] = "type.googleapis.com/google.rpc.RetryInfo";
    uint8_t *at = bytes;
    size_t any_bytes = 2 + sizeof(type) - 1 + 2 + 2 + 3 + 6;

    assert_true(retry_ms >= 0 && retry_ms / 1000 < 1 << 14);
    *at++ = 0x1a; /* details */
    *at++ = (uint8_t)any_bytes;
    *at++ = 0x0a; /* type_url */
    *at++ = sizeof(type) - 1;
    memcpy(at, type, sizeof(type) - 1);
    at += sizeof(type) - 1;
    *at++ = 0x12; /* value */
    *at++ = 11;
    *at++ = 0x0a; /* retry_delay */
    *at++ = 9;
    *at++ = 0x08; /* seconds in two bytes */
    *at++ = (uint8_t)((retry_ms / 1000) & 0x7f) | 0x80;
    *at++ = (uint8_t)(retry_ms / 1000 >> 7);
    *at++ = 0x10; /* nanos in five bytes */
    for (int64_t nanos = retry_ms % 1000 * 1000000, i = 0; i < 5; i++, nanos >>= 7) {
        *at++ = (uint8_t)(nanos & 0x7f) | (i < 4 ? 0x80 : 0);
    }
    assert_int_equal(at - bytes, any_bytes + 2);
    return (size_t)(at - bytes);
}

void world_end_retry(struct world *world, uint32_t tag, enum errata_code code, int64_t retry_ms)
{
    uint8_t bytes[80];
    struct errata_status status = {.code = code,
                                   .message = "later",
                                   .from_server = true,
                                   .attempts = 1,
                                   .details = {bytes, write_retry_info(bytes, retry_ms)}};

    world_end_with(world, tag, &status);
    world_step(world);
}

const struct world_drop *world_drop_of(const struct world *world, uint32_t tag)
{
    for (size_t i = 0; i < world->drop_count; i++) {
        if (world->drops[i].tag == tag) {
            return &world->drops[i];
        }
    }
    return NULL;
}

void world_statistics(struct world *world, struct errata_captures_statistics *ret_statistics)
{
    captures_intake_read_statistics(&world->intake, ret_statistics);
}

void world_check(struct world *world)
{
    struct errata_captures_statistics now;
    uint64_t dropped = 0;

    world_statistics(world, &now);
    dropped = now.dropped[ERRATA_DROP_REFUSED] + now.dropped[ERRATA_DROP_EXPIRED] +
              now.dropped[ERRATA_DROP_CLOSED];
    assert_int_equal(now.added, now.queued + now.stored + dropped);
    assert_int_equal(dropped, world->drop_count);
    assert_true(now.queued <= world->intake.config.events_max);
    assert_true(now.queued_bytes <= world->intake.config.bytes_max);
    assert_true(world_count_under_way(world) <= world->queue.config.in_flight_max);
    assert_true(now.repeats <= world->attempts_ended);
    if (now.queued == 0) {
        assert_int_equal(now.queued_bytes, 0);
    }
}
