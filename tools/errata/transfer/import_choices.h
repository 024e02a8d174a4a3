/*
 * import_choices.h: the options of `errata import`, read into the choices of import/source.h.
 */
#ifndef ERRATA_TOOLS_ERRATA_TRANSFER_IMPORT_CHOICES_H
#define ERRATA_TOOLS_ERRATA_TRANSFER_IMPORT_CHOICES_H

#include "tools/errata/cli.h"
#include "tools/errata/import/source.h"

/* As many as a command line may have options. */
#define CHOICES_MAX OPTIONS_GIVEN_MAX

struct import_options {
    struct import_choices choices; /* borrows from the members below and from the command line */
    struct import_threshold thresholds[CHOICES_MAX];
    struct import_label labels[CHOICES_MAX];
    struct import_member map[CHOICES_MAX + 1];
};

/* Reads the options of the command line; the struct must stay where it is. */
MUST_CHECK enum cli_exit import_options_read(struct cli *cli, const struct import_source *source,
                                             struct import_options *options);

#endif
