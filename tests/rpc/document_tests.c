/*
 * document_tests.c: documents through the pipeline: complete and in pieces, refusals without a slot
 * or a worker, idempotency keys.
 */
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The most bytes of one piece, by the contract. */
#define PIECE_BYTES_MAX ((size_t)4 << 20)

#define CONTENT SLICE("%PDF-1.4 one")
#define OTHER_CONTENT SLICE("%PDF-1.4 another")

static const char *const paths[] = {INGEST_UNARY, INGEST_STREAM};

#define PATHS_COUNT (sizeof(paths) / sizeof(paths[0]))

static struct exchange_start start_of(const struct fixture *fixture, const char *path,
                                      const char *key)
{
    return (struct exchange_start){
        .path = path, .authorization = fixture->admin, .idempotency_key = key};
}

/* Goal: a document is measured from exactly the bytes sent, whole or in pieces of any size, and its
 * job is freed with the call. Method: the same bytes by both methods; sha256 and size are computed
 * from the bytes of the job. */
static void test_document_is_measured_from_exactly_its_bytes(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    struct exchange_start start;
    Errata__V1__Document *whole = NULL;
    Errata__V1__Document *streamed = NULL;

    (void)state;
    fixture_init(&fixture);
    start = start_of(&fixture, INGEST_UNARY, NULL);
    assert_int_equal(ingest(&fixture, &start, "whole", CONTENT, &whole), STATUS_OK);
    ingest_open(&exchange, &fixture, INGEST_STREAM);
    assert_int_equal(fixture.documents.opened, 2); /* before any byte was sent */
    ingest_send_part(&exchange, "streamed", SLICE(""));
    for (size_t i = 0; i < CONTENT.size; i++) {
        ingest_send_part(&exchange, NULL, slice_of(CONTENT.data + i, 1));
    }
    assert_int_equal(fixture.documents.held_bytes, CONTENT.size);
    exchange_send_end(&exchange);
    assert_false(exchange.ended);
    fixture_run(&fixture);
    assert_int_equal(exchange.code, STATUS_OK);
    streamed = ingest_read(&exchange);
    exchange_close(&exchange);
    assert_string_equal(whole->document_id, "whole");
    assert_string_equal(streamed->document_id, "streamed");
    assert_int_equal(streamed->size_bytes, CONTENT.size);
    assert_string_equal(streamed->sha256, whole->sha256);
    assert_string_equal(streamed->layout_fingerprint, whole->layout_fingerprint);
    assert_int_equal(ingest_count(&fixture), 2);
    assert_int_equal(fixture.documents.measured, 2);
    assert_int_equal(fixture.documents.cancelled, 0);
    fixture_deinit(&fixture);
}

/* Goal: large pieces are accepted as well as large messages, and a measured document is not refused
 * later for the size of bytes that are freed already. Method: 15 MiB, twice whole and once in the
 * largest pieces, in one batch of writes. */
static void test_large_pieces_are_accepted(void **state)
{
    static const char *const methods[] = {INGEST_UNARY, INGEST_UNARY, INGEST_STREAM};
    static const char *const ids[] = {"one", "two", "three"};
    const size_t size = 15u << 20;
    struct fixture fixture;
    struct exchange exchanges[3];
    uint8_t *bytes = calloc(1, size);

    (void)state;
    assert_non_null(bytes);
    fixture_init(&fixture);
    for (size_t i = 0; i < 3; i++) {
        ingest_open(&exchanges[i], &fixture, methods[i]);
        if (i < 2) {
            ingest_send(&exchanges[i], ids[i], slice_of(bytes, size));
        } else {
            for (size_t at = 0; at < size; at += PIECE_BYTES_MAX) {
                size_t rest = size - at;

                ingest_send_part(
                    &exchanges[i], at == 0 ? ids[i] : NULL,
                    slice_of(bytes + at, rest < PIECE_BYTES_MAX ? rest : PIECE_BYTES_MAX));
            }
            exchange_send_end(&exchanges[i]);
        }
    }
    fixture_run(&fixture);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(exchanges[i].code, STATUS_OK);
        assert_int_equal(ingest_read(&exchanges[i])->size_bytes, size);
        exchange_close(&exchanges[i]);
    }
    fixture_deinit(&fixture);
    free(bytes);
}

