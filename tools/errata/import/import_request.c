/*
 * import_request.c: see import_request.h. Rows are found again by ids that are facts, which retention keeps:
 * of a correction the entity, of a review its state, of a verdict its receipt and time.
 */
#include "tools/errata/import/import_request.h"

#include "store/base/sha256.h"
#include "store/base/text.h"

#define CAPTURE "/errata.v1.FeedbackService/CaptureFeedbackEvent"
#define LIST_CORRECTIONS "/errata.v1.FeedbackService/ListFeedbackEvents"
#define SUBMIT_REVIEW "/errata.v1.ReviewService/SubmitReview"
#define LIST_REVIEWS "/errata.v1.ReviewService/ListReviews"
#define SUBMIT_VERDICT "/errata.v1.VerdictService/SubmitVerdict"
#define LIST_EVENTS "/errata.v1.EventService/ListEvents"
#define PROPOSE_RULE "/errata.v1.LearningService/ProposeArtifact"
#define PROPOSE_GUIDELINE "/errata.v1.GuidelineService/ProposeGuideline"
#define RECORD_DECISION "/errata.v1.DecisionService/RecordDecision"
#define GET_DECISION "/errata.v1.DecisionService/GetDecision"
#define CHECK_GUIDELINE "/errata.v1.GuidelineService/CheckConflicts"

/* Maximum bytes of a note in the contract. */
#define NOTE_BYTES_MAX 8192
/* Maximum characters of a review's note on the server. */
#define NOTE_CHARACTERS_MAX 500

/* An object that is being written. */
struct writer {
    struct arena *arena;
    struct buffer json;
    bool has_member;
};

static void begin(struct writer *writer, struct arena *arena)
{
    *writer = (struct writer){.arena = arena};
    buffer_init(&writer->json, arena, 512);
    buffer_append_byte(&writer->json, '{');
}

static struct slice end(struct writer *writer)
{
    buffer_append_byte(&writer->json, '}');
    return buffer_ok(&writer->json) ? buffer_slice(&writer->json) : slice_of(NULL, 0);
}

static void add_raw(struct writer *writer, const char *name, struct slice json)
{
    buffer_append(&writer->json, writer->has_member ? SLICE(",") : SLICE(""));
    json_write_string(&writer->json, slice_text(name), false);
    buffer_append_byte(&writer->json, ':');
    buffer_append(&writer->json, json);
    writer->has_member = true;
}

/* Adds a text; omits an empty one. */
static void add_text(struct writer *writer, const char *name, struct slice text)
{
    if (text.size > 0) {
        add_raw(writer, name, fields_quoted(writer->arena, text).text);
    }
}

/* Adds a JSON value as the text of a `_json` field. */
static void add_json(struct writer *writer, const char *name, struct json_value value)
{
    if (value.kind != JSON_NULL) {
        add_text(writer, name, value.text);
    }
}

/* Returns a text that is a valid id of the contract unchanged, and any other text as its digest. */
static struct slice opaque(struct arena *arena, struct slice text)
{
    struct sha256_digest digest;
    char hex[2 * SHA256_BYTES];

    if (text.size <= IMPORT_OPAQUE_BYTES_MAX && !text_has_control(text)) {
        return text;
    }
    digest = sha256(text);
    sha256_format(&digest, hex);
    return arena_printf(arena, "sha256:%.*s", (int)sizeof(hex), hex);
}

struct json_value import_request_object(struct arena *arena, struct json_value value)
{
    struct writer writer;
    struct json_value object = fields_parsed(arena, value);

    if (object.kind == JSON_OBJECT || object.kind == JSON_NULL) {
        return object;
    }
    begin(&writer, arena);
    add_raw(&writer, object.kind == JSON_STRING ? "text" : "value", object.text);
    return (struct json_value){JSON_OBJECT, end(&writer)};
}

