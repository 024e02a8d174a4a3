/*
 * pdf_starved.c: a small table, searched linearly: once per starved document, which took 8 s.
 */
#include "server/jobs/pdf/pdf_starved.h"

#include "store/base/assert.h"

void pdf_starved_init(struct pdf_starved *starved)
{
    starved->count = 0;
    ASSERT(pthread_mutex_init(&starved->lock, NULL) == 0);
}

void pdf_starved_deinit(struct pdf_starved *starved)
{
    ASSERT(pthread_mutex_destroy(&starved->lock) == 0);
}

static void drop_document(struct pdf_starved *starved, size_t index)
{
    starved->documents[index] = starved->documents[--starved->count];
}

static void drop_expired(struct pdf_starved *starved, int64_t now_us)
{
    for (size_t i = starved->count; i > 0; i--) {
        if (now_us - starved->documents[i - 1].at_us > PDF_STARVED_KEEP_US) {
            drop_document(starved, i - 1);
        }
    }
}

/* Returns the document's index, or the count. */
static size_t find_document(const struct pdf_starved *starved, struct uuid org,
                            const struct sha256_digest *sha256)
{
    size_t index = 0;

    while (index < starved->count &&
           (!uuid_equal(starved->documents[index].org, org) ||
            memcmp(starved->documents[index].sha256.bytes, sha256->bytes, SHA256_BYTES) != 0)) {
        index++;
    }
    return index;
}

static size_t find_oldest(const struct pdf_starved *starved)
{
    size_t oldest = 0;

    for (size_t i = 1; i < starved->count; i++) {
        if (starved->documents[i].at_us < starved->documents[oldest].at_us) {
            oldest = i;
        }
    }
    return oldest;
}

bool pdf_starved_note(struct pdf_starved *starved, struct uuid org,
                      const struct sha256_digest *sha256, int64_t now_us)
{
    const struct pdf_starved_document document = {org, *sha256, now_us};
    bool again = false;
    size_t index = 0;

    pthread_mutex_lock(&starved->lock);
    drop_expired(starved, now_us);
    index = find_document(starved, org, sha256);
    again = index < starved->count;
    if (!again && starved->count == PDF_STARVED_MAX) {
        drop_document(starved, find_oldest(starved));
        index = starved->count;
    }
    starved->documents[index] = document;
    starved->count += !again;
    pthread_mutex_unlock(&starved->lock);
    return again;
}

void pdf_starved_forget(struct pdf_starved *starved, struct uuid org,
                        const struct sha256_digest *sha256)
{
    size_t index = 0;

    pthread_mutex_lock(&starved->lock);
    index = find_document(starved, org, sha256);
    if (index < starved->count) {
        drop_document(starved, index);
    }
    pthread_mutex_unlock(&starved->lock);
}
