/*
 * manual.c: see manual.h. Each sentence begins on a new line, as recommended for mdoc.
 */
#include "tools/errata/help/manual.h"

#include "store/base/buffer.h"
#include "tools/errata/help/help.h"

#include <ctype.h>

/* Maximum columns of a line of the source. */
#define LINE_COLUMNS 68
/* Memory for the texts of one command. */
#define PIECE_BYTES_MAX ((size_t)4 * 1024 * 1024)

/* A text that is being broken into lines. */
struct filling {
    struct printer *out;
    unsigned column;
    bool bold; /* inside backquotes */
};

/* Writes one character, escaped if mdoc treats it specially; returns its size in the source. */
static unsigned put_letter(struct printer *out, char letter)
{
    static const struct {
        char letter;
        const char *escaped;
    } escapes[] = {{'\\', "\\e"},  {'-', "\\-"},    {'"', "\\(dq"}, {'~', "\\(ti"},
                   {'^', "\\(ha"}, {'\'', "\\(aq"}, {'`', "\\(ga"}};

    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        if (letter == escapes[i].letter) {
            print_text(out, "%s", escapes[i].escaped);
            return (unsigned)strlen(escapes[i].escaped);
        }
    }
    print_text(out, "%c", letter);
    return 1;
}

static void put_escaped(struct printer *out, struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        (void)put_letter(out, (char)text.data[i]);
    }
}

static void end_line(struct filling *filling)
{
    if (filling->column > 0) {
        print_text(filling->out, "\n");
        filling->column = 0;
    }
}

/* Writes one word of a sentence, with characters between backquotes in bold. */
static void put_word(struct filling *filling, struct slice word)
{
    struct printer *out = filling->out;

    if (filling->column + word.size > LINE_COLUMNS) {
        end_line(filling);
    }
    /* A dot at the start of a line would begin a macro. */
    print_text(out, "%s%s", filling->column > 0 ? " " : "",
               filling->column == 0 && word.data[0] == '.' ? "\\&" : "");
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] == '`') {
            filling->bold = !filling->bold;
            print_text(out, "%s", filling->bold ? "\\fB" : "\\fP");
            filling->column += 3;
        } else {
            filling->column += put_letter(out, (char)word.data[i]);
        }
    }
    filling->column++;
}

static bool ends_sentence(struct slice word, const char *rest)
{
    char last = (char)word.data[word.size - 1];

    return (last == '.' || last == '?' || last == '!') && rest[0] == ' ' &&
           (isupper((unsigned char)rest[1]) || rest[1] == '`');
}

/* Writes sentences as lines of text; two line feeds begin a paragraph. */
static void put_sentences(struct printer *out, const char *text)
{
    struct filling filling = {.out = out};

    while (text[0] != '\0') {
        size_t size = strcspn(text, " \n");

        if (size > 0) {
            struct slice word = slice_of(text, size);

            put_word(&filling, word);
            text += size;
            if (ends_sentence(word, text)) {
                end_line(&filling);
            }
        } else if (strncmp(text, "\n\n", 2) == 0) {
            end_line(&filling);
            print_text(out, ".Pp\n");
            text += 2;
        } else {
            text++;
        }
    }
    end_line(&filling);
}

static void begin_list(struct printer *out)
{
    print_text(out, ".Bl -tag -width Ds\n");
}

static void put_term(struct printer *out, struct slice term)
{
    print_text(out, ".It \"\\fB");
    put_escaped(out, term);
    print_text(out, "\\fP\"\n");
}

/* --- pieces --- */

static void put_options(const struct command_set *set, struct printer *out,
                        const struct option_spec *options)
{
    struct arena arena;

    arena_init(&arena, PIECE_BYTES_MAX);
    begin_list(out);
    for (; options->name != NULL; options++) {
        put_term(out, help_option_term(&arena, options));
        put_sentences(out, (const char *)help_option_meaning(set, &arena, options).data);
    }
    print_text(out, ".El\n");
    arena_deinit(&arena);
}

