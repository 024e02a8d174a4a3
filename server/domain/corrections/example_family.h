/*
 * example_family.h: the layout family whose examples are served for a document or a layout, and whether an example
 * belonged to it at an earlier time.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_FAMILY_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_FAMILY_H

#include "server/domain/events/feedback.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/keys.h"

/* The document or layout whose family is requested. */
struct example_family_query {
    struct org_id org;
    const struct document_state *document; /* NULL: not known, or not specified */
    const struct key_fingerprint *fingerprint;
    uint64_t as_of_seq; /* UINT64_MAX: now */
};

/* Returns the members of the document's family. If the document is not known, returns those of the family to
 * which all documents of the layout belong. Without a family `ret_family` has no members. */
MUST_CHECK enum err example_family_find(struct store_txn *txn,
                                        const struct example_family_query *query,
                                        struct family_members *ret_family);
/* Returns whether the example of a feedback event, which has or had a row in the family of `member_seq`, belonged to it after the
 * event `as_of_seq`, which is not before its own: it joins when its document is measured, and leaves if its document is
 * moved. */
MUST_CHECK enum err example_family_had(struct store_txn *txn, struct org_id org,
                                       const struct feedback_event_view *view, uint64_t member_seq,
                                       uint64_t as_of_seq, bool *ret_had);

#endif
