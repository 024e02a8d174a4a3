/*
 * backup_copy.c: see backup_copy.h.
 */
#include "server/app/backup_copy.h"

#include "server/domain/replay/increment.h"
#include "server/domain/replay/position.h"
#include "store/base/pace.h"
#include "store/journal/journal.h"
#include "store/lmdb/lmdb_copy.h"

/* An increment's records are passed on in pieces of this size. */
#define PIECE_BYTES ((size_t)64 << 10)

static enum err put_bytes(void *user, struct slice bytes)
{
    struct backup_copy *copy = (struct backup_copy *)user;

    sha256_add(&copy->sha256, bytes);
    copy->file_bytes += bytes.size;
    return copy->put(copy->user, bytes);
}

/* --- the data of an increment --- */

struct gathering {
    struct backup_copy *copy;
    struct pace pace;
    uint8_t *piece;
    size_t size;
};

static enum err put_piece(struct gathering *gathering)
{
    size_t size = gathering->size;
    enum err err = put_bytes(gathering->copy, slice_of(gathering->piece, size));

    gathering->size = 0;
    pace_wait(&gathering->pace, size);
    return err;
}

static enum err gather(void *user, struct slice bytes)
{
    struct gathering *gathering = (struct gathering *)user;
    enum err err = OK;

    while (err == OK && bytes.size > 0) {
        size_t room = PIECE_BYTES - gathering->size;
        size_t size = bytes.size < room ? bytes.size : room;

        memcpy(gathering->piece + gathering->size, bytes.data, size);
        gathering->size += size;
        bytes = slice_after(bytes, size);
        if (gathering->size == PIECE_BYTES) {
            err = put_piece(gathering);
        }
    }
    return err;
}

static enum err put_increment(struct backup_copy *copy, struct store_txn *source)
{
    struct gathering gathering = {.copy = copy,
                                  .pace = pace_start(copy->clock, BACKUP_BYTES_A_SECOND_MAX),
                                  .piece = arena_alloc(copy->memory, PIECE_BYTES)};
    const struct increment_order order = {
        .since = copy->since, .take = gather, .user = &gathering, .fault = copy->fault};
    enum err err = gathering.piece == NULL ? ERR_MEMORY : increment_write(source, &order);

    return err == OK && gathering.size > 0 ? put_piece(&gathering) : err;
}

/* --- the whole file --- */

static enum err put_head(struct backup_copy *copy)
{
    uint8_t head[BACKUP_HEAD_BYTES];

    backup_head_write(&copy->info, head);
    return put_bytes(copy, slice_of(head, sizeof(head)));
}

/* Writes the data; the position is that of the same snapshot, or of one shortly before. */
static enum err put_data(struct backup_copy *copy)
{
    const struct store_copy whole = {.clock = copy->clock,
                                     .bytes_a_second = BACKUP_BYTES_A_SECOND_MAX,
                                     .take = put_bytes,
                                     .user = copy};
    struct store_txn *source = NULL;
    struct buffer position;
    enum err err = store_begin(copy->backend, STORE_READ, &source);

    if (err != OK) {
        return err;
    }
    buffer_init(&position, copy->memory, 0);
    err = position_write(source, &position);
    if (err == OK && copy->info.kind == BACKUP_INCREMENT) {
        err = put_increment(copy, source);
    }
    store_abort(source);
    if (err == OK && copy->info.kind == BACKUP_WHOLE) {
        err = store_lmdb_copy(copy->backend, &whole);
    }
    copy->position = buffer_slice(&position);
    return err == OK && position.size > 0 ? put_bytes(copy, copy->position) : err;
}

static enum err put_end(struct backup_copy *copy)
{
    uint8_t end[BACKUP_END_BYTES];

    backup_end_write(copy->file_bytes + BACKUP_END_BYTES, copy->position.size, &copy->sha256, end);
    sha256_add(&copy->sha256, slice_of(end + sizeof(end) - SHA256_BYTES, SHA256_BYTES));
    copy->file_bytes += sizeof(end);
    return copy->put(copy->user, slice_of(end, sizeof(end)));
}

enum err backup_copy_run(struct backup_copy *copy)
{
    enum err err = OK;

    copy->file_bytes = 0;
    copy->position = slice_of(NULL, 0);
    sha256_begin(&copy->sha256);
    err = put_head(copy);
    if (err == OK && copy->journal != NULL) {
        err = store_journal_checkpoint(copy->journal);
    }
    if (err == OK) {
        err = put_data(copy);
    }
    return err == OK ? put_end(copy) : err;
}
