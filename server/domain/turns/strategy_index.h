/*
 * strategy_index.h: the turns of organisations in memory, as a search of strategies needs them: sketches of their vectors,
 * statuses, strategies; in an index of server/domain/vector_index. The kind of a row is its turn's status.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_STRATEGY_INDEX_H
#define ERRATA_SERVER_DOMAIN_TURNS_STRATEGY_INDEX_H

#include "server/domain/turns/turns.h"
#include "server/domain/vector_index/vector_index.h"

/* Maximum turns of all organisations that are kept, about 300 bytes each; a single organisation may have more. */
#define STRATEGY_KEPT_TURNS_MAX 2000000
/* Maximum turns of an organisation that are searched: later ones are not, and the answer reports it. */
#define STRATEGY_TURNS_MAX 1500000

/* Columns of a turn's row. */
enum strategy_column {
    STRATEGY_MARK, /* seq of the event that set its status; 0: none did */
    STRATEGY_HASH, /* strategy_hash; 0: the turn has none */
    STRATEGY_INTENT, /* intent_hash; 0: the turn has none */
    STRATEGY_COLUMNS
};

/* Makes rows of turns, with a vector or without one, ascending by seq. */
extern const struct vector_source strategy_source;

/* Returns the hash of the tool and the folded text in an encoded TurnStrategy; 0 without one. */
MUST_CHECK enum err strategy_hash(struct arena *arena, struct slice strategy, uint64_t *ret_hash);
/* Returns the hash of an intent; 0 for the empty one. */
uint64_t intent_hash(struct slice intent);

#endif
