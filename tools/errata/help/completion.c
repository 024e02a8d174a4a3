/*
 * completion.c: see completion.h.
 */
#include "tools/errata/help/completion.h"

#include "store/base/buffer.h"
#include "tools/errata/help/help.h"

#include <strings.h>

static bool begins_as(struct slice word, struct slice typed)
{
    return word.size >= typed.size &&
           (typed.size == 0 ||
            strncasecmp((const char *)word.data, (const char *)typed.data, typed.size) == 0);
}

/* Replaces line feeds and tabs: a candidate must be on one line, and a tab ends its word. */
static struct slice on_one_line(struct completion *completion, struct slice text)
{
    return print_clean(completion->arena, text);
}

void completion_offer(struct completion *completion, struct slice word, struct slice meaning)
{
    struct buffer line;
    struct slice clean = on_one_line(completion, word);

    /* Returns whether the word needs no escaping; others are not offered. */
    if (!begins_as(word, completion->typed) || !slice_equal(clean, word)) {
        return;
    }
    buffer_init(&line, completion->arena, 128);
    buffer_append(&line, completion->before);
    buffer_append(&line, word);
    if (completion->taken < line.size) {
        struct slice rest = slice_after(buffer_slice(&line), completion->taken);

        meaning = on_one_line(completion, meaning);
        print_text(completion->out, "%.*s\t%.*s\n", SLICE_ARGS(rest), SLICE_ARGS(meaning));
    }
}

/* --- values --- */

static void ask_for_files(struct completion *completion, struct slice before)
{
    struct slice prefix = before.size > completion->taken ? slice_after(before, completion->taken)
                                                          : slice_of(NULL, 0);

    if (!completion->files) {
        print_text(completion->out, ":files %.*s\n", SLICE_ARGS(prefix));
        completion->files = true;
    }
}

/* `@FILE`: a file name after `@`, once that is typed. */
static void offer_argument_file(struct completion *completion)
{
    struct slice typed = completion->typed;

    if (typed.size > 0 && typed.data[0] == '@') {
        ask_for_files(completion,
                      arena_printf(completion->arena, "%.*s@", SLICE_ARGS(completion->before)));
    }
}

static void offer_value(struct completion *completion, struct slice name)
{
    struct command_word word;
    size_t count = 0;

    if (slice_equal(name, SLICE("FILE")) || slice_equal(name, SLICE("FOLDER"))) {
        ask_for_files(completion, completion->before);
        return;
    }
    if (slice_equal(name, SLICE("@FILE"))) {
        offer_argument_file(completion);
        return;
    }
    while (completion->set->word(name, count, &word)) {
        completion_offer(completion, word.word, word.meaning);
        count++;
    }
    if (count == 0 && completion->offer != NULL) {
        completion->offer(completion->user, completion, name);
    }
}

/* Offers values of each kind that is allowed here. */
static void offer_choices(struct completion *completion, struct slice value)
{
    struct slice choice = {NULL, 0};

    while (command_next_choice(&value, &choice)) {
        offer_value(completion, choice);
    }
}

/* --- options --- */

static const struct option_spec *find_option(const struct option_spec *specs, struct slice name)
{
    for (; specs != NULL && specs->name != NULL; specs++) {
        if (slice_equal(slice_text(specs->name), name)) {
            return specs;
        }
    }
    return NULL;
}

static const struct option_spec *find_any_option(const struct completion *completion,
                                                 struct slice name)
{
    const struct option_spec *own =
        completion->command != NULL ? find_option(completion->command->options, name) : NULL;

    return own != NULL ? own : find_option(completion->set->options, name);
}

/* Offers the options of `specs`, except those of `before`, which have precedence. */
static void offer_options(struct completion *completion, const struct option_spec *specs,
                          const struct option_spec *before)
{
    for (; specs != NULL && specs->name != NULL; specs++) {
        if (find_option(before, slice_text(specs->name)) != NULL) {
            continue;
        }
        completion_offer(completion, arena_printf(completion->arena, "--%s", specs->name),
                         slice_text(specs->help));
    }
}

/* Splits `--name` or `--name=value`; the value is NULL if there is none yet. */
static struct slice option_name(const char *word, const char **ret_value)
{
    const char *equals = strchr(word, '=');

    *ret_value = equals != NULL ? equals + 1 : NULL;
    return equals != NULL ? slice_of(word + 2, (size_t)(equals - word) - 2) : slice_text(word + 2);
}

static void note_option(struct completion *completion, const struct option_spec *spec,
                        const char *value)
{
    struct options *options = &completion->options;

    if (options->given_count < OPTIONS_GIVEN_MAX) {
        options->given[options->given_count++] = (struct option_given){spec, value};
    }
}

/* --- the line --- */

/* State after reading the words before the cursor. */
struct reading {
    size_t values; /* number of words that are arguments */
    bool only_words; /* `--` has been read */
    bool help; /* the first word is `help`: names of commands follow, and no arguments */
    bool lost; /* a word that no table contains */
    const struct option_spec *open; /* an option whose value is the next word */
};

static void read_name(struct completion *completion, struct reading *reading, const char *word)
{
    const struct command_set *set = completion->set;

    if (completion->group != NULL) {
        completion->command = command_find(set, completion->group->name, word);
    } else if (!reading->help && strcmp(word, "help") == 0) {
        reading->help = true;
        return;
    } else {
        completion->group = command_find_group(set, word);
        if (completion->group != NULL) {
            return;
        }
        completion->command = command_find(set, NULL, word);
    }
    reading->lost = completion->command == NULL;
}

