/*
 * tally.h: the counts of an import: rows by kind, omitted records by reason with their first examples,
 * and data that the export lacks. Printed as a table, or with --json as one object.
 */
#ifndef ERRATA_TOOLS_ERRATA_TRANSFER_TALLY_H
#define ERRATA_TOOLS_ERRATA_TRANSFER_TALLY_H

#include "tools/errata/cli.h"
#include "tools/errata/import/source.h"

/* Maximum number of reasons, which are literals of the sources; more than a source has. */
#define TALLY_REASONS_MAX 32
#define TALLY_EXAMPLES_MAX 3
#define TALLY_EXAMPLE_BYTES_MAX 96
#define TALLY_LOSSES_MAX 8

struct tally_line {
    const char *reason; /* a literal */
    uint64_t count;
    char examples[TALLY_EXAMPLES_MAX][TALLY_EXAMPLE_BYTES_MAX]; /* `FILE:LINE ID` */
};

struct tally {
    struct tally_line mapped[IMPORT_KIND_COUNT];
    struct tally_line missing; /* corrections without a before */
    struct tally_line damaged;
    struct tally_line skipped[TALLY_REASONS_MAX];
    size_t skipped_count;
    bool lost[TALLY_LOSSES_MAX];
    uint64_t created;
    uint64_t repeated;
    uint64_t refused;
};

/* The place of a record. */
struct tally_place {
    const char *path;
    uint64_t line;
};

void tally_init(struct tally *tally);
void tally_count(struct tally_line *line, const struct tally_place *place, struct slice id);
void tally_skip(struct tally *tally, const char *reason, const struct tally_place *place,
                struct slice id);
/* Prints everything on standard output. `stored`: rows were sent. */
void tally_print(const struct tally *tally, struct cli *cli, const struct import_source *source,
                 bool stored);

#endif
