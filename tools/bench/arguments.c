/*
 * arguments.c: see arguments.h. Reads the options; arguments_calls.c reads the calls.
 */
#include "tools/bench/arguments_internal.h"

#include "tools/bench/preload/preload.h"
#include "tools/errata/config/settings.h"

#include <stdlib.h>

#define NS_A_SECOND UINT64_C(1000000000)

const struct option_spec arguments_options[] = {
    {"server", "HOST:PORT",
     "server to call; default: ERRATA_SERVER, then " ARGUMENTS_SERVER_DEFAULT},
    {"tls", NULL, "connect by TLS; the server's certificate must have its name or address"},
    {"ca", "FILE", "trust these authorities (PEM) instead of the system's; implies --tls"},
    {"client-cert", "FILE", "the client's certificate (PEM); implies --tls"},
    {"client-key", "FILE", "the private key of --client-cert (PEM, not encrypted)"},
    {"token-file", "FILE", "file with a token; may be repeated; default: ERRATA_TOKEN_FILE"},
    {"tokens", "FILE", "file with one token per line; connections use them round-robin"},
    {"header", "NAME:VALUE", "header to send with each call; may be repeated"},
    {"mix", "NAME=WEIGHT,...",
     "calls and their weights: names from the list below, --call or --requests"},
    {"call", "NAME=METHOD@FILE",
     "define a call by a template file, or by NAME=METHOD{\"json\": ...}"},
    {"requests", "NAME=METHOD@FILE", "define a call by a file of encoded requests"},
    {"descriptors", "FILE",
     "descriptors of other services, written by protoc --descriptor_set_out"},
    {"layouts", "N", "number of layouts for ${layout}; default 5000"},
    {"skew", "S", "zipf skew of ${layout}; default 0: uniform"},
    {"serial-from", "N",
     "first value of ${serial}; default: taken from the clock, so that runs differ"},
    {"idempotency-keys", NULL, "send a unique idempotency key with each call"},
    {"allow-writes", NULL, "allow writes to organisations that have other data"},
    {"plain", NULL, "plain HTTP/2 instead of gRPC: POST a body, expect status 200"},
    {"get", NULL, "with --plain: GET without a body"},
    {"rate", "R", "open loop: start R calls per second in all, independent of answers"},
    {"arrival", "fixed|poisson", "spacing of calls in an open loop; default fixed"},
    {"in-flight", "N", "closed loop: N calls at a time on each connection; default 1"},
    {"connections", "N", "number of connections; default 1"},
    {"duration", "SPAN", "length of the measurement; default 10s"},
    {"calls", "N", "stop after N answered calls"},
    {"warm-up", "SPAN", "length of the warm-up with the same load, not measured; default 1s"},
    {"lag-max", "SPAN",
     "maximum p99 of this program's own delay in a valid run; default: 1ms, or half of the time "
     "between two calls if other programs use its core"},
    {"seed", "N", "seed of all random values; default 1"},
    {"cpu", "N", "run only on this CPU core"},
    {"headers", "indexed|literal",
     "send the path and the token as HPACK index or in full; default: indexed"},
    {"sweep", "FROM..TO[xF|+R]", "open loop at rising rates, to find the highest sustained rate"},
    {"knee-p99", "SPAN", "p99 limit of --sweep; default: ten times the p99 of the lowest rate"},
    {"expect-status", "[NAME=]CODE", "expected status, by name or number; default OK"},
    {"expect-bytes", "[NAME=]A..B",
     "expected length of responses, including gRPC's prefix of 5 bytes"},
    {"server-pid", "PID",
     "process whose CPU and memory to report; default: the process that listens at the port"},
    {"json", "FILE", "write the report as JSON; - is standard output"},
    {"csv", "FILE", "write the report, or the comparison, as CSV; - is standard output"},
    {"html", "FILE", "write the report as a self-contained HTML page"},
    {"compare", "A.json B.json", "compare two reports: print the ratio of each figure"},
    {"title", "TEXT", "title of the report"},
    {"quiet", NULL, "print no table and no progress"},
    {"no-color", NULL, "disable colours, as the variable NO_COLOR does"},
    {"preload", "EVENTS", "fill a new store with EVENTS events (such as 1M) instead of measuring"},
    {"data", "DIR", "with --preload: the data folder; new or empty"},
    {"organizations", "N", "with --preload: number of organisations; default 10"},
    {"event-bytes", "N",
     "with --preload: size of an event in a response with examples; default 1242"},
    {"extractions", "N",
     "with --preload: number of extractions, each correcting the one before it; default 0"},
    {"mappings", "N", "with --preload: number of confirmed mappings; default 0"},
    {"customers", "N", "with --preload: customers of each organisation; default 100"},
    {"families", "N",
     "with --preload: layout families of each organisation, with documents; default 0: no "
     "documents"},
    {"one-by-one", NULL, "with --preload: write each event through the store's functions; slow"},
    {"list-calls", NULL, "list the named calls for --mix, with their templates"},
    {"help", NULL, "print this help"},
    {"version", NULL, "print the version"},
    {NULL, NULL, NULL}};

