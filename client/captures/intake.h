/*
 * intake.h: the part of a queue of captures that any thread may use, protected by one lock that is
 * held for a few instructions at a time: captures that were added and not taken over yet, the
 * limits, the statistics, and requests of other threads to the loop's.
 */
#ifndef ERRATA_CLIENT_CAPTURES_INTAKE_H
#define ERRATA_CLIENT_CAPTURES_INTAKE_H

#include "client/captures/capture.h"
#include "store/base/attributes.h"

#include <errata/captures.h>
#include <pthread.h>

struct captures_intake_config {
    uint32_t events_max;
    size_t bytes_max;
    /* Notifies the loop's thread that there is work. Called with the lock held; the last call
     * follows the request to stop. Must not call functions of the intake. */
    void (*wake)(void *user);
    void *user;
};

/* Result of a capture: an enum errata_drop, or this value. */
#define CAPTURES_STORED (-1)

struct captures_intake {
    struct captures_intake_config config;
    pthread_mutex_t lock; /* protects all members below */
    struct capture_list added; /* added captures, in order; owned until the queue takes them over */
    struct errata_captures_statistics statistics;
    uint64_t numbers; /* number of assigned numbers */
    char *token; /* new token for the queue; "": no token; NULL: unchanged; owned */
    int64_t drain_ms; /* drain time of the request to stop; -1: not requested */
    bool closed; /* accepts no more captures */
};

/* ERRATA_MEMORY. */
MUST_CHECK enum errata_result captures_intake_init(struct captures_intake *intake,
                                                   const struct captures_intake_config *config);
/* Frees an intake from which the queue has taken all captures. */
void captures_intake_deinit(struct captures_intake *intake);

/* --- any thread --- */

/* Takes the capture, and assigns its number. ERRATA_BUSY: the queue is full, which was counted.
 * ERRATA_ENDED: it is closed. On failure the caller keeps the capture. */
MUST_CHECK enum errata_result captures_intake_add(struct captures_intake *intake,
                                                  struct capture *take_capture);
void captures_intake_read_statistics(struct captures_intake *intake,
                                     struct errata_captures_statistics *ret_statistics);
/* Requests a new token; "": none. ERRATA_MEMORY, ERRATA_ENDED. */
MUST_CHECK enum errata_result captures_intake_ask_token(struct captures_intake *intake,
                                                        const char *token);
/* Requests the end, and closes the intake; called once. */
void captures_intake_ask_stop(struct captures_intake *intake, int64_t drain_ms);

/* --- the loop's thread --- */

/* Returns all captures added since the last call; owned by the caller. */
struct capture_list captures_intake_take(struct captures_intake *intake);
/* Returns the requested token, to be freed by the caller; NULL: none was requested. */
char *captures_intake_take_token(struct captures_intake *intake);
/* Overwrites and frees a token. NULL does nothing. */
void captures_intake_free_token(char *token);
/* Returns how long to drain, if the end was requested; else -1. */
int64_t captures_intake_read_stop(struct captures_intake *intake);
void captures_intake_close(struct captures_intake *intake);
/* Counts a call of a capture that ended with `code` after `repeats` repeated attempts. */
void captures_intake_count_call(struct captures_intake *intake, uint32_t repeats,
                                enum errata_code code);
/* Reports that a capture of `size` bytes has left the queue. */
void captures_intake_count_out(struct captures_intake *intake, size_t size, int how);

#endif
