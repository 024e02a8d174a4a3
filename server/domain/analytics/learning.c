/*
 * learning.c: see learning.h. Sums saturate as the counters do; means and rates are divided here.
 */
#include "server/domain/analytics/learning_internal.h"

#include "server/domain/counters/counters.h"
#include "server/domain/counters/keys.h"
#include "server/domain/counters/records.h"
#include "server/domain/events/feedback.h"
#include "store/base/assert.h"
#include "store/scan.h"

#define TYPE_COUNT LEARNING_TYPES_MAX

void learning_add_to(uint64_t *sum, uint64_t amount)
{
    if (__builtin_add_overflow(*sum, amount, sum)) {
        *sum = UINT64_MAX;
    }
}

static size_t day_count_of(const struct learning_range *range)
{
    return (size_t)(range->last_day - range->first_day) + 1;
}

/* Returns the first day with counters: there are none before 1970. */
static uint32_t first_counted(const struct learning_range *range)
{
    return range->first_day > 0 ? (uint32_t)range->first_day : 0;
}

/* Computes an upper bound of the number of different fields in the range: the names of its days,
 * and `other`. */
static enum err bound_fields(struct store_txn *txn, const struct learning *learning,
                             size_t *ret_bound)
{
    const struct slice no_name = {NULL, 0};
    size_t bound = 1;

    for (int64_t day = first_counted(&learning->range); day <= learning->range.last_day; day++) {
        struct key key = key_counter(learning->org, (uint32_t)day, COUNTER_FIELD_NAMES, no_name);
        struct counter_record record = {0};
        struct slice value = {NULL, 0};
        enum err err = store_get(txn, TABLE_COUNTER, key_slice(&key), &value);

        if (err == ERR_NOT_FOUND) {
            continue;
        }
        if (err == OK) {
            err = record_decode_counter(value, &record);
        }
        if (err == OK && record.count > COUNTERS_FIELD_NAMES_MAX) {
            err = ERR_CORRUPT;
        }
        if (err != OK) {
            return err;
        }
        bound += (size_t)record.count;
    }
    *ret_bound = bound;
    return OK;
}

/* Returns the event type of which a counter's name is the number. */
static enum err read_type(struct slice name, size_t *ret_type)
{
    size_t type = 0;

    for (size_t i = 0; i < name.size; i++) {
        uint8_t digit = (uint8_t)(name.data[i] - '0');

        if (digit > 9 || type >= TYPE_COUNT) {
            return ERR_CORRUPT;
        }
        type = 10 * type + digit;
    }
    if (type == 0 || type >= TYPE_COUNT) {
        return ERR_CORRUPT;
    }
    *ret_type = type;
    return OK;
}

/* Adds events of one type. */
void learning_add_type(struct learning *learning, struct day_sums *day,
                       enum feedback_event_type type, uint64_t count)
{
    learning_add_to(&day->events, count);
    learning_add_to(&learning->types[type], count);
    if (feedback_is_correction(type)) {
        learning_add_to(&day->corrections, count);
    }
    if (type == FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED ||
        type == FEEDBACK_EVENT_TYPE_MAPPING_REJECTED) {
        learning_add_to(&day->mappings, count);
    }
}

static enum err add_events(struct learning *learning, struct day_sums *day,
                           const struct counter_record *record)
{
    size_t type = 0;
    enum err err = read_type(record->name, &type);

    if (err == OK) {
        learning_add_type(learning, day, (enum feedback_event_type)type, record->count);
    }
    return err;
}

/* Returns whether counters of a dimension count feedback events, of all kinds of annotators. */
static bool is_of_events(enum counter_dimension dimension)
{
    return dimension == COUNTER_EVENT_TYPE || dimension == COUNTER_LINE_FIELD ||
           dimension == COUNTER_FIELD_FIELD || dimension == COUNTER_RETRACTED;
}

