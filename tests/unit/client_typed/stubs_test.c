/*
 * stubs_test.c: the generated client stubs over a channel that the test simulates: requests,
 * reports, and no leak (by the asan preset) at any end of a call.
 */
#include "tests/support/client/fake.h"
#include "tests/unit/client_typed/typed_tests.h"

#include <errata/v1/event_service.client.h>
#include <errata/v1/feedback_event.set.h>
#include <errata/v1/layout_service.client.h>
#include <errata/v1/prompt_service.client.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A call of a stub, and its results. */
struct fixture {
    struct fake fake;
    struct errata_channel *channel;
    struct errata_call *call;
    struct client_call *played; /* the same call, as the channel sees it */
    uint32_t replies;
    uint32_t ends;
    enum errata_code code;
    bool from_server;
    uint64_t seq; /* sequence number of the last reply's event */
    bool had_reply; /* the end of a call with one reply had a reply */
    uint32_t rooms;
    uint32_t page_count; /* page count of the ingested document */
};

static void heard_end(void *user, const struct errata_status *status)
{
    struct fixture *fixture = user;

    fixture->ends++;
    fixture->code = status->code;
    fixture->from_server = status->from_server;
}

static void heard_event(void *user, const struct errata_status *status,
                        const Errata__V1__GetEventResponse *reply)
{
    struct fixture *fixture = user;

    heard_end(fixture, status);
    fixture->had_reply = reply != NULL;
    if (reply != NULL && reply->event != NULL) {
        fixture->seq = reply->event->seq;
    }
}

static void heard_watched(void *user, const Errata__V1__WatchEventsResponse *reply)
{
    struct fixture *fixture = user;

    fixture->replies++;
    fixture->seq = reply->event != NULL ? reply->event->seq : 0;
}

static void heard_room(void *user)
{
    struct fixture *fixture = user;

    fixture->rooms++;
}

static void heard_document(void *user, const struct errata_status *status,
                           const Errata__V1__IngestDocumentStreamResponse *reply)
{
    struct fixture *fixture = user;

    heard_end(fixture, status);
    fixture->had_reply = reply != NULL;
    if (reply != NULL && reply->document != NULL) {
        fixture->page_count = reply->document->page_count;
    }
}

static const struct errata_watch_events_handlers watching = {.on_reply = heard_watched,
                                                             .on_end = heard_end};
static const struct errata_ingest_document_stream_handlers uploading = {.on_writable = heard_room,
                                                                        .on_done = heard_document};

/* {event: {seq: 7}} of either response. */
static const uint8_t reply_seq_7_bytes[] = {0x0a, 0x02, 0x10, 0x07};
/* An event that claims to be longer than the bytes are. */
static const uint8_t reply_broken[] = {0x0a, 0x09, 0x10};

static struct slice reply_seq_7(void)
{
    return slice_of(reply_seq_7_bytes, sizeof(reply_seq_7_bytes));
}

static void fixture_open(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    fixture->channel = fake_open(&fixture->fake, false);
    fixture->played = &fixture->fake.calls[0];
}

/* Ends a fixture that fixture_open or a start_ function began. */
static void fixture_close(struct fixture *fixture)
{
    fake_close(&fixture->fake, fixture->channel);
}

static enum errata_result try_unary(struct fixture *fixture)
{
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;

    errata_get_event_request_set_seq(&request, 7);
    return errata_get_event(fixture->channel, &request, NULL, heard_event, fixture, &fixture->call);
}

static void start_unary(struct fixture *fixture)
{
    fixture_open(fixture);
    assert_int_equal(try_unary(fixture), ERRATA_OK);
    assert_non_null(fixture->call);
}

static void start_stream(struct fixture *fixture)
{
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    fixture_open(fixture);
    assert_int_equal(
        errata_watch_events(fixture->channel, &request, NULL, &watching, fixture, &fixture->call),
        ERRATA_OK);
}

static void start_upload(struct fixture *fixture)
{
    fixture_open(fixture);
    assert_int_equal(
        errata_ingest_document_stream(fixture->channel, NULL, &uploading, fixture, &fixture->call),
        ERRATA_OK);
    assert_int_equal(fixture->played->request_bytes, 0);
}