/* An option with a number. */
struct number_option {
    const char *name;
    uint64_t *value;
    uint64_t min;
    uint64_t max;
};

static enum err read_numbers(const struct options *options, const struct number_option *numbers,
                             size_t count, struct fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = options_get(options, numbers[i].name);
        uint64_t number = 0;

        if (text == NULL) {
            continue;
        }
        if (!parse_count(text, &number) || number < numbers[i].min || number > numbers[i].max) {
            return fault_say(fault, ERR_INVALID,
                             "--%s: invalid number \"%s\"; expected %llu to %llu", numbers[i].name,
                             text, (unsigned long long)numbers[i].min,
                             (unsigned long long)numbers[i].max);
        }
        *numbers[i].value = number;
    }
    return OK;
}

static enum err read_span(const struct options *options, const char *name, uint64_t *value_ns,
                          struct fault *fault)
{
    const char *text = options_get(options, name);

    if (text != NULL && !parse_span(text, value_ns)) {
        return fault_say(
            fault, ERR_INVALID,
            "--%s: invalid duration \"%s\"; expected a duration such as 500ms, 10s or 2m", name,
            text);
    }
    return OK;
}

/* Reads an option that has two possible words; the first word is the default. */
static enum err read_choice(const struct options *options, const char *name, const char *first,
                            const char *second, bool *ret_is_second, struct fault *fault)
{
    const char *text = options_get(options, name);

    if (text == NULL || strcmp(text, first) == 0) {
        return OK;
    }
    if (strcmp(text, second) == 0) {
        *ret_is_second = true;
        return OK;
    }
    return fault_say(fault, ERR_INVALID, "--%s: unknown value \"%s\"; expected %s or %s", name,
                     text, first, second);
}

static enum err read_list(const struct options *options, const char *name,
                          struct arguments_list *list, struct fault *fault)
{
    const char *value = NULL;
    size_t at = 0;

    while ((value = options_next(options, name, &at)) != NULL) {
        if (list->count == ARGUMENTS_LIST_MAX) {
            return fault_say(fault, ERR_INVALID, "--%s: given too often; expected at most %d times",
                             name, ARGUMENTS_LIST_MAX);
        }
        list->values[list->count++] = value;
    }
    return OK;
}

static bool is_given(const char *text)
{
    return text != NULL && *text != '\0';
}

static struct settings_tls_given tls_options(const struct options *options)
{
    return (struct settings_tls_given){.tls = options_has(options, "tls") ? "true" : NULL,
                                       .ca = options_get(options, "ca"),
                                       .client_cert = options_get(options, "client-cert"),
                                       .client_key = options_get(options, "client-key")};
}

static struct settings_tls_given tls_variables(void)
{
    return (struct settings_tls_given){.tls = getenv("ERRATA_TLS"),
                                       .ca = getenv("ERRATA_CA"),
                                       .client_cert = getenv("ERRATA_CLIENT_CERT"),
                                       .client_key = getenv("ERRATA_CLIENT_KEY")};
}

/* Any option for TLS selects it and overrides all of the variables, as in errata. */
static enum err read_tls(struct arguments *arguments, struct fault *fault)
{
    struct settings_tls_given given = tls_options(&arguments->options);

