/*
 * secure.c: see secure.h.
 */
#include "client/secure.h"

#include "server/tls/stream/tls_context.h"
#include "server/tls/stream/tls_stream.h"

#include <stdio.h>
#include <stdlib.h>

/* Plain output of one step: with what TLS adds, it fits into CLIENT_SECURE_BYTES_MIN. */
#define PLAIN_BYTES (CLIENT_SECURE_BYTES_MIN - 4 * TLS_OVERHEAD_BYTES_MAX)

_Static_assert(PLAIN_BYTES >= TLS_RECORD_BYTES_MAX, "a record that was received fits");

struct client_secure {
    struct tls_stream *stream; /* owned */
    struct client_session *session;
    bool begun; /* the handshake has begun */
    bool shaken; /* the handshake is complete */
    char reason[TLS_REASON_BYTES + 32];
    uint8_t plain[PLAIN_BYTES]; /* work of one step */
};

enum err client_secure_new(struct tls_context *context, const char *host,
                           struct client_session *session, struct client_secure **ret_secure)
{
    struct client_secure *secure = calloc(1, sizeof(*secure));
    enum err err = ERR_MEMORY;

    if (secure != NULL) {
        err = tls_stream_new(context, host, &secure->stream);
    }
    if (err != OK) {
        free(secure);
        return err;
    }
    secure->session = session;
    *ret_secure = secure;
    return OK;
}

void client_secure_free(struct client_secure *secure)
{
    if (secure == NULL) {
        return;
    }
    tls_stream_free(secure->stream);
    free(secure);
}

static enum err secure_fail(struct client_secure *secure, const char *why)
{
    (void)snprintf(secure->reason, sizeof(secure->reason), "TLS: %s", why);
    return ERR_UNAUTHENTICATED;
}

static enum err secure_shake(struct client_secure *secure)
{
    switch (tls_stream_shake(secure->stream)) {
    case TLS_STEP_DONE:
        secure->shaken = true;
        return slice_equal(tls_stream_protocol(secure->stream), SLICE("h2"))
                   ? OK
                   : secure_fail(secure, "the server does not offer HTTP/2");
    case TLS_STEP_MORE:
        return OK;
    case TLS_STEP_ENDED:
        return secure_fail(secure, "the server ended the handshake");
    case TLS_STEP_FAILED:
        break;
    }
    return secure_fail(secure, tls_stream_reason(secure->stream));
}

/* Decrypts a record, and feeds the session. */
static enum err secure_read(struct client_secure *secure)
{
    size_t size = 0;
    enum err err = OK;

    switch (tls_stream_peek(secure->stream, secure->plain, TLS_RECORD_BYTES_MAX, &size)) {
    case TLS_STEP_DONE:
        err = client_session_feed(secure->session, slice_of(secure->plain, size));
        tls_stream_take(secure->stream, secure->plain, size);
        return err;
    case TLS_STEP_MORE:
    case TLS_STEP_ENDED: /* the socket ends, too */
        return OK;
    case TLS_STEP_FAILED:
        break;
    }
    return secure_fail(secure, tls_stream_reason(secure->stream));
}

enum err client_secure_feed(struct client_secure *secure, struct slice bytes)
{
    enum err err = OK;

    while (err == OK && bytes.size > 0) {
        bytes = slice_after(bytes, tls_stream_lend(secure->stream, bytes));
        err = secure->shaken ? secure_read(secure) : secure_shake(secure);
    }
    return err;
}

size_t client_secure_drain(struct client_secure *secure, uint8_t *to, size_t capacity)
{
    size_t size = 0;

    if (!secure->begun) {
        secure->begun = true;
        (void)secure_shake(secure); /* a failure is found by the next step */
    }
    size = tls_stream_drain(secure->stream, to, capacity);
    if (size > 0 || !secure->shaken) {
        return size;
    }
    size = client_session_drain(secure->session, secure->plain, sizeof(secure->plain));
    return tls_stream_write(secure->stream, slice_of(secure->plain, size), to, capacity);
}

void client_secure_end(struct client_secure *secure)
{
    tls_stream_end(secure->stream);
}

const char *client_secure_reason(const struct client_secure *secure)
{
    return secure->reason;
}
