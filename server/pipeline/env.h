/*
 * env.h: the state other than the store that the methods of one server share: its identity, its
 * health, its counters, and the key of page tokens. Created once by app (or a test) and passed to
 * every method as service->env. Belongs to the loop: methods on the writer thread or the pool may
 * only read the two keys, which never change, use the embedder, count reviews, offer rule sets to
 * its cache, and begin reads of the backend.
 */
#ifndef ERRATA_SERVER_PIPELINE_ENV_H
#define ERRATA_SERVER_PIPELINE_ENV_H

#include "server/auth/quota_book.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/scoring/rule_cache.h"
#include "server/domain/settings/settings_cache.h"
#include "server/pipeline/review_counters.h"
#include "store/base/ctx.h"
#include "store/work.h"

#include <errata/v1/admin_service.fields.h>
#include <stdatomic.h>

#define ENV_PAGE_TOKEN_KEY_BYTES 32
/* Maximum counters of all sources; the transport has about 40. */
#define ENV_COUNTERS_MAX 128

/* The event log may be ahead of the clock by this much without a warning, since adjustments of
 * clocks by seconds are common. */
#define ENV_LOG_AHEAD_US_MAX (INT64_C(60) * 1000000)

/* Numbers of grpc.health.v1.HealthCheckResponse.ServingStatus. */
enum health_status {
    HEALTH_UNKNOWN = 0,
    HEALTH_SERVING = 1,
    HEALTH_NOT_SERVING = 2,
    HEALTH_SERVICE_UNKNOWN = 3
};

/* Services known to grpc.health.v1. */
enum health_part {
    HEALTH_PART_SERVER, /* "": reads are served */
    HEALTH_PART_WRITE, /* "errata.write": writes are accepted */
    HEALTH_PART_PDF, /* "errata.pdf": documents are measured; the server does not depend on it */
    HEALTH_PART_ADMIN, /* "errata.admin": a token that can administer the server is valid for 14 days or more */
    HEALTH_PART_TOKENS, /* "errata.tokens": no token ends within 14 days without a successor; only a warning */
    HEALTH_PART_CLOCK, /* "errata.clock": the event log is not ahead of the clock; only a warning */
    HEALTH_PART_REDIS, /* "errata.redis": the stream of decisions is read, or none is configured; only a warning */
    HEALTH_PART_EMBEDDER, /* "errata.embedder": texts are compared by a model, not only by n-grams */
    HEALTH_PART_COUNT
};

/* A counter of the server; `name` is a literal that ends with its unit. */
struct env_counter {
    const char *name;
    uint64_t value;
};

/* Reasons to refuse calls that are not caused by the request. */
enum refusal_kind {
    REFUSAL_TOKEN,
    REFUSAL_DISK_FULL,
    REFUSAL_BUSY,
    REFUSAL_QUOTA,
    REFUSAL_KIND_COUNT
};

struct embedder; /* server/domain/embed/embedder.h */
struct cue_lexicon; /* server/domain/cues/lexicon.h */
struct vector_index; /* server/domain/vector_index/vector_index.h */

struct service_env {
    uint8_t page_token_key
        [ENV_PAGE_TOKEN_KEY_BYTES]; /* random key of each data folder, stored in META */
    struct exposure_key exposure_key; /* stored like that key */
    int64_t start_wall_us;
    uint32_t format_version; /* format version of the store */
    enum log_engine_kind log_engine;
    struct store_backend *backend;
    struct writer *writer;
    enum health_status health[HEALTH_PART_COUNT];
    /* Calls by method_info.index and status code; `method_counts[index * ENV_CODES + code]`. */
    uint64_t *method_counts;
    struct histogram *method_durations_us; /* durations of ended calls, by method_info.index */
    atomic_uint_fast64_t examples_served; /* by GetExamples and PreparePrompt; any thread */
    struct settings_cache settings_cache; /* used only on the loop */
    struct rule_cache rule_cache; /* used only on the loop, except for rule_cache_offer */
    struct embedder
        *embedder; /* embedder of n-grams until app_embed.c has loaded a model; any thread */
    struct vector_index *strategies; /* turns of organisations; any thread */
    struct vector_index *similar_decisions; /* themes of their decisions; any thread */
    const struct cue_lexicon *cues; /* cues of feedback in messages; never changes; any thread */
    uint64_t refusal_counts[REFUSAL_KIND_COUNT]; /* counts of ended calls */
    uint64_t quota_refusals[QUOTA_KIND_COUNT]; /* counts of calls beyond each quota */
    struct review_counters review_counters; /* any thread */
    atomic_bool finds_rules; /* ProposeRules runs on a thread of the pool; one at a time */
    /* Reads the transport's counters: writes at most `max`, returns their number. NULL if there is
     * no transport. */
    size_t (*read_counters)(void *user, struct env_counter *counters, size_t max);
    void *read_counters_user;
};

/* Status codes (store/base/status_codes.def). */
#define ENV_CODES (STATUS_UNAUTHENTICATED + 1)

/* Fills a zeroed env: counters in `arena` (which exists as long as the server), the keys from META,
 * where the first start creates them. Writes to the store, so call it before the writer starts. */
MUST_CHECK enum err env_init(struct service_env *env, struct arena *arena, struct ctx *ctx,
                             struct store_backend *backend);
/* Frees what the env owns; after the pool has ended. Accepts a zeroed env. */
void env_deinit(struct service_env *env);
/* Sets a part's health; returns whether that changed it. */
bool env_set_health(struct service_env *env, enum health_part part, enum health_status status);
/* Finds a part by its name in grpc.health.v1; returns false for an unknown one. */
bool env_find_part(struct slice name, enum health_part *ret_part);
/* Returns that name, empty for the server as a whole. */
struct slice env_part_name(enum health_part part);
/* Returns the time by which the newest event of all organisations is ahead of the clock; 0: it is
 * not ahead. */
int64_t env_log_ahead_us(const struct service_env *env, const struct clock *clock);
/* Frees what is kept in memory of an organisation that was deleted. Called only on the loop. */
void env_forget(struct service_env *env, struct org_id org);
/* Counts one ended call. */
void env_count_call(struct service_env *env, uint16_t method_index, uint32_t code,
                    int64_t duration_us);
/* Writes the counters of the sanitiser, the writer and the store, then those of the transport, and
 * returns their number: what GetServerInfo and the metrics report. */
size_t env_read_counters(const struct service_env *env, const struct clock *clock,
                         struct env_counter counters[ENV_COUNTERS_MAX]);

#endif
