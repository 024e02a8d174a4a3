/*
 * backup_file.h: the head and the end of a backup; between them are its data and its position (how
 * far each organisation's log is in it). The data of a whole backup are LMDB's data file as one
 * snapshot; those of an increment are the events after an earlier backup. The end has the SHA-256 of
 * everything before it, so that the file can be written and checked in one pass without a second
 * file. FORMAT.md documents the bytes.
 */
#ifndef ERRATA_STORE_BACKUP_BACKUP_FILE_H
#define ERRATA_STORE_BACKUP_BACKUP_FILE_H

#include "store/base/fault.h"
#include "store/base/sha256.h"

#define BACKUP_HEAD_BYTES 64
#define BACKUP_END_BYTES 64

/* Advice for a lost or damaged store, as the end of a message. */
#define BACKUP_ADVICE                                                                              \
    "restore a backup: `erratad --restore FILE --data DIR`, with a FILE that `errata admin "       \
    "backup FILE` wrote and an empty DIR"

enum backup_kind {
    BACKUP_WHOLE = 0,
    BACKUP_INCREMENT = 1
};

struct backup_info {
    uint32_t format; /* format of the store in the backup */
    enum backup_kind kind;
    int64_t created_at_us; /* time of the snapshot by the wall clock */
    uint64_t file_bytes; /* size of the whole file; unknown if only the head was read */
};

void backup_head_write(const struct backup_info *info, uint8_t head[BACKUP_HEAD_BYTES]);
/* Writes the end; `state` has the hash of everything before it, `position_bytes` of which are the
 * position. */
void backup_end_write(uint64_t file_bytes, uint64_t position_bytes, struct sha256_state *state,
                      uint8_t end[BACKUP_END_BYTES]);
/* ERR_INVALID if it is not a backup, or one that this program cannot restore; `fault` has the
 * reason, with `name`. */
MUST_CHECK enum err backup_head_read(const uint8_t head[BACKUP_HEAD_BYTES], const char *name,
                                     struct fault *fault, struct backup_info *ret_info);
/* Reads the size of the position from the last bytes of a file of `file_bytes`. ERR_CORRUPT for a file
 * that is truncated or too long. */
MUST_CHECK enum err backup_end_read(const uint8_t end[BACKUP_END_BYTES], uint64_t file_bytes,
                                    const char *name, struct fault *fault,
                                    uint64_t *ret_position_bytes);
/* Compares the digest; `state` has the hash of the bytes before the end. ERR_CORRUPT for a modified
 * file. */
MUST_CHECK enum err backup_end_check(const uint8_t end[BACKUP_END_BYTES],
                                     struct sha256_state *state, const char *name,
                                     struct fault *fault);

#endif
