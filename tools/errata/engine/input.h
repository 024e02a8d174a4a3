/*
 * input.h: parses arguments: numbers, durations, sizes, times, and texts that are given on the command line, in
 * a file (@FILE) or on standard input (-).
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_INPUT_H
#define ERRATA_TOOLS_ERRATA_ENGINE_INPUT_H

#include "tools/errata/cli.h"

/* A request has at most 16 MiB by a server's default; JSON escapes may double it. */
#define INPUT_BYTES_MAX ((size_t)64 * 1024 * 1024)

/* Parses a decimal number from 0; returns false for anything else. */
bool input_number(const char *text, int64_t *ret_number);
/* Parses a span such as 500ms, 5s, 2m, 1h, 90d, 2w; a number without a unit means seconds. Returns
 * false for anything else and for 0. */
bool input_duration(const char *text, int64_t *ret_ms);
/* Returns the number of bytes, in decimal digits, of a size such as 64KiB, 512MiB, 10GiB or 1TiB; a number without a
 * unit means bytes. */
MUST_CHECK enum cli_exit input_size(struct cli *cli, const char *option, const char *text,
                                    struct slice *ret_bytes);

/* Reads the whole file, at most `bytes_max`; "-" is standard input. */
MUST_CHECK enum cli_exit input_file(struct cli *cli, const char *path, size_t bytes_max,
                                    struct slice *ret_text);
/* Reads the password of a PDF: the whole file except a line feed at its end, copied to `arena`. */
MUST_CHECK enum cli_exit input_password(struct cli *cli, const char *path, struct arena *arena,
                                        struct slice *ret_password);
/* Returns the argument itself, or the contents of @FILE or standard input (-). */
MUST_CHECK enum cli_exit input_argument(struct cli *cli, const char *argument,
                                        struct slice *ret_text);
/* Does the same, but without line feeds at the end, for a value that another command printed. */
MUST_CHECK enum cli_exit input_printed(struct cli *cli, const char *argument,
                                       struct slice *ret_text);
/* Returns the RFC 3339 text of a time given as such, or as a duration from now (`sign` 1) or ago
 * (-1). */
MUST_CHECK enum cli_exit input_time(struct cli *cli, const char *option, const char *text, int sign,
                                    struct slice *ret_time);
/* Returns the UTC day, as YYYY-MM-DD, of a day in this form, of `today` or `yesterday`, or of a
 * span before now. */
MUST_CHECK enum cli_exit input_day(struct cli *cli, const char *option, const char *text,
                                   struct slice *ret_day);

#endif
