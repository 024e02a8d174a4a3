/*
 * segments_test.c: the records that are read again after a crash at any place: a torn record, a torn header, records of
 * an earlier use of a segment, damage between others.
 */
#include "store/journal/segments.h"

#include "store/base/fault_point.h"
#include "tests/support/store/temp_folder.h"
#include "tests/unit/journal/journal_tests.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Three records of this value fill a segment. */
#define VALUE_BYTES 18000
#define HEADER_BYTES 8192
#define RECORD_BYTES (RECORD_HEAD_BYTES + 7 + 17 + VALUE_BYTES)

struct fixture {
    struct temp_folder folder;
    struct arena arena;
    struct fault fault;
    struct random_seeded random;
    uint64_t segment_bytes; /* of the next opening */
    struct clock_manual clock;
    struct segments *segments;
    struct record record;
    uint64_t read_first; /* by the last replay; 0: none */
    uint64_t read_count;
};

static int setup(void **state)
{
    struct fixture *fixture = test_calloc(1, sizeof(*fixture));

    fixture->segment_bytes = STORE_JOURNAL_SEGMENT_BYTES_MIN;
    temp_folder_init(&fixture->folder);
    arena_init(&fixture->arena, SIZE_MAX);
    fault_init(&fixture->fault, &fixture->arena);
    random_seeded_init(&fixture->random, 1);
    clock_manual_init(&fixture->clock, 0);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    segments_close(fixture->segments);
    record_deinit(&fixture->record);
    arena_deinit(&fixture->arena);
    temp_folder_deinit(&fixture->folder);
    test_free(fixture);
    return 0;
}

static enum err on_row(void *user, const struct memtable_row *row)
{
    (void)user;
    assert_int_equal(row->table, TABLE_EVENT);
    assert_int_equal(row->op, MEMTABLE_APPEND);
    assert_int_equal(row->key.size, 17);
    assert_int_equal(row->value.size, VALUE_BYTES);
    assert_int_equal(row->value.data[0], row->number & 0xff);
    return OK;
}

static enum err on_record(void *user, uint64_t number)
{
    struct fixture *fixture = user;

    if (fixture->read_count++ == 0) {
        fixture->read_first = number;
    }
    assert_int_equal(number, fixture->read_first + fixture->read_count - 1);
    return OK;
}

static struct segments_config config_of(struct fixture *fixture)
{
    return (struct segments_config){.path = fixture->folder.path,
                                    .segment_bytes = fixture->segment_bytes,
                                    .random = &fixture->random.random,
                                    .clock = &fixture->clock.clock};
}

/* Opens the folder again, as after a kill, and reads the records after a number. */
static enum err reopen(struct fixture *fixture, uint64_t after, uint64_t *ret_last)
{
    const struct segments_config config = config_of(fixture);
    const struct segments_replay replay = {
        .after = after, .on_row = on_row, .on_record = on_record, .user = fixture};

    segments_close(fixture->segments);
    fixture->segments = NULL;
    fixture->read_first = 0;
    fixture->read_count = 0;
    assert_int_equal(segments_open(&config, &fixture->fault, &fixture->segments), OK);
    return segments_replay(fixture->segments, &replay, &fixture->fault, ret_last);
}

static void expect_read(struct fixture *fixture, uint64_t after, uint64_t last)
{
    uint64_t found = 0;

    assert_int_equal(reopen(fixture, after, &found), OK);
    assert_int_equal(found, last);
    assert_int_equal(fixture->read_count, last - after);
    assert_int_equal(fixture->read_first, last > after ? after + 1 : 0);
}

static enum err append(struct fixture *fixture, uint64_t number)
{
    static uint8_t value[VALUE_BYTES];
    uint8_t key[17] = {1};
    const struct memtable_row row = {.table = TABLE_EVENT,
                                     .op = MEMTABLE_APPEND,
                                     .key = slice_of(key, sizeof(key)),
                                     .value = slice_of(value, sizeof(value)),
                                     .number = number};

    memset(value, (int)(number & 0xff), sizeof(value));
    record_begin(&fixture->record);
    record_add(&fixture->record, &row);
    return segments_append(fixture->segments, &fixture->record, number);
}

