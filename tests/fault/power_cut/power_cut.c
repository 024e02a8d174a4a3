/*
 * power_cut.c: the possible states of a data folder after power cuts, from the journal of one run, and a check of each.
 * Images are drawn by a seed and written one after another to a separate folder, and a separate process examines each,
 * so that a crash is a finding too. tools/power-cut makes the journal.
 *   power_cut --journal FILE --acknowledged FILE --seed S [--any N] [--commit N] [--creation N]
 *             [--recovery N] [--segment N] [--answer N] [--from BYTES] [--only KIND:I --into DIR]
 * KIND of cut: any moment; commit, between the first write of pages and the meta page's sync;
 * creation, before the server serves for the first time; recovery, before it serves again; segment, between the header of a
 * journal's segment and the sync of its first record; answer, right after the last N answers, with only the promised
 * bytes. No cut is before --from. --only makes image I of a kind, and examines nothing.
 */
#include "tests/fault/power_cut/disk_model.h"
#include "tests/fault/power_cut/verify.h"
#include "tests/support/store/temp_folder.h"

#include "store/base/random.h"
#include "store/journal/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VERIFY_SECONDS_MAX 60
#define LINE_BYTES 128
/* Exit codes of the process that examines an image. */
#define IS_WHOLE 0
#define IS_BAD 1
#define IS_WHOLE_FROM_JOURNAL 2 /* with commits that only the store's journal had */
/* More files than a store's journal has in a run. */
#define SEGMENT_FILES_MAX 1024
#define SEGMENT_HEADER_BYTES 8192

enum cut_kind {
    CUT_ANY,
    CUT_COMMIT,
    CUT_CREATION,
    CUT_RECOVERY,
    CUT_SEGMENT,
    CUT_ANSWER,
    CUT_KIND_COUNT
};

static const char *const kind_names[] = {"any",      "commit",  "creation",
                                         "recovery", "segment", "answer"};
static const char *const choice_names[] = {"nothing", "everything", "prefix",
                                           "writes",  "pages",      "sectors"};

/* A state of the journal: after a record. */
struct moment {
    size_t end; /* end of the record, in bytes of the journal */
    bool in_commit;
    bool in_creation;
    bool in_recovery;
    bool in_segment;
    bool is_answer; /* a client had an answer before the next record */
};

/* Writes in progress, as of a record. */
struct progress {
    bool in_commit;
    bool has_served;
    bool is_serving;
    uint64_t lmdb_file;
    uint64_t segments[SEGMENT_FILES_MAX]; /* inodes of the files of the store's journal */
    size_t segment_count;
    uint64_t started; /* inode of the segment whose header is not synced yet; 0: none */
    unsigned long starts; /* number of headers of segments, including cleared ones */
};

struct image {
    enum cut_kind kind;
    unsigned long number; /* number within its kind */
    size_t moment;
    enum disk_choice choice;
    uint64_t seed;
};

struct run {
    const uint8_t *journal; /* mapped */
    size_t journal_bytes;
    struct moment *moments;
    size_t moment_count;
    struct acknowledgement *acknowledgements; /* sorted by position */
    size_t acknowledged_count;
    struct image *images; /* sorted by moment */
    size_t image_count;
    uint64_t seed;
    size_t from; /* position in the journal of the first cut */
    unsigned long counts[CUT_KIND_COUNT];
    unsigned long
        from_journal[CUT_KIND_COUNT]; /* images with commits that only the store's journal had */
    const char *only; /* KIND:I, or NULL for all */
    const char *into;
};

static void end_with(const char *what)
{
    (void)fprintf(stderr, "power_cut: %s\n", what);
    exit(2);
}

static void *allocate(size_t count, size_t size)
{
    void *items = calloc(count > 0 ? count : 1, size);

    if (items == NULL) {
        end_with("out of memory");
    }
    return items;
}

static void map_journal(struct run *run, const char *path)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &info) != 0 || info.st_size == 0) {
        end_with("the journal can't be read");
    }
    run->journal_bytes = (size_t)info.st_size;
    run->journal = mmap(NULL, run->journal_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (run->journal == MAP_FAILED) {
        end_with("the journal can't be mapped");
    }
    (void)close(file);
}

