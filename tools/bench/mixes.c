/*
 * mixes.c: see mixes.h.
 */
#include "tools/bench/mixes.h"

#include <stddef.h>
#include <string.h>

#define CORRECTIONS "errata.v1.CorrectionService/"
#define LEARNING "errata.v1.LearningService/"
#define LAYOUTS "errata.v1.LayoutService/"

/* The shape and the lengths of the events that `--preload` stores, each of a document and a line of
 * its own. */
#define CAPTURED_EVENT                                                                             \
    "{\"actorUserId\": \"operator-1\", \"eventType\": \"EVENT_TYPE_EXTRACTION_LINE_CORRECTED\","   \
    " \"entityType\": \"draft_order_line\", \"entityId\": \"live-${serial}\","                     \
    " \"draftOrderId\": \"draft-${serial}\", \"documentId\": \"document-${serial}\","              \
    " \"layoutFingerprint\": \"bench-layout-${layout}\","                                          \
    " \"beforeJson\": \"{\\\"line_no\\\":3,\\\"qty\\\":${uniform:10..99}}\","                      \
    " \"afterJson\": \"{\\\"line_no\\\":3,\\\"qty\\\":${uniform:10..99},"                          \
    "\\\"description\\\":\\\"${text:300}\\\"}\","                                                  \
    " \"metaJson\": \"{\\\"model\\\":\\\"m-1\\\",\\\"input_snippet\\\":\\\"${text:800}\\\"}\"}"

const struct mix_call mix_calls[] = {
    {"examples", CORRECTIONS "GetExamples",
     "{\"layoutFingerprint\": \"bench-layout-${layout}\", \"view\": \"EXAMPLE_VIEW_EXAMPLES\"}",
     "the examples of a layout"},
    {"hints", CORRECTIONS "GetExamples",
     "{\"layoutFingerprint\": \"bench-layout-${layout}\", \"view\": \"EXAMPLE_VIEW_HINTS\"}",
     "the same as a piece of prompt"},
    {"capture", CORRECTIONS "CaptureEvent", "{\"event\": " CAPTURED_EVENT "}",
     "one durable correction of 1.2 KB"},
    {"capture-batch", CORRECTIONS "BatchCaptureEvents",
     "{\"events\": [" CAPTURED_EVENT ", " CAPTURED_EVENT ", " CAPTURED_EVENT ", " CAPTURED_EVENT
     ", " CAPTURED_EVENT ", " CAPTURED_EVENT ", " CAPTURED_EVENT ", " CAPTURED_EVENT
     ", " CAPTURED_EVENT ", " CAPTURED_EVENT "]}",
     "ten of them in one call"},
    {"list-feedback", CORRECTIONS "ListFeedbackEvents",
     "{\"layoutFingerprint\": \"bench-layout-${layout}\", \"pageSize\": 20}",
     "the newest 20 corrections of a layout"},
    {"list-events", LEARNING "ListEvents", "{\"pageSize\": 20}", "the newest 20 events of the log"},
    {"get-event", LEARNING "GetEvent", "{\"seq\": ${uniform:3..10000}}",
     "one event of the log by its number"},
    {"get-layout", LAYOUTS "GetProfile", "{\"layoutFingerprint\": \"bench-layout-${layout}\"}",
     "a layout's profile; layouts without a document answer NOT_FOUND"},
    {"list-layouts", LAYOUTS "ListProfiles", "{\"pageSize\": 20}",
     "the 20 layouts that were seen last"},
    {"list-documents", LAYOUTS "ListDocuments", "{\"pageSize\": 20}", "the newest 20 documents"},
    {"fingerprint", LAYOUTS "ComputeFingerprint",
     "{\"metadataJson\": \"{\\\"page_count\\\":1,\\\"page_dimensions\\\":[{\\\"width\\\":612.0,"
     "\\\"height\\\":${uniform:100..999}.0}],\\\"table_count\\\":1,"
     "\\\"text_coverage_ratio\\\":0.${uniform:10..99}}\"}",
     "the fingerprint of measures: computed, nothing read"},
    {"server-info", "errata.v1.AdminService/GetServerInfo", "{}", "the server's counters"},
    {"health", "grpc.health.v1.Health/Check", "{}",
     "gRPC's health check, which any server may have"},
    {NULL, NULL, NULL, NULL}};

const struct mix_call *mix_find(const char *name)
{
    for (const struct mix_call *call = mix_calls; call->name != NULL; call++) {
        if (strcmp(call->name, name) == 0) {
            return call;
        }
    }
    return NULL;
}
