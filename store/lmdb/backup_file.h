/*
 * backup_file.h: the format of a backup: a head, LMDB's data file as one snapshot, and an end with
 * the SHA-256 of everything before it, so that the file can be written and checked in one pass
 * without a second file. FORMAT.md documents the bytes. Numbers are big-endian.
 *   head  0  16  "errata-backup 1
 * "      end  0  16  "errata-backup .
 * "
 *        16   4  the store's format           16   8  bytes of the whole file
 *        20   4  zero                         24   8  zero
 *        24   8  when it was taken, in us     32  32  SHA-256 of the head, the data and 0..31 of
 *        the end
 *        32  32  zero
 */
#ifndef ERRATA_STORE_LMDB_BACKUP_FILE_H
#define ERRATA_STORE_LMDB_BACKUP_FILE_H

#include "store/base/fault.h"
#include "store/base/sha256.h"

#define BACKUP_HEAD_BYTES 64
#define BACKUP_END_BYTES 64

/* Advice for a lost or damaged store, as the end of a message. */
#define BACKUP_ADVICE                                                                              \
    "restore a backup: `erratad --restore FILE --data DIR`, with a FILE that `errata admin "       \
    "backup FILE` wrote and an empty DIR"

struct backup_info {
    uint32_t format; /* format of the store in the backup */
    int64_t created_at_us; /* time of the snapshot by the wall clock */
    uint64_t file_bytes; /* size of the whole file; unknown if only the head was read */
};

void backup_head_write(const struct backup_info *info, uint8_t head[BACKUP_HEAD_BYTES]);
/* Writes the end except for the digest; `state` has the hash of the head and the data. */
void backup_end_write(uint64_t file_bytes, struct sha256_state *state,
                      uint8_t end[BACKUP_END_BYTES]);
/* ERR_INVALID if it is not a backup, or one that this program cannot restore; `fault` has the
 * reason, with `name`. */
MUST_CHECK enum err backup_head_read(const uint8_t head[BACKUP_HEAD_BYTES], const char *name,
                                     struct fault *fault, struct backup_info *ret_info);
/* Checks the last bytes of a file of `file_bytes`; `state` has the hash of the bytes before them.
 * ERR_CORRUPT for a file that is truncated, too long, or modified. */
MUST_CHECK enum err backup_end_check(const uint8_t end[BACKUP_END_BYTES], uint64_t file_bytes,
                                     struct sha256_state *state, const char *name,
                                     struct fault *fault);

#endif
