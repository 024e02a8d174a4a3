/*
 * connection_test.c: Goal: a connection sends HTTP/2 that a strict peer accepts, and each kind of
 * invalid response is distinguished from the others. Method: libnghttp2's server in memory on the
 * other side; every scenario runs with whole reads and byte by byte.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tests/unit/bench_load/peer.h"
#include "tools/bench/load/connection.h"
#include "tools/bench/load/methods.h"

#include <stdlib.h>

#define ANSWERS_MAX 64

static const struct peer_script plain_script = {.table_bytes = -1, .body_bytes = 100};

struct scene {
    struct fixture *fixture;
    struct connection_shared shared;
    struct load_kind kinds[2];
    struct template template;
    struct requests *requests;
    struct template_source source;
    struct connection *connection;
    struct peer peer;
    size_t step; /* bytes that the connection gets at a time */
    struct answer answers[ANSWERS_MAX];
    char messages[ANSWERS_MAX][CONNECTION_MESSAGE_BYTES_MAX + 1];
    size_t answer_count;
    enum err fed; /* result of the last feed */
};

static void on_answer(void *owner, size_t connection, const struct answer *answer)
{
    struct scene *scene = owner;

    assert_int_equal(connection, 3);
    assert_true(scene->answer_count < ANSWERS_MAX);
    if (answer->message.size > 0) {
        memcpy(scene->messages[scene->answer_count], answer->message.data, answer->message.size);
    }
    scene->answers[scene->answer_count++] = *answer;
}

/* Moves bytes both ways until neither side has output. */
static void pump(struct scene *scene)
{
    struct slice bytes;
    bool moved = true;

    while (moved) {
        moved = false;
        assert_int_equal(connection_advance(scene->connection), OK);
        bytes = connection_output(scene->connection);
        if (bytes.size > 0) {
            peer_feed(&scene->peer, bytes);
            connection_sent(scene->connection, bytes.size);
            moved = true;
        }
        bytes = peer_take(&scene->peer);
        moved = moved || bytes.size > 0;
        while (bytes.size > 0 && scene->fed == OK) {
            size_t size = bytes.size < scene->step ? bytes.size : scene->step;

            scene->fed = connection_feed(scene->connection, slice_of(bytes.data, size));
            bytes = slice_after(bytes, size);
        }
        if (scene->fed != OK) {
            return;
        }
    }
}

static struct scene *scene_open(struct fixture *fixture, const struct peer_script *script,
                                size_t step)
{
    static const struct template_keys keys = {10, 0};
    static const char json[] = "{\"layoutFingerprint\":\"bench-layout-${layout}\"}";
    struct scene *scene = calloc(1, sizeof(*scene));

    assert_non_null(scene);
    scene->fixture = fixture;
    scene->step = step;
    assert_int_equal(methods_compile(&fixture->ctx, NULL,
                                     SLICE("/errata.v1.PromptService/GetExamples"),
                                     slice_text(json), &keys, &scene->template),
                     OK);
    template_source_init(&scene->source, 1, 0);
    scene->kinds[0] = (struct load_kind){.name = "examples",
                                         .path = SLICE("/errata.v1.PromptService/GetExamples"),
                                         .weight = 1,
                                         .template = &scene->template,
                                         .bytes_max = UINT64_MAX};
    scene->kinds[1] = scene->kinds[0];
    scene->kinds[1].path = SLICE("/other.Service/Method");
    scene->shared = (struct connection_shared){.kinds = scene->kinds,
                                               .kind_count = 2,
                                               .source = &scene->source,
                                               .authority = SLICE("localhost:7443"),
                                               .on_answer = on_answer,
                                               .owner = scene};
    peer_open(&scene->peer, script);
    return scene;
}

static void scene_connect(struct scene *scene, struct slice token)
{
    assert_int_equal(
        connection_new(&scene->shared, 3, token, &scene->fixture->fault, &scene->connection), OK);
    assert_false(connection_is_ready(scene->connection));
    pump(scene);
    assert_true(connection_is_ready(scene->connection));
}

static void scene_close(struct scene *scene)
{
    connection_free(scene->connection);
    peer_close(&scene->peer);
    requests_free(scene->requests);
    free(scene);
}