/* Goal: a large piece is checked and decoded on the pool, and the call waits for it: later pieces
 * follow it, and a call that ends meanwhile leaks nothing. Method: a piece of 1 MiB, once accepted,
 * once refused, once with a full pool, once with its peer disconnected. */
static void test_large_piece_is_decoded_on_the_pool(void **state)
{
    static uint8_t bytes[1 << 20];
    struct fixture fixture;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    ingest_open(&exchange, &fixture, INGEST_STREAM);
    ingest_send_part(&exchange, "one", slice_of(bytes, sizeof(bytes)));
    assert_int_equal(fixture.job_count, 1);
    assert_true(exchange.core->message_held);
    ingest_send_part(&exchange, NULL, SLICE("small"));
    assert_false(exchange.core->message_held);
    exchange_send_end(&exchange);
    fixture_run(&fixture);
    assert_int_equal(exchange.code, STATUS_OK);
    assert_int_equal(ingest_read(&exchange)->size_bytes, sizeof(bytes) + 5);
    exchange_close(&exchange);

    ingest_open(&exchange, &fixture, INGEST_STREAM);
    ingest_send_part(&exchange, NULL, slice_of(bytes, sizeof(bytes)));
    assert_false(exchange.ended);
    fixture_run(&fixture);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.message, "document_id"));
    exchange_close(&exchange);

    fixture.pool_is_full = true;
    ingest_open(&exchange, &fixture, INGEST_STREAM);
    ingest_send_part(&exchange, "two", slice_of(bytes, sizeof(bytes)));
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_UNAVAILABLE);
    exchange_close(&exchange);
    fixture.pool_is_full = false;

    ingest_open(&exchange, &fixture, INGEST_STREAM);
    ingest_send_part(&exchange, "three", slice_of(bytes, sizeof(bytes)));
    exchange_close(&exchange);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 1); /* it is on the pool */
    fixture_run(&fixture);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 0);
    fixture_deinit(&fixture);
}

/* Goal: a streamed request without a message, or with an invalid first one, is refused at once with
 * the expected form. Method: an early end; a first message without an id, after which the call has
 * ended. */
static void test_invalid_stream_is_refused_at_once(void **state)
{
    struct fixture fixture;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    ingest_open(&exchange, &fixture, INGEST_STREAM);
    exchange_send_end(&exchange);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.message,
                          "one or more messages of type errata.v1.IngestDocumentStreamRequest"));
    exchange_close(&exchange);

    ingest_open(&exchange, &fixture, INGEST_STREAM);
    ingest_send_part(&exchange, NULL, CONTENT);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.details, "google.rpc.BadRequest"));
    assert_true(slice_has(exchange.message, "document_id"));
    ingest_send_part(&exchange, "late", CONTENT); /* this message is discarded */
    exchange_close(&exchange);

    ingest_open(&exchange, &fixture, INGEST_STREAM);
    ingest_send_part(&exchange, "a\tb", CONTENT); /* the contract's check applies to pieces too */
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    exchange_close(&exchange);
    assert_int_equal(fixture.documents.opened, 3);
    assert_int_equal(fixture.documents.submitted, 0);
    assert_int_equal(ingest_count(&fixture), 0);
    fixture_deinit(&fixture);
}

/* Goal: a server without a PDF worker refuses a document before it reads a byte, and serves other
 * methods. Method: a fixture without documents; both methods, then a capture. */
