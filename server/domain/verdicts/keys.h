/*
 * keys.h: keys of verdicts and learned rules, built from the parts of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_KEYS_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_KEYS_H

#include "store/key.h"

/* Rules by the event that created them: organisation, seq 8. */
struct key key_learned_rule(struct org_id org, uint64_t seq);
/* ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_learned_rule(struct slice key, uint64_t *ret_seq);
/* Rules by pattern: organisation, hash of the pattern 16, type 1. */
struct key key_learned_rule_pattern_prefix(struct org_id org, struct slice pattern);
struct key key_learned_rule_pattern(struct org_id org, struct slice pattern, uint32_t rule_type);
/* Submissions, newest first: organisation, inverted created_at 8, inverted seq 8. */
struct key key_verdict(struct org_id org, int64_t created_at_us, uint64_t seq);

/* Organisation, rule 8, version 4. The first function: all versions of a rule. */
struct key key_rule_measures(struct org_id org, uint64_t rule_seq);
struct key key_rule_measure(struct org_id org, uint64_t rule_seq, uint32_t version);
/* ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_rule_measure(struct slice key, uint64_t *ret_rule_seq);
/* Organisation, verdict 1, level 1, index 8 (measured_verdicts.h). */
struct key key_measured_verdict(struct org_id org, uint8_t verdict, uint8_t level, uint64_t index);
/* The prefix of all rows of a level. */
struct key key_measured_verdict_level(struct org_id org, uint8_t verdict, uint8_t level);

#endif
