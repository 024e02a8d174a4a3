/*
 * segments.c: the files of segments.h. A segment begins with a header:
 *   "ERRATAJ1" 8, CRC of what follows 4, size of the tables' names 4, number of the segment 8, random bytes 16,
 *   the tables' names, each ended by a zero byte
 * Its number, not the name of its file, orders the segments. The names define the table numbers in
 * its records. The first record is at HEADER_BYTES.
 */
#include "store/journal/segments.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/base/fault_point.h"
#include "store/journal/segment_file.h"
#include "store/lmdb/disk.h"
#include "store/lmdb/lmdb_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HEADER_BYTES ((size_t)8192)
/* Files that are made as long as there is room. */
#define FILES_LEAST 2
/* Room that the disk keeps for the tables when a further file is made, in segments: a memtable is two. */
#define ROOM_FOR_TABLES 4

static const uint8_t mark[] = {'E', 'R', 'R', 'A', 'T', 'A', 'J', '1'};

enum {
    CRC_AT = 8,
    NAMES_BYTES_AT = 12,
    NUMBER_AT = 16,
    RANDOM_AT = 24,
    NAMES_AT = 40
};

struct segment {
    int fd; /* -1: no file */
    uint64_t bytes; /* size of its file */
    uint64_t number; /* 0: the segment is free */
    uint64_t last_record; /* number of its last record; 0: none */
    bool is_busy; /* its file is being made or overwritten: it is not free yet */
    bool has_header;
    uint64_t used; /* bytes from its start that may hold records */
    int64_t used_at_us; /* monotonic: no byte of a record was written before it */
};

struct segments {
    char path[SEGMENT_FOLDER_BYTES_MAX];
    uint64_t segment_bytes;
    struct random *random;
    const struct clock *clock;
    bool broken; /* an append failed after it wrote */
    pthread_mutex_t lock; /* protects what is known of those below, and changes of `current` */
    struct segment all[SEGMENTS_MAX];
    struct segment *current; /* NULL: the next append takes a free one */
    uint64_t released; /* the last record that the tables are known to have */
    /* Used only by the appending thread: */
    uint64_t last_number; /* number of the last segment */
    uint64_t offset; /* offset of the next record */
    uint32_t chain; /* CRC of the last record, or of the header */
};

static enum err open_file(struct segments *segments, size_t index)
{
    struct segment *segment = &segments->all[index];
    enum err err = segment_file_open(segments->path, index, &segment->fd, &segment->bytes);

    segment->used = segment->bytes;
    segment->used_at_us = clock_monotonic_us(segments->clock);
    return err;
}

/* Opens the files. A process that was killed may have given one its name, which records in it depend on, without making
 * the name durable. */
static enum err open_files(struct segments *segments)
{
    bool has_file = false;
    enum err err = OK;

    for (size_t i = 0; i < SEGMENTS_MAX && err == OK; i++) {
        err = open_file(segments, i);
        has_file = has_file || segments->all[i].fd >= 0;
    }
    if (err == OK && has_file) {
        err = segment_file_sync_names(segments->path);
    }
    return err;
}

enum err segments_open(const struct segments_config *config, struct fault *fault,
                       struct segments **ret_segments)
{
    struct segments *segments = NULL;
    enum err err = OK;

    if (strlen(config->path) >= SEGMENT_FOLDER_BYTES_MAX) {
        return fault_say(fault, ERR_INVALID, "%s: expected a path of at most %d bytes",
                         config->path, SEGMENT_FOLDER_BYTES_MAX - 1);
    }
    segments = calloc(1, sizeof(*segments));
    if (segments == NULL) {
        return ERR_MEMORY;
    }
    (void)snprintf(segments->path, sizeof(segments->path), "%s", config->path);
    segments->segment_bytes = config->segment_bytes;
    ASSERT(segments->segment_bytes >= STORE_JOURNAL_SEGMENT_BYTES_MIN &&
           segments->segment_bytes <= STORE_JOURNAL_SEGMENT_BYTES_MAX);
    segments->random = config->random;
    segments->clock = config->clock;
    (void)pthread_mutex_init(&segments->lock, NULL);
    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        segments->all[i].fd = -1;
    }
    err = disk_make_folder(segments->path);
    err = err == ERR_DISK_FULL ? OK : err; /* it is made with its first file */
    if (err == OK) {
        err = open_files(segments);
    }
    if (err != OK) {
        err = fault_say(fault, err, "%s: cannot open the journal: %m", segments->path);
        segments_close(segments);
        return err;
    }
    *ret_segments = segments;
    return OK;
}

