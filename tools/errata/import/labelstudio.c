/*
 * labelstudio.c: Label Studio: the export format JSON, and snapshots: tasks with annotations and predictions, as of
 * versions 1.4 to 1.20. Regions of a prediction and an annotation belong together by (from_name, region id).
 */
#include "tools/errata/import/mapping.h"

/* Maximum regions whose names are compared; a larger result is keyed by region id. */
#define REGIONS_MAX 1000

static unsigned count_named(struct import_call *call, struct json_value regions, struct slice name,
                            struct slice *ret_id)
{
    struct json_walk walk = json_walk_start(regions);
    struct json_value region = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    unsigned count = 0;

    for (unsigned i = 0; i < REGIONS_MAX && json_walk_next(&walk, &key, &region); i++) {
        if (slice_equal(fields_text(call->arena, region, "from_name"), name)) {
            *ret_id = fields_text(call->arena, region, "id");
            count++;
        }
    }
    return count;
}

/* Returns the name of a region's member: the name of its control if neither result has another region of it, else
 * with the region's id. */
static struct slice member_name(struct import_call *call, struct json_value region,
                                struct json_value own, struct json_value other)
{
    struct slice name = fields_text(call->arena, region, "from_name");
    struct slice id = fields_text(call->arena, region, "id");
    struct slice other_id = {NULL, 0};
    struct slice own_id = {NULL, 0};
    unsigned others = count_named(call, other, name, &other_id);

    if (count_named(call, own, name, &own_id) == 1 &&
        (others == 0 || (others == 1 && slice_equal(id, other_id)))) {
        return name;
    }
    return arena_printf(call->arena, "%.*s.%.*s", (int)name.size, (const char *)name.data,
                        (int)id.size, (const char *)id.data);
}

/* Returns a result as an object: the value of each region by its name. */
static struct json_value make_object(struct import_call *call, struct json_value own,
                                     struct json_value other)
{
    struct json_walk walk = json_walk_start(own);
    struct json_value region = {JSON_NULL, {NULL, 0}};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct buffer json;

    buffer_init(&json, call->arena, own.text.size + 64);
    buffer_append_byte(&json, '{');
    while (json_walk_next(&walk, &key, &region)) {
        if (!fields_find(call->arena, region, "value", &value)) {
            continue; /* a relation between regions */
        }
        buffer_append(&json, json.size > 1 ? SLICE(",") : SLICE(""));
        json_write_string(&json, member_name(call, region, own, other), false);
        buffer_append_byte(&json, ':');
        buffer_append(&json, value.text);
    }
    buffer_append_byte(&json, '}');
    return buffer_ok(&json) ? (struct json_value){JSON_OBJECT, buffer_slice(&json)}
                            : (struct json_value){JSON_NULL, {NULL, 0}};
}

/* Finds the prediction from which the annotation started; returns false if there is none, or if the
 * export has only its id. */
static bool find_prediction(struct import_call *call, struct json_value task,
                            struct json_value annotation, struct json_value *ret_result,
                            bool *ret_lost)
{
    struct slice parent = fields_text(call->arena, annotation, "parent_prediction");
    struct json_value predictions = {JSON_NULL, {NULL, 0}};
    struct json_value one = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct json_walk walk;

    if (fields_find(call->arena, annotation, "prediction.result", ret_result)) {
        return true;
    }
    *ret_lost = parent.size > 0;
    if (parent.size == 0 || !fields_find(call->arena, task, "predictions", &predictions)) {
        return false;
    }
    walk = json_walk_start(predictions);
    while (json_walk_next(&walk, &key, &one)) {
        if (slice_equal(fields_text(call->arena, one, "id"), parent) &&
            fields_find(call->arena, one, "result", ret_result)) {
            *ret_lost = false;
            return true;
        }
    }
    return false;
}

static const struct import_member annotation_members[] = {{IMPORT_ID, "id"},
                                                          {IMPORT_ACTOR, "completed_by.email"},
                                                          {IMPORT_ACTOR, "completed_by.id"},
                                                          {IMPORT_ACTOR, "completed_by"},
                                                          {IMPORT_AT, "updated_at"},
                                                          {IMPORT_AT, "created_at"},
                                                          {IMPORT_NO_FIELD, NULL}};

static void put_annotation(struct import_call *call, struct json_value task,
                           struct json_value annotation, const struct import_row *of_task)
{
    struct json_value none = {JSON_ARRAY, SLICE("[]")};
    struct json_value result = none;
    struct json_value before = none;
    struct import_row row = *of_task;
    bool is_lost = false;

    row.text[IMPORT_ID] = slice_of(NULL, 0);
    import_fill(call, annotation, annotation_members, &row);
    if (slice_equal(fields_text(call->arena, annotation, "was_cancelled"), SLICE("true"))) {
        import_skip(call, "a cancelled annotation", row.text[IMPORT_ID]);
        return;
    }
    if (!fields_find(call->arena, annotation, "result", &result) || result.text.size <= 2) {
        import_skip(call, "an annotation without regions", row.text[IMPORT_ID]);
        return;
    }
    if (find_prediction(call, task, annotation, &before, &is_lost)) {
        row.before = make_object(call, before, result);
    }
    row.after = make_object(call, result, before);
    row.has_no_before = !is_lost;
    import_put(call, &row);
}

static void put_task(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct json_value annotations = {JSON_NULL, {NULL, 0}};
    struct json_value one = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct json_walk walk;

    row->text[IMPORT_SUBJECT] = row->text[IMPORT_ID];
    if (!fields_find(call->arena, record, "annotations", &annotations) ||
        annotations.text.size <= 2) {
        import_skip(call, "a task without annotations", row->text[IMPORT_ID]);
        return;
    }
    walk = json_walk_start(annotations);
    while (json_walk_next(&walk, &key, &one)) {
        put_annotation(call, record, one, row);
    }
}

static void refuse_min(struct import_call *call, struct json_value record, struct import_row *row)
{
    (void)record;
    (void)row;
    import_damaged(call, "JSON_MIN, which has neither predictions nor regions; expected the export "
                         "format JSON");
}

static const struct import_member task[] = {{IMPORT_ID, "id"},
                                            {IMPORT_NAME, "project"},
                                            {IMPORT_INPUT, "data.text"},
                                            {IMPORT_INPUT, "data"},
                                            {IMPORT_NO_FIELD, NULL}};

static const struct import_shape shapes[] = {
    {.name = "task",
     .needs = {"id", "data", "annotations"},
     .kind = IMPORT_CORRECTION,
     .type = "annotation",
     .members = task,
     .read = put_task},
    {.name = "JSON_MIN", .needs = {"annotation_id", "annotator"}, .read = refuse_min},
    {.name = NULL}};

static const struct import_loss losses[] = {
    {"annotations started from predictions of which the export has only the ids",
     "curl -X POST -H \"Authorization: Token $LABEL_STUDIO_TOKEN\" -H 'Content-Type: "
     "application/json' "
     "-d '{\"serialization_options\": {\"predictions\": {\"only_id\": false}}}' "
     "\"$LABEL_STUDIO_URL/api/projects/PROJECT/exports/\"; then GET its id with "
     "/download?exportType=JSON"},
    {NULL, NULL}};

const struct import_source import_labelstudio = {
    .name = "labelstudio", .title = "Label Studio", .shapes = shapes, .losses = losses};
