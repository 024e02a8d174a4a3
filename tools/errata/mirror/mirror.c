/*
 * mirror.c: see mirror.h. Reads the log from the event after the last one that the repository has, some events at a time, and
 * commits them; what is in no commit is read again by the next run.
 */
#include "tools/errata/mirror/mirror.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/mirror/commit_stream.h"

#include "client/header.h"

#include <inttypes.h>
#include <time.h>

#define WATCH "/errata.v1.EventService/WatchEvents"
#define STATUS_ARENA_BYTES_MAX (1u << 20)
/* The default time limit of reading some events: the server may look at many others for them. Waiting for one has none. */
#define WATCH_TIMEOUT_MS 600000
/* Pauses of --follow after a failure of the server or the connection: each is twice the one before, up to the last. */
#define RETRY_FIRST_S 1
#define RETRY_LAST_S 30

struct mirror {
    struct cli *cli;
    struct repository repository;
    struct arena arena; /* memory of the events below */
    struct mirror_event events[COMMIT_STREAM_EVENTS_MAX];
    size_t count;
    uint64_t next_seq; /* the first event that was not read */
    uint64_t newest_seq;
    bool only_waits; /* the stream ends at its first event, which is read again */
    enum cli_exit result; /* of reading an event */
    size_t event_count; /* events and commits of this run */
    size_t commit_count;
    bool erased; /* content that earlier runs may have committed */
    char seen[GIT_NAME_BYTES_MAX + 1]; /* the last commit when the log was read first */
};

/* --- the log --- */

static enum cli_exit read_newest(struct mirror *mirror)
{
    struct cli *cli = mirror->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct reply_walk walk;
    enum cli_exit result = CLI_OK;

    arena_reset(&cli->arena);
    result = cli_call_reply(cli, "/errata.v1.EventService/ListEvents", SLICE("{\"page_size\":1}"),
                            &reply);
    if (result == CLI_OK) {
        walk = reply_walk(reply, "events");
        mirror->newest_seq = reply_next(&walk) ? reply_integer(cli, walk.row, "seq") : 0;
    }
    return result;
}

/* Refuses the log of another organisation, and one that was restored from a backup before the last event that was mirrored. */
static enum cli_exit check_log(struct mirror *mirror)
{
    const struct repository *repository = &mirror->repository;
    struct cli *cli = mirror->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    enum cli_exit result = read_newest(mirror);
    bool is_known = repository->seq <= mirror->newest_seq;

    if (result != CLI_OK || repository->seq == 0) {
        return result;
    }
    if (is_known) {
        arena_reset(&cli->arena);
        result = cli_call_reply(
            cli, "/errata.v1.EventService/GetEvent",
            arena_printf(&cli->arena, "{\"seq\":\"%" PRIu64 "\"}", repository->seq), &reply);
        is_known = slice_equal(reply_text(cli, reply_member(reply, "event"), "id"),
                               slice_text(repository->event_id));
    }
    return result != CLI_OK || is_known
               ? result
               : cli_local(cli,
                           "%s: has event %" PRIu64 " with id %s, which the server does not have; "
                           "expected the same organisation, and a server that was not restored "
                           "from an older backup. Mirror into a new folder",
                           repository->path, repository->seq, repository->event_id);
}

static enum cli_exit take_event(struct mirror *mirror, struct slice message)
{
    struct cli *cli = mirror->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct mirror_event *event = &mirror->events[mirror->count];
    struct slice json = {NULL, 0};
    enum cli_exit result = CLI_OK;

    arena_reset(&cli->arena);
    result = cli_decode(cli, cli_method(WATCH), message, &cli->arena, &json);
    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result == CLI_OK) {
        result = mirror_event_read(cli, &mirror->arena, reply_member(reply, "event"), event);
    }
    if (result == CLI_OK) {
        mirror->next_seq = event->seq + 1;
        mirror->count += event->ref_count + event->seq_count > 0 || event->reevaluates;
    }
    return result;
}

static bool take_message(void *user, struct slice message)
{
    struct mirror *mirror = (struct mirror *)user;

    if (mirror->only_waits) {
        return false;
    }
    mirror->result = take_event(mirror, message);
    return mirror->result == CLI_OK && mirror->count < COMMIT_STREAM_EVENTS_MAX &&
           mirror->arena.used_bytes < COMMIT_STREAM_EVENTS_BYTES_MAX / 2;
}

