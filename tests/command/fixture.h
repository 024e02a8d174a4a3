/*
 * fixture.h: a server without sockets over a memory store, with a writer thread of its own and libuv's loop: it
 * is called by the protocol of plain_protocol.h, and commands of the domain are handed to its writer by timers.
 */
#ifndef ERRATA_TESTS_COMMAND_FIXTURE_H
#define ERRATA_TESTS_COMMAND_FIXTURE_H

#include "server/pipeline/pipeline.h"
#include "store/work.h"
#include "tests/command/plain_protocol.h"

#include <protobuf-c/protobuf-c.h>
#include <uv.h>

/* 2026-01-01T00:00:00Z. The clock does not move, so that compared values have the same time. */
#define FIXTURE_START_US INT64_C(1767225600000000)

struct fixture {
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

void fixture_init(struct fixture *fixture);
/* Every call has ended, and the tables are what the log makes of them. */
void fixture_deinit(struct fixture *fixture);
/* Runs the loop until the flag is set. */
void fixture_run_until(struct fixture *fixture, const bool *flag);
/* Makes a call: `head` are the lines of its head, without the last one. Its bytes are fed in pieces
 * of this size. The call stays open. */
void fixture_call(struct fixture *fixture, struct plain_call *plain, const char *head,
                  const ProtobufCMessage *request, size_t piece);
/* The same call whole: runs the loop until it has ended, and closes it. */
void fixture_call_whole(struct fixture *fixture, struct plain_call *plain, const char *head,
                        const ProtobufCMessage *request, size_t piece);
/* Runs `work` on a thread, then `done` on the loop; `user` is the fixture. */
enum err fixture_run_on_pool(void *user, void (*work)(void *job),
                             void (*done)(void *job, enum err result), void *job);
/* The events of the organisation's log. */
uint64_t fixture_last_seq(struct fixture *fixture);

int run_plain_tests(void);
int run_timer_tests(void);
int run_batch_tests(void);
int run_retention_tests(void);
int run_intake_tests(void);
int run_deletion_tests(void);

#endif
