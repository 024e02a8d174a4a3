/*
 * stubs_test.c: the generated client stubs over a channel that the test plays by hand: what they
 * send, what they report, and that nothing leaks (the asan preset says so) however a call ends.
 */
#include "client/stub.h"

#include <errata/v1/layout_service.client.h>
#include <errata/v1/learning_service.client.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct client_call {
    struct client_handlers handlers;
};

/* A channel with one call at a time; the test is the server. */
struct fake {
    struct client_channel channel;
    struct client_call call;
    const struct method_info *method;
    uint8_t request[64];
    size_t request_bytes;
    enum err start_result;
    enum err send_result;
    uint32_t cancels;
    uint32_t half_closes;
};

/* What the stub reported. */
struct heard {
    uint32_t replies;
    uint32_t ends;
    uint32_t code;
    uint64_t seq; /* of the last reply's event */
    bool had_reply; /* the end of a call of one reply came with one */
    uint32_t rooms;
    uint32_t page_count; /* of the ingested document */
};

static struct fake *fake_of(struct client_channel *channel)
{
    return (struct fake *)(void *)channel;
}

static enum err fake_start(struct client_channel *channel, const struct method_info *method,
                           struct slice request, const struct client_options *options,
                           const struct client_handlers *handlers, struct client_call **ret_call)
{
    struct fake *fake = fake_of(channel);

    (void)options;
    if (fake->start_result != OK) {
        return fake->start_result;
    }
    assert_true(request.size <= sizeof(fake->request));
    if (request.size > 0) {
        memcpy(fake->request, request.data, request.size);
    }
    fake->request_bytes = request.size;
    fake->method = method;
    fake->call.handlers = *handlers;
    *ret_call = &fake->call;
    return OK;
}

static void fake_cancel(struct client_channel *channel, struct client_call *call)
{
    struct fake *fake = fake_of(channel);

    assert_ptr_equal(call, &fake->call);
    fake->cancels++;
}

static enum err fake_send(struct client_channel *channel, struct client_call *call,
                          struct slice message)
{
    struct fake *fake = fake_of(channel);

    assert_ptr_equal(call, &fake->call);
    if (fake->send_result == OK) {
        assert_true(fake->request_bytes + message.size <= sizeof(fake->request));
        memcpy(fake->request + fake->request_bytes, message.data, message.size);
        fake->request_bytes += message.size;
    }
    return fake->send_result;
}

static enum err fake_half_close(struct client_channel *channel, struct client_call *call)
{
    struct fake *fake = fake_of(channel);

    assert_ptr_equal(call, &fake->call);
    fake->half_closes++;
    return fake->send_result;
}

static const struct client_channel_ops fake_ops = {
    .start = fake_start, .cancel = fake_cancel, .send = fake_send, .half_close = fake_half_close};

static void fake_reply(struct fake *fake, struct slice message)
{
    fake->call.handlers.on_reply(fake->call.handlers.user, message);
}

static void fake_end(struct fake *fake, uint32_t code)
{
    struct client_status status = {.code = code, .from_server = true};

    fake->call.handlers.on_end(fake->call.handlers.user, &status);
}

static void heard_event(void *user, const struct client_status *status,
                        const Errata__V1__GetEventResponse *reply)
{
    struct heard *heard = user;

    heard->ends++;
    heard->code = status->code;
    heard->had_reply = reply != NULL;
    if (reply != NULL && reply->event != NULL) {
        heard->seq = reply->event->seq;
    }
}

static void heard_watched(void *user, const Errata__V1__WatchEventsResponse *reply)
{
    struct heard *heard = user;

    heard->replies++;
    heard->seq = reply->event != NULL ? reply->event->seq : 0;
}

static void heard_end(void *user, const struct client_status *status)
{
    struct heard *heard = user;

    heard->ends++;
    heard->code = status->code;
}

static void heard_room(void *user)
{
    struct heard *heard = user;

    heard->rooms++;
}

static void heard_document(void *user, const struct client_status *status,
                           const Errata__V1__IngestDocumentStreamResponse *reply)
{
    struct heard *heard = user;

    heard->ends++;
    heard->code = status->code;
    heard->had_reply = reply != NULL;
    if (reply != NULL && reply->document != NULL) {
        heard->page_count = reply->document->page_count;
    }
}

