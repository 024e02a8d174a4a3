/*
 * lmdb_check.c: walks LMDB's file. A tree is walked depth first; the pages from its root to the
 * current one are kept, one per level. So memory is bounded by the deepest tree that LMDB can read,
 * and a bit for each page of the file.
 */
#include "store/lmdb/lmdb_check.h"

#include "store/backend.h"
#include "store/backup/backup_file.h"
#include "store/base/assert.h"
#include "store/base/file.h"
#include "store/lmdb/lmdb_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A store has fewer tables; a file with more is not a store. */
#define TABLES_MAX 128
_Static_assert(TABLE_COUNT < TABLES_MAX, "every table of a store is checked");
#define TABLE_NAME_BYTES_MAX 32
/* In a large store, the part of the allowed pages that is reserved for leaves. */
#define LEAVES_PART 4
/* Pages freed in the commit that allocated them are never written: a file may end before its last
 * page. At most this many pages can be missing: LMDB counts 2^17 changed pages in a transaction. */
#define UNWRITTEN_PAGES_MAX (1u << 18)
/* Numbers of the free list read at once. */
#define IDS_AT_ONCE 512

/* State of walking a tree. */
struct table {
    struct lmdb_tree tree;
    char name[TABLE_NAME_BYTES_MAX];
    bool keys_are_numbers;
    bool is_names;
    uint64_t entries; /* number of entries so far */
};

struct level {
    struct lmdb_page page; /* page whose bytes are in check.bytes */
    uint32_t count;
    uint32_t next; /* index of the next entry */
    struct slice low, high; /* bounds of its keys; NULL data: no bound */
};

/* The parts of a tree that a walk visits. */
enum walk_part {
    WALK_ALL,
    WALK_BRANCHES
};

struct check {
    const char *path;
    struct fault *fault;
    const struct store_lmdb_check_limits *limits;
    int64_t end_us; /* deadline by the monotonic clock */
    int fd;
    uint64_t file_pages; /* number of complete pages */
    struct lmdb_meta meta;
    uint8_t *bytes; /* LMDB_DEPTH_MAX pages, and one for runs */
    uint8_t *used; /* one bit per page: used in a tree, or free */
    struct level levels[LMDB_DEPTH_MAX];
    struct table tables[TABLES_MAX];
    size_t table_count;
    const struct table *table; /* the current one */
    uint64_t pages; /* read */
    uint64_t pages_end; /* end of the pages covered by this walk */
    uint64_t free_pages_unwritten; /* free pages after the file's end */
    bool stopped; /* a limit of this walk was reached */
    bool is_late; /* the time limit: nothing more is read */
};

static enum err say_damaged(const struct check *check, uint64_t number, const char *problem)
{
    return fault_say(check->fault, ERR_CORRUPT,
                     "%s is damaged: page %llu, %s: %s; nothing was changed; " BACKUP_ADVICE,
                     check->path, (unsigned long long)number,
                     check->table != NULL ? check->table->name : "meta", problem);
}

static enum err read_bytes(const struct check *check, uint64_t offset, uint8_t *to, size_t size)
{
    size_t got = 0;
    bool is_read = file_read_at(check->fd, offset, to, size, &got);

    if (is_read && got == size) {
        return OK;
    }
    return fault_say(check->fault, ERR_IO, "%s: cannot be read: %s", check->path,
                     is_read ? "unexpected end of file" : strerrordesc_np(errno));
}

/* Counts one more page to be read; false if a limit is reached. */
static bool take_page(struct check *check)
{
    if (check->is_late || check->pages >= check->pages_end) {
        check->stopped = true;
    } else if (check->end_us != 0 && clock_monotonic_us(check->limits->clock) >= check->end_us) {
        check->stopped = true;
        check->is_late = true;
    } else {
        check->pages++;
        return true;
    }
    return false;
}

