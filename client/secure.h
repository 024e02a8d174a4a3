/*
 * secure.h: TLS of one connection, between its socket and its session: received bytes are decrypted for the
 * session, and its output is encrypted. The server's certificate must have the host's name or address, and its
 * protocol must be HTTP/2.
 */
#ifndef ERRATA_CLIENT_SECURE_H
#define ERRATA_CLIENT_SECURE_H

#include "client/session.h"

struct client_secure;
struct tls_context;

/* Borrows the session, which must outlive it. ERR_MEMORY. */
MUST_CHECK enum err client_secure_new(struct tls_context *context, const char *host,
                                      struct client_session *session,
                                      struct client_secure **ret_secure);
/* Accepts NULL. */
void client_secure_free(struct client_secure *secure);
/* Takes bytes from the server. ERR_UNAUTHENTICATED if the handshake or the connection failed
 * (client_secure_reason); else the errors of client_session_feed. */
MUST_CHECK enum err client_secure_feed(struct client_secure *secure, struct slice bytes);
/* Writes the output, at most `capacity` bytes (at least CLIENT_SECURE_BYTES_MIN); returns its size, 0 if there
 * is none. */
#define CLIENT_SECURE_BYTES_MIN ((size_t)32 * 1024)
MUST_CHECK size_t client_secure_drain(struct client_secure *secure, uint8_t *to, size_t capacity);
/* Adds the end of this side to the output. */
void client_secure_end(struct client_secure *secure);
/* Returns why it failed; valid as long as the object. */
const char *client_secure_reason(const struct client_secure *secure);

#endif