void segments_close(struct segments *take_segments)
{
    if (take_segments == NULL) {
        return;
    }
    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        if (take_segments->all[i].fd >= 0) {
            (void)close(take_segments->all[i].fd);
        }
    }
    (void)pthread_mutex_destroy(&take_segments->lock);
    free(take_segments);
}

/* A segment as read by recovery. */
struct loaded {
    struct segment *segment; /* NULL: it has no records */
    uint32_t chain; /* CRC of the segment's header */
    uint8_t *bytes; /* owned, while its records are read */
    size_t size;
    /* The program's table for each table number in its records; TABLE_COUNT: there is no table of this name. */
    uint16_t tables[UINT8_MAX + 1];
};

static enum store_table find_table(const char *name)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (strcmp(name, store_table_name((enum store_table)i)) == 0) {
            return (enum store_table)i;
        }
    }
    return TABLE_COUNT;
}

static void read_names(struct loaded *loaded, const uint8_t *names, size_t size)
{
    size_t at = 0;

    for (size_t i = 0; i <= UINT8_MAX; i++) {
        const uint8_t *end = at < size ? memchr(names + at, 0, size - at) : NULL;

        loaded->tables[i] = TABLE_COUNT;
        if (end != NULL) {
            loaded->tables[i] = (uint16_t)find_table((const char *)names + at);
            at = (size_t)(end - names) + 1;
        }
    }
}

static uint32_t header_crc(const uint8_t *header)
{
    return (uint32_t)crc32_z(0, header + NAMES_BYTES_AT, HEADER_BYTES - NAMES_BYTES_AT);
}

static bool is_header(const uint8_t *bytes, size_t size)
{
    return size >= HEADER_BYTES && memcmp(bytes, mark, sizeof(mark)) == 0 &&
           header_crc(bytes) == bytes_get_be32(bytes + CRC_AT) &&
           bytes_get_be32(bytes + NAMES_BYTES_AT) <= HEADER_BYTES - NAMES_AT;
}

/* Reads a file's header. A segment with an invalid one was being reused: the tables have its earlier
 * records, and no new one was acknowledged. So it is free. */
static enum err load(struct segment *segment, struct loaded *ret_loaded)
{
    uint8_t header[HEADER_BYTES];
    size_t size = 0;
    enum err err = segment_file_read(segment->fd, header, sizeof(header), &size);

    if (err != OK || !is_header(header, size)) {
        return err;
    }
    segment->has_header = true;
    segment->number = bytes_get_be64(header + NUMBER_AT);
    ret_loaded->segment = segment;
    ret_loaded->chain = bytes_get_be32(header + CRC_AT);
    read_names(ret_loaded, header + NAMES_AT, bytes_get_be32(header + NAMES_BYTES_AT));
    return OK;
}

static int compare_loaded(const void *left, const void *right)
{
    uint64_t a = ((const struct loaded *)left)->segment->number;
    uint64_t b = ((const struct loaded *)right)->segment->number;

    return (a > b) - (a < b);
}

