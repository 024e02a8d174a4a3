/*
 * help.c: see help.h.
 */
#include "tools/bench/help.h"

#include "tools/bench/arguments.h"
#include "tools/bench/mixes.h"
#include "tools/errata/terminal/wrap.h"

#include <stdio.h>

/* The terms, and the column at which their meanings begin. */
#define INDENT 2
#define OPTION_COLUMN 33
#define CALL_COLUMN 19
#define TERM_BYTES 80

static const char usage[] =
    "Usage: errata-bench --server HOST:PORT [--token-file FILE] --mix examples=90,capture=10 \\\n"
    "           --rate 2000 --duration 30s --connections 10 [OPTIONS]\n"
    "       errata-bench --preload EVENTS --data DIR [OPTIONS]\n"
    "       errata-bench --compare A.json B.json [--csv FILE]\n\n";

static const char head[] =
    "Open loop (--rate, --sweep): calls start on a schedule, and latency is measured from the\n"
    "scheduled time, so a stall of the server affects every call that it delays. Closed loop\n"
    "(--in-flight): each response starts the next call. Every response is checked; one wrong\n"
    "response makes the run invalid.\n\n"
    "Calls that write are sent only to an organisation without data, or to one whose first data\n"
    "this program wrote, unless --allow-writes is given.\n\n"
    "Options:\n";

static const char tail[] =
    "\nPlaceholders in templates, inside texts or instead of integers; each has a fixed width:\n"
    "  ${uniform:A..B}             a number from A to B; ${uniform:0..999:%08d} sets its width\n"
    "  ${zipf:A..B:S}              the same, zipf distributed: A most often; S is the skew, often "
    "1\n"
    "  ${serial}                   a number that is unique in this run\n"
    "  ${layout}                   a layout of --preload: 00000000 to --layouts - 1\n"
    "  ${hex:N} ${text:N} ${uuid}  N random hex digits, N letters of text, a random UUID\n"
    "  $${                         the characters ${\n"
    "\nExamples:\n"
    "  errata-bench --preload 1M --data /tmp/bench-data\n"
    "  errata-bench --tokens /tmp/bench-data/bench.tokens --mix examples --in-flight 10\n"
    "  errata-bench --mix examples=90,capture=10 --sweep 500..50000 --html load.html\n"
    "  errata-bench --rate 500 --arrival poisson \\\n"
    "      --call 'one=errata.v1.EventService/GetEvent{\"seq\": ${uniform:1..9000}}'\n"
    "  errata-bench --compare before.json after.json\n"
    "  errata-bench --server host:9000 --descriptors shop.binpb --rate 100 \\\n"
    "      --call 'find=shop.v1.Items/Find{\"sku\": \"${zipf:0..99999:1.1}\"}'\n"
    "\nExit codes:\n"
    "  0  measured, and every answer was correct\n"
    "  1  an invalid run: wrong answers, a lost connection, or a generator that was too slow;\n"
    "     or --compare of an invalid report\n"
    "  2  an invalid command line, template or file\n"
    "  3  the server cannot be reached\n"
    "  4  a report cannot be written\n"
    "  130  interrupted; the report covers the time until then\n";

static void print_option(struct printer *out, const struct option_spec *option)
{
    char term[TERM_BYTES];

    (void)snprintf(term, sizeof(term), "--%s%s%s", option->name, option->value != NULL ? " " : "",
                   option->value != NULL ? option->value : "");
    wrap_entry(out, term, option->help, INDENT, OPTION_COLUMN);
}

void help_print_usage(struct printer *out)
{
    print_text(out, "%s`errata-bench --help` lists the options, the calls and the exit codes.\n",
               usage);
}

void help_print(struct printer *out)
{
    print_text(out, "errata-bench: measure a gRPC server under load\n\n%s%s", usage, head);
    for (const struct option_spec *option = arguments_options; option->name != NULL; option++) {
        print_option(out, option);
    }
    print_text(out, "\nNamed calls for --mix:\n");
    for (const struct mix_call *call = mix_calls; call->name != NULL; call++) {
        wrap_entry(out, call->name, call->summary, INDENT, CALL_COLUMN);
    }
    print_text(out, "%s", tail);
}

void help_print_calls(struct printer *out)
{
    for (const struct mix_call *call = mix_calls; call->name != NULL; call++) {
        print_text(out, "%s=%s%s\n", call->name, call->method, call->json);
    }
}
