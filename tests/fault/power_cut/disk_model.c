/*
 * disk_model.c: converts a journal's calls into versions of sectors, lengths and names. See
 * disk_model.h. Only test programs use it: out of memory it aborts.
 */
#include "tests/fault/power_cut/disk_model.h"

#include <stdlib.h>
#include <string.h>

#define ROOT_NODE 0
#define ROOM_BYTES_MIN ((uint64_t)64 << 10)

static void *grow(void *items, size_t *room, size_t count, size_t item_bytes)
{
    if (count < *room) {
        return items;
    }
    *room = *room == 0 ? 16 : *room * 2;
    items = realloc(items, *room * item_bytes);
    if (items == NULL) {
        abort();
    }
    return items;
}

static char *copy_text(const char *text, size_t size)
{
    char *copy = strndup(text, size);

    if (copy == NULL) {
        abort();
    }
    return copy;
}

bool disk_entry_read(const uint8_t *journal, size_t journal_bytes, size_t at,
                     struct disk_entry *ret_entry)
{
    struct disk_entry entry;
    size_t left = journal_bytes - at;

    if (left < sizeof(entry.record)) {
        return false;
    }
    memcpy(&entry.record, journal + at, sizeof(entry.record));
    left -= sizeof(entry.record);
    if (entry.record.magic != DISK_RECORD_MAGIC ||
        (uint64_t)entry.record.path_bytes + entry.record.other_bytes + entry.record.size > left) {
        return false;
    }
    entry.path = (const char *)journal + at + sizeof(entry.record);
    entry.other = entry.path + entry.record.path_bytes;
    entry.bytes = (const uint8_t *)entry.other + entry.record.other_bytes;
    entry.end = (size_t)(entry.bytes - journal) + entry.record.size;
    *ret_entry = entry;
    return true;
}

static int add_node(struct disk_model *model, uint64_t inode, bool is_folder)
{
    model->nodes = grow(model->nodes, &model->room, model->count, sizeof(*model->nodes));
    model->nodes[model->count] = (struct disk_node){.inode = inode, .is_folder = is_folder};
    return (int)model->count++;
}

void disk_model_init(struct disk_model *model)
{
    *model = (struct disk_model){.nodes = NULL};
    (void)add_node(model, 0, true);
}

static void free_names(struct disk_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->items[i].name);
    }
    free(names->items);
}

static void forget_namings(struct disk_node *node)
{
    for (size_t i = 0; i < node->naming_count; i++) {
        free(node->namings[i].removed);
        free(node->namings[i].added);
    }
    node->naming_count = 0;
}

void disk_model_deinit(struct disk_model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        struct disk_node *node = &model->nodes[i];

        forget_namings(node);
        free(node->seen);
        free(node->promised);
        free(node->versions);
        free(node->lengths);
        free(node->namings);
        free_names(&node->names_seen);
        free_names(&node->names_promised);
    }
    free(model->nodes);
}

/* The newest node with this inode: numbers of removed files come again. */
static struct disk_node *find_node(struct disk_model *model, uint64_t inode)
{
    for (size_t i = model->count; i > 0; i--) {
        if (model->nodes[i - 1].inode == inode) {
            return &model->nodes[i - 1];
        }
    }
    return NULL;
}

static int find_name(const struct disk_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i].name, name) == 0) {
            return names->items[i].node;
        }
    }
    return -1;
}

static void set_name(struct disk_names *names, const char *name, int node)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i].name, name) == 0) {
            names->items[i].node = node;
            return;
        }
    }
    names->items = realloc(names->items, (names->count + 1) * sizeof(*names->items));
    if (names->items == NULL) {
        abort();
    }
    names->items[names->count++] =
        (struct disk_name){.name = copy_text(name, strlen(name)), .node = node};
}

static void apply_naming(struct disk_names *names, const struct disk_naming *naming)
{
    if (naming->removed != NULL) {
        set_name(names, naming->removed, -1);
    }
    if (naming->added != NULL) {
        set_name(names, naming->added, naming->node);
    }
}

/* Finds the folder of a path's last part; returns its node, and that part. */
static int split_path(const struct disk_model *model, const char *path, size_t size,
                      char **ret_last)
{
    char *whole = copy_text(path, size);
    char *rest = whole;
    int folder = ROOT_NODE;

    for (char *slash = strchr(rest, '/'); slash != NULL; slash = strchr(rest, '/')) {
        *slash = '\0';
        folder = find_name(&model->nodes[folder].names_seen, rest);
        if (folder < 0) {
            abort(); /* the journal lacks a folder */
        }
        rest = slash + 1;
    }
    *ret_last = copy_text(rest, strlen(rest));
    free(whole);
    return folder;
}

