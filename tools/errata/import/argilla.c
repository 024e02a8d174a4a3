/*
 * argilla.c: Argilla 2: records in the forms of `to_list` and `to_json`, nested (without the status of responses)
 * and flattened, and flattened records as CSV. Each response of a user to a question is a separate row.
 */
#include "tools/errata/import/mapping.h"
#include "tools/errata/import/python_list.h"

enum {
    LOSS_BEFORE,
    LOSS_STATUS
};

/* Gets the i-th element of a list; returns false if it has fewer. */
static bool element(struct json_value list, size_t index, struct json_value *ret_value)
{
    struct json_walk walk = json_walk_start(list);
    struct slice key = {NULL, 0};

    for (size_t i = 0; i <= index; i++) {
        if (!json_walk_next(&walk, &key, ret_value)) {
            return false;
        }
    }
    return true;
}

/* Returns a list of a flattened record, also from the cell of a CSV file. */
static struct json_value list_of(struct import_call *call, struct json_value record,
                                 struct slice name)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};

    if (!json_member(record, name, &value)) {
        return (struct json_value){JSON_NULL, {NULL, 0}};
    }
    value = fields_parsed(call->arena, value);
    return value.kind == JSON_STRING
               ? python_list_read(call->arena, fields_value_text(call->arena, value))
               : value;
}

/* Returns a value as an object with the question's name. */
static struct json_value named(struct import_call *call, struct slice question,
                               struct json_value value)
{
    struct buffer json;

    if (value.kind == JSON_NULL) {
        return value;
    }
    buffer_init(&json, call->arena, value.text.size + question.size + 16);
    buffer_append_byte(&json, '{');
    json_write_string(&json, question, false);
    buffer_append_byte(&json, ':');
    buffer_append(&json, value.text);
    buffer_append_byte(&json, '}');
    return (struct json_value){buffer_ok(&json) ? JSON_OBJECT : JSON_NULL, buffer_slice(&json)};
}

/* Returns whether a response counts: only submitted ones do. */
static bool is_submitted(struct import_call *call, struct slice status, struct slice id)
{
    if (slice_equal(status, SLICE("submitted"))) {
        return true;
    }
    if (status.size > 0 && !slice_equal(status, SLICE("null"))) {
        import_skip(call, "a response that was not submitted", id);
        return false;
    }
    import_lose(call, LOSS_STATUS);
    if (!call->choices->trusts_status) {
        import_skip(call, "a response without a status (--trust-status)", id);
    }
    return call->choices->trusts_status;
}

/* A response by one user to one question. */
struct response {
    struct slice question;
    struct json_value value;
    struct json_value suggestion;
    struct slice user;
    struct slice status;
};

static void put_response(struct import_call *call, const struct import_row *record,
                         const struct response *response)
{
    struct import_row row = *record;

    row.text[IMPORT_SUBJECT] = record->text[IMPORT_ID];
    row.text[IMPORT_ID] = import_join_ids(
        call, record->text[IMPORT_ID], import_join_ids(call, response->question, response->user));
    row.text[IMPORT_NAME] = response->question;
    row.text[IMPORT_ACTOR] = response->user;
    row.before = named(call, response->question, response->suggestion);
    row.after = named(call, response->question, response->value);
    row.has_no_before = row.before.kind == JSON_NULL;
    if (is_submitted(call, response->status, row.text[IMPORT_ID])) {
        import_put(call, &row);
    }
}

static void put_nested_question(struct import_call *call, struct json_value record,
                                struct import_row *row, const struct response *question,
                                struct json_value list)
{
    struct json_walk walk = json_walk_start(list);
    struct json_value one = {JSON_NULL, {NULL, 0}};
    struct json_value suggestions = {JSON_NULL, {NULL, 0}};
    struct json_value suggestion = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};

    while (json_walk_next(&walk, &key, &one)) {
        struct response response = *question;

        if (fields_find(call->arena, record, "suggestions", &suggestions) &&
            json_member(suggestions, response.question, &suggestion)) {
            (void)fields_find(call->arena, suggestion, "value", &response.suggestion);
        }
        (void)fields_find(call->arena, one, "value", &response.value);
        response.user = fields_text(call->arena, one, "user_id");
        response.status = fields_text(call->arena, one, "status");
        put_response(call, row, &response);
    }
}

static void put_nested(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct json_value responses = {JSON_NULL, {NULL, 0}};
    struct json_value list = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct json_walk walk;

    if (!fields_find(call->arena, record, "responses", &responses) || responses.text.size <= 2) {
        import_skip(call, "a record without responses", row->text[IMPORT_ID]);
        return;
    }
    walk = json_walk_start(responses);
    while (json_walk_next(&walk, &key, &list)) {
        struct response question = {.value = {JSON_NULL, {NULL, 0}}};

        if (json_string(call->arena, key, &question.question) == OK) {
            put_nested_question(call, record, row, &question, list);
        }
    }
}

