/*
 * ingest.c: documents that are sent to a fixture.
 */
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void ingest_open(struct exchange *exchange, struct fixture *fixture, const char *path)
{
    const struct exchange_start start = {.path = path, .authorization = fixture->admin};

    exchange_open(exchange, fixture, &start);
}

static ProtobufCBinaryData binary_of(struct slice content)
{
    return (ProtobufCBinaryData){content.size, (uint8_t *)(uintptr_t)content.data};
}

void ingest_send(struct exchange *exchange, const char *document_id, struct slice content)
{
    Errata__V1__IngestDocumentRequest request = ERRATA__V1__INGEST_DOCUMENT_REQUEST__INIT;

    request.document_id = (char *)(uintptr_t)document_id;
    request.content = binary_of(content);
    exchange_send(exchange, &request.base);
}

void ingest_send_part(struct exchange *exchange, const char *document_id, struct slice content)
{
    Errata__V1__IngestDocumentStreamRequest request =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;

    if (document_id != NULL) {
        request._document_id_case =
            ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
        request.document_id = (char *)(uintptr_t)document_id;
    }
    request.content = binary_of(content);
    exchange_send_part(exchange, &request.base);
}

Errata__V1__Document *ingest_read(struct exchange *exchange)
{
    bool streamed = exchange->core->call.method->stream == METHOD_CLIENT_STREAM;
    void *reply = exchange_read(exchange, fixture_reply_of(exchange->core->call.method));
    Errata__V1__Document *document = NULL;

    assert_non_null(reply);
    document = streamed ? ((Errata__V1__IngestDocumentStreamResponse *)reply)->document
                        : ((Errata__V1__IngestDocumentResponse *)reply)->document;
    assert_non_null(document);
    return document;
}

enum status_code ingest(struct fixture *fixture, const struct exchange_start *start,
                        const char *document_id, struct slice content,
                        Errata__V1__Document **ret_document)
{
    struct exchange exchange;
    size_t half = content.size / 2;

    exchange_open(&exchange, fixture, start);
    if (exchange.core->call.method->stream != METHOD_CLIENT_STREAM) {
        ingest_send(&exchange, document_id, content);
    } else {
        ingest_send_part(&exchange, document_id, slice_of(content.data, half));
        ingest_send_part(&exchange, NULL, slice_after(content, half));
        exchange_send_end(&exchange);
    }
    fixture_run(fixture);
    assert_true(exchange.ended);
    if (exchange.code == STATUS_OK && ret_document != NULL) {
        *ret_document = ingest_read(&exchange);
    }
    exchange_close(&exchange);
    return exchange.code;
}

size_t ingest_count(struct fixture *fixture)
{
    Errata__V1__ListEventsRequest request = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;
    Errata__V1__ListEventsResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.EventService/ListEvents",
                                         .authorization = fixture->admin};

    request.page_size = 1000;
    request.kind = ERRATA__V1__EVENT_KIND__EVENT_KIND_DOCUMENT_INGESTED;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->n_events;
}
