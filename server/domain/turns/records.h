/*
 * records.h: rows of turns as plain C, and their bytes: messages of proto/record/turns.proto. The rules of
 * store/records.h apply: bytes that do not decode are ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_TURNS_RECORDS_H

#include "server/domain/turns/keys.h"
#include "store/base/arena.h"

/* TURN: a recorded turn, and the event that set its status: a person's judgement, else the detection. */
struct turn_record {
    uint64_t seq; /* seq of the event that recorded it; not 0 */
    int64_t created_at_us;
    uint32_t status; /* errata.v1.TurnStatus; not 0 */
    uint64_t marked_seq; /* seq of the detection that marked it; 0: none did */
    uint64_t set_seq; /* seq of a person's last judgement; 0 without one */
};

MUST_CHECK enum err record_decode_turn(struct slice bytes, struct turn_record *ret_record);
MUST_CHECK enum err record_encode_turn(struct arena *arena, const struct turn_record *record,
                                       struct slice *ret_bytes);

#endif
