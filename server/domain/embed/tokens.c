/*
 * tokens.c: the text in NFKC, a mark U+2581 before it and for each space, and the Viterbi search
 * over its characters, with a trie of the pieces' bytes.
 */
#include "server/domain/embed/tokens.h"

#include "server/domain/embed/letters.h"
#include "store/base/assert.h"

#include <utf8proc.h>

#define SPACE_MARK 0x2581

/* The text that is searched. */
struct marked {
    size_t count; /* characters */
    uint8_t *bytes; /* UTF-8 */
    uint32_t *starts; /* offset of each character, and of the end */
};

/* The best segmentation up to each position between characters. */
struct path {
    double *sums;
    uint16_t *pieces; /* the last piece of the segmentation; 0: the unknown piece */
    uint16_t *lengths; /* number of its characters */
};

/* Encodes the characters with their marks. */
static void encode(const struct points *points, struct marked *marked)
{
    uint32_t at = 0;

    marked->count = 0;
    if (points->count > 0) {
        marked->starts[marked->count++] = at;
        at += (uint32_t)utf8proc_encode_char(SPACE_MARK, marked->bytes + at);
    }
    for (size_t i = 0; i < points->count; i++) {
        uint32_t character = points->at[i] == ' ' ? SPACE_MARK : points->at[i];

        marked->starts[marked->count++] = at;
        at += (uint32_t)utf8proc_encode_char((utf8proc_int32_t)character, marked->bytes + at);
    }
    marked->starts[marked->count] = at;
}

static enum err mark(struct arena *arena, struct slice text, struct marked *ret_marked)
{
    struct points letters = {NULL, 0};
    enum err err = letters_read(arena, text, &letters);

    if (err != OK) {
        return err;
    }
    ret_marked->bytes = (uint8_t *)arena_alloc(arena, 4 * (letters.count + 1));
    ret_marked->starts = (uint32_t *)arena_alloc(arena, (letters.count + 2) * sizeof(uint32_t));
    if (ret_marked->bytes == NULL || ret_marked->starts == NULL) {
        return ERR_MEMORY;
    }
    encode(&letters, ret_marked);
    return OK;
}

/* Returns the child by this byte; 0: there is none. */
static uint32_t find_child(const struct model *model, uint32_t parent, uint8_t byte)
{
    const struct model_node *node = &model->nodes[parent];
    uint32_t low = node->first_child;
    uint32_t high = low + node->child_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (model->labels[middle] == byte) {
            return middle;
        }
        if (model->labels[middle] < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}

/* Replaces the segmentation up to `end` unless the present one is better. A sum of 0 means that there is none. */
static void offer(struct path *path, size_t start, size_t end, double score, uint16_t piece)
{
    double sum = path->sums[start] + score;

    if (path->sums[end] == 0 || sum >= path->sums[end]) {
        path->sums[end] = sum;
        path->pieces[end] = piece;
        path->lengths[end] = (uint16_t)(end - start);
    }
}

/* Tries all pieces that begin at character `start`. */
static void offer_pieces(const struct model *model, const struct marked *marked, size_t start,
                         struct path *path)
{
    uint32_t node = 0;
    uint32_t at = marked->starts[start];
    size_t end = start;
    bool found = false;

    while (at < marked->starts[marked->count]) {
        node = find_child(model, node, marked->bytes[at]);
        if (node == 0) {
            break;
        }
        at++;
        if (at == marked->starts[end + 1]) {
            end++;
            if (model->nodes[node].piece != 0) {
                uint16_t piece = model->nodes[node].piece;

                offer(path, start, end, (double)model->scores[piece], piece);
                found = true;
            }
        }
    }
    if (!found) {
        offer(path, start, start + 1, 0, 0);
    }
}

/* Writes the pieces in order, with each run of unknown pieces as one. */
static void collect(const struct path *path, size_t count, struct tokens *tokens)
{
    size_t pieces = 0;
    size_t at = count;

    /* Works from the end: the pieces move to the end of path->pieces, which is no longer needed. */
    while (at > 0) {
        uint16_t piece = path->pieces[at];
        size_t length = path->lengths[at];

        if (piece != 0 || pieces == 0 || path->pieces[count - pieces + 1] != 0) {
            path->pieces[count - pieces] = piece;
            pieces++;
        }
        at -= length;
    }
    tokens->count = pieces < MODEL_TOKENS_MAX ? pieces : MODEL_TOKENS_MAX;
    memcpy(tokens->ids, path->pieces + count - pieces + 1, tokens->count * sizeof(tokens->ids[0]));
}

enum err tokens_of(const struct model *model, struct arena *arena, struct slice text,
                   struct tokens *ret_tokens)
{
    struct marked marked = {0};
    struct path path = {NULL, NULL, NULL};
    enum err err = OK;

    ret_tokens->count = 0;
    if (text.size == 0) {
        return OK;
    }
    err = mark(arena, text, &marked);
    if (err != OK) {
        return err;
    }
    path.sums = (double *)arena_calloc(arena, marked.count + 1, sizeof(double));
    path.pieces = (uint16_t *)arena_calloc(arena, marked.count + 1, sizeof(uint16_t));
    path.lengths = (uint16_t *)arena_alloc(arena, (marked.count + 1) * sizeof(uint16_t));
    if (path.sums == NULL || path.pieces == NULL || path.lengths == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i <= marked.count; i++) {
        path.lengths[i] = 1;
    }
    for (size_t i = 0; i < marked.count; i++) {
        offer_pieces(model, &marked, i, &path);
    }
    collect(&path, marked.count, ret_tokens);
    return OK;
}
