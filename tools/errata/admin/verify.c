/*
 * verify.c: see verify.h. One stream: each message is progress, the last one the report.
 */
#include "tools/errata/admin/verify.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/view.h"

#include "client/header.h"

#define STATUS_ARENA_BYTES_MAX (1u << 20)
#define MIB (1 << 20)

struct verifying {
    struct cli *cli;
    const struct method_info *method;
    enum cli_exit result;
    bool reported; /* the report was received */
    int64_t start_us;
};

static void show_progress(struct cli *cli, struct json_value progress)
{
    struct slice step = reply_word(cli, progress, "step", "VERIFY_STEP_");
    struct progress_state state = {.unit = "events", .detail = step};

    state.done = reply_integer(cli, progress, "events");
    state.total = reply_integer(cli, progress, "eventsTotal");
    if (slice_equal(step, SLICE("copy"))) {
        state.unit = "MiB";
        state.done = reply_integer(cli, progress, "copiedBytes") / MIB;
        state.total = reply_integer(cli, progress, "copiedBytesTotal") / MIB;
    } else if (slice_equal(step, SLICE("check"))) {
        state.unit = "MiB";
        state.done = 0;
        state.total = 0;
        state.detail = SLICE("checking pages");
    } else if (slice_equal(step, SLICE("compare"))) {
        state.unit = "rows";
        state.done = reply_integer(cli, progress, "rows");
        state.total = 0;
    }
    progress_show(&cli->progress, &state);
}

/* The beginning of a finding's sentence, and the rest of it. */
static void print_finding(struct cli *cli, const char *what, struct slice why)
{
    struct slice clean = print_clean(&cli->arena, why);

    print_coloured(&cli->out, COLOUR_RED, slice_text(what));
    print_text(&cli->out, " %.*s\n", SLICE_ARGS(clean));
}

static void print_broken(struct cli *cli, struct json_value report)
{
    struct json_value event = reply_member(report, "brokenEvent");
    struct slice seq = reply_text(cli, event, "seq");
    struct slice org = reply_text(cli, event, "orgId");
    struct slice reason = reply_text(cli, event, "reason");
    struct slice count = reply_count(cli, report, "brokenOrganizations");

    print_finding(cli, "a log is invalid:",
                  arena_printf(&cli->arena,
                               "event %.*s of organisation %.*s %.*s (organisations with such an "
                               "event: %.*s). Restore a backup (`errata help admin backup`)",
                               SLICE_ARGS(seq), SLICE_ARGS(org), SLICE_ARGS(reason),
                               SLICE_ARGS(count)));
}

/* Prints the numbers of rows, events and organisations, and the duration. */
static void print_counts(struct cli *cli, const char *what, struct json_value report,
                         int64_t took_us)
{
    struct slice events = reply_count(cli, report, "events");
    struct slice orgs = reply_count(cli, report, "organizations");
    struct slice rows = reply_count(cli, report, "rows");
    struct slice took = progress_span(&cli->arena, took_us);

    print_text(&cli->out, "%s (organisations %.*s, events %.*s, rows %.*s; %.*s)\n", what,
               SLICE_ARGS(orgs), SLICE_ARGS(events), SLICE_ARGS(rows), SLICE_ARGS(took));
}

static enum cli_exit print_report(struct verifying *verifying, struct json_value report)
{
    struct cli *cli = verifying->cli;
    int64_t took_us = clock_monotonic_us(clock_system()) - verifying->start_us;
    struct slice damage = reply_text(cli, report, "damage");
    struct slice count = reply_count(cli, report, "differenceCount");
    bool differs = reply_integer(cli, report, "differenceCount") > 0;

    if (slice_equal(reply_text(cli, report, "clean"), SLICE("true"))) {
        print_counts(cli, "everything holds", report, took_us);
        return CLI_OK;
    }
    if (damage.size > 0) {
        print_finding(cli, "the store's file is damaged:", damage);
    }
    if (reply_integer(cli, report, "brokenOrganizations") > 0) {
        print_broken(cli, report);
    }
    if (differs) {
        print_finding(
            cli, "rows differ from the log:",
            arena_printf(&cli->arena,
                         "%.*s of them. Stop the server, and `erratad --rebuild` rebuilds them",
                         SLICE_ARGS(count)));
    }
    print_counts(cli, "checked", report, took_us);
    return differs ? view_print_table(cli, "VerifyDifference", report, "differences", NULL)
                   : CLI_OK;
}

static enum cli_exit take_report(struct verifying *verifying, struct json_value report)
{
    bool clean = slice_equal(reply_text(verifying->cli, report, "clean"), SLICE("true"));
    enum cli_exit result = CLI_OK;

    verifying->reported = true;
    if (!verifying->cli->json) {
        result = print_report(verifying, report);
    }
    return result == CLI_OK && !clean ? CLI_DAMAGED : result;
}

static bool take_message(void *user, struct slice message)
{
    struct verifying *verifying = (struct verifying *)user;
    struct cli *cli = verifying->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value part = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};

    arena_reset(&cli->arena);
    verifying->result = cli_decode(cli, verifying->method, message, &cli->arena, &json);
    if (verifying->result == CLI_OK) {
        verifying->result = reply_parse(cli, json, &reply);
    }
    if (verifying->result != CLI_OK) {
        return false;
    }
    if (cli->json) {
        print_json(&cli->out, json);
        (void)fflush(cli->out.stream);
    }
    if (json_member(reply, SLICE("report"), &part)) {
        verifying->result = take_report(verifying, part);
    } else if (!cli->json) {
        show_progress(cli, reply_member(reply, "progress"));
    }
    return true;
}

static enum cli_exit verify(struct verifying *verifying, struct arena *arena)
{
    struct cli *cli = verifying->cli;
    struct client_options options = {.timeout_ms = 0};
    struct client_request request = {.method = verifying->method, .options = &options};
    struct client_result answer = {.reply = {NULL, 0}};
    enum cli_exit result = cli_encode(cli, request.method, SLICE("{}"), &request.message);
    enum err err = OK;

    if (result == CLI_OK) {
        result = cli_call_options(cli, request.method, &options);
    }
    if (result == CLI_OK) {
        result = cli_connect(cli);
    }
    if (result != CLI_OK) {
        return result;
    }
    cli_progress(cli);
    verifying->start_us = clock_monotonic_us(clock_system());
    err = client_stream_blocking(cli->client, &request, take_message, verifying, arena, &answer);
    progress_hide(&cli->progress);
    if (err != OK) {
        return failure_print_start(cli, err);
    }
    if (answer.status.code != CLIENT_CODE_OK && verifying->result == CLI_OK) {
        return failure_print_status(cli, &answer.status);
    }
    if (verifying->result == CLI_OK && !verifying->reported) {
        return cli_local(cli, "the server ended without a report");
    }
    return verifying->result;
}

enum cli_exit verify_run(struct cli *cli)
{
    struct verifying verifying = {.cli = cli,
                                  .method = cli_method("/errata.v1.AdminService/Verify")};
    struct arena arena;
    enum cli_exit result = CLI_OK;

    arena_init(&arena, STATUS_ARENA_BYTES_MAX);
    result = verify(&verifying, &arena);
    arena_deinit(&arena);
    return result;
}