static void read_acknowledged(struct run *run, const char *path)
{
    char line[LINE_BYTES];
    size_t room = 0;
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        end_with("what was acknowledged can't be read");
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        struct acknowledgement *next = NULL;
        char *rest = NULL;

        if (run->acknowledged_count == room) {
            room = room == 0 ? 256 : room * 2;
            run->acknowledgements =
                realloc(run->acknowledgements, room * sizeof(*run->acknowledgements));
            if (run->acknowledgements == NULL) {
                end_with("out of memory");
            }
        }
        next = &run->acknowledgements[run->acknowledged_count++];
        next->position = strtoull(line, &rest, 10);
        next->kind = rest[1];
        if (!uuid_parse(slice_of((uint8_t *)rest + 3, UUID_TEXT_BYTES), &next->id)) {
            end_with("a line of the acknowledged writes is invalid");
        }
    }
    (void)fclose(file);
}

static bool is_name(const struct disk_entry *entry, const char *name)
{
    return entry->record.other_bytes == strlen(name) &&
           memcmp(entry->other, name, strlen(name)) == 0;
}

static bool is_segment(const struct progress *progress, uint64_t file)
{
    for (size_t i = 0; i < progress->segment_count; i++) {
        if (progress->segments[i] == file) {
            return true;
        }
    }
    return false;
}

/* A segment is started by its header, until a sync. */
static void follow_segments(struct progress *progress, const struct disk_entry *entry)
{
    static const char folder[] = STORE_JOURNAL_FOLDER "/";
    const struct disk_record *record = &entry->record;

    if (record->call == DISK_CREATE && record->phase == DISK_END &&
        record->path_bytes >= sizeof(folder) - 1 &&
        memcmp(entry->path, folder, sizeof(folder) - 1) == 0 &&
        progress->segment_count < SEGMENT_FILES_MAX) {
        progress->segments[progress->segment_count++] = record->file;
    }
    if (record->call == DISK_WRITE && record->phase == DISK_BEGIN && record->offset == 0 &&
        record->size == SEGMENT_HEADER_BYTES && is_segment(progress, record->file)) {
        progress->started = record->file;
        progress->starts++;
    }
    if (record->call == DISK_SYNC && record->phase == DISK_END &&
        record->file == progress->started) {
        progress->started = 0;
    }
}

/* A commit lasts from its first write of pages to the end of its synced write; a start ends when the address
 * is published. */
static struct moment follow(struct progress *progress, const struct disk_entry *entry)
{
    bool is_write = entry->record.call == DISK_WRITE;
    bool is_synced = is_write && (entry->record.flags & DISK_IS_SYNCED) != 0;
    struct moment moment = {.end = entry->end};

    if (is_synced) {
        progress->lmdb_file = entry->record.file;
    }
    if (is_write && !is_synced && entry->record.file == progress->lmdb_file) {
        progress->in_commit = true;
    }
    if (entry->record.call == DISK_MAKE_FOLDER && entry->record.path_bytes == 0) {
        progress->is_serving = false;
    }
    if (entry->record.call == DISK_RENAME && is_name(entry, "address")) {
        progress->is_serving = true;
        progress->has_served = true;
    }
    follow_segments(progress, entry);
    moment.in_commit = progress->in_commit;
    moment.in_creation = !progress->has_served;
    moment.in_recovery = progress->has_served && !progress->is_serving;
    moment.in_segment = progress->started != 0;
    progress->in_commit = progress->in_commit && !(is_synced && entry->record.phase == DISK_END);
    return moment;
}

