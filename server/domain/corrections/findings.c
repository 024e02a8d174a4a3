/*
 * findings.c: see findings.h.
 */
#include "server/domain/corrections/findings.h"

#include "server/domain/events/feedback.h"
#include "store/base/wire.h"

#include <errata/v1/warning.views.h>

/* Initial room for one warning; the run grows if there are more. */
#define WARNING_BYTES 160

/* Returns the sentence of a warning; `output` is the name of the output's field. */
static struct slice sentence_of(struct arena *arena, enum warning_code code, const char *output)
{
    switch (code) {
    case WARNING_CODE_UNKNOWN_DOCUMENT:
        return SLICE("document_id: not ingested, so no layout was filled in; expected an ingested "
                     "document, or layout_fingerprint");
    case WARNING_CODE_NO_LAYOUT:
        return SLICE("layout_fingerprint: missing, so this is not an example; expected a layout, "
                     "or a document whose layout is known");
    case WARNING_CODE_NO_OUTPUT:
        return arena_printf(
            arena, "%s: empty, so this is not an example; expected the corrected values", output);
    case WARNING_CODE_OUTPUT_UNCHANGED:
        return arena_printf(
            arena, "%s: equal to before_json, so this is not an example; expected a changed value",
            output);
    case WARNING_CODE_OUTPUT_LOST:
        return arena_printf(arena,
                            "%s: no change was left after it was reduced, so this is not an "
                            "example; expected at most 10,240 bytes",
                            output);
    case WARNING_CODE_MAPPING_UNCHANGED:
        return SLICE("event_type: changes no mapping if it is captured; expected ConfirmMapping or "
                     "RejectMapping of MappingService");
    case WARNING_CODE_ANNOTATOR_ASSUMED:
        return SLICE(
            "annotator_kind: CODE, since neither the token nor actor_user_id names a user, "
            "so this example is served only on request; expected actor_user_id, or "
            "annotator_kind");
    case WARNING_CODE_UNSPECIFIED:
    case WARNING_CODE_DAMAGED:
    case WARNING_CODE_RULINGS_LIMIT:
    case WARNING_CODE_PAGE_TOO_LARGE:
    case WARNING_CODE_SCAN:
    case WARNING_CODE_CMAPS_UNAVAILABLE:
    case WARNING_CODE_FOREIGN_LAYOUT:
    case WARNING_CODE_FAMILY_MERGED:
    case WARNING_CODE_UNUSED_VALUE:
    case WARNING_CODE_TEXT_TRUNCATED:
        break;
    }
    return slice_of(NULL, 0);
}

static bool is_of_mapping(enum feedback_event_type event_type)
{
    return event_type == FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED ||
           event_type == FEEDBACK_EVENT_TYPE_MAPPING_REJECTED;
}

/* Returns why a correction is not an example; UNSPECIFIED if it is one. */
static enum warning_code find_reason(const struct capture_event *event)
{
    if (event->no_example != WARNING_CODE_UNSPECIFIED) {
        return event->no_example;
    }
    return event->input.layout_fingerprint.size == 0 ? WARNING_CODE_NO_LAYOUT
                                                     : WARNING_CODE_UNSPECIFIED;
}

static void add(struct arena *arena, struct buffer *run, enum warning_code code, const char *output)
{
    const struct warning_view warning = {.code = code, .message = sentence_of(arena, code, output)};

    warning_view_put(&warning, FEEDBACK_EVENT_WARNINGS_FIELD, run);
}

enum err findings_decide(struct arena *arena, const struct capture_event *event,
                         struct findings *ret_findings)
{
    const struct capture_input *input = &event->input;
    const char *output =
        input->corrected_output_json.size > 0 ? "corrected_output_json" : "after_json";
    bool is_correction = feedback_is_correction(input->event_type);
    enum warning_code reason = is_correction ? find_reason(event) : WARNING_CODE_UNSPECIFIED;
    struct buffer run = {0};

    buffer_init(&run, arena, WARNING_BYTES);
    if (event->document_unknown) {
        add(arena, &run, WARNING_CODE_UNKNOWN_DOCUMENT, output);
    }
    if (reason != WARNING_CODE_UNSPECIFIED) {
        add(arena, &run, reason, output);
    }
    if (is_of_mapping(input->event_type) && input->mapping_changes.size == 0) {
        add(arena, &run, WARNING_CODE_MAPPING_UNCHANGED, output);
    }
    ret_findings->is_example = is_correction && reason == WARNING_CODE_UNSPECIFIED;
    if (ret_findings->is_example && event->annotator_assumed) {
        add(arena, &run, WARNING_CODE_ANNOTATOR_ASSUMED, output);
    }
    ret_findings->warnings = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}