static void put_examples(struct printer *out, const struct command_example *examples)
{
    if (examples->line == NULL) {
        return;
    }
    print_text(out, ".Bd -literal -offset indent\n");
    for (; examples->line != NULL; examples++) {
        const char *line = examples->line;

        if (examples->what != NULL) {
            print_text(out, "# ");
            put_escaped(out, slice_text(examples->what));
            print_text(out, "\n");
        }
        while (line[0] != '\0') {
            size_t size = strcspn(line, "\n");

            print_text(out, "%s", line[0] == '.' ? "\\&" : "");
            put_escaped(out, slice_of(line, size));
            print_text(out, "\n");
            line += size + (line[size] == '\n' ? 1 : 0);
        }
    }
    print_text(out, ".Ed\n");
}

static void put_command(const struct command_set *set, struct printer *out,
                        const struct command *command)
{
    struct arena arena;
    struct slice name = {NULL, 0};

    arena_init(&arena, PIECE_BYTES_MAX);
    name = help_command_name(&arena, command);
    print_text(out, ".It \"\\fB");
    put_escaped(out, name);
    print_text(out, "\\fP %s", command->options != NULL ? "[OPTIONS] " : "");
    put_escaped(out, slice_text(command->arguments));
    print_text(out, "\"\n");
    put_sentences(out, command->help);
    if (command->exits != NULL) {
        print_text(out, ".Pp\n");
        put_sentences(out, command->exits);
    }
    if (command->options != NULL) {
        put_options(set, out, command->options);
    }
    put_examples(out, command->examples);
    arena_deinit(&arena);
}

static void put_commands(const struct command_set *set, struct printer *out)
{
    const char *section = NULL;

    print_text(out, ".Sh COMMANDS\n");
    for (const struct command_group *group = set->groups; group->commands != NULL; group++) {
        if (section == NULL || strcmp(section, group->section) != 0) {
            print_text(out, "%s.Ss %s\n", section != NULL ? ".El\n" : "", group->section);
            begin_list(out);
            section = group->section;
        }
        for (const struct command *command = group->commands; command->name != NULL; command++) {
            if (!command->hidden) {
                put_command(set, out, command);
            }
        }
    }
    print_text(out, "%s", section != NULL ? ".El\n" : "");
}

static void put_topics(const struct command_set *set, struct printer *out)
{
    for (const struct command_topic *topic = set->topics; topic->name != NULL; topic++) {
        print_text(out, ".Sh %s\n", topic->manual);
        if (topic->text != NULL) {
            put_sentences(out, topic->text);
        }
        if (topic->entries != NULL) {
            begin_list(out);
        }
        for (const struct option_spec *entry = topic->entries; entry != NULL && entry->name != NULL;
             entry++) {
            put_term(out, slice_text(entry->name));
            put_sentences(out, entry->help);
        }
        print_text(out, "%s", topic->entries != NULL ? ".El\n" : "");
    }
}

static void put_capital(struct printer *out, char letter)
{
    print_text(out, "%c", toupper((unsigned char)letter));
}

static void put_head(const struct manual *manual, struct printer *out)
{
    const struct command_set *set = manual->set;

    print_text(out,
               ".\\\" Made by the program itself, from the tables that it reads.\n.Dd %s\n.Dt ",
               manual->date);
    for (const char *letter = set->program; *letter != '\0'; letter++) {
        put_capital(out, *letter);
    }
    print_text(out, " 1\n.Os \"Errata %s\"\n.Sh NAME\n.Nm %s\n.Nd %s\n", manual->version,
               set->program, set->summary);
    print_text(out, ".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar ARGUMENTS\n.Op Ar OPTIONS\n.Nm\n"
                    ".Cm help\n.Op Ar COMMAND | TOPIC\n.Sh DESCRIPTION\n");
    put_sentences(out, set->about);
    print_text(out, ".Pp\nOptions of every command:\n");
    put_options(set, out, set->options);
}

void manual_print(const struct manual *manual, struct printer *out)
{
    put_head(manual, out);
    put_commands(manual->set, out);
    put_topics(manual->set, out);
    print_text(out, ".Sh EXAMPLES\n");
    put_examples(out, manual->examples);
    print_text(out, ".Sh SEE ALSO\n%s", manual->see_also);
}
