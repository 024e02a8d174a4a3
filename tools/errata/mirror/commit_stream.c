/*
 * commit_stream.c: see commit_stream.h.
 */
#include "tools/errata/mirror/commit_stream.h"

#include "server/codec/proto_json.h"
#include "store/base/file.h"
#include "store/base/text.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/reply.h"

#include "client/header.h"

#include <inttypes.h>
#include <unistd.h>

#define GET_EVENT "/errata.v1.EventService/GetEvent"
#define GET_DECISION "/errata.v1.DecisionService/GetDecision"
#define GET_PROPOSAL "/errata.v1.GuidelineService/GetProposal"
/* Bytes of a reason in a commit's message, and of a name of an author. */
#define REASON_BYTES_MAX 500
#define NAME_BYTES_MAX 128
/* A commit has no more files, and the events after it are in the next one. */
#define COMMIT_REFS_MAX 512
#define COMMIT_BYTES_MAX ((size_t)256 << 20)
/* The author and committer where no person acted. */
#define SERVER_NAME SLICE("errata")
/* The evaluator of the server. */
#define SERVER_EVALUATOR "errata-1"

/* A commit that is being written. */
struct commit {
    struct commit_stream *stream;
    struct arena arena; /* memory of the texts below; that of `cli` is emptied for each file */
    struct mirror_event *events;
    size_t count;
    struct mirror_ref *refs; /* each once */
    size_t ref_count;
    size_t ref_room;
    size_t written; /* those whose content is in the stream */
    struct buffer files; /* the lines of the commit about them */
};

enum cli_exit commit_stream_open(struct commit_stream *stream, struct cli *cli,
                                 const struct repository *repository, const char *seen)
{
    *stream = (struct commit_stream){
        .cli = cli, .repository = repository, .seen = seen, .file = git_input_new()};
    return stream->file >= 0 && file_write_all(stream->file, SLICE("feature done\n"))
               ? CLI_OK
               : cli_local(cli, "out of memory or file descriptors");
}

static enum cli_exit add(struct commit_stream *stream, struct slice bytes)
{
    stream->bytes += bytes.size;
    return file_write_all(stream->file, bytes) ? CLI_OK : cli_local(stream->cli, "out of memory");
}

static enum cli_exit add_buffer(struct commit_stream *stream, const struct buffer *buffer)
{
    return buffer_ok(buffer) ? add(stream, buffer_slice(buffer))
                             : cli_local(stream->cli, "out of memory");
}

/* --- which files --- */

static enum cli_exit add_ref(struct commit *commit, const struct mirror_ref *ref)
{
    for (size_t i = 0; i < commit->ref_count; i++) {
        if (commit->refs[i].kind == ref->kind && strcmp(commit->refs[i].id, ref->id) == 0) {
            return CLI_OK;
        }
    }
    if (commit->ref_count == commit->ref_room) {
        size_t room = commit->ref_room == 0 ? COMMIT_REFS_MAX : 2 * commit->ref_room;
        struct mirror_ref *refs = arena_calloc(&commit->arena, room, sizeof(refs[0]));

        if (refs == NULL) {
            return cli_local(commit->stream->cli, "out of memory");
        }
        if (commit->ref_count > 0) {
            memcpy(refs, commit->refs, commit->ref_count * sizeof(refs[0]));
        }
        commit->refs = refs;
        commit->ref_room = room;
    }
    commit->refs[commit->ref_count++] = *ref;
    return CLI_OK;
}

static enum cli_exit add_refs(struct commit *commit, struct mirror_event *event)
{
    enum cli_exit result = CLI_OK;

    event->is_mirrored = event->ref_count > 0;
    for (size_t i = 0; i < event->ref_count && result == CLI_OK; i++) {
        result = add_ref(commit, &event->refs[i]);
    }
    return result;
}

/* Adds the files of the last commit that `git grep` finds, each as `HEAD:FOLDER/ID.json`. Later ones need not be found: they
 * are written as they are now. */