static void append_all(struct fixture *fixture, uint64_t first, uint64_t last)
{
    for (uint64_t i = first; i <= last; i++) {
        assert_int_equal(append(fixture, i), OK);
    }
}

/* Inverts a byte of a file. */
static void damage(const struct fixture *fixture, int file, off_t at)
{
    char path[TEMP_FOLDER_PATH_BYTES + 8];
    uint8_t byte = 0;
    int fd = -1;

    (void)snprintf(path, sizeof(path), "%s/%d", fixture->folder.path, file);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0xff;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    assert_int_equal(close(fd), 0);
}

static bool says(const struct fixture *fixture, const char *text)
{
    return memmem(fixture->fault.message.data, fixture->fault.message.size, text, strlen(text)) !=
           NULL;
}

static void records_are_read_again_in_order(void **state)
{
    struct fixture *fixture = *state;

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 8); /* three segments */
    expect_read(fixture, 0, 8);
    append_all(fixture, 9, 9); /* in a fourth: the end of the third is not trusted */
    expect_read(fixture, 2, 9);
    expect_read(fixture, 9, 9);
}

/* Goal: a truncated record is not read; records in the next segment are. */
static void torn_record_ends_a_segment(void **state)
{
    struct fixture *fixture = *state;

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 2);
    damage(fixture, 0, HEADER_BYTES + 2 * RECORD_BYTES - 1);
    expect_read(fixture, 0, 1);
    append_all(fixture, 2, 3);
    expect_read(fixture, 0, 3);
}

/* Goal: acknowledged commits that are missing between others are an error, not skipped. */
static void missing_commits_are_named(void **state)
{
    struct fixture *fixture = *state;
    uint64_t last = 0;

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 5);
    damage(fixture, 0, HEADER_BYTES + 2 * RECORD_BYTES + 100);
    assert_int_equal(reopen(fixture, 0, &last), ERR_CORRUPT);
    assert_true(says(fixture, "lacks the commits 3 to 3"));
}

/* Goal: a damaged record between others of its segment is an error too. */
static void damaged_commit_is_named(void **state)
{
    struct fixture *fixture = *state;
    uint64_t last = 0;

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 3);
    damage(fixture, 0, HEADER_BYTES + RECORD_BYTES + 100);
    assert_int_equal(reopen(fixture, 0, &last), ERR_CORRUPT);
    assert_true(says(fixture, "commit 2 of the journal is damaged"));
}

/* Goal: a segment that is used again does not give the records of its earlier use. */
static void used_segments_are_used_again(void **state)
{
    struct fixture *fixture = *state;
    struct stat info;
    char path[TEMP_FOLDER_PATH_BYTES + 8];

    expect_read(fixture, 0, 0);
    for (uint64_t i = 1; i <= 40; i++) {
        append_all(fixture, i, i);
        segments_release(fixture->segments, i > 4 ? i - 4 : 0);
    }
    (void)snprintf(path, sizeof(path), "%s/%d", fixture->folder.path, 3);
    assert_int_equal(stat(path, &info), -1); /* three were enough */
    expect_read(fixture, 36, 40);
    segments_clear(fixture->segments, 40);
    expect_read(fixture, 40, 40);
    append_all(fixture, 41, 41);
    expect_read(fixture, 40, 41);
}

static int remove_file(const struct fixture *fixture, int file)
{
    char path[TEMP_FOLDER_PATH_BYTES + 16];

    (void)snprintf(path, sizeof(path), "%s/%d", fixture->folder.path, file);
    return unlink(path);
}

/* Goal: no record is written to a file that the next opening would not find, and no later record before the tables have
 * those in that file. Method: the file is removed, then a free one, then the folder. */
static void records_of_a_removed_file_are_not_followed(void **state)
{
    struct fixture *fixture = *state;

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 2);
    assert_int_equal(remove_file(fixture, 0), 0);
    assert_int_equal(append(fixture, 3), ERR_IO);
    segments_release(fixture->segments, 1);
    assert_int_equal(append(fixture, 3), ERR_IO);
    segments_release(fixture->segments, 2);
    append_all(fixture, 3, 7);
    segments_release(fixture->segments, 5);
    assert_int_equal(remove_file(fixture, 0),
                     0); /* a free one, which the next record would be written to */
    append_all(fixture, 8, 9);
    expect_read(fixture, 5, 9);
    segments_release(fixture->segments, 9);
    for (int i = 0; i < 3; i++) {
        (void)remove_file(fixture, i);
    }
    assert_int_equal(rmdir(fixture->folder.path), 0);
    append_all(fixture, 10, 10);
    expect_read(fixture, 9, 10);
}

