/*
 * keys.c: see keys.h.
 */
#include "server/domain/dead_letters/keys.h"

struct key key_dead_letter(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, ~seq);
}

struct key key_dead_letter_entry(struct org_id org, struct slice stream, struct slice entry_id,
                                 struct slice entry_sha256)
{
    const struct slice pieces[] = {entry_sha256, entry_id, SLICE(" "), stream};
    struct sha256_digest digest = sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));
    struct key key = key_org(org);

    key_put_bytes(&key, digest.bytes, KEY_HASH_BYTES);
    return key;
}

struct key key_dead_letter_retry(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}
