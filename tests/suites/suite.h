/*
 * suite.h: calls as the services of public test suites want them: replies and an end that wait for
 * their time and for the peer, on the transport that erratad has (server/grpc). A service takes
 * requests, queues replies and states how the call ends; when they go out is settled here.
 *
 * Only for tests: what a call queues lives in the call's arena, whose cap bounds it.
 */
#ifndef ERRATA_TESTS_SUITES_SUITE_H
#define ERRATA_TESTS_SUITES_SUITE_H

#include "server/grpc/grpc.h"
#include "store/base/clock.h"

/* Maximum replies of one call that wait; more of them end it with RESOURCE_EXHAUSTED. */
#define SUITE_REPLIES_MAX 4096

struct suite;
struct suite_call;

/* A method that is served. Any function may be NULL. */
struct suite_method {
    struct method_info info;
    void (*on_start)(struct suite_call *call);
    /* The message lives as long as the call. */
    void (*on_message)(struct suite_call *call, struct slice message);
    void (*on_half_close)(struct suite_call *call);
};

/* The tables of both services; interop.c and conformance.c. */
extern const struct suite_method interop_methods[];
extern const size_t interop_method_count;
extern const struct suite_method conformance_methods[];
extern const size_t conformance_method_count;

/* `want_timer` states when suite_run_due is to be called: in so many microseconds; INT64_MAX: never. NULL
 * without memory. */
struct suite *suite_new(const struct clock *clock, void (*want_timer)(void *user, int64_t in_us),
                        void *user);
/* Frees the suite, which must not have live calls. */
void suite_free(struct suite *suite);
const struct call_handlers *suite_handlers(const struct suite *suite);
/* The method of a path, for call_config. */
const struct method_info *suite_find_method(struct slice path);
/* Sends what has waited long enough. */
void suite_run_due(struct suite *suite);

/* Functions that services may call on a call, in any of their callbacks. */
struct call *suite_call_of(struct suite_call *call);
/* The service's own, in the call's arena: zeroed, and the same each time it is requested. NULL without
 * memory: the call is at its end then. */
void *suite_call_state(struct suite_call *call, size_t size);
/* Queues a message, `delay_us` after what was queued before. Kept, not copied: it lives in the
 * arena. */
void suite_reply(struct suite_call *call, struct slice message, int64_t delay_us);
/* Queues the end; later output is discarded. The status' slices must be in the arena or for
 * ever. */
void suite_end(struct suite_call *call, const struct status *status, int64_t delay_us);
/* Does the same at once, in front of what waits. */
void suite_fail(struct suite_call *call, enum status_code code, const char *why);
/* Returns whether the call needs no further actions. */
bool suite_has_ended(const struct suite_call *call);

#endif
