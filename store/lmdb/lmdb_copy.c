/*
 * lmdb_copy.c: LMDB writes its copy into a pipe, on a thread that may block there; the caller's
 * thread reads it at its own pace, and may stop. The file is read ahead in large pieces, since the
 * map is read page by page.
 */
#include "store/lmdb/lmdb_copy.h"

#include "store/base/pace.h"
#include "store/lmdb/disk.h"
#include "store/lmdb/lmdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AHEAD_BYTES (8u << 20)
/* Unwritten bytes of a copy; with more, the store's commits would wait for the disk, too. */
#define UNWRITTEN_BYTES_MAX (8u << 20)

/* The thread on which LMDB copies. */
struct producer {
    struct lmdb_backend *lmdb;
    int pipe; /* the write end of a pipe, closed by the thread */
    int code; /* result of LMDB; read after the thread has ended */
};

static void *produce(void *user)
{
    struct producer *producer = user;
    sigset_t signals;

    /* A reader that stops closes its end: that must be a failed write, not a signal. */
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    producer->code = mdb_env_copyfd2(producer->lmdb->env, producer->pipe, 0);
    (void)close(producer->pipe);
    return NULL;
}

/* State of the reading side. */
struct taking {
    const struct store_copy *copy;
    int pipe;
    int file; /* the store's file, to be read ahead; owned by LMDB */
    struct pace pace;
};

static void read_ahead(const struct taking *taking)
{
    uint64_t bytes = taking->pace.bytes;

    if (bytes % AHEAD_BYTES < STORE_COPY_PIECE_BYTES) {
        /* failing only makes it slower */
        (void)readahead(taking->file, (off64_t)(bytes / AHEAD_BYTES * AHEAD_BYTES),
                        2 * (size_t)AHEAD_BYTES);
    }
}

/* Reads one piece. ERR_NOT_FOUND at the end. */
static enum err take_piece(struct taking *taking, uint8_t *piece)
{
    size_t size = 0;
    enum err err = OK;

    while (size < STORE_COPY_PIECE_BYTES) {
        ssize_t count = read(taking->pipe, piece + size, STORE_COPY_PIECE_BYTES - size);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return ERR_IO;
        }
        if (count == 0) {
            break;
        }
        size += (size_t)count;
    }
    if (size == 0) {
        return ERR_NOT_FOUND;
    }
    err = taking->copy->take(taking->copy->user, slice_of(piece, size));
    pace_wait(&taking->pace, size);
    return err;
}

static enum err take_all(struct taking *taking)
{
    uint8_t *piece = malloc(STORE_COPY_PIECE_BYTES);
    enum err err = piece != NULL ? OK : ERR_MEMORY;

    while (err == OK) {
        read_ahead(taking);
        err = take_piece(taking, piece);
    }
    free(piece);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err store_lmdb_copy(struct store_backend *backend, const struct store_copy *copy)
{
    struct producer producer = {.lmdb = (struct lmdb_backend *)backend};
    struct taking taking = {.copy = copy, .pace = pace_start(copy->clock, copy->bytes_a_second)};
    pthread_t thread = 0;
    int ends[2];
    enum err err = OK;

    if (mdb_env_get_fd(producer.lmdb->env, &taking.file) != MDB_SUCCESS ||
        pipe2(ends, O_CLOEXEC) != 0) {
        return ERR_IO;
    }
    /* if this fails, the pipe is smaller and slower */
    (void)fcntl(ends[1], F_SETPIPE_SZ, STORE_COPY_PIECE_BYTES);
    producer.pipe = ends[1];
    if (pthread_create(&thread, NULL, produce, &producer) != 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return ERR_MEMORY;
    }
    taking.pipe = ends[0];
    err = take_all(&taking);
    (void)close(ends[0]);
    (void)pthread_join(thread, NULL);
    if (err == OK) {
        err = lmdb_translate(producer.lmdb, producer.code);
    }
    return err;
}

/* The file that receives a copy. */
struct writing {
    const struct store_copy_to *to;
    int file;
    uint64_t bytes; /* written */
    uint64_t synced_bytes; /* bytes on disk; they stay in memory for later reads */
};

static enum err write_piece(struct writing *writing, struct slice bytes)
{
    while (bytes.size > 0) {
        ssize_t count = write(writing->file, bytes.data, bytes.size);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return errno == ENOSPC || errno == EDQUOT ? ERR_DISK_FULL : ERR_IO;
        }
        writing->bytes += (uint64_t)count;
        bytes = slice_after(bytes, (size_t)count);
    }
    return OK;
}

static enum err write_taken(void *user, struct slice bytes)
{
    struct writing *writing = user;
    enum err err = write_piece(writing, bytes);
    uint64_t waiting = writing->bytes - writing->synced_bytes;

    if (err == OK && waiting >= UNWRITTEN_BYTES_MAX) {
        /* failing only allows more unwritten bytes */
        (void)sync_file_range(writing->file, (off64_t)writing->synced_bytes, (off64_t)waiting,
                              SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        writing->synced_bytes = writing->bytes;
    }
    if (err == OK && !writing->to->on_progress(writing->to->user, writing->bytes)) {
        err = ERR_CANCELLED;
    }
    return err;
}

enum err store_lmdb_copy_to(struct store_backend *backend, const char *path,
                            const struct store_copy_to *copy)
{
    struct writing writing = {.to = copy};
    struct store_copy from = {.clock = copy->clock,
                              .bytes_a_second = copy->bytes_a_second,
                              .take = write_taken,
                              .user = &writing};
    char name[LMDB_PATH_BYTES_MAX + 32];
    enum err err = disk_make_folder(path);

    if (err == OK) {
        (void)snprintf(name, sizeof(name), "%s/db", path);
        err = disk_make_folder(name);
    }
    if (err != OK) {
        return err;
    }
    (void)snprintf(name, sizeof(name), "%s/db/data.mdb", path);
    writing.file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (writing.file < 0) {
        return errno == ENOSPC || errno == EDQUOT ? ERR_DISK_FULL : ERR_IO;
    }
    err = store_lmdb_copy(backend, &from);
    if (close(writing.file) != 0 && err == OK) {
        err = ERR_IO;
    }
    return err;
}
