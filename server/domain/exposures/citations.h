/*
 * citations.h: what the kinds of outcomes share about the references that they cite: reading those of a request, recording
 * their exposures, and counting an outcome for what was served.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXPOSURES_CITATIONS_H
#define ERRATA_SERVER_DOMAIN_EXPOSURES_CITATIONS_H

#include "server/domain/artifacts/artifacts.h"
#include "server/domain/exposures/exposures.h"

/* The references of a request, all of one kind. Borrowed. */
struct exposure_references {
    struct org_id org;
    const struct exposure_key *key;
    const struct slice *items;
    size_t count;
    enum exposure_kind kind;
    const char *field; /* path of the list in the request */
    const char *method; /* method whose responses have such references */
};

/* Reads the reference at `place`. ERR_INVALID, with a fault, for one that was not issued to the organisation, or for another
 * kind of response. */
MUST_CHECK enum err exposure_cite(struct ctx *ctx, struct store_txn *txn,
                                  const struct exposure_references *references, size_t place,
                                  struct cited_exposure *ret_cited);
/* Adds the fault of a reference that is not valid; returns ERR_INVALID. */
MUST_CHECK enum err exposure_refuse(struct ctx *ctx, const struct exposure_references *references,
                                    size_t place);
/* Reads all references; `items` has room for them, and gets each once. Adds a fault for each that is not valid, and returns
 * OK. */
MUST_CHECK enum err exposures_cite(struct ctx *ctx, struct store_txn *txn,
                                   const struct exposure_references *references,
                                   struct cited_exposure *items, size_t *ret_count);
/* Appends the events of exposures that are not in the log. */
MUST_CHECK enum err exposures_record(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     const struct exposure_citer *citer,
                                     struct cited_exposure *items, size_t count);

/* Changes the counts of the artifacts that an exposure lists, in its arm or as those in SHADOW; for apply. */
MUST_CHECK enum err exposure_count_artifacts(struct ctx *ctx, struct store_txn *txn,
                                             struct org_id org, const struct exposure *exposure,
                                             const struct artifact_change *change);
/* Does the same for the exposure that the event `exposure_seq` recorded. */
MUST_CHECK enum err exposure_count_outcome(struct ctx *ctx, struct store_txn *txn,
                                           struct org_id org, uint64_t exposure_seq,
                                           const struct artifact_change *change);

#endif
