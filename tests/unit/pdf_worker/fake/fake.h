/*
 * fake.h: the documents of the fake measurement: each specifies the end of its child. Any other
 * text is a document of one page.
 */
#ifndef ERRATA_TESTS_UNIT_PDF_WORKER_FAKE_FAKE_H
#define ERRATA_TESTS_UNIT_PDF_WORKER_FAKE_FAKE_H

#define FAKE_VERSION "0.0.1"
/* The head of a PNG of one pixel. */
#define FAKE_PICTURE "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"

#define FAKE_PLAIN "plain"
#define FAKE_REFUSE "refuse"
#define FAKE_CUT "cut"
#define FAKE_CUT_EARLY "cut early" /* reported while the page is rendered, which then never ends */
#define FAKE_SLEEP "sleep" /* endless, before the text */
#define FAKE_SLEEP_LATER "sleep later" /* endless, after the text */
#define FAKE_SLEEP_PAGES "sleep pages" /* after the first piece of the text of all pages */
#define FAKE_SPIN "spin" /* endless, before the text */
#define FAKE_ABORT "abort"
#define FAKE_TRAP "trap"
#define FAKE_TRAP_LATER "trap later"
#define FAKE_SOCKET "socket" /* a forbidden call */
#define FAKE_FLOOD "flood" /* an answer larger than a pipe's buffer */
/* Reported as text_chars. */
#define FAKE_DESCRIPTORS "descriptors"
#define FAKE_ENVIRONMENT "environment"
#define FAKE_PASSWORD "password"

#endif
