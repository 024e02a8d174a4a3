/*
 * mirror_event.c: see mirror_event.h. A table of the kinds of events, and functions for their
 * differences.
 */
#include "tools/errata/mirror/mirror_event.h"

#include "store/base/buffer.h"
#include "store/base/timestamp.h"
#include "tools/errata/engine/reply.h"

#include <stdlib.h>

/* For a kind of event, the member that names the decision or rule that it changed. */
struct event_shape {
    const char *kind;
    const char *member; /* name of the payload */
    /* Its member with the id of a decision or rule; NULL: the event names other events, or none. */
    const char *id;
    enum mirror_file_kind file;
    const char *verb;
};

static const struct event_shape shapes[] = {
    {"EVENT_KIND_DECISION_RECORDED", "decision", "id", MIRROR_DECISION, "record decision"},
    {"EVENT_KIND_EVALUATION_SUBMITTED", "evaluationSubmitted", "feedbackId", MIRROR_DECISION,
     "submit evaluation of decision"},
    {"EVENT_KIND_EVALUATION_OVERRIDDEN", "evaluationOverridden", "feedbackId", MIRROR_DECISION,
     "set class of decision"},
    {"EVENT_KIND_PROPOSAL_CREATED", "proposal", "id", MIRROR_RULE, "propose rule"},
    {"EVENT_KIND_PROPOSAL_VOTED", "proposalVoted", "proposalId", MIRROR_RULE, "vote on rule"},
    {"EVENT_KIND_GUIDELINE_RETIRED", "guidelineRetired", "guidelineId", MIRROR_RULE, "retire rule"},
    {"EVENT_KIND_GUIDELINE_SUNSET_PROPOSED", "guidelineSunsetProposed", "guidelineId", MIRROR_RULE,
     "propose to retire rule"},
    {"EVENT_KIND_ARTIFACT_STATE_SET", "artifactStateSet", "artifactId", MIRROR_RULE,
     "set state of rule"},
    {"EVENT_KIND_RETRACTED", "eventRetracted", NULL, MIRROR_DECISION, "retract decision"},
    {"EVENT_KIND_CONTENT_ERASED", "contentErased", NULL, MIRROR_DECISION, "erase content"},
    {"EVENT_KIND_CONTENT_SWEPT", "contentSwept", NULL, MIRROR_DECISION, "remove old content"},
    {"EVENT_KIND_SETTINGS_UPDATED", "settingsUpdated", NULL, MIRROR_DECISION, "change evaluator"},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* An event that is being read. */
struct reading {
    struct cli *cli;
    struct arena *arena;
    const struct event_shape *shape;
    struct json_value payload;
    struct mirror_event *event;
};

struct slice mirror_event_kinds(struct arena *arena)
{
    struct buffer kinds;

    buffer_init(&kinds, arena, 512);
    for (size_t i = 0; i < SHAPES; i++) {
        buffer_append_byte(&kinds, i == 0 ? '[' : ',');
        json_write_string(&kinds, slice_text(shapes[i].kind), true);
    }
    buffer_append_byte(&kinds, ']');
    return buffer_slice(&kinds);
}

static bool has_word(const struct reading *reading, const char *member, const char *word)
{
    return slice_equal(reply_text(reading->cli, reading->payload, member), slice_text(word));
}

static const char *verb_of(const struct reading *reading)
{
    if (has_word(reading, "voteKind", "PROPOSAL_VOTE_KIND_APPROVED")) {
        return "approve rule";
    }
    if (has_word(reading, "voteKind", "PROPOSAL_VOTE_KIND_REJECTED")) {
        return "reject rule";
    }
    return has_word(reading, "voteKind", "PROPOSAL_VOTE_KIND_RETRACTED") ? "take back vote on rule"
                                                                         : reading->shape->verb;
}

static size_t count_items(const struct reading *reading, const char *member)
{
    struct reply_walk walk = reply_walk(reading->payload, member);
    size_t count = 0;

    while (reply_next(&walk)) {
        count++;
    }
    return count;
}

/* Only an id of the server's form becomes the name of a file. */
static bool add_ref(struct mirror_event *event, enum mirror_file_kind kind, struct slice id)
{
    struct mirror_ref *ref = &event->refs[event->ref_count];
    struct uuid uuid;

    if (!uuid_parse(id, &uuid)) {
        return false;
    }
    ref->kind = kind;
    uuid_format(uuid, ref->id);
    ref->id[UUID_TEXT_BYTES] = '\0';
    event->ref_count++;
    return true;
}

/* Adds the rule or decision itself, and the decisions from which a rule was drafted, since they
 * name it. */
static bool read_refs(const struct reading *reading)
{
    struct mirror_event *event = reading->event;
    struct reply_walk walk = reply_walk(reading->payload, "createdFromFeedbackIds");
    bool is_other = !has_word(reading, "artifactKind", "") &&
                    !has_word(reading, "artifactKind", "ARTIFACT_KIND_GUIDELINE");
    size_t room = 1 + count_items(reading, "createdFromFeedbackIds");
    bool is_right = true;

    event->refs = arena_calloc(reading->arena, room, sizeof(event->refs[0]));
    if (event->refs == NULL) {
        return false;
    }
    if (reading->shape->id == NULL || is_other) {
        return true;
    }
    event->subject = reply_text(reading->cli, reading->payload, reading->shape->id);
    is_right = add_ref(event, reading->shape->file, event->subject);
    while (is_right && reply_next(&walk)) {
        struct slice id = {NULL, 0};

        is_right = json_string(reading->arena, walk.row.text, &id) == OK &&
                   add_ref(event, MIRROR_DECISION, id);
    }
    return is_right;
}

static bool add_seq(struct reading *reading, struct slice digits)
{
    struct slice text = {NULL, 0};
    char *end = NULL;

    if (!arena_copy(reading->arena, digits, &text)) {
        return false;
    }
    reading->event->seqs[reading->event->seq_count++] = strtoull((const char *)text.data, &end, 10);
    return end != (const char *)text.data;
}

/* Returns whether it removes content of a class that no file has. */
static bool is_other_class(const struct reading *reading)
{
    return reading->event->sweeps &&
           !has_word(reading, "contentClass", "CONTENT_CLASS_CORRECTIONS");
}

/* Adds the events that it retracts, erases, or whose guidelines it retires. */
static bool read_seqs(struct reading *reading)
{
    static const char *const lists[] = {"seqs", "retiredSeqs"};
    struct mirror_event *event = reading->event;
    struct slice retracted = reply_text(reading->cli, reading->payload, "retractedSeq");
    size_t room = 1 + count_items(reading, "seqs") + count_items(reading, "retiredSeqs");
    bool is_right = true;

    event->seqs = arena_calloc(reading->arena, room, sizeof(event->seqs[0]));
    if (event->seqs == NULL) {
        return false;
    }
    if (is_other_class(reading)) {
        return true;
    }
    if (retracted.size > 0) {
        is_right = add_seq(reading, retracted);
        event->retracts = true;
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct reply_walk walk = reply_walk(reading->payload, lists[i]);

        while (is_right && reply_next(&walk)) {
            struct slice digits = {NULL, 0};

            is_right = json_string(reading->arena, walk.row.text, &digits) == OK &&
                       add_seq(reading, digits);
        }
    }
    return is_right;
}

/* Reads settings, of which only the evaluator is in files. */
static void read_evaluator(const struct reading *reading)
{
    struct slice before =
        reply_text(reading->cli, reply_member(reading->payload, "before"), "evaluatorId");
    struct slice after =
        reply_text(reading->cli, reply_member(reading->payload, "after"), "evaluatorId");

    reading->event->reevaluates = !slice_equal(before, after);
}

/* Reads the members that every event has. */
static bool read_head(struct reading *reading, struct json_value json)
{
    struct mirror_event *event = reading->event;
    struct cli *cli = reading->cli;
    struct slice id = reply_text(cli, json, "id");
    int32_t nanos = 0;

    event->seq = reply_integer(cli, json, "seq");
    if (id.size == UUID_TEXT_BYTES) {
        memcpy(event->id, id.data, UUID_TEXT_BYTES);
    }
    event->verb = verb_of(reading);
    return event->seq != 0 && id.size == UUID_TEXT_BYTES &&
           timestamp_parse(reply_text(cli, json, "recordedAt"), &event->recorded_at_s, &nanos) &&
           arena_copy(reading->arena, reply_text(cli, json, "actorUserId"), &event->actor) &&
           arena_copy(reading->arena, reply_text(cli, reading->payload, "reason"), &event->reason);
}

enum cli_exit mirror_event_read(struct cli *cli, struct arena *arena, struct json_value event,
                                struct mirror_event *ret_event)
{
    struct slice kind = reply_text(cli, event, "kind");
    struct reading reading = {.cli = cli, .arena = arena, .event = ret_event};

    *ret_event = (struct mirror_event){.seq = 0};
    for (size_t i = 0; i < SHAPES; i++) {
        if (slice_equal(kind, slice_text(shapes[i].kind))) {
            reading.shape = &shapes[i];
        }
    }
    if (reading.shape == NULL) {
        return CLI_OK;
    }
    reading.payload = reply_member(event, reading.shape->member);
    ret_event->sweeps = strcmp(reading.shape->member, "contentSwept") == 0;
    ret_event->erases = ret_event->sweeps || strcmp(reading.shape->member, "contentErased") == 0;
    read_evaluator(&reading);
    return read_head(&reading, event) && read_refs(&reading) && read_seqs(&reading) &&
                   arena_copy(arena, ret_event->subject, &ret_event->subject)
               ? CLI_OK
               : cli_local(cli, "an event of the log can't be read; the server may have another "
                                "version");
}
