/*
 * values.c: see values.h.
 */
#include "tools/errata/engine/values.h"

#include "server/codec/contract.h"
#include "store/base/buffer.h"
#include "tools/errata/help/shells.h"
#include "tools/errata/terminal/suggest.h"

#include <ctype.h>

static const struct {
    const char *name;
    const char *enumeration;
} enums[] = {{"TYPE", "errata.v1.FeedbackEventType"},
             {"ROLE", "errata.v1.Role"},
             {"KIND", "errata.v1.EventKind"},
             {"MODE", "errata.v1.MatchMode"},
             {"STATUS", "errata.v1.MappingStatus"},
             {"TURNSTATUS", "errata.v1.TurnStatus"},
             {"VALIDATION", "errata.v1.ValidationOutcome"},
             {"ORDER", "errata.v1.LayoutCoverageOrder"},
             {"PROFILE", "errata.v1.SanitizeProfile"},
             {"ANNOTATOR", "errata.v1.AnnotatorKind"},
             {"VERDICT", "errata.v1.Verdict"},
             {"RULETYPE", "errata.v1.LearnedRuleType"},
             {"GROUPING", "errata.v1.ExampleGrouping"},
             {"STACKING", "errata.v1.ScoreStacking"},
             {"DECISION", "errata.v1.ReviewDecision"},
             {"OUTCOME", "errata.v1.DecisionOutcome"},
             {"CLASS", "errata.v1.DecisionClass"},
             {"FORM", "errata.v1.RuleType"},
             {"TOPIC", "errata.v1.TopicChange"},
             {"PURPOSE", "errata.v1.SimilarityProfile"}};

static const struct command_word parts[] = {
    {SLICE("errata.write"), SLICE("whether writes are accepted")},
    {SLICE("errata.embedder"), SLICE("whether a model compares texts")},
    {SLICE("errata.pdf"), SLICE("whether documents are measured")},
    {SLICE("errata.admin"), SLICE("whether a token can administer the server for 14 days more")},
    {SLICE("errata.tokens"), SLICE("whether no token ends within 14 days without a successor")},
    {SLICE("errata.clock"), SLICE("whether the server's clock agrees with its log")},
    {SLICE("errata.redis"), SLICE("whether a configured stream of decisions is read")}};

/* The enum of a value name; NULL if there is none. */
static const struct enum_info *find_enum(struct slice name)
{
    for (size_t i = 0; i < sizeof(enums) / sizeof(enums[0]); i++) {
        for (uint32_t j = 0;
             slice_equal(name, slice_text(enums[i].name)) && j < contract_enum_count; j++) {
            if (slice_equal(contract_enums[j]->full_name, slice_text(enums[i].enumeration))) {
                return contract_enums[j];
            }
        }
    }
    return NULL;
}

/* All values except 0, which means unspecified. */
static bool enum_word(const struct enum_info *info, size_t index, struct command_word *ret_word)
{
    size_t first = info->values[0].number == 0 ? 1 : 0;

    if (index + first >= info->count) {
        return false;
    }
    *ret_word = (struct command_word){info->values[index + first].short_name, {NULL, 0}};
    return true;
}

/* Lists of words that are not enums of the contract. */
static const struct command_word tables[] = {{SLICE("days"), SLICE("events by day")},
                                             {SLICE("types"), SLICE("events by type")},
                                             {SLICE("fields"), SLICE("corrected fields")},
                                             {SLICE("confidence"), SLICE("extractions by day")},
                                             {SLICE("layouts"), SLICE("layouts by frequency")}};
static const struct command_word days[] = {{SLICE("today"), {NULL, 0}},
                                           {SLICE("yesterday"), {NULL, 0}},
                                           {SLICE("7d"), SLICE("a week ago")},
                                           {SLICE("30d"), {NULL, 0}},
                                           {SLICE("90d"), {NULL, 0}}};
static const struct command_word sources[] = {{SLICE("tensorzero"), {NULL, 0}},
                                              {SLICE("langfuse"), {NULL, 0}},
                                              {SLICE("langsmith"), {NULL, 0}},
                                              {SLICE("argilla"), {NULL, 0}},
                                              {SLICE("labelstudio"), {NULL, 0}},
                                              {SLICE("phoenix"), {NULL, 0}},
                                              {SLICE("mlflow"), {NULL, 0}},
                                              {SLICE("csv"), SLICE("CSV or JSON lines, by --map")},
                                              {SLICE("errata"), SLICE("`errata export jsonl`")}};
static const struct command_word formats[] = {
    {SLICE("jsonl"), SLICE("JSON lines that `errata import errata` reads")},
    {SLICE("chat"), SLICE("messages for fine-tuning")},
    {SLICE("otlp"), SLICE("OpenTelemetry logs")}};
