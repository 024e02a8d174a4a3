/*
 * fake_documents.c: document jobs with answers of the tests.
 */
#include "tests/rpc/fake_documents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum job_state {
    JOB_FILLING,
    JOB_QUEUED,
    JOB_WORKING, /* in `work`, not measured yet */
    JOB_MEASURED,
    JOB_DONE
};

struct document_job {
    struct fake_documents *documents;
    enum job_state state;
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
    struct fake_documents *documents = user;
    struct document_job *job = NULL;

    if (documents->open_result != OK) {
        return documents->open_result;
    }
    job = calloc(1, sizeof(*job));
    assert_non_null(job);
    job->documents = documents;
    documents->opened++;
    documents->org = org;
    *ret_job = job;
    return OK;
}

static enum err job_reserve(struct document_job *job, size_t size)
{
    assert_int_equal(job->state, JOB_FILLING);
    if (job->documents->reserve_result != OK) {
        return job->documents->reserve_result;
    }
    if (size > PDF_DOCUMENT_BYTES_MAX - job->reserved) {
        return ERR_TOO_LARGE;
    }
    job->reserved += size;
    return OK;
}

static enum err job_append(struct document_job *job, struct slice bytes)
{
    assert_true(job->state == JOB_FILLING || job->state == JOB_WORKING);
    assert_true(bytes.size <= job->reserved - job->size);
    if (job->documents->append_result != OK) {
        return job->documents->append_result;
    }
    job->bytes = realloc(job->bytes, job->size + bytes.size);
    assert_non_null(job->bytes);
    memcpy(job->bytes + job->size, bytes.data, bytes.size);
    job->size += bytes.size;
    job->documents->held_bytes += bytes.size;
    return OK;
}

static enum err job_submit(struct document_job *job, void (*work)(void *user),
                           void (*done)(void *user, enum err result), void *user)
{
    struct fake_documents *documents = job->documents;

    assert_int_equal(job->state, JOB_FILLING);
    if (documents->submit_result != OK) {
        return documents->submit_result;
    }
    assert_true(documents->queued < FAKE_DOCUMENTS_MAX);
    job->state = JOB_QUEUED;
    job->work = work;
    job->done = done;
    job->user = user;
    documents->queue[documents->queued++] = job;
    documents->submitted++;
    return OK;
}

static enum err job_measure(struct document_job *job, const struct document_request *request,
                            struct arena *arena, struct document_measured *ret_measured)
{
    struct fake_documents *documents = job->documents;
    const struct slice password = request->password;

    (void)arena; /* the answer is allocated in the fixture */
    assert_int_equal(job->state, JOB_WORKING);
    job->state = JOB_MEASURED;
    assert_true(password.size <= sizeof(documents->password_bytes));
    if (password.size > 0) {
        memcpy(documents->password_bytes, password.data, password.size);
    }
    documents->password = slice_of(documents->password_bytes, password.size);
    if (documents->while_measuring != NULL) {
        documents->while_measuring(documents->while_measuring_user);
    }
    if (job->cancelled) {
        return ERR_CANCELLED;
    }
    if (documents->measure_result != OK) {
        return documents->measure_result;
    }
    documents->measured++;
    *ret_measured = (struct document_measured){.sha256 = sha256(slice_of(job->bytes, job->size)),
                                               .size_bytes = job->size,
                                               .answer = documents->answer};
    if (request->with_text) {
        documents->texts++;
    } else {
        ret_measured->answer.pages = (struct pdf_pages){.count = 0};
    }
    return OK;
}

static void job_cancel(struct document_job *job)
{
    job->documents->cancelled += job->cancelled ? 0 : 1;
    job->cancelled = true;
}

static void job_close(struct document_job *job)
{
    assert_true(job->state == JOB_FILLING || job->state == JOB_DONE);
    job->documents->closed++;
    job->documents->held_bytes -= job->size;
    free(job->bytes);
    free(job); /* a second close is a use after free */
}

void fake_documents_set_sketch(struct fake_documents *documents, uint32_t first)
{
    struct family_sketch *sketch = &documents->answer.tables.sketch;

    sketch->count = FAKE_SKETCH_FEATURES;
    for (uint32_t i = 0; i < sketch->count; i++) {
        sketch->features[i] = 8 * (first + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
    sketch->words = (struct family_words){.letterhead_count = 0};
}

void fake_documents_set_words(struct fake_documents *documents, uint32_t first)
{
    struct family_words *words = &documents->answer.tables.sketch.words;

    words->letterhead_count = FAMILY_LETTERHEAD_WORDS_MAX;
    for (uint32_t i = 0; i < words->letterhead_count; i++) {
        words->letterhead[i] = 8 * (first + i) + (uint32_t)FAMILY_SECTION_LETTERHEAD;
    }
    words->body_count = FAMILY_BODY_WORDS_MIN;
    for (uint32_t i = 0; i < words->body_count; i++) {
        words->body[i] = 8 * (first + i) + (uint32_t)FAMILY_SECTION_BODY;
    }
}

void fake_documents_init(struct fake_documents *documents)
{
    static const struct pdf_page_size a4 = {595.276, 841.89};

    *documents = (struct fake_documents){
        .jobs = {documents, job_open, job_reserve, job_append, job_submit, job_measure, job_cancel,
                 job_close},
        .answer = {.reason = PDF_READ,
                   .text = {.page_count = 1,
                            .pages = &a4,
                            .pages_read = 1,
                            .text_chars = 21,
                            .page_one_chars = 20,
                            .snippet = SLICE("Invoice 4711 of today\n"),
                            .covered_cells = 50000,
                            .page_cells = 596 * 842,
                            .poppler_version = SLICE("22.12.0")},
                   .cut = PDF_CUT_NONE,
                   .tables = {.table_count = 1},
                   .pages = {.text = SLICE("Invoice 4711 of today\n"),
                             .count = 1,
                             .end = PDF_PAGES_WHOLE}},
    };
    fake_documents_set_sketch(documents, 0);
}

bool fake_documents_run(struct fake_documents *documents)
{
    struct document_job *queue[FAKE_DOCUMENTS_MAX];
    size_t count = documents->queued;

    memcpy(queue, documents->queue, sizeof(queue));
    documents->queued = 0;
    for (size_t i = 0; i < count; i++) {
        struct document_job *job = queue[i];

        if (job->cancelled || documents->done_result != OK) {
            job->state = JOB_DONE;
            job->done(job->user, job->cancelled ? ERR_CANCELLED : documents->done_result);
            continue;
        }
        job->state = JOB_WORKING;
        job->work(job->user);
        job->state = JOB_DONE;
        job->done(job->user, OK);
    }
    return count > 0;
}

void fake_documents_check_end(const struct fake_documents *documents)
{
    assert_int_equal(documents->queued, 0);
    assert_int_equal(documents->opened, documents->closed);
    assert_int_equal(documents->held_bytes, 0);
}
