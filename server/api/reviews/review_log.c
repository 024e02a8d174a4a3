/*
 * review_log.c: see review_log.h.
 */
#include "server/api/reviews/review_log.h"

#include "server/auth/auth.h"
#include "server/pipeline/env.h"
#include "store/base/logger.h"

/* Maximum members of a line: the organisation, and two for each of the triggers. */
#define FIELDS_MAX 16

/* A log line that is being built. */
struct line {
    char org[UUID_TEXT_BYTES];
    struct logger_field fields[FIELDS_MAX];
    size_t count;
};

static void add_number(struct line *line, const char *name, uint64_t number)
{
    line->fields[line->count++] = LOGGER_NUMBER_FIELD(name, number);
}

static void add_text(struct line *line, const char *name, const char *text)
{
    line->fields[line->count++] = LOGGER_TEXT_FIELD(name, slice_text(text));
}

/* Begins a line; false if it would not be logged. */
static bool begin(const struct service *service, struct line *line)
{
    if (!logger_wants(LOGGER_DEBUG)) {
        return false;
    }
    uuid_format(service->principal->org.uuid, line->org);
    line->count = 0;
    line->fields[line->count++] = LOGGER_TEXT_FIELD("org", slice_of(line->org, sizeof(line->org)));
    return true;
}

static void end(const char *message, const struct line *line)
{
    logger_write(LOGGER_DEBUG, message, line->fields, line->count);
}