static enum err replay_rows(const struct loaded *loaded, const struct record_view *record,
                            const struct segments_replay *replay, struct fault *fault)
{
    struct slice rows = record->rows;
    struct memtable_row row = {.number = record->number};
    enum err err = OK;

    for (;;) {
        uint8_t table = 0;

        err = record_next(&rows, &table, &row);
        if (err == ERR_NOT_FOUND) {
            return replay->on_record(replay->user, record->number);
        }
        if (err == OK && loaded->tables[table] == TABLE_COUNT) {
            return fault_say(
                fault, ERR_CORRUPT,
                "the journal has rows of a table that this program does not know; expected the "
                "program that wrote it: start and stop that one once");
        }
        row.table = (enum store_table)loaded->tables[table];
        err = err == OK ? replay->on_row(replay->user, &row) : err;
        if (err != OK) {
            return err;
        }
    }
}

/* Reads the records of one segment; `last` is the number of the last record before the segment, and is updated. */
static enum err replay_segment(const struct loaded *loaded, const struct segments_replay *replay,
                               struct fault *fault, uint64_t *last)
{
    uint32_t chain = loaded->chain;
    size_t at = HEADER_BYTES;
    struct record_view record;

    while (record_read(slice_of(loaded->bytes + at, loaded->size - at), chain, &record)) {
        enum err err = OK;

        if (record.number > *last + 1) {
            return fault_say(fault, ERR_CORRUPT,
                             "the journal lacks the commits %llu to %llu: a segment is damaged or "
                             "missing",
                             (unsigned long long)*last + 1, (unsigned long long)record.number - 1);
        }
        if (record.number == *last + 1) {
            err = replay_rows(loaded, &record, replay, fault);
            *last = record.number;
        }
        if (err != OK) {
            return err;
        }
        loaded->segment->last_record = record.number;
        chain = record.crc;
        at += record.size;
    }
    if (record_is_damaged(slice_of(loaded->bytes + at, loaded->size - at), *last + 1)) {
        return fault_say(fault, ERR_CORRUPT, "commit %llu of the journal is damaged",
                         (unsigned long long)*last + 1);
    }
    return OK;
}

/* Reads the whole file, and the records in it. */
static enum err replay_file(struct loaded *loaded, const struct segments_replay *replay,
                            struct fault *fault, uint64_t *last)
{
    uint64_t size = loaded->segment->bytes < STORE_JOURNAL_SEGMENT_BYTES_MAX
                        ? loaded->segment->bytes
                        : STORE_JOURNAL_SEGMENT_BYTES_MAX;
    enum err err = ERR_MEMORY;

    loaded->bytes = malloc(size);
    if (loaded->bytes != NULL) {
        err = segment_file_read(loaded->segment->fd, loaded->bytes, size, &loaded->size);
    }
    if (err == OK) {
        err = loaded->size >= HEADER_BYTES ? replay_segment(loaded, replay, fault, last) : ERR_IO;
    }
    free(loaded->bytes);
    loaded->bytes = NULL;
    return err;
}

enum err segments_replay(struct segments *segments, const struct segments_replay *replay,
                         struct fault *fault, uint64_t *ret_last)
{
    struct loaded loaded[SEGMENTS_MAX];
    size_t count = 0;
    enum err err = OK;

    *ret_last = replay->after;
    memset(loaded, 0, sizeof(loaded));
    for (size_t i = 0; i < SEGMENTS_MAX && err == OK; i++) {
        if (segments->all[i].fd >= 0) {
            err = load(&segments->all[i], &loaded[count]);
            count += loaded[count].segment != NULL;
        }
    }
    qsort(loaded, count, sizeof(loaded[0]), compare_loaded);
    for (size_t i = 0; i < count && err == OK; i++) {
        segments->last_number = loaded[i].segment->number;
        err = replay_file(&loaded[i], replay, fault, ret_last);
    }
    if (err != OK && fault->message.size == 0) {
        return fault_say(fault, err, "%s: cannot read the journal: %s", segments->path,
                         err_text(err));
    }
    return err;
}

static void forget_file(struct segment *segment)
{
    (void)close(segment->fd);
    segment->fd = -1;
    segment->bytes = 0;
    segment->number = 0;
    segment->has_header = false;
    segment->used = 0;
}