static enum cli_exit add_found(struct commit *commit, const char *const *grep,
                               enum mirror_file_kind kind)
{
    struct slice output = {NULL, 0};
    bool found = false;
    enum cli_exit result = CLI_OK;

    if (commit->stream->repository->head[0] == '\0') {
        return CLI_OK;
    }
    result = git_ask(&commit->stream->repository->git, &(struct git_call){grep, -1, &commit->arena},
                     &found, &output);
    while (result == CLI_OK && output.size > 0) {
        const char *path = (const char *)output.data;
        const char *name = strrchr(path, '/');
        struct mirror_ref ref = {.kind = kind};

        if (name != NULL && strlen(name + 1) > UUID_TEXT_BYTES) {
            memcpy(ref.id, name + 1, UUID_TEXT_BYTES);
            result = add_ref(commit, &ref);
        }
        output = slice_after(output, strlen(path) + 1);
    }
    return result;
}

/* Adds the rules that name a decision. */
static enum cli_exit add_rules_of(struct commit *commit, const struct mirror_ref *decision)
{
    const char *const grep[] = {"grep",       "-l",   "-z", "-F",    "-e",
                                decision->id, "HEAD", "--", "rules", NULL};

    return add_found(commit, grep, MIRROR_RULE);
}

/* Adds the decisions that others than the server classified. */
static enum cli_exit add_evaluated(struct commit *commit, struct mirror_event *event)
{
    static const char *const grep[] = {"grep",      "-l",
                                       "-z",        "-F",
                                       "-e",        "\"evaluator_id\": \"",
                                       "--and",     "--not",
                                       "-e",        "\"evaluator_id\": \"" SERVER_EVALUATOR "\"",
                                       "HEAD",      "--",
                                       "decisions", NULL};
    size_t before = commit->ref_count;
    enum cli_exit result = add_found(commit, grep, MIRROR_DECISION);

    event->is_mirrored = commit->ref_count > before;
    return result;
}

static enum cli_exit read_event(struct commit *commit, uint64_t seq, struct mirror_event *ret_event)
{
    struct cli *cli = commit->stream->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    enum cli_exit result = CLI_OK;

    arena_reset(&cli->arena);
    result = cli_call_reply(cli, GET_EVENT,
                            arena_printf(&cli->arena, "{\"seq\":\"%" PRIu64 "\"}", seq), &reply);
    return result == CLI_OK
               ? mirror_event_read(cli, &commit->arena, reply_member(reply, "event"), ret_event)
               : result;
}

/* Notes whether the repository had the file before this reading of the log: then it may have had the content, too. */
static enum cli_exit note_erased(struct commit_stream *stream, const struct mirror_ref *ref)
{
    char path[GIT_NAME_BYTES_MAX + UUID_TEXT_BYTES + 32];
    const char *const ask[] = {"cat-file", "-e", path, NULL};
    struct slice output = {NULL, 0};

    if (stream->erased || stream->seen[0] == '\0') {
        return CLI_OK;
    }
    (void)snprintf(path, sizeof(path), "%s:%s/%s.json", stream->seen,
                   ref->kind == MIRROR_DECISION ? "decisions" : "rules", ref->id);
    return git_ask(&stream->repository->git, &(struct git_call){ask, -1, NULL}, &stream->erased,
                   &output);
}

/* Adds the decision or rule of another event, which this one retracted, erased or retired. The reason of a retraction, which
 * was erased, is in the file of the decision that it retracted. */
static enum cli_exit add_refs_of(struct commit *commit, struct mirror_event *by, uint64_t seq)
{
    struct mirror_event event;
    enum cli_exit result = read_event(commit, seq, &event);

    if (result == CLI_OK && by->erases && event.retracts) {
        result = read_event(commit, event.seqs[0], &event);
    }
    if (result == CLI_OK && event.ref_count > 0) {
        by->is_mirrored = true;
        result = by->erases ? note_erased(commit->stream, &event.refs[0]) : CLI_OK;
    }
    if (result == CLI_OK && event.ref_count > 0) {
        result = add_ref(commit, &event.refs[0]);
    }
    return result == CLI_OK && event.ref_count > 0 && by->retracts
               ? add_rules_of(commit, &event.refs[0])
               : result;
}

