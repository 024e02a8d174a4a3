/*
 * options.h: the words of a command line: `--name value`, `--name=value`, `--flag`, words, and `--`
 * after which everything is a word. A lone `-` is a word (standard input). What is wrong is said in
 * a sentence, with the nearest known option.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_OPTIONS_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_OPTIONS_H

#include "store/base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/* More options than this on one command line are a mistake. Words are as many as the system passes on:
 * a shell writes out `*.pdf`. */
#define OPTIONS_GIVEN_MAX 64
#define OPTIONS_PROBLEM_BYTES 256

struct option_spec {
    const char *name; /* name without the dashes; NULL ends the list */
    const char *value; /* the name of the value in help; NULL: a flag */
    const char *help;
};

struct option_given {
    const struct option_spec *spec;
    const char *value; /* "" for a flag; borrowed from argv */
};

struct options {
    struct option_given given[OPTIONS_GIVEN_MAX];
    size_t given_count;
    const char **words; /* borrowed from argv, whose words are moved together */
    size_t word_count;
    char problem[OPTIONS_PROBLEM_BYTES]; /* description of the parse error */
};

/* Input of the parser, advanced past the words that are read. */
struct options_input {
    char **next;
    char **end;
};

/* Reads options, of either list, and words until the input ends; with `words_max` 0 until the first
 * word, which is left. Words are taken by only one call. False with options->problem. */
MUST_CHECK bool options_read(struct options *options, const struct option_spec *specs,
                             const struct option_spec *more_specs, struct options_input *input,
                             size_t words_max);

bool options_has(const struct options *options, const char *name);
/* The value given last; NULL if it was not given. */
const char *options_get(const struct options *options, const char *name);
/* Walks the values of an option that may be repeated: NULL at the end. Start with *at 0. */
const char *options_next(const struct options *options, const char *name, size_t *at);

#endif
