/*
 * phoenix.c: Arize Phoenix: annotation pages and spans of its REST API, data frames of its client as CSV or JSON
 * lines, and dataset JSONL, as of versions 8 to 20. Phoenix keeps no corrected outputs: annotations are outcomes.
 */
#include "tools/errata/import/mapping.h"

/* Sets the label as the value if its meaning is known, else the score; a note is only a comment. */
static void put_annotation(struct import_call *call, struct json_value record,
                           struct import_row *row)
{
    struct slice score = fields_text(call->arena, record, "result.score");

    score = score.size > 0 ? score : fields_text(call->arena, record, "score");
    if (score.size > 0 && !import_knows_label(call, row->text[IMPORT_VALUE])) {
        row->text[IMPORT_VALUE] = score;
    }
    if (row->text[IMPORT_ID].size ==
        0) { /* a data frame: one annotation of a name, annotator and span */
        row->text[IMPORT_ID] =
            import_join_ids(call, row->text[IMPORT_SUBJECT],
                            import_join_ids(call, row->text[IMPORT_METRIC],
                                            fields_text(call->arena, record, "identifier")));
    }
    import_put(call, row);
}

/* Reads a span; a span without a parent is also the output of its trace. */
static void put_span(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct slice trace = fields_text(call->arena, record, "context.trace_id");
    struct import_row whole = *row;

    import_put(call, row);
    if (trace.size > 0 && fields_text(call->arena, record, "parent_id").size == 0) {
        whole.text[IMPORT_ID] = trace;
        import_put(call, &whole);
    }
}

static const struct import_member annotation[] = {{IMPORT_ID, "id"},
                                                  {IMPORT_SUBJECT, "span_id"},
                                                  {IMPORT_SUBJECT, "context.span_id"},
                                                  {IMPORT_SUBJECT, "trace_id"},
                                                  {IMPORT_SUBJECT, "session_id"},
                                                  {IMPORT_METRIC, "annotation_name"},
                                                  {IMPORT_METRIC, "name"},
                                                  {IMPORT_VALUE, "result.label"},
                                                  {IMPORT_VALUE, "label"},
                                                  {IMPORT_NOTES, "result.explanation"},
                                                  {IMPORT_NOTES, "explanation"},
                                                  {IMPORT_ACTOR, "user_id"},
                                                  {IMPORT_ANNOTATOR, "annotator_kind"},
                                                  {IMPORT_AT, "updated_at"},
                                                  {IMPORT_AT, "created_at"},
                                                  {IMPORT_NO_FIELD, NULL}};

static const struct import_member span[] = {{IMPORT_ID, "context.span_id"},
                                            {IMPORT_NAME, "name"},
                                            {IMPORT_INPUT, "attributes.input.value"},
                                            {IMPORT_BEFORE, "attributes.output.value"},
                                            {IMPORT_AT, "start_time"},
                                            {IMPORT_NO_FIELD, NULL}};

static const struct import_member example[] = {
    {IMPORT_ID, "id"}, {IMPORT_INPUT, "input"}, {IMPORT_BEFORE, "output"}, {IMPORT_NO_FIELD, NULL}};

static const struct import_shape shapes[] = {
    {.name = "annotation",
     .needs = {"annotator_kind"},
     .kind = IMPORT_REVIEW,
     .type = "annotation",
     .members = annotation,
     .read = put_annotation},
    {.name = "span",
     .needs = {"context.span_id", "attributes.output.value"},
     .kind = IMPORT_OUTPUT,
     .type = "span",
     .members = span,
     .read = put_span},
    {.name = "span", .needs = {"context.span_id"}, .skip = "a span without an output"},
    {.name = "dataset example",
     .needs = {"id", "input", "output"},
     .kind = IMPORT_OUTPUT,
     .type = "example",
     .members = example},
    {.name = NULL}};

static const char *const lists[] = {"data", NULL};

const struct import_source import_phoenix = {
    .name = "phoenix", .title = "Arize Phoenix", .lists = lists, .shapes = shapes};
