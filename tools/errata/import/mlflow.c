/*
 * mlflow.c: MLflow: traces as JSON with their assessments: `Trace.to_json` and `mlflow traces` of MLflow 3, whose
 * assessments are those of the protocol (`assessment_name`, `create_time`), and of MLflow 2 (`name`,
 * `create_time_ms`).
 */
#include "tools/errata/import/mapping.h"

/* Maximum assessments that are searched for overrides; a trace has fewer. */
#define ASSESSMENTS_MAX 1000

static bool is_root(struct import_call *call, struct json_value span)
{
    return fields_text(call->arena, span, "parent_id").size == 0 &&
           fields_text(call->arena, span, "parent_span_id").size == 0;
}

/* Returns the string in an output, which is JSON in a text. */
static struct json_value unwrap(struct import_call *call, struct json_value value)
{
    const struct json_rules rules = {.depth_max = 1};
    struct json_value inner = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    struct slice text = {NULL, 0};

    if (value.kind != JSON_STRING || json_string(call->arena, value.text, &text) != OK ||
        text.size < 2 || text.data[0] != '"' ||
        json_check(call->arena, text, &rules, &inner, &problem) != OK) {
        return value;
    }
    return fields_parsed(call->arena, inner);
}

/* Finds the root span: its outputs are those of the trace, its inputs those of the model. */
static void fill_output(struct import_call *call, struct json_value trace, struct import_row *row)
{
    static const struct import_member members[] = {{IMPORT_BEFORE, "attributes.mlflow.spanOutputs"},
                                                   {IMPORT_BEFORE, "outputs"},
                                                   {IMPORT_INPUT, "attributes.mlflow.spanInputs"},
                                                   {IMPORT_INPUT, "inputs"},
                                                   {IMPORT_NAME, "name"},
                                                   {IMPORT_NO_FIELD, NULL}};
    static const struct import_member whole[] = {{IMPORT_BEFORE, "data.response"},
                                                 {IMPORT_BEFORE, "info.response"},
                                                 {IMPORT_BEFORE, "info.response_preview"},
                                                 {IMPORT_INPUT, "data.request"},
                                                 {IMPORT_INPUT, "info.request"},
                                                 {IMPORT_INPUT, "info.request_preview"},
                                                 {IMPORT_NAME, "info.tags.mlflow.traceName"},
                                                 {IMPORT_NO_FIELD, NULL}};
    struct json_value spans = {JSON_NULL, {NULL, 0}};
    struct json_value span = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct json_walk walk;

    if (fields_find(call->arena, trace, "data.spans", &spans)) {
        walk = json_walk_start(spans);
        while (json_walk_next(&walk, &key, &span)) {
            if (is_root(call, span)) {
                import_fill(call, span, members, row);
                break;
            }
        }
    }
    import_fill(call, trace, whole, row);
    row->before = unwrap(call, row->before);
}

/* Returns whether another assessment of the trace replaces this one. */
static bool is_overridden(struct import_call *call, struct json_value assessments, struct slice id)
{
    struct json_walk walk = json_walk_start(assessments);
    struct json_value other = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};

    for (unsigned i = 0; i < ASSESSMENTS_MAX && json_walk_next(&walk, &key, &other); i++) {
        if (id.size > 0 && slice_equal(fields_text(call->arena, other, "overrides"), id)) {
            return true;
        }
    }
    return false;
}

static const struct import_member assessment[] = {
    {IMPORT_ID, "assessment_id"},
    {IMPORT_METRIC, "assessment_name"},
    {IMPORT_METRIC, "name"},
    {IMPORT_VALUE, "feedback.value"},
    {IMPORT_AFTER, "expectation.value"},
    {IMPORT_AFTER, "expectation.serialized_value.value"},
    {IMPORT_NOTES, "rationale"},
    {IMPORT_ACTOR, "source.source_id"},
    {IMPORT_ANNOTATOR, "source.source_type"},
    {IMPORT_AT, "last_update_time"},
    {IMPORT_AT, "last_update_time_ms"},
    {IMPORT_AT, "create_time"},
    {IMPORT_AT, "create_time_ms"},
    {IMPORT_NO_FIELD, NULL}};

static void put_assessment(struct import_call *call, struct json_value record,
                           const struct import_row *output)
{
    struct json_value part = {JSON_NULL, {NULL, 0}};
    struct import_row row = {.kind = IMPORT_REVIEW, .type = "assessment", .before = output->before};

    import_fill(call, record, assessment, &row);
    row.text[IMPORT_SUBJECT] = output->text[IMPORT_ID];
    row.text[IMPORT_NAME] = output->text[IMPORT_NAME];
    row.text[IMPORT_INPUT] = output->text[IMPORT_INPUT];
    row.text[IMPORT_ANNOTATOR] = import_annotator(row.text[IMPORT_ANNOTATOR]);
    if (slice_equal(row.text[IMPORT_ANNOTATOR], SLICE("LLM")) ||
        slice_equal(row.text[IMPORT_ANNOTATOR], SLICE("CODE"))) {
        IMPORT_TEXT(&row, IMPORT_ACTOR, ""); /* the id of a judge or program, not of a person */
    }
    if (fields_find(call->arena, record, "feedback.error", &part) ||
        fields_find(call->arena, record, "error", &part)) {
        import_skip(call, "an assessment that failed", row.text[IMPORT_ID]);
        return;
    }
    if (row.after.kind != JSON_NULL) {
        row.kind = IMPORT_CORRECTION;
        row.type = "expectation";
    }
    import_put(call, &row);
}

static void put_trace(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct json_value assessments = {JSON_NULL, {NULL, 0}};
    struct json_value one = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct json_walk walk;

    fill_output(call, record, row);
    if (row->before.kind != JSON_NULL) {
        import_put(call, row);
    }
    if (!fields_find(call->arena, record, "info.assessments", &assessments)) {
        return;
    }
    walk = json_walk_start(assessments);
    while (json_walk_next(&walk, &key, &one)) {
        struct slice id = fields_text(call->arena, one, "assessment_id");

        if (slice_equal(fields_text(call->arena, one, "valid"), SLICE("false"))) {
            import_skip(call, "an assessment that is no longer valid", id);
        } else if (is_overridden(call, assessments, id)) {
            import_skip(call, "an assessment that a newer one overrides", id);
        } else {
            put_assessment(call, one, row);
        }
    }
}

static const struct import_member trace[] = {{IMPORT_ID, "info.trace_id"},
                                             {IMPORT_ID, "info.request_id"},
                                             {IMPORT_AT, "info.request_time"},
                                             {IMPORT_AT, "info.timestamp_ms"},
                                             {IMPORT_NO_FIELD, NULL}};

static const struct import_shape shapes[] = {{.name = "trace",
                                              .needs = {"info"},
                                              .kind = IMPORT_OUTPUT,
                                              .type = "trace",
                                              .members = trace,
                                              .read = put_trace},
                                             {.name = NULL}};

static const struct import_loss losses[] = {
    {"traces have no spans and no response: the model's output is unknown",
     "python3 -c 'import mlflow\n"
     "for trace in mlflow.search_traces(return_type=\"list\"): print(trace.to_json())' > "
     "traces.jsonl"},
    {NULL, NULL}};

static const char *const lists[] = {"traces", NULL};

const struct import_source import_mlflow = {
    .name = "mlflow", .title = "MLflow", .lists = lists, .shapes = shapes, .losses = losses};
