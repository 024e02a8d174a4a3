/*
 * capture.h: one capture that is queued, and lists of them. A capture is in two lists at a time:
 * that of all captures of the queue, and that of the captures that wait for the same condition.
 */
#ifndef ERRATA_CLIENT_CAPTURES_CAPTURE_H
#define ERRATA_CLIENT_CAPTURES_CAPTURE_H

#include <errata/client.h>

struct captures_queue;
struct capture;

enum capture_link {
    CAPTURE_BY_AGE, /* list of all captures that the queue has taken from the intake */
    CAPTURE_BY_TURN, /* list of the captures that wait, in the intake or in the queue */
    CAPTURE_LINKS
};

struct capture_links {
    struct capture *before;
    struct capture *after;
};

struct capture {
    struct capture_links links[CAPTURE_LINKS];
    struct captures_queue *queue; /* queue that sends it; NULL while it is in the intake */
    struct errata_call *call; /* running call; NULL if there is none */
    uint64_t number; /* number of its idempotency key, unique in this queue */
    int64_t
        taken_ms; /* time at which the queue took it from the intake; its age counts from here */
    int64_t due_ms; /* earliest time of the next attempt */
    uint32_t attempts; /* number of attempts, over all its calls */
    uint32_t faults; /* number of failed calls whose cause may be the capture itself */
    bool
        cancelled; /* cancelled because of its age or the end of the queue; removed when its call has ended */
    bool is_review;
    size_t size;
    uint8_t bytes[]; /* the CaptureFeedbackEventRequest, or the SubmitReviewRequest of a review */
};

/* First to last in the order in which they were appended. */
struct capture_list {
    struct capture *first;
    struct capture *last;
    enum capture_link link; /* kind of links between its members */
};

/* Allocates a capture with room for the bytes, which the caller fills and frees by free. NULL if memory is exhausted. */
struct capture *capture_new(size_t size);
void capture_list_append(struct capture_list *list, struct capture *capture);
void capture_list_remove(struct capture_list *list, struct capture *capture);

#endif