    if (!settings_tls_given(&given)) {
        given = tls_variables();
    }
    arguments->tls = settings_tls_given(&given);
    arguments->tls_files =
        (struct tls_files){.cert = given.client_cert, .key = given.client_key, .ca = given.ca};
    if (is_given(given.client_cert) != is_given(given.client_key)) {
        return fault_say(fault, ERR_INVALID,
                         "--%s: missing; expected both --client-cert and --client-key",
                         is_given(given.client_cert) ? "client-key" : "client-cert");
    }
    return OK;
}

static enum err read_target(struct arguments *arguments, struct fault *fault)
{
    const struct options *options = &arguments->options;
    const char *server = options_get(options, "server");
    enum err err = read_list(options, "token-file", &arguments->token_files, fault);

    server = server != NULL ? server : getenv("ERRATA_SERVER");
    arguments->server = is_given(server) ? server : ARGUMENTS_SERVER_DEFAULT;
    arguments->tokens = options_get(options, "tokens");
    if (err == OK && arguments->tokens != NULL && arguments->token_files.count > 0) {
        err = fault_say(fault, ERR_INVALID,
                        "--tokens: given together with --token-file; expected one of the two");
    }
    if (arguments->tokens == NULL && arguments->token_files.count == 0 &&
        getenv("ERRATA_TOKEN_FILE") != NULL) {
        arguments->token_files.values[arguments->token_files.count++] = getenv("ERRATA_TOKEN_FILE");
    }
    if (err == OK) {
        err = read_list(options, "header", &arguments->headers, fault);
    }
    if (err == OK) {
        err = read_tls(arguments, fault);
    }
    if (err == OK) {
        err = read_list(options, "server-pid", &arguments->server_pids, fault);
    }
    return err;
}

static enum err check_sweep_length(const struct sweep_range *range, struct fault *fault)
{
    double rate = range->from;

    for (size_t runs = 1; rate < range->to; runs++) {
        if (runs == ARGUMENTS_SWEEP_RUNS_MAX) {
            return fault_say(fault, ERR_INVALID,
                             "--sweep: more than %d runs; expected fewer rates or a larger step",
                             ARGUMENTS_SWEEP_RUNS_MAX);
        }
        rate = range->step == SWEEP_TIMES ? rate * range->by : rate + range->by;
    }
    return OK;
}

/* Reads the options of the load: --rate, --sweep or --in-flight, and the options that depend on
 * them. */
static enum err read_loop(struct arguments *arguments, struct fault *fault)
{
    const struct options *options = &arguments->options;
    const char *rate = options_get(options, "rate");
    const char *sweep = options_get(options, "sweep");
    bool closed = options_has(options, "in-flight");

    if ((rate != NULL) + (sweep != NULL) + closed > 1) {
        return fault_say(fault, ERR_INVALID,
                         "--rate, --in-flight, --sweep: more than one given; expected one");
    }
    if (rate != NULL && (!parse_number(rate, &arguments->rate) || arguments->rate <= 0 ||
                         arguments->rate > ARGUMENTS_RATE_MAX)) {
        return fault_say(fault, ERR_INVALID,
                         "--rate: invalid rate \"%s\"; expected calls per second, up to %d", rate,
                         ARGUMENTS_RATE_MAX);
    }
    if (sweep != NULL) {
        arguments->sweep = true;
        if (!parse_sweep(sweep, &arguments->sweep_range) ||
            arguments->sweep_range.to > ARGUMENTS_RATE_MAX) {
            return fault_say(
                fault, ERR_INVALID,
                "--sweep: invalid rates \"%s\"; expected 1000..50000, 1000..50000x1.2 or "
                "1000..5000+500",
                sweep);
        }
        if (arguments->call_limit > 0) {
            return fault_say(
                fault, ERR_INVALID,
                "--calls: given together with --sweep; expected --duration, the length of a run");
        }
        return check_sweep_length(&arguments->sweep_range, fault);
    }
    if (rate == NULL && options_has(options, "arrival")) {
        return fault_say(fault, ERR_INVALID,
                         "--arrival: given for a closed loop; expected --rate or --sweep");
    }
    if (!arguments->sweep && options_has(options, "knee-p99")) {
        return fault_say(fault, ERR_INVALID,
                         "--knee-p99: given without --sweep; expected both or neither");
    }
    return OK;
}