/* {event: {seq: 7}} of either response. */
static const uint8_t reply_seq_7_bytes[] = {0x0a, 0x02, 0x10, 0x07};
/* An event that claims to be longer than the bytes are. */
static const uint8_t reply_broken[] = {0x0a, 0x09, 0x10};

static struct slice reply_seq_7(void)
{
    return slice_of(reply_seq_7_bytes, sizeof(reply_seq_7_bytes));
}

static void start_unary(struct fake *fake, struct heard *heard)
{
    static const struct client_options options = {.timeout_ms = 1000};
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    struct client_call *call = NULL;

    *fake = (struct fake){.channel = {&fake_ops}};
    *heard = (struct heard){0};
    request.key_case = ERRATA__V1__GET_EVENT_REQUEST__KEY_SEQ;
    request.seq = 7;
    assert_int_equal(client_learning_service_get_event(&fake->channel, &request, &options,
                                                       heard_event, heard, &call),
                     OK);
    assert_ptr_equal(call, &fake->call);
}

static void start_stream(struct fake *fake, struct heard *heard)
{
    static const struct client_options options = {.timeout_ms = 0};
    static const struct client_learning_service_watch_events_handlers handlers = {
        .on_reply = heard_watched, .on_end = heard_end};
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;
    struct client_call *call = NULL;

    *fake = (struct fake){.channel = {&fake_ops}};
    *heard = (struct heard){0};
    assert_int_equal(client_learning_service_watch_events(&fake->channel, &request, &options,
                                                          &handlers, heard, &call),
                     OK);
}

static struct client_call *start_upload(struct fake *fake, struct heard *heard)
{
    static const struct client_layout_service_ingest_document_stream_handlers handlers = {
        .on_writable = heard_room, .on_done = heard_document};
    struct client_call *call = NULL;

    *fake = (struct fake){.channel = {&fake_ops}};
    *heard = (struct heard){0};
    assert_int_equal(
        client_layout_service_ingest_document_stream(&fake->channel, NULL, &handlers, heard, &call),
        OK);
    assert_ptr_equal(call, &fake->call);
    assert_int_equal(fake->request_bytes, 0);
    return call;
}

static enum err send_piece(struct fake *fake, struct client_call *call)
{
    Errata__V1__IngestDocumentStreamRequest request =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;
    uint8_t content[] = {'%', 'P'};

    request.content.data = content;
    request.content.len = sizeof(content);
    return client_layout_service_ingest_document_stream_send(&fake->channel, call, &request);
}

/* Goal: a unary call sends its request and reports its reply. Method: compares bytes and values. */
static void test_unary_call_reports_its_reply(void **state)
{
    static const uint8_t wanted[] = {0x10, 0x07};
    struct fake fake;
    struct heard heard;

    (void)state;
    start_unary(&fake, &heard);
    assert_true(slice_equal(fake.method->path, SLICE("/errata.v1.LearningService/GetEvent")));
    assert_int_equal(fake.request_bytes, sizeof(wanted));
    assert_memory_equal(fake.request, wanted, sizeof(wanted));
    fake_reply(&fake, reply_seq_7());
    assert_int_equal(heard.ends, 0);
    fake_end(&fake, 0);
    assert_int_equal(heard.ends, 1);
    assert_int_equal(heard.code, 0);
    assert_int_equal(heard.seq, 7);
}

/* Goal: an empty message is a reply. Method: an end with OK after no bytes is not one, after zero
 * bytes it is. */
static void test_empty_reply_is_a_reply(void **state)
{
    struct fake fake;
    struct heard heard;

    (void)state;
    start_unary(&fake, &heard);
    fake_reply(&fake, slice_of(NULL, 0));
    fake_end(&fake, 0);
    assert_int_equal(heard.code, 0);
    assert_true(heard.had_reply);
    start_unary(&fake, &heard);
    fake_end(&fake, 0);
    assert_int_equal(heard.code, 12);
    assert_false(heard.had_reply);
}

