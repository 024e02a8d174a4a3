/*
 * restore_increment.h: applies an increment (server/domain/replay/increment.h) to the store that the backup before it was
 * restored to, while no process has it open. The whole file is checked before anything is written. Interrupted,
 * the store cannot be served until the same restore was run again.
 */
#ifndef ERRATA_SERVER_APP_RESTORE_INCREMENT_H
#define ERRATA_SERVER_APP_RESTORE_INCREMENT_H

#include "server/app/config.h"
#include "server/domain/replay/increment.h"
#include "store/backup/backup_reader.h"

struct restore_increment {
    const struct config *config; /* data folder and map size */
    struct backup_reader *reader; /* the file; opened */
    void (*on_progress)(void *user, const char *step, uint64_t bytes, uint64_t bytes_total);
    void *user;
    struct fault *fault;
};

/* On failure the fault has the reason: ERR_PRECONDITION for a store that the file does not continue, or of another
 * format, ERR_CORRUPT for a damaged file, errors of opening. */
MUST_CHECK enum err restore_increment(const struct restore_increment *restore,
                                      struct increment_report *ret_report);

#endif