/* Goal: the header of a segment that was being used again may be torn. */
static void torn_header_is_of_a_free_segment(void **state)
{
    struct fixture *fixture = *state;

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 4);
    damage(fixture, 1, 30); /* of the second segment, whose record is lost */
    expect_read(fixture, 0, 3);
    append_all(fixture, 4, 4);
    expect_read(fixture, 3, 4);
}

/* Goal: a file that cannot be opened is an error, not a missing one. Method: a symbolic link to itself. */
static void file_that_cannot_be_opened_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    const struct segments_config config = config_of(fixture);
    char path[TEMP_FOLDER_PATH_BYTES + 16];

    (void)snprintf(path, sizeof(path), "%s/0", fixture->folder.path);
    assert_int_equal(symlink("0", path), 0);
    assert_int_equal(segments_open(&config, &fixture->fault, &fixture->segments), ERR_IO);
    assert_null(fixture->segments);
}

static void full_journal_refuses_records(void **state)
{
    struct fixture *fixture = *state;

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 3 * SEGMENTS_MAX);
    assert_int_equal(append(fixture, 3 * SEGMENTS_MAX + 1), ERR_BUSY);
    segments_release(fixture->segments, 3);
    append_all(fixture, 3 * SEGMENTS_MAX + 1, 3 * SEGMENTS_MAX + 3);
    expect_read(fixture, 3, 3 * SEGMENTS_MAX + 3);
}

static off_t size_of(const struct fixture *fixture, int file)
{
    char path[TEMP_FOLDER_PATH_BYTES + 16];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/%d", fixture->folder.path, file);
    return stat(path, &info) == 0 ? info.st_size : -1;
}

/* Appends one record of `count` rows. */
static enum err append_rows(struct fixture *fixture, uint64_t number, int count)
{
    static uint8_t value[VALUE_BYTES];

    value[0] = (uint8_t)number;
    record_begin(&fixture->record);
    for (int i = 0; i < count; i++) {
        uint8_t key[17] = {1};
        const struct memtable_row row = {.table = TABLE_EVENT,
                                         .op = MEMTABLE_APPEND,
                                         .key = slice_of(key, sizeof(key)),
                                         .value = slice_of(value, sizeof(value))};

        record_add(&fixture->record, &row);
    }
    return segments_append(fixture->segments, &fixture->record, number);
}

/* Goal: a record that is larger than a segment gets one of its size, as the first one, in the place of a free one and
 * between others; later the file has the usual size again. */
static void record_larger_than_a_segment_has_its_own(void **state)
{
    struct fixture *fixture = *state;

    expect_read(fixture, 0, 0);
    record_begin(&fixture->record);
    fixture->record.failed = true;
    assert_int_equal(segments_append(fixture->segments, &fixture->record, 1), ERR_MEMORY);
    assert_int_equal(append_rows(fixture, 1, 9), OK);
    assert_true(size_of(fixture, 0) > (off_t)fixture->record.size);
    append_all(fixture, 2, 5);
    expect_read(fixture, 0, 5);
    segments_clear(fixture->segments, 5);
    assert_int_equal(size_of(fixture, 0), -1);
    assert_int_equal(size_of(fixture, 1), STORE_JOURNAL_SEGMENT_BYTES_MIN);
    append_all(fixture, 6, 6);
    assert_int_equal(append_rows(fixture, 7, 4), OK);
    append_all(fixture, 8, 8);
    expect_read(fixture, 5, 8);
}

/* Goal: files of another size than the configured one are read to their end; once they are free, they are replaced
 * by files of that size. Method: the size is changed between the openings, up and down. */