static enum errata_result send_piece(struct fixture *fixture)
{
    Errata__V1__IngestDocumentStreamRequest message =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;
    uint8_t content[] = {'%', 'P'};

    message.content.data = content;
    message.content.len = sizeof(content);
    return errata_ingest_document_stream_send(fixture->call, &message);
}

/* Goal: a unary call sends its request and reports its reply. Method: compares bytes and values. */
static void test_unary_call_reports_its_reply(void **state)
{
    static const uint8_t wanted[] = {0x10, 0x07};
    struct fixture fixture;

    (void)state;
    start_unary(&fixture);
    assert_true(
        slice_equal(fixture.played->method->path, SLICE("/errata.v1.EventService/GetEvent")));
    assert_int_equal(fixture.played->request_bytes, sizeof(wanted));
    assert_memory_equal(fixture.played->request, wanted, sizeof(wanted));
    fake_reply(fixture.played, reply_seq_7());
    assert_int_equal(fixture.ends, 0);
    fake_end(fixture.played, 0);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_OK);
    assert_int_equal(fixture.seq, 7);
    fixture_close(&fixture);
}

/* Goal: an empty message is a reply. Method: an end with OK after no bytes is not one, after zero
 * bytes it is. */
static void test_empty_reply_is_a_reply(void **state)
{
    struct fixture fixture;

    (void)state;
    start_unary(&fixture);
    fake_reply(fixture.played, slice_of(NULL, 0));
    fake_end(fixture.played, 0);
    assert_int_equal(fixture.code, ERRATA_CODE_OK);
    assert_true(fixture.had_reply);
    fixture_close(&fixture);
    start_unary(&fixture);
    fake_end(fixture.played, 0);
    assert_int_equal(fixture.code, ERRATA_CODE_UNIMPLEMENTED);
    assert_false(fixture.had_reply);
    assert_false(fixture.from_server);
    fixture_close(&fixture);
}

/* Goal: an error has no reply. Method: the server sends one and then fails. */
static void test_error_has_no_reply(void **state)
{
    struct fixture fixture;

    (void)state;
    start_unary(&fixture);
    fake_reply(fixture.played, reply_seq_7());
    fake_end(fixture.played, 5);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_NOT_FOUND);
    assert_true(fixture.from_server);
    assert_false(fixture.had_reply);
    fixture_close(&fixture);
}

/* Goal: a second reply to a unary call is an error. Method: two replies; the call is cancelled. */
static void test_second_reply_is_refused(void **state)
{
    struct fixture fixture;

    (void)state;
    start_unary(&fixture);
    fake_reply(fixture.played, reply_seq_7());
    fake_reply(fixture.played, reply_seq_7());
    assert_int_equal(fixture.played->cancels, 1);
    fake_end(fixture.played, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_UNIMPLEMENTED);
    assert_false(fixture.had_reply);
    fixture_close(&fixture);
}

/* Goal: bytes that are not a reply end the call with INTERNAL. Method: broken bytes to both
 * kinds. */
static void test_broken_reply_is_internal(void **state)
{
    struct fixture fixture;

    (void)state;
    start_unary(&fixture);
    fake_reply(fixture.played, slice_of(reply_broken, sizeof(reply_broken)));
    fake_end(fixture.played, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_INTERNAL);
    fixture_close(&fixture);
    start_stream(&fixture);
    fake_reply(fixture.played, reply_seq_7());
    fake_reply(fixture.played, slice_of(reply_broken, sizeof(reply_broken)));
    fake_reply(fixture.played, reply_seq_7());
    assert_int_equal(fixture.played->cancels, 1);
    fake_end(fixture.played, 1);
    assert_int_equal(fixture.replies, 1);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_INTERNAL);
    fixture_close(&fixture);
}

/* Goal: the memory of a reply is bounded. Method: 2 MiB of unknown fields, which would unpack to
 * far more than the cap. */
static void test_bloated_reply_is_refused(void **state)
{
    size_t size = 2u << 20;
    uint8_t *bytes = malloc(size);
    struct fixture fixture;

    (void)state;
    assert_non_null(bytes);
    /* Each unknown field is kept separately. */
    for (size_t i = 0; i < size; i += 2) {
        bytes[i] = 0x78; /* field 15, a varint that the message does not have */
        bytes[i + 1] = 0x01;
    }
    start_stream(&fixture);
    fake_reply(fixture.played, slice_of(bytes, size));
    assert_int_equal(fixture.replies, 0);
    assert_int_equal(fixture.played->cancels, 1);
    fake_end(fixture.played, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_RESOURCE_EXHAUSTED);
    fixture_close(&fixture);
    free(bytes);
}