static void test_server_without_a_worker_is_unavailable(void **state)
{
    struct fixture fixture;
    struct exchange exchange;

    (void)state;
    fixture_init_without_documents(&fixture);
    for (size_t i = 0; i < PATHS_COUNT; i++) {
        ingest_open(&exchange, &fixture, paths[i]);
        assert_true(exchange.ended);
        assert_int_equal(exchange.code, STATUS_UNAVAILABLE);
        assert_true(slice_has(exchange.message, "--pdf-worker"));
        exchange_close(&exchange);
    }
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    fixture_deinit(&fixture);
}

/* A reason for refusing a slot, and the expected reply. */
struct trouble {
    size_t result; /* offset of the result in the fake */
    enum err err;
    enum status_code code;
    const char *message;
    bool retry; /* RetryInfo is expected */
};

static const struct trouble troubles[] = {
    {offsetof(struct fake_documents, open_result), ERR_BUSY, STATUS_UNAVAILABLE,
     "the server's limit of concurrent documents", true},
    {offsetof(struct fake_documents, open_result), ERR_QUOTA, STATUS_RESOURCE_EXHAUSTED,
     "this organisation's limit of concurrent documents", true},
    {offsetof(struct fake_documents, open_result), ERR_UNAVAILABLE, STATUS_UNAVAILABLE,
     "errata.pdf", true},
    {offsetof(struct fake_documents, reserve_result), ERR_BUSY, STATUS_UNAVAILABLE,
     "the server's limit of concurrent documents", true},
    {offsetof(struct fake_documents, reserve_result), ERR_TOO_LARGE, STATUS_RESOURCE_EXHAUSTED,
     "at most 64 MiB", false},
    {offsetof(struct fake_documents, append_result), ERR_MEMORY, STATUS_INTERNAL, "", false},
    {offsetof(struct fake_documents, submit_result), ERR_BUSY, STATUS_UNAVAILABLE,
     "the server's limit of concurrent documents", true},
    {offsetof(struct fake_documents, measure_result), ERR_UNAVAILABLE, STATUS_UNAVAILABLE,
     "expected another attempt", true},
    {offsetof(struct fake_documents, done_result), ERR_UNAVAILABLE, STATUS_UNAVAILABLE,
     "errata.pdf", true},
};

/* Goal: if a document has no slot, the caller gets a retry delay or not, nothing is stored, and the
 * job is closed; the next document is accepted. Method: each cause, by both methods. */
static void test_document_without_a_slot_stores_nothing(void **state)
{
    (void)state;
    for (size_t at = 0; at < 2 * sizeof(troubles) / sizeof(troubles[0]); at++) {
        const struct trouble *trouble = &troubles[at / 2];
        struct fixture fixture;
        struct exchange exchange;
        struct exchange_start start;
        enum err *result = NULL;

        fixture_init(&fixture);
        start = start_of(&fixture, paths[at % 2], NULL);
        result = (enum err *)(void *)((char *)&fixture.documents + trouble->result);
        *result = trouble->err;
        exchange_open(&exchange, &fixture, &start);
        if (at % 2 == 0) {
            ingest_send(&exchange, "document", CONTENT);
        } else {
            ingest_send_part(&exchange, "document", CONTENT);
            exchange_send_end(&exchange);
        }
        fixture_run(&fixture);
        assert_true(exchange.ended);
        assert_int_equal(exchange.code, trouble->code);
        assert_true(slice_has(exchange.message, trouble->message));
        assert_int_equal(slice_has(exchange.details, "google.rpc.RetryInfo"), trouble->retry);
        exchange_close(&exchange);
        assert_int_equal(pipeline_live_count(fixture.pipeline), 0);
        fake_documents_check_end(&fixture.documents);
        assert_int_equal(ingest_count(&fixture), 0);
        *result = OK;
        assert_int_equal(ingest(&fixture, &start, "document", CONTENT, NULL), STATUS_OK);
        fixture_deinit(&fixture);
    }
}