/* Records a change of names; the model takes ownership of its texts. */
static void change_names(struct disk_model *model, int folder, struct disk_naming take_naming)
{
    struct disk_node *node = &model->nodes[folder];

    take_naming.order = ++model->order;
    apply_naming(&node->names_seen, &take_naming);
    node->namings =
        grow(node->namings, &node->naming_room, node->naming_count, sizeof(*node->namings));
    node->namings[node->naming_count++] = take_naming;
}

static void apply_create(struct disk_model *model, const struct disk_entry *entry, bool is_folder)
{
    char *name = NULL;
    int folder = 0;
    int node = 0;

    if (entry->record.path_bytes == 0) {
        model->nodes[ROOT_NODE].inode = entry->record.file;
        return;
    }
    node = add_node(model, entry->record.file, is_folder);
    folder = split_path(model, entry->path, entry->record.path_bytes, &name);
    change_names(model, folder, (struct disk_naming){.added = name, .node = node});
}

/* Within one folder, or from one to another: one change, with one place in the order. */
static void apply_rename(struct disk_model *model, const struct disk_entry *entry)
{
    char *old_name = NULL;
    char *new_name = NULL;
    int from = split_path(model, entry->path, entry->record.path_bytes, &old_name);
    int to = split_path(model, entry->other, entry->record.other_bytes, &new_name);
    int node = find_name(&model->nodes[from].names_seen, old_name);

    if (from == to) {
        change_names(model, from,
                     (struct disk_naming){.removed = old_name, .added = new_name, .node = node});
        return;
    }
    change_names(model, from, (struct disk_naming){.removed = old_name, .node = -1});
    model->order--;
    change_names(model, to, (struct disk_naming){.added = new_name, .node = node});
}

static void apply_remove(struct disk_model *model, const struct disk_entry *entry)
{
    char *name = NULL;
    int folder = split_path(model, entry->path, entry->record.path_bytes, &name);

    change_names(model, folder, (struct disk_naming){.removed = name, .node = -1});
}

/* Room for sectors up to `bytes`, zeroed. */
static void make_room(struct disk_node *node, uint64_t bytes)
{
    uint64_t room = node->room < ROOM_BYTES_MIN ? ROOM_BYTES_MIN : node->room;

    if (bytes <= node->room) {
        return;
    }
    while (room < bytes) {
        room *= 2;
    }
    node->seen = realloc(node->seen, room);
    node->promised = realloc(node->promised, room);
    if (node->seen == NULL || node->promised == NULL) {
        abort();
    }
    memset(node->seen + node->room, 0, room - node->room);
    memset(node->promised + node->room, 0, room - node->room);
    node->room = room;
}

static void change_length(struct disk_model *model, struct disk_node *node, uint64_t bytes)
{
    if (bytes == node->seen_bytes) {
        return;
    }
    node->seen_bytes = bytes;
    node->lengths =
        grow(node->lengths, &node->length_room, node->length_count, sizeof(*node->lengths));
    node->lengths[node->length_count++] =
        (struct disk_length){.bytes = bytes, .order = ++model->order};
}

static void add_version(struct disk_model *model, struct disk_node *node, uint64_t sector)
{
    uint64_t offset = sector * DISK_SECTOR_BYTES;
    uint64_t left = node->seen_bytes - offset;
    struct disk_version *version = NULL;

    node->versions =
        grow(node->versions, &node->version_room, node->version_count, sizeof(*node->versions));
    version = &node->versions[node->version_count++];
    version->sector = sector;
    version->order = model->order;
    version->end = left < DISK_SECTOR_BYTES ? (uint32_t)left : DISK_SECTOR_BYTES;
    version->is_orphan = false;
    memcpy(version->bytes, node->seen + offset, DISK_SECTOR_BYTES);
}

static void begin_write(struct disk_model *model, const struct disk_entry *entry)
{
    struct disk_node *node = find_node(model, entry->record.file);
    uint64_t end = entry->record.offset + entry->record.size;

    if (node == NULL || entry->record.size == 0) {
        return;
    }
    model->write_from = model->order + 1;
    make_room(node, (end + DISK_SECTOR_BYTES - 1) / DISK_SECTOR_BYTES * DISK_SECTOR_BYTES);
    memcpy(node->seen + entry->record.offset, entry->bytes, entry->record.size);
    if (end > node->seen_bytes) {
        change_length(model, node, end);
    }
    model->order++;
    for (uint64_t sector = entry->record.offset / DISK_SECTOR_BYTES;
         sector <= (end - 1) / DISK_SECTOR_BYTES; sector++) {
        add_version(model, node, sector);
    }
}

static void promise_lengths(struct disk_node *node, uint64_t from, uint64_t to)
{
    size_t kept = 0;

    for (size_t i = 0; i < node->length_count; i++) {
        const struct disk_length *length = &node->lengths[i];

        if (!length->is_orphan && length->order >= from && length->order <= to) {
            node->promised_bytes = length->bytes;
            kept = 0;
        } else {
            node->lengths[kept++] = *length;
        }
    }
    node->length_count = kept;
}

