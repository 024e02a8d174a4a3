/*
 * list.c: see list.h.
 */
#include "server/domain/verdicts/list.h"

#include "server/domain/verdicts/keys.h"

static bool by_id(const struct learned_rule_list *list)
{
    return list->id_prefix.digit_count > 0;
}

enum err learned_rule_list_begin(struct store_txn *txn, const struct learned_rule_list *list)
{
    struct scan_range range = {
        .table = TABLE_LEARNED_RULE,
        .prefix = key_org(list->org),
        .after = list->page->after,
    };

    if (by_id(list)) {
        return id_prefix_open_page(&list->id_prefix, txn, TABLE_EVENT_ID, key_org(list->org),
                                   list->page);
    }
    if (list->pattern.size > 0) {
        range.table = TABLE_LEARNED_RULE_PATTERN;
        range.prefix = key_learned_rule_pattern_prefix(list->org, list->pattern);
    }
    return page_open(list->page, txn, &range);
}

/* Returns the seq of the event that created the next rule; in a list by id, of the next event. */
static enum err next_seq(const struct learned_rule_list *list, uint64_t *ret_seq)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = by_id(list) ? id_prefix_next_row(&list->id_prefix, list->page, &key, &value)
                               : page_next(list->page, &key, &value);

    if (err != OK) {
        return err;
    }
    return by_id(list) || list->pattern.size > 0 ? log_read_id_row(value, ret_seq)
                                                 : key_read_learned_rule(key, ret_seq);
}

static bool matches(const struct learned_rule_list *list, const struct learned_rule_record *record)
{
    return (list->rule_type == LEARNED_RULE_TYPE_UNSPECIFIED ||
            record->rule_type == (uint32_t)list->rule_type) &&
           (list->pattern.size == 0 || slice_equal(list->pattern, record->pattern)) &&
           (!list->has_enabled || list->enabled != record->life.held_back);
}

enum err learned_rule_list_next(struct store_txn *txn, const struct learned_rule_list *list,
                                struct learned_rule_row *ret_row)
{
    uint64_t seq = 0;
    enum err err = next_seq(list, &seq);

    while (err == OK) {
        err = learned_rule_read(txn, list->org, seq, ret_row);
        if (err == OK && matches(list, &ret_row->record)) {
            return OK;
        }
        if (err == ERR_NOT_FOUND && !by_id(list)) {
            return ERR_CORRUPT;
        }
        if (err == OK || err == ERR_NOT_FOUND) { /* by id: the event created no rule */
            err = next_seq(list, &seq);
        }
    }
    return err;
}
