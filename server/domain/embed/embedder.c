/*
 * embedder.c: builds vectors from their parts, and caches them by the hash of scope and text: a
 * set-associative cache that replaces the least recently used place. The lock is held only while
 * one vector is copied.
 */
#include "server/domain/embed/embedder.h"

#include "server/domain/embed/bag.h"
#include "store/base/assert.h"
#include "store/base/sha256.h"

#include <math.h>
#include <pthread.h>

/* Places of a set; with fewer, texts in use would replace each other. */
#define CACHE_WAYS 4
#define CACHE_SETS (EMBEDDER_CACHE_VECTORS / CACHE_WAYS)
/* A change of ngrams.c that changes vectors changes this text, and the magic of model files. */
#define NGRAMS_VERSION SLICE("errata n-grams 1")

/* A cached vector. */
struct place {
    struct sha256_digest key;
    uint64_t used_at; /* 0: empty */
};

/* The shares were chosen on graded pairs of sentences and on review comments. */
static const struct embedder_part_place parts[EMBEDDER_KINDS][EMBEDDER_PARTS] = {
    [EMBEDDER_NGRAMS] = {{0, 0, 0}, {0, 0, 0}, {0, NGRAMS_WIDTH, 100}},
    [EMBEDDER_ENCODER] = {{0, MODEL_WIDE, 65}, {MODEL_WIDE, 0, 0}, {MODEL_WIDE, NGRAMS_WIDTH, 35}},
    [EMBEDDER_WORDS] = {{0, MODEL_WIDE, 50},
                        {MODEL_WIDE, MODEL_WORD_WIDTH, 25},
                        {MODEL_WIDE + MODEL_WORD_WIDTH, NGRAMS_WIDTH, 25}},
};

struct embedder {
    char id[2 * SHA256_BYTES]; /* the first EMBEDDER_ID_BYTES are the id */
    enum linear_path path;
    enum embedder_kind kind;
    struct model model; /* zeros without a model */
    size_t width;
    pthread_mutex_t lock; /* protects all members below */
    struct place *places; /* EMBEDDER_CACHE_VECTORS; NULL without a model: n-grams are cheap */
    float *vectors; /* one for each place */
    uint64_t turn;
    struct embedder_counts counts;
};

/* Texts of a call that are not in the cache. */
struct missing {
    size_t count;
    size_t indices[EMBEDDER_TEXTS_MAX];
};

static size_t width_of(enum embedder_kind kind)
{
    const struct embedder_part_place *last = &parts[kind][EMBEDDER_PARTS - 1];

    return last->from + last->width;
}

static enum err open_model(struct embedder *embedder, struct arena *arena, struct slice file)
{
    enum err err = model_open(file, &embedder->model);

    if (err != OK) {
        return err;
    }
    embedder->kind = embedder->model.words.count > 0 ? EMBEDDER_WORDS : EMBEDDER_ENCODER;
    embedder->places =
        (struct place *)arena_calloc(arena, EMBEDDER_CACHE_VECTORS, sizeof(struct place));
    embedder->vectors = (float *)arena_alloc(arena, EMBEDDER_CACHE_VECTORS *
                                                        width_of(embedder->kind) * sizeof(float));
    return embedder->places != NULL && embedder->vectors != NULL ? OK : ERR_MEMORY;
}

enum err embedder_new(struct arena *arena, struct slice model_file, struct embedder **ret_embedder)
{
    struct embedder *embedder = (struct embedder *)arena_calloc(arena, 1, sizeof(struct embedder));
    struct sha256_digest digest;
    enum err err = OK;

    if (embedder == NULL) {
        return ERR_MEMORY;
    }
    embedder->path = linear_best_path();
    if (model_file.size > 0) {
        err = open_model(embedder, arena, model_file);
    }
    if (err != OK) {
        return err;
    }
    embedder->width = width_of(embedder->kind);
    digest = sha256(model_file.size > 0 ? model_file : NGRAMS_VERSION);
    sha256_format(&digest, embedder->id);
    if (pthread_mutex_init(&embedder->lock, NULL) != 0) {
        return ERR_MEMORY;
    }
    *ret_embedder = embedder;
    return OK;
}

