/*
 * command.c: see command.h.
 */
#include "tools/errata/help/command.h"

#include "tools/errata/terminal/suggest.h"

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL ? strcmp(a, b) == 0 : a == b;
}

const struct command *command_next(const struct command_set *set, struct command_walk *walk)
{
    while (set->groups[walk->group].commands != NULL) {
        const struct command *command = &set->groups[walk->group].commands[walk->command];

        if (command->name != NULL) {
            walk->command++;
            return command;
        }
        walk->group++;
        walk->command = 0;
    }
    return NULL;
}

const struct command *command_find(const struct command_set *set, const char *group,
                                   const char *name)
{
    struct command_walk walk = {0, 0};
    const struct command *command = NULL;

    while ((command = command_next(set, &walk)) != NULL) {
        if (same(command->group, group) && same(command->name, name)) {
            return command;
        }
    }
    return NULL;
}

const struct command_group *command_find_group(const struct command_set *set, const char *name)
{
    for (const struct command_group *group = set->groups; group->commands != NULL; group++) {
        if (name != NULL && same(group->name, name)) {
            return group;
        }
    }
    return NULL;
}

const struct command_topic *command_find_topic(const struct command_set *set, const char *name)
{
    for (const struct command_topic *topic = set->topics; topic->name != NULL; topic++) {
        if (same(topic->name, name)) {
            return topic;
        }
    }
    return NULL;
}

struct slice command_nearest(const struct command_set *set, const char *group, const char *typed,
                             bool topics)
{
    struct command_walk walk = {0, 0};
    const struct command *command = NULL;
    struct suggest suggest;

    suggest_init(&suggest, slice_text(typed));
    while ((command = command_next(set, &walk)) != NULL) {
        if (command->hidden) {
            continue;
        }
        if (group == NULL) {
            suggest_offer(&suggest,
                          slice_text(command->group != NULL ? command->group : command->name));
        } else if (same(command->group, group)) {
            suggest_offer(&suggest, slice_text(command->name));
        }
    }
    for (const struct command_topic *topic = set->topics; topics && topic->name != NULL; topic++) {
        suggest_offer(&suggest, slice_text(topic->name));
    }
    return suggest.best;
}

/* Returns the number of bytes up to the next blank. */
static size_t word_bytes(const char *text)
{
    return strcspn(text, " ");
}

/* Skips an option and its value: `--role ROLE`, or `--template TEMPLATE|--file FILE`. */
static void skip_option(struct command_values *values)
{
    bool another = true;

    while (another) {
        size_t size = word_bytes(values->rest);

        another = memmem(values->rest, size, "|--", 3) != NULL;
        values->rest += size + strspn(values->rest + size, " ");
    }
}

struct command_words command_count_words(const struct command *command)
{
    struct command_values values = {.rest = command->arguments};
    struct command_words words = {0, 0};
    struct slice value = {NULL, 0};

    while (command_next_value(&values, &value)) {
        words.min += values.optional ? 0 : 1;
        words.max = values.repeated || words.max == SIZE_MAX ? SIZE_MAX : words.max + 1;
    }
    return words;
}

bool command_next_value(struct command_values *values, struct slice *ret_value)
{
    while (values->rest != NULL && values->rest[0] != '\0') {
        const char *word = values->rest;
        size_t size = word_bytes(word);
        struct slice value = slice_of(word, size);

        values->rest = word + size + strspn(word + size, " ");
        if (size > 2 && word[0] == '-' && word[1] == '-') {
            skip_option(values);
            continue;
        }
        values->optional = word[0] == '[';
        value = values->optional ? slice_after(value, 1) : value;
        value.size -= value.size > 0 && value.data[value.size - 1] == ']' ? 1 : 0;
        values->repeated = value.size > 3 && memcmp(value.data + value.size - 3, "...", 3) == 0;
        value.size -= values->repeated ? 3 : 0;
        if (value.size > 0) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

bool command_next_choice(struct slice *value, struct slice *ret_choice)
{
    const uint8_t *bar = value->size > 0 ? memchr(value->data, '|', value->size) : NULL;
    size_t size = bar != NULL ? (size_t)(bar - value->data) : value->size;

    if (value->size == 0) {
        return false;
    }
    *ret_choice = slice_of(value->data, size);
    *value = slice_after(*value, bar != NULL ? size + 1 : size);
    return true;
}
