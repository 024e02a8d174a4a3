/*
 * lmdb_env.c: opens, creates, checks and closes a store. A new one is created in db.new/ and
 * renamed: a power cut while LMDB creates its file would leave one that never opens again. The
 * format version is in META; another one is refused before anything is written, unless the caller
 * accepts older ones.
 */
#include "store/backup/backup_file.h"
#include "store/base/assert.h"
#include "store/keys.h"
#include "store/lmdb/disk.h"
#include "store/lmdb/lmdb_check.h"
#include "store/lmdb/lmdb_internal.h"
#include "store/lmdb/lmdb_state.h"
#include "store/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define READERS_MAX 64
/* The lock file's header and most of the readers' slots. */
#define LOCK_BYTES 4096
/* Do not use write-mapped pages (SIGBUS on a full disk) or unsynced commits (acknowledged writes
 * lost), except that a bulk load of a new store, which acknowledges nothing, does not sync. */
#define ENV_FLAGS (MDB_NOTLS | MDB_NORDAHEAD)
#define BULK_FLAGS (MDB_NOSYNC | MDB_NOMEMINIT)
#define FORMAT_RECORD_ARENA_BYTES 4096

/* A path in the data folder. */
struct lmdb_path {
    char text[LMDB_PATH_BYTES_MAX + 32];
};

static struct lmdb_path path_in(const struct lmdb_backend *lmdb, const char *name)
{
    struct lmdb_path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/%s", lmdb->path, name);
    return path;
}

static struct key format_key(void)
{
    return key_meta_global(SLICE(KEY_META_FORMAT));
}

/* Records why opening failed: an errno, or one of LMDB's codes. */
static enum err fail_code(struct lmdb_backend *lmdb, int code)
{
    lmdb->cause = code;
    return lmdb_translate(lmdb, code);
}

/* Does the same for a call that leaves the reason in errno. */
static enum err note_errno(struct lmdb_backend *lmdb, enum err err)
{
    lmdb->cause = err == OK ? lmdb->cause : errno;
    return err;
}

/* Called when an assertion of LMDB fails. */
static void on_assert(MDB_env *env, const char *fact)
{
    const struct lmdb_backend *lmdb = mdb_env_get_userctx(env);

    if (lmdb->on_damage != NULL) {
        lmdb->on_damage(fact);
    }
    abort();
}

/* LMDB writes its lock file through a map: on a full disk that would end the process, unless its
 * block is allocated before. */
static enum err make_lock(const char *path)
{
    char lock[sizeof(struct lmdb_path) + 16];

    (void)snprintf(lock, sizeof(lock), "%s/lock.mdb", path);
    return disk_reserve(lock, LOCK_BYTES);
}

static enum err open_env(struct lmdb_backend *lmdb, const char *path)
{
    MDB_env *env = NULL;
    enum err err = note_errno(lmdb, make_lock(path));
    int code = MDB_SUCCESS;

    if (err != OK) {
        return err;
    }
    code = mdb_env_create(&env);
    if (code != MDB_SUCCESS) {
        return fail_code(lmdb, code);
    }
    code = mdb_env_set_userctx(env, lmdb);
    if (code == MDB_SUCCESS) {
        code = mdb_env_set_assert(env, on_assert);
    }
    if (code == MDB_SUCCESS) {
        code = mdb_env_set_mapsize(env, lmdb->map_bytes);
    }
    if (code == MDB_SUCCESS) {
        code = mdb_env_set_maxreaders(env, READERS_MAX);
    }
    if (code == MDB_SUCCESS) {
        code = mdb_env_set_maxdbs(env, TABLE_COUNT);
    }
    if (code == MDB_SUCCESS) {
        code = mdb_env_open(env, path, ENV_FLAGS, 0600);
    }
    if (code != MDB_SUCCESS) {
        mdb_env_close(env);
        return fail_code(lmdb, code);
    }
    lmdb->env = env;
    return OK;
}

static void close_env(struct lmdb_backend *lmdb)
{
    if (lmdb->env != NULL) {
        mdb_env_close(lmdb->env);
        lmdb->env = NULL;
    }
}

static void mark_open(struct lmdb_backend *lmdb)
{
    lmdb_state_mark_open(lmdb->state, lmdb->hold.file);
    lmdb->marked = true;
}

/* Releases the file locked by hold_file, after the environment was closed. */
static void release_file(struct lmdb_backend *lmdb)
{
    if (lmdb->marked) {
        lmdb_state_mark_closed(lmdb->state);
    }
    if (lmdb->state >= 0) {
        (void)close(lmdb->state);
    }
    lmdb_hold_release(&lmdb->hold);
}

