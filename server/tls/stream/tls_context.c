/*
 * tls_context.c: see tls_context.h. Settings of the system's openssl.cnf apply first; mandatory
 * ones are set after them.
 */
#include "server/tls/stream/tls_context.h"

#include "server/tls/stream/tls_context_internal.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <unistd.h>

/* TLS 1.2 only; TLS 1.3 has ciphers of this kind only. */
static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
/* Without finite fields and P-521, which cost milliseconds of a server's time. */
static const char groups[] = "X25519:P-256:P-384";
/* Names and their lengths, as ALPN sends them (RFC 7301, 3.1); the first is preferred. */
static const unsigned char server_protocols[] = "\2h2\10http/1.1";
static const unsigned char client_protocols[] = "\2h2";
#define PROTOCOLS_BYTES(list) ((unsigned)sizeof(list) - 1)

static bool is_given(const char *path)
{
    return path != NULL && path[0] != '\0';
}

/* Explains why OpenSSL refused a file. */
static enum err refuse_file(struct fault *fault, const char *path, const char *expected)
{
    unsigned long code = ERR_peek_error();
    const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;

    ERR_clear_error();
    return fault_say(fault, ERR_INVALID, "%s: %s; expected %s", path,
                     reason != NULL ? reason : "invalid", expected);
}

/* Checks that a file can be opened, since OpenSSL's reasons for that are unclear. */
static enum err check_readable(struct fault *fault, const char *path)
{
    if (access(path, R_OK) != 0) {
        return fault_say(fault, ERR_INVALID, "%s: cannot be read: %m; expected a PEM file", path);
    }
    return OK;
}

/* Encrypted keys are refused, since no one can enter a password. */
static int refuse_password(char *to, int size, int for_writing, void *user)
{
    (void)to;
    (void)size;
    (void)for_writing;
    (void)user;
    return 0;
}

