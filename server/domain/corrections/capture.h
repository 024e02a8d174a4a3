/*
 * capture.h: from what a caller sends to events in the log. Prepare works only on the values, before
 * any transaction: it reduces, cuts, derives and refuses. Store decides, appends and applies in one
 * transaction, all events or none. What a stored event means for the tables is apply.h's.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_CAPTURE_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_CAPTURE_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "store/log.h"

#include <errata/v1/annotator_kind.fields.h>
#include <errata/v1/feedback_event.fields.h>
#include <errata/v1/warning.fields.h>

/* The most bytes of meta_json as it is sent. */
#define CAPTURE_META_BYTES_MAX 65536
/* The most characters of meta_json.input_snippet; longer ones are cut. */
#define CAPTURE_SNIPPET_CHARACTERS_MAX 1500

/* An event as it was sent. Formats are checked already: JSON texts are objects, ids are valid. Empty
 * slices are absent. Borrowed for as long as the prepared event is used. */
struct capture_input {
    enum feedback_event_type event_type;
    enum annotator_kind annotator_kind; /* UNSPECIFIED: by who acts */
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
        mapping_changes; /* the fields of that name as wire bytes; only of MappingService */
    const struct log_stamp *stamp; /* what the event will have, where its maker had to know that
                                      before; NULL: the log's next */
};

/* An event that only lacks what the transaction gives it: seq, id and time, and what is filled in from
 * its document. */
struct capture_event {
    struct capture_input input; /* with the actor and the kind of annotator resolved */
    bool annotator_assumed; /* CODE, since the caller gave no kind and named no user */
    struct slice path; /* in the request, such as events[3]; empty: the request itself */
    struct slice fields; /* the run of fields_changed (store/base/view.h) */
    /* The texts as they are stored; empty: absent. */
    struct slice before_json;
    struct slice after_json;
    struct slice corrected_output_json;
    struct slice meta_json;
    bool has_snippet; /* meta_json has input_snippet, of any value */
    bool reduced;
    bool has_layout_family_id; /* of its document: filled in when it is stored */
    struct uuid layout_family_id;
    bool output_reduced; /* the output that an example would show */
    enum warning_code no_example; /* why the output is not an example; UNSPECIFIED: it is one */
    bool document_unknown; /* set by fill_in_event: no layout is known of the named document */
};

/* Adds what is wrong to ctx->fault and gives ERR_INVALID; ERR_DENIED for what the caller may not do;
 * else only ERR_MEMORY. The result lives in ctx->arena. */
MUST_CHECK enum err capture_prepare(struct ctx *ctx, const struct event_caller *caller,
                                    const struct capture_input *input, struct slice path,
                                    struct capture_event *ret_event);
/* Stores them in order. ERR_INVALID for a created_at after now; nothing is put then. */
MUST_CHECK enum err capture_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                  const struct capture_event *events, size_t count,
                                  uint64_t *ret_first_seq);

#endif
