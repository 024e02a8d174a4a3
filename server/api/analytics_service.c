/*
 * analytics_service.c: AnalyticsService: converts the dates of requests to values for the domain,
 * and its reports to responses. All methods run on the pool: a page may read 2,000 rows, each with
 * rows of other tables.
 */
#include "server/api/annotators.h"
#include "server/domain/analytics/coverage.h"
#include "server/domain/analytics/days.h"
#include "server/domain/analytics/experiments.h"
#include "server/domain/analytics/learning.h"
#include "server/domain/layouts/families.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/analytics_service.fields.h>
#include <errata/v1/analytics_service.handlers.h>
#include <inttypes.h>

/* Memory limit for one comparison. */
#define COMPARISON_BYTES_MAX 8192

/* Reads one end of the range; `day` is unchanged if the request omits it. */
static bool read_day(const struct service *service, struct slice path, const char *text,
                     int64_t *day)
{
    if (text[0] == '\0' || day_parse(slice_text(text), day)) {
        return true;
    }
    fault_add(service->ctx->fault, path, "invalid date; expected YYYY-MM-DD");
    return false;
}

/* Returns the first day of the default range, limited to the days of the calendar. */
static int64_t first_by_default(int64_t last)
{
    int64_t first = last - (LEARNING_DAYS_DEFAULT - 1);

    return first < DAY_FIRST ? DAY_FIRST : first;
}

static enum err read_range(const struct service *service,
                           const Errata__V1__GetLearningAnalyticsRequest *request,
                           struct learning_range *ret_range)
{
    int64_t last = day_of(clock_wall_us(service->ctx->clock));
    bool has_last = read_day(service, SLICE("end_date"), request->end_date, &last);
    int64_t first = first_by_default(last);
    bool has_first = read_day(service, SLICE("start_date"), request->start_date, &first);
    int64_t days = 0;

    if (!has_first || !has_last) {
        return ERR_INVALID;
    }
    if (first > last) {
        fault_add(service->ctx->fault, SLICE("start_date"),
                  "after end_date (default: today); expected end_date or an earlier day");
        return ERR_INVALID;
    }
    days = last - first + 1;
    if (days > LEARNING_DAYS_MAX) {
        fault_add(service->ctx->fault, SLICE("start_date"),
                  "range of %" PRId64 " days up to end_date; expected at most %d", days,
                  LEARNING_DAYS_MAX);
        return ERR_INVALID;
    }
    *ret_range = (struct learning_range){first, last};
    return OK;
}

/* Checks the members of the request that select events, and reads the kinds of annotators. */
static enum err read_filters(struct ctx *ctx,
                             const Errata__V1__GetLearningAnalyticsRequest *request,
                             struct learning_query *query)
{
    enum err err = annotators_read(ctx, "annotator_kinds", request->annotator_kinds,
                                   request->n_annotator_kinds, &query->annotator_kinds);

    if (err != OK) {
        return err;
    }
    if (request->layout_fingerprint[0] != '\0' && request->layout_family_id[0] != '\0') {
        fault_add(ctx->fault, SLICE("layout_family_id"),
                  "together with layout_fingerprint; expected one of them");
    }
    return fault_result(ctx->fault);
}

enum err analytics_service_get_learning_analytics_prepare(
    struct analytics_service_get_learning_analytics_call *call)
{
    struct learning_query *query = arena_calloc(call->ctx->arena, 1, sizeof(*query));
    enum err err = OK;

    if (query == NULL) {
        return ERR_MEMORY;
    }
    err = read_filters(call->ctx, call->request, query);
    if (err != OK) {
        return err;
    }
    query->org = call->org;
    query->layout_fingerprint = slice_text(call->request->layout_fingerprint);
    query->top_fields = call->request->top_fields > 0 ? (size_t)call->request->top_fields
                                                      : LEARNING_TOP_FIELDS_DEFAULT;
    err = read_range(call->service, call->request, &query->range);
    if (err == OK) {
        call->prepared = query;
    }
    return err;
}

/* Sets the members that are not lists. */
static void put_sums(const struct learning_report *report, struct buffer *body)
{
    const struct get_learning_analytics_response_view sums = {
        .start_date = slice_of(report->days[0].date, DAY_TEXT_BYTES),
        .end_date = slice_of(report->days[report->day_count - 1].date, DAY_TEXT_BYTES),
        .extraction_count = report->extraction_count,
        .corrected_count = report->corrected_count,
        .correction_rate = report->correction_rate,
        .has_correction_rate = report->extraction_count > 0,
        .mapping_confirmed_count = report->mapping_confirmed_count,
        .mapping_rejected_count = report->mapping_rejected_count,
        .mapping_applied_count = report->mapping_applied_count,
        .incomplete = report->is_incomplete,
        .retracted_count = report->retracted_count,
    };

    get_learning_analytics_response_view_write(&sums, body);
}

