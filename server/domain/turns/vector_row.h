/*
 * vector_row.h: the stored vector of a turn's query. It is not a projection, since the event has
 * only the embedder's id. Without it, a message is compared by n-grams, and a search does not find
 * the turn. Numbers are kept as 16-bit integers, of which 32,767 is 1: the cosine of two vectors of
 * length 1 changes by less than 0.0001.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_VECTOR_ROW_H
#define ERRATA_SERVER_DOMAIN_TURNS_VECTOR_ROW_H

#include "server/domain/embed/embedder.h"
#include "server/domain/vectors/vectors.h"
#include "store/base/arena.h"
#include "store/key.h"

/* Maximum length of a space's id. */
#define TURN_SPACE_BYTES_MAX 16

/* A vector of length 1 in a space; only vectors of one space are compared. */
struct turn_vector {
    struct slice space; /* the embedder's id, or `caller:WIDTH`; empty without a vector */
    size_t width;
    const float *values;
    bool is_callers; /* the shown similarity is the cosine itself */
    enum embedder_kind kind; /* kind of the embedder, for the map to shown similarities */
};

/* Stores the vector of a turn. Fails with ERR_MEMORY or an error of the store. */
MUST_CHECK enum err turn_vector_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                                    uint64_t seq, const struct turn_vector *vector);
/* Reads the vector into the arena, without is_callers and kind. ERR_NOT_FOUND without a row. */
MUST_CHECK enum err turn_vector_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                                     uint64_t seq, struct turn_vector *ret_vector);
/* Reads a vector of this space and width into `ret_values`. ERR_NOT_FOUND if the stored vector
 * differs in these, or there is none. */
MUST_CHECK enum err turn_vector_load(struct store_txn *txn, struct org_id org, uint64_t seq,
                                     const struct turn_vector *like, float *ret_values);
/* Deletes the vector of a turn, if it has one. */
MUST_CHECK enum err turn_vector_del(struct store_txn *txn, struct org_id org, uint64_t seq);

#endif
