/*
 * redaction.h: an item as it may be shown in a prompt: members that name persons or secrets, and e-mail addresses, phone
 * numbers, IBANs and secrets in strings and names, become `[redacted]`; what remains is sanitised for examples.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_REDACTION_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_REDACTION_H

#include "store/base/arena.h"
#include "store/base/err.h"

#define REDACTED "[redacted]"

/* Returns the text with each match replaced, in the arena; if the result exceeds `bytes_max` bytes,
 * it is cut anywhere after that many. Fails only with ERR_MEMORY. */
MUST_CHECK enum err redact_text(struct arena *arena, struct slice text, size_t bytes_max,
                                struct slice *ret_text);
/* Redacts and sanitises a checked JSON object, into the arena. `members` is a RedactedMembers: the names of members to
 * redact. Members whose name sanitising changes are left out. If the result exceeds
 * `characters_max` characters, it may be incomplete, but has at least one character more than that.
 * Fails only with ERR_MEMORY, and with ERR_CORRUPT for `members` that cannot be read. */
MUST_CHECK enum err redact_item(struct arena *arena, struct slice members, struct slice item_json,
                                size_t characters_max, struct slice *ret_json);

#endif
