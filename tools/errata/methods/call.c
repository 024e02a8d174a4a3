/*
 * call.c: `errata call`: calls any unary or server-streaming method, by name, with its request as
 * JSON.
 */
#include "client/header.h"
#include "tools/errata/commands.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/reader.h"
#include "tools/errata/methods/latency.h"
#include "tools/errata/methods/methods.h"

#include <stdio.h>

/* Memory limit for the JSON of one streamed reply. */
#define STREAM_ARENA_BYTES_MAX ((size_t)256 * 1024 * 1024)

/* Destination of a stream's replies. */
struct printing {
    struct cli *cli;
    const struct method_info *method;
    struct arena arena; /* memory of one reply */
    enum cli_exit result;
    bool closed; /* the reader of the output has closed it */
};

static bool print_reply(void *user, struct slice message)
{
    struct printing *printing = user;
    struct slice json = {NULL, 0};

    arena_reset(&printing->arena);
    printing->result =
        cli_decode(printing->cli, printing->method, message, &printing->arena, &json);
    if (printing->result != CLI_OK) {
        return false;
    }
    print_json(&printing->cli->out, json);
    printing->closed = fflush(printing->cli->out.stream) != 0;
    return !printing->closed;
}

static enum cli_exit call_stream(struct cli *cli, const struct client_request *request)
{
    struct printing printing = {.cli = cli, .method = request->method};
    struct client_result answer = {.reply = {NULL, 0}};
    enum err err = OK;

    printing.result = cli_connect(cli);
    if (printing.result != CLI_OK) {
        return printing.result;
    }
    reader_end_without();
    arena_init(&printing.arena, STREAM_ARENA_BYTES_MAX);
    err =
        client_stream_blocking(cli->client, request, print_reply, &printing, &cli->arena, &answer);
    arena_deinit(&printing.arena);
    if (err != OK) {
        return failure_print_start(cli, err);
    }
    if (printing.result != CLI_OK || printing.closed || answer.status.code == CLIENT_CODE_OK) {
        return printing.result;
    }
    return failure_print_status(cli, &answer.status);
}

static enum cli_exit call_unary(struct cli *cli, const struct client_request *request)
{
    struct slice json = {NULL, 0};
    enum cli_exit result = CLI_OK;

    cli->indent = cli->out.terminal && !cli->json ? 2 : 0;
    result = cli_call_with(cli, request, &cli->arena, &json);

    if (result == CLI_OK) {
        print_json(&cli->out, json);
    }
    return result;
}

static enum cli_exit run_call(struct cli *cli)
{
    struct client_options options = {.timeout_ms = 0};
    struct client_request request = {.options = &options};
    const char *repeat = options_get(&cli->options, "repeat");
    struct slice json = SLICE("{}");
    enum cli_exit result = methods_find(cli, cli->options.words[0], &request.method);

    if (result == CLI_OK && cli->options.word_count > 1) {
        result = input_argument(cli, cli->options.words[1], &json);
    }
    if (result == CLI_OK) {
        result = cli_encode(cli, request.method, json, &request.message);
    }
    if (result == CLI_OK) {
        result = cli_call_options(cli, request.method, &options);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (request.method->stream == METHOD_CLIENT_STREAM) {
        return cli_usage(cli, "METHOD: takes a stream of requests; expected a method with one "
                              "request: use `errata layouts ingest` for documents");
    }
    options.gzip = options_has(&cli->options, "gzip");
    if (repeat != NULL) {
        return latency_run(cli, &request, repeat);
    }
    return request.method->stream == METHOD_UNARY ? call_unary(cli, &request)
                                                  : call_stream(cli, &request);
}

static const struct option_spec call_options[] = {
    {"metadata", "KEY:VALUE", "metadata to send with the call; may be repeated"},
    {"idempotency-key", "KEY", "key that makes a write safe to repeat for 24 hours"},
    {"gzip", NULL, "compress the request and accept a compressed response"},
    {"repeat", "N", "call N times over one connection and print the latency instead"},
    {NULL, NULL, NULL}};

const struct command call_commands[] = {
    {.name = "call",
     .arguments = "METHOD [JSON|@FILE|-]",
     .summary = "call any method, with its request as JSON",
     .help = "Calls a method with one reply or a stream of replies. METHOD is "
             "`errata.v1.PromptService/GetExamples`, `PromptService/GetExamples`, or `GetExamples` "
             "if only one service has it. The request is proto JSON, by default {}. Members may "
             "use either spelling, and enum values their full or short names. Unknown members are "
             "refused; `errata methods METHOD` lists the known ones.\n\nThe reply is printed as "
             "JSON, on one line unless the output is a terminal. A stream is printed as one line "
             "per reply, until it ends or is interrupted.",
     .examples =
         {{"errata call GetExamples '{\"layout_fingerprint\": \"a1b2c3\", \"max_examples\": 5}'",
           NULL},
          {"errata call FeedbackService/CaptureFeedbackEvent @request.json", NULL},
          {"errata call EventService/WatchEvents '{\"from_seq\": 1}' | jq .event.seq",
           "until it is interrupted"},
          {"errata call GetExamples '{\"layout_fingerprint\": \"a1b2c3\"}' --repeat 1000",
           "how long a lookup takes"}},
     .options = call_options,
     .run = run_call},
    {.name = NULL}};
