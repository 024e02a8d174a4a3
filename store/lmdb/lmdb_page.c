/*
 * lmdb_page.c: validates the numbers of a page before they are used. Offsets are those of struct
 * MDB_page, MDB_node, MDB_db and MDB_meta.
 */
#include "store/lmdb/lmdb_page.h"

#include <string.h>

#define META_FLAG 0x08u
#define MAGIC 0xBEEFC0DEu
#define DATA_VERSION 1u
#define FREE_LIST_FLAGS 0x08u /* keys are numbers */

#define NODE_HEAD_BYTES 8u
#define KEY_BYTES_MAX 511u
#define NODE_OVERFLOW 0x01u
#define NODE_TREE 0x02u
#define NODE_FLAGS (NODE_OVERFLOW | NODE_TREE)

static uint16_t read_16(const uint8_t *bytes)
{
    uint16_t number = 0;

    memcpy(&number, bytes, sizeof(number));
    return number;
}

static uint32_t read_32(const uint8_t *bytes)
{
    uint32_t number = 0;

    memcpy(&number, bytes, sizeof(number));
    return number;
}

static uint64_t read_64(const uint8_t *bytes)
{
    uint64_t number = 0;

    memcpy(&number, bytes, sizeof(number));
    return number;
}

struct lmdb_tree lmdb_tree_read(const uint8_t *bytes)
{
    return (struct lmdb_tree){.flags = read_16(bytes + 4),
                              .depth = read_16(bytes + 6),
                              .leaf_pages = read_64(bytes + 16),
                              .entries = read_64(bytes + 32),
                              .root = read_64(bytes + 40)};
}

const char *lmdb_meta_read(const uint8_t *bytes, uint64_t number, struct lmdb_meta *ret_meta)
{
    const uint8_t *meta = bytes + LMDB_PAGE_HEAD_BYTES;
    const uint8_t *trees = meta + 24;
    struct lmdb_meta found = {.page_bytes = read_32(trees),
                              .free_list = lmdb_tree_read(trees),
                              .names = lmdb_tree_read(trees + LMDB_TREE_BYTES),
                              .last_page = read_64(trees + 2 * LMDB_TREE_BYTES),
                              .txn = read_64(trees + 2 * LMDB_TREE_BYTES + 8)};

    if (read_64(bytes) != number || read_16(bytes + 10) != META_FLAG || read_32(meta) != MAGIC) {
        return "is not a meta page of LMDB";
    }
    if (read_32(meta + 4) != DATA_VERSION) {
        return "has another version of LMDB's format";
    }
    if (found.page_bytes < LMDB_PAGE_BYTES_MIN || found.page_bytes > LMDB_PAGE_BYTES_MAX ||
        (found.page_bytes & (found.page_bytes - 1)) != 0) {
        return "has an invalid page size";
    }
    if (found.free_list.flags != FREE_LIST_FLAGS || found.names.flags != 0) {
        return "has invalid flags";
    }
    if (found.last_page < LMDB_META_COUNT - 1 || found.last_page == LMDB_PAGE_NONE) {
        return "has an invalid last page";
    }
    if (found.txn != 0 && (found.txn & 1) != number) {
        return "has a commit number that belongs into the other one";
    }
    *ret_meta = found;
    return NULL;
}

uint32_t lmdb_page_count(const struct lmdb_page *page)
{
    return (read_16(page->bytes + 12) - LMDB_PAGE_HEAD_BYTES) / 2;
}

static bool is_branch(const struct lmdb_page *page)
{
    return read_16(page->bytes + 10) == LMDB_PAGE_BRANCH;
}

static uint32_t node_offset(const struct lmdb_page *page, uint32_t index)
{
    return read_16(page->bytes + LMDB_PAGE_HEAD_BYTES + 2 * index);
}