static struct slice make_ref(struct arena *arena, const struct import_source *source,
                             const struct import_row *row)
{
    struct slice id = row->text[IMPORT_ID];

    return opaque(arena, arena_printf(arena, "%s:%s:%.*s", source->name, row->type, (int)id.size,
                                      (const char *)id.data));
}

/* Adds the kind of the judged object as the layout or the subcategory. */
static struct slice layout_of(struct arena *arena, const struct import_source *source,
                              const struct import_choices *choices, const struct import_row *row)
{
    struct slice name = row->text[IMPORT_NAME];

    if (row->text[IMPORT_LAYOUT].size > 0) {
        return opaque(arena, row->text[IMPORT_LAYOUT]);
    }
    if (choices->layout.size > 0) {
        return choices->layout;
    }
    return name.size == 0 ? slice_text(source->name)
                          : opaque(arena, arena_printf(arena, "%s:%.*s", source->name,
                                                       (int)name.size, (const char *)name.data));
}

/* --- corrections --- */

static struct slice snippet(struct slice input)
{
    return text_is_utf8(input) ? text_first_characters(input, IMPORT_SNIPPET_CHARACTERS_MAX)
                               : slice_of(NULL, 0);
}

static struct slice make_meta(struct arena *arena, const struct import_row *row, struct slice ref)
{
    struct writer writer;

    begin(&writer, arena);
    add_text(&writer, "source_ref", ref);
    add_text(&writer, "input_snippet", snippet(row->text[IMPORT_INPUT]));
    add_text(&writer, "metric", text_first_bytes(row->text[IMPORT_METRIC], NOTE_BYTES_MAX));
    add_text(&writer, "notes", text_first_bytes(row->text[IMPORT_NOTES], NOTE_BYTES_MAX));
    return end(&writer);
}

static void add_people(struct writer *writer, const char *actor, const struct import_row *row)
{
    add_text(writer, actor, opaque(writer->arena, row->text[IMPORT_ACTOR]));
    add_text(writer, "created_at", row->text[IMPORT_AT]);
    if (row->text[IMPORT_ANNOTATOR].size > 0) {
        add_text(writer, "annotator_kind", row->text[IMPORT_ANNOTATOR]);
    } else if (row->kind == IMPORT_CORRECTION) {
        add_text(writer, "annotator_kind", SLICE("HUMAN"));
    }
}

/* Narrows a lookup to the row's own time, so that the reply is short for any number of events of the subject. */
static void add_moment(struct writer *lookup, const struct import_row *row)
{
    int64_t us = 0;

    if (fields_time(row->text[IMPORT_AT], &us)) {
        add_text(lookup, "start_time", row->text[IMPORT_AT]);
        if (us < FIELDS_TIME_US_MAX) {
            add_text(lookup, "end_time", fields_time_text(lookup->arena, us + 1));
        }
    }
}

static void make_correction(struct arena *arena, const struct import_source *source,
                            const struct import_choices *choices, const struct import_row *row,
                            struct import_request *request)
{
    struct slice type = arena_printf(arena, "%s.%s", source->name, row->type);
    struct slice subject =
        row->text[row->text[IMPORT_SUBJECT].size > 0 ? IMPORT_SUBJECT : IMPORT_ID];
    struct slice id = opaque(arena, row->text[IMPORT_ID]);
    struct writer event;
    struct writer writer;
    struct writer lookup;

    begin(&event, arena);
    add_text(&event, "event_type", SLICE("EXTRACTION_FIELD_CORRECTED"));
    add_text(&event, "entity_type", type);
    add_text(&event, "entity_id", id);
    add_text(&event, "document_id", opaque(arena, subject));
    add_text(&event, "layout_fingerprint", layout_of(arena, source, choices, row));
    add_json(&event, "before_json", import_request_object(arena, row->before));
    add_json(&event, "after_json", import_request_object(arena, row->after));
    add_text(&event, "meta_json", make_meta(arena, row, request->ref));
    add_people(&event, "actor_user_id", row);
    begin(&writer, arena);
    add_raw(&writer, "event", end(&event));
    begin(&lookup, arena);
    add_text(&lookup, "document_id", opaque(arena, subject));
    add_text(&lookup, "entity_type", type);
    add_text(&lookup, "entity_id", id);
    add_moment(&lookup, row);
    request->method = CAPTURE;
    request->json = end(&writer);
    request->lookup_method = LIST_CORRECTIONS;
    request->lookup = end(&lookup);
}

