/*
 * text_service.c: TextService: the sanitiser, for callers that insert text into prompts of their own,
 * and the embedder. A long text is handled as a long read, so that one organisation does not delay
 * others; so is every embedding.
 */
#include "server/domain/embed/calibration.h"
#include "server/domain/embed/embedder.h"
#include "server/domain/text/sanitise.h"
#include "server/pipeline/embedding.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/text_service.fields.h>
#include <errata/v1/text_service.handlers.h>
#include <errata/v1/text_service.views.h>

/* A hostile text of this size takes about a millisecond. */
#define SANITIZE_ON_LOOP_BYTES_MAX ((size_t)4 * 1024)

static enum err read_profile(int32_t number, enum sanitise_profile *ret_profile)
{
    enum sanitize_profile profile = SANITIZE_PROFILE_UNSPECIFIED;

    if (UNEXPECTED(!sanitize_profile_from_wire(number, &profile) ||
                   profile == SANITIZE_PROFILE_UNSPECIFIED)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    switch (profile) {
    case SANITIZE_PROFILE_NOTE:
        *ret_profile = SANITISE_NOTE;
        break;
    case SANITIZE_PROFILE_GUIDELINE:
        *ret_profile = SANITISE_GUIDELINE;
        break;
    case SANITIZE_PROFILE_EXAMPLE:
    case SANITIZE_PROFILE_UNSPECIFIED:
        *ret_profile = SANITISE_EXAMPLE;
        break;
    }
    return OK;
}

enum err text_service_sanitize_cost(struct text_service_sanitize_call *call)
{
    bool is_long = slice_text(call->request->text).size > SANITIZE_ON_LOOP_BYTES_MAX;

    call->cost = is_long ? READ_IS_LONG : READ_IS_SHORT;
    return OK;
}

enum err text_service_sanitize_read(struct text_service_sanitize_call *call)
{
    struct sanitize_response_view response = {.changed = false};
    struct slice given = slice_text(call->request->text);
    enum sanitise_profile profile = SANITISE_NOTE;
    struct sanitised sanitised;
    enum err err = read_profile((int32_t)call->request->profile, &profile);

    if (err != OK) {
        return err;
    }
    sanitised = sanitise_text(call->ctx->arena, profile, given);
    response.text = sanitised.text;
    response.changed = !slice_equal(sanitised.text, given);
    response.failed = sanitised.failed;
    sanitize_response_view_write(&response, call->body);
    return OK;
}

/* Appends each vector as a message. */
static enum err put_vectors(struct arena *arena, const float *vectors, size_t count, size_t width,
                            struct buffer *run)
{
    for (size_t i = 0; i < count; i++) {
        struct text_vector_view row = {0};
        struct buffer values;

        buffer_init(&values, arena, width * sizeof(double));
        for (size_t j = 0; j < width; j++) {
            text_vector_view_add_values(&values, (double)vectors[i * width + j]);
        }
        row.values.run = buffer_slice(&values);
        text_vector_view_put(&row, EMBED_RESPONSE_VECTORS_FIELD, run);
        if (!buffer_ok(&values)) {
            return ERR_MEMORY;
        }
    }
    return buffer_ok(run) ? OK : ERR_MEMORY;
}

enum err text_service_embed_read(struct text_service_embed_call *call)
{
    const struct embedder *embedder = call->service->env->embedder;
    struct embed_response_view response = {.embedder_id = embedder_id(embedder)};
    struct slice texts[EMBEDDER_TEXTS_MAX];
    size_t count = call->request->n_texts;
    struct buffer run;
    float *vectors = NULL;
    enum err err = OK;

    if (UNEXPECTED(count > EMBEDDER_TEXTS_MAX)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    for (size_t i = 0; i < count; i++) {
        texts[i] = slice_text(call->request->texts[i]);
    }
    err = embedding_of_texts(call->service, call->org, texts, count, &vectors);
    if (err != OK) {
        return err;
    }
    buffer_init(&run, call->ctx->arena, count * (embedder_width(embedder) * sizeof(double) + 16));
    err = put_vectors(call->ctx->arena, vectors, count, embedder_width(embedder), &run);
    if (err == OK) {
        response.vectors.run = buffer_slice(&run);
        embed_response_view_write(&response, call->body);
    }
    return err;
}

static enum err read_similarity_profile(int32_t number, enum calibration_profile *ret_profile)
{
    enum similarity_profile profile = SIMILARITY_PROFILE_UNSPECIFIED;

    if (UNEXPECTED(!similarity_profile_from_wire(number, &profile) ||
                   profile == SIMILARITY_PROFILE_UNSPECIFIED)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    switch (profile) {
    case SIMILARITY_PROFILE_FEEDBACK:
        *ret_profile = CALIBRATION_FEEDBACK;
        break;
    case SIMILARITY_PROFILE_STRICT:
        *ret_profile = CALIBRATION_STRICT;
        break;
    case SIMILARITY_PROFILE_QUERY:
    case SIMILARITY_PROFILE_UNSPECIFIED:
        *ret_profile = CALIBRATION_QUERY;
        break;
    }
    return OK;
}

enum err text_service_compare_texts_read(struct text_service_compare_texts_call *call)
{
    const struct embedder *embedder = call->service->env->embedder;
    struct compare_texts_response_view response = {.embedder_id = embedder_id(embedder)};
    struct slice texts[2] = {slice_text(call->request->text_a), slice_text(call->request->text_b)};
    enum calibration_profile profile = CALIBRATION_QUERY;
    struct calibration result;
    float *vectors = NULL;
    enum err err = read_similarity_profile((int32_t)call->request->profile, &profile);

    if (err == OK) {
        err = embedding_of_texts(call->service, call->org, texts, 2, &vectors);
    }
    if (err == OK) {
        err = calibration_compare(
            embedder, call->ctx->arena, profile, texts,
            (const float *const[2]){vectors, vectors + embedder_width(embedder)}, &result);
    }
    if (err != OK) {
        return err;
    }
    response.cosine = (double)result.cosine;
    response.score = (double)result.shown;
    response.numbers_differ = result.numbers_differ;
    if (result.antonyms.found) {
        response.antonym_a = result.antonyms.first;
        response.antonym_b = result.antonyms.second;
    }
    compare_texts_response_view_write(&response, call->body);
    return OK;
}