static void count_one(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* --- forms --- */

static size_t count_items(struct slice run)
{
    struct slice item = {NULL, 0};
    size_t count = 0;

    while (view_next(&run, &item)) {
        count++;
    }
    return count;
}

void review_log_form(const struct service *service, const struct review_input *input)
{
    static const char *const names[] = {
        [REVIEW_INFORMATION_PRESENT] = "information_present",
        [REVIEW_BAD_FORMAT] = "bad_format",
        [REVIEW_WRONG_INFORMATION] = "wrong_information",
        [REVIEW_WRONG_PHYSICAL_DIMENSIONS] = "wrong_physical_dimensions",
    };
    static const char *const answers[] = {
        [REVIEW_ABSENT] = "absent",
        [REVIEW_FALSE] = "false",
        [REVIEW_TRUE] = "true",
    };
    struct line line;

    count_one(&service->env->review_counters.normalised);
    if (!begin(service, &line)) {
        return;
    }
    for (size_t i = 0; i < REVIEW_FLAG_COUNT; i++) {
        add_text(&line, names[i], answers[input->flags[i]]);
    }
    add_number(&line, "missing_spec", count_items(input->missing_spec));
    add_number(&line, "notes", input->notes.size > 0);
    add_number(&line, "item_snapshot", input->item_snapshot_json.size > 0);
    end("review normalised", &line);
}

/* --- triggers --- */

void review_log_triggers(const struct service *service, const struct review_triggers *triggers)
{
    static const char *const names[] = {
        [THRESHOLD_BAD_FORMAT] = "bad_format",
        [THRESHOLD_WRONG_INFORMATION] = "wrong_information",
        [THRESHOLD_WRONG_PHYSICAL_DIMENSIONS] = "wrong_physical_dimensions",
        [THRESHOLD_MISSING_SPEC] = "missing_spec",
        [THRESHOLD_INFORMATION_PRESENT_LOW] = "information_present_low",
    };
    static const char *const counts[] = {
        [THRESHOLD_BAD_FORMAT] = "bad_format_count",
        [THRESHOLD_WRONG_INFORMATION] = "wrong_information_count",
        [THRESHOLD_WRONG_PHYSICAL_DIMENSIONS] = "wrong_physical_dimensions_count",
        [THRESHOLD_MISSING_SPEC] = "missing_spec_count",
        [THRESHOLD_INFORMATION_PRESENT_LOW] = "information_present_low_count",
    };
    struct line line;

    count_one(&service->env->review_counters.triggers);
    if (!begin(service, &line)) {
        return;
    }
    add_number(&line, "runs", triggers->run_count);
    add_text(&line, "low_confidence", triggers->low_confidence ? "true" : "false");
    for (size_t i = 0; i < THRESHOLD_COUNT; i++) {
        add_text(&line, names[i], triggers->states[i] ? "true" : "false");
        add_number(&line, counts[i], triggers->counts[i]);
    }
    end("review triggers", &line);
}

/* --- placeholders --- */

static const char *source_name(enum placeholder_source source)
{
    switch (source) {
    case PLACEHOLDER_SOURCE_INJECTED:
        return "INJECTED";
    case PLACEHOLDER_SOURCE_STATIC_FALLBACK:
        return "STATIC_FALLBACK";
    case PLACEHOLDER_SOURCE_EMPTY:
    case PLACEHOLDER_SOURCE_UNSPECIFIED:
        break;
    }
    return "EMPTY";
}

static void count_sources(struct review_counters *counters, const struct resolved *resolved)
{
    for (size_t i = 1; i <= PLACEHOLDER_COUNT; i++) {
        enum placeholder_source source = resolved->texts[i].source;

        if (source == PLACEHOLDER_SOURCE_INJECTED) {
            count_one(&counters->injected);
        } else {
            count_one(source == PLACEHOLDER_SOURCE_STATIC_FALLBACK ? &counters->static_fallbacks
                                                                   : &counters->empty);
        }
    }
}

static void log_sources(const struct service *service, const struct resolved *resolved)
{
    static const char *const names[] = {
        [REVIEW_PLACEHOLDER_CATEGORIZER_REVIEW] = "categorizer_review",
        [REVIEW_PLACEHOLDER_EXTRACTION_REVIEW] = "extraction_review",
        [REVIEW_PLACEHOLDER_SUPERVISOR_REVIEW] = "supervisor_review",
        [REVIEW_PLACEHOLDER_EXAMPLE_ITEM] = "example_item",
    };
    struct line line;

    if (!begin(service, &line)) {
        return;
    }
    for (size_t i = 1; i <= PLACEHOLDER_COUNT; i++) {
        add_text(&line, names[i], source_name(resolved->texts[i].source));
    }
    end("review placeholders", &line);
}

static void log_example(const struct service *service, const struct placeholders *placeholders)
{
    const struct resolved_text *text =
        &placeholders->resolved.texts[REVIEW_PLACEHOLDER_EXAMPLE_ITEM];
    struct line line;

    if (text->source == PLACEHOLDER_SOURCE_INJECTED) {
        count_one(&service->env->review_counters.examples);
    }
    if (begin(service, &line)) {
        add_text(&line, "source", source_name(text->source));
        add_number(&line, "item_seq", placeholders->item_seq);
        add_number(&line, "bytes", text->text.size);
        add_text(&line, "expired", placeholders->expired_seq != 0 ? "true" : "false");
        end("review example", &line);
    }
}

static void log_failures(const struct service *service, const struct placeholders *placeholders)
{
    static const char *const parts[] = {
        [PLACEHOLDER_PART_ARM] = "arm",         [PLACEHOLDER_PART_TRIGGERS] = "triggers",
        [PLACEHOLDER_PART_EXAMPLE] = "example", [PLACEHOLDER_PART_WORDING] = "wording",
        [PLACEHOLDER_PART_TEXTS] = "texts",
    };

    for (size_t i = 0; i < PLACEHOLDER_PART_COUNT; i++) {
        struct line line;

        if (!placeholders->failed[i]) {
            continue;
        }
        count_one(&service->env->review_counters.failures);
        if (begin(service, &line)) {
            add_text(&line, "part", parts[i]);
            end("review fallback", &line);
        }
    }
}

void review_log_placeholders(const struct service *service, const struct placeholders *placeholders)
{
    review_log_triggers(service, &placeholders->triggers);
    count_sources(&service->env->review_counters, &placeholders->resolved);
    log_sources(service, &placeholders->resolved);
    log_example(service, placeholders);
    log_failures(service, placeholders);
}
