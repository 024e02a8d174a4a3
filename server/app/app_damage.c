/*
 * app_damage.c: handles faults caused by a damaged page. A signal handler has no parameter for its
 * state, so that is in one static; it calls only write, _exit, sigaction and raise.
 */
#include "server/app/app_damage.h"

#include "server/app/app.h"
#include "store/backup/backup_file.h"
#include "store/lmdb/lmdb.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES_MAX 512

/* Set while no other thread runs; the handlers are set once. */
static struct {
    const uint8_t *start;
    const uint8_t *end;
    char line[LINE_BYTES_MAX];
    size_t line_bytes;
    bool set; /* the handlers are installed */
    struct sigaction segv_before; /* a sanitizer's handler, which reports more than the signal */
    struct sigaction bus_before;
} watch;

static bool is_there(const char *data, const char *name)
{
    char path[CONFIG_PATH_BYTES_MAX + 32];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/%s", data, name);
    return lstat(path, &info) == 0 || errno != ENOENT;
}

enum err app_damage_check_folder(const char *data, struct fault *fault)
{
    /* The store is in db.old while a rebuilt store is being renamed; opening restores it. */
    if (is_there(data, APP_TOKEN_FILE) && !is_there(data, "db") && !is_there(data, "db.old")) {
        return fault_say(fault, ERR_CORRUPT,
                         "%s had a store, but %s/db is missing; " BACKUP_ADVICE ", or remove "
                         "%s/%s too to begin a new store",
                         data, data, data, APP_TOKEN_FILE);
    }
    return OK;
}

enum err app_damage_require_store(const char *data, struct fault *fault)
{
    enum err err = app_damage_check_folder(data, fault);

    if (err == OK && !is_there(data, "db") && !is_there(data, "db.old")) {
        return fault_say(fault, ERR_PRECONDITION, "%s: no store; expected a folder that has one",
                         data);
    }
    return err;
}

static void write_line(const char *text, size_t size)
{
    ssize_t written = write(STDERR_FILENO, text, size);

    (void)written; /* the program ends in either case */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const uint8_t *at = (const uint8_t *)info->si_addr;
    bool is_fault = info->si_code > 0; /* signals sent by kill and raise have no code above 0 */

    (void)context;
    if (is_fault && ((at >= watch.start && at < watch.end) || store_lmdb_is_inside())) {
        write_line(watch.line, watch.line_bytes);
        _exit(APP_EXIT_DAMAGED);
    }
    /* A bug of the program: the fault happens again after this returns, and ends the program with
     * its signal. A signal that was sent is raised again here. */
    (void)sigaction(number, number == SIGSEGV ? &watch.segv_before : &watch.bus_before, NULL);
    if (!is_fault) {
        (void)raise(number);
    }
}

void app_damage_watch(const char *data, struct slice map)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    int size =
        snprintf(watch.line, sizeof(watch.line),
                 "erratad: a page of %s/db/data.mdb is damaged or can't be read; ending with "
                 "%d; " BACKUP_ADVICE " (the system log may name the disk)\n",
                 data, APP_EXIT_DAMAGED);

    watch.line_bytes = size < 0 ? 0 : (size_t)size;
    if (watch.line_bytes >= sizeof(watch.line)) {
        watch.line_bytes = sizeof(watch.line) - 1;
    }
    watch.start = map.data;
    watch.end = map.data + map.size;
    if (watch.set) {
        return;
    }
    watch.set = true;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGSEGV, &action, &watch.segv_before);
    (void)sigaction(SIGBUS, &action, &watch.bus_before);
}

void app_damage_end(const char *fact)
{
    char line[LINE_BYTES_MAX];
    int size = snprintf(line, sizeof(line),
                        "erratad: the store's file is damaged: LMDB found no \"%.200s\"; ending "
                        "with %d; " BACKUP_ADVICE "\n",
                        fact, APP_EXIT_DAMAGED);

    write_line(line, size < 0 ? 0 : (size_t)size);
    _exit(APP_EXIT_DAMAGED);
}
