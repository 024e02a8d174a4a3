/*
 * options.h: the words of a command line: `--name value`, `--name=value`, `--flag`, words, and `--`
 * after which everything is a word. A single `-` is a word (standard input). Errors are described
 * in a sentence, with the most similar option.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_OPTIONS_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_OPTIONS_H

#include "store/base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximum options of a command line. The number of words is not limited, since a shell expands
 * `*.pdf`. */
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
    const char **words; /* borrowed from argv, in which words are moved to the front */
    size_t word_count;
    char problem[OPTIONS_PROBLEM_BYTES]; /* description of the parse error */
};

/* Input of the parser, advanced past the words that are read. */
struct options_input {
    char **next;
    char **end;
};

/* Reads options, of either list, and words until the input ends; with `words_max` 0 until the first
 * word, which is left. Only one call may accept words. Returns false with options->problem. */
MUST_CHECK bool options_read(struct options *options, const struct option_spec *specs,
                             const struct option_spec *more_specs, struct options_input *input,
                             size_t words_max);

bool options_has(const struct options *options, const char *name);
/* Returns the last value of an option; NULL if it was not given. */
const char *options_get(const struct options *options, const char *name);
/* Iterates over the values of an option that may be repeated; returns NULL at the end. Start with
 * *at 0. */
const char *options_next(const struct options *options, const char *name, size_t *at);

#endif