/* Sets --metadata, and the time limit of reading events. */
static enum cli_exit set_options(const struct mirror *mirror, const struct method_info *method,
                                 struct client_options *ret_options)
{
    enum cli_exit result = cli_call_options(mirror->cli, method, ret_options);

    if (mirror->only_waits) {
        ret_options->timeout_ms = 0;
    } else if (ret_options->timeout_ms == 0) {
        ret_options->timeout_ms = WATCH_TIMEOUT_MS;
    }
    return result;
}

/* Reads events, up to the newest one or, if it only waits, the next one. */
static enum cli_exit watch(struct mirror *mirror, struct arena *arena)
{
    struct cli *cli = mirror->cli;
    struct client_options options = {.timeout_ms = 0};
    struct client_request request = {.method = cli_method(WATCH), .options = &options};
    struct client_result answer = {.reply = {NULL, 0}};
    struct slice json = {NULL, 0};
    enum cli_exit result = cli_connect(cli);
    enum err err = OK;

    arena_reset(&cli->arena);
    json = arena_printf(
        &cli->arena, "{\"from_seq\":\"%" PRIu64 "\",\"until_seq\":\"%" PRIu64 "\",\"kinds\":%.*s}",
        mirror->next_seq, mirror->only_waits ? 0 : mirror->newest_seq,
        SLICE_ARGS(mirror_event_kinds(&cli->arena)));
    if (result == CLI_OK) {
        result = cli_encode(cli, request.method, json, &request.message);
    }
    if (result == CLI_OK) {
        result = set_options(mirror, request.method, &options);
    }
    if (result != CLI_OK) {
        return result;
    }
    mirror->result = CLI_OK;
    err = client_stream_blocking(cli->client, &request, take_message, mirror, arena, &answer);
    if (err != OK) {
        return failure_print_start(cli, err);
    }
    if (mirror->result != CLI_OK || answer.status.code == CLIENT_CODE_CANCELLED) {
        return mirror->result;
    }
    if (answer.status.code == CLIENT_CODE_OK && !mirror->only_waits) {
        mirror->next_seq = mirror->newest_seq + 1;
    }
    return answer.status.code == CLIENT_CODE_OK ? CLI_OK
                                                : failure_print_status(cli, &answer.status);
}

static enum cli_exit read_events(struct mirror *mirror)
{
    struct arena arena;
    enum cli_exit result = CLI_OK;

    mirror->count = 0;
    arena_reset(&mirror->arena);
    arena_init(&arena, STATUS_ARENA_BYTES_MAX);
    result = watch(mirror, &arena);
    arena_deinit(&arena);
    return result;
}

/* --- commits --- */

/* Commits the first of the events, as many as a stream takes. */
static enum cli_exit commit_some(struct mirror *mirror, size_t from, size_t *ret_count)
{
    struct commit_stream stream;
    size_t count = 0;
    enum cli_exit result =
        commit_stream_open(&stream, mirror->cli, &mirror->repository, mirror->seen);

    if (result == CLI_OK) {
        result = commit_stream_write(&stream, mirror->events + from, mirror->count - from, &count);
    }
    if (result == CLI_OK && stream.commits > 0) {
        result = commit_stream_end(&stream);
    }
    if (result == CLI_OK && stream.commits > 0) {
        result = repository_commit(&mirror->repository, stream.file);
    }
    if (result == CLI_OK) {
        mirror->event_count += count;
        mirror->commit_count += stream.commits;
        mirror->erased = mirror->erased || stream.erased;
    }
    commit_stream_close(&stream);
    *ret_count = count;
    return result;
}

static enum cli_exit commit_all(struct mirror *mirror)
{
    size_t done = 0;
    size_t count = 0;
    enum cli_exit result = CLI_OK;

    while (result == CLI_OK && done < mirror->count) {
        result = commit_some(mirror, done, &count);
        done += count;
    }
    return result;
}

static void print_totals(struct mirror *mirror)
{
    struct cli *cli = mirror->cli;

    if (cli->json) {
        print_json(&cli->out,
                   arena_printf(&cli->arena,
                                "{\"events\":%zu,\"commits\":%zu,\"seq\":\"%" PRIu64 "\"}",
                                mirror->event_count, mirror->commit_count, mirror->repository.seq));
    } else {
        print_text(&cli->out, "%s: %zu event%s in %zu commit%s, up to event %" PRIu64 "\n",
                   mirror->repository.path, mirror->event_count,
                   mirror->event_count == 1 ? "" : "s", mirror->commit_count,
                   mirror->commit_count == 1 ? "" : "s", mirror->repository.seq);
    }
    (void)fflush(cli->out.stream);
    if (mirror->erased) {
        cli_note(cli, "content was erased on the server, and earlier commits still have it; to "
                      "remove it, delete the folder and mirror again");
    }
    mirror->event_count = 0;
    mirror->commit_count = 0;
    mirror->erased = false;
}

