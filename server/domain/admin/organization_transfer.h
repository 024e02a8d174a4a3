/*
 * organization_transfer.h: the events that record exports and imports, and what of tokens is exported: that they
 * existed, without the hashes of their secrets. Events and lines of an import are in server/domain/transfer.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_ORGANIZATION_TRANSFER_H
#define ERRATA_SERVER_DOMAIN_ADMIN_ORGANIZATION_TRANSFER_H

#include "server/domain/admin/admin.h"

/* Version of the lines of an export. */
#define EXPORT_VERSION 1

/* Identity of an export. Slices are borrowed. */
struct export_source {
    uint32_t version;
    uint32_t store_format;
    struct uuid export_id;
    struct uuid org_id; /* the exported organisation */
    struct slice name;
    int64_t exported_at_us;
    uint64_t event_count; /* of the whole export; 0 until its end is known */
};

/* Appends the event with which an export begins, to the log of the exported organisation. */
MUST_CHECK enum err organization_export_begin(struct ctx *ctx, struct store_txn *txn,
                                              const struct admin_actor *actor, struct org_id org,
                                              struct slice reason, struct work_result *ret_result);
/* Appends the event with which an import ends, after all events of the source, to the log of the imported organisation. */
MUST_CHECK enum err organization_import_end(struct ctx *ctx, struct store_txn *txn,
                                            const struct admin_actor *actor, struct org_id org,
                                            const struct export_source *source,
                                            struct work_result *ret_result);
/* Returns the facts of an EVENT_TOKEN_CREATED without the secret's hash. ERR_CORRUPT for other bytes. */
MUST_CHECK enum err organization_export_token(struct arena *arena, struct slice facts,
                                              struct slice *ret_facts);
/* Returns the facts of an EVENT_ORGANIZATION_CREATED. */
MUST_CHECK enum err organization_import_created(struct arena *arena, struct org_id org,
                                                struct slice name, struct slice *ret_facts);

#endif