/* Goal: a stream reports each reply and the server's end. Method: two replies, then DEADLINE. */
static void test_stream_reports_replies_and_end(void **state)
{
    struct fixture fixture;

    (void)state;
    start_stream(&fixture);
    assert_int_equal(fixture.played->request_bytes, 0);
    fake_reply(fixture.played, reply_seq_7());
    fake_reply(fixture.played, reply_seq_7());
    assert_int_equal(fixture.replies, 2);
    assert_int_equal(fixture.seq, 7);
    fake_end(fixture.played, 4);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_DEADLINE_EXCEEDED);
    assert_int_equal(fixture.played->cancels, 0);
    fixture_close(&fixture);
}

/* Goal: a call that fails to start reports nothing. Method: a channel that refuses; callbacks that
 * are missing. */
static void test_refused_start_reports_nothing(void **state)
{
    static const struct errata_watch_events_handlers deaf = {.on_end = heard_end};
    static const struct errata_ingest_document_stream_handlers endless = {.on_writable =
                                                                              heard_room};
    Errata__V1__WatchEventsRequest watch = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;
    Errata__V1__GetEventRequest get = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture);
    fixture.fake.start_result = ERR_BUSY;
    assert_int_equal(try_unary(&fixture), ERRATA_BUSY);
    fixture.fake.start_result = OK;
    assert_int_equal(errata_get_event(fixture.channel, &get, NULL, NULL, &fixture, &fixture.call),
                     ERRATA_INVALID);
    assert_int_equal(
        errata_watch_events(fixture.channel, &watch, NULL, &deaf, &fixture, &fixture.call),
        ERRATA_INVALID);
    assert_int_equal(
        errata_ingest_document_stream(fixture.channel, NULL, &endless, &fixture, &fixture.call),
        ERRATA_INVALID);
    assert_null(fixture.call);
    assert_int_equal(fixture.fake.call_count, 0);
    assert_int_equal(fixture.ends, 0);
    fixture_close(&fixture);
}

/* Goal: a caller that needs no handle of the call may pass NULL. Method: no ret_call, and a call
 * that runs to its end. */
static void test_handle_of_a_call_is_optional(void **state)
{
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture);
    assert_int_equal(errata_get_event(fixture.channel, &request, NULL, heard_event, &fixture, NULL),
                     ERRATA_OK);
    fake_reply(fixture.played, reply_seq_7());
    fake_end(fixture.played, 0);
    assert_int_equal(fixture.seq, 7);
    fixture_close(&fixture);
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

/* Goal: a stream of requests sends each message, reports room, and reports the one reply. Method:
 * two messages, of which the second is refused for lack of room and sent again; the bytes. */
static void test_upload_sends_messages_and_reports_its_reply(void **state)
{
    static const uint8_t wanted[] = {0x1a, 0x02, '%', 'P', 0x1a, 0x02, '%', 'P'};
    struct fixture fixture;
    uint8_t bytes[32];

    (void)state;
    start_upload(&fixture);
    assert_true(slice_equal(fixture.played->method->path,
                            SLICE("/errata.v1.LayoutService/IngestDocumentStream")));
    fake_room(fixture.played);
    assert_int_equal(fixture.rooms, 1);
    assert_int_equal(send_piece(&fixture), ERRATA_OK);
    fixture.fake.send_result = ERR_BUSY;
    assert_int_equal(send_piece(&fixture), ERRATA_BUSY);
    fixture.fake.send_result = OK;
    fake_room(fixture.played);
    assert_int_equal(fixture.rooms, 2);
    assert_int_equal(send_piece(&fixture), ERRATA_OK);
    assert_int_equal(errata_ingest_document_stream_half_close(fixture.call), ERRATA_OK);
    assert_int_equal(fixture.played->half_closes, 1);
    assert_int_equal(fixture.played->request_bytes, sizeof(wanted));
    assert_memory_equal(fixture.played->request, wanted, sizeof(wanted));
    fake_reply(fixture.played, reply_document(bytes));
    assert_int_equal(fixture.ends, 0);
    fake_end(fixture.played, 0);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_OK);
    assert_int_equal(fixture.page_count, 3);
    fixture_close(&fixture);
}

