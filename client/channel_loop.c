/*
 * channel_loop.c: see channel_loop.h. The channel is stepped in a turn of the loop, by an idle
 * handle after an event and by a timer when something is due. Closing takes two turns or more: the
 * channel's last step, then the ends of its connections and handles.
 */
#include "client/channel_loop.h"

#include "client/channel_internal.h"
#include "client/token.h"
#include "server/tls/stream/tls_context.h"
#include "store/base/assert.h"

#include <stdlib.h>
#include <uv.h>

/* Handles other than the connections': the turn and the timer. */
#define HANDLE_COUNT 2
/* Interval of a timer that only keeps the loop alive, for a call without a deadline. */
#define ALIVE_MS 3600000

struct channel_loop {
    uv_loop_t *loop;
    struct client_channel *channel; /* owned; NULL once it has been closed */
    struct client_connection_config connection; /* texts are owned, and stored below */
    char *host;
    char *user_agent; /* owned; or NULL */
    uint8_t *token; /* owned; or NULL */
    char *token_file; /* owned; or NULL */
    struct errata_log log;
    char server[CLIENT_ADDRESS_BYTES]; /* HOST:PORT, for error messages */
    struct client_channel *newest; /* newest connection, which takes new calls; NULL: none */
    unsigned connections_open;
    uv_idle_t turn; /* active if the next turn must run a step */
    uv_timer_t timer; /* active while there are running calls, so that the loop stays alive */
    unsigned handles_open;
    bool closing;
    void (*on_closed)(void *user);
    void *on_closed_user;
};

static void on_turn(uv_idle_t *handle);

/* The connector's user is the channel's creator. */
static struct channel_loop *loop_of(const struct client_channel *channel)
{
    return ((const struct lasting_channel *)channel)->config.connector.user;
}

/* --- the end --- */

static void loop_free(struct channel_loop *loop)
{
    free(loop->host);
    free(loop->user_agent);
    free(loop->token);
    free(loop->token_file);
    tls_context_unref(loop->connection.tls);
    free(loop);
}

static void loop_free_when_closed(struct channel_loop *loop)
{
    if (loop->handles_open > 0 || loop->connections_open > 0) {
        return;
    }
    if (loop->on_closed != NULL) {
        loop->on_closed(loop->on_closed_user);
    }
    loop_free(loop);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct channel_loop *loop = handle->data;

    loop->handles_open--;
    loop_free_when_closed(loop);
}

static void loop_end(struct channel_loop *loop)
{
    client_channel_free(loop->channel);
    loop->channel = NULL;
    uv_close((uv_handle_t *)&loop->turn, on_handle_closed);
    uv_close((uv_handle_t *)&loop->timer, on_handle_closed);
}

/* --- turns --- */

static void on_timer(uv_timer_t *handle)
{
    on_turn(&((struct channel_loop *)handle->data)->turn);
}

/* Schedules the channel's next step in `due_ms`; -1: no step until the channel requests one. */
static void loop_set_timer(struct channel_loop *loop, int64_t due_ms)
{
    struct client_channel_statistics statistics;

    client_channel_read_statistics(loop->channel, &statistics);
    if (due_ms == 0) {
        (void)uv_idle_start(&loop->turn, on_turn);
    }
    if (statistics.calls_under_way == 0) {
        (void)uv_timer_stop(&loop->timer);
    } else {
        (void)uv_timer_start(&loop->timer, on_timer, due_ms > 0 ? (uint64_t)due_ms : ALIVE_MS, 0);
    }
}

static void on_turn(uv_idle_t *handle)
{
    struct channel_loop *loop = handle->data;
    bool last = loop->closing; /* this step started after the close */
    int64_t due_ms = 0;

    (void)uv_idle_stop(&loop->turn);
    due_ms = client_channel_step(loop->channel);
    if (last) {
        loop_end(loop);
    } else {
        loop_set_timer(loop, due_ms);
    }
}

