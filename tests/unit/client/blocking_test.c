/*
 * blocking_test.c: uploads by client_upload_blocking over real sockets on the loopback: to a server
 * that accepts them, one that refuses, one that stops reading and one that closes the connection.
 */
#include "client/blocking.h"
#include "client/header.h"
#include "tests/unit/client/client_tests.h"
#include "tests/unit/client/server.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>

#include <cmocka.h>

#define MESSAGE_BYTES ((size_t)100000)
#define REFUSAL_CODE 3

static const struct method_info uploading = {.path = SLICE("/test.Service/Upload"),
                                             .stream = METHOD_CLIENT_STREAM};
static const uint8_t content[MESSAGE_BYTES] = {1, 2, 3};

static const char *const grpc_headers[] = {":status", "200", "content-type", "application/grpc",
                                           NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};
static const char *const refusal[] = {":status",          "200",         "content-type",
                                      "application/grpc", "grpc-status", "3",
                                      "grpc-message",     "no%20PDF",    NULL};

/* Messages of the upload, and further actions of the callback. */
struct upload {
    size_t left;
    size_t given;
    size_t stop_at; /* stops at this message; 0: never */
    size_t large_at; /* number of a message that exceeds the limit */
    struct server *cut; /* server whose connection is lost at the second message; NULL: none */
};

static enum client_upload_step next(void *user, struct slice *ret_message)
{
    static const uint8_t large[MESSAGE_BYTES + 1];
    struct upload *upload = user;

    if (upload->left == 0) {
        return CLIENT_UPLOAD_END;
    }
    upload->left--;
    upload->given++;
    if (upload->given == upload->stop_at) {
        return CLIENT_UPLOAD_STOP;
    }
    if (upload->cut != NULL && upload->given == 2) {
        assert_int_equal(shutdown(atomic_load(&upload->cut->connection), SHUT_RDWR), 0);
    }
    *ret_message = upload->given == upload->large_at ? slice_of(large, sizeof(large))
                                                     : slice_of(content, sizeof(content));
    return CLIENT_UPLOAD_MESSAGE;
}

/* Runs one upload to `port`; the texts of the result are allocated in the arena. */
static enum err upload_once(uint16_t port, struct upload *upload, int64_t timeout_ms,
                            struct arena *arena, struct client_result *ret_result)
{
    const struct client_channel_loop_config config = {
        .connection = {.host = "127.0.0.1", .port = port, .request_bytes_max = MESSAGE_BYTES}};
    const struct client_options options = {.timeout_ms = timeout_ms};
    const struct client_request request = {.method = &uploading, .options = &options};
    struct client_blocking *client = NULL;
    enum err err = OK;

    memset(ret_result, 0, sizeof(*ret_result));
    assert_int_equal(client_blocking_open(&config, &client), OK);
    err = client_upload_blocking(client, &request, next, upload, arena, ret_result);
    client_blocking_close(client);
    return err;
}

/* Goal: an upload that is larger than every window and buffer arrives whole, and the reply is given.
 * Method: 20 MB to a server that reads it all; and none at all. */
static void test_large_upload_arrives_whole(void **state)
{
    const struct peer_script script = {
        .headers = grpc_headers, .body = SLICE("\0\0\0\0\2ok"), .trailers = trailers_ok};
    struct client_result result;
    struct arena arena;

    (void)state;
    for (size_t count = 0; count <= 200; count += 200) {
        struct upload upload = {.left = count};
        struct server server;

        arena_init(&arena, 1 << 20);
        server_start(&server, &script, 1);
        assert_int_equal(upload_once(server.port, &upload, 0, &arena, &result), OK);
        assert_int_equal(result.status.code, CLIENT_CODE_OK);
        assert_true(slice_equal(result.reply, SLICE("ok")));
        assert_int_equal(upload.given, count);
        server_stop(&server);
        arena_deinit(&arena);
    }
}