static enum err add_counter(struct learning *learning, struct slice key,
                            enum counter_dimension dimension, struct day_sums *day,
                            struct slice value)
{
    const uint8_t *hash = key.data + key.size - FIELD_HASH_BYTES;
    struct counter_record record = {0};
    enum err err = record_decode_counter(value, &record);

    if (err != OK) {
        return err;
    }
    if (learning->annotator_kinds != 0 && is_of_events(dimension)) {
        return OK; /* learning_add_log adds the events */
    }
    switch (dimension) {
    case COUNTER_EVENT_TYPE:
        return add_events(learning, day, &record);
    case COUNTER_LINE_FIELD:
        return field_counts_add(&learning->fields, FIELD_OF_LINE, hash, record.name, record.count);
    case COUNTER_FIELD_FIELD:
        return field_counts_add(&learning->fields, FIELD_OF_HEADER, hash, record.name,
                                record.count);
    case COUNTER_EXTRACTIONS:
        day->extractions = record.count;
        return OK;
    case COUNTER_CONFIDENCE:
        day->confidence = record.count;
        return OK;
    case COUNTER_CORRECTED:
        day->corrected = record.count;
        return OK;
    case COUNTER_MAPPING_APPLIED:
        learning_add_to(&learning->applied, record.count);
        return OK;
    case COUNTER_RETRACTED:
        learning_add_to(&learning->retracted, record.count);
        return OK;
    case COUNTER_FIELD_NAMES: /* bound_fields read it */
        return OK;
    }
    return ERR_CORRUPT;
}

static enum err add_rows(struct learning *learning, struct scan *scan)
{
    enum err err = OK;

