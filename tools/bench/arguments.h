/*
 * arguments.h: the command line of errata-bench as values: calls, server, rates, durations,
 * expected answers and reports. Makes all checks that need neither a file nor a connection.
 */
#ifndef ERRATA_TOOLS_BENCH_ARGUMENTS_H
#define ERRATA_TOOLS_BENCH_ARGUMENTS_H

#include "server/tls/stream/tls_context.h"
#include "store/base/fault.h"
#include "tools/bench/load/parse.h"
#include "tools/errata/terminal/options.h"

/* Maximum calls of one mix: more could not be distinguished in a table. */
#define ARGUMENTS_CALLS_MAX 16
/* Maximum tokens, header fields and process ids given one by one. */
#define ARGUMENTS_LIST_MAX 32
/* Limits the connections to a number that simulates thousands of clients; each connection has its
 * own buffer and socket. */
#define ARGUMENTS_CONNECTIONS_MAX 10000
#define ARGUMENTS_IN_FLIGHT_MAX 10000
/* Maximum rate, above that of any core. */
#define ARGUMENTS_RATE_MAX 10000000
/* Maximum runs of a sweep before the knee is refined. */
#define ARGUMENTS_SWEEP_RUNS_MAX 100

#define ARGUMENTS_SERVER_DEFAULT "127.0.0.1:7443"

enum arguments_source {
    SOURCE_BUILT_IN, /* a call of mixes.h */
    SOURCE_TEMPLATE_FILE, /* proto JSON with placeholders */
    SOURCE_TEMPLATE_TEXT,
    SOURCE_REQUESTS /* ready-made request bodies */
};

/* The expected properties of a correct answer. */
struct arguments_expect {
    uint32_t status; /* gRPC status; HTTP status if calls are plain */
    uint64_t bytes_min; /* minimum size of the answer's body, including gRPC's prefix of 5 bytes */
    uint64_t bytes_max;
};

struct arguments_call {
    const char *name;
    const char *method; /* "errata.v1.Service/Method" or a path; NULL for a built-in call */
    enum arguments_source source;
    const char *text; /* the file's name, or the template itself */
    uint32_t weight; /* 0: defined, but not in the mix */
    struct arguments_expect expect;
};

struct arguments_list {
    const char *values[ARGUMENTS_LIST_MAX];
    size_t count;
};

enum arguments_way {
    ARGUMENTS_MEASURE,
    ARGUMENTS_PRELOAD,
    ARGUMENTS_COMPARE,
    ARGUMENTS_HELP,
    ARGUMENTS_VERSION,
    ARGUMENTS_CALLS /* list the named calls of Errata */
};

/* All texts are borrowed from argv, the environment or the arena. */
struct arguments {
    enum arguments_way way;
    struct options options;

    const char *server;
    bool tls; /* TLS instead of cleartext */
    struct tls_files tls_files;
    struct arguments_list token_files;
    const char *tokens; /* a file with one token per line; NULL: none */
    struct arguments_list headers; /* "name: value" */

    struct arguments_call calls[ARGUMENTS_CALLS_MAX];
    size_t call_count;
    const char *descriptors; /* a FileDescriptorSet; NULL: the contract only */
    uint64_t layout_count; /* number of layouts for ${layout} */
    double skew; /* zipf skew of ${layout}; 0: uniform */
    bool has_serial;
    uint64_t serial_from;
    bool idempotency_keys;
    bool allow_writes; /* allow writes to organisations with other data */
    bool plain;
    bool get;

    double rate; /* calls per second in total; 0: closed loop */
    bool poisson;
    uint64_t in_flight; /* closed loop: concurrent calls of each connection */
    uint64_t connection_count;
    uint64_t duration_ns; /* 0: until call_limit is reached */
    uint64_t call_limit; /* 0: until duration_ns has passed */
    uint64_t warm_up_ns;
    uint64_t lag_max_ns; /* 0: chosen for the run (judge.h) */
    uint64_t seed;
    int cpu; /* -1: any */
    bool literal_headers;

    bool sweep;
    struct sweep_range sweep_range;
    uint64_t knee_p99_ns; /* 0: ten times the p99 of the lowest rate */

    struct arguments_list server_pids;
    const char *json; /* file name; "-" is standard output */
    const char *csv; /* file name; "-" is standard output */
    const char *html;
    const char *compared[2]; /* files of the reports to compare */
    const char *title;
    bool quiet;
    bool no_colour;

    uint64_t preload_events;
    const char *data;
    uint64_t organization_count;
    uint64_t extraction_count;
    uint64_t mapping_count;
    uint64_t customer_count; /* customers of each organisation */
    uint64_t family_count; /* layout families of each organisation; 0: no documents */
    uint64_t event_bytes;
    bool preload_plain;
};

extern const struct option_spec arguments_options[];

/* Reads argv. Returns ERR_INVALID with a message in `fault`, or ERR_MEMORY. */
MUST_CHECK enum err arguments_read(struct arena *arena, int count, char **words,
                                   struct fault *fault, struct arguments *ret_arguments);

#endif
