/*
 * help.c: see help.h.
 */
#include "tools/errata/help/help.h"

#include "store/base/buffer.h"
#include "tools/errata/terminal/wrap.h"

#include <stdarg.h>

/* Columns of the descriptions. */
#define OVERVIEW_COLUMN 15
#define COMMAND_COLUMN 26
#define OPTION_COLUMN 26
/* Narrower than this, descriptions are printed below their terms. */
#define SIDE_BY_SIDE_MIN 64
/* Memory for the texts of a page: names, options and their words. */
#define PAGE_BYTES_MAX ((size_t)4 * 1024 * 1024)

static const char *text_of(struct slice text)
{
    return text.size > 0 ? (const char *)text.data : "";
}

struct slice help_command_name(struct arena *arena, const struct command *command)
{
    return arena_printf(arena, "%s%s%s", command->group != NULL ? command->group : "",
                        command->group != NULL ? " " : "", command->name);
}

struct slice help_option_term(struct arena *arena, const struct option_spec *option)
{
    return arena_printf(arena, "--%s%s%s", option->name, option->value != NULL ? " " : "",
                        option->value != NULL ? option->value : "");
}

struct slice help_option_meaning(const struct command_set *set, struct arena *arena,
                                 const struct option_spec *option)
{
    struct command_word word;
    struct buffer text;

    buffer_init(&text, arena, 256);
    buffer_append(&text, slice_text(option->help));
    for (size_t i = 0; option->value != NULL && set->word(slice_text(option->value), i, &word);
         i++) {
        buffer_append(&text, i == 0 ? SLICE(": ") : SLICE(", "));
        buffer_append(&text, word.word);
    }
    buffer_append_byte(&text, '\0');
    return buffer_ok(&text) ? slice_of(text.data, text.size - 1) : slice_of(NULL, 0);
}

/* --- pieces --- */

static void print_heading(struct printer *out, const char *title)
{
    print_coloured(out, COLOUR_BOLD, slice_text(title));
    print_text(out, "\n");
}

static void print_sentences(struct printer *out, const char *text)
{
    struct wrap wrap = {.printer = out, .width = wrap_width(out)};

    wrap_text(&wrap, text);
}

/* Prints a text after its first word; further lines are indented. */
static void print_hanging(struct printer *out, const char *first, unsigned indent, const char *text)
{
    struct wrap wrap = {.printer = out, .indent = indent, .width = wrap_width(out)};

    print_text(out, "%s", first);
    wrap.column = (unsigned)strlen(first);
    wrap_text(&wrap, text);
}

/* Prints a last line, after an empty one. */
static void PRINTF_LIKE(2, 3) print_footer(struct printer *out, const char *format, ...)
{
    char text[256];
    va_list values;

    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    print_text(out, "\n");
    print_sentences(out, text);
}

/* Prints a term and its description, which goes below the term on a narrow screen. */
static void print_entry(struct printer *out, const char *term, const char *meaning, unsigned column)
{
    wrap_entry(out, term, meaning, 2, wrap_width(out) < SIDE_BY_SIDE_MIN ? 6 : column);
}

static void print_options(const struct command_set *set, struct printer *out,
                          const struct option_spec *options)
{
    struct arena arena;

    arena_init(&arena, PAGE_BYTES_MAX);
    for (; options != NULL && options->name != NULL; options++) {
        print_entry(out, text_of(help_option_term(&arena, options)),
                    text_of(help_option_meaning(set, &arena, options)), OPTION_COLUMN);
    }
    arena_deinit(&arena);
}

static void print_command_line(struct printer *out, const struct command *command)
{
    struct arena arena;

    if (!command->hidden) {
        arena_init(&arena, PAGE_BYTES_MAX);
        print_entry(out, text_of(help_command_name(&arena, command)), command->summary,
                    COMMAND_COLUMN);
        arena_deinit(&arena);
    }
}

static void print_usage(const struct command_set *set, struct printer *out)
{
    print_text(out, "%s: %s\n\nUsage: %s COMMAND [ARGUMENTS] [OPTIONS]\n", set->program,
               set->summary, set->program);
}

/* Prints a section's title before its first group. */
static void print_section(struct printer *out, const struct command_group *group,
                          const char **section)
{
    if (*section == NULL || strcmp(*section, group->section) != 0) {
        print_text(out, "\n");
        print_heading(out, group->section);
        *section = group->section;
    }
}

/* --- pages --- */

/* Maximum bytes of a group's summary on the first page: the rest of a line of 80 columns after its
 * name. */
#define GROUP_MEANING_BYTES_MAX 65

/* Cuts a list of commands after the last one that fits before `, ...`. */
static void cut_meaning(struct buffer *text)
{
    size_t size = GROUP_MEANING_BYTES_MAX - strlen(", ...");

    if (!buffer_ok(text) || text->size <= GROUP_MEANING_BYTES_MAX) {
        return;
    }
    while (size > 0 && text->data[size] != ',') {
        size--;
    }
    text->size = size;
    buffer_append(text, SLICE(", ..."));
}

/* `subject: create, list, revoke` of a group with a name. */
static struct slice group_meaning(struct arena *arena, const struct command_group *group)
{
    struct buffer text;
    const char *between = ": ";