/* A store of an older format may lack tables that are made from the log, or from models by this node. */
static bool may_be_missing(const struct lmdb_backend *lmdb, enum store_table table)
{
    return lmdb->format < STORE_FORMAT_VERSION && store_table_class(table) != STORE_LOG &&
           table != TABLE_META && table != TABLE_IDEMPOTENCY;
}

/* Opens every table in one transaction; `flags` may be MDB_CREATE. */
static int open_tables(struct lmdb_backend *lmdb, MDB_txn *txn, unsigned flags)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        int code =
            mdb_dbi_open(txn, store_table_name((enum store_table)i), flags, &lmdb->tables[i]);

        if (code == MDB_NOTFOUND && may_be_missing(lmdb, (enum store_table)i)) {
            lmdb->tables[i] = LMDB_NO_TABLE;
            code = MDB_SUCCESS;
        }
        if (code != MDB_SUCCESS) {
            return code;
        }
    }
    return MDB_SUCCESS;
}

static int put_format(struct lmdb_backend *lmdb, MDB_txn *txn)
{
    struct meta_record record = {.number = STORE_FORMAT_VERSION};
    struct slice bytes = {NULL, 0};
    struct key key = format_key();
    struct arena arena;
    MDB_val name = {key.size, key.bytes};
    MDB_val value = {0, NULL};
    int code = ENOMEM;

    arena_init(&arena, FORMAT_RECORD_ARENA_BYTES);
    if (record_encode_meta(&arena, &record, &bytes) == OK) {
        value.mv_size = bytes.size;
        value.mv_data = (void *)(uintptr_t)bytes.data;
        code = mdb_put(txn, lmdb->tables[TABLE_META], &name, &value, 0);
    }
    arena_deinit(&arena);
    return code;
}

/* Creates all tables of a new store, and its format version. */
static enum err fill_new(struct lmdb_backend *lmdb)
{
    MDB_txn *txn = NULL;
    int code = mdb_txn_begin(lmdb->env, NULL, 0, &txn);

    if (code != MDB_SUCCESS) {
        return fail_code(lmdb, code);
    }
    code = open_tables(lmdb, txn, MDB_CREATE);
    if (code == MDB_SUCCESS) {
        code = put_format(lmdb, txn);
    }
    if (code != MDB_SUCCESS) {
        mdb_txn_abort(txn);
        return fail_code(lmdb, code);
    }
    code = mdb_txn_commit(txn);
    if (code == MDB_SUCCESS) {
        code = mdb_env_sync(lmdb->env, 1);
    }
    return fail_code(lmdb, code);
}

/* Removes what an interrupted creation left, if anything. */
static void remove_unfinished(const struct lmdb_backend *lmdb)
{
    (void)unlink(path_in(lmdb, "db.new/data.mdb").text);
    (void)unlink(path_in(lmdb, "db.new/lock.mdb").text);
    (void)rmdir(path_in(lmdb, "db.new").text);
}

static enum err create_store(struct lmdb_backend *lmdb)
{
    struct lmdb_path unfinished = path_in(lmdb, "db.new");
    struct lmdb_path finished = path_in(lmdb, "db");
    enum err err = OK;

    remove_unfinished(lmdb);
    err = note_errno(lmdb, disk_make_folder(unfinished.text));
    if (err == OK) {
        err = open_env(lmdb, unfinished.text);
    }
    if (err == OK) {
        err = fill_new(lmdb);
    }
    close_env(lmdb);
    if (err == OK) {
        err = note_errno(lmdb, disk_sync_folder(unfinished.text));
    }
    if (err == OK && rename(unfinished.text, finished.text) != 0) {
        err = note_errno(lmdb, ERR_IO);
    }
    if (err == OK) {
        err = note_errno(lmdb, disk_sync_folder(lmdb->path));
    }
    if (err != OK) {
        remove_unfinished(lmdb);
    }
    return err;
}

/* LMDB does not report where it mapped its file. But a page begins with its number, so that its
 * address follows from the address of a row. */
static void find_map(struct lmdb_backend *lmdb, const void *row)
{
    uintptr_t page = 0;
    uint64_t number = 0;
    MDB_stat stat;

    if (mdb_env_stat(lmdb->env, &stat) == MDB_SUCCESS) {
        page = (uintptr_t)row & ~((uintptr_t)stat.ms_psize - 1);
        memcpy(&number, (const void *)page, sizeof(number));
        lmdb->map = (const uint8_t *)(page - number * stat.ms_psize);
    }
}

/* Returns whether this program can rebuild a store of this format. */
static bool is_older(uint64_t format)
{
    return format >= STORE_FORMAT_OLDEST && format < STORE_FORMAT_VERSION;
}

