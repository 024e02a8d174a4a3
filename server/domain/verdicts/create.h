/*
 * create.h: the event that creates a rule: by the submission that it is learned from, or proposed or imported by a
 * person.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_CREATE_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_CREATE_H

#include "server/domain/events/draft.h"
#include "server/domain/verdicts/rules.h"

/* The origin of a rule that was not created by a submission. */
struct learned_rule_origin {
    struct slice reason; /* reason of the proposal, or empty */
    struct slice finding; /* encoded RuleFinding of a found rule, or empty */
    bool is_imported; /* count and state are those of the imported document */
};

/* Appends a stamped LEARNED_RULE_CREATED, and completes the row: its number, id and times. */
MUST_CHECK enum err learned_rule_create(struct ctx *ctx, struct store_txn *txn,
                                        struct event_draft *draft,
                                        const struct learned_rule_origin *origin,
                                        struct learned_rule_row *row);

#endif
