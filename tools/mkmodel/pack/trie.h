/*
 * trie.h: builds the trie of a vocabulary as the model file stores it (server/domain/embed/model.h).
 */
#ifndef ERRATA_TOOLS_MKMODEL_PACK_TRIE_H
#define ERRATA_TOOLS_MKMODEL_PACK_TRIE_H

#include "server/domain/embed/model.h"
#include "store/base/arena.h"

/* The first ids are special tokens, not pieces of text. */
#define TRIE_RESERVED_IDS 6

struct trie {
    struct model_node *nodes;
    uint8_t *labels;
    uint32_t count;
};

/* Builds the trie of all pieces but the reserved ones. Of equal pieces the last id is kept. */
MUST_CHECK enum err trie_build(struct arena *arena, const struct slice *pieces, size_t count,
                               struct trie *ret_trie);

#endif
