/*
 * tls_server.c: the state shared by the TLS connections of a server. See tls.h.
 */
#include "server/tls/tls_internal.h"
#include "store/base/fault_point.h"

#include <stdlib.h>

enum err tls_server_new(const struct tls_protocol *protocols, size_t protocol_count,
                        struct tls_context *take_context, struct tls_server **ret_server)
{
    struct tls_server *server = NULL;

    if (protocol_count > TLS_PROTOCOLS_MAX) {
        return ERR_INVALID;
    }
    server = FAULT("tls.server") ? NULL : calloc(1, sizeof(*server));
    if (server == NULL) {
        return ERR_MEMORY;
    }
    memcpy(server->protocols, protocols, protocol_count * sizeof(protocols[0]));
    server->protocol_count = protocol_count;
    server->context = take_context;
    server->stats.certificate_expires_at_s = tls_context_expires_at_s(take_context);
    *ret_server = server;
    return OK;
}

struct net_protocol tls_server_protocol(struct tls_server *server)
{
    return tls_session_table(server);
}

void tls_server_replace_context(struct tls_server *server, struct tls_context *take_context)
{
    tls_context_unref(server->context);
    server->context = take_context;
    server->stats.certificate_expires_at_s = tls_context_expires_at_s(take_context);
}

const struct tls_stats *tls_server_stats(const struct tls_server *server)
{
    return &server->stats;
}

void tls_server_free(struct tls_server *server)
{
    if (server == NULL) {
        return;
    }
    tls_context_unref(server->context);
    free(server);
}
