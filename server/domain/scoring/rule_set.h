/*
 * rule_set.h: the rules of one organisation that are enabled, or in SHADOW, in memory, ready to be matched with a receipt. A set is loaded
 * from the rows once and then follows the log: `applied_seq` is the last event that was applied to
 * it. Matching reads only memory; its time grows with the receipt and with what matches, not with
 * the number of rules. One thread at a time.
 */
#ifndef ERRATA_SERVER_DOMAIN_SCORING_RULE_SET_H
#define ERRATA_SERVER_DOMAIN_SCORING_RULE_SET_H

#include "server/domain/scoring/phrases.h"
#include "server/domain/scoring/predicate.h"
#include "server/domain/scoring/score.h"
#include "server/domain/verdicts/rules.h"

/* Maximum enabled rules of one organisation, with those in SHADOW; more are refused, since people have to review and
 * understand them. */
#define RULE_SET_RULES_MAX 20000
/* Maximum memory of one set, with the longest phrases: 20,000 x 768 folded bytes exceed it, 10,000
 * x 256 bytes do not. */
#define RULE_SET_BYTES_MAX ((size_t)128 << 20)
/* Number of rules that can be added to a loaded set; when it is full, it is loaded again. */
#define RULE_SET_SPARE_RULES 512
/* Maximum new phrases that are searched one by one, at 4 us each in 16 KiB of text: with more, the
 * set is loaded again. */
#define RULE_SET_NEW_PHRASES_MAX 32
/* Maximum events that are applied to a set at once, at about a microsecond each; a set that lags
 * further is loaded again. */
#define RULE_SET_LAG_MAX 1000

/* A rule of a set. Its slices are owned by the set. */
struct scoring_rule {
    uint64_t seq; /* seq of the event that created it */
    struct uuid id;
    struct slice pattern;
    uint32_t rule_type; /* errata.v1.LearnedRuleType */
    int64_t adjustment; /* in units */
    uint64_t count; /* learned_from_feedback_count */
    uint64_t accuracy; /* in units, with reinforcements */
    uint32_t version;
    bool is_live; /* enabled, and ACTIVE or SUNSET_PROPOSED */
    bool is_shadow; /* enabled, and in SHADOW: it is matched, but changes no score */
    struct score_gates gates;
    struct predicate predicate;
    uint32_t same_pattern; /* the next rule with this hash of the pattern, + 1; 0: there is none */
    uint32_t same_name; /* the same for the name of a comparison */
    uint32_t pattern_number; /* the first rule of the set with this pattern */
};

struct rule_set {
    struct arena arena; /* owns everything in the set, and the set itself */
    struct org_id org;
    uint64_t applied_seq;
    uint64_t seed; /* seed of the hashes */
    struct scoring_rule *rules; /* in the order of their numbers, which is that of their ids */
    size_t rule_count;
    size_t rule_room;
    uint32_t *by_pattern; /* the first rule of each hash, + 1 */
    uint32_t *by_name; /* the first rule of each hash, for comparisons */
    size_t bucket_count; /* a power of two */
    struct phrases phrases;
    uint32_t *phrase_rules; /* rule of each phrase */
    uint32_t
        new_phrases[RULE_SET_NEW_PHRASES_MAX]; /* rules with phrases that are not in `phrases` */
    size_t new_phrase_count;
    bool is_stale; /* the set can no longer follow the log, and must be loaded again */
};

/* A receipt. Slices are borrowed. */
struct receipt {
    const struct slice *indicators;
    size_t indicator_count;
    struct slice features; /* a checked JSON object, or empty */
    struct slice text; /* valid UTF-8, or empty */
};

/* Loads a set of all live and SHADOW rules as of `last_seq`, the last event of the snapshot;
 * rule_set_free frees it. ERR_TOO_LARGE, without a fault, for more than RULE_SET_RULES_MAX;
 * ERR_MEMORY above RULE_SET_BYTES_MAX. `seed`: random. */
MUST_CHECK enum err rule_set_load(struct store_txn *txn, struct org_id org, uint64_t last_seq,
                                  uint64_t seed, struct rule_set **ret_set);
/* Loads the set as it was after an earlier event, for one score: it follows no log. Counts and accuracies are those of now.
 * Otherwise like rule_set_load. */
MUST_CHECK enum err rule_set_load_past(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                                       uint64_t seed, struct rule_set **ret_set);
/* Builds a set of rules that are not stored: all have effect, and rule i has patterns[i], and no
 * adjustment. rule_set_free frees it. ERR_MEMORY. */
MUST_CHECK enum err rule_set_build(const struct slice *patterns, size_t count, uint64_t seed,
                                   struct rule_set **ret_set);
/* Applies the events after `applied_seq` to `last_seq`, the last event of the snapshot; marks the
 * set as stale if it cannot follow them. */
MUST_CHECK enum err rule_set_follow(struct rule_set *set, struct store_txn *txn, uint64_t last_seq);
/* Returns the live and SHADOW rules that match, in order of their ids, in the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err rule_set_match(struct arena *arena, const struct rule_set *set,
                                   const struct receipt *receipt,
                                   const struct scoring_rule ***ret_rules, size_t *ret_count);
/* Frees a set. Accepts NULL. */
void rule_set_free(struct rule_set *set);

#endif
