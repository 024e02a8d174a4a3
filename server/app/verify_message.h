/*
 * verify_message.h: what the verifying child reports its parent, over a pipe: whole structs, since
 * both are the same program. The child works on bytes that may be damaged, so the parent checks
 * what it is told all the same (verify_message_holds).
 */
#ifndef ERRATA_SERVER_APP_VERIFY_MESSAGE_H
#define ERRATA_SERVER_APP_VERIFY_MESSAGE_H

#include "server/pipeline/verify_jobs.h"

/* Progress is told at most this often. */
#define VERIFY_TELL_US 100000

struct verify_message {
    enum verify_stage stage;
    uint64_t events;
    uint64_t events_total;
    uint64_t rows;
    bool ended; /* the last one: what follows counts */
    enum err err;
    bool damaged;
    char why[VERIFY_WHY_BYTES];
    struct replay_report report;
};

/* Every number that something is chosen by is within its bounds, every bool is one, and the text has an
 * end. */
bool verify_message_holds(const struct verify_message *message);

#endif
