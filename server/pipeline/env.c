/*
 * env.c: creates and changes the state that the methods of one server share.
 */
#include "server/pipeline/env.h"

#include "server/codec/contract.h"
#include "server/domain/cues/lexicon.h"
#include "server/domain/decisions/similar_index.h"
#include "server/domain/embed/embedder.h"
#include "server/domain/turns/strategy_index.h"
#include "store/meta.h"

static const struct slice part_names[HEALTH_PART_COUNT] = {
    [HEALTH_PART_SERVER] = {(const uint8_t *)"", 0},
    [HEALTH_PART_WRITE] = {(const uint8_t *)"errata.write", 12},
    [HEALTH_PART_PDF] = {(const uint8_t *)"errata.pdf", 10},
    [HEALTH_PART_ADMIN] = {(const uint8_t *)"errata.admin", 12},
    [HEALTH_PART_TOKENS] = {(const uint8_t *)"errata.tokens", 13},
    [HEALTH_PART_CLOCK] = {(const uint8_t *)"errata.clock", 12},
    [HEALTH_PART_REDIS] = {(const uint8_t *)"errata.redis", 12},
    [HEALTH_PART_EMBEDDER] = {(const uint8_t *)"errata.embedder", 15},
};

/* Reads one of this data folder's keys. ERR_NOT_FOUND if it is missing; with STORE_WRITE it is then created. */
static enum err load_key(struct ctx *ctx, struct store_txn *txn, enum store_access access,
                         struct slice name, uint8_t *bytes, size_t size)
{
    struct key key = key_meta_global(name);
    struct meta_record record = {0};
    enum err err = meta_read(txn, &key, &record);

    if (err == OK) {
        if (record.bytes.size != size) {
            return ERR_CORRUPT;
        }
        memcpy(bytes, record.bytes.data, size);
        return OK;
    }
    if (err != ERR_NOT_FOUND || access == STORE_READ) {
        return err;
    }
    random_fill(ctx->random, bytes, size);
    record.bytes = slice_of(bytes, size);
    return meta_put(ctx->arena, txn, &key, &record);
}

/* Reads the keys, or creates those that are missing. */
static enum err load_keys(struct service_env *env, struct ctx *ctx, enum store_access access)
{
    uint8_t exposure_key[EXPOSURE_KEY_BYTES] = {0};
    struct store_txn *txn = NULL;
    enum err err = store_begin(env->backend, access, &txn);

    if (err != OK) {
        return err;
    }
    err = load_key(ctx, txn, access, SLICE("page_token_key"), env->page_token_key,
                   ENV_PAGE_TOKEN_KEY_BYTES);
    if (err == OK) {
        err = load_key(ctx, txn, access, SLICE("exposure_key"), exposure_key, EXPOSURE_KEY_BYTES);
    }
    if (err == OK) {
        exposure_key_init(&env->exposure_key, exposure_key);
    }
    if (err != OK || access == STORE_READ) {
        store_abort(txn);
        return err;
    }
    return store_commit(txn);
}

enum err env_init(struct service_env *env, struct arena *arena, struct ctx *ctx,
                  struct store_backend *backend)
{
    enum err err = OK;

    env->method_counts =
        arena_calloc(arena, (size_t)contract_method_count * ENV_CODES, sizeof(uint64_t));
    env->method_durations_us =
        arena_calloc(arena, contract_method_count, sizeof(*env->method_durations_us));
    if (env->method_counts == NULL || env->method_durations_us == NULL) {
        return ERR_MEMORY;
    }
    err = vector_index_new(arena, &strategy_source, &env->strategies);
    if (err == OK) {
        err = vector_index_new(arena, &similar_source, &env->similar_decisions);
    }
    if (err != OK) {
        return err;
    }
    err = cue_lexicon_new(arena, &env->cues);
    if (err != OK) {
        return err;
    }
    err = embedder_new(arena, slice_of(NULL, 0), &env->embedder);
    if (err != OK) {
        return err;
    }
    env->backend = backend;
    env->start_wall_us = clock_wall_us(ctx->clock);
    /* A full disk does not prevent the start of a server whose store has them. */
    err = load_keys(env, ctx, STORE_READ);
    return err == ERR_NOT_FOUND ? load_keys(env, ctx, STORE_WRITE) : err;
}

void env_deinit(struct service_env *env)
{
    rule_cache_deinit(&env->rule_cache);
    vector_index_deinit(env->strategies);
    env->strategies = NULL;
    vector_index_deinit(env->similar_decisions);
    env->similar_decisions = NULL;
    embedder_free(env->embedder);
    env->embedder = NULL;
}

void env_forget(struct service_env *env, struct org_id org)
{
    settings_cache_forget(&env->settings_cache, org);
    rule_cache_forget(&env->rule_cache, org);
    vector_index_forget(env->strategies, org);
    vector_index_forget(env->similar_decisions, org);
}

bool env_set_health(struct service_env *env, enum health_part part, enum health_status status)
{
    if (env->health[part] == status) {
        return false;
    }
    env->health[part] = status;
    return true;
}

bool env_find_part(struct slice name, enum health_part *ret_part)
{
    for (unsigned part = 0; part < HEALTH_PART_COUNT; part++) {
        if (slice_equal(name, part_names[part])) {
            *ret_part = (enum health_part)part;
            return true;
        }
    }
    return false;
}

struct slice env_part_name(enum health_part part)
{
    return part_names[part];
}

int64_t env_log_ahead_us(const struct service_env *env, const struct clock *clock)
{
    int64_t newest_us = writer_read_stats(env->writer).newest_recorded_at_us;
    int64_t now_us = clock_wall_us(clock);

    return newest_us > now_us ? newest_us - now_us : 0;
}

void env_count_call(struct service_env *env, uint16_t method_index, uint32_t code,
                    int64_t duration_us)
{
    if (code < ENV_CODES) {
        env->method_counts[(size_t)method_index * ENV_CODES + code]++;
    }
    histogram_add(&env->method_durations_us[method_index], &histogram_durations_us,
                  duration_us > 0 ? (uint64_t)duration_us : 0);
}
