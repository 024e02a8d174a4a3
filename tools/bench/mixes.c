/*
 * mixes.c: see mixes.h.
 */
#include "tools/bench/mixes.h"

#include "tools/bench/preload/preload.h"

#include <stddef.h>
#include <string.h>

#define FEEDBACK "errata.v1.FeedbackService/"
#define PROMPTS "errata.v1.PromptService/"
#define EXTRACTIONS "errata.v1.ExtractionService/"
#define EVENTS "errata.v1.EventService/"
#define LAYOUTS "errata.v1.LayoutService/"
#define MAPPINGS "errata.v1.MappingService/"
#define ANALYTICS "errata.v1.AnalyticsService/"

/* The shape and the lengths of the events that `--preload` stores, each with a separate document
 * and line. */
#define CAPTURED_EVENT                                                                             \
    "{\"actorUserId\": \"" PRELOAD_ACTOR                                                           \
    "\", \"eventType\": \"FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED\","                        \
    " \"entityType\": \"draft_order_line\", \"entityId\": \"live-${serial}\","                     \
    " \"draftOrderId\": \"draft-${serial}\", \"documentId\": \"document-${serial}\","              \
    " \"layoutFingerprint\": \"bench-layout-${layout}\","                                          \
    " \"beforeJson\": \"{\\\"line_no\\\":3,\\\"qty\\\":${uniform:10..99}}\","                      \
    " \"afterJson\": \"{\\\"line_no\\\":3,\\\"qty\\\":${uniform:10..99},"                          \
    "\\\"description\\\":\\\"${text:300}\\\"}\","                                                  \
    " \"metaJson\": \"{\\\"model\\\":\\\"m-1\\\",\\\"input_snippet\\\":\\\"${text:800}\\\"}\"}"

/* Similar to the SKUs that `--preload --mappings` confirms, but equal to none of them. */
#define UNMAPPED_LINE                                                                              \
    "{\"customerId\": \"customer-${uniform:0..99:%05d}\","                                         \
    " \"customerSku\": \"AQ-${uniform:0..999:%03d}-0000${uniform:0..9999:%04d}\"}"

const struct mix_call mix_calls[] = {
    {"examples", PROMPTS "GetExamples",
     "{\"layoutFingerprint\": \"bench-layout-${layout}\", \"view\": \"EXAMPLE_VIEW_EXAMPLES\"}",
     "the examples of a layout"},
    {"hints", PROMPTS "GetExamples",
     "{\"layoutFingerprint\": \"bench-layout-${layout}\", \"view\": \"EXAMPLE_VIEW_HINTS\"}",
     "the examples of a layout as JSON text for a prompt"},
    {"document", PROMPTS "GetExamples",
     "{\"documentId\": \"asking-${layout}\", \"view\": \"EXAMPLE_VIEW_EXAMPLES\"}",
     "the examples of the layout of a document (--families)"},
    {"family", PROMPTS "GetExamples",
     "{\"documentId\": \"asking-${layout}\", \"view\": \"EXAMPLE_VIEW_EXAMPLES\", "
     "\"matchMode\": \"MATCH_MODE_FAMILY\"}",
     "the same by layout family: all examples are of the document's layout"},
    {"family-others", PROMPTS "GetExamples",
     "{\"documentId\": \"new-${layout}\", \"view\": \"EXAMPLE_VIEW_EXAMPLES\", "
     "\"matchMode\": \"MATCH_MODE_FAMILY\"}",
     "the same: all examples are of other layouts"},
    {"capture", FEEDBACK "CaptureFeedbackEvent", "{\"event\": " CAPTURED_EVENT "}",
     "one durable correction of 1.2 KB"},
    {"capture-batch", FEEDBACK "BatchCaptureFeedbackEvents",
     "{\"events\": [" CAPTURED_EVENT ", " CAPTURED_EVENT ", " CAPTURED_EVENT ", " CAPTURED_EVENT
     ", " CAPTURED_EVENT ", " CAPTURED_EVENT ", " CAPTURED_EVENT ", " CAPTURED_EVENT
     ", " CAPTURED_EVENT ", " CAPTURED_EVENT "]}",
     "ten durable corrections in one call"},
    {"extraction", EXTRACTIONS "RecordExtraction",
     "{\"extraction\": {\"actorUserId\": \"" PRELOAD_ACTOR "\", "
     "\"documentId\": \"document-${serial}\", \"layoutFingerprint\": "
     "\"bench-layout-${layout}\", \"confidence\": 0.9, \"fieldCount\": 12}}",
     "one durable extraction of a new document"},
    {"match", MAPPINGS "MatchLines",
     "{\"lines\": [" UNMAPPED_LINE ", " UNMAPPED_LINE ", " UNMAPPED_LINE ", " UNMAPPED_LINE
     ", " UNMAPPED_LINE "]}",
     "five lines that have no mapping, with candidates"},
    {"confirm", MAPPINGS "ConfirmMapping",
     "{\"customerId\": \"customer-${uniform:0..99:%05d}\", \"customerSku\": "
     "\"LIVE-${serial}\", \"internalSku\": \"I-${uniform:0..9999:%010d}\","
     " \"actorUserId\": \"" PRELOAD_ACTOR "\"}",
     "one durable confirmation of a new mapping"},
    {"analytics", ANALYTICS "GetLearningAnalytics", "{}", "learning analytics of the last 30 days"},
    {"experiments", ANALYTICS "GetExperimentReport", "{}", "experiment report: effect of examples"},
    {"list-feedback", FEEDBACK "ListFeedbackEvents",
     "{\"layoutFingerprint\": \"bench-layout-${layout}\", \"pageSize\": 20}",
     "the newest 20 corrections of a layout"},
    {"list-events", EVENTS "ListEvents", "{\"pageSize\": 20}", "the newest 20 events of the log"},
    {"get-event", EVENTS "GetEvent", "{\"seq\": ${uniform:3..10000}}",
     "one event of the log by its number"},
    {"get-layout", LAYOUTS "GetProfile", "{\"layoutFingerprint\": \"bench-layout-${layout}\"}",
     "a layout's profile; NOT_FOUND for layouts without a document"},
    {"list-layouts", LAYOUTS "ListProfiles", "{\"pageSize\": 20}",
     "the 20 most recently seen layouts"},
    {"list-documents", LAYOUTS "ListDocuments", "{\"pageSize\": 20}", "the newest 20 documents"},
    {"fingerprint", LAYOUTS "ComputeFingerprint",
     "{\"metadataJson\": \"{\\\"page_count\\\":1,\\\"page_dimensions\\\":[{\\\"width\\\":612.0,"
     "\\\"height\\\":${uniform:100..999}.0}],\\\"table_count\\\":1,"
     "\\\"text_coverage_ratio\\\":0.${uniform:10..99}}\"}",
     "a computed fingerprint, without access to the store"},
    {"server-info", "errata.v1.AdminService/GetServerInfo", "{}", "the server's counters"},
    {"health", "grpc.health.v1.Health/Check", "{}", "gRPC's standard health check"},
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
