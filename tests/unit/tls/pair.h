/*
 * pair.h: a TLS server's session, driven like net does, and a client, without sockets. A protocol of the
 * tests runs over the session. Bytes pass whole or one by one, in both directions.
 */
#ifndef ERRATA_TESTS_UNIT_TLS_PAIR_H
#define ERRATA_TESTS_UNIT_TLS_PAIR_H

#include "server/tls/stream/tls_stream.h"
#include "server/tls/tls.h"
#include "tests/support/tls/test_certs.h"

/* cmocka.h requires these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PAIR_BYTES_MAX ((size_t)1 << 20)

struct pair_bytes {
    uint8_t *data; /* room for PAIR_BYTES_MAX */
    size_t size;
};

/* A session of the test's protocol, which returns the bytes that it is fed: at most `step` in a call, `!`
 * ends it. */
struct pair_session {
    struct net_link *link;
    struct pair_bytes echo;
    size_t echoed; /* bytes of it that were drained */
    bool done;
    bool peer_ended;
    unsigned ticks;
};

struct pair {
    bool bytewise;
    struct test_certs *certs;
    struct tls_context *client_context;
    struct tls_server *server;
    struct net_protocol table;
    struct net_link link;
    void *session; /* NULL: closed */
    struct tls_stream *client;
    bool shaken; /* the client's handshake is complete */
    enum tls_step client_step; /* last result of the session */
    struct pair_bytes to_server;
    struct pair_bytes to_client;
    struct pair_bytes got; /* plain bytes that the client received */
    int64_t now_us;
    unsigned wakes;
    struct fault_driver *faults; /* what fails on the server's side; NULL: nothing */
    /* State of the protocol over TLS. */
    size_t step; /* 0: any number */
    bool half_closes; /* a session continues after its peer has ended */
    bool open_fails;
    const char *opened; /* ALPN's name of the protocol whose session was opened last; NULL: none */
    struct pair_session *echo; /* the open one; NULL: none */
};

/* The options of a test. NULL: the default. */
struct pair_setup {
    const char *cert;
    const char *server_ca; /* the server requires certificates of clients */
    const char *client_ca;
    const char *client_cert;
    const char *client_key;
    const char *host;
    const char *alpn; /* names with their lengths in front; empty: the client offers none */
};

/* Opens a pair; `certs` is shared by all tests. */
void pair_init(struct pair *pair, struct test_certs *certs, bool bytewise,
               const struct pair_setup *setup);
void pair_deinit(struct pair *pair);
/* Replaces the client by a new one of the same context, and the session by none. */
void pair_connect_again(struct pair *pair);
/* Does the same, and runs the pair while fault points of the server's side fail. */
struct fault_driver;
void pair_connect_again_with(struct pair *pair, struct fault_driver *driver);
/* Passes bytes in both directions until both sides are silent. */
void pair_run(struct pair *pair);
/* Encrypts bytes for the server; pair_run passes them. */
void pair_send(struct pair *pair, struct slice plain);
/* Sends bytes without TLS to the server. */
void pair_send_raw(struct pair *pair, struct slice bytes);
/* Advances the time, with a tick. */
void pair_pass(struct pair *pair, int64_t by_us);

extern struct test_certs pair_certs;
extern bool pair_modes[2];
/* Runs each test twice. */
#define PAIR_TEST(function)                                                                        \
    {#function " whole", function, NULL, NULL, &pair_modes[0]},                                    \
    {                                                                                              \
#function " byte by byte", function, NULL, NULL, &pair_modes[1]                            \
    }
#define PAIR_MODE(state) (*(bool *)*(state))

int run_handshake_tests(void);
int run_context_tests(void);
int run_bytes_tests(void);
int run_end_tests(void);

#endif
