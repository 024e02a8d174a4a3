/*
 * export_format.c: see export_format.h.
 */
#include "tools/errata/import/export_format.h"

/* --- JSON lines --- */

/* Members in the order of a line, with their names in proto JSON. */
static const struct {
    const char *name;
    const char *member;
    enum {
        MEMBER_TEXT,
        MEMBER_WORD,
        MEMBER_OBJECT,
        MEMBER_VALUE
    } kind;
} members[] = {{"id", "id", MEMBER_TEXT},
               {"event_type", "eventType", MEMBER_WORD},
               {"created_at", "createdAt", MEMBER_TEXT},
               {"actor_user_id", "actorUserId", MEMBER_TEXT},
               {"annotator_kind", "annotatorKind", MEMBER_WORD},
               {"entity_type", "entityType", MEMBER_TEXT},
               {"entity_id", "entityId", MEMBER_TEXT},
               {"draft_order_id", "draftOrderId", MEMBER_TEXT},
               {"document_id", "documentId", MEMBER_TEXT},
               {"layout_fingerprint", "layoutFingerprint", MEMBER_TEXT},
               {"fields_changed", "fieldsChanged", MEMBER_VALUE},
               {"before_json", "beforeJson", MEMBER_OBJECT},
               {"after_json", "afterJson", MEMBER_OBJECT},
               {"corrected_output_json", "correctedOutputJson", MEMBER_OBJECT},
               {"meta_json", "metaJson", MEMBER_OBJECT}};

/* Returns an enum value without its type's prefix. */
static struct slice short_word(struct slice word)
{
    static const struct slice prefixes[] = {SLICE("FEEDBACK_EVENT_TYPE_"),
                                            SLICE("ANNOTATOR_KIND_")};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (slice_starts_with(word, prefixes[i])) {
            return slice_after(word, prefixes[i].size);
        }
    }
    return word;
}

/* Writes checked JSON without white space between its tokens: stored objects keep their line breaks, which a line
 * cannot have, and an object that was imported from a line gives the same bytes in every format. */
static struct slice compact(struct arena *arena, struct slice json)
{
    struct buffer text;
    bool in_string = false;

    buffer_init(&text, arena, json.size + 1);
    for (size_t i = 0; i < json.size; i++) {
        uint8_t byte = json.data[i];

        if (in_string && byte == '\\') {
            buffer_append(&text, slice_of(json.data + i, 2)); /* an escape has at least two bytes */
            i++;
            continue;
        }
        in_string = byte == '"' ? !in_string : in_string;
        if (in_string || memchr(" \t\r\n", byte, 4) == NULL) {
            buffer_append_byte(&text, byte);
        }
    }
    return buffer_ok(&text) ? buffer_slice(&text) : SLICE("null");
}

static struct slice member_json(struct arena *arena, struct json_value event, size_t index)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};
    bool found = fields_find(arena, event, members[index].member, &value);

    if (!found) {
        return SLICE("null");
    }
    switch (members[index].kind) {
    case MEMBER_WORD:
        return fields_quoted(arena, short_word(fields_value_text(arena, value))).text;
    case MEMBER_OBJECT:
        return compact(arena, fields_parsed(arena, value).text);
    case MEMBER_TEXT:
    case MEMBER_VALUE:
        break;
    }
    return value.text;
}

static const char *write_line(struct arena *arena, struct json_value event,
                              const struct export_choices *choices, struct buffer *line)
{
    (void)choices;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        buffer_printf(line, "%c\"%s\":", i == 0 ? '{' : ',', members[i].name);
        buffer_append(line, member_json(arena, event, i));
    }
    buffer_append_byte(line, '}');
    return NULL;
}

/* --- chat messages --- */

/* Returns the text of an output: its only member `text`, else the object. */
static struct slice output_text(struct arena *arena, struct json_value output)
{
    struct json_walk walk = json_walk_start(output);
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct json_value more = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};

    if (output.kind == JSON_OBJECT && json_walk_next(&walk, &key, &value) &&
        json_key_is(key, SLICE("text")) && value.kind == JSON_STRING &&
        !json_walk_next(&walk, &key, &more)) {
        return fields_value_text(arena, value);
    }
    return compact(arena, output.text);
}

static void add_message(struct arena *arena, struct buffer *line, const char *role,
                        struct slice content)
{
    buffer_append(line, line->size > strlen("{\"messages\":[") ? SLICE(",") : SLICE(""));
    buffer_printf(line, "{\"role\":\"%s\",\"content\":", role);
    buffer_append(line, fields_quoted(arena, content).text);
    buffer_append_byte(line, '}');
}