static void read_word(struct completion *completion, struct reading *reading, const char *word)
{
    if (reading->open != NULL) {
        note_option(completion, reading->open, word);
        reading->open = NULL;
    } else if (!reading->only_words && strcmp(word, "--") == 0) {
        reading->only_words = true;
    } else if (!reading->only_words && strncmp(word, "--", 2) == 0) {
        const char *value = NULL;
        const struct option_spec *spec = find_any_option(completion, option_name(word, &value));

        if (spec != NULL && spec->value != NULL && value == NULL) {
            reading->open = spec;
        } else if (spec != NULL) {
            note_option(completion, spec, value != NULL ? value : "");
        }
    } else if (completion->command == NULL) {
        read_name(completion, reading, word);
    } else {
        reading->values++;
    }
}

static void offer_first_words(struct completion *completion, bool help)
{
    const struct command_set *set = completion->set;

    for (const struct command_group *group = set->groups; group->commands != NULL; group++) {
        if (group->name != NULL) {
            completion_offer(completion, slice_text(group->name), slice_text(group->summary));
            continue;
        }
        for (const struct command *command = group->commands; command->name != NULL; command++) {
            if (!command->hidden) {
                completion_offer(completion, slice_text(command->name),
                                 slice_text(command->summary));
            }
        }
    }
    if (!help) {
        completion_offer(completion, SLICE("help"), SLICE("all of a command, or of a topic"));
    }
    for (const struct command_topic *topic = set->topics; help && topic->name != NULL; topic++) {
        completion_offer(completion, slice_text(topic->name), slice_text(topic->title));
    }
}

static void offer_names(struct completion *completion, const struct reading *reading)
{
    if (completion->group == NULL) {
        offer_first_words(completion, reading->help);
        return;
    }
    for (const struct command *command = completion->group->commands; command->name != NULL;
         command++) {
        if (!command->hidden) {
            completion_offer(completion, slice_text(command->name), slice_text(command->summary));
        }
    }
}

static void offer_argument(struct completion *completion, size_t index)
{
    struct command_values values = {.rest = completion->command->arguments};
    struct slice value = {NULL, 0};

    for (size_t i = 0; command_next_value(&values, &value); i++) {
        if (i == index || (values.repeated && i < index)) {
            offer_choices(completion, value);
            return;
        }
    }
}

static void complete_option(struct completion *completion, const char *word)
{
    const char *value = NULL;
    struct slice name = option_name(word, &value);
    const struct option_spec *spec = find_any_option(completion, name);

    if (value == NULL) {
        const struct option_spec *own =
            completion->command != NULL ? completion->command->options : NULL;

        completion->typed = slice_text(word);
        offer_options(completion, own, NULL);
        offer_options(completion, completion->set->options, own);
        return;
    }
    completion->before = slice_of(word, (size_t)(value - word));
    completion->typed = slice_text(value);
    if (spec != NULL && spec->value != NULL) {
        offer_choices(completion, slice_text(spec->value));
    }
}

void completion_run(struct completion *completion, char **words, size_t count)
{
    struct reading reading = {.values = 0};
    const char *word = words[count - 1];

    for (size_t i = 0; i + 1 < count; i++) {
        read_word(completion, &reading, words[i]);
    }
    completion->before = slice_of(NULL, 0);
    completion->typed = slice_text(word);
    if (reading.lost) {
        return;
    }
    if (reading.open != NULL) {
        offer_choices(completion, slice_text(reading.open->value));
    } else if (!reading.only_words && word[0] == '-' && (word[1] == '-' || word[1] == '\0')) {
        complete_option(completion, word[1] == '-' ? word : "--");
    } else if (completion->command == NULL) {
        offer_names(completion, &reading);
    } else if (!reading.help) {
        offer_argument(completion, reading.values);
    }
}

/* --- splitting a line --- */

/* State of splitting a line into words. */
struct splitting {
    struct buffer word;
    char quote; /* open quote ' or ", or NUL outside quotes */
    bool open; /* a word has begun */
};

static char *end_word(struct splitting *splitting, struct arena *arena)
{
    char *word = NULL;

    buffer_append_byte(&splitting->word, '\0');
    word = buffer_ok(&splitting->word) ? (char *)splitting->word.data : NULL;
    buffer_init(&splitting->word, arena, 32);
    splitting->open = false;
    return word;
}

/* Reads one character, or an escaped pair; returns the number of bytes. */
static size_t take(struct splitting *splitting, const char *line)
{
    char c = line[0];

    splitting->open = true;
    if (c == '\\' && splitting->quote != '\'' && line[1] != '\0') {
        buffer_append_byte(&splitting->word, (uint8_t)line[1]);
        return 2;
    }
    if (splitting->quote == '\0' && (c == '\'' || c == '"')) {
        splitting->quote = c;
    } else if (c == splitting->quote) {
        splitting->quote = '\0';
    } else {
        buffer_append_byte(&splitting->word, (uint8_t)c);
    }
    return 1;
}

size_t completion_split(struct arena *arena, const char *line, char **words)
{
    struct splitting splitting = {.quote = '\0'};
    size_t count = 0;

    buffer_init(&splitting.word, arena, 32);
    while (line[0] != '\0' && count < COMPLETION_WORDS_MAX - 1) {
        bool blank =
            splitting.quote == '\0' && (line[0] == ' ' || line[0] == '\t' || line[0] == '\n');

        if (!blank) {
            line += take(&splitting, line);
            continue;
        }
        if (splitting.open) {
            words[count++] = end_word(&splitting, arena);
        }
        line++;
    }
    words[count++] = end_word(&splitting, arena);
    return line[0] == '\0' && words[count - 1] != NULL ? count : 0;
}