/* Goal: an error carries no reply. Method: the server sends one and fails all the same. */
static void test_error_comes_without_reply(void **state)
{
    struct fake fake;
    struct heard heard;

    (void)state;
    start_unary(&fake, &heard);
    fake_reply(&fake, reply_seq_7());
    fake_end(&fake, 5);
    assert_int_equal(heard.ends, 1);
    assert_int_equal(heard.code, 5);
    assert_false(heard.had_reply);
}

/* Goal: a second reply to a unary call is a fault. Method: two replies; the call is cancelled. */
static void test_second_reply_is_refused(void **state)
{
    struct fake fake;
    struct heard heard;

    (void)state;
    start_unary(&fake, &heard);
    fake_reply(&fake, reply_seq_7());
    fake_reply(&fake, reply_seq_7());
    assert_int_equal(fake.cancels, 1);
    fake_end(&fake, 1);
    assert_int_equal(heard.code, 12);
    assert_false(heard.had_reply);
}

/* Goal: bytes that are no reply end the call with INTERNAL. Method: broken bytes to both kinds. */
static void test_broken_reply_is_internal(void **state)
{
    struct fake fake;
    struct heard heard;

    (void)state;
    start_unary(&fake, &heard);
    fake_reply(&fake, slice_of(reply_broken, sizeof(reply_broken)));
    fake_end(&fake, 1);
    assert_int_equal(heard.code, 13);
    start_stream(&fake, &heard);
    fake_reply(&fake, reply_seq_7());
    fake_reply(&fake, slice_of(reply_broken, sizeof(reply_broken)));
    fake_reply(&fake, reply_seq_7());
    assert_int_equal(fake.cancels, 1);
    fake_end(&fake, 1);
    assert_int_equal(heard.replies, 1);
    assert_int_equal(heard.ends, 1);
    assert_int_equal(heard.code, 13);
}

/* Goal: a reply cannot bloat the client without end. Method: 2 MiB of unknown fields, which would
 * unpack to far more than the cap. */
static void test_bloated_reply_is_refused(void **state)
{
    size_t size = 2u << 20;
    uint8_t *bytes = malloc(size);
    struct fake fake;
    struct heard heard;

    (void)state;
    assert_non_null(bytes);
    /* Fields that the message has not are kept one by one. */
    for (size_t i = 0; i < size; i += 2) {
        bytes[i] = 0x78; /* field 15, a varint that the message has not */
        bytes[i + 1] = 0x01;
    }
    start_stream(&fake, &heard);
    fake_reply(&fake, slice_of(bytes, size));
    assert_int_equal(heard.replies, 0);
    assert_int_equal(fake.cancels, 1);
    fake_end(&fake, 1);
    assert_int_equal(heard.code, 8);
    free(bytes);
}

/* Goal: a stream reports each reply and the server's end. Method: two replies, then DEADLINE. */
static void test_stream_reports_replies_and_end(void **state)
{
    struct fake fake;
    struct heard heard;

    (void)state;
    start_stream(&fake, &heard);
    assert_int_equal(fake.request_bytes, 0);
    fake_reply(&fake, reply_seq_7());
    fake_reply(&fake, reply_seq_7());
    assert_int_equal(heard.replies, 2);
    assert_int_equal(heard.seq, 7);
    fake_end(&fake, 4);
    assert_int_equal(heard.ends, 1);
    assert_int_equal(heard.code, 4);
    assert_int_equal(fake.cancels, 0);
}

/* Goal: where starting fails nothing is reported. Method: a channel that refuses. */
static void test_refused_start_reports_nothing(void **state)
{
    static const struct client_options options = {.timeout_ms = 0};
    struct fake fake = {.channel = {&fake_ops}, .start_result = ERR_UNAVAILABLE};
    struct heard heard = {0};
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    struct client_call *call = NULL;

    (void)state;
    assert_int_equal(client_learning_service_get_event(&fake.channel, &request, &options,
                                                       heard_event, &heard, &call),
                     ERR_UNAVAILABLE);
    assert_null(call);
    assert_int_equal(heard.ends, 0);
}

/* {document: {page_count: 3}}. */
static struct slice reply_document(uint8_t bytes[32])
{
    Errata__V1__IngestDocumentStreamResponse reply =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_RESPONSE__INIT;
    Errata__V1__Document document = ERRATA__V1__DOCUMENT__INIT;

