/*
 * feed.c: see feed.h. A block belongs to the putting thread while it is filled, to the queue, and
 * then to the writing thread, which frees it.
 */
#include "tools/bench/preload/feed.h"

#include "store/base/assert.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Header of each row in a block. */
struct row_head {
    uint32_t value_bytes;
    uint8_t key_bytes;
    uint8_t table;
};

struct block {
    size_t used;
    size_t capacity;
    uint8_t bytes[];
};

struct feed {
    struct store_backend *backend;
    struct block *filling; /* the putting thread's; NULL: none yet */
    /* The writing thread's. */
    struct store_txn *txn; /* NULL between commits */
    size_t txn_bytes;
    pthread_t thread;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    struct block *queue[FEED_BLOCKS_MAX]; /* a ring */
    size_t first;
    size_t count;
    bool closed; /* no more blocks are added */
    enum err err; /* error of the writing thread, which then discards all blocks */
};

/* Waits for the next block; returns NULL after the last one. */
static struct block *take_block(struct feed *feed)
{
    struct block *block = NULL;

    pthread_mutex_lock(&feed->lock);
    while (feed->count == 0 && !feed->closed) {
        pthread_cond_wait(&feed->changed, &feed->lock);
    }
    if (feed->count > 0) {
        block = feed->queue[feed->first];
        feed->first = (feed->first + 1) % FEED_BLOCKS_MAX;
        feed->count--;
        pthread_cond_broadcast(&feed->changed);
    }
    pthread_mutex_unlock(&feed->lock);
    return block;
}

static enum err commit(struct feed *feed)
{
    struct store_txn *txn = feed->txn;

    feed->txn = NULL;
    feed->txn_bytes = 0;
    return txn == NULL ? OK : store_commit(txn);
}

static enum err write_block(struct feed *feed, const struct block *block)
{
    size_t at = 0;
    enum err err = feed->txn != NULL ? OK : store_begin(feed->backend, STORE_WRITE, &feed->txn);

    while (err == OK && at < block->used) {
        const uint8_t *row = block->bytes + at;
        struct row_head head;

        memcpy(&head, row, sizeof(head));
        err = store_append(feed->txn, (enum store_table)head.table,
                           slice_of(row + sizeof(head), head.key_bytes),
                           slice_of(row + sizeof(head) + head.key_bytes, head.value_bytes));
        at += sizeof(head) + head.key_bytes + head.value_bytes;
    }
    feed->txn_bytes += block->used;
    if (err == OK && feed->txn_bytes >= FEED_COMMIT_BYTES) {
        err = commit(feed);
    }
    return err;
}

static void note_failure(struct feed *feed, enum err err)
{
    store_abort(feed->txn);
    feed->txn = NULL;
    pthread_mutex_lock(&feed->lock);
    feed->err = err;
    pthread_mutex_unlock(&feed->lock);
}

static void *write_all(void *user)
{
    struct feed *feed = user;
    struct block *block = NULL;
    enum err err = OK;

    while ((block = take_block(feed)) != NULL) {
        if (err == OK) {
            err = write_block(feed, block);
        }
        free(block);
        if (err != OK && feed->err == OK) {
            note_failure(feed, err);
        }
    }
    if (err == OK && (err = commit(feed)) != OK) {
        note_failure(feed, err);
    }
    return NULL;
}

enum err feed_open(struct store_backend *backend, struct feed **ret_feed)
{
    struct feed *feed = calloc(1, sizeof(*feed));

    if (feed == NULL) {
        return ERR_MEMORY;
    }
    feed->backend = backend;
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->changed, NULL);
    if (pthread_create(&feed->thread, NULL, write_all, feed) != 0) {
        free(feed);
        return ERR_MEMORY;
    }
    *ret_feed = feed;
    return OK;
}

/* Passes the current block to the writing thread. */
static enum err push_block(struct feed *feed)
{
    enum err err = OK;

    pthread_mutex_lock(&feed->lock);
    while (feed->count == FEED_BLOCKS_MAX) {
        pthread_cond_wait(&feed->changed, &feed->lock);
    }
    feed->queue[(feed->first + feed->count) % FEED_BLOCKS_MAX] = feed->filling;
    feed->count++;
    err = feed->err;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
    feed->filling = NULL;
    return err;
}

/* Ensures that the current block has room for `bytes`. */
static enum err make_room(struct feed *feed, size_t bytes)
{
    size_t capacity = bytes > FEED_BLOCK_BYTES ? bytes : FEED_BLOCK_BYTES;
    enum err err = OK;

    if (feed->filling != NULL) {
        if (feed->filling->capacity - feed->filling->used >= bytes) {
            return OK;
        }
        err = push_block(feed);
        if (err != OK) {
            return err;
        }
    }
    feed->filling = malloc(sizeof(struct block) + capacity);
    if (feed->filling == NULL) {
        return ERR_MEMORY;
    }
    feed->filling->capacity = capacity;
    feed->filling->used = 0;
    return OK;
}

enum err feed_put(struct feed *feed, enum store_table table, struct slice key, struct slice value)
{
    const struct row_head head = {(uint32_t)value.size, (uint8_t)key.size, (uint8_t)table};
    size_t bytes = sizeof(head) + key.size + value.size;
    uint8_t *at = NULL;
    enum err err = OK;

    ASSERT(key.size <= STORE_KEY_BYTES_MAX && value.size <= STORE_VALUE_BYTES_MAX);
    err = make_room(feed, bytes);
    if (err != OK) {
        return err;
    }
    at = feed->filling->bytes + feed->filling->used;
    memcpy(at, &head, sizeof(head));
    memcpy(at + sizeof(head), key.data, key.size);
    if (value.size > 0) {
        memcpy(at + sizeof(head) + key.size, value.data, value.size);
    }
    feed->filling->used += bytes;
    return OK;
}

enum err feed_close(struct feed *take_feed)
{
    enum err err = OK;

    if (take_feed == NULL) {
        return OK;
    }
    if (take_feed->filling != NULL) {
        err = push_block(take_feed);
    }
    pthread_mutex_lock(&take_feed->lock);
    take_feed->closed = true;
    pthread_cond_broadcast(&take_feed->changed);
    pthread_mutex_unlock(&take_feed->lock);
    pthread_join(take_feed->thread, NULL);
    err = err != OK ? err : take_feed->err;
    pthread_cond_destroy(&take_feed->changed);
    pthread_mutex_destroy(&take_feed->lock);
    free(take_feed);
    return err;
}
