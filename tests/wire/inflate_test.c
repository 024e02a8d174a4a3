/*
 * inflate_test.c: compressed messages that are inflated on the pool: what comes of them, what waits for
 * them, who takes turns, and what goes when the caller does. The pool of the fixture does nothing but by the
 * test's word.
 */
#include "server/call/gzip.h"
#include "server/call/protocol.h"
#include "store/base/bytes.h"
#include "store/base/fault_point.h"
#include "tests/wire/wire.h"

#include <stdlib.h>

#define LARGE_BYTES ((size_t)200 * 1000)
#define ARENA_BYTES ((size_t)64 << 20)

static const struct wire_field gzip_field = {"grpc-encoding", "gzip"};

/* A fixture whose pool waits, and a message that it gets. */
struct scene {
    struct wire_fixture fixture;
    struct arena arena;
    struct slice plain;
    struct slice packed;
};

static struct slice plain_of(struct arena *arena, size_t size)
{
    struct buffer plain;

    buffer_init(&plain, arena, size);
    for (size_t i = 0; i < size; i++) {
        buffer_append_byte(&plain, wire_pattern(i));
    }
    assert_true(buffer_ok(&plain));
    return buffer_slice(&plain);
}

static struct slice packed_of(struct arena *arena, struct slice plain)
{
    struct buffer packed;

    buffer_init(&packed, arena, 0);
    assert_int_equal(gzip_deflate(plain, &packed), OK);
    return buffer_slice(&packed);
}

static void open_scene_with(struct scene *scene, bool bytewise, const struct call_config *config)
{
    arena_init(&scene->arena, ARENA_BYTES);
    scene->plain = plain_of(&scene->arena, LARGE_BYTES);
    scene->packed = packed_of(&scene->arena, scene->plain);
    wire_setup_with(&scene->fixture, bytewise, config);
    wire_preface(&scene->fixture);
    wire_settings_ack(&scene->fixture);
    wire_settings(&scene->fixture, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 30);
    wire_window(&scene->fixture, 0, 1 << 30);
    wire_run(&scene->fixture);
    scene->fixture.pool_waits = true;
}

static void open_scene(struct scene *scene, bool bytewise)
{
    struct call_config config = wire_config(&scene->fixture);

    open_scene_with(scene, bytewise, &config);
}

static void close_scene(struct scene *scene)
{
    wire_teardown(&scene->fixture);
    arena_deinit(&scene->arena);
}

static void send_packed(struct scene *scene, uint32_t stream, enum wire_method method,
                        struct slice packed)
{
    wire_headers(&scene->fixture, stream, method, false, &gzip_field, 1);
    wire_message(&scene->fixture, stream, 1, packed, true);
}

/* The pool runs one job, and the resulting output is sent. */
static void step(struct scene *scene)
{
    assert_true(wire_pool_step(&scene->fixture));
    wire_run(&scene->fixture);
}

static uint64_t body_bytes(const struct scene *scene)
{
    return call_server_stats(scene->fixture.calls).body_bytes_live;
}

/* Goal: a message that inflates to 64 KiB is inflated at once; one byte more is inflated on the
 * pool, even if the request ended long ago; both arrive whole. Method: echoes of both sizes, and of
 * three times the larger. */
