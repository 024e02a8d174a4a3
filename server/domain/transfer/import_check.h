/*
 * import_check.h: checks the header and the events of an import before anything is put; for this folder only.
 */
#ifndef ERRATA_SERVER_DOMAIN_TRANSFER_IMPORT_CHECK_H
#define ERRATA_SERVER_DOMAIN_TRANSFER_IMPORT_CHECK_H

#include "server/domain/transfer/organization_import.h"

/* Place of an event that the next one follows; zeros before the first. */
struct import_place {
    uint64_t seq;
    struct uuid id;
    int64_t recorded_at_us;
    uint32_t write_index;
};

/* Adds faults for a header that this server cannot read. */
void import_check_header(struct ctx *ctx, const struct export_source *source);
/* Adds faults for an event, number `index` of the request, that cannot follow the one at `place`. Then moves the place
 * on. */
void import_check_event(struct ctx *ctx, const struct event *event, size_t index,
                        struct import_place *place);

#endif