    buffer_init(&text, arena, 128);
    buffer_append(&text, slice_text(group->brief != NULL ? group->brief : group->summary));
    for (const struct command *command = group->commands; command->name != NULL; command++) {
        if (!command->hidden) {
            buffer_printf(&text, "%s%s", between, command->name);
            between = ", ";
        }
    }
    cut_meaning(&text);
    buffer_append_byte(&text, '\0');
    return buffer_slice(&text);
}

static void print_overview_group(struct printer *out, const struct command_group *group)
{
    struct arena arena;

    arena_init(&arena, PAGE_BYTES_MAX);
    if (group->name != NULL) {
        print_entry(out, group->name, text_of(group_meaning(&arena, group)), OVERVIEW_COLUMN);
    }
    for (const struct command *command = group->commands;
         group->name == NULL && command->name != NULL; command++) {
        if (!command->hidden) {
            print_entry(out, command->name, command->summary, OVERVIEW_COLUMN);
        }
    }
    arena_deinit(&arena);
}

void help_print_overview(const struct command_set *set, struct printer *out)
{
    const char *section = NULL;

    print_usage(set, out);
    print_text(out, "       %s help [COMMAND | TOPIC]\n", set->program);
    for (const struct command_group *group = set->groups; group->commands != NULL; group++) {
        if (section == NULL || strcmp(section, group->section) != 0) {
            print_heading(out, group->section);
            section = group->section;
        }
        print_overview_group(out, group);
    }
}

static void print_topics(const struct command_set *set, struct printer *out)
{
    print_text(out, "\n");
    print_heading(out, "More");
    for (const struct command_topic *topic = set->topics; topic->name != NULL; topic++) {
        struct arena arena;

        arena_init(&arena, PAGE_BYTES_MAX);
        print_entry(out, text_of(arena_printf(&arena, "help %s", topic->name)), topic->title,
                    COMMAND_COLUMN);
        arena_deinit(&arena);
    }
}

void help_print_all(const struct command_set *set, struct printer *out)
{
    const char *section = NULL;

    print_usage(set, out);
    print_text(out, "\n");
    print_sentences(out, set->about);
    for (const struct command_group *group = set->groups; group->commands != NULL; group++) {
        print_section(out, group, &section);
        for (const struct command *command = group->commands; command->name != NULL; command++) {
            print_command_line(out, command);
        }
    }
    print_text(out, "\n");
    print_heading(out, "Options of every command");
    print_options(set, out, set->options);
    print_topics(set, out);
    print_footer(out, "`%s help COMMAND` describes a command, with examples.", set->program);
}

void help_print_group(const struct command_set *set, struct printer *out,
                      const struct command_group *group)
{
    print_text(out, "%s %s: %s\n\nUsage: %s %s COMMAND [ARGUMENTS] [OPTIONS]\n\n", set->program,
               group->name, group->summary, set->program, group->name);
    print_heading(out, "Commands");
    for (const struct command *command = group->commands; command->name != NULL; command++) {
        print_command_line(out, command);
    }
    print_footer(out, "`%s help %s COMMAND` describes a command, with examples.", set->program,
                 group->name);
}

/* A line is printed as it is typed, so that it can be pasted. */
static void print_examples(struct printer *out, const struct command_example *examples)
{
    if (examples->line == NULL) {
        return;
    }
    print_text(out, "\n");
    print_heading(out, "Examples");
    for (; examples->line != NULL; examples++) {
        const char *line = examples->line;

        if (examples->what != NULL) {
            print_text(out, "  %s# %s%s\n", print_colour_start(out, COLOUR_DIM), examples->what,
                       print_colour_end(out, COLOUR_DIM));
        }
        while (line[0] != '\0') {
            size_t size = strcspn(line, "\n");

            print_text(out, "  %.*s\n", (int)size, line);
            line += size + (line[size] == '\n' ? 1 : 0);
        }
    }
}

void help_print_command(const struct command_set *set, struct printer *out,
                        const struct command *command)
{
    const char *arguments = command->arguments != NULL ? command->arguments : "";
    struct arena arena;
    const char *name = NULL;

    arena_init(&arena, PAGE_BYTES_MAX);
    name = text_of(help_command_name(&arena, command));
    print_hanging(out, set->program, 2,
                  text_of(arena_printf(&arena, "%s: %s", name, command->summary)));
    print_text(out, "\n");
    print_hanging(out, "Usage:", 7,
                  text_of(arena_printf(&arena, "%s %s%s%s%s", set->program, name,
                                       arguments[0] != '\0' ? " " : "", arguments,
                                       command->options != NULL ? " [OPTIONS]" : "")));
    print_text(out, "\n");
    arena_deinit(&arena);
    print_sentences(out, command->help);
    if (command->options != NULL) {
        print_text(out, "\n");
        print_heading(out, "Options");
        print_options(set, out, command->options);
    }
    print_examples(out, command->examples);
    if (command->exits != NULL) {
        print_text(out, "\n");
        print_heading(out, "Exit codes");
        print_sentences(out, command->exits);
    }
    print_footer(out, "More options, those of every command: `%s help`.", set->program);
}

void help_print_topic(const struct command_set *set, struct printer *out,
                      const struct command_topic *topic)
{
    (void)set;
    print_heading(out, topic->title);
    if (topic->text != NULL) {
        print_text(out, "\n");
        print_sentences(out, topic->text);
    }
    if (topic->entries != NULL) {
        print_text(out, "\n");
    }
    for (const struct option_spec *entry = topic->entries; entry != NULL && entry->name != NULL;
         entry++) {
        print_entry(out, entry->name, entry->help, OPTION_COLUMN);
    }
}
