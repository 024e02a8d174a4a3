/*
 * load.h: what the parts of the load generator share. A run has connections; a connection has calls
 * in flight; each call sends one of the requests that were made beforehand, and is counted as right
 * only where all of its answer is as expected. One thread; everything here belongs to it.
 */
#ifndef ERRATA_TESTS_BENCH_LOAD_H
#define ERRATA_TESTS_BENCH_LOAD_H

#include "store/base/slice.h"

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_CONNECTIONS_MAX 256
#define LOAD_TOKEN_BYTES_MAX 256
/* Latencies kept, 4 bytes each; more calls than this end the run with an error. */
#define LOAD_SAMPLES_MAX 20000000
/* Bytes gathered for one send. */
#define LOAD_OUT_BYTES (256 * 1024)

/* Requests of one group, and the token that they go with: an organisation. */
struct load_group {
    char token[LOAD_TOKEN_BYTES_MAX]; /* "Bearer ..." or empty */
    struct slice *requests; /* bodies as they go over the wire */
    size_t request_count;
};

struct load_options {
    uint16_t port;
    const char *path;
    bool plain; /* no gRPC: the answer is a :status and bytes */
    bool get; /* GET without a body */
    size_t connection_count;
    size_t stream_count; /* closed loop: in flight on each connection */
    double rate; /* open loop: calls a second over all connections; 0: closed loop */
    double seconds; /* or 0 */
    uint64_t call_count; /* or 0 */
    uint64_t seed;
    size_t expect_min; /* bytes of an answer's data, the frame's prefix with them */
    size_t expect_max;
};

struct load_counts {
    uint64_t started;
    uint64_t answered;
    uint64_t right; /* status and bytes as expected */
    uint64_t reply_bytes;
    int64_t first_wrong_status; /* of the first answer that was not right, */
    size_t first_wrong_bytes; /* and its bytes */
};

struct load_connection;

struct load {
    struct load_options options;
    struct load_group *groups;
    size_t group_count;
    struct load_connection *connections[LOAD_CONNECTIONS_MAX];
    nghttp2_session_callbacks *callbacks;
    struct load_counts counts;
    uint32_t *samples; /* tenths of microseconds */
    size_t sample_count;
    uint64_t random;
    bool stopped; /* no new calls */
};

uint64_t load_now_ns(void);
_Noreturn void load_fail(const char *what, const char *detail);
/* May one more call start (closed loop)? Counts it as started. */
bool load_take_turn(struct load *load);

/* Connects; ends the program where that fails. */
struct load_connection *load_connection_new(struct load *load, size_t index);
int load_connection_fd(const struct load_connection *connection);
/* Submits one call, whose time counts from `due_ns`. */
void load_connection_start(struct load_connection *connection, uint64_t due_ns);
/* Reads what has come, and in a closed loop starts the next calls. */
void load_connection_read(struct load_connection *connection);
/* Sends what waits. */
void load_connection_flush(struct load_connection *connection);
void load_connection_free(struct load_connection *take_connection);
/* Once, before the first connection. */
void load_connection_callbacks(struct load *load);

#endif
