/*
 * redis_consumer.h: the client of one Redis stream, as a member of a consumer group, without sockets: it gets bytes, time
 * and what became of entries, and wants a connection, sends bytes, and gives entries to store. One batch of entries is in
 * memory at a time, and nothing is read meanwhile. An entry is acknowledged (XACK) only after redis_consumer_settle says so.
 *
 * | after                          | it reads                                                                 |
 * |--------------------------------|--------------------------------------------------------------------------|
 * | a connection                   | AUTH, XGROUP CREATE ... MKSTREAM, then its own pending entries            |
 * | its own pending entries        | those that another consumer left for REDIS_CLAIM_IDLE_MS (XAUTOCLAIM)     |
 * | these, every REDIS_CLAIM_US    | new entries (XREADGROUP ... BLOCK)                                        |
 * | an entry that did not fit      | its own pending entries, one by one; then it is whole, or too large       |
 * | a reply above its limit        | the same, by a new connection                                            |
 *
 * A lost connection is opened again after a wait, which is doubled each time up to a limit, random by half, and short again
 * once new entries are read: an error that lasts may come only after the greeting. Entries that
 * were stored, but not acknowledged, are then delivered again: the store must find them.
 */
#ifndef ERRATA_SERVER_REDIS_REDIS_CONSUMER_H
#define ERRATA_SERVER_REDIS_REDIS_CONSUMER_H

#include "server/redis/redis_reader.h"
#include "store/base/buffer.h"
#include "store/base/clock.h"
#include "store/base/random.h"

/* Maximum entries of a batch. */
#define REDIS_BATCH_MAX 64
/* Wait before the first attempt to connect again, and the longest. */
#define REDIS_RETRY_US_MIN 100000
#define REDIS_RETRY_US_MAX (INT64_C(30) * 1000000)
/* Time for a connection, and for the next bytes of a reply. */
#define REDIS_REPLY_US (INT64_C(10) * 1000000)
/* Time for which the server waits for new entries. */
#define REDIS_BLOCK_MS 2000
/* Time between two searches for entries of other consumers, and how long such an entry must have been idle. */
#define REDIS_CLAIM_US (INT64_C(30) * 1000000)
#define REDIS_CLAIM_IDLE_MS 60000
/* Length of an entry's id in Redis: two numbers of 20 digits. */
#define REDIS_ID_BYTES_MAX 41
/* Length of the last error. */
#define REDIS_PROBLEM_BYTES_MAX 200

enum redis_state {
    REDIS_WAITING, /* to connect */
    REDIS_OPENING,
    REDIS_GREETING,
    REDIS_READING,
    REDIS_STORING, /* the batch is being stored; connected */
    REDIS_STRANDED, /* the same, and the connection was lost */
    REDIS_STOPPED
};

/* Next task of the owner. */
enum redis_want {
    REDIS_WANTS_NOTHING,
    REDIS_WANTS_OPEN, /* connect, then call redis_consumer_opened or redis_consumer_fail */
    REDIS_WANTS_CLOSE, /* close the connection; nothing is called for it */
    REDIS_WANTS_STORE /* store the batch, then call redis_consumer_settle */
};

/* An entry of the batch. */
struct redis_entry {
    struct slice id;
    const struct slice *texts; /* names and values in turn */
    size_t field_count; /* pairs in `texts` */
    bool is_cut; /* it is too large, and `texts` have a part of it */
    bool is_gone; /* it was deleted in Redis before it was read, so there is nothing to store */
};

struct redis_consumer_config {
    /* Borrowed as long as the consumer exists. */
    struct slice stream;
    struct slice group;
    struct slice consumer;
    const struct clock *clock;
    struct random *random;
};

/* Counters since the start. */
struct redis_counts {
    uint64_t entries; /* that were read, repeated ones included */
    uint64_t claimed; /* those of other consumers among them */
    uint64_t gone; /* pending entries that were deleted in Redis before they were read */
    uint64_t acknowledged;
    uint64_t connections; /* that were greeted */
    uint64_t resumed; /* connections on which new entries were read, or waited for */
    uint64_t failures; /* of connections and attempts */
    uint64_t lag; /* entries of the stream that the group has not read, as Redis reported last */
};

struct redis_consumer;

MUST_CHECK enum err redis_consumer_new(const struct redis_consumer_config *config,
                                       struct redis_consumer **ret_consumer);
/* Accepts NULL. */
void redis_consumer_free(struct redis_consumer *consumer);

/* Returns what the owner is to do next, once; to be called after each of the functions below until it returns NOTHING. */
enum redis_want redis_consumer_next(struct redis_consumer *consumer);
/* The bytes to send; valid until redis_consumer_sent, which drops them. */
struct slice redis_consumer_output(struct redis_consumer *consumer);
void redis_consumer_sent(struct redis_consumer *consumer);
/* The batch, from WANTS_STORE until redis_consumer_settle. */
const struct redis_entry *redis_consumer_batch(const struct redis_consumer *consumer,
                                               size_t *ret_count);

/* Sets the password of the next connection, borrowed until it is greeted; empty: none is sent. */
void redis_consumer_set_password(struct redis_consumer *consumer, struct slice password);
void redis_consumer_tick(struct redis_consumer *consumer);
void redis_consumer_opened(struct redis_consumer *consumer);
void redis_consumer_feed(struct redis_consumer *consumer, struct slice bytes);
/* The connection could not be opened, or was lost. */
void redis_consumer_fail(struct redis_consumer *consumer, const char *why);
/* The batch was stored: `is_stored` is true for each stored entry. Those are acknowledged. */
void redis_consumer_settle(struct redis_consumer *consumer, const bool *is_stored);
/* Connects and reads no more. A batch that is being stored must still be settled. */
void redis_consumer_stop(struct redis_consumer *consumer);

enum redis_state redis_consumer_state(const struct redis_consumer *consumer);
/* Returns why the connection failed last; empty while one is open. */
const char *redis_consumer_problem(const struct redis_consumer *consumer);
struct redis_counts redis_consumer_counts(const struct redis_consumer *consumer);

#endif
