/*
 * citations.h: what a request cites: references, each read and looked up once, and the examples that
 * they, and ids beside them, credit.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_CITATIONS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_CITATIONS_H

#include "server/domain/extractions/extractions.h"

/* An example that is credited. */
struct credited_example {
    uint64_t seq;
    struct uuid id;
    bool is_other; /* it is of another layout of the extraction's layout family */
};

struct citations {
    struct cited_exposure items[EXTRACTION_REFERENCES_MAX]; /* each reference once */
    size_t count;
    struct credited_example examples[EXTRACTION_EXAMPLES_MAX]; /* each once */
    size_t example_count;
};

/* What the references to examples and prompts agree on. */
struct citations_served {
    bool is_known; /* there is such a reference; else nothing below is */
    enum experiment_arm arm; /* NONE if they name different ones */
    bool arms_differ;
    bool layout_ready; /* as all of them say */
    int64_t served_at_us; /* of the first */
};

/* Reads all references of a request. Those that this server did not make, and ids of no example, are named
 * in ctx->fault; other errors are the store's. */
MUST_CHECK enum err citations_read(struct ctx *ctx, struct store_txn *txn,
                                   const struct extraction_request *request,
                                   struct citations *citations);
/* What an extraction is of. */
struct citations_layout {
    struct slice layout_fingerprint;
    struct slice document_id; /* empty: it names no document */
};

/* Finds the examples of a layout, and of its layout family, that references and ids name. Ids of no example are named in
 * ctx->fault; examples of other layouts are not credited. */
MUST_CHECK enum err citations_credit(struct ctx *ctx, struct store_txn *txn,
                                     const struct extraction_request *request,
                                     const struct citations_layout *layout,
                                     struct citations *citations);
struct citations_served citations_find_served(const struct citations *citations);

#endif
