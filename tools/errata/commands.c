/*
 * commands.c: see commands.h. Finding a command, and help at every level.
 */
#include "tools/errata/commands.h"

#include "tools/errata/terminal/suggest.h"

#include <stdarg.h>

const struct option_spec command_global_options[] = {
    {"server", "HOST:PORT", "the server; else ERRATA_SERVER, else 127.0.0.1:7443"},
    {"token-file", "FILE", "the file that holds the token; else ERRATA_TOKEN_FILE"},
    {"json", NULL, "print replies as proto JSON, one a line, and errors as JSON"},
    {"timeout", "SPAN", "how long a call may take, such as 500ms or 2m; 30s unless it streams"},
    {"no-color", NULL, "no colours; NO_COLOR in the environment does the same"},
    {"help", NULL, "what this command does, with examples"},
    {"version", NULL, "the version of this program"},
    {NULL, NULL, NULL}};

static const struct command *const groups[] = {
    call_commands,    method_commands, token_commands,  org_commands,   correction_commands,
    example_commands, event_commands,  layout_commands, admin_commands, health_commands};
#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

static const char exit_codes[] =
    "Exit codes:\n"
    "  0  done\n"
    "  1  the server answered with an error, or a part of it is not serving\n"
    "  2  the command line or the request is not valid\n"
    "  3  no answer: the server can't be reached, or the connection was lost\n"
    "  4  a file can't be read, or the output not be written\n"
    "  130  interrupted\n";

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* --- help --- */

static void print_options(struct printer *out, const struct option_spec *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        int used = (int)strlen(options->name) + (options->value != NULL ? 1 : 0) +
                   (options->value != NULL ? (int)strlen(options->value) : 0);

        print_text(out, "  --%s%s%s%*s  %s\n", options->name, options->value != NULL ? " " : "",
                   options->value != NULL ? options->value : "", used < 24 ? 24 - used : 0, "",
                   options->help);
    }
}

static void print_command_line(struct printer *out, const struct command *command)
{
    int used =
        (int)strlen(command->name) + (command->group != NULL ? (int)strlen(command->group) + 1 : 0);

    print_text(out, "  %s%s%s%*s  %s\n", command->group != NULL ? command->group : "",
               command->group != NULL ? " " : "", command->name, used < 24 ? 24 - used : 0, "",
               command->summary);
}

static void print_all_help(struct printer *out)
{
    print_text(out, "errata: the command line of Errata, which keeps what people corrected\n\n"
                    "Usage: errata [OPTIONS] COMMAND [ARGUMENTS]\n\nCommands:\n");
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        for (const struct command *command = groups[i]; command->name != NULL; command++) {
            print_command_line(out, command);
        }
    }
    print_text(out, "\nOptions of every command:\n");
    print_options(out, command_global_options);
    print_text(
        out,
        "\nExamples:\n"
        "  export ERRATA_TOKEN_FILE=/var/lib/errata/admin.token\n"
        "  errata health\n"
        "  errata token create --role SERVICE --expires 90d\n"
        "  errata layouts ingest invoices/\n"
        "  errata examples LAYOUT --limit 5\n"
        "  errata call CorrectionService/GetExamples '{\"layout_fingerprint\": \"LAYOUT\"}'\n"
        "\n%s\n`errata COMMAND --help` says more.\n",
        exit_codes);
}

static void print_group_help(struct printer *out, const char *group)
{
    print_text(out, "Usage: errata %s COMMAND [ARGUMENTS]\n\nCommands:\n", group);
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        for (const struct command *command = groups[i]; command->name != NULL; command++) {
            if (same(command->group, group)) {
                print_command_line(out, command);
            }
        }
    }
    print_text(out, "\n`errata %s COMMAND --help` says more.\n", group);
}

static void print_command_help(struct printer *out, const struct command *command)
{
    print_text(out, "Usage: errata %s%s%s%s%s [OPTIONS]\n\n%s\n",
               command->group != NULL ? command->group : "", command->group != NULL ? " " : "",
               command->name, command->arguments[0] != '\0' ? " " : "", command->arguments,
               command->help);
    if (command->options != NULL) {
        print_text(out, "\nOptions:\n");
        print_options(out, command->options);
    }
    print_text(out, "\nOptions of every command:\n");
    print_options(out, command_global_options);
}

/* --- finding --- */

static bool group_exists(const char *name)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        if (same(groups[i]->group, name)) {
            return true;
        }
    }
    return false;
}

static const struct command *find_command(const char *group, const char *name)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        for (const struct command *command = groups[i]; command->name != NULL; command++) {
            bool same_group = group == NULL ? command->group == NULL : same(command->group, group);

            if (same_group && same(command->name, name)) {
                return command;
            }
        }
    }
    return NULL;
}

