/*
 * disk_journal.h: the calls of a program that change its data folder, in a file that survives the
 * program. Written by disk_shim.c, read by power_cut.c. A call is two records: one before it is made,
 * with its bytes, and one with its result. Numbers are in the machine's byte order: both sides run on
 * the same machine.
 */
#ifndef ERRATA_TESTS_FAULT_DISK_JOURNAL_H
#define ERRATA_TESTS_FAULT_DISK_JOURNAL_H

#include <stdint.h>

#define DISK_RECORD_MAGIC 0x4b534944u

enum disk_call {
    DISK_WRITE = 1, /* offset and bytes */
    DISK_TRUNCATE, /* offset: the new length */
    DISK_ALLOCATE, /* offset: the new end of allocated blocks */
    DISK_CREATE, /* path of a new file */
    DISK_MAKE_FOLDER, /* path */
    DISK_RENAME, /* old path, new path */
    DISK_REMOVE, /* path of a file or an empty folder */
    DISK_SYNC, /* sync of a file or a folder */
    DISK_CALL_MAX = DISK_SYNC
};

enum disk_phase {
    DISK_BEGIN = 1,
    DISK_END
};

/* The file was opened for synchronous writes. */
#define DISK_IS_SYNCED 1u

/* Followed by path_bytes, other_bytes and size bytes. Paths are relative to the data folder. */
struct disk_record {
    uint32_t magic;
    uint8_t call; /* an enum disk_call */
    uint8_t phase; /* an enum disk_phase */
    uint8_t flags;
    uint8_t unused;
    uint64_t number; /* number of the call, from 1, as the process counts them */
    uint64_t file; /* inode; for a path, that of the folder or of the created file */
    uint64_t offset;
    uint32_t size;
    int32_t error; /* for the end of a call: an errno, 0 for success */
    uint32_t path_bytes;
    uint32_t other_bytes;
};

#endif