/* Goal: the early end of an upload is reported once, and later sends return it. Method: a refusal
 * by the server; a reply that does not decode, after which room is not reported; OK with no reply
 * and with two. */
static void test_upload_ends_early(void **state)
{
    struct fixture fixture;
    uint8_t bytes[32];

    (void)state;
    start_upload(&fixture);
    fixture.fake.send_result = ERR_CANCELLED;
    assert_int_equal(send_piece(&fixture), ERRATA_ENDED);
    assert_int_equal(errata_ingest_document_stream_half_close(fixture.call), ERRATA_ENDED);
    fake_end(fixture.played, 3);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_INVALID_ARGUMENT);
    assert_false(fixture.had_reply);
    fixture_close(&fixture);

    start_upload(&fixture);
    fake_reply(fixture.played, slice_of(reply_broken, sizeof(reply_broken)));
    assert_int_equal(fixture.played->cancels, 1);
    fake_room(fixture.played);
    assert_int_equal(fixture.rooms, 0);
    fake_end(fixture.played, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_INTERNAL);
    fixture_close(&fixture);

    start_upload(&fixture);
    fake_end(fixture.played, 0);
    assert_int_equal(fixture.code, ERRATA_CODE_UNIMPLEMENTED);
    fixture_close(&fixture);
    start_upload(&fixture);
    fake_reply(fixture.played, reply_document(bytes));
    fake_reply(fixture.played, reply_document(bytes));
    fake_end(fixture.played, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_UNIMPLEMENTED);
    assert_false(fixture.had_reply);
    fixture_close(&fixture);
}

/* Goal: the callback for room is optional. Method: an upload without it. */
static void test_on_writable_is_optional(void **state)
{
    static const struct errata_ingest_document_stream_handlers deaf = {.on_done = heard_document};
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture);
    assert_int_equal(
        errata_ingest_document_stream(fixture.channel, NULL, &deaf, &fixture, &fixture.call),
        ERRATA_OK);
    fake_room(fixture.played);
    assert_int_equal(send_piece(&fixture), ERRATA_OK);
    fake_end(fixture.played, 1);
    assert_int_equal(fixture.ends, 1);
    fixture_close(&fixture);
}

/* Goal: optional members are set, cleared, and replace each other in a oneof. Method: a text and a
 * number that exclude each other, a separate text, and the wire's bytes of an absent one. */
static void test_optional_members_are_set_and_cleared(void **state)
{
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;

    (void)state;
    assert_false(errata_get_event_request_has_id(&request));
    errata_get_event_request_set_id(&request, "an id");
    assert_true(errata_get_event_request_has_id(&request));
    assert_string_equal(request.id, "an id");
    errata_get_event_request_set_seq(&request, 0);
    assert_true(errata_get_event_request_has_seq(&request));
    assert_false(errata_get_event_request_has_id(&request));
    assert_int_equal(errata__v1__get_event_request__get_packed_size(&request), 2);

    errata_feedback_event_set_document_id(&event, "");
    assert_true(errata_feedback_event_has_document_id(&event));
    assert_int_equal(errata__v1__feedback_event__get_packed_size(&event), 2);
    errata_feedback_event_set_document_id(&event, NULL);
    assert_false(errata_feedback_event_has_document_id(&event));
    assert_int_equal(errata__v1__feedback_event__get_packed_size(&event), 0);
}

/* Goal: there is a setter for each kind of member: enum, message, flag, list of texts, list of messages.
 * Method: a message with all of them, packed and unpacked. */