static const struct command_word answers[] = {{SLICE("yes"), {NULL, 0}}, {SLICE("no"), {NULL, 0}}};
static const struct {
    const char *name;
    const struct command_word *words;
    size_t count;
} lists[] = {{"PART", parts, sizeof(parts) / sizeof(parts[0])},
             {"TABLE", tables, sizeof(tables) / sizeof(tables[0])},
             {"SOURCE", sources, sizeof(sources) / sizeof(sources[0])},
             {"FORMAT", formats, sizeof(formats) / sizeof(formats[0])},
             {"ANSWER", answers, sizeof(answers) / sizeof(answers[0])},
             {"DAY", days, sizeof(days) / sizeof(days[0])}};

bool values_word(struct slice name, size_t index, struct command_word *ret_word)
{
    const struct enum_info *info = find_enum(name);

    if (info != NULL) {
        return enum_word(info, index, ret_word);
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (slice_equal(name, slice_text(lists[i].name)) && index < lists[i].count) {
            *ret_word = lists[i].words[index];
            return true;
        }
    }
    if (slice_equal(name, SLICE("SHELL"))) {
        size_t count = 0;

        while (shells[count].name != NULL) {
            count++;
        }
        if (index < count) {
            *ret_word = (struct command_word){slice_text(shells[index].name), {NULL, 0}};
            return true;
        }
    }
    return false;
}

/* Ignores the case of letters, and treats a dash as an underscore. */
static int canonical(uint8_t letter)
{
    return letter == '-' ? '_' : toupper(letter);
}

static bool means(struct slice given, struct slice word)
{
    if (given.size != word.size) {
        return false;
    }
    for (size_t i = 0; i < given.size; i++) {
        if (canonical(given.data[i]) != canonical(word.data[i])) {
            return false;
        }
    }
    return true;
}

/* Returns whether the given word is the end of the other word, after an underscore. */
static bool is_end_of(struct slice given, struct slice word)
{
    size_t before = word.size > given.size + 1 ? word.size - given.size : 0;

    return before > 0 && given.size > 0 && word.data[before - 1] == '_' &&
           means(given, slice_after(word, before));
}

/* Returns the only value that matches the text; NULL if there is none, or several. */
static const struct enum_value_info *find_value(const struct enum_info *info, struct slice given)
{
    const struct enum_value_info *found = NULL;
    unsigned ends = 0;

    for (uint32_t i = 0; i < info->count; i++) {
        const struct enum_value_info *value = &info->values[i];

        if (value->number == 0) {
            continue;
        }
        if (means(given, value->short_name) || means(given, value->name)) {
            return value;
        }
        if (is_end_of(given, value->short_name)) {
            found = value;
            ends++;
        }
    }
    return ends == 1 ? found : NULL;
}

/* Returns whether the given word equals one of the parts between underscores. */
static bool has_part(struct slice word, struct slice given)
{
    while (word.size > 0) {
        const uint8_t *end = memchr(word.data, '_', word.size);
        size_t size = end != NULL ? (size_t)(end - word.data) : word.size;

        if (means(given, slice_of(word.data, size))) {
            return true;
        }
        word = slice_after(word, end != NULL ? size + 1 : size);
    }
    return false;
}

static enum cli_exit no_such_word(struct cli *cli, const char *option, const char *given,
                                  const struct enum_info *info)
{
    struct command_word word;
    struct suggest suggest;
    struct buffer words;
    struct slice contained = {NULL, 0};

    suggest_init(&suggest, slice_text(given));
    buffer_init(&words, &cli->arena, 128);
    for (size_t i = 0; enum_word(info, i, &word); i++) {
        suggest_offer(&suggest, word.word);
        contained = has_part(word.word, slice_text(given)) ? word.word : contained;
        buffer_append(&words, i > 0 ? SLICE(", ") : SLICE(""));
        buffer_append(&words, word.word);
    }
    suggest.best = suggest.best.size > 0 ? suggest.best : contained;
    if (suggest.best.size > 0) {
        return cli_usage(cli, "--%s \"%s\": unknown value; did you mean %.*s? Expected one of %.*s",
                         option, given, SLICE_ARGS(suggest.best), SLICE_ARGS(words));
    }
    return cli_usage(cli, "--%s \"%s\": unknown value; expected one of %.*s", option, given,
                     SLICE_ARGS(words));
}

static const struct option_spec *find_option(const struct cli *cli, const char *name)
{
    for (size_t i = 0; i < cli->options.given_count; i++) {
        if (strcmp(cli->options.given[i].spec->name, name) == 0) {
            return cli->options.given[i].spec;
        }
    }
    return NULL;
}

enum cli_exit values_read(struct cli *cli, const char *option, const char *given,
                          struct slice *ret_word)
{
    const struct option_spec *spec = find_option(cli, option);
    const struct enum_info *info =
        spec != NULL && spec->value != NULL ? find_enum(slice_text(spec->value)) : NULL;
    const struct enum_value_info *value = NULL;

    if (info == NULL) {
        *ret_word = slice_text(given);
        return CLI_OK;
    }
    value = find_value(info, slice_text(given));
    if (value == NULL) {
        return no_such_word(cli, option, given, info);
    }
    *ret_word = value->short_name;
    return CLI_OK;
}
