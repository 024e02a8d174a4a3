/*
 * vector_index.h: the vectors of organisations in memory, as searches need them: sketches, spaces, and what a capability
 * keeps of each. Nothing is stored: each use first applies the new events of the log, so that an index never disagrees with
 * it, and a missing one is built again. The most recently used organisations are kept. Exact vectors are read from the
 * tables, by the transaction of the search.
 */
#ifndef ERRATA_SERVER_DOMAIN_VECTOR_INDEX_VECTOR_INDEX_H
#define ERRATA_SERVER_DOMAIN_VECTOR_INDEX_VECTOR_INDEX_H

#include "store/log.h"

#include <stdatomic.h>

/* Maximum organisations that are kept. */
#define VECTOR_INDEX_ORGS_MAX 64
/* Maximum spaces of vectors of an organisation; vectors of later ones are not found. */
#define VECTOR_INDEX_SPACES_MAX 32
/* Maximum bytes of a space: a name, or the hash of one. */
#define VECTOR_INDEX_SPACE_BYTES_MAX 16
/* Space number of a vector without a space. */
#define VECTOR_INDEX_NO_SPACE UINT8_MAX
/* Maximum columns of a capability. */
#define VECTOR_INDEX_COLUMNS_MAX 3

/* The rows of an organisation. */
struct vector_rows {
    struct arena arena; /* arena of the columns */
    uint64_t applied_seq; /* the last event that was applied */
    size_t count;
    size_t room;
    bool is_cut; /* there were more than the source's `rows_max` */
    uint64_t
        erased_by_seq; /* the last erasure of events that were without content when they were added, if the source notes it */
    uint64_t *seqs; /* seqs of the events that recorded them */
    uint64_t
        *columns[VECTOR_INDEX_COLUMNS_MAX]; /* numbers of the capability; NULL beyond its count */
    uint8_t *kinds; /* kinds of rows, by the capability, as vectors_search ranks them */
    uint8_t *spaces; /* index in `space_names`; VECTOR_INDEX_NO_SPACE */
    int8_t *sketches; /* VECTORS_SKETCH_BYTES each */
    struct slice space_names[VECTOR_INDEX_SPACES_MAX]; /* in `space_bytes` */
    uint8_t space_bytes[VECTOR_INDEX_SPACES_MAX][VECTOR_INDEX_SPACE_BYTES_MAX];
    size_t space_count;
};

/* How a capability makes rows. */
struct vector_source {
    size_t column_count; /* at most VECTOR_INDEX_COLUMNS_MAX */
    size_t rows_max; /* maximum rows of an organisation, with those that were forgotten */
    size_t
        kept_max; /* maximum rows of all organisations that are kept; a single organisation may have more */
    /* Applies an event that the rows do not have. The scratch arena is reset now and then. */
    enum err (*apply)(struct vector_rows *rows, struct arena *scratch, struct store_txn *txn,
                      const struct event *event);
    /* Makes all rows from the tables, as fast as they can be read; used if the rows lack more than `gap_max` events. NULL:
     * every event is applied. ERR_CANCELLED. */
    enum err (*fill)(struct vector_rows *rows, struct store_txn *txn, struct org_id org,
                     const atomic_bool *cancelled);
    uint64_t gap_max;
};

struct vector_index;

/* Creates an empty index in the arena, which must outlive it, as must the source. ERR_MEMORY. */
MUST_CHECK enum err vector_index_new(struct arena *arena, const struct vector_source *source,
                                     struct vector_index **ret_index);
/* Frees what the index owns; no use may be open. Accepts NULL. */
void vector_index_deinit(struct vector_index *index);
/* Returns the rows of an organisation, with all events of the transaction, for exclusive use until
 * vector_index_end. It may have rows of events after the transaction's last one, if another
 * thread's transaction was newer. Fails with ERR_BUSY if too many organisations are in use,
 * ERR_CANCELLED, ERR_MEMORY, or as the store does; then nothing is open. */
MUST_CHECK enum err vector_index_begin(struct vector_index *index, struct store_txn *txn,
                                       struct org_id org, const atomic_bool *cancelled,
                                       const struct vector_rows **ret_rows);
void vector_index_end(struct vector_index *index, const struct vector_rows *rows);
/* Frees the rows of an organisation that was deleted: at once, or if they are in use, at the end of their last use. Any
 * thread. */
void vector_index_forget(struct vector_index *index, struct org_id org);
/* Builds the rows of an organisation as they were after the event `as_of_seq`, outside an index;
 * the caller frees them with vector_rows_free, also after a failure. Reads the whole log up to
 * that event. ERR_CANCELLED, ERR_MEMORY, or as the store does. */
MUST_CHECK enum err vector_rows_make(struct vector_rows *rows, const struct vector_source *source,
                                     struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                                     const atomic_bool *cancelled);
void vector_rows_free(struct vector_rows *rows);

/* For a source: makes room for one more row, which the caller then sets at `count`; its sketch, columns, kind and
 * space are undefined. ERR_NOT_FOUND, and `is_cut` is set, if there are `rows_max`. */
MUST_CHECK enum err vector_rows_reserve(struct vector_rows *rows,
                                        const struct vector_source *source);
/* Forgets the vector of a row, whose content was removed: it is in no space. */
void vector_rows_forget(struct vector_rows *rows, size_t at);
/* Returns the number of a space, which is added if it is new and there is room. */
uint8_t vector_rows_add_space(struct vector_rows *rows, struct slice space);
/* Returns the number of a space; VECTOR_INDEX_NO_SPACE for an unknown one. */
uint8_t vector_rows_space(const struct vector_rows *rows, struct slice space);

#endif