/* Members of an exported correction that are stored again; those from the fifth on are indexed or narrow a list. */
static const char *const raw_members[] = {"annotator_kind", "created_at",         "actor_user_id",
                                          "event_type",     "layout_fingerprint", "document_id",
                                          "draft_order_id", "entity_type",        "entity_id"};
static const char *const raw_objects[] = {"before_json", "after_json", "corrected_output_json",
                                          "meta_json"};

/* Makes the request of an exported correction; its time and its subjects find it again. */
static void make_raw(struct arena *arena, const struct import_row *row,
                     struct import_request *request)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct writer event;
    struct writer writer;
    struct writer lookup;

    begin(&event, arena);
    begin(&lookup, arena);
    for (size_t i = 0; i < sizeof(raw_members) / sizeof(raw_members[0]); i++) {
        struct slice text = fields_text(arena, row->raw, raw_members[i]);

        add_text(&event, raw_members[i], text);
        if (i >= 3) {
            add_text(&lookup, raw_members[i], text);
        }
    }
    for (size_t i = 0; i < sizeof(raw_objects) / sizeof(raw_objects[0]); i++) {
        if (fields_find(arena, row->raw, raw_objects[i], &value)) {
            add_json(&event, raw_objects[i], import_request_object(arena, value));
        }
    }
    add_moment(&lookup, row);
    add_raw(&lookup, "page_size", SLICE("1000"));
    begin(&writer, arena);
    add_raw(&writer, "event", end(&event));
    request->method = CAPTURE;
    request->json = end(&writer);
    request->lookup_method = LIST_CORRECTIONS;
    request->lookup = end(&lookup);
}

/* --- reviews --- */

static struct slice make_snapshot(struct arena *arena, const struct import_row *row)
{
    struct writer writer;

    begin(&writer, arena);
    add_text(&writer, "metric", text_first_bytes(row->text[IMPORT_METRIC], NOTE_BYTES_MAX));
    add_text(&writer, "value", text_first_bytes(row->text[IMPORT_VALUE], NOTE_BYTES_MAX));
    return writer.has_member ? end(&writer) : slice_of(NULL, 0);
}

static void make_review(struct arena *arena, const struct import_source *source,
                        const struct import_choices *choices, const struct import_row *row,
                        struct import_request *request)
{
    struct slice notes = row->text[IMPORT_NOTES];
    struct slice run = opaque(arena, row->text[IMPORT_SUBJECT]);
    struct writer review;
    struct writer writer;
    struct writer lookup;

    begin(&review, arena);
    add_text(&review, "run_id", run);
    add_text(&review, "subcategory", layout_of(arena, source, choices, row));
    add_text(&review, "decision", row->text[IMPORT_DECISION]);
    add_text(&review, "state", request->ref);
    add_text(&review, "notes", text_first_characters(notes, NOTE_CHARACTERS_MAX));
    add_text(&review, "item_snapshot_json", make_snapshot(arena, row));
    add_people(&review, "reviewed_by", row);
    begin(&writer, arena);
    add_raw(&writer, "review", end(&review));
    begin(&lookup, arena);
    add_text(&lookup, "run_id", run);
    add_moment(&lookup, row);
    add_raw(&lookup, "page_size", SLICE("1000"));
    request->method = SUBMIT_REVIEW;
    request->json = end(&writer);
    request->lookup_method = LIST_REVIEWS;
    request->lookup = end(&lookup);
}

