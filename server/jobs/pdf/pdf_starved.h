/*
 * pdf_starved.h: documents that were stopped at the wall limit because the machine gave them no
 * processor. The first time the document may be sent again. The second time within
 * PDF_STARVED_KEEP_US its answer is final: otherwise two documents that need seconds of a processor
 * would occupy both slots for as long as their clients repeat them. Stored only in memory, per
 * organisation, by the SHA-256 of the bytes, so that one organisation does not affect another.
 * Thread-safe.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_STARVED_H
#define ERRATA_SERVER_JOBS_PDF_PDF_STARVED_H

#include "server/jobs/pdf/pdf_control.h"
#include "store/base/sha256.h"
#include "store/base/uuid.h"

#include <pthread.h>

/* Longer than a document waits in an organisation's full queue (128 documents of 8 s in two slots
 * take 9 minutes), so that a repeat is recognised. Short enough that a machine which is overloaded
 * twice a day does not count as overloaded. */
#define PDF_STARVED_KEEP_US (INT64_C(15) * 60 * 1000000)
/* Two slots at PDF_WALL_MS per document add 225 in that time, so none is dropped early. */
#define PDF_STARVED_MAX 256

struct pdf_starved_document {
    struct uuid org;
    struct sha256_digest sha256;
    int64_t at_us; /* time of the last occurrence, by the monotonic clock */
};

struct pdf_starved {
    pthread_mutex_t lock;
    struct pdf_starved_document documents[PDF_STARVED_MAX]; /* unordered */
    size_t count;
};

void pdf_starved_init(struct pdf_starved *starved);
void pdf_starved_deinit(struct pdf_starved *starved);
/* Records a starved document; true if it was recorded at most PDF_STARVED_KEEP_US ago. */
bool pdf_starved_note(struct pdf_starved *starved, struct uuid org,
                      const struct sha256_digest *sha256, int64_t now_us);
/* Removes a document that was measured: the next time is a first one. */
void pdf_starved_forget(struct pdf_starved *starved, struct uuid org,
                        const struct sha256_digest *sha256);

#endif
