/*
 * reader.h: the end of a command that waits for something to print, when its output is not read any
 * more: `errata events watch | head -n 1` must not stay until the next event.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_READER_H
#define ERRATA_TOOLS_ERRATA_ENGINE_READER_H

/* Makes the program exit with 0 as soon as the pipe at its standard output has no reader. Use it
 * only for commands without cleanup. Has no effect if the output is not a pipe. */
void reader_end_without(void);

#endif
