/*
 * tls_stream.h: TLS of one connection, by OpenSSL, over memory: received bytes are lent to it, and
 * its output is taken from it. It uses no sockets, no clock and no HTTP; servers and clients both
 * use it. Received bytes are read where they are, so an idle connection holds no buffer.
 */
#ifndef ERRATA_SERVER_TLS_STREAM_TLS_STREAM_H
#define ERRATA_SERVER_TLS_STREAM_TLS_STREAM_H

#include "store/base/err.h"
#include "store/base/slice.h"

/* Maximum plain bytes of one record (RFC 8446, 5.1), and of one step. */
#define TLS_RECORD_BYTES_MAX ((size_t)16 * 1024)
/* Maximum bytes that a record adds to its plain bytes, rounded up: TLS 1.3 adds 22, TLS 1.2 29. */
#define TLS_OVERHEAD_BYTES_MAX ((size_t)64)
/* Limit of output that waits to be drained: certificates and tickets of a handshake, and alerts. */
#define TLS_WAITING_BYTES_MAX ((size_t)256 * 1024)
#define TLS_REASON_BYTES 160

struct tls_context;
struct tls_stream;

enum tls_step {
    TLS_STEP_DONE, /* the handshake is complete, or there are plain bytes */
    TLS_STEP_MORE, /* more received bytes are needed */
    TLS_STEP_ENDED, /* the peer has ended its side with close_notify */
    TLS_STEP_FAILED /* final: only the alert is still drained (tls_stream_reason) */
};

/* Uses a context of its side. A client passes the name or address that the server's certificate must
 * have; a server passes NULL, and answers handshakes. ERR_MEMORY. */
MUST_CHECK enum err tls_stream_new(struct tls_context *context, const char *host,
                                   struct tls_stream **ret_stream);
/* Accepts NULL. */
void tls_stream_free(struct tls_stream *stream);

/* Lends the front of received bytes, at most to the end of the record that they begin or continue,
 * and returns how many bytes that is. The next step reads them; they must exist until it returns.
 * Must not be called while tls_stream_holds_input. */
MUST_CHECK size_t tls_stream_lend(struct tls_stream *stream, struct slice bytes);
/* Returns whether the bytes lent last completed a record. */
bool tls_stream_record_ended(const struct tls_stream *stream);
/* Continues the handshake. A client calls it once before any bytes are lent. */
MUST_CHECK enum tls_step tls_stream_shake(struct tls_stream *stream);
/* Copies plain bytes of the record, at most `size`, without taking them. Call after the handshake. */
MUST_CHECK enum tls_step tls_stream_peek(struct tls_stream *stream, uint8_t *to, size_t size,
                                         size_t *ret_size);
/* Takes plain bytes that were peeked at: `scratch` has room for `size`, and its content is lost. */
void tls_stream_take(struct tls_stream *stream, uint8_t *scratch, size_t size);
/* Returns whether plain bytes are left to be taken. */
bool tls_stream_holds_input(const struct tls_stream *stream);

/* Encrypts plain bytes to `to`, which has room for them and TLS_OVERHEAD_BYTES_MAX for each record;
 * returns how many bytes it wrote. Drain waiting output before. 0 if it failed. */
MUST_CHECK size_t tls_stream_write(struct tls_stream *stream, struct slice plain, uint8_t *to,
                                   size_t size);
/* Adds close_notify to the output. May be called twice. */
void tls_stream_end(struct tls_stream *stream);
/* Copies waiting output, at most `size` bytes; returns their number. */
MUST_CHECK size_t tls_stream_drain(struct tls_stream *stream, uint8_t *to, size_t size);
bool tls_stream_has_output(const struct tls_stream *stream);

/* Returns the protocol that was negotiated by ALPN, such as `h2`; empty: none. Valid as long as the stream. */
struct slice tls_stream_protocol(const struct tls_stream *stream);
/* Returns whether the handshake continued an earlier session. */
bool tls_stream_resumed(const struct tls_stream *stream);
/* Returns the reason of a failure, for people; valid as long as the stream. */
const char *tls_stream_reason(const struct tls_stream *stream);

#endif
