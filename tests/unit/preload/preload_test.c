/*
 * preload_test.c: the rows that a load stores, and the reasons to refuse one. Small loads run in both
 * modes into separate folders, and the tables are read back: the bulk mode must store the rows of the
 * capturing mode.
 */
#include "tools/bench/preload/preload.h"

#include "server/domain/admin/keys.h"
#include "server/domain/admin/records.h"
#include "server/domain/counters/keys.h"
#include "server/domain/counters/records.h"
#include "server/domain/experiment/records.h"
#include "server/domain/layouts/keys.h"
#include "store/lmdb/lmdb.h"
#include "store/log.h"
#include "tests/support/store/temp_folder.h"
#include "tests/unit/preload/preload_tests.h"
#include "tools/bench/preload/sizes.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* 2026-11-22T00:00:00Z. */
#define END_US 1795305600000000ll

struct fixture {
    struct temp_folder folder;
    char path[2][TEMP_FOLDER_PATH_BYTES + 16];
    struct preload_options options;
    struct store_backend *stores[2];
    struct store_txn *txns[2];
    struct arena arena;
    struct fault fault;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct temp_folder folder;

    assert_non_null(fixture);
    temp_folder_init(&fixture->folder);
    folder = fixture->folder;
    (void)snprintf(fixture->path[0], sizeof(fixture->path[0]), "%s/first", folder.path);
    (void)snprintf(fixture->path[1], sizeof(fixture->path[1]), "%s/second", folder.path);
    fixture->options = (struct preload_options){.folder = fixture->path[0],
                                                .event_count = 4000,
                                                .mapping_count = 900,
                                                .extraction_count = 6000,
                                                .customer_count = 7,
                                                .org_count = 3,
                                                .layout_count = 40,
                                                .event_bytes = 700,
                                                .seed = 7,
                                                .end_us = END_US};
    arena_init(&fixture->arena, SIZE_MAX);
    fault_init(&fixture->fault, &fixture->arena);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 2; i++) {
        store_abort(fixture->txns[i]);
        store_lmdb_close(fixture->stores[i]);
    }
    arena_deinit(&fixture->arena);
    temp_folder_deinit(&fixture->folder);
    free(fixture);
    return 0;
}

/* Loads one of the two folders and opens its store for reading. */
static struct store_txn *load(struct fixture *fixture, int which, enum preload_way way)
{
    const struct store_lmdb_config config = {.path = fixture->path[which]};

    fixture->options.folder = fixture->path[which];
    fixture->options.way = way;
    assert_int_equal(preload_run(&fixture->options, &fixture->fault), OK);
    assert_int_equal(store_lmdb_open(&config, &fixture->fault, &fixture->stores[which]), OK);
    assert_int_equal(store_begin(fixture->stores[which], STORE_READ, &fixture->txns[which]), OK);
    return fixture->txns[which];
}

/* Ids of all organisations, in their order. */
static size_t read_orgs(struct store_txn *txn, struct org_id *orgs, size_t max)
{
    struct key prefix = key_global_prefix();
    const struct slice from_start = {NULL, 0};
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t count = 0;

    assert_int_equal(store_cursor_init(&cursor, txn, TABLE_ORGANIZATION, key_slice(&prefix),
                                       from_start, STORE_ASCENDING),
                     OK);
    while (count < max && store_cursor_next(&cursor, &key, &value) == OK) {
        memcpy(orgs[count].uuid.bytes, key.data + UUID_BYTES, UUID_BYTES);
        count++;
    }
    store_cursor_deinit(&cursor);
    return count;
}

/* Checks that both stores have the same rows of a table under a prefix; returns their number. */
static uint64_t compare_table(struct fixture *fixture, enum store_table table,
                              const struct key *prefix)
{
    const struct slice from_start = {NULL, 0};
    struct store_cursor cursors[2] = {{0}, {0}};
    struct slice keys[2] = {{NULL, 0}, {NULL, 0}};
    struct slice values[2] = {{NULL, 0}, {NULL, 0}};
    uint64_t count = 0;
    enum err errs[2] = {OK, OK};

    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_cursor_init(&cursors[i], fixture->txns[i], table, key_slice(prefix),
                                           from_start, STORE_ASCENDING),
                         OK);
    }
    for (;;) {
        for (int i = 0; i < 2; i++) {
            errs[i] = store_cursor_next(&cursors[i], &keys[i], &values[i]);
        }
        assert_int_equal(errs[0], errs[1]);
        if (errs[0] != OK) {
            break;
        }
        assert_true(slice_equal(keys[0], keys[1]));
        assert_true(slice_equal(values[0], values[1]));
        count++;
    }
    assert_int_equal(errs[0], ERR_NOT_FOUND);
    for (int i = 0; i < 2; i++) {
        store_cursor_deinit(&cursors[i]);
    }
    return count;
}

