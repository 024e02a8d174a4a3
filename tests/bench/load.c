/*
 * load.c: a load generator for the measurements of tests/bench/run: sends requests that were made
 * beforehand to any gRPC server, over liberrata, and tells how long they took. Closed loop: a fixed
 * number of calls is always in flight. Open loop: calls start by a schedule, whether earlier ones
 * have ended or not, and their time counts from when they were due, so that a stall is not hidden.
 * One thread, for one core. It knows nothing of the messages: a file gives their bytes.
 */
#include "client/channel.h"
#include "server/codec/contract.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define CONNECTIONS_MAX 256
#define CALLS_MAX 100000 /* in flight, open loop: above it calls are counted as dropped */
#define SAMPLES_MAX 20000000 /* latencies kept, 4 bytes each */
#define CODES 17
#define TOKEN_BYTES_MAX 256

struct load;

struct load_call {
    struct load *load;
    struct load_call *next_free;
    uint64_t due_ns;
    size_t reply_bytes;
};

struct load {
    uv_loop_t loop;
    struct client_channel *channels[CONNECTIONS_MAX];
    size_t connection_count;
    const struct method_info *method;
    const uint8_t *bodies; /* big-endian length, bytes, again and again */
    struct slice *requests; /* into bodies */
    size_t request_count;
    uint64_t random; /* state of the draw */
    struct load_call *free_calls;
    size_t in_flight;
    size_t in_flight_wanted; /* closed loop; 0: open loop */
    double interval_ns; /* open loop */
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t warm_up_ns; /* latencies before this do not count */
    uint64_t started;
    uint64_t dropped;
    uint64_t by_code[CODES];
    uint64_t reply_bytes;
    uint32_t *samples_us10; /* tenths of microseconds */
    size_t sample_count;
    bool stopping;
    size_t channels_open;
};

static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "bench_load: %s: %s\n", what, detail);
    exit(2);
}

