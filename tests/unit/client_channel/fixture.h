/*
 * fixture.h: a lasting channel between a caller and connections that a test simulates, with a clock that
 * the test moves. The fixture checks the invariants of every scenario: callbacks come from outside the
 * caller's own functions, a call ends once and makes no callback afterwards, a connection is used as its
 * contract says, and nothing leaks.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_CHANNEL_FIXTURE_H
#define ERRATA_TESTS_UNIT_CLIENT_CHANNEL_FIXTURE_H

#include "client/channel.h"
#include "client/header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Maximum connections that a fixture can have at a time: one that takes calls, those that drain,
 * and one that is about to be closed. */
#define FIXTURE_CONNECTIONS (CLIENT_DRAINING_MAX + 2)
#define FIXTURE_TEXT_BYTES 256

struct fixture;
struct fake_connection;

/* An attempt, as seen by its connection. */
struct fake_call {
    struct fake_call *next; /* next in the connection's list, oldest first */
    struct fake_connection *connection;
    const struct method_info *method;
    struct client_handlers handlers;
    int64_t timeout_ms;
    bool gzip;
    char request[FIXTURE_TEXT_BYTES];
    char key[FIXTURE_TEXT_BYTES]; /* value of `idempotency-key`; empty: none */
    unsigned keys; /* number of keys */
    unsigned messages; /* messages of an upload */
    bool half_closed;
    bool paused;
    bool cancelled; /* its end is reported in the connection's next turn */
    bool over; /* the server has answered: takes no more messages; the test reports the end */
    bool owes_room; /* on_writable is called in the next turn */
    bool busy; /* accepts no messages */
};

struct fake_connection {
    struct client_channel base; /* must be the first member: the channel's view */
    struct fixture *fixture;
    struct client_connection_listener listener;
    struct fake_call *calls;
    unsigned number; /* number among all opened connections, from 1 */
    unsigned room; /* number of accepted calls before ERR_BUSY */
    enum err refusal; /* result of the next start, unless OK */
    bool reported[CLIENT_CONNECTION_LOST + 1]; /* transitions known to the channel */
    bool closed; /* closed by the channel */
};

struct fixture {
    struct clock_manual clock;
    struct random_seeded random;
    struct client_channel_config config;
    struct client_channel *channel;
    struct fake_connection *connections[FIXTURE_CONNECTIONS]; /* oldest first */
    size_t connection_count;
    unsigned opened;
    enum err open_err; /* result of the next opens, unless OK */
    bool late_ends; /* calls of a closed connection end in a later turn, not immediately */
    bool woken;
    bool may_close; /* the channel is in a step */
    int64_t delay_ms; /* result of the last step */
    unsigned inside; /* nesting of the channel's functions */
    unsigned attempts_alive; /* number of fake calls that have not ended */
    /* Called for each attempt as it starts; may be NULL. */
    void (*on_attempt)(struct fixture *fixture, struct fake_call *call);
};

/* A call, as seen by its caller. */
struct asked {
    struct fixture *fixture;
    struct client_call *call;
    unsigned replies;
    unsigned rooms; /* on_writable */
    unsigned ends;
    char reply[FIXTURE_TEXT_BYTES]; /* the last reply */
    char message[FIXTURE_TEXT_BYTES * 2];
    char key[FIXTURE_TEXT_BYTES];
    uint32_t code;
    uint32_t attempts;
    bool from_server;
    bool unseen;
    /* Actions of the caller in its callbacks; NULL: none. */
    void (*in_reply)(struct asked *asked);
    void (*in_end)(struct asked *asked);
    void (*in_room)(struct asked *asked);
    void *more; /* argument of these actions */
};

extern const struct method_info method_read;
extern const struct method_info method_write;
extern const struct method_info method_watch; /* a stream of replies that reads */
extern const struct method_info method_upload; /* a stream of requests that writes */

/* A channel of defaults; `config` may be changed before fixture_open. */
void fixture_init(struct fixture *fixture, uint64_t seed);
void fixture_open(struct fixture *fixture);
/* Both. */
void fixture_start(struct fixture *fixture);
/* Shuts and frees the channel, and checks that nothing is left. */
void fixture_end(struct fixture *fixture);

/* Steps the channel and turns the connections until nothing is due. */
void fixture_run(struct fixture *fixture);
/* Advances the time and steps the channel when it asked for it, as an owner does. */
void fixture_pass(struct fixture *fixture, int64_t ms);
int64_t fixture_now_ms(const struct fixture *fixture);
struct client_channel_statistics fixture_statistics(const struct fixture *fixture);
/* The newest connection that is not closed; there must be one. */
struct fake_connection *fixture_newest(struct fixture *fixture);

/* Reports a new state of a connection to the channel. */
void fake_report(struct fake_connection *connection, enum client_connection_state state,
                 const char *reason);
/* Does the same, with a step afterwards. */
void fake_ready(struct fake_connection *connection);
void fake_drain(struct fake_connection *connection);
/* Loses the connection: its calls end with UNAVAILABLE; `unseen` sets their status. */
void fake_lose(struct fake_connection *connection, bool unseen);
/* Completes the newest connection, and returns it. */
struct fake_connection *fixture_make_ready(struct fixture *fixture);

unsigned fake_count(const struct fake_connection *connection);
/* Call number `at` on a connection, the oldest being 0; there must be one. */
struct fake_call *fake_at(const struct fake_connection *connection, unsigned at);
void fake_reply(struct fake_call *call, const char *text);
/* The server ends a call; fixture_run afterwards is the test's. */
void fake_end(struct fake_call *call, uint32_t code);
/* Does the same with google.rpc.RetryInfo. */
void fake_end_retry(struct fake_call *call, uint32_t code, uint32_t retry_ms);
/* The server refuses the stream. */
void fake_refuse(struct fake_call *call);
/* Loses the call's connection; the server may have seen the call. */
void fake_vanish(struct fake_call *call);
/* Ends a call with a reply and OK. */
void fake_answer(struct fake_call *call, const char *text);

/* Starts a call; resets `asked`, except for the actions of the caller in callbacks. */
enum err ask(struct fixture *fixture, struct asked *asked, const struct method_info *method,
             const struct client_options *options);
enum err ask_bytes(struct fixture *fixture, struct asked *asked, const struct method_info *method,
                   struct slice request, const struct client_options *options);
/* The caller's other functions. */
void ask_cancel(struct asked *asked);
enum err ask_send(struct asked *asked, const char *text);
enum err ask_half_close(struct asked *asked);
void ask_pause(struct asked *asked);
void ask_resume(struct asked *asked);
void ask_shut(struct fixture *fixture);

#endif
