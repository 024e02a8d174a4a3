/*
 * random.c: the kernel's randomness, and a reproducible generator. Bytes of getrandom(2) are
 * fetched 256 at a time, since a system call for each id costs more than the id. Bytes not used yet
 * are thread-local and hidden in one function: a shared buffer would need a lock, and a buffer in
 * the caller's struct would copy future secrets with it. Bytes are erased as they are handed out. A
 * child made by fork must exec first, or use random_kernel.
 */
#include "store/base/random.h"

#include "store/base/assert.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define STOCK_BYTES 256

struct stock {
    uint8_t bytes[STOCK_BYTES];
    size_t left; /* number of unused bytes at the front */
};

/* getrandom returns up to 256 bytes completely once the pool is ready, so only signals interrupt
 * it. */
static void fetch_random(void *bytes, size_t size)
{
    uint8_t *at = bytes;

    while (size > 0) {
        size_t part = size < STOCK_BYTES ? size : STOCK_BYTES;
        ssize_t got = getrandom(at, part, 0);

        ASSERT(got > 0 || errno == EINTR);
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        }
    }
}

static void system_fill(struct random *random, void *bytes, size_t size)
{
    static _Thread_local struct stock stock;

    (void)random;
    if (size > STOCK_BYTES) {
        fetch_random(bytes, size);
        return;
    }
    if (size > stock.left) {
        fetch_random(stock.bytes, STOCK_BYTES);
        stock.left = STOCK_BYTES;
    }
    stock.left -= size;
    memcpy(bytes, stock.bytes + stock.left, size);
    explicit_bzero(stock.bytes + stock.left, size);
}

struct random *random_system(void)
{
    /* Never written: it has only a function, no state. */
    static struct random machine = {system_fill};

    return &machine;
}

static void kernel_fill(struct random *random, void *bytes, size_t size)
{
    (void)random;
    fetch_random(bytes, size);
}

struct random *random_kernel(void)
{
    /* Never written, as above. */
    static struct random kernel = {kernel_fill};

    return &kernel;
}

/* SplitMix64: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014. */
static uint64_t next_seeded(struct random_seeded *seeded)
{
    uint64_t z = seeded->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void seeded_fill(struct random *random, void *bytes, size_t size)
{
    struct random_seeded *seeded = (struct random_seeded *)random;
    uint8_t *at = bytes;

    while (size > 0) {
        uint64_t word = next_seeded(seeded);
        size_t part = size < sizeof(word) ? size : sizeof(word);

        memcpy(at, &word, part);
        at += part;
        size -= part;
    }
}

void random_seeded_init(struct random_seeded *seeded, uint64_t seed)
{
    *seeded = (struct random_seeded){.random = {seeded_fill}, .state = seed};
}
