/*
 * sim_documents.c: document jobs without a worker program.
 */
#include "tests/sim/sim_documents.h"

#include "store/base/assert.h"
#include "tests/sim/sim_server.h"

#include <stdlib.h>
#include <string.h>

/* The server's own wall-clock limit. */
#define WALL_LIMIT_US (8 * SIM_S)

enum document_end {
    DOCUMENT_MEASURED,
    DOCUMENT_CUT, /* the text came, the tables did not */
    DOCUMENT_CRASHED,
    DOCUMENT_STARVED /* not caused by the document: UNAVAILABLE */
};

struct document_job {
    struct document_job *next; /* next queued job */
    struct sim_documents *documents;
    bool submitted;
    bool working;
    bool cancelled;
    uint8_t *bytes;
    size_t size;
    size_t reserved;
    void (*work)(void *user);
    void (*done)(void *user, enum err result);
    void *user;
};

static enum err job_open(void *user, struct org_id org, struct document_job **ret_job)
{
    struct sim_documents *documents = user;
    struct sim *sim = documents->sim;
    struct document_job *job = NULL;

    (void)org;
    if (documents->open_count == SIM_DOCUMENTS_MAX) {
        return ERR_BUSY;
    }
    if (!sim->calm && sim_chance(sim, sim->profile.document_bad / 4)) {
        return sim_draw(sim, 2) == 0 ? ERR_BUSY : ERR_UNAVAILABLE;
    }
    job = calloc(1, sizeof(*job));
    ASSERT(job != NULL);
    job->documents = documents;
    documents->open_count++;
    *ret_job = job;
    return OK;
}

static enum err job_reserve(struct document_job *job, size_t size)
{
    ASSERT(!job->submitted);
    if (size > PDF_DOCUMENT_BYTES_MAX - job->reserved) {
        return ERR_TOO_LARGE;
    }
    job->reserved += size;
    return OK;
}

static enum err job_append(struct document_job *job, struct slice bytes)
{
    ASSERT(bytes.size <= job->reserved - job->size);
    job->bytes = realloc(job->bytes, job->size + bytes.size + 1);
    ASSERT(job->bytes != NULL);
    memcpy(job->bytes + job->size, bytes.data, bytes.size);
    job->size += bytes.size;
    return OK;
}

static void leave_queue(struct document_job *job)
{
    struct document_job **place = &job->documents->queued;

    while (*place != job) {
        place = &(*place)->next;
    }
    *place = job->next;
}

static void on_done(struct sim *sim, void *object, uint64_t incarnation)
{
    struct document_job *job = object;

    if (incarnation != sim->server->incarnation || sim->server->doomed) {
        return;
    }
    leave_queue(job);
    job->submitted = false;
    job->done(job->user, OK);
    sim_server_end_turn(sim->server);
}

/* Runs the job, unless it was cancelled in the queue. */
static void on_work(struct sim *sim, void *object, uint64_t incarnation)
{
    struct document_job *job = object;

    if (incarnation != sim->server->incarnation || sim->server->doomed) {
        return;
    }
    if (job->cancelled) {
        leave_queue(job);
        job->submitted = false;
        job->done(job->user, ERR_CANCELLED);
        sim_server_end_turn(sim->server);
        return;
    }
    job->working = true;
    job->work(job->user);
    job->working = false;
    sim_at_server(sim, sim_delay(sim, 10, SIM_MS), on_done, job, incarnation);
    sim_server_after_thread(sim->server);
}

static enum err job_submit(struct document_job *job, void (*work)(void *user),
                           void (*done)(void *user, enum err result), void *user)
{
    struct sim *sim = job->documents->sim;

    ASSERT(!job->submitted);
    if (!sim->calm && sim_chance(sim, sim->profile.document_bad / 8)) {
        return ERR_BUSY;
    }
    job->submitted = true;
    job->work = work;
    job->done = done;
    job->user = user;
    job->next = job->documents->queued;
    job->documents->queued = job;
    sim_at_server(sim, sim_delay(sim, 100, SIM_S), on_work, job, sim->server->incarnation);
    return OK;
}

/* A page of one of SIM_DOCUMENT_LAYOUTS layouts by the document's size; pages of one layout are similar, but
 * seldom the same. */
