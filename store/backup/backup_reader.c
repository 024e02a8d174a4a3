/*
 * backup_reader.c: see backup_reader.h.
 */
#include "store/backup/backup_reader.h"

#include "store/base/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 20)

/* Reports why a system call failed, by errno. */
static enum err say_unreadable(const struct backup_reader *reader)
{
    return fault_say(reader->fault, ERR_IO, "%s: cannot be read: %m", reader->name);
}

static enum err open_file(struct backup_reader *reader)
{
    struct stat info;

    reader->file = open(reader->name, O_RDONLY | O_CLOEXEC);
    if (reader->file < 0 || fstat(reader->file, &info) != 0) {
        return say_unreadable(reader);
    }
    if (!S_ISREG(info.st_mode) || info.st_size < BACKUP_HEAD_BYTES + BACKUP_END_BYTES) {
        return fault_say(reader->fault, ERR_INVALID,
                         "%s: not a backup; expected a file written by `errata admin backup`",
                         reader->name);
    }
    reader->info.file_bytes = (uint64_t)info.st_size;
    reader->piece = malloc(PIECE_BYTES);
    return reader->piece != NULL ? OK : ERR_MEMORY;
}

enum err backup_reader_read(const struct backup_reader *reader, uint64_t at, uint8_t *bytes,
                            size_t size)
{
    size_t read_bytes = 0;

    if (!file_read_at(reader->file, at, bytes, size, &read_bytes)) {
        return say_unreadable(reader);
    }
    return read_bytes == size
               ? OK
               : fault_say(reader->fault, ERR_IO,
                           "%s: changed while it was read; expected a file that no other program "
                           "changes",
                           reader->name);
}

static uint64_t end_at(const struct backup_reader *reader)
{
    return reader->info.file_bytes - BACKUP_END_BYTES;
}

enum err backup_reader_open(struct backup_reader *reader, const char *name, struct fault *fault)
{
    uint8_t edge[BACKUP_HEAD_BYTES];
    uint64_t file_bytes = 0;
    enum err err = OK;

    *reader = (struct backup_reader){.name = name, .fault = fault, .file = -1};
    err = open_file(reader);
    if (err == OK) {
        err = backup_reader_read(reader, 0, edge, BACKUP_HEAD_BYTES);
    }
    if (err == OK) {
        file_bytes = reader->info.file_bytes;
        err = backup_head_read(edge, name, fault, &reader->info);
        reader->info.file_bytes = file_bytes;
    }
    if (err == OK) {
        err = backup_reader_read(reader, end_at(reader), edge, BACKUP_END_BYTES);
    }
    return err != OK ? err
                     : backup_end_read(edge, file_bytes, name, fault, &reader->position_bytes);
}

uint64_t backup_reader_data_end(const struct backup_reader *reader)
{
    return end_at(reader) - reader->position_bytes;
}

/* Reads the next piece of the file, in front of `limit`. */
static enum err read_piece(struct backup_reader *reader, uint64_t at, uint64_t limit,
                           struct sha256_state *state, size_t *ret_size)
{
    size_t size = limit - at < PIECE_BYTES ? (size_t)(limit - at) : PIECE_BYTES;
    enum err err = backup_reader_read(reader, at, reader->piece, size);

    if (err == OK) {
        sha256_add(state, slice_of(reader->piece, size));
        *ret_size = size;
    }
    return err;
}

enum err backup_reader_check(struct backup_reader *reader, backup_take_fn *take,
                             backup_read_fn *on_read, void *user)
{
    uint64_t data_end = backup_reader_data_end(reader);
    uint8_t edge[BACKUP_HEAD_BYTES];
    struct sha256_state state;
    uint64_t at = BACKUP_HEAD_BYTES;
    enum err err = backup_reader_read(reader, 0, edge, BACKUP_HEAD_BYTES);

    sha256_begin(&state);
    sha256_add(&state, slice_of(edge, BACKUP_HEAD_BYTES));
    while (err == OK && at < end_at(reader)) {
        bool is_data = at < data_end;
        size_t size = 0;

        err = read_piece(reader, at, is_data ? data_end : end_at(reader), &state, &size);
        if (err == OK && is_data && take != NULL) {
            err = take(user, slice_of(reader->piece, size));
        }
        at += size;
        if (err == OK && on_read != NULL) {
            on_read(user, at, reader->info.file_bytes);
        }
    }
    if (err == OK) {
        err = backup_reader_read(reader, end_at(reader), edge, BACKUP_END_BYTES);
    }
    return err != OK ? err : backup_end_check(edge, &state, reader->name, reader->fault);
}

void backup_reader_close(struct backup_reader *reader)
{
    if (reader->file >= 0) {
        (void)close(reader->file);
    }
    free(reader->piece);
    reader->file = -1;
    reader->piece = NULL;
}
