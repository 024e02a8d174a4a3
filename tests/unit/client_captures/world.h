/*
 * world.h: a queue of captures whose sender, clock and randomness the test plays. A capture is known
 * by its tag, the first bytes of its request. After each move the world checks what must always hold:
 * the statistics add up, no two captures have one key, and a capture never has another key.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_CAPTURES_WORLD_H
#define ERRATA_TESTS_UNIT_CLIENT_CAPTURES_WORLD_H

#include "client/captures/queue.h"

#define WORLD_CALLS_MAX 64
#define WORLD_TAGS_MAX 4096
/* Bytes of a capture, unless a test specifies otherwise. */
#define WORLD_BYTES 16

struct world_call {
    struct capture *capture; /* NULL: this place is free */
    uint32_t tag;
    uint64_t number; /* number of calls */
    int64_t timeout_ms;
    bool cancelled;
};

struct world_drop {
    uint32_t tag;
    enum errata_drop why;
    bool has_status;
    enum errata_code code;
    uint32_t attempts;
    char message[CAPTURES_MESSAGE_BYTES];
};

struct world {
    struct captures_intake intake;
    struct captures_queue queue;
    struct random_seeded random;
    int64_t now_ms;
    int64_t due_ms; /* result of the last step */
    unsigned wakes;
    enum errata_result start_result; /* result of starting calls; OK accepts them */
    const char *unreachable; /* reason why the server is unreachable; NULL: it is reachable */
    struct world_call calls[WORLD_CALLS_MAX]; /* running calls */
    uint64_t call_count; /* number of started calls */
    char keys[WORLD_TAGS_MAX][CAPTURES_KEY_BYTES]; /* by tag; "": not sent yet */
    struct world_drop drops[WORLD_TAGS_MAX];
    size_t drop_count;
    uint64_t attempts_ended; /* number of attempts reported by the ends of calls */
    void (*on_drop)(struct world *world, const struct world_drop *drop); /* callback; may be NULL */
};

/* Zeros are: 100 captures, 1 MiB, 4 in flight, an age of 10 minutes. */
struct world_limits {
    uint32_t events_max;
    size_t bytes_max;
    uint32_t in_flight_max;
    int64_t age_ms_max;
};

/* Allocates a world; its end closes the queue and frees everything. */
struct world *world_new(const struct world_limits *limits, uint64_t seed);
void world_free(struct world *world);

enum errata_result world_add(struct world *world, uint32_t tag);
enum errata_result world_add_bytes(struct world *world, uint32_t tag, size_t size);
void world_step(struct world *world);
/* Time passes, with a step whenever one is due. */
void world_pass(struct world *world, int64_t ms);
void world_close(struct world *world, int64_t drain_ms);

/* The call of a tag that is under way; NULL: none is. */
struct world_call *world_find(struct world *world, uint32_t tag);
unsigned world_count_under_way(const struct world *world);
/* Ends a running call after one attempt, with the code's name as message; then runs a step. */
void world_end(struct world *world, uint32_t tag, enum errata_code code);
/* The same as the server says it with RetryInfo. */
void world_end_retry(struct world *world, uint32_t tag, enum errata_code code, int64_t retry_ms);
/* The same in any way; no step follows. */
void world_end_with(struct world *world, uint32_t tag, const struct errata_status *status);

/* The drop of a tag; NULL: it was not dropped. */
const struct world_drop *world_drop_of(const struct world *world, uint32_t tag);
void world_statistics(struct world *world, struct errata_captures_statistics *ret_statistics);
void world_check(struct world *world);

#endif
