/*
 * preload.c: see preload.h. The tokens are written last: a folder without them is incomplete.
 */
#include "tools/bench/preload/preload.h"

#include "store/lmdb/lmdb.h"
#include "tools/bench/preload/sizes.h"
#include "tools/bench/preload/ways.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PATH_BYTES_MAX 1024

static enum err check_range(struct fault *fault, const char *what, uint64_t number, uint64_t min,
                            uint64_t max)
{
    if (number >= min && number <= max) {
        return OK;
    }
    return fault_say(fault, ERR_INVALID, "%s: %" PRIu64 " to %" PRIu64 ", not %" PRIu64, what, min,
                     max, number);
}

static enum err check_options(const struct preload_options *options, struct fault *fault)
{
    const struct {
        const char *what;
        uint64_t number;
        uint64_t min;
        uint64_t max;
    } ranges[] = {
        {"organisations", options->org_count, 1, PRELOAD_ORGS_MAX},
        {"layouts", options->layout_count, 1, PRELOAD_LAYOUTS_MAX},
        {"events", options->event_count, options->org_count, PRELOAD_EVENTS_MAX},
        {"extractions", options->extraction_count, 0, PRELOAD_EXTRACTIONS_MAX},
        {"mappings", options->mapping_count, 0, PRELOAD_MAPPINGS_MAX},
        {"families", options->family_count, 0,
         options->way == PRELOAD_PLAIN ? PRELOAD_FAMILIES_MAX : 0},
        {"customers", options->customer_count, options->mapping_count > 0 ? 1 : 0,
         PRELOAD_CUSTOMERS_MAX},
        {"bytes of an event", options->event_bytes, PRELOAD_EVENT_BYTES_MIN,
         PRELOAD_EVENT_BYTES_MAX},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        enum err err =
            check_range(fault, ranges[i].what, ranges[i].number, ranges[i].min, ranges[i].max);

        if (err != OK) {
            return err;
        }
    }
    return OK;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Creates the folder if there is none, and checks that it is empty. */
static enum err take_folder(const char *folder, struct fault *fault)
{
    const struct dirent *entry = NULL;
    DIR *listing = NULL;

    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        return fault_say(fault, ERR_IO, "%s: cannot be created: %s", folder, strerror(errno));
    }
    listing = opendir(folder);
    if (listing == NULL) {
        return fault_say(fault, ERR_IO, "%s: cannot be read: %s", folder, strerror(errno));
    }
    entry = readdir(listing);
    while (entry != NULL && is_dots(entry->d_name)) {
        entry = readdir(listing);
    }
    (void)closedir(listing);
    if (entry != NULL) {
        return fault_say(fault, ERR_PRECONDITION, "%s: not empty; expected a new or empty folder",
                         folder);
    }
    return OK;
}

static enum err read_free_bytes(const char *folder, uint64_t *ret_bytes, struct fault *fault)
{
    struct statvfs info;

    if (statvfs(folder, &info) != 0) {
        return fault_say(fault, ERR_IO, "%s: the size of the file system cannot be read", folder);
    }
    *ret_bytes = (uint64_t)info.f_bavail * info.f_frsize;
    return OK;
}

/* Creates a file that only its owner may read. */
static enum err write_tokens(const struct script *script, const char *name, uint32_t count)
{
    char path[PATH_BYTES_MAX];
    int size = snprintf(path, sizeof(path), "%s/%s", script->options->folder, name);
    int fd =
        size < (int)sizeof(path) ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    bool written = file != NULL;

    for (uint32_t i = 0; i < count && written; i++) {
        written = fprintf(file, "%.*s\n", TOKEN_TEXT_BYTES, script->tokens[i]) > 0;
    }
    if (file != NULL) {
        written = fclose(file) == 0 && written;
    }
    if (!written) {
        return fault_say(script->fault, ERR_IO, "%s/%s: cannot be written: %s",
                         script->options->folder, name, strerror(errno));
    }
    return OK;
}

static uint64_t event_count(const struct preload_options *options)
{
    uint64_t count = 0;

    for (uint32_t org = 0; org < options->org_count; org++) {
        count += script_event_count(options, org);
    }
    return count;
}

static enum err fill_store(struct script *script, struct store_backend *store)
{
    const struct preload_options *options = script->options;
    struct progress progress;
    enum err err = OK;

    progress_init(&progress, options->progress, clock_system(), event_count(options));
    store_lmdb_begin_bulk(store);
    err = options->way == PRELOAD_BULK ? ways_load_bulk(script, store, &progress)
                                       : ways_load_plain(script, store, &progress);
    if (err == OK) {
        progress_say(&progress, "all events are in, waiting for the disk");
        err = store_lmdb_end_bulk(store);
    }
    if (err != OK && script->fault->message.size == 0) {
        return fault_say(script->fault, err, "%s: %s", options->folder, err_text(err));
    }
    return err;
}

static enum err fill_folder(struct script *script)
{
    const struct store_lmdb_config config = {.path = script->options->folder};
    struct store_backend *store = NULL;
    enum err err = store_lmdb_open(&config, script->fault, &store);

    if (err != OK) {
        return err;
    }
    err = fill_store(script, store);
    store_lmdb_close(store);
    if (err == OK) {
        err = write_tokens(script, "admin.token", 1);
    }
    if (err == OK) {
        err = write_tokens(script, PRELOAD_TOKENS_FILE, script->options->org_count);
    }
    return err;
}

/* Checks that the disk and the memory have enough room for the load. */
static enum err check_room(const struct preload_options *options, const struct sizes *sizes,
                           struct fault *fault)
{
    uint64_t free_bytes = 0;
    enum err err = sizes_check_stage(sizes, fault);

    if (err == OK) {
        err = take_folder(options->folder, fault);
    }
    if (err == OK) {
        err = read_free_bytes(options->folder, &free_bytes, fault);
    }
    if (err == OK) {
        err = sizes_check_disk(sizes, options->folder, free_bytes, fault);
    }
    if (err == OK && options->progress != NULL) {
        (void)fprintf(options->progress,
                      "preload: %" PRIu64 " events, about %" PRIu64 " MB on the disk and %" PRIu64
                      " MB of memory\n",
                      event_count(options), sizes->disk_bytes >> 20, sizes->stage_bytes >> 20);
    }
    return err;
}

static enum err load(const struct preload_options *options, struct script *script,
                     struct fault *fault)
{
    struct script_texts texts;
    struct sizes sizes;
    enum err err = OK;

    script_init(script, options, fault);
    err = sizes_measure(script, &sizes);
    texts = script->texts;
    script_deinit(script);
    if (err == OK) {
        err = check_room(options, &sizes, fault);
    }
    if (err != OK) {
        return err;
    }
    script_init(script, options, fault);
    script->texts = texts;
    err = fill_folder(script);
    script_deinit(script);
    return err;
}

enum err preload_run(const struct preload_options *options, struct fault *fault)
{
    struct script *script = NULL;
    enum err err = check_options(options, fault);

    if (err != OK) {
        return err;
    }
    script = malloc(sizeof(*script)); /* a hundred kilobytes of tokens and ids */
    if (script == NULL) {
        return ERR_MEMORY;
    }
    err = load(options, script, fault);
    free(script);
    return err;
}