static void put_fields(const struct learning_fields *fields, uint32_t field, struct buffer *body)
{
    for (size_t i = 0; i < fields->count; i++) {
        field_count_view_put(&fields->items[i], field, body);
    }
}

static void put_confidence(const struct learning_day *day, struct buffer *body)
{
    const struct day_confidence_view view = {
        .date = slice_of(day->date, DAY_TEXT_BYTES),
        .extraction_count = day->extraction_count,
        .mean_confidence = day->mean_confidence,
        .has_mean_confidence = day->extraction_count > 0,
        .corrected_count = day->corrected_count,
    };

    day_confidence_view_put(&view, GET_LEARNING_ANALYTICS_RESPONSE_CONFIDENCE_BY_DAY_FIELD, body);
}

static void put_count(const struct learning_day *day, uint64_t count, uint32_t field,
                      struct buffer *body)
{
    const struct day_count_view view = {.date = slice_of(day->date, DAY_TEXT_BYTES),
                                        .count = count};

    day_count_view_put(&view, field, body);
}

static void put_days(const struct learning_report *report, struct buffer *body)
{
    for (size_t i = 0; i < report->day_count; i++) {
        put_count(&report->days[i], report->days[i].event_count,
                  GET_LEARNING_ANALYTICS_RESPONSE_EVENTS_BY_DAY_FIELD, body);
    }
    for (size_t i = 0; i < report->day_count; i++) {
        put_count(&report->days[i], report->days[i].correction_count,
                  GET_LEARNING_ANALYTICS_RESPONSE_CORRECTIONS_BY_DAY_FIELD, body);
    }
    for (size_t i = 0; i < report->day_count; i++) {
        put_count(&report->days[i], report->days[i].mapping_count,
                  GET_LEARNING_ANALYTICS_RESPONSE_MAPPING_EVENTS_BY_DAY_FIELD, body);
    }
}

static void put_report(const struct learning_report *report, bool has_confidence,
                       struct buffer *body)
{
    put_sums(report, body);
    put_days(report, body);
    for (size_t i = 0; i < report->type_count; i++) {
        event_type_count_view_put(&report->types[i],
                                  GET_LEARNING_ANALYTICS_RESPONSE_BY_EVENT_TYPE_FIELD, body);
    }
    put_fields(&report->fields[FIELD_OF_BOTH],
               GET_LEARNING_ANALYTICS_RESPONSE_CORRECTED_FIELDS_FIELD, body);
    put_fields(&report->fields[FIELD_OF_LINE],
               GET_LEARNING_ANALYTICS_RESPONSE_CORRECTED_LINE_FIELDS_FIELD, body);
    put_fields(&report->fields[FIELD_OF_HEADER],
               GET_LEARNING_ANALYTICS_RESPONSE_CORRECTED_HEADER_FIELDS_FIELD, body);
    for (size_t i = 0; has_confidence && i < report->day_count; i++) {
        put_confidence(&report->days[i], body);
    }
}

