/*
 * progress_line.c: the progress of a command: a line that is overwritten on a terminal, else a line each.
 */
#include "server/app/commands.h"

#include "store/base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void progress_line_print(struct progress_line *line, const char *format, ...)
{
    int64_t now_us = clock_monotonic_us(clock_system());
    va_list arguments;

    if (now_us - line->shown_at_us < COMMAND_PROGRESS_US) {
        return;
    }
    line->shown_at_us = now_us;
    line->is_open = isatty(STDERR_FILENO) != 0;
    if (line->is_open) {
        (void)fputc('\r', stderr);
    }
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (!line->is_open) {
        (void)fputc('\n', stderr);
    }
}

void progress_line_end(const struct progress_line *line)
{
    if (line->is_open) {
        (void)fputc('\n', stderr);
    }
}