/* Reads the format version in a read transaction. */
static enum err check_format(struct lmdb_backend *lmdb, MDB_txn *txn, struct fault *fault)
{
    struct meta_record record;
    struct key key = format_key();
    MDB_val name = {key.size, key.bytes};
    MDB_val value = {0, NULL};
    MDB_dbi meta = 0;
    int code = mdb_dbi_open(txn, store_table_name(TABLE_META), 0, &meta);
    enum err err = OK;

    if (code == MDB_SUCCESS) {
        code = mdb_get(txn, meta, &name, &value);
    }
    if (code == MDB_NOTFOUND) {
        return fault_say(fault, ERR_CORRUPT, "%s: has no format version; it is not a store",
                         lmdb->path);
    }
    if (code != MDB_SUCCESS) {
        return lmdb_translate(lmdb, code);
    }
    find_map(lmdb, value.mv_data);
    err = record_decode_meta(slice_of(value.mv_data, value.mv_size), &record);
    if (err != OK) {
        return fault_say(fault, err, "%s: its format version does not decode", lmdb->path);
    }
    lmdb->format = record.number;
    if (record.number == STORE_FORMAT_VERSION || (lmdb->takes_older && is_older(record.number))) {
        return OK;
    }
    return fault_say(fault, ERR_PRECONDITION,
                     "%s: has format version %llu, this program supports version %d; %s",
                     lmdb->path, (unsigned long long)record.number, STORE_FORMAT_VERSION,
                     record.number > STORE_FORMAT_VERSION
                         ? "use the newer program that wrote it (nothing was changed)"
                     : is_older(record.number) ? "start the server to migrate it"
                                               : "this program cannot migrate it");
}

static enum err check_file(const struct lmdb_backend *lmdb, struct fault *fault)
{
    static const struct store_lmdb_check_limits all = {0};
    const struct store_lmdb_check_limits limits = {.pages_max = STORE_LMDB_CHECK_PAGES,
                                                   .duration_us_max = STORE_LMDB_CHECK_US,
                                                   .clock = clock_system()};
    enum err err = store_lmdb_check(path_in(lmdb, "db/data.mdb").text,
                                    lmdb->copied ? &all : &limits, fault, NULL);

    if (err == ERR_CORRUPT && lmdb->copied) {
        struct slice why = fault->message;

        return fault_say(
            fault, err,
            "%s: inconsistent copy, made while a server was writing (%.*s); " BACKUP_ADVICE,
            lmdb->path, (int)why.size, (const char *)why.data);
    }
    return err;
}

/* Locks the file against other processes, and detects whether it is a copy. */
static enum err hold_file(struct lmdb_backend *lmdb, struct fault *fault)
{
    enum err err = lmdb_hold_file(&lmdb->hold, path_in(lmdb, "db/data.mdb").text, fault);

    if (err == OK) {
        lmdb->state =
            lmdb_state_open(path_in(lmdb, "db/state").text, lmdb->hold.file, &lmdb->copied);
        err = check_file(lmdb, fault);
    }
    return err;
}

/* LMDB opens the file by its name, and would create a missing one. */
static enum err open_held(struct lmdb_backend *lmdb, struct fault *fault)
{
    enum err err = hold_file(lmdb, fault);
    int fd = -1;

    if (err == OK) {
        err = open_env(lmdb, path_in(lmdb, "db").text);
    }
    if (err == OK &&
        (mdb_env_get_fd(lmdb->env, &fd) != MDB_SUCCESS || !lmdb_hold_is_file(&lmdb->hold, fd))) {
        return fault_say(fault, ERR_CORRUPT,
                         "%s: db/data.mdb was replaced while it was opened; " BACKUP_ADVICE,
                         lmdb->path);
    }
    return err;
}

static enum err open_existing(struct lmdb_backend *lmdb, struct fault *fault)
{
    MDB_txn *txn = NULL;
    enum err err = open_held(lmdb, fault);
    int code = MDB_SUCCESS;

    if (err != OK) {
        return err;
    }
    code = mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &txn);
    if (code != MDB_SUCCESS) {
        return fail_code(lmdb, code);
    }
    err = check_format(lmdb, txn, fault);
    if (err != OK) {
        mdb_txn_abort(txn);
        return err;
    }
    code = open_tables(lmdb, txn, 0);
    /* Table handles remain valid only if the transaction that opened them is committed. */
    if (code == MDB_SUCCESS) {
        code = mdb_txn_commit(txn);
    } else {
        mdb_txn_abort(txn);
    }
    if (code == MDB_NOTFOUND) {
        return fault_say(fault, ERR_CORRUPT, "%s: a table is missing", lmdb->path);
    }
    err = fail_code(lmdb, code);
    if (err == OK && !lmdb->copied) {
        mark_open(lmdb);
    }
    if (err == OK) {
        err = lmdb_settle(lmdb);
    }
    return err == ERR_DISK_FULL ? OK : err; /* the store can be read; the first write tries again */
}

