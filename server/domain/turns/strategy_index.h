/*
 * strategy_index.h: the turns of organisations in memory, as a search of strategies needs them: sketches of their vectors,
 * statuses, strategies. Nothing is stored: each use first applies the new events of the log, so
 * that an index never disagrees with the log, and a missing one is rebuilt. The most recently used
 * organisations are kept.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_STRATEGY_INDEX_H
#define ERRATA_SERVER_DOMAIN_TURNS_STRATEGY_INDEX_H

#include "server/domain/turns/turns.h"

#include <stdatomic.h>

/* Maximum organisations that are kept. */
#define STRATEGY_ORGS_MAX 64
/* Maximum turns of all organisations that are kept, about 300 bytes each; a single organisation may have more. */
#define STRATEGY_KEPT_TURNS_MAX 2000000
/* Maximum turns of an organisation that are searched: later ones are not, and the answer reports it. */
#define STRATEGY_TURNS_MAX 1500000
/* Maximum spaces of vectors of an organisation; turns of later ones are not found. */
#define STRATEGY_SPACES_MAX 32
/* The number that means no space. */
#define STRATEGY_NO_SPACE UINT8_MAX

/* The turns of an organisation, in the order of their events. */
struct strategy_rows {
    struct arena arena; /* arena of the columns */
    uint64_t applied_seq; /* the last event that was applied */
    size_t count;
    size_t room;
    bool is_cut; /* there were more turns than STRATEGY_TURNS_MAX */
    uint64_t
        erased_by_seq; /* the last erasure of turns that were without content when they were added; 0: none */
    uint64_t *seqs; /* seqs of the event that recorded the turn; ascending */
    uint64_t *marks; /* marks of the event that set its status; 0: none did */
    uint64_t *strategies; /* strategy_hash; 0: the turn has none */
    uint64_t *intents; /* intent_hash; 0: the turn has none */
    uint8_t *statuses; /* enum turn_status */
    uint8_t *spaces; /* index in `space_names`; STRATEGY_NO_SPACE */
    int8_t *sketches; /* VECTORS_SKETCH_BYTES each */
    struct slice space_names[STRATEGY_SPACES_MAX]; /* in `space_bytes` */
    uint8_t space_bytes[STRATEGY_SPACES_MAX][TURN_SPACE_BYTES_MAX];
    size_t space_count;
};

struct strategy_index;

/* Creates an empty index in the arena, which must outlive it. ERR_MEMORY. */
MUST_CHECK enum err strategy_index_new(struct arena *arena, struct strategy_index **ret_index);
/* Frees what the index owns; no use may be open. Accepts NULL. */
void strategy_index_deinit(struct strategy_index *index);
/* Returns the rows of an organisation, with all events of the transaction, for exclusive use until
 * strategy_index_end. It may have rows of turns after the transaction's last event, if another
 * thread's transaction was newer. Fails with ERR_BUSY if too many organisations are in use,
 * ERR_CANCELLED, ERR_MEMORY, or as the store does; then nothing is open. */
MUST_CHECK enum err strategy_index_begin(struct strategy_index *index, struct store_txn *txn,
                                         struct org_id org, const atomic_bool *cancelled,
                                         const struct strategy_rows **ret_rows);
void strategy_index_end(struct strategy_index *index, const struct strategy_rows *rows);
/* Builds the rows of an organisation as they were after the event `as_of_seq`, outside the index;
 * the caller frees them with strategy_rows_free, also after a failure. Reads the whole log up to
 * that event. ERR_CANCELLED, ERR_MEMORY, or as the store does. */
MUST_CHECK enum err strategy_rows_make(struct strategy_rows *rows, struct store_txn *txn,
                                       struct org_id org, uint64_t as_of_seq,
                                       const atomic_bool *cancelled);
void strategy_rows_free(struct strategy_rows *rows);

/* Returns the hash of the tool and the folded text in an encoded TurnStrategy; 0 without one. */
MUST_CHECK enum err strategy_hash(struct arena *arena, struct slice strategy, uint64_t *ret_hash);
/* Returns the hash of an intent; 0 for the empty one. */
uint64_t intent_hash(struct slice intent);
/* Returns the number of a space; STRATEGY_NO_SPACE for an unknown one. */
uint8_t strategy_space(const struct strategy_rows *rows, struct slice space);

#endif
