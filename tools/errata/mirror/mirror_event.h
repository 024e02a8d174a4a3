/*
 * mirror_event.h: reads an event of the log for a mirror: its actor, its action, its reason, and the files that it
 * changed.
 */
#ifndef ERRATA_TOOLS_ERRATA_MIRROR_MIRROR_EVENT_H
#define ERRATA_TOOLS_ERRATA_MIRROR_MIRROR_EVENT_H

#include "store/base/json.h"
#include "store/base/uuid.h"
#include "tools/errata/cli.h"

enum mirror_file_kind {
    MIRROR_DECISION,
    MIRROR_RULE
};

/* A decision or a rule whose files changed. */
struct mirror_ref {
    enum mirror_file_kind kind;
    char id[UUID_TEXT_BYTES + 1];
};

/* An event. Texts and lists are in the arena with which it was read. */
struct mirror_event {
    uint64_t seq;
    char id[UUID_TEXT_BYTES + 1];
    int64_t recorded_at_s; /* since 1970 */
    struct slice actor; /* empty: the server */
    const char *verb; /* such as `record decision` */
    struct slice subject; /* the id of its subject; may be empty */
    struct slice reason; /* may be empty */
    bool retracts; /* rules that were drafted from the decision changed, too */
    bool erases; /* content of other events */
    /* Erases because of its age: of these events only retractions are in files, by their reasons. */
    bool sweeps;
    /* Another evaluator is in effect: decisions that it or the one before classified changed. */
    bool reevaluates;
    bool is_mirrored; /* set by the commit: the event changed files */
    struct mirror_ref *refs; /* the decisions and rules that it names */
    size_t ref_count;
    uint64_t *seqs; /* other events, whose files changed too */
    size_t seq_count;
};

/* The kinds of events that a mirror reads, as a JSON list. */
struct slice mirror_event_kinds(struct arena *arena);
/* Reads an event, in proto JSON. An event of another kind has no files. Returns CLI_LOCAL for an invalid
 * one. */
MUST_CHECK enum cli_exit mirror_event_read(struct cli *cli, struct arena *arena,
                                           struct json_value event, struct mirror_event *ret_event);

#endif
