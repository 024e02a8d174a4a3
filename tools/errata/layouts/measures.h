/*
 * measures.h: formats documents, profiles and their measures for all outputs: sizes, coverage,
 * fingerprints, warnings, and advice on a refusal.
 */
#ifndef ERRATA_TOOLS_ERRATA_LAYOUTS_MEASURES_H
#define ERRATA_TOOLS_ERRATA_LAYOUTS_MEASURES_H

#include "tools/errata/engine/reply.h"

/* Maximum lines of different page sizes; others are counted. */
#define MEASURES_RUNS_MAX 20
/* Number of characters of a fingerprint that distinguish it from others. */
#define MEASURES_SHORT_BYTES 12

/* `595 x 842` of points, without the zeros of a fraction. */
struct slice measures_size(struct cli *cli, double width, double height);
/* A reason code and its advice. */
struct slice measures_with(struct cli *cli, struct slice text, const char *more);

/* Page sizes as `1-3  595 x 842`, a line for each run of equal ones. */
struct measures_runs {
    struct cli *cli;
    struct slice size; /* size of the page */
    uint32_t first_page; /* first page, counted from 1 */
    uint32_t last_page; /* last page; 0: none yet */
    unsigned lines;
};

void measures_runs_begin(struct measures_runs *runs, struct cli *cli);
void measures_runs_add(struct measures_runs *runs, struct slice size);
void measures_runs_end(struct measures_runs *runs);

/* Reads a member that is a number; returns false if it is absent. */
bool measures_double(struct cli *cli, struct json_value object, const char *name,
                     double *ret_value);
/* Formats a share from 0 to 1: on a terminal with two digits, else with all; empty if it is
 * absent. */
struct slice measures_share(struct cli *cli, struct json_value object, const char *name);
/* Formats the size of one of a document's pages. */
struct slice measures_page_size(struct cli *cli, struct json_value page);
/* Formats the size of a document's first page; empty if there is none. */
struct slice measures_first_size(struct cli *cli, struct json_value document, const char *name);
/* Formats a member that is a number; proto JSON omits 0. */
struct slice measures_number(struct cli *cli, struct json_value object, const char *name);
/* Returns the beginning of the fingerprint; `-` if a document has none. */
struct slice measures_short_layout(struct cli *cli, struct json_value document);
/* Formats the codes of a document's warnings, such as `SCAN, DAMAGED`. */
struct slice measures_warning_codes(struct cli *cli, struct json_value document, const char *name);
/* Formats a warning on one line: `SCAN: page 1 has no text; examples are withheld`. */
struct slice measures_warning(struct cli *cli, struct slice code, struct slice message);
/* Prints at most `lines_max` lines of a text, each cleaned and indented by `indent`. */
void measures_print_text(struct cli *cli, const char *indent, struct slice text, size_t lines_max);
/* Formats a size as `1.2 GiB`, `12.3 MiB`, `45 KiB` or `678 B`. */
struct slice measures_bytes(struct cli *cli, uint64_t bytes);
/* Returns the reason code at the start of a refusal's message; empty if there is none. */
struct slice measures_reason(struct slice message);
/* Returns the advice for a reason code; NULL if there is none. */
const char *measures_advice(struct slice reason);

#endif
