/*
 * evidence.h: the events that an artifact was learned from. Rows are written by apply only; a retracted event stays
 * listed, with the number of the event that retracted it, since it was evidence until then.
 */
#ifndef ERRATA_SERVER_DOMAIN_ARTIFACTS_EVIDENCE_H
#define ERRATA_SERVER_DOMAIN_ARTIFACTS_EVIDENCE_H

#include "store/log.h"

/* Maximum number of listed events of an artifact. */
#define ARTIFACT_EVIDENCE_MAX 20

/* The newest events of an artifact, newest first. */
struct artifact_evidence {
    struct artifact_evidence_item {
        uint64_t event_seq;
        uint64_t retraction_seq; /* 0: it was not retracted */
    } items[ARTIFACT_EVIDENCE_MAX];
    size_t count;
    bool is_incomplete; /* there are more events */
};

MUST_CHECK enum err artifact_evidence_add(struct store_txn *txn, struct org_id org,
                                          uint64_t artifact_seq, uint64_t event_seq);
/* Records that an event was retracted. ERR_CORRUPT if it was not evidence. */
MUST_CHECK enum err artifact_evidence_retract(struct store_txn *txn, struct org_id org,
                                              uint64_t artifact_seq, uint64_t event_seq,
                                              uint64_t retraction_seq);
/* Lists the events up to `as_of_seq`; UINT64_MAX: all. */
MUST_CHECK enum err artifact_evidence_list(struct store_txn *txn, struct org_id org,
                                           uint64_t artifact_seq, uint64_t as_of_seq,
                                           struct artifact_evidence *ret_evidence);

#endif