static void test_message_above_64_kib_is_inflated_on_the_pool(void **state)
{
    static const size_t sizes[] = {CALL_INFLATE_HERE_BYTES, CALL_INFLATE_HERE_BYTES + 1,
                                   LARGE_BYTES};
    struct scene scene;

    open_scene(&scene, WIRE_MODE(state));
    for (uint32_t i = 0; i < 3; i++) {
        struct slice plain = slice_of(scene.plain.data, sizes[i]);

        send_packed(&scene, i * 2 + 1, WIRE_ECHO, packed_of(&scene.arena, plain));
        wire_run(&scene.fixture);
        assert_int_equal(scene.fixture.jobs_taken, i);
        assert_int_equal(scene.fixture.messages, i == 0 ? 1 : i);
        if (i > 0) {
            assert_int_equal(wire_answer(&scene.fixture, i * 2 + 1)->http_status, 0);
            wire_pool_step(&scene.fixture);
            assert_true(scene.fixture.woken);
            wire_run(&scene.fixture);
        }
        wire_assert_status(&scene.fixture, i * 2 + 1, STATUS_OK);
        assert_true(slice_equal(wire_reply(&scene.fixture, i * 2 + 1), plain));
    }
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

/* Goal: the size that a message states only decides where it is inflated. Method: a small one that
 * states a large size, a large one that states a small one, one with an error in the middle, a
 * truncated one, and a whole one with bytes after it: all are refused as damaged, and no service
 * sees them. */
static void test_stated_size_only_selects_where_to_inflate(void **state)
{
    struct scene scene;
    struct slice small = {NULL, 0};
    struct slice copies[5];

    open_scene(&scene, WIRE_MODE(state));
    small = packed_of(&scene.arena, slice_of(scene.plain.data, 1000));
    for (size_t i = 0; i < 5; i++) {
        assert_true(arena_copy(&scene.arena, i == 0 ? small : scene.packed, &copies[i]));
    }
    ((uint8_t *)(uintptr_t)copies[0].data)[copies[0].size - 2] = 1;
    memset((uint8_t *)(uintptr_t)copies[1].data + copies[1].size - 4, 0, 4);
    memset((uint8_t *)(uintptr_t)copies[2].data + copies[2].size / 2, 0xff, 16);
    copies[3].size /= 2;
    copies[4].size++; /* the copy's NUL */
    for (uint32_t i = 0; i < 5; i++) {
        send_packed(&scene, i * 2 + 1, WIRE_ECHO, copies[i]);
        scene.fixture.pool_waits = false;
        wire_run(&scene.fixture);
        wire_assert_status(&scene.fixture, i * 2 + 1, STATUS_INTERNAL);
        assert_true(
            wire_has_field(wire_answer(&scene.fixture, i * 2 + 1), "cannot be decompressed"));
    }
    assert_true(scene.fixture.jobs_taken >= 3);
    assert_int_equal(scene.fixture.messages, 0);
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

/* Goal: the limit counts the inflated bytes, on the pool, too. Method: one byte above a limit of
 * 100,000. */
static void test_inflated_size_is_limited_on_the_pool(void **state)
{
    struct scene scene;
    struct call_config config = wire_config(&scene.fixture);

    config.message_bytes_max = 100000;
    open_scene_with(&scene, WIRE_MODE(state), &config);
    send_packed(&scene, 1, WIRE_HOLD, packed_of(&scene.arena, slice_of(scene.plain.data, 100000)));
    send_packed(&scene, 3, WIRE_HOLD, packed_of(&scene.arena, slice_of(scene.plain.data, 100001)));
    scene.fixture.pool_waits = false;
    wire_run(&scene.fixture);
    assert_int_equal(scene.fixture.jobs_taken, 2);
    assert_int_equal(scene.fixture.held_count, 1);
    wire_assert_status(&scene.fixture, 3, STATUS_RESOURCE_EXHAUSTED);
    assert_true(wire_has_field(wire_answer(&scene.fixture, 3), "at most 100000 bytes"));
    assert_true(wire_has_field(wire_answer(&scene.fixture, 3), "grpc-retry-pushback-ms: -1\n"));
    wire_finish_held(&scene.fixture, 0, STATUS_OK);
    wire_run(&scene.fixture);
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

/* Goal: messages of a stream are delivered in order, wherever each is inflated, and its end after
 * them; waiting ones count against the window. Method: large, small, plain, large, the end; each
 * step of the pool releases the next one. */
static void test_stream_messages_stay_in_order_while_inflated(void **state)
{
    struct scene scene;
    struct wire_fixture *fixture = &scene.fixture;
    struct wire_upload upload = {0};
    struct slice small = {NULL, 0};
    uint64_t opened = 0;

    open_scene(&scene, WIRE_MODE(state));
    small = packed_of(&scene.arena, slice_of(scene.plain.data, 500));
    wire_headers(fixture, 1, WIRE_UPLOAD, false, &gzip_field, 1);
    wire_message(fixture, 1, 1, scene.packed, false);
    wire_message(fixture, 1, 1, small, false);
    wire_message(fixture, 1, 0, slice_of(scene.plain.data, 120000), false);
    wire_message(fixture, 1, 1, scene.packed, true);
    wire_run(fixture);
    assert_int_equal(fixture->messages, 0);
    opened = fixture->client.stream_window_opened;
    assert_true(opened <= scene.packed.size + 5);
    wire_pass(fixture, 100000000); /* the peer is not to blame for it */
    assert_int_equal(fixture->messages, 0);
    step(&scene);
    assert_int_equal(fixture->messages, 3);
    assert_int_equal(fixture->half_closes, 0);
    assert_true(fixture->client.stream_window_opened >= opened + 60000);
    step(&scene);
    assert_int_equal(fixture->messages, 4);
    assert_int_equal(fixture->jobs_taken, 2);
    wire_upload_add(&upload, scene.plain);
    wire_upload_add(&upload, slice_of(scene.plain.data, 500));
    wire_upload_add(&upload, slice_of(scene.plain.data, 120000));
    wire_upload_add(&upload, scene.plain);
    wire_assert_upload(fixture, 1, &upload);
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

/* Goal: an error in the middle of a stream ends it, and nothing after it is examined. Method: a
 * good one, a damaged one, a good one; and one whose service finishes after the first. */
static void test_inflate_error_ends_the_stream(void **state)
{
    struct scene scene;
    struct wire_fixture *fixture = &scene.fixture;
    struct slice damaged = {NULL, 0};
    struct buffer order;

    open_scene(&scene, WIRE_MODE(state));
    assert_true(arena_copy(&scene.arena, scene.packed, &damaged));
    memset((uint8_t *)(uintptr_t)damaged.data + damaged.size / 2, 0xff, 16);
    wire_headers(fixture, 1, WIRE_UPLOAD, false, &gzip_field, 1);
    wire_message(fixture, 1, 1, scene.packed, false);
    wire_message(fixture, 1, 1, damaged, false);
    wire_message(fixture, 1, 1, scene.packed, true);
    wire_run(fixture);
    step(&scene);
    step(&scene);
    wire_assert_status(fixture, 1, STATUS_INTERNAL);
    assert_int_equal(fixture->messages, 1);
    assert_int_equal(fixture->cancels, 1);
    buffer_init(&order, &scene.arena, 0);
    buffer_append_byte(&order, WIRE_ENOUGH);
    buffer_append(&order, scene.plain);
    wire_headers(fixture, 3, WIRE_UPLOAD, false, &gzip_field, 1);
    wire_message(fixture, 3, 1, packed_of(&scene.arena, buffer_slice(&order)), false);
    wire_message(fixture, 3, 1, scene.packed, true);
    wire_run(fixture);
    step(&scene);
    wire_assert_status(fixture, 3, STATUS_OK);
    assert_int_equal(fixture->messages, 2);
    assert_int_equal(fixture->jobs_taken, 3);
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

/* Goal: a second message of a call that accepts only one is refused, even before the first is inflated.
 * Method: both at once; the pool is done with the first before the second is seen. */
static void test_second_message_of_a_unary_call_is_refused(void **state)
{
    struct scene scene;

    open_scene(&scene, WIRE_MODE(state));
    wire_headers(&scene.fixture, 1, WIRE_ECHO, false, &gzip_field, 1);
    wire_message(&scene.fixture, 1, 1, scene.packed, false);
    wire_message(&scene.fixture, 1, 0, SLICE("another"), true);
    wire_run(&scene.fixture);
    assert_int_equal(wire_answer(&scene.fixture, 1)->http_status, 0);
    step(&scene);
    wire_assert_status(&scene.fixture, 1, STATUS_UNIMPLEMENTED);
    assert_int_equal(scene.fixture.messages, 0);
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

/* Goal: a reset call leaves no work: a waiting message is never given to the pool, a running one is
 * stopped, and its call is freed when the pool is done. Method: three calls of a connection, one of
 * them on the pool; a waiting one is reset, then the one on the pool; the third is inflated. */
static void test_reset_leaves_no_work_to_inflate(void **state)
{
    struct scene scene;
    struct wire_fixture *fixture = &scene.fixture;

    open_scene(&scene, WIRE_MODE(state));
    send_packed(&scene, 1, WIRE_HOLD, scene.packed);
    send_packed(&scene, 3, WIRE_HOLD, scene.packed);
    send_packed(&scene, 5, WIRE_ECHO, slice_of(scene.packed.data, scene.packed.size));
    wire_run(fixture);
    assert_int_equal(fixture->jobs_taken, 1); /* one for each connection */
    wire_reset(fixture, 3, H2_CANCEL);
    wire_run(fixture);
    assert_int_equal(fixture->cancels, 1);
    assert_int_equal(call_server_stats(fixture->calls).calls_live, 2);
    wire_reset(fixture, 1, H2_CANCEL);
    wire_run(fixture);
    assert_int_equal(fixture->cancels, 2);
    assert_int_equal(call_server_stats(fixture->calls).calls_live, 2); /* the pool has its bytes */
    step(&scene);
    assert_int_equal(call_server_stats(fixture->calls).calls_live, 1);
    assert_int_equal(fixture->messages, 0);
    step(&scene);
    assert_int_equal(fixture->messages, 1);
    wire_assert_status(fixture, 5, STATUS_OK);
    assert_int_equal(fixture->jobs_taken, 2);
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

/* Goal: the same if the connection closes. Method: two calls, one on the pool. */
static void test_disconnect_leaves_no_work_to_inflate(void **state)
{
    struct scene scene;
    struct wire_fixture *fixture = &scene.fixture;

    open_scene(&scene, WIRE_MODE(state));
    send_packed(&scene, 1, WIRE_HOLD, scene.packed);
    send_packed(&scene, 3, WIRE_UPLOAD, scene.packed);
    wire_run(fixture);
    wire_disconnect(fixture);
    assert_int_equal(fixture->cancels, 2);
    assert_int_equal(call_server_stats(fixture->calls).calls_live, 1);
    assert_true(wire_pool_step(fixture));
    assert_false(wire_pool_step(fixture)); /* the other job has nothing left to do */
    assert_int_equal(call_server_stats(fixture->calls).calls_live, 0);
    assert_int_equal(body_bytes(&scene), 0);
    assert_int_equal(fixture->messages, 0);
    close_scene(&scene);
}

/* Goal: a deadline ends a call whose message waits or is inflated, at once. Method: a second; two
 * calls; then a third that is served. */
static void test_deadline_ends_a_call_that_is_inflated(void **state)
{
    const struct wire_field fields[] = {gzip_field, {"grpc-timeout", "1S"}};
    struct scene scene;
    struct wire_fixture *fixture = &scene.fixture;

    open_scene(&scene, WIRE_MODE(state));
    for (uint32_t stream = 1; stream <= 3; stream += 2) {
        wire_headers(fixture, stream, WIRE_WRITE, false, fields, 2);
        wire_message(fixture, stream, 1, scene.packed, true);
    }
    wire_run(fixture);
    wire_pass(fixture, 1500000);
    for (uint32_t stream = 1; stream <= 3; stream += 2) {
        wire_assert_status(fixture, stream, STATUS_DEADLINE_EXCEEDED);
        assert_false(wire_has_field(wire_answer(fixture, stream), "may have been stored"));
    }
    assert_int_equal(fixture->cancelled_why, ERR_DEADLINE);
    step(&scene);
    assert_int_equal(call_server_stats(fixture->calls).calls_live, 0);
    assert_int_equal(body_bytes(&scene), 0);
    send_packed(&scene, 5, WIRE_HOLD, scene.packed);
    wire_run(fixture);
    step(&scene);
    assert_int_equal(fixture->messages, 1);
    wire_finish_held(fixture, 0, STATUS_OK);
    wire_run(fixture);
    wire_assert_status(fixture, 5, STATUS_OK);
    close_scene(&scene);
}

/* Goal: a connection that shuts down finishes the messages that are inflated. Method: GOAWAY, and a
 * late pool. */
static void test_shutdown_finishes_what_is_inflated(void **state)
{
    struct scene scene;
    struct wire_fixture *fixture = &scene.fixture;

    open_scene(&scene, WIRE_MODE(state));
    send_packed(&scene, 1, WIRE_HOLD, scene.packed);
    wire_run(fixture);
    fixture->protocol.shutdown(fixture->session, fixture->now_us);
    wire_pass(fixture, 3000000);
    assert_true(fixture->client.goaways >= 1);
    assert_false(wire_finished(fixture));
    step(&scene);
    wire_finish_held(fixture, 0, STATUS_OK);
    wire_run(fixture);
    wire_assert_status(fixture, 1, STATUS_OK);
    assert_true(wire_finished(fixture));
    close_scene(&scene);
}

/* Goal: the largest size of a message is charged while it is inflated, and its real size after
 * that; without room, or with a full pool, the call is refused with a retry delay, and others are
 * served. Method: room for one of 1 MiB, the smallest limit of a message; then a full pool. */
static void test_memory_for_inflating_is_charged_in_advance(void **state)
{
    struct scene scene;
    struct wire_fixture *fixture = &scene.fixture;
    struct call_config config = wire_config(fixture);

    config.body_bytes_max = 2u << 20;
    open_scene_with(&scene, WIRE_MODE(state), &config);
    send_packed(&scene, 1, WIRE_HOLD, scene.packed);
    wire_run(fixture);
    assert_in_range(body_bytes(&scene), CALL_INFLATED_BYTES_MIN,
                    CALL_INFLATED_BYTES_MIN + scene.packed.size);
    step(&scene);
    assert_int_equal(body_bytes(&scene), LARGE_BYTES + scene.packed.size);
    send_packed(&scene, 3, WIRE_HOLD, scene.packed);
    wire_run(fixture);
    step(&scene);
    send_packed(&scene, 5, WIRE_HOLD, scene.packed);
    wire_run(fixture);
    step(&scene);
    send_packed(&scene, 7, WIRE_HOLD, scene.packed);
    wire_run(fixture);
    wire_assert_status(fixture, 7, STATUS_UNAVAILABLE);
    assert_true(wire_has_field(wire_answer(fixture, 7), "expected another attempt"));
    assert_int_equal(fixture->held_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        wire_finish_held(fixture, i, STATUS_OK);
    }
    wire_run(fixture);
    assert_int_equal(body_bytes(&scene), 0);
    fixture->jobs_max = 0;
    send_packed(&scene, 9, WIRE_HOLD, scene.packed);
    wire_run(fixture);
    wire_assert_status(fixture, 9, STATUS_UNAVAILABLE);
    fixture->jobs_max = 1;
    send_packed(&scene, 11, WIRE_ECHO, scene.packed);
    wire_run(fixture);
    step(&scene);
    wire_assert_status(fixture, 11, STATUS_OK);
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

/* Goal: waiting messages are bounded: a connection's first one may always wait, further ones if
 * there is room. Method: messages of 3 MiB that do not shrink: one on the pool, two that wait, one
 * too many; when the pool is done with one, another may. */
static void test_waiting_messages_are_bounded(void **state)
{
    struct scene scene;
    struct wire_fixture *fixture = &scene.fixture;
    struct slice packed = {NULL, 0};
    uint32_t noise = 1;

    (void)state;
    open_scene(&scene, false); /* byte by byte, windows open too late for this size */
    packed = plain_of(&scene.arena, (size_t)3 << 20);
    for (size_t i = 0; i < packed.size; i++) {
        noise = noise * 1664525 + 1013904223;
        ((uint8_t *)(uintptr_t)packed.data)[i] = (uint8_t)(noise >> 24);
    }
    packed = packed_of(&scene.arena, packed);
    for (uint32_t stream = 1; stream <= 7; stream += 2) {
        send_packed(&scene, stream, WIRE_HOLD, packed);
        wire_run(fixture);
    }
    wire_assert_status(fixture, 7, STATUS_UNAVAILABLE);
    assert_true(wire_has_field(wire_answer(fixture, 7), "expected another attempt"));
    step(&scene);
    send_packed(&scene, 9, WIRE_HOLD, packed);
    fixture->pool_waits = false;
    wire_run(fixture);
    assert_int_equal(fixture->held_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        wire_finish_held(fixture, i, STATUS_OK);
    }
    wire_run(fixture);
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

/* Goal: a large request's memory is freed with its call, on the pool. Method: 2 MiB that are not
 * compressed, and compressed; each leaves one job for the pool. */
static void test_large_request_is_freed_on_the_pool(void **state)
{
    struct scene scene;
    struct wire_fixture *fixture = &scene.fixture;
    struct slice much = {NULL, 0};

    (void)state;
    open_scene(&scene, false); /* byte by byte, windows open too late for this size */
    much = plain_of(&scene.arena, (size_t)2 << 20);
    wire_headers(fixture, 1, WIRE_HOLD, false, NULL, 0);
    wire_message(fixture, 1, 0, much, true);
    wire_run(fixture);
    assert_int_equal(fixture->jobs_taken, 0);
    wire_finish_held(fixture, 0, STATUS_OK);
    wire_run(fixture);
    assert_int_equal(fixture->jobs_taken, 1);
    step(&scene);
    send_packed(&scene, 3, WIRE_HOLD, packed_of(&scene.arena, much));
    wire_run(fixture);
    step(&scene);
    wire_finish_held(fixture, 1, STATUS_OK);
    wire_run(fixture);
    assert_int_equal(fixture->jobs_taken, 3);
    assert_int_equal(body_bytes(&scene), 0);
    close_scene(&scene);
}

#ifdef ERRATA_FAULTS
/* Fails the chosen point. */
struct nth_driver {
    struct fault_driver driver; /* first */
    unsigned left; /* number of fault points until the failing one */
};

static bool nth_fails(struct fault_driver *driver, const char *name)
{
    struct nth_driver *nth = (struct nth_driver *)driver;

    (void)name;
    return nth->left > 0 && --nth->left == 0;
}

/* Goal: a failed allocation at any place ends at most one call, with its status, and leaks nothing.
 * Method: a small and a large message, once for each point that can fail. */
static void test_failed_allocation_ends_at_most_one_call(void **state)
{
    unsigned point = 0;
    bool failed = true;

    while (failed) {
        struct nth_driver nth = {.driver = {.fails = nth_fails}, .left = ++point};
        struct scene scene;
        struct wire_fixture *fixture = &scene.fixture;

        open_scene(&scene, WIRE_MODE(state));
        for (uint32_t stream = 1; stream <= 3; stream += 2) {
            wire_headers(fixture, stream, WIRE_HOLD, false, &gzip_field, 1);
        }
        wire_run(fixture);
        wire_message(fixture, 1, 1, packed_of(&scene.arena, slice_of(scene.plain.data, 500)), true);
        wire_message(fixture, 3, 1, scene.packed, true);
        fixture->pool_waits = false;
        fault_point_set_driver(&nth.driver);
        wire_run(fixture);
        fault_point_set_driver(NULL);
        failed = nth.left == 0;
        assert_int_equal(fixture->held_count, failed ? 1 : 2);
        for (uint32_t stream = 1; stream <= 3 && failed; stream += 2) {
            if (wire_answer(fixture, stream)->ended) {
                wire_assert_status(fixture, stream, (int)err_status(ERR_MEMORY));
            }
        }
        close_scene(&scene);
        assert_true(point < 100);
    }
    assert_true(point > 3);
}
#endif

/* --- turns, without a connection --- */

#define CROWD 3
#define CROWD_CALLS 6
#define CROWD_JOBS (4 * CROWD_CALLS)

/* Calls of several connections, and the order in which the pool got them. */
struct crowd {
    struct call_share shares[CROWD];
    struct call_core *calls[CROWD_CALLS];
    void (*work[CROWD_JOBS])(void *job);
    void (*done[CROWD_JOBS])(void *job, enum err result);
    void *jobs[CROWD_JOBS];
    uint32_t given;
    uint32_t worked;
    uint32_t messages;
};

static enum err crowd_run(void *user, void (*work)(void *job),
                          void (*done)(void *job, enum err result), void *job)
{
    struct crowd *crowd = user;

    assert_true(crowd->given < CROWD_JOBS);
    crowd->work[crowd->given] = work;
    crowd->done[crowd->given] = done;
    crowd->jobs[crowd->given++] = job;
    return OK;
}

static void crowd_on_call(void *user, struct call *call)
{
    (void)user;
    (void)call;
}

static void crowd_on_message(void *user, struct call *call, struct slice message)
{
    struct crowd *crowd = user;

    (void)call;
    assert_int_equal(message.size, LARGE_BYTES);
    crowd->messages++;
}

static void crowd_on_cancel(void *user, struct call *call, enum err why)
{
    (void)user;
    (void)why;
    call_finish(call, &(struct status){.code = STATUS_CANCELLED});
}

static void crowd_on_event(struct call_core *core)
{
    (void)core;
}

/* The next job of the pool, whole; gives whose it was. */
static struct call_core *crowd_step(struct crowd *crowd)
{
    uint32_t at = crowd->worked++;

    assert_true(at < crowd->given);
    assert_true(crowd->given - at <= CALL_INFLATIONS_MAX);
    crowd->work[at](crowd->jobs[at]);
    crowd->done[at](crowd->jobs[at], OK);
    return crowd->jobs[at];
}

/* Goal: messages to inflate are taken from the connections in turn, and the pool never has more
 * than its limit. Method: three messages of one connection, two of a second and one of a third,
 * which arrives last and is served after one message of each of the others. */
static void test_connections_are_inflated_by_turns(void **state)
{
    static const struct call_protocol protocol = {.replies = crowd_on_event,
                                                  .finished = crowd_on_event,
                                                  .expired = crowd_on_event,
                                                  .go_on = crowd_on_event};
    static const struct method_info method = {.stream = METHOD_CLIENT_STREAM};
    static const uint32_t owners[CROWD_CALLS] = {0, 0, 0, 1, 1, 2};
    static const uint32_t order[CROWD_CALLS] = {0, 3, 5, 1, 4, 2};
    struct crowd crowd = {.given = 0};
    const struct call_handlers handlers = {&crowd,        crowd_on_call, crowd_on_message,
                                           crowd_on_call, crowd_on_call, crowd_on_cancel};
    struct call_config config = call_config_default(&handlers);
    struct call_server *server = NULL;
    struct arena arena;
    struct slice packed;

    (void)state;
    config.run_on_pool = crowd_run;
    config.pool_user = &crowd;
    arena_init(&arena, ARENA_BYTES);
    packed = packed_of(&arena, plain_of(&arena, LARGE_BYTES));
    assert_int_equal(call_server_new(&config, 0, &server), OK);
    for (uint32_t i = 0; i < CROWD_CALLS; i++) {
        struct call_core *core = call_open(server, &protocol);

        assert_non_null(core);
        crowd.calls[i] = core;
        core->share = &crowd.shares[owners[i]];
        core->call.method = &method;
        call_start(core);
        call_begin_message(core, (uint32_t)packed.size, true);
        assert_int_equal(call_take_message_bytes(core, packed), packed.size);
        assert_true(call_message_is_whole(core));
        call_take_whole_message(core);
    }
    for (uint32_t i = 0; i < CROWD_CALLS; i++) {
        assert_ptr_equal(crowd_step(&crowd), crowd.calls[order[i]]);
        assert_int_equal(crowd.messages, i + 1);
    }
    assert_int_equal(crowd.given, CROWD_CALLS);
    for (uint32_t i = 0; i < CROWD_CALLS; i++) {
        call_let_go(crowd.calls[i]);
    }
    call_server_free(server);
    arena_deinit(&arena);
}

int run_inflate_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_message_above_64_kib_is_inflated_on_the_pool),
        WIRE_TEST(test_stated_size_only_selects_where_to_inflate),
        WIRE_TEST(test_inflated_size_is_limited_on_the_pool),
        WIRE_TEST(test_stream_messages_stay_in_order_while_inflated),
        WIRE_TEST(test_inflate_error_ends_the_stream),
        WIRE_TEST(test_second_message_of_a_unary_call_is_refused),
        WIRE_TEST(test_reset_leaves_no_work_to_inflate),
        WIRE_TEST(test_disconnect_leaves_no_work_to_inflate),
        WIRE_TEST(test_deadline_ends_a_call_that_is_inflated),
        WIRE_TEST(test_shutdown_finishes_what_is_inflated),
        WIRE_TEST(test_memory_for_inflating_is_charged_in_advance),
        cmocka_unit_test(test_large_request_is_freed_on_the_pool),
#ifdef ERRATA_FAULTS
        WIRE_TEST(test_failed_allocation_ends_at_most_one_call),
#endif
        cmocka_unit_test(test_connections_are_inflated_by_turns),
        cmocka_unit_test(test_waiting_messages_are_bounded),
    };

    return cmocka_run_group_tests_name("inflate", tests, NULL, NULL);
}
