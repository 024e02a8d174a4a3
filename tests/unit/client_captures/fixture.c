/*
 * fixture.c: see fixture.h.
 */
#include "tests/unit/client_captures/fixture.h"

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
    assert_true(tag < FIXTURE_TAGS_MAX);
    return tag;
}

/* Checks that all calls of a tag have the key of its first call, and no other tag has it. */
static void check_key(struct fixture *fixture, uint32_t tag, const char *key)
{
    if (fixture->keys[tag][0] != '\0') {
        assert_string_equal(fixture->keys[tag], key);
        return;
    }
    for (uint32_t other = 0; other < FIXTURE_TAGS_MAX; other++) {
        assert_string_not_equal(fixture->keys[other], key);
    }
    assert_true(strlen(key) < sizeof(fixture->keys[tag]));
    memcpy(fixture->keys[tag], key, strlen(key) + 1);
}

static enum errata_result start(void *user, struct capture *capture, const char *key,
                                int64_t timeout_ms, struct errata_call **ret_call)
{
    struct fixture *fixture = user;
    uint32_t tag = tag_of(capture->bytes);

    assert_null(fixture_find(fixture, tag));
    assert_true(timeout_ms > 0 && timeout_ms <= CAPTURES_CALL_TIMEOUT_MS);
    if (fixture->start_result != ERRATA_OK) {
        return fixture->start_result;
    }
    check_key(fixture, tag, key);
    for (size_t i = 0; i < FIXTURE_CALLS_MAX; i++) {
        struct fixture_call *call = &fixture->calls[i];

        if (call->capture == NULL) {
            *call = (struct fixture_call){.capture = capture,
                                          .tag = tag,
                                          .number = ++fixture->call_count,
                                          .timeout_ms = timeout_ms};
            *ret_call = (struct errata_call *)call;
            return ERRATA_OK;
        }
    }
    fail_msg("over %d calls are under way", FIXTURE_CALLS_MAX);
    return ERRATA_BUSY;
}

static void cancel(void *user, struct errata_call *call)
{
    struct fixture_call *cancelled = (struct fixture_call *)call;

    (void)user;
    assert_non_null(cancelled->capture);
    assert_false(cancelled->cancelled);
    cancelled->cancelled = true;
}

static const char *unreachable(void *user)
{
    return ((struct fixture *)user)->unreachable;
}

static void on_drop(void *user, enum errata_drop why, struct errata_bytes request,
                    const struct errata_status *status)
{
    struct fixture *fixture = user;
    struct fixture_drop *drop = &fixture->drops[fixture->drop_count++];

    assert_true(fixture->drop_count <= FIXTURE_TAGS_MAX);
    *drop = (struct fixture_drop){
        .tag = tag_of(request.data), .why = why, .has_status = status != NULL};
    if (status != NULL) {
        drop->code = status->code;
        drop->attempts = status->attempts;
        (void)snprintf(drop->message, sizeof(drop->message), "%s", status->message);
    }
    fixture_check(fixture);
    if (fixture->on_drop != NULL) {
        fixture->on_drop(fixture, drop);
    }
}

static void wake(void *user)
{
    struct fixture *fixture = user;

    fixture->wakes++;
}

struct fixture *fixture_new(const struct fixture_limits *limits, uint64_t seed)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct captures_intake_config intake = {.events_max = 100, .bytes_max = 1 << 20, .wake = wake};
    struct captures_queue_config queue = {
        .sender = {.start = start, .cancel = cancel, .unreachable = unreachable},
        .in_flight_max = limits->in_flight_max != 0 ? limits->in_flight_max : 4,
        .age_ms_max = limits->age_ms_max != 0 ? limits->age_ms_max : 600000,
        .on_drop = on_drop};

    assert_non_null(fixture);
    fixture->now_ms = 1000;
    random_seeded_init(&fixture->random, seed);
    intake.user = fixture;
    intake.events_max = limits->events_max != 0 ? limits->events_max : intake.events_max;
    intake.bytes_max = limits->bytes_max != 0 ? limits->bytes_max : intake.bytes_max;
    assert_int_equal(captures_intake_init(&fixture->intake, &intake), ERRATA_OK);
    queue.intake = &fixture->intake;
    queue.sender.user = fixture;
    queue.user = fixture;
    queue.random = &fixture->random.random;
    random_fill(queue.random, queue.key_seed, sizeof(queue.key_seed));
    captures_queue_init(&fixture->queue, &queue);
    return fixture;
}

void fixture_free(struct fixture *fixture)
{
    fixture_close(fixture, 0);
    fixture_step(fixture);
    for (size_t i = 0; i < FIXTURE_CALLS_MAX; i++) {
        if (fixture->calls[i].capture != NULL) {
            assert_true(fixture->calls[i].cancelled);
            fixture_end(fixture, fixture->calls[i].tag, ERRATA_CODE_CANCELLED);
        }
    }
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DONE);
    captures_queue_deinit(&fixture->queue);
    captures_intake_deinit(&fixture->intake);
    free(fixture);
}

