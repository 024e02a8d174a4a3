/*
 * help.c: see help.h.
 */
#include "tools/bench/help.h"

#include "tools/bench/arguments.h"
#include "tools/bench/mixes.h"
#include "tools/errata/terminal/wrap.h"

#include <stdio.h>

/* Terms, and where what they mean begins. */
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
    "Open loop (--rate, --sweep): calls start by a schedule, and their time counts from when they\n"
    "were due, so that a stall of the server is not hidden. Closed loop (--in-flight): each "
    "answer\n"
    "starts the next call. Every answer is checked; with one wrong answer the run is invalid.\n\n"
    "Calls that write go only to an organisation that has no data, or whose first data this "
    "program\n"
    "wrote; --allow-writes lets them go to any other.\n\n"
    "Options:\n";

static const char tail[] =
    "\nPlaceholders in templates, inside texts or in place of whole numbers; all of a fixed "
    "width:\n"
    "  ${uniform:A..B}             a number from A to B; ${uniform:0..999:%08d} says its width\n"
    "  ${zipf:A..B:S}              the same, A most often; S is the skew, 1 for what people read\n"
    "  ${serial}                   a number that no other place of this run has\n"
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
    "  0  measured, and every answer was right\n"
    "  1  an invalid run: wrong answers, a lost connection, or a generator that was too slow;\n"
    "     or --compare of an invalid report\n"
    "  2  the command line, a template or a file is not valid\n"
    "  3  the server can't be reached\n"
    "  4  a report can't be written\n"
    "  130  interrupted; what was measured so far is reported\n";

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
    print_text(out, "errata-bench: how a gRPC server does under load, and where it ends\n\n%s%s",
               usage, head);
    for (const struct option_spec *option = arguments_options; option->name != NULL; option++) {
        print_option(out, option);
    }
    print_text(out, "\nCalls of Errata that --mix knows:\n");
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
