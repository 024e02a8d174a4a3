/*
 * server_info.c: AdminService/GetServerInfo: what the server is, and what it has done since it
 * started. Numbers are of all organisations together, so only a token with the `server` flag sees
 * them: to others what a neighbour does would show.
 */
#include "server/api/admin/admin_wire.h"
#include "server/domain/text/sanitise.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include <errata/v1/admin_service.handlers.h>

/* A calls-by-code list has a row for each pair that happened. */
static enum err put_methods(const struct service *service,
                            Errata__V1__GetServerInfoResponse *response)
{
    struct arena *arena = service->ctx->arena;
    size_t pairs = (size_t)contract_method_count * ENV_CODES;

    response->methods =
        (Errata__V1__MethodCount **)arena_calloc(arena, pairs, sizeof(Errata__V1__MethodCount *));
    if (response->methods == NULL) {
        return ERR_MEMORY;
    }
    for (size_t pair = 0; pair < pairs; pair++) {
        Errata__V1__MethodCount *row = NULL;

        if (service->env->method_counts[pair] == 0) {
            continue;
        }
        row = (Errata__V1__MethodCount *)arena_alloc(arena, sizeof(*row));
        if (row == NULL) {
            return ERR_MEMORY;
        }
        errata__v1__method_count__init(row);
        /* Paths are literals with a slash in front. */
        row->method = (char *)(uintptr_t)(contract_methods[pair / ENV_CODES].path.data + 1);
        row->code = (Google__Rpc__Code)(pair % ENV_CODES);
        row->count = service->env->method_counts[pair];
        response->methods[response->n_methods++] = row;
    }
    return OK;
}

/* The sanitiser's, the writer's and the store's numbers; gives how many. */
static size_t read_own_counters(const struct service_env *env, const struct clock *clock,
                                struct env_counter *counters)
{
    struct writer_stats writer = writer_read_stats(env->writer);
    struct store_stats store = {0};
    size_t count = 0;

    counters[count++] = (struct env_counter){"sanitiser_fallbacks", sanitise_fallback_count()};
    counters[count++] = (struct env_counter){"commits_total", writer.commits};
    counters[count++] = (struct env_counter){"commit_requests_total", writer.commit_requests};
    counters[count++] = (struct env_counter){"commit_duration_us_total", writer.commit_duration_us};
    counters[count++] = (struct env_counter){"commit_failures_total", writer.commit_failures};
    counters[count++] = (struct env_counter){"write_queue_requests", writer.queue_requests};
    counters[count++] = (struct env_counter){"write_queue_bytes", writer.queue_bytes};
    counters[count++] = (struct env_counter){"store_writable", writer.writable ? 1 : 0};
    counters[count++] =
        (struct env_counter){"log_ahead_us", (uint64_t)env_log_ahead_us(env, clock)};
    counters[count++] =
        (struct env_counter){"refused_tokens_total", env->refusal_counts[REFUSAL_TOKEN]};
    counters[count++] =
        (struct env_counter){"refused_disk_full_total", env->refusal_counts[REFUSAL_DISK_FULL]};
    counters[count++] =
        (struct env_counter){"refused_busy_total", env->refusal_counts[REFUSAL_BUSY]};
    if (store_stats(env->backend, &store) == OK) {
        counters[count++] = (struct env_counter){"map_bytes", store.map_bytes};
        counters[count++] = (struct env_counter){"map_used_bytes", store.map_used_bytes};
        counters[count++] = (struct env_counter){"store_readers", store.reader_count};
        counters[count++] =
            (struct env_counter){"store_reader_lag_commits", store.reader_lag_commits};
    }
    return count;
}

/* What read_own_counters writes at most. */
#define OWN_COUNTERS_MAX 24

static enum err put_counters(const struct service *service,
                             Errata__V1__GetServerInfoResponse *response)
{
    struct env_counter counters[OWN_COUNTERS_MAX + ENV_COUNTERS_MAX];
    struct service_env *env = service->env;
    size_t count = read_own_counters(env, service->ctx->clock, counters);

    if (env->read_counters != NULL) {
        count += env->read_counters(env->read_counters_user, counters + count, ENV_COUNTERS_MAX);
    }
    response->counters = (Errata__V1__ServerCounter **)arena_calloc(
        service->ctx->arena, count, sizeof(Errata__V1__ServerCounter *));
    if (response->counters == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        Errata__V1__ServerCounter *row =
            (Errata__V1__ServerCounter *)arena_alloc(service->ctx->arena, sizeof(*row));

        if (row == NULL) {
            return ERR_MEMORY;
        }
        errata__v1__server_counter__init(row);
        row->name = (char *)(uintptr_t)counters[i].name;
        row->value = counters[i].value;
        response->counters[response->n_counters++] = row;
    }
    return OK;
}

enum err admin_service_get_server_info_read(struct admin_service_get_server_info_call *call)
{
    Errata__V1__GetServerInfoResponse response = ERRATA__V1__GET_SERVER_INFO_RESPONSE__INIT;
    const struct service_env *env = call->service->env;
    int64_t ahead_us = env_log_ahead_us(env, call->ctx->clock);
    char version[] = ERRATA_VERSION;
    enum err err = OK;

    response.version = version;
    response.format_version = env->format_version;
    response.started_at = admin_wire_time(call->ctx->arena, env->start_wall_us);
    if (response.started_at == NULL) {
        return ERR_MEMORY;
    }
    response.log_ahead_us = ahead_us > ENV_LOG_AHEAD_US_MAX ? (uint64_t)ahead_us : 0;
    response.log_engine = (Errata__V1__LogEngineKind)env->log_engine;
    if (call->service->principal->server) {
        err = put_methods(call->service, &response);
        if (err == OK) {
            err = put_counters(call->service, &response);
        }
    }
    return err != OK ? err : reply_message(call->body, &response.base);
}
