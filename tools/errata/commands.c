/*
 * commands.c: see commands.h.
 */
#include "tools/errata/commands.h"

#include "store/base/buffer.h"
#include "tools/errata/engine/values.h"
#include "tools/errata/help/help.h"

static const struct option_spec global_options[] = {
    {"server", "HOST[:PORT]",
     "the server to call (see `errata help contexts`); port 7443 by default"},
    {"token-file", "FILE", "path of the file that contains the token"},
    {"tls", NULL, "connect by TLS; the server's certificate must have its name or address"},
    {"ca", "FILE", "trust these authorities (PEM) instead of the system's; implies --tls"},
    {"client-cert", "FILE", "the client's certificate (PEM); implies --tls"},
    {"client-key", "FILE", "the private key of --client-cert (PEM, not encrypted)"},
    {"context", "CONTEXT", "use the server, TLS and the token of this context"},
    {"json", NULL, "print replies as proto JSON, one per line, and failures as JSON"},
    {"timeout", "SPAN", "time limit of a call, such as 500ms or 2m; default 30s, none for streams"},
    {"no-color", NULL, "disable colours, as the environment variable NO_COLOR does"},
    {"help", NULL, "show a description of this command, with examples"},
    {"version", NULL, "show the version of this program"},
    {NULL, NULL, NULL}};

