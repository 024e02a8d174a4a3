/*
 * admin_wire.h: rows of organisations and tokens as wire messages, in an arena. A secret's hash
 * stays behind.
 */
#ifndef ERRATA_SERVER_API_ADMIN_WIRE_H
#define ERRATA_SERVER_API_ADMIN_WIRE_H

#include "server/domain/admin/admin.h"
#include "server/domain/admin/records.h"

#include <errata/v1/admin_service.pb-c.h>

MUST_CHECK enum err admin_wire_organization(struct arena *arena,
                                            const struct organization_record *record,
                                            Errata__V1__Organization **ret_organization);
MUST_CHECK enum err admin_wire_token(struct arena *arena, uint32_t key_id,
                                     const struct token_record *record,
                                     Errata__V1__Token **ret_token);
/* NULL when there is no room. */
Google__Protobuf__Timestamp *admin_wire_time(struct arena *arena, int64_t time_us);

#endif
