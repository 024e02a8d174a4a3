/*
 * topics.c: pages of `errata help` about more than one command; the manual page has them too.
 */
#include "tools/errata/commands.h"

static const struct option_spec environment[] = {
    {"ERRATA_SERVER", NULL, "the server, HOST:PORT"},
    {"ERRATA_TOKEN_FILE", NULL, "the file that holds the token"},
    {"ERRATA_CONTEXT", NULL, "the context that is used"},
    {"ERRATA_TIMEOUT", NULL, "the time limit of a call"},
    {"XDG_CONFIG_HOME", NULL, "the folder of configuration files, instead of ~/.config"},
    {"NO_COLOR", NULL, "where it is set and not empty, there are no colours"},
    {"TERM", NULL, "with `dumb` there are no colours and no progress"},
    {"COLUMNS", NULL, "the terminal's width, where it is another than the terminal says"},
    {"LC_ALL, LC_CTYPE, LANG", NULL,
     "where the first of these that is set names no UTF-8, a terminal gets ASCII"},
    {NULL, NULL, NULL}};

static const struct option_spec files[] = {
    {"~/.config/errata/config.json", NULL,
     "contexts, and the current one: JSON, made and changed by `errata context`. It holds tokens: "
     "one that others may read, or that is not yours, is refused. Members that this program does "
     "not know are kept"},
    {"DIR/admin.token", NULL,
     "the token that a server writes on its first start into its folder: an administrator's"},
    {"DIR/address", NULL, "where that server listens"},
    {NULL, NULL, NULL}};

static const struct option_spec exit_codes[] = {
    {"0", NULL, "done"},
    {"1", NULL, "the server answered with an error, or a part of it is not serving"},
    {"2", NULL, "the command line or the request is not valid; nothing was sent"},
    {"3", NULL, "no answer: the server can't be reached, or the connection was lost"},
    {"4", NULL, "a file can't be read, or the output not be written"},
    {"5", NULL, "`errata admin verify` found damage"},
    {"130", NULL, "interrupted"},
    {NULL, NULL, NULL}};

const struct command_topic command_topics[] = {
    {"contexts", "which server is asked, and with which token", "SERVERS AND TOKENS",
     "A context is a server and its token under a name. They are kept in a private file (`errata "
     "help files`); `errata context add` makes one, `errata context use` makes it "
     "the current one.\n\nWhich server is asked: the one of `--server`; else of the context that "
     "`--context` names; else of ERRATA_SERVER; else of the context that ERRATA_CONTEXT names; "
     "else of the current context; else 127.0.0.1:7443. Tokens are looked for in the same order: "
     "`--token-file`, `--context`, ERRATA_TOKEN_FILE, ERRATA_CONTEXT, the current context.\n\nThe "
     "token of a context is sent only to that context's server: if another server is named, a "
     "token has to be named too.\n\n`errata context show` says what is used here, and why; `errata "
     "health` says which server it asked.",
     NULL},
    {"input", "values: JSON, files, times, words", "VALUES",
     "JSON and long texts are given on the command line, in a file (`@FILE`) or on standard input "
     "(`-`).\n\nTimes are given by RFC 3339, such as 2026-11-21T08:30:00Z, or as a span: 500ms, "
     "5s, 2m, 12h, 90d, 2w. A span means so long ago where something has happened (`--since 12h`), "
     "and so long from now where something is to come (`--expires 90d`).\n\nWords such as roles "
     "and types are accepted in any case. Options come before words or after them, as `--name "
     "value` or `--name=value`; after `--` everything is a word.",
     NULL},
    {"output", "tables, JSON, colours and progress", "OUTPUT",
     "On a terminal, tables keep to its width: what matters least is left out first. Elsewhere, as "
     "in a pipe, everything is printed whole. Times are UTC; on a terminal, lists say how long ago "
     "something was.\n\nWith `--json` each reply is one line of proto JSON on standard output, a "
     "list one line a page; and everything else is a line of JSON on standard error: "
     "`{\"code\", \"message\", \"fields\", \"retryMs\", \"hint\"}` of a failure, `{\"note\"}` of "
     "anything else.\n\nColours and progress are only for terminals. There are none with "
     "`--no-color` (progress stays), and with TERM=dumb.",
     NULL},
    {"environment", "variables that count", "ENVIRONMENT", NULL, environment},
    {"files", "files that are read or written", "FILES", NULL, files},
    {"exit-codes", "what the exit codes say", "EXIT STATUS", NULL, exit_codes},
    {NULL, NULL, NULL, NULL, NULL}};
