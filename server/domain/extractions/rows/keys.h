/*
 * keys.h: keys of extractions, built from the parts of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_KEYS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_KEYS_H

#include "server/domain/events/subject.h"
#include "store/keys.h"

/* The kind of id under which an extraction is recorded. The numbers are stored in facts and keys and must never
 * change. */
enum extraction_key_kind {
    EXTRACTION_KEY_NONE = 0, /* no id: each call records a new extraction */
    EXTRACTION_KEY_ID = 1, /* extraction_id */
    EXTRACTION_KEY_DOCUMENT = 2,
    EXTRACTION_KEY_DRAFT_ORDER = 3
};

struct key key_extraction(struct org_id org, uint64_t seq);
/* The extractions of a document (SUBJECT_DOCUMENT) or draft order (SUBJECT_DRAFT_ORDER), and one of them. */
struct key key_extraction_subject_prefix(struct org_id org, enum subject_kind kind,
                                         struct slice id);
struct key key_extraction_subject(struct org_id org, enum subject_kind kind, struct slice id,
                                  int64_t served_at_us, uint64_t seq);
/* The extractions that took over a correction, and one of them. */
struct key key_extraction_kept_prefix(struct org_id org, uint64_t correction_seq);
struct key key_extraction_kept(struct org_id org, uint64_t correction_seq, uint64_t seq);
/* Reads the seq of the extraction from a key that key_extraction_kept made. ERR_CORRUPT for a key of another
 * length. */
MUST_CHECK enum err key_read_extraction_kept(struct slice key, uint64_t *ret_seq);
/* The key of the current extraction of an id. */
struct key key_extraction_key(struct org_id org, enum extraction_key_kind kind, struct slice id);

#endif
