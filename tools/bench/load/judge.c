/*
 * judge.c: see judge.h.
 */
#include "tools/bench/load/judge.h"

#include "tools/bench/load/grpc_status.h"

#include <inttypes.h>
#include <stdarg.h>

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data

static void say(struct judge_sentences *sentences, struct slice text)
{
    if (sentences->count < JUDGE_SENTENCES_MAX && text.size > 0) {
        sentences->texts[sentences->count++] = text;
    }
}

struct slice judge_span(uint64_t span_ns, struct arena *arena)
{
    double us = (double)span_ns / 1e3;

    if (us < 9.995) {
        return arena_printf(arena, "%.2f us", us);
    }
    if (us < 99.95) {
        return arena_printf(arena, "%.1f us", us);
    }
    if (us < 999.5) {
        return arena_printf(arena, "%.0f us", us);
    }
    if (us < 999.5e3) {
        return arena_printf(arena,
                            us < 9995    ? "%.2f ms"
                            : us < 99950 ? "%.1f ms"
                                         : "%.0f ms",
                            us / 1e3);
    }
    return arena_printf(arena, us < 9.995e6 ? "%.2f s" : "%.1f s", us / 1e6);
}

struct slice judge_wrong(const struct run_wrong *wrong, struct arena *arena)
{
    const char *name = grpc_status_name((uint32_t)wrong->code);

    switch (wrong->wrong) {
    case ANSWER_RIGHT:
        return SLICE("right");
    case ANSWER_STATUS:
        return name != NULL ? slice_text(name)
                            : arena_printf(arena, "grpc-status %" PRIu64, wrong->code);
    case ANSWER_NO_STATUS:
        return SLICE("no grpc-status");
    case ANSWER_HTTP_STATUS:
        return arena_printf(arena, "HTTP status %" PRIu64, wrong->code);
    case ANSWER_FRAMING:
        return SLICE("not one whole message");
    case ANSWER_BYTES:
        return arena_printf(arena, "%" PRIu64 " bytes", wrong->code);
    case ANSWER_RESET:
        return arena_printf(arena, "RST_STREAM %" PRIu64, wrong->code);
    case ANSWER_LOST:
        return SLICE("no answer");
    }
    return slice_of(NULL, 0);
}

static int hex_value(uint8_t digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'A' && digit <= 'F') {
        return digit - 'A' + 10;
    }
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

struct slice judge_message(const struct run_wrong *wrong, struct arena *arena)
{
    uint8_t *text = arena_alloc(arena, wrong->message_size + 1);
    size_t size = 0;

    if (text == NULL) {
        return slice_of(NULL, 0);
    }
    for (size_t i = 0; i < wrong->message_size; i++) {
        const uint8_t *at = &wrong->message[i];
        bool escaped = *at == '%' && i + 2 < wrong->message_size && hex_value(at[1]) >= 0 &&
                       hex_value(at[2]) >= 0;

        text[size++] = escaped ? (uint8_t)(hex_value(at[1]) * 16 + hex_value(at[2])) : *at;
        i += escaped ? 2 : 0;
    }
    return slice_of(text, size);
}

static void judge_answers(const struct run *run, struct arena *arena,
                          struct judge_sentences *problems)
{
    for (size_t i = 0; i < run->wrong_count; i++) {
        const struct run_wrong *wrong = &run->wrongs[i];
        struct slice message = judge_message(wrong, arena);
        struct slice what = judge_wrong(wrong, arena);

        say(problems, arena_printf(arena,
                                   "%" PRIu64 " of %" PRIu64 " answers to %s were wrong: "
                                   "%.*s%s%.*s",
                                   wrong->count, run->tallies[wrong->kind].started,
                                   run->shared.kinds[wrong->kind].name, SHOWN(what),
                                   message.size > 0 ? ", " : "", SHOWN(message)));
    }
    if (run->problem[0] != '\0') {
        say(problems, arena_printf(arena, "a connection was lost: %s", run->problem));
    }
    if (run->measured_answered == 0 && run->wrong_total == 0) {
        say(problems, SLICE("nothing was measured"));
    }
}

/* The maximum delay of the generator, and its reason. */
struct lag_limit {
    uint64_t ns;
    struct slice why; /* reason, as the end of a sentence */
};

