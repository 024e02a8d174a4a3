/*
 * capture.h: turns a caller's values into events of the log. Prepare works only on the values, before any
 * transaction: it validates, reduces, cuts and derives. Store decides, appends and applies all events in one
 * transaction, or none. See apply.h for the rows that a stored event changes.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_CAPTURE_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_CAPTURE_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "store/log.h"

#include <errata/v1/annotator_kind.fields.h>
#include <errata/v1/feedback_event.fields.h>
#include <errata/v1/warning.fields.h>

/* Maximum bytes of meta_json in a request. */
#define CAPTURE_META_BYTES_MAX 65536
/* Maximum characters of meta_json.input_snippet; longer values are cut. */
#define CAPTURE_SNIPPET_CHARACTERS_MAX 1500

/* An event as it was sent. Formats are already checked: JSON texts are objects, ids are valid. Empty slices are
 * absent. Borrowed for the lifetime of the prepared event. */
struct capture_input {
    enum feedback_event_type event_type;
    enum annotator_kind annotator_kind; /* UNSPECIFIED: derived from the actor */
    struct slice actor_user_id;
    struct slice entity_type;
    struct slice entity_id;
    struct slice draft_order_id;
    struct slice document_id;
    struct slice layout_fingerprint;
    struct event_time time;
    struct slice before_json;
    struct slice after_json;
    struct slice corrected_output_json;
    struct slice meta_json;
    struct slice
        mapping_changes; /* the message's field of that name as wire bytes; set only by MappingService */
    const struct log_stamp *stamp; /* known in advance if set; NULL: assigned by the log */
};

/* An event that lacks only the values known in the transaction: seq, id, time, and the values derived from its
 * document. */
struct capture_event {
    struct capture_input input; /* the input, with the actor and the kind of annotator resolved */
    bool annotator_assumed; /* CODE, since the caller specified no kind and named no user */
    struct slice path; /* its place in the request, such as events[3]; empty: the request itself */
    struct slice fields; /* the run of fields_changed (store/base/view.h) */
    /* The texts as they are stored; empty: absent. */
    struct slice before_json;
    struct slice after_json;
    struct slice corrected_output_json;
    struct slice meta_json;
    bool has_snippet; /* meta_json has a member input_snippet, with any value */
    bool reduced;
    bool has_layout_family_id; /* family of the event's document; set when the event is stored */
    struct uuid layout_family_id;
    bool output_reduced; /* reduction changed the output that an example shows */
    enum warning_code
        no_example; /* reason why the output is not an example; UNSPECIFIED: it is one */
    bool document_unknown; /* set by fill_in_event: the layout of the named document is unknown */
};

/* Adds each defect to ctx->fault and returns ERR_INVALID; returns ERR_DENIED if the caller lacks the
 * permission, ERR_MEMORY if memory is exhausted. The result is in ctx->arena. */
MUST_CHECK enum err capture_prepare(struct ctx *ctx, const struct event_caller *caller,
                                    const struct capture_input *input, struct slice path,
                                    struct capture_event *ret_event);
/* Stores the events in order. Returns ERR_INVALID, and puts nothing, if a created_at is in the future. */
MUST_CHECK enum err capture_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                  const struct capture_event *events, size_t count,
                                  uint64_t *ret_first_seq);

#endif
