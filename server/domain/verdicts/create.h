/*
 * create.h: the event that creates a rule: by the submission that it is learned from, or proposed by a person.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_CREATE_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_CREATE_H

#include "server/domain/events/draft.h"
#include "server/domain/verdicts/rules.h"

/* Appends a stamped LEARNED_RULE_CREATED, and completes the row: its number, id and times. `reason`: empty, or why the
 * rule was proposed. */
MUST_CHECK enum err learned_rule_create(struct ctx *ctx, struct store_txn *txn,
                                        struct event_draft *draft, struct slice reason,
                                        struct learned_rule_row *row);

#endif
