/*
 * verify_message.h: messages from the verifying child to its parent, over a pipe: whole structs,
 * since both are the same program. The child works on possibly damaged bytes, so the parent checks
 * its messages (verify_message_holds).
 */
#ifndef ERRATA_SERVER_APP_VERIFY_MESSAGE_H
#define ERRATA_SERVER_APP_VERIFY_MESSAGE_H

#include "server/pipeline/verify_jobs.h"

/* Minimum interval of progress messages. */
#define VERIFY_PROGRESS_US 100000

struct verify_message {
    enum verify_stage stage;
    uint64_t events;
    uint64_t events_total;
    uint64_t rows;
    bool ended; /* the last message: the fields below are set */
    enum err err;
    bool damaged;
    char why[VERIFY_WHY_BYTES];
    struct replay_report report;
};

/* Returns whether all numbers used as indices are within bounds, all bools are 0 or 1, and the text
 * is terminated. */
bool verify_message_holds(const struct verify_message *message);

#endif