static void files_of_another_size_are_read(void **state)
{
    struct fixture *fixture = *state;

    fixture->segment_bytes = 4 * STORE_JOURNAL_SEGMENT_BYTES_MIN;
    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 12); /* in one file */
    fixture->segment_bytes = STORE_JOURNAL_SEGMENT_BYTES_MIN;
    expect_read(fixture, 0, 12);
    append_all(fixture, 13, 16); /* in two */
    assert_int_equal(size_of(fixture, 0), 4 * STORE_JOURNAL_SEGMENT_BYTES_MIN);
    assert_int_equal(size_of(fixture, 1), STORE_JOURNAL_SEGMENT_BYTES_MIN);
    expect_read(fixture, 0, 16);
    segments_release(fixture->segments, 11);
    assert_int_equal(size_of(fixture, 0), 4 * STORE_JOURNAL_SEGMENT_BYTES_MIN);
    segments_release(fixture->segments, 12);
    assert_int_equal(size_of(fixture, 0), -1);
    append_all(fixture, 17, 19);
    assert_int_equal(size_of(fixture, 0), STORE_JOURNAL_SEGMENT_BYTES_MIN);
    fixture->segment_bytes = 2 * STORE_JOURNAL_SEGMENT_BYTES_MIN;
    expect_read(fixture, 12, 19);
    segments_clear(fixture->segments, 19);
    for (int i = 0; i < SEGMENTS_MAX; i++) {
        assert_int_equal(size_of(fixture, i), -1);
    }
    append_all(fixture, 20, 20);
    expect_read(fixture, 19, 20);
    assert_int_equal(size_of(fixture, 0), 2 * STORE_JOURNAL_SEGMENT_BYTES_MIN);
}

/* Goal: invalid bytes are an error. Method: each row of a record cut, and each of its bytes damaged. */
static void rows_that_do_not_hold_are_refused(void **state)
{
    uint8_t key[16] = {1};
    const struct memtable_row row = {.table = TABLE_META,
                                     .op = MEMTABLE_PUT,
                                     .key = slice_of(key, sizeof(key)),
                                     .value = SLICE("value")};
    struct record record = {0};
    struct record_view view;
    struct memtable_row found;
    uint32_t crc = 0;
    uint8_t table = 0;

    (void)state;
    record_begin(&record);
    record_add(&record, &row);
    assert_int_equal(record_end(&record, 9, 77, &crc), OK);
    assert_true(record_read(slice_of(record.bytes, record.size), 77, &view));
    assert_int_equal(view.number, 9);
    assert_int_equal(view.crc, crc);
    assert_int_equal(view.size, record.size);
    assert_false(record_read(slice_of(record.bytes, record.size), 78, &view));
    for (size_t i = 0; i < record.size; i++) {
        assert_false(record_read(slice_of(record.bytes, i), 77, &view));
        record.bytes[i] ^= 0x10;
        assert_false(record_read(slice_of(record.bytes, record.size), 77, &view));
        record.bytes[i] ^= 0x10;
    }
    assert_true(record_read(slice_of(record.bytes, record.size), 77, &view));
    for (size_t i = 1; i < view.rows.size; i++) {
        struct slice rows = slice_of(view.rows.data, i);

        assert_int_equal(record_next(&rows, &table, &found), ERR_CORRUPT);
    }
    assert_int_equal(record_next(&view.rows, &table, &found), OK);
    assert_int_equal(table, TABLE_META);
    assert_true(slice_equal(found.value, row.value));
    assert_int_equal(record_next(&view.rows, &table, &found), ERR_NOT_FOUND);
    record_deinit(&record);
}

