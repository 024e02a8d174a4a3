/*
 * keys.h: keys of the rows of decisions. FORMAT.md shows the bytes.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_KEYS_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_KEYS_H

#include "store/key.h"

struct key key_decision(struct org_id org, struct slice decision_id);
struct key key_decision_time(struct org_id org, int64_t created_at_us, uint64_t seq);
struct key key_decision_agent_prefix(struct org_id org, struct slice agent);
struct key key_decision_agent(struct org_id org, struct slice agent, int64_t created_at_us,
                              uint64_t seq);
struct key key_decision_cluster_prefix(struct org_id org, struct slice agent, struct slice space);
struct key key_decision_cluster(struct org_id org, struct slice agent, struct slice space,
                                uint64_t seq);
struct key key_decision_member_prefix(struct org_id org, uint64_t cluster_seq);
struct key key_decision_member(struct org_id org, uint64_t cluster_seq, uint64_t seq);
struct key key_decision_high(struct org_id org, uint64_t cluster_seq);
struct key key_decision_theme_prefix(struct org_id org, struct slice space);
struct key key_decision_theme(struct org_id org, struct slice space, uint64_t seq);
struct key key_decision_evaluation_prefix(struct org_id org, uint64_t decision_seq);
struct key key_decision_evaluation(struct org_id org, uint64_t decision_seq,
                                   struct slice evaluator_id);
struct key key_decision_override(struct org_id org, uint64_t decision_seq);
struct key key_evaluator(struct org_id org, struct slice evaluator_id);
/* Reads the inverted number at the end of a key. ERR_CORRUPT for a key without one. */
MUST_CHECK enum err key_read_decision_seq(struct slice key, uint64_t *ret_seq);

#endif
