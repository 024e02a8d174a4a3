/*
 * verdicts.h: reviewers' verdicts on scored receipts, and the rules that are learned from them. One
 * write appends an event for each new rule, then the event of the submission, which lists the rules
 * for which it counts, so that a retraction can subtract exactly what the submission added. No
 * limit on rules is checked here.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_VERDICTS_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_VERDICTS_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/verdicts/learners.h"
#include "server/domain/verdicts/rules.h"
#include "store/work.h"

/* Maximum bytes of an indicator, and of all corrections together, as in the contract. */
#define VERDICT_INDICATOR_BYTES_MAX 256
#define VERDICT_CORRECTIONS_BYTES_MAX 32768
/* Maximum exposure references of one submission, as in the contract. */
#define VERDICT_REFERENCES_MAX 16

/* The values of a request. Empty slices are absent. Borrowed for the duration of the call. */
struct verdict_input {
    struct slice actor_user_id;
    struct slice receipt_id;
    enum verdict original_verdict;
    enum verdict correct_verdict;
    bool has_original_score;
    double original_score;
    struct verdict_indicators confirmed;
    struct verdict_indicators rejected;
    struct verdict_indicators missed;
    bool has_profile;
    bool has_profile_confidence;
    double profile_confidence;
    struct slice profile_subtype;
    bool has_missing_fields_enabled;
    bool missing_fields_enabled;
    enum annotator_kind annotator_kind;
    struct event_time time;
    struct slice corrections; /* the encoded field of the message */
    struct slice reviewer_notes;
    struct slice original_features_json;
    struct slice text;
    const struct slice *exposure_refs;
    size_t exposure_ref_count; /* at most VERDICT_REFERENCES_MAX */
};

/* The caller and the storage. */
struct verdict_request {
    struct org_id org;
    struct event_caller caller;
    const struct verdict_input *input;
    const struct exposure_key *key; /* key that signs references; may be NULL without them */
};

/* Decides, appends and applies. The last event of `ret_result` is the submission. ERR_INVALID for
 * an invalid time or reference, ERR_DENIED if the caller lacks a permission; nothing is then appended. */
MUST_CHECK enum err verdict_submit(struct ctx *ctx, struct store_txn *txn,
                                   const struct verdict_request *request,
                                   struct work_result *ret_result);

/* The rule to enable or disable. */
struct learned_rule_switch {
    struct org_id org;
    struct event_caller caller;
    struct uuid id;
    bool has_enabled; /* false: the present state is inverted */
    bool enabled;
};

/* Appends and applies the event, even if nothing changes, since it records a user's decision.
 * ERR_NOT_FOUND for an unknown rule. */
MUST_CHECK enum err learned_rule_set_enabled(struct ctx *ctx, struct store_txn *txn,
                                             const struct learned_rule_switch *request,
                                             uint64_t *ret_seq);

/* A rule that a person proposes. */
struct learned_rule_proposal {
    struct org_id org;
    struct event_caller caller;
    enum learned_rule_type rule_type;
    struct slice pattern;
    bool has_adjustment; /* false: use what a rule of the type is learned with */
    double adjustment; /* from -1 to 1 */
    struct slice reason;
};

/* Appends a rule in the state PROPOSED. ERR_INVALID for an adjustment whose sign is not that of the
 * type; ERR_EXISTS, naming the rule, if there is one of the type and pattern. */
MUST_CHECK enum err learned_rule_propose(struct ctx *ctx, struct store_txn *txn,
                                         const struct learned_rule_proposal *proposal,
                                         uint64_t *ret_seq);

#endif
