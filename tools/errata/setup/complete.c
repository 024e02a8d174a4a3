/*
 * complete.c: `errata completion`, and the commands for shells and for the build: `__complete`,
 * `__man`. Completion calls a server only for values that no table has, with a short time limit; after
 * a failure it offers and prints nothing.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/resolve.h"
#include "tools/errata/engine/where.h"
#include "tools/errata/help/completion.h"
#include "tools/errata/help/help.h"
#include "tools/errata/help/manual.h"
#include "tools/errata/help/shells.h"
#include "tools/errata/methods/proto.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

/* Time limit of completion, since a person waits for it. */
#define COMPLETE_US 300000
/* Time limit of one call within it. */
#define COMPLETE_CALL_MS 250

/* --- methods and contexts --- */

/* `Service/Method` without the package. */
static struct slice short_path(const struct method_info *method)
{
    struct slice path = slice_after(method->path, 1);
    const uint8_t *slash = memchr(path.data, '/', path.size);
    size_t start = slash != NULL ? (size_t)(slash - path.data) : 0;

    while (start > 0 && path.data[start - 1] != '.') {
        start--;
    }
    return slice_after(path, start);
}

static bool is_only_one(const struct method_info *method)
{
    for (uint32_t i = 0; i < contract_method_count; i++) {
        if (&contract_methods[i] != method && slice_equal(contract_methods[i].name, method->name)) {
            return false;
        }
    }
    return true;
}

/* Offers the name without a service if only one service has it, and the full name once a slash is
 * typed. */
static void offer_methods(struct completion *completion)
{
    struct slice typed = completion->typed;
    bool slash = typed.size > 0 && memchr(typed.data, '/', typed.size) != NULL;

    for (uint32_t i = 0; i < contract_method_count; i++) {
        const struct method_info *method = &contract_methods[i];
        bool bare = !slash && is_only_one(method);

        if (method->stream != METHOD_BIDI_STREAM) {
            completion_offer(completion, bare ? method->name : short_path(method),
                             bare ? method->service : slice_of(NULL, 0));
        }
    }
}

static void offer_contexts(struct cli *cli, struct completion *completion)
{
    struct contexts contexts;

    if (where_read_contexts(cli, &contexts) == CLI_OK) {
        for (size_t i = 0; i < contexts.count; i++) {
            completion_offer(completion, contexts.list[i].name, contexts.list[i].server);
        }
    }
}

/* --- names known to a server --- */

static void offer_row(void *user, struct slice value, struct slice meaning)
{
    struct completion *completion = user;

    completion_offer(completion, value, meaning);
}

static void offer(void *user, struct completion *completion, struct slice name)
{
    struct cli *cli = user;

    if (slice_equal(name, SLICE("METHOD"))) {
        offer_methods(completion);
    } else if (slice_equal(name, SLICE("CONTEXT"))) {
        offer_contexts(cli, completion);
    } else if (slice_equal(name, SLICE("PROTO"))) {
        proto_offer(completion);
    }
    cli->options = completion->options;
    resolve_list(cli, name, completion->typed, offer_row, completion);
}

/* --- __complete --- */

static void on_alarm(int number)
{
    (void)number;
    _exit(0);
}

/* Silences further output and sets a time limit: the output printed until then is the result. */
static bool go_quiet(void)
{
    const struct itimerval limit = {.it_value = {.tv_usec = COMPLETE_US}};
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nowhere < 0 || dup2(nowhere, STDERR_FILENO) < 0) {
        return false;
    }
    (void)close(nowhere);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    return signal(SIGALRM, on_alarm) != SIG_ERR && setitimer(ITIMER_REAL, &limit, NULL) == 0;
}

static bool ends_with(const char *whole, const char *end)
{
    size_t size = strlen(whole);
    size_t end_size = strlen(end);

    return size >= end_size && strcmp(whole + size - end_size, end) == 0;
}

/* Bash passes its word and the whole line: if the word of the line is longer, bash already has its beginning. */
static size_t split_for_bash(struct cli *cli, char **words, size_t *ret_taken)
{
    size_t count = completion_split(&cli->kept, cli->options.words[2], words);
    const char *last = count > 0 ? words[count - 1] : "";
    const char *rest = cli->options.words[1];

    *ret_taken = ends_with(last, rest) ? strlen(last) - strlen(rest) : 0;
    return count;
}

