/*
 * pdf_queue.h: the order of jobs, and their limits: one queue per organisation, served round robin,
 * with the limits of pdf_jobs.h. Independent of the loop and the worker. Private to this folder and
 * its tests.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_QUEUE_H
#define ERRATA_SERVER_JOBS_PDF_PDF_QUEUE_H

#include "server/jobs/pdf/pdf_jobs.h"

struct pdf_queue_share;

/* A job in the queue; the first member of the job. */
struct pdf_queue_entry {
    struct pdf_queue_share *share; /* share of its organisation */
    size_t held_bytes;
    /* Neighbours in the queue while it waits. */
    struct pdf_queue_entry *previous;
    struct pdf_queue_entry *next;
};

/* An organisation's jobs; free if it has none. */
struct pdf_queue_share {
    struct uuid org;
    unsigned job_count;
    size_t held_bytes;
    /* Queue of the organisation, oldest first. */
    struct pdf_queue_entry *first;
    struct pdf_queue_entry *last;
    /* Neighbours in the round robin while its queue is not empty. */
    struct pdf_queue_share *turn_previous;
    struct pdf_queue_share *turn_next;
};

/* Zeroed: empty. */
struct pdf_queue {
    unsigned job_count;
    unsigned waiting_count;
    size_t held_bytes;
    struct pdf_queue_share *turn_first;
    struct pdf_queue_share *turn_last;
    struct pdf_queue_share shares[PDF_JOBS_MAX];
};

/* Counts a new job of an organisation; ERR_QUOTA above the organisation's limit, ERR_BUSY above the
 * total. */
MUST_CHECK enum err pdf_queue_enter(struct pdf_queue *queue, struct uuid org,
                                    struct pdf_queue_entry *entry);
/* Reserves room for `size` bytes; ERR_TOO_LARGE, ERR_QUOTA, ERR_BUSY. */
MUST_CHECK enum err pdf_queue_hold(struct pdf_queue *queue, struct pdf_queue_entry *entry,
                                   size_t size);
/* Uncounts a job and its room; it must not wait. */
void pdf_queue_leave(struct pdf_queue *queue, struct pdf_queue_entry *entry);
/* Appends the job to its organisation's queue. */
void pdf_queue_push(struct pdf_queue *queue, struct pdf_queue_entry *entry);
/* Removes the job from its queue. */
void pdf_queue_remove(struct pdf_queue *queue, struct pdf_queue_entry *entry);
/* Takes the first job of the next organisation; NULL if none waits. */
struct pdf_queue_entry *pdf_queue_pop(struct pdf_queue *queue);

#endif
