/*
 * import_report.c: see import_report.h.
 */
#include "tools/errata/engine/import_report.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/csv_input.h"
#include "tools/errata/engine/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

/* Digits of a number with commas. */
#define NUMBER_BYTES 32

void import_report_init(struct import_report *report, struct cli *cli, const char *unit)
{
    *report = (struct import_report){.cli = cli,
                                     .path = cli->options.words[0],
                                     .unit = unit,
                                     .dry_run = options_has(&cli->options, "dry-run"),
                                     .skip_invalid = options_has(&cli->options, "skip-invalid"),
                                     .again = options_has(&cli->options, "again")};
}

enum cli_exit import_report_open(struct import_report *report, FILE **ret_file)
{
    struct stat status;
    FILE *file = NULL;
    enum cli_exit result = csv_input_file(report->cli, report->path, &file);

    if (result == CLI_OK) {
        result = csv_input_keep(report->cli, &file);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode)) {
        report->file_bytes = (uint64_t)status.st_size;
    }
    *ret_file = file;
    return CLI_OK;
}

struct slice import_report_key(const struct import_report *report, uint64_t line,
                               struct slice method, struct slice request,
                               char key[IMPORT_KEY_BYTES])
{
    char place[32];
    int size = snprintf(place, sizeof(place), "%llu:", (unsigned long long)line);
    const struct slice pieces[] = {slice_of(place, (size_t)size), method, request};
    struct sha256_digest digest = sha256_pieces(pieces, 3);

    memcpy(key, "import-", 7);
    sha256_format(&digest, key + 7);
    return report->again ? slice_of(NULL, 0) : slice_of(key, IMPORT_KEY_BYTES);
}

/* `5,000`: numbers in sentences have separators even without a terminal. */
static const char *number(char text[NUMBER_BYTES], uint64_t value)
{
    char digits[NUMBER_BYTES];
    int size = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    size_t at = 0;

    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0) {
            text[at++] = ',';
        }
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

void import_report_problem(struct import_report *report, uint64_t line, const char *format, ...)
{
    char text[1024];
    va_list values;

    report->problems++;
    if (!report->cli->json && report->problems > IMPORT_PROBLEMS_MAX) {
        return;
    }
    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    cli_note(report->cli, "%s line %llu: %s", report->path, (unsigned long long)line, text);
}

void import_report_fault(struct import_report *report, uint64_t line)
{
    const struct fault *fault = &report->cli->fault;

    for (size_t i = 0; i < fault->count; i++) {
        import_report_problem(report, line, "%.*s: %.*s", SLICE_ARGS(fault->entries[i].field),
                              SLICE_ARGS(fault->entries[i].description));
    }
    if (fault->count == 0) {
        import_report_problem(report, line, "%.*s", SLICE_ARGS(fault->message));
    }
}

static void report_hidden(struct import_report *report)
{
    if (report->problems > IMPORT_PROBLEMS_MAX && !report->cli->json) {
        cli_note(report->cli, "and %llu more",
                 (unsigned long long)(report->problems - IMPORT_PROBLEMS_MAX));
    }
}

static void report_dry_run(struct import_report *report)
{
    char valid[NUMBER_BYTES];
    char invalid[NUMBER_BYTES];
    char passed[NUMBER_BYTES + 40] = "";

    if (report->passed_over > 0) {
        (void)snprintf(passed, sizeof(passed), ", %llu superseded ones skipped",
                       (unsigned long long)report->passed_over);
    }
    cli_note(report->cli, "%s %s are valid, %s are not%s; nothing was sent",
             number(valid, report->valid), report->unit, number(invalid, report->invalid), passed);
}

bool import_report_may_send(struct import_report *report, enum cli_exit *ret_exit)
{
    char valid[NUMBER_BYTES];
    char invalid[NUMBER_BYTES];

    report_hidden(report);
    *ret_exit = report->invalid > 0 ? CLI_USAGE : CLI_OK;
    if (report->dry_run) {
        report_dry_run(report);
        return false;
    }
    if (report->invalid > 0 && !report->skip_invalid) {
        cli_note(report->cli,
                 "%s %s are invalid: nothing was stored; --skip-invalid stores the other %s",
                 number(invalid, report->invalid), report->unit, number(valid, report->valid));
        return false;
    }
    report->problems = 0;
    fault_init(&report->cli->fault, &report->cli->arena); /* discards the faults of the check */
    return true;
}

enum cli_exit import_report_start(struct import_report *report)
{
    struct cli *cli = report->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct reply_walk walk;
    struct slice id = {NULL, 0};
    enum cli_exit result = cli_call_reply(cli, "/errata.v1.EventService/ListEvents",
                                          SLICE("{\"page_size\":1}"), &reply);
    if (result != CLI_OK) {
        return result;
    }
    walk = reply_walk(reply, "events");
    if (reply_next(&walk)) {
        id = reply_text(cli, walk.row, "id");
    }
    if (id.size == IMPORT_ID_BYTES) {
        memcpy(report->newest_id, id.data, IMPORT_ID_BYTES);
    }
    cli_progress(cli);
    report->start_us = clock_monotonic_us(cli->ctx.clock);
    return CLI_OK;
}

void import_report_count(struct import_report *report, struct slice id, uint64_t count)
{
    bool is_new =
        id.size != IMPORT_ID_BYTES || memcmp(id.data, report->newest_id, IMPORT_ID_BYTES) > 0;

    report->created += is_new ? count : 0;
    report->repeated += is_new ? 0 : count;
}

static void add_count(struct buffer *text, uint64_t count, const char *what)
{
    char digits[NUMBER_BYTES];

    if (count > 0) {
        buffer_printf(text, ", %s %s", number(digits, count), what);
    }
}

enum cli_exit import_report_end(struct import_report *report, enum cli_exit result)
{
    struct cli *cli = report->cli;
    struct slice span = {NULL, 0};
    struct buffer text;
    char created[NUMBER_BYTES];
    char repeated[NUMBER_BYTES];

    progress_hide(&cli->progress);
    arena_reset(&cli->arena);
    span = progress_span(&cli->arena, clock_monotonic_us(cli->ctx.clock) - report->start_us);
    buffer_init(&text, &cli->arena, 128);
    add_count(&text, report->invalid, "invalid ones skipped");
    add_count(&text, report->refused, "refused by the server");
    add_count(&text, report->passed_over, "superseded ones skipped");
    report_hidden(report);
    cli_note(cli, "%s: %s new, %s already stored%.*s, in %.*s", report->unit,
             number(created, report->created), number(repeated, report->repeated), SLICE_ARGS(text),
             SLICE_ARGS(span));
    if (result != CLI_OK) {
        cli_note(cli, "stored data is kept; repeat the command to continue");
        return result;
    }
    if (report->refused > 0) {
        return CLI_CALL_FAILED;
    }
    return report->invalid > 0 ? CLI_USAGE : CLI_OK;
}
