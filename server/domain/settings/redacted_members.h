/*
 * redacted_members.h: the setting of the members of items that prompts never show. It is read from the event that changed
 * the settings last, since only prompts with an example item need it.
 */
#ifndef ERRATA_SERVER_DOMAIN_SETTINGS_REDACTED_MEMBERS_H
#define ERRATA_SERVER_DOMAIN_SETTINGS_REDACTED_MEMBERS_H

#include "server/domain/settings/settings.h"

/* Maximum characters of a name. */
#define REDACTED_MEMBER_CHARACTERS_MAX 100

/* Returns the default: a RedactedMembers. */
struct slice redacted_members_default(void);
/* Returns the RedactedMembers of a settings message, or the default. Borrowed from the message. */
struct slice redacted_members_of(const struct organization_settings_view *view);
/* Reads the RedactedMembers after the event `as_of_seq` (UINT64_MAX: now). Borrowed from the transaction. */
MUST_CHECK enum err redacted_members_read(struct store_txn *txn, struct org_id org,
                                          uint64_t as_of_seq, struct slice *ret_message);

#endif
