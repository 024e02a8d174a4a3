/*
 * applied_view.c: see applied_view.h.
 */
#include "server/domain/corrections/applied_view.h"

#include "server/domain/corrections/example_output.h"

/* Decides whether an event of a store format below 5 is an example, since the facts of such an event do not
 * record it. An event whose content was removed is counted as it was before the removal. */
static enum err decide_example(struct arena *arena, const struct event *event, struct slice output,
                               struct feedback_event_view *view)
{
    struct slice given = example_output_of(view->after_json, view->corrected_output_json);
    enum warning_code reason = WARNING_CODE_UNSPECIFIED;
    enum err err = OK;

    view->is_example =
        feedback_is_correction(view->event_type) && view->layout_fingerprint.size > 0;
    if (view->is_example && !event->content_removed) {
        err = example_output_check(arena, view->before_json, given, output, &reason);
        view->is_example = reason == WARNING_CODE_UNSPECIFIED;
    }
    return err;
}

/* Completes an event for the other functions: decides whether it is an example, and removes from its output the
 * members that reduction replaced. */
static enum err complete_view(struct arena *arena, const struct event *event,
                              struct feedback_event_view *view)
{
    bool is_whole = view->corrected_output_json.size > 0;
    struct slice output = {NULL, 0};
    bool cut = false;
    enum err err = OK;

    if (!feedback_is_correction(view->event_type)) {
        return OK;
    }
    err = example_output_cut(
        arena, example_output_of(view->after_json, view->corrected_output_json), &output, &cut);
    if (err == OK && !view->has_is_example) {
        err = decide_example(arena, event, output, view);
    }
    view->output_reduced = view->output_reduced || cut;
    if (cut && is_whole) {
        view->corrected_output_json = output;
    } else if (cut) {
        view->after_json = output;
    }
    return err;
}

enum err applied_view_read(struct arena *arena, const struct event *event,
                           struct feedback_event_view *ret_view)
{
    enum err err = feedback_view_read(event, ret_view);

    return err != OK ? err : complete_view(arena, event, ret_view);
}