/* Goal: an error of the document is INVALID_ARGUMENT with a reason code, no retry hint, and nothing
 * stored. Method: a worker that refuses, by both methods. */
static void test_refused_document_has_a_reason_code(void **state)
{
    struct fixture fixture;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    fixture.documents.answer = (struct pdf_answer){.reason = PDF_TOO_MANY_PAGES};
    for (size_t i = 0; i < PATHS_COUNT; i++) {
        ingest_open(&exchange, &fixture, paths[i]);
        if (i == 0) {
            ingest_send(&exchange, "document", CONTENT);
        } else {
            ingest_send_part(&exchange, "document", CONTENT);
            exchange_send_end(&exchange);
        }
        fixture_run(&fixture);
        assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
        assert_int_equal(memcmp(exchange.message.data, "too_many_pages: ", 16), 0);
        assert_true(slice_has(exchange.details, "TOO_MANY_PAGES"));
        assert_false(slice_has(exchange.details, "google.rpc.RetryInfo"));
        exchange_close(&exchange);
    }
    assert_int_equal(ingest_count(&fixture), 0);
    fixture_deinit(&fixture);
}

/* Goal: a repeat under a key gets the first answer and stores nothing, regardless of how its bytes
 * are split; other bytes or another id under the key are refused, and a bad key before any byte.
 * Method: both methods. */
static void test_repeat_under_a_key_gets_the_first_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < PATHS_COUNT; i++) {
        struct fixture fixture;
        struct exchange exchange;
        struct exchange_start start;
        Errata__V1__Document *first = NULL;
        Errata__V1__Document *repeat = NULL;

        fixture_init(&fixture);
        start = start_of(&fixture, paths[i], "key");
        assert_int_equal(ingest(&fixture, &start, "document", CONTENT, &first), STATUS_OK);
        clock_manual_advance(&fixture.clock, INT64_C(3600) * 1000000);
        assert_int_equal(ingest(&fixture, &start, "document", CONTENT, &repeat), STATUS_OK);
        assert_string_equal(first->id, repeat->id);
        assert_int_equal(first->created_at->seconds, repeat->created_at->seconds);
        if (i == 1) {
            exchange_open(&exchange, &fixture, &start);
            ingest_send_part(&exchange, "document", CONTENT);
            exchange_send_end(&exchange);
            fixture_run(&fixture);
            assert_int_equal(exchange.code, STATUS_OK);
            assert_string_equal(ingest_read(&exchange)->id, first->id);
            exchange_close(&exchange);
        }
        assert_int_equal(ingest(&fixture, &start, "document", OTHER_CONTENT, NULL),
                         STATUS_ALREADY_EXISTS);
        assert_int_equal(ingest(&fixture, &start, "other", CONTENT, NULL), STATUS_ALREADY_EXISTS);
        assert_int_equal(ingest_count(&fixture), 1);
        start.idempotency_key = "another";
        assert_int_equal(ingest(&fixture, &start, "other", CONTENT, NULL), STATUS_OK);
        assert_int_equal(ingest_count(&fixture), 2);
        start = start_of(&fixture, INGEST_STREAM, "");
        exchange_open(&exchange, &fixture, &start);
        assert_true(exchange.ended);
        assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
        exchange_close(&exchange);
        fixture_deinit(&fixture);
    }
}

