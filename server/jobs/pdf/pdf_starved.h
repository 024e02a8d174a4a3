/*
 * pdf_starved.h: documents that were stopped at the wall limit because the machine gave them no processor.
 * The first time that is no fault of the document's, and it may be sent again. The second time within
 * PDF_STARVED_KEEP_US its answer is final: else two documents that need seconds of a processor would hold
 * both slots for as long as their clients repeat them. Remembered for each organisation by the SHA-256 of
 * the bytes, in memory alone: what one organisation sends decides nothing for another. From any thread.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_STARVED_H
#define ERRATA_SERVER_JOBS_PDF_PDF_STARVED_H

#include "server/jobs/pdf/pdf_control.h"
#include "store/base/sha256.h"
#include "store/base/uuid.h"

#include <pthread.h>

/* Longer than a document of an organisation waits whose queue is full (128 documents of 8 s in two slots take
 * 9 minutes), so that a repeat finds what it repeats. Short enough that a machine which is busy twice a day
 * does not count as busy. */
#define PDF_STARVED_KEEP_US (INT64_C(15) * 60 * 1000000)
/* Two slots at PDF_WALL_MS a document add 225 in that time: none is dropped before its time. */
#define PDF_STARVED_MAX 256

struct pdf_starved_document {
    struct uuid org;
    struct sha256_digest sha256;
    int64_t at_us; /* monotonic; the last time */
};

struct pdf_starved {
    pthread_mutex_t lock;
    struct pdf_starved_document documents[PDF_STARVED_MAX]; /* in no order */
    size_t count;
};

void pdf_starved_init(struct pdf_starved *starved);
void pdf_starved_deinit(struct pdf_starved *starved);
/* Notes that a document was starved; true if it was noted before, at most PDF_STARVED_KEEP_US ago. */
bool pdf_starved_note(struct pdf_starved *starved, struct uuid org,
                      const struct sha256_digest *sha256, int64_t now_us);
/* The document was measured: the next time is the first one. */
void pdf_starved_forget(struct pdf_starved *starved, struct uuid org,
                        const struct sha256_digest *sha256);

#endif
