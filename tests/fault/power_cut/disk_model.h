/*
 * disk_model.h: the possible states of a disk, by the guarantees of a journal of calls
 * (disk_journal.h). The model keeps the files as a program sees them and as they are durable;
 * between the two are changes that no sync has made durable yet: sectors of 512 bytes, lengths,
 * names in folders. A cut may leave any of them, in any order and any older version, as the kernel
 * may have written them. A failed sync guarantees nothing, then or later: the kernel marks data
 * that it could not write as written. Such changes stay possible until newer data at their place is
 * guaranteed.
 */
#ifndef ERRATA_TESTS_FAULT_DISK_MODEL_H
#define ERRATA_TESTS_FAULT_DISK_MODEL_H

#include "tests/fault/disk_journal.h"

#include <stdbool.h>
#include <stddef.h>

#define DISK_SECTOR_BYTES 512

/* A version of a sector that is not guaranteed by a sync. */
struct disk_version {
    uint64_t sector;
    uint64_t order; /* number of the change, over all files */
    uint32_t end; /* bytes of it that lie within the file then */
    bool is_orphan; /* no later sync will write it */
    uint8_t bytes[DISK_SECTOR_BYTES];
};

/* A length that no sync has made durable. */
struct disk_length {
    uint64_t bytes;
    uint64_t order;
    bool is_orphan;
};

/* A name in a folder; node -1: there is none. */
struct disk_name {
    char *name; /* owned */
    int node;
};

struct disk_names {
    struct disk_name *items; /* owned */
    size_t count;
};

/* A change of names that no sync of the folder has made durable; a rename is one change. */
struct disk_naming {
    char *removed; /* removed name, or NULL; owned */
    char *added; /* added name, or NULL; owned */
    int node; /* node of `added` */
    uint64_t order;
};

/* A file or a folder. */
struct disk_node {
    uint64_t inode;
    bool is_folder;
    /* A file: its visible and its durable bytes. Each has room for `room` bytes; owned. */
    uint8_t *seen;
    uint8_t *promised;
    uint64_t room;
    uint64_t seen_bytes;
    uint64_t promised_bytes;
    struct disk_version *versions; /* oldest first; owned */
    size_t version_count;
    size_t version_room;
    struct disk_length *lengths; /* oldest first; owned */
    size_t length_count;
    size_t length_room;
    /* A folder. */
    struct disk_names names_seen;
    struct disk_names names_promised;
    struct disk_naming *namings; /* oldest first; owned */
    size_t naming_count;
    size_t naming_room;
};

struct disk_model {
    struct disk_node *nodes; /* the first is the data folder; owned */
    size_t count;
    size_t room;
    uint64_t order; /* number of the last change */
    uint64_t write_from; /* number of the first change of the current write */
};

/* A record of a journal, borrowed from its bytes. */
struct disk_entry {
    struct disk_record record;
    const char *path; /* path_bytes bytes, without NUL */
    const char *other;
    const uint8_t *bytes;
    size_t end; /* start of the next record */
};

/* Returns false at the end, and for an invalid record. */
bool disk_entry_read(const uint8_t *journal, size_t journal_bytes, size_t at,
                     struct disk_entry *ret_entry);

void disk_model_init(struct disk_model *model);
void disk_model_deinit(struct disk_model *model);
/* The journal's next record. */
void disk_model_apply(struct disk_model *model, const struct disk_entry *entry);

/* Selects the unsynced data that an image contains. */
enum disk_choice {
    DISK_NOTHING, /* only synced writes */
    DISK_EVERYTHING, /* the newest of all */
    DISK_PREFIX, /* all changes before a moment, with the last write torn */
    DISK_WRITES, /* some of the changes, each completely */
    DISK_PAGES, /* some pages of 4 KiB */
    DISK_SECTORS, /* some sectors, any version of each */
    DISK_CHOICE_COUNT
};

/* Writes a possible state of the data folder after a cut now into `folder`, which is empty. */
void disk_model_make_image(const struct disk_model *model, enum disk_choice choice, uint64_t seed,
                           const char *folder);

#endif
