/*
 * langfuse.c: Langfuse: pages of its API (scores v3 and v2, observations v2 and v1, traces, dataset items), its table
 * exports (CSV, JSON, JSONL) and its blob exports (columns with underscores), as of versions 3 and 4. Version 4 has no
 * traces: the root observation of a trace has its output.
 */
#include "tools/errata/import/mapping.h"

enum {
    LOSS_OUTPUTS,
    LOSS_CORRECTIONS
};

/* A score: BOOLEAN is 0 or 1, or a word; TEXT is a comment; CATEGORICAL is its text. */
static void put_score(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct slice type = fields_text(call->arena, record, "dataType");
    struct slice text = fields_text(call->arena, record, "stringValue");

    type = type.size > 0 ? type : fields_text(call->arena, record, "data_type");
    text = text.size > 0 ? text : fields_text(call->arena, record, "string_value");
    if (text.size > 0 && !slice_equal(type, SLICE("NUMERIC"))) {
        row->text[IMPORT_VALUE] = text;
    }
    if (slice_equal(type, SLICE("BOOLEAN")) && slice_equal(row->text[IMPORT_VALUE], SLICE("1"))) {
        IMPORT_TEXT(row, IMPORT_VALUE, "true");
    } else if (slice_equal(type, SLICE("BOOLEAN")) &&
               slice_equal(row->text[IMPORT_VALUE], SLICE("0"))) {
        IMPORT_TEXT(row, IMPORT_VALUE, "false");
    } else if (slice_equal(type, SLICE("TEXT"))) {
        row->text[IMPORT_NOTES] = row->text[IMPORT_VALUE];
        IMPORT_TEXT(row, IMPORT_VALUE, "");
    }
    import_put(call, row);
}

/* An item that was made from a trace corrects the trace; any other item is only an example. */
static void put_item(struct import_call *call, struct json_value record, struct import_row *row)
{
    (void)record;
    row->has_no_before = row->text[IMPORT_SUBJECT].size == 0;
    import_put(call, row);
}

/* A root observation is also the output of its trace, unless there is the trace itself. A trace may have several: those
 * that the SDK marked as roots of an app may have a parent, and count less than those without. */
static void put_output(struct import_call *call, struct json_value record, struct import_row *row)
{
    static const struct import_member members[] = {
        {IMPORT_ID, "traceId"}, {IMPORT_ID, "trace_id"}, {IMPORT_NO_FIELD, NULL}};
    struct slice is_root = fields_text(call->arena, record, "isRootObservation");
    struct slice parent = fields_text(call->arena, record, "parentObservationId");
    struct import_row whole = *row;

    import_put(call, row);
    is_root = is_root.size > 0 ? is_root : fields_text(call->arena, record, "is_root_observation");
    parent = parent.size > 0 ? parent : fields_text(call->arena, record, "parent_observation_id");
    whole.text[IMPORT_ID] = slice_of(NULL, 0);
    whole.origin = parent.size > 0 ? IMPORT_OF_APP_ROOT : IMPORT_OF_ROOT;
    import_fill(call, record, members, &whole);
    if (slice_equal(is_root, SLICE("true")) && whole.text[IMPORT_ID].size > 0) {
        import_put(call, &whole);
    }
}

#define SCORE_MEMBERS                                                                              \
    {IMPORT_ID, "id"}, {IMPORT_SUBJECT, "subject.id"}, {IMPORT_SUBJECT, "observationId"},          \
        {IMPORT_SUBJECT, "observation_id"}, {IMPORT_SUBJECT, "traceId"},                           \
        {IMPORT_SUBJECT, "trace_id"}, {IMPORT_SUBJECT, "sessionId"},                               \
        {IMPORT_SUBJECT, "session_id"}, {IMPORT_SUBJECT, "datasetRunId"},                          \
        {IMPORT_SUBJECT, "dataset_run_id"}, {IMPORT_NAME, "traceName"}, {IMPORT_METRIC, "name"},   \
        {IMPORT_ACTOR, "authorUserId"}, {IMPORT_ACTOR, "author_user_id"},                          \
        {IMPORT_ACTOR, "authorUserName"}, {IMPORT_ANNOTATOR, "source"}, {IMPORT_NOTES, "comment"}, \
        {IMPORT_AT, "updatedAt"}, {IMPORT_AT, "updated_at"},                                       \
    {                                                                                              \
        IMPORT_AT, "timestamp"                                                                     \
    }

