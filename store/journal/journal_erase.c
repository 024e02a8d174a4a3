/*
 * journal_erase.c: overwrites the records that the tables have: after a while by the thread, so that removed content is
 * not kept by the journal, and at once on request.
 */
#include "store/base/logger.h"
#include "store/journal/journal_internal.h"

/* Each attempt ends at least one segment that has old records; writers may have taken another one meanwhile. */
#define ATTEMPTS_MAX 100
#define PAUSE_US 10000

void journal_overwrite_old(struct journal *journal)
{
    int64_t until_us = clock_monotonic_us(journal->clock) - journal->overwrite_after_us;
    enum err err = OK;

    if (pthread_mutex_trylock(&journal->writing) == 0) {
        segments_end_old(journal->segments, until_us, true);
        (void)pthread_mutex_unlock(&journal->writing);
    }
    err = segments_overwrite_old(journal->segments, until_us);
    if (err != OK && err != ERR_NOT_FOUND) {
        logger_printf(
            LOGGER_WARNING,
            "a file of the journal cannot be overwritten: %s; it keeps records of earlier "
            "commits, with content that may have been removed since",
            err_text(err));
    }
}

/* Overwrites what is free, after the tables have the records of the segment that is appended to. */
static enum err erase_once(struct store_backend *backend, int64_t until_us)
{
    struct journal *journal = (struct journal *)backend;
    enum err err = OK;

    (void)pthread_mutex_lock(&journal->writing);
    segments_end_old(journal->segments, until_us, false);
    (void)pthread_mutex_unlock(&journal->writing);
    err = store_journal_checkpoint(backend);
    while (err == OK) {
        err = segments_overwrite_old(journal->segments, until_us);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err store_journal_erase(struct store_backend *backend)
{
    struct journal *journal = (struct journal *)backend;
    int64_t until_us = clock_monotonic_us(journal->clock);
    enum err err = OK;

    for (int i = 0; i < ATTEMPTS_MAX && err == OK; i++) {
        if (!segments_have_old(journal->segments, until_us)) {
            return OK;
        }
        if (i > 0) {
            journal_pause(PAUSE_US);
        }
        err = erase_once(backend, until_us);
    }
    return err != OK ? err : ERR_UNAVAILABLE;
}
