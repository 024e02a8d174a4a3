/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/verdicts/keys.h"

#include "store/base/bytes.h"

struct key key_learned_rule(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

enum err key_read_learned_rule(struct slice key, uint64_t *ret_seq)
{
    if (key.size != KEY_ORG_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(key.data + KEY_ORG_BYTES);
    return OK;
}

struct key key_learned_rule_pattern_prefix(struct org_id org, struct slice pattern)
{
    struct key key = key_org(org);

    key_put_hash(&key, pattern);
    return key;
}

struct key key_learned_rule_pattern(struct org_id org, struct slice pattern, uint32_t rule_type)
{
    struct key key = key_learned_rule_pattern_prefix(org, pattern);

    key_put_byte(&key, (uint8_t)rule_type);
    return key;
}

struct key key_verdict(struct org_id org, int64_t created_at_us, uint64_t seq)
{
    return key_org_newest_first(org, created_at_us, seq);
}

struct key key_rule_measures(struct org_id org, uint64_t rule_seq)
{
    return key_org_seq(org, rule_seq);
}

enum err key_read_rule_measure(struct slice key, uint64_t *ret_rule_seq)
{
    if (key.size != KEY_ORG_BYTES + sizeof(uint64_t) + sizeof(uint32_t)) {
        return ERR_CORRUPT;
    }
    *ret_rule_seq = bytes_get_be64(key.data + KEY_ORG_BYTES);
    return OK;
}

struct key key_rule_measure(struct org_id org, uint64_t rule_seq, uint32_t version)
{
    struct key key = key_rule_measures(org, rule_seq);

    key_put_be32(&key, version);
    return key;
}

struct key key_measured_verdict_level(struct org_id org, uint8_t verdict, uint8_t level)
{
    struct key key = key_org(org);

    key_put_byte(&key, verdict);
    key_put_byte(&key, level);
    return key;
}

struct key key_measured_verdict(struct org_id org, uint8_t verdict, uint8_t level, uint64_t index)
{
    struct key key = key_measured_verdict_level(org, verdict, level);

    key_put_be64(&key, index);
    return key;
}
