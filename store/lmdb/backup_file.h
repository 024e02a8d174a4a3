/*
 * backup_file.h: the file that a backup is: a head, LMDB's data file as one snapshot of it, and an end
 * with the SHA-256 of everything before it, so that the file can be written and checked in one pass and
 * carries its own proof. FORMAT.md has the bytes. Numbers are big-endian.
 *
 *   head  0  16  "errata-backup 1\n"      end  0  16  "errata-backup .\n"
 *        16   4  the store's format           16   8  bytes of the whole file
 *        20   4  zero                         24   8  zero
 *        24   8  when it was taken, in us     32  32  SHA-256 of the head, the data and 0..31 of the end
 *        32  32  zero
 */
#ifndef ERRATA_STORE_LMDB_BACKUP_FILE_H
#define ERRATA_STORE_LMDB_BACKUP_FILE_H

#include "store/base/fault.h"
#include "store/base/sha256.h"

#define BACKUP_HEAD_BYTES 64
#define BACKUP_END_BYTES 64

/* What to do about a store that is lost or damaged, as the end of a message. */
#define BACKUP_ADVICE                                                                              \
    "expected a restored backup: `erratad --restore FILE --data DIR`, with a FILE that `errata "   \
    "admin backup FILE` wrote and an empty DIR"

struct backup_info {
    uint32_t format; /* of the store within */
    int64_t created_at_us; /* when the snapshot was taken; wall clock */
    uint64_t file_bytes; /* of the whole file; of a head alone not known */
};

void backup_head_write(const struct backup_info *info, uint8_t head[BACKUP_HEAD_BYTES]);
/* `state` has the head and the data; gets all of the end but the digest. */
void backup_end_write(uint64_t file_bytes, struct sha256_state *state,
                      uint8_t end[BACKUP_END_BYTES]);
/* ERR_INVALID for what is no backup, or one that this program can't restore; `fault` says which of
 * `name`. */
MUST_CHECK enum err backup_head_read(const uint8_t head[BACKUP_HEAD_BYTES], const char *name,
                                     struct fault *fault, struct backup_info *ret_info);
/* The last bytes of a file of `file_bytes`; `state` has what is before them. ERR_CORRUPT for a file that
 * is cut short, goes on after its end, or has other bytes than were written. */
MUST_CHECK enum err backup_end_check(const uint8_t end[BACKUP_END_BYTES], uint64_t file_bytes,
                                     struct sha256_state *state, const char *name,
                                     struct fault *fault);

#endif
