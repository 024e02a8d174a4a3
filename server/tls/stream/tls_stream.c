/*
 * tls_stream.c: see tls_stream.h. OpenSSL reads and writes through a BIO of our own: it reads from the
 * bytes that were lent, and writes to the buffer of tls_stream_write or, in a handshake, to memory
 * that waits to be drained. One record is lent at a time, so that a step never processes more than
 * one.
 */
#include "server/tls/stream/tls_stream.h"

#include "server/tls/stream/tls_context_internal.h"
#include "server/tls/stream/tls_stream_internal.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

#define WAITING_BYTES_FIRST ((size_t)4096)
/* Distinguishes our BIO from others of one chain. OpenSSL can give out only some hundred numbers, and each
 * context would need one. */
#define BIO_NUMBER 100

static bool stream_reserve(struct tls_stream *stream, size_t more)
{
    size_t needed = stream->waiting_bytes + more;
    size_t capacity = stream->waiting_capacity > 0 ? stream->waiting_capacity : WAITING_BYTES_FIRST;
    uint8_t *larger = NULL;

    if (needed <= stream->waiting_capacity) {
        return true;
    }
    if (needed > TLS_WAITING_BYTES_MAX) {
        return false;
    }
    while (capacity < needed) {
        capacity *= 2;
    }
    larger = FAULT("tls.output") ? NULL : realloc(stream->waiting, capacity);
    if (larger == NULL) {
        return false;
    }
    stream->waiting = larger;
    stream->waiting_capacity = capacity;
    return true;
}

static int bio_write(BIO *bio, const char *bytes, int size)
{
    struct tls_stream *stream = BIO_get_data(bio);
    size_t count = (size_t)size;

    if (stream->to != NULL && stream->to_bytes >= count) {
        memcpy(stream->to, bytes, count);
        stream->to += count;
        stream->to_bytes -= count;
        return size;
    }
    if (!stream_reserve(stream, count)) {
        return -1;
    }
    stream->to_bytes = 0; /* later output must not overtake it */
    memcpy(stream->waiting + stream->waiting_bytes, bytes, count);
    stream->waiting_bytes += count;
    return size;
}

static int bio_read(BIO *bio, char *to, int size)
{
    struct tls_stream *stream = BIO_get_data(bio);
    size_t count = stream->input.size < (size_t)size ? stream->input.size : (size_t)size;

    BIO_clear_retry_flags(bio);
    if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(to, stream->input.data, count);
    stream->input = slice_after(stream->input, count);
    return (int)count;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0; /* everything else does not apply to memory */
}

enum err tls_bio_method_new(struct bio_method_st **ret_method)
{
    BIO_METHOD *method = BIO_meth_new(BIO_NUMBER | BIO_TYPE_SOURCE_SINK, "errata");

    if (method == NULL || BIO_meth_set_write(method, bio_write) != 1 ||
        BIO_meth_set_read(method, bio_read) != 1 || BIO_meth_set_ctrl(method, bio_control) != 1) {
        BIO_meth_free(method);
        return ERR_MEMORY;
    }
    *ret_method = method;
    return OK;
}

static enum err stream_connect_bio(struct tls_stream *stream, const struct tls_context *context)
{
    BIO *bio = BIO_new(context->bio_method);

    if (bio == NULL) {
        return ERR_MEMORY;
    }
    BIO_set_data(bio, stream);
    BIO_set_init(bio, 1);
    SSL_set_bio(stream->ssl, bio, bio);
    return OK;
}

