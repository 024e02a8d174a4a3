/*
 * keys.h: keys of turns, built from the parts of store/key.h. A turn is identified by the hashes of
 * its session's id and its own, which are the values of rows of lists.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_KEYS_H
#define ERRATA_SERVER_DOMAIN_TURNS_KEYS_H

#include "store/key.h"

/* The hashes of a session's id and a turn's id. */
struct turn_hash {
    uint8_t session[KEY_HASH_BYTES];
    uint8_t turn[KEY_HASH_BYTES];
};

struct turn_hash turn_hash_of(struct slice session_id, struct slice turn_id);
static inline struct slice turn_hash_slice(const struct turn_hash *hash)
{
    return slice_of(hash, sizeof(*hash));
}
/* Reads the value of a list's row. ERR_CORRUPT for another size. */
MUST_CHECK enum err turn_hash_read(struct slice value, struct turn_hash *ret_hash);

/* Turns and their detections: organisation, hash of the session 16, hash of the turn 16. */
struct key key_turn(struct org_id org, const struct turn_hash *hash);
/* All turns, newest first: organisation, inverted created_at 8, inverted seq 8. */
struct key key_turn_time(struct org_id org, int64_t created_at_us, uint64_t seq);
/* Turns of a session, newest first: organisation, hash of the session 16, inverted created_at 8, inverted seq 8. */
struct key key_turn_session_prefix(struct org_id org, const struct turn_hash *hash);
struct key key_turn_session(struct org_id org, const struct turn_hash *hash, int64_t created_at_us,
                            uint64_t seq);
/* Turns of a status, newest first: organisation, status 1, inverted created_at 8, inverted seq 8. */
struct key key_turn_status_prefix(struct org_id org, uint32_t status);
struct key key_turn_status(struct org_id org, uint32_t status, int64_t created_at_us, uint64_t seq);
/* Judged detections, newest first: organisation, inverted seq 8 (key_read_org_newest_seq). */
struct key key_turn_judged(struct org_id org, uint64_t detection_seq);

#endif
