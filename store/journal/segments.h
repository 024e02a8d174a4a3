/*
 * segments.h: the journal's files, DIR/0 to DIR/7: allocated and written in full when they are created, so that a
 * later sync writes only the records. Records are appended to one segment until it is full, then to the next free
 * one; a segment is free again once the tables have all of its records. On a disk with little room there are only two.
 * A record that is larger than a segment gets one of its own size. A file of any size is read; once it is free, one that
 * has not the configured size is removed.
 * A record is durable when segments_append returns. One thread appends. segments_prepare, segments_release and
 * segments_overwrite_old may be called by another one.
 */
#ifndef ERRATA_STORE_JOURNAL_SEGMENTS_H
#define ERRATA_STORE_JOURNAL_SEGMENTS_H

#include "store/journal/journal.h"
#include "store/journal/record.h"

#define SEGMENTS_MAX 8

struct segments_config {
    const char *path; /* the folder of the files; created if it is missing */
    uint64_t segment_bytes; /* size of each segment */
    struct random *random;
    const struct clock *clock;
};

struct segments;

/* Returns whether the folder has a segment. */
bool segments_exist(const char *path);
/* Removes the segments for good, with one that is not complete, and the folder if it has no other files. On failure
 * `fault` names the file. No segments may be open there. */
MUST_CHECK enum err segments_remove(const char *path, struct fault *fault);

/* Opens the folder, and syncs the data that an earlier process wrote, also on a full disk. On failure `fault` has the
 * reason. */
MUST_CHECK enum err segments_open(const struct segments_config *config, struct fault *fault,
                                  struct segments **ret_segments);
/* NULL is allowed. */
void segments_close(struct segments *take_segments);

/* A callback for each row of a segment, in the order in which the rows were written. */
typedef enum err segments_on_row(void *user, const struct memtable_row *row);
/* Called after the rows of a record. */
typedef enum err segments_on_record(void *user, uint64_t number);

struct segments_replay {
    uint64_t after; /* the last record that the tables have */
    segments_on_row *on_row;
    segments_on_record *on_record;
    void *user;
};

/* Reads the records after `after`, whose numbers have no gaps; `ret_last` is the number of the last
 * one, or `after`. Call it once, before the first append. ERR_CORRUPT if records are missing
 * between others, or belong to tables that this program does not have. */
MUST_CHECK enum err segments_replay(struct segments *segments, const struct segments_replay *replay,
                                    struct fault *fault, uint64_t *ret_last);

/* Completes a record, writes it and makes it durable. After ERR_DISK_FULL, ERR_IO, ERR_BUSY (no
 * segment is free) or ERR_MEMORY (also if it exceeds the largest segment) nothing was written; ERR_IO
 * also while the tables lack records of a file that was removed. After ERR_UNAVAILABLE it is unknown
 * whether the record is durable, and nothing more can be appended. */
MUST_CHECK enum err segments_append(struct segments *segments, struct record *record,
                                    uint64_t number);
/* Frees the segments whose records have all been stored in the tables, up to this number. */
void segments_release(struct segments *segments, uint64_t number);
/* Also frees the segment that is appended to, and clears the headers, so that the next opening has
 * nothing to read. Called only by the appending thread. */
void segments_clear(struct segments *segments, uint64_t number);
/* Removes the files of free segments, for a disk that is full. Returns whether there was one. Any thread. */
bool segments_give_up_free(struct segments *segments);
/* Ends the use of the segment that is appended to, if its first record was written at `until_us` (monotonic) or earlier: the
 * next append takes another one. With `only_released`, only if the tables have all of its records. Not while another
 * thread appends. */
void segments_end_old(struct segments *segments, int64_t until_us, bool only_released);
/* Returns whether a file holds records of this time or earlier, in use or not. */
bool segments_have_old(struct segments *segments, int64_t until_us);
/* Overwrites with zeros a free segment that has records of this time or earlier: content that was removed from the
 * tables is not kept by the journal. ERR_NOT_FOUND: there is none. After another error it is tried again when it is as
 * old again. */
MUST_CHECK enum err segments_overwrite_old(struct segments *segments, int64_t until_us);
/* Creates a free segment, if there is none and the disk keeps room for the tables, so that an
 * append does not have to. */
MUST_CHECK enum err segments_prepare(struct segments *segments);

#endif
