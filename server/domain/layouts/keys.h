/*
 * keys.h: keys of layouts: their cluster, documents and profiles, built from the parts of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_KEYS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_KEYS_H

#include "store/key.h"

/* A layout in a key: the first bytes of the SHA-256 of its fingerprint, which may be any text. */
struct key_fingerprint {
    uint8_t bytes[KEY_HASH_BYTES];
};

struct key_fingerprint key_fingerprint_of(struct slice layout_fingerprint);
/* Prefix of a layout's cluster: its examples, oldest first, then its head row. New rows are appended near the
 * end, where LMDB fills pages well, and a lookup walks backwards from the head. */
struct key key_layout_prefix(struct org_id org, const struct key_fingerprint *fingerprint);
struct key key_layout_head(struct org_id org, const struct key_fingerprint *fingerprint);
/* An example in its layout's cluster. */
struct key key_example(struct org_id org, const struct key_fingerprint *fingerprint,
                       int64_t created_at_us, uint64_t seq);
/* Reads created_at and seq of a key that key_example made. ERR_CORRUPT for a key of another length. */
MUST_CHECK enum err key_read_example(struct slice key, int64_t *ret_created_at_us,
                                     uint64_t *ret_seq);
/* A document by the caller's id. */
struct key key_document(struct org_id org, struct slice document_id);
/* All documents of an organisation (prefix: key_org), and those of a layout (prefix:
 * key_layout_prefix), newest first. */
struct key key_document_time(struct org_id org, int64_t created_at_us, uint64_t seq);
struct key key_document_layout(struct org_id org, const struct key_fingerprint *fingerprint,
                               int64_t created_at_us, uint64_t seq);
struct key key_profile(struct org_id org, const struct key_fingerprint *fingerprint);
/* The two orders of profiles (prefix: key_org). `measured` is the digest whose hex form is the measured
 * fingerprint, so that ties are sorted by fingerprint. */
struct key key_profile_last_seen(struct org_id org, int64_t last_seen_at_us,
                                 const struct sha256_digest *measured);
struct key key_profile_most_seen(struct org_id org, uint64_t seen_count,
                                 const struct sha256_digest *measured);
/* A family by the seq of the event that created it, newest first (prefix: key_org). */
struct key key_family(struct org_id org, uint64_t family_seq);
/* A sketch by the seq of the newest document that has it, oldest first (prefix: key_org). */
struct key key_family_sketch(struct org_id org, uint64_t seq);
/* The layouts of a family's documents, and their prefix. */
struct key key_family_prefix(struct org_id org, uint64_t family_seq);
struct key key_family_layout(struct org_id org, uint64_t family_seq,
                             const struct key_fingerprint *fingerprint);
/* The families of a layout's documents (prefix: key_layout_prefix); `family_seq` 0: documents without family.
 */
struct key key_layout_family(struct org_id org, const struct key_fingerprint *fingerprint,
                             uint64_t family_seq);
/* The documents of a family (prefix: key_family_prefix), newest first. */
struct key key_family_document(struct org_id org, uint64_t family_seq, int64_t created_at_us,
                               uint64_t seq);
/* The examples of a family (prefix: key_family_prefix), newest first. */
struct key key_family_example(struct org_id org, uint64_t family_seq, int64_t created_at_us,
                              uint64_t seq);
/* A family that a document was moved from, by the split that did so, oldest first (prefix: key_document). */
struct key key_document_moved(struct org_id org, struct slice document_id, uint64_t split_seq);
/* A family that lost its last document of a layout, by the split that did so (prefix: key_layout_prefix). */
struct key key_layout_family_past(struct org_id org, const struct key_fingerprint *fingerprint,
                                  uint64_t family_seq, uint64_t split_seq);
/* Reads both seqs of such a key. ERR_CORRUPT for a key that is too short. */
MUST_CHECK enum err key_read_layout_family_past(struct slice key, uint64_t *ret_family_seq,
                                                uint64_t *ret_split_seq);
/* An event that merged families or undid a merge, newest first (prefix: key_org). */
struct key key_family_change(struct org_id org, uint64_t seq);
/* Reads the seq of a key that key_family or key_family_change made. ERR_CORRUPT for a key of another length. */
MUST_CHECK enum err key_read_family_change(struct slice key, uint64_t *ret_seq);
/* Reads the seq at the end of a key_family_sketch, key_layout_family or key_document_moved. ERR_CORRUPT for a key that is
 * too short. */
MUST_CHECK enum err key_read_last_seq(struct slice key, uint64_t *ret_seq);
/* Returns ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_profile_order(struct slice key, struct sha256_digest *ret_measured);

#endif