/* Marks a page as used; returns the problem if it cannot be. */
static const char *note_page(struct check *check, uint64_t number)
{
    uint8_t bit = (uint8_t)(1u << (number % 8));

    if (number < LMDB_META_COUNT || number > check->meta.last_page) {
        return "refers to a page that is not in the file";
    }
    if ((check->used[number / 8] & bit) != 0) {
        return "refers to a page that is used elsewhere";
    }
    check->used[number / 8] |= bit;
    return NULL;
}

/* The free list */

static enum err note_free(struct check *check, uint64_t number, const uint64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *problem = note_page(check, ids[i]);

        if (problem != NULL) {
            return say_damaged(check, number, problem);
        }
        check->free_pages_unwritten += ids[i] >= check->file_pages;
    }
    return OK;
}

/* Reads a value of the free list: a count, and the pages' numbers. `offset` is its place in the
 * file. */
static enum err read_free(struct check *check, uint64_t number, uint64_t offset, uint64_t size)
{
    uint64_t ids[IDS_AT_ONCE];
    uint64_t count = 0;
    enum err err = OK;

    if (size < sizeof(count) || size % sizeof(count) != 0) {
        return say_damaged(check, number, "a record of free pages has an invalid size");
    }
    err = read_bytes(check, offset, (uint8_t *)&count, sizeof(count));
    if (err != OK) {
        return err;
    }
    if (count > size / sizeof(count) - 1) {
        return say_damaged(check, number, "a record of free pages has a wrong count");
    }
    for (uint64_t done = 0; err == OK && done < count; done += IDS_AT_ONCE) {
        uint64_t some = count - done < IDS_AT_ONCE ? count - done : IDS_AT_ONCE;

        err = read_bytes(check, offset + (1 + done) * sizeof(count), (uint8_t *)ids,
                         some * sizeof(count));
        if (err == OK) {
            err = note_free(check, number, ids, some);
        }
    }
    return err;
}

/* Values */

static bool is_in_file(const struct check *check, uint64_t first, uint64_t count)
{
    return first < check->file_pages && count <= check->file_pages - first;
}

/* Checks the run of pages of a long value. */
static enum err check_overflow(struct check *check, const struct lmdb_node *node, uint64_t number)
{
    uint32_t size = check->meta.page_bytes;
    uint64_t count = lmdb_overflow_count(size, node->value.size);
    uint8_t *bytes = check->bytes + (size_t)LMDB_DEPTH_MAX * size;
    const struct lmdb_page page = {bytes, size, node->overflow};
    const char *problem = NULL;
    enum err err = OK;

    if (!is_in_file(check, node->overflow, count)) {
        return say_damaged(check, number, "a long value is after the file's end");
    }
    if (!take_page(check)) {
        return OK;
    }
    err = read_bytes(check, node->overflow * size, bytes, LMDB_PAGE_HEAD_BYTES);
    if (err != OK) {
        return err;
    }
    problem = lmdb_overflow_check(&page, count, &count);
    if (problem == NULL && !is_in_file(check, node->overflow, count)) {
        problem = "a long value is longer than its pages";
    }
    for (uint64_t i = 0; problem == NULL && i < count; i++) {
        problem = note_page(check, node->overflow + i);
    }
    return problem != NULL ? say_damaged(check, node->overflow, problem) : OK;
}

static enum err add_table(struct check *check, const struct lmdb_node *node, uint64_t number)
{
    struct table *table = &check->tables[check->table_count];

    if (!node->is_tree) {
        return say_damaged(check, number, "the list of tables has an invalid entry");
    }
    if (check->table_count == TABLES_MAX) {
        return say_damaged(check, number, "too many tables");
    }
    table->tree = lmdb_tree_read(node->value.data);
    if (table->tree.flags != 0) {
        return say_damaged(check, number, "a table has invalid flags");
    }
    (void)snprintf(table->name, sizeof(table->name), "table %.*s", (int)node->key.size,
                   (const char *)node->key.data);
    check->table_count++;
    return OK;
}

