/*
 * quote.h: the JSON texts of a judgement's feedback event: before_json has the mapping's earlier
 * state and the available suggestions, after_json the chosen mapping. For a mapping that did not
 * exist before, the members of its state are omitted.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_QUOTE_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_QUOTE_H

#include "server/domain/corrections/capture.h"
#include "server/domain/mappings/rows.h"

/* Returns the suggestions for a customer's SKU, by descending confidence, as a JSON array. */
MUST_CHECK enum err quote_suggestions(struct arena *arena, struct store_txn *txn, struct org_id org,
                                      const struct mapping_pair *pair, struct slice *ret_array);
/* Set before_json and after_json; `before` is NULL for a mapping that did not exist. */
MUST_CHECK enum err quote_confirmation(struct arena *arena, const struct mapping_row *before,
                                       struct slice internal_sku, struct slice suggestions,
                                       struct capture_input *input);
/* Also sets meta_json. */
MUST_CHECK enum err quote_rejection(struct arena *arena, const struct mapping_row *before,
                                    struct slice internal_sku, struct capture_input *input);

#endif
