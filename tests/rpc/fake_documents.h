/*
 * fake_documents.h: document jobs without a worker, threads or time, for fixtures: they give the
 * answers of a test, run when the fixture runs, and check that their users follow the contract of
 * document_jobs.h.
 */
#ifndef ERRATA_TESTS_RPC_FAKE_DOCUMENTS_H
#define ERRATA_TESTS_RPC_FAKE_DOCUMENTS_H

#include "server/pipeline/document_jobs.h"

#define FAKE_DOCUMENTS_MAX 16

struct fake_documents {
    struct document_jobs jobs; /* interface for the services */
    struct document_job *queue[FAKE_DOCUMENTS_MAX]; /* submitted jobs that have not started */
    size_t queued;
    /* Results set by a test; all OK and false by default. */
    enum err open_result;
    enum err reserve_result;
    enum err append_result;
    enum err submit_result;
    enum err measure_result;
    enum err done_result; /* if not OK, a submitted job ends with it without running */
    struct pdf_answer answer; /* by default a page of A4 with text and a table */
    /* Runs during the measurement of a document, as if on the loop; a cancel in it ends the
     * measurement. */
    void (*while_measuring)(void *user);
    void *while_measuring_user;
    /* Counters of the fake's calls. */
    unsigned opened;
    unsigned closed;
    unsigned submitted;
    unsigned measured;
    unsigned texts; /* measured with the text of all pages */
    unsigned cancelled;
    size_t held_bytes; /* size of the open jobs */
    struct org_id org; /* organisation of the last opened job */
    struct slice password; /* password of the last measured document, stored in `password_bytes` */
    char password_bytes[128];
};

void fake_documents_init(struct fake_documents *documents);
/* Number of words that are features of an answer's sketch. */
#define FAKE_SKETCH_FEATURES 30
/* Makes the words of page 1 those from `first` on; 0 at first. Pages with near ones are similar. */
void fake_documents_set_sketch(struct fake_documents *documents, uint32_t first);
/* Adds words without places, from a number on, until the next sketch is set. */
void fake_documents_set_words(struct fake_documents *documents, uint32_t first);
/* Runs the queued jobs; returns whether there were any. */
bool fake_documents_run(struct fake_documents *documents);
/* Checks that every job was closed once. */
void fake_documents_check_end(const struct fake_documents *documents);

#endif