/* Returns whether the last commit has a reason of a retraction: without one there is nothing to remove, and events whose content
 * is old are many. */
static enum cli_exit has_reasons(const struct commit *commit, bool *ret_has)
{
    static const char *const grep[] = {"grep", "-q", "-e",        "\"retraction_reason\": \"[^\"]",
                                       "HEAD", "--", "decisions", NULL};
    const struct repository *repository = commit->stream->repository;
    struct slice output = {NULL, 0};

    *ret_has = false;
    return repository->head[0] != '\0'
               ? git_ask(&repository->git, &(struct git_call){grep, -1, NULL}, ret_has, &output)
               : CLI_OK;
}

static enum cli_exit find_refs(struct commit *commit, struct mirror_event *event)
{
    enum cli_exit result = add_refs(commit, event);
    bool is_in_files = true;

    if (result == CLI_OK && event->sweeps) {
        result = has_reasons(commit, &is_in_files);
    }
    for (size_t i = 0; is_in_files && i < event->seq_count && result == CLI_OK; i++) {
        result = add_refs_of(commit, event, event->seqs[i]);
    }
    return result == CLI_OK && event->reevaluates ? add_evaluated(commit, event) : result;
}

/* --- the files --- */

/* Returns what the server has, as wire bytes, and as JSON of the form that source documents have. */
static enum cli_exit fetch(struct cli *cli, const char *path, struct slice request,
                           struct slice *ret_wire, struct slice *ret_json)
{
    const struct proto_json_style style = {.indent = 2, .plain = true};
    struct client_options options = {.timeout_ms = 0};
    struct client_request call = {.method = cli_method(path), .options = &options};
    struct client_result answer = {.reply = {NULL, 0}};
    struct buffer json;
    enum cli_exit result = cli_encode(cli, call.method, request, &call.message);

    if (result == CLI_OK) {
        result = cli_call_options(cli, call.method, &options);
    }
    if (result == CLI_OK) {
        result = cli_call_status(cli, &call, &cli->arena, &answer);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (answer.status.code != CLIENT_CODE_OK) {
        return failure_print_status(cli, &answer.status);
    }
    buffer_init(&json, &cli->arena, answer.reply.size * 2 + 4096);
    if (proto_json_write(&cli->ctx, call.method->reply, answer.reply, &style, &json) != OK) {
        return cli_local(cli, "a reply can't be read; the server may have another version");
    }
    buffer_append_byte(&json, '\n');
    *ret_wire = answer.reply;
    *ret_json = buffer_slice(&json);
    return buffer_ok(&json) ? CLI_OK : cli_local(cli, "out of memory");
}

/* Writes a content, before the commit that names it by its mark: so a commit can end when its contents are known. */
static enum cli_exit put_content(struct commit_stream *stream, struct slice content)
{
    struct buffer head;
    enum cli_exit result = CLI_OK;

    stream->marks++;
    buffer_init(&head, &stream->cli->arena, 256);
    buffer_printf(&head, "blob\nmark :%" PRIu64 "\ndata %zu\n", stream->marks, content.size);
    result = add_buffer(stream, &head);
    return result == CLI_OK ? add(stream, content) : result;
}

/* Makes the commit have the last content as a file. */
static void put_file(struct commit *commit, const char *folder, const char *id)
{
    buffer_printf(&commit->files, "M 100644 :%" PRIu64 " %s/%s.json\n", commit->stream->marks,
                  folder, id);
}

/* Returns whether the class in effect is an exception, which is documented only. */
static enum cli_exit is_edge_case(struct cli *cli, struct slice wire, bool *ret_is_one)
{
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    enum cli_exit result = cli_decode(cli, cli_method(GET_DECISION), wire, &cli->arena, &json);

    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result == CLI_OK) {
        *ret_is_one =
            slice_equal(reply_text(cli, reply_member(reply, "evaluation"), "classification"),
                        SLICE("DECISION_CLASS_EDGE_CASE")) &&
            reply_text(cli, reply_member(reply, "decision"), "retractedAt").size == 0;
    }
    return result;
}

