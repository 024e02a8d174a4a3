/*
 * dial_test.c: an outgoing connection to a host with several addresses, whose look-up is replaced by a list of
 * addresses.
 */
#include "server/net/dial.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ADDRESSES_MAX (2 * DIAL_ADDRESSES_MAX)

/* The addresses that every name has. */
static struct sockaddr_in addresses[ADDRESSES_MAX];
static struct addrinfo infos[ADDRESSES_MAX];

/* Replaces the C library's functions for libuv. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret_infos);
void freeaddrinfo(struct addrinfo *list);

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret_infos)
{
    (void)node;
    (void)service;
    (void)hints;
    *ret_infos = infos;
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    assert_ptr_equal(list, infos);
}

struct bench {
    uv_loop_t loop;
    uv_tcp_t server;
    struct dial *dial;
    unsigned opened;
    unsigned ended;
    unsigned closed;
};

static void on_open(void *user)
{
    struct bench *bench = user;

    bench->opened++;
    dial_close(bench->dial);
}

static void on_bytes(void *user, struct slice bytes)
{
    (void)user;
    (void)bytes;
}

static void on_end(void *user, const char *why)
{
    struct bench *bench = user;

    assert_non_null(why);
    bench->ended++;
    dial_close(bench->dial);
}

static void on_closed(void *user)
{
    struct bench *bench = user;

    bench->closed++;
    uv_close((uv_handle_t *)&bench->server, NULL);
}

static void on_connection(uv_stream_t *server, int status)
{
    (void)server;
    (void)status;
}

/* Makes `count` addresses, of which only that at `working` belongs to a server. */
static void bench_init(struct bench *bench, size_t count, size_t working)
{
    const struct dial_config config = {.loop = &bench->loop,
                                       .host = "several",
                                       .port = 1,
                                       .on_open = on_open,
                                       .on_bytes = on_bytes,
                                       .on_end = on_end,
                                       .on_closed = on_closed,
                                       .user = bench};
    struct sockaddr_in bound = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int size = sizeof(bound);

    memset(bench, 0, sizeof(*bench));
    assert_int_equal(uv_loop_init(&bench->loop), 0);
    assert_int_equal(uv_tcp_init(&bench->loop, &bench->server), 0);
    assert_int_equal(uv_tcp_bind(&bench->server, (const struct sockaddr *)&bound, 0), 0);
    assert_int_equal(uv_tcp_getsockname(&bench->server, (struct sockaddr *)&bound, &size), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&bench->server, 1, on_connection), 0);
    for (size_t i = 0; i < count; i++) {
        addresses[i] = bound;
        addresses[i].sin_port = i == working ? bound.sin_port : htons(1); /* no server */
        infos[i] = (struct addrinfo){.ai_family = AF_INET,
                                     .ai_socktype = SOCK_STREAM,
                                     .ai_addr = (struct sockaddr *)&addresses[i],
                                     .ai_addrlen = sizeof(addresses[i]),
                                     .ai_next = i + 1 < count ? &infos[i + 1] : NULL};
    }
    assert_int_equal(dial_new(&config, &bench->dial), OK);
    assert_int_equal(dial_open(bench->dial), OK);
}

static void bench_deinit(struct bench *bench)
{
    assert_int_equal(uv_run(&bench->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(bench->closed, 1);
    assert_true(dial_is_idle(bench->dial));
    dial_free(bench->dial);
    assert_int_equal(uv_loop_close(&bench->loop), 0);
}

/* Goal: the addresses of a host are tried in turn, up to a limit, and the failure is reported once. Method: a server at each place
 * of the list, and after the limit. */
static void test_addresses_are_tried_in_turn(void **state)
{
    (void)state;
    for (size_t working = 0; working <= DIAL_ADDRESSES_MAX; working++) {
        struct bench bench;

        bench_init(&bench, ADDRESSES_MAX, working);
        assert_int_equal(uv_run(&bench.loop, UV_RUN_DEFAULT), 0);
        assert_int_equal(bench.opened, working < DIAL_ADDRESSES_MAX);
        assert_int_equal(bench.ended, working == DIAL_ADDRESSES_MAX);
        bench_deinit(&bench);
    }
}

/* Goal: a connection is closed between two addresses. Method: after each turn of the loop. */
static void test_close_between_addresses_opens_nothing(void **state)
{
    (void)state;
    for (int turns = 0; turns < 12; turns++) {
        struct bench bench;

        bench_init(&bench, DIAL_ADDRESSES_MAX, DIAL_ADDRESSES_MAX);
        for (int i = 0; i < turns && bench.closed == 0; i++) {
            (void)uv_run(&bench.loop, UV_RUN_ONCE);
        }
        dial_close(bench.dial);
        bench_deinit(&bench);
        assert_int_equal(bench.opened, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_are_tried_in_turn),
        cmocka_unit_test(test_close_between_addresses_opens_nothing),
    };

    return cmocka_run_group_tests_name("dial", tests, NULL, NULL);
}