/* --- verdicts, rules, guidelines, decisions --- */

/* Adds the parts of a text between semicolons as a list. */
static void add_list(struct writer *writer, const char *name, struct slice text)
{
    struct buffer list;

    buffer_init(&list, writer->arena, text.size + 16);
    while (text.size > 0) {
        const uint8_t *mark = memchr(text.data, ';', text.size);
        size_t size = mark != NULL ? (size_t)(mark - text.data) : text.size;
        struct slice part = slice_of(text.data, size);

        text = slice_after(text, mark != NULL ? size + 1 : size);
        for (; part.size > 0 && part.data[0] == ' '; part = slice_after(part, 1)) {
        }
        for (; part.size > 0 && part.data[part.size - 1] == ' '; part.size--) {
        }
        if (part.size > 0) {
            buffer_append_byte(&list, list.size == 0 ? '[' : ',');
            json_write_string(&list, part, false);
        }
    }
    if (list.size > 0) {
        buffer_append_byte(&list, ']');
        add_raw(writer, name, buffer_slice(&list));
    }
}

static void make_verdict(struct arena *arena, const struct import_row *row,
                         struct import_request *request)
{
    struct slice receipt = opaque(arena, row->text[IMPORT_SUBJECT]);
    struct writer verdict;
    struct writer subject;
    struct writer writer;
    struct writer lookup;

    begin(&verdict, arena);
    add_text(&verdict, "receipt_id", receipt);
    add_text(&verdict, "original_verdict", row->text[IMPORT_ORIGINAL_VERDICT]);
    add_text(&verdict, "correct_verdict", row->text[IMPORT_CORRECT_VERDICT]);
    add_text(&verdict, "original_score", row->text[IMPORT_ORIGINAL_SCORE]);
    add_list(&verdict, "confirmed_indicators", row->text[IMPORT_CONFIRMED]);
    add_list(&verdict, "rejected_indicators", row->text[IMPORT_REJECTED]);
    add_list(&verdict, "missed_indicators", row->text[IMPORT_MISSED]);
    add_text(&verdict, "reviewer_notes", text_first_bytes(row->text[IMPORT_NOTES], NOTE_BYTES_MAX));
    add_people(&verdict, "actor_user_id", row);
    begin(&writer, arena);
    add_raw(&writer, "submission", end(&verdict));
    begin(&subject, arena);
    add_text(&subject, "kind", SLICE("RECEIPT"));
    add_text(&subject, "id", receipt);
    begin(&lookup, arena);
    add_raw(&lookup, "subject", end(&subject));
    add_raw(&lookup, "page_size", SLICE("1000"));
    request->method = SUBMIT_VERDICT;
    request->json = end(&writer);
    request->lookup_method = LIST_EVENTS;
    request->lookup = end(&lookup);
}

static void make_rule(struct arena *arena, const struct import_row *row,
                      struct import_request *request)
{
    struct writer rule;
    struct writer writer;

    begin(&rule, arena);
    add_text(&rule, "rule_type", row->text[IMPORT_RULE_TYPE]);
    add_text(&rule, "pattern", row->text[IMPORT_PATTERN]);
    add_text(&rule, "confidence_adjustment", row->text[IMPORT_ADJUSTMENT]);
    begin(&writer, arena);
    add_raw(&writer, "learned_rule", end(&rule));
    add_text(&writer, "reason",
             row->text[IMPORT_NOTES].size > 0 ? text_first_bytes(row->text[IMPORT_NOTES], 1024)
                                              : request->ref);
    request->method = PROPOSE_RULE;
    request->json = end(&writer);
}

static void make_guideline(struct arena *arena, const struct import_row *row,
                           struct import_request *request)
{
    struct slice type = row->text[IMPORT_RULE_TYPE];
    struct writer proposal;
    struct writer writer;
    struct writer lookup;