/* A whole document with the password that opens it. */
static enum status_code ingest_with_password(struct fixture *fixture,
                                             const struct exchange_start *start,
                                             const char *password,
                                             Errata__V1__Document **ret_document)
{
    Errata__V1__IngestDocumentRequest whole = ERRATA__V1__INGEST_DOCUMENT_REQUEST__INIT;
    Errata__V1__IngestDocumentStreamRequest piece =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;
    const ProtobufCBinaryData content = {CONTENT.size, (uint8_t *)(uintptr_t)CONTENT.data};
    struct exchange exchange;

    whole.document_id = (char *)(uintptr_t) "document";
    whole._password_case = ERRATA__V1__INGEST_DOCUMENT_REQUEST___PASSWORD_PASSWORD;
    whole.password = (char *)(uintptr_t)password;
    whole.content = content;
    piece._document_id_case = ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
    piece.document_id = whole.document_id;
    piece._password_case = ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST___PASSWORD_PASSWORD;
    piece.password = whole.password;
    piece.content = content;
    exchange_open(&exchange, fixture, start);
    if (exchange.core->call.method->stream != METHOD_CLIENT_STREAM) {
        exchange_send(&exchange, &whole.base);
    } else {
        exchange_send_part(&exchange, &piece.base);
        exchange_send_end(&exchange);
    }
    fixture_run(fixture);
    if (exchange.code == STATUS_OK) {
        *ret_document = ingest_read(&exchange);
    }
    exchange_close(&exchange);
    return exchange.code;
}

/* Goal: no part of a password is kept, not even within the hash of the request that a key is bound
 * to, from which it could be guessed. Method: the same bytes under the same key, opened by the
 * user's and then by the owner's password, are the same request; both methods. */
static void test_request_hash_excludes_the_password(void **state)
{
    (void)state;
    for (size_t i = 0; i < PATHS_COUNT; i++) {
        struct fixture fixture;
        struct exchange_start start;
        Errata__V1__Document *first = NULL;
        Errata__V1__Document *repeat = NULL;

        fixture_init(&fixture);
        start = start_of(&fixture, paths[i], "key");
        assert_int_equal(ingest_with_password(&fixture, &start, "user", &first), STATUS_OK);
        assert_int_equal(ingest_with_password(&fixture, &start, "owner", &repeat), STATUS_OK);
        assert_string_equal(first->id, repeat->id);
        assert_int_equal(ingest_count(&fixture), 1);
        fixture_deinit(&fixture);
    }
}

/* Goal: a caller that may not ingest is refused before a job is opened. Method: each role without
 * the right, and no token, by both methods. */
static void test_role_is_checked_before_a_job_is_opened(void **state)
{
    static const enum role denied[] = {ROLE_VIEWER};
    struct fixture fixture;
    struct exchange exchange;
    char token[FIXTURE_TOKEN_BYTES];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < PATHS_COUNT; i++) {
        struct exchange_start start = {.path = paths[i]};

        exchange_open(&exchange, &fixture, &start);
        assert_true(exchange.ended);
        assert_int_equal(exchange.code, STATUS_UNAUTHENTICATED);
        exchange_close(&exchange);
        for (size_t role = 0; role < sizeof(denied) / sizeof(denied[0]); role++) {
            fixture_make_token(&fixture, fixture.admin, denied[role], token);
            start.authorization = token;
            exchange_open(&exchange, &fixture, &start);
            assert_true(exchange.ended);
            assert_int_equal(exchange.code, STATUS_PERMISSION_DENIED);
            exchange_close(&exchange);
        }
    }
    assert_int_equal(fixture.documents.opened, 0);
    fixture_deinit(&fixture);
}

/* Sends a dated document, in two messages if it is a stream; whole or refused. */
static enum status_code ingest_dated(struct fixture *fixture, const struct exchange_start *start,
                                     const char *document_id, int64_t created_at_us,
                                     Errata__V1__Document **ret_document)
{
    Google__Protobuf__Timestamp time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Errata__V1__IngestDocumentRequest whole = ERRATA__V1__INGEST_DOCUMENT_REQUEST__INIT;
    Errata__V1__IngestDocumentStreamRequest part = ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;
    struct exchange exchange;

    time.seconds = created_at_us / 1000000;
    whole.document_id = (char *)(uintptr_t)document_id;
    whole.created_at = &time;
    whole.content = (ProtobufCBinaryData){8, (uint8_t *)(uintptr_t) "%PDF-1.7"};
    part._document_id_case = ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
    part.document_id = whole.document_id;
    part.created_at = &time;
    part.content = whole.content;
    exchange_open(&exchange, fixture, start);
    if (exchange.core->call.method->stream == METHOD_CLIENT_STREAM) {
        exchange_send_part(&exchange, &part.base);
        exchange_send_end(&exchange);
    } else {
        exchange_send(&exchange, &whole.base);
    }
    fixture_run(fixture);
    assert_true(exchange.ended);
    if (exchange.code == STATUS_OK) {
        *ret_document = ingest_read(&exchange);
    }
    exchange_close(&exchange);
    return exchange.code;
}

