/*
 * server.c: the program that public protocol suites are run against: net, both versions of HTTP, gRPC,
 * gRPC-Web and Connect as erratad has them, and after them the services that the suites ask for.
 *   suite_server PORT            the services; port 0: any. Prints the address it listens on
 *   suite_server PORT plain      HTTP/2 alone (plain.h)
 *   suite_server conformance     the services, as the conformance suite's runner starts a server
 *                                (compat.h), with TLS if it wants that
 */
#include "server/net/server.h"
#include "server/connect/connect.h"
#include "server/grpc_web/grpc_web.h"
#include "server/http/http_cors.h"
#include "server/http1/http1.h"
#include "server/tls/tls.h"
#include "store/base/assert.h"
#include "tests/suites/compat.h"
#include "tests/suites/plain.h"
#include "tests/suites/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define SERVER_DRAIN_MS 1000
/* HTTP/2 with gRPC, and HTTP/1.1. */
#define SERVER_PROTOCOLS_MAX 2
#define US_IN_MS 1000
/* Room for one message. */
#define FAULT_BYTES_MAX 4096

/* A path of compat_file. */
#define PATH_BYTES_MAX 40

struct server {
    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_timer_t timer;
    struct suite *suite;
    struct call_server *calls;
    struct http_cors cors; /* no origins */
    struct http_server *http;
    struct grpc_server *grpc;
    struct http1_server *http1;
    struct tls_server *tls; /* NULL: cleartext */
    struct plain *plain;
    struct net_server *net;
    struct arena arena; /* memory of the fault */
    struct fault fault; /* reason why it cannot listen */
    struct compat compat; /* zero unless the conformance suite's runner started it */
    bool is_plain;
    bool is_conformance;
    bool ending;
};

static void on_tick(void *user, int64_t now_us)
{
    struct server *server = user;

    if (server->calls != NULL) {
        call_server_tick(server->calls, now_us);
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct server *server = timer->data;

    suite_run_due(server->suite);
}

static void want_timer(void *user, int64_t in_us)
{
    struct server *server = user;

    if (server->ending) {
        return;
    }
    if (in_us == INT64_MAX) {
        (void)uv_timer_stop(&server->timer);
        return;
    }
    /* A little late rather than early; libuv's idea of now may be old. */
    uv_update_time(&server->loop);
    ASSERT(uv_timer_start(&server->timer, on_timer, (uint64_t)(in_us / US_IN_MS + 1), 0) == 0);
}

static void on_closed(void *user)
{
    struct server *server = user;

    net_server_free(server->net);
    tls_server_free(server->tls);
    http1_server_free(server->http1);
    grpc_server_free(server->grpc);
    http_server_free(server->http);
    call_server_free(server->calls);
    suite_free(server->suite);
    plain_free(server->plain);
}

static void on_drained(void *user)
{
    struct server *server = user;

    net_server_close(server->net, on_closed, server);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;

    (void)number;
    if (server->ending) {
        return;
    }
    server->ending = true;
    uv_close((uv_handle_t *)&server->timer, NULL);
    for (size_t i = 0; i < sizeof(server->signals) / sizeof(server->signals[0]); i++) {
        uv_close((uv_handle_t *)&server->signals[i], NULL);
    }
    net_server_drain(server->net, SERVER_DRAIN_MS, on_drained, server);
}

static void watch_signals(struct server *server)
{
    static const int numbers[] = {SIGTERM, SIGINT};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        ASSERT(uv_signal_init(&server->loop, &server->signals[i]) == 0);
        server->signals[i].data = server;
        ASSERT(uv_signal_start(&server->signals[i], on_signal, numbers[i]) == 0);
    }
}

/* Makes the protocols of the port. */
static enum err make_transport(struct server *server,
                               struct net_protocol ret_protocols[SERVER_PROTOCOLS_MAX])
{
    static const struct http_protocol *const http_protocols[] = {&grpc_web_protocol,
                                                                 &connect_protocol};
    enum err err = http_server_new(server->calls, http_protocols,
                                   sizeof(http_protocols) / sizeof(http_protocols[0]),
                                   &server->cors, &server->http);

    if (err == OK) {
        err = grpc_server_new(server->calls, server->http, &server->grpc);
    }
    if (err == OK) {
        err = http1_server_new(server->http, clock_system(), &server->http1);
    }
    if (err == OK) {
        ret_protocols[0] = grpc_server_protocol(server->grpc);
        ret_protocols[1] = http1_server_protocol(server->http1);
    }
    return err;
}

