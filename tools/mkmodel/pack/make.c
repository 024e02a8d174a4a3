/*
 * make.c: copies the package's tensors, which are where its model.json says (the package is checked by
 * its hash, so their places are constants here), into the sections of a model file.
 */
#include "tools/mkmodel/pack/make.h"

#include "store/base/assert.h"
#include "store/base/json.h"
#include "tools/mkmodel/pack/package.h"
#include "tools/mkmodel/pack/trie.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SHARDS 7
#define INT8_MAX_WEIGHT 127.0F

/* Offsets of a linear layer's tensors in the package's weights, in bytes. */
struct tensor_linear {
    size_t weights;
    size_t bias;
};

struct tensor_norm {
    size_t scale;
    size_t bias;
};

struct tensor_layer {
    struct tensor_norm attention_norm;
    struct tensor_linear query_key_value;
    struct tensor_linear attention_out;
    struct tensor_linear residual;
    struct tensor_norm feed_norm;
    struct tensor_linear feed_in;
    struct tensor_linear feed_out;
};

#define EMBEDDINGS_AT 18132056
#define TIMESCALES_AT 26326104

static const struct tensor_layer tensor_layers[2] = {
    {{16814124, 16815152},
     {16816176, 17602608},
     {17605720, 18130008},
     {26326616, 26850904},
     {16801816, 16803864},
     {13656088, 16805916},
     {10510360, 16812064}},
    {{6303748, 6305796},
     {6307844, 9453572},
     {9459736, 10508312},
     {0, 0},
     {6291456, 6293504},
     {3145728, 6295552},
     {0, 6301696}},
};
static const struct tensor_linear tensor_result = {26853024, 27901600};

static const float *tensor(const struct make_source *source, size_t at, size_t count)
{
    ASSERT(at + count * sizeof(float) <= source->weights.size);
    return (const float *)(const void *)(source->weights.data + at);
}

/* The sections of a located model are part of a buffer that is being filled. */
static void fill(const void *section, const void *bytes, size_t size)
{
    memcpy((void *)section, bytes, size);
}

static void fill_floats(const struct make_source *source, const float *section, size_t at,
                        size_t count)
{
    fill(section, tensor(source, at, count), count * sizeof(float));
}

/* Returns the value of 1, and 127 for the largest of the numbers. */
static float scale_of(const float *numbers, size_t count, size_t stride)
{
    float largest = 0;

    for (size_t i = 0; i < count; i++) {
        float size = fabsf(numbers[i * stride]);

        largest = size > largest ? size : largest;
    }
    return largest / INT8_MAX_WEIGHT;
}

static int8_t round_to(float number, float scale)
{
    long rounded = scale > 0 ? lrintf(number / scale) : 0;

    ASSERT(rounded >= INT8_MIN && rounded <= INT8_MAX);
    return (int8_t)rounded;
}

static void fill_linear(const struct make_source *source, enum model_weights weights,
                        const struct model_linear *linear, struct tensor_linear at)
{
    const float *numbers = tensor(source, at.weights, (size_t)linear->in * linear->out);

    fill_floats(source, linear->bias, at.bias, linear->out);
    for (size_t j = 0; j < linear->out; j++) {
        size_t panel = j / MODEL_PANEL * linear->in * MODEL_PANEL;
        float scale = scale_of(numbers + j, linear->in, linear->out);

        if (weights == MODEL_INT8) {
            ((float *)linear->scales)[j] = scale;
        }
        for (size_t i = 0; i < linear->in; i++) {
            float number = numbers[i * linear->out + j];

            if (weights == MODEL_INT8) {
                size_t pair = panel + (i / 2) * 2 * MODEL_PANEL;

                ((int8_t *)linear->weights)[pair + 2 * (j % MODEL_PANEL) + i % 2] =
                    round_to(number, scale);
            } else {
                ((float *)linear->weights)[panel + i * MODEL_PANEL + j % MODEL_PANEL] = number;
            }
        }
    }
}

static void fill_norm(const struct make_source *source, const struct model_norm *norm, size_t width,
                      struct tensor_norm at)
{
    fill_floats(source, norm->scale, at.scale, width);
    fill_floats(source, norm->bias, at.bias, width);
}

static void fill_layer(const struct make_source *source, enum model_weights weights,
                       const struct model_layer *layer, const struct tensor_layer *at)
{
    fill_norm(source, &layer->attention_norm, layer->width, at->attention_norm);
    fill_linear(source, weights, &layer->query_key_value, at->query_key_value);
    fill_linear(source, weights, &layer->attention_out, at->attention_out);
    if (layer->residual.in > 0) {
        fill_linear(source, weights, &layer->residual, at->residual);
    }
    fill_norm(source, &layer->feed_norm, MODEL_WIDE, at->feed_norm);
    fill_linear(source, weights, &layer->feed_in, at->feed_in);
    fill_linear(source, weights, &layer->feed_out, at->feed_out);
}

