/*
 * keys.h: keys of the rows of guidelines. FORMAT.md shows the bytes.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_KEYS_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_KEYS_H

#include "store/key.h"

struct key key_proposal(struct org_id org, uint64_t seq);
struct key key_proposal_pending(struct org_id org, bool expedited, uint32_t evidence_count,
                                uint64_t seq);
struct key key_proposal_cluster(struct org_id org, uint64_t cluster_seq);
struct key key_guideline(struct org_id org, uint64_t seq);
struct key key_guideline_agent_prefix(struct org_id org, struct slice agent);
struct key key_guideline_agent(struct org_id org, struct slice agent, uint8_t rule_type,
                               uint64_t activated_seq, uint64_t seq);
/* The key of a proposal in SHADOW, in the same table: after those in effect. */
struct key key_guideline_shadow(struct org_id org, struct slice agent, uint8_t rule_type,
                                uint64_t seq);
/* Returns whether a key of GUIDELINE_AGENT is of a proposal in SHADOW. */
bool key_is_guideline_shadow(struct slice key);
struct key key_guideline_version(struct org_id org, struct slice agent);

/* Reads the number of the proposal at the end of a key of PROPOSAL, PROPOSAL_PENDING, GUIDELINE or GUIDELINE_AGENT.
 * ERR_CORRUPT for a key that is too short. */
MUST_CHECK enum err proposal_key_seq(struct slice key, uint64_t *ret_seq);

#endif
