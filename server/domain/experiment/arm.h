/*
 * arm.h: on which side of an experiment a document falls: only by its id, so that the same document
 * always falls on the same side.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXPERIMENT_ARM_H
#define ERRATA_SERVER_DOMAIN_EXPERIMENT_ARM_H

#include "store/log.h"

#include <errata/v1/extraction.fields.h>

/* The side under a holdout: the first 8 bytes, big-endian, of SHA-256 of the organisation's 16 bytes
 * and the document's id, modulo 100, below the percentage: CONTROL; else TREATMENT. NONE without a
 * document, or under a holdout of 0. */
enum experiment_arm arm_under(struct org_id org, struct slice document_id,
                              uint32_t holdout_percent);
/* The same under the organisation's setting as after the event `as_of_seq` (UINT64_MAX: now), which is
 * read only where there is a document. */
MUST_CHECK enum err arm_of_document(struct store_txn *txn, struct org_id org,
                                    struct slice document_id, uint64_t as_of_seq,
                                    enum experiment_arm *ret_arm);

#endif
