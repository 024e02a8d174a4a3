/*
 * reviewer_report.c: DecisionService/GetReviewerReport.
 */
#include "server/domain/analytics/proportions.h"
#include "server/domain/effects/reviewers.h"
#include "server/pipeline/service.h"

#include <errata/v1/decision_service.handlers.h>
#include <errata/v1/decision_service.views.h>

/* Usual size of the part in a cluster: a name, an id and numbers. */
#define CLUSTER_BYTES 120

static void put_cluster(const struct reviewer_part *part, struct buffer *run)
{
    const struct counted_cluster *cluster = part->cluster;
    const struct reviewer_cluster_view view = {
        .cluster_seq = cluster->seq,
        .agent_name = cluster->agent,
        .decisions = cluster->decisions,
        .own = part->own,
        .dominated = reviewer_dominates(part),
        .has_proposal_id = cluster->has_proposal,
        .proposal_id = cluster->proposal_id,
        .proposal_status = cluster->status,
    };

    reviewer_cluster_view_put(&view, REVIEWER_REPORT_CLUSTERS_FIELD, run);
}

static enum err put_report(struct decision_service_get_reviewer_report_call *call,
                           const struct reviewer_report *report)
{
    const struct proportion judged = {report->agreed, report->judged};
    struct reviewer_report_view view = {
        .reviewer_id = report->reviewer,
        .decisions = report->decisions,
        .approved = report->approved,
        .judged = report->judged,
        .agreed = report->agreed,
        .dominated_clusters = report->dominated,
    };
    struct proportion_interval interval;
    struct buffer clusters;

    buffer_init(&clusters, call->ctx->arena, report->part_count * CLUSTER_BYTES);
    for (size_t i = 0; i < report->part_count; i++) {
        put_cluster(&report->parts[i], &clusters);
    }
    view.clusters.run = buffer_slice(&clusters);
    if (proportion_interval_of(&judged, &interval)) {
        view.has_agreement = true;
        view.has_agreement_low = true;
        view.has_agreement_high = true;
        view.agreement = interval.estimate;
        view.agreement_low = interval.low;
        view.agreement_high = interval.high;
    }
    reviewer_report_view_put(&view, GET_REVIEWER_REPORT_RESPONSE_REVIEWERS_FIELD, call->body);
    return buffer_ok(&clusters) ? OK : ERR_MEMORY;
}

enum err
decision_service_get_reviewer_report_read(struct decision_service_get_reviewer_report_call *call)
{
    const struct reviewer_query query = {
        .org = call->org,
        .agent = slice_text(call->request->agent_name),
        .reviewer = slice_text(call->request->reviewer_id),
        .is_cancelled = service_was_cancelled,
        .user = call->service,
    };
    struct reviewer_reports reports;
    enum err err = reviewers_count(call->ctx->arena, call->txn, &query, &reports);

    for (size_t i = 0; err == OK && i < reports.count; i++) {
        err = put_report(call, &reports.items[i]);
    }
    if (err == OK && reports.is_cut) {
        const struct get_reviewer_report_response_view response = {.truncated = true};

        get_reviewer_report_response_view_write(&response, call->body);
    }
    return err;
}
