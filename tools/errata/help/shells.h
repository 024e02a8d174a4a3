/*
 * shells.h: the completion scripts of shells. Each runs the program (`__complete`) for the
 * candidates, so that the scripts are independent of the commands.
 */
#ifndef ERRATA_TOOLS_ERRATA_HELP_SHELLS_H
#define ERRATA_TOOLS_ERRATA_HELP_SHELLS_H

#include <stddef.h>

struct shell {
    const char *name; /* NULL ends the list */
    const char *where; /* instructions for installing the script, in sentences */
    const char *script;
};

extern const struct shell shells[];

/* Finds a shell's script; NULL if there is none. */
const struct shell *shell_find(const char *name);

#endif