/* --- requests of the channel --- */

static enum err connector_open(void *user, const struct client_connection_listener *listener,
                               struct client_channel **ret_connection)
{
    struct channel_loop *loop = user;
    struct client_connection_config config = loop->connection;
    enum err err = OK;

    config.listener = *listener;
    err = client_connection_open(loop->loop, &config, ret_connection);
    if (err == OK) {
        loop->connections_open++;
        loop->newest = *ret_connection;
    }
    return err;
}

static void on_connection_closed(void *user)
{
    struct channel_loop *loop = user;

    ASSERT(loop->connections_open > 0);
    loop->connections_open--;
    loop_free_when_closed(loop);
}

static void connector_close(void *user, struct client_channel *take_connection)
{
    struct channel_loop *loop = user;

    if (loop->newest == take_connection) {
        loop->newest = NULL;
    }
    client_connection_close(take_connection, on_connection_closed, loop);
}

static void connector_wake(void *user)
{
    struct channel_loop *loop = user;

    (void)uv_idle_start(&loop->turn, on_turn);
}

/* --- the token --- */

/* Copies a token, or nothing if it is empty. */
static enum err token_copy(struct slice token, uint8_t **ret_copy)
{
    uint8_t *copy = NULL;

    if (token.size > 0) {
        copy = malloc(token.size);
        if (copy == NULL) {
            return ERR_MEMORY;
        }
        memcpy(copy, token.data, token.size);
    }
    *ret_copy = copy;
    return OK;
}

/* Sets the token of the newest connection and of all later ones. */
static enum err loop_use_token(struct channel_loop *loop, struct slice token)
{
    uint8_t *copy = NULL;
    enum err err = token_copy(token, &copy);

    if (err == OK && loop->newest != NULL) {
        err = client_connection_set_token(loop->newest, token);
    }
    if (err != OK) {
        free(copy);
        return err;
    }
    free(loop->token);
    loop->token = copy;
    loop->connection.token = slice_of(copy, token.size);
    client_channel_note_token(loop->channel);
    return OK;
}

static void loop_log(const struct channel_loop *loop, enum errata_log_level level,
                     const char *message)
{
    if (loop->log.write != NULL) {
        loop->log.write(loop->log.user, level, message);
    }
}

static void connector_refresh_token(void *user)
{
    struct channel_loop *loop = user;
    char problem[PROBLEM_BYTES_MAX];
    const struct problem to = problem_in(problem, sizeof(problem));
    char token[TOKEN_BYTES_MAX + 1];

    if (loop->token_file == NULL) {
        return;
    }
    if (!token_read_file(loop->token_file, &to, token)) {
        loop_log(loop, ERRATA_LOG_WARNING, problem);
        return;
    }
    if (slice_equal(slice_text(token), loop->connection.token)) {
        loop_log(loop, ERRATA_LOG_WARNING,
                 "the server refused the token; the token file has no other");
    } else if (loop_use_token(loop, slice_text(token)) == OK) {
        loop_log(loop, ERRATA_LOG_INFO,
                 "the server refused the token; read another from the token file");
    }
    explicit_bzero(token, sizeof(token));
}

/* --- operations of users --- */

static enum err loop_copy_texts(struct channel_loop *loop,
                                const struct client_channel_loop_config *whole)
{
    const struct client_connection_config *config = &whole->connection;

    loop->host = strdup(config->host);
    loop->user_agent = config->user_agent != NULL ? strdup(config->user_agent) : NULL;
    loop->token_file = whole->token_file != NULL ? strdup(whole->token_file) : NULL;
    if (loop->host == NULL || (config->user_agent != NULL && loop->user_agent == NULL) ||
        (whole->token_file != NULL && loop->token_file == NULL)) {
        return ERR_MEMORY;
    }
    loop->connection = *config;
    loop->connection.tls = config->tls != NULL ? tls_context_ref(config->tls) : NULL;
    client_address_format(config->host, config->port, loop->server);
    loop->connection.host = loop->host;
    loop->connection.user_agent = loop->user_agent;
    loop->connection.token = slice_of(NULL, 0);
    if (token_copy(config->token, &loop->token) != OK) {
        return ERR_MEMORY;
    }
    loop->connection.token = slice_of(loop->token, config->token.size);
    return OK;
}

