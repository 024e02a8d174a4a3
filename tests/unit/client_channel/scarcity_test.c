/*
 * scarcity_test.c: one scenario, once for each of its allocations with that one failing. The linker
 * puts the functions here between every module and the allocator (--wrap).
 */
#include "tests/unit/client_channel/channel_tests.h"
#include "tests/unit/client_channel/fixture.h"

#include <stdlib.h>

#define CALLS 4

/* Names by the linker's --wrap: the allocator's functions, and their replacements for all other callers. */
void *plenty_malloc(size_t size) __asm__("__real_malloc");
void *plenty_calloc(size_t count, size_t size) __asm__("__real_calloc");
void *plenty_realloc(void *memory, size_t size) __asm__("__real_realloc");
void *scarce_malloc(size_t size) __asm__("__wrap_malloc");
void *scarce_calloc(size_t count, size_t size) __asm__("__wrap_calloc");
void *scarce_realloc(void *memory, size_t size) __asm__("__wrap_realloc");

/* Number of allocations until the one that fails; 0: none fails. A global, since the allocator has
 * no parameter for it. */
static unsigned failing; /* NOLINT(cppcoreguidelines-avoid-non-const-global-variables) */

static bool fails_now(void)
{
    if (failing == 0) {
        return false;
    }
    failing--;
    return failing == 0;
}

void *scarce_malloc(size_t size)
{
    return fails_now() ? NULL : plenty_malloc(size);
}

void *scarce_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : plenty_calloc(count, size);
}

void *scarce_realloc(void *memory, size_t size)
{
    return fails_now() ? NULL : plenty_realloc(memory, size);
}

static bool start_one(struct fixture *fixture, struct asked *asked,
                      const struct method_info *method)
{
    static const struct client_metadata metadata = {.key = SLICE("x-kind"), .value = SLICE("test")};
    const struct client_options options = {.metadata = &metadata, .metadata_count = 1};
    enum err err = ask(fixture, asked, method, &options);

    assert_true(err == OK || err == ERR_MEMORY);
    return err == OK;
}

/* Answers the calls of all connections, and loses one connection meanwhile. */
static void serve(struct fixture *fixture)
{
    for (int i = 0; i < 20; i++) {
        struct fake_connection *connection = NULL;

        fixture_pass(fixture, 200);
        if (fixture->connection_count == 0) {
            continue;
        }
        connection = fixture_newest(fixture);
        if (!connection->reported[CLIENT_CONNECTION_READY]) {
            fake_ready(connection);
        } else if (connection->number == 1) {
            fake_lose(connection, false);
        } else if (connection->calls != NULL) {
            fake_answer(connection->calls, "enough");
        }
    }
}

/* Goal: if any allocation fails, a call is refused or ends once, the others continue, and nothing
 * leaks. */
static void test_each_allocation_fails_once(void **state)
{
    static const struct method_info *const methods[CALLS] = {&method_read, &method_write,
                                                             &method_watch, &method_upload};
    unsigned rounds = 0;
    bool over = false;

    (void)state;
    for (unsigned nth = 1; !over; nth++) {
        struct fixture fixture;
        struct asked asked[CALLS] = {{0}};
        bool started[CALLS] = {false};
        unsigned went_well = 0;

        fixture_init(&fixture, 1);
        failing = nth;
        if (client_channel_new(&fixture.config, &fixture.channel) != OK) {
            continue;
        }
        for (int i = 0; i < CALLS; i++) {
            started[i] = start_one(&fixture, &asked[i], methods[i]);
        }
        serve(&fixture);
        over = failing > 0;
        failing = 0;
        for (int i = 0; i < CALLS; i++) {
            assert_int_equal(asked[i].ends, started[i]);
            went_well += started[i] && asked[i].code == CLIENT_CODE_OK;
        }
        assert_true(went_well >= CALLS - 1);
        assert_true(!over || went_well == CALLS);
        fixture_end(&fixture);
        rounds++;
    }
    assert_true(rounds > 10);
}

int run_scarcity_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_fails_once)};

    return cmocka_run_group_tests_name("channel_scarcity", tests, NULL, NULL);
}
