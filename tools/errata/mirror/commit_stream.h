/*
 * commit_stream.h: the commits of a mirror as a stream for git fast-import, which takes texts with their sizes, so that no text
 * of a server is read as a command. A commit has the events of one person in a row, as its author, and the files that they
 * changed, as they are now.
 */
#ifndef ERRATA_TOOLS_ERRATA_MIRROR_COMMIT_STREAM_H
#define ERRATA_TOOLS_ERRATA_MIRROR_COMMIT_STREAM_H

#include "tools/errata/mirror/mirror_event.h"
#include "tools/errata/mirror/repository.h"

/* Maximum events of a stream, and the memory that they may take. */
#define COMMIT_STREAM_EVENTS_MAX 256
#define COMMIT_STREAM_EVENTS_BYTES_MAX ((size_t)64 << 20)
/* A commit is ended after the event with which so many bytes of files were written, and the others wait for the next stream. */
#define COMMIT_STREAM_BYTES_MAX ((size_t)16 << 20)

struct commit_stream {
    struct cli *cli;
    const struct repository *repository;
    const char *seen; /* the last commit when the log was read first; empty: none */
    int file; /* what fast-import reads */
    size_t bytes;
    size_t commits;
    uint64_t marks; /* contents of files that were written */
    /* Content was erased of files that the commit `seen` has: it and earlier ones may have the content. */
    bool erased;
};

/* Opens an empty stream; `seen` is borrowed. The caller closes it, after a failure too. */
MUST_CHECK enum cli_exit commit_stream_open(struct commit_stream *stream, struct cli *cli,
                                            const struct repository *repository, const char *seen);
/* Writes commits of events in order, with the files that the server has for them. Returns how many of the events they have. */
MUST_CHECK enum cli_exit commit_stream_write(struct commit_stream *stream,
                                             struct mirror_event *events, size_t count,
                                             size_t *ret_count);
/* Completes the stream. */
MUST_CHECK enum cli_exit commit_stream_end(struct commit_stream *stream);
void commit_stream_close(struct commit_stream *stream);

#endif
