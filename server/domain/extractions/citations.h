/*
 * citations.h: what a request cites: references, each read and looked up once, and the examples that
 * they, and ids beside them, credit.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_CITATIONS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_CITATIONS_H

#include "server/domain/extractions/extractions.h"

struct citation {
    struct cited_exposure cited;
    uint64_t outcome_seq; /* the extraction of the same subject that cited it before; 0: none */
};

/* An example that is credited. */
struct credited_example {
    uint64_t seq;
    struct uuid id;
};

struct citations {
    struct citation items[EXTRACTION_REFERENCES_MAX]; /* each reference once */
    size_t count;
    struct credited_example examples[EXTRACTION_EXAMPLES_MAX]; /* each once */
    size_t example_count;
    bool has_old_examples; /* references that were cited for the subject before name some as well */
};

/* Reads all references of a request. Those that are none of ours, and ids that are no example's, are
 * named in ctx->fault; what the store says otherwise. `document_id` is the document as it was filled in. */
MUST_CHECK enum err citations_read(struct ctx *ctx, struct store_txn *txn,
                                   const struct extraction_request *request,
                                   struct slice document_id, struct citations *citations);
/* Finds the examples of a layout that references cited for the first time, and ids, name; and whether
 * those that were cited before name any. Ids that are
 * no example's are named in ctx->fault; examples of other layouts are not credited. */
MUST_CHECK enum err citations_credit(struct ctx *ctx, struct store_txn *txn,
                                     const struct extraction_request *request,
                                     struct slice layout_fingerprint, struct citations *citations);
/* Each reference was cited for the subject before; false where there is none. */
bool citations_are_old(const struct citations *citations);
/* The first extraction that cited any of them. */
uint64_t citations_first_outcome(const struct citations *citations);
/* The side that all references to examples and prompts name; NONE where they do not agree: what was
 * shown belongs to neither side then. False where there is no such reference. */
bool citations_find_arm(const struct citations *citations, enum experiment_arm *ret_arm);

/* What outcomes of extractions are kept under: `document/ID`, without a document `draft_order/ID`, in
 * the arena; empty for neither. */
MUST_CHECK enum err citations_subject(struct arena *arena, struct slice document_id,
                                      struct slice draft_order_id, struct slice *ret_subject);

#endif
