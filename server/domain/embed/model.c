/*
 * model.c: the sections of a model file follow its head in a fixed order; one walk serves both to
 * compute the size and to find them.
 */
#include "server/domain/embed/model.h"

#include <math.h>

_Static_assert(sizeof(struct model_head) == MODEL_ALIGN_BYTES, "sections begin after the head");
_Static_assert(sizeof(struct model_node) == 8, "nodes are stored as they are");
_Static_assert(sizeof(struct model_antonym) == 4, "pairs are stored as they are");

/* The position in a file. Without data it only counts. */
struct cursor {
    const uint8_t *data;
    size_t at;
};

static const void *take(struct cursor *cursor, size_t bytes)
{
    const void *section = cursor->data != NULL ? cursor->data + cursor->at : NULL;

    cursor->at += (bytes + MODEL_ALIGN_BYTES - 1) / MODEL_ALIGN_BYTES * MODEL_ALIGN_BYTES;
    return section;
}

static const float *take_floats(struct cursor *cursor, size_t count)
{
    return (const float *)take(cursor, count * sizeof(float));
}

static const void *take_weights(struct cursor *cursor, enum model_weights weights, size_t count)
{
    return take(cursor, count * (weights == MODEL_INT8 ? sizeof(int8_t) : sizeof(float)));
}

static struct model_linear take_linear(struct cursor *cursor, enum model_weights weights,
                                       uint32_t in, uint32_t out)
{
    struct model_linear linear = {.in = in, .out = out};

    linear.weights = take_weights(cursor, weights, (size_t)in * out);
    if (weights == MODEL_INT8) {
        linear.scales = take_floats(cursor, out);
    }
    linear.bias = take_floats(cursor, out);
    return linear;
}

static struct model_norm take_norm(struct cursor *cursor, size_t width)
{
    struct model_norm norm;

    norm.scale = take_floats(cursor, width);
    norm.bias = take_floats(cursor, width);
    return norm;
}

static struct model_layer take_layer(struct cursor *cursor, enum model_weights weights,
                                     uint32_t width)
{
    struct model_layer layer = {.width = width};

    layer.attention_norm = take_norm(cursor, width);
    layer.query_key_value = take_linear(cursor, weights, width, 3 * width);
    layer.attention_out = take_linear(cursor, weights, width, MODEL_WIDE);
    if (width != MODEL_WIDE) {
        layer.residual = take_linear(cursor, weights, width, MODEL_WIDE);
    }
    layer.feed_norm = take_norm(cursor, MODEL_WIDE);
    layer.feed_in = take_linear(cursor, weights, MODEL_WIDE, MODEL_FEED);
    layer.feed_out = take_linear(cursor, weights, MODEL_FEED, MODEL_WIDE);
    return layer;
}

static struct model_words take_words(struct cursor *cursor, uint32_t count, uint32_t bytes)
{
    struct model_words words = {.count = count};

    words.ends = (const uint32_t *)take(cursor, count * sizeof(uint32_t));
    words.text = (const char *)take(cursor, bytes);
    return words;
}

/* Returns the position after the last section. */
static size_t walk(const struct model_head *head, const uint8_t *data, struct model *model)
{
    struct cursor cursor = {data, sizeof(*head)};

    model->weights = head->weights == MODEL_INT8 ? MODEL_INT8 : MODEL_FLOAT;
    model->piece_count = head->piece_count;
    model->node_count = head->node_count;
    model->nodes =
        (const struct model_node *)take(&cursor, head->node_count * sizeof(struct model_node));
    model->labels = (const uint8_t *)take(&cursor, head->node_count);
    model->scores = take_floats(&cursor, head->piece_count);
    model->timescales = take_floats(&cursor, MODEL_TIMESCALES);
    model->embeddings =
        take_weights(&cursor, model->weights, (size_t)MODEL_EMBEDDING_ROWS * MODEL_NARROW);
    model->embedding_scales =
        model->weights == MODEL_INT8 ? take_floats(&cursor, MODEL_EMBEDDING_ROWS) : NULL;
    model->layers[0] = take_layer(&cursor, model->weights, MODEL_NARROW);
    model->layers[1] = take_layer(&cursor, model->weights, MODEL_WIDE);
    model->result = take_linear(&cursor, model->weights, MODEL_WIDE, MODEL_WIDE);
    model->words = take_words(&cursor, head->word_count, head->word_bytes);
    model->word_vectors =
        (const int8_t *)take(&cursor, (size_t)head->word_count * MODEL_WORD_WIDTH);
    model->word_scales = take_floats(&cursor, head->word_count);
    model->antonym_words = take_words(&cursor, head->antonym_word_count, head->antonym_word_bytes);
    model->antonym_count = head->antonym_count;
    model->antonyms = (const struct model_antonym *)take(&cursor, head->antonym_count *
                                                                      sizeof(struct model_antonym));
    return cursor.at;
}