static enum err check_value(struct check *check, struct table *table, const struct lmdb_page *page,
                            const struct lmdb_node *node)
{
    uint64_t start = page->number * page->size;
    enum err err = OK;

    table->entries++;
    if (table->is_names) {
        return add_table(check, node, page->number);
    }
    if (node->is_tree) {
        return say_damaged(check, page->number, "a row is marked as a table");
    }
    if (node->overflow != LMDB_PAGE_NONE) {
        err = check_overflow(check, node, page->number);
        start = node->overflow * page->size + LMDB_PAGE_HEAD_BYTES;
    } else {
        start += (uint64_t)(node->value.data - page->bytes);
    }
    if (err == OK && table->keys_are_numbers) {
        err = read_free(check, page->number, start, node->value.size);
    }
    return err;
}

/* Pages */

static int compare(const struct table *table, struct slice a, struct slice b)
{
    uint64_t x = 0;
    uint64_t y = 0;

    if (!table->keys_are_numbers) {
        return slice_compare(a, b);
    }
    memcpy(&x, a.data, sizeof(x)); /* check_keys has compared their lengths */
    memcpy(&y, b.data, sizeof(y));
    return x < y ? -1 : x > y;
}

static const char *check_keys(const struct table *table, const struct level *level, bool is_leaf)
{
    struct slice before = level->low;

    for (uint32_t i = is_leaf ? 0 : 1; i < level->count; i++) {
        struct slice key = lmdb_page_node(&level->page, i).key;
        int least = is_leaf && i == 0 ? 0 : 1;

        if (table->keys_are_numbers && key.size != sizeof(uint64_t)) {
            return "a key of the free list is not a number";
        }
        if (before.data != NULL && compare(table, key, before) < least) {
            return "its keys are not in order";
        }
        before = key;
    }
    if (level->high.data != NULL && before.data != NULL &&
        compare(table, before, level->high) >= 0) {
        return "its keys belong to the next page";
    }
    return NULL;
}

static enum err check_children(struct check *check, const struct level *level)
{
    for (uint32_t i = 0; i < level->count; i++) {
        uint64_t child = lmdb_page_node(&level->page, i).child;

        if (child < LMDB_META_COUNT || child > check->meta.last_page ||
            child >= check->file_pages) {
            return say_damaged(check, level->page.number,
                               "it refers to a page after the file's end");
        }
    }
    return OK;
}

/* Reads a page into its level, and checks it without its children and values. */
static enum err load_page(struct check *check, struct table *table, uint32_t depth, uint64_t number)
{
    struct level *level = &check->levels[depth];
    uint8_t *bytes = check->bytes + (size_t)depth * check->meta.page_bytes;
    bool is_leaf = depth + 1 == table->tree.depth;
    const char *problem = NULL;
    enum err err =
        read_bytes(check, number * check->meta.page_bytes, bytes, check->meta.page_bytes);

    if (err != OK) {
        return err;
    }
    level->page = (struct lmdb_page){bytes, check->meta.page_bytes, number};
    problem = lmdb_page_check(&level->page, is_leaf ? LMDB_PAGE_LEAF : LMDB_PAGE_BRANCH);
    if (problem == NULL) {
        level->count = lmdb_page_count(&level->page);
        level->next = 0;
        problem = check_keys(table, level, is_leaf);
    }
    if (problem == NULL && !is_leaf && level->count < 2 && !table->keys_are_numbers) {
        problem = "it has only one child";
    }
    if (problem != NULL) {
        return say_damaged(check, number, problem);
    }
    return is_leaf ? OK : check_children(check, level);
}

static enum err visit_leaf(struct check *check, struct table *table, uint32_t depth)
{
    const struct level *level = &check->levels[depth];
    enum err err = OK;

    for (uint32_t i = 0; err == OK && !check->stopped && i < level->count; i++) {
        struct lmdb_node node = lmdb_page_node(&level->page, i);

        err = check_value(check, table, &level->page, &node);
    }
    return err;
}