static const char *write_chat(struct arena *arena, struct json_value event,
                              const struct export_choices *choices, struct buffer *line)
{
    struct json_value output = {JSON_NULL, {NULL, 0}};
    struct slice input = fields_text(arena, event, "metaJson.input_snippet");

    if (!slice_equal(short_word(fields_text(arena, event, "annotatorKind")), SLICE("HUMAN"))) {
        return "not by a person";
    }
    if (!slice_starts_with(short_word(fields_text(arena, event, "eventType")),
                           SLICE("EXTRACTION_"))) {
        return "not a correction of an output";
    }
    if (input.size == 0) {
        return "without the text that the model read";
    }
    if (slice_equal(fields_text(arena, event, "outputReduced"), SLICE("true"))) {
        return "with a truncated output";
    }
    if (!fields_find(arena, event, "correctedOutputJson", &output) &&
        !fields_find(arena, event, "afterJson", &output)) {
        return "without a corrected output";
    }
    buffer_append(line, SLICE("{\"messages\":["));
    if (choices->system.size > 0) {
        add_message(arena, line, "system", choices->system);
    }
    add_message(arena, line, "user", input);
    add_message(arena, line, "assistant", output_text(arena, fields_parsed(arena, output)));
    buffer_append(line, SLICE("]}"));
    return NULL;
}

/* --- OpenTelemetry --- */

static void add_attribute(struct buffer *line, const char *name, struct slice json)
{
    buffer_append(line, line->data[line->size - 1] == '[' ? SLICE("") : SLICE(","));
    buffer_printf(line, "{\"key\":\"%s\",\"value\":{", name);
    buffer_append(line, json);
    buffer_append(line, SLICE("}}"));
}

static void add_text_attribute(struct arena *arena, struct buffer *line, const char *name,
                               struct slice text)
{
    struct slice quoted = fields_quoted(arena, text).text;

    if (text.size > 0) {
        add_attribute(line, name,
                      arena_printf(arena, "\"stringValue\":%.*s", (int)quoted.size,
                                   (const char *)quoted.data));
    }
}

static bool is_trace_id(struct slice id)
{
    for (size_t i = 0; i < id.size; i++) {
        if (memchr("0123456789abcdef", id.data[i], 16) == NULL) {
            return false;
        }
    }
    return id.size == 32;
}

/* `qty, unit` */
static struct slice changed_fields(struct arena *arena, struct json_value event)
{
    struct json_value list = {JSON_NULL, {NULL, 0}};
    struct json_value name = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct json_walk walk;
    struct buffer text;

    buffer_init(&text, arena, 64);
    if (fields_find(arena, event, "fieldsChanged", &list)) {
        walk = json_walk_start(list);
        while (json_walk_next(&walk, &key, &name)) {
            buffer_append(&text, text.size > 0 ? SLICE(", ") : SLICE("changed: "));
            buffer_append(&text, fields_value_text(arena, name));
        }
    }
    return buffer_slice(&text);
}

static void add_attributes(struct arena *arena, struct json_value event, struct buffer *line)
{
    static const struct {
        const char *name;
        const char *member;
    } texts[] = {{"errata.event.id", "id"},
                 {"errata.document.id", "documentId"},
                 {"errata.layout", "layoutFingerprint"},
                 {"errata.entity.type", "entityType"},
                 {"errata.entity.id", "entityId"},
                 {"errata.actor", "actorUserId"}};
    static const char *const objects[][2] = {{"errata.before", "beforeJson"},
                                             {"errata.after", "afterJson"}};

    add_text_attribute(arena, line, "gen_ai.evaluation.name", SLICE("errata.correction"));
    add_text_attribute(arena, line, "gen_ai.evaluation.score.label", SLICE("corrected"));
    add_attribute(line, "gen_ai.evaluation.score.value", SLICE("\"doubleValue\":0"));
    add_text_attribute(arena, line, "gen_ai.evaluation.explanation", changed_fields(arena, event));
    add_text_attribute(arena, line, "errata.annotator.kind",
                       short_word(fields_text(arena, event, "annotatorKind")));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        add_text_attribute(arena, line, texts[i].name, fields_text(arena, event, texts[i].member));
    }
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        add_text_attribute(arena, line, objects[i][0],
                           compact(arena, fields_text(arena, event, objects[i][1])));
    }
}

static const char *write_otlp(struct arena *arena, struct json_value event,
                              const struct export_choices *choices, struct buffer *line)
{
    struct slice document = fields_text(arena, event, "documentId");
    int64_t us = 0;

    (void)choices;
    if (!fields_time(fields_text(arena, event, "createdAt"), &us)) {
        return "without a time";
    }
    buffer_append(line, SLICE("{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":"
                              "\"service.name\",\"value\":{\"stringValue\":\"errata\"}}]},"
                              "\"scopeLogs\":[{\"scope\":{\"name\":\"errata\"},\"logRecords\":[{"));
    buffer_printf(line, "\"timeUnixNano\":\"%lld000\",\"eventName\":\"gen_ai.evaluation.result\",",
                  (long long)us);
    if (is_trace_id(document)) {
        buffer_printf(line, "\"traceId\":\"%.*s\",", (int)document.size,
                      (const char *)document.data);
    }
    buffer_append(line, SLICE("\"attributes\":["));
    add_attributes(arena, event, line);
    buffer_append(line, SLICE("]}]}]}]}"));
    return NULL;
}

const struct export_format export_formats[] = {{"jsonl", false, write_line},
                                               {"chat", true, write_chat},
                                               {"otlp", false, write_otlp},
                                               {NULL, false, NULL}};

const struct export_format *export_format_find(const char *name)
{
    for (const struct export_format *format = export_formats; format->name != NULL; format++) {
        if (strcmp(format->name, name) == 0) {
            return format;
        }
    }
    return NULL;
}