/* Goal: an archive keeps its dates: an INTEGRATOR must date a document, an ADMIN may, others may not; never in the
 * future; and an old document does not set "last seen" back. Method: by both methods. */
static void test_dates_are_allowed_by_role(void **state)
{
    const int64_t year_us = INT64_C(365) * 86400 * 1000000;
    struct fixture fixture;
    char integrator[FIXTURE_TOKEN_BYTES];
    char operator[FIXTURE_TOKEN_BYTES];
    Errata__V1__Document *document = NULL;

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_INTEGRATOR, integrator);
    fixture_make_token(&fixture, fixture.admin, ROLE_OPERATOR, operator);
    for (size_t i = 0; i < PATHS_COUNT; i++) {
        struct exchange_start start = {.path = paths[i], .authorization = integrator};
        char id[2][16];

        (void)snprintf(id[0], sizeof(id[0]), "new-%zu", i);
        (void)snprintf(id[1], sizeof(id[1]), "old-%zu", i);
        assert_int_equal(ingest(&fixture, &start, id[0], SLICE("%PDF-1.7"), NULL),
                         STATUS_PERMISSION_DENIED);
        assert_int_equal(
            ingest_dated(&fixture, &start, id[1], FIXTURE_START_US + year_us, &document),
            STATUS_INVALID_ARGUMENT);
        assert_int_equal(
            ingest_dated(&fixture, &start, id[1], FIXTURE_START_US - year_us, &document),
            STATUS_OK);
        assert_int_equal(document->created_at->seconds, (FIXTURE_START_US - year_us) / 1000000);
        start.authorization = operator;
        assert_int_equal(
            ingest_dated(&fixture, &start, id[0], FIXTURE_START_US - year_us, &document),
            STATUS_PERMISSION_DENIED);
        assert_int_equal(ingest(&fixture, &start, id[0], SLICE("%PDF-1.7"), &document), STATUS_OK);
        assert_int_equal(document->created_at->seconds, FIXTURE_START_US / 1000000);
        start.authorization = fixture.admin;
        (void)snprintf(id[0], sizeof(id[0]), "older-%zu", i);
        assert_int_equal(
            ingest_dated(&fixture, &start, id[0], FIXTURE_START_US - 2 * year_us, &document),
            STATUS_OK);
    }
    assert_int_equal(ingest_count(&fixture), 3 * PATHS_COUNT);
    fixture_deinit(&fixture);
}

int run_document_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document_is_measured_from_exactly_its_bytes),
        cmocka_unit_test(test_large_pieces_are_accepted),
        cmocka_unit_test(test_large_piece_is_decoded_on_the_pool),
        cmocka_unit_test(test_invalid_stream_is_refused_at_once),
        cmocka_unit_test(test_server_without_a_worker_is_unavailable),
        cmocka_unit_test(test_document_without_a_slot_stores_nothing),
        cmocka_unit_test(test_refused_document_has_a_reason_code),
        cmocka_unit_test(test_repeat_under_a_key_gets_the_first_answer),
        cmocka_unit_test(test_request_hash_excludes_the_password),
        cmocka_unit_test(test_role_is_checked_before_a_job_is_opened),
        cmocka_unit_test(test_dates_are_allowed_by_role),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
