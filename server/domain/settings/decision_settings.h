/*
 * decision_settings.h: the settings of decisions: the evaluators whose classes take effect, and the
 * agents of gates. They are read from the event that changed the settings last.
 */
#ifndef ERRATA_SERVER_DOMAIN_SETTINGS_DECISION_SETTINGS_H
#define ERRATA_SERVER_DOMAIN_SETTINGS_DECISION_SETTINGS_H

#include "server/domain/settings/settings.h"

/* Borrowed from the transaction. */
struct decision_settings {
    struct slice evaluator_id; /* empty: the server's classes take effect */
    struct slice gate_agents; /* a GateAgents; empty: there are none */
};

MUST_CHECK enum err decision_settings_read(struct store_txn *txn, struct org_id org,
                                           struct decision_settings *ret_settings);
/* Returns the agent of a gate; empty if the gate has none. ERR_CORRUPT. */
MUST_CHECK enum err decision_settings_agent(const struct decision_settings *settings,
                                            struct slice gate_id, struct slice *ret_agent);

#endif
