/*
 * organization_deletion.h: deletes an organisation: first its tokens, then every row that has its id, the log's events
 * included, in small transactions. It begins with an event in the log of the server's own organisation and a mark in the
 * store (store/log_deletion.h), and ends with a second event once no table has a row of it; between them each step goes on
 * from what is left, so a deletion that was interrupted needs nothing but further steps. The rows of the organisation
 * itself and of its name go last: until then the name is taken.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_ORGANIZATION_DELETION_H
#define ERRATA_SERVER_DOMAIN_ADMIN_ORGANIZATION_DELETION_H

#include "server/domain/admin/admin.h"
#include "store/log_deletion.h"

#include <errata/v1/event.views.h>

/* Request of a caller. */
struct organization_deletion_request {
    struct org_id caller_org; /* of the caller's token */
    struct org_id org; /* the one to delete */
    struct slice confirm_name;
    struct slice reason;
};

/* Appends the event and puts the mark. For an organisation that is being deleted it does nothing: a count of 0, and the
 * event with which that began as first_seq. Fails as organization_state_check_caller; ERR_NOT_FOUND; ERR_INVALID for
 * another name; ERR_PRECONDITION for an organisation that is not suspended. */
MUST_CHECK enum err organization_deletion_begin(struct ctx *ctx, struct store_txn *txn,
                                                const struct admin_actor *actor,
                                                const struct organization_deletion_request *request,
                                                struct work_result *ret_result);
/* Reads the facts of the event with which a deletion began, and its time; borrowed from the transaction. */
MUST_CHECK enum err organization_deletion_read(struct store_txn *txn, struct org_id audit_org,
                                               uint64_t audit_seq,
                                               struct organization_deleted_view *ret_facts,
                                               int64_t *ret_started_at_us);

/* Where a deletion goes on; zeroed at the start and after a restart. */
struct organization_deletion_position {
    bool has_no_tokens; /* all were deleted */
    struct key token; /* the last one that was deleted; size 0: none */
    struct log_deletion_position rows;
};

/* Deletes up to `rows_max` (at most LOG_DELETION_ROWS_MAX) rows, and counts them in the mark. Returns their number; 0:
 * nothing is left but the organisation's own rows. ERR_NOT_FOUND if it is not being deleted. */
MUST_CHECK enum err organization_deletion_step(struct ctx *ctx, struct store_txn *txn,
                                               struct org_id org, size_t rows_max,
                                               struct organization_deletion_position *position,
                                               size_t *ret_count);
/* Whether rows of the organisation are left, apart from its own; zeroed at the start. */
struct organization_deletion_check {
    size_t table; /* tables before it have none */
    struct key token; /* nor has TOKEN up to this key; size 0: it was not read */
    bool has_rows; /* a row was found */
    bool has_ended; /* by that, or after the last token */
};

/* Goes on with a check: examines one table, or after all of them up to `tokens_max` tokens of all organisations, whose keys
 * have no organisation. Each call may have a transaction of its own, since nothing is added. */
MUST_CHECK enum err organization_deletion_check(struct store_txn *txn, struct org_id org,
                                                uint32_t tokens_max,
                                                struct organization_deletion_check *check);
/* Removes the organisation's own rows and the mark, unless a table has a row of it again: ERR_PRECONDITION. */
MUST_CHECK enum err organization_deletion_finish(struct ctx *ctx, struct store_txn *txn,
                                                 struct org_id org);
/* Does the same, and appends the event of the end. */
MUST_CHECK enum err organization_deletion_end(struct ctx *ctx, struct store_txn *txn,
                                              struct org_id org, struct work_result *ret_result);

/* Returns the organisation that a row of the tables ORGANIZATION, ORGANIZATION_NAME or TOKEN belongs to; false for rows of
 * other tables, and damaged ones. Their keys have no organisation. */
bool admin_row_owner(enum store_table table, struct slice key, struct slice value,
                     struct uuid *ret_owner);

#endif
