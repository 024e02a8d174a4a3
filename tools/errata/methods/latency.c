/*
 * latency.c: see latency.h. A closed loop: the next call starts when the last has ended, so a slow
 * server gets fewer calls. errata-bench measures under load.
 */
#include "tools/errata/methods/latency.h"

#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/input.h"

#include <stdlib.h>

/* Memory limit for one reply and its status. */
#define REPLY_ARENA_BYTES_MAX ((size_t)256 * 1024 * 1024)
/* The first calls fill caches and make the connection, so they are not measured. */
#define WARM_UP_CALLS 10

static int compare(const void *a, const void *b)
{
    const int64_t *left = a;
    const int64_t *right = b;

    return (*left > *right) - (*left < *right);
}

static enum cli_exit measure_one(struct cli *cli, const struct client_request *request,
                                 struct arena *arena, int64_t *ret_us)
{
    struct client_result answer = {.reply = {NULL, 0}};
    int64_t start_us = clock_monotonic_us(cli->ctx.clock);
    enum err err = client_call_blocking(cli->client, request, arena, &answer);

    if (err != OK) {
        return failure_print_start(cli, err);
    }
    if (answer.status.code != 0) {
        return failure_print_status(cli, &answer.status);
    }
    *ret_us = clock_monotonic_us(cli->ctx.clock) - start_us;
    arena_reset(arena);
    return CLI_OK;
}

static void print_latency(struct cli *cli, const int64_t *sorted_us, size_t count)
{
    size_t last = count - 1;
    long long p50 = (long long)sorted_us[last * 50 / 100];
    long long p90 = (long long)sorted_us[last * 90 / 100];
    long long p99 = (long long)sorted_us[last * 99 / 100];
    long long slowest = (long long)sorted_us[last];

    if (cli->json) {
        print_text(
            &cli->out,
            "{\"calls\":%zu,\"p50_us\":%lld,\"p90_us\":%lld,\"p99_us\":%lld,\"max_us\":%lld}\n",
            count, p50, p90, p99, slowest);
    } else {
        print_text(&cli->out,
                   "%zu calls, one after the other over one connection: p50 %lld us, p90 %lld us, "
                   "p99 %lld us, slowest %lld us\n",
                   count, p50, p90, p99, slowest);
    }
}

enum cli_exit latency_run(struct cli *cli, const struct client_request *request, const char *repeat)
{
    int64_t count = 0;
    int64_t *spans_us = NULL;
    struct arena arena;
    enum cli_exit result = CLI_OK;

    if (!input_number(repeat, &count) || count < 1 || count > LATENCY_REPEAT_MAX) {
        return cli_usage(cli, "--repeat \"%s\": invalid number; expected 1 to %d", repeat,
                         LATENCY_REPEAT_MAX);
    }
    if (request->method->stream != METHOD_UNARY) {
        return cli_usage(cli, "--repeat: not supported for streaming methods; expected a method "
                              "with one request and one reply");
    }
    result = cli_connect(cli);
    if (result != CLI_OK) {
        return result;
    }
    spans_us = calloc((size_t)count, sizeof(*spans_us));
    if (spans_us == NULL) {
        return cli_local(cli, "out of memory for %s measurements", repeat);
    }
    arena_init(&arena, REPLY_ARENA_BYTES_MAX);
    for (int64_t i = -WARM_UP_CALLS; i < count && result == CLI_OK; i++) {
        result = measure_one(cli, request, &arena, &spans_us[i < 0 ? 0 : i]);
    }
    if (result == CLI_OK) {
        qsort(spans_us, (size_t)count, sizeof(*spans_us), compare);
        print_latency(cli, spans_us, (size_t)count);
    }
    arena_deinit(&arena);
    free(spans_us);
    return result;
}