/* Mirrors what was recorded until now. */
static enum cli_exit catch_up(struct mirror *mirror)
{
    enum cli_exit result = check_log(mirror);

    mirror->next_seq = mirror->repository.seq + 1;
    memcpy(mirror->seen, mirror->repository.head, sizeof(mirror->seen));
    cli_progress(mirror->cli);
    while (result == CLI_OK && mirror->next_seq <= mirror->newest_seq) {
        struct progress_state state = {
            .unit = "events", .done = mirror->next_seq, .total = mirror->newest_seq};

        progress_show(&mirror->cli->progress, &state);
        result = read_events(mirror);
        if (result == CLI_OK) {
            result = commit_all(mirror);
        }
    }
    progress_hide(&mirror->cli->progress);
    return result;
}

static enum cli_exit wait_for_event(struct mirror *mirror)
{
    enum cli_exit result = CLI_OK;

    mirror->only_waits = true;
    result = read_events(mirror);
    mirror->only_waits = false;
    return result;
}

/* Returns whether a failure may pass by itself: that of the connection, and of the server, but for refusals. */
static bool may_pass(const struct mirror *mirror, enum cli_exit result)
{
    switch (result == CLI_CALL_FAILED ? mirror->cli->failed_code : CLIENT_CODE_OK) {
    case CLIENT_CODE_UNKNOWN:
    case CLIENT_CODE_CANCELLED:
    case CLIENT_CODE_DEADLINE_EXCEEDED:
    case CLIENT_CODE_RESOURCE_EXHAUSTED:
    case CLIENT_CODE_ABORTED:
    case CLIENT_CODE_INTERNAL:
    case CLIENT_CODE_UNAVAILABLE:
        return true;
    default:
        return result == CLI_NO_CONNECTION;
    }
}

/* Waits before the next try. */
static void pause_retries(struct mirror *mirror, unsigned *pause_s)
{
    struct timespec span = {*pause_s, 0};

    cli_note(mirror->cli, "trying again in %u s", *pause_s);
    cli_disconnect(mirror->cli);
    (void)nanosleep(&span, NULL);
    *pause_s = *pause_s * 2 < RETRY_LAST_S ? *pause_s * 2 : RETRY_LAST_S;
}

/* Mirrors for ever. A failure that may pass is waited out, however long it lasts. */
static enum cli_exit follow(struct mirror *mirror)
{
    unsigned pause_s = RETRY_FIRST_S;
    enum cli_exit result = CLI_OK;

    while (result == CLI_OK) {
        result = repository_check(&mirror->repository);
        if (result == CLI_OK) {
            result = catch_up(mirror);
        }
        if (result == CLI_OK && mirror->event_count > 0) {
            print_totals(mirror);
        }
        if (result == CLI_OK) {
            pause_s = RETRY_FIRST_S;
            result = wait_for_event(mirror);
        }
        if (may_pass(mirror, result)) {
            pause_retries(mirror, &pause_s);
            result = CLI_OK;
        }
    }
    return result;
}

enum cli_exit mirror_run(struct cli *cli)
{
    struct mirror *mirror = NULL;
    enum cli_exit result = CLI_OK;

    if (options_has(&cli->options, "once") && options_has(&cli->options, "follow")) {
        return cli_usage(cli, "--once: given together with --follow; expected one of them");
    }
    mirror = arena_calloc(&cli->kept, 1, sizeof(*mirror));
    if (mirror == NULL) {
        return cli_local(cli, "out of memory");
    }
    mirror->cli = cli;
    arena_init(&mirror->arena, COMMIT_STREAM_EVENTS_BYTES_MAX);
    result = repository_open(&mirror->repository, cli, cli->options.words[0]);
    if (result == CLI_OK) {
        result = options_has(&cli->options, "follow") ? follow(mirror) : catch_up(mirror);
    }
    if (result == CLI_OK) {
        print_totals(mirror);
    }
    repository_close(&mirror->repository);
    arena_deinit(&mirror->arena);
    return result;
}
