/*
 * rules.h: rows of learned rules in their tables: by number, and by pattern and type.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_RULES_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_RULES_H

#include "server/domain/artifacts/life.h"
#include "server/domain/verdicts/records.h"
#include "store/log.h"

#include <errata/v1/learned_rule.views.h>

/* The amount by which each reinforcement increases a rule's accuracy, in units; the sum is limited
 * to VERDICT_UNIT. */
#define LEARNED_RULE_REINFORCEMENT (VERDICT_UNIT / 50)

/* One rule: the number of the event that created it, and its state. */
struct learned_rule_row {
    uint64_t seq;
    struct learned_rule_record record; /* its slices are borrowed from the transaction */
};

/* Reads a rule by its number. ERR_NOT_FOUND for an unknown number. */
MUST_CHECK enum err learned_rule_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                      struct learned_rule_row *ret_row);
/* Finds a rule by its id. ERR_NOT_FOUND for an unknown id. */
MUST_CHECK enum err learned_rule_find_id(struct store_txn *txn, struct org_id org, struct uuid id,
                                         struct learned_rule_row *ret_row);
/* Finds the rule of a pattern and type. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err learned_rule_find(struct store_txn *txn, struct org_id org,
                                      struct slice pattern, enum learned_rule_type rule_type,
                                      struct learned_rule_row *ret_row);
/* Restores the state, version and adjustment that a rule had after the event `as_of_seq`; other
 * members are unchanged. ERR_NOT_FOUND if it did not exist then. */
MUST_CHECK enum err learned_rule_make_past(struct store_txn *txn, struct org_id org,
                                           uint64_t as_of_seq, struct learned_rule_row *row);
/* Reads the adjustment, in units, of the version whose content is in the event `content_seq`. */
MUST_CHECK enum err learned_rule_adjustment_at(struct store_txn *txn, struct org_id org,
                                               uint64_t content_seq, int64_t *ret_adjustment);
/* Reads the adjustment, in units, with which the rule was created or last imported: the one that no measured weight
 * has replaced. */
MUST_CHECK enum err learned_rule_first_adjustment(struct store_txn *txn, struct org_id org,
                                                  const struct learned_rule_row *row,
                                                  int64_t *ret_adjustment);
/* Writes the row of a rule, and that of its life if that changed; `before` is NULL for a new rule. */
MUST_CHECK enum err learned_rule_write(struct arena *arena, struct store_txn *txn,
                                       struct org_id org, const struct artifact_life_record *before,
                                       const struct learned_rule_row *row);
/* Writes the row by which a new rule is found by its pattern. */
MUST_CHECK enum err learned_rule_enter(struct store_txn *txn, struct org_id org,
                                       const struct learned_rule_row *row);
/* An event that counts in rules. */
struct learned_rule_count {
    uint64_t event_seq;
    int64_t time_us; /* time of the submission, or of its retraction */
    bool is_backfill; /* set for a backfill: `updated_at_us` only increases */
};

/* Counts a submission in a rule. A rule that was retired for lack of evidence becomes active again. */
void learned_rule_count(const struct learned_rule_count *count, enum learned_rule_effect effect,
                        struct learned_rule_record *record);
/* Subtracts a submission that was counted, after the last import; retires a learned rule that has none left.
 * ERR_CORRUPT if the rule does not count it. */
MUST_CHECK enum err learned_rule_uncount(const struct learned_rule_count *count,
                                         enum learned_rule_effect effect,
                                         struct learned_rule_record *record);

/* The values of a rule that an import sets; its type and pattern identify it, and its action follows from its type. */
struct learned_rule_values {
    int64_t adjustment; /* in units */
    uint64_t count;
    uint64_t accuracy; /* in units */
    bool enabled;
    bool auto_learned;
    enum artifact_state state; /* UNSPECIFIED: the rule's state is kept */
    struct uuid source_id; /* zeros: the rule's value is kept */
};

/* Returns whether the values are those of the rule. */
bool learned_rule_has_values(const struct learned_rule_record *record,
                             const struct learned_rule_values *values);
/* Sets the values; a different adjustment begins a version. Earlier submissions no longer count. */
void learned_rule_set_values(const struct learned_rule_values *values, uint64_t event_seq,
                             int64_t time_us, struct learned_rule_record *record);
/* Sets a different adjustment, which begins a version. */
void learned_rule_set_weight(int64_t adjustment, uint64_t event_seq, int64_t time_us,
                             struct learned_rule_record *record);
/* Returns the accuracy including reinforcements, in units. */
uint64_t learned_rule_accuracy(const struct learned_rule_record *record);
/* Returns the rule as a message; its slices are borrowed from the record. ERR_CORRUPT for unknown enum values. */
MUST_CHECK enum err learned_rule_view_of(struct org_id org,
                                         const struct learned_rule_record *record,
                                         struct learned_rule_view *ret_view);

#endif