/* Returns whether the file was removed: of a segment that is free. */
static bool drop_file(struct segments *segments, struct segment *segment)
{
    if (segment_file_unlink(segments->path, (size_t)(segment - segments->all)) != OK) {
        return false;
    }
    forget_file(segment);
    return true;
}

/* Finds a free segment, if possible one with a file, and without old records; NULL if all are in use. The lock is held. */
static struct segment *find_free(struct segments *segments)
{
    struct segment *with_records = NULL;
    struct segment *without_file = NULL;

    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        struct segment *segment = &segments->all[i];

        if (segment->number != 0 || segment->is_busy) {
            continue;
        }
        if (segment->fd >= 0 && disk_is_removed(segment->fd)) {
            forget_file(segment);
        }
        if (segment->fd >= 0 && segment->used == 0) {
            return segment;
        }
        if (segment->fd >= 0 && with_records == NULL) {
            with_records = segment;
        } else if (segment->fd < 0 && without_file == NULL) {
            without_file = segment;
        }
    }
    return with_records != NULL ? with_records : without_file;
}

/* Returns whether another file of this size may be made: a disk that is filled with segments has no room for the
 * tables, which free them. */
static bool may_make_file(const struct segments *segments, uint64_t bytes)
{
    size_t count = 0;
    uint64_t free_bytes = 0;

    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        count += segments->all[i].fd >= 0;
    }
    if (count < FILES_LEAST) {
        return true;
    }
    return !FAULT("journal.room") && store_lmdb_free_bytes(segments->path, &free_bytes) == OK &&
           free_bytes >= bytes + ROOM_FOR_TABLES * segments->segment_bytes;
}

/* The file is created without holding the lock, which an append needs. */
enum err segments_prepare(struct segments *segments)
{
    struct segment *segment = NULL;
    int fd = -1;
    enum err err = OK;

    (void)pthread_mutex_lock(&segments->lock);
    segment = find_free(segments);
    if (segment == NULL || segment->fd >= 0 || !may_make_file(segments, segments->segment_bytes)) {
        (void)pthread_mutex_unlock(&segments->lock);
        return OK;
    }
    segment->is_busy = true;
    (void)pthread_mutex_unlock(&segments->lock);
    err = segment_file_create(segments->path, (size_t)(segment - segments->all),
                              segments->segment_bytes, &fd);
    (void)pthread_mutex_lock(&segments->lock);
    segment->is_busy = false;
    segment->fd = fd;
    segment->bytes = segments->segment_bytes;
    (void)pthread_mutex_unlock(&segments->lock);
    return err;
}

/* Makes the file of a free segment, of the configured size or of a larger one. */
static enum err make_file(struct segments *segments, struct segment *segment, uint64_t bytes)
{
    enum err err = OK;

    bytes = bytes < segments->segment_bytes ? segments->segment_bytes : bytes;
    if (!may_make_file(segments, bytes)) {
        return ERR_DISK_FULL;
    }
    err =
        segment_file_create(segments->path, (size_t)(segment - segments->all), bytes, &segment->fd);
    if (err == OK) {
        segment->bytes = bytes;
    }
    return err;
}

/* Frees the segment that is appended to, if the tables have all of its records; returns whether it did. The lock is held. */
static bool free_current(struct segments *segments)
{
    if (segments->current == NULL || segments->current->last_record > segments->released) {
        return false;
    }
    segments->current->number = 0;
    segments->current = NULL;
    return true;
}

/* Finds a free segment with a file of at least this size, which is made if it is missing or too small. */
static enum err take_free(struct segments *segments, uint64_t bytes, struct segment **ret_segment)
{
    struct segment *segment = NULL;
    enum err err = OK;

