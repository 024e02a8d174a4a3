/*
 * backup_since.c: see backup_since.h.
 */
#include "tools/errata/admin/backup_since.h"

#include "store/base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_MARK "errata-backup .\n"
/* Sizes and offsets of the end. */
enum {
    END_BYTES = 64,
    FILE_BYTES_AT = 16,
    POSITION_BYTES_AT = 24
};
/* The largest position that a server takes. */
#define POSITION_BYTES_MAX 2400000u

static enum cli_exit say_unreadable(struct cli *cli, const char *path)
{
    return cli_local(cli, "%s: can't be read: %s", path, strerror(errno));
}

/* Reads all of the bytes at an offset. */
static bool read_at(int file, off_t at, uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = pread(file, bytes, size, at);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            errno = count == 0 ? EIO : errno;
            return false;
        }
        at += count;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

/* Reads the position of a file of `size` bytes from its end. */
static enum cli_exit read_position(struct cli *cli, const char *path, int file, uint64_t size,
                                   struct slice *ret_position)
{
    uint8_t end[END_BYTES];
    uint64_t position_bytes = 0;
    uint8_t *position = NULL;

    if (!read_at(file, (off_t)(size - END_BYTES), end, sizeof(end))) {
        return say_unreadable(cli, path);
    }
    position_bytes = bytes_get_be64(end + POSITION_BYTES_AT);
    if (memcmp(end, END_MARK, sizeof(END_MARK) - 1) != 0 ||
        bytes_get_be64(end + FILE_BYTES_AT) != size || position_bytes > size - 2 * END_BYTES ||
        position_bytes > POSITION_BYTES_MAX) {
        return cli_local(cli,
                         "--since %s: not a complete backup; expected a file that `errata admin "
                         "backup` wrote",
                         path);
    }
    if (position_bytes == 0) {
        return cli_local(
            cli,
            "--since %s: has no position, so there are no increments after it: the server was "
            "older, or has more than 100,000 organisations; expected a whole backup "
            "instead",
            path);
    }
    position = arena_alloc(&cli->arena, (size_t)position_bytes);
    if (position == NULL) {
        return cli_local(cli, "out of memory");
    }
    if (!read_at(file, (off_t)(size - END_BYTES - position_bytes), position,
                 (size_t)position_bytes)) {
        return say_unreadable(cli, path);
    }
    *ret_position = slice_of(position, (size_t)position_bytes);
    return CLI_OK;
}

enum cli_exit backup_since_read(struct cli *cli, const char *path, struct slice *ret_position)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    enum cli_exit result = CLI_OK;

    if (file < 0 || fstat(file, &info) != 0) {
        result = say_unreadable(cli, path);
    } else if (!S_ISREG(info.st_mode) || info.st_size < 2 * END_BYTES) {
        result = cli_local(cli,
                           "--since %s: not a backup; expected a file that `errata admin backup` "
                           "wrote",
                           path);
    } else {
        result = read_position(cli, path, file, (uint64_t)info.st_size, ret_position);
    }
    if (file >= 0) {
        (void)close(file);
    }
    return result;
}
