/*
 * events_tests.c: who may be named as the actor of an event, and who may say when it happened.
 */
#include "server/domain/events/actor.h"
#include "tests/support/store/store_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* One question about an actor. */
struct actor_case {
    enum role role;
    const char *user;
    bool backfill_only;
    const char *named;
    bool has_created_at;
    enum err err;
    const char *actor;
};

/* Goal: each role may name whom it may, and may tell of the past where it may. Method: a table. */
static void test_actors(void **state)
{
    static const struct actor_case cases[] = {
        {ROLE_OPERATOR, "ann", false, "", false, OK, "ann"},
        {ROLE_OPERATOR, "ann", false, "ann", false, OK, "ann"},
        {ROLE_OPERATOR, "ann", false, "bob", false, ERR_DENIED, ""},
        {ROLE_REVIEWER, "ann", false, "bob", false, ERR_DENIED, ""},
        {ROLE_OPERATOR, "ann", false, "", true, ERR_DENIED, ""},
        {ROLE_SERVICE, "", false, "bob", false, OK, "bob"},
        {ROLE_SERVICE, "", false, "", false, OK, "token:0000abcd"},
        {ROLE_SERVICE, "svc", false, "", false, OK, "svc"},
        {ROLE_SERVICE, "", false, "", true, ERR_DENIED, ""},
        {ROLE_INTEGRATOR, "", true, "", false, ERR_DENIED, ""},
        {ROLE_INTEGRATOR, "", true, "bob", true, OK, "bob"},
        {ROLE_INTEGRATOR, "", true, "", true, OK, ""},
        {ROLE_INTEGRATOR, "", false, "", false, OK, "token:0000abcd"},
        {ROLE_ADMIN, "root", false, "", true, OK, ""},
        {ROLE_ADMIN, "root", false, "bob", false, OK, "bob"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct actor_case *one = &cases[i];
        const struct event_caller caller = {one->role, slice_text(one->user), 0xabcd,
                                            one->backfill_only};
        struct slice actor = {NULL, 0};
        struct store_world world;

        store_world_init(&world);
        assert_int_equal(actor_resolve(&world.ctx, &caller, SLICE("event"), slice_text(one->named),
                                       one->has_created_at, &actor),
                         one->err);
        assert_true(slice_equal(actor, slice_text(one->actor)));
        assert_int_equal(world.fault.message.size > 0, one->err != OK);
        store_world_deinit(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_actors),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
