/*
 * connect.c: see connect.h.
 */
#include "tools/errata/engine/connect.h"

#include "client/header.h"
#include "server/codec/proto_json.h"
#include "store/base/assert.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/waiting.h"
#include "tools/errata/engine/where.h"

/* --metadata and --idempotency-key of one command line. */
#define METADATA_MAX 32
/* Calls are retried while a server restarts; without a server the command ends within about two
 * seconds. */
#define TRIES_MAX 6
#define TRIES_PAUSE_FIRST_MS 100
#define TRIES_PAUSE_LAST_MS 400
/* The time limit of one attempt to connect; the silence during a call after which a ping is sent;
 * and the time limit of its answer. */
#define TRY_TIMEOUT_MS 5000
#define SILENCE_MS 30000
#define SILENCE_TIMEOUT_MS 10000

enum cli_exit cli_channel_config(struct cli *cli, struct client_connection_config *ret_config)
{
    struct client_connection_config config = {.user_agent = "errata-cli/" ERRATA_VERSION,
                                              .connect_timeout_ms = TRY_TIMEOUT_MS,
                                              .keepalive_ms = SILENCE_MS,
                                              .keepalive_timeout_ms = SILENCE_TIMEOUT_MS};
    enum cli_exit result = where_resolve(cli);

    if (result == CLI_OK) {
        result = where_split_server(cli, cli->settings.server, &config.host, &config.port);
    }
    if (result == CLI_OK) {
        config.token = cli->token;
        config.tls = cli->tls;
        *ret_config = config;
    }
    return result;
}

enum cli_exit cli_lasting_config(struct cli *cli, struct client_channel_loop_config *ret_config)
{
    struct client_channel_loop_config config = {
        .retry = {.attempts_max = TRIES_MAX,
                  .backoff_initial_ms = TRIES_PAUSE_FIRST_MS,
                  .backoff_max_ms = TRIES_PAUSE_LAST_MS},
        .call_timeout_ms = -1}; /* cli_call_options sets the timeout of each call */
    enum cli_exit result = cli_channel_config(cli, &config.connection);

    if (result == CLI_OK) {
        *ret_config = config;
    }
    return result;
}

enum cli_exit cli_connect(struct cli *cli)
{
    struct client_channel_loop_config config = {.calls_max = 0};
    enum cli_exit result = CLI_OK;

    if (cli->client != NULL) {
        return CLI_OK;
    }
    result = cli_lasting_config(cli, &config);
    if (result == CLI_OK && client_blocking_open(&config, &cli->client) != OK) {
        result = cli_local(cli, "cannot connect to %s port %u: out of memory or file descriptors",
                           config.connection.host, (unsigned)config.connection.port);
    }
    return result;
}

void cli_disconnect(struct cli *cli)
{
    client_blocking_close(cli->client);
    cli->client = NULL;
}

const struct method_info *cli_method(const char *path)
{
    const struct method_info *method = contract_find_method(slice_text(path));

    ASSERT(method != NULL);
    return method;
}

enum err cli_try_encode(struct cli *cli, const struct method_info *method, struct slice json,
                        struct buffer *ret_wire)
{
    buffer_init(ret_wire, &cli->arena, json.size);
    return proto_json_read(&cli->ctx, method->request, json, true, ret_wire);
}

enum cli_exit cli_encode(struct cli *cli, const struct method_info *method, struct slice json,
                         struct slice *ret_wire)
{
    struct buffer wire;
    enum err err = cli_try_encode(cli, method, json, &wire);

    if (err != OK) {
        return failure_print_fault(cli, err, "the request could not be sent");
    }
    *ret_wire = buffer_slice(&wire);
    return CLI_OK;
}

enum cli_exit cli_decode(struct cli *cli, const struct method_info *method, struct slice wire,
                         struct arena *arena, struct slice *ret_json)
{
    const struct proto_json_style style = {.indent = cli->indent};
    struct ctx ctx = cli->ctx;
    struct buffer json;
    enum err err = OK;

