/*
 * reader.h: ends a command that waits for output when the reader of its output has closed it:
 * `errata events watch | head -n 1` must not stay until the next event.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_READER_H
#define ERRATA_TOOLS_ERRATA_ENGINE_READER_H

/* Makes the program exit with 0 as soon as the pipe at its standard output has no reader. Use it
 * only for commands without cleanup. Has no effect if the output is not a pipe. */
void reader_end_without(void);

#endif