/* Runs a call of a kind until it is answered. */
static const struct answer *call(struct scene *scene, uint32_t kind)
{
    size_t before = scene->answer_count;

    assert_true(connection_start(scene->connection, kind, 1000 + before));
    pump(scene);
    peer_answer(&scene->peer, SIZE_MAX);
    pump(scene);
    assert_int_equal(scene->answer_count, before + 1);
    assert_int_equal(scene->answers[before].kind, kind);
    assert_int_equal(scene->answers[before].due_ns, 1000 + before);
    return &scene->answers[before];
}

static const size_t steps[] = {SIZE_MAX, 1, 7};

static void test_request_has_the_expected_headers_and_body(void **state)
{
    static const char expected[] =
        ":method: POST\n:scheme: http\n:path: /errata.v1.PromptService/GetExamples\n"
        ":authority: localhost:7443\ncontent-type: application/grpc\nte: trailers\n"
        "user-agent: errata-bench/" ERRATA_VERSION "\nauthorization: Bearer abc\nx-own: 7\n";
    struct fixture *fixture = *state;

    for (size_t s = 0; s < COUNT(steps); s++) {
        for (unsigned way = 0; way < 2; way++) {
            struct scene *scene = scene_open(fixture, &plain_script, steps[s]);

            scene->shared.way = way == 0 ? HPACK_INDEXED : HPACK_LITERAL;
            scene->shared.extra[0] =
                (struct hpack_field){.name = SLICE("x-own"), .value = SLICE("7")};
            scene->shared.extra_count = 1;
            scene_connect(scene, SLICE("Bearer abc"));
            for (size_t i = 0; i < 6; i++) {
                const struct answer *answer = call(scene, (uint32_t)(i & 1));

                assert_int_equal(answer->wrong, ANSWER_RIGHT);
                assert_int_equal(answer->body_bytes, 105);
                if (i % 2 == 0) {
                    assert_string_equal(scene->peer.fields, expected);
                }
                assert_int_equal(scene->peer.body_size, scene->template.body.size);
                assert_memory_equal(scene->peer.body, scene->template.body.data, 5);
            }
            assert_int_equal(scene->peer.request_count, 6);
            assert_int_equal(connection_in_flight(scene->connection), 0);
            scene_close(scene);
        }
    }
}

/* Each write has an idempotency key, and no two keys are equal. */
static void test_idempotency_keys_are_unique(void **state)
{
    struct fixture *fixture = *state;
    struct scene *scene = scene_open(fixture, &plain_script, SIZE_MAX);
    char first[PEER_FIELDS_BYTES];

    scene->shared.idempotency_keys = true;
    scene->shared.run_id = 0x1234;
    scene_connect(scene, slice_of(NULL, 0));
    (void)call(scene, 0);
    assert_non_null(
        strstr(scene->peer.fields, "idempotency-key: 0000000000001234-0003-0000000000000000\n"));
    memcpy(first, scene->peer.fields, sizeof(first));
    (void)call(scene, 0);
    assert_string_not_equal(scene->peer.fields, first);
    scene_close(scene);
}

static void expect_wrong(struct fixture *fixture, const struct peer_script *script,
                         enum answer_wrong wrong, uint64_t code, const char *message)
{
    for (size_t s = 0; s < COUNT(steps); s++) {
        struct scene *scene = scene_open(fixture, script, steps[s]);
        const struct answer *answer = NULL;

        scene_connect(scene, slice_of(NULL, 0));
        answer = call(scene, 0);
        assert_int_equal(answer->wrong, wrong);
        assert_int_equal(answer->code, code);
        assert_string_equal(scene->messages[0], message);
        scene_close(scene);
    }
}

