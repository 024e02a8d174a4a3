/*
 * pdf_jobs_tests.h: the groups of this folder, and their shared functions.
 */
#ifndef ERRATA_TESTS_UNIT_PDF_JOBS_PDF_JOBS_TESTS_H
#define ERRATA_TESTS_UNIT_PDF_JOBS_PDF_JOBS_TESTS_H

#include "server/jobs/pdf/pdf_worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Maximum wait of any test for one condition. */
#define TEST_WAIT_MS 20000

/* A folder beside the fake worker, for programs under other names. */
struct programs {
    char folder[4096];
    char path[4096]; /* the last one made */
};

void programs_init(struct programs *programs);
/* The fake worker under a name that states what it does (worker/fake_worker.c); lives until the next. */
const char *programs_make(struct programs *programs, const char *name);
void programs_deinit(struct programs *programs);

/* Returns the number of open descriptors. */
size_t open_descriptors(void);
/* Sealed bytes that hold `text`. */
void make_bytes(struct pdf_bytes *ret_bytes, const char *text);

int run_queue_tests(void);
int run_starved_tests(void);
int run_worker_tests(void);
int run_supervisor_tests(void);
int run_jobs_tests(void);

#endif
