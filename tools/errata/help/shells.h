/*
 * shells.h: the scripts that tie a shell's completion to the program: each asks it for what may come
 * next (`__complete`) and hands the answer over, so none of them knows a command.
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

/* NULL if there is none. */
const struct shell *shell_find(const char *name);

#endif