    begin(&proposal, arena);
    add_text(&proposal, "rule_type", type.size > 0 ? type : SLICE("GUIDELINE"));
    add_list(&proposal, "affected_agents", row->text[IMPORT_AGENTS]);
    add_text(&proposal, "rule_content", row->text[IMPORT_RULE_CONTENT]);
    add_text(&proposal, "evidence_summary",
             row->text[IMPORT_NOTES].size > 0 ? text_first_bytes(row->text[IMPORT_NOTES], 4000)
                                              : request->ref);
    begin(&writer, arena);
    add_raw(&writer, "proposal", end(&proposal));
    begin(&lookup, arena);
    add_list(&lookup, "affected_agents", row->text[IMPORT_AGENTS]);
    add_text(&lookup, "rule_content", row->text[IMPORT_RULE_CONTENT]);
    request->method = PROPOSE_GUIDELINE;
    request->json = end(&writer);
    request->lookup_method = CHECK_GUIDELINE;
    request->lookup = end(&lookup);
}

/* The record's own id is the id of the decision, by which the server refuses another one with other content. */
static void make_decision(struct arena *arena, const struct import_row *row,
                          struct import_request *request)
{
    static const struct {
        const char *name;
        enum import_field field;
    } texts[] = {{"gate_id", IMPORT_GATE},
                 {"epic_id", IMPORT_EPIC},
                 {"task_id", IMPORT_TASK},
                 {"agent_name", IMPORT_AGENT},
                 {"decision", IMPORT_DECISION},
                 {"reviewer_id", IMPORT_ACTOR},
                 {"created_at", IMPORT_AT},
                 {"review_duration_seconds", IMPORT_SECONDS},
                 {"agent_output_sha", IMPORT_OUTPUT_SHA},
                 {"approved_output_sha", IMPORT_APPROVED_SHA},
                 {"reviewer_comment", IMPORT_NOTES},
                 {"correction_summary", IMPORT_SUMMARY},
                 {"correction_diff", IMPORT_DIFF}};
    struct slice id = opaque(arena, row->text[IMPORT_ID]);
    struct writer decision;
    struct writer writer;
    struct writer lookup;

    begin(&decision, arena);
    add_text(&decision, "decision_id", id);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        add_text(&decision, texts[i].name, row->text[texts[i].field]);
    }
    add_list(&decision, "tags", row->text[IMPORT_TAGS]);
    begin(&writer, arena);
    add_raw(&writer, "decision", end(&decision));
    begin(&lookup, arena);
    add_text(&lookup, "decision_id", id);
    request->method = RECORD_DECISION;
    request->json = end(&writer);
    request->lookup_method = GET_DECISION;
    request->lookup = end(&lookup);
}

bool import_request_make(struct arena *arena, const struct import_source *source,
                         const struct import_choices *choices, const struct import_row *row,
                         struct import_request *ret_request)
{
    struct import_request request = {.ref = make_ref(arena, source, row)};

    switch (row->kind) {
    case IMPORT_CORRECTION:
        if (row->raw.kind == JSON_OBJECT) {
            make_raw(arena, row, &request);
        } else {
            make_correction(arena, source, choices, row, &request);
        }
        break;
    case IMPORT_REVIEW:
        make_review(arena, source, choices, row, &request);
        break;
    case IMPORT_VERDICT:
        make_verdict(arena, row, &request);
        break;
    case IMPORT_RULE:
        make_rule(arena, row, &request);
        break;
    case IMPORT_GUIDELINE:
        make_guideline(arena, row, &request);
        break;
    case IMPORT_AGENT_DECISION:
        make_decision(arena, row, &request);
        break;
    case IMPORT_OUTPUT:
    case IMPORT_KIND_COUNT:
        break;
    }
    *ret_request = request;
    return request.json.size > 0 && (request.lookup_method == NULL || request.lookup.size > 0);
}

/* --- stored rows --- */