/* Replaces the protocols by TLS that has them above it. */
static enum err put_tls_below(struct server *server, struct net_protocol *protocols,
                              size_t *ret_count)
{
    const struct tls_protocol served[] = {{"h2", protocols[0]}, {"http/1.1", protocols[1]}};
    const struct compat *compat = &server->compat;
    char cert[PATH_BYTES_MAX];
    char key[PATH_BYTES_MAX];
    char ca[PATH_BYTES_MAX] = "";
    const struct tls_files files = {cert, key, ca};
    struct tls_context *context = NULL;
    enum err err = OK;

    if (!compat_file(compat->cert, cert, sizeof(cert)) ||
        !compat_file(compat->key, key, sizeof(key)) ||
        (compat->client_ca.size > 0 && !compat_file(compat->client_ca, ca, sizeof(ca)))) {
        return ERR_IO;
    }
    err = tls_context_new_server(&files, &server->fault, &context);
    if (err == OK) {
        err = tls_server_new(served, sizeof(served) / sizeof(served[0]), context, &server->tls);
    }
    if (err == OK) {
        protocols[0] = tls_server_protocol(server->tls);
        *ret_count = 1;
    }
    return err;
}

/* Makes the protocols, and returns their number in `ret_count`. */
static enum err make_protocols(struct server *server,
                               struct net_protocol ret_protocols[SERVER_PROTOCOLS_MAX],
                               size_t *ret_count)
{
    struct call_config config;
    enum err err = OK;

    if (server->is_plain) {
        server->plain = plain_new();
        if (server->plain == NULL) {
            return ERR_MEMORY;
        }
        ret_protocols[0] = plain_protocol(server->plain);
        *ret_count = 1;
        return OK;
    }
    server->suite = suite_new(clock_system(), want_timer, server);
    if (server->suite == NULL) {
        return ERR_MEMORY;
    }
    config = call_config_default(suite_handlers(server->suite));
    config.find_method = suite_find_method;
    config.sends_reasons = false; /* the conformance suite allows none but the service's */
    if (server->compat.message_bytes_max != 0) {
        config.message_bytes_max = server->compat.message_bytes_max;
    }
    err = call_server_new(&config, clock_monotonic_us(clock_system()), &server->calls);
    *ret_count = SERVER_PROTOCOLS_MAX;
    if (err == OK) {
        err = make_transport(server, ret_protocols);
    }
    return err == OK && server->compat.use_tls ? put_tls_below(server, ret_protocols, ret_count)
                                               : err;
}

static enum err listen_on(struct server *server, uint16_t port, struct net_bound *bound)
{
    struct net_protocol protocols[SERVER_PROTOCOLS_MAX];
    struct net_config config = {.clock = clock_system(),
                                .connections_max = NET_CONNECTIONS_MAX,
                                .protocols = protocols,
                                .on_tick = on_tick,
                                .user = server};
    size_t count = 0;
    enum err err = make_protocols(server, protocols, &count);

    config.protocol_count = count;
    if (err == OK) {
        err = net_server_new(&server->loop, &config, &server->net);
    }
    if (err == OK) {
        err = net_bind("127.0.0.1", port, &server->fault, bound);
    }
    if (err == OK) {
        err = net_server_listen(server->net, bound, &server->fault);
    }
    return err;
}

static void say_where(const struct server *server, const char *address)
{
    const char *colon = strrchr(address, ':');

    ASSERT(colon != NULL);
    if (server->is_conformance) {
        compat_write(&server->compat, (uint32_t)strtoul(colon + 1, NULL, 10));
    } else {
        (void)printf("%s\n", address);
    }
    (void)fflush(stdout);
}

/* Reads the command line; false if it is invalid. */
static bool read_arguments(struct server *server, int argc, char **argv, uint16_t *ret_port)
{
    char *end = NULL;
    unsigned long port = 0;

    if (argc == 2 && strcmp(argv[1], "conformance") == 0) {
        server->is_conformance = true;
        return true;
    }
    if (argc != 2 && !(argc == 3 && strcmp(argv[2], "plain") == 0)) {
        return false;
    }
    port = strtoul(argv[1], &end, 10);
    server->is_plain = argc == 3;
    *ret_port = (uint16_t)port;
    return end != argv[1] && *end == '\0' && port <= UINT16_MAX;
}

int main(int argc, char **argv)
{
    static struct server server;
    struct net_bound bound;
    uint16_t port = 0;

    if (!read_arguments(&server, argc, argv, &port)) {
        (void)fprintf(stderr, "usage: suite_server PORT [plain] | suite_server conformance\n");
        return 2;
    }
    if (server.is_conformance && !compat_read(&server.compat)) {
        (void)fprintf(stderr, "suite_server: no request that can be met on standard input\n");
        return 1;
    }
    ASSERT(uv_loop_init(&server.loop) == 0);
    ASSERT(uv_timer_init(&server.loop, &server.timer) == 0);
    server.timer.data = &server;
    arena_init(&server.arena, FAULT_BYTES_MAX);
    fault_init(&server.fault, &server.arena);
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || listen_on(&server, port, &bound) != OK) {
        (void)fprintf(stderr, "suite_server: %.*s\n", (int)server.fault.message.size,
                      (const char *)server.fault.message.data);
        return 1;
    }
    watch_signals(&server);
    say_where(&server, bound.address);
    (void)uv_run(&server.loop, UV_RUN_DEFAULT);
    ASSERT(uv_loop_close(&server.loop) == 0);
    arena_deinit(&server.arena);
    return 0;
}
