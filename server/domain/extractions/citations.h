/*
 * citations.h: the citations of a request: each reference is read and looked up once, and the examples that
 * references and ids credit are collected.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_CITATIONS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_CITATIONS_H

#include "server/domain/extractions/extractions.h"

/* A credited example. */
struct credited_example {
    uint64_t seq;
    struct uuid id;
    bool is_other; /* the example belongs to another layout of the extraction's layout family */
};

struct citations {
    struct cited_exposure items[EXTRACTION_REFERENCES_MAX]; /* each reference occurs once */
    size_t count;
    struct credited_example examples[EXTRACTION_EXAMPLES_MAX]; /* each example occurs once */
    size_t example_count;
};

/* The common values of the references to examples and prompts. */
struct citations_served {
    bool is_known; /* false: there is no such reference, and the other members are not set */
    enum experiment_arm arm; /* NONE if they name different arms */
    bool arms_differ;
    bool layout_ready; /* set if all references agree */
    int64_t served_at_us; /* time at which the first was served */
};

/* Reads all references of a request. Adds references that this server did not issue, and ids that are not
 * examples, to ctx->fault; other errors are the store's. */
MUST_CHECK enum err citations_read(struct ctx *ctx, struct store_txn *txn,
                                   const struct extraction_request *request,
                                   struct citations *citations);
/* The document and layout of an extraction. */
struct citations_layout {
    struct slice layout_fingerprint;
    struct slice document_id; /* empty: not specified */
};

/* Finds the examples of a layout, and of its layout family, that references and ids name. Adds ids that are not
 * examples to ctx->fault; examples of other layouts are not credited. */
MUST_CHECK enum err citations_credit(struct ctx *ctx, struct store_txn *txn,
                                     const struct extraction_request *request,
                                     const struct citations_layout *layout,
                                     struct citations *citations);
struct citations_served citations_find_served(const struct citations *citations);

#endif
