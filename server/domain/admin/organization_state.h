/*
 * organization_state.h: suspends and resumes organisations, as events of their own logs. The data of a
 * suspended one stay; only its tokens are refused (server/auth). Two organisations cannot be suspended:
 * that of the caller's token, so that a token which can undo it is left, and the server's own, to which
 * `erratad --new-admin-token` adds tokens.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_ORGANIZATION_STATE_H
#define ERRATA_SERVER_DOMAIN_ADMIN_ORGANIZATION_STATE_H

#include "server/domain/admin/admin.h"

/* The organisation that the first start of a server creates. */
#define ADMIN_SERVER_ORGANIZATION "default"

/* Request of a caller. */
struct organization_state_change {
    struct org_id caller_org; /* of the caller's token */
    struct org_id org; /* the one to suspend or resume */
    bool suspend; /* false: resume */
    struct slice reason;
};

/* Checks in the transaction of a write whether its caller may change other organisations: its own may have been suspended
 * or deleted after its token was checked. ERR_DENIED without the server flag; ERR_ORGANIZATION_SUSPENDED;
 * ERR_ORGANIZATION_DELETED. */
MUST_CHECK enum err organization_state_check_caller(struct ctx *ctx, struct store_txn *txn,
                                                    const struct admin_actor *actor,
                                                    struct org_id caller_org);
/* Appends the change; if the organisation has the state already, nothing: a count of 0, and the event
 * that set the state as first_seq (0: none, it was never suspended). Fails as
 * organization_state_check_caller; ERR_NOT_FOUND; ERR_PRECONDITION for an organisation that cannot be suspended. */
MUST_CHECK enum err organization_state_set(struct ctx *ctx, struct store_txn *txn,
                                           const struct admin_actor *actor,
                                           const struct organization_state_change *change,
                                           struct work_result *ret_result);
/* Reads the organisation as a write of organization_state_set left it; its
 * slices are borrowed from the transaction. */
MUST_CHECK enum err organization_state_after(struct store_txn *txn,
                                             const struct work_result *result,
                                             struct organization_record *ret_organization);
/* Returns whether an organisation is suspended, or being imported; false if there is none. */
MUST_CHECK enum err organization_state_is_suspended(struct store_txn *txn, struct org_id org,
                                                    bool *ret_is_suspended);
/* Returns the server's own organisation. ERR_NOT_FOUND in a store that no server has been started with. */
MUST_CHECK enum err organization_state_find_server(struct store_txn *txn, struct org_id *ret_org);

/* For admin_apply. */
MUST_CHECK enum err organization_state_apply(struct ctx *ctx, struct store_txn *txn,
                                             const struct event *event);

#endif
