/*
 * reader.h: the end of a command that waits for something to print, when its output is not read any
 * more: `errata events watch | head -n 1` must not stay until the next event.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_READER_H
#define ERRATA_TOOLS_ERRATA_ENGINE_READER_H

/* From now on the program ends, with 0, as soon as the pipe that is its standard output has no reader.
 * Only for commands that have nothing to undo. Does nothing if the output is not a pipe. */
void reader_end_without(void);

#endif