/* Goal: a record is overwritten once the tables have it and it is old; one that they lack never is. */
static void old_records_are_overwritten(void **state)
{
    struct fixture *fixture = *state;

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 3);
    clock_manual_advance(&fixture->clock, 10);
    append_all(fixture, 4, 4);
    assert_int_equal(segments_overwrite_old(fixture->segments, 9), ERR_NOT_FOUND);
    segments_release(fixture->segments, 3);
    assert_int_equal(segments_overwrite_old(fixture->segments, -1), ERR_NOT_FOUND);
    assert_int_equal(segments_overwrite_old(fixture->segments, 9), OK);
    assert_true(journal_test_is_zero(fixture->folder.path, 0));
    segments_end_old(fixture->segments, 10, true);
    assert_int_equal(segments_overwrite_old(fixture->segments, 10), ERR_NOT_FOUND);
    expect_read(fixture, 3, 4);

    segments_release(fixture->segments, 4);
    append_all(fixture, 5, 5);
    segments_release(fixture->segments, 5);
    assert_int_equal(segments_overwrite_old(fixture->segments, 10), OK); /* that of record 4 */
    assert_int_equal(segments_overwrite_old(fixture->segments, 10), ERR_NOT_FOUND);
    segments_end_old(fixture->segments, 9, true);
    assert_int_equal(segments_overwrite_old(fixture->segments, 10), ERR_NOT_FOUND);
    segments_end_old(fixture->segments, 10, true);
    assert_int_equal(segments_overwrite_old(fixture->segments, 10), OK);
    assert_true(journal_test_is_zero(fixture->folder.path, 0));
    assert_true(journal_test_is_zero(fixture->folder.path, 1));
    append_all(fixture, 6, 7);
    expect_read(fixture, 5, 7);
}

struct file_path {
    char text[TEMP_FOLDER_PATH_BYTES + 16];
};

static struct file_path path_of(const struct fixture *fixture, const char *name)
{
    struct file_path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/%s", fixture->folder.path, name);
    return path;
}

static void add_file(const struct fixture *fixture, const char *name)
{
    int fd = open(path_of(fixture, name).text, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    (void)close(fd);
}

/* Goal: the folder goes with its segments, also with one that a killed process was making, but keeps other files. */
static void segments_are_removed(void **state)
{
    struct fixture *fixture = *state;
    const char *path = fixture->folder.path;

    assert_int_equal(segments_remove(path, &fixture->fault), OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(segments_remove(path, &fixture->fault), OK);
    assert_false(segments_exist(path));
    expect_read(fixture, 0, 0);
    assert_false(segments_exist(path));
    append_all(fixture, 1, 4);
    assert_true(segments_exist(path));
    segments_close(fixture->segments);
    fixture->segments = NULL;
    add_file(fixture, "2.new");
    add_file(fixture, "other");
    assert_int_equal(segments_remove(path, &fixture->fault), OK);
    assert_false(segments_exist(path));
    assert_int_equal(access(path_of(fixture, "2.new").text, F_OK), -1);
    assert_int_equal(unlink(path_of(fixture, "other").text), 0);
    assert_int_equal(segments_remove(path, &fixture->fault), OK);
    assert_int_equal(access(path, F_OK), -1);
}

#ifdef ERRATA_FAULTS
/* Goal: a disk with room for one segment only takes records again once the tables have those in it. */
static void only_segment_is_used_again(void **state)
{
    struct fixture *fixture = *state;
    struct failing_point create = {.driver = {journal_test_fails_named}, .name = "journal.create"};

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 3);
    fault_point_set_driver(&create.driver);
    assert_int_equal(append(fixture, 4), ERR_DISK_FULL);
    segments_release(fixture->segments, 2);
    assert_int_equal(append(fixture, 4), ERR_DISK_FULL);
    segments_release(fixture->segments, 3);
    append_all(fixture, 4, 5);
    fault_point_set_driver(NULL);
    expect_read(fixture, 3, 5);
}

/* Goal: a segment that could not be overwritten stays free, and is tried again after the same
 * interval. */
static void overwriting_is_tried_again(void **state)
{
    struct fixture *fixture = *state;
    struct failing_point overwrite = {.driver = {journal_test_fails_named},
                                      .name = "journal.overwrite"};

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 3);
    segments_release(fixture->segments, 3);
    segments_end_old(fixture->segments, 0, true);
    clock_manual_advance(&fixture->clock, 10);
    fault_point_set_driver(&overwrite.driver);
    assert_int_equal(segments_overwrite_old(fixture->segments, 0), ERR_IO);
    fault_point_set_driver(NULL);
    assert_int_equal(segments_overwrite_old(fixture->segments, 9), ERR_NOT_FOUND);
    append_all(fixture, 4, 6);
    expect_read(fixture, 3, 6);
    segments_release(fixture->segments, 6);
    assert_int_equal(segments_overwrite_old(fixture->segments, 10), OK);
    assert_true(journal_test_is_zero(fixture->folder.path, 0));
}

