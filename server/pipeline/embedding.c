/*
 * embedding.c: computes the vectors of a request's texts by the server's embedder, or reads those of the caller.
 */
#include "server/pipeline/embedding.h"

#include "server/domain/embed/embedder.h"
#include "server/pipeline/env.h"

#include <math.h>

/* Number of texts after which the call checks whether it was cancelled: at most 0.1 s. */
#define EMBEDDED_AT_ONCE 8

_Static_assert(EMBEDDER_ID_BYTES <= EMBEDDING_SPACE_BYTES_MAX, "an embedder's id is a space");

enum err embedding_of_texts(const struct service *service, struct org_id org,
                            const struct slice *texts, size_t count, float **ret_vectors)
{
    struct embedder *embedder = service->env->embedder;
    struct slice scope = slice_of(&org, sizeof(org));
    size_t width = embedder_width(embedder);
    float *vectors = (float *)arena_alloc(service->ctx->arena, count * width * sizeof(float));

    if (vectors == NULL) {
        return ERR_MEMORY;
    }
    for (size_t from = 0; from < count; from += EMBEDDED_AT_ONCE) {
        size_t some = count - from < EMBEDDED_AT_ONCE ? count - from : EMBEDDED_AT_ONCE;
        enum err err = embedder_embed(embedder, service->ctx->arena, scope, texts + from, some,
                                      vectors + from * width);

        if (err != OK) {
            return err;
        }
        if (service_is_cancelled(service)) {
            return ERR_CANCELLED;
        }
    }
    *ret_vectors = vectors;
    return OK;
}

enum err embedding_of_text(const struct service *service, struct org_id org, struct slice text,
                           struct embedding *ret_embedding)
{
    const struct embedder *embedder = service->env->embedder;
    float *vector = NULL;
    enum err err = embedding_of_texts(service, org, &text, 1, &vector);

    if (err == OK) {
        *ret_embedding = (struct embedding){
            .space = embedder_id(embedder),
            .width = embedder_width(embedder),
            .values = vector,
            .kind = embedder_kind(embedder),
            .has_model = embedder_has_model(embedder),
        };
    }
    return err;
}

/* Returns the length of a vector; 0 if a number is not finite. */
static double length_of(const float *values, size_t count)
{
    double squares = 0;

    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return 0;
        }
        squares += (double)values[i] * (double)values[i];
    }
    return sqrt(squares);
}

enum err embedding_of_values(struct ctx *ctx, struct slice field, const float *values, size_t count,
                             struct embedding *ret_embedding)
{
    double length = 0;
    float *vector = NULL;

    *ret_embedding = (struct embedding){.is_callers = true};
    if (count == 0) {
        return OK;
    }
    length = count <= VECTORS_WIDTH_MAX ? length_of(values, count) : 0;
    if (length == 0) {
        fault_add(ctx->fault, field,
                  "%zu numbers without a direction; expected at most %d finite numbers, not all 0",
                  count, VECTORS_WIDTH_MAX);
        return OK;
    }
    vector = (float *)arena_alloc(ctx->arena, count * sizeof(float));
    ret_embedding->space = arena_printf(ctx->arena, "caller:%zu", count);
    if (vector == NULL || ret_embedding->space.size == 0) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        vector[i] = (float)((double)values[i] / length);
    }
    ret_embedding->width = count;
    ret_embedding->values = vector;
    return OK;
}
