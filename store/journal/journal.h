/*
 * journal.h: a back end over another one: a commit is written to a journal and synced once; the tables, in
 * the other back end, follow it in large transactions, sorted by key, on a thread of its own. Until
 * then the rows of a commit are in memory, where every transaction sees them merged with the tables.
 * After a crash, opening writes what the tables lack from the journal.
 *
 * So a commit costs one write and one sync of one file, regardless of the
 * number of pages that its rows belong to, and a page that many commits change is written once.
 * Like LevelDB's write-ahead log and memtable, with a B+ tree below.
 */
#ifndef ERRATA_STORE_JOURNAL_JOURNAL_H
#define ERRATA_STORE_JOURNAL_JOURNAL_H

#include "store/backend.h"
#include "store/base/clock.h"
#include "store/base/fault.h"
#include "store/base/random.h"

#define STORE_JOURNAL_SEGMENT_BYTES_DEFAULT (UINT64_C(32) << 20)
/* Room for the header of a segment and a few records. */
#define STORE_JOURNAL_SEGMENT_BYTES_MIN (UINT64_C(64) << 10)
/* Memory of a recovery, which reads one segment at a time; also the limit of a segment for one large record. */
#define STORE_JOURNAL_SEGMENT_BYTES_MAX (UINT64_C(256) << 20)
/* Limit of each of the two memtables, the one that takes commits and the one that is stored. */
#define STORE_JOURNAL_MEMTABLE_BYTES_DEFAULT ((size_t)64 << 20)
/* A commit is in the tables at the latest after the first of these. Its record is overwritten at the latest when both have
 * passed, if the disk takes it: within an hour, so much sooner than any retention ends. */
#define STORE_JOURNAL_STORE_AFTER_US (INT64_C(5) * 60 * 1000 * 1000)
#define STORE_JOURNAL_OVERWRITE_AFTER_US (INT64_C(10) * 60 * 1000 * 1000)
/* The folder of the segments, in the data folder. */
#define STORE_JOURNAL_FOLDER "journal"

struct store_journal_config {
    struct store_backend *tables; /* borrowed; this back end is its only writer */
    /* Returns whether the tables' file was removed: nothing is committed then, since the next opening would not find
     * the tables. NULL: never. Any thread. */
    bool (*is_lost)(const struct store_backend *tables);
    const char *path; /* the folder of the segments */
    uint64_t segment_bytes; /* size of each file; 0 selects the default */
    size_t memtable_bytes; /* 0 selects the default, or two segments if they are smaller */
    int64_t store_after_us; /* 0 selects STORE_JOURNAL_STORE_AFTER_US */
    int64_t overwrite_after_us; /* 0 selects STORE_JOURNAL_OVERWRITE_AFTER_US */
    struct random *random;
    const struct clock *clock;
};

/* Figures for monitoring. */
struct store_journal_stats {
    uint64_t memory_bytes; /* memory of both memtables */
    uint64_t
        kept_bytes; /* free memory that is kept for the next memtable; 0 if the journal is idle */
    uint64_t commits_waiting; /* commits that the tables lack */
    uint64_t stores; /* memtables that were stored in the tables */
    int64_t store_duration_us; /* total duration of storing them */
    uint64_t waits; /* commits that waited for the tables */
    uint64_t recovered; /* commits that the tables lacked at the opening */
};

/* Opens the journal, and stores the missing commits in the tables. If the disk is too full for that, they stay in memory,
 * can be read, and further commits are refused until they can be stored. On failure `fault` has the reason: ERR_CORRUPT if
 * commits are missing from the journal (segments.h); otherwise an error of the tables' back end. */
MUST_CHECK enum err store_journal_open(const struct store_journal_config *config,
                                       struct fault *fault, struct store_backend **ret_backend);
/* Stores in the tables the commits that only the journal has, if its folder exists. To be called
 * before any use of tables that were opened without the journal. After ERR_DISK_FULL the journal still has them. */
MUST_CHECK enum err store_journal_recover(const struct store_journal_config *config,
                                          struct fault *fault);
/* Returns whether the store has a journal: segments, or tables that were written by one. */
MUST_CHECK enum err store_journal_is_used(const struct store_journal_config *config,
                                          bool *ret_used);
/* Stores in the tables the commits that only the journal has, and removes the journal: from then on the tables may be
 * written without it. Of a disk that is too full to write anything to the tables, the journal is removed by a later
 * call. ERR_DISK_FULL: as store_journal_recover. */
MUST_CHECK enum err store_journal_end_use(const struct store_journal_config *config,
                                          struct fault *fault);
/* Stores all commits in the tables, if possible, and closes the journal; commits that could not be
 * stored remain in its files. No transaction may exist. NULL is allowed. */
void store_journal_close(struct store_backend *take_backend);
/* Returns once the tables have every commit that was made before the call. Returns the error if
 * storing them fails. Any thread but the writer's. */
MUST_CHECK enum err store_journal_checkpoint(struct store_backend *backend);
/* Returns once the files hold nothing of the commits that were made before the call: the tables have them, and their
 * records are overwritten. For content that was removed at somebody's request. Returns the error if it cannot be done;
 * ERR_UNAVAILABLE if the segments are needed too fast. Any thread but the writer's. */
MUST_CHECK enum err store_journal_erase(struct store_backend *backend);
/* Returns whether a write to the journal failed, so that nothing can be written until the program is started again. The
 * outcome of the last batch is unknown. Any thread. */
bool store_journal_is_broken(const struct store_backend *backend);
void store_journal_stats(struct store_backend *backend, struct store_journal_stats *ret_stats);

#endif