/* Makes the certificate's name or address a condition of the handshake, and names the host to the server. */
static bool stream_expect_host(struct tls_stream *stream, const char *host)
{
    X509_VERIFY_PARAM *conditions = SSL_get0_param(stream->ssl);

    if (X509_VERIFY_PARAM_set1_ip_asc(conditions, host) == 1) {
        return true;
    }
    X509_VERIFY_PARAM_set_hostflags(conditions, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(conditions, host, 0) == 1 &&
           SSL_set_tlsext_host_name(stream->ssl, host) == 1;
}

enum err tls_stream_new(struct tls_context *context, const char *host,
                        struct tls_stream **ret_stream)
{
    struct tls_stream *stream = FAULT("tls.stream") ? NULL : calloc(1, sizeof(*stream));

    if (stream == NULL) {
        return ERR_MEMORY;
    }
    ERR_clear_error();
    stream->context = tls_context_ref(context);
    stream->ssl = SSL_new(context->ssl);
    if (stream->ssl == NULL || stream_connect_bio(stream, context) != OK) {
        tls_stream_free(stream);
        return ERR_MEMORY;
    }
    if (host == NULL) {
        SSL_set_accept_state(stream->ssl);
    } else {
        SSL_set_connect_state(stream->ssl);
        if (!stream_expect_host(stream, host)) {
            tls_stream_free(stream);
            return ERR_MEMORY;
        }
    }
    *ret_stream = stream;
    return OK;
}

void tls_stream_free(struct tls_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    SSL_free(stream->ssl);
    tls_context_unref(stream->context);
    free(stream->waiting);
    free(stream);
}

size_t tls_stream_lend(struct tls_stream *stream, struct slice bytes)
{
    size_t size = 0;
    size_t step = 0;

    ASSERT(!tls_stream_holds_input(stream));
    if (stream->record_ended) {
        stream->record_ended = false;
        stream->head_bytes = 0;
    }
    while (stream->head_bytes < TLS_HEAD_BYTES && size < bytes.size) {
        stream->head[stream->head_bytes++] = bytes.data[size++];
        stream->body_left = (size_t)stream->head[3] << 8 | stream->head[4];
    }
    if (stream->head_bytes == TLS_HEAD_BYTES) {
        step = bytes.size - size < stream->body_left ? bytes.size - size : stream->body_left;
        size += step;
        stream->body_left -= step;
        stream->record_ended = stream->body_left == 0;
    }
    stream->input = slice_of(bytes.data, size);
    return size;
}

bool tls_stream_record_ended(const struct tls_stream *stream)
{
    return stream->record_ended;
}

/* Keeps the first reason: OpenSSL's, or that of the certificate's verification. */
static void stream_fail(struct tls_stream *stream)
{
    unsigned long code = ERR_peek_error();
    long verified = SSL_get_verify_result(stream->ssl);
    const char *text = code != 0 ? ERR_reason_error_string(code) : NULL;

    stream->failed = true;
    if (verified != X509_V_OK) {
        text = X509_verify_cert_error_string(verified);
    }
    (void)snprintf(stream->reason, sizeof(stream->reason), "%s",
                   text != NULL ? text : "the peer broke the TLS protocol");
    ERR_clear_error();
}

/* Translates OpenSSL's result of a step. */
static enum tls_step stream_step_of(struct tls_stream *stream, int result)
{
    int code = SSL_get_error(stream->ssl, result);

    stream->input = (struct slice){NULL, 0}; /* no longer lent */
    switch (code) {
    case SSL_ERROR_NONE:
        return TLS_STEP_DONE;
    case SSL_ERROR_WANT_READ:
        return TLS_STEP_MORE;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_STEP_ENDED;
    default: /* OpenSSL has more codes, all of which are failures here */
        stream_fail(stream);
        return TLS_STEP_FAILED;
    }
}

enum tls_step tls_stream_shake(struct tls_stream *stream)
{
    enum tls_step step = TLS_STEP_FAILED;

    if (stream->failed) {
        return TLS_STEP_FAILED;
    }
    ERR_clear_error();
    step = stream_step_of(stream, SSL_do_handshake(stream->ssl));
    stream->shaken = step == TLS_STEP_DONE;
    return step;
}

enum tls_step tls_stream_peek(struct tls_stream *stream, uint8_t *to, size_t size, size_t *ret_size)
{
    enum tls_step step = TLS_STEP_FAILED;
    size_t peeked = 0;

    if (stream->failed) {
        return TLS_STEP_FAILED;
    }
    ERR_clear_error();
    step = stream_step_of(stream, SSL_peek_ex(stream->ssl, to, size, &peeked));
    if (step == TLS_STEP_DONE) {
        *ret_size = peeked;
    }
    return step;
}

void tls_stream_take(struct tls_stream *stream, uint8_t *scratch, size_t size)
{
    size_t taken = 0;

    ERR_clear_error();
    /* The bytes are there, so this neither waits nor fails. */
    ASSERT(SSL_read_ex(stream->ssl, scratch, size, &taken) == 1);
    ASSERT(taken == size);
}

bool tls_stream_holds_input(const struct tls_stream *stream)
{
    return !stream->failed && stream->shaken && SSL_pending(stream->ssl) > 0;
}

size_t tls_stream_write(struct tls_stream *stream, struct slice plain, uint8_t *to, size_t size)
{
    size_t written = 0;

    if (stream->failed || stream->ended || plain.size == 0) {
        return 0;
    }
    ASSERT(!tls_stream_has_output(stream));
    stream->to = to;
    stream->to_bytes = size;
    ERR_clear_error();
    if (SSL_write_ex(stream->ssl, plain.data, plain.size, &written) != 1) {
        stream_fail(stream);
    }
    written = (size_t)(stream->to - to);
    stream->to = NULL;
    stream->to_bytes = 0;
    return written;
}

void tls_stream_end(struct tls_stream *stream)
{
    if (stream->failed || stream->ended || !stream->shaken) {
        return;
    }
    stream->ended = true;
    ERR_clear_error();
    if (SSL_shutdown(stream->ssl) < 0) {
        stream_fail(stream);
    }
}

size_t tls_stream_drain(struct tls_stream *stream, uint8_t *to, size_t size)
{
    size_t waiting = stream->waiting_bytes - stream->waiting_taken;
    size_t step = waiting < size ? waiting : size;

    if (step == 0) {
        return 0;
    }
    memcpy(to, stream->waiting + stream->waiting_taken, step);
    stream->waiting_taken += step;
    if (stream->waiting_taken == stream->waiting_bytes) {
        free(stream->waiting);
        stream->waiting = NULL;
        stream->waiting_bytes = 0;
        stream->waiting_taken = 0;
        stream->waiting_capacity = 0;
    }
    return step;
}

bool tls_stream_has_output(const struct tls_stream *stream)
{
    return stream->waiting_bytes > stream->waiting_taken;
}

struct slice tls_stream_protocol(const struct tls_stream *stream)
{
    const unsigned char *name = NULL;
    unsigned size = 0;

    SSL_get0_alpn_selected(stream->ssl, &name, &size);
    return slice_of(name, size);
}

bool tls_stream_resumed(const struct tls_stream *stream)
{
    return SSL_session_reused(stream->ssl) == 1;
}

const char *tls_stream_reason(const struct tls_stream *stream)
{
    return stream->reason;
}
