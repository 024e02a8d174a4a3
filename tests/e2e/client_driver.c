/*
 * client_driver.c: makes calls over the lasting channel, for the tests client_*.py, which simulate
 * failures of the server. A call is a line of standard input, PATH KEY HEX: the method's path, its
 * idempotency key or "-", and the request's bytes. As calls end, each is reported in a line:
 *
 *     NUMBER CODE ATTEMPTS FROM_SERVER UNSEEN REPLIES MILLISECONDS KEY MESSAGE
 *
 * and a last line has the channel's counts: "channel" and its statistics. Times that users may not
 * make as short as a test needs are options here.
 */
#include "client/channel_loop.h"
#include "server/codec/contract.h"
#include "store/base/assert.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

/* A call's line, and the calls of one run. */
#define LINE_BYTES_MAX ((size_t)64 * 1024)
#define CALLS_MAX ((size_t)100000)
/* Maximum calls under way at a time. */
#define PLACES_MAX ((size_t)64)

/* A sequence of calls, one after another. */
struct place {
    struct driver *driver;
    uv_timer_t pause; /* active between two calls */
};

struct call {
    struct place *place; /* allocated when the driver starts */
    const struct method_info *method;
    char *key; /* owned; NULL: the channel's own */
    uint8_t *request; /* owned */
    size_t request_bytes;
    size_t number;
    int64_t started_ms;
    unsigned replies;
};

struct driver {
    uv_loop_t loop;
    struct client_channel *channel;
    struct client_channel_loop_config config;
    struct client_options options;
    int64_t at_once;
    int64_t pause_ms; /* pause between two calls of a sequence */
    struct place places[PLACES_MAX];
    struct call *calls; /* owned */
    size_t call_count;
    size_t started;
    size_t ended;
};

_Noreturn static void fail(const char *what, const char *which)
{
    (void)fprintf(stderr, "client_driver: %s: %s\n", what, which);
    exit(2);
}

/* --- input --- */

static int64_t read_number(const char *text)
{
    char *end = NULL;
    long long number = strtoll(text, &end, 10);

    if (end == text || *end != '\0') {
        fail("no number", text);
    }
    return number;
}

static void read_server(struct driver *driver, char *text)
{
    char *colon = strrchr(text, ':');

    if (colon == NULL) {
        fail("no HOST:PORT", text);
    }
    *colon = '\0';
    driver->config.connection.host = text;
    driver->config.connection.port = (uint16_t)read_number(colon + 1);
}

static void read_option(struct driver *driver, const char *name, char *value)
{
    struct client_connection_config *connection = &driver->config.connection;
    const struct {
        const char *name;
        int64_t *place;
    } numbers[] = {{"--connect-timeout-ms", &connection->connect_timeout_ms},
                   {"--keepalive-ms", &connection->keepalive_ms},
                   {"--keepalive-timeout-ms", &connection->keepalive_timeout_ms},
                   {"--backoff-ms", &driver->config.retry.backoff_initial_ms},
                   {"--backoff-max-ms", &driver->config.retry.backoff_max_ms},
                   {"--timeout-ms", &driver->options.timeout_ms},
                   {"--at-once", &driver->at_once},
                   {"--pause-ms", &driver->pause_ms}};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].place = read_number(value);
            return;
        }
    }
    if (strcmp(name, "--server") == 0) {
        read_server(driver, value);
    } else if (strcmp(name, "--token") == 0) {
        connection->token = slice_text(value);
    } else if (strcmp(name, "--token-file") == 0) {
        driver->config.token_file = value;
    } else if (strcmp(name, "--attempts") == 0) {
        driver->config.retry.attempts_max = (uint32_t)read_number(value);
    } else if (strcmp(name, "--wait-for-ready") == 0) {
        driver->options.wait_for_ready = read_number(value) != 0;
    } else {
        fail("no such option", name);
    }
}

static unsigned hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = digit != '\0' ? strchr(digits, digit) : NULL;

    if (at == NULL) {
        fail("no hexadecimal digit", (char[]){digit, '\0'});
    }
    return (unsigned)(at - digits);
}

static void read_call(struct driver *driver, char *line)
{
    struct call *call = &driver->calls[driver->call_count];
    char *key = strchr(line, ' ');
    char *hex = key != NULL ? strchr(key + 1, ' ') : NULL;

    if (hex == NULL || driver->call_count == CALLS_MAX) {
        fail("no call, or too many", line);
    }
    *key++ = '\0';
    *hex++ = '\0';
    *call = (struct call){.method = contract_find_method(slice_text(line)),
                          .key = strcmp(key, "-") != 0 ? strdup(key) : NULL,
                          .request = malloc(strlen(hex) / 2 + 1),
                          .number = driver->call_count};
    if (call->method == NULL || call->request == NULL) {
        fail("no such method", line);
    }
    while (hex[0] != '\0') {
        call->request[call->request_bytes++] =
            (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
        hex += 2;
    }
    driver->call_count++;
}

static void read_calls(struct driver *driver)
{
    static char line[LINE_BYTES_MAX];

    driver->calls = calloc(CALLS_MAX, sizeof(struct call));
    ASSERT(driver->calls != NULL);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        read_call(driver, line);
    }
}

