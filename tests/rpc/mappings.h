/*
 * mappings.h: the calls of MappingService that its tests share: each method as a function of values.
 */
#ifndef ERRATA_TESTS_RPC_MAPPINGS_H
#define ERRATA_TESTS_RPC_MAPPINGS_H

#include "tests/rpc/fixture.h"

#include <errata/v1/mapping_service.pb-c.h>

#define SUGGESTED ERRATA__V1__MAPPING_STATUS__MAPPING_STATUS_SUGGESTED
#define CONFIRMED ERRATA__V1__MAPPING_STATUS__MAPPING_STATUS_CONFIRMED
#define REJECTED ERRATA__V1__MAPPING_STATUS__MAPPING_STATUS_REJECTED
#define SUPERSEDED ERRATA__V1__MAPPING_STATUS__MAPPING_STATUS_SUPERSEDED

#define MATCH_NONE ERRATA__V1__MATCH_METHOD__MATCH_METHOD_NONE
#define MATCH_EXACT ERRATA__V1__MATCH_METHOD__MATCH_METHOD_EXACT_MAPPING
#define MATCH_SUGGESTED ERRATA__V1__MATCH_METHOD__MATCH_METHOD_SUGGESTED_MAPPING
#define MATCH_SUPERSEDED ERRATA__V1__MATCH_METHOD__MATCH_METHOD_SUPERSEDED_MAPPING
#define MATCH_SIMILAR ERRATA__V1__MATCH_METHOD__MATCH_METHOD_SIMILAR_SKU

/* The caller and its options. */
struct caller {
    struct fixture *fixture;
    const char *token;
    const char *key; /* idempotency key, or NULL */
    int64_t created_at_us; /* 0: not given */
};

/* A mapping by names, or by id if it is given. */
struct named {
    const char *customer_id;
    const char *customer_sku;
    const char *internal_sku;
    const char *id;
};

/* The response to a judgement. */
struct judged {
    Errata__V1__SkuMapping *mapping;
    const char *event_id;
};

enum status_code mappings_suggest(const struct caller *caller, const struct named *named,
                                  double confidence, Errata__V1__SkuMapping **ret_mapping);
enum status_code mappings_confirm(const struct caller *caller, const struct named *named,
                                  const char *suggestions_json, struct judged *ret_judged);
enum status_code mappings_reject(const struct caller *caller, const struct named *named,
                                 struct judged *ret_judged);
enum status_code mappings_get(const struct caller *caller, const char *id,
                              Errata__V1__SkuMapping **ret_mapping);

/* Lines of one customer, and the event as of which to match (0: the present). */
struct lines {
    const char *customer_id;
    const char *const *skus;
    size_t count;
    int32_t candidates; /* negative: not given */
    uint64_t as_of_seq;
    int64_t as_of_us; /* the time as of which to match; 0: none */
};

enum status_code mappings_try_match(const struct caller *caller, const struct lines *lines,
                                    Errata__V1__MatchLinesResponse **ret_response);
/* Does the same, and expects OK. */
Errata__V1__MatchLinesResponse *mappings_match(const struct caller *caller,
                                               const struct lines *lines);
/* The match of one line. */
Errata__V1__LineMatch *mappings_match_one(const struct caller *caller, const char *customer_id,
                                          const char *sku);
enum status_code mappings_record(const struct caller *caller, const char *exposure_ref,
                                 const char *draft_order_id,
                                 Errata__V1__RecordMatchesResponse **ret_response);
/* Returns the number of the last event of the caller's organisation. */
uint64_t mappings_last_seq(const struct caller *caller);
Errata__V1__FeedbackEvent *mappings_event(const struct caller *caller, const char *event_id);

#endif
