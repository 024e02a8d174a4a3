/*
 * backup.c: see backup.h. One stream: its data is written to FILE.part, which is renamed to FILE
 * after size and checksum match the server's report and the bytes are synced. Replies are decoded
 * from wire bytes, without JSON.
 */
#include "tools/errata/admin/backup.h"

#include "tools/errata/admin/backup_since.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/layouts/measures.h"

#include "client/header.h"
#include "store/base/file.h"
#include "store/base/json.h"
#include "store/base/sha256.h"
#include "store/base/timestamp.h"
#include "store/base/wire.h"

#include <errata/v1/admin_service.fields.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* For the request, which may have a position, and the status. */
#define CALL_ARENA_BYTES_MAX (8u << 20)
#define MIB (UINT64_C(1) << 20)

/* The size and digest of the sent bytes, as reported by the server. */
struct backup_report {
    uint64_t size_bytes;
    struct sha256_digest sha256;
    int64_t created_at_us;
    bool has_position;
};

struct backing_up {
    struct cli *cli;
    const char *path; /* FILE */
    bool to_output; /* the target is `-` */
    const char *since; /* the backup that an increment follows; NULL: a whole backup */
    char part[PATH_MAX]; /* FILE.part */
    int file; /* descriptor of the file, or standard output; -1: not open */
    uint64_t bytes; /* written */
    struct sha256_state sha256; /* digest of the received bytes */
    bool reported;
    bool is_whole; /* all bytes are received and on disk */
    struct backup_report report;
    enum cli_exit result;
    int64_t start_us;
};

/* --- the file --- */

static enum cli_exit say_failed(struct cli *cli, const char *path, const char *what)
{
    return cli_local(cli, "%s: can't be %s: %s", path, what, strerror(errno));
}

static enum cli_exit check_free(const struct backing_up *backing_up)
{
    struct stat info;
    struct stat since;

    if (backing_up->since != NULL && stat(backing_up->path, &info) == 0 &&
        stat(backing_up->since, &since) == 0 && info.st_dev == since.st_dev &&
        info.st_ino == since.st_ino) {
        return cli_local(
            backing_up->cli,
            "%s: is the file of --since, which a restore needs, too; expected another file",
            backing_up->path);
    }
    if (lstat(backing_up->path, &info) == 0 && !options_has(&backing_up->cli->options, "force")) {
        return cli_local(backing_up->cli, "%s: exists; expected a new file, or --force",
                         backing_up->path);
    }
    return CLI_OK;
}

/* Opens the .part file. A file left by an earlier run is reused, unless another process has it
 * locked. */
static enum cli_exit open_part(struct backing_up *backing_up)
{
    struct cli *cli = backing_up->cli;
    int size = snprintf(backing_up->part, sizeof(backing_up->part), "%s.part", backing_up->path);

    if (size < 0 || (size_t)size >= sizeof(backing_up->part)) {
        return cli_local(cli, "%s: the path is too long", backing_up->path);
    }
    backing_up->file =
        open(backing_up->part, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (backing_up->file < 0) {
        return say_failed(cli, backing_up->part, "made");
    }
    if (flock(backing_up->file, LOCK_EX | LOCK_NB) != 0) {
        (void)close(backing_up->file);
        backing_up->file = -1;
        return cli_local(cli, "%s: another backup is writing to it", backing_up->part);
    }
    if (fchmod(backing_up->file, S_IRUSR | S_IWUSR) != 0 || ftruncate(backing_up->file, 0) != 0) {
        return say_failed(cli, backing_up->part, "emptied");
    }
    return CLI_OK;
}

static enum cli_exit open_output(struct backing_up *backing_up)
{
    enum cli_exit result = CLI_OK;

    if (!backing_up->to_output) {
        result = check_free(backing_up);
        return result == CLI_OK ? open_part(backing_up) : result;
    }
    if (isatty(STDOUT_FILENO) != 0) {
        return cli_usage(
            backing_up->cli,
            "-: standard output is a terminal, and a backup is binary; expected a pipe or a file");
    }
    backing_up->file = STDOUT_FILENO;
    return CLI_OK;
}

static bool write_data(struct backing_up *backing_up, struct slice data)
{
    if (!file_write_all(backing_up->file, data)) {
        backing_up->result =
            say_failed(backing_up->cli, backing_up->to_output ? "-" : backing_up->part, "written");
        return false;
    }
    backing_up->bytes += data.size;
    sha256_add(&backing_up->sha256, data);
    return true;
}

/* Syncs the folder of the file, so that its new name survives a power failure. */
static bool sync_folder(const char *path)
{
    char copy[PATH_MAX];
    int folder = -1;
    bool synced = false;

    (void)snprintf(copy, sizeof(copy), "%s", path);
    folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    synced = folder >= 0 && fsync(folder) == 0;
    if (folder >= 0) {
        (void)close(folder);
    }
    return synced;
}

/* Renames the complete .part file; if that fails, the .part file is kept. */
static enum cli_exit take_place(struct backing_up *backing_up)
{
    struct cli *cli = backing_up->cli;
    enum cli_exit result = check_free(backing_up); /* checked again, since minutes have passed */

