/*
 * writer_queue.c: a hash table from organisation to its share, and a ring of the shares that have
 * requests.
 */
#include "store/writer_queue.h"

#include "store/base/assert.h"

#include <stdlib.h>

/* An organisation's part of the bytes. */
#define SHARE_BYTES_MAX (WORK_QUEUE_BYTES_MAX / 2)

struct writer_share {
    struct org_id org;
    struct work_request *first; /* oldest */
    struct work_request *last;
    uint32_t requests;
    uint64_t bytes;
    /* Shares with requests are in the ring; unused ones are in a list. */
    struct writer_share *next;
    struct writer_share *prev;
    size_t slot;
};

enum err writer_queue_init(struct writer_queue *queue)
{
    memset(queue, 0, sizeof(*queue));
    queue->shares = calloc(WORK_QUEUE_REQUESTS_MAX, sizeof(*queue->shares));
    queue->slots = calloc(WRITER_QUEUE_SLOTS, sizeof(struct writer_share *));
    if (queue->shares == NULL || queue->slots == NULL) {
        writer_queue_deinit(queue);
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < WORK_QUEUE_REQUESTS_MAX; i++) {
        queue->shares[i].next = queue->unused;
        queue->unused = &queue->shares[i];
    }
    return OK;
}

void writer_queue_deinit(struct writer_queue *queue)
{
    ASSERT(queue->requests == 0);
    free(queue->shares);
    free((void *)queue->slots);
    memset(queue, 0, sizeof(*queue));
}

/* Returns the slot where the search for an organisation starts. Its id ends in random bits. */
static size_t home_slot(struct org_id org)
{
    uint64_t bits = 0;

    memcpy(&bits, org.uuid.bytes + UUID_BYTES - sizeof(bits), sizeof(bits));
    return (size_t)(bits * 0x9e3779b97f4a7c15ull >> 32) % WRITER_QUEUE_SLOTS;
}

/* Returns the slot with the organisation's share, or the free one for it. */
static size_t find_slot(const struct writer_queue *queue, struct org_id org)
{
    size_t slot = home_slot(org);

    while (queue->slots[slot] != NULL && !uuid_equal(queue->slots[slot]->org.uuid, org.uuid)) {
        slot = (slot + 1) % WRITER_QUEUE_SLOTS;
    }
    return slot;
}

/* Frees a slot, and moves back those after it that a search would no longer reach. */
static void free_slot(struct writer_queue *queue, size_t hole)
{
    size_t slot = hole;

    for (;;) {
        size_t home = 0;

        slot = (slot + 1) % WRITER_QUEUE_SLOTS;
        if (queue->slots[slot] == NULL) {
            break;
        }
        home = home_slot(queue->slots[slot]->org);
        if ((slot - home + WRITER_QUEUE_SLOTS) % WRITER_QUEUE_SLOTS >=
            (slot - hole + WRITER_QUEUE_SLOTS) % WRITER_QUEUE_SLOTS) {
            queue->slots[hole] = queue->slots[slot];
            queue->slots[hole]->slot = hole;
            hole = slot;
        }
    }
    queue->slots[hole] = NULL;
}

static struct writer_share *add_share(struct writer_queue *queue, struct org_id org, size_t slot)
{
    struct writer_share *share = queue->unused;

    ASSERT(share !=
           NULL); /* each share has a request, so there are at most as many shares as requests */
    queue->unused = share->next;
    memset(share, 0, sizeof(*share));
    share->org = org;
    share->slot = slot;
    queue->slots[slot] = share;
    if (queue->turn == NULL) {
        share->next = share;
        share->prev = share;
        queue->turn = share;
    } else {
        /* inserted at the end of the ring: before the current entry */
        share->next = queue->turn;
        share->prev = queue->turn->prev;
        share->prev->next = share;
        share->next->prev = share;
    }
    return share;
}

static void remove_share(struct writer_queue *queue, struct writer_share *share)
{
    if (share->next == share) {
        queue->turn = NULL;
    } else {
        share->prev->next = share->next;
        share->next->prev = share->prev;
        queue->turn = share->next;
    }
    free_slot(queue, share->slot);
    share->next = queue->unused;
    queue->unused = share;
}

/* Returns the bytes that a request counts for: at most a share, so that one organisation's large
 * request leaves others their half. */
static uint64_t bytes_of(const struct work_request *request)
{
    return request->bytes < SHARE_BYTES_MAX ? request->bytes : SHARE_BYTES_MAX;
}

/* Returns whether a request fits. One that fills a share, or is larger, is accepted if its
 * organisation has nothing else queued. */
static bool has_room(const struct writer_queue *queue, const struct writer_share *share,
                     uint64_t bytes)
{
    if (queue->requests >= WORK_QUEUE_REQUESTS_MAX || queue->bytes + bytes > WORK_QUEUE_BYTES_MAX) {
        return false;
    }
    return share == NULL || (share->requests < WORK_QUEUE_REQUESTS_MAX / 2 &&
                             share->bytes + bytes <= SHARE_BYTES_MAX);
}

enum err writer_queue_push(struct writer_queue *queue, struct work_request *request)
{
    size_t slot = find_slot(queue, request->org);
    struct writer_share *share = queue->slots[slot];

    if (!has_room(queue, share, bytes_of(request))) {
        return ERR_BUSY;
    }
    if (share == NULL) {
        share = add_share(queue, request->org, slot);
    }
    request->next = NULL;
    if (share->last == NULL) {
        share->first = request;
    } else {
        share->last->next = request;
    }
    share->last = request;
    share->requests++;
    share->bytes += bytes_of(request);
    queue->requests++;
    queue->bytes += bytes_of(request);
    return OK;
}

uint32_t writer_queue_ahead(const struct writer_queue *queue, struct org_id org)
{
    const struct writer_share *own = queue->slots[find_slot(queue, org)];
    const struct writer_share *share = queue->turn;
    /* rounds before and including this organisation's turn */
    uint32_t rounds = own == NULL ? 1 : own->requests + 1;
    uint32_t ahead = own == NULL ? 0 : own->requests;

    if (share == NULL) {
        return 0;
    }
    do {
        if (share == own) {
            rounds--; /* later organisations come after it */
        } else {
            ahead += share->requests < rounds ? share->requests : rounds;
        }
        share = share->next;
        ASSERT(share != NULL); /* the ring has no end */
    } while (share != queue->turn);
    return ahead;
}

struct work_request *writer_queue_peek(const struct writer_queue *queue)
{
    return queue->turn == NULL ? NULL : queue->turn->first;
}

struct work_request *writer_queue_pop(struct writer_queue *queue)
{
    struct writer_share *share = queue->turn;
    struct work_request *request = NULL;

    if (share == NULL) {
        return NULL;
    }
    request = share->first;
    share->first = request->next;
    share->requests--;
    share->bytes -= bytes_of(request);
    queue->requests--;
    queue->bytes -= bytes_of(request);
    request->next = NULL;
    if (share->first == NULL) {
        remove_share(queue, share);
    } else {
        queue->turn = share->next;
    }
    return request;
}