static enum err prepare_folder(struct lmdb_backend *lmdb, struct fault *fault)
{
    const char *network = NULL;
    enum err err = disk_make_folder(lmdb->path);

    if (err != OK) {
        return lmdb_say_reason(fault, err, lmdb->path, "cannot create or open the data folder",
                               errno);
    }
    err = disk_find_network(lmdb->path, &network);
    if (err != OK) {
        return lmdb_say_reason(fault, err, lmdb->path, "cannot query the file system", errno);
    }
    if (network != NULL) {
        return fault_say(fault, ERR_PRECONDITION,
                         "%s: is on a network file system (%s), where memory maps and locks do not "
                         "work; expected a local disk",
                         lmdb->path, network);
    }
    return lmdb_hold_folder(&lmdb->hold, lmdb->path, path_in(lmdb, "errata.pid").text, fault);
}

/* Creates a store only if there is none: a folder without its file has lost it. */
static enum err find_store(const struct lmdb_backend *lmdb, struct fault *fault, bool *ret_is_new)
{
    struct lmdb_path folder = path_in(lmdb, "db");
    struct lmdb_path file = path_in(lmdb, "db/data.mdb");
    struct stat info;

    *ret_is_new = lstat(folder.text, &info) != 0 && errno == ENOENT;
    if (!*ret_is_new && stat(file.text, &info) != 0 && errno == ENOENT) {
        return fault_say(fault, ERR_CORRUPT,
                         "%s is missing; " BACKUP_ADVICE ", or remove %s too to begin a new store",
                         file.text, folder.text);
    }
    return OK;
}

static enum err open_store(struct lmdb_backend *lmdb, struct fault *fault)
{
    bool is_new = false;
    enum err err = prepare_folder(lmdb, fault);

    if (err != OK) {
        return err;
    }
    err = lmdb_folder_recover(lmdb->path);
    if (err != OK) {
        return lmdb_say_reason(fault, err, lmdb->path, "cannot recover an interrupted rebuild",
                               errno);
    }
    /* A full disk has no room for a reserve; the store is opened nevertheless, to be read and
     * cleaned. */
    err = lmdb_reserve(lmdb);
    if (err != OK && err != ERR_DISK_FULL) {
        return lmdb_say_reason(fault, err, lmdb->reserve_path, "cannot be written", errno);
    }
    err = find_store(lmdb, fault, &is_new);
    if (err != OK) {
        return err;
    }
    if (is_new) {
        err = create_store(lmdb);
        if (err != OK) {
            return lmdb_say_reason(fault, err, lmdb->path, "cannot create the store", lmdb->cause);
        }
    }
    err = open_existing(lmdb, fault);
    if (err == OK) {
        lmdb_folder_forget_old(lmdb->path);
    } else if (fault->message.size == 0) {
        return lmdb_say_reason(fault, err, lmdb->path, "cannot open the store", lmdb->cause);
    }
    return err;
}

/* LMDB maps the whole size at once, so this is checked before anything is created. A quarter of the
 * limit is left for the rest of the process, and for the second map of a rebuild. */
static enum err check_address_space(const struct lmdb_backend *lmdb, struct fault *fault)
{
    void *map =
        mmap(NULL, lmdb->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

    if (map != MAP_FAILED) {
        (void)munmap(map, lmdb->map_bytes);
        return OK;
    }
    (void)getrlimit(RLIMIT_AS, &limit);
    if (limit.rlim_cur == RLIM_INFINITY) {
        return fault_say(fault, ERR_MEMORY,
                         "--map-size: cannot map %llu MiB: %m; expected a smaller size",
                         (unsigned long long)lmdb->map_bytes >> 20);
    }
    return fault_say(
        fault, ERR_MEMORY,
        "--map-size: a map of %llu MiB does not fit into the address space of this "
        "process, which is limited to %llu MiB (ulimit -v); expected at most about %llu "
        "MiB, or a higher limit",
        (unsigned long long)lmdb->map_bytes >> 20, (unsigned long long)limit.rlim_cur >> 20,
        (unsigned long long)limit.rlim_cur >> 22);
}

enum err store_lmdb_open(const struct store_lmdb_config *config, struct fault *fault,
                         struct store_backend **ret_backend)
{
    struct lmdb_backend *lmdb = NULL;
    size_t path_bytes = strlen(config->path);
    enum err err = OK;

