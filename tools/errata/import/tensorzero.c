/*
 * tensorzero.c: TensorZero: rows of its tables as JSON lines (ClickHouse `FORMAT JSONEachRow`, where `input`,
 * `output` and the value of a demonstration are texts that contain JSON; Postgres, where they are JSON, and from
 * 2026.2 on in tables without the function's name), and feedback in the form of its gateway, with `type`. Formats of
 * the versions 2024.11 to 2026.4.
 */
#include "tools/errata/import/mapping.h"

/* Returns the value of an output: of a chat, the text of its only block, or all blocks; of JSON, `parsed`, else
 * `raw`. */
static struct json_value plain_output(struct import_call *call, struct json_value output)
{
    struct json_walk walk = json_walk_start(output);
    struct json_value first = {JSON_NULL, {NULL, 0}};
    struct json_value more = {JSON_NULL, {NULL, 0}};
    struct json_value text = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};

    if (output.kind == JSON_OBJECT && (fields_find(call->arena, output, "parsed", &text) ||
                                       fields_find(call->arena, output, "raw", &text))) {
        return fields_parsed(call->arena, text);
    }
    if (output.kind == JSON_ARRAY && json_walk_next(&walk, &key, &first) &&
        !json_walk_next(&walk, &key, &more) &&
        slice_equal(fields_text(call->arena, first, "type"), SLICE("text")) &&
        fields_find(call->arena, first, "text", &text)) {
        return fields_parsed(call->arena, text);
    }
    return output;
}

static void put_plain(struct import_call *call, struct json_value record, struct import_row *row)
{
    (void)record;
    row->has_no_before = row->kind == IMPORT_CORRECTION;
    row->before = plain_output(call, row->before);
    row->after = plain_output(call, row->after);
    import_put(call, row);
}

/* Feedback by a person has the tag that the tool's own page sets. */
static void put_judged(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct json_value tag = {JSON_NULL, {NULL, 0}};

    if (fields_find(call->arena, record, "tags.tensorzero::human_feedback", &tag) ||
        fields_find(call->arena, record, "tags.tensorzero::author", &tag)) {
        IMPORT_TEXT(row, IMPORT_ANNOTATOR, "HUMAN");
    }
    row->after = plain_output(call, row->after);
    import_put(call, row);
}

static const struct import_member inference[] = {
    {IMPORT_ID, "id"},         {IMPORT_ID, "inference_id"}, {IMPORT_NAME, "function_name"},
    {IMPORT_INPUT, "input"},   {IMPORT_BEFORE, "output"},   {IMPORT_AT, "timestamp"},
    {IMPORT_AT, "created_at"}, {IMPORT_NO_FIELD, NULL}};

static const struct import_member demonstration[] = {
    {IMPORT_ID, "id"},        {IMPORT_SUBJECT, "inference_id"}, {IMPORT_AFTER, "value"},
    {IMPORT_AT, "timestamp"}, {IMPORT_AT, "created_at"},        {IMPORT_AT, "id"},
    {IMPORT_NO_FIELD, NULL}};

static const struct import_member metric[] = {
    {IMPORT_ID, "id"},       {IMPORT_SUBJECT, "target_id"}, {IMPORT_METRIC, "metric_name"},
    {IMPORT_VALUE, "value"}, {IMPORT_AT, "timestamp"},      {IMPORT_AT, "created_at"},
    {IMPORT_AT, "id"},       {IMPORT_NO_FIELD, NULL}};

static const struct import_member comment[] = {
    {IMPORT_ID, "id"},        {IMPORT_SUBJECT, "target_id"}, {IMPORT_NOTES, "value"},
    {IMPORT_AT, "timestamp"}, {IMPORT_AT, "created_at"},     {IMPORT_AT, "id"},
    {IMPORT_NO_FIELD, NULL}};

static const struct import_member example[] = {
    {IMPORT_ID, "id"},         {IMPORT_SUBJECT, "id"},   {IMPORT_NAME, "function_name"},
    {IMPORT_INPUT, "input"},   {IMPORT_AFTER, "output"}, {IMPORT_AT, "timestamp"},
    {IMPORT_AT, "created_at"}, {IMPORT_AT, "id"},        {IMPORT_NO_FIELD, NULL}};

static const struct import_shape shapes[] = {
    {.name = "DemonstrationFeedback",
     .needs = {"inference_id", "value"},
     .lacks = "output",
     .kind = IMPORT_CORRECTION,
     .type = "demonstration",
     .members = demonstration,
     .read = put_judged},
    {.name = "BooleanMetricFeedback or FloatMetricFeedback",
     .needs = {"target_id", "metric_name", "value"},
     .kind = IMPORT_REVIEW,
     .type = "metric",
     .members = metric,
     .read = put_judged},
    {.name = "CommentFeedback",
     .needs = {"target_id", "target_type", "value"},
     .kind = IMPORT_REVIEW,
     .type = "comment",
     .members = comment,
     .read = put_judged},
    {.name = "DynamicInContextLearningExample",
     .needs = {"id", "function_name", "input", "output", "embedding"},
     .kind = IMPORT_CORRECTION,
     .type = "example",
     .members = example,
     .read = put_plain},
    {.name = "DynamicInContextLearningExample without its vector",
     .needs = {"id", "function_name", "input", "output"},
     .lacks = "episode_id",
     .kind = IMPORT_CORRECTION,
     .type = "example",
     .members = example,
     .read = put_plain},
    {.name = "ChatInference or JsonInference",
     .needs = {"function_name", "output"},
     .kind = IMPORT_OUTPUT,
     .type = "inference",
     .members = inference,
     .read = put_plain},
    {.name = "chat_inference_data or json_inference_data",
     .needs = {"id", "input", "output", "inference_params"},
     .kind = IMPORT_OUTPUT,
     .type = "inference",
     .members = inference,
     .read = put_plain},
    {.name = "chat_inferences or json_inferences",
     .needs = {"id", "function_name", "variant_name", "episode_id"},
     .skip = "an inference whose output is in another table"},
    {.name = NULL}};

static const struct import_loss losses[] = {
    {"demonstrations and metrics name an inference that is not in these files: the model's output "
     "is unknown",
     "clickhouse-client --query \"SELECT * FROM ChatInference FORMAT JSONEachRow\" > chat.jsonl && "
     "clickhouse-client --query \"SELECT * FROM JsonInference FORMAT JSONEachRow\" > json.jsonl; "
     "of Postgres for each KIND of chat and json: psql -At \"$DATABASE_URL\" -c \"SELECT "
     "row_to_json(r) FROM (SELECT i.*, d.input, d.output FROM tensorzero.KIND_inferences i "
     "JOIN tensorzero.KIND_inference_data d USING (id, created_at)) r\" > KIND.jsonl; "
     "then again with --join chat.jsonl --join json.jsonl"},
    {NULL, NULL}};

const struct import_source import_tensorzero = {
    .name = "tensorzero", .title = "TensorZero", .shapes = shapes, .losses = losses};
