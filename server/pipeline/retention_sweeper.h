/*
 * retention_sweeper.h: removes the content of old events of all organisations, as their settings say, without a call. It is
 * a component of the loop: a timer ticks it, and each tick hands at most one small write to the writer, so that other writes
 * run in between. It goes through the organisations once an interval.
 */
#ifndef ERRATA_SERVER_PIPELINE_RETENTION_SWEEPER_H
#define ERRATA_SERVER_PIPELINE_RETENTION_SWEEPER_H

#include "server/domain/retention/retention.h"
#include "store/work.h"

/* Time between two passes, and after a failure to read the organisations. */
#define RETENTION_INTERVAL_US (INT64_C(3600) * 1000000)
/* Organisations that a tick looks at: about 10 us each if nothing is due. */
#define RETENTION_TICK_ORGS 50
/* Requests in the writer's queue above which a tick waits. */
#define RETENTION_QUEUE_MAX 64
/* Maximum time that a step may add to a commit. The number of events is adapted to it. */
#define RETENTION_STEP_US 5000
#define RETENTION_REMOVED_FIRST 8
/* A clock that goes ahead further than this, beside the monotonic one, stops the sweeper until the server is restarted:
 * content that is removed by mistake is lost. */
#define RETENTION_JUMP_US (INT64_C(24) * 3600 * 1000000)

/* Where a pass goes on: in this organisation, with the classes after this one (UNSPECIFIED: with all). */
struct retention_position {
    struct org_id org;
    enum content_class class;
};

struct retention_sweeper {
    struct work_request work; /* first; the writer's while `running` */
    struct store_backend *backend;
    struct writer *writer;
    struct arena arena; /* of a step */
    struct fault fault;
    struct ctx ctx;
    struct retention_position position; /* of `in_pass` */
    struct retention_step step; /* of `running` */
    struct retention_done done; /* the writer's while `running` */
    int64_t took_us; /* likewise */
    size_t removed_max; /* of the next step */
    bool running;
    bool in_pass;
    bool stopped; /* the clock jumped */
    int64_t wall_ahead_us; /* of the monotonic clock; the least since the start */
    int64_t next_us; /* monotonic; nothing is done before */
    uint64_t removed_count; /* events since the start of the server */
    uint64_t pass_count; /* complete passes */
};

/* Prepares it. `clock` and `random` outlive it. */
void retention_sweeper_init(struct retention_sweeper *sweeper, struct store_backend *backend,
                            struct writer *writer, const struct clock *clock,
                            struct random *random);
/* Takes at most one step. */
void retention_sweeper_tick(struct retention_sweeper *sweeper);
/* It must not run. Accepts a zeroed one. */
void retention_sweeper_deinit(struct retention_sweeper *sweeper);

#endif