/* Goal: a refusal in the middle ends the upload with the server's message. Method: only trailers
 * after 150,000 bytes of 20 MB. */
static void test_refusal_in_the_middle_ends_the_upload(void **state)
{
    const struct peer_script script = {.headers = refusal, .early = true, .early_bytes = 150000};
    struct upload upload = {.left = 200};
    struct client_result result;
    struct server server;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    server_start(&server, &script, 1);
    assert_int_equal(upload_once(server.port, &upload, 0, &arena, &result), OK);
    assert_int_equal(result.status.code, REFUSAL_CODE);
    assert_true(result.status.from_server);
    assert_true(slice_equal(result.status.message, SLICE("no PDF")));
    assert_true(upload.left > 0);
    server_stop(&server);
    arena_deinit(&arena);
}

/* Goal: messages for a server that stops reading are not buffered without bound. Method: the server
 * updates no window; no more messages than the limit are requested until the deadline. */
static void test_unread_upload_is_not_buffered(void **state)
{
    const struct peer_script script = {.silent = true, .stops_reading = true};
    struct upload upload = {.left = 200};
    struct client_result result;
    struct server server;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    server_start(&server, &script, 1);
    assert_int_equal(upload_once(server.port, &upload, 200, &arena, &result), OK);
    assert_int_equal(result.status.code, CLIENT_CODE_DEADLINE_EXCEEDED);
    assert_true(upload.given * MESSAGE_BYTES > CLIENT_SEND_BYTES_HIGH);
    assert_true(upload.given * MESSAGE_BYTES <= CLIENT_SEND_BYTES_HIGH + 65535 + 2 * MESSAGE_BYTES);
    server_stop(&server);
    arena_deinit(&arena);
}

/* Goal: a lost connection ends the upload with UNAVAILABLE. Method: the connection is closed while
 * the second message is requested. */
static void test_lost_server_ends_the_upload_as_unavailable(void **state)
{
    const struct peer_script script = {.silent = true};
    struct server server;
    struct upload upload = {.left = 200, .cut = &server};
    struct client_result result;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    server_start(&server, &script, 1);
    assert_int_equal(upload_once(server.port, &upload, 0, &arena, &result), OK);
    assert_int_equal(result.status.code, CLIENT_CODE_UNAVAILABLE);
    assert_false(result.status.from_server);
    assert_true(upload.given > 1);
    server_stop(&server);
    arena_deinit(&arena);
}

/* Goal: the caller may give up, and a message that cannot be sent ends the call with the reason.
 * Method: STOP at the third message; a third message over the limit. */
static void test_upload_ends_if_the_caller_stops(void **state)
{
    const struct peer_script script = {.silent = true};
    struct server server;
    struct upload upload = {.left = 5, .stop_at = 3};
    struct client_result result;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    server_start(&server, &script, 1);
    assert_int_equal(upload_once(server.port, &upload, 0, &arena, &result), OK);
    assert_int_equal(result.status.code, CLIENT_CODE_CANCELLED);
    assert_int_equal(upload.given, 3);
    server_stop(&server);

    upload = (struct upload){.left = 5, .large_at = 3};
    server_start(&server, &script, 1);
    assert_int_equal(upload_once(server.port, &upload, 0, &arena, &result), ERR_TOO_LARGE);
    assert_int_equal(upload.given, 3);
    server_stop(&server);
    arena_deinit(&arena);
}

int run_blocking_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_upload_arrives_whole),
        cmocka_unit_test(test_refusal_in_the_middle_ends_the_upload),
        cmocka_unit_test(test_unread_upload_is_not_buffered),
        cmocka_unit_test(test_lost_server_ends_the_upload_as_unavailable),
        cmocka_unit_test(test_upload_ends_if_the_caller_stops)};

    /* SIGPIPE is ignored, as in programs with a channel: a lost connection is an error, not a
     * signal. */
    assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
