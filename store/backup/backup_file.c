/*
 * backup_file.c: reads and writes the head and the end of a backup. Opens no file.
 */
#include "store/backup/backup_file.h"

#include "store/backup/store_format.h"

#include "store/base/bytes.h"

#include <inttypes.h>

#define MARK_BYTES 16
#define VERSION_AT 14 /* the digit in the head's mark */

static const uint8_t head_mark[MARK_BYTES + 1] = "errata-backup 1\n";
static const uint8_t end_mark[MARK_BYTES + 1] = "errata-backup .\n";

enum {
    HEAD_FORMAT_AT = 16,
    HEAD_KIND_AT = 20,
    HEAD_CREATED_AT = 24,
    END_FILE_BYTES_AT = 16,
    END_POSITION_BYTES_AT = 24,
    END_DIGEST_AT = 32
};

_Static_assert(END_DIGEST_AT + SHA256_BYTES == BACKUP_END_BYTES, "the digest ends the file");

void backup_head_write(const struct backup_info *info, uint8_t head[BACKUP_HEAD_BYTES])
{
    memset(head, 0, BACKUP_HEAD_BYTES);
    memcpy(head, head_mark, MARK_BYTES);
    bytes_put_be32(head + HEAD_FORMAT_AT, info->format);
    bytes_put_be32(head + HEAD_KIND_AT, (uint32_t)info->kind);
    bytes_put_be64(head + HEAD_CREATED_AT, (uint64_t)info->created_at_us);
}

void backup_end_write(uint64_t file_bytes, uint64_t position_bytes, struct sha256_state *state,
                      uint8_t end[BACKUP_END_BYTES])
{
    struct sha256_digest digest;

    memset(end, 0, BACKUP_END_BYTES);
    memcpy(end, end_mark, MARK_BYTES);
    bytes_put_be64(end + END_FILE_BYTES_AT, file_bytes);
    bytes_put_be64(end + END_POSITION_BYTES_AT, position_bytes);
    sha256_add(state, slice_of(end, END_DIGEST_AT));
    digest = sha256_read(state);
    memcpy(end + END_DIGEST_AT, digest.bytes, SHA256_BYTES);
}

/* A mark that differs only in its digit is a later program's. */
static bool is_later(const uint8_t head[BACKUP_HEAD_BYTES])
{
    return memcmp(head, head_mark, VERSION_AT) == 0 && head[VERSION_AT] > '1' &&
           head[VERSION_AT] <= '9' && head[VERSION_AT + 1] == '\n';
}

enum err backup_head_read(const uint8_t head[BACKUP_HEAD_BYTES], const char *name,
                          struct fault *fault, struct backup_info *ret_info)
{
    uint32_t kind = bytes_get_be32(head + HEAD_KIND_AT);
    struct backup_info info = {.format = bytes_get_be32(head + HEAD_FORMAT_AT),
                               .kind = (enum backup_kind)kind,
                               .created_at_us = (int64_t)bytes_get_be64(head + HEAD_CREATED_AT)};

    if (is_later(head)) {
        return fault_say(fault, ERR_INVALID,
                         "%s: backup of version %c, this program supports version 1; expected the "
                         "program that wrote it, which is newer",
                         name, head[VERSION_AT]);
    }
    if (memcmp(head, head_mark, MARK_BYTES) != 0) {
        return fault_say(fault, ERR_INVALID,
                         "%s: not a backup; expected a file written by `errata admin backup`",
                         name);
    }
    if (kind > BACKUP_INCREMENT) {
        return fault_say(fault, ERR_INVALID,
                         "%s: backup of kind %" PRIu32 ", which this program does not know; "
                         "expected the program that wrote it, which is newer",
                         name, kind);
    }
    if (info.format > STORE_FORMAT_VERSION) {
        return fault_say(fault, ERR_INVALID,
                         "%s: contains a store of format version %" PRIu32
                         ", this program supports version %d; expected the program that wrote it, "
                         "which is newer",
                         name, info.format, STORE_FORMAT_VERSION);
    }
    if (info.format < STORE_FORMAT_OLDEST) {
        return fault_say(fault, ERR_INVALID,
                         "%s: contains a store of format version %" PRIu32
                         ", which this program cannot migrate; expected version %d or later",
                         name, info.format, STORE_FORMAT_OLDEST);
    }
    *ret_info = info;
    return OK;
}

enum err backup_end_read(const uint8_t end[BACKUP_END_BYTES], uint64_t file_bytes, const char *name,
                         struct fault *fault, uint64_t *ret_position_bytes)
{
    uint64_t position_bytes = bytes_get_be64(end + END_POSITION_BYTES_AT);

    if (memcmp(end, end_mark, MARK_BYTES) != 0 ||
        bytes_get_be64(end + END_FILE_BYTES_AT) != file_bytes ||
        position_bytes > file_bytes - BACKUP_HEAD_BYTES - BACKUP_END_BYTES) {
        return fault_say(fault, ERR_CORRUPT,
                         "%s: incomplete or changed: it has %" PRIu64
                         " bytes and no valid end; expected the complete file",
                         name, file_bytes);
    }
    *ret_position_bytes = position_bytes;
    return OK;
}

enum err backup_end_check(const uint8_t end[BACKUP_END_BYTES], struct sha256_state *state,
                          const char *name, struct fault *fault)
{
    struct sha256_digest digest;

    sha256_add(state, slice_of(end, END_DIGEST_AT));
    digest = sha256_read(state);
    if (memcmp(digest.bytes, end + END_DIGEST_AT, SHA256_BYTES) != 0) {
        return fault_say(fault, ERR_CORRUPT,
                         "%s: damaged: its bytes do not match the SHA-256 at its end; "
                         "expected an unmodified file",
                         name);
    }
    return OK;
}
