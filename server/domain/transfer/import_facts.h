/*
 * import_facts.h: replaces the exported organisation's id in the facts of an event; for this folder only.
 */
#ifndef ERRATA_SERVER_DOMAIN_TRANSFER_IMPORT_FACTS_H
#define ERRATA_SERVER_DOMAIN_TRANSFER_IMPORT_FACTS_H

#include "store/log.h"

/* The ids of an organisation that is imported. */
struct import_ids {
    struct uuid exported;
    struct uuid imported;
};

/* Returns a copy of the event's facts, in which each field `org_id` with the exported id has the other one. ERR_CORRUPT for
 * facts that are not a message of the event's kind. */
MUST_CHECK enum err import_facts_replace(struct arena *arena, const struct event *event,
                                         const struct import_ids *ids, struct slice *ret_facts);

#endif
