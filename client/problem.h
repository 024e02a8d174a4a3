/*
 * problem.h: the sentence that a caller of errata_channel_open gets where its configuration can't be
 * right: what is wrong, and what would be right.
 */
#ifndef ERRATA_CLIENT_LIBRARY_PROBLEM_H
#define ERRATA_CLIENT_LIBRARY_PROBLEM_H

#include "store/base/attributes.h"

#include <stddef.h>

/* A sentence is shorter than this, whatever it shows of what the caller gave, */
#define PROBLEM_BYTES_MAX 512
/* which is at most so much. */
#define PROBLEM_SHOWN_BYTES_MAX 100

struct problem {
    char *text; /* the caller's; NULL: nobody asks */
    size_t bytes; /* room in it, the NUL included */
};

/* A text of the caller's as a sentence may show it. */
struct problem_shown {
    char text[PROBLEM_SHOWN_BYTES_MAX + 4]; /* with dots where it is cut, and a NUL */
};

static inline struct problem problem_in(char *text, size_t bytes)
{
    struct problem problem;

    problem.text = text;
    problem.bytes = bytes;
    return problem;
}

/* Writes the sentence, cut between characters where there is no room for it. */
void problem_say(const struct problem *problem, const char *format, ...) PRINTF_LIKE(2, 3);
/* Cuts what is long, and hides what is no text. */
struct problem_shown problem_show(const char *text);

#endif