/* Enters a page, unless it is to be skipped; sets *ret_entered if the walk has entered it. */
static enum err enter_page(struct check *check, struct table *table, uint32_t depth,
                           uint64_t number, bool *ret_entered)
{
    bool is_leaf = depth + 1 == table->tree.depth;
    const char *problem = NULL;
    enum err err = OK;

    *ret_entered = false;
    problem = note_page(check, number);
    if (problem != NULL) {
        return say_damaged(check, number, problem);
    }
    if (!take_page(check)) {
        return OK;
    }
    err = load_page(check, table, depth, number);
    if (err == OK && is_leaf) {
        return visit_leaf(check, table, depth);
    }
    *ret_entered = err == OK;
    return err;
}

static void set_bounds(struct check *check, uint32_t depth, uint32_t entry)
{
    const struct level *above = &check->levels[depth - 1];
    struct level *level = &check->levels[depth];

    level->low = entry == 0 ? above->low : lmdb_page_node(&above->page, entry).key;
    level->high =
        entry + 1 == above->count ? above->high : lmdb_page_node(&above->page, entry + 1).key;
}

static enum err walk_tree(struct check *check, struct table *table, enum walk_part part)
{
    uint32_t depth = 0; /* depth of the next page */
    bool entered = false;
    enum err err = OK;

    check->table = table;
    check->levels[0].low = slice_of(NULL, 0);
    check->levels[0].high = slice_of(NULL, 0);
    err = enter_page(check, table, 0, table->tree.root, &entered);
    depth = entered ? 1 : 0;
    while (err == OK && depth > 0 && !check->stopped) {
        struct level *above = &check->levels[depth - 1];
        uint32_t entry = above->next++;

        if (entry == above->count || (part == WALK_BRANCHES && depth + 1 == table->tree.depth)) {
            depth--;
            continue;
        }
        set_bounds(check, depth, entry);
        err = enter_page(check, table, depth, lmdb_page_node(&above->page, entry).child, &entered);
        depth += entered;
    }
    return err;
}

/* Checks a tree's properties before it is walked. */
static enum err check_tree(struct check *check, struct table *table)
{
    const struct lmdb_tree *tree = &table->tree;
    bool is_empty = tree->root == LMDB_PAGE_NONE;

    check->table = table;
    if (is_empty != (tree->depth == 0) || is_empty != (tree->entries == 0)) {
        return say_damaged(check, LMDB_META_COUNT - 1, "is both marked as empty and not");
    }
    if (is_empty) {
        return OK;
    }
    if (tree->depth > LMDB_DEPTH_MAX || tree->root < LMDB_META_COUNT ||
        tree->root > check->meta.last_page || tree->root >= check->file_pages ||
        tree->leaf_pages > check->meta.last_page) {
        return say_damaged(check, LMDB_META_COUNT - 1, "its root or its size is invalid");
    }
    return OK;
}

static enum err check_entries(struct check *check, const struct table *table)
{
    check->table = table;
    return check->stopped || table->entries == table->tree.entries
               ? OK
               : say_damaged(check, table->tree.root, "its number of rows is wrong");
}

static enum err walk_whole(struct check *check, struct table *table)
{
    enum err err = check_tree(check, table);

    if (err == OK && table->tree.depth > 0) {
        err = walk_tree(check, table, WALK_ALL);
    }
    return err == OK ? check_entries(check, table) : err;
}

/* The file */

static enum err read_metas(struct check *check)
{
    uint8_t bytes[LMDB_META_BYTES];
    struct lmdb_meta metas[LMDB_META_COUNT];
    uint64_t apart = 0;

    for (uint64_t i = 0; i < LMDB_META_COUNT; i++) {
        const char *problem = NULL;
        enum err err = read_bytes(check, i == 0 ? 0 : metas[0].page_bytes, bytes, sizeof(bytes));

        if (err != OK) {
            return err;
        }
        problem = lmdb_meta_read(bytes, i, &metas[i]);
        if (problem != NULL) {
            return say_damaged(check, i, problem);
        }
    }
    check->meta = metas[metas[1].txn > metas[0].txn];
    apart = check->meta.txn - metas[metas[1].txn <= metas[0].txn].txn;
    if (metas[0].page_bytes != metas[1].page_bytes || apart > 1 ||
        (apart == 0 && check->meta.txn != 0)) {
        return say_damaged(check, metas[1].txn > metas[0].txn,
                           "it does not fit the other meta page");
    }
    return OK;
}

