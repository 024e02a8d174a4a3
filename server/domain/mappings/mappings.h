/*
 * mappings.h: suggestions of matchers and judgements of users about mappings, as events and in the
 * tables.
 *
 * A matcher's suggestion creates a SUGGESTED mapping or updates the confidence of one; it does not
 * change a mapping that a user has judged. A user's judgement is a feedback event, stored like any
 * other (corrections/capture.h), which records the judged mapping and the mapping that it
 * superseded.
 *
 * A backdated event (its created_at is before that of stored events) does not change a status that
 * was decided later: the result is as if all events had arrived in the order of their times. A
 * mapping has the status that its newest judgement gave it. A late confirmation is itself
 * SUPERSEDED if its customer SKU was confirmed for another internal SKU since, even if that
 * confirmation was rejected later; a mapping that was rejected since still supersedes those
 * confirmed before it. A late confirmation counts as support in any case. A judgement has
 * precedence over a suggestion, whichever is newer.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_MAPPINGS_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_MAPPINGS_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/domain/mappings/change.h"
#include "server/domain/text/sku.h"
#include "store/work.h"

#include <errata/v1/feedback_event.fields.h>

/* Entity type of mappings in events; in subjects it precedes a slash and the id. */
#define MAPPING_ENTITY_TYPE "sku_mapping"
/* Maximum suggestions that an event quotes. */
#define MAPPING_SUGGESTIONS_MAX 20

/* The names by which a caller identifies a mapping. */
struct mapping_name {
    struct slice customer_sku; /* customer SKU as written */
    struct slice internal_sku;
    struct mapping_pair pair;
};

/* Checks and folds the names. Adds every invalid field to ctx->fault, with its path below `path`
 * (empty: the request itself), and returns ERR_INVALID; otherwise fails only with ERR_MEMORY.
 * Borrows the texts. */
MUST_CHECK enum err mapping_name_read(struct ctx *ctx, struct slice path, struct slice customer_id,
                                      struct slice customer_sku, struct slice internal_sku,
                                      struct mapping_name *ret_name);
/* Does the same for only a customer SKU. */
MUST_CHECK enum err mapping_name_read_sku(struct ctx *ctx, struct slice path,
                                          struct slice customer_sku, struct mapping_name *ret_name);

struct mapping_suggestion {
    struct mapping_name name;
    double confidence; /* from 0 to 1 */
    struct event_time time;
};

/* `ret_seq` is the appended event or, if the suggestion changes nothing, the last event that
 * changed the mapping. */
MUST_CHECK enum err mapping_suggest(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                    const struct event_caller *caller,
                                    const struct mapping_suggestion *suggestion, uint64_t *ret_seq);

/* A confirmation or a rejection. */
struct mapping_judgement {
    enum feedback_event_type event_type; /* MAPPING_CONFIRMED or MAPPING_REJECTED */
    bool is_by_id;
    struct uuid id;
    struct mapping_name
        name; /* name of the mapping, if it is not given by id. With an id, only the customer SKU may be set, to judge another customer SKU for the internal SKU of that mapping */
    struct slice
        suggestions; /* the suggestions that were shown, as a JSON array; empty: the current ones are quoted */
    struct slice draft_order_id;
    struct slice document_id;
    struct slice actor_user_id;
    struct event_time time;
};

/* ERR_NOT_FOUND for an unknown id of this organisation. The first change of event
 * `ret_seq` is the mapping. */
MUST_CHECK enum err mapping_judge(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                  const struct event_caller *caller,
                                  const struct mapping_judgement *judgement, uint64_t *ret_seq);

/* Maximum judgements and suggestions of one request. */
#define MAPPING_BATCH_MAX 1000

/* An item of a batch. */
struct mapping_batch_item {
    struct slice path; /* path of its message in the request */
    bool is_suggestion;
    struct mapping_suggestion suggestion; /* set for a suggestion */
    struct mapping_judgement judgement; /* set for other items */
};

struct mapping_batch {
    const struct mapping_batch_item *items;
    size_t count; /* number of items, 1 to MAPPING_BATCH_MAX */
};

/* Stores the items in order, all or none. `ret_result` has their events: one for each judgement and for
 * each suggestion that changed something, in order; count 0 if there are none. ERR_INVALID, ERR_DENIED or
 * ERR_NOT_FOUND, explained by the item's path, if one of them cannot be stored. */
MUST_CHECK enum err mapping_batch_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                        const struct event_caller *caller,
                                        const struct mapping_batch *batch,
                                        struct work_result *ret_result);

/* The result of one item. */
struct mapping_batch_outcome {
    struct uuid mapping_id;
    bool has_event;
    struct uuid event_id;
};

/* Finds the outcome of an item from the events of its batch, `*next` counts the events of earlier
 * items; called for each item in order. */
MUST_CHECK enum err mapping_batch_outcome(struct arena *arena, struct store_txn *txn,
                                          const struct work_result *result,
                                          const struct mapping_batch_item *item, uint32_t *next,
                                          struct mapping_batch_outcome *ret_outcome);

#endif