    (void)pthread_mutex_lock(&segments->lock);
    /* The full one is free too if the tables have its records: on a full disk there may be no other. */
    (void)free_current(segments);
    segment = find_free(segments);
    if (segment != NULL && segment->fd >= 0 && segment->bytes < bytes) {
        (void)drop_file(segments, segment);
    }
    if (segment == NULL) {
        err = ERR_BUSY;
    } else if (segment->fd < 0) {
        err = make_file(segments, segment, bytes);
    } else if (segment->bytes < bytes) {
        err = ERR_IO;
    }
    if (err == OK) {
        segment->number = ++segments->last_number;
        segment->last_record = 0;
        if (segment->used == 0) {
            segment->used = HEADER_BYTES;
            segment->used_at_us = clock_monotonic_us(segments->clock);
        }
        segments->current = segment;
        *ret_segment = segment;
    }
    (void)pthread_mutex_unlock(&segments->lock);
    return err;
}

static void write_names(uint8_t *header)
{
    size_t at = NAMES_AT;

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const char *name = store_table_name((enum store_table)i);
        size_t bytes = strlen(name) + 1;

        ASSERT(at + bytes <= HEADER_BYTES);
        memcpy(header + at, name, bytes);
        at += bytes;
    }
    bytes_put_be32(header + NAMES_BYTES_AT, (uint32_t)(at - NAMES_AT));
}

/* The state of the disk is unknown from now on. */
static enum err break_off(struct segments *segments)
{
    segments->broken = true;
    return ERR_UNAVAILABLE;
}

/* Starts the next segment, for a record of this size. Its header is made durable with its first record. */
static enum err start_segment(struct segments *segments, size_t record_bytes)
{
    uint8_t header[HEADER_BYTES];
    struct segment *segment = NULL;
    enum err err = take_free(segments, HEADER_BYTES + record_bytes, &segment);

    if (err != OK) {
        return err;
    }
    memset(header, 0, sizeof(header));
    memcpy(header, mark, sizeof(mark));
    bytes_put_be64(header + NUMBER_AT, segment->number);
    random_fill(segments->random, header + RANDOM_AT, NAMES_AT - RANDOM_AT);
    write_names(header);
    segments->chain = header_crc(header);
    bytes_put_be32(header + CRC_AT, segments->chain);
    segment->has_header = true;
    segments->offset = HEADER_BYTES;
    return segment_file_write(segment->fd, header, sizeof(header), 0) == OK ? OK
                                                                            : break_off(segments);
}

/* Ends the use of a segment whose file was removed. ERR_IO until the tables have its records: a later one, in another
 * segment, would be of no use without them. */
static enum err leave_removed(struct segments *segments)
{
    enum err err = OK;

    (void)pthread_mutex_lock(&segments->lock);
    if (segments->current->last_record > segments->released) {
        err = ERR_IO;
    } else {
        forget_file(segments->current);
        segments->current = NULL;
    }
    (void)pthread_mutex_unlock(&segments->lock);
    return err;
}

enum err segments_append(struct segments *segments, struct record *record, uint64_t number)
{
    uint32_t crc = 0;
    enum err err = OK;

    if (segments->broken) {
        return ERR_UNAVAILABLE;
    }
    if (record->failed || record->size > STORE_JOURNAL_SEGMENT_BYTES_MAX - HEADER_BYTES) {
        return ERR_MEMORY;
    }
    if (segments->current != NULL && disk_is_removed(segments->current->fd)) {
        err = leave_removed(segments);
        if (err != OK) {
            return err;
        }
    }
    if (segments->current == NULL || segments->current->bytes - segments->offset < record->size) {
        err = start_segment(segments, record->size);
        if (err != OK) {
            return err;
        }
    }
    err = record_end(record, number, segments->chain, &crc);
    if (err != OK) {
        return err;
    }
    if (FAULT("journal.write") ||
        segment_file_write(segments->current->fd, record->bytes, record->size, segments->offset) !=
            OK ||
        FAULT("journal.sync") || fdatasync(segments->current->fd) != 0) {
        return break_off(segments);
    }
    segments->offset += record->size;
    segments->chain = crc;
    (void)pthread_mutex_lock(&segments->lock);
    segments->current->last_record = number;
    if (segments->current->used < segments->offset) {
        segments->current->used = segments->offset;
    }
    (void)pthread_mutex_unlock(&segments->lock);
    return OK;
}

