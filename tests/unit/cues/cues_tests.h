/*
 * cues_tests.h: the shared functions of the tests of messages: a lexicon, an arena for each test, and a message read
 * in one call.
 */
#ifndef ERRATA_TESTS_UNIT_CUES_CUES_TESTS_H
#define ERRATA_TESTS_UNIT_CUES_CUES_TESTS_H

#include "server/domain/cues/features.h"

/* A turn and the message after it. `similarity` below 0: there is none. */
struct example {
    const char *query;
    const char *response;
    const char *message;
    float similarity;
};

extern struct arena cues_arena;
extern const struct cue_lexicon *cues_lexicon;

/* Setup and teardown of a group. */
int cues_setup(void **state);
int cues_teardown(void **state);
/* Reads a message; valid until the next call. */
const struct reading *cues_read(const struct example *example);
/* Reads a message, and applies the table. */
struct detection cues_detect(const struct example *example);

int run_words_tests(void);
int run_detect_tests(void);
int run_difference_tests(void);
int run_veto_tests(void);

#endif