static bool has_time(struct arena *arena, const struct import_row *row, struct json_value stored)
{
    int64_t wanted = 0;
    int64_t found = 0;

    if (row->text[IMPORT_AT].size == 0) {
        return true;
    }
    return fields_time(row->text[IMPORT_AT], &wanted) &&
           fields_time(fields_text(arena, stored, "createdAt"), &found) && wanted == found;
}

/* Returns whether a member of an exported correction equals that of a stored event, whose name is in proto
 * JSON. */
static bool has_object(struct arena *arena, const struct import_row *row, const char *member,
                       struct json_value stored, const char *stored_member)
{
    struct json_value wanted = {JSON_NULL, {NULL, 0}};
    struct json_value found = {JSON_NULL, {NULL, 0}};
    bool has_wanted = fields_find(arena, row->raw, member, &wanted);
    bool has_found = fields_find(arena, stored, stored_member, &found);
    bool equal = false;

    if (!has_wanted || !has_found) {
        return has_wanted == has_found;
    }
    return json_equal(arena, import_request_object(arena, wanted), fields_parsed(arena, found),
                      &equal) == OK &&
           equal;
}

static bool is_correction(struct arena *arena, const struct import_row *row,
                          struct json_value stored)
{
    if (row->raw.kind != JSON_OBJECT) {
        return has_time(arena, row, stored);
    }
    return has_object(arena, row, "before_json", stored, "beforeJson") &&
           has_object(arena, row, "after_json", stored, "afterJson");
}

/* Returns whether an enum value, with or without its type's prefix, is a word. */
static bool is_value(struct slice value, struct slice word)
{
    return value.size >= word.size && word.size > 0 &&
           slice_equal(slice_after(value, value.size - word.size), word);
}

static bool is_row(struct arena *arena, const struct import_row *row,
                   const struct import_request *request, struct json_value stored)
{
    switch (row->kind) {
    case IMPORT_CORRECTION:
        return is_correction(arena, row, stored);
    case IMPORT_REVIEW:
        return slice_equal(fields_text(arena, stored, "state"), request->ref) &&
               has_time(arena, row, stored);
    case IMPORT_VERDICT:
        return is_value(fields_text(arena, stored, "verdictSubmission.correctVerdict"),
                        row->text[IMPORT_CORRECT_VERDICT]) &&
               is_value(fields_text(arena, stored, "verdictSubmission.originalVerdict"),
                        row->text[IMPORT_ORIGINAL_VERDICT]) &&
               has_time(arena, row, stored);
    case IMPORT_GUIDELINE:
        /* Returns whether a pending or active rule has the same content. */
        return is_value(fields_text(arena, stored, "kind"), SLICE("DUPLICATE"));
    case IMPORT_AGENT_DECISION: /* found by its id */
    case IMPORT_RULE:
    case IMPORT_OUTPUT:
    case IMPORT_KIND_COUNT:
        break;
    }
    return false;
}

bool import_request_is_stored(struct arena *arena, const struct import_row *row,
                              const struct import_request *request, struct json_value reply)
{
    static const char *const lists[IMPORT_KIND_COUNT] = {[IMPORT_CORRECTION] = "events",
                                                         [IMPORT_REVIEW] = "reviews",
                                                         [IMPORT_VERDICT] = "events",
                                                         [IMPORT_GUIDELINE] = "conflicts"};
    struct json_value list = {JSON_NULL, {NULL, 0}};
    struct json_value stored = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct json_walk walk;

    if (row->kind == IMPORT_AGENT_DECISION) {
        return fields_find(arena, reply, "decision", &stored);
    }
    if (lists[row->kind] == NULL || !fields_find(arena, reply, lists[row->kind], &list)) {
        return false;
    }
    walk = json_walk_start(list);
    while (json_walk_next(&walk, &key, &stored)) {
        if (is_row(arena, row, request, stored)) {
            return true;
        }
    }
    return false;
}
