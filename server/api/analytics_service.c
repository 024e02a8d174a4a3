/*
 * analytics_service.c: AnalyticsService: dates and pages of requests become values for the domain,
 * which writes the answers. All of it runs on the pool: a page may look at 2,000 rows, each with rows of
 * others.
 */
#include "server/domain/analytics/coverage.h"
#include "server/domain/analytics/days.h"
#include "server/domain/analytics/experiments.h"
#include "server/domain/analytics/learning.h"
#include "server/pipeline/page_token.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/analytics_service.fields.h>
#include <errata/v1/analytics_service.handlers.h>
#include <inttypes.h>

/* One end of the range; `day` stays where the request leaves it out. */
static bool read_day(const struct service *service, struct slice path, const char *text,
                     int64_t *day)
{
    if (text[0] == '\0' || day_parse(slice_text(text), day)) {
        return true;
    }
    fault_add(service->ctx->fault, path, "not a date; expected YYYY-MM-DD");
    return false;
}

/* As many days as a range has by default, where the calendar has them. */
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
                  "after end_date (default: today); expected the same day or an earlier one");
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

enum err analytics_service_get_learning_analytics_prepare(
    struct analytics_service_get_learning_analytics_call *call)
{
    struct learning_range *range = arena_calloc(call->ctx->arena, 1, sizeof(*range));
    enum err err = OK;

    if (range == NULL) {
        return ERR_MEMORY;
    }
    err = read_range(call->service, call->request, range);
    if (err == OK) {
        call->prepared = range;
    }
    return err;
}

enum err analytics_service_get_learning_analytics_read(
    struct analytics_service_get_learning_analytics_call *call)
{
    struct coverage_page most_seen = {
        .org = call->org,
        .order = LAYOUT_COVERAGE_ORDER_MOST_SEEN,
        .page_size = COVERAGE_MOST_SEEN,
        .field = GET_LEARNING_ANALYTICS_RESPONSE_LAYOUT_STATS_FIELD,
    };
    size_t top_fields = call->request->top_fields > 0 ? (size_t)call->request->top_fields
                                                      : LEARNING_TOP_FIELDS_DEFAULT;
    bool more = false;
    enum err err =
        learning_write(call->ctx, call->txn, call->org,
                       (const struct learning_range *)call->prepared, top_fields, call->body);

    return err != OK ? err : coverage_write(call->ctx, call->txn, &most_seen, call->body, &more);
}

enum err analytics_service_list_layout_coverage_read(
    struct analytics_service_list_layout_coverage_call *call)
{
    struct coverage_page page = {
        .org = call->org,
        .page_size = page_size_of(call->request->page_size),
        .field = LIST_LAYOUT_COVERAGE_RESPONSE_LAYOUT_STATS_FIELD,
    };
    struct sha256_digest filter;
    bool more = false;
    enum err err = OK;

    if (UNEXPECTED(!layout_coverage_order_from_wire((int32_t)call->request->order, &page.order))) {
        return ERR_INTERNAL; /* check_request refuses it */
    }
    err = page_token_begin(call->service, &call->request->base, call->request->page_token, &filter,
                           &page.after);
    if (err == OK) {
        err = coverage_write(call->ctx, call->txn, &page, call->body, &more);
    }
    if (err == OK && more) {
        err = page_token_append(call->service, &filter, &page.last,
                                LIST_LAYOUT_COVERAGE_RESPONSE_NEXT_PAGE_TOKEN_FIELD, call->body);
    }
    return err;
}

enum err analytics_service_get_experiment_report_read(
    struct analytics_service_get_experiment_report_call *call)
{
    struct experiment_page page = {
        .org = call->org,
        .page_size = page_size_of(call->request->page_size),
    };
    struct sha256_digest filter;
    bool more = false;
    enum err err = page_token_begin(call->service, &call->request->base, call->request->page_token,
                                    &filter, &page.after);

    if (err == OK) {
        err = experiments_write(call->ctx, call->txn, &page, call->body, &more);
    }
    if (err == OK && more) {
        err = page_token_append(call->service, &filter, &page.last,
                                GET_EXPERIMENT_REPORT_RESPONSE_NEXT_PAGE_TOKEN_FIELD, call->body);
    }
    return err;
}