void segments_release(struct segments *segments, uint64_t number)
{
    (void)pthread_mutex_lock(&segments->lock);
    segments->released = number;
    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        struct segment *segment = &segments->all[i];

        if (segment->number != 0 && segment != segments->current &&
            segment->last_record <= number) {
            segment->number = 0;
        }
        if (segment->number == 0 && !segment->is_busy && segment->fd >= 0 &&
            segment->bytes != segments->segment_bytes) {
            (void)drop_file(segments, segment); /* otherwise it is used as it is */
        }
    }
    (void)pthread_mutex_unlock(&segments->lock);
}

bool segments_give_up_free(struct segments *segments)
{
    bool gave_up = false;

    (void)pthread_mutex_lock(&segments->lock);
    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        struct segment *segment = &segments->all[i];

        if (segment->number == 0 && !segment->is_busy && segment->fd >= 0) {
            gave_up = drop_file(segments, segment) || gave_up;
        }
    }
    (void)pthread_mutex_unlock(&segments->lock);
    return gave_up;
}

void segments_clear(struct segments *segments, uint64_t number)
{
    static const uint8_t nothing[HEADER_BYTES];

    (void)pthread_mutex_lock(&segments->lock);
    segments->current = NULL;
    (void)pthread_mutex_unlock(&segments->lock);
    segments_release(segments, number);
    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        struct segment *segment = &segments->all[i];

        if (segment->number != 0 || !segment->has_header) {
            continue;
        }
        /* If this fails, the next opening reads records that the tables already have, and skips them. */
        if (segment_file_write(segment->fd, nothing, sizeof(nothing), 0) == OK &&
            fdatasync(segment->fd) == 0) {
            segment->has_header = false;
        }
    }
}

void segments_end_old(struct segments *segments, int64_t until_us, bool only_released)
{
    (void)pthread_mutex_lock(&segments->lock);
    if (segments->current != NULL && !segments->broken &&
        segments->current->used_at_us <= until_us && !free_current(segments) && !only_released) {
        segments->current = NULL; /* free once the tables have its records */
    }
    (void)pthread_mutex_unlock(&segments->lock);
}

static bool is_old(const struct segment *segment, int64_t until_us)
{
    return segment->fd >= 0 && segment->used > 0 && segment->used_at_us <= until_us;
}

bool segments_have_old(struct segments *segments, int64_t until_us)
{
    bool have = false;

    (void)pthread_mutex_lock(&segments->lock);
    for (size_t i = 0; i < SEGMENTS_MAX && !have; i++) {
        have = is_old(&segments->all[i], until_us);
    }
    (void)pthread_mutex_unlock(&segments->lock);
    return have;
}

/* Returns a free segment that has records of this time or earlier; NULL: there is none. The lock is held. */
static struct segment *find_old(struct segments *segments, int64_t until_us)
{
    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        struct segment *segment = &segments->all[i];

        if (segment->number == 0 && !segment->is_busy && is_old(segment, until_us)) {
            return segment;
        }
    }
    return NULL;
}

enum err segments_overwrite_old(struct segments *segments, int64_t until_us)
{
    struct segment *segment = NULL;
    enum err err = OK;

    (void)pthread_mutex_lock(&segments->lock);
    segment = find_old(segments, until_us);
    if (segment != NULL) {
        segment->is_busy = true;
    }
    (void)pthread_mutex_unlock(&segments->lock);
    if (segment == NULL) {
        return ERR_NOT_FOUND;
    }
    err = segment_file_overwrite(segment->fd, segment->used);
    (void)pthread_mutex_lock(&segments->lock);
    segment->is_busy = false;
    if (err == OK) {
        segment->used = 0;
        segment->has_header = false;
    } else {
        segment->used_at_us = clock_monotonic_us(segments->clock); /* tried again as late */
    }
    (void)pthread_mutex_unlock(&segments->lock);
    return err;
}