void embedder_free(struct embedder *embedder)
{
    if (embedder != NULL) {
        (void)pthread_mutex_destroy(&embedder->lock);
    }
}

struct slice embedder_id(const struct embedder *embedder)
{
    return slice_of(embedder->id, EMBEDDER_ID_BYTES);
}

const struct embedder_part_place *embedder_parts(enum embedder_kind kind)
{
    return parts[kind];
}

enum embedder_kind embedder_kind(const struct embedder *embedder)
{
    return embedder->kind;
}

bool embedder_has_model(const struct embedder *embedder)
{
    return embedder->kind != EMBEDDER_NGRAMS;
}

size_t embedder_width(const struct embedder *embedder)
{
    return embedder->width;
}

struct embedder_counts embedder_read_counts(struct embedder *embedder)
{
    struct embedder_counts counts;

    (void)pthread_mutex_lock(&embedder->lock);
    counts = embedder->counts;
    (void)pthread_mutex_unlock(&embedder->lock);
    return counts;
}

static struct sha256_digest key_of(struct slice scope, struct slice text)
{
    uint64_t scope_bytes = scope.size;
    struct slice pieces[3] = {slice_of(&scope_bytes, sizeof(scope_bytes)), scope, text};

    return sha256_pieces(pieces, 3);
}

/* Returns the first place of the key's set. */
static size_t set_of(const struct sha256_digest *key)
{
    return ((size_t)key->bytes[0] | (size_t)key->bytes[1] << 8) % CACHE_SETS * CACHE_WAYS;
}

/* Copies a vector from the cache; false if it is not there. Counts the text. */
static bool cache_find(struct embedder *embedder, const struct sha256_digest *key, float *vector)
{
    size_t first = set_of(key);
    bool found = false;

    (void)pthread_mutex_lock(&embedder->lock);
    embedder->counts.texts++;
    for (size_t i = first; embedder->places != NULL && i < first + CACHE_WAYS && !found; i++) {
        struct place *place = &embedder->places[i];

        if (place->used_at != 0 && memcmp(&place->key, key, sizeof(*key)) == 0) {
            place->used_at = ++embedder->turn;
            embedder->counts.cache_hits++;
            memcpy(vector, embedder->vectors + i * embedder->width,
                   embedder->width * sizeof(vector[0]));
            found = true;
        }
    }
    (void)pthread_mutex_unlock(&embedder->lock);
    return found;
}

static void cache_keep(struct embedder *embedder, const struct sha256_digest *key,
                       const float *vector)
{
    size_t first = set_of(key);
    size_t oldest = first;

    if (embedder->places == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&embedder->lock);
    for (size_t i = first + 1; i < first + CACHE_WAYS; i++) {
        oldest = embedder->places[i].used_at < embedder->places[oldest].used_at ? i : oldest;
    }
    embedder->places[oldest] = (struct place){*key, ++embedder->turn};
    memcpy(embedder->vectors + oldest * embedder->width, vector,
           embedder->width * sizeof(vector[0]));
    (void)pthread_mutex_unlock(&embedder->lock);
}

/* Runs the encoder for the missing texts, all in one batch. */
static enum err encode(const struct embedder *embedder, struct arena *arena,
                       const struct slice *texts, const struct missing *missing, float *encoded)
{
    struct tokens *tokens =
        (struct tokens *)arena_alloc(arena, missing->count * sizeof(struct tokens));

    if (tokens == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < missing->count; i++) {
        enum err err = tokens_of(&embedder->model, arena, texts[missing->indices[i]], &tokens[i]);

        if (err != OK) {
            return err;
        }
    }
    return encoder_embed(&embedder->model, embedder->path, arena, tokens, missing->count, encoded);
}

static void scale(float *numbers, size_t count, float factor)
{
    for (size_t i = 0; i < count; i++) {
        numbers[i] *= factor;
    }
}

