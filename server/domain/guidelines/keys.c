/*
 * keys.c: see keys.h.
 */
#include "server/domain/guidelines/keys.h"

#include "store/base/bytes.h"

/* Where a key of GUIDELINE_AGENT has the type; this bit of it is set for a proposal in SHADOW. */
#define TYPE_PLACE (KEY_ORG_BYTES + KEY_HASH_BYTES)
#define SHADOW_BIT 0x80u

struct key key_proposal(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

struct key key_proposal_pending(struct org_id org, bool expedited, uint32_t evidence_count,
                                uint64_t seq)
{
    struct key key = key_org(org);

    key_put_byte(&key, expedited ? 0 : 1);
    key_put_be32(&key, ~evidence_count);
    key_put_be64(&key, seq);
    return key;
}

struct key key_proposal_cluster(struct org_id org, uint64_t cluster_seq)
{
    return key_org_seq(org, cluster_seq);
}

struct key key_guideline(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

struct key key_guideline_agent_prefix(struct org_id org, struct slice agent)
{
    struct key key = key_org(org);

    key_put_hash(&key, agent);
    return key;
}

struct key key_guideline_agent(struct org_id org, struct slice agent, uint8_t rule_type,
                               uint64_t activated_seq, uint64_t seq)
{
    struct key key = key_guideline_agent_prefix(org, agent);

    key_put_byte(&key, rule_type);
    key_put_be64(&key, activated_seq);
    key_put_be64(&key, seq);
    return key;
}

struct key key_guideline_shadow(struct org_id org, struct slice agent, uint8_t rule_type,
                                uint64_t seq)
{
    return key_guideline_agent(org, agent, (uint8_t)(rule_type | SHADOW_BIT), 0, seq);
}

bool key_is_guideline_shadow(struct slice key)
{
    return key.size > TYPE_PLACE && (key.data[TYPE_PLACE] & SHADOW_BIT) != 0;
}

struct key key_guideline_version(struct org_id org, struct slice agent)
{
    return key_guideline_agent_prefix(org, agent);
}

enum err proposal_key_seq(struct slice key, uint64_t *ret_seq)
{
    if (key.size < KEY_ORG_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(key.data + key.size - sizeof(uint64_t));
    return OK;
}