/* `__complete SHELL -- WORD...`, the last being the one at the cursor; `__complete bash WORD LINE`. */
static enum cli_exit run_complete(struct cli *cli)
{
    char *split[COMPLETION_WORDS_MAX];
    struct completion completion = {
        .set = &command_set, .out = &cli->out, .arena = &cli->kept, .offer = offer, .user = cli};
    char **words = (char **)(uintptr_t)(cli->options.words + 1); /* only read, never changed */
    size_t count = cli->options.word_count - 1;

    if (strcmp(cli->options.words[0], "bash") == 0) {
        if (count != 2) {
            return cli_usage(cli, "bash: unexpected arguments; expected a word and a line");
        }
        count = split_for_bash(cli, split, &completion.taken);
        words = split + 1; /* skips the program's name */
        count -= count > 0 ? 1 : 0;
    }
    if (count == 0 || !go_quiet()) {
        return CLI_OK;
    }
    cli->timeout_ms = COMPLETE_CALL_MS;
    cli->once = true;
    completion_run(&completion, words, count);
    return CLI_OK;
}

/* --- completion --- */

static enum cli_exit run_completion(struct cli *cli)
{
    const struct shell *shell = shell_find(cli->options.words[0]);

    if (shell == NULL) {
        return cli_usage(cli, "unknown shell \"%s\"; expected bash, zsh or fish",
                         cli->options.words[0]);
    }
    print_text(&cli->out, "%s", shell->script);
    if (cli->out.terminal) {
        print_text(&cli->err, "\n");
        cli_note(cli, "%s", shell->where);
    }
    return CLI_OK;
}

/* --- __man --- */

static enum cli_exit run_man(struct cli *cli)
{
    static const struct command_example examples[] = {
        {"errata context add home --server 127.0.0.1:7443 --token-file admin.token",
         "only once: the server, and the token that it wrote on its first start"},
        {"errata layouts ingest inbox/", "documents arrive"},
        {"errata corrections capture --type EXTRACTION_LINE_CORRECTED --document invoice-17 \\\n"
         "  --before '{\"qty\": 10}' --after '{\"qty\": 12}'",
         "store a person's correction of the model's result"},
        {"errata examples \"$(errata layouts show invoice-18 --json |\n"
         "  jq -r .document.layoutFingerprint)\" --hints",
         "the examples for the prompt of the next document of that layout"},
        {NULL, NULL}};
    const struct manual manual = {.set = &command_set,
                                  .date = cli->options.words[0],
                                  .version = ERRATA_VERSION,
                                  .examples = examples,
                                  .see_also = ".Xr errata-bench 1 ,\n.Xr erratad 1\n"};

    manual_print(&manual, &cli->out);
    return CLI_OK;
}

const struct command completion_commands[] = {
    {.name = "completion",
     .arguments = "SHELL",
     .summary = "print the completion script for a shell",
     .help =
         "Prints a script for the completion of commands, options, their values, names of methods "
         "and contexts, files, and (if the server responds quickly) layouts, documents, "
         "corrections and tokens.\n\nFor bash: `source <(errata completion bash)` in ~/.bashrc. "
         "For zsh: the same command after compinit in ~/.zshrc. For fish: `errata completion fish "
         "| source` in ~/.config/fish/config.fish. Installed packages need no such line.",
     .examples = {{"errata completion bash > ~/.local/share/bash-completion/completions/errata",
                   "for every bash from now on"},
                  {"errata completion fish > ~/.config/fish/completions/errata.fish", NULL}},
     .run = run_completion},
    {.name = "__complete",
     .arguments = "SHELL [WORD...]",
     .summary = "print the completion candidates for a word",
     .help = "Used by the scripts that `errata completion` prints.",
     .hidden = true,
     .run = run_complete},
    {.name = "__man",
     .arguments = "DATE",
     .summary = "print the manual page",
     .help = "Used by the build to create the manual page.",
     .hidden = true,
     .run = run_man},
    {.name = NULL}};
