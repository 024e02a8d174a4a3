/*
 * records.h: rows of verdicts as plain C, and their bytes: messages of proto/record/verdicts.proto.
 * The rules of store/records.h apply: slices are borrowed from the bytes, and bytes that do not decode are
 * ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_RECORDS_H

#include "server/domain/artifacts/records.h"
#include "store/base/arena.h"
#include "store/key.h"

/* The unit of adjustments and accuracies in rows and sums: one billionth, so that .05, -.03, .04, .02 and .5, and
 * .65 times each adjustment, are whole numbers. */
#define VERDICT_UNIT INT64_C(1000000000)

/* LEARNED_RULE: a rule as it is now. */
struct learned_rule_record {
    struct uuid id; /* id of the event that created it */
    uint32_t rule_type; /* errata.v1.LearnedRuleType; 1 to 255 */
    struct slice pattern; /* not empty */
    uint32_t action; /* errata.v1.LearnedRuleAction; not 0 */
    int64_t adjustment; /* in units; -VERDICT_UNIT to VERDICT_UNIT */
    uint64_t
        count; /* number of submissions that learned or reinforced it; 0 if all were retracted, or
                * none was applied yet */
    uint64_t reinforcement_count; /* number of those that reinforced it */
    uint64_t accuracy; /* in units, without reinforcements; at most VERDICT_UNIT */
    struct artifact_life_record life; /* held back: a person disabled it */
    bool auto_learned;
    int64_t created_at_us;
    int64_t updated_at_us;
    struct uuid source_id; /* id of an imported rule: its id in the document; else zeros */
    /* The event of the import that last set the values of the rule; 0: there is none. Earlier
     * submissions do not count. */
    uint64_t imported_seq;
};

/* VERDICT: the values of a submission on which statistics depend. */
struct verdict_record {
    uint32_t original_verdict; /* errata.v1.Verdict; not 0 */
    uint32_t correct_verdict; /* errata.v1.Verdict; not 0 */
    struct slice
        missed; /* the encoded field missed_indicators of the VerdictSubmission; or empty */
};

/* RULE_MEASURE: one version of a rule. */
struct rule_measure_record {
    uint64_t agreed; /* number of firings where the verdict had the rule's direction */
    uint64_t disagreed; /* number of firings where the verdict had the other direction */
    uint64_t undecided; /* number of firings where the verdict had no direction */
    uint64_t
        kept_agreed; /* when a person last kept the rule, although it was proposed for retirement */
    uint64_t kept_disagreed; /* like the member above */
};

/* The live rules, or those in SHADOW, in all measured scores. */
struct rule_set_side {
    uint64_t covered; /* scores in which a rule fired */
    uint64_t overlapping; /* scores in which several rules fired */
    uint64_t conflicting; /* scores in which rules of both directions fired */
    uint64_t agreed; /* firings of rules with the same outcomes */
    uint64_t disagreed;
    uint64_t undecided;
    uint64_t found; /* scores in which a rule of the verdict's direction fired */
    uint64_t flips_right; /* scores whose verdict the rules changed to the reviewer's */
    uint64_t flips_wrong; /* scores whose verdict they changed from the reviewer's */
    uint64_t flips_undecided; /* scores whose verdict was wrong before and after */
};

/* RULE_SET_MEASURE */
struct rule_set_measure_record {
    uint64_t scores; /* measured */
    uint64_t directed; /* number of submissions whose verdict is REAL or FAKE */
    struct rule_set_side live;
    struct rule_set_side shadow;
};

MUST_CHECK enum err record_decode_rule_measure(struct slice bytes,
                                               struct rule_measure_record *ret_record);
MUST_CHECK enum err record_encode_rule_measure(struct arena *arena,
                                               const struct rule_measure_record *record,
                                               struct slice *ret_bytes);
MUST_CHECK enum err record_decode_rule_set_measure(struct slice bytes,
                                                   struct rule_set_measure_record *ret_record);
MUST_CHECK enum err record_encode_rule_set_measure(struct arena *arena,
                                                   const struct rule_set_measure_record *record,
                                                   struct slice *ret_bytes);
MUST_CHECK enum err record_decode_learned_rule(struct slice bytes,
                                               struct learned_rule_record *ret_record);
MUST_CHECK enum err record_decode_verdict(struct slice bytes, struct verdict_record *ret_record);

/* Returns whether the values are in the ranges of a row. Those of a file may be outside, so apply looks before it encodes them. */
bool learned_rule_record_fits(const struct learned_rule_record *record);
bool verdict_record_fits(const struct verdict_record *record);
MUST_CHECK enum err record_encode_learned_rule(struct arena *arena,
                                               const struct learned_rule_record *record,
                                               struct slice *ret_bytes);
MUST_CHECK enum err record_encode_verdict(struct arena *arena, const struct verdict_record *record,
                                          struct slice *ret_bytes);

#endif
