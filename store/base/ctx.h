/*
 * ctx.h: the context of a piece of work: memory, time, randomness, and a place for the caller's
 * mistakes. Owns nothing; each member outlives the piece of work.
 */
#ifndef ERRATA_STORE_BASE_CTX_H
#define ERRATA_STORE_BASE_CTX_H

#include "store/base/arena.h"
#include "store/base/clock.h"
#include "store/base/fault.h"
#include "store/base/random.h"

struct ctx {
    struct arena *arena;
    const struct clock *clock;
    struct random *random;
    struct fault *fault;
};

#endif
