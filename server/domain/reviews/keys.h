/*
 * keys.h: keys of reviews, built from the parts of store/key.h. A run is identified by the hash of
 * its id, which is the value of rows in other tables.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_KEYS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_KEYS_H

#include "store/key.h"

/* Returns the hash of a run's id. */
struct review_run_hash {
    uint8_t bytes[KEY_HASH_BYTES];
};

struct review_run_hash review_run_hash_of(struct slice run_id);

/* Reviews of a run, newest first: organisation, hash of the run 16, inverted created_at 8, inverted seq 8. */
struct key key_review_prefix(struct org_id org, const struct review_run_hash *run);
struct key key_review(struct org_id org, const struct review_run_hash *run, int64_t created_at_us,
                      uint64_t seq);
/* Runs: organisation, hash of the run 16. */
struct key key_review_run(struct org_id org, const struct review_run_hash *run);
/* All reviews, newest first: organisation, inverted created_at 8, inverted seq 8. */
struct key key_review_time(struct org_id org, int64_t created_at_us, uint64_t seq);
/* Reviews of a subcategory, and the newest ones of its runs: organisation, hash of the subcategory 16, inverted
 * created_at 8, inverted seq 8. */
struct key key_review_subcategory_prefix(struct org_id org, struct slice subcategory);
struct key key_review_subcategory(struct org_id org, struct slice subcategory,
                                  int64_t created_at_us, uint64_t seq);
/* Items of a run, last one first: organisation, hash of the run 16, inverted seq 8. */
struct key key_review_item(struct org_id org, const struct review_run_hash *run, uint64_t seq);
/* Example items: organisation, hash of the subcategory 16, inverted seq of the item 8. */
struct key key_review_example(struct org_id org, struct slice subcategory, uint64_t seq);
/* Reads the seq of either key. ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_review_item(struct slice key, uint64_t *ret_seq);
/* Fragment sets, newest version first: organisation, inverted version 4. */
struct key key_fragment_set(struct org_id org, uint32_t version);
/* Approvals, the last one first: organisation, inverted seq 8 (key_read_org_newest_seq). */
struct key key_fragment_approval(struct org_id org, uint64_t seq);
/* Thresholds: organisation, hash of the subcategory 16. */
struct key key_review_thresholds(struct org_id org, struct slice subcategory);

#endif
