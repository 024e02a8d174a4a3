/*
 * backup_ring.c: a ring of bytes between two threads. Bytes are copied outside of the lock: the
 * room after `put_bytes` belongs to the putting thread, the lent bytes to the taking one.
 */
#include "server/app/backup_ring.h"

#include "store/base/assert.h"

#include <stdlib.h>

enum err backup_ring_init(struct backup_ring *ring)
{
    *ring = (struct backup_ring){.bytes = (uint8_t *)malloc(BACKUP_RING_BYTES)};
    if (ring->bytes == NULL) {
        return ERR_MEMORY;
    }
    if (uv_mutex_init(&ring->lock) != 0) {
        free(ring->bytes);
        return ERR_MEMORY;
    }
    if (uv_cond_init(&ring->room) != 0) {
        uv_mutex_destroy(&ring->lock);
        free(ring->bytes);
        return ERR_MEMORY;
    }
    return OK;
}

void backup_ring_deinit(struct backup_ring *ring)
{
    uv_cond_destroy(&ring->room);
    uv_mutex_destroy(&ring->lock);
    free(ring->bytes);
    ring->bytes = NULL;
}

/* Returns how many bytes may be put in one piece, after waiting for the first; 0: stopped. */
static size_t wait_for_room(struct backup_ring *ring)
{
    uint64_t used = 0;
    size_t to_edge = 0;
    size_t room = 0;

    uv_mutex_lock(&ring->lock);
    while (!ring->is_stopped && ring->put_bytes - ring->taken_bytes == BACKUP_RING_BYTES) {
        uv_cond_wait(&ring->room, &ring->lock);
    }
    used = ring->put_bytes - ring->taken_bytes;
    to_edge = BACKUP_RING_BYTES - (size_t)(ring->put_bytes % BACKUP_RING_BYTES);
    room = BACKUP_RING_BYTES - (size_t)used;
    room = room < to_edge ? room : to_edge;
    if (ring->is_stopped) {
        room = 0;
    }
    uv_mutex_unlock(&ring->lock);
    return room;
}

enum err backup_ring_put(struct backup_ring *ring, struct slice bytes)
{
    while (bytes.size > 0) {
        size_t size = wait_for_room(ring);

        if (size == 0) {
            return ERR_CANCELLED;
        }
        size = size < bytes.size ? size : bytes.size;
        memcpy(ring->bytes + ring->put_bytes % BACKUP_RING_BYTES, bytes.data, size);
        uv_mutex_lock(&ring->lock);
        ring->put_bytes += size;
        uv_mutex_unlock(&ring->lock);
        bytes = slice_after(bytes, size);
    }
    return OK;
}

struct slice backup_ring_take(struct backup_ring *ring, size_t max)
{
    size_t at = 0;
    size_t size = 0;

    uv_mutex_lock(&ring->lock);
    ring->taken_bytes += ring->lent_bytes;
    if (ring->lent_bytes > 0) {
        uv_cond_signal(&ring->room);
    }
    at = (size_t)(ring->taken_bytes % BACKUP_RING_BYTES);
    size = (size_t)(ring->put_bytes - ring->taken_bytes);
    size = size < BACKUP_RING_BYTES - at ? size : BACKUP_RING_BYTES - at;
    size = size < max ? size : max;
    ring->lent_bytes = size;
    uv_mutex_unlock(&ring->lock);
    return slice_of(ring->bytes + at, size);
}

bool backup_ring_has_bytes(struct backup_ring *ring)
{
    bool has = false;

    uv_mutex_lock(&ring->lock);
    has = ring->put_bytes > ring->taken_bytes + ring->lent_bytes;
    uv_mutex_unlock(&ring->lock);
    return has;
}

void backup_ring_stop(struct backup_ring *ring)
{
    uv_mutex_lock(&ring->lock);
    ring->is_stopped = true;
    uv_cond_signal(&ring->room);
    uv_mutex_unlock(&ring->lock);
}
