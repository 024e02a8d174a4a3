/*
 * app_redis.c: the stream of decisions: a connection (net/dial.h), the client of the stream (redis/redis_consumer.h), and the
 * batch that stores its entries (api/decisions/intake_batch.h), put together on the loop. An entry is acknowledged in Redis
 * only after the commit that stored it.
 */
#include "server/app/app_internal.h"

#include "store/base/assert.h"
#include "store/base/logger.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Memory of the fields of a batch. */
#define FIELDS_BYTES_MAX (REDIS_REPLY_VALUES_MAX * 2 * sizeof(struct entry_field))

/* NOLINTBEGIN(misc-redundant-expression): both sides are the same today, and either may change */
_Static_assert(REDIS_BATCH_MAX <= INTAKE_ENTRIES_MAX, "a batch of the stream is one of the store");
_Static_assert(STREAM_ENTRY_BYTES_MAX <= REDIS_TEXT_BYTES_MAX,
               "an entry within its limit is read whole");
/* NOLINTEND(misc-redundant-expression) */

static bool is_configured(const struct app *app)
{
    return app->config->redis_host[0] != '\0' || app->config->redis_path[0] != '\0';
}

static const char *server_of(const struct app *app)
{
    return app->config->redis_path[0] != '\0' ? app->config->redis_path : app->config->redis_host;
}

/* Reads the password's file, for each connection, so that it may be replaced. */
static bool read_password(struct app *app)
{
    struct app_redis *redis = &app->redis;
    const char *path = app->config->redis_password_file;
    ssize_t size = 0;
    int file = -1;

    redis_consumer_set_password(redis->consumer, slice_of(NULL, 0));
    if (path[0] == '\0') {
        return true;
    }
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    app_check_mode("redis-password-file", path);
    size = read(file, redis->password, sizeof(redis->password));
    (void)close(file);
    while (size > 0 && (redis->password[size - 1] == '\n' || redis->password[size - 1] == '\r')) {
        size--;
    }
    if (size <= 0 || (size_t)size == sizeof(redis->password)) {
        return false;
    }
    redis_consumer_set_password(redis->consumer, slice_of(redis->password, (size_t)size));
    return true;
}

/* Finds the organisation of the decisions. Returns why there is none that may have them; NULL: there is one. */
static const char *find_org(struct app *app)
{
    struct store_txn *txn = NULL;
    enum err err = store_begin(app->backend, STORE_READ, &txn);

    if (err == OK) {
        err = auth_find_org(txn, slice_text(app->config->redis_organization), &app->redis.org);
    }
    store_abort(txn);
    if (err == ERR_NOT_FOUND) {
        return "redis-organization: there is no such organisation; expected the name of one";
    }
    if (err == ERR_ORGANIZATION_SUSPENDED) {
        return "redis-organization: the organisation is suspended";
    }
    if (err == ERR_QUOTA) {
        return "redis-organization: the organisation stores as much as its quota allows";
    }
    return err != OK ? "the organisation can't be read" : NULL;
}

static void open_connection(struct app *app)
{
    struct app_redis *redis = &app->redis;
    const char *why = find_org(app);

    if (why == NULL && !read_password(app)) {
        why = "redis-password-file: cannot be read; expected a file with a password of 1 to 511 "
              "bytes";
    }
    if (why == NULL && dial_open(redis->dial) != OK) {
        why = "no memory for a connection";
    }
    if (why != NULL) {
        redis_consumer_fail(redis->consumer, why);
    }
}

/* Returns why entries of a batch were left; NULL: none were. */
static const char *find_why_left(struct app *app)
{
    struct app_redis *redis = &app->redis;
    bool is_left = false;
    const char *why = NULL;

    for (size_t i = 0; i < redis->count; i++) {
        is_left = is_left || intake_outcome_of(redis->intake, i) == INTAKE_LEFT;
    }
    if (is_left) {
        why = find_org(app);
    }
    return is_left && why == NULL ? "the organisation could not store entries" : why;
}

/* Settles the batch with what the store did. Entries that were left are read again by the next connection. */
static void settle(struct app *app)
{
    struct app_redis *redis = &app->redis;
    const char *why_left = find_why_left(app);
    bool is_stored[REDIS_BATCH_MAX];
    size_t count = 0;

    (void)redis_consumer_batch(redis->consumer, &count);
    for (size_t i = 0; i < count; i++) {
        is_stored[i] = true; /* gone entries have nothing to store */
    }
    for (size_t i = 0; i < redis->count; i++) {
        enum intake_outcome outcome = intake_outcome_of(redis->intake, i);

        is_stored[redis->places[i]] =
            outcome == INTAKE_STORED || outcome == INTAKE_REPEATED || outcome == INTAKE_DEAD;
    }
    redis->count = 0;
    arena_deinit(&redis->arena);
    redis_consumer_settle(redis->consumer, is_stored);
    if (why_left != NULL) {
        /* Acknowledges the others. */
        dial_send(redis->dial, redis_consumer_output(redis->consumer));
        redis_consumer_sent(redis->consumer);
        redis_consumer_fail(redis->consumer, why_left);
    }
}

