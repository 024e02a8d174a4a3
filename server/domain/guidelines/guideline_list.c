/*
 * guideline_list.c: pending proposals, guidelines in effect, and those in SHADOW; see proposals.h.
 */
#include "server/domain/guidelines/keys.h"
#include "server/domain/guidelines/proposals.h"
#include "store/page.h"

/* Adds a row to the list. */
static enum err list_row(struct agent_guidelines *list, struct slice key)
{
    bool is_shadow = key_is_guideline_shadow(key);
    uint64_t *seqs = is_shadow ? list->shadow_seqs : list->seqs;
    size_t *count = is_shadow ? &list->shadow_count : &list->count;

    if (*count == (is_shadow ? SHADOWS_OF_AGENT_MAX : GUIDELINES_OF_AGENT_MAX)) {
        return ERR_CORRUPT;
    }
    *count += 1;
    return proposal_key_seq(key, &seqs[*count - 1]);
}

enum err agent_guidelines_read(struct store_txn *txn, struct org_id org, struct slice agent,
                               struct agent_guidelines *ret_list)
{
    const struct scan_range range = {.table = TABLE_GUIDELINE_AGENT,
                                     .prefix = key_guideline_agent_prefix(org, agent),
                                     .order = STORE_ASCENDING,
                                     .rows_max = GUIDELINE_ROWS_MAX};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    ret_list->count = 0;
    ret_list->shadow_count = 0;
    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = list_row(ret_list, key);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err proposal_list_begin(struct store_txn *txn, struct proposal_list *list)
{
    const struct scan_range range = {.table = TABLE_PROPOSAL_PENDING,
                                     .prefix = key_org(list->org),
                                     .order = STORE_ASCENDING,
                                     .after = list->page->after};

    return page_open(list->page, txn, &range);
}

enum proposal_status proposal_status_of(const struct proposal_record *record)
{
    if (record->activated_seq != 0) {
        return PROPOSAL_STATUS_APPROVED;
    }
    return record->ended_seq != 0 ? PROPOSAL_STATUS_REJECTED : PROPOSAL_STATUS_PENDING;
}

bool proposal_is_pending(const struct proposal_record *record)
{
    return record->life.state == ARTIFACT_STATE_PROPOSED ||
           record->life.state == ARTIFACT_STATE_SHADOW;
}

bool proposal_is_for(const struct proposal *proposal, struct slice agent)
{
    struct slice run = proposal->view.affected_agents.run;
    struct slice name = {NULL, 0};
    bool found = agent.size == 0;

    while (!found && view_next(&run, &name)) {
        found = slice_equal(name, agent);
    }
    return found;
}

enum err proposal_list_next(struct store_txn *txn, struct proposal_list *list,
                            struct proposal *ret_proposal)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = OK;

    do {
        err = page_next(list->page, &key, &value);
        if (err == OK) {
            err = log_read_id_row(value, &seq);
        }
        if (err != OK) {
            return err;
        }
        err = proposal_read(txn, list->org, seq, ret_proposal);
    } while (err == OK && !proposal_is_for(ret_proposal, list->agent));
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err guideline_list_begin(struct store_txn *txn, struct proposal_list *list)
{
    bool is_of_agent = list->agent.size > 0;
    const struct scan_range range = {
        .table = is_of_agent ? TABLE_GUIDELINE_AGENT : TABLE_GUIDELINE,
        .prefix =
            is_of_agent ? key_guideline_agent_prefix(list->org, list->agent) : key_org(list->org),
        .order = STORE_ASCENDING,
        .after = list->page->after};

    return page_open(list->page, txn, &range);
}

/* Returns the next row of a guideline in effect. An agent's proposals in SHADOW are after all of them: they end the list, before
 * the page counts one of them as a row that is left. */
static enum err next_row(const struct proposal_list *list, struct slice *ret_key)
{
    struct page *page = list->page;
    struct slice value = {NULL, 0};
    enum err err = page_keep(page) ? scan_next(&page->scan, ret_key, &value) : ERR_NOT_FOUND;

    if (err != OK || (list->agent.size > 0 && key_is_guideline_shadow(*ret_key))) {
        return err != OK ? err : ERR_NOT_FOUND;
    }
    return page_look(page) && page_begin(page, *ret_key) ? OK : ERR_NOT_FOUND;
}

enum err guideline_list_next(struct store_txn *txn, struct proposal_list *list,
                             struct proposal *ret_proposal)
{
    struct slice key = {NULL, 0};
    uint64_t seq = 0;
    enum err err = next_row(list, &key);

    if (err != OK) {
        return err;
    }
    err = proposal_key_seq(key, &seq);
    if (err == OK) {
        err = proposal_read(txn, list->org, seq, ret_proposal);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err guideline_next(struct store_txn *txn, struct org_id org, uint64_t after_seq,
                        struct proposal *ret_guideline)
{
    struct key after = key_guideline(org, after_seq);
    const struct scan_range range = {.table = TABLE_GUIDELINE,
                                     .prefix = key_org(org),
                                     .order = STORE_ASCENDING,
                                     .after = key_slice(&after),
                                     .rows_max = 1};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = scan_init(&scan, txn, &range);

    if (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    scan_deinit(&scan);
    if (err == OK) {
        err = proposal_key_seq(key, &seq);
    }
    if (err != OK) {
        return err;
    }
    err = proposal_read(txn, org, seq, ret_guideline);
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
