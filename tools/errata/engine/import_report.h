/*
 * import_report.h: common parts of all imports: a file is checked completely before any of it is
 * sent, problems are reported by their lines, each call has an idempotency key computed from its
 * position in the file and its request, so that a repeat stores nothing twice, and the totals are
 * reported at the end.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_IMPORT_REPORT_H
#define ERRATA_TOOLS_ERRATA_ENGINE_IMPORT_REPORT_H

#include "store/base/sha256.h"
#include "tools/errata/cli.h"

/* Maximum problems that are reported one by one; further ones are only counted. With --json all are
 * reported. */
#define IMPORT_PROBLEMS_MAX 20
#define IMPORT_ID_BYTES 36
/* `import-` and a digest in hex. */
#define IMPORT_KEY_BYTES (7 + 2 * SHA256_BYTES)

/* Options of every import. */
#define IMPORT_OPTIONS                                                                             \
    {"dry-run", NULL, "check the whole file and exit; nothing is sent"},                           \
        {"skip-invalid", NULL, "store the valid ones, and report those that are skipped"},         \
    {                                                                                              \
        "again", NULL, "store them even if this import was done within 24 hours"                   \
    }

struct import_report {
    struct cli *cli;
    const char *path;
    const char *unit; /* "events" or "rows" */
    bool dry_run;
    bool skip_invalid;
    bool again;
    uint64_t file_bytes; /* 0 if unknown */
    int64_t start_us; /* start time of sending */
    uint64_t valid; /* valid lines in the check */
    uint64_t invalid; /* invalid lines in the check */
    uint64_t created;
    uint64_t repeated; /* already stored by an earlier run of the same import */
    uint64_t refused; /* refused by the server */
    uint64_t passed_over;
    uint64_t problems; /* problems, reported or only counted */
    char newest_id
        [IMPORT_ID_BYTES]; /* newest event of the log before the import; zeros: the log was empty */
};

/* Reads the options above. */
void import_report_init(struct import_report *report, struct cli *cli, const char *unit);
/* Opens the file, or a copy of standard input, so that it can be read twice. */
MUST_CHECK enum cli_exit import_report_open(struct import_report *report, FILE **ret_file);
/* Makes the idempotency key of the request that begins at a line; empty with --again. */
struct slice import_report_key(const struct import_report *report, uint64_t line,
                               struct slice method, struct slice request,
                               char key[IMPORT_KEY_BYTES]);
/* Reports a problem of a line. */
void import_report_problem(struct import_report *report, uint64_t line, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Reports cli->fault with all its fields as a problem of a line. */
void import_report_fault(struct import_report *report, uint64_t line);
/* Returns whether the file may be sent after its check; sets the exit code if not. Ends a dry
 * run. */
bool import_report_may_send(struct import_report *report, enum cli_exit *ret_exit);
/* Starts sending: gets the newest event, since later ids belong to this import (ids ascend). */
MUST_CHECK enum cli_exit import_report_start(struct import_report *report);
/* Counts events that were answered with this id. */
void import_report_count(struct import_report *report, struct slice id, uint64_t count);
/* Reports the totals; returns the exit code of an import that ended with `result`. */
MUST_CHECK enum cli_exit import_report_end(struct import_report *report, enum cli_exit result);

#endif