/* Appends the layouts of a list as field `field`. */
static enum err put_layouts(struct ctx *ctx, struct store_txn *txn, struct coverage_list *list,
                            uint32_t field, struct buffer *body)
{
    struct layout_coverage_view layout;
    enum err err = coverage_list_begin(txn, list);

    while (err == OK) {
        err = coverage_list_next(ctx, txn, list, &layout);
        if (err == OK) {
            layout_coverage_view_put(&layout, field, body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err put_most_seen(struct analytics_service_get_learning_analytics_call *call)
{
    struct page page;
    struct coverage_list most_seen = {
        .org = call->org,
        .order = LAYOUT_COVERAGE_ORDER_MOST_SEEN,
        .page = &page,
    };
    enum err err = OK;

    page_init(&page, COVERAGE_MOST_SEEN, slice_of(NULL, 0), call->body);
    err = put_layouts(call->ctx, call->txn, &most_seen,
                      GET_LEARNING_ANALYTICS_RESPONSE_LAYOUT_STATS_FIELD, call->body);
    page_deinit(&page);
    return err;
}

static enum err put_layout_of_query(struct analytics_service_get_learning_analytics_call *call,
                                    struct slice fingerprint)
{
    struct layout_coverage_view layout;
    enum err err = coverage_read(call->ctx->arena, call->txn, call->org, fingerprint, &layout);

    if (err == OK) {
        layout_coverage_view_put(&layout, GET_LEARNING_ANALYTICS_RESPONSE_LAYOUT_STATS_FIELD,
                                 call->body);
    }
    return err;
}

static enum err put_layouts_of_family(struct analytics_service_get_learning_analytics_call *call,
                                      const struct family_members *members)
{
    struct coverage_family family;
    enum err err = coverage_read_family(call->ctx->arena, call->txn, call->org, members, &family);

    for (size_t i = 0; err == OK && i < family.count; i++) {
        layout_coverage_view_put(&family.layouts[i],
                                 GET_LEARNING_ANALYTICS_RESPONSE_LAYOUT_STATS_FIELD, call->body);
    }
    return err;
}

/* Finds the family of the request, over all its members. */
static enum err find_family(struct analytics_service_get_learning_analytics_call *call,
                            struct family_members *ret_members)
{
    struct family_record family;
    struct uuid id;
    uint64_t seq = 0;
    enum err err = OK;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->layout_family_id), &id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = family_find(call->txn, call->org, id, &seq, &family);
    if (err == OK) {
        family_members_of(seq, &family, ret_members);
    }
    return err == ERR_NOT_FOUND
               ? fault_say(call->ctx->fault, err,
                           "layout_family_id: not found in this organisation; expected the "
                           "layout_family_id of a document or the id of a listed family")
               : err;
}

enum err analytics_service_get_learning_analytics_read(
    struct analytics_service_get_learning_analytics_call *call)
{
    struct learning_query query = *(const struct learning_query *)call->prepared;
    bool of_organization = query.layout_fingerprint.size == 0;
    struct family_members members;
    struct learning_report report;
    enum err err = OK;

    if (call->request->layout_family_id[0] != '\0') {
        err = find_family(call, &members);
        if (err != OK) {
            return err;
        }
        query.family = &members;
        of_organization = false;
    }
    err = learning_read(call->ctx, call->txn, &query, &report);
    if (err != OK) {
        return err;
    }
    put_report(&report, of_organization, call->body);
    if (query.family != NULL) {
        return put_layouts_of_family(call, query.family);
    }
    return of_organization ? put_most_seen(call)
                           : put_layout_of_query(call, query.layout_fingerprint);
}

enum err analytics_service_list_layout_coverage_read(
    struct analytics_service_list_layout_coverage_call *call)
{
    struct coverage_list list = {.org = call->org, .page = call->page};

    if (UNEXPECTED(!layout_coverage_order_from_wire((int32_t)call->request->order, &list.order))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    return put_layouts(call->ctx, call->txn, &list,
                       LIST_LAYOUT_COVERAGE_RESPONSE_LAYOUT_STATS_FIELD, call->body);
}

/* Encodes the comparison as a message, in the arena. */
static enum err encode_comparison(struct arena *arena,
                                  const struct experiment_comparison *comparison,
                                  struct slice *ret_message)
{
    struct experiment_comparison_view view = comparison->view;

    return view_encode(&arm_result_view_type, &comparison->treatment, arena, &view.treatment) &&
                   view_encode(&arm_result_view_type, &comparison->control, arena, &view.control) &&
                   view_encode(&excluded_extractions_view_type, &comparison->excluded, arena,
                               &view.excluded) &&
                   view_encode(&experiment_comparison_view_type, &view, arena, ret_message)
               ? OK
               : ERR_MEMORY;
}

static enum err put_organization(struct analytics_service_get_experiment_report_call *call)
{
    struct get_experiment_report_response_view response = {.has_organization = true};
    struct experiment_organization organization;
    enum err err = experiment_read_organization(call->txn, call->org, &organization);

    if (err == OK) {
        err = encode_comparison(call->ctx->arena, &organization.comparison, &response.organization);
    }
    if (err == OK) {
        response.holdout_percent = organization.holdout_percent;
        get_experiment_report_response_view_write(&response, call->body);
    }
    return err;
}

/* `scratch` is used for one layout at a time. */
static enum err put_layout(struct arena *scratch, const struct experiment_layout *layout,
                           struct buffer *body)
{
    struct layout_experiment_view view = {
        .layout_fingerprint = layout->layout_fingerprint,
        .example_count = layout->example_count,
        .has_comparison = true,
    };
    enum err err = encode_comparison(scratch, &layout->comparison, &view.comparison);

    if (err == OK) {
        layout_experiment_view_put(&view, GET_EXPERIMENT_REPORT_RESPONSE_LAYOUTS_FIELD, body);
    }
    arena_reset(scratch);
    return err;
}

enum err analytics_service_get_experiment_report_read(
    struct analytics_service_get_experiment_report_call *call)
{
    const struct experiment_list list = {.org = call->org, .page = call->page};
    struct experiment_layout layout;
    struct arena scratch;
    enum err err = put_organization(call);

    if (err != OK) {
        return err;
    }
    arena_init(&scratch, COMPARISON_BYTES_MAX);
    err = experiment_list_begin(call->txn, &list);
    while (err == OK) {
        err = experiment_list_next(call->ctx->arena, call->txn, &list, &layout);
        if (err == OK) {
            err = put_layout(&scratch, &layout, call->body);
        }
    }
    arena_deinit(&scratch);
    return err == ERR_NOT_FOUND ? OK : err;
}