enum errata_result fixture_add_bytes(struct fixture *fixture, uint32_t tag, size_t size)
{
    struct capture *capture = capture_new(size);
    enum errata_result result = ERRATA_OK;

    assert_non_null(capture);
    assert_true(size >= sizeof(tag));
    memset(capture->bytes, 0, size);
    memcpy(capture->bytes, &tag, sizeof(tag));
    result = captures_intake_add(&fixture->intake, capture);
    if (result != ERRATA_OK) {
        free(capture);
    }
    fixture_check(fixture);
    return result;
}

enum errata_result fixture_add(struct fixture *fixture, uint32_t tag)
{
    return fixture_add_bytes(fixture, tag, FIXTURE_BYTES);
}

void fixture_step(struct fixture *fixture)
{
    fixture->due_ms = captures_queue_step(&fixture->queue, fixture->now_ms);
    fixture_check(fixture);
}

void fixture_pass(struct fixture *fixture, int64_t ms)
{
    int64_t end_ms = fixture->now_ms + ms;

    while (fixture->due_ms != 0 && fixture->due_ms <= end_ms) {
        assert_true(fixture->due_ms > fixture->now_ms); /* otherwise the loop would spin */
        fixture->now_ms = fixture->due_ms;
        fixture_step(fixture);
    }
    fixture->now_ms = end_ms;
    fixture_step(fixture);
}

void fixture_close(struct fixture *fixture, int64_t drain_ms)
{
    captures_queue_close(&fixture->queue, drain_ms, fixture->now_ms);
}

struct fixture_call *fixture_find(struct fixture *fixture, uint32_t tag)
{
    for (size_t i = 0; i < FIXTURE_CALLS_MAX; i++) {
        if (fixture->calls[i].capture != NULL && fixture->calls[i].tag == tag) {
            return &fixture->calls[i];
        }
    }
    return NULL;
}

unsigned fixture_count_under_way(const struct fixture *fixture)
{
    unsigned count = 0;

    for (size_t i = 0; i < FIXTURE_CALLS_MAX; i++) {
        count += fixture->calls[i].capture != NULL;
    }
    return count;
}

void fixture_end_with(struct fixture *fixture, uint32_t tag, const struct errata_status *status)
{
    struct fixture_call *call = fixture_find(fixture, tag);
    struct capture *capture = NULL;

    assert_non_null(call);
    capture = call->capture;
    call->capture = NULL;
    fixture->attempts_ended += status->attempts;
    captures_queue_end(capture, status, fixture->now_ms);
    fixture_check(fixture);
}

void fixture_end(struct fixture *fixture, uint32_t tag, enum errata_code code)
{
    struct errata_status status = {.code = code,
                                   .message = errata_code_name(code),
                                   .from_server = code != ERRATA_CODE_CANCELLED,
                                   .attempts = 1};

    fixture_end_with(fixture, tag, &status);
    fixture_step(fixture);
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

void fixture_end_retry(struct fixture *fixture, uint32_t tag, enum errata_code code,
                       int64_t retry_ms)
{
    uint8_t bytes[80];
    struct errata_status status = {.code = code,
                                   .message = "later",
                                   .from_server = true,
                                   .attempts = 1,
                                   .details = {bytes, write_retry_info(bytes, retry_ms)}};

    fixture_end_with(fixture, tag, &status);
    fixture_step(fixture);
}

const struct fixture_drop *fixture_drop_of(const struct fixture *fixture, uint32_t tag)
{
    for (size_t i = 0; i < fixture->drop_count; i++) {
        if (fixture->drops[i].tag == tag) {
            return &fixture->drops[i];
        }
    }
    return NULL;
}

void fixture_statistics(struct fixture *fixture, struct errata_captures_statistics *ret_statistics)
{
    captures_intake_read_statistics(&fixture->intake, ret_statistics);
}

void fixture_check(struct fixture *fixture)
{
    struct errata_captures_statistics now;
    uint64_t dropped = 0;

    fixture_statistics(fixture, &now);
    dropped = now.dropped[ERRATA_DROP_REFUSED] + now.dropped[ERRATA_DROP_EXPIRED] +
              now.dropped[ERRATA_DROP_CLOSED];
    assert_int_equal(now.added, now.queued + now.stored + dropped);
    assert_int_equal(dropped, fixture->drop_count);
    assert_true(now.queued <= fixture->intake.config.events_max);
    assert_true(now.queued_bytes <= fixture->intake.config.bytes_max);
    assert_true(fixture_count_under_way(fixture) <= fixture->queue.config.in_flight_max);
    assert_true(now.repeats <= fixture->attempts_ended);
    if (now.queued == 0) {
        assert_int_equal(now.queued_bytes, 0);
    }
}
