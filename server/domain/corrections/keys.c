/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/corrections/keys.h"

#include "store/base/bytes.h"

struct key key_example_mark(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

struct key key_entity_prefix(struct org_id org, struct slice entity_type, struct slice entity_id)
{
    struct key key = key_org(org);
    /* Neither text contains a NUL, so different pairs have different bytes. */
    struct slice pieces[] = {entity_type, slice_of("", 1), entity_id};
    struct sha256_digest digest = sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));

    key_put_bytes(&key, digest.bytes, KEY_HASH_BYTES);
    return key;
}

struct key key_entity(struct org_id org, struct slice entity_type, struct slice entity_id,
                      uint64_t seq)
{
    struct key key = key_entity_prefix(org, entity_type, entity_id);

    key_put_be64(&key, ~seq);
    return key;
}

struct key key_entity_past(struct org_id org, struct slice entity_type, struct slice entity_id,
                           int64_t created_at_us, uint64_t seq)
{
    struct key key = key_entity_prefix(org, entity_type, entity_id);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_example_freed_prefix(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

struct key key_example_freed(struct org_id org, uint64_t seq, uint64_t retraction_seq)
{
    struct key key = key_example_freed_prefix(org, seq);

    key_put_be64(&key, retraction_seq);
    return key;
}

enum err key_read_entity(struct slice key, uint64_t *ret_seq)
{
    const size_t prefix = KEY_ORG_BYTES + KEY_HASH_BYTES;

    if (key.size != prefix + sizeof(*ret_seq)) {
        return ERR_CORRUPT;
    }
    *ret_seq = ~bytes_get_be64(key.data + prefix);
    return OK;
}
