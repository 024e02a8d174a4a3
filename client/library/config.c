/*
 * config.c: see config.h.
 */
#include "client/library/config.h"

#include "client/session.h"
#include "server/tls/stream/tls_context.h"

#include <inttypes.h>
#include <stdio.h>

/* The first version of the struct ends here. Later members do not change this. */
#define CHANNEL_CONFIG_BYTES_MIN                                                                   \
    (offsetof(struct errata_channel_config, log) + sizeof(struct errata_log))
/* A message about a file, whose path is at most PATH_MAX. */
#define TLS_ARENA_BYTES ((size_t)16 * 1024)
/* A struct that claims to be larger was not initialized. */
#define SIZED_BYTES_MAX ((size_t)64 * 1024)

/* The valid values of a number in the configuration. */
struct range {
    const char *name;
    int64_t value; /* 0 selects the default */
    int64_t usual;
    int64_t min;
    int64_t max;
    bool or_never; /* -1 is valid, too */
};

bool library_copy_sized(const void *given, size_t given_bytes, void *ret_struct, size_t bytes,
                        size_t bytes_min)
{
    const uint8_t *members = given;

    if (given_bytes < bytes_min || given_bytes > SIZED_BYTES_MAX) {
        return false;
    }
    for (size_t at = bytes; at < given_bytes; at++) {
        if (members[at] != 0) {
            return false;
        }
    }
    memset(ret_struct, 0, bytes);
    memcpy(ret_struct, given, given_bytes < bytes ? given_bytes : bytes);
    return true;
}

/* Checks a number and writes it, or its default. Returns false with a problem. */
static bool read_number(const struct range *range, const struct problem *problem,
                        int64_t *ret_number)
{
    if (range->value == 0) {
        *ret_number = range->usual;
        return true;
    }
    if (range->value == -1 && range->or_never) {
        *ret_number = -1;
        return true;
    }
    if (range->value < range->min || range->value > range->max) {
        problem_say(problem,
                    "%s: %" PRId64 " is out of range; expected %" PRId64 " to %" PRId64
                    ", or 0 for the default (%" PRId64 ")%s",
                    range->name, range->value, range->min, range->max, range->usual,
                    range->or_never ? ", or -1 to disable it" : "");
        return false;
    }
    *ret_number = range->value;
    return true;
}

static bool read_times(const struct errata_channel_config *config, const struct problem *problem,
                       struct library_config *ret)
{
    struct client_connection_config *connection = &ret->lower.connection;
    const struct range connect = {"connect_timeout_ms",      config->connect_timeout_ms,
                                  CLIENT_CONNECT_TIMEOUT_MS, 1,
                                  LIBRARY_TIME_MS_MAX,       false};
    const struct range call = {"call_timeout_ms",      config->call_timeout_ms,
                               CLIENT_CALL_TIMEOUT_MS, 1,
                               LIBRARY_TIME_MS_MAX,    true};
    const struct range silence = {"keepalive_ms",       config->keepalive_ms,
                                  LIBRARY_KEEPALIVE_MS, LIBRARY_KEEPALIVE_MS_MIN,
                                  LIBRARY_TIME_MS_MAX,  true};
    const struct range answer = {"keepalive_timeout_ms",       config->keepalive_timeout_ms,
                                 LIBRARY_KEEPALIVE_TIMEOUT_MS, 1,
                                 LIBRARY_TIME_MS_MAX,          false};

    if (!read_number(&connect, problem, &connection->connect_timeout_ms) ||
        !read_number(&call, problem, &ret->lower.call_timeout_ms) ||
        !read_number(&silence, problem, &connection->keepalive_ms) ||
        !read_number(&answer, problem, &connection->keepalive_timeout_ms)) {
        return false;
    }
    if (connection->keepalive_ms == -1) {
        connection->keepalive_ms = 0;
    }
    return true;
}

static bool read_retries(const struct errata_channel_config *config, const struct problem *problem,
                         struct library_config *ret)
{
    struct client_retry_policy *retry = &ret->lower.retry;
    const struct range attempts = {"attempts_max",          config->attempts_max,
                                   CLIENT_ATTEMPTS_DEFAULT, 1,
                                   LIBRARY_ATTEMPTS_MAX,    false};
    const struct range initial = {"backoff_initial_ms",      config->backoff_initial_ms,
                                  CLIENT_BACKOFF_INITIAL_MS, 1,
                                  LIBRARY_TIME_MS_MAX,       false};
    struct range longest = {"backoff_max_ms",      config->backoff_max_ms,
                            CLIENT_BACKOFF_MAX_MS, 1,
                            LIBRARY_TIME_MS_MAX,   false};
    int64_t count = 0;

    if (!read_number(&attempts, problem, &count) ||
        !read_number(&initial, problem, &retry->backoff_initial_ms)) {
        return false;
    }
    retry->attempts_max = (uint32_t)count;
    longest.min = retry->backoff_initial_ms;
    if (longest.usual < longest.min) {
        longest.usual = longest.min;
    }
    return read_number(&longest, problem, &retry->backoff_max_ms);
}

static bool read_bounds(const struct errata_channel_config *config, const struct problem *problem,
                        struct library_config *ret)
{
    const struct range reply = {"reply_bytes_max",
                                (int64_t)config->reply_bytes_max,
                                (int64_t)CLIENT_MESSAGE_BYTES_MAX,
                                1,
                                UINT32_MAX,
                                false};
    const struct range request = {"request_bytes_max",
                                  (int64_t)config->request_bytes_max,
                                  (int64_t)CLIENT_MESSAGE_BYTES_MAX,
                                  1,
                                  UINT32_MAX,
                                  false};
    const struct range calls = {"calls_max", config->calls_max,        CLIENT_CHANNEL_CALLS_MAX,
                                1,           CLIENT_CHANNEL_CALLS_MAX, false};
    int64_t reply_bytes = 0;
    int64_t request_bytes = 0;
    int64_t count = 0;