static void test_wrong_answer_is_counted_by_its_problem(void **state)
{
    struct fixture *fixture = *state;
    struct peer_script script = plain_script;

    script.status = "16";
    script.message = "bad token";
    expect_wrong(fixture, &script, ANSWER_STATUS, 16, "bad token");
    script.trailers_only = true;
    expect_wrong(fixture, &script, ANSWER_STATUS, 16, "bad token");
    script = plain_script;
    script.status = "";
    expect_wrong(fixture, &script, ANSWER_NO_STATUS, 0, "");
    script.status = "zero";
    expect_wrong(fixture, &script, ANSWER_NO_STATUS, 0, "");
    script = plain_script;
    script.http_status = "404";
    expect_wrong(fixture, &script, ANSWER_HTTP_STATUS, 404, "");
    script = plain_script;
    script.body_lacks = 1;
    expect_wrong(fixture, &script, ANSWER_FRAMING, 0, "");
    script.body_lacks = 103; /* less than a prefix */
    expect_wrong(fixture, &script, ANSWER_FRAMING, 0, "");
    script = plain_script;
    script.body_flag = 1; /* compressed, which was not offered */
    expect_wrong(fixture, &script, ANSWER_FRAMING, 0, "");
    script = plain_script;
    script.trailers_only = true; /* OK without a message */
    expect_wrong(fixture, &script, ANSWER_FRAMING, 0, "");
    script = plain_script;
    script.reset = NGHTTP2_REFUSED_STREAM;
    expect_wrong(fixture, &script, ANSWER_RESET, NGHTTP2_REFUSED_STREAM, "");
}

static void test_answer_outside_of_the_expected_length_is_wrong(void **state)
{
    struct fixture *fixture = *state;
    struct peer_script script = plain_script;
    struct scene *scene = scene_open(fixture, &script, SIZE_MAX);

    scene->kinds[0].bytes_min = 105;
    scene->kinds[0].bytes_max = 105;
    scene->kinds[1].bytes_max = 104;
    scene_connect(scene, slice_of(NULL, 0));
    assert_int_equal(call(scene, 0)->wrong, ANSWER_RIGHT);
    assert_int_equal(call(scene, 1)->wrong, ANSWER_BYTES);
    assert_int_equal(scene->answers[1].code, 105);
    scene_close(scene);
    script.status = "5";
    script.trailers_only = true;
    scene = scene_open(fixture, &script, SIZE_MAX);
    scene->kinds[0].status = 5;
    scene_connect(scene, slice_of(NULL, 0));
    assert_int_equal(call(scene, 0)->wrong, ANSWER_RIGHT);
    assert_int_equal(call(scene, 1)->wrong, ANSWER_STATUS);
    scene_close(scene);
}

/* Without gRPC, the HTTP status counts, and GET has no body. */
static void test_plain_call_is_judged_by_its_http_status(void **state)
{
    struct fixture *fixture = *state;
    struct peer_script script = plain_script;
    struct scene *scene = NULL;

    script.status = "";
    scene = scene_open(fixture, &script, SIZE_MAX);
    scene->shared.plain = true;
    scene->shared.get = true;
    scene->kinds[0].status = 200;
    scene->kinds[1].status = 204;
    scene_connect(scene, slice_of(NULL, 0));
    assert_int_equal(call(scene, 0)->wrong, ANSWER_RIGHT);
    assert_null(strstr(scene->peer.fields, "application/grpc"));
    assert_non_null(strstr(scene->peer.fields, ":method: GET"));
    assert_int_equal(scene->peer.body_size, 0);
    assert_int_equal(call(scene, 1)->wrong, ANSWER_HTTP_STATUS);
    scene_close(scene);
}

/* Padding, blocks in several frames, and a peer without a table. */
static void test_unusual_framing_is_read(void **state)
{
    struct fixture *fixture = *state;
    struct peer_script script = plain_script;

    script.padding = 77;
    expect_wrong(fixture, &script, ANSWER_RIGHT, 0, "");
    script = plain_script;
    script.long_field_bytes = 30000;
    expect_wrong(fixture, &script, ANSWER_RIGHT, 0, "");
    script.padding = 3;
    expect_wrong(fixture, &script, ANSWER_RIGHT, 0, "");
    script = plain_script;
    script.table_bytes = 0;
    expect_wrong(fixture, &script, ANSWER_RIGHT, 0, "");
    script.table_bytes = 120;
    expect_wrong(fixture, &script, ANSWER_RIGHT, 0, "");
    script = plain_script;
    script.body_bytes = 500000; /* several frames */
    expect_wrong(fixture, &script, ANSWER_RIGHT, 0, "");
}