/* Goal: both modes write the same bytes. Method: every row of every table is compared. */
static void test_bulk_equals_plain(void **state)
{
    struct fixture *fixture = *state;
    struct key global = key_global_prefix();
    struct org_id orgs[4];
    uint64_t events = 0;
    uint64_t examples = 0;
    uint64_t mappings = 0;
    uint64_t extractions = 0;
    uint64_t global_rows = 0;

    load(fixture, 0, PRELOAD_BULK);
    load(fixture, 1, PRELOAD_PLAIN);
    assert_int_equal(read_orgs(fixture->txns[0], orgs, 4), 3);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        enum store_table table = (enum store_table)i;

        global_rows += compare_table(fixture, table, &global);
        for (size_t org = 0; org < 3; org++) {
            struct key prefix = key_org(orgs[org]);
            uint64_t rows = compare_table(fixture, table, &prefix);

            events += table == TABLE_EVENT ? rows : 0;
            examples += table == TABLE_EXAMPLE ? rows : 0;
            extractions += table == TABLE_EXTRACTION ? rows : 0;
            mappings += table == TABLE_MAPPING_CONFIRMED ? rows : 0;
        }
    }
    /* An organisation, its token and its settings are events too. */
    assert_int_equal(events, 4000 + 900 + 6000 + 3 * 3);
    assert_int_equal(examples, 4000 + 40 * 3); /* each layout has a head row */
    assert_int_equal(mappings, 900);
    assert_int_equal(extractions, 6000);
    /* Organisation, name, token; the format, and the rows that opening a store writes. */
    assert_int_equal(global_rows, 3 * 3 + 2);
}

/* Goal: with families each layout has its documents, and its corrections are examples of its family. Method: rows
 * of some tables; two loads are equal. */
static void test_families_have_documents_and_examples(void **state)
{
    static const struct {
        enum store_table table;
        uint64_t rows;
    } expected[] = {{TABLE_DOCUMENT, 6 * PRELOAD_LAYOUT_DOCUMENTS},
                    {TABLE_PROFILE, 6 * 2},
                    {TABLE_FAMILY, 2},
                    {TABLE_FAMILY_EXAMPLE, 60},
                    {TABLE_EXAMPLE, 60 + 6 * 2}};
    struct fixture *fixture = *state;
    struct org_id orgs[2];
    struct key prefix;

    fixture->options.event_count = 60;
    fixture->options.extraction_count = 0;
    fixture->options.mapping_count = 0;
    fixture->options.org_count = 1;
    fixture->options.layout_count = 6;
    fixture->options.family_count = 2;
    load(fixture, 0, PRELOAD_PLAIN);
    load(fixture, 1, PRELOAD_PLAIN);
    assert_int_equal(read_orgs(fixture->txns[0], orgs, 2), 1);
    prefix = key_org(orgs[0]);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(compare_table(fixture, expected[i].table, &prefix), expected[i].rows);
    }
}

/* Goal: another seed gives other bytes. */
static void test_another_seed_gives_other_bytes(void **state)
{
    struct fixture *fixture = *state;
    struct org_id orgs[2];
    struct key key;
    struct slice events[2] = {{NULL, 0}, {NULL, 0}};

    fixture->options.event_count = 20;
    load(fixture, 0, PRELOAD_BULK);
    fixture->options.seed++;
    load(fixture, 1, PRELOAD_BULK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_orgs(fixture->txns[i], &orgs[i], 1), 1);
        key = key_event(orgs[i], 3);
        assert_int_equal(store_get(fixture->txns[i], TABLE_EVENT, key_slice(&key), &events[i]), OK);
    }
    assert_false(uuid_equal(orgs[0].uuid, orgs[1].uuid));
    assert_int_equal(events[0].size, events[1].size);
    assert_false(slice_equal(events[0], events[1]));
}

static uint64_t count_of_events(struct store_txn *txn, struct org_id org)
{
    struct key prefix = key_org(org);
    const struct slice from_start = {NULL, 0};
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t count = 0;

    assert_int_equal(store_cursor_init(&cursor, txn, TABLE_COUNTER, key_slice(&prefix), from_start,
                                       STORE_ASCENDING),
                     OK);
    while (store_cursor_next(&cursor, &key, &value) == OK) {
        struct counter_record record;

        assert_int_equal(record_decode_counter(value, &record), OK);
        /* The dimension follows organisation and day. */
        count += key.data[UUID_BYTES + 4] == COUNTER_EVENT_TYPE ? record.count : 0;
    }
    store_cursor_deinit(&cursor);
    return count;
}

/* Goal: a bulk load is a valid log. Method: each organisation's chain is verified, and its counters
 * are added up; the events spread evenly over the organisations. */
