/*
 * fuzz_tokens.c: any bytes as a text for the encoder's tokenizer, with a vocabulary that also comes from
 * the bytes. The ids are pieces, at most 128, never two unknown ones in a row, and the same text gives
 * them again.
 */
#include "server/domain/embed/tokens.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"
#include "tools/mkmodel/pack/trie.h"

#define ARENA_BYTES ((size_t)64 << 20)
#define PIECES_MAX 24

/* A model with a vocabulary only. */
static struct model make_vocabulary(struct arena *arena, struct fuzz_input *input)
{
    size_t count = TRIE_RESERVED_IDS + fuzz_take_choice(input, PIECES_MAX - TRIE_RESERVED_IDS);
    struct slice *pieces = (struct slice *)arena_calloc(arena, PIECES_MAX, sizeof(struct slice));
    float *scores = (float *)arena_calloc(arena, PIECES_MAX, sizeof(float));
    struct trie trie = {NULL, NULL, 0};
    enum err err = OK;

    ASSERT(pieces != NULL && scores != NULL);
    for (size_t i = TRIE_RESERVED_IDS; i < count; i++) {
        scores[i] = -(float)fuzz_take_byte(input) / 16;
        pieces[i] = fuzz_take_bytes(input, 1 + fuzz_take_choice(input, 6));
    }
    err = trie_build(arena, pieces, count, &trie);
    ASSERT(err == OK);
    return (struct model){.piece_count = (uint32_t)count,
                          .node_count = trie.count,
                          .nodes = trie.nodes,
                          .labels = trie.labels,
                          .scores = scores};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    struct tokens tokens;
    struct tokens again;
    struct model model;
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, ARENA_BYTES);
    model = make_vocabulary(&arena, &input);
    err = tokens_of(&model, &arena, input.rest, &tokens);
    ASSERT(err == OK && tokens.count <= MODEL_TOKENS_MAX);
    ASSERT((tokens.count == 0) == (input.rest.size == 0));
    for (size_t i = 0; i < tokens.count; i++) {
        ASSERT(tokens.ids[i] < model.piece_count);
        ASSERT(i == 0 || tokens.ids[i] != 0 || tokens.ids[i - 1] != 0);
    }
    err = tokens_of(&model, &arena, input.rest, &again);
    ASSERT(err == OK && again.count == tokens.count);
    ASSERT(memcmp(again.ids, tokens.ids, tokens.count * sizeof(tokens.ids[0])) == 0);
    arena_deinit(&arena);
    return 0;
}