static const struct import_member correction[] = {SCORE_MEMBERS,
                                                  {IMPORT_AFTER, "longStringValue"},
                                                  {IMPORT_AFTER, "stringValue"},
                                                  {IMPORT_AFTER, "value"},
                                                  {IMPORT_NO_FIELD, NULL}};

static const struct import_member score[] = {
    SCORE_MEMBERS, {IMPORT_VALUE, "value"}, {IMPORT_NO_FIELD, NULL}};

static const struct import_member output[] = {{IMPORT_ID, "id"},        {IMPORT_NAME, "name"},
                                              {IMPORT_INPUT, "input"},  {IMPORT_BEFORE, "output"},
                                              {IMPORT_AT, "startTime"}, {IMPORT_AT, "start_time"},
                                              {IMPORT_AT, "timestamp"}, {IMPORT_NO_FIELD, NULL}};

static const struct import_member item[] = {{IMPORT_ID, "id"},
                                            {IMPORT_SUBJECT, "sourceObservationId"},
                                            {IMPORT_SUBJECT, "sourceTraceId"},
                                            {IMPORT_NAME, "datasetName"},
                                            {IMPORT_INPUT, "input"},
                                            {IMPORT_AFTER, "expectedOutput"},
                                            {IMPORT_AT, "updatedAt"},
                                            {IMPORT_AT, "createdAt"},
                                            {IMPORT_NO_FIELD, NULL}};

static const struct import_shape shapes[] = {{.name = "correction score",
                                              .needs = {"dataType=CORRECTION", "id"},
                                              .kind = IMPORT_CORRECTION,
                                              .type = "correction",
                                              .members = correction},
                                             {.name = "score of the API, version 3",
                                              .needs = {"dataType", "subject"},
                                              .kind = IMPORT_REVIEW,
                                              .type = "score",
                                              .members = score,
                                              .read = put_score},
                                             {.name = "score of the API, versions 1 and 2",
                                              .needs = {"dataType", "id", "name", "createdAt"},
                                              .kind = IMPORT_REVIEW,
                                              .type = "score",
                                              .members = score,
                                              .read = put_score},
                                             {.name = "score of a table export",
                                              .needs = {"dataType", "id", "name"},
                                              .kind = IMPORT_REVIEW,
                                              .type = "score",
                                              .members = score,
                                              .read = put_score,
                                              .loss = 1 + LOSS_CORRECTIONS},
                                             {.name = "score of a blob export",
                                              .needs = {"data_type", "id", "name"},
                                              .kind = IMPORT_REVIEW,
                                              .type = "score",
                                              .members = score,
                                              .read = put_score,
                                              .loss = 1 + LOSS_CORRECTIONS},
                                             {.name = "dataset item",
                                              .needs = {"datasetName", "expectedOutput", "id"},
                                              .kind = IMPORT_CORRECTION,
                                              .type = "dataset_item",
                                              .members = item,
                                              .read = put_item},
                                             {.name = "dataset item",
                                              .needs = {"datasetName", "id", "status"},
                                              .skip = "a dataset item without an expected output"},
                                             {.name = "observation or trace",
                                              .needs = {"id", "output"},
                                              .kind = IMPORT_OUTPUT,
                                              .type = "output",
                                              .members = output,
                                              .read = put_output},
                                             {.name = "observation or trace",
                                              .needs = {"id", "name"},
                                              .skip = "a trace or observation without an output"},
                                             {.name = NULL}};

static const struct import_loss losses[] = {
    [LOSS_OUTPUTS] =
        {"corrections name traces or observations that are not in these files: the model's output "
         "is unknown",
         "curl -u \"$LANGFUSE_PUBLIC_KEY:$LANGFUSE_SECRET_KEY\" "
         "\"$LANGFUSE_HOST/api/public/v2/observations?limit=1000&fields=basic,io\" > "
         "outputs.json; of version 3 with /api/public/traces?limit=100&page=1&fields=core,io and "
         "/api/public/observations?limit=100&page=1; then again with --join outputs.json"},
    [LOSS_CORRECTIONS] = {"exports of tables and to blob storage leave out corrections",
                          "curl -u \"$LANGFUSE_PUBLIC_KEY:$LANGFUSE_SECRET_KEY\" "
                          "\"$LANGFUSE_HOST/api/public/v3/scores?dataType=CORRECTION&"
                          "fields=details,subject,annotation&limit=100\" > corrections.json"},
    {NULL, NULL}};

static const char *const lists[] = {"data", NULL};

const struct import_source import_langfuse = {
    .name = "langfuse", .title = "Langfuse", .lists = lists, .shapes = shapes, .losses = losses};
