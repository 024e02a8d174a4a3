/*
 * backup_since.c: see backup_since.h.
 */
#include "tools/errata/admin/backup_since.h"

#include "store/backup/backup_file.h"
#include "store/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest position that a server takes. */
#define POSITION_BYTES_MAX 2400000u

static enum cli_exit say_unreadable(struct cli *cli, const char *path)
{
    return cli_local(cli, "%s: can't be read: %s", path, strerror(errno));
}

/* Reads all of the bytes at an offset. */
static bool read_all_at(int file, uint64_t at, uint8_t *bytes, size_t size)
{
    size_t read_bytes = 0;

    if (!file_read_at(file, at, bytes, size, &read_bytes)) {
        return false;
    }
    errno = EIO; /* of a file that became shorter meanwhile */
    return read_bytes == size;
}

/* Reads the position of a file of `size` bytes from its end. */
static enum cli_exit read_position(struct cli *cli, const char *path, int file, uint64_t size,
                                   struct slice *ret_position)
{
    uint64_t end_at = size - BACKUP_END_BYTES;
    uint8_t end[BACKUP_END_BYTES];
    uint64_t position_bytes = 0;
    uint8_t *position = NULL;
    struct fault fault;

    if (!read_all_at(file, end_at, end, sizeof(end))) {
        return say_unreadable(cli, path);
    }
    fault_init(&fault, &cli->arena);
    if (backup_end_read(end, size, path, &fault, &position_bytes) != OK ||
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
    if (!read_all_at(file, end_at - position_bytes, position, (size_t)position_bytes)) {
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
    } else if (!S_ISREG(info.st_mode) || info.st_size < BACKUP_HEAD_BYTES + BACKUP_END_BYTES) {
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
