/*
 * stream_call.c: see stream_call.h.
 */
#include "tools/errata/engine/stream_call.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/fill.h"

#include "client/header.h"

/* Memory limit for the status of a stream: texts and metadata. */
#define STATUS_ARENA_BYTES_MAX (1u << 20)

struct streaming {
    struct cli *cli;
    const struct stream_call *call;
    const struct method_info *method;
    enum cli_exit result;
};

static enum cli_exit show(struct streaming *streaming, struct slice message)
{
    struct cli *cli = streaming->cli;
    struct slice json = {NULL, 0};
    enum cli_exit result = CLI_OK;

    arena_reset(&cli->arena);
    if (cli->json) {
        result = cli_decode(cli, streaming->method, message, &cli->arena, &json);
        if (result == CLI_OK) {
            print_json(&cli->out, json);
        }
    }
    return result == CLI_OK ? streaming->call->take(cli, message, streaming->call->user) : result;
}

static bool take_message(void *user, struct slice message)
{
    struct streaming *streaming = user;

    streaming->result = show(streaming, message);
    return streaming->result == CLI_OK && fflush(streaming->cli->out.stream) == 0;
}

static enum cli_exit stream(struct streaming *streaming, struct arena *arena)
{
    struct cli *cli = streaming->cli;
    struct client_options options = {.timeout_ms = 0};
    struct client_request call = {.method = streaming->method, .options = &options};
    struct client_result answer = {.reply = {NULL, 0}};
    struct request request;
    enum cli_exit result = CLI_OK;
    enum err err = OK;

    request_begin(&request, cli);
    if (streaming->call->fill != NULL) {
        result = streaming->call->fill(&request, cli);
    }
    if (result == CLI_OK) {
        result = fill_request(&request, cli, streaming->method);
    }
    if (result == CLI_OK) {
        result = cli_encode(cli, call.method, request_end(&request), &call.message);
    }
    if (result == CLI_OK) {
        result = cli_call_options(cli, call.method, &options);
    }
    if (result == CLI_OK) {
        result = cli_connect(cli);
    }
    if (result != CLI_OK) {
        return result;
    }
    err = client_stream_blocking(cli->client, &call, take_message, streaming, arena, &answer);
    progress_hide(&cli->progress);
    if (err != OK) {
        return failure_print_start(cli, err);
    }
    return streaming->result == CLI_OK && answer.status.code != CLIENT_CODE_OK
               ? failure_print_status(cli, &answer.status)
               : streaming->result;
}

enum cli_exit stream_call_run(struct cli *cli, const struct stream_call *call)
{
    struct streaming streaming = {.cli = cli, .call = call, .method = cli_method(call->path)};
    struct arena arena;
    enum cli_exit result = CLI_OK;

    arena_init(&arena, STATUS_ARENA_BYTES_MAX);
    result = stream(&streaming, &arena);
    arena_deinit(&arena);
    return result;
}
