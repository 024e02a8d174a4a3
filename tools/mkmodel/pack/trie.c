/*
 * trie.c: the pieces are sorted; a node is a range of them with a common beginning. Nodes are made in
 * order of depth, so that children are adjacent and after their parent.
 */
#include "tools/mkmodel/pack/trie.h"

#include <stdlib.h>

/* A piece with its id, for sorting. */
struct entry {
    struct slice piece;
    uint32_t id;
};

/* The pieces of a node: those of `from` up to `to` share their first `depth` bytes. */
struct range {
    uint32_t from;
    uint32_t to;
    uint32_t depth;
};

struct builder {
    const struct entry *entries;
    struct range *ranges; /* range of each node */
    struct trie trie;
    uint32_t max;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = (const struct entry *)a;
    const struct entry *right = (const struct entry *)b;
    int order = slice_compare(left->piece, right->piece);

    return order != 0 ? order : (left->id > right->id) - (left->id < right->id);
}

/* Adds a child for each next byte of the node's pieces. */
static void add_children(struct builder *builder, uint32_t index)
{
    struct range range = builder->ranges[index];
    struct model_node *node = &builder->trie.nodes[index];
    uint32_t at = range.from;

    while (at < range.to && builder->entries[at].piece.size == range.depth) {
        node->piece = (uint16_t)builder->entries[at].id;
        at++;
    }
    node->first_child = at < range.to ? builder->trie.count : 0;
    while (at < range.to) {
        uint8_t label = builder->entries[at].piece.data[range.depth];
        uint32_t child = builder->trie.count++;
        uint32_t from = at;

        while (at < range.to && builder->entries[at].piece.data[range.depth] == label) {
            at++;
        }
        builder->ranges[child] = (struct range){from, at, range.depth + 1};
        builder->trie.labels[child] = label;
        node->child_count++;
    }
}

enum err trie_build(struct arena *arena, const struct slice *pieces, size_t count,
                    struct trie *ret_trie)
{
    struct builder builder = {.max = 1};
    struct entry *entries = (struct entry *)arena_alloc(arena, (count + 1) * sizeof(struct entry));
    uint32_t used = 0;

    if (entries == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = TRIE_RESERVED_IDS; i < count; i++) {
        entries[used++] = (struct entry){pieces[i], (uint32_t)i};
        builder.max += (uint32_t)pieces[i].size;
    }
    qsort(entries, used, sizeof(entries[0]), compare_entries);
    builder.entries = entries;
    builder.ranges = (struct range *)arena_alloc(arena, builder.max * sizeof(struct range));
    builder.trie.nodes =
        (struct model_node *)arena_calloc(arena, builder.max, sizeof(struct model_node));
    builder.trie.labels = (uint8_t *)arena_calloc(arena, builder.max, 1);
    if (builder.ranges == NULL || builder.trie.nodes == NULL || builder.trie.labels == NULL) {
        return ERR_MEMORY;
    }
    builder.ranges[0] = (struct range){0, used, 0};
    builder.trie.count = 1;
    for (uint32_t i = 0; i < builder.trie.count; i++) {
        add_children(&builder, i);
    }
    *ret_trie = builder.trie;
    return OK;
}