    if (result == CLI_OK && rename(backing_up->part, backing_up->path) != 0) {
        result = say_failed(cli, backing_up->path, "made");
    }
    if (result != CLI_OK) {
        cli_note(cli, "the backup is complete: %s", backing_up->part);
        return result;
    }
    return sync_folder(backing_up->path) ? CLI_OK : say_failed(cli, backing_up->path, "synced");
}

/* --- the stream of the backup --- */

static bool read_progress(struct backing_up *backing_up, struct slice message)
{
    struct progress_state state = {.unit = "MiB"};
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum err err = OK;

    while ((err = wire_next(&reader, &field)) == OK) {
        if (field.number == BACKUP_PROGRESS_SENT_BYTES_FIELD) {
            state.done = field.value / MIB;
        } else if (field.number == BACKUP_PROGRESS_TOTAL_BYTES_FIELD) {
            state.total = field.value / MIB;
        }
    }
    progress_show(&backing_up->cli->progress, &state);
    return err == ERR_NOT_FOUND;
}

static bool read_report(struct backing_up *backing_up, struct slice message)
{
    struct backup_report *report = &backing_up->report;
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    bool has_sha256 = false;
    bool is_right = true;
    enum err err = OK;

    while ((err = wire_next(&reader, &field)) == OK) {
        if (field.number == BACKUP_REPORT_SIZE_BYTES_FIELD) {
            report->size_bytes = field.value;
        } else if (field.number == BACKUP_REPORT_SHA256_FIELD) {
            has_sha256 = sha256_parse(field.bytes, &report->sha256);
        } else if (field.number == BACKUP_REPORT_CREATED_AT_FIELD) {
            is_right = wire_read_timestamp(field.bytes, &report->created_at_us) == OK;
        } else if (field.number == BACKUP_REPORT_POSITION_FIELD) {
            report->has_position = field.bytes.size > 0;
        }
    }
    backing_up->reported = true;
    return err == ERR_NOT_FOUND && has_sha256 && is_right;
}

static bool take_message(void *user, struct slice message)
{
    struct backing_up *backing_up = (struct backing_up *)user;
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    bool is_right = true;
    enum err err = OK;

    while (is_right && (err = wire_next(&reader, &field)) == OK) {
        if (field.number == BACKUP_RESPONSE_DATA_FIELD && !write_data(backing_up, field.bytes)) {
            return false;
        }
        if (field.number == BACKUP_RESPONSE_PROGRESS_FIELD) {
            is_right = read_progress(backing_up, field.bytes);
        } else if (field.number == BACKUP_RESPONSE_REPORT_FIELD) {
            is_right = read_report(backing_up, field.bytes);
        }
    }
    if (!is_right || err != ERR_NOT_FOUND) {
        backing_up->result =
            cli_local(backing_up->cli, "the server sent a reply that does not decode");
        return false;
    }
    return true;
}

static enum cli_exit encode_request(const struct backing_up *backing_up, struct arena *arena,
                                    struct slice *ret_message)
{
    struct slice position = {NULL, 0};
    struct buffer message;
    enum cli_exit result = backup_since_read(backing_up->cli, backing_up->since, &position);

    if (result != CLI_OK) {
        return result;
    }
    buffer_init(&message, arena, position.size + 16);
    wire_put_bytes(&message, BACKUP_REQUEST_SINCE_FIELD, position);
    *ret_message = buffer_slice(&message);
    return buffer_ok(&message) ? CLI_OK : cli_local(backing_up->cli, "out of memory");
}

static enum cli_exit receive(struct backing_up *backing_up, struct arena *arena)
{
    struct cli *cli = backing_up->cli;
    struct client_options options = {.timeout_ms = 0};
    struct client_request request = {.method = cli_method("/errata.v1.AdminService/Backup"),
                                     .options = &options};
    struct client_result answer = {.reply = {NULL, 0}};
    enum cli_exit result = cli_call_options(cli, request.method, &options);
    enum err err = OK;

