/*
 * tls_stream_internal.h: fields of a stream; private to server/tls/stream.
 */
#ifndef ERRATA_SERVER_TLS_STREAM_TLS_STREAM_INTERNAL_H
#define ERRATA_SERVER_TLS_STREAM_TLS_STREAM_INTERNAL_H

#include "server/tls/stream/tls_stream.h"

/* Type, version and length of a record. */
#define TLS_HEAD_BYTES 5

struct ssl_st;

struct tls_stream {
    struct tls_context *context; /* co-owned: contains the functions of the BIO */
    struct ssl_st *ssl;
    struct slice input; /* lent bytes that were not read yet */
    uint8_t head[TLS_HEAD_BYTES]; /* head of the present record, as far as it was lent */
    size_t head_bytes;
    size_t body_left; /* bytes of the record's body that were not lent yet */
    bool record_ended;
    uint8_t *to; /* destination of output; NULL: `waiting` */
    size_t to_bytes; /* remaining room there */
    uint8_t *waiting; /* owned: output that waits; NULL: none */
    size_t waiting_bytes;
    size_t waiting_taken; /* bytes of it that were drained */
    size_t waiting_capacity;
    bool shaken; /* the handshake is complete */
    bool ended; /* close_notify was added to the output */
    bool failed;
    char reason[TLS_REASON_BYTES];
};

#endif