static bool add_entry(struct app_redis *redis, const struct redis_entry *from, struct slice stream)
{
    struct entry_field *fields =
        arena_calloc(&redis->arena, from->field_count + 1, sizeof(*fields));

    if (fields == NULL) {
        return false;
    }
    for (size_t i = 0; i < from->field_count; i++) {
        fields[i] = (struct entry_field){from->texts[2 * i], from->texts[2 * i + 1]};
    }
    redis->entries[redis->count++] = (struct stream_entry){.stream = stream,
                                                           .id = from->id,
                                                           .fields = fields,
                                                           .field_count = from->field_count,
                                                           .is_cut = from->is_cut};
    return true;
}

/* Takes the entries of the batch that are to be stored; false if memory is exhausted. */
static bool take_entries(struct app *app)
{
    struct app_redis *redis = &app->redis;
    size_t count = 0;
    const struct redis_entry *batch = redis_consumer_batch(redis->consumer, &count);
    bool has_room = true;

    redis->count = 0;
    for (size_t i = 0; i < count && has_room; i++) {
        if (!batch[i].is_gone) {
            redis->places[redis->count] = i;
            has_room = add_entry(redis, &batch[i], slice_text(app->config->redis_stream));
        }
    }
    return has_room;
}

/* Passes the batch to the store. */
static void store_batch(struct app *app)
{
    static const bool none[REDIS_BATCH_MAX];
    struct app_redis *redis = &app->redis;
    const char *why = find_org(app); /* it may have been suspended or deleted */

    if (why == NULL && !take_entries(app)) {
        why = "no memory for entries";
    }
    if (why != NULL) {
        redis->count = 0;
        redis_consumer_settle(redis->consumer, none);
        redis_consumer_fail(redis->consumer, why);
    } else if (redis->count == 0) {
        settle(app);
    } else {
        intake_start(redis->intake, redis->org, redis->entries, redis->count);
    }
}

static bool is_reading(const struct app *app)
{
    enum redis_state state = redis_consumer_state(app->redis.consumer);
    enum err why = OK;

    return (state == REDIS_READING || state == REDIS_STORING) &&
           !intake_is_waiting(app->redis.intake, &why);
}

/* Logs that the stream is read, and failures at most once in APP_REDIS_LOG_US until then. */
static void log_changes(struct app *app)
{
    struct app_redis *redis = &app->redis;
    struct redis_counts counts = redis_consumer_counts(redis->consumer);
    const char *problem = redis_consumer_problem(redis->consumer);
    bool has_problem = problem[0] != '\0';
    int64_t now_us = clock_monotonic_us(app->ctx.clock);

    if (counts.resumed != redis->resumed) {
        redis->resumed = counts.resumed;
        redis->failures = counts.failures - (has_problem ? 1 : 0); /* older ones are over */
        redis->logged_us = 0;
        logger_printf(LOGGER_INFO, "reading the Redis stream %s of %s", app->config->redis_stream,
                      server_of(app));
    }
    if (has_problem && counts.failures != redis->failures &&
        (redis->logged_us == 0 || now_us - redis->logged_us >= APP_REDIS_LOG_US)) {
        redis->failures = counts.failures;
        redis->logged_us = now_us;
        logger_printf(LOGGER_WARNING, "the Redis stream %s of %s is not read: %s",
                      app->config->redis_stream, server_of(app), problem);
    }
}

static void report(struct app *app)
{
    if (redis_consumer_state(app->redis.consumer) == REDIS_STOPPED) {
        app_close_if_idle(app);
        return;
    }
    pipeline_set_health(app->pipeline, HEALTH_PART_REDIS,
                        is_reading(app) ? HEALTH_SERVING : HEALTH_NOT_SERVING);
    log_changes(app);
}

/* Sends pending bytes and carries out the consumer's requests until there are none. */
static void drive(struct app *app)
{
    struct app_redis *redis = &app->redis;
    enum redis_want want = REDIS_WANTS_NOTHING;

    do {
        dial_send(redis->dial, redis_consumer_output(redis->consumer));
        redis_consumer_sent(redis->consumer);
        want = redis_consumer_next(redis->consumer);
        switch (want) {
        case REDIS_WANTS_OPEN:
            open_connection(app);
            break;
        case REDIS_WANTS_CLOSE:
            dial_close(redis->dial);
            break;
        case REDIS_WANTS_STORE:
            store_batch(app);
            break;
        case REDIS_WANTS_NOTHING:
            break;
        }
    } while (want != REDIS_WANTS_NOTHING);
    report(app);
}

static void on_open(void *user)
{
    struct app *app = (struct app *)user;

    redis_consumer_opened(app->redis.consumer);
    drive(app);
}

static void on_bytes(void *user, struct slice bytes)
{
    struct app *app = (struct app *)user;

    redis_consumer_feed(app->redis.consumer, bytes);
    drive(app);
}

