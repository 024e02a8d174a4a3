/*
 * explain.h: `errata layouts explain`: the measures of a PDF, with their reasons. explain.c measures,
 * explain_print.c prints.
 */
#ifndef ERRATA_TOOLS_ERRATA_LAYOUTS_EXPLAIN_H
#define ERRATA_TOOLS_ERRATA_LAYOUTS_EXPLAIN_H

#include "server/domain/fingerprint/fingerprint.h"
#include "server/jobs/pdf/pdf_worker.h"
#include "tools/errata/cli.h"

/* Time limit for the start of the worker program, which includes its first scan of the machine's
 * fonts. */
#define EXPLAIN_READY_MS 30000

/* All results for one PDF. */
struct explained {
    const char *path;
    struct sha256_digest sha256;
    uint64_t size_bytes;
    enum pdf_sandbox sandbox;
    const char *poppler_version;
    struct pdf_answer answer;
    /* Results for a readable document. */
    struct document_measures measures;
    struct layout_fingerprint fingerprint; /* fingerprint, if the tables were counted */
    int64_t took_us;
};

MUST_CHECK enum cli_exit explain_run(struct cli *cli);
/* Prints the result for people, or as one line of JSON. */
void explain_print(struct cli *cli, const struct explained *explained);
void explain_print_json(struct cli *cli, const struct explained *explained);

#endif
