/*
 * records.h: rows of guidelines as plain C, and their bytes: messages of proto/record/guidelines.proto. The rules of
 * store/records.h apply: slices are borrowed from the bytes, and bytes that do not decode are ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_RECORDS_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_RECORDS_H

#include "server/domain/artifacts/records.h"

/* PROPOSAL */
struct proposal_record {
    struct artifact_life_record
        life; /* PROPOSED, SHADOW, ACTIVE, SUNSET_PROPOSED, RETIRED or REJECTED */
    uint64_t vote_seq; /* the last vote or rejection, which lists all votes; 0: there is none */
    bool expedited;
    uint32_t evidence_count;
    uint64_t activated_seq; /* the vote that made it a guideline; 0: there is none */
    uint64_t
        kept_seq; /* the event by which a person kept it after a sunset was proposed; 0: there is none */
    uint64_t ended_seq; /* the event that rejected or retired it; 0: there is none */
};

MUST_CHECK enum err record_decode_proposal(struct slice bytes, struct proposal_record *ret_record);

MUST_CHECK enum err record_encode_proposal(struct arena *arena,
                                           const struct proposal_record *record,
                                           struct slice *ret_bytes);

#endif