/* Scales each part by the square root of its share, and makes the length of the whole 1: less than that if a part is
 * zero. */
static void join(enum embedder_kind kind, float *vector)
{
    size_t width = width_of(kind);
    double squares = 0;

    for (size_t part = 0; part < EMBEDDER_PARTS; part++) {
        const struct embedder_part_place *place = &parts[kind][part];

        scale(vector + place->from, place->width, sqrtf((float)place->share / 100.0F));
    }
    for (size_t i = 0; i < width; i++) {
        squares += (double)vector[i] * (double)vector[i];
    }
    if (squares > 0) {
        scale(vector, width, (float)(1 / sqrt(squares)));
    }
}

/* Writes the vector of one text, whose encoder part is `encoded` (NULL without a model). */
static enum err finish_one(const struct embedder *embedder, struct arena *arena, struct slice text,
                           const float *encoded, float *vector)
{
    const struct embedder_part_place *places = parts[embedder->kind];
    enum err err = ngrams_of(arena, text, vector + places[EMBEDDER_PART_NGRAMS].from);

    if (err == OK && embedder->kind == EMBEDDER_WORDS) {
        err = bag_embed(&embedder->model, arena, text, vector + places[EMBEDDER_PART_WORDS].from);
    }
    if (err == OK && encoded != NULL) {
        memcpy(vector, encoded, MODEL_WIDE * sizeof(vector[0]));
        join(embedder->kind, vector);
    }
    return err;
}

static enum err embed_missing(const struct embedder *embedder, struct arena *arena,
                              const struct slice *texts, const struct missing *missing,
                              float *vectors)
{
    float *encoded = NULL;
    enum err err = OK;

    if (embedder->kind != EMBEDDER_NGRAMS) {
        encoded = (float *)arena_alloc(arena, missing->count * MODEL_WIDE * sizeof(float));
        if (encoded == NULL) {
            return ERR_MEMORY;
        }
        err = encode(embedder, arena, texts, missing, encoded);
    }
    for (size_t i = 0; i < missing->count && err == OK; i++) {
        size_t index = missing->indices[i];

        err = finish_one(embedder, arena, texts[index],
                         encoded != NULL ? encoded + i * MODEL_WIDE : NULL,
                         vectors + index * embedder->width);
    }
    return err;
}

enum err embedder_embed(struct embedder *embedder, struct arena *arena, struct slice scope,
                        const struct slice *texts, size_t count, float *ret_vectors)
{
    struct sha256_digest keys[EMBEDDER_TEXTS_MAX];
    struct missing missing = {0};
    enum err err = OK;

    ASSERT(count <= EMBEDDER_TEXTS_MAX);
    for (size_t i = 0; i < count; i++) {
        keys[i] = key_of(scope, texts[i]);
        if (!cache_find(embedder, &keys[i], ret_vectors + i * embedder->width)) {
            missing.indices[missing.count++] = i;
        }
    }
    if (missing.count == 0) {
        return OK;
    }
    err = embed_missing(embedder, arena, texts, &missing, ret_vectors);
    for (size_t i = 0; i < missing.count && err == OK; i++) {
        size_t index = missing.indices[i];

        cache_keep(embedder, &keys[index], ret_vectors + index * embedder->width);
    }
    return err;
}

enum err embedder_find_antonyms(const struct embedder *embedder, struct arena *arena,
                                const struct slice texts[2], struct antonyms *ret_antonyms)
{
    return antonyms_find(&embedder->model, arena, texts[0], texts[1], ret_antonyms);
}

float embedder_cosine(const float *a, const float *b, size_t width)
{
    double product = 0;
    double squares_a = 0;
    double squares_b = 0;

    for (size_t i = 0; i < width; i++) {
        product += (double)a[i] * (double)b[i];
        squares_a += (double)a[i] * (double)a[i];
        squares_b += (double)b[i] * (double)b[i];
    }
    if (squares_a == 0 || squares_b == 0) {
        return 0;
    }
    product /= sqrt(squares_a * squares_b);
    return (float)fmax(-1, fmin(1, product));
}
