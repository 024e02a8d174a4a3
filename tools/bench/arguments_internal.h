/*
 * arguments_internal.h: shared by the two files of the command line.
 */
#ifndef ERRATA_TOOLS_BENCH_ARGUMENTS_INTERNAL_H
#define ERRATA_TOOLS_BENCH_ARGUMENTS_INTERNAL_H

#include "tools/bench/arguments.h"

/* Reads --mix, --call, --requests, --expect-status, --expect-bytes and their dependent options. */
MUST_CHECK enum err arguments_read_calls(struct arena *arena, struct arguments *arguments,
                                         struct fault *fault);

#endif
