/*
 * kind.h: one call of a mix: its path, its request, its expected answer, and the kinds of wrong
 * answers. A run has up to LOAD_KINDS_MAX of them; each call of the run is of one kind.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_KIND_H
#define ERRATA_TOOLS_BENCH_LOAD_KIND_H

#include "tools/bench/load/requests.h"
#include "tools/bench/load/template.h"

#define LOAD_KINDS_MAX 16

/* All pointers are borrowed for the run. */
struct load_kind {
    const char *name;
    struct slice path; /* "/errata.v1.PromptService/GetExamples" */
    uint32_t weight;
    const struct template
        *template; /* template or ready-made bodies; if both are NULL, requests have no body */
    const struct requests *requests;
    uint32_t status; /* expected status: of gRPC, or of HTTP in a plain run */
    uint64_t bytes_min; /* minimum size of a correct answer's body */
    uint64_t bytes_max;
};

/* The reason why an answer is wrong. */
enum answer_wrong {
    ANSWER_RIGHT,
    ANSWER_STATUS, /* `code` is an unexpected gRPC status */
    ANSWER_NO_STATUS, /* the stream ended without one */
    ANSWER_HTTP_STATUS, /* `code` */
    ANSWER_FRAMING, /* not exactly one complete, uncompressed message */
    ANSWER_BYTES, /* `code` is an unexpected size */
    ANSWER_RESET, /* reset by RST_STREAM with the error `code` */
    ANSWER_LOST /* the connection or the time ended */
};

struct answer {
    uint32_t kind; /* index in the run's kinds */
    uint64_t due_ns; /* scheduled start of the call */
    uint64_t body_bytes;
    enum answer_wrong wrong;
    uint64_t code;
    struct slice
        message; /* grpc-message as received, percent-encoded; valid only during the callback */
};

#endif
