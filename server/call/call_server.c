/*
 * call_server.c: the state that all calls share: creation, periodic checks, freeing.
 */
#include "server/call/call_internal.h"
#include "store/base/assert.h"

#include <stdlib.h>

struct call_config call_config_default(const struct call_handlers *handlers)
{
    return (struct call_config){
        .handlers = handlers,
        .find_method = contract_find_method,
        .message_bytes_max = CALL_MESSAGE_BYTES_MAX,
        .arena_bytes_max = CALL_ARENA_BYTES_MAX,
        .body_bytes_max = CALL_BODY_BYTES_MAX,
        .live_max = CALL_LIVE_MAX,
        .sends_reasons = true,
    };
}

enum err call_server_new(const struct call_config *config, int64_t now_us,
                         struct call_server **ret_server)
{
    struct call_server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        return ERR_MEMORY;
    }
    server->config = *config;
    server->now_us = now_us;
    server->wheel_us = now_us;
    *ret_server = server;
    return OK;
}

void call_server_tick(struct call_server *server, int64_t now_us)
{
    server->now_us = now_us;
    call_server_turn_wheel(server, now_us);
    call_server_check_bodies(server, now_us);
}

struct call_stats call_server_stats(const struct call_server *server)
{
    struct call_stats stats = server->stats;

    stats.body_bytes_live = server->body_bytes;
    stats.output_bytes_live = server->output_bytes;
    return stats;
}

void call_server_free(struct call_server *server)
{
    if (server == NULL) {
        return;
    }
    ASSERT(server->live == NULL);
    ASSERT(server->stats.calls_live == 0);
    ASSERT(server->body_bytes == 0);
    ASSERT(server->output_bytes == 0);
    while (server->pool != NULL) {
        struct call_core *core = server->pool;

        server->pool = core->next;
        call_free_memory(core);
    }
    ASSERT(server->inflations.first == NULL);
    ASSERT(server->inflations.running == 0);
    ASSERT(server->inflations.packed_bytes == 0);
    gzip_inflater_free(server->inflations.inflater);
    free(server);
}
