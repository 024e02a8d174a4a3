/*
 * help.h: what errata-bench says of itself.
 */
#ifndef ERRATA_TOOLS_BENCH_HELP_H
#define ERRATA_TOOLS_BENCH_HELP_H

#include "tools/errata/terminal/print.h"

void help_print(struct printer *out);
/* Prints the usage line, for a call without arguments. */
void help_print_usage(struct printer *out);
/* The calls that --mix knows, each with its template, in the form that --call takes. */
void help_print_calls(struct printer *out);

#endif
