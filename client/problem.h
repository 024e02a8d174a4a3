/*
 * problem.h: the message that errata_channel_open and its like give their caller about an invalid
 * configuration: `<member>: <what is wrong>; expected <form>`.
 */
#ifndef ERRATA_CLIENT_PROBLEM_H
#define ERRATA_CLIENT_PROBLEM_H

#include "store/base/attributes.h"

#include <stddef.h>

/* Room for any message, with its NUL. */
#define PROBLEM_BYTES_MAX 512
/* Maximum bytes of a caller's text that a message quotes. */
#define PROBLEM_SHOWN_BYTES_MAX 100

struct problem {
    char *text; /* the caller's buffer; NULL: the caller wants no message */
    size_t bytes; /* size including the NUL */
};

/* A text of the caller, as a message quotes it. */
struct problem_shown {
    char text[PROBLEM_SHOWN_BYTES_MAX + 4]; /* with dots if it was truncated, and a NUL */
};

static inline struct problem problem_in(char *text, size_t bytes)
{
    struct problem problem;

    problem.text = text;
    problem.bytes = bytes;
    return problem;
}

/* Writes the message, cut between characters if the buffer is too small. */
void problem_say(const struct problem *problem, const char *format, ...) PRINTF_LIKE(2, 3);
/* Cuts a long text; replaces a text that is not printable UTF-8 with "(no text)". */
struct problem_shown problem_show(const char *text);

#endif
