/*
 * langsmith.c: LangSmith: records of the SDK's `list_feedback` and `list_runs` as JSON lines, as of langsmith 0.1 to
 * 0.11. Bulk exports have runs with only aggregates of their feedback.
 */
#include "tools/errata/import/mapping.h"

enum {
    LOSS_RUNS,
    LOSS_FEEDBACK
};

/* A correction may contain a score: the outcome is a separate row. */
static void put_feedback(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct import_row outcome = *row;
    bool is_corrected = row->after.kind != JSON_NULL;
    (void)record;

    if (is_corrected) {
        import_put(call, row);
    }
    if (!is_corrected || row->text[IMPORT_VALUE].size > 0) {
        outcome.kind = IMPORT_REVIEW;
        outcome.type = "score";
        import_put(call, &outcome);
    }
}

static void put_run(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct json_value stats = {JSON_NULL, {NULL, 0}};

    if (fields_find(call->arena, record, "feedback_stats", &stats) && stats.text.size > 2) {
        import_lose(call, LOSS_FEEDBACK);
    }
    import_put(call, row);
}

static const struct import_member feedback[] = {{IMPORT_ID, "id"},
                                                {IMPORT_SUBJECT, "run_id"},
                                                {IMPORT_SUBJECT, "trace_id"},
                                                {IMPORT_METRIC, "key"},
                                                {IMPORT_VALUE, "score"},
                                                {IMPORT_VALUE, "value"},
                                                {IMPORT_AFTER, "correction"},
                                                {IMPORT_NOTES, "comment"},
                                                {IMPORT_ACTOR, "feedback_source.user_id"},
                                                {IMPORT_ANNOTATOR, "feedback_source.type"},
                                                {IMPORT_AT, "modified_at"},
                                                {IMPORT_AT, "created_at"},
                                                {IMPORT_NO_FIELD, NULL}};

static const struct import_member run[] = {{IMPORT_ID, "id"},         {IMPORT_NAME, "name"},
                                           {IMPORT_INPUT, "inputs"},  {IMPORT_BEFORE, "outputs"},
                                           {IMPORT_AT, "start_time"}, {IMPORT_NO_FIELD, NULL}};

static const struct import_shape shapes[] = {
    {.name = "Feedback",
     .needs = {"id", "key", "run_id"},
     .kind = IMPORT_CORRECTION,
     .type = "feedback",
     .members = feedback,
     .read = put_feedback},
    {.name = "Run",
     .needs = {"id", "run_type", "outputs"},
     .kind = IMPORT_OUTPUT,
     .type = "run",
     .members = run,
     .read = put_run},
    {.name = "Run", .needs = {"id", "run_type"}, .skip = "a run without outputs"},
    {.name = "Feedback", .needs = {"id", "key"}, .skip = "feedback without a run"},
    {.name = NULL}};

static const struct import_loss losses[] = {
    [LOSS_RUNS] =
        {"corrections name runs that are not in these files: the model's output is unknown",
         "python3 -c 'from langsmith import Client\n"
         "for run in Client().list_runs(project_name=\"PROJECT\"): print(run.json())' > "
         "runs.jsonl; "
         "then again with --join runs.jsonl"},
    [LOSS_FEEDBACK] =
        {"runs have only aggregates of their feedback (bulk exports have no more)",
         "python3 -c 'from langsmith import Client\n"
         "client = Client()\n"
         "ids = [run.id for run in client.list_runs(project_name=\"PROJECT\")]\n"
         "for row in client.list_feedback(run_ids=ids): print(row.json())' > feedback.jsonl"},
    {NULL, NULL}};

const struct import_source import_langsmith = {
    .name = "langsmith", .title = "LangSmith", .shapes = shapes, .losses = losses};
