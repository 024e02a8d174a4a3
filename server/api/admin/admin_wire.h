/*
 * admin_wire.h: the actor of administrative writes; rows of organisations and tokens as wire messages, without a secret's
 * hash.
 */
#ifndef ERRATA_SERVER_API_ADMIN_WIRE_H
#define ERRATA_SERVER_API_ADMIN_WIRE_H

#include "server/domain/admin/admin.h"
#include "server/pipeline/service.h"
#include "store/base/buffer.h"

#include <errata/v1/organization.views.h>

/* Returns the actor of an administrative write: the token's user, or the token itself. */
struct admin_actor admin_wire_actor(const struct service *service);

/* Append an Organization, one that is being imported or deleted, or a Token, as field `field`. */
void admin_wire_put_organization(const struct organization_record *record, uint32_t field,
                                 struct buffer *body);
void admin_wire_put_importing(const struct organization_record *record, uint32_t field,
                              struct buffer *body);
MUST_CHECK enum err admin_wire_put_deleted(struct arena *arena,
                                           const struct organization_record *record,
                                           const struct deletion_progress_view *deletion,
                                           uint32_t field, struct buffer *body);
void admin_wire_put_token(uint32_t key_id, const struct token_record *record,
                          int64_t last_used_at_us, uint32_t field, struct buffer *body);

#endif
