/*
 * methods.h: finds methods by the names that people type.
 */
#ifndef ERRATA_TOOLS_ERRATA_METHODS_METHODS_H
#define ERRATA_TOOLS_ERRATA_METHODS_METHODS_H

#include "tools/errata/cli.h"

/* Finds `errata.v1.PromptService/GetExamples`, `PromptService/GetExamples` or, if only one service
 * has it, `GetExamples`; a method that can be called from here. Reports the nearest name for an
 * unknown one. */
MUST_CHECK enum cli_exit methods_find(struct cli *cli, const char *name,
                                      const struct method_info **ret_method);

#endif