/* Groups of commands, in the order in which a new user needs them. */
static const struct command_group groups[] = {
    {"Connect to a server", NULL, NULL, health_commands, NULL},
    {"Connect to a server", "context", "keep servers and tokens by name", context_commands,
     "servers"},
    {"Connect to a server", NULL, NULL, completion_commands, NULL},
    {"Collect documents and corrections", "layouts", "measure documents and list their layouts",
     layout_commands, "PDFs"},
    {"Collect documents and corrections", "corrections", "store and list corrections by people",
     correction_commands, NULL},
    {"Collect documents and corrections", "mappings", "map customers' SKUs to internal SKUs",
     mapping_commands, "SKUs"},
    {"Collect documents and corrections", "verdicts", "review verdicts on receipts",
     verdict_commands, "receipts"},
    {"Collect documents and corrections", "rules", "use rules learned from verdicts", rule_commands,
     "learned rules"},
    {"Collect documents and corrections", "reviews", "review runs by a structured form",
     review_commands, "reviews"},
    {"Collect documents and corrections", "fragments",
     "word the guidance that reviews add to prompts", fragment_commands, "reviews"},
    {"Collect documents and corrections", "labels", "export verdicts for training", label_commands,
     NULL},
    {"Collect documents and corrections", NULL, NULL, transfer_commands, NULL},
    {"Build prompts and measure the effect", NULL, NULL, example_commands, NULL},
    {"Build prompts and measure the effect", "prompts", "manage prompt templates and fill them",
     prompt_commands, NULL},
    {"Build prompts and measure the effect", "decisions",
     "record and classify people's decisions on agents' output", decision_commands, "decisions"},
    {"Build prompts and measure the effect", "proposals",
     "vote about rules that are proposed for agents", proposal_commands, "guidelines"},
    {"Build prompts and measure the effect", "guidelines", "list and retire rules for agents",
     guideline_commands, "guidelines"},
    {"Build prompts and measure the effect", "agent", "build the prompts of agents", agent_commands,
     "guidelines"},
    {"Build prompts and measure the effect", "turns",
     "read feedback from conversations and find strategies", turn_commands, NULL},
    {"Build prompts and measure the effect", "text", "compare texts and compute their vectors",
     text_commands, NULL},
    {"Build prompts and measure the effect", "extractions", "record results of a model",
     extraction_commands, NULL},
    {"Build prompts and measure the effect", "analytics", "report what was corrected and learned",
     analytics_commands, "reports"},
    {"Build prompts and measure the effect", NULL, NULL, explain_commands, NULL},
    {"Operate the server", "token", "manage tokens", token_commands, NULL},
    {"Operate the server", "org", "manage organisations", org_commands, NULL},
    {"Operate the server", "events", "read the event log", event_commands, NULL},
    {"Operate the server", "admin", "inspect, verify and back up the server", admin_commands, NULL},
    {"Operate the server", NULL, NULL, call_commands, NULL},
    {"Operate the server", NULL, NULL, method_commands, NULL},
    {"Operate the server", NULL, NULL, proto_commands, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

const struct command_set command_set = {
    .program = "errata",
    .summary = "store corrections and reuse them as examples",
    .about =
        "Errata stores people's corrections of model output and serves them as examples for the "
        "next model call. This program is the client of its server, `erratad`. It captures and "
        "lists corrections, ingests documents, builds prompts, matches customers' SKUs, reports "
        "the effect of corrections, manages tokens, and calls any method.",
    .groups = groups,
    .options = global_options,
    .topics = command_topics,
    .word = values_word};

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* --- unknown names --- */

/* `errata X Y` of each group X that has a command Y, in the cli's arena. */
static struct slice commands_named(struct cli *cli, const char *name)
{
    struct command_walk walk = {0, 0};
    const struct command *command = NULL;
    struct buffer list;

    buffer_init(&list, &cli->arena, 128);
    while ((command = command_next(&command_set, &walk)) != NULL) {
        if (command->group != NULL && same(command->name, name)) {
            buffer_printf(&list, "%s`errata %s %s`", list.size > 0 ? ", " : "", command->group,
                          name);
        }
    }
    return buffer_slice(&list);
}

/* Reports an unknown name. `next` is the following word or NULL, since the two may be in the wrong
 * order. */
static enum cli_exit unknown_first(struct cli *cli, const char *typed, const char *next,
                                   bool topics)
{
    struct slice near = command_nearest(&command_set, NULL, typed, topics);
    struct slice named = commands_named(cli, typed);

    if (next != NULL && command_find(&command_set, next, typed) != NULL) {
        return cli_usage(cli,
                         "unknown command; expected the group before the command: `errata %s %s`",
                         next, typed);
    }
    if (named.size > 0) {
        return cli_usage(cli, "unknown command \"%s\"; expected its group, too: %.*s", typed,
                         SLICE_ARGS(named));
    }
    if (near.size > 0) {
        return cli_usage(cli, "unknown command \"%s\"; did you mean \"%s\"?", typed,
                         (const char *)near.data);
    }
    return cli_usage(cli, "unknown command \"%s\"; expected a command that `errata help` lists",
                     typed);
}

static enum cli_exit unknown_second(struct cli *cli, const char *group, const char *typed)
{
    struct slice near = command_nearest(&command_set, group, typed, false);

    if (near.size > 0) {
        return cli_usage(cli, "unknown command \"%s %s\"; did you mean \"%s %s\"?", group, typed,
                         group, (const char *)near.data);
    }
    return cli_usage(cli, "unknown command \"%s %s\"; expected a command that `errata %s` lists",
                     group, typed, group);
}

/* --- reading --- */

/* The topic or command named by the command line. */
struct named {
    const struct command_topic *topic; /* topic after `help`; or NULL */
    bool help; /* the first word is `help` */
};

/* Takes the next word, with global options before it; NULL at the end. */
static enum cli_exit take_word(struct cli *cli, struct options_input *input, const char **ret_word)
{
    *ret_word = NULL;
    if (!options_read(&cli->options, global_options, NULL, input, 0)) {
        return cli_usage(cli, "%s", cli->options.problem);
    }
    if (input->next != input->end) {
        *ret_word = *input->next++;
    }
    return CLI_OK;
}

static enum cli_exit read_second(struct cli *cli, struct options_input *input)
{
    const char *word = NULL;
    enum cli_exit result = take_word(cli, input, &word);

    if (result != CLI_OK || word == NULL || same(word, "help")) {
        return result;
    }
    cli->command = command_find(&command_set, cli->group->name, word);
    return cli->command != NULL ? CLI_OK : unknown_second(cli, cli->group->name, word);
}

/* Reads the words that name a command. Leaves cli->command NULL if there are none; help is then
 * printed. */
static enum cli_exit read_name(struct cli *cli, struct options_input *input, struct named *named)
{
    const char *word = NULL;
    enum cli_exit result = take_word(cli, input, &word);

    if (result == CLI_OK && same(word, "help")) {
        named->help = true;
        result = take_word(cli, input, &word);
    }
    if (result != CLI_OK || word == NULL) {
        return result;
    }
    cli->group = command_find_group(&command_set, word);
    if (cli->group != NULL) {
        return read_second(cli, input);
    }
    named->topic = named->help ? command_find_topic(&command_set, word) : NULL;
    if (named->topic != NULL) {
        return CLI_OK;
    }
    cli->command = command_find(&command_set, NULL, word);
    return cli->command != NULL
               ? CLI_OK
               : unknown_first(cli, word, input->next != input->end ? *input->next : NULL,
                               named->help);
}

/* Returns whether a flag of all commands was given, unless the command has an option of the same
 * name. */
static bool wants(const struct cli *cli, const char *flag)
{
    for (size_t i = 0; i < cli->options.given_count; i++) {
        const struct option_spec *spec = cli->options.given[i].spec;

        if (spec->value == NULL && same(spec->name, flag)) {
            return true;
        }
    }
    return false;
}

/* Prints the version or the requested help; also handles a command line without a command. */
static void answer(struct cli *cli, const struct named *named)
{
    const struct command *command = cli->command;

    cli->command = NULL;
    if (wants(cli, "version")) {
        print_text(&cli->out, "errata %s\n", ERRATA_VERSION);
    } else if (command != NULL) {
        help_print_command(&command_set, &cli->out, command);
    } else if (named->topic != NULL) {
        help_print_topic(&command_set, &cli->out, named->topic);
    } else if (cli->group != NULL) {
        help_print_group(&command_set, &cli->out, cli->group);
    } else if (named->help || options_has(&cli->options, "help")) {
        help_print_all(&command_set, &cli->out);
    } else {
        help_print_overview(&command_set, &cli->out);
    }
}

/* Returns the name of the first missing value. */
static struct slice missing_value(const struct cli *cli)
{
    struct command_values values = {.rest = cli->command->arguments};
    struct slice value = {NULL, 0};

    for (size_t i = 0; command_next_value(&values, &value) && i < cli->options.word_count; i++) {
    }
    return value;
}

static enum cli_exit check_words(struct cli *cli)
{
    const struct command *command = cli->command;
    const struct command_words words = command_count_words(command);

    if (cli->options.word_count > words.max) {
        const char *extra = cli->options.words[words.max];
        const char *before = words.max > 0 ? cli->options.words[words.max - 1] : "";

        return cli_usage(cli, "unexpected argument \"%s\"%s", extra,
                         before[0] == '{' ? "; expected JSON with spaces inside quotes, '{...}'"
                                          : "");
    }
    if (cli->options.word_count < words.min) {
        struct slice missing = missing_value(cli);

        return cli_usage(cli, "%.*s: missing; expected `errata %s%s%s %s`", SLICE_ARGS(missing),
                         command->group != NULL ? command->group : "",
                         command->group != NULL ? " " : "", command->name, command->arguments);
    }
    return CLI_OK;
}

/* Returns whether the command line contains a flag. The form of error messages must be known before
 * the line is parsed. */
static bool has_flag(int count, char **words, const char *flag)
{
    for (int i = 1; i < count && !same(words[i], "--"); i++) {
        if (same(words[i], flag)) {
            return true;
        }
    }
    return false;
}

enum cli_exit command_read(struct cli *cli, int count, char **words)
{
    struct options_input input = {words + (count > 0 ? 1 : 0), words + count};
    struct named named = {.topic = NULL};
    enum cli_exit result = CLI_OK;
    bool read = false;

    cli->json = has_flag(count, words, "--json");
    if (has_flag(count, words, "--no-color")) {
        cli->out.colour = false;
        cli->err.colour = false;
    }
    result = read_name(cli, &input, &named);
    if (result != CLI_OK) {
        return result;
    }
    if (cli->command == NULL || named.help) {
        answer(cli, &named);
        return CLI_OK;
    }
    read = options_read(&cli->options, cli->command->options, global_options, &input, SIZE_MAX);
    if (wants(cli, "help") || wants(cli, "version")) {
        answer(cli, &named);
        return CLI_OK;
    }
    return read ? check_words(cli) : cli_usage(cli, "%s", cli->options.problem);
}
