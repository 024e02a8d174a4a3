/*
 * keys.h: keys of extractions, made of the pieces of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_KEYS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_KEYS_H

#include "server/domain/events/subject.h"
#include "store/keys.h"

struct key key_extraction(struct org_id org, uint64_t seq);
/* The newest extraction of a document (SUBJECT_DOCUMENT) or draft order (SUBJECT_DRAFT_ORDER). */
struct key key_extraction_subject(struct org_id org, enum subject_kind kind, struct slice id);

#endif
