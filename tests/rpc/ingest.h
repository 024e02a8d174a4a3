/*
 * ingest.h: documents that are sent to a fixture, whole or in pieces, for the tests that send them.
 */
#ifndef ERRATA_TESTS_RPC_INGEST_H
#define ERRATA_TESTS_RPC_INGEST_H

#include "tests/rpc/fixture.h"

#define INGEST_UNARY "errata.v1.LayoutService/IngestDocument"
#define INGEST_STREAM "errata.v1.LayoutService/IngestDocumentStream"

/* Starts a call of one of the two methods, as the administrator. */
void ingest_open(struct exchange *exchange, struct fixture *fixture, const char *path);
/* The whole request of a unary call. */
void ingest_send(struct exchange *exchange, const char *document_id, struct slice content);
/* A message of a streamed request; a NULL `document_id` is omitted. */
void ingest_send_part(struct exchange *exchange, const char *document_id, struct slice content);
/* Makes a complete call of either method: unary, or in two pieces. Returns its code, and the
 * reply's document. */
enum status_code ingest(struct fixture *fixture, const struct exchange_start *start,
                        const char *document_id, struct slice content,
                        Errata__V1__Document **ret_document);
/* Returns the document of an exchange that ended with OK. */
Errata__V1__Document *ingest_read(struct exchange *exchange);
/* Returns the number of documents in the default organisation's log. */
size_t ingest_count(struct fixture *fixture);

#endif