static struct lag_limit choose_lag_limit(const struct engine_result *result, uint64_t lag_max_ns,
                                         struct arena *arena)
{
    const struct engine_usage *client = &result->client;
    double rate = result->run.options.rate;
    double waited = client->seconds > 0 ? (double)client->waited_ns / 1e9 / client->seconds : 0;
    uint64_t interval_ns = rate > 0 ? (uint64_t)(1e9 / rate) : 0;
    uint64_t shared_ns = (uint64_t)(JUDGE_LAG_INTERVAL_SHARE * (double)interval_ns);
    struct slice interval = judge_span(interval_ns, arena);

    if (lag_max_ns > 0 || waited <= JUDGE_SHARED_SHARE || shared_ns <= JUDGE_LAG_NS) {
        return (struct lag_limit){lag_max_ns > 0 ? lag_max_ns : JUDGE_LAG_NS, SLICE("(--lag-max)")};
    }
    return (struct lag_limit){
        shared_ns, arena_printf(arena,
                                "(half of the %.*s between two calls, since other programs kept it "
                                "waiting for a core for %.0f%% of the time; --lag-max sets another "
                                "limit)",
                                SHOWN(interval), waited * 100)};
}

static void judge_generator(const struct engine_result *result, const struct run_tally *total,
                            uint64_t lag_max_ns, struct arena *arena, struct judgement *judgement)
{
    const struct run *run = &result->run;
    uint64_t lag_ns = histogram_percentile(&run->lag, 0.99);
    uint64_t p99_ns = histogram_percentile(&total->latency, 0.99);
    double share = JUDGE_LAG_SHARE * (double)p99_ns;
    struct lag_limit limit = choose_lag_limit(result, lag_max_ns, arena);
    struct slice lag = judge_span(lag_ns, arena);
    struct slice allowed = judge_span(limit.ns, arena);

    if (run->unstarted > 0) {
        say(&judgement->problems,
            arena_printf(arena,
                         "this program did not come to start %" PRIu64 " calls that were due",
                         run->unstarted));
    }
    if ((double)lag_ns > share && lag_ns > limit.ns) {
        say(&judgement->problems,
            arena_printf(arena,
                         "this program was too slow: one call in a hundred started %.*s late or "
                         "later, and %.*s are allowed %.*s",
                         SHOWN(lag), SHOWN(allowed), SHOWN(limit.why)));
    } else if ((double)lag_ns > share && run->lag.total_count > 0) {
        say(&judgement->notes,
            arena_printf(arena,
                         "this program started one call in a hundred %.*s late or later, "
                         "which is in the times; %.*s are allowed %.*s",
                         SHOWN(lag), SHOWN(allowed), SHOWN(limit.why)));
    }
    if (result->client.known &&
        (double)result->client.cpu_ns > JUDGE_BUSY_SHARE * 1e9 * result->client.seconds) {
        say(&judgement->notes,
            SLICE("this program used a whole core: the rate may be its own limit"));
    }
}

static void judge_server(const struct engine_result *result, size_t token_count,
                         struct arena *arena, struct judge_sentences *notes)
{
    const struct run *run = &result->run;
    double rate = run_rate(run);

    if (run->options.rate > 0 && run->options.call_limit == 0 && !result->stopped &&
        rate < 0.99 * run->options.rate) {
        say(notes, arena_printf(arena,
                                "the load was not sustained: %.0f of %.0f calls/s were "
                                "answered",
                                rate, run->options.rate));
    }
    if (run->unsent > 0) {
        say(notes,
            arena_printf(arena,
                         "%" PRIu64 " calls still waited for a stream when the run ended; each "
                         "counts with the time it had waited",
                         run->unsent));
    }
    if (run->options.rate <= 0 && run->options.in_flight > result->streams_allowed) {
        say(notes, arena_printf(arena,
                                "the server allows %u calls at a time on a connection: the others "
                                "of %" PRIu64 " waited",
                                result->streams_allowed, run->options.in_flight));
    }
    if (token_count > run->options.connection_count) {
        say(notes, arena_printf(arena, "%zu of %zu tokens were not used: each connection has one",
                                token_count - run->options.connection_count, token_count));
    }
    if (result->stopped) {
        say(notes, SLICE("the run was interrupted"));
    }
}

void judge_run(const struct engine_result *result, const struct run_tally *total,
               uint64_t lag_max_ns, size_t token_count, struct arena *arena,
               struct judgement *ret_judgement)
{
    *ret_judgement = (struct judgement){.problems = {.count = 0}};
    judge_answers(&result->run, arena, &ret_judgement->problems);
    judge_generator(result, total, lag_max_ns, arena, ret_judgement);
    judge_server(result, token_count, arena, &ret_judgement->notes);
}
