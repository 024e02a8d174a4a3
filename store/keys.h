/*
 * keys.h: keys of the store's own tables, built from the parts of store/key.h.
 */
#ifndef ERRATA_STORE_KEYS_H
#define ERRATA_STORE_KEYS_H

#include "store/key.h"

struct key key_event(struct org_id org, uint64_t seq);
struct key key_event_id(struct org_id org, struct uuid id);
/* The prefix of a subject's rows, and the key of one row. */
struct key key_subject_prefix(struct org_id org, uint8_t kind, struct slice id);
struct key key_subject(struct org_id org, uint8_t kind, struct slice id, int64_t created_at_us,
                       uint64_t seq);
struct key key_backfill(struct org_id org, int64_t created_at_us, uint64_t seq);
struct key key_idempotency(struct org_id org, uint32_t hour, const uint8_t hash[16]);
struct key key_meta_global(struct slice name);
/* Names of values about one store: its format, and the row that probes writing. */
#define KEY_META_FORMAT "format"
#define KEY_META_PROBE "probe"
#define KEY_META_JOURNAL "journal"
#define KEY_META_RESTORE "restore" /* an increment was applied in part */
#define KEY_META_TOKEN_USE "token_use" /* followed by a token's key id: its last day of use */
/* The organisation's id follows. */
#define KEY_META_DELETION "deletion"
#define KEY_META_IMPORT "import" /* followed by an organisation: it is being imported */
/* ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_event(struct slice key, uint64_t *ret_seq);

#endif