size_t model_bytes(const struct model_head *head)
{
    struct model model;

    return walk(head, NULL, &model);
}

void model_locate(struct slice bytes, struct model *ret_model)
{
    struct model_head head;

    memcpy(&head, bytes.data, sizeof(head));
    (void)walk(&head, bytes.data, ret_model);
}

static bool head_is_valid(const struct model_head *head)
{
    return memcmp(head->magic, MODEL_MAGIC, sizeof(head->magic)) == 0 &&
           (head->weights == MODEL_FLOAT || head->weights == MODEL_INT8) && head->piece_count > 0 &&
           head->piece_count <= MODEL_PIECES_MAX && head->node_count > 0 &&
           head->node_count <= MODEL_NODES_MAX && head->word_count <= MODEL_WORDS_MAX &&
           head->word_bytes <= MODEL_WORD_BYTES_MAX &&
           head->antonym_word_count <= MODEL_ANTONYM_WORDS_MAX &&
           head->antonym_word_bytes <= MODEL_WORD_BYTES_MAX &&
           head->antonym_count <= MODEL_ANTONYMS_MAX;
}

/* A walk from the root therefore ends, and meets only ids of pieces. */
static bool trie_is_valid(const struct model *model)
{
    for (uint32_t i = 0; i < model->node_count; i++) {
        const struct model_node *node = &model->nodes[i];

        if (node->piece >= model->piece_count ||
            (node->child_count > 0 &&
             (node->first_child <= i || node->first_child >= model->node_count ||
              node->child_count > model->node_count - node->first_child))) {
            return false;
        }
    }
    return true;
}

static bool all_finite(const float *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i])) {
            return false;
        }
    }
    return true;
}

/* Every word is then inside the text. Words in another order would only not be found. */
static bool words_are_valid(const struct model_words *words, uint32_t bytes)
{
    uint32_t end = 0;

    for (uint32_t i = 0; i < words->count; i++) {
        if (words->ends[i] < end || words->ends[i] > bytes) {
            return false;
        }
        end = words->ends[i];
    }
    return true;
}

static bool antonyms_are_valid(const struct model *model)
{
    for (uint32_t i = 0; i < model->antonym_count; i++) {
        if (model->antonyms[i].word >= model->antonym_words.count ||
            model->antonyms[i].other >= model->antonym_words.count) {
            return false;
        }
    }
    return true;
}

enum err model_open(struct slice bytes, struct model *ret_model)
{
    struct model_head head;
    struct model model;

    if (bytes.size < sizeof(head)) {
        return ERR_CORRUPT;
    }
    memcpy(&head, bytes.data, sizeof(head));
    if (!head_is_valid(&head) || model_bytes(&head) != bytes.size) {
        return ERR_CORRUPT;
    }
    model_locate(bytes, &model);
    if (!trie_is_valid(&model) || !all_finite(model.scores, model.piece_count) ||
        !all_finite(model.timescales, MODEL_TIMESCALES) ||
        !words_are_valid(&model.words, head.word_bytes) ||
        !all_finite(model.word_scales, model.words.count) ||
        !words_are_valid(&model.antonym_words, head.antonym_word_bytes) ||
        !antonyms_are_valid(&model)) {
        return ERR_CORRUPT;
    }
    *ret_model = model;
    return OK;
}
