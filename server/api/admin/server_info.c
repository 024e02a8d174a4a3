/*
 * server_info.c: AdminService/GetServerInfo: the server's version and its counters since the start.
 * The counters cover all organisations, so only a token with the `server` flag sees them; they
 * would reveal the activity of other organisations.
 */
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/admin_service.views.h>

/* Encodes a row for each pair of method and code that was counted. */
static enum err encode_methods(const struct service *service,
                               struct get_server_info_response_view *response)
{
    struct buffer run;

    buffer_init(&run, service->ctx->arena, 4096);
    for (size_t pair = 0; pair < (size_t)contract_method_count * ENV_CODES; pair++) {
        struct slice path = contract_methods[pair / ENV_CODES].path;
        const struct method_count_view row = {
            .method = slice_of(path.data + 1, path.size - 1), /* name without its leading slash */
            .code = (int32_t)(pair % ENV_CODES),
            .count = service->env->method_counts[pair],
        };

        if (row.count > 0) {
            method_count_view_put(&row, GET_SERVER_INFO_RESPONSE_METHODS_FIELD, &run);
        }
    }
    response->methods.run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static enum err encode_counters(const struct service *service,
                                struct get_server_info_response_view *response)
{
    struct env_counter counters[ENV_COUNTERS_MAX];
    size_t count = env_read_counters(service->env, service->ctx->clock, counters);
    struct buffer run;

    buffer_init(&run, service->ctx->arena, 4096);
    for (size_t i = 0; i < count; i++) {
        const struct server_counter_view row = {
            .name = slice_text(counters[i].name),
            .value = counters[i].value,
        };

        server_counter_view_put(&row, GET_SERVER_INFO_RESPONSE_COUNTERS_FIELD, &run);
    }
    response->counters.run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

enum err admin_service_get_server_info_read(struct admin_service_get_server_info_call *call)
{
    const struct service_env *env = call->service->env;
    int64_t ahead_us = env_log_ahead_us(env, call->ctx->clock);
    struct get_server_info_response_view response = {
        .version = SLICE(ERRATA_VERSION),
        .format_version = env->format_version,
        .log_engine = env->log_engine,
        .started_at_us = env->start_wall_us,
        .has_started_at = true,
        .log_ahead_us = ahead_us > ENV_LOG_AHEAD_US_MAX ? (uint64_t)ahead_us : 0,
    };
    enum err err = OK;

    if (call->service->principal->server) {
        err = encode_methods(call->service, &response);
        if (err == OK) {
            err = encode_counters(call->service, &response);
        }
    }
    if (err == OK) {
        get_server_info_response_view_write(&response, call->body);
    }
    return err;
}