/* --- calls --- */

static void on_reply(void *user, struct slice message)
{
    struct call *call = user;

    (void)message;
    call->replies++;
}

static void start_next(struct place *place);

static void on_rested(uv_timer_t *timer)
{
    start_next(timer->data);
}

static void on_end(void *user, const struct client_status *status)
{
    struct call *call = user;
    struct driver *driver = call->place->driver;

    uv_update_time(&driver->loop);
    (void)printf("%zu %u %u %d %d %u %lld %.*s %.*s\n", call->number, status->code,
                 status->attempts, status->from_server, status->unseen, call->replies,
                 (long long)((int64_t)uv_now(&driver->loop) - call->started_ms),
                 status->idempotency_key.size > 0 ? (int)status->idempotency_key.size : 1,
                 status->idempotency_key.size > 0 ? (const char *)status->idempotency_key.data
                                                  : "-",
                 (int)status->message.size, (const char *)status->message.data);
    (void)fflush(stdout);
    driver->ended++;
    if (driver->pause_ms == 0) {
        start_next(call->place);
    } else {
        (void)uv_timer_start(&call->place->pause, on_rested, (uint64_t)driver->pause_ms, 0);
    }
}

static void start_next(struct place *place)
{
    struct driver *driver = place->driver;
    struct call *call = &driver->calls[driver->started];
    const struct client_handlers handlers = {.user = call, .on_reply = on_reply, .on_end = on_end};
    struct client_metadata key = {SLICE("idempotency-key"), {NULL, 0}};
    struct client_options options = driver->options;
    struct client_call *started = NULL;

    if (driver->started == driver->call_count) {
        return;
    }
    driver->started++;
    call->place = place;
    if (call->key != NULL) {
        key.value = slice_text(call->key);
        options.metadata = &key;
        options.metadata_count = 1;
    }
    call->started_ms = (int64_t)uv_now(&driver->loop);
    if (client_call_start(driver->channel, call->method,
                          slice_of(call->request, call->request_bytes), &options, &handlers,
                          &started) != OK) {
        fail("a call was not taken", (const char *)call->method->path.data);
    }
}

static void print_statistics(const struct driver *driver)
{
    struct client_channel_statistics now;

    client_channel_loop_read_statistics(driver->channel, &now);
    (void)printf("channel attempts %llu connections %llu lost %llu failures %llu\n",
                 (unsigned long long)now.attempts, (unsigned long long)now.connections,
                 (unsigned long long)now.connections_lost,
                 (unsigned long long)now.connect_failures);
}

static void start_places(struct driver *driver)
{
    if (driver->at_once < 1 || driver->at_once > (int64_t)PLACES_MAX) {
        fail("too few or too many", "--at-once");
    }
    for (int64_t i = 0; i < driver->at_once; i++) {
        struct place *place = &driver->places[i];

        place->driver = driver;
        (void)uv_timer_init(&driver->loop, &place->pause);
        place->pause.data = place;
        start_next(place);
    }
}

static void free_driver(struct driver *driver)
{
    for (size_t i = 0; i < driver->call_count; i++) {
        free(driver->calls[i].key);
        free(driver->calls[i].request);
    }
    free(driver->calls);
}

int main(int count, char **arguments)
{
    static struct driver driver;

    driver.at_once = 1;
    for (int i = 1; i + 1 < count; i += 2) {
        read_option(&driver, arguments[i], arguments[i + 1]);
    }
    read_calls(&driver);
    (void)signal(SIGPIPE, SIG_IGN);
    ASSERT(uv_loop_init(&driver.loop) == 0);
    if (client_channel_loop_open(&driver.loop, &driver.config, &driver.channel) != OK) {
        fail("no channel", "see --server");
    }
    start_places(&driver);
    /* The loop ends by itself: all calls end, and the channel does not keep it running. */
    (void)uv_run(&driver.loop, UV_RUN_DEFAULT);
    ASSERT(driver.ended == driver.call_count);
    print_statistics(&driver);
    client_channel_loop_close(driver.channel, NULL, NULL);
    for (int64_t i = 0; i < driver.at_once; i++) {
        uv_close((uv_handle_t *)&driver.places[i].pause, NULL);
    }
    (void)uv_run(&driver.loop, UV_RUN_DEFAULT);
    ASSERT(uv_loop_close(&driver.loop) == 0);
    free_driver(&driver);
    return 0;
}
