/*
 * tls_context.h: the settings shared by the TLS connections of a server, or of a client: certificate,
 * key, trusted authorities, versions and ciphers. TLS 1.3 is preferred; TLS 1.2 only with ephemeral keys
 * and AEAD ciphers (RFC 9325, 4.2), which is also what HTTP/2 permits. No renegotiation, no compression.
 */
#ifndef ERRATA_SERVER_TLS_STREAM_TLS_CONTEXT_H
#define ERRATA_SERVER_TLS_STREAM_TLS_CONTEXT_H

#include "store/base/fault.h"

/* Time for which a session may be resumed without a new exchange of certificates. */
#define TLS_SESSION_S 7200

struct tls_context;

/* Paths of PEM files; NULL or empty: none. */
struct tls_files {
    const char *cert; /* the certificate, followed by its intermediate ones */
    const char *key; /* its private key, not encrypted */
    const char *ca; /* authorities whose certificates are accepted */
};

/* Reads the files of a server: `cert` and `key` are required; with `ca` each client must have a
 * certificate of one of these authorities. ERR_INVALID if a file is missing or invalid, or the key is
 * of another certificate; ERR_MEMORY. `fault` names the file and the reason. */
MUST_CHECK enum err tls_context_new_server(const struct tls_files *files, struct fault *fault,
                                           struct tls_context **ret_context);
/* Reads the files of a client, which negotiates `h2`: without `ca` the system's authorities are
 * trusted. Errors as above. */
MUST_CHECK enum err tls_context_new_client(const struct tls_files *files, struct fault *fault,
                                           struct tls_context **ret_context);
/* Adds an owner: connections outlive the replacement of their context. Owners may be in several threads. */
struct tls_context *tls_context_ref(struct tls_context *context);
/* Removes an owner; the last one frees it. Accepts NULL. */
void tls_context_unref(struct tls_context *context);
/* Returns when the certificate expires, in seconds since 1970; INT64_MAX without a certificate. */
int64_t tls_context_expires_at_s(const struct tls_context *context);

#endif
