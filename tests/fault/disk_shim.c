/*
 * disk_shim.c: a disk that fails on request, inserted between erratad and libc by LD_PRELOAD. Every call
 * that changes the data folder is numbered from the start of the process; a call with a given number can
 * end the process, or fail. It has no knowledge of stores.
 *
 *   DISK_FOLDER   the data folder: calls on anything else pass through unseen
 *   DISK_JOURNAL  appends each call to this file (disk_journal.h)
 *   DISK_CRASH    N:before, N:after, N:torn or N:within: SIGKILL at call N; torn writes half of it first,
 *                 within does it, while the journal has no end of it: no sync has promised it yet
 *   DISK_FAIL     N:COUNT:KIND: COUNT calls from N on fail. KIND is enospc, eio, edquot; short (half of
 *                 a write is done); late (a write succeeds and its file's next sync fails, undone);
 *                 done (it is done, and fails all the same)
 *   DISK_SWITCH   a path: while the file PATH.sync is there, syncs fail; PATH.meta: nothing is written
 *                 to the first two pages of a file, where LMDB commits; PATH.full: no file grows
 *                 (EDQUOT); PATH.slow: syncs take as many milliseconds as the file says, or until
 *                 it is gone; with a folder's name after the number, only syncs of its files do, and
 *                 writes that sync; PATH.lie: syncs succeed and do nothing
 *   DISK_ONLY_SYNCS  if set, all calls but syncs pass through unseen, at the cost that they have without
 *                 the shim: for measurements
 *   DISK_REPORTED     when a call crashes or fails by number, its name is written into this file
 */
#include "disk_journal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define META_BYTES (2 * 4096)
#define SECTOR_BYTES 512
#define LATE_FILES_MAX 16
#define PROGRAM "/erratad"

enum fate {
    FATE_DO,
    FATE_REFUSE, /* not executed, fails with shim.error */
    FATE_SHORT, /* executed for half of the data */
    FATE_LATE, /* executed, but the file's next sync is skipped and fails */
    FATE_DONE, /* executed, but returns an error */
    FATE_DIE_BEFORE,
    FATE_DIE_TORN,
    FATE_DIE_WITHIN,
    FATE_DIE_AFTER
};

/* State of a call. */
struct call {
    enum disk_call kind;
    bool synced; /* a synchronous write */
    uint64_t file;
    uint64_t offset;
    const struct iovec *pieces;
    size_t size;
    const char *path; /* path relative to the folder */
    const char *other;
    uint64_t number;
    enum fate fate;
    int error;
};

