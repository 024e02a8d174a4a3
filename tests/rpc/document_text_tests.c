/*
 * document_text_tests.c: the text of a document in the response of IngestDocument and
 * IngestDocumentStream: returned on request, also for a document that is stored, and never stored.
 */
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CONTENT SLICE("%PDF-1.4 one")

static const char *const paths[] = {INGEST_UNARY, INGEST_STREAM};

#define PATHS_COUNT (sizeof(paths) / sizeof(paths[0]))

struct ingest_reply {
    enum status_code code;
    Errata__V1__Document *document;
    Errata__V1__DocumentText *text; /* NULL: none */
};

/* Makes a complete call of either method, with or without `include_text`. */
static struct ingest_reply ingest_text(struct fixture *fixture, const struct exchange_start *start,
                                       bool include_text)
{
    Errata__V1__IngestDocumentRequest whole = ERRATA__V1__INGEST_DOCUMENT_REQUEST__INIT;
    Errata__V1__IngestDocumentStreamRequest piece =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;
    struct ingest_reply reply = {.code = STATUS_OK};
    struct exchange exchange;

    exchange_open(&exchange, fixture, start);
    if (strcmp(start->path, INGEST_STREAM) != 0) {
        whole.document_id = (char *)(uintptr_t) "document";
        whole.content = (ProtobufCBinaryData){CONTENT.size, (uint8_t *)(uintptr_t)CONTENT.data};
        whole.include_text = include_text;
        exchange_send(&exchange, &whole.base);
    } else {
        piece._document_id_case =
            ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
        piece.document_id = (char *)(uintptr_t) "document";
        piece.content = (ProtobufCBinaryData){CONTENT.size, (uint8_t *)(uintptr_t)CONTENT.data};
        piece.include_text = include_text;
        exchange_send_part(&exchange, &piece.base);
        exchange_send_end(&exchange);
    }
    fixture_run(fixture);
    assert_true(exchange.ended);
    reply.code = exchange.code;
    if (reply.code == STATUS_OK) {
        void *message = exchange_read(&exchange, fixture_reply_of(exchange.core->call.method));

        assert_non_null(message);
        reply.document = strcmp(start->path, INGEST_STREAM) != 0
                             ? ((Errata__V1__IngestDocumentResponse *)message)->document
                             : ((Errata__V1__IngestDocumentStreamResponse *)message)->document;
        reply.text = strcmp(start->path, INGEST_STREAM) != 0
                         ? ((Errata__V1__IngestDocumentResponse *)message)->text
                         : ((Errata__V1__IngestDocumentStreamResponse *)message)->text;
    }
    exchange_close(&exchange);
    return reply;
}

static struct exchange_start start_of(const struct fixture *fixture, const char *path,
                                      const char *key)
{
    return (struct exchange_start){
        .path = path, .authorization = fixture->admin, .idempotency_key = key};
}

/* Goal: the text comes only on request, and again for the same bytes, with a key and without one,
 * while one document is stored. Method: both methods, without the text, with it, and again. */
static void test_text_is_returned_on_request_and_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < PATHS_COUNT; i++) {
        struct fixture fixture;
        struct exchange_start start;
        struct ingest_reply first;
        struct ingest_reply reply;

        fixture_init(&fixture);
        start = start_of(&fixture, paths[i], NULL);
        first = ingest_text(&fixture, &start, false);
        assert_int_equal(first.code, STATUS_OK);
        assert_null(first.text);
        assert_int_equal(fixture.documents.texts, 0);
        start.idempotency_key = "key";
        for (unsigned run = 1; run <= 3; run++) {
            reply = ingest_text(&fixture, &start, true);
            assert_int_equal(reply.code, STATUS_OK);
            assert_non_null(reply.text);
            assert_string_equal(reply.text->text, "Invoice 4711 of today\n");
            assert_int_equal(memcmp(reply.text->text, reply.document->input_snippet,
                                    strlen(reply.document->input_snippet)),
                             0);
            assert_int_equal(reply.text->pages_read, 1);
            assert_int_equal(reply.text->n_warnings, 0);
            assert_string_equal(reply.document->id, first.document->id);
            assert_int_equal(fixture.documents.texts, run);
            if (run == 2) {
                start.idempotency_key = NULL;
            }
        }
        assert_int_equal(ingest_count(&fixture), 1);
        fixture_deinit(&fixture);
    }
}