    document.page_count = 3;
    reply.document = &document;
    assert_true(errata__v1__ingest_document_stream_response__get_packed_size(&reply) <= 32);
    return slice_of(bytes, errata__v1__ingest_document_stream_response__pack(&reply, bytes));
}

/* Goal: a client stream sends each message, tells of room, and reports the one reply. Method: two
 * messages, of which the second is refused for want of room and sent again; the bytes. */
static void test_upload_sends_messages_and_reports_its_reply(void **state)
{
    static const uint8_t wanted[] = {0x1a, 0x02, '%', 'P', 0x1a, 0x02, '%', 'P'};
    struct fake fake;
    struct heard heard;
    struct client_call *call = start_upload(&fake, &heard);
    uint8_t bytes[32];

    (void)state;
    assert_true(
        slice_equal(fake.method->path, SLICE("/errata.v1.LayoutService/IngestDocumentStream")));
    fake.call.handlers.on_writable(fake.call.handlers.user);
    assert_int_equal(heard.rooms, 1);
    assert_int_equal(send_piece(&fake, call), OK);
    fake.send_result = ERR_BUSY;
    assert_int_equal(send_piece(&fake, call), ERR_BUSY);
    fake.send_result = OK;
    fake.call.handlers.on_writable(fake.call.handlers.user);
    assert_int_equal(heard.rooms, 2);
    assert_int_equal(send_piece(&fake, call), OK);
    assert_int_equal(client_layout_service_ingest_document_stream_half_close(&fake.channel, call),
                     OK);
    assert_int_equal(fake.half_closes, 1);
    assert_int_equal(fake.request_bytes, sizeof(wanted));
    assert_memory_equal(fake.request, wanted, sizeof(wanted));
    fake_reply(&fake, reply_document(bytes));
    assert_int_equal(heard.ends, 0);
    fake_end(&fake, 0);
    assert_int_equal(heard.ends, 1);
    assert_int_equal(heard.code, 0);
    assert_int_equal(heard.page_count, 3);
}

/* Goal: what ends an upload early is reported once, and what is sent after it is told so. Method: a
 * refusal by the server; a reply that does not decode, behind which there is no more talk of room;
 * OK with no reply and with two. */
static void test_upload_ends_early(void **state)
{
    struct fake fake;
    struct heard heard;
    struct client_call *call = start_upload(&fake, &heard);
    uint8_t bytes[32];

    (void)state;
    fake.send_result = ERR_CANCELLED;
    assert_int_equal(send_piece(&fake, call), ERR_CANCELLED);
    assert_int_equal(client_layout_service_ingest_document_stream_half_close(&fake.channel, call),
                     ERR_CANCELLED);
    fake_end(&fake, 3);
    assert_int_equal(heard.ends, 1);
    assert_int_equal(heard.code, 3);
    assert_false(heard.had_reply);

    (void)start_upload(&fake, &heard);
    fake_reply(&fake, slice_of(reply_broken, sizeof(reply_broken)));
    assert_int_equal(fake.cancels, 1);
    fake.call.handlers.on_writable(fake.call.handlers.user);
    assert_int_equal(heard.rooms, 0);
    fake_end(&fake, 1);
    assert_int_equal(heard.code, 13);

    (void)start_upload(&fake, &heard);
    fake_end(&fake, 0);
    assert_int_equal(heard.code, 12);
    (void)start_upload(&fake, &heard);
    fake_reply(&fake, reply_document(bytes));
    fake_reply(&fake, reply_document(bytes));
    fake_end(&fake, 1);
    assert_int_equal(heard.code, 12);
    assert_false(heard.had_reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary_call_reports_its_reply),
        cmocka_unit_test(test_empty_reply_is_a_reply),
        cmocka_unit_test(test_error_comes_without_reply),
        cmocka_unit_test(test_second_reply_is_refused),
        cmocka_unit_test(test_broken_reply_is_internal),
        cmocka_unit_test(test_bloated_reply_is_refused),
        cmocka_unit_test(test_stream_reports_replies_and_end),
        cmocka_unit_test(test_refused_start_reports_nothing),
        cmocka_unit_test(test_upload_sends_messages_and_reports_its_reply),
        cmocka_unit_test(test_upload_ends_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