static enum cli_exit put_decision(struct commit *commit, const char *id)
{
    struct cli *cli = commit->stream->cli;
    struct slice wire = {NULL, 0};
    struct slice json = {NULL, 0};
    bool is_edge = false;
    enum cli_exit result = fetch(
        cli, GET_DECISION, arena_printf(&cli->arena, "{\"feedback_id\":\"%s\"}", id), &wire, &json);

    if (result == CLI_OK) {
        result = put_content(commit->stream, json);
    }
    if (result == CLI_OK) {
        result = is_edge_case(cli, wire, &is_edge);
    }
    put_file(commit, "decisions", id);
    if (is_edge) {
        put_file(commit, "edge_cases", id);
    } else {
        buffer_printf(&commit->files, "D edge_cases/%s.json\n", id);
    }
    return result;
}

static enum cli_exit put_rule(struct commit *commit, const char *id)
{
    struct cli *cli = commit->stream->cli;
    struct slice wire = {NULL, 0};
    struct slice json = {NULL, 0};
    enum cli_exit result =
        fetch(cli, GET_PROPOSAL, arena_printf(&cli->arena, "{\"id\":\"%s\"}", id), &wire, &json);

    if (result == CLI_OK) {
        result = put_content(commit->stream, json);
    }
    put_file(commit, "rules", id);
    return result;
}

/* Writes the contents of the files that were added since it was called last. */
static enum cli_exit put_contents(struct commit *commit)
{
    enum cli_exit result = CLI_OK;

    while (commit->written < commit->ref_count && result == CLI_OK) {
        const struct mirror_ref *ref = &commit->refs[commit->written++];

        arena_reset(&commit->stream->cli->arena);
        result = ref->kind == MIRROR_DECISION ? put_decision(commit, ref->id)
                                              : put_rule(commit, ref->id);
    }
    return result;
}

/* --- the commit --- */

/* Appends a text as part of a line, without characters that end it or, in a name, end the name. */
static void put_line(struct buffer *buffer, struct slice text, size_t bytes_max,
                     const char *excluded)
{
    struct slice cut = text_first_bytes(text, bytes_max);

    for (size_t i = 0; i < cut.size; i++) {
        uint8_t byte = cut.data[i];
        bool is_plain = byte >= ' ' && byte != 0x7f && strchr(excluded, byte) == NULL;

        buffer_append_byte(buffer, is_plain ? byte : ' ');
    }
}

static void put_person(struct buffer *buffer, const char *role, struct slice name, int64_t time_s)
{
    struct slice shown = name.size > 0 ? name : SERVER_NAME;

    buffer_printf(buffer, "%s ", role);
    put_line(buffer, shown, NAME_BYTES_MAX, "<>");
    buffer_append(buffer, SLICE(" <"));
    put_line(buffer, shown, NAME_BYTES_MAX, "<> ");
    buffer_printf(buffer, "@errata.invalid> %" PRId64 " +0000\n", time_s > 0 ? time_s : 0);
}

static void put_event(struct buffer *message, const struct mirror_event *event)
{
    buffer_append(message, slice_text(event->verb));
    if (event->subject.size > 0) {
        buffer_printf(message, " %.*s", SLICE_ARGS(event->subject));
    } else if (event->seq_count == 1) {
        buffer_printf(message, " of event %" PRIu64, event->seqs[0]);
    } else if (event->seq_count > 1) {
        buffer_printf(message, " of %zu events", event->seq_count);
    }
}

/* Counts the events that changed files, and returns the last one. */
static const struct mirror_event *count_mirrored(const struct commit *commit, size_t *ret_count)
{
    const struct mirror_event *last = NULL;

    *ret_count = 0;
    for (size_t i = 0; i < commit->count; i++) {
        if (commit->events[i].is_mirrored) {
            last = &commit->events[i];
            *ret_count += 1;
        }
    }
    return last;
}