/* Replaces the template of the scene by one request of `size` bytes. */
static void use_large_request(struct scene *scene, size_t size)
{
    scene->requests = calloc(1, sizeof(*scene->requests));
    assert_non_null(scene->requests);
    scene->requests->bytes = malloc(size);
    scene->requests->groups[0].bodies = malloc(sizeof(struct slice));
    assert_non_null(scene->requests->bytes);
    assert_non_null(scene->requests->groups[0].bodies);
    for (size_t i = 0; i < size; i++) {
        scene->requests->bytes[i] = (uint8_t)(i * 31);
    }
    scene->requests->groups[0].bodies[0] = slice_of(scene->requests->bytes, size);
    scene->requests->groups[0].count = 1;
    scene->requests->group_count = 1;
    for (size_t i = 0; i < 2; i++) {
        scene->kinds[i].template = NULL;
        scene->kinds[i].requests = scene->requests;
    }
}

/* Bodies larger than a frame and than the windows are sent in pieces, as the peer's windows
 * allow. */
static void test_large_request_is_sent_as_the_window_opens(void **state)
{
    static const size_t sizes[] = {16384, 16385, 65535, 65536, 400000};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct scene *scene = scene_open(fixture, &plain_script, SIZE_MAX);

        use_large_request(scene, sizes[i]);
        scene_connect(scene, slice_of(NULL, 0));
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(call(scene, 0)->wrong, ANSWER_RIGHT);
            assert_int_equal(scene->peer.body_size, sizes[i]);
            assert_memory_equal(scene->peer.body, scene->requests->bytes,
                                sizes[i] < sizeof(scene->peer.body) ? sizes[i]
                                                                    : sizeof(scene->peer.body));
        }
        scene_close(scene);
    }
}

/* If the peer updates no window, nothing more is sent; once it does, everything is sent. */
static void test_blocked_request_continues_once_the_window_opens(void **state)
{
    struct fixture *fixture = *state;
    struct peer_script script = plain_script;
    struct scene *scene = NULL;

    script.holds_windows = true;
    script.stream_window = 1 << 20;
    scene = scene_open(fixture, &script, SIZE_MAX);
    use_large_request(scene, 100000);
    scene_connect(scene, slice_of(NULL, 0));
    assert_true(connection_start(scene->connection, 0, 1));
    assert_true(connection_start(scene->connection, 0, 2));
    pump(scene);
    assert_int_equal(scene->peer.body_size, 65535); /* the window at the start */
    assert_int_equal(scene->peer.request_count, 0);
    assert_int_equal(connection_in_flight(scene->connection), 2);
    assert_true(connection_has_unsent(scene->connection));
    peer_open_windows(&scene->peer);
    pump(scene);
    assert_false(connection_has_unsent(scene->connection));
    assert_int_equal(scene->peer.request_count, 2);
    peer_answer(&scene->peer, SIZE_MAX);
    pump(scene);
    assert_int_equal(scene->answer_count, 2);
    scene_close(scene);
}

/* The server answers before the request has ended: the rest is not sent, and the stream is reset. */
static void test_rest_of_an_answered_request_is_not_sent(void **state)
{
    struct fixture *fixture = *state;
    struct peer_script script = plain_script;
    struct scene *scene = NULL;

    script.holds_windows = true;
    script.trailers_only = true;
    script.status = "8";
    scene = scene_open(fixture, &script, SIZE_MAX);
    use_large_request(scene, 100000);
    scene_connect(scene, slice_of(NULL, 0));
    assert_true(connection_start(scene->connection, 0, 1));
    assert_true(connection_start(scene->connection, 0, 2));
    pump(scene);
    peer_answer_early(&scene->peer, 1);
    pump(scene);
    assert_int_equal(scene->answer_count, 1);
    assert_int_equal(scene->answers[0].wrong, ANSWER_STATUS);
    assert_int_equal(scene->answers[0].due_ns, 1);
    assert_int_equal(scene->peer.reset_count, 1);
    assert_int_equal(connection_in_flight(scene->connection), 1);
    scene_close(scene);
}

