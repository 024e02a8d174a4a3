/*
 * capture.h: one capture that is queued, and lists of them. A capture is in two lists at a time: one of
 * all that the queue has, and one of those that wait for the same thing.
 */
#ifndef ERRATA_CLIENT_CAPTURES_CAPTURE_H
#define ERRATA_CLIENT_CAPTURES_CAPTURE_H

#include <errata/client.h>

struct captures_queue;
struct capture;

enum capture_link {
    CAPTURE_BY_AGE, /* in the list of all that the queue has taken over */
    CAPTURE_BY_TURN, /* in a list of those that wait: in the intake, or in the queue */
    CAPTURE_LINKS
};

struct capture_links {
    struct capture *before;
    struct capture *after;
};

struct capture {
    struct capture_links links[CAPTURE_LINKS];
    struct captures_queue *queue; /* that sends it; NULL while it is in the intake */
    struct errata_call *call; /* under way; else NULL */
    uint64_t number; /* of its idempotency key, and of no other in this queue */
    int64_t taken_ms; /* when the queue took it over: its age counts from here */
    int64_t due_ms; /* not to be sent before */
    uint32_t attempts; /* sent, of all its calls */
    uint32_t faults; /* calls that went wrong for what may lie in itself */
    bool cancelled; /* for its age, or the queue's end: it leaves once its call has ended */
    size_t size;
    uint8_t bytes[]; /* of the CaptureFeedbackEventRequest */
};

/* First to last in the order in which they were appended. */
struct capture_list {
    struct capture *first;
    struct capture *last;
    enum capture_link link; /* by which its members hang together */
};

/* Allocates a capture with room for the bytes, which the caller fills and frees by free. NULL if memory is exhausted. */
struct capture *capture_new(size_t size);
void capture_list_append(struct capture_list *list, struct capture *capture);
void capture_list_remove(struct capture_list *list, struct capture *capture);

#endif
