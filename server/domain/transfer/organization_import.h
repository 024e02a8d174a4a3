/*
 * organization_import.h: makes an organisation of an export, in calls with some of its events each. All values come from a
 * file, so everything that apply relies on is checked; what an event's facts contain is checked by apply itself. Nothing is
 * put before all events of a call are checked. Tokens are left out, and the organisation's id and name are replaced.
 */
#ifndef ERRATA_SERVER_DOMAIN_TRANSFER_ORGANIZATION_IMPORT_H
#define ERRATA_SERVER_DOMAIN_TRANSFER_ORGANIZATION_IMPORT_H

#include "server/domain/admin/organization_transfer.h"

/* The format of the store that this server exports from; the program checks that it is the store's. */
#define EXPORT_STORE_FORMAT 9
/* The first format that exports were made from. */
#define EXPORT_STORE_FORMAT_OLDEST 9
/* An event may be so much later than the clock: that of the other server may be ahead. */
#define IMPORT_CLOCK_AHEAD_US (INT64_C(60) * 1000000)

/* What a caller requests. Everything is borrowed. */
struct organization_import {
    struct org_id caller_org; /* of the caller's token */
    struct slice name; /* of the organisation to make */
    struct export_source source;
    const struct event *
        events; /* their `org` is not read, nor are `facts_sha256`, `previous_sha256` and `idempotency` */
    size_t event_count;
    bool has_end; /* `source` has the count of the whole export */
};

/* Appends and applies the events that follow those already stored; with the end, also the event of the import. Without
 * anything to store, or if the same import has ended before, a count of 0, and the last event as first_seq (0, and no
 * organisation: there is none yet). Fails as organization_state_check_caller; ERR_EXISTS, ERR_PRECONDITION and ERR_INVALID as
 * the contract says. */
MUST_CHECK enum err organization_import_write(struct ctx *ctx, struct store_txn *txn,
                                              const struct admin_actor *actor,
                                              const struct organization_import *import,
                                              struct work_result *ret_result);
/* State of an import after a write. */
struct organization_import_state {
    uint64_t imported_seq; /* last stored event of the export; 0: none */
    bool completed;
};
MUST_CHECK enum err organization_import_after(struct store_txn *txn,
                                              const struct work_result *result,
                                              struct organization_import_state *ret_state);

#endif
