/*
 * topics.c: pages of `errata help` about more than one command; also part of the manual page.
 */
#include "tools/errata/commands.h"

static const struct option_spec environment[] = {
    {"ERRATA_SERVER", NULL, "the server to call, HOST:PORT"},
    {"ERRATA_TOKEN_FILE", NULL, "path of the file that contains the token"},
    {"ERRATA_CONTEXT", NULL, "name of the context to use"},
    {"ERRATA_TIMEOUT", NULL, "time limit of a call, such as 30s"},
    {"XDG_CONFIG_HOME", NULL, "folder of configuration files; default ~/.config"},
    {"NO_COLOR", NULL, "if set and not empty, output has no colours"},
    {"TERM", NULL, "if `dumb`, output has no colours and no progress display"},
    {"COLUMNS", NULL, "width of the output, instead of the width that the terminal reports"},
    {"LC_ALL, LC_CTYPE, LANG", NULL,
     "the first of these that is set selects the character set: UTF-8, or else ASCII"},
    {NULL, NULL, NULL}};

static const struct option_spec files[] = {
    {"~/.config/errata/config.json", NULL,
     "JSON file with all contexts and the name of the current one, maintained by `errata context`. "
     "It contains tokens, so a file that other users own or can read is refused. Unknown members "
     "are preserved"},
    {"DIR/admin.token", NULL, "administrator's token, which the server writes on its first start"},
    {"DIR/address", NULL, "address at which that server listens"},
    {NULL, NULL, NULL}};

static const struct option_spec exit_codes[] = {
    {"0", NULL, "done"},
    {"1", NULL, "the server returned an error, or one of its services is not serving"},
    {"2", NULL, "the command line or the request is invalid; nothing was sent"},
    {"3", NULL, "no response: the server is unreachable, or the connection was lost"},
    {"4", NULL, "a file cannot be read, or the output cannot be written"},
    {"5", NULL, "`errata admin verify` found damage"},
    {"130", NULL, "interrupted"},
    {NULL, NULL, NULL}};

const struct command_topic command_topics[] = {
    {"contexts", "select the server and the token to use", "SERVERS AND TOKENS",
     "A context is a named pair of a server and a token. Contexts are stored in a private file "
     "(see `errata help files`). `errata context add` creates a context, and `errata context use` "
     "makes it the current one.\n\nThe server is taken from the first of these that is given: "
     "`--server`, the context of `--context`, ERRATA_SERVER, the context of ERRATA_CONTEXT, the "
     "current context. The default is 127.0.0.1:7443. The token is taken from the first of these: "
     "`--token-file`, `--context`, ERRATA_TOKEN_FILE, ERRATA_CONTEXT, the current context.\n\nThe "
     "token of a context is sent only to the server of that context. For another server, specify a "
     "token too.\n\nTLS is used if `--tls`, `--ca`, `--client-cert` or `--client-key` is given; "
     "else "
     "as the context specifies, whose options `errata context add` stores; else if one of "
     "ERRATA_TLS, "
     "ERRATA_CA, ERRATA_CLIENT_CERT and ERRATA_CLIENT_KEY is set. The authorities of the system "
     "are trusted unless `--ca` names others.\n\n`errata context show` prints the server and the "
     "token that commands use, and "
     "their sources. `errata health` prints the server that it checked.",
     NULL},
    {"input", "formats of values: JSON, files, times and names", "VALUES",
     "JSON and long texts can be given on the command line, in a file (`@FILE`) or on standard "
     "input (`-`).\n\nTimes use the format of RFC 3339, such as 2026-11-21T08:30:00Z, or a time "
     "span: 500ms, 5s, 2m, 12h, 90d, 2w. A time span is relative to now: in the past for past "
     "events (`--since 12h`), and in the future for future ones (`--expires 90d`).\n\nNames such "
     "as roles and types are accepted in upper and lower case. Options can be placed before or "
     "after arguments, as `--name value` or `--name=value`. All words after `--` are arguments.",
     NULL},
    {"output", "formats of output: tables, JSON, colours and progress", "OUTPUT",
     "On a terminal, tables fit its width: the least important columns are omitted first. Other "
     "output, such as a pipe, gets all columns in full. Times are UTC; on a terminal, lists show "
     "times relative to now.\n\nWith `--json`, each reply is one line of proto JSON on standard "
     "output, and each page of a list is one line. Other messages are lines of JSON on standard "
     "error: `{\"code\", \"message\", \"fields\", \"retryMs\", \"hint\"}` for a failure, "
     "and `{\"note\"}` for other messages.\n\nColours and progress appear only on terminals. "
     "TERM=dumb "
     "disables both, and `--no-color` disables colours.",
     NULL},
    {"environment", "environment variables", "ENVIRONMENT", NULL, environment},
    {"files", "configuration and server files", "FILES", NULL, files},
    {"exit-codes", "meaning of the exit codes", "EXIT STATUS", NULL, exit_codes},
    {NULL, NULL, NULL, NULL, NULL}};