static void on_end(void *user, const char *why)
{
    struct app *app = (struct app *)user;

    redis_consumer_fail(app->redis.consumer, why);
    drive(app);
}

static void on_done(void *user)
{
    struct app *app = (struct app *)user;

    settle(app);
    drive(app);
}

static bool may_store(void *user, struct org_id org)
{
    struct app *app = (struct app *)user;

    return find_org(app) == NULL && uuid_equal(app->redis.org.uuid, org.uuid);
}

static void on_timer(uv_timer_t *handle)
{
    struct app *app = (struct app *)handle->data;

    if (!intake_is_idle(app->redis.intake)) {
        intake_tick(app->redis.intake);
    }
    redis_consumer_tick(app->redis.consumer);
    drive(app);
}

enum err app_redis_make(struct app *app)
{
    const struct config *config = app->config;
    const struct dial_config dial = {
        .loop = &app->loop,
        .host = config->redis_path[0] == '\0' ? config->redis_host : NULL,
        .port = config->redis_port,
        .path = config->redis_path,
        .on_open = on_open,
        .on_bytes = on_bytes,
        .on_end = on_end,
        .on_closed = app_on_idle,
        .user = app,
    };
    const struct redis_consumer_config consumer = {
        .stream = slice_text(config->redis_stream),
        .group = slice_text(config->redis_group),
        .consumer = slice_text(config->redis_consumer),
        .clock = app->ctx.clock,
        .random = app->ctx.random,
    };
    const struct intake_config intake = {
        .env = &app->env,
        .clock = app->ctx.clock,
        .random = app->ctx.random,
        .run_on_pool = app_run_on_pool,
        .may_store = may_store,
        .on_done = on_done,
        .on_stored = app_on_news,
        .user = app,
    };
    enum err err = OK;

    if (!is_configured(app)) {
        return OK;
    }
    arena_init(&app->redis.arena, FIELDS_BYTES_MAX);
    err = dial_new(&dial, &app->redis.dial);
    if (err == OK) {
        err = redis_consumer_new(&consumer, &app->redis.consumer);
    }
    if (err == OK) {
        err = intake_new(&app->arena, &intake, &app->redis.intake);
    }
    return err;
}

void app_redis_start(struct app *app)
{
    struct app_redis *redis = &app->redis;

    if (redis->intake == NULL) {
        pipeline_set_health(app->pipeline, HEALTH_PART_REDIS, HEALTH_SERVING);
        return;
    }
    ASSERT(uv_timer_init(&app->loop, &redis->timer) == 0);
    redis->timer.data = app;
    ASSERT(uv_timer_start(&redis->timer, on_timer, 0, APP_REDIS_TICK_MS) == 0);
    redis->has_timer = true;
}

void app_redis_stop(struct app *app)
{
    struct app_redis *redis = &app->redis;

    if (redis->intake == NULL || redis_consumer_state(redis->consumer) == REDIS_STOPPED) {
        return;
    }
    if (!intake_is_idle(redis->intake)) {
        intake_stop(redis->intake);
    }
    redis_consumer_stop(redis->consumer);
    drive(app);
}

bool app_redis_is_idle(const struct app *app)
{
    const struct app_redis *redis = &app->redis;

    return redis->intake == NULL || (intake_is_idle(redis->intake) && dial_is_idle(redis->dial) &&
                                     redis_consumer_state(redis->consumer) == REDIS_STOPPED);
}

void app_redis_close(struct app *app)
{
    if (app->redis.has_timer) {
        uv_close((uv_handle_t *)&app->redis.timer, NULL);
    }
}

void app_redis_free(struct app *app)
{
    struct app_redis *redis = &app->redis;

    redis_consumer_free(redis->consumer);
    dial_free(redis->dial);
    arena_deinit(&redis->arena);
    explicit_bzero(redis->password, sizeof(redis->password));
}

size_t app_redis_read_counters(const struct app *app, struct env_counter *counters, size_t max)
{
    const struct app_redis *redis = &app->redis;
    struct redis_counts read = {.entries = 0};
    struct intake_counts stored = {.stored = 0};
    bool is_on = redis->intake != NULL;

    if (is_on) {
        read = redis_consumer_counts(redis->consumer);
        stored = intake_read_counts(redis->intake);
    }
    const struct env_counter all[] = {
        {"redis_reading", is_on && is_reading(app) ? 1 : 0},
        {"redis_lag_entries", read.lag},
        {"redis_entries_read_total", read.entries},
        {"redis_entries_claimed_total", read.claimed},
        {"redis_entries_stored_total", stored.stored},
        {"redis_entries_repeated_total", stored.repeated},
        {"redis_entries_dead_total", stored.dead},
        {"redis_entries_gone_total", read.gone},
        {"redis_acknowledged_total", read.acknowledged},
        {"redis_waits_total", stored.waits},
        {"redis_connections_total", read.connections},
        {"redis_failures_total", read.failures},
    };

    return app_copy_counters(all, sizeof(all) / sizeof(all[0]), counters, max);
}