static void test_every_kind_of_member_has_a_setter(void **state)
{
    static const char *const names[] = {"qty", "sku"};
    Google__Protobuf__Timestamp time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Errata__V1__FieldDiff diff = ERRATA__V1__FIELD_DIFF__INIT;
    Errata__V1__FieldDiff *diffs[] = {&diff, &diff};
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__FeedbackEvent *read = NULL;
    uint8_t bytes[200];
    size_t size = 0;

    (void)state;
    time.seconds = 7;
    errata_field_diff_set_name(&diff, "qty");
    errata_feedback_event_set_event_type(
        &event, ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED);
    errata_feedback_event_set_created_at(&event, &time);
    errata_feedback_event_set_reduced(&event, true);
    errata_feedback_event_set_fields_changed(&event, names, 2);
    errata_feedback_event_set_diff(&event, diffs, 2);
    size = errata__v1__feedback_event__get_packed_size(&event);
    assert_true(size <= sizeof(bytes));
    (void)errata__v1__feedback_event__pack(&event, bytes);
    read = errata__v1__feedback_event__unpack(NULL, size, bytes);
    assert_non_null(read);
    assert_int_equal(
        read->event_type,
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED);
    assert_int_equal(read->created_at->seconds, 7);
    assert_true(read->reduced);
    assert_int_equal(read->n_fields_changed, 2);
    assert_string_equal(read->fields_changed[1], "sku");
    assert_int_equal(read->n_diff, 2);
    assert_string_equal(read->diff[1]->name, "qty");
    errata__v1__feedback_event__free_unpacked(read, NULL);
}

static void heard_prompt(void *user, const struct errata_status *status,
                         const Errata__V1__PreparePromptResponse *reply)
{
    struct fixture *fixture = user;

    heard_end(fixture, status);
    fixture->had_reply = reply != NULL;
}

/* Goal: a map of a request is sent as its entries. Method: a prompt's context of two, by its bytes. */
static void test_map_is_sent_as_entries(void **state)
{
    static const char wanted[] = "\x0a\x01p\x22\x06\x0a\x01"
                                 "A\x12\x01x\x22\x06\x0a\x01"
                                 "B\x12\x01y";
    Errata__V1__PreparePromptRequest request = ERRATA__V1__PREPARE_PROMPT_REQUEST__INIT;
    Errata__V1__PreparePromptRequest__ContextEntry first =
        ERRATA__V1__PREPARE_PROMPT_REQUEST__CONTEXT_ENTRY__INIT;
    Errata__V1__PreparePromptRequest__ContextEntry second =
        ERRATA__V1__PREPARE_PROMPT_REQUEST__CONTEXT_ENTRY__INIT;
    Errata__V1__PreparePromptRequest__ContextEntry *entries[] = {&first, &second};
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture);
    errata_prepare_prompt_request_set_template_name(&request, "p");
    errata_prepare_prompt_request_context_entry_set_key(&first, "A");
    errata_prepare_prompt_request_context_entry_set_value(&first, "x");
    errata_prepare_prompt_request_context_entry_set_key(&second, "B");
    errata_prepare_prompt_request_context_entry_set_value(&second, "y");
    request.context = entries;
    request.n_context = 2;
    assert_int_equal(errata_prepare_prompt(fixture.channel, &request, NULL, heard_prompt, &fixture,
                                           &fixture.call),
                     ERRATA_OK);
    assert_int_equal(fixture.played->request_bytes, sizeof(wanted) - 1);
    assert_memory_equal(fixture.played->request, wanted, sizeof(wanted) - 1);
    fake_end(fixture.played, 5);
    assert_int_equal(fixture.code, ERRATA_CODE_NOT_FOUND);
    assert_false(fixture.had_reply);
    fixture_close(&fixture);
}

int run_stubs_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary_call_reports_its_reply),
        cmocka_unit_test(test_empty_reply_is_a_reply),
        cmocka_unit_test(test_error_has_no_reply),
        cmocka_unit_test(test_second_reply_is_refused),
        cmocka_unit_test(test_broken_reply_is_internal),
        cmocka_unit_test(test_bloated_reply_is_refused),
        cmocka_unit_test(test_stream_reports_replies_and_end),
        cmocka_unit_test(test_refused_start_reports_nothing),
        cmocka_unit_test(test_handle_of_a_call_is_optional),
        cmocka_unit_test(test_upload_sends_messages_and_reports_its_reply),
        cmocka_unit_test(test_upload_ends_early),
        cmocka_unit_test(test_on_writable_is_optional),
        cmocka_unit_test(test_optional_members_are_set_and_cleared),
        cmocka_unit_test(test_every_kind_of_member_has_a_setter),
        cmocka_unit_test(test_map_is_sent_as_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