/* Goal: a key is bound to the request with its flag. Method: the same key with and without it. */
static void test_key_is_bound_to_the_flag(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * PATHS_COUNT; i++) {
        struct fixture fixture;
        struct exchange_start start;

        fixture_init(&fixture);
        start = start_of(&fixture, paths[i / 2], "key");
        assert_int_equal(ingest_text(&fixture, &start, i % 2 == 0).code, STATUS_OK);
        assert_int_equal(ingest_text(&fixture, &start, i % 2 != 0).code, STATUS_ALREADY_EXISTS);
        assert_int_equal(ingest_count(&fixture), 1);
        fixture_deinit(&fixture);
    }
}

/* Goal: an incomplete text has a warning with the reason, and a scan has an empty
 * text. Method: each end, with its warning; the largest text arrives whole. */
static void test_incomplete_text_has_a_warning(void **state)
{
    static char large[PDF_PAGES_TEXT_BYTES_MAX + 1];
    static const struct {
        const char *text;
        enum pdf_pages_end end;
        const char *message; /* NULL: no warning */
    } cases[] = {
        {"Invoice 4711 of today\n", PDF_PAGES_WHOLE, NULL},
        {" \n\f\n", PDF_PAGES_WHOLE, NULL},
        {large, PDF_PAGES_FULL, "cut at 1 MiB, on page 1 of 1"},
        {"Invoice 4711 of today\n", PDF_PAGES_STOPPED, "has 1 of 1 pages"},
    };
    struct fixture fixture;
    struct exchange_start start;

    (void)state;
    memset(large, 'a', sizeof(large) - 1);
    fixture_init(&fixture);
    start = start_of(&fixture, INGEST_UNARY, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ingest_reply reply;

        fixture.documents.answer.pages =
            (struct pdf_pages){.text = slice_text(cases[i].text), .count = 1, .end = cases[i].end};
        reply = ingest_text(&fixture, &start, true);
        assert_int_equal(reply.code, STATUS_OK);
        assert_string_equal(reply.text->text, cases[i].text[0] == ' ' ? "" : cases[i].text);
        assert_int_equal(reply.text->n_warnings, cases[i].message != NULL ? 1 : 0);
        if (cases[i].message != NULL) {
            assert_int_equal(reply.text->warnings[0]->code,
                             ERRATA__V1__WARNING_CODE__WARNING_CODE_TEXT_TRUNCATED);
            assert_non_null(strstr(reply.text->warnings[0]->message, cases[i].message));
        }
        assert_int_equal(reply.document->n_warnings, 0);
    }
    fixture_deinit(&fixture);
}

/* Goal: a stream can request the text only in its first message. Method: the flag in the second
 * one. */
static void test_flag_of_a_stream_is_in_its_first_message(void **state)
{
    Errata__V1__IngestDocumentStreamRequest piece =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;
    struct fixture fixture;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    ingest_open(&exchange, &fixture, INGEST_STREAM);
    ingest_send_part(&exchange, "document", CONTENT);
    piece.include_text = true;
    exchange_send_part(&exchange, &piece.base);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.details, "include_text"));
    exchange_close(&exchange);
    assert_int_equal(ingest_count(&fixture), 0);
    fixture_deinit(&fixture);
}

int run_document_text_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_returned_on_request_and_again),
        cmocka_unit_test(test_key_is_bound_to_the_flag),
        cmocka_unit_test(test_incomplete_text_has_a_warning),
        cmocka_unit_test(test_flag_of_a_stream_is_in_its_first_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
