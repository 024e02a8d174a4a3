/*
 * pdf_queue.h: who comes next, and who may come at all: one line of waiting jobs an organisation, the
 * lines served in turn, and the bounds of pdf_jobs.h. Knows neither the loop nor the worker. For this
 * folder and its tests.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_QUEUE_H
#define ERRATA_SERVER_JOBS_PDF_PDF_QUEUE_H

#include "server/jobs/pdf/pdf_jobs.h"

struct pdf_queue_share;

/* A job's place; the first member of what waits. */
struct pdf_queue_entry {
    struct pdf_queue_share *share; /* its organisation's */
    size_t held_bytes;
    /* Its neighbours in the line, while it waits. */
    struct pdf_queue_entry *previous;
    struct pdf_queue_entry *next;
};

/* What one organisation has here; free where it has no job. */
struct pdf_queue_share {
    struct uuid org;
    unsigned job_count;
    size_t held_bytes;
    /* Its line, oldest first. */
    struct pdf_queue_entry *first;
    struct pdf_queue_entry *last;
    /* Its neighbours in the turn, while its line is not empty. */
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

/* Counts a job of an organisation in; ERR_QUOTA above the organisation's bound, ERR_BUSY above that of all. */
MUST_CHECK enum err pdf_queue_enter(struct pdf_queue *queue, struct uuid org,
                                    struct pdf_queue_entry *entry);
/* Takes room for `size` bytes; ERR_TOO_LARGE, ERR_QUOTA, ERR_BUSY. */
MUST_CHECK enum err pdf_queue_hold(struct pdf_queue *queue, struct pdf_queue_entry *entry,
                                   size_t size);
/* Counts it out, with all its room; it does not wait. */
void pdf_queue_leave(struct pdf_queue *queue, struct pdf_queue_entry *entry);
/* To the end of its organisation's line. */
void pdf_queue_push(struct pdf_queue *queue, struct pdf_queue_entry *entry);
/* Out of its line. */
void pdf_queue_remove(struct pdf_queue *queue, struct pdf_queue_entry *entry);
/* The first of the line whose turn it is; NULL if none waits. */
struct pdf_queue_entry *pdf_queue_pop(struct pdf_queue *queue);

#endif
