/*
 * list.h: one page of learned rules, oldest first. Lists of a pattern are in the order of the types, lists by id in
 * the order of the ids, which is that of creation.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_LIST_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_LIST_H

#include "server/domain/verdicts/rules.h"
#include "store/id_prefix.h"

struct learned_rule_list {
    struct org_id org;
    enum learned_rule_type rule_type; /* UNSPECIFIED: any */
    struct slice pattern; /* empty: any */
    bool has_enabled; /* select only rules whose `enabled` is the member below */
    bool enabled;
    struct id_prefix id_prefix; /* if it has digits: only rules with such ids */
    struct page *page;
};

MUST_CHECK enum err learned_rule_list_begin(struct store_txn *txn,
                                            const struct learned_rule_list *list);
/* Returns the next rule, borrowed from the transaction. ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err learned_rule_list_next(struct store_txn *txn,
                                           const struct learned_rule_list *list,
                                           struct learned_rule_row *ret_row);

#endif