/* The nearest first word (without a group), or the nearest name in a group. */
static struct slice nearest(const char *group, const char *typed)
{
    struct suggest suggest;

    suggest_init(&suggest, slice_text(typed));
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        for (const struct command *command = groups[i]; command->name != NULL; command++) {
            if (group == NULL) {
                suggest_offer(&suggest,
                              slice_text(command->group != NULL ? command->group : command->name));
            } else if (same(command->group, group)) {
                suggest_offer(&suggest, slice_text(command->name));
            }
        }
    }
    return suggest.best;
}

static enum cli_exit unknown_command(struct cli *cli, const char *group, const char *typed)
{
    struct slice near = nearest(group, typed);

    if (near.size > 0) {
        return cli_usage(cli, "there is no command \"%s%s%s\"; did you mean \"%s%s%s\"?",
                         group != NULL ? group : "", group != NULL ? " " : "", typed,
                         group != NULL ? group : "", group != NULL ? " " : "",
                         (const char *)near.data);
    }
    return cli_usage(cli, "there is no command \"%s%s%s\"", group != NULL ? group : "",
                     group != NULL ? " " : "", typed);
}

/* Takes the words that name a command, with global options around them. Leaves cli->command NULL
 * where help for all, or for a group, is what is wanted; `ret_group` says which. */
static enum cli_exit read_name(struct cli *cli, struct options_input *input, const char **ret_group)
{
    const char *word = NULL;

    if (!options_read(&cli->options, command_global_options, NULL, input, 0)) {
        return cli_usage(cli, "%s", cli->options.problem);
    }
    if (input->next == input->end) {
        return CLI_OK;
    }
    word = *input->next++;
    if (!group_exists(word)) {
        cli->command = find_command(NULL, word);
        return cli->command != NULL ? CLI_OK : unknown_command(cli, NULL, word);
    }
    *ret_group = word;
    if (!options_read(&cli->options, command_global_options, NULL, input, 0)) {
        return cli_usage(cli, "%s", cli->options.problem);
    }
    if (input->next == input->end) {
        return CLI_OK;
    }
    cli->command = find_command(word, *input->next);
    if (cli->command == NULL) {
        return unknown_command(cli, word, *input->next);
    }
    input->next++;
    return CLI_OK;
}

/* Answers --help, --version and a command line without a command. */
static enum cli_exit answer_help(struct cli *cli, const char *group)
{
    const struct command *command = cli->command;

    cli->command = NULL;
    if (options_has(&cli->options, "version")) {
        print_text(&cli->out, "errata %s\n", ERRATA_VERSION);
    } else if (command != NULL) {
        print_command_help(&cli->out, command);
    } else if (options_has(&cli->options, "help")) {
        group != NULL ? print_group_help(&cli->out, group) : print_all_help(&cli->out);
    } else {
        group != NULL ? print_group_help(&cli->err, group) : print_all_help(&cli->err);
        return CLI_USAGE;
    }
    return CLI_OK;
}

enum cli_exit command_read(struct cli *cli, int count, char **words)
{
    struct options_input input = {words + (count > 0 ? 1 : 0), words + count};
    const char *group = NULL;
    bool read = false;
    enum cli_exit result = CLI_OK;

    /* `errata help X` is `errata X --help`. */
    if (count > 1 && same(words[1], "help")) {
        static const struct option_spec help = {"help", NULL, NULL};

        cli->options.given[cli->options.given_count++] = (struct option_given){&help, ""};
        input.next++;
    }
    result = read_name(cli, &input, &group);
    if (result != CLI_OK) {
        return result;
    }
    if (cli->command == NULL) {
        return answer_help(cli, group);
    }
    read = options_read(&cli->options, cli->command->options, command_global_options, &input,
                        cli->command->words_max > 0 ? cli->command->words_max : SIZE_MAX);
    if (options_has(&cli->options, "help") || options_has(&cli->options, "version")) {
        return answer_help(cli, group);
    }
    if (!read) {
        return cli_usage(cli, "%s", cli->options.problem);
    }
    if (cli->options.word_count > cli->command->words_max) {
        return cli_usage(cli, "\"%s\" is one word too many",
                         cli->options.words[cli->command->words_max]);
    }
    if (cli->options.word_count < cli->command->words_min) {
        return cli_usage(cli, "something is missing: errata %s%s%s %s", group != NULL ? group : "",
                         group != NULL ? " " : "", cli->command->name, cli->command->arguments);
    }
    return CLI_OK;
}
