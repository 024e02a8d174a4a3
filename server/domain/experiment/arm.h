/*
 * arm.h: assigns documents to the arms of the experiment by their ids only, so that the same
 * document is always in the same arm.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXPERIMENT_ARM_H
#define ERRATA_SERVER_DOMAIN_EXPERIMENT_ARM_H

#include "store/log.h"

#include <errata/v1/extraction.fields.h>

/* Returns the arm under a holdout: if the first 8 bytes, big-endian, of SHA-256 of the
 * organisation's 16 bytes and the document's id, modulo 100, are below the percentage: CONTROL;
 * else TREATMENT. NONE without a document, or under a holdout of 0. */
enum experiment_arm arm_under(struct org_id org, struct slice document_id,
                              uint32_t holdout_percent);
/* Returns the arm under the organisation's setting as it was after the event `as_of_seq`
 * (UINT64_MAX: now). The setting is read only if there is a document. */
MUST_CHECK enum err arm_of_document(struct store_txn *txn, struct org_id org,
                                    struct slice document_id, uint64_t as_of_seq,
                                    enum experiment_arm *ret_arm);

#endif
