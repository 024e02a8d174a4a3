/*
 * conformance_tables.h: the messages of the conformance suite as tables of the codec, for calls in JSON.
 */
#ifndef ERRATA_TESTS_SUITES_CONFORMANCE_TABLES_H
#define ERRATA_TESTS_SUITES_CONFORMANCE_TABLES_H

#include "server/codec/contract.h"

/* connectrpc/conformance/v1/service.proto. The five requests differ only in their names and in one field. */
extern const struct message_info conformance_unary_request;
extern const struct message_info conformance_idempotent_request;
extern const struct message_info conformance_server_stream_request;
extern const struct message_info conformance_client_stream_request;
extern const struct message_info conformance_bidi_request;
/* The reply of every method: they differ only in their names, which JSON does not have. */
extern const struct message_info conformance_response;

#endif