static void fill_embeddings(const struct make_source *source, const struct model *model)
{
    const float *rows = tensor(source, EMBEDDINGS_AT, (size_t)MODEL_EMBEDDING_ROWS * MODEL_NARROW);

    if (model->weights == MODEL_FLOAT) {
        fill(model->embeddings, rows, (size_t)MODEL_EMBEDDING_ROWS * MODEL_NARROW * sizeof(float));
        return;
    }
    for (size_t row = 0; row < MODEL_EMBEDDING_ROWS; row++) {
        float scale = scale_of(rows + row * MODEL_NARROW, MODEL_NARROW, 1);

        ((float *)model->embedding_scales)[row] = scale;
        for (size_t i = 0; i < MODEL_NARROW; i++) {
            size_t at = row * MODEL_NARROW + i;

            ((int8_t *)model->embeddings)[at] = round_to(rows[at], scale);
        }
    }
}

static void fill_list(const struct model_words *list, const struct slice *words)
{
    uint32_t end = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        memcpy((char *)list->text + end, words[i].data, words[i].size);
        end += (uint32_t)words[i].size;
        ((uint32_t *)list->ends)[i] = end;
    }
}

static void fill_words(const struct make_words *words, const struct model *model)
{
    fill_list(&model->words, words->words);
    for (size_t word = 0; word < words->count; word++) {
        const float *vector = words->vectors + word * MODEL_WORD_WIDTH;
        float scale = scale_of(vector, MODEL_WORD_WIDTH, 1);

        ((float *)model->word_scales)[word] = scale;
        for (size_t i = 0; i < MODEL_WORD_WIDTH; i++) {
            ((int8_t *)model->word_vectors)[word * MODEL_WORD_WIDTH + i] =
                round_to(vector[i], scale);
        }
    }
}

static void fill_model(const struct make_source *source, const struct trie *trie,
                       const struct model *model)
{
    fill(model->nodes, trie->nodes, trie->count * sizeof(trie->nodes[0]));
    fill(model->labels, trie->labels, trie->count);
    fill(model->scores, source->scores, source->piece_count * sizeof(float));
    fill_floats(source, model->timescales, TIMESCALES_AT, MODEL_TIMESCALES);
    fill_embeddings(source, model);
    for (size_t i = 0; i < 2; i++) {
        fill_layer(source, model->weights, &model->layers[i], &tensor_layers[i]);
    }
    fill_linear(source, model->weights, &model->result, tensor_result);
    fill_words(&source->words, model);
    fill_list(&model->antonym_words, source->antonyms.words);
    if (source->antonyms.pair_count > 0) {
        fill(model->antonyms, source->antonyms.pairs,
             source->antonyms.pair_count * sizeof(source->antonyms.pairs[0]));
    }
}

static size_t count_bytes(const struct slice *words, size_t count)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        bytes += words[i].size;
    }
    return bytes;
}

/* Fills the counts in; false if there is more than a file may have. */
static bool begin_head(const struct make_source *source, const struct trie *trie,
                       struct model_head *head)
{
    size_t word_bytes = count_bytes(source->words.words, source->words.count);
    size_t antonym_bytes = count_bytes(source->antonyms.words, source->antonyms.word_count);

    memcpy(head->magic, MODEL_MAGIC, sizeof(head->magic));
    head->piece_count = (uint32_t)source->piece_count;
    head->node_count = trie->count;
    head->word_count = (uint32_t)source->words.count;
    head->word_bytes = (uint32_t)word_bytes;
    head->antonym_word_count = (uint32_t)source->antonyms.word_count;
    head->antonym_word_bytes = (uint32_t)antonym_bytes;
    head->antonym_count = (uint32_t)source->antonyms.pair_count;
    return source->weights.size == MAKE_WEIGHTS_BYTES && source->piece_count <= MODEL_PIECES_MAX &&
           trie->count <= MODEL_NODES_MAX && source->words.count <= MODEL_WORDS_MAX &&
           word_bytes <= MODEL_WORD_BYTES_MAX &&
           source->antonyms.word_count <= MODEL_ANTONYM_WORDS_MAX &&
           antonym_bytes <= MODEL_WORD_BYTES_MAX &&
           source->antonyms.pair_count <= MODEL_ANTONYMS_MAX;
}

enum err make_model(struct arena *arena, const struct make_source *source,
                    enum model_weights weights, struct slice *ret_file)
{
    struct model_head head = {.weights = (uint32_t)weights};
    struct trie trie = {NULL, NULL, 0};
    struct model model;
    struct slice file = {NULL, 0};
    uint8_t *bytes = NULL;
    enum err err = trie_build(arena, source->pieces, source->piece_count, &trie);

