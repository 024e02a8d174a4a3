/*
 * keys.c: see keys.h.
 */
#include "server/domain/decisions/keys.h"

#include "store/base/bytes.h"

struct key key_decision(struct org_id org, struct slice decision_id)
{
    struct key key = key_org(org);

    key_put_hash(&key, decision_id);
    return key;
}

struct key key_decision_time(struct org_id org, int64_t created_at_us, uint64_t seq)
{
    return key_org_newest_first(org, created_at_us, seq);
}

struct key key_decision_agent_prefix(struct org_id org, struct slice agent)
{
    struct key key = key_org(org);

    key_put_hash(&key, agent);
    return key;
}

struct key key_decision_agent(struct org_id org, struct slice agent, int64_t created_at_us,
                              uint64_t seq)
{
    struct key key = key_decision_agent_prefix(org, agent);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_decision_cluster_prefix(struct org_id org, struct slice agent, struct slice space)
{
    struct key key = key_org(org);

    key_put_hash(&key, agent);
    key_put_hash(&key, space);
    return key;
}

struct key key_decision_cluster(struct org_id org, struct slice agent, struct slice space,
                                uint64_t seq)
{
    struct key key = key_decision_cluster_prefix(org, agent, space);

    key_put_be64(&key, ~seq);
    return key;
}

struct key key_decision_member_prefix(struct org_id org, uint64_t cluster_seq)
{
    return key_org_seq(org, cluster_seq);
}

struct key key_decision_member(struct org_id org, uint64_t cluster_seq, uint64_t seq)
{
    struct key key = key_decision_member_prefix(org, cluster_seq);

    key_put_be64(&key, ~seq);
    return key;
}

struct key key_decision_high(struct org_id org, uint64_t cluster_seq)
{
    return key_org_seq(org, ~cluster_seq);
}

struct key key_decision_theme_prefix(struct org_id org, struct slice space)
{
    struct key key = key_org(org);

    key_put_hash(&key, space);
    return key;
}

struct key key_decision_theme(struct org_id org, struct slice space, uint64_t seq)
{
    struct key key = key_decision_theme_prefix(org, space);

    key_put_be64(&key, ~seq);
    return key;
}

struct key key_decision_evaluation_prefix(struct org_id org, uint64_t decision_seq)
{
    return key_org_seq(org, decision_seq);
}

struct key key_decision_evaluation(struct org_id org, uint64_t decision_seq,
                                   struct slice evaluator_id)
{
    struct key key = key_decision_evaluation_prefix(org, decision_seq);

    key_put_hash(&key, evaluator_id);
    return key;
}

struct key key_decision_override(struct org_id org, uint64_t decision_seq)
{
    return key_org_seq(org, decision_seq);
}

struct key key_evaluator(struct org_id org, struct slice evaluator_id)
{
    struct key key = key_org(org);

    key_put_hash(&key, evaluator_id);
    return key;
}

enum err key_read_decision_seq(struct slice key, uint64_t *ret_seq)
{
    if (key.size < KEY_ORG_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = ~bytes_get_be64(key.data + key.size - sizeof(uint64_t));
    return OK;
}
