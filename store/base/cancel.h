/*
 * cancel.h: how a read that takes long asks whether its result is still needed.
 */
#ifndef ERRATA_STORE_BASE_CANCEL_H
#define ERRATA_STORE_BASE_CANCEL_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Returns whether the call was cancelled. For threads of the pool, some thousand times a second at least: lets the loop run
 * first if it has work. A kernel with lazy preemption takes the core from a thread that only computes at the next timer tick,
 * which may be milliseconds away, unless the thread makes a system call. */
static inline bool cancel_requested(const atomic_bool *cancelled)
{
    (void)sched_yield();
    return atomic_load_explicit(cancelled, memory_order_relaxed);
}

#endif