static enum err read_shape(struct arguments *arguments, struct fault *fault)
{
    const struct options *options = &arguments->options;
    uint64_t cpu = 0;
    const struct number_option numbers[] = {
        {"in-flight", &arguments->in_flight, 1, ARGUMENTS_IN_FLIGHT_MAX},
        {"connections", &arguments->connection_count, 1, ARGUMENTS_CONNECTIONS_MAX},
        {"calls", &arguments->call_limit, 1, UINT64_C(1) << 40},
        {"seed", &arguments->seed, 0, UINT64_C(1) << 53},
        {"serial-from", &arguments->serial_from, 0, UINT64_C(1) << 53},
        {"cpu", &cpu, 0, 1023}};
    const struct {
        const char *name;
        uint64_t *ret_ns;
    } spans[] = {{"duration", &arguments->duration_ns},
                 {"warm-up", &arguments->warm_up_ns},
                 {"lag-max", &arguments->lag_max_ns},
                 {"knee-p99", &arguments->knee_p99_ns}};
    enum err err = read_numbers(options, numbers, sizeof(numbers) / sizeof(numbers[0]), fault);

    arguments->has_serial = options_has(options, "serial-from");
    arguments->cpu = options_has(options, "cpu") ? (int)cpu : -1;
    for (size_t i = 0; err == OK && i < sizeof(spans) / sizeof(spans[0]); i++) {
        err = read_span(options, spans[i].name, spans[i].ret_ns, fault);
    }
    if (err != OK) {
        return err;
    }
    err = read_choice(options, "arrival", "fixed", "poisson", &arguments->poisson, fault);
    if (err != OK) {
        return err;
    }
    err = read_choice(options, "headers", "indexed", "literal", &arguments->literal_headers, fault);
    if (err != OK) {
        return err;
    }
    if (options_has(options, "calls") && !options_has(options, "duration")) {
        arguments->duration_ns = 0;
    } else if (arguments->duration_ns == 0) {
        return fault_say(fault, ERR_INVALID, "--duration: 0; expected more than 0");
    }
    return read_loop(arguments, fault);
}

static enum err read_reports(struct arguments *arguments, struct fault *fault)
{
    const struct options *options = &arguments->options;

    arguments->json = options_get(options, "json");
    arguments->csv = options_get(options, "csv");
    arguments->html = options_get(options, "html");
    arguments->title = options_get(options, "title");
    arguments->quiet = options_has(options, "quiet");
    if (arguments->json != NULL && arguments->csv != NULL && strcmp(arguments->json, "-") == 0 &&
        strcmp(arguments->csv, "-") == 0) {
        return fault_say(fault, ERR_INVALID,
                         "--csv: --json already uses standard output; expected a file name");
    }
    if (arguments->html != NULL && strcmp(arguments->html, "-") == 0) {
        return fault_say(
            fault, ERR_INVALID,
            "--html: standard output is not supported; expected a file name, such as load.html");
    }
    return OK;
}

/* The first report is the value of the option, the second one a positional argument. */
static enum err read_compare(struct arguments *arguments, struct fault *fault)
{
    const struct options *options = &arguments->options;

    arguments->way = ARGUMENTS_COMPARE;
    arguments->csv = options_get(options, "csv");
    arguments->quiet = options_has(options, "quiet");
    if (options->word_count != 1) {
        return fault_say(fault, ERR_INVALID,
                         "--compare: %zu reports; expected two files: --compare A.json B.json",
                         options->word_count + 1);
    }
    arguments->compared[0] = options_get(options, "compare");
    arguments->compared[1] = options->words[0];
    return OK;
}

