/*
 * random.h: the only source of randomness, so that tests can reproduce it.
 */
#ifndef ERRATA_STORE_BASE_RANDOM_H
#define ERRATA_STORE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    /* Fills `size` bytes. Never fails: without randomness it aborts. */
    void (*fill)(struct random *random, void *bytes, size_t size);
};

/* The kernel's randomness, with a thread-local buffer: safe to share. */
struct random *random_system(void);
/* Does the same without the buffer, one system call each: for use after a fork, where a buffer
 * would give parent and children the same bytes. */
struct random *random_kernel(void);

/* SplitMix64 from a seed: the same bytes every time. For tests and simulation only. */
struct random_seeded {
    struct random random; /* must be the first member: pass &seeded.random */
    uint64_t state;
};

void random_seeded_init(struct random_seeded *seeded, uint64_t seed);

static inline void random_fill(struct random *random, void *bytes, size_t size)
{
    random->fill(random, bytes, size);
}

#endif