/* Values of the members `QUESTION.responses`, `.responses.users`, `.responses.status`, `.suggestion`. */
static void put_flat_question(struct import_call *call, struct json_value record,
                              struct import_row *row, struct slice question)
{
    struct slice base = arena_printf(call->arena, "%.*s.responses", (int)question.size,
                                     (const char *)question.data);
    struct json_value values = list_of(call, record, base);
    struct json_value users =
        list_of(call, record,
                arena_printf(call->arena, "%.*s.users", (int)base.size, (const char *)base.data));
    struct json_value statuses =
        list_of(call, record,
                arena_printf(call->arena, "%.*s.status", (int)base.size, (const char *)base.data));
    struct response response = {.question = question};
    struct json_value part = {JSON_NULL, {NULL, 0}};
    struct slice suggestion = arena_printf(call->arena, "%.*s.suggestion", (int)question.size,
                                           (const char *)question.data);

    if (json_member(record, suggestion, &part)) {
        response.suggestion = fields_parsed(call->arena, part);
    }
    for (size_t i = 0; element(values, i, &response.value); i++) {
        response.user =
            element(users, i, &part) ? fields_value_text(call->arena, part) : slice_of(NULL, 0);
        response.status =
            element(statuses, i, &part) ? fields_value_text(call->arena, part) : slice_of(NULL, 0);
        put_response(call, row, &response);
    }
}

static bool ends_with(struct slice text, struct slice ending)
{
    return text.size > ending.size &&
           slice_equal(slice_after(text, text.size - ending.size), ending);
}

/* The model's input is the members without a dot, except the ids. */
static bool is_field(struct slice name)
{
    return memchr(name.data, '.', name.size) == NULL && !slice_equal(name, SLICE("id")) &&
           !slice_equal(name, SLICE("_server_id")) && !slice_equal(name, SLICE("status"));
}

static struct slice make_input(struct import_call *call, struct json_value record)
{
    struct json_walk walk = json_walk_start(record);
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct buffer json;

    buffer_init(&json, call->arena, 256);
    while (json_walk_next(&walk, &key, &value)) {
        struct slice name = {NULL, 0};

        if (value.kind != JSON_NULL && json_string(call->arena, key, &name) == OK &&
            name.size > 0 && is_field(name)) {
            buffer_append(&json, json.size > 0 ? SLICE(",") : SLICE("{"));
            buffer_append(&json, key);
            buffer_append_byte(&json, ':');
            buffer_append(&json, value.text);
        }
    }
    if (json.size > 0) {
        buffer_append_byte(&json, '}');
    }
    return buffer_slice(&json);
}

static void put_flat(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct json_walk walk = json_walk_start(record);
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    bool has_responses = false;

    row->text[IMPORT_INPUT] = make_input(call, record);
    while (json_walk_next(&walk, &key, &value)) {
        struct slice name = {NULL, 0};

        if (value.kind != JSON_NULL && json_string(call->arena, key, &name) == OK &&
            ends_with(name, SLICE(".responses"))) {
            has_responses = true;
            name.size -= strlen(".responses");
            put_flat_question(call, record, row, name);
        }
    }
    if (!has_responses) {
        import_skip(call, "a record without responses", row->text[IMPORT_ID]);
    }
}

static const struct import_member nested[] = {{IMPORT_ID, "id"},
                                              {IMPORT_ID, "_server_id"},
                                              {IMPORT_INPUT, "fields"},
                                              {IMPORT_NO_FIELD, NULL}};

static const struct import_member flat[] = {
    {IMPORT_ID, "id"}, {IMPORT_ID, "_server_id"}, {IMPORT_NO_FIELD, NULL}};

static const struct import_shape shapes[] = {{.name = "nested record",
                                              .needs = {"id", "fields"},
                                              .kind = IMPORT_CORRECTION,
                                              .type = "response",
                                              .members = nested,
                                              .read = put_nested},
                                             {.name = "flattened record",
                                              .needs = {"id"},
                                              .kind = IMPORT_CORRECTION,
                                              .type = "response",
                                              .members = flat,
                                              .read = put_flat},
                                             {.name = NULL}};

static const struct import_loss losses[] = {
    [LOSS_BEFORE] = {"records have responses without suggestions",
                     "none: the tool does not store them either"},
    [LOSS_STATUS] =
        {"nested records leave out whether a response was submitted, is a draft or was discarded",
         "python3 -c 'import argilla, json\n"
         "client = argilla.Argilla(api_url=\"URL\", api_key=\"KEY\")\n"
         "rows = client.datasets(\"DATASET\").records(with_responses=True, with_suggestions=True)\n"
         "json.dump(rows.to_list(flatten=True), open(\"records.json\", \"w\"))'; or "
         "--trust-status, "
         "if all of them were submitted"},
    {NULL, NULL}};

const struct import_source import_argilla = {
    .name = "argilla", .title = "Argilla", .shapes = shapes, .losses = losses};
