/*
 * codec_tests.h: the groups of tests of server/codec, the fixture they share, and messages of handwritten
 * tables with every type of field and with recursion, which the contract lacks.
 */
#ifndef ERRATA_TESTS_UNIT_CODEC_TESTS_H
#define ERRATA_TESTS_UNIT_CODEC_TESTS_H

/* cmocka.h requires these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/codec/contract.h"
#include "store/base/buffer.h"
#include "store/base/ctx.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Arena, clock and fault of one test. */
struct fixture {
    struct arena arena;
    struct clock_manual clock;
    struct fault fault;
    struct ctx ctx;
    struct buffer wire; /* the request under construction */
};

/* 2026-01-01T00:00:00Z */
#define FIXTURE_START_US INT64_C(1767225600000000)

int fixture_set_up(void **state);
int fixture_tear_down(void **state);
/* Forgets faults and wire bytes. */
void fixture_clear(struct fixture *fixture);
/* Calls check_request, and discards the bytes that it returns. */
enum err fixture_check(struct fixture *fixture, const struct message_info *message,
                       struct slice bytes);
/* Checks that the faults are exactly these: "path: start of the description", one per line. */
void fixture_expect_faults(struct fixture *fixture, const char *expected);

/* A message `codec.All` with a field of each type, and `codec.Tree`, which contains itself. */
extern const struct message_info codec_all;
extern const struct message_info codec_tree;
extern const struct message_info codec_rules;

int run_check_tests(void);
int run_rules_tests(void);
int run_join_tests(void);
int run_proto_json_tests(void);

#endif