/* Calls beyond the streams that the server allows wait, in order. */
static void test_calls_beyond_the_stream_limit_wait(void **state)
{
    struct fixture *fixture = *state;
    struct peer_script script = plain_script;
    struct scene *scene = NULL;
    uint64_t due_ns = 0;
    uint32_t kind = 9;

    script.streams_max = 3;
    scene = scene_open(fixture, &script, SIZE_MAX);
    scene_connect(scene, slice_of(NULL, 0));
    assert_int_equal(connection_streams_allowed(scene->connection), 3);
    for (uint64_t i = 0; i < 10; i++) {
        assert_true(connection_start(scene->connection, (uint32_t)(i & 1), i));
    }
    pump(scene);
    assert_int_equal(connection_in_flight(scene->connection), 3);
    assert_int_equal(connection_waiting(scene->connection), 7);
    peer_answer(&scene->peer, 2);
    pump(scene);
    assert_int_equal(scene->answer_count, 2);
    assert_int_equal(connection_in_flight(scene->connection), 3);
    assert_int_equal(connection_waiting(scene->connection), 5);
    assert_true(connection_take_waiting(scene->connection, &due_ns, &kind));
    assert_int_equal(due_ns, 5);
    assert_int_equal(kind, 1);
    for (size_t i = 0; i < 5; i++) {
        peer_answer(&scene->peer, SIZE_MAX);
        pump(scene);
    }
    assert_int_equal(scene->answer_count, 9);
    for (uint64_t i = 0; i < 9; i++) {
        assert_int_equal(scene->answers[i].due_ns, i < 5 ? i : i + 1);
    }
    assert_false(connection_take_waiting(scene->connection, &due_ns, &kind));
    scene_close(scene);
}

/* Many calls in flight at once, answered in order: each is found again. */
static void test_many_calls_in_flight_are_matched(void **state)
{
    struct fixture *fixture = *state;
    struct scene *scene = scene_open(fixture, &plain_script, SIZE_MAX);

    scene_connect(scene, slice_of(NULL, 0));
    for (size_t round = 0; round < 4; round++) {
        for (uint64_t i = 0; i < 1000; i++) {
            assert_true(connection_start(scene->connection, 0, i));
        }
        pump(scene);
        assert_int_equal(connection_in_flight(scene->connection), 1000);
        for (size_t i = 0; i < 1000; i++) {
            scene->answer_count = 0;
            peer_answer(&scene->peer, 1);
            pump(scene);
            assert_int_equal(scene->answer_count, 1);
            assert_int_equal(scene->answers[0].due_ns, i);
            assert_int_equal(scene->answers[0].wrong, ANSWER_RIGHT);
        }
    }
    scene_close(scene);
}

/* More bytes than the connection's window are received, so the client sends window updates. */
static void test_connection_window_is_returned(void **state)
{
    struct fixture *fixture = *state;
    struct peer_script script = plain_script;
    struct scene *scene = NULL;
    size_t updates = 0;

    script.body_bytes = 900000;
    scene = scene_open(fixture, &script, SIZE_MAX);
    scene_connect(scene, slice_of(NULL, 0));
    updates = scene->peer.window_update_count;
    for (uint64_t received = 0; received < CONNECTION_WINDOW / 2 + 900000; received += 900000) {
        scene->answer_count = 0;
        assert_int_equal(call(scene, 0)->wrong, ANSWER_RIGHT);
    }
    assert_int_equal(scene->peer.window_update_count, updates + 1);
    scene_close(scene);
}

static void test_goaway_starts_no_further_call(void **state)
{
    struct fixture *fixture = *state;
    struct scene *scene = scene_open(fixture, &plain_script, SIZE_MAX);

    scene_connect(scene, slice_of(NULL, 0));
    assert_true(connection_start(scene->connection, 0, 1));
    pump(scene);
    peer_go_away(&scene->peer, NGHTTP2_NO_ERROR);
    pump(scene);
    assert_int_equal(scene->fed, OK);
    assert_false(connection_is_over(scene->connection));
    assert_true(connection_start(scene->connection, 0, 2)); /* waits */
    assert_int_equal(connection_waiting(scene->connection), 1);
    peer_answer(&scene->peer, 1);
    pump(scene);
    assert_int_equal(scene->answers[0].wrong, ANSWER_RIGHT);
    assert_true(connection_is_over(scene->connection));
    assert_string_equal(connection_problem(scene->connection),
                        "the server sent GOAWAY: NO_ERROR, bye");
    scene_close(scene);
    scene = scene_open(fixture, &plain_script, SIZE_MAX);
    scene_connect(scene, slice_of(NULL, 0));
    assert_true(connection_start(scene->connection, 0, 1));
    peer_go_away(&scene->peer, NGHTTP2_ENHANCE_YOUR_CALM);
    pump(scene);
    assert_int_equal(scene->fed, ERR_PRECONDITION);
    connection_abandon(scene->connection);
    assert_int_equal(scene->answers[0].wrong, ANSWER_LOST);
    scene_close(scene);
}