/* Prefers the server's order. A client that offers only other protocols is refused (RFC 7301, 3.2). */
static int choose_protocol(SSL *ssl, const unsigned char **ret_name, unsigned char *ret_size,
                           const unsigned char *offered, unsigned offered_bytes, void *user)
{
    unsigned char *name = NULL;

    (void)ssl;
    (void)user;
    if (SSL_select_next_proto(&name, ret_size, server_protocols, PROTOCOLS_BYTES(server_protocols),
                              offered, offered_bytes) != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *ret_name = name;
    return SSL_TLSEXT_ERR_OK;
}

static bool set_rules(SSL_CTX *ssl)
{
    (void)SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    (void)SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                       SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_security_level(ssl, 2);
    SSL_CTX_set_default_passwd_cb(ssl, refuse_password);
    return SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(ssl, 0) == 1 &&
           SSL_CTX_set_cipher_list(ssl, ciphers) == 1 && SSL_CTX_set1_groups_list(ssl, groups) == 1;
}

static enum err context_new(const SSL_METHOD *method, struct tls_context **ret_context)
{
    struct tls_context *context = FAULT("tls.context") ? NULL : calloc(1, sizeof(*context));
    enum err err = ERR_MEMORY;

    if (context == NULL) {
        return ERR_MEMORY;
    }
    ERR_clear_error();
    atomic_init(&context->owners, 1);
    context->expires_at_s = INT64_MAX;
    context->ssl = SSL_CTX_new(method);
    if (context->ssl != NULL && set_rules(context->ssl)) {
        err = tls_bio_method_new(&context->bio_method);
    }
    if (err != OK) {
        tls_context_unref(context);
        return err;
    }
    *ret_context = context;
    return OK;
}

static int64_t expiry_of(SSL_CTX *ssl)
{
    const X509 *certificate = SSL_CTX_get0_certificate(ssl);
    ASN1_TIME *start = ASN1_TIME_set(NULL, 0);
    int days = 0;
    int seconds = 0;
    bool known = certificate != NULL && start != NULL &&
                 ASN1_TIME_diff(&days, &seconds, start, X509_get0_notAfter(certificate)) == 1;

    ASN1_TIME_free(start);
    return known ? (int64_t)days * 86400 + seconds : INT64_MAX;
}

static enum err read_identity(struct tls_context *context, const struct tls_files *files,
                              struct fault *fault)
{
    enum err err = check_readable(fault, files->cert);

    if (err == OK) {
        err = check_readable(fault, files->key);
    }
    if (err != OK) {
        return err;
    }
    if (SSL_CTX_use_certificate_chain_file(context->ssl, files->cert) != 1) {
        return refuse_file(fault, files->cert, "a certificate in PEM, then its intermediate ones");
    }
    if (SSL_CTX_use_PrivateKey_file(context->ssl, files->key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context->ssl) != 1) {
        return refuse_file(fault, files->key,
                           "the certificate's private key in PEM, not encrypted");
    }
    context->expires_at_s = expiry_of(context->ssl);
    return OK;
}

static enum err read_authorities(struct tls_context *context, const char *path, struct fault *fault)
{
    enum err err = check_readable(fault, path);

    if (err != OK) {
        return err;
    }
    if (SSL_CTX_load_verify_file(context->ssl, path) != 1) {
        return refuse_file(fault, path, "certificates of authorities in PEM");
    }
    return OK;
}

/* Requires certificates of clients, and names the authorities to them. */
static enum err require_clients(struct tls_context *context, const char *path, struct fault *fault)
{
    static const unsigned char sessions[] = "errata";
    enum err err = read_authorities(context, path, fault);
    STACK_OF(X509_NAME) *names = err == OK ? SSL_load_client_CA_file(path) : NULL;

    if (err != OK) {
        return err;
    }
    if (names == NULL) {
        return refuse_file(fault, path, "certificates of authorities in PEM");
    }
    SSL_CTX_set_client_CA_list(context->ssl, names);
    SSL_CTX_set_verify(context->ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    /* Without it sessions with certificates cannot be resumed. */
    return SSL_CTX_set_session_id_context(context->ssl, sessions, sizeof(sessions) - 1) == 1
               ? OK
               : ERR_MEMORY;
}

enum err tls_context_new_server(const struct tls_files *files, struct fault *fault,
                                struct tls_context **ret_context)
{
    struct tls_context *context = NULL;
    enum err err = context_new(TLS_server_method(), &context);

    if (err != OK) {
        return err;
    }
    SSL_CTX_set_alpn_select_cb(context->ssl, choose_protocol, NULL);
    /* Sessions are resumed by tickets, which the clients keep: the server stores none. */
    (void)SSL_CTX_set_session_cache_mode(context->ssl, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_timeout(context->ssl, TLS_SESSION_S);
    err = SSL_CTX_set_num_tickets(context->ssl, 1) == 1 ? read_identity(context, files, fault)
                                                        : ERR_MEMORY;
    if (err == OK && is_given(files->ca)) {
        err = require_clients(context, files->ca, fault);
    }
    if (err != OK) {
        tls_context_unref(context);
        return err;
    }
    *ret_context = context;
    return OK;
}

enum err tls_context_new_client(const struct tls_files *files, struct fault *fault,
                                struct tls_context **ret_context)
{
    struct tls_context *context = NULL;
    enum err err = context_new(TLS_client_method(), &context);

    if (err != OK) {
        return err;
    }
    SSL_CTX_set_verify(context->ssl, SSL_VERIFY_PEER, NULL);
    if (SSL_CTX_set_alpn_protos(context->ssl, client_protocols,
                                PROTOCOLS_BYTES(client_protocols)) != 0) {
        err = ERR_MEMORY;
    } else if (is_given(files->ca)) {
        err = read_authorities(context, files->ca, fault);
    } else if (SSL_CTX_set_default_verify_paths(context->ssl) != 1) {
        err = ERR_MEMORY;
    }
    if (err == OK && is_given(files->cert)) {
        err = read_identity(context, files, fault);
    }
    if (err != OK) {
        tls_context_unref(context);
        return err;
    }
    *ret_context = context;
    return OK;
}

struct tls_context *tls_context_ref(struct tls_context *context)
{
    (void)atomic_fetch_add(&context->owners, 1);
    return context;
}

void tls_context_unref(struct tls_context *context)
{
    if (context == NULL) {
        return;
    }
    ASSERT(atomic_load(&context->owners) > 0);
    if (atomic_fetch_sub(&context->owners, 1) > 1) {
        return;
    }
    SSL_CTX_free(context->ssl);
    BIO_meth_free(context->bio_method);
    free(context);
}

int64_t tls_context_expires_at_s(const struct tls_context *context)
{
    return context->expires_at_s;
}
