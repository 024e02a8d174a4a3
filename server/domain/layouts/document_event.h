/*
 * document_event.h: what prepare hands to store: a document's event but for what the transaction
 * gives it.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENT_EVENT_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENT_EVENT_H

#include "server/domain/layouts/documents.h"

struct document_event {
    const struct document_measures *measures;
    struct slice actor_user_id;
    struct slice layout_fingerprint; /* text; empty: none */
    struct sha256_digest measured; /* what its digits tell, where there is one */
    uint32_t text_coverage_hundredths;
    uint32_t text_density_ten_thousandths;
    bool scan;
    struct slice facts; /* wire bytes of Document's facts behind id and created_at */
    struct slice content; /* wire bytes of Document's content */
};

#endif
