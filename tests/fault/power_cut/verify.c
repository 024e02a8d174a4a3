/*
 * verify.c: checks one image. Called once per process: its memory is freed with the process.
 */
#include "tests/fault/power_cut/verify.h"
#include "server/domain/events/subject.h"

#include "server/auth/first_token.h"
#include "server/auth/token.h"
#include "server/domain/replay/replay.h"
#include "store/journal/journal_internal.h"
#include "store/lmdb/lmdb.h"
#include "store/memory/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ORGS_MAX 256
#define NAMES_MAX 8192
/* A reserve of its real size would take most of the time of an image. */
#define RESERVE_BYTES 4096

struct check {
    const char *folder;
    struct store_backend *backend;
    struct store_txn *txn;
    struct org_id orgs[ORGS_MAX];
    size_t org_count;
    struct sha256_digest names[NAMES_MAX]; /* names of entities, each written once */
    size_t name_count;
    bool failed;
    uint64_t recovered; /* commits that only the journal had */
};

static void say(struct check *check, const char *what, enum err err)
{
    (void)printf("    %s: %s\n", what, err_name(err));
    check->failed = true;
}

static void find_orgs(struct check *check)
{
    const uint8_t zeros[UUID_BYTES] = {0};
    struct slice prefix = slice_of(zeros, sizeof(zeros));
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, check->txn, TABLE_ORGANIZATION, prefix,
                                     slice_of(NULL, 0), STORE_ASCENDING);

    while (err == OK && check->org_count < ORGS_MAX) {
        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK) {
            memcpy(check->orgs[check->org_count++].uuid.bytes, key.data + UUID_BYTES, UUID_BYTES);
        }
    }
    if (err != ERR_NOT_FOUND) {
        say(check, "organisations can't be listed", err);
    }
    store_cursor_deinit(&cursor);
}

static void note_names(struct check *check, const struct event *event)
{
    for (size_t i = 0; i < event->subject_count; i++) {
        struct sha256_digest name;

        if (event->subjects[i].kind != SUBJECT_ENTITY) {
            continue;
        }
        name = sha256(event->subjects[i].id);
        for (size_t j = 0; j < check->name_count; j++) {
            if (memcmp(&check->names[j], &name, sizeof(name)) == 0) {
                say(check, "TWICE: two events of one write", ERR_EXISTS);
            }
        }
        if (check->name_count < NAMES_MAX) {
            check->names[check->name_count++] = name;
        }
    }
}

static void check_log(struct check *check, struct org_id org)
{
    struct log_check chain = {0};
    struct log_head head;
    struct log_walk walk;
    struct event event;
    uint64_t count = 0;
    enum err err = log_verify_chain(check->txn, org, UINT64_MAX, &chain);

    if (err != OK) {
        say(check, "the chain of a log does not hold", err);
    }
    err = log_read_head(check->txn, org, &head);
    if (err == OK) {
        err = log_walk_init(&walk, check->txn, org, 0, STORE_ASCENDING);
    }
    if (err != OK) {
        say(check, "a log can't be walked", err);
        return;
    }
    for (err = log_walk_next(&walk, &event); err == OK; err = log_walk_next(&walk, &event)) {
        count++;
        note_names(check, &event);
    }
    log_walk_deinit(&walk);
    if (err != ERR_NOT_FOUND || count != head.last_seq) {
        say(check, "a log has not as many events as its head says", err);
    }
}

static void check_acknowledged(struct check *check, const struct acknowledgement *what)
{
    struct event event;
    uint64_t seq = 0;
    enum err err = ERR_NOT_FOUND;

    for (size_t i = 0; i < check->org_count && err == ERR_NOT_FOUND; i++) {
        if (what->kind == 'o') {
            err = uuid_equal(what->id, check->orgs[i].uuid) ? OK : ERR_NOT_FOUND;
            continue;
        }
        err = log_find(check->txn, check->orgs[i], what->id, &seq);
        if (err == OK) {
            err = log_read(check->txn, check->orgs[i], seq, &event);
        }
        if (err == OK && !uuid_equal(event.id, what->id)) {
            err = ERR_CORRUPT;
        }
    }
    if (err != OK) {
        say(check, "LOST: acknowledged, and not there", err);
    }
}

