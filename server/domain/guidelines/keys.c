/*
 * keys.c: see keys.h.
 */
#include "server/domain/guidelines/keys.h"

#include "store/base/bytes.h"

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
