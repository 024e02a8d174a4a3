/*
 * ingest_progress.h: the progress of an ingest: files that ended, and running uploads, of which the
 * longest one is named.
 */
#ifndef ERRATA_TOOLS_ERRATA_LAYOUTS_INGEST_PROGRESS_H
#define ERRATA_TOOLS_ERRATA_LAYOUTS_INGEST_PROGRESS_H

#include "tools/errata/layouts/uploads.h"

/* Maximum length of a path in the progress line. */
#define INGEST_PATH_BYTES_MAX 256

/* State of one running upload. */
struct ingest_flight {
    bool used;
    size_t index; /* index of the file */
    int64_t sent_bytes;
    uint64_t size_bytes;
    bool paused; /* waits for the server */
    char path[INGEST_PATH_BYTES_MAX]; /* path, or its end if it is longer */
    size_t path_bytes;
};

/* State of the progress; zeroed before the first file. */
struct ingest_progress {
    size_t total; /* number of files */
    size_t ended;
    struct ingest_flight flights[UPLOADS_MAX];
};

void ingest_progress_start(struct ingest_progress *progress, const struct upload_file *file);
/* Counts further sent bytes; a negative number means that they will be sent again. */
void ingest_progress_move(struct ingest_progress *progress, const struct upload_file *file,
                          int64_t bytes);
/* Counts a file as ended, whether it was started or not. */
void ingest_progress_end(struct ingest_progress *progress, const struct upload_file *file);
/* Draws the line if it is due. */
void ingest_progress_show(const struct ingest_progress *progress, struct cli *cli);

#endif