/* The events with their reasons, and the position. */
static void put_message(const struct commit *commit, struct buffer *message)
{
    size_t count = 0;
    const struct mirror_event *last = count_mirrored(commit, &count);

    if (count == 1) {
        put_event(message, last);
    } else {
        buffer_printf(message, "mirror %zu events", count);
    }
    buffer_append(message, SLICE("\n\n"));
    for (size_t i = 0; i < commit->count; i++) {
        const struct mirror_event *event = &commit->events[i];

        if (!event->is_mirrored) {
            continue;
        }
        buffer_printf(message, "%" PRIu64 " ", event->seq);
        put_event(message, event);
        if (event->reason.size > 0) {
            buffer_append(message, SLICE(": "));
            put_line(message, event->reason, REASON_BYTES_MAX, "");
        }
        buffer_append_byte(message, '\n');
    }
    buffer_printf(message, "\n" REPOSITORY_POSITION "%" PRIu64 " %s\n", last->seq, last->id);
}

static enum cli_exit put_commit(const struct commit *commit)
{
    struct commit_stream *stream = commit->stream;
    const struct mirror_event *last = &commit->events[commit->count - 1];
    struct buffer head;
    struct buffer message;

    buffer_init(&head, &stream->cli->arena, 4096);
    buffer_init(&message, &stream->cli->arena, 4096);
    put_message(commit, &message);
    buffer_append(&head, SLICE("commit " REPOSITORY_BRANCH "\n"));
    put_person(&head, "author", last->actor, last->recorded_at_s);
    put_person(&head, "committer", SERVER_NAME, last->recorded_at_s);
    buffer_printf(&head, "data %zu\n", message.size);
    buffer_append(&head, buffer_slice(&message));
    if (stream->commits == 0 && stream->repository->head[0] != '\0') {
        /* Not the branch itself: git refuses to move it if another has committed to it. */
        buffer_printf(&head, "from %s\n", stream->repository->head);
    }
    stream->commits++;
    if (!buffer_ok(&message) || !buffer_ok(&commit->files)) {
        return cli_local(stream->cli, "out of memory");
    }
    buffer_append(&head, buffer_slice(&commit->files));
    return add_buffer(stream, &head);
}

/* Takes the events of one person in a row, until they have many files or bytes. */
static enum cli_exit take_events(struct commit *commit, struct mirror_event *events, size_t count)
{
    enum cli_exit result = CLI_OK;

    commit->events = events;
    while (result == CLI_OK && commit->count < count && commit->ref_count < COMMIT_REFS_MAX &&
           commit->stream->bytes < COMMIT_STREAM_BYTES_MAX &&
           slice_equal(events[commit->count].actor, events[0].actor)) {
        result = find_refs(commit, &events[commit->count]);
        if (result == CLI_OK) {
            result = put_contents(commit);
        }
        commit->count++;
    }
    return result;
}

enum cli_exit commit_stream_write(struct commit_stream *stream, struct mirror_event *events,
                                  size_t count, size_t *ret_count)
{
    size_t done = 0;
    enum cli_exit result = CLI_OK;

    while (result == CLI_OK && done < count && stream->bytes < COMMIT_STREAM_BYTES_MAX) {
        struct commit commit = {.stream = stream};

        arena_init(&commit.arena, COMMIT_BYTES_MAX);
        buffer_init(&commit.files, &commit.arena, 4096);
        result = take_events(&commit, events + done, count - done);
        arena_reset(&stream->cli->arena);
        if (result == CLI_OK && commit.ref_count > 0) {
            result = put_commit(&commit);
        }
        done += commit.count;
        arena_deinit(&commit.arena);
    }
    *ret_count = done;
    return result;
}

enum cli_exit commit_stream_end(struct commit_stream *stream)
{
    return add(stream, SLICE("done\n"));
}

void commit_stream_close(struct commit_stream *stream)
{
    if (stream->file >= 0) {
        (void)close(stream->file);
    }
}
