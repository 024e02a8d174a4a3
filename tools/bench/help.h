/*
 * help.h: the help texts of errata-bench.
 */
#ifndef ERRATA_TOOLS_BENCH_HELP_H
#define ERRATA_TOOLS_BENCH_HELP_H

#include "tools/errata/terminal/print.h"

void help_print(struct printer *out);
/* Prints the usage line, for a call without arguments. */
void help_print_usage(struct printer *out);
/* The calls of --mix, each with its template, in the form of --call. */
void help_print_calls(struct printer *out);

#endif
