/*
 * tls_context_internal.h: fields of a context; private to server/tls/stream.
 */
#ifndef ERRATA_SERVER_TLS_STREAM_TLS_CONTEXT_INTERNAL_H
#define ERRATA_SERVER_TLS_STREAM_TLS_CONTEXT_INTERNAL_H

#include "server/tls/stream/tls_context.h"

#include <stdatomic.h>

struct ssl_ctx_st;
struct bio_method_st;

struct tls_context {
    atomic_uint owners; /* number of owners: the creator, and those of tls_context_ref */
    struct ssl_ctx_st *ssl;
    struct bio_method_st *bio_method;
    int64_t expires_at_s; /* expiry of the certificate; INT64_MAX: there is no certificate */
};

/* tls_stream.c */
/* Makes the table of functions through which OpenSSL reads and writes a stream. */
MUST_CHECK enum err tls_bio_method_new(struct bio_method_st **ret_method);

#endif