    if (!read_number(&reply, problem, &reply_bytes) ||
        !read_number(&request, problem, &request_bytes) || !read_number(&calls, problem, &count)) {
        return false;
    }
    ret->lower.connection.reply_bytes_max = (size_t)reply_bytes;
    ret->lower.connection.request_bytes_max = (size_t)request_bytes;
    ret->lower.calls_max = (uint32_t)count;
    return true;
}

static bool read_token(const struct errata_channel_config *config, const struct problem *problem,
                       struct library_config *ret)
{
    if (config->token != NULL && config->token_file != NULL) {
        problem_say(problem, "%s", "token_file: set together with token; expected one of the two");
        return false;
    }
    if (config->token_file != NULL && !token_read_file(config->token_file, problem, ret->token)) {
        return false;
    }
    ret->lower.token_file = config->token_file;
    if (config->token != NULL) {
        struct slice token = slice_text(config->token);

        if (!token_valid(token)) {
            problem_say(problem,
                        "token: malformed; expected 1 to %d bytes of printable ASCII without "
                        "spaces, or NULL for none",
                        TOKEN_BYTES_MAX);
            return false;
        }
        memcpy(ret->token, token.data, token.size + 1);
    }
    ret->lower.connection.token = slice_text(ret->token);
    return true;
}

static bool read_user_agent(const struct errata_channel_config *config,
                            const struct problem *problem, struct library_config *ret)
{
    struct slice name = slice_text(config->user_agent);

    if (name.size == 0) {
        ret->lower.connection.user_agent = LIBRARY_NAME;
        return true;
    }
    for (size_t at = 0; at < name.size; at++) {
        if (name.data[at] < 0x20 || name.data[at] > 0x7e) {
            problem_say(
                problem, "%s",
                "user_agent: invalid character; expected printable ASCII, such as importer/2.1");
            return false;
        }
    }
    if (name.size > LIBRARY_USER_AGENT_BYTES_MAX || name.data[0] == ' ') {
        problem_say(problem,
                    "user_agent: too long or begins with a space; expected at most %d bytes",
                    LIBRARY_USER_AGENT_BYTES_MAX);
        return false;
    }
    (void)snprintf(ret->user_agent, sizeof(ret->user_agent), "%s " LIBRARY_NAME,
                   config->user_agent);
    ret->lower.connection.user_agent = ret->user_agent;
    return true;
}

static bool is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* Checks the combination of files that were given. */
static bool check_tls(const struct errata_channel_config *config, const struct problem *problem)
{
    bool has_cert = is_given(config->client_cert_file);

    if (has_cert != is_given(config->client_key_file)) {
        problem_say(problem, "%s: missing; expected both client_cert_file and client_key_file",
                    has_cert ? "client_key_file" : "client_cert_file");
        return false;
    }
    if (!config->tls && (has_cert || is_given(config->ca_file))) {
        problem_say(problem, "%s: set without tls; expected tls, too",
                    has_cert ? "client_cert_file" : "ca_file");
        return false;
    }
    return true;
}

/* Reads the files of TLS. The last step: what it creates is freed by library_config_deinit. */
static bool read_tls(const struct errata_channel_config *config, const struct problem *problem,
                     struct library_config *ret)
{
    const struct tls_files files = {
        .cert = config->client_cert_file, .key = config->client_key_file, .ca = config->ca_file};
    struct arena arena;
    struct fault fault;
    enum err err = OK;

    if (!check_tls(config, problem)) {
        return false;
    }
    if (!config->tls) {
        return true;
    }
    arena_init(&arena, TLS_ARENA_BYTES);
    fault_init(&fault, &arena);
    err = tls_context_new_client(&files, &fault, &ret->lower.connection.tls);
    if (err != OK && fault.message.size > 0) {
        problem_say(problem, "tls: %.*s", (int)fault.message.size,
                    (const char *)fault.message.data);
    } else if (err != OK) {
        problem_say(problem, "%s", err_text(err));
    }
    arena_deinit(&arena);
    return err == OK;
}

void library_config_deinit(struct library_config *config)
{
    explicit_bzero(config->token, sizeof(config->token));
    tls_context_unref(config->lower.connection.tls);
    config->lower.connection.tls = NULL;
}

bool library_config_read(const struct errata_channel_config *config, const struct problem *problem,
                         struct library_config *ret_config)
{
    struct errata_channel_config given = {.server = NULL};

    if (config != NULL && !library_copy_sized(config, config->struct_bytes, &given, sizeof(given),
                                              CHANNEL_CONFIG_BYTES_MIN)) {
        problem_say(problem, "%s",
                    "config: struct_bytes is not the size of a known version; expected a struct "
                    "initialized by errata_channel_config_init");
        return false;
    }
    memset(ret_config, 0, sizeof(*ret_config));
    if (!address_read(given.server, problem, &ret_config->address) ||
        !read_token(&given, problem, ret_config) || !read_user_agent(&given, problem, ret_config) ||
        !read_times(&given, problem, ret_config) || !read_retries(&given, problem, ret_config) ||
        !read_bounds(&given, problem, ret_config) || !read_tls(&given, problem, ret_config)) {
        explicit_bzero(ret_config->token, sizeof(ret_config->token));
        return false;
    }
    ret_config->lower.log = given.log;
    ret_config->lower.connection.host = ret_config->address.host;
    ret_config->lower.connection.port = ret_config->address.port;
    return true;
}
