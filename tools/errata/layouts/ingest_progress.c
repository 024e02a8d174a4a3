/*
 * ingest_progress.c: see ingest_progress.h. Files count equally regardless of their size, since
 * most of their time is spent on measuring. Half of a file counts once it is sent.
 */
#include "tools/errata/layouts/ingest_progress.h"

/* Number of steps of the bar for one file. */
#define FILE_STEPS 1000

static struct ingest_flight *find(struct ingest_progress *progress, const struct upload_file *file)
{
    for (size_t i = 0; i < UPLOADS_MAX; i++) {
        if (progress->flights[i].used && progress->flights[i].index == file->index) {
            return &progress->flights[i];
        }
    }
    return NULL;
}

void ingest_progress_start(struct ingest_progress *progress, const struct upload_file *file)
{
    struct slice path = slice_text(file->path);

    if (path.size > INGEST_PATH_BYTES_MAX) {
        path = slice_after(path, path.size - INGEST_PATH_BYTES_MAX);
    }
    for (size_t i = 0; i < UPLOADS_MAX; i++) {
        struct ingest_flight *flight = &progress->flights[i];

        if (!flight->used) {
            *flight = (struct ingest_flight){.used = true,
                                             .index = file->index,
                                             .size_bytes = file->size_bytes,
                                             .path_bytes = path.size};
            if (path.size > 0) {
                memcpy(flight->path, path.data, path.size);
            }
            return;
        }
    }
}

void ingest_progress_move(struct ingest_progress *progress, const struct upload_file *file,
                          int64_t bytes)
{
    struct ingest_flight *flight = find(progress, file);

    if (flight != NULL) {
        flight->sent_bytes += bytes;
        flight->paused = bytes <= 0;
    }
}

void ingest_progress_end(struct ingest_progress *progress, const struct upload_file *file)
{
    struct ingest_flight *flight = find(progress, file);

    if (flight != NULL) {
        flight->used = false;
    }
    progress->ended++;
}

void ingest_progress_show(const struct ingest_progress *progress, struct cli *cli)
{
    struct progress_state state = {.unit = "files",
                                   .done = progress->ended,
                                   .total = progress->total,
                                   .done_steps = progress->ended * FILE_STEPS,
                                   .total_steps = progress->total * FILE_STEPS};
    const struct ingest_flight *oldest = NULL;
    bool moving = false;

    for (size_t i = 0; i < UPLOADS_MAX; i++) {
        const struct ingest_flight *flight = &progress->flights[i];

        if (!flight->used) {
            continue;
        }
        oldest = oldest == NULL || flight->index < oldest->index ? flight : oldest;
        moving = moving || !flight->paused;
        state.done_steps +=
            flight->sent_bytes > 0 && flight->size_bytes > 0
                ? (uint64_t)flight->sent_bytes * (FILE_STEPS / 2) / flight->size_bytes
                : 0;
    }
    if (oldest != NULL) {
        state.detail = slice_of(oldest->path, oldest->path_bytes);
        state.paused = !moving;
    }
    progress_show(&cli->progress, &state);
}
