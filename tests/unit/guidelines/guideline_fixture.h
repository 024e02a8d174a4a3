/*
 * guideline_fixture.h: proposals and votes in a memory store.
 */
#ifndef ERRATA_TESTS_UNIT_GUIDELINES_GUIDELINE_FIXTURE_H
#define ERRATA_TESTS_UNIT_GUIDELINES_GUIDELINE_FIXTURE_H

#include "server/domain/guidelines/gate.h"
#include "tests/support/store/store_fixture.h"

/* A write transaction with an empty organisation 1, whose setting votes_needed is given. */
struct store_txn *guidelines_begin(struct store_fixture *fixture, uint32_t votes_needed);
/* Stores a proposal by a user for one agent, and returns its id. */
struct uuid propose(struct store_fixture *fixture, struct store_txn *txn, const char *user,
                    const char *agent, const char *rule);
/* Does the same with a proposal that replaces two guidelines. */
struct uuid propose_merge(struct store_fixture *fixture, struct store_txn *txn, const char *user,
                          const char *agent, const char *rule, const struct uuid ids[2]);
/* Votes; returns the result, and clears the faults. */
enum err vote(struct store_fixture *fixture, struct store_txn *txn, struct uuid id,
              enum proposal_vote_kind kind, const char *user);
/* Does the same with all members of the request; `org`, `caller` and `kind` are set here. */
enum err approve_with(struct store_fixture *fixture, struct store_txn *txn,
                      struct proposal_vote_request request, const char *user);
/* Returns the state of a proposal. */
enum artifact_state state_of(struct store_txn *txn, struct uuid id);
/* Returns the number of active guidelines of an agent. */
size_t active_count(struct store_txn *txn, const char *agent);
/* Returns the number of proposals of an agent that are in SHADOW. */
size_t shadow_count(struct store_txn *txn, const char *agent);

#endif
