/*
 * report.c: see report.h. The functions that all forms share.
 */
#include "tools/bench/report.h"

#include <stdlib.h>

const struct report_run *report_main_run(const struct report *report)
{
    if (report->run_count == 0) {
        return NULL;
    }
    if (report->sweep == NULL) {
        return report->runs[0];
    }
    return report->has_knee ? report->runs[report->knee] : report->runs[0];
}

bool report_is_valid(const struct report *report)
{
    const struct report_run *run = report_main_run(report);

    return run != NULL && run->judgement.problems.count == 0 &&
           (report->sweep == NULL || report->has_knee);
}

void report_deinit(struct report *report)
{
    for (size_t i = 0; i < report->run_count; i++) {
        engine_result_deinit(&report->runs[i]->result);
        histogram_deinit(&report->runs[i]->total.latency);
        free(report->runs[i]);
    }
    report->run_count = 0;
}