struct lmdb_node lmdb_page_node(const struct lmdb_page *page, uint32_t index)
{
    const uint8_t *bytes = page->bytes + node_offset(page, index);
    uint32_t low = read_32(bytes);
    uint16_t flags = read_16(bytes + 4);
    uint16_t key_bytes = read_16(bytes + 6);
    const uint8_t *data = bytes + NODE_HEAD_BYTES + key_bytes;
    struct lmdb_node node = {.key = slice_of(bytes + NODE_HEAD_BYTES, key_bytes),
                             .child = LMDB_PAGE_NONE,
                             .overflow = LMDB_PAGE_NONE};

    if (is_branch(page)) {
        node.child = low | ((uint64_t)flags << 32);
    } else if ((flags & NODE_OVERFLOW) != 0) {
        node.value = slice_of(NULL, low);
        node.overflow = read_64(data);
    } else {
        node.value = slice_of(data, low);
        node.is_tree = (flags & NODE_TREE) != 0;
    }
    return node;
}

/* Returns the bytes of a node; 0 if it does not fit between its offset and the page's end. */
static uint64_t measure_node(const struct lmdb_page *page, uint32_t offset)
{
    const uint8_t *bytes = page->bytes + offset;
    uint64_t size = NODE_HEAD_BYTES;
    uint16_t flags = 0;

    if (offset > page->size - NODE_HEAD_BYTES) {
        return 0;
    }
    flags = read_16(bytes + 4);
    size += read_16(bytes + 6);
    if (!is_branch(page)) {
        size += (flags & NODE_OVERFLOW) != 0 ? sizeof(uint64_t) : read_32(bytes);
    }
    size += size & 1;
    return size <= page->size - offset ? size : 0;
}

static const char *check_node(const struct lmdb_page *page, uint32_t index)
{
    struct lmdb_node node = lmdb_page_node(page, index);
    uint16_t flags = read_16(page->bytes + node_offset(page, index) + 4);

    if (node.key.size > KEY_BYTES_MAX || (node.key.size == 0 && !(is_branch(page) && index == 0))) {
        return "has a key of invalid length";
    }
    if (!is_branch(page) && ((flags & ~NODE_FLAGS) != 0 || flags == NODE_FLAGS)) {
        return "has a value with invalid flags";
    }
    if (node.is_tree && node.value.size != LMDB_TREE_BYTES) {
        return "has a table entry of wrong size";
    }
    return NULL;
}

const char *lmdb_page_check(const struct lmdb_page *page, enum lmdb_page_kind kind)
{
    uint32_t low = read_16(page->bytes + 12);
    uint32_t high = read_16(page->bytes + 14);
    uint64_t filled = 0;

    if (read_64(page->bytes) != page->number) {
        return "another page is in its place";
    }
    if (read_16(page->bytes + 10) != (uint16_t)kind) {
        return "has a wrong type for its tree";
    }
    if (low < LMDB_PAGE_HEAD_BYTES + 2 || low > high || high > page->size || (low & 1) != 0) {
        return "its entry area is invalid";
    }
    for (uint32_t i = 0; i < lmdb_page_count(page); i++) {
        uint32_t offset = node_offset(page, i);
        uint64_t size = offset < high || (offset & 1) != 0 ? 0 : measure_node(page, offset);
        const char *problem = NULL;

        if (size == 0) {
            return "an entry is outside of the page";
        }
        filled += size;
        problem = check_node(page, i);
        if (problem != NULL) {
            return problem;
        }
    }
    return filled == page->size - high ? NULL : "its entries leave a gap";
}

const char *lmdb_overflow_check(const struct lmdb_page *page, uint64_t count_min,
                                uint64_t *ret_count)
{
    uint32_t count = read_32(page->bytes + 12);

    if (read_64(page->bytes) != page->number) {
        return "another page is in its place";
    }
    if (read_16(page->bytes + 10) != LMDB_PAGE_OVERFLOW) {
        return "has a wrong type for a long value";
    }
    if (count < count_min) {
        return "a long value has too few pages";
    }
    *ret_count = count;
    return NULL;
}

uint64_t lmdb_overflow_count(uint32_t page_bytes, uint64_t value_bytes)
{
    return (LMDB_PAGE_HEAD_BYTES - 1 + value_bytes) / page_bytes + 1;
}
