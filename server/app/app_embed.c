/*
 * app_embed.c: the model of the sentence encoder in the server: maps its file, so that pages are read
 * when they are first used and shared by servers of one machine. Without a model the server serves
 * everything and compares texts by their n-grams.
 */
#include "server/app/app_internal.h"
#include "server/domain/embed/embedder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A larger file is not a model. */
#define MODEL_FILE_BYTES_MAX ((off_t)256 << 20)

/* Maps a file; returns 0 or an errno. */
static int map_file(const char *path, struct slice *ret_bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes = MAP_FAILED;
    int why = 0;

    if (file < 0) {
        return errno;
    }
    if (fstat(file, &status) != 0) {
        why = errno;
    } else if (!S_ISREG(status.st_mode) || status.st_size <= 0 ||
               status.st_size > MODEL_FILE_BYTES_MAX) {
        why = EINVAL;
    } else {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        why = bytes == MAP_FAILED ? errno : 0;
    }
    (void)close(file);
    if (why == 0) {
        *ret_bytes = slice_of(bytes, (size_t)status.st_size);
    }
    return why;
}

/* Replaces the embedder of n-grams. */
static enum err use_model(struct app *app)
{
    struct embedder *embedder = NULL;
    enum err err = embedder_new(&app->arena, app->model_file, &embedder);

    if (err == OK) {
        embedder_free(app->env.embedder);
        app->env.embedder = embedder;
    }
    return err;
}

enum err app_embed_make(struct app *app)
{
    const char *path = app->config->model;
    struct slice id;
    int why = 0;
    enum err err = OK;

    if (path[0] == '\0') {
        logger_printf(LOGGER_INFO, "no model: texts are compared by their letters; see --model");
        return OK;
    }
    why = map_file(path, &app->model_file);
    if (why != 0) {
        errno = why;
        logger_printf(LOGGER_WARNING,
                      "texts are compared by their letters: cannot map the model %s (%m)", path);
        return OK;
    }
    err = use_model(app);
    if (err == ERR_CORRUPT) {
        logger_printf(LOGGER_WARNING,
                      "texts are compared by their letters: %s is not a model of this version; "
                      "make it with errata-mkmodel",
                      path);
        return OK;
    }
    if (err == OK) {
        id = embedder_id(app->env.embedder);
        logger_printf(LOGGER_INFO, "texts are compared by the model %s, embedder %.*s", path,
                      (int)id.size, (const char *)id.data);
    }
    return err;
}

void app_embed_free(struct app *app)
{
    if (app->model_file.size > 0) {
        (void)munmap((void *)app->model_file.data, app->model_file.size);
    }
}

void app_embed_report_health(struct app *app)
{
    pipeline_set_health(app->pipeline, HEALTH_PART_EMBEDDER,
                        embedder_has_model(app->env.embedder) ? HEALTH_SERVING
                                                              : HEALTH_NOT_SERVING);
}