    while (err == OK) {
        enum counter_dimension dimension = COUNTER_EVENT_TYPE;
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        uint32_t day = 0;

        err = scan_next(scan, &key, &value);
        if (err == OK) {
            err = key_read_counter(key, &day, &dimension);
        }
        if (err == OK && day > learning->range.last_day) {
            return OK;
        }
        if (err == OK) {
            err = add_counter(learning, key, dimension,
                              &learning->days[day - learning->range.first_day], value);
        }
    }
    if (scan->is_cut) {
        return ERR_CORRUPT; /* more rows than any range of days has */
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err add_up(struct ctx *ctx, struct store_txn *txn, struct learning *learning)
{
    struct key from = key_counter_day_prefix(learning->org, first_counted(&learning->range));
    const struct scan_range range = {
        .table = TABLE_COUNTER,
        .prefix = key_org(learning->org),
        .after = key_slice(&from),
        .rows_max = (uint32_t)day_count_of(&learning->range) * LEARNING_DAY_ROWS_MAX,
    };
    struct scan scan;
    size_t bound = 0;
    enum err err = OK;

    if (learning->range.last_day < 0) {
        return field_counts_init(&learning->fields, ctx->arena, ctx->random, 0);
    }
    err = bound_fields(txn, learning, &bound);
    if (err == OK) {
        err = field_counts_init(&learning->fields, ctx->arena, ctx->random, bound);
    }
    if (err != OK) {
        return err;
    }
    err = scan_init(&scan, txn, &range);
    if (err == OK) {
        err = add_rows(learning, &scan);
    }
    scan_deinit(&scan);
    return err;
}

static enum err fill_days(struct arena *arena, const struct learning *learning,
                          struct learning_report *report)
{
    struct learning_day *days = NULL;

    report->day_count = day_count_of(&learning->range);
    days = arena_calloc(arena, report->day_count, sizeof(*days));
    if (days == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < report->day_count; i++) {
        const struct day_sums *sums = &learning->days[i];

        day_format(learning->range.first_day + (int64_t)i, days[i].date);
        days[i].event_count = sums->events;
        days[i].correction_count = sums->corrections;
        days[i].mapping_count = sums->mappings;
        days[i].extraction_count = sums->extractions;
        days[i].corrected_count = sums->corrected;
        if (sums->extractions > 0) {
            days[i].mean_confidence = (double)sums->confidence /
                                      ((double)SUMS_CONFIDENCE_UNIT * (double)sums->extractions);
        }
        learning_add_to(&report->extraction_count, sums->extractions);
        learning_add_to(&report->corrected_count, sums->corrected);
    }
    report->days = days;
    return OK;
}

/* Returns the most frequent type that is not listed yet; 0 if all are listed. */
static size_t next_type(const uint64_t types[TYPE_COUNT], const bool listed[TYPE_COUNT])
{
    size_t best = 0;

    for (size_t type = 1; type < TYPE_COUNT; type++) {
        if (!listed[type] && types[type] > (best == 0 ? 0 : types[best])) {
            best = type;
        }
    }
    return best;
}

static void fill_types(const struct learning *learning, struct learning_report *report)
{
    bool listed[TYPE_COUNT] = {false};

    for (size_t type = next_type(learning->types, listed); type != 0;
         type = next_type(learning->types, listed)) {
        report->types[report->type_count] = (struct event_type_count_view){
            .event_type = (enum feedback_event_type)type,
            .count = learning->types[type],
        };
        listed[type] = true;
        report->type_count++;
    }
}

static enum err fill_fields(struct arena *arena, const struct learning *learning,
                            enum field_kind kind, size_t top_fields, struct learning_fields *fields)
{
    const struct field_count *top[LEARNING_TOP_FIELDS_MAX];
    struct field_count_view *items = NULL;

    fields->count = field_counts_top(&learning->fields, kind, top_fields, top);
    items = arena_calloc(arena, fields->count + 1, sizeof(*items));
    if (items == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < fields->count; i++) {
        items[i] = (struct field_count_view){
            .field = top[i]->name,
            .count = field_count_of(top[i], kind),
        };
    }
    fields->items = items;
    return OK;
}

static enum err fill_report(struct arena *arena, const struct learning *learning, size_t top_fields,
                            struct learning_report *report)
{
    enum err err = fill_days(arena, learning, report);

    learning_add_to(&report->extraction_count, learning->layout.extraction_count);
    learning_add_to(&report->corrected_count, learning->layout.corrected_count);
    fill_types(learning, report);
    for (enum field_kind kind = FIELD_OF_LINE; kind <= FIELD_OF_BOTH && err == OK; kind++) {
        err = fill_fields(arena, learning, kind, top_fields, &report->fields[kind]);
    }
    if (report->extraction_count > 0) {
        report->correction_rate =
            (double)report->corrected_count / (double)report->extraction_count;
    }
    report->mapping_confirmed_count = learning->types[FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED];
    report->mapping_rejected_count = learning->types[FEEDBACK_EVENT_TYPE_MAPPING_REJECTED];
    report->mapping_applied_count = learning->applied;
    report->retracted_count = learning->retracted;
    report->is_incomplete = learning->is_incomplete;
    return err;
}

enum err learning_read(struct ctx *ctx, struct store_txn *txn, const struct learning_query *query,
                       struct learning_report *ret_report)
{
    struct learning *learning = arena_calloc(ctx->arena, 1, sizeof(*learning));
    enum err err = OK;

    ASSERT(query->range.first_day <= query->range.last_day);
    ASSERT(day_count_of(&query->range) <= LEARNING_DAYS_MAX);
    ASSERT(query->top_fields <= LEARNING_TOP_FIELDS_MAX);
    if (learning == NULL) {
        return ERR_MEMORY;
    }
    memset(ret_report, 0, sizeof(*ret_report));
    learning->org = query->org;
    learning->range = query->range;
    learning->annotator_kinds = query->annotator_kinds;
    if (query->layout_fingerprint.size > 0) {
        err = learning_add_layout(ctx, txn, learning, query->layout_fingerprint);
    } else if (query->family != NULL) {
        err = learning_add_family(ctx, txn, learning, query->family);
    } else {
        err = add_up(ctx, txn, learning);
        if (err == OK && learning->annotator_kinds != 0) {
            err = learning_add_log(ctx, txn, learning);
        }
    }
    return err != OK ? err : fill_report(ctx->arena, learning, query->top_fields, ret_report);
}
