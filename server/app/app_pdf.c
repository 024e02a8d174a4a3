/*
 * app_pdf.c: the PDF worker in the server: finds its program, offers its jobs to the services as
 * the functions of document_jobs.h, and reports its health and counters. Without the program the
 * server serves everything except documents.
 */
#include "server/app/app_internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Functions of document_jobs.h: a document_job is a pdf_job. */

static enum err job_open(void *user, struct org_id org, struct document_job **ret_job)
{
    struct app *app = (struct app *)user;
    struct pdf_job *job = NULL;
    enum err err = pdf_job_open(app->pdf, org.uuid, &job);

    if (err == OK) {
        *ret_job = (struct document_job *)job;
    }
    return err;
}

static enum err job_reserve(struct document_job *job, size_t size)
{
    return pdf_job_reserve((struct pdf_job *)job, size);
}

static enum err job_append(struct document_job *job, struct slice bytes)
{
    return pdf_job_append((struct pdf_job *)job, bytes);
}

static enum err job_submit(struct document_job *job, void (*work)(void *user),
                           void (*done)(void *user, enum err result), void *user)
{
    return pdf_job_submit((struct pdf_job *)job, work, done, user);
}

static enum err job_measure(struct document_job *job, const struct document_request *request,
                            struct arena *arena, struct document_measured *ret_measured)
{
    const struct pdf_job_request asked = {.password = request->password,
                                          .flags = request->with_text ? PDF_JOB_TEXT : 0};
    struct document_measured measured = {0};
    enum err err = pdf_job_measure((struct pdf_job *)job, &asked, arena, &measured.sha256,
                                   &measured.size_bytes, &measured.answer);

    if (err == OK) {
        *ret_measured = measured;
    }
    return err;
}

static void job_cancel(struct document_job *job)
{
    pdf_job_cancel((struct pdf_job *)job);
}

static void job_close(struct document_job *job)
{
    pdf_job_close((struct pdf_job *)job);
}

/* The jobs have already logged it. */
static void on_health(void *user, bool serving)
{
    struct app *app = (struct app *)user;

    app->pdf_serving = serving;
    app_pdf_report_health(app);
}

/* Uses the configured path, else the folder of the running program. */
static bool find_program(struct app *app)
{
    const char *configured = app->config->pdf_worker;

    if (configured[0] == '\0') {
        return pdf_worker_find_program(app->pdf_program, sizeof(app->pdf_program));
    }
    (void)snprintf(app->pdf_program, sizeof(app->pdf_program), "%s", configured);
    return true;
}

/* Returns 0, or an errno if it cannot be executed. */
static int check_program(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return errno;
    }
    if (!S_ISREG(status.st_mode)) {
        return EACCES;
    }
    return access(path, X_OK) == 0 ? 0 : errno;
}

/* Returns the configured number of workers; by default one per core. */
static unsigned count_slots(const struct config *config)
{
    unsigned cores = uv_available_parallelism();

    if (config->pdf_slots != 0) {
        return config->pdf_slots;
    }
    return cores < PDF_SLOTS_MAX ? cores : PDF_SLOTS_MAX;
}

enum err app_pdf_make(struct app *app)
{
    struct pdf_jobs_config config = {.loop = &app->loop,
                                     .clock = app->ctx.clock,
                                     .pool = app->pool,
                                     .program = app->pdf_program,
                                     .slots = count_slots(app->config),
                                     .on_health = on_health,
                                     .user = app};
    int why = find_program(app) ? check_program(app->pdf_program) : ENAMETOOLONG;

    if (why != 0) {
        errno = why;
        logger_printf(LOGGER_WARNING,
                      "documents are refused: cannot run the PDF worker %s (%m); "
                      "set --pdf-worker to its path",
                      app->pdf_program[0] != '\0' ? app->pdf_program : PDF_WORKER_PROGRAM);
        return OK;
    }
    app->documents = (struct document_jobs){.user = app,
                                            .open = job_open,
                                            .reserve = job_reserve,
                                            .append = job_append,
                                            .submit = job_submit,
                                            .measure = job_measure,
                                            .cancel = job_cancel,
                                            .close = job_close};
    return pdf_jobs_new(&config, &app->pdf);
}

const struct document_jobs *app_pdf_documents(const struct app *app)
{
    return app->pdf != NULL ? &app->documents : NULL;
}

void app_pdf_start(struct app *app)
{
    if (app->pdf != NULL) {
        app->pdf_started = true;
        pdf_jobs_start(app->pdf);
    }
}

void app_pdf_stop(struct app *app)
{
    if (app->pdf_started) {
        app->pdf_started = false;
        pdf_jobs_stop(app->pdf);
    }
}

void app_pdf_report_health(struct app *app)
{
    if (app->state == APP_SERVING) {
        pipeline_set_health(app->pipeline, HEALTH_PART_PDF,
                            app->pdf_serving ? HEALTH_SERVING : HEALTH_NOT_SERVING);
    }
}

size_t app_pdf_read_counters(const struct app *app, struct env_counter *counters, size_t max)
{
    struct pdf_jobs_stats stats = {0};

    if (app->pdf != NULL) {
        stats = pdf_jobs_read_stats(app->pdf);
    }

    const struct env_counter all[] = {
        {"pdf_jobs_live", stats.jobs_live},
        {"pdf_jobs_waiting", stats.jobs_waiting},
        {"pdf_jobs_running", stats.jobs_running},
        {"pdf_held_bytes", stats.held_bytes},
        {"pdf_measured_total", stats.measured_total},
        {"pdf_refused_total", stats.refused_total},
        {"pdf_cut_total", stats.cut_total},
        {"pdf_cancelled_total", stats.cancelled_total},
        {"pdf_failed_total", stats.failed_total},
        {"pdf_busy_total", stats.busy_total},
        {"pdf_cpu_us_total", stats.cpu_us_total},
        {"pdf_worker_starts_total", stats.worker_starts_total},
    };

    return app_copy_counters(all, sizeof(all) / sizeof(all[0]), counters, max);
}
