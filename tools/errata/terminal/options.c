/*
 * options.c: see options.h.
 */
#include "tools/errata/terminal/options.h"

#include "tools/errata/terminal/suggest.h"

#include <stdio.h>

static const struct option_spec *find(const struct option_spec *specs, struct slice name)
{
    for (; specs != NULL && specs->name != NULL; specs++) {
        if (slice_equal(slice_text(specs->name), name)) {
            return specs;
        }
    }
    return NULL;
}

static void offer_all(struct suggest *suggest, const struct option_spec *specs)
{
    for (; specs != NULL && specs->name != NULL; specs++) {
        suggest_offer(suggest, slice_text(specs->name));
    }
}

static bool fail_unknown(struct options *options, const struct option_spec *specs,
                         const struct option_spec *more_specs, const char *word, struct slice name)
{
    const char *equals = strchr(word, '=');
    int size = equals != NULL ? (int)(equals - word) : (int)strlen(word);

    struct suggest suggest;

    suggest_init(&suggest, name);
    offer_all(&suggest, specs);
    offer_all(&suggest, more_specs);
    if (suggest.best.size > 0) {
        (void)snprintf(options->problem, sizeof(options->problem),
                       "unknown option '%.*s'; did you mean --%s?", size, word,
                       (const char *)suggest.best.data);
    } else {
        (void)snprintf(options->problem, sizeof(options->problem), "unknown option '%.*s'", size,
                       word);
    }
    return false;
}

static bool add(struct options *options, const struct option_spec *spec, const char *value)
{
    if (options->given_count == OPTIONS_GIVEN_MAX) {
        (void)snprintf(options->problem, sizeof(options->problem), "more than %d options",
                       OPTIONS_GIVEN_MAX);
        return false;
    }
    options->given[options->given_count++] = (struct option_given){spec, value};
    return true;
}

static bool take_option(struct options *options, const struct option_spec *spec, const char *equals,
                        struct options_input *input)
{
    if (spec->value == NULL && equals != NULL) {
        (void)snprintf(options->problem, sizeof(options->problem),
                       "--%s: given with a value; expected no value", spec->name);
        return false;
    }
    if (spec->value == NULL) {
        return add(options, spec, "");
    }
    if (equals != NULL) {
        return add(options, spec, equals + 1);
    }
    if (input->next == input->end) {
        (void)snprintf(options->problem, sizeof(options->problem), "--%s needs a value: --%s %s",
                       spec->name, spec->name, spec->value);
        return false;
    }
    return add(options, spec, *input->next++);
}

static bool take_word(struct options *options, const char *word, size_t words_max)
{
    if (options->word_count >= words_max) {
        (void)snprintf(options->problem, sizeof(options->problem), "unexpected argument \"%s\"",
                       word);
        return false;
    }
    options->words[options->word_count++] = word;
    return true;
}

/* Reads a word that begins with a dash. A single dash is accepted for long names too; `-h` is
 * help. */
static bool read_option(struct options *options, const struct option_spec *specs,
                        const struct option_spec *more_specs, const char *word,
                        struct options_input *input)
{
    bool is_short = word[1] != '-';
    const char *name = word + (is_short ? 1 : 2);
    const char *equals = strchr(name, '=');
    struct slice typed =
        equals != NULL ? slice_of(name, (size_t)(equals - name)) : slice_text(name);
    const struct option_spec *spec = NULL;

    if (is_short && slice_equal(typed, SLICE("h"))) {
        typed = SLICE("help");
    }
    spec = find(specs, typed);
    spec = spec != NULL ? spec : find(more_specs, typed);
    if (spec == NULL) {
        return fail_unknown(options, specs, more_specs, word, typed);
    }
    return take_option(options, spec, equals, input);
}

bool options_read(struct options *options, const struct option_spec *specs,
                  const struct option_spec *more_specs, struct options_input *input,
                  size_t words_max)
{
    bool only_words = false;
    bool read = true;

    if (words_max > 0) {
        options->words =
            (const char **)input->next; /* each word is read before its place is overwritten */
    }
    while (read && input->next != input->end) {
        const char *word = *input->next;
        bool is_option = !only_words && word[0] == '-' && word[1] != '\0';

        if (!is_option && words_max == 0) {
            return true;
        }
        input->next++;
        if (!is_option) {
            read = take_word(options, word, words_max);
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
        } else {
            read = read_option(options, specs, more_specs, word, input);
        }
    }
    return read;
}

const char *options_get(const struct options *options, const char *name)
{
    for (size_t i = options->given_count; i-- > 0;) {
        if (strcmp(options->given[i].spec->name, name) == 0) {
            return options->given[i].value;
        }
    }
    return NULL;
}

bool options_has(const struct options *options, const char *name)
{
    return options_get(options, name) != NULL;
}

const char *options_next(const struct options *options, const char *name, size_t *at)
{
    while (*at < options->given_count) {
        const struct option_given *given = &options->given[(*at)++];

        if (strcmp(given->spec->name, name) == 0) {
            return given->value;
        }
    }
    return NULL;
}
