/*
 * world.h: a server without sockets over a memory store, with a writer thread of its own and libuv's loop: it
 * is called by the protocol of plain_protocol.h, and commands of the domain are handed to its writer by timers.
 */
#ifndef ERRATA_TESTS_COMMAND_WORLD_H
#define ERRATA_TESTS_COMMAND_WORLD_H

#include "server/pipeline/pipeline.h"
#include "store/work.h"
#include "tests/command/plain_protocol.h"

#include <protobuf-c/protobuf-c.h>
#include <uv.h>

/* 2026-01-01T00:00:00Z. The clock does not move: what a test compares has one time. */
#define WORLD_START_US INT64_C(1767225600000000)

struct world {
    struct arena arena; /* memory for data read by tests, until the end */
    struct fault fault;
    struct ctx ctx;
    struct clock_manual clock;
    struct store_backend *backend;
    struct writer *writer;
    struct auth *auth;
    struct service_env env;
    struct pipeline *pipeline;
    struct call_server *calls;
    uv_loop_t loop;
    uv_async_t wake; /* signals waiting completions */
    char admin[128]; /* authorization header: `Bearer errata_...` */
    struct org_id org;
    uint32_t key_id; /* key id of that token */
};

void world_init(struct world *world);
/* Every call has ended, and the tables are what the log makes of them. */
void world_deinit(struct world *world);
/* Runs the loop until the flag is set. */
void world_run_until(struct world *world, const bool *flag);
/* Makes a call: `head` are the lines of its head, without the last one. Its bytes are fed in pieces of so
 * many. It is open. */
void world_call(struct world *world, struct plain_call *plain, const char *head,
                const ProtobufCMessage *request, size_t piece);
/* The same call whole: runs the loop until it has ended, and closes it. */
void world_call_whole(struct world *world, struct plain_call *plain, const char *head,
                      const ProtobufCMessage *request, size_t piece);
/* The events of the organisation's log. */
uint64_t world_last_seq(struct world *world);

int run_plain_tests(void);
int run_timer_tests(void);

#endif