    if (path_bytes == 0 || path_bytes >= LMDB_PATH_BYTES_MAX) {
        return fault_say(fault, ERR_INVALID, "the data folder's path must have 1 to %d bytes",
                         LMDB_PATH_BYTES_MAX - 1);
    }
    if (config->map_bytes != 0 && config->map_bytes < STORE_LMDB_MAP_BYTES_MIN) {
        return fault_say(fault, ERR_INVALID, "the map size must be at least %llu bytes",
                         STORE_LMDB_MAP_BYTES_MIN);
    }
    lmdb = calloc(1, sizeof(*lmdb));
    if (lmdb == NULL) {
        return ERR_MEMORY;
    }
    lmdb->backend.ops = &lmdb_ops;
    lmdb_hold_init(&lmdb->hold);
    lmdb->state = -1;
    lmdb->takes_older = config->takes_older;
    lmdb->on_damage = config->on_damage;
    lmdb->map_bytes = config->map_bytes != 0 ? config->map_bytes : STORE_LMDB_MAP_BYTES_DEFAULT;
    lmdb->reserve_bytes =
        config->reserve_bytes != 0 ? config->reserve_bytes : STORE_LMDB_RESERVE_BYTES_DEFAULT;
    memcpy(lmdb->path, config->path, path_bytes + 1);
    (void)snprintf(lmdb->reserve_path, sizeof(lmdb->reserve_path), "%s/reserve", lmdb->path);
    err = check_address_space(lmdb, fault);
    if (err == OK) {
        err = open_store(lmdb, fault);
    }
    if (err != OK) {
        store_lmdb_close(&lmdb->backend);
        return err;
    }
    store_lmdb_check_readers(&lmdb->backend);
    *ret_backend = &lmdb->backend;
    return OK;
}

void store_lmdb_close(struct store_backend *take_backend)
{
    struct lmdb_backend *lmdb = (struct lmdb_backend *)take_backend;

    if (lmdb == NULL) {
        return;
    }
    close_env(lmdb);
    release_file(lmdb);
    free(lmdb);
}

bool store_lmdb_is_copy(const struct store_backend *backend)
{
    return ((const struct lmdb_backend *)backend)->copied;
}

void store_lmdb_accept_copy(struct store_backend *backend)
{
    struct lmdb_backend *lmdb = (struct lmdb_backend *)backend;

    lmdb->copied = false;
    mark_open(lmdb);
}

bool store_lmdb_lost_file(const struct store_backend *backend)
{
    return lmdb_hold_lost_file(&((const struct lmdb_backend *)backend)->hold);
}

void store_lmdb_write_lost_file(struct store_backend *backend)
{
    ((struct lmdb_backend *)backend)->writes_lost = true;
}

uint64_t store_lmdb_format(const struct store_backend *backend)
{
    return ((const struct lmdb_backend *)backend)->format;
}

bool store_lmdb_is_broken(const struct store_backend *backend)
{
    return atomic_load(&((const struct lmdb_backend *)backend)->broken);
}

bool store_lmdb_met_full_map(const struct store_backend *backend)
{
    return atomic_load(&((const struct lmdb_backend *)backend)->met_full_map);
}

struct slice store_lmdb_map(const struct store_backend *backend)
{
    const struct lmdb_backend *lmdb = (const struct lmdb_backend *)backend;
    MDB_envinfo info;

    if (lmdb->map == NULL || mdb_env_info(lmdb->env, &info) != MDB_SUCCESS) {
        return slice_of(NULL, 0);
    }
    return slice_of(lmdb->map, info.me_mapsize);
}

void store_lmdb_check_readers(struct store_backend *backend)
{
    int dead = 0;

    /* if this fails, the slots of dead readers stay in use until the next check */
    (void)mdb_reader_check(((struct lmdb_backend *)backend)->env, &dead);
}

void store_lmdb_begin_bulk(struct store_backend *backend)
{
    int code = mdb_env_set_flags(((struct lmdb_backend *)backend)->env, BULK_FLAGS, 1);

    ASSERT(code == MDB_SUCCESS); /* fails only for unknown flags */
}

enum err store_lmdb_end_bulk(struct store_backend *backend)
{
    struct lmdb_backend *lmdb = (struct lmdb_backend *)backend;
    int code = mdb_env_set_flags(lmdb->env, BULK_FLAGS, 0);

    ASSERT(code == MDB_SUCCESS);
    return lmdb_translate(lmdb, mdb_env_sync(lmdb->env, 1));
}