/* Finds the end of every record, and the operations in progress there. */
static void find_moments(struct run *run)
{
    static struct progress progress;
    struct disk_entry entry;
    size_t room = 1024;

    progress.has_served = run->from > 0;
    run->moments = allocate(room, sizeof(*run->moments));
    for (size_t at = 0; disk_entry_read(run->journal, run->journal_bytes, at, &entry);
         at = entry.end) {
        if (run->moment_count == room) {
            room *= 2;
            run->moments = realloc(run->moments, room * sizeof(*run->moments));
            if (run->moments == NULL) {
                end_with("out of memory");
            }
        }
        run->moments[run->moment_count++] = follow(&progress, &entry);
    }
    if (progress.starts > 0 && run->only == NULL) {
        (void)printf("%lu headers of segments were written, in %zu files\n", progress.starts,
                     progress.segment_count);
    }
}

/* An answer is after the last record that the journal had then. */
static void find_answers(struct run *run)
{
    size_t at = 0;

    for (size_t i = 0; i < run->acknowledged_count; i++) {
        while (at + 1 < run->moment_count &&
               run->moments[at + 1].end <= run->acknowledgements[i].position) {
            at++;
        }
        run->moments[at].is_answer = true;
    }
}

static bool is_of_kind(const struct run *run, size_t moment, enum cut_kind kind)
{
    switch (kind) {
    case CUT_ANY:
        return true;
    case CUT_COMMIT:
        return run->moments[moment].in_commit;
    case CUT_CREATION:
        return run->moments[moment].in_creation;
    case CUT_RECOVERY:
        return run->moments[moment].in_recovery;
    case CUT_SEGMENT:
        return run->moments[moment].in_segment;
    case CUT_ANSWER:
        return run->moments[moment].is_answer;
    case CUT_KIND_COUNT:
        break;
    }
    return false;
}

static int compare_images(const void *a, const void *b)
{
    const struct image *first = a;
    const struct image *second = b;

    return (first->moment > second->moment) - (first->moment < second->moment);
}

/* Images of one kind; the same numbers for the same seed, however many are requested. */
static void draw_images(struct run *run, enum cut_kind kind)
{
    size_t *moments = allocate(run->moment_count, sizeof(*moments));
    struct random_seeded random;
    size_t count = 0;

    for (size_t i = 0; i < run->moment_count; i++) {
        if (run->moments[i].end > run->from && is_of_kind(run, i, kind)) {
            moments[count++] = i;
        }
    }
    if (count == 0 && run->counts[kind] > 0) {
        end_with("the journal has no such moment");
    }
    if (kind == CUT_ANSWER && count < run->counts[kind]) {
        run->counts[kind] = count;
    }
    random_seeded_init(&random, run->seed + (uint64_t)kind);
    for (unsigned long i = 0; i < run->counts[kind]; i++) {
        uint64_t drawn[3];

        random_fill(&random.random, drawn, sizeof(drawn));
        run->images[run->image_count++] =
            (struct image){kind, i, moments[drawn[0] % count],
                           (enum disk_choice)(drawn[1] % DISK_CHOICE_COUNT), drawn[2]};
        if (kind == CUT_ANSWER) {
            run->images[run->image_count - 1].moment = moments[count - 1 - i % count];
            run->images[run->image_count - 1].choice = DISK_NOTHING;
        }
    }
    free(moments);
}

