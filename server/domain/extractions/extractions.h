/*
 * extractions.h: records a model's extractions for learning: the confidence, the served examples, and the arm
 * of the experiment. One write appends up to three kinds of events: the exposures that are cited for the first
 * time, the uses of mappings, the extraction. Each extraction has a key: the caller's id, else its document or
 * draft order. Only the newest extraction with a key counts.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_EXTRACTIONS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_EXTRACTIONS_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/domain/exposures/exposures.h"

#include <errata/v1/extraction.fields.h>

/* The same limit as in the contract. */
#define EXTRACTION_REFERENCES_MAX 16
#define EXTRACTION_EXAMPLE_IDS_MAX 64
/* Maximum examples that one extraction credits, for all its references together. */
#define EXTRACTION_EXAMPLES_MAX 512

/* The caller's values. Empty slices are absent. Borrowed for the duration of the call. */
struct extraction_input {
    struct slice actor_user_id;
    struct slice extraction_id;
    struct slice document_id;
    struct slice draft_order_id;
    struct slice layout_fingerprint;
    bool has_confidence;
    double confidence;
    struct slice model;
    uint32_t field_count; /* 0: not reported */
    struct slice exposure_refs[EXTRACTION_REFERENCES_MAX];
    size_t exposure_ref_count;
    struct slice example_ids[EXTRACTION_EXAMPLE_IDS_MAX];
    size_t example_id_count;
    struct event_time time;
};

/* The caller and the storage. */
struct extraction_request {
    struct org_id org;
    struct event_caller caller;
    const struct exposure_key *key;
    const struct extraction_input *input;
};

/* The events of a request. */
struct extraction_stored {
    uint64_t first_seq;
    uint32_t count;
};

/* Decides, appends and applies. An extraction with the key of an earlier one replaces it. On ERR_INVALID (the
 * fault lists every invalid field) and ERR_DENIED (the caller lacks a permission) nothing is appended. */
MUST_CHECK enum err extraction_store(struct ctx *ctx, struct store_txn *txn,
                                     const struct extraction_request *request,
                                     struct extraction_stored *ret_stored);
/* Returns the wire bytes of the Extraction that extraction_store stored, borrowed from the transaction. */
MUST_CHECK enum err extraction_find_stored(struct store_txn *txn, struct org_id org,
                                           const struct extraction_stored *stored,
                                           struct slice *ret_extraction);

#endif
