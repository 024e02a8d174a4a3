/*
 * conflict_check.c: see conflict_check.h.
 */
#include "server/domain/guidelines/conflict_check.h"

#include "server/domain/conflicts/conflicts.h"
#include "store/page.h"

struct checking {
    struct arena *arena;
    const struct conflict_query *query;
    struct rule_parts rule;
    struct found_conflicts *found;
};

static struct slice reason_of(enum conflict_reason reason)
{
    switch (reason) {
    case CONFLICT_NEGATION:
        return SLICE("one demands what the other forbids");
    case CONFLICT_BOUNDS:
        return SLICE("numbers that cannot both be satisfied");
    case CONFLICT_CHOICE:
        return SLICE("different choices of which only one is possible");
    case CONFLICT_NONE:
        break;
    }
    return SLICE("common words");
}

static bool is_excepted(const struct checking *checking, const struct proposal *other)
{
    const struct conflict_query *query = checking->query;

    if (other->seq == query->except_seq) {
        return true;
    }
    for (size_t i = 0; i < query->except_count; i++) {
        if (uuid_equal(query->except_ids[i], other->view.id)) {
            return true;
        }
    }
    for (size_t i = 0; i < checking->found->count; i++) {
        if (uuid_equal(checking->found->items[i].id, other->view.id)) {
            return true; /* rules for two different agents */
        }
    }
    return false;
}

static enum err compare(struct checking *checking, const struct proposal *other)
{
    struct found_conflicts *found = checking->found;
    struct found_conflict item = {.id = other->view.id};
    struct rule_parts parts;
    struct conflict conflict;
    enum err err = OK;

    if (found->count == CONFLICTS_MAX || is_excepted(checking, other)) {
        return OK;
    }
    err = rule_parts_read(checking->arena, other->view.rule_content, &parts);
    if (err != OK) {
        return err;
    }
    conflict = rule_parts_compare(&checking->rule, &parts);
    item.score = conflict.overlap;
    item.reason = reason_of(conflict.reason);
    if (conflict.reason != CONFLICT_NONE) {
        item.kind = RULE_CONFLICT_KIND_CONTRADICTION;
    } else if (conflict.is_duplicate) {
        item.kind = RULE_CONFLICT_KIND_DUPLICATE;
    } else if (conflict.overlap >= CONFLICT_OVERLAP_SHARE_MIN) {
        item.kind = RULE_CONFLICT_KIND_OVERLAP;
    } else {
        return OK;
    }
    found->items[found->count++] = item;
    return OK;
}

static enum err compare_active(struct checking *checking, struct store_txn *txn)
{
    const struct conflict_query *query = checking->query;
    enum err err = OK;

    for (size_t i = 0; i < query->agent_count && err == OK; i++) {
        struct agent_guidelines list;

        err = agent_guidelines_read(txn, query->org, query->agents[i], &list);
        for (size_t j = 0; j < list.count && err == OK; j++) {
            struct proposal other;

            err = proposal_read(txn, query->org, list.seqs[j], &other);
            if (err == OK) {
                err = compare(checking, &other);
            }
        }
    }
    return err;
}

static bool shares_agent(const struct conflict_query *query, const struct proposal *other)
{
    struct slice run = other->view.affected_agents.run;
    struct slice agent = {NULL, 0};

    while (view_next(&run, &agent)) {
        for (size_t i = 0; i < query->agent_count; i++) {
            if (slice_equal(agent, query->agents[i])) {
                return true;
            }
        }
    }
    return false;
}

static enum err compare_pending(struct checking *checking, struct store_txn *txn)
{
    struct page page;
    struct proposal_list list = {.org = checking->query->org, .page = &page};
    struct proposal other;
    enum err err = OK;

    page_init(&page, CONFLICT_PENDING_MAX, slice_of(NULL, 0), NULL);
    err = proposal_list_begin(txn, &list);
    while (err == OK) {
        err = proposal_list_next(txn, &list, &other);
        if (err == OK && shares_agent(checking->query, &other)) {
            err = compare(checking, &other);
        }
    }
    page_deinit(&page);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err conflicts_find(struct arena *arena, struct store_txn *txn,
                        const struct conflict_query *query, struct found_conflicts *ret_found)
{
    struct checking checking = {.arena = arena, .query = query, .found = ret_found};
    enum err err = rule_parts_read(arena, query->rule, &checking.rule);

    ret_found->count = 0;
    if (err == OK) {
        err = compare_active(&checking, txn);
    }
    return err != OK ? err : compare_pending(&checking, txn);
}

void conflicts_put(const struct found_conflicts *found, uint32_t field, struct buffer *run)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct rule_conflict_view view = {
            .kind = found->items[i].kind,
            .guideline_id = found->items[i].id,
            .score = found->items[i].score,
            .reason = found->items[i].reason,
        };

        rule_conflict_view_put(&view, field, run);
    }
}

enum err conflicts_find_closest(struct arena *arena, struct store_txn *txn, struct org_id org,
                                const struct agent_guidelines *list, struct closest_pair *ret_pair)
{
    struct rule_parts *parts = arena_calloc(arena, GUIDELINES_OF_AGENT_MAX, sizeof(*parts));
    struct uuid ids[GUIDELINES_OF_AGENT_MAX];
    enum err err = parts != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; i < list->count && err == OK; i++) {
        struct proposal proposal;

        err = proposal_read(txn, org, list->seqs[i], &proposal);
        if (err == OK) {
            ids[i] = proposal.view.id;
            err = rule_parts_read(arena, proposal.view.rule_content, &parts[i]);
        }
    }
    if (err != OK || list->count < 2) {
        return err != OK ? err : ERR_NOT_FOUND;
    }
    *ret_pair = (struct closest_pair){.score = -1};
    for (size_t i = 1; i < list->count; i++) {
        for (size_t j = 0; j < i; j++) {
            double score = rule_parts_compare(&parts[i], &parts[j]).overlap;

            if (score > ret_pair->score) {
                *ret_pair = (struct closest_pair){{ids[j], ids[i]}, score};
            }
        }
    }
    return OK;
}