    if (result == CLI_OK && backing_up->since != NULL) {
        result = encode_request(backing_up, arena, &request.message);
    }
    if (result == CLI_OK) {
        result = cli_connect(cli);
    }
    if (result != CLI_OK) {
        return result;
    }
    cli_progress(cli);
    err = client_stream_blocking(cli->client, &request, take_message, backing_up, arena, &answer);
    progress_hide(&cli->progress);
    if (err != OK) {
        return failure_print_start(cli, err);
    }
    if (backing_up->result == CLI_OK && answer.status.code != CLIENT_CODE_OK) {
        return failure_print_status(cli, &answer.status);
    }
    return backing_up->result;
}

/* Checks that the received bytes match the server's report, and syncs the file. */
static enum cli_exit check(struct backing_up *backing_up)
{
    struct cli *cli = backing_up->cli;
    struct sha256_digest sha256 = sha256_read(&backing_up->sha256);

    if (!backing_up->reported) {
        return cli_local(cli, "the server ended without a report");
    }
    if (backing_up->bytes != backing_up->report.size_bytes ||
        memcmp(sha256.bytes, backing_up->report.sha256.bytes, SHA256_BYTES) != 0) {
        return cli_local(cli,
                         "%s: is not what the server sent: %" PRIu64
                         " bytes came, expected %" PRIu64 " with their checksum; back up again",
                         backing_up->path, backing_up->bytes, backing_up->report.size_bytes);
    }
    if (!backing_up->to_output && fsync(backing_up->file) != 0) {
        return say_failed(cli, backing_up->part, "synced");
    }
    return CLI_OK;
}

static void print_result(struct backing_up *backing_up)
{
    struct cli *cli = backing_up->cli;
    const struct backup_report *report = &backing_up->report;
    char sha256[2 * SHA256_BYTES];
    char time[TIMESTAMP_TEXT_BYTES_MAX];
    size_t time_bytes = timestamp_format(report->created_at_us / 1000000,
                                         (int32_t)(report->created_at_us % 1000000 * 1000), time);
    struct slice size = measures_bytes(cli, report->size_bytes);
    struct slice took =
        progress_span(&cli->arena, clock_monotonic_us(clock_system()) - backing_up->start_us);
    struct buffer json;

    sha256_format(&report->sha256, sha256);
    if (backing_up->to_output) {
        cli_note(cli, "%.*s of %.*s, SHA-256 %.*s", SLICE_ARGS(size), (int)time_bytes, time,
                 (int)sizeof(sha256), sha256);
    } else if (cli->json) {
        buffer_init(&json, &cli->arena, 512);
        buffer_append(&json, SLICE("{\"file\":"));
        json_write_string(&json, slice_text(backing_up->path), false);
        buffer_printf(&json,
                      ",\"sizeBytes\":\"%" PRIu64 "\",\"sha256\":\"%.*s\",\"createdAt\":\"%.*s\"}",
                      report->size_bytes, (int)sizeof(sha256), sha256, (int)time_bytes, time);
        print_json(&cli->out, buffer_slice(&json));
    } else {
        print_text(&cli->out, "%s: %.*s of %.*s (%.*s)\nSHA-256 %.*s\n", backing_up->path,
                   SLICE_ARGS(size), (int)time_bytes, time, SLICE_ARGS(took), (int)sizeof(sha256),
                   sha256);
    }
}

static enum cli_exit back_up(struct backing_up *backing_up)
{
    struct arena arena;
    enum cli_exit result = open_output(backing_up);

    if (result != CLI_OK) {
        return result;
    }
    arena_init(&arena, CALL_ARENA_BYTES_MAX);
    result = receive(backing_up, &arena);
    arena_deinit(&arena);
    if (result == CLI_OK) {
        result = check(backing_up);
    }
    backing_up->is_whole = result == CLI_OK;
    if (result == CLI_OK && !backing_up->to_output) {
        result = take_place(backing_up);
    }
    if (result == CLI_OK) {
        print_result(backing_up);
    }
    if (result == CLI_OK && !backing_up->report.has_position) {
        cli_note(backing_up->cli, "the file has no position: no increment can follow it");
    }
    return result;
}

enum cli_exit backup_run(struct cli *cli)
{
    const char *path = cli->options.words[0];
    struct backing_up backing_up = {.cli = cli,
                                    .path = path,
                                    .to_output = strcmp(path, "-") == 0,
                                    .since = options_get(&cli->options, "since"),
                                    .file = -1,
                                    .start_us = clock_monotonic_us(clock_system())};
    enum cli_exit result = CLI_OK;

    sha256_begin(&backing_up.sha256);
    result = back_up(&backing_up);
    if (backing_up.to_output || backing_up.file < 0) {
        return result;
    }
    if (!backing_up.is_whole) {
        (void)unlink(backing_up.part); /* this run holds the lock, so no other run has the file */
    }
    (void)close(backing_up.file); /* the data has been synced before */
    return result;
}