    ctx.arena = arena;
    buffer_init(&json, arena, wire.size * 2 + 64);
    err = proto_json_write(&ctx, method->reply, wire, &style, &json);
    if (err != OK || !buffer_ok(&json)) {
        return failure_print_fault(
            cli, err != OK ? err : ERR_MEMORY,
            "the response cannot be decoded; the server may have another version");
    }
    *ret_json = buffer_slice(&json);
    return CLI_OK;
}

static enum cli_exit add_metadata(struct cli *cli, const char *text, struct client_options *options,
                                  struct client_metadata *list)
{
    const char *colon = strchr(text, ':');

    if (colon == NULL || colon == text) {
        return cli_usage(cli, "--metadata \"%s\": malformed; expected KEY:VALUE", text);
    }
    if (options->metadata_count == METADATA_MAX) {
        return cli_usage(cli, "--metadata: given too often; expected at most %d times",
                         METADATA_MAX);
    }
    list[options->metadata_count++] =
        (struct client_metadata){slice_of(text, (size_t)(colon - text)), slice_text(colon + 1)};
    return CLI_OK;
}

enum cli_exit cli_call_options(struct cli *cli, const struct method_info *method,
                               struct client_options *ret_options)
{
    struct client_metadata *list =
        arena_calloc(&cli->arena, METADATA_MAX + 1, sizeof(struct client_metadata));
    struct client_options options = {.metadata = list, .no_retry = cli->once};
    const char *key = options_get(&cli->options, "idempotency-key");
    const char *text = NULL;
    enum cli_exit result = CLI_OK;

    if (list == NULL) {
        return cli_local(cli, "out of memory");
    }
    options.timeout_ms = cli->timeout_ms;
    if (options.timeout_ms == 0 && method->stream == METHOD_UNARY) {
        options.timeout_ms = CONNECT_TIMEOUT_MS;
    }
    for (size_t at = 0; (text = options_next(&cli->options, "metadata", &at)) != NULL;) {
        result = add_metadata(cli, text, &options, list);
        if (result != CLI_OK) {
            return result;
        }
    }
    if (key != NULL) {
        list[options.metadata_count++] =
            (struct client_metadata){SLICE("idempotency-key"), slice_text(key)};
    }
    *ret_options = options;
    return CLI_OK;
}

enum cli_exit cli_call_status(struct cli *cli, const struct client_request *request,
                              struct arena *arena, struct client_result *ret_result)
{
    struct waiting_line waiting;
    enum cli_exit result = cli_connect(cli);
    enum err err = OK;

    if (result != CLI_OK) {
        return result;
    }
    waiting_begin(&waiting, cli);
    err = client_call_blocking(cli->client, request, arena, ret_result);
    waiting_end(&waiting);
    return err == OK ? CLI_OK : failure_print_start(cli, err);
}

enum cli_exit cli_call_with(struct cli *cli, const struct client_request *request,
                            struct arena *arena, struct slice *ret_reply)
{
    struct client_result answer = {.reply = {NULL, 0}};
    enum cli_exit result = cli_call_status(cli, request, arena, &answer);

    if (result != CLI_OK) {
        return result;
    }
    if (answer.status.code != CLIENT_CODE_OK) {
        return failure_print_status(cli, &answer.status);
    }
    return cli_decode(cli, request->method, answer.reply, arena, ret_reply);
}

enum cli_exit cli_call(struct cli *cli, const char *path, struct slice json,
                       struct slice *ret_reply)
{
    struct client_options options = {.timeout_ms = 0};
    struct client_request request = {.method = cli_method(path), .options = &options};
    enum cli_exit result = cli_encode(cli, request.method, json, &request.message);

    if (result == CLI_OK) {
        result = cli_call_options(cli, request.method, &options);
    }
    if (result != CLI_OK) {
        return result;
    }
    return cli_call_with(cli, &request, &cli->arena, ret_reply);
}

enum cli_exit cli_call_reply(struct cli *cli, const char *path, struct slice json,
                             struct json_value *ret_reply)
{
    struct slice reply = {NULL, 0};
    enum cli_exit result = cli_call(cli, path, json, &reply);

    return result == CLI_OK ? reply_parse(cli, reply, ret_reply) : result;
}