static enum err open_file(struct check *check)
{
    struct stat info;

    check->fd = open(check->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (check->fd < 0 || fstat(check->fd, &info) != 0) {
        return fault_say(check->fault, ERR_IO, "%s: cannot be opened: %s", check->path,
                         strerrordesc_np(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return fault_say(check->fault, ERR_CORRUPT, "%s: not a file; move it away; " BACKUP_ADVICE,
                         check->path);
    }
    if (info.st_size < (off_t)(LMDB_META_COUNT * LMDB_PAGE_BYTES_MIN)) {
        return fault_say(check->fault, ERR_CORRUPT,
                         "%s is damaged: it has %lld bytes, too few for a store; " BACKUP_ADVICE,
                         check->path, (long long)info.st_size);
    }
    check->file_pages = (uint64_t)info.st_size;
    return OK;
}

/* Reads the file's properties from the meta page, and allocates memory for the walk. */
static enum err prepare_check(struct check *check)
{
    uint64_t page_count = check->meta.last_page + 1;

    ASSERT(check->meta.page_bytes >=
           LMDB_PAGE_BYTES_MIN); /* lmdb_meta_read refuses smaller sizes */
    check->file_pages /= check->meta.page_bytes;
    if (check->file_pages < LMDB_META_COUNT ||
        (page_count > check->file_pages && page_count - check->file_pages > UNWRITTEN_PAGES_MAX)) {
        return say_damaged(check, LMDB_META_COUNT - 1, "the file is shorter than it says");
    }
    check->bytes = malloc((size_t)(LMDB_DEPTH_MAX + 1) * check->meta.page_bytes);
    check->used = calloc(page_count / 8 + 1, 1);
    return check->bytes != NULL && check->used != NULL ? OK : ERR_MEMORY;
}

/* Checks the whole free list and the names of the tables: everything else depends on them. */
static enum err check_ground(struct check *check)
{
    struct table free_list = {
        .tree = check->meta.free_list, .name = "the free list", .keys_are_numbers = true};
    struct table names = {
        .tree = check->meta.names, .name = "the list of tables", .is_names = true};
    uint64_t unwritten = check->meta.last_page + 1 > check->file_pages
                             ? check->meta.last_page + 1 - check->file_pages
                             : 0;
    enum err err = walk_whole(check, &free_list);

    if (err == OK && !check->stopped && check->free_pages_unwritten != unwritten) {
        err = say_damaged(check, check->file_pages, "the file ends before it, and it is not free");
    }
    if (err == OK) {
        err = walk_whole(check, &names);
    }
    check->table = NULL;
    return err;
}

static enum err check_tables_whole(struct check *check)
{
    enum err err = OK;

    for (size_t i = 0; err == OK && !check->stopped && i < check->table_count; i++) {
        err = walk_whole(check, &check->tables[i]);
    }
    return err;
}

static enum err check_branches(struct check *check)
{
    enum err err = OK;

    for (size_t i = 0; err == OK && i < check->table_count; i++) {
        struct table *table = &check->tables[i];

        err = check_tree(check, table);
        if (err == OK && table->tree.depth > 1 && !check->stopped) {
            err = walk_tree(check, table, WALK_BRANCHES);
        }
    }
    return err;
}

/* Returns the entry, of `count`, at the relative position *way (0 to 1), and sets *way to the position within it. */
static uint32_t choose(uint32_t count, double *way)
{
    double place = *way * count;
    uint32_t entry = (uint32_t)place;

    *way = place - entry;
    return entry;
}

/* Walks from the root to the leaf at the relative position `way` of the table, and checks it. Pages
 * of the previous path are not read again. */
static enum err visit_leaf_at(struct check *check, struct table *table, double way)
{
    uint64_t number = table->tree.root;
    enum err err = OK;

    for (uint32_t depth = 0; err == OK && depth < table->tree.depth; depth++) {
        const struct level *level = &check->levels[depth];
        bool is_leaf = depth + 1 == table->tree.depth;

        if (depth > 0) {
            uint32_t entry = choose(check->levels[depth - 1].count, &way);

            set_bounds(check, depth, entry);
            number = lmdb_page_node(&check->levels[depth - 1].page, entry).child;
        }
        if (level->page.number == number) {
            continue;
        }
        if (!take_page(check)) {
            return OK;
        }
        err = load_page(check, table, depth, number);
        if (err == OK && is_leaf) {
            const char *problem = note_page(check, number);

            err = problem != NULL ? say_damaged(check, number, problem)
                                  : visit_leaf(check, table, depth);
        }
    }
    return err;
}

static enum err sample_table(struct check *check, struct table *table, uint64_t pages)
{
    uint64_t leaves = 1 + pages / (table->tree.depth + 1);
    enum err err = OK;

    leaves = leaves < table->tree.leaf_pages ? leaves : table->tree.leaf_pages;
    check->table = table;
    for (uint32_t depth = 0; depth < LMDB_DEPTH_MAX; depth++) {
        check->levels[depth].page.number = LMDB_PAGE_NONE;
    }
    check->levels[0].low = slice_of(NULL, 0);
    check->levels[0].high = slice_of(NULL, 0);
    for (uint64_t i = 0; err == OK && !check->stopped && i < leaves; i++) {
        err = visit_leaf_at(check, table, (double)i / (double)leaves);
    }
    return err;
}

/* Each table gets a part of the remaining pages in proportion to its leaves. */
static enum err sample_leaves(struct check *check, uint64_t pages_max)
{
    uint64_t leaves = 1;
    uint64_t pages = pages_max - check->pages;
    enum err err = OK;

    for (size_t i = 0; i < check->table_count; i++) {
        leaves += check->tables[i].tree.leaf_pages;
    }
    for (size_t i = 0; err == OK && i < check->table_count; i++) {
        struct table *table = &check->tables[i];
        uint64_t part = (uint64_t)((double)pages * (double)table->tree.leaf_pages / (double)leaves);

        check->pages_end = check->pages + part;
        if (table->tree.depth > 0 && !check->is_late) {
            check->stopped = false;
            err = sample_table(check, table, part);
        }
    }
    check->stopped = true;
    return err;
}

static enum err check_file(struct check *check)
{
    uint64_t pages_max = check->limits->pages_max != 0 ? check->limits->pages_max : UINT64_MAX;
    bool is_small = false;
    enum err err = open_file(check);

    if (err == OK) {
        err = read_metas(check);
    }
    if (err == OK) {
        err = prepare_check(check);
    }
    if (err != OK) {
        return err;
    }
    is_small = check->file_pages <= pages_max;
    check->pages_end = is_small ? pages_max : pages_max - pages_max / LEAVES_PART;
    err = check_ground(check);
    if (err == OK && is_small) {
        err = check_tables_whole(check);
    } else if (err == OK) {
        err = check_branches(check);
        if (err == OK) {
            err = sample_leaves(check, pages_max);
        }
    }
    return err;
}

enum err store_lmdb_check(const char *path, const struct store_lmdb_check_limits *limits,
                          struct fault *fault, struct store_lmdb_check_report *ret_report)
{
    struct check *check = calloc(1, sizeof(*check));
    enum err err = ERR_MEMORY;

    if (check == NULL) {
        return err;
    }
    check->path = path;
    check->fault = fault;
    check->limits = limits;
    check->fd = -1;
    if (limits->duration_us_max != 0) {
        check->end_us = clock_monotonic_us(limits->clock) + (int64_t)limits->duration_us_max;
    }
    err = check_file(check);
    if (err == OK && ret_report != NULL) {
        *ret_report = (struct store_lmdb_check_report){check->pages, !check->stopped};
    }
    if (check->fd >= 0) {
        (void)close(check->fd);
    }
    free(check->bytes);
    free(check->used);
    free(check);
    return err;
}