/* Durable bytes can be read again, so the durable length includes them, regardless of the call that
 * set it. */
static void promise_version(struct disk_node *node, const struct disk_version *version)
{
    uint64_t offset = version->sector * DISK_SECTOR_BYTES;
    uint64_t end = offset + version->end;

    memcpy(node->promised + offset, version->bytes, DISK_SECTOR_BYTES);
    node->promised_bytes = end > node->promised_bytes ? end : node->promised_bytes;
}

/* Keeps the unsynced data: the versions of sectors and lengths that are newer than the synced
 * ones. */
static void promise(struct disk_node *node, uint64_t from, uint64_t to)
{
    size_t kept = 0;

    promise_lengths(node, from, to);
    for (size_t i = 0; i < node->version_count; i++) {
        const struct disk_version *version = &node->versions[i];

        if (!version->is_orphan && version->order >= from && version->order <= to) {
            promise_version(node, version);
            for (size_t j = 0; j < kept; j++) {
                if (node->versions[j].sector == version->sector) {
                    node->versions[j].end = 0; /* removed by an older change */
                }
            }
        } else {
            node->versions[kept++] = *version;
        }
    }
    node->version_count = 0;
    for (size_t i = 0; i < kept; i++) {
        if (node->versions[i].end != 0) {
            node->versions[node->version_count++] = node->versions[i];
        }
    }
}

/* The kernel could not write it, but marks it as written. */
static void disown(struct disk_node *node, uint64_t from)
{
    for (size_t i = 0; i < node->version_count; i++) {
        node->versions[i].is_orphan |= node->versions[i].order >= from;
    }
    for (size_t i = 0; i < node->length_count; i++) {
        node->lengths[i].is_orphan |= node->lengths[i].order >= from;
    }
}

static void end_write(struct disk_model *model, const struct disk_entry *entry)
{
    struct disk_node *node = find_node(model, entry->record.file);

    if (node == NULL) {
        return;
    }
    if (entry->record.error != 0) {
        disown(node, model->write_from);
    } else if ((entry->record.flags & DISK_IS_SYNCED) != 0) {
        promise(node, model->write_from, model->order);
    }
}

static void end_sync(struct disk_model *model, const struct disk_entry *entry)
{
    struct disk_node *node = find_node(model, entry->record.file);

    if (node == NULL) {
        return;
    }
    if (entry->record.error != 0) {
        disown(node, 0);
        return;
    }
    promise(node, 0, model->order);
    for (size_t i = 0; i < node->naming_count; i++) {
        apply_naming(&node->names_promised, &node->namings[i]);
    }
    forget_namings(node);
}

/* Drops versions beyond the new end of a shortened file. */
static void drop_versions(struct disk_node *node, uint64_t bytes)
{
    size_t kept = 0;

    for (size_t i = 0; i < node->version_count; i++) {
        if (node->versions[i].sector * DISK_SECTOR_BYTES + node->versions[i].end <= bytes) {
            node->versions[kept++] = node->versions[i];
        }
    }
    node->version_count = kept;
}

static void set_length(struct disk_model *model, const struct disk_entry *entry)
{
    struct disk_node *node = find_node(model, entry->record.file);
    uint64_t bytes = entry->record.offset;

    if (node == NULL) {
        return;
    }
    if (entry->record.call == DISK_ALLOCATE && bytes < node->seen_bytes) {
        return;
    }
    if (bytes < node->seen_bytes && node->room > bytes) {
        memset(node->seen + bytes, 0, node->room - bytes);
        drop_versions(node, bytes);
    }
    change_length(model, node, bytes);
}

/* Applies a call: a write takes effect at its start, other calls at their end. */
void disk_model_apply(struct disk_model *model, const struct disk_entry *entry)
{
    bool has_ended = entry->record.phase == DISK_END;
    bool was_done = has_ended && entry->record.error == 0;

    switch ((enum disk_call)entry->record.call) {
    case DISK_WRITE:
        (has_ended ? end_write : begin_write)(model, entry);
        break;
    case DISK_TRUNCATE:
    case DISK_ALLOCATE:
        if (!has_ended) {
            set_length(model, entry);
        }
        break;
    case DISK_CREATE:
    case DISK_MAKE_FOLDER:
        if (was_done) {
            apply_create(model, entry, entry->record.call == DISK_MAKE_FOLDER);
        }
        break;
    case DISK_RENAME:
        if (was_done) {
            apply_rename(model, entry);
        }
        break;
    case DISK_REMOVE:
        if (was_done) {
            apply_remove(model, entry);
        }
        break;
    case DISK_SYNC:
        if (has_ended) {
            end_sync(model, entry);
        }
        break;
    }
}