/* Compares all tables with a replay of the log. */
static void check_replay(struct check *check)
{
    static struct replay_report report;
    struct store_backend *memory = NULL;
    struct replay_config config = {
        .source = check->backend, .clock = clock_system(), .random = random_system()};
    enum err err = store_memory_open(&memory);

    config.target = memory;
    if (err == OK) {
        err = replay_verify(&config, &report);
    }
    if (err != OK || !replay_is_clean(&report)) {
        say(check, "rows are not what the log makes of them", err);
    }
    store_memory_close(memory);
}

/* Checks that a store with an organisation has a usable token. */
static void check_token(struct check *check)
{
    char path[PATH_MAX];
    struct stat info = {0};

    (void)snprintf(path, sizeof(path), "%s/admin.token", check->folder);
    if (check->org_count > 0 && (stat(path, &info) != 0 || info.st_size != TOKEN_TEXT_BYTES + 1)) {
        say(check, "the administrator's token is not there", ERR_NOT_FOUND);
    }
}

static enum err keep_nothing(void *user, struct slice text)
{
    (void)user;
    (void)text;
    return OK;
}

/* Simulates a start: a store that was cut while being created is completed. */
static void check_start(struct check *check, struct arena *arena, struct fault *fault)
{
    struct ctx ctx = {arena, clock_system(), random_system(), fault};
    bool made = false;
    enum err err = first_token_make(&ctx, check->backend, keep_nothing, NULL, &made);

    if (err != OK || made != (check->org_count == 0)) {
        say(check, "the first organisation can't be made", err);
    }
}

/* Stores commits that only the journal has, if there is one, in the tables, and counts them. */
static enum err recover(struct check *check, struct fault *fault)
{
    char path[PATH_MAX];
    const struct store_journal_config config = {
        .tables = check->backend, .path = path, .random = random_system(), .clock = clock_system()};
    uint64_t before = 0;
    uint64_t after = 0;
    enum err err = journal_read_stored(check->backend, &before);

    (void)snprintf(path, sizeof(path), "%s/" STORE_JOURNAL_FOLDER, check->folder);
    if (err == OK) {
        err = store_journal_recover(&config, fault);
    }
    if (err == OK) {
        err = journal_read_stored(check->backend, &after);
    }
    check->recovered = after - before;
    return err;
}

/* Opens the tables, including commits that only a journal has. */
static enum err open_store(struct check *check, struct fault *fault)
{
    const struct store_lmdb_config tables = {.path = check->folder, .reserve_bytes = RESERVE_BYTES};
    enum err err = store_lmdb_open(&tables, fault, &check->backend);

    return err == OK ? recover(check, fault) : err;
}

bool verify_image(const char *folder, const struct acknowledgement *acknowledgements, size_t count,
                  size_t position, uint64_t *ret_recovered)
{
    static struct check check;
    struct arena arena;
    struct fault fault;
    enum err err = OK;

    check.folder = folder;
    arena_init(&arena, 1 << 20);
    fault_init(&fault, &arena);
    err = open_store(&check, &fault);
    if (err == OK) {
        err = store_begin(check.backend, STORE_READ, &check.txn);
    }
    if (err != OK) {
        (void)printf("    %.*s\n", (int)fault.message.size, (const char *)fault.message.data);
        say(&check, "the store can't be opened", err);
        return false;
    }
    find_orgs(&check);
    for (size_t i = 0; i < check.org_count; i++) {
        check_log(&check, check.orgs[i]);
    }
    for (size_t i = 0; i < count && acknowledgements[i].position <= position; i++) {
        check_acknowledged(&check, &acknowledgements[i]);
    }
    check_replay(&check);
    check_token(&check);
    store_abort(check.txn);
    check_start(&check, &arena, &fault);
    store_lmdb_close(check.backend);
    arena_deinit(&arena);
    *ret_recovered = check.recovered;
    return !check.failed;
}