static void fill_sketch(size_t size, struct family_sketch *sketch)
{
    uint32_t first = 1000 * (uint32_t)(size % SIM_DOCUMENT_LAYOUTS) +
                     (uint32_t)(size / SIM_DOCUMENT_LAYOUTS % 3);

    sketch->count = 20;
    for (uint32_t i = 0; i < sketch->count; i++) {
        sketch->features[i] = 8 * (first + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
}

/* A page with a text that states whose it is: the document's own first bytes. */
static void fill_answer(const struct document_job *job, struct arena *arena, bool cut,
                        struct pdf_answer *answer)
{
    static const struct pdf_page_size a4 = {595.276, 841.89};
    size_t size = job->size < 200 ? job->size : 200;
    struct slice snippet = {NULL, 0};

    if (!arena_copy(arena, slice_of(job->bytes, size), &snippet)) {
        snippet = SLICE("no memory");
    }
    *answer = (struct pdf_answer){.reason = PDF_READ,
                                  .text = {.page_count = 1,
                                           .pages = &a4,
                                           .pages_read = 1,
                                           .text_chars = (uint32_t)snippet.size,
                                           .page_one_chars = (uint32_t)snippet.size,
                                           .snippet = snippet,
                                           .covered_cells = 50000,
                                           .page_cells = 596 * 842,
                                           .poppler_version = SLICE("22.12.0")},
                                  .cut = cut ? PDF_CUT_LIMIT : PDF_CUT_NONE,
                                  .tables = {.table_count = 1 + (uint32_t)job->size % 3}};
    if (!cut) {
        fill_sketch(job->size, &answer->tables.sketch);
    }
}

static enum document_end draw_end(struct sim *sim, int64_t *ret_takes_us)
{
    *ret_takes_us = sim_delay(sim, SIM_MS, 200 * SIM_MS);
    if (sim->calm || !sim_chance(sim, sim->profile.document_bad)) {
        return DOCUMENT_MEASURED;
    }
    if (sim_draw(sim, 3) == 0) {
        *ret_takes_us = WALL_LIMIT_US; /* it hangs */
    }
    return (enum document_end)(1 + sim_draw(sim, 3));
}

static enum err job_measure(struct document_job *job, const struct document_request *request,
                            struct arena *arena, struct document_measured *ret_measured)
{
    struct sim *sim = job->documents->sim;
    int64_t takes_us = 0;
    enum document_end end = draw_end(sim, &takes_us);
    int64_t until_us = sim_now(sim) + takes_us;

    ASSERT(job->working);
    while (sim_now(sim) < until_us && !job->cancelled && !sim_server_is_doomed(sim) &&
           sim->waits < SIM_WAITS_MAX && !sim->failed) {
        sim_wait(sim, takes_us < 50 * SIM_MS ? takes_us : 50 * SIM_MS);
    }
    if (job->cancelled || sim_server_is_doomed(sim)) {
        return ERR_CANCELLED;
    }
    if (end == DOCUMENT_STARVED) {
        return ERR_UNAVAILABLE;
    }
    *ret_measured = (struct document_measured){.sha256 = sha256(slice_of(job->bytes, job->size)),
                                               .size_bytes = job->size};
    if (end == DOCUMENT_CRASHED) {
        ret_measured->answer.reason = PDF_CRASHED;
    } else {
        fill_answer(job, arena, end == DOCUMENT_CUT, &ret_measured->answer);
        if (request->with_text) {
            ret_measured->answer.pages =
                (struct pdf_pages){.text = ret_measured->answer.text.snippet,
                                   .count = ret_measured->answer.text.page_count,
                                   .end = PDF_PAGES_WHOLE};
        }
    }
    return OK;
}

static void job_cancel(struct document_job *job)
{
    job->cancelled = true;
}

static void job_close(struct document_job *job)
{
    ASSERT(!job->submitted);
    ASSERT(job->documents->open_count > 0);
    job->documents->open_count--;
    free(job->bytes);
    free(job);
}

void sim_documents_init(struct sim_documents *documents, struct sim *sim)
{
    *documents = (struct sim_documents){.jobs = {documents, job_open, job_reserve, job_append,
                                                 job_submit, job_measure, job_cancel, job_close},
                                        .sim = sim};
}

void sim_documents_end(struct sim_documents *documents)
{
    while (documents->queued != NULL) {
        struct document_job *job = documents->queued;

        ASSERT(!job->working);
        documents->queued = job->next;
        job->submitted = false;
        job->done(job->user, ERR_CANCELLED);
    }
}