static void test_bulk_load_has_valid_chains_and_counters(void **state)
{
    struct fixture *fixture = *state;
    struct org_id orgs[4];
    struct store_txn *txn = NULL;

    txn = load(fixture, 0, PRELOAD_BULK);
    assert_int_equal(read_orgs(txn, orgs, 4), 3);
    for (size_t i = 0; i < 3; i++) {
        uint64_t wanted = (i == 0 ? 1334 : 1333) + 900 / 3;
        struct log_check check = {0};
        struct log_head head;

        assert_int_equal(log_verify_chain(txn, orgs[i], UINT64_MAX, &check), OK);
        assert_int_equal(log_read_head(txn, orgs[i], &head), OK);
        assert_int_equal(check.last_seq, wanted + 6000 / 3 + 3);
        assert_int_equal(head.last_seq, wanted + 6000 / 3 + 3);
        assert_true(head.last_recorded_at_us <= END_US);
        assert_int_equal(count_of_events(txn, orgs[i]), wanted);
    }
}

/* Goal: corrections mark extractions, and a tenth of those is held out. Method: the organisation's
 * sums; with three extractions for each two corrections, two of three are corrected. */
static void test_corrections_mark_extractions(void **state)
{
    static const struct key_fingerprint whole;
    struct fixture *fixture = *state;
    struct store_txn *txn = load(fixture, 0, PRELOAD_BULK);
    struct layout_stats_record sums;
    struct org_id orgs[1];
    struct slice value = {NULL, 0};
    struct key key;

    assert_int_equal(read_orgs(txn, orgs, 1), 1);
    key = key_layout_stats(orgs[0], &whole);
    assert_int_equal(store_get(txn, TABLE_LAYOUT_STATS, key_slice(&key), &value), OK);
    assert_int_equal(record_decode_layout_stats(value, &sums), OK);
    assert_int_equal(sums.extraction_count, 2000);
    assert_in_range(sums.corrected_count, 1330, 1334);
    assert_in_range(sums.control.extraction_count, 100, 300);
    assert_true(sums.treatment.extraction_count > 5 * sums.control.extraction_count);
}

/* Goal: every example has the length that was requested. */
static void test_examples_have_the_requested_length(void **state)
{
    static const uint32_t lengths[] = {PRELOAD_EVENT_BYTES_MIN, PRELOAD_EVENT_BYTES_DEFAULT,
                                       PRELOAD_EVENT_BYTES_MAX};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct script *script = malloc(sizeof(*script));
        struct sizes sizes;

        assert_non_null(script);
        fixture->options.event_bytes = lengths[i];
        script_init(script, &fixture->options, &fixture->fault);
        assert_int_equal(sizes_measure(script, &sizes), OK);
        assert_int_equal(sizes.example_bytes, lengths[i]);
        assert_true(sizes.disk_bytes > 4000 * 2 * (uint64_t)lengths[i]);
        assert_true(sizes.stage_bytes > 4000 / 3 * (uint64_t)lengths[i]);
        script_deinit(script);
        free(script);
    }
}

static void read_file(const struct fixture *fixture, const char *name, char *text, size_t size)
{
    char path[TEMP_FOLDER_PATH_BYTES + 64];
    struct stat info;
    FILE *file = NULL;
    size_t used = 0;

    (void)snprintf(path, sizeof(path), "%s/%s", fixture->path[0], name);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    file = fopen(path, "r");
    assert_non_null(file);
    used = fread(text, 1, size - 1, file);
    text[used] = '\0';
    (void)fclose(file);
}

/* Goal: the tokens belong to their organisations. Method: a look-up of their hashes in the
 * store. */
static void test_tokens_belong_to_their_organisations(void **state)
{
    struct fixture *fixture = *state;
    struct store_txn *txn = NULL;
    struct org_id orgs[4];
    char first[TOKEN_TEXT_BYTES + 8];
    char all[4 * (TOKEN_TEXT_BYTES + 1)];

    txn = load(fixture, 0, PRELOAD_BULK);
    assert_int_equal(read_orgs(txn, orgs, 4), 3);
    read_file(fixture, "admin.token", first, sizeof(first));
    read_file(fixture, PRELOAD_TOKENS_FILE, all, sizeof(all));
    assert_int_equal(strlen(first), TOKEN_TEXT_BYTES + 1);
    assert_int_equal(strlen(all), 3 * (TOKEN_TEXT_BYTES + 1));
    assert_memory_equal(first, all, TOKEN_TEXT_BYTES + 1);
    for (size_t i = 0; i < 3; i++) {
        const char *text = all + i * (TOKEN_TEXT_BYTES + 1);
        struct token_secret secret;
        struct token_record record;
        struct sha256_digest hash;
        struct slice value = {NULL, 0};
        struct key key;
        uint32_t key_id = 0;

        assert_true(token_parse(slice_of(text, TOKEN_TEXT_BYTES), &key_id, &secret));
        key = key_token_global(key_id);
        assert_int_equal(store_get(txn, TABLE_TOKEN, key_slice(&key), &value), OK);
        assert_int_equal(record_decode_token(value, &record), OK);
        hash = token_hash_secret(&secret);
        assert_memory_equal(record.secret_sha256.bytes, hash.bytes, SHA256_BYTES);
        assert_true(uuid_equal(record.org, orgs[i].uuid));
        assert_int_equal(record.server, i == 0);
    }
}

