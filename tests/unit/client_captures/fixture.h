/*
 * fixture.h: a queue of captures whose sender, clock and randomness the test simulates. A capture is
 * known by its tag, the first bytes of its request. After each step the fixture checks invariants: the
 * statistics add up, no two captures have one key, and a capture never has another key.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_CAPTURES_FIXTURE_H
#define ERRATA_TESTS_UNIT_CLIENT_CAPTURES_FIXTURE_H

#include "client/captures/queue.h"

#define FIXTURE_CALLS_MAX 64
#define FIXTURE_TAGS_MAX 4096
/* Bytes of a capture, unless a test specifies otherwise. */
#define FIXTURE_BYTES 16

struct fixture_call {
    struct capture *capture; /* NULL: this place is free */
    uint32_t tag;
    uint64_t number; /* number of calls */
    int64_t timeout_ms;
    bool cancelled;
};

struct fixture_drop {
    uint32_t tag;
    enum errata_drop why;
    bool has_status;
    enum errata_code code;
    uint32_t attempts;
    char message[CAPTURES_MESSAGE_BYTES];
};

struct fixture {
    struct captures_intake intake;
    struct captures_queue queue;
    struct random_seeded random;
    int64_t now_ms;
    int64_t due_ms; /* result of the last step */
    unsigned wakes;
    enum errata_result start_result; /* result of starting calls; OK accepts them */
    const char *unreachable; /* reason why the server is unreachable; NULL: it is reachable */
    struct fixture_call calls[FIXTURE_CALLS_MAX]; /* running calls */
    uint64_t call_count; /* number of started calls */
    char keys[FIXTURE_TAGS_MAX][CAPTURES_KEY_BYTES]; /* by tag; "": not sent yet */
    struct fixture_drop drops[FIXTURE_TAGS_MAX];
    size_t drop_count;
    uint64_t attempts_ended; /* number of attempts reported by the ends of calls */
    void (*on_drop)(struct fixture *fixture,
                    const struct fixture_drop *drop); /* callback; may be NULL */
};

/* Zeros are: 100 captures, 1 MiB, 4 in flight, an age of 10 minutes. */
struct fixture_limits {
    uint32_t events_max;
    size_t bytes_max;
    uint32_t in_flight_max;
    int64_t age_ms_max;
};

/* Allocates a fixture; its end closes the queue and frees everything. */
struct fixture *fixture_new(const struct fixture_limits *limits, uint64_t seed);
void fixture_free(struct fixture *fixture);

enum errata_result fixture_add(struct fixture *fixture, uint32_t tag);
enum errata_result fixture_add_bytes(struct fixture *fixture, uint32_t tag, size_t size);
void fixture_step(struct fixture *fixture);
/* Time passes, with a step whenever one is due. */
void fixture_pass(struct fixture *fixture, int64_t ms);
void fixture_close(struct fixture *fixture, int64_t drain_ms);

/* The call of a tag that is under way; NULL: none is. */
struct fixture_call *fixture_find(struct fixture *fixture, uint32_t tag);
unsigned fixture_count_under_way(const struct fixture *fixture);
/* Ends a running call after one attempt, with the code's name as message; then runs a step. */
void fixture_end(struct fixture *fixture, uint32_t tag, enum errata_code code);
/* Does the same, with a RetryInfo of the server. */
void fixture_end_retry(struct fixture *fixture, uint32_t tag, enum errata_code code,
                       int64_t retry_ms);
/* Ends the call with any status; no step follows. */
void fixture_end_with(struct fixture *fixture, uint32_t tag, const struct errata_status *status);

/* The drop of a tag; NULL: it was not dropped. */
const struct fixture_drop *fixture_drop_of(const struct fixture *fixture, uint32_t tag);
void fixture_statistics(struct fixture *fixture, struct errata_captures_statistics *ret_statistics);
void fixture_check(struct fixture *fixture);

#endif
