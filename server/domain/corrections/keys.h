/*
 * keys.h: keys of the marks of examples and of corrections by entity, built from the pieces of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_KEYS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_KEYS_H

#include "server/domain/layouts/keys.h"

struct key key_example_mark(struct org_id org, uint64_t seq);
/* Prefix of an entity's rows, and a whole row. */
struct key key_entity_prefix(struct org_id org, struct slice entity_type, struct slice entity_id);
struct key key_entity(struct org_id org, struct slice entity_type, struct slice entity_id,
                      uint64_t seq);
/* A superseded correction of an entity (prefix: key_entity_prefix), newest first. */
struct key key_entity_past(struct org_id org, struct slice entity_type, struct slice entity_id,
                           int64_t created_at_us, uint64_t seq);
/* The retractions after which an example was no longer superseded, and one of them. */
struct key key_example_freed_prefix(struct org_id org, uint64_t seq);
struct key key_example_freed(struct org_id org, uint64_t seq, uint64_t retraction_seq);
/* Reads the seq of a key that key_entity made. ERR_CORRUPT for a key of another length. */
MUST_CHECK enum err key_read_entity(struct slice key, uint64_t *ret_seq);

#endif