static void assert_message(const struct fixture *fixture, const char *part)
{
    char text[512] = {0};

    (void)snprintf(text, sizeof(text), "%.*s", (int)fixture->fault.message.size,
                   (const char *)fixture->fault.message.data);
    assert_non_null(strstr(text, part));
}

/* Goal: a folder with any file in it is refused and unchanged. */
static void test_folder_with_files_is_refused(void **state)
{
    struct fixture *fixture = *state;
    char path[TEMP_FOLDER_PATH_BYTES + 64];
    FILE *file = NULL;

    assert_int_equal(mkdir(fixture->path[0], 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/notes", fixture->path[0]);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(preload_run(&fixture->options, &fixture->fault), ERR_PRECONDITION);
    assert_message(fixture, "not empty; expected a new or empty folder");
    (void)snprintf(path, sizeof(path), "%s/db", fixture->path[0]);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* Goal: options out of range are refused with the range. */
static void test_options_out_of_range_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct preload_options options = fixture->options;

    options.org_count = 0;
    assert_int_equal(preload_run(&options, &fixture->fault), ERR_INVALID);
    assert_message(fixture, "organisations: 1 to 1000");
    options = fixture->options;
    options.layout_count = 0;
    assert_int_equal(preload_run(&options, &fixture->fault), ERR_INVALID);
    options = fixture->options;
    options.event_count = 2; /* in three organisations */
    assert_int_equal(preload_run(&options, &fixture->fault), ERR_INVALID);
    options = fixture->options;
    options.event_bytes = PRELOAD_EVENT_BYTES_MIN - 1;
    assert_int_equal(preload_run(&options, &fixture->fault), ERR_INVALID);
    assert_message(fixture, "bytes of an event: 300 to 4000, not 299");
    /* The tables of one organisation would take 30 GB of memory. */
    options = fixture->options;
    options.org_count = 1;
    options.event_count = 30000000;
    assert_int_equal(preload_run(&options, &fixture->fault), ERR_INVALID);
    assert_message(fixture, "more organisations");
    assert_int_not_equal(access(fixture->path[0], F_OK), 0);
}

/* Goal: a disk that is too small is reported before anything is written. */
static void test_too_small_disk_is_reported_before_writing(void **state)
{
    struct fixture *fixture = *state;
    struct sizes sizes = {.disk_bytes = 5000ull << 20, .stage_bytes = 1};

    assert_int_equal(sizes_check_disk(&sizes, "/data", 5000ull << 20, &fixture->fault), OK);
    assert_int_equal(sizes_check_disk(&sizes, "/data", (5000ull << 20) - 1, &fixture->fault),
                     ERR_DISK_FULL);
    assert_message(fixture, "takes about 5000 MB and the disk has 4999 MB left");
}

/* Goal: the estimate of the disk is near the size of a load, and not below it. */
static void test_estimate_is_near_the_used_disk(void **state)
{
    struct fixture *fixture = *state;
    struct script *script = malloc(sizeof(*script));
    struct store_stats stats;
    struct sizes sizes;
    uint64_t store_bytes = 0;

    assert_non_null(script);
    fixture->options.event_count = 6000;
    script_init(script, &fixture->options, &fixture->fault);
    assert_int_equal(sizes_measure(script, &sizes), OK);
    script_deinit(script);
    free(script);
    load(fixture, 0, PRELOAD_BULK);
    assert_int_equal(store_stats(fixture->stores[0], &stats), OK);
    store_bytes = sizes.disk_bytes - STORE_LMDB_RESERVE_BYTES_DEFAULT;
    assert_true(stats.map_used_bytes <= store_bytes);
    assert_true(stats.map_used_bytes >= store_bytes / 2);
}

int run_preload_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bulk_equals_plain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_seed_gives_other_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bulk_load_has_valid_chains_and_counters, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_corrections_mark_extractions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_examples_have_the_requested_length, setup, teardown),
        cmocka_unit_test_setup_teardown(test_families_have_documents_and_examples, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tokens_belong_to_their_organisations, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folder_with_files_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_options_out_of_range_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_small_disk_is_reported_before_writing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_estimate_is_near_the_used_disk, setup, teardown),
    };

    return cmocka_run_group_tests_name("preload", tests, NULL, NULL);
}
