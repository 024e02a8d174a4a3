/*
 * counters.c: reads the counters of one server, which GetServerInfo and the metrics report.
 */
#include "server/domain/embed/embedder.h"
#include "server/domain/text/sanitise.h"
#include "server/pipeline/env.h"
#include "store/base/assert.h"

/* Maximum number of counters written by read_own_counters. */
#define OWN_COUNTERS_MAX 36

static const char *const quota_names[QUOTA_KIND_COUNT] = {
    [QUOTA_REQUESTS] = "refused_quota_requests_total",
    [QUOTA_STREAMS] = "refused_quota_streams_total",
    [QUOTA_STORED_BYTES] = "refused_quota_stored_bytes_total",
    [QUOTA_PDF_JOBS] = "refused_quota_pdf_jobs_total",
};

static uint64_t counted(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Reads the counters of reviews; returns their number. */
static size_t read_review_counters(const struct review_counters *reviews,
                                   struct env_counter *counters)
{
    const struct env_counter all[] = {
        {"reviews_normalised_total", counted(&reviews->normalised)},
        {"review_triggers_total", counted(&reviews->triggers)},
        {"review_placeholders_injected_total", counted(&reviews->injected)},
        {"review_placeholders_static_total", counted(&reviews->static_fallbacks)},
        {"review_placeholders_empty_total", counted(&reviews->empty)},
        {"review_examples_total", counted(&reviews->examples)},
        {"review_failures_total", counted(&reviews->failures)},
    };

    memcpy(counters, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

/* Reads the counters of the embedder; returns their number. */
static size_t read_embedder_counters(struct embedder *embedder, struct env_counter *counters)
{
    struct embedder_counts counts = embedder_read_counts(embedder);

    counters[0] = (struct env_counter){"embedded_computed_total", counts.texts - counts.cache_hits};
    counters[1] = (struct env_counter){"embedded_cached_total", counts.cache_hits};
    return 2;
}

/* Reads the counters of the sanitiser, the writer, reviews, the embedder and the store; returns their number. */
static size_t read_own_counters(const struct service_env *env, const struct clock *clock,
                                struct env_counter *counters)
{
    struct writer_stats writer = writer_read_stats(env->writer);
    struct store_stats store = {0};
    size_t count = 0;

    counters[count++] = (struct env_counter){"sanitiser_fallbacks", sanitise_fallback_count()};
    counters[count++] =
        (struct env_counter){"examples_served_total", atomic_load(&env->examples_served)};
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
    for (unsigned kind = 0; kind < QUOTA_KIND_COUNT; kind++) {
        counters[count++] = (struct env_counter){quota_names[kind], env->quota_refusals[kind]};
    }
    count += read_review_counters(&env->review_counters, counters + count);
    count += read_embedder_counters(env->embedder, counters + count);
    if (store_stats(env->backend, &store) == OK) {
        counters[count++] = (struct env_counter){"map_bytes", store.map_bytes};
        counters[count++] = (struct env_counter){"map_used_bytes", store.map_used_bytes};
        counters[count++] = (struct env_counter){"store_readers", store.reader_count};
        counters[count++] =
            (struct env_counter){"store_reader_lag_commits", store.reader_lag_commits};
        counters[count++] =
            (struct env_counter){"journal_memory_bytes", store.journal_memory_bytes};
        counters[count++] =
            (struct env_counter){"journal_waiting_commits", store.journal_waiting_commits};
    }
    return count;
}

size_t env_read_counters(const struct service_env *env, const struct clock *clock,
                         struct env_counter counters[ENV_COUNTERS_MAX])
{
    size_t count = read_own_counters(env, clock, counters);

    ASSERT(count <= OWN_COUNTERS_MAX);
    if (env->read_counters != NULL) {
        count += env->read_counters(env->read_counters_user, counters + count,
                                    ENV_COUNTERS_MAX - OWN_COUNTERS_MAX);
    }
    return count;
}