static struct {
    bool active;
    bool only_syncs;
    char folder[PATH_MAX];
    size_t folder_bytes;
    const char *switches;
    int journal; /* -1: none */
    uint64_t number; /* number of the last call */
    uint64_t crash_at;
    enum fate crash_fate;
    uint64_t fail_from;
    uint64_t fail_count;
    enum fate fail_fate;
    int error;
    uint64_t late[LATE_FILES_MAX]; /* inodes whose next sync fails */
    pthread_mutex_t lock; /* held during all calls, so that the journal has their order */
} shim = {.journal = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const call_names[] = {"",       "write",  "truncate", "allocate", "create",
                                         "folder", "rename", "remove",   "sync"};

/* The next function: libc's, or that of a sanitizer before it. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static void read_crash(const char *text)
{
    char *rest = NULL;

    shim.crash_at = strtoull(text, &rest, 10);
    shim.crash_fate = strcmp(rest, ":before") == 0   ? FATE_DIE_BEFORE
                      : strcmp(rest, ":after") == 0  ? FATE_DIE_AFTER
                      : strcmp(rest, ":within") == 0 ? FATE_DIE_WITHIN
                                                     : FATE_DIE_TORN;
}

static void read_fail(const char *text)
{
    char *rest = NULL;

    shim.fail_from = strtoull(text, &rest, 10);
    shim.fail_count = strtoull(rest + 1, &rest, 10);
    rest++;
    shim.fail_fate = strcmp(rest, "short") == 0  ? FATE_SHORT
                     : strcmp(rest, "late") == 0 ? FATE_LATE
                     : strcmp(rest, "done") == 0 ? FATE_DONE
                                                 : FATE_REFUSE;
    shim.error = strcmp(rest, "enospc") == 0 ? ENOSPC : strcmp(rest, "edquot") == 0 ? EDQUOT : EIO;
}

static void note(const struct call *call, enum disk_phase phase, uint64_t done, int error);

/* The journal begins with the folder itself, again for each process. */
static void note_start(void)
{
    struct call call = {.kind = DISK_MAKE_FOLDER, .path = ""};
    struct stat info;

    if (stat(shim.folder, &info) == 0) {
        call.file = info.st_ino;
        note(&call, DISK_END, 0, 0);
    }
}

/* Only the server reads the commands: programs that it starts inherit the environment. */
__attribute__((constructor)) static void start(void)
{
    const char *folder = getenv("DISK_FOLDER");
    const char *journal = getenv("DISK_JOURNAL");
    char program[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    size_t end = strlen(PROGRAM);

    if (folder == NULL || size < (ssize_t)end || realpath(folder, shim.folder) == NULL ||
        memcmp(program + size - end, PROGRAM, end) != 0) {
        return;
    }
    shim.folder_bytes = strlen(shim.folder);
    shim.switches = getenv("DISK_SWITCH");
    shim.only_syncs = getenv("DISK_ONLY_SYNCS") != NULL;
    if (getenv("DISK_CRASH") != NULL) {
        read_crash(getenv("DISK_CRASH"));
    }
    if (getenv("DISK_FAIL") != NULL) {
        read_fail(getenv("DISK_FAIL"));
    }
    if (journal != NULL) {
        shim.journal =
            (int)syscall(SYS_open, journal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    shim.active = true;
    note_start();
}

/* Returns the part of an absolute path after the folder; NULL if it is outside. */
static const char *inside(const char *path)
{
    if (strncmp(path, shim.folder, shim.folder_bytes) != 0) {
        return NULL;
    }
    path += shim.folder_bytes;
    return *path == '/' ? path + 1 : *path == '\0' ? path : NULL;
}

/* Returns the part of an open file's path after the folder; NULL if it is outside. */
static const char *locate_file(int file, char path[PATH_MAX])
{
    char link[64];
    int before = errno;
    ssize_t size = 0;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    size = readlink(link, path, PATH_MAX - 1);
    errno = before;
    path[size > 0 ? size : 0] = '\0';
    return inside(path);
}

/* Returns whether a file is in the folder, and its inode. */
static bool is_ours(int file, uint64_t *ret_inode)
{
    char path[PATH_MAX];
    struct stat info;

    if (!shim.active || locate_file(file, path) == NULL || fstat(file, &info) != 0) {
        return false;
    }
    *ret_inode = info.st_ino;
    return true;
}

/* Does the same for a file that is about to be written. */
static bool is_ours_to_write(int file, uint64_t *ret_inode)
{
    return !shim.only_syncs && is_ours(file, ret_inode);
}

/* Returns a path relative to the folder, from one that may be relative to `folder_file`. */
static const char *locate(int folder_file, const char *path, char whole[2 * PATH_MAX])
{
    char link[64];
    char base[PATH_MAX] = "";
    ssize_t size = 0;

    if (!shim.active) {
        return NULL;
    }
    if (path[0] != '/') {
        (void)snprintf(link, sizeof(link),
                       folder_file == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d",
                       folder_file);
        size = readlink(link, base, sizeof(base) - 1);
        base[size > 0 ? size : 0] = '\0';
        (void)snprintf(whole, 2 * PATH_MAX, "%s/%s", base, path);
    } else {
        (void)snprintf(whole, 2 * PATH_MAX, "%s", path);
    }
    return inside(whole);
}

static uint64_t inode_of(const char *path)
{
    char whole[2 * PATH_MAX];
    struct stat info;

    (void)snprintf(whole, sizeof(whole), "%s/%s", shim.folder, path);
    return stat(whole, &info) == 0 ? info.st_ino : 0;
}

static bool is_switched(const char *what)
{
    char path[PATH_MAX];

    if (shim.switches == NULL) {
        return false;
    }
    (void)snprintf(path, sizeof(path), "%s.%s", shim.switches, what);
    return access(path, F_OK) == 0;
}

/* Interval at which a slow sync checks its switch. */
#define SLOW_STEP_MS 20L

/* Returns the milliseconds of a sync of the file, or of a write that syncs. */
static long read_slow(int file, bool is_write)
{
    char path[PATH_MAX];
    char switch_path[PATH_MAX];
    char folder[32] = "";
    const char *name = locate_file(file, path);
    FILE *text = NULL;
    long ms = 0;

    (void)snprintf(switch_path, sizeof(switch_path), "%s.slow", shim.switches);
    text = fopen(switch_path, "re");
    if (text == NULL) {
        return 0;
    }
    if (fscanf(text, "%ld %30s", &ms, folder) == 1) {
        ms = is_write ? 0 : ms;
    } else if (strncmp(name, folder, strlen(folder)) != 0) {
        ms = 0;
    }
    (void)fclose(text);
    return ms;
}

/* Simulates a slow disk, without the lock, since other calls do not wait for it. */
static void wait_if_slow(int file, bool is_write)
{
    for (long ms = is_switched("slow") ? read_slow(file, is_write) : 0;
         ms > 0 && is_switched("slow"); ms -= SLOW_STEP_MS) {
        const struct timespec pause = {.tv_nsec =
                                           (ms < SLOW_STEP_MS ? ms : SLOW_STEP_MS) * 1000000};

        (void)nanosleep(&pause, NULL);
    }
}

static void report(const struct call *call, const char *how)
{
    const char *path = getenv("DISK_REPORTED");
    char text[128];
    int file = -1;
    int size = 0;

    if (path == NULL) {
        return;
    }
    size = snprintf(text, sizeof(text), "%llu %s %s\n", (unsigned long long)call->number,
                    call_names[call->kind], how);
    file = (int)syscall(SYS_open, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    (void)syscall(SYS_write, file, text, (size_t)size);
    (void)syscall(SYS_close, file);
}

/* Writes a record and its bytes in one call: nothing is written in between, and a kill leaves all
 * or nothing. */
static void note(const struct call *call, enum disk_phase phase, uint64_t done, int error)
{
    struct disk_record record = {
        .magic = DISK_RECORD_MAGIC,
        .call = (uint8_t)call->kind,
        .phase = (uint8_t)phase,
        .flags = call->synced ? DISK_IS_SYNCED : 0,
        .number = call->number,
        .file = call->file,
        .offset = phase == DISK_BEGIN ? call->offset : done,
        .error = error,
    };
    struct iovec parts[4 + IOV_MAX] = {{&record, sizeof(record)}};
    int count = 1;
    size_t left = call->size;

    if (shim.journal < 0) {
        return;
    }
    if (call->path != NULL) {
        record.path_bytes = (uint32_t)strlen(call->path);
        parts[count++] = (struct iovec){(void *)(uintptr_t)call->path, record.path_bytes};
    }
    if (call->other != NULL) {
        record.other_bytes = (uint32_t)strlen(call->other);
        parts[count++] = (struct iovec){(void *)(uintptr_t)call->other, record.other_bytes};
    }
    if (phase == DISK_BEGIN) {
        record.size = (uint32_t)call->size;
    }
    for (size_t i = 0; phase == DISK_BEGIN && left > 0; i++) {
        size_t size = call->pieces[i].iov_len < left ? call->pieces[i].iov_len : left;

        parts[count++] = (struct iovec){call->pieces[i].iov_base, size};
        left -= size;
    }
    (void)syscall(SYS_writev, shim.journal, parts, count);
}

static void die(void)
{
    (void)syscall(SYS_kill, getpid(), SIGKILL);
}

/* Returns half of a write, up to the end of a sector; 0 if the write is within one sector. */
static size_t half_of(const struct call *call)
{
    uint64_t middle = call->offset + call->size / 2;
    uint64_t cut = middle - middle % SECTOR_BYTES;

    return cut > call->offset ? (size_t)(cut - call->offset) : 0;
}

static bool take_late(uint64_t file)
{
    for (size_t i = 0; i < LATE_FILES_MAX; i++) {
        if (shim.late[i] == file) {
            shim.late[i] = 0;
            return true;
        }
    }
    return false;
}

static void put_late(uint64_t file)
{
    for (size_t i = 0; i < LATE_FILES_MAX; i++) {
        if (shim.late[i] == 0) {
            shim.late[i] = file;
            return;
        }
    }
}

/* Returns the error according to the switches and earlier calls. */
static int refusal_of(const struct call *call)
{
    if (call->kind == DISK_SYNC && (is_switched("sync") || take_late(call->file))) {
        return EIO;
    }
    if (call->kind == DISK_WRITE && call->offset < META_BYTES && is_switched("meta")) {
        return EIO;
    }
    return 0;
}

/* Applies a failure that was requested by number to this call. */
static void fail(struct call *call)
{
    enum fate fate = shim.fail_fate;

    if (fate == FATE_SHORT && (call->kind != DISK_WRITE || half_of(call) == 0)) {
        fate = FATE_REFUSE;
    }
    if (fate == FATE_LATE && (call->kind != DISK_WRITE || call->synced)) {
        fate = FATE_DONE;
    }
    call->fate = fate;
    call->error = shim.error;
    report(call, fate == FATE_REFUSE  ? "refused"
                 : fate == FATE_SHORT ? "short"
                 : fate == FATE_LATE  ? "late"
                                      : "done");
}

/* Numbers a call and decides about it. Takes the lock, which end_call releases. */
static void begin_call(struct call *call)
{
    pthread_mutex_lock(&shim.lock);
    call->number = ++shim.number;
    call->error = refusal_of(call);
    call->fate = call->error != 0 ? FATE_REFUSE : FATE_DO;
    if (call->number == shim.crash_at) {
        call->fate = shim.crash_fate;
        if (call->fate == FATE_DIE_TORN && (call->kind != DISK_WRITE || half_of(call) == 0)) {
            call->fate = FATE_DIE_BEFORE;
        }
        report(call, call->fate == FATE_DIE_TORN     ? "torn"
                     : call->fate == FATE_DIE_WITHIN ? "within"
                     : call->fate == FATE_DIE_AFTER  ? "after"
                                                     : "before");
    } else if (call->number >= shim.fail_from && call->number < shim.fail_from + shim.fail_count) {
        fail(call);
    }
    if (call->fate == FATE_DIE_BEFORE) {
        die();
    }
    if (call->fate == FATE_SHORT || call->fate == FATE_DIE_TORN) {
        call->size = half_of(call);
    }
    if (call->fate != FATE_REFUSE || call->kind == DISK_SYNC) {
        note(call, DISK_BEGIN, 0, 0);
    }
}

/* Records a call's end in the journal. A name exists or not, independent of the call's result;
 * bytes of a failed write or sync are not promised. */
static void note_end(struct call *call, ssize_t done, int error)
{
    bool has_bytes = call->kind == DISK_WRITE || call->kind == DISK_SYNC;

    if (call->fate == FATE_REFUSE && call->kind != DISK_SYNC) {
        return;
    }
    if (call->path != NULL && call->file == 0 && error == 0) {
        call->file = inode_of(call->other != NULL ? call->other : call->path);
    }
    if (has_bytes && (call->fate == FATE_REFUSE || call->fate == FATE_DONE)) {
        error = call->error;
        done = 0;
    }
    note(call, DISK_END, done > 0 ? (uint64_t)done : 0, error);
}

/* Returns the result for the caller: `done` is the real result, errno its error. */
static ssize_t end_call(struct call *call, ssize_t done)
{
    int error = done < 0 ? errno : 0;

    if (call->fate == FATE_DIE_WITHIN && call->path == NULL) {
        die(); /* the next process finds a new name, which only a sync of its folder keeps */
    }
    if (call->fate == FATE_LATE) {
        put_late(call->file);
    }
    note_end(call, done, error);
    if (call->fate >= FATE_DIE_TORN) {
        die();
    }
    if (call->fate == FATE_REFUSE || call->fate == FATE_DONE) {
        error = call->error;
        done = -1;
    }
    pthread_mutex_unlock(&shim.lock);
    errno = error != 0 ? error : errno;
    return done;
}

/* Returns whether the call is to be executed. */
static bool is_made(const struct call *call)
{
    return call->fate != FATE_REFUSE;
}

/* Writes. */

static bool is_synced(int file)
{
    int flags = fcntl(file, F_GETFL);

    return flags >= 0 && (flags & O_DSYNC) != 0 && !is_switched("lie");
}

static size_t bytes_in(const struct iovec *pieces, int count)
{
    size_t size = 0;

    for (int i = 0; i < count; i++) {
        size += pieces[i].iov_len;
    }
    return size;
}

/* Selects the pieces that contain `size` bytes, truncating the last one. */
static int cut_pieces(const struct iovec *pieces, size_t size, struct iovec cut[IOV_MAX])
{
    int count = 0;

    while (size > 0) {
        cut[count] = pieces[count];
        cut[count].iov_len = cut[count].iov_len < size ? cut[count].iov_len : size;
        size -= cut[count].iov_len;
        count++;
    }
    return count;
}

/* Returns whether the write would exceed the quota; no file grows then. */
static bool is_over_quota(int file, off_t end)
{
    struct stat info;

    return is_switched("full") && fstat(file, &info) == 0 && end > info.st_size;
}

static ssize_t write_pieces(int file, uint64_t inode, const struct iovec *pieces, int count,
                            off_t offset)
{
    struct iovec cut[IOV_MAX];
    struct call call = {.kind = DISK_WRITE,
                        .synced = is_synced(file),
                        .file = inode,
                        .offset = (uint64_t)offset,
                        .pieces = pieces,
                        .size = bytes_in(pieces, count)};
    ssize_t done = -1;

    if (is_over_quota(file, offset + (off_t)call.size)) {
        errno = EDQUOT;
        return -1;
    }
    if (call.synced) {
        wait_if_slow(file, true);
    }
    begin_call(&call);
    if (is_made(&call)) {
        done = syscall(SYS_pwritev, file, cut, cut_pieces(pieces, call.size, cut), offset, 0);
    }
    return end_call(&call, done);
}

ssize_t pwritev(int file, const struct iovec *pieces, int count, off_t offset)
{
    uint64_t inode = 0;

    if (!is_ours_to_write(file, &inode)) {
        return NEXT(pwritev)(file, pieces, count, offset);
    }
    return write_pieces(file, inode, pieces, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    struct iovec piece = {(void *)(uintptr_t)bytes, size};
    uint64_t inode = 0;

    if (!is_ours_to_write(file, &inode)) {
        return NEXT(pwrite)(file, bytes, size, offset);
    }
    return write_pieces(file, inode, &piece, 1, offset);
}

/* Writes at the file's own offset, which advances. */
static ssize_t write_on(int file, uint64_t inode, const struct iovec *pieces, int count)
{
    off_t at = lseek(file, 0, SEEK_CUR);
    ssize_t done = write_pieces(file, inode, pieces, count, at);

    if (done > 0) {
        (void)lseek(file, at + done, SEEK_SET);
    }
    return done;
}

ssize_t write(int file, const void *bytes, size_t size)
{
    struct iovec piece = {(void *)(uintptr_t)bytes, size};
    uint64_t inode = 0;

    if (!is_ours_to_write(file, &inode)) {
        return NEXT(write)(file, bytes, size);
    }
    return write_on(file, inode, &piece, 1);
}

ssize_t writev(int file, const struct iovec *pieces, int count)
{
    uint64_t inode = 0;

    if (!is_ours_to_write(file, &inode)) {
        return NEXT(writev)(file, pieces, count);
    }
    return write_on(file, inode, pieces, count);
}

/* Lengths and syncs. */

int ftruncate(int file, off_t length)
{
    struct call call = {.kind = DISK_TRUNCATE, .offset = (uint64_t)length};

    if (!is_ours_to_write(file, &call.file)) {
        return NEXT(ftruncate)(file, length);
    }
    begin_call(&call);
    return (int)end_call(&call, is_made(&call) ? NEXT(ftruncate)(file, length) : -1);
}

int posix_fallocate(int file, off_t offset, off_t length)
{
    struct call call = {.kind = DISK_ALLOCATE, .offset = (uint64_t)(offset + length)};

    if (!is_ours_to_write(file, &call.file)) {
        return NEXT(posix_fallocate)(file, offset, length);
    }
    if (is_over_quota(file, offset + length)) {
        return EDQUOT;
    }
    begin_call(&call);
    if (is_made(&call)) {
        errno = NEXT(posix_fallocate)(file, offset, length);
    }
    return end_call(&call, is_made(&call) && errno == 0 ? 0 : -1) == 0 ? 0 : errno;
}

int fdatasync(int file)
{
    struct call call = {.kind = DISK_SYNC};

    if (!is_ours(file, &call.file)) {
        return NEXT(fdatasync)(file);
    }
    if (is_switched("lie")) {
        return 0;
    }
    wait_if_slow(file, false);
    begin_call(&call);
    return (int)end_call(&call, is_made(&call) ? NEXT(fdatasync)(file) : -1);
}

int fsync(int file)
{
    struct call call = {.kind = DISK_SYNC};

    if (!is_ours(file, &call.file)) {
        return NEXT(fsync)(file);
    }
    if (is_switched("lie")) {
        return 0;
    }
    wait_if_slow(file, false);
    begin_call(&call);
    return (int)end_call(&call, is_made(&call) ? NEXT(fsync)(file) : -1);
}

/* In the modes used here LMDB syncs its map through the file: a sync of memory would not be
 * intercepted. */
int msync(void *address, size_t size, int flags)
{
    if (shim.active) {
        abort();
    }
    return NEXT(msync)(address, size, flags);
}

/* Names. */

static int open_new(int folder_file, const char *path, const char *relative, int flags, mode_t mode)
{
    struct call call = {.kind = DISK_CREATE, .path = relative};

    if (is_switched("full")) {
        errno = EDQUOT;
        return -1;
    }
    begin_call(&call);
    return (int)end_call(&call,
                         is_made(&call) ? syscall(SYS_openat, folder_file, path, flags, mode) : -1);
}

static int open_any(int folder_file, const char *path, int flags, mode_t mode)
{
    char whole[2 * PATH_MAX];
    const char *relative = (flags & O_CREAT) != 0 ? locate(folder_file, path, whole) : NULL;

    if (relative == NULL || faccessat(folder_file, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return (int)syscall(SYS_openat, folder_file, path, flags, mode);
    }
    return open_new(folder_file, path, relative, flags, mode);
}

static mode_t mode_in(int flags, va_list list)
{
    return (flags & O_CREAT) != 0 ? (mode_t)va_arg(list, int) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list list;
    mode_t mode = 0;

    va_start(list, flags);
    mode = mode_in(flags, list);
    va_end(list);
    return open_any(AT_FDCWD, path, flags, mode);
}

int openat(int folder_file, const char *path, int flags, ...)
{
    va_list list;
    mode_t mode = 0;

    va_start(list, flags);
    mode = mode_in(flags, list);
    va_end(list);
    return open_any(folder_file, path, flags, mode);
}

int mkdir(const char *path, mode_t mode)
{
    char whole[2 * PATH_MAX];
    struct call call = {.kind = DISK_MAKE_FOLDER, .path = locate(AT_FDCWD, path, whole)};

    if (call.path == NULL || access(path, F_OK) == 0) {
        return NEXT(mkdir)(path, mode);
    }
    begin_call(&call);
    return (int)end_call(&call, is_made(&call) ? NEXT(mkdir)(path, mode) : -1);
}

/* Removing a missing file changes nothing, and does not count as a call. */
static int remove_name(int folder_file, const char *path, int flags)
{
    char whole[2 * PATH_MAX];
    struct call call = {.kind = DISK_REMOVE, .path = locate(folder_file, path, whole)};

    if (call.path == NULL || faccessat(folder_file, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
        return NEXT(unlinkat)(folder_file, path, flags);
    }
    begin_call(&call);
    return (int)end_call(&call, is_made(&call) ? NEXT(unlinkat)(folder_file, path, flags) : -1);
}

int unlinkat(int folder_file, const char *path, int flags)
{
    return remove_name(folder_file, path, flags);
}

int unlink(const char *path)
{
    return remove_name(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return remove_name(AT_FDCWD, path, AT_REMOVEDIR);
}

int renameat(int old_folder, const char *old_path, int new_folder, const char *new_path)
{
    char old_whole[2 * PATH_MAX];
    char new_whole[2 * PATH_MAX];
    struct call call = {.kind = DISK_RENAME,
                        .path = locate(old_folder, old_path, old_whole),
                        .other = locate(new_folder, new_path, new_whole)};

    if (call.path == NULL || call.other == NULL) {
        return NEXT(renameat)(old_folder, old_path, new_folder, new_path);
    }
    begin_call(&call);
    return (int)end_call(
        &call, is_made(&call) ? NEXT(renameat)(old_folder, old_path, new_folder, new_path) : -1);
}

int rename(const char *old_path, const char *new_path)
{
    return renameat(AT_FDCWD, old_path, AT_FDCWD, new_path);
}
