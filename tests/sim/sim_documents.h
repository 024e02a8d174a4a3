/*
 * sim_documents.h: PDFs and the worker that measures them: it answers, is slow, hangs until the wall
 * limit, or dies. What is measured follows from the document's bytes, so that the same document gives
 * the same answer each time.
 */
#ifndef ERRATA_TESTS_SIM_SIM_DOCUMENTS_H
#define ERRATA_TESTS_SIM_SIM_DOCUMENTS_H

#include "server/pipeline/document_jobs.h"
#include "tests/sim/sim.h"

#define SIM_DOCUMENTS_MAX 64
/* Layouts of documents: that of a document is its size modulo this. */
#define SIM_DOCUMENT_LAYOUTS 4

struct sim_documents {
    struct document_jobs jobs; /* interface for the services */
    struct sim *sim;
    struct document_job *queued; /* submitted jobs that are not done */
    size_t open_count;
};

void sim_documents_init(struct sim_documents *documents, struct sim *sim);
/* Called when the process has ended: waiting jobs end as cancelled. */
void sim_documents_end(struct sim_documents *documents);

#endif