/* Examines an image in a separate process; returns its exit code. */
static int look(const struct run *run, const char *folder, size_t position)
{
    int status = 0;
    pid_t child = 0;

    (void)fflush(stdout);
    child = fork();
    if (child == 0) {
        uint64_t recovered = 0;
        bool is_whole = false;

        (void)alarm(VERIFY_SECONDS_MAX);
        is_whole = verify_image(folder, run->acknowledgements, run->acknowledged_count, position,
                                &recovered);
        (void)fflush(stdout);
        _exit(!is_whole ? IS_BAD : recovered > 0 ? IS_WHOLE_FROM_JOURNAL : IS_WHOLE);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        end_with("no process for an image");
    }
    if (WIFSIGNALED(status)) {
        (void)printf("    ended by signal %d\n", WTERMSIG(status));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : IS_BAD;
}

static void report_image(const struct run *run, const struct image *image, const char *how)
{
    (void)printf("%s --only %s:%lu (%s, byte %zu of the journal)\n", how, kind_names[image->kind],
                 image->number, choice_names[image->choice], run->moments[image->moment].end);
}

static bool is_only(const struct run *run, const struct image *image)
{
    char name[LINE_BYTES];

    (void)snprintf(name, sizeof(name), "%s:%lu", kind_names[image->kind], image->number);
    return strcmp(name, run->only) == 0;
}

static bool try_image(struct run *run, const struct disk_model *model, const struct image *image)
{
    struct temp_folder folder;
    int code = IS_WHOLE;

    if (run->only != NULL) {
        if (is_only(run, image)) {
            disk_model_make_image(model, image->choice, image->seed, run->into);
            report_image(run, image, "made");
        }
        return true;
    }
    temp_folder_init(&folder);
    disk_model_make_image(model, image->choice, image->seed, folder.path);
    code = look(run, folder.path, run->moments[image->moment].end);
    run->from_journal[image->kind] += code == IS_WHOLE_FROM_JOURNAL;
    if (code != IS_WHOLE && code != IS_WHOLE_FROM_JOURNAL) {
        report_image(run, image, "FAILED");
    }
    temp_folder_deinit(&folder);
    return code == IS_WHOLE || code == IS_WHOLE_FROM_JOURNAL;
}

/* Reads the journal once, and creates each image when its state is reached. */
static unsigned long try_images(struct run *run)
{
    struct disk_model model;
    struct disk_entry entry;
    unsigned long failed = 0;
    size_t moment = 0;
    size_t next = 0;

    disk_model_init(&model);
    for (size_t at = 0;
         next < run->image_count && disk_entry_read(run->journal, run->journal_bytes, at, &entry);
         at = entry.end, moment++) {
        disk_model_apply(&model, &entry);
        while (next < run->image_count && run->images[next].moment == moment) {
            failed += !try_image(run, &model, &run->images[next]);
            next++;
        }
    }
    disk_model_deinit(&model);
    return failed;
}

static void read_arguments(struct run *run, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i] + 2;
        const char *value = argv[i + 1];

        if (strcmp(name, "journal") == 0) {
            map_journal(run, value);
        } else if (strcmp(name, "acknowledged") == 0) {
            read_acknowledged(run, value);
        } else if (strcmp(name, "seed") == 0) {
            run->seed = strtoull(value, NULL, 10);
        } else if (strcmp(name, "from") == 0) {
            run->from = strtoull(value, NULL, 10);
        } else if (strcmp(name, "only") == 0) {
            run->only = value;
        } else if (strcmp(name, "into") == 0) {
            run->into = value;
        }
        for (int kind = 0; kind < CUT_KIND_COUNT; kind++) {
            if (strcmp(name, kind_names[kind]) == 0) {
                run->counts[kind] = strtoul(value, NULL, 10);
            }
        }
    }
    if (run->journal == NULL) {
        end_with("no journal was named");
    }
}

int main(int argc, char **argv)
{
    static struct run run;
    unsigned long count = 0;
    unsigned long failed = 0;

    read_arguments(&run, argc, argv);
    find_moments(&run);
    find_answers(&run);
    for (int kind = 0; kind < CUT_KIND_COUNT; kind++) {
        count += run.counts[kind];
    }
    run.images = allocate(count, sizeof(*run.images));
    for (int kind = 0; kind < CUT_KIND_COUNT; kind++) {
        draw_images(&run, (enum cut_kind)kind);
    }
    qsort(run.images, run.image_count, sizeof(*run.images), compare_images);
    failed = try_images(&run);
    for (int kind = 0; kind < CUT_KIND_COUNT && run.only == NULL; kind++) {
        (void)printf("%s: %lu images, %lu with commits that only the journal had\n",
                     kind_names[kind], run.counts[kind], run.from_journal[kind]);
    }
    (void)printf("%zu images of %zu moments: %lu failed\n", run.image_count, run.moment_count,
                 failed);
    free(run.images);
    free(run.moments);
    free(run.acknowledgements);
    return failed == 0 ? 0 : 1;
}