    if (err != OK) {
        return err;
    }
    if (!begin_head(source, &trie, &head)) {
        return ERR_INVALID;
    }
    file.size = model_bytes(&head);
    bytes = (uint8_t *)arena_calloc(arena, 1, file.size + MODEL_ALIGN_BYTES);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    bytes += (MODEL_ALIGN_BYTES - (uintptr_t)bytes % MODEL_ALIGN_BYTES) % MODEL_ALIGN_BYTES;
    memcpy(bytes, &head, sizeof(head));
    file.data = bytes;
    model_locate(file, &model);
    fill_model(source, &trie, &model);
    *ret_file = file;
    return OK;
}

/* Reads a pair of a piece and its score. The package has null for the colon's score; the reference
 * implementation calculates with it as with 0. */
static enum err read_pair(struct arena *arena, struct json_value pair, struct slice *ret_piece,
                          float *ret_score)
{
    struct json_walk walk = json_walk_start(pair);
    struct json_value piece;
    struct json_value score;
    struct slice key;
    char number[64];
    char *end = NULL;

    if (!json_walk_next(&walk, &key, &piece) || piece.kind != JSON_STRING ||
        !json_walk_next(&walk, &key, &score) ||
        (score.kind != JSON_NUMBER && score.kind != JSON_NULL) ||
        score.text.size >= sizeof(number)) {
        return ERR_INVALID;
    }
    if (score.kind == JSON_NULL) {
        *ret_score = 0;
        return json_string(arena, piece.text, ret_piece);
    }
    memcpy(number, score.text.data, score.text.size);
    number[score.text.size] = '\0';
    *ret_score = strtof(number, &end);
    if (end == number || !isfinite(*ret_score)) {
        return ERR_INVALID;
    }
    return json_string(arena, piece.text, ret_piece);
}

enum err make_read_vocabulary(struct arena *arena, struct slice json, struct make_source *source,
                              struct fault *fault)
{
    static const struct json_rules rules = {.depth_max = 2};
    struct slice *pieces =
        (struct slice *)arena_alloc(arena, MODEL_PIECES_MAX * sizeof(struct slice));
    float *scores = (float *)arena_alloc(arena, MODEL_PIECES_MAX * sizeof(float));
    struct json_problem problem = {NULL, 0};
    struct json_value top;
    struct json_value pair;
    struct json_walk walk;
    struct slice key;
    enum err err = json_check(arena, json, &rules, &top, &problem);

    if (pieces == NULL || scores == NULL) {
        return ERR_MEMORY;
    }
    if (err != OK || top.kind != JSON_ARRAY) {
        return fault_say(fault, ERR_INVALID, "vocabulary: invalid JSON; expected an array");
    }
    source->piece_count = 0;
    walk = json_walk_start(top);
    while (json_walk_next(&walk, &key, &pair)) {
        if (source->piece_count == MODEL_PIECES_MAX || pair.kind != JSON_ARRAY ||
            read_pair(arena, pair, &pieces[source->piece_count], &scores[source->piece_count]) !=
                OK) {
            return fault_say(fault, ERR_INVALID,
                             "vocabulary: invalid entry %zu; expected a pair of a piece and its "
                             "score, at most %d",
                             source->piece_count, MODEL_PIECES_MAX);
        }
        source->piece_count++;
    }
    source->pieces = pieces;
    source->scores = scores;
    return OK;
}

/* Concatenates the shards. */
static enum err read_weights(struct arena *arena, struct slice tar, struct slice *ret_weights,
                             struct fault *fault)
{
    uint8_t *bytes = (uint8_t *)arena_alloc(arena, MAKE_WEIGHTS_BYTES);
    size_t size = 0;

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    for (int shard = 1; shard <= SHARDS; shard++) {
        struct slice content = {NULL, 0};
        char name[64];

        (void)snprintf(name, sizeof(name), "package/dist/group1-shard%dof%d", shard, SHARDS);
        if (!package_find(tar, name, &content) || content.size > MAKE_WEIGHTS_BYTES - size) {
            return fault_say(fault, ERR_INVALID, "package: no file %s of the expected size", name);
        }
        memcpy(bytes + size, content.data, content.size);
        size += content.size;
    }
    *ret_weights = slice_of(bytes, size);
    return OK;
}

enum err make_read_package(struct arena *arena, struct slice package, struct make_source *source,
                           struct fault *fault)
{
    struct slice tar = {NULL, 0};
    struct slice vocabulary = {NULL, 0};
    enum err err = package_check(package, SLICE(MAKE_PACKAGE_SHA512), fault);

    if (err == OK) {
        err = package_unpack(arena, package, &tar, fault);
    }
    if (err == OK && !package_find(tar, "package/dist/vocab.json", &vocabulary)) {
        err = fault_say(fault, ERR_INVALID, "package: no file package/dist/vocab.json");
    }
    if (err == OK) {
        err = make_read_vocabulary(arena, vocabulary, source, fault);
    }
    return err == OK ? read_weights(arena, tar, &source->weights, fault) : err;
}
