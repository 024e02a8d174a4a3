/*
 * records.h: rows of examples and of corrections by entity as plain C, and their bytes: messages of
 * proto/record/corrections.proto. The rules of store/records.h apply: slices are borrowed from the bytes, and
 * bytes that cannot be decoded are ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_RECORDS_H

#include "server/domain/text/hint.h"
#include "store/key.h"

/* Maximum names in one list of a row: the maximum of an event's `fields_changed`. */
#define RECORD_NAMES_MAX 200

#define EXAMPLE_DOCUMENT_HASH_BYTES 8

/* EXAMPLE, key_example: the constant values of an example. Its seq and created_at are in the key. */
struct example_record {
    /* The event's id: UUID_BYTES, or only those after UUID_TIME_BYTES if the others follow from created_at. */
    struct slice id;
    struct slice document_hash; /* EXAMPLE_DOCUMENT_HASH_BYTES, or empty: no document was named. */
    uint32_t annotator_kind; /* an enum annotator (store/log.h) */
    /* Wire bytes of the constant fields of errata.v1.Example, except id, layout_fingerprint and created_at,
     * which follow from the key, `id` and the layout. */
    struct slice example;
    struct hint_packed hint; /* sanitised, with `example` as the dictionary */
    uint8_t hint_hash[KEY_HASH_BYTES]; /* the first bytes of the SHA-256 of the complete hint */
    uint64_t copy_hash; /* the same for examples with equal snippets and, as JSON, equal outputs */
};

/* EXAMPLE_MARK: the mark of an example that is no longer in the head. A mark without values has no row. */
struct example_mark_record {
    uint64_t superseded_by_seq; /* 0: it is not superseded */
    uint64_t carried_count; /* as in struct layout_mark */
    uint64_t carried_sum;
};

/* EXAMPLE_RETRACTED: an example that was retracted. */
struct retracted_example_record {
    uint64_t retracted_by_seq; /* not 0 */
    uint64_t superseded_by_seq; /* 0: it was not superseded when it was retracted */
    struct slice row; /* the row that the example had in EXAMPLE */
};

struct record_names {
    struct slice items[RECORD_NAMES_MAX];
    size_t count;
};

/* ENTITY: one correction of an entity, so that a later one can mark its example. Its seq is in the key. */
struct entity_record {
    /* The fields that were not corrected again later. Empty: all fields that the event changed. */
    struct record_names remaining;
};

/* The shortest form of an event's id for its example's row, borrowed from the event; and the id of a row. */
struct slice example_id_shorten(const struct uuid *id, int64_t created_at_us);
struct uuid example_id_restore(const struct example_record *record, int64_t created_at_us);

MUST_CHECK enum err record_decode_example(struct slice bytes, struct example_record *ret_record);
MUST_CHECK enum err record_decode_example_mark(struct slice bytes,
                                               struct example_mark_record *ret_record);
MUST_CHECK enum err record_decode_retracted_example(struct slice bytes,
                                                    struct retracted_example_record *ret_record);
MUST_CHECK enum err record_decode_entity(struct slice bytes, struct entity_record *ret_record);

MUST_CHECK enum err record_encode_example(struct arena *arena, const struct example_record *record,
                                          struct slice *ret_bytes);
/* Encodes the row of an example, without padding, as a part of another row. */
MUST_CHECK enum err record_encode_example_part(struct arena *arena,
                                               const struct example_record *record,
                                               struct slice *ret_bytes);
MUST_CHECK enum err record_encode_example_mark(struct arena *arena,
                                               const struct example_mark_record *record,
                                               struct slice *ret_bytes);
MUST_CHECK enum err record_encode_retracted_example(struct arena *arena,
                                                    const struct retracted_example_record *record,
                                                    struct slice *ret_bytes);
MUST_CHECK enum err record_encode_entity(struct arena *arena, const struct entity_record *record,
                                         struct slice *ret_bytes);

#endif