static enum err loop_make_channel(struct channel_loop *loop,
                                  const struct client_channel_loop_config *config)
{
    struct client_channel_config channel = {
        .connector = {.user = loop,
                      .open = connector_open,
                      .close = connector_close,
                      .refresh_token = connector_refresh_token,
                      .wake = connector_wake},
        .retry = config->retry,
        .call_timeout_ms =
            config->call_timeout_ms != 0 ? config->call_timeout_ms : CLIENT_CALL_TIMEOUT_MS,
        .calls_max = config->calls_max != 0 ? config->calls_max : CLIENT_CHANNEL_CALLS_MAX,
        .request_bytes_max = config->connection.request_bytes_max,
        .server = loop->server,
        .log = loop->log,
        .random = random_kernel(), /* the program may fork, and the child may have its own
                                    * channel */
        .clock = clock_system()};

    if (channel.retry.attempts_max == 0) {
        channel.retry.attempts_max = CLIENT_ATTEMPTS_DEFAULT;
    }
    if (channel.retry.backoff_initial_ms == 0) {
        channel.retry.backoff_initial_ms = CLIENT_BACKOFF_INITIAL_MS;
    }
    if (channel.retry.backoff_max_ms == 0) {
        channel.retry.backoff_max_ms = CLIENT_BACKOFF_MAX_MS;
    }
    if (channel.call_timeout_ms < 0) {
        channel.call_timeout_ms = 0;
    }
    return client_channel_new(&channel, &loop->channel);
}

enum err client_channel_loop_open(struct uv_loop_s *uv_loop,
                                  const struct client_channel_loop_config *config,
                                  struct client_channel **ret_channel)
{
    struct channel_loop *loop = NULL;
    enum err err = client_connection_check(&config->connection);

    if (err != OK) {
        return err;
    }
    loop = calloc(1, sizeof(*loop));
    if (loop == NULL) {
        return ERR_MEMORY;
    }
    loop->loop = uv_loop;
    loop->log = config->log;
    err = loop_copy_texts(loop, config);
    if (err == OK) {
        err = loop_make_channel(loop, config);
    }
    if (err != OK) {
        loop_free(loop);
        return err;
    }
    /* Neither fails: they only link the handle in. */
    (void)uv_idle_init(uv_loop, &loop->turn);
    (void)uv_timer_init(uv_loop, &loop->timer);
    loop->turn.data = loop;
    loop->timer.data = loop;
    loop->handles_open = HANDLE_COUNT;
    *ret_channel = loop->channel;
    return OK;
}

void client_channel_loop_close(struct client_channel *take_channel, void (*on_closed)(void *user),
                               void *user)
{
    struct channel_loop *loop = loop_of(take_channel);

    ASSERT(!loop->closing);
    loop->closing = true;
    loop->on_closed = on_closed;
    loop->on_closed_user = user;
    client_channel_shut(loop->channel); /* this requests the last step */
}

enum err client_channel_loop_set_token(struct client_channel *channel, struct slice token)
{
    struct channel_loop *loop = loop_of(channel);
    enum err err = loop_use_token(loop, token);

    if (err == OK) {
        free(loop->token_file);
        loop->token_file = NULL;
    }
    return err;
}

void client_channel_loop_read_statistics(const struct client_channel *channel,
                                         struct client_channel_statistics *ret_statistics)
{
    client_channel_read_statistics(channel, ret_statistics);
}

const char *client_channel_loop_unreachable(const struct client_channel *channel)
{
    return client_channel_unreachable(channel);
}
