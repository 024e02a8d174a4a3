/*
 * embedding.h: computes the vectors of a request's texts. Embedding takes a millisecond or more for each text, so it
 * never runs on the loop or the writer thread: a method that writes has `stage: STAGE_PREPARE_ON_POOL` in its options,
 * and its X_prepare calls the functions here and keeps the vectors in `prepared`; a read has
 * EXECUTION_ON_POOL. The decisions of a write that depend on a vector are recorded in its event,
 * with the embedder's id: apply never embeds.
 */
#ifndef ERRATA_SERVER_PIPELINE_EMBEDDING_H
#define ERRATA_SERVER_PIPELINE_EMBEDDING_H

#include "server/domain/embed/embedder.h"
#include "server/domain/vectors/vectors.h"
#include "server/pipeline/service.h"

/* Maximum length of a space's id: of an embedder, or of the caller's vectors. */
#define EMBEDDING_SPACE_BYTES_MAX 16

/* A vector of length 1, or of zeros. Only vectors of the same space may be compared. */
struct embedding {
    struct slice
        space; /* the embedder's id; `caller:WIDTH` for vectors of callers; empty: there is no vector */
    size_t width; /* at most VECTORS_WIDTH_MAX */
    const float *values;
    enum embedder_kind kind; /* for the map to shown scores (server/domain/embed/calibration.h) */
    bool has_model;
    bool is_callers; /* the shown score is the cosine itself */
};

/* Embeds texts of an organisation, a few at a time, into the arena of the service's ctx. `ret_vectors` has
 * embedder_width numbers for each text. ERR_MEMORY, or ERR_CANCELLED if the call was cancelled meanwhile. */
MUST_CHECK enum err embedding_of_texts(const struct service *service, struct org_id org,
                                       const struct slice *texts, size_t count,
                                       float **ret_vectors);
/* Does the same for one text; the result is valid as long as the arena. */
MUST_CHECK enum err embedding_of_text(const struct service *service, struct org_id org,
                                      struct slice text, struct embedding *ret_embedding);
/* Reads a vector that the caller sent, and scales it to length 1. A number that is not finite, a
 * vector of zeros and one with more than VECTORS_WIDTH_MAX numbers are faults of `field`; if there
 * are no numbers, there is no vector. ERR_MEMORY. */
MUST_CHECK enum err embedding_of_values(struct ctx *ctx, struct slice field, const float *values,
                                        size_t count, struct embedding *ret_embedding);

#endif
