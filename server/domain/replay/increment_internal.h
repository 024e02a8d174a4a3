/*
 * increment_internal.h: the parts of an increment's records that writing and applying share.
 */
#ifndef ERRATA_SERVER_DOMAIN_REPLAY_INCREMENT_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_REPLAY_INCREMENT_INTERNAL_H

#include "server/domain/replay/increment.h"
#include "server/domain/replay/replay_internal.h"
#include "store/base/buffer.h"

/* Offsets in the payload of an organisation, after its id. */
enum {
    INCREMENT_AFTER_AT = 16,
    INCREMENT_LAST_AT = 24,
    INCREMENT_DIGEST_AT = 32,
    INCREMENT_ORGANIZATION_BYTES = 64
};

_Static_assert(INCREMENT_DIGEST_AT + SHA256_BYTES == INCREMENT_ORGANIZATION_BYTES, "");

/* Returns whether increments have a row of the table META: not what describes one store, nor marks of deletions,
 * which follow from events. */
bool increment_has_meta(struct slice key);

/* --- increment_read.c --- */

struct increment_record {
    enum increment_type type;
    struct slice payload; /* valid until the next record is read */
};

/* The record of an organisation. */
struct increment_log {
    struct org_id org;
    uint64_t after_seq; /* last event before those of the file */
    uint64_t last_seq;
    struct sha256_digest last_envelope_sha256;
};

struct increment_reader {
    const struct increment_source *source;
    uint64_t at;
    uint8_t *payload; /* in the arena */
    struct fault *fault;
};

/* The only error is ERR_MEMORY. */
MUST_CHECK enum err increment_reader_init(struct increment_reader *reader,
                                          const struct increment_source *source,
                                          struct arena *arena, struct fault *fault);
/* Reads the next record. ERR_NOT_FOUND at the end; ERR_CORRUPT for bytes that are not a record. */
MUST_CHECK enum err increment_reader_next(struct increment_reader *reader,
                                          struct increment_record *ret_record);
/* Reports a file that has a valid digest, but not the form of an increment. Returns ERR_CORRUPT. */
enum err increment_say_malformed(const struct increment_source *source, struct fault *fault,
                                 const char *what);
/* Read payloads, whose sizes increment_reader_next has checked. */
struct increment_log increment_read_log(struct slice payload);
uint64_t increment_read_seq(struct slice payload);

/* Returns whether ids, one after another, have this one. */
bool increment_has_id(const struct buffer *ids, struct uuid id);

/* --- increment_check.c --- */

/* What a check found of a file. */
struct increment_findings {
    struct buffer deleted; /* ids of organisations whose deletion began with an event of the file */
    struct buffer deleting; /* ids of organisations that were being deleted when it was written */
    uint64_t organizations;
    uint64_t events; /* events that the store does not have */
};

/* Checks all of a file against the store that it is to be applied to. */
MUST_CHECK enum err increment_check(const struct increment_source *source,
                                    const struct increment_target *target, struct arena *arena,
                                    struct increment_findings *ret_findings);

#endif
