/*
 * pdf_queue.c: queues and round robin as linked lists through the entries; shares in a table with
 * as many slots as there may be jobs, so that one is always free.
 */
#include "server/jobs/pdf/pdf_queue.h"

#include "store/base/assert.h"

/* Returns the organisation's share, or a free one; NULL only if the table is full of others. */
static struct pdf_queue_share *find_share(struct pdf_queue *queue, struct uuid org)
{
    struct pdf_queue_share *free_share = NULL;

    for (size_t i = 0; i < PDF_JOBS_MAX; i++) {
        struct pdf_queue_share *share = &queue->shares[i];

        if (share->job_count > 0 && uuid_equal(share->org, org)) {
            return share;
        }
        if (share->job_count == 0 && free_share == NULL) {
            free_share = share;
        }
    }
    return free_share;
}

/* Checks that `more` fits: into the organisation's half, else ERR_QUOTA; and into the total, or, if
 * the organisation has `other_jobs`, into the part that is not reserved for newcomers, else
 * ERR_BUSY. */
static enum err find_room(size_t more, size_t of_org, size_t of_all, size_t max,
                          unsigned other_jobs)
{
    size_t open = other_jobs == 0 ? max : max - max / PDF_KEPT_DIVISOR;

    if (of_org + more > max / PDF_ORG_DIVISOR) {
        return ERR_QUOTA;
    }
    return of_all <= open && more <= open - of_all ? OK : ERR_BUSY;
}

enum err pdf_queue_enter(struct pdf_queue *queue, struct uuid org, struct pdf_queue_entry *entry)
{
    struct pdf_queue_share *share = find_share(queue, org);
    enum err err = share == NULL ? ERR_BUSY
                                 : find_room(1, share->job_count, queue->job_count, PDF_JOBS_MAX,
                                             share->job_count);

    if (err != OK) {
        return err;
    }
    if (share->job_count == 0) {
        *share = (struct pdf_queue_share){.org = org};
    }
    share->job_count++;
    queue->job_count++;
    *entry = (struct pdf_queue_entry){.share = share};
    return OK;
}

enum err pdf_queue_hold(struct pdf_queue *queue, struct pdf_queue_entry *entry, size_t size)
{
    struct pdf_queue_share *share = entry->share;
    enum err err = find_room(size, share->held_bytes, queue->held_bytes, PDF_HELD_BYTES_MAX,
                             share->job_count - 1);

    if (size > PDF_DOCUMENT_BYTES_MAX - entry->held_bytes) {
        return ERR_TOO_LARGE;
    }
    if (err != OK) {
        return err;
    }
    entry->held_bytes += size;
    share->held_bytes += size;
    queue->held_bytes += size;
    return OK;
}

void pdf_queue_leave(struct pdf_queue *queue, struct pdf_queue_entry *entry)
{
    struct pdf_queue_share *share = entry->share;

    ASSERT(share->job_count > 0 && share->held_bytes >= entry->held_bytes);
    share->held_bytes -= entry->held_bytes;
    queue->held_bytes -= entry->held_bytes;
    share->job_count--;
    queue->job_count--;
    ASSERT(share->job_count > 0 || share->first == NULL);
    entry->share = NULL;
}

static void join_turn(struct pdf_queue *queue, struct pdf_queue_share *share)
{
    share->turn_previous = queue->turn_last;
    share->turn_next = NULL;
    if (queue->turn_last != NULL) {
        queue->turn_last->turn_next = share;
    } else {
        queue->turn_first = share;
    }
    queue->turn_last = share;
}

static void leave_turn(struct pdf_queue *queue, struct pdf_queue_share *share)
{
    if (share->turn_previous != NULL) {
        share->turn_previous->turn_next = share->turn_next;
    } else {
        queue->turn_first = share->turn_next;
    }
    if (share->turn_next != NULL) {
        share->turn_next->turn_previous = share->turn_previous;
    } else {
        queue->turn_last = share->turn_previous;
    }
    share->turn_previous = NULL;
    share->turn_next = NULL;
}

void pdf_queue_push(struct pdf_queue *queue, struct pdf_queue_entry *entry)
{
    struct pdf_queue_share *share = entry->share;

    entry->previous = share->last;
    entry->next = NULL;
    if (share->last != NULL) {
        share->last->next = entry;
    } else {
        share->first = entry;
        join_turn(queue, share);
    }
    share->last = entry;
    queue->waiting_count++;
}

void pdf_queue_remove(struct pdf_queue *queue, struct pdf_queue_entry *entry)
{
    struct pdf_queue_share *share = entry->share;

    if (entry->previous != NULL) {
        entry->previous->next = entry->next;
    } else {
        share->first = entry->next;
    }
    if (entry->next != NULL) {
        entry->next->previous = entry->previous;
    } else {
        share->last = entry->previous;
    }
    entry->previous = NULL;
    entry->next = NULL;
    if (share->first == NULL) {
        leave_turn(queue, share);
    }
    ASSERT(queue->waiting_count > 0);
    queue->waiting_count--;
}

struct pdf_queue_entry *pdf_queue_pop(struct pdf_queue *queue)
{
    struct pdf_queue_share *share = queue->turn_first;
    struct pdf_queue_entry *entry = NULL;

    if (share == NULL) {
        return NULL;
    }
    entry = share->first;
    pdf_queue_remove(queue, entry);
    if (share->first != NULL) {
        leave_turn(queue, share);
        join_turn(queue, share);
    }
    return entry;
}
