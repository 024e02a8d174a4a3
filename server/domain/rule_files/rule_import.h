/*
 * rule_import.h: imports a document of rules in one transaction: decides the change of every rule before the first
 * event, then appends one event for each changed rule, in the order of the document; a rule without a change has none.
 */
#ifndef ERRATA_SERVER_DOMAIN_RULE_FILES_RULE_IMPORT_H
#define ERRATA_SERVER_DOMAIN_RULE_FILES_RULE_IMPORT_H

#include "server/domain/events/actor.h"
#include "server/domain/rule_files/rule_import_read.h"
#include "store/work.h"

#include <errata/v1/verdict_service.views.h>

/* Maximum bytes of the listed changes of a response; further ones are only counted. */
#define RULE_IMPORT_CHANGES_BYTES_MAX (2u << 20)

struct rule_import_request {
    struct org_id org;
    struct event_caller caller;
    const struct rule_import *import;
    bool replace; /* rules that the document does not have are retired */
};

/* Appends and applies the events; `ret_result` has no events if nothing changes. */
MUST_CHECK enum err rule_import_write(struct ctx *ctx, struct store_txn *txn,
                                      const struct rule_import_request *request,
                                      struct work_result *ret_result);
/* Appends the response of an import from its events. */
MUST_CHECK enum err rule_import_answer(struct ctx *ctx, struct store_txn *txn,
                                       const struct rule_import *import,
                                       const struct work_result *result, struct buffer *body);
/* Appends the response that an import would have; changes nothing. */
MUST_CHECK enum err rule_import_answer_dry(struct ctx *ctx, struct store_txn *txn,
                                           const struct rule_import_request *request,
                                           struct buffer *body);

#endif