/* SplitMix64: which request comes next. */
static uint64_t draw(struct load *load)
{
    uint64_t x = load->random += 0x9E3779B97F4A7C15u;

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static void start_call(struct load *load, uint64_t due_ns);

static void on_reply(void *user, struct slice message)
{
    struct load_call *call = user;

    call->reply_bytes += message.size;
}

static void on_end(void *user, const struct client_status *status)
{
    struct load_call *call = user;
    struct load *load = call->load;
    uint64_t now = uv_hrtime();

    load->in_flight--;
    load->by_code[status->code < CODES ? status->code : 2]++;
    load->reply_bytes += call->reply_bytes;
    if (now >= load->warm_up_ns && load->sample_count < SAMPLES_MAX && status->code == 0) {
        uint64_t taken = (now - call->due_ns) / 100;

        load->samples_us10[load->sample_count++] =
            taken > UINT32_MAX ? UINT32_MAX : (uint32_t)taken;
    }
    call->next_free = load->free_calls;
    load->free_calls = call;
    if (load->in_flight_wanted != 0 && now < load->end_ns) {
        start_call(load, uv_hrtime());
    }
}

static void start_call(struct load *load, uint64_t due_ns)
{
    struct client_options options = {.timeout_ms = 30000};
    struct load_call *call = load->free_calls;
    struct client_handlers handlers = {.on_reply = on_reply, .on_end = on_end};
    struct client_call *started = NULL;
    struct client_channel *channel = NULL;
    enum err err = OK;

    if (call == NULL) {
        load->dropped++;
        return;
    }
    load->free_calls = call->next_free;
    *call = (struct load_call){.load = load, .due_ns = due_ns};
    handlers.user = call;
    channel = load->channels[load->started++ % load->connection_count];
    err = client_channel_start(channel, load->method,
                               load->requests[draw(load) % load->request_count], &options,
                               &handlers, &started);
    if (err != OK) {
        fail("a call did not start", err_text(err));
    }
    load->in_flight++;
}

static void on_closed(void *user)
{
    struct load *load = user;

    load->channels_open--;
}

/* Every turn: starts what is due, and ends when all is answered. Idle handles keep the loop from
 * sleeping, so that a schedule is kept to the microsecond on a core of its own. */
static void on_turn(uv_idle_t *idle)
{
    struct load *load = idle->data;
    uint64_t now = uv_hrtime();

    if (load->in_flight_wanted == 0) {
        while (now < load->end_ns) {
            uint64_t due = load->start_ns + (uint64_t)((double)load->started * load->interval_ns);

            if (due > now || due >= load->end_ns) {
                break;
            }
            start_call(load, due);
        }
    }
    if (now >= load->end_ns && load->in_flight == 0 && !load->stopping) {
        load->stopping = true;
        for (size_t i = 0; i < load->connection_count; i++) {
            client_channel_close(load->channels[i], on_closed, load);
        }
        uv_close((uv_handle_t *)idle, NULL);
    }
}

static void read_requests(struct load *load, const char *path)
{
    FILE *file = fopen(path, "rbe");
    uint8_t *bytes = NULL;
    size_t size = 0;
    size_t at = 0;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fail(path, strerror(errno));
    }
    size = (size_t)ftell(file);
    bytes = malloc(size + 1);
    rewind(file);
    if (bytes == NULL || fread(bytes, 1, size, file) != size) {
        fail(path, "cannot be read");
    }
    fclose(file);
    load->requests = calloc(size / 4 + 1, sizeof(*load->requests));
    if (load->requests == NULL) {
        fail(path, "no memory");
    }
    while (size - at >= 4) {
        size_t length = (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 |
                        (size_t)bytes[at + 2] << 8 | (size_t)bytes[at + 3];

        if (length > size - at - 4) {
            fail(path, "a request is cut short");
        }
        load->requests[load->request_count++] = slice_of(bytes + at + 4, length);
        at += 4 + length;
    }
    load->bodies = bytes;
    if (load->request_count == 0) {
        fail(path, "no request in it");
    }
}

static int compare_samples(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static double percentile_us(const struct load *load, double share)
{
    size_t at = (size_t)(share * (double)load->sample_count);

    if (load->sample_count == 0) {
        return -1;
    }
    return load->samples_us10[at < load->sample_count ? at : load->sample_count - 1] / 10.0;
}

static void print_result(struct load *load)
{
    uint64_t answered = 0;
    double seconds = (double)(uv_hrtime() - load->start_ns) / 1e9;

    for (size_t i = 0; i < CODES; i++) {
        answered += load->by_code[i];
    }
    qsort(load->samples_us10, load->sample_count, sizeof(uint32_t), compare_samples);
    printf("{\"answered\": %" PRIu64 ", \"ok\": %" PRIu64 ", \"dropped\": %" PRIu64
           ", \"seconds\": %.3f, \"rate\": %.1f, \"reply_bytes\": %.1f, ",
           answered, load->by_code[0], load->dropped, seconds, (double)answered / seconds,
           answered == 0 ? 0.0 : (double)load->reply_bytes / (double)answered);
    printf("\"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f, "
           "\"max_us\": %.1f, \"codes\": {",
           percentile_us(load, 0.50), percentile_us(load, 0.90), percentile_us(load, 0.99),
           percentile_us(load, 0.999), percentile_us(load, 1.0));
    for (size_t i = 0, shown = 0; i < CODES; i++) {
        if (load->by_code[i] != 0) {
            printf("%s\"%zu\": %" PRIu64, shown++ == 0 ? "" : ", ", i, load->by_code[i]);
        }
    }
    printf("}}\n");
}

static struct slice read_token(const char *path, char text[TOKEN_BYTES_MAX])
{
    FILE *file = NULL;
    size_t size = 0;

    if (strcmp(path, "-") == 0) {
        return slice_of(NULL, 0);
    }
    file = fopen(path, "re");
    if (file == NULL) {
        fail(path, strerror(errno));
    }
    size = fread(text, 1, TOKEN_BYTES_MAX, file);
    fclose(file);
    while (size > 0 && text[size - 1] == '\n') {
        size--;
    }
    return slice_of(text, size);
}

static double number_of(const char *text)
{
    char *end = NULL;
    double number = strtod(text, &end);

    if (end == text || *end != '\0' || number < 0) {
        fail(text, "is no number");
    }
    return number;
}

static void open_channels(struct load *load, const char *host, uint16_t port, struct slice token)
{
    struct client_channel_config config = {.host = host, .port = port, .token = token};

    for (size_t i = 0; i < load->connection_count; i++) {
        enum err err = client_channel_open(&load->loop, &config, &load->channels[i]);

        if (err != OK) {
            fail(host, err_text(err));
        }
        load->channels_open++;
    }
}

static void run(struct load *load, double warm_up_s, double seconds)
{
    uv_idle_t idle;
    struct load_call *calls = calloc(CALLS_MAX, sizeof(*calls));

    load->samples_us10 = malloc(SAMPLES_MAX * sizeof(uint32_t));
    if (calls == NULL || load->samples_us10 == NULL || uv_idle_init(&load->loop, &idle) != 0) {
        fail("start", "no memory");
    }
    for (size_t i = 0; i < CALLS_MAX; i++) {
        calls[i].next_free = load->free_calls;
        load->free_calls = &calls[i];
    }
    load->start_ns = uv_hrtime();
    load->warm_up_ns = load->start_ns + (uint64_t)(warm_up_s * 1e9);
    load->end_ns = load->warm_up_ns + (uint64_t)(seconds * 1e9);
    for (size_t i = 0; i < load->in_flight_wanted; i++) {
        start_call(load, uv_hrtime());
    }
    idle.data = load;
    uv_idle_start(&idle, on_turn);
    uv_run(&load->loop, UV_RUN_DEFAULT);
    print_result(load);
    free(load->samples_us10);
    free(calls);
}

int main(int argc, char **argv)
{
    static struct load load; /* one run of one program */
    char token[TOKEN_BYTES_MAX];
    struct method_info foreign = {.stream = METHOD_UNARY};

    if (argc != 11) {
        fprintf(
            stderr,
            "usage: bench_load HOST PORT TOKEN_FILE|- METHOD_PATH REQUESTS_FILE CONNECTIONS\n"
            "                  IN_FLIGHT_A_CONNECTION RATE WARM_UP_S SECONDS\n"
            "RATE 0 is a closed loop; else calls a second, and IN_FLIGHT counts for nothing.\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    foreign.path = slice_text(argv[4]);
    load.method = contract_find_method(foreign.path);
    if (load.method == NULL) {
        load.method = &foreign;
    }
    load.random = 42;
    load.connection_count = (size_t)number_of(argv[6]);
    if (load.connection_count == 0 || load.connection_count > CONNECTIONS_MAX) {
        fail(argv[6], "between 1 and 256 connections");
    }
    if (number_of(argv[8]) > 0) {
        load.interval_ns = 1e9 / number_of(argv[8]);
    } else {
        load.in_flight_wanted = load.connection_count * (size_t)number_of(argv[7]);
    }
    if (uv_loop_init(&load.loop) != 0) {
        fail("start", "no loop");
    }
    read_requests(&load, argv[5]);
    open_channels(&load, argv[1], (uint16_t)number_of(argv[2]), read_token(argv[3], token));
    run(&load, number_of(argv[9]), number_of(argv[10]));
    return 0;
}
