/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/reviews/keys.h"

#include "store/base/bytes.h"

struct review_run_hash review_run_hash_of(struct slice run_id)
{
    struct key key = {.size = 0};
    struct review_run_hash hash;

    key_put_hash(&key, run_id);
    memcpy(hash.bytes, key.bytes, sizeof(hash.bytes));
    return hash;
}

struct key key_review_prefix(struct org_id org, const struct review_run_hash *run)
{
    struct key key = key_org(org);

    key_put_bytes(&key, run->bytes, sizeof(run->bytes));
    return key;
}

struct key key_review(struct org_id org, const struct review_run_hash *run, int64_t created_at_us,
                      uint64_t seq)
{
    struct key key = key_review_prefix(org, run);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_review_run(struct org_id org, const struct review_run_hash *run)
{
    return key_review_prefix(org, run);
}

struct key key_review_time(struct org_id org, int64_t created_at_us, uint64_t seq)
{
    return key_org_newest_first(org, created_at_us, seq);
}

struct key key_review_subcategory_prefix(struct org_id org, struct slice subcategory)
{
    struct key key = key_org(org);

    key_put_hash(&key, subcategory);
    return key;
}

struct key key_review_subcategory(struct org_id org, struct slice subcategory,
                                  int64_t created_at_us, uint64_t seq)
{
    struct key key = key_review_subcategory_prefix(org, subcategory);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_review_thresholds(struct org_id org, struct slice subcategory)
{
    return key_review_subcategory_prefix(org, subcategory);
}

struct key key_review_item(struct org_id org, const struct review_run_hash *run, uint64_t seq)
{
    struct key key = key_review_prefix(org, run);

    key_put_be64(&key, ~seq);
    return key;
}

struct key key_review_example(struct org_id org, struct slice subcategory, uint64_t seq)
{
    struct key key = key_review_subcategory_prefix(org, subcategory);

    key_put_be64(&key, ~seq);
    return key;
}

enum err key_read_review_item(struct slice key, uint64_t *ret_seq)
{
    if (key.size != KEY_ORG_BYTES + KEY_HASH_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = ~bytes_get_be64(key.data + KEY_ORG_BYTES + KEY_HASH_BYTES);
    return OK;
}

struct key key_fragment_set(struct org_id org, uint32_t version)
{
    struct key key = key_org(org);

    key_put_be32(&key, ~version);
    return key;
}

struct key key_fragment_approval(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, ~seq);
}
