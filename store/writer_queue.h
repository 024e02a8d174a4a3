/*
 * writer_queue.h: requests that wait for the writer, fair by organisation: requests of one
 * organisation keep their order, organisations are served round robin. Bounded in requests and
 * bytes, an organisation to half of each. Not thread-safe: protected by the writer's lock.
 */
#ifndef ERRATA_STORE_WRITER_QUEUE_H
#define ERRATA_STORE_WRITER_QUEUE_H

#include "store/work.h"

/* Twice as many slots as organisations can wait, so that a search is short. */
#define WRITER_QUEUE_SLOTS (2 * WORK_QUEUE_REQUESTS_MAX)

struct writer_share; /* an organisation's waiting requests */

struct writer_queue {
    struct writer_share *shares; /* WORK_QUEUE_REQUESTS_MAX elements; owned */
    struct writer_share *unused; /* list */
    struct writer_share *
        *slots; /* hash table of WRITER_QUEUE_SLOTS by organisation, with open addressing; owned */
    struct writer_share *turn; /* the next to be served, in a ring of those with requests; NULL:
                                * none */
    uint32_t requests;
    uint64_t bytes; /* size of the requests, at most half of the limit per request */
};

MUST_CHECK enum err writer_queue_init(struct writer_queue *queue);
/* Frees the queue, which must be empty. A zeroed queue is allowed. */
void writer_queue_deinit(struct writer_queue *queue);
/* ERR_BUSY if the queue, or the organisation's share of it, has no room. */
MUST_CHECK enum err writer_queue_push(struct writer_queue *queue, struct work_request *request);
/* Returns how many queued requests would be served before a new one of this organisation. */
uint32_t writer_queue_ahead(const struct writer_queue *queue, struct org_id org);
/* Returns the next request, still queued; NULL if none waits. */
struct work_request *writer_queue_peek(const struct writer_queue *queue);
/* Takes the next request, and continues with the next organisation. */
struct work_request *writer_queue_pop(struct writer_queue *queue);

#endif
