/*
 * decision_intake.h: stores an entry of a stream as a decision, by the functions of RecordDecision, without a call: what
 * it validates, decides and stores is the same. In two steps, as a call has them: one on the pool, one in a transaction.
 */
#ifndef ERRATA_SERVER_API_DECISIONS_DECISION_INTAKE_H
#define ERRATA_SERVER_API_DECISIONS_DECISION_INTAKE_H

#include "server/domain/dead_letters/dead_letters.h"
#include "server/pipeline/service.h"

#include <errata/v1/decision_service.pb-c.h>

/* An entry on its way to a decision. Nothing is owned: it lives in the arena of its ctx. */
struct decision_intake {
    struct service service;
    struct principal principal; /* the stream's reader */
    const Errata__V1__RecordDecisionRequest *request;
    void *prepared;
    /* Time by which the decision's is in the future, for which the entry is to wait; else 0. */
    int64_t ahead_us;
};

/* Reads and prepares an entry, on the pool or a thread of its own; uses only constant members of `env`. ERR_INVALID, with
 * the fields in ctx->fault; ERR_UNAVAILABLE if ret_intake->ahead_us is set; ERR_MEMORY. */
MUST_CHECK enum err decision_intake_prepare(struct ctx *ctx, struct service_env *env,
                                            struct org_id org, const struct stream_entry *entry,
                                            struct decision_intake *ret_intake);
/* Runs in a write: decides and appends as RecordDecision does, and sets `result`. A repeat appends nothing. The errors are
 * those of RecordDecision, before the first put. */
MUST_CHECK enum err decision_intake_write(struct decision_intake *intake, struct ctx *ctx,
                                          struct store_txn *txn, struct work_result *result);
/* Returns whether another attempt can't succeed by itself: the entry is refused, and a dead letter. */
bool decision_intake_is_refusal(enum err err);
/* Returns why: the message of the status that a call would have, in the arena. */
struct slice decision_intake_reason(struct arena *arena, enum err err, const struct fault *fault);

#endif
