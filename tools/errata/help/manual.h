/*
 * manual.h: prints the manual page of a program, in mdoc(7), from its tables.
 */
#ifndef ERRATA_TOOLS_ERRATA_HELP_MANUAL_H
#define ERRATA_TOOLS_ERRATA_HELP_MANUAL_H

#include "tools/errata/help/command.h"
#include "tools/errata/terminal/print.h"

struct manual {
    const struct command_set *set;
    const char *date; /* date of the page, such as "November 22, 2026" */
    const char *version;
    const struct command_example *examples; /* examples of the whole program */
    const char *see_also; /* lines of mdoc for SEE ALSO */
};

void manual_print(const struct manual *manual, struct printer *out);

#endif
