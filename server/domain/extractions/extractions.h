/*
 * extractions.h: what a model extracted, as far as learning needs to know it: how sure it was, which
 * examples it was shown, on which side of the experiment it was. One write makes up to three kinds of
 * events: the exposures that are cited for the first time, the mappings that were applied, the extraction.
 * Each extraction has a key, the caller's id or else its document or draft order; the newest with a key
 * counts.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_EXTRACTIONS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_EXTRACTIONS_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/domain/exposures/exposures.h"

#include <errata/v1/extraction.fields.h>

/* As in the contract. */
#define EXTRACTION_REFERENCES_MAX 16
#define EXTRACTION_EXAMPLE_IDS_MAX 64
/* Examples that one extraction credits at most: those of all its references, and more. */
#define EXTRACTION_EXAMPLES_MAX 512

/* What a caller sends. Empty slices are absent. Borrowed for the length of the call. */
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

/* Who sends it, and where it is stored. */
struct extraction_request {
    struct org_id org;
    struct event_caller caller;
    const struct exposure_key *key;
    const struct extraction_input *input;
};

/* The events that a request made. */
struct extraction_stored {
    uint64_t first_seq;
    uint32_t count;
};

/* Decides, appends and applies. An extraction with the key of an earlier one replaces it. ERR_INVALID with every
 * bad field, ERR_DENIED for what the caller may not do: nothing is appended then. */
MUST_CHECK enum err extraction_store(struct ctx *ctx, struct store_txn *txn,
                                     const struct extraction_request *request,
                                     struct extraction_stored *ret_stored);
/* The bytes of the Extraction of what extraction_store gave, borrowed from the transaction. */
MUST_CHECK enum err extraction_find_stored(struct store_txn *txn, struct org_id org,
                                           const struct extraction_stored *stored,
                                           struct slice *ret_extraction);

#endif