/* Bytes that are not HTTP/2, or break its rules, end the connection with a sentence. */
static void test_broken_peer_ends_the_connection_with_a_reason(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *problem;
    } broken[] = {
        {"HTTP/1.1 400 Bad Request\r\n\r\n", 28, "the server sent a frame of 4740180 bytes"},
        {"\0\0\1\x09\4\0\0\0\1\0", 10, "the server sent a header block out of order"},
        {"\0\0\0\1\0\0\0\0\1\0\0\0\0\0\0\0\0\1", 18, "the server sent a header block out of order"},
        {"\0\0\1\1\4\0\0\0\1\xff", 10, "the server sent a header block that cannot be decoded"},
        {"\0\0\1\1\x0c\0\0\0\1\x05", 10, "the server sent a truncated HEADERS frame"},
        {"\0\0\2\0\x08\0\0\0\1\x02z", 11, "the server sent a DATA frame with invalid padding"},
        {"\0\0\4\5\4\0\0\0\1\0\0\0\2", 13,
         "the server sent PUSH_PROMISE, although push is disabled"}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(broken); i++) {
        for (size_t s = 0; s < 2; s++) {
            struct scene *scene = scene_open(fixture, &plain_script, SIZE_MAX);
            enum err err = OK;

            scene_connect(scene, slice_of(NULL, 0));
            assert_true(connection_start(scene->connection, 0, 1));
            for (size_t at = 0; at < broken[i].size && err == OK;
                 at += s == 0 ? broken[i].size : 1) {
                err = connection_feed(scene->connection,
                                      slice_of(broken[i].bytes + at, s == 0 ? broken[i].size : 1));
            }
            assert_int_equal(err, ERR_PRECONDITION);
            assert_true(slice_starts_with(slice_text(connection_problem(scene->connection)),
                                          slice_text(broken[i].problem)));
            scene_close(scene);
        }
    }
}

static void test_too_many_header_fields_are_refused(void **state)
{
    static char value[9000];
    struct fixture *fixture = *state;
    struct scene *scene = scene_open(fixture, &plain_script, SIZE_MAX);

    memset(value, 'v', sizeof(value));
    for (size_t i = 0; i < 2; i++) {
        scene->shared.extra[i] =
            (struct hpack_field){.name = SLICE("x-long"), .value = slice_of(value, sizeof(value))};
    }
    scene->shared.extra_count = 2;
    assert_int_equal(
        connection_new(&scene->shared, 0, slice_of(NULL, 0), &fixture->fault, &scene->connection),
        ERR_INVALID);
    fixture_expect_fault(fixture, "the header fields of a call exceed");
    scene_close(scene);
}

int run_connection_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_request_has_the_expected_headers_and_body,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_idempotency_keys_are_unique, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_answer_is_counted_by_its_problem, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_answer_outside_of_the_expected_length_is_wrong,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_plain_call_is_judged_by_its_http_status,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unusual_framing_is_read, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_large_request_is_sent_as_the_window_opens,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_blocked_request_continues_once_the_window_opens,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_rest_of_an_answered_request_is_not_sent,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_calls_beyond_the_stream_limit_wait, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_many_calls_in_flight_are_matched, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_connection_window_is_returned, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_goaway_starts_no_further_call, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_broken_peer_ends_the_connection_with_a_reason,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_too_many_header_fields_are_refused, fixture_set_up,
                                        fixture_tear_down)};

    return cmocka_run_group_tests_name("connection", tests, NULL, NULL);
}