static enum err read_preload(struct arguments *arguments, struct fault *fault)
{
    const struct options *options = &arguments->options;
    const struct number_option numbers[] = {
        {"preload", &arguments->preload_events, 1, PRELOAD_EVENTS_MAX},
        {"organizations", &arguments->organization_count, 1, PRELOAD_ORGS_MAX},
        {"extractions", &arguments->extraction_count, 0, PRELOAD_EXTRACTIONS_MAX},
        {"mappings", &arguments->mapping_count, 0, PRELOAD_MAPPINGS_MAX},
        {"customers", &arguments->customer_count, 1, PRELOAD_CUSTOMERS_MAX},
        {"families", &arguments->family_count, 1, PRELOAD_FAMILIES_MAX},
        {"event-bytes", &arguments->event_bytes, PRELOAD_EVENT_BYTES_MIN, PRELOAD_EVENT_BYTES_MAX}};
    static const char *const others[] = {"data",      "organizations", "extractions", "mappings",
                                         "customers", "families",      "event-bytes", "one-by-one"};

    if (!options_has(options, "preload")) {
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            if (options_has(options, others[i])) {
                return fault_say(fault, ERR_INVALID,
                                 "--%s: given without --preload; expected both or neither",
                                 others[i]);
            }
        }
        return OK;
    }
    arguments->way = ARGUMENTS_PRELOAD;
    arguments->data = options_get(options, "data");
    arguments->preload_plain =
        options_has(options, "one-by-one") || options_has(options, "families");
    if (arguments->data == NULL) {
        return fault_say(fault, ERR_INVALID,
                         "--data: missing; expected the folder that --preload fills");
    }
    return read_numbers(options, numbers, sizeof(numbers) / sizeof(numbers[0]), fault);
}

/* Returns the defaults of all options. */
static struct arguments defaults(void)
{
    return (struct arguments){.way = ARGUMENTS_MEASURE,
                              .layout_count = PRELOAD_LAYOUTS_DEFAULT,
                              .in_flight = 1,
                              .connection_count = 1,
                              .duration_ns = 10 * NS_A_SECOND,
                              .warm_up_ns = NS_A_SECOND,
                              .seed = 1,
                              .cpu = -1,
                              .organization_count = PRELOAD_ORGS_DEFAULT,
                              .customer_count = PRELOAD_CUSTOMERS_DEFAULT,
                              .event_bytes = PRELOAD_EVENT_BYTES_DEFAULT};
}

static enum err read_all(struct arena *arena, struct arguments *arguments, struct fault *fault)
{
    const struct number_option layouts = {"layouts", &arguments->layout_count, 1,
                                          PRELOAD_LAYOUTS_MAX};
    enum err err = read_numbers(&arguments->options, &layouts, 1, fault);

    if (err == OK) {
        err = read_preload(arguments, fault);
    }
    if (err == OK) {
        err = read_target(arguments, fault);
    }
    if (err == OK) {
        err = read_shape(arguments, fault);
    }
    if (err == OK) {
        err = read_reports(arguments, fault);
    }
    return err != OK ? err : arguments_read_calls(arena, arguments, fault);
}

enum err arguments_read(struct arena *arena, int count, char **words, struct fault *fault,
                        struct arguments *ret_arguments)
{
    struct options_input input = {words + (count > 0 ? 1 : 0), words + count};
    struct arguments arguments = defaults();
    enum err err = OK;

    if (!options_read(&arguments.options, arguments_options, NULL, &input, SIZE_MAX)) {
        return fault_say(fault, ERR_INVALID, "%s", arguments.options.problem);
    }
    arguments.no_colour = options_has(&arguments.options, "no-color");
    if (options_has(&arguments.options, "help")) {
        arguments.way = ARGUMENTS_HELP;
    } else if (options_has(&arguments.options, "version")) {
        arguments.way = ARGUMENTS_VERSION;
    } else if (options_has(&arguments.options, "list-calls")) {
        arguments.way = ARGUMENTS_CALLS;
    } else if (options_has(&arguments.options, "compare")) {
        err = read_compare(&arguments, fault);
    } else if (arguments.options.word_count > 0) {
        return fault_say(fault, ERR_INVALID,
                         "unknown argument \"%s\"; expected an option that begins with --",
                         arguments.options.words[0]);
    } else {
        err = read_all(arena, &arguments, fault);
    }
    if (err == OK) {
        *ret_arguments = arguments;
    }
    return err;
}