/* Goal: a process writes to no file whose name an earlier one may have given it without making it durable. Method: the
 * folder cannot be synced at the opening. */
static void names_are_durable_once_opened(void **state)
{
    struct fixture *fixture = *state;
    struct failing_point folder = {.driver = {journal_test_fails_named}, .name = "journal.folder"};
    const struct segments_config config = config_of(fixture);

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 1);
    segments_close(fixture->segments);
    fixture->segments = NULL;
    fault_point_set_driver(&folder.driver);
    assert_int_equal(segments_open(&config, &fixture->fault, &fixture->segments), ERR_IO);
    fault_point_set_driver(NULL);
    expect_read(fixture, 0, 1);
}

/* Goal: removed segments cannot come back once others write the tables. Method: the folder cannot be synced. */
static void removal_is_durable(void **state)
{
    struct fixture *fixture = *state;
    struct failing_point folder = {.driver = {journal_test_fails_named}, .name = "journal.folder"};
    const char *path = fixture->folder.path;

    expect_read(fixture, 0, 0);
    append_all(fixture, 1, 1);
    fault_point_set_driver(&folder.driver);
    assert_int_equal(segments_remove(path, &fixture->fault), ERR_IO);
    fault_point_set_driver(NULL);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(segments_remove(path, &fixture->fault), OK);
    assert_int_equal(access(path, F_OK), -1);
}

/* Goal: segments leave room for the tables: there are two on a disk with little space, and free ones are
 * removed when it is full. */
static void segments_leave_room_for_the_tables(void **state)
{
    struct fixture *fixture = *state;
    struct failing_point room = {.driver = {journal_test_fails_named}, .name = "journal.room"};

    expect_read(fixture, 0, 0);
    fault_point_set_driver(&room.driver);
    append_all(fixture, 1, 6);
    assert_int_equal(segments_prepare(fixture->segments), OK);
    assert_int_equal(append(fixture, 7), ERR_DISK_FULL);
    fault_point_set_driver(NULL);
    append_all(fixture, 7, 7);
    assert_false(segments_give_up_free(fixture->segments)); /* there is none */
    expect_read(fixture, 0, 7);
    segments_release(fixture->segments, 6);
    assert_true(segments_give_up_free(fixture->segments));
    assert_int_equal(remove_file(fixture, 0), -1);
    assert_int_equal(remove_file(fixture, 1), -1);
    append_all(fixture, 8, 10);
    expect_read(fixture, 6, 10);
}
#endif

#define SEGMENTS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int run_segments_tests(void)
{
    const struct CMUnitTest tests[] = {
        SEGMENTS_TEST(records_are_read_again_in_order),
        SEGMENTS_TEST(torn_record_ends_a_segment),
        SEGMENTS_TEST(missing_commits_are_named),
        SEGMENTS_TEST(damaged_commit_is_named),
        SEGMENTS_TEST(used_segments_are_used_again),
        SEGMENTS_TEST(records_of_a_removed_file_are_not_followed),
        SEGMENTS_TEST(torn_header_is_of_a_free_segment),
        SEGMENTS_TEST(file_that_cannot_be_opened_is_an_error),
        SEGMENTS_TEST(full_journal_refuses_records),
        SEGMENTS_TEST(record_larger_than_a_segment_has_its_own),
        SEGMENTS_TEST(files_of_another_size_are_read),
        SEGMENTS_TEST(segments_are_removed),
        SEGMENTS_TEST(old_records_are_overwritten),
#ifdef ERRATA_FAULTS
        SEGMENTS_TEST(only_segment_is_used_again),
        SEGMENTS_TEST(names_are_durable_once_opened),
        SEGMENTS_TEST(removal_is_durable),
        SEGMENTS_TEST(segments_leave_room_for_the_tables),
        SEGMENTS_TEST(overwriting_is_tried_again),
#endif
        cmocka_unit_test(rows_that_do_not_hold_are_refused),
    };

    return cmocka_run_group_tests_name("segments", tests, NULL, NULL);
}
