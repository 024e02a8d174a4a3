/*
 * past.h: the guidelines that an agent had after an earlier event. Rows of proposals have the events by which each began and
 * ended, so all of them are examined; run it on the pool.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_PAST_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_PAST_H

#include "server/domain/guidelines/agent_prompt.h"

/* Lists the guidelines of the query's agent in the order of its prompt, and the event that had last changed them. */
MUST_CHECK enum err agent_guidelines_read_past(struct store_txn *txn,
                                               const struct agent_prompt_query *query,
                                               struct agent_guidelines *ret_list,
                                               uint64_t *ret_version);

#endif
